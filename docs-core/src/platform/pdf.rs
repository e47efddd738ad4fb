//! Content as a PDF file: the same for a space and for a change request.

mod book;
mod refs;
mod values;

use std::{collections::HashMap, sync::Arc, time::Duration};

use bytes::Bytes;
use quick_cache::{Weighter, sync::Cache};
use serde::{Deserialize, Serialize};

use self::book::Names;
use super::{Platform, change_requests, files::Bearer, nouns::ContentHandle};
use crate::{
    BoxFuture, Error, ErrorKind, Result,
    content::{PageKind, PageTree, TreePage, View, slugify},
    model::{ChangeRequestId, PageId, PdfLink, SpaceId, Timestamp, UserId},
    ports::{Pdf, PdfError},
    store::{
        Hash,
        records::{ChangeRequestRecord, SpaceRecord},
    },
};

/// How long the address of a PDF is good.
pub const PDF_WINDOW: Duration = Duration::from_secs(60 * 60);
/// Most pages of a PDF.
pub(super) const MAX_PAGES: usize = 5_000;
/// Bytes of files that are kept for the next time.
const KEPT_BYTES: u64 = 128 << 20;
/// Bytes of lists of people that are kept for the next time.
const KEPT_PEOPLE: u64 = 4 << 20;

/// What of some content becomes a PDF.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PdfPart {
    /// A page and those below it; everything when absent.
    pub page: Option<PageId>,
    /// Only the page itself.
    pub only: bool,
}

/// A PDF file.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PdfFile {
    /// Its name.
    pub name: String,
    /// Its bytes.
    pub bytes: Bytes,
}

/// What an address shows, sealed in the address itself: nothing is stored.
#[derive(Serialize, Deserialize)]
struct Ticket {
    until: Timestamp,
    /// The content as it was when the address was made.
    root: Hash,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request: Option<ChangeRequestId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    page: Option<PageId>,
    #[serde(default)]
    only: bool,
    /// For whom the address was made.
    bearer: Bearer,
}

/// Files that were made lately, by what they show. That a file is too large is kept too: trying again would refuse
/// again. That it took too long is not: the machine may have had other work.
pub(crate) struct Pdfs {
    files: Cache<Hash, Made, CacheWeight>,
    /// Whom content names, which never changes: their names do, and are part of what a file shows.
    people: Cache<Hash, Arc<[UserId]>, CacheWeight>,
}

pub(crate) type Made = std::result::Result<Bytes, PdfError>;

#[derive(Clone)]
pub(crate) struct CacheWeight;

impl Weighter<Hash, Made> for CacheWeight {
    fn weight(&self, _: &Hash, made: &Made) -> u64 {
        made.as_ref().map_or(0, |bytes| bytes.len() as u64) + 256
    }
}

impl Weighter<Hash, Arc<[UserId]>> for CacheWeight {
    fn weight(&self, _: &Hash, people: &Arc<[UserId]>) -> u64 {
        people.len() as u64 * 64 + 256
    }
}

impl Default for Pdfs {
    fn default() -> Self {
        Self {
            files: Cache::with_weighter(64, KEPT_BYTES, CacheWeight),
            people: Cache::with_weighter(1_024, KEPT_PEOPLE, CacheWeight),
        }
    }
}

impl<'p> ContentHandle<'p> {
    /// Makes the address of a PDF of a space or of a change request, of all pages or some.
    ///
    /// The file shows the content as it is now and is made when the address is asked for it, which is good for
    /// [`PDF_WINDOW`]. Pages that are left out of the table of contents are left out here too, unless one is asked for.
    ///
    /// # Errors
    /// `NotFound`, also for a page that is none of the content; `Invalid` for `only` without a page, and for a page
    /// that has no content of its own; `TooLarge` for too many pages; `Precondition` when this platform makes no PDF
    /// files.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{PageId, SpaceId}, platform::{Caller, PdfPart}};
    /// # async fn example(me: Caller<'_>, space: &SpaceId, page: &PageId) -> Result<()> {
    /// let part = PdfPart { page: Some(page.clone()), only: true };
    /// let link = me.space(space).content().pdf_url(&part).await?;
    /// println!("{}", link.url);
    /// # Ok(())
    /// # }
    /// ```
    pub fn pdf_url(self, part: &'p PdfPart) -> BoxFuture<'p, Result<PdfLink>> {
        Box::pin(async move {
            let (platform, actor) = (self.caller.platform, &self.caller.actor());
            let of = &self.of.to_content_of();
            platform.typesetter()?;
            if part.only && part.page.is_none() {
                return Err(Error::invalid("only", "needs `page`, the page to show"));
            }
            let tx = platform.read().await?;
            let at = platform.locate(&tx, actor, of).await?;
            let request = match of.request_name() {
                None => None,
                Some(name) => Some(change_requests::find(&tx, &of.space, name).await?),
            };
            drop(tx);
            let tree = at.view.tree().await?;
            chosen(&tree, part)?;
            let space = at.space();
            let ticket = Ticket {
                until: later(platform.now(), PDF_WINDOW),
                root: at.view.root(),
                request: request.map(|request| request.id.clone()),
                page: part.page.clone(),
                only: part.only,
                bearer: at.bearer.clone(),
            };
            let name = file_name(&tree, part, space);
            let ticket = serde_json::to_string(&ticket).map_err(Error::internal)?;
            let sealed = platform
                .secrets()
                .seal(&purpose(&space.id), &ticket, platform.ids().next())
                .map_err(Error::internal)?;
            Ok(PdfLink { url: platform.urls().pdf(&space.id, &sealed, &name) })
        })
    }
}

impl Platform {
    /// Answers the PDF that an address leads to, by the sealed part of that address.
    ///
    /// The file is made now, unless it was made lately; of several who ask at once one makes it for all.
    ///
    /// # Errors
    /// `NotFound`, also when [`PDF_WINDOW`] is over and when whom the address was made for may not read the content any
    /// more; `TooLarge` when the pages are too
    /// much for a file; `Precondition` when this platform makes no PDF files.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Platform, Result, model::SpaceId};
    /// # async fn example(platform: &Platform, space: &SpaceId, sealed: &str) -> Result<()> {
    /// let file = platform.pdf_file(space, sealed).await?;
    /// println!("{}: {} bytes", file.name, file.bytes.len());
    /// # Ok(())
    /// # }
    /// ```
    pub fn pdf_file<'a>(&'a self, space: &'a SpaceId, sealed: &'a str) -> BoxFuture<'a, Result<PdfFile>> {
        Box::pin(async move {
            let missing = || Error::not_found("PDF");
            let ticket = self.secrets().open(&purpose(space), sealed).map_err(|_| missing())?;
            let ticket: Ticket = serde_json::from_str(&ticket).map_err(|_| missing())?;
            if self.now() >= ticket.until {
                let why = "the address of this PDF was good for an hour; ask for a new one";
                return Err(Error::new(ErrorKind::NotFound, why));
            }
            let typesetter = self.typesetter()?;
            let tx = self.read().await?;
            self.reach(&tx, &ticket.bearer, space).await?.ok_or_else(missing)?;
            let space: Option<Arc<SpaceRecord>> = tx.get(&SpaceRecord::at(space)).await?;
            let space = space.filter(|space| space.deleted_at.is_none()).ok_or_else(missing)?;
            let request: Option<Arc<ChangeRequestRecord>> = match &ticket.request {
                None => None,
                Some(id) => Some(tx.get(&ChangeRequestRecord::at(id)).await?.ok_or_else(missing)?),
            };
            drop(tx);
            let part = PdfPart { page: ticket.page, only: ticket.only };
            let view = self.content().view(&space.domain, ticket.root);
            let tree = view.tree().await?;
            let name = file_name(&tree, &part, &space);
            let subtitle = request.map(|request| match request.subject.as_str().trim() {
                "" => format!("#{}", request.number),
                subject => format!("#{} {subject}", request.number),
            });
            let bearer = &ticket.bearer;
            let what = Shown { space: &space, subtitle, part: &part, view: &view, tree: &tree, bearer };
            let key = what.key();
            let mut read = None;
            let find = async {
                let (book, people) = self.book(&what).await?;
                read = Some(book);
                Ok::<_, Error>(Arc::from(people))
            };
            let people: Arc<[UserId]> = self.pdfs().people.get_or_insert_async(&key, find).await?;
            let names = self.names(&what, &people).await?;
            let make = async {
                let book = match read {
                    Some(book) => book,
                    None => self.book(&what).await?.0,
                };
                let book = book::with_names(book, &names);
                match typesetter.render(Arc::new(book)).await {
                    made @ (Ok(_) | Err(PdfError::TooLarge(_))) => Ok(made),
                    // It may work the next time, so it is not kept.
                    Err(error @ (PdfError::TooSlow(_) | PdfError::Unprocessable(_))) => Err(too_much(&error)),
                    Err(error @ PdfError::Unavailable(_)) => Err(not_now(error)),
                    Err(error) => Err(Error::internal(error)),
                }
            };
            let made = self.pdfs().files.get_or_insert_async(&named(key, &names), make).await?;
            let bytes = made.map_err(|error| too_much(&error))?;
            Ok(PdfFile { name, bytes })
        })
    }

    fn typesetter(&self) -> Result<&Arc<dyn Pdf>> {
        self.ports()
            .pdf
            .as_ref()
            .ok_or_else(|| Error::new(ErrorKind::Precondition, "this server makes no PDF files"))
    }
}

fn too_much(error: &PdfError) -> Error {
    Error::new(ErrorKind::TooLarge, format!("{error}; ask for fewer pages with `page` and `only`"))
}

fn not_now(error: PdfError) -> Error {
    Error::new(ErrorKind::Unavailable, "the PDF cannot be made now; try again later").caused_by(error)
}

/// What a file shows.
struct Shown<'a> {
    space: &'a SpaceRecord,
    subtitle: Option<String>,
    part: &'a PdfPart,
    view: &'a View,
    tree: &'a PageTree,
    /// For whom the addresses of files in it are made.
    bearer: &'a Bearer,
}

impl Shown<'_> {
    /// Equal for files that are equal but for the names of people. Addresses in them are those of whom they are for.
    fn key(&self) -> Hash {
        let page = self.part.page.as_ref().map_or("", |page| page.as_str());
        let only = if self.part.only { "only" } else { "" };
        let root = self.view.root().to_string();
        let subtitle = self.subtitle.as_deref().unwrap_or_default();
        // Names cannot hold a line feed, and the subtitle comes last.
        let bearer = format!("{:?}", self.bearer);
        let all = [self.space.id.as_str(), &root, page, only, &bearer, self.space.title.as_str(), subtitle];
        Hash::of(all.join("\n").as_bytes())
    }
}

/// Equal for files that are equal.
fn named(key: Hash, names: &Names) -> Hash {
    let mut all = key.to_string();
    for (user, name) in names {
        // Names cannot hold a line feed.
        all.extend(["\n", user.as_str(), "\n", name.as_str()]);
    }
    Hash::of(all.as_bytes())
}

/// The pages that are shown, in reading order, each with how many of them are above it.
fn chosen<'a>(tree: &'a PageTree, part: &PdfPart) -> Result<Vec<(&'a TreePage, usize)>> {
    let top = match &part.page {
        None => None,
        Some(id) => {
            let page = tree.get(id).ok_or_else(|| Error::not_found("page"))?;
            if !has_content(page) {
                return Err(Error::invalid("page", "must be a page or a group, not a link"));
            }
            Some(page)
        }
    };
    let mut pages: Vec<(&TreePage, usize)> = top.iter().map(|page| (*page, 0)).collect();
    let mut depths: HashMap<&PageId, usize> = pages.iter().map(|(page, depth)| (&page.id, *depth)).collect();
    // A page comes before those below it, so that its depth is known when they come.
    for page in tree.pages().iter().filter(|_| !part.only) {
        if page.entry.hidden || !has_content(page) {
            continue;
        }
        let depth = match (&page.entry.parent, top) {
            (None, None) => Some(0),
            (None, Some(_)) => None,
            (Some(parent), _) => depths.get(parent).map(|above| above + 1),
        };
        if let Some(depth) = depth
            && depths.insert(&page.id, depth).is_none()
        {
            pages.push((page, depth));
        }
    }
    if pages.len() > MAX_PAGES {
        let many = pages.len();
        let why = format!("a PDF has at most {MAX_PAGES} pages, not {many}; ask for fewer with `page`");
        return Err(Error::new(ErrorKind::TooLarge, why));
    }
    Ok(pages)
}

const fn has_content(page: &TreePage) -> bool {
    matches!(page.entry.kind, PageKind::Document | PageKind::Group)
}

fn file_name(tree: &PageTree, part: &PdfPart, space: &SpaceRecord) -> String {
    let page = part.page.as_ref().and_then(|id| tree.get(id));
    let slug = slugify(page.map_or(space.title.as_str(), |page| &page.entry.title));
    format!("{}.pdf", if slug.is_empty() { "document" } else { &slug })
}

fn later(now: Timestamp, by: Duration) -> Timestamp {
    (now.time() + by).into()
}

/// What an address is sealed for: it opens in its own space only.
fn purpose(space: &SpaceId) -> String {
    format!("pdf of {space}")
}
