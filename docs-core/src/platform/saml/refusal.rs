//! Whoever is not let in through a SAML provider: the audit log tells that, and why.
//!
//! What no provider has signed, anybody can bring as often as they like. Of that, so much is told; the rest costs no
//! write, and is counted.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};

use super::login::opened;
use crate::{
    BoxFuture, Result,
    model::{SamlProviderId, Timestamp},
    platform::{Actor, Platform, nouns::Caller},
    store::{
        Operation, Tx,
        records::{SamlProviderRecord, SamlRefusalRecord},
    },
};

/// Most characters of the reason of a refusal that are kept.
const MAX_REASON: usize = 500;
/// Most refusals of what no provider has signed that a server notes of a provider, in a window.
pub(in crate::platform) const MOST_UNSIGNED: u32 = 20;
/// The window.
const UNSIGNED_WINDOW: TimeDelta = TimeDelta::minutes(1);
/// Windows that are kept before those are forgotten of which nothing is to be told.
const MANY_WINDOWS: usize = 1_000;

/// What was noted lately of what no provider has signed, and what was not. It is of one server, and goes with it.
#[derive(Debug, Default)]
pub(in crate::platform) struct Unsigned(Mutex<HashMap<SamlProviderId, Window>>);

/// Of one provider.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    until: DateTime<Utc>,
    noted: u32,
    /// Since one was noted.
    left_out: u64,
}

impl Window {
    fn is_open(&self, now: DateTime<Utc>) -> bool {
        // A clock that was set back does not keep it open.
        now < self.until && self.until - now <= UNSIGNED_WINDOW
    }
}

impl Unsigned {
    /// Tells whether one more is noted, and how many were left out before it.
    fn admit(&self, provider: &SamlProviderId, now: DateTime<Utc>) -> Option<u64> {
        let mut windows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if windows.len() >= MANY_WINDOWS {
            windows.retain(|_, window| window.is_open(now) || window.left_out > 0);
        }
        let window = windows.entry(provider.clone()).or_default();
        if !window.is_open(now) {
            *window = Window { until: now + UNSIGNED_WINDOW, noted: 0, ..*window };
        }
        if window.noted >= MOST_UNSIGNED {
            window.left_out += 1;
            return None;
        }
        window.noted += 1;
        Some(std::mem::take(&mut window.left_out))
    }
}

impl<'p> Caller<'p> {
    /// Notes that somebody was not let in by what they brought back from a SAML provider, where it was refused before
    /// it could be read as an answer, such as for its size. The audit log of the organization tells of it, and why; of
    /// many in a short time, it tells how many there were.
    ///
    /// Only the platform itself may: it is for the address that browsers come back to.
    ///
    /// # Errors
    /// `Forbidden` for users; `NotFound` for a provider that is not there; `Precondition` for one that is pending: then
    /// nothing is noted.
    ///
    /// # Cancel safety
    /// Dropping the future leaves it noted or not.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Platform, Result, model::SamlProviderId};
    /// # async fn example(platform: &Platform, provider: &SamlProviderId) -> Result<()> {
    /// platform.as_platform().refuse_saml_login(provider, "the form is too large").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn refuse_saml_login(self, id: &'p SamlProviderId, why: &'p str) -> BoxFuture<'p, Result<()>> {
        Box::pin(async move {
            self.actor().require_platform()?;
            let provider = opened(self.platform, id).await?;
            self.platform.note_refusal(&provider, why, None).await;
            Ok(())
        })
    }
}

impl Platform {
    /// Has the audit log tell that somebody was not let in, with whom the provider vouched for; of those whom it did
    /// not vouch for, so many. Whoever was not let in is told why, even where it cannot be noted.
    pub(super) async fn note_refusal(
        &self,
        provider: &Arc<SamlProviderRecord>,
        why: &str,
        email: Option<&str>,
    ) {
        let now = self.now();
        let reason = match email {
            Some(email) => format!("{email}: {why}"),
            None => match self.inner.unsigned.admit(&provider.id, now.time()) {
                Some(0) => why.to_owned(),
                Some(more) => format!("{why} (and {more} before it, of which nothing is noted)"),
                None => {
                    tracing::debug!(provider = %provider.id, why, "one of many sign-ins that are refused");
                    return;
                }
            },
        };
        tracing::info!(provider = %provider.id, reason, "a sign-in is refused");
        let refusal = Refusal::new(provider, now, &reason);
        if let Err(lost) = self.write(&Actor::Platform, &refusal).await {
            tracing::warn!(error = ?lost, "a refused sign-in is missing in the audit log");
        }
    }
}

/// Notes that somebody was not let in, which is what the audit log tells of.
struct Refusal(SamlRefusalRecord);

impl Refusal {
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
impl Operation for Refusal {
    type Out = ();
    const NAME: &'static str = "saml_login_refuse";

    fn detail(&self) -> Option<&str> {
        Some(&self.0.reason)
    }

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        if tx.get_value(&SamlProviderRecord::at(&self.0.provider)).await?.is_none() {
            return Ok(());
        }
        match tx.get::<SamlRefusalRecord>(&SamlRefusalRecord::at(&self.0.provider)).await? {
            Some(old) => drop(tx.put(&*old, self.0.clone())?),
            None => drop(tx.create(self.0.clone())),
        }
        Ok(())
    }
}
