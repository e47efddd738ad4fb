//! What machines ask for: pages as Markdown, lists for language models, and what search engines read.

mod llms;
mod markdown;
mod robots;

pub(crate) use self::{
    llms::{full_list, short_list},
    markdown::page_markdown,
    robots::{robots, sitemap},
};
