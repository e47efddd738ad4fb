//! The handbook in another language: every page says the same in other words, and nothing else of it is another.

use std::{collections::BTreeSet, sync::Arc};

use docs_core::{
    content::Evaluated,
    model::{Document, PageId, ReusableId, Revision, RevisionPage, SpaceId, TranslationStatus},
    platform::Shown,
    ports::PseudoTranslator,
};
use serde_json::{Value, json};

use super::Handbook;

/// The blocks of a document, each before those in it.
fn blocks<'v>(value: &'v Value, out: &mut Vec<&'v Value>) {
    if value["object"] == "block" {
        out.push(value);
    }
    for name in ["nodes", "fragments"] {
        value[name].as_array().into_iter().flatten().for_each(|node| blocks(node, out));
    }
}

/// What is in the text of a block and is no word: code, links, variables, pictures, formulas; in their order.
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
                    // What people read of it.
                    fields.retain(|name, _| !matches!(name.as_str(), "title" | "label" | "caption" | "alt"));
                }
                out.push(format!("{} {data}", node["type"]));
                protected(node, out);
            }
            _ => {}
        }
    }
}

/// What the data of a block refers to, wherever in it that is.
fn references(value: &Value, out: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match name.as_str() {
                    "ref" | "refDark" => drop(out.insert(value.to_string())),
                    // Other blocks have theirs.
                    "nodes" | "fragments" => {}
                    _ => references(value, out),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, out)),
        _ => {}
    }
}

/// A value without the names of what is in it.
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

/// Compares a document with its translation, block by block; answers how many blocks say something else.
fn compare(told: &str, before: &Document, after: &Document) -> usize {
    let [before, after] = [before, after].map(|document| serde_json::to_value(document).expect("JSON"));
    let (mut own, mut others) = (Vec::new(), Vec::new());
    blocks(&before, &mut own);
    blocks(&after, &mut others);
    assert_eq!(own.len(), others.len(), "{told}: the number of blocks");
    // Blocks that say the same have the same key; translations of others do not come to.
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
        me.space(space).content().get(Shown::default()).await.expect("read")
    }

    async fn page(&self, space: &SpaceId, page: &PageId) -> Document {
        let me = self.platform.as_actor(&self.setup.admin);
        me.space(space).content().get_page_document(page, Evaluated::No).await.expect("read")
    }

    async fn reusable(&self, space: &SpaceId, reusable: &ReusableId) -> Document {
        let me = self.platform.as_actor(&self.setup.admin);
        me.space(space).content().get_reusable_document(reusable, Evaluated::No).await.expect("read")
    }
}

/// The pages of a tree in their order: what is the same in every language, and what is not.
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

#[tokio::test]
async fn a_translation_of_the_handbook_keeps_its_code_its_links_its_variables_and_the_keys_of_its_blocks() {
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
