//! Small parts of pages that several others have.

use std::borrow::Cow;

use docs_core::model::{ContentRef, ExternalLinksTarget, Themed, Url};
use maud::{Markup, html};

use super::Scene;
use crate::{
    frame::{Entry, Frame},
    html::Html,
};

/// The anchors of pages that no author made. A sign that headings have none of keeps them apart from those of content.
pub(super) const CONTENT: &str = "~content";
/// That of the tree of pages.
pub(super) const TREE: &str = "~pages";
/// That of the links of the header.
pub(super) const LINKS: &str = "~links";

/// A picture of a site's own, one for light and one for dark surroundings; what it stands for where it cannot be
/// loaded.
pub(super) fn logo(scene: &Scene<'_>, picture: &Themed<Url>, alt: &str) -> Markup {
    let loaded = |url| scene.addresses.loaded(url);
    match (loaded(picture.light.as_str()), loaded(picture.dark.as_str())) {
        (Some(light), Some(dark)) if light != dark => html! {
            img.logo.for-light src=(light) alt=(alt);
            img.logo.for-dark src=(dark) alt=(alt);
        },
        (Some(only), _) | (None, Some(only)) => html! { img.logo src=(only) alt=(alt); },
        (None, None) => html! { span.title { (alt) } },
    }
}

/// A link of a site's own; its title alone where it leads to nothing that the visitor sees.
pub(super) fn link_to(scene: &Scene<'_>, to: &ContentRef, title: &str, class: Option<&str>) -> Markup {
    let target = scene.addresses.target(to);
    let opens = target.is_outside && scene.look.external_links.target == ExternalLinksTarget::Blank;
    match &target.href {
        Some(href) => html! {
            a class=[class] href=(href) rel=[target.is_outside.then_some("noopener")]
                target=[opens.then_some("_blank")] {
                (title)
            }
        },
        None => html! { span class=[class] { (title) } },
    }
}

/// Writes the title of an entry, with its emoji.
pub(super) fn write_named(html: &mut Html, entry: &Entry) {
    write_emoji(html, entry);
    html.text(&entry.title);
}

/// Writes the title of an entry as navigation shows it, with its emoji.
pub(super) fn write_brief(html: &mut Html, entry: &Entry) {
    write_emoji(html, entry);
    html.text(&brief(&entry.title));
}

fn write_emoji(html: &mut Html, entry: &Entry) {
    if let Some(emoji) = &entry.emoji {
        html.tags("<span class=\"emoji\">").text(emoji).tags("</span> ");
    }
}

/// Most characters of a text in navigation.
const MAX_BRIEF: usize = 160;

/// The beginning of a text, as navigation shows it: a page repeats titles of other pages, and each may be long.
pub(super) fn brief(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MAX_BRIEF) {
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default().trim_end())),
        None => Cow::Borrowed(text),
    }
}

/// The entries above an entry that a page names, from the top: of many, the first and the nearest.
#[derive(Debug)]
pub(super) struct Way {
    pub(super) start: Vec<usize>,
    pub(super) end: Vec<usize>,
    /// Some entries between the two are left out.
    pub(super) is_cut: bool,
}

impl Way {
    /// Most entries of the start.
    const START: usize = 2;
    /// Most entries of the end.
    const END: usize = 6;

    /// The way to an entry.
    pub(super) fn of(frame: &Frame, at: usize) -> Self {
        let mut all: Vec<usize> = frame.above(at).collect();
        all.reverse();
        let end = all.split_off(all.len().saturating_sub(Self::END));
        let is_cut = all.len() > Self::START;
        all.truncate(Self::START);
        Self { start: all, end, is_cut }
    }
}
