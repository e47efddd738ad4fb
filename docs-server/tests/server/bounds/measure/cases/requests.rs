//! Lists, comments, people, jobs and sign-ins at their limits.

use serde_json::{Value, json};

use super::{Case, Doing, Prepared};
use crate::{client::id, process::TOKEN};

pub(super) const CASES: &[(&str, Case)] = &[
    ("a list", Case::Steps(spaces, list_of_spaces)),
    ("a form with a file", Case::Step(form)),
    ("comments with reactions", Case::Steps(comments, list_of_comments)),
    ("invitations and teams", Case::Steps(new_teams, invitations)),
    ("a full collection", Case::Steps(collection, delete_collection)),
    ("jobs of a space", Case::Steps(jobs, list_of_jobs)),
    ("a SAML response", Case::Steps(provider, saml_responses)),
    ("sign-ins with SAML", Case::Steps(providers, sign_ins)),
];

fn spaces(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        for number in 0..2_000 {
            let title = format!("Space {number} {}", "x".repeat(36));
            on.client.post(&format!("/orgs/{}/spaces", on.org), json!({ "title": title })).await;
        }
    })
}

fn list_of_spaces(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        let org = &on.org;
        for list in ["spaces?limit=1000", "members?search=an-unknown-name", "audit-log?limit=1000"] {
            on.call("GET", &format!("/orgs/{org}/{list}"), Value::Null).await;
        }
    })
}

fn form(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        let part = "--b\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a.bin\"\r\n\r\n";
        let body = [part.as_bytes(), &vec![7; 99_000_000], b"\r\n--b--\r\n"].concat();
        let path = format!("/v1/spaces/{}/content/files", on.space);
        on.post(
            &path,
            &format!("authorization: Bearer {TOKEN}\r\ncontent-type: multipart/form-data; boundary=b"),
            &body,
        )
        .await;
    })
}

fn comments(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        let comments = format!("/spaces/{}/comments", on.space);
        let emoji: Vec<String> = (0..100)
            .filter_map(|at| char::from_u32(if at < 60 { 0x1f600 + at } else { 0x1f680 + at - 60 }))
            .map(String::from)
            .collect();
        for _ in 0..1_000 {
            let text = json!({ "body": { "markdown": "Some words. ".repeat(100) } });
            let comment = id(&on.client.post(&comments, text).await);
            for part in emoji.chunks(50) {
                let reactions = json!({ "addedReactions": part });
                on.call("PUT", &format!("{comments}/{comment}"), reactions).await;
            }
        }
    })
}

fn list_of_comments(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        on.call("GET", &format!("/spaces/{}/comments?limit=1000", on.space), Value::Null).await;
    })
}

fn new_teams(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        for number in 0..500 {
            let team = json!({ "title": format!("Team {number}") });
            on.call("PUT", &format!("/orgs/{}/teams", on.org), team).await;
        }
    })
}

fn invitations(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        let org = format!("/orgs/{}", on.org);
        let emails: Vec<_> = (0..100).map(|at| format!("user{at}@{}.example", "x".repeat(60))).collect();
        on.call("POST", &format!("{org}/invites"), json!({ "emails": emails, "role": "edit" })).await;
        let teams = on.call("GET", &format!("{org}/teams?limit=1000"), Value::Null).await;
        let teams: Vec<String> = teams["items"].as_array().into_iter().flatten().map(id).collect();
        let permissions = format!("/spaces/{}/permissions", on.space);
        on.call("POST", &permissions, json!({ "role": "edit", "teams": teams[..100] })).await;
        for list in ["aggregate", "users", "teams"] {
            on.call("GET", &format!("{permissions}/{list}?limit=1000"), Value::Null).await;
        }
    })
}

fn collection(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        let collections = format!("/orgs/{}/collections", on.org);
        let mut parent = Value::Null;
        for level in 0..10 {
            let mut new = json!({ "title": format!("Level {level}") });
            if parent.is_string() {
                new["parent"] = parent;
            }
            parent = on.client.post(&collections, new).await["id"].clone();
            if level == 0 {
                on.note(parent.as_str().unwrap_or_default());
            }
        }
        for _ in 0..489 {
            on.client.post(&format!("/orgs/{}/spaces", on.org), json!({ "parent": parent })).await;
        }
    })
}

fn delete_collection(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        on.call("GET", &format!("/orgs/{}/spaces?limit=1000", on.org), Value::Null).await;
        on.call("GET", &format!("/orgs/{}/collections?nested=true&limit=1000", on.org), Value::Null).await;
        on.call("DELETE", &format!("/collections/{}", on.noted()), Value::Null).await;
    })
}

fn jobs(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        // Each entry without a file adds a warning to the job's log.
        let entries: String =
            (0..250).map(|at| format!("* [{at}]({}{at}.md)\n", "long-name/".repeat(80))).collect();
        let url =
            on.repository(&[("README.md", b"# Start\n".to_vec()), ("SUMMARY.md", entries.into_bytes())]);
        for _ in 0..100 {
            on.import_repository(&url).await;
        }
    })
}

fn list_of_jobs(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        let jobs = on.call("GET", &format!("/spaces/{}/jobs?limit=1000", on.space), Value::Null).await;
        for job in jobs["items"].as_array().into_iter().flatten() {
            on.call("GET", &format!("/spaces/{}/jobs/{}", on.space, id(job)), Value::Null).await;
        }
    })
}

async fn new_provider(on: &Prepared) -> Value {
    let new = json!({ "label": "Staff", "defaultRole": "edit", "ssoURL": "https://idp.example/sso",
        "entityID": "https://idp.example/metadata", "certificate": include_str!("../../../saml/provider.crt") });
    on.client.post(&format!("/orgs/{}/saml", on.org), new).await
}

fn provider(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        let service = new_provider(on).await;
        on.note(service["service"]["acsURL"].as_str().expect("an address"));
    })
}

/// Sends unsigned SAML responses of the maximum size and the maximum number of elements.
fn saml_responses(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        let url = on.noted();
        let path = url.trim_start_matches(&on.client.base);
        let spaces: String = (0..28).map(|at| format!(" xmlns:n{at:02}=\"{}\"", "u".repeat(230))).collect();
        let elements: String =
            (0..3_900).map(|at| format!("<n{:02}:a b=\"{}\"/>", at % 28, "c".repeat(40))).collect();
        let response = format!(
            "<p:Response xmlns:p=\"urn:oasis:names:tc:SAML:2.0:protocol\" ID=\"_r\" Version=\"2.0\"{spaces}>{elements}</p:Response>"
        );
        assert!(response.len() < 256 << 10, "{} bytes", response.len());
        let form = data_encoding::BASE64.encode(response.as_bytes()).replace('+', "%2B").replace('=', "%3D");
        for _ in 0..16 {
            let body = format!("SAMLResponse={form}");
            on.post(path, "content-type: application/x-www-form-urlencoded", body.as_bytes()).await;
        }
    })
}

fn providers(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        for _ in 0..50 {
            let service = new_provider(on).await;
            on.note(service["service"]["startURL"].as_str().expect("an address"));
        }
    })
}

fn sign_ins(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        on.call("GET", &format!("/orgs/{}/saml?limit=1000", on.org), Value::Null).await;
        let url = on.noted();
        for _ in 0..60 {
            on.fetch(&url).await;
        }
    })
}
