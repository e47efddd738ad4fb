//! Bytes with their ETag.

use bytes::Bytes;

use crate::html::Html;

#[derive(Clone, Debug)]
pub(crate) struct TaggedBytes {
    pub(crate) bytes: Bytes,
    /// The ETag, without quotation marks.
    pub(crate) tag: String,
}

impl TaggedBytes {
    /// Derives the ETag of a page from its [`Html::name`], which does not hash named parts again.
    pub(crate) fn from_html(html: Html) -> Self {
        let tag = html.name().to_hex()[..32].to_owned();
        Self { bytes: html.into_string().into(), tag }
    }

    pub(crate) fn new(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        let tag = blake3::hash(&bytes).to_hex()[..32].to_owned();
        Self { bytes, tag }
    }
}
