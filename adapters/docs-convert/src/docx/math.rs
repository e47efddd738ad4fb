//! Conversion of equations (Office MathML) to TeX.

use super::xml::Element;
use crate::tex::{self, MathFont};

/// Returns the TeX of an equation.
pub(super) fn equation(math: Element<'_>) -> String {
    let mut out = String::new();
    children(math, Alignment::None, &mut out);
    tex::normalize(&out)
}

/// The meaning of an ampersand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Alignment {
    None,
    /// It aligns the equations of an array.
    Marks,
}

fn children(parent: Element<'_>, alignment: Alignment, out: &mut String) {
    for child in parent.children() {
        element(child, alignment, out);
    }
}

fn element(math: Element<'_>, alignment: Alignment, out: &mut String) {
    match math.name() {
        "r" => run(math, alignment, out),
        "f" => fraction(math, out),
        "sSup" | "sSub" | "sSubSup" => scripts(math, out),
        "sPre" => {
            out.push_str("{}");
            script(math, "sub", '_', out);
            script(math, "sup", '^', out);
            tex::push_base(out, &part(math, "e"));
        }
        "rad" => root(math, out),
        "nary" => nary(math, out),
        "d" => delimited(math, out),
        "m" => tex::push_rows(out, "matrix", &matrix(math)),
        "eqArr" => tex::push_rows(out, "aligned", &equations(math)),
        "acc" => accent(math, out),
        "bar" => command(
            if property(math, "pos") == Some("top") { "\\overline" } else { "\\underline" },
            math,
            out,
        ),
        "borderBox" => command("\\boxed", math, out),
        "groupChr" => grouped(math, out),
        "limLow" | "limUpp" => limit(math, out),
        "func" => function(math, out),
        "phant" if hides(math) => command("\\phantom", math, out),
        // Properties, and content that was deleted with tracked changes.
        name if name.ends_with("Pr") || matches!(name, "del" | "moveFrom") => {}
        _ => children(math, alignment, out),
    }
}

/// Returns the TeX of a part of an element.
fn part(math: Element<'_>, name: &str) -> String {
    let mut out = String::new();
    if let Some(part) = math.child(name) {
        children(part, Alignment::None, &mut out);
    }
    out
}

/// Returns the properties of an element, such as `fPr` of `f`.
fn properties(math: Element<'_>) -> Option<Element<'_>> {
    math.children().find(|child| child.name().strip_suffix("Pr") == Some(math.name()))
}

/// Returns the value of a property. A property without a value is an empty string.
fn property<'a>(math: Element<'a>, name: &str) -> Option<&'a str> {
    let property = properties(math)?.child(name)?;
    Some(property.value().unwrap_or_default())
}

/// Returns `true` if a property is switched on.
fn is_on(math: Element<'_>, name: &str) -> bool {
    property(math, name).is_some_and(|value| !matches!(value, "0" | "false" | "off"))
}

/// Returns `true` if an element takes space without being shown.
fn hides(math: Element<'_>) -> bool {
    property(math, "show").is_some_and(|value| matches!(value, "0" | "false" | "off"))
}

fn command(name: &str, math: Element<'_>, out: &mut String) {
    out.push_str(name);
    tex::push_group(out, &part(math, "e"));
}

fn run(run: Element<'_>, alignment: Alignment, out: &mut String) {
    let font = font(run);
    for text in run.children().filter(|child| matches!(child.name(), "t" | "sym" | "br")) {
        let text = match text.name() {
            "t" => text.text(),
            "sym" => super::symbols::symbol(text).map(String::from).unwrap_or_default(),
            _ => " ".to_owned(),
        };
        if alignment == Alignment::None {
            tex::push_text(out, &text, font);
            continue;
        }
        for (at, text) in text.split('&').enumerate() {
            out.push_str(if at > 0 { " & " } else { "" });
            tex::push_text(out, text, font);
        }
    }
}

fn font(run: Element<'_>) -> MathFont {
    let value = |name: &str| {
        let all = run.children().filter(|child| child.name() == "rPr");
        all.filter_map(|properties| properties.child(name)).next().map(|it| it.value().unwrap_or_default())
    };
    match (value("nor"), value("scr"), value("sty")) {
        (Some("" | "1" | "true" | "on"), ..) => MathFont::Text,
        (_, Some("double-struck"), _) => MathFont::DoubleStruck,
        (_, Some("script"), _) => MathFont::Script,
        (_, Some("fraktur"), _) => MathFont::Fraktur,
        (_, Some("sans-serif"), _) => MathFont::SansSerif,
        (_, Some("monospace"), _) => MathFont::Monospace,
        (_, _, Some("p")) => MathFont::Roman,
        (_, _, Some("b")) => MathFont::Bold,
        (_, _, Some("bi")) => MathFont::BoldItalic,
        _ => MathFont::Italic,
    }
}

fn fraction(math: Element<'_>, out: &mut String) {
    let (above, below) = (part(math, "num"), part(math, "den"));
    match property(math, "type") {
        Some("lin") => {
            tex::push_base(out, &above);
            out.push('/');
            tex::push_base(out, &below);
        }
        Some("noBar") => tex::push_rows(out, "matrix", &[vec![above], vec![below]]),
        _ => {
            out.push_str("\\frac");
            tex::push_group(out, &above);
            tex::push_group(out, &below);
        }
    }
}

fn scripts(math: Element<'_>, out: &mut String) {
    tex::push_base(out, &part(math, "e"));
    script(math, "sub", '_', out);
    script(math, "sup", '^', out);
}

fn script(math: Element<'_>, name: &str, sign: char, out: &mut String) {
    let script = part(math, name);
    if !script.trim().is_empty() {
        out.push(sign);
        tex::push_group(out, &script);
    }
}

fn root(math: Element<'_>, out: &mut String) {
    let degree = part(math, "deg");
    out.push_str("\\sqrt");
    if !degree.trim().is_empty() && !is_on(math, "degHide") {
        out.push('[');
        out.push_str(degree.trim());
        out.push(']');
    }
    tex::push_group(out, &part(math, "e"));
}

/// Converts a sum, an integral or another large operator with its bounds.
fn nary(math: Element<'_>, out: &mut String) {
    let operator = character(math, "chr").unwrap_or("∫");
    operator.chars().for_each(|c| tex::push_char(out, c));
    match property(math, "limLoc") {
        Some("undOvr") if matches!(operator, "∫" | "∬" | "∭" | "∮") => out.push_str("\\limits"),
        Some("subSup") if !matches!(operator, "∫" | "∬" | "∭" | "∮") => out.push_str("\\nolimits"),
        _ => {}
    }
    for (name, sign, hidden) in [("sub", '_', "subHide"), ("sup", '^', "supHide")] {
        if !is_on(math, hidden) {
            script(math, name, sign, out);
        }
    }
    out.push(' ');
    out.push_str(part(math, "e").trim());
}

/// Returns a property of one character. Further characters are invalid and ignored.
fn character<'a>(math: Element<'a>, name: &str) -> Option<&'a str> {
    let text = property(math, name)?;
    Some(text.chars().next().map_or("", |first| &text[..first.len_utf8()]))
}

fn delimited(math: Element<'_>, out: &mut String) {
    let begin = character(math, "begChr").unwrap_or("(");
    let end = character(math, "endChr").unwrap_or(")");
    if environment(math, begin, end, out) {
        return;
    }
    let parts: Vec<String> = math
        .children()
        .filter(|child| child.name() == "e")
        .map(|part| {
            let mut out = String::new();
            children(part, Alignment::None, &mut out);
            out
        })
        .collect();
    let separator = character(math, "sepChr").unwrap_or("|");
    let is_tall = parts.iter().any(|part| tex::is_tall(part));
    let delimiter = |size: &str, delimiter: &str, out: &mut String| {
        if is_tall {
            out.push_str(size);
            tex::push_delimiter(out, delimiter);
        } else if !delimiter.is_empty() {
            delimiter.chars().for_each(|c| tex::push_char(out, c));
        }
    };
    delimiter("\\left", begin, out);
    for (at, part) in parts.iter().enumerate() {
        if at > 0 && matches!(separator, "|" | "∣" | "‖" | "∥" | "/") {
            delimiter("\\middle", separator, out);
        } else if at > 0 {
            separator.chars().for_each(|c| tex::push_char(out, c));
        }
        tex::push(out, part.trim());
    }
    delimiter("\\right", end, out);
}

/// Converts a matrix, a binomial coefficient or cases within delimiters. Returns `false` for other content.
fn environment(math: Element<'_>, begin: &str, end: &str, out: &mut String) -> bool {
    let Some(environment) = tex::matrix_environment(begin, end) else { return false };
    let mut parts = math.children().filter(|child| child.name() == "e");
    let (Some(part), None) = (parts.next(), parts.next()) else { return false };
    let mut inner = part.children().filter(|child| !child.name().is_empty() && !child.name().ends_with("Pr"));
    let (Some(inner), None) = (inner.next(), inner.next()) else { return false };
    match (inner.name(), environment) {
        ("m", _) => tex::push_rows(out, environment, &matrix(inner)),
        ("eqArr", "cases") => tex::push_rows(out, environment, &equations(inner)),
        ("f", "pmatrix") if property(inner, "type") == Some("noBar") => {
            out.push_str("\\binom");
            tex::push_group(out, &self::part(inner, "num"));
            tex::push_group(out, &self::part(inner, "den"));
        }
        _ => return false,
    }
    true
}

fn matrix(math: Element<'_>) -> Vec<Vec<String>> {
    let rows = math.children().filter(|child| child.name() == "mr");
    rows.map(|row| {
        let cells = row.children().filter(|child| child.name() == "e");
        cells
            .map(|cell| {
                let mut out = String::new();
                children(cell, Alignment::None, &mut out);
                out
            })
            .collect()
    })
    .collect()
}

fn equations(math: Element<'_>) -> Vec<Vec<String>> {
    let rows = math.children().filter(|child| child.name() == "e");
    rows.map(|row| {
        let mut out = String::new();
        children(row, Alignment::Marks, &mut out);
        vec![out]
    })
    .collect()
}

fn accent(math: Element<'_>, out: &mut String) {
    let mark = property(math, "chr").and_then(|mark| mark.chars().next()).unwrap_or('\u{302}');
    let base = part(math, "e");
    match tex::accent(mark) {
        Some((single, wide)) => {
            out.push_str(if base.trim().chars().count() == 1 { single } else { wide });
            tex::push_group(out, &base);
        }
        None => stacked("\\overset", &mark.to_string(), &base, out),
    }
}

/// Converts a brace or an arrow above or below its content.
fn grouped(math: Element<'_>, out: &mut String) {
    let mark = character(math, "chr").unwrap_or("⏟");
    match mark {
        "⏟" | "︸" => command("\\underbrace", math, out),
        "⏞" | "︷" => command("\\overbrace", math, out),
        _ => {
            let is_above = property(math, "pos") == Some("top");
            stacked(if is_above { "\\overset" } else { "\\underset" }, mark, &part(math, "e"), out);
        }
    }
}

fn stacked(command: &str, mark: &str, base: &str, out: &mut String) {
    let mut above = String::new();
    mark.chars().for_each(|c| tex::push_char(&mut above, c));
    out.push_str(command);
    tex::push_group(out, &above);
    tex::push_group(out, base);
}

/// Converts content with a limit below or above it.
fn limit(math: Element<'_>, out: &mut String) {
    let (base, limit) = (part(math, "e"), part(math, "lim"));
    let is_below = math.name() == "limLow";
    let (sign, command) = if is_below { ('_', "\\underset") } else { ('^', "\\overset") };
    let name = plain_name(math.child("e"));
    let takes_limits =
        base.trim_start().starts_with("\\underbrace") || base.trim_start().starts_with("\\overbrace");
    if let Some(name) = name.filter(|name| tex::is_function(name)) {
        tex::push_function(out, &name);
    } else if takes_limits {
        out.push_str(base.trim());
    } else {
        out.push_str(command);
        tex::push_group(out, &limit);
        tex::push_group(out, &base);
        return;
    }
    out.push(sign);
    tex::push_group(out, &limit);
}

fn function(math: Element<'_>, out: &mut String) {
    match plain_name(math.child("fName")) {
        Some(name) => tex::push_function(out, &name),
        None => out.push_str(function_name(math).trim()),
    }
    out.push(' ');
    out.push_str(part(math, "e").trim());
}

/// Returns the TeX of a function name that has scripts or limits.
fn function_name(math: Element<'_>) -> String {
    let Some(name) = math.child("fName") else { return String::new() };
    let mut out = String::new();
    for child in name.children() {
        match (child.name(), plain_name(child.child("e"))) {
            ("sSup" | "sSub" | "sSubSup", Some(name)) => {
                tex::push_function(&mut out, &name);
                script(child, "sub", '_', &mut out);
                script(child, "sup", '^', &mut out);
            }
            _ => element(child, Alignment::None, &mut out),
        }
    }
    out
}

/// Returns the text of a part that consists of one word, such as the name of a function.
fn plain_name(part: Option<Element<'_>>) -> Option<String> {
    let mut name = String::new();
    for child in part?.children().filter(|child| !child.name().is_empty() && !child.name().ends_with("Pr")) {
        let text = child.children().filter(|text| text.name() == "t").map(Element::text);
        match child.name() {
            "r" => name.extend(text),
            _ => return None,
        }
    }
    let name = name.trim();
    let is_word = name.chars().count() > 1 && name.chars().all(char::is_alphabetic) && name.is_ascii();
    is_word.then(|| name.to_owned())
}
