//! Rendered pages.

use bytes::Bytes;
use tokio::sync::OnceCell;

use super::page_cache::PageForm;
use crate::{html::Html, response::compress, sources::Basis, tagged_bytes::TaggedBytes};

#[derive(Debug)]
pub(crate) struct RenderedPage {
    pub(crate) html: TaggedBytes,
    /// The gzip-compressed page, filled on first use. The inner `None` means that compression failed.
    pub(crate) encoded: OnceCell<Option<Bytes>>,
    /// `true` if search engines may index the page.
    pub(crate) is_indexed: bool,
    pub(crate) basis: Basis,
}

impl RenderedPage {
    pub(super) fn new(html: Html, is_indexed: bool) -> Self {
        Self { html: TaggedBytes::from_html(html), encoded: OnceCell::new(), is_indexed, basis: Basis::Site }
    }

    /// Returns the gzip-compressed page, compressed on first use for an owner in the queue of compressions.
    pub(crate) async fn gzip_bytes(&self, owner: &str) -> Option<Bytes> {
        self.encoded.get_or_init(|| compress(&self.html.bytes, owner)).await.clone()
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use docs_hostile::assert_weight;
    use maud::PreEscaped;

    use super::*;
    use crate::html::NamedMarkup;

    #[test]
    fn weights_of_rendered_pages_are_their_memory() {
        for bytes in [4_000, 60_000, 3_000_000] {
            let build = || {
                // The buffer of a page grows while it is written.
                let mut html = Html::with_capacity(1_000);
                let markup = NamedMarkup::new(PreEscaped("abcdefgh".repeat(bytes / 80)));
                for _ in 0..10 {
                    html.write_named(&markup);
                }
                Arc::new(RenderedPage::new(html, true))
            };
            assert_weight(&bytes.to_string(), build, |page| page.weight() as u64);
        }
    }
}
