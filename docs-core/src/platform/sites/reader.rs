//! The readers of a site: members with access to it, and visitors.

use std::sync::Arc;

use crate::{
    Error, ErrorKind, Result,
    platform::{
        access,
        kernel::{
            actor::{Actor, Visitor},
            platform::Platform,
        },
        nouns::{SiteRef, addresses::SharedSiteRef},
    },
    policy::{OrgAccess, SiteAccess},
    store::{Tx, records::SiteRecord},
};

/// The reader of a site.
pub(super) enum SiteReader {
    /// A member with access to the site.
    Member(OrgAccess, SiteAccess),
    /// A visitor, who may not be in the audience of the site.
    Visitor(Visitor),
}

impl SiteReader {
    /// Determines the reader of a site. A user without access to it is a visitor.
    pub(super) async fn load(tx: &Tx, actor: &Actor, of: SharedSiteRef<'_>) -> Result<Self> {
        let SharedSiteRef { org, site, share_key } = of;
        if let Some(visitor) = Visitor::from_actor(actor, share_key) {
            return Ok(Self::Visitor(visitor));
        }
        match access::site(tx, actor, SiteRef { org, site }).await {
            Ok((org, site)) => Ok(Self::Member(org, site)),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Ok(Self::Visitor(Visitor::non_member(share_key)))
            }
            Err(error) => Err(error),
        }
    }
}

impl Platform {
    /// Returns a published site that the actor may read, without its outline.
    ///
    /// # Errors
    /// `NotFound` unless the site is published and visible to the actor; `Unauthenticated` for an anonymous visitor who
    /// is not in its audience.
    pub(in crate::platform) async fn published_site(
        &self,
        tx: &Tx,
        actor: &Actor,
        of: SharedSiteRef<'_>,
    ) -> Result<Arc<SiteRecord>> {
        let SharedSiteRef { org, site, .. } = of;
        let found = match SiteReader::load(tx, actor, of).await? {
            SiteReader::Member(_, access) => Arc::clone(access.site()),
            SiteReader::Visitor(visitor) => self.enter_site(tx, &visitor, SiteRef { org, site }).await?,
        };
        if found.published { Ok(found) } else { Err(Error::not_found("published site")) }
    }
}
