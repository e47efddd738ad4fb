//! The tasks of HTTP/2 streams. If a client does not read a response, its stream is reset and its connection stays
//! open.

use std::sync::{Arc, OnceLock};

use hyper::rt::Executor;

use super::connection::ResponseTransfer;

tokio::task_local! {
    /// The stream that the current task serves.
    static STREAM: Stream;
}

/// An HTTP/2 stream with its response, once that exists.
#[derive(Clone, Debug, Default)]
pub(super) struct Stream(Arc<(OnceLock<Arc<ResponseTransfer>>, tokio::sync::Notify)>);

/// Records the response of the current stream. Does nothing in tasks of HTTP/1 connections.
pub(super) fn set_response(sending: &Arc<ResponseTransfer>) {
    // Only tasks of streams have a stream, and a stream has a single response.
    let _ = STREAM.try_with(|Stream(stream)| {
        let _ = stream.0.set(Arc::clone(sending));
        stream.1.notify_one();
    });
}

impl Stream {
    /// Waits for a request to reset the stream.
    async fn reset(&self) {
        let Self(stream) = self;
        stream.1.notified().await;
        match stream.0.get() {
            Some(sending) => sending.wait_for_reset().await,
            None => std::future::pending().await,
        }
    }
}

/// Runs each stream in a separate task. Dropping the work of a stream resets it.
#[derive(Clone, Copy, Debug)]
pub(super) struct StreamExecutor;

impl<W> Executor<W> for StreamExecutor
where
    W: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, work: W) {
        let stream = Stream::default();
        tokio::spawn(async move {
            tokio::select! {
                () = STREAM.scope(stream.clone(), work) => {}
                () = stream.reset() => {}
            }
        });
    }
}
