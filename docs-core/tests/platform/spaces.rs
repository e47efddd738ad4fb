use std::{sync::Arc, time::Duration};

use docs_core::{
    Actor, ErrorKind,
    model::{
        CreateSpace, DefaultLevel, EditMode, Emoji, Invite, LevelInput, Patch, Role, SpaceId, Timestamp,
        UpdateSpace,
    },
    platform::{ContentOf, Shown},
    ports::{Clock as _, Ids as _},
    store::{
        Mode, PageRequest, Tx,
        records::{Child, GrantRecord, Grantee, LinkGives, LinkInviteRecord, RevisionRecord, SpaceRecord},
    },
};
use docs_memstore::SeededIds;

use crate::support::{Refused, World};

const DAYS_7: Duration = Duration::from_secs(7 * 24 * 3600);

fn titled(title: &str) -> CreateSpace {
    CreateSpace { title: Some(title.parse().expect("a title")), ..CreateSpace::default() }
}

#[tokio::test]
async fn a_new_space_is_locked_private_and_empty() {
    let w = World::new().await;
    let space = w.platform.create_space(&w.admin, &w.org, titled("Guide")).await.expect("created");
    assert_eq!(&*space.title, "Guide");
    assert_eq!(space.edit_mode, EditMode::Locked);
    assert_eq!((space.comments, space.change_requests), (0, 0));
    let of = ContentOf::space(space.id);
    let pages = w.platform.list_pages(&w.admin, &of, Shown::default());
    assert_eq!(pages.await.expect("read").pages, []);
    w.check().await;
}

#[tokio::test]
async fn a_deleted_space_can_be_restored_for_exactly_seven_days() {
    let w = World::new().await;
    for (wait, restored) in [(DAYS_7, true), (DAYS_7 + Duration::from_millis(1), false)] {
        let space = w.platform.create_space(&w.admin, &w.org, titled("Guide")).await.expect("created");
        w.clock.advance(Duration::from_secs(1));
        assert!(w.platform.delete_space(&w.admin, &space.id).await.expect("deleted"));
        assert!(!w.platform.delete_space(&w.admin, &space.id).await.expect("a second time"));
        let list = w.platform.list_spaces(&w.admin, &w.org, &PageRequest::default()).await.expect("listed");
        assert!(list.items.iter().all(|other| other.id != space.id));
        w.clock.advance(wait);
        let answer = w.platform.restore_space(&w.admin, &space.id).await;
        w.platform.settle().await.expect("settled");
        if restored {
            assert_eq!(answer.expect("restored").deleted_at, None);
            assert!(w.platform.get_space(&w.admin, &space.id).await.is_ok());
        } else {
            answer.refused(ErrorKind::NotFound);
            w.platform.get_space(&w.admin, &space.id).await.refused(ErrorKind::NotFound);
        }
        w.check().await;
    }
}

#[tokio::test]
async fn a_role_decides_what_may_be_done_with_a_space() {
    let w = World::new().await;
    let space = w.platform.create_space(&w.admin, &w.org, titled("Guide")).await.expect("created");
    for (role, reads, manages) in [
        (None, false, false),
        (Some(Role::Read), true, false),
        (Some(Role::Review), true, false),
        (Some(Role::Create), true, true),
        (Some(Role::Admin), true, true),
    ] {
        let actor = w.member(&format!("m{role:?}").replace(['(', ')'], ""), role).await;
        assert_eq!(w.platform.get_space(&actor, &space.id).await.is_ok(), reads, "{role:?}");
        let change = UpdateSpace { edit_mode: Some(EditMode::Live), ..UpdateSpace::default() };
        let changed = w.platform.update_space(&actor, &space.id, change).await;
        match (reads, manages) {
            (_, true) => drop(changed.expect("changed")),
            (true, false) => drop(changed.refused(ErrorKind::Forbidden)),
            (false, false) => drop(changed.refused(ErrorKind::NotFound)),
        }
    }
}

#[tokio::test]
async fn null_hides_a_space_from_all_but_administrators_and_its_creator() {
    let w = World::new().await;
    let creator = w.member("Cleo", Some(Role::Create)).await;
    let other = w.member("Otto", Some(Role::Create)).await;
    let space = w.platform.create_space(&creator, &w.org, titled("Secret")).await.expect("created");
    let change = UpdateSpace { default_level: Patch::Clear, ..UpdateSpace::default() };
    let space = w.platform.update_space(&creator, &space.id, change).await.expect("hidden");
    assert_eq!(space.default_level, None);
    w.platform.get_space(&other, &space.id).await.refused(ErrorKind::NotFound);
    assert!(w.platform.get_space(&w.admin, &space.id).await.is_ok());
    let list = w.platform.list_spaces(&other, &w.org, &PageRequest::default()).await.expect("listed");
    assert_eq!((list.items.len(), list.count), (0, None), "a count would tell that there is something");
}

fn level(level: DefaultLevel) -> UpdateSpace {
    let default_level = match level {
        DefaultLevel::Nobody => Patch::Clear,
        level => Patch::Set(LevelInput(level)),
    };
    UpdateSpace { default_level, ..UpdateSpace::default() }
}

#[tokio::test]
async fn nobody_hides_a_space_from_themselves() {
    let w = World::new().await;
    let other = w.member("Otto", Some(Role::Create)).await;
    let space = w.platform.create_space(&w.admin, &w.org, titled("Guide")).await.expect("created").id;
    let both = UpdateSpace { title: Some("New".parse().expect("a title")), ..level(DefaultLevel::Nobody) };
    let error = w.platform.update_space(&other, &space, both).await.refused(ErrorKind::Precondition);
    assert!(error.message().starts_with("defaultLevel: "), "{error}");
    assert_eq!(&*w.platform.get_space(&other, &space).await.expect("still seen").title, "Guide");
    w.platform
        .update_space(&w.admin, &space, level(DefaultLevel::Nobody))
        .await
        .expect("an administrator may");
}

#[tokio::test]
async fn a_copy_is_like_the_space_and_its_maker_keeps_the_role_they_have() {
    let w = World::new().await;
    let cat = w.member("Cat", Some(Role::Create)).await;
    let space = w.platform.create_space(&w.admin, &w.org, titled("Guide")).await.expect("created").id;
    let look = UpdateSpace {
        edit_mode: Some(EditMode::Live),
        emoji: Patch::Set(Emoji::new("🚀").expect("an emoji")),
        ..level(DefaultLevel::Role(Role::Read))
    };
    w.platform.update_space(&w.admin, &space, look).await.expect("changed");
    let user = cat.user().expect("a user").to_string();
    let invite = Invite { role: Some(Role::Create), users: Some(vec![user]), teams: None };
    w.platform.invite(&w.admin, &Child::Space(space.clone()), invite).await.expect("given");
    let copy = w.platform.duplicate_space(&cat, &space).await.expect("copied");
    assert_eq!((&*copy.title, copy.emoji.as_str(), copy.edit_mode), ("Guide (copy)", "🚀", EditMode::Live));
    assert_eq!(copy.default_level, Some(Role::Read));
    assert!(copy.permissions.admin, "who made it manages it");
    assert!(w.platform.delete_space(&cat, &copy.id).await.expect("deleted"));
    // Who has the role anyway is given none by name, which would hold when the other one goes.
    let copy = w.platform.duplicate_space(&w.admin, &space).await.expect("copied").id;
    let content = Child::Space(copy);
    let named = w.platform.list_user_permissions(&w.admin, &content, &PageRequest::default()).await;
    assert_eq!(named.expect("listed").items, []);
    w.check().await;
}

/// Puts so many roles, links and revisions on a space that each kind fits into one transaction, and all do not.
async fn load(w: &World, id: &SpaceId) {
    let ids = SeededIds::new(11);
    let id_text = || ids.next().simple().to_string();
    let store = w.platform.store();
    let at = Timestamp::new(w.clock.now());
    for kind in 0..3 {
        let mut tx = Tx::new(store.begin(Mode::Write, &[]).await.expect("begins"));
        let space: Arc<SpaceRecord> = tx.get(&SpaceRecord::at(id)).await.expect("read").expect("there");
        let head = RevisionRecord::at(id, &space.head);
        let head: Arc<RevisionRecord> = tx.get(&head).await.expect("read").expect("there");
        let (organization, content) = (w.org.clone(), Child::Space(id.clone()));
        match kind {
            0 => (0..480).for_each(|_| {
                let grantee = Grantee::User(id_text().parse().expect("an id"));
                let (organization, content) = (organization.clone(), content.clone());
                tx.create(GrantRecord { organization, content, grantee, role: Role::Read, granted_at: at });
            }),
            1 => (0..199).for_each(|_| {
                let gives = LinkGives::Content(content.clone(), Role::Read);
                let (id, vouched_by) = (id_text().parse().expect("an id"), space.created_by.clone());
                let organization = organization.clone();
                tx.create(LinkInviteRecord { id, organization, gives, vouched_by, created_at: at });
            }),
            _ => (0..490).for_each(|_| {
                let id = id_text().parse().expect("an id");
                tx.create(RevisionRecord { id, ..RevisionRecord::clone(&head) });
            }),
        }
        tx.commit().await.expect("committed");
    }
}

#[tokio::test]
async fn a_deleted_space_is_removed_whatever_it_has_of_each_kind() {
    let w = World::new().await;
    let space = w.platform.create_space(&w.admin, &w.org, titled("Guide")).await.expect("created").id;
    load(&w, &space).await;
    assert!(w.platform.delete_space(&w.admin, &space).await.expect("deleted"));
    w.platform.purge_deleted_space(&Actor::Platform, &space).await.expect("removed");
    w.check().await;
    let tx = Tx::new(w.platform.store().begin(Mode::Read, &[]).await.expect("begins"));
    let prefixes = [
        GrantRecord::on(space.as_str()),
        LinkInviteRecord::of_content(space.as_str()),
        RevisionRecord::of_space(&space),
    ];
    for prefix in prefixes {
        assert!(tx.below(&prefix, 1).await.expect("read").is_empty(), "{prefix:?}");
    }
}
