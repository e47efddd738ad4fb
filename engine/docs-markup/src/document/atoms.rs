//! Inline elements that are not Markdown: formulas, icons, buttons, expressions, tags and footnote references, and bare
//! web addresses.
//!
//! Atoms are found and masked before Markdown is parsed, because `*` in a formula is not emphasis.

use std::{collections::HashSet, ops::Range};

use docs_model::{ButtonAction, ButtonKind, ButtonSize, ContentRef, InlineImageSize, InlineKind};

use super::{
    attributes::{length_text, optional, read_word, word},
    bare_addresses, emoji_names,
    html::{self, Element, Html, OpeningTag, TagToken},
    opening::Opening,
    tags::{TagEndFinder, TemplateTag},
    targets,
};
use crate::syntax::html::whole_comment;

#[derive(Clone, PartialEq, Debug)]
pub(super) struct Atom {
    pub(super) range: Range<usize>,
    pub(super) kind: AtomKind,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) enum AtomKind {
    /// An element in inline position.
    Inline(InlineKind),
    /// A reference to the footnote with this label.
    Note(String),
    /// An unknown tag, which is printed verbatim.
    Text,
    /// A bare web address with signs of emphasis.
    Address,
}

/// Maximum length of an atom, in bytes.
const MAX_ATOM: usize = 4 * 1024;

/// Returns the atoms of `text` outside of code spans, in order.
pub(super) fn find(text: &str, is_note: impl Fn(&str) -> bool) -> Vec<Atom> {
    let mut out = Vec::new();
    let mut unclosed = HashSet::new();
    let mut ends = TagEndFinder::of(text);
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(offset) = bytes[at..].iter().position(|b| b"\\`<{$[:".contains(b)) {
        at += offset;
        let length = match bytes[at] {
            b'\\' => Err(1 + text[at + 1..].chars().next().map_or(0, char::len_utf8)),
            b'`' => Err(code_span(text, at, &mut unclosed)),
            b'<' if let Some(length) = whole_comment(window(&text[at..])) => Err(length),
            b'{' if !ends.may_follow(at) => Err(1),
            b':' if let Some(end) = bare_addresses::end(text, at) => {
                let has_signs = text[at..end].contains(bare_addresses::EMPHASIS);
                if has_signs { Ok((AtomKind::Address, end - at)) } else { Err(end - at) }
            }
            _ => atom(&text[at..], &is_note).ok_or(1),
        };
        match length {
            Ok((kind, length)) => {
                out.push(Atom { range: at..at + length, kind });
                at += length;
            }
            Err(length) => at += length,
        }
    }
    out
}

/// Returns the length of the code span at a position, or the length of its opening backticks if it is not closed.
fn code_span(text: &str, at: usize, unclosed: &mut HashSet<usize>) -> usize {
    let bytes = text.as_bytes();
    let run = |from: usize| bytes[from..].iter().take_while(|b| **b == b'`').count();
    let length = run(at);
    if unclosed.contains(&length) {
        return length;
    }
    let mut next = at + length;
    while let Some(offset) = bytes[next..].iter().position(|b| *b == b'`') {
        next += offset;
        let closing = run(next);
        next += closing;
        if closing == length {
            return next - at;
        }
    }
    unclosed.insert(length);
    length
}

fn atom(text: &str, is_note: impl Fn(&str) -> bool) -> Option<(AtomKind, usize)> {
    let window = window(text);
    match text.as_bytes().first()? {
        b'$' => {
            let length = window.strip_prefix("$$")?.find("$$").filter(|length| *length > 0)?;
            let formula = &window[2..2 + length];
            let is_fit = !formula.contains("\n\n") && !formula.trim().is_empty() && !formula.starts_with('$');
            is_fit.then(|| {
                (AtomKind::Inline(InlineKind::InlineMath { formula: formula.to_owned() }), length + 4)
            })
        }
        b'{' => {
            let tag = TemplateTag::read(window)?;
            Some((AtomKind::Text, tag.end))
        }
        b'[' => {
            let (label, _) = window.strip_prefix("[^")?.split_once(']')?;
            is_note(label).then(|| (AtomKind::Note(label.to_owned()), label.len() + 3))
        }
        b':' => {
            let name = window[1..].split(':').next()?;
            let code = emoji_names::code(name)?;
            window[1 + name.len()..]
                .starts_with(':')
                .then(|| (AtomKind::Inline(InlineKind::Emoji { code }), name.len() + 2))
        }
        _ => {
            let (TagToken::Open(open), length) = html::tag_at(window)? else { return None };
            let (kind, length) = element(window, &open, length)?;
            Some((AtomKind::Inline(kind), length))
        }
    }
}

/// Returns the prefix of `text`, up to [`MAX_ATOM`] bytes.
fn window(text: &str) -> &str {
    if text.len() <= MAX_ATOM {
        return text;
    }
    let end = (0..=MAX_ATOM).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    &text[..end]
}

/// Parses the element at the beginning of `text`, and returns it with its length.
fn element(text: &str, open: &OpeningTag<'_>, length: usize) -> Option<(InlineKind, usize)> {
    if open.name == "img" {
        return image(open).map(|kind| (kind, length));
    }
    if !matches!(open.name.as_str(), "i" | "a" | "button" | "code" | "span" | "picture") {
        return None;
    }
    let is_mention = open.name == "a" && open.has("data-mention");
    if matches!(open.name.as_str(), "i" | "a" | "button" | "code") && !open.has("class") && !is_mention {
        return None;
    }
    let close = html::closing(text, length, &open.name)?;
    let end = close.end;
    let nodes = if open.name == "code" { None } else { html::tree(&text[..end]) };
    let kind = match nodes.as_deref() {
        Some([Html::Element(element)]) => inline(element)?,
        Some(_) => return None,
        None if open.name == "code"
            && open.get("class") == Some("expression")
            && open.has_only(&["class"]) =>
        {
            let source = &text[length..close.start];
            InlineKind::Expression { expression: html::unescape(source).into_owned() }
        }
        None => return None,
    };
    Some((kind, end))
}

/// Converts an HTML element to an inline element.
pub(super) fn inline(element: &Element<'_>) -> Option<InlineKind> {
    let open = &element.open;
    match element.name() {
        "img" => image(open),
        "picture" => read_picture(element),
        "i" => {
            let icon = open.get("class")?.strip_prefix("fa-")?.to_owned();
            let is_icon =
                !icon.is_empty() && !icon.contains(char::is_whitespace) && open.has_only(&["class", "style"]);
            let color = |style: &str| read_word(style.strip_prefix("color:")?.strip_suffix(';')?);
            let color = optional(open.get("style"), color)?;
            let is_plain = element.text() == format!(":{icon}:") || element.text() == icon;
            (is_icon && is_plain).then_some(InlineKind::Icon { icon, color })
        }
        "code" => {
            let is_expression = open.get("class") == Some("expression") && open.has_only(&["class"]);
            is_expression.then(|| InlineKind::Expression { expression: element.text() })
        }
        "a" if open.has("data-mention") => {
            let is_plain = open.has_only(&["data-mention", "href"]);
            is_plain.then_some(InlineKind::Mention { target: targets::read(open.get("href")?) })
        }
        "a" | "button" => button(element),
        "span" => {
            let is_emoji = open.get("data-tag") == Some("emoji") && open.has("data-gb-custom-inline");
            let code = open.get("data-code").filter(|code| is_emoji && emoji_names::text(code).is_some())?;
            open.has_only(&["data-gb-custom-inline", "data-tag", "data-code"])
                .then(|| InlineKind::Emoji { code: code.to_owned() })
        }
        _ => None,
    }
}

fn button(element: &Element<'_>) -> Option<InlineKind> {
    let open = &element.open;
    let mut classes = open.get("class")?.split_whitespace();
    let own: &[&str] = match element.name() {
        "a" => &["href", "class", "data-icon", "data-size"],
        _ => &["type", "class", "data-icon", "data-size", "data-action", "data-query", "data-slug"],
    };
    let is_button = classes.next() == Some("button") && open.has_only(own);
    let action = match element.name() {
        "a" => None,
        _ => Some(Box::new(action(open)?)),
    };
    let kind = match classes.next().filter(|_| is_button)? {
        "primary" => ButtonKind::Primary,
        "secondary" => ButtonKind::Secondary,
        _ => return None,
    };
    let size = optional(open.get("data-size"), read_word)?;
    let is_text = element.children.iter().all(|child| matches!(child, Html::Text(_)));
    (is_text && classes.next().is_none()).then(|| InlineKind::Button {
        label: element.text(),
        kind,
        icon: open.get("data-icon").map(str::to_owned),
        target: open.get("href").map(targets::read).map(Box::new),
        size,
        action,
    })
}

/// Reads the action of a button.
fn action(open: &OpeningTag<'_>) -> Option<ButtonAction> {
    let text = |name: &str| open.get(name).map(str::to_owned);
    let is_plain = open.get("type").is_none_or(|kind| kind == "button");
    match (open.get("data-action").filter(|_| is_plain)?, text("data-query"), text("data-slug")) {
        ("search", query, None) => Some(ButtonAction::Search { query }),
        ("ask", query, None) => Some(ButtonAction::Ask { query }),
        ("select", None, Some(slug)) => Some(ButtonAction::Select { slug }),
        _ => None,
    }
}

/// Prints a button: a link, or a button element if it has an action. A button does not have both.
fn write_button(
    label: &str,
    kind: ButtonKind,
    size: Option<ButtonSize>,
    icon: Option<&String>,
    target: Option<&ContentRef>,
    action: Option<&ButtonAction>,
) -> Option<String> {
    let class = if kind == ButtonKind::Primary { "button primary" } else { "button secondary" };
    let (name, opening) = match (target, action) {
        (target, None) => ("a", Opening::html("a").optional("href", target.map(targets::write))),
        (None, Some(_)) => ("button", Opening::html("button").value("type", "button")),
        (Some(_), Some(_)) => return None,
    };
    let opening = opening.value("class", class);
    let opening = match action {
        None => opening,
        Some(ButtonAction::Search { query }) => {
            opening.value("data-action", "search").optional("data-query", query.as_ref())
        }
        Some(ButtonAction::Ask { query }) => {
            opening.value("data-action", "ask").optional("data-query", query.as_ref())
        }
        Some(ButtonAction::Select { slug }) => {
            opening.value("data-action", "select").value("data-slug", slug)
        }
    };
    let opening = opening.optional("data-icon", icon).optional("data-size", size.map(word));
    Some(format!("{}{}</{name}>", opening.end(), html::text(label)))
}

/// Converts an `img` tag to an inline image.
fn image(open: &OpeningTag<'_>) -> Option<InlineKind> {
    if !open.has_only(&["src", "alt", "data-size", "title"]) {
        return None;
    }
    let size = match open.get("data-size") {
        None => None,
        Some("line") => Some(InlineImageSize::Line),
        Some("original") => Some(InlineImageSize::Original),
        Some(_) => return None,
    };
    Some(InlineKind::InlineImage {
        target: Box::new(targets::read(open.get("src")?)),
        dark: None,
        caption: open.get("title").map(str::to_owned),
        alt: open.get("alt").filter(|alt| !alt.is_empty()).map(str::to_owned),
        size,
        // An image with a width is preserved as text, because it may be a block.
        width: None,
        height: None,
    })
}

/// The media query of the image for dark mode.
const DARK: &str = "(prefers-color-scheme: dark)";

/// Returns the `source` and `img` tags of a picture with a dark mode image.
pub(super) fn picture_parts<'n, 'a>(
    element: &'n Element<'a>,
) -> Option<(&'n OpeningTag<'a>, &'n OpeningTag<'a>)> {
    let [source, image] = element.elements()?.try_into().ok()?;
    let is_dark = source.name() == "source"
        && image.name() == "img"
        && element.open.has_only(&[])
        && source.open.get("media") == Some(DARK)
        && source.open.has_only(&["srcset", "media"]);
    (is_dark && source.open.has("srcset")).then_some((&source.open, &image.open))
}

fn read_picture(element: &Element<'_>) -> Option<InlineKind> {
    let (source, open) = picture_parts(element)?;
    let mut kind = image(open)?;
    if let InlineKind::InlineImage { dark, .. } = &mut kind {
        *dark = source.get("srcset").map(targets::read).map(Box::new);
    }
    Some(kind)
}

/// Prints an image, within a `picture` element if there is a dark mode image.
pub(super) fn picture(dark: Option<&ContentRef>, image: String) -> String {
    let Some(dark) = dark else { return image };
    let source = Opening::html("source").target("srcset", dark).value("media", DARK).end();
    format!("<picture>{source}{image}</picture>")
}

/// Prints an inline element as HTML. Links and annotations are printed elsewhere.
pub(super) fn write(kind: &InlineKind) -> Option<String> {
    let element = |opening: Opening, name: &str, text: &str| format!("{}{text}</{name}>", opening.end());
    Some(match kind {
        InlineKind::Icon { icon, color } => {
            let text = format!(":{}:", html::text(icon));
            let opening = Opening::html("i").value("class", format!("fa-{icon}"));
            element(
                opening.optional("style", color.map(|color| format!("color:{};", word(color)))),
                "i",
                &text,
            )
        }
        InlineKind::Expression { expression } => {
            element(Opening::html("code").value("class", "expression"), "code", &html::text(expression))
        }
        InlineKind::Emoji { code } => {
            let opening = Opening::html("span").bare("data-gb-custom-inline").value("data-tag", "emoji");
            element(opening.value("data-code", code), "span", &emoji_names::text(code)?)
        }
        InlineKind::Button { label, kind, icon, target, size, action } => {
            write_button(label, *kind, *size, icon.as_ref(), target.as_deref(), action.as_deref())?
        }
        InlineKind::InlineImage { target, dark, caption, alt, size, width, height } => {
            let size = size.map(|size| match size {
                InlineImageSize::Line => "line",
                InlineImageSize::Original => "original",
            });
            let image = Opening::html("img")
                .target("src", target)
                .value("alt", alt.as_deref().unwrap_or_default())
                .optional("width", width.as_deref().map(length_text))
                .optional("height", height.as_deref().map(length_text))
                .optional("title", caption.as_ref())
                .optional("data-size", size);
            picture(dark.as_deref(), image.end())
        }
        InlineKind::InlineMath { .. }
        | InlineKind::Link { .. }
        | InlineKind::Mention { .. }
        | InlineKind::Annotation {} => return None,
    })
}
