//! History of a space over HTTP: the list of revisions, rollback, and deleted spaces.

use docs_core::model::Role;
use serde_json::{Value, json};

use crate::server::{Server, id};

/// Creates a space with editable live content and two merged change requests. Returns its path.
async fn written(s: &Server) -> String {
    let space = s.space().await;
    let path = format!("/v1/spaces/{space}");
    for title in ["One", "Two"] {
        let request = s.request(&space).await;
        let page = json!({ "operation": "insert_page", "title": title, "document": { "markdown": "Text." } });
        s.post(&format!("{request}/content"), 200, json!({ "changes": [page] })).await;
        s.post(&format!("{request}/merge"), 200, json!({})).await;
    }
    s.patch(&path, json!({ "editMode": "live" })).await;
    path
}

async fn titles(s: &Server, content: &str) -> Vec<String> {
    let pages = s.get(&format!("{content}/pages")).await;
    let pages = pages["pages"].as_array().expect("pages").iter();
    pages.map(|page| page["title"].as_str().expect("a title").to_owned()).collect()
}

#[tokio::test]
async fn space_is_rolled_back_and_forward_again() {
    let s = Server::new().await;
    let path = written(&s).await;
    let history = s.get(&format!("{path}/revisions")).await;
    assert_eq!(history["count"], json!(3));
    let [two, one, empty] = history["items"].as_array().expect("items").as_slice() else {
        panic!("{history}")
    };
    assert_eq!((&two["type"], &two["mergedFrom"]["subject"]), (&json!("merge"), &json!("Work")));
    assert_eq!((&two["createdBy"]["displayName"], &two["number"]), (&json!("Ada"), &json!(3)));
    assert_eq!(two["parents"][0], one["id"]);
    let answer = s.post(&format!("{path}/revisions/{}/rollback", id(empty)), 201, json!({})).await;
    let location = answer.header("location").expect("where it is").to_owned();
    let back = answer.body;
    assert_eq!((&back["type"], &back["restoredFrom"]), (&json!("rollback"), &empty["id"]));
    assert_eq!(location, back["urls"]["location"].as_str().expect("an address"));
    let read = s.get(location.strip_prefix("https://docs.example").expect("here")).await;
    assert_eq!((&read["id"], &read["type"]), (&back["id"], &json!("rollback")));
    assert_eq!(s.get(&path).await["revision"], back["id"]);
    assert!(titles(&s, &format!("{path}/content")).await.is_empty());
    s.post(&format!("{path}/revisions/{}/rollback", id(two)), 201, json!({})).await;
    assert_eq!(titles(&s, &format!("{path}/content")).await, ["One", "Two"]);
    let now = s.get(&format!("{path}/revisions?limit=2")).await;
    assert_eq!((&now["count"], &now["items"][1]), (&json!(5), &back));
    let next = now["next"]["page"].as_str().expect("a cursor");
    let rest = s.get(&format!("{path}/revisions?page={next}")).await;
    assert_eq!(rest["items"], json!([two, one, empty]), "nothing of the history is lost");
    // Search, links and the feed follow a rollback like any other change.
    s.platform.settle().await.expect("settled");
    assert_eq!(s.get(&format!("{path}/search?query=two")).await["items"].as_array().expect("items").len(), 1);
    s.check().await;
}

#[tokio::test]
async fn rejected_rollback_has_a_reason_and_changes_nothing() {
    let s = Server::new().await;
    let (path, other) = (written(&s).await, written(&s).await);
    let history = s.get(&format!("{path}/revisions")).await;
    let (head, first) = (id(&history["items"][0]), id(&history["items"][2]));
    let foreign = id(&s.get(&format!("{other}/revisions")).await["items"][1]);
    let request = s.request(path.rsplit('/').next().expect("an id")).await;
    let page = json!({ "operation": "insert_page", "title": "Draft", "document": { "markdown": "" } });
    s.post(&format!("{request}/content"), 200, json!({ "changes": [page] })).await;
    let draft = id(&s.get(&format!("{request}/content")).await);
    let before = s.stored().await;
    for (who, revision, status, why) in [
        (&s.admin, head.as_str(), 409, "the space already has the content of this revision"),
        (&s.admin, &draft, 409, "never live content"),
        (&s.admin, &foreign, 404, "no such revision"),
        (&s.admin, "unknown", 404, "no such revision"),
        (&s.admin, "not%20an%20id", 404, "no such revision"),
        (&s.reader, &first, 403, "the role `edit`"),
        (&s.guest, &first, 404, "no such space"),
        (&s.outsider, &first, 404, "no such space"),
    ] {
        let rollback = format!("{path}/revisions/{revision}/rollback");
        let answer = s.ask("POST", &rollback, who, None).await;
        let message = answer.refused(status, &rollback);
        assert!(message.contains(why), "{rollback}: {message}");
    }
    assert_eq!(before, s.stored().await);
    s.patch(&path, json!({ "editMode": "locked" })).await;
    let before = s.stored().await;
    let locked = s.ask("POST", &format!("{path}/revisions/{first}/rollback"), &s.admin, None).await;
    assert!(locked.refused(409, "locked").contains("`editMode`"), "{locked:?}");
    for wrong in ["limit=-1", "limit=1001", "limit=x", "page=x"] {
        let list = format!("{path}/revisions?{wrong}");
        let field = wrong.split('=').next().expect("a name");
        assert!(s.ask("GET", &list, &s.admin, None).await.refused(400, &list).starts_with(field), "{list}");
    }
    assert_eq!(before, s.stored().await);
    s.check().await;
}

#[tokio::test]
async fn deleted_spaces_are_listed_only_with_restore_permission() {
    let s = Server::new().await;
    let (one, two) = (s.space().await, s.space().await);
    let list = format!("/v1/orgs/{}/deleted-spaces", s.org);
    for space in [&one, &two] {
        s.clock.advance(std::time::Duration::from_secs(1));
        s.ask("DELETE", &format!("/v1/spaces/{space}"), &s.admin, None).await.is(204, space);
    }
    let shown = s.get(&list).await;
    let ids: Vec<String> = shown["items"].as_array().expect("items").iter().map(id).collect();
    assert_eq!(ids, [two.clone(), one.clone()], "deleted last first");
    let date = |value: &Value| {
        value.as_str().expect("a date").parse::<chrono::DateTime<chrono::Utc>>().expect("a date")
    };
    let first = &shown["items"][0];
    assert_eq!(date(&first["restorableUntil"]) - date(&first["deletedAt"]), chrono::TimeDelta::days(7));
    let (_, creator) = s.joining("Cre", Some(Role::Create)).await;
    for (who, seen) in [(&creator, 2), (&s.editor, 0), (&s.reader, 0), (&s.guest, 0)] {
        let shown = s.ask("GET", &list, who, None).await.is(200, &list);
        assert_eq!(
            shown["items"].as_array().expect("items").len(),
            seen,
            "who may not restore it does not see it"
        );
    }
    s.ask("GET", &list, &s.outsider, None).await.refused(404, &list);
    s.post(&format!("/v1/spaces/{two}/restore"), 200, json!({})).await;
    assert_eq!(s.get(&list).await["items"].as_array().expect("items").len(), 1);
    assert!(s.get(&format!("/v1/spaces/{two}")).await.get("restorableUntil").is_none());
    s.check().await;
}
