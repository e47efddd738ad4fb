//! Tests of content that follows other content.

use docs_model::PageId;
use proptest::prelude::*;

use super::{
    merges::{program, random},
    *,
};

/// Returns texts of all pages and reusable content blocks for following content: upper-cased, each with a title.
fn texts(content: &Content, root: Hash) -> FollowTexts {
    let view = content.view(DOMAIN, root);
    let tree = now(view.tree()).unwrap();
    let mut texts = FollowTexts::default();
    for page in tree.pages() {
        let body = now(content.body_text(DOMAIN, &page.entry.body, Rendering::Request)).unwrap();
        let page_texts = PageTexts {
            title: page.entry.title.to_uppercase(),
            description: page.entry.description.as_ref().map(|text| text.to_uppercase()),
            body: body.to_uppercase().as_str().into(),
        };
        texts.pages.insert(page.id.clone(), page_texts);
    }
    for (id, entry) in now(view.reusables(None, 1_000)).unwrap() {
        let body = now(content.body_text(DOMAIN, &entry.body, Rendering::Request)).unwrap();
        let title = entry.title.to_uppercase();
        texts.reusables.insert(id, ReusableTexts { title, body: body.to_uppercase().as_str().into() });
    }
    texts
}

fn follow(content: &Content, follow: FollowUpdate, texts: &FollowTexts) -> Hash {
    let root = now(content.follow(DOMAIN, follow, texts)).unwrap();
    sound(content, root);
    root
}

fn from_nothing(content: &Content, to: Hash) -> Hash {
    let nothing = Content::empty_hash();
    follow(content, FollowUpdate { from: nothing, to, onto: nothing }, &texts(content, to))
}

/// Returns the pages of a revision without their texts.
fn frames(content: &Content, root: Hash) -> Vec<(PageId, PageEntry)> {
    let tree = now(content.view(DOMAIN, root).tree()).unwrap();
    let bare = |entry: &PageEntry| PageEntry {
        title: entry.title.to_uppercase(),
        description: entry.description.as_ref().map(|text| text.to_uppercase()),
        body: Body::Empty,
        clash: JsonText::default(),
        ..entry.clone()
    };
    tree.pages().iter().map(|page| (page.id.clone(), bare(&page.entry))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn incremental_follow_equals_full_follow(start in program(), edits in program()) {
        let content = content();
        let empty = now(content.empty_root(DOMAIN)).unwrap();
        let first = random(&content, empty, &start);
        let second = random(&content, first, &edits);
        let onto = from_nothing(&content, first);
        prop_assert_eq!(frames(&content, onto), frames(&content, first));
        let all = texts(&content, second);
        // Pass only the texts that changed.
        let before = texts(&content, first);
        let mut new = all;
        new.pages.retain(|id, page| before.pages.get(id) != Some(page));
        new.reusables.retain(|id, reusable| before.reusables.get(id) != Some(reusable));
        let step = follow(&content, FollowUpdate { from: first, to: second, onto }, &new);
        prop_assert_eq!(step, from_nothing(&content, second));
        prop_assert_eq!(frames(&content, step), frames(&content, second));
    }
}
