//! Signing keys of sites.

use std::sync::Arc;

use crate::{
    Error, Result,
    model::{BASE32, SiteId},
    ports::Secrets,
    store::{Tx, records::SiteAuthRecord},
};

/// Returns the signing key of a site, if any.
pub(in crate::platform) async fn signing_key(
    secrets: &dyn Secrets,
    tx: &Tx,
    site: &SiteId,
) -> Result<Option<String>> {
    let record: Option<Arc<SiteAuthRecord>> = tx.get(&SiteAuthRecord::key_for(site)).await?;
    record.map(|record| open_signing_key(secrets, &record)).transpose()
}

/// Unseals the signing key of a site. The key is the UTF-8 encoding of the stored text.
pub(in crate::platform) fn open_signing_key(
    secrets: &dyn Secrets,
    record: &SiteAuthRecord,
) -> Result<String> {
    secrets.open(&purpose(&record.site), &record.sealed).map_err(|_| {
        Error::conflict(
            "the signing key was sealed with another key; start the server with that key, or regenerate the \
             signing key",
        )
    })
}

/// Returns the sealing purpose of a site's signing key.
pub(in crate::platform) fn purpose(site: &SiteId) -> String {
    format!("site-signing-key {site}")
}

/// Returns a fingerprint that distinguishes keys without revealing them.
pub(in crate::platform) fn fingerprint(key: &str) -> Arc<str> {
    let hash = blake3::derive_key("docs-platform fingerprint of a signing key", key.as_bytes());
    BASE32.encode(&hash[..16]).into()
}
