//! Roles on sites: default levels, grants, and their effect on the site and its spaces.

use std::{collections::BTreeMap, time::Duration};

use docs_core::{
    Actor, ErrorKind,
    model::{
        CreateSite, DefaultLevel, Grantee, Invite, Level, Patch, Role, SiteId, SitePermissionOrigin,
        SitePermissionReason, SitePermissions, SiteSpacesInput, UpdatePermission, UpdateSite, UserId,
        UserSitePermission,
    },
    platform::{MemberFilter, SiteFilter, SitePermissionFilter, SiteSpaceFilter},
    policy::{Layer, SiteRoleSource, effective_role, site_role},
    store::{MAX_SCAN, Mode, PageRequest, Tx, records::GrantRecord},
};
use proptest::prelude::*;

use crate::{
    permissions::{team_of, to_team, to_users, user},
    support::{Refused, World, block_on},
};

fn any_role() -> impl Strategy<Value = Role> {
    prop::sample::select(Role::ALL)
}

fn any_level() -> impl Strategy<Value = DefaultLevel> {
    prop_oneof![
        2 => Just(DefaultLevel::Inherit),
        1 => Just(DefaultLevel::Nobody),
        2 => any_role().prop_map(DefaultLevel::Role),
    ]
}

async fn site_by(w: &World, creator: &Actor) -> SiteId {
    // Sites of the same millisecond have no defined order.
    w.clock.advance(Duration::from_millis(1));
    let new = CreateSite { title: Some("Docs".parse().expect("a title")), ..CreateSite::default() };
    w.platform.as_actor(creator).org(&w.org).sites().create(new).await.expect("created").id
}

async fn invite(w: &World, by: &Actor, site: &SiteId, invite: Invite) -> docs_core::Result<()> {
    w.platform.as_actor(by).org(&w.org).site(site).permissions().invite(invite).await
}

async fn set_level(w: &World, by: &Actor, site: &SiteId, level: DefaultLevel) -> docs_core::Result<()> {
    let change = UpdateSite { default_level: Patch::from(level), ..UpdateSite::default() };
    w.platform.as_actor(by).org(&w.org).site(site).update(change).await.map(drop)
}

/// Returns the caller's permissions on a site, or `None` if it is hidden.
async fn permissions(w: &World, of: &Actor, site: &SiteId) -> Option<SitePermissions> {
    match w.platform.as_actor(of).org(&w.org).site(site).get().await {
        Ok(site) => Some(site.permissions),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
            None
        }
    }
}

/// Returns all listed roles on a site, in pages of two members.
async fn listed(
    w: &World,
    site: &SiteId,
    filter: &SitePermissionFilter,
) -> BTreeMap<UserId, UserSitePermission> {
    let mut found = BTreeMap::new();
    let mut page = PageRequest { page: None, limit: Some(2) };
    loop {
        let site = w.as_admin().org(&w.org).site(site);
        let list = site.list_permissions(filter, &page).await.expect("listed");
        found.extend(list.items.into_iter().map(|item| (item.user.id.clone(), item)));
        let Some(next) = list.next else { return found };
        page.page = Some(next);
    }
}

async fn roles(w: &World, site: &SiteId) -> BTreeMap<UserId, Role> {
    let all = listed(w, site, &SitePermissionFilter::default()).await;
    all.into_iter().map(|(user, item)| (user, item.permission)).collect()
}

/// A grant to a person, directly or through a team of their own.
type Grant = (usize, Role, bool);

async fn grant(w: &World, site: &SiteId, people: &[Actor], given: Vec<Grant>) {
    for (person, role, by_team) in given {
        let person = &people[person % people.len()];
        let grants = match by_team {
            true => to_team(Some(role), &team_of(w, &[person]).await),
            false => to_users(Some(role), &[person]),
        };
        invite(w, &w.admin, site, grants).await.expect("granted");
    }
}

/// Creates an administrator, a site creator, a guest, a reader and an administrator, and the site of the creator.
async fn peopled() -> (World, Vec<Actor>, SiteId) {
    let w = World::new().await;
    let cat = w.member("Cat", Some(Role::Create)).await;
    let site = site_by(&w, &cat).await;
    let mut people = vec![w.admin.clone(), cat];
    for (n, role) in [None, Some(Role::Read), Some(Role::Create)].into_iter().enumerate() {
        people.push(w.member(&format!("P{n}"), role).await);
    }
    (w, people, site)
}

/// Checks that the list of roles matches the permissions that each member sees.
async fn agree(level: DefaultLevel, given: Vec<Grant>) {
    let (w, people, site) = peopled().await;
    set_level(&w, &w.admin, &site, level).await.expect("set");
    grant(&w, &site, &people, given).await;
    let roles = roles(&w, &site).await;
    for (at, person) in people.iter().enumerate() {
        let seen = permissions(&w, person, &site).await;
        let role = roles.get(&user(person)).copied();
        let needed = if at == 1 { Role::Create } else { Role::Admin };
        assert_eq!(seen.map(|may| may.admin), role.map(|role| role >= needed), "{person:?}");
        assert_eq!(seen.map(|may| may.edit), role.map(|role| role >= Role::Edit), "{person:?}");
        let sites = w.platform.as_actor(person).org(&w.org).sites();
        let list = sites.list(&SiteFilter::default(), &PageRequest::default()).await.expect("listed");
        assert_eq!(list.items.len(), usize::from(role.is_some()), "{person:?}");
        assert!(
            list.count.is_none_or(|count| count == u64::from(role.is_some())),
            "{person:?}: {:?}",
            list.count
        );
    }
    w.check().await;
}

/// An attempt of the site's creator to change a role or the level.
#[derive(Clone, Copy, Debug)]
enum Attempt {
    User(usize, Option<Role>),
    Team(usize, usize, Option<Role>),
    Update(usize, Option<Role>),
    Level(DefaultLevel),
}

fn any_attempt() -> impl Strategy<Value = Attempt> {
    let role = || prop::option::of(any_role());
    prop_oneof![
        (0_usize..5, role()).prop_map(|(person, role)| Attempt::User(person, role)),
        (0_usize..5, 0_usize..5, role()).prop_map(|(one, other, role)| Attempt::Team(one, other, role)),
        (0_usize..5, role()).prop_map(|(person, role)| Attempt::Update(person, role)),
        any_level().prop_map(Attempt::Level),
    ]
}

async fn attempt(w: &World, people: &[Actor], site: &SiteId, what: Attempt) -> docs_core::Result<()> {
    let cat = &people[1];
    match what {
        Attempt::User(person, role) => invite(w, cat, site, to_users(role, &[&people[person]])).await,
        Attempt::Team(one, other, role) => {
            let team = team_of(w, &[&people[one], &people[other]]).await;
            invite(w, cat, site, to_team(role, &team)).await
        }
        Attempt::Update(person, role) => {
            let change = UpdatePermission { role: role.map_or(Patch::Clear, Patch::Set) };
            let permissions = w.platform.as_actor(cat).org(&w.org).site(site).permissions();
            permissions.update(&Grantee::User(user(&people[person])), change).await
        }
        Attempt::Level(level) => set_level(w, cat, site, level).await,
    }
}

async fn rise(level: DefaultLevel, given: Vec<Grant>, attempts: Vec<Attempt>) {
    let (w, people, site) = peopled().await;
    set_level(&w, &w.admin, &site, level).await.expect("set");
    grant(&w, &site, &people, given).await;
    for what in attempts {
        let before = roles(&w, &site).await;
        let managed = permissions(&w, &people[1], &site).await.is_some_and(|may| may.admin);
        let done = attempt(&w, &people, &site, what).await;
        let after = roles(&w, &site).await;
        let own = before.get(&user(&people[1])).copied();
        assert!(managed || done.is_err(), "{what:?} needs the right to manage the site");
        if done.is_err() {
            assert_eq!(before, after, "{what:?} was rejected");
            continue;
        }
        let still = permissions(&w, &people[1], &site).await.is_some_and(|may| may.admin);
        assert!(still || !matches!(what, Attempt::Level(_)), "{what:?} keeps the control of its caller");
        for person in people.iter().map(user) {
            let (was, is) = (before.get(&person).copied(), after.get(&person).copied());
            // A level applies to all members, so it can lower a role above that of its caller.
            let highest = if matches!(what, Attempt::Level(_)) { is } else { was.max(is) };
            assert!(was == is || highest <= own, "{what:?}");
        }
    }
    w.check().await;
}

proptest! {
    #[test]
    fn site_without_permissions_has_the_organization_role(org in prop::option::of(any_role()), creator in any::<bool>()) {
        let layer = Layer { is_creator: creator, ..Layer::default() };
        let expected = org.map(|role| (role, SiteRoleSource::Organization));
        prop_assert_eq!(site_role(org, layer), expected);
    }

    #[test]
    fn source_of_a_site_role_matches_the_role(
        org in prop::option::of(any_role()), level in any_level(), is_creator in any::<bool>(),
        member in prop::option::of(any_role()), team in prop::option::of(any_role()),
    ) {
        let layer = Layer { level, is_creator, member, team };
        prop_assert_eq!(site_role(org, layer).map(|(role, _)| role), effective_role(org, &[layer]));
        if let Some((role, source)) = site_role(org, layer) {
            let expected = match source {
                SiteRoleSource::Member => member,
                SiteRoleSource::Team => team,
                SiteRoleSource::Level => level.stated().and_then(|level| match level {
                    Level::Role(role) => Some(role),
                    Level::Inherit => None,
                }),
                SiteRoleSource::Organization => org,
            };
            prop_assert_eq!(Some(role), expected);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn listed_site_roles_match_the_permissions_of_each_user(
        level in any_level(), given in prop::collection::vec((0_usize..5, any_role(), any::<bool>()), 0..5),
    ) {
        block_on(agree(level, given));
    }

    #[test]
    fn callers_change_no_site_role_above_their_own(
        level in any_level(), given in prop::collection::vec((0_usize..5, any_role(), any::<bool>()), 0..5),
        attempts in prop::collection::vec(any_attempt(), 1..6),
    ) {
        block_on(rise(level, given, attempts));
    }
}

#[tokio::test]
async fn site_grant_controls_listing_and_access_of_a_guest() {
    let w = World::new().await;
    let (site, other) = (site_by(&w, &w.admin).await, site_by(&w, &w.admin).await);
    let gus = w.member("Gus", None).await;
    let seen = async || {
        let sites = w.platform.as_actor(&gus).org(&w.org).sites();
        let list = sites.list(&SiteFilter::default(), &PageRequest::default()).await.expect("listed");
        (list.items.into_iter().map(|site| site.id).collect::<Vec<_>>(), list.count)
    };
    assert_eq!(seen().await, (Vec::new(), Some(0)));
    invite(&w, &w.admin, &site, to_users(Some(Role::Read), &[&gus])).await.expect("granted");
    assert_eq!(seen().await, (vec![site.clone()], Some(1)));
    assert_eq!(permissions(&w, &gus, &other).await, None);
    // Guests are not visible to each other.
    let at = w.platform.as_actor(&gus).org(&w.org);
    let (filter, page) = (SitePermissionFilter::default(), PageRequest::default());
    at.site(&site).list_permissions(&filter, &page).await.refused(ErrorKind::Forbidden);
    at.site(&site).permissions().list_users(&page).await.refused(ErrorKind::Forbidden);
    at.site(&site).unpublish().await.refused(ErrorKind::Forbidden);
    invite(&w, &w.admin, &site, to_users(Some(Role::Admin), &[&gus])).await.expect("granted");
    at.site(&site).unpublish().await.expect("a site administrator may");
    invite(&w, &w.admin, &site, to_users(None, &[&gus])).await.expect("removed");
    assert_eq!(seen().await, (Vec::new(), Some(0)));
    at.site(&site).get().await.refused(ErrorKind::NotFound);
    w.check().await;
}

#[tokio::test]
async fn closed_site_is_hidden_with_its_number() {
    let w = World::new().await;
    let (cat, rea) = (w.member("Cat", Some(Role::Create)).await, w.member("Rea", Some(Role::Create)).await);
    let (site, open) = (site_by(&w, &cat).await, site_by(&w, &w.admin).await);
    let list = async |actor: &Actor| {
        let sites = w.platform.as_actor(actor).org(&w.org).sites();
        let list = sites.list(&SiteFilter::default(), &PageRequest::default()).await.expect("listed");
        (list.items.into_iter().map(|site| site.id).collect::<Vec<_>>(), list.count)
    };
    assert_eq!(list(&rea).await, (vec![site.clone(), open.clone()], Some(2)));
    set_level(&w, &cat, &site, DefaultLevel::Nobody).await.expect("the creator still sees it");
    assert_eq!(list(&rea).await, (vec![open.clone()], None));
    assert_eq!(list(&w.admin).await, (vec![site.clone(), open.clone()], Some(2)));
    assert!(permissions(&w, &cat, &site).await.expect("the creator").admin);
    let at = w.platform.as_actor(&rea).org(&w.org);
    at.site(&site).get().await.refused(ErrorKind::NotFound);
    at.site(&site).publish().await.refused(ErrorKind::NotFound);
    assert!(!at.site(&site).delete().await.expect("a deletion of a hidden site does nothing"));
    w.as_admin().org(&w.org).site(&site).publish().await.expect("published");
    let shown = at.site(&site).get().await.expect("a visitor of the published site");
    assert_eq!(shown.permissions, SitePermissions::VISITOR);
    at.site(&site).unpublish().await.refused(ErrorKind::NotFound);
    set_level(&w, &w.admin, &site, DefaultLevel::Inherit).await.expect("set");
    assert_eq!(list(&rea).await, (vec![site, open], Some(2)));
    w.check().await;
}

#[tokio::test]
async fn level_change_keeps_the_control_of_its_caller() {
    let w = World::new().await;
    let cat = w.member("Cat", Some(Role::Create)).await;
    let site = site_by(&w, &cat).await;
    for level in [DefaultLevel::Role(Role::Review), DefaultLevel::Role(Role::Read)] {
        let error = set_level(&w, &cat, &site, level).await.refused(ErrorKind::Precondition);
        assert!(error.message().starts_with("defaultLevel: "), "{error}");
    }
    set_level(&w, &cat, &site, DefaultLevel::Role(Role::Admin)).await.refused(ErrorKind::Forbidden);
    set_level(&w, &cat, &site, DefaultLevel::Role(Role::Create)).await.expect("their own role");
    // An administrator of the site by a grant must keep that role.
    let sue = w.member("Sue", Some(Role::Read)).await;
    invite(&w, &w.admin, &site, to_users(Some(Role::Admin), &[&sue])).await.expect("granted");
    set_level(&w, &sue, &site, DefaultLevel::Nobody).await.expect("the grant remains");
    assert!(permissions(&w, &sue, &site).await.expect("visible").admin);
    w.check().await;
}

#[tokio::test]
async fn site_permission_list_has_the_source_of_each_role() {
    let (w, people, site) = peopled().await;
    set_level(&w, &w.admin, &site, DefaultLevel::Role(Role::Comment)).await.expect("set");
    invite(&w, &w.admin, &site, to_users(Some(Role::Review), &[&people[2]])).await.expect("granted");
    let (low, high) = (team_of(&w, &[&people[3]]).await, team_of(&w, &[&people[3], &people[2]]).await);
    invite(&w, &w.admin, &site, to_team(Some(Role::Read), &low)).await.expect("granted");
    invite(&w, &w.admin, &site, to_team(Some(Role::Edit), &high)).await.expect("granted");
    let all = listed(&w, &site, &SitePermissionFilter::default()).await;
    let of = |person: &Actor| {
        let item = &all[&user(person)];
        let source = match &item.origin {
            SitePermissionOrigin::Organization { organization, .. } => {
                assert_eq!(*organization, w.org);
                None
            }
            SitePermissionOrigin::Site { site: at, reason, team, .. } => {
                assert_eq!(*at, site);
                Some((*reason, team.clone()))
            }
        };
        (item.permission, source)
    };
    assert_eq!(of(&people[0]), (Role::Admin, None));
    assert_eq!(of(&people[1]), (Role::Comment, Some((SitePermissionReason::Default, None))));
    assert_eq!(of(&people[2]), (Role::Review, Some((SitePermissionReason::Member, None))));
    assert_eq!(of(&people[3]), (Role::Edit, Some((SitePermissionReason::Team, Some(high.clone())))));
    let found =
        async |filter: SitePermissionFilter| listed(&w, &site, &filter).await.into_keys().collect::<Vec<_>>();
    let role = Some(Role::Review.into());
    assert_eq!(found(SitePermissionFilter { role, ..Default::default() }).await, [user(&people[2])]);
    let search = Some("P1@example".parse().expect("a text"));
    assert_eq!(found(SitePermissionFilter { search, ..Default::default() }).await, [user(&people[3])]);
    let team = Some(low.to_string());
    assert_eq!(found(SitePermissionFilter { team, ..Default::default() }).await, [user(&people[3])]);
    let unknown = SitePermissionFilter { team: Some("unknown".to_owned()), ..Default::default() };
    let at = w.as_admin().org(&w.org);
    let error = at.site(&site).list_permissions(&unknown, &PageRequest::default()).await;
    assert!(error.refused(ErrorKind::Invalid).message().starts_with("team: "));
}

#[tokio::test]
async fn roles_on_a_site_do_not_extend_to_its_spaces() {
    let w = World::new().await;
    let (space, gus) = (w.space().await, w.member("Gus", None).await);
    let spaces = Some(SiteSpacesInput::Existing(vec![space.to_string()]));
    let new = CreateSite { spaces, ..CreateSite::default() };
    let site = w.as_admin().org(&w.org).sites().create(new).await.expect("created").id;
    invite(&w, &w.admin, &site, to_users(Some(Role::Admin), &[&gus])).await.expect("granted");
    let at = w.platform.as_actor(&gus).org(&w.org);
    let page = PageRequest::default();
    assert_eq!(at.site(&site).get().await.expect("visible").default_space, None);
    assert!(
        at.site(&site)
            .spaces()
            .list(SiteSpaceFilter::default(), &page)
            .await
            .expect("listed")
            .items
            .is_empty()
    );
    w.platform.as_actor(&gus).space(&space).get().await.refused(ErrorKind::NotFound);
}

#[tokio::test]
async fn deleting_a_site_removes_all_its_grants() {
    let w = World::new().await;
    let site = site_by(&w, &w.admin).await;
    for n in 0..35 {
        let member = w.member(&format!("P{n}"), None).await;
        invite(&w, &w.admin, &site, to_users(Some(Role::Read), &[&member])).await.expect("granted");
    }
    let left = async || {
        let tx = Tx::new(w.platform.store().begin(Mode::Read, &[]).await.expect("begins"));
        tx.scan_prefix(&GrantRecord::by_content(site.as_str()), MAX_SCAN).await.expect("read").len()
    };
    assert_eq!(left().await, 35);
    assert!(w.as_admin().org(&w.org).site(&site).delete().await.expect("deleted"));
    w.platform.settle().await.expect("settled");
    assert_eq!(left().await, 0);
    w.check().await;
}

#[tokio::test]
async fn member_counts_the_sites_with_a_direct_role() {
    let w = World::new().await;
    let (one, other) = (site_by(&w, &w.admin).await, site_by(&w, &w.admin).await);
    let sue = w.member("Sue", Some(Role::Read)).await;
    let team = team_of(&w, &[&sue]).await;
    let counts = async || {
        let at = w.as_admin().org(&w.org);
        let member = at.member(&user(&sue)).get().await.expect("a member");
        let list =
            at.members().list(&MemberFilter::default(), &PageRequest::default()).await.expect("listed");
        let listed = list.items.into_iter().find(|listed| listed.id == member.id).expect("in the list");
        assert_eq!((listed.sites, listed.spaces), (member.sites, member.spaces));
        (member.sites, member.spaces)
    };
    assert_eq!(counts().await, (0, 0));
    invite(&w, &w.admin, &one, to_users(Some(Role::Read), &[&sue])).await.expect("granted");
    invite(&w, &w.admin, &other, to_users(Some(Role::Edit), &[&sue])).await.expect("granted");
    invite(&w, &w.admin, &other, to_team(Some(Role::Edit), &team)).await.expect("granted");
    assert_eq!(counts().await, (2, 0));
    invite(&w, &w.admin, &one, to_users(None, &[&sue])).await.expect("removed");
    assert_eq!(counts().await, (1, 0));
    w.as_admin().org(&w.org).site(&other).delete().await.expect("deleted");
    w.platform.settle().await.expect("settled");
    assert_eq!(counts().await, (0, 0));
    w.check().await;
}
