//! Export of a public site as static files for any web server.
//!
//! Pages are rendered as for an anonymous visitor. Their links become relative, so that the files work below any path.
//! Each link is checked against the exported files.

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
    links::{AddressTarget, Linker, SiteLink},
    names::TakenPaths,
};
use crate::{
    address::SitePlace,
    assets::{Asset, SITE_SEGMENT},
    encode::encode_path,
    machine::{feed, page_markdown, relative_root, robots, short_list, sitemap},
    mount::{SiteServer, Sites},
    page::{ListPart, PageContext, document_page_of, is_listed_in_parts, not_found_page, redirect_page},
    page_tree::EntryKind,
    request::SiteRequest,
    theme,
    visit::{Arrival, StaticExport, Visit},
};

/// The result of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExportReport {
    /// The number of pages written.
    pub pages: usize,
    /// The number of other files written, which pages show or offer for download.
    pub files: usize,
    /// Broken links, at most once per page, in the order of the pages.
    pub broken: Vec<BrokenLink>,
}

/// A link in a page to a target that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct BrokenLink {
    /// The path of the page below the site; empty for the first page.
    pub page: String,
    /// The URL as written in the link.
    pub target: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExportOptions {
    /// The future URL of the files: an http or https URL without a query, such as `https://docs.example.com/guide/`.
    ///
    /// Without it, the files contain no absolute URLs: there are no canonical links, no `sitemap.xml` and no `rss.xml`,
    /// and the links of `404.html` assume that the site is at the root of its host.
    pub url: Option<Url>,
}

impl ExportOptions {
    /// Creates options for files that will be served at `url`.
    #[must_use]
    pub const fn for_url(url: Url) -> Self {
        Self { url: Some(url) }
    }

    fn static_export(&self) -> Result<StaticExport> {
        let Some(url) = &self.url else { return Ok(StaticExport { url: None }) };
        let is_plain = url.query().is_none() && url.fragment().is_none() && url.username().is_empty();
        if !matches!(url.scheme(), "http" | "https") || !is_plain || url.password().is_some() {
            return Err(Error::invalid("url", "must be an http or https URL without user, `?` and `#`"));
        }
        Ok(StaticExport { url: Some(format!("{}/", url.as_str().trim_end_matches('/'))) })
    }
}

/// Receives the files of an export.
pub trait ExportTarget: Send {
    /// Writes the next bytes of a file. `path` uses `/` as the separator. A file larger than one chunk is written in
    /// consecutive calls.
    ///
    /// # Errors
    /// Any error of the underlying storage. It aborts the export.
    fn write(&mut self, path: &str, bytes: &[u8]) -> io::Result<()>;
}

impl Sites {
    /// Exports a public site as files: its pages, their assets, and the files for search engines and agents.
    /// A web server is expected to serve `index.html` for a folder.
    ///
    /// `path` is the path of the site below the platform's host. Search is left out because it needs a server, and so
    /// is all content that is restricted to some visitors. Memory use grows with the number of links.
    ///
    /// # Errors
    /// `Invalid` for a URL that cannot be served from files; `NotFound` if nothing is published at `path`; `Forbidden`
    /// for a site that is not public; `Conflict` for pages with colliding file paths, before anything is written;
    /// `Internal` if the target fails; and all errors of the platform.
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
    ) -> Result<ExportReport> {
        let (shared, copy) = (self.server(), options.static_export()?);
        let request = Request::builder()
            .uri(path.parse().map_err(|_| Error::not_found("published site"))?)
            .header(header::HOST, shared.authority())
            .finish();
        let asked = SiteRequest::new(&request, shared.base());
        let visit = match Visit::resolve(shared.platform(), &asked, &asked.path, None).await? {
            Arrival::Here(visit) => *visit,
            Arrival::Moved(_) => return Err(Error::not_found("published site")),
            Arrival::SignIn(_) => return Err(not_public_error()),
        };
        if visit.site.site.visibility != SiteVisibility::Public {
            return Err(not_public_error());
        }
        let visit = visit.into_export(copy);
        let mut export = Export {
            shared,
            linker: Linker::new(&visit.found.site_base_path, shared.platform().urls().files_base()),
            visit: &visit,
            target,
            names: TakenPaths::default(),
            written: BTreeSet::new(),
            anchors: BTreeMap::new(),
            links: Vec::new(),
            files: BTreeMap::new(),
            done: ExportReport::default(),
        };
        export.reserve_names().await?;
        export.write_site_files().await?;
        for place in visit.places() {
            export.write_space(place).await?;
        }
        export.write_not_found().await?;
        Ok(export.into_report())
    }
}

fn not_public_error() -> Error {
    Error::new(ErrorKind::Forbidden, "only a public site can be exported; publish the site as public first")
}

/// An export in progress.
struct Export<'e> {
    shared: &'e SiteServer,
    linker: Linker,
    visit: &'e Visit,
    target: &'e mut dyn ExportTarget,
    /// The reserved paths, to detect collisions.
    names: TakenPaths,
    /// The paths of all written files.
    written: BTreeSet<String>,
    /// The anchors of each page, keyed by the path of the page.
    anchors: BTreeMap<String, BTreeSet<String>>,
    /// Links to resources of the site, each with the path of the page that contains it.
    links: Vec<(String, SiteLink)>,
    /// The written path of each file of a space, keyed by the URL of the file.
    files: BTreeMap<String, String>,
    done: ExportReport,
}

impl Export<'_> {
    fn write(&mut self, path: &str, bytes: impl AsRef<[u8]>) -> Result<()> {
        self.target.write(path, bytes.as_ref()).map_err(Error::internal)?;
        self.written.insert(path.to_owned());
        Ok(())
    }

    /// Reserves the paths of all pages, so that collisions are reported before anything is written.
    async fn reserve_names(&mut self) -> Result<()> {
        let (visit, caches) = (self.visit, self.shared.caches());
        self.names.reserve_own(visit)?;
        for place in visit.places() {
            let frame = visit.page_tree(&caches.sites, &place).await?;
            for (at, entry) in frame.entries.iter().enumerate() {
                let path = format!("{}{}", place.path, frame.address(at));
                let whose = format!("the page “{}” at “{}”", entry.title, links::decode_path(&path));
                match entry.kind {
                    EntryKind::Document => {
                        self.names.reserve(&names::page_file(&path), &whose)?;
                        self.names.reserve(&names::markdown_file(&path), &whose)?;
                        if frame.first() == Some(at) && !entry.path.is_empty() {
                            let own = format!("{}{}", place.path, encode_path(&entry.path));
                            self.names.reserve(&names::page_file(&own), &whose)?;
                        }
                    }
                    EntryKind::Group if !entry.path.is_empty() && frame.first_descendant(at).is_some() => {
                        self.names.reserve(&names::page_file(&path), &whose)?;
                    }
                    EntryKind::Group | EntryKind::Link(_) | EntryKind::Computed => {}
                }
            }
        }
        Ok(())
    }

    /// Writes the assets shared by all pages, and the files for search engines and agents.
    async fn write_site_files(&mut self) -> Result<()> {
        for asset in [Asset::style_sheet(), Asset::script()] {
            self.write(&format!("{SITE_SEGMENT}/{}", asset.name), &asset.body.bytes)?;
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

    /// Replaces the platform's file URLs in a Markdown page with those of the exported files.
    fn rewrite_file_addresses<'t>(&self, path: &str, text: &'t str) -> Cow<'t, str> {
        let url = self.visit.copy.as_ref().and_then(|copy| copy.url.clone());
        let base = url.unwrap_or_else(|| relative_root(path));
        rewrite_links(text, |link| match self.files.get(&link.destination).filter(|path| !path.is_empty()) {
            Some(path) => Resolution::To(format!("{base}{}", encode_path(path))),
            None => Resolution::Keep,
        })
    }

    /// Writes the pages of a space.
    async fn write_space(&mut self, place: SitePlace<'_>) -> Result<()> {
        let (visit, caches) = (self.visit, self.shared.caches());
        let look = visit.customization(&place.space.id);
        let sheet = visit.site.style_sheet(&place.space.id);
        self.write(&format!("{}{SITE_SEGMENT}/{}", place.path, sheet.name), &sheet.body.bytes)?;
        self.write(
            &format!("{}{SITE_SEGMENT}/icon.svg", place.path),
            theme::icon(look, visit.site_title(look)),
        )?;
        self.write_lists(&place).await?;
        let frame = visit.page_tree(&caches.sites, &place).await?;
        for at in 0..frame.entries.len() {
            let entry = &frame.entries[at];
            let path = format!("{}{}", place.path, frame.address(at));
            match entry.kind {
                EntryKind::Document => {
                    let page = document_page_of(visit, caches, place.clone(), at).await?;
                    self.write_page(&path, &String::from_utf8_lossy(&page.html.bytes)).await?;
                    self.done.pages += 1;
                    let mut scene = PageContext::load_place(visit, caches, place.clone()).await?;
                    let (text, _) = page_markdown(&mut scene, caches, &entry.id, u32::MAX).await?;
                    let text = self.rewrite_file_addresses(&path, &text).into_owned();
                    self.write(&names::markdown_file(&path), text)?;
                    // The first page is also served at its own path.
                    if frame.first() == Some(at) && !entry.path.is_empty() {
                        self.write_redirect(&format!("{}{}", place.path, encode_path(&entry.path)), &path)
                            .await?;
                    }
                }
                EntryKind::Group if !entry.path.is_empty() => {
                    let scene = PageContext::load_place(visit, caches, place.clone()).await?;
                    let first = frame.first_descendant(at);
                    let to = first
                        .and_then(|at| scene.addresses.entry_address(&scene.addresses.space, &frame, at));
                    if let Some(to) = to {
                        let to = to
                            .strip_prefix(visit.found.site_base_path.as_str())
                            .unwrap_or_default()
                            .to_owned();
                        self.write_redirect(&path, &to).await?;
                    }
                }
                EntryKind::Group | EntryKind::Link(_) | EntryKind::Computed => {}
            }
        }
        Ok(())
    }

    /// Writes the page lists of a space if its navigation links to them.
    async fn write_lists(&mut self, place: &SitePlace<'_>) -> Result<()> {
        let scene = PageContext::load_place(self.visit, self.shared.caches(), place.clone()).await?;
        if !is_listed_in_parts(&scene) {
            return Ok(());
        }
        let frame = Arc::clone(&scene.frame);
        for part in ListPart::all(&frame) {
            let folder = format!("{}{SITE_SEGMENT}", place.path);
            let path = format!("{folder}/{}", part.name(&frame));
            let up = "../".repeat(folder.split('/').count());
            let html = self.write_linked_files(&path, Some(&up), &part.page(&scene)).await?;
            self.write(&path, html)?;
        }
        Ok(())
    }

    /// Writes a page that redirects to another one.
    async fn write_redirect(&mut self, path: &str, to: &str) -> Result<()> {
        let page = redirect_page(&format!("{}{to}", self.visit.found.site_base_path));
        self.write_page(path, &page).await
    }

    /// Writes the not-found page under the name that many web servers expect.
    async fn write_not_found(&mut self) -> Result<()> {
        let page = not_found_page(self.visit, self.shared.caches()).await?;
        // The page is served at any depth, so its links cannot be relative.
        let url = self.visit.copy.as_ref().and_then(|copy| copy.url.as_deref());
        let root = url
            .and_then(|url| Url::parse(url).ok())
            .map_or_else(|| "/".to_owned(), |url| url.path().to_owned());
        let html =
            self.write_linked_files("", Some(&root), &String::from_utf8_lossy(&page.html.bytes)).await?;
        self.write("404.html", html)
    }

    async fn write_page(&mut self, path: &str, html: &str) -> Result<()> {
        let path = path.trim_end_matches('/');
        let html = self.write_linked_files(path, None, html).await?;
        self.anchors.insert(path.to_owned(), links::anchors(&html));
        self.write(&names::page_file(path), html)
    }

    /// Writes the files that a page shows, then rewrites the links of the page relative to the page or to `root`.
    async fn write_linked_files(&mut self, path: &str, root: Option<&str>, html: &str) -> Result<String> {
        for address in links::addresses(html) {
            if let AddressTarget::File { space, sealed, name } = self.linker.resolve(path, &address)
                && !self.files.contains_key(&address)
            {
                let written = self.write_file(&space, &sealed, &name).await?;
                self.files.insert(address, written.unwrap_or_default());
            }
        }
        let (html, found) = match root {
            Some(root) => self.linker.rewrite_with_prefix(path, root, html, &self.files),
            None => self.linker.rewrite_relative(path, html, &self.files),
        };
        self.links.extend(found.into_iter().map(|link| (path.to_owned(), link)));
        Ok(html)
    }

    /// Writes a file of a space in chunks. Returns `None` if the file no longer exists.
    async fn write_file(&mut self, space: &str, sealed: &str, name: &str) -> Result<Option<String>> {
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
        self.names.reserve(&path, &format!("the file “{}”", links::file_name(name)))?;
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
    fn into_report(mut self) -> ExportReport {
        let mut broken = BTreeSet::new();
        for (page, link) in &self.links {
            let is_there = match &link.path {
                None => false,
                Some(path) => {
                    let name = links::decode_path(path);
                    let is_page = self.written.contains(&names::page_file(path));
                    let anchor = link.anchor.as_deref().filter(|_| is_page);
                    (is_page || self.written.contains(&name))
                        && anchor.is_none_or(|id| self.anchors.get(path).is_none_or(|ids| ids.contains(id)))
                }
            };
            if !is_there {
                broken.insert(BrokenLink { page: links::decode_path(page), target: link.said.clone() });
            }
        }
        self.done.broken = broken.into_iter().collect();
        self.done
    }
}

impl SiteServer {
    fn authority(&self) -> &str {
        self.base().origin().split_once("://").map_or("", |(_, authority)| authority)
    }
}
