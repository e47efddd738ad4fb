//! Imports of documents: new pages behind those that are there, as one revision.
//!
//! Everything is fetched, converted and stored first; then one transaction makes it part of the content. Until then
//! nothing refers to it.

pub(super) mod append;
mod archive;
mod crawl;
pub(super) mod folder;
mod gather;
mod links;
mod wiki;

use self::{append::Append, gather::Gather};
use super::{Actor, Platform, content::ContentOf};
use crate::{
    BoxFuture, Error, Result,
    content::Edit,
    model::{ImportContent, ImportContentResult, ImportContentSource as Source},
    ports::DocumentFormat,
};

/// The sources that can be imported, as a sentence names them.
const SUPPORTED: &str = "website, html, markdown, docx, zip, github-wiki";

/// What an import adds, ready to be applied to any content of the space.
#[derive(Default)]
pub(super) struct Gathered {
    /// Files, then pages, parents before those below them.
    pub(super) edits: Vec<Edit>,
    /// How many pages and files there are in it.
    pub(super) imported: u64,
    /// How many were found, with those that are not in it.
    pub(super) total: u64,
}

impl Platform {
    /// Imports documents into the live content of a space, or into a change request (SPEC 4.7).
    ///
    /// Their pages become the last ones at the top level; nothing that is there changes. At most 20 pages and 20 files
    /// are fetched from the web for one import. What cannot be fetched or read on the way is left out and counted; the
    /// document that was asked for has to be there.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` without the role `edit`; `Conflict` where live content is locked, or the change request
    /// is merged or archived; `Invalid` naming `url` or `source`; `Precondition` when this platform imports nothing.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the import applied as a whole or not at all.
    pub fn import_content<'a>(
        &'a self,
        actor: &'a Actor,
        of: &'a ContentOf,
        request: ImportContent,
    ) -> BoxFuture<'a, Result<ImportContentResult>> {
        Box::pin(self.once(actor, async move {
            let by = actor.require_user()?.clone();
            let target = self.append_target(actor, of).await?;
            let gather = Gather::new(self, &target.space().domain)?;
            let url = request.url.as_str();
            let gathered = match request.source {
                Source::Website => gather.website(url).await?,
                Source::Html => gather.document(url, DocumentFormat::Html).await?,
                Source::Markdown => gather.document(url, DocumentFormat::Markdown).await?,
                Source::Docx => gather.document(url, DocumentFormat::Docx).await?,
                Source::Zip => gather.archive(url).await?,
                Source::GithubWiki => gather.wiki(url).await?,
                Source::Confluence | Source::Notion | Source::GoogleDocs => {
                    let source = request.source.as_str();
                    let what =
                        format!("`{source}` cannot be imported by this server; it imports {SUPPORTED}");
                    return Err(Error::invalid("source", what));
                }
            };
            let append = Append { actor, by: &by, of, before: &target, edits: &gathered.edits };
            let result = self.append(append, |revision| ImportContentResult {
                revision,
                imported_resources: gathered.imported,
                total_resources: gathered.total,
            });
            result.await
        }))
    }
}
