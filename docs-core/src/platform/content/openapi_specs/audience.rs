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

/// The audience of content that shows specifications.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::platform) enum SpecAudience {
    /// Readers of the space itself, and visitors of a site that requires a secret or a sign-in. They see all
    /// specifications.
    Restricted,
    /// Visitors of a site for everybody. They see public specifications only.
    Everybody,
}

impl SpecAudience {
    pub(in crate::platform) const fn of_site(site: SiteVisibility) -> Self {
        if site.is_for_everybody() { Self::Everybody } else { Self::Restricted }
    }

    /// Returns `true` if the audience sees a specification with this visibility.
    pub(in crate::platform) const fn sees(self, spec: SpecVisibility) -> bool {
        matches!(self, Self::Restricted) || matches!(spec, SpecVisibility::Public)
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
        let audience = SpecAudience::of_site(site.visibility);
        spec.filter(|spec| audience.sees(spec.visibility)).ok_or_else(missing)
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
            let audience = SpecAudience::of_site(site);
            assert!(audience.sees(SpecVisibility::Public), "{site:?}");
            assert_eq!(audience.sees(SpecVisibility::Private), shown, "{site:?}");
        }
    }
}
