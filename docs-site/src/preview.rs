//! Previews: a change request or a revision as the site would show it, for members with read access.
//!
//! The site itself is read as for any visitor. The content of the previewed space is read as the member, so
//! the platform decides about access. Neither the server nor clients cache previews.

use docs_core::{
    Actor, ErrorKind, Platform, Result,
    model::{ChangeRequest, RevisionId, SpaceId},
};

use crate::request::Asked;

/// The separator between the address of a space and the path of a preview.
const BETWEEN: &str = "/~/";
/// The name of the comparison page of a preview.
pub(crate) const COMPARE: &str = "~compare";

/// The content that a preview shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    /// A change request, by its number or id.
    Request(String),
    Revision(RevisionId),
}

/// A preview opened by a member.
#[derive(Debug)]
pub(crate) struct Preview {
    pub(crate) actor: Actor,
    pub(crate) space: SpaceId,
    pub(crate) version: Version,
    /// The path of the preview below the space, with a trailing slash.
    pub(crate) path: String,
    /// The change request, if the preview shows one.
    pub(crate) request: Option<ChangeRequest>,
}

/// The part of an address after that of a space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Behind {
    /// A preview, and its path below the space.
    Preview(Version, String),
    /// The sign-in of a member.
    SignIn,
}

/// Splits an address into that of a space and the route after it.
pub(crate) fn split(path: &str) -> (&str, Option<Behind>) {
    let Some((before, behind)) = path.split_once(BETWEEN) else { return (path, None) };
    let mut segments = behind.split('/');
    let found = match (segments.next(), segments.next()) {
        (Some("sign-in"), None) => Some(Behind::SignIn),
        (Some("changes"), Some(name)) if is_name(name) => {
            Some(Behind::Preview(Version::Request(name.to_owned()), format!("~/changes/{name}/")))
        }
        (Some("revisions"), Some(name)) => {
            name.parse().ok().map(|id| Behind::Preview(Version::Revision(id), format!("~/revisions/{name}/")))
        }
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

/// Authenticates the member by the token in a header or cookie. Returns `None` without a valid token.
///
/// # Errors
/// Those of the platform, except for an invalid token.
pub(crate) async fn member(platform: &Platform, asked: &Asked<'_>) -> Result<Option<Actor>> {
    match asked.member_token() {
        Some(token) => member_of(platform, &token).await,
        None => Ok(None),
    }
}

/// Authenticates a member by a token. Returns `None` for an invalid token.
///
/// # Errors
/// Those of the platform, except for an invalid token.
pub(crate) async fn member_of(platform: &Platform, token: &str) -> Result<Option<Actor>> {
    match platform.authenticate(token).await {
        Ok(actor @ (Actor::User(_) | Actor::Token(_))) => Ok(Some(actor)),
        Ok(_) => Ok(None),
        Err(error) if error.kind() == ErrorKind::Unauthenticated => Ok(None),
        Err(error) => Err(error),
    }
}

impl Preview {
    /// Opens a preview of the content of a space.
    ///
    /// # Errors
    /// `NotFound` if the member has no read access.
    pub(crate) async fn of(
        platform: &Platform,
        actor: Actor,
        (space, version, path): (&SpaceId, Version, String),
    ) -> Result<Self> {
        let request = match &version {
            Version::Request(name) => {
                Some(platform.as_actor(&actor).space(space).change_request(name).get().await?)
            }
            Version::Revision(_) => None,
        };
        Ok(Self { actor, space: space.clone(), version, path, request })
    }

    /// The name of the preview: the number and subject of the change request, or the id of the revision.
    pub(crate) fn name(&self) -> String {
        match (&self.request, &self.version) {
            (Some(request), _) if request.subject.as_str().trim().is_empty() => {
                format!("#{}", request.number)
            }
            (Some(request), _) => format!("#{} {}", request.number, request.subject.as_str()),
            (None, Version::Revision(id)) => id.to_string(),
            (None, Version::Request(name)) => format!("#{name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_below_a_space_are_previews_or_pages() {
        let request =
            |name: &str| Behind::Preview(Version::Request(name.to_owned()), format!("~/changes/{name}/"));
        assert_eq!(split("/sites/a/~/changes/3"), ("/sites/a", Some(request("3"))));
        assert_eq!(split("/sites/a/b/~/changes/3/c/d"), ("/sites/a/b", Some(request("3"))));
        assert_eq!(split("/sites/a/~/sign-in"), ("/sites/a", Some(Behind::SignIn)));
        for page in
            ["/sites/a/~", "/sites/a/~/changes", "/sites/a/~/changes/", "/sites/a/~/changes/%2e", "/a/~/b/c"]
        {
            assert_eq!(split(page), (page, None), "{page}");
        }
    }
}
