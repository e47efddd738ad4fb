//! Members: lists match a naive filter, an administrator always remains, and removal leaves no data behind.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use docs_core::{
    Actor, ErrorKind, Platform,
    model::{
        CreateChangeRequest, Grantee, ListOrder, Member, MemberRole, MemberSort, Patch, PermissionTarget,
        RequestReviewers, Role, TeamId, TeamRole, Timestamp, UpdateMember, UserId,
    },
    platform::MemberFilter,
    store::{
        Mode, Page, PageRequest, Tx,
        grams::GramQuery,
        records::{GrantRecord, TeamMemberRecord},
    },
};
use proptest::{prelude::*, sample::select};

use crate::support::{Refused, World, block_on, person};

/// Returns all possible roles of members.
fn roles() -> Vec<Option<Role>> {
    std::iter::once(None).chain(Role::ALL.iter().copied().map(Some)).collect()
}

fn user(actor: &Actor) -> UserId {
    actor.user().expect("a user").clone()
}

fn role(role: Option<Role>) -> UpdateMember {
    UpdateMember { role: role.map_or(Patch::Clear, Patch::Set) }
}

async fn page(w: &World, filter: &MemberFilter, limit: u32, page: Option<String>) -> Page<Member> {
    let request = PageRequest { page, limit: Some(limit) };
    w.as_admin().org(&w.org).members().list(filter, &request).await.expect("a page")
}

/// Reads all pages of a list.
async fn walk(w: &World, filter: &MemberFilter, limit: u32) -> Vec<Member> {
    let (mut all, mut next) = (Vec::new(), None);
    loop {
        let found = page(w, filter, limit, next).await;
        assert!(found.items.len() <= limit as usize);
        all.extend(found.items);
        next = found.next;
        if next.is_none() {
            return all;
        }
    }
}

/// Returns the members that satisfy a filter, by checking each member.
fn naive(everybody: &[Member], filter: &MemberFilter) -> Vec<UserId> {
    let wanted = filter.search.as_deref().and_then(GramQuery::new);
    let mut kept: Vec<&Member> = everybody
        .iter()
        .filter(|member| filter.role.is_none_or(|role| MemberRole::from(member.role) == role))
        .filter(|member| filter.sort != MemberSort::LastSeenAt || member.last_seen_at.is_some())
        .filter(|member| {
            let email = member.user.email.as_deref().unwrap_or_default();
            wanted
                .as_ref()
                .is_none_or(|wanted| wanted.is_in(&member.user.display_name) || wanted.is_in(email))
        })
        .collect();
    let at = |member: &Member| match filter.sort {
        MemberSort::JoinedAt => Some(member.joined_at),
        MemberSort::LastSeenAt => member.last_seen_at,
        MemberSort::Name => None,
    };
    let name = |member: &Member| match filter.sort {
        MemberSort::Name => member.user.display_name.to_lowercase(),
        MemberSort::JoinedAt | MemberSort::LastSeenAt => String::new(),
    };
    kept.sort_by_key(|member| (at(member), name(member), member.id.clone()));
    if filter.order == ListOrder::Desc {
        kept.reverse();
    }
    kept.into_iter().map(|member| member.id.clone()).collect()
}

fn ids(members: &[Member]) -> Vec<UserId> {
    members.iter().map(|member| member.id.clone()).collect()
}

fn filters() -> impl Strategy<Value = MemberFilter> {
    let roles = prop_oneof![
        2 => Just(None),
        3 => select(roles()).prop_map(|role| Some(MemberRole::from(role))),
    ];
    let search = prop_oneof![
        1 => Just(None),
        3 => select(vec!["a", "AN", "ann", "anna b", "exam", "@", "co", "x.com", "nobody", " ", "na", "bob"])
            .prop_map(|text| Some(text.parse().expect("a search"))),
    ];
    let sort = select(vec![MemberSort::JoinedAt, MemberSort::LastSeenAt]);
    let order = select(vec![ListOrder::Asc, ListOrder::Desc]);
    (roles, search, sort, order).prop_map(|(role, search, sort, order)| MemberFilter {
        role,
        search,
        sort,
        order,
    })
}

#[derive(Clone, Debug)]
enum Step {
    Join(usize, Option<Role>),
    Leave(usize),
    Role(usize, Option<Role>),
    Ping(usize),
    Wait,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let role = || select(roles());
    let step = prop_oneof![
        4 => (0..NAMES.len(), role()).prop_map(|(n, role)| Step::Join(n, role)),
        2 => (0..NAMES.len()).prop_map(Step::Leave),
        2 => (0..NAMES.len(), role()).prop_map(|(n, role)| Step::Role(n, role)),
        2 => (0..NAMES.len()).prop_map(Step::Ping),
        1 => Just(Step::Wait),
    ];
    prop::collection::vec(step, 1..40)
}

const NAMES: [&str; 8] = ["Anna", "Hanna", "Anna-Bob", "Bob", "Bobby", "Ann", "Nan", "Eva"];

/// The possible members, and the current ones.
struct Model {
    people: Vec<Actor>,
    members: BTreeMap<UserId, (Option<Role>, Option<Timestamp>)>,
}

impl Model {
    fn administrators(&self) -> usize {
        self.members.values().filter(|(role, _)| *role == Some(Role::Admin)).count()
    }

    /// Returns the expected error of an action that removes an administrator.
    fn refuses(&self, user: &UserId) -> Option<ErrorKind> {
        let is_last = self.members.get(user).is_some_and(|(role, _)| *role == Some(Role::Admin))
            && self.administrators() == 1;
        is_last.then_some(ErrorKind::Conflict)
    }
}

async fn apply(w: &World, model: &mut Model, step: &Step) {
    let p = &w.platform;
    let platform = Actor::Platform;
    match step {
        Step::Join(n, role) => {
            let id = user(&model.people[*n]);
            let expected = if *role == Some(Role::Admin) { None } else { model.refuses(&id) };
            let answer = p.as_actor(&platform).org(&w.org).member(&id).put(*role).await;
            assert_eq!(answer.err().map(|e| e.kind()), expected, "{step:?}");
            if expected.is_none() {
                model.members.entry(id).or_default().0 = *role;
            }
        }
        Step::Leave(n) => {
            let id = user(&model.people[*n]);
            let expected = model.refuses(&id);
            let was = model.members.contains_key(&id);
            match p.as_actor(&model.people[*n]).org(&w.org).member(&id).remove().await {
                Ok(there) => assert_eq!((there, expected), (was, None), "{step:?}"),
                Err(error) => assert_eq!(Some(error.kind()), expected, "{step:?}"),
            }
            if expected.is_none() {
                model.members.remove(&id);
            }
        }
        Step::Role(n, new) => {
            let id = user(&model.people[*n]);
            let expected = match model.members.contains_key(&id) {
                false => Some(ErrorKind::NotFound),
                true if *new == Some(Role::Admin) => None,
                true => model.refuses(&id),
            };
            let answer = p.as_actor(&platform).org(&w.org).member(&id).update(role(*new)).await;
            assert_eq!(answer.err().map(|e| e.kind()), expected, "{step:?}");
            if let (None, Some(member)) = (expected, model.members.get_mut(&id)) {
                member.0 = *new;
            }
        }
        Step::Ping(n) => {
            let id = user(&model.people[*n]);
            let answer = p.as_actor(&model.people[*n]).org(&w.org).ping().await;
            assert_eq!(answer.is_ok(), model.members.contains_key(&id), "{step:?}");
            if let Some(member) = model.members.get_mut(&id) {
                member.1 = Some(w.clock_now());
            }
        }
        Step::Wait => w.clock.advance(Duration::from_millis(3)),
    }
}

async fn run(steps: Vec<Step>, filters: Vec<MemberFilter>) {
    let mut w = World::new().await;
    let mut model = Model { people: vec![w.admin.clone()], members: BTreeMap::new() };
    model.members.insert(user(&w.admin), (Some(Role::Admin), None));
    for name in NAMES {
        model.people.push(person(&w.platform, name).await);
    }
    for step in &steps {
        apply(&w, &mut model, step).await;
        assert!(model.administrators() > 0, "an administrator remains");
    }
    let everybody = everybody(&w, &model).await;
    let shown: BTreeMap<_, _> =
        everybody.iter().map(|member| (member.id.clone(), (member.role, member.last_seen_at))).collect();
    assert_eq!(shown, model.members);
    let reader = everybody.iter().find(|member| member.role == Some(Role::Admin)).expect("an administrator");
    w.admin = Actor::User(reader.id.clone());
    for filter in &filters {
        let expected = naive(&everybody, filter);
        for limit in [1, 3, 1000] {
            assert_eq!(ids(&walk(&w, filter, limit).await), expected, "{filter:?} by {limit}");
        }
        let count = page(&w, filter, 1, None).await.count;
        assert!(count.is_none_or(|count| count == expected.len() as u64), "{filter:?}");
    }
    w.check().await;
}

/// Returns all members, each read separately.
async fn everybody(w: &World, model: &Model) -> Vec<Member> {
    let mut everybody = Vec::new();
    for id in model.members.keys() {
        everybody.push(w.platform.as_platform().org(&w.org).member(id).get().await.expect("a member"));
    }
    everybody
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// An administrator remains in every history.
    #[test]
    fn member_lists_equal_a_naive_filter(
        steps in steps(),
        filters in prop::collection::vec(filters(), 1..8),
    ) {
        block_on(run(steps, filters));
    }
}

#[tokio::test]
async fn last_two_administrators_cannot_both_leave_at_once() {
    for round in 0..20 {
        let w = World::new().await;
        let other = w.member("Bea", Some(Role::Admin)).await;
        let (one, two) = (user(&w.admin), user(&other));
        let go = |platform: Platform, me: Actor, id: UserId| {
            let org = w.org.clone();
            async move {
                if round % 2 == 0 {
                    platform.as_actor(&me).org(&org).member(&id).remove().await.map(drop)
                } else {
                    platform
                        .as_actor(&me)
                        .org(&org)
                        .member(&id)
                        .update(role(Some(Role::Read)))
                        .await
                        .map(drop)
                }
            }
        };
        let (a, b) = tokio::join!(
            go(w.platform.clone(), w.admin.clone(), one),
            go(w.platform.clone(), other.clone(), two)
        );
        assert_ne!(a.is_ok(), b.is_ok(), "{a:?} {b:?}");
        let refused = a.err().or(b.err()).expect("one is refused");
        assert_eq!(refused.kind(), ErrorKind::Conflict);
        w.check().await;
    }
}

#[tokio::test]
async fn pagination_under_churn_skips_and_repeats_no_member() {
    let filters = [
        MemberFilter::default(),
        MemberFilter { role: Some(Role::Read.into()), ..MemberFilter::default() },
        MemberFilter { search: Some("ber 1".parse().expect("a search")), ..MemberFilter::default() },
        MemberFilter { order: ListOrder::Asc, ..MemberFilter::default() },
    ];
    for filter in filters {
        let w = World::new().await;
        for n in 0..30 {
            w.member(&format!("Member {}", n + 100), Some(Role::Read)).await;
            w.clock.advance(Duration::from_millis(u64::from(n % 2 == 0)));
        }
        let before = ids(&walk(&w, &filter, 1000).await);
        let (mut seen, mut next, mut touched) = (Vec::new(), None, BTreeSet::new());
        loop {
            let found = page(&w, &filter, 3, next).await;
            seen.extend(ids(&found.items));
            next = found.next;
            if next.is_none() {
                break;
            }
            w.member(&format!("Member 1{}", seen.len() + 500), Some(Role::Read)).await;
            let ahead = before.iter().find(|id| !seen.contains(id) && !touched.contains(*id));
            for gone in seen.last().into_iter().chain(ahead) {
                if *gone != user(&w.admin) {
                    w.as_admin().org(&w.org).member(gone).remove().await.expect("removed");
                    touched.insert(gone.clone());
                }
            }
        }
        assert_eq!(seen.iter().collect::<BTreeSet<_>>().len(), seen.len(), "{filter:?}: nothing twice");
        let rest = |ids: &[UserId]| -> Vec<UserId> {
            ids.iter().filter(|id| before.contains(id) && !touched.contains(*id)).cloned().collect()
        };
        assert_eq!(rest(&seen), rest(&before), "{filter:?}: nothing is skipped");
        w.check().await;
    }
}

/// Gives a user roles on spaces and teams, like the corresponding operations do.
async fn give(w: &World, to: &UserId, spaces: usize) {
    let (store, now) = (w.platform.store(), w.clock_now());
    for chunk in (0..spaces).collect::<Vec<_>>().chunks(100) {
        let mut tx = Tx::new(store.begin(Mode::Write, &[]).await.expect("begins"));
        for n in chunk {
            tx.create(GrantRecord {
                organization: w.org.clone(),
                content: PermissionTarget::Space(format!("space{n}").parse().expect("an id")),
                grantee: Grantee::User(to.clone()),
                role: Role::Edit,
                granted_at: now,
                space_deleted: false,
            });
            let team: TeamId = format!("team{n}").parse().expect("an id");
            tx.create(TeamMemberRecord {
                team,
                organization: w.org.clone(),
                user: to.clone(),
                role: TeamRole::Owner,
                added_at: now,
            });
        }
        tx.commit().await.expect("commits");
    }
}

#[tokio::test]
async fn removing_a_member_removes_grants_teams_and_reviews() {
    for given in [0, 3, 80, 250] {
        let w = World::new().await;
        let (p, leaver) = (&w.platform, w.member("Leo", Some(Role::Review)).await);
        let id = user(&leaver);
        let space = w.space().await;
        let mut requests = Vec::new();
        for _ in 0..3 {
            let new = CreateChangeRequest::default();
            let request = w
                .as_admin()
                .space(&space)
                .change_requests()
                .create(new)
                .await
                .expect("a request")
                .id
                .to_string();
            let ask = RequestReviewers { users: vec![id.to_string()], subject: None, description: None };
            w.as_admin().space(&space).change_request(&request).request_reviewers(ask).await.expect("asked");
            requests.push(request);
        }
        give(&w, &id, given).await;
        let shown = w.as_admin().org(&w.org).member(&id).get().await.expect("a member");
        assert_eq!((shown.spaces, shown.teams), (given as u64, given as u64));
        assert!(w.as_admin().org(&w.org).member(&id).remove().await.expect("removed"));
        assert!(!w.as_admin().org(&w.org).member(&id).remove().await.expect("was no member any more"));
        p.as_actor(&leaver).org(&w.org).get().await.refused(ErrorKind::NotFound);
        w.check().await;
        p.settle().await.expect("settled");
        for request in &requests {
            let of = (&space, request.as_str());
            let asked = w
                .as_admin()
                .space(of.0)
                .change_request(of.1)
                .list_requested_reviewers(&PageRequest::default())
                .await
                .expect("a list");
            assert_eq!(asked.items.len(), 0, "nobody waits for who has left");
        }
        p.as_platform().org(&w.org).member(&id).put(None).await.expect("comes back");
        let back = w.as_admin().org(&w.org).member(&id).get().await.expect("a member");
        assert_eq!((back.spaces, back.teams, back.role), (0, 0, None), "with nothing of before");
        w.check().await;
    }
}

/// Rejoining is a conflict until the cleanup job is done.
#[tokio::test]
async fn member_rejoins_without_roles_after_the_cleanup() {
    let w = World::new().await;
    let id = user(&w.member("Leo", None).await);
    give(&w, &id, 170).await;
    let p = &w.platform;
    w.as_admin().org(&w.org).member(&id).remove().await.expect("removed");
    p.as_platform().org(&w.org).member(&id).put(None).await.refused(ErrorKind::Conflict);
    p.settle().await.expect("settled");
    p.as_platform().org(&w.org).member(&id).put(None).await.expect("comes back");
    give(&w, &id, 5).await;
    p.settle().await.expect("settled");
    assert_eq!(w.as_admin().org(&w.org).member(&id).get().await.expect("a member").spaces, 5);
    w.check().await;
}

#[tokio::test]
async fn members_list_own_spaces_and_administrators_all() {
    let w = World::new().await;
    let (p, guest) = (&w.platform, w.member("Gus", None).await);
    let (reader, id) = (w.member("Rob", Some(Role::Read)).await, user(&guest));
    let mut spaces = Vec::new();
    for _ in 0..5 {
        spaces.push(w.space().await);
        w.clock.advance(Duration::from_millis(1));
    }
    let mut tx = Tx::new(p.store().begin(Mode::Write, &[]).await.expect("begins"));
    for (space, role) in [(&spaces[1], Role::Comment), (&spaces[3], Role::Create)] {
        tx.create(GrantRecord {
            organization: w.org.clone(),
            content: PermissionTarget::Space(space.clone()),
            grantee: Grantee::User(id.clone()),
            role,
            granted_at: w.clock_now(),
            space_deleted: false,
        });
    }
    tx.commit().await.expect("commits");
    let all = PageRequest::default();
    for (actor, may_admin) in [(&guest, false), (&w.admin, true)] {
        for order in [ListOrder::Desc, ListOrder::Asc] {
            let list =
                p.as_actor(actor).org(&w.org).member(&id).list_spaces(order, &all).await.expect("a list");
            let mut shown: Vec<_> =
                list.items.iter().map(|item| (item.space.id.clone(), item.permission)).collect();
            if order == ListOrder::Desc {
                shown.reverse();
            }
            assert_eq!(shown, [(spaces[1].clone(), Role::Comment), (spaces[3].clone(), Role::Create)]);
            assert_eq!(list.items.iter().all(|item| item.space.permissions.admin), may_admin);
        }
    }
    p.as_actor(&reader)
        .org(&w.org)
        .member(&id)
        .list_spaces(ListOrder::Desc, &all)
        .await
        .refused(ErrorKind::Forbidden);
    let nobody = "nobody".parse().expect("an id");
    w.as_admin()
        .org(&w.org)
        .member(&nobody)
        .list_spaces(ListOrder::Desc, &all)
        .await
        .refused(ErrorKind::NotFound);
    let page = PageRequest { page: None, limit: Some(1) };
    let first =
        p.as_actor(&reader).org(&w.org).member(&user(&reader)).list_spaces(ListOrder::Desc, &page).await;
    assert!(first.expect("own").next.is_some());
}

#[tokio::test]
async fn users_are_visible_to_fellow_members_except_guests() {
    let w = World::new().await;
    let (p, guest) = (&w.platform, w.member("Gus", None).await);
    let (reader, stranger) = (w.member("Rob", Some(Role::Read)).await, person(&w.platform, "Zoe").await);
    for (actor, of, seen) in [
        (&reader, &guest, true),
        (&reader, &w.admin, true),
        (&guest, &guest, true),
        (&guest, &reader, false),
        (&reader, &stranger, false),
        (&stranger, &reader, false),
        (&stranger, &stranger, true),
        (&Actor::Platform, &stranger, true),
    ] {
        let answer = p.as_actor(actor).user(&user(of)).get().await;
        assert_eq!(answer.is_ok(), seen, "{actor:?} {of:?}");
        if let Err(error) = answer {
            assert_eq!(error.kind(), ErrorKind::NotFound);
        }
    }
    // Two guests of the same organization are not visible to each other.
    let owner = person(p, "Olga").await;
    let org = p
        .as_platform()
        .orgs()
        .create("Other".parse().expect("a title"), &user(&owner))
        .await
        .expect("org")
        .id;
    for one in [&guest, &stranger] {
        p.as_platform().org(&org).member(&user(one)).put(None).await.expect("a member");
    }
    p.as_actor(&guest).user(&user(&stranger)).get().await.refused(ErrorKind::NotFound);
    p.as_platform().org(&org).member(&user(&guest)).put(Some(Role::Read)).await.expect("a member");
    p.as_actor(&guest).user(&user(&stranger)).get().await.expect("known now");
}

#[tokio::test]
async fn names_of_maximum_length_are_searchable_and_removable() {
    let w = World::new().await;
    let words =
        |most: usize| (0..).flat_map(|n: u32| format!("{n:x} ").chars().collect::<Vec<_>>()).take(most);
    let name: String = words(128).collect::<String>().trim_end().to_owned();
    let email: String = words(250).map(|c| if c == ' ' { '.' } else { c }).collect::<String>() + "@x.y";
    let new = docs_core::platform::NewUser {
        display_name: name.parse().expect("a name"),
        email: email.parse().expect("an address"),
    };
    let user = w.platform.as_platform().users().create(new).await.expect("a user").id;
    w.platform.as_platform().org(&w.org).member(&user).put(None).await.expect("a member");
    give(&w, &user, 100).await;
    for search in [name.as_str(), &email, "1a 1b", "20"] {
        let filter =
            MemberFilter { search: Some(search.parse().expect("a search")), ..MemberFilter::default() };
        assert_eq!(ids(&walk(&w, &filter, 10).await), std::slice::from_ref(&user), "{search}");
    }
    assert!(w.as_admin().org(&w.org).member(&user).remove().await.expect("removed"));
    w.platform.settle().await.expect("settled");
    w.check().await;
}

#[tokio::test]
async fn member_search_works_on_a_json_store() {
    let w = World::over(Arc::new(docs_memstore::MemStore::new_json())).await;
    w.member("Anna", Some(Role::Read)).await;
    let filter = MemberFilter { search: Some("ann".parse().expect("a search")), ..MemberFilter::default() };
    assert_eq!(walk(&w, &filter, 1).await.len(), 1);
    w.check().await;
}

#[tokio::test]
async fn a_cursor_that_is_longer_than_any_position_is_refused() {
    let w = World::new().await;
    w.member("Anna", Some(Role::Read)).await;
    w.member("Anton", Some(Role::Read)).await;
    let searched =
        MemberFilter { search: Some("example".parse().expect("a search")), ..MemberFilter::default() };
    for filter in [MemberFilter::default(), searched] {
        let next = page(&w, &filter, 1, None).await.next.expect("more");
        let bytes = data_encoding::BASE64URL_NOPAD.decode(next.as_bytes()).expect("a cursor");
        let fingerprint: [u8; 8] = bytes[1..9].try_into().expect("eight bytes");
        for (length, answer) in [(1, Ok(())), (700, Ok(())), (701, Err(())), (1_400, Err(()))] {
            let forged = docs_core::store::seal_cursor(&"~".repeat(length), fingerprint.into());
            let request = PageRequest { page: Some(forged), limit: None };
            let listed = w.as_admin().org(&w.org).members().list(&filter, &request).await;
            match answer {
                Ok(()) => assert_eq!(listed.expect("a page").items.len(), 3, "all are before it"),
                Err(()) => drop(listed.refused(ErrorKind::Invalid)),
            }
        }
    }
}
