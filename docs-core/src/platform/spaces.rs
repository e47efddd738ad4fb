//! Spaces.

mod duplicate;
mod purge;

use std::sync::Arc;

use async_trait::async_trait;
use chrono::TimeDelta;

use duplicate::Duplicate;
pub(super) use purge::Purge;

use super::{
    Actor, Platform,
    access::{self, Sight},
    people::later,
    site_settings::SharedLink,
    sites::Placement,
    tree::{Move, Reach, Transfer, Walk, Wanted, check_number, room_in},
    visitors::Visitor,
};
use crate::{
    BoxFuture, Error, ErrorKind, Result,
    model::{
        ChangeRequestStatus, CreateSpace, DefaultLevel, Emoji, JobId, MoveContent, OrgId, Patch, RevisionId,
        Space, SpaceId, SpaceObject, SpaceTitle, SpaceUrls, Timestamp, TransferContent, UpdateSpace, UserId,
        Visibility,
    },
    policy::{OrgAction, SpaceAccess, SpaceAction, SpaceProof},
    store::{
        Hash, KeyBuf, Operation, Page, PageRequest, Tx, jobs,
        records::{ChangeRequestRecord, Child, Place, RevisionKind, RevisionRecord, SpaceRecord, counter},
        topic,
    },
};

/// How long a deleted space can be restored (SPEC 8).
pub const RESTORE_WINDOW: TimeDelta = TimeDelta::days(7);
/// The kind of the job that removes a deleted space for good.
pub(super) const PURGE: &str = "space_purge";
/// What a space without an emoji of its own shows.
const NO_EMOJI: &str = "📘";

impl Platform {
    /// Lists the spaces of an organization that the actor may see, those in collections too, in the order of the tree.
    ///
    /// # Errors
    /// `NotFound` unless the actor is a member; `Invalid` for a wrong page or limit.
    pub fn list_spaces<'a>(
        &'a self,
        actor: &'a Actor,
        org: &'a OrgId,
        page: &'a PageRequest,
    ) -> BoxFuture<'a, Result<Page<Space>>> {
        Box::pin(async move {
            let tx = self.read().await?;
            let access = access::org(&tx, actor, org).await?;
            // The number of all spaces is for those only who may see them all.
            let count = match access.require(OrgAction::Administrate) {
                Ok(_) => u64::try_from(tx.number(&SpaceRecord::count_in(org)).await?).ok(),
                Err(_) => None,
            };
            let walk = Walk::new(Place::Top(org), (Wanted::Spaces, Reach::Nested), page)?;
            self.walked_spaces(&tx, Sight::new(access, actor), walk, count).await
        })
    }

    /// Creates a space with an empty content, behind everything that is where it is created.
    ///
    /// # Errors
    /// `NotFound`, `Forbidden` without the role `create` where it is created; `Invalid` for an unknown collection;
    /// `Conflict` when that is full.
    pub fn create_space<'a>(
        &'a self,
        actor: &'a Actor,
        org: &'a OrgId,
        new: CreateSpace,
    ) -> BoxFuture<'a, Result<Space>> {
        Box::pin(self.once(actor, async move {
            let domain = {
                let tx = self.read().await?;
                room_in(&tx, actor, org, new.parent.as_deref()).await?;
                access::org(&tx, actor, org).await?.org().domain.clone()
            };
            let root = self.content().empty_root(&domain).await?;
            let record = self.new_space(actor, org, &new, (domain, root))?;
            let (actor, id) = (actor.clone(), record.id.clone());
            let create = Create { by: record.created_by.clone(), record, parent: new.parent, actor };
            self.write_space(&create.actor, &create, &id).await
        }))
    }

    /// Runs a write, and answers with a space as the write leaves it.
    async fn write_space<O: Operation>(&self, actor: &Actor, operation: &O, id: &SpaceId) -> Result<Space> {
        self.write_and_show(actor, operation, |done| Box::pin(self.space_for(done.tx, actor, (id, None))))
            .await
    }

    fn new_space(
        &self,
        actor: &Actor,
        org: &OrgId,
        new: &CreateSpace,
        (domain, root): (String, Hash),
    ) -> Result<SpaceRecord> {
        let now = self.now();
        let by = actor.require_user()?.clone();
        let untitled = SpaceTitle::cut("Untitled").ok_or_else(|| Error::internal("a constant title fits"))?;
        Ok(SpaceRecord {
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
            created_by: by,
            created_at: now,
            updated_at: now,
            deleted_at: None,
            purging: false,
            head: self.id(),
            root,
            git: None,
        })
    }

    /// Reads a space. A deleted one is shown for seven days, with `deletedAt`.
    ///
    /// # Errors
    /// `NotFound` where there is none, or none the actor may see.
    pub fn get_space<'a>(&'a self, actor: &'a Actor, id: &'a SpaceId) -> BoxFuture<'a, Result<Space>> {
        Box::pin(async move { self.get_shared_space(actor, id, None).await })
    }

    /// Reads a space. With the key of a share link of the site that publishes it, its address leads through the link.
    ///
    /// # Errors
    /// As [`get_space`](Self::get_space).
    pub fn get_shared_space<'a>(
        &'a self,
        actor: &'a Actor,
        id: &'a SpaceId,
        share_key: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Space>> {
        Box::pin(async move {
            let tx = self.read().await?;
            let mut space = self.space_for(&tx, actor, (id, share_key)).await?;
            SharedLink::find(self, &tx, share_key).await?.lead_space(&mut space);
            Ok(space)
        })
    }

    /// A space as a member or a visitor sees it.
    async fn space_for(
        &self,
        tx: &Tx,
        actor: &Actor,
        (id, share_key): (&SpaceId, Option<&str>),
    ) -> Result<Space> {
        let visitor = match Visitor::of(actor, share_key) {
            Some(visitor) => visitor,
            None => match access::any_space(tx, actor, id).await {
                Ok(access) => {
                    self.refuse_expired(access.space())?;
                    let mut shown = self.space_views(tx, std::slice::from_ref(&access)).await?;
                    return shown.pop().ok_or_else(|| Error::not_found("space"));
                }
                Err(error) if error.kind() == ErrorKind::NotFound => Visitor::stranger(share_key),
                Err(error) => return Err(error),
            },
        };
        self.visited_space(tx, &visitor, id).await
    }

    /// Changes a space (SPEC 4.4). What the request leaves out stays.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` without the role `create`, and for a level above the actor's role; `Precondition` for a
    /// level that would hide it from the actor; `Invalid` when an emoji and an icon are given.
    pub fn update_space<'a>(
        &'a self,
        actor: &'a Actor,
        id: &'a SpaceId,
        change: UpdateSpace,
    ) -> BoxFuture<'a, Result<Space>> {
        Box::pin(async move {
            if matches!((&change.emoji, &change.icon), (Patch::Set(_), Patch::Set(_))) {
                return Err(Error::invalid("icon", "a space has an emoji or an icon, not both"));
            }
            let update = Update { actor: actor.clone(), id: id.clone(), change, now: self.now() };
            self.write_space(actor, &update, id).await
        })
    }

    /// Deletes a space; it can be restored for seven days, then it is removed. Answers whether there was one: a space
    /// that is missing, or that the actor may not see, is none.
    ///
    /// # Errors
    /// `Forbidden` without the role `create`.
    pub fn delete_space<'a>(&'a self, actor: &'a Actor, id: &'a SpaceId) -> BoxFuture<'a, Result<bool>> {
        Box::pin(async move {
            let operation = Delete { actor: actor.clone(), id: id.clone(), now: self.now(), job: self.id() };
            match self.write(actor, &operation).await {
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
                other => other.map(|()| true),
            }
        })
    }

    /// Restores a space that was deleted in the last seven days.
    ///
    /// # Errors
    /// `NotFound` after the window; `Forbidden` without the role `create`; `Conflict` when it is not deleted, or its
    /// collection is full by now.
    pub fn restore_space<'a>(&'a self, actor: &'a Actor, id: &'a SpaceId) -> BoxFuture<'a, Result<Space>> {
        Box::pin(async move {
            let restore = Restore { actor: actor.clone(), id: id.clone(), now: self.now() };
            self.write_space(actor, &restore, id).await
        })
    }

    /// Copies the content of a space to a new one, right behind it: no history, comments, change requests, roles by
    /// name or sites. Whoever makes the copy has the same role on it as on the space. Costs the same whatever the size
    /// of the space.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` without the role `create` on the space and where it lies; `Conflict` when the collection
    /// is full.
    pub fn duplicate_space<'a>(&'a self, actor: &'a Actor, id: &'a SpaceId) -> BoxFuture<'a, Result<Space>> {
        Box::pin(self.once(actor, async move {
            let by = actor.require_user()?.clone();
            let (of, id, head) = (id.clone(), self.id(), self.id());
            let copy = Duplicate { actor: actor.clone(), by, of, id, head, now: self.now() };
            self.write_space(actor, &copy, &copy.id).await
        }))
    }

    /// Moves a space to a collection, to the top of its organization, or to another position where it is (SPEC 4.4).
    /// Without a position it comes to lie behind everything else.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` without the role `create` on it, where it lies and where it goes; `Invalid` for a
    /// request that says nothing, or names what is not there; `Conflict` for a collection of another organization, or
    /// one that is full.
    pub fn move_space<'a>(
        &'a self,
        actor: &'a Actor,
        id: &'a SpaceId,
        request: MoveContent,
    ) -> BoxFuture<'a, Result<Space>> {
        Box::pin(async move {
            let moved = Move::new(actor, Child::Space(id.clone()), request, self.now())?;
            self.write_space(actor, &moved, id).await
        })
    }

    /// Gives a space to another organization, where it lies at the top (SPEC 4.4). Roles that somebody has on it by
    /// name end.
    ///
    /// # Errors
    /// `NotFound`, for the other organization too; `Forbidden` without the role `create` in both; `Conflict` when it
    /// is there already; `Precondition` when the space is deleted, on a site or being imported.
    pub fn transfer_space<'a>(
        &'a self,
        actor: &'a Actor,
        id: &'a SpaceId,
        request: TransferContent,
    ) -> BoxFuture<'a, Result<Space>> {
        Box::pin(async move {
            let child = Child::Space(id.clone());
            let to = request.organization;
            let transfer = Transfer { actor: actor.clone(), child, to, now: self.now() };
            self.write_space(actor, &transfer, id).await
        })
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

    /// A space as a visitor sees it: nothing of who works on it, and what it lies in.
    pub(super) fn space_of_visitor(&self, access: &SpaceAccess, place: &Placement) -> Space {
        Space { parent: None, ..self.space_view(access, &[0; 4], Some(place)) }
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
    /// The collection to create it in, as the request names it.
    parent: Option<String>,
}

#[async_trait]
impl Operation for Create {
    type Out = RevisionId;
    const NAME: &'static str = "space_create";

    async fn apply(&self, tx: &mut Tx) -> Result<RevisionId> {
        let mut record = self.record.clone();
        let org = &record.organization;
        let parent = room_in(tx, &self.actor, org, self.parent.as_deref()).await?;
        if record.domain != access::org(tx, &self.actor, org).await?.org().domain {
            return Err(Error::conflict("the organization has changed; try again"));
        }
        record.parent = parent.map(|parent| parent.id.clone());
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
        let new_level = new.default_level != old.default_level;
        if new != **old {
            new.updated_at = later(self.now, old.updated_at);
            tx.put(&**old, new)?;
        }
        if new_level {
            let after = access::space(tx, &self.actor, &self.id).await;
            let after = after.map(|after| (after.role(), after.level()));
            access::check_level((access.role(), access.level()), after)?;
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
        // When its collection was deleted meanwhile, it came to lie where that lay.
        if let Some(parent) = &old.parent {
            check_number(tx, parent, 1).await?;
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
