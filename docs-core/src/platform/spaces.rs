//! Spaces.

mod duplicate;
mod operations;
mod purge;
mod trash;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use chrono::TimeDelta;

use self::{
    duplicate::DuplicateSpace,
    operations::{RestoreSpace, SpaceCreation, SpaceDeletion, SpaceUpdate},
};
pub(super) use self::{
    purge::PurgeSpace,
    trash::{MarkTrash, is_deleted},
};
use super::{
    Actor, Platform, Right,
    access::{self, AccessResolver},
    emoji::kept_emoji,
    git,
    nouns::{SpaceHandle, Spaces},
    site_settings::SharedLink,
    sites::Placement,
    translations,
    tree::{ContentMove, Reach, Transfer, Walk, Wanted, room_in},
    visitors::Visitor,
};
use crate::{
    BoxFuture, Error, ErrorKind, Result,
    model::{
        ChangeRequestStatus, ContentTarget, CreateSpace, DefaultLevel, Emoji, MoveContent, OrgId, Patch,
        SiteId, SiteVisibility, Space, SpaceId, SpaceObject, SpaceTitle, SpaceType, SpaceUrls, Timestamp,
        TransferContent, UpdateSpace, UserId, Visibility, VisitorAuth, VisitorAuthBackend,
    },
    policy::{OrgAction, SpaceAccess, SpaceAction, SpaceProof},
    store::{
        Hash, Key, KeyBuf, Operation, Page, PageRequest, Tx,
        records::{ChangeRequestRecord, Parent, RevisionRecord, SiteAuthRecord, SpaceRecord, counter},
        topic,
    },
};

/// How long a deleted space can be restored.
pub const RESTORE_WINDOW: TimeDelta = TimeDelta::days(7);
/// What a space without an emoji of its own shows.
const NO_EMOJI: &str = "📘";

impl<'p> Spaces<'p> {
    /// Lists the spaces of an organization that the actor may see, those in collections too, in the order of the tree.
    ///
    /// # Errors
    /// `NotFound` unless the actor is a member; `Invalid` for a wrong page or limit.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::OrgId, platform::Caller, store::PageRequest};
    /// # async fn example(me: Caller<'_>, org: &OrgId) -> Result<()> {
    /// let page = me.org(org).spaces().list(&PageRequest::default()).await?;
    /// for space in &page.items {
    ///     println!("{}", space.title);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn list(self, page: &'p PageRequest) -> BoxFuture<'p, Result<Page<Space>>> {
        Box::pin(async move {
            let Self { caller, org } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            let tx = platform.read().await?;
            let access = access::org(&tx, actor, org).await?;
            // The number of all spaces is for those only who may see them all.
            let count = match access.require(OrgAction::Administrate) {
                Ok(_) => u64::try_from(tx.number(&SpaceRecord::count_in(org)).await?).ok(),
                Err(_) => None,
            };
            let walk = Walk::new(Parent::Top(org), (Wanted::Spaces, Reach::Nested), page)?;
            platform.walked_spaces(&tx, AccessResolver::new(access, actor), walk, count).await
        })
    }

    /// Creates a space with an empty content, behind everything that is where it is created.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` without the role `create` where it is created; `Invalid` for an unknown collection;
    /// `Conflict` when that is full.
    ///
    /// # Example
    /// ```
    /// # use std::sync::Arc;
    /// # use docs_core::{Platform, model::CreateSpace, platform::NewUser};
    /// # use docs_memstore::{MemObjects, MemStore};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let platform = Platform::builder(Arc::new(MemStore::new()), Arc::new(MemObjects::new())).build();
    /// # let ada = NewUser { display_name: "Ada".parse()?, email: "ada@example.com".parse()? };
    /// # let ada = platform.as_platform().users().create(ada).await?;
    /// # let org = platform.as_platform().orgs().create("Engines".parse()?, &ada.id).await?.id;
    /// let new = CreateSpace { title: Some("Manual".parse()?), ..Default::default() };
    /// let space = platform.as_user(&ada.id).org(&org).spaces().create(new).await?;
    /// assert_eq!(&*space.title, "Manual");
    /// # Ok(())
    /// # }
    /// ```
    pub fn create(self, new: CreateSpace) -> BoxFuture<'p, Result<Space>> {
        Box::pin(async move {
            let Self { caller, org } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            let done = platform.once(
                actor,
                Right::CreateIn(org.clone(), new.parent.as_deref().map(Into::into)),
                async move {
                    let domain = {
                        let tx = platform.read().await?;
                        room_in(&tx, actor, org, new.parent.as_deref()).await?;
                        access::org(&tx, actor, org).await?.org().domain.clone()
                    };
                    let storing = platform.storing();
                    let root = platform.content().empty_root(&domain).await?;
                    let record = platform.new_space(actor, org, &new, (domain, root))?;
                    let (actor, id) = (actor.clone(), record.id.clone());
                    let create =
                        SpaceCreation { by: record.created_by.clone(), record, parent: new.parent, actor };
                    platform.require_stored(storing)?;
                    platform.write_space(&create.actor, &create, &id).await
                },
            );
            done.await
        })
    }
}

impl<'p> SpaceHandle<'p> {
    /// Reads a space. A deleted one is shown for as long as it can be restored, with `deletedAt`.
    ///
    /// # Errors
    /// `NotFound` where there is none, or none the actor may see.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::SpaceId, platform::Caller};
    /// # async fn example(me: Caller<'_>, space: &SpaceId) -> Result<()> {
    /// let space = me.space(space).get().await?;
    /// println!("{}", space.title);
    /// # Ok(())
    /// # }
    /// ```
    pub fn get(self) -> BoxFuture<'p, Result<Space>> {
        self.get_shared(None)
    }

    /// Reads a space with the key of a share link of the site that publishes it: its address leads through the link.
    ///
    /// # Errors
    /// As [`SpaceHandle::get`](crate::platform::SpaceHandle::get).
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::SpaceId, platform::Caller};
    /// # async fn example(me: Caller<'_>, space: &SpaceId, key: &str) -> Result<()> {
    /// let space = me.space(space).get_shared(Some(key)).await?;
    /// println!("read it at {:?}", space.urls.published);
    /// # Ok(())
    /// # }
    /// ```
    pub fn get_shared(self, share_key: Option<&'p str>) -> BoxFuture<'p, Result<Space>> {
        Box::pin(async move {
            let Self { caller, space: id } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            let tx = platform.read().await?;
            let mut space = platform.space_for(&tx, actor, (id, share_key)).await?;
            SharedLink::find(platform, &tx, share_key).await?.lead_space(&mut space);
            Ok(space)
        })
    }

    /// Changes a space. What the request leaves out stays.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` without the role `create`, and for a level above the actor's role; `Precondition` for a
    /// level that would hide it from the actor; `Invalid` when an emoji and an icon are given.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{model::{SpaceId, UpdateSpace}, platform::Caller};
    /// # async fn example(me: Caller<'_>, space: &SpaceId) -> Result<(), Box<dyn std::error::Error>> {
    /// let change = UpdateSpace { title: Some("Manual".parse()?), ..Default::default() };
    /// let space = me.space(space).update(change).await?;
    /// println!("{}", space.title);
    /// # Ok(())
    /// # }
    /// ```
    pub fn update(self, change: UpdateSpace) -> BoxFuture<'p, Result<Space>> {
        Box::pin(async move {
            let Self { caller, space: id } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            if matches!((&change.emoji, &change.icon), (Patch::Set(_), Patch::Set(_))) {
                return Err(Error::invalid("icon", "a space has an emoji or an icon, not both"));
            }
            let mut change = change;
            if let Patch::Set(emoji) = &mut change.emoji {
                *emoji = kept_emoji(emoji, "emoji")?;
            }
            let update = SpaceUpdate { actor: actor.clone(), id: id.clone(), change, now: platform.now() };
            platform.write_space(actor, &update, id).await
        })
    }

    /// Deletes a space; it can be restored within [`RESTORE_WINDOW`], then it is removed. Answers whether there was
    /// one: a space that is missing, or that the actor may not see, is none.
    ///
    /// # Errors
    /// `Forbidden` without the role `create`.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::SpaceId, platform::Caller};
    /// # async fn example(me: Caller<'_>, space: &SpaceId) -> Result<()> {
    /// if me.space(space).delete().await? {
    ///     println!("deleted; it can still be restored");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn delete(self) -> BoxFuture<'p, Result<bool>> {
        Box::pin(async move {
            let Self { caller, space: id } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            let operation = SpaceDeletion {
                actor: actor.clone(),
                id: id.clone(),
                now: platform.now(),
                job: platform.id(),
                mark: platform.id(),
            };
            let done = platform
                .change(actor, &operation, |seen| Box::pin(platform.space_for(seen.tx, actor, (id, None))));
            Error::existed(done.await)
        })
    }

    /// Restores a space that was deleted, within [`RESTORE_WINDOW`].
    ///
    /// # Errors
    /// `NotFound` after the window; `Forbidden` without the role `create`; `Conflict` when it is not deleted, or its
    /// collection is full by now.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::SpaceId, platform::Caller};
    /// # async fn example(me: Caller<'_>, space: &SpaceId) -> Result<()> {
    /// let space = me.space(space).restore().await?;
    /// assert_eq!(space.deleted_at, None);
    /// # Ok(())
    /// # }
    /// ```
    pub fn restore(self) -> BoxFuture<'p, Result<Space>> {
        Box::pin(async move {
            let Self { caller, space: id } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            let (now, mark, sync) = (platform.now(), platform.id(), platform.id());
            let restore = RestoreSpace { actor: actor.clone(), id: id.clone(), now, mark, sync };
            platform.write_space(actor, &restore, id).await
        })
    }

    /// Copies the content of a space to a new one, right behind it: no history, comments, change requests, roles by
    /// name or sites. Whoever makes the copy has the same role on it as on the space. Costs the same whatever the size
    /// of the space.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` without the role `create` on the space and where it lies; `Conflict` when the collection
    /// is full.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::SpaceId, platform::Caller};
    /// # async fn example(me: Caller<'_>, space: &SpaceId) -> Result<()> {
    /// let copy = me.space(space).duplicate().await?;
    /// println!("{} is a copy", copy.id);
    /// # Ok(())
    /// # }
    /// ```
    pub fn duplicate(self) -> BoxFuture<'p, Result<Space>> {
        Box::pin(async move {
            let Self { caller, space: id } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            let done = platform.once(actor, Right::Space(id.clone(), SpaceAction::Manage), async move {
                let by = actor.require_user()?.clone();
                let (of, id, head) = (id.clone(), platform.id(), platform.id());
                let copy = DuplicateSpace { actor: actor.clone(), by, of, id, head, now: platform.now() };
                platform.write_space(actor, &copy, &copy.id).await
            });
            done.await
        })
    }

    /// Moves a space to a collection, to the top of its organization, or to another position where it is.
    /// Without a position it comes to lie behind everything else.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` without the role `create` on it, where it lies and where it goes; `Invalid` for a
    /// request that says nothing, or names what is not there; `Conflict` for a collection of another organization, or
    /// one that is full.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{CollectionId, MoveContent, Patch, SpaceId}, platform::Caller};
    /// # async fn example(me: Caller<'_>, space: &SpaceId, collection: &CollectionId) -> Result<()> {
    /// let into = MoveContent { parent: Patch::Set(collection.to_string()), ..Default::default() };
    /// let moved = me.space(space).move_to(into).await?;
    /// assert_eq!(moved.parent.as_ref(), Some(collection));
    /// # Ok(())
    /// # }
    /// ```
    pub fn move_to(self, request: MoveContent) -> BoxFuture<'p, Result<Space>> {
        Box::pin(async move {
            let Self { caller, space: id } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            let moved = ContentMove::new(actor, ContentTarget::Space(id.clone()), request, platform.now())?;
            platform.write_space(actor, &moved, id).await
        })
    }

    /// Gives a space to another organization, where it lies at the top. Roles that somebody has on it by
    /// name end.
    ///
    /// # Errors
    /// `NotFound`, for the other organization too; `Forbidden` without the role `create` in both; `Conflict` when it
    /// is there already; `Precondition` when the space is deleted, on a site, translated or being imported.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{OrgId, SpaceId, TransferContent}, platform::Caller};
    /// # async fn example(me: Caller<'_>, space: &SpaceId, other: &OrgId) -> Result<()> {
    /// let request = TransferContent { organization: other.to_string() };
    /// let space = me.space(space).transfer(request).await?;
    /// assert_eq!(&space.organization, other);
    /// # Ok(())
    /// # }
    /// ```
    pub fn transfer(self, request: TransferContent) -> BoxFuture<'p, Result<Space>> {
        Box::pin(async move {
            let Self { caller, space: id } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            let child = ContentTarget::Space(id.clone());
            let to = request.organization;
            let transfer = Transfer { actor: actor.clone(), child, to, now: platform.now() };
            platform.write_space(actor, &transfer, id).await
        })
    }
}

impl Platform {
    /// Runs a write, and answers with a space as the write leaves it.
    async fn write_space<O: Operation>(&self, actor: &Actor, operation: &O, id: &SpaceId) -> Result<Space> {
        self.change_and_show(actor, operation, |done| Box::pin(self.space_for(done.tx, actor, (id, None))))
            .await
    }

    /// A new space with this content.
    pub(super) fn new_space(
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
            emoji: new.emoji.as_ref().map(|emoji| kept_emoji(emoji, "emoji")).transpose()?,
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
            revisions: 1,
            git: None,
            git_sync: None,
            language: None,
            translations: 0,
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
        let visitor_auth = visitor_auth(tx, places.iter().flatten()).await?;
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
            .map(|((access, counts), place)| Space {
                visitor_auth: place.as_ref().and_then(|place| visitor_auth.get(&place.site.id)).cloned(),
                ..self.space_view(access, counts, place.as_ref())
            })
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
            kind: SpaceType::Is,
            title: space.title.clone(),
            emoji: shown_emoji(space),
            visibility,
            created_at: space.created_at,
            updated_at: space.updated_at,
            deleted_at: space.deleted_at,
            restorable_until: space.deleted_at.map(|at| Timestamp::new(at.time() + RESTORE_WINDOW)),
            edit_mode: space.edit_mode,
            urls: SpaceUrls { location, app, published, public, icon: space.icon.clone() },
            organization: space.organization.clone(),
            parent: space.parent.clone(),
            git_sync: space.git.as_ref().map(|git| git.info.clone()),
            visitor_auth: None,
            revision: space.head.clone(),
            default_level: access.level().stated(),
            comments: counts[0],
            change_requests: counts[1],
            change_requests_open: counts[2],
            change_requests_draft: counts[3],
            permissions: access.permissions(),
        }
    }
}

/// How visitors prove who they are on those of these sites that are for authenticated visitors.
async fn visitor_auth(
    tx: &Tx,
    places: impl Iterator<Item = &Placement>,
) -> Result<BTreeMap<SiteId, VisitorAuth>> {
    let closed = places.filter(|place| place.site.visibility == SiteVisibility::VisitorAuth);
    let sites: BTreeSet<&SiteId> = closed.map(|place| &place.site.id).collect();
    let keys: Vec<Key> = sites.iter().map(|site| SiteAuthRecord::at(site)).collect();
    let records = tx.get_many::<SiteAuthRecord>(&keys).await?;
    let shown = sites.into_iter().zip(records).filter_map(|(site, record)| {
        let auth = match record {
            Some(record) if record.backend == VisitorAuthBackend::Integration => {
                VisitorAuth::Integration { integration: record.integration.clone()? }
            }
            _ => VisitorAuth::Custom,
        };
        Some((site.clone(), auth))
    });
    Ok(shown.collect())
}

/// The emoji that a space shows.
fn shown_emoji(space: &SpaceRecord) -> Emoji {
    space.emoji.clone().or_else(|| Emoji::new(NO_EMOJI).ok()).unwrap_or_else(|| unreachable!())
}

/// The first revision of a space.
fn first_revision(space: &SpaceRecord, by: &UserId) -> RevisionRecord {
    let (head, id) = (space.head.clone(), space.id.clone());
    RevisionRecord {
        number: Some(1),
        ..RevisionRecord::new(head, id, space.root, space.created_at, by.clone())
    }
}

/// Stores a new space with its first revision.
pub(super) fn create_in(tx: &mut Tx, record: SpaceRecord, by: &UserId) -> Arc<SpaceRecord> {
    let record = SpaceRecord { revisions: 1, ..record };
    tx.create(first_revision(&record, by));
    tx.feed(topic::HEAD, KeyBuf::new("head").part(record.id.as_str()).key());
    tx.create(record)
}

/// Makes a new revision the active one of a space.
pub(super) async fn move_head(tx: &mut Tx, proof: &SpaceProof, revision: RevisionRecord) -> Result<()> {
    let space = proof.space();
    let new = SpaceRecord {
        head: revision.id.clone(),
        root: revision.root,
        updated_at: revision.created_at.later_than(space.updated_at),
        ..SpaceRecord::clone(space)
    };
    move_head_to(tx, proof, new, revision).await
}

/// Makes a new revision the active one of a space, with other changes of the space beside it. A repository that follows
/// the space is brought in step.
pub(super) async fn move_head_to(
    tx: &mut Tx,
    proof: &SpaceProof,
    new: SpaceRecord,
    revision: RevisionRecord,
) -> Result<()> {
    tx.feed(topic::HEAD, KeyBuf::new("head").part(new.id.as_str()).key());
    let number = proof.space().revisions + 1;
    let revision = tx.create(RevisionRecord { number: Some(number), ..revision });
    let space = tx.put(&**proof.space(), SpaceRecord { revisions: number, ..new })?;
    git::follow(tx, &space, &revision).await?;
    translations::follow_source(tx, &space, &revision).await
}
