//! Files in the addresses of visitors.

use super::Located;
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

/// Maximum number of cached decisions about files.
const SHOWN_FILES: usize = 20_000;

/// A cache of file visibility, keyed by content, claims of the reader, and file.
pub(in crate::platform) struct ShownFiles(quick_cache::sync::Cache<Hash, bool>);

impl Default for ShownFiles {
    fn default() -> Self {
        Self(quick_cache::sync::Cache::new(SHOWN_FILES))
    }
}

impl Platform {
    /// Returns the live content of a space for the visitor of an address, and who may use the address. Returns `None`
    /// if the site no longer shows the space to them.
    pub(in crate::platform) async fn content_of_bearer(
        &self,
        tx: &Tx,
        bearer: &VisitorBearer,
        space: &SpaceId,
    ) -> Result<Option<(Located, FileReach)>> {
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
            SiteVisibility::Public | SiteVisibility::Unlisted if bearer.until.is_none() => FileReach::Anybody,
            _ => FileReach::Bearer,
        };
        Ok(Some((self.located_by(&visitor, admitted), reach)))
    }

    /// Returns `true` if content has this file and shows it to its reader.
    ///
    /// The first use follows the backlinks of the file to the first page that the reader sees. Content is immutable, so
    /// the decision is cached for readers with the same claims.
    pub(in crate::platform) async fn still_shows(&self, at: &Located, file: &SealedFile) -> Result<bool> {
        let entry = at.view.file(&file.id).await?;
        if !entry.is_some_and(|entry| file.is_of(&entry)) {
            return Ok(false);
        }
        let reader = at.reader_id().unwrap_or_default();
        let key = [at.view.root().to_string(), reader, file.id.to_string()].join(" ");
        let key = Hash::of(key.as_bytes());
        let cache = self.inner.memory.of::<ShownFiles>();
        if let Some(shown) = cache.0.get(&key) {
            return Ok(shown);
        }
        let shown = at.content_filter().await?.sees(LinkTarget::File(file.id.clone())).await?;
        cache.0.insert(key, shown);
        Ok(shown)
    }
}
