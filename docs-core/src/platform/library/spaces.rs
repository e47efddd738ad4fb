//! Spaces.

mod duplicate;
mod operations;

mod trash;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use chrono::TimeDelta;

pub(in crate::platform) use self::trash::{MarkTrash, is_deleted};
use self::{
    duplicate::DuplicateSpace,
    operations::{RestoreSpace, SpaceCreation, SpaceDeletion, SpaceUpdate},
};
use crate::{
    BoxFuture, Error, ErrorKind, Result,
    model::{
        ChangeRequestStatus, ContentTarget, CreateSpace, DefaultLevel, Emoji, MoveContent, OrgId, Patch,
        SiteId, SiteVisibility, Space, SpaceId, SpaceObject, SpaceTitle, SpaceType, SpaceUrls, Timestamp,
        TransferContent, UpdateSpace, UserId, Visibility, VisitorAuth, VisitorAuthBackend,
    },
    platform::{
        Actor, Platform,
        access::{self, AccessResolver},
        exchange::translations,
        kernel::{emoji::kept_emoji, idempotency::Right},
        library::{
            follow::git,
            tree::{ContentMove, Reach, Transfer, Walk, Wanted, room_in},
        },
        nouns::{SpaceHandle, Spaces},
        publishing::visitors::Visitor,
        sites::{settings::SharedLink, view::Placement},
    },
    policy::{OrgAction, SpaceAccess, SpaceAction, SpaceProof},
    store::{
        Hash, Key, KeyBuf, Operation, Page, PageRequest, Tx,
        records::{ChangeRequestRecord, Parent, RevisionRecord, SiteAuthRecord, SpaceRecord, counter},
        topic,
    },
};

/// The period for restoring a deleted space.
pub const RESTORE_WINDOW: TimeDelta = TimeDelta::days(7);
/// The emoji of a space without one of its own.
const NO_EMOJI: &str = "📘";

impl<'p> Spaces<'p> {
    /// Lists the spaces of an organization that the actor may see, including those in collections, in the order of the
    /// tree.
    ///
    /// # Errors
    ///
    /// `NotFound` unless the actor is a member.
    pub fn list(self, page: &'p PageRequest) -> BoxFuture<'p, Result<Page<Space>>> {
        Box::pin(async move {
            let Self { caller, org } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            let tx = platform.read().await?;
            let access = access::org(&tx, actor, org).await?;
            // The total number is returned only to those who may see all spaces.
            let count = match access.require(OrgAction::Administrate) {
                Ok(_) => u64::try_from(tx.number(&SpaceRecord::count_in(org)).await?).ok(),
                Err(_) => None,
            };
            let walk = Walk::new(Parent::Top(org), (Wanted::Spaces, Reach::Nested), page)?;
            platform.walked_spaces(&tx, AccessResolver::new(access, actor), walk, count).await
        })
    }

    /// Creates a space with empty content, last in its parent.
    ///
    /// # Errors
    ///
    /// `Forbidden` without the role `create` in the parent; `Invalid` for an unknown collection; `Conflict` if the
    /// collection is full.
    ///
    /// # Example
    ///
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
    /// Reads a space. A deleted space is returned with `deletedAt` while it can be restored.
    pub fn get(self) -> BoxFuture<'p, Result<Space>> {
        self.get_shared(None)
    }

    /// Reads a space with the key of a share link of the site that publishes it. Its published address contains the
    /// key.
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

    /// Changes a space. Omitted fields stay unchanged.
    ///
    /// # Errors
    ///
    /// `Forbidden` without the role `create`, and for a level above the actor's role; `Precondition` for a level that
    /// would hide it from the actor; `Invalid` if both an emoji and an icon are given.
    pub fn update(self, change: UpdateSpace) -> BoxFuture<'p, Result<Space>> {
        Box::pin(async move {
            let Self { caller, space: id } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            if matches!((&change.emoji, &change.icon), (Patch::Set(_), Patch::Set(_))) {
                return Err(Error::invalid("icon", "must not be set together with `emoji`"));
            }
            let mut change = change;
            if let Patch::Set(emoji) = &mut change.emoji {
                *emoji = kept_emoji(emoji, "emoji")?;
            }
            let update = SpaceUpdate { actor: actor.clone(), id: id.clone(), change, now: platform.now() };
            platform.write_space(actor, &update, id).await
        })
    }

    /// Deletes a space. It can be restored within [`RESTORE_WINDOW`] (7 days) and is then purged. Returns `true` if
    /// there was a space that the actor may see.
    ///
    /// # Errors
    ///
    /// `Forbidden` without the role `create`.
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

    /// Restores a deleted space within [`RESTORE_WINDOW`].
    ///
    /// # Errors
    ///
    /// `NotFound` after the window; `Forbidden` without the role `create`; `Conflict` if it is not deleted, or its
    /// collection has become full.
    pub fn restore(self) -> BoxFuture<'p, Result<Space>> {
        Box::pin(async move {
            let Self { caller, space: id } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            let (now, mark, sync) = (platform.now(), platform.id(), platform.id());
            let restore = RestoreSpace { actor: actor.clone(), id: id.clone(), now, mark, sync };
            platform.write_space(actor, &restore, id).await
        })
    }

    /// Copies the content of a space to a new space directly after it. History, comments, change requests, grants and
    /// sites are not copied. The actor gets the role on the copy that they have on the original. Cost is independent of
    /// the size of the space.
    ///
    /// # Errors
    ///
    /// `Forbidden` without the role `create` on the space and its parent; `Conflict` if the collection is full.
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

    /// Moves a space to a collection, to the top of its organization, or within its parent. Without a position it
    /// becomes the last.
    ///
    /// # Errors
    ///
    /// `Forbidden` without the role `create` on the space and on its old and new parent; `Invalid` for an empty request
    /// and for unknown targets; `Conflict` for a collection of another organization or a full one.
    pub fn move_to(self, request: MoveContent) -> BoxFuture<'p, Result<Space>> {
        Box::pin(async move {
            let Self { caller, space: id } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            let moved = ContentMove::new(actor, ContentTarget::Space(id.clone()), request, platform.now())?;
            platform.write_space(actor, &moved, id).await
        })
    }

    /// Transfers a space to the top of another organization. Grants on it are removed.
    ///
    /// # Errors
    ///
    /// `NotFound`, also for the other organization; `Forbidden` without the role `create` in both; `Conflict` if the
    /// space belongs to that organization already; `Precondition` if the space is deleted, on a site, translated or
    /// being imported.
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
    /// Runs a write and returns the resulting space.
    async fn write_space<O: Operation>(&self, actor: &Actor, operation: &O, id: &SpaceId) -> Result<Space> {
        self.change_and_show(actor, operation, |done| Box::pin(self.space_for(done.tx, actor, (id, None))))
            .await
    }

    /// Returns a new space with this content.
    pub(in crate::platform) fn new_space(
        &self,
        actor: &Actor,
        org: &OrgId,
        new: &CreateSpace,
        (domain, root): (String, Hash),
    ) -> Result<SpaceRecord> {
        let now = self.now();
        let by = actor.require_user()?.clone();
        let untitled = SpaceTitle::cut("Untitled").ok_or_else(|| {
            Error::internal(
                "the constant title is \
                                                                                  within the limit",
            )
        })?;
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

    /// Returns a space as a member or a visitor sees it.
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

    /// Returns the views of spaces of one organization. All counters and placements take two reads.
    pub(in crate::platform) async fn space_views(
        &self,
        tx: &Tx,
        spaces: &[SpaceAccess],
    ) -> Result<Vec<Space>> {
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

    /// Returns a space as a visitor sees it, without its collection and data about its members.
    pub(in crate::platform) fn space_of_visitor(&self, access: &SpaceAccess, place: &Placement) -> Space {
        Space { parent: None, ..self.space_view(access, &[0; 4], Some(place)) }
    }

    fn space_view(&self, access: &SpaceAccess, counts: &[u64], place: Option<&Placement>) -> Space {
        let space = access.space();
        let (location, app) = self.urls().space(&space.id);
        // A space that inherits its level is visible to everyone who may see the collection.
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

/// Returns the visitor authentication of those sites that are restricted to authenticated visitors.
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
pub(in crate::platform) fn create_in(tx: &mut Tx, record: SpaceRecord, by: &UserId) -> Arc<SpaceRecord> {
    let record = SpaceRecord { revisions: 1, ..record };
    tx.create(first_revision(&record, by));
    tx.feed(topic::HEAD, KeyBuf::new("head").part(record.id.as_str()).key());
    tx.create(record)
}

/// Makes a new revision the head of a space.
pub(in crate::platform) async fn move_head(
    tx: &mut Tx,
    proof: &SpaceProof,
    revision: RevisionRecord,
) -> Result<()> {
    let space = proof.space();
    let new = SpaceRecord {
        head: revision.id.clone(),
        root: revision.root,
        updated_at: revision.created_at.later_than(space.updated_at),
        ..SpaceRecord::clone(space)
    };
    move_head_to(tx, proof, new, revision).await
}

/// Makes a new revision the head of a space together with other changes of the space. Enqueues the synchronization with
/// its repository, and its translations.
pub(in crate::platform) async fn move_head_to(
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
