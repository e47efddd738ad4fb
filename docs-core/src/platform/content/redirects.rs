//! Where old paths of pages lead.

use super::Located;
use crate::{BoxFuture, Error, Result, content::Moved, model::PageId, platform::nouns::ContentHandle};

/// The page that a path leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PageRedirect {
    /// The page.
    pub page: PageId,
    /// The place on it, where a repository names one.
    pub anchor: Option<String>,
}

impl<'p> ContentHandle<'p> {
    /// Resolves a path, in any case, by the redirects of the content: those of pages that were there, or below a page
    /// that was, and those of a repository. A page that is there goes first.
    ///
    /// # Errors
    /// `NotFound` when it leads to no page that the actor may see.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::SpaceId, platform::Caller};
    /// # async fn example(me: Caller<'_>, space: &SpaceId) -> Result<()> {
    /// let found = me.space(space).content().resolve_redirect("old/guides").await?;
    /// println!("{} {:?}", found.page, found.anchor);
    /// # Ok(())
    /// # }
    /// ```
    pub fn resolve_redirect(self, path: &'p str) -> BoxFuture<'p, Result<PageRedirect>> {
        Box::pin(async move {
            let (platform, actor) = (self.caller.platform, &self.caller.actor());
            let at = platform.located(actor, &self.of.to_content_of()).await?;
            let Moved { id, entry, anchor, .. } = at.moved(path).await?;
            at.content_filter().await?.require(&id, &entry).await?;
            Ok(PageRedirect { page: id, anchor })
        })
    }
}

impl Located {
    /// The page that a path leads to, whether or not its reader sees it.
    pub(super) async fn moved(&self, path: &str) -> Result<Moved> {
        self.view.find_moved(path).await?.ok_or_else(|| Error::not_found("page"))
    }
}
