//! The tree of the pages of a space.

use std::collections::HashSet;

use maud::{Markup, html};

use super::{
    Scene,
    parts::{CONTENT, TREE},
};
use crate::frame::{Entry, EntryKind};

/// Most entries of a tree that is shown as a whole. Of a larger one only the way to the page is, and what stands
/// beside it.
const MAX_WHOLE: usize = 300;
/// Deepest entries that are shown.
const MAX_DEPTH: usize = 12;

/// What is drawn of a tree.
struct Tree<'t> {
    scene: &'t Scene<'t>,
    current: Option<usize>,
    /// The entries that the page stands in.
    open: HashSet<usize>,
    is_whole: bool,
}

/// The tree as navigation has it.
pub(super) fn navigation(scene: &Scene<'_>, current: Option<usize>) -> Markup {
    let tree = Tree {
        scene,
        current,
        open: current.into_iter().flat_map(|at| scene.frame.above(at).chain([at])).collect(),
        is_whole: scene.frame.entries.len() <= MAX_WHOLE,
    };
    html! {
        nav.tree id=(TREE) aria-label=(scene.words.menu) {
            a.close-tree href={ "#" (CONTENT) } aria-label=(scene.words.skip) { "✕" }
            (tree.list(&scene.frame.top, 0))
        }
    }
}

impl Tree<'_> {
    fn list(&self, entries: &[usize], depth: usize) -> Markup {
        html! {
            ul {
                @for at in entries {
                    @let entry = &self.scene.frame.entries[*at];
                    @if !entry.is_hidden { (self.entry(*at, entry, depth)) }
                }
            }
        }
    }

    fn entry(&self, at: usize, entry: &Entry, depth: usize) -> Markup {
        let below = |at: &&usize| !self.scene.frame.entries[**at].is_hidden;
        let has_below = depth < MAX_DEPTH && entry.children.iter().any(|child| below(&child));
        match &entry.kind {
            EntryKind::Group => html! {
                li.group {
                    span.head dir="auto" { (named(entry)) }
                    @if has_below { (self.list(&entry.children, depth + 1)) }
                }
            },
            EntryKind::Document => {
                let is_here = self.current == Some(at);
                let href = self.scene.addresses.of_entry(&self.scene.addresses.space, &self.scene.frame, at);
                let is_open = self.open.contains(&at);
                let link = html! {
                    a href=[href] aria-current=[is_here.then_some("page")] dir="auto" { (named(entry)) }
                };
                match has_below {
                    false => html! { li { (link) } },
                    true if is_open || self.is_whole => html! {
                        li.branch {
                            (link)
                            details open[is_open] {
                                summary aria-label=(entry.title) {}
                                (self.list(&entry.children, depth + 1))
                            }
                        }
                    },
                    true => html! { li.branch.closed { (link) } },
                }
            }
            EntryKind::Link(target) => {
                let to = self.scene.addresses.target(target);
                match to.href {
                    // It would lead elsewhere from each page: what it was meant for is not there.
                    Some(href) if is_relative(&href) => {
                        html! { li { span.gone dir="auto" { (named(entry)) } } }
                    }
                    Some(href) => html! {
                        li { a href=(href) rel=[to.is_outside.then_some("noopener")] dir="auto" {
                            (named(entry)) @if to.is_outside { span.out aria-hidden="true" { " ↗" } }
                        } }
                    },
                    None => Markup::default(),
                }
            }
            EntryKind::Computed => Markup::default(),
        }
    }
}

/// Tells whether an address leads elsewhere from each page.
fn is_relative(href: &str) -> bool {
    !href.starts_with(['/', '#', '?']) && !href.contains(':')
}

/// The title of an entry, with its emoji.
fn named(entry: &Entry) -> Markup {
    html! {
        @if let Some(emoji) = &entry.emoji { span.emoji { (emoji) } " " }
        (entry.title)
    }
}
