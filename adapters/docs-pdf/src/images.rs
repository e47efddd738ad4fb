//! Pictures, looked at before the typesetter gets them: what it cannot read would stop it.

use std::collections::BTreeMap;

use comemo::Track as _;
use docs_core::{model::ContentRef, ports::Book};
use typst::{
    World,
    foundations::{Bytes, Smart},
    visualize::{ExchangeFormat, ImageFormat, RasterFormat, RasterImage, SvgImage, VectorFormat},
};

use crate::world::Desk;

/// Most pixels of a picture.
const PIXELS: usize = 40_000_000;
/// Most bytes of a drawing as SVG, whose cost is in what it says and not in its size.
const SVG_BYTES: usize = 1 << 20;
/// Most bytes of any other picture.
const BYTES: usize = 32 << 20;
/// Most pictures of a book.
const IMAGES: usize = 2_000;
/// Most pixels of all pictures of a book together.
const ALL_PIXELS: usize = 400_000_000;

/// A picture that can be shown.
#[derive(Clone, Debug)]
pub(crate) struct Picture {
    pub(crate) file: String,
    /// Its size in pixels.
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// Puts the pictures of a book on the desk. Those that cannot be read are left out.
pub(crate) fn pictures(desk: &mut Desk<'_>, book: &Book) -> BTreeMap<ContentRef, Picture> {
    let mut out = BTreeMap::new();
    let mut pixels = 0;
    for (name, image) in &book.images {
        // Whoever wants a picture shown has loaded it.
        let Some(bytes) = image.bytes() else { continue };
        if out.len() >= IMAGES || desk.is_late() {
            break;
        }
        let data = Bytes::new(bytes.clone());
        let Some((width, height, cost)) = size(desk, &data) else { continue };
        pixels += cost;
        if pixels > ALL_PIXELS || !(width.is_finite() && height.is_finite() && width > 0.0 && height > 0.0) {
            continue;
        }
        if let Some(file) = desk.add(data) {
            out.insert(name.clone(), Picture { file, width, height });
        }
    }
    out
}

/// The size of a picture, and how many pixels it costs; `None` when it cannot be shown.
fn size(desk: &Desk<'_>, data: &Bytes) -> Option<(f64, f64, usize)> {
    match ImageFormat::detect(data)? {
        ImageFormat::Raster(RasterFormat::Exchange(format)) => raster(data, format),
        ImageFormat::Vector(VectorFormat::Svg) if data.len() <= SVG_BYTES => {
            let world: &dyn World = desk;
            let svg = SvgImage::with_fonts_images(data.clone(), world.track(), &[], None).ok()?;
            Some((svg.width(), svg.height(), data.len()))
        }
        ImageFormat::Raster(_) | ImageFormat::Vector(_) => None,
    }
}

fn raster(data: &Bytes, format: ExchangeFormat) -> Option<(f64, f64, usize)> {
    let size = imagesize::blob_size(data).ok()?;
    let pixels = size.width.checked_mul(size.height)?;
    if data.len() > BYTES || pixels > PIXELS {
        return None;
    }
    let image = RasterImage::new(data.clone(), RasterFormat::Exchange(format), Smart::Auto).ok()?;
    Some((f64::from(image.width()), f64::from(image.height()), pixels))
}
