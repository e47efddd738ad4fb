//! Tasks of HTTP/2 streams. If a client does not read a response, only its stream is reset, and the connection stays
//! open.

use std::sync::{Arc, OnceLock};

use hyper::rt::Executor;

use super::connection::ResponseTransfer;

tokio::task_local! {
    /// The stream served by the current task.
    static STREAM: Stream;
}

/// An HTTP/2 stream, with its response once that has started.
#[derive(Clone, Debug, Default)]
pub(super) struct Stream(Arc<(OnceLock<Arc<ResponseTransfer>>, tokio::sync::Notify)>);

/// Records the response of the current stream. Does nothing in tasks of HTTP/1 connections.
pub(super) fn set_response(sending: &Arc<ResponseTransfer>) {
    // Other tasks have no stream. A stream has only one response.
    let _ = STREAM.try_with(|Stream(stream)| {
        let _ = stream.0.set(Arc::clone(sending));
        stream.1.notify_one();
    });
}

impl Stream {
    /// Waits until the stream is to be reset.
    async fn reset(&self) {
        let Self(stream) = self;
        stream.1.notified().await;
        match stream.0.get() {
            Some(sending) => sending.wait_for_reset().await,
            None => std::future::pending().await,
        }
    }
}

/// Runs each stream in a separate task. Dropping the task resets the stream.
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
