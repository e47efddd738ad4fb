//! The messages and authors of exported commits.

use std::sync::Arc;

use crate::{
    Result,
    model::{RevisionId, Timestamp, UserId},
    ports::Commit,
    store::{
        Key, Scan, Tx, id_of,
        records::{ChangeRequestRecord, GitSyncState, RevisionKind, RevisionRecord, SpaceRecord},
    },
};

/// The default message template.
const DEFAULT_MESSAGE: &str = "DOCS-{change_request_number}: {change_request_subject}";
/// Placeholders for the number and subject of the merged change request.
const NUMBER: &str = "{change_request_number}";
const SUBJECT: &str = "{change_request_subject}";
/// Maximum number of revisions that are searched for the most recent merge.
const MAX_SEARCHED_REVISIONS: u32 = 50;

/// The metadata of a commit. It depends only on the exported revision, so that a pushed commit can be recognized.
pub(super) struct CommitMetadata {
    pub(super) by: UserId,
    pub(super) message: String,
    pub(super) at: Timestamp,
}

impl CommitMetadata {
    /// Returns the metadata for the newest of the given revisions, which are ordered newest first.
    pub(super) async fn for_revisions(
        tx: &Tx,
        space: &SpaceRecord,
        sync: &GitSyncState,
        revisions: &[Arc<RevisionRecord>],
    ) -> Result<Self> {
        let merged = revisions.iter().find_map(|revision| match &revision.kind {
            RevisionKind::Merge(request) => Some((revision, request)),
            RevisionKind::Edits
            | RevisionKind::Update
            | RevisionKind::Rollback(_)
            | RevisionKind::Computed => None,
        });
        let request: Option<Arc<ChangeRequestRecord>> = match &merged {
            Some((_, request)) => tx.get(&ChangeRequestRecord::key_for(request)).await?,
            None => None,
        };
        let template = sync.setting.commit_message.as_deref();
        let message = match (template, request) {
            (template, Some(request)) => {
                let subject = match (request.subject.trim(), template) {
                    ("", Some(_)) => "No subject",
                    ("", None) => "change request with no subject merged",
                    (subject, _) => subject,
                };
                let template = template.unwrap_or(DEFAULT_MESSAGE);
                template.replace(NUMBER, &request.number.to_string()).replace(SUBJECT, subject)
            }
            (Some(fixed), None) if !fixed.contains(NUMBER) && !fixed.contains(SUBJECT) => fixed.to_owned(),
            (_, None) => format!("Update {}", space.title),
        };
        let newest = revisions.first();
        let by = merged.map(|(revision, _)| revision).or(newest).map_or(&sync.by, |revision| &revision.by);
        let at = newest.map_or(space.updated_at, |revision| revision.created_at);
        Ok(Self { by: by.clone(), message, at })
    }

    /// Returns `true` if a commit has this metadata.
    pub(super) fn matches(&self, commit: &Commit) -> bool {
        commit.message.trim() == self.message.trim()
            && commit.committed_at.timestamp() == self.at.time().timestamp()
    }
}

/// Returns the latest live revisions of a space, newest first: those after `since` and after the last one in sync with
/// a commit.
pub(super) async fn recent_revisions(
    tx: &Tx,
    space: &SpaceRecord,
    since: Option<&RevisionId>,
) -> Result<Vec<Arc<RevisionRecord>>> {
    let (from, to) = RevisionRecord::history(&space.id).prefix_range();
    let rows = tx.scan(&Scan { from, to, rev: true, limit: MAX_SEARCHED_REVISIONS }).await?;
    let key = |row: &Key| Ok(RevisionRecord::key_for(&space.id, &id_of(row)?));
    let keys = rows.iter().map(|(row, _)| key(row)).collect::<Result<Vec<Key>>>()?;
    let found = tx.get_many::<RevisionRecord>(&keys).await?;
    let is_new = |revision: &Arc<RevisionRecord>| Some(&revision.id) != since && revision.git.is_none();
    Ok(found.into_iter().flatten().take_while(is_new).collect())
}
