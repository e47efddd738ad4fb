//! Time: [`Clock`].

use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, SubsecRound, Utc};

/// Tells the time, and wakes those who wait for it.
///
/// An operation asks once and uses that one answer throughout, so that running it again gives the same result.
///
/// # Contract
/// - `now` is in whole milliseconds, the precision in which times are stored and shown.
/// - `wait_until` of a time that has come returns at once; after it returned, `now` is not before that time.
#[async_trait]
pub trait Clock: Send + Sync + 'static {
    /// The time, in whole milliseconds.
    fn now(&self) -> DateTime<Utc>;

    /// Waits until the clock shows `at` or later.
    ///
    /// # Cancel safety
    /// Dropping the future ends the wait and changes nothing.
    async fn wait_until(&self, at: DateTime<Utc>);
}

/// The clock of the machine.
///
/// Waiting needs a tokio runtime with time enabled.
#[derive(Clone, Copy, Default, Debug)]
pub struct SystemClock;

/// The longest single sleep. The clock of a machine may be set while somebody waits, so a long wait looks again.
const CLOCK_POLL: Duration = Duration::from_secs(30);

#[async_trait]
impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the port that all others ask for the time")]
    fn now(&self) -> DateTime<Utc> {
        Utc::now().trunc_subsecs(3)
    }

    async fn wait_until(&self, at: DateTime<Utc>) {
        // A span below zero does not convert: the time has come.
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
    async fn a_time_that_has_come_is_not_waited_for() {
        SystemClock.wait_until(SystemClock.now()).await;
        SystemClock.wait_until(DateTime::UNIX_EPOCH).await;
    }
}
