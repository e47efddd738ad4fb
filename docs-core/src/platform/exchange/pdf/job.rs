//! The job that makes a PDF file.

use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::{PdfPart, Shown, Ticket, book, pieces::Pieces};
use crate::{
    Error, ErrorKind, Result,
    model::{JobId, JobStage, PageId, SpaceId, SpaceTitle, Timestamp},
    platform::{
        content::files::Bearer,
        jobs::{Effect, Job, Payload, Run},
        kernel::platform::Platform,
    },
    ports::PdfError,
    store::{
        Hash, Operation, Tx,
        jobs::{self, Audience, NewJob},
        records::{ChangeRequestRecord, SpaceRecord},
    },
};

/// All inputs of a file except the names of people. Addresses in the file are issued to `bearer`.
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
    pub(super) fn new(space: &SpaceRecord, request: Option<&ChangeRequestRecord>, ticket: &Ticket) -> Self {
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

    /// Returns a name that is equal for equal files, and unique within the space otherwise.
    pub(super) fn name(&self) -> String {
        // Names cannot contain a line feed, and the subtitle comes last.
        let page = self.page.as_ref().map_or("", |page| page.as_str());
        let only = if self.only { "only" } else { "" };
        let (root, bearer) = (self.root.to_string(), format!("{:?}", self.bearer));
        let subtitle = self.subtitle.as_deref().unwrap_or_default();
        let all = [self.space.as_str(), &root, page, only, &bearer, self.title.as_str(), subtitle];
        Hash::of(all.join("\n").as_bytes()).to_string()
    }
}

impl Payload for PdfWork {
    const KIND: &'static str = "pdf";
}

#[async_trait]
impl Job for PdfWork {
    async fn run(self, platform: &Platform, run: &mut Run) -> Result<Effect> {
        let typesetter = platform.typesetter()?;
        let mut progress = run.progress(platform);
        progress.stage(JobStage::ContentProcess).await?;
        let tx = platform.read().await?;
        let gone = || Error::forbidden("the caller no longer has access to the content");
        if !platform.reaches(&tx, &self.bearer, &self.space).await? {
            return Err(gone());
        }
        let space: Option<Arc<SpaceRecord>> = tx.get(&SpaceRecord::at(&self.space)).await?;
        let space = space.filter(|space| space.deleted_at.is_none()).ok_or_else(gone)?;
        drop(tx);
        // The file shows the title of the request, even if the space was renamed since.
        let space = SpaceRecord { title: self.title, ..SpaceRecord::clone(&space) };
        let view = platform.content().view(&space.domain, self.root);
        let tree = view.tree().await?;
        let part = PdfPart { page: self.page, only: self.only };
        let (subtitle, bearer) = (self.subtitle, &self.bearer);
        let shown = Shown { space: &space, subtitle, part: &part, view: &view, tree: &tree, bearer };
        let (book, people) = platform.book(&shown).await?;
        let names = platform.names(&space.organization, &people).await?;
        run.say(platform, format!("read {} pages", book.pages.len()));
        let book = book::with_names(book, &names);
        progress.stage(JobStage::Typeset).await?;
        let storing = platform.storing();
        let mut pieces = Pieces::new(platform, &space.domain);
        typesetter.render_into(Arc::new(book), &mut pieces).await.map_err(not_made)?;
        progress.stage(JobStage::Finalize).await?;
        let (manifest, size) = pieces.finish(people, book::hash_of(&names)).await?;
        platform.require_stored(storing)?;
        run.say(platform, format!("rendered a file of {size} bytes"));
        run.outcome.object = Some(manifest);
        Ok(Effect::Done)
    }
}

/// Maps a failure to an error. Transient failures are retried.
fn not_made(error: PdfError) -> Error {
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

/// Enqueues the job of a file, unless another job than the completed one exists.
pub(super) struct EnqueuePdf {
    pub(super) id: JobId,
    pub(super) work: PdfWork,
    /// The completed job of the same file.
    pub(super) before: Option<JobId>,
    pub(super) now: Timestamp,
}

#[async_trait]
impl Operation for EnqueuePdf {
    type Out = ();
    const NAME: &'static str = "pdf_enqueue";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let (space, name) = (&self.work.space, self.work.name());
        let latest = jobs::for_the_same(tx, space.as_str(), &name).await?;
        if latest.as_ref().map(|job| &job.id) != self.before.as_ref() {
            return Ok(());
        }
        // The latest job is determined by its creation time.
        let now = latest.map_or(self.now, |before| self.now.later_than(before.created_at));
        let by = self.work.bearer.user().cloned();
        let audience = Audience::Subject { by, same: Some(name) };
        let job = NewJob { audience, ..self.work.about(&self.id, space, self.now)? };
        jobs::enqueue(tx, now, job).await
    }
}
