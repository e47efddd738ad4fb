//! Output for machines: pages as Markdown, lists for language models, files for search engines and feeds, and
//! MCP.

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
