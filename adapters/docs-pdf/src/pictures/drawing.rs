//! SVG drawings.
//!
//! The cost of a drawing depends on its content rather than its size: a few lines can request a billion shapes. The
//! cost is therefore estimated before rendering, and drawings that are too expensive are rejected.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use usvg::{ImageHrefResolver, ImageKind, Options, Tree, roxmltree};

use super::decoded_picture::{DecodedPicture, Drawing, PictureContent};
use crate::{
    fonts::{Fonts, SERIF},
    termination::Clock,
};

/// Maximum size of a drawing in bytes.
const MAX_DRAWING_BYTES: usize = 1 << 20;
/// Maximum number of elements in a drawing.
const MAX_ELEMENTS: u32 = 30_000;
/// Maximum number of rendered shapes, counting each use.
const MAX_SHAPES: usize = 60_000;
/// Maximum number of integer digits of a number in a shape, including those that result from its exponent.
const MAX_INTEGER_DIGITS: usize = 9;
/// Weight of a byte of text each time that it is rendered, and of each position where text starts. Text is shaped, and
/// each glyph has its own outline.
const LETTER_WEIGHT: usize = 2;
/// Number of elements in a text element that increase the weight of each of its letters by that of one shape, because
/// the text is shaped again for each element.
const SPAN_ELEMENTS: usize = 16;
/// Maximum number of pixels of the embedded images of a drawing: those that are decoded, and those that each use
/// writes.
const MAX_DRAWING_PIXELS: usize = 40_000_000;
/// Number of bytes of an embedded image that have the weight of one shape each time that it is used, because each use
/// decodes them.
const DATA_BYTES: usize = 64;
/// Maximum nesting of elements.
const MAX_DRAWING_DEPTH: usize = 200;
/// Maximum product of the number of style rules and the number of elements that they are matched against.
const MAX_RULE_MATCHES: usize = 2_000_000;

/// Parses a drawing. Returns `None` if it is invalid, contains external references, is too expensive, or the time limit
/// is exceeded.
pub(super) fn read(data: &[u8], fonts: &Fonts, clock: &Clock) -> Option<DecodedPicture> {
    if data.len() > MAX_DRAWING_BYTES {
        return None;
    }
    let text = std::str::from_utf8(data).ok()?;
    // An entity can expand to arbitrarily long text.
    if text.contains("<!ENTITY") {
        return None;
    }
    let options =
        roxmltree::ParsingOptions { allow_dtd: true, nodes_limit: MAX_ELEMENTS * 3, ..Default::default() };
    let document = roxmltree::Document::parse_with_options(text, options).ok()?;
    if document.root_element().tag_name().name() != "svg" || !is_light(&document) {
        return None;
    }
    let leads_away = Arc::new(AtomicBool::new(false));
    let images = EmbeddedImages { known: HashMap::new(), pixels: 0, clock: *clock };
    let embedded = Arc::new(Mutex::new(images));
    let options = settings(fonts, &leads_away, &embedded);
    let tree = Tree::from_xmltree(&document, &options).ok()?;
    if leads_away.load(Ordering::Relaxed) || clock.is_late() {
        return None;
    }
    let embedded = embedded.lock().unwrap_or_else(PoisonError::into_inner).pixels;
    if embedded > MAX_DRAWING_PIXELS {
        return None;
    }
    let size = tree.size();
    let (width, height) = (f64::from(size.width()), f64::from(size.height()));
    let shape = PictureContent::Drawing(Drawing { tree: Arc::new(tree) });
    Some(DecodedPicture { shape, width, height, pixels: data.len() + embedded, bytes: data.len() })
}

/// Returns parser options with the fonts of the book. Embedded images are permitted; an external image causes the
/// drawing to be rejected.
fn settings<'a>(
    fonts: &Fonts,
    leads_away: &Arc<AtomicBool>,
    embedded: &Arc<Mutex<EmbeddedImages>>,
) -> Options<'a> {
    let (away, embedded) = (Arc::clone(leads_away), Arc::clone(embedded));
    let resolver = ImageHrefResolver {
        resolve_data: Box::new(move |_, data, _| {
            embedded.lock().unwrap_or_else(PoisonError::into_inner).image(data)
        }),
        resolve_string: Box::new(move |_, _| {
            away.store(true, Ordering::Relaxed);
            None
        }),
    };
    Options {
        fontdb: Arc::clone(&fonts.drawings),
        font_family: SERIF.to_owned(),
        image_href_resolver: resolver,
        ..Options::default()
    }
}

/// The embedded images of a drawing. Each is decoded once.
struct EmbeddedImages {
    /// The images by their bytes, with the number of pixels that each use writes. `None` for unreadable ones.
    known: HashMap<Arc<Vec<u8>>, Option<(ImageKind, usize)>>,
    /// The number of decoded and written pixels.
    pixels: usize,
    clock: Clock,
}

impl EmbeddedImages {
    /// Returns an image for one use. Returns `None` if it is unreadable, if the images have too many pixels, or if the
    /// time limit is exceeded.
    fn image(&mut self, data: Arc<Vec<u8>>) -> Option<ImageKind> {
        if self.clock.is_late() {
            return None;
        }
        if !self.known.contains_key(&data) {
            let read = self.read(&data);
            self.known.insert(Arc::clone(&data), read);
        }
        let (image, pixels) = self.known.get(&data)?.as_ref()?;
        self.pixels = self.pixels.saturating_add(*pixels);
        (self.pixels <= MAX_DRAWING_PIXELS).then(|| image.clone())
    }

    fn read(&mut self, data: &[u8]) -> Option<(ImageKind, usize)> {
        let format = image::guess_format(data).ok()?;
        let reader = image::ImageReader::with_format(std::io::Cursor::new(data), format);
        let (width, height) = reader.into_dimensions().ok()?;
        self.pixels = self.pixels.saturating_add(pixels(width, height));
        if self.pixels > MAX_DRAWING_PIXELS { None } else { reencode_image(data, format) }
    }
}

fn pixels(width: u32, height: u32) -> usize {
    usize::try_from(u64::from(width) * u64::from(height)).unwrap_or(usize::MAX)
}

/// Decodes an embedded image and encodes it again, so that the PDF writer cannot fail on it. Returns its number of
/// pixels too.
fn reencode_image(data: &[u8], format: image::ImageFormat) -> Option<(ImageKind, usize)> {
    const PIXELS: u32 = 4_000;
    const WIDTH: u32 = 1_400;
    const HEIGHT: u32 = 2_000;
    let mut reader = image::ImageReader::with_format(std::io::Cursor::new(data), format);
    let mut limits = image::Limits::default();
    (limits.max_image_width, limits.max_image_height) = (Some(PIXELS), Some(PIXELS));
    limits.max_alloc = Some(64 << 20);
    reader.limits(limits);
    let image = reader.decode().ok()?;
    let mut out = std::io::Cursor::new(Vec::new());
    let is_larger = image.width() > WIDTH || image.height() > HEIGHT;
    let image = if is_larger { image.thumbnail(WIDTH, HEIGHT) } else { image }.into_rgba8();
    let pixels = pixels(image.width(), image.height());
    image::DynamicImage::ImageRgba8(image).write_to(&mut out, image::ImageFormat::Png).ok()?;
    Some((ImageKind::PNG(Arc::new(out.into_inner())), pixels))
}

/// Returns `true` if the estimated cost of a drawing is within the limits.
fn is_light(document: &roxmltree::Document<'_>) -> bool {
    let elements = document.descendants().filter(roxmltree::Node::is_element).count();
    let mut rules = 0;
    for node in document.descendants().filter(roxmltree::Node::is_element) {
        let name = node.tag_name().name();
        // Filters are rasterized at any resolution. External text (`tref`) is not supported by browsers and cannot be
        // counted.
        let is_boundless = matches!(name, "filter" | "tref") || node.attributes().any(has_huge_number);
        if is_boundless || node.ancestors().take(MAX_DRAWING_DEPTH + 1).count() > MAX_DRAWING_DEPTH {
            return false;
        }
        if name == "style" {
            let said: usize =
                node.children().filter_map(|text| text.text()).map(|t| t.matches([',', '{']).count()).sum();
            rules += said;
        }
    }
    if elements > MAX_ELEMENTS as usize || rules.saturating_mul(elements) > MAX_RULE_MATCHES {
        return false;
    }
    let mut scale = Scale { ids: HashMap::new(), known: HashMap::new() };
    for (id, node) in document.descendants().filter_map(|node| Some((node.attribute("id")?, node))) {
        // If an id occurs several times, the first element is used.
        scale.ids.entry(id).or_insert(node);
    }
    scale.weight(document.root_element(), 0).is_some_and(|weight| weight <= MAX_SHAPES)
}

/// Returns `true` if an attribute of a shape contains a number with more than [`MAX_INTEGER_DIGITS`] integer digits.
/// Larger arcs are converted to more curves.
fn has_huge_number(attribute: roxmltree::Attribute<'_, '_>) -> bool {
    if !matches!(attribute.name(), "d" | "points" | "r" | "rx" | "ry" | "width" | "height" | "style") {
        return false;
    }
    let (mut digits, mut is_fraction) = (0_usize, false);
    let mut bytes = attribute.value().bytes().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'0'..=b'9' if !is_fraction => digits += 1,
            b'0'..=b'9' => {}
            b'.' => is_fraction = true,
            b'e' | b'E' if digits > 0 || is_fraction => {
                bytes.next_if_eq(&b'+');
                let mut power = 0_usize;
                while let Some(digit) = bytes.next_if(u8::is_ascii_digit) {
                    power = power.saturating_mul(10).saturating_add(usize::from(digit - b'0'));
                }
                digits = digits.saturating_add(power);
            }
            _ => (digits, is_fraction) = (0, false),
        }
        if digits > MAX_INTEGER_DIGITS {
            return true;
        }
    }
    false
}

/// Computes the weight of elements, including the elements that they reference.
struct Scale<'a, 'input> {
    ids: HashMap<&'a str, roxmltree::Node<'a, 'input>>,
    /// Computed weights. `None` marks an element in progress, to detect cycles.
    known: HashMap<roxmltree::NodeId, Option<usize>>,
}

impl<'a, 'input> Scale<'a, 'input> {
    /// Returns the weight of an element, or `None` if it is cyclic or too heavy.
    fn weight(&mut self, node: roxmltree::Node<'a, 'input>, depth: usize) -> Option<usize> {
        if let Some(known) = self.known.get(&node.id()) {
            return *known;
        }
        if depth > MAX_DRAWING_DEPTH {
            return None;
        }
        self.known.insert(node.id(), None);
        let mut sum = 1_usize.saturating_add(letter_weight(node));
        for child in node.children().filter(roxmltree::Node::is_element) {
            sum = sum.saturating_add(self.weight(child, depth + 1)?);
        }
        let data = node
            .attributes()
            .filter(|it| it.name() == "href" && it.value().trim_start().starts_with("data:"));
        sum = sum.saturating_add(data.map(|data| data.value().len() / DATA_BYTES).sum::<usize>());
        let corners = 1 + node.attribute("d").or_else(|| node.attribute("points")).map_or(0, str::len) / 4;
        for attribute in node.attributes() {
            let times = if attribute.name().starts_with("marker") || attribute.name() == "style" {
                corners
            } else {
                1
            };
            for id in references(attribute.name(), attribute.value()) {
                let Some(target) = self.ids.get(id).copied() else { continue };
                sum = sum.saturating_add(self.weight(target, depth + 1)?.saturating_mul(times));
            }
        }
        let sum = (sum <= MAX_SHAPES).then_some(sum);
        self.known.insert(node.id(), sum);
        sum
    }
}

/// Returns the weight of the letters in a text element with all its descendants; 0 for other elements, and for elements
/// within text.
fn letter_weight(node: roxmltree::Node<'_, '_>) -> usize {
    let is_text = |node: roxmltree::Node<'_, '_>| node.tag_name().name() == "text";
    if !is_text(node) || node.ancestors().skip(1).any(is_text) {
        return 0;
    }
    let (mut letters, mut spans) = (0_usize, 0);
    for inner in node.descendants() {
        spans += usize::from(inner.is_element());
        letters += inner.text().filter(|_| inner.is_text()).map_or(0, str::len);
        let places = ["x", "y"].into_iter().filter_map(|name| inner.attribute(name));
        letters += places.map(|list| list.split([' ', ',', '\t', '\n', '\r']).count()).sum::<usize>();
    }
    letters.saturating_mul(LETTER_WEIGHT).saturating_add(letters.saturating_mul(spans) / SPAN_ELEMENTS)
}

/// Returns the ids that an attribute references.
fn references<'a>(name: &str, value: &'a str) -> impl Iterator<Item = &'a str> {
    let whole = (name == "href").then(|| value.trim().strip_prefix('#')).flatten();
    let parts = value.split("url(").skip(1).filter_map(|rest| {
        let inner = rest.split(')').next()?.trim_matches(['"', '\'', ' ']);
        inner.strip_prefix('#')
    });
    whole.into_iter().chain(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn svg(inner: &str) -> String {
        format!(
            "<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink' width='9' height='9'>{inner}</svg>"
        )
    }

    fn clock(seconds: u64) -> Clock {
        Clock::new(std::time::Duration::from_secs(seconds))
    }

    fn is_read(inner: &str) -> bool {
        read(svg(inner).as_bytes(), &Fonts::default(), &clock(600)).is_some()
    }

    #[test]
    fn valid_drawing_is_accepted() {
        assert!(is_read("<rect width='9' height='9' fill='url(#g)'/><text y='5'>said</text>"));
    }

    #[test]
    fn expanding_nested_or_large_drawings_are_rejected() {
        let mut grows = "<g id='a0'><rect width='1' height='1'/></g>".to_owned();
        for at in 1..12 {
            let uses = format!("<use xlink:href='#a{}'/>", at - 1).repeat(10);
            grows.push_str(&format!("<g id='a{at}'>{uses}</g>"));
        }
        assert!(!is_read(&grows));
        assert!(!is_read("<g id='a'><use href='#a'/><use href='#a'/></g>"));
        assert!(!is_read(&"<g>".repeat(5_000)));
        assert!(!is_read(&format!("{}{}", "<g>".repeat(5_000), "</g>".repeat(5_000))));
        let many = "<rect width='1' height='1'/>".repeat(40_000);
        assert!(!is_read(&many));
        let marker = format!("<marker id='m'>{}</marker>", "<path d='M0 0h1'/>".repeat(1_000));
        assert!(!is_read(&format!("{marker}<path marker-mid='url(#m)' d='M0 0{}'/>", "h1".repeat(9_000))));
    }

    #[test]
    fn drawing_with_huge_numbers_in_arcs_is_rejected() {
        for huge in ["9999999999", "1e10", "12.5E+9", ".5e10", "-1000000000000"] {
            assert!(!is_read(&format!("<path d='M0 0a1 1 0 0 1 9 {huge}'/>")), "{huge}");
            assert!(!is_read(&format!("<ellipse rx='{huge}' ry='1'/>")), "{huge}");
        }
        for usual in ["999999999", "1e-30", "0.00000000000001", "1.5e3", "-1"] {
            assert!(is_read(&format!("<path d='M0 0a1 1 0 0 1 9 {usual}L9 9'/>")), "{usual}");
        }
    }

    #[test]
    fn drawing_above_the_text_limits_is_rejected() {
        // Drawings within the limits are only weighed here, because rendering them takes seconds without optimization.
        let is_light = |inner: &str| {
            let whole = svg(inner);
            is_light(&roxmltree::Document::parse(&whole).unwrap())
        };
        let text = |letters: usize| format!("<text id='a'>{}</text>", "ab\n d".repeat(letters / 5));
        let spans = |count: usize| format!("<text>{}</text>", "<tspan>said</tspan>".repeat(count));
        assert!(is_light(&text(20_000)));
        assert!(!is_light(&text(40_000)));
        assert!(!is_light(&text(MAX_DRAWING_BYTES - 1_000)));
        assert!(
            !is_light(&format!("{}{}", text(20_000), "<use href='#a'/>".repeat(2))),
            "it is drawn thrice"
        );
        let twice = format!("{}<text id='a'/>{}", text(20_000), "<use href='#a'/>".repeat(2));
        assert!(!is_light(&twice), "the first of two with one id is meant");
        assert!(!is_light("<g id='t'>said</g><text><tref href='#t'/></text>"));
        let placed = |places: usize| format!("<text x='{}'>said</text>", "1 ".repeat(places));
        assert!(is_light(&placed(20_000)));
        assert!(!is_light(&placed(40_000)));
        assert!(is_light(&spans(300)));
        assert!(!is_light(&spans(1_000)), "for each of them the whole text is shaped");
        assert!(is_light(&"<text>said</text>".repeat(1_000)));
        assert!(is_light(&format!("<title>{}</title>", "a".repeat(100_000))), "nothing of it is laid out");
    }

    /// Returns an embedded image of `side` by `side` pixels with a number of uses.
    fn used_image(side: u32, color: u8, uses: usize) -> String {
        let mut png = std::io::Cursor::new(Vec::new());
        let image = image::GrayImage::from_pixel(side, side, image::Luma([color]));
        image.write_to(&mut png, image::ImageFormat::Png).unwrap();
        let data: String = png.into_inner().iter().map(|byte| format!("%{byte:02x}")).collect();
        let image = format!("<image id='i{color}' width='9' height='9' xlink:href='data:image/png,{data}'/>");
        format!("<defs>{image}</defs>{}", format!("<use xlink:href='#i{color}'/>").repeat(uses))
    }

    #[test]
    fn pixels_of_embedded_images_count_for_each_use() {
        let pixels = |inner: &str| {
            let whole = svg(inner);
            read(whole.as_bytes(), &Fonts::default(), &clock(600)).map(|read| read.pixels - whole.len())
        };
        // An image is decoded once.
        assert_eq!(pixels(&used_image(100, 1, 10)), Some(11 * 100 * 100));
        let two = used_image(100, 1, 3) + &used_image(100, 2, 3);
        assert_eq!(pixels(&two), Some(8 * 100 * 100));
        let most = MAX_DRAWING_PIXELS / 1_000_000;
        assert_eq!(pixels(&used_image(1_000, 1, most - 1)), Some(MAX_DRAWING_PIXELS));
        assert_eq!(pixels(&used_image(1_000, 1, most)), None);
    }

    #[test]
    fn embedded_images_are_not_decoded_after_the_time_limit() {
        let (whole, fonts) = (svg(&used_image(100, 1, 2)), Fonts::default());
        assert!(read(whole.as_bytes(), &fonts, &clock(600)).is_some());
        assert!(read(whole.as_bytes(), &fonts, &clock(0)).is_none());
        let mut late = EmbeddedImages { known: HashMap::new(), pixels: 0, clock: clock(0) };
        assert!(late.image(Arc::new(vec![1])).is_none());
        assert!(late.known.is_empty(), "the image was read");
    }

    #[test]
    fn bytes_of_embedded_images_count_for_each_use() {
        let data = "A".repeat(MAX_DRAWING_BYTES / 2);
        let image = format!("<image id='i' xlink:href='data:image/png;base64,{data}'/>");
        let is_light = |uses: usize| {
            let whole = svg(&format!("{image}{}", "<use xlink:href='#i'/>".repeat(uses)));
            is_light(&roxmltree::Document::parse(&whole).unwrap())
        };
        assert!(is_light(1));
        assert!(!is_light(20));
    }

    #[test]
    fn filters_entities_and_external_images_reject_a_drawing() {
        assert!(!is_read("<filter id='f'><feGaussianBlur stdDeviation='9'/></filter>"));
        assert!(!is_read("<image href='/etc/passwd' width='9' height='9'/>"));
        assert!(!is_read("<image href='https://example.com/a.png' width='9' height='9'/>"));
        let entity =
            "<!DOCTYPE svg [<!ENTITY a 'b'>]><svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>";
        assert!(read(entity.as_bytes(), &Fonts::default(), &clock(600)).is_none());
    }
}
