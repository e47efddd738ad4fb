//! A cache of generated pages. It allows reading one page without regenerating all computed pages of the space.

use std::{collections::BTreeMap, sync::Arc};

use serde::Serialize;

use super::{ComputedPlaces, GeneratedPage, PageLocation};
use crate::{
    Result,
    content::{PageTree, UniqueNames},
    platform::kernel::request::EntityTag,
};

/// The generated pages of a tree, each list with the index of the computed page it replaces.
pub(in crate::platform) type GeneratedPages = Vec<(usize, Vec<GeneratedPage>)>;

/// A cache of generated pages, keyed by a hash of all their inputs. Its size includes the outlines that they refer to.
/// Stores nothing unless the builder sets a size.
pub(in crate::platform) struct GeneratedPageCache(
    quick_cache::sync::Cache<EntityTag, Arc<GeneratedPages>, ByBytes>,
);

#[derive(Clone)]
struct ByBytes;

impl quick_cache::Weighter<EntityTag, Arc<GeneratedPages>> for ByBytes {
    fn weight(&self, _: &EntityTag, pages: &Arc<GeneratedPages>) -> u64 {
        let made =
            pages.iter().map(|(_, made)| made.first().map_or(0, GeneratedPage::shared_bytes) + bytes(made));
        256 + made.sum::<u64>()
    }
}

fn bytes(made: &[GeneratedPage]) -> u64 {
    made.iter().map(|page| page.own_bytes() + bytes(&page.pages)).sum()
}

impl Default for GeneratedPageCache {
    fn default() -> Self {
        Self::new(0)
    }
}

impl GeneratedPageCache {
    pub(in crate::platform) fn new(bytes: u64) -> Self {
        // A single shard, because an entry must fit into its shard.
        Self(quick_cache::sync::Cache::with_weighter(32, bytes, ByBytes))
    }

    /// Returns the generated pages for the computed pages at these indexes, from the cache if possible.
    pub(in crate::platform) fn get_or_make(
        &self,
        tree: &PageTree,
        places: &ComputedPlaces,
        shown: &[usize],
    ) -> Result<Arc<GeneratedPages>> {
        let key = key(tree, places, shown)?;
        Ok(self.get(&key).unwrap_or_else(|| self.insert(key, make(tree, places, shown))))
    }

    /// Returns the generated pages with this key, if they are cached.
    pub(in crate::platform) fn get(&self, key: &EntityTag) -> Option<Arc<GeneratedPages>> {
        self.0.get(key)
    }

    /// Caches generated pages under a key of all their inputs.
    pub(in crate::platform) fn insert(&self, key: EntityTag, made: GeneratedPages) -> Arc<GeneratedPages> {
        let made = Arc::new(made);
        self.0.insert(key, Arc::clone(&made));
        made
    }
}

/// Hashes all inputs of the generated pages.
fn key(tree: &PageTree, places: &ComputedPlaces, shown: &[usize]) -> Result<EntityTag> {
    #[derive(Serialize)]
    struct Facts<'t, S> {
        above: &'t str,
        parent: Option<usize>,
        source: S,
    }
    let mut beside: BTreeMap<Option<usize>, Vec<&str>> = BTreeMap::new();
    let mut facts = Vec::new();
    for page in shown.iter().filter_map(|at| tree.pages().get(*at)) {
        beside.entry(page.parent).or_insert_with(|| sibling_slugs(tree, page.parent).collect());
        let (above, parent) = (parent_path(tree, page.parent), page.parent);
        facts.push(Facts { above, parent, source: places.facts(&page.entry, &page.id) });
    }
    let beside: Vec<_> = beside.into_iter().collect();
    EntityTag::from_answer(&(shown, facts, beside))
}

fn make(tree: &PageTree, places: &ComputedPlaces, shown: &[usize]) -> GeneratedPages {
    let mut slugs: BTreeMap<Option<usize>, UniqueNames> = BTreeMap::new();
    let mut all = Vec::new();
    for at in shown {
        let Some(page) = tree.pages().get(*at) else { continue };
        let beside = slugs.entry(page.parent).or_insert_with(|| {
            let mut names = UniqueNames::default();
            names.extend(sibling_slugs(tree, page.parent).map(str::to_owned));
            names
        });
        let place = PageLocation { id: &page.id, above: parent_path(tree, page.parent), beside };
        all.extend(places.generate(&page.entry, place).map(|made| (*at, made)));
    }
    all
}

fn parent_path(tree: &PageTree, parent: Option<usize>) -> &str {
    parent.and_then(|at| tree.pages().get(at)).map_or("", |page| page.path.as_str())
}

/// Returns the slugs of the stored children of a page, or of the top-level pages.
fn sibling_slugs(tree: &PageTree, parent: Option<usize>) -> impl Iterator<Item = &str> {
    let beside = parent.and_then(|at| tree.pages().get(at)).map_or(tree.roots(), |page| &page.children);
    beside.iter().filter_map(|at| tree.pages().get(*at)).map(|page| page.entry.slug.as_str())
}
