//! Sizes of images in points.

use docs_model::Length;

/// Points per image pixel, at 96 pixels per inch as on the web.
pub(super) const POINTS_PER_PIXEL: f64 = 0.75;
/// Width of text in points.
pub(super) const TEXT_WIDTH: f64 = 470.0;
/// Maximum height of an image in points, which leaves space for a caption on the sheet.
const MAX_IMAGE_HEIGHT: f64 = 560.0;

/// Returns the size of an image in points, given its size in pixels and the requested size. It is limited to the size
/// of a sheet.
pub(super) fn image_size(
    width: f64,
    height: f64,
    wide: Option<&Length>,
    high: Option<&Length>,
    beside: usize,
) -> (f64, f64) {
    #[expect(clippy::cast_precision_loss, reason = "the number of images fits")]
    let room = TEXT_WIDTH / beside.clamp(1, 3) as f64;
    let w = match (wide, high) {
        (Some(Length::Pixels(px)), _) => px * POINTS_PER_PIXEL,
        (Some(Length::Unit { unit, value }), _) if unit == "%" => TEXT_WIDTH * value / 100.0,
        (Some(Length::Unit { value, .. }), _) => value * POINTS_PER_PIXEL,
        (None, Some(Length::Pixels(px))) => px * POINTS_PER_PIXEL * width / height,
        (None, _) => width * POINTS_PER_PIXEL,
    };
    let w = if w.is_finite() && w >= 4.0 { w } else { width * POINTS_PER_PIXEL };
    let w = w.min(room).min(MAX_IMAGE_HEIGHT * width / height).max(1.0);
    (w, (w * height / width).max(1.0))
}
