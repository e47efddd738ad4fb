//! Raster images.

use std::{io::Cursor, sync::Arc};

use bytes::Bytes;
use image::{
    DynamicImage, GenericImageView as _, ImageFormat, ImageReader, Limits, Rgb, RgbImage, Rgba, RgbaImage,
    imageops::thumbnail,
};

use super::decoded_picture::{DecodedPicture, PictureContent};

/// Maximum number of pixels of an image.
const MAX_PIXELS: usize = 40_000_000;
/// Maximum size of an image file in bytes.
const MAX_IMAGE_BYTES: usize = 32 << 20;
/// Maximum decoded size of an image in bytes: an absolute limit, and a limit per pixel in addition to a base amount. A
/// file may contain more pixels than its header declares.
const MAX_DECODED_BYTES: u64 = 256 << 20;
const UNPACKED_PIXEL: u64 = 16;
const UNPACKED_ANY: u64 = 1 << 20;
/// Base amount of decoded bytes for any image, and additional decoded bytes per byte of the file. A file of a few bytes
/// may declare millions of pixels.
const UNPACKED_FREE: u64 = 42 << 20;
const UNPACKED_BYTE: u64 = 20;
/// Maximum width in pixels: the content width of a sheet at 200 pixels per inch.
const MAX_IMAGE_WIDTH: u32 = 1_400;
/// Maximum height in pixels.
const MAX_IMAGE_HEIGHT: u32 = 2_000;
/// JPEG quality of re-encoded images, from 0 to 100.
const JPEG_QUALITY: u8 = 82;

/// Decodes an image. Returns `None` if it cannot be displayed. A small file is kept lossless; a larger one is
/// re-encoded.
pub(super) fn read(data: &Bytes, most: usize) -> Option<DecodedPicture> {
    let format = image::guess_format(data).ok()?;
    if !matches!(format, ImageFormat::Jpeg | ImageFormat::Png | ImageFormat::Gif | ImageFormat::WebP) {
        return None;
    }
    let size = imagesize::blob_size(data).ok()?;
    let pixels = size.width.checked_mul(size.height)?;
    if data.len() > MAX_IMAGE_BYTES || pixels > MAX_PIXELS || pixels == 0 {
        return None;
    }
    let image = unpack(data, format, pixels)?;
    let (width, height) = image.dimensions();
    let (shape, bytes) = shape(image, data, SourceFormat { format, most })?;
    Some(DecodedPicture {
        shape: PictureContent::Raster(shape),
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
    limits.max_alloc = Some(MAX_DECODED_BYTES.min(UNPACKED_ANY + of_pixels).min(UNPACKED_FREE + of_bytes));
    reader.limits(limits);
    reader.decode().ok()
}

/// Source format of an image, and its maximum size in bytes.
#[derive(Clone, Copy)]
struct SourceFormat {
    format: ImageFormat,
    most: usize,
}

/// Returns an image in the form in which it is written to the file, and its approximate size in bytes.
fn shape(image: DynamicImage, data: &Bytes, packing: SourceFormat) -> Option<(krilla::image::Image, usize)> {
    let SourceFormat { format, most } = packing;
    let (width, height) = image.dimensions();
    let fits = width <= MAX_IMAGE_WIDTH && height <= MAX_IMAGE_HEIGHT;
    let (has_alpha, is_small) = (image.color().has_alpha(), data.len() <= most);
    let bytes: Arc<dyn AsRef<[u8]> + Send + Sync> = Arc::new(data.clone());
    if fits && is_small && format == ImageFormat::Jpeg {
        return Some((krilla::image::Image::from_jpeg(bytes.into(), false).ok()?, data.len()));
    }
    if fits && is_small && format == ImageFormat::Png && !has_alpha {
        return Some((krilla::image::Image::from_png(bytes.into(), false).ok()?, data.len()));
    }
    let image = if fits { image } else { scale_to_sheet(image) };
    if !has_alpha {
        return encode_image(image.into_rgb8(), most);
    }
    let pixels = image.into_rgba8();
    // Content that other formats compress well may be large in lossless form.
    let stays = is_small && (format == ImageFormat::Png || pixels.as_raw().len() <= most * 4);
    if stays && pixels.pixels().any(|pixel| pixel.0[3] != u8::MAX) {
        let (width, height) = pixels.dimensions();
        return Some((krilla::image::Image::from_rgba8(pixels.into_raw(), width, height), data.len()));
    }
    encode_image(blend_with_white(&pixels), most)
}

/// Scales an image down to the resolution of a sheet.
#[expect(clippy::needless_pass_by_value, reason = "the larger buffer is freed before the next allocation")]
fn scale_to_sheet(image: DynamicImage) -> DynamicImage {
    image.thumbnail(MAX_IMAGE_WIDTH, MAX_IMAGE_HEIGHT)
}

/// Blends an image with a white background.
fn blend_with_white(pixels: &RgbaImage) -> RgbImage {
    let mix = |channel: u8, alpha: u8| {
        let (channel, alpha) = (u32::from(channel), u32::from(alpha));
        u8::try_from((channel * alpha + 255 * (255 - alpha)) / 255).unwrap_or(u8::MAX)
    };
    RgbImage::from_fn(pixels.width(), pixels.height(), |x, y| {
        let Rgba([r, g, b, alpha]) = *pixels.get_pixel(x, y);
        Rgb([mix(r, alpha), mix(g, alpha), mix(b, alpha)])
    })
}

/// Encodes an image without transparency, at a lower resolution if it exceeds the size limit.
fn encode_image(image: RgbImage, most: usize) -> Option<(krilla::image::Image, usize)> {
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
    image::codecs::jpeg::JpegEncoder::new_with_quality(&mut out, JPEG_QUALITY).encode_image(image).ok()?;
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

    fn size(read: &DecodedPicture) -> (u32, u32) {
        match &read.shape {
            PictureContent::Raster(image) => image.size(),
            PictureContent::Drawing(_) => (0, 0),
        }
    }

    #[test]
    fn large_images_are_scaled_down_and_keep_their_nominal_size() {
        for image in [DynamicImage::new_rgb8(3_000, 1_500), DynamicImage::new_rgba8(3_000, 1_500)] {
            let read = read(&png(&image), MOST).expect("a picture");
            assert_eq!((read.width, read.height), (3_000.0, 1_500.0));
            assert_eq!(size(&read), (1_400, 700));
        }
    }

    #[test]
    fn small_picture_is_not_resized() {
        let read = read(&png(&DynamicImage::new_luma8(30, 20)), MOST).expect("a picture");
        assert_eq!(size(&read), (30, 20));
    }

    #[test]
    fn truncated_picture_is_rejected() {
        let whole = png(&DynamicImage::new_rgb8(300, 200));
        assert!(read(&whole.slice(..whole.len() / 2), MOST).is_none());
    }

    #[test]
    fn picture_above_the_byte_limit_is_downscaled() {
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
