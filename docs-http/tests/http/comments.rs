//! Comments, replies and reviews: permissions, rejected requests and lists.

use std::time::Duration;

use docs_core::model::Role;
use serde_json::{Value, json};

use crate::server::{Server, id};

fn said(text: &str) -> Value {
    json!({ "body": { "markdown": text } })
}

async fn me(s: &Server, token: &str) -> String {
    id(&s.ask("GET", "/v1/user", token, None).await.is(200, "user"))
}

/// Creates a space with a page and an open change request. Returns the space, the path of the change request, and the
/// page.
async fn work(s: &Server) -> (String, String, String) {
    let space = s.space().await;
    let first = s.request(&space).await;
    let change = json!({ "operation": "insert_page", "document": { "markdown": "# Guide" } });
    s.post(&format!("{first}/content"), 200, json!({ "changes": [change] })).await;
    s.post(&format!("{first}/merge"), 200, json!({})).await;
    let page = id(&s.get(&format!("/v1/spaces/{space}/content/pages")).await["pages"][0]);
    let request = s.request(&space).await;
    (space, request, page)
}

/// An operation on a comment or reply.
struct Act {
    name: &'static str,
    method: &'static str,
    path: String,
    body: Option<Value>,
    /// The minimum role.
    least: Role,
}

/// Returns the roles that content can grant to all members of its organization.
fn roles() -> impl Iterator<Item = Role> {
    Role::ALL.iter().copied().filter(|role| *role != Role::Admin)
}

/// Creates a comment and a reply with a token.
async fn thread(s: &Server, comments: &str, token: &str) -> (String, String) {
    let comment = id(&s.ask("POST", comments, token, Some(said("Why?"))).await.is(200, "a comment"));
    let comment = format!("{comments}/{comment}");
    let replies = format!("{comment}/replies");
    let reply = id(&s.ask("POST", &replies, token, Some(said("So."))).await.is(200, "a reply"));
    (comment, format!("{replies}/{reply}"))
}

#[tokio::test]
async fn repliers_are_the_authors_of_the_latest_replies() {
    let s = Server::new().await;
    let comments = format!("/v1/spaces/{}/comments", s.space().await);
    let comment = id(&s.post(&comments, 200, said("Why?")).await.body);
    let comment = format!("{comments}/{comment}");
    assert_eq!(s.get(&comment).await["repliers"], json!([]));
    let mut latest = Vec::new();
    for token in [&s.editor, &s.admin, &s.editor] {
        s.clock.advance(std::time::Duration::from_secs(1));
        let reply = s.ask("POST", &format!("{comment}/replies"), token, Some(said("So."))).await;
        latest.push(reply.is(200, "a reply"));
    }
    let shown = s.get(&comment).await;
    let repliers = shown["repliers"].as_array().expect("a list");
    let found: Vec<_> =
        repliers.iter().map(|it| (&it["user"]["id"], &it["count"], &it["updatedAt"])).collect();
    let of = |at: usize| &latest[at];
    let expected = [(2, 2), (1, 1)].map(|(at, count)| (of(at), json!(count)));
    let expected: Vec<_> =
        expected.iter().map(|(of, count)| (&of["postedBy"]["id"], count, &of["postedAt"])).collect();
    assert_eq!(found, expected);
    s.ask("DELETE", &format!("{comment}/replies/{}", id(&latest[1])), &s.admin, None).await.is(204, "gone");
    assert_eq!(s.get(&comment).await["repliers"].as_array().map(Vec::len), Some(1));
    for _ in 0..20 {
        s.clock.advance(std::time::Duration::from_secs(1));
        s.post(&format!("{comment}/replies"), 200, said("More.")).await;
    }
    let shown = s.get(&comment).await;
    assert_eq!((&shown["replies"], shown["repliers"].as_array().map(Vec::len)), (&json!(22), Some(1)));
    assert_eq!(shown["repliers"][0]["count"], 20, "only the latest twenty replies");
}

async fn acts(s: &Server, base: &str, request: &str) -> Vec<Act> {
    let comments = format!("{base}/comments");
    let (own, own_reply) = thread(s, &comments, &s.editor).await;
    let (other, other_reply) = thread(s, &comments, &s.admin).await;
    let act = |name, (method, path): (&'static str, &str), body: Value, least| Act {
        name,
        method,
        path: path.to_owned(),
        body: (!body.is_null()).then_some(body),
        least,
    };
    let react = || json!({ "addedReactions": ["👍"] });
    let users = json!({ "users": [me(s, &s.both).await] });
    let asked = format!("{request}/requested-reviewers");
    vec![
        act("list", ("GET", &comments), Value::Null, Role::Read),
        act("get", ("GET", &other), Value::Null, Role::Read),
        act("get a reply", ("GET", &other_reply), Value::Null, Role::Read),
        act("post", ("POST", &comments), said("More."), Role::Comment),
        act("reply", ("POST", &format!("{other}/replies")), said("More."), Role::Comment),
        act("react", ("PUT", &other), react(), Role::Comment),
        act("react to a reply", ("PUT", &other_reply), react(), Role::Comment),
        act("change nothing", ("PUT", &other), json!({}), Role::Comment),
        act("change its own", ("PUT", &own), said("Better."), Role::Comment),
        act("change its own reply", ("PUT", &own_reply), said("Better."), Role::Comment),
        act("change another", ("PUT", &other), said("Better."), Role::Create),
        act("change another reply", ("PUT", &other_reply), said("Better."), Role::Create),
        act("resolve its own", ("PUT", &own), json!({ "resolved": true }), Role::Comment),
        act("resolve another", ("PUT", &other), json!({ "resolved": true }), Role::Edit),
        act("reopen another", ("PUT", &other), json!({ "resolved": false }), Role::Edit),
        act("ask for a review", ("POST", &asked), users, Role::Edit),
        act("take it back", ("DELETE", &format!("{asked}/nobody")), Value::Null, Role::Edit),
        act("review", ("POST", &format!("{request}/reviews")), json!({ "status": "approved" }), Role::Review),
        act("delete another reply", ("DELETE", &other_reply), Value::Null, Role::Create),
        act("delete another", ("DELETE", &other), Value::Null, Role::Create),
        act("delete its own reply", ("DELETE", &own_reply), Value::Null, Role::Comment),
        act("delete its own", ("DELETE", &own), Value::Null, Role::Comment),
    ]
}

#[tokio::test]
async fn comment_operations_require_the_role_of_the_table() {
    let s = Server::new().await;
    let (space, request, _) = work(&s).await;
    let this = format!("/v1/spaces/{space}");
    for base in [this.clone(), request.clone()] {
        for role in roles() {
            s.patch(&this, json!({ "defaultLevel": "comment" })).await;
            let acts = acts(&s, &base, &request).await;
            s.patch(&this, json!({ "defaultLevel": role })).await;
            for act in acts {
                let what = format!("{role}: {} in {base}", act.name);
                let before = s.stored().await;
                let answer = s.ask(act.method, &act.path, &s.editor, act.body).await;
                if role.includes(act.least) {
                    assert!(answer.status < 300, "{what}: {answer:?}");
                } else {
                    assert!(answer.refused(403, &what).contains("the role `"), "{what}: {answer:?}");
                    assert_eq!(before, s.stored().await, "{what}: nothing changed");
                }
            }
        }
    }
    s.check().await;
}

#[tokio::test]
async fn comment_permission_flags_match_the_role() {
    let s = Server::new().await;
    let (space, _, _) = work(&s).await;
    let this = format!("/v1/spaces/{space}");
    let comments = format!("{this}/comments");
    let (own, own_reply) = thread(&s, &comments, &s.editor).await;
    let (other, other_reply) = thread(&s, &comments, &s.admin).await;
    for role in roles() {
        s.patch(&this, json!({ "defaultLevel": role })).await;
        for (path, own) in [(&own, true), (&own_reply, true), (&other, false), (&other_reply, false)] {
            let shown = s.ask("GET", path, &s.editor, None).await.is(200, path);
            let change = role.includes(if own { Role::Comment } else { Role::Create });
            let said = role.includes(Role::Comment);
            let may = json!({ "view": true, "edit": change, "reply": said, "react": said, "delete": change });
            assert_eq!(shown["permissions"], may, "{role}: {path}");
        }
    }
}

/// Returns invalid bodies of comments and replies, each with the prefix of its error message.
fn wrong_bodies() -> [(Value, &'static str); 7] {
    let document = json!({ "object": "document", "data": {}, "nodes": [] });
    [
        (json!({}), "body: is required"),
        (json!({ "body": {} }), "body: must have"),
        (json!({ "body": null }), "body"),
        (json!({ "body": { "markdown": "" } }), "body.markdown: must not be empty"),
        (json!({ "body": { "markdown": " \n" } }), "body.markdown: must not be empty"),
        (json!({ "body": { "markdown": null } }), "body.markdown: "),
        (json!({ "body": { "markdown": "a", "document": document } }), "body: must have"),
    ]
}

/// Returns invalid comment targets, each with the prefix of its error message.
fn wrong_targets(page: &str) -> [(Value, &'static str); 6] {
    [
        (json!({ "page": "unknown" }), "page: the content has no such page"),
        (json!({ "page": "not an id" }), "page: the content has no such page"),
        (json!({ "page": null }), "page: "),
        (json!({ "page": page, "node": "" }), "node: must be at least 1"),
        (json!({ "page": page, "node": "k".repeat(129) }), "node: must be at most 128"),
        (json!({ "page": page, "node": "key" }), "node: the page has no such block"),
    ]
}

#[tokio::test]
async fn invalid_comment_input_is_rejected_by_field() {
    let s = Server::new().await;
    let (space, request, page) = work(&s).await;
    let many: Vec<String> = (0..51).map(|n| char::from_u32(0x1f600 + n).expect("an emoji").into()).collect();
    for base in [format!("/v1/spaces/{space}"), request.clone()] {
        let comments = format!("{base}/comments");
        let (comment, reply) = thread(&s, &comments, &s.admin).await;
        for (wrong, field) in wrong_bodies() {
            for (method, path) in [("POST", &comments), ("POST", &format!("{comment}/replies"))] {
                s.invalid(method, path, wrong.clone(), field).await;
            }
            if wrong.get("body").is_some() {
                s.invalid("PUT", &comment, wrong.clone(), field).await;
                s.invalid("PUT", &reply, wrong, field).await;
            }
        }
        for (wrong, field) in wrong_targets(&page) {
            let mut new = said("Why?");
            new.as_object_mut().expect("an object").extend(wrong.as_object().expect("an object").clone());
            s.invalid("POST", &comments, new, field).await;
        }
        for field in ["addedReactions", "removedReactions"] {
            for path in [&comment, &reply] {
                for wrong in ["ok", ":+1:", "👍👍", "👍 ", "1", "0061"] {
                    let told = format!("{field}[1]: must be one emoji");
                    s.invalid("PUT", path, json!({ field: ["👍", wrong] }), &told).await;
                }
                s.invalid("PUT", path, json!({ field: many }), &format!("{field}: must be at most 50")).await;
                s.invalid("PUT", path, json!({ field: null }), field).await;
                s.invalid("PUT", path, json!({ field: "👍" }), field).await;
            }
        }
        for wrong in [json!(null), json!("yes"), json!(1)] {
            s.invalid("PUT", &comment, json!({ "resolved": wrong }), "resolved: ").await;
        }
        for (query, field) in [
            ("status=closed", "status: "),
            ("order=up", "order: "),
            ("format=html", "format: "),
            ("targetPage=not%20an%20id&limit=1001", "limit: "),
            ("targetPage=a&targetPage=b", "targetPage: "),
            ("authors=a&page=x", "page: "),
        ] {
            let path = format!("{comments}?{query}");
            let answer = s.ask("GET", &path, &s.admin, None).await;
            assert!(answer.refused(400, &path).starts_with(field), "{path}: {answer:?}");
        }
    }
}

#[tokio::test]
async fn comments_of_requests_and_spaces_are_separate() {
    let s = Server::new().await;
    let (space, request, _) = work(&s).await;
    let (here, there) = (format!("/v1/spaces/{space}"), request.clone());
    let number = format!("{here}/change-requests/{}", s.get(&request).await["number"]);
    let (comment, reply) = thread(&s, &format!("{there}/comments"), &s.admin).await;
    let shown = s.get(&comment).await;
    assert_eq!(shown["urls"]["location"], format!("https://docs.example{comment}"));
    assert_eq!(s.get(&reply).await["urls"]["location"], format!("https://docs.example{reply}"));
    assert_eq!(s.get(&comment.replace(&there, &number)).await, shown, "by the number of the request, too");
    let other = s.request(&space).await;
    let (own, _) = thread(&s, &format!("{here}/comments"), &s.admin).await;
    for path in [comment.replace(&there, &here), reply.replace(&there, &here), own.replace(&here, &there)]
        .into_iter()
        .chain([comment.replace(&there, &other), reply.replace(&there, &other)])
    {
        let before = s.stored().await;
        s.ask("GET", &path, &s.admin, None).await.refused(404, &path);
        s.ask("PUT", &path, &s.admin, Some(said("New."))).await.refused(404, &path);
        s.ask("DELETE", &path, &s.admin, None).await.is(204, &path);
        assert_eq!(before, s.stored().await, "{path}");
    }
    for (base, count) in [(&here, 1), (&there, 1), (&other, 0)] {
        assert_eq!(s.get(base).await["comments"], count, "{base}");
        assert_eq!(s.get(&format!("{base}/comments")).await["count"], count, "{base}");
        assert_eq!(s.get(&format!("{base}/commenters")).await["items"].as_array().map(Vec::len), Some(count));
    }
}

/// The filters are status, page and authors.
#[tokio::test]
async fn comments_are_filtered_and_ordered_by_time() {
    let s = Server::new().await;
    let (space, request, page) = work(&s).await;
    s.patch(&format!("/v1/spaces/{space}"), json!({ "defaultLevel": "comment" })).await;
    let (ada, eve) = (me(&s, &s.admin).await, me(&s, &s.editor).await);
    for base in [format!("/v1/spaces/{space}"), request] {
        let comments = format!("{base}/comments");
        let post = async |token: &str, page: Option<&str>| {
            s.clock.advance(Duration::from_millis(1));
            let mut new = said("Why?");
            if let Some(page) = page {
                new["page"] = page.into();
            }
            id(&s.ask("POST", &comments, token, Some(new)).await.is(200, "a comment"))
        };
        let a = post(&s.admin, None).await;
        let b = post(&s.editor, Some(&page)).await;
        let c = post(&s.admin, Some(&page)).await;
        let d = post(&s.editor, None).await;
        for settled in [&a, &b] {
            let path = format!("{comments}/{settled}");
            s.put(&path, json!({ "resolved": true })).await;
        }
        for (filter, expected, count) in [
            (String::new(), vec![&d, &c, &b, &a], Some(4)),
            ("status=all&order=desc".to_owned(), vec![&d, &c, &b, &a], Some(4)),
            ("order=asc".to_owned(), vec![&a, &b, &c, &d], Some(4)),
            ("status=open".to_owned(), vec![&d, &c], Some(2)),
            ("status=resolved&order=asc".to_owned(), vec![&a, &b], Some(2)),
            (format!("targetPage={page}"), vec![&c, &b], None),
            (format!("targetPage={page}&status=open"), vec![&c], None),
            (format!("targetPage={page}&status=resolved"), vec![&b], None),
            ("targetPage=unknown".to_owned(), vec![], None),
            ("targetPage=not%20an%20id".to_owned(), vec![], None),
            (format!("authors={eve}"), vec![&d, &b], None),
            (format!("authors={eve}&authors={ada}&status=open"), vec![&d, &c], None),
            (format!("authors={eve}&targetPage={page}"), vec![&b], None),
            ("authors=nobody".to_owned(), vec![], None),
        ] {
            let list = s.get(&format!("{comments}?{filter}")).await;
            let shown: Vec<String> = list["items"].as_array().expect("items").iter().map(id).collect();
            assert_eq!(shown, expected.into_iter().cloned().collect::<Vec<_>>(), "{filter}");
            assert_eq!(list["count"].as_u64(), count, "{filter}");
        }
        assert_eq!(s.get(&base).await["comments"], 2, "opened ones");
        let who = s.get(&format!("{base}/commenters")).await;
        let mut who: Vec<String> = who["items"].as_array().expect("items").iter().map(id).collect();
        who.sort();
        let mut both = vec![ada.clone(), eve.clone()];
        both.sort();
        assert_eq!(who, both, "each once");
    }
}

#[tokio::test]
async fn closed_request_accepts_comments_but_no_reviews() {
    let s = Server::new().await;
    let (_, request, _) = work(&s).await;
    let open = s.post(&format!("{request}/comments"), 200, said("Open.")).await.body;
    let users = json!({ "users": [me(&s, &s.reader).await] });
    for moved in ["archived", "merged"] {
        if moved == "merged" {
            s.patch(&request, json!({ "status": "open" })).await;
            s.post(&format!("{request}/merge"), 200, json!({})).await;
        } else {
            s.patch(&request, json!({ "status": moved })).await;
        }
        let (comment, _) = thread(&s, &format!("{request}/comments"), &s.admin).await;
        s.put(&comment, json!({ "resolved": true })).await;
        for (path, body) in
            [("reviews", json!({ "status": "approved" })), ("requested-reviewers", users.clone())]
        {
            let before = s.stored().await;
            let path = format!("{request}/{path}");
            let answer = s.ask("POST", &path, &s.admin, Some(body)).await;
            assert!(answer.refused(409, &path).contains(moved));
            assert_eq!(before, s.stored().await);
        }
    }
    assert_eq!(s.get(&request).await["comments"], 1, "what was open stays with the request");
    let list = s.get(&format!("{request}/comments?status=open")).await;
    assert_eq!((&list["count"], &list["items"][0]["id"]), (&json!(1), &open["id"]));
}

#[tokio::test]
async fn reactions_are_a_set_of_limited_size() {
    let s = Server::new().await;
    let (space, _, _) = work(&s).await;
    let (comment, _) = thread(&s, &format!("/v1/spaces/{space}/comments"), &s.admin).await;
    let put = async |body: Value| s.ask("PUT", &comment, &s.admin, Some(body)).await;
    let counts = |shown: &Value| -> Vec<(String, u64)> {
        let each = shown["reactions"].as_array().expect("reactions").iter();
        each.map(|of| {
            (of["emoji"].as_str().expect("text").to_owned(), of["count"].as_u64().expect("a number"))
        })
        .collect()
    };
    let both = || vec![("1f44d".to_owned(), 1), ("2764-fe0f".to_owned(), 1)];
    for _ in 0..2 {
        let shown =
            put(json!({ "addedReactions": ["👍", "❤", "2764-fe0f", "1f44d"] })).await.is(200, "added");
        assert_eq!(counts(&shown), both());
        assert!(shown.get("editedAt").is_none(), "a reaction edits nothing");
    }
    let shown =
        put(json!({ "addedReactions": ["🎉"], "removedReactions": ["🎉", "👎"] })).await.is(200, "both");
    assert_eq!(counts(&shown), both(), "what is added and removed is removed");
    let shown = put(json!({ "removedReactions": ["1f44d"] })).await.is(200, "removed");
    assert_eq!(counts(&shown), both()[1..]);
    let emoji = |from: u32, n: u32| -> Vec<String> {
        (from..from + n).map(|c| char::from_u32(c).expect("an emoji").to_string()).collect()
    };
    put(json!({ "addedReactions": emoji(0x1f600, 50) })).await.is(200, "fifty");
    put(json!({ "addedReactions": emoji(0x1f300, 49) })).await.is(200, "a hundred in all");
    let before = s.stored().await;
    put(json!({ "addedReactions": ["🐌"], "body": { "markdown": "New." } })).await.refused(409, "one more");
    assert_eq!(before, s.stored().await, "nothing of it is done");
    put(json!({ "addedReactions": ["🐌"], "removedReactions": ["❤"] })).await.is(200, "one for another");
}

#[tokio::test]
async fn unchanged_comment_text_is_not_an_edit() {
    let s = Server::new().await;
    let (space, _, _) = work(&s).await;
    let (comment, reply) = thread(&s, &format!("/v1/spaces/{space}/comments"), &s.admin).await;
    for (path, same) in [(&comment, "Why?"), (&reply, "So.")] {
        let shown = s.put(path, said(same)).await;
        assert!(shown.get("editedAt").is_none(), "{path}");
        let shown = s.put(path, said("New.")).await;
        assert!(shown["editedAt"].as_str() > shown["postedAt"].as_str(), "{path}");
    }
    s.clock.advance(Duration::from_secs(1));
    let first = s.put(&comment, json!({ "resolved": true })).await;
    s.clock.advance(Duration::from_secs(1));
    let again = s.ask("PUT", &comment, &s.both, Some(json!({ "resolved": true }))).await.is(200, "again");
    for kept in ["resolvedAt", "resolvedBy", "editedAt"] {
        assert_eq!(again[kept], first[kept], "{kept}");
    }
    let open = s.ask("PUT", &comment, &s.both, Some(json!({ "resolved": false }))).await.is(200, "reopened");
    assert_eq!(
        (&open["status"], open.get("resolvedAt"), open.get("resolvedBy")),
        (&json!("open"), None, None)
    );
}

#[tokio::test]
async fn reviewer_must_be_a_member_with_the_review_role() {
    let s = Server::new().await;
    let (space, request, _) = work(&s).await;
    let path = format!("{request}/requested-reviewers");
    let (ada, eve) = (me(&s, &s.admin).await, me(&s, &s.editor).await);
    for token in [&s.guest, &s.outsider] {
        let users = json!({ "users": [ada, me(&s, token).await] });
        s.invalid("POST", &path, users, "users[1]: must be a member").await;
    }
    for (users, field) in [
        (json!([]), "users: must be 1 to 50"),
        (json!(vec![&ada; 51]), "users: must be 1 to 50"),
        (json!(["unknown"]), "users[0]: must be a member"),
        (json!([ada, "not an id"]), "users[1]: must be a member"),
        (json!(null), "users: "),
        (json!([1]), "users"),
    ] {
        s.invalid("POST", &path, json!({ "users": users }), field).await;
    }
    s.invalid("POST", &path, json!({}), "users: is required").await;
    s.patch(&format!("/v1/spaces/{space}"), json!({ "defaultLevel": null })).await;
    s.invalid("POST", &path, json!({ "users": [eve] }), "users[0]: must be a member").await;
    for level in ["read", "comment", "edit"] {
        s.patch(&format!("/v1/spaces/{space}"), json!({ "defaultLevel": level })).await;
        s.invalid("POST", &path, json!({ "users": [ada, eve] }), "users[1]: must have the role `review`")
            .await;
    }
    s.patch(&format!("/v1/spaces/{space}"), json!({ "defaultLevel": "review" })).await;
    let asked = s.post(&path, 200, json!({ "users": vec![&eve; 50], "subject": "Read" })).await.body;
    assert_eq!(
        (asked["users"].as_array().map(Vec::len), &asked["users"][0]["user"]["id"]),
        (Some(1), &json!(eve))
    );
    let shown = s.get(&request).await;
    assert_eq!((&shown["status"], &shown["subject"]), (&json!("open"), &json!("Read")));
    for (wrong, field) in [
        (json!({}), "status: is required"),
        (json!({ "status": "rejected" }), "status: "),
        (json!({ "status": "approved", "comment": {} }), "comment: must have"),
        (
            json!({ "status": "approved", "comment": { "markdown": " " } }),
            "comment.markdown: must not be empty",
        ),
        (json!({ "status": "approved", "comment": null }), "comment"),
    ] {
        s.invalid("POST", &format!("{request}/reviews"), wrong, field).await;
    }
    let review = json!({ "status": "approved", "comment": { "markdown": "Fine." } });
    let review = s.post(&format!("{request}/reviews"), 201, review).await.body;
    let comment = format!("{request}/comments/{}", id(&review["comment"]));
    assert_eq!(s.get(&comment).await["target"]["review"], review["id"]);
    s.ask("DELETE", &comment, &s.admin, None).await.is(204, &comment);
    let list = s.get(&format!("{request}/reviews")).await;
    assert_eq!((&list["items"][0]["id"], list["items"][0].get("comment")), (&review["id"], None));
    s.check().await;
}

#[tokio::test]
async fn discussions_of_a_deleted_space_are_hidden() {
    let s = Server::new().await;
    let (space, request, _) = work(&s).await;
    let this = format!("/v1/spaces/{space}");
    let mut paths = vec![format!("{request}/reviews"), format!("{request}/requested-reviewers")];
    for base in [&this, &request] {
        let (comment, reply) = thread(&s, &format!("{base}/comments"), &s.admin).await;
        let lists = ["comments", "commenters"].map(|list| format!("{base}/{list}"));
        paths.extend(lists.into_iter().chain([format!("{comment}/replies"), comment, reply]));
    }
    paths.push(format!("{request}/contributors"));
    s.ask("DELETE", &this, &s.admin, None).await.is(204, &this);
    let before = s.stored().await;
    for path in &paths {
        s.ask("GET", path, &s.admin, None).await.refused(404, path);
        if path.contains("/comments/") && !path.ends_with("/replies") {
            s.ask("PUT", path, &s.admin, Some(said("New."))).await.refused(404, path);
            s.ask("DELETE", path, &s.admin, None).await.is(204, path);
        }
    }
    s.ask("POST", &format!("{this}/comments"), &s.admin, Some(said("Why?"))).await.refused(404, &this);
    assert_eq!(before, s.stored().await);
    s.post(&format!("{this}/restore"), 200, json!({})).await;
    for path in &paths {
        s.get(path).await;
    }
}

#[tokio::test]
async fn guests_can_comment_but_not_list_commenters() {
    let s = Server::new().await;
    let (space, request, _) = work(&s).await;
    let this = format!("/v1/spaces/{space}");
    let guest = json!({ "role": "comment", "users": [me(&s, &s.guest).await] });
    s.post(&format!("{this}/permissions"), 204, guest).await;
    for base in [&this, &request] {
        s.ask("POST", &format!("{base}/comments"), &s.guest, Some(said("Why?"))).await.is(200, base);
        s.ask("GET", &format!("{base}/commenters"), &s.guest, None).await.refused(403, base);
        s.ask("GET", &format!("{base}/commenters"), &s.reader, None).await.is(200, base);
    }
}

/// Collects the users in a response, each with `true` if the e-mail address is included.
fn people_in(answer: &Value, found: &mut Vec<(String, bool)>) {
    if answer["object"] == "user" {
        found.push((id(answer), answer.get("email").is_some()));
    }
    match answer {
        Value::Array(items) => items.iter().for_each(|item| people_in(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| people_in(field, found)),
        _ => {}
    }
}

/// Guests see only their own e-mail address.
#[tokio::test]
async fn guests_see_users_without_email_addresses() {
    let s = Server::new().await;
    let (space, request, page) = work(&s).await;
    let (this, ada, gus) = (format!("/v1/spaces/{space}"), me(&s, &s.admin).await, me(&s, &s.guest).await);
    s.post(&format!("{this}/permissions"), 204, json!({ "role": "comment", "users": [gus] })).await;
    let mut paths = vec![format!("{this}/content"), request.clone(), format!("{this}/change-requests")];
    for base in [&this, &request] {
        for token in [&s.admin, &s.guest] {
            let (comment, reply) = thread(&s, &format!("{base}/comments"), token).await;
            let react = json!({ "addedReactions": ["👍"], "resolved": true });
            s.put(&comment, react).await;
            paths.extend([format!("{comment}/replies"), comment, reply]);
        }
        paths.push(format!("{base}/comments"));
    }
    let review = json!({ "status": "approved", "comment": { "markdown": "Fine." } });
    s.post(&format!("{request}/reviews"), 201, review).await;
    s.post(&format!("{request}/requested-reviewers"), 200, json!({ "users": [ada] })).await;
    let mention = format!("[Ada](/users/{ada}) and [page](/pages/{page})");
    let change = json!({ "operation": "insert_page", "document": { "markdown": mention } });
    s.post(&format!("{request}/content"), 200, json!({ "changes": [change] })).await;
    let lists = ["reviews", "requested-reviewers", "contributors", "changes", "links"];
    paths.extend(lists.map(|list| format!("{request}/{list}")));
    let mut others = 0;
    for path in &paths {
        let (mut to_guest, mut to_reader) = (Vec::new(), Vec::new());
        people_in(&s.ask("GET", path, &s.guest, None).await.is(200, path), &mut to_guest);
        people_in(&s.ask("GET", path, &s.reader, None).await.is(200, path), &mut to_reader);
        assert!(to_guest.iter().all(|(user, told)| *told == (*user == gus)), "{path}: {to_guest:?}");
        assert!(to_reader.iter().all(|(_, told)| *told), "{path}: members know each other: {to_reader:?}");
        others += to_guest.iter().filter(|(user, _)| *user != gus).count();
    }
    assert!(others > 10, "there are people to see: {others}");
}

#[tokio::test]
async fn a_comment_can_name_a_block_without_its_page() {
    let s = Server::new().await;
    let comments = format!("/v1/spaces/{}/comments", s.space().await);
    let body = json!({ "node": "key", "body": { "markdown": "Why?" } });
    let comment = s.post(&comments, 200, body).await.body;
    assert_eq!(comment["target"]["node"]["id"], "key");
    assert_eq!(comment["target"].get("page"), None);
    assert_eq!(s.get(&format!("{comments}/{}", id(&comment))).await, comment);
}
