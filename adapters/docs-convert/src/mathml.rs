//! Conversion of MathML in pages to TeX.

use crate::{
    dom::{Dom, Id, NodeKind},
    tex::{self, MathFont},
};

/// Returns the TeX of a `math` element: the TeX of the author if the page contains it, otherwise a conversion.
pub(crate) fn formula(dom: &Dom, math: Id) -> String {
    let written = annotation(dom, math).map(|annotation| dom.text_of(annotation, |_| false));
    let written = written.or_else(|| dom.attribute(math, "alttext").map(str::to_owned));
    if let Some(written) = written.filter(|written| !written.trim().is_empty()) {
        return normalize(&written);
    }
    let mut out = String::new();
    children(dom, math, &mut out);
    tex::normalize(&out)
}

/// Normalizes the TeX that the author of a page wrote.
pub(crate) fn normalize(written: &str) -> String {
    tex::normalize(without_style(written))
}

/// Returns the TeX of a formula within `semantics`.
fn annotation(dom: &Dom, math: Id) -> Option<Id> {
    let semantics = dom.children(math).find(|child| dom.name(*child) == "semantics")?;
    dom.children(semantics).find(|child| is_tex_annotation(dom, *child))
}

/// Returns `true` if an element contains the TeX of the formula around it.
pub(crate) fn is_tex_annotation(dom: &Dom, id: Id) -> bool {
    dom.name(id) == "annotation"
        && dom.attribute(id, "encoding").is_some_and(|encoding| encoding.to_ascii_lowercase().contains("tex"))
}

/// Removes the style that some programs write around a formula: `{\displaystyle x}`.
fn without_style(tex: &str) -> &str {
    let tex = tex.trim();
    let styled = ["{\\displaystyle ", "{\\textstyle "].into_iter().find_map(|style| tex.strip_prefix(style));
    let Some(inner) = styled.and_then(|rest| rest.strip_suffix('}')) else { return tex };
    // The last brace may belong to another group.
    let mut depth = 0_i64;
    let is_whole = inner.bytes().all(|byte| {
        depth += i64::from(byte == b'{') - i64::from(byte == b'}');
        depth >= 0
    });
    if is_whole && depth == 0 { inner } else { tex }
}

fn children(dom: &Dom, parent: Id, out: &mut String) {
    dom.children(parent).for_each(|child| element(dom, child, out));
}

fn converted(dom: &Dom, id: Id) -> String {
    let mut out = String::new();
    element(dom, id, &mut out);
    out
}

fn element(dom: &Dom, id: Id, out: &mut String) {
    let name = match dom.kind(id) {
        NodeKind::Element(name) => name,
        NodeKind::Text(text) => {
            text.split_whitespace().for_each(|word| tex::push_text(out, word, MathFont::Italic));
            return;
        }
    };
    let parts: Vec<Id> =
        dom.children(id).filter(|child| matches!(dom.kind(*child), NodeKind::Element(_))).collect();
    match (name, parts.as_slice()) {
        ("mi" | "mn" | "mo" | "mtext" | "ms", _) => token(dom, id, name, out),
        ("mspace", _) => out.push(' '),
        ("mfrac", [above, below]) => {
            out.push_str("\\frac");
            tex::push_group(out, &converted(dom, *above));
            tex::push_group(out, &converted(dom, *below));
        }
        ("msqrt", _) => command(dom, id, "\\sqrt", out),
        ("mphantom", _) => command(dom, id, "\\phantom", out),
        ("menclose", _) => command(dom, id, "\\boxed", out),
        ("mroot", [base, degree]) => {
            out.push_str("\\sqrt[");
            out.push_str(converted(dom, *degree).trim());
            out.push(']');
            tex::push_group(out, &converted(dom, *base));
        }
        ("msup", [base, above]) => scripts(dom, *base, &[('^', *above)], out),
        ("msub", [base, below]) => scripts(dom, *base, &[('_', *below)], out),
        ("msubsup" | "munderover", [base, below, above]) => {
            scripts(dom, *base, &[('_', *below), ('^', *above)], out);
        }
        ("munder", [base, below]) => stacked(dom, (*base, *below), '_', out),
        ("mover", [base, above]) => stacked(dom, (*base, *above), '^', out),
        ("mtable", _) => tex::push_rows(out, "matrix", &rows(dom, &parts)),
        ("mfenced", _) => {
            out.push('(');
            for (at, part) in parts.iter().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                element(dom, *part, out);
            }
            out.push(')');
        }
        ("semantics" | "maction", [first, ..]) => element(dom, *first, out),
        ("annotation" | "annotation-xml", _) => {}
        _ => children(dom, id, out),
    }
}

fn token(dom: &Dom, id: Id, name: &str, out: &mut String) {
    let text = dom.text_of(id, |_| false);
    let text = text.trim();
    let is_word = text.len() > 1 && text.bytes().all(|byte| byte.is_ascii_alphabetic());
    match name {
        "mtext" | "ms" => tex::push_text(out, text, MathFont::Text),
        _ if is_word && tex::is_function(text) => tex::push_function(out, text),
        "mi" if is_word => tex::push_text(out, text, MathFont::Roman),
        _ => {
            let font = match dom.attribute(id, "mathvariant") {
                Some("normal") => MathFont::Roman,
                Some("bold") => MathFont::Bold,
                Some("bold-italic") => MathFont::BoldItalic,
                Some("double-struck") => MathFont::DoubleStruck,
                Some("script") => MathFont::Script,
                Some("fraktur") => MathFont::Fraktur,
                _ => MathFont::Italic,
            };
            tex::push_text(out, text, font);
        }
    }
}

fn command(dom: &Dom, id: Id, name: &str, out: &mut String) {
    let mut inner = String::new();
    children(dom, id, &mut inner);
    out.push_str(name);
    tex::push_group(out, &inner);
}

fn scripts(dom: &Dom, base: Id, scripts: &[(char, Id)], out: &mut String) {
    tex::push_base(out, &converted(dom, base));
    for (sign, script) in scripts {
        out.push(*sign);
        tex::push_group(out, &converted(dom, *script));
    }
}

/// Converts content with a mark, a brace or a limit above or below it.
fn stacked(dom: &Dom, (base, mark): (Id, Id), sign: char, out: &mut String) {
    let (base, text) = (converted(dom, base), dom.text_of(mark, |_| false));
    let base = base.trim();
    let mut characters = text.trim().chars();
    let single = characters.next().filter(|_| characters.next().is_none());
    let takes_limits = [
        "\\sum", "\\prod", "\\int", "\\lim", "\\max", "\\min", "\\sup", "\\inf", "\\big", "\\under", "\\over",
    ]
    .iter()
    .any(|operator| base.starts_with(operator));
    match (sign, single) {
        ('^', Some(mark)) if tex::accent(mark).is_some() => {
            let (narrow, wide) = tex::accent(mark).unwrap_or_default();
            out.push_str(if base.chars().count() == 1 { narrow } else { wide });
            tex::push_group(out, base);
        }
        ('_', Some('⏟' | '︸')) => {
            out.push_str("\\underbrace");
            tex::push_group(out, base);
        }
        ('_', Some('_' | '¯' | '\u{332}')) => {
            out.push_str("\\underline");
            tex::push_group(out, base);
        }
        _ if takes_limits => {
            tex::push(out, base);
            out.push(sign);
            tex::push_group(out, &converted(dom, mark));
        }
        _ => {
            out.push_str(if sign == '^' { "\\overset" } else { "\\underset" });
            tex::push_group(out, &converted(dom, mark));
            tex::push_group(out, base);
        }
    }
}

fn rows(dom: &Dom, rows: &[Id]) -> Vec<Vec<String>> {
    let cell = |cell: Id| {
        let mut out = String::new();
        children(dom, cell, &mut out);
        out
    };
    let row = |row: &Id| dom.children(*row).filter(|child| dom.name(*child) == "mtd").map(cell).collect();
    rows.iter().filter(|row| matches!(dom.name(**row), "mtr" | "mlabeledtr")).map(row).collect()
}
