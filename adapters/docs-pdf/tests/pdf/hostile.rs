//! User content is never interpreted as code, and cannot stop the typesetter.

use std::collections::BTreeMap;

use docs_model::{Block, BlockKind, ContentRef, HintStyle, ImageData, Node};
use docs_ports::Book;

use crate::{book, heading, id, page, paragraph, set};

/// Text that would have an effect if it were interpreted as code.
const NASTY: &[&str] = &[
    "#eval(\"1+1\") #panic(\"x\") #include \"/etc/passwd\"",
    "#set page(width: 1pt) #pagebreak() $x$ *b* _i_ `c` <label> @ref = Heading",
    "\\ \\u{41} // no comment /* none */ ~ -- --- ... \"quotes\" 'q'",
    "(/Type /Catalog) endobj stream endstream << >> %PDF",
    "\u{0}\u{7}\u{1b}[31m\u{ffff}",
    "שלום עולם \u{202e}abc\u{202c} مرحبا",
    "日本語 한국어 汉字 हिन्दी ไทย",
    "👩‍👩‍👧 🇩🇪 ✊🏽 1️⃣ 🚀",
    "a\u{300}\u{301}\u{302}\u{303}\u{304} zalgo",
];

fn many(pages: Vec<Block>) -> Book {
    book("Hostile", vec![page("p1", "A page", pages)])
}

#[test]
fn user_text_is_rendered_literally_and_never_executed() {
    let mut blocks: Vec<Block> = NASTY.iter().map(|text| paragraph(text)).collect();
    blocks.extend(NASTY.iter().map(|text| heading(text)));
    for text in NASTY {
        let title = Some((*text).to_owned());
        let line = Block::new(BlockKind::CodeLine { highlighted: Some(true) }, vec![crate::text(text)]);
        let mut kind = BlockKind::plain_code(title.clone());
        if let BlockKind::Code { title: shown, line_numbers, .. } = &mut kind {
            (*shown, *line_numbers) = (title, Some(true));
        }
        blocks.push(Block::new(kind, vec![Node::Block(line)]));
        blocks.push(Block::new(BlockKind::Math { formula: (*text).to_owned() }, Vec::new()));
        blocks.push(Block::new(BlockKind::Embed { url: (*text).to_owned(), full_width: None }, Vec::new()));
    }
    let mut nasty = many(blocks);
    nasty.title = NASTY[0].to_owned();
    nasty.subtitle = Some(NASTY[1].to_owned());
    nasty.language = Some("#en".to_owned());
    nasty.pages[0].title = NASTY[1].to_owned();
    nasty.pages[0].description = Some(NASTY[2].to_owned());
    let read = set("hostile", &nasty);
    for said in &NASTY[..4] {
        assert!(read.says(said), "{said}");
    }
    assert!(read.says("שלום") || read.says("םולש"));
    assert!(read.sheets.len() < 30, "a page of one point would make many: {}", read.sheets.len());
    assert!(!read.says("root:x:0"));
    let outline: Vec<String> = read.outline().into_iter().map(|(_, title)| title).collect();
    for said in ["#eval(\"1+1\")", "日本語", "👩‍👩‍👧 🇩🇪"] {
        assert!(outline.iter().any(|title| title.starts_with(said)), "{said}: {outline:?}");
    }
}

#[test]
fn unreadable_pictures_are_replaced_by_their_alt_text() {
    let svg = |inner: &str| {
        format!(
            "<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink' width='9' height='9'>{inner}</svg>"
        )
    };
    let pictures: &[(&str, Vec<u8>)] = &[
        ("nothing", Vec::new()),
        ("noise", vec![7; 1_000]),
        ("a broken png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x08\0\0\0\x08\x08\x02\0\0\0garbage".to_vec()),
        ("a vast png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\x7f\0\0\0\x7f\0\0\0\x08\x02\0\0\0garbage".to_vec()),
        ("a linked file", svg("<image href='/etc/passwd' width='9' height='9'/>").into_bytes()),
        ("a pdf", b"%PDF-1.7\n%%EOF".to_vec()),
        ("an endless svg", svg("<g id='a'><use href='#a'/><use href='#a'/></g>").into_bytes()),
        ("an open svg", b"<svg xmlns='http://www.w3.org/2000/svg'><script>while(1);</script>".to_vec()),
    ];
    let mut images = BTreeMap::new();
    let mut blocks = Vec::new();
    for (alt, bytes) in pictures {
        let target = ContentRef::Url { url: format!("https://example.com/{}", alt.replace(' ', "-")) };
        images.insert(target.clone(), bytes.clone().into());
        let data =
            ImageData { target, dark: None, width: None, height: None, alt: Some(format!("alt of {alt}")) };
        blocks.push(Block::new(BlockKind::Image(Box::new(data)), Vec::new()));
    }
    let read = set("broken-pictures", &Book { images, ..many(blocks) });
    for (alt, _) in &pictures[..6] {
        assert!(read.says(&format!("alt of {alt}")), "{alt}");
    }
}

#[test]
fn scripts_in_drawings_are_dropped() {
    let url = "https://example.com/a.svg".to_owned();
    let target = ContentRef::Url { url };
    let drawing = "<svg xmlns='http://www.w3.org/2000/svg' width='90' height='40'><script>alert(1)</script>\
        <rect width='90' height='40' fill='red' onclick='alert(2)'/><text y='20'>said</text></svg>";
    let images = BTreeMap::from([(target.clone(), drawing.into())]);
    let data = ImageData { target, dark: None, width: None, height: None, alt: Some("alt".to_owned()) };
    let read = set(
        "script",
        &Book { images, ..many(vec![Block::new(BlockKind::Image(Box::new(data)), Vec::new())]) },
    );
    assert!(!read.says("alert"));
    let text = format!("{:?}", read.pdf.objects.values().collect::<Vec<_>>());
    assert!(!text.contains("JavaScript"));
}

/// Returns nested blocks with a word at every level.
fn nested(depth: usize, around: fn() -> BlockKind) -> Block {
    (0..depth).fold(paragraph("the innermost"), |inner, level| {
        let nodes = vec![Node::Block(paragraph(&format!("level-{level}."))), Node::Block(inner)];
        match around() {
            list @ (BlockKind::ListUnordered {} | BlockKind::ListTasks {}) => {
                let item = Block::new(BlockKind::ListItem { checked: Some(true) }, nodes);
                Block::new(list, vec![Node::Block(item)])
            }
            BlockKind::Columns { full_width } => {
                let column = |node| {
                    Block::new(BlockKind::Column { width: None, vertical_alignment: None }, vec![node])
                };
                let nodes = nodes.into_iter().map(|node| Node::Block(column(node))).collect();
                Block::new(BlockKind::Columns { full_width }, nodes)
            }
            kind => Block::new(kind, nodes),
        }
    })
}

#[test]
fn deeply_nested_blocks_lose_frames_but_keep_their_text() {
    let kinds: [fn() -> BlockKind; 5] = [
        || BlockKind::ListUnordered {},
        || BlockKind::ListTasks {},
        || BlockKind::Blockquote {},
        || BlockKind::Hint { style: HintStyle::Info, icon: None },
        || BlockKind::Columns { full_width: None },
    ];
    for (at, kind) in kinds.into_iter().enumerate() {
        let read = set(&format!("nested-{at}"), &many(vec![nested(60, kind)]));
        assert!(read.says("the innermost"), "{at}");
        for level in 0..60 {
            assert!(read.says(&format!("level-{level}.")), "{at}: {level}");
        }
    }
}

#[test]
fn only_valid_web_and_mailto_links_are_written() {
    let link = |url: &str| {
        let target = ContentRef::Url { url: url.to_owned() };
        let inline = docs_model::Inline::new(
            docs_model::InlineKind::Link { target, title: None },
            vec![crate::text(url)],
        );
        Block::new(BlockKind::Paragraph { align: None }, vec![Node::Inline(inline)])
    };
    let bad = [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "data:text/html,x",
        "https://a b",
        "",
        "#",
        "#none",
        "https://",
        "http:/x",
        "../up.md",
        "vbscript:x",
        "é",
        "\u{0}",
    ];
    let long = format!("https://example.com/{}", "x".repeat(10_000));
    let mut blocks: Vec<Block> = bad.iter().map(|url| link(url)).collect();
    blocks.extend([link(&long), link("https://example.com/ok"), link("mailto:a@example.com")]);
    let read = set("links", &many(blocks));
    let leads: Vec<String> = read.addresses().into_iter().collect();
    assert_eq!(leads, ["https://example.com/ok", "mailto:a@example.com"]);
}

#[test]
fn empty_untitled_and_self_linking_books_are_rendered() {
    let read = set("empty", &Book::default());
    assert!(!read.sheets.is_empty());
    let mut empty = many(Vec::new());
    empty.pages[0].title = String::new();
    set("untitled", &empty);
    let target = ContentRef::Page { page: id("p1"), space: None };
    let read = set("itself", &many(vec![Block::new(BlockKind::ContentRef { target }, Vec::new())]));
    assert!(read.jumps() >= 2);
}
