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
    <w:style w:type=\"character\" w:styleId=\"Strong\"><w:name w:val=\"Strong\"/><w:rPr><w:b/></w:rPr></w:style>\
    <w:style w:type=\"character\" w:styleId=\"Both\"><w:basedOn w:val=\"Strong\"/><w:rPr><w:i/></w:rPr></w:style>\
    <w:style w:type=\"character\" w:styleId=\"Plain\"><w:basedOn w:val=\"Both\"/><w:rPr><w:b w:val=\"0\"/></w:rPr></w:style>\
    <w:style w:type=\"character\" w:styleId=\"Sup\"><w:rPr><w:vertAlign w:val=\"superscript\"/></w:rPr></w:style>\
    <w:style w:type=\"paragraph\" w:styleId=\"Bold\"><w:rPr><w:b/></w:rPr></w:style>\
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
fn character_styles_convert_to_marks() {
    let styled =
        |style: &str, more: &str, text: &str| marked(&format!("<w:rStyle w:val=\"{style}\"/>{more}"), text);
    for (runs, expected) in [
        (styled("Strong", "", "a") + &t(" b"), "**a** b"),
        (styled("Both", "", "a"), "***a***"),
        (styled("Plain", "", "a"), "*a*"),
        (styled("Strong", "<w:b w:val=\"0\"/>", "a"), "a"),
        (styled("Strong", "<w:i/>", "a"), "***a***"),
        (t("x") + &styled("Sup", "", "2"), "x<sup>2</sup>"),
        (t("x") + &styled("Sup", "<w:vertAlign w:val=\"baseline\"/>", "2"), "x2"),
        (styled("Bold", "", "a") + &styled("None", "", "b") + &styled("Loop", "", "c"), "abc"),
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

/// Returns the Markdown of a document with additional parts.
fn word_with(body: &str, parts: &[(&str, &str)]) -> ConvertedPage {
    let main = format!("<w:document {NAMESPACES}><w:body>{body}</w:body></w:document>");
    let mut files = vec![("word/document.xml", main.as_bytes())];
    files.extend(parts.iter().map(|(path, text)| (*path, text.as_bytes())));
    convert(&document(DocumentFormat::Docx, zip(&files))).expect(body)
}

fn math(inside: &str) -> String {
    p("", &format!("<m:oMath>{inside}</m:oMath>{}", t(" end")))
}

fn mr(text: &str) -> String {
    format!("<m:r><m:t>{text}</m:t></m:r>")
}

fn e(inside: &str) -> String {
    format!("<m:e>{inside}</m:e>")
}

#[test]
fn word_equations_convert_to_tex() {
    let part = |name: &str, inside: &str| format!("<m:{name}>{inside}</m:{name}>");
    let sum = |chr: &str, inside: &str| {
        format!("<m:nary><m:naryPr>{chr}</m:naryPr>{inside}{}</m:nary>", e(&mr("x")))
    };
    let bounds = part("sub", &mr("i=1")) + &part("sup", &mr("n"));
    let half = format!("<m:f>{}{}</m:f>", part("num", &mr("1")), part("den", &mr("2")));
    let no_bar = half.replace("<m:f>", "<m:f><m:fPr><m:type m:val=\"noBar\"/></m:fPr>");
    let matrix =
        format!("<m:m><m:mr>{a}{b}</m:mr><m:mr>{b}{a}</m:mr></m:m>", a = e(&mr("a")), b = e(&mr("b")));
    let delimited = |begin: &str, end: &str, inside: &str| {
        let properties = format!("<m:begChr m:val=\"{begin}\"/><m:endChr m:val=\"{end}\"/>");
        format!("<m:d><m:dPr>{properties}</m:dPr>{}</m:d>", e(inside))
    };
    let accent = |chr: &str, inside: &str| {
        format!("<m:acc><m:accPr><m:chr m:val=\"{chr}\"/></m:accPr>{}</m:acc>", e(&mr(inside)))
    };
    let function = |name: &str| format!("<m:func><m:fName>{name}</m:fName>{}</m:func>", e(&mr("x")));
    let limit = format!("<m:limLow>{}{}</m:limLow>", e(&mr("lim")), part("lim", &mr("n→∞")));
    for (omml, tex) in [
        (mr("a+b≤α"), "a+b\\le\\alpha"),
        (half.clone(), "\\frac{1}{2}"),
        (half.replace("<m:f>", "<m:f><m:fPr><m:type m:val=\"lin\"/></m:fPr>"), "1/2"),
        (format!("<m:sSup>{}{}</m:sSup>", e(&mr("a")), part("sup", &mr("2"))), "a^{2}"),
        (format!("<m:sSub>{}{}</m:sSub>", e(&mr("ab")), part("sub", &mr("i"))), "{ab}_{i}"),
        (format!("<m:sSubSup>{}{bounds}</m:sSubSup>", e(&mr("a"))), "a_{i=1}^{n}"),
        (format!("<m:sPre>{bounds}{}</m:sPre>", e(&mr("C"))), "{}_{i=1}^{n}C"),
        (format!("<m:rad><m:deg/>{}</m:rad>", e(&mr("x"))), "\\sqrt{x}"),
        (format!("<m:rad>{}{}</m:rad>", part("deg", &mr("3")), e(&mr("x"))), "\\sqrt[3]{x}"),
        (sum("<m:chr m:val=\"∑\"/>", &bounds), "\\sum_{i=1}^{n} x"),
        (sum("", &bounds), "\\int_{i=1}^{n} x"),
        (sum("<m:limLoc m:val=\"undOvr\"/><m:supHide m:val=\"1\"/>", &bounds), "\\int\\limits_{i=1} x"),
        (delimited("(", ")", &mr("x")), "(x)"),
        (delimited("[", "", &half), "\\left[\\frac{1}{2}\\right."),
        (format!("<m:d>{}{}</m:d>", e(&mr("a")), e(&mr("b"))), "(a|b)"),
        (delimited("(", ")", &no_bar), "\\binom{1}{2}"),
        (matrix.clone(), "\\begin{matrix} a & b \\\\ b & a \\end{matrix}"),
        (delimited("[", "]", &matrix), "\\begin{bmatrix} a & b \\\\ b & a \\end{bmatrix}"),
        (
            delimited("{", "", &format!("<m:eqArr>{}{}</m:eqArr>", e(&mr("x&amp;=1")), e(&mr("y&amp;=2")))),
            "\\begin{cases} x & =1 \\\\ y & =2 \\end{cases}",
        ),
        (accent("\u{302}", "x"), "\\hat{x}"),
        (accent("\u{20d7}", "AB"), "\\overrightarrow{AB}"),
        (format!("<m:bar><m:barPr><m:pos m:val=\"top\"/></m:barPr>{}</m:bar>", e(&mr("x"))), "\\overline{x}"),
        (format!("<m:bar>{}</m:bar>", e(&mr("x"))), "\\underline{x}"),
        (format!("<m:borderBox>{}</m:borderBox>", e(&mr("x"))), "\\boxed{x}"),
        (format!("<m:groupChr>{}</m:groupChr>", e(&mr("x"))), "\\underbrace{x}"),
        (function(&mr("sin")), "\\sin x"),
        (function(&mr("foo")), "\\operatorname{foo} x"),
        (function(&limit), "\\lim_{n\\rightarrow\\infty} x"),
        (function(&format!("<m:sSup>{}{}</m:sSup>", e(&mr("cos")), part("sup", &mr("2")))), "\\cos^{2} x"),
        ("<m:r><m:rPr><m:nor/></m:rPr><m:t>if x</m:t></m:r>".to_owned(), "\\text{if x}"),
        ("<m:r><m:rPr><m:sty m:val=\"b\"/></m:rPr><m:t>v</m:t></m:r>".to_owned(), "\\mathbf{v}"),
        ("<m:unknown>".to_owned() + &mr("y") + "</m:unknown>", "y"),
        ("<w:del>".to_owned() + &mr("y") + "</w:del>" + &mr("z"), "z"),
    ] {
        assert_eq!(word(&math(&omml)).markdown, format!("$${tex}$$ end\n"), "{omml}");
    }
}

#[test]
fn word_equations_on_their_own_are_blocks() {
    let equation = |text: &str| format!("<m:oMath>{}</m:oMath>", mr(text));
    let lines = format!("<m:oMathPara>{}{}</m:oMathPara>", equation("a"), equation("b"));
    assert_eq!(word(&p("", &(t("see ") + &lines))).markdown, "see\n\n$$\na\n$$\n\n$$\nb\n$$\n");
    let both = equation("a") + &equation("b");
    assert_eq!(word(&p("", &(both + &t("!")))).markdown, "$$a$$ $$b$$!\n");
    let cell = |inside: &str| format!("<w:tc>{}</w:tc>", p("", inside));
    let row = cell(&equation("|x|")) + &cell(&t("b"));
    let table = format!("<w:tbl><w:tr>{row}</w:tr><w:tr>{row}</w:tr></w:tbl>");
    let line = "| $$\\vert x\\vert $$ | b |\n";
    assert_eq!(word(&table).markdown, format!("{line}| --- | --- |\n{line}"));
}

#[test]
fn symbols_of_word_are_characters() {
    for (runs, expected) in [
        ("<w:r><w:t>a </w:t><w:sym w:font=\"Symbol\" w:char=\"F0B3\"/><w:t> b</w:t></w:r>", "a ≥ b"),
        ("<w:r><w:sym w:font=\"Wingdings\" w:char=\"F0FC\"/><w:t>done</w:t></w:r>", "✔done"),
        ("<w:r><w:rPr><w:rFonts w:ascii=\"Symbol\"/></w:rPr><w:t>\u{f061}</w:t></w:r>", "α"),
        (
            "<w:r><w:ruby><w:rt><w:r><w:t>kan</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>漢</w:t></w:r></w:rubyBase></w:ruby></w:r>",
            "漢 (kan)",
        ),
    ] {
        assert_eq!(word(&p("", runs)).markdown, format!("{expected}\n"), "{runs}");
    }
    let page = word(&p("", "<w:r><w:sym w:font=\"Other\" w:char=\"F041\"/><w:t>x</w:t></w:r>"));
    assert_eq!(
        (page.markdown.as_str(), page.warnings),
        ("x\n", vec!["left out: a character of a symbol font".to_owned()])
    );
}

#[test]
fn text_boxes_of_word_follow_their_paragraph() {
    let inside = p("", &t("boxed")) + &li(1, 0, "item");
    let drawn =
        format!("<w:drawing><wps:txbx><w:txbxContent>{inside}</w:txbxContent></wps:txbx></w:drawing>");
    let old = format!("<w:pict><v:textbox><w:txbxContent>{inside}</w:txbxContent></v:textbox></w:pict>");
    let both = format!(
        "<mc:AlternateContent> <mc:Choice>{drawn}</mc:Choice><mc:Fallback>{old}</mc:Fallback></mc:AlternateContent>"
    );
    for text_box in [drawn.clone(), old, both] {
        let runs = t("before ") + &format!("<w:r>{text_box}</w:r>") + &t("after");
        let page = word(&(p("", &runs) + &p("", &t("next"))));
        assert_eq!(page.markdown, "before after\n\nboxed\n\n* item\n\nnext\n", "{text_box}");
        assert!(page.warnings.is_empty(), "{:?}", page.warnings);
    }
    let cell = format!(
        "<w:tbl><w:tr><w:tc>{}</w:tc><w:tc>{}</w:tc></w:tr></w:tbl>",
        p("", &format!("<w:r>{drawn}</w:r>")),
        p("", &t("b"))
    );
    assert!(word(&cell).markdown.contains("boxed<br>• item | b |"), "{}", word(&cell).markdown);
}

/// The kinds of lists: `A` starts at 1, `B` at 5; list 3 of kind `A` starts at 3.
const NUMBERED: &str = "<w:numbering>\
    <w:abstractNum w:abstractNumId=\"A\"><w:lvl><w:start w:val=\"1\"/><w:numFmt w:val=\"decimal\"/><w:lvlText w:val=\"%1.\"/></w:lvl>\
    <w:lvl><w:start w:val=\"1\"/><w:numFmt w:val=\"decimal\"/><w:lvlText w:val=\"%1.%2\"/></w:lvl></w:abstractNum>\
    <w:abstractNum w:abstractNumId=\"B\"><w:lvl><w:start w:val=\"5\"/><w:numFmt w:val=\"decimal\"/></w:lvl></w:abstractNum>\
    <w:num w:numId=\"1\"><w:abstractNumId w:val=\"A\"/></w:num>\
    <w:num w:numId=\"2\"><w:abstractNumId w:val=\"B\"/></w:num>\
    <w:num w:numId=\"3\"><w:abstractNumId w:val=\"A\"/><w:lvlOverride w:ilvl=\"0\"><w:startOverride w:val=\"3\"/></w:lvlOverride></w:num>\
    </w:numbering>";

#[test]
fn numbers_of_word_lists_continue_and_restart() {
    let all = [
        li(1, 0, "one"),
        li(1, 1, "inner"),
        li(1, 0, "two"),
        p("", &t("between")),
        li(1, 0, "three"),
        p("", &t("x")),
        li(2, 0, "five"),
        li(2, 0, "six"),
        p("", &t("y")),
        li(3, 0, "three again"),
    ];
    let page = word_with(&all.concat(), &[("word/numbering.xml", NUMBERED)]);
    assert_eq!(
        page.markdown,
        "1. one\n   1. inner\n2. two\n\nbetween\n\n3. three\n\nx\n\n5. five\n6. six\n\ny\n\n3. three again\n"
    );
}

#[test]
fn headings_of_word_have_their_numbers() {
    let heading = |style: &str, level: u8, text: &str| {
        let list = format!("<w:numPr><w:ilvl w:val=\"{level}\"/><w:numId w:val=\"1\"/></w:numPr>");
        format!("<w:p><w:pPr><w:pStyle w:val=\"{style}\"/>{list}</w:pPr>{}</w:p>", t(text))
    };
    let all = [
        heading("Heading1", 0, "Start"),
        heading("Heading2", 1, "Part"),
        heading("Heading1", 0, "End"),
        heading("Heading2", 1, "Last"),
    ];
    let page = word_with(&all.concat(), &[("word/numbering.xml", NUMBERED)]);
    assert_eq!(
        (page.title.as_str(), page.markdown.as_str()),
        ("1. Start", "### 1.1 Part\n\n## 2\\. End\n\n### 2.1 Last\n")
    );
}

/// Documents of the kinds that the samples of mammoth and python-docx contain.
#[test]
fn word_documents_of_other_programs_are_complete() {
    let relation = |target: &str, mode: &str| {
        format!("<Relationships><Relationship Id=\"r1\" Target=\"{target}\"{mode}/></Relationships>")
    };
    let picture = "<w:r><w:drawing><a:blip r:embed=\"r1\"/></w:drawing></w:r>";
    let linked = "<w:r><w:drawing><a:blip r:link=\"r1\"/></w:drawing></w:r>";
    let vml = "<w:r><w:pict><v:shape><v:imagedata r:id=\"r1\"/></v:shape></w:pict></w:r>";
    let hyperlink = |more: &str| format!("<w:hyperlink r:id=\"r1\"{more}>{}</w:hyperlink>", t("a"));
    let external = " TargetMode=\"External\"";
    let endnotes = "<w:endnotes><w:endnote w:type=\"separator\" w:id=\"0\"><w:p/></w:endnote>\
                    <w:endnote w:id=\"2\"><w:p><w:r><w:t>End.</w:t></w:r></w:p></w:endnote></w:endnotes>";
    let nested = "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc><w:tc><w:tbl><w:tr><w:tc><w:p><w:r><w:t>b</w:t></w:r></w:p>\
                  </w:tc></w:tr></w:tbl><w:p/></w:tc></w:tr></w:tbl>";
    for (body, relations, expected) in [
        (picture.to_owned(), relation("media/a.png", ""), "![](media/a.png)"),
        (picture.to_owned(), relation("/word/media/a.png", ""), "![](word/media/a.png)"),
        (linked.to_owned(), relation("https://a.test/a.png", external), "![](https://a.test/a.png)"),
        (vml.to_owned(), relation("media/a.png", ""), "![](media/a.png)"),
        (hyperlink(""), relation("https://a.test/", external), "[a](https://a.test/)"),
        (hyperlink(" w:anchor=\"x\""), relation("https://a.test/?q=b", external), "[a](https://a.test/?q=b#x)"),
        (hyperlink(""), relation("b.pdf", external), "[a](b.pdf)"),
        (t("a") + "<w:r><w:endnoteReference w:id=\"2\"/></w:r>", String::new(), "a[^1]\n\n[^1]: End."),
        ("<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:cr/><w:t>c</w:t></w:r>".to_owned(), String::new(), "a b\\\nc"),
        (
            "<w:r><w:t>a</w:t><w:softHyphen/><w:t>b</w:t><w:lastRenderedPageBreak/><w:t>c</w:t></w:r>".to_owned(),
            String::new(),
            "abc",
        ),
        (
            format!("<w:smartTag>{}</w:smartTag><w:sdt><w:sdtContent>{}</w:sdtContent></w:sdt>", t("a"), t("b")),
            String::new(),
            "ab",
        ),
        (format!("<w:moveFrom>{}</w:moveFrom><w:moveTo>{}</w:moveTo>", t("a"), t("b")), String::new(), "b"),
        (
            "<mc:AlternateContent><mc:Choice><w:r><w:t>a</w:t></w:r></mc:Choice><mc:Fallback><w:r><w:t>b</w:t></w:r>\
             </mc:Fallback></mc:AlternateContent>"
                .to_owned(),
            String::new(),
            "a",
        ),
        (t("a") + "<w:bookmarkStart w:id=\"0\" w:name=\"x\"/><w:proofErr/>" + &t("b"), String::new(), "ab"),
    ] {
        let parts = [
            ("word/_rels/document.xml.rels", relations.as_str()),
            ("word/endnotes.xml", endnotes),
            ("word/media/a.png", "png"),
        ];
        let page = word_with(&p("", &body), &parts);
        assert_eq!(page.markdown.trim_end(), expected, "{body}");
        assert_eq!(page.warnings, Vec::<String>::new(), "{body}");
    }
    let page = word_with(nested, &[]);
    assert_eq!(page.markdown, "a\n\nb\n", "a table around a table is a layout");
    let marked = format!("\u{feff}<w:document {NAMESPACES}><w:body>{}</w:body></w:document>", p("", &t("a")));
    let archive = zip(&[("word/document.xml", marked.as_bytes())]);
    assert_eq!(convert(&document(DocumentFormat::Docx, archive)).unwrap().markdown, "a\n");
}

#[test]
fn links_and_images_in_word_footnotes_resolve() {
    let notes = "<w:footnotes><w:footnote w:id=\"2\"><w:p><w:r><w:t>See </w:t></w:r><w:hyperlink r:id=\"r1\"><w:r><w:t>the page\
                 </w:t></w:r></w:hyperlink></w:p></w:footnote></w:footnotes>";
    let relation = |to: &str| {
        format!(
            "<Relationships><Relationship Id=\"r1\" Target=\"{to}\" TargetMode=\"External\"/></Relationships>"
        )
    };
    let (of_body, of_notes) = (relation("https://a.test/body"), relation("https://a.test/note"));
    let body = p(
        "",
        "<w:hyperlink r:id=\"r1\"><w:r><w:t>b</w:t></w:r></w:hyperlink><w:r><w:footnoteReference w:id=\"2\"/></w:r>",
    );
    let page = word_with(
        &body,
        &[
            ("word/footnotes.xml", notes),
            ("word/_rels/footnotes.xml.rels", &of_notes),
            ("word/_rels/document.xml.rels", &of_body),
        ],
    );
    assert_eq!(page.markdown, "[b](https://a.test/body)[^1]\n\n[^1]: See [the page](https://a.test/note)\n");
}

#[test]
fn tracked_deletions_of_word_are_removed() {
    let mark = |mark: &str| format!("<w:pPr><w:rPr><w:{mark}/></w:rPr></w:pPr>");
    let joined = format!("<w:p>{}{}</w:p>{}", mark("del"), t("Test"), p("", &t("Test")));
    assert_eq!(word(&joined).markdown, "TestTest\n");
    let inserted = format!("<w:p>{}{}</w:p>{}", mark("ins"), t("a"), p("", &t("b")));
    assert_eq!(word(&inserted).markdown, "a\n\nb\n");
    // The last paragraph has the properties of the joined one.
    let heading = format!("<w:p>{}{}</w:p>{}", mark("del"), t("a "), p("H2", &t("b")));
    assert_eq!(word(&(p("T", &t("x")) + &heading)).markdown, "## a b\n");
    let cell = |properties: &str, text: &str| {
        format!("<w:tc><w:tcPr>{properties}</w:tcPr>{}</w:tc>", p("", &t(text)))
    };
    let row = |properties: &str, cells: &[String]| {
        format!("<w:tr><w:trPr>{properties}</w:trPr>{}</w:tr>", cells.concat())
    };
    let rows = [
        row("", &[cell("", "a"), cell("", "b"), cell("<w:cellDel/>", "x")]),
        row("<w:del/>", &[cell("", "old"), cell("", "row")]),
        row("<w:ins/>", &[cell("", "new"), cell("", "row")]),
    ];
    assert_eq!(
        word(&format!("<w:tbl>{}</w:tbl>", rows.concat())).markdown,
        "| a | b |\n| --- | --- |\n| new | row |\n"
    );
    assert_eq!(word(&(format!("<w:tbl>{}</w:tbl>", rows[1]) + &p("", &t("x")))).markdown, "x\n");
    let moved =
        "<w:moveFrom>".to_owned() + &t("gone") + "</w:moveFrom><w:moveTo>" + &t("here") + "</w:moveTo>";
    assert_eq!(word(&p("", &moved)).markdown, "here\n");
}

#[test]
fn page_breaks_of_word_separate_lines_only() {
    let broken = "<w:r><w:t>a</w:t><w:br w:type=\"page\"/><w:t>b</w:t></w:r>";
    assert_eq!(word(&p("", broken)).markdown, "a\\\nb\n");
    let alone = "<w:r><w:br w:type=\"page\"/></w:r>";
    assert_eq!(word(&(p("", &t("a")) + &p("", alone) + &p("", &t("b")))).markdown, "a\n\nb\n");
    let rule = "<w:r><w:pict><v:rect o:hr=\"t\"/></w:pict></w:r>";
    assert_eq!(word(&(p("", &t("a")) + &p("", rule))).markdown, "a\n\n***\n");
}

#[test]
fn merged_and_wrapped_cells_of_word_stay_in_their_columns() {
    let cell = |properties: &str, text: &str| {
        format!("<w:tc><w:tcPr>{properties}</w:tcPr>{}</w:tc>", p("", &t(text)))
    };
    let rows = [
        format!("<w:tr>{}{}{}</w:tr>", cell("", "a"), cell("", "b"), cell("", "c")),
        format!(
            "<w:tr><w:trPr><w:gridBefore w:val=\"1\"/></w:trPr>{}{}</w:tr>",
            cell("", "d"),
            cell("", "e")
        ),
        format!(
            "<w:tr>{}{}{}</w:tr>",
            cell("<w:hMerge w:val=\"restart\"/>", "f"),
            cell("<w:hMerge/>", "x"),
            cell("", "g")
        ),
        format!(
            "<w:sdt><w:sdtContent><w:tr><w:sdt><w:sdtContent>{}</w:sdtContent></w:sdt>{}{}</w:tr></w:sdtContent></w:sdt>",
            cell("", "h"),
            cell("", "i"),
            cell("", "j")
        ),
    ];
    assert_eq!(
        word(&format!("<w:tbl>{}</w:tbl>", rows.concat())).markdown,
        "| a | b | c |\n| --- | --- | --- |\n|   | d | e |\n| f |   | g |\n| h | i | j |\n"
    );
}

#[test]
fn omitted_content_of_word_is_reported() {
    let body = [
        p("", "<w:r><w:drawing><c:chart/></w:drawing></w:r><w:r><w:drawing><dgm:relIds/></w:drawing></w:r>"),
        p("", "<w:r><w:drawing><a:blip r:embed=\"r3\"/></w:drawing><w:commentReference/></w:r>"),
        p("", "<w:r><w:commentReference/></w:r>"),
        p("TOC1", &t("Contents")),
        "<w:altChunk/><w:sectPr><w:headerReference/></w:sectPr>".to_owned(),
    ];
    assert_eq!(
        word(&body.concat()).warnings,
        [
            "left out: a chart",
            "left out: a diagram",
            "left out: an image in the format `emf`",
            "left out: a comment (2 times)",
            "left out: a line of the table of contents",
            "left out: an embedded document",
            "left out: a page header",
        ]
    );
}

/// Returns the result of a conversion with one relation `x` to an external target.
fn with_target(body: &str, target: &str) -> Result<ConvertedPage, docs_ports::ConvertError> {
    let main = format!("<w:document {NAMESPACES}><w:body><w:p>{body}</w:p></w:body></w:document>");
    let relation = format!("<Relationship Id=\"x\" TargetMode=\"External\" Target=\"{target}\"/>");
    let relations = format!("<Relationships>{relation}</Relationships>");
    let files =
        [("word/document.xml", main.as_bytes()), ("word/_rels/document.xml.rels", relations.as_bytes())];
    convert(&document(DocumentFormat::Docx, zip(&files)))
}

fn pictures(alt: &str, count: usize) -> String {
    let blips = "<a:blip r:embed=\"x\"/>".repeat(count);
    format!("<w:r><w:drawing><wp:docPr descr=\"{alt}\"/>{blips}</w:drawing></w:r>")
}

#[test]
fn long_addresses_and_texts_are_cut_with_a_warning() {
    let link = "<w:hyperlink r:id=\"x\"><w:r><w:t>a</w:t></w:r></w:hyperlink>";
    let long = format!("https://e.test/{}", "ä".repeat(50_000));
    let field = format!(
        "<w:r><w:fldChar w:fldCharType=\"begin\"/><w:instrText>HYPERLINK \"b\" {long}</w:instrText></w:r>"
    );
    for (body, target, count) in [
        (link.repeat(3), long.as_str(), 3),
        (link.replace("r:id", "w:anchor=\"a\" r:id"), long.as_str(), 2),
        (pictures(&long, 2), "https://e.test/a.png", 2),
        (field.repeat(2), "", 2),
    ] {
        let page = with_target(&body, target).expect("a page");
        let times = if count == 1 { String::new() } else { format!(" ({count} times)") };
        let warning = format!("left out: the end of a long address or alternative text{times}");
        assert_eq!(page.warnings, [warning], "{body:.80}");
        assert!(page.markdown.len() < 100_000, "{} bytes", page.markdown.len());
    }
}

#[test]
fn repeated_values_count_towards_the_size_of_a_document() {
    let (alt, target) = ("b".repeat(8_000), format!("https://e.test/{}", "a".repeat(8_000)));
    let link = "<w:hyperlink r:id=\"x\"><w:r><w:t>a</w:t></w:r></w:hyperlink>";
    for body in [pictures(&alt, 3_000), link.repeat(3_000)] {
        let message = refused(with_target(&body, &target));
        assert!(message.starts_with("a Word document must have at most 16000000 bytes of text"), "{message}");
    }
}
