//! Where sites are mounted on hosts of their organizations.

use std::sync::Arc;

use crate::{
    Error, Result,
    model::{OrgId, ProxyOrigin, SiteId},
    store::{
        Batches, Key, StoreResult, Tx,
        records::{SiteRecord, linked_id},
    },
};

/// Refuses a mount on the host of the platform: its addresses are found by the base names of sites.
pub(super) fn check_host(origin: &ProxyOrigin, base: &str) -> Result<()> {
    let host = |address: &str| {
        let address = address.split_once("://").map_or(address, |(_, rest)| rest);
        address.split(['/', ':']).next().unwrap_or_default().to_lowercase()
    };
    if host(origin.as_str()) == host(base) {
        return Err(Error::invalid("proxy", "must be on another host than the platform's own"));
    }
    Ok(())
}

/// Refuses a mount above or below one of another organization: the longest mount of an address wins, so it would take
/// addresses of theirs, or lose its own to them.
pub(super) async fn check(tx: &Tx, org: &OrgId, origin: &ProxyOrigin) -> Result<()> {
    let origin = origin.as_str();
    let above: Vec<Key> =
        origin.match_indices('/').skip(1).map(|(at, _)| SiteRecord::by_proxy(&origin[..at])).collect();
    let above = tx.get_values(&above).await?.into_iter().flatten();
    let mut others: Vec<SiteId> = above.map(|value| linked_id(&value)).collect::<StoreResult<_>>()?;
    let mut batches = Batches::of(SiteRecord::proxied_below(origin));
    while let Some(rows) = batches.next(tx).await? {
        for (_, value) in &rows {
            others.push(linked_id(value)?);
        }
        let keys: Vec<Key> = others.drain(..).map(|id| SiteRecord::at(&id)).collect();
        let mut sites = tx.get_many::<SiteRecord>(&keys).await?.into_iter().flatten();
        if sites.any(|site: Arc<SiteRecord>| site.organization != *org) {
            return Err(Error::conflict(
                "proxy: a site of another organization is mounted above or below it",
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_site_is_mounted_on_the_host_of_the_platform() {
        let origin = |text: &str| ProxyOrigin::new(text).expect(text);
        for base in ["https://docs.example.com", "http://Docs.Example.com:4000/platform"] {
            assert!(check_host(&origin("DOCS.example.com/sites/other"), base).is_err(), "{base}");
            assert!(check_host(&origin("example.com/docs"), base).is_ok(), "{base}");
        }
    }
}
