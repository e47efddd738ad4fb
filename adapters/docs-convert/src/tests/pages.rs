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
