//! Whoever is not let in through a SAML provider: the audit log tells that, and why.

use std::sync::Arc;

use async_trait::async_trait;

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

impl<'p> Caller<'p> {
    /// Notes that somebody was not let in by what they brought back from a SAML provider, where it was refused before
    /// it could be read as an answer, such as for its size. The audit log of the organization tells of it, and why.
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
    /// Has the audit log tell that somebody was not let in, with whom the provider vouched for, where it did. Whoever
    /// was not let in is told why, even where it cannot be noted.
    pub(super) async fn note_refusal(
        &self,
        provider: &Arc<SamlProviderRecord>,
        why: &str,
        email: Option<&str>,
    ) {
        tracing::info!(provider = %provider.id, why, "a sign-in is refused");
        let refusal = Refusal::new(provider, self.now(), (why, email));
        if let Err(lost) = self.write(&Actor::Platform, &refusal).await {
            tracing::warn!(error = ?lost, "a refused sign-in is missing in the audit log");
        }
    }
}

/// Notes that somebody was not let in, which is what the audit log tells of.
struct Refusal(SamlRefusalRecord);

impl Refusal {
    fn new(provider: &SamlProviderRecord, at: Timestamp, (why, email): (&str, Option<&str>)) -> Self {
        let reason = match email {
            Some(email) => format!("{email}: {why}"),
            None => why.to_owned(),
        };
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
