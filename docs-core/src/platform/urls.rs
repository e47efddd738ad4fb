//! The addresses in answers.

use crate::model::{ChangeRequestId, OrgId, PageId, RevisionId, SiteId, SpaceId, UserId};

/// Makes the addresses in answers from one base.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Urls {
    base: String,
}

impl Urls {
    /// Addresses that begin with this, for example `https://docs.example.com`.
    #[must_use]
    pub fn new(base: &str) -> Self {
        Self { base: base.trim_end_matches('/').to_owned() }
    }

    /// The base, without a slash at its end.
    #[must_use]
    pub fn base(&self) -> &str {
        &self.base
    }

    fn api(&self, path: std::fmt::Arguments<'_>) -> String {
        format!("{}/v1{path}", self.base)
    }

    fn app(&self, path: std::fmt::Arguments<'_>) -> String {
        format!("{}/app{path}", self.base)
    }

    pub(crate) fn user(&self, id: &UserId) -> String {
        self.api(format_args!("/users/{id}"))
    }

    pub(crate) fn org(&self, id: &OrgId) -> (String, String) {
        (self.api(format_args!("/orgs/{id}")), self.app(format_args!("/o/{id}")))
    }

    pub(crate) fn space(&self, id: &SpaceId) -> (String, String) {
        (self.api(format_args!("/spaces/{id}")), self.app(format_args!("/s/{id}")))
    }

    pub(crate) fn revision(&self, space: &SpaceId, id: &RevisionId) -> String {
        self.app(format_args!("/s/{space}/~/revisions/{id}"))
    }

    pub(crate) fn page(&self, space: &SpaceId, path: &str) -> String {
        self.app(format_args!("/s/{space}/{path}"))
    }

    pub(crate) fn page_in(&self, space: &SpaceId, request: &ChangeRequestId, page: &PageId) -> String {
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

    pub(crate) fn site(&self, org: &OrgId, id: &SiteId) -> (String, String) {
        (self.api(format_args!("/orgs/{org}/sites/{id}")), self.app(format_args!("/o/{org}/sites/{id}")))
    }

    /// Where the bytes of a file are, given the sealed name of the bytes.
    pub(crate) fn file(&self, space: &SpaceId, sealed: &str, name: &str) -> String {
        format!("{}/files/{space}/{sealed}/{}", self.base, percent_encoded(name))
    }

    /// Where a PDF file is, given the sealed part of the address.
    pub(crate) fn pdf(&self, space: &SpaceId, sealed: &str, name: &str) -> String {
        format!("{}/files/{space}/pdf/{sealed}/{}", self.base, percent_encoded(name))
    }

    /// Where a site is published under a base name.
    pub(crate) fn published(&self, basename: &str) -> String {
        format!("{}/sites/{basename}/", self.base)
    }
}

/// A file's name as one segment of an address.
fn percent_encoded(name: &str) -> String {
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
