//! Pictures made of pixels.

use std::{io::Cursor, sync::Arc};

use bytes::Bytes;
use image::{
    DynamicImage, GenericImageView as _, ImageFormat, ImageReader, Limits, Rgb, RgbImage, Rgba, RgbaImage,
    imageops::thumbnail,
};

use super::{Read, Shape};

/// Most pixels of a picture.
const PIXELS: usize = 40_000_000;
/// Most bytes of a picture.
const BYTES: usize = 32 << 20;
/// Most bytes that a picture is unpacked to, and how many for each of its pixels beside what any may take: what is in a
/// file may have more of them than it says.
const UNPACKED: u64 = 256 << 20;
const UNPACKED_PIXEL: u64 = 16;
const UNPACKED_ANY: u64 = 1 << 20;
/// Most bytes that any picture is unpacked to, and how many more for each of its own: a few bytes may say that they are
/// millions of pixels.
const UNPACKED_FREE: u64 = 42 << 20;
const UNPACKED_BYTE: u64 = 20;
/// Most pixels across: the width of what is written on a sheet, 200 to the inch.
const ACROSS: u32 = 1_400;
/// Most pixels down.
const DOWN: u32 = 2_000;
/// How good a picture is that is packed again, of a hundred.
const QUALITY: u8 = 82;

/// Reads a picture; `None` when it is none that can be shown. One that has few enough bytes keeps what it is, without
/// loss; a larger one is packed again.
pub(super) fn read(data: &Bytes, most: usize) -> Option<Read> {
    let format = image::guess_format(data).ok()?;
    if !matches!(format, ImageFormat::Jpeg | ImageFormat::Png | ImageFormat::Gif | ImageFormat::WebP) {
        return None;
    }
    let size = imagesize::blob_size(data).ok()?;
    let pixels = size.width.checked_mul(size.height)?;
    if data.len() > BYTES || pixels > PIXELS || pixels == 0 {
        return None;
    }
    let image = unpack(data, format, pixels)?;
    let (width, height) = image.dimensions();
    let (shape, bytes) = shape(image, data, Packing { format, most })?;
    Some(Read {
        shape: Shape::Raster(shape),
        width: f64::from(width),
        height: f64::from(height),
        pixels,
        bytes,
    })
}

fn unpack(data: &[u8], format: ImageFormat, pixels: usize) -> Option<DynamicImage> {
    let mut reader = ImageReader::with_format(Cursor::new(data), format);
    let mut limits = Limits::default();
    let (of_pixels, of_bytes) = (UNPACKED_PIXEL * pixels as u64, UNPACKED_BYTE * data.len() as u64);
    limits.max_alloc = Some(UNPACKED.min(UNPACKED_ANY + of_pixels).min(UNPACKED_FREE + of_bytes));
    reader.limits(limits);
    reader.decode().ok()
}

/// How a picture was packed, and how many bytes it may have.
#[derive(Clone, Copy)]
struct Packing {
    format: ImageFormat,
    most: usize,
}

/// A picture as it is written, and how many bytes it has, about.
fn shape(image: DynamicImage, data: &Bytes, packing: Packing) -> Option<(krilla::image::Image, usize)> {
    let Packing { format, most } = packing;
    let (width, height) = image.dimensions();
    let fits = width <= ACROSS && height <= DOWN;
    let (has_alpha, is_small) = (image.color().has_alpha(), data.len() <= most);
    let bytes: Arc<dyn AsRef<[u8]> + Send + Sync> = Arc::new(data.clone());
    if fits && is_small && format == ImageFormat::Jpeg {
        return Some((krilla::image::Image::from_jpeg(bytes.into(), false).ok()?, data.len()));
    }
    if fits && is_small && format == ImageFormat::Png && !has_alpha {
        return Some((krilla::image::Image::from_png(bytes.into(), false).ok()?, data.len()));
    }
    let image = if fits { image } else { fitted(image) };
    if !has_alpha {
        return packed(image.into_rgb8(), most);
    }
    let pixels = image.into_rgba8();
    // What other formats pack well may be large without loss.
    let stays = is_small && (format == ImageFormat::Png || pixels.as_raw().len() <= most * 4);
    if stays && pixels.pixels().any(|pixel| pixel.0[3] != u8::MAX) {
        let (width, height) = pixels.dimensions();
        return Some((krilla::image::Image::from_rgba8(pixels.into_raw(), width, height), data.len()));
    }
    packed(on_white(&pixels), most)
}

/// A picture that fits a sheet, in place of a larger one.
#[expect(clippy::needless_pass_by_value, reason = "the larger one is gone before anything else is made")]
fn fitted(image: DynamicImage) -> DynamicImage {
    image.thumbnail(ACROSS, DOWN)
}

/// A picture as it is seen on paper.
fn on_white(pixels: &RgbaImage) -> RgbImage {
    let mix = |channel: u8, alpha: u8| {
        let (channel, alpha) = (u32::from(channel), u32::from(alpha));
        u8::try_from((channel * alpha + 255 * (255 - alpha)) / 255).unwrap_or(u8::MAX)
    };
    RgbImage::from_fn(pixels.width(), pixels.height(), |x, y| {
        let Rgba([r, g, b, alpha]) = *pixels.get_pixel(x, y);
        Rgb([mix(r, alpha), mix(g, alpha), mix(b, alpha)])
    })
}

/// Packs a picture without alpha, with fewer pixels where it has too many bytes.
fn packed(image: RgbImage, most: usize) -> Option<(krilla::image::Image, usize)> {
    let mut out = jpeg(&image)?;
    for part in [80, 60, 45, 30, 20] {
        if out.len() <= most {
            break;
        }
        let smaller = |length: u32| (length * part / 100).max(1);
        out = jpeg(&thumbnail(&image, smaller(image.width()), smaller(image.height())))?;
    }
    drop(image);
    let bytes = out.len();
    Some((krilla::image::Image::from_jpeg(out.into(), false).ok()?, bytes))
}

fn jpeg(image: &RgbImage) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    image::codecs::jpeg::JpegEncoder::new_with_quality(&mut out, QUALITY).encode_image(image).ok()?;
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: usize = 300 << 10;

    fn png(image: &DynamicImage) -> Bytes {
        let mut out = Vec::new();
        image.write_to(&mut Cursor::new(&mut out), ImageFormat::Png).expect("a picture");
        out.into()
    }

    fn size(read: &Read) -> (u32, u32) {
        match &read.shape {
            Shape::Raster(image) => image.size(),
            Shape::Drawing(_) => (0, 0),
        }
    }

    #[test]
    fn a_picture_larger_than_a_sheet_is_made_smaller_and_says_its_own_size() {
        for image in [DynamicImage::new_rgb8(3_000, 1_500), DynamicImage::new_rgba8(3_000, 1_500)] {
            let read = read(&png(&image), MOST).expect("a picture");
            assert_eq!((read.width, read.height), (3_000.0, 1_500.0));
            assert_eq!(size(&read), (1_400, 700));
        }
    }

    #[test]
    fn a_small_picture_stays_as_it_is() {
        let read = read(&png(&DynamicImage::new_luma8(30, 20)), MOST).expect("a picture");
        assert_eq!(size(&read), (30, 20));
    }

    #[test]
    fn what_is_cut_off_is_no_picture() {
        let whole = png(&DynamicImage::new_rgb8(300, 200));
        assert!(read(&whole.slice(..whole.len() / 2), MOST).is_none());
    }

    #[test]
    fn a_picture_of_too_many_bytes_has_fewer_pixels() {
        let mut seed = 1_u32;
        let noise = image::RgbImage::from_fn(600, 600, |_, _| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            Rgb([(seed >> 24) as u8, (seed >> 16) as u8, (seed >> 8) as u8])
        });
        let read = read(&png(&DynamicImage::ImageRgb8(noise)), 100 << 10).expect("a picture");
        assert_eq!((read.width, read.height), (600.0, 600.0));
        assert!(size(&read).0 < 600 && read.bytes <= 100 << 10, "{:?} {}", size(&read), read.bytes);
    }
}
