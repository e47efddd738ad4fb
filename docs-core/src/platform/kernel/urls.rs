//! URLs in responses.

use crate::{
    model::{
        ChangeRequestId, CollectionId, CommentId, CommentReplyId, GlossaryTermId, InviteId, JobId,
        OpenApiSpecVersionId, OrgId, PageId, ReviewId, RevisionId, SamlProviderId, SamlService, ShareLinkId,
        SiteId, SpaceId, TranslationId, UserId, web_url,
    },
    platform::kernel::{
        content_version::{ContentVersion, Version},
        own_paths::{API, APP, FILES, PREVIEW, SAML, SITES, WEBHOOKS},
    },
    store::records::CommentScope,
};

/// Builds the URLs in responses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Urls {
    base: String,
    files: Option<FilesOrigin>,
}

/// A separate origin for files.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FilesOrigin {
    origin: String,
    /// The host, without port and trailing dot.
    host: Option<String>,
    /// The port, set if the platform uses the same host with a different port.
    port: Option<u16>,
}

impl Urls {
    /// Creates a URL builder with a base URL, for example `https://docs.example.com`.
    #[must_use]
    pub fn new(base: &str) -> Self {
        Self { base: base.trim_end_matches('/').to_owned(), files: None }
    }

    /// Sets a separate origin for files, for example `https://files.example.net`.
    #[must_use]
    pub fn with_files_origin(mut self, origin: &str) -> Self {
        let host = |url: &url::Url| url.host_str().map(|host| host.trim_end_matches('.').to_owned());
        let (base, files) = (web_url(&self.base), web_url(origin));
        let files_host = files.as_ref().and_then(host);
        let is_shared = files_host == base.as_ref().and_then(host);
        let written = files.as_ref().map(|files| files.origin().ascii_serialization());
        self.files = Some(FilesOrigin {
            origin: written.unwrap_or_else(|| origin.trim_end_matches('/').to_owned()),
            port: files.filter(|_| is_shared).and_then(|files| files.port_or_known_default()),
            host: files_host,
        });
        self
    }

    /// Returns the origin of file URLs if it differs from the base.
    #[must_use]
    pub fn files_origin(&self) -> Option<&str> {
        self.files.as_ref().map(|files| files.origin.as_str())
    }

    /// Returns the base of file URLs: the files origin if set, otherwise the base URL.
    #[must_use]
    pub fn files_base(&self) -> &str {
        self.files_origin().unwrap_or(&self.base)
    }

    /// Returns `true` if the `Host` header of a request is the host of [`files_origin`](Self::files_origin). The port
    /// is compared only if the platform uses the same host with a different port.
    #[must_use]
    pub fn is_files_host(&self, host: &str) -> bool {
        let Some(FilesOrigin { origin, host: Some(files), port }) = &self.files else { return false };
        let scheme = origin.split_once("://").map_or("https", |(scheme, _)| scheme);
        let Some(named) = web_url(&format!("{scheme}://{host}/")) else { return false };
        let is_host = named.host_str().is_some_and(|named| named.trim_end_matches('.') == files);
        is_host && port.is_none_or(|port| named.port_or_known_default() == Some(port))
    }

    /// Returns the base URL without a trailing slash.
    #[must_use]
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Returns `true` for a URL of the web application, for example of a space in it.
    #[must_use]
    pub fn is_app(&self, url: &str) -> bool {
        let (Some(app), Some(url)) = (web_url(&self.app_base()), web_url(url)) else {
            return false;
        };
        let below = url.path().strip_prefix(app.path());
        url.origin() == app.origin() && below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    fn api(&self, path: std::fmt::Arguments<'_>) -> String {
        format!("{}/{API}{path}", self.base)
    }

    fn app(&self, path: std::fmt::Arguments<'_>) -> String {
        format!("{}/{APP}{path}", self.base)
    }

    /// Returns the base URL of the web application.
    pub(crate) fn app_base(&self) -> String {
        self.app(format_args!(""))
    }

    pub(crate) fn user(&self, id: &UserId) -> String {
        self.api(format_args!("/users/{id}"))
    }

    pub(crate) fn org(&self, id: &OrgId) -> (String, String) {
        (self.api(format_args!("/orgs/{id}")), self.app(format_args!("/o/{id}")))
    }

    /// Returns the API URL of an audit event.
    #[must_use]
    pub fn audit_event(&self, org: &OrgId, id: &str) -> String {
        self.api(format_args!("/orgs/{org}/audit-events/{id}"))
    }

    /// Returns the API URL of an invite link.
    #[must_use]
    pub fn link_invite(&self, org: &OrgId, id: &InviteId) -> String {
        self.api(format_args!("/orgs/{org}/link-invites/{id}"))
    }

    pub(crate) fn openapi_spec(&self, org: &OrgId, slug: &str) -> (String, String) {
        (
            self.api(format_args!("/orgs/{org}/openapi/{slug}")),
            self.app(format_args!("/o/{org}/openapi/{slug}")),
        )
    }

    pub(crate) fn openapi_spec_version(
        &self,
        org: &OrgId,
        slug: &str,
        version: &OpenApiSpecVersionId,
    ) -> String {
        self.api(format_args!("/orgs/{org}/openapi/{slug}/versions/{version}"))
    }

    /// Returns the URL of the document of an OpenAPI specification. `sealed` is its sealed part.
    pub(crate) fn spec_document(&self, org: &OrgId, sealed: &str, name: &str) -> String {
        format!("{}/{FILES}/{org}/openapi/{sealed}/{name}", self.files_base())
    }

    /// Returns the unauthenticated URL of the document of a public OpenAPI specification.
    pub(crate) fn published_spec(&self, org: &OrgId, slug: &str) -> String {
        format!("{}/{FILES}/{org}/openapi/{slug}", self.files_base())
    }

    pub(crate) fn saml_provider(&self, org: &OrgId, id: &SamlProviderId) -> String {
        self.api(format_args!("/orgs/{org}/saml/{id}"))
    }

    pub(crate) fn glossary_term(&self, org: &OrgId, id: &GlossaryTermId) -> String {
        self.api(format_args!("/orgs/{org}/translations-glossary/{id}"))
    }

    pub(crate) fn translation(&self, org: &OrgId, id: &TranslationId) -> String {
        self.api(format_args!("/orgs/{org}/translations/{id}"))
    }

    /// Returns the entity id and endpoints that a SAML provider needs.
    pub(crate) fn saml_service(&self, id: &SamlProviderId) -> SamlService {
        let base = format!("{}/{SAML}/{id}", self.base);
        SamlService { acs_url: format!("{base}/acs"), start_url: format!("{base}/start"), entity_id: base }
    }

    pub(crate) fn space(&self, id: &SpaceId) -> (String, String) {
        (self.api(format_args!("/spaces/{id}")), self.app(format_args!("/s/{id}")))
    }

    pub(crate) fn collection(&self, id: &CollectionId) -> (String, String) {
        (self.api(format_args!("/collections/{id}")), self.app(format_args!("/c/{id}")))
    }

    pub(crate) fn revision(&self, space: &SpaceId, id: &RevisionId) -> String {
        self.app(format_args!("/s/{space}/~/revisions/{id}"))
    }

    /// Returns the API URL of a revision.
    pub(crate) fn revision_location(&self, space: &SpaceId, id: &RevisionId) -> String {
        self.api(format_args!("/spaces/{space}/revisions/{id}"))
    }

    pub(crate) fn page(&self, space: &SpaceId, path: &str) -> String {
        self.app(format_args!("/s/{space}/{path}"))
    }

    /// Returns the API URL of content.
    #[must_use]
    pub fn content(&self, of: &ContentVersion) -> String {
        let space = &of.space;
        match &of.version {
            Version::Live => self.api(format_args!("/spaces/{space}/content")),
            Version::Revision(id) => self.revision_location(space, id),
            Version::Request(request) => {
                // As given by the caller, so it may contain any characters.
                let request = percent_encode(request);
                self.api(format_args!("/spaces/{space}/change-requests/{request}/content"))
            }
        }
    }

    /// Returns the API URL of a job of a space.
    #[must_use]
    pub fn job(&self, space: &SpaceId, job: &JobId) -> String {
        self.api(format_args!("/spaces/{space}/jobs/{job}"))
    }

    /// Returns the API URL of an import run.
    pub(crate) fn import_run(&self, org: &OrgId, run: &JobId) -> String {
        self.api(format_args!("/org/{org}/imports/{run}"))
    }

    /// Returns the API URL of the Git Sync of a space as an installation.
    pub(crate) fn git_installation(&self, space: &SpaceId) -> String {
        self.api(format_args!("/git/installations/{space}"))
    }

    /// Returns the webhook URL for the Git host of a space's repository.
    pub(crate) fn git_webhook(&self, space: &SpaceId) -> String {
        format!("{}/{WEBHOOKS}/git/{space}", self.base)
    }

    pub(crate) fn change_request_page(
        &self,
        space: &SpaceId,
        request: &ChangeRequestId,
        page: &PageId,
    ) -> String {
        self.api(format_args!("/spaces/{space}/change-requests/{request}/content/page/{page}"))
    }

    pub(crate) fn change_request(
        &self,
        space: &SpaceId,
        id: &ChangeRequestId,
        number: u64,
    ) -> (String, String) {
        (
            self.api(format_args!("/spaces/{space}/change-requests/{id}")),
            self.app(format_args!("/s/{space}/~/changes/{number}")),
        )
    }

    /// Returns the API URL of a path below a space or change request.
    fn scope_url(&self, scope: &CommentScope, path: std::fmt::Arguments<'_>) -> String {
        match &scope.request {
            None => self.api(format_args!("/spaces/{}{path}", scope.space)),
            Some(id) => self.api(format_args!("/spaces/{}/change-requests/{id}{path}", scope.space)),
        }
    }

    pub(crate) fn comment(&self, scope: &CommentScope, id: &CommentId) -> String {
        self.scope_url(scope, format_args!("/comments/{id}"))
    }

    pub(crate) fn reply(&self, scope: &CommentScope, comment: &CommentId, id: &CommentReplyId) -> String {
        self.scope_url(scope, format_args!("/comments/{comment}/replies/{id}"))
    }

    /// Returns the API URL of the reviews of a change request. `request` is its id or number.
    #[must_use]
    pub fn reviews(&self, space: &SpaceId, request: &str) -> String {
        self.api(format_args!("/spaces/{space}/change-requests/{request}/reviews"))
    }

    pub(crate) fn review(&self, space: &SpaceId, request: &ChangeRequestId, id: &ReviewId) -> String {
        self.api(format_args!("/spaces/{space}/change-requests/{request}/reviews/{id}"))
    }

    pub(crate) fn site(&self, org: &OrgId, id: &SiteId) -> (String, String) {
        (self.api(format_args!("/orgs/{org}/sites/{id}")), self.app(format_args!("/o/{org}/sites/{id}")))
    }

    /// Returns the API URL of a share link.
    #[must_use]
    pub fn share_link(&self, org: &OrgId, site: &SiteId, id: &ShareLinkId) -> String {
        self.api(format_args!("/orgs/{org}/sites/{site}/share-links/{id}"))
    }

    /// Returns the URL of a file's content. `sealed` is its sealed part.
    pub(crate) fn file(&self, space: &SpaceId, sealed: &str, name: &str) -> String {
        format!("{}/{FILES}/{space}/{sealed}/{}", self.files_base(), percent_encode(name))
    }

    /// Returns the URL to which a file is uploaded. `sealed` is its sealed part.
    pub(crate) fn upload(&self, org: &OrgId, sealed: &str) -> String {
        format!("{}/{FILES}/{org}/upload/{sealed}", self.files_base())
    }

    /// Returns the URL of a PDF file. `sealed` is its sealed part.
    pub(crate) fn pdf(&self, space: &SpaceId, sealed: &str, name: &str) -> String {
        format!("{}/{FILES}/{space}/pdf/{sealed}/{}", self.files_base(), percent_encode(name))
    }

    /// Returns the published URL of a site with this base name.
    pub(crate) fn published(&self, basename: &str) -> String {
        format!("{}/{SITES}/{basename}/", self.base)
    }

    /// Returns the published URL of a part of a site, with these path segments.
    pub(crate) fn published_below(&self, basename: &str, segments: &[&str]) -> String {
        below(self.published(basename), segments)
    }

    /// Returns the URL below which the previews of sites are.
    pub(crate) fn previews(&self) -> String {
        format!("{}/{PREVIEW}/", self.base)
    }

    /// Returns the URL of a part of the preview of a site, with these path segments.
    pub(crate) fn preview_below(&self, site: &SiteId, segments: &[&str]) -> String {
        below(format!("{}{site}/", self.previews()), segments)
    }

    /// Returns the API URL of a part of a site's structure: a list or one of its items.
    #[must_use]
    pub fn site_part(&self, org: &OrgId, site: &SiteId, path: &str) -> String {
        self.api(format_args!("/orgs/{org}/sites/{site}/{path}"))
    }
}

/// Appends path segments to a URL, with a slash after each.
fn below(url: String, segments: &[&str]) -> String {
    segments.iter().fold(url, |url, segment| url + &percent_encode(segment) + "/")
}

/// Percent-encodes a name as one URL path segment.
pub(in crate::platform) fn percent_encode(name: &str) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn application_urls_are_recognized_after_normalization() {
        let urls = Urls::new("https://docs.example/base");
        for inside in [
            "https://docs.example/base/app",
            "https://docs.example/base/app/s/x/page#top",
            "HTTPS://Docs.Example/base/app?x",
            "https://docs.example:443/base/app/s/x",
            "https://docs.example/base/x/../app/s/x",
        ] {
            assert!(urls.is_app(inside), "{inside}");
        }
        for outside in [
            "https://docs.example/base/application",
            "https://docs.example/base/v1/spaces",
            "https://docs.example/Base/app",
            "https://docs.example/app",
            "https://docs.example.evil/base/app",
            "http://docs.example/base/app",
            "https://docs.example:8443/base/app",
            "https://docs.example/base/app/../v1/spaces",
            "https://docs.example@evil.example/base/app",
            "/base/app",
            "",
            "ä",
        ] {
            assert!(!urls.is_app(outside), "{outside}");
        }
        let bücher = Urls::new("https://bücher.example");
        assert!(bücher.is_app("https://xn--bcher-kva.example/app/s/x"));
        assert!(Urls::new("http://[::1]:80").is_app("http://[0:0:0:0:0:0:0:1]/app"));
    }

    #[test]
    fn only_the_files_host_matches_the_files_origin() {
        let own = Urls::new("https://docs.example/base").with_files_origin("https://Files.Example/");
        assert_eq!(
            (own.files_base(), own.files_origin()),
            ("https://files.example", Some("https://files.example"))
        );
        for host in ["files.example", "FILES.example:443", "files.example.", "files.example:8443"] {
            assert!(own.is_files_host(host), "{host}");
        }
        for host in
            ["docs.example", "a.files.example", "files.example.net", "files.example@docs.example", "", "a b"]
        {
            assert!(!own.is_files_host(host), "{host}");
        }
        let ports = Urls::new("http://127.0.0.1:4000").with_files_origin("http://127.0.0.1:4001");
        assert!(ports.is_files_host("127.0.0.1:4001") && !ports.is_files_host("127.0.0.1:4000"));
        let shared = Urls::new("https://docs.example");
        assert_eq!(
            (shared.files_base(), shared.is_files_host("docs.example")),
            ("https://docs.example", false)
        );
    }
}
