//! The canonical address of a page, and its versions in other languages.

use std::collections::BTreeSet;

use docs_macros::boxed;

use super::{ContentOptions, ReadableRevision};
use crate::{
    Error, ErrorKind, Result,
    model::{ContentRef, PageId, PageMetaLinks, SiteVisibility},
    platform::{
        kernel::{actor::Actor, content_version::ContentVersion, platform::Platform, urls::percent_encode},
        nouns::ContentHandle,
        publishing::{outline::SiteOutline, page_search::PageSearch, placement::Placement},
    },
    store::Tx,
};

impl<'p> ContentHandle<'p> {
    /// Reads the addresses of a page for search engines: its URL on the site that publishes the space, and the pages at
    /// the same path in the other languages of the site. [`PageSearch`](crate::platform::PageSearch) bounds the
    /// variants that are searched.
    ///
    /// # Errors
    /// `NotFound`.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{PageId, SpaceId}, platform::Caller};
    /// # async fn example(me: Caller<'_>, space: &SpaceId, page: &PageId) -> Result<()> {
    /// let links = me.space(space).content().get_page_meta_links(page).await?;
    /// println!("{:?}", links.canonical);
    /// # Ok(())
    /// # }
    /// ```
    #[boxed]
    pub async fn get_page_meta_links(self, page: &'p PageId) -> Result<PageMetaLinks> {
        let (platform, actor) = (self.caller.platform, &self.caller.actor());
        let of = &self.of.to_content_version();
        let tx = platform.read().await?;
        let at = platform.locate_read(&tx, actor, of).await?;
        let placement = match &at.placement {
            Some(placement) => Some(placement.clone()),
            None => platform.placements(&tx, &[&at.space().id], None).await?.pop().flatten(),
        };
        let variants = match &placement {
            Some(placement) => platform.language_variants(&tx, actor, &at, placement).await?,
            None => Vec::new(),
        };
        // Objects may need the same connection pool as the transaction, so it is ended first.
        drop(tx);
        let path = platform.visible_path(&at, page).await?;
        let is_home = at.home(&mut PageSearch::default()).await?.as_ref() == Some(page);
        let (mut alternates, mut search) = (Vec::new(), PageSearch::default());
        for variant in variants {
            let found = match is_home {
                true => variant.home(&mut search).await?,
                false => variant.visible_page_at(&path).await?,
            };
            let space = variant.space().id.clone();
            alternates.extend(found.map(|page| ContentRef::Page { page, space: Some(space) }));
        }
        // A site shows the first page of a space at the URL of the space.
        let path = if is_home { "" } else { path.as_str() };
        // The URL of a site for share links contains a key, which only its visitors have.
        let open = placement.filter(|placement| placement.site.visibility != SiteVisibility::ShareLink);
        let canonical = open.map(|placement| ContentRef::Url { url: platform.page_url(&placement, path) });
        Ok(PageMetaLinks { canonical, alternates })
    }
}

impl ReadableRevision {
    /// Returns the first document visible to the reader. The visited pages are added to `search`.
    async fn home(&self, search: &mut PageSearch) -> Result<Option<PageId>> {
        self.first_document(&self.content_filter().await?, search).await
    }

    /// Returns the page at a path if it is visible to the reader.
    async fn visible_page_at(&self, path: &str) -> Result<Option<PageId>> {
        let Some((page, entry)) = self.view.find(path).await? else { return Ok(None) };
        Ok(self.content_filter().await?.shows(&page, &entry).await?.then_some(page))
    }
}

impl Platform {
    /// Returns the path of a page visible to the reader, which may be a generated one.
    async fn visible_path(&self, at: &ReadableRevision, page: &PageId) -> Result<String> {
        let Some(entry) = at.view.page(page).await? else {
            let made = self.find_generated(at, &|made| made.id == *page, ContentOptions::default()).await?;
            let (_, _, made) = made.ok_or_else(|| Error::not_found("page"))?;
            return Ok(made.path);
        };
        at.content_filter().await?.require(page, &entry).await?;
        Ok(at.view.path_of(page).await?.unwrap_or_default())
    }

    /// Returns the live content of the variants of a space in other languages that the actor may read. Among variants
    /// in the same language, the first one counts.
    async fn language_variants(
        &self,
        tx: &Tx,
        actor: &Actor,
        at: &ReadableRevision,
        placement: &Placement,
    ) -> Result<Vec<ReadableRevision>> {
        let outline = SiteOutline::load(tx, &placement.site).await?;
        let places = outline.all_places().into_iter();
        let own = places.filter(|place| !outline.is_draft_place(place)).find(|it| it.space == at.space().id);
        let Some(own) = own else { return Ok(Vec::new()) };
        let others = outline.places(own.section.as_ref()).iter();
        let others = others.filter(|place| place.id != own.id && !outline.is_draft_place(place));
        let mut languages = BTreeSet::from([at.space().language]);
        let mut variants = Vec::new();
        for place in others.take(PageSearch::MAX_VARIANTS) {
            match self.locate_read(tx, actor, &ContentVersion::space(place.space.clone())).await {
                Ok(variant) => {
                    let language = variant.space().language;
                    if language.is_some() && languages.insert(language) {
                        variants.push(variant);
                    }
                }
                Err(error) if is_hidden(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(variants)
    }

    /// Returns the canonical URL of a page of a published space.
    fn page_url(&self, placement: &Placement, path: &str) -> String {
        let base = self.urls().published(placement.site.basename.as_str());
        let below = placement.url.strip_prefix(&base).unwrap_or_default();
        let path: Vec<String> = path.split('/').map(percent_encode).collect();
        self.canonical(&placement.site, None, &[]) + below + &path.join("/")
    }
}

/// Returns `true` for the errors of content that the actor may not read.
fn is_hidden(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Unauthenticated)
}
