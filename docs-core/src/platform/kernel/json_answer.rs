//! Responses that are serialized off the async threads.

use bytes::Bytes;
use serde::Serialize;

use crate::{Error, Result, content::run_blocking, platform::kernel::request::EntityTag};

/// A response serialized as JSON, with its ETag. It is cheap to clone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JsonAnswer {
    json: Bytes,
    tag: EntityTag,
}

impl JsonAnswer {
    /// Serializes a response on a blocking thread, because it may be large.
    ///
    /// # Errors
    /// `Internal` for a response that cannot be serialized.
    pub async fn offload<T: Serialize + Send + 'static>(answer: T) -> Result<Self> {
        let made = run_blocking(move || Self::new(&answer)).await;
        made.ok_or_else(|| Error::internal("the response was not serialized"))?
    }

    /// Serializes a response like [`offload`](Self::offload), and then drops `turn`, the permit to hold it in memory.
    pub(in crate::platform) async fn offload_in_turn<T: Serialize + Send + 'static>(
        answer: T,
        turn: impl Send,
    ) -> Result<Self> {
        let answer = Self::offload(answer).await;
        drop(turn);
        answer
    }

    pub(in crate::platform) fn new(answer: &impl Serialize) -> Result<Self> {
        let json = serde_json::to_vec(answer).map_err(Error::internal)?;
        let tag = EntityTag::from_json(&json);
        // Releases the spare capacity, because the answer may be cached.
        Ok(Self { json: json.into_boxed_slice().into(), tag })
    }

    /// The JSON.
    #[must_use]
    pub const fn json(&self) -> &Bytes {
        &self.json
    }

    /// The ETag of the JSON.
    #[must_use]
    pub const fn tag(&self) -> &EntityTag {
        &self.tag
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use serde::Serializer;

    use super::*;

    /// Serializes as the id of the thread.
    struct ThreadName;

    impl Serialize for ThreadName {
        fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
            serializer.serialize_str(&format!("{:?}", thread::current().id()))
        }
    }

    #[tokio::test]
    async fn answers_are_serialized_off_the_async_thread() {
        let answer = JsonAnswer::offload(ThreadName).await.expect("serialized");
        assert_ne!(answer.json()[..], *serde_json::to_vec(&ThreadName).expect("serialized"));
        assert_eq!(*answer.tag(), EntityTag::from_json(answer.json()));
    }
}
