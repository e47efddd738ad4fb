//! A translation of the handbook, which must change only the words of its pages.

use std::{collections::BTreeSet, sync::Arc};

use docs_core::{
    content::Evaluated,
    model::{Document, PageId, ReusableId, Revision, RevisionPage, SpaceId, TranslationStatus},
    platform::ContentOptions,
    ports::PseudoTranslator,
};
use serde_json::{Value, json};

use super::Handbook;

/// Collects the blocks of a document in preorder.
fn blocks<'v>(value: &'v Value, out: &mut Vec<&'v Value>) {
    if value["object"] == "block" {
        out.push(value);
    }
    for name in ["nodes", "fragments"] {
        value[name].as_array().into_iter().flatten().for_each(|node| blocks(node, out));
    }
}

/// Collects the inline content of a block that must not be translated, in order: code, links, variables, images,
/// formulas.
fn protected(value: &Value, out: &mut Vec<String>) {
    for node in value["nodes"].as_array().into_iter().flatten() {
        match node["object"].as_str() {
            Some("text") => {
                for leaf in node["leaves"].as_array().into_iter().flatten() {
                    let mut marks = leaf["marks"].as_array().into_iter().flatten();
                    if marks.any(|mark| mark["type"] == "code") {
                        out.push(format!("code {}", leaf["text"]));
                    }
                }
            }
            Some("inline") => {
                let mut data = node["data"].clone();
                if let Some(fields) = data.as_object_mut() {
                    // These fields contain translatable text.
                    fields.retain(|name, _| !matches!(name.as_str(), "title" | "label" | "caption" | "alt"));
                }
                out.push(format!("{} {data}", node["type"]));
                protected(node, out);
            }
            _ => {}
        }
    }
}

/// Collects all references in the data of a block.
fn references(value: &Value, out: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match name.as_str() {
                    "ref" | "refDark" => drop(out.insert(value.to_string())),
                    // Child blocks are visited separately.
                    "nodes" | "fragments" => {}
                    _ => references(value, out),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, out)),
        _ => {}
    }
}

/// Returns a value without node keys.
fn nameless(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.iter().filter(|(name, _)| *name != "key");
            fields.map(|(name, value)| (name.clone(), nameless(value))).collect()
        }
        Value::Array(items) => items.iter().map(nameless).collect(),
        value => value.clone(),
    }
}

/// Compares a document with its translation, block by block. Returns the number of blocks with different text.
fn compare(told: &str, before: &Document, after: &Document) -> usize {
    let [before, after] = [before, after].map(|document| serde_json::to_value(document).expect("JSON"));
    let (mut own, mut others) = (Vec::new(), Vec::new());
    blocks(&before, &mut own);
    blocks(&after, &mut others);
    assert_eq!(own.len(), others.len(), "{told}: the number of blocks");
    // Blocks with equal text have equal keys. The translation must not make different keys equal.
    let keys = |blocks: &[&Value]| {
        blocks.iter().filter_map(|block| block["key"].as_str()).collect::<BTreeSet<_>>().len()
    };
    assert_eq!(keys(&others), keys(&own), "{told}: each block has a key of its own");
    let mut translated = 0;
    for (own, other) in own.into_iter().zip(others) {
        let told = format!("{told}: {own}");
        assert_eq!(own["type"], other["type"], "{told}");
        if own["type"] == "code" {
            assert_eq!(own, other, "{told}: code is the same, byte by byte");
        }
        if own["type"].as_str().is_some_and(|kind| kind.starts_with("heading")) {
            assert_eq!(own["meta"]["id"], other["meta"]["id"], "{told}: the anchor");
        }
        let [mut kept, mut found] = [Vec::new(), Vec::new()];
        protected(own, &mut kept);
        protected(other, &mut found);
        assert_eq!(kept, found, "{told}");
        let [mut kept, mut found] = [BTreeSet::new(), BTreeSet::new()];
        references(own, &mut kept);
        references(other, &mut found);
        assert_eq!(kept, found, "{told}");
        if nameless(own) == nameless(other) {
            assert_eq!(own["key"], other["key"], "{told}: its key");
        } else {
            translated += 1;
        }
    }
    translated
}

impl Handbook {
    async fn revision(&self, space: &SpaceId) -> Revision {
        let me = self.platform.as_actor(&self.setup.admin);
        me.space(space).content().get(ContentOptions::default()).await.expect("read")
    }

    async fn page(&self, space: &SpaceId, page: &PageId) -> Document {
        let me = self.platform.as_actor(&self.setup.admin);
        me.space(space).content().get_page_document(page, Evaluated::No.into()).await.expect("read")
    }

    async fn reusable(&self, space: &SpaceId, reusable: &ReusableId) -> Document {
        let me = self.platform.as_actor(&self.setup.admin);
        me.space(space).content().get_reusable_document(reusable, Evaluated::No).await.expect("read")
    }
}

/// Collects the pages of a tree in order, each with its id, its language-independent fields, and its title.
fn flat(pages: &[RevisionPage], out: &mut Vec<(PageId, Value, String)>) {
    for page in pages {
        match page {
            RevisionPage::Document(page) => {
                let same = json!([page.variables, page.hidden, page.layout]);
                out.push((page.base.id.clone(), same, page.base.title.clone()));
                flat(&page.pages, out);
            }
            RevisionPage::Group(group) => flat(&group.pages, out),
            _ => {}
        }
    }
}

/// Code, links, variables, files, ids, and block keys are preserved.
#[tokio::test]
async fn translation_of_the_handbook_changes_only_its_words() {
    let book = Handbook::with(|builder| builder.translator(Arc::new(PseudoTranslator))).await;
    let new = json!({ "source": { "space": book.space, "language": "en" }, "language": "fr" });
    let new = serde_json::from_value(new).expect("a translation");
    let org = book.setup.org.clone();
    let me = book.platform.as_actor(&book.setup.admin);
    let id = me.org(&org).translations().create(new).await.expect("created").id;
    book.platform.settle().await.expect("settled");
    let done = me.org(&org).translation(&id).get().await.expect("there");
    assert_eq!(done.status, TranslationStatus::Completed);
    let target = done.result.expect("a result").space;
    let (before, after) = (book.revision(&book.space).await, book.revision(&target).await);
    assert_eq!(before.variables, after.variables);
    assert!(before.variables.is_some());
    let files = |revision: &Revision| -> Vec<_> {
        revision.files.iter().map(|file| (file.id.clone(), file.name.clone())).collect()
    };
    assert_eq!(files(&before), files(&after));
    let [mut pages, mut others] = [Vec::new(), Vec::new()];
    flat(&before.pages, &mut pages);
    flat(&after.pages, &mut others);
    assert_eq!(pages.len(), others.len());
    assert!(pages.len() >= 30, "{}", pages.len());
    let mut translated = 0;
    for ((page, same, title), (other, other_same, new_title)) in pages.iter().zip(&others) {
        assert_eq!((page, same), (other, other_same), "{title}");
        assert_ne!(title, new_title);
        let (own, new) = (book.page(&book.space, page).await, book.page(&target, other).await);
        translated += compare(title, &own, &new);
    }
    assert!(translated > 500, "{translated} blocks say something else");
    let reusables = |revision: &Revision| -> Vec<_> {
        revision.reusable_contents.iter().map(|reusable| reusable.id.clone()).collect()
    };
    assert_eq!(reusables(&before), reusables(&after));
    assert!(!before.reusable_contents.is_empty());
    for reusable in reusables(&before) {
        let (own, new) =
            (book.reusable(&book.space, &reusable).await, book.reusable(&target, &reusable).await);
        compare("a reusable content", &own, &new);
    }
}
