//! The claims and variables that conditions may use.

use docs_core::{
    Actor, ErrorKind,
    content::Evaluated,
    model::{ContentFormat, PageId, SiteId, SiteVisibility, SpaceId},
    platform::{ContentOptions, ContentVersion, Visitor},
};
use serde_json::{Value, json};

use super::{address, enter, key, place, show, site, token};
use crate::{
    search::{edit, space, world},
    support::{Refused, World},
};

/// Creates a public site with two claims of known values and two free claims.
pub(super) async fn adapted(w: &World) -> SiteId {
    let docs = site(w, "Docs").await;
    let claim = |mut kind: Value| {
        kind["description"] = "What for".into();
        kind
    };
    let schema = json!({ "jsonSchema": { "type": "object", "additionalProperties": false, "properties": {
        "beta": claim(json!({ "type": "boolean" })),
        "plan": claim(json!({ "type": "string", "enum": ["free", "pro"] })),
        "name": claim(json!({ "type": "string" })),
        "seats": claim(json!({ "type": "number" })),
    } } });
    let schema = serde_json::from_value(schema).expect("a schema");
    w.as_admin().org(&w.org).site(&docs).set_adaptive_schema(schema).await.expect("set");
    let adapts = serde_json::from_value(json!({ "adaptiveContent": { "enabled": true } })).expect("a change");
    w.as_admin().org(&w.org).site(&docs).update(adapts).await.expect("changed");
    docs
}

/// Returns a visitor with these claims.
pub(super) async fn visitor(w: &World, site: &SiteId, claims: &Value) -> Actor {
    let signs = key(w, &w.org, site).await;
    let claims = json!({ "jwtToken": token(&signs, claims) });
    enter(w, &address(w, site).await, claims).await.expect("open").1
}

/// Adds a section with a condition and a space with another condition.
async fn section(w: &World, site: &SiteId, title: &str, of_section: &str, of_place: &str) -> SpaceId {
    let (p, me, of) = (&w.platform, &w.admin, (&w.org, site));
    let space = space(w, &format!("{title}-space")).await;
    let new = json!({ "spaceId": space, "title": format!("{title}-section") });
    let new = p
        .as_actor(me)
        .org(of.0)
        .site(of.1)
        .sections()
        .create(serde_json::from_value(new).expect("a section"))
        .await
        .expect("added");
    let condition =
        |text: &str| json!({ "condition": text }).as_object().filter(|_| !text.is_empty()).cloned();
    if let Some(change) = condition(of_section) {
        let change = serde_json::from_value(change.into()).expect("a change");
        p.as_actor(me).org(of.0).site(of.1).section(&new.id).update(change).await.expect("changed");
    }
    if let Some(change) = condition(of_place) {
        let change = serde_json::from_value(change.into()).expect("a change");
        p.as_actor(me)
            .org(of.0)
            .site(of.1)
            .space(&new.site_spaces[0].id)
            .update(change)
            .await
            .expect("changed");
    }
    space
}

/// Returns everything that a reader can see of a site and a space, as one text.
async fn told(w: &World, reader: &Actor, (site, space): (&SiteId, &SpaceId), pages: &[PageId]) -> String {
    let (p, of, live) = (&w.platform, (&w.org, site), ContentVersion::space(space.clone()));
    let mut all = vec![
        serde_json::to_string(&p.as_actor(reader).org(of.0).site(of.1).published().await.expect("a site")),
        serde_json::to_string(
            &p.as_actor(reader).org(of.0).site(of.1).structure().await.expect("a structure"),
        ),
        serde_json::to_string(
            &p.as_actor(reader).content(&live).list_pages(ContentOptions::default()).await.expect("pages"),
        ),
    ];
    for page in pages {
        for format in [ContentFormat::Document, ContentFormat::Markdown] {
            for evaluated in [Evaluated::No, Evaluated::Yes, Evaluated::DeterministicOnly] {
                let shown = ContentOptions { format, evaluated, ..ContentOptions::default() };
                let got = p.as_actor(reader).content(&live).get_page(page, shown).await;
                all.extend(got.ok().map(|page| serde_json::to_string(&page)));
            }
        }
    }
    let query = serde_json::from_value(json!({ "query": "said" })).expect("a query");
    let found =
        p.as_actor(reader).org(of.0).site(of.1).search(&query, &Default::default()).await.expect("found");
    all.push(serde_json::to_string(&found.items));
    all.into_iter().map(|answer| answer.expect("JSON")).collect()
}

/// Conditions may only use claims with known values. Free names and numbers are for expressions in text. Any other
/// condition is false for every visitor.
#[tokio::test]
async fn condition_on_a_free_claim_hides_from_every_visitor() {
    let (w, _) = world().await;
    let docs = adapted(&w).await;
    let known = "visitor.claims.beta";
    let main = section(&w, &docs, "mark-main", "", "").await;
    for (title, of_section, of_place) in [
        ("mark-known-both", known, "visitor.claims.plan == 'pro'"),
        ("hide-section", "visitor.claims.name == 'Ada'", ""),
        ("hide-not", "visitor.claims.name != 'Bob'", known),
        ("hide-place", known, "visitor.claims.seats > 1"),
        ("hide-none", "!visitor.claims.undeclared", ""),
        ("hide-mixed", "visitor.claims.beta || visitor.claims.seats > 1", ""),
    ] {
        section(&w, &docs, title, of_section, of_place).await;
    }
    let block =
        |condition: &str, mark: &str| format!("{{% if {condition} %}}\n{mark} said.\n{{% endif %}}\n\n");
    let text = ["visitor.claims.plan == 'pro'", "visitor.claims.seats == 3", "'Ada' == visitor.claims.name"];
    let text = [block(text[0], "mark-block"), block(text[1], "hide-block"), block(text[2], "hide-block")];
    let insert = |title: &str, condition: &str| {
        json!({ "operation": "insert_page", "title": title, "condition": condition,
            "document": { "markdown": format!("Said.\n\n{}", text.concat()) } })
    };
    let pages = [
        insert("mark-page", known),
        insert("hide-page", "visitor.claims.seats > 1"),
        insert("hide-page", "visitor.claims.name"),
    ];
    let pages = edit(&w, &main, json!(pages)).await.expect("edited");
    let link = |title: &str, condition: &str| json!({ "title": title, "to": { "kind": "url", "url": "https://x.example/" }, "links": [], "condition": condition });
    let links = [link("mark-link", known), link("hide-link", "visitor.claims.name == 'Ada'")];
    let mut look = serde_json::to_value(docs_core::model::Customization::default()).expect("JSON");
    look["header"]["links"] = json!(links);
    let look = serde_json::from_value(look).expect("a look");
    w.as_admin().org(&w.org).site(&docs).set_customization(look).await.expect("set");
    show(&w, &docs, SiteVisibility::Public).await;
    w.platform.settle().await.expect("settled");

    let of = (&docs, &main);
    let claims = json!({ "beta": true, "plan": "pro", "name": "Ada", "seats": 3 });
    let said = told(&w, &visitor(&w, &docs, &claims).await, of, &pages).await;
    for mark in ["main-section", "known-both-section", "known-both-space", "page", "block", "link"] {
        assert!(said.contains(&format!("mark-{mark}")), "{mark} in {said}");
    }
    let at = said.find("hide-");
    assert_eq!(at.map(|at| &said[at..said.len().min(at + 40)]), None, "hidden from every visitor");

    let said = told(&w, &w.admin, of, &pages).await;
    for mark in ["section", "not", "place", "none", "mixed", "page", "block", "link"] {
        assert!(said.contains(&format!("hide-{mark}")), "members see all: {mark}");
    }
}

#[tokio::test]
async fn page_condition_uses_the_variables_of_its_page() {
    let (w, _) = world().await;
    let (docs, guide) = (adapted(&w).await, space(&w, "Guide").await);
    place(&w, &docs, &guide).await;
    let condition = "!page.vars.internal || visitor.claims.beta";
    let insert = |title: &str, internal: bool, into: Option<&PageId>| {
        let text = format!(
            "---\nvars:\n  internal: {internal}\n---\n\nSaid.\n\n{{% if {condition} %}}\nblock-{title}\n{{% endif %}}\n"
        );
        let mut page = json!({ "operation": "insert_page", "title": title, "condition": condition,
            "document": { "markdown": text } });
        if let Some(into) = into {
            page["into"] = into.as_str().into();
        }
        json!([page])
    };
    let mut pages: Vec<PageId> = Vec::new();
    let plan = [("outer-open", false, None), ("outer-own", true, None)];
    let below = [("under-open", false, 0), ("under-own", true, 0), ("lost-open", false, 1)];
    for (title, internal, into) in plan.into_iter().chain(below.map(|(t, i, into)| (t, i, Some(into)))) {
        let into = into.map(|at: usize| pages[at].clone());
        pages.extend(edit(&w, &guide, insert(title, internal, into.as_ref())).await.expect("edited"));
    }
    show(&w, &docs, SiteVisibility::Public).await;
    w.platform.settle().await.expect("settled");

    let (p, of, live) = (&w.platform, (&docs, &guide), ContentVersion::space(guide.clone()));
    let all = ["outer-open", "outer-own", "under-open", "under-own", "lost-open"];
    let open = ["outer-open", "under-open"];
    for (reader, seen) in [
        (Actor::Visitor(Visitor::anonymous()), &open[..]),
        (visitor(&w, &docs, &json!({ "beta": false })).await, &open[..]),
        (visitor(&w, &docs, &json!({ "beta": true })).await, &all[..]),
        (w.admin.clone(), &all[..]),
    ] {
        let said = told(&w, &reader, of, &pages).await;
        for (title, page) in all.iter().zip(&pages) {
            assert_eq!(said.contains(title), seen.contains(title), "{title} for {reader:?}");
            assert_eq!(said.contains(&format!("block-{title}")), seen.contains(title), "{title}");
            let got = p.as_actor(&reader).content(&live).get_page(page, ContentOptions::default()).await;
            match seen.contains(title) {
                true => drop(got.expect("seen")),
                false => drop(got.refused(ErrorKind::NotFound)),
            }
        }
    }
}
