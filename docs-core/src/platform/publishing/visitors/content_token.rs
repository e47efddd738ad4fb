//! Content tokens: visitor credentials issued when a URL is resolved.

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{UNSIGNED, Visit, jwt};
use crate::{
    Error, ErrorKind, Result,
    model::{BASE32, ShareLinkId, SiteId, Timestamp},
    platform::{
        kernel::{
            actor::{Pass, Signer, SitePreview, Visitor},
            platform::Platform,
        },
        publishing::outline::OutlineNode,
    },
};

/// Minimum lifetime of a content token.
pub(in crate::platform) const CONTENT_TOKEN_WINDOW: TimeDelta = TimeDelta::hours(1);
/// The purpose and the input from which the key of content tokens is derived. The input is longer than a key.
const PURPOSE: &str = "key of content tokens";
const SEED: &str = "what content tokens are signed with, first edition";

/// The payload of a content token, a JSON Web Token that clients can read but only the platform can sign. The names are
/// short, because front ends put the token into paths of their caches: without claims it has fewer than 200 bytes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ContentTokenClaims {
    #[serde(rename = "s")]
    site: SiteId,
    /// Identifies the content of the site. A front end that caches by token reads new content after a change.
    #[serde(rename = "v")]
    version: String,
    /// The visitor's claims. Unsigned claims are under `unsigned`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    claims: Map<String, Value>,
    /// The share link that grants access.
    #[serde(rename = "l", default, skip_serializing_if = "Option::is_none")]
    share_link: Option<ShareLinkId>,
    /// The signer of the visitor's own token.
    #[serde(rename = "b", default, skip_serializing_if = "Option::is_none")]
    signed_by: Option<Signer>,
    /// The preview that the token was issued for.
    #[serde(rename = "p", default, skip_serializing_if = "Option::is_none")]
    preview: Option<SitePreview>,
    /// The expiry, in seconds since the epoch.
    exp: i64,
}

/// Maximum size of a content token, in bytes. It contains the claims.
const MAX_CONTENT_TOKEN: usize = 32 * 1024;
/// Bytes of the version of the content. Equal versions of different content would only delay their change in caches.
const VERSION_BYTES: usize = 5;
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

    /// Issues a content token for a visit to a site.
    pub(in crate::platform) fn content_token(&self, visit: &Visit) -> Result<String> {
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
            site: visit.site.id.clone(),
            version: content_version(visit)?,
            claims,
            share_link,
            signed_by: visit.visitor.signed_by.clone(),
            preview: visit.visitor.preview.clone(),
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

/// Returns a short hash of the site's settings and outline, and of the revisions of its visible spaces.
fn content_version(visit: &Visit) -> Result<String> {
    let mut hasher = blake3::Hasher::new_derive_key("docs-platform version of a site's content");
    add(&mut hasher, &*visit.site)?;
    for node in visit.outline.nodes() {
        match node {
            OutlineNode::Section(section) => add(&mut hasher, &**section)?,
            OutlineNode::Group(group) => add(&mut hasher, &**group)?,
            OutlineNode::Link(link) => add(&mut hasher, &**link)?,
        }
    }
    for place in visit.outline.all_places() {
        let space = visit.spaces.get(&place.space);
        let space = space.map(|space| (&space.head, &space.title, &space.emoji, &space.icon));
        add(&mut hasher, &(&**place, space))?;
    }
    Ok(BASE32.encode(&hasher.finalize().as_bytes()[..VERSION_BYTES]))
}

/// Adds the JSON form of a part to a hash.
fn add(hasher: &mut blake3::Hasher, part: &impl Serialize) -> Result<()> {
    serde_json::to_writer(hasher, part).map_err(Error::internal)
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
            preview: self.preview,
        }
    }
}
