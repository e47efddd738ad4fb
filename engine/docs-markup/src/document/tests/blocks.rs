//! Every kind of block.

use docs_model::Node;

use super::*;

#[test]
fn paragraphs_headings_and_dividers_round_trip() {
    both_ways("Hello there.", paragraph("Hello there."));
    both_ways("one\\\ntwo", paragraph("one\ntwo"));
    for (mark, kind) in [("##", "heading-1"), ("###", "heading-2"), ("####", "heading-3")] {
        let expected =
            json!({ "type": kind, "nodes": [text("Quick start")], "meta": { "id": "quick-start" } });
        both_ways(&format!("{mark} Quick start"), expected);
    }
    for (mark, kind, level) in [("#", "heading-1", 1), ("#####", "heading-3", 5), ("######", "heading-3", 6)]
    {
        let expected =
            json!({ "type": kind, "data": { "level": level }, "nodes": [text("A")], "meta": { "id": "a" } });
        both_ways(&format!("{mark} A"), expected);
    }
    both_ways(
        "## T <a href=\"#my.id\" id=\"my.id\"></a>",
        json!({ "type": "heading-1", "data": { "id": "my.id" }, "nodes": [text("T")], "meta": { "id": "my.id" } }),
    );
    both_ways(
        "<h3 align=\"center\">T</h3>",
        json!({ "type": "heading-2", "data": { "align": "center" }, "nodes": [text("T")], "meta": { "id": "t" } }),
    );
    both_ways(
        "<p align=\"right\">T &#x26; <strong>b</strong></p>",
        json!({ "type": "paragraph", "data": { "align": "end" }, "nodes": [
            { "leaves": [{ "text": "T & " }, { "text": "b", "marks": [{ "type": "bold" }] }] }] }),
    );
    both_ways("***", json!({ "type": "divider" }));
    both_ways("---", json!({ "type": "divider", "spelling": "---" }));
    both_ways(
        "Title\n-----",
        json!({ "type": "heading-1", "nodes": [text("Title")], "meta": { "id": "title" }, "spelling": "-----" }),
    );
}

#[test]
fn lists_of_all_kinds_round_trip() {
    let item = |nodes: Value| json!({ "type": "list-item", "nodes": nodes });
    both_ways(
        "* a\n* b\n  * c",
        json!({ "type": "list-unordered", "nodes": [
            item(json!([paragraph("a")])),
            item(json!([paragraph("b"), { "type": "list-unordered", "nodes": [item(json!([paragraph("c")]))] }])),
        ] }),
    );
    both_ways(
        "1. a\n2. b",
        json!({ "type": "list-ordered", "nodes": [item(json!([paragraph("a")])), item(json!([paragraph("b")]))] }),
    );
    both_ways(
        "3) a\n3) b",
        json!({ "type": "list-ordered", "data": { "start": 3 }, "spelling": ")=",
            "nodes": [item(json!([paragraph("a")])), item(json!([paragraph("b")]))] }),
    );
    both_ways(
        "* [ ] a\n* [x] b",
        json!({ "type": "list-tasks", "nodes": [
            { "type": "list-item", "data": { "checked": false }, "nodes": [paragraph("a")] },
            { "type": "list-item", "data": { "checked": true }, "nodes": [paragraph("b")] },
        ] }),
    );
    both_ways(
        "1. a\n\n   {% hint style=\"info\" %}\n   b\n   {% endhint %}\n2. c",
        json!({ "type": "list-ordered", "nodes": [
            item(json!([paragraph("a"), { "type": "hint", "data": { "style": "info" }, "nodes": [paragraph("b")] }])),
            item(json!([paragraph("c")])),
        ] }),
    );
}

#[test]
fn formula_on_its_own_line_before_a_table_is_a_block() {
    let (document, _) = stable("$$x$$\n| A |\n| - |\n| b |\n");
    assert_eq!(document.nodes[0].kind, docs_model::BlockKind::Math { formula: "x".to_owned() });
}

#[test]
fn consecutive_multiline_tags_are_blocks() {
    for piece in ["{% embed\nurl=\"https://a.example\" %}\n", "{% embed\nurl=\"https://a.example/%}\n\" %}\n"]
    {
        let document = parse(&piece.repeat(1_000));
        assert_eq!(document.nodes.len(), 1_000, "{piece}");
    }
}

#[test]
fn empty_paragraphs_of_tabs_steps_and_columns_are_omitted() {
    for inside in [
        "{% tabs %}\n{% tab title=\"t\" %}\na\n{% endtab %}\n{% endtabs %}",
        "{% stepper %}\n{% step %}\na\n{% endstep %}\n{% endstepper %}",
        "{% columns %}\n{% column %}\na\n{% endcolumn %}\n{% endcolumns %}",
    ] {
        let mut document = parse(inside);
        let Node::Block(held) = &mut document.nodes[0].nodes[0] else { panic!("{inside}") };
        let Node::Block(paragraph) = &mut held.nodes[0] else { panic!("{inside}") };
        paragraph.nodes.clear();
        let written = print(&document).unwrap();
        assert!(!written.contains("\na\n"), "{written}");
        let again = parse(&written);
        assert_eq!(print(&again).unwrap(), written);
    }
}

#[test]
fn quotes_hints_code_and_formulas_round_trip() {
    both_ways(
        "> a\n>\n> > b",
        json!({ "type": "blockquote", "nodes": [paragraph("a"), { "type": "blockquote", "nodes": [paragraph("b")] }] }),
    );
    for style in ["info", "warning", "danger", "success"] {
        both_ways(
            &format!("{{% hint style=\"{style}\" %}}\na\n{{% endhint %}}"),
            json!({ "type": "hint", "data": { "style": style }, "nodes": [paragraph("a")] }),
        );
    }
    both_ways(
        "{% hint style=\"info\" icon=\"rocket\" %}\na\n{% endhint %}",
        json!({ "type": "hint", "data": { "style": "info", "icon": "rocket" }, "nodes": [paragraph("a")] }),
    );
    let line = |words: &str| json!({ "type": "code-line", "nodes": [text(words)] });
    both_ways(
        "```js\na*b\n```",
        json!({ "type": "code", "data": { "syntax": "js" }, "nodes": [line("a*b")] }),
    );
    both_ways("````\n```\n````", json!({ "type": "code", "nodes": [line("```")] }));
    both_ways(
        "{% code title=\"a.js\" overflow=\"wrap\" lineNumbers=\"true\" fullWidth=\"true\" %}\n```js\na\n```\n{% endcode %}",
        json!({ "type": "code", "nodes": [line("a")], "data": {
            "syntax": "js", "title": "a.js", "overflow": "wrap", "lineNumbers": true, "fullWidth": true } }),
    );
    both_ways(
        "{% code expandable=\"true\" collapsedLineCount=\"12\" %}\n```js\na\n```\n{% endcode %}",
        json!({ "type": "code", "nodes": [line("a")], "data": {
            "syntax": "js", "expandable": true, "collapsedLineCount": 12 } }),
    );
    both_ways(
        "<pre data-expandable=\"true\" data-collapsed-line-count=\"3\"><code><strong>c\n</strong></code></pre>",
        json!({ "type": "code", "data": { "expandable": true, "collapsedLineCount": 3 },
            "nodes": [{ "type": "code-line", "data": { "highlighted": true }, "nodes": [text("c")] }] }),
    );
    both_ways(
        "<pre class=\"language-js\" data-title=\"t\" data-overflow=\"wrap\" data-line-numbers><code class=\"lang-js\">a &#x3C; b\n<strong>c\n</strong></code></pre>",
        json!({ "type": "code", "data": { "syntax": "js", "title": "t", "overflow": "wrap", "lineNumbers": true },
            "nodes": [line("a < b"), { "type": "code-line", "data": { "highlighted": true }, "nodes": [text("c")] }] }),
    );
    both_ways("$$\na^2\n$$", json!({ "type": "math", "data": { "formula": "a^2" } }));
    both_ways("$$a^2$$", json!({ "type": "math", "data": { "formula": "a^2" }, "spelling": "$$a^2$$" }));
}

#[test]
fn images_drawings_files_and_embeds_round_trip() {
    let images = |data: Value, image: Value, caption: Value| {
        let mut block = json!({ "type": "images", "nodes": [
            { "type": "image", "data": image, "fragments": [{ "fragment": "caption", "nodes": caption }] }] });
        if data != json!({}) {
            block["data"] = data;
        }
        block
    };
    both_ways(
        "<figure><img src=\"/files/f1\" alt=\"a\" width=\"375\"><figcaption><p>c <strong>d</strong></p></figcaption></figure>",
        images(
            json!({}),
            json!({ "ref": { "kind": "file", "file": "f1" }, "alt": "a", "width": 375.0 }),
            json!([{ "type": "paragraph", "nodes": [{ "leaves": [{ "text": "c " }, { "text": "d", "marks": [{ "type": "bold" }] }] }] }]),
        ),
    );
    both_ways(
        "<div align=\"center\" data-full-width=\"true\" data-with-frame=\"true\"><figure><picture><source srcset=\"d.png\" media=\"(prefers-color-scheme: dark)\"><img src=\"l.png\" alt=\"\" width=\"50%\"></picture><figcaption></figcaption></figure></div>",
        images(
            json!({ "align": "center", "fullWidth": true, "withFrame": true }),
            json!({ "ref": { "kind": "url", "url": "l.png" }, "refDark": { "kind": "url", "url": "d.png" }, "width": { "unit": "%", "value": 50.0 } }),
            json!([]),
        ),
    );
    let mut plain = images(
        json!({}),
        json!({ "ref": { "kind": "url", "url": "a b.png" }, "alt": "x" }),
        json!([paragraph("t")]),
    );
    plain["spelling"] = json!("![x](<a b.png> \"t\")");
    both_ways("![x](<a b.png> \"t\")", plain);
    both_ways(
        "<img src=\"/files/f\" alt=\"\" class=\"gitbook-drawing\">",
        json!({ "type": "drawing", "data": { "ref": { "kind": "file", "file": "f" } } }),
    );
    both_ways(
        "{% file src=\"/files/f\" %}",
        json!({ "type": "file", "data": { "ref": { "kind": "file", "file": "f" } } }),
    );
    both_ways(
        "{% file src=\"/files/f\" %}\nhere\n{% endfile %}",
        json!({ "type": "file", "data": { "ref": { "kind": "file", "file": "f" } },
            "fragments": [{ "fragment": "caption", "nodes": [paragraph("here")] }] }),
    );
    both_ways(
        "{% embed url=\"https://x.y\" fullWidth=\"true\" %}",
        json!({ "type": "embed", "data": { "url": "https://x.y", "fullWidth": true } }),
    );
}

#[test]
fn content_refs_includes_and_integrations_round_trip() {
    let page = json!({ "kind": "page", "page": "p1" });
    both_ways(
        "{% content-ref url=\"/pages/p1\" %}\n[p1](/pages/p1)\n{% endcontent-ref %}",
        json!({ "type": "content-ref", "data": { "ref": page } }),
    );
    both_ways(
        "{% content-ref url=\"/pages/p1\" %}\n[Start](/pages/p1)\n{% endcontent-ref %}",
        json!({ "type": "content-ref", "data": { "ref": page },
            "spelling": "{% content-ref url=\"/pages/p1\" %}\n[Start](/pages/p1)\n{% endcontent-ref %}" }),
    );
    both_ways(
        "{% include \"/reusable-content/r1\" %}",
        json!({ "type": "reusable-content", "data": { "ref": { "kind": "reusable-content", "reusableContent": "r1" } } }),
    );
    both_ways(
        "{% @mermaid/diagram content=\"graph \\\"a\\\"\" zoom=\"2\" url=\"https://x.y\" fullWidth=\"true\" %}",
        json!({ "type": "integration", "data": { "integration": "mermaid", "block": "diagram", "fullWidth": true,
            "url": "https://x.y", "props": { "content": "graph \"a\"", "zoom": 2 } } }),
    );
}

#[test]
fn openapi_blocks_round_trip() {
    let spec = json!({ "kind": "openapi", "spec": "pets" });
    both_ways(
        "{% openapi src=\"https://x.y/a.yaml\" path=\"/p\" method=\"get\" expanded=\"true\" fullWidth=\"true\" %}\n[https://x.y/a.yaml](https://x.y/a.yaml)\n{% endopenapi %}",
        json!({ "type": "swagger", "meta": { "id": "get-p" }, "data": { "path": "/p", "method": "get", "expanded": true,
            "fullWidth": true, "ref": { "kind": "url", "url": "https://x.y/a.yaml" } } }),
    );
    both_ways(
        "{% openapi-operation spec=\"pets\" path=\"/p\" method=\"get\" %}\n[OpenAPI pets](/openapi/pets)\n{% endopenapi-operation %}",
        json!({ "type": "openapi-operation", "meta": { "id": "get-p" }, "data": { "path": "/p", "method": "get", "ref": spec } }),
    );
    both_ways(
        "{% openapi-schemas spec=\"pets\" schemas=\"A,B\" grouped=\"false\" %}\n[OpenAPI pets](/openapi/pets)\n{% endopenapi-schemas %}",
        json!({ "type": "openapi-schemas", "meta": { "id": "a-b" }, "data": { "schemas": ["A", "B"], "grouped": false, "ref": spec } }),
    );
    both_ways(
        "{% openapi-webhook spec=\"pets\" name=\"n\" method=\"post\" %}\n[OpenAPI pets](/openapi/pets)\n{% endopenapi-webhook %}",
        json!({ "type": "openapi-webhook", "meta": { "id": "post-n" }, "data": { "name": "n", "method": "post", "ref": spec } }),
    );
}

#[test]
fn container_blocks_round_trip_with_their_content() {
    both_ways(
        "{% tabs %}\n{% tab title=\"A\" icon=\"x\" %}\na\n{% endtab %}\n\n{% tab title=\"A\" %}\nb\n{% endtab %}\n{% endtabs %}",
        json!({ "type": "tabs", "nodes": [
            { "type": "tabs-item", "data": { "title": "A", "icon": "x" }, "nodes": [paragraph("a")], "meta": { "id": "a" } },
            { "type": "tabs-item", "data": { "title": "A" }, "nodes": [paragraph("b")], "meta": { "id": "a-1" } },
        ] }),
    );
    both_ways(
        "{% stepper %}\n{% step %}\na\n{% endstep %}\n\n{% step icon=\"x\" %}\nb\n{% endstep %}\n{% endstepper %}",
        json!({ "type": "stepper", "nodes": [
            { "type": "stepper-step", "nodes": [paragraph("a")] },
            { "type": "stepper-step", "data": { "icon": "x" }, "nodes": [paragraph("b")] },
        ] }),
    );
    both_ways(
        "{% columns fullWidth=\"true\" %}\n{% column width=\"50%\" valign=\"middle\" %}\na\n{% endcolumn %}\n\n{% column %}\n{% endcolumn %}\n{% endcolumns %}",
        json!({ "type": "columns", "data": { "fullWidth": true }, "nodes": [
            { "type": "column", "data": { "width": { "unit": "%", "value": 50.0 }, "verticalAlignment": "middle" }, "nodes": [paragraph("a")] },
            { "type": "column" },
        ] }),
    );
    both_ways(
        "{% if visitor.claims.plan == \"a %} b\" %}\na\n{% endif %}",
        json!({ "type": "if", "data": { "expression": "visitor.claims.plan == \"a %} b\"" }, "nodes": [paragraph("a")] }),
    );
    let expandable = |data: Value| {
        let mut block = json!({ "type": "expandable", "meta": { "id": "t-code" }, "fragments": [
            { "fragment": "expandable-title", "type": "expandable-title", "nodes": [{ "type": "paragraph", "nodes": [
                { "leaves": [{ "text": "T " }, { "text": "code", "marks": [{ "type": "code" }] }] }] }] },
            { "fragment": "expandable-body", "type": "expandable-body", "nodes": [paragraph("a")] },
        ] });
        if data != json!({}) {
            block["data"] = data;
        }
        block
    };
    both_ways(
        "<details>\n\n<summary>T <code>code</code></summary>\n\na\n\n</details>",
        expandable(json!({})),
    );
    both_ways(
        "<details open>\n\n<summary>T <code>code</code></summary>\n\na\n\n</details>",
        expandable(json!({ "defaultExpanded": true })),
    );
}

#[test]
fn grid_and_card_tables_round_trip() {
    let column = |id: &str, title: &str, align: &str| json!({ "id": id, "title": title, "type": "text", "textAlignment": align });
    both_ways(
        "| A | B |\n| --- | :---: |\n| a | `b \\| c` |",
        json!({ "type": "table",
            "data": {
                "view": { "type": "grid", "columns": ["c000", "c001"], "hideHeader": false },
                "definition": { "c000": column("c000", "A", "left"), "c001": column("c001", "B", "center") },
                "records": { "r000000": { "orderIndex": "r000000", "values": { "c000": "r000000-c000", "c001": "r000000-c001" } } },
            },
            "fragments": [
                { "fragment": "r000000-c000", "nodes": [paragraph("a")] },
                { "fragment": "r000000-c001", "nodes": [{ "type": "paragraph", "nodes": [{ "leaves": [{ "text": "b | c", "marks": [{ "type": "code" }] }] }] }] },
            ],
        }),
    );
    let cards = "<table data-column-title-hidden data-card-size=\"large\" data-view=\"cards\" data-full-width=\"true\"><thead><tr>\
        <th valign=\"top\">T</th><th data-type=\"number\">N</th><th data-type=\"checkbox\">C</th><th data-type=\"rating\" data-max=\"5\">R</th>\
        <th data-type=\"users\" data-multiple>U</th><th data-type=\"files\">F</th>\
        <th>S<select multiple><option value=\"o1\" label=\"Done\" color=\"blue\"></option></select></th>\
        <th data-hidden data-card-target data-type=\"content-ref\"></th><th data-hidden data-card-cover data-type=\"image\"></th></tr></thead>\
        <tbody><tr><td valign=\"top\"><p>a</p><ul><li>b</li></ul></td><td>1.5</td><td>true</td><td>3</td><td><a href=\"/users/u1\">u1</a></td>\
        <td><a href=\"/files/f1\">f1</a></td><td><span data-option=\"o1\">Done</span></td><td><a href=\"/pages/p1\">p1</a></td>\
        <td><a href=\"/files/f2\" data-object-fit=\"contain\">f2</a></td></tr></tbody></table>";
    let value = nodes(cards);
    let data = &value[0]["data"];
    assert_eq!(
        data["view"],
        json!({ "type": "cards", "cardSize": "large", "columns": ["c000", "c001", "c002", "c003", "c004", "c005", "c006"],
            "targetDefinition": "c007", "coverDefinition": "c008", "hideColumnTitle": true })
    );
    assert_eq!(
        data["records"]["r000000"]["values"],
        json!({ "c000": "r000000-c000", "c001": 1.5, "c002": true, "c003": 3.0, "c004": ["u1"], "c005": ["f1"], "c006": ["o1"],
            "c007": { "kind": "page", "page": "p1" }, "c008": { "ref": { "kind": "file", "file": "f2" }, "objectFit": "contain" } })
    );
    assert_eq!(data["fullWidth"], json!(true));
    assert_eq!(print(&parse(cards)).unwrap(), format!("{cards}\n"));
    stable(cards);
}
