//! `--site-hosts`.

use super::*;

#[tokio::test]
async fn organizations_mount_sites_on_listed_hosts_only() {
    let none = Process::with(&["--bind", ANY]).await;
    let some = Process::with(&["--bind", ANY, "--site-hosts", "www.example.com,*.docs.example.com"]).await;
    let auth = format!("Bearer {TOKEN}");
    for (server, origin, status) in [
        (&none, "www.example.com/guide", 400),
        (&some, "www.example.com/guide", 200),
        (&some, "a.docs.example.com/docs", 200),
        (&some, "second.example/guide", 400),
        (&some, "www.example.com/v1", 400),
    ] {
        let orgs = get(&format!("{}/v1/orgs", server.base)).await;
        let org = format!("{}/v1/orgs/{}", server.base, orgs["items"][0]["id"].as_str().expect("an id"));
        let sites = get(&format!("{org}/sites")).await;
        let site = format!("{org}/sites/{}", sites["items"][0]["id"].as_str().expect("an id"));
        let answer = ask("PATCH", &site, &[("authorization", &auth)], json!({ "proxy": origin })).await;
        assert_eq!(answer.status, status, "{origin}: {}", answer.body);
    }
    for wrong in ["localhost", "https://a.example.com", "a.example.com/docs", "a.example.com="] {
        let (said, code) = refused(&["--site-hosts", wrong]).await;
        assert!(said.contains("--site-hosts") && said.contains("docs.example.com"), "{wrong}: {said}");
        assert_ne!(code, Some(0), "{wrong}");
    }
}
