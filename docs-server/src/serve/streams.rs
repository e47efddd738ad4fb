//! The tasks of HTTP/2 streams. A stream whose client does not read its response is reset; its connection stays open.

use std::sync::{Arc, OnceLock};

use hyper::rt::Executor;

use super::connection::Sending;

tokio::task_local! {
    /// The stream that the current task answers.
    static STREAM: Stream;
}

/// A stream of an HTTP/2 connection: its response, once there is one.
#[derive(Clone, Debug, Default)]
pub(super) struct Stream(Arc<(OnceLock<Arc<Sending>>, tokio::sync::Notify)>);

/// Notes the response of the current stream; does nothing in tasks of HTTP/1 connections.
pub(super) fn responds(sending: &Arc<Sending>) {
    // Only a task of a stream has one, and a stream has a single response.
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
            Some(sending) => sending.reset_requested().await,
            None => std::future::pending().await,
        }
    }
}

/// Runs each stream in a task of its own. Dropping the work of a stream resets it.
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
