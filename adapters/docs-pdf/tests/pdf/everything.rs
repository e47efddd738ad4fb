//! A book that contains every kind of block, inline element and mark.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, OnceLock},
};

use docs_model::{ContentRef, Document};
use docs_ports::{Book, BookLink, BookPage};
use serde_json::{Value, json};

use crate::{id, page, paragraph, read::Read, set};

fn t(text: &str) -> Value {
    marked(text, json!([]))
}

fn marked(text: &str, marks: Value) -> Value {
    json!({ "object": "text", "leaves": [{ "object": "leaf", "text": text, "marks": marks }] })
}

fn mark(text: &str, kind: &str) -> Value {
    marked(text, json!([{ "object": "mark", "type": kind }]))
}

fn inline(kind: &str, data: Value, nodes: Vec<Value>) -> Value {
    json!({ "object": "inline", "type": kind, "data": data, "nodes": nodes })
}

fn block(kind: &str, data: Value, nodes: Vec<Value>) -> Value {
    json!({ "object": "block", "type": kind, "data": data, "nodes": nodes })
}

fn p(text: &str) -> Value {
    block("paragraph", json!({}), vec![t(text)])
}

fn fragment(name: &str, nodes: Vec<Value>) -> Value {
    json!({ "object": "fragment", "fragment": name, "nodes": nodes })
}

fn with(mut block: Value, fragments: Vec<Value>) -> Value {
    block["fragments"] = fragments.into();
    block
}

fn url(url: &str) -> Value {
    json!({ "kind": "url", "url": url })
}

/// Returns text formatted with every mark.
fn marks() -> Vec<Value> {
    let colour =
        json!([{ "object": "mark", "type": "color", "data": { "text": "red", "background": "yellow" } }]);
    vec![
        t("Plain, "),
        mark("bold", "bold"),
        t(", "),
        mark("italic", "italic"),
        t(", "),
        mark("struck", "strikethrough"),
        t(", "),
        mark("let code = 1;", "code"),
        t(", "),
        mark("Ctrl", "keyboard"),
        t(", x"),
        mark("raised", "superscript"),
        t(", x"),
        mark("lowered", "subscript"),
        t(", "),
        marked("coloured", colour),
        t(", "),
        marked("bold italic code", json!([{ "type": "bold" }, { "type": "italic" }, { "type": "code" }])),
        t("."),
    ]
}

/// Returns all inline elements.
fn elements() -> Vec<Value> {
    let link = |target: Value, text: &str| inline("link", json!({ "ref": target }), vec![t(text)]);
    vec![
        link(url("https://example.com/away"), "an address"),
        t(", "),
        link(json!({ "kind": "page", "page": "p2" }), "the second page"),
        t(", "),
        link(json!({ "kind": "anchor", "anchor": "a-place", "page": "p2" }), "a place on it"),
        t(", "),
        link(json!({ "kind": "anchor", "anchor": "lists" }), "a place here"),
        t(", "),
        link(json!({ "kind": "page", "page": "p9" }), "a page elsewhere"),
        t(", "),
        inline("mention", json!({ "ref": { "kind": "page", "page": "p2" } }), vec![]),
        t(", "),
        inline("mention", json!({ "ref": { "kind": "user", "user": "ada" } }), vec![]),
        t(", "),
        inline("emoji", json!({ "code": "1f680" }), vec![]),
        inline("icon", json!({ "icon": "star" }), vec![]),
        t(", "),
        inline("inline-image", json!({ "ref": { "kind": "file", "file": "png" }, "size": "line" }), vec![]),
        inline(
            "inline-image",
            json!({ "ref": { "kind": "file", "file": "none" }, "alt": "inline alt" }),
            vec![],
        ),
        t(", "),
        inline("inline-math", json!({ "formula": "a^2 + b^2" }), vec![]),
        t(", "),
        inline("inline-math", json!({ "formula": "\\nonsense{x}" }), vec![]),
        t(", "),
        inline("expression", json!({ "expression": "space.vars.version" }), vec![]),
        t(", "),
        with(
            inline("annotation", json!({}), vec![t("annotated")]),
            vec![fragment("annotation-body", vec![p("What the note says.")])],
        ),
        t(", "),
        inline(
            "button",
            json!({ "label": "Start", "kind": "primary", "ref": url("https://example.com/start") }),
            vec![],
        ),
        t(" "),
        inline("button", json!({ "label": "Not yet", "kind": "secondary" }), vec![]),
    ]
}

fn texts() -> Vec<Value> {
    vec![
        block("heading-1", json!({}), vec![t("Text")]),
        block("paragraph", json!({}), marks()),
        block("paragraph", json!({ "align": "center" }), vec![t("In the middle.")]),
        block("paragraph", json!({}), elements()),
        p(&format!(
            "A long word: {} and an address https://example.com/{}",
            "w".repeat(300),
            "path/".repeat(60)
        )),
    ]
}

fn lists() -> Vec<Value> {
    let item = |text: &str, more: Vec<Value>| {
        block("list-item", json!({}), std::iter::once(p(text)).chain(more).collect())
    };
    let inner = block("list-unordered", json!({}), vec![item("inner item", vec![])]);
    let task = |text: &str, checked: bool| block("list-item", json!({ "checked": checked }), vec![p(text)]);
    vec![
        block("heading-2", json!({ "id": "lists" }), vec![t("Lists")]),
        block(
            "list-unordered",
            json!({}),
            vec![item("first item", vec![inner]), item("second item", vec![])],
        ),
        block("list-ordered", json!({ "start": 7 }), vec![item("seventh", vec![]), item("eighth", vec![])]),
        block("list-tasks", json!({}), vec![task("done task", true), task("open task", false)]),
        block("divider", json!({}), vec![]),
        block("blockquote", json!({}), vec![p("A quotation.")]),
    ]
}

fn boxes() -> Vec<Value> {
    let hint = |style: &str| block("hint", json!({ "style": style }), vec![p(&format!("A hint: {style}."))]);
    let line = |text: &str, on: bool| block("code-line", json!({ "highlighted": on }), vec![t(text)]);
    let lines = vec![
        line("fn main() {", false),
        line("\tlet shown = \"  two  spaces  \";", true),
        line("", false),
        line(&format!("    let long = \"{}\";", "0123456789".repeat(20)), false),
        line("}", false),
    ];
    let code = json!({ "title": "src/main.rs", "syntax": "rust", "lineNumbers": true });
    let tab = |title: &str| block("tabs-item", json!({ "title": title }), vec![p(&format!("In {title}."))]);
    let step = |title: &str| {
        block("stepper-step", json!({}), vec![block("heading-3", json!({}), vec![t(title)]), p("Do it.")])
    };
    let column = |width: Value, text: &str| block("column", json!({ "width": width }), vec![p(text)]);
    vec![
        block("heading-2", json!({}), vec![t("Boxes")]),
        hint("info"),
        hint("warning"),
        hint("danger"),
        hint("success"),
        block("code", code, lines.clone()),
        block("code", json!({}), lines),
        block("math", json!({ "formula": r"x = \frac{-b \pm \sqrt{b^2 - 4ac}}{2a}" }), vec![]),
        block(
            "math",
            json!({ "formula": r"\begin{pmatrix} 1 & 0 \\ 0 & 1 \end{pmatrix} \sum_{i=0}^{n} \vec{x}_i = \begin{cases} 1 & \text{if } x > 0 \\ 0 & \text{otherwise} \end{cases}" }),
            vec![],
        ),
        block(
            "math",
            json!({ "formula": r"a &= b + c \\ &= d \left( \frac{1}{2} \right)^{\mathbb{R}} \overline{AB} \underbrace{x+y}_{2} \binom{n}{k} \lim_{x \to 0} \sqrt[3]{x} \boxed{q}" }),
            vec![],
        ),
        block("math", json!({ "formula": "x + ".repeat(80) + "y" }), vec![]),
        block("math", json!({ "formula": r"\nonsense" }), vec![]),
        with(
            block("expandable", json!({}), vec![]),
            vec![
                fragment("expandable-title", vec![p("What opens")]),
                fragment("expandable-body", vec![p("What was hidden.")]),
            ],
        ),
        block("tabs", json!({}), vec![tab("Linux"), tab("Windows")]),
        block("stepper", json!({}), vec![step("First step"), step("Second step")]),
        block(
            "columns",
            json!({}),
            vec![
                column(json!({ "unit": "%", "value": 30 }), "Left column."),
                column(json!(null), "Right column."),
            ],
        ),
        block("if", json!({ "expression": "visitor.claims.beta" }), vec![p("For some only.")]),
    ]
}

fn pictures() -> Vec<Value> {
    let image = |file: &str, more: Value| {
        let mut data = json!({ "ref": { "kind": "file", "file": file }, "alt": format!("alt of {file}") });
        data.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        with(block("image", data, vec![]), vec![fragment("caption", vec![p(&format!("Caption of {file}."))])])
    };
    vec![
        block("heading-2", json!({}), vec![t("Pictures")]),
        block("images", json!({ "withFrame": true }), vec![image("png", json!({ "width": 100 }))]),
        block("images", json!({ "align": "left" }), vec![image("png", json!({})), image("svg", json!({}))]),
        block("images", json!({}), vec![image("wide", json!({}))]),
        block("images", json!({}), vec![image("gone", json!({}))]),
        block("drawing", json!({ "ref": { "kind": "file", "file": "svg" } }), vec![]),
        with(
            block("file", json!({ "ref": { "kind": "file", "file": "report" } }), vec![]),
            vec![fragment("caption", vec![p("The caption of a file.")])],
        ),
        block("embed", json!({ "url": "https://example.com/video" }), vec![]),
        block("content-ref", json!({ "ref": { "kind": "page", "page": "p2" } }), vec![]),
        block(
            "reusable-content",
            json!({ "ref": { "kind": "reusable-content", "reusableContent": "r1" } }),
            vec![],
        ),
        block(
            "reusable-content",
            json!({ "ref": { "kind": "reusable-content", "reusableContent": "r2" } }),
            vec![],
        ),
        block("integration", json!({ "integration": "mermaid", "block": "diagram", "props": {} }), vec![]),
        block(
            "swagger",
            json!({ "path": "/pets", "method": "get", "ref": url("https://example.com/api.yaml") }),
            vec![],
        ),
        block(
            "openapi-operation",
            json!({ "path": "/pets", "method": "post", "ref": { "kind": "openapi", "spec": "petstore" } }),
            vec![],
        ),
        block(
            "openapi-schemas",
            json!({ "schemas": ["Pet", "Owner"], "ref": { "kind": "openapi", "spec": "petstore" } }),
            vec![],
        ),
        block(
            "openapi-webhook",
            json!({ "name": "adopted", "method": "post", "ref": { "kind": "openapi", "spec": "petstore" } }),
            vec![],
        ),
    ]
}

fn table(columns: usize, cards: bool) -> Value {
    let names: Vec<String> = (0..columns).map(|at| format!("c{at}")).collect();
    let mut definition = serde_json::Map::new();
    for name in &names {
        let column = json!({ "id": name, "title": format!("Title of {name}"), "type": "text", "textAlignment": "left" });
        definition.insert(name.clone(), column);
    }
    let mut add = |id: &str, more: Value| {
        let mut column = json!({ "id": id, "title": id });
        column.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        definition.insert(id.to_owned(), column);
    };
    add("number", json!({ "type": "number" }));
    add("check", json!({ "type": "checkbox" }));
    add("rating", json!({ "type": "rating", "max": 5 }));
    add(
        "choice",
        json!({ "type": "select", "multiple": true, "options": [{ "value": "o1", "label": "Option one", "color": "red" }] }),
    );
    add("files", json!({ "type": "files" }));
    add("users", json!({ "type": "users", "multiple": true }));
    add("ref", json!({ "type": "content-ref" }));
    add("image", json!({ "type": "image" }));
    let more = ["number", "check", "rating", "choice", "files", "users", "ref", "image"].map(str::to_owned);
    let shown: Vec<String> =
        names.iter().cloned().chain(if columns == 2 { more.to_vec() } else { Vec::new() }).collect();
    let (mut records, mut fragments) = (serde_json::Map::new(), Vec::new());
    for row in 0..4 {
        let mut values = serde_json::Map::new();
        for name in &names {
            let fragment_name = format!("f{row}-{name}");
            let said = if row == 3 {
                "long-identifier_without.spaces".repeat(2)
            } else {
                format!("cell {row} {name}")
            };
            fragments.push(fragment(&fragment_name, vec![p(&said)]));
            values.insert(name.clone(), fragment_name.into());
        }
        values.extend(json!({
            "number": 42.5, "check": row % 2 == 0, "rating": 3, "choice": ["o1"], "files": ["report"], "users": ["ada"],
            "ref": { "kind": "page", "page": "p2" }, "image": { "ref": { "kind": "file", "file": "png" } },
        }).as_object().expect("an object").clone());
        records.insert(format!("r{row}"), json!({ "orderIndex": row.to_string(), "values": values }));
    }
    let view = if cards {
        json!({ "type": "cards", "cardSize": "medium", "columns": shown, "targetDefinition": "ref", "coverDefinition": "image" })
    } else {
        json!({ "type": "grid", "columns": shown, "hideHeader": false })
    };
    with(
        block("table", json!({ "view": view, "records": records, "definition": definition }), vec![]),
        fragments,
    )
}

fn document(nodes: Vec<Value>) -> Arc<Document> {
    let value = json!({ "object": "document", "data": {}, "nodes": nodes });
    Arc::new(serde_json::from_value(value).expect("a document"))
}

/// Creates a single-coloured PNG image.
fn png(width: u32, height: u32) -> Vec<u8> {
    let crc = |bytes: &[u8]| {
        !bytes.iter().fold(!0_u32, |crc, byte| {
            (0..8)
                .fold(crc ^ u32::from(*byte), |c, _| if c & 1 == 1 { 0xedb8_8320 ^ (c >> 1) } else { c >> 1 })
        })
    };
    let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut chunk = |name: &[u8], data: &[u8]| {
        out.extend(u32::try_from(data.len()).expect("small").to_be_bytes());
        let all = [name, data].concat();
        out.extend(&all);
        out.extend(crc(&all).to_be_bytes());
    };
    chunk(b"IHDR", &[&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 0, 0, 0, 0]].concat());
    // Grey rows, stored uncompressed.
    let line = vec![0x99; width as usize + 1];
    let raw: Vec<u8> = (0..height)
        .flat_map(|_| {
            let mut l = line.clone();
            l[0] = 0;
            l
        })
        .collect();
    let mut stream = vec![0x78, 0x01];
    let blocks: Vec<&[u8]> = raw.chunks(60_000).collect();
    for (at, part) in blocks.iter().enumerate() {
        stream.push(u8::from(at + 1 == blocks.len()));
        let length = u16::try_from(part.len()).expect("small");
        stream.extend(length.to_le_bytes());
        stream.extend((!length).to_le_bytes());
        stream.extend(*part);
    }
    let (a, b) = raw.iter().fold((1_u32, 0_u32), |(a, b), byte| {
        let a = (a + u32::from(*byte)) % 65_521;
        (a, (b + a) % 65_521)
    });
    stream.extend((b << 16 | a).to_be_bytes());
    chunk(b"IDAT", &stream);
    chunk(b"IEND", &[]);
    out
}

fn everything() -> Book {
    let all = [texts(), lists(), boxes(), pictures()].concat();
    let tables = vec![
        block("heading-1", json!({ "id": "a-place" }), vec![t("Tables")]),
        table(2, false),
        table(4, false),
        table(12, false),
        table(24, false),
        table(1, true),
    ];
    let file = |name: &str| ContentRef::File { file: id(name) };
    let svg = "<svg xmlns='http://www.w3.org/2000/svg' width='120' height='60'><rect width='120' height='60' fill='teal'/></svg>";
    let link = |title: &str, url: &str| BookLink { title: Some(title.to_owned()), url: Some(url.to_owned()) };
    Book {
        title: "Everything there is".to_owned(),
        subtitle: Some("#3 Every kind of block".to_owned()),
        pages: vec![
            BookPage {
                description: Some("All kinds.".to_owned()),
                document: Some(document(all)),
                ..page("p1", "Start 🚀", vec![])
            },
            BookPage { document: None, ..page("g1", "A group", vec![]) },
            BookPage { depth: 1, document: Some(document(tables)), ..page("p2", "Second page", vec![]) },
            BookPage { depth: 2, ..page("p3", "Third page", vec![paragraph("The end.")]) },
        ],
        images: BTreeMap::from([
            (file("png"), png(80, 40).into()),
            (file("wide"), png(2_000, 3_000).into()),
            (file("svg"), svg.into()),
            (file("gone"), "no picture".into()),
        ]),
        links: BTreeMap::from([
            (file("report"), link("report.pdf", "https://example.com/report.pdf")),
            (ContentRef::Page { page: id("p9"), space: None }, link("Page nine", "https://example.com/nine")),
            (
                ContentRef::User { user: id("ada") },
                BookLink { title: Some("Ada Lovelace".to_owned()), url: None },
            ),
        ]),
        reusables: BTreeMap::from([(
            id("r1"),
            document(vec![
                p("What is reused."),
                block(
                    "reusable-content",
                    json!({ "ref": { "kind": "reusable-content", "reusableContent": "r1" } }),
                    vec![],
                ),
            ]),
        )]),
        ..Book::default()
    }
}

fn shown() -> &'static Read {
    static READ: OnceLock<Read> = OnceLock::new();
    READ.get_or_init(|| set("everything", &everything()))
}

/// Strings that the book must contain at least once.
const SAID: &[&str] = &[
    "Everything there is",
    "#3 Every kind of block",
    "All kinds.",
    "bold",
    "italic",
    "struck",
    "let code = 1;",
    "Ctrl",
    "raised",
    "lowered",
    "coloured",
    "bold italic code",
    "In the middle.",
    "an address",
    "a page elsewhere",
    "Ada Lovelace",
    "🚀",
    "inline alt",
    "\\nonsense{x}",
    "{{ space.vars.version }}",
    "annotated",
    "What the note says.",
    "Not yet",
    "first item",
    "inner item",
    "7.",
    "eighth",
    "done task",
    "A quotation.",
    "A hint: danger.",
    "src/main.rs",
    "  two  spaces  ",
    "otherwise",
    "What opens",
    "What was hidden.",
    "Linux",
    "In Windows.",
    "Second step",
    "Left column.",
    "For some only.",
    "Caption of png.",
    "alt of gone",
    "Caption of gone.",
    "report.pdf",
    "The caption of a file.",
    "https://example.com/video",
    "What is reused.",
    "mermaid / diagram",
    "GET /pets",
    "POST /pets",
    "Pet, Owner",
    "POST adopted",
    "Title of c1",
    "cell 2 c3",
    "42.5",
    "★★★☆☆",
    "Option one",
    "Title of c23",
    "cell 0 c23",
    "A group",
    "Third page",
    "The end.",
];

#[test]
fn text_of_every_block_kind_is_in_the_file() {
    for text in SAID {
        assert!(shown().says(text), "{text}");
    }
    assert!(shown().says(&"w".repeat(300)) && shown().says(&"0123456789".repeat(20)), "nothing is cut off");
    assert!(shown().says(&"path/".repeat(60)));
    assert_eq!(shown().sheets.concat().matches("Whatisreused.").count(), 1, "it does not hold itself");
}

#[test]
fn the_outline_has_all_pages_and_headings() {
    let outline = shown().outline();
    let outline: Vec<(usize, &str)> = outline.iter().map(|(level, title)| (*level, title.as_str())).collect();
    let expected = [
        (1, "Start 🚀"),
        (2, "Text"),
        (3, "Lists"),
        (3, "Boxes"),
        (4, "First step"),
        (4, "Second step"),
        (3, "Pictures"),
        (1, "A group"),
        (2, "Second page"),
        (3, "Tables"),
        (3, "Third page"),
    ];
    assert_eq!(outline, expected);
}

#[test]
fn internal_links_are_jumps_and_others_are_web_urls() {
    let expected: BTreeSet<String> = [
        "https://example.com/away",
        "https://example.com/nine",
        "https://example.com/start",
        "https://example.com/report.pdf",
        "https://example.com/video",
        "https://example.com/api.yaml",
    ]
    .map(str::to_owned)
    .into();
    assert_eq!(shown().addresses(), expected);
    // Links in the table of contents, links to the second page and its anchors, and links to anchors on this page.
    assert!(shown().jumps() >= 4 + 5, "{}", shown().jumps());
}

#[test]
fn sheet_numbers_match_the_table_of_contents() {
    let sheets = shown().sheets.len();
    let contents = &shown().sheets[1];
    for title in ["Start🚀", "Agroup", "Secondpage", "Thirdpage"] {
        assert!(contents.contains(title), "{contents}");
    }
    let third = shown().sheet("The end.").expect("shown");
    assert!(contents.ends_with(&format!("{third}Everythingthereis2/{sheets}")), "{contents}");
    assert!(shown().sheets[third - 1].ends_with(&format!("{third}/{sheets}")));
    assert!(!shown().sheets[0].contains('/'), "the title has no number: {}", shown().sheets[0]);
}

#[test]
fn pictures_are_embedded_in_the_file() {
    assert!(shown().pictures() >= 2);
}

#[test]
fn rendering_is_deterministic() {
    let typesetter = docs_pdf::Typesetter::default();
    let small = crate::book("Twice", vec![page("p1", "A page", vec![paragraph("x")])]);
    assert_eq!(typesetter.set(&small), typesetter.set(&small));
}

#[test]
fn table_of_contents_of_a_single_page_lists_its_headings() {
    let text = vec![crate::heading("First heading"), crate::heading("Second heading")];
    let read = set("one-page", &crate::book("One", vec![page("p1", "A page", text)]));
    assert!(read.sheets[1].contains("Secondheading"), "{}", read.sheets[1]);
}
