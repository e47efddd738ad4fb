//! SAML sign-in, and the permissions of its sessions.

mod model;
mod refusals;
mod sessions;

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use docs_core::{
    ErrorKind,
    model::{CreateSamlProvider, SamlProvider, SamlProviderStatus, SamlService, Timestamp},
    platform::{SamlAnswer, SamlSession, SamlStart},
    ports::{Saml, SamlIdentity, SamlRefused, SamlRequest, SamlTrust},
};
use docs_memstore::MemStore;
use serde_json::{Value, json};

use crate::support::{Refused, World};

/// Accepts responses like `Ada@Example.com 60 assertion request`: the email address, the validity in seconds, the id
/// of the assertion, and the id of the request, or `-` without one. Rejects all others.
struct Plain;

impl Saml for Plain {
    fn verify(&self, trust: &SamlTrust, response: &str, now: Timestamp) -> Result<SamlIdentity, SamlRefused> {
        let refused = || SamlRefused("it is not signed".to_owned());
        let [email, seconds, assertion, request] = response.split(' ').collect::<Vec<_>>()[..] else {
            return Err(refused());
        };
        let seconds: i64 = seconds.parse().map_err(|_| refused())?;
        if trust.issuer != "https://idp.example" || trust.certificate != CERTIFICATE {
            return Err(refused());
        }
        if !trust.recipient.ends_with("/acs") || trust.recipient != format!("{}/acs", trust.audience) {
            return Err(refused());
        }
        Ok(SamlIdentity {
            assertion: assertion.to_owned(),
            until: Timestamp::new(now.time() + TimeDelta::seconds(seconds)),
            session_until: match email.split('@').next() {
                Some("short") => Some(Timestamp::new(now.time() + TimeDelta::hours(1))),
                Some("long") => Some(Timestamp::new(DateTime::<Utc>::MAX_UTC)),
                _ => None,
            },
            in_response_to: Some(request).filter(|request| *request != "-").map(str::to_owned),
            email: email.to_owned(),
            first_name: email.to_lowercase().starts_with("grace").then(|| "Grace".to_owned()),
            last_name: email.to_lowercase().starts_with("grace").then(|| " Hopper\n".to_owned()),
        })
    }

    fn check_certificate(&self, certificate: &str) -> Result<(), SamlRefused> {
        let refused = || SamlRefused("its key is too short".to_owned());
        if certificate == CERTIFICATE { Ok(()) } else { Err(refused()) }
    }

    fn request(&self, request: &SamlRequest) -> Result<String, SamlRefused> {
        Ok(format!("{}?{} {} {}", request.destination, request.id, request.issuer, request.recipient))
    }

    fn metadata(&self, service: &SamlService) -> String {
        format!("{} {}", service.entity_id, service.acs_url)
    }
}

/// One DER sequence that contains another at its beginning.
const CERTIFICATE: &str = "MAQwAgUA";

async fn world() -> World {
    World::build(Arc::new(MemStore::new()), |builder| builder.saml(Arc::new(Plain))).await
}

/// Creates an active provider with additional fields.
async fn provider(w: &World, more: Value) -> SamlProvider {
    let mut new = json!({
        "label": "Okta", "entityID": "https://idp.example", "certificate": CERTIFICATE,
        "ssoURL": "https://idp.example/sso",
    });
    let fields = new.as_object_mut().expect("an object");
    fields.extend(more.as_object().expect("an object").clone());
    fields.retain(|_, value| *value != json!("-"));
    let new: CreateSamlProvider = serde_json::from_value(new).expect("a provider");
    w.as_admin().org(&w.org).saml_providers().create(new).await.expect("a provider")
}

async fn start(w: &World, of: &SamlProvider) -> SamlStart {
    w.platform.as_platform().begin_saml_login(&of.id).await.expect("a start")
}

/// Completes a sign-in with a response and the browser state of the given pending logins.
async fn finish(
    w: &World,
    of: &SamlProvider,
    response: &str,
    kept: &[&SamlStart],
) -> docs_core::Result<SamlSession> {
    // Entries in the audit log are ordered by time.
    w.clock.advance(Duration::from_millis(1));
    let kept: Vec<String> = kept.iter().map(|start| start.keep.clone()).collect();
    w.platform.as_platform().finish_saml_login(&of.id, SamlAnswer { response, kept: &kept }).await
}

/// Performs a complete sign-in of a user.
async fn sign_in(w: &World, of: &SamlProvider, email: &str) -> docs_core::Result<SamlSession> {
    let start = start(w, of).await;
    let response = format!("{email} 60 assertion-{0} {0}", start.request);
    finish(w, of, &response, &[&start]).await
}

/// Returns the audited operations of the organization, newest first.
async fn audited(w: &World) -> Vec<String> {
    let filter = docs_core::platform::AuditFilter { organization: Some(w.org.clone()), ..Default::default() };
    let page = docs_core::store::PageRequest::default();
    let entries = w.as_admin().audit_log(&filter, &page).await.expect("the log").items;
    entries.into_iter().map(|entry| entry.operation).collect()
}

/// The state for the browser is sealed, and starting a sign-in writes nothing.
#[tokio::test]
async fn sign_in_redirects_with_an_unguessable_request() {
    let w = world().await;
    let of = provider(&w, json!({})).await;
    assert_eq!(of.status, SamlProviderStatus::Active);
    let (one, two) = (start(&w, &of).await, start(&w, &of).await);
    assert!(one.request != two.request && one.request.len() > 40 && one.request.starts_with('_'));
    let service = &of.service;
    let expected =
        format!("https://idp.example/sso?{} {} {}", one.request, service.entity_id, service.acs_url);
    assert_eq!(one.location, expected);
    assert!(!one.keep.contains(&one.request) && !format!("{one:?}").contains(&one.keep), "it is sealed");
    assert_eq!(
        w.platform.as_platform().saml_metadata(&of.id).await.expect("metadata"),
        format!("{} {}", service.entity_id, service.acs_url)
    );
    assert_eq!(audited(&w).await[0], "saml_provider_create", "who only knocks writes nothing");
}

#[tokio::test]
async fn new_user_becomes_a_member_with_the_provider_defaults() {
    let w = world().await;
    let team = json!({ "title": "Staff" });
    let new = serde_json::from_value(team).expect("a team");
    let team = w.as_admin().org(&w.org).teams().create(new).await.expect("a team");
    let of = provider(&w, json!({ "defaultRole": "edit", "defaultTeam": team.id })).await;
    let session = sign_in(&w, &of, "Grace@Example.com").await.expect("a session");
    assert_eq!(session.user.email.as_deref(), Some("grace@example.com"));
    assert_eq!((session.user.display_name.as_str(), &session.organization), ("Grace Hopper", &w.org));
    let member = w.as_admin().org(&w.org).member(&session.user.id).get().await.expect("a member");
    assert_eq!((member.role, member.sso, member.teams), (Some(docs_core::model::Role::Edit), true, 1));
    let actor = w.platform.authenticate(&session.token).await.expect("a bearer token");
    assert_eq!(actor.user(), Some(&session.user.id));
    w.platform.as_actor(&actor).org(&w.org).get().await.expect("the organization");
    assert_eq!(audited(&w).await[0], "saml_login");
    // The second sign-in finds the user.
    let again = sign_in(&w, &of, "GRACE@example.com").await.expect("a session");
    assert_eq!(again.user.id, session.user.id);
    assert_ne!(again.token, session.token);
    // By default, the new member is a guest, and the name is the e-mail address.
    let plain = provider(&w, json!({})).await;
    let guest = sign_in(&w, &plain, "joan@example.com").await.expect("a session").user;
    let member = w.as_admin().org(&w.org).member(&guest.id).get().await.expect("a member");
    assert_eq!((member.role, guest.display_name.as_str()), (None, "joan@example.com"));
    w.check().await;
}

#[tokio::test]
async fn unlinked_account_is_refused_until_an_admin_links_it() {
    let w = world().await;
    let of = provider(&w, json!({})).await;
    // Ada is an administrator of the organization. Eve is a user of the platform, but not a member.
    let eve = crate::support::person(&w.platform, "Eve").await;
    for email in ["Ada@example.com", "eve@example.com"] {
        let refused = sign_in(&w, &of, email).await.refused(ErrorKind::Conflict);
        assert!(refused.message().contains("sign in with its own credentials"), "{refused:?}");
        assert!(refused.message().contains("ask an administrator to link it"), "{refused:?}");
        assert_eq!(audited(&w).await[0], "saml_login_refuse");
    }
    w.as_admin().org(&w.org).member(w.admin.user().expect("a user")).set_sso().await.expect("linked");
    let session = sign_in(&w, &of, "Ada@example.com").await.expect("a session");
    assert_eq!(Some(&session.user.id), w.admin.user());
    sign_in(&w, &of, "eve@example.com").await.refused(ErrorKind::Conflict);
    // The procedure that the error message describes: an invite, then linking.
    w.as_admin().org(&w.org).member(eve.user().expect("a user")).set_sso().await.refused(ErrorKind::NotFound);
    let invite = serde_json::from_value(json!({ "emails": ["eve@example.com"], "role": "read" }));
    w.as_admin().org(&w.org).invites().send(invite.expect("an invitation")).await.expect("invited");
    w.platform.settle().await.expect("settled");
    sign_in(&w, &of, "eve@example.com").await.refused(ErrorKind::Conflict);
    w.as_admin().org(&w.org).member(eve.user().expect("a user")).set_sso().await.expect("linked");
    let session = sign_in(&w, &of, "eve@example.com").await.expect("a session");
    assert_eq!(Some(&session.user.id), eve.user());
}

#[tokio::test]
async fn browser_can_finish_its_16_latest_pending_logins() {
    let w = world().await;
    let of = provider(&w, json!({})).await;
    let mut ways = Vec::new();
    for _ in 0..20 {
        ways.push(start(&w, &of).await);
    }
    let kept: Vec<&SamlStart> = ways.iter().collect();
    let by = |way: &SamlStart| format!("new@example.com 60 {0} {0}", way.request);
    finish(&w, &of, &by(&ways[3]), &kept).await.refused(ErrorKind::Unauthenticated);
    finish(&w, &of, &by(&ways[4]), &kept).await.expect("the sixteenth from the end");
    finish(&w, &of, &by(&ways[19]), &kept).await.expect("the last");
}

#[tokio::test]
async fn removed_member_cannot_rejoin_through_the_provider() {
    let w = world().await;
    let of = provider(&w, json!({ "defaultRole": "read" })).await;
    let session = sign_in(&w, &of, "grace@example.com").await.expect("a session");
    let actor = w.platform.authenticate(&session.token).await.expect("a bearer token");
    assert!(w.as_admin().org(&w.org).member(&session.user.id).remove().await.expect("removed"));
    w.platform.as_actor(&actor).org(&w.org).get().await.refused(ErrorKind::NotFound);
    sign_in(&w, &of, "grace@example.com").await.refused(ErrorKind::Conflict);
    // A member again, but not through the provider: the old session stays invalid.
    w.platform.as_platform().org(&w.org).member(&session.user.id).put(None).await.expect("a member");
    w.platform.as_actor(&actor).org(&w.org).get().await.refused(ErrorKind::NotFound);
}

/// The request must belong to this browser and provider and must not have expired. An assertion is valid once.
#[tokio::test]
async fn response_must_answer_a_pending_request_once() {
    let w = world().await;
    let (of, other) = (provider(&w, json!({})).await, provider(&w, json!({ "label": "Other" })).await);
    let (mine, theirs) = (start(&w, &of).await, start(&w, &of).await);
    let elsewhere = start(&w, &other).await;
    let id = &mine.request;
    for (response, kept, why) in [
        ("unsigned".to_owned(), vec![&mine], "it is not signed"),
        (format!("new@example.com 0 a {id}"), vec![&mine], "its assertion has expired"),
        (format!("new@example.com -5 a {id}"), vec![&mine], "its assertion has expired"),
        (format!("new@example.com 90001 a {id}"), vec![&mine], "must be valid for at most 25 hours"),
        // Up to the year 10000, which stores cannot represent.
        (format!("new@example.com 260000000000 a {id}"), vec![&mine], "must be valid for at most 25 hours"),
        (format!("nobody 60 a {id}"), vec![&mine], "the name id: must be an address"),
        // The Kelvin sign, whose lower case is k, and a dotted capital I.
        (format!("Mi\u{212a}e@example.com 60 a {id}"), vec![&mine], "must be an address of ASCII characters"),
        (format!("M\u{130}ke@example.com 60 a {id}"), vec![&mine], "must be an address of ASCII characters"),
        (format!("new@example.com 60 a {id}"), vec![], "answers no request of this browser"),
        (format!("new@example.com 60 a {id}"), vec![&theirs], "answers no request of this browser"),
        (format!("new@example.com 60 a {}", elsewhere.request), vec![&elsewhere], "answers no request"),
        ("new@example.com 60 a _made-up".to_owned(), vec![&mine], "answers no request of this browser"),
        ("new@example.com 60 a -".to_owned(), vec![&mine], "must not start a sign-in"),
    ] {
        let refused = finish(&w, &of, &response, &kept).await.refused(ErrorKind::Unauthenticated);
        assert!(refused.message().contains(why), "{response}: {refused:?}");
        assert_eq!(audited(&w).await[0], "saml_login_refuse", "{response}");
    }
    let users = w.platform.as_platform().users().list(&Default::default()).await.expect("users").items;
    assert_eq!(users.len(), 1, "nobody came in");
    let right = format!("new@example.com 60 a {id}");
    finish(&w, &of, &right, &[&theirs, &mine]).await.expect("one of the ways it is on");
    let again = finish(&w, &of, &right, &[&mine]).await.refused(ErrorKind::Unauthenticated);
    assert!(again.message().contains("was used before"), "{again:?}");
    // Assertion ids are unique per provider.
    let here = format!("new@example.com 60 a {}", elsewhere.request);
    finish(&w, &other, &here, &[&elsewhere]).await.expect("a session");
    // A pending sign-in expires.
    w.clock.advance(Duration::from_secs(15 * 60));
    let late = format!("new@example.com 60 b {}", theirs.request);
    finish(&w, &of, &late, &[&theirs]).await.refused(ErrorKind::Unauthenticated);
}

#[tokio::test]
async fn idp_initiated_login_requires_the_provider_setting() {
    let w = world().await;
    let of = provider(&w, json!({ "idpInitiated": true })).await;
    assert!(of.idp_initiated);
    finish(&w, &of, "new@example.com 60 a -", &[]).await.expect("a session");
    finish(&w, &of, "new@example.com 60 a -", &[]).await.refused(ErrorKind::Unauthenticated);
    finish(&w, &of, "new@example.com 60 b _somebody-elses", &[]).await.refused(ErrorKind::Unauthenticated);
    let change = serde_json::from_value(json!({ "idpInitiated": false })).expect("a change");
    w.as_admin().org(&w.org).saml_provider(&of.id).update(change).await.expect("changed");
    finish(&w, &of, "new@example.com 60 c -", &[]).await.refused(ErrorKind::Unauthenticated);
}

#[tokio::test]
async fn two_servers_on_one_store_accept_an_assertion_once() {
    let w = world().await;
    let of = provider(&w, json!({ "idpInitiated": true })).await;
    let beside = w.beside_with(|builder| builder.saml(Arc::new(Plain)));
    // The user is linked, so that only the assertion can cause a conflict.
    sign_in(&w, &of, "grace@example.com").await.expect("a session");
    let before = audited(&w).await.len();
    for n in 0..8 {
        let response = format!("grace@example.com 60 twice-{n} -");
        let answer = SamlAnswer { response: &response, kept: &[] };
        let (here, there) = tokio::join!(
            w.platform.as_platform().finish_saml_login(&of.id, answer),
            beside.as_platform().finish_saml_login(&of.id, answer),
        );
        let (taken, refused): (Vec<_>, Vec<_>) = [here, there].into_iter().partition(Result::is_ok);
        assert_eq!((taken.len(), refused.len()), (1, 1));
        let why = refused.into_iter().next().expect("one").refused(ErrorKind::Unauthenticated);
        assert!(why.message().contains("was used before"), "{why:?}");
        w.clock.advance(Duration::from_millis(1));
    }
    assert_eq!(audited(&w).await.len(), before + 16, "eight let in, eight refused");
    w.check().await;
}

#[tokio::test]
async fn sign_in_uses_up_invites_of_the_organization_only() {
    let w = world().await;
    let zoe = crate::support::person(&w.platform, "Zoe").await;
    let title = "Other".parse().expect("a title");
    let other =
        w.platform.as_platform().orgs().create(title, zoe.user().expect("a user")).await.expect("one").id;
    let invite = |role: &str| {
        serde_json::from_value(json!({ "emails": ["new@example.com"], "role": role })).expect("an invitation")
    };
    w.as_admin().org(&w.org).invites().send(invite("create")).await.expect("invited");
    w.platform.as_actor(&zoe).org(&other).invites().send(invite("admin")).await.expect("invited");
    let of = provider(&w, json!({ "defaultRole": "read" })).await;
    let user = sign_in(&w, &of, "New@example.com").await.expect("a session").user.id;
    let member = w.as_admin().org(&w.org).member(&user).get().await.expect("a member");
    assert_eq!((member.role, member.sso), (Some(docs_core::model::Role::Create), true));
    w.platform.settle().await.expect("settled");
    w.platform.as_actor(&zoe).org(&other).member(&user).get().await.refused(ErrorKind::NotFound);
    let left =
        w.as_admin().org(&w.org).invites().list_emails(&Default::default()).await.expect("listed").items;
    assert!(left.is_empty(), "{left:?}");
}

/// The metadata of a pending provider is available, because the identity provider needs it for its configuration.
#[tokio::test]
async fn inactive_provider_or_missing_adapter_refuses_sign_in() {
    let w = world().await;
    let (pending, gone) = (provider(&w, json!({ "ssoURL": "-" })).await, provider(&w, json!({})).await);
    assert_eq!(pending.status, SamlProviderStatus::Pending);
    let answer = SamlAnswer { response: "new@example.com 60 a -", kept: &[] };
    w.as_admin().begin_saml_login(&gone.id).await.refused(ErrorKind::Forbidden);
    w.as_admin().finish_saml_login(&gone.id, answer).await.refused(ErrorKind::Forbidden);
    w.as_admin().saml_metadata(&gone.id).await.refused(ErrorKind::Forbidden);
    let ours = w.platform.as_platform();
    ours.saml_metadata(&pending.id).await.expect("what the provider has to know before it is active");
    w.as_admin().org(&w.org).saml_provider(&gone.id).delete().await.expect("deleted");
    for (id, kind) in [(&pending.id, ErrorKind::Precondition), (&gone.id, ErrorKind::NotFound)] {
        ours.begin_saml_login(id).await.refused(kind);
        let refused = ours.finish_saml_login(id, answer).await.expect_err("refused");
        assert_eq!(refused.kind(), kind);
        assert_eq!(refused.message().contains("it lacks ssoURL"), *id == pending.id, "{refused}");
    }
    ours.saml_metadata(&gone.id).await.refused(ErrorKind::NotFound);
    let w = World::new().await;
    let of = provider(&w, json!({})).await;
    w.platform.as_platform().begin_saml_login(&of.id).await.refused(ErrorKind::Precondition);
    w.platform.as_platform().finish_saml_login(&of.id, answer).await.refused(ErrorKind::Precondition);
}

#[tokio::test]
async fn unusable_certificate_is_rejected_when_it_is_set() {
    let w = world().await;
    let weak = "MAQwAgUB";
    let new = serde_json::from_value(json!({ "label": "Okta", "certificate": weak })).expect("a provider");
    let providers = || w.as_admin().org(&w.org).saml_providers();
    let refused = providers().create(new).await.expect_err("refused");
    assert_eq!(
        (refused.kind(), refused.message()),
        (ErrorKind::Invalid, "certificate: its key is too short")
    );
    assert!(providers().list(&Default::default()).await.expect("listed").items.is_empty());
    let of = provider(&w, json!({})).await;
    let update = serde_json::from_value(json!({ "label": "New", "certificate": weak })).expect("a change");
    let handle = || w.as_admin().org(&w.org);
    handle().saml_provider(&of.id).update(update).await.refused(ErrorKind::Invalid);
    assert_eq!(handle().saml_provider(&of.id).get().await.expect("there"), of, "nothing of it changed");
    let update = serde_json::from_value(json!({ "certificate": "" })).expect("a change");
    let pending = handle().saml_provider(&of.id).update(update).await.expect("changed");
    assert_eq!(pending.status, SamlProviderStatus::Pending);
}

/// Returns the ids of the organizations that an actor lists.
async fn orgs_of(w: &World, actor: &docs_core::Actor) -> BTreeSet<String> {
    let orgs = w.platform.as_actor(actor).orgs().list(&Default::default()).await.expect("listed").items;
    orgs.into_iter().map(|org| org.id.to_string()).collect()
}
