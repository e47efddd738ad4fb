//! Formulas: the mathematics of TeX, read within bounds for pages of sites and for PDF files.
//!
//! A library reads them. It bounds how deep a formula goes, but lets its macros make so much that a formula of a line
//! takes some 30 MB. How long a formula is and how much its macros make is bounded here. What is not understood, or is
//! beyond a bound, is no formula, and is shown as its source.

use ratex_parser::{
    ParseNode, Parser,
    macro_expander::{MacroDefinition, MacroExpander},
    parse,
};

/// Longest formula that is read, in bytes.
pub const MAX_FORMULA_BYTES: usize = 4_000;
/// Most bytes that the macros of a formula make, when it defines some.
const GROWTH: usize = 32 << 10;
/// What the library lets macros make.
const LIBRARY: usize = 8 << 20;
/// In so many steps the difference is spent before such a formula is read.
const STEPS: usize = 32;
/// A name that no formula can use: it is neither one character nor behind a backslash.
const SPENT: &str = "spent";
/// What stands in the name of every command that defines a macro.
const DEFINING: [&str; 3] = ["def", "let", "command"];

/// Reads a formula within text; `None` when it is not understood, or too much.
#[must_use]
pub fn within_text(tex: &str) -> Option<Vec<ParseNode>> {
    let is_read = tex.len() <= MAX_FORMULA_BYTES && !tex.trim().is_empty() && !tex.contains('\0');
    is_read.then(|| bounded(tex)).flatten().filter(|nodes| !nodes.is_empty())
}

/// Reads a formula that stands alone; rows without an environment are aligned rows.
#[must_use]
pub fn alone(tex: &str) -> Option<Vec<ParseNode>> {
    let has_rows = || tex.len() <= MAX_FORMULA_BYTES && (tex.contains('&') || tex.contains("\\\\"));
    let rows = || bounded(&format!("\\begin{{aligned}}{tex}\\end{{aligned}}"));
    within_text(tex).or_else(|| has_rows().then(rows).flatten())
}

fn bounded(tex: &str) -> Option<Vec<ParseNode>> {
    if !DEFINING.iter().any(|part| tex.contains(part)) {
        return parse(tex).ok();
    }
    let mut parser = Parser::new(tex);
    spend(&mut parser.gullet)?;
    parser.parse().ok()
}

/// Leaves macros only so much of what the library lets them make: it has no setting for it, and counts what they made.
fn spend(macros: &mut MacroExpander<'_>) -> Option<()> {
    let first = macros.pop_token();
    let (mut call, mut large) = (first.clone(), first.clone());
    macros.push_token(first);
    SPENT.clone_into(&mut call.text);
    large.text = "x".repeat((LIBRARY - GROWTH) / STEPS);
    large.noexpand = true;
    macros.set_macro(SPENT.to_owned(), MacroDefinition::Tokens { tokens: vec![large], num_args: 0 });
    (0..STEPS).try_for_each(|_| macros.expand_tokens(vec![call.clone()]).ok().map(drop))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_with_macros_of_their_own_are_read() {
        for tex in [
            r"\def\R{\mathbb{R}} f: \R^n \to \R",
            r"\newcommand{\norm}[1]{\lVert #1 \rVert} \norm{x + y} \le \norm{x} + \norm{y}",
            r"\let\e\varepsilon \e > 0",
            r"\text{let } x = 1",
        ] {
            assert!(within_text(tex).is_some(), "{tex}");
        }
        assert!(alone(r"\def\a{x} \a &= b \\ &= c").is_some());
    }

    #[test]
    fn macros_that_grow_take_little_memory_and_are_no_formula() {
        let long = format!("\\def\\a{{{}}}{}", "é".repeat(60), "\\a\\sum_{i}^{n}".repeat(300));
        let doubled = r"\def\a{xx}\def\b{\a\a\a\a\a\a\a\a}\def\c{\b\b\b\b\b\b\b\b}\def\d{\c\c\c\c\c\c\c\c}\def\e{\d\d\d\d\d\d\d\d}\e";
        let argument = format!(r"\newcommand{{\b}}[1]{{#1#1}}{}x{}", r"\b{".repeat(30), "}".repeat(30));
        for tex in [long.as_str(), doubled, &argument] {
            let (read, peak) = docs_hostile::own_peak_of(|| within_text(tex));
            assert!(read.is_none(), "{tex}");
            assert!(peak < 12 << 20, "{peak} bytes: {tex}");
        }
    }
}
