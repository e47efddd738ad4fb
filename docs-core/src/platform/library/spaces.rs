//! Operations on spaces.

mod duplicate;
pub(in crate::platform) mod operations;

mod trash;

use std::sync::Arc;

use docs_macros::boxed;

use self::operations::{restore_space, space_creation, space_deletion, space_update};
pub(in crate::platform) use self::{duplicate::DuplicateSpace, trash::MarkTrash};
use crate::{
    BoxFuture, Error, ErrorKind, Result,
    model::{
        ContentTarget, CreateSpace, DefaultLevel, ListOrder, MemberSpace, MoveContent, OrgId, Patch, Space,
        SpaceId, SpaceMergeRules, SpaceTitle, TransferContent, UpdateSpace,
    },
    platform::{
        access::{self, AccessResolver},
        kernel::{
            actor::{Actor, Visitor},
            emoji::normalize_emoji,
            platform::Platform,
            request::Right,
            write_window::WriteWindow,
        },
        library::{
            head::RESTORE_WINDOW,
            tree::{ContentMove, Transfer, TreeWalk, resolve_parent},
        },
        nouns::{
            MemberHandle, SpaceHandle, Spaces,
            filters::{ContentKind, Reach},
            list_identities,
        },
        people::members::find,
        publishing::share_links::SharedLink,
    },
    policy::{OrgAccess, OrgAction, SpaceAction},
    store::{
        Entity as _, Hash, Key, ListSpec, Lister, Operation, Page, PageRequest, Tx,
        records::{Parent, SpaceRecord},
    },
};

impl<'p> Spaces<'p> {
    /// Lists the spaces of an organization that the actor has access to, including those in collections, in tree
    /// order.
    ///
    /// # Errors
    ///
    /// `NotFound` unless the actor is a member.
    #[boxed]
    pub async fn list(self, page: &'p PageRequest) -> Result<Page<Space>> {
        let (platform, ref actor, org) = self.parts();
        let tx = platform.read().await?;
        let access = access::org(&tx, actor, org).await?;
        // The total count is returned only to actors with access to all spaces.
        let count = match access.require(OrgAction::Administrate) {
            Ok(_) => u64::try_from(tx.number(&SpaceRecord::count_in(org)).await?).ok(),
            Err(_) => None,
        };
        let walk = TreeWalk::new(Parent::Top(org), ContentKind::Spaces, Reach::Nested, page)?;
        platform.walk_spaces(&tx, AccessResolver::new(access, actor), walk, count).await
    }
}

impl<'p> SpaceHandle<'p> {
    /// Reads a space. A deleted space is returned with `deletedAt` as long as it can be restored.
    pub fn get(self) -> BoxFuture<'p, Result<Space>> {
        self.get_shared(None)
    }

    /// Reads a space with the key of a share link of the site that publishes it. The published URL then contains the
    /// key.
    #[boxed]
    pub async fn get_shared(self, share_key: Option<&'p str>) -> Result<Space> {
        let (platform, ref actor, id) = self.parts();
        let tx = platform.read().await?;
        let link = SharedLink::find(platform, &tx, share_key).await?;
        let mut space = platform.shared_space_for(&tx, actor, id, (share_key, &link)).await?;
        link.add_key_to_space(&mut space);
        Ok(space)
    }

    /// Changes a space. Omitted fields stay unchanged.
    ///
    /// # Errors
    ///
    /// `Forbidden` without the `create` role, or for a level above the actor's role; `Precondition` for a level that
    /// would hide the space from the actor; `Invalid` if both an emoji and an icon are given.
    #[boxed]
    pub async fn update(self, change: UpdateSpace) -> Result<Space> {
        let (platform, ref actor, id) = self.parts();
        if matches!((&change.emoji, &change.icon), (Patch::Set(_), Patch::Set(_))) {
            return Err(Error::invalid("icon", "must not be set together with `emoji`"));
        }
        let mut change = change;
        if let Patch::Set(emoji) = &mut change.emoji {
            *emoji = normalize_emoji(emoji, "emoji")?;
        }
        let update = space_update(actor, id, &change, platform.now());
        platform.write_space(actor, &update, id).await
    }

    /// Deletes a space. It can be restored within [`RESTORE_WINDOW`] (7 days) and is purged afterwards. Returns `true`
    /// if the space existed and was visible to the actor.
    ///
    /// # Errors
    ///
    /// `Forbidden` without the `create` role.
    #[boxed]
    pub async fn delete(self) -> Result<bool> {
        let (platform, ref actor, id) = self.parts();
        let (job, marking) = (platform.id(), platform.id());
        let operation = space_deletion(actor, id, platform.now(), &job, &marking);
        let done =
            platform.change(actor, &operation, |seen| Box::pin(platform.space_for(seen.tx, actor, id)));
        Error::ignore_not_found(done.await)
    }

    /// Restores a deleted space within [`RESTORE_WINDOW`].
    ///
    /// # Errors
    ///
    /// `NotFound` after the window; `Forbidden` without the `create` role; `Conflict` if the space is not deleted, or
    /// its collection is full.
    #[boxed]
    pub async fn restore(self) -> Result<Space> {
        let (platform, ref actor, id) = self.parts();
        let (now, mark, sync) = (platform.now(), platform.id(), platform.id());
        let restore = restore_space(actor, id, now, &mark, &sync);
        platform.write_space(actor, &restore, id).await
    }

    /// Copies the content of a space to a new space directly after it. History, comments, change requests, grants and
    /// sites are not copied. The actor gets the same role on the copy as on the original. The cost is independent of
    /// the size of the space.
    ///
    /// # Errors
    ///
    /// `Forbidden` without the `create` role on the space and its parent; `Conflict` if the collection is full.
    #[boxed]
    pub async fn duplicate(self) -> Result<Space> {
        let (platform, ref actor, id) = self.parts();
        let done = platform.idempotent(actor, Right::Space(id.clone(), SpaceAction::Manage), async move {
            let by = actor.require_user()?.clone();
            let (of, id, head) = (id.clone(), platform.id(), platform.id());
            let copy = DuplicateSpace { actor: actor.clone(), by, of, id, head, now: platform.now() };
            platform.write_space(actor, &copy, &copy.id).await
        });
        done.await
    }

    /// Moves a space to a collection, to the top level of its organization, or within its parent. Without a position,
    /// it becomes the last child.
    ///
    /// # Errors
    ///
    /// `Forbidden` without the `create` role on the space and on its old and new parents; `Invalid` for an empty
    /// request or an unknown target; `Conflict` if the collection belongs to another organization or is full.
    #[boxed]
    pub async fn move_to(self, request: MoveContent) -> Result<Space> {
        let (platform, ref actor, id) = self.parts();
        let moved = ContentMove::new(actor, ContentTarget::Space(id.clone()), request, platform.now())?;
        platform.write_space(actor, &moved, id).await
    }

    /// Transfers a space to the top level of another organization. Grants on it are removed.
    ///
    /// # Errors
    ///
    /// `NotFound`, also for the other organization; `Forbidden` without the `create` role in both; `Conflict` if the
    /// space already belongs to that organization; `Precondition` if the space is deleted, on a site, translated or
    /// being imported.
    #[boxed]
    pub async fn transfer(self, request: TransferContent) -> Result<Space> {
        let (platform, ref actor, id) = self.parts();
        let child = ContentTarget::Space(id.clone());
        let to = request.organization;
        let transfer = Transfer { actor: actor.clone(), child, to, now: platform.now() };
        platform.write_space(actor, &transfer, id).await
    }
}

impl Platform {
    /// Runs a write and returns the updated space.
    async fn write_space<O: Operation>(&self, actor: &Actor, operation: &O, id: &SpaceId) -> Result<Space> {
        self.change_and_show(actor, operation, |done| Box::pin(self.space_for(done.tx, actor, id))).await
    }

    /// Returns the storage domain of a new space, if the actor may create it there.
    pub(in crate::platform) async fn new_space_domain(
        &self,
        actor: &Actor,
        org: &OrgId,
        new: &CreateSpace,
    ) -> Result<String> {
        let tx = self.read().await?;
        resolve_parent(&tx, actor, org, new.parent.as_deref()).await?;
        Ok(access::org(&tx, actor, org).await?.org().domain.clone())
    }

    /// Creates a space with stored content as the last child of its parent.
    pub(in crate::platform) async fn create_space(
        &self,
        actor: &Actor,
        new: &CreateSpace,
        record: &SpaceRecord,
        storing: WriteWindow,
    ) -> Result<Space> {
        let create = space_creation(actor, &record.created_by, record, new.parent.as_deref());
        self.check_write_window(storing)?;
        self.write_space(actor, &create, &record.id).await
    }

    /// Builds a new space with this content.
    pub(in crate::platform) fn new_space(
        &self,
        actor: &Actor,
        org: &OrgId,
        new: &CreateSpace,
        domain: String,
        root: Hash,
    ) -> Result<SpaceRecord> {
        let now = self.now();
        let by = actor.require_user()?.clone();
        let untitled = SpaceTitle::from_truncated("Untitled").ok_or_else(|| {
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
            emoji: new.emoji.as_ref().map(|emoji| normalize_emoji(emoji, "emoji")).transpose()?,
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
            language: new.language,
            translations: 0,
            merge_rules: SpaceMergeRules::Inherit,
        })
    }

    /// Returns a space as a member or a visitor sees it.
    async fn space_for(&self, tx: &Tx, actor: &Actor, id: &SpaceId) -> Result<Space> {
        self.shared_space_for(tx, actor, id, (None, &SharedLink::default())).await
    }

    /// Returns a space as a member or a visitor with a share key sees it.
    async fn shared_space_for(
        &self,
        tx: &Tx,
        actor: &Actor,
        id: &SpaceId,
        (share_key, link): (Option<&str>, &SharedLink),
    ) -> Result<Space> {
        let visitor = match Visitor::from_actor(actor, share_key) {
            Some(visitor) => visitor,
            None => match access::any_space(tx, actor, id).await {
                Ok(access) => {
                    self.reject_expired(access.space())?;
                    let mut shown =
                        self.space_views_on(tx, std::slice::from_ref(&access), link.site()).await?;
                    return shown.pop().ok_or_else(|| Error::not_found("space"));
                }
                Err(error) if error.kind() == ErrorKind::NotFound => Visitor::non_member(share_key),
                Err(error) => return Err(error),
            },
        };
        self.read_visitor_space(tx, &visitor, id).await
    }

    fn reject_expired(&self, space: &SpaceRecord) -> Result<()> {
        match space.deleted_at {
            Some(at) if self.now().time() - at.time() > RESTORE_WINDOW => Err(Error::not_found("space")),
            _ => Ok(()),
        }
    }
}

impl<'p> MemberHandle<'p> {
    /// Lists the spaces to which a member has access, with the member's role on each, in creation order.
    ///
    /// Members may list their own spaces; administrators, those of any member.
    ///
    /// # Errors
    /// `Forbidden` for other actors.
    #[boxed]
    pub async fn list_spaces(self, order: ListOrder, page: &'p PageRequest) -> Result<Page<MemberSpace>> {
        let (platform, ref actor, org, user) = self.parts();
        let tx = platform.read().await?;
        let access = access::org(&tx, actor, org).await?;
        if actor.user() != Some(user) {
            access.require(OrgAction::Administrate)?;
        }
        let member = find(&tx, org, user).await?;
        let own = OrgAccess::for_member(Some(Arc::clone(access.org())), Some(&*member))?;
        let (mut theirs, mut mine) =
            (AccessResolver::for_user(own, Some(user.clone())), AccessResolver::new(access, actor));
        let rev = order == ListOrder::Desc;
        let spec = ListSpec {
            prefix: SpaceRecord::by_org(org),
            rev,
            identity: list_identities::member_spaces(user),
        };
        let mut list = Lister::new(spec, page)?;
        while let Some(rows) = list.rows(&tx).await? {
            let keys: Vec<Key> = SpaceRecord::named_by_all(&rows);
            let seen = theirs.spaces(&tx, tx.get_many::<SpaceRecord>(&keys).await?).await?;
            list.offer_all(&rows, seen);
        }
        let page = list.finish(&tx, None).await?;
        // The permissions in the views are those of the reader, which differ from the member's if an administrator
        // lists them.
        let records = page.items.iter().map(|space| Some(Arc::clone(space.space()))).collect();
        let seen: Vec<_> = mine.spaces(&tx, records).await?.into_iter().flatten().collect();
        let shown = platform.space_views(&tx, &seen).await?;
        let items = page.items.iter().zip(shown);
        let items = items.map(|(theirs, space)| MemberSpace { permission: theirs.role(), space }).collect();
        Ok(Page { items, next: page.next, count: page.count })
    }
}
