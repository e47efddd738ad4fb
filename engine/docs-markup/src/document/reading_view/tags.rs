//! Unknown tags in Markdown, such as `{% prompt %}`, replaced by their content.

use std::borrow::Cow;

use pulldown_cmark::{Event, Parser, Tag};

use super::options::OPTIONS;
use crate::syntax::tag;

/// Values of a tag that readers see.
const SHOWN: [&str; 4] = ["title", "label", "date", "name"];

/// Returns Markdown without its tags. The title of a tag becomes bold text.
pub(super) fn removed(source: &str) -> Cow<'_, str> {
    if !source.contains("{%") {
        return Cow::Borrowed(source);
    }
    let mut code = Vec::new();
    for (event, range) in Parser::new_ext(source, OPTIONS).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(_)) | Event::Code(_) => code.push(range),
            _ => {}
        }
    }
    let mut out = String::with_capacity(source.len());
    let mut at = 0;
    for tag in tag::tags(source, &code) {
        let Some(start) = source[at..tag.end].rfind("{%").map(|start| at + start) else { continue };
        out.push_str(&source[at..start]);
        out.push_str(&shown(&tag, source));
        at = tag.end;
    }
    out.push_str(&source[at..]);
    Cow::Owned(out)
}

fn shown(tag: &tag::Tag<'_>, source: &str) -> String {
    let values = tag.values().unwrap_or_default();
    let value = |name: &str| {
        let found = values.iter().find(|value| value.name == name)?;
        Some(found.text(source).into_owned()).filter(|text| !text.trim().is_empty())
    };
    if let Some(title) = SHOWN.iter().find_map(|name| value(name)) {
        return format!("**{}**\n", title.replace(['*', '<', '\n'], " ").trim());
    }
    match value("url").or_else(|| value("src")) {
        Some(url) if !url.contains(['<', '>', '\n']) => format!("<{url}>"),
        _ => String::new(),
    }
}
