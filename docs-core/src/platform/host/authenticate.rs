//! Authentication of bearer tokens.

use std::sync::Arc;

use docs_macros::boxed;

use crate::{
    Error, ErrorKind, Result,
    platform::{
        kernel::{actor::Actor, platform::Platform, token_user::TokenUser},
        people::saml,
    },
    store::{Hash, records::TokenRecord},
};

impl Platform {
    /// Authenticates a bearer token of a user, or a content token of a site visitor.
    ///
    /// Tokens are looked up by the hash of their secret, so secrets are never compared. Timing differences could reveal
    /// at most a hash, from which the secret cannot be derived.
    ///
    /// # Errors
    /// `Unauthenticated` for an unknown or expired token. The token of a single sign-on session becomes invalid when
    /// its provider is deleted, when the provider's trust settings change, or when its user's membership ends.
    #[boxed('a)]
    pub async fn authenticate<'a>(&'a self, secret: &'a str) -> Result<Actor> {
        let unknown = || Error::new(ErrorKind::Unauthenticated, "the token is not valid");
        let tx = self.read().await?;
        let token: Option<Arc<TokenRecord>> =
            tx.get(&TokenRecord::key_for(&Hash::compute(secret.as_bytes()))).await?;
        let token = match token {
            None if is_content_token(secret) => return self.visitor_from_token(secret).map(Actor::Visitor),
            token => token.ok_or_else(unknown)?,
        };
        if token.expires_at.is_some_and(|end| end <= self.now()) {
            return Err(Error::new(ErrorKind::Unauthenticated, "the token has expired"));
        }
        if let Some(session) = &token.sso {
            saml::require_current(&tx, &token.user, session).await?;
        }
        Ok(Actor::Token(TokenUser::from_record(&token, self.urls())))
    }
}

/// Returns `true` if a secret has the form of a content token: three dot-separated parts, the first a JSON object.
fn is_content_token(secret: &str) -> bool {
    secret.starts_with("eyJ") && secret.split('.').count() == 3
}
