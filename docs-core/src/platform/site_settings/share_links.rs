//! Share links: secrets that open a site.

use std::sync::Arc;

use async_trait::async_trait;

use super::Secret;
use crate::{
    BoxFuture, Error, Result,
    model::{
        BASE32, CreateShareLink, OrgId, ShareLink, ShareLinkId, ShareLinkObject, ShareLinkUrls, SiteId,
        SiteVisibility, Space, UpdateShareLink,
    },
    platform::{Actor, Platform, access, at_once, people::platform_only, teams},
    policy::SiteAction,
    store::{
        ListSpec, Lister, Operation, Page, PageRequest, Tx, Value,
        records::{ShareLinkRecord, SiteRecord, linked_id},
    },
};

/// Most share links of a site.
const MAX_LINKS: i64 = 100;
/// Most characters of a key that is looked up: a real one has 52.
const MAX_KEY: usize = 128;

impl Platform {
    /// Lists the share links of a site, oldest first. One whose secret this server cannot open has no address.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` unless the actor manages the site; `Invalid` for a wrong page or limit.
    pub fn list_share_links<'a>(
        &'a self,
        actor: &'a Actor,
        (org, site): (&'a OrgId, &'a SiteId),
        page: &'a PageRequest,
    ) -> BoxFuture<'a, Result<Page<ShareLink>>> {
        Box::pin(async move {
            let tx = self.read().await?;
            let (_, site) = access::site(&tx, actor, (org, site), SiteAction::Manage).await?;
            let spec =
                ListSpec { prefix: ShareLinkRecord::of_site(&site.id), rev: false, filters: String::new() };
            let mut list = Lister::new(spec, page)?;
            list.fill(&tx, |_| true).await?;
            let count = u64::try_from(tx.number(&ShareLinkRecord::count_in(&site.id)).await?).ok();
            let page = list.finish(&tx, count).await?;
            let items = page.items.iter().map(|link| self.share_link_view(&site, link)).collect();
            Ok(Page { items, next: page.next, count: page.count })
        })
    }

    /// Creates a share link. It is active.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` unless the actor manages the site; `Conflict` for more than 100 links.
    pub fn create_share_link<'a>(
        &'a self,
        actor: &'a Actor,
        org: &'a OrgId,
        site: &'a SiteId,
        new: CreateShareLink,
    ) -> BoxFuture<'a, Result<ShareLink>> {
        Box::pin(self.once(actor, async move {
            let secret = Secret::draw(self.ids(), "docs-platform key of a share link").as_segment();
            let id: ShareLinkId = self.id();
            let sealed =
                self.secrets().seal(&purpose(&id), &secret, self.ids().next()).map_err(Error::internal)?;
            let record = ShareLinkRecord {
                id,
                site: site.clone(),
                name: new.name,
                active: true,
                sealed,
                digest: digest(&secret),
                created_at: self.now(),
            };
            let create = Create { actor: actor.clone(), org: org.clone(), record };
            let shown = self.write_and_show(actor, &create, |done| {
                at_once(Ok(self.share_link_view(&done.out, &create.record)))
            });
            shown.await
        }))
    }

    /// Renames, switches on or switches off a share link. What the request leaves out stays.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` unless the actor manages the site.
    pub fn update_share_link<'a>(
        &'a self,
        actor: &'a Actor,
        (org, site): (&'a OrgId, &'a SiteId),
        id: &'a ShareLinkId,
        change: UpdateShareLink,
    ) -> BoxFuture<'a, Result<ShareLink>> {
        Box::pin(async move {
            let update = Change {
                actor: actor.clone(),
                org: org.clone(),
                site: site.clone(),
                id: id.clone(),
                change: Some(change),
            };
            let (site, link) = self.write(actor, &update).await?;
            Ok(self.share_link_view(&site, &link))
        })
    }

    /// Deletes a share link: its key opens nothing any more. Answers whether there was one.
    ///
    /// # Errors
    /// `Forbidden` unless the actor manages the site.
    pub fn delete_share_link<'a>(
        &'a self,
        actor: &'a Actor,
        (org, site): (&'a OrgId, &'a SiteId),
        id: &'a ShareLinkId,
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

    /// Tells whether a key opens a site: whether it is that of an active share link of the site. Only the platform
    /// itself may ask.
    ///
    /// # Errors
    /// `Forbidden`.
    pub fn opens_site<'a>(
        &'a self,
        actor: &'a Actor,
        site: &'a SiteId,
        key: &'a str,
    ) -> BoxFuture<'a, Result<bool>> {
        Box::pin(async move {
            platform_only(actor)?;
            Ok(share_key(&self.read().await?, site, key).await?.is_some())
        })
    }

    /// A share link without its address where another key sealed the secret: it can still be changed and deleted.
    fn share_link_view(&self, site: &SiteRecord, link: &ShareLinkRecord) -> ShareLink {
        let secret = self.secrets().open(&purpose(&link.id), &link.sealed).ok();
        let address = |secret| format!("{}{secret}/", self.urls().published(site.basename.as_str()));
        ShareLink {
            object: ShareLinkObject::Is,
            id: link.id.clone(),
            created_at: link.created_at,
            name: link.name.clone(),
            active: link.active,
            urls: ShareLinkUrls { published: secret.map(address) },
        }
    }
}

/// The active share link of a site that a key opens.
pub(in crate::platform) async fn share_key(
    tx: &Tx,
    site: &SiteId,
    key: &str,
) -> Result<Option<Arc<ShareLinkRecord>>> {
    let Some(link) = open(tx, key).await?.filter(|link| link.site == *site) else { return Ok(None) };
    // What is left of a deleted site opens nothing.
    let site: Option<Arc<SiteRecord>> = tx.get(&SiteRecord::at(site)).await?;
    Ok(site.map(|_| link))
}

/// The share link that a request was made with: the addresses of its site lead through it.
#[derive(Clone, Debug, Default)]
pub(in crate::platform) struct SharedLink(Option<Through>);

#[derive(Clone, Debug)]
struct Through {
    /// The address of the site.
    site: String,
    key: String,
}

impl SharedLink {
    /// Looks up the key that a request gives. A key that opens nothing changes nothing.
    pub(in crate::platform) async fn find(platform: &Platform, tx: &Tx, key: Option<&str>) -> Result<Self> {
        let Some(key) = key else { return Ok(Self(None)) };
        let Some(link) = open(tx, key).await? else { return Ok(Self(None)) };
        let site: Option<Arc<SiteRecord>> = tx.get(&SiteRecord::at(&link.site)).await?;
        // Other sites are read without a secret.
        let site = site.filter(|site| site.visibility == SiteVisibility::ShareLink);
        Ok(Self(site.map(|site| Through {
            site: platform.urls().published(site.basename.as_str()),
            key: key.to_owned(),
        })))
    }

    /// Leads a published address through the link, when it is one of its site.
    pub(in crate::platform) fn lead(&self, url: &mut Option<String>) {
        let Some(Through { site, key }) = &self.0 else { return };
        if let Some(rest) = url.as_deref().and_then(|url| url.strip_prefix(site.as_str())) {
            *url = Some(format!("{site}{key}/{rest}"));
        }
    }

    /// The same for the addresses of a space.
    pub(in crate::platform) fn lead_space(&self, space: &mut Space) {
        self.lead(&mut space.urls.published);
    }
}

/// The active share link that a key belongs to.
async fn open(tx: &Tx, key: &str) -> Result<Option<Arc<ShareLinkRecord>>> {
    if key.is_empty() || key.len() > MAX_KEY {
        return Ok(None);
    }
    let Some(value) = tx.get_value(&ShareLinkRecord::by_digest(&digest(key))).await? else {
        return Ok(None);
    };
    let link: Option<Arc<ShareLinkRecord>> = tx.get(&ShareLinkRecord::at(&link_id(&value)?)).await?;
    Ok(link.filter(|link| link.active))
}

fn link_id(value: &Value) -> Result<ShareLinkId> {
    Ok(linked_id(value)?)
}

/// By what a key is found: who reads the store does not learn the key.
fn digest(key: &str) -> String {
    let hash = blake3::derive_key("docs-platform digest of the key of a share link", key.as_bytes());
    BASE32.encode(&hash)
}

/// What the key of a share link is sealed for.
fn purpose(id: &ShareLinkId) -> String {
    format!("share-link {id}")
}

struct Create {
    actor: Actor,
    org: OrgId,
    record: ShareLinkRecord,
}

#[async_trait]
impl Operation for Create {
    type Out = Arc<SiteRecord>;
    const NAME: &'static str = "share_link_create";

    async fn apply(&self, tx: &mut Tx) -> Result<Arc<SiteRecord>> {
        let site = &self.record.site;
        let (_, site) = access::site(tx, &self.actor, (&self.org, site), SiteAction::Manage).await?;
        if tx.number(&ShareLinkRecord::count_in(&site.id)).await? >= MAX_LINKS {
            return Err(Error::conflict(format!(
                "a site has at most {MAX_LINKS} share links; delete one first"
            )));
        }
        tx.create(self.record.clone());
        Ok(site)
    }
}

/// Changes a share link, or deletes it.
struct Change {
    actor: Actor,
    org: OrgId,
    site: SiteId,
    id: ShareLinkId,
    change: Option<UpdateShareLink>,
}

#[async_trait]
impl Operation for Change {
    type Out = (Arc<SiteRecord>, Arc<ShareLinkRecord>);
    const NAME: &'static str = "share_link_change";

    async fn apply(&self, tx: &mut Tx) -> Result<Self::Out> {
        let (_, site) = access::site(tx, &self.actor, (&self.org, &self.site), SiteAction::Manage).await?;
        let old: Option<Arc<ShareLinkRecord>> = tx.get(&ShareLinkRecord::at(&self.id)).await?;
        let old = old.filter(|link| link.site == self.site).ok_or_else(|| Error::not_found("share link"))?;
        let Some(change) = &self.change else {
            tx.delete(&*old);
            return Ok((site, old));
        };
        let mut new = ShareLinkRecord::clone(&old);
        new.active = change.active.unwrap_or(new.active);
        new.name = change.name.clone().unwrap_or(new.name);
        if new == *old {
            return Ok((site, old));
        }
        let new = tx.put(&*old, new)?;
        Ok((site, new))
    }
}
