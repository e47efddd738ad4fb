//! Custom hostnames of sites.

use async_trait::async_trait;
use docs_macros::boxed;

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
    store::{Key, Operation, Tx, records::SiteRecord},
};

impl<'p> SiteHandle<'p> {
    /// Sets or removes the hostname of a site. The site is served on that host, and its canonical addresses use it.
    ///
    /// The operator of the platform routes the requests of the host, so only the platform itself may call this.
    ///
    /// # Errors
    ///
    /// `Forbidden` for users; `NotFound`; `Conflict` if another site has the host, or a site of another organization is
    /// mounted below it; `Invalid` for the platform's own host.
    #[boxed]
    pub async fn set_hostname(self, hostname: Option<SiteHostname>) -> Result<Site> {
        let Self { caller, at: SiteRef { org, site: id }, .. } = self;
        let (platform, actor) = (caller.platform, &caller.actor());
        actor.require_platform()?;
        if let Some(hostname) = &hostname {
            let (base, hosts) = (platform.urls().base(), platform.site_hosts());
            mount::check_host("hostname", hostname.as_str(), base, hosts)?;
        }
        let set = SetHostname { org: org.clone(), id: id.clone(), hostname };
        platform.write_site(actor, &set, org, id).await
    }
}

struct SetHostname {
    org: OrgId,
    id: SiteId,
    hostname: Option<SiteHostname>,
}

#[async_trait]
impl Operation for SetHostname {
    type Out = ();
    const NAME: &'static str = "site_hostname_set";

    fn taken(&self, _: &Key) -> Error {
        Error::conflict("hostname: is in use by another site")
    }

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let of = SiteRef { org: &self.org, site: &self.id };
        let (_, old) = access::site(tx, &Actor::Platform, of, SiteAction::Manage).await?;
        if let Some(hostname) = &self.hostname {
            mount::check(tx, &self.org, "hostname", hostname.as_str()).await?;
        }
        tx.put(&*old, SiteRecord { hostname: self.hostname.clone(), ..SiteRecord::clone(&old) })?;
        Ok(())
    }
}
