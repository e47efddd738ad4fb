//! Previews of commented blocks.
//!
//! The preview of a block requires parsing the whole page. A page is parsed once for each of its texts and requested
//! blocks, on a blocking thread, and the previews are cached.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{
    Error, Result,
    content::{Body, Rendering, View, document, run_on_text},
    platform::kernel::tenant_queue::TenantQueue,
    store::Hash,
};

/// Maximum total size, in bytes, of the pages that a list of comments reads to preview their blocks. The response ends
/// before the comment whose page exceeds it, and `next` continues with that comment. The first page is always read.
/// Pages with cached previews are not read.
const MAX_PREVIEWED_TEXT: usize = 4 * 1024 * 1024;
/// Maximum number of cached previews.
const MAX_CACHED_PREVIEWS: usize = 10_000;
/// Maximum number of pages that are parsed at the same time for previews.
const MAX_CONCURRENT_PREVIEWS: usize = 2;
/// Maximum number of pages of one organization that are parsed at the same time for previews.
const MAX_TENANT_PREVIEWS: usize = 1;

/// The texts of pages that a response may still read.
#[derive(Debug, Default)]
pub(super) struct PageTextBudget {
    used: usize,
}

impl PageTextBudget {
    /// Adds a text. Returns `false` if it is not the first text and exceeds the budget.
    pub(super) const fn take(&mut self, bytes: usize) -> bool {
        let is_first = self.used == 0;
        self.used = self.used.saturating_add(bytes);
        is_first || self.used <= MAX_PREVIEWED_TEXT
    }
}

/// A cache of the previews of blocks by organization, page text and block. A missing block is cached as `None`.
pub(super) struct BlockPreviews {
    cached: quick_cache::sync::Cache<Hash, Option<Arc<str>>>,
    parses: TenantQueue,
}

impl Default for BlockPreviews {
    fn default() -> Self {
        let parses = TenantQueue::new(MAX_CONCURRENT_PREVIEWS, MAX_TENANT_PREVIEWS);
        Self { cached: quick_cache::sync::Cache::new(MAX_CACHED_PREVIEWS), parses }
    }
}

impl BlockPreviews {
    /// Returns the previews of the requested blocks that exist, or `None` if the text of the page exceeds the budget.
    pub(super) async fn read(
        &self,
        view: &View,
        body: &Body,
        nodes: &BTreeSet<&str>,
        budget: &mut PageTextBudget,
    ) -> Result<Option<BTreeMap<String, String>>> {
        let domain = view.domain();
        let body_key = serde_json::to_string(body).map_err(Error::internal)?;
        let keys: BTreeMap<&str, Hash> = nodes
            .iter()
            .map(|node| (*node, Hash::compute([domain, &body_key, node].join("\n").as_bytes())))
            .collect();
        if let Some(known) = self.known(&keys) {
            return Ok(Some(known));
        }
        let text = view.text(body, Rendering::Request).await?;
        if !budget.take(text.len()) {
            return Ok(None);
        }
        let _permit = self.parses.acquire(domain).await?;
        // Another request may have parsed the page in the meantime.
        if let Some(known) = self.known(&keys) {
            return Ok(Some(known));
        }
        let wanted: Arc<[String]> = nodes.iter().map(|node| (*node).to_owned()).collect();
        let found = run_on_text(&text, move |text| {
            document::block_texts(text, &wanted.iter().map(String::as_str).collect())
        });
        let found = found.await;
        for (node, key) in keys {
            self.cached.insert(key, found.get(node).map(|preview| preview.as_str().into()));
        }
        Ok(Some(found))
    }

    /// Returns the previews of blocks that exist if all blocks are cached.
    fn known(&self, keys: &BTreeMap<&str, Hash>) -> Option<BTreeMap<String, String>> {
        let mut known = BTreeMap::new();
        for (node, key) in keys {
            if let Some(preview) = self.cached.get(key)? {
                known.insert((*node).to_owned(), preview.to_string());
            }
        }
        Some(known)
    }
}
