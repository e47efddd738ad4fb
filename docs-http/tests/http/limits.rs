//! Field limits: a value at the limit is accepted. A value beyond it is rejected without effects, and the error names
//! the field.

use std::iter;

use proptest::{prelude::*, sample::select, test_runner::FileFailurePersistence};
use serde_json::{Value, json};

use crate::server::{Server, id};

/// A text field: the request that sets it, its length limits in characters, and the permitted characters.
struct Field {
    /// The field name with which its error messages begin.
    name: &'static str,
    method: &'static str,
    path: String,
    body: Box<dyn Fn(&str) -> Value + Send + Sync>,
    least: usize,
    most: usize,
    text: Text,
}

/// The content of generated text.
#[derive(Clone, Copy)]
enum Text {
    /// Any letters.
    Any,
    /// Plain letters only.
    Plain,
    /// A prefix followed by plain letters.
    After(&'static str),
    /// Labels separated by dots.
    Domain,
    /// One emoji: a flag with tag characters for its region.
    Emoji,
}

impl Text {
    fn of(self, length: usize, letters: &[char]) -> String {
        let plain = || "abcdefghijklmnopqrstuvwxyz".chars().cycle();
        match self {
            Self::Any => letters.iter().copied().cycle().take(length).collect(),
            Self::Plain => plain().take(length).collect(),
            Self::After(beginning) => beginning.chars().chain(plain()).take(length).collect(),
            Self::Emoji => iter::once('🏴').chain(iter::repeat('\u{e0067}')).take(length).collect(),
            // The last character must not be a dot.
            Self::Domain => {
                let text: String =
                    iter::repeat_n("a", 1).chain(iter::repeat_n(".bcdefgh", length / 8 + 1)).collect();
                let mut text: String = text.chars().take(length).collect();
                if text.ends_with('.') {
                    text.pop();
                    text.push('z');
                }
                text
            }
        }
    }
}

fn field(
    name: &'static str,
    (method, path): (&'static str, String),
    (least, most): (usize, usize),
    text: Text,
    body: impl Fn(&str) -> Value + Send + Sync + 'static,
) -> Field {
    Field { name, method, path, body: Box::new(body), least, most, text }
}

/// Returns a field of a content change.
fn content(
    name: &'static str,
    request: &str,
    limits: (usize, usize),
    text: Text,
    change: impl Fn(&str) -> Value + Send + Sync + 'static,
) -> Field {
    let at = ("POST", format!("{request}/content"));
    field(name, at, limits, text, move |text| json!({ "changes": [change(text)] }))
}

async fn of_collections(s: &Server) -> Vec<Field> {
    let path = format!("/v1/orgs/{}/collections", s.org);
    let this = id(&s.post(&path, 201, json!({})).await.body);
    let this = || ("PATCH", format!("/v1/collections/{this}"));
    vec![
        field("title", ("POST", path), (0, 50), Text::Any, |t| json!({ "title": t })),
        field("title", this(), (0, 50), Text::Any, |t| json!({ "title": t })),
        field("description", this(), (0, 100), Text::Any, |t| json!({ "description": t })),
    ]
}

fn of_people_and_sites(s: &Server, space: &str, site: &str) -> Vec<Field> {
    let org = || ("PATCH", format!("/v1/orgs/{}", s.org));
    let spaces = || ("POST", format!("/v1/orgs/{}/spaces", s.org));
    let sites = || ("POST", format!("/v1/orgs/{}/sites", s.org));
    let this = || ("PATCH", format!("/v1/spaces/{space}"));
    let site = || ("PATCH", site.to_owned());
    vec![
        // Tested before sites are created, because their titles become base names.
        field("basename", site(), (1, 100), Text::Plain, |t| json!({ "basename": t })),
        field("title", org(), (2, 255), Text::Any, |t| json!({ "title": t })),
        field("hostname", org(), (3, 32), Text::Plain, |t| json!({ "hostname": t })),
        field("logo", org(), (9, 2048), Text::After("https://x/"), |t| json!({ "logo": t })),
        field("emailDomains[1]", org(), (3, 253), Text::Domain, |t| json!({ "emailDomains": ["a.b", t] })),
        field("title", spaces(), (0, 50), Text::Any, |t| json!({ "title": t })),
        field("emoji", spaces(), (1, 50), Text::Emoji, |t| json!({ "emoji": t })),
        field("title", this(), (0, 50), Text::Any, |t| json!({ "title": t })),
        field("emoji", this(), (1, 50), Text::Emoji, |t| json!({ "emoji": t })),
        field("icon", this(), (9, 2048), Text::After("https://x/"), |t| json!({ "icon": t })),
        field("title", sites(), (2, 128), Text::Any, |t| json!({ "title": t })),
        field("title", site(), (2, 128), Text::Any, |t| json!({ "title": t })),
        field("mergeRules.rules[0].expression", this(), (1, 1024), Text::Plain, |t| custom_rule(t, "No.")),
        field("mergeRules.rules[0].message", this(), (1, 500), Text::Any, |t| custom_rule("true", t)),
        field("proxy", site(), (13, 512), Text::After("example.com/help"), |t| json!({ "proxy": t })),
    ]
}

/// Returns an update of a space with a merge rule.
fn custom_rule(expression: &str, message: &str) -> Value {
    let rule = json!({ "rule": "custom", "expression": expression, "message": message });
    json!({ "mergeRules": { "type": "rules", "rules": [rule] } })
}

/// Returns an update of a change request with a link.
fn link(url: &str, title: &str) -> Value {
    json!({ "links": [{ "ref": { "kind": "url", "url": url }, "title": title }] })
}

/// Returns the text fields of a site's structure.
async fn of_structure(s: &Server, space: &str) -> Vec<Field> {
    let site = s.site("Structured", &[]).await;
    let parts = crate::structure::build(s, &site, space).await;
    let section = || ("PATCH", format!("{site}/sections/{}", parts["siteSectionId"]));
    let place = || ("PATCH", format!("{site}/site-spaces/{}", parts["siteSpaceId"]));
    let group = || ("PATCH", format!("{site}/section-groups/{}", parts["siteSectionGroupId"]));
    let groups = || ("POST", format!("{site}/section-groups"));
    let (sections, space) = (("POST", format!("{site}/sections")), space.to_owned());
    vec![
        field("title", section(), (2, 128), Text::Any, |t| json!({ "title": t })),
        field("path", section(), (1, 100), Text::Plain, |t| json!({ "path": t })),
        field("condition", section(), (0, 1024), Text::Plain, |t| json!({ "condition": t })),
        field("icon", section(), (1, 50), Text::Plain, |t| json!({ "icon": t })),
        field("description", section(), (0, 256), Text::Any, |t| json!({ "description": t })),
        field("path", place(), (1, 100), Text::Plain, |t| json!({ "path": t })),
        field("condition", place(), (0, 1024), Text::Plain, |t| json!({ "condition": t })),
        field("title", group(), (1, 100), Text::Any, |t| json!({ "title": t })),
        field("title", groups(), (1, 100), Text::Any, |t| json!({ "title": t })),
        field("icon", groups(), (1, 50), Text::Plain, |t| json!({ "title": "Group", "icon": t })),
        field("title", sections, (2, 128), Text::Any, move |t| json!({ "spaceId": space, "title": t })),
    ]
}

fn of_teams(s: &Server, provider: &str) -> Vec<Field> {
    let teams = || ("PUT", format!("/v1/orgs/{}/teams", s.org));
    let this = || ("PATCH", provider.to_owned());
    vec![
        field("title", teams(), (1, 64), Text::Any, |t| json!({ "title": t })),
        field("label", this(), (1, 30), Text::Any, |t| json!({ "label": t })),
        field("entityID", this(), (0, 1024), Text::Any, |t| json!({ "entityID": t })),
        field("ssoURL", this(), (9, 2048), Text::After("https://x/"), |t| json!({ "ssoURL": t })),
    ]
}

fn of_content(space: &str, request: &str, page: &str, me: String) -> Vec<Field> {
    let requests = || ("POST", format!("/v1/spaces/{space}/change-requests"));
    let this = || ("PATCH", request.to_owned());
    let import = || ("POST", format!("/v1/spaces/{space}/git/import"));
    let export = || ("POST", format!("/v1/spaces/{space}/git/export"));
    let comments = || ("POST", format!("{request}/comments"));
    let ask = || ("POST", format!("{request}/requested-reviewers"));
    let set = |name: &'static str| {
        let page = page.to_owned();
        move |text: &str| json!({ "operation": "update_page", "page": page, name: text })
    };
    let new = |name: &'static str| move |text: &str| json!({ "operation": "insert_page", "document": { "markdown": "" }, name: text });
    let file = |name: &'static str| {
        move |text: &str| {
            let mut file = json!({ "name": "a", "base64": "YQ==", "contentType": "text/plain" });
            file[name] = text.into();
            json!({ "operation": "insert_files", "files": [file] })
        }
    };
    let git = |name: &'static str| {
        move |text: &str| {
            let mut body = json!({ "url": "https://git.example/docs", "ref": "refs/heads/main" });
            body[name] = text.into();
            body
        }
    };
    vec![
        field("subject", requests(), (0, 100), Text::Any, |t| json!({ "subject": t })),
        field("agentTaskId", requests(), (0, 100), Text::Any, |t| json!({ "agentTaskId": t })),
        field("subject", this(), (0, 100), Text::Any, |t| json!({ "subject": t })),
        field("links[0].ref.url", this(), (9, 2048), Text::After("https://x/"), |t| link(t, "Ticket")),
        field("links[0].title", this(), (0, 128), Text::Any, |t| link("https://x/", t)),
        content("changes[0].title", request, (1, 1000), Text::Any, set("title")),
        content("changes[0].title", request, (1, 1000), Text::Any, new("title")),
        content("changes[0].slug", request, (0, 100), Text::Plain, set("slug")),
        content("changes[0].description", request, (0, 1000), Text::Any, set("description")),
        content("changes[0].condition", request, (0, 1024), Text::Plain, set("condition")),
        content("changes[0].emoji", request, (1, 50), Text::Emoji, set("emoji")),
        content("changes[0].icon", request, (1, 50), Text::Plain, set("icon")),
        content("changes[0].ref", request, (1, 256), Text::After("ref-"), new("ref")),
        content("changes[0].files[0].name", request, (1, 256), Text::Any, file("name")),
        content("changes[0].files[0].contentType", request, (3, 255), Text::After("a/"), file("contentType")),
        content("changes[0].files[0].ref", request, (1, 256), Text::After("ref-"), file("ref")),
        field("subject", ask(), (0, 100), Text::Any, move |t| json!({ "users": [me], "subject": t })),
        field("body.markdown", comments(), (1, 20_000), Text::Any, |t| json!({ "body": { "markdown": t } })),
        field("url", import(), (9, 2048), Text::After("https://x/"), git("url")),
        field("ref", import(), (6, 1024), Text::After("refs/x"), git("ref")),
        field("repoCacheID", import(), (0, 512), Text::After("a/"), git("repoCacheID")),
        field("repoTreeURL", import(), (9, 2048), Text::After("https://x/"), git("repoTreeURL")),
        field("repoCommitURL", import(), (9, 2048), Text::After("https://x/"), git("repoCommitURL")),
        field("repoProjectDirectory", import(), (0, 1024), Text::Plain, git("repoProjectDirectory")),
        field("commitMessage", export(), (1, 4000), Text::Any, git("commitMessage")),
    ]
}

/// Creates a space with a change request that adds a page. Returns the space, the path of the change request, and the
/// page.
pub(crate) async fn work(s: &Server) -> (String, String, String) {
    let space = s.space().await;
    let request = s.request(&space).await;
    let change = json!({ "operation": "insert_page", "document": { "markdown": "# A" } });
    s.post(&format!("{request}/content"), 200, json!({ "changes": [change] })).await;
    let page = id(&s.get(&format!("{request}/content/pages")).await["pages"][0]);
    (space, request, page)
}

async fn hold(field: &Field, s: &Server, letters: &[char], inside: usize, beyond: usize) {
    let text = |length| field.text.of(length, letters);
    for length in [field.least, field.least + inside % (field.most - field.least), field.most] {
        let body = (field.body)(&text(length));
        let answer = s.ask(field.method, &field.path, &s.admin, Some(body)).await;
        assert!(answer.status < 300, "{} of {length} characters: {:?}", field.name, answer.body);
    }
    let too_long =
        s.invalid(field.method, &field.path, (field.body)(&text(field.most + beyond)), field.name).await;
    let wanted = format!("at most {} characters, has {}", field.most, field.most + beyond);
    assert!(too_long.contains(&wanted), "{}: `{too_long}` says `{wanted}`", field.name);
    if field.least > 0 {
        s.invalid(field.method, &field.path, (field.body)(&text(field.least - 1)), field.name).await;
    }
    let mut nul = text(field.least.max(1));
    nul.insert(if inside.is_multiple_of(2) { 0 } else { nul.len() }, '\0');
    let before = s.stored().await;
    let body = (field.body)(&nul);
    let answer = s.ask(field.method, &field.path, &s.admin, Some(body)).await;
    assert!(answer.refused(400, field.name).contains("NUL"), "{}: {:?}", field.name, answer.body);
    assert_eq!(before, s.stored().await);
}

proptest! {
    #![proptest_config(ProptestConfig {
        // Each case tests every field at its limits. Only the letters differ between cases.
        cases: 6,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct("tests/http/limits.regressions"))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn text_is_accepted_up_to_its_limit_and_rejected_beyond(
        letters in proptest::collection::vec(select("aZ7éßж漢📘\u{301}ﷺ".chars().collect::<Vec<_>>()), 1..6),
        inside in 0_usize..5_000,
        beyond in 1_usize..40,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(async {
            let s = Server::new().await;
            let (space, request, page) = work(&s).await;
            let site = s.site("Docs", &[]).await;
            let people_and_sites = of_people_and_sites(&s, &space, &site);
            for field in people_and_sites.into_iter().chain(of_collections(&s).await) {
                hold(&field, &s, &letters, inside, beyond).await;
            }
            for field in of_structure(&s, &space).await {
                hold(&field, &s, &letters, inside, beyond).await;
            }
            for field in of_teams(&s, &crate::teams::provider(&s).await) {
                hold(&field, &s, &letters, inside, beyond).await;
            }
            let me = id(&s.get("/v1/user").await);
            for field in of_content(&space, &request, &page, me) {
                hold(&field, &s, &letters, inside, beyond).await;
            }
            s.check().await;
        });
    }
}

fn page() -> Value {
    json!({ "operation": "insert_page", "document": { "markdown": "" } })
}

pub(crate) fn file(text: &str) -> Value {
    json!({ "name": "a", "base64": text, "contentType": "text/plain" })
}

#[tokio::test]
async fn a_request_holds_1_to_50_changes_of_1_to_20_files() {
    let s = Server::new().await;
    let (_, request, _) = work(&s).await;
    let path = format!("{request}/content");
    let files = |count: usize| json!({ "operation": "insert_files", "files": vec![file("YQ=="); count] });
    for changes in [vec![page(); 50], vec![page()], vec![files(20)], vec![files(1)]] {
        s.post(&path, 200, json!({ "changes": changes })).await;
    }
    s.invalid("POST", &path, json!({ "changes": vec![page(); 51] }), "changes: must be 1 to 50").await;
    s.invalid("POST", &path, json!({ "changes": [] }), "changes: must be 1 to 50").await;
    let wrong = "changes[1].files: must be 1 to 20";
    s.invalid("POST", &path, json!({ "changes": [page(), files(21)] }), wrong).await;
    s.invalid("POST", &path, json!({ "changes": [page(), files(0)] }), wrong).await;
}

#[tokio::test]
async fn a_file_in_a_request_has_at_most_a_million_bytes() {
    let s = Server::new().await;
    let (_, request, _) = work(&s).await;
    let path = format!("{request}/content?compat=false");
    let body = |bytes: usize| {
        let text = data_encoding::BASE64.encode(&vec![b'x'; bytes]);
        json!({ "changes": [{ "operation": "insert_files", "files": [file(&text)] }] })
    };
    for right in [0, 999_999, 1_000_000] {
        let answer = s.post(&path, 200, body(right)).await.body;
        assert_eq!(answer["insertedFiles"][0]["size"], right);
    }
    let wrong = "changes[0].files[0].base64: must be at most 1000000 bytes";
    for beyond in [1_000_001, 1_000_003, 1_200_000] {
        s.invalid("POST", &path, body(beyond), wrong).await;
    }
}

#[tokio::test]
async fn file_requires_either_url_or_base64_with_content_type() {
    let s = Server::new().await;
    let (_, request, _) = work(&s).await;
    let path = format!("{request}/content");
    for (file, wrong) in [
        (json!({ "name": "a" }), "changes[1].files[0]: must have exactly one of `url` and `base64`"),
        (
            json!({ "name": "a", "base64": "YQ==", "contentType": "text/plain", "url": "https://x/" }),
            "changes[1].files[0]: must have exactly one",
        ),
        (json!({ "name": "a", "base64": "YQ==" }), "changes[1].files[0].contentType: is required"),
        (json!({ "name": "a", "base64": "YQ", "contentType": "a/b" }), "changes[1].files[0].base64: must be"),
        (json!({ "name": "a", "url": "ftp://x/" }), "changes[1].files[0].url: must be an absolute"),
        (json!({ "base64": "YQ==", "contentType": "a/b" }), "changes[1].files[0].name: is required"),
        (
            json!({ "name": "../a", "base64": "YQ==", "contentType": "a/b" }),
            "changes[1].files[0].name: must be a name without `/`",
        ),
    ] {
        let changes = json!([page(), { "operation": "insert_files", "files": [file] }]);
        s.invalid("POST", &path, json!({ "changes": changes }), wrong).await;
    }
}

#[tokio::test]
async fn ref_is_unique_and_differs_from_page_paths() {
    let s = Server::new().await;
    let (_, request, _) = work(&s).await;
    let path = format!("{request}/content");
    let page = |name: &str| json!({ "operation": "insert_page", "document": {}, "ref": name });
    let mut named = file("YQ==");
    named["ref"] = "a".into();
    let files = json!({ "operation": "insert_files", "files": [file("YQ=="), named] });
    for (changes, wrong) in [
        (json!([page("x"), page("x")]), "changes[1].ref: is a duplicate"),
        (json!([page("a"), files]), "changes[1].files[1].ref: is a duplicate"),
        (json!([page("x"), page("a")]), "changes[1].ref: is already the path of a page"),
        (json!([page("x"), files]), "changes[1].files[1].ref: is already the path of a page"),
    ] {
        s.invalid("POST", &path, json!({ "changes": changes }), wrong).await;
    }
    s.post(&path, 200, json!({ "changes": [page("x"), page("y")] })).await;
}

#[tokio::test]
async fn hostnames_domains_urls_and_git_refs_are_validated() {
    let s = Server::new().await;
    let space = s.space().await;
    let site = s.site("Docs", &[]).await;
    let (org, import) = (format!("/v1/orgs/{}", s.org), format!("/v1/spaces/{space}/git/import"));
    for wrong in ["Upper", "a_b", "-ab", "ab-", "a.b", "ä-ä", "a b"] {
        s.invalid("PATCH", &org, json!({ "hostname": wrong }), "hostname: must be").await;
        s.invalid("PATCH", &site, json!({ "basename": wrong }), "basename: must be").await;
    }
    for wrong in ["localhost", "a..b", ".a.b", "a.b.", "-a.b", "a@b.c", &format!("{}.b", "a".repeat(64))] {
        let body = json!({ "emailDomains": [wrong] });
        s.invalid("PATCH", &org, body, "emailDomains[0]: must be a domain name").await;
    }
    for wrong in ["javascript:alert(1)", "//x/a.png", "https://", "https://a b/", "x"] {
        s.invalid("PATCH", &org, json!({ "logo": wrong }), "logo: must be").await;
        s.invalid("PATCH", &format!("/v1/spaces/{space}"), json!({ "icon": wrong }), "icon: must be").await;
    }
    for wrong in
        ["example.com", "example.com/", "https://example.com/docs", "example.c/docs", "a/b", "a.com/ä"]
    {
        s.invalid("PATCH", &site, json!({ "proxy": wrong }), "proxy: must be").await;
    }
    for url in ["", "git.example/docs", "ssh://git@git.example/docs", "https:///docs", "https://a b/"] {
        s.invalid("POST", &import, json!({ "url": url, "ref": "refs/heads/main" }), "url: must be").await;
    }
    for name in ["", "main", "heads/main", "refs/"] {
        s.invalid("POST", &import, json!({ "url": "https://x/", "ref": name }), "ref: must be").await;
    }
    s.invalid("POST", &import, json!({ "url": "https://x/" }), "ref: is required").await;
    s.invalid("POST", &import, json!({ "ref": "refs/heads/main" }), "url: is required").await;
}

#[tokio::test]
async fn new_site_spaces_are_a_list_or_empty_or_sample() {
    let s = Server::new().await;
    let space = s.space().await;
    let path = format!("/v1/orgs/{}/sites", s.org);
    for (right, count) in [
        (json!([]), 0),
        (json!([space]), 1),
        (json!(vec![&space; 100]), 100),
        (json!("empty"), 1),
        (json!("sample"), 1),
    ] {
        let site = s.post(&path, 201, json!({ "title": "Docs", "spaces": right })).await.body;
        assert_eq!(site["siteSpaces"], count);
    }
    for (wrong, field) in [
        (json!(vec![&space; 101]), "spaces: must have at most 100"),
        (json!("full"), "spaces: "),
        (json!([1]), "spaces: "),
        (json!([space, "unknown"]), "spaces[1]: no such space"),
        (json!([space, "not an id"]), "spaces[1]: no such space"),
    ] {
        s.invalid("POST", &path, json!({ "title": "Docs", "spaces": wrong }), field).await;
    }
    let both = json!({ "spaces": [space], "createSpace": true });
    s.invalid("POST", &path, both, "createSpace: ").await;
    let domains: Vec<String> = (0..101).map(|n| format!("d{n}.example")).collect();
    let org = format!("/v1/orgs/{}", s.org);
    s.patch(&org, json!({ "emailDomains": domains[..100] })).await;
    s.invalid("PATCH", &org, json!({ "emailDomains": domains }), "emailDomains: must have at most 100").await;
}
