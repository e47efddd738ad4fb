//! Published sites as web pages: complete HTML without scripts, Markdown, and files for search engines and
//! agents.
//!
//! The embedding application mounts [`Sites`] before its other endpoints. This crate makes no access decisions of its
//! own. It [resolves](docs_core::Platform::resolve_url) each URL through the platform, and reads all content as the
//! visitor that the platform returns. Audiences, share links, conditions and redirects are therefore decided in one
//! place.
//!
//! ```
//! use docs_core::Platform;
//! use docs_site::{SiteConfig, Sites};
//! use poem::Route;
//!
//! fn mount(platform: &Platform, api: Route) -> docs_core::Result<impl poem::Endpoint> {
//!     Ok(Sites::new(platform, SiteConfig::default())?.with_fallback(api))
//! }
//! ```
//!
//! | address below the site | content |
//! |---|---|
//! | a page's path | the page; as Markdown with a `.md` suffix or for `Accept: text/markdown` |
//! | `~/changes/3/…`, `~/revisions/ID/…` | previews below a space, for members with access; changes: `~compare` |
//! | `~site/search?q=…` | search results; `~site/search.json` for the script of pages |
//! | `~site/pages.1.html` | the list of all pages of a space, in parts |
//! | `~site/…` | style sheets, the script and the icon of pages |
//! | `llms.txt`, `llms-full.txt`, `llms-full.txt/2` … | the pages for language models |
//! | `robots.txt`, `sitemap.xml`, `rss.xml` | files for search engines and feed readers |
//! | `~site/mcp` | search, list and read pages for agents: the Model Context Protocol over streamable HTTP |

mod address;
mod assets;
mod cache;
mod claims;
mod cookies;
mod descriptions;
mod emoji;
mod encode;
mod export;
mod gather;
mod html;
mod known_site;
mod machine;
mod mount;
mod page;
mod page_redirect;
mod page_tree;
mod page_tree_cache;
mod preview;
mod preview_route;
mod references;
mod render;
mod request;
mod request_body;
mod response;
mod routes;
mod site_cache;
mod social;
mod sources;
mod space_files;
mod space_search;
mod tagged_bytes;
mod theme;
mod tower;
mod visit;
mod words;
mod xml;

pub use export::{BrokenLink, ExportOptions, ExportReport, ExportTarget};
pub use mount::{SiteConfig, Sites, SitesEndpoint};
pub use tower::{ResponseBody, SitesService};
