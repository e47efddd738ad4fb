//! Export of a public site as static files for any web server.
//!
//! Pages are rendered as for an anonymous visitor. Their links become relative, so that the files work below
//! any path. Each link is checked against the exported files.

mod links;
mod names;

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    io,
    sync::Arc,
};

use docs_core::{
    Error, ErrorKind, Result,
    content::markdown::{Resolution, rewrite_links},
    model::{SiteVisibility, SpaceId},
};
use poem::{Request, http::header};
use url::Url;

use self::{
    links::{Found, Leads, Linker},
    names::Names,
};
use crate::{
    address::Place,
    assets::{Asset, OWN},
    encode::encoded,
    frame::EntryKind,
    machine::{above, feed, page_markdown, robots, short_list, sitemap},
    mount::{Shared, Sites},
    page::{Part, Scene, document_page_of, is_listed_in_parts, missing_page, moved_page},
    request::Asked,
    theme,
    visit::{Arrival, Copied, Visit},
};

/// The result of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exported {
    /// The number of pages written.
    pub pages: usize,
    /// The number of files written that pages show or offer for download.
    pub files: usize,
    /// Broken links, at most once per page, in the order of the pages.
    pub broken: Vec<BrokenLink>,
}

/// A link of a page to a target that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct BrokenLink {
    /// The path of the page below the site; empty for the first page.
    pub page: String,
    /// The address as written in the link.
    pub target: String,
}

/// The options of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExportOptions {
    /// The future address of the files: an http or https URL without a query, such as
    /// `https://docs.example.com/guide/`.
    ///
    /// Without it, the files contain no absolute addresses: there are no canonical links, no `sitemap.xml`
    /// and no `rss.xml`, and the links of `404.html` assume that the site is at the root of its host.
    pub url: Option<Url>,
}

impl ExportOptions {
    /// Options for files that will be served at `url`.
    #[must_use]
    pub const fn at(url: Url) -> Self {
        Self { url: Some(url) }
    }

    fn copy(&self) -> Result<Copied> {
        let Some(url) = &self.url else { return Ok(Copied { url: None }) };
        let is_plain = url.query().is_none() && url.fragment().is_none() && url.username().is_empty();
        if !matches!(url.scheme(), "http" | "https") || !is_plain || url.password().is_some() {
            return Err(Error::invalid("url", "must be an http or https URL without user, `?` and `#`"));
        }
        Ok(Copied { url: Some(format!("{}/", url.as_str().trim_end_matches('/'))) })
    }
}

/// Receives the files of an export.
pub trait ExportTarget: Send {
    /// Writes the next bytes of a file. `path` uses `/` between segments. A file that is larger than one
    /// chunk is written in consecutive calls.
    ///
    /// # Errors
    /// Any error of the underlying storage. It aborts the export.
    fn write(&mut self, path: &str, bytes: &[u8]) -> io::Result<()>;
}

impl Sites {
    /// Exports a public site as files: its pages, their assets, and the files for search engines and agents.
    /// A web server is expected to serve `index.html` for a folder.
    ///
    /// `path` is the path of the site below the platform's host. Search is left out because it needs a
    /// server, and so is all content that is restricted to some visitors. Memory use grows with the number of
    /// links.
    ///
    /// # Errors
    /// `Invalid` for an address that cannot be served from files; `NotFound` if nothing is published at `path`;
    /// `Forbidden` for a site that is not public; `Conflict` for pages with colliding file paths, before anything is
    /// written; `Internal` if the target fails; and all errors of the platform.
    ///
    /// # Example
    /// ```
    /// # use docs_site::{ExportOptions, ExportTarget, Sites};
    /// # async fn example(sites: &Sites, folder: &mut dyn ExportTarget) -> docs_core::Result<()> {
    /// let done = sites.export("/sites/docs/", &ExportOptions::default(), folder).await?;
    /// println!("{} pages, {} broken links", done.pages, done.broken.len());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn export(
        &self,
        path: &str,
        options: &ExportOptions,
        target: &mut dyn ExportTarget,
    ) -> Result<Exported> {
        let (shared, copy) = (self.shared(), options.copy()?);
        let request = Request::builder()
            .uri(path.parse().map_err(|_| Error::not_found("published site"))?)
            .header(header::HOST, shared.authority())
            .finish();
        let asked = Asked::of(&request, shared.base());
        let visit = match Visit::of(shared.platform(), &asked, &asked.path, None).await? {
            Arrival::Here(visit) => *visit,
            Arrival::Moved(_) => return Err(Error::not_found("published site")),
            Arrival::SignIn(_) => return Err(not_public()),
        };
        if visit.site.site.visibility != SiteVisibility::Public {
            return Err(not_public());
        }
        let visit = visit.into_files(copy);
        let mut export = Export {
            shared,
            linker: Linker::new(&visit.found.site_base_path, shared.platform().urls().files_base()),
            visit: &visit,
            target,
            names: Names::default(),
            written: BTreeSet::new(),
            anchors: BTreeMap::new(),
            links: Vec::new(),
            files: BTreeMap::new(),
            done: Exported::default(),
        };
        export.names().await?;
        export.own().await?;
        for place in visit.places() {
            export.space(place).await?;
        }
        export.missing().await?;
        Ok(export.checked())
    }
}

fn not_public() -> Error {
    Error::new(ErrorKind::Forbidden, "only a public site can be exported; publish the site as public first")
}

/// An export in progress.
struct Export<'e> {
    shared: &'e Shared,
    linker: Linker,
    visit: &'e Visit,
    target: &'e mut dyn ExportTarget,
    /// The paths that are taken, to detect collisions.
    names: Names,
    /// The paths of all written files.
    written: BTreeSet<String>,
    /// The anchors of each page, by the page's path.
    anchors: BTreeMap<String, BTreeSet<String>>,
    /// Links to resources of the site, each with the path of its page.
    links: Vec<(String, Found)>,
    /// The written path of each file of a space, by the file's address.
    files: BTreeMap<String, String>,
    done: Exported,
}

impl Export<'_> {
    fn write(&mut self, path: &str, bytes: impl AsRef<[u8]>) -> Result<()> {
        self.target.write(path, bytes.as_ref()).map_err(Error::internal)?;
        self.written.insert(path.to_owned());
        Ok(())
    }

    /// Reserves the paths of all pages, so that collisions are reported before anything is written.
    async fn names(&mut self) -> Result<()> {
        let (visit, caches) = (self.visit, self.shared.caches());
        self.names.take_own(visit)?;
        for place in visit.places() {
            let frame = visit.frame(&caches.sites, &place).await?;
            for (at, entry) in frame.entries.iter().enumerate() {
                let path = format!("{}{}", place.path, frame.address(at));
                let whose = format!("the page “{}” at “{}”", entry.title, links::decoded(&path));
                match entry.kind {
                    EntryKind::Document => {
                        self.names.take(&names::page(&path), &whose)?;
                        self.names.take(&names::markdown(&path), &whose)?;
                        if frame.first() == Some(at) && !entry.path.is_empty() {
                            let own = format!("{}{}", place.path, encoded(&entry.path));
                            self.names.take(&names::page(&own), &whose)?;
                        }
                    }
                    EntryKind::Group if !entry.path.is_empty() && frame.first_below(at).is_some() => {
                        self.names.take(&names::page(&path), &whose)?;
                    }
                    EntryKind::Group | EntryKind::Link(_) | EntryKind::Computed => {}
                }
            }
        }
        Ok(())
    }

    /// Writes the assets shared by all pages, and the files for search engines and agents.
    async fn own(&mut self) -> Result<()> {
        for asset in [Asset::style_sheet(), Asset::script()] {
            self.write(&format!("{OWN}/{}", asset.name), &asset.body.bytes)?;
        }
        let (visit, caches) = (self.visit, self.shared.caches());
        if let Some(map) = sitemap(visit, caches, None).await? {
            let is_parted = map.contains("<sitemapindex");
            self.write("sitemap.xml", map)?;
            let mut part = 1;
            while is_parted && let Some(map) = sitemap(visit, caches, Some(part)).await? {
                self.write(&format!("sitemap-{part}.xml"), map)?;
                part += 1;
            }
        }
        self.write("robots.txt", robots(visit)?)?;
        self.write("llms.txt", short_list(visit, caches).await?)?;
        if visit.has_address() {
            self.write("rss.xml", feed(visit, caches).await?)?;
        }
        Ok(())
    }

    /// Replaces the platform's file addresses in a Markdown page by those of the exported files.
    fn with_files<'t>(&self, path: &str, text: &'t str) -> Cow<'t, str> {
        let url = self.visit.copy.as_ref().and_then(|copy| copy.url.clone());
        let base = url.unwrap_or_else(|| above(path));
        rewrite_links(text, |link| match self.files.get(&link.destination).filter(|path| !path.is_empty()) {
            Some(path) => Resolution::To(format!("{base}{}", encoded(path))),
            None => Resolution::Keep,
        })
    }

    /// Writes the pages of a space.
    async fn space(&mut self, place: Place<'_>) -> Result<()> {
        let (visit, caches) = (self.visit, self.shared.caches());
        let look = visit.look(&place.space.id);
        let sheet = visit.site.sheet(&place.space.id);
        self.write(&format!("{}{OWN}/{}", place.path, sheet.name), &sheet.body.bytes)?;
        self.write(&format!("{}{OWN}/icon.svg", place.path), theme::icon(look, visit.title_of(look)))?;
        self.lists(&place).await?;
        let frame = visit.frame(&caches.sites, &place).await?;
        for at in 0..frame.entries.len() {
            let entry = &frame.entries[at];
            let path = format!("{}{}", place.path, frame.address(at));
            match entry.kind {
                EntryKind::Document => {
                    let page = document_page_of(visit, caches, place.clone(), at).await?;
                    self.page(&path, &String::from_utf8_lossy(&page.html.bytes)).await?;
                    self.done.pages += 1;
                    let mut scene = Scene::at(visit, caches, place.clone()).await?;
                    let text = page_markdown(&mut scene, caches, &entry.id).await?;
                    let text = self.with_files(&path, &text).into_owned();
                    self.write(&names::markdown(&path), text)?;
                    // The first page is also served at its own path.
                    if frame.first() == Some(at) && !entry.path.is_empty() {
                        self.moved(&format!("{}{}", place.path, encoded(&entry.path)), &path).await?;
                    }
                }
                EntryKind::Group if !entry.path.is_empty() => {
                    let scene = Scene::at(visit, caches, place.clone()).await?;
                    let first = frame.first_below(at);
                    let to =
                        first.and_then(|at| scene.addresses.of_entry(&scene.addresses.space, &frame, at));
                    if let Some(to) = to {
                        let to = to
                            .strip_prefix(visit.found.site_base_path.as_str())
                            .unwrap_or_default()
                            .to_owned();
                        self.moved(&path, &to).await?;
                    }
                }
                EntryKind::Group | EntryKind::Link(_) | EntryKind::Computed => {}
            }
        }
        Ok(())
    }

    /// Writes the page lists of a space if its navigation links to them.
    async fn lists(&mut self, place: &Place<'_>) -> Result<()> {
        let scene = Scene::at(self.visit, self.shared.caches(), place.clone()).await?;
        if !is_listed_in_parts(&scene) {
            return Ok(());
        }
        let frame = Arc::clone(&scene.frame);
        for part in Part::all(&frame) {
            let folder = format!("{}{OWN}", place.path);
            let path = format!("{folder}/{}", part.name(&frame));
            let up = "../".repeat(folder.split('/').count());
            let html = self.linked(&path, Some(&up), &part.page(&scene)).await?;
            self.write(&path, html)?;
        }
        Ok(())
    }

    /// Writes a page that redirects to another one.
    async fn moved(&mut self, path: &str, to: &str) -> Result<()> {
        let page = moved_page(&format!("{}{to}", self.visit.found.site_base_path));
        self.page(path, &page).await
    }

    /// Writes the not-found page under the name that many web servers expect.
    async fn missing(&mut self) -> Result<()> {
        let page = missing_page(self.visit, self.shared.caches()).await?;
        // It is served at any depth, so its links cannot be relative.
        let url = self.visit.copy.as_ref().and_then(|copy| copy.url.as_deref());
        let root = url
            .and_then(|url| Url::parse(url).ok())
            .map_or_else(|| "/".to_owned(), |url| url.path().to_owned());
        let html = self.linked("", Some(&root), &String::from_utf8_lossy(&page.html.bytes)).await?;
        self.write("404.html", html)
    }

    async fn page(&mut self, path: &str, html: &str) -> Result<()> {
        let path = path.trim_end_matches('/');
        let html = self.linked(path, None, html).await?;
        self.anchors.insert(path.to_owned(), links::anchors(&html));
        self.write(&names::page(path), html)
    }

    /// Writes the files that a page shows, then rewrites the links of the page relative to it or to `root`.
    async fn linked(&mut self, path: &str, root: Option<&str>, html: &str) -> Result<String> {
        for address in links::addresses(html) {
            if let Leads::File { space, sealed, name } = self.linker.leads(path, &address)
                && !self.files.contains_key(&address)
            {
                let written = self.file(&space, &sealed, &name).await?;
                self.files.insert(address, written.unwrap_or_default());
            }
        }
        let (html, found) = match root {
            Some(root) => self.linker.rooted(path, root, html, &self.files),
            None => self.linker.relative(path, html, &self.files),
        };
        self.links.extend(found.into_iter().map(|link| (path.to_owned(), link)));
        Ok(html)
    }

    /// Writes a file of a space in chunks. Returns `None` if the file no longer exists.
    async fn file(&mut self, space: &str, sealed: &str, name: &str) -> Result<Option<String>> {
        let Ok(space) = space.parse::<SpaceId>() else { return Ok(None) };
        let platform = self.shared.platform();
        let file = match platform.find_file(&space, sealed).await {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let path = format!("files/{}/{}", &file.blob().to_string()[..16], links::file_name(name));
        if self.written.contains(&path) {
            return Ok(Some(path));
        }
        self.names.take(&path, &format!("the file “{}”", links::file_name(name)))?;
        self.written.insert(path.clone());
        self.done.files += 1;
        for piece in file.pieces(0..file.size) {
            let bytes = platform.file_bytes(&file, Some(piece)).await?;
            self.target.write(&path, &bytes).map_err(Error::internal)?;
        }
        if file.size == 0 {
            self.target.write(&path, &[]).map_err(Error::internal)?;
        }
        Ok(Some(path))
    }

    /// Returns the result with all broken links.
    fn checked(mut self) -> Exported {
        let mut broken = BTreeSet::new();
        for (page, link) in &self.links {
            let is_there = match &link.path {
                None => false,
                Some(path) => {
                    let name = links::decoded(path);
                    let is_page = self.written.contains(&names::page(path));
                    let anchor = link.anchor.as_deref().filter(|_| is_page);
                    (is_page || self.written.contains(&name))
                        && anchor.is_none_or(|id| self.anchors.get(path).is_none_or(|ids| ids.contains(id)))
                }
            };
            if !is_there {
                broken.insert(BrokenLink { page: links::decoded(page), target: link.said.clone() });
            }
        }
        self.done.broken = broken.into_iter().collect();
        self.done
    }
}

impl Shared {
    fn authority(&self) -> &str {
        self.base().origin().split_once("://").map_or("", |(_, authority)| authority)
    }
}
