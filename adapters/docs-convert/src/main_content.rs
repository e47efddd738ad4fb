//! Separation of page content from the navigation around it.

use crate::{
    dom::{Dom, Id, NodeKind, ROOT},
    hint::hint_style,
    text::collapse,
};

/// Elements without visible content, or with content that documentation pages do not use.
const DROPPED_ELEMENTS: [&str; 22] = [
    "audio", "button", "canvas", "datalist", "dialog", "embed", "footer", "head", "input", "link", "map",
    "meta", "nav", "noscript", "object", "script", "select", "style", "svg", "template", "textarea", "title",
];
/// ARIA roles of page elements that are not content.
const DROPPED_ROLES: [&str; 6] = ["banner", "complementary", "contentinfo", "menu", "navigation", "search"];
/// Classes of page elements that are not content, or that are only shown on screen.
const DROPPED_CLASSES: [&str; 20] = [
    "breadcrumb",
    "breadcrumbs",
    "copy-button",
    "edit-page",
    "edit-this-page",
    "headerlink",
    "hash-link",
    "header-anchor",
    "heading-anchor",
    "mw-editsection",
    "navbox",
    "pagination-nav",
    "screen-reader-text",
    "skip-link",
    "sr-only",
    "table-of-contents",
    "theme-doc-breadcrumbs",
    "toc",
    "tocwrapper",
    "visually-hidden",
];

/// The content of a page within its tree.
#[derive(Debug)]
pub(crate) struct MainContent<'a> {
    pub(crate) dom: &'a Dom,
    /// The element that contains the content.
    pub(crate) top: Id,
    /// For each node, `true` if it is omitted.
    dropped: Vec<bool>,
    /// The heading that is the title of the page, if any. It is omitted from the content.
    heading: Option<Id>,
    /// Number of levels by which headings are lowered, so that none has the level of the title.
    pub(crate) shift: usize,
}

impl<'a> MainContent<'a> {
    /// Finds the content of a page: the element marked as main content, otherwise the body, without the navigation
    /// around it.
    pub(crate) fn find(dom: &'a Dom) -> Self {
        let body = body(dom);
        let top = main(dom, body);
        let mut content = Self { dom, top, dropped: vec![false; dom.len()], heading: None, shift: 0 };
        for id in dom.descendants(top, |_| false) {
            // Outside an article, a `header` belongs to the site, unless it contains the title.
            if is_dropped(dom, id) || (top == body && dom.name(id) == "header" && !has(dom, id, "h1")) {
                content.drop(id);
            }
        }
        content.find_heading();
        content
    }

    /// Uses a whole tree as content, for documents without navigation around it.
    pub(crate) fn from_tree(dom: &'a Dom) -> Self {
        let mut content = Self { dom, top: ROOT, dropped: vec![false; dom.len()], heading: None, shift: 0 };
        content.find_heading();
        content
    }

    /// Returns the text of the title heading.
    pub(crate) fn title(&self) -> Option<String> {
        let text = self.dom.text_of(self.heading?, |id| self.is_dropped(id));
        Some(collapse(&text)).filter(|title| !title.is_empty())
    }

    fn find_heading(&mut self) {
        let named = |id: &Id| !collapse(&self.dom.text_of(*id, |id| self.is_dropped(id))).is_empty();
        let heading = self.headings().find(named);
        let has_others = self.headings().nth(usize::from(heading.is_some())).is_some();
        self.shift = usize::from(has_others);
        self.heading = heading;
        if let Some(heading) = heading {
            self.drop(heading);
        }
    }

    fn headings(&self) -> impl Iterator<Item = Id> {
        let below = self.dom.descendants(self.top, |id| self.is_dropped(id));
        below.filter(|id| self.dom.name(*id) == "h1")
    }

    fn drop(&mut self, id: Id) {
        if let Some(dropped) = usize::try_from(id).ok().and_then(|id| self.dropped.get_mut(id)) {
            *dropped = true;
        }
    }

    /// Returns `true` if a node is omitted.
    pub(crate) fn is_dropped(&self, id: Id) -> bool {
        usize::try_from(id).is_ok_and(|id| self.dropped.get(id).copied().unwrap_or_default())
    }
}

fn body(dom: &Dom) -> Id {
    dom.descendants(ROOT, |_| false).find(|id| dom.name(*id) == "body").unwrap_or(ROOT)
}

/// Returns the element that contains the content.
fn main(dom: &Dom, body: Id) -> Id {
    let is_outside = |id: Id| is_dropped(dom, id);
    let is_main = |id: &Id| dom.name(*id) == "main" || dom.attribute(*id, "role") == Some("main");
    let has_text = |id: &Id| !dom.text_of(*id, is_outside).trim().is_empty();
    let main = dom.descendants(body, is_outside).find(|id| is_main(id) && has_text(id)).unwrap_or(body);
    let mut articles = dom.descendants(main, |id| is_outside(id) || dom.name(id) == "article");
    // The iterator does not descend into articles, so nested ones are ignored. If there are several articles, none of
    // them is the content.
    let article = find_articles(dom, main, &mut articles);
    article.filter(has_text).unwrap_or(main)
}

/// Returns the only article below an element, or `None` if there are several.
fn find_articles(dom: &Dom, top: Id, outside: &mut impl Iterator<Item = Id>) -> Option<Id> {
    let parents = std::iter::once(top).chain(outside);
    let mut found = parents.flat_map(|id| dom.children(id)).filter(|child| dom.name(*child) == "article");
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

fn is_dropped(dom: &Dom, id: Id) -> bool {
    let NodeKind::Element(name) = dom.kind(id) else { return false };
    if DROPPED_ELEMENTS.contains(&name) {
        // A checkbox before a list item shows its state.
        return name != "input" || dom.attribute(id, "type") != Some("checkbox");
    }
    let is_hidden = dom.attribute(id, "hidden").is_some() || dom.attribute(id, "aria-hidden") == Some("true");
    let classes = dom.classes(id);
    let is_aside = name == "aside" && hint_style(&classes).is_none();
    let is_role = dom.attribute(id, "role").is_some_and(|role| DROPPED_ROLES.contains(&role));
    is_hidden || is_aside || is_role || classes.iter().any(|class| DROPPED_CLASSES.contains(&class.as_str()))
}

fn has(dom: &Dom, top: Id, name: &str) -> bool {
    dom.descendants(top, |_| false).any(|id| dom.name(id) == name)
}
