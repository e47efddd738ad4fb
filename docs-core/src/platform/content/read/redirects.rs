//! Redirects from previous paths of pages.

use docs_macros::boxed;

use super::ReadableRevision;
use crate::{Error, Result, content::MovedPage, model::PageId, platform::nouns::ContentHandle};

/// The target of a redirect.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PageRedirect {
    pub page: PageId,
    /// The anchor on the page, if a redirect defined in the repository has one.
    pub anchor: Option<String>,
}

impl<'p> ContentHandle<'p> {
    /// Resolves a path, case-insensitively, through the redirects of the content: those recorded when pages move, which
    /// also apply to paths below such a page, and those defined in the repository. A current page takes precedence over
    /// a redirect.
    ///
    /// # Errors
    /// `NotFound` if the path does not resolve to a page that the actor has access to.
    #[boxed]
    pub async fn resolve_redirect(self, path: &'p str) -> Result<PageRedirect> {
        let (platform, actor) = (self.caller.platform, &self.caller.actor());
        let at = platform.locate_content(actor, &self.of.to_content_version()).await?;
        let MovedPage { id, entry, anchor, .. } = at.resolve_moved(path).await?;
        at.content_filter().await?.require(&id, &entry).await?;
        Ok(PageRedirect { page: id, anchor })
    }
}

impl ReadableRevision {
    /// Resolves a path to its page without an access check.
    pub(super) async fn resolve_moved(&self, path: &str) -> Result<MovedPage> {
        self.view.find_moved(path).await?.ok_or_else(|| Error::not_found("page"))
    }
}
