//! Custom host names of sites.

use docs_macros::{boxed, operation};

use crate::{
    Error, Result,
    model::{OrgId, Site, SiteHostname, SiteId},
    platform::{
        access,
        kernel::actor::Actor,
        nouns::{SiteHandle, SiteRef},
        sites::structure::mount,
    },
    policy::SiteAction,
    store::{Tx, records::SiteRecord},
};

impl<'p> SiteHandle<'p> {
    /// Sets or removes the custom host name of a site. The site is served on that host, and its canonical URLs use it.
    ///
    /// Reserved for the platform itself, because the operator must route requests for the host.
    ///
    /// # Errors
    ///
    /// `Forbidden` for users; `NotFound`; `Conflict` if another site has the host name, or if a site of another
    /// organization is mounted below it; `Invalid` for the platform's own host.
    #[boxed]
    pub async fn set_hostname(self, hostname: Option<SiteHostname>) -> Result<Site> {
        let Self { caller, at: SiteRef { org, site: id }, .. } = self;
        let (platform, actor) = (caller.platform, &caller.actor());
        actor.require_platform()?;
        if let Some(hostname) = &hostname {
            let (base, hosts) = (platform.urls().base(), platform.site_hosts());
            mount::check_host("hostname", hostname.as_str(), base, hosts)?;
        }
        let set = set_hostname(org, id, hostname.as_ref());
        platform.write_site(actor, &set, org, id).await
    }
}

#[operation("site_hostname_set", taken_error = |_| Error::conflict("hostname: is in use by another site"))]
async fn set_hostname(tx: &mut Tx, org: &OrgId, id: &SiteId, hostname: Option<&SiteHostname>) -> Result<()> {
    let of = SiteRef { org, site: id };
    let (_, old) = access::require_site(tx, &Actor::Platform, of, SiteAction::Manage).await?;
    if let Some(hostname) = hostname {
        mount::check(tx, org, "hostname", hostname.as_str()).await?;
    }
    tx.put(&*old, SiteRecord { hostname: hostname.cloned(), ..SiteRecord::clone(&old) })?;
    Ok(())
}
