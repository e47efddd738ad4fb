//! The HTML of every block and inline element.

use docs_core::model::{BlockKind, DocumentPart, InlineKind, SpaceId};
use serde_json::json;

use crate::world::World;

/// The kind of block, its Markdown, and the expected fragments of the page.
const BLOCKS: &[(&str, &str, &[&str])] = &[
    ("paragraph", "Plain *text*.", &["<p>Plain <em>text</em>.</p>"]),
    ("heading-1", "## One", &["<h2 id=\"one\">One", "href=\"#one\""]),
    ("heading-2", "## One\n\n### Two", &["<h3 id=\"two\">Two"]),
    ("heading-3", "## One\n\n### Two\n\n#### Three", &["<h4 id=\"three\">Three"]),
    ("list-unordered", "* a\n* b", &["<ul><li>a</li><li>b</li></ul>"]),
    ("list-ordered", "3. a\n4. b", &["<ol start=\"3\"><li>a</li>"]),
    ("list-tasks", "* [x] done\n* [ ] open", &["<ul class=\"tasks\">", "type=\"checkbox\" disabled checked"]),
    ("list-item", "* a\n  * b", &["<li>", "b"]),
    ("divider", "a\n\n***\n\nb", &["<hr>"]),
    ("blockquote", "> said", &["<blockquote><p>said</p></blockquote>"]),
    ("hint", "{% hint style=\"warning\" %}\nMind.\n{% endhint %}", &["class=\"hint warning\"", "Mind."]),
    (
        "prompt",
        "{% prompt description=\"Write a test\" icon=\"robot\" %}\n```\nTest *this*.\n```\n{% endprompt %}",
        &["<strong>Write a test</strong>", "Test *this*."],
    ),
    (
        "updates",
        "{% updates format=\"full\" %}\n{% update date=\"2026-01-02\" tags=\"fix\" %}\nNew.\n{% endupdate %}\n{% endupdates %}",
        &["<strong><time datetime=\"2026-01-02\">2026-01-02</time></strong>", "<p>New.</p>"],
    ),
    (
        "update",
        "{% updates format=\"full\" %}\n{% update date=\"2026-01-03\" %}\n* a\n{% endupdate %}\n{% endupdates %}",
        &["<time datetime=\"2026-01-03\">", "<ul><li>a</li></ul>"],
    ),
    (
        "code",
        "{% code title=\"a.rs\" lineNumbers=\"true\" overflow=\"wrap\" %}\n```rust\nfn f() {}\nlet x;\n```\n{% endcode %}",
        &[
            "class=\"code wraps numbered\"",
            "<figcaption>a.rs</figcaption>",
            "language-rust",
            "<span class=\"c-k\">fn</span> <span class=\"c-f\">f</span>() {}",
        ],
    ),
    ("code-line", "```\nline\n```", &["<span class=\"line\">line"]),
    ("math", "$$\na < b\n$$", &["<math display=\"block\">", "<mi>a</mi><mo>&lt;</mo><mi>b</mi>"]),
    (
        "image",
        "<figure><img src=\"https://pictures.test/a.png\" alt=\"An A\" width=\"375\"><figcaption><p>Below</p></figcaption></figure>",
        &["src=\"https://pictures.test/a.png\"", "alt=\"An A\"", "width=\"375\"", "<figcaption>", "Below"],
    ),
    (
        "images",
        "<div align=\"left\" data-with-frame=\"true\"><figure><img src=\"https://pictures.test/a.png\" alt=\"\"></figure></div>",
        &["class=\"images left framed\""],
    ),
    (
        "file",
        "{% file src=\"/files/f\" %}\nRead it\n{% endfile %}",
        &["class=\"card\"", "notes.txt", "Read it"],
    ),
    ("drawing", "<img src=\"/files/p\" alt=\"\" class=\"gitbook-drawing\">", &["class=\"image\"", "<img"]),
    (
        "embed",
        "{% embed url=\"https://films.test/1\" %}",
        &["href=\"https://films.test/1\"", "class=\"card\""],
    ),
    (
        "content-ref",
        "{% content-ref url=\"/pages/other\" %}\n[other](/pages/other)\n{% endcontent-ref %}\n\n\
         {% content-ref url=\"broken-reference\" %}\n[The *lost* page](broken-reference)\n{% endcontent-ref %}",
        &["class=\"card\"", "Other page", "The lost page"],
    ),
    (
        "expandable",
        "<details>\n\n<summary>More</summary>\n\nInside.\n\n</details>",
        &["<details class=\"expandable\"", "<summary>More</summary>", "Inside."],
    ),
    (
        "tabs",
        "{% tabs %}\n{% tab title=\"Linux\" %}\nOne.\n{% endtab %}\n{% tab title=\"Mac\" %}\nTwo.\n{% endtab %}\n{% endtabs %}",
        &[
            "type=\"radio\" name=\"tabs-1\" id=\"tab-1-0\" checked",
            "<label for=\"tab-1-1\">Mac</label>",
            "Two.",
        ],
    ),
    (
        "tabs-item",
        "{% tabs %}\n{% tab title=\"Only\" %}\nOne.\n{% endtab %}\n{% endtabs %}",
        &["data-title=\"Only\""],
    ),
    (
        "stepper",
        "{% stepper %}\n{% step %}\n## First\n\nDo.\n{% endstep %}\n{% endstepper %}",
        &["<ol class=\"steps\">"],
    ),
    (
        "stepper-step",
        "{% stepper %}\n{% step %}\nDo.\n{% endstep %}\n{% endstepper %}",
        &["<li class=\"step\">"],
    ),
    (
        "columns",
        "{% columns %}\n{% column width=\"50%\" %}\nLeft.\n{% endcolumn %}\n{% column %}\nRight.\n{% endcolumn %}\n{% endcolumns %}",
        &["class=\"columns\"", "Right."],
    ),
    (
        "column",
        "{% columns %}\n{% column width=\"50%\" %}\nLeft.\n{% endcolumn %}\n{% column %}\nRight.\n{% endcolumn %}\n{% endcolumns %}",
        &["column w-50"],
    ),
    (
        "table",
        "| A | B |\n| - | :-: |\n| 1 | 2 |",
        &["<table>", "<th scope=\"col\"", "class=\"centered\">2</td>"],
    ),
    ("if", "{% if true %}\nShown.\n{% endif %}", &["<p>Shown.</p>"]),
    ("reusable-content", "{% include \"/reusable-content/r\" %}", &["Used again."]),
    ("integration", "{% @shapes/circle size=\"3\" %}", &["shapes / circle"]),
    (
        "swagger",
        "{% openapi src=\"https://api.test/v.yaml\" path=\"/pets\" method=\"get\" %}\n[v](https://api.test/v.yaml)\n{% endopenapi %}",
        &["GET", "/pets", "href=\"https://api.test/v.yaml\""],
    ),
    (
        "openapi-operation",
        "{% openapi-operation spec=\"pets\" path=\"/pets\" method=\"post\" %}\n[pets](https://api.test/pets)\n{% endopenapi-operation %}",
        &["POST", "/pets"],
    ),
    (
        "openapi-schemas",
        "{% openapi-schemas spec=\"pets\" schemas=\"Pet,Owner\" %}\n[pets](https://api.test/pets)\n{% endopenapi-schemas %}",
        &["Pet, Owner"],
    ),
    (
        "openapi-webhook",
        "{% openapi-webhook spec=\"pets\" name=\"born\" method=\"post\" %}\n[pets](https://api.test/pets)\n{% endopenapi-webhook %}",
        &["POST", "born"],
    ),
];

/// The same table for inline elements.
const INLINES: &[(&str, &str, &[&str])] = &[
    (
        "link",
        "[there](https://a.test \"Over\")",
        &["href=\"https://a.test\"", "rel=\"noopener\"", "title=\"Over\""],
    ),
    ("mention", "[Other page](/pages/other \"mention\")", &["class=\"mention\"", "Other page"]),
    ("emoji", "Yes :white_check_mark:", &["✅"]),
    ("icon", "<i class=\"fa-github\">:github:</i> code", &["code"]),
    (
        "inline-image",
        "An <img src=\"https://pictures.test/b.png\" alt=\"B\" data-size=\"line\"> in it",
        &["class=\"in-line\"", "alt=\"B\""],
    ),
    ("inline-math", "So $$x^2$$ is.", &["<math>", "<msup><mi>x</mi><mn>2</mn></msup>", "x^2</annotation>"]),
    ("expression", "It is <code class=\"expression\">1 + 1</code>.", &["It is 2."]),
    (
        "annotation",
        "A word[^1] here.\n\n[^1]: Its note.",
        &["class=\"annotation\"", "role=\"note\"", "Its note."],
    ),
    (
        "button",
        "<a href=\"https://a.test/go\" class=\"button primary\">Go</a>",
        &["class=\"button primary\"", "href=\"https://a.test/go\"", ">Go</a>"],
    ),
];

/// Returns the row of a block kind. The match is exhaustive, so that new kinds must be added here.
const fn block_row(kind: &BlockKind) -> &'static str {
    match kind {
        BlockKind::Paragraph { .. } => "paragraph",
        BlockKind::Heading1(_) => "heading-1",
        BlockKind::Heading2(_) => "heading-2",
        BlockKind::Heading3(_) => "heading-3",
        BlockKind::ListUnordered {} => "list-unordered",
        BlockKind::ListOrdered { .. } => "list-ordered",
        BlockKind::ListTasks {} => "list-tasks",
        BlockKind::ListItem { .. } => "list-item",
        BlockKind::Divider {} => "divider",
        BlockKind::Blockquote {} => "blockquote",
        BlockKind::Hint { .. } => "hint",
        BlockKind::Prompt { .. } => "prompt",
        BlockKind::Updates { .. } => "updates",
        BlockKind::Update { .. } => "update",
        BlockKind::Code { .. } => "code",
        BlockKind::CodeLine { .. } => "code-line",
        BlockKind::Math { .. } => "math",
        BlockKind::Images { .. } => "images",
        BlockKind::Image(_) => "image",
        BlockKind::File { .. } => "file",
        BlockKind::Drawing { .. } => "drawing",
        BlockKind::Embed { .. } => "embed",
        BlockKind::ContentRef { .. } => "content-ref",
        BlockKind::Expandable { .. } => "expandable",
        BlockKind::Tabs { .. } => "tabs",
        BlockKind::TabsItem { .. } => "tabs-item",
        BlockKind::Stepper {} => "stepper",
        BlockKind::StepperStep { .. } => "stepper-step",
        BlockKind::Columns { .. } => "columns",
        BlockKind::Column { .. } => "column",
        BlockKind::Table(_) => "table",
        BlockKind::If { .. } => "if",
        BlockKind::ReusableContent { .. } => "reusable-content",
        BlockKind::Integration(_) => "integration",
        BlockKind::Swagger { .. } => "swagger",
        BlockKind::OpenapiOperation { .. } => "openapi-operation",
        BlockKind::OpenapiSchemas { .. } => "openapi-schemas",
        BlockKind::OpenapiWebhook { .. } => "openapi-webhook",
    }
}

/// Returns the row of an inline element kind. The match is also exhaustive.
const fn inline_row(kind: &InlineKind) -> &'static str {
    match kind {
        InlineKind::Link { .. } => "link",
        InlineKind::Mention { .. } => "mention",
        InlineKind::Emoji { .. } => "emoji",
        InlineKind::Icon { .. } => "icon",
        InlineKind::InlineImage { .. } => "inline-image",
        InlineKind::InlineMath { .. } => "inline-math",
        InlineKind::Expression { .. } => "expression",
        InlineKind::Annotation {} => "annotation",
        InlineKind::Button { .. } => "button",
    }
}

/// Returns the kinds of blocks and inline elements in parsed Markdown, including nested ones.
fn kinds(markdown: &str) -> Vec<&'static str> {
    let document = docs_core::content::document::parse(markdown);
    let name = |part| match part {
        DocumentPart::Block(block) => block_row(&block.kind),
        DocumentPart::Inline(inline) => inline_row(&inline.kind),
    };
    document.parts().map(name).collect()
}

/// Creates a space with the link targets of both tables. Returns it with the Markdown of the rows.
pub(crate) async fn texts_of_all_kinds(w: &World) -> (SpaceId, Vec<(&'static str, String)>) {
    let space = w.space("Guide").await;
    let file = |name: &str, reference: &str, media: &str| json!({ "name": name, "base64": "YQ==", "contentType": media, "ref": reference });
    w.page(&space, "First", "Start.").await;
    let other = w.page(&space, "Other page", "Text.").await;
    let reusable = json!({ "operation": "insert_reusable_content", "title": "Again",
        "document": { "markdown": "Used again." } });
    let files = json!({ "operation": "insert_files",
        "files": [file("notes.txt", "f", "text/plain"), file("p.png", "p", "image/png")] });
    let uses = json!({ "operation": "insert_page", "title": "Uses",
        "document": { "markdown": "[f](/files/f) ![p](/files/p)" } });
    w.edit(&space, json!([files, reusable, uses])).await;
    let content = w.me().space(&space);
    let content = content.content().get(Default::default()).await.expect("content");
    let id = |name: &str| content.files.iter().find(|file| file.name == name).expect("a file").id.to_string();
    let named = [
        ("/pages/other", format!("/pages/{other}")),
        ("/reusable-content/r", format!("/reusable-content/{}", content.reusable_contents[0].id)),
        ("/files/f", format!("/files/{}", id("notes.txt"))),
        ("/files/p", format!("/files/{}", id("p.png"))),
    ];
    let rows = BLOCKS.iter().chain(INLINES).map(|(name, markdown, _)| {
        let markdown = named.iter().fold((*markdown).to_owned(), |text, (from, to)| text.replace(from, to));
        // The Markdown of a row must contain the kind that the row tests.
        assert!(kinds(&markdown).contains(name), "{name}: {:?}", kinds(&markdown));
        (*name, markdown)
    });
    (space, rows.collect())
}

/// Creates a site with a page for each row of both tables. Returns its path, and the paths of the pages below it.
pub(crate) async fn site_of_all_kinds(w: &World) -> (String, Vec<String>) {
    let (space, texts) = texts_of_all_kinds(w).await;
    for texts in texts.chunks(BLOCKS.len()) {
        let page = |(name, markdown): &(&str, String)| {
            json!({ "operation": "insert_page", "title": format!("Kind {name}"),
                "document": { "markdown": markdown } })
        };
        w.edit(&space, json!(texts.iter().map(page).collect::<Vec<_>>())).await;
    }
    let (_, site) = w.site("Docs", &space).await;
    (site, texts.iter().map(|(name, _)| format!("kind-{name}")).collect())
}

#[tokio::test]
async fn every_block_and_inline_kind_is_rendered() {
    let w = World::new().await;
    let (site, _) = site_of_all_kinds(&w).await;
    for (name, _, expected) in BLOCKS.iter().chain(INLINES) {
        let page = w.html(&format!("{site}kind-{name}")).await;
        let article = page.split("<article").nth(1).and_then(|rest| rest.split("</article>").next());
        let article = article.expect("an article");
        for part in *expected {
            assert!(article.contains(part), "{name} lacks {part}:\n{article}");
        }
    }
}

/// Markdown with markup that the parser preserves as text, and the resulting HTML.
const PRESERVED: &[(&str, &str)] = &[
    (
        "A word[^1].\n\n[^1]: See\n\n    | a | b |\n    | - | - |\n    | *1* | 2 |\n",
        "<span class=\"part\">See</span><span class=\"part\">a b</span>\
         <span class=\"part\">1 2</span>",
    ),
    (
        "A word[^1].\n\n[^1]:\n    ```js\n    let x;\n\n    y\n    ```\n",
        "<span class=\"part\"><code>let x;<br><br>y</code></span>",
    ),
    (
        "A word[^1].\n\n[^1]: See\n\n    1. [c](https://a.test)\n    2. d\n\n    > e\n",
        ">c</a></span><span class=\"part\">d</span><span class=\"part\">e</span>",
    ),
    ("A word[^1].\n\n[^1]: $$x_1$$\n", "<span class=\"part\"><math>"),
    (
        "A word[^1].\n\n[^1]: <details><summary>g</summary>h</details>\n",
        "<span class=\"part\">g</span><span class=\"part\">h</span>",
    ),
    ("A word[^1].\n\n[^1]: See\n\n    ![f](https://pictures.test/b.png)\n", "class=\"in-text\" src="),
    (
        "<!-- a -->\n\nBefore <!-- b --> after.\n\n<!-- of\n\nlines -->\n\nLast.",
        "<p>Before  after.</p><p>Last.</p>",
    ),
    (
        "See [`Vec`].\n\n[`Vec`]: https://a.test/vec",
        "<p>See <a href=\"https://a.test/vec\" rel=\"noopener\"><code>Vec</code></a>.</p>",
    ),
    ("* See [a].\n\n  [a]: https://a.test/a", "<a href=\"https://a.test/a\" rel=\"noopener\">a</a>"),
    ("<a id=\"limits\"></a>\n\n## Most", "<span id=\"limits\"></span><h2 id=\"most\">Most"),
    ("<a name=\"old\"></a>Text.", "<p id=\"old\">Text.</p>"),
    ("## Set up {#setup}", "<h2 id=\"setup\"><span id=\"set-up\"></span>Set up <a"),
    ("> [!WARNING]\n> Mind.", "<div class=\"hint warning\""),
    ("```rust,ignore\nfn f() {}\n```", "<code class=\"language-rust\">"),
    (
        "<div align=\"center\">\n  <b>Centred</b>\n</div>",
        "<p class=\"centered\"><strong>Centred</strong></p>",
    ),
    ("<ul>\n<li>one</li>\n</ul>\n\n<hr>", "<ul><li>one</li></ul><hr>"),
    ("| a | b |\n| - | - |\n| 1 | 2 | 3 |", "<table>"),
    ("| a |\n| - |\n| <span id=\"two\">b</span> |", "<td class=\"\"><p id=\"two\">b</p></td>"),
    ("Press <img src=\"https://a.test/x.png\" alt=\"x\" height=\"16\" /> now.", "class=\"in-line\""),
    ("www.a.test.", "<a href=\"http://www.a.test\" rel=\"noopener\">www.a.test</a>."),
    ("<b onclick=\"x()\" style=\"x\">b</b><script>x()</script>.", "<p><strong>b</strong>.</p>"),
    ("<a href=\"java\nscript:x()\" target=\"_top\">a</a>.", "<p>a.</p>"),
];

#[tokio::test]
async fn readers_see_content_instead_of_preserved_markup() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    for (at, (text, _)) in PRESERVED.iter().enumerate() {
        w.page(&space, &format!("Page {at}"), text).await;
    }
    let (_, site) = w.site("Docs", &space).await;
    for (at, (text, expected)) in PRESERVED.iter().enumerate() {
        let page = w.html(&if at == 0 { site.clone() } else { format!("{site}page-{at}") }).await;
        let article = page.split("<article").nth(1).and_then(|rest| rest.split("</article>").next());
        let article = article.expect("an article");
        assert!(article.contains(expected), "{text:?} lacks {expected}:\n{article}");
        assert!(!article.contains("&lt;") && !article.contains("]: "), "{text:?} shows markup:\n{article}");
    }
}

#[tokio::test]
async fn references_to_urls_show_their_labels() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    let other = w.page(&space, "Other page", "Text.").await;
    let text = format!(
        "## [Head](https://a.test/h \"mention\")\n\n## Two\n\n[The *API*](https://a.test/b \"mention\") \
         [b.md](x/b.md \"mention\") [#two](#two \"mention\") [x](/pages/{other} \"mention\") [#a-b](/pages/{other}#a-%C3%A4 \"mention\")\n\n\
         | a |\n| - |\n| <a href=\"https://a.test/c\" data-mention>Cell</a> |\n\n\
         {{% content-ref url=\"https://a.test/d\" %}}\n[Card](https://a.test/d)\n{{% endcontent-ref %}}\n"
    );
    w.page(&space, "Uses", &text).await;
    let (_, site) = w.site("Docs", &space).await;
    let page = w.html(&format!("{site}uses")).await;
    for part in [
        "<a class=\"mention\" href=\"https://a.test/b\" rel=\"noopener\">The API</a>",
        "</a> b.md <a class=\"mention\" href=\"#two\">#two</a>",
        ">Other page</a>",
        "#a-%C3%A4\">Other page #a-ä</a>",
        ">Cell</a>",
        "<span class=\"name\">Card</span>",
        "<a href=\"#section\" dir=\"auto\">Head</a>",
    ] {
        assert!(page.contains(part), "{part}:\n{page}");
    }
}

#[tokio::test]
async fn deeply_nested_lists_render_all_text() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    let deep: String = (0..150).map(|depth| format!("{}* item{depth}\n", "  ".repeat(depth))).collect();
    w.page(&space, "Deep", &deep).await;
    let (_, site) = w.site("Docs", &space).await;
    let page = w.html(&site).await;
    assert!(page.contains("item0") && page.contains("item149"), "all text is there");
}

#[tokio::test]
async fn full_width_blocks_have_the_full_class() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    let picture = "<figure><img src=\"https://pictures.test/a.png\" alt=\"\"></figure>";
    let table = |more: &str| {
        format!(
            "<table{more} data-full-width=\"true\"><thead><tr><th>A</th></tr></thead><tbody><tr><td>1</td></tr></tbody></table>"
        )
    };
    let rows = [
        ("{% code fullWidth=\"true\" %}\n```js\na\n```\n{% endcode %}".to_owned(), "class=\"code full\""),
        (
            format!("<div data-full-width=\"true\">{picture}{picture}</div>"),
            "class=\"images center full\"",
        ),
        ("{% embed url=\"https://films.test/1\" fullWidth=\"true\" %}".to_owned(), "<div class=\"full\"><figure"),
        (
            "{% tabs fullWidth=\"true\" %}\n{% tab title=\"A\" %}\na\n{% endtab %}\n{% endtabs %}".to_owned(),
            "class=\"tabs full\"",
        ),
        (
            "{% columns fullWidth=\"true\" %}\n{% column %}\na\n{% endcolumn %}\n\n{% column %}\nb\n{% endcolumn %}\n{% endcolumns %}"
                .to_owned(),
            "class=\"columns full\"",
        ),
        (table(""), "class=\"table full\""),
        (table(" data-view=\"cards\""), "class=\"cards medium full\""),
        ("{% @shapes/circle size=\"3\" fullWidth=\"true\" %}".to_owned(), "<div class=\"full\"><figure"),
        (
            "{% openapi src=\"https://x.y/a.yaml\" path=\"/p\" method=\"get\" fullWidth=\"true\" %}\n\
             [https://x.y/a.yaml](https://x.y/a.yaml)\n{% endopenapi %}"
                .to_owned(),
            "<div class=\"full\"><figure",
        ),
    ];
    w.page(&space, "First", "Start.").await;
    let pages = rows.iter().enumerate().map(|(at, (markdown, _))| {
        json!({ "operation": "insert_page", "title": format!("Row {at}"), "document": { "markdown": markdown } })
    });
    w.edit(&space, pages.collect()).await;
    let (_, site) = w.site("Docs", &space).await;
    for (at, (markdown, expected)) in rows.iter().enumerate() {
        let page = w.html(&format!("{site}row-{at}")).await;
        assert!(page.contains(expected), "{markdown}:\n{page}");
    }
}

#[tokio::test]
async fn mermaid_diagrams_are_shown_as_source() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    w.page(&space, "Fence", "```mermaid\ngraph TD\n  a --> b\n```").await;
    w.page(&space, "Block", "{% @mermaid/diagram content=\"graph TD; a --> b\" %}").await;
    let (_, site) = w.site("Docs", &space).await;
    for (page, line) in [("", "  a --&gt; b\n</span>"), ("block", "graph TD; a --&gt; b\n</span>")] {
        let shown = w.html(&format!("{site}{page}")).await;
        assert!(shown.contains("language-mermaid") && shown.contains(line), "{shown}");
    }
}
