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
//! | `~site/search?q=…` | what a search finds; `~site/search.json` for the script of pages |
//! | `~site/…` | style sheets, the script and the icon of pages |
//! | `llms.txt`, `llms-full.txt`, `llms-full.txt/2` … | the pages for language models |
//! | `robots.txt`, `sitemap.xml` | what search engines ask for |

mod address;
mod answer;
mod assets;
mod cache;
mod frame;
mod gather;
mod machine;
mod mount;
mod page;
mod render;
mod request;
mod theme;
mod visit;
mod words;
mod xml;

pub use mount::{BeforeSites, SiteConfig, Sites};
