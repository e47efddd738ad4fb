//! Rendering of tabs.

use super::{
    Renderer,
    blocks::{BlockKind, Blocks},
    escape,
};
use crate::{
    dom::{Dom, Id},
    main_content::is_tab_panel,
    text::collapse,
};

/// Maximum number of tabs next to each other. Further ones are rendered one after the other.
const MAX_TABS: usize = 50;
/// Classes of elements that contain the titles of tabs.
const TAB_LISTS: [&str; 4] = ["tabbed-labels", "nav-tabs", "tabs__list", "tab-list"];
/// The class of a title that is next to its panel.
const INLINE_LABEL: &str = "sd-tab-label";
/// The class of a group of code blocks with tabs.
const CODE_GROUP: &str = "vp-code-group";

impl Renderer<'_, '_> {
    /// Renders an element that contains titles and panels as tabs. Returns `false` for other elements.
    pub(super) fn tabs(&mut self, id: Id, out: &mut Blocks) -> bool {
        if !self.content.has_tabs {
            return false;
        }
        let dom = self.content.dom;
        let Some((titles, panels)) = tab_parts(dom, id) else { return false };
        let mut text = "{% tabs %}\n".to_owned();
        for (at, (title, panel)) in titles.iter().zip(panels).enumerate() {
            let mut blocks = Blocks::default();
            match dom.is_block(panel) {
                true => self.block(panel, &mut blocks),
                false => self.children(panel, &mut blocks),
            }
            let title = match collapse(&dom.text_of(*title, |id| matches!(dom.name(id), "svg" | "style"))) {
                title if title.is_empty() => format!("{}", at + 1),
                title => escape::tag_value(&title),
            };
            text.push_str(if at > 0 { "\n" } else { "" });
            text.push_str(&format!("{{% tab title=\"{title}\" %}}\n{}{{% endtab %}}\n", blocks.join()));
        }
        text.push_str("{% endtabs %}");
        out.push(&text, BlockKind::Other);
        true
    }
}

/// Returns the titles and panels of an element with tabs, if each panel has a title.
fn tab_parts(dom: &Dom, id: Id) -> Option<(Vec<Id>, Vec<Id>)> {
    let has_class = |id: Id, wanted: &str| dom.classes(id).iter().any(|class| class == wanted);
    let inline: Vec<Id> = dom.children(id).filter(|child| has_class(*child, INLINE_LABEL)).collect();
    let (titles, list) = if inline.is_empty() {
        let list = tab_list(dom, id)?;
        (titles(dom, list), Some(list))
    } else {
        (inline, None)
    };
    let panels = if has_class(id, CODE_GROUP) {
        let blocks = dom.children(id).find(|child| has_class(*child, "blocks"))?;
        dom.children(blocks).filter(|child| dom.is_block(*child)).take(MAX_TABS + 1).collect()
    } else {
        panels(dom, id, list)
    };
    let is_complete = panels.len() == titles.len() && (1..=MAX_TABS).contains(&panels.len());
    (is_complete && !has_other_content(dom, id, list, &titles, &panels)).then_some((titles, panels))
}

/// Returns `true` if an element contains text or figures outside of its titles and panels. Only an element within it
/// then consists of tabs.
fn has_other_content(dom: &Dom, id: Id, list: Option<Id>, titles: &[Id], panels: &[Id]) -> bool {
    let is_code_group = dom.classes(id).iter().any(|class| class == CODE_GROUP);
    let is_part = |below: Id| {
        Some(below) == list
            || titles.contains(&below)
            || panels.contains(&below)
            || matches!(dom.name(below), "style" | "script" | "input" | "label")
    };
    let is_figure =
        |below: Id| matches!(dom.name(below), "img" | "table" | "pre" | "iframe" | "video" | "audio");
    !is_code_group
        && (!dom.text_of(id, is_part).trim().is_empty()
            || dom.descendants(id, is_part).any(|below| !is_part(below) && is_figure(below)))
}

/// Returns the element with the titles: a child or grandchild.
fn tab_list(dom: &Dom, id: Id) -> Option<Id> {
    let is_code_group = dom.classes(id).iter().any(|class| class == CODE_GROUP);
    let is_list = |id: &Id| {
        dom.attribute(*id, "role") == Some("tablist")
            || dom
                .classes(*id)
                .iter()
                .any(|class| TAB_LISTS.contains(&class.as_str()) || (is_code_group && class == "tabs"))
    };
    let direct = dom.children(id).find(is_list);
    direct.or_else(|| {
        dom.children(id)
            .filter(|child| !is_tab_panel(dom, *child))
            .flat_map(|child| dom.children(child))
            .find(is_list)
    })
}

fn titles(dom: &Dom, list: Id) -> Vec<Id> {
    let below = |wanted: &dyn Fn(Id) -> bool| -> Vec<Id> {
        dom.descendants(list, |_| false).filter(|id| wanted(*id)).take(MAX_TABS + 1).collect()
    };
    let tabs = below(&|id| dom.attribute(id, "role") == Some("tab"));
    if !tabs.is_empty() {
        return tabs;
    }
    let labels = below(&|id| dom.name(id) == "label");
    if labels.is_empty() { below(&|id| dom.name(id) == "a") } else { labels }
}

/// Returns the panels below an element, without those within other panels.
fn panels(dom: &Dom, id: Id, list: Option<Id>) -> Vec<Id> {
    let mut found = Vec::new();
    let mut open = vec![dom.children(id)];
    while let Some(children) = open.last_mut() {
        match children.next() {
            Some(child) if Some(child) == list => {}
            Some(child) if is_tab_panel(dom, child) => found.push(child),
            // Panels are close to their titles.
            Some(child) if open.len() < 4 => open.push(dom.children(child)),
            Some(_) => {}
            None => drop(open.pop()),
        }
        if found.len() > MAX_TABS {
            break;
        }
    }
    found
}
