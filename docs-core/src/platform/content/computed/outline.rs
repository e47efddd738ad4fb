//! The pages of a specification, one per tag, independent of their location.

use std::collections::HashMap;

use crate::ports::{SpecOperation, SpecOutline, SpecTag};

/// Maximum nesting depth of tags. A deeper tag becomes a top-level page.
const MAX_LEVELS: usize = 8;

pub(super) struct SpecPages {
    pub(super) outline: SpecOutline,
    /// One page per tag in order, followed by one for untagged operations, if any.
    pub(super) pages: Vec<TagPage>,
    /// Indexes of the top-level pages.
    pub(super) roots: Vec<usize>,
    /// Approximate size in memory.
    pub(super) bytes: u64,
}

pub(super) struct TagPage {
    pub(super) tag: SpecTag,
    /// Indexes of its operations. `webhooks` holds those of its webhooks.
    pub(super) operations: Vec<usize>,
    pub(super) webhooks: Vec<usize>,
    /// Indexes of its child pages.
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

/// Returns `true` if a tag has a parent and its ancestor chain ends within [`MAX_LEVELS`]. Parents may form a cycle.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_below_the_last_level_are_at_the_top() {
        let parents: Vec<Option<usize>> = (0..=MAX_LEVELS).map(|at| at.checked_sub(1)).collect();
        let is_below = [0, 1, MAX_LEVELS - 1, MAX_LEVELS].map(|at| is_below_the_top(at, &parents));
        assert_eq!(is_below, [false, true, true, false]);
    }
}
