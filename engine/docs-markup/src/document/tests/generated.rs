//! Property tests on generated texts and trees.

use docs_model::{
    Block, BlockKind, ContentRef, Document, Fragment, HeadingData, HintStyle, Inline, InlineKind, Leaf, Mark,
    MarkColor, MarkKind, Node, TextNode,
};
use proptest::prelude::*;

use super::*;

/// Fragments of Markdown.
const PIECES: &[&str] = &[
    "a",
    "b c",
    " ",
    "\n",
    "\n\n",
    "    ",
    "\t",
    "# ",
    "## ",
    "> ",
    "* ",
    "- ",
    "1. ",
    "2) ",
    "[ ] ",
    "***\n",
    "---\n",
    "===\n",
    "*",
    "**",
    "_",
    "__",
    "~~",
    "`",
    "``",
    "```\n",
    "~~~\n",
    "\\",
    "\\\n",
    "  \n",
    "[",
    "]",
    "(",
    ")",
    "![",
    "](",
    "[a](b)",
    "<b>",
    "</b>",
    "<kbd>",
    "</kbd>",
    "<br>",
    "<div>\n",
    "</div>",
    "<",
    ">",
    "&amp;",
    "&",
    "&#x20;",
    "<!--",
    "-->",
    "|",
    "| a | b |\n",
    "| --- | --- |\n",
    "{% hint style=\"info\" %}\n",
    "{% endhint %}\n",
    "{% tabs %}\n",
    "{% tab title=\"a\" %}\n",
    "{% endtab %}\n",
    "{% endtabs %}\n",
    "{% code title=\"a\" %}\n",
    "{% endcode %}\n",
    "{%",
    "%}",
    "\"",
    "<details>\n",
    "<summary>a</summary>\n",
    "</details>\n",
    "$$",
    "$$a$$",
    "[^1]",
    "[^1]: a\n",
    "[a]: b\n",
    ":rocket:",
    "<figure><img src=\"a\" alt=\"\"></figure>",
    "<table><thead><tr><th>a</th></tr></thead><tbody></tbody></table>\n",
    "ä",
    "\r\n",
    "\0",
    "\u{a0}",
    "<https://x.y>",
    "x@y.z",
];

/// Generates random sequences of Markdown fragments.
fn markdown() -> impl Strategy<Value = String> {
    let part = proptest::sample::select(PIECES);
    proptest::collection::vec(part, 0..24).prop_map(|parts| parts.concat())
}

/// Blocks, most of them in a noncanonical spelling.
const BLOCKS: &[&str] = &[
    "| A | B |\n| - | -: |\n| 1 | 2 |",
    "A | B\n- | -\n1 | *2*",
    "|A|\n|:--|\n| `a \\| b` |\n| {{x}} |",
    "- a\n- b\n\n    c",
    "*   a\n    * b\n*   c",
    "+ a\n\n  ```\n  x\n  ```",
    "3) a\n3) b\nlazy",
    "* [x] done\n* [ ]   open",
    "> a\nb\n> * c",
    "> | A |\n> | - |",
    "## Two ##",
    "Title\n=====",
    "Title\n---",
    "***",
    "- - -",
    "```rust\nfn f() {}\n```",
    "~~~\nx\n~~~",
    "```\nopen",
    "    code",
    "  indented",
    "$$\nx\n$$",
    "$$x$$",
    "{% hint style='info' %}\n| A |\n| - |\n{% endhint %}",
    "{% hint style=\"info\" %}\nMind.\n{% endhint %}",
    "{% hint style=\"info\" %}\n<pre>\n{% endhint %}",
    "{% hint style=\"info\" %}",
    "{% endhint %}",
    "{% tabs %}\n{% tab title=\"A\" %}\n- a\n{% endtab %}\n{% endtabs %}",
    "{% embed url=\"https://a.b\" %}",
    "{% file src=\"a.b\" %}\nc\n{% endfile %}",
    "<details><summary>S</summary>\n\nx\n\n</details>",
    "<details>\n\n<summary>S</summary>\n\n- x\n\n</details>",
    "<figure><img src=\"a.png\" alt=\"\"></figure>",
    "<img src=\"a.png\">",
    "<table><thead><tr><th>A</th></tr></thead><tbody><tr><td>b</td></tr></tbody></table>",
    "<!-- x",
    "<pre>",
    "[a]: b",
    "[^1]: note",
    "A [link][a] and [a], *b* __c__ [^1] <b>d</b>.",
    "a\\\nb  \nc",
    "1\\. a\n\\- b",
    "\\# a",
    "a|b",
    "![a](b.png)",
];

/// Generates sequences of blocks, with and without empty lines between them.
fn blocks_together() -> impl Strategy<Value = String> {
    let block = prop_oneof![
        12 => proptest::sample::select(BLOCKS).prop_map(str::to_owned),
        1 => proptest::sample::select(PIECES).prop_map(str::to_owned),
    ];
    let gap = prop_oneof![2 => Just("\n"), 6 => Just("\n\n"), 1 => Just("\n\n\n"), 1 => Just("\n  \n")];
    proptest::collection::vec((block, gap), 0..6)
        .prop_map(|parts| parts.iter().flat_map(|(block, gap)| [block.as_str(), *gap]).collect())
}

fn words() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[a-c ]{1,6}",
        1 => "[-+*_`~#>|<&!\\[\\]()\\\\.:$%{}=0-9a \n]{1,6}",
    ]
}

fn leaf() -> impl Strategy<Value = Leaf> {
    let mark = proptest::sample::select(vec![
        MarkKind::Bold,
        MarkKind::Italic,
        MarkKind::Strikethrough,
        MarkKind::Code,
        MarkKind::Keyboard,
        MarkKind::Superscript,
    ]);
    (words(), proptest::collection::vec(mark.prop_map(Mark::from), 0..3)).prop_map(|(text, mut marks)| {
        marks.dedup();
        Leaf::new(text, marks)
    })
}

fn inline() -> impl Strategy<Value = Inline> {
    let url = proptest::sample::select(vec!["a.md", "https://x.y/a b", "/pages/p", "#a", "a(b", ""]);
    prop_oneof![
        (url, leaf()).prop_map(|(url, leaf)| {
            let target = super::super::targets::read(url);
            let text = if leaf.text.is_empty() { Leaf::new("x", leaf.marks) } else { leaf };
            Inline::new(InlineKind::Link { target, title: None }, vec![Node::Text(TextNode::new(vec![text]))])
        }),
        Just(Inline::new(InlineKind::Icon { icon: "x".into(), color: Some(MarkColor::Red) }, Vec::new())),
        "[a-z^*]{1,4}".prop_map(|formula| Inline::new(InlineKind::InlineMath { formula }, Vec::new())),
        words().prop_map(|expression| Inline::new(
            InlineKind::Expression { expression: expression.replace('\n', " ") },
            Vec::new()
        )),
        Just(Inline::new(InlineKind::Mention { target: ContentRef::Url { url: "a.md".into() } }, Vec::new())),
        Just(Inline::new(InlineKind::Emoji { code: "1f680".into() }, Vec::new())),
    ]
}

fn text() -> impl Strategy<Value = Vec<Node>> {
    let node = prop_oneof![
        3 => proptest::collection::vec(leaf(), 1..3).prop_map(|leaves| Node::Text(TextNode::new(leaves))),
        1 => inline().prop_map(Node::Inline),
    ];
    proptest::collection::vec(node, 1..4)
}

fn block() -> impl Strategy<Value = Block> {
    let leaf = prop_oneof![
        4 => text().prop_map(|nodes| Block::new(BlockKind::Paragraph { align: None }, nodes)),
        1 => text().prop_map(|nodes| Block::new(BlockKind::Heading2(HeadingData::default()), nodes)),
        1 => Just(Block::new(BlockKind::Divider {}, Vec::new())),
        1 => proptest::collection::vec("[a-c`~ ]{0,4}", 0..3).prop_map(|lines| {
            let lines = lines.iter().map(|line| Node::Block(simple_blocks::code_line(line))).collect();
            let kind = BlockKind::plain_code(Some("js".into()));
            Block::new(kind, lines)
        }),
    ];
    leaf.prop_recursive(3, 24, 3, |inner| {
        let blocks = proptest::collection::vec(inner, 1..3);
        let nodes = |blocks: Vec<Block>| blocks.into_iter().map(Node::Block).collect::<Vec<_>>();
        let items = move |kind: BlockKind| {
            move |lists: Vec<Vec<Block>>| {
                let items = lists.into_iter().map(|blocks| {
                    Node::Block(Block::new(BlockKind::ListItem { checked: None }, nodes(blocks)))
                });
                Block::new(kind.clone(), items.collect())
            }
        };
        prop_oneof![
            blocks.clone().prop_map(move |blocks| Block::new(BlockKind::Blockquote {}, nodes(blocks))),
            blocks.clone().prop_map(move |blocks| Block::new(
                BlockKind::Hint { style: HintStyle::Info, icon: None },
                nodes(blocks)
            )),
            proptest::collection::vec(blocks.clone(), 1..3).prop_map(items(BlockKind::ListUnordered {})),
            proptest::collection::vec(blocks.clone(), 1..3)
                .prop_map(items(BlockKind::ListOrdered { start: None })),
            proptest::collection::vec(blocks.clone(), 1..3).prop_map(move |tabs| {
                let tabs = tabs.into_iter().map(|blocks| {
                    Node::Block(Block::new(
                        BlockKind::TabsItem {
                            title: Some("a \"b\"".into()),
                            icon: None,
                            slug: Some("b".into()),
                        },
                        nodes(blocks),
                    ))
                });
                Block::new(BlockKind::Tabs { full_width: None }, tabs.collect())
            }),
            (text(), blocks).prop_map(|(title, body)| {
                let title = Block::new(BlockKind::Paragraph { align: None }, title);
                Block::with_fragments(
                    BlockKind::Expandable { default_expanded: None },
                    vec![
                        Fragment::new("expandable-title", vec![title]).with_kind("expandable-title"),
                        Fragment::new("expandable-body", body).with_kind("expandable-body"),
                    ],
                )
            }),
        ]
    })
}

proptest! {
    // More cases than the default, unless `PROPTEST_CASES` requests even more.
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.max(600)))]

    #[test]
    fn printing_a_parsed_text_preserves_the_tree(text in prop_oneof![4 => markdown(), 1 => any::<String>()]) {
        stable(&text);
    }

    #[test]
    fn parsing_in_parts_equals_parsing_as_a_whole(
        text in prop_oneof![6 => blocks_together(), 1 => markdown()],
    ) {
        let _reading = work_budget::TextBudget::begin(text.len());
        let lines = lines::split(lines::without_mark(&text));
        let (own, together) = (settling::parse_text(&lines), settling::parse_text_as_whole(&lines));
        prop_assert_eq!(&own.blocks, &together.blocks);
        prop_assert_eq!(&own.lines, &together.lines);
    }

    #[test]
    fn adjacent_blocks_read_the_same_when_printed(text in blocks_together()) {
        stable(&text);
    }

    #[test]
    fn printed_tree_parses_to_the_same_tree(blocks in proptest::collection::vec(block(), 0..4)) {
        let document = Document::new(blocks);
        let written = print(&document).unwrap();
        let read = parse(&written);
        prop_assert!(is_same(&read, &document), "{}\n{}\n{}", written,
            serde_json::to_string(&document.nodes).unwrap(), serde_json::to_string(&read.nodes).unwrap());
    }
}
