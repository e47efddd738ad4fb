//! Resolution of references.

use docs_markup::{
    document::{Anchors, decode_anchor},
    heading_anchor,
};
use docs_model::{ContentRef, PageId, ReusableId, SpaceId};

use super::{BookLowering, page_label};
use crate::{
    layout_tree::{ShownPart, ShownParts, ShownTag},
    termination::LayoutResult,
    text::one_line,
};

/// Maximum length of a link URL in bytes. A longer URL is rendered as text.
const MAX_URL_BYTES: usize = 4_000;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LinkTarget {
    /// A label of the book, which may not exist.
    pub(super) to: Option<String>,
    /// The label of the target's page.
    pub(super) page: Option<String>,
    pub(super) url: Option<String>,
}

impl LinkTarget {
    fn url(url: &str) -> Self {
        Self { url: is_address(url).then(|| url.to_owned()), ..Self::default() }
    }

    fn text_bytes(&self) -> usize {
        [&self.to, &self.page, &self.url].into_iter().flatten().map(String::len).sum()
    }

    /// Wraps parts in a link. Without a target, the parts are returned unchanged.
    fn wrap(self, c: ShownParts) -> ShownPart {
        let Self { to, page, url } = self;
        if to.is_none() && page.is_none() && url.is_none() {
            return ShownPart::Parts(c);
        }
        ShownTag::Link { c, to, page, url }.into()
    }
}

/// Returns `true` if text is a URL with a permitted scheme.
fn is_address(url: &str) -> bool {
    let known = ["https://", "http://", "mailto:", "tel:"];
    let starts = |scheme: &&str| url.get(..scheme.len()).is_some_and(|it| it.eq_ignore_ascii_case(scheme));
    url.len() <= MAX_URL_BYTES
        && known.iter().any(|scheme| starts(scheme) && url.len() > scheme.len())
        && !url.chars().any(|c| c.is_control() || c.is_whitespace())
}

impl BookLowering<'_> {
    /// Wraps parts in a link to the target of a reference. The URL counts as text.
    pub(super) fn link(&mut self, target: &ContentRef, c: ShownParts) -> LayoutResult<ShownPart> {
        let target = self.resolve_target(target);
        self.count_text(target.text_bytes())?;
        Ok(target.wrap(c))
    }

    /// Resolves a reference to a link target.
    fn resolve_target(&self, target: &ContentRef) -> LinkTarget {
        let known = self.book.links.get(target).and_then(|link| link.url.as_deref()).map(LinkTarget::url);
        match target {
            ContentRef::Url { url } => match url.strip_prefix('#') {
                Some(anchor) => self.anchor(self.page, anchor),
                None => known.unwrap_or_else(|| LinkTarget::url(url)),
            },
            ContentRef::Page { page, space } => self
                .page_index(page, space.as_ref())
                .map(|at| self.page_target(at))
                .or(known)
                .unwrap_or_default(),
            ContentRef::Anchor { anchor, page, space } => {
                let at = match page {
                    Some(page) => self.page_index(page, space.as_ref()),
                    None => Some(self.page),
                };
                at.map(|at| self.anchor(at, anchor)).or(known).unwrap_or_default()
            }
            _ => known.unwrap_or_default(),
        }
    }

    /// Returns the display name of a reference, which counts as text.
    pub(super) fn name(&mut self, target: &ContentRef) -> LayoutResult<String> {
        let name = self.find_name(target);
        self.count_text(name.len())?;
        Ok(name)
    }

    fn find_name(&self, target: &ContentRef) -> String {
        let name = self.find_title(target);
        match target {
            ContentRef::Anchor { anchor, .. } => {
                format!("{name} #{}", one_line(&decode_anchor(anchor))).trim_start().to_owned()
            }
            _ => name,
        }
    }

    /// Returns the title of the page or other content that a target is part of.
    fn find_title(&self, target: &ContentRef) -> String {
        if let Some(title) = self.book.links.get(target).and_then(|link| link.title.as_deref()) {
            return one_line(title);
        }
        match target {
            ContentRef::Url { url } => one_line(url),
            ContentRef::Page { page, space } | ContentRef::Anchor { page: Some(page), space, .. } => self
                .page_index(page, space.as_ref())
                .and_then(|at| self.book.pages.get(at))
                .map_or_else(|| page.to_string(), |page| one_line(&page.title)),
            ContentRef::Anchor { .. } => String::new(),
            ContentRef::File { file } => file.to_string(),
            ContentRef::User { user } => user.to_string(),
            ContentRef::Collection { collection } => collection.to_string(),
            ContentRef::Space { space } => space.to_string(),
            ContentRef::ReusableContent { reusable_content, .. } => reusable_content.to_string(),
            ContentRef::OpenApi { spec } => one_line(spec),
        }
    }

    /// Returns the label of a heading, or `None` if the label is already in use.
    pub(super) fn label(&mut self, anchor: Option<&str>, text: &str) -> Option<String> {
        let anchor = match anchor {
            Some(anchor) => one_line(anchor),
            None => heading_anchor(text),
        };
        let label = anchor_label(self.page, &anchor);
        (!anchor.is_empty() && self.labels.insert(label.clone())).then_some(label)
    }

    /// Returns the id of the referenced reusable content if the book contains it.
    pub(super) fn reusable(&self, target: &ContentRef) -> Option<&ReusableId> {
        match target {
            ContentRef::ReusableContent { reusable_content, .. } => {
                self.book.reusables.get_key_value(reusable_content).map(|(id, _)| id)
            }
            _ => None,
        }
    }

    /// Returns the index of a page in the book.
    fn page_index(&self, page: &PageId, space: Option<&SpaceId>) -> Option<usize> {
        match space {
            Some(space) if self.book.space.as_ref() != Some(space) => None,
            _ => self.pages.get(page).copied(),
        }
    }

    fn page_target(&self, at: usize) -> LinkTarget {
        LinkTarget { to: Some(page_label(at)), ..LinkTarget::default() }
    }

    fn anchor(&self, at: usize, anchor: &str) -> LinkTarget {
        let document = self.book.pages.get(at).and_then(|page| page.document.as_ref());
        let anchors = self
            .anchors
            .get(at)
            .zip(document)
            .map(|(anchors, document)| anchors.get_or_init(|| Anchors::new(document)));
        let anchor = anchors.and_then(|anchors| anchors.resolve(anchor)).unwrap_or(anchor);
        LinkTarget { to: Some(anchor_label(at, &one_line(anchor))), page: Some(page_label(at)), url: None }
    }
}

fn anchor_label(at: usize, anchor: &str) -> String {
    format!("p{at}#{anchor}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_longer_than_the_bound_are_no_links() {
        let is_link =
            |bytes: usize| LinkTarget::url(&format!("https://{}", "a".repeat(bytes - 8))).url.is_some();
        assert_eq!([MAX_URL_BYTES, MAX_URL_BYTES + 1].map(is_link), [true, false]);
    }
}
