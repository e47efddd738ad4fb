//! Downloads of files.

use data_encoding::BASE64;
use poem::http::{HeaderMap, Method};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::server::{Server, id};

/// A stored file: the path of its content, and its ETag.
struct Kept {
    path: String,
    tag: String,
}

struct Got {
    status: u16,
    headers: HeaderMap,
    bytes: Vec<u8>,
}

impl Got {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().expect("text"))
    }
}

async fn get(s: &Server, method: Method, path: &str, headers: &[(&str, &str)]) -> Got {
    let mut request = s.client.request(method, path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = request.send().await.0;
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let bytes = response.into_body().into_vec().await.expect("a body");
    Got { status, headers, bytes }
}

async fn insert(s: &Server, request: &str, files: Value) -> Vec<Value> {
    let body = json!({ "changes": [{ "operation": "insert_files", "files": files }] });
    let done = s.post(&format!("{request}/content?compat=false"), 200, body).await.body;
    done["insertedFiles"].as_array().expect("files").clone()
}

fn address(file: &Value) -> String {
    let url = file["downloadURL"].as_str().expect("an address");
    url.strip_prefix("https://docs.example").expect("an address of this server").to_owned()
}

async fn keep(s: &Server, name: &str, content_type: &str, bytes: &[u8]) -> Kept {
    let space = s.space().await;
    let request = s.request(&space).await;
    let file = json!([{ "name": name, "contentType": content_type, "base64": BASE64.encode(bytes) }]);
    let path = address(&insert(s, &request, file).await[0]);
    let tag = get(s, Method::HEAD, &path, &[]).await.header("etag").expect("a tag").to_owned();
    Kept { path, tag }
}

#[tokio::test]
async fn file_is_served_unchanged_with_mandatory_revalidation() {
    let s = Server::new().await;
    let kept = keep(&s, "a b&ü.png", "image/png", b"0123456789").await;
    let got = get(&s, Method::GET, &kept.path, &[]).await;
    assert_eq!((got.status, &got.bytes[..]), (200, &b"0123456789"[..]));
    let headers = [
        ("content-type", "image/png"),
        ("content-length", "10"),
        ("accept-ranges", "bytes"),
        ("cache-control", "private, no-cache"),
        ("x-content-type-options", "nosniff"),
        ("cross-origin-resource-policy", "cross-origin"),
        ("etag", &kept.tag),
    ];
    for (name, value) in headers {
        assert_eq!(got.header(name), Some(value), "{name}");
    }
    assert!(kept.tag.starts_with('"') && kept.tag.ends_with('"'), "a strong tag: {}", kept.tag);
    let head = get(&s, Method::HEAD, &kept.path, &[("range", "bytes=0-3")]).await;
    assert_eq!((head.status, head.bytes.len()), (200, 0), "HEAD has no ranges");
    for (name, value) in headers {
        assert_eq!(head.header(name), Some(value), "HEAD {name}");
    }
    // The file name in the URL has no effect on the response.
    let renamed = format!("{}/a.html", kept.path.rsplit_once('/').expect("a name").0);
    assert_eq!(get(&s, Method::GET, &renamed, &[]).await.header("content-type"), Some("image/png"));
    for (method, status) in [(Method::OPTIONS, 204), (Method::POST, 405), (Method::DELETE, 405)] {
        let got = get(&s, method, &kept.path, &[]).await;
        assert_eq!((got.status, got.header("allow")), (status, Some("GET, HEAD, OPTIONS")));
    }
}

#[tokio::test]
async fn known_file_etag_returns_304() {
    let s = Server::new().await;
    let Kept { path, tag } = keep(&s, "a.png", "image/png", b"0123456789").await;
    let weak = format!("W/{tag}");
    let list = format!("\"x\", {tag}");
    for known in [&tag, &weak, &list, &"*".to_owned()] {
        for method in [Method::GET, Method::HEAD] {
            let got = get(&s, method, &path, &[("if-none-match", known), ("range", "bytes=0-3")]).await;
            assert_eq!((got.status, got.bytes.len()), (304, 0), "{known}");
            assert_eq!(got.header("etag"), Some(&*tag));
            assert_eq!(got.header("cache-control"), Some("private, no-cache"));
        }
    }
    for unknown in ["\"x\"", tag.trim_matches('"'), ""] {
        assert_eq!(get(&s, Method::GET, &path, &[("if-none-match", unknown)]).await.status, 200, "{unknown}");
    }
}

#[tokio::test]
async fn file_supports_range_requests() {
    let s = Server::new().await;
    let Kept { path, tag } = keep(&s, "a.mp4", "video/mp4", b"0123456789").await;
    for (range, bytes, told) in [
        ("bytes=0-3", "0123", "bytes 0-3/10"),
        ("bytes=4-", "456789", "bytes 4-9/10"),
        ("bytes=-3", "789", "bytes 7-9/10"),
        ("bytes=9-99", "9", "bytes 9-9/10"),
    ] {
        let got = get(&s, Method::GET, &path, &[("range", range), ("if-range", &tag)]).await;
        assert_eq!((got.status, &got.bytes[..]), (206, bytes.as_bytes()), "{range}");
        assert_eq!(got.header("content-range"), Some(told));
        assert_eq!(got.header("content-length"), Some(&*bytes.len().to_string()));
        assert_eq!((got.header("etag"), got.header("content-type")), (Some(&*tag), Some("video/mp4")));
    }
    for range in ["bytes=10-", "bytes=-0"] {
        let got = get(&s, Method::GET, &path, &[("range", range)]).await;
        assert_eq!((got.status, got.header("content-range")), (416, Some("bytes */10")), "{range}");
        let body: Value = serde_json::from_slice(&got.bytes).expect("JSON");
        assert_eq!(body["error"]["code"], 416);
        assert_eq!(got.header("cache-control"), Some("no-store"), "a failure is not kept");
    }
    // Several ranges, an invalid range, or a failed `If-Range` condition return the full content.
    for headers in [
        &[("range", "bytes=0-1,3-4")][..],
        &[("range", "bytes=5-4")],
        &[("range", "pages=0-1")],
        &[("range", "bytes=0-1"), ("if-range", "\"x\"")],
        &[("range", "bytes=0-1"), ("if-range", "Sat, 21 Nov 2026 20:00:00 GMT")],
    ] {
        let got = get(&s, Method::GET, &path, headers).await;
        assert_eq!(
            (got.status, got.bytes.len(), got.header("content-range")),
            (200, 10, None),
            "{headers:?}"
        );
    }
}

#[tokio::test]
async fn files_are_sandboxed_and_active_types_downloaded() {
    let s = Server::new().await;
    let sandbox = Some("sandbox; default-src 'none'; style-src 'unsafe-inline'");
    for (content_type, told, is_saved) in [
        ("image/png", "image/png", false),
        ("video/mp4", "video/mp4", false),
        ("audio/mpeg", "audio/mpeg", false),
        ("text/plain", "text/plain; charset=utf-8", false),
        ("text/plain; charset=latin1", "text/plain; charset=latin1", false),
        ("image/svg+xml", "image/svg+xml", true),
        ("IMAGE/SVG+XML; charset=utf-8", "image/svg+xml; charset=utf-8", true),
        ("text/html", "application/octet-stream", true),
        ("application/xhtml+xml", "application/octet-stream", true),
        ("application/xml", "application/octet-stream", true),
        ("text/javascript", "application/octet-stream", true),
        ("application/octet-stream", "application/octet-stream", true),
        ("application/pdf", "application/pdf", false),
    ] {
        let kept = keep(&s, "a.txt", content_type, b"<script>alert(1)</script>").await;
        for headers in [&[][..], &[("range", "bytes=0-3")]] {
            let got = get(&s, Method::GET, &kept.path, headers).await;
            assert_eq!(got.header("content-type"), Some(told));
            assert_eq!(got.header("content-security-policy"), sandbox, "{content_type}");
            assert_eq!(got.header("x-content-type-options"), Some("nosniff"));
            assert_eq!(got.header("content-disposition").is_some(), is_saved, "{content_type}");
        }
    }
}

#[tokio::test]
async fn only_sealed_file_urls_return_content() {
    let s = Server::new().await;
    let space = s.space().await;
    let request = s.request(&space).await;
    let file = json!([{ "name": "a.txt", "contentType": "text/plain", "base64": "YQ==" }]);
    let path = address(&insert(&s, &request, file).await[0]);
    let parts: Vec<&str> = path.split('/').collect();
    let (sealed, other) = (parts[3], s.space().await);
    let document = {
        let body =
            json!({ "changes": [{ "operation": "insert_page", "document": { "markdown": "Text." } }] });
        s.post(&format!("{request}/content"), 200, body).await;
        s.get(&format!("{request}/content")).await["pages"][0]["documentId"]
            .as_str()
            .expect("an id")
            .to_owned()
    };
    let blob = docs_core::store::Hash::compute(b"a").to_string();
    for wrong in [
        format!("/files/{other}/{sealed}/a.txt"),
        format!("/files/{space}/{blob}/a.txt"),
        format!("/files/{space}/{document}/a.txt"),
        format!("/files/{space}/{}/a.txt", &sealed[1..]),
        format!("/files/not%20an%20id/{sealed}/a.txt"),
        format!("/files/{space}/%ff/a.txt"),
    ] {
        for method in [Method::GET, Method::HEAD] {
            assert_eq!(get(&s, method, &wrong, &[]).await.status, 404, "{wrong}");
        }
    }
    assert_eq!(get(&s, Method::GET, &path, &[]).await.bytes, b"a");
    let gone = format!("/v1/spaces/{space}");
    s.ask("DELETE", &gone, &s.admin, None).await.is(204, &gone);
    assert_eq!(get(&s, Method::GET, &path, &[]).await.status, 404, "the space is deleted");
}

#[tokio::test]
async fn empty_file_has_no_satisfiable_range() {
    let s = Server::new().await;
    let kept = keep(&s, "a.txt", "text/plain", b"").await;
    let got = get(&s, Method::GET, &kept.path, &[]).await;
    assert_eq!((got.status, got.header("content-length")), (200, Some("0")));
    assert_eq!(get(&s, Method::GET, &kept.path, &[("range", "bytes=0-")]).await.status, 416);
}

#[tokio::test]
async fn files_with_equal_bytes_share_content_but_not_names() {
    let s = Server::new().await;
    let space = s.space().await;
    let request = s.request(&space).await;
    let file = |name: &str| json!({ "name": name, "contentType": "text/plain", "base64": "YQ==" });
    let files = insert(&s, &request, json!([file("a.txt"), file("a.txt"), file("b"), file("b")])).await;
    let shown = |files: &[Value]| {
        files.iter().map(|f| f["name"].as_str().expect("text").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(shown(&files), ["a.txt", "a (1).txt", "b", "b (1)"]);
    let again = insert(&s, &request, json!([file("a.txt"), file("a (1).txt")])).await;
    assert_eq!(shown(&again), ["a (2).txt", "a (1) (1).txt"]);
    let sealed = |file: &Value| address(file).split('/').nth(3).expect("a part").to_owned();
    assert!(files.iter().all(|file| sealed(file) == sealed(&files[0])));
    let listed = s.get(&format!("{request}/content/files")).await;
    let mut ids: Vec<String> = listed["items"].as_array().expect("a list").iter().map(id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 6, "each is a file of its own");
}

/// All cases share one server and one file.
#[test]
fn every_range_of_a_file_is_a_slice_of_it() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let bytes: Vec<u8> = (0..=255).collect();
    let (s, kept) = runtime.block_on(async {
        let s = Server::new().await;
        let kept = keep(&s, "a.bin", "application/octet-stream", &bytes).await;
        (s, kept)
    });
    let part = (0usize..300, proptest::option::of(0usize..300));
    proptest!(ProptestConfig::with_cases(64), |((first, last) in part, is_suffix: bool)| {
        let last_text = last.map(|n| n.to_string()).unwrap_or_default();
        let (range, expected) = match (is_suffix, last) {
            (true, _) => (format!("bytes=-{first}"), Some(&bytes[256 - first.min(256)..])),
            (false, Some(last)) if last < first => (format!("bytes={first}-{last_text}"), None),
            (false, last) => {
                let end = last.map_or(256, |last| (last + 1).min(256));
                (format!("bytes={first}-{last_text}"), Some(&bytes[first.min(end)..end]))
            }
        };
        let got = runtime.block_on(get(&s, Method::GET, &kept.path, &[("range", &range)]));
        match expected {
            None => prop_assert_eq!((got.status, &got.bytes), (200, &bytes)),
            Some([]) => prop_assert_eq!(got.status, 416),
            Some(slice) => prop_assert_eq!((got.status, &got.bytes[..]), (206, slice)),
        }
    });
}

/// Creates a published page with an image. Returns the space and the site.
async fn published(s: &Server, visibility: &str) -> (String, String) {
    let space = s.space().await;
    let request = s.request(&space).await;
    let file = json!({ "name": "a.png", "ref": "a.png", "contentType": "image/png", "base64": "YQ==" });
    let page = json!({ "operation": "insert_page", "document": { "markdown": "# Page\n\n![A](./a.png)\n" } });
    let changes = json!([{ "operation": "insert_files", "files": [file] }, page]);
    s.post(&format!("{request}/content"), 200, json!({ "changes": changes })).await;
    s.post(&format!("{request}/merge"), 200, json!({})).await;
    let site = s.site("Docs", &[&space]).await;
    s.patch(&site, json!({ "visibility": visibility })).await;
    s.post(&format!("{site}/publish"), 200, json!({})).await;
    (space, site)
}

/// Returns the URL of a space's image, as issued to a caller.
async fn picture(s: &Server, space: &str, authorization: Option<&str>) -> String {
    let path = format!("/v1/spaces/{space}/content/files");
    address(&s.send("GET", &path, authorization, None).await.is(200, &path)["items"][0])
}

/// Returns the content token for a site URL.
async fn token_of(s: &Server, url: &Value) -> String {
    let found = s.send(
        "POST",
        "/v1/urls/published",
        None,
        Some(("application/json", json!({ "url": url }).to_string())),
    );
    format!("Bearer {}", found.await.is(200, "resolved")["apiToken"].as_str().expect("a token"))
}

#[tokio::test]
async fn file_url_expires_with_its_share_link() {
    let s = Server::new().await;
    let (space, site) = published(&s, "share-link").await;
    let mut links = Vec::new();
    for name in ["One", "Two"] {
        let link = s.post(&format!("{site}/share-links"), 201, json!({ "name": name })).await.body;
        let token = token_of(&s, &link["urls"]["published"]).await;
        links.push((id(&link), picture(&s, &space, Some(&token)).await));
    }
    for (_, path) in &links {
        let got = get(&s, Method::GET, path, &[]).await;
        assert_eq!((got.status, got.header("cache-control")), (200, Some("private, no-cache")));
    }
    let (one, path) = &links[0];
    s.ask("DELETE", &format!("{site}/share-links/{one}"), &s.admin, None).await.is(204, "revoked");
    let tag = get(&s, Method::GET, &links[1].1, &[]).await.header("etag").expect("a tag").to_owned();
    for known in [&*tag, "*", "\"x\""] {
        let got = get(&s, Method::GET, path, &[("if-none-match", known)]).await;
        assert_eq!(got.status, 404, "revoked, also for who has the file");
    }
    assert_eq!(get(&s, Method::GET, &links[1].1, &[]).await.status, 200, "another link shows it still");
    s.patch(&format!("{site}/share-links/{}", links[1].0), json!({ "active": false })).await;
    assert_eq!(get(&s, Method::GET, &links[1].1, &[]).await.status, 404, "turned off");
}

/// The URL does not expire. Responses are cacheable, but must be revalidated.
#[tokio::test]
async fn public_file_url_works_while_its_site_is_public() {
    let s = Server::new().await;
    for visibility in ["public", "unlisted"] {
        let (space, site) = published(&s, visibility).await;
        let token = token_of(&s, &s.get(&site).await["urls"]["published"]).await;
        let outsider = format!("Bearer {}", s.outsider);
        let mut paths = Vec::new();
        for reader in [None, Some(&*token), Some(&*outsider)] {
            paths.push(picture(&s, &space, reader).await);
        }
        for path in paths {
            s.post(&format!("{site}/publish"), 200, json!({})).await;
            let got = get(&s, Method::GET, &path, &[]).await;
            assert_eq!((got.status, got.header("cache-control")), (200, Some("public, no-cache")));
            s.clock.advance(std::time::Duration::from_secs(30 * 24 * 60 * 60));
            assert_eq!(
                get(&s, Method::GET, &path, &[]).await.status,
                200,
                "for as long as anybody may read it"
            );
            s.post(&format!("{site}/unpublish"), 200, json!({})).await;
            assert_eq!(get(&s, Method::GET, &path, &[]).await.status, 404, "{visibility}: unpublished");
            s.post(&format!("{site}/publish"), 200, json!({})).await;
            s.patch(&site, json!({ "visibility": "visitor-auth" })).await;
            assert_eq!(get(&s, Method::GET, &path, &[]).await.status, 404, "{visibility}: for others now");
            s.patch(&site, json!({ "visibility": visibility })).await;
            assert_eq!(get(&s, Method::GET, &path, &[]).await.status, 200, "for anybody again");
        }
        let own = picture(&s, &space, Some(&format!("Bearer {}", s.reader))).await;
        assert_eq!(get(&s, Method::GET, &own, &[]).await.header("cache-control"), Some("private, no-cache"));
    }
}

/// Each member receives a different URL.
#[tokio::test]
async fn member_file_url_works_while_the_member_has_access() {
    let s = Server::new().await;
    let (space, _) = published(&s, "visitor-auth").await;
    let reader = id(&s.ask("GET", "/v1/user", &s.reader, None).await.is(200, "a user"));
    let theirs = picture(&s, &space, Some(&format!("Bearer {}", s.reader))).await;
    let own = picture(&s, &space, Some(&format!("Bearer {}", s.admin))).await;
    assert_ne!(theirs, own, "each has their own");
    let status = async |path: &str| get(&s, Method::GET, path, &[]).await.status;
    assert_eq!((status(&theirs).await, status(&own).await), (200, 200));
    let level = format!("/v1/spaces/{space}");
    s.patch(&level, json!({ "defaultLevel": null })).await;
    assert_eq!((status(&theirs).await, status(&own).await), (404, 200), "hidden from members");
    s.patch(&level, json!({ "defaultLevel": "inherit" })).await;
    assert_eq!(status(&theirs).await, 200);
    s.ask("DELETE", &format!("/v1/orgs/{}/members/{reader}", s.org), &s.admin, None).await.is(204, "removed");
    assert_eq!((status(&theirs).await, status(&own).await), (404, 200));
}
