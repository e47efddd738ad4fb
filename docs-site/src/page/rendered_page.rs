//! Rendered pages.

use bytes::Bytes;
use tokio::sync::OnceCell;

use super::page_cache::PageForm;
use crate::{html::Html, response::compress, sources::Basis, tagged_bytes::TaggedBytes};

/// A rendered page.
#[derive(Debug)]
pub(crate) struct RenderedPage {
    pub(crate) html: TaggedBytes,
    /// The gzip-compressed page, filled on first use; the inner `None` means that compression failed.
    pub(crate) encoded: OnceCell<Option<Bytes>>,
    /// `true` if search engines may index it.
    pub(crate) is_indexed: bool,
    pub(crate) basis: Basis,
}

impl RenderedPage {
    pub(super) fn new(html: Html, is_indexed: bool) -> Self {
        Self { html: TaggedBytes::from_html(html), encoded: OnceCell::new(), is_indexed, basis: Basis::Site }
    }

    /// The gzip-compressed page, compressed on first use.
    pub(crate) async fn gzip_bytes(&self) -> Option<Bytes> {
        self.encoded.get_or_init(|| compress(&self.html.bytes)).await.clone()
    }
}

impl PageForm for RenderedPage {
    fn basis(&self) -> &Basis {
        &self.basis
    }

    fn weight(&self) -> usize {
        self.html.bytes.len() + self.html.bytes.len() / 3
    }
}
