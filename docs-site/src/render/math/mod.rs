//! Formulas as MathML.
//!
//! The parser is `docs-formula`, shared with the PDF writer. It limits the size, depth and macro expansion of a
//! formula. The number of rendered elements is limited here. A formula that cannot be parsed or exceeds a limit of the
//! page is shown as source.

mod draw;
mod letters;

use std::cell::Cell;

use docs_formula::MAX_FORMULA_BYTES;
use maud::{Markup, html};
use ratex_parser::ParseNode;

use self::draw::{Drawer, Font};

/// The maximum number of elements in a formula.
const MAX_ELEMENTS: u32 = 8_000;
/// The maximum number of formula bytes that are parsed per page.
const MAX_PAGE_BYTES: usize = 256 * 1024;
/// The maximum number of formula elements per page.
const MAX_PAGE_ELEMENTS: u32 = 100_000;

/// The remaining formula budget of a page.
#[derive(Debug)]
pub(super) struct Budget {
    bytes: Cell<usize>,
    elements: Cell<u32>,
}

impl Default for Budget {
    fn default() -> Self {
        Self { bytes: Cell::new(MAX_PAGE_BYTES), elements: Cell::new(MAX_PAGE_ELEMENTS) }
    }
}

impl Budget {
    /// Returns `true` if any part of the budget has been used.
    pub(super) const fn is_exhausted(&self) -> bool {
        self.bytes.get() < MAX_PAGE_BYTES || self.elements.get() < MAX_PAGE_ELEMENTS
    }

    /// Deducts the bytes of a formula. Returns `true` if the budget was sufficient.
    fn try_take(&self, bytes: usize) -> bool {
        let left = self.bytes.get().checked_sub(bytes);
        self.bytes.set(left.unwrap_or_default());
        left.is_some()
    }
}

/// Renders a display formula.
pub(super) fn block(formula: &str, budget: &Budget) -> Markup {
    match render_formula(formula, docs_formula::parse_display, budget) {
        Some(inner) => html! {
            div.math tabindex="0" { math display="block" { (semantics(&inner, formula)) } }
        },
        None => html! { pre.math tabindex="0" { code.math { (formula) } } },
    }
}

/// Renders an inline formula.
pub(super) fn inline(formula: &str, budget: &Budget) -> Markup {
    match render_formula(formula, docs_formula::within_text, budget) {
        Some(inner) => html! { math { (semantics(&inner, formula)) } },
        None => html! { code.math { (formula) } },
    }
}

/// Adds the TeX source as an annotation, which tools can copy.
fn semantics(inner: &Markup, formula: &str) -> Markup {
    html! {
        semantics {
            mrow { (inner) }
            annotation encoding="application/x-tex" { (formula) }
        }
    }
}

fn render_formula(
    formula: &str,
    parse: fn(&str) -> Option<Vec<ParseNode>>,
    budget: &Budget,
) -> Option<Markup> {
    if formula.len() > MAX_FORMULA_BYTES {
        return None;
    }
    let most = budget.elements.get().min(MAX_ELEMENTS);
    if most == 0 || !budget.try_take(formula.len()) {
        return None;
    }
    let nodes = parse(formula)?;
    let drawer = Drawer { left: Cell::new(most) };
    let drawn = drawer.row(&nodes, Font::default());
    budget.elements.set(budget.elements.get() - (most - drawer.left.get()));
    (drawer.left.get() > 0).then_some(drawn)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn formulas_render_as_mathml() {
        for (formula, expected) in [
            ("x^2", "<msup><mi>x</mi><mn>2</mn></msup>"),
            ("\\frac{a}{12}", "<mfrac><mi>a</mi><mn>12</mn></mfrac>"),
            ("\\sqrt[3]{x}", "<mroot><mi>x</mi><mn>3</mn></mroot>"),
            ("\\alpha \\le \\beta", "<mi>α</mi><mo>≤</mo><mi>β</mi>"),
            ("\\sin x", "<mi>sin</mi><mo>\u{2061}</mo><mi>x</mi>"),
            ("\\mathbb{R}", "<mi>ℝ</mi>"),
            ("\\mathbf{v}", "<mi>𝐯</mi>"),
            ("\\mathrm{d}x", "<mi mathvariant=\"normal\">d</mi>"),
            ("\\text{if } x", "<mtext>if\u{a0}</mtext>"),
            ("a < b & c", ""),
            // An unclosed element would contain everything after it, and browsers would not display it.
            ("a\\,b", "<mi>a</mi><mspace width=\"0.1667em\"></mspace><mi>b</mi>"),
            ("a\\quad b", "</mspace><mi>b</mi>"),
            ("x \\tag{1}", "<mspace width=\"2em\"></mspace>"),
            ("\\hat{x}", "<mover accent=\"true\"><mi>x</mi>"),
            ("\\left( x \\right)", "<mo fence=\"true\" stretchy=\"true\" form=\"prefix\">(</mo>"),
            ("\\begin{pmatrix} a & b \\\\ c & d \\end{pmatrix}", "<mtable"),
            ("\\color{red} x", "<mi>x</mi>"),
            ("x < y", "<mo>&lt;</mo>"),
            ("\\operatorname{<b>}", "&lt;"),
            ("\\binom{n}{k}", "linethickness=\"0\""),
            ("f'", "<mo>′</mo>"),
            ("\\overline{ab}", "<mover"),
            ("\\underbrace{x}_{n}", "⏟"),
        ] {
            let drawn = inline(formula, &Budget::default()).into_string();
            assert!(drawn.contains(expected), "{formula}: {drawn}");
            assert!(!drawn.contains("<b>") && !drawn.contains(" style="), "{formula}: {drawn}");
        }
        let sum = block("\\sum_{i=1}^n i", &Budget::default()).into_string();
        assert!(sum.contains("<munderover><mo") && sum.contains("display=\"block\""), "{sum}");
        assert!(block("a &= b \\\\ &= c", &Budget::default()).into_string().contains("<mtable"));
        assert!(inline("\\undefined{x}", &Budget::default()).into_string().starts_with("<code"));
    }

    #[test]
    fn formulas_beyond_the_page_budget_render_as_source() {
        // Formulas with many elements, and long formulas with few elements.
        for (formula, most) in [("x".repeat(2_000), 100), (format!("\\text{{{}}}", "x".repeat(3_900)), 100)] {
            let budget = Budget::default();
            let drawn =
                (0..most).filter(|_| inline(&formula, &budget).into_string().starts_with("<math")).count();
            assert!((40..most).contains(&drawn), "{drawn} of {most}");
            assert!(inline("x".repeat(4_000).as_str(), &budget).into_string().starts_with("<code"));
        }
    }

    #[test]
    fn hostile_formulas_do_not_hang_overflow_or_inject() {
        // The stack size of a request thread.
        let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(|| {
            for unit in [
                "{",
                "\\frac{",
                "^",
                "^{",
                "\\sqrt{",
                "\\left(",
                "\\begin{matrix}",
                "\\text{",
                "\\hat",
                "\\mathbf{",
                "\\def\\a{\\a\\a}\\a",
                "\\def\\a#1{#1#1}\\a{\\a{\\a{x}}}",
                "\\color{red}",
                "&",
                "\\\\",
                "<script>",
            ] {
                for end in ["", "}", "x"] {
                    let most = MAX_FORMULA_BYTES - 100;
                    let formula = format!("{}{}", unit.repeat(most / unit.len()), end);
                    let since = Instant::now();
                    let drawn = block(&formula, &Budget::default()).into_string();
                    assert!(since.elapsed() < Duration::from_secs(5), "{unit}");
                    assert!(!drawn.contains("<script"), "{unit}");
                }
            }
        });
        thread.expect("a thread").join().expect("no panic");
    }
}
