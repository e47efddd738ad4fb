//! The visible text of inputs from the families of the tests of CommonMark, GitHub Flavored Markdown, cmark-gfm and
//! markdown-it.

use super::{
    reading_view::{blocks, shown},
    *,
};

/// Asserts the text that readers see, with single spaces, and that the source is unchanged.
#[track_caller]
fn texts(cases: &[(&str, &str)]) {
    let mut wrong = String::new();
    for (markdown, expected) in cases {
        let document = parse(markdown);
        let view = reading_view(&document);
        let found = plain_text(&view).split_whitespace().collect::<Vec<_>>().join(" ");
        if found != *expected {
            let tree = blocks(&view.nodes);
            wrong.push_str(&format!(
                "\n{markdown:?}\n  expected: {expected}\n  found:    {found}\n  {tree}\n"
            ));
        }
        assert_eq!(update(markdown, &document).unwrap(), *markdown, "the source is unchanged");
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn tables_in_all_surroundings() {
    texts(&[
        ("paragraph\na|b\n---|---\nc|d\n", "paragraph a b c d"),
        ("paragraph\na | b\n:-- | --:\nc | d\n", "paragraph a b c d"),
        ("one\ntwo\n| a | b |\n| --- | --- |\nc | d\n", "one two a b c d"),
        ("> text\n> a|b\n> -|-\n> c|d\n", "text a b c d"),
        ("- item\n  a|b\n  -|-\n  c|d\n", "item a b c d"),
        ("# Title\na|b\n-|-\nc|d\n", "Title a b c d"),
        ("a|b\n-|-\nc|d\n\nafter\n", "a b c d after"),
        ("a|b\n-|-\nc|d\n> quote\n", "a b c d quote"),
        ("a|b\n-|-\nc|d\n# Title\n", "a b c d Title"),
        ("a|b\n-|-\nc|d\n- item\n", "a b c d item"),
        ("a|b\n-|-\nc|d\n```\ncode\n```\n", "a b c d code"),
        ("a|b\n-|-\nc|d\n***\nx\n", "a b c d x"),
        ("a|b\n-|-\nc|d\n<div>x</div>\n", "a b c d x"),
        ("a|b\n-|-\nc|d\ntext\n", "a b c d text"),
        ("| a |\n| - |\n| b |\n", "a b"),
        ("|a|\n|-|\n", "a"),
        ("| a | b |\n|:-:|:-|\n|   | c |\n", "a b c"),
        ("| a \\| b | c |\n| - | - |\n| d \\| e | f |\n", "a | b c d | e f"),
        ("| `a\\|b` | c |\n| - | - |\n| **d\\|e** | f |\n", "a|b c d|e f"),
        ("| a | b |\n| - | - |\n| `c | d` |\n", "a b `c d`"),
        ("| a | b |\n| - |\n| c |\n", "| a | b | | - | | c |"),
        ("a\n-\nb | c\n", "a b | c"),
        ("a | b\nc | d\n", "a | b c | d"),
        ("| a | b\n|---|---\n| c | d\n", "a b c d"),
        ("a | b |\n--|---|\nc | d |\n", "a b c d"),
        ("| *a* | [b](/c) |\n| - | - |\n| ![d](/e) | <b>f</b> |\n", "a b d f"),
        ("| a |\n| - |\n| b<br>c |\n", "a b c"),
        ("| a |\n| - |\n| - b |\n| # c |\n| > d |\n", "a - b # c > d"),
        ("| a |\n| - |\n| https://a.test/b_c_ |\n", "a https://a.test/b_c_"),
        ("text a | b\n\n| - | - |\n", "text a | b | - | - |"),
    ]);
}

#[test]
fn web_addresses_are_literal() {
    texts(&[
        ("https://a.test/pkg/__init__.py\n", "https://a.test/pkg/__init__.py"),
        ("see https://a.test/_b_/c and *d*\n", "see https://a.test/_b_/c and d"),
        ("https://a.test/b*c*d\n", "https://a.test/b*c*d"),
        ("https://a.test/?q=%28*f%29+%28g+*%29\n", "https://a.test/?q=%28*f%29+%28g+*%29"),
        ("https://a.test/~b~/~~c~~/d\n", "https://a.test/~b~/~~c~~/d"),
        ("**https://a.test/b_c_d** e\n", "https://a.test/b_c_d e"),
        ("*https://a.test/b*c\n", "https://a.test/bc"),
        ("_see https://a.test/b_c._\n", "see https://a.test/b_c."),
        ("~~https://a.test/b~~\n", "https://a.test/b"),
        ("(https://a.test/__b__)\n", "(https://a.test/__b__)"),
        ("\"https://a.test/__b__\"\n", "\"https://a.test/__b__\""),
        ("[https://a.test/__b__](https://a.test/__b__)\n", "https://a.test/__b__"),
        ("[x](https://a.test/__b__) https://a.test/__c__\n", "x https://a.test/__c__"),
        ("<https://a.test/__b__>\n", "https://a.test/__b__"),
        ("`https://a.test/__b__`\n", "https://a.test/__b__"),
        ("<a href=\"https://a.test/__b__\">c</a> __d__\n", "c d"),
        ("<u>https://a.test/__b__</u> <u>__c__</u>\n", "https://a.test/__b__ c"),
        ("- https://a.test/__b__\n- __c__\n", "https://a.test/__b__ c"),
        (
            "> <u>x</u> `https://a.test/__b__` https://a.test/__b__\n",
            "x https://a.test/__b__ https://a.test/__b__",
        ),
        ("## https://a.test/__b__ <u>x</u>\n", "https://a.test/__b__ x"),
        ("http://localhost:8080/_next/_b_\n", "http://localhost:8080/_next/_b_"),
        ("https://a.test/__b__\\_c https://a.test/\\__d__\n", "https://a.test/__b___c https://a.test/_d_"),
        ("$$x$$ https://a.test/__b__ [y](https://a.test/_z_)\n", "x https://a.test/__b__ y"),
        ("www.a.test/b. And a.b@c.test!\n", "www.a.test/b. And a.b@c.test!"),
        ("https://a.test/b&amp;c\n", "https://a.test/b&c"),
        ("https://a.test:*b*\n", "https://a.test:*b*"),
        ("参见 https://a.test/b。*c*\n", "参见 https://a.test/b。c"),
        ("https://a.test/a_b https://a.test/c_d\n", "https://a.test/a_b https://a.test/c_d"),
    ]);
}

#[test]
fn embeds_of_older_exports_keep_their_caption_and_address() {
    let text = "{% embed url=\"https://a.test/x\\_y\\#z\" caption=\"Some steps\" %}\n";
    let document = parse(text);
    assert_eq!(print(&document).expect("written"), text);
    let shown = plain_text(&reading_view(&document));
    assert!(shown.contains("https://a.test/x_y#z") && shown.contains("Some steps"), "{shown}");
}

#[test]
fn mentioned_elements_lose_no_text() {
    texts(&[
        ("Use the <script> tag here.\n\nNext *one*.\n", "Use the tag here. Next one."),
        ("Use the <title> tag and <style> rules.\n", "Use the tag and rules."),
        ("The <iframe> element, *then* more.\n", "The element, then more."),
        ("<video> and <audio> play <iframe>.\n", "and play ."),
        ("- the <script> tag\n- <STYLE> next\n\nEnd\n", "the tag next End"),
        ("<script> loads *code*.\n\nEnd\n", "loads *code*. End"),
        ("| a | b |\n| - | - |\n| the <style> tag | c |\n", "a b the tag c"),
        ("# The <select> element\n\nText\n", "The element Text"),
        ("> a <textarea> b\n>\n> c\n", "a b c"),
        ("a <textarea>b</textarea> c\n", "a b c"),
        ("<select><option>b</option><option>c</option></select>\n", "b c"),
        ("a <script>b</script> c <script>d\n", "a c d"),
        ("a <title> b <title>c</title> d\n", "a d"),
        ("a <svg><svg>b</svg>c</svg> d\n", "a d"),
        ("a <script\nasync>b</script > c\n", "a c"),
        ("<p>No <textarea> here.</p>\n\nb\n", "No here. b"),
        ("<div>\n<title>A page\n</div>\n\nb\n", "A page b"),
        ("<script>\nx\n</script>\n", ""),
        ("<div><script>\nx\n</div>\n\nb\n", "x b"),
        ("<style>p { }\n\nb\n</style>\n\nc\n", "c"),
        ("text <object data=x> more <embed> and <applet> end\n", "text more and end"),
        ("{% hint style=\"info\" %}\nThe <head> of a page\n{% endhint %}\n", "The of a page"),
    ]);
}

#[test]
fn comments_of_templates_are_invisible() {
    texts(&[
        ("{% comment %}\nhidden\n{% endcomment %}\n", ""),
        ("a\n\n{% comment %}\n\nhidden\n\n* x\n\n{% endcomment %}\n\nb\n", "a b"),
        ("{% comment %}hidden{% endcomment %}\n", ""),
        ("a\n{% comment %}\nhidden\n{% endcomment %}\nb\n", "a b"),
        ("- a\n  {% comment %}\n  hidden\n  {% endcomment %}\n  b\n", "a b"),
        ("> {% comment %}\n> hidden\n> {% endcomment %}\n>\n> b\n", "b"),
        ("{%- comment -%}\nhidden\n{%- endcomment -%}\n\nb\n", "b"),
        ("{% comment %}\n\n| a |\n| - |\n| b |\n\n```\nc\n```\n\n{% endcomment %}\n", ""),
        ("# T {% comment %}x{% endcomment %}\n\nb\n", "T b"),
        ("a {% comment %} b\n\nc {% endcomment %} d\n", "a d"),
        ("| a |\n| - |\n| {% comment %}x{% endcomment %} b |\n", "a b"),
        ("{% hint style=\"info\" %}\n{% comment %}\nx\n{% endcomment %}\n\nb\n{% endhint %}\n", "b"),
        ("- a {% comment %}\n- b\n\nc {% endcomment %}\n", "a b c"),
        ("{% comment %}\na\n\n```\n{% endcomment %}\n```\n", "a {% endcomment %}"),
        ("a {% comment %}b{% endcomment %} c {% comment %}d{% endcomment %} e\n", "a c e"),
    ]);
}

#[test]
fn inline_markdown_is_read() {
    texts(&[
        ("*a **b** c*\n", "a b c"),
        ("***a** b*\n", "a b"),
        ("**a *b***\n", "a b"),
        ("a*b*c a_b_c __a__b\n", "abc a_b_c __a__b"),
        ("* a*\n", "a*"),
        ("**a\nb**\n", "a b"),
        ("\\*a\\* \\# \\[b\\](c)\n", "*a* # [b](c)"),
        ("&copy; &#35; &#x22; &nbsp;x &unknown; &amp\n", "© # \" x &unknown; &amp"),
        ("`` a`b `` ` `` ` `c\n", "a`b `` `c"),
        ("`a  b`\n", "a b"),
        ("[a](<b c> \"d\") [e](f 'g') [h](i (j))\n", "a e h"),
        ("[a](b(c)d) [e](\\(f) [g]()\n", "a e g"),
        ("[a [b] c](d) [e![f](g)](h)\n", "a [b] c ef"),
        ("[a](b \"c \\\"d\\\" e\")\n", "a"),
        ("[a] (b) [c](d\n", "[a] (b) [c](d"),
        ("[A B][c  D]\n\n[C d]: /x\n", "A B"),
        ("[ﬀ] [ẞ] [ΑΓΩ]\n\n[ff]: /a\n[SS]: /b\n[αγω]: /c\n", "ﬀ ẞ ΑΓΩ"),
        ("[a][] [b] [c][none]\n\n[a]: /a\n[b]: /b\n", "a b [c][none]"),
        ("[a\\]b]\n\n[a\\]b]: /c\n", "a]b"),
        ("[a]: /b\n[a]: /c\n\n[a]\n", "a"),
        ("[a]:\n/b\n'c\nd'\n\n[a]\n", "a"),
        ("[a]: /b \"c\" d\n\n[a]\n", "[a]: /b \"c\" d [a]"),
        ("[a]: <>\n\n[a]\n", "a"),
        ("![a *b*](c) ![d][e]\n\n[e]: /e\n", "a b d"),
        ("a  \nb\\\nc\n", "a b c"),
        ("a <b>c</b> <i>d</i>\n", "a c d"),
        ("a <!-- b --> c <?d?> e <!F g> h <![CDATA[i]]> j\n", "a c e h j"),
        ("<a@b.test> <made-up:x>\n", "a@b.test made-up:x"),
        ("a < b > c <3 <- d\n", "a < b > c <3 <- d"),
        ("(_A_@_.A\n", "(A@_.A"),
        ("*a `b*` c*\n", "a b* c"),
        ("**a [b**](c)\n", "**a b**"),
        ("a\u{a0}b\u{2003}c\n", "a b c"),
        ("\u{201c}*a*\u{201d} **\"b\"** c**(d)**\n", "“a” \"b\" c**(d)**"),
        ("**a：**b\n", "**a：**b"),
    ]);
}

#[test]
fn strikethrough_and_tasks_are_read() {
    texts(&[
        ("~~a~~ ~b~ a~~b~~c\n", "a b abc"),
        ("~~a\nb~~\n", "a b"),
        ("~~a\n\nb~~\n", "~~a b~~"),
        ("~~ a~~ \\~~b~~\n", "~~ a~~ ~~b~~"),
        ("x ~~~~a~~~~ b\n", "x ~~~~a~~~~ b"),
        ("**~~a~~ b** ~~*c*~~\n", "a b c"),
        ("~~a `~~` b~~\n", "a ~~ b"),
        ("- [ ] a\n- [x] b\n- [X] c\n", "a b c"),
        ("1. [x] a\n2. [ ] b\n", "a b"),
        ("- [ ] a\n  - [x] b\n\n    c\n", "a b c"),
        ("- [y] a\n- []\n- [ ]b\n", "[y] a [] [ ]b"),
        ("> - [ ] a\n", "a"),
        ("- [x] **a** `b` [c](d)\n", "a b c"),
    ]);
}

#[test]
fn blocks_of_markdown_are_read() {
    texts(&[
        ("a\n===\n\nb\n---\n\nc\n", "a b c"),
        ("a\nb\n===\n", "a b"),
        ("# a #\n\n## b ##  \n\n### c \\###\n\n#d\n", "a b c ### #d"),
        ("#\n\n##  \n\na\n", "a"),
        ("####### a\n", "####### a"),
        ("a\n# b\nc\n", "a b c"),
        ("***\n---\n___\n - - -\n", ""),
        ("    a\n\n    b\n\nc\n", "a b c"),
        ("a\n    b\n", "a b"),
        ("```\n<b>\n*c*\n```\n", "<b> *c*"),
        ("~~~ a b\n```\n~~~\n", "```"),
        ("````\n```\n````\n", "```"),
        ("```\na\n", "a"),
        ("``` a`b\n", "``` a`b"),
        ("- ```\n  a\n  ```\n- b\n", "a b"),
        ("1. a\n\n   ```js\n   b\n   ```\n\n2. c\n", "a b c"),
        ("> a\nb\n\nc\n", "a b c"),
        (">a\n>> b\n\n>c\n", "a b c"),
        ("> - a\n> - b\n>\n>   c\n", "a b c"),
        ("- a\n- b\n\n- c\n", "a b c"),
        ("- a\n+ b\n* c\n", "a b c"),
        ("3. a\n4. b\n5) c\n", "a b c"),
        ("-\n  a\n-\n- b\n", "a b"),
        ("- a\n\n\n\n- b\n", "a b"),
        ("- - - a\n", "a"),
        ("1. - a\n     - b\n", "a b"),
        ("a\n- b\n1. c\n", "a b c"),
        ("a\n2. b\n", "a 2. b"),
        ("10. a\n\n    b\n", "a b"),
        ("-   a\n\n    b\n", "a b"),
        ("- a\nb\n", "a b"),
        ("- [a]: /b\n- [a]\n", "a"),
        ("<!-- a\n\nb -->\n*c*\n", "c"),
        ("<div>\n*a*\n</div>\n\n<div>\n\n*b*\n\n</div>\n", "*a* b"),
        ("<pre>\n*a*\n\nb\n</pre>\nc\n", "*a* b c"),
        ("<a>\n*b*\n</a>\n", "*b*"),
        ("<b>*a*</b>\n", "a"),
        ("a\n<div>b</div>\n", "a b"),
        ("\ta\n\n-\tb\n", "a b"),
        ("\u{feff}# a\n", "a"),
        ("a\r\n\r\n* b\r\n", "a b"),
        ("a\u{0}b\n", "a\u{fffd}b"),
    ]);
}

#[test]
fn footnotes_are_read() {
    shown(&[
        ("a[^1]\n\n[x]: /y\n[^1]: *Note* `c` d\n", "p({a: p(_Note_ `c` d)})"),
        ("a[^1]\n\n[x]: /y \"z\"\n[^1]: `c` <u>d</u> [x]\n", "p({a: p(`c` d [x]</y \"z\">)})"),
        ("> a[^1]\n>\n> [x]: /y\n> [^1]: see `c` and [x]\n", "quote(p({a: p(see `c` and [x]</y>)}))"),
        ("- a[^1]\n\n  [x]: /y\n  [^1]: `c` **d** <kbd>e</kbd>\n", "ul(li(p({a: p(`c` **d** kbd:e:)})))"),
        ("a[^1] b[^2]\n\n[x]: /y\n[^1]: `c`\n[^2]: `d`\n", "p({a: p(`c`)} {b: p(`d`)})"),
        ("a[^1]b[^1]\n\n[^1]: c\n", "p({a: p(c)}{b: p(c)})"),
        ("[^1]\n\n[^1]: a\n", "p({^1^: p(a)})"),
        ("a[^Ä]\n\n[^ä]: b\n", "p({a: p(b)})"),
        ("a[^1]\n\n[^1]:\n    b\n\n    ```\n    c\n    ```\n", "p({a: p(b) code[](c)})"),
        ("a[^1]\n\n[^1]: b\nc\n\nd\n", "p({a: p(b c)}) p(d)"),
        ("`[^1]` b[^1] [^2]\n\n[^1]: a\n", "p(`[^1]` {b: p(a)} [^2])"),
        ("a![^1] b\n\n[^1]: c\n", "p({a!: p(c)} b)"),
        ("a[^1]\n[^1]: b *c*\n", "p({a: p(b _c_)})"),
    ]);
}

#[test]
fn html_of_real_documents_is_read() {
    texts(&[
        ("<p align=center>\n  <a href=\"/x\"><img src=\"/y.png\" alt=\"z\"></a>\n</p>\n\na\n", "z a"),
        ("<details>\n<summary><b>a</b></summary>\n<p>b</p>\n\n```\nc\n```\n</details>\n", "a b c"),
        ("<details open><summary>a</summary>\n\n- b\n</details>\n\nc\n", "a b c"),
        ("<table>\n<tr><th>a</th></tr>\n<tr><td>\n\n- b\n\n</td></tr>\n</table>\n", "a b"),
        ("<dl>\n<dt>a</dt>\n<dd>b</dd>\n<dd>c</dd>\n</dl>\n", "a b c"),
        ("<ol>\n<li>a\n<ul>\n<li>b\n</ul>\n<li>c\n</ol>\n", "a b c"),
        ("<kbd>a</kbd>+<kbd>b</kbd> <sub>c</sub> <small>d</small> <big>e</big>\n", "a+b c d e"),
        (
            "<ruby>a<rt>b</rt></ruby> <bdo dir=rtl>c</bdo> <wbr>d <time>e</time> <data value=1>f</data>\n",
            "ab c d e f",
        ),
        ("<h1>a</h1><h4 id=x>b</h4><h6>c</h6>\n", "a b c"),
        ("<br/><br>a<hr>b\n", "a b"),
        ("<a name=\"x\"></a>\n# a\n<a id=y />b\n", "a b"),
        ("<!-- a --><!--> b\nc\n", "b c"),
        ("<my-tab title=\"a\">b</my-tab> <Tabs><Tab>c</Tab></Tabs>\n", "b c"),
        ("<span style=\"color:red\" onclick=\"x()\">a</span>\n", "a"),
        ("<font color=red size=2>a <i>b</font> c</i>\n", "a b c"),
        ("<b>a</i> b</b> c\n", "a b c"),
        ("<q>a</q> <blockquote cite=x>b</blockquote>\n", "“a” b"),
        ("a&nbsp;&nbsp;b&mdash;c &lt;d&gt;\n\n<p>&lt;e&gt; &amp; f</p>\n", "a b—c <d> <e> & f"),
        ("<center>\n\n## a\n\n</center>\n", "a"),
        ("<nav><ul><li><a href=x>a</a></li></ul></nav>\n", "a"),
        ("<input type=checkbox checked> a <button>b</button> <label>c</label>\n", "☑ a b c"),
        ("<marquee>a</marquee> <blink>b</blink> <tt>c</tt> <strike>d</strike>\n", "a b c d"),
        ("<picture><source srcset=\"a.webp\"><img src=\"b.png\" alt=\"c\"></picture>\n", "c"),
        ("<math><mi>x</mi></math> a\n", "x a"),
        ("<p>a\n\n*b*\n\n</p>\n", "a b"),
        ("<div><div><div>a</div></div>\n\nb\n\n</div>\n", "a b"),
    ]);
}

#[test]
fn lines_that_begin_with_a_colon_are_text() {
    texts(&[
        (":::tip[My <u>tip</u>]\nbody\n:::\n", ":::tip[My tip] body :::"),
        (":::warning\n\n<u>body</u>\n\n:::\n", ":::warning body :::"),
        ("Mind\n:warning: the <u>gap</u>\n", "Mind ⚠ the gap"),
        ("<u>ratio</u>\n:1 to 2\n", "ratio :1 to 2"),
        ("> <u>a</u>\n> ::b\n", "a ::b"),
        ("- <u>a</u>\n  :b\n", "a :b"),
        ("<u>Term</u>\n: Definition\n", "Term Definition"),
        ("<u>Term</u>\n: a\n: b\n", "Term a b"),
        ("> <u>Term</u>\n> : a\n", "Term a"),
    ]);
    shown(&[("<u>Term</u>\n: a\n: b\n", "p(**Term**) ul(li(p(a))) ul(li(p(b)))")]);
}

#[test]
fn anchors_within_headings_lead_to_them() {
    shown(&[
        ("## <a name=\"foo\"></a>Foo bar\n", "h1#foo(Foo bar)"),
        ("## Foo <a id=\"x.y\"></a>\n", "h1#x.y(Foo)"),
        ("# Foo <span id=a></span>*bar*\n", "h1#a(Foo _bar_)"),
        ("### <a name=a></a><a id=b></a>Foo\n", "p#b() h2#a(Foo)"),
        ("## <a id=\"a\">Foo</a> bar {#b}\n", "p#a() h1#b(Foo bar)"),
        ("Foo <a name=a></a>\n---\n", "h1#a(Foo)"),
        ("- ## <a name=a></a>Foo\n- b\n", "ul(li(h1#a(Foo)) li(p(b)))"),
        ("> ## Foo<a name=a></a>\n", "quote(h1#a(Foo))"),
        ("## [<a name=a></a>Foo](/b)\n", "h1#foo([Foo]</b>)"),
        ("## <a href=\"#a\">Foo</a>\n", "h1#foo([Foo]<#a>)"),
    ]);
}

#[test]
fn tags_with_double_braces_degrade_to_their_content() {
    texts(&[
        ("{{% notice tip %}}\nbody\n{{% /notice %}}\n", "body"),
        ("a {{% ref \"x\" %}} b\n", "a b"),
        ("- {{% a %}}b{{% /a %}}\n- c {%d%}\n", "b c"),
        ("{{{% a %}}} {{% b %} {% c %}}\n", "{} { }"),
        ("`{{% a %}}` {{% b %}}\n", "{{% a %}}"),
        ("{{% a %}}{{% b %}}c{{% /b %}}{{% /a %}}\n", "c"),
        ("| {{% a %}}b |\n| - |\n| c{{% /a %}} |\n", "b c"),
    ]);
}

#[test]
fn alerts_may_be_folded() {
    shown(&[
        ("> [!TIP]- Folded\n> *a*\n", "Success(p(Folded _a_))"),
        ("> [!NOTE]+\n> a\n", "Info(p(a))"),
        ("> [!NOTE]-a\n", "quote(p([!NOTE]-a))"),
        ("> [!NOTE]a\n", "quote(p([!NOTE]a))"),
    ]);
}

#[test]
fn alternatives_of_objects_are_shown() {
    texts(&[
        ("<object data=\"a.svg\"><img src=\"b.png\" alt=\"c\"></object>\n", "c"),
        ("a <object data=x>*b* <object>c</object></object> d\n", "a b c d"),
        ("<object data=\"a.swf\">\n<param name=x value=y>\n<p>No plug-in</p>\n</object>\n", "No plug-in"),
        ("<object>\n<script>a()</script>\n</object>\n\nb\n", "b"),
    ]);
}

#[test]
fn comments_within_html_may_have_empty_lines() {
    texts(&[
        ("<div>\n<!-- a\n\nb -->\n*x*\n\n</div>\n\n*y*\n", "x y"),
        (
            "<table>\n<!--\n<tr><td>a</td></tr>\n\n<tr><td>b</td></tr>\n-->\n<tr><td>c</td></tr>\n</table>\n",
            "c",
        ),
        ("<p>a\n<!--\n\n- b\n- c\n\nd\n\n--> e</p>\n\nf\n", "a e f"),
        ("- <div>\n  <!-- a\n\n  b -->\n\n  c\n- d\n", "c d"),
        ("<div>\n<!-- a --> b\n\nc --> d\n</div>\n", "b c --> d"),
        ("<!DOCTYPE html>\n<div>a\n\nb --> c\n</div>\n", "a b --> c"),
        ("<div>\n<!-- a\n\n```\nb -->\n```\n\nc\n", "b --> c"),
        ("<details>\n<summary>a</summary>\n<!-- b\n\nc\n\n-->\n\nd\n\n</details>\n", "a d"),
    ]);
}

#[test]
fn titles_of_columns_have_emoji_and_alternative_texts() {
    texts(&[
        ("| :rocket: | a :x: b |\n| - | - |\n| c | d |\n", "🚀 a ❌ b c d"),
        ("| ![a](b.png) | [![c](d.png)](/e) f |\n| - | - |\n| g | h |\n", "a c f g h"),
        ("| <img src=\"a.png\" alt=\"b\"> | c |\n| - | - |\n| d | e |\n", "b c d e"),
        ("| ![a][b] |\n| - |\n| c |\n\n[b]: d.png\n", "a c"),
        (
            "<table><thead><tr><th>:rocket: a</th></tr></thead><tbody><tr><td>b</td></tr></tbody></table>\n",
            ":rocket: a b",
        ),
    ]);
}

#[test]
fn descriptions_of_operations_are_shown() {
    texts(&[
        (
            "{% swagger method=\"get\" path=\"/x/{id}\" baseUrl=\"https://a.test\" summary=\"S\" %}\n\
             {% swagger-description %}\nD\n{% endswagger-description %}\n\
             {% swagger-parameter in=\"path\" name=\"id\" type=\"string\" %}\nP\n{% endswagger-parameter %}\n\
             {% swagger-response status=\"200: OK\" description=\"R\" %}\n{% endswagger-response %}\n\
             {% endswagger %}\n",
            "GET https://a.test/x/{id}: S D id P 200: OK",
        ),
        (
            "{% api-method method=\"post\" host=\"https://a.test\" path=\"/x\" %}\n\
             {% api-method-summary %}\nS\n{% endapi-method-summary %}\n\
             {% api-method-parameter name=\"id\" type=\"string\" required=true %}\nP\n{% endapi-method-parameter %}\n\
             {% endapi-method %}\n",
            "POST https://a.test/x S id P",
        ),
        ("{% a path=\"/x\" %}\nb\n{% enda %}\n", "b"),
        ("{% a method=\"get\" title=\"c\" %}\nb\n{% enda %}\n", "c b"),
    ]);
}

#[test]
fn references_without_a_character_are_invisible() {
    texts(&[
        ("&#xNAN;Remark\n", "Remark"),
        ("a\\\n&#xNAN;*b* `c`\n", "a b c"),
        ("**a**&#xNAN; b &#xNAN;\n", "a b"),
        ("- a\n\n  &#xNAN;1. b\n", "a 1. b"),
        ("| a |\n| - |\n| &#xNAN;b |\n", "a b"),
        ("## &#xNAN;a\n\n> &#xNAN;b\n", "a b"),
        ("`&#xNAN;` &#xNaN; &#x;\n", "&#xNAN; &#xNaN; &#x;"),
    ]);
}
