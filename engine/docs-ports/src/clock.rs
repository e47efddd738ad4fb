//! The current time: [`Clock`].

use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, SubsecRound, Utc};

/// A source of the current time, with timers.
///
/// An operation should read the clock once and use that value throughout, so that a retry gives the same result.
///
/// # Contract
/// - `now` is in whole milliseconds, the precision of stored and returned times.
/// - `wait_until` returns immediately for a past time. When it returns, `now` is not before the given time.
#[async_trait]
pub trait Clock: Send + Sync + 'static {
    /// Returns the current time in whole milliseconds.
    fn now(&self) -> DateTime<Utc>;

    /// Waits until the clock reaches `at`.
    ///
    /// # Cancel safety
    /// Dropping the future ends the wait without side effects.
    async fn wait_until(&self, at: DateTime<Utc>);
}

/// The system clock.
///
/// Waiting requires a tokio runtime with time enabled.
#[derive(Clone, Copy, Default, Debug)]
pub struct SystemClock;

/// Maximum duration of a single sleep. The system clock may be adjusted during a wait, so a long wait rereads it.
const CLOCK_POLL: Duration = Duration::from_secs(30);

#[async_trait]
impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this port is the only source of time")]
    fn now(&self) -> DateTime<Utc> {
        Utc::now().trunc_subsecs(3)
    }

    async fn wait_until(&self, at: DateTime<Utc>) {
        // The conversion of a negative duration fails, in which case the time has passed.
        while let Ok(left) = (at - self.now()).to_std() {
            if left.is_zero() {
                return;
            }
            tokio::time::sleep(left.min(CLOCK_POLL)).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn now_is_in_whole_milliseconds() {
        assert_eq!(SystemClock.now().timestamp_subsec_nanos() % 1_000_000, 0);
    }

    #[tokio::test]
    async fn wait_until_returns_at_once_for_past_times() {
        SystemClock.wait_until(SystemClock.now()).await;
        SystemClock.wait_until(DateTime::UNIX_EPOCH).await;
    }
}
