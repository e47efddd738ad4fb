//! Site settings over HTTP, except the structure.

use docs_core::model::Customization;
use serde_json::{Value, json};

use crate::{
    server::{Server, id},
    story::{CUSTOMIZATION, has},
};

/// Returns the first space of a site, and creates a share link, and a redirect from `/old` to a page.
pub(crate) async fn settled(s: &Server, site: &str, page: &str) -> (String, String, String) {
    let place = id(&s.get(&format!("{site}/site-spaces")).await["items"][0]);
    let link = id(&s.post(&format!("{site}/share-links"), 201, json!({ "name": "Friends" })).await.body);
    let redirect = json!({ "source": "/old", "destination": { "kind": "site-page", "siteSpaceId": place, "pageId": page } });
    let redirect = id(&s.post(&format!("{site}/redirects"), 201, redirect).await.body);
    s.get(&format!("{site}/publishing/auth")).await;
    has(&s.get(&format!("{site}/publishing/preview")).await, &["url"]);
    let schema = body("updateSiteAdaptiveSchema", &place, page);
    s.put(&format!("{site}/adaptive-schema"), schema).await;
    (place, link, redirect)
}

/// Returns a page view, as clients report it.
pub(crate) fn events() -> Value {
    json!({ "events": [{
        "type": "page_view",
        "session": {
            "visitorId": "visitor", "sessionId": "session", "cookies": { "theme": "dark" }, "userAgent": "Browser",
            "language": "en", "referrer": null,
        },
        "location": {
            "url": "https://docs.example/sites/docs/", "siteSection": null, "siteSpace": null, "siteShareKey": null,
            "space": null, "revision": null, "page": null,
        },
    }] })
}

/// Returns a valid body of the operation.
pub(crate) fn body(operation: &str, place: &str, page: &str) -> Value {
    match operation {
        "updateSiteCustomizationById" => {
            let mut look = customization();
            look["title"] = "Manual".into();
            look["favicon"] = json!({ "emoji": "🚀" });
            let fields = look.as_object_mut().expect("fields");
            fields.retain(|name, _| name != "privacyPolicy" && name != "socialPreview");
            look
        }
        "overrideSiteSpaceCustomizationById" => json!({
            "title": "Guide", "favicon": { "emoji": "📘" },
            "announcement": { "enabled": true, "message": "New", "style": "info" },
        }),
        "createSiteShareLink" => json!({ "name": "New" }),
        "updateSiteShareLinkById" => json!({ "name": "Renamed", "active": false }),
        "updateSitePublishingAuthById" => {
            json!({ "backend": "custom", "fallbackURL": "https://login.example/" })
        }
        "createSiteRedirect" | "updateSiteRedirectById" => json!({
            "source": "/older",
            "destination": { "kind": "site-page", "siteSpaceId": place, "pageId": page },
        }),
        "updateSiteAdaptiveSchema" => json!({ "jsonSchema": {
            "type": "object", "additionalProperties": false, "properties": {
                "beta": { "type": "boolean", "description": "Beta testers" },
                "plan": { "type": "string", "enum": ["free", "pro"], "description": "Plan" },
            },
        } }),
        other => panic!("`{other}` is not of a site's settings"),
    }
}

/// Returns the default customization of a site.
fn customization() -> Value {
    serde_json::to_value(Customization::default()).expect("JSON")
}

/// Calls every operation once, with and without optional fields.
pub(crate) async fn story(s: &Server, site: &str, place: &str, page: &str) {
    looks(s, site, place, page).await;
    share_links(s, site, place).await;
    auth(s, site).await;
    redirects(s, site, place, page).await;
    visitors(s, site).await;
}

async fn looks(s: &Server, site: &str, place: &str, page: &str) {
    let path = format!("{site}/customization");
    let bare = s.get(&format!("{path}?unmasked=true")).await;
    has(&bare, CUSTOMIZATION);
    assert_eq!(bare, customization(), "nothing was set");
    let put = async |body: Value| s.put(&path, body).await;
    let full = full_customization(page);
    assert_eq!(put(full.clone()).await, full, "all of it is kept");
    assert_eq!(s.get(&path).await, full);
    let on_place = format!("{site}/site-spaces/{place}/customization");
    assert_eq!(s.get(&format!("{on_place}?unmasked=false")).await, full, "as the site");
    let change = json!({
        "title": "Guide", "styling": { "theme": "bold", "sidebar": { "list": "line" } }, "pdf": { "enabled": false },
        "header": { "links": [] }, "footer": { "copyright": null }, "unknown": 1,
    });
    let changed = s.patch(&on_place, change).await;
    let mut expected = full.clone();
    expected["title"] = "Guide".into();
    expected["styling"]["theme"] = "bold".into();
    expected["styling"]["sidebar"]["list"] = "line".into();
    expected["pdf"]["enabled"] = false.into();
    expected["pageActions"]["items"] = json!(["git"]);
    expected["header"]["links"] = json!([]);
    assert_eq!(changed, expected);
    let published = s.get(&format!("{site}/published")).await["customizations"].clone();
    let shown = |look: &Value| {
        let mut look = look.clone();
        look["ai"] = json!({ "mode": "none" });
        look
    };
    assert_eq!((&published["site"], &published["siteSpaces"][place]), (&shown(&full), &shown(&expected)));
    let back = s.patch(&on_place, json!({ "title": null, "styling": { "sidebar": { "list": null } } })).await;
    assert_eq!((&back["title"], &back["styling"]["sidebar"]), (&full["title"], &full["styling"]["sidebar"]));
    assert_eq!(back["styling"]["theme"], "bold", "what is left out stays");
    s.ask("DELETE", &on_place, &s.admin, None).await.is(204, &on_place);
    s.ask("DELETE", &on_place, &s.admin, None).await.is(204, &on_place);
    assert_eq!(s.get(&on_place).await, full);
    let mut usual = customization();
    usual["localizedTitle"] = json!({});
    assert_eq!(put(usual).await, customization());
    let published = s.get(&format!("{site}/published")).await["customizations"].clone();
    assert_eq!(
        published["siteSpaces"][place],
        shown(&customization()),
        "a space without overrides looks like the site"
    );
}

/// Returns a customization with all fields.
fn full_customization(page: &str) -> Value {
    let color = json!({ "light": "#123", "dark": "#AbCdEf" });
    let logo = json!({ "light": "https://x.example/l.png", "dark": "https://x.example/d.png" });
    let link = json!({ "title": "Start", "localizedTitle": { "de": "Anfang" }, "to": { "kind": "page", "page": page } });
    let font = json!({ "id": "own", "custom": true, "fontFamily": "Own Sans", "fontFaces": [
        { "weight": 400, "sources": [{ "url": "https://x.example/own.woff2", "format": "woff2" }] },
        { "weight": 700, "sources": [{ "url": "https://x.example/own-bold" }] },
    ] });
    json!({
        "title": "Manual", "localizedTitle": { "pt-br": "Manual", "ja": "マニュアル" },
        "styling": {
            "theme": "gradient", "primaryColor": color, "tint": { "color": color }, "infoColor": color,
            "successColor": color, "warningColor": color, "dangerColor": color, "corners": "circular",
            "depth": "flat", "links": "accent", "font": font, "monospaceFont": "JetBrainsMono",
            "background": "match", "icons": "duotone", "sidebar": { "background": "filled", "list": "pill" },
            "search": "prominent", "headingFont": "Merriweather", "codeTheme": {
                "default": { "light": "synthwave-84", "dark": "dracula" },
                "openapi": { "light": "default-light", "dark": "github-dark-high-contrast" },
            },
        },
        "internationalization": { "locale": "pt-br" },
        "favicon": { "icon": logo },
        "header": {
            "preset": "contrast", "logo": logo, "backgroundColor": color, "linkColor": color,
            "primaryLink": { "kind": "url", "url": "https://x.example/start" },
            "links": [
                { "title": "Menu", "localizedTitle": { "de": "Menü" }, "to": null, "links": [link, { "title": "", "to": { "kind": "url", "url": "https://x.example/" } }] },
                { "title": "Sign in", "style": "button-primary", "to": { "kind": "url", "url": "https://x.example/in" },
                  "links": [], "condition": "!visitor.claims.member" },
            ],
        },
        "footer": { "logo": logo, "groups": [
            { "title": "Help", "localizedTitle": { "de": "Hilfe" }, "links": [link] },
        ], "copyright": "© us" },
        "announcement": { "enabled": true, "message": "Hello", "localizedMessage": { "de": "Hallo" }, "link": link,
            "style": "success" },
        "themes": { "default": "dark", "toggeable": false },
        "pdf": { "enabled": true }, "feedback": { "enabled": true }, "ai": {
            "mode": "assistant", "greeting": "Hello", "localizedGreeting": { "de": "Hallo" },
            "suggestions": ["What is it?"], "instructions": "Be brief.",
        },
        "advancedCustomization": { "enabled": false }, "git": { "showEditLink": true },
        "pageActions": { "items": ["git", "pdf"], "externalAI": false, "markdown": false, "mcp": false },
        "socialAccounts": [
            { "platform": "linkedin", "handle": "engines", "display": { "footer": true, "header": false } },
        ],
        "externalLinks": { "target": "blank" }, "pagination": { "enabled": false },
        "trademark": { "enabled": false }, "privacyPolicy": { "url": "https://x.example/privacy" },
        "socialPreview": { "url": "https://x.example/card.png" }, "insights": { "trackingCookie": false },
    })
}

async fn share_links(s: &Server, site: &str, place: &str) {
    s.patch(site, json!({ "visibility": "share-link" })).await;
    let path = format!("{site}/share-links");
    let made = s.post(&path, 201, json!({ "name": "" })).await;
    let link = made.body.clone();
    has(&link, &["object", "id", "createdAt", "name", "active", "urls.published"]);
    assert_eq!((&link["active"], &link["name"]), (&json!(true), &json!("")));
    assert!(made.header("location").is_some_and(|at| at.ends_with(&format!("/share-links/{}", id(&link)))));
    let this = format!("{path}/{}", id(&link));
    assert_eq!(s.patch(&this, json!({ "name": "Friends" })).await["name"], "Friends");
    let list = s.get(&format!("{path}?limit=1")).await;
    has(&list, &["count", "items[].urls.published"]);
    assert_eq!(list["items"][0]["name"], "Friends");
    let base = s.get(site).await["urls"]["published"].as_str().expect("an address").to_owned();
    let through = link["urls"]["published"].as_str().expect("an address");
    let key = through.strip_prefix(&base).and_then(|rest| rest.strip_suffix('/')).expect("the site first");
    assert_eq!(key.len(), 52, "256 bits");
    let shown = async |key: &str| {
        let published = s.get(&format!("{site}/published?shareKey={key}")).await;
        let space = &published["structure"]["structure"][0]["space"];
        let alone = s.get(&format!("/v1/spaces/{}?shareKey={key}", id(space))).await;
        assert_eq!(alone["urls"], space["urls"]);
        assert_eq!(published["structure"]["structure"][0]["id"], place);
        [
            published["site"]["urls"]["published"].clone(),
            published["structure"]["structure"][0]["urls"]["published"].clone(),
            space["urls"]["published"].clone(),
        ]
    };
    let with_key = shown(key).await;
    assert!(
        with_key.iter().all(|url| url.as_str().is_some_and(|url| url.starts_with(through))),
        "{with_key:?}"
    );
    let without = shown("wrong").await;
    assert!(without.iter().all(|url| !url.to_string().contains("wrong")), "{without:?}");
    s.patch(&this, json!({ "active": false })).await;
    assert_eq!(shown(key).await, without, "a link that is off leads nowhere");
    s.ask("DELETE", &this, &s.admin, None).await.is(204, &this);
    s.ask("DELETE", &this, &s.admin, None).await.is(204, &this);
    s.patch(site, json!({ "visibility": "unlisted" })).await;
}

async fn auth(s: &Server, site: &str) {
    let path = format!("{site}/publishing/auth");
    let bare = s.get(&path).await;
    has(&bare, &["object", "backend", "privateKey"]);
    assert_eq!(bare["privateKey"].as_str().map(str::len), Some(64), "256 bits");
    assert_eq!((&bare["backend"], bare.get("fallbackURL")), (&json!("custom"), None));
    assert_eq!(s.get(&path).await, bare, "the key stays");
    let change =
        json!({ "backend": "integration", "integration": "okta", "fallbackURL": "https://x.example/login" });
    let changed = s.patch(&path, change).await;
    has(&changed, &["fallbackURL", "integration"]);
    assert_eq!(changed["privateKey"], bare["privateKey"]);
    let back = s.patch(&path, json!({ "backend": "custom", "fallbackURL": null })).await;
    assert_eq!(back, bare);
    let new = s.post(&format!("{path}/regenerate"), 200, json!({})).await.body;
    assert_ne!(new["privateKey"], bare["privateKey"]);
    assert_eq!(s.get(&path).await, new);
    assert!(
        !format!("{:?}", s.stored().await).contains(new["privateKey"].as_str().expect("a key")),
        "sealed"
    );
}

async fn redirects(s: &Server, site: &str, place: &str, page: &str) {
    let path = format!("{site}/redirects");
    let to_page = json!({ "kind": "site-page", "siteSpaceId": place, "pageId": page });
    let to_space = json!({ "kind": "site-space", "siteSpaceId": place });
    let redirect = s.post(&path, 201, json!({ "source": "/Old/Page", "destination": to_page })).await.body;
    has(&redirect, &["object", "id", "source", "destination.kind"]);
    let asked = async |source: &str| s.get(&format!("{site}/redirect?source={source}&shareKey=key")).await;
    let found = asked("/old/p%2561ge").await;
    assert_eq!(found["redirect"], redirect);
    assert!(found["target"].as_str().is_some_and(|url| url.starts_with("https://a.example/help/")));
    let list = s.get(&format!("{path}?limit=5")).await;
    assert_eq!((&list["items"], &list["count"]), (&json!([redirect]), &json!(1)));
    let this = format!("{path}/{}", id(&redirect));
    let changed = s.patch(&this, json!({ "source": "/new", "destination": to_space })).await;
    assert_eq!(changed["destination"], to_space);
    assert_eq!(asked("/new").await["target"], "https://a.example/help/", "where the site is mounted");
    let gone = format!("{site}/redirect?source=/old/page");
    s.ask("GET", &gone, &s.admin, None).await.refused(404, &gone);
    s.ask("DELETE", &this, &s.admin, None).await.is(204, &this);
    s.ask("DELETE", &this, &s.admin, None).await.is(204, &this);
}

async fn visitors(s: &Server, site: &str) {
    let path = format!("{site}/adaptive-schema");
    let templates = format!("{path}/template-conditions");
    s.ask("GET", &path, &s.admin, None).await.refused(404, "nothing was set");
    assert_eq!(s.get(&templates).await, json!({ "items": [] }));
    let body = body("updateSiteAdaptiveSchema", "", "");
    let set = s.put(&path, body.clone()).await;
    has(&set, &["object", "updatedAt"]);
    assert_eq!(set["jsonSchema"], body["jsonSchema"]);
    assert_eq!(s.get(&path).await, set);
    let conditions: Vec<Value> = s.get(&templates).await["items"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|t| t["condition"].clone())
        .collect();
    let expected =
        ["visitor.claims.beta == true", "visitor.claims.plan == \"free\"", "visitor.claims.plan == \"pro\""];
    assert_eq!(conditions, expected);
}

type Wrong = Vec<(&'static str, Value, &'static str)>;

/// Returns a link with an excessively long title.
fn long_link() -> Value {
    json!({ "title": "x".repeat(65), "to": { "kind": "url", "url": "https://x.example" } })
}

fn logo(url: &str) -> Value {
    json!({ "light": url, "dark": "https://x.example/d.png" })
}

fn wrong_styles() -> Wrong {
    let face = |weight: i32, sources: Value| {
        let faces = [json!({ "weight": weight, "sources": sources })];
        json!({ "id": "own", "custom": true, "fontFamily": "Own", "fontFaces": faces })
    };
    vec![
        ("/title", json!("x"), "title: must be at least 2 characters"),
        ("/title", json!("x".repeat(129)), "title: must be at most 128 characters"),
        ("/styling/theme", json!("loud"), "styling.theme: "),
        ("/styling/theme", json!(null), "styling.theme: "),
        ("/styling/primaryColor/light", json!("blue"), "styling.primaryColor.light: must be a colour"),
        ("/styling/primaryColor/dark", json!("#12345"), "styling.primaryColor.dark: must be a colour"),
        ("/styling/primaryColor/dark", json!("#12345g"), "styling.primaryColor.dark: must be a colour"),
        ("/styling/primaryColor/dark", json!("#1234567"), "styling.primaryColor.dark: must be at most 7"),
        ("/styling/corners", json!("square"), "styling.corners: "),
        ("/styling/font", json!("ComicSans"), "styling.font: "),
        ("/styling/font", json!(5), "styling.font: "),
        ("/styling/font", json!({ "id": "own" }), "styling.font.custom: is required"),
        (
            "/styling/font",
            face(0, json!([{ "url": "https://x.example/" }])),
            "styling.font.fontFaces[0].weight: must be a whole number from 1",
        ),
        (
            "/styling/font",
            face(1001, json!([{ "url": "https://x.example/" }])),
            "styling.font.fontFaces[0].weight: must be a whole number from 1",
        ),
        ("/styling/font", face(1, json!([])), "styling.font.fontFaces[0].sources: must have at least 1 item"),
        (
            "/styling/font",
            face(1, json!([{ "url": "x" }])),
            "styling.font.fontFaces[0].sources[0].url: must be",
        ),
        ("/styling/monospaceFont", json!("Inter"), "styling.monospaceFont: "),
        ("/styling/sidebar/list", json!("dots"), "styling.sidebar.list: "),
        ("/internationalization/locale", json!("tlh"), "internationalization.locale: "),
        (
            "/favicon",
            json!({ "emoji": "🚀", "icon": logo("https://x.example/") }),
            "favicon: must have an icon or",
        ),
        (
            "/favicon",
            json!({ "icon": logo("javascript:alert(1)") }),
            "favicon.icon.light: must be an absolute",
        ),
        ("/favicon", json!({ "emoji": "" }), "favicon.emoji: "),
    ]
}

fn wrong_menus() -> Wrong {
    let menu = |links: Value| json!([{ "title": "Menu", "to": null, "links": links }]);
    let conditional =
        |condition: String| json!([{ "title": "a", "to": null, "links": [], "condition": condition }]);
    let link = long_link();
    vec![
        (
            "/header/logo",
            logo(&format!("https://x.example/{}", "a".repeat(2048))),
            "header.logo.light: must be at most 2048",
        ),
        ("/header/preset", json!("tall"), "header.preset: "),
        ("/header/links", menu(json!([link])), "header.links[0].links[0].title: must be at most 64"),
        ("/header/links", menu(json!([{ "title": "a", "to": null }])), "header.links[0].links[0].to: "),
        (
            "/header/links",
            json!([{ "title": "a", "to": { "kind": "teapot" }, "links": [] }]),
            "header.links[0].to.kind: ",
        ),
        ("/header/links", conditional("x".repeat(1025)), "header.links[0].condition: must be at most 1024"),
        ("/header/links", conditional("visitor.".into()), "header.links[0].condition: character 9"),
        ("/header/links", conditional("  ".into()), "header.links[0].condition: character"),
        (
            "/header/links",
            json!(vec![json!({ "title": "a", "to": null, "links": [] }); 51]),
            "header.links: must have at most 50",
        ),
    ]
}

fn wrong_words() -> Wrong {
    let announced =
        |message: String, style: &str| json!({ "enabled": true, "message": message, "style": style });
    let link = long_link();
    vec![
        ("/footer/copyright", json!("x".repeat(513)), "footer.copyright: must be at most 512"),
        ("/localizedTitle", json!({ "xx": "a" }), "localizedTitle"),
        ("/localizedTitle/ja", json!("x".repeat(129)), "localizedTitle.ja: must be at most 128"),
        ("/styling/codeTheme/default/dark", json!("sepia"), "styling.codeTheme.default.dark: "),
        ("/header/primaryLink", json!({ "kind": "teapot" }), "header.primaryLink.kind: "),
        (
            "/footer/groups",
            json!([{ "title": "a", "links": [link] }]),
            "footer.groups[0].links[0].title: must be",
        ),
        ("/announcement", announced("x".into(), "info"), "announcement.message: must be at least 2"),
        ("/announcement", announced("x".repeat(129), "info"), "announcement.message: must be at most 128"),
        ("/announcement", announced("Hello".into(), "loud"), "announcement.style: "),
        ("/themes/default", json!("sepia"), "themes.default: "),
        ("/externalLinks/target", json!("parent"), "externalLinks.target: "),
    ]
}

/// Returns invalid values of settings that only a whole site has.
fn wrong_site_settings() -> Wrong {
    let account = |platform: &str, handle: String| json!({ "platform": platform, "handle": handle, "display": { "footer": true, "header": true } });
    vec![
        ("/styling/headingFont", json!("ComicSans"), "styling.headingFont: "),
        ("/ai/greeting", json!("x".repeat(257)), "ai.greeting: must be at most 256"),
        ("/ai/localizedGreeting/de", json!("x".repeat(129)), "ai.localizedGreeting.de: must be at most 128"),
        ("/ai/suggestions", json!(vec!["abc"; 6]), "ai.suggestions: must have at most 5"),
        ("/ai/suggestions/0", json!("ab"), "ai.suggestions[0]: must be at least 3"),
        ("/ai/suggestions/0", json!("x".repeat(65)), "ai.suggestions[0]: must be at most 64"),
        ("/ai/instructions", json!("x".repeat(10_001)), "ai.instructions: must be at most 10000"),
        ("/pageActions/items", json!(["print"]), "pageActions.items[0]: "),
        ("/pageActions/items", json!(["pdf", "git", "pdf"]), "pageActions.items[2]: must not repeat"),
        ("/socialAccounts", json!([account("myspace", "a".into())]), "socialAccounts[0].platform: "),
        (
            "/socialAccounts",
            json!([account("slack", String::new())]),
            "socialAccounts[0].handle: must be at least 1",
        ),
        (
            "/socialAccounts",
            json!([account("slack", "x".repeat(129))]),
            "socialAccounts[0].handle: must be at most 128",
        ),
        (
            "/socialAccounts",
            json!(vec![account("slack", "a".into()); 11]),
            "socialAccounts: must have at most 10",
        ),
    ]
}

/// Every limit, with the field named in the message.
#[tokio::test]
async fn customization_limits_are_enforced() {
    let s = Server::new().await;
    let space = s.space().await;
    let site = s.site("Docs", &[&space]).await;
    let place = id(&s.get(&format!("{site}/site-spaces")).await["items"][0]);
    for (field, value, message) in [wrong_styles(), wrong_menus(), wrong_words()].concat() {
        let mut look = full_customization("page");
        *look.pointer_mut(field).expect("a field") = value.clone();
        s.invalid("PUT", &format!("{site}/customization"), look, message).await;
        // The same applies to a space on the site, except that `null` means the value of the site.
        if !value.is_null() {
            let mut change = value;
            for name in field.trim_start_matches('/').rsplit('/') {
                change = json!({ name: change });
            }
            s.invalid("PATCH", &format!("{site}/site-spaces/{place}/customization"), change, message).await;
        }
    }
    for (field, value, message) in wrong_site_settings() {
        let mut look = full_customization("page");
        *look.pointer_mut(field).expect("a field") = value;
        s.invalid("PUT", &format!("{site}/customization"), look, message).await;
    }
    for part in ["styling", "favicon", "header", "footer", "themes", "ai", "insights", "pageActions"] {
        let mut look = full_customization("page");
        look.as_object_mut().expect("fields").remove(part);
        s.invalid("PUT", &format!("{site}/customization"), look, &format!("{part}: is required")).await;
    }
    let large = json!({ "kind": "url", "url": "x".repeat(70_000) });
    let mut look = full_customization("page");
    look["header"]["links"][0]["to"] = large.clone();
    s.invalid("PUT", &format!("{site}/customization"), look, "the customization: must be at most").await;
    let change = json!({ "header": { "links": [{ "title": "a", "to": large, "links": [] }] } });
    let place = format!("{site}/site-spaces/{place}/customization");
    s.invalid("PATCH", &place, change, "the customization: must be at most").await;
}

#[tokio::test]
async fn invalid_or_duplicate_redirects_are_rejected() {
    let s = Server::new().await;
    let space = s.space().await;
    let site = s.site("Docs", &[&space]).await;
    let place = id(&s.get(&format!("{site}/site-spaces")).await["items"][0]);
    let other = s.site("Other", &[&space]).await;
    let elsewhere = id(&s.get(&format!("{other}/site-spaces")).await["items"][0]);
    let redirects = format!("{site}/redirects");
    let to = |place: &str| json!({ "kind": "site-space", "siteSpaceId": place });
    let redirect = s.post(&redirects, 201, json!({ "source": "/a", "destination": to(&place) })).await.body;
    let second = s.post(&redirects, 201, json!({ "source": "/b", "destination": to(&place) })).await.body;
    let page = |page: &str| json!({ "kind": "site-page", "siteSpaceId": place, "pageId": page });
    for (destination, message) in [
        (to(&elsewhere), "destination.siteSpaceId: the site has no such site space"),
        (to("unknown"), "destination.siteSpaceId: the site has no such site space"),
        (page("unknown"), "destination.pageId: must be the id of a page"),
        (
            json!({ "kind": "site-section", "siteSectionId": "x" }),
            "destination.siteSectionId: the site has no such section",
        ),
        (json!({ "kind": "url", "url": "https://x.example" }), "destination"),
        (json!({ "kind": "site-page", "siteSpaceId": place }), "destination.pageId: is required"),
    ] {
        let body = json!({ "source": "/c", "destination": destination });
        s.invalid("POST", &redirects, body, message).await;
        let this = format!("{redirects}/{}", id(&redirect));
        s.invalid("PATCH", &this, json!({ "destination": destination }), message).await;
    }
    for source in [
        "",
        "/",
        "a",
        "/a/",
        "/a//b",
        "/a b",
        "/ä",
        "/%4",
        "/a?b",
        "/*",
        "/a*b",
        "/a/**",
        &format!("/{}", "a".repeat(512)),
    ] {
        let body = json!({ "source": source, "destination": to(&place) });
        s.invalid("POST", &redirects, body, "source: must be").await;
    }
    for source in ["/a", "/A", "/%61", "/%41"] {
        let body = json!({ "source": source, "destination": to(&place) });
        let taken = s.ask("POST", &redirects, &s.admin, Some(body)).await;
        assert!(taken.refused(409, source).starts_with("source: is in use by another redirect"), "{source}");
        let this = format!("{redirects}/{}", id(&second));
        s.ask("PATCH", &this, &s.admin, Some(json!({ "source": source }))).await.refused(409, source);
    }
    s.patch(&format!("{redirects}/{}", id(&redirect)), json!({ "source": "/A" })).await;
    s.post(&format!("{other}/redirects"), 201, json!({ "source": "/a", "destination": to(&elsewhere) }))
        .await;
    for query in ["", "?source=", "?source=a", "?source=/a/"] {
        let path = format!("{site}/redirect{query}");
        assert!(s.ask("GET", &path, &s.admin, None).await.refused(400, &path).starts_with("source: "));
    }
}

#[tokio::test]
async fn invalid_share_links_and_auth_backends_are_rejected() {
    let s = Server::new().await;
    let site = s.site("Docs", &[]).await;
    let links = format!("{site}/share-links");
    s.invalid("POST", &links, json!({}), "name: is required").await;
    s.invalid("POST", &links, json!({ "name": "x".repeat(51) }), "name: must be at most 50").await;
    let link = format!("{links}/{}", id(&s.post(&links, 201, json!({ "name": "x".repeat(50) })).await.body));
    for (change, field) in [(json!({ "active": null }), "active: "), (json!({ "name": null }), "name: ")] {
        s.invalid("PATCH", &link, change, field).await;
    }
    let auth = format!("{site}/publishing/auth");
    for (change, field) in [
        (json!({ "backend": "magic" }), "backend: "),
        (json!({ "fallbackURL": "/login" }), "fallbackURL: must be an absolute"),
        (json!({ "backend": "custom", "integration": "okta" }), "integration: is allowed for the backend"),
    ] {
        s.invalid("PATCH", &auth, change, field).await;
    }
}

#[tokio::test]
async fn schema_with_additional_unsigned_booleans_is_accepted() {
    let s = Server::new().await;
    let site = s.site("Docs", &[]).await;
    let path = format!("{site}/adaptive-schema");
    let schema = json!({ "jsonSchema": {
        "type": "object",
        "properties": {
            "unsigned": { "type": "object", "additionalProperties": { "type": "boolean" } },
            "beta": { "type": "boolean" },
        },
        "additionalProperties": false,
    } });
    let set = s.put(&path, schema).await;
    assert_eq!(s.get(&path).await, set);
    let claims = &set["jsonSchema"]["properties"];
    assert_eq!(claims["beta"], json!({ "type": "boolean", "description": "" }));
    assert_eq!(
        claims["unsigned"],
        json!({
            "type": "object", "description": "Unsigned claims of the site visitor.", "properties": {},
            "additionalProperties": { "type": "boolean" },
        })
    );
    let conditions = s.get(&format!("{path}/template-conditions")).await;
    assert_eq!(
        conditions["items"],
        json!([
            { "description": "beta", "condition": "visitor.claims.beta == true" },
        ])
    );
}

/// The message contains the path of the error within the claims schema.
#[tokio::test]
async fn invalid_claims_schema_is_rejected_with_its_path() {
    let s = Server::new().await;
    let site = s.site("Docs", &[]).await;
    let path = format!("{site}/adaptive-schema");
    let claims = |claims: Value| json!({ "jsonSchema": { "type": "object", "properties": claims, "additionalProperties": false } });
    for (body, message) in [
        (json!({}), "jsonSchema: is required"),
        (json!({ "jsonSchema": [] }), "jsonSchema: must be an object"),
        (
            claims(json!({ "plan": { "type": "text", "description": "" } })),
            "jsonSchema.properties.plan.type: must be `boolean`",
        ),
        (claims(json!({ "plan": { "type": "array" } })), "jsonSchema.properties.plan.items: is required"),
        (
            claims(
                json!({ "unsigned": { "type": "object", "description": "x", "properties": {}, "additionalProperties": false } }),
            ),
            "jsonSchema.properties.unsigned.description: must be `Unsigned claims of the site visitor.`",
        ),
    ] {
        s.invalid("PUT", &path, body, message).await;
    }
}
