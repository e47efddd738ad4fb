//! Permissions of SSO sessions, and access to an organization that requires SSO.

use std::time::Duration;

use bytes::Bytes;
use docs_core::{
    Actor, ErrorKind,
    model::{
        CreateLinkInvite, CreateOrganization, CreateSite, CreateSpace, Patch, PreviewSite, ResolveUrl, Role,
        SiteVisibility, SpaceId, UpdateOrganization, UpdateUser,
    },
    platform::{ContentOptions, ContentVersion, NewToken, NewUpload, SamlAnswer},
    store::PageRequest,
};
use serde_json::{Value, json};

use super::{CERTIFICATE, audited, orgs_of, provider, sign_in, world};
use crate::{
    support::{Refused, World, person},
    visitors::{address as published, enter, place, show, site},
};

async fn bearer(w: &World, token: &str) -> Actor {
    w.platform.authenticate(token).await.expect("a bearer token")
}

/// Creates a token issued by the operator.
async fn given(w: &World, actor: &Actor) -> Actor {
    let user = actor.user().expect("a user");
    let new = NewToken { label: "laptop".parse().expect("a label"), secret: None, expires_at: None };
    let token = w.platform.as_platform().user(user).issue_token(new).await.expect("a token");
    bearer(w, &token.secret).await
}

async fn insist(w: &World) {
    let change = UpdateOrganization { sso: Some(true), ..Default::default() };
    w.as_admin().org(&w.org).update(change).await.expect("changed");
}

#[tokio::test]
async fn session_ends_by_expiry_sign_out_and_provider_deletion() {
    let w = world().await;
    let of = provider(&w, json!({ "defaultRole": "read" })).await;
    let session = sign_in(&w, &of, "grace@example.com").await.expect("a session");
    assert_eq!((session.expires_at.time() - w.clock_now().time()).num_hours(), 12);
    let short = sign_in(&w, &of, "short@example.com").await.expect("a session");
    assert_eq!((short.expires_at.time() - w.clock_now().time()).num_hours(), 1, "as the provider says");
    assert!(!format!("{session:?}").contains(&session.token));
    let long = sign_in(&w, &of, "long@example.com").await.expect("a session");
    assert_eq!((long.expires_at.time() - w.clock_now().time()).num_hours(), 12, "no session is longer");
    w.clock.advance(Duration::from_secs(3_600));
    w.platform.authenticate(&short.token).await.refused(ErrorKind::Unauthenticated);
    bearer(&w, &session.token).await;
    // Sign-out.
    let other = provider(&w, json!({ "label": "Other" })).await;
    let ours = w.platform.as_platform();
    ours.end_saml_session(&other.id, &session.token).await.refused(ErrorKind::NotFound);
    bearer(&w, &session.token).await;
    ours.end_saml_session(&of.id, &session.token).await.expect("ended");
    ours.end_saml_session(&of.id, &session.token).await.expect("it is no error");
    w.platform.authenticate(&session.token).await.refused(ErrorKind::Unauthenticated);
    assert_eq!(audited(&w).await[0], "saml_logout");
    // Deletion of the provider.
    let session = sign_in(&w, &of, "grace@example.com").await.expect("a session");
    w.as_admin().org(&w.org).saml_provider(&of.id).delete().await.expect("deleted");
    let ended = w.platform.authenticate(&session.token).await.refused(ErrorKind::Unauthenticated);
    assert!(ended.message().contains("provider"), "{ended:?}");
}

/// Reverting the change does not restore the session.
#[tokio::test]
async fn session_ends_when_provider_trust_settings_change() {
    let w = world().await;
    let of = provider(&w, json!({ "defaultRole": "read" })).await;
    let change = async |fields| {
        let change = serde_json::from_value(fields).expect("a change");
        w.as_admin().org(&w.org).saml_provider(&of.id).update(change).await.expect("changed");
    };
    for (field, there, back) in [
        ("ssoURL", "https://other.example/sso", "https://idp.example/sso"),
        ("entityID", "https://other.example", "https://idp.example"),
        ("certificate", "", CERTIFICATE),
    ] {
        let session = sign_in(&w, &of, "grace@example.com").await.expect("a session");
        change(json!({ "label": field, "defaultRole": "edit", "idpInitiated": true, (field): back })).await;
        bearer(&w, &session.token).await;
        change(json!({ (field): there })).await;
        w.platform.authenticate(&session.token).await.refused(ErrorKind::Unauthenticated);
        change(json!({ (field): back })).await;
        let ended = w.platform.authenticate(&session.token).await.refused(ErrorKind::Unauthenticated);
        assert!(ended.message().contains("its provider has changed"), "{field}: {ended:?}");
        let again = sign_in(&w, &of, "grace@example.com").await.expect("a session");
        bearer(&w, &again.token).await;
    }
    w.check().await;
}

/// Becoming a member again and being linked do not restore the session.
#[tokio::test]
async fn session_of_a_removed_member_stays_invalid() {
    let w = world().await;
    let of = provider(&w, json!({ "defaultRole": "read" })).await;
    let session = sign_in(&w, &of, "grace@example.com").await.expect("a session");
    let user = &session.user.id;
    let member = || w.as_admin().org(&w.org).member(user);
    let put = async |role| w.platform.as_platform().org(&w.org).member(user).put(role).await;
    put(Some(Role::Edit)).await.expect("another role");
    bearer(&w, &session.token).await;
    assert!(member().remove().await.expect("removed"));
    let ended = w.platform.authenticate(&session.token).await.refused(ErrorKind::Unauthenticated);
    assert!(ended.message().contains("removed from the organization"), "{ended:?}");
    w.clock.advance(Duration::from_millis(1));
    put(Some(Role::Read)).await.expect("a member again");
    member().set_sso().await.expect("linked again");
    w.platform.authenticate(&session.token).await.refused(ErrorKind::Unauthenticated);
    let again = sign_in(&w, &of, "grace@example.com").await.expect("a session");
    bearer(&w, &again.token).await;
    w.check().await;
}

#[tokio::test]
async fn saml_logout_rejects_personal_tokens() {
    let w = world().await;
    let of = provider(&w, json!({})).await;
    let user = w.admin.user().expect("a user");
    let new = NewToken { label: "laptop".parse().expect("a label"), secret: None, expires_at: None };
    let token = w.platform.as_platform().user(user).issue_token(new).await.expect("a token");
    w.platform.as_platform().end_saml_session(&of.id, &token.secret).await.refused(ErrorKind::Invalid);
    w.platform.as_platform().end_saml_session(&of.id, "nobody's").await.expect("it is none");
    bearer(&w, &token.secret).await;
}

#[tokio::test]
async fn session_can_be_revoked_and_expired_ones_are_deleted() {
    let w = world().await;
    let of = provider(&w, json!({ "idpInitiated": true })).await;
    let session = sign_in(&w, &of, "grace@example.com").await.expect("a session");
    let ours = w.platform.as_platform().user(&session.user.id);
    let listed = ours.list_tokens(&PageRequest::default()).await.expect("listed").items;
    assert_eq!((listed.len(), listed[0].label.as_str()), (1, "Okta"));
    ours.revoke_token(&listed[0].id).await.expect("revoked");
    w.platform.authenticate(&session.token).await.refused(ErrorKind::Unauthenticated);
    for n in 0..120 {
        let response = format!("grace@example.com 60 {n} -");
        let answer = SamlAnswer { response: &response, kept: &[] };
        w.platform.as_platform().finish_saml_login(&of.id, answer).await.expect("a session");
    }
    w.platform.tidy().await.expect("tidy");
    let many = PageRequest { limit: Some(100), ..PageRequest::default() };
    assert_eq!(ours.list_tokens(&many).await.expect("listed").items.len(), 100, "all are good");
    // A used assertion is stored for a few minutes beyond its validity, because the clock of another server may be
    // slow.
    let answer = SamlAnswer { response: "grace@example.com 60 1 -", kept: &[] };
    w.clock.advance(Duration::from_secs(60 + 5 * 60 - 1));
    w.platform.tidy().await.expect("tidy");
    let again = w.platform.as_platform().finish_saml_login(&of.id, answer).await;
    assert!(again.refused(ErrorKind::Unauthenticated).message().contains("was used before"));
    w.clock.advance(Duration::from_secs(2));
    w.platform.tidy().await.expect("tidy");
    let forgotten = w.platform.as_platform().finish_saml_login(&of.id, answer).await;
    forgotten.expect("what would be refused is forgotten");
    w.clock.advance(Duration::from_secs(13 * 3_600));
    w.platform.tidy().await.expect("tidy");
    assert!(ours.list_tokens(&PageRequest::default()).await.expect("listed").items.is_empty());
    w.check().await;
}

#[tokio::test]
async fn session_is_valid_only_in_its_own_organization() {
    let w = world().await;
    let of = provider(&w, json!({ "defaultRole": "admin" })).await;
    let session = sign_in(&w, &of, "grace@example.com").await.expect("a session");
    let (grace, user) = (bearer(&w, &session.token).await, session.user.id);
    // She is also a member of another organization, which does not have this provider.
    let zoe = person(&w.platform, "Zoe").await;
    let title = "Other".parse().expect("a title");
    let other =
        w.platform.as_platform().orgs().create(title, zoe.user().expect("a user")).await.expect("one").id;
    w.platform.as_platform().org(&other).member(&user).put(Some(Role::Admin)).await.expect("a member");
    let of_zoe = w.platform.as_actor(&zoe).org(&other);
    let space = of_zoe.spaces().create(CreateSpace::default()).await.expect("a space").id;
    let me = w.platform.as_actor(&grace);
    me.org(&w.org).get().await.expect("her organization");
    me.org(&other).get().await.refused(ErrorKind::NotFound);
    me.org(&other).ping().await.refused(ErrorKind::NotFound);
    me.org(&other).list_sso_logins().await.refused(ErrorKind::NotFound);
    me.space(&space).get().await.refused(ErrorKind::NotFound);
    me.user(zoe.user().expect("a user")).get().await.refused(ErrorKind::NotFound);
    me.user(w.admin.user().expect("a user")).get().await.expect("a colleague");
    assert_eq!(orgs_of(&w, &grace).await, [w.org.to_string()].into());
    // A session cannot create tokens that are valid in other organizations.
    let new = NewToken { label: "more".parse().expect("a label"), secret: None, expires_at: None };
    me.user(&user).issue_token(new).await.refused(ErrorKind::Forbidden);
    me.user(&user).list_tokens(&PageRequest::default()).await.refused(ErrorKind::Forbidden);
    // It changes nothing outside its organization either.
    me.user(&user).update(UpdateUser::default()).await.refused(ErrorKind::Forbidden);
    let title = "Another".parse().expect("a title");
    let new = CreateOrganization { title, email_domains: None };
    me.orgs().found(new).await.refused(ErrorKind::Forbidden);
    me.org(&other).join().await.refused(ErrorKind::NotFound);
    me.current_user().await.expect("herself");
    let domain = serde_json::from_value(json!({ "emailDomains": ["example.com"] })).expect("a change");
    of_zoe.update(domain).await.expect("changed");
    let found = me.orgs().by_email_domain("example.com").await.expect("found").organizations;
    assert!(found.is_empty(), "{found:?}");
    // Her own token is valid in both organizations.
    let own = given(&w, &grace).await;
    assert_eq!(orgs_of(&w, &own).await.len(), 2);
    w.platform.as_actor(&own).space(&space).get().await.expect("the space");
    me.audit_log(&Default::default(), &PageRequest::default()).await.refused(ErrorKind::Forbidden);
    w.as_admin().org(&w.org).get().await.expect("an actor of the host is not held to it");
}

#[tokio::test]
async fn session_previews_sites_of_its_organization_only() {
    let w = world().await;
    let of = provider(&w, json!({ "defaultRole": "admin" })).await;
    let session = sign_in(&w, &of, "grace@example.com").await.expect("a session");
    let (grace, user) = (bearer(&w, &session.token).await, session.user.id);
    let title = "Other".parse().expect("a title");
    let zoe = person(&w.platform, "Zoe").await;
    let orgs = w.platform.as_platform().orgs();
    let other = orgs.create(title, zoe.user().expect("a user")).await.expect("an organization").id;
    w.platform.as_platform().org(&other).member(&user).put(Some(Role::Admin)).await.expect("a member");
    let own = given(&w, &grace).await;
    for (org, has_session) in [(&w.org, true), (&other, false)] {
        let new = CreateSite { create_space: Some(true), ..CreateSite::default() };
        let admin = if has_session { &w.admin } else { &zoe };
        let site = w.platform.as_actor(admin).org(org).sites().create(new).await.expect("a site");
        let ask = ask(&site.urls.preview, &Value::Null);
        assert!(w.platform.as_actor(&own).resolve_url(&ask).await.is_ok(), "her token is valid in both");
        let found = w.platform.as_actor(&grace).resolve_url(&ask).await;
        let preview = PreviewSite::default();
        let url = w.platform.as_actor(&grace).org(org).site(&site.id).preview(&preview).await;
        if has_session {
            assert!(found.is_ok() && url.is_ok(), "{found:?} {url:?}");
        } else {
            found.refused(ErrorKind::NotFound);
            url.refused(ErrorKind::NotFound);
        }
    }
}

/// Administrators retain access with tokens.
#[tokio::test]
async fn sso_organization_refuses_tokens_with_the_sign_in_url() {
    let w = world().await;
    let space = w.space().await;
    let rob = w.member("Rob", Some(Role::Create)).await;
    let (rob, ada) = (given(&w, &rob).await, given(&w, &w.admin).await);
    let (as_rob, as_ada) = (w.platform.as_actor(&rob), w.platform.as_actor(&ada));
    as_rob.org(&w.org).get().await.expect("it does not insist");
    insist(&w).await;
    let nowhere = as_rob.org(&w.org).get().await.refused(ErrorKind::Forbidden);
    assert!(nowhere.message().contains("ask an administrator"), "{nowhere:?}");
    let of = provider(&w, json!({ "defaultRole": "read" })).await;
    let way = format!("sign in at {}", of.service.start_url);
    let new = CreateSpace::default;
    for refused in [
        as_rob.org(&w.org).get().await.refused(ErrorKind::Forbidden),
        as_rob.space(&space).get().await.refused(ErrorKind::Forbidden),
        as_rob.org(&w.org).spaces().create(new()).await.refused(ErrorKind::Forbidden),
        as_rob.org(&w.org).ping().await.refused(ErrorKind::Forbidden),
    ] {
        assert!(refused.message().contains(&way), "{refused:?}");
    }
    // Information that clients need before sign-in.
    let logins = as_rob.org(&w.org).list_sso_logins().await.expect("listed").items;
    assert_eq!(logins[0].start_url, of.service.start_url);
    let listed = as_rob.orgs().list(&PageRequest::default()).await.expect("listed");
    assert_eq!((listed.items.len(), listed.count), (1, Some(1)));
    assert!(listed.items[0].sso && listed.items[0].default_role.is_none(), "as from outside");
    // Administrators can still use tokens, and sessions are accepted.
    as_ada.org(&w.org).get().await.expect("an administrator");
    as_ada.space(&space).get().await.expect("an administrator");
    let session = sign_in(&w, &of, "grace@example.com").await.expect("a session");
    let grace = bearer(&w, &session.token).await;
    w.platform.as_actor(&grace).org(&w.org).get().await.expect("a session");
    // Once linked, Rob can sign in; his issued token is still rejected.
    let user = rob.user().expect("a user");
    w.as_admin().org(&w.org).member(user).set_sso().await.expect("linked");
    let session = sign_in(&w, &of, "rob@example.com").await.expect("a session");
    let by_session = bearer(&w, &session.token).await;
    w.platform.as_actor(&by_session).org(&w.org).spaces().create(new()).await.expect("with his role");
    as_rob.org(&w.org).get().await.refused(ErrorKind::Forbidden);
    // As an administrator, he can use the token.
    w.platform.as_platform().org(&w.org).member(user).put(Some(Role::Admin)).await.expect("one more");
    as_rob.org(&w.org).get().await.expect("an administrator");
    let change = UpdateOrganization { sso: Some(false), ..Default::default() };
    w.as_admin().org(&w.org).update(change).await.expect("changed");
    w.platform.as_platform().org(&w.org).member(user).put(None).await.expect("a guest");
    as_rob.org(&w.org).get().await.expect("it does not insist any more");
}

/// Returns the sealed part of the URL of a space's only file, as issued to an actor.
async fn address(w: &World, actor: &Actor, space: &SpaceId) -> String {
    let of = ContentVersion::space(space.clone());
    let all = PageRequest::default();
    let files = w.platform.as_actor(actor).content(&of).list_files(ContentOptions::default(), &all);
    let files = files.await.expect("listed").items;
    files[0].download_url.rsplit('/').nth(1).expect("a sealed part").to_owned()
}

#[tokio::test]
async fn required_sso_voids_earlier_file_urls_and_invites() {
    let w = world().await;
    let space = w.space().await;
    let request = w.request(&space).await;
    let new = NewUpload { name: "a.txt".parse().expect("a name"), content_type: None };
    let of = ContentVersion::request(space.clone(), &request);
    let mut upload = w.as_admin().content(&of).upload_file(new).await.expect("begun");
    upload.write(Bytes::from_static(b"text")).await.expect("written");
    upload.finish().await.expect("a file");
    w.as_admin().space(&space).change_request(&request).merge().await.expect("merged");
    let change = UpdateOrganization { invite_links: Some(true), ..UpdateOrganization::default() };
    w.as_admin().org(&w.org).update(change).await.expect("changed");
    let new = CreateLinkInvite { role: Patch::Set(Role::Admin), ..CreateLinkInvite::default() };
    let link = w.as_admin().org(&w.org).invites().create_link(new).await.expect("a link");
    let domain = serde_json::from_value(json!({ "emailDomains": ["example.com"] })).expect("a change");
    w.as_admin().org(&w.org).update(domain).await.expect("changed");
    let of = provider(&w, json!({ "defaultRole": "read" })).await;
    let host = w.member("Rob", Some(Role::Create)).await;
    let rob = given(&w, &host).await;
    let as_rob = w.platform.as_actor(&rob);
    let ada = w.admin.user().expect("a user");
    let session = sign_in(&w, &of, "grace@example.com").await.expect("a session");
    let grace = bearer(&w, &session.token).await;
    let [by_token, by_session, by_host] = [
        address(&w, &rob, &space).await,
        address(&w, &grace, &space).await,
        address(&w, &host, &space).await,
    ];
    w.platform.find_file(&space, &by_token).await.expect("a file");
    as_rob.user(ada).get().await.expect("a colleague");
    insist(&w).await;
    // Access through file URLs, as a colleague and through invite links is rejected as well.
    w.platform.find_file(&space, &by_token).await.refused(ErrorKind::NotFound);
    w.platform.find_file(&space, &by_session).await.expect("of a session");
    w.platform.find_file(&space, &by_host).await.expect("of a user whom the host has let in");
    as_rob.user(ada).get().await.refused(ErrorKind::NotFound);
    w.platform.as_actor(&grace).user(ada).get().await.expect("a colleague");
    let refused = as_rob.org(&w.org).invite(link.id()).join().await.refused(ErrorKind::Forbidden);
    assert!(refused.message().contains(&of.service.start_url), "{refused:?}");
    // They see the same as an outsider with an e-mail address of the domain.
    let found = as_rob.orgs().by_email_domain("example.com").await.expect("found").organizations;
    assert!(found[0].sso && found[0].default_role.is_none(), "{found:?}");
    // A session from before the removal grants no access.
    w.as_admin().org(&w.org).member(&session.user.id).remove().await.expect("removed");
    w.platform.as_platform().org(&w.org).member(&session.user.id).put(Some(Role::Read)).await.expect("again");
    w.platform.find_file(&space, &by_session).await.refused(ErrorKind::NotFound);
    w.platform.as_actor(&grace).user(ada).get().await.refused(ErrorKind::NotFound);
    w.check().await;
}

#[tokio::test]
async fn token_that_vouches_for_a_member_ends_when_sso_is_required() {
    let w = world().await;
    let (guide, docs) = (crate::search::space(&w, "Guide").await, site(&w, "Docs").await);
    place(&w, &docs, &guide).await;
    show(&w, &docs, SiteVisibility::VisitorAuth).await;
    let url = published(&w, &docs).await;
    let of = provider(&w, json!({ "defaultRole": "read" })).await;
    let host = w.member("Rob", Some(Role::Read)).await;
    let session = sign_in(&w, &of, "grace@example.com").await.expect("a session");
    let grace = bearer(&w, &session.token).await;
    let members = [
        (given(&w, &host).await, Err(ErrorKind::Unauthenticated)),
        (given(&w, &w.admin).await, Ok(())),
        (grace, Ok(())),
        (host, Ok(())),
    ];
    let mut before = Vec::new();
    for (member, _) in &members {
        let visit = w.platform.as_actor(member).org(&w.org).ping().await.expect("there");
        let claims = json!({ "jwtToken": visit.platform_visitor_claims.expect("a token") });
        let (content, visitor) = enter(&w, &url, claims.clone()).await.expect("open");
        before.push((claims, content.api_token, visitor));
    }
    insist(&w).await;
    // Afterwards, neither the token nor content tokens issued for it grant access to the site.
    for ((_, expected), (claims, token, visitor)) in members.iter().zip(&before) {
        let again = w.platform.resolve_url(&ask(&url, claims)).await;
        assert_eq!(again.map(drop).map_err(|error| error.kind()), *expected);
        let missing = expected.map_err(|_| ErrorKind::NotFound);
        let anew = w.platform.authenticate(token).await.expect("a content token");
        for visitor in [visitor, &anew] {
            let read = w.platform.as_actor(visitor).space(&guide).get().await;
            assert_eq!(read.map(drop).map_err(|error| error.kind()), missing);
        }
    }
    // A session from before the removal does not identify a member.
    w.as_admin().org(&w.org).member(&session.user.id).remove().await.expect("removed");
    w.platform.as_platform().org(&w.org).member(&session.user.id).put(Some(Role::Read)).await.expect("again");
    let again = w.platform.resolve_url(&ask(&url, &before[2].0)).await;
    again.refused(ErrorKind::Unauthenticated);
}

fn ask(url: &str, visitor: &Value) -> ResolveUrl {
    serde_json::from_value(json!({ "url": url, "visitor": visitor })).expect("a request")
}
