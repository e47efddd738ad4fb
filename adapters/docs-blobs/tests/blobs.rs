//! Blobs in a folder, and in a bucket over HTTP.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;
use docs_blobs::ObjectBlobs;
use docs_store::{Blobs, StoreError};
use parking_lot::Mutex;
use poem::{
    EndpointExt as _, IntoResponse as _, Request, Response, Route, Server,
    endpoint::make,
    http::{Method, StatusCode},
    listener::TcpAcceptor,
};

/// Checks the requirements common to both kinds of storage.
async fn keeps(blobs: &dyn Blobs) {
    assert_eq!(blobs.get("ab/one").await, Ok(None));
    blobs.put("ab/one", Bytes::from_static(b"1")).await.expect("put");
    blobs.put("ab/one", Bytes::from_static(b"one")).await.expect("replaced");
    let large: Bytes = (0..3_000_000_u32).map(|n| n.to_le_bytes()[0]).collect();
    blobs.put("cd/large-2", large.clone()).await.expect("put");
    blobs.put("empty", Bytes::new()).await.expect("put");
    assert_eq!(blobs.get("ab/one").await, Ok(Some(Bytes::from_static(b"one"))));
    assert!(blobs.get("cd/large-2").await == Ok(Some(large)));
    assert_eq!(blobs.get("empty").await, Ok(Some(Bytes::new())));
    blobs.delete("ab/one").await.expect("removed");
    blobs.delete("ab/one").await.expect("removing what is not there is fine");
    assert_eq!(blobs.get("ab/one").await, Ok(None));
    blobs.put("ab/two", Bytes::new()).await.expect("put");
    blobs.put("ab/deeper/three", Bytes::new()).await.expect("put");
    blobs.put("abc/four", Bytes::new()).await.expect("put");
    let listed = blobs.list("ab").await.expect("listed");
    let names: Vec<&str> = listed.iter().map(|blob| blob.name.as_str()).collect();
    assert_eq!(names, ["ab/two"]);
    assert!(listed[0].stored_at > chrono::DateTime::UNIX_EPOCH, "{listed:?}");
    assert_eq!(blobs.list("nothing").await, Ok(Vec::new()));
    for wrong in ["../escape", "a//b", "/a"] {
        let refused = blobs.put(wrong, Bytes::new()).await;
        assert!(matches!(refused, Err(StoreError::Misuse(_))), "{wrong}: {refused:?}");
    }
}

#[tokio::test]
async fn folder_blobs_persist_after_reopening() {
    let folder = tempfile::TempDir::new().expect("a folder");
    let place = folder.path().join("made/when missing");
    keeps(&ObjectBlobs::folder(&place).expect("it can be made")).await;
    let again: ObjectBlobs = place.to_str().expect("text").parse().expect("it is there");
    assert_eq!(again.get("cd/large-2").await.expect("read").expect("kept").len(), 3_000_000);
}

#[cfg(unix)]
#[tokio::test]
async fn blobs_in_a_folder_are_for_its_owner() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::TempDir::new().expect("a folder");
    let root = folder.path().join("a/blobs");
    let blobs = ObjectBlobs::folder(&root).expect("a folder for blobs");
    blobs.put("ab/one", Bytes::from_static(b"one")).await.expect("put");
    blobs.put("ab/one", Bytes::from_static(b"two")).await.expect("replaced");
    let mode = |path: &str| {
        let found = std::fs::metadata(folder.path().join(path)).expect("it is there");
        found.permissions().mode() & 0o777
    };
    assert_eq!(["a", "a/blobs", "a/blobs/ab"].map(mode), [0o700; 3]);
    assert_eq!(mode("a/blobs/ab/one"), 0o600);
}

#[tokio::test]
async fn unusable_folder_is_an_error_with_its_path() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let error = ObjectBlobs::folder(file.path()).expect_err("a file is no folder").to_string();
    assert!(error.contains(file.path().to_str().expect("text")), "{error}");
}

/// Returns the list of a bucket's objects in the S3 format.
fn listing(objects: &BTreeMap<String, Bytes>, bucket: &str, query: &str) -> String {
    let mut query = url::form_urlencoded::parse(query.as_bytes()).into_owned();
    let prefix = query.find(|(name, _)| name == "prefix").map_or_else(String::new, |(_, it)| it);
    let bucket = format!("{}/", bucket.trim_end_matches('/'));
    let found =
        objects.keys().filter_map(|key| key.strip_prefix(&bucket)).filter(|key| key.starts_with(&prefix));
    let contents: String = found
        .map(|key| format!("<Contents><Key>{key}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>\"1\"</ETag><Size>1</Size></Contents>"))
        .collect();
    format!("<ListBucketResult><IsTruncated>false</IsTruncated>{contents}</ListBucketResult>")
}

/// A minimal S3 server, which stores objects by path and does not verify signatures.
async fn bucket() -> String {
    type Objects = Arc<Mutex<BTreeMap<String, Bytes>>>;
    let objects = Objects::default();
    let endpoint = make(move |request: Request| {
        let objects = objects.clone();
        async move {
            let path = request.uri().path().to_owned();
            assert!(request.header("authorization").is_some_and(|text| text.starts_with("AWS4-HMAC-SHA256")));
            let answer = Response::builder()
                .header("etag", "\"1\"")
                .header("last-modified", "Thu, 01 Jan 2026 00:00:00 GMT");
            Ok::<_, poem::Error>(match *request.method() {
                Method::PUT => {
                    let bytes = request.into_body().into_bytes().await?;
                    objects.lock().insert(path, bytes);
                    answer.finish()
                }
                // A bulk deletion: each `<Key>` is an object name.
                Method::POST => {
                    let list = request.into_body().into_string().await?;
                    let keys = list.split("<Key>").skip(1).filter_map(|rest| rest.split("</Key>").next());
                    let mut deleted = String::new();
                    for key in keys {
                        objects.lock().remove(&format!("{path}/{key}"));
                        deleted.push_str(&format!("<Deleted><Key>{key}</Key></Deleted>"));
                    }
                    answer
                        .content_type("application/xml")
                        .body(format!("<DeleteResult>{deleted}</DeleteResult>"))
                }
                // Lists the objects with a prefix.
                _ if request.uri().query().is_some_and(|query| query.contains("list-type=2")) => {
                    let list = listing(&objects.lock(), &path, request.uri().query().unwrap_or_default());
                    answer.content_type("application/xml").body(list)
                }
                _ => match objects.lock().get(&path).cloned() {
                    Some(bytes) => answer.header("content-length", bytes.len()).body(bytes),
                    None => StatusCode::NOT_FOUND.into_response(),
                },
            })
        }
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let at = listener.local_addr().expect("an address");
    let acceptor = TcpAcceptor::from_tokio(listener).expect("an acceptor");
    tokio::spawn(Server::new_with_acceptor(acceptor).run(Route::new().nest("/", endpoint.boxed())));
    format!("http://{at}")
}

#[test]
fn bucket_with_prefix_stores_lists_and_deletes_blobs() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    if std::env::var_os("AWS_ENDPOINT").is_some() {
        let blobs = ObjectBlobs::bucket("s3://docs/some/prefix").expect("the environment says it all");
        return runtime.block_on(keeps(&blobs));
    }
    // The configuration comes from environment variables. Changing those of the running process is unsafe, so the test
    // runs again in a child process.
    let endpoint = runtime.block_on(bucket());
    let child = std::process::Command::new(std::env::current_exe().expect("a test knows its program"))
        .args(["--exact", "bucket_with_prefix_stores_lists_and_deletes_blobs", "--nocapture"])
        .envs([
            ("AWS_ENDPOINT", endpoint.as_str()),
            ("AWS_ALLOW_HTTP", "true"),
            ("AWS_REGION", "eu-test-1"),
            ("AWS_ACCESS_KEY_ID", "id"),
            ("AWS_SECRET_ACCESS_KEY", "secret"),
        ])
        .output()
        .expect("it runs");
    let said = [child.stdout, child.stderr].concat();
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&said));
}
