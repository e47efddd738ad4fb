//! Redirects from previous paths of pages.

use docs_macros::boxed;

use super::Located;
use crate::{Error, Result, content::Moved, model::PageId, platform::nouns::ContentHandle};

/// The target of a redirect.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PageRedirect {
    pub page: PageId,
    /// The anchor on the page, if a redirect of the repository names one.
    pub anchor: Option<String>,
}

impl<'p> ContentHandle<'p> {
    /// Resolves a path, case-insensitively, by the redirects of the content: those that moved pages left, also for
    /// paths below such a page, and those of a repository. A current page takes precedence over a redirect.
    ///
    /// # Errors
    /// `NotFound` when the path resolves to no page that the actor may see.
    #[boxed]
    pub async fn resolve_redirect(self, path: &'p str) -> Result<PageRedirect> {
        let (platform, actor) = (self.caller.platform, &self.caller.actor());
        let at = platform.located(actor, &self.of.to_content_of()).await?;
        let Moved { id, entry, anchor, .. } = at.moved(path).await?;
        at.content_filter().await?.require(&id, &entry).await?;
        Ok(PageRedirect { page: id, anchor })
    }
}

impl Located {
    /// Resolves a path to its page without checking that the reader may see it.
    pub(super) async fn moved(&self, path: &str) -> Result<Moved> {
        self.view.find_moved(path).await?.ok_or_else(|| Error::not_found("page"))
    }
}
