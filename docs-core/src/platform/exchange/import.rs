//! Imports of documents: new pages after the existing ones, as one revision.
//!
//! Everything is fetched, converted and stored first, then referenced by the content in one transaction.

mod archive;
mod crawl;
pub(in crate::platform) mod folder;
pub(in crate::platform) mod gather;
mod links;
mod wiki;

use async_trait::async_trait;
use docs_macros::boxed;
use serde::{Deserialize, Serialize};

use self::gather::Gather;
use crate::{
    Error, Result,
    content::{Edit, NewBody},
    model::{
        ImportContent, ImportContentResult, ImportContentSource as Source, JobStage, UserId, check_page_size,
        redacted,
    },
    platform::{
        content::edit::append::{Append, Target},
        jobs::{Effect, Job, Payload, Run, unpanicked},
        kernel::{
            actor::Actor, content_of::ContentOf, import_memory::ImportSize, platform::Platform,
            request::Right, write::at_once,
        },
        nouns::ContentHandle,
    },
    policy::SpaceAction,
    ports::DocumentFormat,
};

/// Bytes of memory for the data of an archive, a Word file or a repository whose size is not known yet: fetched,
/// unpacked and converted.
pub(in crate::platform) const UNKNOWN_IMPORT: u64 = 96 << 20;
/// Bytes of memory for the conversion of another document.
const UNKNOWN_DOCUMENT: u64 = 24 << 20;
/// The supported sources, for error messages.
const SUPPORTED: &str = "website, html, markdown, docx, zip, github-wiki";

/// The items of an import, ready to be applied to any content of the space.
#[derive(Default)]
pub(in crate::platform) struct Gathered {
    /// Files, then pages, parents before their children.
    pub(in crate::platform) edits: Vec<Edit>,
    /// The number of included pages and files.
    pub(in crate::platform) imported: u64,
    /// The number of found pages and files, including those that were left out.
    pub(in crate::platform) total: u64,
    /// Omissions and interpretations that the author may not expect.
    pub(in crate::platform) warnings: Vec<String>,
}

impl Gathered {
    /// Adds a page that was counted as imported, or a reusable content. A text over the size limit is omitted, its
    /// page is no longer counted, and the import continues.
    fn push_text(&mut self, mut edit: Edit) {
        let (body, counted) = match &mut edit {
            Edit::InsertPage(page) => (Some(&mut page.body), 1),
            Edit::PutReusable { fields, .. } => (fields.body.as_mut(), 0),
            _ => (None, 0),
        };
        if let Some(body) = body
            && let NewBody::Text(text) = &*body
            && let Err(error) = check_page_size(text)
        {
            tracing::debug!(%error, "import page without its text");
            *body = NewBody::Empty;
            self.imported = self.imported.saturating_sub(counted);
        }
        self.edits.push(edit);
    }

    fn size(&self) -> ImportSize {
        let text_bytes = |edit: &Edit| match edit {
            Edit::InsertPage(page) => text_bytes(&page.body),
            Edit::PutReusable { fields, .. } => fields.body.as_ref().map_or(0, text_bytes),
            _ => 0,
        };
        ImportSize { text_bytes: self.edits.iter().map(text_bytes).sum(), items: self.edits.len() as u64 }
    }
}

const fn text_bytes(body: &NewBody) -> u64 {
    match body {
        NewBody::Text(text) => text.len() as u64,
        NewBody::Empty | NewBody::Stored(_) => 0,
    }
}

impl<'p> ContentHandle<'p> {
    /// Imports documents into the live content of a space or into a change request.
    ///
    /// The imported pages are added after the existing ones at the top level; nothing else changes. Running and
    /// finished imports are listed among the [jobs](crate::platform::SpaceHandle::list_jobs) of the space. See
    /// [`LIMITS`](crate::platform::LIMITS) for the maximum number of pages and files that one import fetches. Linked
    /// resources that cannot be fetched or read are left out and counted; the requested document itself must exist.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` without the role `edit`; `Conflict` if live content is locked, or if the change request
    /// is merged or archived; `Invalid` for `url` or `source`; `Precondition` when this platform does not support
    /// imports.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the import applied as a whole or not at all.
    #[boxed]
    pub async fn import(self, request: ImportContent) -> Result<ImportContentResult> {
        let (platform, actor) = (self.caller.platform, &self.caller.actor());
        let of = &self.of.to_content_of();
        let done = platform.once(actor, Right::Space(of.space.clone(), SpaceAction::Edit), async move {
            let by = actor.require_user()?.clone();
            let target = platform.append_target(actor, of).await?;
            let gather = Gather::new(platform, target.space())?;
            check_source(request.source)?;
            let what = ImportRun { url: redacted(request.url.as_str()).into_owned(), source: request.source };
            let mut run = platform.begin_listed(&what, of.space.as_str(), &by).await?;
            let leased = run.job.clone();
            let importing = Importing { actor, by: &by, of, target: &target, gather };
            let doing = unpanicked(importing.run(platform, &request, &mut run));
            let done = platform.while_leased(&leased, doing).await;
            platform.end_listed(run, done).await
        });
        done.await
    }
}

/// The job record of a document import. The requesting call performs the import and waits for it, so a worker that
/// finds the job can only fail it.
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
    async fn run(self, _: &Platform, _: &mut Run) -> Result<Effect> {
        Err(Error::conflict("the request or the server ended before the import was complete; import again"))
    }
}

/// An authorized import.
struct Importing<'a> {
    actor: &'a Actor,
    by: &'a UserId,
    of: &'a ContentOf,
    target: &'a Target,
    gather: Gather<'a>,
}

impl Importing<'_> {
    async fn run(
        self,
        platform: &Platform,
        request: &ImportContent,
        run: &mut Run,
    ) -> Result<ImportContentResult> {
        let mut progress = run.progress(platform);
        progress.stage(JobStage::DocumentFetch).await?;
        let (gather, url) = (&self.gather, request.url.as_str());
        let gathered = match request.source {
            Source::Website => gather.website(url).await?,
            Source::Html => gather.document(url, DocumentFormat::Html).await?,
            Source::Markdown => gather.document(url, DocumentFormat::Markdown).await?,
            Source::Docx => gather.document(url, DocumentFormat::Docx).await?,
            Source::Zip => gather.archive(url).await?,
            Source::GithubWiki => gather.wiki(url).await?,
            unsupported @ (Source::Confluence | Source::Notion | Source::GoogleDocs) => {
                return Err(not_imported(unsupported));
            }
        };
        gather.memory.lock().await.settle(gathered.size().bytes()).await;
        progress.stage(JobStage::Finalize).await?;
        for warning in &gathered.warnings {
            run.say(platform, warning.clone());
        }
        run.say(platform, format!("read {} of {} pages and files", gathered.imported, gathered.total));
        let Self { actor, by, of, target, .. } = self;
        let append = Append { actor, by, of, before: target, edits: &gathered.edits, run: Some(run) };
        let result = platform.append(append, |revision, _| {
            at_once(Ok(ImportContentResult {
                revision,
                imported_resources: gathered.imported,
                total_resources: gathered.total,
            }))
        });
        result.await
    }
}

/// Rejects unsupported sources before the job is created.
fn check_source(source: Source) -> Result<()> {
    match source {
        Source::Confluence | Source::Notion | Source::GoogleDocs => Err(not_imported(source)),
        Source::Website
        | Source::Html
        | Source::Markdown
        | Source::Docx
        | Source::Zip
        | Source::GithubWiki => Ok(()),
    }
}

fn not_imported(source: Source) -> Error {
    let what = format!("`{}` is not supported by this server; use {SUPPORTED}", source.as_str());
    Error::invalid("source", what)
}
