//! Users who are known by a token of the platform: where it is good depends on how they came to it.

use std::sync::Arc;

use crate::{
    model::{OrgId, UserId},
    platform::Urls,
    policy::SignIn,
    store::records::TokenRecord,
};

/// A user who is known by a token of the platform, as [`authenticate`](crate::Platform::authenticate) answers.
///
/// A token that a user was given is good in every organization that does not insist on single sign-on; that of a
/// session of single sign-on in the one organization whose provider vouched for its bearer, and nowhere else: another
/// organization has no reason to believe that provider.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct TokenUser {
    user: UserId,
    /// The organization whose provider the session is of.
    session_of: Option<OrgId>,
    /// What addresses of this platform begin with.
    base: Arc<str>,
}

impl TokenUser {
    pub(super) fn of(token: &TokenRecord, urls: &Urls) -> Self {
        let session_of = token.sso.as_ref().map(|session| session.organization.clone());
        Self::new(token.user.clone(), session_of, urls)
    }

    /// A user, by a token that they were given or by a session in an organization.
    pub(super) fn new(user: UserId, session_of: Option<OrgId>, urls: &Urls) -> Self {
        Self { user, session_of, base: urls.base().into() }
    }

    /// The user.
    #[must_use]
    pub const fn user(&self) -> &UserId {
        &self.user
    }

    /// The organization that a session of single sign-on is good in; `None` for tokens that users were given.
    #[must_use]
    pub const fn session_of(&self) -> Option<&OrgId> {
        self.session_of.as_ref()
    }

    /// Tells whether the token is good in an organization, as far as the token goes.
    pub(super) fn reaches(&self, organization: &OrgId) -> bool {
        self.session_of.as_ref().is_none_or(|of| of == organization)
    }

    /// How the user signed in.
    pub(super) const fn sign_in(&self) -> SignIn {
        match self.session_of {
            Some(_) => SignIn::Sso,
            None => SignIn::Token,
        }
    }

    /// The addresses of the platform.
    pub(super) fn urls(&self) -> Urls {
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
