//! The URLs of previews.

use docs_core::model::RevisionId;

/// The separator between the URL of a space and the path of a preview.
const ROUTE_SEPARATOR: &str = "/~/";

/// The content version that a preview shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    /// A change request, by its number or id.
    Request(String),
    Revision(RevisionId),
}

/// The part of a path after the path of a space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PreviewRoute {
    /// A preview, and its path below the space.
    Preview(Version, String),
    /// The sign-in of a member.
    SignIn,
}

/// Splits a path into the path of a space and the route that follows it.
pub(crate) fn split_route(path: &str) -> (&str, Option<PreviewRoute>) {
    let Some((before, behind)) = path.split_once(ROUTE_SEPARATOR) else { return (path, None) };
    let mut segments = behind.split('/');
    let found = match (segments.next(), segments.next()) {
        (Some("sign-in"), None) => Some(PreviewRoute::SignIn),
        (Some("changes"), Some(name)) if is_name(name) => {
            Some(PreviewRoute::Preview(Version::Request(name.to_owned()), format!("~/changes/{name}/")))
        }
        (Some("revisions"), Some(name)) => name
            .parse()
            .ok()
            .map(|id| PreviewRoute::Preview(Version::Revision(id), format!("~/revisions/{name}/"))),
        _ => None,
    };
    match found {
        Some(behind) => (before, Some(behind)),
        None => (path, None),
    }
}

/// Returns `true` if the text can be the number or id of a change request.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= 64 && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_below_a_space_are_previews_or_pages() {
        let request = |name: &str| {
            PreviewRoute::Preview(Version::Request(name.to_owned()), format!("~/changes/{name}/"))
        };
        assert_eq!(split_route("/sites/a/~/changes/3"), ("/sites/a", Some(request("3"))));
        assert_eq!(split_route("/sites/a/b/~/changes/3/c/d"), ("/sites/a/b", Some(request("3"))));
        assert_eq!(split_route("/sites/a/~/sign-in"), ("/sites/a", Some(PreviewRoute::SignIn)));
        for page in
            ["/sites/a/~", "/sites/a/~/changes", "/sites/a/~/changes/", "/sites/a/~/changes/%2e", "/a/~/b/c"]
        {
            assert_eq!(split_route(page), (page, None), "{page}");
        }
    }
}
