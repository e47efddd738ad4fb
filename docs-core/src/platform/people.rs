//! Users and their tokens.

use std::sync::Arc;

use async_trait::async_trait;

use super::{Actor, Platform};
use crate::{
    Error, ErrorKind, Result,
    model::{BASE32, Text, Timestamp, TokenId, User, UserId, UserObject, UserUrls},
    store::{
        Hash, Key, Operation, Tx,
        records::{TokenRecord, UserRecord},
    },
};

/// What a new user is made of.
#[derive(Clone, Debug)]
pub struct NewUser {
    /// The name shown to others, 1 to 128 characters.
    pub display_name: Text<1, 128>,
    /// The e-mail address, unique whatever the case.
    pub email: Text<3, 254>,
}

/// A new token: the secret is shown here and nowhere else.
#[derive(Clone)]
pub struct TokenSecret {
    /// The id by which the token is revoked.
    pub id: TokenId,
    /// What to send as the bearer token.
    pub secret: String,
}

impl std::fmt::Debug for TokenSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TokenSecret").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Fewest characters of a secret that an operator chooses.
const LEAST_SECRET: usize = 16;

impl Platform {
    /// Finds whose token this is.
    ///
    /// Tokens are looked up by their hash, so no comparison's time tells anything of a secret.
    ///
    /// # Errors
    /// `Unauthenticated` for a token that nobody has, or that has ended.
    pub async fn authenticate(&self, secret: &str) -> Result<Actor> {
        let unknown = || Error::new(ErrorKind::Unauthenticated, "the token is not valid");
        let tx = self.read().await?;
        let token: Arc<TokenRecord> =
            tx.get(&TokenRecord::at(&Hash::of(secret.as_bytes()))).await?.ok_or_else(unknown)?;
        if token.expires_at.is_some_and(|end| end <= self.now()) {
            return Err(Error::new(ErrorKind::Unauthenticated, "the token has expired"));
        }
        Ok(Actor::User(token.user.clone()))
    }

    /// The user who acts (`GET /v1/user`).
    ///
    /// # Errors
    /// `Forbidden` for the platform itself; `NotFound` when the user is gone.
    pub async fn current_user(&self, actor: &Actor) -> Result<User> {
        let tx = self.read().await?;
        let user = actor.require_user()?;
        let record: Option<Arc<UserRecord>> = tx.get(&UserRecord::at(user)).await?;
        Ok(self.user_view(&*record.ok_or_else(|| Error::not_found("user"))?))
    }

    /// Creates a user. Only the platform itself may: people join organizations by other ways.
    ///
    /// # Errors
    /// `Conflict` when the e-mail address is taken; `Invalid` when it is none.
    pub async fn create_user(&self, actor: &Actor, user: NewUser) -> Result<User> {
        platform_only(actor)?;
        let record = self.new_user(&user)?;
        self.write(actor, &CreateUser(record.clone())).await?;
        Ok(self.user_view(&record))
    }

    pub(super) fn new_user(&self, user: &NewUser) -> Result<UserRecord> {
        let at = user.email.find('@').filter(|at| *at > 0 && *at + 1 < user.email.len());
        if at.is_none() || user.email.chars().any(char::is_whitespace) {
            return Err(Error::invalid("email", "must be an address like name@example.com"));
        }
        Ok(UserRecord {
            id: self.id(),
            display_name: user.display_name.to_string(),
            email: user.email.to_string(),
            photo: None,
            created_at: self.now(),
        })
    }

    /// Makes a token for a user. `secret` is drawn at random when absent; one that is given has at least 16
    /// characters.
    ///
    /// # Errors
    /// `Forbidden` unless the user, or the platform, asks; `Invalid` for a short secret; `Conflict` for one in use.
    pub async fn create_token(
        &self,
        actor: &Actor,
        user: &UserId,
        label: &Text<0, 50>,
        secret: Option<&str>,
    ) -> Result<TokenSecret> {
        if actor.user().is_some_and(|me| me != user) {
            return Err(Error::forbidden("a token is made by the user it is for"));
        }
        let (token, secret) = self.new_token(user, label, secret)?;
        self.write(actor, &CreateToken(token)).await?;
        Ok(secret)
    }

    pub(super) fn new_token(
        &self,
        user: &UserId,
        label: &str,
        secret: Option<&str>,
    ) -> Result<(TokenRecord, TokenSecret)> {
        let secret = match secret {
            Some(secret) if secret.chars().count() < LEAST_SECRET => {
                return Err(Error::invalid(
                    "secret",
                    format_args!("must be at least {LEAST_SECRET} characters"),
                ));
            }
            Some(secret) => secret.to_owned(),
            None => {
                let (a, b) = (self.ids().next(), self.ids().next());
                format!("docs_{}{}", BASE32.encode(a.as_bytes()), BASE32.encode(b.as_bytes()))
            }
        };
        let token = TokenRecord {
            hash: Hash::of(secret.as_bytes()),
            id: self.id(),
            user: user.clone(),
            label: label.to_string(),
            created_at: self.now(),
            expires_at: None,
        };
        let id = token.id.clone();
        Ok((token, TokenSecret { id, secret }))
    }

    pub(super) fn user_view(&self, user: &UserRecord) -> User {
        User {
            object: UserObject::Is,
            id: user.id.clone(),
            display_name: user.display_name.clone(),
            email: Some(user.email.clone()),
            photo_url: user.photo.as_ref().map(ToString::to_string),
            urls: UserUrls { location: self.urls().user(&user.id) },
        }
    }

    /// Reads users by id, each once, and shows them.
    pub(super) async fn user_views(&self, tx: &Tx, ids: &[UserId]) -> Result<Vec<User>> {
        let keys: Vec<Key> = ids.iter().map(UserRecord::at).collect();
        let found = tx.get_many::<UserRecord>(&keys).await?;
        let shown = found.into_iter().zip(ids).map(|(user, id)| match user {
            Some(user) => self.user_view(&user),
            // Whoever made something stays named by it, even when the account is gone.
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

/// Refuses everybody but the program that embeds the platform.
pub(super) fn platform_only(actor: &Actor) -> Result<()> {
    match actor {
        Actor::Platform => Ok(()),
        Actor::User(_) => Err(Error::forbidden("only the operator of the platform can do this")),
    }
}

pub(super) struct CreateUser(pub(super) UserRecord);

#[async_trait]
impl Operation for CreateUser {
    type Out = ();
    const NAME: &'static str = "user_create";

    fn taken(&self, _key: &Key) -> Error {
        Error::conflict("email: another user has this address")
    }

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        tx.create(self.0.clone());
        Ok(())
    }
}

pub(super) struct CreateToken(pub(super) TokenRecord);

impl CreateToken {
    pub(super) fn key(&self) -> Key {
        TokenRecord::at(&self.0.hash)
    }
}

#[async_trait]
impl Operation for CreateToken {
    type Out = ();
    const NAME: &'static str = "token_create";

    fn taken(&self, _key: &Key) -> Error {
        Error::conflict("secret: a token has this secret already")
    }

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let user: Option<Arc<UserRecord>> = tx.get(&UserRecord::at(&self.0.user)).await?;
        if user.is_none() {
            return Err(Error::not_found("user"));
        }
        tx.create(self.0.clone());
        Ok(())
    }
}

/// The time a record that changes now shows: never before the time it showed so far.
pub(super) fn later(now: Timestamp, before: Timestamp) -> Timestamp {
    now.max(Timestamp::new(before.time() + chrono::TimeDelta::milliseconds(1)))
}
