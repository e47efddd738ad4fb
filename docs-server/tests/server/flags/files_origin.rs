//! `--files-origin`.

use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::{ANY, ask, get, text_of};
use crate::{
    process::{Process, TOKEN},
    refused::refused,
};

#[tokio::test]
async fn files_have_an_origin_of_their_own() {
    let port = TcpListener::bind(ANY).await.expect("a port").local_addr().expect("it is known").port();
    let (bind, files) = (format!("127.0.0.1:{port}"), format!("http://localhost:{port}"));
    let server = Process::with(&["--bind", &bind, "--files-origin", &format!("{files}/")]).await;
    let orgs = get(&format!("{}/v1/orgs", server.base)).await;
    let org = text_of(&orgs["items"][0]["id"]);
    let spaces = get(&format!("{}/v1/orgs/{org}/spaces", server.base)).await;
    let space = format!("{}/v1/spaces/{}", server.base, text_of(&spaces["items"][0]["id"]));
    let authorization = format!("Bearer {TOKEN}");
    let headers = [("authorization", authorization.as_str())];
    let request = ask("POST", &format!("{space}/change-requests"), &headers, json!({})).await;
    let content = format!("{space}/change-requests/{}/content?compat=false", text_of(&request.body["id"]));
    let file = json!({ "name": "a.txt", "contentType": "text/plain", "base64": "YQ==" });
    let changes = json!({ "changes": [{ "operation": "insert_files", "files": [file] }] });
    let done = ask("POST", &content, &headers, changes).await;
    let url = text_of(&done.body["insertedFiles"][0]["downloadURL"]).to_owned();
    let path = url.strip_prefix(&files).unwrap_or_else(|| panic!("{url} begins with {files}"));
    assert_eq!(ask("GET", &url, &[], Value::Null).await.status, 200);
    let elsewhere = ask("GET", &format!("{}{path}", server.base), &[], Value::Null).await;
    assert_eq!((elsewhere.status, elsewhere.header("location")), (308, Some(url.as_str())));
    let site = get(&format!("{}/v1/orgs/{org}/sites", server.base)).await;
    let site = text_of(&site["items"][0]["urls"]["published"]).to_owned();
    let page = ask("GET", &site, &[], Value::Null).await;
    let policy = page.header("content-security-policy").expect("a policy");
    assert!(policy.contains(&format!("img-src 'self' {} {files} ", server.base)), "{policy}");
    let site = site.strip_prefix(&server.base).expect("a path").to_owned();
    for path in ["/", "/robots.txt", "/v1/orgs", "/docs", "/openapi.json", "/healthz", "/saml/x", &site] {
        assert_eq!(ask("GET", &format!("{files}{path}"), &headers, Value::Null).await.status, 404, "{path}");
    }
    for (flags, said_of_it) in [
        (&["--files-origin", "files.example.net"][..], "https://docs.example.com"),
        (&["--files-origin", "https://files.example.net/files"], "without a path"),
        (&["--files-origin", "https://files.example.net?x"], "`?`"),
        (
            &["--base-url", "https://a.example/b", "--files-origin", "https://a.example"],
            "another origin than --base-url",
        ),
        (&["--base-url", "https://a.example", "--files-origin", "http://b.example"], "https"),
    ] {
        let (said, code) = refused(&[&["--bind", ANY], flags].concat()).await;
        assert!(said.contains("--files-origin") && said.contains(said_of_it) && code != Some(0), "{said}");
    }
}
