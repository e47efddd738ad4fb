//! Rejection of every operation of the document for every applicable reason: the status and the error format must be
//! correct, and nothing must change. The tests iterate over the document, so an operation without coverage fails them.

use std::collections::{BTreeMap, BTreeSet};

use docs_http::openapi::client_operations;
use serde_json::{Value, json};

use crate::{
    agent_feedback,
    client_operations::with_parameters,
    fixtures::{discussed, hostname_of, link_of},
    git_sync, import_runs, openapi_specs,
    server::{BODY_LIMIT, Server, id},
    site_settings, structure, teams, translations,
};

#[path = "refusals/bodies.rs"]
mod bodies;

/// An operation with a valid path and body.
#[derive(Clone, Debug)]
pub(crate) struct Op {
    pub(crate) id: String,
    pub(crate) method: String,
    template: String,
    pub(crate) body: Option<Value>,
    /// `true` if the body is JSON instead of a file.
    pub(crate) takes_json: bool,
    /// `true` if the document declares an idempotency key.
    pub(crate) takes_key: bool,
    /// `true` if the document declares conditions.
    pub(crate) takes_condition: bool,
}

/// A server with one resource of every kind that a path can identify.
pub(crate) struct World {
    pub(crate) s: Server,
    names: BTreeMap<&'static str, String>,
    /// Ids that differ between a change request and its space.
    names_in_request: BTreeMap<&'static str, String>,
}

impl World {
    /// Creates a world without published sites, which would be readable by anyone.
    async fn unpublished() -> Self {
        let w = Self::new().await;
        let site = format!("/v1/orgs/{}/sites/{}", w.s.org, w.name("siteId"));
        w.s.post(&format!("{site}/unpublish"), 200, json!({})).await;
        w
    }

    pub(crate) async fn new() -> Self {
        Self::at("https://docs.example").await
    }

    /// Creates a world whose server has this public base URL.
    pub(crate) async fn at(base: &str) -> Self {
        let s = Server::at(base).await;
        let space = Self::filled(&s).await;
        git_sync::followed(&s, &space).await;
        let open = s.request(&space).await;
        let content = s.get(&format!("{open}/content")).await;
        let site = s.site("Docs", &[&space]).await;
        s.post(&format!("{site}/publish"), 200, json!({})).await;
        let finding = id(&s.get(&format!("{site}/findings")).await["items"][0]);
        let parts = structure::build(&s, &site, &space).await;
        let page = id(&content["pages"][0]);
        let (place, link, redirect) = site_settings::settled(&s, &site, &page).await;
        let tree = s.get(&format!("{open}/content/page/{page}?format=document")).await;
        let last = |path: &str| path.rsplit('/').next().expect("an id").to_owned();
        let (team, provider) = (teams::team(&s, "Team").await, teams::provider(&s).await);
        let translation = translations::of(&s, &s.space().await).await;
        let term = translations::term(&s, json!({ "en": "page", "de": "Seite" })).await;
        let version = openapi_specs::spec(&s, "pets").await;
        let job = id(&s.get(&format!("/v1/spaces/{space}/jobs")).await["items"][0]);
        let event = id(&s.get(&format!("/v1/orgs/{}/audit-events?limit=1", s.org)).await["items"][0]);
        let mut names = BTreeMap::from([
            ("teamId", last(&team)),
            ("samlProviderId", last(&provider)),
            ("translationId", translation),
            ("glossaryEntryId", term),
            ("organizationId", s.org.clone()),
            ("installationId", space.clone()),
            ("spaceId", space),
            ("changeRequestId", last(&open)),
            ("siteId", last(&site)),
            ("siteSpaceId", place),
            ("shareLinkId", link),
            ("siteRedirectId", redirect),
            ("siteFindingId", finding),
            ("collectionId", teams::collection(&s).await),
            ("pageId", page),
            ("node", tree["document"]["nodes"][0]["key"].as_str().expect("a key").to_owned()),
            ("pagePath", content["pages"][0]["path"].as_str().expect("a path").to_owned()),
            ("fileId", id(&content["files"][0])),
            ("userId", id(&s.get("/v1/user").await)),
            ("revisionId", id(&content)),
            ("reusableContentId", id(&content["reusableContents"][0])),
            ("inviteId", link_of(&s).await),
            ("emailDomain", "engines.example".to_owned()),
            ("subdomain", hostname_of(&s).await),
            ("jobId", job),
            ("auditEventId", event),
            ("specSlug", "pets".to_owned()),
            ("versionId", version),
            ("documentId", content["pages"][0]["documentId"].as_str().expect("an id").to_owned()),
        ]);
        names.extend(parts);
        names.insert("importRunId", import_runs::pending(&s, &names).await);
        let (names, names_in_request) = discussed(&s, names).await;
        Self { s, names, names_in_request }
    }

    /// Creates a space with content from a repository and from a change request.
    async fn filled(s: &Server) -> String {
        let space = s.space().await;
        s.repository.put("README.md", "# Start\n\nHello.\n");
        s.repository.put(".gitbook/includes/note.md", "---\ntitle: Note\n---\n\nMind the gap.\n");
        s.repository.put("a.svg", "<svg/>");
        let import = json!({ "url": "https://git.example/docs", "ref": "refs/heads/main" });
        s.post(&format!("/v1/spaces/{space}/git/import"), 204, import).await;
        s.platform.settle().await.expect("settled");
        let request = s.request(&space).await;
        let changes = json!({ "changes": [
            { "operation": "insert_page", "document": { "markdown": "# Page\n\n[Former](/gone.md)\n" } },
            { "operation": "insert_files", "files": [
                { "name": "b.txt", "base64": "YQ==", "contentType": "text/plain" },
            ] },
        ] });
        s.post(&format!("{request}/content"), 200, changes.clone()).await;
        // The same page and file are in the space and in a second change request, so that the ids are valid in all
        // paths.
        s.post(&format!("{request}/merge"), 200, json!({})).await;
        space
    }

    pub(crate) fn ops(&self) -> Vec<Op> {
        let paths = self.s.document["paths"].as_object().expect("paths");
        let ops = paths.iter().flat_map(|(template, ops)| {
            ops.as_object().expect("operations").iter().map(|(method, op)| {
                let id = op["operationId"].as_str().expect("an id").to_owned();
                let body = op.get("requestBody").map(|_| self.body(&id));
                let parameters = op["parameters"].as_array().map(Vec::as_slice).unwrap_or_default();
                let takes = |name: &str| parameters.iter().any(|parameter| parameter["name"] == name);
                let (takes_key, takes_condition) = (takes("Idempotency-Key"), takes("If-Match"));
                let takes_json = op["requestBody"]["content"].get("application/json").is_some();
                let (method, template) = (method.to_uppercase(), template.clone());
                Op { id, method, template, body, takes_json, takes_key, takes_condition }
            })
        });
        ops.collect()
    }

    /// Returns the authorization header of a user who may perform the operation.
    pub(crate) fn may(&self, op: &Op) -> String {
        let goes_elsewhere = matches!(op.id.as_str(), "transferSpace" | "transferCollection");
        bearer(if goes_elsewhere { &self.s.both } else { &self.s.admin })
    }

    pub(crate) fn path(&self, op: &Op) -> String {
        self.path_with(op, |_| None)
    }

    /// Returns the path of an operation with some parameters replaced.
    fn path_with(&self, op: &Op, other: impl Fn(&str) -> Option<String>) -> String {
        let mut path = "/v1".to_owned();
        for part in op.template.split('/').skip(1) {
            path.push('/');
            match name_of(part) {
                None => path.push_str(part),
                Some(name) => {
                    let in_request = self.names_in_request.get(name);
                    let known = in_request.filter(|_| op.template.contains("{changeRequestId}"));
                    let known = known.map_or_else(|| self.name(name), String::as_str);
                    path.push_str(&other(name).unwrap_or_else(|| known.to_owned()));
                }
            }
        }
        if matches!(op.id.as_str(), "searchSpaceContent" | "searchOrganizationContent") {
            path.push_str("?query=page");
        }
        let with_url =
            ["getPublishedContentByUrl", "getContentByUrl", "getEmbedByUrl", "getEmbedByUrlInSpace"];
        if with_url.contains(&op.id.as_str()) {
            path.push_str(&format!("?url={}", self.published().replace(':', "%3A").replace('/', "%2F")));
        }
        if op.id.starts_with("uploadFile") {
            path.push_str("?name=a.json");
        }
        if op.id == "getSiteRedirectBySource" {
            path.push_str("?source=/old");
        }
        path
    }

    /// Returns the published URL of the site.
    fn published(&self) -> String {
        format!("{}/sites/docs/", self.s.platform.urls().base())
    }

    pub(crate) fn name(&self, parameter: &str) -> &str {
        self.names.get(parameter).unwrap_or_else(|| panic!("`{parameter}` of a path is not known here"))
    }

    pub(crate) async fn send(
        &self,
        op: &Op,
        path: &str,
        authorization: Option<&str>,
    ) -> crate::server::Answer {
        let body = op.body.as_ref().map(|body| ("application/json", body.to_string()));
        self.s.send(&op.method, path, authorization, body).await
    }
}

/// Classifies operations that members other than administrators may perform, and reads that are restricted.
impl Op {
    /// Returns `true` for operations available to every user: reporting a visit, accepting an invite, finding an
    /// organization to join, joining and creating one.
    fn is_for_everybody(&self) -> bool {
        let open = [
            "updateOrganizationMemberLastSeenAt",
            "getApiInformation",
            "getSubdomain",
            "joinOrganizationWithInvite",
            "joinOrganization",
            "createOrganization",
            "getContentByUrl",
            "getEmbedByUrl",
            "getOrganizationsForEmailDomain",
        ];
        open.contains(&self.id.as_str()) || self.is_about_addresses()
    }

    /// Returns `true` for operations that act on behalf of a visitor, whoever the caller is.
    fn is_about_addresses(&self) -> bool {
        ["resolvePublishedContentByUrl", "getPublishedContentByUrl"].contains(&self.id.as_str())
    }

    /// Returns `true` for reads restricted to administrators or to the user concerned.
    fn is_read_by_administrators(&self) -> bool {
        let closed = [
            "listAuditLogInOrganizationById",
            "listOrganizationInviteLinks",
            "getOrganizationInviteLink",
            "listSpacesForOrganizationMember",
        ];
        let secret =
            ["/saml", "/share-links", "/publishing/auth", "/audit-event", "/agents/feedback", "/findings"];
        let is_secret = secret.iter().any(|part| self.template.contains(part)) && !self.is_feedback();
        closed.contains(&self.id.as_str()) || is_secret
    }

    /// Returns `true` for reads restricted to editors of the space.
    fn is_read_by_editors(&self) -> bool {
        let parts = ["/jobs", "/imports/", "/git/sync", "/git/installations/"];
        parts.iter().any(|part| self.template.contains(part))
    }

    /// Returns `true` for reads whose parameters are in the body.
    pub(crate) fn is_read_by_post(&self) -> bool {
        ["searchSiteContent", "getComputedDocument", "getComputedRevision"].contains(&self.id.as_str())
    }

    /// Returns `true` for submissions of feedback, which every reader of a published site can make.
    pub(crate) fn is_feedback(&self) -> bool {
        agent_feedback::body(&self.id).is_some()
    }

    /// Returns `true` for reads restricted to members: of other members, the glossary, and OpenAPI specifications.
    fn is_read_by_members(&self) -> bool {
        let closed = [
            "listMembersInOrganizationById",
            "getMemberInOrganizationById",
            "getGlossary",
            "getGlossaryEntry",
            "listGlossaryEntries",
        ];
        let is_of_specs = self.template.contains("/openapi");
        is_of_specs || closed.contains(&self.id.as_str()) || self.template.ends_with("/teams")
    }
}

/// Returns the parameter name if this path segment is a parameter.
fn name_of(part: &str) -> Option<&str> {
    part.strip_prefix('{')?.strip_suffix('}')
}

pub(crate) fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}

#[tokio::test]
async fn requests_without_a_valid_token_are_rejected() {
    let w = World::unpublished().await;
    let before = w.s.stored().await;
    for op in w.ops() {
        let path = w.path(&op);
        let basic = format!("Basic {}", w.s.admin);
        let damaged = bearer(&w.s.admin[..w.s.admin.len() - 1]);
        for authorization in [None, Some("Bearer wrong"), Some(&damaged), Some(&basic), Some(&w.s.admin)] {
            let answer = w.send(&op, &path, authorization).await;
            if authorization.is_none() && op.is_about_addresses() {
                answer.refused(404, &op.id);
                continue;
            }
            answer.refused(401, &format!("{} {authorization:?}", op.id));
            assert_eq!(answer.header("www-authenticate"), Some("Bearer"), "{}", op.id);
        }
    }
    assert_eq!(before, w.s.stored().await);
}

#[tokio::test]
async fn unknown_id_returns_404_and_deleting_it_succeeds() {
    let w = World::new().await;
    let before = w.s.stored().await;
    let admin = bearer(&w.s.admin);
    for op in w.ops() {
        for name in op.template.split('/').filter_map(name_of) {
            w.name(name);
            // An unclaimed domain returns an empty result.
            if name == "emailDomain" {
                continue;
            }
            // `PUT` creates the resource.
            if name == "specSlug" && op.method == "PUT" {
                continue;
            }
            for unknown in ["unknown", "999999999999999999999999", "not%20an%20id", "%F0%9F%93%98"] {
                let path = w.path_with(&op, |of| (of == name).then(|| unknown.to_owned()));
                let (answer, what) = (w.send(&op, &path, Some(&admin)).await, format!("{} {path}", op.id));
                if op.method == "DELETE" {
                    assert_eq!(answer.is(204, &what), Value::Null, "{what}");
                } else {
                    answer.refused(404, &what);
                }
            }
        }
    }
    assert_eq!(before, w.s.stored().await);
}

#[tokio::test]
async fn unreadable_body_is_rejected_without_side_effects() {
    let w = World::new().await;
    let before = w.s.stored().await;
    let admin = bearer(&w.s.admin);
    for op in w.ops().into_iter().filter(|op| op.takes_json) {
        let (path, id) = (w.path(&op), &op.id);
        let right = op.body.clone().expect("a body").to_string();
        let nul = right.replacen("\":\"", "\":\"\\u0000", 1);
        let send = async |media_type: &str, body: &str| {
            w.s.send(&op.method, &path, Some(&admin), Some((media_type, body.to_owned()))).await
        };
        for (body, place) in [
            ("{\"a\":\n tru}", "line 2 column"),
            (&right[..right.len() - 1], "line 1 column"),
            ("[]", "the body"),
            ("\"text\"", "the body"),
            (nul.as_str(), "NUL"),
        ] {
            // A body without text has no place for NUL.
            if body == right {
                continue;
            }
            let answer = send("application/json", body).await;
            let message = answer.refused(400, &format!("{id} {body}"));
            assert!(message.contains(place), "{id} {body}: {message}");
        }
        for media_type in
            ["text/plain", "application/json; charset=latin1", "multipart/form-data; boundary=x"]
        {
            // Imports also accept a form.
            if id.starts_with("importContent") && media_type.starts_with("multipart/") {
                continue;
            }
            let answer = send(media_type, &right).await;
            assert!(answer.refused(415, id).starts_with("Content-Type"), "{id} {media_type}");
        }
        let large = format!("{right}{}", " ".repeat(BODY_LIMIT));
        let answer = send("application/json", &large).await;
        assert!(answer.refused(413, id).contains(&BODY_LIMIT.to_string()), "{id}");
    }
    assert_eq!(before, w.s.stored().await);
}

#[tokio::test]
async fn error_names_the_field_of_the_wrong_type() {
    let w = World::new().await;
    let before = w.s.stored().await;
    for op in w.ops() {
        let Some(Value::Object(fields)) = &op.body else { continue };
        for field in fields.keys() {
            for wrong in [json!({ "a": 1 }), json!(5), json!([[]])] {
                // An object is valid for fields with optional fields only, because unknown ones are ignored. The
                // number is valid for `schedule`.
                let has_optional_fields = ["favicon", "pageActions"].contains(&field.as_str());
                if has_optional_fields && wrong.is_object() || field == "schedule" && wrong.is_number() {
                    continue;
                }
                let mut body = fields.clone();
                body.insert(field.clone(), wrong);
                let answer = w.s.ask(&op.method, &w.path(&op), &w.s.admin, Some(body.into())).await;
                let message = answer.refused(400, &format!("{} {field}", op.id));
                assert!(message.starts_with(field.as_str()), "{} {field}: {message}", op.id);
            }
        }
    }
    assert_eq!(before, w.s.stored().await);
}

/// Returns a path with its parameters unnamed.
fn shape(template: &str) -> String {
    with_parameters(template, |_| "{}".to_owned())
}

#[tokio::test]
async fn unknown_method_is_rejected_with_the_allowed_ones() {
    let w = World::new().await;
    let before = w.s.stored().await;
    let mut paths: BTreeMap<String, (String, BTreeSet<String>)> = BTreeMap::new();
    for op in w.ops() {
        let path = w.path(&op).split('?').next().expect("a path").to_owned();
        let new = || (shape(&op.template), BTreeSet::from(["OPTIONS".to_owned()]));
        let (_, methods) = paths.entry(path).or_insert_with(new);
        if op.method == "GET" {
            methods.insert("HEAD".to_owned());
        }
        methods.insert(op.method);
    }
    let known: BTreeSet<(String, &str)> =
        client_operations().iter().map(|it| (shape(it.path), it.method)).collect();
    for (path, (shape, methods)) in paths {
        let allow = methods.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "PURGE"] {
            if !methods.contains(method) {
                let answer = w.s.ask(method, &path, &w.s.admin, None).await;
                if known.contains(&(shape.clone(), method)) {
                    answer.refused(501, "an operation of published clients");
                    continue;
                }
                answer.refused(405, &format!("{method} {path}"));
                assert_eq!(answer.header("allow"), Some(allow.as_str()), "{method} {path}");
            }
        }
    }
    assert_eq!(before, w.s.stored().await);
}

/// A user with the lowest role can only read.
#[tokio::test]
async fn reader_can_read_but_not_write() {
    let w = World::new().await;
    let saved = w.s.store.save();
    let before = w.s.stored().await;
    let reader = bearer(&w.s.reader);
    for op in w.ops() {
        if op.is_for_everybody() {
            continue;
        }
        let answer = w.send(&op, &w.path(&op), Some(&reader)).await;
        if op.is_read_by_administrators() || op.is_read_by_editors() {
            answer.refused(403, &op.id);
        } else if op.method == "GET" || op.is_read_by_post() {
            answer.is(200, &op.id);
        } else if ["prewarmSiteSearch", "trackEventsInSiteById"].contains(&op.id.as_str()) {
            answer.is(204, &op.id);
        } else if op.is_feedback() {
            assert!(answer.status < 300, "{}: {answer:?}", op.id);
            w.s.store.rewind(&saved);
        } else {
            answer.refused(403, &op.id);
        }
    }
    assert_eq!(before, w.s.stored().await);
}

#[tokio::test]
async fn other_organizations_cannot_detect_resources() {
    let w = World::unpublished().await;
    let before = w.s.stored().await;
    let outsider = bearer(&w.s.outsider);
    for op in w.ops() {
        if op.is_for_everybody() {
            continue;
        }
        let answer = w.send(&op, &w.path(&op), Some(&outsider)).await;
        if !op.template.contains('{') {
            assert!(!answer.is(200, &op.id).to_string().contains(&w.s.org), "{}", op.id);
        } else if op.method == "DELETE" {
            answer.is(204, &op.id);
        } else {
            answer.refused(404, &op.id);
        }
    }
    assert_eq!(before, w.s.stored().await);
}

#[tokio::test]
async fn guest_sees_the_organization_without_its_content() {
    let w = World::unpublished().await;
    let before = w.s.stored().await;
    let guest = bearer(&w.s.guest);
    for op in w.ops() {
        if op.is_for_everybody() {
            continue;
        }
        let answer = w.send(&op, &w.path(&op), Some(&guest)).await;
        let hidden = [
            "{spaceId}",
            "{siteId}",
            "{collectionId}",
            "{teamId}",
            "{translationId}",
            "{installationId}",
            "{importRunId}",
        ];
        let in_something = hidden.iter().any(|name| op.template.contains(name));
        match (op.method.as_str(), in_something) {
            ("GET", false) if op.id == "getUserById" => drop(answer.refused(404, &op.id)),
            ("GET", false) if op.is_read_by_members() || op.is_read_by_administrators() => {
                answer.refused(403, &op.id);
            }
            ("GET", false) => {
                let body = answer.is(200, &op.id);
                if ["/orgs/{organizationId}/", "/org/{organizationId}/"]
                    .iter()
                    .any(|prefix| op.template.starts_with(prefix))
                {
                    assert_eq!(body["items"], json!([]), "{}", op.id);
                    assert!(body["count"].as_u64().is_none_or(|n| n == 0), "{}: no number leaks", op.id);
                }
            }
            ("DELETE", true) => drop(answer.is(204, &op.id)),
            (_, true) => drop(answer.refused(404, &op.id)),
            // The space in the body is hidden.
            (_, false) if op.id == "startImportRun" => drop(answer.refused(404, &op.id)),
            (_, false) if op.id == "updateUserById" => drop(answer.refused(404, &op.id)),
            (_, false) => drop(answer.refused(403, &op.id)),
        }
    }
    assert_eq!(before, w.s.stored().await);
}

/// The resources of an organization are found only under its own paths.
#[tokio::test]
async fn a_site_or_a_team_is_not_found_below_another_organization() {
    let w = World::new().await;
    let before = w.s.stored().await;
    let both = bearer(&w.s.both);
    let names = ["{siteId}", "{organizationId}/teams/{teamId}", "{samlProviderId}"];
    for op in w.ops().into_iter().filter(|op| names.iter().any(|name| op.template.contains(name))) {
        let path = w.path_with(&op, |name| (name == "organizationId").then(|| w.s.other_org.clone()));
        let answer = w.send(&op, &path, Some(&both)).await;
        if op.method == "DELETE" {
            answer.is(204, &op.id);
        } else {
            answer.refused(404, &op.id);
        }
    }
    assert_eq!(before, w.s.stored().await);
}
