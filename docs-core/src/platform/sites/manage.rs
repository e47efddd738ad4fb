//! Checks common to all changes of a site.

use std::sync::Arc;

use crate::{
    Error, ErrorKind, Result,
    model::{OrgId, SiteId, SiteSpaceId, SpaceId},
    platform::{access, kernel::actor::Actor, nouns::SiteRef, publishing::outline::SiteOutline},
    policy::{SiteAction, SpaceAction},
    store::{
        Tx,
        records::{SiteRecord, SpaceRecord},
    },
};

/// The site and the actor of an operation.
pub(in crate::platform) struct SiteTarget {
    pub(in crate::platform) actor: Actor,
    pub(in crate::platform) org: OrgId,
    pub(super) site: SiteId,
}

impl SiteTarget {
    pub(in crate::platform) fn new(actor: &Actor, SiteRef { org, site }: SiteRef<'_>) -> Self {
        Self { actor: actor.clone(), org: org.clone(), site: site.clone() }
    }

    /// Returns the site if the actor may manage it.
    pub(in crate::platform) async fn require_manage(&self, tx: &Tx) -> Result<Arc<SiteRecord>> {
        let access = access::require_site(
            tx,
            &self.actor,
            SiteRef { org: &self.org, site: &self.site },
            SiteAction::Manage,
        )
        .await?;
        Ok(access.1)
    }

    /// Returns the site with its outline if the actor may manage it.
    pub(in crate::platform) async fn load_outline(&self, tx: &Tx) -> Result<(Arc<SiteRecord>, SiteOutline)> {
        let site = self.require_manage(tx).await?;
        let outline = SiteOutline::load(tx, &site).await?;
        Ok((site, outline))
    }
}

/// Returns a space that the actor may add to a site.
pub(in crate::platform) async fn require_manageable_space(
    tx: &Tx,
    actor: &Actor,
    org: &OrgId,
    space: &SpaceId,
    field: &str,
) -> Result<Arc<SpaceRecord>> {
    let access = access::space(tx, actor, space).await.map_err(|error| match error.kind() {
        ErrorKind::NotFound => Error::invalid(field, "no such space"),
        _ => error,
    })?;
    if access.space().organization != *org {
        return Err(Error::invalid(field, "the space belongs to another organization"));
    }
    Ok(Arc::clone(access.require(SpaceAction::Manage)?.space()))
}

pub(in crate::platform) fn title_error() -> Error {
    Error::internal("the constant title is within the limit")
}

/// Parses a site space id in a request.
pub(in crate::platform) fn parse_place(field: &str, id: &str) -> Result<SiteSpaceId> {
    id.parse().map_err(|_| Error::invalid(field, "the site has no such site space"))
}
