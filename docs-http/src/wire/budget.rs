//! Memory limits of request bodies: a budget for all requests together, and the account of one request.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_util::StreamExt as _;
use parking_lot::Mutex;
use poem::{Body, Request, http::StatusCode};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use super::error::ApiError;

/// The unit of a budget in bytes.
const UNIT: usize = 1024;
/// The divisor for the separate budget of an anonymous endpoint.
const ANONYMOUS_SHARE: usize = 4;
/// The longest time that a request waits for a part of the budget.
const WAIT: Duration = Duration::from_secs(2);

/// A budget for the bytes of request bodies that are held in memory, shared by all requests of an application.
///
/// The first bytes of each body, up to [`AnonymousBodyLimit::DEFAULT`], are not counted: the number of connections
/// limits them. A request that exceeds the remaining budget is answered with 503 and `Retry-After`. Bodies that are
/// processed while they arrive, such as uploaded files, are not held and not counted.
#[derive(Clone)]
pub struct BodyBudget {
    permits: Arc<Semaphore>,
    units: usize,
}

impl BodyBudget {
    /// The size of the default budget in bytes.
    pub const DEFAULT_BYTES: usize = 48 << 20;

    /// Creates a budget of `bytes`.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        let units = bytes.div_ceil(UNIT).clamp(1, Semaphore::MAX_PERMITS);
        Self { permits: Arc::new(Semaphore::new(units)), units }
    }

    /// Creates a separate budget for an anonymous endpoint, so that it cannot use up that of users.
    pub(crate) fn for_anonymous(&self) -> Self {
        Self::new(self.units * UNIT / ANONYMOUS_SHARE)
    }

    /// Adds `bytes` to a reserved part, and waits for them at most [`WAIT`].
    ///
    /// # Errors
    ///
    /// 503 if other requests hold the budget.
    pub(crate) async fn grow(&self, reserved: &mut Reserved, bytes: usize) -> Result<(), ApiError> {
        let total = reserved.bytes.saturating_add(bytes);
        let held = reserved.permit.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let missing = total.div_ceil(UNIT).min(self.units).saturating_sub(held);
        if missing > 0 {
            let permit = self.take(u32::try_from(missing).unwrap_or(u32::MAX)).await?;
            reserved.add(Reserved { permit: Some(permit), bytes: 0 });
        }
        reserved.bytes = total;
        Ok(())
    }

    async fn take(&self, units: u32) -> Result<OwnedSemaphorePermit, ApiError> {
        if let Ok(permit) = Arc::clone(&self.permits).try_acquire_many_owned(units) {
            return Ok(permit);
        }
        match timeout(WAIT, Arc::clone(&self.permits).acquire_many_owned(units)).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => Err(ApiError::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "the server is processing too many request bodies; try again later",
            )),
        }
    }
}

impl Default for BodyBudget {
    fn default() -> Self {
        Self::new(Self::DEFAULT_BYTES)
    }
}

impl fmt::Debug for BodyBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BodyBudget").field("bytes", &(self.units * UNIT)).finish_non_exhaustive()
    }
}

/// The largest body, in bytes, of a request without a token of a user. Tokens of site visitors do not count: anybody
/// can obtain one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AnonymousBodyLimit(pub usize);

impl AnonymousBodyLimit {
    /// The default limit.
    pub const DEFAULT: Self = Self(32 * 1024);
}

/// A part of a [`BodyBudget`], returned to it when dropped.
#[derive(Debug, Default)]
pub(crate) struct Reserved {
    permit: Option<OwnedSemaphorePermit>,
    /// Bytes that the permit is for: parts are rounded up to units together.
    bytes: usize,
}

impl Reserved {
    fn add(&mut self, more: Self) {
        self.bytes += more.bytes;
        match (&mut self.permit, more.permit) {
            (Some(permit), Some(more)) => permit.merge(more),
            (_, None) => {}
            (none, more) => *none = more,
        }
    }
}

/// The account of one request: whether its sender has a token of a user, and its reserved part of the budget.
#[derive(Clone, Default)]
pub(crate) struct BodyAccount(Arc<Account>);

#[derive(Default)]
struct Account {
    is_personal: AtomicBool,
    reserved: Mutex<Reserved>,
}

impl BodyAccount {
    /// Records that the sender of the request has a token of a user.
    pub(crate) fn grant(&self) {
        self.0.is_personal.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_personal(&self) -> bool {
        self.0.is_personal.load(Ordering::Relaxed)
    }

    fn hold(&self, reserved: Reserved) {
        self.0.reserved.lock().add(reserved);
    }
}

/// Collects a body of at most `limit` bytes, within the budget of the application if one is attached.
///
/// # Errors
///
/// 413 for a longer body, 400 for one that ends early, 503 if the budget is used up.
pub(crate) async fn collect(request: &Request, body: Body, limit: usize) -> Result<Vec<u8>, ApiError> {
    let (bytes, reserved) = collect_within(request.data(), body, limit).await?;
    if let Some(account) = request.data::<BodyAccount>() {
        account.hold(reserved);
    }
    Ok(bytes)
}

/// Collects a body and returns it with the reserved part of the budget.
///
/// # Errors
///
/// As [`collect`].
pub(crate) async fn collect_within(
    budget: Option<&BodyBudget>,
    body: Body,
    limit: usize,
) -> Result<(Vec<u8>, Reserved), ApiError> {
    let AnonymousBodyLimit(free) = AnonymousBodyLimit::DEFAULT;
    let (mut bytes, mut reserved) = (Vec::new(), Reserved::default());
    let mut parts = std::pin::pin!(body.into_bytes_stream());
    while let Some(part) = parts.next().await {
        let part = part.map_err(|_| ApiError::invalid("the body ended early"))?;
        let length = bytes.len() + part.len();
        if length > limit {
            return Err(ApiError::too_large(limit));
        }
        let counted = length.saturating_sub(free) - bytes.len().saturating_sub(free);
        if let Some(budget) = budget.filter(|_| counted > 0) {
            budget.grow(&mut reserved, counted).await?;
        }
        bytes.extend_from_slice(&part);
    }
    Ok((bytes, reserved))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use poem::Body;

    use super::*;

    fn body(bytes: usize) -> Body {
        Body::from(Bytes::from(vec![b'a'; bytes]))
    }

    #[tokio::test(start_paused = true)]
    async fn bodies_over_the_budget_are_refused_until_others_end() {
        let AnonymousBodyLimit(free) = AnonymousBodyLimit::DEFAULT;
        let budget = BodyBudget::new(10 * UNIT);
        let most = free + 10 * UNIT;
        let (_, held) = collect_within(Some(&budget), body(most), most).await.expect("it fits");
        let refused = collect_within(Some(&budget), body(free + 1), most).await.expect_err("nothing is left");
        assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
        let small = collect_within(Some(&budget), body(free), most).await;
        assert!(small.is_ok(), "the first bytes of a body are not counted");
        drop(held);
        assert!(collect_within(Some(&budget), body(most), most).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn small_parts_of_a_body_are_counted_by_their_bytes() {
        let budget = BodyBudget::new(64 * UNIT);
        let parts = (0..90_000).map(|_| Ok::<_, std::io::Error>(Bytes::from_static(b"a")));
        let body = Body::from_bytes_stream(futures_util::stream::iter(parts));
        let (bytes, held) = collect_within(Some(&budget), body, 100_000).await.expect("it fits");
        assert_eq!(bytes.len(), 90_000);
        assert!(budget.permits.available_permits() > 0, "parts are not rounded up one by one");
        let mut account = held;
        account.add(Reserved::default());
        assert!(account.permit.is_some(), "adding nothing releases nothing");
    }
}
