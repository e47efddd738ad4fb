//! Previews: a change request or revision as the site would show it, for members with read access.
//!
//! The site itself is read as for any visitor. The content of the previewed space is read as the member, so the
//! platform checks the access. Neither the server nor clients cache previews.

use docs_core::{
    Actor, ErrorKind, Platform, Result,
    model::{ChangeRequest, SpaceId},
};

use crate::{preview_route::Version, request::SiteRequest};

/// The name of the comparison page of a preview.
pub(crate) const COMPARE: &str = "~compare";

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

/// Authenticates the member by the token in a header or cookie. Returns `None` without a valid token.
///
/// # Errors
/// Errors of the platform, except for an invalid token.
pub(crate) async fn authenticate_request(
    platform: &Platform,
    asked: &SiteRequest<'_>,
) -> Result<Option<Actor>> {
    match asked.member_token() {
        Some(token) => authenticate_token(platform, &token).await,
        None => Ok(None),
    }
}

/// Authenticates a member by a token. Returns `None` for an invalid token.
///
/// # Errors
/// Errors of the platform, except for an invalid token.
pub(crate) async fn authenticate_token(platform: &Platform, token: &str) -> Result<Option<Actor>> {
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
    pub(crate) async fn open(
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

    /// Returns the name of the preview: the number and subject of the change request, or the id of the revision.
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
