//! Content as a PDF file, for spaces and change requests.
//!
//! An address seals the content it shows and the actor it was issued to. A request for the address starts a job that
//! makes the file, unless a recent job made it. The file is stored in pieces among the objects of the space, so it is
//! never in memory as a whole.

mod book;
mod job;
mod pieces;
mod refs;
mod values;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use docs_macros::boxed;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

pub(in crate::platform) use self::job::PdfWork;
use self::pieces::Manifest;
use crate::{
    Error, ErrorKind, Result,
    content::{PageKind, PageTree, TreePage, View, slugify},
    model::{ChangeRequestId, JobId, PageId, PdfLink, SpaceId, Timestamp},
    platform::{
        content::{change_requests, files::Bearer},
        kernel::platform::Platform,
        nouns::ContentHandle,
    },
    ports::Pdf,
    store::{
        FeedPos, Hash,
        jobs::{self, JobRecord, JobState},
        records::{ChangeRequestRecord, SpaceRecord},
        topic,
    },
};

/// The lifetime of the address of a PDF.
pub const PDF_WINDOW: Duration = Duration::from_secs(60 * 60);
/// The period of reuse of a completed file. Its pieces are unreferenced objects, which are garbage-collected some time
/// later than this.
pub(in crate::platform) const PDF_KEPT: Duration = Duration::from_secs(24 * 60 * 60);
/// Maximum number of pages of a PDF.
pub(in crate::platform) const MAX_PAGES: usize = 5_000;
/// The delay after which a client repeats a request for a pending file.
const ASK_AGAIN: Duration = Duration::from_secs(2);
/// Job events that are read in one batch.
const NEWS_AT_ONCE: u32 = 500;

const _: () = assert!(
    PDF_KEPT.as_secs() * 2 < crate::platform::kernel::storing::UNTOUCHED.num_seconds().unsigned_abs()
);

/// The part of a content that becomes a PDF.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PdfPart {
    /// The page to show with its descendants, or everything if absent.
    pub page: Option<PageId>,
    /// Shows only the page itself, without its descendants.
    pub only: bool,
}

/// The state of the PDF at an address.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PdfAnswer {
    Ready(PdfFile),
    /// The file is pending. Repeat the request after this time.
    Pending(Duration),
}

/// A PDF file without its bytes, which [`Platform::pdf_piece`] reads.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PdfFile {
    pub name: String,
    /// The size in bytes.
    pub size: u64,
    /// A hash of the content.
    pub tag: Hash,
    domain: String,
    pieces: Arc<[Hash]>,
}

/// The sealed content of an address. Nothing is stored for it.
#[derive(Serialize, Deserialize)]
struct Ticket {
    until: Timestamp,
    /// The root of the content when the address was issued.
    root: Hash,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request: Option<ChangeRequestId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    page: Option<PageId>,
    #[serde(default)]
    only: bool,
    /// The recipient of the address.
    bearer: Bearer,
}

impl Ticket {
    fn made_at(&self) -> Timestamp {
        (self.until.time() - PDF_WINDOW).into()
    }
}

/// The position in the feed of job events, as read by requests that wait for a file.
#[derive(Default)]
pub(crate) struct PdfNews(Mutex<Option<FeedPos>>);

/// The state of a file in one snapshot.
enum Found {
    Ready(PdfFile),
    Pending,
    Failed(Error),
    /// No job makes the file. Holds the work to enqueue, and the completed job of the same file.
    Missing(PdfWork, Option<JobId>),
}

impl<'p> ContentHandle<'p> {
    /// Issues the address of a PDF of a space or change request, for all pages or some.
    ///
    /// The file shows the content at the time of this call. A job makes it on the first request of the address, see
    /// [`Platform::pdf_file`]. The address expires after [`PDF_WINDOW`] (1 hour). Hidden pages are left out,
    /// except the page that is requested.
    ///
    /// # Errors
    ///
    /// `NotFound`, also for a page that is not part of the content; `Invalid` for `only` without a page, and for a page
    /// without content of its own; `TooLarge` for too many pages; `Precondition` if the platform has no typesetter.
    #[boxed]
    pub async fn pdf_url(self, part: &'p PdfPart) -> Result<PdfLink> {
        let (platform, actor) = (self.caller.platform, &self.caller.actor());
        let of = &self.of.to_content_of();
        platform.typesetter()?;
        if part.only && part.page.is_none() {
            return Err(Error::invalid("only", "must not be set without `page`"));
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
    }
}

impl Platform {
    /// Returns the PDF at an address, given the sealed part of the address.
    ///
    /// A job makes the file unless a recent job did. Concurrent requests for the same file share one job. After at most
    /// `wait`, a pending file is reported as [`PdfAnswer::Pending`]. A platform without a worker never completes a
    /// file.
    ///
    /// # Errors
    ///
    /// `NotFound`, also after [`PDF_WINDOW`] and when the recipient of the address may no longer read the content;
    /// `TooLarge` if the pages exceed the limits of a file, and any other failure of the job, until a newly issued
    /// address retries it; `Unavailable` if too many files of the space are queued; `Precondition` if the platform has
    /// no typesetter.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future does not stop the job.
    ///
    /// # Example
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use docs_core::{Platform, Result, model::SpaceId, platform::PdfAnswer};
    /// # async fn example(platform: &Platform, space: &SpaceId, sealed: &str) -> Result<()> {
    /// if let PdfAnswer::Ready(file) = platform.pdf_file(space, sealed, Duration::from_secs(30)).await? {
    ///     println!("{}: {} bytes", file.name, file.size);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[boxed('a)]
    pub async fn pdf_file<'a>(
        &'a self,
        space: &'a SpaceId,
        sealed: &'a str,
        wait: Duration,
    ) -> Result<PdfAnswer> {
        let missing = || Error::not_found("PDF");
        let ticket = self.secrets().open(&purpose(space), sealed).map_err(|_| missing())?;
        let ticket: Ticket = serde_json::from_str(&ticket).map_err(|_| missing())?;
        self.typesetter()?;
        let until = Instant::now() + wait;
        loop {
            match self.find_pdf(space, &ticket).await? {
                Found::Ready(file) => return Ok(PdfAnswer::Ready(file)),
                Found::Failed(error) => return Err(error),
                Found::Pending => {}
                Found::Missing(work, before) => self.enqueue_pdf(work, before).await?,
            }
            if Instant::now() >= until {
                return Ok(PdfAnswer::Pending(ASK_AGAIN));
            }
            // Later events end the wait. The lookup after this line covers earlier ones.
            let seen = self.read_news().await?;
            match self.find_pdf(space, &ticket).await? {
                Found::Ready(file) => return Ok(PdfAnswer::Ready(file)),
                Found::Failed(error) => return Err(error),
                Found::Pending => {
                    let left = until.saturating_duration_since(Instant::now());
                    self.store().changed(topic::JOBS, seen, left).await?;
                }
                Found::Missing(..) => {}
            }
        }
    }

    /// Reads a PDF file from an offset to the end of the piece that contains it. A piece is small enough to hold in
    /// memory. Returns no bytes after the end of the file.
    ///
    /// # Errors
    ///
    /// `NotFound` if the file is no longer stored.
    #[boxed('a)]
    pub async fn pdf_piece<'a>(&'a self, file: &'a PdfFile, at: u64) -> Result<Bytes> {
        let Some((piece, offset)) = pieces::place(&file.pieces, at) else { return Ok(Bytes::new()) };
        let found = self.objects().get(&file.domain, &[piece]).await?.pop().flatten();
        let found = found.ok_or_else(|| Error::not_found("PDF"))?;
        Ok(found.slice(offset.min(found.len())..))
    }

    /// Returns the state of the file at an address. The access of its recipient is checked every time.
    async fn find_pdf(&self, space: &SpaceId, ticket: &Ticket) -> Result<Found> {
        let missing = || Error::not_found("PDF");
        if self.now() >= ticket.until {
            let why = "the address of this PDF has expired; request a new one";
            return Err(Error::new(ErrorKind::NotFound, why));
        }
        let tx = self.read().await?;
        if !self.reaches(&tx, &ticket.bearer, space).await? {
            return Err(missing());
        }
        let record: Option<Arc<SpaceRecord>> = tx.get(&SpaceRecord::at(space)).await?;
        let record = record.filter(|space| space.deleted_at.is_none()).ok_or_else(missing)?;
        let request: Option<Arc<ChangeRequestRecord>> = match &ticket.request {
            None => None,
            Some(id) => Some(tx.get(&ChangeRequestRecord::at(id)).await?.ok_or_else(missing)?),
        };
        let work = PdfWork::new(&record, request.as_deref(), ticket);
        let job = jobs::for_the_same(&tx, space.as_str(), &work.name()).await?;
        drop(tx);
        let Some(job) = job else { return Ok(Found::Missing(work, None)) };
        match job.state {
            JobState::Waiting | JobState::Queued | JobState::Running => Ok(Found::Pending),
            // An address issued after the failure retries.
            JobState::Failed if job.ended_at.is_some_and(|ended| ended >= ticket.made_at()) => {
                let kind = job.failure.unwrap_or(ErrorKind::Internal);
                let why = job.error.clone().unwrap_or_else(|| "failed to render PDF".to_owned());
                Ok(Found::Failed(Error::new(kind, why)))
            }
            JobState::Failed => Ok(Found::Missing(work, Some(job.id.clone()))),
            JobState::Done => {
                let part = PdfPart { page: ticket.page.clone(), only: ticket.only };
                match self.kept_pdf(&record, &job).await? {
                    None => Ok(Found::Missing(work, Some(job.id.clone()))),
                    Some(manifest) => {
                        let tree = self.content().view(&record.domain, ticket.root).tree().await?;
                        let name = file_name(&tree, &part, &record);
                        Ok(Found::Ready(manifest.file(name, &record.domain)))
                    }
                }
            }
        }
    }

    /// Returns the manifest of a completed job, if it is recent and all names in it are current.
    async fn kept_pdf(&self, space: &SpaceRecord, job: &JobRecord) -> Result<Option<Manifest>> {
        let is_kept = job.ended_at.is_some_and(|ended| self.now() < later(ended, PDF_KEPT));
        let Some(object) = job.outcome.object.filter(|_| is_kept) else { return Ok(None) };
        let Some(bytes) = self.objects().get(&space.domain, &[object]).await?.pop().flatten() else {
            return Ok(None);
        };
        let manifest: Manifest = serde_json::from_slice(&bytes).map_err(Error::internal)?;
        let names = self.names(&space.organization, &manifest.people).await?;
        Ok((manifest.names == book::hash_of(&names)).then_some(manifest))
    }

    /// Enqueues the job that makes a file, unless another request did so concurrently.
    async fn enqueue_pdf(&self, work: PdfWork, before: Option<JobId>) -> Result<()> {
        let enqueue = job::EnqueuePdf { id: self.id(), work, before, now: self.now() };
        self.upkeep(&enqueue).await.map_err(|error| match error.kind() {
            ErrorKind::Conflict => Error::new(
                ErrorKind::Unavailable,
                "too many PDF files of this space are being rendered; try again later",
            ),
            _ => error,
        })
    }

    /// Reads all pending job events. Returns the position after which later events follow.
    async fn read_news(&self) -> Result<Option<FeedPos>> {
        let last = self.inner.memory.of::<PdfNews>();
        let place = || last.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut seen = place().clone();
        loop {
            let news = self.store().changes(topic::JOBS, seen.clone(), NEWS_AT_ONCE).await?;
            match news.last() {
                Some((last, _)) => seen = Some(last.clone()),
                None => break,
            }
        }
        place().clone_from(&seen);
        Ok(seen)
    }

    fn typesetter(&self) -> Result<&Arc<dyn Pdf>> {
        self.ports()
            .pdf
            .as_ref()
            .ok_or_else(|| Error::new(ErrorKind::Precondition, "this server does not render PDF files"))
    }
}

/// The content of a file.
struct Shown<'a> {
    space: &'a SpaceRecord,
    subtitle: Option<String>,
    part: &'a PdfPart,
    view: &'a View,
    tree: &'a PageTree,
    /// The recipient of the addresses in the file.
    bearer: &'a Bearer,
}

/// Returns the pages to show in reading order, each with its depth.
fn chosen<'a>(tree: &'a PageTree, part: &PdfPart) -> Result<Vec<(&'a TreePage, usize)>> {
    let top = match &part.page {
        None => None,
        Some(id) => {
            let page = tree.get(id).ok_or_else(|| Error::not_found("page"))?;
            if !has_content(page) {
                return Err(Error::invalid("page", "must be a page or a group"));
            }
            Some(page)
        }
    };
    let mut pages: Vec<(&TreePage, usize)> = top.iter().map(|page| (*page, 0)).collect();
    let mut depths: HashMap<&PageId, usize> = pages.iter().map(|(page, depth)| (&page.id, *depth)).collect();
    // A page precedes its descendants, so the depth of the parent is known.
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
        let why = format!("a PDF must have at most {MAX_PAGES} pages, has {many}; select fewer with `page`");
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

/// The purpose of the seal of an address. It is valid in its own space only.
fn purpose(space: &SpaceId) -> String {
    format!("pdf of {space}")
}
