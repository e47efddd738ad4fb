//! Duplication of spaces.

use async_trait::async_trait;

use crate::{
    Result,
    model::{ContentTarget, Grantee, RevisionId, SpaceId, SpaceTitle, Timestamp, UserId},
    platform::{
        access,
        kernel::{actor::Actor, write_window::note_copy},
        library::{
            head::create_space,
            tree::{InsertionPoint, allocate_ranks, check_capacity, require_parent},
        },
    },
    policy::{SpaceAccess, SpaceAction},
    store::{
        Operation, Tx,
        records::{GrantRecord, Parent, SpaceRecord},
    },
};

pub(in crate::platform) struct DuplicateSpace {
    pub(in crate::platform) actor: Actor,
    pub(in crate::platform) by: UserId,
    pub(in crate::platform) of: SpaceId,
    /// The id of the copy.
    pub(in crate::platform) id: SpaceId,
    /// The first revision of the copy.
    pub(in crate::platform) head: RevisionId,
    pub(in crate::platform) now: Timestamp,
}

#[async_trait]
impl Operation for DuplicateSpace {
    type Output = ();
    const NAME: &'static str = "space_duplicate";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let seen = access::space(tx, &self.actor, &self.of).await?;
        let proof = seen.require(SpaceAction::Manage)?;
        let from = proof.space();
        require_parent(tx, &self.actor, &from.organization, from.parent.as_ref()).await?;
        if let Some(parent) = &from.parent {
            check_capacity(tx, parent, 1).await?;
        }
        let parent = Parent::new(&from.organization, from.parent.as_ref());
        let gap = InsertionPoint::after_child(parent, &from.rank(), from.id.as_str());
        let title = format!("{} (copy)", from.title);
        let record = SpaceRecord {
            id: self.id.clone(),
            title: SpaceTitle::from_truncated(&title).unwrap_or_else(|| from.title.clone()),
            created_by: self.by.clone(),
            created_at: self.now,
            updated_at: self.now,
            rank: allocate_ranks(tx, &gap, 1, self.now).await?.pop(),
            head: self.head.clone(),
            git: None,
            git_sync: None,
            translations: 0,
            ..SpaceRecord::clone(from)
        };
        let copy = create_space(tx, record, &self.by);
        note_copy(tx, &copy);
        self.keep_role(tx, &seen).await
    }
}

impl DuplicateSpace {
    /// Grants the actor the role that they have on the original, unless the copy already inherits it.
    async fn keep_role(&self, tx: &mut Tx, seen: &SpaceAccess) -> Result<()> {
        let content = ContentTarget::Space(self.id.clone());
        if access::role_on(tx, &self.actor, &content).await? >= Some(seen.role()) {
            return Ok(());
        }
        tx.create(GrantRecord {
            organization: seen.space().organization.clone(),
            content: content.into(),
            grantee: Grantee::User(self.by.clone()),
            role: seen.role(),
            granted_at: self.now,
            space_deleted: false,
        });
        Ok(())
    }
}
