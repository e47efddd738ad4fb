//! Imports of documents: new pages behind those that are there, as one revision.
//!
//! Everything is fetched, converted and stored first; then one transaction makes it part of the content. Until then
//! nothing refers to it.

pub(super) mod append;
mod archive;
mod crawl;
pub(super) mod folder;
pub(super) mod gather;
mod links;
mod wiki;

use self::{append::Append, gather::Gather};
use super::{at_once, nouns::ContentHandle};
use crate::{
    BoxFuture, Error, Result,
    content::{Edit, NewBody},
    model::{ImportContent, ImportContentResult, ImportContentSource as Source, check_page_size},
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

impl Gathered {
    /// Adds a page that was counted as imported, or a reusable content. A text that is too long for one is left out,
    /// and its page no longer counted: the rest of the import goes on.
    fn push_text(&mut self, mut edit: Edit) {
        let (body, counted) = match &mut edit {
            Edit::InsertPage(page) => (Some(&mut page.body), 1),
            Edit::PutReusable { fields, .. } => (fields.body.as_mut(), 0),
            _ => (None, 0),
        };
        if let Some(body) = body
            && let NewBody::Text(text) = &*body
            && let Err(error) = check_page_size(text)
        {
            tracing::debug!(%error, "the text of a page is left out of an import");
            *body = NewBody::Empty;
            self.imported = self.imported.saturating_sub(counted);
        }
        self.edits.push(edit);
    }
}

impl<'p> ContentHandle<'p> {
    /// Imports documents into the live content of a space, or into a change request.
    ///
    /// Their pages become the last ones at the top level; nothing that is there changes. A few pages and files
    /// are fetched from the web for one import, see [`LIMITS`](super::LIMITS). What cannot be fetched or read on the
    /// way is left out and counted; the document that was asked for has to be there.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` without the role `edit`; `Conflict` where live content is locked, or the change request
    /// is merged or archived; `Invalid` naming `url` or `source`; `Precondition` when this platform imports nothing.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the import applied as a whole or not at all.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{model::{ImportContent, ImportContentSource, SpaceId, Url}, platform::Caller};
    /// # async fn example(me: Caller<'_>, space: &SpaceId) -> Result<(), Box<dyn std::error::Error>> {
    /// let url = Url::new("https://example.com/guide.md")?;
    /// let request = ImportContent { url, source: ImportContentSource::Markdown };
    /// let import = me.space(space).content().import(request).await?;
    /// println!("{} of {} imported", import.imported_resources, import.total_resources);
    /// # Ok(())
    /// # }
    /// ```
    pub fn import(self, request: ImportContent) -> BoxFuture<'p, Result<ImportContentResult>> {
        Box::pin(async move {
            let (platform, actor) = (self.caller.platform, &self.caller.actor());
            let of = &self.of.to_content_of();
            let done = platform.once(actor, async move {
                let by = actor.require_user()?.clone();
                let target = platform.append_target(actor, of).await?;
                let gather = Gather::new(platform, &target.space().domain)?;
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
                let result = platform.append(append, |revision, _| {
                    at_once(Ok(ImportContentResult {
                        revision,
                        imported_resources: gathered.imported,
                        total_resources: gathered.total,
                    }))
                });
                result.await
            });
            done.await
        })
    }
}
