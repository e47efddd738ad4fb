//! Redirects from former paths of a site to its current content or to other sites.

mod bulk;
mod record;
mod resolve;

use std::sync::Arc;

use async_trait::async_trait;
use docs_macros::{boxed, operation};
use serde::{Deserialize, Serialize};

use self::record::{find, missing_redirect, put_changed, unknown_destination, view};
use crate::{
    Error, ErrorKind, Result,
    model::{
        CreateSiteRedirect, JobId, OrgId, RedirectDestination, RedirectId, RedirectOrder, SiteId,
        SiteRedirect, Timestamp, UpdateSiteRedirect,
    },
    platform::{
        access,
        jobs::{Effect, Job, JobRun, Payload},
        kernel::{actor::Actor, platform::Platform, request::Right, write::ready_answer},
        nouns::{RedirectHandle, Redirects, SiteRef, filters::RedirectFilter, list_identities},
    },
    policy::SiteAction,
    store::{
        Entity, ListSpec, Lister, Operation, Page, PageRequest, Tx, jobs,
        records::{RedirectRecord, SectionRecord, SiteSpaceRecord},
    },
};

/// Maximum number of redirects per site.
pub(in crate::platform) const MAX_REDIRECTS: i64 = 10_000;
/// Number of redirects removed per transaction together with their targets. Removing a section with the maximum number
/// of spaces takes about 1,700 of a transaction's 2,000 changes.
const REDIRECT_PURGE_BATCH: usize = 20;

impl<'p> Redirects<'p> {
    /// Lists the redirects of a site that match the filter, in its order.
    #[boxed]
    pub async fn list(self, filter: &'p RedirectFilter, page: &'p PageRequest) -> Result<Page<SiteRedirect>> {
        let Self { caller, at: at @ SiteRef { site, .. } } = self;
        let (platform, actor) = (caller.platform, &caller.actor());
        let tx = platform.read().await?;
        access::require_site(&tx, actor, at, SiteAction::View).await?;
        let (prefix, rev) = match filter.order {
            RedirectOrder::CreatedAt => (RedirectRecord::by_site(site), true),
            RedirectOrder::UpdatedAt => (RedirectRecord::by_change(site), true),
            RedirectOrder::Source => (RedirectRecord::by_path(site), false),
        };
        let spec = ListSpec { prefix, rev, identity: list_identities::redirects(filter) };
        let mut list = Lister::new(spec, page)?;
        list.fill(&tx, |redirect| filter.matches(redirect)).await?;
        let count = match &filter.search {
            Some(_) => None,
            None => {
                let all = tx.number(&RedirectRecord::count_in(site)).await?;
                let drafts = tx.number(&RedirectRecord::count_drafts_in(site)).await?;
                u64::try_from(if filter.draft { drafts } else { all - drafts }).ok()
            }
        };
        Ok(list.finish(&tx, count).await?.map(|redirect| view(&redirect)))
    }

    /// Creates a redirect.
    ///
    /// # Errors
    ///
    /// `Forbidden` unless the actor manages the site; `Invalid` for a destination that is not on the site; `Conflict`
    /// if another redirect has the same source (a draft and a live redirect may share one), or the site has 10,000
    /// redirects.
    ///
    /// # Example
    ///
    /// ```
    /// # use docs_core::model::{CreateSiteRedirect, OrgId, RedirectDestinationInput};
    /// # use docs_core::model::{RedirectSource, SiteId, SiteSpaceId};
    /// # use docs_core::platform::Caller;
    /// # async fn example(
    /// #     me: Caller<'_>, org: &OrgId, site: &SiteId, site_space: &SiteSpaceId,
    /// # ) -> Result<(), Box<dyn std::error::Error>> {
    /// let destination = RedirectDestinationInput::SiteSpace { site_space_id: site_space.clone() };
    /// let new = CreateSiteRedirect::new(RedirectSource::new("/old-reference")?, destination);
    /// let redirect = me.org(org).site(site).redirects().create(new).await?;
    /// println!("{}", redirect.id);
    /// # Ok(())
    /// # }
    /// ```
    #[boxed]
    pub async fn create(self, new: CreateSiteRedirect) -> Result<SiteRedirect> {
        let Self { caller, at: at @ SiteRef { org, site } } = self;
        let (platform, actor) = (caller.platform, &caller.actor());
        let done = platform.idempotent(actor, Right::for_site(at), async move {
            let destination = platform.check_destination(actor, at, new.destination).await?;
            let record = RedirectRecord {
                id: platform.id(),
                site: site.clone(),
                source: new.source,
                destination,
                created_at: platform.now(),
                updated_at: None,
                draft: new.draft.unwrap_or_default(),
                capture_wildcard: new.capture_wildcard.unwrap_or_default(),
                permanent: new.permanent.unwrap_or_default(),
            };
            let create = redirect_creation(actor, org, &record);
            platform.write_and_show(actor, &create, |_| ready_answer(Ok(view(&record)))).await
        });
        done.await
    }
}

impl<'p> RedirectHandle<'p> {
    /// Changes a redirect. Omitted fields stay unchanged.
    ///
    /// # Errors
    ///
    /// `Forbidden` unless the actor manages the site; `Invalid` for a destination that is not on the site; `Conflict`
    /// if another redirect has the same source.
    #[boxed]
    pub async fn update(self, change: UpdateSiteRedirect) -> Result<SiteRedirect> {
        let Self { caller, at: at @ SiteRef { org, site }, redirect: id } = self;
        let (platform, actor) = (caller.platform, &caller.actor());
        let tx = platform.read().await?;
        access::require_site(&tx, actor, at, SiteAction::Manage).await?;
        find(&tx, site, id).await?;
        drop(tx);
        let destination = match change.destination.clone() {
            None => None,
            Some(destination) => Some(platform.check_destination(actor, at, destination).await?),
        };
        let change = RedirectChange { fields: change, destination, now: platform.now() };
        let update = redirect_update(actor, org, site, id, Some(&change));
        Ok(view(&*platform.write(actor, &update).await?))
    }

    /// Deletes a redirect. Returns `true` if it existed.
    ///
    /// # Errors
    ///
    /// `Forbidden` unless the actor manages the site.
    #[boxed]
    pub async fn delete(self) -> Result<bool> {
        let Self { caller, at: SiteRef { org, site }, redirect: id } = self;
        let (platform, actor) = (caller.platform, &caller.actor());
        let delete = redirect_update(actor, org, site, id, None);
        Error::ignore_not_found(platform.write(actor, &delete).await.map(drop))
    }
}

fn source_conflict() -> Error {
    Error::conflict("source: is in use by another redirect of the site")
}

/// Checks the destination of a new redirect, and the number of redirects of its site.
async fn check_new(tx: &Tx, redirect: &RedirectRecord) -> Result<()> {
    require_parent(tx, redirect).await?;
    if tx.number(&RedirectRecord::count_in(&redirect.site)).await? >= MAX_REDIRECTS {
        return Err(Error::conflict(format!(
            "a site must have at most {MAX_REDIRECTS} redirects; delete one first"
        )));
    }
    Ok(())
}

/// Checks, when a redirect is stored, that its destination is on the site.
async fn require_parent(tx: &Tx, redirect: &RedirectRecord) -> Result<()> {
    let id = match &redirect.destination {
        RedirectDestination::SiteSection { site_section_id } => {
            let section: Option<Arc<SectionRecord>> =
                tx.get(&SectionRecord::key_for(site_section_id)).await?;
            let section = section.filter(|section| section.site == redirect.site);
            return section.map(drop).ok_or_else(|| unknown_destination(&redirect.destination));
        }
        RedirectDestination::SiteSpace { site_space_id }
        | RedirectDestination::SitePage { site_space_id, .. } => site_space_id,
        RedirectDestination::External { .. } => return Ok(()),
    };
    let place: Option<Arc<SiteSpaceRecord>> = tx.get(&SiteSpaceRecord::key_for(id)).await?;
    let place = place.filter(|place| place.site == redirect.site);
    place.map(drop).ok_or_else(|| unknown_destination(&redirect.destination))
}

/// Removes redirects to parts of a site in the transaction that removes the parts, as many as fit. A job removes the
/// rest.
pub(in crate::platform) async fn delete_redirects(
    tx: &mut Tx,
    site: &SiteId,
    parts: Vec<String>,
    job: &JobId,
    now: Timestamp,
) -> Result<()> {
    let to = delete_redirect_batch(tx, parts).await?;
    if to.is_empty() {
        return Ok(());
    }
    let job = PurgeRedirects { to }.to_new_job(job, site, now)?;
    jobs::enqueue(tx, now, job).await
}

/// Removes some redirects to these parts of a site. Returns the parts that may still have redirects.
pub(in crate::platform) async fn delete_redirect_batch(
    tx: &mut Tx,
    parts: Vec<String>,
) -> Result<Vec<String>> {
    let scans: Vec<_> = parts.iter().map(|part| RedirectRecord::by_target(part).scan(1)).collect();
    let found = tx.scan_many(&scans).await?;
    let mut room = REDIRECT_PURGE_BATCH;
    let mut left = Vec::new();
    for (part, _) in parts.into_iter().zip(found).filter(|(_, found)| !found.is_empty()) {
        let rows =
            tx.scan_prefix(&RedirectRecord::by_target(&part), u32::try_from(room).unwrap_or(0)).await?;
        tx.delete_all::<RedirectRecord>(&RedirectRecord::named_by_all(&rows)).await?;
        if rows.len() == room {
            left.push(part);
        }
        room -= rows.len();
    }
    Ok(left)
}

/// Removes redirects to parts that were removed from their site. No new ones can appear. `Output` is the parts that
/// still have redirects.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::platform) struct PurgeRedirects {
    to: Vec<String>,
}

impl Payload for PurgeRedirects {
    const KIND: &'static str = "site_redirects_purge";
}

#[async_trait]
impl Job for PurgeRedirects {
    async fn run(mut self, platform: &Platform, _: &mut JobRun) -> Result<Effect> {
        while !self.to.is_empty() {
            self.to = platform.upkeep(&self).await?;
        }
        Ok(Effect::Done)
    }
}

#[async_trait]
impl Operation for PurgeRedirects {
    type Output = Vec<String>;
    const NAME: &'static str = "site_redirects_purge";

    async fn apply(&self, tx: &mut Tx) -> Result<Vec<String>> {
        delete_redirect_batch(tx, self.to.clone()).await
    }
}

#[operation("redirect_create", taken_error = |_| source_conflict())]
async fn redirect_creation(tx: &mut Tx, actor: &Actor, org: &OrgId, record: &RedirectRecord) -> Result<()> {
    let site = &record.site;
    access::require_site(tx, actor, SiteRef { org, site }, SiteAction::Manage).await?;
    check_new(tx, record).await?;
    tx.create(record.clone());
    Ok(())
}

/// A change of a redirect.
struct RedirectChange {
    fields: UpdateSiteRedirect,
    /// The new destination, resolved from the input.
    destination: Option<RedirectDestination>,
    now: Timestamp,
}

/// Changes or deletes a redirect.
#[operation("redirect_change", taken_error = |_| source_conflict())]
async fn redirect_update(
    tx: &mut Tx,
    actor: &Actor,
    org: &OrgId,
    site: &SiteId,
    id: &RedirectId,
    change: Option<&RedirectChange>,
) -> Result<Arc<RedirectRecord>> {
    access::require_site(tx, actor, SiteRef { org, site }, SiteAction::Manage).await?;
    let old = find(tx, site, id).await?;
    let Some(change) = change else {
        tx.delete(&*old);
        return Ok(old);
    };
    let RedirectChange { fields, destination, now } = change;
    let mut new = RedirectRecord::clone(&old);
    new.source = fields.source.clone().unwrap_or(new.source);
    new.destination = destination.clone().unwrap_or(new.destination);
    new.draft = fields.draft.unwrap_or(new.draft);
    new.capture_wildcard = fields.capture_wildcard.unwrap_or(new.capture_wildcard);
    new.permanent = fields.permanent.unwrap_or(new.permanent);
    if new == *old {
        return Ok(old);
    }
    match require_parent(tx, &new).await {
        // The destination was removed from the site, so the redirect is about to be removed as well.
        Err(error) if destination.is_none() && error.kind() == ErrorKind::Invalid => {
            return Err(missing_redirect());
        }
        other => other?,
    }
    put_changed(tx, &old, new, *now)
}
