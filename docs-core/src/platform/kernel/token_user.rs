//! Users authenticated by a token, and the scope of the token.

use std::sync::Arc;

use crate::{
    model::{OrgId, UserId},
    platform::kernel::urls::Urls,
    policy::SignIn,
    store::records::TokenRecord,
};

/// A user authenticated by a token issued by the platform, as returned by
/// [`authenticate`](crate::Platform::authenticate).
///
/// An API token is valid in every organization that does not require single sign-on. The token of an SSO session is
/// valid only in the organization whose provider authenticated its bearer, because other organizations do not trust
/// that provider.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct TokenUser {
    user: UserId,
    /// The organization of the SSO session, if any.
    session_of: Option<OrgId>,
    /// The base URL of the platform.
    base: Arc<str>,
}

impl TokenUser {
    pub(in crate::platform) fn from_record(token: &TokenRecord, urls: &Urls) -> Self {
        let session_of = token.sso.as_ref().map(|session| session.organization.clone());
        Self::new(token.user.clone(), session_of, urls)
    }

    /// Creates a user with an API token, or with a session in an organization.
    pub(in crate::platform) fn new(user: UserId, session_of: Option<OrgId>, urls: &Urls) -> Self {
        Self { user, session_of, base: urls.base().into() }
    }

    #[must_use]
    pub const fn user(&self) -> &UserId {
        &self.user
    }

    /// Returns the organization of an SSO session, or `None` for API tokens.
    #[must_use]
    pub const fn session_org(&self) -> Option<&OrgId> {
        self.session_of.as_ref()
    }

    /// Returns `true` if the scope of the token includes the organization.
    pub(in crate::platform) fn reaches(&self, organization: &OrgId) -> bool {
        self.session_of.as_ref().is_none_or(|of| of == organization)
    }

    pub(in crate::platform) const fn sign_in(&self) -> SignIn {
        match self.session_of {
            Some(_) => SignIn::Sso,
            None => SignIn::Token,
        }
    }

    pub(in crate::platform) fn urls(&self) -> Urls {
        Urls::new(&self.base)
    }
}

impl std::fmt::Debug for TokenUser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TokenUser")
            .field("user", &self.user)
            .field("session_of", &self.session_of)
            .finish_non_exhaustive()
    }
}
