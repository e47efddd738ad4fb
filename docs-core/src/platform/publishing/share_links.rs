//! Share links of sites, as used by visitors.

use std::sync::Arc;

use crate::{
    Result,
    model::{BASE32, ShareLinkId, SiteId, SiteVisibility, Space},
    platform::kernel::platform::Platform,
    store::{
        Tx, Value,
        records::{ShareLinkRecord, SiteRecord, linked_id},
    },
};

/// Returns the active share link of a site with this key.
pub(in crate::platform) async fn share_key(
    tx: &Tx,
    site: &SiteId,
    key: &str,
) -> Result<Option<Arc<ShareLinkRecord>>> {
    let Some(link) = find_link(tx, key).await?.filter(|link| link.is_valid_for(site)) else {
        return Ok(None);
    };
    // Rows of a deleted site may remain for a while.
    let site: Option<Arc<SiteRecord>> = tx.get(&SiteRecord::key_for(site)).await?;
    Ok(site.map(|_| link))
}

/// The share link of a request. URLs of its site contain its key.
#[derive(Clone, Debug, Default)]
pub(in crate::platform) struct SharedLink(Option<SharedSiteKey>);

impl SharedLink {
    /// Looks up the key in a request. An invalid key has no effect.
    pub(in crate::platform) async fn find(platform: &Platform, tx: &Tx, key: Option<&str>) -> Result<Self> {
        let Some(key) = key else { return Ok(Self(None)) };
        let link = find_link(tx, key).await?.filter(|link| link.is_valid_for(&link.site));
        let Some(link) = link else { return Ok(Self(None)) };
        let site: Option<Arc<SiteRecord>> = tx.get(&SiteRecord::key_for(&link.site)).await?;
        // Sites with another visibility are accessible without a key.
        let site = site.filter(|site| site.visibility == SiteVisibility::ShareLink);
        Ok(Self(site.map(|site| SharedSiteKey {
            site: site.id.clone(),
            url: platform.urls().published(site.basename.as_str()),
            key: key.to_owned(),
        })))
    }

    /// Adds the key to a published URL, if it belongs to the site of the link.
    pub(in crate::platform) fn add_key(&self, url: &mut Option<String>) {
        let Some(SharedSiteKey { url: site, key, .. }) = &self.0 else { return };
        if let Some(rest) = url.as_deref().and_then(|url| url.strip_prefix(site.as_str())) {
            *url = Some(format!("{site}{key}/{rest}"));
        }
    }

    /// Returns the site of the link.
    pub(in crate::platform) fn site(&self) -> Option<&SiteId> {
        self.0.as_ref().map(|shared| &shared.site)
    }

    /// Adds the key to the URLs of a space.
    pub(in crate::platform) fn add_key_to_space(&self, space: &mut Space) {
        self.add_key(&mut space.urls.published);
    }
}

#[derive(Clone, Debug)]
struct SharedSiteKey {
    site: SiteId,
    /// The URL of the site.
    url: String,
    key: String,
}

/// Returns the share link with a key.
async fn find_link(tx: &Tx, key: &str) -> Result<Option<Arc<ShareLinkRecord>>> {
    if !is_key(key) {
        return Ok(None);
    }
    let Some(value) = tx.get_value(&ShareLinkRecord::by_digest(&digest(key))).await? else {
        return Ok(None);
    };
    Ok(tx.get(&ShareLinkRecord::key_for(&link_id(&value)?)).await?)
}

/// Returns `true` if the text has a valid key length.
pub(in crate::platform) fn is_key(text: &str) -> bool {
    (1..=MAX_KEY).contains(&text.len())
}

fn link_id(value: &Value) -> Result<ShareLinkId> {
    Ok(linked_id(value)?)
}

/// Returns the digest by which a key is looked up. The store does not reveal the key.
pub(in crate::platform) fn digest(key: &str) -> String {
    let hash = blake3::derive_key("docs-platform digest of the key of a share link", key.as_bytes());
    BASE32.encode(&hash)
}

/// Returns the sealing purpose of a share link's key.
pub(in crate::platform) fn purpose(id: &ShareLinkId) -> String {
    format!("share-link {id}")
}

/// Maximum length of a key to look up, in characters. Valid keys have 52.
pub(in crate::platform) const MAX_KEY: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_longer_than_the_bound_are_not_looked_up() {
        let is_key = |bytes: usize| is_key(&"a".repeat(bytes));
        assert_eq!([0, 1, MAX_KEY, MAX_KEY + 1].map(is_key), [false, true, true, false]);
    }
}
