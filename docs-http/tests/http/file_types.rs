//! Media types that browsers interpret differently from servers.

use data_encoding::BASE64;
use docs_core::{
    ports::{Ids as _, RandomIds, SealingKey, Secrets as _},
    store::Hash,
};
use docs_memstore::SeededIds;
use poem::http::HeaderMap;
use serde_json::{Value, json};

use crate::{
    server::Server,
    tricks::{ACTIVE, TRICKS},
};

/// Strings that are rejected as media types and must never appear in a header.
const UNSENT: &[&str] = &[
    "",
    " ",
    "image/png\r\nContent-Type: text/html",
    "image/png\ntext/html",
    "image/png\r\n\r\n<script>alert(1)</script>",
    "image/png\u{b}text/html",
    "image/png;x=\u{0}",
    "image/png\u{0},text/html",
    "text/h\u{0}tml",
    "image/png\u{7f}",
    "tëxt/html",
    "text/html\u{2028}",
    "text/html; charset=ütf-8",
    "text\u{ff0f}html",
];

const PAGE: &[u8] = b"<html><script>alert(1)</script></html>";

/// Returns the response headers that determine how browsers handle a file.
fn isolated(headers: &HeaderMap) -> [&str; 4] {
    let one = |name: &str| {
        let mut values = headers.get_all(name).iter().map(|value| value.to_str().expect("text"));
        let first = values.next().unwrap_or_default();
        assert_eq!(values.next(), None, "{name} is sent once");
        first
    };
    let fields = [one("content-type"), one("content-disposition"), one("content-security-policy")];
    let [content_type, disposition, policy] = fields;
    assert!(policy.contains("sandbox") && policy.contains("default-src 'none'"), "{policy}");
    assert!(!policy.contains("allow-"), "{policy}");
    [content_type, disposition, one("x-content-type-options"), one("cross-origin-resource-policy")]
}

/// Returns a sealed file URL with this media type, as if an earlier version had accepted it.
fn planted(url: &str, space: &str, content_type: &str) -> String {
    let path = url.strip_prefix("https://docs.example").expect("an address of this server");
    let mut parts: Vec<&str> = path.split('/').collect();
    // The key used by the servers of these tests: the first one generated from the same ids.
    let key = SealingKey::ephemeral(&SeededIds::new(11));
    let purpose = format!("file of {space}");
    let mut address: Value =
        serde_json::from_str(&key.open(&purpose, parts[3]).expect("sealed")).expect("an address");
    address["content_type"] = content_type.into();
    let sealed = key.seal(&purpose, &address.to_string(), RandomIds.next()).expect("sealed");
    parts[3] = &sealed;
    parts.join("/")
}

/// Uploads a file. Returns the path of its space, and its URL.
async fn uploaded(s: &Server) -> (String, String) {
    let space = s.space().await;
    let request = s.request(&space).await;
    let file = json!({ "name": "a", "contentType": "image/png", "base64": BASE64.encode(PAGE) });
    let body = json!({ "changes": [{ "operation": "insert_files", "files": [file] }] });
    let done = s.post(&format!("{request}/content?compat=false"), 200, body).await.body;
    (space, done["insertedFiles"][0]["downloadURL"].as_str().expect("an address").to_owned())
}

#[tokio::test]
async fn tricky_media_types_are_refused_on_every_way_in() {
    let s = Server::new().await;
    let space = s.space().await;
    let request = s.request(&space).await;
    let content = format!("{request}/content");
    let before = s.stored().await;
    assert!(TRICKS.len() >= 40, "{}", TRICKS.len());
    for trick in TRICKS.iter().chain(UNSENT) {
        for source in [json!({ "base64": "YQ==" }), json!({ "url": "https://web.example/a.svg" })] {
            let mut file = json!({ "name": "a", "contentType": trick });
            file.as_object_mut().expect("fields").extend(source.as_object().expect("a field").clone());
            let body = json!({ "changes": [{ "operation": "insert_files", "files": [file] }] });
            let answer = s.ask("POST", &content, &s.editor, Some(body)).await;
            let said = answer.refused(400, trick);
            if trick.contains('\0') {
                // The request is rejected because the string is invalid in any field.
                continue;
            }
            assert!(said.contains("changes[0].files[0].contentType: "), "{trick:?}: {said}");
        }
    }
    for trick in TRICKS {
        let part = format!(
            "--x-y\r\nContent-Disposition: form-data; name=file; filename=a.png\r\nContent-Type: {trick}\r\n\r\n\
             {}\r\n--x-y--\r\n",
            String::from_utf8_lossy(PAGE)
        );
        let form = "multipart/form-data; boundary=x-y".to_owned();
        for (header, body) in [(trick.trim().to_owned(), PAGE.to_vec()), (form, part.into_bytes())] {
            let path = format!("{content}/files?name=a.png");
            let sent = s.client.post(&path).header("authorization", format!("Bearer {}", s.editor));
            let response = sent.header("content-type", &header).body(body).send().await.0;
            assert_eq!(response.status().as_u16(), 400, "{trick:?} in {header:?}");
            let body: Value =
                serde_json::from_slice(&response.into_body().into_bytes().await.expect("a body"))
                    .expect("JSON");
            let said = body["error"]["message"].as_str().expect("a message");
            assert!(said.starts_with("contentType: must be a media type"), "{trick:?}: {said}");
        }
    }
    assert_eq!(s.stored().await, before, "nothing was stored");
}

#[tokio::test]
async fn stored_tricks_are_answered_as_bytes_with_every_status() {
    let s = Server::new().await;
    let (space, url) = uploaded(&s).await;
    let tag = format!("\"{}-b\"", Hash::compute(PAGE));
    for stored in TRICKS.iter().chain(UNSENT).chain(ACTIVE) {
        let path = planted(&url, &space, stored);
        for (name, value, status) in [
            ("accept", "*/*", 200),
            ("range", "bytes=0-20", 206),
            ("range", "bytes=900-", 416),
            ("if-none-match", &*tag, 304),
            ("accept", "image/png", 200),
        ] {
            let response = s.client.get(&path).header(name, value).send().await.0;
            assert_eq!(response.status().as_u16(), status, "{stored:?} {name}: {value}");
            let [content_type, disposition, sniffing, _] = isolated(response.headers());
            assert_eq!(sniffing, "nosniff");
            match status {
                200 | 206 => {
                    assert_eq!(
                        (content_type, disposition),
                        ("application/octet-stream", "attachment"),
                        "{stored:?}"
                    );
                }
                416 => assert_eq!(content_type, "application/json"),
                _ => assert_eq!(content_type, ""),
            }
        }
    }
}

#[tokio::test]
async fn answers_without_a_file_are_isolated_too() {
    let s = Server::new().await;
    let (space, url) = uploaded(&s).await;
    let path = url.strip_prefix("https://docs.example").expect("an address of this server").to_owned();
    for (method, path, status) in [
        ("GET", format!("/files/{space}/wrong/a.html"), 404),
        ("GET", format!("/files/{space}/pdf/wrong/a.pdf"), 404),
        ("GET", format!("/files/{}/openapi/wrong/a.json", s.org), 404),
        ("GET", format!("/files/{}/openapi/wrong", s.org), 404),
        ("POST", path.clone(), 405),
        ("OPTIONS", path.clone(), 204),
        ("HEAD", path, 200),
    ] {
        let method = method.parse().expect("a method");
        let response = s.client.request(method, &path).send().await.0;
        assert_eq!(response.status().as_u16(), status, "{path}");
        isolated(response.headers());
    }
}

#[tokio::test]
async fn names_of_files_never_reach_a_header() {
    let s = Server::new().await;
    let (_, url) = uploaded(&s).await;
    let path = url.strip_prefix("https://docs.example").expect("an address of this server");
    let (sealed, _) = path.rsplit_once('/').expect("a name");
    for name in [
        "a.html",
        "a%22;filename=%22b.html",
        "a%0d%0aX-Injected:%201",
        "a%0D%0A%0D%0A%3Cscript%3E",
        "%E2%80%AEgpj.exe",
        "a%00.png",
        "..%2f..%2fa",
        "%2e%2e",
        "a;b=c",
        "a%5c",
        "%ff",
    ] {
        let response = s.client.get(format!("{sealed}/{name}")).send().await.0;
        assert_eq!(response.status().as_u16(), 200, "{name}");
        assert_eq!(isolated(response.headers()), ["image/png", "", "nosniff", "cross-origin"], "{name}");
        let said: Vec<&[u8]> = response.headers().iter().map(|(_, value)| value.as_bytes()).collect();
        assert!(!said.concat().windows(8).any(|some| some == b"Injected"), "{name}");
    }
}

#[tokio::test]
async fn kinds_of_files_have_their_type_and_presentation() {
    let s = Server::new().await;
    let (space, url) = uploaded(&s).await;
    for (stored, content_type, disposition, embedding) in [
        ("image/png", "image/png", "", "cross-origin"),
        ("image/svg+xml", "image/svg+xml", "attachment", "cross-origin"),
        ("application/pdf", "application/pdf", "", "same-origin"),
        ("video/mp4; codecs=avc1", "video/mp4", "", "cross-origin"),
        ("audio/mpeg", "audio/mpeg", "", "cross-origin"),
        ("text/plain", "text/plain; charset=utf-8", "", "same-origin"),
        ("text/plain; charset=Latin1", "text/plain; charset=latin1", "", "same-origin"),
        ("text/plain; charset=utf-7", "text/plain; charset=utf-8", "", "same-origin"),
        ("application/json", "application/json", "attachment", "same-origin"),
        ("font/woff2", "font/woff2", "attachment", "cross-origin"),
    ] {
        let response = s.client.get(planted(&url, &space, stored)).send().await.0;
        let expected = [content_type, disposition, "nosniff", embedding];
        assert_eq!(isolated(response.headers()), expected, "{stored}");
    }
}
