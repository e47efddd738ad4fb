//! The complete page lists of a space, in parts of limited size.
//!
//! The navigation of a large space links to these lists for the entries that it omits, so that every page is reachable
//! without search and scripts.

use std::collections::BTreeSet;

use docs_core::Result;
use maud::{Markup, html};

use super::{
    Caches, ListPart, PageContext,
    entry_label::{brief, write_brief},
    head::PageHead,
    list_part::MAX_ENTRIES,
    parts::BreadcrumbPath,
    shell, tree,
};
use crate::{html::Html, page_tree::EntryKind, visit::Visit};

/// Each part links to the first part, the last part, and the parts at these distances.
const PART_DISTANCES: [usize; 6] = [1, 2, 3, 10, 100, 1_000];

/// Returns the page with a part of a list, by its file name. Returns `None` if the part does not exist.
///
/// # Errors
/// Errors of the platform.
pub(crate) async fn list_page(visit: &Visit, caches: &Caches, name: &str) -> Result<Option<String>> {
    let scene = PageContext::load(visit, caches).await?;
    Ok(ListPart::find(&scene.frame, name).map(|part| part.page(&scene)))
}

impl ListPart {
    /// Renders the page with the part.
    pub(crate) fn page(&self, scene: &PageContext<'_>) -> String {
        let title = match self.parent {
            None => scene.words.all_pages.to_owned(),
            Some(parent) => brief(&scene.frame.entries[parent].title).into_owned(),
        };
        let all = scene.frame.visible_children(self.parent);
        let start = self.number * MAX_ENTRIES;
        let entries = all.iter().skip(start).take(MAX_ENTRIES).map(|at| *at as usize);
        let items = Html::build_markup(|html| entries.for_each(|at| write_item(html, scene, at)));
        let main = html! {
            article.all-pages {
                (self.breadcrumbs(scene))
                h1 dir="auto" { (title) }
                ul.pages { (items) }
                (self.links(scene))
            }
        };
        let head = PageHead { title, ..PageHead::default() };
        shell::shell_with_markup(scene, &head, &main).into_string()
    }

    /// Renders links to the lists of the ancestors.
    fn breadcrumbs(&self, scene: &PageContext<'_>) -> Markup {
        let Some(parent) = self.parent else { return Markup::default() };
        let crumb = |at: Option<usize>| {
            let title = at.map(|at| brief(&scene.frame.entries[at].title));
            html! { li { a href=(ListPart::first(at).address(scene)) {
                (title.as_deref().unwrap_or(scene.words.all_pages))
            } } }
        };
        let way = BreadcrumbPath::new(&scene.frame, parent);
        html! {
            nav.crumbs dir="auto" aria-label=(scene.place.space.title) {
                ol {
                    (crumb(None))
                    @for at in way.start { (crumb(Some(at))) }
                    @if way.is_cut { li { "…" } }
                    @for at in way.end { (crumb(Some(at))) }
                }
            }
        }
    }

    /// Renders links to other parts of the list.
    fn links(&self, scene: &PageContext<'_>) -> Markup {
        let count = self.count(&scene.frame);
        if count < 2 {
            return Markup::default();
        }
        let near = |step: usize| [self.number.checked_sub(step), self.number.checked_add(step)];
        let numbers: BTreeSet<usize> =
            PART_DISTANCES.into_iter().flat_map(near).flatten().chain([0, self.number, count - 1]).collect();
        html! {
            nav.parts aria-label=(scene.words.all_pages) {
                ul {
                    @for number in numbers.into_iter().filter(|number| *number < count) {
                        @let is_here = number == self.number;
                        li { a href=(ListPart { number, ..*self }.address(scene))
                            aria-current=[is_here.then_some("page")] { (number + 1) } }
                    }
                }
            }
        }
    }
}

/// Writes an entry of a list, with a link to the list of its children.
fn write_item(html: &mut Html, scene: &PageContext<'_>, at: usize) {
    let entry = &scene.frame.entries[at];
    if let EntryKind::Link(target) = &entry.kind {
        tree::write_link(html, scene, entry, target);
        return;
    }
    let below = scene.frame.visible_children(Some(at)).len();
    let list = (below > 0).then(|| ListPart::first(Some(at)).address(scene));
    let page = match entry.kind {
        EntryKind::Document => scene.addresses.entry_address(&scene.addresses.space, &scene.frame, at),
        _ => None,
    };
    html.tags("<li>");
    match &page {
        Some(href) => {
            html.tags("<a").attribute(" href=\"", href).tags(" dir=\"auto\">");
            write_brief(html, entry);
            html.tags("</a>");
        }
        None => {
            html.tags("<span dir=\"auto\">");
            write_brief(html, entry);
            html.tags("</span>");
        }
    }
    if let Some(href) = list {
        let label = format!("{}: {} … {below}", scene.words.all_pages, brief(&entry.title));
        html.tags(" <a class=\"below\"").attribute(" href=\"", &href).attribute(" aria-label=\"", &label);
        html.tags(">… ").text(&below.to_string()).tags("</a>");
    }
    html.tags("</li>");
}
