//! Redirects of a site: those that users create, and from previous paths of pages within a space.

use docs_core::{ErrorKind, Result};
use percent_encoding::utf8_percent_encode;
use poem::http::StatusCode;

use crate::{
    address::{SitePlace, to_markdown_address},
    encode::{SEGMENT, encode_segments},
    page_tree::{EntryKind, PageTree},
    visit::Visit,
};

/// The target page of a redirect.
#[derive(Debug)]
pub(crate) struct RedirectedPage {
    /// The index in the page tree.
    pub(crate) at: usize,
    /// The anchor within the page.
    anchor: Option<String>,
}

/// Resolves a previous path below a space to a page, if the visitor may see it.
///
/// # Errors
/// Errors of the platform, except `NotFound`.
pub(crate) async fn find_redirect(
    visit: &Visit,
    place: &SitePlace<'_>,
    frame: &PageTree,
    path: &str,
) -> Result<Option<RedirectedPage>> {
    if path.is_empty() {
        return Ok(None);
    }
    let found = match visit.content(&place.space.space.id).resolve_redirect(path).await {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        found => found?,
    };
    let at = frame.page(&found.page).and_then(|at| match frame.entries[at].kind {
        EntryKind::Document => Some(at),
        // A group has no page and resolves to its first page.
        EntryKind::Group => frame.first_descendant(at),
        EntryKind::Link(_) | EntryKind::Computed => None,
    });
    Ok(at.map(|at| RedirectedPage { at, anchor: found.anchor }))
}

/// Resolves a previous path below a space to the URL of the page or of its Markdown version, with the query of the
/// request.
///
/// # Errors
/// Same as [`find_redirect`].
pub(crate) async fn redirect_url(
    visit: &Visit,
    place: &SitePlace<'_>,
    frame: &PageTree,
    path: &str,
    query: &str,
) -> Result<Option<String>> {
    let mut found = find_redirect(visit, place, frame, path).await?.map(|moved| (moved, false));
    if found.is_none()
        && let Some(path) = path.strip_suffix(".md")
    {
        found = find_redirect(visit, place, frame, path).await?.map(|moved| (moved, true));
    }
    let Some((RedirectedPage { at, anchor }, is_markdown)) = found else { return Ok(None) };
    let addresses = visit.addresses(place);
    let Some(to) = addresses.entry_address(&addresses.space, frame, at) else { return Ok(None) };
    let to = if is_markdown { to_markdown_address(&to) } else { to };
    let anchor = anchor.map(|anchor| format!("#{}", utf8_percent_encode(&anchor, SEGMENT)));
    Ok(Some(format!("{to}{}{}", query_suffix(query), anchor.unwrap_or_default())))
}

/// Resolves the path of an HTML file below a space, as static site generators write them (`guide/setup.html`,
/// `guide/index.html`), to the URL of the page that has the path without the extension, now or before.
///
/// # Errors
/// Same as [`find_redirect`].
pub(crate) async fn html_redirect_url(
    visit: &Visit,
    place: &SitePlace<'_>,
    frame: &PageTree,
    path: &str,
    query: &str,
) -> Result<Option<String>> {
    let Some(path) = path.strip_suffix(".html") else { return Ok(None) };
    if path == "index" {
        let addresses = visit.addresses(place);
        let first = frame.first().and_then(|at| addresses.entry_address(&addresses.space, frame, at));
        return Ok(first.map(|to| to + &query_suffix(query)));
    }
    redirect_url(visit, place, frame, path.strip_suffix("/index").unwrap_or(path), query).await
}

fn query_suffix(query: &str) -> String {
    if query.is_empty() { String::new() } else { format!("?{query}") }
}

/// Finds a redirect that users created for one of the paths. Returns the status and the URL of the response.
///
/// # Errors
/// Errors of the platform.
pub(crate) async fn site_redirect(
    visit: &Visit,
    paths: [&[String]; 2],
) -> Result<Option<(StatusCode, String)>> {
    for path in paths {
        if let Some(found) = visit.redirect(&format!("/{}", encode_segments(path))).await? {
            let is_permanent = found.redirect.permanent && visit.is_for_all;
            let status =
                if is_permanent { StatusCode::PERMANENT_REDIRECT } else { StatusCode::TEMPORARY_REDIRECT };
            return Ok(Some((status, found.target)));
        }
    }
    Ok(None)
}
