//! Checks the mount points of sites.

use std::sync::Arc;

use crate::{
    Error, Result,
    model::{OrgId, SiteId, web_url},
    platform::kernel::site_hosts::SiteHosts,
    store::{
        Batches, Key, StoreResult, Tx,
        records::{SiteRecord, linked_id},
    },
};

/// Rejects a mount on the platform's own host, where sites are found by base name. `field` is the request field of the
/// origin.
pub(in crate::platform) fn check_host(
    field: &str,
    origin: &str,
    base: &str,
    hosts: &SiteHosts,
) -> Result<()> {
    let host = |address: &str| {
        web_url(address)?.host_str().map(|host| host.strip_suffix('.').unwrap_or(host).to_owned())
    };
    let Some(mounted) = host(&format!("https://{origin}")) else {
        return Err(Error::invalid(field, "must have a valid host"));
    };
    if hosts.is_own(&mounted) || Some(mounted) == host(base) {
        return Err(Error::invalid(field, "must not be on the host of the platform"));
    }
    Ok(())
}

/// Rejects a mount that is an ancestor or descendant of another organization's mount. Since the longest matching mount
/// wins, one site would take over URLs of the other.
pub(in crate::platform) async fn check(tx: &Tx, org: &OrgId, field: &str, origin: &str) -> Result<()> {
    let above: Vec<Key> =
        origin.match_indices('/').map(|(at, _)| SiteRecord::by_proxy(&origin[..at])).collect();
    let above = tx.get_values(&above).await?.into_iter().flatten();
    let mut others: Vec<SiteId> = above.map(|value| linked_id(&value)).collect::<StoreResult<_>>()?;
    let mut batches = Batches::of(SiteRecord::scan_mounts_below(origin));
    while let Some(rows) = batches.next(tx).await? {
        for (_, value) in &rows {
            others.push(linked_id(value)?);
        }
        let keys: Vec<Key> = others.drain(..).map(|id| SiteRecord::key_for(&id)).collect();
        let mut sites = tx.get_many::<SiteRecord>(&keys).await?.into_iter().flatten();
        if sites.any(|site: Arc<SiteRecord>| site.organization != *org) {
            return Err(Error::conflict(format!("{field}: overlaps with a site of another organization")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ProxyOrigin;

    #[test]
    fn site_cannot_be_mounted_on_the_platform_host() {
        let origin = |text: &str| ProxyOrigin::new(text).expect(text);
        for base in ["https://docs.example.com", "http://Docs.Example.com:4000/platform"] {
            let check = |text: &str| check_host("proxy", origin(text).as_str(), base, &SiteHosts::any());
            assert!(check("DOCS.example.com/sites/other").is_err(), "{base}");
            assert!(check("example.com/docs").is_ok(), "{base}");
        }
    }

    #[test]
    fn platform_host_is_normalized_before_comparison() {
        for (base, mounted) in [
            ("https://me:pw@docs.example.com/", "docs.example.com/x"),
            ("https://bücher.example", "xn--bcher-kva.example/x"),
            ("https://docs.example.com.:443", "docs.example.com/x"),
        ] {
            assert!(check_host("proxy", mounted, base, &SiteHosts::any()).is_err(), "{base}");
        }
        // Resembles the Punycode form of a host name, but is invalid.
        let broken = ProxyOrigin::new("xn--a.example/docs").expect("the form of an origin");
        assert!(check_host("proxy", broken.as_str(), "https://docs.example.com", &SiteHosts::any()).is_err());
        let hosts = SiteHosts::any().with_excluded_host("files.example.com:4443");
        assert!(check_host("proxy", "FILES.example.com/x", "https://docs.example.com", &hosts).is_err());
    }
}
