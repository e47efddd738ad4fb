//! Response fields used by published clients, including fields set by the embedding application.

use std::collections::BTreeSet;

use docs_core::{
    model::{
        BillingInterval, BlockReason, MemberPricing, OrganizationBilling, OrganizationBlock,
        OrganizationPricing, Patch, Plan, Price, SiteHostname, SitePricing, Timestamp, Trial, TrialStatus,
        UpdateAccount, UsageAddon,
    },
    ports::Clock as _,
};
use serde_json::{Value, json};

use crate::{
    refusals::{World, bearer},
    server::{Server, id},
};

const CHANGELOG: &str = include_str!("../../../CHANGELOG.md");

#[tokio::test]
async fn api_root_returns_the_version_to_authenticated_users() {
    let s = Server::new().await;
    for path in ["/v1", "/v1/"] {
        let about = s.get(path).await;
        assert_eq!(about["version"], env!("CARGO_PKG_VERSION"));
        let day = about["build"].as_str().expect("a day");
        assert!(chrono::NaiveDate::parse_from_str(day, "%Y-%m-%d").is_ok(), "{day}");
        let mut releases = CHANGELOG.lines().filter_map(|line| line.strip_prefix("## "));
        let latest = releases.find(|release| *release != "Unreleased").expect("a release");
        assert_eq!(latest, format!("{} ({day})", env!("CARGO_PKG_VERSION")), "the latest release");
        s.send("GET", path, None, None).await.refused(401, path);
    }
}

#[tokio::test]
async fn subdomain_resolves_to_its_organization() {
    let s = Server::new().await;
    let org = format!("/v1/orgs/{}", s.org);
    let path = "/v1/subdomains/engine-docs";
    s.ask("GET", path, &s.outsider, None).await.refused(404, "nobody has it");
    s.patch(&org, json!({ "hostname": "engine-docs" })).await;
    let leads = json!({
        "object": "subdomain", "subdomain": "engine-docs", "isActive": true,
        "target": { "type": "organization", "organization": s.org },
    });
    for (path, token) in [(path, &s.admin), (path, &s.outsider), ("/v1/subdomains/Engine-Docs", &s.guest)] {
        assert_eq!(s.ask("GET", path, token, None).await.is(200, path), leads);
    }
    s.send("GET", path, None, None).await.refused(401, path);
    for wrong in ["/v1/subdomains/engine", "/v1/subdomains/-a-", "/v1/subdomains/a%20b"] {
        s.ask("GET", wrong, &s.admin, None).await.refused(404, wrong);
    }
    let block = Patch::Set(OrganizationBlock { reason: BlockReason::Security });
    let account = UpdateAccount { blocked: block, ..UpdateAccount::default() };
    let id = s.org.parse().expect("an id");
    s.platform.as_platform().org(&id).update_account(account).await.expect("blocked");
    assert_eq!(s.get(path).await["isActive"], false, "not while it is blocked");
    s.patch(&org, json!({ "hostname": "other-docs" })).await;
    s.ask("GET", path, &s.admin, None).await.refused(404, "it has another");
}

/// Returns account settings with every field.
fn account(end: Timestamp) -> UpdateAccount {
    let price = Price { monthly: 8.0, yearly: 6.5 };
    UpdateAccount {
        plan: Some(Plan::Pro2024),
        billing: Patch::Set(OrganizationBilling {
            interval: BillingInterval::Yearly,
            end_date: None,
            has_payment_failed: false,
            can_checkout: true,
            can_change_interval: false,
            can_use_saml: true,
            usage_addons: [("ai".to_owned(), UsageAddon { enabled: true })].into(),
            credits_bundle: None,
            ai_credit_alert_threshold: Some(10.0),
            is_scheduled_to_cancel: true,
            pricing: OrganizationPricing {
                members: MemberPricing { plus_2024: price, pro_2024: price },
                sites: SitePricing { premium: price, ultimate: price },
            },
        }),
        trial: Some(Trial { status: TrialStatus::Active, count: 2, end_date: Some(end), decision: None }),
        blocked: Patch::Set(OrganizationBlock { reason: BlockReason::Security }),
        custom_hostname: Patch::Set(SiteHostname::new("docs.engines.example").expect("a host")),
        ..UpdateAccount::default()
    }
}

#[tokio::test]
async fn account_data_of_the_application_is_shown_to_members() {
    let s = Server::new().await;
    let org = format!("/v1/orgs/{}", s.org);
    let bare = s.get(&org).await;
    assert_eq!(bare["trial"], json!({ "status": "notapplicable", "count": 0 }));
    for absent in ["billing", "blocked", "customHostname", "useCase", "communityType"] {
        assert!(bare.get(absent).is_none(), "{absent}");
    }
    let end = Timestamp::new(s.clock.now());
    let account = account(end);
    let id = s.org.parse().expect("an id");
    s.platform.as_platform().org(&id).update_account(account).await.expect("kept");
    let full = s.get(&org).await;
    assert_eq!(full["plan"], "pro_2024");
    let costs = json!({ "monthly": 8.0, "yearly": 6.5 });
    assert_eq!(
        full["billing"],
        json!({
            "interval": "yearly", "endDate": null, "hasPaymentFailed": false, "isScheduledToCancel": true,
            "canCheckout": true, "canChangeInterval": false, "canUseSAML": true, "creditsBundle": null,
            "usageAddons": { "ai": { "enabled": true } }, "aiCreditAlertThreshold": 10.0,
            "pricing": {
                "members": { "plus_2024": costs, "pro_2024": costs },
                "sites": { "premium": costs, "ultimate": costs },
            },
        })
    );
    assert_eq!(full["trial"], json!({ "status": "active", "count": 2, "endDate": end }));
    assert_eq!(
        (&full["blocked"], &full["customHostname"]),
        (&json!({ "reason": "security" }), &json!("docs.engines.example"))
    );
    // Prices are returned only to callers with the `viewBilling` permission.
    let seen = s.ask("GET", &org, &s.editor, None).await.is(200, &org);
    assert_eq!((seen.get("billing"), &seen["blocked"]), (None, &full["blocked"]));
    let cleared = UpdateAccount { billing: Patch::Clear, blocked: Patch::Clear, ..UpdateAccount::default() };
    s.platform.as_platform().org(&id).update_account(cleared).await.expect("cleared");
    let after = s.get(&org).await;
    assert_eq!((after.get("billing"), after.get("blocked")), (None, None));
    assert_eq!((&after["plan"], &after["customHostname"]), (&full["plan"], &full["customHostname"]));
    let ada = s.get("/v1/user").await;
    let me = docs_core::Actor::User(self::id(&ada).parse().expect("an id"));
    let refused = s.platform.as_actor(&me).org(&id).update_account(UpdateAccount::default()).await;
    assert_eq!(refused.expect_err("not for users").kind(), docs_core::ErrorKind::Forbidden);
}

#[tokio::test]
async fn site_resolves_on_its_custom_hostname() {
    let s = Server::new().await;
    let space = s.space().await;
    let site = s.site("Docs", &[&space]).await;
    let other = s.site("Other", &[&space]).await;
    s.post(&format!("{site}/publish"), 200, json!({})).await;
    let on = async |site: &str, host: Option<&str>| {
        let org = s.org.parse().expect("an id");
        let site = site.rsplit('/').next().expect("an id").parse().expect("an id");
        let host = host.map(|host| SiteHostname::new(host).expect(host));
        s.platform.as_platform().org(&org).site(&site).set_hostname(host).await
    };
    assert!(s.get(&site).await.get("hostname").is_none());
    on(&site, Some("docs.engines.example")).await.expect("it has the host");
    assert_eq!(s.get(&site).await["hostname"], "docs.engines.example");
    let resolve = async |url: &str| {
        s.send(
            "POST",
            "/v1/urls/published",
            None,
            Some(("application/json", json!({ "url": url }).to_string())),
        )
        .await
    };
    let found = resolve("https://Docs.Engines.Example/start").await.is(200, "resolved");
    assert_eq!((&found["site"], &found["siteBasePath"]), (&s.get(&site).await["id"], &json!("/")));
    assert_eq!(
        (&found["pathname"], &found["canonicalUrl"]),
        (&json!("/start"), &json!("https://docs.engines.example/start"))
    );
    let taken = on(&other, Some("docs.engines.example")).await.expect_err("another site has it");
    assert_eq!(taken.kind(), docs_core::ErrorKind::Conflict);
    let own = on(&other, Some("docs.example.org")).await;
    own.expect("another host");
    // The longest path prefix takes precedence, so a site may be mounted below another site of the same organization.
    s.patch(&other, json!({ "proxy": "docs.engines.example/other" })).await;
    s.post(&format!("{other}/publish"), 200, json!({})).await;
    let below = resolve("https://docs.engines.example/other/start").await.is(200, "resolved");
    assert_eq!(below["site"], s.get(&other).await["id"]);
    // It may not be mounted below a site of another organization.
    let sites = format!("/v1/orgs/{}/sites", s.other_org);
    let theirs = s.ask("POST", &sites, &s.outsider, Some(json!({}))).await.is(201, "a site");
    let change = json!({ "proxy": "docs.engines.example/theirs" });
    let answer = s.ask("PATCH", &format!("{sites}/{}", id(&theirs)), &s.outsider, Some(change)).await;
    assert!(answer.refused(409, "below a host of ours").starts_with("proxy: "));
    on(&site, None).await.expect("taken away");
    resolve("https://docs.engines.example/start").await.refused(404, "nothing is there");
    s.check().await;
}

#[tokio::test]
async fn published_urls_and_visitor_auth_depend_on_visibility() {
    let s = Server::new().await;
    let space = s.space().await;
    let site = s.site("Docs", &[&space]).await;
    let path = format!("/v1/spaces/{space}");
    let shown = async || {
        let space = s.get(&path).await;
        let has = |address: &str| space["urls"].get(address).is_some();
        (space["visibility"].clone(), has("published"), has("public"), space.get("visitorAuth").cloned())
    };
    assert_eq!(shown().await, (json!("private"), false, false, None));
    s.post(&format!("{site}/publish"), 200, json!({})).await;
    for (visibility, public, auth) in [
        ("public", true, None),
        ("unlisted", false, None),
        ("share-link", false, None),
        ("visitor-auth", false, Some(json!({ "backend": "custom" }))),
    ] {
        s.patch(&site, json!({ "visibility": visibility })).await;
        assert_eq!(shown().await, (json!(visibility), true, public, auth), "{visibility}");
    }
    let auth = json!({ "backend": "integration", "integration": "sign-in" });
    s.patch(&format!("{site}/publishing/auth"), auth.clone()).await;
    assert_eq!(shown().await.3, Some(auth));
    let list = s.get(&format!("/v1/orgs/{}/spaces", s.org)).await;
    assert_eq!(list["items"][0]["visitorAuth"]["integration"], "sign-in");
    s.post(&format!("{site}/unpublish"), 200, json!({})).await;
    assert_eq!(shown().await, (json!("private"), false, false, None), "nothing is published any more");
}

#[tokio::test]
async fn site_contains_its_default_space_for_readers() {
    let s = Server::new().await;
    let (one, other) = (s.space().await, s.space().await);
    let sites = format!("/v1/orgs/{}/sites", s.org);
    let default = async |site: &str, token: &str| {
        let shown = s.ask("GET", site, token, None).await.is(200, site)["defaultSpace"].clone();
        let list = s.ask("GET", &sites, token, None).await.is(200, &sites);
        let items = list["items"].as_array().expect("items");
        let item = items.iter().find(|item| site.ends_with(&id(item))).expect("in the list");
        assert_eq!(item["defaultSpace"], shown, "the list says the same");
        shown
    };
    let empty = s.site("Empty", &[]).await;
    assert_eq!(default(&empty, &s.admin).await, Value::Null);
    let site = s.site("Docs", &[&one, &other]).await;
    assert_eq!(default(&site, &s.admin).await, one);
    let places = s.get(&format!("{site}/site-spaces")).await;
    let place = &places["items"][1];
    let location = place["urls"]["location"].as_str().expect("an address");
    assert_eq!(location, format!("https://docs.example{site}/site-spaces/{}", id(place)));
    s.patch(&site, json!({ "defaultSiteSpace": id(place) })).await;
    assert_eq!(default(&site, &s.admin).await, other);
    s.patch(&format!("/v1/spaces/{other}"), json!({ "defaultLevel": null })).await;
    assert_eq!(default(&site, &s.reader).await, Value::Null, "who does not see the space is not told of it");
    assert_eq!(default(&site, &s.admin).await, other);
    // On a site with sections, it is the default space of the default section.
    let section = s.post(&format!("{site}/sections"), 201, json!({ "spaceId": one, "title": "Start" })).await;
    let location = section.body["urls"]["location"].as_str().expect("an address");
    assert_eq!(location, format!("https://docs.example{site}/sections/{}", id(&section.body)));
    s.patch(&site, json!({ "defaultSiteSection": id(&section.body) })).await;
    assert_eq!(default(&site, &s.admin).await, one);
}

#[tokio::test]
async fn comment_has_react_permission() {
    let s = Server::new().await;
    let space = s.space().await;
    let path = format!("/v1/spaces/{space}");
    let comment = s.post(&format!("{path}/comments"), 200, json!({ "body": { "markdown": "Why?" } })).await;
    let comment = format!("{path}/comments/{}", id(&comment.body));
    for (token, may) in [(&s.admin, true), (&s.editor, true), (&s.reader, false)] {
        let seen = s.ask("GET", &comment, token, None).await.is(200, &comment);
        assert_eq!(seen["permissions"]["react"], may);
        let react = Some(json!({ "addedReactions": ["👍"] }));
        let answer = s.ask("PUT", &comment, token, react).await;
        assert_eq!(answer.status == 200, may, "{answer:?}");
    }
}

#[tokio::test]
async fn minimal_preference_omits_the_changed_change_request() {
    let s = Server::new().await;
    let request = s.request(&s.space().await).await;
    let authorization = format!("Bearer {}", s.admin);
    let headers = [("authorization", &*authorization), ("prefer", "return=minimal")];
    let body = json!({ "subject": "Renamed" }).to_string();
    let answer = s.send_with("PATCH", &request, &headers, Some(("application/json", body))).await;
    assert_eq!((answer.status, &answer.body), (204, &Value::Null));
    assert_eq!(s.get(&request).await["subject"], "Renamed");
}

#[tokio::test]
async fn emoji_fields_accept_exactly_one_emoji() {
    let s = Server::new().await;
    let space = s.space().await;
    let (path, spaces) = (format!("/v1/spaces/{space}"), format!("/v1/orgs/{}/spaces", s.org));
    let request = s.request(&space).await;
    let page = |emoji: &str| json!({ "changes": [{ "operation": "insert_page", "title": "Page", "emoji": emoji, "document": {} }] });
    for wrong in ["a", "abc", "1", "😀😀", "😀 ", " ", ":smile:", "0061", "ä", "-", "1f680-"] {
        s.invalid("PATCH", &path, json!({ "emoji": wrong }), "emoji: must be one emoji").await;
        s.invalid("POST", &spaces, json!({ "emoji": wrong }), "emoji: must be one emoji").await;
        let field = "changes[0].emoji: must be one emoji";
        s.invalid("POST", &format!("{request}/content"), page(wrong), field).await;
    }
    for (right, kept) in
        [("🚀", "1f680"), ("1f680", "1f680"), ("1F469-200D-1F4BB", "1f469-200d-1f4bb"), ("🇩🇪", "1f1e9-1f1ea")]
    {
        assert_eq!(s.patch(&path, json!({ "emoji": right })).await["emoji"], kept);
        assert_eq!(s.post(&spaces, 201, json!({ "emoji": right })).await.body["emoji"], kept);
        s.post(&format!("{request}/content"), 200, page(right)).await;
    }
    let pages = s.get(&format!("{request}/content/pages")).await;
    let shown: Vec<&Value> =
        pages["pages"].as_array().expect("pages").iter().map(|page| &page["emoji"]).collect();
    assert_eq!(shown, ["1f680", "1f680", "1f469-200d-1f4bb", "1f1e9-1f1ea"]);
}

#[tokio::test]
async fn every_text_is_returned_in_the_requested_format() {
    let w = World::new().await;
    let admin = bearer(&w.s.admin);
    let review =
        format!("/v1/spaces/{}/change-requests/{}/reviews", w.name("spaceId"), w.name("changeRequestId"));
    w.s.post(&review, 201, json!({ "status": "approved", "comment": { "markdown": "Fine." } })).await;
    let declared = w.s.document["paths"].as_object().expect("paths");
    let forms = |op: &Value| {
        let parameters = op["parameters"].as_array().cloned().unwrap_or_default();
        parameters.iter().any(|parameter| parameter["name"] == "format")
    };
    let formed: BTreeSet<&str> = declared
        .values()
        .flat_map(|ops| ops.as_object().expect("operations").values())
        .filter(|op| forms(op))
        .map(|op| op["operationId"].as_str().expect("an id"))
        .collect();
    assert!(formed.len() >= 14, "{formed:?}");
    for op in w.ops().iter().filter(|op| formed.contains(op.id.as_str())) {
        for (format, present, absent) in [
            ("document", "\"document\":{", "\"markdown\":"),
            ("markdown", "\"markdown\":\"", "\"document\":{"),
        ] {
            let answer = w.send(op, &format!("{}?format={format}", w.path(op)), Some(&admin)).await;
            assert!(answer.status < 300, "{}: {:?}", op.id, answer.body);
            let text = answer.body.to_string();
            assert!(text.contains(present) && !text.contains(absent), "{} as {format}: {text}", op.id);
        }
    }
}

#[tokio::test]
async fn exactly_the_specified_operations_are_deprecated() {
    let s = Server::new().await;
    let operations = s.document["paths"]
        .as_object()
        .expect("paths")
        .values()
        .flat_map(|operations| operations.as_object().expect("operations").values());
    let deprecated: BTreeSet<&str> = operations
        .filter(|operation| operation["deprecated"] == true)
        .map(|operation| operation["operationId"].as_str().expect("an id"))
        .collect();
    assert_eq!(
        deprecated,
        BTreeSet::from([
            "getPublishedContentByUrl",
            "moveSiteSection",
            "moveSiteSectionGroup",
            "submitSiteAgentFeedback",
        ])
    );
    let organization = &s.document["components"]["schemas"]["Organization"]["properties"];
    assert_eq!(organization["internal_isOnNewTrial"]["deprecated"], true);
    assert_eq!(s.get(&format!("/v1/orgs/{}", s.org)).await["internal_isOnNewTrial"], true);
}
