//! Pages as Markdown, with their compressed form.

use bytes::Bytes;
use tokio::sync::OnceCell;

use crate::{page::PageForm, response::compress, sources::Basis, tagged_bytes::TaggedBytes};

/// A page as Markdown, with its compressed form.
#[derive(Debug)]
pub(crate) struct MarkdownPage {
    pub(crate) body: TaggedBytes,
    /// The evaluation steps that it took.
    pub(super) steps: u32,
    /// The gzip-compressed page, filled on first use. The inner `None` means that compression failed.
    encoded: OnceCell<Option<Bytes>>,
    basis: Basis,
}

impl MarkdownPage {
    pub(super) fn new(text: String, steps: u32, basis: Basis) -> Self {
        Self { body: TaggedBytes::new(text), steps, encoded: OnceCell::new(), basis }
    }

    /// Returns the gzip-compressed page, compressed on first use for an owner in the queue of compressions.
    pub(crate) async fn gzip_bytes(&self, owner: &str) -> Option<Bytes> {
        self.encoded.get_or_init(|| compress(&self.body.bytes, owner)).await.clone()
    }
}

impl PageForm for MarkdownPage {
    fn basis(&self) -> &Basis {
        &self.basis
    }

    fn weight(&self) -> usize {
        self.body.bytes.len() + self.body.bytes.len() / 3
    }
}
