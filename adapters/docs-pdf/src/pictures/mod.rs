//! Pictures, read before anything is laid out: those that cannot be read become their text.
//!
//! One at a time is unpacked, made as small as a sheet can show, and kept only as it stands in the file.

mod drawing;
#[cfg(test)]
mod hostile;
mod raster;

use std::collections::BTreeMap;

use bytes::Bytes;
use docs_model::ContentRef;
use docs_ports::Book;
pub(crate) use drawing::Drawing;

use crate::{
    fonts::Fonts,
    stop::{Clock, Done, Stop},
};

/// Most pictures of a book.
const IMAGES: usize = 2_000;
/// Most pixels of all pictures of a book together, which are time.
const ALL_PIXELS: usize = 4_000_000_000;

/// Most bytes of all pictures of a book together in its file, about.
const ALL_BYTES: usize = 64 << 20;

/// A picture that can be shown.
#[derive(Clone, Debug)]
pub(crate) struct Picture {
    /// Its position among the pictures of the book.
    pub(crate) file: u32,
    /// Its size in pixels.
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// A picture as it is written.
#[derive(Clone)]
pub(crate) enum Shape {
    Raster(krilla::image::Image),
    Drawing(Drawing),
}

/// The pictures of a book.
#[derive(Default)]
pub(crate) struct Pictures {
    pub(crate) known: BTreeMap<ContentRef, Picture>,
    pub(crate) shapes: Vec<Shape>,
}

impl Pictures {
    /// Reads the pictures of a book. Those that cannot be read are left out.
    ///
    /// # Errors
    /// [`Stop::Late`], and [`Stop::TooLarge`] when they alone are larger than the file may be.
    pub(crate) fn read(book: &Book, fonts: &Fonts, clock: &Clock, most: usize) -> Done<Self> {
        let mut out = Self::default();
        // Many pictures are smaller ones, so that the file and what it takes to write it stay small.
        let share = (ALL_BYTES / book.images.len().max(1)).clamp(64 << 10, 1 << 20);
        let (mut pixels, mut bytes) = (0_usize, 0_usize);
        for (name, image) in &book.images {
            clock.check()?;
            let Some(data) = image.bytes() else { continue };
            if out.shapes.len() >= IMAGES {
                break;
            }
            let Some(read) = Read::of(data, fonts, share) else { continue };
            pixels = pixels.saturating_add(read.pixels);
            if pixels > ALL_PIXELS {
                break;
            }
            bytes = bytes.saturating_add(read.bytes);
            if bytes > most {
                return Err(Stop::TooLarge(bytes));
            }
            let file = crate::sheet::count(out.shapes.len());
            out.shapes.push(read.shape);
            out.known.insert(name.clone(), Picture { file, width: read.width, height: read.height });
        }
        Ok(out)
    }
}

/// A picture that was read.
struct Read {
    shape: Shape,
    width: f64,
    height: f64,
    /// What it costs to read.
    pixels: usize,
    /// How many bytes it has in the file, as far as that is known.
    bytes: usize,
}

impl Read {
    fn of(data: &Bytes, fonts: &Fonts, most: usize) -> Option<Self> {
        // The libraries that read pictures are many; a fault of theirs costs the picture and no more.
        let read = || raster::read(data, most).or_else(|| drawing::read(data, fonts));
        let read = std::panic::catch_unwind(std::panic::AssertUnwindSafe(read)).ok().flatten()?;
        let is_size = |length: f64| length.is_finite() && length > 0.0;
        (is_size(read.width) && is_size(read.height)).then_some(read)
    }
}
