//! Keys, anchors, and updates of Markdown.

use docs_model::{Block, BlockKind, Document, Node};
use proptest::prelude::*;

use super::*;

const PAGE: &str = "Intro  \nwith   space.\n\n## A\n\n- one\n- two\n\n\n{% hint style=\"info\" %}\nMind.\n{% endhint %}\n\n## A\n\nlast";

fn keys(markdown: &str) -> Vec<String> {
    parse(markdown).nodes.into_iter().map(|block| block.key.unwrap()).collect()
}

#[test]
fn an_edited_block_keeps_the_bytes_of_all_others() {
    let mut document = parse(PAGE);
    let new = parse("Other *intro*.");
    document.nodes[0] = new.nodes[0].clone();
    assert_eq!(
        update(PAGE, &document).unwrap(),
        format!("Other *intro*.{}", &PAGE["Intro  \nwith   space.".len()..])
    );
    let mut document = parse(PAGE);
    document.nodes.remove(3);
    let written = update(PAGE, &document).unwrap();
    assert!(written.starts_with("Intro  \nwith   space.\n\n## A\n\n- one\n- two\n\n"), "{written}");
    assert_eq!(
        keys(&written),
        document.nodes.iter().map(|block| block.key.clone().unwrap()).collect::<Vec<_>>()
    );
}

/// The lines of the block precede those of the previous block.
#[test]
fn block_out_of_text_order_keeps_its_bytes() {
    // The same applies to a footnote definition that a verbatim block references.
    let old = "One   \ntwo.\n\nThree.\n\nfour\n====\n\nLast.\n";
    let mut source = DocumentSource::new(old);
    source.document.nodes.swap(0, 1);
    source.ranges.swap(0, 1);
    let mut new = source.document.clone();
    new.nodes[3] = parse("New.").nodes.remove(0);
    let written = edited(&source, old, &block_fingerprints(&source.document), &new).unwrap();
    assert_eq!(written.as_deref(), Some("Three.\n\nOne   \ntwo.\n\nfour\n====\n\nNew.\n"));
}

/// Texts with lines, tables, lists and gaps in noncanonical notation. One word in each is replaced.
const AWKWARD: [&str; 13] = [
    "One line  and\nanother with zebra stripes,\nand one more.\n",
    "* item\n  that goes on with `code`\n  and zebra\n- other marker\n- and [one|more] sign\n",
    "- a\n\n    - b with zebra\n      and more\n    - c\n- d\n",
    "|           |id_parent |name|\n|-----------|----------|----|\n| zebra     |1|x |\n| other     | `a`|  |\n",
    "First zebra.\n\n\n\n## Title ##\n\n\nLast.\n\n\n",
    "## Title zebra\nText without a gap\n***\n<br>\nEnd",
    "Text with a zebra[^1] and\nmore[^b].\n\n[^1]: A note\n[^b]: Another   \n\nLast.\n",
    "{% hint style='info' %}\nMind the\nzebra.   \n{% endhint %} \n\n{% tabs %}\n{% tab title=\"A\" %}\n1. a\n1. b\n{% endtab %}\n{% endtabs %}\n",
    "> quoted\nlazily zebra\n> > twice\n",
    "Line\r\nzebra   \r\nend\r\n\r\n\r\n* a\r\n* b\r\n",
    "Ends &nbsp;&copy; with __bold__ zebra and *it*\\\nnext\u{a0}line  \nthird&#x20;\n",
    "**Note**: a zebra. [![Join](https://img.example/a%20b.svg)](https://example.com/x)\n",
    "**Note**: a zebra here. [![Join](https://img.example/a.svg)](https://example.com/x)\nnext <img src=\"x.png\">\n\n```js\nlet zebra;\n```\n",
];

/// Replaces a word in a document and, like some editors, drops spellings.
fn replaced(document: &Document, forgets: Forgets) -> Document {
    let mut json = serde_json::to_value(document).unwrap();
    fn walk(value: &mut serde_json::Value, forgets: Forgets) {
        match value {
            serde_json::Value::Object(map) => {
                if forgets == Forgets::Spellings && map.get("object").is_none_or(|object| object != "block") {
                    map.remove("spelling");
                }
                for (name, value) in map {
                    match value {
                        serde_json::Value::String(text) if name == "text" => {
                            *text = text.replace("zebra", "okapi");
                        }
                        other => walk(other, forgets),
                    }
                }
            }
            serde_json::Value::Array(items) => items.iter_mut().for_each(|item| walk(item, forgets)),
            _ => {}
        }
    }
    json["nodes"].as_array_mut().unwrap().iter_mut().for_each(|node| walk(node, forgets));
    serde_json::from_value(json).unwrap()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Forgets {
    Nothing,
    Spellings,
}

#[test]
fn removed_conditional_blocks_leave_no_trace_in_the_text() {
    let shown =
        |label: &str| format!("{{% content-ref url=\"a.md\" %}}\n[{label}](a.md)\n{{% endcontent-ref %}}\n");
    let hidden = format!("{{% if visitor.claims.x %}}\n{}{{% endif %}}\n", shown("Secret"));
    for text in [format!("{hidden}\n{}", shown("Open")), format!("{}\n{hidden}", shown("Open"))] {
        let old = format!("{{% hint style='info' %}}\n{text}{{% endhint %}}\n");
        let mut document = parse(&old);
        let is_hidden = |node: &Node| match node {
            Node::Block(block) => matches!(block.kind, BlockKind::If { .. }),
            _ => false,
        };
        document.nodes[0].nodes.retain(|node| !is_hidden(node));
        let written = update_blocks(&old, &document);
        assert!(!written.contains("Secret") && !written.contains("claims"), "{written}");
        assert!(is_same(&parse(&written), &document), "{written}");
    }
}

#[test]
fn unwritable_blocks_are_written_as_their_plain_text() {
    let text =
        |text: &str| Node::Text(docs_model::TextNode::new(vec![docs_model::Leaf::new(text, Vec::new())]));
    let paragraph = |words: &str| Block::new(BlockKind::Paragraph { align: None }, vec![text(words)]);
    // Text with more inline parts than a paragraph can have is parsed as verbatim Markdown.
    let many = "&".repeat(300_000);
    let old = "# Title\n\nThe *first*.\n\nThe last.\n";
    let mut document = parse(old);
    document.nodes.insert(2, paragraph(&many));
    document.nodes.insert(3, Block::new(BlockKind::Blockquote {}, vec![Node::Block(paragraph(&many))]));
    assert!(print(&document).is_err());
    let written = update_blocks(old, &document);
    assert!(written.starts_with("# Title\n\nThe *first*.\n\n") && written.ends_with("\n\nThe last.\n"));
    assert_eq!(written.matches('&').count(), 2 * many.len());
}

#[test]
fn editing_a_word_preserves_all_other_bytes() {
    for text in AWKWARD {
        for forgets in [Forgets::Nothing, Forgets::Spellings] {
            let document = replaced(&parse(text), forgets);
            assert_eq!(update(text, &document).unwrap(), text.replace("zebra", "okapi"), "{text}");
        }
    }
}

#[test]
fn misplaced_block_is_rejected_with_its_path() {
    let text = Node::Text(docs_model::TextNode::new(Vec::new()));
    let mut document = parse("a\n\n> b");
    document.nodes[1].nodes.push(text.clone());
    assert_eq!(print(&document).unwrap_err().place, "nodes[1]");
    let mut document = parse("a\n\n* b");
    let Node::Block(item) = &mut document.nodes[1].nodes[0] else { panic!() };
    item.nodes.push(text);
    assert_eq!(print(&document).unwrap_err().place, "nodes[1].nodes[0]");
    let json = json!({ "object": "document", "data": {}, "nodes": [
        { "object": "block", "type": "list-item", "nodes": [] }] });
    let document: Document = serde_json::from_value(json).unwrap();
    assert_eq!(check(&document).unwrap_err().place, "nodes[0]");
}

#[test]
fn anchors_are_unique_and_explicit_anchors_are_preserved() {
    let document = parse(
        "## A\n\n## A\n\n### B <a href=\"#a-1\" id=\"a-1\"></a>\n\n## ???\n\n<details>\n\n<summary>A</summary>\n\n</details>",
    );
    let ids: Vec<_> = document.nodes.iter().map(|block| block.meta.clone().unwrap().id).collect();
    assert_eq!(ids, ["a", "a-2", "a-1", "section", "a-3"]);
    let titles: Vec<_> = outline(&document).into_iter().map(|item| (item.level, item.title)).collect();
    assert_eq!(titles, [(1, "A".into()), (1, "A".into()), (2, "B".into()), (1, "???".into())]);
}

#[test]
fn the_text_of_a_document_is_in_its_sections() {
    let text = "before\n\n## A\n\n| t |\n| --- |\n| cell |\n\n{% tabs %}\n{% tab title=\"Tab\" %}\n### B\n\n* item **bold**\n{% endtab %}\n{% endtabs %}\n\n![alt](a.png)";
    let found = sections(&parse(text));
    let parts: Vec<_> = found
        .iter()
        .map(|part| (part.anchor.as_deref(), part.heading.as_deref(), part.text.as_str()))
        .collect();
    assert_eq!(
        parts,
        [
            (None, None, "before"),
            (Some("a"), Some("A"), "t\ncell\nTab"),
            (Some("b"), Some("B"), "item bold\nalt")
        ]
    );
    assert_eq!(plain_text(&parse(text)), "before\nA\nt\ncell\nTab\nB\nitem bold\nalt");
    let key = parse(text).nodes[2].key.clone().unwrap();
    assert_eq!(block_text(text, &key).as_deref(), Some("t cell"));
    assert_eq!(block_text(text, "nothing"), None);
    let long = "word ".repeat(100);
    assert_eq!(block_text(&long, &keys(&long)[0]).unwrap().chars().count(), 200);
}

#[test]
fn single_blocks_can_be_reverted() {
    let base = "one\n\ntwo\n\nthree\n\nfour\n";
    for (current, key_of, at, expected) in [
        // An added block is removed.
        ("one\n\nnew\n\ntwo\n\nthree\n\nfour\n", "new", 1, "one\n\ntwo\n\nthree\n\nfour\n"),
        // A deleted block is restored at its position.
        ("one\n\nthree\n\nfour\n", "base", 1, "one\n\ntwo\n\nthree\n\nfour\n"),
        // A changed block is reset, and other changes remain.
        ("one\n\nTWO\n\nthree\n\nFOUR\n", "new", 1, "one\n\ntwo\n\nthree\n\nFOUR\n"),
        // A moved block is moved back.
        ("one\n\nthree\n\nfour\n\ntwo\n", "new", 3, "one\n\ntwo\n\nthree\n\nfour\n"),
        // An unchanged block remains.
        ("one\n\ntwo\n\nthree\n\nFOUR\n", "new", 0, "one\n\ntwo\n\nthree\n\nFOUR\n"),
    ] {
        let key = if key_of == "base" { keys(base)[at].clone() } else { keys(current)[at].clone() };
        assert_eq!(revert_blocks(current, base, &[key]).unwrap(), expected, "{current:?}");
    }
    let error = revert_blocks(base, base, &["zzz".to_owned()]).unwrap_err();
    assert_eq!(error.place, "block[0]");
}

proptest! {
    #[test]
    fn editing_a_block_leaves_the_keys_of_all_others(
        words in proptest::collection::vec("[a-c]{1,2}", 1..12), at in 0..12_usize, new in "[x-z]{3}"
    ) {
        let page = |words: &[String]| words.iter().map(|word| format!("* {word}\n\n***\n\n## {word}\n")).collect::<Vec<_>>().join("\n");
        let mut changed = words.clone();
        let at = at % words.len();
        changed[at] = new;
        let (before, after) = (keys(&page(&words)), keys(&page(&changed)));
        let unique = |word: &String| words.iter().filter(|own| *own == word).count() == 1;
        for (index, word) in words.iter().enumerate() {
            if index != at && unique(word) {
                prop_assert_eq!(&before[index * 3..index * 3 + 3], &after[index * 3..index * 3 + 3]);
            }
        }
        let all: std::collections::HashSet<_> = before.iter().collect();
        prop_assert_eq!(all.len(), before.len());
    }

    #[test]
    fn reverting_all_blocks_restores_the_base(
        base in proptest::collection::vec("[a-d]{1}", 0..8), current in proptest::collection::vec("[a-d]{1}", 0..8)
    ) {
        let page = |words: &[String]| words.iter().map(|word| format!("{word}\n")).collect::<Vec<_>>().join("\n");
        let (base, current) = (page(&base), page(&current));
        let mut all = keys(&current);
        all.extend(keys(&base));
        let reverted = revert_blocks(&current, &base, &all).unwrap();
        prop_assert_eq!(keys(&reverted), keys(&base));
    }
}

/// All blocks of a document have distinct keys.
#[test]
fn block_keys_are_unique() {
    let document = parse(
        "a\n\na\n\n* a\n* a\n\n{% tabs %}\n{% tab title=\"a\" %}\na\n{% endtab %}\n{% endtabs %}\n\n<details>\n\n<summary>a</summary>\n\na\n\n</details>",
    );
    let mut found = std::collections::HashSet::new();
    let mut add = |block: &Block| assert!(found.insert(block.key.clone().expect("a key")));
    document.nodes.iter().for_each(|block| block.visit(&mut add));
    assert_eq!(found.len(), 13);
}
