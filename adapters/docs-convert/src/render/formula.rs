//! Rendering of formulas.

use super::{Renderer, blocks::Blocks};
use crate::{
    dom::{Dom, Id, NodeKind},
    mathml, tex,
};

/// Maximum length of a formula between delimiters in bytes. A longer one remains text.
const MAX_FORMULA_BYTES: usize = 16_384;
/// Classes of elements whose text is a formula between `\(` and `\)` or `\[` and `\]`.
const DELIMITED_CLASSES: [&str; 2] = ["math", "arithmatex"];
/// Classes of elements that contain a formula on its own line.
const DISPLAY_CLASSES: [&str; 3] = ["katex-display", "mwe-math-element-block", "math-display"];

impl Renderer<'_, '_> {
    /// Returns the TeX of an element that is a formula.
    pub(super) fn formula(&self, id: Id) -> Option<String> {
        if !self.content.has_formulas {
            return None;
        }
        let dom = self.content.dom;
        let tex = match dom.name(id) {
            "formula" | "formula-block" | "annotation" | "script" => {
                mathml::normalize(&dom.text_of(id, |_| false))
            }
            "math" => mathml::formula(dom, id),
            _ => return delimited(dom, id).map(|(tex, _)| tex),
        };
        Some(tex)
    }

    /// Renders an element as a formula on its own line. Returns `false` for other elements.
    pub(super) fn display_formula(&self, id: Id, out: &mut Blocks) -> bool {
        let Some(tex) = self.display_tex(id).filter(|tex| !tex.is_empty()) else { return false };
        out.push_other(&format!("$$\n{tex}\n$$"));
        true
    }

    fn display_tex(&self, id: Id) -> Option<String> {
        if !self.content.has_formulas {
            return None;
        }
        let dom = self.content.dom;
        let has_display = |value: &str| dom.attribute(id, "display") == Some(value);
        match dom.name(id) {
            "formula-block" => self.formula(id),
            "math" if has_display("block") => self.formula(id),
            "script" if dom.attribute(id, "type").is_some_and(|kind| kind.contains("mode=display")) => {
                self.formula(id)
            }
            "mjx-container" if has_display("true") => self.formula_within(id),
            "span" | "div" if self.is_display(id) => self.formula_within(id),
            _ => delimited(dom, id).filter(|(_, is_display)| *is_display).map(|(tex, _)| tex),
        }
    }

    fn is_display(&self, id: Id) -> bool {
        self.content.dom.classes(id).iter().any(|class| DISPLAY_CLASSES.contains(&class.as_str()))
    }

    fn formula_within(&self, id: Id) -> Option<String> {
        let dom = self.content.dom;
        let mut below = dom.descendants(id, |id| self.content.is_dropped(id));
        let found = below.find(|id| matches!(dom.name(*id), "math" | "annotation" | "script"))?;
        self.formula(found)
    }
}

/// Returns the TeX of an element that contains it between delimiters, and `true` if it has its own line.
fn delimited(dom: &Dom, id: Id) -> Option<(String, bool)> {
    if !matches!(dom.name(id), "span" | "div" | "p") {
        return None;
    }
    let classes = dom.classes(id);
    classes.iter().find(|class| DELIMITED_CLASSES.contains(&class.as_str()))?;
    let text = short_text(dom, id)?;
    let text = text.trim();
    let within = |begin: &str, end: &str| text.strip_prefix(begin)?.strip_suffix(end);
    let (tex, is_display) = match (within("\\(", "\\)"), within("\\[", "\\]")) {
        (Some(tex), _) => (tex, false),
        (_, Some(tex)) => (tex, true),
        _ => return None,
    };
    // Several formulas in one element remain text.
    let is_one = !["\\(", "\\[", "\\)", "\\]"].iter().any(|sign| without_breaks(tex).contains(sign));
    Some((tex::normalize(tex), is_display)).filter(|(tex, _)| is_one && !tex.is_empty())
}

/// Returns the text of an element that begins with a delimiter and is at most [`MAX_FORMULA_BYTES`] long.
fn short_text(dom: &Dom, id: Id) -> Option<String> {
    let mut text = String::new();
    for below in dom.descendants(id, |_| false) {
        let NodeKind::Text(part) = dom.kind(below) else { continue };
        if text.len() + part.len() > MAX_FORMULA_BYTES {
            return None;
        }
        text.push_str(part);
        let start = text.trim_start();
        if !start.is_empty() && !start.starts_with('\\') {
            return None;
        }
    }
    Some(text)
}

/// Removes line breaks of TeX, because `\\[` is a break with a distance.
fn without_breaks(tex: &str) -> String {
    tex.replace("\\\\", "")
}
