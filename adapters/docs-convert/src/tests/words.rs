//! Conversion of handmade Word documents.

use docs_ports::{ConvertedPage, DocumentFormat};

use super::{convert, document, refused, zip};

const NAMESPACES: &str =
    "xmlns:w=\"w\" xmlns:r=\"r\" xmlns:a=\"a\" xmlns:wp=\"wp\" xmlns:mc=\"mc\" xmlns:v=\"v\"";

const STYLES: &str = "<w:styles>\
    <w:style w:styleId=\"T\"><w:name w:val=\"Title\"/></w:style>\
    <w:style w:styleId=\"H1\"><w:name w:val=\"heading 1\"/></w:style>\
    <w:style w:styleId=\"H2\"><w:name w:val=\"heading 2\"/></w:style>\
    <w:style w:styleId=\"Mine\"><w:name w:val=\"Mine\"/><w:basedOn w:val=\"H2\"/></w:style>\
    <w:style w:styleId=\"Out\"><w:name w:val=\"Outline\"/><w:pPr><w:outlineLvl w:val=\"2\"/></w:pPr></w:style>\
    <w:style w:styleId=\"Q\"><w:name w:val=\"Quote\"/></w:style>\
    <w:style w:styleId=\"C\"><w:name w:val=\"Source Code\"/></w:style>\
    <w:style w:styleId=\"TOC1\"><w:name w:val=\"toc 1\"/></w:style>\
    <w:style w:styleId=\"L\"><w:name w:val=\"List Bullet\"/><w:pPr><w:numPr><w:numId w:val=\"1\"/></w:numPr></w:pPr></w:style>\
    <w:style w:styleId=\"Loop\"><w:name w:val=\"Loop\"/><w:basedOn w:val=\"Loop\"/></w:style>\
    </w:styles>";

const NUMBERING: &str = "<w:numbering>\
    <w:abstractNum w:abstractNumId=\"10\"><w:lvl><w:numFmt w:val=\"bullet\"/></w:lvl></w:abstractNum>\
    <w:abstractNum w:abstractNumId=\"11\"><w:lvl><w:numFmt w:val=\"decimal\"/></w:lvl><w:lvl><w:numFmt w:val=\"bullet\"/></w:lvl></w:abstractNum>\
    <w:num w:numId=\"1\"><w:abstractNumId w:val=\"10\"/></w:num>\
    <w:num w:numId=\"2\"><w:abstractNumId w:val=\"11\"/></w:num>\
    </w:numbering>";

const RELATIONS: &str = "<Relationships>\
    <Relationship Id=\"r1\" Target=\"https://a.test/x?a=1&amp;b=2\" TargetMode=\"External\"/>\
    <Relationship Id=\"r2\" Target=\"media/image 1.png\"/>\
    <Relationship Id=\"r3\" Target=\"media/drawing.emf\"/>\
    <Relationship Id=\"r4\" Target=\"media/missing.png\"/>\
    <Relationship Id=\"r5\" Target=\"javascript:alert(1)\" TargetMode=\"External\"/>\
    </Relationships>";

const FOOTNOTES: &str = "<w:footnotes>\
    <w:footnote w:id=\"7\"><w:p><w:r><w:footnoteRef/></w:r><w:r><w:t>A note.</w:t></w:r></w:p></w:footnote>\
    </w:footnotes>";

fn word(body: &str) -> ConvertedPage {
    let main =
        format!("<?xml version=\"1.0\"?><w:document {NAMESPACES}><w:body>{body}</w:body></w:document>");
    let archive = zip(&[
        ("word/document.xml", main.as_bytes()),
        ("word/styles.xml", STYLES.as_bytes()),
        ("word/numbering.xml", NUMBERING.as_bytes()),
        ("word/_rels/document.xml.rels", RELATIONS.as_bytes()),
        ("word/footnotes.xml", FOOTNOTES.as_bytes()),
        ("word/media/image 1.png", b"png"),
        ("word/media/drawing.emf", b"emf"),
    ]);
    convert(&document(DocumentFormat::Docx, archive)).expect(body)
}

fn p(style: &str, inside: &str) -> String {
    format!("<w:p><w:pPr><w:pStyle w:val=\"{style}\"/></w:pPr>{inside}</w:p>")
}

fn t(text: &str) -> String {
    format!("<w:r><w:t xml:space=\"preserve\">{text}</w:t></w:r>")
}

fn marked(marks: &str, text: &str) -> String {
    format!("<w:r><w:rPr>{marks}</w:rPr><w:t xml:space=\"preserve\">{text}</w:t></w:r>")
}

fn li(list: u8, level: u8, text: &str) -> String {
    let list = format!("<w:numPr><w:ilvl w:val=\"{level}\"/><w:numId w:val=\"{list}\"/></w:numPr>");
    format!("<w:p><w:pPr>{list}</w:pPr>{}</w:p>", t(text))
}

#[test]
fn paragraphs_and_headings_follow_their_styles() {
    let all = [
        p("T", &t("The title")),
        p("TOC1", &t("Contents 3")),
        p("H1", &t("First")),
        p("Mine", &t("Second")),
        p("Out", &t("Third")),
        p("Loop", &t("a &amp; b &#x41;&lt;")),
        p("Q", &t("quoted")),
        p("Q", &t("still")),
        p("C", &t("let a = 1;")),
        p("C", &t("  b")),
        p("None", ""),
    ];
    let page = word(&all.concat());
    assert_eq!(page.title, "The title");
    assert_eq!(
        page.markdown,
        "## First\n\n### Second\n\n#### Third\n\na & b A\\<\n\n> quoted\n>\n> still\n\n```\nlet a = 1;\n  b\n```\n"
    );
}

#[test]
fn first_heading_is_the_title_by_default() {
    assert_eq!(word(&[p("H1", &t("One")), p("H2", &t("Two"))].concat()).markdown, "## Two\n");
    assert_eq!(word(&p("", &t("text"))).title, "the name");
}

#[test]
fn run_formatting_converts_to_markdown() {
    for (runs, expected) in [
        (marked("<w:b/>", "bold") + &t(" x"), "**bold** x"),
        (marked("<w:b w:val=\"0\"/>", "plain"), "plain"),
        (marked("<w:b/>", "a ") + &marked("<w:b/><w:i/>", "b") + &t(" c"), "**a *b*** c"),
        (marked("<w:strike/>", "gone"), "~~gone~~"),
        (
            marked("<w:rFonts w:ascii=\"Courier New\"/>", "co")
                + &marked("<w:rFonts w:ascii=\"Consolas\"/>", "de"),
            "`code`",
        ),
        (t("x") + &marked("<w:vertAlign w:val=\"superscript\"/>", "2"), "x<sup>2</sup>"),
        (marked("<w:vanish/>", "hidden") + &t("seen"), "seen"),
        (
            "<w:del><w:r><w:delText>old</w:delText></w:r></w:del><w:ins>".to_owned() + &t("new") + "</w:ins>",
            "new",
        ),
        ("<w:r><w:t>a</w:t><w:br/><w:t>b</w:t><w:noBreakHyphen/><w:t>c</w:t></w:r>".to_owned(), "a\\\nb-c"),
        (t("*not* [marked]"), "\\*not\\* \\[marked\\]"),
    ] {
        assert_eq!(word(&p("", &runs)).markdown, format!("{expected}\n"), "{runs}");
    }
}

#[test]
fn lists_nest_by_their_levels() {
    let all =
        [li(2, 0, "one"), li(2, 1, "a"), li(2, 1, "b"), li(2, 0, "two"), p("", &t("text")), li(1, 0, "x")];
    assert_eq!(word(&all.concat()).markdown, "1. one\n   * a\n   * b\n2. two\n\ntext\n\n* x\n");
    assert_eq!(word(&[p("L", &t("a")), p("L", &t("b"))].concat()).markdown, "* a\n* b\n");
    assert_eq!(word(&li(0, 0, "none")).markdown, "none\n");
    assert_eq!(
        word(&[li(1, 3, "deep"), li(1, 0, "back")].concat()).markdown,
        "* deep\n\n<!-- -->\n\n* back\n"
    );
}

#[test]
fn hyperlinks_fields_and_bookmarks_convert_to_links() {
    let link = |attribute: &str| format!("<w:hyperlink {attribute}>{}</w:hyperlink>", t("here"));
    for (runs, expected) in [
        (link("r:id=\"r1\""), "[here](https://a.test/x?a=1&b=2)"),
        (link("r:id=\"r5\""), "here"),
        (link("r:id=\"unknown\""), "here"),
        (
            "<w:fldSimple w:instr=\" HYPERLINK &quot;https://b.test/&quot; \">".to_owned() + &t("b") + "</w:fldSimple>",
            "[b](https://b.test/)",
        ),
        (
            "<w:r><w:fldChar w:fldCharType=\"begin\"/></w:r><w:r><w:instrText>HYPERLINK \"https://c.test/\"</w:instrText>\
             </w:r><w:r><w:fldChar w:fldCharType=\"separate\"/></w:r>"
                .to_owned()
                + &t("c")
                + "<w:r><w:fldChar w:fldCharType=\"end\"/></w:r>"
                + &t(" d"),
            "[c](https://c.test/) d",
        ),
    ] {
        assert_eq!(word(&p("", &runs)).markdown, format!("{expected}\n"), "{runs}");
    }
    let place = p("H1", &t("Title"))
        + &p("H2", &("<w:bookmarkStart w:name=\"_Ref1\"/>".to_owned() + &t("Part")))
        + &p("", &link("w:anchor=\"_Ref1\""));
    assert_eq!(word(&place).markdown, "## Part <a href=\"#_Ref1\" id=\"_Ref1\"></a>\n\n[here](#_Ref1)\n");
}

#[test]
fn tables_with_merged_cells_convert_to_markdown() {
    let cell = |properties: &str, text: &str| {
        format!("<w:tc><w:tcPr>{properties}</w:tcPr>{}</w:tc>", p("", &t(text)))
    };
    let row = |cells: &[String]| format!("<w:tr>{}</w:tr>", cells.concat());
    let rows = [
        row(&[cell("", "A"), cell("", "B")]),
        row(&[cell("<w:vMerge w:val=\"restart\"/>", "x"), cell("", "y")]),
        row(&[cell("<w:vMerge/>", "ignored"), cell("", "z")]),
        row(&[cell("<w:gridSpan w:val=\"2\"/>", "wide")]),
    ];
    assert_eq!(
        word(&format!("<w:tbl>{}</w:tbl>", rows.concat())).markdown,
        "| A | B |\n| --- | --- |\n| x | y |\n|   | z |\n| wide |   |\n"
    );
}

#[test]
fn only_displayable_images_are_extracted() {
    let picture = |id: &str| {
        format!("<w:r><w:drawing><wp:docPr descr=\"A view\"/><a:blip r:embed=\"{id}\"/></w:drawing></w:r>")
    };
    let page = word(&p("", &["r2", "r2", "r3", "r4"].map(picture).concat()));
    assert_eq!(page.markdown, "![A view](media/image%201.png)![A view](media/image%201.png)\n");
    assert_eq!(page.files.len(), 1);
    let file = &page.files[0];
    assert_eq!(
        (file.destination.as_str(), file.name.as_str(), &file.bytes[..]),
        ("media/image%201.png", "image 1.png", &b"png"[..])
    );
    let old = "<w:r><w:pict><v:imagedata r:id=\"r2\"/></w:pict></w:r>";
    assert_eq!(word(&p("", old)).files.len(), 1);
}

#[test]
fn footnotes_are_defined_at_the_end() {
    let note = "<w:r><w:footnoteReference w:id=\"7\"/></w:r>";
    let page = word(&p(
        "",
        &(t("word") + note + &t(" and") + note + "<w:r><w:footnoteReference w:id=\"9\"/></w:r>"),
    ));
    assert_eq!(page.markdown, "word[^1] and[^1][^2]\n\n[^1]: A note.\n");
}

#[test]
fn invalid_or_damaged_word_documents_are_refused() {
    for bytes in [b"".to_vec(), b"{\\rtf1}".to_vec()] {
        let message = refused(convert(&document(DocumentFormat::Docx, bytes)));
        assert!(message.starts_with("must be a Word document (.docx)"), "{message}");
    }
    let message = refused(convert(&document(DocumentFormat::Docx, zip(&[("a.txt", b"x")]))));
    assert!(message.contains("word/document.xml"), "{message}");
    for xml in ["<w:document><w:body></w:document>", "<w:document><w:p <", "<a></b>"] {
        let archive = zip(&[("word/document.xml", xml.as_bytes())]);
        assert_eq!(
            refused(convert(&document(DocumentFormat::Docx, archive))),
            "the Word document is damaged",
            "{xml}"
        );
    }
    let entities = "<!DOCTYPE x [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><w:document><w:body><w:p><w:r><w:t>x&b;y\
                    </w:t></w:r></w:p></w:body></w:document>";
    let archive = zip(&[("word/document.xml", entities.as_bytes())]);
    assert_eq!(convert(&document(DocumentFormat::Docx, archive)).unwrap().markdown, "xy\n");
}
