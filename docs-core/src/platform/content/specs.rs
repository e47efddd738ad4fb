//! What pages show of OpenAPI specifications, for whoever sees the pages.

use crate::{
    BoxFuture, Result,
    content::Evaluated,
    model::{PageId, ReusableId},
    platform::{ShownSpec, nouns::ContentHandle},
};

impl<'p> ContentHandle<'p> {
    /// Reads what a page shows of OpenAPI specifications: of each operation, webhook and schema that stands in its
    /// document what the latest version says, as far as the limit of a page goes. Whoever sees the page sees that of a
    /// private specification too; nothing else of it. What a specification does not have is left out.
    ///
    /// # Errors
    /// `NotFound`, also when the page has no content.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{PageId, SpaceId}, platform::Caller};
    /// # async fn example(me: Caller<'_>, space: &SpaceId, page: &PageId) -> Result<()> {
    /// for shown in me.space(space).content().get_page_specs(page).await? {
    ///     println!("{}: {:?}", shown.spec, shown.subject);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn get_page_specs(self, page: &'p PageId) -> BoxFuture<'p, Result<Vec<ShownSpec>>> {
        Box::pin(async move {
            let document = self.get_page_document(page, Evaluated::Yes).await?;
            let at = self.caller.platform.located(&self.caller.actor(), &self.of.to_content_of()).await?;
            self.caller.platform.shown_specs(&at.space().organization, &document).await
        })
    }

    /// Reads the same of a reusable content.
    ///
    /// # Errors
    /// `NotFound`, also when it has no content.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{ReusableId, SpaceId}, platform::Caller};
    /// # async fn example(me: Caller<'_>, space: &SpaceId, reusable: &ReusableId) -> Result<()> {
    /// let shown = me.space(space).content().get_reusable_specs(reusable).await?;
    /// println!("{} operations and schemas", shown.len());
    /// # Ok(())
    /// # }
    /// ```
    pub fn get_reusable_specs(self, reusable: &'p ReusableId) -> BoxFuture<'p, Result<Vec<ShownSpec>>> {
        Box::pin(async move {
            let document = self.get_reusable_document(reusable, Evaluated::Yes).await?;
            let at = self.caller.platform.located(&self.caller.actor(), &self.of.to_content_of()).await?;
            self.caller.platform.shown_specs(&at.space().organization, &document).await
        })
    }
}
