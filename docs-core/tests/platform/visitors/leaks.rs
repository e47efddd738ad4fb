//! Property test of visible content: the responses to a visitor contain exactly the markers that a naive model expects.

use std::collections::BTreeSet;

use docs_core::{
    Actor,
    content::Evaluated,
    model::{ContentFormat, FileId, PageId, ReusableId, SectionId, SiteId, SiteVisibility, SpaceId},
    platform::{ContentOptions, ContentVersion},
    store::PageRequest,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{address, enter, key, show, site, token};
use crate::{
    search::{edit, space, world},
    support::{World, block_on},
};

/// A condition as a Rust predicate.
type Asked = fn(&Who) -> bool;
/// Conditions as text and as Rust predicates.
const CONDITIONS: [(&str, Asked); 9] = [
    ("", |_| true),
    ("visitor.claims.beta", |who| who.beta),
    ("!visitor.claims.beta", |who| who.is_known && !who.beta),
    ("visitor.claims.plan == 'pro'", |who| who.is_pro),
    ("visitor.claims.unsigned.eu && visitor.claims.beta", |who| who.eu && who.beta),
    ("visitor.claims.other", |_| false),
    ("visitor.claims.name != 'nobody'", |_| false),
    ("space.vars.none == null", |_| true),
    ("'a' in visitor.claims.none", |_| false),
];
/// The number of these conditions that are valid on sections and site spaces.
const OUTER: usize = 7;

#[derive(Clone, Copy, Debug)]
struct Who {
    /// `true` if the site has claims. Otherwise every condition on a claim is false.
    is_known: bool,
    beta: bool,
    is_pro: bool,
    eu: bool,
}

/// A page to create: its condition, the condition of a block in it, and `true` if it is a child of the previous page.
#[derive(Clone, Debug)]
struct PagePlan {
    condition: usize,
    block: usize,
    is_below: bool,
    file: FilePlan,
    /// `true` if the block is in a quote.
    quoted: bool,
}

/// The references to the file of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FilePlan {
    None,
    Page,
    /// In the block with a condition.
    Block,
    /// In the page and in the block.
    Both,
    /// The file is not referenced.
    Unused,
}

/// The condition of a space on the site, and its pages.
type PlacePlan = (usize, Vec<PagePlan>);

#[derive(Clone, Debug)]
struct Plan {
    /// Sections, each with its condition and its spaces.
    sections: Vec<(usize, Vec<PlacePlan>)>,
    visibility: usize,
    adapts: bool,
    who: Who,
}

fn plan() -> impl Strategy<Value = Plan> {
    let file = prop::sample::select(vec![
        FilePlan::None,
        FilePlan::Page,
        FilePlan::Block,
        FilePlan::Both,
        FilePlan::Unused,
    ]);
    let page = (0..CONDITIONS.len(), 0..CONDITIONS.len(), any::<bool>(), file, any::<bool>()).prop_map(
        |(condition, block, is_below, file, quoted)| PagePlan { condition, block, is_below, file, quoted },
    );
    let space = (0..OUTER, prop::collection::vec(page, 1..4));
    let section = (0..OUTER, prop::collection::vec(space, 1..3));
    let who = (any::<bool>(), any::<bool>(), any::<bool>()).prop_map(|(beta, is_pro, eu)| Who {
        is_known: true,
        beta,
        is_pro,
        eu,
    });
    (prop::collection::vec(section, 1..4), 0..4_usize, any::<bool>(), who)
        .prop_map(|(sections, visibility, adapts, who)| Plan { sections, visibility, adapts, who })
}

/// A unique marker, with the expected visibility of the text that contains it.
struct Mark {
    word: String,
    is_seen: bool,
}

/// The created items, for the requests of the visitor.
#[derive(Default)]
struct Made {
    marks: Vec<Mark>,
    spaces: Vec<(SpaceId, bool)>,
    sections: Vec<SectionId>,
    pages: Vec<(SpaceId, PageId, bool)>,
    next: usize,
}

impl Made {
    fn mark(&mut self, is_seen: bool) -> String {
        self.next += 1;
        // No marker is a prefix of another.
        let word = format!("mark{:04}q", self.next);
        self.marks.push(Mark { word: word.clone(), is_seen });
        word
    }
}

async fn make(w: &World, site: &SiteId, plan: &Plan, who: &Who) -> Made {
    let (p, me, of) = (&w.platform, &w.admin, (&w.org, site));
    let holds = |condition: usize| CONDITIONS[condition].1(who);
    let mut made = Made::default();
    for (condition, places) in &plan.sections {
        let mut section = None;
        for (inner, pages) in places {
            let is_seen = holds(*condition) && holds(*inner);
            let title = made.mark(is_seen);
            let space = space(w, &title).await;
            let add = json!({ "spaceId": space, "sectionId": section });
            let place = match &section {
                Some(_) => {
                    let add = serde_json::from_value(add).expect("a place");
                    p.as_actor(me).org(of.0).site(of.1).spaces().create(add).await.expect("added").id
                }
                None => {
                    let title = made.mark(holds(*condition) && places.iter().any(|(inner, _)| holds(*inner)));
                    let add = json!({ "spaceId": space, "title": title });
                    let new = p
                        .as_actor(me)
                        .org(of.0)
                        .site(of.1)
                        .sections()
                        .create(serde_json::from_value(add).expect("a section"))
                        .await;
                    let new = new.expect("added");
                    set_condition(w, of.1, &new.id, *condition).await;
                    made.sections.push(new.id.clone());
                    section = Some(new.id);
                    new.site_spaces[0].id.clone()
                }
            };
            if *inner != 0 {
                let change = json!({ "condition": CONDITIONS[*inner].0 });
                let change = serde_json::from_value(change).expect("a change");
                p.as_actor(me).org(of.0).site(of.1).space(&place).update(change).await.expect("changed");
            }
            fill(w, &space, pages, &mut made, who, is_seen).await;
            made.spaces.push((space, is_seen));
        }
    }
    made
}

async fn set_condition(w: &World, site: &SiteId, section: &SectionId, condition: usize) {
    if condition != 0 {
        let change =
            serde_json::from_value(json!({ "condition": CONDITIONS[condition].0 })).expect("a change");
        let done = w.as_admin().org(&w.org).site(site).section(section).update(change).await;
        done.expect("changed");
    }
}

/// Creates the pages of a space: titles, texts, conditional blocks and files, each with a marker.
async fn fill(w: &World, space: &SpaceId, pages: &[PagePlan], made: &mut Made, who: &Who, is_seen: bool) {
    let holds = |condition: usize| CONDITIONS[condition].1(who);
    let mut above: Option<(PageId, bool)> = None;
    for page in pages {
        let parent = above.clone().filter(|_| page.is_below);
        let seen = is_seen && holds(page.condition) && parent.as_ref().is_none_or(|(_, seen)| *seen);
        let (title, text) = (made.mark(seen), made.mark(seen));
        let block = made.mark(seen && holds(page.block));
        let open = match CONDITIONS[page.block].0 {
            "" => "true",
            condition => condition,
        };
        let uses = |plans: [FilePlan; 2]| if plans.contains(&page.file) { "[a file](/files/f)" } else { "" };
        let (within, outside) =
            (uses([FilePlan::Block, FilePlan::Both]), uses([FilePlan::Page, FilePlan::Both]));
        let block = format!("{{% if {open} %}}\n{block} is said to some. {within}\n{{% endif %}}");
        let block = match page.quoted {
            // A tag may continue on the next line, after the quote marker.
            true => format!("> {}", block.replacen("{% if", "{%\nif", 1).replace('\n', "\n> ")),
            false => block,
        };
        let markdown = format!("{text} is said.\n\n{block}\n\n{outside}\n");
        let mut changes = Vec::new();
        if page.file != FilePlan::None {
            let is_told = match page.file {
                FilePlan::Block => seen && holds(page.block),
                FilePlan::Page | FilePlan::Both => seen,
                FilePlan::Unused | FilePlan::None => false,
            };
            let name = made.mark(is_told);
            let file = json!({ "name": format!("{name}.txt"), "base64": "YQ==", "contentType": "text/plain", "ref": "f" });
            changes.push(json!({ "operation": "insert_files", "files": [file] }));
        }
        let mut insert =
            json!({ "operation": "insert_page", "title": title, "document": { "markdown": markdown } });
        if page.condition != 0 {
            insert["condition"] = CONDITIONS[page.condition].0.into();
        }
        if let Some((parent, _)) = &parent {
            insert["into"] = parent.as_str().into();
        }
        changes.push(insert);
        let created = edit(w, space, json!(changes)).await.expect("edited");
        made.pages.push((space.clone(), created[0].clone(), seen));
        above = Some((created[0].clone(), seen));
    }
}

fn json_of<T: serde::Serialize>(answers: &mut String, answer: &T) -> Value {
    let value = serde_json::to_value(answer).expect("JSON");
    answers.push_str(&value.to_string());
    value
}

/// Returns all responses that a visitor can get, including those for ids that they cannot know.
async fn crawl(w: &World, site: &SiteId, actor: &Actor, made: &Made) -> String {
    let (p, of, first) = (&w.platform, (&w.org, site), Default::default());
    let mut said = String::new();
    json_of(&mut said, &p.as_actor(actor).org(&w.org).site(site).get().await.expect("a site"));
    json_of(&mut said, &p.as_actor(actor).org(of.0).site(of.1).published().await.expect("a site"));
    json_of(&mut said, &p.as_actor(actor).org(of.0).site(of.1).structure().await.expect("a structure"));
    json_of(
        &mut said,
        &p.as_actor(actor).org(of.0).site(of.1).sections().list(&first).await.expect("sections").items,
    );
    json_of(
        &mut said,
        &p.as_actor(actor)
            .org(of.0)
            .site(of.1)
            .spaces()
            .list(Default::default(), &first)
            .await
            .expect("spaces")
            .items,
    );
    for (space, is_seen) in &made.spaces {
        let got = p.as_actor(actor).space(space).get().await;
        assert_eq!(got.is_ok(), *is_seen, "{got:?}");
        if let Ok(got) = got {
            json_of(&mut said, &got);
            crawl_space(w, &ContentVersion::revision(space.clone(), got.revision), actor, &mut said).await;
        }
        crawl_space(w, &ContentVersion::space(space.clone()), actor, &mut said).await;
    }
    for (space, page, is_seen) in &made.pages {
        let live = ContentVersion::space(space.clone());
        let links = p.as_actor(actor).content(&live).get_page_meta_links(page).await;
        assert_eq!(links.is_ok(), *is_seen, "{links:?}");
        links.iter().for_each(|links| drop(json_of(&mut said, links)));
        for format in [ContentFormat::Markdown, ContentFormat::Document] {
            for evaluated in [Evaluated::No, Evaluated::Yes, Evaluated::DeterministicOnly] {
                let got = p
                    .as_actor(actor)
                    .content(&live)
                    .get_page(page, ContentOptions { format, evaluated, ..ContentOptions::default() })
                    .await;
                assert_eq!(got.is_ok(), *is_seen, "{got:?}");
                got.iter().for_each(|page| drop(json_of(&mut said, page)));
                let document =
                    p.as_actor(actor).content(&live).get_page_document(page, evaluated.into()).await;
                assert_eq!(document.is_ok(), *is_seen, "{document:?}");
                document.iter().for_each(|document| drop(json_of(&mut said, document)));
            }
        }
    }
    for word in ["said", "some", "mark"] {
        let query = serde_json::from_value(json!({ "query": word })).expect("a query");
        let found = p.as_actor(actor).org(of.0).site(of.1).search(&query, &first).await.expect("found");
        json_of(&mut said, &found.items);
    }
    said
}

async fn crawl_space(w: &World, of: &ContentVersion, actor: &Actor, said: &mut String) {
    let (p, how) = (&w.platform, ContentOptions::default());
    let Ok(revision) = p.as_actor(actor).content(of).get(how).await else { return };
    json_of(said, &revision);
    let pages = p.as_actor(actor).content(of).list_pages(how).await.expect("pages");
    json_of(said, &pages);
    let files = p.as_actor(actor).content(of).list_files(how, &Default::default()).await.expect("files");
    assert_eq!((files.next, files.count), (None, None));
    assert_eq!(files.items, revision.files);
    let mut one = PageRequest { limit: Some(1), ..PageRequest::default() };
    for file in &revision.files {
        let page = p.as_actor(actor).content(of).list_files(how, &one).await.expect("a page");
        assert_eq!(page.items.as_slice(), std::slice::from_ref(file));
        one.page = page.next;
    }
    assert_eq!(one.page, None, "no page tells that there are files behind the last one seen");
    json_of(said, &files.items);
    // Editors see all files and reusable content blocks.
    let whole = w.as_admin().content(of).get(how).await.expect("a revision");
    let listed: BTreeSet<&FileId> = revision.files.iter().map(|file| &file.id).collect();
    for file in &whole.files {
        let got = p.as_actor(actor).content(of).get_file(&file.id, how).await;
        assert_eq!(got.is_ok(), listed.contains(&file.id));
        got.iter().for_each(|file| drop(json_of(said, file)));
    }
    let listed: BTreeSet<&ReusableId> = revision.reusable_contents.iter().map(|one| &one.id).collect();
    for one in &whole.reusable_contents {
        let got = p.as_actor(actor).content(of).get_reusable_content(&one.id, how).await;
        assert_eq!(got.is_ok(), listed.contains(&one.id));
    }
}

/// Returns the adaptive schema of the site.
fn claims_schema() -> Value {
    let named = |mut kind: Value| {
        kind["description"] = "What for".into();
        kind
    };
    json!({ "jsonSchema": { "type": "object", "additionalProperties": false, "properties": {
        "beta": named(json!({ "type": "boolean" })),
        "plan": named(json!({ "type": "string", "enum": ["free", "pro"] })),
        "name": named(json!({ "type": "string" })),
        "unsigned": { "type": "object", "description": "Unsigned claims of the site visitor.",
            "additionalProperties": false, "properties": { "eu": named(json!({ "type": "boolean" })) } },
    } } })
}

async fn holds(plan: Plan) {
    let (w, _) = world().await;
    let docs = site(&w, "Docs").await;
    let mine = w.as_admin().org(&w.org).site(&docs);
    let settings = json!({ "adaptiveContent": { "enabled": plan.adapts } });
    let settings = serde_json::from_value(settings).expect("settings");
    mine.update(settings).await.expect("changed");
    let schema = serde_json::from_value(claims_schema()).expect("a schema");
    mine.set_adaptive_schema(schema).await.expect("set");
    let visibility = [
        SiteVisibility::Public,
        SiteVisibility::Unlisted,
        SiteVisibility::ShareLink,
        SiteVisibility::VisitorAuth,
    ][plan.visibility];
    // Content that is not adaptive has no access to the claims of a visitor.
    let nobody = Who { is_known: false, beta: false, is_pro: false, eu: false };
    let known = if plan.adapts { plan.who } else { nobody };
    let made = make(&w, &docs, &plan, &known).await;
    show(&w, &docs, visibility).await;
    w.platform.settle().await.expect("settled");
    let mut url = address(&w, &docs).await;
    if visibility == SiteVisibility::ShareLink {
        let link = serde_json::from_value(json!({ "name": "Friends" })).expect("a link");
        url = mine.share_links().create(link).await.expect("a link").urls.published.expect("a key");
    }
    let signs = key(&w, &w.org, &docs).await;
    // Claims outside the schema are ignored, even if they are signed.
    let claims = json!({
        "beta": plan.who.beta, "plan": if plan.who.is_pro { "pro" } else { "free" }, "name": "Ada", "other": true,
        "unsigned": { "eu": !plan.who.eu },
    });
    let visitor = json!({
        "jwtToken": token(&signs, &claims),
        "unsignedClaims": { "eu": plan.who.eu, "beta": true, "other": true },
    });
    let any_place = made.spaces.iter().any(|(_, is_seen)| *is_seen);
    match enter(&w, &url, visitor).await {
        Err(error) => assert!(!any_place, "{error:?}"),
        Ok((content, actor)) => {
            assert!(any_place, "{content:?}");
            assert_eq!(content.context_id.is_some(), plan.adapts);
            let mut said = crawl(&w, &docs, &actor, &made).await;
            said.push_str(&serde_json::to_string(&content).expect("JSON"));
            for Mark { word, is_seen } in &made.marks {
                assert_eq!(said.contains(word.as_str()), *is_seen, "{word} of {plan:#?}");
            }
            let hidden = made.spaces.iter().filter(|(_, is_seen)| !is_seen);
            for (space, _) in hidden {
                assert!(!said.contains(space.as_str()), "the id of a hidden space");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 40, ..ProptestConfig::default() })]

    #[test]
    fn responses_contain_exactly_the_visible_content(plan in plan()) {
        block_on(holds(plan));
    }
}
