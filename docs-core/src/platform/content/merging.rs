//! Merges of change requests into their space, and updates of change requests from it.

mod rules;

use std::{collections::BTreeSet, sync::Arc};

use docs_macros::{boxed, operation};

use self::rules::require_merge_rules;
use crate::{
    Error, Result,
    content::{Conflict, ConflictNote, ContentMerge, Subject, ThreeWay, clash_field},
    model::{
        ChangeRequestStatus, ConflictSubject, JobId, MergeConflict, MergeOutcome, MergeResult, PageId,
        RevisionId, SpaceId, UpdateOutcome, UpdateResult,
    },
    platform::{
        access,
        content::change_requests::{feed_head, find, require_editable},
        kernel::{actor::Actor, platform::Platform, request::Right, write::MAX_WRITE_ATTEMPTS},
        library::{follow::git, head::move_head},
        nouns::{ChangeRequestHandle, RequestRef},
    },
    policy::{SpaceAccess, SpaceAction, SpaceProof},
    store::{
        Tx,
        records::{ChangeRequestRecord, RevisionKind, RevisionRecord, SpaceRecord},
    },
};

impl<'p> ChangeRequestHandle<'p> {
    /// Merges a change request into its space. Conflicts do not abort the merge: they are recorded in the content.
    ///
    /// The cost is proportional to the changes on both sides, not to the size of the space.
    ///
    /// # Errors
    /// `Forbidden` without the `review` role; `Conflict` for a merged or archived request, and if the merge rules in
    /// effect are not met.
    #[boxed]
    pub async fn merge(self) -> Result<MergeResult> {
        let Self { caller, at: RequestRef { space, request: name } } = self;
        let (platform, actor) = (caller.platform, &caller.actor());
        let done = platform.idempotent(actor, Right::Space(space.clone(), SpaceAction::Review), async move {
            let id: RevisionId = platform.id();
            for _ in 0..MAX_WRITE_ATTEMPTS {
                let storing = platform.begin_write_window();
                let at = platform.read_merge_sides(actor, space, name, SpaceAction::Review).await?;
                let (main, request) = (&at.space, &at.request);
                let merged = at.merge(platform).await?;
                let by = actor.require_user()?.clone();
                let revision = RevisionRecord {
                    parents: vec![main.head.clone(), request.head.clone()],
                    kind: RevisionKind::Merge(request.id.clone()),
                    conflicts: conflicting_pages(&merged),
                    ..RevisionRecord::new(id.clone(), space.clone(), merged.root, platform.now(), by)
                };
                let result = if merged.is_clean() { MergeOutcome::Merge } else { MergeOutcome::Conflicts };
                let done = MergeResult { revision: id.clone(), result, conflicts: merge_conflicts(&merged) };
                let job = platform.id();
                let merge = merge_change_request(platform, actor, &at, &revision, &job);
                platform.check_write_window(storing)?;
                let stored = platform.write_unless_moved(actor, &merge, || done.clone());
                if let Some(done) = stored.await? {
                    return Ok(done);
                }
            }
            Err(Error::conflict("the space kept changing; try again"))
        });
        done.await
    }

    /// Updates a change request with the current content of its space. Conflicts are recorded in the content of the
    /// request.
    ///
    /// # Errors
    /// `Forbidden` without the `edit` role; `Conflict` for a merged or archived request.
    #[boxed]
    pub async fn pull(self) -> Result<UpdateResult> {
        let Self { caller, at: RequestRef { space, request: name } } = self;
        let (platform, actor) = (caller.platform, &caller.actor());
        let done = platform.idempotent(actor, Right::Space(space.clone(), SpaceAction::Edit), async move {
            let id: RevisionId = platform.id();
            for _ in 0..MAX_WRITE_ATTEMPTS {
                let storing = platform.begin_write_window();
                let at = platform.read_merge_sides(actor, space, name, SpaceAction::Edit).await?;
                let (main, request) = (&at.space, &at.request);
                if main.head == *request.base() {
                    return Ok(UpdateResult {
                        revision: request.head.clone(),
                        result: UpdateOutcome::Update,
                        conflicts: Vec::new(),
                    });
                }
                let merged = at.merge(platform).await?;
                let by = actor.require_user()?.clone();
                let revision = RevisionRecord {
                    parents: vec![request.head.clone(), main.head.clone()],
                    kind: RevisionKind::Update,
                    conflicts: conflicting_pages(&merged),
                    ..RevisionRecord::new(id.clone(), space.clone(), merged.root, platform.now(), by)
                };
                let result = if merged.is_clean() { UpdateOutcome::Update } else { UpdateOutcome::Conflicts };
                let done = UpdateResult { revision: id.clone(), result, conflicts: merge_conflicts(&merged) };
                let pull = pull_change_request(actor, &at, &revision);
                platform.check_write_window(storing)?;
                let stored = platform.write_unless_moved(actor, &pull, || done.clone());
                if let Some(done) = stored.await? {
                    return Ok(done);
                }
            }
            Err(Error::conflict("the space kept changing; try again"))
        });
        done.await
    }
}

impl Platform {
    /// Reads the two sides of a merge: the space and the change request.
    async fn read_merge_sides(
        &self,
        actor: &Actor,
        space: &SpaceId,
        name: &str,
        action: SpaceAction,
    ) -> Result<MergeSides> {
        let tx = self.read().await?;
        let access = access::space(&tx, actor, space).await?;
        let space = Arc::clone(access.require(action)?.space());
        let request = find(&tx, &space.id, name).await?;
        require_editable(&request)?;
        // The transaction checks the rules again. The early check avoids the work of a merge that they do not permit.
        if action == SpaceAction::Review {
            require_merge_rules(self, &tx, actor, &access, &request).await?;
        }
        Ok(MergeSides { space, request, action })
    }
}

/// Returns the pages with conflicts between the two sides of a merge.
pub(in crate::platform) fn conflicting_pages(merged: &ContentMerge) -> Vec<PageId> {
    note_pages(&merged.conflicts)
}

/// The first [`RevisionRecord::MAX_CONFLICTS`] pages with conflict notes, in id order.
fn note_pages(conflicts: &[ConflictNote]) -> Vec<PageId> {
    let pages: BTreeSet<&PageId> = conflicts
        .iter()
        .filter_map(|note| match &note.subject {
            Subject::Page(page) => Some(page),
            Subject::File(_) | Subject::Reusable(_) | Subject::Variable(_) => None,
        })
        .collect();
    pages.into_iter().take(RevisionRecord::MAX_CONFLICTS).cloned().collect()
}

/// The merge conflicts returned to the caller, at most [`RevisionRecord::MAX_CONFLICTS`].
fn merge_conflicts(merged: &ContentMerge) -> Vec<MergeConflict> {
    let shown = merged.conflicts.iter().take(RevisionRecord::MAX_CONFLICTS).map(|note| {
        let (kind, id) = match &note.subject {
            Subject::Page(id) => (ConflictSubject::Page, id.to_string()),
            Subject::File(id) => (ConflictSubject::File, id.to_string()),
            Subject::Reusable(id) => (ConflictSubject::ReusableContent, id.to_string()),
            Subject::Variable(name) => (ConflictSubject::Variable, name.clone()),
        };
        let field = match &note.conflict {
            Conflict::Field { field } => field.as_str(),
            Conflict::Text => "document",
            Conflict::Existence => clash_field::EXISTENCE,
            Conflict::ParentGone { .. } | Conflict::Cycle | Conflict::Misplaced => clash_field::POSITION,
            Conflict::SlugTaken { .. } => "slug",
        };
        MergeConflict { kind, id, field: field.to_owned() }
    });
    shown.collect()
}

/// The space and the change request, as read before a merge.
struct MergeSides {
    space: Arc<SpaceRecord>,
    request: Arc<ChangeRequestRecord>,
    action: SpaceAction,
}

impl MergeSides {
    /// Merges the content of the two sides outside any transaction.
    async fn merge(&self, platform: &Platform) -> Result<ContentMerge> {
        let (space, request) = (&self.space, &self.request);
        let sides = ThreeWay { base: request.base_root, ours: space.root, theirs: request.root };
        Ok(platform.content().merge(&space.domain, sides).await?)
    }

    /// Reads both records again and checks permissions. Returns `None` if either head has changed.
    async fn reread(
        &self,
        tx: &Tx,
        actor: &Actor,
    ) -> Result<Option<(SpaceAccess, SpaceProof, Arc<ChangeRequestRecord>)>> {
        let access = access::space(tx, actor, &self.space.id).await?;
        let proof = access.require(self.action)?;
        let request = find(tx, &self.space.id, self.request.id.as_str()).await?;
        require_editable(&request)?;
        let same = proof.space().head == self.space.head && request.head == self.request.head;
        Ok(same.then_some((access, proof, request)))
    }
}

/// Stores a merge. `Output` is `false` if either head has changed. `job` unblocks work that waits for the request.
#[operation("change_request_merge")]
async fn merge_change_request(
    tx: &mut Tx,
    platform: &Platform,
    actor: &Actor,
    at: &MergeSides,
    revision: &RevisionRecord,
    job: &JobId,
) -> Result<bool> {
    let Some((access, proof, old)) = at.reread(tx, actor).await? else { return Ok(false) };
    require_merge_rules(platform, tx, actor, &access, &old).await?;
    let now = revision.created_at;
    move_head(tx, &proof, revision.clone()).await?;
    let new = ChangeRequestRecord {
        status: ChangeRequestStatus::Merged,
        merged: Some(revision.id.clone()),
        updated_at: now.later_than(old.updated_at),
        ..ChangeRequestRecord::clone(&old)
    };
    let new = tx.put(&*old, new)?;
    git::resume_after_conflict(tx, proof.space(), &new.id, job.clone(), now).await?;
    Ok(true)
}

/// Stores an update. `Output` is `false` if either head has changed.
#[operation("change_request_pull")]
async fn pull_change_request(
    tx: &mut Tx,
    actor: &Actor,
    at: &MergeSides,
    revision: &RevisionRecord,
) -> Result<bool> {
    let Some((_, proof, old)) = at.reread(tx, actor).await? else { return Ok(false) };
    let space = proof.space();
    let new = ChangeRequestRecord {
        head: revision.id.clone(),
        root: revision.root,
        ancestor: Some(space.head.clone()),
        base_root: space.root,
        updated_at: revision.created_at.later_than(old.updated_at),
        ..ChangeRequestRecord::clone(&old)
    };
    tx.create(revision.clone());
    feed_head(tx, &old);
    tx.put(&*old, new)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_names_a_bounded_number_of_conflicts() {
        let count = |pages: usize| {
            let note = |page| {
                let page: PageId = format!("page{page}").parse().expect("an id");
                ConflictNote { subject: Subject::Page(page), conflict: Conflict::Text }
            };
            note_pages(&(0..pages).map(note).collect::<Vec<_>>()).len()
        };
        let most = RevisionRecord::MAX_CONFLICTS;
        assert_eq!([most - 1, most, most + 1].map(count), [most - 1, most, most]);
    }
}
