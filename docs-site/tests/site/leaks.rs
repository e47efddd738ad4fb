//! Access to conditional content: every response must contain exactly the markers that a naive model permits.

use std::collections::BTreeMap;

use docs_core::model::{SiteVisibility, SpaceId};
use poem::http::{Method, StatusCode};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::world::{Got, World, token};

/// A condition as a Rust predicate.
pub(crate) type Asked = fn(&Who) -> bool;
/// Conditions as expressions and as predicates.
pub(crate) const CONDITIONS: [(&str, Asked); 8] = [
    ("true", |_| true),
    ("visitor.claims.beta", |who| who.beta),
    ("!visitor.claims.beta", |who| !who.beta),
    ("visitor.claims.plan == 'pro'", |who| who.is_pro),
    ("visitor.claims.other", |_| false),
    ("visitor.claims.unsigned.eu", |who| who.eu),
    // Unsigned claims do not satisfy conditions on signed ones.
    ("visitor.claims.unsigned.beta", |_| false),
    ("false", |_| false),
];

#[derive(Clone, Copy, Debug)]
pub(crate) struct Who {
    /// `true` if the visitor has a token. Without a token, the visitor has no signed claims, even though the site uses
    /// them.
    pub(crate) is_known: bool,
    pub(crate) beta: bool,
    pub(crate) is_pro: bool,
    /// An unsigned claim.
    pub(crate) eu: bool,
}

impl Who {
    /// Returns the cookies of a visitor with or without a token.
    pub(crate) fn cookies(self, token: Option<&str>) -> String {
        // An anonymous visitor sends no cookies, so that the response comes from the shared cache.
        if token.is_none() && !self.eu {
            return String::new();
        }
        let token = token.map(|token| format!("docs-visitor={token}; ")).unwrap_or_default();
        format!("{token}gitbook-visitor-public={{\"eu\":{},\"beta\":true,\"plan\":\"pro\"}}", self.eu)
    }
}

/// A page: its condition, and the condition of a block in it.
#[derive(Clone, Copy, Debug)]
struct PagePlan {
    condition: usize,
    block: usize,
    is_below: bool,
    /// `true` if the page links to the previous page.
    links: bool,
}

/// A unique word, and `true` if the visitor may see it.
struct Mark {
    word: String,
    is_seen: bool,
}

#[derive(Default)]
struct Made {
    marks: Vec<Mark>,
    paths: Vec<String>,
}

impl Made {
    fn mark(&mut self, is_seen: bool) -> String {
        // No word is a prefix of another.
        let word = format!("mark{:04}q", self.marks.len());
        self.marks.push(Mark { word: word.clone(), is_seen });
        word
    }
}

/// Creates the pages of a space. The first is visible to everyone.
async fn fill(w: &World, space: &SpaceId, plan: &[PagePlan], made: &mut Made, who: &Who) {
    w.page(space, "Start", "For everybody.").await;
    let holds = |condition: usize| CONDITIONS[condition].1(who);
    let mut before: Option<(String, String, bool)> = None;
    for page in plan {
        let above = before.clone().filter(|_| page.is_below);
        let seen = holds(page.condition) && above.as_ref().is_none_or(|(_, _, seen)| *seen);
        let (title, text) = (made.mark(seen), made.mark(seen));
        let heading = made.mark(seen && holds(page.block));
        let linked = match &before {
            Some((id, ..)) if page.links => format!("[there](/pages/{id}) and [](/pages/{id})"),
            _ => String::new(),
        };
        let markdown = format!(
            "{text} is said. {linked}\n\n{{% if {} %}}\n## {heading} heading\n\nSaid to some.\n{{% endif %}}\n",
            CONDITIONS[page.block].0
        );
        let mut insert = json!({ "operation": "insert_page", "title": title, "description": text,
            "condition": CONDITIONS[page.condition].0, "document": { "markdown": markdown } });
        let mut path = title.clone();
        if let Some((id, over, _)) = &above {
            insert["into"] = id.as_str().into();
            path = format!("{over}/{title}");
        }
        let id = w.edit(space, json!([insert])).await.remove(0);
        made.paths.push(path.clone());
        before = Some((id.to_string(), path, seen));
    }
}

/// All responses to a visitor: their concatenated text, and those with an ETag.
#[derive(Default)]
struct Told {
    said: String,
    tagged: BTreeMap<String, Got>,
}

/// Requests everything on a site, including URLs that the visitor cannot know, and repeats requests with the ETags of
/// another visitor. Only a visitor with the same response may get status 304.
async fn crawl(w: &World, site: &str, cookie: &str, made: &Made, other: &Told) -> Told {
    let (mut said, mut tagged) = (String::new(), BTreeMap::new());
    let lists = [
        "",
        "robots.txt",
        "sitemap.xml",
        "llms.txt",
        "llms-full.txt",
        "no-such-page",
        "~site/icon.svg",
        "~site/search?q=mark",
        "~site/search?q=said",
        "~site/search.json?q=heading",
        "index.md",
        "rss.xml",
        "~/changes/1/",
        "~/changes/1/~compare",
        "~/changes/2/index.md",
    ];
    let pages =
        made.paths.iter().flat_map(|path| [path.clone(), format!("{path}.md"), format!("{path}/nothing")]);
    for path in lists.into_iter().map(str::to_owned).chain(pages) {
        let got = w.ask(Method::GET, &format!("{site}{path}"), &[("cookie", cookie)]).await;
        let is_preview = path.starts_with("~/");
        let is_expected = match got.status {
            StatusCode::OK | StatusCode::NOT_FOUND => !is_preview,
            status => is_preview && status == StatusCode::UNAUTHORIZED,
        };
        assert!(is_expected, "{path}: {got:?}");
        said.push_str(&got.body);
        said.push_str(got.header("location"));
        if let Some(known) = other.tagged.get(&path) {
            replay(w, (site, &path, cookie), (known, &got)).await;
        }
        if got.status == StatusCode::OK && !got.header("etag").is_empty() {
            tagged.insert(path, got);
        }
    }
    let pages = made.paths.iter().map(|path| ("read_page", json!({ "page": path })));
    let asked = [
        ("list_pages", json!({})),
        ("search", json!({ "query": "mark" })),
        ("search", json!({ "query": "said" })),
        ("search", json!({ "query": "heading" })),
    ];
    for (tool, arguments) in asked.into_iter().chain(pages) {
        let params = json!({ "name": tool, "arguments": arguments });
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let headers = [
            ("cookie", cookie),
            ("accept", "application/json, text/event-stream"),
            ("content-type", "application/json"),
        ];
        let got = w.send(&format!("{site}~site/mcp"), &headers, message.to_string()).await;
        assert_eq!(got.status, StatusCode::OK, "{tool}: {got:?}");
        // The agent's own arguments are not counted as leaks.
        let asked = arguments["page"].as_str().unwrap_or("-");
        said.push_str(&got.body.replace(&format!("page: `{asked}` does not exist"), ""));
    }
    Told { said, tagged }
}

/// Repeats a request with the ETag of another visitor.
async fn replay(w: &World, (site, path, cookie): (&str, &str, &str), (known, got): (&Got, &Got)) {
    let headers = [("cookie", cookie), ("if-none-match", known.header("etag"))];
    let again = w.ask(Method::GET, &format!("{site}{path}"), &headers).await;
    let is_same = known.status == got.status && known.body == got.body;
    let expected = if is_same { StatusCode::NOT_MODIFIED } else { got.status };
    assert_eq!(again.status, expected, "{path} with the tag of somebody else");
}

/// Returns the claims that the site declares.
pub(crate) fn claims_schema() -> Value {
    json!({ "jsonSchema": { "type": "object", "additionalProperties": false, "properties": {
        "beta": { "type": "boolean", "description": "What for" },
        "plan": { "type": "string", "enum": ["free", "pro"], "description": "What for" },
        "unsigned": { "type": "object", "description": "Unsigned claims of the site visitor.",
            "additionalProperties": false, "properties": { "eu": { "type": "boolean", "description": "Where" } } },
    } } })
}

async fn holds(plan: Vec<PagePlan>, who: Who, is_closed: bool) {
    let w = World::new().await;
    let space = w.space("Guide").await;
    let mut made = Made::default();
    fill(&w, &space, &plan, &mut made, &who).await;
    let (site, path) = w.site("Docs", &space).await;
    w.update(&site, json!({ "adaptiveContent": { "enabled": true } })).await;
    let schema = serde_json::from_value(claims_schema()).expect("a schema");
    w.me().org(&w.org).site(&site).set_adaptive_schema(schema).await.expect("set");
    if is_closed {
        w.show(&site, SiteVisibility::VisitorAuth).await;
    }
    w.platform.settle().await.expect("settled");
    let claims = json!({ "beta": who.beta, "plan": if who.is_pro { "pro" } else { "free" },
        "exp": w.seconds() + 600 });
    let key = w.key(&site).await;
    let kept = who.cookies(who.is_known.then(|| token(&key, &claims)).as_deref());
    // A visitor with full access reads first, so that the caches contain content to leak.
    let all = json!({ "beta": true, "plan": "pro", "exp": w.seconds() + 600 });
    let other = Who { eu: true, ..who }.cookies(Some(&token(&key, &all)));
    let told = crawl(&w, &path, &other, &made, &Told::default()).await;
    assert!(told.tagged.len() > made.paths.len(), "{:?}", told.tagged.keys());
    let said = crawl(&w, &path, &kept, &made, &told).await.said;
    for Mark { word, is_seen } in &made.marks {
        assert_eq!(said.contains(word.as_str()), *is_seen, "{word} of {plan:#?} for {who:?}");
    }
}

fn page_plan() -> impl Strategy<Value = PagePlan> {
    (0..CONDITIONS.len(), 0..CONDITIONS.len(), any::<bool>(), any::<bool>())
        .prop_map(|(condition, block, is_below, links)| PagePlan { condition, block, is_below, links })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, max_shrink_iters: 30, ..ProptestConfig::default() })]

    #[test]
    fn no_page_or_list_reveals_hidden_content(
        plan in prop::collection::vec(page_plan(), 1..5),
        (is_known, beta, is_pro, is_closed, eu) in any::<(bool, bool, bool, bool, bool)>(),
    ) {
        // A site with sign-in is only visible to authenticated visitors, and only these have claims.
        let is_known = is_known || is_closed;
        let who = Who { is_known, beta: is_known && beta, is_pro: is_known && is_pro, eu };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(holds(plan, who, is_closed));
    }
}

#[tokio::test]
async fn cached_pages_do_not_leak_between_visitors() {
    let page = PagePlan { condition: 1, block: 3, is_below: false, links: true };
    for is_known in [true, false] {
        let who = Who { is_known, beta: false, is_pro: false, eu: false };
        holds(vec![page, PagePlan { condition: 0, ..page }], who, false).await;
    }
}

#[tokio::test]
async fn a_claim_without_enumerated_values_hides_cached_content() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    w.page(&space, "Start", "For all.").await;
    w.page(&space, "Secret", "Open.\n\n{% if visitor.claims.plan == 'pro' %}\nmarkq\n{% endif %}\n").await;
    let (site, path) = w.site("Docs", &space).await;
    w.update(&site, json!({ "adaptiveContent": { "enabled": true } })).await;
    let set = async |schema: Value| {
        let schema = serde_json::from_value(schema).expect("a schema");
        w.me().org(&w.org).site(&site).set_adaptive_schema(schema).await.expect("set");
    };
    set(claims_schema()).await;
    let claims = json!({ "plan": "pro", "exp": w.seconds() + 600 });
    let kept = format!("docs-visitor={}", token(&w.key(&site).await, &claims));
    let read = async || w.ask(Method::GET, &format!("{path}secret"), &[("cookie", &kept)]).await.body;
    assert!(read().await.contains("markq"));
    let mut other = claims_schema();
    // A free-text claim cannot be used in conditions, even though the visitor still has it.
    other["jsonSchema"]["properties"]["plan"] = json!({ "type": "string", "description": "What for" });
    set(other).await;
    let body = read().await;
    assert!(body.contains("Open.") && !body.contains("markq"), "{body}");
}
