//! TeX math parsing with limits, for site pages and PDF files.
//!
//! The parser library limits the nesting of a formula, but macros can expand so far that a one-line formula takes about
//! 30 MB. This crate limits the length of a formula and the size of its macro expansion. A formula that is unsupported
//! or exceeds a limit is displayed as source.

use ratex_parser::{
    ParseNode, Parser,
    macro_expander::{MacroDefinition, MacroExpander},
    parse,
};

/// Maximum length of a formula in bytes.
pub const MAX_FORMULA_BYTES: usize = 4_000;
/// Maximum size of the macro expansion in bytes, for formulas that define macros.
const MAX_EXPANSION_BYTES: usize = 32 << 10;
/// The library's limit on macro expansion, in bytes.
const LIBRARY_EXPANSION_BYTES: usize = 8 << 20;
/// Number of expansions that consume the difference between the two limits before a formula that defines macros is
/// parsed.
const SPENDING_EXPANSIONS: usize = 32;
/// A macro name that no formula can use, because it is neither a single character nor preceded by a backslash.
const SPENDING_MACRO: &str = "spent";
/// Substrings of the names of commands that define macros. Every such name contains one of them.
const DEFINITION_MARKERS: [&str; 3] = ["def", "let", "command"];

/// Parses an inline formula. Returns `None` if it is empty, unsupported or too large.
#[must_use]
pub fn within_text(tex: &str) -> Option<Vec<ParseNode>> {
    let is_read = tex.len() <= MAX_FORMULA_BYTES && !tex.trim().is_empty() && !tex.contains('\0');
    is_read.then(|| parse_bounded(tex)).flatten().filter(|nodes| !nodes.is_empty())
}

/// Parses a display formula. Rows outside an environment are parsed as rows of `aligned`.
#[must_use]
pub fn parse_display(tex: &str) -> Option<Vec<ParseNode>> {
    let has_rows = || tex.len() <= MAX_FORMULA_BYTES && (tex.contains('&') || tex.contains("\\\\"));
    let rows = || parse_bounded(&format!("\\begin{{aligned}}{tex}\\end{{aligned}}"));
    within_text(tex).or_else(|| has_rows().then(rows).flatten())
}

fn parse_bounded(tex: &str) -> Option<Vec<ParseNode>> {
    if !DEFINITION_MARKERS.iter().any(|part| tex.contains(part)) {
        return parse(tex).ok();
    }
    let mut parser = Parser::new(tex);
    spend_macro_budget(&mut parser.gullet)?;
    parser.parse().ok()
}

/// Consumes most of the library's macro expansion budget. The limit of the library is not configurable, but all
/// expanded bytes count towards it.
fn spend_macro_budget(macros: &mut MacroExpander<'_>) -> Option<()> {
    let first = macros.pop_token();
    let (mut call, mut large) = (first.clone(), first.clone());
    macros.push_token(first);
    SPENDING_MACRO.clone_into(&mut call.text);
    large.text = "x".repeat((LIBRARY_EXPANSION_BYTES - MAX_EXPANSION_BYTES) / SPENDING_EXPANSIONS);
    large.noexpand = true;
    macros.set_macro(SPENDING_MACRO.to_owned(), MacroDefinition::Tokens { tokens: vec![large], num_args: 0 });
    (0..SPENDING_EXPANSIONS).try_for_each(|_| macros.expand_tokens(vec![call.clone()]).ok().map(drop))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_with_macro_definitions_are_parsed() {
        for tex in [
            r"\def\R{\mathbb{R}} f: \R^n \to \R",
            r"\newcommand{\norm}[1]{\lVert #1 \rVert} \norm{x + y} \le \norm{x} + \norm{y}",
            r"\let\e\varepsilon \e > 0",
            r"\text{let } x = 1",
        ] {
            assert!(within_text(tex).is_some(), "{tex}");
        }
        assert!(parse_display(r"\def\a{x} \a &= b \\ &= c").is_some());
    }

    #[test]
    fn excessive_macro_expansion_is_rejected_within_12_mib() {
        let long = format!("\\def\\a{{{}}}{}", "é".repeat(60), "\\a\\sum_{i}^{n}".repeat(300));
        let doubled = r"\def\a{xx}\def\b{\a\a\a\a\a\a\a\a}\def\c{\b\b\b\b\b\b\b\b}\def\d{\c\c\c\c\c\c\c\c}\def\e{\d\d\d\d\d\d\d\d}\e";
        let argument = format!(r"\newcommand{{\b}}[1]{{#1#1}}{}x{}", r"\b{".repeat(30), "}".repeat(30));
        for tex in [long.as_str(), doubled, &argument] {
            let (read, peak) = docs_hostile::own_peak_of(|| within_text(tex));
            assert!(read.is_none(), "{tex}");
            assert!(peak < 12 << 20, "{peak} bytes: {tex}");
        }
    }

    #[test]
    fn formulas_longer_than_the_bound_are_not_parsed() {
        let text = |bytes: usize| "x".repeat(bytes);
        assert!(within_text(&text(MAX_FORMULA_BYTES)).is_some());
        assert!(within_text(&text(MAX_FORMULA_BYTES + 1)).is_none());
        assert!(parse_display(&format!("{} \\\\ y", text(MAX_FORMULA_BYTES))).is_none());
    }
}
