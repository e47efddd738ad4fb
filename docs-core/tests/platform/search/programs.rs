//! Random edits: an incrementally updated index equals an index rebuilt from the store.

use std::{collections::BTreeSet, sync::Arc};

use docs_core::{
    model::{PageId, SpaceId},
    ports::{SearchIndex, search::PageDocument},
};
use docs_memstore::MemSearch;
use proptest::prelude::*;
use serde_json::json;

use super::{add_below, edit, space, world};
use crate::support::{World, block_on};

#[derive(Clone, Debug)]
enum Step {
    Insert(usize, String),
    Write(usize, String),
    Rename(usize, String),
    Describe(usize, String),
    Leave(usize, bool),
    Move(usize, usize),
    Remove(usize),
    Duplicate,
    DeleteSpace(usize),
    RestoreSpace(usize),
    Settle,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let text = || "(## )?[a-c]{1,3} [a-c]{1,3}(\n\n## [a-c]{1,3}\n\n[a-c]{1,3})?";
    let step = prop_oneof![
        5 => (0..8_usize, text()).prop_map(|(n, text)| Step::Insert(n, text)),
        4 => (0..8_usize, text()).prop_map(|(n, text)| Step::Write(n, text)),
        2 => (0..8_usize, "[a-c]{1,3}").prop_map(|(n, title)| Step::Rename(n, title)),
        1 => (0..8_usize, "[a-c]{0,3}").prop_map(|(n, text)| Step::Describe(n, text)),
        1 => (0..8_usize, any::<bool>()).prop_map(|(n, leave)| Step::Leave(n, leave)),
        2 => (0..8_usize, 0..8_usize).prop_map(|(n, into)| Step::Move(n, into)),
        2 => (0..8_usize).prop_map(Step::Remove),
        1 => Just(Step::Duplicate),
        1 => (0..3_usize).prop_map(Step::DeleteSpace),
        1 => (0..3_usize).prop_map(Step::RestoreSpace),
        3 => Just(Step::Settle),
    ];
    prop::collection::vec(step, 1..30)
}

/// The ids that steps may use. If one was deleted, the step is rejected.
#[derive(Default)]
struct Names {
    spaces: Vec<SpaceId>,
    pages: Vec<PageId>,
}

impl Names {
    fn page(&self, n: usize) -> Option<&PageId> {
        self.pages.get(n % self.pages.len().max(1))
    }
}

async fn apply(w: &World, names: &mut Names, step: Step) {
    let p = &w.platform;
    let live = names.spaces[0].clone();
    let change = |n: usize, field: &str, value: serde_json::Value| {
        let page = names.page(n)?;
        Some(json!([{ "operation": "update_page", "page": page, field: value }]))
    };
    let changes = match step {
        Step::Insert(n, text) => {
            let has = w.as_admin().space(&live).get().await.is_ok_and(|space| space.deleted_at.is_none());
            if has {
                let parent = names.page(n).filter(|_| n % 3 == 0).cloned();
                let top = match parent {
                    Some(parent) if exists(w, &live, &parent).await => Some(parent),
                    _ => None,
                };
                names.pages.push(add_below(w, &live, top.as_ref(), &format!("Page {n}"), &text).await);
            }
            None
        }
        Step::Write(n, text) => change(n, "document", json!({ "markdown": text })),
        Step::Rename(n, title) => change(n, "title", title.into()),
        Step::Describe(n, text) => change(n, "description", text.into()),
        Step::Leave(n, leave) => change(n, "noIndex", leave.into()),
        Step::Move(n, into) => change(n, "into", names.page(into).map(PageId::as_str).into()),
        Step::Remove(n) => names.page(n).map(|page| json!([{ "operation": "delete_page", "page": page }])),
        Step::Duplicate => {
            if names.spaces.len() < 3
                && let Ok(copy) = w.as_admin().space(&live).duplicate().await
            {
                names.spaces.push(copy.id);
            }
            None
        }
        Step::DeleteSpace(n) => {
            let space = &names.spaces[n % names.spaces.len()];
            w.as_admin().space(space).delete().await.expect("deleted");
            None
        }
        Step::RestoreSpace(n) => {
            // The request is rejected if the space is not deleted.
            drop(w.as_admin().space(&names.spaces[n % names.spaces.len()]).restore().await);
            None
        }
        Step::Settle => {
            p.settle().await.expect("settled");
            None
        }
    };
    if let Some(changes) = changes {
        drop(edit(w, &live, changes).await);
    }
}

async fn exists(w: &World, space: &SpaceId, page: &PageId) -> bool {
    let of = docs_core::platform::ContentVersion::space(space.clone());
    w.as_admin().content(&of).get_page(page, Default::default()).await.is_ok()
}

async fn held(index: &MemSearch) -> Vec<(SpaceId, Vec<PageDocument>)> {
    let mut held = Vec::new();
    for space in index.spaces(None, 100).await.expect("listed") {
        let documents = index.documents(&space).await.expect("documents");
        held.push((space, documents));
    }
    held
}

async fn run(steps: Vec<Step>) {
    let (w, index) = world().await;
    let mut names = Names { spaces: vec![space(&w, "Guide").await], pages: Vec::new() };
    for step in steps {
        apply(&w, &mut names, step).await;
    }
    w.platform.settle().await.expect("settled");
    let fresh = Arc::new(MemSearch::new());
    let again = w.beside(Arc::clone(&fresh) as Arc<dyn SearchIndex>);
    again.settle().await.expect("settled");
    let (followed, made) = (held(&index).await, held(&fresh).await);
    assert_eq!(followed, made);
    let spaces: BTreeSet<&SpaceId> = made.iter().map(|(space, _)| space).collect();
    assert!(spaces.len() <= names.spaces.len());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn incremental_index_equals_a_rebuilt_one(steps in steps()) {
        block_on(run(steps));
    }
}
