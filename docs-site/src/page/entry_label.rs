//! Labels of entries in navigation and lists of pages: emoji and shortened title.

use std::borrow::Cow;

use crate::{html::Html, page_tree::PageTreeEntry};

/// Writes the title of an entry, with its emoji.
pub(super) fn write_named(html: &mut Html, entry: &PageTreeEntry) {
    write_emoji(html, entry);
    html.text(&entry.title);
}

/// Writes the shortened title of an entry for navigation, with its emoji.
pub(super) fn write_brief(html: &mut Html, entry: &PageTreeEntry) {
    write_emoji(html, entry);
    html.text(&brief(&entry.title));
}

fn write_emoji(html: &mut Html, entry: &PageTreeEntry) {
    if let Some(emoji) = &entry.emoji {
        html.tags("<span class=\"emoji\">").text(emoji).tags("</span> ");
    }
}

/// The maximum number of characters of a title in navigation.
const MAX_BRIEF: usize = 160;

/// Shortens `text` for navigation. A page repeats the titles of many other pages, and each title may be long.
pub(super) fn brief(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MAX_BRIEF) {
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default().trim_end())),
        None => Cow::Borrowed(text),
    }
}
