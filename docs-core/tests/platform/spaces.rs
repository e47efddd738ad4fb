use std::time::Duration;

use docs_core::{
    ErrorKind,
    model::{CreateSpace, EditMode, Patch, Role, UpdateSpace},
    platform::{ContentOf, Shown},
    store::PageRequest,
};

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
