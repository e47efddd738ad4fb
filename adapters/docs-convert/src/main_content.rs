//! Separation of page content from the navigation around it.

use crate::{
    dom::{Dom, Id, NodeKind, ROOT},
    hint::hint_style,
    mathml::is_tex_annotation,
    text::collapse,
    warnings::Warnings,
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

/// Classes of the content of tabs.
const TAB_PANELS: [&str; 5] =
    ["tab-pane", "tab-panel", "tabbed-block", "sd-tab-content", "sphinx-tabs-panel"];
/// Classes of formulas as MathJax draws them, next to the script with their TeX.
const MATHJAX_CLASSES: [&str; 6] =
    ["mathjax", "mathjax_display", "mathjax_preview", "mathjax_svg", "mathjax_svg_display", "mathjax_chtml"];
/// Elements whose absence a reader notices, with their names for users.
const MISSING: [(&str, &str); 6] = [
    ("audio", "an audio file"),
    ("canvas", "a drawing"),
    ("embed", "an embedded object"),
    ("object", "an embedded object"),
    ("textarea", "a text field"),
    ("video", "a video"),
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
    /// `true` if the content may have formulas.
    pub(crate) has_formulas: bool,
    /// `true` if the content has panels of tabs.
    pub(crate) has_tabs: bool,
}

impl<'a> MainContent<'a> {
    /// Finds the content of a page: the element marked as main content, otherwise the body, without the navigation
    /// around it.
    pub(crate) fn find(dom: &'a Dom, warnings: &mut Warnings) -> Self {
        let body = body(dom);
        let top = main(dom, body);
        let mut content = Self::new(dom, top);
        let mut has_scripts = false;
        for id in dom.descendants(top, |_| false) {
            // Outside an article, a `header` belongs to the site, unless it contains the title.
            if is_dropped(dom, id) || (top == body && dom.name(id) == "header" && !has(dom, id, "h1")) {
                content.drop(id);
            }
            let name = dom.name(id);
            has_scripts |= is_formula_script(dom, id);
            content.has_formulas |= name == "math" || has_class_like(dom, id, "math");
            content.has_tabs |= is_tab_panel(dom, id) || has_class_like(dom, id, "vp-code-group");
            if name == "semantics" && dom.children(id).any(|child| is_tex_annotation(dom, child)) {
                dom.children(id)
                    .filter(|child| !is_tex_annotation(dom, *child))
                    .for_each(|child| content.drop(child));
            }
        }
        content.has_formulas |= has_scripts;
        for id in dom.descendants(top, |_| false).filter(|_| has_scripts) {
            if dom.classes(id).iter().any(|class| MATHJAX_CLASSES.contains(&class.as_str())) {
                content.drop(id);
            }
        }
        content.warn(warnings);
        content.find_heading();
        content
    }

    /// Reports the elements in the content that pages cannot contain.
    fn warn(&self, warnings: &mut Warnings) {
        let shown = self.dom.descendants(self.top, |id| self.is_dropped(id));
        for id in std::iter::once(self.top).chain(shown) {
            for child in self.dom.children(id) {
                let kind = MISSING.iter().find(|(name, _)| *name == self.dom.name(child));
                if let Some((_, kind)) = kind.filter(|(name, _)| *name == "video" || self.is_dropped(child)) {
                    warnings.left_out(kind);
                }
            }
        }
    }

    fn new(dom: &'a Dom, top: Id) -> Self {
        let dropped = vec![false; dom.len()];
        Self { dom, top, dropped, heading: None, shift: 0, has_formulas: false, has_tabs: false }
    }

    /// Uses a whole tree as content, for documents without navigation around it.
    pub(crate) fn from_tree(dom: &'a Dom) -> Self {
        let mut content = Self { has_formulas: true, ..Self::new(dom, ROOT) };
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
    // Confluence marks the content of a page by its id and class.
    let is_main = |id: &Id| {
        dom.name(*id) == "main"
            || dom.attribute(*id, "role") == Some("main")
            || (dom.attribute(*id, "id") == Some("main-content") && has_class_like(dom, *id, "wiki-content"))
    };
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
    match name {
        // A checkbox before a list item shows its state.
        "input" => return dom.attribute(id, "type") != Some("checkbox"),
        "script" => return !is_formula_script(dom, id),
        "annotation" => return !is_tex_annotation(dom, id),
        _ if DROPPED_ELEMENTS.contains(&name) => return true,
        _ => {}
    }
    let is_hidden = dom.attribute(id, "hidden").is_some() || dom.attribute(id, "aria-hidden") == Some("true");
    // A page shows one panel at a time.
    let is_hidden = is_hidden && !is_tab_panel(dom, id);
    let classes = dom.classes(id);
    let is_aside = name == "aside" && hint_style(&classes).is_none();
    let is_role = dom.attribute(id, "role").is_some_and(|role| DROPPED_ROLES.contains(&role));
    is_hidden || is_aside || is_role || classes.iter().any(|class| DROPPED_CLASSES.contains(&class.as_str()))
}

/// Returns `true` if an element is the content of a tab.
pub(crate) fn is_tab_panel(dom: &Dom, id: Id) -> bool {
    dom.attribute(id, "role") == Some("tabpanel")
        || (has_class_like(dom, id, "tab")
            && dom.classes(id).iter().any(|class| TAB_PANELS.contains(&class.as_str())))
}

/// Returns `true` if a script contains a formula that MathJax draws.
fn is_formula_script(dom: &Dom, id: Id) -> bool {
    dom.name(id) == "script" && dom.attribute(id, "type").is_some_and(|kind| kind.starts_with("math/tex"))
}

/// Returns `true` if the class of an element contains a word. It is cheaper than reading all classes.
fn has_class_like(dom: &Dom, id: Id, word: &str) -> bool {
    dom.attribute(id, "class").is_some_and(|class| class.contains(word))
}

fn has(dom: &Dom, top: Id, name: &str) -> bool {
    dom.descendants(top, |_| false).any(|id| dom.name(id) == name)
}
