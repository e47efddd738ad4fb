//! Invites: the role of new members, and the permission to create invites.

use std::time::Duration;

use docs_core::{
    Actor, ErrorKind,
    model::{
        CreateLinkInvite, InviteEmail, InviteId, InviteUsers, InviteWithRole, InvitedUsers, LinkInvite,
        OrgId, Patch, Role, SpaceId, UpdateLinkInvite, UpdateMember, UpdateOrganization, UserId,
    },
    platform::{INVITE_WINDOW, NewUser},
    store::PageRequest,
};

use crate::support::{Refused, World, person};

fn user(actor: &Actor) -> UserId {
    actor.user().expect("a user").clone()
}

fn plain(emails: &[&str]) -> InviteUsers {
    let emails = emails.iter().map(|email| InviteEmail::Plain(email.parse().expect("text"))).collect();
    InviteUsers { emails, role: Patch::Keep, sso: None }
}

async fn invite(w: &World, new: InviteUsers) -> InvitedUsers {
    w.as_admin().org(&w.org).invites().send(new).await.expect("invited")
}

async fn role(w: &World, actor: &Actor) -> Option<Role> {
    w.platform.as_platform().org(&w.org).member(&user(actor)).get().await.expect("a member").role
}

async fn turn_links_on(w: &World) {
    let change = UpdateOrganization { invite_links: Some(true), ..UpdateOrganization::default() };
    w.as_admin().org(&w.org).update(change).await.expect("turned on");
}

async fn link(w: &World, actor: &Actor, new: CreateLinkInvite) -> docs_core::Result<LinkInvite> {
    w.platform.as_actor(actor).org(&w.org).invites().create_link(new).await
}

fn to_org(role: Patch<Role>) -> CreateLinkInvite {
    CreateLinkInvite { role, ..CreateLinkInvite::default() }
}

fn to_space(space: &SpaceId, level: Role) -> CreateLinkInvite {
    CreateLinkInvite {
        level: Patch::Set(level),
        space: Some(space.to_string()),
        ..CreateLinkInvite::default()
    }
}

async fn join(w: &World, actor: &Actor, id: &InviteId) -> docs_core::Result<()> {
    w.platform.as_actor(actor).org(&w.org).invite(id).join().await.map(drop)
}

#[tokio::test]
async fn invite_adds_users_at_once_and_others_at_registration() {
    let w = World::new().await;
    let known = person(&w.platform, "Kim").await;
    let mut new = plain(&["KIM@example.com", "new@example.com", "New@Example.com", "ada@example.com"]);
    let own = InviteWithRole { email: "lead@example.com".parse().expect("text"), role: Some(Role::Create) };
    new.emails.push(InviteEmail::WithRole(own));
    let done = invite(&w, new).await;
    assert_eq!((done.users, done.invited), (vec![user(&known), user(&w.admin)], 2));
    assert_eq!(role(&w, &known).await, Some(Role::Read), "the default role");
    assert_eq!(role(&w, &w.admin).await, Some(Role::Admin), "a member stays as they are");
    let waiting =
        w.as_admin().org(&w.org).invites().list_emails(&PageRequest::default()).await.expect("a list");
    let emails: Vec<_> = waiting.items.iter().map(|invite| invite.email.as_str()).collect();
    assert_eq!(emails.len(), 2);
    assert!(emails.contains(&"new@example.com") && emails.contains(&"lead@example.com"));
    let name = NewUser {
        display_name: "New".parse().expect("a name"),
        email: "NEW@example.com".parse().expect("an address"),
    };
    let created = Actor::User(w.platform.as_platform().users().create(name).await.expect("a user").id);
    assert_eq!(role(&w, &created).await, Some(Role::Read));
    let lead = person(&w.platform, "Lead").await;
    assert_eq!(role(&w, &lead).await, Some(Role::Create));
    let waiting =
        w.as_admin().org(&w.org).invites().list_emails(&PageRequest::default()).await.expect("a list");
    assert!(waiting.items.is_empty(), "an invitation is used once");
    w.platform.settle().await.expect("the job has nothing left to do");
    w.check().await;
}

#[tokio::test]
async fn repeated_invite_replaces_role_and_expiry() {
    let w = World::new().await;
    let mut new = plain(&["late@example.com"]);
    invite(&w, new.clone()).await;
    w.clock.advance(Duration::from_secs(20 * 24 * 3600));
    new.role = Patch::Clear;
    invite(&w, new).await;
    let list = w.as_admin().org(&w.org).invites().list_emails(&PageRequest::default()).await.expect("a list");
    assert_eq!((list.items.len(), list.items[0].role), (1, None));
    w.clock.advance(Duration::from_secs(20 * 24 * 3600));
    let late = person(&w.platform, "Late").await;
    assert_eq!(role(&w, &late).await, None);
    w.check().await;
}

#[tokio::test]
async fn email_invite_expires_after_30_days() {
    let w = World::new().await;
    invite(&w, plain(&["late@example.com", "later@example.com"])).await;
    w.clock.advance(INVITE_WINDOW.to_std().expect("a time"));
    let late = person(&w.platform, "Late").await;
    w.platform.as_actor(&late).org(&w.org).get().await.refused(ErrorKind::NotFound);
    w.platform.tidy().await.expect("tidied");
    w.check().await;
    let list = w.as_admin().org(&w.org).invites().list_emails(&PageRequest::default()).await.expect("a list");
    assert!(list.items.is_empty());
}

#[tokio::test]
async fn email_invite_is_valid_only_for_its_address() {
    let w = World::new().await;
    let (kim, zoe) = (person(&w.platform, "Kim").await, person(&w.platform, "Zoe").await);
    invite(&w, plain(&["new@example.com"])).await;
    let list = w.as_admin().org(&w.org).invites().list_emails(&PageRequest::default()).await.expect("a list");
    join(&w, &zoe, &list.items[0].id).await.refused(ErrorKind::Forbidden);
    join(&w, &kim, &"unknown".parse().expect("an id")).await.refused(ErrorKind::NotFound);
    let other: OrgId = "unknown".parse().expect("an id");
    w.platform.as_actor(&kim).org(&other).invite(&list.items[0].id).join().await.refused(ErrorKind::NotFound);
    w.platform
        .as_actor(&kim)
        .org(&w.org)
        .invites()
        .list_emails(&PageRequest::default())
        .await
        .refused(ErrorKind::NotFound);
    w.check().await;
}

#[tokio::test]
async fn sso_invite_fails_for_accounts_not_linked_to_sso() {
    let w = World::new().await;
    let kim = person(&w.platform, "Kim").await;
    let new = InviteUsers { sso: Some(true), ..plain(&["kim@example.com", "new@example.com"]) };
    let done = invite(&w, new.clone()).await;
    assert_eq!(
        (done.users.len(), done.invited, done.failed_sso_emails),
        (0, 1, vec!["kim@example.com".to_owned()])
    );
    let created = user(&person(&w.platform, "New").await);
    assert!(w.as_admin().org(&w.org).member(&created).get().await.expect("a member").sso);
    w.as_admin().org(&w.org).member(&user(&kim)).set_sso().await.refused(ErrorKind::NotFound);
    invite(&w, plain(&["kim@example.com"])).await;
    assert!(w.as_admin().org(&w.org).member(&user(&kim)).set_sso().await.expect("linked").sso);
    let again = invite(&w, new).await;
    assert_eq!((again.users.len(), again.failed_sso_emails.len()), (2, 0));
}

#[tokio::test]
async fn invite_link_adds_or_promotes_and_never_demotes() {
    let w = World::new().await;
    link(&w, &w.admin, to_org(Patch::Set(Role::Edit))).await.refused(ErrorKind::Conflict);
    turn_links_on(&w).await;
    let edit = link(&w, &w.admin, to_org(Patch::Set(Role::Edit))).await.expect("a link");
    let stranger = person(&w.platform, "Sue").await;
    let off = UpdateOrganization { invite_links: Some(false), ..UpdateOrganization::default() };
    w.platform.as_actor(&w.admin).org(&w.org).update(off).await.expect("turned off");
    join(&w, &stranger, edit.id()).await.refused(ErrorKind::Forbidden);
    turn_links_on(&w).await;
    let (reader, creator) =
        (w.member("Rob", Some(Role::Read)).await, w.member("Cat", Some(Role::Create)).await);
    for (actor, expected) in [(&stranger, Role::Edit), (&reader, Role::Edit), (&creator, Role::Create)] {
        join(&w, actor, edit.id()).await.expect("joined");
        assert_eq!(role(&w, actor).await, Some(expected));
    }
    let guest = link(&w, &w.admin, to_org(Patch::Clear)).await.expect("a link");
    let other = person(&w.platform, "Gus").await;
    join(&w, &other, guest.id()).await.expect("joined");
    assert_eq!(role(&w, &other).await, None);
    let change = UpdateLinkInvite { role: Patch::Set(Role::Read), level: Patch::Keep };
    w.as_admin().org(&w.org).invite(guest.id()).update(change).await.expect("changed");
    join(&w, &other, guest.id()).await.expect("joined");
    assert_eq!(role(&w, &other).await, Some(Role::Read));
    assert!(w.as_admin().org(&w.org).invite(guest.id()).delete().await.expect("deleted"));
    assert!(!w.as_admin().org(&w.org).invite(guest.id()).delete().await.expect("is gone"));
    join(&w, &person(&w.platform, "Tim").await, guest.id()).await.refused(ErrorKind::NotFound);
    w.check().await;
}

#[tokio::test]
async fn a_link_to_a_space_makes_a_guest_with_a_role_on_it() {
    let w = World::new().await;
    turn_links_on(&w).await;
    let space = w.space().await;
    let hidden = w.space().await;
    let comment = link(&w, &w.admin, to_space(&space, Role::Comment)).await.expect("a link");
    let edit = link(&w, &w.admin, to_space(&space, Role::Edit)).await.expect("a link");
    let sue = person(&w.platform, "Sue").await;
    for (invite, permission) in [(&comment, Role::Comment), (&edit, Role::Edit), (&comment, Role::Edit)] {
        join(&w, &sue, invite.id()).await.expect("joined");
        assert_eq!(role(&w, &sue).await, None, "a guest");
        let spaces = w
            .platform
            .as_actor(&sue)
            .org(&w.org)
            .member(&user(&sue))
            .list_spaces(Default::default(), &PageRequest::default())
            .await
            .expect("a list");
        assert_eq!((spaces.items.len(), spaces.items[0].permission), (1, permission));
    }
    w.platform.as_actor(&sue).space(&hidden).get().await.refused(ErrorKind::NotFound);
    // A user who already has the role gets no explicit role, because it would outlive the existing one.
    let creator = w.member("Cat", Some(Role::Create)).await;
    join(&w, &creator, edit.id()).await.expect("joined");
    assert_eq!(w.as_admin().org(&w.org).member(&user(&creator)).get().await.expect("a member").spaces, 0);
    w.as_admin().space(&space).delete().await.expect("deleted");
    join(&w, &person(&w.platform, "Tim").await, edit.id()).await.refused(ErrorKind::NotFound);
    let tidied = w.as_admin().org(&w.org).invite(edit.id()).delete().await;
    assert!(tidied.expect("an administrator removes what leads nowhere"));
    w.platform.as_platform().space(&space).purge().await.expect("purged");
    let other = w.as_admin().org(&w.org).invite(comment.id()).delete().await;
    assert!(!other.expect("no error"), "the other link has gone with the space");
    w.check().await;
}

#[tokio::test]
async fn invite_link_grants_at_most_the_role_of_its_creator() {
    let w = World::new().await;
    turn_links_on(&w).await;
    let (creator, editor) =
        (w.member("Cat", Some(Role::Create)).await, w.member("Eve", Some(Role::Edit)).await);
    let space = w.space().await;
    let made = link(&w, &creator, to_space(&space, Role::Create)).await.expect("a link");
    link(&w, &creator, to_space(&space, Role::Admin)).await.refused(ErrorKind::Forbidden);
    link(&w, &creator, to_org(Patch::Set(Role::Read))).await.refused(ErrorKind::Forbidden);
    link(&w, &editor, to_space(&space, Role::Read)).await.refused(ErrorKind::Forbidden);
    let more = UpdateLinkInvite { level: Patch::Set(Role::Admin), role: Patch::Keep };
    w.platform
        .as_actor(&creator)
        .org(&w.org)
        .invite(made.id())
        .update(more)
        .await
        .refused(ErrorKind::Forbidden);
    w.platform.as_actor(&editor).org(&w.org).invite(made.id()).get().await.refused(ErrorKind::Forbidden);
    w.as_admin().org(&w.org).invite(made.id()).update(more).await.expect("an administrator may");
    w.platform.as_actor(&creator).org(&w.org).invite(made.id()).delete().await.refused(ErrorKind::Forbidden);
    w.platform
        .as_actor(&creator)
        .org(&w.org)
        .invites()
        .list_links(&PageRequest::default())
        .await
        .refused(ErrorKind::Forbidden);
    w.check().await;
}

#[tokio::test]
async fn users_of_a_claimed_email_domain_can_join_as_guests() {
    let w = World::new().await;
    let kim = person(&w.platform, "Kim").await;
    let domains = |text: &str| vec![docs_core::model::EmailDomain::new(text).expect("a domain")];
    w.platform.as_platform().user(&user(&kim)).join_by_domain().await.refused(ErrorKind::NotFound);
    let change =
        UpdateOrganization { email_domains: Some(domains("Example.COM")), ..UpdateOrganization::default() };
    let org = w.as_admin().org(&w.org).update(change).await.expect("claimed");
    assert_eq!(org.email_domains, domains("example.com"), "domains are kept in lower case");
    w.platform.as_actor(&kim).user(&user(&kim)).join_by_domain().await.refused(ErrorKind::Forbidden);
    let found =
        w.platform.as_actor(&kim).orgs().by_email_domain("EXAMPLE.com").await.expect("found").organizations;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].permissions, Default::default(), "somebody outside may do nothing");
    assert_eq!(w.platform.as_platform().user(&user(&kim)).join_by_domain().await.expect("joined"), w.org);
    assert_eq!(role(&w, &kim).await, None);
    let change = UpdateMember { role: Patch::Set(Role::Edit) };
    w.as_admin().org(&w.org).member(&user(&kim)).update(change).await.expect("changed");
    w.platform.as_platform().user(&user(&kim)).join_by_domain().await.expect("a member already");
    assert_eq!(role(&w, &kim).await, Some(Role::Edit));
    let found =
        w.platform.as_actor(&kim).orgs().by_email_domain("example.com").await.expect("found").organizations;
    assert!(
        found[0].permissions.view && found[0].default_role == Some(Role::Read),
        "a member sees all of it"
    );
    let name = NewUser {
        display_name: "Out".parse().expect("a name"),
        email: "out@other.example".parse().expect("text"),
    };
    let out = Actor::User(w.platform.as_platform().users().create(name).await.expect("a user").id);
    for text in ["example.com", "other.example", "no domain"] {
        let found =
            w.platform.as_actor(&out).orgs().by_email_domain(text).await.expect("found").organizations;
        assert!(found.is_empty(), "{text}");
    }
}

#[tokio::test]
async fn link_is_valid_while_its_author_may_grant_its_role() {
    let w = World::new().await;
    turn_links_on(&w).await;
    let space = w.space().await;
    let collection = w.as_admin().org(&w.org).collections().create(Default::default()).await;
    let collection = collection.expect("a collection").id;
    let (boss, cat) = (w.member("Bob", Some(Role::Admin)).await, w.member("Cat", Some(Role::Create)).await);
    let to_collection = CreateLinkInvite {
        level: Patch::Set(Role::Create),
        collection: Some(collection.to_string()),
        ..CreateLinkInvite::default()
    };
    let links = [
        (&boss, link(&w, &boss, to_org(Patch::Set(Role::Admin))).await.expect("a link")),
        (&cat, link(&w, &cat, to_space(&space, Role::Create)).await.expect("a link")),
        (&cat, link(&w, &cat, to_collection).await.expect("a link")),
    ];
    for (n, (_, link)) in links.iter().enumerate() {
        join(&w, &person(&w.platform, &format!("Early {n}")).await, link.id()).await.expect("joined");
    }
    let change = UpdateMember { role: Patch::Set(Role::Read) };
    for lost in [&boss, &cat] {
        w.as_admin().org(&w.org).member(&user(lost)).update(change).await.expect("changed");
    }
    for round in 0..2 {
        for (n, (by, link)) in links.iter().enumerate() {
            join(&w, by, link.id()).await.refused(ErrorKind::NotFound);
            let late = person(&w.platform, &format!("Late {round} {n}")).await;
            join(&w, &late, link.id()).await.refused(ErrorKind::NotFound);
            w.platform.as_actor(&late).org(&w.org).get().await.refused(ErrorKind::NotFound);
        }
        for gone in [&boss, &cat] {
            w.as_admin().org(&w.org).member(&user(gone)).remove().await.expect("removed");
        }
    }
    // The user who changes an invite link becomes responsible for it.
    let again = UpdateLinkInvite { level: Patch::Set(Role::Read), role: Patch::Keep };
    w.as_admin().org(&w.org).invite(links[1].1.id()).update(again).await.expect("changed");
    join(&w, &cat, links[1].1.id()).await.expect("joined");
    assert!(!w.platform.as_actor(&cat).space(&space).get().await.expect("seen").permissions.comment);
    w.check().await;
}

#[tokio::test]
async fn joining_does_not_reveal_which_organizations_exist() {
    let w = World::new().await;
    let kim = person(&w.platform, "Kim").await;
    let (invite, other): (InviteId, OrgId) =
        ("unknown".parse().expect("an id"), "unknown".parse().expect("an id"));
    let there = join(&w, &kim, &invite).await.refused(ErrorKind::NotFound);
    let not_there =
        w.platform.as_actor(&kim).org(&other).invite(&invite).join().await.refused(ErrorKind::NotFound);
    assert_eq!(there.message(), not_there.message());
}

#[tokio::test]
async fn only_administrators_revoke_email_invites() {
    let w = World::new().await;
    let creator = w.member("Cat", Some(Role::Create)).await;
    let stranger = person(&w.platform, "Sue").await;
    invite(&w, plain(&["new@example.com"])).await;
    let list = w.as_admin().org(&w.org).invites().list_emails(&PageRequest::default()).await.expect("a list");
    let id = &list.items[0].id;
    w.platform.as_actor(&creator).org(&w.org).invite(id).delete().await.refused(ErrorKind::Forbidden);
    assert!(
        !w.platform.as_actor(&stranger).org(&w.org).invite(id).delete().await.expect("none they may know of")
    );
    assert!(w.as_admin().org(&w.org).invite(id).delete().await.expect("taken back"));
    assert!(!w.as_admin().org(&w.org).invite(id).delete().await.expect("is gone"));
    let late = person(&w.platform, "New").await;
    w.platform.as_actor(&late).org(&w.org).get().await.refused(ErrorKind::NotFound);
    w.check().await;
}
