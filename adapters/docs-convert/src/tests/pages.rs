//! Conversion of HTML and Markdown pages.

use docs_markup::markdown::parse_page;
use docs_ports::{ConvertError, Document, DocumentFormat, FoundFile};

use super::{at, convert, document, html};

/// Returns the Markdown of a page body.
fn body(text: &str) -> String {
    html(&format!("<body>{text}</body>")).markdown
}

#[test]
fn html_blocks_convert_to_markdown() {
    for (given, expected) in [
        ("<p>One</p><p>Two\n  lines</p>", "One\n\nTwo lines\n"),
        ("<p>a<br>b</p>", "a\\\nb\n"),
        ("<div>a<div>b</div>c</div>", "a\n\nb\n\nc\n"),
        ("<p>x</p><hr><p>y</p>", "x\n\n***\n\ny\n"),
        ("<ul><li>a<li>b</ul>", "* a\n* b\n"),
        ("<ol start=3><li>a</li><li>b</li></ol>", "3. a\n4. b\n"),
        ("<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>", "* a\n  * b\n* c\n"),
        ("<ul><li>a</li><ul><li>b</li></ul></ul>", "* a\n  * b\n"),
        ("<ul><li><p>a</p><p>b</p></li><li>c</li></ul>", "* a\n\n  b\n\n* c\n"),
        ("<ol><li>a<pre>x\n  y</pre></li></ol>", "1. a\n\n   ```\n   x\n     y\n   ```\n"),
        (
            "<ul><li><input type=checkbox checked> done<li><input type=checkbox> open</ul>",
            "* [x] done\n* [ ] open\n",
        ),
        ("<ul><li>a</ul><ul><li>b</ul>", "* a\n\n<!-- -->\n\n* b\n"),
        ("<blockquote><p>a</p><p>b</p></blockquote>", "> a\n>\n> b\n"),
        ("<pre><code class=\"language-rust\">let a = 1;\n</code></pre>", "```rust\nlet a = 1;\n```\n"),
        ("<div class=\"highlight-python\"><div><pre>x</pre></div></div>", "```python\nx\n```\n"),
        ("<pre data-lang=js>```</pre>", "````js\n```\n````\n"),
        ("<pre>a<br>b</pre>", "```\na\nb\n```\n"),
        ("<dl><dt>Term<dd>What it is</dl>", "**Term**\n\nWhat it is\n"),
        (
            "<details><summary>More <b>here</b></summary><p>Inside</p></details>",
            "<details>\n\n<summary>More here</summary>\n\nInside\n\n</details>\n",
        ),
        (
            "<div class=\"admonition warning\"><p class=\"admonition-title\">Warning</p><p>Hot.</p></div>",
            "{% hint style=\"warning\" %}\nHot.\n{% endhint %}\n",
        ),
        (
            "<aside class=\"callout callout-tip\"><p>Try it.</p></aside>",
            "{% hint style=\"success\" %}\nTry it.\n{% endhint %}\n",
        ),
        (
            "<iframe src=\"https://video.example/x\"></iframe>",
            "{% embed url=\"https://video.example/x\" %}\n",
        ),
        ("<figure><img src=a.png alt=A></figure>", "![A](a.png)\n"),
        (
            "<figure><img src=a.png alt='A \"b\"'><figcaption>What <i>it</i> shows</figcaption></figure>",
            "<figure><img src=\"a.png\" alt=\"A &quot;b&quot;\"><figcaption><p>What it shows</p></figcaption></figure>\n",
        ),
    ] {
        assert_eq!(body(given), expected, "{given}");
    }
}

#[test]
fn inline_html_converts_to_markdown() {
    for (given, expected) in [
        ("<b>bold</b>, <i>italic</i>, <s>gone</s>", "**bold**, *italic*, ~~gone~~"),
        ("<b>a <i>b</i></b> c", "**a *b*** c"),
        ("a<b> b </b>c", "a **b** c"),
        ("<b>a</b><i>b</i>", "**a**<em>b</em>"),
        ("a<b>\"b\"</b>c", "a<strong>\"b\"</strong>c"),
        ("<code>a`b</code> <code>x_y</code>", "``a`b`` `x_y`"),
        ("Press <kbd>Ctrl</kbd>", "Press <kbd>Ctrl</kbd>"),
        ("x<sup>2</sup>", "x<sup>2</sup>"),
        ("<a href='b.html'>a <b>b</b></a>.", "[a **b**](b.html)."),
        ("see <a href='x'> y </a>now", "see [y](x) now"),
        ("wow!<a href=x>y</a>", "wow\\![y](x)"),
        ("<a href='x(1).html'>y</a>", "[y](x%281%29.html)"),
        ("<a href='javascript:alert(1)'>y</a>", "y"),
        ("<a href='JaVa\nScript:alert(1)'>y</a>", "y"),
        ("<a href='data:text/html,x'>y</a>", "y"),
        ("<a href='mailto:a@b.test'>y</a>", "[y](mailto:a@b.test)"),
        ("<a href=x></a>z", "z"),
        ("<a href=x><img src=y.png alt=z></a>", "[![z](y.png)](x)"),
        ("<a href=x><div><p>card</p><p>text</p></div></a>", "[card text](x)"),
        ("<img src='data:image/png;base64,AAAA' alt='A'>", "A"),
        ("<img src='data:image/gif;base64,AA' data-src='b.png' alt=''>", "![](b.png)"),
        ("1. no list", "1\\. no list"),
        (
            "# no heading *no* _no_ [no](no) &amp;lt; &lt;b&gt;",
            "\\# no heading \\*no\\* \\_no\\_ \\[no\\](no) \\&lt; \\<b>",
        ),
        ("{% hint %}", "\\{% hint %}"),
        ("snake_case_name", "snake_case_name"),
        ("a&nbsp;b", "a b"),
        ("<script>alert(1)</script><style>p{}</style>text", "text"),
    ] {
        assert_eq!(body(given), format!("{expected}\n"), "{given}");
    }
}

#[test]
fn html_tables_convert_to_markdown() {
    for (given, expected) in [
        (
            "<table><thead><tr><th>A<th>B</thead><tbody><tr><td>1|2<td><code>a|b</code></tbody></table>",
            "| A | B |\n| --- | --- |\n| 1\\|2 | `a\\|b` |\n",
        ),
        ("<table><tr><td>1<td>2<tr><td>3<td>4</table>", "|   |   |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |\n"),
        (
            "<table><tr><th>A<th>B<tr><td colspan=2>wide<tr><td rowspan=2>x<td>y<tr><td>z</table>",
            "| A | B |\n| --- | --- |\n| wide |   |\n| x | y |\n|   | z |\n",
        ),
        (
            "<table><tr><th>A<th>B<tr><td><p>a</p><p>b</p><td><ul><li>c<li>d</ul></table>",
            "| A | B |\n| --- | --- |\n| a<br>b | • c<br>• d |\n",
        ),
        ("<table><tr><td><h2>Layout</h2><td><p>b</p></table>", "## Layout\n\nb\n"),
        ("<table><tr><td>only</table>", "only\n"),
        ("<table></table>x", "x\n"),
    ] {
        assert_eq!(body(given), expected, "{given}");
    }
}

#[test]
fn main_content_is_extracted_without_navigation() {
    let page = html(
        "<!doctype html><html><head><title>Page &ndash; Site</title><meta name=x></head><body>\
         <header><a href=/>Site</a></header><nav><ul><li>Menu</ul></nav>\
         <main><nav class=breadcrumbs>Home</nav><article><header><h1>Title<a class=headerlink href=#t>¶</a></h1></header>\
         <p>Text</p><h2 id=part>Part <a href=#part>#</a></h2><p>More</p><div class=edit-page>Edit</div></article>\
         <aside>On this page</aside></main><footer>Imprint</footer><script>x()</script></body></html>",
    );
    assert_eq!((page.title.as_str(), page.markdown.as_str()), ("Title", "Text\n\n## Part\n\nMore\n"));
    for (given, title, markdown) in [
        ("<div role=main><p>x</p></div><p>y</p>", "the name", "x\n"),
        ("<article>a</article><article>b</article>", "the name", "a\n\nb\n"),
        ("<main></main><p>y</p>", "the name", "y\n"),
        ("<title>From the head</title><p>x</p>", "From the head", "x\n"),
        ("<title>  </title><meta property=og:title content='Shared'><p>x</p>", "Shared", "x\n"),
        ("<p hidden>no</p><p aria-hidden=true>no</p><p>yes</p>", "the name", "yes\n"),
        ("<noscript><p>no</p></noscript><p>yes</p>", "the name", "yes\n"),
        ("just text", "the name", "just text\n"),
        ("", "the name", ""),
    ] {
        let page = html(given);
        assert_eq!((page.title.as_str(), page.markdown.as_str()), (title, markdown), "{given}");
    }
}

#[test]
fn headings_are_demoted_below_the_title() {
    for (given, expected) in [
        ("<h1>T</h1><h2>a</h2><h3>b</h3><h6>c</h6>", "## a\n\n### b\n\n###### c\n"),
        ("<h1>T</h1><h1>a</h1><h2>b</h2>", "## a\n\n### b\n"),
        ("<h2>a</h2>", "## a\n"),
        ("<h1>T</h1><h2 id=other>a b</h2>", "## a b <a href=\"#other\" id=\"other\"></a>\n"),
        ("<h1>T</h1><h2 id=a-b>a b</h2>", "## a b\n"),
        ("<h1>T</h1><h2>a <code>b</code></h2>", "## a `b`\n"),
    ] {
        assert_eq!(body(given), expected, "{given}");
    }
}

#[test]
fn converted_pages_have_no_front_matter_or_second_title() {
    for given in ["<hr><p>a: b</p><hr>", "<h1>T</h1><h1>U</h1>", "<p># x</p>", "<p>---<br>a: b<br>---</p>"] {
        let markdown = body(given);
        let page = parse_page(&markdown);
        assert!(page.yaml.is_none() && page.heading.is_none(), "{given}: {markdown}");
    }
}

#[test]
fn links_and_images_resolve_to_absolute_urls() {
    let page = at(
        "https://a.test/docs/start/",
        DocumentFormat::Html,
        "<a href='../more#x'>a</a> <a href='/top?q=1'>b</a> <a href='#here'>c</a> <a href='//b.test/'>d</a> \
         <a href='../more#y'>e</a> <img src='i m g.png#x'> <img src='//cdn.test/a%20b.svg'> <img src='i m g.png'>",
    );
    assert_eq!(
        page.markdown,
        "[a](https://a.test/docs/more#x) [b](https://a.test/top?q=1) [c](#here) [d](https://b.test/) \
         [e](https://a.test/docs/more#y) ![](https://a.test/docs/start/i%20m%20g.png) ![](https://cdn.test/a%20b.svg) \
         ![](https://a.test/docs/start/i%20m%20g.png)\n"
    );
    assert_eq!(page.links, ["https://a.test/docs/more", "https://a.test/top?q=1", "https://b.test/"]);
    let file = |url: &str, name: &str| FoundFile { url: url.to_owned(), name: name.to_owned() };
    assert_eq!(
        page.images,
        [
            file("https://a.test/docs/start/i%20m%20g.png", "i m g.png"),
            file("https://cdn.test/a%20b.svg", "a b.svg")
        ]
    );
    let page = at("https://a.test/x", DocumentFormat::Html, "<base href='/b/'><a href=c>d</a>");
    assert_eq!(page.links, ["https://a.test/b/c"]);
}

#[test]
fn markdown_is_unchanged_except_for_resolved_urls() {
    let text = "---\ntitle: T\n---\n\n# *Title*\n\nSee [a](b.md#c) and ![i](i.png). `[no](no.md)`\n\n<img src=\"j.png\">\n";
    let page = at("https://a.test/docs/x.md", DocumentFormat::Markdown, text);
    assert_eq!(page.title, "Title");
    assert_eq!(
        page.markdown,
        text.replace("b.md#c", "https://a.test/docs/b.md#c")
            .replace("i.png", "https://a.test/docs/i.png")
            .replace("j.png", "https://a.test/docs/j.png")
    );
    assert_eq!(page.links, ["https://a.test/docs/b.md"]);
    assert_eq!(page.images.len(), 2);
    let unchanged = convert(&document(DocumentFormat::Markdown, text)).unwrap();
    assert_eq!(unchanged.markdown, text);
    let named = convert(&document(DocumentFormat::Markdown, "text")).unwrap();
    assert_eq!(named.title, "the name");
}

#[test]
fn png_is_refused_as_markdown_and_utf16_is_decoded() {
    let png = Document {
        bytes: b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec().into(),
        ..document(DocumentFormat::Markdown, "")
    };
    assert!(matches!(convert(&png), Err(ConvertError::Unreadable(_))));
    let utf16: Vec<u8> = "\u{feff}# Grüße".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(convert(&document(DocumentFormat::Markdown, utf16)).unwrap().title, "Grüße");
}

#[test]
fn html_in_utf16_and_windows_1252_is_decoded() {
    let utf16: Vec<u8> = "\u{feff}<p>Grüße</p>".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for bytes in [
        "<p>Grüße</p>".as_bytes().to_vec(),
        "\u{feff}<p>Grüße</p>".as_bytes().to_vec(),
        b"<p>Gr\xfc\xdfe</p>".to_vec(),
        utf16,
    ] {
        assert_eq!(
            convert(&document(DocumentFormat::Html, bytes.clone())).unwrap().markdown,
            "Grüße\n",
            "{bytes:?}"
        );
    }
    let euro = convert(&document(DocumentFormat::Html, b"<p>5 \x80</p>".to_vec())).unwrap();
    assert_eq!(euro.markdown, "5 €\n");
}

#[test]
fn formulas_of_pages_are_imported_once() {
    let katex = |tex: &str| {
        format!(
            "<span class=katex><span class=katex-mathml><math><semantics><mrow><mi>x</mi></mrow>\
             <annotation encoding=\"application/x-tex\">{tex}</annotation></semantics></math></span>\
             <span class=katex-html aria-hidden=true><span>x</span></span></span>"
        )
    };
    let mathjax = "<span class=MathJax_Preview>x</span><span class=MathJax><span>x</span></span>";
    for (given, expected) in [
        (format!("<p>So {} holds.</p>", katex("x=1")), "So $$x=1$$ holds.\n"),
        (format!("<p><span class=katex-display>{}</span></p>", katex("x\n = 1 % note")), "$$\nx = 1\n$$\n"),
        (format!("<p>a <span class=katex-display>{}</span> b</p>", katex("x")), "a\n\n$$\nx\n$$\n\nb\n"),
        (format!("<h2>About {}</h2><h2>x</h2>", katex("x")), "## About $$x$$\n\n## x\n"),
        (format!("<p>{mathjax}<script type=\"math/tex\">x^2</script> is</p>"), "$$x^2$$ is\n"),
        (format!("<p>{mathjax}</p><script type=\"math/tex; mode=display\">x^2</script>"), "$$\nx^2\n$$\n"),
        (
            "<p>a <mjx-container><mjx-math aria-hidden=true>x</mjx-math><mjx-assistive-mml><math><msup><mi>x</mi><mn>2</mn></msup>\
             </math></mjx-assistive-mml></mjx-container></p>"
                .to_owned(),
            "a $$x^{2}$$\n",
        ),
        ("<p>a <math alttext=\"{\\displaystyle x}\"><mi>y</mi></math></p>".to_owned(), "a $$x$$\n"),
        ("<p>a <math alttext=\"{\\displaystyle x}{y}\"></math></p>".to_owned(), "a $${\\displaystyle x}{y}$$\n"),
        ("<p>the <span class=\"math notranslate\">\\(a_b\\)</span></p>".to_owned(), "the $$a_b$$\n"),
        ("<div class=math>\\[a \\\\[2pt] b\\]</div>".to_owned(), "$$\na \\\\[2pt] b\n$$\n"),
        ("<p class=math>\\(a\\) or \\(b\\)</p>".to_owned(), "\\\\(a\\\\) or \\\\(b\\\\)\n"),
    ] {
        assert_eq!(body(&given), expected, "{given}");
    }
}

#[test]
fn mathml_without_tex_is_converted() {
    for (given, expected) in [
        ("<mfrac><mn>1</mn><mi>α</mi></mfrac>", "\\frac{1}{\\alpha}"),
        ("<msqrt><mi>x</mi><mo>+</mo><mn>1</mn></msqrt>", "\\sqrt{x+1}"),
        ("<mroot><mi>x</mi><mn>3</mn></mroot>", "\\sqrt[3]{x}"),
        ("<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>", "x_{i}^{2}"),
        ("<munderover><mo>∑</mo><mi>i</mi><mi>n</mi></munderover><mi>x</mi>", "\\sum_{i}^{n}x"),
        ("<munder><mo>lim</mo><mi>x</mi></munder>", "\\lim_{x}"),
        ("<mover><mi>x</mi><mo>^</mo></mover>", "\\hat{x}"),
        ("<munder><mi>x</mi><mi>y</mi></munder>", "\\underset{y}{x}"),
        (
            "<mtable><mtr><mtd><mi>a</mi></mtd><mtd><mi>b</mi></mtd></mtr></mtable>",
            "\\begin{matrix} a & b \\end{matrix}",
        ),
        ("<mi>sin</mi><mi>x</mi><mtext>if</mtext>", "\\sin x\\text{if}"),
        ("<mi mathvariant=double-struck>R</mi><mfenced><mi>a</mi><mi>b</mi></mfenced>", "\\mathbb{R}(a,b)"),
    ] {
        assert_eq!(body(&format!("<p>a <math>{given}</math></p>")), format!("a $${expected}$$\n"), "{given}");
    }
}

#[test]
fn tables_with_code_and_lists_stay_tables() {
    for (given, expected) in [
        (
            "<table><thead><tr><th>A<th>B</thead><tr><td>x<td><pre>a: 1\n  b: 2</pre><tr><td>y<td>z</table>",
            "| A | B |\n| --- | --- |\n| x | `a: 1`<br>`\u{a0}\u{a0}b: 2` |\n| y | z |\n",
        ),
        (
            "<table><tr><td>x<td><pre>a|b</pre><tr><td>y<td>z</table>",
            "|   |   |\n| --- | --- |\n| x | `a\\|b` |\n| y | z |\n",
        ),
        (
            "<table><tr><th>A<th>B<tr><td><h3>x</h3><td><table><tr><td>1<td>2</table></table>",
            "| A | B |\n| --- | --- |\n| x | 1<br>2 |\n",
        ),
        // Line numbers next to code are not a table.
        ("<table><tr><td class=gutter>1<td><pre>a\nb</pre></table>", "1\n\n```\na\nb\n```\n"),
        ("<table><tr><td><h2>x</h2><p>y<td>z</table>", "## x\n\ny\n\nz\n"),
    ] {
        assert_eq!(body(given), expected, "{given}");
    }
}

#[test]
fn tab_panels_of_pages_become_tabs() {
    let tabs = "{% tabs %}\n{% tab title=\"npm\" %}\nrun a\n{% endtab %}\n\n{% tab title=\"yarn \\\"2\\\"\" %}\nrun b\n{% endtab %}\n{% endtabs %}\n";
    for given in [
        "<div><ul role=tablist><li role=tab>npm</li><li role=tab>yarn \"2\"</li></ul><div><div role=tabpanel><p>run a</p></div>\
         <div role=tabpanel hidden><p>run b</p></div></div></div>",
        "<div><div><div role=tablist><button role=tab>npm</button><button role=tab>yarn \"2\"</button></div></div>\
         <div role=tabpanel>run a</div><div role=tabpanel hidden>run b</div></div>",
        "<div><ul class=nav-tabs><li><a href=#a>npm</a><li><a href=#b>yarn \"2\"</a></ul><div class=tab-content>\
         <div class=tab-pane>run a</div><div class=tab-pane aria-hidden=true>run b</div></div></div>",
        "<div class=tabbed-set><input type=radio><div class=tabbed-labels><label>npm</label><label>yarn \"2\"</label></div>\
         <div class=tabbed-content><div class=tabbed-block><p>run a</p></div><div class=tabbed-block><p>run b</p></div></div></div>",
        "<div class=sd-tab-set><input type=radio><label class=sd-tab-label>npm</label><div class=sd-tab-content>run a</div>\
         <input type=radio><label class=sd-tab-label>yarn \"2\"</label><div class=sd-tab-content>run b</div></div>",
    ] {
        assert_eq!(body(given), tabs, "{given}");
    }
    let code = "<div class=vp-code-group><div class=tabs><label>a</label><label>b</label></div><div class=blocks>\
                <div class=\"language-js active\"><pre>x</pre></div><div class=language-sh><pre>y</pre></div></div></div>";
    assert_eq!(
        body(code),
        "{% tabs %}\n{% tab title=\"a\" %}\n```js\nx\n```\n{% endtab %}\n\n{% tab title=\"b\" %}\n```sh\ny\n```\n{% endtab %}\n{% endtabs %}\n"
    );
    // Panels without titles follow each other.
    let untitled = "<div><div role=tabpanel>a</div><div role=tabpanel hidden>b</div></div>";
    assert_eq!(body(untitled), "a\n\nb\n");
}

#[test]
fn omitted_elements_of_pages_are_reported() {
    let page = html(
        "<main><p>a <video src=x></video><audio src=y></audio></p><object></object><object></object></main><footer><audio></footer>",
    );
    let mut warnings = page.warnings;
    warnings.sort();
    assert_eq!(
        warnings,
        ["left out: a video", "left out: an audio file", "left out: an embedded object (2 times)"]
    );
}
