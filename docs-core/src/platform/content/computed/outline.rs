//! The pages of a specification, one per tag, independent of their location.

use std::collections::{HashMap, HashSet};

use crate::ports::{SpecLink, SpecOperation, SpecOutline, SpecScheme, SpecTag, SpecTagGroup};

/// Maximum nesting depth of tags. A deeper tag becomes a top-level page.
const MAX_LEVELS: usize = 8;

pub(super) struct SpecPages {
    pub(super) outline: SpecOutline,
    /// One page per tag in order, followed by one for untagged operations, if any.
    pub(super) pages: Vec<TagPage>,
    /// Indexes of the top-level pages.
    pub(super) roots: Vec<usize>,
    /// The groups of tags with top-level pages.
    pub(super) groups: Vec<TagGroup>,
    /// Approximate size in memory.
    pub(super) bytes: u64,
}

pub(super) struct TagPage {
    pub(super) tag: SpecTag,
    /// Indexes of the operations and webhooks with this tag.
    pub(super) operations: Vec<usize>,
    pub(super) webhooks: Vec<usize>,
    /// Indexes of its child pages.
    pub(super) children: Vec<usize>,
}

/// A group of tags.
pub(super) struct TagGroup {
    pub(super) name: String,
    /// Indexes of its top-level pages.
    pub(super) roots: Vec<usize>,
}

impl SpecPages {
    pub(super) fn new(mut outline: SpecOutline) -> Self {
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
        let groups = groups(&outline.groups, &by_name, &roots);
        outline.groups = Vec::new();
        // Lists that are read from JSON have spare capacity.
        outline.operations.shrink_to_fit();
        outline.webhooks.shrink_to_fit();
        outline.schemas.shrink_to_fit();
        let of_group = |group: &TagGroup| {
            size_of::<TagGroup>()
                + group.name.len()
                + size_of_val(group.roots.as_slice())
                + 2 * ALLOCATION_BYTES
        };
        let bytes = (weight(&outline, &pages) + groups.iter().map(of_group).sum::<usize>()) as u64;
        Self { outline, pages, roots, groups, bytes }
    }
}

/// Returns the groups that have pages. A tag belongs to its first group; a second group with the same name is ignored.
fn groups(all: &[SpecTagGroup], by_name: &HashMap<String, usize>, roots: &[usize]) -> Vec<TagGroup> {
    let mut left: HashSet<usize> = roots.iter().copied().collect();
    let mut names = HashSet::new();
    let named = all.iter().filter(|group| names.insert(&group.name));
    let groups = named.map(|group| {
        let tags = group.tags.iter().filter_map(|tag| by_name.get(tag).copied());
        TagGroup { name: group.name.clone(), roots: tags.filter(|tag| left.remove(tag)).collect() }
    });
    groups.filter(|group| !group.roots.is_empty()).collect()
}

/// Bytes of an allocation in addition to its content.
const ALLOCATION_BYTES: usize = 16;

/// Estimates the memory of the pages of a specification.
fn weight(outline: &SpecOutline, pages: &[TagPage]) -> usize {
    let text = |text: &str| if text.is_empty() { 0 } else { text.len() + ALLOCATION_BYTES };
    let optional = |own: &Option<String>| own.as_deref().map_or(0, text);
    let list = |all: &[String]| all.iter().map(|own| size_of::<String>() + text(own)).sum::<usize>();
    let operation = |of: &SpecOperation| {
        let texts = text(&of.method) + text(&of.path) + optional(&of.operation_id) + optional(&of.summary);
        size_of::<SpecOperation>() + texts + list(&of.tags)
    };
    let link = |of: &SpecLink| text(&of.text) + optional(&of.address);
    let pairs = |all: &[(String, String)]| {
        all.iter()
            .map(|(name, value)| size_of::<(String, String)>() + text(name) + text(value))
            .sum::<usize>()
    };
    let scheme = |of: &SpecScheme| {
        let texts = text(&of.name) + text(&of.kind) + optional(&of.description);
        size_of::<SpecScheme>() + texts + pairs(&of.fields) + pairs(&of.scopes) + 2 * ALLOCATION_BYTES
    };
    let page = |page: &TagPage| {
        let SpecTag { name, title, icon, summary, description, parent, docs } = &page.tag;
        let texts = [title, icon, summary, description, parent].map(optional).iter().sum::<usize>();
        let texts = texts + docs.as_ref().map_or(0, link);
        let indexes = page.operations.len() + page.webhooks.len() + page.children.len();
        // The index of a page in the list of its parent or of the top level.
        size_of::<TagPage>() + text(name) + texts + (indexes + 1) * size_of::<usize>()
    };
    let texts = text(&outline.openapi) + text(&outline.title) + text(&outline.version);
    let described = optional(&outline.description) + list(&outline.servers) + list(&outline.schemas);
    let operations = outline.operations.iter().chain(&outline.webhooks).map(operation).sum::<usize>();
    let links = outline.links.iter().map(|of| size_of::<SpecLink>() + link(of)).sum::<usize>();
    let described = described + links + outline.schemes.iter().map(scheme).sum::<usize>();
    let pages = pages.iter().map(page).sum::<usize>();
    size_of::<SpecPages>() + texts + described + operations + pages
}

/// Returns `true` if a tag has a parent and its chain of ancestors ends within [`MAX_LEVELS`] levels. The chain may be
/// a cycle.
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
    use std::sync::Arc;

    use docs_hostile::assert_weight;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn weights_of_specifications_are_their_memory() {
        let list = |count: usize, item: &dyn Fn(usize) -> Value| (0..count).map(item).collect::<Vec<_>>();
        for (name, more) in [
            (
                "operations",
                json!({ "operations": list(2_000, &|at| json!({ "method": "get", "path": format!("/{at}") })) }),
            ),
            (
                "described operations",
                json!({ "operations": list(500, &|at| json!({ "method": "get", "path": format!("/path/of/{at}"),
                    "operation_id": format!("operation{at}"), "summary": "a".repeat(200), "tags": ["a", "b"] })) }),
            ),
            ("tags", json!({ "tags": list(2_000, &|at| json!({ "name": format!("t{at}") })) })),
            (
                "described tags",
                json!({ "tags": list(50, &|at| json!({ "name": format!("t{at}"), "description": "a".repeat(4_000) })) }),
            ),
            (
                "schemes",
                json!({ "links": list(5, &|at| json!({ "text": format!("Link {at}"), "address": "https://a.example/" })),
                    "schemes": list(20, &|at| json!({ "name": format!("s{at}"), "kind": "oauth2", "description": "a".repeat(900),
                        "fields": list(4, &|at| json!([format!("field {at}"), "value"])),
                        "scopes": list(100, &|at| json!([format!("scope {at}"), "A description."])) })) }),
            ),
            (
                "groups",
                json!({ "tags": list(2_000, &|at| json!({ "name": format!("t{at}") })),
                    "groups": list(100, &|at| json!({ "name": format!("g{at}"), "tags": list(20, &|of| json!(format!("t{}", 20 * at + of))) })) }),
            ),
            ("schemas", json!({ "schemas": list(2_000, &|at| json!(format!("S{at}"))) })),
            (
                "one tag of all",
                json!({ "tags": [{ "name": "a" }], "operations": list(2_000, &|at|
                json!({ "method": "get", "path": format!("/{at}"), "tags": ["a"] })) }),
            ),
        ] {
            let mut outline = json!({ "openapi": "3.1.0", "title": "Pets", "version": "1" });
            outline.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
            let bytes = serde_json::to_vec(&outline).expect("JSON");
            let build = || {
                let outline: SpecOutline = serde_json::from_slice(&bytes).expect("an outline");
                Arc::new(SpecPages::new(outline))
            };
            assert_weight(name, build, |pages| pages.bytes);
        }
    }

    #[test]
    fn tags_below_the_last_level_are_at_the_top() {
        let parents: Vec<Option<usize>> = (0..=MAX_LEVELS).map(|at| at.checked_sub(1)).collect();
        let is_below = [0, 1, MAX_LEVELS - 1, MAX_LEVELS].map(|at| is_below_the_top(at, &parents));
        assert_eq!(is_below, [false, true, true, false]);
    }
}
