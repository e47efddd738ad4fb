//! Collections, and the tree of collections and spaces.

mod tree;

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use async_trait::async_trait;
use docs_core::{
    Actor, ErrorKind, Result,
    model::{
        Collection, CollectionId, ContentTarget, CreateCollection, CreateLinkInvite, CreateSite, CreateSpace,
        DefaultLevel, Grantee, Level, MoveContent, MovePosition, Neighbour, OrgId, Patch, Role,
        SiteSpacesInput, Space, SpaceId, Timestamp, TransferContent, UpdateCollection, UpdateOrganization,
        UpdateSpace, Visibility,
    },
    platform::{ContentOptions, Reach},
    ports::{Clock, Ids},
    store::{
        AuditMode, Mode, Operation, Page, PageRequest, Receipt, Tx,
        records::{GrantRecord, LinkInviteRecord, SpaceRecord},
        run,
    },
};
use docs_memstore::SeededIds;

use crate::support::{Refused, World, person};

const DAYS_7: Duration = Duration::from_secs(7 * 24 * 3600);

/// Creates another organization with the same administrator.
pub(crate) async fn organization(w: &World, admin: &Actor) -> OrgId {
    let title = "Another organization".parse().expect("a title");
    let user = admin.user().expect("a user");
    w.platform.as_platform().orgs().create(title, user).await.expect("an organization").id
}

fn collection_id(child: &ContentTarget) -> CollectionId {
    child.id().parse().expect("an id")
}

fn space_id(child: &ContentTarget) -> SpaceId {
    child.id().parse().expect("an id")
}

fn neighbour(child: &ContentTarget) -> Neighbour {
    match child {
        ContentTarget::Space(id) => Neighbour::Space { space: id.to_string() },
        ContentTarget::Collection(id) => Neighbour::Collection { collection: id.to_string() },
    }
}

/// Returns all items of a list, read in pages of a given size.
async fn walked<T>(limit: u32, list: impl AsyncFn(PageRequest) -> Result<Page<T>>) -> Vec<T> {
    let (mut items, mut request) = (Vec::new(), PageRequest { page: None, limit: Some(limit) });
    loop {
        let page = list(request.clone()).await.expect("a page");
        assert!(page.items.len() <= limit as usize);
        items.extend(page.items);
        match page.next {
            Some(next) => request.page = Some(next),
            None => return items,
        }
    }
}

async fn collection(w: &World, parent: Option<&CollectionId>) -> Result<Collection> {
    w.clock.advance(Duration::from_millis(1));
    let new = CreateCollection { title: None, parent: parent.map(ToString::to_string) };
    w.as_admin().org(&w.org).collections().create(new).await
}

async fn space(w: &World, parent: Option<&CollectionId>) -> Result<Space> {
    w.clock.advance(Duration::from_millis(1));
    let new = CreateSpace { parent: parent.map(ToString::to_string), ..CreateSpace::default() };
    w.as_admin().org(&w.org).spaces().create(new).await
}

fn into(parent: &CollectionId) -> MoveContent {
    MoveContent { parent: Patch::Set(parent.to_string()), position: None }
}

fn before(space: &SpaceId) -> MoveContent {
    let neighbour = Neighbour::Space { space: space.to_string() };
    let position = MovePosition { before: Some(neighbour), after: None };
    MoveContent { parent: Patch::Keep, position: Some(position) }
}

async fn spaces_of(w: &World, actor: &Actor) -> Vec<SpaceId> {
    let list = async |page: PageRequest| w.platform.as_actor(actor).org(&w.org).spaces().list(&page).await;
    walked(1_000, list).await.into_iter().map(|space| space.id).collect()
}

/// Grants a member an explicit role.
struct Grant(GrantRecord);

#[async_trait]
impl Operation for Grant {
    type Output = ();
    const NAME: &'static str = "test_grant";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        tx.create(self.0.clone());
        Ok(())
    }
}

async fn grant(w: &World, content: ContentTarget, actor: &Actor, role: Role) {
    let record = GrantRecord {
        organization: w.org.clone(),
        content: content.into(),
        grantee: Grantee::User(actor.user().expect("a user").clone()),
        role,
        granted_at: Timestamp::new(w.clock.now()),
        space_deleted: false,
    };
    let seed = w.clock.now().timestamp_millis().unsigned_abs();
    let receipt =
        Receipt { at: w.clock.now(), id: SeededIds::new(seed).next(), logged: AuditMode::Unaudited };
    w.clock.advance(Duration::from_millis(1));
    run(w.platform.store(), &receipt, &Grant(record)).await.expect("granted");
}

async fn hide(w: &World, id: &CollectionId) {
    let change = UpdateCollection { default_level: Patch::Clear, ..UpdateCollection::default() };
    let hidden = w.as_admin().collection(id).update(change).await.expect("hidden");
    assert_eq!(hidden.default_level, None);
}

#[tokio::test]
async fn inheriting_space_is_visible_to_readers_of_its_collection() {
    let w = World::new().await;
    let (reader, guest) = (w.member("Rob", Some(Role::Read)).await, w.member("Gus", None).await);
    let outer = collection(&w, None).await.expect("created").id;
    let inner = collection(&w, Some(&outer)).await.expect("created").id;
    let inside = space(&w, Some(&inner)).await.expect("created");
    assert_eq!((inside.visibility, inside.parent), (Visibility::InCollection, Some(inner.clone())));
    let beside = space(&w, None).await.expect("created").id;
    hide(&w, &outer).await;
    assert_eq!(spaces_of(&w, &reader).await, [beside]);
    assert_eq!(spaces_of(&w, &guest).await, []);
    grant(&w, ContentTarget::Collection(inner.clone()), &guest, Role::Comment).await;
    assert_eq!(spaces_of(&w, &guest).await, std::slice::from_ref(&inside.id));
    let shown = w.platform.as_actor(&guest).space(&inside.id).get().await.expect("seen");
    assert!(shown.permissions.comment && !shown.permissions.edit);
    assert_eq!(shown.default_level, Some(Level::Inherit), "what is set is shown to whoever sees it");
    w.platform.as_actor(&guest).collection(&outer).get().await.refused(ErrorKind::NotFound);
    w.platform.as_actor(&reader).space(&inside.id).get().await.refused(ErrorKind::NotFound);
    let page = PageRequest::default();
    w.platform.as_actor(&reader).collection(&inner).list_spaces(&page).await.refused(ErrorKind::NotFound);
    for reach in [Reach::Nested, Reach::Direct] {
        let list =
            w.platform.as_actor(&reader).org(&w.org).collections().list(reach, &page).await.expect("listed");
        assert_eq!((list.items.len(), list.count), (0, None), "a count would tell that there is something");
    }
    let seen = w
        .platform
        .as_actor(&guest)
        .org(&w.org)
        .collections()
        .list(Reach::Nested, &page)
        .await
        .expect("listed");
    assert_eq!(seen.items.iter().map(|seen| &seen.id).collect::<Vec<_>>(), [&inner]);
    let level = Patch::Set(Level::Role(Role::Read));
    let change = UpdateSpace { default_level: level, ..UpdateSpace::default() };
    let changed = w.as_admin().space(&inside.id).update(change).await.expect("changed");
    assert_eq!(changed.visibility, Visibility::Private, "it goes its own way now");
}

#[tokio::test]
async fn create_role_on_a_collection_applies_inside_it_only() {
    let w = World::new().await;
    let guest = w.member("Gus", None).await;
    let mine = collection(&w, None).await.expect("created").id;
    let other = collection(&w, None).await.expect("created").id;
    grant(&w, ContentTarget::Collection(mine.clone()), &guest, Role::Create).await;
    let p = &w.platform;
    let inside =
        |parent: &CollectionId| CreateSpace { parent: Some(parent.to_string()), ..CreateSpace::default() };
    let new = p.as_actor(&guest).org(&w.org).spaces().create(inside(&mine)).await.expect("created").id;
    p.as_actor(&guest).org(&w.org).spaces().create(inside(&other)).await.refused(ErrorKind::Invalid);
    p.as_actor(&guest)
        .org(&w.org)
        .spaces()
        .create(CreateSpace::default())
        .await
        .refused(ErrorKind::Forbidden);
    let copy = p.as_actor(&guest).space(&new).duplicate().await.expect("copied");
    assert_eq!(copy.parent, Some(mine.clone()));
    p.as_actor(&guest).space(&copy.id).move_to(before(&new)).await.expect("moved where it is");
    let top = MoveContent { parent: Patch::Clear, position: None };
    p.as_actor(&guest).space(&copy.id).move_to(top).await.refused(ErrorKind::Forbidden);
    p.as_actor(&guest).collection(&mine).move_to(into(&other)).await.refused(ErrorKind::Forbidden);
    p.as_actor(&guest).collection(&mine).delete().await.refused(ErrorKind::Forbidden);
    let list = async |page: PageRequest| p.as_actor(&guest).collection(&mine).list_spaces(&page).await;
    let shown: Vec<SpaceId> = walked(1, list).await.into_iter().map(|space| space.id).collect();
    assert_eq!(shown, [copy.id, new]);
    w.check().await;
}

/// A space whose collection was deleted in the meantime is restored at the former position of the collection.
#[tokio::test]
async fn deleted_space_is_restorable_within_the_restore_window() {
    let w = World::new().await;
    for (wait, restored) in [(DAYS_7, true), (DAYS_7 + Duration::from_millis(1), false)] {
        let outer = collection(&w, None).await.expect("created").id;
        let inner = collection(&w, Some(&outer)).await.expect("created").id;
        let first = space(&w, Some(&inner)).await.expect("created").id;
        let gone = space(&w, Some(&inner)).await.expect("created").id;
        let last = space(&w, Some(&inner)).await.expect("created").id;
        assert!(w.as_admin().space(&gone).delete().await.expect("deleted"));
        assert!(w.as_admin().collection(&inner).delete().await.expect("deleted"));
        assert!(!w.as_admin().collection(&inner).delete().await.expect("a second time"));
        w.clock.advance(wait);
        let answer = w.as_admin().space(&gone).restore().await;
        w.platform.settle().await.expect("settled");
        let list = async |page: PageRequest| w.as_admin().collection(&outer).list_spaces(&page).await;
        let shown: Vec<SpaceId> = walked(2, list).await.into_iter().map(|space| space.id).collect();
        if restored {
            assert_eq!(answer.expect("restored").parent, Some(outer));
            assert_eq!(shown, [first, gone, last]);
        } else {
            answer.refused(ErrorKind::NotFound);
            assert_eq!(shown, [first, last]);
        }
        w.check().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_moves_never_create_a_cycle() {
    let w = World::new().await;
    for _ in 0..40 {
        let mut ids = Vec::new();
        for _ in 0..3 {
            ids.push(collection(&w, None).await.expect("created").id);
        }
        let mut moves = Vec::new();
        for at in 0..3 {
            let (p, admin) = (w.platform.clone(), w.admin.clone());
            let (what, to) = (ids[at].clone(), into(&ids[(at + 1) % 3]));
            moves.push(tokio::spawn(async move { p.as_actor(&admin).collection(&what).move_to(to).await }));
        }
        let mut refused = 0;
        for done in moves {
            if let Err(error) = done.await.expect("it does not panic") {
                assert_eq!(error.kind(), ErrorKind::Conflict, "{error:?}");
                refused += 1;
            }
        }
        assert_eq!(refused, 1, "the last of the three would close the circle");
        let list =
            async |page: PageRequest| w.as_admin().org(&w.org).collections().list(Reach::Nested, &page).await;
        let seen: BTreeSet<CollectionId> =
            walked(1_000, list).await.into_iter().map(|seen| seen.id).collect();
        assert!(ids.iter().all(|id| seen.contains(id)), "all are reached from the top");
    }
    w.check().await;
}

#[tokio::test]
async fn collections_nest_at_most_ten_levels_deep() {
    let w = World::new().await;
    let mut chain: Vec<CollectionId> = Vec::new();
    for _ in 0..10 {
        chain.push(collection(&w, chain.last()).await.expect("created").id);
    }
    collection(&w, chain.last()).await.refused(ErrorKind::Conflict);
    space(&w, chain.last()).await.expect("spaces lie in the deepest");
    let other = collection(&w, None).await.expect("created").id;
    w.as_admin().collection(&other).move_to(into(&chain[9])).await.refused(ErrorKind::Conflict);
    w.as_admin().collection(&chain[0]).move_to(into(&other)).await.refused(ErrorKind::Conflict);
    w.as_admin().collection(&chain[1]).move_to(into(&other)).await.expect("ten again");
    w.as_admin().collection(&chain[0]).move_to(into(&other)).await.expect("two");
    assert_eq!(spaces_of(&w, &w.admin).await.len(), 1);
    w.check().await;
}

#[tokio::test]
async fn full_collection_is_deleted_with_all_children() {
    let w = World::new().await;
    let outer = collection(&w, None).await.expect("created").id;
    let inner = collection(&w, Some(&outer)).await.expect("created").id;
    let mut inside = Vec::new();
    for _ in 0..500 {
        inside.push(space(&w, Some(&inner)).await.expect("created").id);
    }
    let refused = space(&w, Some(&inner)).await.refused(ErrorKind::Conflict);
    assert!(refused.message().contains("500"), "{refused:?}");
    w.as_admin().space(&inside[0]).duplicate().await.refused(ErrorKind::Conflict);
    collection(&w, Some(&inner)).await.refused(ErrorKind::Conflict);
    let other = space(&w, Some(&outer)).await.expect("created").id;
    w.as_admin().space(&other).move_to(into(&inner)).await.refused(ErrorKind::Conflict);
    let shown = spaces_of(&w, &w.admin).await;
    w.as_admin().collection(&inner).delete().await.refused(ErrorKind::Conflict);
    assert_eq!(shown, spaces_of(&w, &w.admin).await, "nothing moved");
    w.as_admin().space(&other).delete().await.expect("deleted");
    w.as_admin().collection(&inner).delete().await.expect("deleted");
    w.as_admin().space(&other).restore().await.refused(ErrorKind::Conflict);
    assert_eq!(spaces_of(&w, &w.admin).await, inside);
    w.as_admin().collection(&outer).delete().await.expect("deleted");
    assert_eq!(spaces_of(&w, &w.admin).await, inside, "at the top there is no such limit");
    w.as_admin().space(&other).restore().await.expect("restored");
    w.check().await;
}

#[tokio::test]
async fn items_created_at_the_same_time_can_be_reordered() {
    let w = World::new().await;
    for _ in 0..25 {
        let new = w.as_admin().org(&w.org).spaces().create(CreateSpace::default());
        new.await.expect("created");
    }
    let mut order = spaces_of(&w, &w.admin).await;
    for n in 0..60_usize {
        let moved = order.remove(n * 7 % order.len());
        let at = n * 11 % order.len();
        w.as_admin().space(&moved).move_to(before(&order[at])).await.expect("moved");
        order.insert(at, moved);
        assert_eq!(spaces_of(&w, &w.admin).await, order);
    }
    w.check().await;
}

/// Inserting repeatedly before the same neighbour, or at the end, always finds a free rank.
#[tokio::test]
async fn repeated_moves_to_the_same_position_find_a_rank() {
    let w = World::new().await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(space(&w, None).await.expect("created").id);
    }
    for n in 0..400 {
        w.as_admin().space(&ids[n % 2]).move_to(before(&ids[2])).await.expect("moved");
    }
    assert_eq!(spaces_of(&w, &w.admin).await, ids);
    let end = || MoveContent { parent: Patch::Clear, position: None };
    for n in 0..400 {
        w.as_admin().space(&ids[n % 3]).move_to(end()).await.expect("moved");
    }
    let new = space(&w, None).await.expect("created").id;
    assert_eq!(spaces_of(&w, &w.admin).await, [ids[1].clone(), ids[2].clone(), ids[0].clone(), new]);
    w.check().await;
}

#[tokio::test]
async fn pagination_during_moves_lists_unmoved_items_once() {
    let w = World::new().await;
    let mut collections = Vec::new();
    let (mut stays, mut moves) = (Vec::new(), Vec::new());
    for n in 0..6 {
        let parent = if n % 3 == 2 { collections.last().cloned() } else { None };
        let id = collection(&w, parent.as_ref()).await.expect("created").id;
        for _ in 0..3 {
            stays.push(space(&w, Some(&id)).await.expect("created").id);
            moves.push(space(&w, Some(&id)).await.expect("created").id);
        }
        stays.push(space(&w, None).await.expect("created").id);
        collections.push(id);
    }
    for limit in [1, 2, 3, 5] {
        let (mut seen, mut request) = (Vec::new(), PageRequest { page: None, limit: Some(limit) });
        for n in 0.. {
            let page = w.as_admin().org(&w.org).spaces().list(&request).await.expect("a page");
            seen.extend(page.items.into_iter().map(|space| space.id));
            let Some(next) = page.next else { break };
            request.page = Some(next);
            // The item at the cursor is moved as well.
            let (moved, to) = (&moves[n * 5 % moves.len()], &collections[n * 7 % collections.len()]);
            w.as_admin().space(moved).move_to(into(to)).await.expect("moved");
            let made = space(&w, Some(to)).await.expect("created").id;
            w.as_admin().space(&made).delete().await.expect("deleted");
        }
        let seen: Vec<SpaceId> = seen.into_iter().filter(|id| stays.contains(id)).collect();
        let all: Vec<SpaceId> = spaces_of(&w, &w.admin).await;
        let expected: Vec<SpaceId> = all.into_iter().filter(|id| stays.contains(id)).collect();
        assert_eq!(seen, expected, "by {limit}");
        assert_eq!(seen.len(), stays.len());
    }
}

async fn domain(w: &World, id: &SpaceId) -> String {
    let tx = Tx::new(w.platform.store().begin(Mode::Read, &[]).await.expect("begins"));
    let space: Option<Arc<SpaceRecord>> = tx.get(&SpaceRecord::key_for(id)).await.expect("read");
    space.expect("there").domain.clone()
}

pub(crate) fn to(org: &OrgId) -> TransferContent {
    TransferContent { organization: org.to_string() }
}

#[tokio::test]
async fn transfer_moves_content_and_drops_roles_by_name() {
    let w = World::new().await;
    let other = organization(&w, &w.admin).await;
    let guest = w.member("Gus", None).await;
    let user = guest.user().expect("a user");
    w.platform.as_platform().org(&other).member(user).put(None).await.expect("a guest of both");
    let whole = collection(&w, None).await.expect("created").id;
    let inner = collection(&w, Some(&whole)).await.expect("created").id;
    let inside = space(&w, Some(&inner)).await.expect("created").id;
    for content in [ContentTarget::Collection(whole.clone()), ContentTarget::Space(inside.clone())] {
        grant(&w, content, &guest, Role::Edit).await;
    }
    let before = domain(&w, &inside).await;
    w.platform.as_actor(&guest).space(&inside).get().await.expect("granted");
    let moved = w.as_admin().collection(&whole).transfer(to(&other)).await.expect("transferred");
    assert_eq!((moved.organization, moved.parent), (other.clone(), None));
    let shown = w.as_admin().space(&inside).get().await.expect("shown");
    assert_eq!((shown.organization, shown.parent), (other.clone(), Some(inner.clone())));
    assert_eq!(domain(&w, &inside).await, before, "its content stays where it is stored");
    let pages = w.as_admin().space(&inside).content().list_pages(ContentOptions::default()).await;
    pages.expect("its content is read");
    w.platform.as_actor(&guest).space(&inside).get().await.refused(ErrorKind::NotFound);
    w.platform.as_actor(&guest).collection(&whole).get().await.refused(ErrorKind::NotFound);
    assert_eq!(spaces_of(&w, &w.admin).await, []);
    w.as_admin().collection(&inner).transfer(to(&w.org)).await.expect("a part goes back");
    assert_eq!(spaces_of(&w, &w.admin).await, std::slice::from_ref(&inside));
    w.as_admin().space(&inside).transfer(to(&other)).await.expect("out of its collection");
    assert_eq!(w.as_admin().space(&inside).get().await.expect("shown").parent, None);
    w.check().await;
}

#[tokio::test]
async fn a_transfer_needs_the_role_create_in_both_organizations() {
    let w = World::new().await;
    let boss = person(&w.platform, "Zoe").await;
    let other = organization(&w, &boss).await;
    let mine = space(&w, None).await.expect("created").id;
    let p = &w.platform;
    w.as_admin().space(&mine).transfer(to(&other)).await.refused(ErrorKind::NotFound);
    p.as_actor(&boss).space(&mine).transfer(to(&other)).await.refused(ErrorKind::NotFound);
    w.as_admin().space(&mine).transfer(to(&w.org)).await.refused(ErrorKind::Conflict);
    let unknown = TransferContent { organization: "no id!".to_owned() };
    w.as_admin().space(&mine).transfer(unknown).await.refused(ErrorKind::NotFound);
    let me = w.admin.user().expect("a user");
    p.as_platform().org(&other).member(me).put(Some(Role::Review)).await.expect("a member");
    w.as_admin().space(&mine).transfer(to(&other)).await.refused(ErrorKind::Forbidden);
    p.as_platform().org(&other).member(me).put(Some(Role::Create)).await.expect("a member");
    // A member who only has an explicit role on the space cannot transfer it.
    let guest = w.member("Gus", None).await;
    grant(&w, ContentTarget::Space(mine.clone()), &guest, Role::Admin).await;
    p.as_platform()
        .org(&other)
        .member(guest.user().expect("a user"))
        .put(Some(Role::Admin))
        .await
        .expect("a member");
    p.as_actor(&guest).space(&mine).transfer(to(&other)).await.refused(ErrorKind::Forbidden);
    w.as_admin().space(&mine).transfer(to(&other)).await.expect("transferred");
    w.check().await;
}

#[tokio::test]
async fn deleted_or_published_content_is_not_transferred() {
    let w = World::new().await;
    let other = organization(&w, &w.admin).await;
    let whole = collection(&w, None).await.expect("created").id;
    let inside = space(&w, Some(&whole)).await.expect("created").id;
    let p = &w.platform;
    let refused = async || {
        let first = w.as_admin().space(&inside).transfer(to(&other)).await.refused(ErrorKind::Precondition);
        w.as_admin().collection(&whole).transfer(to(&other)).await.refused(ErrorKind::Precondition);
        first.message().to_owned()
    };
    w.as_admin().space(&inside).delete().await.expect("deleted");
    assert!(refused().await.contains("deleted"));
    w.as_admin().space(&inside).restore().await.expect("restored");
    let spaces = Some(SiteSpacesInput::Existing(vec![inside.to_string()]));
    let new = CreateSite { spaces, kind: None, title: None, visibility: None, create_space: None };
    let site = w.as_admin().org(&w.org).sites().create(new).await.expect("a site").id;
    assert!(refused().await.contains("part of a site"));
    w.as_admin().org(&w.org).site(&site).delete().await.expect("deleted");
    hide(&w, &whole).await;
    let maker = w.member("Mia", Some(Role::Create)).await;
    grant(&w, ContentTarget::Collection(whole.clone()), &maker, Role::Create).await;
    p.as_platform()
        .org(&other)
        .member(maker.user().expect("a user"))
        .put(Some(Role::Create))
        .await
        .expect("a member");
    let lost =
        p.as_actor(&maker).collection(&whole).transfer(to(&other)).await.refused(ErrorKind::Precondition);
    assert!(lost.message().contains("hide"), "{lost:?}");
    w.as_admin().collection(&whole).transfer(to(&other)).await.expect("transferred");
    w.check().await;
}

#[tokio::test]
async fn collection_with_too_many_descendants_is_not_transferred() {
    let w = World::new().await;
    let other = organization(&w, &w.admin).await;
    let whole = collection(&w, None).await.expect("created").id;
    let inner = collection(&w, Some(&whole)).await.expect("created").id;
    for n in 0..498 {
        space(&w, Some(if n % 2 == 0 { &whole } else { &inner })).await.expect("created");
    }
    let extra = space(&w, Some(&inner)).await.expect("created").id;
    let refused = w.as_admin().collection(&whole).transfer(to(&other)).await;
    assert!(refused.refused(ErrorKind::Precondition).message().contains("500"));
    w.as_admin().space(&extra).transfer(to(&other)).await.expect("transferred");
    w.as_admin().collection(&whole).transfer(to(&other)).await.expect("500 parts");
    assert_eq!(spaces_of(&w, &w.admin).await, []);
    w.check().await;
}

#[tokio::test]
async fn deleting_a_collection_deletes_all_its_grants() {
    let w = World::new().await;
    let id = collection(&w, None).await.expect("created").id;
    for n in 0..120 {
        let member = w.member(&format!("m{n}"), None).await;
        grant(&w, ContentTarget::Collection(id.clone()), &member, Role::Read).await;
    }
    assert!(w.as_admin().collection(&id).delete().await.expect("deleted"));
    w.platform.settle().await.expect("settled");
    let tx = Tx::new(w.platform.store().begin(Mode::Read, &[]).await.expect("begins"));
    let left = tx.scan_prefix(&GrantRecord::by_content(id.as_str()), 1_000).await.expect("read");
    assert_eq!(left.len(), 0);
    w.check().await;
}

fn level(level: DefaultLevel) -> UpdateCollection {
    let default_level = Patch::from(level);
    UpdateCollection { default_level, ..UpdateCollection::default() }
}

#[tokio::test]
async fn default_level_is_equal_for_administrators_and_members() {
    let w = World::new().await;
    let (cat, guest) = (w.member("Cat", Some(Role::Create)).await, w.member("Gus", None).await);
    let outer = collection(&w, None).await.expect("created").id;
    let inner = collection(&w, Some(&outer)).await.expect("created").id;
    let inside = space(&w, Some(&inner)).await.expect("created").id;
    grant(&w, ContentTarget::Collection(inner.clone()), &guest, Role::Edit).await;
    grant(&w, ContentTarget::Collection(outer.clone()), &cat, Role::Create).await;
    let p = &w.platform;
    for set in [DefaultLevel::Role(Role::Comment), DefaultLevel::Nobody] {
        w.as_admin().collection(&outer).update(level(set)).await.expect("changed");
        let seen = p.as_actor(&cat).collection(&outer).get().await.expect("seen");
        assert_eq!(seen.default_level, set.stated());
        let shown = Some(Level::Inherit);
        for reader in [&w.admin, &cat, &guest] {
            assert_eq!(p.as_actor(reader).collection(&inner).get().await.expect("seen").default_level, shown);
            assert_eq!(p.as_actor(reader).space(&inside).get().await.expect("seen").default_level, shown);
            let page = PageRequest::default();
            let listed = p.as_actor(reader).org(&w.org).spaces().list(&page).await.expect("listed").items;
            assert_eq!(listed.iter().map(|space| space.default_level).collect::<Vec<_>>(), [shown]);
        }
    }
}

#[tokio::test]
async fn member_cannot_hide_a_collection_from_themselves() {
    let w = World::new().await;
    let cat = w.member("Cat", Some(Role::Create)).await;
    let id = collection(&w, None).await.expect("created").id;
    let hide = level(DefaultLevel::Nobody);
    let error =
        w.platform.as_actor(&cat).collection(&id).update(hide.clone()).await.refused(ErrorKind::Precondition);
    assert!(error.message().starts_with("defaultLevel: "), "{error}");
    w.platform.as_actor(&cat).collection(&id).get().await.expect("still seen");
    grant(&w, ContentTarget::Collection(id.clone()), &cat, Role::Create).await;
    w.platform
        .as_actor(&cat)
        .collection(&id)
        .update(hide)
        .await
        .expect("who has a role by name still sees it");
}

#[tokio::test]
async fn deleting_a_collection_deletes_all_invite_links_to_it() {
    let w = World::new().await;
    let p = &w.platform;
    let on = UpdateOrganization { invite_links: Some(true), ..UpdateOrganization::default() };
    p.as_actor(&w.admin).org(&w.org).update(on).await.expect("turned on");
    for links in [1, 250] {
        let id = collection(&w, None).await.expect("created").id;
        let new = CreateLinkInvite {
            level: Patch::Set(Role::Read),
            collection: Some(id.to_string()),
            ..CreateLinkInvite::default()
        };
        for _ in 0..links {
            w.as_admin().org(&w.org).invites().create_link(new.clone()).await.expect("a link");
        }
        w.as_admin().collection(&id).delete().await.expect("deleted");
        p.settle().await.expect("settled");
        let tx = Tx::new(p.store().begin(Mode::Read, &[]).await.expect("begins"));
        let left = tx.scan_prefix(&LinkInviteRecord::by_content(id.as_str()), 1).await.expect("read");
        assert_eq!(left.len(), 0, "of {links}");
        w.check().await;
    }
}
