//! Compressed responses for clients that accept them.

use std::io::Read as _;

use flate2::read::GzDecoder;
use poem::http::{HeaderMap, Method};
use serde_json::json;

use crate::{
    refusals::bearer,
    server::{Server, id},
};

struct Got {
    status: u16,
    headers: HeaderMap,
    bytes: Vec<u8>,
}

impl Got {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().expect("text"))
    }

    fn decoded(&self) -> Vec<u8> {
        assert_eq!(self.header("content-encoding"), Some("gzip"));
        let mut decoded = Vec::new();
        GzDecoder::new(&self.bytes[..]).read_to_end(&mut decoded).expect("gzip");
        decoded
    }
}

async fn get(s: &Server, method: Method, path: &str, headers: &[(&str, &str)]) -> Got {
    let mut request = s.client.request(method, path).header("authorization", bearer(&s.admin));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = request.send().await.0;
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    Got { status, headers, bytes: response.into_body().into_bytes().await.expect("a body").into() }
}

/// Creates a space with a long list of pages. Returns the path of its content.
async fn long(s: &Server) -> String {
    let space = s.space().await;
    let request = s.request(&space).await;
    let page = |n| json!({ "operation": "insert_page", "title": format!("Page {n}"), "document": { "markdown": "Text." } });
    let changes: Vec<_> = (0..40).map(page).collect();
    s.post(&format!("{request}/content"), 200, json!({ "changes": changes })).await;
    s.post(&format!("{request}/merge"), 200, json!({})).await;
    format!("/v1/spaces/{space}/content")
}

#[tokio::test]
async fn gzip_response_decodes_to_the_plain_one() {
    let s = Server::new().await;
    let path = format!("{}/pages", long(&s).await);
    let plain = get(&s, Method::GET, &path, &[]).await;
    assert_eq!((plain.status, plain.header("content-encoding")), (200, None));
    let tag = plain.header("etag").expect("a tag").to_owned();
    let encoded_tag = format!("{}-gzip\"", tag.trim_end_matches('"'));
    for accepted in ["gzip", "br, gzip;q=0.8", "*"] {
        let encoded = get(&s, Method::GET, &path, &[("accept-encoding", accepted)]).await;
        assert_eq!(encoded.decoded(), plain.bytes, "{accepted}");
        assert!(
            encoded.bytes.len() * 2 < plain.bytes.len(),
            "{} of {}",
            encoded.bytes.len(),
            plain.bytes.len()
        );
        assert_eq!(encoded.header("etag"), Some(encoded_tag.as_str()), "another form has another tag");
        let head = get(&s, Method::HEAD, &path, &[("accept-encoding", accepted)]).await;
        assert_eq!(
            (head.header("etag"), head.header("content-encoding")),
            (Some(encoded_tag.as_str()), Some("gzip"))
        );
    }
    for refused in ["br", "gzip;q=0", "identity", "gzip;q=0.1, identity"] {
        let answer = get(&s, Method::GET, &path, &[("accept-encoding", refused)]).await;
        assert_eq!((answer.header("content-encoding"), &answer.bytes), (None, &plain.bytes), "{refused}");
        assert_eq!(answer.header("etag"), Some(tag.as_str()));
    }
    for answer in [&plain, &get(&s, Method::GET, &path, &[("accept-encoding", "gzip")]).await] {
        let vary: Vec<&str> =
            answer.headers.get_all("vary").iter().map(|value| value.to_str().expect("text")).collect();
        assert!(vary.contains(&"Accept-Encoding"), "{vary:?}");
    }
}

#[tokio::test]
async fn etag_of_an_encoding_matches_only_if_it_is_accepted() {
    let s = Server::new().await;
    let path = format!("{}/pages", long(&s).await);
    let plain = get(&s, Method::GET, &path, &[]).await.header("etag").expect("a tag").to_owned();
    let encoded = format!("{}-gzip\"", plain.trim_end_matches('"'));
    for (accepted, known, answered) in [
        ("gzip", &encoded, Some(&encoded)),
        ("gzip", &plain, Some(&plain)),
        ("identity", &plain, Some(&plain)),
        // A client that does not accept the cached encoding gets the other form.
        ("identity", &encoded, None),
    ] {
        let headers = [("accept-encoding", accepted), ("if-none-match", known.as_str())];
        let answer = get(&s, Method::GET, &path, &headers).await;
        match answered {
            Some(tag) => {
                assert_eq!((answer.status, answer.header("etag")), (304, Some(tag.as_str())), "{headers:?}");
            }
            None => {
                assert_eq!(
                    (answer.status, answer.header("etag")),
                    (200, Some(plain.as_str())),
                    "{headers:?}"
                );
            }
        }
        assert!(answered.is_none() || answer.bytes.is_empty());
    }
}

#[tokio::test]
async fn small_responses_and_files_are_not_encoded() {
    let s = Server::new().await;
    let content = long(&s).await;
    let gzip = [("accept-encoding", "gzip")];
    let small = get(&s, Method::GET, "/v1/user", &gzip).await;
    assert_eq!((small.status, small.header("content-encoding"), small.header("vary")), (200, None, None));
    let space = content.split('/').nth(3).expect("an id");
    let request = s.request(space).await;
    let text = "QUFB".repeat(2000);
    let files = json!([
        { "name": "a.png", "base64": text, "contentType": "image/png" },
        { "name": "b.txt", "base64": text, "contentType": "text/plain" },
    ]);
    let change = json!({ "changes": [{ "operation": "insert_files", "files": files }] });
    s.post(&format!("{request}/content"), 200, change).await;
    let list = s.get(&format!("{request}/content/files")).await;
    for file in list["items"].as_array().expect("files") {
        let address = file["downloadURL"].as_str().expect("an address").strip_prefix("https://docs.example");
        let answer = get(&s, Method::GET, address.expect("here"), &gzip).await;
        assert_eq!((answer.status, answer.header("content-encoding")), (200, None), "{}", id(file));
        assert_eq!(answer.bytes.len() as u64, file["size"].as_u64().expect("a size"));
    }
}

#[tokio::test]
async fn openapi_document_and_metrics_are_encoded() {
    let s = Server::new().await;
    let gzip = [("accept-encoding", "gzip")];
    for path in ["/openapi.json", "/metrics"] {
        let plain = get(&s, Method::GET, path, &[]).await;
        let encoded = get(&s, Method::GET, path, &gzip).await;
        assert!(encoded.bytes.len() * 2 < plain.bytes.len(), "{path}");
        assert!(!encoded.decoded().is_empty());
    }
    let document = get(&s, Method::GET, "/openapi.json", &gzip).await;
    assert_eq!(document.decoded(), get(&s, Method::GET, "/openapi.json", &[]).await.bytes);
    let tag = document.header("etag").expect("a tag").to_owned();
    assert!(tag.ends_with("-gzip\""), "{tag}");
    let known = get(&s, Method::GET, "/openapi.json", &[gzip[0], ("if-none-match", &tag)]).await;
    assert_eq!((known.status, known.header("etag"), known.bytes.len()), (304, Some(tag.as_str()), 0));
}
