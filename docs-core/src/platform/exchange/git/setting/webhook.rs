//! Webhook deliveries from Git hosts: a push signed with the webhook secret of a space starts a synchronization.

use std::sync::Arc;

use data_encoding::HEXLOWER_PERMISSIVE;
use docs_macros::{boxed, operation};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use self::push::{Push, PushReader};
use super::secret_purpose;
use crate::{
    Error, ErrorKind, Result,
    model::{JobId, SpaceId, Timestamp},
    platform::{
        jobs::Urgency,
        kernel::platform::Platform,
        library::follow::git::{NewSyncJob, enqueue},
    },
    store::{Tx, records::SpaceRecord},
};

/// Maximum size of a delivery in bytes, which is the largest limit among Git hosts.
pub(in crate::platform) const MAX_DELIVERY: u64 = 25 << 20;
/// Length of a signature in bytes.
const SIGNATURE_BYTES: usize = 32;
/// The commit id in a delivery for a deleted branch.
const NO_COMMIT: &str = "0000000000000000000000000000000000000000";

/// The kind of a webhook event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum GitHostEvent {
    /// A push to the repository.
    Push,
    /// Any other event, such as a ping.
    Other,
}

/// The credentials and event kind of a delivery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GitDelivery<'h> {
    /// The signature of the body, `sha256=` and 64 hexadecimal digits: HMAC-SHA256 keyed with the secret.
    pub signature: Option<&'h str>,
    /// The secret itself, from hosts that do not sign deliveries.
    pub token: Option<&'h str>,
    pub event: GitHostEvent,
}

/// The result of a delivery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum GitWebhookAnswer {
    /// A synchronization is enqueued.
    Enqueued,
    /// No action is needed.
    Ignored,
}

/// A delivery to the webhook of a space, whose body is received in chunks.
///
/// # Example
/// ```
/// # use docs_core::{Platform, Result, platform::{GitDelivery, GitHostEvent, GitWebhook}};
/// # async fn example(platform: &Platform, space: &str, signature: &str, body: &[u8]) -> Result<()> {
/// let delivery = GitDelivery { signature: Some(signature), token: None, event: GitHostEvent::Push };
/// let mut webhook = GitWebhook::open(platform, space, delivery).await?;
/// webhook.take(body)?;
/// println!("{:?}", webhook.end().await?);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct GitWebhook<'p> {
    platform: &'p Platform,
    /// The space, if it has a webhook.
    space: Option<SpaceId>,
    /// The expected signature of the body.
    signature: Option<Vec<u8>>,
    has_token: bool,
    event: GitHostEvent,
    mac: Hmac<Sha256>,
    push: PushReader,
    size: u64,
}

impl<'p> GitWebhook<'p> {
    /// Begins a delivery for a space. A missing webhook is only reported by [`end`](Self::end), in the same way as a
    /// wrong signature, so that callers cannot probe for webhooks. A delivery without a well-formed signature and
    /// without the secret is rejected before its body is received, for every space.
    ///
    /// # Errors
    /// `NotFound` without a well-formed signature and without the secret; store errors.
    #[boxed]
    pub async fn open(platform: &'p Platform, space: &'p str, delivery: GitDelivery<'p>) -> Result<Self> {
        let signature = delivery.signature.and_then(parse_signature);
        if signature.is_none() && delivery.token.is_none() {
            return Err(no_webhook());
        }
        let found = match space.parse::<SpaceId>() {
            Ok(id) => platform.read().await?.get::<SpaceRecord>(&SpaceRecord::key_for(&id)).await?,
            Err(_) => None,
        };
        let secret = found.as_ref().and_then(|space| platform.webhook_secret(space));
        let has_token = match (delivery.token, &secret) {
            // Comparing hashes instead of the values does not leak timing information about the secret.
            (Some(token), Some(secret)) => blake3::hash(token.as_bytes()) == blake3::hash(secret.as_bytes()),
            _ => false,
        };
        if signature.is_none() && !has_token {
            return Err(no_webhook());
        }
        Ok(Self {
            platform,
            space: found.filter(|_| secret.is_some()).map(|space| space.id.clone()),
            signature,
            has_token,
            event: delivery.event,
            mac: mac(secret.as_deref().unwrap_or_default()),
            push: PushReader::new(),
            size: 0,
        })
    }

    /// Checks the declared size of the body.
    ///
    /// # Errors
    /// `TooLarge`.
    pub fn announce(&self, size: u64) -> Result<()> {
        if size <= MAX_DELIVERY {
            return Ok(());
        }
        let message = format!("the body: must be at most {MAX_DELIVERY} bytes");
        Err(Error::new(ErrorKind::TooLarge, message))
    }

    /// Receives a chunk of the body. Only its branch and commit are stored.
    ///
    /// # Errors
    /// `TooLarge`.
    pub fn take(&mut self, part: &[u8]) -> Result<()> {
        self.size += part.len() as u64;
        self.announce(self.size)?;
        self.mac.update(part);
        if self.space.is_some() {
            self.push.read(part);
        }
        Ok(())
    }

    /// Ends the body and processes the delivery.
    ///
    /// # Errors
    /// `NotFound` for a missing space, a space without a webhook, and a delivery without proof; store errors.
    ///
    /// # Cancel safety
    /// Dropping the future enqueues one job or none.
    #[boxed]
    pub async fn end(self) -> Result<GitWebhookAnswer> {
        let is_signed = match &self.signature {
            Some(signature) => self.mac.verify_slice(signature).is_ok(),
            None => false,
        };
        let space = self.space.filter(|_| is_signed || self.has_token).ok_or_else(no_webhook)?;
        if self.event != GitHostEvent::Push {
            return Ok(GitWebhookAnswer::Ignored);
        }
        // An authenticated push with an unrecognized body still starts a synchronization.
        let push = self.push.end();
        let (job, now) = (self.platform.id(), self.platform.now());
        self.platform.upkeep(&take_push(&space, &push, &job, now)).await.map(
            |is_enqueued| match is_enqueued {
                true => GitWebhookAnswer::Enqueued,
                false => GitWebhookAnswer::Ignored,
            },
        )
    }
}

impl Platform {
    /// Returns the webhook secret of a space, if it has one.
    fn webhook_secret(&self, space: &SpaceRecord) -> Option<String> {
        let sync = space.git_sync.as_ref().filter(|_| space.deleted_at.is_none())?;
        match self.secrets().open(&secret_purpose(&space.id), &sync.sealed_secret) {
            Ok(secret) => Some(secret),
            Err(_) => {
                tracing::warn!(space = %space.id, "reject webhook delivery; its secret was sealed with \
                                                   another key, rotate it");
                None
            }
        }
    }
}

/// Decodes a well-formed signature.
fn parse_signature(text: &str) -> Option<Vec<u8>> {
    let hex = text.strip_prefix("sha256=").filter(|hex| hex.len() == 2 * SIGNATURE_BYTES)?;
    HEXLOWER_PERMISSIVE.decode(hex.as_bytes()).ok()
}

fn no_webhook() -> Error {
    Error::not_found("webhook")
}

fn mac(key: &str) -> Hmac<Sha256> {
    Hmac::<Sha256>::new_from_slice(key.as_bytes())
        .unwrap_or_else(|_| unreachable!("HMAC accepts keys of any length"))
}

/// Enqueues the job for a push. `Output` is `false` if the push needs no synchronization.
#[operation("git_push_taken")]
async fn take_push(tx: &mut Tx, space: &SpaceId, push: &Push, job: &JobId, now: Timestamp) -> Result<bool> {
    let space: Option<Arc<SpaceRecord>> = tx.get(&SpaceRecord::key_for(space)).await?;
    let Some(space) = space.filter(|space| space.deleted_at.is_none()) else { return Ok(false) };
    let Some(sync) = &space.git_sync else { return Ok(false) };
    let is_other = push.reference.as_ref().is_some_and(|it| **it != *sync.setting.reference);
    let is_known = push.after.as_ref().is_some_and(|oid| {
        oid == NO_COMMIT || space.git.as_ref().is_some_and(|git| git.is_synced_to(oid, &sync.source()))
    });
    if !sync.setting.direction.imports() || is_other || is_known {
        return Ok(false);
    }
    let wake = NewSyncJob { job: job.clone(), by: None, now, urgency: Urgency::FollowUp };
    enqueue(tx, &space, wake).await?;
    Ok(true)
}

mod push;

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signature_matches_the_github_documentation_example() {
        let mut mac = mac("It's a Secret to Everybody");
        mac.update(b"Hello, World!");
        let signature = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
        assert_eq!(data_encoding::HEXLOWER.encode(&mac.finalize().into_bytes()), signature);
    }
}
