//! PDF files over HTTP: requesting the URL, and downloading the file.

use std::time::Duration;

use poem::http::{HeaderMap, Method};
use serde_json::json;

use crate::server::{Server, id};

/// Creates a space with two nested pages and a change request. Returns their ids.
async fn content(s: &Server) -> (String, String, [String; 2]) {
    let space = s.space().await;
    let request = s.request(&space).await;
    let insert = |name: &str, into: Option<&str>| json!({ "operation": "insert_page", "title": name, "ref": name, "document": { "markdown": "Text.\n" }, "into": into });
    let mut top = insert("Große Übersicht", None);
    top.as_object_mut().expect("an object").remove("into");
    let changes = json!({ "changes": [top, insert("Below", Some("Große Übersicht"))] });
    s.post(&format!("{request}/content"), 200, changes).await;
    let pages = s.get(&format!("{request}/content")).await;
    let pages = [id(&pages["pages"][0]), id(&pages["pages"][0]["pages"][0])];
    (format!("/v1/spaces/{space}"), request, pages)
}

/// Returns the path of a PDF file's URL.
async fn way(s: &Server, path: &str) -> String {
    let url = s.get(path).await["url"].as_str().expect("an address").to_owned();
    url.strip_prefix("https://docs.example").expect("an address of the server").to_owned()
}

/// Downloads a file while a worker generates it if necessary.
async fn load(s: &Server, method: Method, path: &str) -> (u16, HeaderMap, Vec<u8>) {
    let first = load_with(s, method.clone(), path, &[("prefer", "respond-async")]).await;
    if first.0 != 202 {
        return first;
    }
    s.platform.settle().await.expect("settled");
    load_with(s, method, path, &[]).await
}

async fn load_with(
    s: &Server,
    method: Method,
    path: &str,
    headers: &[(&'static str, &str)],
) -> (u16, HeaderMap, Vec<u8>) {
    let request = s.client.request(method, path);
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    let response = request.send().await.0;
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    (status, headers, response.into_body().into_vec().await.expect("a body"))
}

#[tokio::test]
async fn pdf_url_serves_the_file_without_a_token() {
    let s = Server::new().await;
    let (space, request, [top, below]) = content(&s).await;
    for (path, pages) in [
        (format!("{space}/pdf"), ""),
        (format!("{request}/pdf"), "Große Übersicht|Below"),
        (format!("{request}/pdf?page={top}"), "Große Übersicht|Below"),
        (format!("{request}/pdf?page={top}&only=false"), "Große Übersicht|Below"),
        (format!("{request}/pdf?page={top}&only=true"), "Große Übersicht"),
        (format!("{request}/pdf?only=true&page={below}"), "Below"),
        (format!("{request}/pdf?only=false"), "Große Übersicht|Below"),
    ] {
        let way = way(&s, &path).await;
        let (status, headers, body) = load(&s, Method::GET, &way).await;
        assert_eq!((status, String::from_utf8(body)), (200, Ok(format!("%PDF {pages}"))), "{path}");
        assert_eq!(headers["content-type"], "application/pdf");
        assert_eq!(headers["cache-control"], "private, no-cache");
        assert_eq!(headers["x-content-type-options"], "nosniff");
    }
    s.check().await;
}

#[tokio::test]
async fn pdf_file_name_derives_from_the_space_or_page() {
    let s = Server::new().await;
    let (space, request, [top, _]) = content(&s).await;
    for (path, name) in [
        (format!("{space}/pdf"), "guide.pdf"),
        (format!("{request}/pdf?page={top}"), "gro%C3%9Fe-%C3%BCbersicht.pdf"),
    ] {
        let (_, headers, _) = load(&s, Method::GET, &way(&s, &path).await).await;
        let named = headers["content-disposition"].to_str().expect("text");
        assert_eq!(named, format!("inline; filename*=UTF-8''{name}"));
    }
}

#[tokio::test]
async fn pdf_url_expires_after_one_hour() {
    let s = Server::new().await;
    let (_, request, _) = content(&s).await;
    let way = way(&s, &format!("{request}/pdf")).await;
    s.clock.advance(Duration::from_secs(60 * 60 - 1));
    assert_eq!(load(&s, Method::GET, &way).await.0, 200);
    s.clock.advance(Duration::from_secs(2));
    let (status, headers, body) = load(&s, Method::GET, &way).await;
    assert_eq!((status, &headers["content-type"]), (404, &"application/json".parse().expect("a value")));
    let body: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
    let message = "the address of this PDF has expired; request a new one";
    assert_eq!(body, json!({ "error": { "code": 404, "message": message } }));
}

#[tokio::test]
async fn pdf_url_is_invalid_once_its_user_loses_access() {
    let s = Server::new().await;
    let (space, request, _) = content(&s).await;
    let user = id(&s.ask("GET", "/v1/user", &s.reader, None).await.is(200, "a user"));
    for path in [format!("{space}/pdf"), format!("{request}/pdf")] {
        let link = s.ask("GET", &path, &s.reader, None).await.is(200, &path);
        let theirs = link["url"].as_str().expect("an address").replace("https://docs.example", "");
        let own = way(&s, &path).await;
        assert_eq!(load(&s, Method::GET, &theirs).await.0, 200);
        s.patch(&space, json!({ "defaultLevel": null })).await;
        assert_eq!(load(&s, Method::GET, &theirs).await.0, 404, "{path}: hidden from members");
        assert_eq!(load(&s, Method::GET, &own).await.0, 200);
        s.patch(&space, json!({ "defaultLevel": "inherit" })).await;
        assert_eq!(load(&s, Method::GET, &theirs).await.0, 200);
    }
    let link = s.ask("GET", &format!("{space}/pdf"), &s.reader, None).await.is(200, "a link");
    let theirs = link["url"].as_str().expect("an address").replace("https://docs.example", "");
    s.ask("DELETE", &format!("/v1/orgs/{}/members/{user}", s.org), &s.admin, None).await.is(204, "removed");
    assert_eq!(load(&s, Method::GET, &theirs).await.0, 404, "a removed member");
    s.check().await;
}

#[tokio::test]
async fn pdf_url_is_read_only_and_altered_urls_return_404() {
    let s = Server::new().await;
    let (space, request, _) = content(&s).await;
    let way = way(&s, &format!("{request}/pdf")).await;
    let (status, headers, body) = load(&s, Method::HEAD, &way).await;
    assert_eq!(
        (status, &headers["content-type"], body.len()),
        (200, &"application/pdf".parse().expect("a value"), 0)
    );
    for method in [Method::POST, Method::PUT, Method::DELETE] {
        assert_eq!(load(&s, method, &way).await.0, 405);
    }
    let parts: Vec<&str> = way.split('/').collect();
    let space_id = space.rsplit('/').next().expect("an id");
    for wrong in [
        format!("/files/{space_id}/pdf/x/guide.pdf"),
        format!("/files/nosuchspace/pdf/{}/guide.pdf", parts[4]),
        format!("/files/{space_id}/{}/guide.pdf", parts[4]),
        format!("/files/{space_id}/pdf/{}", parts[4]),
    ] {
        assert_eq!(load(&s, Method::GET, &wrong).await.0, 404, "{wrong}");
    }
    s.ask("DELETE", &space, &s.admin, None).await;
    assert_eq!(load(&s, Method::GET, &way).await.0, 404, "the space is deleted");
}

#[tokio::test]
async fn invalid_pdf_requests_are_rejected_with_a_message() {
    let s = Server::new().await;
    let (space, request, [top, _]) = content(&s).await;
    for (path, status, message) in [
        (format!("{request}/pdf?only=true"), 400, "only: must not be set without `page`"),
        (format!("{request}/pdf?page={top}&only=maybe"), 400, "only: "),
        (format!("{request}/pdf?page={top}&page={top}"), 400, "page: "),
        (format!("{request}/pdf?page="), 404, "no such page"),
        (format!("{request}/pdf?page=nosuchpage"), 404, "no such page"),
        (format!("{request}/pdf?page=%2e%2e"), 404, "no such page"),
        (format!("{space}/pdf?page={top}"), 404, "no such page"),
        (format!("{space}/change-requests/99/pdf"), 404, "no such change request"),
        ("/v1/spaces/nosuchspace/pdf".to_owned(), 404, "no such space"),
    ] {
        let answer = s.ask("GET", &path, &s.admin, None).await;
        let told = answer.refused(status, &path);
        assert!(told.starts_with(message), "{path}: {told}");
    }
    assert_eq!(s.ask("GET", &format!("{request}/pdf"), &s.outsider, None).await.status, 404);
    assert_eq!(s.ask("GET", &format!("{request}/pdf"), &s.reader, None).await.status, 200);
}

#[tokio::test]
async fn oversized_pdf_returns_413_on_download() {
    let s = Server::new().await;
    let (_, request, _) = content(&s).await;
    let change = json!({ "operation": "insert_page", "title": "Too much", "document": { "markdown": "x" } });
    s.post(&format!("{request}/content"), 200, json!({ "changes": [change] })).await;
    let (status, _, body) = load(&s, Method::GET, &way(&s, &format!("{request}/pdf")).await).await;
    let body: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
    let message = "this is too much; select fewer pages with `page` and `only`";
    assert_eq!((status, &body["error"]["message"]), (413, &json!(message)));
}

#[tokio::test]
async fn without_waiting_the_response_has_retry_after() {
    let s = Server::new().await;
    let (_, request, _) = content(&s).await;
    let way = way(&s, &format!("{request}/pdf")).await;
    for method in [Method::GET, Method::HEAD] {
        let (status, headers, body) = load_with(&s, method, &way, &[("prefer", "respond-async")]).await;
        assert_eq!((status, body.len()), (202, 0));
        assert_eq!(
            (&headers["retry-after"], &headers["preference-applied"]),
            (&"2".parse().expect("a value"), &"respond-async".parse().expect("a value"))
        );
        assert_eq!(headers["cache-control"], "no-store");
    }
    // A client without `respond-async` might save a 202 response as the file, so it gets an error until the file
    // exists.
    let (status, headers, body) = load_with(&s, Method::GET, &way, &[("prefer", "wait=0")]).await;
    let body: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
    assert_eq!((status, &headers["retry-after"]), (503, &"2".parse().expect("a value")));
    assert!(body["error"]["message"].as_str().expect("a message").contains("respond-async"), "{body}");
    s.platform.settle().await.expect("settled");
    let (status, headers, _) = load_with(&s, Method::GET, &way, &[("prefer", "respond-async")]).await;
    assert_eq!((status, headers.get("retry-after")), (200, None));
    s.check().await;
}

#[tokio::test]
async fn pending_pdf_download_completes_when_the_worker_finishes() {
    let s = Server::new().await;
    let (_, request, _) = content(&s).await;
    let way = way(&s, &format!("{request}/pdf")).await;
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let working = s.platform.work(async move { drop(stopped.await) });
    let loading = async {
        let loaded = load_with(&s, Method::GET, &way, &[]).await;
        stop.send(()).expect("it listens");
        loaded
    };
    let ((status, _, body), ()) = tokio::join!(loading, working);
    assert_eq!((status, String::from_utf8(body)), (200, Ok("%PDF Große Übersicht|Below".to_owned())));
}

#[tokio::test]
async fn pdf_download_supports_ranges_and_etag_revalidation() {
    let s = Server::new().await;
    let (_, request, _) = content(&s).await;
    let way = way(&s, &format!("{request}/pdf")).await;
    let (_, headers, whole) = load(&s, Method::GET, &way).await;
    assert_eq!(headers["content-length"].to_str().expect("text"), whole.len().to_string());
    let tag = headers["etag"].to_str().expect("text").to_owned();
    let (status, headers, part) = load_with(&s, Method::GET, &way, &[("range", "bytes=1-3")]).await;
    assert_eq!((status, part), (206, b"PDF".to_vec()));
    assert_eq!(headers["content-range"].to_str().expect("text"), format!("bytes 1-3/{}", whole.len()));
    let (status, headers, _) = load_with(&s, Method::GET, &way, &[("range", "bytes=900-")]).await;
    assert_eq!(
        (status, headers["content-range"].to_str().expect("text")),
        (416, &*format!("bytes */{}", whole.len()))
    );
    assert_eq!(load_with(&s, Method::GET, &way, &[("if-none-match", &tag)]).await.0, 304);
}

#[tokio::test]
async fn equal_pdf_requests_share_one_listed_job() {
    let s = Server::new().await;
    let (space, request, _) = content(&s).await;
    let (one, two) = (way(&s, &format!("{request}/pdf")).await, way(&s, &format!("{request}/pdf")).await);
    assert_ne!(one, two);
    let (first, second) = (load(&s, Method::GET, &one).await, load(&s, Method::GET, &two).await);
    assert_eq!((first.0, &first.2), (200, &second.2));
    let jobs = s.get(&format!("{space}/jobs")).await;
    let [job] = &jobs["items"].as_array().expect("a list")[..] else { panic!("{jobs}") };
    assert_eq!(
        (&job["kind"], &job["state"], &job["stage"]),
        (&json!("pdf"), &json!("done"), &json!("finalize"))
    );
    assert_eq!(job["createdBy"]["displayName"], "Ada");
}
