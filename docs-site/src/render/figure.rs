//! Images, files and link cards.

use docs_core::{
    content::document::card_label,
    model::{Block, BlockKind, ContentRef, ImageAlign, ImageData, Length, Node},
};
use maud::{Markup, html};

use super::{NodePosition, Renderer};
use crate::address::{Picture, ReferenceTarget};

/// The maximum width and height of an image, in pixels.
const MAX_PIXELS: f64 = 10_000.0;

/// The layout of a group of images.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gallery {
    pub(super) align: Option<ImageAlign>,
    pub(super) is_framed: Option<bool>,
    pub(super) is_full: Option<bool>,
}

/// The configured size of an image.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Dimensions<'a> {
    pub(super) width: Option<&'a Length>,
    pub(super) height: Option<&'a Length>,
}

impl Dimensions<'_> {
    /// Returns the displayed width and height in pixels. If only one side is set, the other follows from the aspect
    /// ratio.
    fn of(self, picture: &Picture) -> (Option<f64>, Option<f64>) {
        let given = |length: Option<&Length>| match length {
            Some(Length::Pixels(value)) => Some(*value),
            Some(Length::Unit { unit, value }) if unit == "px" => Some(*value),
            _ => None,
        };
        let natural =
            picture.width.zip(picture.height).filter(|(width, height)| *width > 0.0 && *height > 0.0);
        match (given(self.width), given(self.height)) {
            (None, None) => (picture.width, picture.height),
            (Some(width), None) => (Some(width), natural.map(|(of, to)| width * to / of)),
            (None, Some(height)) => (natural.map(|(to, of)| height * to / of), Some(height)),
            given => given,
        }
    }

    /// Renders an image in this size, otherwise in its natural size.
    fn image(self, picture: &Picture, alt: &str, class: &str) -> Markup {
        let (width, height) = self.of(picture);
        html! {
            img class=(class) src=(picture.src) alt=(alt) loading="lazy" decoding="async"
                width=[width.map(pixels)] height=[height.map(pixels)];
        }
    }
}

impl Renderer<'_> {
    /// Renders an image, with a variant for the dark theme if there is one.
    pub(super) fn pictures(
        &self,
        light: &ContentRef,
        dark: Option<&ContentRef>,
        alt: &str,
        class: &str,
        size: Dimensions<'_>,
    ) -> Markup {
        let dark = dark.and_then(|dark| self.picture(dark));
        let Some(light) = self.picture(light) else { return image_fallback(light, alt) };
        match dark {
            Some(dark) => html! {
                (size.image(&light, alt, &format!("{class} for-light")))
                (size.image(&dark, alt, &format!("{class} for-dark")))
            },
            None => size.image(&light, alt, class),
        }
    }

    /// Renders a group of one or more images.
    pub(super) fn gallery(&self, block: &Block, look: Gallery, at: NodePosition) -> Markup {
        let align = match look.align {
            Some(ImageAlign::Left) => "left",
            Some(ImageAlign::Center) | None => "center",
            Some(ImageAlign::Right) => "right",
        };
        let frame = if look.is_framed == Some(true) { " framed" } else { "" };
        let full = if look.is_full == Some(true) { " full" } else { "" };
        html! {
            div class={ "images " (align) (frame) (full) } {
                @for node in &block.nodes {
                    @if let Node::Block(image) = node {
                        @match &image.kind {
                            BlockKind::Image(data) => (self.image(image, data, at.child())),
                            _ => (self.blocks(std::slice::from_ref(image), at.child())),
                        }
                    }
                }
            }
        }
    }

    /// Renders an image with its caption.
    pub(super) fn image(&self, block: &Block, data: &ImageData, at: NodePosition) -> Markup {
        let width = data.width.as_ref().map_or("", width_class);
        let caption = self.fragments(block, at.child());
        let alt = data.alt.as_deref().unwrap_or_default();
        html! {
            figure class={ "image " (width) } {
                (self.sized_image(data, alt))
                @if let Some(caption) = caption { figcaption { (caption) } }
            }
        }
    }

    /// Renders an image in its configured size, otherwise in its natural size.
    fn sized_image(&self, data: &ImageData, alt: &str) -> Markup {
        let size = Dimensions { width: data.width.as_ref(), height: data.height.as_ref() };
        let draw = |target: &ContentRef, class: &str| {
            let Some(picture) = self.picture(target) else {
                // An image is not wrapped in another link, so it may be a link itself.
                let to = self.target(target);
                return match target {
                    ContentRef::Url { .. } => self.link(&to, Some("missing"), image_fallback(target, alt)),
                    _ => image_fallback(target, alt),
                };
            };
            size.image(&picture, alt, class)
        };
        match &data.dark {
            Some(dark) => html! { (draw(&data.target, "for-light")) (draw(dark, "for-dark")) },
            None => draw(&data.target, "alone"),
        }
    }

    /// Renders a link card with a note and a caption.
    pub(super) fn card(&self, target: &ContentRef, note: Option<&str>, caption: Option<Markup>) -> Markup {
        let to = self.target(target);
        let name = to.name.clone().unwrap_or_else(|| "…".to_owned());
        self.named_card(&to, &name, note, caption)
    }

    /// Renders the card of a reference. The card of a URL shows the label in the source of the block.
    pub(super) fn reference_card(&self, block: &Block, target: &ContentRef) -> Markup {
        let to = self.target(target);
        let name = card_label(block).or_else(|| to.name.clone()).unwrap_or_else(|| "…".to_owned());
        self.named_card(&to, &name, None, None)
    }

    fn named_card(
        &self,
        to: &ReferenceTarget,
        name: &str,
        note: Option<&str>,
        caption: Option<Markup>,
    ) -> Markup {
        let inner = html! {
            span.name { (name) }
            @if let Some(note) = note { span.about { (note) } }
        };
        html! {
            figure.card-link {
                (self.link(to, Some("card"), inner))
                @if let Some(caption) = caption { figcaption { (caption) } }
            }
        }
    }

    /// Renders a card to download a file, with its size.
    pub(super) fn file(&self, block: &Block, target: &ContentRef, at: NodePosition) -> Markup {
        let size = match target {
            ContentRef::File { file } => {
                self.gaps.inspect(|gaps| gaps.record_missing_data());
                self.addresses.file(file).map(|file| human_size(file.size))
            }
            _ => None,
        };
        self.card(target, size.as_deref(), self.fragments(block, at.child()))
    }
}

/// Renders the placeholder for an image that cannot be loaded: its alternative text, otherwise its URL.
fn image_fallback(target: &ContentRef, alt: &str) -> Markup {
    let text = match target {
        ContentRef::Url { url } if alt.trim().is_empty() && !url.starts_with("data:") => url.as_str(),
        _ => alt,
    };
    html! { span.missing { (text) } }
}

/// Converts a width or height to an attribute value.
fn pixels(value: f64) -> u32 {
    // The value is clamped, so the cast does not truncate.
    value.clamp(1.0, MAX_PIXELS).round() as u32
}

/// Returns the class for a width in percent. Width attributes do not support percentages, and the content security
/// policy forbids inline styles.
pub(super) fn width_class(length: &Length) -> &'static str {
    const PARTS: [&str; 20] = [
        "w-5", "w-10", "w-15", "w-20", "w-25", "w-30", "w-35", "w-40", "w-45", "w-50", "w-55", "w-60",
        "w-65", "w-70", "w-75", "w-80", "w-85", "w-90", "w-95", "w-100",
    ];
    match length {
        Length::Unit { unit, value } if unit == "%" => {
            // The value is clamped to 1 to 20, so the cast does not truncate.
            let part = (value / 5.0).round().clamp(1.0, 20.0) as usize;
            PARTS.get(part - 1).copied().unwrap_or("")
        }
        Length::Pixels(_) | Length::Unit { .. } => "",
    }
}

/// Formats a size in decimal units.
fn human_size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1000.0;
    let mut units = UNITS.iter();
    let mut unit = units.next();
    while value >= 1000.0
        && let Some(next) = units.next()
    {
        value /= 1000.0;
        unit = Some(next);
    }
    format!("{value:.1} {}", unit.unwrap_or(&"B"))
}
