//! Collections, and the tree that they and spaces make.

mod tree;

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use async_trait::async_trait;
use docs_core::{
    Actor, ErrorKind, Result,
    model::{
        Collection, CollectionId, CreateCollection, CreateLinkInvite, CreateSite, CreateSpace, DefaultLevel,
        LevelInput, MoveContent, MovePosition, Neighbour, OrgId, Patch, Role, SiteSpacesInput, Space,
        SpaceId, Timestamp, TransferContent, UpdateCollection, UpdateSpace, Visibility,
    },
    platform::{ContentOf, Reach, Shown},
    ports::{Clock, Ids},
    store::{
        Logged, Mode, Operation, Page, PageRequest, Receipt, Tx,
        records::{Child, GrantRecord, Grantee, LinkInviteRecord, SpaceRecord},
        run,
    },
};
use docs_memstore::SeededIds;

use crate::support::{Refused, World, person};

const DAYS_7: Duration = Duration::from_secs(7 * 24 * 3600);

/// Another organization with the same administrator.
async fn organization(w: &World, admin: &Actor) -> OrgId {
    let title = "Another organization".parse().expect("a title");
    let user = admin.user().expect("a user");
    w.platform.create_org(&Actor::Platform, title, user).await.expect("an organization").id
}

fn collection_id(child: &Child) -> CollectionId {
    child.id().parse().expect("an id")
}

fn space_id(child: &Child) -> SpaceId {
    child.id().parse().expect("an id")
}

fn neighbour(child: &Child) -> Neighbour {
    match child {
        Child::Space(id) => Neighbour::Space { space: id.to_string() },
        Child::Collection(id) => Neighbour::Collection { collection: id.to_string() },
    }
}

/// All items of a list, by pages of a size.
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
    w.platform.create_collection(&w.admin, &w.org, new).await
}

async fn space(w: &World, parent: Option<&CollectionId>) -> Result<Space> {
    w.clock.advance(Duration::from_millis(1));
    let new = CreateSpace { parent: parent.map(ToString::to_string), ..CreateSpace::default() };
    w.platform.create_space(&w.admin, &w.org, new).await
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
    let list = async |page: PageRequest| w.platform.list_spaces(actor, &w.org, &page).await;
    walked(1_000, list).await.into_iter().map(|space| space.id).collect()
}

/// Gives a member a role by name.
struct Grant(GrantRecord);

#[async_trait]
impl Operation for Grant {
    type Out = ();
    const NAME: &'static str = "test_grant";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        tx.create(self.0.clone());
        Ok(())
    }
}

async fn grant(w: &World, content: Child, actor: &Actor, role: Role) {
    let record = GrantRecord {
        organization: w.org.clone(),
        content,
        grantee: Grantee::User(actor.user().expect("a user").clone()),
        role,
        granted_at: Timestamp::new(w.clock.now()),
    };
    let seed = w.clock.now().timestamp_millis().unsigned_abs();
    let receipt = Receipt { at: w.clock.now(), id: SeededIds::new(seed).next(), logged: Logged::No };
    w.clock.advance(Duration::from_millis(1));
    run(w.platform.store(), &receipt, &Grant(record)).await.expect("granted");
}

async fn hide(w: &World, id: &CollectionId) {
    let change = UpdateCollection { default_level: Patch::Clear, ..UpdateCollection::default() };
    let hidden = w.platform.update_collection(&w.admin, id, change).await.expect("hidden");
    assert_eq!(hidden.default_level, None);
}

#[tokio::test]
async fn a_space_that_inherits_is_seen_by_those_who_see_its_collection() {
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
    grant(&w, Child::Collection(inner.clone()), &guest, Role::Comment).await;
    assert_eq!(spaces_of(&w, &guest).await, std::slice::from_ref(&inside.id));
    let shown = w.platform.get_space(&guest, &inside.id).await.expect("seen");
    assert!(shown.permissions.comment && !shown.permissions.edit);
    assert_eq!(shown.default_level, None, "what it inherits hides it; the guest's own role is no level");
    w.platform.get_collection(&guest, &outer).await.refused(ErrorKind::NotFound);
    w.platform.get_space(&reader, &inside.id).await.refused(ErrorKind::NotFound);
    let page = PageRequest::default();
    w.platform.list_collection_spaces(&reader, &inner, &page).await.refused(ErrorKind::NotFound);
    for reach in [Reach::Nested, Reach::Direct] {
        let list = w.platform.list_collections(&reader, &w.org, reach, &page).await.expect("listed");
        assert_eq!((list.items.len(), list.count), (0, None), "a count would tell that there is something");
    }
    let seen = w.platform.list_collections(&guest, &w.org, Reach::Nested, &page).await.expect("listed");
    assert_eq!(seen.items.iter().map(|seen| &seen.id).collect::<Vec<_>>(), [&inner]);
    let level = Patch::Set(LevelInput(DefaultLevel::Role(Role::Read)));
    let change = UpdateSpace { default_level: level, ..UpdateSpace::default() };
    let changed = w.platform.update_space(&w.admin, &inside.id, change).await.expect("changed");
    assert_eq!(changed.visibility, Visibility::Private, "it goes its own way now");
}

#[tokio::test]
async fn the_role_create_on_a_collection_is_enough_to_work_in_it() {
    let w = World::new().await;
    let guest = w.member("Gus", None).await;
    let mine = collection(&w, None).await.expect("created").id;
    let other = collection(&w, None).await.expect("created").id;
    grant(&w, Child::Collection(mine.clone()), &guest, Role::Create).await;
    let p = &w.platform;
    let inside =
        |parent: &CollectionId| CreateSpace { parent: Some(parent.to_string()), ..CreateSpace::default() };
    let new = p.create_space(&guest, &w.org, inside(&mine)).await.expect("created").id;
    p.create_space(&guest, &w.org, inside(&other)).await.refused(ErrorKind::Invalid);
    p.create_space(&guest, &w.org, CreateSpace::default()).await.refused(ErrorKind::Forbidden);
    let copy = p.duplicate_space(&guest, &new).await.expect("copied");
    assert_eq!(copy.parent, Some(mine.clone()));
    p.move_space(&guest, &copy.id, before(&new)).await.expect("moved where it is");
    let top = MoveContent { parent: Patch::Clear, position: None };
    p.move_space(&guest, &copy.id, top).await.refused(ErrorKind::Forbidden);
    p.move_collection(&guest, &mine, into(&other)).await.refused(ErrorKind::Forbidden);
    p.delete_collection(&guest, &mine).await.refused(ErrorKind::Forbidden);
    let list = async |page: PageRequest| p.list_collection_spaces(&guest, &mine, &page).await;
    let shown: Vec<SpaceId> = walked(1, list).await.into_iter().map(|space| space.id).collect();
    assert_eq!(shown, [copy.id, new]);
    w.check().await;
}

#[tokio::test]
async fn a_deleted_space_is_restored_for_exactly_seven_days_where_its_collection_was() {
    let w = World::new().await;
    for (wait, restored) in [(DAYS_7, true), (DAYS_7 + Duration::from_millis(1), false)] {
        let outer = collection(&w, None).await.expect("created").id;
        let inner = collection(&w, Some(&outer)).await.expect("created").id;
        let first = space(&w, Some(&inner)).await.expect("created").id;
        let gone = space(&w, Some(&inner)).await.expect("created").id;
        let last = space(&w, Some(&inner)).await.expect("created").id;
        assert!(w.platform.delete_space(&w.admin, &gone).await.expect("deleted"));
        assert!(w.platform.delete_collection(&w.admin, &inner).await.expect("deleted"));
        assert!(!w.platform.delete_collection(&w.admin, &inner).await.expect("a second time"));
        w.clock.advance(wait);
        let answer = w.platform.restore_space(&w.admin, &gone).await;
        w.platform.settle().await.expect("settled");
        let list = async |page: PageRequest| w.platform.list_collection_spaces(&w.admin, &outer, &page).await;
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
async fn two_moves_at_once_never_make_a_circle() {
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
            moves.push(tokio::spawn(async move { p.move_collection(&admin, &what, to).await }));
        }
        let mut refused = 0;
        for done in moves {
            if let Err(error) = done.await.expect("it does not panic") {
                assert_eq!(error.kind(), ErrorKind::Conflict, "{error:?}");
                refused += 1;
            }
        }
        assert_eq!(refused, 1, "the last of the three would close the circle");
        let list = async |page: PageRequest| {
            w.platform.list_collections(&w.admin, &w.org, Reach::Nested, &page).await
        };
        let seen: BTreeSet<CollectionId> =
            walked(1_000, list).await.into_iter().map(|seen| seen.id).collect();
        assert!(ids.iter().all(|id| seen.contains(id)), "all are reached from the top");
    }
    w.check().await;
}

#[tokio::test]
async fn collections_lie_at_most_ten_deep() {
    let w = World::new().await;
    let mut chain: Vec<CollectionId> = Vec::new();
    for _ in 0..10 {
        chain.push(collection(&w, chain.last()).await.expect("created").id);
    }
    collection(&w, chain.last()).await.refused(ErrorKind::Conflict);
    space(&w, chain.last()).await.expect("spaces lie in the deepest");
    let other = collection(&w, None).await.expect("created").id;
    w.platform.move_collection(&w.admin, &other, into(&chain[9])).await.refused(ErrorKind::Conflict);
    w.platform.move_collection(&w.admin, &chain[0], into(&other)).await.refused(ErrorKind::Conflict);
    w.platform.move_collection(&w.admin, &chain[1], into(&other)).await.expect("ten again");
    w.platform.move_collection(&w.admin, &chain[0], into(&other)).await.expect("two");
    assert_eq!(spaces_of(&w, &w.admin).await.len(), 1);
    w.check().await;
}

#[tokio::test]
async fn a_collection_holds_five_hundred_things_and_is_deleted_with_all_of_them() {
    let w = World::new().await;
    let outer = collection(&w, None).await.expect("created").id;
    let inner = collection(&w, Some(&outer)).await.expect("created").id;
    let mut inside = Vec::new();
    for _ in 0..500 {
        inside.push(space(&w, Some(&inner)).await.expect("created").id);
    }
    let refused = space(&w, Some(&inner)).await.refused(ErrorKind::Conflict);
    assert!(refused.message().contains("500"), "{refused:?}");
    w.platform.duplicate_space(&w.admin, &inside[0]).await.refused(ErrorKind::Conflict);
    collection(&w, Some(&inner)).await.refused(ErrorKind::Conflict);
    let other = space(&w, Some(&outer)).await.expect("created").id;
    w.platform.move_space(&w.admin, &other, into(&inner)).await.refused(ErrorKind::Conflict);
    let shown = spaces_of(&w, &w.admin).await;
    w.platform.delete_collection(&w.admin, &inner).await.refused(ErrorKind::Conflict);
    assert_eq!(shown, spaces_of(&w, &w.admin).await, "nothing moved");
    w.platform.delete_space(&w.admin, &other).await.expect("deleted");
    w.platform.delete_collection(&w.admin, &inner).await.expect("deleted");
    w.platform.restore_space(&w.admin, &other).await.refused(ErrorKind::Conflict);
    assert_eq!(spaces_of(&w, &w.admin).await, inside);
    w.platform.delete_collection(&w.admin, &outer).await.expect("deleted");
    assert_eq!(spaces_of(&w, &w.admin).await, inside, "at the top there is no such limit");
    w.platform.restore_space(&w.admin, &other).await.expect("restored");
    w.check().await;
}

#[tokio::test]
async fn what_was_created_in_the_same_moment_can_be_put_in_any_order() {
    let w = World::new().await;
    for _ in 0..25 {
        let new = w.platform.create_space(&w.admin, &w.org, CreateSpace::default());
        new.await.expect("created");
    }
    let mut order = spaces_of(&w, &w.admin).await;
    for n in 0..60_usize {
        let moved = order.remove(n * 7 % order.len());
        let at = n * 11 % order.len();
        w.platform.move_space(&w.admin, &moved, before(&order[at])).await.expect("moved");
        order.insert(at, moved);
        assert_eq!(spaces_of(&w, &w.admin).await, order);
    }
    w.check().await;
}

#[tokio::test]
async fn there_is_always_room_before_the_same_neighbour_and_behind_all() {
    let w = World::new().await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(space(&w, None).await.expect("created").id);
    }
    for n in 0..400 {
        w.platform.move_space(&w.admin, &ids[n % 2], before(&ids[2])).await.expect("moved");
    }
    assert_eq!(spaces_of(&w, &w.admin).await, ids);
    let end = || MoveContent { parent: Patch::Clear, position: None };
    for n in 0..400 {
        w.platform.move_space(&w.admin, &ids[n % 3], end()).await.expect("moved");
    }
    let new = space(&w, None).await.expect("created").id;
    assert_eq!(spaces_of(&w, &w.admin).await, [ids[1].clone(), ids[2].clone(), ids[0].clone(), new]);
    w.check().await;
}

#[tokio::test]
async fn a_walk_under_moves_shows_everything_that_stays_once() {
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
            let page = w.platform.list_spaces(&w.admin, &w.org, &request).await.expect("a page");
            seen.extend(page.items.into_iter().map(|space| space.id));
            let Some(next) = page.next else { break };
            request.page = Some(next);
            // Even what the cursor stands on moves on.
            let (moved, to) = (&moves[n * 5 % moves.len()], &collections[n * 7 % collections.len()]);
            w.platform.move_space(&w.admin, moved, into(to)).await.expect("moved");
            let made = space(&w, Some(to)).await.expect("created").id;
            w.platform.delete_space(&w.admin, &made).await.expect("deleted");
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
    let space: Option<Arc<SpaceRecord>> = tx.get(&SpaceRecord::at(id)).await.expect("read");
    space.expect("there").domain.clone()
}

fn to(org: &OrgId) -> TransferContent {
    TransferContent { organization: org.to_string() }
}

#[tokio::test]
async fn a_transfer_takes_everything_along_but_roles_by_name() {
    let w = World::new().await;
    let other = organization(&w, &w.admin).await;
    let guest = w.member("Gus", None).await;
    let user = guest.user().expect("a user");
    w.platform.put_member(&Actor::Platform, &other, user, None).await.expect("a guest of both");
    let whole = collection(&w, None).await.expect("created").id;
    let inner = collection(&w, Some(&whole)).await.expect("created").id;
    let inside = space(&w, Some(&inner)).await.expect("created").id;
    for content in [Child::Collection(whole.clone()), Child::Space(inside.clone())] {
        grant(&w, content, &guest, Role::Edit).await;
    }
    let before = domain(&w, &inside).await;
    w.platform.get_space(&guest, &inside).await.expect("granted");
    let moved = w.platform.transfer_collection(&w.admin, &whole, to(&other)).await.expect("transferred");
    assert_eq!((moved.organization, moved.parent), (other.clone(), None));
    let shown = w.platform.get_space(&w.admin, &inside).await.expect("shown");
    assert_eq!((shown.organization, shown.parent), (other.clone(), Some(inner.clone())));
    assert_eq!(domain(&w, &inside).await, before, "its content stays where it is stored");
    let pages = w.platform.list_pages(&w.admin, &ContentOf::space(inside.clone()), Shown::default()).await;
    pages.expect("its content is read");
    w.platform.get_space(&guest, &inside).await.refused(ErrorKind::NotFound);
    w.platform.get_collection(&guest, &whole).await.refused(ErrorKind::NotFound);
    assert_eq!(spaces_of(&w, &w.admin).await, []);
    w.platform.transfer_collection(&w.admin, &inner, to(&w.org)).await.expect("a part goes back");
    assert_eq!(spaces_of(&w, &w.admin).await, std::slice::from_ref(&inside));
    w.platform.transfer_space(&w.admin, &inside, to(&other)).await.expect("out of its collection");
    assert_eq!(w.platform.get_space(&w.admin, &inside).await.expect("shown").parent, None);
    w.check().await;
}

#[tokio::test]
async fn a_transfer_needs_the_role_create_in_both_organizations() {
    let w = World::new().await;
    let boss = person(&w.platform, "Zoe").await;
    let other = organization(&w, &boss).await;
    let mine = space(&w, None).await.expect("created").id;
    let p = &w.platform;
    p.transfer_space(&w.admin, &mine, to(&other)).await.refused(ErrorKind::NotFound);
    p.transfer_space(&boss, &mine, to(&other)).await.refused(ErrorKind::NotFound);
    p.transfer_space(&w.admin, &mine, to(&w.org)).await.refused(ErrorKind::Conflict);
    let unknown = TransferContent { organization: "no id!".to_owned() };
    p.transfer_space(&w.admin, &mine, unknown).await.refused(ErrorKind::NotFound);
    let me = w.admin.user().expect("a user");
    p.put_member(&Actor::Platform, &other, me, Some(Role::Review)).await.expect("a member");
    p.transfer_space(&w.admin, &mine, to(&other)).await.refused(ErrorKind::Forbidden);
    p.put_member(&Actor::Platform, &other, me, Some(Role::Create)).await.expect("a member");
    // Whoever has the space by name alone gives nothing away.
    let guest = w.member("Gus", None).await;
    grant(&w, Child::Space(mine.clone()), &guest, Role::Admin).await;
    p.put_member(&Actor::Platform, &other, guest.user().expect("a user"), Some(Role::Admin))
        .await
        .expect("a member");
    p.transfer_space(&guest, &mine, to(&other)).await.refused(ErrorKind::Forbidden);
    p.transfer_space(&w.admin, &mine, to(&other)).await.expect("transferred");
    w.check().await;
}

#[tokio::test]
async fn what_an_organization_still_holds_on_to_is_not_transferred() {
    let w = World::new().await;
    let other = organization(&w, &w.admin).await;
    let whole = collection(&w, None).await.expect("created").id;
    let inside = space(&w, Some(&whole)).await.expect("created").id;
    let p = &w.platform;
    let refused = async || {
        let first = p.transfer_space(&w.admin, &inside, to(&other)).await.refused(ErrorKind::Precondition);
        p.transfer_collection(&w.admin, &whole, to(&other)).await.refused(ErrorKind::Precondition);
        first.message().to_owned()
    };
    p.delete_space(&w.admin, &inside).await.expect("deleted");
    assert!(refused().await.contains("deleted"));
    p.restore_space(&w.admin, &inside).await.expect("restored");
    let spaces = Some(SiteSpacesInput::Existing(vec![inside.to_string()]));
    let new = CreateSite { spaces, kind: None, title: None, visibility: None, create_space: None };
    let site = p.create_site(&w.admin, &w.org, new).await.expect("a site").id;
    assert!(refused().await.contains("on a site"));
    p.delete_site(&w.admin, &w.org, &site).await.expect("deleted");
    hide(&w, &whole).await;
    let maker = w.member("Mia", Some(Role::Create)).await;
    grant(&w, Child::Collection(whole.clone()), &maker, Role::Create).await;
    p.put_member(&Actor::Platform, &other, maker.user().expect("a user"), Some(Role::Create))
        .await
        .expect("a member");
    let lost = p.transfer_collection(&maker, &whole, to(&other)).await.refused(ErrorKind::Precondition);
    assert!(lost.message().contains("hide"), "{lost:?}");
    p.transfer_collection(&w.admin, &whole, to(&other)).await.expect("transferred");
    w.check().await;
}

#[tokio::test]
async fn a_collection_with_more_than_five_hundred_parts_is_not_transferred_at_once() {
    let w = World::new().await;
    let other = organization(&w, &w.admin).await;
    let whole = collection(&w, None).await.expect("created").id;
    let inner = collection(&w, Some(&whole)).await.expect("created").id;
    for n in 0..498 {
        space(&w, Some(if n % 2 == 0 { &whole } else { &inner })).await.expect("created");
    }
    let extra = space(&w, Some(&inner)).await.expect("created").id;
    let refused = w.platform.transfer_collection(&w.admin, &whole, to(&other)).await;
    assert!(refused.refused(ErrorKind::Precondition).message().contains("500"));
    w.platform.transfer_space(&w.admin, &extra, to(&other)).await.expect("transferred");
    w.platform.transfer_collection(&w.admin, &whole, to(&other)).await.expect("500 parts");
    assert_eq!(spaces_of(&w, &w.admin).await, []);
    w.check().await;
}

#[tokio::test]
async fn roles_on_a_collection_go_with_it_however_many_there_are() {
    let w = World::new().await;
    let id = collection(&w, None).await.expect("created").id;
    for n in 0..120 {
        let member = w.member(&format!("m{n}"), None).await;
        grant(&w, Child::Collection(id.clone()), &member, Role::Read).await;
    }
    assert!(w.platform.delete_collection(&w.admin, &id).await.expect("deleted"));
    w.platform.settle().await.expect("settled");
    let tx = Tx::new(w.platform.store().begin(Mode::Read, &[]).await.expect("begins"));
    let left = tx.below(&GrantRecord::on(id.as_str()), 1_000).await.expect("read");
    assert_eq!(left.len(), 0);
    w.check().await;
}

fn level(level: DefaultLevel) -> UpdateCollection {
    let default_level = match level {
        DefaultLevel::Nobody => Patch::Clear,
        level => Patch::Set(LevelInput(level)),
    };
    UpdateCollection { default_level, ..UpdateCollection::default() }
}

#[tokio::test]
async fn a_level_that_is_inherited_is_shown_alike_to_administrators_and_members() {
    let w = World::new().await;
    let (cat, guest) = (w.member("Cat", Some(Role::Create)).await, w.member("Gus", None).await);
    let outer = collection(&w, None).await.expect("created").id;
    let inner = collection(&w, Some(&outer)).await.expect("created").id;
    let inside = space(&w, Some(&inner)).await.expect("created").id;
    grant(&w, Child::Collection(inner.clone()), &guest, Role::Edit).await;
    grant(&w, Child::Collection(outer.clone()), &cat, Role::Create).await;
    let p = &w.platform;
    for (set, shown) in
        [(DefaultLevel::Role(Role::Comment), Some(Role::Comment)), (DefaultLevel::Nobody, None)]
    {
        p.update_collection(&w.admin, &outer, level(set)).await.expect("changed");
        for reader in [&w.admin, &cat, &guest] {
            assert_eq!(p.get_collection(reader, &inner).await.expect("seen").default_level, shown);
            assert_eq!(p.get_space(reader, &inside).await.expect("seen").default_level, shown);
            let page = PageRequest::default();
            let listed = p.list_spaces(reader, &w.org, &page).await.expect("listed").items;
            assert_eq!(listed.iter().map(|space| space.default_level).collect::<Vec<_>>(), [shown]);
        }
    }
}

#[tokio::test]
async fn nobody_hides_a_collection_from_themselves() {
    let w = World::new().await;
    let cat = w.member("Cat", Some(Role::Create)).await;
    let id = collection(&w, None).await.expect("created").id;
    let hide = level(DefaultLevel::Nobody);
    let error = w.platform.update_collection(&cat, &id, hide.clone()).await.refused(ErrorKind::Precondition);
    assert!(error.message().starts_with("defaultLevel: "), "{error}");
    w.platform.get_collection(&cat, &id).await.expect("still seen");
    grant(&w, Child::Collection(id.clone()), &cat, Role::Create).await;
    w.platform.update_collection(&cat, &id, hide).await.expect("who has a role by name still sees it");
}

#[tokio::test]
async fn the_links_to_a_deleted_collection_go_with_it_however_many_there_are() {
    let w = World::new().await;
    let p = &w.platform;
    for links in [1, 250] {
        let id = collection(&w, None).await.expect("created").id;
        let new = CreateLinkInvite {
            level: Patch::Set(Role::Read),
            collection: Some(id.to_string()),
            ..CreateLinkInvite::default()
        };
        for _ in 0..links {
            p.create_link_invite(&w.admin, &w.org, new.clone()).await.expect("a link");
        }
        p.delete_collection(&w.admin, &id).await.expect("deleted");
        p.settle().await.expect("settled");
        let tx = Tx::new(p.store().begin(Mode::Read, &[]).await.expect("begins"));
        let left = tx.below(&LinkInviteRecord::of_content(id.as_str()), 1).await.expect("read");
        assert_eq!(left.len(), 0, "of {links}");
        w.check().await;
    }
}
