//! Rejected SAML sign-ins, which the audit log records with the reason.
//!
//! Anyone can send responses that no provider has signed, any number of times. The number of audit records for such
//! responses is therefore limited; the rest are only counted, without a write.

use std::sync::Arc;

use async_trait::async_trait;
use docs_macros::boxed;

use super::login::require_active_provider;
use crate::{
    Result,
    model::{SamlProviderId, Timestamp},
    platform::{
        kernel::{actor::Actor, platform::Platform, write_rate::WriteRate},
        nouns::Caller,
    },
    store::{
        Operation, Tx,
        records::{SamlProviderRecord, SamlRefusalRecord},
    },
};

/// Maximum length of the stored reason, in characters.
const MAX_REASON: usize = 500;
/// Maximum number of rejections of unsigned responses that a server records per provider and minute.
pub(in crate::platform) const MAX_UNSIGNED_REFUSALS: u32 = 20;

/// Recent rejections of unsigned responses.
#[derive(Debug, Default)]
struct UnsignedRefusals(WriteRate<SamlProviderId>);

impl<'p> Caller<'p> {
    /// Records a sign-in that was rejected before its response was read, for example because of its size.
    ///
    /// The audit log of the organization records the reason. If there are many rejections in a short time, it records
    /// some of them and the number of the others. Reserved for the platform itself; the assertion consumer endpoint
    /// calls it.
    ///
    /// # Errors
    ///
    /// `Forbidden` for users; `NotFound` for an unknown provider; `Precondition` for a pending provider. In these
    /// cases, nothing is recorded.
    #[boxed]
    pub async fn refuse_saml_login(self, id: &'p SamlProviderId, why: &'p str) -> Result<()> {
        self.actor().require_platform()?;
        let provider = require_active_provider(self.platform, id).await?;
        self.platform.record_refusal(&provider, why, None).await;
        Ok(())
    }
}

impl Platform {
    /// Records a rejection in the audit log, with the e-mail address asserted by the provider. Rejections without an
    /// asserted address are rate-limited. A failed write is not reported, so that the caller still returns the reason
    /// of the rejection.
    pub(super) async fn record_refusal(
        &self,
        provider: &Arc<SamlProviderRecord>,
        why: &str,
        email: Option<&str>,
    ) {
        let now = self.now();
        let reason = match email {
            Some(email) => format!("{email}: {why}"),
            None => {
                let recent = self.inner.memory.get_or_default::<UnsignedRefusals>();
                match recent.0.admit(&provider.id, MAX_UNSIGNED_REFUSALS, now.time()) {
                    Some(0) => why.to_owned(),
                    Some(more) => format!("{why} (and {more} earlier refusals that were not recorded)"),
                    None => {
                        tracing::debug!(provider = %provider.id, why, "drop refused sign-in over the recording \
                                                                   limit");
                        return;
                    }
                }
            }
        };
        tracing::info!(provider = %provider.id, reason, "refuse sign-in");
        let refusal = RecordRefusal::new(provider, now, &reason);
        if let Err(lost) = self.write(&Actor::Platform, &refusal).await {
            tracing::warn!(error = ?lost, "failed to record refused sign-in in audit log");
        }
    }
}

/// Stores a rejection, which becomes an audit log entry.
struct RecordRefusal(SamlRefusalRecord);

impl RecordRefusal {
    fn new(provider: &SamlProviderRecord, at: Timestamp, reason: &str) -> Self {
        Self(SamlRefusalRecord {
            provider: provider.id.clone(),
            organization: provider.organization.clone(),
            at,
            reason: reason.chars().filter(|c| !c.is_control()).take(MAX_REASON).collect(),
        })
    }
}

#[async_trait]
impl Operation for RecordRefusal {
    type Output = ();
    const NAME: &'static str = "saml_login_refuse";

    fn detail(&self) -> Option<&str> {
        Some(&self.0.reason)
    }

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        if tx.get_value(&SamlProviderRecord::key_for(&self.0.provider)).await?.is_none() {
            return Ok(());
        }
        match tx.get::<SamlRefusalRecord>(&SamlRefusalRecord::key_for(&self.0.provider)).await? {
            Some(old) => drop(tx.put(&*old, self.0.clone())?),
            None => drop(tx.create(self.0.clone())),
        }
        Ok(())
    }
}
