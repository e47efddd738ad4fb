//! The frame around the content of a page: cover, breadcrumbs, title, metadata, outline, and links to the previous and
//! next page.

use docs_core::model::{CoverMask, CoverSize, PageAction};
use maud::{Markup, html};
use url::Url;

use super::{
    ListPart, PageContext,
    entry_label::{brief, write_named},
    head::markdown_address,
    parts::BreadcrumbPath,
    tree::MAX_CARDS,
};
use crate::{
    encode::encode_path,
    html::{Html, NamedMarkup},
    page_tree::{EntryKind, PageTreeEntry},
};

/// Writes the content of a page with its title, breadcrumbs and navigation links.
pub(super) fn write_article(
    html: &mut Html,
    scene: &PageContext<'_>,
    at: usize,
    body: Option<impl Fn(&mut Html)>,
) {
    let page = &scene.frame.entries[at];
    let layout = page.layout;
    // Text direction follows the first strong character of each element, because preceding text may be in another
    // language.
    html.tags("<article>");
    if layout.cover {
        html.markup(&cover(scene, page));
    }
    html.markup(&breadcrumbs(scene, at));
    if layout.title {
        html.tags("<h1 dir=\"auto\">");
        write_named(html, page);
        html.tags("</h1>");
    }
    if let Some(text) = page.description_text().filter(|_| layout.description) {
        html.tags("<p class=\"lead\" dir=\"auto\">").text(text).tags("</p>");
    }
    match body {
        Some(write) => {
            let class = if layout.anchors { "text" } else { "text no-anchors" };
            html.tags("<div").attribute(" class=\"", class).tags(" dir=\"auto\">");
            write(html);
            html.tags("</div>");
        }
        None if scene.frame.visible_children(Some(at)).is_empty() => {
            html.tags("<p class=\"empty\">").text(scene.words.no_content).tags("</p>");
        }
        None => html.markup(&child_cards(scene, at)),
    }
    html.tags("</article>");
    if layout.pagination && scene.look.pagination.enabled {
        html.markup(&neighbor_links(scene, at));
    }
    if layout.metadata {
        html.markup(&metadata(scene, at));
    }
}

/// Renders cards for the children of a page without content.
fn child_cards(scene: &PageContext<'_>, at: usize) -> Markup {
    let below = scene.frame.visible_children(Some(at));
    html! {
        div.cards.medium {
            @for child in below.iter().take(MAX_CARDS).map(|child| *child as usize) {
                @let entry = &scene.frame.entries[child];
                @if entry.kind == EntryKind::Document {
                    @if let Some(href) = scene.addresses.entry_address(&scene.addresses.space, &scene.frame, child) {
                        a.card href=(href) {
                            span.name { (brief(&entry.title)) }
                            @if let Some(text) = entry.description_text() { span.about { (brief(text)) } }
                        }
                    }
                }
            }
        }
        @if below.len() > MAX_CARDS {
            p { a href=(ListPart::first(Some(at)).address(scene)) { (scene.words.all_pages) " (" (below.len()) ")" } }
        }
    }
}

fn cover(scene: &PageContext<'_>, page: &PageTreeEntry) -> Markup {
    let Some(cover) = &page.cover else { return Markup::default() };
    let picture = |of: &Option<_>| of.as_ref().and_then(|of| scene.addresses.picture(of));
    let Some(light) = picture(&cover.reference) else { return Markup::default() };
    let dark = picture(&cover.reference_dark);
    let is_full = page.layout.cover_size == CoverSize::Full;
    let is_masked = page.layout.cover_mask == CoverMask::Radial;
    html! {
        div.page-cover.full[is_full].masked[is_masked] {
            img class=[dark.is_some().then_some("for-light")] src=(light.src) alt="";
            @if let Some(dark) = dark { img.for-dark src=(dark.src) alt=""; }
        }
    }
}

/// Renders the breadcrumbs of a page.
fn breadcrumbs(scene: &PageContext<'_>, at: usize) -> Markup {
    let way = BreadcrumbPath::new(&scene.frame, at);
    if way.end.is_empty() {
        return Markup::default();
    }
    let crumb = |at: &usize| {
        let entry = &scene.frame.entries[*at];
        // A group has no page.
        let href = (entry.kind == EntryKind::Document)
            .then(|| scene.addresses.entry_address(&scene.addresses.space, &scene.frame, *at))
            .flatten();
        let title = brief(&entry.title);
        html! { li { @match href { Some(href) => a href=(href) { (title) }, None => (title) } } }
    };
    html! {
        nav.crumbs dir="auto" aria-label=(scene.place.space.title) {
            ol {
                @for at in &way.start { (crumb(at)) }
                @if way.is_cut { li { "…" } }
                @for at in &way.end { (crumb(at)) }
            }
        }
    }
}

/// Links to the previous and next page.
fn neighbor_links(scene: &PageContext<'_>, at: usize) -> Markup {
    let (before, behind) = scene.frame.neighbors(at);
    let link = |at: Option<usize>, class: &str, word: &str| {
        let at = at?;
        let href = scene.addresses.entry_address(&scene.addresses.space, &scene.frame, at)?;
        let rel = if class == "before" { "prev" } else { "next" };
        Some(html! {
            a class=(class) rel=(rel) href=(href) { span.word { (word) } span.name { (brief(&scene.frame.entries[at].title)) } }
        })
    };
    let before = link(before, "before", scene.words.previous);
    let behind = link(behind, "behind", scene.words.next);
    html! {
        @if before.is_some() || behind.is_some() {
            nav.beside aria-label={ (scene.words.previous) ", " (scene.words.next) } {
                @if let Some(link) = before { (link) }
                @if let Some(link) = behind { (link) }
            }
        }
    }
}

fn metadata(scene: &PageContext<'_>, at: usize) -> Markup {
    let changed_at = scene.frame.entries[at].changed_at();
    html! {
        div.metadata {
            @if let Some(time) = changed_at {
                span {
                    (scene.words.last_updated) " "
                    time datetime=(time) { (time.to_string().get(..10).unwrap_or_default()) }
                }
            }
            @if let Some(href) = edit_address(scene, at) {
                a href=(href) rel="noopener" { (scene.words.edit) }
            }
            @if scene.look.offers(PageAction::Markdown) && scene.frame.entries[at].layout.actions {
                @if let Some(href) = markdown_address(scene, at) { a href=(href) { (scene.words.as_markdown) } }
            }
        }
    }
}

/// Returns the URL of the form that edits the file of a page.
fn edit_address(scene: &PageContext<'_>, at: usize) -> Option<String> {
    let sync = scene.place.space.space.git_sync.as_ref().filter(|_| scene.look.offers(PageAction::Git))?;
    let file = scene.frame.entries[at].git.as_ref()?;
    // The repository URL may also be the URL of its file tree.
    let form = [&sync.repo_tree_url, &sync.url].into_iter().flatten().find_map(|tree| edit_form(tree))?;
    Some(format!("{form}/{}", encode_path(&file.path)))
}

/// Returns the URL of the edit form for the files of a tree, as used by GitHub and GitLab. Returns `None` for other
/// hosts, because their edit forms are unknown.
fn edit_form(tree: &str) -> Option<String> {
    let url = Url::parse(tree).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    let segments: Vec<&str> = url.path_segments()?.filter(|segment| !segment.is_empty()).collect();
    let at = match segments.windows(2).position(|pair| pair == ["-", "tree"]) {
        Some(at) => at + 1,
        None if segments.get(2) == Some(&"tree") => 2,
        None => return None,
    };
    let (before, branch) = (&segments[..at], segments.get(at + 1..).filter(|branch| !branch.is_empty())?);
    Some(format!("{}/{}/edit/{}", url.origin().ascii_serialization(), before.join("/"), branch.join("/")))
}

/// Writes the outline of a page.
pub(super) fn write_aside(
    html: &mut Html,
    scene: &PageContext<'_>,
    at: usize,
    outline: Option<&NamedMarkup>,
) {
    match outline.filter(|_| scene.frame.entries[at].layout.outline) {
        Some(outline) => html.write_named(outline),
        None => html.tags("<div class=\"outline empty\"></div>"),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edit_links_require_a_github_or_gitlab_tree_url() {
        for (tree, form) in [
            ("https://github.com/o/r/tree/main", Some("https://github.com/o/r/edit/main")),
            ("https://github.com/o/r/tree/main/docs/", Some("https://github.com/o/r/edit/main/docs")),
            ("https://code.test/o/r/tree/a%20b?x#y", Some("https://code.test/o/r/edit/a%20b")),
            ("https://gitlab.com/g/h/r/-/tree/main", Some("https://gitlab.com/g/h/r/-/edit/main")),
            ("http://code.test:8080/r/-/tree/a/b", Some("http://code.test:8080/r/-/edit/a/b")),
            ("https://github.com/o/r", None),
            ("https://github.com/o/r.git", None),
            ("https://github.com/o/r/tree", None),
            ("https://gitlab.com/o/r/-/tree/", None),
            ("https://code.test/o/r/src/branch/main", None),
            ("ssh://git@github.com/o/r/tree/main", None),
            ("javascript:alert(1)//o/r/tree/main", None),
            ("", None),
        ] {
            assert_eq!(edit_form(tree).as_deref(), form, "{tree}");
        }
    }
}
