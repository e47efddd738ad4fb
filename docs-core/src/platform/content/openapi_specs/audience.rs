//! Specifications as read by the visitors of sites.

use std::sync::Arc;

use super::find;
use crate::{
    Error, Result,
    model::{OrgId, SiteVisibility, SpecVisibility},
    platform::kernel::{actor::Visitor, platform::Platform},
    store::{
        Tx,
        records::{OpenApiSpecRecord, SiteRecord},
    },
};

/// Returns `true` if a site shows a specification: a public one on every site, and a private one only on a site that
/// requires a secret or a sign-in.
pub(in crate::platform) fn is_shown(spec: SpecVisibility, site: SiteVisibility) -> bool {
    match spec {
        SpecVisibility::Public => true,
        SpecVisibility::Private => !site.is_for_everybody(),
    }
}

impl Platform {
    /// Returns a specification that the site of a visitor's token shows.
    ///
    /// # Errors
    ///
    /// `NotFound`, also if the visitor is not in the audience of the site.
    pub(super) async fn visitor_spec(
        &self,
        tx: &Tx,
        visitor: &Visitor,
        (org, slug): (&OrgId, &str),
    ) -> Result<Arc<OpenApiSpecRecord>> {
        let missing = || Error::not_found("OpenAPI specification");
        let site = visitor.site.as_ref().ok_or_else(missing)?;
        let site: Option<Arc<SiteRecord>> = tx.get(&SiteRecord::key_for(site)).await?;
        let site = site.filter(|site| site.organization == *org).ok_or_else(missing)?;
        if !self.is_in_audience(tx, visitor, &site).await? {
            return Err(missing());
        }
        let spec = find(tx, org, slug).await?;
        spec.filter(|spec| is_shown(spec.visibility, site.visibility)).ok_or_else(missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_specifications_are_shown_on_restricted_sites_only() {
        use SiteVisibility as Site;
        for (site, shown) in [
            (Site::Public, false),
            (Site::Unlisted, false),
            (Site::ShareLink, true),
            (Site::VisitorAuth, true),
        ] {
            assert!(is_shown(SpecVisibility::Public, site), "{site:?}");
            assert_eq!(is_shown(SpecVisibility::Private, site), shown, "{site:?}");
        }
    }
}
