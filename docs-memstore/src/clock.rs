//! A clock that only advances on request.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use chrono::{DateTime, SubsecRound, TimeDelta, Utc};
use docs_ports::Clock;
use tokio::sync::watch;

/// A [`Clock`] that is set manually. Clones share the time.
///
/// Setting the clock wakes tasks that wait for that time, so a test can skip a week without waiting.
///
/// ```
/// use std::time::Duration;
/// use docs_ports::Clock;
/// use docs_memstore::ManualClock;
///
/// let clock = ManualClock::default();
/// let before = clock.now();
/// clock.advance(Duration::from_secs(3600));
/// assert_eq!((clock.now() - before).num_minutes(), 60);
/// ```
#[derive(Clone, Debug)]
pub struct ManualClock(Arc<watch::Sender<DateTime<Utc>>>);

impl ManualClock {
    /// Creates a clock set to `start`, truncated to milliseconds.
    #[must_use]
    pub fn new(start: DateTime<Utc>) -> Self {
        Self(Arc::new(watch::Sender::new(start.trunc_subsecs(3))))
    }

    /// Sets the clock to a time, forwards or backwards.
    pub fn set(&self, now: DateTime<Utc>) {
        self.0.send_replace(now.trunc_subsecs(3));
    }

    /// Advances the clock. Saturates at the latest representable time.
    pub fn advance(&self, by: Duration) {
        self.0.send_modify(|now| {
            let later = TimeDelta::from_std(by).ok().and_then(|by| now.checked_add_signed(by));
            *now = later.unwrap_or(DateTime::<Utc>::MAX_UTC).trunc_subsecs(3);
        });
    }
}

impl Default for ManualClock {
    /// Creates a clock set to the beginning of 2025.
    fn default() -> Self {
        Self::new(DateTime::UNIX_EPOCH + TimeDelta::seconds(1_735_689_600))
    }
}

#[async_trait]
impl Clock for ManualClock {
    fn now(&self) -> DateTime<Utc> {
        *self.0.borrow()
    }

    async fn wait_until(&self, at: DateTime<Utc>) {
        let mut time = self.0.subscribe();
        // `self` owns the sender, so the wait ends only when the time is reached.
        let _ = time.wait_for(|now| *now >= at).await;
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn wait_until_completes_at_its_deadline_and_not_earlier() {
        let clock = ManualClock::default();
        let start = clock.now();
        let mut wait = Box::pin(clock.wait_until(start + TimeDelta::seconds(2)));
        let mut poll = || (&mut wait).now_or_never().is_some();
        assert!(!poll());
        clock.advance(Duration::from_secs(1));
        assert!(!poll());
        clock.clone().set(start + TimeDelta::seconds(2));
        assert!(poll());
    }

    #[test]
    fn time_is_in_whole_milliseconds_and_never_overflows() {
        let clock = ManualClock::new(DateTime::UNIX_EPOCH + TimeDelta::nanoseconds(1_999_999));
        assert_eq!(clock.now().timestamp_subsec_nanos(), 1_000_000);
        clock.advance(Duration::from_micros(1_500));
        assert_eq!(clock.now().timestamp_subsec_nanos(), 2_000_000);
        clock.advance(Duration::MAX);
        assert_eq!(clock.now(), DateTime::<Utc>::MAX_UTC.trunc_subsecs(3));
    }
}
