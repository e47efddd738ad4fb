//! Appends edits to live content or to a change request, as one revision.

use std::sync::Arc;

use async_trait::async_trait;
use docs_macros::operation;

use super::apply_edits;
use crate::{
    BoxFuture, Error, ErrorKind, Result,
    content::{ContentError, Edit},
    model::{ChangeRequestId, JobResult, PageId, RevisionId, UserId},
    platform::{
        access,
        content::change_requests::{find, require_editable},
        jobs::{JobRun, finish_in},
        kernel::{
            actor::Actor,
            content_version::{ContentVersion, Version},
            platform::Platform,
            write::{Answer, MAX_WRITE_ATTEMPTS},
            write_window::WriteWindow,
        },
        library::head::{move_head, require_live},
    },
    policy::SpaceAction,
    store::{
        Hash, Operation, Tx,
        jobs::{FinishJob, JobOutcome},
        records::{ChangeRequestRecord, RevisionRecord, SpaceRecord},
    },
};

/// The content to append to, from one snapshot.
pub(in crate::platform) struct AppendTarget {
    space: Arc<SpaceRecord>,
    request: Option<Arc<ChangeRequestRecord>>,
    /// The page whose child pages are appended, or `None` for the top level.
    parent: Option<PageId>,
    /// The write window of the stored files.
    storing: WriteWindow,
}

/// Edits to append to content.
pub(in crate::platform) struct Append<'e> {
    pub(in crate::platform) actor: &'e Actor,
    /// The author of the revision.
    pub(in crate::platform) by: &'e UserId,
    pub(in crate::platform) of: &'e ContentVersion,
    /// The content as it was when the files of the edits were stored.
    pub(in crate::platform) before: &'e AppendTarget,
    pub(in crate::platform) edits: &'e [Edit],
    /// The import job, which completes in the same transaction.
    pub(in crate::platform) run: Option<&'e JobRun>,
}

impl AppendTarget {
    pub(in crate::platform) fn space(&self) -> &SpaceRecord {
        &self.space
    }

    /// Returns the id of the change request, or `None` for live content.
    pub(in crate::platform) fn request(&self) -> Option<&ChangeRequestId> {
        self.request.as_ref().map(|request| &request.id)
    }

    /// Returns the page whose child pages are appended, or `None` for the top level.
    pub(in crate::platform) const fn parent(&self) -> Option<&PageId> {
        self.parent.as_ref()
    }

    /// Returns the head revision and its root.
    fn head(&self) -> (&RevisionId, Hash) {
        match &self.request {
            Some(request) => (&request.head, request.root),
            None => (&self.space.head, self.space.root),
        }
    }
}

impl Platform {
    /// Finds content and checks that the actor may append to it.
    pub(in crate::platform) async fn append_target(
        &self,
        actor: &Actor,
        of: &ContentVersion,
    ) -> Result<AppendTarget> {
        self.append_target_in(actor, of, None).await
    }

    /// Finds content as [`append_target`](Self::append_target), and a page in it that can have child pages.
    ///
    /// # Errors
    /// Those of [`append_target`](Self::append_target); `NotFound` for a page that does not exist; `Invalid` naming
    /// `pageId` for a page that cannot have child pages.
    pub(in crate::platform) async fn append_target_in(
        &self,
        actor: &Actor,
        of: &ContentVersion,
        parent: Option<&PageId>,
    ) -> Result<AppendTarget> {
        let storing = self.begin_write_window();
        let tx = self.read().await?;
        let proof = access::space(&tx, actor, &of.space).await?.require(SpaceAction::Edit)?;
        let request = match &of.version {
            Version::Revision(_) => return Err(Error::invalid("version", "a revision is immutable")),
            Version::Live => None,
            Version::Request(name) => Some(find(&tx, &of.space, name).await?),
        };
        // Objects may need the same connection pool as the transaction, so it is ended first.
        drop(tx);
        let target =
            AppendTarget { space: Arc::clone(proof.space()), request, parent: parent.cloned(), storing };
        if let Some(page) = parent {
            let (_, root) = target.head();
            let entry = self.content().view(&target.space.domain, root).page(page).await?;
            let entry = entry.ok_or_else(|| Error::not_found("page"))?;
            if !entry.kind.is_parent() {
                return Err(Error::invalid("pageId", "must be a page that can have child pages"));
            }
        }
        match &target.request {
            Some(request) => require_editable(request)?,
            None => require_live(&proof)?,
        }
        Ok(target)
    }

    /// Applies edits to the current content as one revision. Before the commit, `show` is called with the revision and
    /// its root to create the response.
    ///
    /// Edits without effect create no revision; `show` then gets the current one.
    pub(in crate::platform) async fn append<'e, V: Answer + Clone>(
        &self,
        append: Append<'e>,
        show: impl Fn(RevisionId, Hash) -> BoxFuture<'e, Result<V>> + Send + Sync,
    ) -> Result<V> {
        let Append { actor, by, of, before, edits, run } = append;
        let id: RevisionId = self.id();
        for _ in 0..MAX_WRITE_ATTEMPTS {
            let target = self.append_target_in(actor, of, before.parent()).await?;
            require_domain(&target.space, &before.space.domain)?;
            let (head, root) = target.head();
            let now = self.now();
            let edited = self.content().edit(&target.space.domain, root, now.time(), edits).await;
            let edited = edited.map_err(|error| name_error(error, edits))?;
            if edited.root == root {
                return show(head.clone(), root).await;
            }
            let revision = RevisionRecord::new(id.clone(), of.space.clone(), edited.root, now, by.clone());
            let revision = RevisionRecord { parents: vec![head.clone()], ..revision };
            let shown = show(id.clone(), edited.root).await?;
            self.check_write_window(before.storing)?;
            let result = JobResult { revision: Some(id.clone()), ..JobResult::default() };
            let outcome = JobOutcome { result: Some(result), object: None };
            let finish = run.map(|run| run.finish(self, outcome));
            let done = match target.request {
                Some(request) => {
                    let apply = apply_edits(actor, by, &request, &revision, now);
                    let apply = EndingRun { effect: apply, finish };
                    self.write_unless_moved(actor, &apply, || shown.clone()).await?
                }
                None => {
                    let live = append_live(actor, &target.space, &revision);
                    let live = EndingRun { effect: live, finish };
                    self.write_unless_moved(actor, &live, || shown.clone()).await?
                }
            };
            if let Some(answer) = done {
                return Ok(answer);
            }
        }
        Err(Error::conflict("the content kept changing; try again"))
    }
}

/// Rejects a space that has moved to a different storage domain since the files were stored.
fn require_domain(space: &SpaceRecord, domain: &str) -> Result<()> {
    if space.domain == domain { Ok(()) } else { Err(Error::conflict("the space has changed; try again")) }
}

/// Adds the name of the page or file to an edit error.
fn name_error(error: ContentError, edits: &[Edit]) -> Error {
    match error {
        ContentError::Invalid { index, field, message } => {
            let title = match edits.get(index) {
                Some(Edit::InsertPage(page)) => page.fields.title.as_deref().unwrap_or_default(),
                Some(Edit::PutFile { entry, .. }) => &entry.name,
                _ => "",
            };
            Error::new(ErrorKind::Invalid, format!("url: cannot import `{title}`: {field} {message}"))
        }
        other => other.into(),
    }
}

/// An effect stored in the transaction that completes its job. Nothing is stored if another worker took over the job.
struct EndingRun<O> {
    effect: O,
    finish: Option<FinishJob>,
}

#[async_trait]
impl<O: Operation<Output = bool>> Operation for EndingRun<O> {
    type Output = bool;
    const NAME: &'static str = O::NAME;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let stored = self.effect.apply(tx).await?;
        if let Some(finish) = self.finish.as_ref().filter(|_| stored) {
            finish_in(tx, finish).await?;
        }
        Ok(stored)
    }
}

/// Makes a revision the live one. `Output` is `false` if the head of the space has changed.
#[operation("content_append")]
async fn append_live(
    tx: &mut Tx,
    actor: &Actor,
    before: &SpaceRecord,
    revision: &RevisionRecord,
) -> Result<bool> {
    let access = access::space(tx, actor, &before.id).await?;
    let proof = access.require(SpaceAction::Edit)?;
    require_live(&proof)?;
    require_domain(proof.space(), &before.domain)?;
    if proof.space().head != before.head {
        return Ok(false);
    }
    move_head(tx, &proof, revision.clone()).await?;
    Ok(true)
}
