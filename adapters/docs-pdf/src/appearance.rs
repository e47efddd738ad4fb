//! Appearance of a book: page dimensions and colours.

/// An RGB colour.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct RgbColor(pub(crate) u8, pub(crate) u8, pub(crate) u8);

impl RgbColor {
    /// Returns the colour mixed with `percent` percent of white.
    pub(crate) const fn lighter(self, percent: u16) -> Self {
        const fn mix(channel: u8, percent: u16) -> u8 {
            let channel = channel as u16;
            (channel + (255 - channel) * percent / 100) as u8
        }
        Self(mix(self.0, percent), mix(self.1, percent), mix(self.2, percent))
    }
}

pub(crate) const INK: RgbColor = RgbColor(0x1f, 0x24, 0x30);
pub(crate) const SOFT: RgbColor = RgbColor(0x66, 0x70, 0x85);
pub(crate) const QUOTED: RgbColor = RgbColor(0x4a, 0x52, 0x62);
pub(crate) const LINE: RgbColor = RgbColor(0xd5, 0xd9, 0xe0);
pub(crate) const PANEL: RgbColor = RgbColor(0xf6, 0xf7, 0xf9);
pub(crate) const ACCENT: RgbColor = RgbColor(0x24, 0x57, 0xc5);
pub(crate) const MARKED: RgbColor = RgbColor(0xec, 0xee, 0xf2);
pub(crate) const HIGHLIGHTED: RgbColor = RgbColor(0xe3, 0xe9, 0xf7);
pub(crate) const WHITE: RgbColor = RgbColor(0xff, 0xff, 0xff);

/// Width of a sheet in points (A4).
pub(crate) const SHEET_WIDTH: f32 = 595.28;
/// Height of a sheet in points (A4).
pub(crate) const SHEET_HEIGHT: f32 = 841.89;
/// Left and right margin.
pub(crate) const SIDE_MARGIN: f32 = 62.36;
pub(crate) const TOP_MARGIN: f32 = 62.36;
/// Bottom margin, which contains the footer.
pub(crate) const BOTTOM_MARGIN: f32 = 68.03;
/// Width of the content area.
pub(crate) const CONTENT_WIDTH: f32 = SHEET_WIDTH - 2.0 * SIDE_MARGIN;
/// Bottom of the content area.
pub(crate) const CONTENT_BOTTOM: f32 = SHEET_HEIGHT - BOTTOM_MARGIN;
/// Height of the content area.
pub(crate) const CONTENT_HEIGHT: f32 = CONTENT_BOTTOM - TOP_MARGIN;
/// Width of rules, frames and lines between table rows.
pub(crate) const LINE_WIDTH: f32 = 0.5;
/// Default font size in points.
pub(crate) const FONT_SIZE: f32 = 10.5;

/// Returns the dark and the light variant of a named colour.
pub(crate) fn colour(name: &str) -> (RgbColor, RgbColor) {
    match name {
        "green" => (RgbColor(0x0f, 0x7b, 0x3f), RgbColor(0xdc, 0xf5, 0xe5)),
        "blue" => (ACCENT, RgbColor(0xdf, 0xe8, 0xfb)),
        "red" => (RgbColor(0xb4, 0x23, 0x18), RgbColor(0xfb, 0xe3, 0xe1)),
        "orange" => (RgbColor(0xb5, 0x47, 0x08), RgbColor(0xfd, 0xea, 0xd7)),
        "yellow" => (RgbColor(0x8a, 0x61, 0x00), RgbColor(0xfc, 0xf3, 0xc8)),
        "purple" => (RgbColor(0x6b, 0x2f, 0xb3), RgbColor(0xee, 0xe3, 0xfa)),
        "pink" => (RgbColor(0xa6, 0x1b, 0x5f), RgbColor(0xfb, 0xe1, 0xee)),
        "cyan" => (RgbColor(0x0b, 0x6b, 0x7d), RgbColor(0xd8, 0xf3, 0xf8)),
        _ => (SOFT, MARKED),
    }
}

/// Returns the font size of a heading level.
pub(crate) fn heading_size(level: usize) -> f32 {
    const SIZES: [f32; 5] = [20.0, 16.0, 13.5, 12.0, 11.0];
    SIZES[level.clamp(1, SIZES.len()) - 1]
}
