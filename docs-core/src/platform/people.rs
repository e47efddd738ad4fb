//! Users and their tokens.

use std::sync::Arc;

use async_trait::async_trait;

use super::{Actor, Platform, invites::Redeem};
use crate::{
    BoxFuture, Error, ErrorKind, Result,
    model::{BASE32, JobId, OrgId, Text, Timestamp, TokenId, User, UserId, UserObject, UserUrls},
    store::{
        Batches, Entity, Hash, Key, ListSpec, Lister, MAX_SCAN, Operation, Page, PageRequest, Tx, Value,
        id_of,
        records::{MemberRecord, TokenRecord, UserRecord},
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

/// What a new token is made of.
#[derive(Clone)]
pub struct NewToken {
    /// What it is for.
    pub label: Text<0, 50>,
    /// The secret, at least 16 characters; drawn at random when absent.
    pub secret: Option<String>,
    /// When it ends; never when absent.
    pub expires_at: Option<Timestamp>,
}

/// Without the secret.
impl std::fmt::Debug for NewToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("NewToken");
        shown.field("label", &self.label).field("expires_at", &self.expires_at).finish_non_exhaustive()
    }
}

/// A token as it is listed: without its secret.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TokenInfo {
    /// The id by which it is revoked.
    pub id: TokenId,
    /// What it is for.
    pub label: String,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it ends, or ended; never when absent.
    pub expires_at: Option<Timestamp>,
}

impl TokenInfo {
    fn of(token: &TokenRecord) -> Self {
        Self {
            id: token.id.clone(),
            label: token.label.clone(),
            created_at: token.created_at,
            expires_at: token.expires_at,
        }
    }
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

/// Organizations of a user that are looked at together.
const ORGS_AT_ONCE: u32 = 200;
/// Most bytes of an e-mail address.
const MAX_EMAIL: usize = 254;
/// Fewest characters of a secret that an operator chooses.
const LEAST_SECRET: usize = 16;

impl Platform {
    /// Finds whose token this is: a user's, or a visitor's of a site, who has a content token.
    ///
    /// A token is looked up by the hash of its secret, and nothing compares secrets: all that the time of a lookup could
    /// tell is a hash, from which no secret can be found.
    ///
    /// # Errors
    /// `Unauthenticated` for a token that nobody has, or that has ended.
    pub fn authenticate<'a>(&'a self, secret: &'a str) -> BoxFuture<'a, Result<Actor>> {
        Box::pin(async move {
            let unknown = || Error::new(ErrorKind::Unauthenticated, "the token is not valid");
            let tx = self.read().await?;
            let token: Option<Arc<TokenRecord>> =
                tx.get(&TokenRecord::at(&Hash::of(secret.as_bytes()))).await?;
            let token = match token {
                None if is_content_token(secret) => return self.visitor_of(secret).map(Actor::Visitor),
                token => token.ok_or_else(unknown)?,
            };
            if token.expires_at.is_some_and(|end| end <= self.now()) {
                return Err(Error::new(ErrorKind::Unauthenticated, "the token has expired"));
            }
            Ok(Actor::User(token.user.clone()))
        })
    }

    /// The user who acts (`GET /v1/user`).
    ///
    /// # Errors
    /// `Forbidden` for the platform itself; `NotFound` when the user is gone.
    pub fn current_user<'a>(&'a self, actor: &'a Actor) -> BoxFuture<'a, Result<User>> {
        Box::pin(async move {
            let tx = self.read().await?;
            let user = actor.require_user()?;
            let record: Option<Arc<UserRecord>> = tx.get(&UserRecord::at(user)).await?;
            Ok(self.user_view(&*record.ok_or_else(|| Error::not_found("user"))?))
        })
    }

    /// Reads a user: oneself, or somebody in an organization of which the actor is a member and no guest.
    ///
    /// # Errors
    /// `NotFound`, also for a user whom the actor does not know of.
    pub fn get_user<'a>(&'a self, actor: &'a Actor, id: &'a UserId) -> BoxFuture<'a, Result<User>> {
        Box::pin(async move {
            let tx = self.read().await?;
            let user: Option<Arc<UserRecord>> = tx.get(&UserRecord::at(id)).await?;
            let user = user.ok_or_else(|| Error::not_found("user"))?;
            let knows = match actor {
                Actor::User(me) => me == id || share_org(&tx, me, id).await?,
                Actor::Platform => true,
                Actor::Visitor(_) => false,
            };
            if knows { Ok(self.user_view(&user)) } else { Err(Error::not_found("user")) }
        })
    }

    /// Creates a user, who joins every organization that the address was invited to. Only the platform itself may.
    ///
    /// # Errors
    /// `Conflict` when the e-mail address is taken; `Invalid` when it is none.
    pub fn create_user<'a>(&'a self, actor: &'a Actor, user: NewUser) -> BoxFuture<'a, Result<User>> {
        Box::pin(async move {
            platform_only(actor)?;
            let record = self.new_user(&user)?;
            self.write(actor, &CreateUser { user: record.clone(), job: self.id() }).await?;
            self.welcome(&record.id).await;
            Ok(self.user_view(&record))
        })
    }

    pub(super) fn new_user(&self, user: &NewUser) -> Result<UserRecord> {
        check_email("email", &user.email)?;
        Ok(UserRecord {
            id: self.id(),
            display_name: user.display_name.to_string(),
            email: user.email.to_string(),
            photo: None,
            created_at: self.now(),
        })
    }

    /// Makes a token for a user. `secret` is drawn at random when absent; one that is given has at least 16
    /// characters: ASCII letters, digits and punctuation.
    ///
    /// # Errors
    /// `Forbidden` unless the user, or the platform, asks; `Invalid` for a short secret, or one of other characters; `Conflict` for one in use.
    pub fn create_token<'a>(
        &'a self,
        actor: &'a Actor,
        user: &'a UserId,
        label: &'a Text<0, 50>,
        secret: Option<&'a str>,
    ) -> BoxFuture<'a, Result<TokenSecret>> {
        Box::pin(async move {
            let new = NewToken { label: label.clone(), secret: secret.map(str::to_owned), expires_at: None };
            self.issue_token(actor, user, new).await
        })
    }

    /// Makes a token for a user, as [`create_token`](Platform::create_token) does; it may end at a time.
    ///
    /// # Errors
    /// As [`create_token`](Platform::create_token); `Invalid` for an end that is not in the future.
    pub fn issue_token<'a>(
        &'a self,
        actor: &'a Actor,
        user: &'a UserId,
        new: NewToken,
    ) -> BoxFuture<'a, Result<TokenSecret>> {
        Box::pin(async move {
            own_token(actor, user)?;
            let (token, secret) = self.new_token(user, new)?;
            self.write(actor, &CreateToken(token)).await?;
            Ok(secret)
        })
    }

    pub(super) fn new_token(&self, user: &UserId, new: NewToken) -> Result<(TokenRecord, TokenSecret)> {
        let now = self.now();
        if new.expires_at.is_some_and(|end| end <= now) {
            return Err(Error::invalid("expiresAt", "must be in the future"));
        }
        let secret = match new.secret {
            Some(secret) if secret.chars().count() < LEAST_SECRET => {
                return Err(Error::invalid(
                    "secret",
                    format_args!("must be at least {LEAST_SECRET} characters"),
                ));
            }
            // What a request carries in a header.
            Some(secret) if !secret.bytes().all(|byte| byte.is_ascii_graphic()) => {
                return Err(Error::invalid("secret", "must be of ASCII letters, digits and punctuation"));
            }
            Some(secret) => secret,
            None => {
                let (a, b) = (self.ids().next(), self.ids().next());
                format!("docs_{}{}", BASE32.encode(a.as_bytes()), BASE32.encode(b.as_bytes()))
            }
        };
        let token = TokenRecord {
            hash: Hash::of(secret.as_bytes()),
            id: self.id(),
            user: user.clone(),
            label: new.label.to_string(),
            created_at: now,
            expires_at: new.expires_at,
        };
        let id = token.id.clone();
        Ok((token, TokenSecret { id, secret }))
    }

    /// Lists the tokens of a user, oldest first, those that have ended among them. Secrets are not shown: they are
    /// nowhere.
    ///
    /// # Errors
    /// `Forbidden` unless the user, or the platform, asks; `NotFound` for no user; `Invalid` for a wrong page or limit.
    pub fn list_tokens<'a>(
        &'a self,
        actor: &'a Actor,
        user: &'a UserId,
        page: &'a PageRequest,
    ) -> BoxFuture<'a, Result<Page<TokenInfo>>> {
        Box::pin(async move {
            own_token(actor, user)?;
            let tx = self.read().await?;
            require_user(&tx, user).await?;
            let spec = ListSpec { prefix: TokenRecord::of_user(user), rev: false, filters: String::new() };
            let mut list = Lister::new(spec, page)?;
            list.fill(&tx, |_: &TokenRecord| true).await?;
            Ok(list.finish(&tx, None).await?.map(|token| TokenInfo::of(&token)))
        })
    }

    /// Takes a token back: from now on nobody can use it.
    ///
    /// # Errors
    /// `Forbidden` unless the user, or the platform, asks; `NotFound` when the user has no such token.
    pub fn revoke_token<'a>(
        &'a self,
        actor: &'a Actor,
        user: &'a UserId,
        token: &'a TokenId,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            own_token(actor, user)?;
            self.write(actor, &RevokeToken { user: user.clone(), token: token.clone() }).await
        })
    }

    /// The user with an e-mail address, whatever the case. Only the platform itself may ask.
    ///
    /// # Errors
    /// `Forbidden` for users; `NotFound` when nobody has the address.
    pub fn user_by_email<'a>(&'a self, actor: &'a Actor, email: &'a str) -> BoxFuture<'a, Result<User>> {
        Box::pin(async move {
            platform_only(actor)?;
            let tx = self.read().await?;
            let id = match tx.get_value(&UserRecord::by_email(email)).await? {
                Some(Value::Json(json)) => {
                    serde_json::from_slice::<UserId>(&json).map_err(Error::internal)?
                }
                _ => return Err(Error::not_found("user")),
            };
            Ok(self.user_view(&*require_user(&tx, &id).await?))
        })
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

/// Tells whether somebody is a member, and no guest, of an organization that another is in.
async fn share_org(tx: &Tx, me: &UserId, other: &UserId) -> Result<bool> {
    let mut batches = Batches::of(MemberRecord::orgs_of(me).scan(false, ORGS_AT_ONCE));
    while let Some(rows) = batches.next(tx).await? {
        let mut keys = Vec::with_capacity(2 * rows.len());
        for (row, _) in &rows {
            let org: OrgId = id_of(row)?;
            keys.extend([MemberRecord::at(&org, me), MemberRecord::at(&org, other)]);
        }
        let found = tx.get_many::<MemberRecord>(&keys).await?;
        let sees = |pair: &[Option<Arc<MemberRecord>>]| match pair {
            [Some(me), Some(_)] => me.role.is_some(),
            _ => false,
        };
        if found.chunks(2).any(sees) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Refuses everybody but the program that embeds the platform.
pub(super) fn platform_only(actor: &Actor) -> Result<()> {
    match actor {
        Actor::Platform => Ok(()),
        Actor::User(_) | Actor::Visitor(_) => {
            Err(Error::forbidden("only the operator of the platform can do this"))
        }
    }
}

/// Refuses what is no e-mail address.
pub(super) fn check_email(field: &str, email: &str) -> Result<()> {
    let at = email.rfind('@').filter(|at| *at > 0 && *at + 1 < email.len());
    if at.is_none() || email.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(Error::invalid(field, "must be an address like name@example.com"));
    }
    // Part of keys, which are counted in bytes.
    if email.len() > MAX_EMAIL || email.to_lowercase().len() > MAX_EMAIL {
        return Err(Error::invalid(
            field,
            format_args!("must be at most {MAX_EMAIL} bytes, has {}", email.len()),
        ));
    }
    Ok(())
}

pub(super) struct CreateUser {
    pub(super) user: UserRecord,
    /// The job that lets the user join what they were invited to, should nobody else come to it.
    pub(super) job: JobId,
}
/// Refuses whoever is neither the user whose token it is nor the platform.
fn own_token(actor: &Actor, user: &UserId) -> Result<()> {
    match actor {
        Actor::Platform => Ok(()),
        Actor::User(me) if me == user => Ok(()),
        Actor::User(_) | Actor::Visitor(_) => {
            Err(Error::forbidden("tokens are made, listed and revoked by the user they are for"))
        }
    }
}

/// Tells whether a secret has the form of a content token: three parts, the first of which is a JSON object.
fn is_content_token(secret: &str) -> bool {
    secret.starts_with("eyJ") && secret.split('.').count() == 3
}

async fn require_user(tx: &Tx, id: &UserId) -> Result<Arc<UserRecord>> {
    tx.get(&UserRecord::at(id)).await?.ok_or_else(|| Error::not_found("user"))
}

#[async_trait]
impl Operation for CreateUser {
    type Out = ();
    const NAME: &'static str = "user_create";

    fn taken(&self, _key: &Key) -> Error {
        Error::conflict("email: another user has this address")
    }

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        tx.create(self.user.clone());
        Redeem::enqueue(tx, &self.user, &self.job).await
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
        require_user(tx, &self.0.user).await?;
        tx.create(self.0.clone());
        Ok(())
    }
}

struct RevokeToken {
    user: UserId,
    token: TokenId,
}

#[async_trait]
impl Operation for RevokeToken {
    type Out = ();
    const NAME: &'static str = "token_revoke";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let mut batches = Batches::of(TokenRecord::of_user(&self.user).scan(false, MAX_SCAN));
        while let Some(rows) = batches.next(tx).await? {
            let tokens = tx.get_many::<TokenRecord>(&TokenRecord::named_by_all(&rows)).await?;
            if let Some(token) = tokens.into_iter().flatten().find(|token| token.id == self.token) {
                tx.delete(&*token);
                return Ok(());
            }
        }
        Err(Error::not_found("token"))
    }
}

/// The time a record that changes now shows: never before the time it showed so far.
pub(super) fn later(now: Timestamp, before: Timestamp) -> Timestamp {
    now.max(Timestamp::new(before.time() + chrono::TimeDelta::milliseconds(1)))
}
