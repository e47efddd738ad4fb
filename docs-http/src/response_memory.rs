//! Memory for large responses, which the server of the API can limit.

use std::{fmt, sync::Arc};

use docs_core::platform::{AnswerMemory, UnlimitedMemory};
use poem::{FromRequest, Request, RequestBody};

/// The memory for the response of a request. A server that limits the memory of responses adds it to the extensions of
/// each request. Without it, the memory is not limited.
#[derive(Clone)]
pub struct ResponseMemory(Arc<dyn AnswerMemory>);

impl fmt::Debug for ResponseMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseMemory").finish_non_exhaustive()
    }
}

impl ResponseMemory {
    /// Creates the memory for the response of a request.
    pub fn new(memory: impl AnswerMemory + 'static) -> Self {
        Self(Arc::new(memory))
    }

    pub(crate) fn limit(&self) -> &dyn AnswerMemory {
        &*self.0
    }
}

impl<'a> FromRequest<'a> for ResponseMemory {
    async fn from_request(request: &'a Request, _: &mut RequestBody) -> poem::Result<Self> {
        let known = request.extensions().get::<Self>().cloned();
        Ok(known.unwrap_or_else(|| Self::new(UnlimitedMemory)))
    }
}
