//! Spaces.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

use super::{
    Actor, Platform,
    access::{self, Sight},
    people::{later, platform_only},
    sites::Placement,
};
use crate::{
    Error, ErrorKind, Result,
    model::{
        ChangeRequestStatus, CreateSpace, DefaultLevel, Emoji, JobId, OrgId, Patch, RevisionId, Space,
        SpaceId, SpaceObject, SpaceTitle, SpaceUrls, Timestamp, UpdateSpace, UserId, Visibility,
    },
    policy::{OrgAction, SpaceAccess, SpaceAction, SpaceProof},
    store::{
        Hash, Key, KeyBuf, ListSpec, Lister, Operation, Page, PageRequest, Scan, Tx, jobs, key,
        records::{
            ChangeRequestRecord, RevisionKind, RevisionRecord, SiteRecord, SiteSpaceRecord, SpaceRecord,
            counter,
        },
        topic,
    },
};

/// How long a deleted space can be restored (SPEC 8).
pub const RESTORE_WINDOW: TimeDelta = TimeDelta::days(7);
/// The kind of the job that removes a deleted space for good.
pub(super) const PURGE: &str = "space_purge";
/// Records that one transaction of the purge removes.
const PURGE_CHUNK: u32 = 500;
/// What a space without an emoji of its own shows.
const NO_EMOJI: &str = "📘";

/// What the purge of a space works on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Purge {
    space: SpaceId,
    deleted_at: Timestamp,
}

impl Platform {
    /// Lists the spaces of an organization that the actor may see, oldest first.
    ///
    /// # Errors
    /// `NotFound` unless the actor is a member; `Invalid` for a wrong page or limit.
    pub async fn list_spaces(&self, actor: &Actor, org: &OrgId, page: &PageRequest) -> Result<Page<Space>> {
        let tx = self.read().await?;
        let access = access::org(&tx, actor, org).await?;
        // The number of all spaces is for those only who may see them all.
        let all = access.require(OrgAction::Administrate).is_ok();
        let mut sight = Sight::new(access, actor);
        let spec = ListSpec { prefix: SpaceRecord::of_org(org), rev: false, filters: String::new() };
        let mut list = Lister::new(spec, page)?;
        while let Some(rows) = list.rows(&tx).await? {
            let keys: Vec<Key> = rows.iter().map(|(row, _)| by_row(row)).collect();
            let seen = sight.spaces(&tx, tx.get_many::<SpaceRecord>(&keys).await?).await?;
            for ((row, _), space) in rows.iter().zip(seen) {
                if !list.offer(row, space) {
                    break;
                }
            }
        }
        let count =
            if all { u64::try_from(tx.number(&SpaceRecord::count_in(org)).await?).ok() } else { None };
        let page = list.finish(&tx, count).await?;
        let shown = self.space_views(&tx, &page.items).await?;
        Ok(Page { items: shown, next: page.next, count: page.count })
    }

    /// Creates a space with an empty content.
    ///
    /// # Errors
    /// `NotFound`, `Forbidden` without the role `create`; `Invalid` for an unknown collection.
    pub async fn create_space(&self, actor: &Actor, org: &OrgId, new: CreateSpace) -> Result<Space> {
        let domain = {
            let tx = self.read().await?;
            let access = access::org(&tx, actor, org).await?;
            access.require(OrgAction::CreateContent)?.org().domain.clone()
        };
        let root = self.content().empty_root(&domain).await?;
        self.create_space_with(actor, org, new, (domain, root)).await
    }

    /// Creates a space whose content is there already.
    pub(super) async fn create_space_with(
        &self,
        actor: &Actor,
        org: &OrgId,
        new: CreateSpace,
        (domain, root): (String, Hash),
    ) -> Result<Space> {
        if new.parent.is_some() {
            return Err(Error::invalid("parent", "the organization has no such collection"));
        }
        let id = self.new_space(actor, org, &new, (domain, root)).await?;
        self.get_space(actor, &id).await
    }

    async fn new_space(
        &self,
        actor: &Actor,
        org: &OrgId,
        new: &CreateSpace,
        (domain, root): (String, Hash),
    ) -> Result<SpaceId> {
        let now = self.now();
        let by = actor.require_user()?.clone();
        let untitled = SpaceTitle::cut("Untitled").ok_or_else(|| Error::internal("a constant title fits"))?;
        let record = SpaceRecord {
            id: self.id(),
            organization: org.clone(),
            parent: None,
            rank: None,
            domain,
            title: new.title.clone().unwrap_or(untitled),
            emoji: new.emoji.clone(),
            icon: None,
            edit_mode: new.edit_mode.unwrap_or_default(),
            default_level: DefaultLevel::Inherit,
            created_by: by.clone(),
            created_at: now,
            updated_at: now,
            deleted_at: None,
            purging: false,
            head: self.id(),
            root,
            git: None,
        };
        let id = record.id.clone();
        self.write(actor, &Create { actor: actor.clone(), by, record, copies: None }).await?;
        Ok(id)
    }

    /// Reads a space. A deleted one is shown for seven days, with `deletedAt`.
    ///
    /// # Errors
    /// `NotFound` where there is none, or none the actor may see.
    pub async fn get_space(&self, actor: &Actor, id: &SpaceId) -> Result<Space> {
        let tx = self.read().await?;
        let access = access::any_space(&tx, actor, id).await?;
        self.refuse_expired(access.space())?;
        let mut shown = self.space_views(&tx, std::slice::from_ref(&access)).await?;
        shown.pop().ok_or_else(|| Error::not_found("space"))
    }

    /// Changes a space (SPEC 4.4). What the request leaves out stays.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` without the role `create`; `Invalid` when an emoji and an icon are given.
    pub async fn update_space(&self, actor: &Actor, id: &SpaceId, change: UpdateSpace) -> Result<Space> {
        if matches!((&change.emoji, &change.icon), (Patch::Set(_), Patch::Set(_))) {
            return Err(Error::invalid("icon", "a space has an emoji or an icon, not both"));
        }
        self.write(actor, &Update { actor: actor.clone(), id: id.clone(), change, now: self.now() }).await?;
        self.get_space(actor, id).await
    }

    /// Deletes a space; it can be restored for seven days, then it is removed. Answers whether there was one: a space
    /// that is missing, or that the actor may not see, is none.
    ///
    /// # Errors
    /// `Forbidden` without the role `create`.
    pub async fn delete_space(&self, actor: &Actor, id: &SpaceId) -> Result<bool> {
        let operation = Delete { actor: actor.clone(), id: id.clone(), now: self.now(), job: self.id() };
        match self.write(actor, &operation).await {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            other => other.map(|()| true),
        }
    }

    /// Restores a space that was deleted in the last seven days.
    ///
    /// # Errors
    /// `NotFound` after the window; `Forbidden` without the role `create`; `Conflict` when it is not deleted.
    pub async fn restore_space(&self, actor: &Actor, id: &SpaceId) -> Result<Space> {
        self.write(actor, &Restore { actor: actor.clone(), id: id.clone(), now: self.now() }).await?;
        self.get_space(actor, id).await
    }

    /// Copies the content of a space to a new one in the same organization: no history, comments, change requests or
    /// sites. Costs the same whatever the size of the space.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` without the role `create` on the space and in its organization.
    pub async fn duplicate_space(&self, actor: &Actor, id: &SpaceId) -> Result<Space> {
        let tx = self.read().await?;
        let access = access::space(&tx, actor, id).await?;
        let from = Arc::clone(access.require(SpaceAction::Manage)?.space());
        let now = self.now();
        let by = actor.require_user()?.clone();
        let title = format!("{} (copy)", from.title);
        let record = SpaceRecord {
            id: self.id(),
            title: SpaceTitle::cut(&title).unwrap_or_else(|| from.title.clone()),
            created_by: by.clone(),
            created_at: now,
            updated_at: now,
            rank: None,
            head: self.id(),
            git: None,
            ..SpaceRecord::clone(&from)
        };
        let new = record.id.clone();
        self.write(actor, &Create { actor: actor.clone(), by, record, copies: Some(id.clone()) }).await?;
        self.get_space(actor, &new).await
    }

    fn refuse_expired(&self, space: &SpaceRecord) -> Result<()> {
        match space.deleted_at {
            Some(at) if self.now().time() - at.time() > RESTORE_WINDOW => Err(Error::not_found("space")),
            _ => Ok(()),
        }
    }

    /// Shows spaces of one organization: all their counters and places in two reads.
    pub(super) async fn space_views(&self, tx: &Tx, spaces: &[SpaceAccess]) -> Result<Vec<Space>> {
        let mut counters = Vec::with_capacity(spaces.len() * 4);
        for access in spaces {
            let id = &access.space().id;
            counters.push(counter(id.as_str(), "comments"));
            counters.push(ChangeRequestRecord::count_in(id, None));
            counters.push(ChangeRequestRecord::count_in(id, Some(ChangeRequestStatus::Open)));
            counters.push(ChangeRequestRecord::count_in(id, Some(ChangeRequestStatus::Draft)));
        }
        let counts: Vec<u64> =
            tx.numbers(&counters).await?.into_iter().map(|n| u64::try_from(n).unwrap_or(0)).collect();
        let ids: Vec<&SpaceId> = spaces.iter().map(|access| &access.space().id).collect();
        let mut places = self.placements(tx, &ids).await?;
        for (place, access) in places.iter_mut().zip(spaces) {
            // A deleted space is on no published site.
            if access.space().deleted_at.is_some() {
                *place = None;
            }
        }
        Ok(spaces
            .iter()
            .zip(counts.chunks(4))
            .zip(places)
            .map(|((access, counts), place)| self.space_view(access, counts, place.as_ref()))
            .collect())
    }

    fn space_view(&self, access: &SpaceAccess, counts: &[u64], place: Option<&Placement>) -> Space {
        let space = access.space();
        let (location, app) = self.urls().space(&space.id);
        // Whoever may see the collection may see a space in it that inherits.
        let unpublished = match (&space.parent, space.default_level) {
            (Some(_), DefaultLevel::Inherit) => Visibility::InCollection,
            _ => Visibility::Private,
        };
        let visibility = place.map_or(unpublished, |place| place.site.visibility.into());
        let published = place.map(|place| place.url.clone());
        let public = published.clone().filter(|_| visibility == Visibility::Public);
        Space {
            object: SpaceObject::Is,
            id: space.id.clone(),
            title: space.title.clone(),
            emoji: space
                .emoji
                .clone()
                .or_else(|| Emoji::new(NO_EMOJI).ok())
                .unwrap_or_else(|| unreachable!()),
            visibility,
            created_at: space.created_at,
            updated_at: space.updated_at,
            deleted_at: space.deleted_at,
            edit_mode: space.edit_mode,
            urls: SpaceUrls { location, app, published, public, icon: space.icon.clone() },
            organization: space.organization.clone(),
            parent: space.parent.clone(),
            git_sync: space.git.as_ref().map(|git| git.info.clone()),
            revision: space.head.clone(),
            default_level: access.level(),
            comments: counts[0],
            change_requests: counts[1],
            change_requests_open: counts[2],
            change_requests_draft: counts[3],
            permissions: access.permissions(),
        }
    }

    /// One run of the job that removes a deleted space for good.
    pub(super) async fn purge_space(&self, purge: &Purge) -> Result<()> {
        loop {
            let step = PurgeStep { purge: purge.clone() };
            if self.write(&Actor::Platform, &step).await? {
                return Ok(());
            }
        }
    }

    /// Removes a deleted space for good, whether or not its window is over: its record, revisions, comments, change
    /// requests and places on sites. The bytes of its content stay in the object store, where other spaces may share them. Only the
    /// platform itself may.
    ///
    /// # Errors
    /// `Forbidden` for users; `NotFound` unless the space is deleted.
    pub async fn purge_deleted_space(&self, actor: &Actor, id: &SpaceId) -> Result<()> {
        platform_only(actor)?;
        let space: Option<Arc<SpaceRecord>> = self.read().await?.get(&SpaceRecord::at(id)).await?;
        let deleted_at =
            space.and_then(|space| space.deleted_at).ok_or_else(|| Error::not_found("deleted space"))?;
        self.purge_space(&Purge { space: id.clone(), deleted_at }).await
    }
}

fn by_row(row: &Key) -> Key {
    KeyBuf::new(<SpaceRecord as crate::store::Entity>::KIND).part(&key::last_segment(row)).key()
}

/// The first revision of a space.
fn first_revision(space: &SpaceRecord, by: &UserId) -> RevisionRecord {
    RevisionRecord {
        id: space.head.clone(),
        space: space.id.clone(),
        parents: Vec::new(),
        root: space.root,
        kind: RevisionKind::Edits,
        created_at: space.created_at,
        by: by.clone(),
        git: None,
        conflicts: Vec::new(),
    }
}

/// Stores a new space with its first revision.
pub(super) fn create_in(tx: &mut Tx, record: SpaceRecord, by: &UserId) -> Arc<SpaceRecord> {
    tx.create(first_revision(&record, by));
    tx.feed(topic::HEAD, KeyBuf::new("head").part(record.id.as_str()).key());
    tx.create(record)
}

/// Makes a new revision the active one of a space.
pub(super) fn move_head(tx: &mut Tx, proof: &SpaceProof, revision: RevisionRecord) -> Result<()> {
    let space = proof.space();
    let new = SpaceRecord {
        head: revision.id.clone(),
        root: revision.root,
        updated_at: later(revision.created_at, space.updated_at),
        ..SpaceRecord::clone(space)
    };
    move_head_to(tx, proof, new, revision)
}

/// Makes a new revision the active one of a space, with other changes of the space beside it.
pub(super) fn move_head_to(
    tx: &mut Tx,
    proof: &SpaceProof,
    new: SpaceRecord,
    revision: RevisionRecord,
) -> Result<()> {
    tx.feed(topic::HEAD, KeyBuf::new("head").part(new.id.as_str()).key());
    tx.create(revision);
    tx.put(&**proof.space(), new)?;
    Ok(())
}

struct Create {
    actor: Actor,
    by: UserId,
    record: SpaceRecord,
    /// The space whose content it has.
    copies: Option<SpaceId>,
}

#[async_trait]
impl Operation for Create {
    type Out = RevisionId;
    const NAME: &'static str = "space_create";

    async fn apply(&self, tx: &mut Tx) -> Result<RevisionId> {
        let mut record = self.record.clone();
        let org = access::org(tx, &self.actor, &record.organization).await?;
        org.require(OrgAction::CreateContent)?;
        if let Some(from) = &self.copies {
            // The source is read again here, so that the copy is of content that was live when it was made.
            let from = access::space(tx, &self.actor, from).await?.require(SpaceAction::Manage)?;
            record.root = from.space().root;
            record.domain = from.space().domain.clone();
        } else if record.domain != org.org().domain {
            return Err(Error::conflict("the organization has changed; try again"));
        }
        Ok(create_in(tx, record, &self.by).head.clone())
    }
}

struct Update {
    actor: Actor,
    id: SpaceId,
    change: UpdateSpace,
    now: Timestamp,
}

#[async_trait]
impl Operation for Update {
    type Out = ();
    const NAME: &'static str = "space_update";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let access = access::space(tx, &self.actor, &self.id).await?;
        let proof = access.require(SpaceAction::Manage)?;
        let old = proof.space();
        let change = self.change.clone();
        let mut new = SpaceRecord::clone(old);
        new.edit_mode = change.edit_mode.unwrap_or(new.edit_mode);
        new.title = change.title.unwrap_or(new.title);
        new.default_level = match change.default_level {
            Patch::Keep => new.default_level,
            Patch::Clear => DefaultLevel::Nobody,
            Patch::Set(level) => level.0,
        };
        // An emoji takes the place of an icon, and the other way round.
        if matches!(change.emoji, Patch::Set(_)) {
            new.icon = None;
        }
        if matches!(change.icon, Patch::Set(_)) {
            new.emoji = None;
        }
        new.emoji = change.emoji.apply(new.emoji);
        new.icon = change.icon.apply(new.icon);
        if new != **old {
            new.updated_at = later(self.now, old.updated_at);
            tx.put(&**old, new)?;
        }
        Ok(())
    }
}

struct Delete {
    actor: Actor,
    id: SpaceId,
    now: Timestamp,
    job: JobId,
}

#[async_trait]
impl Operation for Delete {
    type Out = ();
    const NAME: &'static str = "space_delete";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let access = access::space(tx, &self.actor, &self.id).await?;
        let proof = access.require(SpaceAction::Manage)?;
        let old = proof.space();
        let deleted_at = self.now;
        let updated_at = later(self.now, old.updated_at);
        let new = SpaceRecord { deleted_at: Some(deleted_at), updated_at, ..SpaceRecord::clone(old) };
        tx.put(&**old, new)?;
        let payload = Purge { space: self.id.clone(), deleted_at };
        jobs::enqueue(
            tx,
            self.now,
            jobs::NewJob {
                id: self.job.clone(),
                kind: PURGE,
                payload: serde_json::to_value(payload).map_err(Error::internal)?,
                subject: self.id.to_string(),
                lane: None,
                // The window ends when it is over, not as it ends.
                due: Timestamp::new(deleted_at.time() + RESTORE_WINDOW + TimeDelta::milliseconds(1)),
            },
        )
        .await?;
        tx.feed(topic::HEAD, KeyBuf::new("head").part(self.id.as_str()).key());
        Ok(())
    }
}

struct Restore {
    actor: Actor,
    id: SpaceId,
    now: Timestamp,
}

#[async_trait]
impl Operation for Restore {
    type Out = ();
    const NAME: &'static str = "space_restore";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let access = access::any_space(tx, &self.actor, &self.id).await?;
        let proof = access.require(SpaceAction::Manage)?;
        let old = proof.space();
        let Some(deleted_at) = old.deleted_at else {
            return Err(Error::conflict("the space is not deleted"));
        };
        if old.purging || self.now.time() - deleted_at.time() > RESTORE_WINDOW {
            return Err(Error::not_found("space"));
        }
        let new = SpaceRecord {
            deleted_at: None,
            updated_at: later(self.now, old.updated_at),
            ..SpaceRecord::clone(old)
        };
        tx.put(&**old, new)?;
        tx.feed(topic::HEAD, KeyBuf::new("head").part(self.id.as_str()).key());
        Ok(())
    }
}

/// Removes some of what a deleted space has; `Out` tells whether nothing is left.
struct PurgeStep {
    purge: Purge,
}

#[async_trait]
impl Operation for PurgeStep {
    type Out = bool;
    const NAME: &'static str = "space_purge";

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let space: Option<Arc<SpaceRecord>> = tx.get(&SpaceRecord::at(&self.purge.space)).await?;
        // A space that was restored, or deleted again since, is none of this job's business.
        let Some(space) = space.filter(|space| space.deleted_at == Some(self.purge.deleted_at)) else {
            return Ok(true);
        };
        if !space.purging {
            // From here on it cannot be restored, so no restored space misses what is removed next.
            tx.put(&*space, SpaceRecord { purging: true, ..SpaceRecord::clone(&space) })?;
            return Ok(false);
        }
        if self.drop_places(tx, &space).await?
            || self.drop_requests(tx, &space).await?
            || super::comments::drop_some(tx, space.id.as_str()).await?
        {
            return Ok(false);
        }
        let revisions = tx.below(&RevisionRecord::of_space(&space.id), PURGE_CHUNK).await?;
        let left = revisions.len() == PURGE_CHUNK as usize;
        for (row, _) in revisions {
            tx.delete_value(row);
        }
        if left {
            return Ok(false);
        }
        tx.delete_value(ChangeRequestRecord::last_number(&space.id));
        tx.delete(&*space);
        Ok(true)
    }
}

impl PurgeStep {
    async fn drop_places(&self, tx: &mut Tx, space: &SpaceRecord) -> Result<bool> {
        let rows = tx.below(&SiteSpaceRecord::of_space(&space.id), PURGE_CHUNK / 10).await?;
        for (row, _) in &rows {
            let id = key::last_segment(row).parse().map_err(Error::internal)?;
            let place: Option<Arc<SiteSpaceRecord>> = tx.get(&SiteSpaceRecord::at(&id)).await?;
            let Some(place) = place else { continue };
            let site: Option<Arc<SiteRecord>> = tx.get(&SiteRecord::at(&place.site)).await?;
            if let Some(site) = site {
                super::sites::remove_place(tx, &site, &place).await?;
            }
        }
        Ok(!rows.is_empty())
    }

    async fn drop_requests(&self, tx: &mut Tx, space: &SpaceRecord) -> Result<bool> {
        let (from, to) = ChangeRequestRecord::of_space(&space.id).below();
        let rows = tx.scan(&Scan { from, to, rev: false, limit: PURGE_CHUNK / 10 }).await?;
        for (_, value) in &rows {
            let id = crate::store::records::linked_id(value)?;
            let request: Option<Arc<ChangeRequestRecord>> = tx.get(&ChangeRequestRecord::at(&id)).await?;
            if let Some(request) = request {
                if super::reviews::drop_some_of_request(tx, &request).await? {
                    break;
                }
                tx.delete(&*request);
            }
            // A request may have many contributors, each a row.
            if tx.changes() > PURGE_CHUNK as usize {
                break;
            }
        }
        Ok(!rows.is_empty())
    }
}
