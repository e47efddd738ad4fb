//! Output for machines: pages as Markdown, lists for language models, files for search engines and feeds, and
//! MCP.

mod feed;
mod list_cache;
mod listed_spaces;
mod lists;
mod llms;
mod markdown;
mod markdown_page;
pub(crate) mod mcp;
mod robots;
mod sitemap;
mod summary;

pub(crate) use self::{
    feed::feed,
    list_cache::{SiteList, SiteLists},
    lists::site_list,
    llms::{full_list, short_list},
    markdown::{markdown_page, page_markdown, relative_root},
    markdown_page::MarkdownPage,
    robots::robots,
    sitemap::sitemap,
    summary::PageTreeSummary,
};
