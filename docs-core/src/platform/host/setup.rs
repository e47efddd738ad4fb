//! First start on an empty store, and the sealing key shared by all servers on one store.

use std::sync::Arc;

use async_trait::async_trait;
use docs_macros::{boxed, operation};

use crate::{
    Error, Result,
    model::{BASE32, OrgId, OrganizationTitle, UserId},
    platform::{
        nouns::Caller,
        people::{
            joining::user_creation,
            orgs::OrgCreation,
            users::{NewToken, NewUser, TokenCreation, TokenSecret},
        },
    },
    ports::{Clock, Ids, SealingKey},
    store::{
        AuditMode, Key, KeyBuf, Mode, Operation, Receipt, Scan, Store, StoreError, Tx, Value,
        records::OrgRecord, run,
    },
};

/// The input of the first start.
#[derive(Clone)]
pub struct SetUp {
    pub administrator: NewUser,
    pub organization: OrganizationTitle,
    /// The administrator's token. Generated at random if absent.
    pub token: Option<String>,
}

/// Omits the token.
impl std::fmt::Debug for SetUp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("SetUp");
        shown.field("administrator", &self.administrator).field("organization", &self.organization);
        shown.finish_non_exhaustive()
    }
}

/// The result of the first start.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct SetUpResult {
    pub administrator: UserId,
    pub organization: OrgId,
    pub token: TokenSecret,
}

impl<'p> Caller<'p> {
    /// Creates the first administrator, an organization and a token in one transaction, so an interrupted start can be
    /// retried. Reserved for the embedding application.
    ///
    /// # Errors
    ///
    /// `Conflict` if the store has an organization, or if the e-mail address is taken; `Invalid` for a malformed
    /// address or a token that is too short; `Forbidden` for users.
    ///
    /// # Example
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use docs_core::{Platform, platform::{NewUser, SetUp}};
    /// # use docs_memstore::{MemObjects, MemStore};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let platform = Platform::builder(Arc::new(MemStore::new()), Arc::new(MemObjects::new())).build();
    /// let administrator = NewUser { display_name: "Ada".parse()?, email: "ada@example.com".parse()? };
    /// let new = SetUp { administrator, organization: "Analytical Engines".parse()?, token: None };
    /// let done = platform.as_platform().set_up(new).await?;
    /// println!("sign in with {}", done.token.secret);
    /// # Ok(())
    /// # }
    /// ```
    #[boxed]
    pub async fn set_up(self, new: SetUp) -> Result<SetUpResult> {
        let (platform, actor) = (self.platform, &self.actor());
        actor.require_platform()?;
        let user = platform.new_user(&new.administrator)?;
        let org = platform.new_org(new.organization, &user.id);
        let label = "first token".parse().map_err(Error::internal)?;
        let first = NewToken { label, secret: new.token, expires_at: None };
        let (record, token) = platform.new_token(&user.id, first)?;
        let done = SetUpResult { administrator: user.id.clone(), organization: org.id().clone(), token };
        platform
            .write(
                actor,
                &SetUpPlatform {
                    user: user_creation(&user, &platform.id()),
                    org,
                    token: TokenCreation(record),
                },
            )
            .await?;
        Ok(done)
    }
}

struct SetUpPlatform<U> {
    user: U,
    org: OrgCreation,
    token: TokenCreation,
}

#[async_trait]
impl<U: Operation<Output = ()>> Operation for SetUpPlatform<U> {
    type Output = ();
    const NAME: &'static str = "set_up";

    fn taken_error(&self, key: &Key) -> Error {
        if *key == self.token.key() { self.token.taken_error(key) } else { self.user.taken_error(key) }
    }

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let (from, to) = OrgRecord::all().prefix_range();
        if !tx.scan(&Scan { from, to, rev: false, limit: 1 }).await?.is_empty() {
            return Err(Error::conflict("the store already has an organization"));
        }
        self.user.apply(tx).await?;
        self.org.apply(tx).await?;
        self.token.apply(tx).await
    }
}

/// Returns the sealing key shared by all servers on a store. It is kept in the store and created by the first call.
///
/// File URLs stay valid across restarts and servers, and a job can open data sealed by another server. Anyone with read
/// access to the database can read the key. To prevent that, create a [`SealingKey`] from a secret stored elsewhere.
///
/// # Errors
///
/// Errors of the store.
pub async fn load_or_create_sealing_key(
    store: &Arc<dyn Store>,
    clock: &dyn Clock,
    ids: &dyn Ids,
) -> Result<SealingKey> {
    let receipt = Receipt { at: clock.now(), id: ids.next(), logged: AuditMode::Unaudited };
    run(store, &receipt, &keep_key(SealingKey::draw(ids))).await?;
    // Read separately, so that the receipt does not contain the key.
    let tx = Tx::new(store.begin(Mode::Read, &[]).await?);
    let key: String = match tx.get_value(&key_row()).await? {
        Some(Value::Json(json)) => serde_json::from_slice(&json).map_err(Error::internal)?,
        _ => return Err(StoreError::Corrupt("the sealing key is missing".to_owned()).into()),
    };
    let bytes = BASE32.decode(key.as_bytes()).ok().and_then(|bytes| bytes.try_into().ok());
    let bytes: [u8; 32] =
        bytes.ok_or_else(|| StoreError::Corrupt("the sealing key is not 32 bytes".to_owned()))?;
    Ok(SealingKey::new(&bytes))
}

fn key_row() -> Key {
    KeyBuf::new("sys").part("sealing-key").key()
}

#[operation("sealing_key_keep")]
async fn keep_key(tx: &mut Tx, drawn: [u8; 32]) -> Result<()> {
    if tx.get_value(&key_row()).await?.is_none() {
        let key = serde_json::Value::from(BASE32.encode(&drawn));
        tx.create_value(key_row(), Value::Json(key.to_string().into()));
    }
    Ok(())
}
