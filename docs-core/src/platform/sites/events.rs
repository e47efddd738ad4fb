//! Events of the readers of a site. They are counted in metrics and not stored.

use std::collections::BTreeMap;

use docs_macros::boxed;

use crate::{
    Result,
    model::TrackSiteEvents,
    platform::{kernel::metrics::SITE_EVENTS, nouns::SiteHandle},
};

impl<'p> SiteHandle<'p> {
    /// Counts events of readers by type, in the metric [`SITE_EVENTS`]. Nothing of an event is stored.
    ///
    /// # Errors
    /// `NotFound` unless the site is published and visible to the actor.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{model::{OrgId, SiteId}, platform::Caller};
    /// # async fn example(visitor: Caller<'_>, org: &OrgId, site: &SiteId) -> Result<(), Box<dyn std::error::Error>> {
    /// let events = serde_json::from_value(serde_json::json!({ "events": [] }))?;
    /// visitor.org(org).site(site).track_events(&events).await?;
    /// # Ok(())
    /// # }
    /// ```
    #[boxed]
    pub async fn track_events(self, events: &'p TrackSiteEvents) -> Result<()> {
        let (platform, ref actor, at, share_key) = self.parts();
        // Anonymous visitors of a site for share links have no other place for the key.
        let sent = events.events.iter().find_map(|event| event.location.site_share_key.as_deref());
        let share_key = share_key.or(sent);
        let tx = platform.read().await?;
        platform.published_site(&tx, actor, at.with_share_key(share_key)).await?;
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for event in events.events.iter() {
            *counts.entry(event.kind.as_str()).or_default() += 1;
        }
        for (kind, count) in counts {
            platform.metrics().add(&SITE_EVENTS, &[kind], count);
        }
        Ok(())
    }
}
