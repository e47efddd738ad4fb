//! Redirects from a path of a site to a section, a space or a page.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    PageId, RedirectId, SectionId, SiteSpaceId, formed_text::formed_text, list::constants,
    patch::deserialize_non_null,
};

formed_text! {
    /// The source path of a redirect, without a trailing slash.
    RedirectSource(2, 512, is_source,
        "a path like /old/page with segments of letters, digits, `-`, `.`, `_`, `~` and %-escapes, without \
         a trailing slash",
        { "pattern": r"^\/(?:[A-Za-z0-9\-._~]|%[0-9A-Fa-f]{2})+(?:\/(?:[A-Za-z0-9\-._~]|%[0-9A-Fa-f]{2})+)*$" }),
}

constants! {
    /// `site-redirect`.
    SiteRedirectObject = "site-redirect",
}

/// A redirect of a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SiteRedirect {
    /// Always `site-redirect`.
    pub object: SiteRedirectObject,
    pub id: RedirectId,
    /// The source path on the site, unique ignoring case.
    pub source: RedirectSource,
    pub destination: RedirectDestination,
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
}

impl RedirectDestination {
    /// Returns the id of the section or site space of the destination.
    #[must_use]
    pub fn part(&self) -> &str {
        match self {
            Self::SiteSection { site_section_id } => site_section_id.as_str(),
            Self::SiteSpace { site_space_id } | Self::SitePage { site_space_id, .. } => {
                site_space_id.as_str()
            }
        }
    }
}

/// A new redirect.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CreateSiteRedirect {
    /// The source path on the site.
    pub source: RedirectSource,
    pub destination: RedirectDestination,
}

/// A partial update of a redirect. Omitted fields are unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct UpdateSiteRedirect {
    /// The source path on the site.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub source: Option<RedirectSource>,
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub destination: Option<RedirectDestination>,
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
    /// Returns the path normalized for comparison: in lower case and with unnecessary percent-encoding decoded.
    #[must_use]
    pub fn normalized(&self) -> String {
        let text = self.as_str();
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('%') {
            out.push_str(&rest[..at]);
            // The format guarantees two digits.
            let (escape, behind) = rest[at..].split_at((at + 3).min(rest.len()) - at);
            match u8::from_str_radix(&escape[1..], 16) {
                Ok(byte) if is_unreserved(byte) => out.push(char::from(byte)),
                _ => out.push_str(escape),
            }
            rest = behind;
        }
        out.push_str(rest);
        out.to_ascii_lowercase()
    }
}

const fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// Returns `true` for a path with valid, non-empty segments.
fn is_source(text: &str) -> bool {
    let segment = |segment: &str| {
        let mut bytes = segment.bytes();
        while let Some(byte) = bytes.next() {
            let fits = match byte {
                b'%' => [bytes.next(), bytes.next()].iter().all(|b| b.is_some_and(|b| b.is_ascii_hexdigit())),
                byte => is_unreserved(byte),
            };
            if !fits {
                return false;
            }
        }
        !segment.is_empty()
    };
    text.strip_prefix('/').is_some_and(|path| path.split('/').all(segment))
}
