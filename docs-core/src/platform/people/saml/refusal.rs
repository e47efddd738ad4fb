//! Refused SAML sign-ins: the audit log records them with the reason.
//!
//! A response that no provider has signed can be sent by anybody, any number of times. The number of audit records for
//! such responses is limited; the rest are only counted, without a write.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use docs_macros::boxed;

use super::login::require_active_provider;
use crate::{
    Result,
    model::{SamlProviderId, Timestamp},
    platform::{
        kernel::{actor::Actor, platform::Platform},
        nouns::Caller,
    },
    store::{
        Operation, Tx,
        records::{SamlProviderRecord, SamlRefusalRecord},
    },
};

/// Maximum number of characters of the stored reason.
const MAX_REASON: usize = 500;
/// Maximum number of refusals of unsigned responses that a server records per provider and window.
pub(in crate::platform) const MAX_UNSIGNED_REFUSALS: u32 = 20;
const UNSIGNED_WINDOW: TimeDelta = TimeDelta::minutes(1);
/// Windows above which expired windows without omitted refusals are dropped.
const MAX_WINDOWS: usize = 1_000;

/// Recent refusals of unsigned responses, recorded and omitted. The state is in memory of one server.
#[derive(Debug, Default)]
pub(in crate::platform) struct UnsignedRefusals(Mutex<HashMap<SamlProviderId, Window>>);

/// The window of one provider.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    until: DateTime<Utc>,
    noted: u32,
    /// Refusals omitted since the last recorded one.
    left_out: u64,
}

impl Window {
    fn is_open(&self, now: DateTime<Utc>) -> bool {
        // A window in the far future was opened before the clock was set back.
        now < self.until && self.until - now <= UNSIGNED_WINDOW
    }
}

impl UnsignedRefusals {
    /// Returns the number of refusals omitted before this one if this one is recorded, or `None` if it is omitted.
    fn admit(&self, provider: &SamlProviderId, now: DateTime<Utc>) -> Option<u64> {
        let mut windows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if windows.len() >= MAX_WINDOWS {
            windows.retain(|_, window| window.is_open(now) || window.left_out > 0);
        }
        let window = windows.entry(provider.clone()).or_default();
        if !window.is_open(now) {
            *window = Window { until: now + UNSIGNED_WINDOW, noted: 0, ..*window };
        }
        if window.noted >= MAX_UNSIGNED_REFUSALS {
            window.left_out += 1;
            return None;
        }
        window.noted += 1;
        Some(std::mem::take(&mut window.left_out))
    }
}

impl<'p> Caller<'p> {
    /// Records a sign-in that was refused before its response was read, for example for its size.
    ///
    /// The audit log of the organization records the reason. Of many refusals in a short time, it records some and the
    /// number of the others. Only the platform itself may call this; it serves the assertion consumer endpoint.
    ///
    /// # Errors
    ///
    /// `Forbidden` for users; `NotFound` for an unknown provider; `Precondition` for a pending provider; nothing is
    /// recorded then.
    #[boxed]
    pub async fn refuse_saml_login(self, id: &'p SamlProviderId, why: &'p str) -> Result<()> {
        self.actor().require_platform()?;
        let provider = require_active_provider(self.platform, id).await?;
        self.platform.record_refusal(&provider, why, None).await;
        Ok(())
    }
}

impl Platform {
    /// Records a refusal in the audit log, with the address that the provider asserted. Refusals without an asserted
    /// address are limited. A failed write is not reported, so the caller still returns the reason of the refusal.
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
                match self.inner.memory.get_or_default::<UnsignedRefusals>().admit(&provider.id, now.time()) {
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

/// Stores a refusal, which becomes an entry of the audit log.
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
