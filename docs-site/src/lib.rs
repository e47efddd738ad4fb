//! Published sites as web pages: HTML that is whole without scripts, Markdown and lists for machines.
//!
//! A host puts [`Sites`] before its other endpoints. What is published at an address, and for whom, is asked of the
//! platform as by any visitor: the address is [resolved](docs_core::Platform::resolve_url), and everything is read with
//! the visitor that this answers. So audiences, share links, conditions and redirects are decided in one place.
//!
//! ```
//! use docs_core::Platform;
//! use docs_site::{SiteConfig, Sites};
//! use poem::Route;
//!
//! fn mount(platform: &Platform, api: Route) -> docs_core::Result<impl poem::Endpoint> {
//!     Ok(Sites::new(platform, SiteConfig::default())?.before(api))
//! }
//! ```
//!
//! | address, below that of a site | what |
//! |---|---|
//! | a page's path | the page; as Markdown with `.md` behind it, or for `Accept: text/markdown` |
//! | `~/changes/3/…`, `~/revisions/ID/…` | previews, below a space, for members who may read them; what changed: `~compare` |
//! | `~site/search?q=…` | what a search finds; `~site/search.json` for the script of pages |
//! | `~site/pages.1.html` | the list of all pages of a space, in parts |
//! | `~site/…` | style sheets, the script and the icon of pages |
//! | `llms.txt`, `llms-full.txt`, `llms-full.txt/2` … | the pages for language models |
//! | `robots.txt`, `sitemap.xml`, `rss.xml` | what search engines and readers of news ask for |
//! | `~site/mcp` | search, list and read pages for agents: the Model Context Protocol over streamable HTTP |

mod address;
mod answer;
mod assets;
mod cache;
mod claims;
mod export;
mod frame;
mod frames;
mod gather;
mod html;
mod machine;
mod mount;
mod moved;
mod page;
mod preview;
mod render;
mod request;
mod sent;
mod theme;
mod tower;
mod visit;
mod words;
mod xml;

pub use export::{BrokenLink, ExportOptions, ExportTarget, Exported};
pub use mount::{BeforeSites, SiteConfig, Sites};
pub use tower::{ResponseBody, SitesService};
