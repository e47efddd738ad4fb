//! A public site as files that any web server can host.
//!
//! Pages are drawn as for a visitor of whom nothing is known. Their links are made relative, so that the files work
//! below any path, and each is checked: what it leads to is among the files.

mod links;

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
};

use docs_core::{
    Error, ErrorKind, Result,
    model::{SiteVisibility, SpaceId},
};
use poem::{Request, http::header};

use self::links::{Found, Leads, Linker};
use crate::{
    address::{Place, encoded},
    assets::{Asset, OWN, hashed},
    cache::Tagged,
    frame::EntryKind,
    machine::{feed, page_markdown, robots, short_list, sitemap},
    mount::{Shared, Sites},
    page::{Scene, document_page_of, missing_page, moved_page},
    request::Asked,
    theme,
    visit::{Arrival, Visit},
};

/// What came of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exported {
    /// How many pages were written.
    pub pages: usize,
    /// How many files that pages show or offer.
    pub files: usize,
    /// Links that lead nowhere, each once a page, in the order of pages.
    pub broken: Vec<BrokenLink>,
}

/// A link of a page that leads nowhere.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct BrokenLink {
    /// The path of the page below the site; blank for the first one.
    pub page: String,
    /// What the link says.
    pub target: String,
}

/// Takes the files of an export.
pub trait ExportTarget: Send {
    /// Takes the next bytes of a file: its path, with `/` between segments, and what it holds. A file that is larger
    /// than what is passed at once comes in pieces, one behind the other.
    ///
    /// # Errors
    /// Whatever keeps them from being written, which ends the export.
    fn write(&mut self, path: &str, bytes: &[u8]) -> io::Result<()>;
}

impl Sites {
    /// Writes a public site as files: its pages, what they load, and what machines read. Files with a path ending in
    /// `index.html` are what a web server answers for the folder.
    ///
    /// `path` is where the site is below the platform's host, as in its address. Search is left out, as it needs a
    /// server; so is everything that is for some visitors only. Memory grows with the number of links.
    ///
    /// # Errors
    /// `NotFound` where nothing is published; `Forbidden` for a site that is not public; `Internal` where the target
    /// fails; the platform's.
    ///
    /// # Example
    /// ```
    /// # use docs_site::{ExportTarget, Sites};
    /// # async fn example(sites: &Sites, folder: &mut dyn ExportTarget) -> docs_core::Result<()> {
    /// let done = sites.export("/sites/docs/", folder).await?;
    /// println!("{} pages, {} broken links", done.pages, done.broken.len());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn export(&self, path: &str, target: &mut dyn ExportTarget) -> Result<Exported> {
        let shared = self.shared();
        let request = Request::builder()
            .uri(path.parse().map_err(|_| Error::not_found("published site"))?)
            .header(header::HOST, shared.authority())
            .finish();
        let asked = Asked::of(&request, shared.base());
        let visit = match Visit::of(shared.platform(), &asked, &asked.path).await? {
            Arrival::Here(visit) => *visit,
            Arrival::Moved(_) => return Err(Error::not_found("published site")),
            Arrival::SignIn(_) => return Err(not_public()),
        };
        if visit.site.site.visibility != SiteVisibility::Public {
            return Err(not_public());
        }
        let visit = visit.into_files();
        let mut export = Export {
            shared,
            linker: Linker::new(&visit.found.site_base_path, shared.platform().urls().base()),
            visit: &visit,
            target,
            written: BTreeSet::new(),
            anchors: BTreeMap::new(),
            links: Vec::new(),
            files: BTreeMap::new(),
            done: Exported::default(),
        };
        export.own().await?;
        for place in visit.places() {
            export.space(place).await?;
        }
        export.missing().await?;
        Ok(export.checked())
    }
}

fn not_public() -> Error {
    Error::new(
        ErrorKind::Forbidden,
        "only a public site can be exported: files on a web server are for everybody; publish the site as public first",
    )
}

/// An export under way.
struct Export<'e> {
    shared: &'e Shared,
    linker: Linker,
    visit: &'e Visit,
    target: &'e mut dyn ExportTarget,
    /// The paths of all files that were written.
    written: BTreeSet<String>,
    /// The anchors of pages, by their paths.
    anchors: BTreeMap<String, BTreeSet<String>>,
    /// Links to what the site has: the page, what the link says, and where it leads.
    links: Vec<(String, Found)>,
    /// Files of spaces by their addresses, and where they were written.
    files: BTreeMap<String, String>,
    done: Exported,
}

impl Export<'_> {
    fn write(&mut self, path: &str, bytes: impl AsRef<[u8]>) -> Result<()> {
        self.target.write(path, bytes.as_ref()).map_err(Error::internal)?;
        self.written.insert(path.to_owned());
        Ok(())
    }

    /// What is the same for all pages, and what machines ask for.
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
        self.write("rss.xml", feed(visit, caches).await?)
    }

    /// The pages of a space.
    async fn space(&mut self, place: Place<'_>) -> Result<()> {
        let (visit, caches) = (self.visit, self.shared.caches());
        let looks = &visit.site.customizations;
        let look = looks.site_spaces.get(&place.space.id).unwrap_or(&looks.site);
        let css = Tagged::new(theme::style_sheet(look));
        self.write(&format!("{}{OWN}/{}", place.path, hashed("theme", "css", &css)), &css.bytes)?;
        let title = look.title.as_ref().unwrap_or(&visit.site.site.title);
        self.write(&format!("{}{OWN}/icon.svg", place.path), theme::icon(look, title.as_str()))?;
        let frame = visit.frame(caches, &place).await?;
        for at in 0..frame.entries.len() {
            let entry = &frame.entries[at];
            let is_first = frame.first() == Some(at);
            let below = if is_first { String::new() } else { encoded(&entry.path) };
            let path = format!("{}{below}", place.path);
            match entry.kind {
                EntryKind::Document => {
                    let page = document_page_of(visit, caches, (place.clone(), at)).await?;
                    self.page(&path, &String::from_utf8_lossy(&page.html.bytes)).await?;
                    self.done.pages += 1;
                    let mut scene = Scene::at(visit, caches, place.clone()).await?;
                    let text = page_markdown(&mut scene, caches, &entry.id).await?;
                    let name =
                        if is_first { format!("{}index.md", place.path) } else { format!("{path}.md") };
                    self.write(&links::decoded(&name), text)?;
                    // The first page has an address of its own too.
                    if is_first && !entry.path.is_empty() {
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

    /// A page that leads to another one.
    async fn moved(&mut self, path: &str, to: &str) -> Result<()> {
        let page = moved_page(&format!("{}{to}", self.visit.found.site_base_path));
        self.page(path, &page).await
    }

    /// The page for what is not there, by the name that many servers look for.
    async fn missing(&mut self) -> Result<()> {
        let page = missing_page(self.visit, self.shared.caches()).await?;
        let html = String::from_utf8_lossy(&page.html.bytes).into_owned();
        let html = self.linked("", &html).await?;
        self.write("404.html", html)
    }

    async fn page(&mut self, path: &str, html: &str) -> Result<()> {
        let path = path.trim_end_matches('/');
        let html = self.linked(path, html).await?;
        self.anchors.insert(path.to_owned(), links::anchors(&html));
        let name = links::decoded(path);
        self.write(
            &if name.is_empty() { "index.html".to_owned() } else { format!("{name}/index.html") },
            html,
        )
    }

    /// A page with relative links, after the files that it shows were written.
    async fn linked(&mut self, path: &str, html: &str) -> Result<String> {
        for address in links::addresses(html) {
            if let Leads::File { space, sealed, name } = self.linker.leads(path, &address)
                && !self.files.contains_key(&address)
            {
                let written = self.file(&space, (&sealed, &name)).await?;
                self.files.insert(address, written.unwrap_or_default());
            }
        }
        let (html, found) = self.linker.relative(path, html, &self.files);
        self.links.extend(found.into_iter().map(|link| (path.to_owned(), link)));
        Ok(html)
    }

    /// A file of a space, piece by piece; `None` where it is gone.
    async fn file(&mut self, space: &str, (sealed, name): (&str, &str)) -> Result<Option<String>> {
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

    /// What came of it, with the links that lead nowhere.
    fn checked(mut self) -> Exported {
        let mut broken = BTreeSet::new();
        for (page, link) in &self.links {
            let is_there = match &link.path {
                None => false,
                Some(path) => {
                    let name = links::decoded(path);
                    let page =
                        if name.is_empty() { "index.html".to_owned() } else { format!("{name}/index.html") };
                    let is_page = self.written.contains(&page);
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
