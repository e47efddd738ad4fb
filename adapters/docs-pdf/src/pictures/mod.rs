//! Images of a book, which are decoded before the layout. Unreadable images are replaced by their alternative text.
//!
//! Images are decoded one at a time, scaled to the resolution of a sheet, and retained only in the form in which the
//! file will contain them.

mod decoded_picture;
mod drawing;
#[cfg(test)]
mod hostile;
mod raster;

use std::collections::BTreeMap;

use bytes::Bytes;
use docs_model::ContentRef;
use docs_ports::Book;

use self::decoded_picture::DecodedPicture;
pub(crate) use self::decoded_picture::PictureContent;

use crate::{
    fonts::Fonts,
    termination::{Clock, LayoutResult, LayoutStop},
};

/// Maximum number of images in a book.
const MAX_IMAGES: usize = 2_000;
/// Maximum total number of pixels of a book's images, to limit the time.
const ALL_PIXELS: usize = 1_000_000_000;
/// Maximum total size of a book's drawings in bytes. Each is held in memory as a tree of 18 times its size.
const DRAWN_BYTES: usize = 10 << 20;

/// Approximate maximum total size of a book's images in the file, in bytes.
const ALL_BYTES: usize = 64 << 20;

/// A displayable image.
#[derive(Clone, Debug)]
pub(crate) struct Picture {
    /// Index into the images of the book.
    pub(crate) file: u32,
    /// Size in pixels.
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// The images of a book.
#[derive(Default)]
pub(crate) struct Pictures {
    pub(crate) known: BTreeMap<ContentRef, Picture>,
    pub(crate) shapes: Vec<PictureContent>,
}

impl Pictures {
    /// Reads the images of a book. Unreadable images are omitted.
    ///
    /// # Errors
    /// [`LayoutStop::Late`], and [`LayoutStop::TooLarge`] if the images alone exceed the size limit of the file.
    pub(crate) fn read(book: &Book, fonts: &Fonts, clock: &Clock, most: usize) -> LayoutResult<Self> {
        Self::read_within(book, fonts, clock, ALL_PIXELS, most)
    }

    /// Reads images until their total number of pixels exceeds `most_pixels`.
    fn read_within(
        book: &Book,
        fonts: &Fonts,
        clock: &Clock,
        most_pixels: usize,
        most: usize,
    ) -> LayoutResult<Self> {
        let mut out = Self::default();
        // With many images, each one gets a smaller share, to limit the size of the file and the memory for writing it.
        let share = (ALL_BYTES / book.images.len().max(1)).clamp(64 << 10, 1 << 20);
        let (mut pixels, mut bytes, mut drawn) = (0_usize, 0_usize, 0_usize);
        for (name, image) in &book.images {
            clock.check()?;
            let Some(data) = image.bytes() else { continue };
            if out.shapes.len() >= MAX_IMAGES {
                break;
            }
            let Some(read) = decode(data, fonts, clock, share, DRAWN_BYTES - drawn) else { continue };
            if matches!(read.shape, PictureContent::Drawing(_)) {
                drawn += data.len();
            }
            pixels = pixels.saturating_add(read.pixels);
            if pixels > most_pixels {
                break;
            }
            bytes = bytes.saturating_add(read.bytes);
            if bytes > most {
                return Err(LayoutStop::TooLarge(bytes));
            }
            let file = crate::sheet::count(out.shapes.len());
            out.shapes.push(read.shape);
            out.known.insert(name.clone(), Picture { file, width: read.width, height: read.height });
        }
        Ok(out)
    }
}

/// Decodes an image that takes at most `most` bytes in the file, or a drawing of at most `drawn` bytes.
fn decode(data: &Bytes, fonts: &Fonts, clock: &Clock, most: usize, drawn: usize) -> Option<DecodedPicture> {
    let drawing = || (data.len() <= drawn).then(|| drawing::read(data, fonts, clock)).flatten();
    // Decoding involves many libraries. If one of them panics, only the image is dropped.
    let read = || raster::read(data, most).or_else(drawing);
    let read = std::panic::catch_unwind(std::panic::AssertUnwindSafe(read)).ok().flatten()?;
    let is_size = |length: f64| length.is_finite() && length > 0.0;
    (is_size(read.width) && is_size(read.height)).then_some(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a book with square images of `side` by `side` pixels.
    fn book(images: usize, side: u32) -> Book {
        let mut png = std::io::Cursor::new(Vec::new());
        image::RgbaImage::new(side, side).write_to(&mut png, image::ImageFormat::Png).expect("a picture");
        let png = Bytes::from(png.into_inner());
        let picture = |at: usize| {
            let url = format!("https://e.example/{at}");
            (ContentRef::Url { url }, docs_ports::BookImage::from(png.clone()))
        };
        Book { images: (0..images).map(picture).collect(), ..Book::default() }
    }

    fn clock() -> Clock {
        Clock::new(std::time::Duration::from_secs(600))
    }

    #[test]
    fn pictures_beyond_the_bound_are_left_out() {
        let (book, clock) = (book(MAX_IMAGES + 1, 1), clock());
        let read = Pictures::read(&book, &Fonts::default(), &clock, usize::MAX).expect("pictures");
        assert_eq!((read.shapes.len(), read.known.len()), (MAX_IMAGES, MAX_IMAGES));
    }

    #[test]
    fn drawings_beyond_their_total_of_bytes_are_left_out() {
        let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"9\" height=\"9\"><path d=\"M0 0h9v9z\"/></svg>";
        let bytes = Bytes::from(format!("{svg}<!--{}-->", "x".repeat((1 << 20) - svg.len() - 7)));
        assert_eq!(bytes.len(), 1 << 20);
        let drawing = |at: usize| {
            let url = format!("https://e.example/{at}");
            (ContentRef::Url { url }, docs_ports::BookImage::from(bytes.clone()))
        };
        let most = DRAWN_BYTES / bytes.len();
        let book = Book { images: (0..most + 5).map(drawing).collect(), ..Book::default() };
        let read = Pictures::read(&book, &Fonts::default(), &clock(), usize::MAX).expect("pictures");
        assert_eq!(read.shapes.len(), most);
    }

    #[test]
    fn pictures_beyond_their_total_of_pixels_are_left_out() {
        let book = book(10, 100);
        for (most, shown) in [(9_999, 0), (10_000, 1), (39_999, 3), (40_000, 4), (ALL_PIXELS, 10)] {
            let read = Pictures::read_within(&book, &Fonts::default(), &clock(), most, usize::MAX);
            assert_eq!(read.expect("pictures").shapes.len(), shown, "{most} pixels");
        }
    }
}
