//! Random sites with all content that conditions, audiences and share links can hide.
//!
//! Every response must agree with a naive model of the visitor's access, and hidden content must be indistinguishable
//! from missing content.

use std::{collections::BTreeMap, io, slice};

use docs_core::model::{SiteId, SiteSpaceId, SiteVisibility, SpaceId};
use docs_site::{ExportOptions, ExportTarget, SiteConfig, Sites};
use poem::http::{Method, StatusCode};
use proptest::prelude::*;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{
    leaks::{CONDITIONS, Who, claims_schema},
    world::{Got, World, path_of, token},
};

/// A page: its condition, the condition of a block in it, its nesting below the previous page, and its links.
#[derive(Clone, Copy, Debug)]
struct PagePlan {
    condition: usize,
    block: usize,
    is_below: bool,
    /// The index of the linked page among the earlier pages of the whole site.
    links: usize,
    has_file: bool,
    is_unlisted: bool,
}

/// The condition that no visitor meets, as the counterpart of a draft.
const NEVER: usize = CONDITIONS.len() - 1;

#[derive(Clone, Debug)]
struct PlacePlan {
    condition: usize,
    is_draft: bool,
    /// `true` if the page's language differs from that of the site.
    is_german: bool,
    pages: Vec<PagePlan>,
}

#[derive(Clone, Debug)]
struct SectionPlan {
    condition: usize,
    is_draft: bool,
    is_grouped: bool,
    is_in_draft: bool,
    places: Vec<PlacePlan>,
}

#[derive(Clone, Debug)]
struct SitePlan {
    /// `true` if the site has sections. Otherwise it contains the spaces of the first section.
    has_sections: bool,
    sections: Vec<SectionPlan>,
    /// Header links: conditions, and indices of the linked pages.
    links: Vec<(usize, usize)>,
    /// The target pages of redirects.
    redirects: Vec<usize>,
    audience: usize,
}

impl PlacePlan {
    /// Returns the conditions of the space, and that of a draft.
    fn all(&self) -> All {
        std::iter::once(self.condition).chain(self.is_draft.then_some(NEVER)).collect()
    }
}

impl SectionPlan {
    /// Returns the conditions of the section, and that of a draft.
    fn all(&self) -> All {
        let is_draft = self.is_draft || (self.is_grouped && self.is_in_draft);
        std::iter::once(self.condition).chain(is_draft.then_some(NEVER)).collect()
    }
}

/// A conjunction of conditions, by index.
type All = Vec<usize>;

/// A unique word. It is visible to visitors who satisfy at least one of the conjunctions.
struct Mark {
    word: String,
    any: Vec<All>,
}

fn seen(any: &[All], who: &Who) -> bool {
    any.iter().any(|all| all.iter().all(|condition| CONDITIONS[*condition].1(who)))
}

/// A created page.
struct MadePage {
    id: String,
    space: SpaceId,
    place: SiteSpaceId,
    /// The paths of the page's section and space, empty for defaults, and its path in the space.
    names: [String; 2],
    path: String,
    all: All,
}

#[derive(Default)]
struct Made {
    marks: Vec<Mark>,
    pages: Vec<MadePage>,
}

impl Made {
    fn mark(&mut self, any: Vec<All>) -> String {
        // No word is a prefix of another.
        let word = format!("mark{:04}q", self.marks.len());
        self.marks.push(Mark { word: word.clone(), any });
        word
    }

    /// Returns the page for any number, modulo the number of pages.
    fn page(&self, number: usize) -> Option<&MadePage> {
        number.checked_rem(self.pages.len()).map(|at| &self.pages[at])
    }
}

fn and(all: &[usize], more: &[usize]) -> All {
    [all, more].concat()
}

fn read<T: DeserializeOwned>(json: Value) -> T {
    serde_json::from_value(json).expect("a request")
}

/// A created site.
struct Site {
    w: World,
    id: SiteId,
    made: Made,
    /// The URL for visitors, and the URL with a revoked share link.
    path: String,
    revoked: Option<String>,
    redirects: Vec<(String, All)>,
}

impl Site {
    async fn of(plan: &SitePlan) -> Self {
        let w = World::new().await;
        let start = w.space("Begin").await;
        w.page(&start, "Start", "For everybody.").await;
        let (id, path) = w.site("Docs", &start).await;
        w.update(&id, json!({ "adaptiveContent": { "enabled": true } })).await;
        let mut it = Self { w, id, made: Made::default(), path, revoked: None, redirects: Vec::new() };
        let org = it.w.me().org(&it.w.org);
        org.site(&it.id).set_adaptive_schema(read(claims_schema())).await.expect("set");
        for section in &plan.sections {
            if plan.has_sections {
                it.section(section).await;
                continue;
            }
            for place in &section.places {
                it.place(place, None).await;
            }
        }
        it.lead(plan).await;
        it.open(plan.audience).await;
        it.w.platform.settle().await.expect("settled");
        it
    }

    /// Creates a section with its first space, then adds the others.
    async fn section(&mut self, plan: &SectionPlan) {
        let conditions: Vec<All> = plan.places.iter().map(|place| and(&plan.all(), &place.all())).collect();
        let title = self.made.mark(conditions.clone());
        let mut made: Option<(String, SiteSpaceId)> = None;
        for place in &plan.places {
            let section = made.as_ref().map(|(section, _)| section.as_str());
            let added = self.place(place, Some((plan, &title, section))).await;
            made = made.or(Some(added));
        }
        let Some((section, _)) = made else { return };
        if plan.is_grouped {
            let site = self.w.me().org(&self.w.org).site(&self.id);
            let outer = json!({ "title": self.made.mark(conditions), "draft": plan.is_in_draft });
            let outer = site.section_groups().create(read(outer)).await.expect("a group").id;
            // Pages show the title of the outermost group only.
            let group = json!({ "title": "Inner", "sections": [section], "parent": outer });
            site.section_groups().create(read(group)).await.expect("a group");
        }
    }

    /// Creates a space of the site with its pages: as the first of a new section, in an existing section, or directly
    /// on the site.
    async fn place(
        &mut self,
        plan: &PlacePlan,
        section: Option<(&SectionPlan, &str, Option<&str>)>,
    ) -> (String, SiteSpaceId) {
        let mut all = plan.all();
        all.extend(section.iter().flat_map(|(section, ..)| section.all()));
        let title = self.made.mark(vec![all.clone()]);
        let space = self.w.space(&title).await;
        let site = || self.w.me().org(&self.w.org).site(&self.id);
        let (section_id, place, name) = match section {
            Some((plan, name, None)) => {
                let new = json!({ "spaceId": space, "title": name });
                let section = site().sections().create(read(new)).await.expect("a section");
                let change = json!({ "condition": CONDITIONS[plan.condition].0, "draft": plan.is_draft });
                site().section(&section.id).update(read(change)).await.expect("changed");
                (section.id.to_string(), section.site_spaces[0].id.clone(), name.to_owned())
            }
            Some((_, name, Some(section))) => {
                let add = json!({ "spaceId": space, "sectionId": section });
                let place = site().spaces().create(read(add)).await.expect("a place").id;
                (section.to_owned(), place, name.to_owned())
            }
            None => (String::new(), self.w.place(&self.id, &space).await, String::new()),
        };
        let change = json!({ "condition": CONDITIONS[plan.condition].0, "draft": plan.is_draft });
        site().space(&place).update(read(change)).await.expect("changed");
        if plan.is_german {
            let change = json!({ "internationalization": { "locale": "de" } });
            site().space(&place).override_customization(read(change)).await.expect("changed");
        }
        self.fill(&plan.pages, &space, &place, [name, title], all).await;
        (section_id, place)
    }

    /// Creates the pages of a space. The first is visible to everyone who has access to the space.
    async fn fill(
        &mut self,
        plan: &[PagePlan],
        space: &SpaceId,
        place: &SiteSpaceId,
        names: [String; 2],
        all: All,
    ) {
        let hello = self.made.mark(vec![all.clone()]);
        self.w.page(space, "Setup", &format!("{hello} to all here.")).await;
        let mut before: Option<(String, String, All)> = None;
        for page in plan {
            let above = before.clone().filter(|_| page.is_below);
            let over = above.as_ref().map_or(&all, |(_, _, all)| all);
            let own = and(over, &[page.condition]);
            let (title, text) = (self.made.mark(vec![own.clone()]), self.made.mark(vec![own.clone()]));
            let heading = self.made.mark(vec![and(&own, &[page.block])]);
            let linked = match self.made.page(page.links) {
                Some(to) => {
                    format!("[there](/spaces/{}/pages/{}) [](/spaces/{0}/pages/{1})", to.space, to.id)
                }
                None => String::new(),
            };
            let (mut changes, mut file) = (Vec::new(), String::new());
            if page.has_file {
                let name = self.made.mark(vec![and(&own, &[page.block])]);
                changes.push(json!({ "operation": "insert_files", "files": [
                    { "name": format!("{name}.txt"), "base64": "YQ==", "contentType": "text/plain", "ref": "f" }] }));
                "{% file src=\"/files/f\" %}\n".clone_into(&mut file);
            }
            let markdown = format!(
                "{text} is said. {linked}\n\n{{% if {} %}}\n## {heading} heading\n\nSaid to some.\n\n{file}\
                 {{% endif %}}\n",
                CONDITIONS[page.block].0
            );
            let mut insert = json!({ "operation": "insert_page", "title": title, "description": text,
                "noIndex": page.is_unlisted, "condition": CONDITIONS[page.condition].0,
                "document": { "markdown": markdown } });
            let mut path = title.clone();
            if let Some((id, over, _)) = &above {
                insert["into"] = id.as_str().into();
                path = format!("{over}/{title}");
            }
            changes.push(insert);
            let id = self.w.edit(space, json!(changes)).await.remove(0).to_string();
            before = Some((id.clone(), path.clone(), own.clone()));
            let (space, place, names) = (space.clone(), place.clone(), names.clone());
            self.made.pages.push(MadePage { id, space, place, names, path, all: own });
        }
    }

    /// Creates header links and redirects.
    async fn lead(&mut self, plan: &SitePlan) {
        let mut links = Vec::new();
        for (condition, to) in &plan.links {
            if self.made.pages.is_empty() {
                continue;
            }
            let title = self.made.mark(vec![vec![*condition]]);
            let Some(to) = self.made.page(*to) else { continue };
            links.push(json!({ "title": title, "links": [], "condition": CONDITIONS[*condition].0,
                "to": { "kind": "page", "page": to.id, "space": to.space } }));
        }
        self.w.look(&self.id, json!({ "header": { "preset": "default", "links": links } })).await;
        for (at, to) in plan.redirects.iter().enumerate() {
            let Some(to) = self.made.page(*to) else { continue };
            let destination = json!({ "kind": "site-page", "siteSpaceId": to.place, "pageId": to.id });
            let site = self.w.me().org(&self.w.org).site(&self.id);
            for (source, path, draft) in [
                (format!("/old{at}"), format!("old{at}"), false),
                (format!("/old{at}/*"), format!("old{at}/more"), false),
                (format!("/draft{at}"), format!("draft{at}"), true),
            ] {
                let new = json!({ "source": source, "destination": destination, "draft": draft });
                site.redirects().create(read(new)).await.expect("a redirect");
                self.redirects.push((path, and(&to.all, if draft { &[NEVER] } else { &[] })));
            }
        }
    }

    /// Publishes the site to one of the audiences.
    async fn open(&mut self, audience: usize) {
        const ALL: [SiteVisibility; 4] = [
            SiteVisibility::Public,
            SiteVisibility::Unlisted,
            SiteVisibility::ShareLink,
            SiteVisibility::VisitorAuth,
        ];
        self.w.show(&self.id, ALL[audience]).await;
        if ALL[audience] != SiteVisibility::ShareLink {
            return;
        }
        let links = || self.w.me().org(&self.w.org).site(&self.id);
        let mut paths = Vec::new();
        for name in ["Gone", "Friends"] {
            let link = links().share_links().create(read(json!({ "name": name }))).await.expect("a link");
            paths.push((link.id, path_of(link.urls.published.as_deref().expect("an address"))));
        }
        links().share_link(&paths[0].0).delete().await.expect("revoked");
        self.revoked = Some(paths.remove(0).1);
        self.path = paths.remove(0).1;
    }

    /// Returns possible URLs of a page, with all or some of the path segments before it.
    fn addresses(page: &MadePage) -> Vec<String> {
        let [section, space] = &page.names;
        let below = |name: &str| if name.is_empty() { String::new() } else { format!("{name}/") };
        let mut found = vec![format!("{}{}{}", below(section), below(space), page.path)];
        found.push(format!("{}{}", below(section), page.path));
        found.push(format!("{}{}.md", below(section), page.path));
        found.push(format!("{}{}.md", below(section) + &below(space), page.path));
        found.push(format!("{}{}", below(space), page.path));
        found.push(page.path.clone());
        found.sort();
        found.dedup();
        found
    }
}

/// URLs of a site that are not pages.
const LISTS: [&str; 18] = [
    "",
    "index.md",
    "setup",
    "robots.txt",
    "sitemap.xml",
    "sitemap-1.xml",
    "llms.txt",
    "llms-full.txt",
    "llms-full.txt/1",
    "llms-full.txt/2",
    "rss.xml",
    "no-such-page",
    "~site/icon.svg",
    "~site/search?q=mark",
    "~site/search?q=said",
    "~site/search.json?q=heading",
    "~/changes/1/",
    "~/changes/2/~compare",
];

/// All responses to a visitor: their concatenated text, and those with an ETag.
#[derive(Default)]
struct Told {
    said: String,
    tagged: BTreeMap<String, Got>,
}

impl Site {
    /// Returns the cookies of a visitor.
    async fn cookies(&self, who: &Who) -> String {
        let claims = json!({ "beta": who.beta, "plan": if who.is_pro { "pro" } else { "free" },
            "exp": self.w.seconds() + 600 });
        let key = self.w.key(&self.id).await;
        who.cookies(who.is_known.then(|| token(&key, &claims)).as_deref())
    }

    async fn get(&self, path: &str, cookies: &str, tag: Option<&str>) -> Got {
        let mut headers = vec![("cookie", cookies)];
        headers.extend(tag.map(|tag| ("if-none-match", tag)));
        self.w.ask(Method::GET, &format!("{}{path}", self.path), &headers).await
    }

    /// Requests everything, including URLs that the visitor cannot know, and repeats requests with the ETags of other
    /// visitors. Only a visitor with the same response may get status 304.
    async fn crawl(&self, who: &Who, others: &[&Told]) -> Told {
        let cookies = self.cookies(who).await;
        let mut told = Told::default();
        let pages = self.made.pages.iter().flat_map(Self::addresses);
        let redirects = self.redirects.iter().map(|(path, _)| path.clone());
        for path in LISTS.into_iter().map(str::to_owned).chain(pages).chain(redirects) {
            let got = self.get(&path, &cookies, None).await;
            let known = [StatusCode::OK, StatusCode::NOT_FOUND, StatusCode::TEMPORARY_REDIRECT];
            let is_preview = path.starts_with("~/changes/");
            assert!(
                known.contains(&got.status) != is_preview || got.status == StatusCode::NOT_FOUND,
                "{path}: {got:?}"
            );
            told.said.push_str(&got.body);
            // Segments of the requested path are not counted as leaks.
            let asked: Vec<&str> = path.split(['/', '.']).collect();
            let news = got.header("location").split(['/', '.', '#']).filter(|part| !asked.contains(part));
            news.for_each(|part| told.said.push_str(part));
            for known in others.iter().filter_map(|other| other.tagged.get(&path)) {
                let again = self.get(&path, &cookies, Some(known.header("etag"))).await;
                let is_same = known.status == got.status && known.body == got.body;
                let expected = if is_same { StatusCode::NOT_MODIFIED } else { got.status };
                assert_eq!(again.status, expected, "{path} with the tag of somebody else");
            }
            if got.status == StatusCode::OK && !got.header("etag").is_empty() {
                told.tagged.insert(path, got);
            }
        }
        self.ask_as_agent(&cookies, &mut told).await;
        told
    }

    /// Requests everything through the MCP endpoint.
    async fn ask_as_agent(&self, cookies: &str, told: &mut Told) {
        let pages = self.made.pages.iter().flat_map(Self::addresses);
        let pages = pages.map(|path| ("read_page", json!({ "page": path })));
        let asked = [("list_pages", json!({})), ("search", json!({ "query": "said" }))];
        for (tool, arguments) in asked.into_iter().chain(pages) {
            let params = json!({ "name": tool, "arguments": arguments });
            let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
            let headers = [
                ("cookie", cookies),
                ("accept", "application/json, text/event-stream"),
                ("content-type", "application/json"),
            ];
            let got = self.w.send(&format!("{}~site/mcp", self.path), &headers, message.to_string()).await;
            if got.status == StatusCode::OK {
                let asked = arguments["page"].as_str().unwrap_or("-").trim_end_matches(".md");
                told.said.push_str(&got.body.replace(&format!("page: `{asked}` does not exist"), ""));
            }
        }
    }

    /// Checks that a visitor gets exactly the words that the model permits, and that hidden pages look like
    /// missing ones.
    async fn check(&self, who: &Who, others: &[&Told]) -> Told {
        let told = self.crawl(who, others).await;
        let cookies = self.cookies(who).await;
        for Mark { word, any } in &self.made.marks {
            let around = told.said.find(word.as_str()).map(|at| {
                let start = told.said.floor_char_boundary(at.saturating_sub(300));
                &told.said[start..told.said.floor_char_boundary(at + 100)]
            });
            assert_eq!(around.is_some(), seen(any, who), "{word} for {who:?}: {around:?}");
        }
        for page in self.made.pages.iter().filter(|page| !seen(slice::from_ref(&page.all), who)) {
            let last = page.path.rsplit('/').next().expect("a name");
            for path in Self::addresses(page) {
                let (got, never) = (path.clone(), path.replace(last, "mark9999q"));
                let (got, never) =
                    (self.get(&got, &cookies, None).await, self.get(&never, &cookies, None).await);
                let of = |got: &Got, name: &str| {
                    (got.status, got.body.replace(name, ""), got.header("location").replace(name, ""))
                };
                assert_eq!(of(&got, last), of(&never, "mark9999q"), "{path} for {who:?}");
            }
        }
        for (path, all) in &self.redirects {
            let got = self.get(path, &cookies, None).await;
            assert_eq!(
                got.status == StatusCode::TEMPORARY_REDIRECT,
                seen(slice::from_ref(all), who),
                "{path}"
            );
        }
        if let Some(revoked) = &self.revoked {
            for path in LISTS.into_iter().chain(["mark0000q"]) {
                let got = self.w.ask(Method::GET, &format!("{revoked}{path}"), &[("cookie", &cookies)]).await;
                assert_eq!(got.status, StatusCode::NOT_FOUND, "{path} by a link that was revoked");
            }
        }
        told
    }

    /// Checks that the export of a public site contains only content for anonymous visitors.
    async fn check_files(&self) {
        let sites = Sites::new(&self.w.platform, SiteConfig::default()).expect("an address");
        let mut files = Words::default();
        sites.export(&self.path, &ExportOptions::default(), &mut files).await.expect("exported");
        let stranger = Who { is_known: false, beta: false, is_pro: false, eu: false };
        // The title of the only space in a section only occurs in lists that an export does not contain.
        for Mark { word, any } in &self.made.marks {
            assert!(seen(any, &stranger) || !files.0.contains(word.as_str()), "{word} in files");
        }
        for page in self.made.pages.iter().filter(|page| seen(slice::from_ref(&page.all), &stranger)) {
            assert!(files.0.contains(&page.path), "{} in files", page.path);
        }
    }
}

/// All names and contents of exported files, concatenated.
#[derive(Default)]
struct Words(String);

impl ExportTarget for Words {
    fn write(&mut self, path: &str, bytes: &[u8]) -> io::Result<()> {
        self.0.push_str(path);
        self.0.push_str(&String::from_utf8_lossy(bytes));
        Ok(())
    }
}

async fn holds(plan: SitePlan, who: Who) {
    let site = Site::of(&plan).await;
    let is_closed = plan.audience == 3;
    // A site with sign-in is only visible to authenticated visitors, and only these have claims.
    let is_known = who.is_known || is_closed;
    let who = Who { is_known, beta: is_known && who.beta, is_pro: is_known && who.is_pro, ..who };
    // A visitor with nearly full access reads first, so that the caches contain content to leak. Then the visitor, the
    // same visitor with other claims, and finally an anonymous visitor read.
    let all = Who { is_known: true, beta: true, is_pro: true, eu: true };
    let most = site.check(&all, &[]).await;
    let first = site.check(&who, &[&most]).await;
    let changed = Who { beta: is_known && !who.beta, eu: !who.eu, ..who };
    let second = site.check(&changed, &[&most, &first]).await;
    if !is_closed {
        let stranger = Who { is_known: false, beta: false, is_pro: false, eu: false };
        site.check(&stranger, &[&most, &first, &second]).await;
    }
    if plan.audience == 0 {
        site.check_files().await;
    }
}

fn page_plan() -> impl Strategy<Value = PagePlan> {
    let conditions = (0..CONDITIONS.len(), 0..CONDITIONS.len());
    (conditions, any::<(bool, bool, bool)>(), 0..20_usize).prop_map(
        |((condition, block), (is_below, has_file, is_unlisted), links)| PagePlan {
            condition,
            block,
            is_below,
            links,
            has_file,
            is_unlisted,
        },
    )
}

fn site_plan() -> impl Strategy<Value = SitePlan> {
    let draft = || prop::bool::weighted(0.2);
    let place = (0..CONDITIONS.len(), draft(), any::<bool>(), prop::collection::vec(page_plan(), 0..3));
    let place = place.prop_map(|(condition, is_draft, is_german, pages)| PlacePlan {
        condition,
        is_draft,
        is_german,
        pages,
    });
    let section = (0..CONDITIONS.len(), draft(), any::<bool>(), draft(), prop::collection::vec(place, 1..3));
    let section = section.prop_map(|(condition, is_draft, is_grouped, is_in_draft, places)| SectionPlan {
        condition,
        is_draft,
        is_grouped,
        is_in_draft,
        places,
    });
    let links = prop::collection::vec((0..CONDITIONS.len(), 0..20_usize), 0..3);
    let redirects = prop::collection::vec(0..20_usize, 0..3);
    (any::<bool>(), prop::collection::vec(section, 1..3), links, redirects, 0..4_usize).prop_map(
        |(has_sections, sections, links, redirects, audience)| SitePlan {
            has_sections,
            sections,
            links,
            redirects,
            audience,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn random_sites_reveal_no_hidden_content(
        plan in site_plan(),
        (is_known, beta, is_pro, eu) in any::<(bool, bool, bool, bool)>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(holds(plan, Who { is_known, beta, is_pro, eu }));
    }
}
