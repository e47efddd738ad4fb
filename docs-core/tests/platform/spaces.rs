use std::{sync::Arc, time::Duration};

use docs_core::{
    ErrorKind,
    model::{
        ContentTarget, CreateSpace, DefaultLevel, EditMode, Emoji, Grantee, Invite, Level, Patch, Role,
        SpaceId, Timestamp, UpdateSpace,
    },
    platform::{ContentOptions, ContentVersion},
    ports::{Clock as _, Ids as _},
    store::{
        MAX_SCAN, Mode, PageRequest, Tx, decode,
        records::{GrantRecord, LinkInviteGrant, LinkInviteRecord, RevisionRecord, SpaceRecord},
    },
};
use docs_memstore::SeededIds;

use crate::support::{Refused, World};

const DAYS_7: Duration = Duration::from_secs(7 * 24 * 3600);

fn titled(title: &str) -> CreateSpace {
    CreateSpace { title: Some(title.parse().expect("a title")), ..CreateSpace::default() }
}

#[tokio::test]
async fn new_space_is_locked_and_empty() {
    let w = World::new().await;
    let space = w.as_admin().org(&w.org).spaces().create(titled("Guide")).await.expect("created");
    assert_eq!(&*space.title, "Guide");
    assert_eq!(space.edit_mode, EditMode::Locked);
    assert_eq!((space.comments, space.change_requests), (0, 0));
    let of = ContentVersion::space(space.id);
    let pages = w.as_admin().content(&of).list_pages(ContentOptions::default());
    assert_eq!(pages.await.expect("read").pages, []);
    w.check().await;
}

#[tokio::test]
async fn a_deleted_space_can_be_restored_for_exactly_seven_days() {
    let w = World::new().await;
    for (wait, restored) in [(DAYS_7, true), (DAYS_7 + Duration::from_millis(1), false)] {
        let space = w.as_admin().org(&w.org).spaces().create(titled("Guide")).await.expect("created");
        w.clock.advance(Duration::from_secs(1));
        assert!(w.as_admin().space(&space.id).delete().await.expect("deleted"));
        assert!(!w.as_admin().space(&space.id).delete().await.expect("a second time"));
        let list = w.as_admin().org(&w.org).spaces().list(&PageRequest::default()).await.expect("listed");
        assert!(list.items.iter().all(|other| other.id != space.id));
        w.clock.advance(wait);
        let answer = w.as_admin().space(&space.id).restore().await;
        w.platform.settle().await.expect("settled");
        if restored {
            assert_eq!(answer.expect("restored").deleted_at, None);
            assert!(w.as_admin().space(&space.id).get().await.is_ok());
        } else {
            answer.refused(ErrorKind::NotFound);
            w.as_admin().space(&space.id).get().await.refused(ErrorKind::NotFound);
        }
        w.check().await;
    }
}

#[tokio::test]
async fn role_determines_access_to_a_space() {
    let w = World::new().await;
    let space = w.as_admin().org(&w.org).spaces().create(titled("Guide")).await.expect("created");
    for (role, reads, manages) in [
        (None, false, false),
        (Some(Role::Read), true, false),
        (Some(Role::Review), true, false),
        (Some(Role::Create), true, true),
        (Some(Role::Admin), true, true),
    ] {
        let actor = w.member(&format!("m{role:?}").replace(['(', ')'], ""), role).await;
        assert_eq!(w.platform.as_actor(&actor).space(&space.id).get().await.is_ok(), reads, "{role:?}");
        let change = UpdateSpace { edit_mode: Some(EditMode::Live), ..UpdateSpace::default() };
        let changed = w.platform.as_actor(&actor).space(&space.id).update(change).await;
        match (reads, manages) {
            (_, true) => drop(changed.expect("changed")),
            (true, false) => drop(changed.refused(ErrorKind::Forbidden)),
            (false, false) => drop(changed.refused(ErrorKind::NotFound)),
        }
    }
}

#[tokio::test]
async fn null_level_restricts_a_space_to_admins_and_its_creator() {
    let w = World::new().await;
    let creator = w.member("Cleo", Some(Role::Create)).await;
    let other = w.member("Otto", Some(Role::Create)).await;
    let space =
        w.platform.as_actor(&creator).org(&w.org).spaces().create(titled("Secret")).await.expect("created");
    let change = UpdateSpace { default_level: Patch::Clear, ..UpdateSpace::default() };
    let space = w.platform.as_actor(&creator).space(&space.id).update(change).await.expect("hidden");
    assert_eq!(space.default_level, None);
    w.platform.as_actor(&other).space(&space.id).get().await.refused(ErrorKind::NotFound);
    assert!(w.as_admin().space(&space.id).get().await.is_ok());
    let list =
        w.platform.as_actor(&other).org(&w.org).spaces().list(&PageRequest::default()).await.expect("listed");
    assert_eq!((list.items.len(), list.count), (0, None), "a count would tell that there is something");
}

fn level(level: DefaultLevel) -> UpdateSpace {
    let default_level = Patch::from(level);
    UpdateSpace { default_level, ..UpdateSpace::default() }
}

#[tokio::test]
async fn caller_cannot_hide_a_space_from_themselves() {
    let w = World::new().await;
    let other = w.member("Otto", Some(Role::Create)).await;
    let space = w.as_admin().org(&w.org).spaces().create(titled("Guide")).await.expect("created").id;
    let both = UpdateSpace { title: Some("New".parse().expect("a title")), ..level(DefaultLevel::Nobody) };
    let error = w.platform.as_actor(&other).space(&space).update(both).await.refused(ErrorKind::Precondition);
    assert!(error.message().starts_with("defaultLevel: "), "{error}");
    assert_eq!(&*w.platform.as_actor(&other).space(&space).get().await.expect("still seen").title, "Guide");
    w.as_admin().space(&space).update(level(DefaultLevel::Nobody)).await.expect("an administrator may");
}

#[tokio::test]
async fn copy_equals_the_space_and_keeps_the_role_of_its_creator() {
    let w = World::new().await;
    let cat = w.member("Cat", Some(Role::Create)).await;
    let space = w.as_admin().org(&w.org).spaces().create(titled("Guide")).await.expect("created").id;
    let look = UpdateSpace {
        edit_mode: Some(EditMode::Live),
        emoji: Patch::Set(Emoji::new("🚀").expect("an emoji")),
        ..level(DefaultLevel::Role(Role::Read))
    };
    w.as_admin().space(&space).update(look).await.expect("changed");
    let user = cat.user().expect("a user").to_string();
    let invite = Invite { role: Some(Role::Create), users: Some(vec![user]), teams: None };
    w.as_admin().space(&space).permissions().invite(invite).await.expect("given");
    let copy = w.platform.as_actor(&cat).space(&space).duplicate().await.expect("copied");
    assert_eq!(
        (&*copy.title, copy.emoji.as_str(), copy.edit_mode),
        ("Guide (copy)", "1f680", EditMode::Live)
    );
    assert_eq!(copy.default_level, Some(Level::Role(Role::Read)));
    assert!(copy.permissions.admin, "who made it manages it");
    assert!(w.platform.as_actor(&cat).space(&copy.id).delete().await.expect("deleted"));
    // A user who already has the role gets no explicit role, because it would outlive the existing one.
    let copy = w.as_admin().space(&space).duplicate().await.expect("copied").id;
    let content = ContentTarget::Space(copy);
    let named = w.as_admin().permissions(&content).list_users(&PageRequest::default()).await;
    assert_eq!(named.expect("listed").items, []);
    w.check().await;
}

/// Adds roles, links and revisions to a space, such that each kind fits into one transaction, but not all of them
/// together.
async fn load(w: &World, id: &SpaceId) {
    let ids = SeededIds::new(11);
    let id_text = || ids.next().simple().to_string();
    let store = w.platform.store();
    let at = Timestamp::new(w.clock.now());
    for kind in 0..3 {
        let mut tx = Tx::new(store.begin(Mode::Write, &[]).await.expect("begins"));
        let space: Arc<SpaceRecord> = tx.get(&SpaceRecord::key_for(id)).await.expect("read").expect("there");
        let head = RevisionRecord::key_for(id, &space.head);
        let head: Arc<RevisionRecord> = tx.get(&head).await.expect("read").expect("there");
        let (organization, content) = (w.org.clone(), ContentTarget::Space(id.clone()));
        match kind {
            0 => (0..480).for_each(|_| {
                let grantee = Grantee::User(id_text().parse().expect("an id"));
                let (organization, content) = (organization.clone(), content.clone());
                tx.create(GrantRecord {
                    organization,
                    content: content.into(),
                    grantee,
                    role: Role::Read,
                    granted_at: at,
                    space_deleted: false,
                });
            }),
            1 => (0..199).for_each(|_| {
                let gives = LinkInviteGrant::Content(content.clone(), Role::Read);
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

/// Counts the members with an explicit role on a space whose number of spaces includes it.
async fn counted(w: &World, space: &SpaceId) -> usize {
    let tx = Tx::new(w.platform.store().begin(Mode::Read, &[]).await.expect("begins"));
    let grants = tx.scan_prefix(&GrantRecord::by_content(space.as_str()), MAX_SCAN).await.expect("read");
    let users =
        grants.into_iter().map(|(_, value)| match &decode::<GrantRecord>(value).expect("a grant").grantee {
            Grantee::User(user) => GrantRecord::user_space_count(&w.org, user),
            Grantee::Team(team) => GrantRecord::team_space_count(team),
        });
    let numbers = tx.numbers(&users.collect::<Vec<_>>()).await.expect("read");
    numbers.into_iter().filter(|number| *number == 1).count()
}

#[tokio::test]
async fn deleted_space_is_not_counted_for_its_members() {
    let w = World::new().await;
    let me = w.platform.as_actor(&w.admin);
    let space = me.org(&w.org).spaces().create(titled("Guide")).await.expect("created").id;
    load(&w, &space).await;
    assert_eq!(counted(&w, &space).await, 480);
    assert!(me.space(&space).delete().await.expect("deleted"));
    w.platform.settle().await.expect("settled");
    assert_eq!(counted(&w, &space).await, 0);
    me.space(&space).restore().await.expect("restored");
    // A space that is restored and deleted again before the job has run remains deleted.
    assert!(me.space(&space).delete().await.expect("deleted"));
    w.platform.settle().await.expect("settled");
    assert_eq!(counted(&w, &space).await, 0);
    me.space(&space).restore().await.expect("restored");
    w.platform.settle().await.expect("settled");
    assert_eq!(counted(&w, &space).await, 480);
    w.check().await;
}

#[tokio::test]
async fn purge_removes_every_row_of_a_deleted_space() {
    let w = World::new().await;
    let space = w.as_admin().org(&w.org).spaces().create(titled("Guide")).await.expect("created").id;
    load(&w, &space).await;
    assert!(w.as_admin().space(&space).delete().await.expect("deleted"));
    w.platform.as_platform().space(&space).purge().await.expect("removed");
    w.check().await;
    let tx = Tx::new(w.platform.store().begin(Mode::Read, &[]).await.expect("begins"));
    let prefixes = [
        GrantRecord::by_content(space.as_str()),
        LinkInviteRecord::by_content(space.as_str()),
        RevisionRecord::by_space(&space),
    ];
    for prefix in prefixes {
        assert!(tx.scan_prefix(&prefix, 1).await.expect("read").is_empty(), "{prefix:?}");
    }
}
