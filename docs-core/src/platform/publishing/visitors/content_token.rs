//! Content tokens: visitor credentials issued when a URL is resolved.

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{UNSIGNED, Visit, jwt};
use crate::{
    Error, ErrorKind, Result,
    model::{OrgId, SectionId, ShareLinkId, SiteId, SiteSpaceId, SpaceId, Timestamp},
    platform::kernel::{
        actor::{Pass, Signer, Visitor},
        platform::Platform,
    },
    store::records::SiteSpaceRecord,
};

/// Minimum lifetime of a content token.
pub(in crate::platform) const CONTENT_TOKEN_WINDOW: TimeDelta = TimeDelta::hours(1);
/// The purpose and the input from which the key of content tokens is derived. The input is longer than a key.
const PURPOSE: &str = "key of content tokens";
const SEED: &str = "what content tokens are signed with, first edition";

/// The payload of a content token, a JSON Web Token that clients can read but only the platform can sign.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ContentTokenClaims {
    kind: ContentTokenKind,
    pub(super) organization: OrgId,
    pub(super) site: SiteId,
    pub(super) site_space: SiteSpaceId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) site_section: Option<SectionId>,
    pub(super) space: SpaceId,
    /// All spaces of the site visible to the visitor.
    pub(super) spaces: Vec<SpaceId>,
    /// The visitor's claims. Unsigned claims are under `unsigned`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(super) claims: Map<String, Value>,
    /// The share link that grants access.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    share_link: Option<ShareLinkId>,
    /// The signer of the visitor's own token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    signed_by: Option<Signer>,
    /// The expiry, in seconds since the epoch.
    exp: i64,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ContentTokenKind {
    Site,
}

/// Maximum size of a content token, in bytes. It contains all visible spaces and the claims.
const MAX_CONTENT_TOKEN: usize = 32 * 1024;
/// The granularity of expiry times in seconds, so that visitors with equal claims share a token for some time.
const EXPIRY_GRANULARITY: i64 = 300;

/// Returns the expiry of a content token issued now, in seconds since the epoch.
pub(super) fn token_expiry(now: Timestamp) -> i64 {
    let end = (now.time() + CONTENT_TOKEN_WINDOW).timestamp();
    (end + EXPIRY_GRANULARITY - 1) / EXPIRY_GRANULARITY * EXPIRY_GRANULARITY
}

impl Platform {
    /// Returns the visitor identified by a content token.
    ///
    /// # Errors
    ///
    /// `Unauthenticated` for a token not issued by the platform, or an expired one.
    pub(in crate::platform) fn visitor_from_token(&self, token: &str) -> Result<Visitor> {
        let wrong = |why: &str| Error::new(ErrorKind::Unauthenticated, format!("the content token: {why}"));
        let claims = jwt::verify(&self.content_key()?, token, MAX_CONTENT_TOKEN, jwt::Clock::Own(self.now()));
        let claims = claims.map_err(|refused| wrong(&refused.to_string()))?;
        let ticket: ContentTokenClaims =
            serde_json::from_value(Value::Object(claims)).map_err(|_| wrong("it has another purpose"))?;
        Ok(ticket.visitor())
    }

    /// Issues a content token for a visit to a space of the site.
    pub(in crate::platform) fn content_token(
        &self,
        visit: &Visit,
        place: &SiteSpaceRecord,
        site_section: Option<SectionId>,
        spaces: Vec<SpaceId>,
    ) -> Result<String> {
        let object = |value: &Value| value.as_object().cloned().unwrap_or_default();
        let mut claims = object(&visit.claims.signed);
        let unsigned = object(&visit.claims.unsigned);
        if !unsigned.is_empty() {
            claims.insert(UNSIGNED.to_owned(), Value::Object(unsigned));
        }
        let even = token_expiry(self.now());
        let share_link = match &visit.visitor.pass {
            Pass::ShareLink(link) => Some(link.clone()),
            Pass::None | Pass::ShareKey(_) => None,
        };
        let ticket = ContentTokenClaims {
            kind: ContentTokenKind::Site,
            organization: visit.site.organization.clone(),
            site: visit.site.id.clone(),
            site_space: place.id.clone(),
            site_section,
            space: place.space.clone(),
            spaces,
            claims,
            share_link,
            signed_by: visit.visitor.signed_by.clone(),
            // The token must not outlive the signed claims.
            exp: visit.visitor.until.map_or(even, |until| even.min(until)),
        };
        match serde_json::to_value(ticket).map_err(Error::internal)? {
            Value::Object(claims) => Ok(jwt::sign(&self.content_key()?, &claims)),
            _ => Err(Error::internal("a ticket serializes to an object")),
        }
    }

    /// Returns the key of content tokens, which is the same on all servers of a store.
    pub(super) fn content_key(&self) -> Result<[u8; 32]> {
        let sealed = self.seal_deterministic(PURPOSE, SEED)?;
        Ok(blake3::derive_key("docs-platform content tokens", sealed.as_bytes()))
    }
}

impl ContentTokenClaims {
    fn visitor(self) -> Visitor {
        let mut signed = self.claims;
        let unsigned = signed.remove(UNSIGNED).unwrap_or_else(|| Value::Object(Map::new()));
        Visitor {
            site: Some(self.site),
            pass: self.share_link.map_or(Pass::None, Pass::ShareLink),
            signed_by: self.signed_by,
            until: Some(self.exp),
            signed: Value::Object(signed).to_string().into(),
            unsigned: unsigned.to_string().into(),
            is_user: false,
        }
    }
}
