//! The export of one edited page: the commit only changes the file of the page, and in it only the edited lines.

use docs_core::model::JobState;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::support::block_on;

/// The edited line in every page.
const MARK: &str = "Zebra stripes.";

/// The edit of a page.
#[derive(Clone, Copy, Debug)]
enum Edit {
    Replace,
    InsertBefore,
    InsertAfter,
    Remove,
}

impl Edit {
    fn of(self, text: &str, end: &str) -> String {
        let to = match self {
            Self::Replace => "Leopards have spots.".to_owned(),
            Self::InsertBefore => format!("Ants march.{end}{MARK}"),
            Self::InsertAfter => format!("{MARK}{end}Ants march."),
            Self::Remove => return text.replacen(&format!("{MARK}{end}"), "", 1),
        };
        text.replacen(MARK, &to, 1)
    }
}

/// Generates front matter in various YAML styles.
fn front() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "",
        "---\ndescription: >-\n  A long\n  text\n---\n\n",
        "---\n# a comment\nicon:   'rocket'\nmine: [1,  2]\nhidden: true\n---\n",
        "---\nlayout:\n    title: {visible: true}\n    width: wide\nvars:\n  a: 1\n---\n\n\n",
        "---\n---\n",
    ])
}

/// Generates blocks around the line, in noncanonical syntax.
fn block() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "|a|  b |\n|:-|--:|\n| `x|y` |1|\n|long cell|  |",
        "| Header |\n| ------ |\n| [a](other.md) \\| b |",
        "- one\n    - two\n        1. three\n\n           more of it\n- four",
        "* a\n* b\n\n  ```js\n  let x = 1;\n  ```\n\n  * c",
        "3) three\n4) four\n   + plus",
        "- [ ] open\n- [x] done",
        "> quoted\nlazily\n> > twice",
        "```sh title=\"a.sh\"\n$ ls   \n\n\tTab\n```",
        "~~~\n``` not the end\n~~~",
        "{% hint style='info' %}\nMind the *gap*.\n{% endhint %}",
        "{% tabs %}\n{% tab title=\"A\" %}\n1\n{% endtab %}\n\n{% tab title=\"B\" %}\n2\n{% endtab %}\n{% endtabs %}",
        "Setext\n------",
        "## Closed ##",
        "***",
        "<table data-view=\"cards\"><thead><tr><th>A</th></tr></thead><tbody><tr><td>x</td></tr></tbody></table>",
        "<!-- kept -->",
        "    indented code",
        "![a  b](<img/p q.svg> 'T') and [ref][r]\n\n[r]: ./other.md#x",
        "Ends in two spaces  \nand __bold__ and *it*\\\nnext &nbsp;&copy; ümlaut\u{a0}x",
        "$$\na_b\n$$",
        "See [the other](./other) and [it again](other#x).",
        "Leads to [nothing](nothing) and [gone](gone.md).",
        "Tabs\there, trailing blank \t",
    ])
}

/// The lines of a page, and their line ending.
#[derive(Clone, Debug)]
struct Shape {
    front: &'static str,
    before: Vec<&'static str>,
    after: Vec<&'static str>,
    gap: &'static str,
    end: &'static str,
    last: &'static str,
    has_heading: bool,
    has_mark: bool,
}

fn shape() -> impl Strategy<Value = Shape> {
    (
        front(),
        proptest::collection::vec(block(), 0..4),
        proptest::collection::vec(block(), 0..4),
        prop::sample::select(vec!["\n\n", "\n\n\n", "\n\n \n"]),
        prop::sample::select(vec!["\n", "\r\n"]),
        prop::sample::select(vec!["", "\n", "\n\n\n"]),
        any::<[bool; 2]>(),
    )
        .prop_map(|(front, before, after, gap, end, last, [has_heading, has_mark])| Shape {
            front,
            before,
            after,
            gap,
            end,
            last,
            has_heading,
            has_mark: has_mark && front.is_empty(),
        })
}

impl Shape {
    fn text(&self, title: &str) -> String {
        let heading = self.has_heading.then(|| format!("# {title}"));
        let blocks: Vec<&str> = (heading.as_deref().into_iter())
            .chain(self.before.iter().copied())
            .chain([MARK])
            .chain(self.after.iter().copied())
            .collect();
        let text = format!("{}{}\n{}", self.front, blocks.join(self.gap), self.last);
        // Without a trailing line break, the text ends with the last line.
        let text = if self.last.is_empty() { text.trim_end_matches('\n').to_owned() } else { text };
        let mark = if self.has_mark { "\u{feff}" } else { "" };
        format!("{mark}{}", text.replace('\n', self.end))
    }
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Checks that a commit changed one file, and in it only the edited lines.
async fn assert_only(shape: &Shape, other: &Shape, edit: Edit) {
    let text = shape.text("One");
    // The last line of a file has no line break, so it cannot be removed as a whole line. A line added after it uses
    // the line ending of the page.
    let wanted = edit.of(&text, shape.end);
    let (w, remote, space) = world_of(&[
        ("README.md", "# Home\n"),
        ("SUMMARY.md", "* [Home](README.md)\n* [One](one.md)\n\n- [Other](other.md)\n"),
        ("one.md", &text),
        ("other.md", &other.text("Other")),
        ("img/p q.svg", "<svg/>"),
    ])
    .await;
    let before = files(&remote);
    let one = at(&w, &space, "one").await;
    let of = ContentVersion::space(space.clone());
    let RevisionPage::Document(page) = crate::support::page(&w, &of, &one).await else {
        panic!("a document")
    };
    let markdown = page.markdown.expect("markdown");
    change(&w, &space, set(&one, &edit.of(&markdown, shape.end))).await;
    assert_eq!(export(&w, &space, json!({})).await, (JobState::Done, None));
    let after = files(&remote);
    if wanted == text {
        assert_eq!(after, before, "{edit:?} changes nothing of {text:?}");
        return;
    }
    assert_eq!(commits(&remote), 1);
    assert_eq!(remote.commits()[0].written, ["one.md"]);
    assert!(remote.commits()[0].removed.is_empty());
    let changed: Vec<&String> =
        before.keys().chain(after.keys()).filter(|path| before.get(*path) != after.get(*path)).collect();
    assert!(changed.iter().all(|path| *path == "one.md"), "{changed:?}");
    assert_eq!(lines(&after["one.md"]), lines(&wanted), "{edit:?} of {text:?}");
}

/// Returns the number of tested pages: `DOCS_EXPORT_CASES`, or 48.
fn cases() -> u32 {
    std::env::var("DOCS_EXPORT_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(48)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn edit_of_one_page_commits_only_its_lines(
        shape in shape(),
        other in shape(),
        edit in prop::sample::select(vec![Edit::Replace, Edit::InsertBefore, Edit::InsertAfter, Edit::Remove]),
    ) {
        let mut shape = shape;
        // Leading blank lines are not part of a page, so the removed line must not be the first one.
        if matches!(edit, Edit::Remove) && shape.before.is_empty() {
            shape.before.push("First.");
        }
        block_on(assert_only(&shape, &other, edit));
    }
}

#[tokio::test]
async fn export_keeps_paths_equal_up_to_case_or_normalization() {
    let (w, remote, space) = world_of(&[
        (
            "SUMMARY.md",
            "* [Home](README.md)\n* [A](a.md)\n* [A2](A.md)\n* [E](\u{e9}.md)\n* [E2](e\u{301}.md)\n",
        ),
        (
            "README.md",
            "# Home\n\n![1](.gitbook/assets/P.png) ![2](.gitbook/assets/p.png)\n\nZebra stripes.\n",
        ),
        ("a.md", "# A\n\n[other](A.md)\n"),
        ("A.md", "# A2\n\n[other](a.md)\n"),
        ("\u{e9}.md", "# E\n"),
        ("e\u{301}.md", "# E2\n"),
        (".gitbook/assets/P.png", "1"),
        (".gitbook/assets/p.png", "2"),
    ])
    .await;
    let before = files(&remote);
    let home = at(&w, &space, "readme").await;
    let of = ContentVersion::space(space.clone());
    let RevisionPage::Document(page) = crate::support::page(&w, &of, &home).await else {
        panic!("a document")
    };
    let text = page.markdown.expect("markdown").replace(MARK, "Leopards have spots.");
    change(&w, &space, set(&home, &text)).await;
    assert_eq!(export(&w, &space, json!({})).await, (JobState::Done, None));
    assert_eq!(remote.commits()[0].written, ["README.md"]);
    let mut wanted = before;
    wanted.insert("README.md".to_owned(), wanted["README.md"].replace(MARK, "Leopards have spots."));
    assert_eq!(files(&remote), wanted);
}

/// Without a table of contents, the first export of a space adds one.
const SUMMARY: &str = "* [Home](README.md)\n* [One](one.md)\n";

/// A file in a common noncanonical format, where a paragraph is edited as a tree instead of text.
const TREE: &str = "---\nicon:   rocket\n---\n\n# One\n\n|a|  b |\n|:-|--:|\n|x|1|\n\n- one\n    \
                    - two\n\nZebra stripes.\n\n* a\n+ b\n\nSetext\n------\n";

/// Edits the paragraph of a page as a tree. Returns the exported file.
async fn edited_in_tree(text: &str) -> String {
    let (w, remote, space) =
        world_of(&[("SUMMARY.md", SUMMARY), ("README.md", "# Home\n"), ("one.md", text)]).await;
    let one = at(&w, &space, "one").await;
    let of = ContentVersion::space(space.clone());
    let shown =
        ContentOptions { format: docs_core::model::ContentFormat::Document, ..ContentOptions::default() };
    let page = w.as_admin().content(&of).get_page(&one, shown).await.expect("a page");
    let mut document = serde_json::to_value(&page).expect("JSON")["document"].clone();
    let was = document.to_string();
    assert!(was.contains(MARK), "{was}");
    document = serde_json::from_str(&was.replace(MARK, "Leopards have spots.")).expect("JSON");
    let edits = json!([{ "operation": "update_page", "page": one, "document": { "document": document } }]);
    change(&w, &space, edits).await;
    assert_eq!(export(&w, &space, json!({})).await, (JobState::Done, None));
    assert_eq!(remote.commits()[0].written, ["one.md"]);
    files(&remote)["one.md"].clone()
}

#[tokio::test]
async fn tree_edit_of_a_paragraph_changes_only_its_line() {
    let edited = edited_in_tree(TREE).await;
    assert_eq!(lines(&edited), lines(&TREE.replace(MARK, "Leopards have spots.")));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn tree_edit_of_a_paragraph_keeps_line_endings(
        front in front(),
        blocks in prop::array::uniform2(prop::sample::select(vec![
            "|a|  b |\n|:-|--:|\n| `x|y` |1|",
            "- one\n    - two",
            "> quoted\nlazily",
            "```sh title=\"a.sh\"\n$ ls   \n\n\tTab\n```",
            "{% hint style='info' %}\nMind the *gap*.\n{% endhint %}",
            "Setext\n------",
            "Two\nlines.",
        ])),
        end in prop::sample::select(vec!["\n", "\r\n"]),
    ) {
        let text = format!("{front}# One\n\n{}\n\n{MARK}\n\n{}\n", blocks[0], blocks[1]).replace('\n', end);
        let edited = block_on(edited_in_tree(&text));
        let wanted = text.replace(MARK, "Leopards have spots.");
        prop_assert_eq!(lines(&edited), lines(&wanted));
    }
}
