//! Redirects of sites: from a path that was to what is there now.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    PageId, RedirectId, SectionId, SiteSpaceId, formed_text::formed_text, list::constants, patch::given,
};

formed_text! {
    /// Where a redirect of a site begins: a path without a slash at its end.
    RedirectSource(2, 512, is_source,
        "a path like /old/page: segments of letters, digits, `-`, `.`, `_`, `~` and %-escapes, without a slash at the end",
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
    /// The id.
    pub id: RedirectId,
    /// The path on the site that it begins at; unique on the site, whatever the case.
    pub source: RedirectSource,
    /// Where it leads.
    pub destination: RedirectDestination,
}

/// Where a redirect leads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum RedirectDestination {
    /// A section of the site.
    SiteSection {
        /// The section.
        site_section_id: SectionId,
    },
    /// A space on the site.
    SiteSpace {
        /// The space on the site.
        site_space_id: SiteSpaceId,
    },
    /// A page of a space on the site.
    SitePage {
        /// The space on the site.
        site_space_id: SiteSpaceId,
        /// The page.
        page_id: PageId,
    },
}

impl RedirectDestination {
    /// The id of the section or the site space that it is, or that the page is a page of.
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

/// A redirect to create.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CreateSiteRedirect {
    /// The path on the site that it begins at.
    pub source: RedirectSource,
    /// Where it leads.
    pub destination: RedirectDestination,
}

/// A change of a redirect; what is left out stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct UpdateSiteRedirect {
    /// The path on the site that it begins at.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub source: Option<RedirectSource>,
    /// Where it leads.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub destination: Option<RedirectDestination>,
}

/// The redirect of a path, and where it leads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ResolvedRedirect {
    /// The redirect.
    pub redirect: SiteRedirect,
    /// The address that it leads to.
    pub target: String,
}

impl RedirectSource {
    /// The path as paths are compared: in lower case, without escapes of what needs none.
    #[must_use]
    pub fn normal(&self) -> String {
        let text = self.as_str();
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('%') {
            out.push_str(&rest[..at]);
            // Two digits follow: the form says so.
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

/// Tells whether text is a path with segments that are not empty.
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
