//! Read access to a revision: [`View`].

use std::{collections::BTreeMap, sync::Arc};

use docs_model::{FileId, PageId, ReusableId};
use docs_store::{Hash, Key, key};

use super::{
    Body, Content, ContentError, ContentResult, FileEntry, PageEntry, PageTree, Rendering, ReusableEntry,
    SharedDocument, VariableEntry,
    entry::decode,
    keys,
    load::{PassResult, Session},
    map::{self, Range},
    offload::{run_blocking, yield_to_others},
    read,
    tree::normal_path,
};

/// Minimum number of pages in a tree that is built on a blocking thread.
const MIN_PAGES_OFF_THREAD: usize = 500;

/// The number of items in a revision.
#[non_exhaustive]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Pages of every kind.
    pub pages: u64,
    pub files: u64,
    pub reusables: u64,
    pub variables: u64,
    /// Pages with an unresolved conflict.
    pub conflicted: u64,
}

/// Read access to a revision.
///
/// A view is immutable. A read costs O(log n) in the size of the revision, plus the size of the result. Loaded objects
/// are cached.
#[derive(Clone)]
pub struct View {
    content: Content,
    domain: Arc<str>,
    root: Hash,
}

impl std::fmt::Debug for View {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("View").field("domain", &self.domain).field("root", &self.root).finish_non_exhaustive()
    }
}

impl Content {
    /// Returns a view of a revision.
    #[must_use]
    pub fn view(&self, domain: &str, root: Hash) -> View {
        View::new(self.clone(), domain, root)
    }
}

impl View {
    pub(crate) fn new(content: Content, domain: &str, root: Hash) -> Self {
        Self { content, domain: domain.into(), root }
    }

    #[must_use]
    pub const fn root(&self) -> Hash {
        self.root
    }

    /// Returns the domain of the objects of the revision.
    #[must_use]
    pub fn domain(&self) -> &str {
        &self.domain
    }

    /// Returns the page with the given id.
    ///
    /// # Errors
    /// [`ContentError`](super::ContentError) if the content cannot be read.
    pub async fn page(&self, id: &PageId) -> ContentResult<Option<PageEntry>> {
        self.run(|session| read::page(session, &self.root, id)).await
    }

    /// Returns pages in the order of `ids`.
    ///
    /// # Errors
    /// See [`View::page`].
    pub async fn pages(&self, ids: &[PageId]) -> ContentResult<Vec<Option<PageEntry>>> {
        self.run(|session| read::pages(session, &self.root, ids)).await
    }

    /// Finds a page by its path, ignoring case and surrounding slashes. Requires a lookup per path segment.
    ///
    /// # Errors
    /// See [`View::page`].
    pub async fn find(&self, path: &str) -> ContentResult<Option<(PageId, PageEntry)>> {
        let path = normal_path(path);
        if path.is_empty() {
            return Ok(None);
        }
        self.run(|session| {
            let mut at: Option<PageId> = None;
            for segment in path.split('/') {
                match read::slug_owner(session, &self.root, at.as_ref(), segment)? {
                    Some(id) => at = Some(id),
                    None => return Ok(None),
                }
            }
            let Some(id) = at else { return Ok(None) };
            Ok(read::page(session, &self.root, &id)?.map(|entry| (id, entry)))
        })
        .await
    }

    /// Returns the path of a page, or `None` if the page does not exist or its kind has no path.
    ///
    /// # Errors
    /// See [`View::page`].
    pub async fn path_of(&self, id: &PageId) -> ContentResult<Option<String>> {
        self.run(|session| match read::page(session, &self.root, id)? {
            Some(entry) => read::path(session, &self.root, &entry),
            None => Ok(None),
        })
        .await
    }

    /// Returns the ancestors of a page, nearest first. The list is empty if the page does not exist.
    ///
    /// # Errors
    /// See [`View::page`].
    pub async fn ancestors(&self, id: &PageId) -> ContentResult<Vec<(PageId, PageEntry)>> {
        self.run(|session| match read::page(session, &self.root, id)? {
            Some(entry) => read::ancestors(session, &self.root, entry.parent),
            None => Ok(Vec::new()),
        })
        .await
    }

    /// Returns the children of a page, or the top-level pages, in order.
    ///
    /// # Errors
    /// See [`View::page`].
    pub async fn children(&self, parent: Option<&PageId>) -> ContentResult<Vec<(PageId, PageEntry)>> {
        let ids = self.run(|session| read::child_ids(session, &self.root, parent)).await?;
        let mut children = Vec::with_capacity(ids.len());
        for ids in ids.chunks(read::PAGES_AT_ONCE) {
            let entries = self.run(|session| read::pages(session, &self.root, ids)).await?;
            let pages = ids.iter().zip(entries);
            children.extend(pages.filter_map(|(id, entry)| Some((id.clone(), entry?))));
            yield_to_others().await;
        }
        Ok(children)
    }

    /// Returns all pages. The tree is built once per revision and cached.
    ///
    /// # Errors
    /// See [`View::page`].
    pub async fn tree(&self) -> ContentResult<Arc<PageTree>> {
        if let Some(tree) = self.content.shared().tree(&self.domain, &self.root) {
            return Ok(tree);
        }
        self.content.shared().tree_once(&self.domain, self.root, self.build_tree()).await
    }

    async fn build_tree(&self) -> ContentResult<Arc<PageTree>> {
        let (from, to) = keys::class(keys::PAGE);
        let records = self.range(Range::new(from, to)).await?;
        let built = match records.len() {
            0..MIN_PAGES_OFF_THREAD => PageTree::build(&records),
            _ => {
                let ended = || ContentError::Corrupt("the tree of pages was not built".into());
                run_blocking(move || PageTree::build(&records)).await.ok_or_else(ended)?
            }
        };
        let tree = Arc::new(built?);
        self.content.shared().keep_tree(&self.domain, self.root, &tree);
        Ok(tree)
    }

    /// Returns the file with the given id.
    ///
    /// # Errors
    /// See [`View::page`].
    pub async fn file(&self, id: &FileId) -> ContentResult<Option<FileEntry>> {
        self.run(|session| read::file(session, &self.root, id)).await
    }

    /// Returns up to `limit` files, ordered by id, starting after the given one.
    ///
    /// # Errors
    /// See [`View::page`].
    pub async fn files(
        &self,
        after: Option<&FileId>,
        limit: usize,
    ) -> ContentResult<Vec<(FileId, FileEntry)>> {
        let (start, to) = keys::class(keys::FILE);
        let from = after.map_or(start, |id| key::successor(&keys::file(id)));
        let found = self.range(Range::new(from, to).limit(limit)).await?;
        found.iter().map(|(key, value)| Ok((keys::id(key)?, decode(key, value)?))).collect()
    }

    /// Returns the reusable content block with the given id.
    ///
    /// # Errors
    /// See [`View::page`].
    pub async fn reusable(&self, id: &ReusableId) -> ContentResult<Option<ReusableEntry>> {
        self.run(|session| read::reusable(session, &self.root, id)).await
    }

    /// Returns up to `limit` reusable content blocks, ordered by id, starting after the given one.
    ///
    /// # Errors
    /// See [`View::page`].
    pub async fn reusables(
        &self,
        after: Option<&ReusableId>,
        limit: usize,
    ) -> ContentResult<Vec<(ReusableId, ReusableEntry)>> {
        let (start, to) = keys::class(keys::REUSABLE);
        let from = after.map_or(start, |id| key::successor(&keys::reusable(id)));
        let found = self.range(Range::new(from, to).limit(limit)).await?;
        found.iter().map(|(key, value)| Ok((keys::id(key)?, decode(key, value)?))).collect()
    }

    /// Returns the variables of the space by name.
    ///
    /// # Errors
    /// See [`View::page`].
    pub async fn variables(&self) -> ContentResult<BTreeMap<String, VariableEntry>> {
        self.run(|session| read::variables(session, &self.root)).await
    }

    /// Returns up to `limit` pages with an unresolved conflict, ordered by id, starting after the given one.
    ///
    /// # Errors
    /// See [`View::page`].
    pub async fn conflicted(&self, after: Option<&PageId>, limit: usize) -> ContentResult<Vec<PageId>> {
        let (start, to) = keys::class(keys::CONFLICTED);
        let from = after.map_or(start, |id| key::successor(&keys::conflict_key(id)));
        let found = self.range(Range::new(from, to).limit(limit)).await?;
        found.iter().map(|(key, _)| keys::id(key)).collect()
    }

    /// Returns the numbers of items in the revision, in O(log n).
    ///
    /// # Errors
    /// See [`View::page`].
    pub async fn counts(&self) -> ContentResult<Counts> {
        self.run(|session| {
            let count = |name| -> PassResult<u64> {
                let (from, to) = keys::class(name);
                Ok(map::count(session, &self.root, &from, &to)?)
            };
            Ok(Counts {
                pages: count(keys::PAGE)?,
                files: count(keys::FILE)?,
                reusables: count(keys::REUSABLE)?,
                variables: count(keys::VARIABLE)?,
                conflicted: count(keys::CONFLICTED)?,
            })
        })
        .await
    }

    /// Returns the Markdown of a body, or an empty string for an empty body.
    ///
    /// # Errors
    /// See [`View::page`].
    pub async fn text(&self, body: &Body, rendering: Rendering) -> ContentResult<Arc<str>> {
        self.content.body_text(&self.domain, body, rendering).await
    }

    /// Returns the document of a body. An empty body results in a document without blocks. Parsed documents are cached.
    ///
    /// # Errors
    /// See [`View::page`].
    pub async fn document(&self, body: &Body, rendering: Rendering) -> ContentResult<SharedDocument> {
        // The hash of a body with a single text is that of the text, so a cached document can be returned without
        // loading the text.
        if let Body::Text(hash) = body
            && let Some(known) = self.content.shared().known_document(&self.domain, hash)
        {
            return Ok(known);
        }
        let text = self.text(body, rendering).await?;
        Ok(self.document_of(&text).await)
    }

    /// Returns the text of a page as readers see it: with the results of its directives in their place.
    ///
    /// # Errors
    /// See [`View::page`].
    pub async fn reader_text(&self, body: &Body, expansions: Option<Hash>) -> ContentResult<Arc<str>> {
        self.content.reader_text(&self.domain, body, expansions, Rendering::Request).await
    }

    /// Returns the document of a page as readers see it: with the results of its directives in their place.
    ///
    /// # Errors
    /// See [`View::page`].
    pub async fn reader_document(&self, page: &PageEntry) -> ContentResult<SharedDocument> {
        match page.expansions {
            None => self.document(&page.body, Rendering::Request).await,
            Some(_) => Ok(self.document_of(&self.reader_text(&page.body, page.expansions).await?).await),
        }
    }

    /// Returns the document for a Markdown text, which need not belong to a body. Parsed documents are cached.
    pub async fn document_of(&self, markdown: &str) -> SharedDocument {
        self.content.shared().document(&self.domain, markdown).await
    }

    pub(super) async fn range(&self, range: Range) -> ContentResult<Vec<(Key, bytes::Bytes)>> {
        self.run(|session| Ok(map::range(session, &self.root, &range)?)).await
    }

    pub(super) async fn run<T: Send>(
        &self,
        step: impl FnMut(&Session<'_>) -> PassResult<T> + Send,
    ) -> ContentResult<T> {
        Session::new(self.content.shared(), &self.domain).run(step).await
    }
}
