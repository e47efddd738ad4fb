//! The reading view: markup that was preserved as text, as readers see it.

use docs_model::{
    Block, BlockKind, ContentRef, Inline, InlineKind, Leaf, Length, MarkKind, Node, TableData, TextAlign,
};

use super::*;

/// Asserts the compact form of the reading view of each text.
#[track_caller]
pub(super) fn shown(cases: &[(&str, &str)]) {
    let mut wrong = String::new();
    for (markdown, expected) in cases {
        let document = parse(markdown);
        let view = reading_view(&document).into_owned();
        let found = blocks(&view.nodes);
        if found != *expected {
            wrong.push_str(&format!("\n{markdown:?}\n  expected: {expected}\n  found:    {found}\n"));
        }
        assert_eq!(blocks(&reading_view(&view).nodes), found, "a second view of {markdown:?}");
        assert_eq!(update(markdown, &document).unwrap(), *markdown, "the source is unchanged");
    }
    assert!(wrong.is_empty(), "{wrong}");
}

pub(super) fn blocks(all: &[Block]) -> String {
    all.iter().map(block).collect::<Vec<_>>().join(" ")
}

fn block(block: &Block) -> String {
    let inner = || blocks(&block.children().cloned().collect::<Vec<_>>());
    let text = || inlines(&block.nodes);
    let aligned = |align: Option<TextAlign>| align.map_or(String::new(), |align| format!("@{align:?}"));
    let id = block.meta.as_ref().map(|meta| format!("#{}", meta.id)).unwrap_or_default();
    match &block.kind {
        BlockKind::Paragraph { align: None } => format!("p{id}({})", text()),
        BlockKind::Paragraph { align: Some(align) } => format!("p{id}@{align:?}({})", text()),
        BlockKind::Heading1(data) => format!("h1{}{id}({})", aligned(data.align), text()),
        BlockKind::Heading2(data) => format!("h2{}{id}({})", aligned(data.align), text()),
        BlockKind::Heading3(data) => format!("h3{}{id}({})", aligned(data.align), text()),
        BlockKind::Math { formula } => format!("math({formula})"),
        BlockKind::ListUnordered {} => format!("ul({})", inner()),
        BlockKind::ListOrdered { start } => {
            format!("ol{}({})", start.map_or(String::new(), |n| n.to_string()), inner())
        }
        BlockKind::ListTasks {} => format!("tasks({})", inner()),
        BlockKind::ListItem { checked } => match checked {
            Some(is_done) => format!("li[{}]({})", if *is_done { "x" } else { "" }, inner()),
            None => format!("li({})", inner()),
        },
        BlockKind::Blockquote {} => format!("quote({})", inner()),
        BlockKind::Hint { style, .. } => format!("{style:?}({})", inner()),
        BlockKind::Divider {} => "hr".to_owned(),
        BlockKind::Code { syntax, title, .. } => {
            let lines: Vec<String> = block.children().map(|line| inlines(&line.nodes)).collect();
            let title = title.as_ref().map(|title| format!(" {title:?}")).unwrap_or_default();
            format!("code[{}{title}]({})", syntax.as_deref().unwrap_or_default(), lines.join("⏎"))
        }
        BlockKind::Images { align, .. } => {
            format!("images{}({})", align.map(|align| format!("@{align:?}")).unwrap_or_default(), inner())
        }
        BlockKind::Image(data) => {
            let alt = data.alt.as_ref().map(|alt| format!(" {alt:?}")).unwrap_or_default();
            let dark = data.dark.as_ref().map(|dark| format!(" dark={}", target(dark))).unwrap_or_default();
            let caption = if inner().is_empty() { String::new() } else { format!(" {}", inner()) };
            let (width, height) = (length("w", data.width.as_ref()), length("h", data.height.as_ref()));
            format!("{}{alt}{width}{height}{dark}{caption}", target(&data.target))
        }
        BlockKind::Expandable { default_expanded } => {
            format!("details{}{}({})", if default_expanded.is_some() { "+" } else { "" }, id, inner())
        }
        BlockKind::Embed { url, .. } => format!("embed({url})"),
        BlockKind::File { target: file } => format!("file({})", target(file)),
        BlockKind::Table(data) => table(block, data),
        kind => format!("{kind:?}({})", inner()),
    }
}

fn table(block: &Block, data: &TableData) -> String {
    let titles: Vec<&str> = data.view.columns().iter().map(|id| data.definition[id].title.as_str()).collect();
    let rows = keys::cells(block)
        .into_iter()
        .map(|row| row.into_iter().map(|cell| blocks(&cell.nodes)).collect::<Vec<_>>().join(" | "));
    let head = if titles.iter().all(|title| title.is_empty()) { "-".to_owned() } else { titles.join(" | ") };
    format!("table({})", std::iter::once(head).chain(rows).collect::<Vec<_>>().join(" / "))
}

fn target(target: &ContentRef) -> String {
    targets::write(target)
}

fn inlines(nodes: &[Node]) -> String {
    let node = |node: &Node| match node {
        Node::Text(text) => text.leaves.iter().map(leaf).collect(),
        Node::Inline(own) => inline(own),
        Node::Block(own) => block(own),
    };
    nodes.iter().map(node).collect()
}

fn length(name: &str, length: Option<&Length>) -> String {
    match length {
        Some(Length::Pixels(pixels)) => format!(" {name}={pixels}"),
        Some(Length::Unit { unit, value }) => format!(" {name}={value}{unit}"),
        None => String::new(),
    }
}

fn inline(inline: &Inline) -> String {
    let inner = inlines(&inline.nodes);
    match &inline.kind {
        InlineKind::Link { target: own, title: None } => format!("[{inner}]<{}>", target(own)),
        InlineKind::Link { target: own, title: Some(title) } => {
            format!("[{inner}]<{} {title:?}>", target(own))
        }
        InlineKind::Annotation {} => {
            let body: Vec<Block> = inline.fragments().iter().flat_map(|own| own.nodes.clone()).collect();
            format!("{{{inner}: {}}}", blocks(&body))
        }
        InlineKind::InlineImage { target: own, alt, size, width, height, .. } => {
            let size = match size {
                Some(_) => " line".to_owned(),
                None => length("w", width.as_deref()) + &length("h", height.as_deref()),
            };
            format!("![{}]<{}{size}>", alt.as_deref().unwrap_or_default(), target(own))
        }
        InlineKind::Emoji { code } => emoji_names::text(code).unwrap_or_default(),
        InlineKind::Mention { target: own } => format!("@<{}>", target(own)),
        InlineKind::InlineMath { formula } => format!("$${formula}$$"),
        kind => format!("{kind:?}"),
    }
}

fn leaf(leaf: &Leaf) -> String {
    leaf.marks.iter().rev().fold(leaf.text.replace('\n', "⏎"), |text, mark| match mark.kind {
        MarkKind::Bold => format!("**{text}**"),
        MarkKind::Italic => format!("_{text}_"),
        MarkKind::Strikethrough => format!("~{text}~"),
        MarkKind::Code => format!("`{text}`"),
        MarkKind::Keyboard => format!("kbd:{text}:"),
        MarkKind::Superscript => format!("^{text}^"),
        MarkKind::Subscript => format!(",{text},"),
        MarkKind::Color { .. } => format!("=={text}=="),
    })
}

#[test]
fn no_line_of_a_list_item_is_lost_as_an_underline() {
    shown(&[
        (" - foo\n   bar\n  ===\n", "ul(li(p(foo bar ===)))"),
        ("- foo\n===\n", "ul(li(p(foo ===)))"),
        ("- foo\n  ===\n", "ul(li(h1#foo(foo)))"),
        ("- foo\n---\n", "ul(li(p(foo))) hr"),
    ]);
}

#[test]
fn comments_are_invisible() {
    shown(&[
        ("<!-- a note to authors -->\n", ""),
        ("Before <!-- inline --> after.\n", "p(Before  after.)"),
        ("<!-- of\n\nseveral lines -->\n\nLast.\n", "p(Last.)"),
        ("* a\n\n<!-- -->\n\n* b\n", "ul(li(p(a))) ul(li(p(b)))"),
        ("a\n\n<?php x ?>\n\nb\n", "p(a) p(b)"),
        ("- a\n\n  <!-- b -->\n\n  c\n", "ul(li(p(a) p(c)))"),
        ("# A <!-- b -->\n", "h1#a(A)"),
    ]);
}

#[test]
fn link_definitions_apply_everywhere_and_are_invisible() {
    shown(&[
        (
            "See [the guide][g], [`Vec`] and [home].\n\n[g]: https://example.com/guide \"Guide\"\n\
             [`Vec`]: https://example.com/vec\n[home]: /pages/ID\n",
            "p(See [the guide]<https://example.com/guide \"Guide\">, [`Vec`]<https://example.com/vec> and \
             [home]</pages/ID>.)",
        ),
        ("- See [a].\n\n  [a]: https://example.com/a\n", "ul(li(p(See [a]<https://example.com/a>.)))"),
        ("> See [b].\n>\n> [b]: https://example.com/b\n", "quote(p(See [b]<https://example.com/b>.))"),
        ("[a][B]\n\n> [b]: /x\n", "p([a]</x>)"),
        ("A [*b*][] c.\n\n- [*b*]: /y\n", "p(A [_b_]</y> c.)"),
        ("Only [text] here.\n", "p(Only [text] here.)"),
        ("![image][i]\n\n> [i]: /i.png\n", "images(/i.png \"image\")"),
        ("# [T][t]\n\n* [t]: /t\n", "h1#t([T]</t>)"),
    ]);
}

#[test]
fn definitions_within_tags_apply_to_all_text() {
    shown(&[
        ("{% x %}\na[x][y]\n\n[x]: /z\n[y]: /w\n\n{% endx %}\n", "p(a[x]</w>)"),
        ("{% x %}\n{% y %}\n[x]: /z\n{% endy %}\n{% endx %}\n\nb[x]\n", "p(b[x]</z>)"),
        ("{% hint style=\"info\" %}\n[x]: /z\n[y]: /w\n{% endhint %}\n\na[x][y]\n", "p(a[x]</w>)"),
        ("{% code %}\na[x][y]\n\n[x]: /z\n[y]: /w\n{% endcode %}\n", "p(a[x]</w>)"),
        ("[x]: /1\n\n{% x %}\n[x]: /2\n{% endx %}\n\n[x]\n", "p([x]</1>)"),
        ("{% x %}\na\\[x]\\[y]\n\n[x]: /z\n[y]: /w\n\n{% endx %}\n", "p(a[x][y])"),
    ]);
}

#[test]
fn label_of_a_link_that_is_a_footnote_is_a_footnote() {
    shown(&[
        ("{% x %}\na[^n](/u)\n\n[^n]: note\n\n{% endx %}\n", "p({a: p(note)}(/u))"),
        ("a[^N][X]\n\n[^n]: note\n\n[x]: /z\n", "p({a: p(note)}[X]</z>)"),
        ("a[^n][x]\n\n[^n]: note\n\n[^n]: second\n\n[x]: /z\n", "p({a: p(note)}[x]</z>)"),
        (
            "> **[^n](/u \"t\")** [^n b](/u) [**^n**](/u) [\\^n](/u)\n>\n> [^n]: note\n",
            "quote(p({^1^: p(note)}**(/u \"t\")** [^n b]</u> [**^n**]</u> [^n]</u>))",
        ),
        ("# a[^n](/u)\n\n> [^n]: note\n", "h1#a-u({a: p(note)}(/u))"),
        ("| a |\n| - |\n| <a href=\"/u\">^n</a> |\n\n> [^n]: note\n", "table(a / p([^n]</u>))"),
    ]);
}

#[test]
fn footnotes_are_attached_to_their_references() {
    shown(&[
        (
            "One fact[^n], another[^n].\n\n[^n]: The source.\n",
            "p(One {fact: p(The source.)}, {another: p(The source.)}.)",
        ),
        ("> this[^q].\n>\n> [^q]: Note.\n", "quote(p({this: p(Note.)}.))"),
        ("- item[^q]\n\n  [^q]: Note.\n", "ul(li(p({item: p(Note.)})))"),
        ("**Bold**[^1], `code`[^2].\n\n[^1]: n1\n[^2]: n2\n", "p({**Bold**: p(n1)}, {`code`: p(n2)}.)"),
        ("[link](/a)[^1]\n\n[^1]: n1\n", "p([link]</a>{^1^: p(n1)})"),
        ("word[^1][^2]\n\n[^1]: n1\n[^2]: n2\n", "p({word: p(n1)}{^1^: p(n2)})"),
        ("> [x][^n]\n>\n> [^n]: Note.\n\n[x]: /z\n", "quote(p([x]</z>{^1^: p(Note.)}))"),
        ("Nothing.\n\n[^unused]: Unused.\n", "p(Nothing.)"),
        ("a[^1] [x][]\n\n[^1]: note\ngoes on\n[x]: /z\n", "p({a: p(note goes on)} [x]</z>)"),
        (
            "A <u>b</u>[^1].\n\n[^1]: See <u>x</u> and [^2].\n[^2]: y\n",
            "p(A {b: p(See x and {^1^: p(y)}.)}.)",
        ),
        ("| a |\n| - |\n| b[^1] | c |\n\n[^1]: n\n", "table(a / p({b: p(n)}))"),
        ("a[^1]\n\n[^1]: first\n[^1]: second\n", "p({a: p(first)})"),
        (
            "> See [b] and this[^q].\n>\n> [b]: /x\n> [^q]: Note in a quotation.\n",
            "quote(p(See [b]</x> and {this: p(Note in a quotation.)}.))",
        ),
        ("a[^1] and b[^2]\n\n[x]: /y\n[^1]: one\n[^2]: two\n", "p({a: p(one)} and {b: p(two)})"),
        ("- a[^q]\n\n  [x]: /y\n  [^q]: *Note* d\n", "ul(li(p({a: p(_Note_ d)})))"),
        ("a[^q]\n\n\\[^q]: text\n", "p(a[^q]) p([^q]: text)"),
        ("a[^1]\n\n[^1]: *Note* `c`\n", "p({a: p(_Note_ `c`)})"),
        ("> this[^q]\n\n[^q]: Note.\n", "quote(p({this: p(Note.)}))"),
        (
            "> See [b] and this[^q].\n\nText.\n\n- [b]: /x\n- [^q]: Note.\n",
            "quote(p(See [b]</x> and {this: p(Note.)}.)) p(Text.)",
        ),
        ("- one[^a]\n- two[^b]\n\n[^a]: A\n[^b]: B\n", "ul(li(p({one: p(A)})) li(p({two: p(B)})))"),
        ("1. one[^a][^b]\n\n   [^a]: A\n\n2. x\n\n[^b]: B\n", "ol(li(p({one: p(A)}{^2^: p(B)})) li(p(x)))"),
        ("a[^Case]\n\n[^case]: n\n", "p({a: p(n)})"),
        ("a[^1]\n\n[^1]: x\n\n    y\n\n    * z\n", "p({a: p(x) p(y) ul(li(p(z)))})"),
        ("# T[^1]\n\n[^1]: n\n", "h1#t({T: p(n)})"),
        ("a[^1]\n\n[^1]: b[^2]\n[^2]: c[^1]\n", "p({a: p({b: p(c)})})"),
        ("No such note[^x].\n", "p(No such note[^x].)"),
        ("**Bold.**[^1] and _it_[^2]x\n\n[^1]: n\n[^2]: m\n", "p({**Bold.**: p(n)} and {_it_: p(m)}x)"),
        ("**See [b](/b).**[^1] c\n\n[^1]: n\n", "p(**See **[**b**]</b>{**.**: p(n)} c)"),
        ("a[^1], \\[^1] and `[^1]` b\n\n[^1]: n\n", "p({a: p(n)}, [^1] and `[^1]` b)"),
        ("a[^1] \\[^1] <u>b</u>[^1]\n\n[^1]: n\n", "p({a: p(n)} [^1] {b: p(n)})"),
    ]);
}

#[test]
fn footnotes_of_titles_and_hints_are_shown() {
    shown(&[
        ("| T[^1] | U |\n|---|---|\n| a | b |\n\n[^1]: n\n", "table(T | U / p(a) | p(b)) p({T: p(n)})"),
        (
            "| T[^1] | U[^2] |\n|---|---|\n| a[^1] | b |\n\n[^1]: n\n[^2]: m\n",
            "table(T | U / p({a: p(n)}) | p(b)) p({T: p(n)}, {U: p(m)})",
        ),
        ("| T\\[^1] |\n|---|\n| a[^1] |\n\n[^1]: n\n", "table(T[^1] / p({a: p(n)}))"),
        ("| <p>T</p><p>U <b>V</b></p> |\n|---|\n| a |\n", "table(T U V / p(a))"),
        (
            "{% x %}\n[x][^n]\n{% endx %}\n\n## a[x][^n] {#id}\n\n[x]: /z\n\n[^n]: n\n",
            "p([x]</z>{^1^: p(n)}) h1#id(a[x]</z>{^2^: p(n)})",
        ),
        (
            "{% hint style=\"info\" %}\nwith a note[^h].\n\n[^h]: Note in a hint.\n{% endhint %}\n",
            "Info(p(with a {note: p(Note in a hint.)}.))",
        ),
    ]);
}

#[test]
fn elements_within_text_become_marks_and_links() {
    shown(&[
        (
            "<a href=\"https://example.com\" target=\"_blank\" rel=\"noopener\">Example</a> and <a class=\"btn\" \
             href='/pages/ID'>home</a>.\n",
            "p([Example]<https://example.com> and [home]</pages/ID>.)",
        ),
        (
            "<center>middle</center> and <u>under</u>, <mark>marked</mark>, <span id=\"s\">span</span>\n",
            "p@Center(middle) p#s(and under, ==marked==, span)",
        ),
        ("a <u>b *c*</u> <ins>d</ins>\n", "p(a b _c_ d)"),
        ("<abbr title=\"x\">HTML</abbr> and <font color=red>red</font>\n", "p(HTML and red)"),
        ("H<sub class=x>2</sub>O, x<sup id=y>2</sup>\n", "p#y(H,2,O, x^2^)"),
        ("a<br class=\"x\">b<BR />c\n", "p(a⏎b⏎c)"),
        ("**a <u>b</u>** c\n", "p(**a b** c)"),
        ("Press <kbd class=\"k\">Ctrl</kbd> and <samp>x</samp>\n", "p(Press kbd:Ctrl: and `x`)"),
        ("<a href=\"javascript:alert(1)\" rel=x>x</a> <b onclick=\"alert(1)\">y</b>\n", "p(x **y**)"),
        ("a <script>alert(1)</script> b <style>x{}</style>c\n", "p(a  b c)"),
        ("x <unknown-tag a=b>y</unknown-tag> z\n", "p(x y z)"),
        ("[a <u>b</u>](/c) <i class=\"fa-x\">:x:</i>\n", "p([a b]</c> Icon { icon: \"x\", color: None })"),
        ("1 < 2 and a \\<b> and `<b>`\n", "p(1 < 2 and a <b> and `<b>`)"),
        ("A &lt;b&gt; c &amp;amp; <u>d</u>\n", "p(A <b> c &amp; d)"),
    ]);
}

#[test]
fn blocks_of_html_become_blocks() {
    shown(&[
        ("<h2>Heading</h2>\n", "h1#heading(Heading)"),
        ("<ul>\n<li>one</li>\n<li>two</li>\n</ul>\n", "ul(li(p(one)) li(p(two)))"),
        ("<hr>\n\na\n\n<hr/>\n", "hr p(a) hr"),
        ("<pre><code class=\"language-js\">let x = 1;\nlet y;</code></pre>\n", "code[js](let x = 1;⏎let y;)"),
        ("<blockquote>quoted</blockquote>\n", "quote(p(quoted))"),
        ("<div class=\"warning\">\n\n**Mind** the gap.\n\n</div>\n", "p(**Mind** the gap.)"),
        ("<div align=\"center\">\n  <b>Centred</b>\n</div>\n", "p@Center(**Centred**)"),
        ("<p align=\"right\" class=x>a <b>b</b></p>\n", "p@End(a **b**)"),
        ("<ol start=3><li>a<ul><li>b</ul><li>c</ol>\n", "ol3(li(p(a) ul(li(p(b)))) li(p(c)))"),
        ("<dl><dt>T</dt><dd>D</dd><dt>U<dd>E</dl>\n", "p(**T**) ul(li(p(D))) p(**U**) ul(li(p(E)))"),
        (
            "<details class=\"x\"><summary>More <b>x</b></summary>\n\nText.\n\n* a\n\n</details>\n",
            "details#more-x(p(More **x**) p(Text.) ul(li(p(a))))",
        ),
        ("<blockquote>\n\n*a*\n\n</blockquote>\n", "quote(p(_a_))"),
        ("<section><article><p>a<p>b</article></section>\n", "p(a) p(b)"),
        (
            "<h1 align=\"center\">\n  <img src=\"/l.png\" width=\"100\">\n  Name\n</h1>\n",
            "h1@Center#name(![]</l.png w=100> Name)",
        ),
        ("<script>\nalert(1)\n\nx\n</script>\n\na\n", "p(a)"),
        ("<style>\np { }\n</style>\n", ""),
        ("<svg><path d=\"\"/><text>x</text></svg>\n\na\n", "p(a)"),
        ("</div>\n\na\n\n</p></b>\n", "p(a)"),
        ("<div>\n<!-- a -->\n&copy; b\n</div>\n", "p(© b)"),
        ("<div>\n<p>a\n\n> b\n\n</div>\n", "p(a) quote(p(b))"),
        ("- <div>\n\n  a\n\n- b\n\n</div>\n", "ul(li(p(a)) li(p(b)))"),
        ("<details><summary>A</summary>a</details>\n\nb\n", "details#a(p(A) p(a)) p(b)"),
        ("<li>a</li>\n<td>b</td>\n", "ul(li(p(a)) li(p(b)))"),
        ("Text before\n<h3>Title</h3>\n", "p(Text before) h2#title(Title)"),
        ("<pre>\na <b>b</b>\n  c\n</pre>\n", "code[](a b⏎  c)"),
        ("<div>\n<pre>\na\n\n# b\n\n\nc\n</pre>\n</div>\n\nd\n", "code[](a⏎⏎# b⏎⏎⏎c) p(d)"),
        ("<ul>\n<li>\n<PRE>\na\n\nb\n</PRE></li>\n<li>c</li>\n</ul>\n", "ul(li(code[](a⏎⏎b)) li(p(c)))"),
        ("* x\n\n  <div><pre>a\n\n  b</pre></div>\n* c\n", "ul(li(p(x) code[](a⏎⏎b)) li(p(c)))"),
        ("<div>\n<pre>a\n\nb\n\n<div>\n<pre>c\n</pre>\n", "code[](a) p(b) code[](c)"),
        ("<div>\n<pre>a\n\n**b**\n", "code[](a) p(**b**)"),
        ("```\n<pre>\n\n</pre>\n```\n", "code[](<pre>⏎⏎</pre>)"),
        ("Usage: <pre>def f():\n    return 1</pre>\n", "p(Usage:) code[](def f():⏎    return 1)"),
        ("<pre>\n{% hint %}\nx\n{% endhint %}\n</pre>\n", "code[]({% hint %}⏎x⏎{% endhint %})"),
        ("`<pre>` {% x %} `</pre>`\n", "p(`<pre>`  `</pre>`)"),
        (
            "<div align=\"center\">\n\n# Title\n\nText\n\n![a](a.png)\n\n</div>\n\nAfter\n",
            "h1@Center#title(Title) p@Center(Text) images@Center(a.png \"a\") p(After)",
        ),
        ("```math\na^2\n```\n", "math(a^2)"),
    ]);
}

#[test]
fn links_within_links_keep_all_text() {
    shown(&[
        ("one <a href=\"https://x.test\">a [n](m) b</a> end\n", "p(one [a ]<https://x.test>[n]<m> b end)"),
        ("before [a <https://y.test> b](z) end\n", "p(before [a ]<z>[https://y.test]<https://y.test> b end)"),
        (
            "## before [one <a href=\"y\">two</a>](z) end\n",
            "h1#before-one-two-end(before [one ]<z>[two]<y> end)",
        ),
        ("a [see [^1]](u) b\n\n[^1]: note\n", "p(a [see ]<u>{^1^: p(note)} b)"),
        ("a <a href=\"x\">b[^2]</a> c\n\n[^2]: note\n", "p(a {b: p(note)} c)"),
        ("a [b[^3] c](u) d\n\n[^3]: note\n", "p(a {b: p(note)}[ c]<u> d)"),
        ("Foo <a href=\"x\"><div>d [n](m)</div></a> bar\n", "p(Foo) p([d ]<x>[n]<m>) p(bar)"),
    ]);
}

#[test]
fn titles_have_no_escapes() {
    for (title, shown) in [
        ("AEP 3.x \\(Swift\\)", "AEP 3.x (Swift)"),
        ("my\\_file \\[a\\] \\*b\\* \\#1 \\<c\\>", "my_file [a] *b* #1 <c>"),
        ("C:\\Users\\me", "C:\\Users\\me"),
    ] {
        let tabs =
            format!("{{% tabs %}}\n{{% tab title=\"{title}\" %}}\nx\n{{% endtab %}}\n{{% endtabs %}}\n");
        let code = format!("{{% code title=\"{title}\" %}}\n```js\nx\n```\n{{% endcode %}}\n");
        for source in [tabs, code] {
            let document = parse(&source);
            let view = serde_json::to_value(reading_view(&document).as_ref()).expect("JSON");
            let block = &view["nodes"][0];
            let title = block["nodes"][0]["data"].get("title").or_else(|| block["data"].get("title"));
            assert_eq!(title, Some(&serde_json::json!(shown)), "{source}{view:#}");
            assert_eq!(update(&source, &document).unwrap(), source, "the source is unchanged");
        }
    }
}

#[test]
fn scripts_and_styles_with_empty_lines_are_invisible() {
    shown(&[
        (
            "<link rel=\"stylesheet\" href=\"a.css\">\n<style>\n    .a {\n    }\n\n    .b {\n    }\n\n.c { }\n</style>\n\nText.\n",
            "p(Text.)",
        ),
        ("<div>\n<script>\n  a();\n\n  b();\n</script>\n</div>\n\nText.\n", "p(Text.)"),
        ("<div>\n<script>\n\na();\n\n</SCRIPT >\n\nText.\n", "p(Text.)"),
        ("<p>\n<style>\n\n* { }\n\n</style> *a*\n\nText.\n", "p(_a_) p(Text.)"),
        ("- <div>\n  <style>\n\n  .a { }\n\n  </style>\n\n  b\n- c\n", "ul(li(p(b)) li(p(c)))"),
        // Without an end, the content is shown, and code is no end.
        ("<div>\n<style>\n</div>\n\na\n\n```html\n</style>\n```\n", "p(a) code[html](</style>)"),
        ("<div>\n<style>\n</div>\n\na\n\n- b </style>\n", "p(a) ul(li(p(b)))"),
    ]);
}

#[test]
fn media_become_images_embeds_and_files() {
    shown(&[
        (
            "<img src=\"/files/ID\" alt=\"Start button\" width=\"40\">\n",
            "images(/files/ID \"Start button\" w=40)",
        ),
        (
            "Press <img src=\"/files/ID\" alt=\"x\" height=\"16\" /> to go on.\n",
            "p(Press ![x]</files/ID line> to go on.)",
        ),
        ("<img align=center width=50% src=a.png title='T'>\n", "images@Center(a.png w=50% p(T))"),
        ("<p align=\"center\"><img src=a.png width=5></p>\n", "images@Center(a.png w=5)"),
        ("<a href=\"/x\"><img src=\"a.png\" width=\"300\"></a>\n", "p([![]<a.png w=300>]</x>)"),
        (
            "<picture>\n<source srcset=\"d.png 2x\" media=\"(prefers-color-scheme: dark)\">\n\
             <img src=\"l.png\" width=\"9\">\n</picture>\n",
            "images(l.png w=9 dark=d.png)",
        ),
        (
            "<figure class=x><img src=\"a.png\"><figcaption>C <b>d</b></figcaption></figure>\n",
            "images(a.png p(C **d**))",
        ),
        (
            "Logos <img src=\"a.png\" width=\"45%\"> and <img height=90 src='b.png'> and ![c](c.png).\n",
            "p(Logos ![]<a.png w=45%> and ![]<b.png h=90> and ![c]<c.png>.)",
        ),
        (
            "<table><tr><td><a href=\"/u\"><img src=\"u.png\" width=\"100px;\"/><br/><b>U</b></a></td></tr></table>\n",
            "table(- / p([![]<u.png w=100>⏎**U**]</u>))",
        ),
        ("<iframe width=\"5\" src=\"https://example.com/v\"></iframe>\n", "embed(https://example.com/v)"),
        ("<iframe src=\"javascript:x\">y</iframe>\n", ""),
        ("<video controls><source src=\"v.mp4\">No video.</video>\n", "file(v.mp4)"),
        ("<audio src=\"https://example.com/a.mp3\"></audio>\n", "embed(https://example.com/a.mp3)"),
        ("<img onerror=x src=\"data:text/html,x\">\n", ""),
    ]);
}

#[test]
fn tables_are_tables() {
    shown(&[
        (
            "| Type | Text |\n| --- | --- |\n| `string` | text |\n| `List<A>|undefined` | some text |\n| last | row |\n",
            "table(Type | Text / p(`string`) | p(text) / p(`List) | p(undefined`) / p(last) | p(row))",
        ),
        ("| a | b |\n| - | - |\n| 1 |\n| 1 | 2 | 3 |\n", "table(a | b / p(1) |  / p(1) | p(2))"),
        ("<table><tr><td>a</td><td><b>b</b></td></tr></table>\n", "table(- / p(a) | p(**b**))"),
        (
            "<table>\n<thead><tr><th>A</th><th>B</th></tr></thead>\n<tbody>\n<tr><td>a</td><td>b</td></tr>\n\
             </tbody></table>\n",
            "table(A | B / p(a) | p(b))",
        ),
        (
            "<table class=x>\n<tr><th>A<th>B\n<tr><td>\n\n```js\nx\n```\n\n</td><td>b</td></tr>\n</table>\n",
            "table(A | B / code[js](x) | p(b))",
        ),
        (
            "<table><tr><td colspan=2>a</td></tr><tr><td>b</td><td>c</td></tr></table>\n",
            "table(- / p(a) |  / p(b) | p(c))",
        ),
        (
            "<table><tr><td rowspan=2>a</td><td>b</td></tr><tr><td>c</td></tr></table>\n",
            "table(- / p(a) | p(b) /  | p(c))",
        ),
        ("| a |\n| - |\n| <u>b</u><br>c |\n", "table(a / p(b⏎c))"),
    ]);
}

#[test]
fn dialects_are_understood() {
    shown(&[
        ("> [!NOTE]\n> Mind *this*.\n", "Info(p(Mind _this_.))"),
        ("> [!WARNING]\n>\n> - a\n", "Warning(ul(li(p(a))))"),
        ("> [!TIP]\n> a\n\n> [!CAUTION]\n> b\n", "Success(p(a)) Danger(p(b))"),
        ("> [!EDITION-2018]\n> *a*\n", "Info(p(**Edition 2018**) p(_a_))"),
        ("> [!EXAMPLE] of <u>b</u>\n", "Info(p(**Example**) p(of b))"),
        ("- > [!EXAMPLE]\n  >\n  > <hr>\n", "ul(li(Info(p(**Example**) hr)))"),
        ("- > [!IMPORTANT]\n  > a\n", "ul(li(Info(p(a))))"),
        ("## Set up {#setup}\n\n[There](#setup)\n", "h1#setup(Set up) p([There]<#setup>)"),
        ("### *A* b {#c .d}\n", "h2#c(_A_ b)"),
        ("## Braces {a}\n", "h1#braces-a(Braces {a})"),
        (
            "[Jump](#limits)\n\n<a id=\"limits\"></a>\n\n## What is most\n\nText.\n\n<a name=\"old-name\"></a>Paragraph.\n",
            "p([Jump]<#limits>) p#limits() h1#what-is-most(What is most) p(Text.) p#old-name(Paragraph.)",
        ),
        ("```rust,ignore\nfn main() {}\n```\n", "code[rust](fn main() {})"),
        ("```js title=\"a.js\" {1,3}\nlet x = 1;\n```\n", "code[js \"a.js\"](let x = 1;)"),
        ("```{.js .numberLines}\nx\n```\n", "code[js](x)"),
        (
            "{% code title=\"The `a_b_c` of **x** `y`\" %}\n```\nx\n```\n{% endcode %}\n",
            "code[ \"The a_b_c of x y\"](x)",
        ),
        ("{% code title=\"__init__ `\" %}\n```js\nx\n```\n{% endcode %}\n", "code[js \"__init__ `\"](x)"),
        ("~~~ sh\nx\n~~~\n", "code[sh](x)"),
        (
            "See https://example.com/foo here, www.example.com and a@example.com.\n",
            "p(See [https://example.com/foo]<https://example.com/foo> here, \
             [www.example.com]<http://www.example.com> and [a@example.com]<mailto:a@example.com>.)",
        ),
        ("<u>Go</u> :rocket: now\n", "p(Go 🚀 now)"),
        (
            ":smile: a:smile:b :+1: :no_such_emoji: `:smile:` 12:30:45\n",
            "p(😄 a😄b 👍 :no_such_emoji: `:smile:` 12:30:45)",
        ),
        ("- [ ] <u>a</u>\n- [x] b\n", "tasks(li[](p(a)) li[x](p(b)))"),
        ("Term\n: Def <u>x</u>\n", "p(**Term**) ul(li(p(Def x)))"),
        ("<span>a</span> $$x_1$$ and $5 and $6\n", "p(a $$x_1$$ and $5 and $6)"),
        ("Two\\\nlines <u>x</u>  \nand three\n", "p(Two⏎lines x⏎and three)"),
    ]);
}

#[test]
fn unknown_tags_degrade_to_their_content() {
    shown(&[
        ("{% prompt %}\nWrite *this*.\n{% endprompt %}\n", "p(Write _this_.)"),
        (
            "{% timeline %}\n{% event date=\"2026-01-02\" %}\nNew.\n{% endevent %}\n{% endtimeline %}\n",
            "p(**2026-01-02**) p(New.)",
        ),
        ("a {% icon name=\"x\" %}b\n", "p(a b)"),
        (
            "{% video url=\"https://example.com/v\" title=\"x\" %}\n",
            "p([https://example.com/v]<https://example.com/v>)",
        ),
        (
            "{% initial src=\"/files/ID\" %}\n\n{% context url=\"a b.md#c\" %}\n\n{% page src=\"/pages/ID\" %}\n",
            "p(@</files/ID>) p([a b.md#c]<a b.md#c>) p(@</pages/ID>)",
        ),
        (
            "<u>a</u> [b.md](/pages/ID \"mention\") [b.md](b.md \"mention\") c\n",
            "p(a @</pages/ID> @<b.md> c)",
        ),
        ("{% unknown %}\n\n{% other a=b %}\n", ""),
        (
            "{% box title=\"T\" %}\n\nOne {% unknown %}.\n\n* two\n\n{% inner %}\nthree\n{% endinner %}\n{% endbox %}\n",
            "p(**T**) p(One .) ul(li(p(two))) p(three)",
        ),
        ("* a {% x %}\n* {% y %}b{% endy %}\n", "ul(li(p(a)) li(p(b)))"),
        ("## Head {% x y=\"z\" %}\n", "h1#head(Head)"),
        ("| a {% x %} | b |\n| - | - |\n| {% y %} | c {%z%} |\n", "table(a | b /  | p(c))"),
        ("> {% quoted %}\n> a\n> {% endquoted %}\n", "quote(p(a))"),
        ("a {% comment %}hidden{% endcomment %} b\n", "p(a  b)"),
        ("<div id=\"foo\"\n*hi*\n", ""),
        ("<div>\na <b\n</div>\n\nc\n", "p(a) p(c)"),
        ("<p>1 < 2 and <3\n", "p(1 < 2 and <3)"),
        ("{% raw %}\n{{ x }}\n{% endraw %}\n", "p({{ x }})"),
        ("Code `{% x %}` and\n\n```\n{% y %}\n```\n", "p(Code `{% x %}` and) code[]({% y %})"),
        ("[a {% x %} b](/c)\n", "p([a  b]</c>)"),
        ("{%- trimmed -%}\na\n{%- endtrimmed -%}\n", "p(a)"),
        ("It is 5 {% off\n", "p(It is 5 {% off)"),
        ("{% response status=\"200: OK\" %}\nBody.\n{% endresponse %}\n", "p(**200: OK**) p(Body.)"),
    ]);
}

#[test]
fn other_documents_are_unchanged() {
    for markdown in [
        "",
        "# Title\n\nSome *words* with a [link](https://a.test) and <https://b.test>.\n",
        "* one\n* two\n\n1. a\n\n```rust\nfn main() {}\n```\n",
        "{% hint style=\"info\" %}\nMind this.\n{% endhint %}\n",
        "<details>\n<summary>a</summary>\n\nb\n\n</details>\n",
        "| a | b |\n| - | - |\n| c | `<d>` |\n",
        "H<sub>2</sub>O and :rocket: and \\<b> and \\[x]: y\n",
        "Of <code class=\"expression\">space.vars.version</code>, x[^1].\n\n[^1]: note\n",
        "<figure><img src=\"a.png\" alt=\"\"><figcaption><p>c</p></figcaption></figure>\n",
    ] {
        let document = parse(markdown);
        assert_eq!(*reading_view(&document), document, "{markdown:?}");
    }
}

#[test]
fn unchanged_blocks_keep_their_keys() {
    let document = parse("# A\n\nb\n\n<u>c</u>\n\n* d\n* <u>e</u>\n\nb\n");
    let view = reading_view(&document);
    let keys = |document: &Document| {
        document.nodes.iter().map(|block| block.key.clone().expect("a key")).collect::<Vec<_>>()
    };
    let (own, shown) = (keys(&document), keys(&view));
    assert_eq!((&own[..2], &own[3..]), (&shown[..2], &shown[3..]));
    let unique: std::collections::HashSet<_> = shown.iter().collect();
    assert_eq!(unique.len(), shown.len());
    assert_eq!(view.nodes[0].meta, document.nodes[0].meta);
}

#[test]
fn markdown_within_html_of_a_cell_is_parsed() {
    let cells = [
        ("<p>*b* c</p>", "p(_b_ c)"),
        ("<p>*b* c</p><p>`d` *e*</p>", "p(_b_ c) p(`d` _e_)"),
        (
            "<ul><li>*b*</li><li>[c](https://example.com)</li></ul>",
            "ul(li(p(_b_)) li(p([c]<https://example.com>)))",
        ),
        ("<div>*b*</div>", "p(_b_)"),
        ("<details><summary>b</summary>*c*</details>", "details#b(p(b) p(_c_))"),
        ("<center>*b*</center>", "p@Center(_b_)"),
        ("x<br>*c*", "p(x⏎_c_)"),
    ];
    for (cell, expected) in cells {
        shown(&[(&format!("| a |\n| - |\n| {cell} |\n"), &format!("table(a / {expected})"))]);
    }
}

#[test]
fn footnote_references_are_not_labels_of_links() {
    let definitions = "\n\n[x]: /z\n[y]: /w\n[^n]: N\n[^m]: M\n";
    let cases = [
        ("a[^n][x]", "{a: p(N)}[x]</z>"),
        ("a[x][^n]", "a[x]</z>{^1^: p(N)}"),
        ("a[x][^n][y]", "a[x]</z>{^1^: p(N)}[y]</w>"),
        ("a[^n][x][y]", "{a: p(N)}[x]</w>"),
        ("a[^n][^m][x]", "{a: p(N)}{^1^: p(M)}[x]</z>"),
        ("a[^n](/u)", "{a: p(N)}(/u)"),
        ("a![^n](/u)", "{a!: p(N)}(/u)"),
        ("a[^u][x]", "a[^u]</z>"),
    ];
    let all: Vec<(String, String)> = cases
        .iter()
        .map(|(text, expected)| (format!("{text}{definitions}"), format!("p({expected})")))
        .collect();
    shown(&all.iter().map(|(text, expected)| (text.as_str(), expected.as_str())).collect::<Vec<_>>());
    // A footnote reference in a block between unknown tags is part of preserved text.
    let within = |text: &str| format!("{{% x %}}\n{text}{definitions}\n{{% endx %}}\n");
    shown(&[
        (&within("a[^n][^m]"), "p({a: p(N)}{^2^: p(M)})"),
        (&within("a[x][^n]"), "p(a[x]</z>{^1^: p(N)})"),
    ]);
}
