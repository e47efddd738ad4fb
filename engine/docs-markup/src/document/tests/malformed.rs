//! Unclosed, deeply nested and deceptive constructs.

use super::*;

#[test]
fn unknown_and_malformed_constructs_are_preserved() {
    for written in [
        "{% unknown a=\"b\" %}\n\ntext\n\n{% endunknown %}",
        "{% hint style=\"tip\" %}\n\ntext\n\n{% endhint %}",
        "{% hint style=\"info\" %}\n\nnever closed",
        "text\n\n{% endhint %}",
        "<script>\nvar a = \"<b>\";\n\nx\n</script>",
        "<!-- a comment\n\nof lines -->",
        "<details>\n\nno summary\n\n</details>",
        "<table><tr><td>no head</td></tr></table>",
        "<figure><img src=\"a\" loading=\"lazy\"><figcaption></figcaption></figure>",
        "a <foo bar> b </foo>",
        "a <b>b",
        "[a]: b.md",
        "{% code %}\n\n```\na\n```\n\n{% endcode %}",
        "| a |\n| --- |\n| b | c |",
    ] {
        stable(written);
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(words(&print(&parse(written)).unwrap()), words(written));
    }
}

#[test]
fn fuzz_regressions_round_trip() {
    for text in [
        "[^1]: [^1]: [^1]:\n [^1",
        "\n\n\u{c}",
        "\u{feff}\u{feff}a",
        "\t\n\u{feff}a",
        "* a\u{a0}",
        "a\rb\r\r\nc",
        "<!--\n\na[^1]\n\n[^1]: b",
        "a[^1]\n\n[^1]: b\n\n<!-- c",
        "{% content-ref url=\"a\" %}\n[a\n](b)\n{% endcontent-ref %}",
        "*   a\n\n   <div b",
        "    a\n        \n    b",
        "1. a\n\n   ```\nb\n   ```\n\n{% hint style=\"info\" %}\nc\n{% endhint %}",
        " <p\n    ```\n{%hint style=\"warning\"%}\n{%endhint%}",
        "a:\n\n  <p><p><p>  ```json\n    {}\n    ```\n\n{% hint style=\"info\" %}\nb\n{% endhint %}",
        "{%\nfile src=\"\" %}\n{%endfile%}",
        "{%\nembed url=\"\" %}\n{%endembed%}",
        "{%content-ref url=\"\"%}\n)\n{%endcontent-ref\n\n{%endcontent-ref%}",
        "* [^1]\n\n[^1]:\n* a",
        "<b></b>",
        "<p align=\"left\"></p>",
        "{%step%}\n#a\n-\n{%endstep%}",
        "{%tab%}\n<table><thead><tr><th></th></tr></thead><tbody><tr><td><code>a</code></td></tr><tr><td\n></td></tr></tbody></table>\n{%endtab%}",
        " - - - - - - - - - - - - - - - - - - - - - ]",
        " > > > > > > > > > > > > > > > > > > > > > >",
        " [^a]:\n\n    a",
        " [a]:\n    #",
        " [a]:\n    ```",
    ] {
        stable(text);
    }
}

/// Maximum number of blocks in overly dense text: a block takes hundreds of bytes, and any text may take some
/// megabytes.
const MOST_BLOCKS: usize = 128 * 1024 * 50 / 600;

/// Asserts that a repeated fragment is preserved verbatim, with few nodes.
#[track_caller]
fn check_dense(part: &str, times: usize) {
    let text = part.repeat(times);
    let (document, written) = stable(&text);
    let mut blocks = 0;
    document.nodes.iter().for_each(|block| block.visit(&mut |_| blocks += 1));
    assert!(blocks < MOST_BLOCKS, "{part:?}: {blocks}");
    let words = |text: &str| text.split_whitespace().collect::<String>();
    assert_eq!(words(&written), words(&text), "{part:?}");
}

#[test]
fn overly_dense_blocks_are_preserved_verbatim() {
    for (part, blocks) in [
        ("a\n\n", 1),
        ("* a\n", 2),
        ("#\n", 1),
        ("***\n", 1),
        ("    a\n", 1),
        ("> a\n\n", 2),
        ("![](a)\n\n", 2),
    ] {
        // Slightly above the limit for trees. With twice as many of the shortest fragments, the text would not even be
        // split into chunks.
        check_dense(part, MOST_BLOCKS / 10 * 11 / blocks);
    }
    check_dense("#\n", 30_000);
}

#[test]
fn overly_dense_lines_are_preserved_verbatim() {
    for part in ["[a](b)", "*a* ", "[", "{%"] {
        check_dense(part, 60_000 / part.len());
    }
    // If its items did not begin with a space, the text would have too many lines to be split into chunks.
    stable(&format!("{{% tabs %}}\n{}```\n", "  * a\n".repeat(43_700)));
}

/// Text that mostly consists of line endings is verbatim.
#[test]
fn text_of_common_density_is_a_tree() {
    let text = "* [A page of the handbook](handbook/a-page.md) says *more* of its subject than this line of the list can say\n".repeat(2_000);
    assert_eq!(parse(&text).nodes[0].nodes.len(), 2_000);
    stable(&format!("<img src=\"a[^1]b/act{}", "\r\n".repeat(5_500)));
    stable(&format!("a{}b", "\r\n".repeat(5_500)));
    // Trailing line endings are not part of unclosed code.
    let open = format!("```\n{}", "\r".repeat(60_000));
    assert!(parse(&open).nodes.iter().all(|block| block.nodes.len() < 2));
    stable(&open);
    let code = |line: &str| format!("<pre><code>{}</code></pre>\n", line.repeat(2_000));
    let lines = parse(&code("let a_line = of_the_usual(length, and_some).that(is_not_short).at_all();\n"));
    assert_eq!(lines.nodes[0].nodes.len(), 2_000);
    let text = code("    of_many_lines_that_are_short\n\n\n");
    assert!(parse(&text).nodes[0].nodes.len() < 2_000);
    stable(&text);
}

#[test]
fn tags_in_code_and_quoted_values_are_ignored() {
    assert_eq!(nodes("```\n{% hint style=\"info\" %}\n```")[0]["type"], json!("code"));
    assert_eq!(nodes("`{% hint style=\"info\" %}`")[0]["type"], json!("paragraph"));
    assert_eq!(
        nodes("{% hint style=\"info\" %}\n```\n{% endhint %}\n```\n{% endhint %}")[0]["nodes"][0]["type"],
        json!("code")
    );
    assert_eq!(nodes("{% file src=\"a %} b.pdf\" %}")[0]["data"]["ref"]["url"], json!("a %} b.pdf"));
}

#[test]
fn nested_tags_and_lists_round_trip() {
    let tabs = "{% tabs %}\n{% tab title=\"A\" %}\n{% tabs %}\n{% tab title=\"B\" %}\nb\n{% endtab %}\n{% endtabs %}\n{% endtab %}\n{% endtabs %}";
    both_ways(tabs, nodes(tabs)[0].clone());
    assert_eq!(nodes(tabs)[0]["nodes"][0]["nodes"][0]["nodes"][0]["data"]["title"], json!("B"));
    let list = "{% tabs %}\n{% tab title=\"A\" %}\n* one\n* two\n{% endtab %}\n{% endtabs %}";
    assert_eq!(nodes(list)[0]["nodes"][0]["nodes"][0]["nodes"].as_array().unwrap().len(), 2);
    stable(list);
    stable("1. a\n2. b\n\n   text\n\n3. c\n\n```\ncode\n```\n\n4. d");
    stable("* a\n\n- b\n\n* c\n\n1. d\n\n1) e");
    stable("* [ ] a\n* b\n* \n* ***\n* # h\n* > q\n* ```\n  c\n  ```\n*     code");
}

#[test]
fn crlf_bom_and_nul_are_normalized() {
    let plain = "## A\n\n* b\n* c\n\n```\nd\n```\n\n{% hint style=\"info\" %}\ne\n{% endhint %}\n";
    assert_eq!(nodes(&plain.replace('\n', "\r\n")), nodes(plain));
    assert_eq!(nodes(&format!("\u{feff}{plain}")), nodes(plain));
    let zero = parse("a\0b `c\0`\n\n```\nd\0\n```\n\n<p align=\"left\">e\0</p>\n");
    assert!(!serde_json::to_string(&zero).unwrap().contains("\\u0000"));
    for text in ["", "\n", "\u{feff}", "\r", " \n\t\n"] {
        assert_eq!((nodes(text), print(&parse(text)).unwrap().as_str()), (json!([]), ""), "{text:?}");
    }
}

#[test]
fn hostile_nesting_parses_and_serializes_to_json() {
    for part in [
        ">",
        "> ",
        "* ",
        "- 1. ",
        "[",
        "![",
        "](",
        "*",
        "**_",
        "~~",
        "`",
        "<b>",
        "<kbd>",
        "<div>\n",
        "<details>\n",
        "{% tabs %}\n",
        "{% hint style=\"info\" %}\n",
        "{% tab",
        "{%",
        "$$",
        "\\",
        "&",
        "|",
        "| a ",
        "[^1]",
        "[^1]: ",
        "<a href='",
        "\n\n\n* ",
        "```\n",
        "<!--",
        "<table>\n",
        "#",
        "\t",
        ":a",
        "\u{1f3f4}",
        "[a]: <",
        "a[b](c \"",
    ] {
        let text = part.repeat(10_000);
        let document = parse(&text);
        let json = serde_json::to_string(&document).unwrap();
        assert!(serde_json::from_str::<docs_model::Document>(&json).is_ok(), "{part:?}");
    }
}
