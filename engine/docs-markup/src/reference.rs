//! The textual notation of references: the common grammar of destinations that identify resources by id.
//!
//! | destination | reference |
//! |---|---|
//! | `/pages/<page>`, `/pages/<page>#<anchor>` | a page, an anchor on it |
//! | `/files/<file>`, `/reusable-content/<id>` | a file, a reusable content block |
//! | `#<anchor>` | an anchor on the same page |
//! | `/users/<user>`, `/collections/<collection>`, `/openapi/<slug>` | a user, a collection, a specification |
//! | `/spaces/<space>`, optionally followed by a path of a page or a reusable content block | the same in another space |
//!
//! The parsers differ in strictness: a document only accepts this exact notation; links also accept client additions
//! that do not change the meaning.

use docs_model::{ContentRef, SpaceId};

/// Parses a path and an optional anchor.
#[must_use]
pub fn parse_path(path: &str, anchor: Option<&str>) -> Option<ContentRef> {
    let parts: Vec<&str> = path.strip_prefix('/')?.splitn(5, '/').collect();
    match parts.as_slice() {
        ["spaces", space] => Some(ContentRef::Space { space: space.parse().ok()? }),
        ["spaces", space, kind @ ("pages" | "reusable-content"), id] => {
            reference_by_kind(kind, id, anchor, Some(space.parse().ok()?))
        }
        [kind, id] => reference_by_kind(kind, id, anchor, None),
        _ => None,
    }
}

fn reference_by_kind(
    kind: &str,
    id: &str,
    anchor: Option<&str>,
    space: Option<SpaceId>,
) -> Option<ContentRef> {
    Some(match (kind, anchor) {
        ("pages", None) => ContentRef::Page { page: id.parse().ok()?, space },
        ("pages", Some(anchor)) => {
            ContentRef::Anchor { anchor: anchor.to_owned(), page: Some(id.parse().ok()?), space }
        }
        ("reusable-content", _) => ContentRef::ReusableContent { reusable_content: id.parse().ok()?, space },
        ("files", _) => ContentRef::File { file: id.parse().ok()? },
        ("users", _) => ContentRef::User { user: id.parse().ok()? },
        ("collections", _) => ContentRef::Collection { collection: id.parse().ok()? },
        ("openapi", _) if !id.is_empty() => ContentRef::OpenApi { spec: id.to_owned() },
        _ => return None,
    })
}

/// Parses a destination in the exact notation of [`destination`].
///
/// ```
/// use docs_markup::reference::parse_exact;
/// assert!(parse_exact("/pages/p1#top").is_some());
/// assert!(parse_exact("/pages/p1?x").is_none() && parse_exact("https://example.com/pages/p1").is_none());
/// ```
#[must_use]
pub fn parse_exact(text: &str) -> Option<ContentRef> {
    let (path, anchor) = match text.split_once('#') {
        Some((path, anchor)) => (path, Some(anchor)),
        None => (text, None),
    };
    let found = parse_path(path, anchor)?;
    (destination(&found) == text).then_some(found)
}

/// Prints a reference as a destination.
#[must_use]
pub fn destination(target: &ContentRef) -> String {
    let within =
        |space: &Option<_>| space.as_ref().map_or_else(String::new, |space| format!("/spaces/{space}"));
    match target {
        ContentRef::Url { url } => url.clone(),
        ContentRef::File { file } => format!("/files/{file}"),
        ContentRef::Page { page, space } => format!("{}/pages/{page}", within(space)),
        ContentRef::Anchor { anchor, page: Some(page), space } => {
            format!("{}/pages/{page}#{anchor}", within(space))
        }
        ContentRef::Anchor { anchor, page: None, space: None } => format!("#{anchor}"),
        // An anchor without a page links to the space.
        ContentRef::Anchor { page: None, space: Some(space), .. } | ContentRef::Space { space } => {
            format!("/spaces/{space}")
        }
        ContentRef::User { user } => format!("/users/{user}"),
        ContentRef::Collection { collection } => format!("/collections/{collection}"),
        ContentRef::ReusableContent { reusable_content, space } => {
            format!("{}/reusable-content/{reusable_content}", within(space))
        }
        ContentRef::OpenApi { spec } => format!("/openapi/{spec}"),
    }
}
