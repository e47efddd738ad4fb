//! The revision history of spaces: listing and rollback.

use std::{collections::BTreeMap, sync::Arc};

use docs_macros::{boxed, operation};

use crate::{
    Error, Result,
    model::{
        ChangeRequest, ChangeRequestId, RevisionId, RevisionObject, RevisionSummary, RevisionSummaryUrls,
        RevisionType, SpaceId, Timestamp, UserId,
    },
    platform::{
        access,
        kernel::{actor::Actor, platform::Platform, request::Right},
        library::head::{move_head, require_live},
        nouns::{Revisions, list_identities::tag},
    },
    policy::SpaceAction,
    store::{
        Key, ListIdentity, ListSpec, Lister, Page, PageRequest, Tx, id_of,
        records::{ChangeRequestRecord, RevisionKind, RevisionRecord, SpaceRecord},
    },
};

/// Returns the origin of a computed revision. Revisions of earlier programs have no record of their source.
pub(in crate::platform) fn computed_type(record: &RevisionRecord) -> RevisionType {
    let source = record.computed_from.as_ref().or(record.parents.first());
    RevisionType::Computed { source_revision: source.unwrap_or(&record.id).clone() }
}

impl<'p> Revisions<'p> {
    /// Lists the revisions that were the live content of a space, newest first, starting with the current one.
    ///
    /// Revisions of change requests are represented by the revision that merged them.
    #[boxed]
    pub async fn list(self, page: &'p PageRequest) -> Result<Page<RevisionSummary>> {
        let (platform, ref actor, space) = self.parts();
        let tx = platform.read().await?;
        let access = access::space(&tx, actor, space).await?;
        let (prefix, identity) = (RevisionRecord::history(space), ListIdentity::new(tag::REVISIONS));
        let mut list = Lister::new(ListSpec { prefix, rev: true, identity }, page)?;
        while let Some(rows) = list.rows(&tx).await? {
            let key = |row: &Key| Ok(RevisionRecord::key_for(space, &id_of(row)?));
            let keys = rows.iter().map(|(row, _)| key(row)).collect::<Result<Vec<Key>>>()?;
            list.offer_all(&rows, tx.get_many::<RevisionRecord>(&keys).await?);
        }
        let page = list.finish(&tx, Some(access.space().revisions)).await?;
        let items = platform.summaries(&tx, actor, access.space(), &page.items).await?;
        Ok(Page { items, next: page.next, count: page.count })
    }

    /// Rolls a space back to an earlier revision by creating a new revision with the same content.
    ///
    /// The history is retained, so a rollback can be reverted. Open change requests are retained and become outdated.
    /// The cost does not depend on the size of the space.
    ///
    /// # Errors
    /// `NotFound` for a revision of another space; `Forbidden` without the `edit` role; `Conflict` if live content is
    /// locked, or if the revision was never live or has the current content.
    #[boxed]
    pub async fn rollback(self, revision: &'p RevisionId) -> Result<RevisionSummary> {
        let (platform, ref actor, space) = self.parts();
        let done = platform.idempotent(actor, Right::Space(space.clone(), SpaceAction::Edit), async move {
            let (by, id) = (actor.require_user()?, &platform.id());
            let operation = space_rollback(actor, by, space, revision, id, platform.now());
            platform
                .write_and_show(actor, &operation, |done| {
                    Box::pin(platform.read_summary(done.tx, actor, space, id))
                })
                .await
        });
        done.await
    }
}

impl Platform {
    /// Reads a revision of the history of a space within a transaction.
    async fn read_summary(
        &self,
        tx: &Tx,
        actor: &Actor,
        space: &SpaceId,
        id: &RevisionId,
    ) -> Result<RevisionSummary> {
        let access = access::space(tx, actor, space).await?;
        let record = find(tx, space, id).await?;
        let shown = self.summaries(tx, actor, access.space(), &[record]).await?;
        shown.into_iter().next().ok_or_else(|| Error::not_found("revision"))
    }

    /// Builds the views of revisions of one space. Authors and merged change requests are read in batches.
    async fn summaries(
        &self,
        tx: &Tx,
        actor: &Actor,
        space: &SpaceRecord,
        revisions: &[Arc<RevisionRecord>],
    ) -> Result<Vec<RevisionSummary>> {
        let users: Vec<UserId> = revisions.iter().map(|revision| revision.by.clone()).collect();
        let users = self.visible_users(tx, (actor, &space.organization), &users).await?;
        let merged = self.merged_requests(tx, actor, space, revisions).await?;
        let kind = |revision: &RevisionRecord| -> Result<RevisionType> {
            Ok(match &revision.kind {
                RevisionKind::Edits => RevisionType::Edits,
                RevisionKind::Update => RevisionType::Update,
                RevisionKind::Computed => computed_type(revision),
                RevisionKind::Rollback(to) => RevisionType::Rollback { restored_from: to.clone() },
                RevisionKind::Merge(id) => {
                    let request = merged.get(id).ok_or_else(|| Error::not_found("change request"))?;
                    RevisionType::Merge { merged_from: Box::new(request.clone()) }
                }
            })
        };
        let shown = revisions.iter().zip(users).map(|(revision, created_by)| {
            Ok(RevisionSummary {
                object: RevisionObject::Is,
                id: revision.id.clone(),
                number: revision.number.unwrap_or_default(),
                parents: revision.parents.clone(),
                kind: kind(revision)?,
                created_by,
                created_at: revision.created_at,
                git: revision.git.clone(),
                urls: RevisionSummaryUrls {
                    location: self.urls().revision_location(&space.id, &revision.id),
                    app: self.urls().revision(&space.id, &revision.id),
                },
            })
        });
        shown.collect()
    }

    /// Reads the change requests merged by these revisions.
    async fn merged_requests(
        &self,
        tx: &Tx,
        actor: &Actor,
        space: &SpaceRecord,
        revisions: &[Arc<RevisionRecord>],
    ) -> Result<BTreeMap<ChangeRequestId, ChangeRequest>> {
        let merged = revisions.iter().filter_map(|revision| match &revision.kind {
            RevisionKind::Merge(id) => Some(ChangeRequestRecord::key_for(id)),
            RevisionKind::Edits
            | RevisionKind::Update
            | RevisionKind::Rollback(_)
            | RevisionKind::Computed => None,
        });
        let keys: Vec<Key> = merged.collect();
        let found = tx.get_many::<ChangeRequestRecord>(&keys).await?;
        let found: Vec<Arc<ChangeRequestRecord>> = found.into_iter().flatten().collect();
        let shown = self.request_views(tx, actor, space, &found).await?;
        Ok(shown.into_iter().map(|request| (request.id.clone(), request)).collect())
    }
}

/// Finds a revision of a space or of one of its change requests.
pub(in crate::platform) async fn find(
    tx: &Tx,
    space: &SpaceId,
    id: &RevisionId,
) -> Result<Arc<RevisionRecord>> {
    let record: Option<Arc<RevisionRecord>> = tx.get(&RevisionRecord::key_for(space, id)).await?;
    record.ok_or_else(|| Error::not_found("revision"))
}

/// Creates a live revision with id `id` and the content of `to`.
#[operation("space_rollback")]
async fn space_rollback(
    tx: &mut Tx,
    actor: &Actor,
    by: &UserId,
    space: &SpaceId,
    to: &RevisionId,
    id: &RevisionId,
    now: Timestamp,
) -> Result<()> {
    let proof = access::space(tx, actor, space).await?.require(SpaceAction::Edit)?;
    let to = find(tx, space, to).await?;
    require_live(&proof)?;
    let live = proof.space();
    if to.number.is_none() {
        return Err(Error::conflict(
            "the revision was never live content of the space; choose a live revision",
        ));
    }
    if to.root == live.root {
        return Err(Error::conflict("the space already has the content of this revision"));
    }
    let revision = RevisionRecord {
        parents: vec![live.head.clone()],
        kind: RevisionKind::Rollback(to.id.clone()),
        conflicts: to.conflicts.clone(),
        ..RevisionRecord::new(id.clone(), space.clone(), to.root, now, by.clone())
    };
    move_head(tx, &proof, revision).await
}
