//! Redirects from old paths of pages within a space.

use docs_core::{ErrorKind, Result};
use percent_encoding::utf8_percent_encode;

use crate::{
    address::{Place, as_markdown},
    encode::SEGMENT,
    frame::{EntryKind, Frame},
    visit::Visit,
};

/// The target page of a redirect.
#[derive(Debug)]
pub(crate) struct Moved {
    /// The position in the page tree.
    pub(crate) at: usize,
    /// The anchor within the page.
    anchor: Option<String>,
}

/// Resolves an old path below a space to a page, if the visitor may see it.
///
/// # Errors
/// Those of the platform, except `NotFound`.
pub(crate) async fn moved_page(
    visit: &Visit,
    place: &Place<'_>,
    frame: &Frame,
    path: &str,
) -> Result<Option<Moved>> {
    if path.is_empty() {
        return Ok(None);
    }
    let found = match visit.content(&place.space.space.id).resolve_redirect(path).await {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        found => found?,
    };
    let at = frame.page(&found.page).and_then(|at| match frame.entries[at].kind {
        EntryKind::Document => Some(at),
        // A group has no page of its own and resolves to its first page.
        EntryKind::Group => frame.first_below(at),
        EntryKind::Link(_) | EntryKind::Computed => None,
    });
    Ok(at.map(|at| Moved { at, anchor: found.anchor }))
}

/// Resolves an old path below a space to an address of the page or its Markdown version, with the query of
/// the request.
///
/// # Errors
/// Same as [`moved_page`].
pub(crate) async fn moved_to(
    visit: &Visit,
    place: &Place<'_>,
    frame: &Frame,
    path: &str,
    query: &str,
) -> Result<Option<String>> {
    let mut found = moved_page(visit, place, frame, path).await?.map(|moved| (moved, false));
    if found.is_none()
        && let Some(path) = path.strip_suffix(".md")
    {
        found = moved_page(visit, place, frame, path).await?.map(|moved| (moved, true));
    }
    let Some((Moved { at, anchor }, is_markdown)) = found else { return Ok(None) };
    let addresses = visit.addresses(place);
    let Some(to) = addresses.of_entry(&addresses.space, frame, at) else { return Ok(None) };
    let to = if is_markdown { as_markdown(&to) } else { to };
    let query = if query.is_empty() { String::new() } else { format!("?{query}") };
    let anchor = anchor.map(|anchor| format!("#{}", utf8_percent_encode(&anchor, SEGMENT)));
    Ok(Some(format!("{to}{query}{}", anchor.unwrap_or_default())))
}
