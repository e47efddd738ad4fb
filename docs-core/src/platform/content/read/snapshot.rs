//! Content of one revision that is read in parts.

use std::{fmt, sync::Arc};

use docs_macros::boxed;
use tokio::sync::OnceCell;

use super::{ContentOptions, ReadableRevision, filter_visible};
use crate::{
    Result,
    content::{Evaluated, LinkTarget, PageTree, ReusableEntry, expression::Allowance},
    model::{Document, FileId, ReusableId, RevisionFile, RevisionId, RevisionPage, Variables},
    platform::{
        kernel::{platform::Platform, request::EntityTag},
        nouns::ContentHandle,
        publishing::visitors::{ConditionBudgets, ContentFilter},
    },
};

/// The content of one revision as a reader sees it. Its parts are read separately.
pub struct ContentSnapshot {
    pub(super) platform: Platform,
    pub(super) at: ReadableRevision,
    /// The page tree, once a part needs it.
    tree: OnceCell<Arc<PageTree>>,
    pub(super) filter: ContentFilter,
}

impl fmt::Debug for ContentSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContentSnapshot").field("revision", &self.at.revision).finish_non_exhaustive()
    }
}

impl<'p> ContentHandle<'p> {
    /// Finds the revision for reads of its parts, which are then consistent with each other.
    ///
    /// # Errors
    /// `NotFound`.
    #[boxed]
    pub async fn snapshot(self) -> Result<ContentSnapshot> {
        self.open_snapshot(None).await
    }

    /// Finds the revision like [`snapshot`](Self::snapshot). The conditions of its content are charged to budgets that
    /// several reads share.
    ///
    /// # Errors
    /// `NotFound`.
    #[boxed]
    pub async fn snapshot_within(self, budgets: &'p ConditionBudgets) -> Result<ContentSnapshot> {
        self.open_snapshot(Some(budgets)).await
    }

    async fn open_snapshot(self, budgets: Option<&ConditionBudgets>) -> Result<ContentSnapshot> {
        let (platform, actor) = (self.caller.platform, &self.caller.actor());
        let mut at = platform.locate_content(actor, &self.of.to_content_version()).await?;
        if let Some(budgets) = budgets {
            at.reader = at.reader.with_budgets(budgets);
        }
        let filter = at.content_filter().await?;
        Ok(ContentSnapshot { platform: platform.clone(), at, tree: OnceCell::new(), filter })
    }
}

impl ContentSnapshot {
    /// Returns the id of the revision.
    #[must_use]
    pub const fn revision(&self) -> &RevisionId {
        &self.at.revision
    }

    /// Reads the document of a reusable content block. Its expressions and conditions are charged to a budget shared by
    /// all documents of an answer.
    ///
    /// # Errors
    /// `NotFound`, also if it has no content.
    #[boxed('s)]
    pub async fn reusable_document<'s>(
        &'s self,
        reusable: &'s ReusableId,
        evaluated: Evaluated,
        allowance: &'s mut Allowance,
    ) -> Result<Document> {
        let entry = self.at.reusable(&self.filter, reusable).await?;
        self.document_of(&entry, evaluated, allowance).await.map(Arc::unwrap_or_clone)
    }

    /// Returns the document of a visible reusable content block.
    pub(super) async fn document_of(
        &self,
        entry: &ReusableEntry,
        evaluated: Evaluated,
        allowance: &mut Allowance,
    ) -> Result<Arc<Document>> {
        let document = self.at.document(&entry.body).await?;
        self.filter.document_within(document, &Variables::new(), evaluated, allowance).await
    }

    pub(super) async fn tree(&self) -> Result<&Arc<PageTree>> {
        self.tree.get_or_try_init(async || Ok(self.at.view.tree().await?)).await
    }

    /// Computes the ETag of the specifications from which pages are computed, like
    /// [`computed_tag`](ContentHandle::computed_tag).
    ///
    /// # Errors
    /// Errors of the store.
    #[boxed('s)]
    pub async fn computed_tag<'s>(&'s self) -> Result<Option<EntityTag>> {
        if !self.platform.page_traits(&self.at.view).await?.has_computed {
            return Ok(None);
        }
        let org = &self.at.space().organization;
        self.platform.computed_specs_tag(org, self.tree().await?, self.at.spec_audience()).await
    }

    /// Computes a tag that is equal for equal [`pages`](Self::pages). Visitors with different claims have equal tags if
    /// the same pages are visible to them.
    ///
    /// # Errors
    /// Errors of the store.
    #[boxed('s)]
    pub async fn pages_tag<'s>(&'s self, shown: ContentOptions) -> Result<EntityTag> {
        let traits = self.platform.page_traits(&self.at.view).await?;
        if !traits.has_computed && !traits.has_conditions {
            let facts = (&self.at.space().id, self.at.view.domain(), self.at.view.root().to_string());
            return EntityTag::from_answer(&(facts, self.filter.hides(), format!("{shown:?}")));
        }
        let key = self.platform.page_tree_key(&self.at, self.tree().await?, &self.filter, shown).await?;
        EntityTag::from_answer(&key.to_string())
    }

    /// Lists all pages as a tree, without their content.
    ///
    /// # Errors
    /// Errors of the store.
    #[boxed('s)]
    pub async fn pages<'s>(&'s self, shown: ContentOptions) -> Result<Vec<RevisionPage>> {
        self.platform.tree_view(&self.at, self.tree().await?, &self.filter, shown).await
    }

    /// Reads files by id. Their URLs are those of the reader. Files that do not exist or that the reader does not see
    /// are omitted.
    ///
    /// # Errors
    /// Errors of the store.
    #[boxed('s)]
    pub async fn files_by_id<'s>(
        &'s self,
        ids: &'s [FileId],
        shown: ContentOptions,
    ) -> Result<Vec<RevisionFile>> {
        let found = ids.iter().cloned().zip(self.at.view.files_by_id(ids).await?);
        let files = found.filter_map(|(id, file)| Some((id, file?))).collect();
        let files = filter_visible(&self.filter, files, LinkTarget::File).await?;
        self.platform.file_views(&self.at, files, shown).await
    }
}
