//! A separate origin for files.

use std::sync::Arc;

use docs_core::{
    Actor, Platform,
    model::{CreateChangeRequest, CreateSpace},
    platform::{NewUpload, NewUser},
};
use docs_http::{HttpApp, HttpConfig, SamlPages};
use docs_memstore::{MemObjects, MemStore};
use poem::{
    http::{HeaderMap, Method},
    test::TestClient,
};

const FILES: &str = "https://files.example";

struct Hosts {
    client: TestClient<HttpApp>,
    path: String,
    /// The URL of the file in API responses.
    url: String,
}

impl Hosts {
    async fn new(base: &str) -> Self {
        let platform = Platform::builder(Arc::new(MemStore::new()), Arc::new(MemObjects::new()))
            .files_origin(FILES)
            .base_url(base)
            .build();
        let new = NewUser {
            display_name: "Ada".parse().expect("a name"),
            email: "ada@example.com".parse().expect("an address"),
        };
        let ada = platform.as_platform().users().create(new).await.expect("a user").id;
        let title = "Engines".parse().expect("a title");
        let org = platform.as_platform().orgs().create(title, &ada).await.expect("an organization").id;
        let ada = Actor::User(ada);
        let me = platform.as_actor(&ada);
        let space = me.org(&org).spaces().create(CreateSpace::default()).await.expect("a space").id;
        let request = me.space(&space).change_requests().create(CreateChangeRequest::default()).await;
        let request = request.expect("a change request").id;
        let new = NewUpload { name: "a.png".parse().expect("a name"), content_type: None };
        let content = me.space(&space).change_request(request.as_str()).content();
        let mut upload = content.upload_file(new).await.expect("begun");
        upload.write("png".into()).await.expect("taken");
        let url = upload.finish().await.expect("uploaded").download_url;
        let config = HttpConfig { saml: Some(SamlPages::default()), ..HttpConfig::default() };
        let app = docs_http::routes(&platform, config).expect("routes");
        let path = url.strip_prefix(FILES).expect("an address of the files origin").to_owned();
        Self { client: TestClient::new(app), path, url }
    }

    async fn get(&self, host: &str, path: &str) -> (u16, HeaderMap) {
        let response = self.client.request(Method::GET, path).header("host", host).send().await.0;
        (response.status().as_u16(), response.headers().clone())
    }
}

#[tokio::test]
async fn the_files_host_answers_files_and_nothing_else() {
    for base in ["https://docs.example", "https://docs.example/base"] {
        let hosts = Hosts::new(base).await;
        assert!(hosts.url.starts_with("https://files.example/files/"), "{}", hosts.url);
        for host in ["files.example", "FILES.EXAMPLE", "files.example:443", "files.example."] {
            let (status, headers) = hosts.get(host, &hosts.path).await;
            assert_eq!((status, headers["content-type"].as_bytes()), (200, &b"image/png"[..]), "{host}");
            for path in [
                "/",
                "/v1",
                "/v1/user",
                "/v1/urls/published",
                "/docs",
                "/docs/explorer.js",
                "/openapi.json",
                "/healthz",
                "/readyz",
                "/metrics",
                "/saml/x/start",
                "/webhooks/git/x",
                "/sites/docs/",
                "/files",
                "/files/",
            ] {
                let (status, headers) = hosts.get(host, path).await;
                assert_eq!(status, 404, "{host}{path}");
                assert!(!headers.contains_key("set-cookie") && !headers.contains_key("location"), "{path}");
            }
        }
    }
}

#[tokio::test]
async fn other_hosts_redirect_file_addresses_to_the_files_origin() {
    let hosts = Hosts::new("https://docs.example").await;
    for host in ["docs.example", "other.example", "127.0.0.1:4000", ""] {
        for path in [
            hosts.path.clone(),
            format!("{}?a=b", hosts.path),
            "/files/a/openapi/b".to_owned(),
            "/files/a/openapi/b/c".to_owned(),
            "/files/a/pdf/b/c.pdf".to_owned(),
            "/files/a/b/%0d%0aSet-Cookie:%20a".to_owned(),
        ] {
            let (status, headers) = hosts.get(host, &path).await;
            assert_eq!((status, headers["location"].as_bytes()), (308, format!("{FILES}{path}").as_bytes()));
            assert_eq!(headers["cache-control"], "no-store");
        }
        assert_eq!(hosts.get(host, "/healthz").await.0, 200);
        assert_eq!(hosts.get(host, "/v1/user").await.0, 401);
    }
}
