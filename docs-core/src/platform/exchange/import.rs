//! Imports of documents: new pages after the existing ones, as one revision.
//!
//! All content is fetched, converted and stored first, then referenced in one transaction.

mod archive;
mod crawl;
pub(in crate::platform) mod exports;
pub(in crate::platform) mod folder;
pub(in crate::platform) mod gather;
mod links;
mod page_url;
pub(in crate::platform) mod upload;
pub(in crate::platform) mod warnings;
mod wiki;

use async_trait::async_trait;
use bytes::Bytes;
use docs_macros::boxed;
use serde::{Deserialize, Serialize};

pub(in crate::platform) use self::gather::ImportItems;
use self::gather::{Gatherer, UNKNOWN_IMPORT_BYTES};
use crate::{
    Error, Result,
    content::{Edit, PageKind},
    model::{
        ImportContent, ImportContentResult, ImportContentSource as Source, JobStage, PageId, UserId,
        redact_credentials,
    },
    platform::{
        content::edit::append::{Append, AppendTarget},
        jobs::{Effect, Job, JobRun, Payload, catch_panic},
        kernel::{
            actor::Actor, content_version::ContentVersion, platform::Platform, request::Right,
            write::ready_answer,
        },
        nouns::ContentHandle,
    },
    policy::SpaceAction,
    ports::{DocumentFormat, UnpackedFile},
};

impl<'p> ContentHandle<'p> {
    /// Imports documents into the live content of a space or into a change request.
    ///
    /// The imported pages are added after the existing ones at the top level; nothing else changes. Running and
    /// finished imports are included in the [jobs](crate::platform::SpaceHandle::list_jobs) of the space. See
    /// [`LIMITS`](crate::platform::LIMITS) for the maximum number of pages and files that one import fetches. Linked
    /// resources that cannot be fetched or read are left out and counted; the requested document itself must exist.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` without the `edit` role; `Conflict` if live content is locked, or if the change request
    /// is merged or archived; `Invalid` for `url` or `source`; `Precondition` when this platform does not support
    /// imports.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the import either completely applied or not applied.
    #[boxed]
    pub async fn import(self, request: ImportContent) -> Result<ImportContentResult> {
        self.import_in(None, request).await
    }

    /// Imports documents as child pages of a page, after its existing ones. A group at the top level of an archive
    /// becomes a page without text.
    ///
    /// # Errors
    /// Those of [`import`](Self::import); `NotFound` for a page that does not exist; `Invalid` naming `pageId` for a
    /// page that cannot have child pages.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the import either completely applied or not applied.
    #[boxed]
    pub async fn import_in_page(
        self,
        page: &'p PageId,
        request: ImportContent,
    ) -> Result<ImportContentResult> {
        self.import_in(Some(page), request).await
    }

    async fn import_in(self, page: Option<&PageId>, request: ImportContent) -> Result<ImportContentResult> {
        let (platform, actor) = (self.caller.platform, &self.caller.actor());
        let of = &self.of.to_content_version();
        let done =
            platform.idempotent(actor, Right::Space(of.space.clone(), SpaceAction::Edit), async move {
                let by = actor.require_user()?.clone();
                let target = platform.append_target_in(actor, of, page).await?;
                let gather = Gatherer::new(platform, target.space())?;
                let reader = Reader::of(request.source)?;
                let what = ImportRun {
                    url: redact_credentials(request.url.as_str()).into_owned(),
                    source: request.source,
                };
                let mut run = platform.begin_listed_job(&what, of.space.as_str(), &by).await?;
                let leased = run.job.clone();
                let importing = AuthorizedImport { actor, by: &by, of, target: &target, gather, reader };
                let doing = catch_panic(importing.run(platform, Origin::Url(request.url.as_str()), &mut run));
                let done = platform.with_lease_renewal(&leased, doing).await;
                platform.end_listed_job(run, done).await
            });
        done.await
    }
}

/// The job record of a document import. The requesting call runs the import and waits for it, so a worker that finds
/// the job can only mark it as failed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::platform) struct ImportRun {
    /// The source URL without credentials.
    url: String,
    source: Source,
}

impl Payload for ImportRun {
    const KIND: &'static str = "content_import";
}

#[async_trait]
impl Job for ImportRun {
    async fn run(self, _: &Platform, _: &mut JobRun) -> Result<Effect> {
        Err(Error::conflict("the request or the server ended before the import was complete; import again"))
    }
}

/// The origin of imported content.
enum Origin<'a> {
    Url(&'a str),
    /// An uploaded file with its name.
    File(String, Bytes),
    /// The files of a folder.
    Folder(Vec<UnpackedFile>),
}

/// An authorized import.
struct AuthorizedImport<'a> {
    actor: &'a Actor,
    by: &'a UserId,
    of: &'a ContentVersion,
    target: &'a AppendTarget,
    gather: Gatherer<'a>,
    reader: Reader,
}

impl AuthorizedImport<'_> {
    async fn run(
        self,
        platform: &Platform,
        origin: Origin<'_>,
        run: &mut JobRun,
    ) -> Result<ImportContentResult> {
        let mut progress = run.progress(platform);
        progress.stage(JobStage::DocumentFetch).await?;
        let mut gathered = self.gather(origin).await?;
        if let Some(page) = self.target.parent() {
            place_below(&mut gathered.edits, page);
        }
        let gather = &self.gather;
        gather.memory.lock().await.settle(gathered.size().bytes()).await;
        progress.stage(JobStage::Finalize).await?;
        let warnings = gathered.warnings.for_answer();
        for warning in gathered.warnings.messages() {
            run.append_log(platform, warning);
        }
        run.append_log(platform, format!("read {} of {} pages and files", gathered.imported, gathered.total));
        let Self { actor, by, of, target, .. } = self;
        let append = Append { actor, by, of, before: target, edits: &gathered.edits, run: Some(run) };
        let result = platform.append(append, |revision, _| {
            ready_answer(Ok(ImportContentResult {
                revision,
                imported_resources: gathered.imported,
                total_resources: gathered.total,
                warnings: warnings.clone(),
            }))
        });
        result.await
    }

    async fn gather(&self, origin: Origin<'_>) -> Result<ImportItems> {
        let gather = &self.gather;
        match (self.reader, origin) {
            (Reader::Website, Origin::Url(url)) => gather.website(url).await,
            (Reader::Document(format), Origin::Url(url)) => gather.document(url, format).await,
            (Reader::Archive, Origin::Url(url)) => gather.archive(url).await,
            (Reader::Wiki, Origin::Url(url)) => gather.wiki(url).await,
            (Reader::Document(format), Origin::File(name, bytes)) => {
                gather.uploaded_document(&name, bytes, format).await
            }
            (_, Origin::File(_, bytes)) => gather.unpack(bytes).await,
            (_, Origin::Folder(files)) => {
                gather.begin_work(UNKNOWN_IMPORT_BYTES).await?;
                gather.folder(files).await
            }
        }
    }
}

/// Places the top-level pages of an import below a page. Groups exist only at the top level of a space, so a group
/// becomes a page without text.
fn place_below(edits: &mut [Edit], page: &PageId) {
    for edit in edits {
        if let Edit::InsertPage(new) = edit
            && new.parent.is_none()
        {
            new.parent = Some(page.clone());
            if new.kind == PageKind::Group {
                new.kind = PageKind::Document;
            }
        }
    }
}

/// The reader for a source.
#[derive(Clone, Copy)]
enum Reader {
    Website,
    Document(DocumentFormat),
    Archive,
    Wiki,
}

/// The supported sources with their readers.
const READERS: [(Source, Reader); 6] = [
    (Source::Website, Reader::Website),
    (Source::Html, Reader::Document(DocumentFormat::Html)),
    (Source::Markdown, Reader::Document(DocumentFormat::Markdown)),
    (Source::Docx, Reader::Document(DocumentFormat::Docx)),
    (Source::Zip, Reader::Archive),
    (Source::GithubWiki, Reader::Wiki),
];

impl Reader {
    /// Returns the reader for a source, or an error that lists the supported sources.
    fn of(source: Source) -> Result<Self> {
        let found = READERS.into_iter().find(|(supported, _)| *supported == source);
        found.map(|(_, reader)| reader).ok_or_else(|| {
            let supported = READERS.map(|(source, _)| source.as_str()).join(", ");
            let what = format!("`{}` is not supported by this server; use {supported}", source.as_str());
            Error::invalid("source", what)
        })
    }
}
