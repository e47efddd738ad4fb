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

#[tokio::test]
async fn no_site_is_mounted_on_the_host_of_files() {
    let files = ["--files-origin", "http://files.docs.example.com"];
    let auth = format!("Bearer {TOKEN}");
    for hosts in ["*.docs.example.com", "files.docs.example.com,www.docs.example.com", "*"] {
        let server = Process::with(&[&["--bind", ANY, "--site-hosts", hosts], &files[..]].concat()).await;
        let orgs = get(&format!("{}/v1/orgs", server.base)).await;
        let org = format!("{}/v1/orgs/{}", server.base, orgs["items"][0]["id"].as_str().expect("an id"));
        let sites = get(&format!("{org}/sites")).await;
        let site = format!("{org}/sites/{}", sites["items"][0]["id"].as_str().expect("an id"));
        for (origin, status) in [
            ("files.docs.example.com/guide", 400),
            ("Files.Docs.Example.COM/guide", 400),
            ("www.docs.example.com/guide", 200),
        ] {
            let answer = ask("PATCH", &site, &[("authorization", &auth)], json!({ "proxy": origin })).await;
            assert_eq!(answer.status, status, "{hosts}, {origin}: {}", answer.body);
        }
    }
}
