//! Team members, compared with a model, and the data that remains of a deleted team.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use docs_core::{
    Actor, ErrorKind,
    model::{
        CreateTeam, Invite, Level, Patch, PutTeamMember, Role, TeamId, TeamMembership, TeamRole,
        UpdateMember, UpdateSpace, UpdateTeamMembers, UserId,
    },
    platform::TeamFilter,
    store::{PageRequest, Store},
};
use docs_memstore::{CallKind as FaultStep, FaultPlan, FaultStore, MemStore};
use proptest::prelude::*;

use crate::support::{Refused, World, block_on, failing, person};

/// Number of users. The last one is not a member of the organization.
const PEOPLE: usize = 6;

#[derive(Clone, Debug)]
enum Step {
    /// Adds members, sets roles and removes members. The numbers identify users, and `true` means by e-mail address.
    Change(Vec<(usize, bool)>, BTreeMap<usize, TeamRole>, Vec<(usize, bool)>),
    Put(usize, Option<TeamRole>),
    Remove(usize),
}

fn role() -> impl Strategy<Value = TeamRole> {
    prop_oneof![Just(TeamRole::Owner), Just(TeamRole::Member)]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let named = || prop::collection::vec((0..PEOPLE, any::<bool>()), 0..4);
    let roles = prop::collection::btree_map(0..PEOPLE, role(), 0..3);
    let step = prop_oneof![
        4 => (named(), roles, named()).prop_map(|(add, roles, remove)| Step::Change(add, roles, remove)),
        1 => (0..PEOPLE, prop::option::of(role())).prop_map(|(n, role)| Step::Put(n, role)),
        1 => (0..PEOPLE).prop_map(Step::Remove),
    ];
    prop::collection::vec(step, 1..16)
}

/// Returns the expected result of a change: removal takes precedence, and users who are not in the organization cannot
/// be added.
fn expected(model: &BTreeMap<usize, TeamRole>, step: &Step) -> Result<BTreeMap<usize, TeamRole>, ErrorKind> {
    let mut model = model.clone();
    let stranger = PEOPLE - 1;
    match step {
        Step::Change(add, roles, remove) => {
            if add.iter().any(|(n, _)| *n == stranger) || roles.contains_key(&stranger) {
                return Err(ErrorKind::Invalid);
            }
            for (n, _) in add {
                model.entry(*n).or_insert(TeamRole::Member);
            }
            model.extend(roles.iter().map(|(n, role)| (*n, *role)));
            model.retain(|n, _| !remove.iter().any(|(removed, _)| removed == n));
        }
        Step::Put(n, _) if *n == stranger => return Err(ErrorKind::NotFound),
        Step::Put(n, role) => {
            let place = model.entry(*n).or_insert(TeamRole::Member);
            *place = role.unwrap_or(*place);
        }
        Step::Remove(n) => drop(model.remove(n)),
    }
    Ok(model)
}

async fn run(steps: Vec<Step>, store: Arc<dyn Store>) {
    let w = World::over(store).await;
    let mut people = Vec::new();
    for n in 0..PEOPLE - 1 {
        people.push(user(&w.member(&format!("P{n}"), Some(Role::Read)).await));
    }
    people.push(user(&person(&w.platform, &format!("P{}", PEOPLE - 1)).await));
    let team = new_team(&w, "Team").await;
    let mut model = BTreeMap::new();
    for step in steps {
        let answer = apply(&w, &team, &people, &step).await;
        match expected(&model, &step) {
            Ok(next) => {
                assert_eq!(answer, None, "{step:?}");
                model = next;
            }
            Err(kind) => assert_eq!(answer, Some(kind), "{step:?}"),
        }
        let listed = w.as_admin().org(&w.org).team(&team).list_members(&PageRequest::default()).await;
        let listed = listed.expect("listed");
        let shown: BTreeMap<UserId, TeamRole> =
            listed.items.into_iter().map(|item| (item.organization.id, item.team.role)).collect();
        let wanted: BTreeMap<UserId, TeamRole> =
            model.iter().map(|(n, role)| (people[*n].clone(), *role)).collect();
        assert_eq!(shown, wanted, "{step:?}");
        assert_eq!(listed.count, Some(model.len() as u64));
    }
    w.check().await;
}

/// Performs a step. Returns the error, if any.
async fn apply(w: &World, team: &TeamId, people: &[UserId], step: &Step) -> Option<ErrorKind> {
    let (p, me, org) = (&w.platform, &w.admin, &w.org);
    let name = |(n, by_address): &(usize, bool)| match by_address {
        true => format!("P{n}@Example.com"),
        false => people[*n].to_string(),
    };
    let answer = match step {
        Step::Change(add, roles, remove) => {
            let place =
                |(n, role): (&usize, &TeamRole)| (people[*n].to_string(), TeamMembership { role: *role });
            let change = UpdateTeamMembers {
                add: Some(add.iter().map(name).collect()),
                memberships: Some(roles.iter().map(place).collect()),
                remove: Some(remove.iter().map(name).collect()),
            };
            p.as_actor(me).org(org).team(team).update_members(change).await
        }
        Step::Put(n, role) => {
            p.as_actor(me).org(org).team(team).put_member(&people[*n], PutTeamMember { role: *role }).await
        }
        Step::Remove(n) => p.as_actor(me).org(org).team(team).remove_member(&people[*n]).await.map(drop),
    };
    answer.err().map(|error| error.kind())
}

fn user(actor: &Actor) -> UserId {
    actor.user().expect("a user").clone()
}

async fn new_team(w: &World, title: &str) -> TeamId {
    let new = CreateTeam { title: title.parse().expect("a title"), members: None };
    w.as_admin().org(&w.org).teams().create(new).await.expect("created").id
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn removal_takes_precedence_over_addition(steps in steps()) {
        block_on(run(steps, Arc::new(MemStore::new_json())));
    }
}

proptest! {
    // Each fault causes a delay of several milliseconds.
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    #[test]
    fn removal_takes_precedence_under_commit_faults(steps in steps()) {
        block_on(run(steps, failing()));
    }
}

#[tokio::test]
async fn deleted_team_grants_nothing_and_is_removed_in_batches() {
    let w = World::new().await;
    let space = w.space().await;
    let level = Patch::Clear::<Level>;
    let hidden = UpdateSpace { default_level: level, ..UpdateSpace::default() };
    w.as_admin().space(&space).update(hidden).await.expect("hidden");
    let team = new_team(&w, "Everybody").await;
    let mut members = Vec::new();
    for n in 0..450 {
        members.push(w.member(&format!("P{n}"), Some(Role::Read)).await);
    }
    for some in members.chunks(300) {
        let add = some.iter().map(|member| user(member).to_string()).collect();
        let change = UpdateTeamMembers { add: Some(add), ..UpdateTeamMembers::default() };
        w.as_admin().org(&w.org).team(&team).update_members(change).await.expect("added");
    }
    let invite = Invite { role: Some(Role::Edit), users: None, teams: Some(vec![team.to_string()]) };
    w.as_admin().space(&space).permissions().invite(invite).await.expect("given");
    for member in [&members[0], &members[449]] {
        assert!(w.platform.as_actor(member).space(&space).get().await.expect("seen").permissions.edit);
    }
    assert!(w.as_admin().org(&w.org).team(&team).delete().await.expect("deleted"));
    // No job has run yet.
    for member in [&members[0], &members[449]] {
        w.platform.as_actor(member).space(&space).get().await.refused(ErrorKind::NotFound);
        let page = PageRequest::default();
        let user = user(member);
        let teams = w.as_admin().org(&w.org).member(&user).list_teams(None, &page).await;
        assert!(teams.expect("listed").items.is_empty());
    }
    w.as_admin().org(&w.org).team(&team).get().await.refused(ErrorKind::NotFound);
    assert!(!w.as_admin().org(&w.org).team(&team).delete().await.expect("gone"));
    assert_eq!(w.platform.settle().await.expect("settled"), 1, "a job removes the rest");
    w.check().await;
    let left = docs_core::store::records::TeamMemberRecord::by_team(&team);
    let tx = w.platform.store().begin(docs_core::store::Mode::Read, &[]).await.expect("begins");
    assert!(tx.scan(&[left.scan(10)]).await.expect("read")[0].is_empty());
}

#[tokio::test]
async fn a_request_changes_at_most_300_members() {
    let w = World::new().await;
    let team = new_team(&w, "Team").await;
    let change = |remove: usize, add: usize| UpdateTeamMembers {
        add: Some(vec![user(&w.admin).to_string(); add]),
        remove: Some(vec!["nobody".to_owned(); remove]),
        memberships: None,
    };
    let update = async |change| w.as_admin().org(&w.org).team(&team).update_members(change).await;
    update(change(150, 150)).await.expect("taken");
    let error = update(change(151, 150)).await.refused(ErrorKind::Invalid);
    assert!(error.message().starts_with("remove: "), "{error:?}");
    let error = update(change(0, 301)).await.refused(ErrorKind::Invalid);
    assert!(error.message().starts_with("add: "), "{error:?}");
}

#[tokio::test]
async fn owners_manage_the_members_of_their_team_and_nothing_else() {
    let w = World::new().await;
    let owner = w.member("Owen", Some(Role::Read)).await;
    let other = w.member("Otto", Some(Role::Admin)).await;
    let (mine, theirs) = (new_team(&w, "beta").await, new_team(&w, "Alpha").await);
    let p = &w.platform;
    let put = PutTeamMember { role: Some(TeamRole::Owner) };
    assert!(!p.as_actor(&owner).org(&w.org).get().await.expect("seen").permissions.own_team);
    w.as_admin().org(&w.org).team(&mine).put_member(&user(&owner), put.clone()).await.expect("owns");
    assert!(p.as_actor(&owner).org(&w.org).get().await.expect("seen").permissions.own_team);
    let listed = p.as_actor(&owner).orgs().list(&PageRequest::default()).await.expect("listed");
    assert!(listed.items[0].permissions.own_team);
    p.as_actor(&owner)
        .org(&w.org)
        .team(&mine)
        .put_member(&user(&other), PutTeamMember::default())
        .await
        .expect("added");
    p.as_actor(&owner)
        .org(&w.org)
        .team(&theirs)
        .put_member(&user(&other), put)
        .await
        .refused(ErrorKind::Forbidden);
    p.as_actor(&owner)
        .org(&w.org)
        .team(&theirs)
        .remove_member(&user(&other))
        .await
        .refused(ErrorKind::Forbidden);
    p.as_actor(&owner).org(&w.org).team(&mine).delete().await.refused(ErrorKind::Forbidden);
    let filter = TeamFilter { owner: Some(user(&owner).to_string()), title: None };
    let all =
        p.as_actor(&owner).org(&w.org).teams().list(&TeamFilter::default(), &PageRequest::default()).await;
    let shown: Vec<(String, bool)> =
        all.expect("listed").items.iter().map(|t| (t.title.to_string(), t.permissions.admin)).collect();
    assert_eq!(
        shown,
        [("Alpha".to_owned(), false), ("beta".to_owned(), true)],
        "by title, whatever the case"
    );
    let owned =
        p.as_actor(&other).org(&w.org).teams().list(&filter, &PageRequest::default()).await.expect("listed");
    assert_eq!(owned.items.iter().map(|team| &team.id).collect::<BTreeSet<_>>(), BTreeSet::from([&mine]));
    let guest = w.member("Gus", None).await;
    p.as_actor(&guest)
        .org(&w.org)
        .teams()
        .list(&filter, &PageRequest::default())
        .await
        .refused(ErrorKind::Forbidden);
    p.as_actor(&guest).org(&w.org).team(&mine).get().await.refused(ErrorKind::NotFound);
    let guest = UpdateMember { role: Patch::Clear };
    w.as_admin().org(&w.org).member(&user(&owner)).update(guest).await.expect("a guest");
    p.as_actor(&owner).org(&w.org).team(&mine).get().await.refused(ErrorKind::NotFound);
    assert!(
        !p.as_actor(&owner).org(&w.org).get().await.expect("seen").permissions.own_team,
        "a guest sees no team"
    );
    w.check().await;
}

#[tokio::test]
async fn owned_teams_are_listed_by_title_at_their_own_cost() {
    let store = FaultStore::new(Arc::new(MemStore::new()), FaultPlan::none());
    let w = World::over(Arc::new(store.clone())).await;
    let owner = w.member("Owen", Some(Role::Read)).await;
    let mut expected = Vec::new();
    for n in 0..300 {
        // The order differs from that of the titles.
        let title = format!("Team {:03}", n * 7 % 300);
        let team = new_team(&w, &title).await;
        if n % 40 == 0 {
            let put = PutTeamMember { role: Some(TeamRole::Owner) };
            w.as_admin().org(&w.org).team(&team).put_member(&user(&owner), put).await.expect("owns");
            expected.push(title);
        }
    }
    expected.sort();
    let owned = TeamFilter { owner: Some(user(&owner).to_string()), title: None };
    for (title, expected) in [(None, &expected[..]), (Some(expected[5].to_lowercase()), &expected[5..6])] {
        let filter = TeamFilter { title, ..owned.clone() };
        let (mut shown, mut request) = (Vec::new(), PageRequest { page: None, limit: Some(3) });
        loop {
            let before = store.calls(FaultStep::Scan);
            let page = w.as_admin().org(&w.org).teams().list(&filter, &request).await.expect("listed");
            assert_eq!(store.calls(FaultStep::Scan) - before, 1, "only what is owned is read");
            assert!(page.items.len() <= 3 && page.count.is_none());
            shown.extend(page.items.iter().map(|team| team.title.to_string()));
            let Some(next) = page.next else { break };
            w.as_admin()
                .org(&w.org)
                .teams()
                .list(&TeamFilter::default(), &PageRequest { page: Some(next.clone()), limit: None })
                .await
                .refused(ErrorKind::Invalid);
            request.page = Some(next);
        }
        assert_eq!(shown, expected);
    }
    let none = PageRequest { page: None, limit: Some(0) };
    let page = w.as_admin().org(&w.org).teams().list(&owned, &none).await.expect("listed");
    assert!(page.items.is_empty() && page.next.is_none());
}
