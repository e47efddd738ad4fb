//! The minimum rate of transfers.

use std::{pin::pin, time::Duration};

use bytes::Bytes;
use docs_ports::GitError;
use reqwest::Response;
use tokio::time::{Instant, timeout};

use crate::failure::{idle_error, unreachable_error};

/// Minimum bytes per second of a response and of the request of a push, as the mean of each period of
/// [`Limits::idle`](crate::Limits::idle). The rate counts waits in [`Phase::Transfer`] only.
const MIN_RATE: u64 = 1000;

/// The rate of a transfer in the current period.
#[derive(Debug)]
pub(crate) struct Pace {
    period: Duration,
    /// The action of the server, for messages.
    verb: &'static str,
    waited: Duration,
    bytes: u64,
}

/// The state of a transfer, which determines the limits of a wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// The server sends or accepts data. The wait counts towards the rate.
    Transfer,
    /// The server may be busy, for example with packing objects or running hooks. It sends keep-alive packets of a few
    /// bytes meanwhile, so that only the time without data is limited.
    Processing,
}

impl Pace {
    /// Creates the rate of a response.
    pub(crate) fn receiving(period: Duration) -> Self {
        Self::new(period, "sends")
    }

    /// Creates the rate of a request.
    pub(crate) fn sending(period: Duration) -> Self {
        Self::new(period, "accepts")
    }

    fn new(period: Duration, verb: &'static str) -> Self {
        Self { period: period.max(Duration::from_millis(1)), verb, waited: Duration::ZERO, bytes: 0 }
    }

    /// Returns the next chunk of a response, or `None` at its end.
    pub(crate) async fn chunk(
        &mut self,
        phase: Phase,
        response: &mut Response,
    ) -> Result<Option<Bytes>, GitError> {
        let size = |piece: &Result<Option<Bytes>, _>| match piece {
            Ok(Some(piece)) => Some(piece.len() as u64),
            Ok(None) | Err(_) => None,
        };
        let piece = self.wait(phase, response.chunk(), size).await?;
        piece.map_err(|error| unreachable_error(&error))
    }

    /// Waits for an event. `size` returns the number of transferred bytes, or `None` at the end of the transfer.
    pub(crate) async fn wait<T>(
        &mut self,
        phase: Phase,
        event: impl Future<Output = T>,
        size: impl FnOnce(&T) -> Option<u64>,
    ) -> Result<T, GitError> {
        let (mut event, mut silence) = (pin!(event), Duration::ZERO);
        loop {
            let begun = Instant::now();
            let silence_left = self.period.saturating_sub(silence);
            let left = match phase {
                Phase::Transfer => silence_left.min(self.period.saturating_sub(self.waited)),
                Phase::Processing => silence_left,
            };
            let result = timeout(left, &mut event).await;
            let waited = begun.elapsed();
            if let Ok(event) = result {
                if let Some(bytes) = size(&event) {
                    self.add(phase, waited, bytes)?;
                }
                return Ok(event);
            }
            self.add(phase, waited, 0)?;
            silence = silence.saturating_add(waited);
            if silence >= self.period {
                return Err(idle_error());
            }
        }
    }

    /// Adds the duration of a wait and the number of bytes transferred in it.
    fn add(&mut self, phase: Phase, waited: Duration, bytes: u64) -> Result<(), GitError> {
        self.bytes = self.bytes.saturating_add(bytes);
        if phase == Phase::Processing {
            return Ok(());
        }
        self.waited = self.waited.saturating_add(waited);
        if self.waited < self.period {
            return Ok(());
        }
        let least = u128::from(MIN_RATE) * self.period.as_millis() / 1000;
        match self.bytes {
            0 => Err(idle_error()),
            bytes if u128::from(bytes) < least => Err(GitError::Unreachable(format!(
                "the server {} less than {MIN_RATE} bytes per second",
                self.verb
            ))),
            _ => {
                (self.waited, self.bytes) = (Duration::ZERO, 0);
                Ok(())
            }
        }
    }
}

/// Responses whose chunks arrive at given times, for tests with a paused clock.
#[cfg(test)]
pub(crate) mod timed {
    use std::{
        collections::VecDeque,
        convert::Infallible,
        pin::Pin,
        task::{Context, Poll, ready},
    };

    use http_body::{Body, Frame};
    use tokio::time::{Sleep, sleep};

    use super::*;

    pub(crate) const SECOND: Duration = Duration::from_secs(1);

    struct TimedBody {
        chunks: VecDeque<(Duration, Bytes)>,
        pause: Option<Pin<Box<Sleep>>>,
    }

    /// Creates a response from its chunks, each with the time that passes before it.
    pub(crate) fn response(chunks: impl IntoIterator<Item = (Duration, Vec<u8>)>) -> Response {
        let chunks = chunks.into_iter().map(|(pause, chunk)| (pause, chunk.into())).collect();
        let body = reqwest::Body::wrap(TimedBody { chunks, pause: None });
        hyper::Response::new(body).into()
    }

    /// Returns the chunks of single bytes, one per second.
    pub(crate) fn drip(bytes: &[u8]) -> Vec<(Duration, Vec<u8>)> {
        bytes.iter().map(|byte| (SECOND, vec![*byte])).collect()
    }

    impl Body for TimedBody {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            let Some((pause, _)) = self.chunks.front() else { return Poll::Ready(None) };
            let pause = *pause;
            // The clock of these tests is paused: waiting advances it.
            ready!(self.pause.get_or_insert_with(|| Box::pin(sleep(pause))).as_mut().poll(context));
            self.pause = None;
            let chunk = self.chunks.pop_front();
            Poll::Ready(chunk.map(|(_, chunk)| Ok(Frame::data(chunk))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        timed::{SECOND, response},
        *,
    };

    const MINUTE: Duration = Duration::from_secs(60);

    /// Returns the seconds until a response with this many bytes per second fails, at most 300.
    fn seconds(bytes: u64) -> usize {
        let mut pace = Pace::receiving(MINUTE);
        (1..300).find(|_| pace.add(Phase::Transfer, SECOND, bytes).is_err()).unwrap_or(300)
    }

    #[test]
    fn a_host_slower_than_the_minimum_rate_is_given_up() {
        assert_eq!(seconds(60), 60, "one ref per second");
        assert_eq!(seconds(999), 60);
        assert_eq!(seconds(1000), 300);
        assert!(Pace::sending(MINUTE).add(Phase::Transfer, MINUTE, 1).unwrap_err().may_pass());
    }

    #[test]
    fn bytes_of_an_earlier_period_do_not_count() {
        let mut pace = Pace::receiving(MINUTE);
        assert_eq!(pace.add(Phase::Transfer, MINUTE, 1_000_000), Ok(()));
        assert_eq!(pace.add(Phase::Transfer, SECOND * 59, 59_999), Ok(()));
        assert!(pace.add(Phase::Transfer, SECOND, 0).is_err());
    }

    /// Reads a response to its end in one phase. Returns the result and the seconds until then.
    async fn read(phase: Phase, chunks: Vec<(Duration, Vec<u8>)>) -> (Result<(), GitError>, u64) {
        let (begun, mut pace) = (Instant::now(), Pace::receiving(MINUTE));
        let mut response = response(chunks);
        let result = loop {
            match pace.chunk(phase, &mut response).await {
                Ok(Some(_)) => {}
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        (result, begun.elapsed().as_secs())
    }

    #[tokio::test(start_paused = true)]
    async fn keep_alive_packets_extend_a_response_but_not_a_packet() {
        let slow =
            || Err(GitError::Unreachable("the server sends less than 1000 bytes per second".to_owned()));
        let packets = || vec![(SECOND * 5, b"0005\x01".to_vec()); 50];
        assert_eq!(read(Phase::Processing, packets()).await, (Ok(()), 250));
        assert_eq!(read(Phase::Transfer, packets()).await, (slow(), 60));
        // A chunk at the last moment does not extend the period.
        assert_eq!(read(Phase::Transfer, vec![(SECOND * 50, vec![0]); 2]).await, (slow(), 60));
        assert_eq!(read(Phase::Transfer, vec![(SECOND * 59, vec![0; 60_000]); 3]).await, (Ok(()), 177));
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_server_fails_in_every_phase() {
        for phase in [Phase::Transfer, Phase::Processing] {
            let silent = vec![(SECOND * 30, vec![0; 100_000]), (SECOND * 61, vec![0; 100_000])];
            assert_eq!(read(phase, silent).await, (Err(idle_error()), 90), "{phase:?}");
            assert_eq!(read(phase, vec![(SECOND * 61, vec![0])]).await, (Err(idle_error()), 60), "{phase:?}");
        }
    }
}
