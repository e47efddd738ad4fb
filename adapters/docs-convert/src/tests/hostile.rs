//! Malicious input: the conversion ends in time and does not panic.

use std::sync::mpsc;

use docs_ports::{ConvertError, ConvertedPage, Document, DocumentFormat};
use proptest::prelude::*;

use super::{document, html, refused, zip as packed};
use crate::{DocumentConverter, MAX_TEXT_BYTES, convert, unpack};

/// Converts on a thread with the stack size of the runtime, with a generous time limit.
fn in_time(document: Document) -> Result<ConvertedPage, ConvertError> {
    let (done, ended) = mpsc::channel();
    let thread = std::thread::Builder::new().stack_size(2 * 1024 * 1024);
    thread.spawn(move || drop(done.send(convert(&document)))).unwrap();
    ended.recv_timeout(std::time::Duration::from_secs(120)).expect("it ends")
}

#[test]
fn html_above_the_byte_or_element_limit_is_refused() {
    let message = refused(in_time(document(DocumentFormat::Html, "<div>".repeat(10_000_000))));
    assert_eq!(message, format!("an HTML page must have at most {MAX_TEXT_BYTES} bytes, has 50000000"));
    let message = refused(in_time(document(DocumentFormat::Html, "<p></p>".repeat(1_000_000))));
    assert_eq!(message, "an HTML page must have at most 500000 elements");
}

#[test]
fn deeply_nested_html_finishes_in_time() {
    for open in [
        "<div>",
        "<b>",
        "<ul><li>",
        "<blockquote>",
        "<table><tr><td>",
        "<a href=x>",
        "<p><font>",
        "<details>",
        "<figure>",
        "<dl><dd>",
        "<span><div>",
        "<pre>",
        "<h1>",
        "<section class=admonition>",
        "<svg>",
        "<select>",
        "<template>",
    ] {
        let text = format!("{}text", open.repeat(300_000 / open.len()));
        let result = in_time(document(DocumentFormat::Html, text));
        assert!(result.is_ok() || refused(result).contains("500000 elements"), "{open}");
    }
}

#[test]
fn unmatched_end_tags_convert_in_time() {
    for close in ["</div>", "</p>", "</b>", "</table>", "<p></b>", "<b></div>"] {
        let text = format!("<div><p>{}text", close.repeat(50_000));
        assert!(in_time(document(DocumentFormat::Html, text)).is_ok(), "{close}");
    }
}

#[test]
fn deeply_nested_text_is_preserved() {
    let page = html(&format!("{}text{}<p>after</p>", "<div>".repeat(1_000), "</div>".repeat(1_000)));
    assert_eq!(page.markdown, "text\n\nafter\n");
}

#[test]
fn large_html_constructs_convert_in_time() {
    let large = 1_000_000;
    for text in [
        format!("<p>{}</p>", "a".repeat(large)),
        format!("<p>{}</p>", "* ".repeat(large / 2)),
        format!("<p>{}</p>", "`".repeat(large)),
        format!("<pre>{}</pre>", "`".repeat(large)),
        format!("<code>{}</code>", "`".repeat(large)),
        format!("<a href=\"{}\">x</a>", "a".repeat(large)),
        format!("<div {}>x</div>", "a=1 ".repeat(large / 4)),
        format!("<div class=\"{}\">x</div>", "a ".repeat(large / 2)),
        format!("<!--{}", "-".repeat(large)),
        format!("<p>{}</p>", "&".repeat(large)),
        format!("<p>{}</p>", "&amp".repeat(large / 4)),
        "<".repeat(large),
        "\0".repeat(large),
        "<br>".repeat(100_000),
        "<img src=x>".repeat(50_000),
        "<b>x</b>".repeat(50_000),
        format!("<table>{}</table>", "<tr><td rowspan=9999 colspan=9999>x".repeat(10_000)),
        format!("<table><tr>{}</table>", "<td>x".repeat(50_000)),
    ] {
        let start: String = text.chars().take(30).collect();
        let page = in_time(document(DocumentFormat::Html, text));
        assert!(page.is_ok(), "{start}: {:?}", page.err());
    }
}

#[test]
fn markdown_of_repeated_delimiters_converts_in_time() {
    for part in ["[", "![", "](", "[a](b) ", "<a href=\"", "{% ", "`", "> ", "- ", "[x]: y\n", "*a_", "|a|\n"]
    {
        let text = part.repeat(100_000 / part.len());
        let url = Some("https://a.test/".to_owned());
        let result = in_time(Document { url, ..document(DocumentFormat::Markdown, text) });
        assert!(result.is_ok(), "{part}");
    }
}

#[test]
fn deep_word_document_converts_and_a_large_one_is_refused() {
    for (open, close) in [
        ("<w:p><w:r>", "</w:r></w:p>"),
        ("<w:tbl><w:tr><w:tc>", "</w:tc></w:tr></w:tbl>"),
        ("<w:sdt><w:sdtContent>", "</w:sdtContent></w:sdt>"),
        ("<w:ins>", "</w:ins>"),
    ] {
        let many = 50_000;
        let xml =
            format!("<w:document><w:body>{}{}</w:body></w:document>", open.repeat(many), close.repeat(many));
        // Not compressed, because the compression ratio would exceed the limit.
        let archive = stored("word/document.xml", xml.as_bytes());
        in_time(document(DocumentFormat::Docx, archive)).expect(open);
    }
    let xml = format!("<w:document><w:body>{}</w:body></w:document>", "<w:p/>".repeat(1_100_000));
    let large = |archive| refused(in_time(document(DocumentFormat::Docx, archive)));
    assert_eq!(
        large(stored("word/document.xml", xml.as_bytes())),
        "a part must have at most 1000000 elements"
    );
    assert!(
        large(packed(&[("word/document.xml", xml.as_bytes())]))
            .contains("its compression ratio is also limited")
    );
}

#[tokio::test]
async fn converter_port_converts_and_unpacks() {
    use docs_ports::Converter as _;
    let page = DocumentConverter.convert(document(DocumentFormat::Html, "<h1>T</h1>x")).await.unwrap();
    assert_eq!((page.title.as_str(), page.markdown.as_str()), ("T", "x\n"));
    assert_eq!(DocumentConverter.unpack(packed(&[("a", b"b")]).into()).await.unwrap().files.len(), 1);
    assert!(DocumentConverter.unpack(Default::default()).await.is_err());
}

/// Creates an archive with one uncompressed file.
fn stored(path: &str, bytes: &[u8]) -> Vec<u8> {
    use std::io::{Cursor, Write as _};
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    writer.start_file(path, options).unwrap();
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap().into_inner()
}

/// HTML fragments, meaningful and arbitrary.
const PIECES: &str = "(<(/)?(div|p|b|i|a href=x|ul|li|ol|table|tr|td colspan=3|th|pre|code|h1|h2 id=x|blockquote|details|\
    summary|figure|img src=y|figcaption|br|main|article|script|title|base href=z|dl|dt|dd|div class=admonition|input \
    type=checkbox|iframe src=q)>|<!--|-->|&(amp|lt|#0|#x41|nope);|[ \\n*_`\\[\\]{}%|#>.-]|[a-c1ä😀]){0,120}";

fn xml_pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "<w:p>",
        "</w:p>",
        "<w:r>",
        "</w:r>",
        "<w:t>",
        "</w:t>",
        "x ",
        "<w:tbl>",
        "</w:tbl>",
        "<w:tr>",
        "</w:tr>",
        "<w:tc>",
        "</w:tc>",
        "<w:br/>",
        "<w:pPr><w:numPr><w:ilvl w:val=\"9\"/><w:numId w:val=\"1\"/></w:numPr></w:pPr>",
        "<w:hyperlink w:anchor=\"a\">",
        "</w:hyperlink>",
        "<w:bookmarkStart w:name=\"a\"/>",
        "<w:fldChar w:fldCharType=\"begin\"/>",
        "<w:fldChar w:fldCharType=\"separate\"/>",
        "<w:instrText>HYPERLINK \"u\"</w:instrText>",
        "<w:footnoteReference w:id=\"1\"/>",
        "<w:rPr><w:b/><w:i/></w:rPr>",
        "&amp;",
        "&x;",
        "<![CDATA[y]]>",
        "<w:pPr><w:pStyle w:val=\"Heading1\"/></w:pPr>",
    ]);
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

/// Returns Markdown without its code spans and blocks.
fn without_code(markdown: &str) -> String {
    let ticks = |text: &str| text.len() - text.trim_start_matches('`').len();
    let end_of = |text: &str, run: usize| {
        let mut at = 0;
        loop {
            let start = at + text[at..].find('`')?;
            at = start + ticks(&text[start..]);
            if at - start == run {
                return Some(at);
            }
        }
    };
    let (mut out, mut rest) = (String::new(), markdown);
    while let Some((before, _)) = rest.split_once('`') {
        let from = &rest[before.len()..];
        let (run, is_escaped) = (ticks(from), before.ends_with('\\'));
        out.push_str(before);
        let behind = &from[run..];
        rest = end_of(behind, run).filter(|_| !is_escaped).map_or(behind, |end| &behind[end..]);
    }
    out + rest
}

proptest! {
    #[test]
    fn random_bytes_of_every_kind_never_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..2_000),
        format in prop::sample::select(vec![DocumentFormat::Html, DocumentFormat::Markdown, DocumentFormat::Docx]),
        url in prop::option::of("https://a\\.test/[a-z/]{0,8}|\\PC{0,10}"),
    ) {
        let _ = convert(&Document { url, ..document(format, bytes.clone()) });
        let _ = unpack(&bytes);
    }

    #[test]
    fn damaged_archives_never_panic(at in 0_usize..400, byte in any::<u8>(), cut in 0_usize..400) {
        let mut archive = packed(&[("word/document.xml", b"<w:p><w:r><w:t>text</w:t></w:r></w:p>"), ("a/b.md", b"# b")]);
        if let Some(place) = archive.get_mut(at) {
            *place = byte;
        }
        archive.truncate(cut.max(20) + 100);
        let _ = unpack(&archive);
        let _ = convert(&document(DocumentFormat::Docx, archive));
    }

    #[test]
    fn tag_soup_never_panics_or_yields_a_script(soup in PIECES) {
        let page = html(&soup);
        prop_assert!(!page.title.trim().is_empty());
        // In code, `<script` is escaped content of an embedded frame.
        prop_assert!(!without_code(&page.markdown).to_lowercase().contains("<script"), "{}", page.markdown);
        // The output must not contain front matter or a second title.
        let parsed = docs_markup::markdown::parse_page(&page.markdown);
        prop_assert!(parsed.yaml.is_none() && parsed.heading.is_none(), "{}", page.markdown);
    }

    #[test]
    fn arbitrary_word_xml_never_panics(body in xml_pieces()) {
        let xml = format!("<w:document><w:body>{body}</w:body></w:document>");
        let archive = packed(&[("word/document.xml", xml.as_bytes()), ("word/footnotes.xml", xml.as_bytes())]);
        let _ = convert(&document(DocumentFormat::Docx, archive));
    }
}

#[test]
fn hostile_formulas_and_tabs_convert_in_time() {
    let nested = |open: &str| open.repeat(400_000 / open.len());
    for text in [
        nested("<math><msup>"),
        format!("{}{}", "<math><msup><mi>".repeat(60), "x".repeat(1_000_000)),
        format!("<math>{}</math>", "<mfrac><mi>a</mi><mi>b</mi></mfrac>".repeat(10_000)),
        nested("<span class=katex-display>"),
        nested("<div class=math>\\("),
        format!("{}{}", "<div class=math>".repeat(180), "\\( ".repeat(100_000)),
        nested("<div role=tabpanel><div role=tablist><a role=tab>x</a></div>"),
        format!("<div role=tablist>{}", "<a role=tab>x</a><div role=tabpanel>y</div>".repeat(8_000)),
        format!("<table><thead><tr><th>{}", nested("<td><pre>x")),
        format!("<math alttext=\"{}\">", "$".repeat(100_000)),
        format!("<script type=math/tex>{}</script>", "%\n".repeat(100_000)),
    ] {
        let start: String = text.chars().take(40).collect();
        let result = in_time(document(DocumentFormat::Html, text));
        assert!(result.is_ok(), "{start}: {:?}", result.err());
    }
    for (open, close) in [
        ("<m:sSup><m:e>", "</m:e></m:sSup>"),
        ("<m:d><m:e>", "</m:e></m:d>"),
        ("<m:func><m:fName>", "</m:fName></m:func>"),
        ("<w:r><w:pict><v:textbox><w:txbxContent><w:p>", "</w:p></w:txbxContent></v:textbox></w:pict></w:r>"),
    ] {
        let math =
            format!("{}<m:r><m:t>{}</m:t></m:r>{}", open.repeat(50), "x^".repeat(200_000), close.repeat(50));
        let xml = format!("<w:document><w:body><w:p><m:oMath>{math}</m:oMath></w:p></w:body></w:document>");
        let archive = stored("word/document.xml", xml.as_bytes());
        assert!(in_time(document(DocumentFormat::Docx, archive)).is_ok(), "{open}");
    }
}
