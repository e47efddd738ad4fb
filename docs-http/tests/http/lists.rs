//! Pagination of lists.

use std::collections::BTreeSet;

use docs_core::model::{Role, UserId};
use serde_json::{Value, json};

use crate::server::{Server, id};

/// Returns the item ids of a page, and the cursor of the next page.
async fn page(s: &Server, list: &str, limit: usize, cursor: Option<&str>) -> (Vec<String>, Option<String>) {
    let sign = if list.contains('?') { '&' } else { '?' };
    let cursor = cursor.map(|cursor| format!("&page={cursor}")).unwrap_or_default();
    let answer = s.get(&format!("{list}{sign}limit={limit}{cursor}")).await;
    // A member's space has no separate id.
    let of =
        |item: &Value| id(item.get("space").filter(|_| item.get("permission").is_some()).unwrap_or(item));
    let items: Vec<String> = answer["items"].as_array().expect("items").iter().map(of).collect();
    assert!(items.len() <= limit, "{list}: a page has at most {limit}");
    let next = answer.get("next").map(|next| next["page"].as_str().expect("a cursor").to_owned());
    (items, next)
}

/// Returns all items, fetched in pages of `limit`. `between` is called after each page with the items so far.
async fn walk(s: &Server, list: &str, limit: usize, mut between: impl AsyncFnMut(&[String])) -> Vec<String> {
    let (mut seen, mut cursor) = (Vec::new(), None);
    for _ in 0..100 {
        let (items, next) = page(s, list, limit, cursor.as_deref()).await;
        seen.extend(items);
        cursor = next;
        if cursor.is_none() {
            return seen;
        }
        between(&seen).await;
    }
    panic!("{list}: the last page has no `next`");
}

async fn all(s: &Server, list: &str) -> Vec<String> {
    let (items, next) = page(s, list, 1000, None).await;
    assert_eq!(next, None, "{list}");
    items
}

/// Creates sibling and nested collections, one of them with spaces.
async fn collections(s: &Server) -> String {
    let path = format!("/v1/orgs/{}/collections", s.org);
    let mut parent = None;
    for n in 0..7 {
        s.post(&path, 201, json!({ "title": format!("Beside {n}") })).await;
        let mut new = json!({ "title": format!("Inside {n}") });
        if let Some(parent) = &parent {
            new["parent"] = json!(parent);
        }
        let inside = id(&s.post(&path, 201, new).await.body);
        let spaces = format!("/v1/orgs/{}/spaces", s.org);
        s.post(&spaces, 201, json!({ "parent": parent.get_or_insert(inside) })).await;
    }
    parent.expect("a collection")
}

/// Creates comments and reviews on a change request. Returns their lists.
async fn discussion(s: &Server, request: &str, me: &UserId) -> Vec<String> {
    let page = json!({ "changes": [{ "operation": "insert_page", "document": {} }] });
    s.post(&format!("{request}/content"), 200, page).await;
    let page = id(&s.get(&format!("{request}/content/pages")).await["pages"][0]);
    let comments = format!("{request}/comments");
    let mut comment = String::new();
    for n in 0..14 {
        let new = json!({ "page": page, "body": { "markdown": "Why?" } });
        comment = id(&s.post(&comments, 200, new).await.body);
        let (said, resolved) = (json!({ "body": { "markdown": "So." } }), json!({ "resolved": n % 2 == 0 }));
        s.post(&format!("{comments}/{}/replies", comment), 200, said).await;
        s.put(&format!("{comments}/{comment}"), resolved).await;
        s.post(&format!("{request}/reviews"), 201, json!({ "status": "approved" })).await;
    }
    for _ in 0..7 {
        s.post(&format!("{comments}/{comment}/replies"), 200, json!({ "body": { "markdown": "So." } })).await;
    }
    vec![
        comments.clone(),
        format!("{comments}?order=asc"),
        format!("{comments}?status=open"),
        format!("{comments}?status=resolved&order=asc"),
        format!("{comments}?targetPage={page}"),
        format!("{comments}?targetPage={page}&status=open"),
        format!("{comments}?authors={me}"),
        format!("{comments}?authors={me}&authors=nobody"),
        format!("{comments}/{comment}/replies"),
        format!("{request}/reviews"),
    ]
}

/// Creates members, teams, providers and invites in an organization. Returns their lists.
async fn people(s: &Server, org: &str, me: &UserId) -> Vec<String> {
    for n in 0..7 {
        crate::teams::team(s, &format!("Team {n}")).await;
        crate::teams::provider(s).await;
    }
    s.patch(org, json!({ "inviteLinks": true })).await;
    for n in 0..7 {
        s.clock.advance(std::time::Duration::from_millis(1));
        let token = s.joining(&format!("Reader {n}"), Some(Role::Read)).await.1;
        s.ask("POST", &format!("{org}/ping"), &token, None).await.is(200, "there");
        s.post(&format!("{org}/link-invites"), 201, json!({ "role": "edit" })).await;
    }
    vec![
        format!("{org}/teams"),
        format!("{org}/teams?title=TEAM"),
        format!("{org}/saml"),
        format!("{org}/members"),
        format!("{org}/members?order=asc"),
        format!("{org}/members?role=read"),
        format!("{org}/members?search=reader"),
        format!("{org}/members?search=re&role=read"),
        format!("{org}/members?sort=lastSeenAt"),
        format!("{org}/members?sort=name"),
        format!("{org}/members?sort=name&role=read&order=asc"),
        format!("{org}/members?sort=lastSeenAt&search=reader&order=asc"),
        format!("{org}/members/{me}/spaces"),
        format!("{org}/members/{me}/spaces?order=asc"),
        format!("{org}/link-invites"),
    ]
}

/// Creates OpenAPI specifications, one of them with many versions. Returns their lists.
async fn specs(s: &Server, org: &str) -> Vec<String> {
    for n in 0..7 {
        crate::openapi_specs::spec(s, &format!("spec-{n}")).await;
        let text = crate::openapi_specs::PETS.replace("Pets", &format!("Pets {n}"));
        let put = serde_json::json!({ "source": { "text": text } });
        s.put(&format!("{org}/openapi/versions"), put).await;
        s.platform.settle().await.expect("settled");
        s.clock.advance(std::time::Duration::from_millis(1));
    }
    vec![format!("{org}/openapi"), format!("{org}/openapi/versions/versions")]
}

/// Creates sites with spaces, with and without sections. Returns the list of sites and the lists within each site.
async fn sites(s: &Server, org: &str, spaces: &[String]) -> Vec<String> {
    let space = &spaces[0];
    let named: Vec<&str> = spaces.iter().map(String::as_str).collect();
    let site = s.site("Docs", &named).await;
    for n in 0..6 {
        s.site(&format!("Docs {n}"), &[space, space]).await;
    }
    let structured = s.site("Structured", &[]).await;
    for space in spaces.iter().chain([space]) {
        let section = s.post(&format!("{structured}/sections"), 201, json!({ "spaceId": space })).await.body;
        let group = json!({ "title": "Group", "sections": [section["id"]] });
        s.post(&format!("{structured}/section-groups"), 201, group).await;
    }
    for language in ["de", "fr", "es", "it", "nl", "pl", "da"] {
        s.clock.advance(std::time::Duration::from_millis(1));
        let new = json!({ "source": { "space": space, "language": "en" }, "language": language });
        s.post(&format!("{org}/translations"), 201, new).await;
    }
    vec![
        format!("{org}/translations"),
        format!("{org}/sites"),
        format!("{org}/sites?published=false"),
        format!("{org}/sites?title=docs"),
        format!("{org}/sites?space={space}"),
        format!("{site}/site-spaces"),
        format!("{site}/site-spaces?default=false"),
        format!("{structured}/site-spaces"),
        format!("{structured}/site-spaces?default=false"),
        format!("{structured}/sections"),
        format!("{structured}/section-groups"),
    ]
}

/// Deletes spaces. Returns the path of a space with a history.
async fn gone(s: &Server) -> String {
    let space = format!("/v1/spaces/{}", s.space().await);
    s.patch(&space, json!({ "editMode": "live" })).await;
    for n in 0..7 {
        s.clock.advance(std::time::Duration::from_millis(1));
        let deleted = s.space().await;
        s.ask("DELETE", &format!("/v1/spaces/{deleted}"), &s.admin, None).await.is(204, &deleted);
        let path = space.rsplit('/').next().expect("an id");
        let request = s.request(path).await;
        let page = json!({ "operation": "insert_page", "title": format!("Page {n}"), "document": { "markdown": "" } });
        s.post(&format!("{request}/content"), 200, json!({ "changes": [page] })).await;
        s.post(&format!("{request}/merge"), 200, json!({})).await;
    }
    space
}

/// Creates a server with several items in every list. Returns the lists.
async fn filled() -> (Server, Vec<String>) {
    let s = Server::new().await;
    let me = s.get("/v1/user").await["id"].as_str().expect("an id").parse().expect("an id");
    let mut spaces = Vec::new();
    for n in 0..7 {
        let title = format!("Organization {n}").parse().expect("a title");
        s.platform.as_platform().orgs().create(title, &me).await.expect("an organization");
        spaces.push(s.space().await);
    }
    let (org, space) = (format!("/v1/orgs/{}", s.org), &spaces[0]);
    let mut lists = sites(&s, &org, &spaces).await;
    let mut request = String::new();
    for _ in 0..7 {
        request = s.request(space).await;
    }
    let file = |n| json!({ "name": format!("{n}.txt"), "base64": "YQ==", "contentType": "text/plain" });
    let files: Vec<Value> = (0..7).map(file).collect();
    let change = json!({ "changes": [{ "operation": "insert_files", "files": files }] });
    let other = s.request(space).await;
    s.post(&format!("{request}/content"), 200, change.clone()).await;
    s.post(&format!("{other}/content"), 200, change).await;
    s.post(&format!("{other}/merge"), 200, json!({})).await;
    lists.extend(discussion(&s, &request, &me).await);
    let collection = collections(&s).await;
    lists.extend(people(&s, &org, &me).await);
    lists.extend(specs(&s, &org).await);
    let requests = format!("/v1/spaces/{space}/change-requests");
    let head = id(&s.get(&format!("/v1/spaces/{space}/content")).await);
    let gone = gone(&s).await;
    lists.extend([
        "/v1/orgs".to_owned(),
        format!("{gone}/revisions"),
        format!("{org}/deleted-spaces"),
        format!("{org}/spaces"),
        format!("{org}/collections"),
        format!("{org}/collections?nested=false"),
        format!("/v1/collections/{collection}/spaces"),
        requests.clone(),
        format!("{requests}?status=draft"),
        format!("{requests}?contributor={me}"),
        format!("{requests}?creator={me}"),
        format!("{org}/change-requests?status=draft"),
        format!("{org}/change-requests?status=draft&creator={me}"),
        format!("{org}/change-requests?status=draft&orderBy=updatedAt"),
        format!("/v1/spaces/{space}/revisions/{head}/files"),
        format!("/v1/spaces/{space}/content/files"),
        format!("{request}/content/files"),
    ]);
    (s, lists)
}

#[tokio::test]
async fn walking_a_list_gives_each_item_once_and_in_order() {
    let (s, lists) = filled().await;
    for list in &lists {
        let whole = all(&s, list).await;
        assert!(whole.len() >= 6, "{list}: {} items", whole.len());
        assert_eq!(whole.iter().collect::<BTreeSet<_>>().len(), whole.len(), "{list}: each item once");
        for limit in [1, 2, 3, whole.len() - 1, whole.len(), whole.len() + 1] {
            let walked = walk(&s, list, limit, async |_| ()).await;
            assert_eq!(walked, whole, "{list} by {limit}");
        }
        let counted = s.get(list).await["count"].as_u64();
        assert!(counted.is_none_or(|n| n == whole.len() as u64), "{list}: the count is right, or not told");
    }
}

#[tokio::test]
async fn cursor_is_valid_only_for_its_own_list_and_filters() {
    let (s, lists) = filled().await;
    for list in &lists {
        let cursor = page(&s, list, 2, None).await.1.expect("there is more");
        let at = |other: &str, cursor: &str| {
            format!("{other}{}page={cursor}", if other.contains('?') { '&' } else { '?' })
        };
        let mut wrong: Vec<String> =
            lists.iter().filter(|other| *other != list).map(|other| at(other, &cursor)).collect();
        let (start, end) = cursor.split_at(cursor.len() / 2);
        for damaged in
            [start, end, &format!("{cursor}A"), &format!("{end}{start}"), "", "x", "%00", "%ff", "1"]
        {
            wrong.push(at(list, damaged));
        }
        wrong.push(at(list, &format!("{cursor}&page={cursor}")));
        for path in wrong {
            let answer = s.ask("GET", &path, &s.admin, None).await;
            let message = answer.refused(400, &path);
            assert!(message.starts_with("page: "), "{path}: {message}");
        }
        s.get(&at(list, &format!("{cursor}&limit=1000"))).await;
    }
}

/// Asserts that all items except those added or removed concurrently are listed exactly once, in order.
#[track_caller]
fn assert_untouched(list: &str, before: &[String], seen: &[String], touched: &BTreeSet<String>) {
    let once: BTreeSet<_> = seen.iter().collect();
    assert_eq!(once.len(), seen.len(), "{list}: nothing is repeated");
    let rest = |ids: &[String]| -> Vec<String> {
        ids.iter().filter(|id| before.contains(id) && !touched.contains(*id)).cloned().collect()
    };
    assert_eq!(rest(seen), rest(before), "{list}: nothing is skipped, and the order stays");
}

#[tokio::test]
async fn concurrent_changes_neither_hide_nor_repeat_a_space() {
    let s = Server::new().await;
    for limit in 1..=3 {
        for _ in 0..9 {
            s.space().await;
        }
        let list = format!("/v1/orgs/{}/spaces", s.org);
        let before = all(&s, &list).await;
        let mut touched = BTreeSet::new();
        let seen = walk(&s, &list, limit, async |seen: &[String]| {
            s.space().await;
            // The item at the cursor, and an item after it.
            let ahead = before.iter().filter(|id| !seen.contains(id) && !touched.contains(*id)).nth(1);
            for gone in seen.last().into_iter().chain(ahead) {
                s.ask("DELETE", &format!("/v1/spaces/{gone}"), &s.admin, None).await.is(204, gone);
                touched.insert(gone.clone());
            }
        })
        .await;
        assert_untouched(&list, &before, &seen, &touched);
    }
    s.check().await;
}

#[tokio::test]
async fn concurrent_changes_neither_hide_nor_repeat_a_site() {
    let s = Server::new().await;
    let space = s.space().await;
    for filter in ["".to_owned(), "?title=a".to_owned(), format!("?space={space}")] {
        for _ in 0..9 {
            s.site("A site", &[&space, &space]).await;
        }
        let sites = format!("/v1/orgs/{}/sites", s.org);
        let list = format!("{sites}{filter}");
        let before = all(&s, &list).await;
        let mut touched = BTreeSet::new();
        let seen = walk(&s, &list, 2, async |seen: &[String]| {
            s.site("A new one", &[&space]).await;
            let ahead = before.iter().filter(|id| !seen.contains(id) && !touched.contains(*id)).nth(1);
            for gone in seen.last().into_iter().chain(ahead) {
                s.ask("DELETE", &format!("{sites}/{gone}"), &s.admin, None).await.is(204, gone);
                touched.insert(gone.clone());
            }
        })
        .await;
        assert_untouched(&list, &before, &seen, &touched);
    }
}

#[tokio::test]
async fn concurrent_status_changes_do_not_affect_other_requests() {
    let s = Server::new().await;
    let space = s.space().await;
    for _ in 0..9 {
        s.request(&space).await;
    }
    let requests = format!("/v1/spaces/{space}/change-requests");
    let list = format!("{requests}?status=draft");
    let before = all(&s, &list).await;
    let mut touched = BTreeSet::new();
    let seen = walk(&s, &list, 2, async |seen: &[String]| {
        s.request(&space).await;
        let ahead = before.iter().filter(|id| !seen.contains(id) && !touched.contains(*id)).nth(1);
        for gone in seen.last().into_iter().chain(ahead) {
            s.patch(&format!("{requests}/{gone}"), json!({ "status": "open" })).await;
            touched.insert(gone.clone());
        }
    })
    .await;
    assert_untouched(&list, &before, &seen, &touched);
}

/// All pages of a file list belong to the revision of the first page.
#[tokio::test]
async fn file_pagination_stays_on_the_initial_revision() {
    let (s, lists) = filled().await;
    let list = lists.last().expect("the files of a request");
    let content = list.strip_suffix("/files").expect("a list of files");
    let before = all(&s, list).await;
    let seen = walk(&s, list, 2, async |_| {
        let file = json!({ "name": "new.txt", "base64": "YQ==", "contentType": "text/plain" });
        let change = json!({ "changes": [{ "operation": "insert_files", "files": [file] }] });
        s.post(content, 200, change).await;
    })
    .await;
    assert_eq!(seen, before);
    assert!(all(&s, list).await.len() > before.len());
}

/// The filters are space, title, type and published state.
#[tokio::test]
async fn sites_are_filtered() {
    let s = Server::new().await;
    let (one, two) = (s.space().await, s.space().await);
    let sites = format!("/v1/orgs/{}/sites", s.org);
    let new = async |title: &str, kind: &str, spaces: &[&String]| {
        let body = json!({ "title": title, "type": kind, "spaces": spaces });
        id(&s.post(&sites, 201, body).await.body)
    };
    let a = new("Guide", "basic", &[&one, &two, &one]).await;
    // Ensures a deterministic order.
    s.clock.advance(std::time::Duration::from_millis(1));
    let b = new("API guide", "premium", &[&two]).await;
    s.clock.advance(std::time::Duration::from_millis(1));
    let c = new("Straße 100%", "ultimate", &[]).await;
    s.post(&format!("{sites}/{b}/publish"), 200, json!({})).await;
    for (filter, expected) in [
        (String::new(), vec![&a, &b, &c]),
        (format!("space={one}"), vec![&a]),
        (format!("space={two}"), vec![&a, &b]),
        ("space=unknown".to_owned(), vec![]),
        ("space=not%20an%20id".to_owned(), vec![]),
        ("title=GUIDE".to_owned(), vec![&a, &b]),
        ("title=stra%C3%9Fe%20100%25".to_owned(), vec![&c]),
        ("title=".to_owned(), vec![&a, &b, &c]),
        ("published=true".to_owned(), vec![&b]),
        ("published=false".to_owned(), vec![&a, &c]),
        ("type=basic".to_owned(), vec![&a]),
        ("type=basic&type=ultimate".to_owned(), vec![&a, &c]),
        ("type=sponsored".to_owned(), vec![]),
        (format!("type=basic&type=premium&title=guide&published=true&space={two}"), vec![&b]),
    ] {
        let shown = all(&s, &format!("{sites}?{filter}")).await;
        assert_eq!(shown, expected.into_iter().cloned().collect::<Vec<_>>(), "{filter}: oldest first");
    }
}

#[tokio::test]
async fn change_requests_are_filtered_by_status_and_users() {
    let s = Server::new().await;
    let space = s.space().await;
    let requests = format!("/v1/spaces/{space}/change-requests");
    let me = async |token: &str| id(&s.ask("GET", "/v1/user", token, None).await.is(200, "user"));
    let (ada, eve, rob) = (me(&s.admin).await, me(&s.editor).await, me(&s.reader).await);
    let new =
        async |token: &str| id(&s.ask("POST", &requests, token, Some(json!({}))).await.is(201, "a request"));
    let (a, b, c) = (new(&s.admin).await, new(&s.editor).await, new(&s.admin).await);
    let change = json!({ "changes": [{ "operation": "insert_page", "document": {} }] });
    let edited = s.ask("POST", &format!("{requests}/{c}/content"), &s.editor, Some(change)).await;
    edited.is(200, "an editor works on the request of another");
    s.patch(&format!("{requests}/{a}"), json!({ "status": "open" })).await;
    s.post(&format!("{requests}/{b}/merge"), 200, json!({})).await;
    for (filter, expected) in [
        (String::new(), vec![&c, &b, &a]),
        ("status=open".to_owned(), vec![&a]),
        ("status=draft".to_owned(), vec![&c]),
        ("status=merged".to_owned(), vec![&b]),
        ("status=archived".to_owned(), vec![]),
        (format!("creator={ada}"), vec![&c, &a]),
        (format!("creator={eve}"), vec![&b]),
        (format!("contributor={eve}"), vec![&c, &b]),
        (format!("contributor={ada}"), vec![&c, &a]),
        (format!("contributor={rob}"), vec![]),
        (format!("contributor={eve}&creator={ada}"), vec![&c]),
        (format!("contributor={eve}&status=draft"), vec![&c]),
        (format!("creator={ada}&status=open"), vec![&a]),
        ("creator=unknown".to_owned(), vec![]),
        ("contributor=not%20an%20id".to_owned(), vec![]),
    ] {
        let shown = all(&s, &format!("{requests}?{filter}")).await;
        assert_eq!(shown, expected.into_iter().cloned().collect::<Vec<_>>(), "{filter}: newest first");
    }
}
