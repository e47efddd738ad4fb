//! Caching: after any change, servers with filled caches respond like a server without caches.

use docs_core::{
    Error, ErrorKind,
    model::{PageId, SiteId, SiteSpaceId, SpaceId},
};
use poem::{
    endpoint::BoxEndpoint,
    http::{Method, StatusCode},
};
use proptest::prelude::*;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::world::{Got, World};

/// Requested paths and headers: pages of the site and of a second space, and paths that only exist after some changes.
const ASKED: [(&str, &[(&str, &str)]); 20] = [
    ("", &[]),
    ("", &[("accept", "text/markdown")]),
    ("", &[("cookie", "other=1")]),
    ("", &[("cookie", "gitbook-visitor-public={%22eu%22:true}")]),
    ("second", &[]),
    ("second.md", &[]),
    ("second/third", &[]),
    ("operation", &[]),
    ("operation", &[("cookie", "gitbook-visitor-public={%22eu%22:true}")]),
    ("other", &[]),
    ("other/there", &[]),
    ("moved/there", &[]),
    ("old", &[]),
    ("sitemap.xml", &[]),
    ("llms.txt", &[]),
    ("llms-full.txt", &[]),
    ("rss.xml", &[]),
    ("other/there.md", &[]),
    ("robots.txt", &[]),
    ("~site/icon.svg", &[]),
];

/// A change that affects responses.
#[derive(Clone, Copy, Debug)]
enum Change {
    Text(u8),
    Title(u8),
    PageCondition(bool),
    MovePage(bool),
    Look(u8),
    HeaderLink(u8),
    SiteTitle(u8),
    Publish(bool),
    Audience(u8),
    AddPlace,
    RemovePlace,
    PlacePath(bool),
    PlaceCondition(u8),
    AddSection,
    DeleteSpace(bool),
    Redirect(bool),
    Adapt(bool),
    Specification(u8),
    Settle,
    Wait(u16),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        (0..3_u8).prop_map(Change::Text),
        (0..3_u8).prop_map(Change::Title),
        any::<bool>().prop_map(Change::PageCondition),
        any::<bool>().prop_map(Change::MovePage),
        (0..3_u8).prop_map(Change::Look),
        (0..4_u8).prop_map(Change::HeaderLink),
        (0..3_u8).prop_map(Change::SiteTitle),
        any::<bool>().prop_map(Change::Publish),
        (0..6_u8).prop_map(Change::Audience),
        Just(Change::AddPlace),
        Just(Change::RemovePlace),
        any::<bool>().prop_map(Change::PlacePath),
        (0..3_u8).prop_map(Change::PlaceCondition),
        Just(Change::AddSection),
        any::<bool>().prop_map(Change::DeleteSpace),
        any::<bool>().prop_map(Change::Redirect),
        any::<bool>().prop_map(Change::Adapt),
        (0..3_u8).prop_map(Change::Specification),
        Just(Change::Settle),
        (1..5_000_u16).prop_map(Change::Wait),
    ]
}

impl World {
    /// Replaces the specification of an operation, or deletes it.
    async fn operation(&self, summary: u8) {
        let specs = self.me().org(&self.org);
        if summary == 0 {
            tried(specs.openapi_spec("pets").delete().await);
            return;
        }
        let operation = json!({ "summary": format!("Summary {summary}"), "responses": {} });
        let text = json!({ "openapi": "3.1.0", "info": { "title": "Pets", "version": "1" },
            "paths": { "/cats": { "get": operation } } });
        self.public_spec("pets", text.to_string()).await;
        self.platform.settle().await.expect("settled");
    }
}

struct Site {
    w: World,
    id: SiteId,
    path: String,
    space: SpaceId,
    other: SpaceId,
    pages: Vec<PageId>,
    place: Option<SiteSpaceId>,
}

fn read<T: DeserializeOwned>(json: Value) -> T {
    serde_json::from_value(json).expect("a request")
}

/// Returns the result of a change that may be rejected because its target does not exist.
fn tried<T>(done: Result<T, Error>) -> Option<T> {
    let is_refusal = |error: &Error| {
        let kinds = [ErrorKind::NotFound, ErrorKind::Conflict, ErrorKind::Invalid, ErrorKind::Forbidden];
        kinds.contains(&error.kind())
    };
    match done {
        Ok(done) => Some(done),
        Err(error) if is_refusal(&error) => None,
        Err(error) => panic!("{error:?}"),
    }
}

impl Site {
    async fn new() -> Self {
        let w = World::new().await;
        let (space, other) = (w.space("Guide").await, w.space("Other").await);
        let mut pages = Vec::new();
        for title in ["First", "Second", "Third"] {
            pages.push(w.page(&space, title, &format!("{title} text. [](/pages/{})", pages.len())).await);
        }
        let operation = "{% openapi-operation spec=\"pets\" path=\"/cats\" method=\"get\" %}\n\
            [pets](https://api.test/pets)\n{% endopenapi-operation %}";
        w.page(&space, "Operation", operation).await;
        w.page(&other, "Here", "The other space.").await;
        w.page(&other, "There", "The other space, too.").await;
        let (id, path) = w.site("Docs", &space).await;
        let place = Some(w.place(&id, &other).await);
        Self { w, id, path, space, other, pages, place }
    }

    async fn update_page(&self, at: usize, mut change: Value) {
        change["operation"] = "update_page".into();
        change["page"] = self.pages[at].to_string().into();
        let requests = self.w.me().space(&self.space);
        let Some(request) = tried(requests.change_requests().create(read(json!({}))).await) else { return };
        let number = request.number.to_string();
        let edited = requests.change_request(&number).edit(read(json!({ "changes": [change] }))).await;
        if tried(edited).is_some() {
            tried(requests.change_request(&number).merge().await);
        }
    }

    async fn make(&mut self, change: Change) {
        let (w, org) = (&self.w, &self.w.org);
        let site = || w.me().org(org).site(&self.id);
        match change {
            Change::Text(n) => {
                self.update_page(1, json!({ "document": { "markdown": format!("Text {n}.") } })).await;
            }
            Change::Title(n) => self.update_page(1, json!({ "title": format!("Title {n}") })).await,
            Change::PageCondition(hides) => {
                let condition = if hides { json!("visitor.claims.unsigned.eu") } else { Value::Null };
                self.update_page(2, json!({ "condition": condition })).await;
            }
            Change::MovePage(into) => {
                let into = if into { json!(self.pages[1]) } else { Value::Null };
                self.update_page(2, json!({ "into": into })).await;
            }
            Change::Look(n) => {
                w.look(&self.id, json!({ "title": format!("Look {n}"), "favicon": { "emoji": "1f600" } }))
                    .await;
            }
            Change::HeaderLink(n) => {
                let mut link = json!({ "title": "Link", "links": [],
                    "to": { "kind": "page", "page": self.pages[2], "space": self.space } });
                if n > 1 {
                    link["condition"] = json!(["true", "false"][usize::from(n) - 2]);
                }
                let links = if n == 0 { json!([]) } else { json!([link]) };
                w.look(&self.id, json!({ "header": { "preset": "default", "links": links } })).await;
            }
            Change::SiteTitle(n) => w.update(&self.id, json!({ "title": format!("Site {n}") })).await,
            Change::Publish(true) => drop(tried(site().publish().await)),
            Change::Publish(false) => drop(tried(site().unpublish().await)),
            Change::Audience(n) => {
                let audiences = ["share-link", "visitor-auth", "unlisted", "public", "public", "public"];
                w.update(&self.id, json!({ "visibility": audiences[usize::from(n)] })).await;
            }
            Change::Specification(n) => w.operation(n).await,
            Change::Settle => drop(w.platform.settle().await),
            Change::Wait(seconds) => w.clock.advance(std::time::Duration::from_secs(seconds.into())),
            Change::Adapt(enabled) => {
                w.update(&self.id, json!({ "adaptiveContent": { "enabled": enabled } })).await;
            }
            _ => self.rearrange(change).await,
        }
    }

    /// Applies changes of the site structure.
    async fn rearrange(&mut self, change: Change) {
        let (w, org) = (&self.w, &self.w.org);
        let site = || w.me().org(org).site(&self.id);
        match change {
            Change::AddPlace => {
                let added = site().spaces().create(read(json!({ "spaceId": self.other }))).await;
                let added = tried(added).map(|place| place.id);
                self.place = added.or(self.place.take());
            }
            Change::AddSection => {
                tried(
                    site().sections().create(read(json!({ "spaceId": self.other, "title": "Part" }))).await,
                );
            }
            Change::DeleteSpace(true) => drop(tried(w.me().space(&self.other).delete().await)),
            Change::DeleteSpace(false) => drop(tried(w.me().space(&self.other).restore().await)),
            _ => {
                let Some(place) = &self.place else { return };
                let at = site().space(place);
                match change {
                    Change::RemovePlace => drop(tried(at.delete().await)),
                    Change::PlacePath(is_moved) => {
                        let path = if is_moved { "moved" } else { "other" };
                        tried(at.update(read(json!({ "path": path }))).await);
                    }
                    Change::PlaceCondition(n) => {
                        let condition = [json!("false"), json!("true"), Value::Null];
                        tried(at.update(read(json!({ "condition": condition[usize::from(n)] }))).await);
                    }
                    Change::Redirect(true) => {
                        let to = json!({ "kind": "site-space", "siteSpaceId": place });
                        let new = json!({ "source": "/old", "destination": to });
                        tried(site().redirects().create(read(new)).await);
                    }
                    _ => {
                        let all = site()
                            .redirects()
                            .list(&Default::default(), &Default::default())
                            .await
                            .expect("a list")
                            .items;
                        for redirect in all {
                            tried(site().redirect(&redirect.id).delete().await);
                        }
                    }
                }
            }
        }
    }

    async fn told(&self, server: &BoxEndpoint<'static>) -> Vec<Got> {
        let mut told = Vec::new();
        for (path, headers) in ASKED {
            told.push(World::ask_of(server, Method::GET, &format!("{}{path}", self.path), headers).await);
        }
        told
    }
}

async fn holds(changes: Vec<Change>) {
    let mut site = Site::new().await;
    let servers = [site.w.server(), site.w.server()];
    assert_eq!(site.told(&servers[0]).await[0].status, StatusCode::OK);
    for (at, change) in changes.iter().enumerate() {
        site.make(*change).await;
        let fresh = site.told(&site.w.server()).await;
        for (fresh, told) in fresh.iter().zip(site.told(&site.w.forgetful()).await) {
            assert_eq!((told.status, &told.body), (fresh.status, &fresh.body), "after {:?}", &changes[..=at]);
        }
        // One server skips some of the changes. The other receives every request twice, the second time with filled
        // caches.
        let asked = if at % 2 == 0 { &servers[..1] } else { &servers[..] };
        for server in asked.iter().chain(&servers[..1]) {
            for (((path, headers), fresh), told) in ASKED.iter().zip(&fresh).zip(site.told(server).await) {
                let of = |got: &Got| (got.status, got.body.clone(), got.headers.clone());
                assert_eq!(of(&told), of(fresh), "`{path}` {headers:?} after {:?}", &changes[..=at]);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, max_shrink_iters: 60, ..ProptestConfig::default() })]

    #[test]
    fn caches_never_change_a_response_after_any_change(
        changes in prop::collection::vec(change(), 1..7),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(holds(changes));
    }
}

/// A repeated request starts no transaction.
#[tokio::test]
async fn a_cached_page_is_served_without_a_transaction() {
    let site = Site::new().await;
    let server = site.w.server();
    for path in ["", "second.md", "llms.txt", "sitemap.xml", "rss.xml"] {
        let path = format!("{}{path}", site.path);
        let first = World::ask_of(&server, Method::GET, &path, &[]).await;
        let seen = site.w.begun();
        let again = World::ask_of(&server, Method::GET, &path, &[]).await;
        assert_eq!((again.status, &again.body), (StatusCode::OK, &first.body));
        assert_eq!(site.w.begun(), seen, "transactions were begun for {path}");
    }
    site.w.me().org(&site.w.org).site(&site.id).unpublish().await.expect("taken back");
    assert_eq!(World::ask_of(&server, Method::GET, &site.path, &[]).await.status, StatusCode::NOT_FOUND);
}
