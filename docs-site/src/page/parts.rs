//! Small parts of pages that several others have.

use docs_core::model::{ContentRef, ExternalLinksTarget, Themed, Url};
use maud::{Markup, html};

use super::Scene;
use crate::{frame::Entry, html::Html};

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
    if let Some(emoji) = &entry.emoji {
        html.tags("<span class=\"emoji\">").text(emoji).tags("</span> ");
    }
    html.text(&entry.title);
}
