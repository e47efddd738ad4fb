//! What machines ask for: pages as Markdown, lists for language models, and what search engines read.

mod feed;
mod llms;
mod markdown;
pub(crate) mod mcp;
mod robots;

pub(crate) use self::{
    feed::feed,
    llms::{full_list, short_list},
    markdown::{above, page_markdown},
    robots::{robots, sitemap},
};
