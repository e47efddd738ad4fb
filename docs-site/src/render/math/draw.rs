//! MathML elements for parsed formulas.

use std::cell::Cell;

use maud::{Markup, html};
use ratex_font::get_symbol;
use ratex_parser::{
    Mode, ParseNode,
    parse_node::{AlignSpec, AlignType, AtomFamily, Measurement, StyleStr},
};

use super::letters::Alphabet;

/// The maximum length of a shift, in em.
const LARGEST_SHIFT_EM: f64 = 20.0;

/// The current font.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Font(Alphabet);

/// Renders one formula.
#[derive(Debug)]
pub(super) struct Drawer {
    /// The remaining number of elements. A formula that exceeds it is shown as source.
    pub(super) left: Cell<u32>,
}

impl Drawer {
    /// Renders nodes in sequence. Consecutive digits form one number.
    pub(super) fn row(&self, nodes: &[ParseNode], font: Font) -> Markup {
        let mut parts = Vec::new();
        let mut rest = nodes;
        while let Some(first) = rest.first() {
            let digits: String = rest.iter().map_while(digit).collect();
            let count = digits.chars().count();
            if count > 0 {
                parts.push(html! { mn { (letters_in_font(&digits, font)) } });
                rest = &rest[count..];
                continue;
            }
            parts.push(self.node(first, font));
            let is_function =
                matches!(first, ParseNode::Op { symbol: false, .. } | ParseNode::OperatorName { .. });
            if is_function && rest.get(1).is_some_and(|next| !matches!(next, ParseNode::Atom { .. })) {
                parts.push(html! { mo { "\u{2061}" } });
            }
            rest = &rest[1..];
        }
        html! { @for part in parts { (part) } }
    }

    /// Renders nodes as one element.
    fn single_element(&self, nodes: &[ParseNode], font: Font) -> Markup {
        match nodes {
            [only] => self.element(only, font),
            // A single number.
            nodes if nodes.iter().all(|node| digit(node).is_some()) && !nodes.is_empty() => {
                self.row(nodes, font)
            }
            nodes => html! { mrow { (self.row(nodes, font)) } },
        }
    }

    /// Renders a node as exactly one element, as scripts and fractions require.
    fn element(&self, node: &ParseNode, font: Font) -> Markup {
        match node {
            ParseNode::OrdGroup { body, .. } => self.single_element(body, font),
            ParseNode::Atom { .. }
            | ParseNode::MathOrd { .. }
            | ParseNode::GenFrac { left_delim: None, .. } => self.node(node, font),
            ParseNode::TextOrd { text, .. } if digit(node).is_some() => {
                html! { mn { (letters_in_font(text, font)) } }
            }
            ParseNode::TextOrd { .. } | ParseNode::Sqrt { .. } => self.node(node, font),
            ParseNode::Op { body: None, .. } => self.node(node, font),
            node => html! { mrow { (self.node(node, font)) } },
        }
    }

    /// Renders a node. A node without a MathML counterpart, such as a color, is rendered as its content.
    #[expect(clippy::too_many_lines, reason = "a flat table from node kinds to elements")]
    fn node(&self, node: &ParseNode, font: Font) -> Markup {
        use ParseNode as N;
        let left = self.left.get().saturating_sub(1);
        self.left.set(left);
        if left == 0 {
            return Markup::default();
        }
        match node {
            N::Atom { family, text, mode, .. } => operator(*family, &sign(text, *mode)),
            N::MathOrd { text, mode, .. } => identifier(&sign(text, *mode), font),
            N::TextOrd { text, mode, .. } => ordinary(&sign(text, *mode), font),
            N::OpToken { text, mode, .. } | N::AccentToken { text, mode, .. } => {
                html! { mo { (sign(text, *mode)) } }
            }
            N::SpacingNode { text, .. } => space(text),
            N::OrdGroup { body, .. } => html! { mrow { (self.row(body, font)) } },
            N::SupSub { base, sup, sub, .. } => {
                self.scripts(base.as_deref(), sub.as_deref(), sup.as_deref(), font)
            }
            N::GenFrac { numer, denom, has_bar_line, left_delim, right_delim, .. } => {
                let fraction = html! {
                    mfrac linethickness=[(!has_bar_line).then_some("0")] {
                        (self.element(numer, font)) (self.element(denom, font))
                    }
                };
                fenced(left_delim.as_deref(), &fraction, right_delim.as_deref())
            }
            N::Sqrt { body, index: None, .. } => html! { msqrt { (self.element(body, font)) } },
            N::Sqrt { body, index: Some(index), .. } => html! {
                mroot { (self.element(body, font)) (self.element(index, font)) }
            },
            N::Accent { label, base, is_stretchy, .. } => html! {
                mover accent="true" {
                    (self.element(base, font))
                    mo stretchy=(if *is_stretchy == Some(true) { "true" } else { "false" }) { (accent(label)) }
                }
            },
            N::AccentUnder { label, base, .. } => html! {
                munder accentunder="true" { (self.element(base, font)) mo stretchy="true" { (accent(label)) } }
            },
            N::Op { body: Some(body), .. } => html! { mrow { (self.row(body, font)) } },
            N::Op { name, symbol, mode, .. } => {
                let name = name.as_deref().unwrap_or_default();
                match symbol {
                    true => html! { mo { (sign(name, *mode)) } },
                    false => html! { mi { (name.trim_start_matches('\\')) } },
                }
            }
            N::OperatorName { body, .. } => html! { mi mathvariant="normal" { (text_of(body)) } },
            N::Font { font: name, body, .. } => self.element(body, Font(Alphabet::from_command(name))),
            N::Text { body, font: name, .. } => {
                let font = name.as_deref().map_or(font, |name| Font(Alphabet::from_command(name)));
                html! { mtext { (letters_in_font(&text_of(body).replace(' ', "\u{a0}"), font)) } }
            }
            N::Styling { style, body, .. } => {
                let (display, level) = match style {
                    StyleStr::Display => ("true", "0"),
                    StyleStr::Text => ("false", "0"),
                    StyleStr::Script => ("false", "1"),
                    StyleStr::Scriptscript => ("false", "2"),
                };
                html! { mstyle displaystyle=(display) scriptlevel=(level) { (self.row(body, font)) } }
            }
            N::DelimSizing { size, delim, .. } => {
                let size = format!("{}em", 0.6 + 0.6 * f64::from(*size));
                html! { mo stretchy="true" minsize=(size) maxsize=(size) { (delimiter(delim)) } }
            }
            N::LeftRight { body, left, right, .. } => {
                fenced(Some(left), &html! { mrow { (self.row(body, font)) } }, Some(right))
            }
            N::Middle { delim, .. } => html! { mo fence="true" stretchy="true" { (delimiter(delim)) } },
            N::Overline { body, .. } => html! {
                mover { (self.element(body, font)) mo stretchy="true" { "‾" } }
            },
            N::Underline { body, .. } => html! {
                munder { (self.element(body, font)) mo stretchy="true" { "_" } }
            },
            N::Kern { dimension, .. } => html! { mspace width=(em(dimension)) {} },
            N::Phantom { body, .. } => html! { mphantom { (self.row(body, font)) } },
            N::VPhantom { body, .. } => {
                html! { mpadded width="0" { mphantom { (self.element(body, font)) } } }
            }
            N::HorizBrace { label, is_over, base, .. } => {
                let brace = html! { mo stretchy="true" { (accent(label)) } };
                match is_over {
                    true => html! { mover { (self.element(base, font)) (brace) } },
                    false => html! { munder { (self.element(base, font)) (brace) } },
                }
            }
            N::XArrow { label, body, below, .. } => {
                let arrow = html! { mo stretchy="true" { (accent(label)) } };
                match below {
                    Some(below) => html! {
                        munderover { (arrow) (self.element(below, font)) (self.element(body, font)) }
                    },
                    None => html! { mover { (arrow) (self.element(body, font)) } },
                }
            }
            N::MathChoice { text, .. } => html! { mrow { (self.row(text, font)) } },
            N::HtmlMathMl { mathml, .. } => html! { mrow { (self.row(mathml, font)) } },
            N::Tag { body, tag, .. } => html! {
                mrow { (self.row(body, font)) mspace width="2em" {} mtext { "(" (text_of(tag)) ")" } }
            },
            N::Array { body, cols, col_separation_type, .. } => {
                self.array(body, cols.as_deref(), col_separation_type.as_deref(), font)
            }
            N::Verb { body, .. } => html! { mtext { (body) } },
            N::Url { url, .. } => html! { mtext { (url) } },
            N::Raw { string, .. } => html! { mtext { (string) } },
            N::IncludeGraphics { alt, .. } => html! { mtext { (alt) } },
            N::Color { body, .. }
            | N::Sizing { body, .. }
            | N::MClass { body, .. }
            | N::Href { body, .. }
            | N::HBox { body, .. }
            | N::Html { body, .. } => html! { mrow { (self.row(body, font)) } },
            N::Pmb { body, .. } => html! { mrow { (self.row(body, Font(Alphabet::Bold))) } },
            N::Smash { body, .. }
            | N::Enclose { body, .. }
            | N::Lap { body, .. }
            | N::RaiseBox { body, .. }
            | N::VCenter { body, .. }
            | N::CdLabel { label: body, .. }
            | N::CdLabelParent { fragment: body, .. } => self.element(body, font),
            N::CdArrow { direction, .. } => html! { mo stretchy="true" { (arrow(direction)) } },
            // MathML has no layout for proof trees, so only the conclusion is shown.
            N::ProofTree { tree, .. } => html! { mrow { (self.row(&tree.conclusion, font)) } },
            N::ColorToken { .. }
            | N::Size { .. }
            | N::LeftRightRight { .. }
            | N::Rule { .. }
            | N::Environment { .. }
            | N::Cr { .. }
            | N::Infix { .. }
            | N::Internal { .. }
            | N::NoNumber { .. } => Markup::default(),
        }
    }

    /// Renders a base with subscript and superscript, or with limits.
    fn scripts(
        &self,
        base: Option<&ParseNode>,
        sub: Option<&ParseNode>,
        sup: Option<&ParseNode>,
        font: Font,
    ) -> Markup {
        let is_limits = matches!(
            base,
            Some(
                ParseNode::Op { limits: true, .. }
                    | ParseNode::OperatorName { limits: true, .. }
                    | ParseNode::HorizBrace { .. }
            )
        );
        let drawn = base.map_or_else(|| html! { mrow {} }, |base| self.element(base, font));
        let part = |node: &ParseNode| match primes(node) {
            Some(primes) => html! { mo { (primes) } },
            None => self.element(node, font),
        };
        match (is_limits, sub, sup) {
            (false, Some(sub), Some(sup)) => html! { msubsup { (drawn) (part(sub)) (part(sup)) } },
            (false, Some(sub), None) => html! { msub { (drawn) (part(sub)) } },
            (false, None, Some(sup)) => html! { msup { (drawn) (part(sup)) } },
            (true, Some(sub), Some(sup)) => html! { munderover { (drawn) (part(sub)) (part(sup)) } },
            (true, Some(sub), None) => html! { munder { (drawn) (part(sub)) } },
            (true, None, Some(sup)) => html! { mover { (drawn) (part(sup)) } },
            (_, None, None) => drawn,
        }
    }

    fn array(
        &self,
        rows: &[Vec<ParseNode>],
        cols: Option<&[AlignSpec]>,
        kind: Option<&str>,
        font: Font,
    ) -> Markup {
        let aligns: Vec<&AlignSpec> = cols
            .unwrap_or_default()
            .iter()
            .filter(|col| matches!(col.align_type, AlignType::Align))
            .collect();
        let class = |at: usize| match aligns.get(at).and_then(|col| col.align.as_deref()) {
            Some("l") => Some("m-l"),
            Some("r") => Some("m-r"),
            _ => None,
        };
        let is_aligned = matches!(kind, Some("align" | "alignat"));
        html! {
            mtable class=[is_aligned.then_some("m-aligned")] displaystyle=[is_aligned.then_some("true")] {
                @for row in rows {
                    mtr { @for (at, cell) in row.iter().enumerate() { mtd class=[class(at)] { (self.element(cell, font)) } } }
                }
            }
        }
    }
}

/// Returns the digit of a node. A decimal point is excluded, because it may also end a sentence.
fn digit(node: &ParseNode) -> Option<char> {
    match node {
        ParseNode::TextOrd { text, mode: Mode::Math, .. } => {
            let mut chars = text.chars();
            chars.next().filter(|c| c.is_ascii_digit() && chars.as_str().is_empty())
        }
        _ => None,
    }
}

/// Returns the primes of a script that only contains primes.
fn primes(node: &ParseNode) -> Option<String> {
    let ParseNode::OrdGroup { body, .. } = node else { return None };
    let is_prime = |node: &ParseNode| matches!(node, ParseNode::TextOrd { text, .. } if text == "\\prime");
    (!body.is_empty() && body.iter().all(is_prime)).then(|| "′".repeat(body.len()))
}

/// Returns the character of a TeX symbol.
fn sign(text: &str, mode: Mode) -> String {
    let mode = match mode {
        Mode::Math => ratex_font::Mode::Math,
        Mode::Text => ratex_font::Mode::Text,
    };
    match get_symbol(text, mode).and_then(|symbol| symbol.codepoint) {
        Some(c) => c.to_string(),
        None => text.trim_start_matches('\\').to_owned(),
    }
}

fn operator(family: AtomFamily, text: &str) -> Markup {
    match family {
        // Delimiters only stretch if the author requests it.
        AtomFamily::Open => html! { mo stretchy="false" form="prefix" { (text) } },
        AtomFamily::Close => html! { mo stretchy="false" form="postfix" { (text) } },
        AtomFamily::Punct => html! { mo separator="true" { (text) } },
        AtomFamily::Bin => html! { mo form="infix" { (text) } },
        AtomFamily::Rel | AtomFamily::Inner => html! { mo { (text) } },
    }
}

fn identifier(text: &str, font: Font) -> Markup {
    let is_upright = font.0 == Alphabet::Upright && text.chars().count() == 1;
    html! { mi mathvariant=[is_upright.then_some("normal")] { (letters_in_font(text, font)) } }
}

/// Renders a symbol that is not a letter. The MathML operator dictionary lacks some of them, such as `∞`.
fn ordinary(text: &str, font: Font) -> Markup {
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some(c), None) if c.is_alphabetic() => identifier(text, font),
        (Some('|' | '‖' | '/' | '!' | '.' | '′'), None) => html! { mo stretchy="false" { (text) } },
        _ => html! { mi mathvariant=[(text.chars().count() == 1).then_some("normal")] { (text) } },
    }
}

fn letters_in_font(text: &str, font: Font) -> String {
    text.chars().map(|c| font.0.letter(c)).collect()
}

/// Renders content between stretching delimiters.
fn fenced(left: Option<&str>, inner: &Markup, right: Option<&str>) -> Markup {
    let fence = |delim: Option<&str>, form: &str| {
        let sign = delimiter(delim?);
        Some(html! { mo fence="true" stretchy="true" form=(form) { (sign) } })
    };
    match (fence(left, "prefix"), fence(right, "postfix")) {
        (None, None) => inner.clone(),
        (left, right) => html! {
            mrow { @if let Some(left) = left { (left) } (inner) @if let Some(right) = right { (right) } }
        },
    }
}

/// Returns the character of a delimiter, or an empty string for `.`.
fn delimiter(text: &str) -> String {
    if text == "." { String::new() } else { sign(text, Mode::Math) }
}

fn space(text: &str) -> Markup {
    let width = match text {
        "\\," | "\\thinspace" => "0.1667em",
        "\\:" | "\\>" | "\\medspace" => "0.2222em",
        "\\;" | "\\thickspace" => "0.2778em",
        "\\!" | "\\negthinspace" => "0",
        "\\quad" | "\\enspace" => "1em",
        "\\qquad" => "2em",
        _ => "0.3333em",
    };
    html! { mspace width=(width) {} }
}

/// Formats a length in em. Negative lengths become 0, because MathML does not support them here.
fn em(length: &Measurement) -> String {
    let unit = match length.unit.as_str() {
        "mu" => 1.0 / 18.0,
        "ex" => 0.43,
        "pt" | "px" => 0.1,
        "cm" => 2.85,
        "mm" => 0.285,
        "in" => 7.2,
        _ => 1.0,
    };
    let length = (length.number * unit).clamp(0.0, LARGEST_SHIFT_EM);
    format!("{:.4}em", if length.is_finite() { length } else { 0.0 })
}

/// Returns the character of an accent, a brace or a long arrow.
fn accent(label: &str) -> &'static str {
    match label.trim_start_matches('\\') {
        "hat" | "widehat" | "^" => "^",
        "tilde" | "widetilde" | "utilde" | "~" => "~",
        "bar" | "=" => "¯",
        "vec" | "overrightarrow" | "underrightarrow" | "xrightarrow" => "→",
        "overleftarrow" | "underleftarrow" | "xleftarrow" => "←",
        "overleftrightarrow" | "underleftrightarrow" | "xleftrightarrow" => "↔",
        "xRightarrow" | "Overrightarrow" => "⇒",
        "xLeftarrow" => "⇐",
        "xLeftrightarrow" => "⇔",
        "xmapsto" => "↦",
        "xhookrightarrow" => "↪",
        "xhookleftarrow" => "↩",
        "xlongequal" => "=",
        "xrightleftharpoons" => "⇌",
        "xleftrightharpoons" => "⇋",
        "dot" | "." => "˙",
        "ddot" | "\"" => "¨",
        "dddot" => "⃛",
        "acute" | "'" => "´",
        "grave" | "`" => "`",
        "breve" | "u" => "˘",
        "check" | "widecheck" | "v" => "ˇ",
        "mathring" | "r" => "˚",
        "overbrace" => "⏞",
        "underbrace" => "⏟",
        "overbracket" => "⎴",
        "underbracket" => "⎵",
        "overparen" | "overgroup" => "⏜",
        "underparen" | "undergroup" => "⏝",
        "overlinesegment" | "underlinesegment" => "‾",
        _ => "→",
    }
}

/// Returns the arrow of a commutative diagram.
fn arrow(direction: &str) -> &'static str {
    match direction {
        "left" => "←",
        "up" => "↑",
        "down" => "↓",
        "horiz_eq" => "=",
        "vert_eq" => "‖",
        _ => "→",
    }
}

/// Returns the plain text of nodes.
fn text_of(nodes: &[ParseNode]) -> String {
    let mut out = String::new();
    let mut stack: Vec<&ParseNode> = nodes.iter().rev().collect();
    while let Some(node) = stack.pop() {
        match node {
            ParseNode::Atom { text, mode, .. }
            | ParseNode::MathOrd { text, mode, .. }
            | ParseNode::TextOrd { text, mode, .. } => out.push_str(&sign(text, *mode)),
            ParseNode::SpacingNode { .. } => out.push(' '),
            ParseNode::OrdGroup { body, .. }
            | ParseNode::Text { body, .. }
            | ParseNode::Color { body, .. }
            | ParseNode::Styling { body, .. }
            | ParseNode::HBox { body, .. }
            | ParseNode::MClass { body, .. } => stack.extend(body.iter().rev()),
            ParseNode::Font { body, .. } | ParseNode::Accent { base: body, .. } => stack.push(body),
            ParseNode::SupSub { base: Some(base), .. } => stack.push(base),
            ParseNode::HtmlMathMl { mathml, .. } => stack.extend(mathml.iter().rev()),
            ParseNode::Verb { body, .. } => out.push_str(body),
            _ => {}
        }
    }
    out
}
