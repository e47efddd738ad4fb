//! Content as a PDF file: the same for a space and for a change request.
//!
//! An address seals what it shows, and for whom. Whoever asks it has a job make the file, unless a job made it lately;
//! the file is kept in pieces among the objects of the space, so that none is ever in memory as a whole here.

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
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

pub(super) use self::job::PdfWork;
use self::pieces::Manifest;
use super::{Platform, change_requests, files::Bearer, nouns::ContentHandle};
use crate::{
    BoxFuture, Error, ErrorKind, Result,
    content::{PageKind, PageTree, TreePage, View, slugify},
    model::{ChangeRequestId, JobId, PageId, PdfLink, SpaceId, Timestamp},
    ports::Pdf,
    store::{
        FeedPos, Hash,
        jobs::{self, JobRecord, JobState},
        records::{ChangeRequestRecord, SpaceRecord},
        topic,
    },
};

/// How long the address of a PDF is good.
pub const PDF_WINDOW: Duration = Duration::from_secs(60 * 60);
/// How long a file that was made is given to those who ask for the same. Its pieces are objects that nothing names:
/// they are removed some time later than this.
pub(super) const PDF_KEPT: Duration = Duration::from_secs(24 * 60 * 60);
/// Most pages of a PDF.
pub(super) const MAX_PAGES: usize = 5_000;
/// When to ask again for a file that is being made.
const ASK_AGAIN: Duration = Duration::from_secs(2);
/// News of jobs that are read at once.
const NEWS_AT_ONCE: u32 = 500;

const _: () = assert!(PDF_KEPT.as_secs() * 2 < super::collect::UNTOUCHED.num_seconds().unsigned_abs());

/// What of some content becomes a PDF.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PdfPart {
    /// A page and those below it; everything when absent.
    pub page: Option<PageId>,
    /// Only the page itself.
    pub only: bool,
}

/// What an address of a PDF leads to.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PdfAnswer {
    /// The file.
    Ready(PdfFile),
    /// It is being made; asking again after this time is right.
    Pending(Duration),
}

/// A PDF file, without its bytes: they are read by [`Platform::pdf_piece`].
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PdfFile {
    /// Its name.
    pub name: String,
    /// The number of bytes.
    pub size: u64,
    /// Names the bytes: other bytes have another name.
    pub tag: Hash,
    domain: String,
    pieces: Arc<[Hash]>,
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

impl Ticket {
    fn made_at(&self) -> Timestamp {
        (self.until.time() - PDF_WINDOW).into()
    }
}

/// Up to where the news of jobs were read by those who wait for a file.
#[derive(Default)]
pub(crate) struct PdfNews(Mutex<Option<FeedPos>>);

/// How far a file is, on one snapshot.
enum Found {
    Ready(PdfFile),
    Pending,
    Failed(Error),
    /// Nobody makes it: the work to enqueue, and the job of the same that is over.
    Missing(PdfWork, Option<JobId>),
}

impl<'p> ContentHandle<'p> {
    /// Makes the address of a PDF of a space or of a change request, of all pages or some.
    ///
    /// The file shows the content as it is now. A job makes it when the address is asked for it, see
    /// [`Platform::pdf_file`]; the address is good for [`PDF_WINDOW`]. Pages that are left out of the table of contents
    /// are left out here too, unless one is asked for.
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
    /// Answers what the address of a PDF leads to, by the sealed part of that address: the file, as soon as it is made.
    ///
    /// A job makes it, unless one made the same lately: of all who ask for the same, one job makes it for all. Who
    /// waits `wait` at most is then told to ask again; without a worker nothing is ever made.
    ///
    /// # Errors
    /// `NotFound`, also when [`PDF_WINDOW`] is over and when whom the address was made for may not read the content any
    /// more; `TooLarge` when the pages are too much for a file, and whatever else the job failed with: an address that
    /// is made after that tries again; `Unavailable` when too many files of the space wait to be made; `Precondition`
    /// when this platform makes no PDF files.
    ///
    /// # Cancel safety
    /// The job goes on.
    ///
    /// # Example
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
    pub fn pdf_file<'a>(
        &'a self,
        space: &'a SpaceId,
        sealed: &'a str,
        wait: Duration,
    ) -> BoxFuture<'a, Result<PdfAnswer>> {
        Box::pin(async move {
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
                // News from here on end the wait. What came before them is seen by looking once more.
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
        })
    }

    /// Reads a PDF file from an offset: the rest of the piece that it lies in, which is short enough to be kept in
    /// memory. Behind the last byte there are none.
    ///
    /// # Errors
    /// `NotFound` when the file is not kept any more.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Platform, Result, platform::PdfFile};
    /// # async fn example(platform: &Platform, file: &PdfFile) -> Result<()> {
    /// let mut at = 0;
    /// while at < file.size {
    ///     let piece = platform.pdf_piece(file, at).await?;
    ///     at += piece.len() as u64;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn pdf_piece<'a>(&'a self, file: &'a PdfFile, at: u64) -> BoxFuture<'a, Result<Bytes>> {
        Box::pin(async move {
            let Some((piece, offset)) = pieces::place(&file.pieces, at) else { return Ok(Bytes::new()) };
            let found = self.objects().get(&file.domain, &[piece]).await?.pop().flatten();
            let found = found.ok_or_else(|| Error::not_found("PDF"))?;
            Ok(found.slice(offset.min(found.len())..))
        })
    }

    /// How far the file of an address is. Whom it was made for is asked each time.
    async fn find_pdf(&self, space: &SpaceId, ticket: &Ticket) -> Result<Found> {
        let missing = || Error::not_found("PDF");
        if self.now() >= ticket.until {
            let why = "the address of this PDF was good for an hour; ask for a new one";
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
            // An address that was made since then tries again.
            JobState::Failed if job.ended_at.is_some_and(|ended| ended >= ticket.made_at()) => {
                let kind = job.failure.unwrap_or(ErrorKind::Internal);
                let why = job.error.clone().unwrap_or_else(|| "the PDF could not be made".to_owned());
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

    /// What a job made, as long as it is kept and people are called what they are called in it.
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

    /// Enqueues the job that makes a file, unless somebody else did meanwhile.
    async fn enqueue_pdf(&self, work: PdfWork, before: Option<JobId>) -> Result<()> {
        let enqueue = job::EnqueuePdf { id: self.id(), work, before, now: self.now() };
        self.upkeep(&enqueue).await.map_err(|error| match error.kind() {
            ErrorKind::Conflict => Error::new(
                ErrorKind::Unavailable,
                "too many PDF files of this space are being made; try again later",
            ),
            _ => error,
        })
    }

    /// Reads the news of jobs that are there; what comes later comes behind the place that is answered.
    async fn read_news(&self) -> Result<Option<FeedPos>> {
        let place = || self.inner.pdf_news.0.lock().unwrap_or_else(PoisonError::into_inner);
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
            .ok_or_else(|| Error::new(ErrorKind::Precondition, "this server makes no PDF files"))
    }
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
