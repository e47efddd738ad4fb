//! Keys and weights for the caches of decoded content.

use std::sync::Arc;

use docs_markup::document;
use docs_store::Hash;
use quick_cache::{Equivalent, Weighter};

use crate::{PageTree, SharedDocument, map::MapNode};

/// The key of a cached object. The domain keeps the objects of different tenants apart.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Id {
    pub(super) domain: Arc<str>,
    pub(super) hash: Hash,
}

#[derive(PartialEq, Eq, Hash)]
pub(super) struct IdRef<'a> {
    pub(super) domain: &'a str,
    pub(super) hash: &'a Hash,
}

impl Equivalent<Id> for IdRef<'_> {
    fn equivalent(&self, id: &Id) -> bool {
        *self.domain == *id.domain && *self.hash == id.hash
    }
}

#[derive(Clone)]
pub(super) struct CacheWeight;

impl Weighter<Id, Arc<MapNode>> for CacheWeight {
    fn weight(&self, _: &Id, node: &Arc<MapNode>) -> u64 {
        node.weight() as u64 + 64
    }
}

impl Weighter<Id, Arc<str>> for CacheWeight {
    fn weight(&self, _: &Id, text: &Arc<str>) -> u64 {
        text.len() as u64 + 64
    }
}

impl Weighter<Id, Arc<PageTree>> for CacheWeight {
    fn weight(&self, _: &Id, tree: &Arc<PageTree>) -> u64 {
        tree.memory() + 64
    }
}

/// A document and its weight in bytes.
#[derive(Clone)]
pub(super) struct WeighedDocument {
    pub(super) document: SharedDocument,
    bytes: u64,
}

impl WeighedDocument {
    /// Returns the weight of the document parsed from a text.
    pub(super) fn new(document: SharedDocument, text: &str) -> Self {
        let bytes = (document::memory(&document) + text.len()) as u64;
        Self { document, bytes }
    }
}

impl Weighter<Id, WeighedDocument> for CacheWeight {
    fn weight(&self, _: &Id, document: &WeighedDocument) -> u64 {
        document.bytes + 64
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use docs_hostile::assert_weight;
    use docs_store::Key;
    use serde_json::{Value, json};

    use super::*;

    /// Returns the records of pages with these additional fields.
    fn records(pages: usize, more: &Value) -> Vec<(Key, Bytes)> {
        let record = |at: usize| {
            let id = format!("page{at:08}").parse().expect("an id");
            let mut entry = json!({ "kind": "document", "rank": format!("a{at:06}1"), "title": format!("Page {at}"),
                "slug": format!("page-{at}"), "createdAt": "2026-01-01T00:00:00Z" });
            let more = more.as_object().expect("an object").clone();
            entry.as_object_mut().expect("an object").extend(more);
            (crate::keys::page(&id), serde_json::to_vec(&entry).expect("JSON").into())
        };
        (0..pages).map(record).collect()
    }

    #[test]
    fn weights_of_page_trees_are_their_memory() {
        let text = "a".repeat(400);
        let extra: serde_json::Map<String, Value> = (0..50).map(|at| (format!("k{at}"), at.into())).collect();
        let nested = (0..40).fold(json!(1), |inner, _| json!([inner, {}]));
        for (name, more) in [
            ("short pages", json!({})),
            ("long titles", json!({ "title": text, "slug": text, "description": text })),
            ("pages from Git", json!({ "git": { "oid": "a".repeat(40), "path": text } })),
            ("unknown fields", json!({ "extra": extra })),
            ("nested fields", json!({ "extra": { "a": nested } })),
            ("links", json!({ "kind": "link", "slug": "", "target": { "kind": "url", "url": text } })),
        ] {
            for pages in [20, 2_000] {
                let records = records(pages, &more);
                let build = || Arc::new(PageTree::build(&records).expect("a tree"));
                assert_weight(&format!("{pages} {name}"), build, |tree| CacheWeight.weight(&id(), tree));
            }
        }
    }

    fn id() -> Id {
        Id { domain: "d".into(), hash: Hash::compute(b"") }
    }

    #[test]
    fn weights_of_nodes_are_their_memory() {
        for (name, value, entries) in
            [("small", 4, 40), ("medium", 300, 40), ("large", 20_000, 3), ("one", 4, 1)]
        {
            let value = Bytes::from(json!("a".repeat(value)).to_string());
            let all: Vec<_> = (0..entries)
                .map(|at| (format!("p/{at:08}").into(), crate::map::MapItem::Value(value.clone())))
                .collect();
            let (_, encoded) = MapNode::from_entries(0, &all);
            let decode = || Arc::new(MapNode::decode(&Bytes::copy_from_slice(&encoded)).expect("a node"));
            assert_weight(name, decode, |node| CacheWeight.weight(&id(), node));
        }
    }

    #[test]
    fn weights_of_documents_are_their_memory() {
        let rows = format!("| a | b |\n|---|---|\n{}", "| word | *two* |\n".repeat(300));
        for (name, text) in [
            ("words", "Some words of a text.\n\n".repeat(300)),
            ("marks", "*a* **b** `c` ".repeat(500)),
            ("links", "[a](https://example.com/b) ".repeat(300)),
            ("lists", "* a\n  * b\n".repeat(300)),
            ("code", format!("```rust\n{}```\n", "let a = 1;\n".repeat(500))),
            ("table", rows),
            ("images", "![a](https://example.com/b.png)\n\n".repeat(200)),
            ("headings", "# A heading\n\n".repeat(300)),
            ("hints", "{% hint style=\"info\" %}\na\n{% endhint %}\n\n".repeat(200)),
            ("formulas", "$$x^{y}$$ ".repeat(300)),
            ("long words", "a".repeat(100_000)),
        ] {
            let build = || WeighedDocument::new(SharedDocument::new(document::parse(&text)), &text);
            assert_weight(name, build, |document| CacheWeight.weight(&id(), document));
        }
    }
}
