//! Downloads of objects of Git LFS.

use docs_git::{GitClient, Limits, Outbound};
use docs_ports::{Checkout, GitError, GitRemote as _, LargeObject};

use crate::{
    fixture::{Fixture, request},
    server::{Log, Server, has_git, status, web},
};

/// The hash of `picture`.
const HASH: &str = "2cea274d0bedc39ec4ab6ba9e59ec889e3ed6fb56a1cf088a64d9b383378dc97";

fn object() -> LargeObject {
    LargeObject { oid: HASH.to_owned(), size: 7 }
}

fn answer(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
}

/// Starts a server whose batch API returns a response, where `HOST` is its address.
fn host(fixture: &Fixture, batch: &'static str, content: &'static str) -> (Server, Log) {
    let address = std::sync::Arc::new(std::sync::OnceLock::<String>::new());
    let known = address.clone();
    let (server, log) = web(fixture.path(), move |request| {
        let host = known.get().cloned().unwrap_or_default();
        if request.line.starts_with("POST /repo.git/info/lfs/objects/batch ") {
            return Some(if batch.starts_with("HTTP") {
                batch.to_owned()
            } else {
                answer(&batch.replace("HOST", &host))
            });
        }
        request.line.starts_with("GET /object ").then(|| answer(content))
    });
    address.set(server.address().to_string()).unwrap();
    (server, log)
}

async fn checkout(server: &Server, limits: Limits) -> Box<dyn Checkout> {
    let url = format!("http://me:secret@{}/repo.git", server.address());
    let client = GitClient::new(Outbound::Private).unwrap().with_limits(limits);
    client.fetch(&request(&url, "refs/heads/main")).await.unwrap()
}

const OFFER: &str = r#"{"objects": [{"oid": "2cea274d0bedc39ec4ab6ba9e59ec889e3ed6fb56a1cf088a64d9b383378dc97", "size": 7,
    "actions": {"download": {"href": "http://HOST/object", "header": {"X-Key": "k"}}}}]}"#;

#[tokio::test]
async fn an_object_is_downloaded_with_the_credentials_of_its_host() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::filled();
    let (server, log) = host(&fixture, OFFER, "picture");
    let checkout = checkout(&server, Limits::default()).await;
    assert_eq!(checkout.large_object(&object()).await.unwrap().unwrap(), "picture");
    let log = log.lock().unwrap();
    let sent: Vec<_> = log.iter().filter(|request| !request.line.contains("upload-pack")).collect();
    assert_eq!(sent.len(), 2);
    assert!(sent.iter().all(|request| request.authorization.is_some()));
    assert!(String::from_utf8_lossy(&sent[0].body).contains(HASH));
}

#[tokio::test]
async fn hosts_without_large_objects_offer_none() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::filled();
    let forbidden: &str = status("403 Forbidden", "").leak();
    for batch in [forbidden, r#"{"objects": []}"#, r#"{"objects": [{"oid": "x", "error": {"code": 404}}]}"#] {
        let (server, _log) = host(&fixture, batch, "picture");
        let checkout = checkout(&server, Limits::default()).await;
        assert_eq!(checkout.large_object(&object()).await, Ok(None), "{batch}");
    }
}

#[tokio::test]
async fn invalid_or_refused_objects_are_errors() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::filled();
    let long: &str = format!("[\"{}\"]", "x".repeat(70_000)).leak();
    let file: &str = OFFER.replace("http://HOST", "file://HOST").leak();
    for (batch, content) in [
        (OFFER, "pictures"),
        (OFFER, "pictura"),
        (OFFER, "pic"),
        ("no JSON", "picture"),
        (long, "picture"),
        (file, "picture"),
    ] {
        let (server, _log) = host(&fixture, batch, content);
        let checkout = checkout(&server, Limits::default()).await;
        assert!(checkout.large_object(&object()).await.is_err(), "{content}");
    }
    let (server, _log) = host(&fixture, OFFER, "picture");
    let checkout = checkout(&server, Limits { file_bytes: 2_000, ..Limits::default() }).await;
    let large = LargeObject { size: 2_001, ..object() };
    assert!(matches!(checkout.large_object(&large).await, Err(GitError::TooLarge(_))));
}
