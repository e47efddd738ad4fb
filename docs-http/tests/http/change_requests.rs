//! Merge rules, descriptions, links and lists of change requests over HTTP.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    server::{Server, id},
    translations,
};

fn rules(rules: &[Value]) -> Value {
    json!({ "type": "rules", "rules": rules })
}

#[tokio::test]
async fn merge_rules_are_stored_returned_and_enforced() {
    let s = Server::new().await;
    let space = s.space().await;
    let (this, org) = (format!("/v1/spaces/{space}"), format!("/v1/orgs/{}", s.org));
    assert_eq!(s.get(&this).await["mergeRules"], json!({ "type": "inherit" }));
    assert_eq!(s.get(&org).await["mergeRules"], json!({ "type": "none" }));
    let subject = rules(&[json!({ "rule": "require_change_request_subject" })]);
    assert_eq!(s.patch(&org, json!({ "mergeRules": subject })).await["mergeRules"], subject);
    let request = s.request(&space).await;
    s.patch(&request, json!({ "subject": "" })).await;
    let before = s.stored().await;
    let answer = s.ask("POST", &format!("{request}/merge"), &s.admin, None).await;
    let message = answer.refused(409, "the rules of the organization").to_owned();
    assert_eq!(message, "mergeRules: the change request must have a subject");
    assert_eq!(before, s.stored().await, "nothing changed");
    let none = json!({ "type": "none" });
    assert_eq!(s.patch(&this, json!({ "mergeRules": none })).await["mergeRules"], none);
    s.post(&format!("{request}/merge"), 200, json!({})).await;
    let merged = s.get(&request).await;
    assert_eq!(merged["mergedBy"]["id"], s.get("/v1/user").await["id"]);
    assert!(merged["mergedAt"].is_string(), "{merged}");

    // Visitors do not see the rules, which name users.
    let own = rules(&[json!({ "rule": "allow_bypass", "users": [s.get("/v1/user").await["id"]] })]);
    s.patch(&this, json!({ "mergeRules": own })).await;
    let site = s.site("Docs", &[&space]).await;
    s.post(&format!("{site}/publish"), 200, json!({})).await;
    let seen = s.send("GET", &this, None, None).await.is(200, "a visitor");
    assert_eq!(seen["mergeRules"], json!({ "type": "inherit" }));
    assert_eq!(s.get(&this).await["mergeRules"], own);
}

#[tokio::test]
async fn invalid_merge_rules_are_rejected_by_field() {
    let s = Server::new().await;
    let this = format!("/v1/spaces/{}", s.space().await);
    let org = format!("/v1/orgs/{}", s.org);
    let rule = json!({ "rule": "require_at_least_one_review" });
    s.patch(&this, json!({ "mergeRules": rules(&vec![rule.clone(); 20]) })).await;
    let me = s.get("/v1/user").await["id"].clone();
    s.patch(
        &this,
        json!({ "mergeRules": rules(&[json!({ "rule": "allow_bypass", "users": vec![&me; 50] })]) }),
    )
    .await;
    for (sent, field) in [
        (json!(null), "mergeRules"),
        (json!({ "type": "strict" }), "mergeRules.type: must be"),
        (json!({ "type": "rules" }), "mergeRules.rules: is required"),
        (rules(&vec![rule; 21]), "mergeRules.rules: must have at most 20 items"),
        (rules(&[json!({ "rule": "require_agent_review" })]), "mergeRules.rules[0].rule: must be"),
        (rules(&[json!({ "rule": "allow_bypass" })]), "mergeRules.rules[0].users: is required"),
        (
            rules(&[json!({ "rule": "allow_bypass", "users": vec![&me; 51] })]),
            "mergeRules.rules[0].users: must have at most 50 items",
        ),
        (
            rules(&[json!({ "rule": "allow_bypass", "users": ["nobody"] })]),
            "mergeRules.rules[0].users[0]: must be a member",
        ),
        (rules(&[json!({ "rule": "custom", "expression": "1 +" })]), "mergeRules.rules[0].expression: "),
    ] {
        s.invalid("PATCH", &this, json!({ "mergeRules": sent.clone() }), field).await;
        s.invalid("PATCH", &org, json!({ "mergeRules": sent }), field).await;
    }
    s.invalid("PATCH", &org, json!({ "mergeRules": { "type": "inherit" } }), "mergeRules").await;
}

#[tokio::test]
async fn description_and_links_are_returned_as_sent() {
    let s = Server::new().await;
    let space = s.space().await;
    let request = s.request(&space).await;
    let shown = s.get(&request).await;
    assert_eq!((shown.get("description"), &shown["links"]), (None, &json!([])));
    let mut description = translations::instructions("Why?");
    description["nodes"][0]["key"] = json!("mine");
    let ticket = json!({ "ref": { "kind": "url", "url": "https://tickets.example/1" }, "title": "Ticket" });
    let changed = s.patch(&request, json!({ "description": description, "links": [ticket] })).await;
    assert_eq!(changed["description"], description);
    let link = changed["links"][0].clone();
    assert_eq!((&link["ref"], &link["title"]), (&ticket["ref"], &ticket["title"]));
    assert_eq!(s.get(&request).await, changed, "a second reader sees it");
    // A link with an id is changed; others are added or removed.
    let renamed = json!({ "id": link["id"], "ref": ticket["ref"] });
    let links = s.patch(&request, json!({ "links": [ticket, renamed] })).await["links"].clone();
    assert_eq!((&links[1]["id"], links[1].get("title")), (&link["id"], None));
    assert_ne!(links[0]["id"], links[1]["id"]);
    let url = ticket["ref"].clone();
    let many =
        |count: usize| json!({ "links": vec![json!({ "ref": url, "title": "t".repeat(128) }); count] });
    assert_eq!(s.patch(&request, many(10)).await["links"].as_array().map(Vec::len), Some(10));
    for (change, field) in [
        (many(11), "links"),
        (json!({ "links": null }), "links"),
        (json!({ "links": [{ "title": "t" }] }), "links[0].ref"),
        (json!({ "links": [{ "ref": { "kind": "page", "url": "https://x.example" } }] }), "links[0].ref"),
        (json!({ "links": [{ "ref": { "kind": "url", "url": "javascript:1" } }] }), "links[0].ref.url"),
        (json!({ "links": [{ "ref": url, "title": "t".repeat(129) }] }), "links[0].title"),
        (json!({ "links": [{ "ref": url, "id": "unknown" }] }), "links[0].id: must be the id of a link"),
        (json!({ "description": null }), "description"),
        (
            json!({ "description": translations::instructions(&"a".repeat(8_193)) }),
            "description: must be at most",
        ),
    ] {
        s.invalid("PATCH", &request, change, field).await;
    }
    let twice = s.get(&request).await["links"][0].clone();
    s.invalid("PATCH", &request, json!({ "links": [twice, twice] }), "links[1].id: must not occur twice")
        .await;
    let empty = json!({ "object": "document", "data": {}, "nodes": [] });
    let cleared = s.patch(&request, json!({ "description": empty, "links": [] })).await;
    assert_eq!((cleared.get("description"), &cleared["links"]), (None, &json!([])));
    s.check().await;
}

#[tokio::test]
async fn requesting_reviewers_sets_the_description() {
    let s = Server::new().await;
    let space = s.space().await;
    let request = s.request(&space).await;
    let (rita, token) = s.joining("Rita", Some(docs_core::model::Role::Review)).await;
    let description = translations::instructions("Read this.");
    let body = json!({ "users": [rita], "subject": "New", "description": description });
    s.post(&format!("{request}/requested-reviewers"), 200, body).await;
    let shown = s.get(&request).await;
    assert_eq!((&shown["subject"], &shown["description"]), (&json!("New"), &description));
    // Editors may request reviews, but not change the description of another user's request.
    let (_, eve) = s.joining("Edna", Some(docs_core::model::Role::Edit)).await;
    let body = json!({ "users": [rita], "description": translations::instructions("Other.") });
    let path = format!("{request}/requested-reviewers");
    s.ask("POST", &path, &eve, Some(body)).await.refused(403, "the description of another user");
    s.ask("POST", &path, &eve, Some(json!({ "users": [rita], "description": description })))
        .await
        .is(200, "the same description");
    let reviews = format!("{request}/reviews");
    let review = s.ask("POST", &reviews, &token, Some(json!({ "status": "approved" }))).await;
    let review = review.is(201, "reviewed");
    let path = format!("{request}/reviews/{}", id(&review));
    assert_eq!(s.get(&path).await, review);
    let other = s.request(&space).await;
    for path in [format!("{request}/reviews/unknown"), format!("{other}/reviews/{}", id(&review))] {
        s.ask("GET", &path, &s.admin, None).await.refused(404, &path);
    }
}

#[tokio::test]
async fn lists_of_change_requests_take_the_filters_of_new_clients() {
    let s = Server::new().await;
    let space = s.space().await;
    let (first, second) = (s.request(&space).await, s.request(&space).await);
    let (rita, _) = s.joining("Rita", Some(docs_core::model::Role::Review)).await;
    s.post(&format!("{first}/requested-reviewers"), 200, json!({ "users": [rita] })).await;
    let list = format!("/v1/spaces/{space}/change-requests");
    let ids = async |query: &str| {
        let items = s.get(&format!("{list}?{query}")).await["items"].clone();
        items.as_array().expect("items").iter().map(id).collect::<Vec<_>>()
    };
    let last = |path: &str| path.rsplit('/').next().expect("an id").to_owned();
    let (first, second) = (last(&first), last(&second));
    assert_eq!(ids("orderBy=createdAt").await, [second.clone(), first.clone()]);
    assert_eq!(ids(&format!("requestedReviewer={rita}")).await, [first]);
    assert_eq!(ids(&format!("requestedReviewer={rita}&status=draft")).await, [""; 0]);
    assert_eq!(ids("requestedReviewer=nobody").await, [""; 0]);
    assert_eq!(ids("topic=unknown").await, [""; 0]);
}

#[tokio::test]
async fn change_requests_are_listed_by_their_last_change() {
    let s = Server::new().await;
    let space = s.space().await;
    let list = format!("/v1/spaces/{space}/change-requests");
    let mut requests = Vec::new();
    for _ in 0..3 {
        s.clock.advance(Duration::from_secs(1));
        let request = s.request(&space).await;
        requests.push(request.rsplit('/').next().expect("an id").to_owned());
    }
    let [first, second, third] = requests.try_into().expect("three");
    let ids = async |query: &str| {
        let answer = s.get(&format!("{list}?orderBy=updatedAt{query}")).await;
        let items = answer["items"].as_array().expect("items").iter().map(id).collect::<Vec<_>>();
        (items, answer["next"]["page"].as_str().map(str::to_owned))
    };
    assert_eq!(ids("").await.0, [third.clone(), second.clone(), first.clone()]);
    s.clock.advance(Duration::from_secs(1));
    s.patch(&format!("{list}/{first}"), json!({ "status": "open" })).await;
    s.clock.advance(Duration::from_secs(1));
    let edit = json!({ "changes": [{ "operation": "insert_page", "title": "Page", "document": {} }] });
    s.post(&format!("{list}/{second}/content"), 200, edit).await;
    let all = [second.clone(), first.clone(), third.clone()];
    assert_eq!(ids("").await, (all.to_vec(), None));
    assert_eq!(ids("&status=draft").await.0, [second.clone(), third.clone()]);
    let author = id(&s.get("/v1/user").await);
    assert_eq!(ids(&format!("&contributor={author}&creator={author}")).await.0, all);
    // The list continues where the previous page ends, and its cursor is of this order only.
    let (page, next) = ids("&limit=2").await;
    assert_eq!(page, all[..2]);
    let next = next.expect("a cursor");
    assert_eq!(ids(&format!("&limit=2&page={next}")).await, (vec![third], None));
    s.ask("GET", &format!("{list}?limit=2&page={next}"), &s.admin, None).await.refused(400, "another order");
    assert_eq!(s.get(&format!("{list}?orderBy=updatedAt&status=draft")).await["count"], 2);
    s.check().await;
}

#[tokio::test]
async fn spaces_have_a_language_and_reject_templates_and_sources() {
    let s = Server::new().await;
    let spaces = format!("/v1/orgs/{}/spaces", s.org);
    let space = s.post(&spaces, 201, json!({ "language": "de", "empty": true })).await.body;
    assert_eq!(space["language"], "de");
    let path = format!("/v1/spaces/{}", id(&space));
    assert_eq!(s.patch(&path, json!({ "language": "fr" })).await["language"], "fr");
    assert_eq!(s.get(&path).await["language"], "fr");
    for (body, field) in [
        (json!({ "language": "tlh" }), "language"),
        (json!({ "computedSource": { "type": "builtin:openapi" } }), "computedSource: is not supported; "),
    ] {
        s.invalid("POST", &spaces, body, field).await;
    }
    s.post(&spaces, 201, json!({ "template": null, "computedSource": null })).await;
    s.invalid("PATCH", &path, json!({ "language": null }), "language").await;
    let requests = format!("{path}/change-requests");
    let template = json!({ "template": { "id": "handbook" } });
    s.invalid("POST", &requests, template, "template: is not supported; create the change request").await;
    let request = s.post(&requests, 201, json!({ "template": null })).await.body;
    let apply = json!({ "id": "handbook", "changeRequestId": id(&request) });
    s.post(&format!("{path}/content/template"), 201, apply).await;
    let pages = |body: Value| body["pages"].as_array().map(Vec::len).unwrap_or_default();
    assert_ne!(pages(s.get(&format!("{requests}/{}/content/pages", id(&request))).await), 0);
    assert_eq!(pages(s.get(&format!("{path}/content/pages")).await), 0, "live content is unchanged");
}

#[tokio::test]
async fn lists_end_at_a_bounded_size_of_descriptions() {
    let s = Server::new().await;
    let space = s.space().await;
    let mut long = translations::instructions("");
    let paragraph = long["nodes"][0].clone();
    long["nodes"] = vec![paragraph; 900].into();
    for _ in 0..10 {
        let request = s.request(&space).await;
        s.patch(&request, json!({ "description": long })).await;
    }
    let list = format!("/v1/spaces/{space}/change-requests");
    let page = s.get(&list).await;
    let first = page["items"].as_array().map(Vec::len).expect("items");
    let size = serde_json::to_string(&s.get(&list).await["items"][0]["description"]).expect("JSON").len();
    assert_eq!(first, (1 << 20) / size, "a response has at most 1 MiB of descriptions");
    let rest = s.get(&format!("{list}?page={}", page["next"]["page"].as_str().expect("a cursor"))).await;
    assert_eq!((rest["items"].as_array().map(Vec::len), rest.get("next")), (Some(10 - first), None));
}

#[tokio::test]
async fn change_requests_of_spaces_are_merged_by_last_change() {
    let s = Server::new().await;
    let list = format!("/v1/orgs/{}/change-requests?status=draft&status=open", s.org);
    let mut spaces = Vec::new();
    for _ in 0..3 {
        spaces.push(s.space().await);
    }
    spaces.sort();
    let mut requests = Vec::new();
    // The requests of the third round of each space have the same time.
    for round in 0..3 {
        for space in &spaces {
            s.clock.advance(Duration::from_secs(u64::from(round < 2)));
            requests.push(s.request(space).await);
        }
    }
    s.clock.advance(Duration::from_secs(1));
    s.patch(&requests[1], json!({ "status": "open" })).await;
    let ids = async |token: &str, query: &str| {
        let (mut seen, mut page) = (Vec::new(), String::new());
        loop {
            let path = format!("{list}&orderBy=updatedAt{query}{page}");
            let answer = s.ask("GET", &path, token, None).await.is(200, query);
            seen.extend(answer["items"].as_array().expect("items").iter().map(id));
            let Some(next) = answer["next"]["page"].as_str() else { break };
            page = format!("&page={next}");
        }
        seen
    };
    let named = |numbers: &[usize]| -> Vec<_> {
        numbers.iter().map(|at| requests[*at].rsplit('/').next().expect("an id").to_owned()).collect()
    };
    let all = [1, 6, 7, 8, 5, 4, 3, 2, 0];
    for limit in 1..=10 {
        assert_eq!(ids(&s.admin, &format!("&limit={limit}")).await, named(&all), "{limit} per page");
    }
    let of = |space: usize| all.iter().copied().filter(|at| at % 3 == space).collect::<Vec<_>>();
    assert_eq!(ids(&s.admin, &format!("&limit=2&space={}", spaces[1])).await, named(&of(1)));
    s.patch(&format!("/v1/spaces/{}", spaces[2]), json!({ "defaultLevel": null })).await;
    let visible: Vec<usize> = all.into_iter().filter(|at| at % 3 != 2).collect();
    assert_eq!(ids(&s.reader, "&limit=2").await, named(&visible), "not those of a closed space");
    assert_eq!(ids(&s.reader, &format!("&space={}", spaces[2])).await, [""; 0]);
    let site = s.site("Docs", &[&spaces[0], &spaces[1]]).await;
    let site = site.rsplit('/').next().expect("an id");
    assert_eq!(ids(&s.admin, &format!("&limit=3&site={site}")).await, named(&visible));
    s.ask("DELETE", &format!("/v1/spaces/{}", spaces[0]), &s.admin, None).await.is(204, "deleted");
    assert_eq!(ids(&s.admin, &format!("&site={site}")).await, named(&of(1)), "not those of a deleted space");
    let cursor = s.get(&format!("{list}&limit=1&orderBy=updatedAt")).await["next"]["page"].clone();
    let path = format!("{list}&limit=1&page={}", cursor.as_str().expect("a cursor"));
    s.ask("GET", &path, &s.admin, None).await.refused(400, "a cursor of another order");
    s.check().await;
}

#[tokio::test]
async fn change_requests_of_an_organization_are_listed_by_space() {
    let s = Server::new().await;
    let list = format!("/v1/orgs/{}/change-requests", s.org);
    let mut spaces = Vec::new();
    for _ in 0..3 {
        spaces.push(s.space().await);
        s.clock.advance(std::time::Duration::from_secs(1));
    }
    let [one, other, closed]: [String; 3] = spaces.try_into().unwrap_or_else(|_| unreachable!());
    s.patch(&format!("/v1/spaces/{closed}"), json!({ "defaultLevel": null })).await;
    let mut requests = Vec::new();
    for space in [&one, &one, &other, &closed] {
        requests.push(s.request(space).await.rsplit('/').next().expect("an id").to_owned());
        s.clock.advance(std::time::Duration::from_secs(1));
    }
    let open = json!({ "status": "open" });
    s.patch(&format!("/v1/spaces/{one}/change-requests/{}", requests[0]), open.clone()).await;
    s.patch(&format!("/v1/spaces/{other}/change-requests/{}", requests[2]), open).await;
    let ids = async |token: &str, query: &str| {
        let items =
            s.ask("GET", &format!("{list}?{query}"), token, None).await.is(200, query)["items"].clone();
        items.as_array().expect("items").iter().map(id).collect::<Vec<_>>()
    };
    let named = |numbers: &[usize]| numbers.iter().map(|at| requests[*at].clone()).collect::<Vec<_>>();
    let all = "status=draft&status=open";
    assert_eq!(ids(&s.admin, "").await, named(&[0, 2]), "open ones by default");
    assert_eq!(ids(&s.admin, all).await, named(&[1, 0, 2, 3]));
    assert_eq!(ids(&s.reader, all).await, named(&[1, 0, 2]), "not those of a closed space");
    assert_eq!(ids(&s.admin, "status=archived").await, named(&[]));
    assert_eq!(ids(&s.admin, &format!("{all}&space={one}")).await, named(&[1, 0]));
    assert_eq!(ids(&s.reader, &format!("{all}&space={closed}")).await, named(&[]));
    let site = s.site("Docs", &[&other]).await;
    let site = site.rsplit('/').next().expect("an id");
    assert_eq!(ids(&s.admin, &format!("{all}&site={site}")).await, named(&[2]));
    assert_eq!(ids(&s.admin, &format!("{all}&site={site}&space={one}")).await, named(&[]));
    let me = id(&s.get("/v1/user").await);
    assert_eq!(ids(&s.admin, &format!("{all}&creator={me}&contributor={me}")).await, named(&[1, 0, 2, 3]));
    let (rita, _) = s.joining("Rita", Some(docs_core::model::Role::Review)).await;
    let ask = format!("/v1/spaces/{one}/change-requests/{}/requested-reviewers", requests[1]);
    s.post(&ask, 200, json!({ "users": [rita] })).await;
    assert_eq!(ids(&s.admin, &format!("{all}&requestedReviewer={rita}")).await, named(&[1]));
    for nothing in ["creator=nobody", "contributor=!", "site=unknown", "space=!", "topic=unknown"] {
        assert_eq!(ids(&s.admin, &format!("{all}&{nothing}")).await, named(&[]), "{nothing}");
    }
    let (mut seen, mut query) = (Vec::new(), format!("{all}&limit=1"));
    loop {
        let page = s.get(&format!("{list}?{query}")).await;
        seen.extend(page["items"].as_array().expect("items").iter().map(id));
        let Some(next) = page["next"]["page"].as_str() else { break };
        query = format!("{all}&limit=1&page={next}");
    }
    assert_eq!(seen, named(&[1, 0, 2, 3]));
    let cursor = s.get(&format!("{list}?{all}&limit=1")).await["next"]["page"].clone();
    let wrong = format!("{list}?limit=1&page={}", cursor.as_str().expect("a cursor"));
    s.ask("GET", &wrong, &s.admin, None).await.refused(400, "a cursor of another list");
    s.ask("GET", &list, &s.outsider, None).await.refused(404, "no member");
}
