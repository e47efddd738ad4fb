//! Images and formulas with repeated constructs: the process does not crash, and memory is bounded.
//!
//! `DOCS_FUZZ_INPUTS=1000000 cargo test --release -p docs-pdf --lib pictures_and -- --nocapture` sets the number of
//! inputs.

use std::{io::Cursor, sync::OnceLock, time::Duration};

use docs_hostile::{CONSTANT_MEMORY, Parser, ParserFn as Reads, Random, TEX};
use image::{ImageFormat, Rgba, RgbaImage};
use ratex_types::math_style::MathStyle;

use super::*;
use crate::formula::Formula;

/// Decodes an image with the default limits of size and time. Returns `true` if it is valid.
fn decodes(bytes: &[u8]) -> bool {
    static FONTS: OnceLock<Fonts> = OnceLock::new();
    let (fonts, clock) = (FONTS.get_or_init(Fonts::default), Clock::new(Duration::from_secs(600)));
    decode(&Bytes::copy_from_slice(bytes), fonts, &clock, 1 << 20, DRAWN_BYTES).is_some()
}

#[test]
fn pictures_and_formulas_with_repeats_take_bounded_memory() {
    docs_hostile::run_among_others(PARSERS);
}

#[test]
fn formulas_with_large_layouts_are_rejected_with_little_memory() {
    let braces = "\\underbrace{a}_{b}".repeat(220);
    for (tex, is_formula) in [(braces.clone(), true), (format!("\\def\\a{{{braces}}}\\a\\a"), false)] {
        let (read, peak) = docs_hostile::own_peak_of(|| Formula::read(&tex, MathStyle::Display));
        assert_eq!(read.is_some(), is_formula, "{tex:.60}");
        assert!(peak < LETTERS, "{peak} bytes: {tex:.60}");
    }
}

#[test]
fn frames_larger_than_the_image_take_no_memory() {
    let mut gif = Cursor::new(Vec::new());
    RgbaImage::new(8, 8).write_to(&mut gif, ImageFormat::Gif).expect("a picture");
    let mut gif = gif.into_inner();
    // The first frame of the file is larger than the whole image in both dimensions.
    let at = gif.windows(9).position(|bytes| bytes == [0x2c, 0, 0, 0, 0, 8, 0, 8, 0]).expect("a picture");
    gif[at + 6] = 0x10;
    gif[at + 8] = 0x10;
    // Loads the fonts before the measurement.
    decodes(b"");
    let (read, peak) = docs_hostile::own_peak_of(|| decodes(&gif));
    assert!(!read && peak < CONSTANT_MEMORY, "{read}, {peak} bytes");
}

#[test]
fn small_files_declaring_many_pixels_take_no_memory() {
    let mut gif = Cursor::new(Vec::new());
    RgbaImage::new(8, 8).write_to(&mut gif, ImageFormat::Gif).expect("a picture");
    let mut gif = gif.into_inner();
    // The file declares a size of 6,144 by 4,864 pixels.
    (gif[7], gif[9]) = (0x18, 0x13);
    // Loads the fonts before the measurement.
    decodes(b"");
    let (read, peak) = docs_hostile::own_peak_of(|| decodes(&gif));
    assert!(!read && peak < CONSTANT_MEMORY, "{read}, {peak} bytes");
}

/// Memory in bytes that any image may take, for the decoded image and the scaled result.
const PIXELS: usize = 64 << 20;
/// Memory in bytes that any drawing may take, given the shape limit.
const SHAPES: usize = 64 << 20;
/// Memory in bytes that any formula may take, given the glyph limit.
const LETTERS: usize = 16 << 20;

const PARSERS: &[Parser] = &[
    Parser {
        name: "pictures",
        pieces: &["a", "\0", "é", "🚀", "abc", "zzzzzzzzzzzzzzzz"],
        frames: &[("", "")],
        most: 100_000,
        own: PIXELS,
        read: Reads::Bytes { make: picture, read: |bytes| _ = decodes(bytes) },
    },
    Parser {
        name: "drawings",
        pieces: SVG,
        frames: IN_SVG,
        most: 1 << 20,
        own: SHAPES,
        read: Reads::Text(|text| _ = decodes(text.as_bytes())),
    },
    Parser {
        name: "formulas",
        pieces: TEX,
        frames: &[("", ""), ("\\begin{pmatrix}", "\\end{pmatrix}"), ("\\def\\a{", "}\\a\\a"), ("{", "}")],
        most: docs_formula::MAX_FORMULA_BYTES,
        own: LETTERS + CONSTANT_MEMORY,
        read: Reads::Text(formula),
    },
];

fn formula(text: &str) {
    if let Some(formula) = Formula::read(text, MathStyle::Display) {
        drop(formula.parts());
    }
}

/// Maximum height of a WebP image.
const MOST_ROWS: u32 = 16_383;

/// Creates an image with these bytes as its pixels, and changes some bytes of the file. The format depends on the
/// number of bytes.
fn picture(text: &str) -> Vec<u8> {
    let mut random = Random::new(text.len() as u64);
    let width = 1 + u32::try_from(random.next_below(80)).unwrap_or_default();
    let bytes = text.as_bytes();
    let height = (u32::try_from(bytes.len() / 4).unwrap_or_default() / width + 1).min(MOST_ROWS);
    let image = RgbaImage::from_fn(width, height, |x, y| {
        let at = (y * width + x) as usize * 4;
        Rgba([0, 1, 2, 3].map(|part| bytes.get(at + part).copied().unwrap_or_default()))
    });
    let formats = [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::WebP];
    let format = formats[random.next_below(formats.len())];
    let image = image::DynamicImage::ImageRgba8(image);
    let image = if format == ImageFormat::Jpeg { image.to_rgb8().into() } else { image };
    let mut out = Vec::new();
    image.write_to(&mut Cursor::new(&mut out), format).expect("a picture");
    random.change(&mut out);
    out
}

const SVG: &[&str] = &[
    "<g>",
    "</g>",
    "<g id='a'>",
    "<use href='#a'/>",
    "<use xlink:href='#b'/>",
    "<rect width='9' height='9'/>",
    "<path d='M0 0h1'/>",
    "<path d='M0 0",
    "h1",
    "a1 1 0 0 1 9 9",
    "c1 2 3 4 5 6",
    "'/>",
    "<text y='5'>said</text>",
    "<text>",
    "</text>",
    "<tspan x='1 2 3'>",
    "</tspan>",
    "<style>g{fill:red}</style>",
    "<style>",
    "g g g{}",
    "</style>",
    "<linearGradient id='b'>",
    "<stop offset='1'/>",
    "</linearGradient>",
    "<pattern id='a' width='1' height='1'>",
    "</pattern>",
    "<marker id='a'>",
    "</marker>",
    "<clipPath id='a'>",
    "</clipPath>",
    "<mask id='b'>",
    "</mask>",
    "<rect fill='url(#b)' mask='url(#b)' clip-path='url(#a)' width='1' height='1'/>",
    "<image href='data:image/svg+xml;base64,PHN2Zy8+'/>",
    "<switch>",
    "</switch>",
    "<symbol id='a'>",
    "</symbol>",
    " transform='scale(9)'",
    " stroke-dasharray='0.001'",
    "<!-- ",
    "-->",
    "&amp;",
    "<a ",
    ">",
    "9",
    " ",
    "é",
];

const IN_SVG: &[(&str, &str)] = &[
    ("", ""),
    ("<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'>", "</svg>"),
    (
        "<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink' width='9' height='9'><g id='b'>",
        "</g><use xlink:href='#b'/></svg>",
    ),
    ("<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><path d='M0 0", "'/></svg>"),
    ("<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><text>", "</text></svg>"),
];
