//! Share links: secrets that open a site.

use std::sync::Arc;

use async_trait::async_trait;

use crate::{
    BoxFuture, Error, Result,
    model::{
        BASE32, CreateShareLink, OrgId, ShareLink, ShareLinkId, ShareLinkObject, ShareLinkUrls, SiteId,
        SiteVisibility, Space, UpdateShareLink,
    },
    platform::{
        Actor, Platform, Right, access, at_once,
        list_identities::tag,
        nouns::{Caller, ShareLinkHandle, ShareLinks, SiteRef},
        secret::Secret,
    },
    policy::SiteAction,
    store::{
        ListSpec, Lister, Operation, Page, PageRequest, Tx, Value,
        records::{ShareLinkRecord, SiteRecord, linked_id},
    },
};

/// Most share links of a site.
pub(in crate::platform) const MAX_LINKS: i64 = 100;
/// Most characters of a key that is looked up: a real one has 52.
const MAX_KEY: usize = 128;

impl<'p> ShareLinks<'p> {
    /// Lists the share links of a site, oldest first. One whose secret this server cannot open has no address.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` unless the actor manages the site; `Invalid` for a wrong page or limit.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{OrgId, SiteId}, platform::Caller, store::PageRequest};
    /// # async fn example(me: Caller<'_>, org: &OrgId, site: &SiteId) -> Result<()> {
    /// for link in me.org(org).site(site).share_links().list(&PageRequest::default()).await?.items {
    ///     println!("{}: {:?}", link.name, link.urls.published);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn list(self, page: &'p PageRequest) -> BoxFuture<'p, Result<Page<ShareLink>>> {
        Box::pin(async move {
            let Self { caller, at } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            let tx = platform.read().await?;
            let (_, site) = access::site(&tx, actor, at, SiteAction::Manage).await?;
            let spec = ListSpec::new(tag::SHARE_LINKS, ShareLinkRecord::of_site(&site.id));
            let mut list = Lister::new(spec, page)?;
            list.fill(&tx, |_| true).await?;
            let count = u64::try_from(tx.number(&ShareLinkRecord::count_in(&site.id)).await?).ok();
            let page = list.finish(&tx, count).await?;
            let items = page.items.iter().map(|link| platform.share_link_view(&site, link)).collect();
            Ok(Page { items, next: page.next, count: page.count })
        })
    }

    /// Creates a share link. It is active.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` unless the actor manages the site; `Conflict` for too many links.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{model::{CreateShareLink, OrgId, SiteId}, platform::Caller};
    /// # async fn example(
    /// #     me: Caller<'_>, org: &OrgId, site: &SiteId,
    /// # ) -> Result<(), Box<dyn std::error::Error>> {
    /// let new = CreateShareLink { name: "Reviewers of the agency".parse()? };
    /// let link = me.org(org).site(site).share_links().create(new).await?;
    /// println!("{:?}", link.urls.published);
    /// # Ok(())
    /// # }
    /// ```
    pub fn create(self, new: CreateShareLink) -> BoxFuture<'p, Result<ShareLink>> {
        Box::pin(async move {
            let Self { caller, at: at @ SiteRef { org, site } } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            let done = platform.once(actor, Right::of_site(at), async move {
                let secret = Secret::draw(platform.ids(), "docs-platform key of a share link").as_segment();
                let id: ShareLinkId = platform.id();
                let sealed = platform
                    .secrets()
                    .seal(&purpose(&id), &secret, platform.ids().next())
                    .map_err(Error::internal)?;
                let record = ShareLinkRecord {
                    id,
                    site: site.clone(),
                    name: new.name,
                    active: true,
                    sealed,
                    digest: digest(&secret),
                    created_at: platform.now(),
                };
                let create = ShareLinkCreation { actor: actor.clone(), org: org.clone(), record };
                let shown = platform.write_and_show(actor, &create, |done| {
                    at_once(Ok(platform.share_link_view(&done.out, &create.record)))
                });
                shown.await
            });
            done.await
        })
    }
}

impl<'p> ShareLinkHandle<'p> {
    /// Renames, switches on or switches off a share link. What the request leaves out stays.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` unless the actor manages the site.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{OrgId, ShareLinkId, SiteId, UpdateShareLink}, platform::Caller};
    /// # async fn example(me: Caller<'_>, org: &OrgId, site: &SiteId, link: &ShareLinkId) -> Result<()> {
    /// let off = UpdateShareLink { active: Some(false), ..Default::default() };
    /// let link = me.org(org).site(site).share_link(link).update(off).await?;
    /// assert!(!link.active);
    /// # Ok(())
    /// # }
    /// ```
    pub fn update(self, change: UpdateShareLink) -> BoxFuture<'p, Result<ShareLink>> {
        Box::pin(async move {
            let Self { caller, at: SiteRef { org, site }, share_link: id } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            let update = ShareLinkUpdate {
                actor: actor.clone(),
                org: org.clone(),
                site: site.clone(),
                id: id.clone(),
                change: Some(change),
            };
            let (site, link) = platform.write(actor, &update).await?;
            Ok(platform.share_link_view(&site, &link))
        })
    }

    /// Deletes a share link: its key opens nothing any more. Answers whether there was one.
    ///
    /// # Errors
    /// `Forbidden` unless the actor manages the site.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{OrgId, ShareLinkId, SiteId}, platform::Caller};
    /// # async fn example(me: Caller<'_>, org: &OrgId, site: &SiteId, link: &ShareLinkId) -> Result<()> {
    /// if me.org(org).site(site).share_link(link).delete().await? {
    ///     println!("its key opens nothing any more");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn delete(self) -> BoxFuture<'p, Result<bool>> {
        Box::pin(async move {
            let Self { caller, at: SiteRef { org, site }, share_link: id } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            let delete = ShareLinkUpdate {
                actor: actor.clone(),
                org: org.clone(),
                site: site.clone(),
                id: id.clone(),
                change: None,
            };
            Error::existed(platform.write(actor, &delete).await.map(drop))
        })
    }
}

impl<'p> Caller<'p> {
    /// Tells whether a key opens a site, being that of an active share link of the site. Only the platform itself may
    /// ask.
    ///
    /// # Errors
    /// `Forbidden` for users.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Platform, Result, model::SiteId};
    /// # async fn example(platform: &Platform, site: &SiteId, key: &str) -> Result<()> {
    /// if platform.as_platform().opens_site(site, key).await? {
    ///     println!("welcome");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn opens_site(self, site: &'p SiteId, key: &'p str) -> BoxFuture<'p, Result<bool>> {
        Box::pin(async move {
            let (platform, actor) = (self.platform, &self.actor());
            actor.require_platform()?;
            Ok(share_key(&platform.read().await?, site, key).await?.is_some())
        })
    }
}

impl Platform {
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
    let Some(link) = found_by(tx, key).await?.filter(|link| link.opens(site)) else { return Ok(None) };
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
        let link = found_by(tx, key).await?.filter(|link| link.opens(&link.site));
        let Some(link) = link else { return Ok(Self(None)) };
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

/// The share link that a key belongs to.
async fn found_by(tx: &Tx, key: &str) -> Result<Option<Arc<ShareLinkRecord>>> {
    if key.is_empty() || key.len() > MAX_KEY {
        return Ok(None);
    }
    let Some(value) = tx.get_value(&ShareLinkRecord::by_digest(&digest(key))).await? else {
        return Ok(None);
    };
    Ok(tx.get(&ShareLinkRecord::at(&link_id(&value)?)).await?)
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

struct ShareLinkCreation {
    actor: Actor,
    org: OrgId,
    record: ShareLinkRecord,
}

#[async_trait]
impl Operation for ShareLinkCreation {
    type Out = Arc<SiteRecord>;
    const NAME: &'static str = "share_link_create";

    async fn apply(&self, tx: &mut Tx) -> Result<Arc<SiteRecord>> {
        let site = &self.record.site;
        let (_, site) =
            access::site(tx, &self.actor, SiteRef { org: &self.org, site }, SiteAction::Manage).await?;
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
struct ShareLinkUpdate {
    actor: Actor,
    org: OrgId,
    site: SiteId,
    id: ShareLinkId,
    change: Option<UpdateShareLink>,
}

#[async_trait]
impl Operation for ShareLinkUpdate {
    type Out = (Arc<SiteRecord>, Arc<ShareLinkRecord>);
    const NAME: &'static str = "share_link_change";

    async fn apply(&self, tx: &mut Tx) -> Result<Self::Out> {
        let (_, site) =
            access::site(tx, &self.actor, SiteRef { org: &self.org, site: &self.site }, SiteAction::Manage)
                .await?;
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
