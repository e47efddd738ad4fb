//! Explicit roles: the rules for combining them, and how they begin and end.

use std::{collections::BTreeMap, sync::Arc};

use docs_core::{
    Actor, ErrorKind, Platform,
    model::{
        ContentTarget, CreateTeam, DefaultLevel, Grantee, Invite, Level, Patch, Role, SpaceId, TeamId,
        UpdateCollection, UpdatePermission, UpdateSpace, UpdateTeamMembers, UserId,
    },
    policy::{Layer, effective_role, resolved_level},
    store::{
        Mode, PageRequest, Tx,
        records::{CollectionRecord, SpaceRecord},
    },
};
use proptest::prelude::*;

use crate::support::{Refused, World, block_on};

fn any_role() -> impl Strategy<Value = Role> {
    prop::sample::select(Role::ALL)
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
    fn organization_administrators_are_admins_of_all_content(layers in layers()) {
        prop_assert_eq!(effective_role(Some(Role::Admin), &layers), Some(Role::Admin));
    }

    /// An explicit role takes precedence over the roles of teams, and those over the level.
    #[test]
    fn precedence_of_role_by_name_team_and_level(
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
    fn own_permissions_take_precedence_over_the_parents(
        org in prop::option::of(any_role()), layers in layers(), role in any_role(), other in layers(),
    ) {
        let mut inner = layers;
        inner[0].member = Some(role);
        let moved: Vec<Layer> = inner[..1].iter().chain(&other).copied().collect();
        prop_assert_eq!(effective_role(org, &inner), effective_role(org, &moved));
    }

    #[test]
    fn resolved_level_does_not_depend_on_the_caller(
        org in prop::option::of(any_role()), layers in layers(), given in (any_role(), any_role(), any::<bool>()),
        at in 0_usize..6,
    ) {
        let mut mine = layers.clone();
        let at = at % mine.len();
        mine[at] = Layer { member: Some(given.0), team: Some(given.1), is_creator: given.2, ..mine[at] };
        prop_assert_eq!(resolved_level(org, &layers), resolved_level(org, &mine));
        if layers.iter().any(|layer| layer.level != DefaultLevel::Inherit) {
            prop_assert_eq!(resolved_level(org, &layers), resolved_level(Some(Role::Admin), &layers));
        }
    }

    #[test]
    fn inheriting_content_grants_the_role_of_its_parent(org in prop::option::of(any_role()), layers in layers()) {
        let inside: Vec<Layer> = std::iter::once(Layer::default()).chain(layers.iter().copied()).collect();
        prop_assert_eq!(effective_role(org, &inside), effective_role(org, &layers));
    }

    #[test]
    fn guest_without_grants_has_no_role(layers in layers()) {
        let given = layers.iter().any(|layer| layer.member.is_some() || layer.team.is_some());
        prop_assert!(given || effective_role(None, &layers).is_none());
    }

    #[test]
    fn higher_team_role_never_lowers_the_effective_role(
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

pub(crate) fn user(actor: &Actor) -> UserId {
    actor.user().expect("a user").clone()
}

async fn set_level(w: &World, space: &SpaceId, level: DefaultLevel) {
    let default_level = Patch::from(level);
    let change = UpdateSpace { default_level, ..UpdateSpace::default() };
    w.as_admin().space(space).update(change).await.expect("changed");
}

pub(crate) fn to_users(role: Option<Role>, users: &[&Actor]) -> Invite {
    Invite { role, users: Some(users.iter().map(|actor| user(actor).to_string()).collect()), teams: None }
}

pub(crate) fn to_team(role: Option<Role>, team: &TeamId) -> Invite {
    Invite { role, users: None, teams: Some(vec![team.to_string()]) }
}

pub(crate) async fn team_of(w: &World, members: &[&Actor]) -> TeamId {
    let members = members.iter().map(|actor| user(actor).to_string()).collect();
    let new = CreateTeam { title: "Team".parse().expect("a title"), members: Some(members) };
    w.as_admin().org(&w.org).teams().create(new).await.expect("created").id
}

/// Moves a space into new nested collections with these levels, innermost first.
async fn nest(w: &World, space: &SpaceId, levels: &[DefaultLevel]) -> Vec<ContentTarget> {
    let store = w.platform.store();
    let mut tx = Tx::new(store.begin(Mode::Write, &[]).await.expect("begins"));
    let old: Arc<SpaceRecord> = tx.get(&SpaceRecord::key_for(space)).await.expect("read").expect("there");
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
    ids.into_iter().map(ContentTarget::Collection).collect()
}

/// Checks a random tree with roles: the list of all roles matches the role that each member sees.
async fn agree(levels: Vec<DefaultLevel>, given: Vec<(usize, usize, Role, bool)>) {
    let w = World::new().await;
    let mut people = vec![w.admin.clone()];
    for (n, role) in [None, Some(Role::Read), Some(Role::Review), Some(Role::Admin)].into_iter().enumerate() {
        people.push(w.member(&format!("P{n}"), role).await);
    }
    let space = w.space().await;
    set_level(&w, &space, levels[0]).await;
    let mut contents = vec![ContentTarget::Space(space.clone())];
    contents.extend(nest(&w, &space, &levels[1..]).await);
    for (content, person, role, by_team) in given {
        let (content, person) = (&contents[content % contents.len()], &people[person % people.len()]);
        let invite = match by_team {
            true => to_team(Some(role), &team_of(&w, &[person]).await),
            false => to_users(Some(role), &[person]),
        };
        w.as_admin().permissions(content).invite(invite).await.expect("given");
    }
    let page = PageRequest { page: None, limit: Some(2) };
    let mut listed = BTreeMap::new();
    let mut at = page.clone();
    loop {
        let content = &contents[0];
        let list = w.as_admin().permissions(content).list(None, &at).await.expect("listed");
        listed.extend(list.items.into_iter().map(|item| (item.user.id, item.permission)));
        let Some(next) = list.next else { break };
        at = PageRequest { page: Some(next), ..page.clone() };
    }
    for person in &people {
        let seen = w.platform.as_actor(person).space(&space).get().await;
        let flags = seen.ok().map(|space| space.permissions);
        let role = listed.get(&user(person)).copied();
        assert_eq!(flags.map(|may| may.comment), role.map(|role| role >= Role::Comment), "{person:?}");
        assert_eq!(flags.map(|may| may.edit), role.map(|role| role >= Role::Edit), "{person:?}");
        assert_eq!(flags.map(|may| may.review), role.map(|role| role >= Role::Review), "{person:?}");
        assert_eq!(flags.map(|may| may.admin), role.map(|role| role >= Role::Create), "{person:?}");
    }
    w.check().await;
}

/// Returns the role of each member on content.
async fn roles(w: &World, content: &ContentTarget) -> BTreeMap<UserId, Role> {
    let page = PageRequest::default();
    let list = w.as_admin().permissions(content).list(None, &page).await.expect("listed");
    assert!(list.next.is_none());
    list.items.into_iter().map(|item| (item.user.id, item.permission)).collect()
}

/// An attempted change of explicit roles: the content, the members, the role, and the method.
#[derive(Clone, Debug)]
struct Try {
    content: usize,
    people: Vec<usize>,
    role: Option<Role>,
    how: How,
}

#[derive(Clone, Copy, Debug)]
enum How {
    Users,
    Team,
    /// Changes or removes the role of the first member.
    One,
    /// Sets the level.
    Level,
}

fn tries() -> impl Strategy<Value = Vec<Try>> {
    let how = prop::sample::select(vec![How::Users, How::Users, How::Team, How::Team, How::One, How::Level]);
    let one = (0_usize..4, prop::collection::vec(0_usize..5, 1..4), prop::option::of(any_role()), how);
    let one = one.prop_map(|(content, people, role, how)| Try { content, people, role, how });
    prop::collection::vec(one, 1..6)
}

async fn attempt(
    w: &World,
    by: &Actor,
    content: &ContentTarget,
    people: &[&Actor],
    what: &Try,
) -> docs_core::Result<()> {
    let p = &w.platform;
    match (what.how, what.role) {
        (How::Users, role) => p.as_actor(by).permissions(content).invite(to_users(role, people)).await,
        (How::Team, role) => {
            let team = team_of(w, people).await;
            if role.is_none() {
                // Grants a role that the attempts can remove.
                w.as_admin()
                    .permissions(content)
                    .invite(to_team(Some(Role::Comment), &team))
                    .await
                    .expect("given");
            }
            p.as_actor(by).permissions(content).invite(to_team(role, &team)).await
        }
        (How::One, role) => {
            let change = UpdatePermission { role: role.map_or(Patch::Clear, Patch::Set) };
            p.as_actor(by).permissions(content).update(&Grantee::User(user(people[0])), change).await
        }
        (How::Level, role) => {
            let default_level = Patch::Set(role.map_or(Level::Inherit, Level::Role));
            match content {
                ContentTarget::Space(id) => {
                    let change = UpdateSpace { default_level, ..UpdateSpace::default() };
                    p.as_actor(by).space(id).update(change).await.map(drop)
                }
                ContentTarget::Collection(id) => {
                    let change = UpdateCollection { default_level, ..UpdateCollection::default() };
                    p.as_actor(by).collection(id).update(change).await.map(drop)
                }
            }
        }
    }
}

/// Performs the attempts of a content creator in a random tree with roles.
async fn rise(levels: Vec<DefaultLevel>, given: Vec<(usize, usize, Role, bool)>, tries: Vec<Try>) {
    let w = World::new().await;
    let cat = w.member("Cat", Some(Role::Create)).await;
    let mut people = vec![w.admin.clone(), cat.clone()];
    for (n, role) in [None, Some(Role::Read), Some(Role::Review)].into_iter().enumerate() {
        people.push(w.member(&format!("P{n}"), role).await);
    }
    let space = w.space().await;
    set_level(&w, &space, levels[0]).await;
    let mut contents = vec![ContentTarget::Space(space.clone())];
    contents.extend(nest(&w, &space, &levels[1..]).await);
    for (content, person, role, by_team) in given {
        let (content, person) = (&contents[content % contents.len()], &people[person % people.len()]);
        let invite = match by_team {
            true => to_team(Some(role), &team_of(&w, &[person]).await),
            false => to_users(Some(role), &[person]),
        };
        w.as_admin().permissions(content).invite(invite).await.expect("given");
    }
    for what in tries {
        let content = &contents[what.content % contents.len()];
        let about: Vec<&Actor> = what.people.iter().map(|n| &people[*n]).collect();
        let before = roles(&w, content).await;
        let done = attempt(&w, &cat, content, &about, &what).await;
        let after = roles(&w, content).await;
        let own = before.get(&user(&cat)).copied();
        if matches!(what.how, How::Level) {
            // A level applies to everyone in its scope, so only the role of the user who sets it is checked: it must
            // not increase.
            assert!(done.is_err() || after.get(&user(&cat)).copied() <= own, "{what:?} {before:?} {after:?}");
            continue;
        }
        for person in people.iter().map(user) {
            let (was, is) = (before.get(&person).copied(), after.get(&person).copied());
            let untouched =
                was == is || (done.is_err() && matches!(what.how, How::Team) && what.role.is_none());
            assert!(
                untouched || (done.is_ok() && was.max(is) <= own),
                "{person} {what:?} {before:?} {after:?}"
            );
        }
    }
    w.check().await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn listed_roles_match_the_permissions_of_each_user(
        levels in prop::collection::vec(any_level(), 1..5),
        given in prop::collection::vec((0_usize..5, 0_usize..5, any_role(), any::<bool>()), 0..6),
    ) {
        block_on(agree(levels, given));
    }

    #[test]
    fn callers_change_no_role_above_their_own(
        levels in prop::collection::vec(any_level(), 1..4),
        given in prop::collection::vec((0_usize..4, 0_usize..5, any_role(), any::<bool>()), 0..6),
        tries in tries(),
    ) {
        block_on(rise(levels, given, tries));
    }
}

#[tokio::test]
async fn direct_grant_controls_listing_and_access() {
    let w = World::new().await;
    let (space, guest) = (w.space().await, w.member("Gus", None).await);
    let content = ContentTarget::Space(space.clone());
    let p = &w.platform;
    let seen = async || {
        p.as_actor(&guest)
            .org(&w.org)
            .spaces()
            .list(&PageRequest::default())
            .await
            .expect("listed")
            .items
            .len()
    };
    assert_eq!(seen().await, 0);
    p.as_actor(&guest).space(&space).get().await.refused(ErrorKind::NotFound);
    w.as_admin().permissions(&content).invite(to_users(Some(Role::Comment), &[&guest])).await.expect("given");
    assert_eq!(seen().await, 1);
    assert!(p.as_actor(&guest).space(&space).get().await.expect("seen").permissions.comment);
    // Guests are not visible to each other.
    p.as_actor(&guest)
        .permissions(&content)
        .list(None, &PageRequest::default())
        .await
        .refused(ErrorKind::Forbidden);
    w.as_admin().permissions(&content).invite(to_users(None, &[&guest])).await.expect("taken");
    assert_eq!(seen().await, 0);
    p.as_actor(&guest).space(&space).get().await.refused(ErrorKind::NotFound);
    let grantee = Grantee::User(user(&guest));
    assert!(!w.as_admin().permissions(&content).remove(&grantee).await.expect("none"));
    let change = UpdatePermission { role: Patch::Set(Role::Read) };
    w.as_admin().permissions(&content).update(&grantee, change).await.refused(ErrorKind::NotFound);
    w.check().await;
}

#[tokio::test]
async fn grants_require_permission_and_a_role_not_above_own() {
    let w = World::new().await;
    let (space, creator) = (w.space().await, w.member("Cleo", Some(Role::Create)).await);
    let (editor, boss) = (w.member("Eve", Some(Role::Edit)).await, w.member("Bob", Some(Role::Read)).await);
    let content = ContentTarget::Space(space.clone());
    let p = &w.platform;
    p.as_actor(&editor)
        .permissions(&content)
        .invite(to_users(Some(Role::Read), &[&boss]))
        .await
        .refused(ErrorKind::Forbidden);
    p.as_actor(&creator)
        .permissions(&content)
        .invite(to_users(Some(Role::Admin), &[&boss]))
        .await
        .refused(ErrorKind::Forbidden);
    p.as_actor(&creator)
        .permissions(&content)
        .invite(to_users(Some(Role::Create), &[&boss]))
        .await
        .expect("as much as their own");
    w.as_admin()
        .permissions(&content)
        .invite(to_users(Some(Role::Admin), &[&boss]))
        .await
        .expect("by an administrator");
    for role in [Some(Role::Read), None] {
        p.as_actor(&creator)
            .permissions(&content)
            .invite(to_users(role, &[&boss]))
            .await
            .refused(ErrorKind::Forbidden);
    }
    // An explicit role that restricts its member remains.
    w.as_admin().permissions(&content).invite(to_users(Some(Role::Read), &[&editor])).await.expect("held");
    let own = Grantee::User(user(&editor));
    p.as_actor(&editor).permissions(&content).remove(&own).await.refused(ErrorKind::Forbidden);
    assert!(!p.as_actor(&editor).space(&space).get().await.expect("seen").permissions.edit);
    w.check().await;
}

#[tokio::test]
async fn at_most_100_teams_have_a_role_on_the_same_content() {
    let w = World::new().await;
    let content = ContentTarget::Space(w.space().await);
    let mut teams = Vec::new();
    for _ in 0..101 {
        teams.push(team_of(&w, &[]).await.to_string());
    }
    let last = teams.pop().expect("a team");
    let invite = |teams| Invite { role: Some(Role::Read), users: None, teams: Some(teams) };
    w.as_admin().permissions(&content).invite(invite(teams.clone())).await.expect("a hundred");
    let error = w
        .as_admin()
        .permissions(&content)
        .invite(invite(vec![last.clone()]))
        .await
        .refused(ErrorKind::Conflict);
    assert!(error.message().starts_with("teams: "), "{error:?}");
    w.as_admin().permissions(&content).invite(invite(teams.clone())).await.expect("the same again");
    let gone = teams[0].parse().expect("an id");
    assert!(w.as_admin().org(&w.org).team(&gone).delete().await.expect("deleted"));
    w.as_admin().permissions(&content).invite(invite(vec![last])).await.expect("there is room");
    w.check().await;
}

/// Renames a space until the update is rejected.
async fn rename(p: Platform, who: Actor, space: SpaceId) {
    for n in 0..100_000 {
        let title = format!("Title {n}").parse().ok();
        match p.as_actor(&who).space(&space).update(UpdateSpace { title, ..UpdateSpace::default() }).await {
            Err(error) if error.kind() == ErrorKind::NotFound => return,
            Err(error) if error.kind() != ErrorKind::Unavailable => panic!("{error:?}"),
            _ => {}
        }
    }
    panic!("the right was never taken away");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_write_is_stored_after_its_permission_is_revoked() {
    for by_team in [false, true] {
        let w = World::new().await;
        let (space, guest) = (w.space().await, w.member("Rea", Some(Role::Read)).await);
        set_level(&w, &space, DefaultLevel::Nobody).await;
        let content = ContentTarget::Space(space.clone());
        let team = team_of(&w, &[&guest]).await;
        let invite = match by_team {
            true => to_team(Some(Role::Create), &team),
            false => to_users(Some(Role::Create), &[&guest]),
        };
        w.as_admin().permissions(&content).invite(invite).await.expect("given");
        let using = tokio::spawn(rename(w.platform.clone(), guest.clone(), space.clone()));
        // Waits for the first rename, so that both operations are concurrent.
        while w.as_admin().space(&space).get().await.expect("read").title.as_str() == "Untitled" {
            tokio::task::yield_now().await;
        }
        if by_team {
            let remove = Some(vec![user(&guest).to_string()]);
            let change = UpdateTeamMembers { remove, ..UpdateTeamMembers::default() };
            w.as_admin().org(&w.org).team(&team).update_members(change).await.expect("removed");
        } else {
            let grantee = Grantee::User(user(&guest));
            assert!(w.as_admin().permissions(&content).remove(&grantee).await.expect("removed"));
        }
        let at_once = w.as_admin().space(&space).get().await.expect("read").title;
        using.await.expect("ended");
        let later = w.as_admin().space(&space).get().await.expect("read").title;
        assert_eq!(at_once, later, "nothing was stored after the right was gone");
        w.check().await;
    }
}

#[tokio::test]
async fn no_grant_to_members_with_a_higher_team_role_or_level() {
    let w = World::new().await;
    let (cat, bob) = (w.member("Cat", Some(Role::Create)).await, w.member("Bob", Some(Role::Read)).await);
    let eve = w.member("Eve", Some(Role::Edit)).await;
    let space = w.space().await;
    let outer = nest(&w, &space, &[DefaultLevel::Inherit]).await.remove(0);
    let (content, p) = (ContentTarget::Space(space.clone()), &w.platform);
    let bosses = team_of(&w, &[&bob]).await;
    w.as_admin().permissions(&outer).invite(to_team(Some(Role::Admin), &bosses)).await.expect("given");
    let (mixed, equals) = (team_of(&w, &[&bob, &eve]).await, team_of(&w, &[&w.admin, &eve]).await);
    for role in [Role::Read, Role::Create] {
        p.as_actor(&cat)
            .permissions(&content)
            .invite(to_users(Some(role), &[&bob]))
            .await
            .refused(ErrorKind::Forbidden);
        p.as_actor(&cat)
            .permissions(&content)
            .invite(to_team(Some(role), &mixed))
            .await
            .refused(ErrorKind::Forbidden);
        p.as_actor(&cat)
            .permissions(&content)
            .invite(to_users(Some(role), &[&w.admin]))
            .await
            .refused(ErrorKind::Forbidden);
    }
    p.as_actor(&cat)
        .permissions(&content)
        .invite(to_team(Some(Role::Review), &equals))
        .await
        .expect("administrators stay what they are");
    assert!(p.as_actor(&eve).space(&space).get().await.expect("seen").permissions.review);
    assert_eq!(roles(&w, &content).await.get(&user(&bob)), Some(&Role::Admin));
    // A creator cannot raise a member above the creator's own role by removing a restriction.
    let held = Grantee::User(user(&bob));
    w.as_admin().permissions(&content).invite(to_users(Some(Role::Read), &[&bob])).await.expect("held");
    p.as_actor(&cat).permissions(&content).remove(&held).await.refused(ErrorKind::Forbidden);
    let more = UpdatePermission { role: Patch::Set(Role::Create) };
    p.as_actor(&cat).permissions(&content).update(&held, more).await.expect("as much as their own");
    assert!(w.as_admin().permissions(&content).remove(&held).await.expect("by an administrator"));
    w.check().await;
}

#[tokio::test]
async fn no_level_change_beyond_the_own_role() {
    let w = World::new().await;
    let cat = w.member("Cat", Some(Role::Create)).await;
    let space = w.space().await;
    let outer = nest(&w, &space, &[DefaultLevel::Inherit]).await.remove(0);
    let p = &w.platform;
    let set = async |actor: &Actor, content: &ContentTarget, level: DefaultLevel| {
        let default_level = Patch::from(level);
        match content {
            ContentTarget::Space(id) => {
                let change = UpdateSpace { default_level, ..UpdateSpace::default() };
                p.as_actor(actor).space(id).update(change).await.map(drop)
            }
            ContentTarget::Collection(id) => {
                let change = UpdateCollection { default_level, ..UpdateCollection::default() };
                p.as_actor(actor).collection(id).update(change).await.map(drop)
            }
        }
    };
    let admin = DefaultLevel::Role(Role::Admin);
    let content = ContentTarget::Space(space.clone());
    for content in [&content, &outer] {
        let error = set(&cat, content, admin).await.refused(ErrorKind::Forbidden);
        assert!(error.message().starts_with("defaultLevel: "), "{error}");
        set(&cat, content, DefaultLevel::Role(Role::Create)).await.expect("as much as their own");
    }
    // An inherited level has the same effect as an explicit one.
    set(&w.admin, &outer, admin).await.expect("by an administrator");
    set(&cat, &content, DefaultLevel::Inherit).await.refused(ErrorKind::Forbidden);
    // The level cannot be lowered either, because it is higher than the role of the caller.
    w.as_admin().permissions(&outer).invite(to_users(Some(Role::Create), &[&cat])).await.expect("held");
    set(&cat, &outer, DefaultLevel::Role(Role::Read)).await.refused(ErrorKind::Forbidden);
    assert_eq!(roles(&w, &content).await.get(&user(&cat)), Some(&Role::Create));
}
