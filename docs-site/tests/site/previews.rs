//! Previews of change requests and revisions.

use docs_core::{
    model::{CreateChangeRequest, SpaceId, UpdateContent},
    platform::{NewToken, NewUser},
};
use poem::http::{Method, StatusCode};
use serde_json::json;

use crate::world::World;

/// URLs that browsers may resolve to another host.
const AWAY: [&str; 7] = [
    "//evil.test/",
    "https://evil.test",
    "/\\evil.test",
    "/\t/evil.test",
    "\t//evil.test",
    "/.//evil.test",
    "/sites/docs\\..\\..\\evil.test",
];

/// A site with a change request that adds, changes, moves and removes pages.
struct Changed {
    w: World,
    space: SpaceId,
    site: String,
    token: String,
}

impl Changed {
    async fn new() -> Self {
        let w = World::new().await;
        let space = w.space("Guide").await;
        let first = w.page(&space, "First", "The quick fox jumps.").await;
        let gone = w.page(&space, "Gone", "Removed later.").await;
        let moved = w.page(&space, "Moved", "Stands elsewhere later.").await;
        let (_, site) = w.site("Docs", &space).await;
        let requests = w.me().space(&space);
        let new = CreateChangeRequest { subject: "Slow <b>".parse().ok(), ..CreateChangeRequest::default() };
        let number = requests.change_requests().create(new).await.expect("one").number.to_string();
        let changes = json!({ "changes": [
            { "operation": "insert_page", "title": "Added", "document": { "markdown": "Brand new <script>." } },
            { "operation": "update_page", "page": first, "document": { "markdown": "The slow fox jumps." } },
            { "operation": "delete_page", "page": gone },
            { "operation": "update_page", "page": moved, "into": first },
        ] });
        let update: UpdateContent = serde_json::from_value(changes).expect("changes");
        requests.change_request(&number).edit(update).await.expect("edited");
        let user = w.admin.user().expect("a user").clone();
        let new = NewToken { label: "preview".parse().expect("a label"), secret: None, expires_at: None };
        // Earlier change requests created the pages.
        assert_eq!(number, "4");
        let token = w.platform.as_platform().user(&user).issue_token(new).await.expect("a token").secret;
        Self { w, space, site, token }
    }

    async fn get(&self, path: &str) -> crate::world::Got {
        let cookie = format!("docs-member={}", self.token);
        self.w.ask(Method::GET, &format!("{}{path}", self.site), &[("cookie", &cookie)]).await
    }
}

#[tokio::test]
async fn pages_moved_by_a_change_request_redirect_in_its_preview() {
    let it = Changed::new().await;
    let got = it.get("~/changes/4/moved").await;
    assert_eq!(got.status, StatusCode::TEMPORARY_REDIRECT, "{got:?}");
    assert_eq!(got.header("location"), format!("{}~/changes/4/first/moved", it.site));
    assert_eq!(it.get("moved").await.status, StatusCode::OK);
}

#[tokio::test]
async fn member_previews_a_change_request_on_the_site() {
    let it = Changed::new().await;
    let shown = it.get("~/changes/4/").await;
    assert_eq!(shown.status, StatusCode::OK, "{shown:?}");
    assert!(shown.body.contains("The slow fox") && !shown.body.contains("The quick fox"));
    assert!(shown.body.contains("#4 Slow &lt;b&gt;"), "{}", shown.body);
    assert_eq!(shown.header("cache-control"), "no-store");
    assert_eq!(shown.header("x-robots-tag"), "noindex");
    let link = format!("href=\"{}~/changes/4/added\"", it.site);
    assert!(shown.body.contains(&link), "links stay in the preview: {}", shown.body);
    assert!(it.get("~/changes/4/added").await.body.contains("Brand new"));
    assert_eq!(it.get("~/changes/4/gone").await.status, StatusCode::NOT_FOUND);
    assert!(it.get("~/changes/4/added.md").await.body.starts_with("# Added"));
    // Visitors see the live content before and after the preview.
    let live = it.w.html(&it.site).await;
    assert!(live.contains("The quick fox") && !live.contains("Added"));
    assert_eq!(it.w.get(&format!("{}added", it.site)).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn preview_has_no_search() {
    let it = Changed::new().await;
    assert!(it.w.html(&it.site).await.contains("role=\"search\""));
    for page in ["~/changes/4/", "~/changes/4/added", "~/changes/4/gone", "~/changes/4/~compare"] {
        let body = it.get(page).await.body;
        assert!(body.contains("class=\"preview\""), "{page}: {body}");
        for part in ["role=\"search\"", "data-search", "~site/search"] {
            assert!(!body.contains(part), "{page}: {part} of {body}");
        }
    }
    for name in ["search?q=fox", "search.json?q=fox"] {
        let got = it.get(&format!("~/changes/4/~site/{name}")).await;
        assert_eq!(got.status, StatusCode::NOT_FOUND, "{name}: {got:?}");
        assert!(!got.body.contains("quick"), "{got:?}");
    }
}

#[tokio::test]
async fn comparison_shows_page_and_word_changes() {
    let it = Changed::new().await;
    let shown = it.get("~/changes/4/~compare").await;
    assert_eq!(shown.status, StatusCode::OK);
    for part in [
        ">added</span>",
        ">removed</span> <b>Gone</b>",
        ">moved</span>",
        "from the top level to First",
        "<del>quick </del><ins>slow </ins>fox",
    ] {
        assert!(shown.body.contains(part), "{part}: {}", shown.body);
    }
    assert!(!shown.body.contains("<script>."), "{}", shown.body);
    it.w.me().space(&it.space).change_request("4").merge().await.expect("merged");
    let revision = it.w.me().space(&it.space).content().get(Default::default()).await.expect("content").id;
    let shown = it.get(&format!("~/revisions/{revision}/~compare")).await;
    assert!(shown.body.contains("<del>quick </del><ins>slow </ins>fox"), "{shown:?}");
    let shown = it.get(&format!("~/revisions/{revision}/added")).await;
    assert!(shown.body.contains("Brand new"));
}

#[tokio::test]
async fn preview_is_hidden_from_anonymous_and_outside_users() {
    let it = Changed::new().await;
    let new = NewUser {
        display_name: "Eve".parse().expect("a name"),
        email: "eve@example.com".parse().expect("an address"),
    };
    let eve = it.w.platform.as_platform().users().create(new).await.expect("a user").id;
    let new = NewToken { label: "eve".parse().expect("a label"), secret: None, expires_at: None };
    let eve = it.w.platform.as_platform().user(&eve).issue_token(new).await.expect("a token").secret;
    for page in ["~/changes/4/", "~/changes/5/", "~/changes/4/~compare", "~/changes/4/added.md"] {
        let path = format!("{}{page}", it.site);
        let stranger = it.w.get(&path).await;
        assert_eq!(stranger.status, StatusCode::UNAUTHORIZED, "{page}");
        assert!(!stranger.body.contains("Slow") && !stranger.body.contains("new"), "{stranger:?}");
        for headers in [("cookie", format!("docs-member={eve}")), ("authorization", format!("Bearer {eve}"))]
        {
            let other = it.w.ask(Method::GET, &path, &[(headers.0, &headers.1)]).await;
            assert_eq!(other.status, StatusCode::NOT_FOUND, "{page}");
            assert!(!other.body.contains("Slow") && !other.body.contains("Brand"), "{other:?}");
        }
        let wrong = it.w.ask(Method::GET, &path, &[("cookie", "docs-member=x.y.z")]).await;
        assert_eq!(wrong.status, StatusCode::UNAUTHORIZED);
    }
    assert_eq!(it.get("~/changes/5/").await.status, StatusCode::NOT_FOUND);
    // Live pages cannot be reached below the path prefix of previews.
    assert_eq!(it.w.get(&format!("{}~/elsewhere", it.site)).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn member_sign_in_returns_to_the_requested_page() {
    let it = Changed::new().await;
    let wanted = format!("{}~/changes/4/added", it.site);
    let form = it.w.get(&wanted).await.body;
    assert!(form.contains(&format!("action=\"{}~/sign-in\"", it.site)) && form.contains(&wanted), "{form}");
    let sign_in = format!("{}~/sign-in", it.site);
    let post = async |token: &str, to: &str, headers: &[(&str, &str)]| {
        let body = format!("token={token}&to={}", to.replace('/', "%2F").replace('\t', "%09"));
        it.w.send(&sign_in, headers, body).await
    };
    let good = post(&it.token, &wanted, &[]).await;
    assert_eq!((good.status, good.header("location")), (StatusCode::SEE_OTHER, wanted.as_str()));
    let cookie = good.header("set-cookie");
    for part in ["docs-member=", "HttpOnly", "SameSite=Lax", "Path=/sites/docs"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    for away in AWAY.into_iter().chain(["/elsewhere"]) {
        assert_eq!(post(&it.token, away, &[]).await.header("location"), it.site, "{away}");
    }
    let bad = post("wrong-token", &wanted, &[]).await;
    assert_eq!((bad.status, bad.header("set-cookie")), (StatusCode::UNAUTHORIZED, ""));
    let elsewhere = post(&it.token, &wanted, &[("sec-fetch-site", "cross-site")]).await;
    assert_eq!(elsewhere.status, StatusCode::UNAUTHORIZED, "another site cannot sign somebody in");
    let large = it.w.send(&sign_in, &[], "x".repeat(100_000)).await;
    assert_eq!(large.status, StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn preview_sign_in_redirects_only_within_the_custom_host() {
    let it = Changed::new().await;
    let host = docs_core::model::SiteHostname::new("guide.example.org").expect("a host");
    let sites = it.w.me().org(&it.w.org).sites().list(&Default::default(), &Default::default()).await;
    let site = &sites.expect("sites").items[0].id;
    it.w.platform.as_platform().org(&it.w.org).site(site).set_hostname(Some(host)).await.expect("set");
    let post = async |to: &str| {
        let body = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("token", &it.token)
            .append_pair("to", to)
            .finish();
        let got = it.w.send("/~/sign-in", &[("host", "guide.example.org")], body).await;
        assert_eq!(got.status, StatusCode::SEE_OTHER, "{to}: {got:?}");
        got.header("location").to_owned()
    };
    assert_eq!(post("/~/changes/4/added").await, "/~/changes/4/added");
    for away in AWAY {
        assert_eq!(post(away).await, "/", "{away:?}");
    }
}

#[tokio::test]
async fn changes_of_a_preview_beyond_the_bound_are_counted() {
    let it = Changed::new().await;
    for batch in 0..10 {
        let page = |number: usize| json!({ "operation": "insert_page", "title": format!("Page {batch} {number}"), "document": {} });
        let changes: Vec<_> = (0..50).map(page).collect();
        let update: UpdateContent = serde_json::from_value(json!({ "changes": changes })).expect("changes");
        it.w.me().space(&it.space).change_request("4").edit(update).await.expect("edited");
    }
    let shown = it.get("~/changes/4/~compare").await.body;
    assert_eq!(shown.matches("<span class=\"kind ").count(), 500);
    assert!(shown.contains("4 more changes are not shown."));
}

#[tokio::test]
async fn texts_beyond_the_bytes_of_a_comparison_are_links() {
    let it = Changed::new().await;
    let text = "word ".repeat(60_000);
    let mut changes = Vec::new();
    for number in 0..4 {
        let page = it.w.page(&it.space, &format!("Page {number}"), &format!("{text}\n\nOld.")).await;
        let document = json!({ "markdown": format!("{text}\n\nNew.") });
        changes.push(json!({ "operation": "update_page", "page": page, "document": document }));
    }
    let space = it.w.me().space(&it.space);
    let new = CreateChangeRequest { subject: "Long".parse().ok(), ..CreateChangeRequest::default() };
    let number = space.change_requests().create(new).await.expect("one").number.to_string();
    for change in changes {
        let update: UpdateContent = serde_json::from_value(json!({ "changes": [change] })).expect("changes");
        space.change_request(&number).edit(update).await.expect("edited");
    }
    let shown = it.get(&format!("~/changes/{number}/~compare")).await.body;
    // Two pairs of 600 kB reach the bound.
    assert_eq!(
        (shown.matches("<ins>").count(), shown.matches("Compare the text").count()),
        (2, 2),
        "{shown}"
    );
}
