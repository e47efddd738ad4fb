//! Decoded images.

use std::sync::Arc;

use usvg::Tree;

/// An image in the form in which it is written to the file.
#[derive(Clone)]
pub(crate) enum PictureContent {
    Raster(krilla::image::Image),
    Drawing(Drawing),
}

/// A decoded image.
pub(super) struct DecodedPicture {
    pub(super) shape: PictureContent,
    pub(super) width: f64,
    pub(super) height: f64,
    /// Decoding cost in pixels.
    pub(super) pixels: usize,
    /// Approximate size in the file in bytes, as far as known.
    pub(super) bytes: usize,
}

/// A drawing that is within the limits.
#[derive(Clone)]
pub(crate) struct Drawing {
    pub(super) tree: Arc<Tree>,
}

impl Drawing {
    pub(crate) fn tree(&self) -> &Tree {
        &self.tree
    }
}
