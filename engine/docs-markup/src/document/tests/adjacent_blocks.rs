//! Adjacent blocks: a block that cannot be a tree is preserved verbatim without affecting its neighbours.

use proptest::prelude::*;

use super::*;

/// Returns the text of the top-level verbatim blocks.
fn raw(markdown: &str) -> Vec<String> {
    let document = parse(markdown);
    document.nodes.iter().filter(|block| is_verbatim(block)).map(plain_text_of).collect()
}

fn plain_text_of(block: &docs_model::Block) -> String {
    super::super::spelling::text_of_nodes(&block.nodes)
}

/// Returns the kinds of the top-level blocks.
fn kinds(markdown: &str) -> Vec<String> {
    let nodes = nodes(markdown);
    nodes.as_array().unwrap().iter().map(|block| block["type"].as_str().unwrap().to_owned()).collect()
}

/// Returns a table of errors as written by an HTML editor.
fn html_table(rows: usize) -> String {
    let row = |number: usize| {
        format!(
            "    <tr>\n      <td style=\"text-align:left\"></td>\n      <td style=\"text-align:left\">CODE-{number}</td>\n      <td style=\"text-align:left\">\n        <p><b>NAME_{number}</b>\n        </p>\n        <p>What went wrong, and what to do.</p>\n      </td>\n    </tr>\n"
        )
    };
    let rows: String = (0..rows).map(row).collect();
    format!(
        "<table>\n  <thead>\n    <tr>\n      <th style=\"text-align:left\">Area</th>\n      <th style=\"text-align:left\">Code</th>\n      <th style=\"text-align:left\">Words</th>\n    </tr>\n  </thead>\n  <tbody>\n{rows}  </tbody>\n</table>\n\n"
    )
}

/// Returns a changelog: short headings, bold words, and lists of names in code.
fn changes(count: usize) -> String {
    let part = |number: usize| {
        format!(
            "#### {number}. Part\n\n**Where:** Preview / Part\n\n**Names**\n\n* `.part-{number}--a`\n* `.part-{number}--b`&#x20;\n* `.part-{number}--c`\n\n"
        )
    };
    format!("# Changes\n\n{}", (0..count).map(part).collect::<String>())
}

/// Returns a reference manual: repeated headings with an anchor, small tables and lists.
fn reference(count: usize) -> String {
    let metric = |number: usize| {
        format!(
            "## Metric {number} <a href=\"#m{number}\" id=\"m{number}\"></a>\n\nThe sum of all that was counted in an interval, without what is noise. It is also known by the name that it had before, and is told in native units and in others. What is not known yet is left out.\n\n| Name | Id | Unit |\n| ---- | -- | ---- |\n| A{number} | b{number} | USD |\n| C{number} | d{number} | EUR |\n\n#### Details\n\n* For chains that *count*:\n  * spent early\n  * [spent late](late.md#m{number})\n\n"
        )
    };
    (0..count).map(metric).collect()
}

/// Returns API responses: code with many short lines.
fn answers(count: usize) -> String {
    let answer = "### Answer\n\n```json\n[\n\t{\n\t\t\"title\": \"A\",\n\t\t\"ids\": [\n\t\t\t1,\n\t\t\t2\n\t\t]\n\t}\n]\n```\n\n";
    answer.repeat(count)
}

#[test]
fn long_pages_of_tables_lists_and_code_are_trees() {
    for text in [changes(400), reference(90), answers(300)] {
        assert!(text.len() > 20_000, "{}", text.len());
        assert_eq!(raw(&text), Vec::<String>::new(), "{}", &text[..80]);
        stable(&text);
    }
    let text = format!("# Codes\n\nSome words.\n\n{}## More\n\n* a\n", html_table(110));
    assert!(text.len() > 20_000, "{}", text.len());
    assert!(raw(&text).len() <= 1 && kinds(&text).len() == 5, "{:?}", kinds(&text));
    stable(&text);
}

/// All other blocks are trees.
#[test]
fn blocks_beyond_the_memory_limit_are_verbatim() {
    let dense = "*a* ".repeat(10_000);
    for (text, place, count) in [
        (format!("# A\n\nb\n\n{dense}\n\n## C\n\n* d\n"), 2, 5),
        (format!("{dense}\n\n# A\n\nb\n"), 0, 3),
        (format!("# A\n\nb\n\n{dense}\n"), 2, 3),
        // Adjacent verbatim blocks are merged.
        (format!("# A\n\n{dense}\n\n{dense}\n\n## C\n"), 1, 3),
        (format!("# A\n\na[^1]\n\n{dense}\n\n## C\n\n[^1]: b\n"), 2, 4),
    ] {
        let kept: Vec<bool> = parse(&text).nodes.iter().map(is_verbatim).collect();
        assert_eq!(kept, (0..count).map(|at| at == place).collect::<Vec<_>>());
        stable(&text);
    }
}

/// All other blocks are trees.
#[test]
fn blocks_beyond_the_work_limit_are_verbatim() {
    // Nested quotations in an unusual spelling are parsed again at each level.
    let odd = " > > > > > > > > > > > > > > > > > > > >\n".repeat(700);
    let text = format!("# A\n\nb\n\n{odd}\n\n## C\n\n* d\n");
    let kinds = kinds(&text);
    assert_eq!(
        (kinds.len(), &kinds[..2], &kinds[3..]),
        (
            5,
            &["heading-1".to_owned(), "paragraph".to_owned()][..],
            &["heading-1".to_owned(), "list-unordered".to_owned()][..]
        )
    );
    stable(&text);
}

/// Blocks that are trees when they are alone.
const FINE: &[&str] = &[
    "Some words.",
    "Two\nlines",
    "***bold** it*",
    "see [r](u.md)",
    "# A",
    "### B",
    "Underlined\n===",
    "* a\n* b",
    "- a\n- b",
    "+ a",
    "* a\n\n      code",
    "* a\n  * b\n\n    c",
    "1. a\n2. b",
    "1) a\n2) b",
    "* [ ] a\n* [x] b",
    "    code\n    more",
    "\tcode",
    "```js\nlet a = 1;\n```",
    "~~~\na\n~~~",
    "> quoted\n> more",
    "> * a\n>\n> b",
    "***",
    "- - -",
    "{% hint style=\"info\" %}\nMind.\n{% endhint %}",
    "{% hint style=\"warning\" %}\n* a\n\n      b\n{% endhint %}",
    "{% tabs %}\n{% tab title=\"A\" %}\na\n{% endtab %}\n{% endtabs %}",
    "{% code title=\"x\" %}\n```\na\n```\n{% endcode %}",
    "{% embed url=\"https://x.y\" %}",
    "| a | b |\n| - | - |\n| c | d |",
    "<details>\n\n<summary>S</summary>\n\nbody\n\n</details>",
    "<figure><img src=\"a.png\" alt=\"\"><figcaption></figcaption></figure>",
    "<p align=\"center\">mid</p>",
    "<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>b</td></tr></tbody></table>",
    "$$\na+b\n$$",
    "![x](a.png)",
];

/// Constructs between blocks, or opening and closing tags in the wrong position. Each of them is verbatim when it is
/// alone.
const ODD: &[&str] = &[
    "{% endhint %}",
    "{% hint style=\"tip\" %}",
    "{% tabs %}",
    "{% unknown %}",
    "</details>",
    "<div>",
    "</div>",
    "<div>\nx\n</div>",
    "[r]: u.md",
    "<!-- c -->",
];

#[test]
fn sample_blocks_are_trees_or_verbatim_as_classified() {
    for block in FINE {
        assert_eq!(raw(block), Vec::<String>::new(), "{block:?}");
        stable(block);
    }
    for block in ODD {
        assert_eq!(raw(block), [*block]);
        stable(block);
    }
}

/// Counts the adjacent pairs that are verbatim together, although neither is verbatim alone.
fn conflicts(page: &[&str]) -> usize {
    page.windows(2).map(|pair| raw(&pair.join("\n\n")).len()).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.max(300)))]

    /// Tested with blocks that are trees when they are alone.
    #[test]
    fn verbatim_blocks_occur_only_next_to_conflicts(
        page in proptest::collection::vec(proptest::sample::select(FINE), 0..24),
    ) {
        let text = page.join("\n\n");
        stable(&text);
        prop_assert!(raw(&text).len() <= conflicts(&page), "{:?}", raw(&text));
    }

    #[test]
    fn each_verbatim_block_affects_at_most_one_neighbour(
        page in proptest::collection::vec(
            prop_oneof![4 => proptest::sample::select(FINE), 1 => proptest::sample::select(ODD)], 0..24,
        ),
    ) {
        let text = page.join("\n\n");
        stable(&text);
        let odd = page.iter().filter(|block| ODD.contains(block)).count();
        let kept = raw(&text);
        prop_assert!(kept.len() <= odd, "{kept:?}");
        let blocks: usize = kept.iter().map(|text| text.split("\n\n").count()).sum();
        prop_assert!(blocks <= 2 * odd, "{kept:?}");
    }
}
