//! The cover of a page, looked up: the same rules for files of a repository and for what clients send.

use crate::{
    content::markdown::CoverSource,
    model::{ContentRef, PageCover, web_url},
};

/// The cover that front matter names, its pictures looked up by the caller.
pub(super) fn cover_of(
    source: &CoverSource,
    mut find: impl FnMut(&str) -> Option<ContentRef>,
) -> Option<PageCover> {
    let reference = source.light.as_deref().and_then(&mut find);
    let reference_dark = source.dark.as_deref().and_then(&mut find);
    if reference.is_none() && reference_dark.is_none() {
        return None;
    }
    Some(PageCover { reference, reference_dark, y_pos: source.y_pos })
}

/// A destination that is an address on the web.
pub(super) fn web_reference(destination: &str) -> Option<ContentRef> {
    web_url(destination).map(|_| ContentRef::Url { url: destination.to_owned() })
}
