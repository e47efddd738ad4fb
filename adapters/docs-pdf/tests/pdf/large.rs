//! Large content is typeset completely, on as many sheets as it needs.

use std::collections::BTreeMap;

use docs_model::{Block, BlockKind, ContentRef, Document, Fragment, ImageData, Inline, InlineKind, Node};
use docs_ports::{Book, BookPage};
use lopdf::Object;
use serde_json::json;

use crate::{book, heading, page, paragraph, set, text};

fn one(title: &str, blocks: Vec<Block>) -> Book {
    book(title, vec![page("p1", "A page", blocks)])
}

fn document(value: serde_json::Value) -> Document {
    let document = json!({ "object": "document", "data": {}, "nodes": [value] });
    serde_json::from_value(document).expect("a document")
}

fn table(rows: usize) -> BookPage {
    let definition = json!({
        "a": { "id": "a", "title": "Headcolumn", "type": "number" },
        "b": { "id": "b", "title": "Other", "type": "rating", "max": 5 },
    });
    let records: serde_json::Map<String, serde_json::Value> = (0..rows)
        .map(|at| {
            (
                format!("r{at}"),
                json!({ "orderIndex": format!("{at:06}"), "values": { "a": at + 1_000_000, "b": 3 } }),
            )
        })
        .collect();
    let view = json!({ "type": "grid", "columns": ["a", "b"], "hideHeader": false });
    let table = json!({ "object": "block", "type": "table", "data": { "view": view, "records": records, "definition": definition }, "nodes": [] });
    BookPage { document: Some(document(table).into()), ..page("p1", "A table", Vec::new()) }
}

#[test]
fn table_header_repeats_on_every_sheet() {
    let read = set("rows", &book("Rows", vec![table(10_000)]));
    let with_rows: Vec<&String> = read.sheets.iter().filter(|sheet| sheet.contains("★★★")).collect();
    assert!(with_rows.len() > 100, "{}", with_rows.len());
    assert!(with_rows.iter().all(|sheet| sheet.contains("Headcolumn")));
    let all = read.sheets.concat();
    for row in [1_000_000, 1_004_999, 1_005_000, 1_009_999] {
        assert!(all.contains(&row.to_string()), "{row}");
    }
}

#[test]
fn row_taller_than_a_sheet_continues_on_following_sheets() {
    let long: Vec<Node> = (0..400).map(|at| Node::Block(paragraph(&format!("line-{at}.")))).collect();
    let column = |nodes: Vec<Node>| {
        Node::Block(Block::new(BlockKind::Column { width: None, vertical_alignment: None }, nodes))
    };
    let other = vec![Node::Block(paragraph("beside"))];
    let columns = Block::new(
        BlockKind::Columns { full_width: None },
        vec![column(long.clone()), column(other), column(long)],
    );
    let read = set("high-row", &one("High", vec![columns, paragraph("below")]));
    let all = read.sheets.concat();
    for at in 0..400 {
        assert_eq!(all.matches(&format!("line-{at}.")).count(), 2, "{at}");
    }
    assert!(read.sheets.len() < 20, "both stand on the same sheets: {}", read.sheets.len());
    assert_eq!(read.sheet("below"), Some(read.sheets.len()));
}

#[test]
fn a_word_of_a_megabyte_is_broken_into_lines() {
    let word: String =
        (0..1_000_000_u32).map(|at| char::from(b'a' + u8::try_from(at % 23).expect("small"))).collect();
    let read = set("word", &one("Word", vec![paragraph(&word), paragraph("behind it")]));
    let said: String = read.sheets[2..].concat();
    let letters = said.chars().filter(char::is_ascii_lowercase).count();
    assert!(letters >= 1_000_000, "nothing is cut off: {letters}");
    assert!(read.says("behind it"));
}

#[test]
fn five_megabytes_of_lists_are_rendered() {
    let item = |nodes: Vec<Block>| {
        Node::Block(Block::new(
            BlockKind::ListItem { checked: None },
            nodes.into_iter().map(Node::Block).collect(),
        ))
    };
    let said = "words of an item that are long enough to fill about a line and a half of it ".repeat(2);
    let leaf = || item(vec![paragraph(&said)]);
    let list = |items: Vec<Node>| Block::new(BlockKind::ListUnordered {}, items);
    let nested = || {
        list(vec![
            leaf(),
            item(vec![
                paragraph(&said),
                list(vec![leaf(), item(vec![paragraph(&said), list((0..8).map(|_| leaf()).collect())])]),
            ]),
        ])
    };
    let count = 5_000_000 / (said.len() * 12);
    let lists: Vec<Block> = (0..count).map(|_| nested()).chain([paragraph("the very end")]).collect();
    let read = set("lists", &one("Lists", lists));
    assert!(read.sheets.len() > 500, "{}", read.sheets.len());
    assert_eq!(read.sheet("the very end"), Some(read.sheets.len()));
}

#[test]
fn a_thousand_formulas_are_drawn() {
    let formula = |at: usize| {
        let formula =
            format!(r"\sum_{{i=0}}^{{{at}}} \frac{{x_i^2}}{{\sqrt{{1 + y_i}}}} = \left( z_{{{at}}} \right)");
        Block::new(BlockKind::Math { formula }, Vec::new())
    };
    let read = set("formulas", &one("Formulas", (0..1_000).map(formula).collect()));
    assert!(read.sheets.len() > 30, "{}", read.sheets.len());
    assert!(!read.says("\\sum"), "none is shown as its source");
}

#[test]
fn lines_grow_with_the_height_and_depth_of_formulas() {
    let sheets = |name: &str, formula: &str| {
        let kind = InlineKind::InlineMath { formula: formula.to_owned() };
        let math = || Node::Inline(Inline::new(kind.clone(), Vec::new()));
        let one_line = || {
            Block::new(BlockKind::Paragraph { align: None }, vec![text("before "), math(), text(" after")])
        };
        set(name, &one("Lines", (0..300).map(|_| one_line()).collect())).sheets.len()
    };
    let plain = sheets("plain", "a");
    let above = sheets("above", r"\dfrac{\dfrac{\dfrac{a}{b}}{c}}{d}");
    let below = sheets("below", r"\dfrac{a}{\dfrac{b}{\dfrac{c}{d}}}");
    assert!(above > plain * 2 && below.abs_diff(above) * 5 < above, "{plain}, {above}, {below}");
}

fn picture(width: u32, height: u32) -> Vec<u8> {
    let mut out = std::io::Cursor::new(Vec::new());
    let image = image::RgbImage::from_fn(width, height, |x, y| image::Rgb([x as u8, y as u8, (x + y) as u8]));
    image.write_to(&mut out, image::ImageFormat::Png).expect("a picture");
    out.into_inner()
}

#[test]
fn oversized_picture_is_downscaled_in_the_file() {
    let target = ContentRef::Url { url: "https://example.com/large.png".to_owned() };
    let data = ImageData { target: target.clone(), dark: None, width: None, height: None, alt: None };
    let images = BTreeMap::from([(target, picture(4_000, 1_000).into())]);
    let image = Block::new(BlockKind::Image(Box::new(data)), Vec::new());
    let read = set("large-picture", &Book { images, ..one("Picture", vec![image]) });
    let widths: Vec<i64> = read
        .pdf
        .objects
        .values()
        .filter_map(|object| object.as_stream().ok())
        .filter(|stream| {
            stream.dict.get(b"Subtype").and_then(Object::as_name).is_ok_and(|name| name == b"Image")
        })
        .filter_map(|stream| stream.dict.get(b"Width").and_then(Object::as_i64).ok())
        .collect();
    assert_eq!(widths, [1_400]);
}

#[test]
fn footnote_is_on_the_sheet_of_its_reference() {
    let with_note = |at: usize| {
        let body = paragraph(&format!("note-{at}."));
        let mut inline = Inline::new(InlineKind::Annotation {}, vec![text(&format!("mark-{at}."))]);
        inline.fragments = Some(vec![Fragment::new("annotation-body", vec![body])]);
        Block::new(BlockKind::Paragraph { align: None }, vec![text("some words and "), Node::Inline(inline)])
    };
    let read = set("notes", &one("Notes", (0..200).map(with_note).collect()));
    for at in 0..200 {
        let note = read.sheet(&format!("note-{at}."));
        assert!(note.is_some() && note == read.sheet(&format!("mark-{at}.")), "{at}: {note:?}");
    }
}

#[test]
fn table_of_contents_lists_the_sheet_of_each_heading() {
    let text = |at: usize| (0..at % 40).map(|n| paragraph(&format!("words {n}"))).collect::<Vec<_>>();
    let pages: Vec<BookPage> = (0..120)
        .map(|at| {
            page(&format!("p{at}"), &format!("Title-{at}."), [vec![heading("inner")], text(at)].concat())
        })
        .collect();
    let read = set("contents", &book("Contents", pages));
    let first = read.sheets.iter().position(|sheet| sheet.contains("inner")).expect("the first page");
    let contents = read.sheets[1..first].concat();
    for at in 0..120 {
        let sheet = read.sheet(&format!("Title-{at}.")).expect("a heading");
        assert!(contents.contains(&format!("Title-{at}.{sheet}")), "{at}: {sheet} {contents}");
    }
}

#[test]
fn pdf_is_tagged_for_accessibility() {
    let read = set(
        "tagged",
        &Book { language: Some("de".to_owned()), ..one("Tagged", vec![heading("Kopf"), paragraph("Wort")]) },
    );
    let catalog = read.pdf.catalog().expect("a catalog");
    assert!(catalog.has(b"StructTreeRoot") && catalog.has(b"MarkInfo"));
    assert_eq!(catalog.get(b"Lang").and_then(Object::as_str).ok(), Some(&b"de"[..]));
    let roles: Vec<Vec<u8>> = read
        .pdf
        .objects
        .values()
        .filter_map(|object| object.as_dict().ok()?.get(b"S").ok()?.as_name().ok().map(<[u8]>::to_vec))
        .collect();
    for role in [&b"H1"[..], b"H2", b"P", b"TOC", b"Link"] {
        assert!(roles.iter().any(|known| known == role), "{}", String::from_utf8_lossy(role));
    }
}
