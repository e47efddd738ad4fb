//! Redirects from former paths of a site to its current content.

use std::{slice, sync::Arc};

use async_trait::async_trait;
use docs_macros::{boxed, operation};
use serde::{Deserialize, Serialize};

use crate::{
    Error, ErrorKind, Result,
    content::View,
    model::{
        CreateSiteRedirect, JobId, OrgId, PageId, RedirectDestination, RedirectId, RedirectSource,
        ResolvedRedirect, SiteId, SiteRedirect, SiteRedirectObject, SiteVisibility, Timestamp,
        UpdateSiteRedirect,
    },
    platform::{
        access,
        jobs::{Effect, Job, JobRun, Payload},
        kernel::{
            actor::Actor, platform::Platform, request::Right, urls::percent_encode, write::ready_answer,
        },
        nouns::{RedirectHandle, Redirects, SiteHandle, SiteRef, list_identities::tag},
        publishing::visitors::ContentReader,
        sites::view::VisibleSite,
    },
    policy::SiteAction,
    store::{
        Entity, ListSpec, Lister, Operation, Page, PageRequest, Tx, jobs,
        records::{RedirectRecord, SectionRecord, SiteSpaceRecord, SpaceRecord, linked_id},
    },
};

/// Maximum number of redirects per site.
pub(in crate::platform) const MAX_REDIRECTS: i64 = 10_000;
/// Number of redirects removed per transaction together with their targets. Removing a section with the maximum number
/// of spaces takes about 1,700 of a transaction's 2,000 changes.
const REDIRECT_PURGE_BATCH: usize = 30;

impl<'p> Redirects<'p> {
    /// Lists the redirects of a site, newest first.
    #[boxed]
    pub async fn list(self, page: &'p PageRequest) -> Result<Page<SiteRedirect>> {
        let Self { caller, at: at @ SiteRef { site, .. } } = self;
        let (platform, actor) = (caller.platform, &caller.actor());
        let tx = platform.read().await?;
        access::site(&tx, actor, at, SiteAction::View).await?;
        let spec = ListSpec { rev: true, ..ListSpec::new(tag::REDIRECTS, RedirectRecord::by_site(site)) };
        let mut list = Lister::new(spec, page)?;
        list.fill(&tx, |_| true).await?;
        let count = u64::try_from(tx.number(&RedirectRecord::count_in(site)).await?).ok();
        Ok(list.finish(&tx, count).await?.map(|redirect| view(&redirect)))
    }

    /// Creates a redirect.
    ///
    /// # Errors
    ///
    /// `Forbidden` unless the actor manages the site; `Invalid` for a destination that is not on the site; `Conflict`
    /// if another redirect has the same source, or the site has 10,000 redirects.
    ///
    /// # Example
    ///
    /// ```
    /// # use docs_core::model::{CreateSiteRedirect, OrgId, RedirectDestination};
    /// # use docs_core::model::{RedirectSource, SiteId, SiteSpaceId};
    /// # use docs_core::platform::Caller;
    /// # async fn example(
    /// #     me: Caller<'_>, org: &OrgId, site: &SiteId, site_space: &SiteSpaceId,
    /// # ) -> Result<(), Box<dyn std::error::Error>> {
    /// let destination = RedirectDestination::SiteSpace { site_space_id: site_space.clone() };
    /// let new = CreateSiteRedirect { source: RedirectSource::new("/old-reference")?, destination };
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
            platform.check_destination(actor, at, &new.destination).await?;
            let record = RedirectRecord {
                id: platform.id(),
                site: site.clone(),
                source: new.source,
                destination: new.destination,
                created_at: platform.now(),
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
        access::site(&tx, actor, at, SiteAction::Manage).await?;
        find(&tx, site, id).await?;
        drop(tx);
        if let Some(destination) = &change.destination {
            platform.check_destination(actor, at, destination).await?;
        }
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

impl<'p> SiteHandle<'p> {
    /// Resolves a path of a site through its redirects to a URL on the site's mount. If the site is accessed through a
    /// share link, the URL contains its key.
    ///
    /// # Errors
    ///
    /// `NotFound` if there is no such redirect, or if its destination is deleted or not visible to the actor.
    #[boxed]
    pub async fn resolve_redirect(self, source: &'p RedirectSource) -> Result<ResolvedRedirect> {
        let (platform, ref actor, at, share_key) = self.parts();
        let of = at.with_share_key(share_key);
        let tx = platform.read().await?;
        let opened = platform.load_visible_site(&tx, actor, of).await?;
        let found = tx.get_value(&RedirectRecord::by_source(of.site, source)).await?;
        let id: RedirectId = linked_id(&found.ok_or_else(missing_redirect)?)?;
        let redirect = find(&tx, of.site, &id).await?;
        let found =
            platform.destination(&tx, &opened, &redirect.destination).await?.ok_or_else(missing_redirect)?;
        // An invalid key has no effect, and sites with another visibility need no key.
        let key = of.share_key.filter(|_| opened.site.visibility == SiteVisibility::ShareLink);
        let key = match key {
            Some(key) => {
                crate::platform::publishing::share_links::share_key(&tx, of.site, key).await?.map(|_| key)
            }
            None => None,
        };
        drop(tx);
        let path = found.path().await?.ok_or_else(missing_redirect)?;
        let names: Vec<&str> = found.names.iter().map(String::as_str).collect();
        let path: Vec<String> = path.split('/').map(percent_encode).collect();
        let target = platform.canonical(&opened.site, key, &names) + &path.join("/");
        Ok(ResolvedRedirect { redirect: view(&redirect), target })
    }
}

impl Platform {
    /// Rejects a destination that is not on the site or not visible to the actor.
    async fn check_destination(
        &self,
        actor: &Actor,
        of: SiteRef<'_>,
        destination: &RedirectDestination,
    ) -> Result<()> {
        let tx = self.read().await?;
        access::site(&tx, actor, of, SiteAction::Manage).await?;
        let opened = self.load_visible_site(&tx, actor, of.into()).await?;
        let found = self.destination(&tx, &opened, destination).await?;
        drop(tx);
        let found = found.ok_or_else(|| unknown_destination(destination))?;
        found
            .path()
            .await?
            .map(drop)
            .ok_or_else(|| Error::invalid("destination.pageId", "must be the id of a page with a path"))
    }

    /// Resolves a destination. Returns `None` if it does not exist or is not visible to the reader.
    async fn destination<'d>(
        &self,
        tx: &Tx,
        opened: &VisibleSite,
        destination: &'d RedirectDestination,
    ) -> Result<Option<ResolvedDestination<'d>>> {
        let outline = &opened.outline;
        let (place, names, page) = match destination {
            RedirectDestination::SiteSection { site_section_id: id } => {
                let names = outline.section(id).map(|section| outline.section_segments(section));
                (outline.default_place_in(Some(id)), names, None)
            }
            RedirectDestination::SiteSpace { site_space_id: id } => (outline.place(id), None, None),
            RedirectDestination::SitePage { site_space_id: id, page_id } => {
                (outline.place(id), None, Some(page_id))
            }
        };
        let Some(place) = place else { return Ok(None) };
        let seen = self.view_places(tx, opened, slice::from_ref(&place.id)).await?;
        if seen.place(place).is_none() {
            return Ok(None);
        }
        let names = names.unwrap_or_else(|| outline.place_segments(place));
        let names = names.into_iter().map(str::to_owned).collect();
        let Some(page) = page else { return Ok(Some(ResolvedDestination { names, page: None })) };
        let space: Option<Arc<SpaceRecord>> = tx.get(&SpaceRecord::key_for(&place.space)).await?;
        let Some(space) = space else { return Ok(None) };
        let view = self.content().view(&space.domain, space.root);
        Ok(Some(ResolvedDestination { names, page: Some((view, page, seen.reader(place))) }))
    }
}

/// A resolved destination, as path segments below the site and an optional page below them.
struct ResolvedDestination<'d> {
    names: Vec<String>,
    page: Option<(View, &'d PageId, ContentReader)>,
}

impl ResolvedDestination<'_> {
    /// Returns the path of the page, or `None` if it does not exist or is not visible to the reader.
    async fn path(&self) -> Result<Option<String>> {
        let Some((view, id, reader)) = &self.page else { return Ok(Some(String::new())) };
        let Some(entry) = view.page(id).await? else { return Ok(None) };
        match not_found_to_none(reader.content_filter(view).await?.require(id, &entry).await)? {
            Some(()) => Ok(view.path_of(id).await?),
            None => Ok(None),
        }
    }
}

fn not_found_to_none<T>(found: Result<T>) -> Result<Option<T>> {
    match found {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}

fn missing_redirect() -> Error {
    Error::not_found("redirect")
}

fn unknown_destination(destination: &RedirectDestination) -> Error {
    match destination {
        RedirectDestination::SiteSection { .. } => {
            Error::invalid("destination.siteSectionId", "the site has no such section")
        }
        RedirectDestination::SiteSpace { .. } | RedirectDestination::SitePage { .. } => {
            Error::invalid("destination.siteSpaceId", "the site has no such site space")
        }
    }
}

fn view(redirect: &RedirectRecord) -> SiteRedirect {
    SiteRedirect {
        object: SiteRedirectObject::Is,
        id: redirect.id.clone(),
        source: redirect.source.clone(),
        destination: redirect.destination.clone(),
    }
}

async fn find(tx: &Tx, site: &SiteId, id: &RedirectId) -> Result<Arc<RedirectRecord>> {
    let redirect: Option<Arc<RedirectRecord>> = tx.get(&RedirectRecord::key_for(id)).await?;
    redirect.filter(|redirect| redirect.site == *site).ok_or_else(missing_redirect)
}

fn source_conflict() -> Error {
    Error::conflict("source: is in use by another redirect of the site")
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
    access::site(tx, actor, SiteRef { org, site }, SiteAction::Manage).await?;
    require_parent(tx, record).await?;
    if tx.number(&RedirectRecord::count_in(site)).await? >= MAX_REDIRECTS {
        return Err(Error::conflict(format!(
            "a site must have at most {MAX_REDIRECTS} redirects; delete one first"
        )));
    }
    tx.create(record.clone());
    Ok(())
}

/// Changes or deletes a redirect.
#[operation("redirect_change", taken_error = |_| source_conflict())]
async fn redirect_update(
    tx: &mut Tx,
    actor: &Actor,
    org: &OrgId,
    site: &SiteId,
    id: &RedirectId,
    change: Option<&UpdateSiteRedirect>,
) -> Result<Arc<RedirectRecord>> {
    access::site(tx, actor, SiteRef { org, site }, SiteAction::Manage).await?;
    let old = find(tx, site, id).await?;
    let Some(change) = change else {
        tx.delete(&*old);
        return Ok(old);
    };
    let mut new = RedirectRecord::clone(&old);
    new.source = change.source.clone().unwrap_or(new.source);
    new.destination = change.destination.clone().unwrap_or(new.destination);
    if new == *old {
        return Ok(old);
    }
    match require_parent(tx, &new).await {
        // The destination was removed from the site, so the redirect is about to be removed as well.
        Err(error) if change.destination.is_none() && error.kind() == ErrorKind::Invalid => {
            return Err(missing_redirect());
        }
        other => other?,
    }
    Ok(tx.put(&*old, new)?)
}
