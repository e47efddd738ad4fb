//! Memory limits for request bodies: a budget shared by all requests, and the account of each request.

use std::{
    fmt,
    sync::{Arc, OnceLock},
    time::Duration,
};

use futures_util::StreamExt as _;
use parking_lot::Mutex;
use poem::{Body, Request, http::StatusCode};

use super::{
    error::ApiError,
    shares::{Holder, Place, Shares},
};
use crate::trusted_proxies::TrustedProxies;

/// Divisor of the budget for anonymous endpoints.
const ANONYMOUS_SHARE: usize = 4;

/// A memory budget for buffered request bodies, shared by all requests of an application.
///
/// The first bytes of each body, up to [`AnonymousBodyLimit::DEFAULT`], are not counted: the connection limit bounds
/// them. The holder of a share is a user, or a network address for requests without a user. Each holder may use as much
/// memory as it leaves free: a single holder at most a half, two at most a third each. A request that exceeds its share
/// gets 503 with `Retry-After`. While a request waits for memory, bodies of other holders that arrive too slowly are
/// aborted with 408. Slow bodies of all holders together may then keep a half of the budget only, so that many holders
/// with a small share each leave memory to others: those that have used most memory for longest are aborted first.
/// Bodies that are processed as a stream, such as uploaded files, are not counted.
#[derive(Clone)]
pub struct BodyBudget(Arc<Shares>);

impl BodyBudget {
    /// Default size of the budget in bytes.
    pub const DEFAULT_BYTES: usize = 48 << 20;
    /// Time for a body to grow by 24 KiB. A slower body may be aborted while other requests wait for memory.
    pub const STALLED: Duration = Duration::from_secs(3);

    /// Time after which a body that has not arrived is slow.
    pub const SLOW: Duration = Duration::from_secs(10);

    /// Creates a budget of `bytes`.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        Self(Shares::new(bytes, Self::STALLED, Self::SLOW))
    }

    /// Creates a separate budget for an anonymous endpoint, which therefore cannot use up the memory of users.
    pub(crate) fn for_anonymous(&self) -> Self {
        Self::new(self.0.bytes() / ANONYMOUS_SHARE)
    }
}

impl Default for BodyBudget {
    fn default() -> Self {
        Self::new(Self::DEFAULT_BYTES)
    }
}

impl fmt::Debug for BodyBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BodyBudget").field("bytes", &self.0.bytes()).finish_non_exhaustive()
    }
}

/// Returns the client's network as the holder of its bodies.
pub(crate) fn network_holder(request: &Request, proxies: &TrustedProxies) -> Holder {
    Holder::Network(proxies.client_network(request))
}

/// Returns the holder of a body: the authenticated user, otherwise the client's network.
fn holder(request: &Request) -> Holder {
    if let Some(user) = request.data::<BodyAccount>().and_then(BodyAccount::user) {
        return Holder::User(user);
    }
    match request.data::<TrustedProxies>() {
        Some(proxies) => network_holder(request, proxies),
        None => network_holder(request, &TrustedProxies::default()),
    }
}

/// Maximum size, in bytes, of the body of a request without a user token. Visitor tokens of sites do not count as user
/// tokens, because anyone can obtain one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AnonymousBodyLimit(pub usize);

impl AnonymousBodyLimit {
    /// The default limit.
    pub const DEFAULT: Self = Self(32 * 1024);
}

/// A reservation in a [`BodyBudget`], released on drop.
#[derive(Debug, Default)]
pub(crate) struct BodyReservation {
    _place: Option<Place>,
}

/// The account of one request: the user of its token, if any, and its reservations in the budget.
#[derive(Clone, Default)]
pub(crate) struct BodyAccount(Arc<Account>);

#[derive(Default)]
struct Account {
    /// The user id if the authenticator returns one. Unset without a user token.
    user: OnceLock<Option<Arc<str>>>,
    reserved: Mutex<Vec<BodyReservation>>,
}

impl BodyAccount {
    /// Records that the request has a user token, and the user id if the authenticator provides it.
    pub(crate) fn grant(&self, user: Option<&str>) {
        self.0.user.get_or_init(|| user.map(Arc::from));
    }

    pub(crate) fn is_personal(&self) -> bool {
        self.0.user.get().is_some()
    }

    fn user(&self) -> Option<Arc<str>> {
        self.0.user.get().cloned().flatten()
    }

    fn hold(&self, reserved: BodyReservation) {
        self.0.reserved.lock().push(reserved);
    }
}

/// Collects a body of at most `limit` bytes, charged to the application's budget if there is one.
///
/// # Errors
///
/// 413 for a longer body, 400 for a body that ends early, 503 if the budget is exhausted, 408 if the body stalls while
/// others need its memory.
pub(crate) async fn collect(request: &Request, body: Body, limit: usize) -> Result<Vec<u8>, ApiError> {
    let budget = request.data::<BodyBudget>().map(|budget| (budget, holder(request)));
    let (bytes, reserved) = collect_within(budget, body, limit).await?;
    if let Some(account) = request.data::<BodyAccount>() {
        account.hold(reserved);
    }
    Ok(bytes)
}

/// Collects a body and returns it with its reservation.
///
/// # Errors
///
/// The errors of [`collect`].
pub(crate) async fn collect_within(
    budget: Option<(&BodyBudget, Holder)>,
    body: Body,
    limit: usize,
) -> Result<(Vec<u8>, BodyReservation), ApiError> {
    let AnonymousBodyLimit(free) = AnonymousBodyLimit::DEFAULT;
    let mut place = budget.map(|(BodyBudget(shares), holder)| shares.place(holder));
    let mut bytes = Vec::new();
    let mut parts = std::pin::pin!(body.into_bytes_stream());
    loop {
        let part = match &place {
            Some(place) => tokio::select! {
                biased;
                () = place.ended() => return Err(stalled()),
                part = parts.next() => part,
            },
            None => parts.next().await,
        };
        let Some(part) = part else { break };
        let part = part.map_err(ApiError::from_body_error)?;
        let length = bytes.len() + part.len();
        if length > limit {
            return Err(ApiError::too_large(limit));
        }
        if let Some(place) = &mut place
            && length > free
            && !place.grow(length - free).await
        {
            return Err(used_up());
        }
        bytes.extend_from_slice(&part);
    }
    if let Some(place) = &place {
        place.complete();
    }
    Ok((bytes, BodyReservation { _place: place }))
}

fn used_up() -> ApiError {
    let message = "the server is processing too many request bodies; try again later";
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, message)
}

/// The error for a body that was aborted because it stalled while others need its memory.
pub(crate) fn stalled() -> ApiError {
    let message = "the body: must arrive faster while other requests wait for memory; send the request again";
    ApiError::new(StatusCode::REQUEST_TIMEOUT, message)
}

#[cfg(test)]
mod tests {
    use std::{io, net::IpAddr};

    use bytes::Bytes;
    use futures_util::stream;
    use poem::Body;
    use tokio::time::Instant;

    use super::*;

    const UNIT: usize = Shares::UNIT_BYTES;
    const FREE: usize = AnonymousBodyLimit::DEFAULT.0;
    const MOST: usize = 10 << 20;

    fn body(bytes: usize) -> Body {
        Body::from(Bytes::from(vec![b'a'; bytes]))
    }

    fn user(name: &str) -> Holder {
        Holder::User(name.into())
    }

    /// Advances the paused clock of a test, letting spawned tasks run.
    async fn pass(time: Duration) {
        tokio::time::sleep(time).await;
    }

    /// A body that sends `bytes` at once, and then one byte per `pause` forever.
    fn dripping(bytes: usize, pause: Duration) -> Body {
        let first = Bytes::from(vec![b'a'; bytes]);
        let rest = stream::unfold((), move |()| async move {
            pass(pause).await;
            Some((Ok::<_, io::Error>(Bytes::from_static(b"a")), ()))
        });
        Body::from_bytes_stream(stream::once(async { Ok(first) }).chain(Box::pin(rest)))
    }

    /// Starts to collect bodies, each in its own task.
    fn begin(
        budget: &BodyBudget,
        bodies: impl IntoIterator<Item = (Holder, Body)>,
    ) -> Vec<tokio::task::JoinHandle<Result<(), StatusCode>>> {
        let collect = |(holder, body)| {
            let budget = budget.clone();
            tokio::spawn(async move {
                let collected = collect_within(Some((&budget, holder)), body, MOST).await;
                collected.map(drop).map_err(|error| error.status())
            })
        };
        bodies.into_iter().map(collect).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn bodies_over_the_budget_are_refused_until_others_end() {
        let budget = BodyBudget::new(10 * UNIT);
        let most = FREE + 10 * UNIT;
        let (_, held) = collect_within(Some((&budget, user("a"))), body(most), most).await.expect("it fits");
        let of = |holder, bytes| collect_within(Some((&budget, holder)), body(bytes), most);
        let refused = of(user("b"), FREE + 1).await.expect_err("nothing is left");
        assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert!(of(user("b"), FREE).await.is_ok(), "the first bytes of a body are not counted");
        drop(held);
        assert!(of(user("b"), most).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn small_parts_of_a_body_are_counted_by_their_bytes() {
        let budget = BodyBudget::new(64 * UNIT);
        let other = BodyAccount::default();
        let of = |bytes| collect_within(Some((&budget, user("a"))), body(bytes), MOST);
        other.hold(of(FREE + 1).await.expect("it fits").1);
        let parts = (0..FREE + 30 * UNIT).map(|_| Ok::<_, io::Error>(Bytes::from_static(b"a")));
        let small = Body::from_bytes_stream(stream::iter(parts));
        let (bytes, held) = collect_within(Some((&budget, user("a"))), small, MOST).await.expect("it fits");
        assert_eq!(bytes.len(), FREE + 30 * UNIT);
        assert!(of(FREE + 2 * UNIT).await.is_err(), "the user has its half");
        let account = BodyAccount::default();
        account.hold(held);
        account.hold(BodyReservation::default());
        assert!(of(FREE + 2 * UNIT).await.is_err(), "adding nothing releases nothing");
        drop(account);
        assert!(of(FREE + 2 * UNIT).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_user_with_slow_bodies_leaves_memory_to_others() {
        let budget = BodyBudget::default();
        let sizes = [10_400_000, 10_400_000, 10_400_000, 10_400_000, 8_900_000];
        let slow = sizes.map(|size| (user("slow"), dripping(size, Duration::from_secs(12))));
        let slow = begin(&budget, slow);
        pass(Duration::from_millis(10)).await;
        let address = |number| Holder::Network(Some(IpAddr::from([192, 0, 2, number])));
        for minute in 0..10 {
            for holder in [user("other"), address(1), address(2)] {
                let begun = Instant::now();
                let other = collect_within(Some((&budget, holder)), body(MOST), MOST).await;
                assert!(other.is_ok(), "minute {minute}");
                assert!(begun.elapsed() < Duration::from_secs(1), "minute {minute}");
            }
            tokio::time::advance(Duration::from_secs(60)).await;
        }
        slow.iter().for_each(tokio::task::JoinHandle::abort);
    }

    #[tokio::test(start_paused = true)]
    async fn stalled_bodies_of_the_largest_holder_end_first() {
        let budget = BodyBudget::new(70 * UNIT);
        let slow = || dripping(FREE + 10 * UNIT - 500, Duration::from_secs(1));
        let small = begin(&budget, [(user("small"), slow())]);
        let large = begin(&budget, (0..3).map(|_| (user("large"), slow())));
        pass(Duration::from_millis(10)).await;
        let of = |bytes| collect_within(Some((&budget, user("new"))), body(bytes), MOST);
        let early = of(FREE + 18 * UNIT).await.expect_err("their pauses are too short yet");
        assert_eq!(early.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert!(of(FREE + 18 * UNIT).await.is_ok(), "a byte a second is no growth");
        let ended = large.iter().filter(|task| task.is_finished()).count();
        assert_eq!((ended, small[0].is_finished()), (1, false));
        for task in large {
            if task.is_finished() {
                assert_eq!(task.await.expect("no panic"), Err(StatusCode::REQUEST_TIMEOUT));
            } else {
                task.abort();
            }
        }
        small[0].abort();
    }

    /// A body that sends `bytes` per second forever.
    fn steady(bytes: usize) -> Body {
        let part = Bytes::from(vec![b'a'; bytes]);
        let parts = stream::unfold(part, |part| async move {
            pass(Duration::from_secs(1)).await;
            Some((Ok::<_, io::Error>(part.clone()), part))
        });
        Body::from_bytes_stream(Box::pin(parts))
    }

    #[tokio::test(start_paused = true)]
    async fn slow_bodies_of_many_users_leave_memory_to_others() {
        let budget = BodyBudget::new(1_000 * UNIT);
        let slow = begin(&budget, (0..60).map(|at| (user(&format!("slow {at}")), steady(1_126))));
        pass(Duration::from_secs(35)).await;
        let fast = begin(&budget, [(user("fast"), steady(12 * UNIT))]);
        pass(Duration::from_secs(5)).await;
        let ended = || slow.iter().filter(|task| task.is_finished()).count();
        assert_eq!(ended(), 0, "slow bodies go on while nobody waits");
        for second in 0..10 {
            let new = collect_within(Some((&budget, user("new"))), body(FREE + 200 * UNIT), MOST).await;
            assert!(new.is_ok(), "second {second}");
            pass(Duration::from_secs(1)).await;
        }
        assert!((1..60).contains(&ended()), "as many as the others need: {}", ended());
        assert!(!fast[0].is_finished(), "12 KiB per second suffice");
        slow.iter().chain(&fast).for_each(tokio::task::JoinHandle::abort);
    }

    /// A body that sends `bytes` at once, and then 10 KiB per second forever, which is no stall.
    fn slow(bytes: usize) -> Body {
        let first = Bytes::from(vec![b'a'; bytes]);
        let first = Body::from_bytes_stream(stream::once(async { Ok::<_, io::Error>(first) }));
        let all = first.into_bytes_stream().chain(steady(10 * UNIT).into_bytes_stream());
        Body::from_bytes_stream(Box::pin(all))
    }

    #[tokio::test(start_paused = true)]
    async fn slow_bodies_of_many_holders_leave_a_half_to_others() {
        for holders in [2, 24, 100] {
            let budget = BodyBudget::default();
            let share = FREE + BodyBudget::DEFAULT_BYTES / (holders + 1) - 130_000;
            let name = |at| user(&format!("slow {at}"));
            let small = begin(&budget, [(user("small"), slow(FREE + 20_000))]);
            let held = begin(&budget, (0..holders).map(|at| (name(at), slow(share.min(MOST - 2_000_000)))));
            pass(BodyBudget::SLOW + Duration::from_secs(1)).await;
            for bytes in [60_000, 500_000, 1_200_000, 3_000_000, 9_900_000] {
                let begun = Instant::now();
                let other = collect_within(Some((&budget, user("other"))), body(bytes), MOST).await;
                assert!(other.is_ok(), "{bytes} bytes beside {holders} holders");
                assert!(begun.elapsed() < Duration::from_secs(1), "{bytes} bytes beside {holders} holders");
            }
            assert!(!small[0].is_finished(), "slow bodies that use little memory go on");
            assert!(held.iter().any(|task| !task.is_finished()), "slow bodies keep a half");
            small.iter().chain(&held).for_each(tokio::task::JoinHandle::abort);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_larger_than_the_budget_is_collected_alone() {
        let budget = BodyBudget::new(UNIT);
        let (_, held) = collect_within(Some((&budget, user("a"))), body(MOST), MOST).await.expect("alone");
        drop(held);
        let slow = begin(&budget, [(user("a"), dripping(FREE + 100 * UNIT, Duration::from_secs(12)))]);
        pass(Duration::from_secs(4)).await;
        let other = collect_within(Some((&budget, user("b"))), body(MOST), MOST).await;
        assert!(other.is_ok(), "the stalled body is ended");
        for task in slow {
            assert_eq!(task.await.expect("no panic"), Err(StatusCode::REQUEST_TIMEOUT));
        }
    }
}
