//! Visitors in file URLs: their identity, and the check that they still see the file.

use std::sync::Arc;

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{VisitorClaims, content_token::CONTENT_TOKEN_WINDOW};
use crate::{
    model::{SiteId, Timestamp},
    platform::kernel::actor::{Pass, Signer, Visitor},
};

/// Maximum size of the claims in a file URL as JSON, in bytes, so that intermediaries accept the URL.
pub(in crate::platform) const MAX_SEALED_CLAIMS: usize = 4 * 1024;

/// A site visitor sealed into a file URL: their credentials, and the claims that conditions read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::platform) struct VisitorBearer {
    pub(in crate::platform) site: SiteId,
    #[serde(default)]
    pub(in crate::platform) pass: Pass,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::platform) signed_by: Option<Signer>,
    /// The signed claims declared by the site. Absent for an anonymous visitor, and if all claims together exceed
    /// [`MAX_SEALED_CLAIMS`]. In the latter case, the file is shown as to a visitor without claims.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::platform) signed: Option<Value>,
    /// The unsigned claims declared by the site.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::platform) unsigned: Option<Value>,
    /// The expiry of the URL, in seconds since the epoch. An anonymous visitor's URL does not expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::platform) until: Option<i64>,
}

impl VisitorBearer {
    /// Creates the bearer for a site visitor, with the relevant claims.
    pub(in crate::platform) fn new(
        visitor: &Visitor,
        site: &SiteId,
        claims: &VisitorClaims,
        now: Timestamp,
    ) -> Self {
        let known =
            |claims: &Value| claims.as_object().filter(|claims| !claims.is_empty()).map(|_| claims.clone());
        let (signed, unsigned) = (known(&claims.signed), known(&claims.unsigned));
        let ends = visitor.signed_by.is_some() || signed.is_some() || unsigned.is_some();
        let bytes: usize =
            [&signed, &unsigned].into_iter().flatten().map(|claims| claims.to_string().len()).sum();
        let fits = bytes <= MAX_SEALED_CLAIMS;
        let at_most = (now.time() + CONTENT_TOKEN_WINDOW + TimeDelta::minutes(5)).timestamp();
        Self {
            site: site.clone(),
            pass: visitor.pass.clone(),
            signed_by: visitor.signed_by.clone(),
            signed: signed.filter(|_| fits),
            unsigned: unsigned.filter(|_| fits),
            until: ends.then(|| visitor.until.map_or(at_most, |until| until.min(at_most))),
        }
    }

    pub(in crate::platform) fn visitor(&self) -> Visitor {
        let json = |claims: &Option<Value>| -> Arc<str> {
            claims.as_ref().map_or_else(|| Value::Object(Map::new()).to_string(), Value::to_string).into()
        };
        Visitor {
            site: Some(self.site.clone()),
            pass: self.pass.clone(),
            signed_by: self.signed_by.clone(),
            until: self.until,
            signed: json(&self.signed),
            unsigned: json(&self.unsigned),
            is_user: false,
            preview: None,
        }
    }
}
