//! The pages of a specification, wherever they are shown: one a tag.

use std::collections::HashMap;

use crate::ports::{SpecOperation, SpecOutline, SpecTag};

/// Most levels of tags below one another: what is deeper stands at the top.
const MAX_LEVELS: usize = 8;

/// The pages of a version.
pub(super) struct SpecPages {
    pub(super) outline: SpecOutline,
    /// A page for each tag, in their order; then the one of what has no tag, if there is any.
    pub(super) pages: Vec<TagPage>,
    /// The pages at the top.
    pub(super) roots: Vec<usize>,
    /// About what it takes in memory.
    pub(super) bytes: u64,
}

/// The page of a tag.
pub(super) struct TagPage {
    pub(super) tag: SpecTag,
    /// The numbers of the operations, and of the webhooks, that it shows.
    pub(super) operations: Vec<usize>,
    pub(super) webhooks: Vec<usize>,
    /// The pages below it.
    pub(super) children: Vec<usize>,
}

impl SpecPages {
    pub(super) fn new(mut outline: SpecOutline, bytes: u64) -> Self {
        let tags = std::mem::take(&mut outline.tags);
        let by_name: HashMap<String, usize> = tags.iter().map(|tag| tag.name.clone()).zip(0..).collect();
        let parents: Vec<Option<usize>> =
            tags.iter().map(|tag| tag.parent.as_ref().and_then(|name| by_name.get(name)).copied()).collect();
        let page = |tag| TagPage { tag, operations: Vec::new(), webhooks: Vec::new(), children: Vec::new() };
        let mut pages: Vec<TagPage> = tags.into_iter().map(page).collect();
        let mut rest = page(SpecTag { name: "Default".to_owned(), ..SpecTag::default() });
        let mut sort = |operations: &[SpecOperation], shown: fn(&mut TagPage) -> &mut Vec<usize>| {
            for (number, operation) in operations.iter().enumerate() {
                if operation.tags.is_empty() {
                    shown(&mut rest).push(number);
                }
                for tag in &operation.tags {
                    if let Some(page) = by_name.get(tag).and_then(|at| pages.get_mut(*at)) {
                        shown(page).push(number);
                    }
                }
            }
        };
        sort(&outline.operations, |page| &mut page.operations);
        sort(&outline.webhooks, |page| &mut page.webhooks);
        let mut roots = Vec::new();
        for at in 0..pages.len() {
            match parents.get(at).copied().flatten().filter(|_| is_below_the_top(at, &parents)) {
                Some(parent) => pages[parent].children.push(at),
                None => roots.push(at),
            }
        }
        if !rest.operations.is_empty() || !rest.webhooks.is_empty() {
            roots.push(pages.len());
            pages.push(rest);
        }
        Self { outline, pages, roots, bytes: 3 * bytes }
    }
}

/// Tells whether a tag has a parent, and all above it end at the top after few steps: parents may be in a circle.
fn is_below_the_top(at: usize, parents: &[Option<usize>]) -> bool {
    let mut above = at;
    for _ in 0..MAX_LEVELS {
        match parents.get(above).copied().flatten() {
            Some(parent) => above = parent,
            None => return above != at,
        }
    }
    false
}
