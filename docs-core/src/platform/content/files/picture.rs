//! Reads the dimensions of an image from its first bytes without decoding it.

use crate::model::Dimensions;

/// Returns the dimensions of an image in pixels, or `None` for other types and unknown formats.
///
/// For an animation, these are the dimensions of its canvas. For a vector image, they are its `width` and `height`, or
/// else those of its view box.
pub(super) fn dimensions(content_type: &str, bytes: &[u8]) -> Option<Dimensions> {
    let (kind, rest) = content_type.split_once('/')?;
    // Bytes of other types may look like an image by chance: some formats have almost no signature.
    if !kind.eq_ignore_ascii_case("image") {
        return None;
    }
    let size = if rest.get(..3).is_some_and(|of| of.eq_ignore_ascii_case("svg")) {
        svg(bytes)?
    } else {
        let size = imagesize::blob_size(bytes).ok()?;
        #[expect(clippy::cast_precision_loss, reason = "images are far below 2^52 pixels wide")]
        let size = Dimensions { width: size.width as f64, height: size.height as f64 };
        size
    };
    (size.width > 0.0 && size.height > 0.0).then_some(size)
}

fn svg(bytes: &[u8]) -> Option<Dimensions> {
    let text = std::str::from_utf8(bytes).ok()?;
    let mut rest = root(text.trim_start_matches('\u{feff}'))?;
    let (mut width, mut height, mut view) = (None, None, None);
    while let Some((name, value, after)) = attribute(rest) {
        match name {
            "width" => width = length(value),
            "height" => height = length(value),
            "viewBox" => view = view_box(value),
            _ => {}
        }
        rest = after;
    }
    let (width, height) = match (width, height, view) {
        (Some(width), Some(height), _) => (width, height),
        (Some(width), None, Some((w, h))) => (width, width * h / w),
        (None, Some(height), Some((w, h))) => (height * w / h, height),
        (None, None, Some((w, h))) => (w, h),
        _ => return None,
    };
    (width.is_finite() && height.is_finite()).then_some(Dimensions { width, height })
}

/// Returns the text after the name of the root element, if the element is `svg`.
fn root(text: &str) -> Option<&str> {
    let mut rest = text.trim_start();
    loop {
        rest = if let Some(inside) = rest.strip_prefix("<?") {
            inside.split_once("?>")?.1
        } else if let Some(inside) = rest.strip_prefix("<!--") {
            inside.split_once("-->")?.1
        } else if let Some(inside) = rest.strip_prefix("<!") {
            // A document type declaration can contain further declarations in brackets.
            let end = inside.find('>')?;
            match inside[..end].contains('[') {
                true => inside.split_once(']')?.1.split_once('>')?.1,
                false => &inside[end + 1..],
            }
        } else {
            let inside = rest.strip_prefix('<')?;
            let end = inside.find(|c: char| c.is_ascii_whitespace() || c == '>' || c == '/')?;
            let name = &inside[..end];
            let local = name.rsplit_once(':').map_or(name, |(_, local)| local);
            return (local == "svg").then_some(&inside[end..]);
        }
        .trim_start();
    }
}

/// Parses the next attribute of an element. Returns its name, its value and the remaining text.
fn attribute(text: &str) -> Option<(&str, &str, &str)> {
    let text = text.trim_start();
    if text.starts_with(['>', '/']) {
        return None;
    }
    let (name, rest) = text.split_once('=')?;
    let rest = rest.trim_start();
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let (value, after) = rest[1..].split_once(quote)?;
    Some((name.trim_end(), value, after))
}

/// Parses a length in pixels. Returns `None` for a relative unit.
fn length(text: &str) -> Option<f64> {
    let text = text.trim();
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%');
    let pixels = match &text[number.len()..] {
        "" | "px" => 1.0,
        "in" => 96.0,
        "cm" => 96.0 / 2.54,
        "mm" => 96.0 / 25.4,
        "pt" => 96.0 / 72.0,
        "pc" => 16.0,
        _ => return None,
    };
    let number: f64 = number.parse().ok()?;
    (number.is_finite() && number > 0.0).then_some(number * pixels)
}

/// Parses the width and height of a `viewBox`.
fn view_box(text: &str) -> Option<(f64, f64)> {
    let mut numbers =
        text.split(|c: char| c.is_ascii_whitespace() || c == ',').filter(|part| !part.is_empty());
    let (width, height) = (numbers.nth(2)?, numbers.next()?);
    Some((length(width)?, length(height)?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn size(content_type: &str, bytes: &[u8]) -> Option<(f64, f64)> {
        dimensions(content_type, bytes).map(|size| (size.width, size.height))
    }

    fn svg_size(text: &str) -> Option<(f64, f64)> {
        size("image/svg+xml", text.as_bytes())
    }

    #[test]
    fn svg_size_is_read_from_attributes_or_view_box() {
        for (text, expected) in [
            (r#"<svg width="40" height="30"/>"#, Some((40.0, 30.0))),
            (r#"<svg xmlns='x' height='30px' width = '40px' viewBox='0 0 1 1'></svg>"#, Some((40.0, 30.0))),
            (r#"<svg width="1in" height="2.54cm">"#, Some((96.0, 96.0))),
            (r#"<svg viewBox="0 0 24 12">"#, Some((24.0, 12.0))),
            (r#"<svg viewBox="-5,-5, 10,20" width="100%" height="auto">"#, Some((10.0, 20.0))),
            (r#"<svg viewBox="0 0 24 12" width="48">"#, Some((48.0, 24.0))),
            (r#"<svg viewBox="0 0 24 12" height="6">"#, Some((12.0, 6.0))),
            (
                "\u{feff}<?xml version=\"1.0\"?>\n<!-- a > b -->\n<!DOCTYPE svg PUBLIC \"a\" \"b\">\n<svg:svg width=\"1e1\" height=\"5\">",
                Some((10.0, 5.0)),
            ),
            ("<!DOCTYPE svg [ <!ENTITY a \"b>\"> ]><svg width='1' height='2'>", Some((1.0, 2.0))),
            (r#"<svg width="2em" height="3">"#, None),
            (r#"<svg width="-2" height="3">"#, None),
            (r#"<svg width="NaN" height="inf">"#, None),
            (r#"<svg data-width="4" data-height="3"/>"#, None),
            (r#"<html width="4" height="3"/>"#, None),
            ("<svg", None),
            ("<svg width", None),
            ("", None),
        ] {
            assert_eq!(svg_size(text), expected, "{text}");
        }
        assert_eq!(size("image/svg+xml; charset=utf-8", b"<svg width='1' height='2'/>"), Some((1.0, 2.0)));
        assert_eq!(size("text/plain", b"<svg width='1' height='2'/>"), None);
    }

    fn boxed(name: &[u8; 4], content: &[u8]) -> Vec<u8> {
        let length = u32::try_from(content.len() + 8).unwrap();
        [&length.to_be_bytes()[..], name, content].concat()
    }

    /// Builds the boxes of an AVIF file up to its dimensions.
    fn avif(brand: &[u8; 4]) -> Vec<u8> {
        let ftyp = boxed(b"ftyp", &[&brand[..], &[0; 4], b"mif1", b"avif"].concat());
        let ispe = boxed(b"ispe", &[[0; 4], 640u32.to_be_bytes(), 360u32.to_be_bytes()].concat());
        let ipco = boxed(b"ipco", &ispe);
        let meta = boxed(b"meta", &[&[0; 4][..], &boxed(b"iprp", &ipco)].concat());
        [ftyp, meta, boxed(b"mdat", &[0; 16])].concat()
    }

    #[test]
    fn raster_pictures_and_animations_have_the_size_of_their_canvas() {
        let webp =
            |tag: &[u8; 4], rest: &[u8]| [&b"RIFF\0\0\0\0WEBP"[..], tag, &[10, 0, 0, 0], rest].concat();
        // Flags with the animation bit, three reserved bytes, width - 1 and height - 1.
        let animated = webp(b"VP8X", &[2, 0, 0, 0, 99, 0, 0, 49, 0, 0]);
        let lossless = webp(b"VP8L", &[0x2f, 99, 0x40, 0x0c, 0, 0]);
        let lossy = webp(b"VP8 ", &[0, 0, 0, 0x9d, 1, 0x2a, 100, 0, 50, 0]);
        let gif = |version: &[u8; 6]| [&version[..], &[100, 0, 50, 0, 0, 0, 0]].concat();
        let png =
            [&b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"[..], &[0, 0, 0, 100, 0, 0, 0, 50, 8, 6, 0, 0, 0]].concat();
        for (name, bytes) in [
            ("image/webp", animated),
            ("image/webp", lossless),
            ("image/webp", lossy),
            ("image/gif", gif(b"GIF89a")),
            ("image/gif", gif(b"GIF87a")),
            ("image/png", png),
        ] {
            assert_eq!(size(name, &bytes), Some((100.0, 50.0)), "{name} {bytes:?}");
            assert_eq!(size("application/zip", &bytes), None, "only what is said to be a picture");
        }
        for brand in [b"avif", b"avis"] {
            assert_eq!(size("image/avif", &avif(brand)), Some((640.0, 360.0)));
        }
        assert_eq!(size("image/png", b"no picture at all"), None);
    }

    proptest! {
        #[test]
        fn size_of_a_damaged_picture_is_absent_or_positive(at in 0usize..80, byte: u8, cut in 0usize..120, of in 0usize..4) {
            let mut bytes = match of {
                0 => avif(b"avif"),
                1 => br#"<?xml version="1.0"?><!DOCTYPE svg [a]><svg viewBox="0 0 24 12" width="48"/>"#.to_vec(),
                2 => b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\x02\0\0\0\x63\0\0\x31\0\0".to_vec(),
                _ => b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0\xff\xc0\0\x11\x08\0\x32\0\x64\x03".to_vec(),
            };
            if let Some(place) = bytes.get_mut(at) {
                *place = byte;
            }
            bytes.truncate(cut);
            for name in ["image/svg+xml", "image/avif", "image/jpeg"] {
                if let Some((width, height)) = size(name, &bytes) {
                    prop_assert!(width > 0.0 && height > 0.0);
                }
            }
        }
    }
}
