//! Redirects from a path of a site to a section, a space, a page or another site.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

#[cfg(feature = "schema")]
use super::Patch;
use super::{
    BoundedText, BoundedVec, PageId, RedirectId, SectionId, SiteSpaceId, Timestamp, Url,
    formed_text::formed_text, list::constants, patch::deserialize_non_null, typed_value::part,
};

/// Pattern of a source path.
#[cfg(feature = "schema")]
const SOURCE: &str = concat!(
    r"^\/(?:[A-Za-z0-9\-._~+]|%[0-9A-Fa-f]{2})+",
    r"(?:\/(?:[A-Za-z0-9\-._~+]|%[0-9A-Fa-f]{2})+)*(?:\/\*|\*)?$",
);

formed_text! {
    /// The source path of a redirect, without a trailing slash. `*` at the end matches any text, `/*` any path below.
    RedirectSource(2, 512, is_source,
        "a path like /old/page or /old/*, with segments of letters, digits, `-`, `.`, `_`, `~`, `+` and \
         %-escapes, without a trailing slash",
        { "pattern": SOURCE }),
}

/// The path of a page within a space, as the destination of a redirect.
pub type RedirectPagePath = BoundedText<1, 1024>;

constants! {
    /// `site-redirect`.
    SiteRedirectObject = "site-redirect",
}

/// A redirect of a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SiteRedirect {
    /// Always `site-redirect`.
    pub object: SiteRedirectObject,
    pub id: RedirectId,
    /// The source path on the site, unique ignoring case.
    pub source: RedirectSource,
    /// `true` if the redirect is a draft, which has no effect.
    pub draft: bool,
    /// `true` appends the text that the `*` of the source matches to the destination.
    pub capture_wildcard: bool,
    /// `true` if visitors of a public site are redirected with 308 instead of 307.
    pub permanent: bool,
    pub destination: RedirectDestination,
    pub created_at: Timestamp,
    /// The time of the last change; absent if the redirect was never changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Timestamp>,
}

/// The destination of a redirect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum RedirectDestination {
    /// A section of the site.
    SiteSection {
        /// The id of the section.
        site_section_id: SectionId,
    },
    /// A space on the site.
    SiteSpace {
        /// The id of the space's entry on the site.
        site_space_id: SiteSpaceId,
    },
    /// A page of a space on the site.
    SitePage {
        /// The id of the space's entry on the site.
        site_space_id: SiteSpaceId,
        /// The id of the page.
        page_id: PageId,
    },
    /// A URL outside the site.
    External {
        /// The URL.
        url: Url,
    },
}

impl RedirectDestination {
    /// Returns the id of the section or site space of the destination, or `None` for a URL.
    #[must_use]
    pub fn part(&self) -> Option<&str> {
        match self {
            Self::SiteSection { site_section_id } => Some(site_section_id.as_str()),
            Self::SiteSpace { site_space_id } | Self::SitePage { site_space_id, .. } => {
                Some(site_space_id.as_str())
            }
            Self::External { .. } => None,
        }
    }
}

/// The destination of a redirect, as given in requests.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(
    feature = "schema",
    schemars(tag = "kind", rename_all = "kebab-case", rename_all_fields = "camelCase")
)]
pub enum RedirectDestinationInput {
    /// A section of the site.
    SiteSection {
        /// The id of the section.
        site_section_id: SectionId,
    },
    /// A space on the site.
    SiteSpace {
        /// The id of the space's entry on the site.
        site_space_id: SiteSpaceId,
    },
    /// A page of a space on the site.
    SitePage {
        /// The id of the space's entry on the site.
        site_space_id: SiteSpaceId,
        /// The id of the page.
        page_id: PageId,
    },
    /// A URL outside the site.
    External {
        /// An http or https URL.
        url: Url,
    },
    /// The page that now has this path. The redirect follows the page if it moves.
    Path {
        /// The id of a space on the site.
        #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
        space_id: String,
        /// The path of the page within the space.
        path: RedirectPagePath,
    },
}

/// The fields of each kind of [`RedirectDestinationInput`], parsed separately because derived tagged enums lose the
/// path of an invalid field.
mod parts {
    use serde::Deserialize;

    use super::{PageId, RedirectPagePath, SectionId, SiteSpaceId, Url};

    #[derive(Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub(super) enum Kind {
        SiteSection,
        SiteSpace,
        SitePage,
        External,
        Path,
    }

    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub(super) enum Intent {
        Live,
        Draft,
        Publish,
    }

    #[derive(Deserialize)]
    pub(super) struct WithIntent {
        #[serde(default, deserialize_with = "super::deserialize_non_null")]
        pub(super) intent: Option<Intent>,
    }

    #[derive(Deserialize)]
    pub(super) struct Tagged {
        pub(super) kind: Kind,
    }

    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub(super) struct SiteSection {
        pub(super) site_section_id: SectionId,
    }

    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub(super) struct SiteSpace {
        pub(super) site_space_id: SiteSpaceId,
    }

    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub(super) struct SitePage {
        pub(super) site_space_id: SiteSpaceId,
        pub(super) page_id: PageId,
    }

    #[derive(Deserialize)]
    pub(super) struct External {
        pub(super) url: Url,
    }

    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub(super) struct Path {
        pub(super) space_id: String,
        pub(super) path: RedirectPagePath,
    }
}

impl<'de> Deserialize<'de> for RedirectDestinationInput {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let parts::Tagged { kind } = part(value.clone())?;
        Ok(match kind {
            parts::Kind::SiteSection => {
                let parts::SiteSection { site_section_id } = part(value)?;
                Self::SiteSection { site_section_id }
            }
            parts::Kind::SiteSpace => {
                let parts::SiteSpace { site_space_id } = part(value)?;
                Self::SiteSpace { site_space_id }
            }
            parts::Kind::SitePage => {
                let parts::SitePage { site_space_id, page_id } = part(value)?;
                Self::SitePage { site_space_id, page_id }
            }
            parts::Kind::External => {
                let parts::External { url } = part(value)?;
                Self::External { url }
            }
            parts::Kind::Path => {
                let parts::Path { space_id, path } = part(value)?;
                Self::Path { space_id, path }
            }
        })
    }
}

impl From<RedirectDestination> for RedirectDestinationInput {
    fn from(destination: RedirectDestination) -> Self {
        match destination {
            RedirectDestination::SiteSection { site_section_id } => Self::SiteSection { site_section_id },
            RedirectDestination::SiteSpace { site_space_id } => Self::SiteSpace { site_space_id },
            RedirectDestination::SitePage { site_space_id, page_id } => {
                Self::SitePage { site_space_id, page_id }
            }
            RedirectDestination::External { url } => Self::External { url },
        }
    }
}

/// The order of a list of redirects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum RedirectOrder {
    /// The newest first.
    #[default]
    CreatedAt,
    /// The most recently changed first. A redirect that was never changed counts with the time of its creation.
    UpdatedAt,
    /// By source path.
    Source,
}

/// A new redirect.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CreateSiteRedirect {
    /// The source path on the site.
    pub source: RedirectSource,
    pub destination: RedirectDestinationInput,
    /// `true` appends the text that the `*` of the source matches to the destination.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub capture_wildcard: Option<bool>,
    /// `true` makes the redirect a draft, which has no effect.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub draft: Option<bool>,
    /// `true` redirects visitors of a public site with 308 instead of 307.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub permanent: Option<bool>,
}

impl CreateSiteRedirect {
    /// Creates a live, temporary redirect.
    #[must_use]
    pub const fn new(source: RedirectSource, destination: RedirectDestinationInput) -> Self {
        Self { source, destination, capture_wildcard: None, draft: None, permanent: None }
    }
}

/// A partial update of a redirect. Omitted fields are unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct UpdateSiteRedirect {
    /// The source path on the site.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub source: Option<RedirectSource>,
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub destination: Option<RedirectDestinationInput>,
    /// `true` appends the text that the `*` of the source matches to the destination.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub capture_wildcard: Option<bool>,
    /// `true` makes the redirect a draft, which has no effect.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub draft: Option<bool>,
    /// `true` redirects visitors of a public site with 308 instead of 307.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub permanent: Option<bool>,
}

/// A list of changes of the redirects of a site. Each is applied independently of the others, in this order.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct BulkUpsertSiteRedirects {
    pub redirects: BoundedVec<BulkSiteRedirect, 1, 500>,
}

/// A change of the redirect with a source.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(untagged))]
pub enum BulkSiteRedirect {
    Publish(PublishSiteRedirect),
    Upsert(UpsertSiteRedirect),
}

/// Makes a draft live. It replaces the live redirect with the same source.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PublishSiteRedirect {
    /// The source path of the draft.
    pub source: RedirectSource,
    /// Always `publish`.
    pub intent: PublishIntent,
}

/// Creates, changes or deletes the live redirect or the draft with a source.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct UpsertSiteRedirect {
    /// The source path on the site.
    pub source: RedirectSource,
    /// `draft` selects the draft with the source. Defaults to `live`.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub intent: Option<UpsertIntent>,
    /// The destination; `null` deletes the redirect.
    #[serde(deserialize_with = "Option::deserialize")]
    #[cfg_attr(feature = "schema", schemars(with = "Patch<RedirectDestinationInput>"))]
    pub destination: Option<RedirectDestinationInput>,
    /// `true` appends the text that the `*` of the source matches to the destination. Defaults to `false`.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub capture_wildcard: Option<bool>,
    /// `true` redirects visitors of a public site with 308 instead of 307. If omitted, an existing redirect keeps its
    /// value.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub permanent: Option<bool>,
}

/// The intent to publish a draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum PublishIntent {
    Publish,
}

/// The redirect that a change applies to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum UpsertIntent {
    #[default]
    Live,
    Draft,
}

impl BulkSiteRedirect {
    #[must_use]
    pub const fn source(&self) -> &RedirectSource {
        match self {
            Self::Publish(publish) => &publish.source,
            Self::Upsert(upsert) => &upsert.source,
        }
    }

    /// Returns `true` if the result of the change is a draft.
    #[must_use]
    pub fn is_draft(&self) -> bool {
        matches!(self, Self::Upsert(UpsertSiteRedirect { intent: Some(UpsertIntent::Draft), .. }))
    }
}

impl<'de> Deserialize<'de> for BulkSiteRedirect {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        match part::<parts::WithIntent, _>(value.clone())?.intent {
            Some(parts::Intent::Publish) => part(value).map(Self::Publish),
            Some(parts::Intent::Live | parts::Intent::Draft) | None => part(value).map(Self::Upsert),
        }
    }
}

/// The results of a list of changes of redirects, in its order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct BulkRedirectResults {
    pub results: Vec<BulkRedirectResult>,
}

/// The result of a change of a redirect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "status", rename_all = "camelCase")]
pub enum BulkRedirectResult {
    /// The redirect was created.
    Created { source: RedirectSource, draft: bool, id: RedirectId },
    /// The redirect has the values of the request.
    Updated { source: RedirectSource, draft: bool, id: RedirectId },
    /// The redirect does not exist any more.
    Deleted { source: RedirectSource, draft: bool },
    /// The draft is live.
    Published { source: RedirectSource, draft: bool, id: RedirectId },
    /// The change was rejected.
    Error {
        source: RedirectSource,
        draft: bool,
        /// The reason for the rejection.
        error: String,
    },
}

/// A redirect and its resolved target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ResolvedRedirect {
    pub redirect: SiteRedirect,
    /// The URL of the destination.
    pub target: String,
}

impl RedirectSource {
    /// Returns `true` if the path ends with `*`.
    #[must_use]
    pub fn is_wildcard(&self) -> bool {
        self.as_str().ends_with('*')
    }

    /// Returns the path normalized for comparison: in lower case and with unnecessary percent-encoding decoded.
    #[must_use]
    pub fn normalized(&self) -> String {
        normalize(self.as_str()).to_ascii_lowercase()
    }

    /// Returns the normalized sources with a wildcard that match this path, the most specific first, each with the text
    /// that its `*` matches. Paths with `.` and `..` segments match none.
    #[must_use]
    pub fn wildcards(&self) -> Vec<(String, String)> {
        let path = normalize(self.as_str());
        if self.is_wildcard() || path.split('/').any(|segment| matches!(segment, "." | "..")) {
            return Vec::new();
        }
        // A source has at least one character between its slash and its wildcard.
        let ends = (2..=path.len()).rev();
        let matched = |end: usize| (format!("{}*", path[..end].to_ascii_lowercase()), path[end..].to_owned());
        ends.map(matched).collect()
    }
}

/// Decodes unnecessary percent-encoding.
fn normalize(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        // The format guarantees two digits.
        let (escape, behind) = rest[at..].split_at((at + 3).min(rest.len()) - at);
        match u8::from_str_radix(&escape[1..], 16) {
            Ok(byte) if is_plain(byte) => out.push(char::from(byte)),
            _ => out.push_str(escape),
        }
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// Returns `true` for a character that a path contains unencoded.
const fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'+')
}

/// Returns `true` for a path with valid, non-empty segments, which may end with a wildcard.
fn is_source(text: &str) -> bool {
    let path = match text.strip_suffix('*') {
        Some(path) => path.strip_suffix('/').unwrap_or(path),
        None => text,
    };
    let segment = |segment: &str| {
        let mut bytes = segment.bytes();
        while let Some(byte) = bytes.next() {
            let fits = match byte {
                b'%' => [bytes.next(), bytes.next()].iter().all(|b| b.is_some_and(|b| b.is_ascii_hexdigit())),
                byte => is_plain(byte),
            };
            if !fits {
                return false;
            }
        }
        !segment.is_empty()
    };
    path.strip_prefix('/').is_some_and(|path| path.split('/').all(segment))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcard_is_permitted_only_at_the_end_of_a_source() {
        for (text, is_valid) in [
            ("/a/*", true),
            ("/a*", true),
            ("/a+b/%2B", true),
            ("/a/b/*", true),
            ("/*", false),
            ("/a/**", false),
            ("/a*b", false),
            ("/*/a", false),
            ("/a//*", false),
            ("/a/", false),
            ("/a/%2", false),
            ("a*", false),
        ] {
            assert_eq!(RedirectSource::new(text).is_ok(), is_valid, "{text}");
        }
    }

    #[test]
    fn wildcards_of_a_path_are_ordered_by_specificity() {
        let path = RedirectSource::new("/Ab/%43%20").expect("a path");
        let all = path.wildcards();
        let sources: Vec<&str> = all.iter().map(|(source, _)| source.as_str()).collect();
        let expected = ["/ab/c%20*", "/ab/c%2*", "/ab/c%*", "/ab/c*", "/ab/*", "/ab*", "/a*"];
        assert_eq!(sources, expected);
        assert_eq!(all[4].1, "C%20", "the spelling of the request");
        assert_eq!(all[5].1, "/C%20");
        for dotted in ["/a/../b", "/a/%2E%2e/b", "/a/."] {
            assert!(RedirectSource::new(dotted).expect("a path").wildcards().is_empty(), "{dotted}");
        }
    }
}
