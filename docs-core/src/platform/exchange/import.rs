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
mod runs;
pub(in crate::platform) mod stored;
pub(in crate::platform) mod upload;
pub(in crate::platform) mod warnings;
mod wiki;

use async_trait::async_trait;
use bytes::Bytes;
use docs_macros::boxed;
use serde::{Deserialize, Serialize};

pub(in crate::platform) use self::gather::ImportItems;
use self::{
    gather::{Gatherer, UNKNOWN_IMPORT_BYTES},
    stored::{find_uploads, name_file},
};
use crate::{
    Error, Result,
    content::{Edit, PageKind},
    model::{
        ChangeRequestId, ImportContent, ImportContentResult, ImportContentSource as Source, JobResult,
        JobStage, PageId, SiteId, SpaceId, UploadId, UserId, redact_credentials,
    },
    platform::{
        content::edit::append::{Append, AppendTarget},
        jobs::{Effect, Job, JobRun, Payload, catch_panic},
        kernel::{
            actor::Actor, content_version::ContentVersion, import_memory::Reservation, platform::Platform,
            request::Right, write::ready_answer,
        },
        nouns::ContentHandle,
    },
    policy::SpaceAction,
    ports::{DocumentFormat, UnpackedFile},
    store::{jobs::JobClass, records::SpaceRecord},
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
                let url = redact_credentials(request.url.as_str()).into_owned();
                let what = ImportRun::new(url, request.source, ImportOrigin::Url, &target);
                let mut run = platform.begin_listed_job(&what, target.space(), &by).await?;
                let leased = run.job.clone();
                let importing = AuthorizedImport { actor, by: &by, of, target: &target, gather, reader };
                let doing = catch_panic(importing.run(platform, Origin::Url(request.url.as_str()), &mut run));
                let done = platform.with_lease_renewal(&leased, doing).await;
                platform.end_listed_job(run, done).await
            });
        done.await
    }
}

/// The job record of a document import.
///
/// The request that imports a document runs its job itself and waits for it, so a worker that finds such a job can only
/// mark it as failed. Workers execute the jobs that
/// [`OrgHandle::start_import`](crate::platform::OrgHandle::start_import) creates.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::platform) struct ImportRun {
    /// The source URL without credentials, or the name of a file.
    url: String,
    source: Source,
    #[serde(default)]
    origin: ImportOrigin,
    /// The change request that receives the pages, or `None` for live content.
    #[serde(default)]
    request: Option<ChangeRequestId>,
    /// The parent of the imported pages, or `None` for the top level.
    #[serde(default)]
    page: Option<PageId>,
    /// The site for which the import was started.
    #[serde(default)]
    site: Option<SiteId>,
    /// The uploaded files that are imported, instead of `url`.
    #[serde(default)]
    files: Vec<UploadId>,
    /// `true` if a worker executes the job.
    #[serde(default)]
    is_background: bool,
}

/// The origin of the content of an [`ImportRun`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::platform) enum ImportOrigin {
    #[default]
    Url,
    /// A file or folder of the request.
    File,
}

impl ImportRun {
    fn new(url: String, source: Source, origin: ImportOrigin, target: &AppendTarget) -> Self {
        let (request, page) = (target.request().cloned(), target.parent().cloned());
        Self { url, source, origin, request, page, site: None, files: Vec::new(), is_background: false }
    }
}

impl Payload for ImportRun {
    const KIND: &'static str = "content_import";
    const CLASS: JobClass = JobClass::Remote;
}

impl ImportRun {
    /// Returns the content to import. The bytes of uploaded files are read.
    async fn origin(
        &self,
        platform: &Platform,
        space: &SpaceRecord,
        by: &UserId,
        memory: &mut Reservation,
    ) -> Result<Origin<'_>> {
        if self.files.is_empty() {
            return Ok(Origin::Url(&self.url));
        }
        let tx = platform.read().await?;
        let mut files = find_uploads(&tx, &space.organization, by, &self.files, platform.now()).await?;
        drop(tx);
        let bytes = files.iter().map(|file| file.content.size).sum();
        platform.hold_import(memory, bytes).await?;
        if let [_] = files.as_slice()
            && let Some(file) = files.pop()
        {
            let bytes = platform.uploaded_bytes(&file).await?;
            return Ok(Origin::File(file.name, bytes));
        }
        let mut folder = Vec::with_capacity(files.len());
        for file in files {
            let bytes = platform.uploaded_bytes(&file).await?;
            folder.push(UnpackedFile { path: file.name, bytes });
        }
        Ok(Origin::Folder(folder))
    }
}

#[async_trait]
impl Job for ImportRun {
    async fn run(self, platform: &Platform, run: &mut JobRun) -> Result<Effect> {
        if !self.is_background {
            let why = "the request or the server ended before the import was complete; import again";
            return Err(Error::conflict(why));
        }
        let by = run.job.by.clone().ok_or_else(|| Error::internal("an import run has no user"))?;
        let actor = Actor::User(by.clone());
        let space: SpaceId = run.job.subject.parse().map_err(Error::internal)?;
        let of = match &self.request {
            Some(request) => ContentVersion::request(space, request.as_str()),
            None => ContentVersion::space(space),
        };
        // The user may have lost the permission, and the page may be deleted.
        let target = platform.append_target_in(&actor, &of, self.page.as_ref()).await?;
        let mut memory = platform.import_memory(&target.space().organization);
        let origin = self.origin(platform, target.space(), &by, &mut memory).await?;
        let gather = Gatherer::with_memory(platform, target.space(), memory)?;
        let reader = Reader::of(self.source)?;
        let import = AuthorizedImport { actor: &actor, by: &by, of: &of, target: &target, gather, reader };
        let done = import.run(platform, origin, run).await;
        let done = if self.files.is_empty() { done } else { done.map_err(name_file) }?;
        run.outcome.result = Some(JobResult { revision: Some(done.revision), ..JobResult::default() });
        Ok(Effect::Done)
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
        gather.memory.lock().await.settle(gathered.size().bytes_to_store()).await;
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
