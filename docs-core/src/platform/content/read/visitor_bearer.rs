//! File URLs issued to site visitors.

use super::ReadableRevision;
use crate::{
    ErrorKind, Result,
    content::LinkTarget,
    model::{SiteVisibility, SpaceId},
    platform::{
        content::files::{FileReach, SealedFile},
        kernel::platform::Platform,
        publishing::visitors::file_bearer::VisitorBearer,
    },
    store::{Hash, Tx},
};

/// Maximum number of cached visibility decisions.
const MAX_CACHED_FILES: usize = 20_000;

/// A cache of file visibility, keyed by content, reader claims and file.
pub(in crate::platform) struct VisibleFileCache(quick_cache::sync::Cache<Hash, bool>);

impl Default for VisibleFileCache {
    fn default() -> Self {
        Self(quick_cache::sync::Cache::new(MAX_CACHED_FILES))
    }
}

impl Platform {
    /// Returns the live content of a space as seen by the visitor that received a file URL, and who else may use
    /// the URL. Returns `None` if the URL has expired or the site no longer shows the space to the visitor.
    pub(in crate::platform) async fn bearer_content(
        &self,
        tx: &Tx,
        bearer: &VisitorBearer,
        space: &SpaceId,
    ) -> Result<Option<(ReadableRevision, FileReach)>> {
        if bearer.until.is_some_and(|until| self.now().time().timestamp() >= until) {
            return Ok(None);
        }
        let visitor = bearer.visitor();
        let admitted = match self.admit(tx, &visitor, space).await {
            Ok(admitted) => admitted,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let reach = match admitted.placement.site.visibility {
            SiteVisibility::Public | SiteVisibility::Unlisted if bearer.until.is_none() => FileReach::Public,
            _ => FileReach::Bearer,
        };
        Ok(Some((self.locate_for_visitor(&visitor, admitted)?, reach)))
    }

    /// Returns `true` if the content contains this file and the reader may see it.
    ///
    /// The first use follows the backlinks of the file to the first page visible to the reader. Content is immutable,
    /// so the decision is cached for readers with the same claims, unless it ended at its bound.
    pub(in crate::platform) async fn is_file_visible(
        &self,
        at: &ReadableRevision,
        file: &SealedFile,
    ) -> Result<bool> {
        let entry = at.view.file(&file.id).await?;
        if !entry.is_some_and(|entry| file.matches(&entry)) {
            return Ok(false);
        }
        let reader = at.reader_id().unwrap_or_default();
        let key = [at.view.root().to_string(), reader, file.id.to_string()].join(" ");
        let key = Hash::compute(key.as_bytes());
        let cache = self.inner.memory.get_or_default::<VisibleFileCache>();
        if let Some(shown) = cache.0.get(&key) {
            return Ok(shown);
        }
        let filter = at.content_filter().await?;
        let shown = filter.sees(LinkTarget::File(file.id.clone())).await?;
        if !filter.is_exhausted() {
            cache.0.insert(key, shown);
        }
        Ok(shown)
    }
}
