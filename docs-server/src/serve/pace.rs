//! Measurement of the time that the server spends waiting for a client.

use std::time::Duration;

use tokio::time::Instant;

use super::Pace;

/// Maximum remaining time, in multiples of [`Pace::stall`]. A burst of bytes cannot earn more time than this.
const MAX_STALLS: u32 = 2;

/// Measures a transfer against a [`Pace`]. Time that the server spends waiting is deducted from the client's remaining
/// time, and transferred bytes add to it.
#[derive(Debug)]
pub(super) struct Pacer {
    pace: Pace,
    waiting_since: Option<Instant>,
    /// Remaining time at the start of the current wait.
    left: Duration,
}

impl Pacer {
    pub(super) const fn new(pace: Pace) -> Self {
        Self { pace, waiting_since: None, left: pace.stall }
    }

    /// Records that the server started to wait for the client.
    pub(super) fn wait(&mut self, now: Instant) {
        self.waiting_since.get_or_insert(now);
    }

    /// Records that the client sent or read bytes.
    pub(super) fn progress(&mut self, now: Instant, bytes: usize) {
        if let Some(since) = self.waiting_since.take() {
            self.left = self.left.saturating_sub(now - since);
        }
        let nanos =
            (bytes as u64).saturating_mul(1_000_000_000) / u64::from(self.pace.bytes_per_second.max(1));
        let most = self.pace.stall.saturating_mul(MAX_STALLS);
        self.left = self.left.saturating_add(Duration::from_nanos(nanos)).min(most);
    }

    /// Returns the start of the current wait.
    pub(super) const fn waiting_since(&self) -> Option<Instant> {
        self.waiting_since
    }

    /// Returns the deadline of the current wait, or `None` if the server is not waiting.
    pub(super) fn deadline(&self) -> Option<Instant> {
        Some(self.waiting_since? + self.left.min(self.pace.stall))
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

    #[test]
    fn a_burst_saves_up_no_time_for_later() {
        let (mut pacer, start) = (Pacer::new(PACE), Instant::now());
        let pause = PACE.stall * 6 / 10;
        pacer.wait(start);
        pacer.progress(start, 10_000_000);
        let mut now = start;
        loop {
            pacer.wait(now);
            if pacer.deadline().is_some_and(|deadline| deadline < now + pause) {
                break;
            }
            now += pause;
            pacer.progress(now, 1);
        }
        assert!(now - start <= PACE.stall * MAX_STALLS, "{:?}", now - start);
    }

    #[test]
    fn pauses_shorter_than_a_stall_between_bursts_are_allowed() {
        let (mut pacer, mut now) = (Pacer::new(PACE), Instant::now());
        for _ in 0..1_000 {
            pacer.wait(now);
            now += PACE.stall;
            assert!(pacer.deadline().is_some_and(|deadline| deadline >= now));
            pacer.progress(now, 1_000);
        }
    }
}
