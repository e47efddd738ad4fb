//! Transfers of spaces and collections to another organization.

use std::sync::Arc;

use async_trait::async_trait;

use super::{InsertionPoint, allocate_ranks, drop_grants, parent};
use crate::{
    Error, ErrorKind, Result,
    model::{ContentTarget, OrgId, Rank, SpaceMergeRules, Timestamp},
    platform::{
        access::{self, AccessResolver},
        kernel::actor::Actor,
        library::{follow, head::RESTORE_WINDOW},
    },
    policy::{CollectionAction, OrgAccess, OrgAction, SpaceAction},
    store::{
        KeyBuf, MAX_BATCH_OPS, MAX_SCAN, Operation, Scan, Tx,
        records::{
            CollectionRecord, JobRecord, Parent, SiteSpaceRecord, SpaceRecord, TranslationRecord,
            parse_target,
        },
        topic,
    },
};

/// Maximum number of spaces and collections per transfer.
const MAX_TRANSFER_PARTS: usize = 500;
/// Transaction changes reserved for shared rows such as counters.
const SPARE_CHANGES: usize = 100;

/// Transfers a space, or a collection with its descendants, to the top level of another organization.
///
/// Grants on the transferred content are removed. Its objects stay in their storage domain.
pub(in crate::platform) struct Transfer {
    pub(in crate::platform) actor: Actor,
    pub(in crate::platform) child: ContentTarget,
    /// The receiving organization.
    pub(in crate::platform) to: String,
    pub(in crate::platform) now: Timestamp,
}

/// The transferred content.
#[derive(Default)]
struct TransferParts {
    collections: Vec<Arc<CollectionRecord>>,
    spaces: Vec<Arc<SpaceRecord>>,
}

#[async_trait]
impl Operation for Transfer {
    type Output = ();
    const NAME: &'static str = "content_transfer";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let (from, parts) = self.parts(tx).await?;
        let to: OrgId = self.to.parse().map_err(|_| Error::not_found("organization"))?;
        let target = access::org(tx, &self.actor, &to).await?;
        if to == from.org().id {
            return Err(Error::conflict("organization: must be another organization"));
        }
        from.require(OrgAction::CreateContent)?;
        target.require(OrgAction::CreateContent)?;
        self.require_all(tx, from, &parts).await?;
        for space in &parts.spaces {
            check_free(tx, space).await?;
        }
        let rank = allocate_ranks(tx, &InsertionPoint::at_end(Parent::Top(&to)), 1, self.now).await?.pop();
        let rank = rank.ok_or_else(|| Error::internal("fewer ranks than requested"))?;
        let whole = self.put(tx, &to, &parts, rank).await?;
        // The actor must keep access, so that a mistake remains visible to them.
        let mut resolver = AccessResolver::new(target, &self.actor);
        let is_seen = match whole {
            TransferParts { collections, .. } if !collections.is_empty() => {
                let seen = resolver.collections(tx, collections.into_iter().map(Some).collect()).await?;
                seen.iter().all(Option::is_some)
            }
            TransferParts { spaces, .. } => {
                let seen = resolver.spaces(tx, spaces.into_iter().map(Some).collect()).await?;
                seen.iter().all(Option::is_some)
            }
        };
        if is_seen {
            return Ok(());
        }
        Err(unmet_condition(
            "the default level would hide the content from you in the target organization; change it \
                   first",
        ))
    }
}

impl Transfer {
    /// Returns the transferred content and the actor's access to its organization.
    async fn parts(&self, tx: &Tx) -> Result<(OrgAccess, TransferParts)> {
        match &self.child {
            ContentTarget::Space(id) => {
                let access = access::any_space(tx, &self.actor, id).await?;
                let space = Arc::clone(access.require(SpaceAction::Manage)?.space());
                if let Some(at) = space.deleted_at {
                    let is_over = space.purging || self.now.time() - at.time() > RESTORE_WINDOW;
                    return Err(if is_over {
                        Error::not_found("space")
                    } else {
                        unmet_condition("the space is deleted")
                    });
                }
                let from = access::org(tx, &self.actor, &space.organization).await?;
                Ok((from, TransferParts { collections: Vec::new(), spaces: vec![space] }))
            }
            ContentTarget::Collection(id) => {
                let access = access::collection(tx, &self.actor, id).await?;
                let collection = Arc::clone(access.require(CollectionAction::Manage)?);
                let from = access::org(tx, &self.actor, &collection.organization).await?;
                Ok((from, TransferParts::load_subtree(tx, collection).await?))
            }
        }
    }

    /// Checks that all parts are visible to the actor and that the actor may manage them.
    async fn require_all(&self, tx: &Tx, from: OrgAccess, parts: &TransferParts) -> Result<()> {
        let mut resolver = AccessResolver::new(from, &self.actor);
        let spaces = resolver.spaces(tx, parts.spaces.iter().cloned().map(Some).collect()).await?;
        let collections =
            resolver.collections(tx, parts.collections.iter().cloned().map(Some).collect()).await?;
        let may_all = spaces
            .iter()
            .all(|access| access.as_ref().is_some_and(|access| access.require(SpaceAction::Manage).is_ok()))
            && collections.iter().all(|access| {
                access.as_ref().is_some_and(|access| access.require(CollectionAction::Manage).is_ok())
            });
        if may_all {
            return Ok(());
        }
        Err(Error::forbidden("this needs the role `create` on all content of the collection"))
    }

    /// Stores the parts in the other organization. Returns the resulting root of the transferred content.
    async fn put(&self, tx: &mut Tx, to: &OrgId, parts: &TransferParts, rank: Rank) -> Result<TransferParts> {
        let mut whole = TransferParts::default();
        for old in &parts.collections {
            let mut new = CollectionRecord { organization: to.clone(), ..CollectionRecord::clone(old) };
            let is_whole = old.id.as_str() == self.child.id();
            if is_whole {
                (new.parent, new.rank) = (None, rank.clone());
            }
            let new = tx.put(&**old, new)?;
            whole.collections.extend(Some(new).filter(|_| is_whole));
        }
        for old in &parts.spaces {
            let mut new = SpaceRecord { organization: to.clone(), ..SpaceRecord::clone(old) };
            // The users that its merge rules name belong to the previous organization.
            new.merge_rules = SpaceMergeRules::Inherit;
            let is_whole = old.id.as_str() == self.child.id();
            if is_whole {
                (new.parent, new.rank) = (None, Some(rank.clone()));
            }
            new.updated_at = self.now.later_than(old.updated_at);
            let new = tx.put(&**old, new)?;
            whole.spaces.extend(Some(new).filter(|_| is_whole));
            tx.feed(topic::HEAD, KeyBuf::new("head").part(old.id.as_str()).key());
        }
        let ids = parts.collections.iter().map(|part| part.id.as_str());
        for id in ids.chain(parts.spaces.iter().map(|part| part.id.as_str())) {
            // Invite links of the previous organization to the content are removed.
            let many = drop_grants(tx, id, MAX_SCAN).await? | parent::drop_links(tx, id).await?;
            if many || tx.changes() > MAX_BATCH_OPS - SPARE_CHANGES {
                return Err(unmet_condition(
                    "too many users and teams have direct roles on the content; transfer parts of it",
                ));
            }
        }
        Ok(whole)
    }
}

impl TransferParts {
    /// Returns a collection with all its descendants.
    async fn load_subtree(tx: &Tx, whole: Arc<CollectionRecord>) -> Result<Self> {
        let mut level = vec![whole.id.clone()];
        let mut parts = Self { collections: vec![whole], spaces: Vec::new() };
        while !level.is_empty() {
            let mut scans: Vec<Scan> =
                level.iter().map(|id| SpaceRecord::deleted_by_parent(id).scan(1)).collect();
            scans.extend(level.iter().map(|id| Parent::In(id).children().scan(MAX_SCAN)));
            let mut found = tx.scan_many(&scans).await?;
            let children = found.split_off(level.len());
            if found.iter().any(|deleted| !deleted.is_empty()) {
                return Err(unmet_condition(
                    "the collection contains deleted spaces; restore them, or wait until they are purged",
                ));
            }
            let (mut collections, mut spaces) = (Vec::new(), Vec::new());
            for row in children.iter().flatten() {
                match parse_target(row)? {
                    ContentTarget::Collection(id) => collections.push(id),
                    ContentTarget::Space(id) => spaces.push(SpaceRecord::key_for(&id)),
                }
            }
            if parts.collections.len() + parts.spaces.len() + collections.len() + spaces.len()
                > MAX_TRANSFER_PARTS
            {
                return Err(unmet_condition(&format!(
                    "the content must have at most {MAX_TRANSFER_PARTS} spaces and collections; transfer parts of it"
                )));
            }
            let keys: Vec<_> = collections.iter().map(CollectionRecord::key_for).collect();
            parts.collections.extend(tx.get_many::<CollectionRecord>(&keys).await?.into_iter().flatten());
            parts.spaces.extend(tx.get_many::<SpaceRecord>(&spaces).await?.into_iter().flatten());
            level = collections;
        }
        Ok(parts)
    }
}

/// Rejects a space referenced by a site, an import, a translation or a Git synchronization.
async fn check_free(tx: &Tx, space: &SpaceRecord) -> Result<()> {
    let scans = [
        SiteSpaceRecord::by_space(&space.id).scan(1),
        JobRecord::by_lane(&follow::git::lane(&space.id)).scan(1),
        TranslationRecord::by_target(&space.id).scan(1),
    ];
    let found = tx.scan_many(&scans).await?;
    let [sites, imports, translated] =
        <[_; 3]>::try_from(found).map_err(|_| Error::internal("three scans return three results"))?;
    if space.translations > 0 {
        return Err(unmet_condition(&format!(
            "the space `{}` has translations; delete them first",
            space.title
        )));
    }
    if space.git_sync.is_some() {
        return Err(unmet_condition(&format!(
            "the space `{}` is synchronized with a repository; remove that setting first",
            space.title
        )));
    }
    if !translated.is_empty() {
        return Err(unmet_condition(&format!(
            "the space `{}` is the target of a translation; delete that translation first",
            space.title
        )));
    }
    if !sites.is_empty() {
        return Err(unmet_condition(&format!(
            "the space `{}` is part of a site; remove it from the site first",
            space.title
        )));
    }
    if !imports.is_empty() {
        return Err(unmet_condition(&format!(
            "an import into the space `{}` is running; wait until it ends",
            space.title
        )));
    }
    Ok(())
}

fn unmet_condition(why: &str) -> Error {
    Error::new(ErrorKind::Precondition, why.to_owned())
}
