//! Users and their tokens.

mod known;

use std::sync::Arc;

use async_trait::async_trait;

use known::knows;

use super::{
    Actor, Platform, TokenUser,
    invites::RedeemInvites,
    nouns::{Caller, UserHandle, Users},
    saml,
};
use crate::{
    BoxFuture, Error, ErrorKind, Result,
    model::{BASE32, BoundedText, JobId, OrgId, Timestamp, TokenId, User, UserId, UserObject, UserUrls},
    platform::list_identities::tag,
    store::{
        Batches, Entity, Hash, Key, ListSpec, Lister, MAX_SCAN, Operation, Page, PageRequest, Tx, Value,
        decode,
        records::{MemberRecord, TokenRecord, UserRecord},
    },
};

/// What a new user is made of.
#[derive(Clone, Debug)]
pub struct NewUser {
    /// The name shown to others.
    pub display_name: BoundedText<1, 128>,
    /// The e-mail address, unique whatever the case.
    pub email: BoundedText<3, 254>,
}

/// What a new token is made of.
#[derive(Clone)]
pub struct NewToken {
    /// What it is for.
    pub label: BoundedText<0, 50>,
    /// The secret, a long one; drawn at random when absent.
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
#[non_exhaustive]
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
#[non_exhaustive]
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

/// Most bytes of an e-mail address.
const MAX_EMAIL: usize = 254;
/// Fewest characters of a secret that an operator chooses.
const LEAST_SECRET: usize = 16;

impl<'p> Caller<'p> {
    /// Reads the user who acts.
    ///
    /// # Errors
    /// `Forbidden` for the platform itself; `NotFound` when the user is gone.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, platform::Caller};
    /// # async fn example(me: Caller<'_>) -> Result<()> {
    /// let user = me.current_user().await?;
    /// println!("{}", user.display_name);
    /// # Ok(())
    /// # }
    /// ```
    pub fn current_user(self) -> BoxFuture<'p, Result<User>> {
        Box::pin(async move {
            let (platform, actor) = (self.platform, &self.actor());
            let tx = platform.read().await?;
            let user = actor.require_user()?;
            let record: Option<Arc<UserRecord>> = tx.get(&UserRecord::at(user)).await?;
            Ok(platform.user_view(&*record.ok_or_else(|| Error::not_found("user"))?))
        })
    }
}

impl<'p> UserHandle<'p> {
    /// Reads a user: oneself, or somebody in an organization of which the actor is a member and no guest.
    ///
    /// # Errors
    /// `NotFound`, also for a user whom the actor does not know of.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::UserId, platform::Caller};
    /// # async fn example(me: Caller<'_>, grace: &UserId) -> Result<()> {
    /// let user = me.user(grace).get().await?;
    /// println!("{}", user.display_name);
    /// # Ok(())
    /// # }
    /// ```
    pub fn get(self) -> BoxFuture<'p, Result<User>> {
        Box::pin(async move {
            let Self { caller, user: id } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            let tx = platform.read().await?;
            let user: Option<Arc<UserRecord>> = tx.get(&UserRecord::at(id)).await?;
            let user = user.ok_or_else(|| Error::not_found("user"))?;
            if knows(&tx, actor, id).await? {
                Ok(platform.user_view(&user))
            } else {
                Err(Error::not_found("user"))
            }
        })
    }

    /// Creates a token for a user. `secret` is drawn at random when absent; one that is given has to be
    /// long: ASCII letters, digits and punctuation.
    ///
    /// # Errors
    /// `Forbidden` unless the user, or the platform, asks; `Invalid` for a short secret, or one of other characters,
    /// and for an end that is not in the future; `Conflict` for a secret in use.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Platform, model::{Timestamp, UserId}, platform::NewToken};
    /// # async fn example(
    /// #     platform: &Platform, ada: &UserId, next_week: Timestamp,
    /// # ) -> Result<(), Box<dyn std::error::Error>> {
    /// let new = NewToken { label: "build server".parse()?, secret: None, expires_at: Some(next_week) };
    /// let token = platform.as_user(ada).user(ada).issue_token(new).await?;
    /// println!("keep this, it is not shown again: {}", token.secret);
    /// # Ok(())
    /// # }
    /// ```
    pub fn issue_token(self, new: NewToken) -> BoxFuture<'p, Result<TokenSecret>> {
        Box::pin(async move {
            let Self { caller, user } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            own_token(actor, user)?;
            let (token, secret) = platform.new_token(user, new)?;
            platform.write(actor, &TokenCreation(token)).await?;
            Ok(secret)
        })
    }

    /// Lists the tokens of a user, oldest first, those that have ended among them. Secrets are not shown: they are not
    /// stored.
    ///
    /// # Errors
    /// `Forbidden` unless the user, or the platform, asks; `NotFound` for no user; `Invalid` for a wrong page or limit.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Platform, Result, model::UserId, store::PageRequest};
    /// # async fn example(platform: &Platform, ada: &UserId) -> Result<()> {
    /// for token in platform.as_user(ada).user(ada).list_tokens(&PageRequest::default()).await?.items {
    ///     println!("{} since {}", token.label, token.created_at);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn list_tokens(self, page: &'p PageRequest) -> BoxFuture<'p, Result<Page<TokenInfo>>> {
        Box::pin(async move {
            let Self { caller, user } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            own_token(actor, user)?;
            let tx = platform.read().await?;
            require_user(&tx, user).await?;
            let spec = ListSpec::new(tag::API_TOKENS, TokenRecord::of_user(user));
            let mut list = Lister::new(spec, page)?;
            list.fill(&tx, |_: &TokenRecord| true).await?;
            Ok(list.finish(&tx, None).await?.map(|token| TokenInfo::of(&token)))
        })
    }

    /// Revokes a token: from now on nobody can use it.
    ///
    /// # Errors
    /// `Forbidden` unless the user, or the platform, asks; `NotFound` when the user has no such token.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Platform, Result, model::{TokenId, UserId}};
    /// # async fn example(platform: &Platform, ada: &UserId, token: &TokenId) -> Result<()> {
    /// platform.as_user(ada).user(ada).revoke_token(token).await?;
    /// println!("{token} is revoked");
    /// # Ok(())
    /// # }
    /// ```
    pub fn revoke_token(self, token: &'p TokenId) -> BoxFuture<'p, Result<()>> {
        Box::pin(async move {
            let Self { caller, user } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            own_token(actor, user)?;
            platform.write(actor, &RevokeToken { user: user.clone(), token: token.clone() }).await
        })
    }
}

impl<'p> Users<'p> {
    /// Creates a user, who joins every organization that the address was invited to. Only the platform itself may.
    ///
    /// # Errors
    /// `Conflict` when the e-mail address is taken; `Invalid` when it is none.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Platform, platform::NewUser};
    /// # async fn example(platform: &Platform) -> Result<(), Box<dyn std::error::Error>> {
    /// let new = NewUser { display_name: "Grace".parse()?, email: "grace@example.com".parse()? };
    /// let grace = platform.as_platform().users().create(new).await?;
    /// println!("{}", grace.id);
    /// # Ok(())
    /// # }
    /// ```
    pub fn create(self, user: NewUser) -> BoxFuture<'p, Result<User>> {
        Box::pin(async move {
            let (platform, actor) = (self.caller.platform, &self.caller.actor());
            actor.require_platform()?;
            let record = platform.new_user(&user)?;
            platform.write(actor, &UserCreation { user: record.clone(), job: platform.id() }).await?;
            platform.welcome(&record.id).await;
            Ok(platform.user_view(&record))
        })
    }

    /// Lists all users, in the order of their ids. Only the platform itself may.
    ///
    /// # Errors
    /// `Forbidden` for users; `Invalid` for a wrong page or limit.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Platform, Result, store::PageRequest};
    /// # async fn example(platform: &Platform) -> Result<()> {
    /// for user in platform.as_platform().users().list(&PageRequest::default()).await?.items {
    ///     println!("{} {}", user.id, user.display_name);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn list(self, page: &'p PageRequest) -> BoxFuture<'p, Result<Page<User>>> {
        Box::pin(async move {
            let (platform, actor) = (self.caller.platform, &self.caller.actor());
            actor.require_platform()?;
            let tx = platform.read().await?;
            let spec = ListSpec::new(tag::USERS, UserRecord::all());
            let mut list = Lister::new(spec, page)?;
            while let Some(rows) = list.rows(&tx).await? {
                let users = rows.iter().map(|(_, value)| Ok(Some(decode::<UserRecord>(value.clone())?)));
                list.offer_all(&rows, users.collect::<Result<Vec<_>>>()?);
            }
            Ok(list.finish(&tx, None).await?.map(|user| platform.user_view(&user)))
        })
    }

    /// Finds the user with an e-mail address, whatever the case. Only the platform itself may.
    ///
    /// # Errors
    /// `Forbidden` for users; `NotFound` when nobody has the address.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Platform, Result};
    /// # async fn example(platform: &Platform) -> Result<()> {
    /// let grace = platform.as_platform().users().by_email("grace@example.com").await?;
    /// println!("{}", grace.display_name);
    /// # Ok(())
    /// # }
    /// ```
    pub fn by_email(self, email: &'p str) -> BoxFuture<'p, Result<User>> {
        Box::pin(async move {
            let (platform, actor) = (self.caller.platform, &self.caller.actor());
            actor.require_platform()?;
            let tx = platform.read().await?;
            let id = match tx.get_value(&UserRecord::by_email(email)).await? {
                Some(Value::Json(json)) => {
                    serde_json::from_slice::<UserId>(&json).map_err(Error::internal)?
                }
                _ => return Err(Error::not_found("user")),
            };
            Ok(platform.user_view(&*require_user(&tx, &id).await?))
        })
    }
}

impl Platform {
    /// Authenticates the bearer of a token: a user, or the visitor of a site who has a content token.
    ///
    /// A token is looked up by the hash of its secret, and nothing compares secrets: all that the time of a lookup
    /// could tell is a hash, from which no secret can be found.
    ///
    /// # Errors
    /// `Unauthenticated` for a token that nobody has, or that has ended; that of a session of single sign-on ends with
    /// its provider, or a change of what that is trusted by, and with the membership of its bearer.
    ///
    /// # Example
    /// ```
    /// # use std::sync::Arc;
    /// # use docs_core::{Platform, platform::{NewToken, NewUser}};
    /// # use docs_memstore::{MemObjects, MemStore};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let platform = Platform::builder(Arc::new(MemStore::new()), Arc::new(MemObjects::new())).build();
    /// # let ada = NewUser { display_name: "Ada".parse()?, email: "ada@example.com".parse()? };
    /// # let ada = platform.as_platform().users().create(ada).await?;
    /// let ours = platform.as_platform();
    /// let new = NewToken { label: "laptop".parse()?, secret: None, expires_at: None };
    /// let token = ours.user(&ada.id).issue_token(new).await?;
    /// let actor = platform.authenticate(&token.secret).await?;
    /// assert_eq!(platform.as_actor(&actor).current_user().await?.display_name, "Ada");
    /// # Ok(())
    /// # }
    /// ```
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
            if let Some(session) = &token.sso {
                saml::require_current(&tx, &token.user, session).await?;
            }
            Ok(Actor::Token(TokenUser::of(&token, self.urls())))
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
            None => self.token_secret(),
        };
        let token = TokenRecord {
            hash: Hash::of(secret.as_bytes()),
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

    /// The secret of a new token.
    pub(super) fn token_secret(&self) -> String {
        let (a, b) = (self.ids().next(), self.ids().next());
        format!("docs_{}{}", BASE32.encode(a.as_bytes()), BASE32.encode(b.as_bytes()))
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

    /// Reads users whom content of an organization names. A guest of it, who does not see its members, learns their
    /// names and no addresses but their own.
    pub(super) async fn users_named(
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
                let me = MemberRecord::at(org, actor.require_user()?);
                let member: Option<Arc<MemberRecord>> = tx.get(&me).await?;
                member.is_none_or(|member| member.role.is_none())
            }
        };
        let strangers = users.iter_mut().filter(|user| is_guest && Some(&user.id) != actor.user());
        strangers.for_each(|user| user.email = None);
        Ok(users)
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

/// Refuses what is no e-mail address.
pub(super) fn check_email(field: &str, email: &str) -> Result<()> {
    let parts = email.split_once('@');
    let fits = |(name, host): (&str, &str)| !name.is_empty() && !host.is_empty() && !host.contains('@');
    if !parts.is_some_and(fits) || email.chars().any(|c| c.is_whitespace() || c.is_control()) {
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

pub(super) struct UserCreation {
    pub(super) user: UserRecord,
    /// The job that lets the user join what they were invited to, should nobody else come to it.
    pub(super) job: JobId,
}
/// Refuses whoever is neither the user whose token it is nor the platform.
fn own_token(actor: &Actor, user: &UserId) -> Result<()> {
    match actor {
        Actor::Platform => Ok(()),
        Actor::User(me) if me == user => Ok(()),
        Actor::Token(token) if token.session_of().is_some() => Err(Error::forbidden(
            "a session of single sign-on makes, lists and revokes no tokens: they would outlast it",
        )),
        Actor::Token(token) if token.user() == user => Ok(()),
        Actor::User(_) | Actor::Token(_) | Actor::Visitor(_) => {
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
impl Operation for UserCreation {
    type Out = ();
    const NAME: &'static str = "user_create";

    fn taken(&self, _key: &Key) -> Error {
        Error::conflict("email: another user has this address")
    }

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        tx.create(self.user.clone());
        RedeemInvites::enqueue(tx, &self.user, &self.job).await
    }
}

pub(super) struct TokenCreation(pub(super) TokenRecord);

impl TokenCreation {
    pub(super) fn key(&self) -> Key {
        TokenRecord::at(&self.0.hash)
    }
}

#[async_trait]
impl Operation for TokenCreation {
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
        let mut batches = Batches::of(TokenRecord::of_user(&self.user).scan(MAX_SCAN));
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
