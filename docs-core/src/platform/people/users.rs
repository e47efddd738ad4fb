//! Users and their API tokens.

pub(in crate::platform) mod update;
mod visibility;

use std::sync::Arc;

use async_trait::async_trait;
use docs_macros::{boxed, operation};

pub(in crate::platform) use self::visibility::can_see_user;
use crate::{
    Error, Result,
    model::{BASE32, BoundedText, OrgId, Timestamp, TokenId, User, UserId, UserObject, UserUrls},
    platform::{
        kernel::{actor::Actor, platform::Platform},
        nouns::{Caller, UserHandle, Users, list_identities::tag},
    },
    store::{
        Batches, Entity, Hash, Key, ListSpec, Lister, MAX_SCAN, Operation, Page, PageRequest, Tx, Value,
        decode,
        records::{MemberRecord, TokenRecord, UserRecord},
    },
};

/// Fields of a new user.
#[derive(Clone, Debug)]
pub struct NewUser {
    /// The name displayed to other users.
    pub display_name: BoundedText<1, 128>,
    /// The e-mail address. Unique, ignoring case.
    pub email: BoundedText<3, 254>,
}

/// Fields of a new token.
#[derive(Clone)]
pub struct NewToken {
    /// Description of the token's purpose, for its owner.
    pub label: BoundedText<0, 50>,
    /// The secret. Generated if absent.
    pub secret: Option<String>,
    /// The expiry time, or `None` if the token does not expire.
    pub expires_at: Option<Timestamp>,
}

/// Omits the secret.
impl std::fmt::Debug for NewToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("NewToken");
        shown.field("label", &self.label).field("expires_at", &self.expires_at).finish_non_exhaustive()
    }
}

/// A token without its secret, as returned in lists.
#[non_exhaustive]
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TokenInfo {
    /// The id, used to revoke the token.
    pub id: TokenId,
    /// Description of the token's purpose, for its owner.
    pub label: String,
    pub created_at: Timestamp,
    /// The expiry time, possibly in the past, or `None` if the token does not expire.
    pub expires_at: Option<Timestamp>,
}

impl TokenInfo {
    fn from_record(token: &TokenRecord) -> Self {
        Self {
            id: token.id.clone(),
            label: token.label.clone(),
            created_at: token.created_at,
            expires_at: token.expires_at,
        }
    }
}

/// A new token. The secret is returned only here.
#[non_exhaustive]
#[derive(Clone)]
pub struct TokenSecret {
    /// The id, used to revoke the token.
    pub id: TokenId,
    /// The value of the bearer token.
    pub secret: String,
}

impl std::fmt::Debug for TokenSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TokenSecret").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Maximum length of an e-mail address in bytes.
const MAX_EMAIL: usize = 254;
/// Minimum length of a secret chosen by the caller, in characters.
const MIN_SECRET_CHARS: usize = 16;

impl<'p> Caller<'p> {
    /// Reads the user of the caller.
    ///
    /// # Errors
    /// `Forbidden` for the platform itself; `NotFound` if the user is deleted.
    #[boxed]
    pub async fn current_user(self) -> Result<User> {
        let (platform, actor) = (self.platform, &self.actor());
        let tx = platform.read().await?;
        let user = actor.require_user()?;
        let record: Option<Arc<UserRecord>> = tx.get(&UserRecord::key_for(user)).await?;
        Ok(platform.user_view(&*record.ok_or_else(|| Error::not_found("user"))?))
    }
}

impl<'p> UserHandle<'p> {
    /// Creates an API token for a user.
    ///
    /// If absent, `secret` is generated. A given secret must consist of at least 16 ASCII letters, digits and
    /// punctuation characters.
    ///
    /// # Errors
    /// `Forbidden` unless the actor is the user or the platform; `Invalid` for a secret that is too short or contains
    /// other characters, or for an expiry that is not in the future; `Conflict` if the secret is already in use.
    #[boxed]
    pub async fn issue_token(self, new: NewToken) -> Result<TokenSecret> {
        let (platform, ref actor, user) = self.parts();
        require_token_owner(actor, user)?;
        let (token, secret) = platform.new_token(user, new)?;
        platform.write(actor, &TokenCreation(token)).await?;
        Ok(secret)
    }

    /// Lists the tokens of a user, oldest first, including expired ones. Secrets are not stored, so they are not
    /// returned.
    ///
    /// # Errors
    /// `Forbidden` unless the actor is the user or the platform; `NotFound` for an unknown user.
    #[boxed]
    pub async fn list_tokens(self, page: &'p PageRequest) -> Result<Page<TokenInfo>> {
        let (platform, ref actor, user) = self.parts();
        require_token_owner(actor, user)?;
        let tx = platform.read().await?;
        require_user(&tx, user).await?;
        let spec = ListSpec::new(tag::API_TOKENS, TokenRecord::by_user(user));
        let mut list = Lister::new(spec, page)?;
        list.fill(&tx, |_: &TokenRecord| true).await?;
        Ok(list.finish(&tx, None).await?.map(|token| TokenInfo::from_record(&token)))
    }

    /// Revokes a token, effective immediately.
    ///
    /// # Errors
    /// `Forbidden` unless the actor is the user or the platform; `NotFound` if the user has no such token.
    #[boxed]
    pub async fn revoke_token(self, token: &'p TokenId) -> Result<()> {
        let (platform, ref actor, user) = self.parts();
        require_token_owner(actor, user)?;
        platform.write(actor, &revoke_token(user, token)).await
    }
}

impl<'p> Users<'p> {
    /// Lists all users in id order. Reserved for the platform itself.
    ///
    /// # Errors
    /// `Forbidden` for users.
    #[boxed]
    pub async fn list(self, page: &'p PageRequest) -> Result<Page<User>> {
        let (platform, ref actor) = self.parts();
        actor.require_platform()?;
        let tx = platform.read().await?;
        let spec = ListSpec::new(tag::USERS, UserRecord::all());
        let mut list = Lister::new(spec, page)?;
        while let Some(rows) = list.rows(&tx).await? {
            let users = rows.iter().map(|(_, value)| Ok(Some(decode::<UserRecord>(value.clone())?)));
            list.offer_all(&rows, users.collect::<Result<Vec<_>>>()?);
        }
        Ok(list.finish(&tx, None).await?.map(|user| platform.user_view(&user)))
    }

    /// Finds the user with an e-mail address, ignoring case. Reserved for the platform itself.
    ///
    /// # Errors
    /// `Forbidden` for users; `NotFound` if no user has the address.
    #[boxed]
    pub async fn by_email(self, email: &'p str) -> Result<User> {
        let (platform, ref actor) = self.parts();
        actor.require_platform()?;
        let tx = platform.read().await?;
        let id = match tx.get_value(&UserRecord::by_email(email)).await? {
            Some(Value::Json(json)) => serde_json::from_slice::<UserId>(&json).map_err(Error::internal)?,
            _ => return Err(Error::not_found("user")),
        };
        Ok(platform.user_view(&*require_user(&tx, &id).await?))
    }
}

impl Platform {
    pub(in crate::platform) fn new_token(
        &self,
        user: &UserId,
        new: NewToken,
    ) -> Result<(TokenRecord, TokenSecret)> {
        let now = self.now();
        if new.expires_at.is_some_and(|end| end <= now) {
            return Err(Error::invalid("expiresAt", "must be in the future"));
        }
        let secret = match new.secret {
            Some(secret) if secret.chars().count() < MIN_SECRET_CHARS => {
                return Err(Error::invalid(
                    "secret",
                    format_args!("must be at least {MIN_SECRET_CHARS} characters"),
                ));
            }
            // Restricted to characters that are allowed in a header.
            Some(secret) if !secret.bytes().all(|byte| byte.is_ascii_graphic()) => {
                return Err(Error::invalid(
                    "secret",
                    "must consist of ASCII letters, digits and punctuation",
                ));
            }
            Some(secret) => secret,
            None => self.token_secret(),
        };
        let token = TokenRecord {
            hash: Hash::compute(secret.as_bytes()),
            id: self.id(),
            user: user.clone(),
            label: new.label.to_string(),
            created_at: now,
            expires_at: new.expires_at,
            sso: None,
        };
        let id = token.id.clone();
        Ok((token, TokenSecret { id, secret }))
    }

    /// Generates the secret of a new token.
    pub(in crate::platform) fn token_secret(&self) -> String {
        let (a, b) = (self.ids().next(), self.ids().next());
        format!("docs_{}{}", BASE32.encode(a.as_bytes()), BASE32.encode(b.as_bytes()))
    }

    pub(in crate::platform) fn user_view(&self, user: &UserRecord) -> User {
        User {
            object: UserObject::Is,
            id: user.id.clone(),
            display_name: user.display_name.clone(),
            email: Some(user.email.clone()),
            photo_url: user.photo.as_ref().map(ToString::to_string),
            urls: UserUrls { location: self.urls().user(&user.id) },
        }
    }

    /// Reads users referenced in the content of an organization. A guest, who may not list its members, sees their
    /// names but no e-mail address except their own.
    pub(in crate::platform) async fn visible_users(
        &self,
        tx: &Tx,
        (actor, org): (&Actor, &OrgId),
        ids: &[UserId],
    ) -> Result<Vec<User>> {
        let mut users = self.user_views(tx, ids).await?;
        let is_guest = match actor {
            Actor::Platform => false,
            Actor::Visitor(_) => true,
            Actor::User(_) | Actor::Token(_) => {
                let me = MemberRecord::key_for(org, actor.require_user()?);
                let member: Option<Arc<MemberRecord>> = tx.get(&me).await?;
                member.is_none_or(|member| member.role.is_none())
            }
        };
        let strangers = users.iter_mut().filter(|user| is_guest && Some(&user.id) != actor.user());
        strangers.for_each(|user| user.email = None);
        Ok(users)
    }

    /// Reads users by id, each once, and builds their views.
    pub(in crate::platform) async fn user_views(&self, tx: &Tx, ids: &[UserId]) -> Result<Vec<User>> {
        let keys: Vec<Key> = ids.iter().map(UserRecord::key_for).collect();
        let found = tx.get_many::<UserRecord>(&keys).await?;
        let shown = found.into_iter().zip(ids).map(|(user, id)| match user {
            Some(user) => self.user_view(&user),
            // The author of content remains identified by id after their account is deleted.
            None => User {
                object: UserObject::Is,
                id: id.clone(),
                display_name: "Former user".to_owned(),
                email: None,
                photo_url: None,
                urls: UserUrls { location: self.urls().user(id) },
            },
        });
        Ok(shown.collect())
    }
}

/// Rejects a malformed e-mail address.
pub(in crate::platform) fn check_email(field: &str, email: &str) -> Result<()> {
    let parts = email.split_once('@');
    let fits = |(name, host): (&str, &str)| !name.is_empty() && !host.is_empty() && !host.contains('@');
    if !parts.is_some_and(fits) || email.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(Error::invalid(field, "must be an address like name@example.com"));
    }
    // The address is part of keys, whose length in bytes is limited.
    if email.len() > MAX_EMAIL || email.to_lowercase().len() > MAX_EMAIL {
        return Err(Error::invalid(
            field,
            format_args!("must be at most {MAX_EMAIL} bytes, has {}", email.len()),
        ));
    }
    Ok(())
}

/// Rejects actors other than the token's owner and the platform.
fn require_token_owner(actor: &Actor, user: &UserId) -> Result<()> {
    match actor {
        Actor::Platform => Ok(()),
        Actor::User(me) if me == user => Ok(()),
        Actor::Token(token) if token.session_org().is_some() => {
            Err(Error::forbidden("a single sign-on session cannot create, list or revoke tokens"))
        }
        Actor::Token(token) if token.user() == user => Ok(()),
        Actor::User(_) | Actor::Token(_) | Actor::Visitor(_) => {
            Err(Error::forbidden("only the user can create, list and revoke their tokens"))
        }
    }
}

async fn require_user(tx: &Tx, id: &UserId) -> Result<Arc<UserRecord>> {
    tx.get(&UserRecord::key_for(id)).await?.ok_or_else(|| Error::not_found("user"))
}

pub(in crate::platform) struct TokenCreation(pub(in crate::platform) TokenRecord);

impl TokenCreation {
    pub(in crate::platform) fn key(&self) -> Key {
        TokenRecord::key_for(&self.0.hash)
    }
}

#[async_trait]
impl Operation for TokenCreation {
    type Output = ();
    const NAME: &'static str = "token_create";

    fn taken_error(&self, _key: &Key) -> Error {
        Error::conflict("secret: is in use by another token")
    }

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        require_user(tx, &self.0.user).await?;
        tx.create(self.0.clone());
        Ok(())
    }
}

#[operation("token_revoke")]
async fn revoke_token(tx: &mut Tx, user: &UserId, token: &TokenId) -> Result<()> {
    let mut batches = Batches::of(TokenRecord::by_user(user).scan(MAX_SCAN));
    while let Some(rows) = batches.next(tx).await? {
        let tokens = tx.get_many::<TokenRecord>(&TokenRecord::named_by_all(&rows)).await?;
        if let Some(found) = tokens.into_iter().flatten().find(|record| record.id == *token) {
            tx.delete(&*found);
            return Ok(());
        }
    }
    Err(Error::not_found("token"))
}

pub(in crate::platform) async fn find_user(tx: &Tx, user: &UserId) -> Result<Arc<UserRecord>> {
    let found: Option<Arc<UserRecord>> = tx.get(&UserRecord::key_for(user)).await?;
    found.ok_or_else(|| Error::not_found("user"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_longer_than_the_bound_are_refused() {
        // The limit is in bytes.
        let is_taken =
            |bytes: usize| check_email("email", &format!("{}@e.example", "ä".repeat((bytes - 10) / 2)));
        assert!(is_taken(MAX_EMAIL).is_ok());
        let error = is_taken(MAX_EMAIL + 2).expect_err("refused");
        assert!(error.message().starts_with("email: must be at most"), "{error}");
    }
}
