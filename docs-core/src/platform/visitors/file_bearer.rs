//! Visitors in the addresses of files: what of them such an address names, and whether they still are let in.

use std::sync::Arc;

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Pass, Signer, Visitor, VisitorClaims, admit::candidates, pass::CONTENT_TOKEN_WINDOW};
use crate::{
    ErrorKind, Result,
    model::{SiteId, SiteVisibility, SpaceId, Timestamp},
    platform::Platform,
    store::{
        Tx,
        records::{SiteRecord, SpaceRecord},
    },
};

/// A visitor of a site as the address of a file names them: what let them in, without their claims.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::platform) struct VisitorBearer {
    site: SiteId,
    #[serde(default)]
    pass: Pass,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    signed_by: Option<Signer>,
    /// When the address ends, in seconds since the epoch; never where nothing is known that could end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    until: Option<i64>,
}

impl VisitorBearer {
    /// A visitor whom a site shows content, with the claims that count there.
    pub(in crate::platform) fn new(
        visitor: &Visitor,
        site: &SiteId,
        claims: &VisitorClaims,
        now: Timestamp,
    ) -> Self {
        let is_known = |claims: &Value| claims.as_object().is_some_and(|claims| !claims.is_empty());
        let ends = visitor.signed_by.is_some() || is_known(&claims.signed) || is_known(&claims.unsigned);
        let at_most = (now.time() + CONTENT_TOKEN_WINDOW + TimeDelta::minutes(5)).timestamp();
        Self {
            site: site.clone(),
            pass: visitor.pass.clone(),
            signed_by: visitor.signed_by.clone(),
            until: ends.then(|| visitor.until.map_or(at_most, |until| until.min(at_most))),
        }
    }

    fn visitor(&self) -> Visitor {
        Visitor {
            site: Some(self.site.clone()),
            pass: self.pass.clone(),
            signed_by: self.signed_by.clone(),
            ..Visitor::default()
        }
    }
}

impl Platform {
    /// The audience of the site that still shows a space to a visitor; `None` where it does not.
    ///
    /// Conditions are asked again of a visitor of whom nothing is known. What is known of others is not in the address,
    /// which ends with their token instead.
    pub(in crate::platform) async fn audience_of(
        &self,
        tx: &Tx,
        bearer: &VisitorBearer,
        space: &SpaceId,
    ) -> Result<Option<SiteVisibility>> {
        let visitor = bearer.visitor();
        let Some(until) = bearer.until else {
            return match self.admit(tx, &visitor, space).await {
                Ok(admitted) => Ok(Some(admitted.placement.site.visibility)),
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
                Err(error) => Err(error),
            };
        };
        let site: Option<Arc<SiteRecord>> = tx.get(&SiteRecord::at(&bearer.site)).await?;
        let Some(site) = site.filter(|_| self.now().time().timestamp() < until) else { return Ok(None) };
        let space_record: Option<Arc<SpaceRecord>> = tx.get(&SpaceRecord::at(space)).await?;
        let is_there = space_record.is_some_and(|space| space.deleted_at.is_none())
            && !candidates(tx, &visitor, space).await?.is_empty();
        Ok(match is_there && self.lets_in(tx, &visitor, &site).await? {
            true => Some(site.visibility),
            false => None,
        })
    }
}
