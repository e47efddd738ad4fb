//! Previews: a change request or a revision as the site would show it, for members who may read it.
//!
//! What it stands on is read as by any visitor; the content of the one space is read as the member reads it, so the
//! platform decides. Nothing of a preview is kept, by the server or by others.

use docs_core::{
    Actor, ErrorKind, Platform, Result,
    model::{ChangeRequest, RevisionId, SpaceId},
};

use crate::request::Asked;

/// What stands between the address of a space and that of a preview.
const BETWEEN: &str = "/~/";
/// The page of a preview that shows what changed.
pub(crate) const COMPARE: &str = "~compare";

/// Which content a preview shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    /// That of a change request, by its number or id.
    Request(String),
    /// That of a revision.
    Revision(RevisionId),
}

/// A preview that a member looks at.
#[derive(Debug)]
pub(crate) struct Preview {
    pub(crate) actor: Actor,
    pub(crate) space: SpaceId,
    pub(crate) version: Version,
    /// Its path below that of the space, with a slash at its end.
    pub(crate) path: String,
    /// The change request, where it is one.
    pub(crate) request: Option<ChangeRequest>,
}

/// What an address asks for behind the address of a space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Behind {
    /// A preview, and its path.
    Preview(Version, String),
    /// To sign in as a member.
    SignIn,
}

/// The address of a space, and what is asked for behind it.
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

/// Tells whether a change request may be called so.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= 64 && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// The member who asks, by the token of a header or a cookie; `None` for nobody.
///
/// # Errors
/// The platform's, but for a token that is not valid, which is nobody's.
pub(crate) async fn member(platform: &Platform, asked: &Asked<'_>) -> Result<Option<Actor>> {
    match asked.member_token() {
        Some(token) => member_of(platform, &token).await,
        None => Ok(None),
    }
}

/// The member whose token this is.
///
/// # Errors
/// The platform's, but for a token that is not valid, which is nobody's.
pub(crate) async fn member_of(platform: &Platform, token: &str) -> Result<Option<Actor>> {
    match platform.authenticate(token).await {
        Ok(actor @ (Actor::User(_) | Actor::Token(_))) => Ok(Some(actor)),
        Ok(_) => Ok(None),
        Err(error) if error.kind() == ErrorKind::Unauthenticated => Ok(None),
        Err(error) => Err(error),
    }
}

impl Preview {
    /// A preview of the content of a space.
    ///
    /// # Errors
    /// `NotFound` where the member may not read it.
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

    /// What the preview is called.
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
    fn what_stands_behind_the_address_of_a_space_is_a_preview_or_a_page() {
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
