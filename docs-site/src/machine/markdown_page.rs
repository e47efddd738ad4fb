//! Pages as Markdown, with their compressed form.

use bytes::Bytes;
use tokio::sync::OnceCell;

use crate::{answer::gzipped, page::PageForm, sources::Basis, tagged::Tagged};

/// A page as Markdown, with its compressed form.
#[derive(Debug)]
pub(crate) struct MarkdownPage {
    pub(crate) body: Tagged,
    /// The gzip-compressed page, filled on first use; the inner `None` means that compression failed.
    encoded: OnceCell<Option<Bytes>>,
    basis: Basis,
}

impl MarkdownPage {
    pub(super) fn new(text: String, basis: Basis) -> Self {
        Self { body: Tagged::new(text), encoded: OnceCell::new(), basis }
    }

    /// The gzip-compressed page, compressed on first use.
    pub(crate) async fn encoded(&self) -> Option<Bytes> {
        self.encoded.get_or_init(|| gzipped(&self.body.bytes)).await.clone()
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
