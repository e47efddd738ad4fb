//! Site settings other than the structure: customization, share links, visitor authentication, redirects, and the
//! visitor claims schema.

mod adaptive;
mod auth;
pub(in crate::platform) mod customization;
pub(in crate::platform) mod redirects;
pub(in crate::platform) mod share_links;

use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

pub(in crate::platform) use self::{
    customization::{copy_override, customizations, delete_override},
    redirects::{PurgeRedirects, delete_redirect_batch, delete_redirects},
};
use crate::{
    Error, Result,
    model::{JobId, SiteId, Timestamp},
    platform::{
        jobs::{Payload, Purge},
        library::tree::drop_grants,
    },
    store::{
        Entity, Indexed, Key, Tx, jobs,
        records::{
            AdaptiveRecord, AgentFeedbackRecord, CustomizationRecord, RedirectRecord, ShareLinkRecord,
            SiteAuthRecord, SiteFindingsRecord, SiteSpaceRecord,
        },
    },
};

/// Number of records of each kind removed per transaction after a site is deleted.
const SETTINGS_PURGE_BATCH: u32 = 30;

/// Removes the settings of a site and the feedback about it in the transaction that deletes it: the secrets, the
/// schema and the statuses of findings completely, and as many of the other records as fit. A job removes the
/// remainder.
pub(in crate::platform) async fn delete_settings(
    tx: &mut Tx,
    site: &SiteId,
    job: &JobId,
    now: Timestamp,
) -> Result<()> {
    delete::<CustomizationRecord>(tx, &CustomizationRecord::key_for(site)).await?;
    delete::<SiteAuthRecord>(tx, &SiteAuthRecord::key_for(site)).await?;
    delete::<AdaptiveRecord>(tx, &AdaptiveRecord::key_for(site)).await?;
    delete::<SiteFindingsRecord>(tx, &SiteFindingsRecord::key_for(site)).await?;
    if delete_batch(tx, site).await? {
        let job = PurgeSettings { site: site.clone() }.to_new_job(job, site, now)?;
        jobs::enqueue(tx, now, job).await?;
    }
    Ok(())
}

/// Removes a batch of settings of a deleted site. `Output` is `true` if more may remain.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::platform) struct PurgeSettings {
    site: SiteId,
}

impl Payload for PurgeSettings {
    const KIND: &'static str = "site_settings_purge";
}

#[async_trait]
impl Purge for PurgeSettings {
    const LOGGED: bool = false;

    async fn purge_some(&self, tx: &mut Tx) -> Result<bool> {
        delete_batch(tx, &self.site).await
    }
}

/// Removes a batch. No new rows can appear, since every operation that adds one reads the site record first.
async fn delete_batch(tx: &mut Tx, site: &SiteId) -> Result<bool> {
    let looks = tx.scan_prefix(&CustomizationRecord::places_by_site(site), SETTINGS_PURGE_BATCH).await?;
    let links = tx.scan_prefix(&ShareLinkRecord::by_site(site), SETTINGS_PURGE_BATCH).await?;
    let redirects = tx.scan_prefix(&RedirectRecord::by_site(site), SETTINGS_PURGE_BATCH).await?;
    let feedback = tx.scan_prefix(&AgentFeedbackRecord::by_site(site), SETTINGS_PURGE_BATCH).await?;
    let more_grants = drop_grants(tx, site.as_str(), SETTINGS_PURGE_BATCH).await?;
    let is_full = |found: &&Vec<_>| found.len() == SETTINGS_PURGE_BATCH as usize;
    let more = [&looks, &links, &redirects, &feedback].iter().any(is_full);
    let looks: Vec<Key> = looks.into_iter().map(|(key, _)| key).collect();
    tx.delete_all::<CustomizationRecord>(&looks).await?;
    tx.delete_all::<ShareLinkRecord>(&ShareLinkRecord::named_by_all(&links)).await?;
    tx.delete_all::<RedirectRecord>(&RedirectRecord::named_by_all(&redirects)).await?;
    tx.delete_all::<AgentFeedbackRecord>(&AgentFeedbackRecord::named_by_all(&feedback)).await?;
    Ok(more || more_grants)
}

async fn delete<T: Indexed>(tx: &mut Tx, key: &Key) -> Result<()> {
    let record: Option<Arc<T>> = tx.get(key).await?;
    if let Some(record) = record {
        tx.delete(&*record);
    }
    Ok(())
}

/// Returns a site space by id.
async fn find_site_space(
    tx: &Tx,
    site: &SiteId,
    id: &crate::model::SiteSpaceId,
) -> Result<Arc<SiteSpaceRecord>> {
    let place: Option<Arc<SiteSpaceRecord>> = tx.get(&SiteSpaceRecord::key_for(id)).await?;
    place.filter(|place| place.site == *site).ok_or_else(|| Error::not_found("site space"))
}
