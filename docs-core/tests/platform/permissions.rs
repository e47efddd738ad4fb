//! Roles that are given by name: the laws of how they come together, and when they begin and end.

use std::sync::Arc;

use docs_core::{
    Actor, ErrorKind, Platform,
    model::{
        CreateSpace, CreateTeam, DefaultLevel, Invite, LevelInput, Patch, Role, SpaceId, TeamId,
        UpdatePermission, UpdateSpace, UpdateTeamMembers, UserId,
    },
    policy::{Layer, effective_role},
    store::{
        Mode, PageRequest, Tx,
        records::{Child, CollectionRecord, Grantee, SpaceRecord},
    },
};
use proptest::prelude::*;

use crate::support::{Refused, World};

const ROLES: [Role; 6] = [Role::Read, Role::Comment, Role::Edit, Role::Review, Role::Create, Role::Admin];

fn any_role() -> impl Strategy<Value = Role> {
    prop::sample::select(&ROLES[..])
}

fn any_level() -> impl Strategy<Value = DefaultLevel> {
    prop_oneof![
        3 => Just(DefaultLevel::Inherit),
        1 => Just(DefaultLevel::Nobody),
        2 => any_role().prop_map(DefaultLevel::Role),
    ]
}

fn layers() -> impl Strategy<Value = Vec<Layer>> {
    let layer = (
        any_level(),
        any::<bool>(),
        prop::option::weighted(0.2, any_role()),
        prop::option::weighted(0.2, any_role()),
    )
        .prop_map(|(level, is_creator, member, team)| Layer { level, is_creator, member, team });
    prop::collection::vec(layer, 1..6)
}

proptest! {
    #[test]
    fn administrators_of_the_organization_administrate_everything(layers in layers()) {
        prop_assert_eq!(effective_role(Some(Role::Admin), &layers), Some(Role::Admin));
    }

    #[test]
    fn a_role_by_name_counts_before_those_of_teams_and_these_before_the_level(
        org in prop::option::of(any_role()), layers in layers(), member in any_role(), team in any_role(),
    ) {
        prop_assume!(org != Some(Role::Admin));
        let mut layers = layers;
        layers[0].team = Some(team);
        layers[0].member = None;
        prop_assert_eq!(effective_role(org, &layers), Some(team));
        layers[0].member = Some(member);
        prop_assert_eq!(effective_role(org, &layers), Some(member));
    }

    #[test]
    fn what_content_settles_itself_is_not_touched_by_what_it_lies_in(
        org in prop::option::of(any_role()), layers in layers(), role in any_role(), other in layers(),
    ) {
        let mut inner = layers;
        inner[0].member = Some(role);
        let moved: Vec<Layer> = inner[..1].iter().chain(&other).copied().collect();
        prop_assert_eq!(effective_role(org, &inner), effective_role(org, &moved));
    }

    #[test]
    fn content_that_inherits_gives_what_it_lies_in_gives(org in prop::option::of(any_role()), layers in layers()) {
        let inside: Vec<Layer> = std::iter::once(Layer::default()).chain(layers.iter().copied()).collect();
        prop_assert_eq!(effective_role(org, &inside), effective_role(org, &layers));
    }

    #[test]
    fn a_guest_sees_only_what_somebody_gave(layers in layers()) {
        let given = layers.iter().any(|layer| layer.member.is_some() || layer.team.is_some());
        prop_assert!(given || effective_role(None, &layers).is_none());
    }

    #[test]
    fn a_higher_role_of_a_team_never_lowers_anybody(
        org in prop::option::of(any_role()), layers in layers(), at in 0_usize..6, roles in (any_role(), any_role()),
    ) {
        let with = |role| {
            let mut layers = layers.clone();
            let at = at % layers.len();
            layers[at].team = Some(role);
            effective_role(org, &layers)
        };
        prop_assert!(with(roles.0.max(roles.1)) >= with(roles.0.min(roles.1)));
    }
}

fn user(actor: &Actor) -> UserId {
    actor.user().expect("a user").clone()
}

async fn space(w: &World) -> SpaceId {
    w.platform.create_space(&w.admin, &w.org, CreateSpace::default()).await.expect("created").id
}

async fn set_level(w: &World, space: &SpaceId, level: DefaultLevel) {
    let default_level = match level {
        DefaultLevel::Nobody => Patch::Clear,
        level => Patch::Set(LevelInput(level)),
    };
    let change = UpdateSpace { default_level, ..UpdateSpace::default() };
    w.platform.update_space(&w.admin, space, change).await.expect("changed");
}

fn to_users(role: Option<Role>, users: &[&Actor]) -> Invite {
    Invite { role, users: Some(users.iter().map(|actor| user(actor).to_string()).collect()), teams: None }
}

fn to_team(role: Option<Role>, team: &TeamId) -> Invite {
    Invite { role, users: None, teams: Some(vec![team.to_string()]) }
}

async fn team_of(w: &World, members: &[&Actor]) -> TeamId {
    let members = members.iter().map(|actor| user(actor).to_string()).collect();
    let new = CreateTeam { title: "Team".parse().expect("a title"), members: Some(members) };
    w.platform.create_team(&w.admin, &w.org, new).await.expect("created").id
}

/// Puts a space into new collections of these levels, from the inside out.
async fn nest(w: &World, space: &SpaceId, levels: &[DefaultLevel]) -> Vec<Child> {
    let store = w.platform.store();
    let mut tx = Tx::new(store.begin(Mode::Write, &[]).await.expect("begins"));
    let old: Arc<SpaceRecord> = tx.get(&SpaceRecord::at(space)).await.expect("read").expect("there");
    let ids: Vec<docs_core::model::CollectionId> =
        (0..levels.len()).map(|n| format!("collection{n}{space}").parse().expect("an id")).collect();
    for (n, level) in levels.iter().enumerate() {
        tx.create(CollectionRecord {
            id: ids[n].clone(),
            organization: w.org.clone(),
            parent: ids.get(n + 1).cloned(),
            rank: old.rank(),
            title: "Collection".parse().expect("a title"),
            description: None,
            default_level: *level,
            created_by: user(&w.admin),
            created_at: old.created_at,
        });
    }
    tx.put(&*old, SpaceRecord { parent: ids.first().cloned(), ..SpaceRecord::clone(&old) }).expect("put");
    tx.commit().await.expect("committed");
    ids.into_iter().map(Child::Collection).collect()
}

/// A random tree with roles on it: what the list of all says of each is what each of them sees.
async fn agree(levels: Vec<DefaultLevel>, given: Vec<(usize, usize, Role, bool)>) {
    let w = World::new().await;
    let mut people = vec![w.admin.clone()];
    for (n, role) in [None, Some(Role::Read), Some(Role::Review), Some(Role::Admin)].into_iter().enumerate() {
        people.push(w.member(&format!("P{n}"), role).await);
    }
    let space = space(&w).await;
    set_level(&w, &space, levels[0]).await;
    let mut contents = vec![Child::Space(space.clone())];
    contents.extend(nest(&w, &space, &levels[1..]).await);
    for (content, person, role, by_team) in given {
        let (content, person) = (&contents[content % contents.len()], &people[person % people.len()]);
        let invite = match by_team {
            true => to_team(Some(role), &team_of(&w, &[person]).await),
            false => to_users(Some(role), &[person]),
        };
        w.platform.invite(&w.admin, content, invite).await.expect("given");
    }
    let page = PageRequest { page: None, limit: Some(2) };
    let mut listed = std::collections::BTreeMap::new();
    let mut at = page.clone();
    loop {
        let content = &contents[0];
        let list = w.platform.list_permissions(&w.admin, content, None, &at).await.expect("listed");
        listed.extend(list.items.into_iter().map(|item| (item.user.id, item.permission)));
        let Some(next) = list.next else { break };
        at = PageRequest { page: Some(next), ..page.clone() };
    }
    for person in &people {
        let seen = w.platform.get_space(person, &space).await;
        let flags = seen.ok().map(|space| space.permissions);
        let role = listed.get(&user(person)).copied();
        assert_eq!(flags.map(|may| may.comment), role.map(|role| role >= Role::Comment), "{person:?}");
        assert_eq!(flags.map(|may| may.edit), role.map(|role| role >= Role::Edit), "{person:?}");
        assert_eq!(flags.map(|may| may.review), role.map(|role| role >= Role::Review), "{person:?}");
        assert_eq!(flags.map(|may| may.admin), role.map(|role| role >= Role::Create), "{person:?}");
    }
    w.check().await;
}

fn finish(program: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime").block_on(program);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn the_list_of_all_roles_says_of_each_what_they_may(
        levels in prop::collection::vec(any_level(), 1..5),
        given in prop::collection::vec((0_usize..5, 0_usize..5, any_role(), any::<bool>()), 0..6),
    ) {
        finish(agree(levels, given));
    }
}

#[tokio::test]
async fn a_role_by_name_comes_and_goes_with_what_is_listed_and_seen() {
    let w = World::new().await;
    let (space, guest) = (space(&w).await, w.member("Gus", None).await);
    let content = Child::Space(space.clone());
    let p = &w.platform;
    let seen =
        async || p.list_spaces(&guest, &w.org, &PageRequest::default()).await.expect("listed").items.len();
    assert_eq!(seen().await, 0);
    p.get_space(&guest, &space).await.refused(ErrorKind::NotFound);
    p.invite(&w.admin, &content, to_users(Some(Role::Comment), &[&guest])).await.expect("given");
    assert_eq!(seen().await, 1);
    assert!(p.get_space(&guest, &space).await.expect("seen").permissions.comment);
    // Guests do not see each other.
    p.list_permissions(&guest, &content, None, &PageRequest::default()).await.refused(ErrorKind::Forbidden);
    p.invite(&w.admin, &content, to_users(None, &[&guest])).await.expect("taken");
    assert_eq!(seen().await, 0);
    p.get_space(&guest, &space).await.refused(ErrorKind::NotFound);
    let grantee = Grantee::User(user(&guest));
    assert!(!p.remove_permission(&w.admin, &content, &grantee).await.expect("none"));
    let change = UpdatePermission { role: Patch::Set(Role::Read) };
    p.update_permission(&w.admin, &content, &grantee, change).await.refused(ErrorKind::NotFound);
    w.check().await;
}

#[tokio::test]
async fn nobody_gives_or_takes_a_role_above_their_own_or_without_the_right() {
    let w = World::new().await;
    let (space, creator) = (space(&w).await, w.member("Cleo", Some(Role::Create)).await);
    let (editor, boss) = (w.member("Eve", Some(Role::Edit)).await, w.member("Bob", Some(Role::Read)).await);
    let content = Child::Space(space.clone());
    let p = &w.platform;
    p.invite(&editor, &content, to_users(Some(Role::Read), &[&boss])).await.refused(ErrorKind::Forbidden);
    p.invite(&creator, &content, to_users(Some(Role::Admin), &[&boss])).await.refused(ErrorKind::Forbidden);
    p.invite(&creator, &content, to_users(Some(Role::Create), &[&boss])).await.expect("as much as their own");
    p.invite(&w.admin, &content, to_users(Some(Role::Admin), &[&boss])).await.expect("by an administrator");
    for role in [Some(Role::Read), None] {
        p.invite(&creator, &content, to_users(role, &[&boss])).await.refused(ErrorKind::Forbidden);
    }
    // Who is held below the others stays so.
    p.invite(&w.admin, &content, to_users(Some(Role::Read), &[&editor])).await.expect("held");
    let own = Grantee::User(user(&editor));
    p.remove_permission(&editor, &content, &own).await.refused(ErrorKind::Forbidden);
    assert!(!p.get_space(&editor, &space).await.expect("seen").permissions.edit);
    w.check().await;
}

#[tokio::test]
async fn at_most_100_teams_have_a_role_on_the_same_content() {
    let w = World::new().await;
    let content = Child::Space(space(&w).await);
    let mut teams = Vec::new();
    for _ in 0..101 {
        teams.push(team_of(&w, &[]).await.to_string());
    }
    let last = teams.pop().expect("a team");
    let invite = |teams| Invite { role: Some(Role::Read), users: None, teams: Some(teams) };
    let p = &w.platform;
    p.invite(&w.admin, &content, invite(teams.clone())).await.expect("a hundred");
    let error = p.invite(&w.admin, &content, invite(vec![last.clone()])).await.refused(ErrorKind::Conflict);
    assert!(error.message().starts_with("teams: "), "{error:?}");
    p.invite(&w.admin, &content, invite(teams.clone())).await.expect("the same again");
    let gone = teams[0].parse().expect("an id");
    assert!(p.delete_team(&w.admin, &w.org, &gone).await.expect("deleted"));
    p.invite(&w.admin, &content, invite(vec![last])).await.expect("there is room");
    w.check().await;
}

/// Renames a space until that is refused.
async fn rename(p: Platform, who: Actor, space: SpaceId) {
    for n in 0..100_000 {
        let title = format!("Title {n}").parse().ok();
        match p.update_space(&who, &space, UpdateSpace { title, ..UpdateSpace::default() }).await {
            Err(error) if error.kind() == ErrorKind::NotFound => return,
            Err(error) if error.kind() != ErrorKind::Unavailable => panic!("{error:?}"),
            _ => {}
        }
    }
    panic!("the right was never taken away");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn once_a_right_is_taken_away_nothing_more_is_done_with_it() {
    for by_team in [false, true] {
        let w = World::new().await;
        let (space, guest) = (space(&w).await, w.member("Rea", Some(Role::Read)).await);
        set_level(&w, &space, DefaultLevel::Nobody).await;
        let content = Child::Space(space.clone());
        let team = team_of(&w, &[&guest]).await;
        let invite = match by_team {
            true => to_team(Some(Role::Create), &team),
            false => to_users(Some(Role::Create), &[&guest]),
        };
        w.platform.invite(&w.admin, &content, invite).await.expect("given");
        let using = tokio::spawn(rename(w.platform.clone(), guest.clone(), space.clone()));
        // The first use is waited for, so that both happen at once.
        while w.platform.get_space(&w.admin, &space).await.expect("read").title.as_str() == "Untitled" {
            tokio::task::yield_now().await;
        }
        if by_team {
            let remove = Some(vec![user(&guest).to_string()]);
            let change = UpdateTeamMembers { remove, ..UpdateTeamMembers::default() };
            w.platform.update_team_members(&w.admin, &w.org, &team, change).await.expect("removed");
        } else {
            let grantee = Grantee::User(user(&guest));
            assert!(w.platform.remove_permission(&w.admin, &content, &grantee).await.expect("removed"));
        }
        let at_once = w.platform.get_space(&w.admin, &space).await.expect("read").title;
        using.await.expect("ended");
        let later = w.platform.get_space(&w.admin, &space).await.expect("read").title;
        assert_eq!(at_once, later, "nothing was stored after the right was gone");
        w.check().await;
    }
}
