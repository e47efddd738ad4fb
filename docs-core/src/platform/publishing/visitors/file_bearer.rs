//! Visitors in the addresses of files: their identity, and the check that they still see the file.

use std::sync::Arc;

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Pass, Signer, Visitor, VisitorClaims, pass::CONTENT_TOKEN_WINDOW};
use crate::{
    ErrorKind, Result,
    content::LinkTarget,
    model::{SiteId, SiteVisibility, SpaceId, Timestamp},
    platform::{
        Platform,
        content::{
            files::{FileReach, SealedFile},
            read::Located,
        },
    },
    store::{Hash, Tx},
};

/// Maximum size in bytes of the claims in the address of a file, as JSON, so that intermediate servers accept the
/// address.
pub(in crate::platform) const MAX_SEALED_CLAIMS: usize = 4 * 1024;

/// Maximum number of cached decisions about files.
const SHOWN_FILES: usize = 20_000;

/// A cache of file visibility, keyed by content, claims of the reader, and file.
pub(in crate::platform) struct ShownFiles(quick_cache::sync::Cache<Hash, bool>);

impl Default for ShownFiles {
    fn default() -> Self {
        Self(quick_cache::sync::Cache::new(SHOWN_FILES))
    }
}

/// A visitor of a site in the address of a file: their credentials, and the claims that conditions read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::platform) struct VisitorBearer {
    site: SiteId,
    #[serde(default)]
    pass: Pass,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    signed_by: Option<Signer>,
    /// The signed claims that the site declares. Absent for an anonymous visitor, and if all claims together exceed
    /// [`MAX_SEALED_CLAIMS`]; the file is then shown as to a visitor without claims.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    signed: Option<Value>,
    /// The unsigned claims that the site declares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unsigned: Option<Value>,
    /// The expiry of the address in seconds since the epoch. An anonymous visitor's address does not expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    until: Option<i64>,
}

impl VisitorBearer {
    /// Returns a visitor of a site, with the relevant claims.
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

    fn visitor(&self) -> Visitor {
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
        }
    }
}

impl Platform {
    /// Returns the live content of a space for the visitor of an address, and who may use the address. Returns `None`
    /// if the site no longer shows the space to them.
    pub(in crate::platform) async fn content_of_bearer(
        &self,
        tx: &Tx,
        bearer: &VisitorBearer,
        space: &SpaceId,
    ) -> Result<Option<(Located, FileReach)>> {
        if bearer.until.is_some_and(|until| self.now().time().timestamp() >= until) {
            return Ok(None);
        }
        let visitor = bearer.visitor();
        let admitted = match self.admit(tx, &visitor, space).await {
            Ok(admitted) => admitted,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let reach = match admitted.placement.site.visibility {
            SiteVisibility::Public | SiteVisibility::Unlisted if bearer.until.is_none() => FileReach::Anybody,
            _ => FileReach::Bearer,
        };
        Ok(Some((self.located_by(&visitor, admitted), reach)))
    }

    /// Returns `true` if content has this file and shows it to its reader.
    ///
    /// The first use follows the backlinks of the file to the first page that the reader sees. Content is immutable, so
    /// the decision is cached for readers with the same claims.
    pub(in crate::platform) async fn still_shows(&self, at: &Located, file: &SealedFile) -> Result<bool> {
        let entry = at.view.file(&file.id).await?;
        if !entry.is_some_and(|entry| file.is_of(&entry)) {
            return Ok(false);
        }
        let reader = at.reader_id().unwrap_or_default();
        let key = [at.view.root().to_string(), reader, file.id.to_string()].join(" ");
        let key = Hash::of(key.as_bytes());
        if let Some(shown) = self.inner.shown_files.0.get(&key) {
            return Ok(shown);
        }
        let shown = at.content_filter().await?.sees(LinkTarget::File(file.id.clone())).await?;
        self.inner.shown_files.0.insert(key, shown);
        Ok(shown)
    }
}
