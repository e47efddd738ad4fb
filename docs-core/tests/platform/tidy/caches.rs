//! The caches of a server share one budget.

use std::{collections::BTreeMap, fs};

use super::{files, root};

/// The files that create caches, with the number of caches. Each cache uses a part of `CacheBudget`, except the last
/// five: 20,000 decisions of a few dozen bytes, 10,000 previews of at most 200 characters, 20,000 decisions on parts of
/// sites, 8 MiB each of conditions and of visible pages, and 1,000 summaries of web pages of at most 1,600 characters.
const CACHES: &[(&str, usize)] = &[
    ("docs-core/src/platform/content/computed.rs", 1),
    ("docs-core/src/platform/content/computed/cache.rs", 1),
    ("docs-core/src/platform/content/openapi_specs/subjects.rs", 1),
    ("docs-core/src/platform/content/read/page_trees.rs", 1),
    ("docs-site/src/descriptions.rs", 1),
    ("docs-site/src/machine/list_cache.rs", 1),
    ("docs-site/src/page/cache.rs", 5),
    ("docs-site/src/page_tree_cache.rs", 1),
    ("docs-site/src/site_cache.rs", 5),
    ("engine/docs-content/src/load.rs", 4),
    ("docs-core/src/platform/content/read/visitor_bearer.rs", 1),
    ("docs-core/src/platform/content/comments/previews.rs", 1),
    ("docs-core/src/platform/publishing/visitors/condition_work.rs", 1),
    ("docs-core/src/platform/publishing/visitors/decisions.rs", 2),
    ("docs-core/src/platform/content/by_url/web_page.rs", 1),
];

#[test]
fn every_cache_is_part_of_the_budget() {
    let mut found = BTreeMap::new();
    for file in files(root(), "rs") {
        let path = file.strip_prefix(root()).expect("a file of the workspace").to_string_lossy().into_owned();
        let text = fs::read_to_string(&file).expect("a file");
        let product = text.split("#[cfg(test)]").next().unwrap_or_default();
        let caches =
            product.matches("Cache::with_weighter(").count() + product.matches("sync::Cache::new(").count();
        if caches > 0 && !path.contains("/tests/") {
            found.insert(path, caches);
        }
    }
    let known: BTreeMap<String, usize> =
        CACHES.iter().map(|(path, caches)| ((*path).to_owned(), *caches)).collect();
    assert_eq!(
        found, known,
        "give a new cache a part of `CacheBudget`, and test its weights with `assert_weight`"
    );
}
