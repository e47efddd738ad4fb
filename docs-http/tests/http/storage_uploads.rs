//! Uploads to the storage of an organization, and import runs of the uploaded files.

use std::time::Duration;

use docs_core::model::{OrgId, Role, UserId};
use serde_json::{Value, json};

use crate::server::{Answer, Server, id};

const HOUR: Duration = Duration::from_secs(60 * 60);

/// Returns a request for the URL of an upload.
pub(crate) fn file(name: &str, size: u64) -> Value {
    json!({ "file": { "name": name, "type": "text/markdown", "size": size }, "kind": "import_file" })
}

fn uploads(s: &Server) -> String {
    format!("/v1/orgs/{}/storage/upload", s.org)
}

/// Sends bytes to the URL of an upload.
async fn put(s: &Server, upload: &Value, bytes: &str) -> Answer {
    let url = upload["url"].as_str().expect("a URL");
    let path = url.strip_prefix("https://docs.example").expect("a URL of the server");
    s.send("PUT", path, None, Some(("application/octet-stream", bytes.to_owned()))).await
}

/// Uploads a file with a token. Returns its key.
async fn uploaded(s: &Server, token: &str, name: &str, bytes: &str) -> String {
    let request = file(name, bytes.len() as u64);
    let upload = s.ask("POST", &uploads(s), token, Some(request)).await.is(201, name);
    put(s, &upload, bytes).await.is(204, name);
    upload["key"].as_str().expect("a key").to_owned()
}

/// Creates a space with editable live content. Returns its id.
async fn open_space(s: &Server) -> String {
    let space = s.space().await;
    s.patch(&format!("/v1/spaces/{space}"), json!({ "editMode": "live" })).await;
    space
}

fn run_of(files: &[String], space: &str) -> Value {
    json!({ "source": { "type": "file", "files": files }, "target": { "space": space } })
}

#[tokio::test]
async fn uploaded_file_is_imported_by_a_run() {
    let s = Server::new().await;
    let (runs, space) = (format!("/v1/org/{}/imports", s.org), open_space(&s).await);
    let upload = s.ask("POST", &uploads(&s), &s.editor, Some(file("guide.md", 6))).await.is(201, "issued");
    assert_eq!(upload["object"], "storage-signed-url");
    let key = upload["key"].as_str().expect("a key").to_owned();
    let early = s.ask("POST", &runs, &s.editor, Some(run_of(std::slice::from_ref(&key), &space))).await;
    assert!(early.refused(400, "no bytes").contains("was not uploaded; send its bytes to its URL first"));
    // A repeated upload of the same bytes succeeds, one of other bytes does not.
    for _ in 0..2 {
        put(&s, &upload, "Guide\n").await.is(204, "uploaded");
    }
    put(&s, &upload, "Other\n").await.refused(409, "other bytes");
    let run = s
        .ask("POST", &runs, &s.editor, Some(run_of(std::slice::from_ref(&key), &space)))
        .await
        .is(201, "started");
    assert_eq!(run["source"], json!({ "type": "file", "files": [key] }));
    s.platform.settle().await.expect("settled");
    assert_eq!(s.get(&format!("{runs}/{}", id(&run))).await["status"], "completed");
    let pages = s.get(&format!("/v1/spaces/{space}/content/pages")).await;
    assert_eq!(pages["pages"][0]["title"], "Guide");
    s.check().await;
}

#[tokio::test]
async fn several_documents_are_imported_by_one_run() {
    let s = Server::new().await;
    let (runs, space) = (format!("/v1/org/{}/imports", s.org), open_space(&s).await);
    let mut files = Vec::new();
    for (name, text) in [("b.md", "# Beta\n\n[Alpha](a.md)\n"), ("a.md", "# Alpha\n")] {
        files.push(uploaded(&s, &s.admin, name, text).await);
    }
    let run = s.post(&runs, 201, run_of(&files, &space)).await.body;
    s.platform.settle().await.expect("settled");
    let done = s.get(&format!("{runs}/{}", id(&run))).await;
    assert_eq!((&done["status"], &done["source"]["files"]), (&json!("completed"), &json!(files)));
    let pages = s.get(&format!("/v1/spaces/{space}/content/pages")).await["pages"].clone();
    let titles: Vec<&Value> = pages.as_array().expect("pages").iter().map(|page| &page["title"]).collect();
    assert_eq!(titles, ["Alpha", "Beta"]);
    let beta = s.get(&format!("/v1/spaces/{space}/content/page/{}", id(&pages[1]))).await;
    let link = format!("[Alpha](/pages/{})", id(&pages[0]));
    assert!(beta["markdown"].as_str().is_some_and(|text| text.contains(&link)), "{beta}");
    s.check().await;
}

#[tokio::test]
async fn invalid_uploads_name_the_field_and_change_nothing() {
    let s = Server::new().await;
    let of_kind = |kind: &str| json!({ "file": file("a.md", 1)["file"], "kind": kind });
    for (body, message) in [
        (file("../a.md", 1), "file.name: "),
        (file("a.exe", 1), "file.name: must have a name with one of the extensions zip, docx, md"),
        (file("a.zip", 100_000_001), "file.size: must be at most 100000000 bytes"),
        (of_kind("customization_font"), "kind: must be `import_file`"),
        (of_kind("organization_file"), "kind: must be `import_file`"),
        (of_kind("other"), "kind"),
        (json!({ "file": { "name": "a.md", "type": "", "size": -1 }, "kind": "import_file" }), "file.size"),
        (json!({ "kind": "import_file" }), "file"),
    ] {
        s.invalid("POST", &uploads(&s), body, message).await;
    }
    for (token, status) in [(&s.reader, 403), (&s.guest, 403), (&s.outsider, 404)] {
        s.ask("POST", &uploads(&s), token, Some(file("a.md", 1))).await.refused(status, "no editor");
    }
}

#[tokio::test]
async fn url_accepts_only_the_declared_bytes_for_an_hour() {
    let s = Server::new().await;
    let upload = s.post(&uploads(&s), 201, file("guide.md", 4)).await.body;
    let before = s.stored().await;
    for (bytes, status, message) in [
        ("123", 400, "the body: must have 4 bytes, as declared, has 3"),
        ("12345", 413, "the body: must have 4 bytes, as declared, has "),
    ] {
        let answer = put(&s, &upload, bytes).await;
        assert!(answer.refused(status, bytes).starts_with(message), "{answer:?}");
    }
    let url = upload["url"].as_str().expect("a URL");
    let path = url.strip_prefix("https://docs.example").expect("a URL of the server");
    for method in ["GET", "POST", "DELETE"] {
        s.send(method, path, None, None).await.refused(405, method);
    }
    let of_other_org = json!({ "url": url.replace(&s.org, &s.other_org) });
    let of_space = json!({ "url": url.replace("/upload/", "/openapi/") });
    let mut forged = url.to_owned();
    forged.replace_range(url.len() - 1.., if url.ends_with('2') { "3" } else { "2" });
    for (upload, status) in [(of_other_org, 404), (of_space, 405), (json!({ "url": forged }), 404)] {
        put(&s, &upload, "1234").await.refused(status, upload["url"].as_str().expect("a URL"));
    }
    assert_eq!(before, s.stored().await);
    s.clock.advance(HOUR - Duration::from_millis(1));
    put(&s, &upload, "1234").await.is(204, "in time");
    s.clock.advance(Duration::from_millis(1));
    let late = put(&s, &upload, "1234").await;
    assert_eq!(late.refused(404, "late"), "the URL of this upload has expired; request a new one");
    s.check().await;
}

#[tokio::test]
async fn url_ends_with_the_role_of_its_user() {
    let s = Server::new().await;
    let (user, token) = s.joining("Edna", Some(Role::Edit)).await;
    let request =
        || async { s.ask("POST", &uploads(&s), &token, Some(file("a.md", 1))).await.is(201, "issued") };
    let (first, second) = (request().await, request().await);
    put(&s, &first, "1").await.is(204, "an editor");
    let set = async |role: Role| {
        let (org, user): (OrgId, UserId) = (s.org.parse().expect("an id"), user.clone());
        s.platform.as_platform().org(&org).member(&user).put(Some(role)).await.expect("changed");
    };
    set(Role::Read).await;
    for upload in [&first, &second] {
        put(&s, upload, "1").await.refused(404, "a reader");
    }
    set(Role::Edit).await;
    put(&s, &second, "1").await.is(204, "an editor again");
}

#[tokio::test]
async fn invalid_files_of_a_run_are_rejected() {
    let s = Server::new().await;
    let (runs, space) = (format!("/v1/org/{}/imports", s.org), open_space(&s).await);
    let (own, same) = (uploaded(&s, &s.admin, "a.md", "A").await, uploaded(&s, &s.admin, "A.md", "A").await);
    let of_editor = uploaded(&s, &s.editor, "b.md", "B").await;
    let archive = uploaded(&s, &s.admin, "c.zip", "C").await;
    let unused =
        s.post(&uploads(&s), 201, file("d.md", 1)).await.body["key"].as_str().expect("a key").to_owned();
    let missing = "does not exist or has expired; upload the file again";
    let check = async |files: Vec<String>, message: &str| {
        let error = s.invalid("POST", &runs, run_of(&files, &space), "source.files: ").await;
        assert!(error.contains(message), "{error}");
    };
    check(vec![], "must have 1 to 50 keys, has 0").await;
    check(vec![own.clone(); 51], "must have 1 to 50 keys, has 51").await;
    check(vec!["!".to_owned()], missing).await;
    check(vec!["unknown".to_owned()], missing).await;
    check(vec![own.clone(), of_editor.clone()], missing).await;
    check(vec![unused], "was not uploaded").await;
    check(vec![own.clone(), same], "two files have the name `A.md`; rename one of them").await;
    check(vec![own.clone(), archive], "an archive must be the only file").await;
    // Another organization does not find the file, even for the same user.
    let other = format!("/v1/org/{}/imports", s.other_org);
    let elsewhere =
        s.ask("POST", &format!("/v1/orgs/{}/spaces", s.other_org), &s.both, Some(json!({}))).await;
    let elsewhere = id(&elsewhere.is(201, "a space"));
    let of_both = uploaded(&s, &s.both, "e.md", "E").await;
    s.ask("PATCH", &format!("/v1/spaces/{elsewhere}"), &s.both, Some(json!({ "editMode": "live" }))).await;
    let answer = s.ask("POST", &other, &s.both, Some(run_of(&[of_both], &elsewhere))).await;
    assert!(answer.refused(400, "another organization").contains(missing), "{answer:?}");
    // The files expire 24 hours after their URLs were issued.
    s.clock.advance(24 * HOUR - Duration::from_millis(1));
    let run = s.post(&runs, 201, run_of(std::slice::from_ref(&own), &space)).await.body;
    s.clock.advance(Duration::from_millis(1));
    check(vec![own], missing).await;
    s.platform.settle().await.expect("settled");
    let failed = s.get(&format!("{runs}/{}", id(&run))).await;
    assert_eq!(failed["status"], "failed");
    assert!(failed["reason"].as_str().is_some_and(|reason| reason.contains(missing)), "{failed}");
    s.check().await;
}

#[tokio::test]
async fn uploads_of_a_user_are_bounded_until_they_expire() {
    let s = Server::new().await;
    for _ in 0..100 {
        s.post(&uploads(&s), 201, file("a.md", 1)).await;
    }
    let answer = s.ask("POST", &uploads(&s), &s.admin, Some(file("a.md", 1))).await;
    assert!(
        answer.refused(409, "the bound").starts_with("at most 100 files can be uploaded within 24 hours")
    );
    s.ask("POST", &uploads(&s), &s.editor, Some(file("a.md", 1))).await.is(201, "another user");
    s.clock.advance(24 * HOUR);
    s.post(&uploads(&s), 201, file("a.md", 1)).await;
    s.clock.advance(Duration::from_millis(1));
    s.platform.tidy().await.expect("tidied");
    let stored = s.stored().await;
    let left: Vec<_> = stored.shown().map(|(key, _)| key).filter(|key| key.starts_with("upl!")).collect();
    assert_eq!(left.len(), 1, "{left:?}");
    s.check().await;
}
