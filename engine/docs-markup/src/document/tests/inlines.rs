//! Every inline element and mark.

use super::*;

/// Returns a paragraph with these nodes.
fn of(nodes: Value) -> Value {
    json!({ "type": "paragraph", "nodes": nodes })
}

#[test]
fn marks_of_all_kinds_round_trip() {
    let marked =
        |mark: Value| of(json!([{ "leaves": [{ "text": "a " }, { "text": "b", "marks": [mark] }] }]));
    for (written, kind) in [
        ("a **b**", "bold"),
        ("a _b_", "italic"),
        ("a ~~b~~", "strikethrough"),
        ("a `b`", "code"),
        ("a <kbd>b</kbd>", "keyboard"),
        ("a <sup>b</sup>", "superscript"),
        ("a <sub>b</sub>", "subscript"),
    ] {
        both_ways(written, marked(json!({ "type": kind })));
    }
    both_ways(
        "a <mark style=\"color:$primary;background-color:purple;\">b</mark>",
        marked(json!({ "type": "color", "data": { "text": "$primary", "background": "purple" } })),
    );
    both_ways(
        "a <mark style=\"color:red;\">b</mark>",
        marked(json!({ "type": "color", "data": { "text": "red", "background": "default" } })),
    );
    both_ways(
        "a *b*",
        of(
            json!([{ "leaves": [{ "text": "a ", "spelling": "a " }, { "text": "b", "marks": [{ "type": "italic", "spelling": "*" }] }] }]),
        ),
    );
    both_ways(
        "_**b**_",
        of(json!([{ "leaves": [{ "text": "b", "marks": [{ "type": "italic" }, { "type": "bold" }] }] }])),
    );
}

#[test]
fn links_and_mentions_of_each_target_kind_round_trip() {
    let link =
        |target: Value| of(json!([{ "type": "link", "data": { "ref": target }, "nodes": [text("t")] }]));
    both_ways("[t](https://x.y)", link(json!({ "kind": "url", "url": "https://x.y" })));
    both_ways("[t](/pages/p1)", link(json!({ "kind": "page", "page": "p1" })));
    both_ways("[t](/pages/p1#a)", link(json!({ "kind": "anchor", "page": "p1", "anchor": "a" })));
    both_ways("[t](#a)", link(json!({ "kind": "anchor", "anchor": "a" })));
    both_ways("[t](/files/f1)", link(json!({ "kind": "file", "file": "f1" })));
    both_ways("[t](<a b.md>)", link(json!({ "kind": "url", "url": "a b.md" })));
    both_ways(
        "[t](a.md \"b \\\"c\\\"\")",
        of(
            json!([{ "type": "link", "data": { "ref": { "kind": "url", "url": "a.md" }, "title": "b \"c\"" }, "nodes": [text("t")] }]),
        ),
    );
    both_ways(
        "<https://x.y>",
        of(
            json!([{ "type": "link", "data": { "ref": { "kind": "url", "url": "https://x.y" } }, "nodes": [text("https://x.y")] }]),
        ),
    );
    both_ways(
        "[p1](/pages/p1 \"mention\")",
        of(json!([{ "type": "mention", "data": { "ref": { "kind": "page", "page": "p1" } } }])),
    );
    stable("[`c` **b** ![i](j.png)](x.md) and **[x](y) z** and [https://x.y](https://x.y)");
    stable("[a][b] [b][] [b]\n\n[b]: c.md 'title'");
    assert_eq!(nodes("[a][b]\n\n[b]: c.md")[0]["nodes"][0]["data"]["ref"]["url"], json!("c.md"));
}

#[test]
fn inline_elements_without_text_round_trip() {
    for (written, kind, data) in [
        (":rocket:", "emoji", json!({ "code": "1f680" })),
        (
            "<span data-gb-custom-inline data-tag=\"emoji\" data-code=\"1f44d-1f3ff\">👍🏿</span>",
            "emoji",
            json!({ "code": "1f44d-1f3ff" }),
        ),
        ("<i class=\"fa-github\">:github:</i>", "icon", json!({ "icon": "github" })),
        ("$$a*b*c$$", "inline-math", json!({ "formula": "a*b*c" })),
        (
            "<code class=\"expression\">a*b*c &#x3C; 1</code>",
            "expression",
            json!({ "expression": "a*b*c < 1" }),
        ),
        (
            "<a href=\"/pages/p\" class=\"button primary\" data-icon=\"rocket\">Go</a>",
            "button",
            json!({ "label": "Go", "kind": "primary", "icon": "rocket", "ref": { "kind": "page", "page": "p" } }),
        ),
        ("<a class=\"button secondary\">Go</a>", "button", json!({ "label": "Go", "kind": "secondary" })),
        (
            "<img src=\"/files/f\" alt=\"x\" data-size=\"line\">",
            "inline-image",
            json!({ "ref": { "kind": "file", "file": "f" }, "alt": "x", "size": "line" }),
        ),
        (
            "<picture><source srcset=\"d.png\" media=\"(prefers-color-scheme: dark)\"><img src=\"l.png\" alt=\"\"></picture>",
            "inline-image",
            json!({ "ref": { "kind": "url", "url": "l.png" }, "refDark": { "kind": "url", "url": "d.png" } }),
        ),
    ] {
        both_ways(
            &format!("a {written} b"),
            of(json!([text("a "), { "type": kind, "data": data }, text(" b")])),
        );
    }
}

#[test]
fn annotations_round_trip_with_their_footnotes() {
    let body = |blocks: Value| json!([{ "type": "annotation-body", "nodes": blocks }]);
    both_ways(
        "a word[^1] b\n\n[^1]: note",
        of(
            json!([text("a "), { "type": "annotation", "nodes": [text("word")], "fragments": body(json!([paragraph("note")])) }, text(" b")]),
        ),
    );
    both_ways(
        "[two words](#user-content-fn-1)[^1]\n\n[^1]: note\n\n    more",
        of(
            json!([{ "type": "annotation", "nodes": [text("two words")], "fragments": body(json!([paragraph("note"), paragraph("more")])) }]),
        ),
    );
    stable("a[^x] b[^1] c[^x]\n\n[^1]: one\n\n[^x]: two [^1]\n\n[^unused]: three");
}

#[test]
fn escaped_markup_is_text_and_round_trips() {
    for written in [
        "\\*a\\* \\_b\\_ \\`c\\` \\[d]",
        "1\\. a",
        "\\# a",
        "\\> a",
        "\\- a",
        "\\{% hint %}",
        "a \\<b> c",
        "\\&amp; &amp; &nbsp; &#x20;",
        "trailing&#x20;",
        "a\\_b a_b a * b",
        "<b>b</b> <em>e</em> a<br>b",
        "two  spaces and a hard break  \nhere",
        "\\$$a\\$$",
    ] {
        stable(written);
        assert_eq!(print(&parse(written)).unwrap().trim_end(), written);
    }
}
