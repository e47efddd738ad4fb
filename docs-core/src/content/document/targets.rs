//! Where a link leads: the destination of a Markdown link as a reference, and back.
//!
//! | destination | reference |
//! |---|---|
//! | `/pages/<page>`, `/pages/<page>#<anchor>` | a page, a place on it |
//! | `/files/<file>`, `/reusable-content/<id>` | a file, a reusable content |
//! | `#<anchor>` | a place on this page |
//! | `/users/<user>`, `/collections/<collection>`, `/openapi/<slug>` | a user, a collection, a specification |
//! | `/spaces/<space>`, and with one of the paths for pages and reusable contents behind it | the same in another space |
//!
//! Everything else is an address, with the text as it is.

use crate::model::ContentRef;

/// The reference that a destination is.
pub(super) fn read(destination: &str) -> ContentRef {
    known(destination)
        .filter(|target| write(target) == destination)
        .unwrap_or_else(|| ContentRef::Url { url: destination.to_owned() })
}

fn known(destination: &str) -> Option<ContentRef> {
    if let Some(anchor) = destination.strip_prefix('#') {
        return some(anchor).map(|anchor| ContentRef::Anchor { anchor, page: None, space: None });
    }
    let (path, anchor) = match destination.strip_prefix('/')?.split_once('#') {
        Some((path, anchor)) => (path, Some(some(anchor)?)),
        None => (destination.strip_prefix('/')?, None),
    };
    let mut parts = path.split('/');
    let mut next = || parts.next();
    let (mut kind, mut id) = (next()?, next()?);
    let mut space = None;
    if kind == "spaces" {
        let parsed = id.parse().ok()?;
        match (next(), next()) {
            (Some(inner), Some(inner_id)) => (kind, id, space) = (inner, inner_id, Some(parsed)),
            _ => return Some(ContentRef::Space { space: parsed }),
        }
    }
    match kind {
        "pages" => {
            let page = id.parse().ok()?;
            Some(match anchor {
                Some(anchor) => ContentRef::Anchor { anchor, page: Some(page), space },
                None => ContentRef::Page { page, space },
            })
        }
        "reusable-content" => Some(ContentRef::ReusableContent { reusable_content: id.parse().ok()?, space }),
        "files" => Some(ContentRef::File { file: id.parse().ok()? }),
        "users" => Some(ContentRef::User { user: id.parse().ok()? }),
        "collections" => Some(ContentRef::Collection { collection: id.parse().ok()? }),
        "openapi" => Some(ContentRef::OpenApi { spec: some(id)? }),
        _ => None,
    }
}

fn some(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

/// The destination that a reference is written as.
pub(super) fn write(target: &ContentRef) -> String {
    let within =
        |space: &Option<_>| space.as_ref().map_or_else(String::new, |space| format!("/spaces/{space}"));
    match target {
        ContentRef::Url { url } => url.clone(),
        ContentRef::File { file } => format!("/files/{file}"),
        ContentRef::Page { page, space } => format!("{}/pages/{page}", within(space)),
        ContentRef::Anchor { anchor, page: Some(page), space } => {
            format!("{}/pages/{page}#{anchor}", within(space))
        }
        ContentRef::Anchor { anchor, page: None, .. } => format!("#{anchor}"),
        ContentRef::User { user } => format!("/users/{user}"),
        ContentRef::Collection { collection } => format!("/collections/{collection}"),
        ContentRef::Space { space } => format!("/spaces/{space}"),
        ContentRef::ReusableContent { reusable_content, space } => {
            format!("{}/reusable-content/{reusable_content}", within(space))
        }
        ContentRef::OpenApi { spec } => format!("/openapi/{spec}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reference_is_written_so_that_it_reads_back() {
        for text in [
            "/pages/p1",
            "/pages/p1#a",
            "/files/f",
            "/reusable-content/r",
            "#a.b",
            "/users/u",
            "/collections/c",
            "/openapi/petstore",
            "/spaces/s",
            "/spaces/s/pages/p",
            "/spaces/s/pages/p#x",
            "/spaces/s/reusable-content/r",
        ] {
            let target = read(text);
            assert!(!matches!(target, ContentRef::Url { .. }), "{text}");
            assert_eq!(write(&target), text);
        }
    }

    #[test]
    fn what_is_no_reference_is_an_address_as_it_is() {
        for text in [
            "",
            "#",
            "/pages/",
            "/pages/a b",
            "/pages/p#",
            "/spaces/s/x",
            "/files/f#a",
            "a.md",
            "https://x.y/#z",
        ] {
            assert_eq!(read(text), ContentRef::Url { url: text.to_owned() }, "{text}");
        }
    }
}
