//! Redirects: from a path that was on a site to what is there now.

use std::{slice, sync::Arc};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::share_key;
use crate::{
    BoxFuture, Error, ErrorKind, Result,
    content::View,
    model::{
        CreateSiteRedirect, JobId, OrgId, PageId, RedirectDestination, RedirectId, RedirectSource,
        ResolvedRedirect, SiteId, SiteRedirect, SiteRedirectObject, SiteVisibility, Timestamp,
        UpdateSiteRedirect,
    },
    platform::{
        Actor, Platform, access, at_once,
        sites::{Opened, SiteOf},
        teams,
        urls::percent_encoded,
        visitors::Eyes,
    },
    policy::SiteAction,
    store::{
        Entity, Key, ListSpec, Lister, Operation, Page, PageRequest, Tx, jobs,
        records::{RedirectRecord, SectionRecord, SiteSpaceRecord, SpaceRecord, linked_id},
    },
};

/// Job that removes redirects to what has left their site.
pub(in crate::platform) const PURGE_REDIRECTS: &str = "site_redirects_purge";
/// Most redirects of a site.
const MAX_REDIRECTS: i64 = 10_000;
/// Redirects that one transaction removes beside what they lead to: with a section of all the spaces that a site may
/// have, about 1,700 of its 2,000 changes.
const DROPPED_AT_ONCE: usize = 30;

impl Platform {
    /// Lists the redirects of a site, newest first.
    ///
    /// # Errors
    /// `NotFound`; `Invalid` for a wrong page or limit.
    pub fn list_redirects<'a>(
        &'a self,
        actor: &'a Actor,
        (org, site): (&'a OrgId, &'a SiteId),
        page: &'a PageRequest,
    ) -> BoxFuture<'a, Result<Page<SiteRedirect>>> {
        Box::pin(async move {
            let tx = self.read().await?;
            access::site(&tx, actor, (org, site), SiteAction::View).await?;
            let spec = ListSpec { prefix: RedirectRecord::of_site(site), rev: true, filters: String::new() };
            let mut list = Lister::new(spec, page)?;
            list.fill(&tx, |_| true).await?;
            let count = u64::try_from(tx.number(&RedirectRecord::count_in(site)).await?).ok();
            Ok(list.finish(&tx, count).await?.map(|redirect| view(&redirect)))
        })
    }

    /// Creates a redirect.
    ///
    /// # Errors
    /// `NotFound`, `Forbidden`; `Invalid` for a destination that the site does not have; `Conflict` when another
    /// redirect begins there, or the site has 10,000.
    pub fn create_redirect<'a>(
        &'a self,
        actor: &'a Actor,
        org: &'a OrgId,
        site: &'a SiteId,
        new: CreateSiteRedirect,
    ) -> BoxFuture<'a, Result<SiteRedirect>> {
        Box::pin(self.once(actor, async move {
            self.check_destination(actor, (org, site), &new.destination).await?;
            let record = RedirectRecord {
                id: self.id(),
                site: site.clone(),
                source: new.source,
                destination: new.destination,
                created_at: self.now(),
            };
            let create = Create { actor: actor.clone(), org: org.clone(), record };
            self.write_and_show(actor, &create, |_| at_once(Ok(view(&create.record)))).await
        }))
    }

    /// Changes a redirect. What the request leaves out stays.
    ///
    /// # Errors
    /// `NotFound`, `Forbidden`; `Invalid` for a destination that the site does not have; `Conflict` when another
    /// redirect begins there.
    pub fn update_redirect<'a>(
        &'a self,
        actor: &'a Actor,
        (org, site): (&'a OrgId, &'a SiteId),
        id: &'a RedirectId,
        change: UpdateSiteRedirect,
    ) -> BoxFuture<'a, Result<SiteRedirect>> {
        Box::pin(async move {
            let tx = self.read().await?;
            access::site(&tx, actor, (org, site), SiteAction::Manage).await?;
            find(&tx, site, id).await?;
            drop(tx);
            if let Some(destination) = &change.destination {
                self.check_destination(actor, (org, site), destination).await?;
            }
            let update = Change {
                actor: actor.clone(),
                org: org.clone(),
                site: site.clone(),
                id: id.clone(),
                change: Some(change),
            };
            Ok(view(&*self.write(actor, &update).await?))
        })
    }

    /// Deletes a redirect. Answers whether there was one.
    ///
    /// # Errors
    /// `Forbidden`.
    pub fn delete_redirect<'a>(
        &'a self,
        actor: &'a Actor,
        (org, site): (&'a OrgId, &'a SiteId),
        id: &'a RedirectId,
    ) -> BoxFuture<'a, Result<bool>> {
        Box::pin(async move {
            let delete = Change {
                actor: actor.clone(),
                org: org.clone(),
                site: site.clone(),
                id: id.clone(),
                change: None,
            };
            teams::there_was(self.write(actor, &delete).await.map(drop))
        })
    }

    /// Where a path of a site leads: to an address where the site is mounted, through the share link it is read by.
    ///
    /// # Errors
    /// `NotFound` when no redirect begins there, or what it leads to is gone, or is none the actor may see.
    pub fn resolve_redirect<'a>(
        &'a self,
        actor: &'a Actor,
        of: impl Into<SiteOf<'a>>,
        source: &'a RedirectSource,
    ) -> BoxFuture<'a, Result<ResolvedRedirect>> {
        self.resolve_redirect_of(actor, of.into(), source)
    }

    fn resolve_redirect_of<'a>(
        &'a self,
        actor: &'a Actor,
        of: SiteOf<'a>,
        source: &'a RedirectSource,
    ) -> BoxFuture<'a, Result<ResolvedRedirect>> {
        Box::pin(async move {
            let tx = self.read().await?;
            let opened = self.opened(&tx, actor, of).await?;
            let found = tx.get_value(&RedirectRecord::by_source(of.site, source)).await?;
            let id: RedirectId = linked_id(&found.ok_or_else(gone)?)?;
            let redirect = find(&tx, of.site, &id).await?;
            let found = self.destination(&tx, &opened, &redirect.destination).await?.ok_or_else(gone)?;
            // A key that opens nothing changes nothing; other sites are read without one.
            let key = of.share_key.filter(|_| opened.site.visibility == SiteVisibility::ShareLink);
            let key = match key {
                Some(key) => share_key(&tx, of.site, key).await?.map(|_| key),
                None => None,
            };
            drop(tx);
            let path = found.path().await?.ok_or_else(gone)?;
            let names: Vec<&str> = found.names.iter().map(String::as_str).collect();
            let path: Vec<String> = path.split('/').map(percent_encoded).collect();
            let target = self.canonical(&opened.site, key, &names) + &path.join("/");
            Ok(ResolvedRedirect { redirect: view(&redirect), target })
        })
    }

    /// Removes what is left of the redirects to parts that left their site.
    pub(in crate::platform) async fn purge_redirects(&self, mut purge: Purge) -> Result<()> {
        while !purge.to.is_empty() {
            purge.to = self.upkeep(&purge).await?;
        }
        Ok(())
    }

    /// Refuses a destination that the site does not have, or the actor does not see.
    async fn check_destination(
        &self,
        actor: &Actor,
        (org, site): (&OrgId, &SiteId),
        destination: &RedirectDestination,
    ) -> Result<()> {
        let tx = self.read().await?;
        access::site(&tx, actor, (org, site), SiteAction::Manage).await?;
        let opened = self.opened(&tx, actor, (org, site).into()).await?;
        let found = self.destination(&tx, &opened, destination).await?;
        drop(tx);
        let found = found.ok_or_else(|| no_such(destination))?;
        found.path().await?.map(drop).ok_or_else(|| {
            Error::invalid("destination.pageId", "the space has no page with a path of this id")
        })
    }

    /// What a redirect leads to; `None` when it is not there, or the reader may not see it.
    async fn destination<'d>(
        &self,
        tx: &Tx,
        opened: &Opened,
        destination: &'d RedirectDestination,
    ) -> Result<Option<Found<'d>>> {
        let outline = &opened.outline;
        let (place, names, page) = match destination {
            RedirectDestination::SiteSection { site_section_id: id } => {
                let names = outline.section(id).map(|section| outline.section_segments(section));
                (outline.default_in(Some(id)), names, None)
            }
            RedirectDestination::SiteSpace { site_space_id: id } => (outline.place(id), None, None),
            RedirectDestination::SitePage { site_space_id: id, page_id } => {
                (outline.place(id), None, Some(page_id))
            }
        };
        let Some(place) = place else { return Ok(None) };
        let seen = self.seen(tx, opened, slice::from_ref(&place.id)).await?;
        if seen.place(place).is_none() {
            return Ok(None);
        }
        let names = names.unwrap_or_else(|| outline.place_segments(place));
        let names = names.into_iter().map(str::to_owned).collect();
        let Some(page) = page else { return Ok(Some(Found { names, page: None })) };
        let space: Option<Arc<SpaceRecord>> = tx.get(&SpaceRecord::at(&place.space)).await?;
        let Some(space) = space else { return Ok(None) };
        let view = self.content().view(&space.domain, space.root);
        Ok(Some(Found { names, page: Some((view, page, seen.eyes(place))) }))
    }
}

/// What a redirect leads to: the segments of its address below the site, and the page below that.
struct Found<'d> {
    names: Vec<String>,
    page: Option<(View, &'d PageId, Eyes)>,
}

impl Found<'_> {
    /// The path of the page; `None` when it is not there, or the reader may not see it.
    async fn path(&self) -> Result<Option<String>> {
        let Some((view, id, eyes)) = &self.page else { return Ok(Some(String::new())) };
        let Some(entry) = view.page(id).await? else { return Ok(None) };
        match or_none(eyes.lens(view).await?.require(id, &entry).await)? {
            Some(()) => Ok(view.path_of(id).await?),
            None => Ok(None),
        }
    }
}

fn or_none<T>(found: Result<T>) -> Result<Option<T>> {
    match found {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}

fn gone() -> Error {
    Error::not_found("redirect")
}

fn no_such(destination: &RedirectDestination) -> Error {
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
    let redirect: Option<Arc<RedirectRecord>> = tx.get(&RedirectRecord::at(id)).await?;
    redirect.filter(|redirect| redirect.site == *site).ok_or_else(gone)
}

fn taken() -> Error {
    Error::conflict("source: another redirect of the site begins there")
}

/// What a redirect leads to has to be on the site when the redirect is stored.
async fn require_place(tx: &Tx, redirect: &RedirectRecord) -> Result<()> {
    let id = match &redirect.destination {
        RedirectDestination::SiteSection { site_section_id } => {
            let section: Option<Arc<SectionRecord>> = tx.get(&SectionRecord::at(site_section_id)).await?;
            let section = section.filter(|section| section.site == redirect.site);
            return section.map(drop).ok_or_else(|| no_such(&redirect.destination));
        }
        RedirectDestination::SiteSpace { site_space_id }
        | RedirectDestination::SitePage { site_space_id, .. } => site_space_id,
    };
    let place: Option<Arc<SiteSpaceRecord>> = tx.get(&SiteSpaceRecord::at(id)).await?;
    let place = place.filter(|place| place.site == redirect.site);
    place.map(drop).ok_or_else(|| no_such(&redirect.destination))
}

/// Removes the redirects to parts of a site, in the transaction that takes the parts off it: as many as fit beside. A
/// job does the rest.
pub(in crate::platform) async fn drop_redirects(
    tx: &mut Tx,
    site: &SiteId,
    parts: Vec<String>,
    (job, now): (&JobId, Timestamp),
) -> Result<()> {
    let to = drop_some_redirects(tx, parts).await?;
    if to.is_empty() {
        return Ok(());
    }
    let job = jobs::NewJob {
        id: job.clone(),
        kind: PURGE_REDIRECTS,
        payload: serde_json::to_value(Purge { to }).map_err(Error::internal)?,
        subject: site.to_string(),
        lane: None,
        due: now,
    };
    Ok(jobs::enqueue(tx, now, job).await?)
}

/// Removes some of the redirects to these parts of a site; answers to which parts there may be more.
pub(in crate::platform) async fn drop_some_redirects(tx: &mut Tx, parts: Vec<String>) -> Result<Vec<String>> {
    let scans: Vec<_> = parts.iter().map(|part| RedirectRecord::leading_to(part).scan(false, 1)).collect();
    let found = tx.scan_many(&scans).await?;
    let mut room = DROPPED_AT_ONCE;
    let mut left = Vec::new();
    for (part, _) in parts.into_iter().zip(found).filter(|(_, found)| !found.is_empty()) {
        let rows = tx.below(&RedirectRecord::leading_to(&part), u32::try_from(room).unwrap_or(0)).await?;
        tx.delete_all::<RedirectRecord>(&RedirectRecord::named_by_all(&rows)).await?;
        if rows.len() == room {
            left.push(part);
        }
        room -= rows.len();
    }
    Ok(left)
}

/// Removes redirects to parts that have left their site, to which nobody can add: `Out` are the parts with more.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::platform) struct Purge {
    to: Vec<String>,
}

#[async_trait]
impl Operation for Purge {
    type Out = Vec<String>;
    const NAME: &'static str = "site_redirects_purge";

    async fn apply(&self, tx: &mut Tx) -> Result<Vec<String>> {
        drop_some_redirects(tx, self.to.clone()).await
    }
}

struct Create {
    actor: Actor,
    org: OrgId,
    record: RedirectRecord,
}

#[async_trait]
impl Operation for Create {
    type Out = ();
    const NAME: &'static str = "redirect_create";

    fn taken(&self, _: &Key) -> Error {
        taken()
    }

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let site = &self.record.site;
        access::site(tx, &self.actor, (&self.org, site), SiteAction::Manage).await?;
        require_place(tx, &self.record).await?;
        if tx.number(&RedirectRecord::count_in(site)).await? >= MAX_REDIRECTS {
            return Err(Error::conflict(format!(
                "a site has at most {MAX_REDIRECTS} redirects; delete one first"
            )));
        }
        tx.create(self.record.clone());
        Ok(())
    }
}

/// Changes a redirect, or deletes it.
struct Change {
    actor: Actor,
    org: OrgId,
    site: SiteId,
    id: RedirectId,
    change: Option<UpdateSiteRedirect>,
}

#[async_trait]
impl Operation for Change {
    type Out = Arc<RedirectRecord>;
    const NAME: &'static str = "redirect_change";

    fn taken(&self, _: &Key) -> Error {
        taken()
    }

    async fn apply(&self, tx: &mut Tx) -> Result<Arc<RedirectRecord>> {
        access::site(tx, &self.actor, (&self.org, &self.site), SiteAction::Manage).await?;
        let old = find(tx, &self.site, &self.id).await?;
        let Some(change) = &self.change else {
            tx.delete(&*old);
            return Ok(old);
        };
        let mut new = RedirectRecord::clone(&old);
        new.source = change.source.clone().unwrap_or(new.source);
        new.destination = change.destination.clone().unwrap_or(new.destination);
        if new == *old {
            return Ok(old);
        }
        match require_place(tx, &new).await {
            // A redirect to what has left the site is about to go.
            Err(error) if change.destination.is_none() && error.kind() == ErrorKind::Invalid => {
                return Err(gone());
            }
            other => other?,
        }
        Ok(tx.put(&*old, new)?)
    }
}
