//! Public sites as of one store version. Their access check runs only once.

use std::{fmt, sync::Arc};

use docs_macros::boxed;

use super::ShownDocument;
use crate::{
    Error, Result,
    content::Evaluated,
    model::{PageId, PublishedUrl, ResolvedUrl, RevisionId, SpaceId},
    platform::{
        kernel::{actor::Visitor, platform::Platform},
        publishing::{
            address::WebAddress,
            resolve::RequestedAddress,
            visitors::{SpaceAdmission, Visit},
        },
    },
    store::{Tx, records::SiteRecord},
};

/// The approximate size in bytes of each entry of a site.
const SITE_PART_BYTES: usize = 2048;

/// A published public site as seen by an anonymous visitor.
///
/// It returns the same results as [`resolve_url`](Platform::resolve_url) and the content of its spaces for such a
/// visitor, without repeating the access check. It is valid only for the
/// [`AnonymousViewVersion`](crate::platform::AnonymousViewVersion) read before the site was found. A cache must compare
/// the version before each use.
#[derive(Clone)]
pub struct OpenSite {
    platform: Platform,
    visit: Arc<Visit>,
    host: String,
    /// The leading segments shared by all URLs of the site.
    mount: Vec<String>,
}

impl fmt::Debug for OpenSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenSite")
            .field("host", &self.host)
            .field("mount", &self.mount)
            .finish_non_exhaustive()
    }
}

impl OpenSite {
    /// Finds the site at a URL. Returns `None` if it is not public, if its content is adaptive, or if other sites are
    /// mounted below its URL.
    ///
    /// # Errors
    ///
    /// `Invalid` for a malformed URL.
    ///
    /// # Example
    ///
    /// ```
    /// # use docs_core::{Platform, model::PublishedUrl, platform::OpenSite};
    /// # async fn example(platform: &Platform) -> Result<(), Box<dyn std::error::Error>> {
    /// let url = PublishedUrl::new("https://docs.example.com/guide")?;
    /// if let Some(site) = OpenSite::find(platform, &url).await? {
    ///     println!("{:?}", site.resolve(&url).await?);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[boxed('a)]
    pub async fn find<'a>(platform: &'a Platform, url: &'a PublishedUrl) -> Result<Option<Self>> {
        let address = WebAddress::parse("url", url.as_str())?;
        let tx = platform.read().await?;
        let Some((site, used)) = platform.find_mount(&tx, &address).await? else { return Ok(None) };
        let is_open = site.published && site.visibility.is_for_everybody();
        if !is_open || site.adaptive_content.enabled {
            return Ok(None);
        }
        if !platform.is_only_site(&tx, &address, used, &site).await? {
            return Ok(None);
        }
        let visitor = Visitor { site: Some(site.id.clone()), ..Visitor::default() };
        let Some(parts) = platform.site_parts(&tx, &visitor, site).await? else { return Ok(None) };
        drop(tx);
        let visit = parts.visible().await?;
        let mount = address.segments.iter().take(used).cloned().collect();
        Ok(Some(Self { platform: platform.clone(), visit: Arc::new(visit), host: address.host, mount }))
    }

    /// Resolves a URL. Returns `None` for a URL of another site.
    ///
    /// # Errors
    ///
    /// Same as [`resolve_url`](Platform::resolve_url).
    #[boxed('a)]
    pub async fn resolve<'a>(&'a self, url: &'a PublishedUrl) -> Result<Option<ResolvedUrl>> {
        let address = WebAddress::parse("url", url.as_str())?;
        if address.host != self.host || !address.segments.starts_with(&self.mount) {
            return Ok(None);
        }
        let asked = RequestedAddress { address, used: self.mount.len(), key: None };
        self.platform.resolve_address(&self.visit, asked).await.map(Some)
    }

    /// The anonymous visitor of the site.
    #[must_use]
    pub fn visitor(&self) -> &Visitor {
        &self.visit.visitor
    }

    /// Returns `true` if a revision is the live content of a space of the site.
    #[must_use]
    pub fn shows(&self, space: &SpaceId, revision: &RevisionId) -> bool {
        self.visit.spaces.get(space).is_some_and(|space| space.head == *revision)
    }

    /// Returns the document of a page in the live content of a space of the site, or `None` for a page without content.
    ///
    /// # Errors
    ///
    /// `NotFound`, also for pages hidden by conditions.
    #[boxed('a)]
    pub async fn find_page_document<'a>(
        &'a self,
        space: &'a SpaceId,
        page: &'a PageId,
        evaluated: Evaluated,
    ) -> Result<Option<ShownDocument>> {
        let admitted = self.visit.spaces.get(space);
        let admitted = admitted.and_then(|space| self.platform.admit_through(&self.visit, space));
        let admitted = admitted.ok_or_else(|| Error::not_found("space"))?;
        let admitted = SpaceAdmission { claims: admitted.claims.renewed(), ..admitted };
        let at = self.platform.locate_for_visitor(&self.visit.visitor, admitted)?;
        self.platform.page_document(&at, page, evaluated).await
    }

    /// The approximate size in bytes.
    #[must_use]
    pub fn weight(&self) -> usize {
        SITE_PART_BYTES * (1 + self.visit.outline.nodes().len() + 2 * self.visit.outline.all_places().len())
    }
}

impl Platform {
    /// Returns `true` if all URLs with this prefix belong to the site. On the platform's own host, a base name takes
    /// precedence over all mounts. On another host, no other site may be mounted.
    async fn is_only_site(
        &self,
        tx: &Tx,
        address: &WebAddress,
        used: usize,
        site: &SiteRecord,
    ) -> Result<bool> {
        let base = self.published_base()?;
        if address.host == base.host {
            let named = used.checked_sub(1).and_then(|last| address.segments.get(last));
            let is_below = used == base.segments.len() + 1 && address.segments.starts_with(&base.segments);
            return Ok(is_below && named.is_some_and(|name| name == site.basename.as_str()));
        }
        Ok(tx.scan(&SiteRecord::scan_mounts_below(&address.host)).await?.len() == 1)
    }
}
