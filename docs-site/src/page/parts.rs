//! Small parts of pages that are used in several places.

use docs_core::model::{ContentRef, ExternalLinksTarget, Themed, Url};
use maud::{Markup, html};

use super::PageContext;
use crate::page_tree::PageTree;

/// The anchor of the content. Anchors of the layout begin with `~`, which is never part of heading anchors.
pub(super) const CONTENT: &str = "~content";
/// The anchor of the page tree.
pub(super) const TREE: &str = "~pages";
/// The anchor of the header links.
pub(super) const LINKS: &str = "~links";

/// Renders an image of the site with light and dark variants. If it cannot be loaded, the alternative text is shown.
pub(super) fn logo(scene: &PageContext<'_>, picture: &Themed<Url>, alt: &str) -> Markup {
    let loaded = |url| scene.addresses.allowed_image_url(url);
    match (loaded(picture.light.as_str()), loaded(picture.dark.as_str())) {
        (Some(light), Some(dark)) if light != dark => html! {
            img.logo.for-light src=(light) alt=(alt);
            img.logo.for-dark src=(dark) alt=(alt);
        },
        (Some(only), _) | (None, Some(only)) => html! { img.logo src=(only) alt=(alt); },
        (None, None) => html! { span.title { (alt) } },
    }
}

/// Renders a link from the site's configuration. If the visitor cannot access the target, only the title is shown.
pub(super) fn link_to(scene: &PageContext<'_>, to: &ContentRef, title: &str, class: Option<&str>) -> Markup {
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

/// The ancestors of an entry for breadcrumbs, outermost first. If there are many, only the first and the nearest are
/// included.
#[derive(Debug)]
pub(super) struct BreadcrumbPath {
    pub(super) start: Vec<usize>,
    pub(super) end: Vec<usize>,
    /// `true` if entries between `start` and `end` are omitted.
    pub(super) is_cut: bool,
}

impl BreadcrumbPath {
    /// The maximum number of entries in `start`.
    const START: usize = 2;
    /// The maximum number of entries in `end`.
    const END: usize = 6;

    pub(super) fn new(frame: &PageTree, at: usize) -> Self {
        let mut all: Vec<usize> = frame.ancestors(at).collect();
        all.reverse();
        let end = all.split_off(all.len().saturating_sub(Self::END));
        let is_cut = all.len() > Self::START;
        all.truncate(Self::START);
        Self { start: all, end, is_cut }
    }
}
