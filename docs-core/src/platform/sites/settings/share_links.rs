//! Share links: secrets that grant access to a site.

use std::sync::Arc;

use docs_macros::{boxed, operation};

use crate::{
    Error, Result,
    model::{
        CreateShareLink, OrgId, ShareLink, ShareLinkId, ShareLinkObject, ShareLinkUrls, SiteId,
        UpdateShareLink,
    },
    platform::{
        access,
        kernel::{actor::Actor, platform::Platform, request::Right, secret::Secret, write::ready_answer},
        nouns::{Caller, ShareLinkHandle, ShareLinks, SiteRef, list_identities},
        publishing::share_links::{digest, purpose, share_key},
    },
    policy::SiteAction,
    store::{
        ListSpec, Lister, Page, PageRequest, Tx,
        records::{ShareLinkRecord, SiteRecord},
    },
};

/// Maximum number of share links per site.
pub(in crate::platform) const MAX_LINKS: i64 = 100;

impl<'p> ShareLinks<'p> {
    /// Lists the share links of a site, oldest first. A link has no URL if this server cannot unseal its secret.
    /// `search` selects the links whose name contains this text, ignoring case, and the link with this key.
    ///
    /// # Errors
    ///
    /// `Forbidden` unless the actor manages the site.
    #[boxed]
    pub async fn list(self, search: Option<&'p str>, page: &'p PageRequest) -> Result<Page<ShareLink>> {
        let (platform, ref actor, at) = self.parts();
        let tx = platform.read().await?;
        let (_, site) = access::require_site(&tx, actor, at, SiteAction::Manage).await?;
        let prefix = ShareLinkRecord::by_site(&site.id);
        let spec = ListSpec { prefix, rev: false, identity: list_identities::share_links(search) };
        let mut list = Lister::new(spec, page)?;
        let wanted = search.map(|text| (text.to_lowercase(), digest(text)));
        let matches = |link: &ShareLinkRecord| match &wanted {
            None => true,
            Some((name, key)) => link.name.to_lowercase().contains(name) || link.digest == *key,
        };
        list.fill(&tx, matches).await?;
        let count = match search {
            None => u64::try_from(tx.number(&ShareLinkRecord::count_in(&site.id)).await?).ok(),
            Some(_) => None,
        };
        let page = list.finish(&tx, count).await?;
        let items = page.items.iter().map(|link| platform.share_link_view(&site, link)).collect();
        Ok(Page { items, next: page.next, count: page.count })
    }

    /// Creates an active share link.
    ///
    /// # Errors
    ///
    /// `Forbidden` unless the actor manages the site; `Conflict` for too many links.
    ///
    /// # Example
    ///
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
    #[boxed]
    pub async fn create(self, new: CreateShareLink) -> Result<ShareLink> {
        let Self { caller, at: at @ SiteRef { org, site } } = self;
        let (platform, actor) = (caller.platform, &caller.actor());
        let done = platform.idempotent(actor, Right::for_site(at), async move {
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
            let create = share_link_creation(actor, org, &record);
            let shown = platform.write_and_show(actor, &create, |done| {
                ready_answer(Ok(platform.share_link_view(&done.out, &record)))
            });
            shown.await
        });
        done.await
    }
}

impl<'p> ShareLinkHandle<'p> {
    /// Renames, activates or deactivates a share link. Omitted fields stay unchanged.
    ///
    /// # Errors
    ///
    /// `Forbidden` unless the actor manages the site.
    #[boxed]
    pub async fn update(self, change: UpdateShareLink) -> Result<ShareLink> {
        let Self { caller, at: SiteRef { org, site }, share_link: id } = self;
        let (platform, actor) = (caller.platform, &caller.actor());
        let update = share_link_update(actor, org, site, id, Some(&change));
        let (site, link) = platform.write(actor, &update).await?;
        Ok(platform.share_link_view(&site, &link))
    }

    /// Deletes a share link, which invalidates its key. Returns `true` if it existed.
    ///
    /// # Errors
    ///
    /// `Forbidden` unless the actor manages the site.
    #[boxed]
    pub async fn delete(self) -> Result<bool> {
        let Self { caller, at: SiteRef { org, site }, share_link: id } = self;
        let (platform, actor) = (caller.platform, &caller.actor());
        let delete = share_link_update(actor, org, site, id, None);
        Error::ignore_not_found(platform.write(actor, &delete).await.map(drop))
    }
}

impl<'p> Caller<'p> {
    /// Returns `true` if the key belongs to an active share link of the site. Reserved for the platform itself.
    ///
    /// # Errors
    ///
    /// `Forbidden` for users.
    #[boxed]
    pub async fn opens_site(self, site: &'p SiteId, key: &'p str) -> Result<bool> {
        let (platform, actor) = (self.platform, &self.actor());
        actor.require_platform()?;
        Ok(share_key(&platform.read().await?, site, key).await?.is_some())
    }
}

impl Platform {
    /// Builds the view of a share link. It has no URL if the secret was sealed with another key; the link can still be
    /// changed and deleted.
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

#[operation("share_link_create")]
async fn share_link_creation(
    tx: &mut Tx,
    actor: &Actor,
    org: &OrgId,
    record: &ShareLinkRecord,
) -> Result<Arc<SiteRecord>> {
    let site = &record.site;
    let (_, site) = access::require_site(tx, actor, SiteRef { org, site }, SiteAction::Manage).await?;
    if tx.number(&ShareLinkRecord::count_in(&site.id)).await? >= MAX_LINKS {
        return Err(Error::conflict(format!(
            "a site must have at most {MAX_LINKS} share links; delete one first"
        )));
    }
    tx.create(record.clone());
    Ok(site)
}

/// Changes or deletes a share link.
#[operation("share_link_change")]
async fn share_link_update(
    tx: &mut Tx,
    actor: &Actor,
    org: &OrgId,
    site: &SiteId,
    id: &ShareLinkId,
    change: Option<&UpdateShareLink>,
) -> Result<(Arc<SiteRecord>, Arc<ShareLinkRecord>)> {
    let (_, site) = access::require_site(tx, actor, SiteRef { org, site }, SiteAction::Manage).await?;
    let old: Option<Arc<ShareLinkRecord>> = tx.get(&ShareLinkRecord::key_for(id)).await?;
    let old = old.filter(|link| link.site == site.id).ok_or_else(|| Error::not_found("share link"))?;
    let Some(change) = change else {
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
