//! The minimum rate of a response.

use std::time::{Duration, Instant};

use bytes::Bytes;
use docs_ports::GitError;
use reqwest::Response;

use crate::failure::unreachable_error;

/// Minimum bytes per second of a response, as the mean of each period of [`Limits::idle`](crate::Limits::idle). Time in
/// which the client does not read is not counted.
const MIN_RATE: u64 = 1000;

/// The rate of a response in the current period.
#[derive(Debug)]
pub(crate) struct Pace {
    period: Duration,
    waited: Duration,
    bytes: u64,
}

impl Pace {
    pub(crate) fn new(period: Duration) -> Self {
        Self { period: period.max(Duration::from_millis(1)), waited: Duration::ZERO, bytes: 0 }
    }

    /// Returns the next chunk of a response, or `None` at its end.
    pub(crate) async fn chunk(&mut self, response: &mut Response) -> Result<Option<Bytes>, GitError> {
        loop {
            let begun = Instant::now();
            let left = self.period.saturating_sub(self.waited);
            let piece = tokio::time::timeout(left, response.chunk()).await;
            let piece = piece.ok().transpose().map_err(|error| unreachable_error(&error))?;
            if let Some(None) = &piece {
                return Ok(None);
            }
            self.add(begun.elapsed(), piece.iter().flatten().map(Bytes::len).sum())?;
            if let Some(piece) = piece {
                return Ok(piece);
            }
        }
    }

    /// Adds the duration of a read and the number of bytes that it returned.
    fn add(&mut self, waited: Duration, bytes: usize) -> Result<(), GitError> {
        self.waited = self.waited.saturating_add(waited);
        self.bytes = self.bytes.saturating_add(bytes as u64);
        if self.waited < self.period {
            return Ok(());
        }
        let least = u128::from(MIN_RATE) * self.period.as_millis() / 1000;
        if u128::from(self.bytes) < least {
            return Err(GitError::Unreachable(format!(
                "the server sends less than {MIN_RATE} bytes per second"
            )));
        }
        (self.waited, self.bytes) = (Duration::ZERO, 0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);
    const SECOND: Duration = Duration::from_secs(1);

    /// Returns the seconds until a response with this many bytes per second fails, at most 300.
    fn seconds(bytes: usize) -> usize {
        let mut pace = Pace::new(MINUTE);
        (1..300).find(|_| pace.add(SECOND, bytes).is_err()).unwrap_or(300)
    }

    #[test]
    fn a_host_slower_than_the_minimum_rate_is_given_up() {
        assert_eq!(seconds(60), 60, "one ref per second");
        assert_eq!(seconds(999), 60);
        assert_eq!(seconds(1000), 300);
        assert!(Pace::new(MINUTE).add(MINUTE, 0).unwrap_err().may_pass());
    }

    #[test]
    fn bytes_of_an_earlier_period_do_not_count() {
        let mut pace = Pace::new(MINUTE);
        assert_eq!(pace.add(MINUTE, 1_000_000), Ok(()));
        assert_eq!(pace.add(SECOND * 59, 59_999), Ok(()));
        assert!(pace.add(SECOND, 0).is_err());
    }
}
