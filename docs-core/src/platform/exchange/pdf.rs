//! Content as a PDF file, for spaces and change requests.
//!
//! A URL seals the content it shows and the actor it was issued to. The first request for the URL starts a job that
//! makes the file, unless a recent job made it. The file is stored in chunks among the objects of the space, so it is
//! never in memory as a whole.

mod book;
mod embeds;
mod pieces;
mod refs;
mod values;

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use docs_macros::{boxed, operation};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

pub(in crate::platform) use self::book::MAX_PAGES;
pub use self::{book::PdfPart, pieces::PdfFile};
use self::{
    book::{PdfContent, select_pages},
    pieces::{Manifest, Pieces},
};
use crate::{
    Error, ErrorKind, Result,
    content::{PageTree, slugify},
    model::{ChangeRequestId, JobId, JobStage, PageId, PdfLink, SpaceId, SpaceTitle, Timestamp},
    platform::{
        content::{change_requests, files::Bearer},
        jobs::{Effect, Job, JobRun, Payload},
        kernel::platform::Platform,
        nouns::ContentHandle,
    },
    ports::{Pdf, PdfError},
    store::{
        FeedPos, Hash, Tx,
        jobs::{self, Audience, JobRecord, JobState, NewJob},
        records::{ChangeRequestRecord, SpaceRecord},
        topic,
    },
};

/// The lifetime of a PDF URL.
pub const PDF_WINDOW: Duration = Duration::from_secs(60 * 60);
/// The period during which a completed file is reused. Its chunks are unreferenced objects, which are garbage-collected
/// after a longer period.
pub(in crate::platform) const PDF_REUSE_WINDOW: Duration = Duration::from_secs(24 * 60 * 60);
/// The period during which content that exceeded the limits of a file is not rendered again.
const PDF_FAILURE_WINDOW: Duration = PDF_WINDOW;
/// The delay after which a client should repeat a request for a pending file.
const RETRY_DELAY: Duration = Duration::from_secs(2);
/// Number of job events that are read per batch.
const EVENT_BATCH: u32 = 500;

const _: () = assert!(
    PDF_REUSE_WINDOW.as_secs() * 2
        < crate::platform::kernel::write_window::OBJECT_GRACE_PERIOD.num_seconds().unsigned_abs()
);

/// The state of the PDF at a URL.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PdfAnswer {
    Ready(PdfFile),
    /// The file is pending. Repeat the request after this time.
    Pending(Duration),
}

/// The sealed content of a PDF URL. It is not stored.
#[derive(Serialize, Deserialize)]
struct PdfTicket {
    until: Timestamp,
    /// The root of the content when the URL was issued.
    root: Hash,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request: Option<ChangeRequestId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    page: Option<PageId>,
    #[serde(default)]
    only: bool,
    /// The actor that the URL was issued to.
    bearer: Bearer,
}

impl PdfTicket {
    fn issued_at(&self) -> Timestamp {
        (self.until.time() - PDF_WINDOW).into()
    }

    /// Returns `true` if the failure of a job for the same file applies to this URL. Rendering content that exceeds the
    /// limits takes as long as the time limit, so a new URL does not repeat it within [`PDF_FAILURE_WINDOW`].
    fn is_failed_by(&self, job: &JobRecord, now: Timestamp) -> bool {
        let Some(ended) = job.ended_at else { return false };
        let is_excessive = job.failure == Some(ErrorKind::TooLarge);
        ended >= self.issued_at() || is_excessive && now < later(ended, PDF_FAILURE_WINDOW)
    }
}

/// The position in the feed of job events, shared by requests that wait for a file.
#[derive(Default)]
pub(crate) struct PdfEvents(Mutex<Option<FeedPos>>);

/// The state of a file as of one snapshot.
enum PdfState {
    Ready(PdfFile),
    Pending,
    Failed(Error),
    /// No job is making the file. Holds the work to enqueue, and the previously completed job for the same file, if
    /// any.
    Missing(PdfWork, Option<JobId>),
}

impl<'p> ContentHandle<'p> {
    /// Issues the URL of a PDF of a space or change request, for all pages or some.
    ///
    /// The file shows the content at the time of this call. A job makes it on the first request for the URL, see
    /// [`Platform::pdf_file`]. The URL expires after [`PDF_WINDOW`] (1 hour). Hidden pages are left out, except for the
    /// requested page.
    ///
    /// # Errors
    ///
    /// `NotFound`, also for a page that is not part of the content; `Invalid` for `only` without a page, and for a page
    /// without its own content; `TooLarge` for too many pages; `Precondition` if the platform has no typesetter.
    #[boxed]
    pub async fn pdf_url(self, part: &'p PdfPart) -> Result<PdfLink> {
        let (platform, actor) = (self.caller.platform, &self.caller.actor());
        let of = &self.of.to_content_version();
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
        select_pages(&tree, part)?;
        let space = at.space();
        let ticket = PdfTicket {
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
    /// Returns the PDF at a URL, given the sealed part of the URL.
    ///
    /// A job makes the file, unless a recent job did. Concurrent requests for the same file share one job. A file that
    /// is still pending after `wait` is reported as [`PdfAnswer::Pending`]. A platform without a worker never completes
    /// a file.
    ///
    /// # Errors
    ///
    /// `NotFound`, also after [`PDF_WINDOW`] and when the actor that the URL was issued to may no longer read the
    /// content; `TooLarge` for an hour if the pages exceed the limits of a file, and any other failure of the job,
    /// until a newly issued URL retries it; `Unavailable` if too many files of the space are queued; `Precondition` if
    /// the platform has no typesetter.
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
        let ticket: PdfTicket = serde_json::from_str(&ticket).map_err(|_| missing())?;
        self.typesetter()?;
        let until = Instant::now() + wait;
        loop {
            match self.find_pdf(space, &ticket).await? {
                PdfState::Ready(file) => return Ok(PdfAnswer::Ready(file)),
                PdfState::Failed(error) => return Err(error),
                PdfState::Pending => {}
                PdfState::Missing(work, before) => self.enqueue_pdf(work, before).await?,
            }
            if Instant::now() >= until {
                return Ok(PdfAnswer::Pending(RETRY_DELAY));
            }
            // Later events end the wait. The following lookup covers earlier ones.
            let seen = self.read_events().await?;
            match self.find_pdf(space, &ticket).await? {
                PdfState::Ready(file) => return Ok(PdfAnswer::Ready(file)),
                PdfState::Failed(error) => return Err(error),
                PdfState::Pending => {
                    let left = until.saturating_duration_since(Instant::now());
                    self.store().changed(topic::JOBS, seen, left).await?;
                }
                PdfState::Missing(..) => {}
            }
        }
    }

    /// Reads a PDF file from an offset to the end of the chunk that contains it. A chunk is small enough to be held in
    /// memory. Returns no bytes at the end of the file.
    ///
    /// # Errors
    ///
    /// `NotFound` if the file is no longer stored.
    #[boxed('a)]
    pub async fn pdf_piece<'a>(&'a self, file: &'a PdfFile, at: u64) -> Result<Bytes> {
        let Some((piece, offset)) = pieces::locate_byte(&file.pieces, at) else { return Ok(Bytes::new()) };
        let found = self.objects().get(&file.domain, &[piece]).await?.pop().flatten();
        let found = found.ok_or_else(|| Error::not_found("PDF"))?;
        Ok(found.slice(offset.min(found.len())..))
    }

    /// Returns the state of the file at a URL. Checks each time that the actor it was issued to has access.
    async fn find_pdf(&self, space: &SpaceId, ticket: &PdfTicket) -> Result<PdfState> {
        let missing = || Error::not_found("PDF");
        if self.now() >= ticket.until {
            let why = "the address of this PDF has expired; request a new one";
            return Err(Error::new(ErrorKind::NotFound, why));
        }
        let tx = self.read().await?;
        if !self.reaches(&tx, &ticket.bearer, space).await? {
            return Err(missing());
        }
        let record: Option<Arc<SpaceRecord>> = tx.get(&SpaceRecord::key_for(space)).await?;
        let record = record.filter(|space| space.deleted_at.is_none()).ok_or_else(missing)?;
        let request: Option<Arc<ChangeRequestRecord>> = match &ticket.request {
            None => None,
            Some(id) => Some(tx.get(&ChangeRequestRecord::key_for(id)).await?.ok_or_else(missing)?),
        };
        let work = PdfWork::new(&record, request.as_deref(), ticket);
        let job = jobs::for_the_same(&tx, space.as_str(), &work.name()).await?;
        drop(tx);
        let Some(job) = job else { return Ok(PdfState::Missing(work, None)) };
        match job.state {
            JobState::Waiting | JobState::Queued | JobState::Running => Ok(PdfState::Pending),
            // A URL issued after the failure retries the job.
            JobState::Failed if ticket.is_failed_by(&job, self.now()) => {
                let kind = job.failure.unwrap_or(ErrorKind::Internal);
                let why = job.error.clone().unwrap_or_else(|| "failed to render PDF".to_owned());
                Ok(PdfState::Failed(Error::new(kind, why)))
            }
            JobState::Failed | JobState::Cancelled => Ok(PdfState::Missing(work, Some(job.id.clone()))),
            JobState::Done => {
                let part = PdfPart { page: ticket.page.clone(), only: ticket.only };
                match self.cached_manifest(&record, &job).await? {
                    None => Ok(PdfState::Missing(work, Some(job.id.clone()))),
                    Some(manifest) => {
                        let tree = self.content().view(&record.domain, ticket.root).tree().await?;
                        let name = file_name(&tree, &part, &record);
                        Ok(PdfState::Ready(manifest.file(name, &record.domain)))
                    }
                }
            }
        }
    }

    /// Returns the manifest of a completed job, if it is recent and all display names in it are current.
    async fn cached_manifest(&self, space: &SpaceRecord, job: &JobRecord) -> Result<Option<Manifest>> {
        let is_kept = job.ended_at.is_some_and(|ended| self.now() < later(ended, PDF_REUSE_WINDOW));
        let Some(object) = job.outcome.object.filter(|_| is_kept) else { return Ok(None) };
        let Some(bytes) = self.objects().get(&space.domain, &[object]).await?.pop().flatten() else {
            return Ok(None);
        };
        let manifest: Manifest = serde_json::from_slice(&bytes).map_err(Error::internal)?;
        let names = self.names(&space.organization, &manifest.people).await?;
        Ok((manifest.names == book::hash_names(&names)).then_some(manifest))
    }

    /// Enqueues the job that makes a file, unless another request did so concurrently.
    async fn enqueue_pdf(&self, work: PdfWork, before: Option<JobId>) -> Result<()> {
        let (id, now) = (self.id(), self.now());
        let enqueue = enqueue_pdf(&id, &work, before.as_ref(), now);
        self.upkeep(&enqueue).await.map_err(|error| match error.kind() {
            ErrorKind::Conflict => Error::new(
                ErrorKind::Unavailable,
                "too many PDF files of this space or its organization are being rendered; try again later",
            ),
            _ => error,
        })
    }

    /// Reads all pending job events, and returns the position after them.
    async fn read_events(&self) -> Result<Option<FeedPos>> {
        let last = self.inner.memory.get_or_default::<PdfEvents>();
        let place = || last.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut seen = place().clone();
        loop {
            let news = self.store().changes(topic::JOBS, seen.clone(), EVENT_BATCH).await?;
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

fn file_name(tree: &PageTree, part: &PdfPart, space: &SpaceRecord) -> String {
    let page = part.page.as_ref().and_then(|id| tree.get(id));
    let slug = slugify(page.map_or(space.title.as_str(), |page| &page.entry.title));
    format!("{}.pdf", if slug.is_empty() { "document" } else { &slug })
}

fn later(now: Timestamp, by: Duration) -> Timestamp {
    (now.time() + by).into()
}

/// Returns the purpose for sealing a PDF URL. The URL is only valid in its own space.
fn purpose(space: &SpaceId) -> String {
    format!("pdf of {space}")
}

/// All inputs of a file except the display names. URLs in the file are issued to `bearer`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::platform) struct PdfWork {
    space: SpaceId,
    title: SpaceTitle,
    subtitle: Option<String>,
    root: Hash,
    page: Option<PageId>,
    only: bool,
    bearer: Bearer,
}

impl PdfWork {
    fn new(space: &SpaceRecord, request: Option<&ChangeRequestRecord>, ticket: &PdfTicket) -> Self {
        let subtitle = request.map(|request| match request.subject.as_str().trim() {
            "" => format!("#{}", request.number),
            subject => format!("#{} {subject}", request.number),
        });
        Self {
            space: space.id.clone(),
            title: space.title.clone(),
            subtitle,
            root: ticket.root,
            page: ticket.page.clone(),
            only: ticket.only,
            bearer: ticket.bearer.clone(),
        }
    }

    /// Returns a name that is equal for equal files, and otherwise unique within the space.
    fn name(&self) -> String {
        // The joined fields are unambiguous: names cannot contain a line feed, and the subtitle comes last.
        let page = self.page.as_ref().map_or("", |page| page.as_str());
        let only = if self.only { "only" } else { "" };
        let (root, bearer) = (self.root.to_string(), format!("{:?}", self.bearer));
        let subtitle = self.subtitle.as_deref().unwrap_or_default();
        let all = [self.space.as_str(), &root, page, only, &bearer, self.title.as_str(), subtitle];
        Hash::compute(all.join("\n").as_bytes()).to_string()
    }
}

impl Payload for PdfWork {
    const KIND: &'static str = "pdf";
}

#[async_trait]
impl Job for PdfWork {
    async fn run(self, platform: &Platform, run: &mut JobRun) -> Result<Effect> {
        let typesetter = platform.typesetter()?;
        let mut progress = run.progress(platform);
        progress.stage(JobStage::ContentProcess).await?;
        let tx = platform.read().await?;
        let gone = || Error::forbidden("the caller no longer has access to the content");
        if !platform.reaches(&tx, &self.bearer, &self.space).await? {
            return Err(gone());
        }
        let space: Option<Arc<SpaceRecord>> = tx.get(&SpaceRecord::key_for(&self.space)).await?;
        let space = space.filter(|space| space.deleted_at.is_none()).ok_or_else(gone)?;
        drop(tx);
        // The file shows the title at the time of the request, even if the space was renamed since.
        let space = SpaceRecord { title: self.title, ..SpaceRecord::clone(&space) };
        let view = platform.content().view(&space.domain, self.root);
        let tree = view.tree().await?;
        let part = PdfPart { page: self.page, only: self.only };
        let (subtitle, bearer) = (self.subtitle, &self.bearer);
        let shown = PdfContent { space: &space, subtitle, part: &part, view: &view, tree: &tree, bearer };
        let (book, people) = platform.book(&shown).await?;
        let names = platform.names(&space.organization, &people).await?;
        run.append_log(platform, format!("read {} pages", book.pages.len()));
        let book = book::with_names(book, &names);
        progress.stage(JobStage::Typeset).await?;
        let turn = platform.worker_turn(&space.organization).await?;
        let storing = platform.begin_write_window();
        let mut pieces = Pieces::new(platform, &space.domain);
        typesetter.render_into(Arc::new(book), &mut pieces).await.map_err(job_error)?;
        drop(turn);
        progress.stage(JobStage::Finalize).await?;
        let (manifest, size) = pieces.finish(people, book::hash_names(&names)).await?;
        platform.check_write_window(storing)?;
        run.append_log(platform, format!("rendered a file of {size} bytes"));
        run.outcome.object = Some(manifest);
        Ok(Effect::Done)
    }
}

/// Maps a failure to an error. Transient failures are retried.
fn job_error(error: PdfError) -> Error {
    match error {
        PdfError::TooLarge(_) | PdfError::TooSlow(_) | PdfError::Unprocessable(_) => {
            Error::new(ErrorKind::TooLarge, format!("{error}; select fewer pages with `page` and `only`"))
        }
        PdfError::Unavailable(_) => {
            let why = "the PDF renderer is unavailable; try again later";
            Error::new(ErrorKind::Unavailable, why).caused_by(error)
        }
        error => Error::internal(error),
    }
}

/// Enqueues the job for a file, unless a job other than the completed one, `before`, exists.
#[operation("pdf_enqueue")]
async fn enqueue_pdf(
    tx: &mut Tx,
    id: &JobId,
    work: &PdfWork,
    before: Option<&JobId>,
    now: Timestamp,
) -> Result<()> {
    let (space, name) = (&work.space, work.name());
    let latest = jobs::for_the_same(tx, space.as_str(), &name).await?;
    if latest.as_ref().map(|job| &job.id) != before {
        return Ok(());
    }
    // Jobs for the same file are ordered by creation time, so the new job must be later even if the clock lags.
    let created = latest.map_or(now, |before| now.later_than(before.created_at));
    let by = work.bearer.user().cloned();
    let audience = Audience::Subject { by, same: Some(name) };
    let record: Option<Arc<SpaceRecord>> = tx.get(&SpaceRecord::key_for(space)).await?;
    let owner = record.map(|space| space.organization.to_string());
    let job = NewJob { owner, audience, ..work.to_new_job(id, space, now)? };
    if let Some(owner) = &job.owner {
        jobs::require_room(tx, owner, job.kind).await?;
    }
    jobs::enqueue(tx, created, job).await
}
