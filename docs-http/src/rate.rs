//! Rate limiting per client and minute.
//!
//! Every API response contains the state of the limit: `X-RateLimit-Limit`, `X-RateLimit-Remaining`, and
//! `X-RateLimit-Reset`, the Unix time in seconds of the next reset. Counts reset at each full minute. A request over
//! the limit gets 429 with `Retry-After`.
//!
//! The client address is that of the connection, or the one stated by a trusted proxy: see [`TrustedProxies`].
//!
//! A token has its own count once it was found to be valid. Requests without a token, or with a token not yet known to
//! be valid, are charged to the client address. An attacker who guesses tokens therefore hits the limit no matter how
//! many different tokens are tried, and invalid tokens use no memory. Tokens known to be valid still work from an
//! address over its limit.

use std::{collections::HashMap, fmt, hash::Hash, net::IpAddr, num::NonZeroU32, sync::Arc};

use docs_core::ports::{Clock, SystemClock};
use parking_lot::Mutex;
use poem::{
    Endpoint, IntoResponse, Middleware, Request, Response,
    http::{HeaderName, HeaderValue, StatusCode, header},
};

use crate::{
    authenticator::{self, TokenProof},
    trusted_proxies::TrustedProxies,
    wire::error::{ApiError, outcome_response},
};

/// The header with the number of requests permitted per minute.
pub(crate) const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
/// The header with the number of remaining requests.
pub(crate) const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
/// The header with the Unix time of the next reset, in seconds.
pub(crate) const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");

/// Length of a window in seconds.
const WINDOW_SECONDS: u64 = 60;
/// Number of shards of a table, each with its own lock.
const SHARDS: usize = 16;
/// Maximum number of clients per shard. Additional clients share one count.
const MAX_CLIENTS_PER_SHARD: usize = 4_096;

/// A rate limit for each client.
#[derive(Clone)]
pub struct RateLimit {
    per_minute: NonZeroU32,
    clock: Arc<dyn Clock>,
}

impl RateLimit {
    /// Creates a limit of `requests` per minute.
    #[must_use]
    pub fn per_minute(requests: NonZeroU32) -> Self {
        Self { per_minute: requests, clock: Arc::new(SystemClock) }
    }

    /// Replaces the clock, for example with a manual one.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Returns the limit as a poem middleware, for other routes of the embedding application. The API applies its own
    /// limit.
    #[must_use]
    pub fn middleware(self, proxies: TrustedProxies) -> RateLimiter {
        RateLimiter::new(Some(self), proxies)
    }
}

impl fmt::Debug for RateLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimit").field("per_minute", &self.per_minute).finish_non_exhaustive()
    }
}

/// A middleware that counts requests and rejects those over the limit. Created by [`RateLimit::middleware`].
pub struct RateLimiter(Option<Arc<Limiter>>);

impl fmt::Debug for RateLimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimiter").finish_non_exhaustive()
    }
}

impl RateLimiter {
    /// Creates a rate limiter. Without a limit, it accepts all requests.
    pub(crate) fn new(limit: Option<RateLimit>, proxies: TrustedProxies) -> Self {
        Self(limit.map(|limit| Arc::new(Limiter::new(limit, proxies))))
    }
}

impl<E: Endpoint> Middleware<E> for RateLimiter {
    type Output = RateLimitEndpoint<E>;

    fn transform(&self, inner: E) -> RateLimitEndpoint<E> {
        RateLimitEndpoint { inner, limiter: self.0.clone() }
    }
}

/// An endpoint with a rate limit.
pub struct RateLimitEndpoint<E> {
    inner: E,
    limiter: Option<Arc<Limiter>>,
}

impl<E> fmt::Debug for RateLimitEndpoint<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimited").finish_non_exhaustive()
    }
}

impl<E: Endpoint> Endpoint for RateLimitEndpoint<E> {
    type Output = Response;

    async fn call(&self, mut request: Request) -> poem::Result<Response> {
        let Some(limiter) = &self.limiter else {
            return self.inner.call(request).await.map(IntoResponse::into_response);
        };
        let now = limiter.current_window();
        let client = Client::from_request(&request, &limiter.proxies);
        let count = limiter.charge(&client, now);
        let Count::Within { .. } = count else { return Ok(limiter.refusal(now)) };
        let proof = TokenProof::default();
        request.set_data(proof.clone());
        let mut response = outcome_response(self.inner.call(request).await.map(IntoResponse::into_response));
        let left = limiter.settle(&client, &proof, count);
        limiter.set_headers(&mut response, left, now);
        Ok(response)
    }
}

/// Hash of a token, so that tables contain no secrets.
type TokenHash = [u8; 32];

/// The client that sent a request, as far as the request identifies it.
struct Client {
    token: Option<TokenHash>,
    address: Option<IpAddr>,
}

impl Client {
    fn from_request(request: &Request, proxies: &TrustedProxies) -> Self {
        let token = authenticator::token(request).ok().flatten();
        Self {
            token: token.map(|token| *blake3::hash(token.as_bytes()).as_bytes()),
            address: proxies.client_network(request),
        }
    }
}

/// The result of counting a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Count {
    /// Within the limit: the remaining requests, and the key that was charged.
    Within { left: u32, by: RateKey, window: u64 },
    /// Over the limit.
    Over,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum RateKey {
    Token,
    Address,
}

/// The current window, and the time until it ends.
#[derive(Clone, Copy)]
struct RateWindow {
    window: u64,
    reset: u64,
    wait: u64,
}

pub(crate) struct Limiter {
    limit: u32,
    clock: Arc<dyn Clock>,
    proxies: TrustedProxies,
    /// Counts by valid token.
    tokens: CountTable<TokenHash>,
    /// Counts by address. All requests without an address share one.
    addresses: CountTable<Option<IpAddr>>,
}

impl Limiter {
    fn new(limit: RateLimit, proxies: TrustedProxies) -> Self {
        Self {
            limit: limit.per_minute.get(),
            clock: limit.clock,
            proxies,
            tokens: CountTable::new(),
            addresses: CountTable::new(),
        }
    }

    fn current_window(&self) -> RateWindow {
        let seconds = u64::try_from(self.clock.now().timestamp()).unwrap_or(0);
        let window = seconds / WINDOW_SECONDS;
        let reset = (window + 1) * WINDOW_SECONDS;
        RateWindow { window, reset, wait: reset - seconds }
    }

    fn charge(&self, client: &Client, now: RateWindow) -> Count {
        let by_token =
            client.token.as_ref().and_then(|token| self.tokens.charge_known(token, now.window, self.limit));
        let (left, by) = match by_token {
            Some(left) => (left, RateKey::Token),
            None => (self.addresses.charge(&client.address, now.window, self.limit), RateKey::Address),
        };
        left.map_or(Count::Over, |left| Count::Within { left, by, window: now.window })
    }

    /// Moves the charge of a request from the address to the token if the token turned out to be valid.
    fn settle(&self, client: &Client, proof: &TokenProof, count: Count) -> u32 {
        match (count, &client.token) {
            (Count::Within { by: RateKey::Address, window, .. }, Some(token)) if proof.is_valid() => {
                self.addresses.refund(&client.address, window);
                self.tokens.charge(token, window, self.limit).unwrap_or(0)
            }
            (Count::Within { left, .. }, _) => left,
            (Count::Over, _) => 0,
        }
    }

    fn refusal(&self, now: RateWindow) -> Response {
        let message =
            format!("too many requests: at most {} a minute; try again in {} s", self.limit, now.wait);
        let mut response = ApiError::new(StatusCode::TOO_MANY_REQUESTS, message).into_response();
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(now.wait));
        self.set_headers(&mut response, 0, now);
        response
    }

    fn set_headers(&self, response: &mut Response, left: u32, now: RateWindow) {
        let headers = response.headers_mut();
        headers.insert(LIMIT, HeaderValue::from(self.limit));
        headers.insert(REMAINING, HeaderValue::from(left));
        headers.insert(RESET, HeaderValue::from(now.reset));
    }
}

/// Counts by key, with bounded memory.
struct CountTable<K> {
    shards: Vec<Mutex<Shard<K>>>,
    hasher: std::hash::RandomState,
}

struct Shard<K> {
    counts: HashMap<K, Bucket>,
    /// The shared count of clients beyond the capacity.
    others: Bucket,
    /// The window where expired counts were last removed.
    swept: u64,
}

#[derive(Clone, Copy, Default)]
struct Bucket {
    window: u64,
    used: u32,
}

impl Bucket {
    /// Counts a request. Returns the number of remaining requests, or `None` if the limit was already reached.
    fn charge(&mut self, window: u64, limit: u32) -> Option<u32> {
        if self.window != window {
            *self = Self { window, used: 0 };
        }
        if self.used >= limit {
            return None;
        }
        self.used += 1;
        Some(limit - self.used)
    }
}

impl<K: Hash + Eq + Clone> CountTable<K> {
    fn new() -> Self {
        let shard = || Mutex::new(Shard { counts: HashMap::new(), others: Bucket::default(), swept: 0 });
        Self { shards: (0..SHARDS).map(|_| shard()).collect(), hasher: std::hash::RandomState::new() }
    }

    fn shard(&self, key: &K) -> &Mutex<Shard<K>> {
        use std::hash::BuildHasher as _;
        let hash = usize::try_from(self.hasher.hash_one(key) % SHARDS as u64).unwrap_or(0);
        &self.shards[hash]
    }

    fn charge(&self, key: &K, window: u64, limit: u32) -> Option<u32> {
        let mut shard = self.shard(key).lock();
        if let Some(bucket) = shard.counts.get_mut(key) {
            return bucket.charge(window, limit);
        }
        if shard.counts.len() >= MAX_CLIENTS_PER_SHARD && shard.swept != window {
            shard.counts.retain(|_, bucket| bucket.window == window);
            shard.swept = window;
        }
        if shard.counts.len() >= MAX_CLIENTS_PER_SHARD {
            return shard.others.charge(window, limit);
        }
        shard.counts.entry(key.clone()).or_default().charge(window, limit)
    }

    /// Counts a request if its key already has a count. The outer `None` means that it has none.
    fn charge_known(&self, key: &K, window: u64, limit: u32) -> Option<Option<u32>> {
        self.shard(key).lock().counts.get_mut(key).map(|bucket| bucket.charge(window, limit))
    }

    fn refund(&self, key: &K, window: u64) {
        let mut shard = self.shard(key).lock();
        let shard = &mut *shard;
        let bucket = shard.counts.get_mut(key).unwrap_or(&mut shard.others);
        if bucket.window == window {
            bucket.used = bucket.used.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn count_table_is_bounded_and_evicts_expired_windows() {
        let table: CountTable<u64> = CountTable::new();
        let all = (SHARDS * MAX_CLIENTS_PER_SHARD * 2) as u64;
        for key in 0..all {
            table.charge(&key, 1, 5);
        }
        let held = || table.shards.iter().map(|shard| shard.lock().counts.len()).sum::<usize>();
        assert_eq!(held(), SHARDS * MAX_CLIENTS_PER_SHARD);
        assert_eq!(table.charge(&(all + 1), 1, 5), None, "those for whom there is no room share a count");
        assert_eq!(table.charge(&(all + 1), 2, 5), Some(4), "in the next window there is room");
        assert!(held() < SHARDS * MAX_CLIENTS_PER_SHARD);
    }
}
