//! The first start on an empty store, and the key that all servers on one store share.

use std::sync::Arc;

use async_trait::async_trait;

use super::{
    Actor, NewToken, NewUser, Platform, TokenSecret,
    orgs::CreateOrg,
    people::{CreateToken, CreateUser, platform_only},
};
use crate::{
    BoxFuture, Error, Result,
    model::{BASE32, OrgId, OrganizationTitle, UserId},
    ports::{Clock, Ids, SealingKey},
    store::{Key, KeyBuf, Logged, Mode, Operation, Receipt, Store, StoreError, Tx, Value, run},
};

/// What a platform starts with.
#[derive(Clone)]
pub struct SetUp {
    /// The first administrator.
    pub administrator: NewUser,
    /// The title of the first organization.
    pub organization: OrganizationTitle,
    /// The administrator's token, at least 16 characters; drawn at random when absent.
    pub token: Option<String>,
}

/// Without the token.
impl std::fmt::Debug for SetUp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("SetUp");
        shown.field("administrator", &self.administrator).field("organization", &self.organization);
        shown.finish_non_exhaustive()
    }
}

/// What a set-up made.
#[derive(Clone, Debug)]
pub struct SetUpDone {
    /// The administrator.
    pub administrator: UserId,
    /// The organization.
    pub organization: OrgId,
    /// The administrator's token.
    pub token: TokenSecret,
}

impl Platform {
    /// Makes the first administrator, an organization and a token, all or nothing: a start that was cut off is simply
    /// done again. Only the program that embeds the platform may.
    ///
    /// # Errors
    /// `Conflict` when a user has the e-mail address, so on a store that was set up before; `Invalid` for an address
    /// that is none and for a short token.
    pub fn set_up<'a>(&'a self, actor: &'a Actor, new: SetUp) -> BoxFuture<'a, Result<SetUpDone>> {
        Box::pin(async move {
            platform_only(actor)?;
            let user = self.new_user(&new.administrator)?;
            let org = self.new_org(new.organization, &user.id);
            let label = "first token".parse().map_err(Error::internal)?;
            let first = NewToken { label, secret: new.token, expires_at: None };
            let (record, token) = self.new_token(&user.id, first)?;
            let done = SetUpDone { administrator: user.id.clone(), organization: org.id().clone(), token };
            self.write(
                actor,
                &All { user: CreateUser { user, job: self.id() }, org, token: CreateToken(record) },
            )
            .await?;
            Ok(done)
        })
    }
}

struct All {
    user: CreateUser,
    org: CreateOrg,
    token: CreateToken,
}

#[async_trait]
impl Operation for All {
    type Out = ();
    const NAME: &'static str = "set_up";

    fn taken(&self, key: &Key) -> Error {
        if *key == self.token.key() { self.token.taken(key) } else { self.user.taken(key) }
    }

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        self.user.apply(tx).await?;
        self.org.apply(tx).await?;
        self.token.apply(tx).await
    }
}

/// The key that all servers on a store seal with, kept in the store itself: made by the first that asks.
///
/// Addresses of files stay valid over a restart and on every server, and a job can read what another server sealed.
/// Whoever reads the database can read the key: where that matters, make a [`SealingKey`] of a secret that is kept
/// elsewhere.
///
/// # Errors
/// The store's.
pub async fn stored_sealing_key(
    store: &Arc<dyn Store>,
    clock: &dyn Clock,
    ids: &dyn Ids,
) -> Result<SealingKey> {
    let receipt = Receipt { at: clock.now(), id: ids.next(), logged: Logged::No };
    run(store, &receipt, &KeepKey { drawn: SealingKey::draw(ids) }).await?;
    // Read on its own, so that the key does not lie in a receipt as well.
    let tx = Tx::new(store.begin(Mode::Read, &[]).await?);
    let key: String = match tx.get_value(&key_row()).await? {
        Some(Value::Json(json)) => serde_json::from_slice(&json).map_err(Error::internal)?,
        _ => return Err(StoreError::Corrupt("there is no sealing key".to_owned()).into()),
    };
    let bytes = BASE32.decode(key.as_bytes()).ok().and_then(|bytes| bytes.try_into().ok());
    let bytes: [u8; 32] =
        bytes.ok_or_else(|| StoreError::Corrupt("the sealing key is not 32 bytes".to_owned()))?;
    Ok(SealingKey::new(&bytes))
}

fn key_row() -> Key {
    KeyBuf::new("sys").part("sealing-key").key()
}

struct KeepKey {
    drawn: [u8; 32],
}

#[async_trait]
impl Operation for KeepKey {
    type Out = ();
    const NAME: &'static str = "sealing_key_keep";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        if tx.get_value(&key_row()).await?.is_none() {
            let key = serde_json::Value::from(BASE32.encode(&self.drawn));
            tx.create_value(key_row(), Value::Json(key.to_string().into()));
        }
        Ok(())
    }
}
