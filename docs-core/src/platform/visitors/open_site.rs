//! Sites that are open to everybody, as they are in one moment: what lets a stranger in is read once.

use std::{fmt, sync::Arc};

use super::{Visit, Visitor, address::Address, resolve::Asked};
use crate::{
    BoxFuture, Error, Result,
    content::Evaluated,
    model::{PageId, PublishedUrl, ResolvedUrl, RevisionId, SpaceId},
    platform::{Platform, ShownDocument},
    store::{Tx, records::SiteRecord},
};

/// Bytes that a part of a site takes in memory, about.
const PART: usize = 2048;

/// A published site that everybody may read, as somebody of whom nothing is known finds it.
///
/// It answers what [`resolve_url`](Platform::resolve_url) and the content of its spaces answer such a visitor, without
/// reading again who is let in. It holds in the [`Moment`](super::Moment) that was asked for before it was found, and
/// in no other: whoever keeps one asks for the moment before each use.
#[derive(Clone)]
pub struct OpenSite {
    platform: Platform,
    visit: Arc<Visit>,
    host: String,
    /// The segments that addresses of the site begin with.
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
    /// Finds the site at an address; `None` where it is not for everybody, where its content adapts to who reads, or
    /// where other sites stand below its address.
    ///
    /// # Errors
    /// `Invalid` for what is no address.
    ///
    /// # Example
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
    pub fn find<'a>(platform: &'a Platform, url: &'a PublishedUrl) -> BoxFuture<'a, Result<Option<Self>>> {
        Box::pin(async move {
            let address = Address::parse("url", url.as_str())?;
            let tx = platform.read().await?;
            let Some((site, used)) = platform.mounted(&tx, &address).await? else { return Ok(None) };
            let is_open = site.published && site.visibility.is_for_everybody();
            if !is_open || site.adaptive_content.enabled {
                return Ok(None);
            }
            if !platform.is_alone(&tx, (&address, used), &site).await? {
                return Ok(None);
            }
            let visitor = Visitor { site: Some(site.id.clone()), ..Visitor::default() };
            let Some(visit) = platform.visit(&tx, &visitor, site).await? else { return Ok(None) };
            let mount = address.segments.iter().take(used).cloned().collect();
            Ok(Some(Self { platform: platform.clone(), visit: Arc::new(visit), host: address.host, mount }))
        })
    }

    /// What an address leads to; `None` for one that is not of this site.
    ///
    /// # Errors
    /// As of [`resolve_url`](Platform::resolve_url).
    ///
    /// # Example
    /// See [`find`](Self::find).
    pub fn resolve<'a>(&'a self, url: &'a PublishedUrl) -> BoxFuture<'a, Result<Option<ResolvedUrl>>> {
        Box::pin(async move {
            let address = Address::parse("url", url.as_str())?;
            if address.host != self.host || !address.segments.starts_with(&self.mount) {
                return Ok(None);
            }
            let asked = Asked { address, used: self.mount.len(), key: None };
            self.platform.located_at(&self.visit, asked).await.map(Some)
        })
    }

    /// Who a stranger is there.
    #[must_use]
    pub fn visitor(&self) -> &Visitor {
        &self.visit.visitor
    }

    /// Tells whether a revision is the live content of a space of the site.
    #[must_use]
    pub fn shows(&self, space: &SpaceId, revision: &RevisionId) -> bool {
        self.visit.spaces.get(space).is_some_and(|space| space.head == *revision)
    }

    /// The document of a page in the live content of a space of the site; `None` for a page without content.
    ///
    /// # Errors
    /// `NotFound`, also for what conditions hide.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, content::Evaluated, model::{PageId, SpaceId}, platform::OpenSite};
    /// # async fn example(site: &OpenSite, space: &SpaceId, page: &PageId) -> Result<()> {
    /// if let Some(shown) = site.find_page_document(space, page, Evaluated::Yes).await? {
    ///     println!("{} blocks", shown.document.nodes.len());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn find_page_document<'a>(
        &'a self,
        space: &'a SpaceId,
        page: &'a PageId,
        evaluated: Evaluated,
    ) -> BoxFuture<'a, Result<Option<ShownDocument>>> {
        Box::pin(async move {
            let admitted = self.visit.spaces.get(space);
            let admitted = admitted.and_then(|space| self.platform.let_into(&self.visit, space));
            let admitted = admitted.ok_or_else(|| Error::not_found("space"))?;
            let at = self.platform.located_by(&self.visit.visitor, admitted);
            self.platform.document_of_page(&at, page, evaluated).await
        })
    }

    /// About how many bytes it takes.
    #[must_use]
    pub fn weight(&self) -> usize {
        PART * (1 + self.visit.outline.nodes().len() + 2 * self.visit.outline.all_places().len())
    }
}

impl Platform {
    /// Tells whether all addresses that begin as this one lead to the site: a base name of the platform's own host goes
    /// before all mounts, and on another host no other site may be mounted.
    async fn is_alone(&self, tx: &Tx, (address, used): (&Address, usize), site: &SiteRecord) -> Result<bool> {
        let base = self.published_base()?;
        if address.host == base.host {
            let named = used.checked_sub(1).and_then(|last| address.segments.get(last));
            let is_below = used == base.segments.len() + 1 && address.segments.starts_with(&base.segments);
            return Ok(is_below && named.is_some_and(|name| name == site.basename.as_str()));
        }
        Ok(tx.scan(&SiteRecord::proxied_below(&address.host)).await?.len() == 1)
    }
}
