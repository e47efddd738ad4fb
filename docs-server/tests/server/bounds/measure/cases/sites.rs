//! Sites at their limits: structure, settings, visitors, agents and previews.

use serde_json::{Value, json};

use super::{Case, Doing, PAGE, Prepared, insert, text};
use crate::{client::id, process::TOKEN};

pub(super) const CASES: &[(&str, Case)] = &[
    ("structure of a site", Case::Steps(structure, page_of_structure)),
    ("variants of a site", Case::Steps(variants, page_of_structure)),
    ("redirects and share links of a site", Case::Steps(redirects, redirected)),
    ("a customization", Case::Step(customization)),
    ("claims of visitors", Case::Steps(schema, claims)),
    ("tokens of visitors", Case::Step(tokens)),
    ("conditions of pages", Case::Steps(conditions, claims)),
    ("forms and messages", Case::Step(forms)),
    ("a page for an agent", Case::Steps(large_page, page_for_agent)),
    ("a page without content", Case::Steps(group, page_of_group)),
    ("a search of a site", Case::Steps(searched, search)),
    ("a preview", Case::Steps(changed, preview)),
];

async fn spaces(on: &Prepared, count: usize) -> Vec<String> {
    let mut spaces = Vec::new();
    for number in 0..count {
        let new = json!({ "title": format!("Space {number}") });
        spaces.push(id(&on.client.post(&format!("/orgs/{}/spaces", on.org), new).await));
    }
    spaces
}

/// A site with 100 sections in 50 nested groups and 299 spaces, and a page with links to 30 of the spaces.
fn structure(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        let site = on.site_path();
        let spaces = spaces(on, 299).await;
        let links: String = spaces.iter().take(30).map(|space| format!("[a](/spaces/{space})\n\n")).collect();
        on.edit(vec![insert(0, &links)]).await;
        let mut sections = Vec::new();
        for (number, space) in spaces.iter().take(99).enumerate() {
            let new = json!({ "spaceId": space, "title": format!("Section {number}") });
            sections.push(id(&on.client.post(&format!("{site}/sections"), new).await));
        }
        for (number, space) in spaces.iter().skip(99).enumerate() {
            let new = json!({ "spaceId": space, "sectionId": sections[number % 99] });
            on.call("POST", &format!("{site}/site-spaces"), new).await;
        }
        let mut parent = Value::Null;
        for (number, section) in sections.iter().take(50).enumerate() {
            let mut new = json!({ "title": format!("Group {number}"), "sections": [section] });
            if number % 5 > 0 {
                new["parent"] = parent;
            }
            parent = on.client.post(&format!("{site}/section-groups"), new).await["id"].clone();
        }
    })
}

/// A site with 300 spaces and no sections.
fn variants(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        on.edit(vec![insert(0, "Text.\n")]).await;
        for space in spaces(on, 299).await {
            on.call("POST", &format!("{}/site-spaces", on.site_path()), json!({ "spaceId": space })).await;
        }
    })
}

fn page_of_structure(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        on.call("GET", &format!("{}/structure", on.site_path()), Value::Null).await;
        on.call("GET", &format!("{}/published", on.site_path()), Value::Null).await;
        on.fetch(&on.site).await;
        on.fetch(&format!("{}no-such-page", on.site)).await;
    })
}

fn redirects(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        let site = on.site_path();
        let places = on.client.get(&format!("{site}/site-spaces")).await;
        let to = json!({ "kind": "site-space", "siteSpaceId": id(&places["items"][0]) });
        for number in 0..10_000 {
            let new = json!({ "source": format!("/old/{number}"), "destination": to });
            on.client.post(&format!("{site}/redirects"), new).await;
        }
        for number in 0..100 {
            on.client.post(&format!("{site}/share-links"), json!({ "name": format!("Link {number}") })).await;
        }
    })
}

fn redirected(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        let site = on.site_path();
        for list in ["redirects?limit=1000", "share-links?limit=1000"] {
            on.call("GET", &format!("{site}/{list}"), Value::Null).await;
        }
        on.fetch(&format!("{}old/9000", on.site)).await;
        on.fetch(&format!("{}no/such/page/{}", on.site, "a/".repeat(500))).await;
    })
}

fn customization(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        let path = format!("{}/customization", on.site_path());
        let mut look = on.client.get(&path).await;
        let to = json!({ "kind": "url", "url": format!("https://e.example/{}", "x".repeat(900)) });
        let link = json!({ "title": "Link", "to": to });
        let links: Vec<_> =
            (0..50).map(|at| json!({ "title": format!("Menu {at}"), "to": to, "links": [link] })).collect();
        look["header"]["links"] = links[..30].into();
        on.call("PUT", &path, look).await;
        on.edit(vec![insert(0, "Text.\n")]).await;
        on.fetch(&on.site).await;
    })
}

/// Sets a claims schema of the maximum size.
async fn set_schema(on: &Prepared) {
    let claim =
        |at: usize| (format!("claim{at}"), json!({ "type": "string", "description": "x".repeat(220) }));
    let claims: serde_json::Map<String, Value> = (0..195).map(claim).collect();
    let unsigned = json!({ "type": "object", "properties": { "plan": { "type": "string" } } });
    let mut claims = Value::Object(claims);
    claims["unsigned"] = unsigned;
    let schema = json!({ "type": "object", "additionalProperties": false, "properties": claims });
    on.call("PUT", &format!("{}/adaptive-schema", on.site_path()), json!({ "jsonSchema": schema })).await;
}

fn schema(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        on.edit(vec![insert(0, "Text.\n")]).await;
        set_schema(on).await;
    })
}

fn claims(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        for visitor in 0..20 {
            let plan = format!("{visitor}{}", "x".repeat(1_400));
            let claims = json!({ "unsigned": { "plan": plan }, "plan": plan }).to_string();
            let cookie = format!("gitbook-visitor-public={}", claims.replace('"', "%22").replace(',', "%2C"));
            on.read_as(on.site.trim_start_matches(&on.client.base), &cookie).await;
        }
    })
}

fn tokens(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        on.edit(vec![insert(0, "Text.\n")]).await;
        for bytes in [8_000, 16_000] {
            let token = format!("{}.{}.{}", "a".repeat(100), "b".repeat(bytes - 300), "c".repeat(100));
            on.fetch(&format!("{}?jwt_token={token}", on.site)).await;
        }
        let claims = json!({ "plan": "x".repeat(8_000) });
        let body = json!({ "url": on.site, "visitor": { "unsignedClaims": claims } });
        on.call("POST", "/urls/published", body).await;
    })
}

/// Gives 500 pages a condition that takes many evaluation steps.
fn conditions(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        set_schema(on).await;
        for part in 0..10 {
            let page = |at: usize| {
                let mut page = insert(part * 50 + at, "Text.\n");
                let text = format!("\"a\".repeat({})", 89_000 + part * 50 + at);
                page["condition"] = format!("{text}.includes(visitor.claims.unsigned.plan)").into();
                page
            };
            on.edit((0..50).map(page).collect()).await;
        }
    })
}

fn forms(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        let path = on.site.trim_start_matches(&on.client.base).to_owned();
        let form = format!("to=%2F{}", "a".repeat(32_000));
        let headers = "content-type: application/x-www-form-urlencoded";
        on.post(&format!("{path}~/sign-in"), headers, form.as_bytes()).await;
        on.agent("search", json!({ "query": "a ".repeat(15_000) })).await;
    })
}

fn large_page(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        on.edit(vec![insert(0, &text(PAGE))]).await;
    })
}

fn page_for_agent(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        on.agent("read_page", json!({ "page": "page-0" })).await;
        on.fetch(&format!("{}page-0.md", on.site)).await;
    })
}

fn group(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        let cards: String = (0..400).map(|at| format!("  * [Card](c{at}.md)\n")).collect();
        let card = format!("---\ndescription: {}\n---\n\n# Card\n", "x".repeat(200));
        let pages = [("SUMMARY.md", format!("* [Parent](p.md)\n{cards}")), ("p.md", "# Parent\n".to_owned())];
        let pages = pages.map(|(path, text)| (path.to_owned(), text.into_bytes()));
        let cards = (0..400).map(|at| (format!("c{at}.md"), card.clone().into_bytes()));
        let files: Vec<_> = pages.into_iter().chain(cards).collect();
        on.import("zip", super::ZIP, crate::hostile::archive(files)).await;
    })
}

fn page_of_group(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        on.fetch(&format!("{}p", on.site)).await;
    })
}

fn searched(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        for part in 0..4 {
            on.edit((0..50).map(|at| insert(part * 50 + at, &text(100_000))).collect()).await;
        }
    })
}

fn search(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        for query in ["words", "some text word wrods txet"] {
            on.fetch(&format!("{}~site/search?q={}", on.site, query.replace(' ', "+"))).await;
            on.fetch(&format!("{}~site/search.json?q={}", on.site, query.replace(' ', "+"))).await;
        }
    })
}

/// A change request with 500 changed pages of large text.
fn changed(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        let page = |at: usize| insert(at, &text(20_000));
        for part in 0..10 {
            on.edit((0..50).map(|at| page(part * 50 + at)).collect()).await;
        }
        let tree = on.client.get(&format!("/spaces/{}/content/pages", on.space)).await;
        let pages: Vec<String> = tree["pages"].as_array().expect("pages").iter().map(id).collect();
        let other = on.new_request().await;
        for part in pages.chunks(50) {
            let change = |page: &String| {
                let text = text(20_000).replace("words of", "terms in");
                json!({ "operation": "update_page", "page": page, "document": { "markdown": text } })
            };
            let changes = json!({ "changes": part.iter().map(change).collect::<Vec<_>>() });
            on.call("POST", &format!("{other}/content"), changes).await;
        }
        on.note(&on.client.get(&other).await["number"].to_string());
    })
}

fn preview(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        let number = on.noted();
        let path = on.site.trim_start_matches(&on.client.base);
        for page in ["", "page-0", "~compare"] {
            on.read_as(&format!("{path}~/changes/{number}/{page}"), &format!("docs-member={TOKEN}")).await;
        }
    })
}
