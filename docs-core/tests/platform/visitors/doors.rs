//! Access to published sites.

use std::time::Duration;

use data_encoding::BASE64URL_NOPAD;
use docs_core::{
    Actor, ErrorKind,
    model::{
        ContentFormat, ElsewhereTarget, Patch, ProxyOrigin, ResolveUrl, ResolvedUrl, RevisionPage, Role,
        SiteVisibility, UpdatePublishingAuth, UpdateSite, Url,
    },
    platform::{ContentOptions, ContentVersion, Visitor},
};
use serde_json::{Value, json};

use super::{address, enter, key, place, resolve, show, signed, site, token};
use crate::{
    git,
    search::{add, edit, space},
    support::{Refused, World, person},
};

fn anybody() -> Actor {
    Actor::Visitor(Visitor::anonymous())
}

#[tokio::test]
async fn only_public_and_unlisted_sites_are_readable_anonymously() {
    let w = World::new().await;
    let p = &w.platform;
    let (guide, other) = (space(&w, "Guide").await, space(&w, "Other").await);
    let page = add(&w, &guide, "Start", "Hello.").await;
    let docs = site(&w, "Docs").await;
    place(&w, &docs, &guide).await;
    let of = ContentVersion::space(guide.clone());
    p.as_actor(&anybody())
        .content(&of)
        .get_page(&page, ContentOptions::default())
        .await
        .refused(ErrorKind::Unauthenticated);
    for (visibility, open) in [
        (SiteVisibility::Public, true),
        (SiteVisibility::ShareLink, false),
        (SiteVisibility::Unlisted, true),
        (SiteVisibility::VisitorAuth, false),
    ] {
        show(&w, &docs, visibility).await;
        let read = p.as_actor(&anybody()).content(&of).get_page(&page, ContentOptions::default()).await;
        let site = p.as_actor(&anybody()).org(&w.org).site(&docs).published().await;
        assert_eq!((read.is_ok(), site.is_ok()), (open, open), "{visibility:?}: {read:?} {site:?}");
        p.as_actor(&anybody()).space(&other).get().await.refused(ErrorKind::Unauthenticated);
        p.as_actor(&anybody()).org(&w.org).get().await.refused(ErrorKind::NotFound);
    }
    show(&w, &docs, SiteVisibility::Public).await;
    w.as_admin().org(&w.org).site(&docs).unpublish().await.expect("unpublished");
    p.as_actor(&anybody()).space(&guide).get().await.refused(ErrorKind::Unauthenticated);
}

#[tokio::test]
async fn a_share_link_opens_its_site_until_it_is_revoked() {
    let w = World::new().await;
    let p = &w.platform;
    let guide = space(&w, "Guide").await;
    let docs = site(&w, "Docs").await;
    place(&w, &docs, &guide).await;
    show(&w, &docs, SiteVisibility::ShareLink).await;
    let url = address(&w, &docs).await;
    let link = serde_json::from_value(json!({ "name": "Friends" })).expect("a link");
    let link = w.as_admin().org(&w.org).site(&docs).share_links().create(link).await.expect("a link");
    let through = link.urls.published.expect("an address");
    resolve(&w, &url, Value::Null).await.refused(ErrorKind::NotFound);
    resolve(&w, &format!("{url}wrong/start"), Value::Null).await.refused(ErrorKind::NotFound);
    let (content, actor) = enter(&w, &format!("{through}start"), Value::Null).await.expect("open");
    let key = content.share_key.clone().expect("a key");
    assert!(content.site_base_path.ends_with(&format!("/{key}/")), "{content:?}");
    assert_eq!(content.pathname, "/start");
    let with_key = Actor::Visitor(Visitor::anonymous().with_share_key(&key));
    for actor in [&actor, &with_key] {
        p.as_actor(actor).space(&guide).get().await.expect("read");
    }
    let off = serde_json::from_value(json!({ "active": false })).expect("a change");
    w.as_admin().org(&w.org).site(&docs).share_link(&link.id).update(off).await.expect("revoked");
    for actor in [&actor, &with_key] {
        p.as_actor(actor).space(&guide).get().await.refused(ErrorKind::NotFound);
    }
    resolve(&w, &through, Value::Null).await.refused(ErrorKind::NotFound);
}

#[tokio::test]
async fn user_who_is_not_a_member_reads_only_public_sites() {
    let w = World::new().await;
    let p = &w.platform;
    let (guide, other) = (space(&w, "Guide").await, space(&w, "Other").await);
    let page = add(&w, &guide, "Start", "Hello.").await;
    let docs = site(&w, "Docs").await;
    place(&w, &docs, &guide).await;
    let of = ContentVersion::space(guide.clone());
    let (stranger, guest) = (person(p, "Sam").await, w.member("Gus", None).await);
    for visibility in [SiteVisibility::Public, SiteVisibility::ShareLink, SiteVisibility::VisitorAuth] {
        show(&w, &docs, visibility).await;
        let open = visibility == SiteVisibility::Public;
        for user in [&stranger, &guest] {
            // A signed-in user gets `NotFound` if no sign-in of the site could grant access.
            let answers = [
                p.as_actor(user).space(&guide).get().await.map(drop),
                p.as_actor(user).content(&of).get_page(&page, ContentOptions::default()).await.map(drop),
                p.as_actor(user).org(&w.org).site(&docs).structure().await.map(drop),
            ];
            for answer in answers {
                assert_eq!(
                    answer.map_err(|error| error.kind()),
                    if open { Ok(()) } else { Err(ErrorKind::NotFound) }
                );
            }
            p.as_actor(user).space(&other).get().await.refused(ErrorKind::NotFound);
            p.as_actor(user)
                .space(&guide)
                .delete()
                .await
                .map(|there_was| assert!(!there_was))
                .expect("there is none for them");
        }
    }
    let seen = p.as_actor(&anybody()).space(&guide).get().await.refused(ErrorKind::Unauthenticated);
    assert!(seen.to_string().contains("token"), "{seen}");
}

#[tokio::test]
async fn urls_read_through_a_share_link_contain_its_key() {
    let w = World::new().await;
    let p = &w.platform;
    let (guide, docs) = (space(&w, "Guide").await, site(&w, "Docs").await);
    let new = serde_json::from_value(json!({ "spaceId": guide, "title": "Part" })).expect("a section");
    w.as_admin().org(&w.org).site(&docs).sections().create(new).await.expect("a section");
    show(&w, &docs, SiteVisibility::ShareLink).await;
    let link = serde_json::from_value(json!({ "name": "Friends" })).expect("a link");
    let start = w.as_admin().org(&w.org).site(&docs).share_links().create(link).await.expect("a link");
    let start = start.urls.published.expect("a key");
    let key = start.trim_end_matches('/').rsplit('/').next().expect("a key").to_owned();
    let stranger = person(p, "Sam").await;
    let first = Default::default();
    for reader in [&anybody(), &stranger, &w.admin] {
        let opened = p.as_actor(reader).org(&w.org).site(&docs).with_share_key(Some(&key));
        let sections = opened.sections().list(&first).await.expect("sections").items;
        let places = opened.spaces().list(Default::default(), &first).await.expect("places").items;
        let whole = opened.published().await.expect("a site");
        let space = p.as_actor(reader).space(&guide).get_shared(Some(&key)).await.expect("a space");
        for url in [
            &sections[0].urls.published,
            &places[0].urls.published,
            &places[0].space.urls.published,
            &whole.site.urls.published,
            &space.urls.published,
        ] {
            assert!(url.as_ref().is_some_and(|url| url.starts_with(&start)), "{url:?} {start}");
        }
        let structure = opened.structure().await.expect("a structure");
        let text = serde_json::to_string(&structure).expect("JSON");
        assert!(text.contains(&start), "{text}");
    }
    for key in ["wrong", ""] {
        let site = |actor| p.as_actor(actor).org(&w.org).site(&docs).with_share_key(Some(key));
        site(&stranger).sections().list(&first).await.refused(ErrorKind::NotFound);
        let own = site(&w.admin).sections().list(&first).await.expect("sections").items;
        assert!(
            own[0].urls.published.as_ref().is_some_and(|url| !url.starts_with(&start)),
            "it changes nothing"
        );
    }
}

#[tokio::test]
async fn invalid_visitor_tokens_are_rejected() {
    let w = World::new().await;
    let (guide, docs, other) = (space(&w, "Guide").await, site(&w, "Docs").await, site(&w, "Other").await);
    place(&w, &docs, &guide).await;
    show(&w, &docs, SiteVisibility::VisitorAuth).await;
    let url = address(&w, &docs).await;
    let (mine, theirs) = (key(&w, &w.org, &docs).await, key(&w, &w.org, &other).await);
    let now = w.clock_now().time().timestamp();
    let right = r#"{"alg":"HS256","typ":"JWT"}"#;
    let long = json!({ "exp": now + 60, "x": "x".repeat(9_000) }).to_string();
    let (fresh, soon) = (format!(r#"{{"exp":{}}}"#, now + 60), format!(r#"{{"nbf":{}}}"#, now + 3_600));
    let late = format!(r#"{{"exp":{}}}"#, now - 60);
    for (what, token) in [
        ("another algorithm", signed(&mine, r#"{"alg":"HS512"}"#, &fresh)),
        ("no algorithm", signed(&mine, r#"{"alg":"none"}"#, &fresh)),
        ("no signature", signed(&mine, right, &fresh).rsplit_once('.').expect("parts").0.to_owned() + "."),
        ("the key of another site", signed(&theirs, right, &fresh)),
        ("a blank key", signed("", right, &fresh)),
        ("expired", signed(&mine, right, &late)),
        ("not valid yet", signed(&mine, right, &soon)),
        ("oversize", signed(&mine, right, &long)),
        ("a claim twice", signed(&mine, right, r#"{"a":1,"a":2}"#)),
        ("no JSON", signed(&mine, right, "x")),
        ("no token", "x".to_owned()),
    ] {
        let error = resolve(&w, &url, json!({ "jwtToken": token })).await.refused(ErrorKind::Unauthenticated);
        assert!(error.to_string().starts_with("visitor.jwtToken: "), "{what}: {error}");
        // The token does not authenticate API requests either.
        w.platform.authenticate(&token).await.refused(ErrorKind::Unauthenticated);
    }
    let (_, actor) =
        enter(&w, &url, json!({ "jwtToken": signed(&mine, right, &fresh) })).await.expect("open");
    w.platform.as_actor(&actor).space(&guide).get().await.expect("read");
    // A visitor token grants no access to the API. Only the content token that it is exchanged for does.
    w.platform.authenticate(&signed(&mine, right, &fresh)).await.refused(ErrorKind::Unauthenticated);
    w.as_admin().org(&w.org).site(&docs).regenerate_publishing_auth().await.expect("another key");
    w.platform.as_actor(&actor).space(&guide).get().await.refused(ErrorKind::NotFound);
    resolve(&w, &url, json!({ "jwtToken": signed(&mine, right, &fresh) }))
        .await
        .refused(ErrorKind::Unauthenticated);
}

/// Returns the token that identifies a member to sites.
async fn vouched(w: &World, member: &Actor) -> Option<String> {
    w.platform.as_actor(member).org(&w.org).ping().await.expect("there").platform_visitor_claims
}

/// The token is only valid on the sites of the member's organization.
#[tokio::test]
async fn ping_token_identifies_a_member_on_sites() {
    let w = World::new().await;
    let p = &w.platform;
    let (guide, docs, public) = (space(&w, "Guide").await, site(&w, "Docs").await, site(&w, "Open").await);
    place(&w, &docs, &guide).await;
    place(&w, &public, &guide).await;
    show(&w, &docs, SiteVisibility::VisitorAuth).await;
    show(&w, &public, SiteVisibility::Public).await;
    let adaptive = json!({ "jsonSchema": { "type": "object", "additionalProperties": false, "properties": {
        "email": { "type": "string", "description": "Where they are written to" },
        "role": { "type": "string", "description": "What they may do", "enum": ["read"] },
    } } });
    let adaptive = serde_json::from_value(adaptive).expect("a schema");
    w.as_admin().org(&w.org).site(&public).set_adaptive_schema(adaptive).await.expect("a schema");
    let enabled =
        serde_json::from_value(json!({ "adaptiveContent": { "enabled": true } })).expect("a change");
    w.as_admin().org(&w.org).site(&public).update(enabled).await.expect("changed");
    let (url, open) = (address(&w, &docs).await, address(&w, &public).await);
    let (member, guest) = (w.member("Mia", Some(Role::Read)).await, w.member("Gus", None).await);
    assert_eq!(vouched(&w, &guest).await, None, "guests are vouched for by nobody");
    let claims = json!({ "jwtToken": vouched(&w, &member).await.expect("a token") });
    let (_, visitor) = enter(&w, &url, claims.clone()).await.expect("open");
    p.as_actor(&visitor).space(&guide).get().await.expect("read");
    let known = |content: docs_core::model::ResolvedContent| {
        let part = content.api_token.split('.').nth(1).expect("claims").to_owned();
        let bytes = BASE64URL_NOPAD.decode(part.as_bytes()).expect("base64url");
        serde_json::from_slice::<Value>(&bytes).expect("JSON")["claims"].clone()
    };
    let (content, _) = enter(&w, &open, claims.clone()).await.expect("open");
    assert_eq!(known(content), json!({ "email": "mia@example.com", "role": "read" }));
    // The role is not taken from the token, but read on use.
    let raised = serde_json::from_value(json!({ "role": "comment" })).expect("a change");
    w.as_admin().org(&w.org).member(member.user().expect("a user")).update(raised).await.expect("changed");
    let (content, _) = enter(&w, &open, claims.clone()).await.expect("open");
    assert_eq!(known(content), json!({ "email": "mia@example.com" }), "the schema names no such role");
    // The token is invalid for the API, for sites of other organizations, and after modification.
    let jwt = claims["jwtToken"].as_str().expect("a token");
    p.authenticate(jwt).await.refused(ErrorKind::Unauthenticated);
    let title = "Other".parse().expect("a title");
    let org =
        p.as_platform().orgs().create(title, w.admin.user().expect("a user")).await.expect("another").id;
    let mut theirs = w.clone();
    theirs.org = org;
    let (other, there) = (site(&theirs, "Theirs").await, space(&theirs, "Theirs").await);
    place(&theirs, &other, &there).await;
    show(&theirs, &other, SiteVisibility::VisitorAuth).await;
    let elsewhere = address(&theirs, &other).await;
    resolve(&w, &elsewhere, claims.clone()).await.refused(ErrorKind::Unauthenticated);
    let changed = json!({ "jwtToken": jwt.replacen("eyJ", "eyK", 1) });
    resolve(&w, &url, changed).await.refused(ErrorKind::Unauthenticated);
    // The token expires after an hour, and with the membership.
    w.clock.advance(Duration::from_secs(3_599));
    resolve(&w, &url, claims.clone()).await.expect("valid for an hour");
    w.clock.advance(Duration::from_secs(1));
    let error = resolve(&w, &url, claims).await.refused(ErrorKind::Unauthenticated);
    assert_eq!(error.to_string(), "visitor.jwtToken: it has expired");
    let claims = json!({ "jwtToken": vouched(&w, &member).await.expect("a token") });
    let (_, visitor) = enter(&w, &url, claims.clone()).await.expect("open");
    w.as_admin().org(&w.org).member(member.user().expect("a user")).remove().await.expect("removed");
    p.as_actor(&visitor).space(&guide).get().await.refused(ErrorKind::NotFound);
    resolve(&w, &url, claims).await.refused(ErrorKind::Unauthenticated);
}

#[tokio::test]
async fn unauthenticated_visitor_is_redirected_to_the_login() {
    let w = World::new().await;
    let (guide, docs) = (space(&w, "Guide").await, site(&w, "Docs").await);
    place(&w, &docs, &guide).await;
    show(&w, &docs, SiteVisibility::VisitorAuth).await;
    let url = format!("{}start/here", address(&w, &docs).await);
    resolve(&w, &url, Value::Null).await.refused(ErrorKind::NotFound);
    let login = "https://login.example/in?app=docs#now";
    let change = UpdatePublishingAuth {
        fallback_url: Patch::Set(Url::new(login).expect("an address")),
        ..UpdatePublishingAuth::default()
    };
    w.as_admin().org(&w.org).site(&docs).update_publishing_auth(change).await.expect("changed");
    let there = "https://login.example/in?app=docs&location=%2Fstart%2Fhere#now";
    for visitor in [Value::Null, json!({ "jwtToken": "" })] {
        match resolve(&w, &url, visitor).await.expect("an answer") {
            ResolvedUrl::Redirect(to) => {
                assert_eq!((to.target, &*to.redirect), (ElsewhereTarget::External, there));
            }
            other => panic!("{other:?}"),
        }
    }
    let visitor = json!({ "jwtToken": "x.y.z" });
    resolve(&w, &url, visitor.clone()).await.refused(ErrorKind::Unauthenticated);
    let ask = json!({ "url": url, "visitor": visitor, "redirectOnError": true });
    let ask: ResolveUrl = serde_json::from_value(ask).expect("a request");
    assert!(matches!(w.platform.resolve_url(&ask).await, Ok(ResolvedUrl::Redirect(_))));
}

#[tokio::test]
async fn content_token_expires_and_is_valid_for_its_site_only() {
    let w = World::new().await;
    let (guide, other) = (space(&w, "Guide").await, space(&w, "Other").await);
    for (title, space) in [("Docs", &guide), ("More", &other)] {
        let site = site(&w, title).await;
        place(&w, &site, space).await;
        show(&w, &site, SiteVisibility::Public).await;
    }
    let sites = w.as_admin().org(&w.org).sites().list(&Default::default(), &Default::default()).await;
    let docs = sites.expect("sites").items.remove(0).id;
    let (content, actor) = enter(&w, &address(&w, &docs).await, Value::Null).await.expect("open");
    w.platform.as_actor(&actor).space(&guide).get().await.expect("read");
    w.platform.as_actor(&actor).space(&other).get().await.refused(ErrorKind::NotFound);
    w.clock.advance(Duration::from_mins(59));
    w.platform.authenticate(&content.api_token).await.expect("it is good");
    w.clock.advance(Duration::from_mins(6));
    w.platform.authenticate(&content.api_token).await.refused(ErrorKind::Unauthenticated);
}

#[tokio::test]
async fn visitor_has_no_write_access_and_sees_no_editor_data() {
    let w = World::new().await;
    let p = &w.platform;
    let (guide, docs) = (space(&w, "Guide").await, site(&w, "Docs").await);
    let page = add(&w, &guide, "Start", "Hello.").await;
    place(&w, &docs, &guide).await;
    show(&w, &docs, SiteVisibility::Public).await;
    let (_, actor) = enter(&w, &address(&w, &docs).await, Value::Null).await.expect("open");
    let (live, request) = (ContentVersion::space(guide.clone()), ContentVersion::request(guide.clone(), "1"));
    for actor in [&actor, &anybody()] {
        let first = Default::default();
        assert!(
            p.as_actor(actor).content(&request).get_page(&page, ContentOptions::default()).await.is_err()
        );
        assert!(
            p.as_actor(actor)
                .space(&guide)
                .change_requests()
                .list(&Default::default(), &first)
                .await
                .is_err()
        );
        assert!(p.as_actor(actor).content(&live).comments().list(&Default::default(), &first).await.is_err());
        assert!(p.as_actor(actor).content(&live).list_page_links(&page, None, &first).await.is_err());
        assert!(p.as_actor(actor).content(&live).list_changes(None).await.is_err());
        assert!(p.as_actor(actor).content(&live).comments().list_commenters(&first).await.is_err());
        assert!(p.as_actor(actor).current_user().await.is_err());
        // Pages of sites mention members by id, so visitors of sites see their names.
        let member = p.as_actor(actor).user(w.admin.user().expect("a user")).get().await;
        assert!(!member.is_ok_and(|member| member.email.is_some()));
        assert!(
            p.as_actor(actor).space(&guide).search(&"hello".parse().expect("a query"), &first).await.is_err()
        );
        let change = UpdateSite { title: "Mine".parse().ok(), ..UpdateSite::default() };
        p.as_actor(actor).org(&w.org).site(&docs).update(change).await.refused(ErrorKind::Forbidden);
        p.as_actor(actor).space(&guide).delete().await.refused(ErrorKind::Forbidden);
        let seen =
            serde_json::to_value(p.as_actor(actor).space(&guide).get().await.expect("read")).expect("JSON");
        assert_eq!((&seen["changeRequests"], &seen["comments"]), (&json!(0), &json!(0)));
        assert_eq!(
            (&seen["permissions"]["view"], &seen["permissions"]["comment"]),
            (&json!(true), &json!(false))
        );
        let revision = p.as_actor(actor).content(&live).get(ContentOptions::default()).await.expect("read");
        assert!(!serde_json::to_string(&revision).expect("JSON").contains("Ada"), "nobody is named");
    }
}

#[tokio::test]
async fn visitor_reads_only_the_published_revision() {
    let w = World::new().await;
    let p = &w.platform;
    let (guide, docs) = (space(&w, "Guide").await, site(&w, "Docs").await);
    add(&w, &guide, "Start", "Hello.").await;
    place(&w, &docs, &guide).await;
    show(&w, &docs, SiteVisibility::Public).await;
    let before = w.as_admin().space(&guide).get().await.expect("read").revision;
    let of = ContentVersion::revision(guide.clone(), before);
    let seen =
        p.as_actor(&anybody()).content(&of).get(ContentOptions::default()).await.expect("it is published");
    assert!(seen.parents.is_empty(), "what was before is not told");
    add(&w, &guide, "Next", "More.").await;
    p.as_actor(&anybody()).content(&of).get(ContentOptions::default()).await.refused(ErrorKind::NotFound);
    w.as_admin().content(&of).get(ContentOptions::default()).await.expect("members read all");
    let request = w.as_admin().space(&guide).change_request("1").get().await.expect("a request");
    let draft = ContentVersion::revision(guide, request.revision);
    p.as_actor(&anybody()).content(&draft).get(ContentOptions::default()).await.refused(ErrorKind::NotFound);
}

/// A condition in text that is too dense to parse cannot be evaluated, so its content is hidden from all readers.
#[tokio::test]
async fn unparsable_text_hides_its_conditional_blocks() {
    let w = World::new().await;
    let p = &w.platform;
    let (guide, docs) = (space(&w, "Guide").await, site(&w, "Docs").await);
    let rows = "| a | b | c |\n".repeat(400);
    let text = format!(
        "Before.\n\n| a | b | c |\n|---|---|---|\n{rows}\n{{% if visitor.claims.plan == 'pro' %}}\nSecret.\n{{% endif %}}\n"
    );
    let page = add(&w, &guide, "Start", &text).await;
    place(&w, &docs, &guide).await;
    show(&w, &docs, SiteVisibility::Public).await;
    let live = ContentVersion::space(guide);
    for format in [ContentFormat::Markdown, ContentFormat::Document] {
        let how = ContentOptions { format, ..ContentOptions::default() };
        let seen = p.as_actor(&anybody()).content(&live).get_page(&page, how).await.expect("read");
        let seen = serde_json::to_string(&seen).expect("JSON");
        assert!(seen.contains("Before.") && !seen.contains("Secret"), "{seen:.300}");
    }
}

#[tokio::test]
async fn visitor_reads_only_documents_of_visible_pages_by_id() {
    let w = World::new().await;
    let p = &w.platform;
    let (guide, docs) = (space(&w, "Guide").await, site(&w, "Docs").await);
    let page = add(&w, &guide, "Start", "Hello.").await;
    place(&w, &docs, &guide).await;
    show(&w, &docs, SiteVisibility::Public).await;
    let live = ContentVersion::space(guide.clone());
    let RevisionPage::Document(seen) =
        p.as_actor(&anybody()).content(&live).get_page(&page, ContentOptions::default()).await.expect("read")
    else {
        panic!("a document");
    };
    let id = seen.document_id.expect("an id");
    p.as_actor(&anybody()).space(&guide).get_document(&id).await.expect("read");
    let hide = json!([{ "operation": "update_page", "page": page, "condition": "visitor.claims.plan" }]);
    edit(&w, &guide, hide).await.expect("hidden");
    p.as_actor(&anybody()).space(&guide).get_document(&id).await.refused(ErrorKind::NotFound);
    w.as_admin().space(&guide).get_document(&id).await.expect("members read all");
}

/// A content token expires with the signed token it was issued for.
#[tokio::test]
async fn content_token_expires_with_the_visitor_token() {
    let w = World::new().await;
    let (guide, docs) = (space(&w, "Guide").await, site(&w, "Docs").await);
    place(&w, &docs, &guide).await;
    show(&w, &docs, SiteVisibility::VisitorAuth).await;
    let now = w.clock_now().time().timestamp();
    let token = token(&key(&w, &w.org, &docs).await, &json!({ "exp": now + 60 }));
    let url = address(&w, &docs).await;
    let (content, _) = enter(&w, &url, json!({ "jwtToken": token })).await.expect("open");
    w.clock.advance(Duration::from_secs(121));
    w.platform.authenticate(&content.api_token).await.refused(ErrorKind::Unauthenticated);
}

#[tokio::test]
async fn url_resolves_to_longest_mount_then_section_and_space() {
    let w = World::new().await;
    let (guide, api) = (space(&w, "Guide").await, space(&w, "API").await);
    let docs = site(&w, "Docs").await;
    place(&w, &docs, &guide).await;
    place(&w, &docs, &api).await;
    show(&w, &docs, SiteVisibility::Public).await;
    let url = address(&w, &docs).await;
    let at = async |path: &str| enter(&w, &format!("{url}{path}"), Value::Null).await.expect("found").0;
    let root = at("").await;
    let base = root.site_base_path.clone();
    assert!(url.ends_with(&base), "{url} {base}");
    assert_eq!((&root.space, &*root.pathname, root.complete), (&guide, "/", false));
    let page = at("start/here?q=1#x").await;
    assert_eq!((&page.space, &*page.pathname, page.complete), (&guide, "/start/here", true));
    assert_eq!(page.canonical_url, format!("{url}start/here"));
    let other = at("api/Start").await;
    assert_eq!((&other.space, &*other.pathname), (&api, "/Start"));
    let other = at("api").await;
    assert_eq!((&other.space, &*other.base_path, other.complete), (&api, &*format!("{base}api/"), true));
    // A default has no path segment.
    match resolve(&w, &format!("{url}guide/start"), Value::Null).await.expect("an answer") {
        ResolvedUrl::Redirect(to) => {
            assert_eq!((to.target, to.redirect), (ElsewhereTarget::Content, format!("{url}start")));
        }
        other => panic!("{other:?}"),
    }
    let proxy = UpdateSite {
        proxy: Patch::Set(ProxyOrigin::new("www.example.com/help/docs").expect("an origin")),
        ..UpdateSite::default()
    };
    w.as_admin().org(&w.org).site(&docs).update(proxy).await.expect("mounted");
    let there = "https://WWW.example.com/help/docs/api/start";
    let (mounted, _) = enter(&w, there, Value::Null).await.expect("found");
    assert_eq!((&mounted.space, &*mounted.site_base_path), (&api, "/help/docs/"));
    assert_eq!(mounted.canonical_url, "https://www.example.com/help/docs/api/start");
    for nothing in
        ["https://www.example.com/help", "https://elsewhere.example/help/docs", &url.replace("docs", "no")]
    {
        resolve(&w, nothing, Value::Null).await.refused(ErrorKind::NotFound);
    }
    resolve(&w, "https://me:secret@docs.example/", Value::Null).await.refused(ErrorKind::Invalid);
    let claims = json!({ "unsignedClaims": { "x": "x".repeat(9_000) } });
    resolve(&w, &url, claims).await.refused(ErrorKind::Invalid);
}

#[tokio::test]
async fn visitor_sees_the_url_of_a_commit_but_not_its_message() {
    let (w, _, guide) = git::world().await;
    let import = json!({ "url": "https://git.example/docs", "ref": "refs/heads/secret",
        "repoCommitURL": "https://git.example/docs/commit" });
    let import = serde_json::from_value(import).expect("a request");
    w.as_admin().space(&guide).import_git(import).await.expect("enqueued");
    w.platform.settle().await.expect("settled");
    let docs = site(&w, "Docs").await;
    place(&w, &docs, &guide).await;
    show(&w, &docs, SiteVisibility::Public).await;
    let of = ContentVersion::space(guide);
    let anybody = Actor::Visitor(Visitor::anonymous());
    let shown = async |reader: &Actor| {
        let revision = w
            .platform
            .as_actor(reader)
            .content(&of)
            .get(ContentOptions::default())
            .await
            .expect("a revision");
        revision.git.expect("a commit")
    };
    let (member, visitor) = (shown(&w.admin).await, shown(&anybody).await);
    assert_eq!((&*member.message, member.reference.as_deref()), ("A commit", Some("refs/heads/secret")));
    assert_eq!((&*visitor.message, visitor.reference), ("", None));
    assert_eq!((&visitor.oid, &visitor.url), (&member.oid, &member.url));
    assert!(visitor.url.is_some_and(|url| url.starts_with("https://git.example/docs/commit/")));
}

#[tokio::test]
async fn content_tokens_longer_than_the_bound_are_refused() {
    let w = World::new().await;
    // A string that looks like a token, without its content.
    for (bytes, why) in [(32 << 10, "it is not a signed token"), ((32 << 10) + 1, "it is too long")] {
        let token = format!("eyJ..{}", "a".repeat(bytes - "eyJ..".len()));
        let error = w.platform.authenticate(&token).await.refused(ErrorKind::Unauthenticated);
        assert_eq!(error.message(), format!("the content token: {why}"));
    }
}
