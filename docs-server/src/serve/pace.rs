//! Measurement of the time that the server waits for a client.

use std::time::Duration;

use tokio::time::Instant;

use super::Pace;

/// Measures a transfer against a [`Pace`].
#[derive(Debug)]
pub(super) struct Pacer {
    pace: Pace,
    waiting_since: Option<Instant>,
    waited: Duration,
    bytes: u64,
}

impl Pacer {
    pub(super) const fn new(pace: Pace) -> Self {
        Self { pace, waiting_since: None, waited: Duration::ZERO, bytes: 0 }
    }

    /// Records that the server waits for the client.
    pub(super) fn wait(&mut self, now: Instant) {
        self.waiting_since.get_or_insert(now);
    }

    /// Records that the client sent or read bytes.
    pub(super) fn progress(&mut self, now: Instant, bytes: usize) {
        if let Some(since) = self.waiting_since.take() {
            self.waited += now - since;
        }
        self.bytes += bytes as u64;
    }

    /// Returns the start of the current wait.
    pub(super) const fn waiting_since(&self) -> Option<Instant> {
        self.waiting_since
    }

    /// Returns the deadline of the current wait, or `None` if the server does not wait.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let since = self.waiting_since?;
        let rate = u64::from(self.pace.bytes_per_second.max(1));
        let earned = Duration::from_secs(self.bytes / rate);
        let left = (self.pace.stall + earned).saturating_sub(self.waited);
        Some(since + left.min(self.pace.stall))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACE: Pace = Pace { stall: Duration::from_secs(10), bytes_per_second: 100 };

    #[test]
    fn a_transfer_without_bytes_ends_after_the_stall() {
        let (mut pacer, start) = (Pacer::new(PACE), Instant::now());
        assert_eq!(pacer.deadline(), None);
        pacer.wait(start);
        pacer.wait(start + Duration::from_secs(5));
        assert_eq!(pacer.deadline(), Some(start + PACE.stall));
    }

    #[test]
    fn a_byte_now_and_then_is_no_progress() {
        let (mut pacer, mut now) = (Pacer::new(PACE), Instant::now());
        let start = now;
        loop {
            pacer.wait(now);
            let next = now + Duration::from_secs(4);
            if pacer.deadline().is_some_and(|deadline| deadline < next) {
                break;
            }
            now = next;
            pacer.progress(now, 1);
        }
        assert!(now - start <= PACE.stall, "{:?}", now - start);
    }

    #[test]
    fn a_slow_transfer_above_the_rate_goes_on() {
        let (mut pacer, mut now) = (Pacer::new(PACE), Instant::now());
        for _ in 0..1_000 {
            pacer.wait(now);
            now += Duration::from_secs(1);
            assert!(pacer.deadline().is_some_and(|deadline| deadline >= now));
            pacer.progress(now, 120);
        }
    }
}
