//! All converters on inputs with repeated constructs, in breadth and in depth: the process does not crash, and memory
//! is proportional to the input.
//!
//! `DOCS_FUZZ_INPUTS=1000000 cargo test --release -p docs-convert --test hostile -- --nocapture` runs each parser on
//! this many inputs, and also enforces a time limit. `DOCS_FUZZ_PARSER=HTML` selects one parser.

use std::io::{Cursor, Write as _};

use docs_convert::{MAX_MARKDOWN_BYTES, MAX_TEXT_BYTES, convert, unpack};
use docs_hostile::{CONSTANT_MEMORY, MAX_MEMORY_PER_BYTE, Parser, ParserFn, Random};
use docs_ports::{Document, DocumentFormat};

#[test]
fn memory_is_proportional_to_repeated_constructs() {
    docs_hostile::run_among_others(PARSERS);
}

const PARSERS: &[Parser] = &[
    Parser {
        name: "HTML",
        pieces: HTML,
        frames: PAGES,
        most: MAX_TEXT_BYTES,
        own: CONSTANT_MEMORY,
        read: ParserFn::Text(read_html),
    },
    Parser {
        name: "Markdown",
        pieces: MARKDOWN,
        frames: &[("", "")],
        most: MAX_MARKDOWN_BYTES,
        own: CONSTANT_MEMORY,
        read: ParserFn::Text(read_markdown),
    },
    Parser {
        name: "Word",
        pieces: WORD,
        frames: &[("", "")],
        most: 10 << 20,
        own: CONSTANT_MEMORY,
        read: ParserFn::Bytes { make: make_word, read: read_word },
    },
    Parser {
        name: "archive",
        pieces: HTML,
        frames: &[("", "")],
        most: 1 << 20,
        own: CONSTANT_MEMORY,
        read: ParserFn::Bytes { make: make_archive, read: read_archive },
    },
    Parser {
        name: "charsets",
        pieces: CHARACTERS,
        frames: &[("", ""), ("<p>", "</p>"), ("<?xml version=\"1.0\" encoding=\"", "\"?>")],
        most: MAX_TEXT_BYTES / 2,
        own: CONSTANT_MEMORY,
        read: ParserFn::Bytes { make: make_encoded, read: read_encoded },
    },
];

fn document(format: DocumentFormat, bytes: Vec<u8>) -> Document {
    let url = Some("https://a.test/b/c".to_owned());
    Document { format, bytes: bytes.into(), name: "name".to_owned(), url, charset: None }
}

fn read_html(text: &str) {
    drop(convert(&document(DocumentFormat::Html, text.as_bytes().to_vec())));
}

fn read_markdown(text: &str) {
    drop(convert(&document(DocumentFormat::Markdown, text.as_bytes().to_vec())));
}

/// Creates Word documents that contain the text as the body and as each other part.
fn make_word(text: &str) -> Vec<u8> {
    let body = format!("<w:document><w:body>{text}</w:body></w:document>");
    let others = ["word/styles.xml", "word/numbering.xml", "word/footnotes.xml"];
    let mut files = vec![("word/document.xml", body.as_str())];
    files.extend(others.iter().filter(|_| text.len() < 100_000).map(|path| (*path, text)));
    packed(&files)
}

fn read_word(bytes: &[u8]) {
    drop(convert(&document(DocumentFormat::Docx, bytes.to_vec())));
}

/// Creates an archive and changes some of its bytes, at positions that depend on the text.
fn make_archive(text: &str) -> Vec<u8> {
    let path = text.chars().take(40).collect::<String>();
    let mut archive = packed(&[("a.md", text), (path.as_str(), "b"), ("c/d.html", text)]);
    Random::new(text.len() as u64).change(&mut archive);
    archive
}

fn read_archive(bytes: &[u8]) {
    drop(unpack(bytes));
}

/// Encodes the text in one of the web encodings, chosen by its length, and changes some of its bytes.
fn make_encoded(text: &str) -> Vec<u8> {
    const LABELS: [&str; 8] =
        ["utf-8", "utf-16le", "shift_jis", "gb18030", "iso-2022-jp", "big5", "koi8-r", "x-user-defined"];
    let mut random = Random::new(text.len() as u64);
    let label = LABELS[random.next_below(LABELS.len())];
    let encoding = encoding_rs::Encoding::for_label(label.as_bytes()).expect("an encoding");
    let said = match random.next_below(3) {
        0 => String::new(),
        1 => format!("<meta charset={label}>"),
        _ => format!("<meta http-equiv=content-type content=\"text/html; charset={label}\">"),
    };
    let mut bytes = said.into_bytes();
    if label == "utf-16le" {
        bytes = vec![0xff, 0xfe];
        bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
    } else {
        bytes.extend_from_slice(&encoding.encode(text).0);
    }
    random.change(&mut bytes);
    bytes
}

fn read_encoded(bytes: &[u8]) {
    drop(convert(&document(DocumentFormat::Html, bytes.to_vec())));
}

fn packed(files: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (path, text) in files {
        let options =
            zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
        // A duplicate or invalid path leaves the second file out of the archive.
        if writer.start_file(*path, options).is_ok() {
            writer.write_all(text.as_bytes()).expect("bytes");
        }
    }
    writer.finish().expect("an archive").into_inner()
}

#[test]
fn html_parse_errors_use_bounded_memory() {
    for piece in ["\0", "<a href=\"\"\"", "<p t<tr>"] {
        let text = piece.repeat(1_000_000 / piece.len());
        let ((), peak) = docs_hostile::own_peak_of(|| read_html(&text));
        assert!(
            peak < CONSTANT_MEMORY + MAX_MEMORY_PER_BYTE * text.len(),
            "{piece:?}: {peak} bytes for {}",
            text.len()
        );
    }
}

#[test]
fn elements_nested_in_their_own_kind_use_bounded_memory() {
    for (piece, count) in [
        ("<figure>", 150),
        ("<figure><img src=a><figcaption>", 60),
        ("<div class=admonition><a href=b>", 80),
        ("<div class=admonition><p class=admonition-title>", 80),
    ] {
        let text = format!("{}{}", piece.repeat(count), "<br>a".repeat(40_000));
        let ((), peak) = docs_hostile::own_peak_of(|| read_html(&text));
        assert!(
            peak < CONSTANT_MEMORY + MAX_MEMORY_PER_BYTE * text.len(),
            "{piece:?}: {peak} bytes for {}",
            text.len()
        );
    }
}

#[test]
fn oversized_word_text_is_rejected_before_conversion() {
    for (words, what) in
        [(45_000_000, "at most 40 MB of text"), (9_000_000, "at most 16000000 bytes of text")]
    {
        let (before, behind) =
            ("<w:document><w:body><w:p><w:r><w:t>", "</w:t></w:r></w:p></w:body></w:document>");
        let body = [before, &"a ".repeat(words), behind].concat();
        let size = body.len();
        let archive = packed(&[("word/document.xml", &body)]);
        drop(body);
        let (error, peak) = docs_hostile::own_peak_of(|| {
            convert(&document(DocumentFormat::Docx, archive)).expect_err("too much").to_string()
        });
        assert!(error.contains(what), "{error}");
        assert!(peak < 4 * size.min(40_000_000), "{peak} bytes for {size}");
    }
}

const HTML: &[&str] = &[
    "a",
    " ",
    "\n",
    "<",
    ">",
    "</",
    "<div>",
    "</div>",
    "<p>",
    "</p>",
    "<b>",
    "</b>",
    "<i>",
    "<a href=x>",
    "</a>",
    "<ul>",
    "<li>",
    "</li>",
    "</ul>",
    "<ol>",
    "<table>",
    "<tr>",
    "<td>",
    "<td rowspan=999 colspan=999>",
    "</td>",
    "</tr>",
    "</table>",
    "<th>",
    "<caption>",
    "<pre>",
    "</pre>",
    "<code>",
    "</code>",
    "<h1>",
    "</h1>",
    "<h2 id=x>",
    "<blockquote>",
    "</blockquote>",
    "<details>",
    "<summary>",
    "<figure>",
    "<img src=y>",
    "<figcaption>",
    "<br>",
    "<hr>",
    "<main>",
    "<article>",
    "<nav>",
    "<script>",
    "</script>",
    "<style>",
    "<title>",
    "<base href=z>",
    "<dl>",
    "<dt>",
    "<dd>",
    "<div class=admonition>",
    "<input type=checkbox>",
    "<iframe src=q>",
    "<svg>",
    "<math>",
    "<template>",
    "<select>",
    "<!--",
    "-->",
    "<![CDATA[",
    "<!DOCTYPE ",
    "<?",
    "&amp;",
    "&lt",
    "&#0;",
    "&#x41;",
    "&nope;",
    "&",
    " a=\"v\"",
    " a='v'",
    " a=v",
    " href=\"",
    "\"",
    "'",
    "*",
    "_",
    "`",
    "[",
    "]",
    "|",
    "{%",
    "#",
    "\0",
    "\t",
    "é",
    "🚀",
    "class=\"a b c\" ",
    "/>",
];

const CHARACTERS: &[&str] = &[
    "a",
    " ",
    "<p>",
    "<meta charset=utf-16>",
    "<meta charset=\"gbk",
    "charset=",
    "encoding='",
    "\u{feff}",
    "\u{fffd}",
    "\u{1b}$B",
    "\u{1b}(B",
    "é",
    "設定",
    "настройка",
    "설정",
    "🚀",
    "\0",
    "\u{80}",
    "\u{f7ff}",
    "\r\n",
];

const PAGES: &[(&str, &str)] = &[
    ("", ""),
    ("<p", ">t</p>"),
    ("<p>t</p", ">"),
    ("<table>", "</table>"),
    ("<pre>", "</pre>"),
    ("<main>", "</main>"),
    ("<a href=\"", "\">x</a>"),
    ("<div class=\"", "\">x</div>"),
];

const MARKDOWN: &[&str] = &[
    "a",
    " ",
    "\n",
    "\n\n",
    "[",
    "](",
    ")",
    "![",
    "[a](b)",
    "[a]: b\n",
    "<a href=\"b\">",
    "<img srcset=\"a 1x, b 2x\">",
    "<",
    "{% ",
    "%}",
    "`",
    "```\n",
    "> ",
    "- ",
    "*",
    "_",
    "|a|\n",
    "&amp;",
    "---\n",
    "# a\n",
    "\0",
    "é",
];

const WORD: &[&str] = &[
    "<w:p>",
    "</w:p>",
    "<w:r>",
    "</w:r>",
    "<w:t>",
    "</w:t>",
    "x ",
    "<w:p><w:r><w:t>x</w:t></w:r></w:p>",
    "<w:tbl>",
    "</w:tbl>",
    "<w:tr>",
    "</w:tr>",
    "<w:tc>",
    "</w:tc>",
    "<w:br/>",
    "<w:tab/>",
    "<w:sdt><w:sdtContent>",
    "</w:sdtContent></w:sdt>",
    "<w:ins>",
    "</w:ins>",
    "<w:pPr><w:numPr><w:ilvl w:val=\"9\"/><w:numId w:val=\"1\"/></w:numPr></w:pPr>",
    "<w:hyperlink w:anchor=\"a\">",
    "</w:hyperlink>",
    "<w:bookmarkStart w:name=\"a\"/>",
    "<w:fldChar w:fldCharType=\"begin\"/>",
    "<w:fldChar w:fldCharType=\"separate\"/>",
    "<w:fldChar w:fldCharType=\"end\"/>",
    "<w:instrText>HYPERLINK \"u\"</w:instrText>",
    "<w:footnoteReference w:id=\"1\"/>",
    "<w:footnote w:id=\"1\">",
    "<w:rPr><w:b/><w:i/></w:rPr>",
    "&amp;",
    "&x;",
    "<![CDATA[y]]>",
    "<!-- ",
    "-->",
    "<w:pPr><w:pStyle w:val=\"Heading1\"/></w:pPr>",
    "<w:style w:styleId=\"a\">",
    "<w:basedOn w:val=\"a\"/>",
    "</w:style>",
    "<w:abstractNum w:abstractNumId=\"1\">",
    "<w:lvl w:ilvl=\"0\">",
    " w:a=\"b\"",
    "<w:x",
    "/>",
    ">",
    "<",
    "é",
];
