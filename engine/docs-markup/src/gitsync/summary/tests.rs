use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::gitsync::{CommitEntry, EntryKind};

fn tree(paths: &[&str]) -> RepoTree {
    RepoTree::new(paths.iter().map(|path| CommitEntry {
        path: (*path).to_owned(),
        size: 1,
        kind: EntryKind::File,
    }))
}

/// Parses a table of contents at the root of a repository with some files.
fn read(text: &str) -> Summary {
    let tree = tree(&[
        "README.md",
        "a.md",
        "b.md",
        "c.md",
        "a b.md",
        "100%.md",
        "Case.MD",
        "x_y.md",
        "dir/README.md",
        "dir/d.md",
        "spec.pdf",
        "SUMMARY.md",
    ]);
    Summary::read(text, &RepoConfig::read(None, &RepoPath::default()).unwrap(), &tree).unwrap()
}

/// Formats each item as a line: two spaces per level, the kind, the title and the target.
fn outline(items: &[SummaryItem], depth: usize, out: &mut Vec<String>) {
    for item in items {
        let kind = match &item.kind {
            SummaryKind::Group { slug } => format!("group {:?}", slug.as_deref().unwrap_or_default()),
            SummaryKind::Page { file, .. } => {
                format!("page {}", file.as_ref().map_or("-", |file| file.path.as_str()))
            }
            SummaryKind::Link { url, file } => {
                format!("link {url} {}", file.as_ref().map_or("-", |file| file.path.as_str()))
            }
            SummaryKind::Computed { value } => format!("computed {}", value["type"].as_str().unwrap()),
        };
        out.push(format!("{}{} = {kind}", "  ".repeat(depth), item.title));
        outline(&item.items, depth + 1, out);
    }
}

fn lines_of(summary: &Summary) -> Vec<String> {
    let mut out = Vec::new();
    outline(&summary.items, 0, &mut out);
    out
}

fn warnings_of(summary: &Summary) -> Vec<String> {
    summary.warnings.iter().map(|warning| warning.to_string().replace("SUMMARY.md:", "")).collect()
}

fn check(text: &str, expected: &[&str], warnings: &[&str]) {
    let summary = read(text);
    assert_eq!(lines_of(&summary), expected, "{text}");
    assert_eq!(warnings_of(&summary), warnings, "{text}");
}

#[test]
fn pages_and_groups_nest() {
    check(
        "# Table of contents\n\n* [Home](README.md)\n* [A](a.md)\n  * [B](b.md)\n    * [C](c.md)\n* [Dir](dir/README.md)\n\n\
         ## Group <a href=\"#g\" id=\"g\"></a>\n\n* [D](dir/d.md)\n\n## Empty\n",
        &[
            "Home = page README.md",
            "A = page a.md",
            "  B = page b.md",
            "    C = page c.md",
            "Dir = page dir/README.md",
            "Group = group \"g\"",
            "  D = page dir/d.md",
            "Empty = group \"\"",
        ],
        &[],
    );
}

#[test]
fn two_four_and_odd_steps_of_indentation_are_accepted() {
    let expected = ["A = page a.md", "  B = page b.md", "    C = page c.md", "Home = page README.md"];
    for text in [
        "- [A](a.md)\n    - [B](b.md)\n        - [C](c.md)\n- [Home](README.md)\n",
        "+ [A](a.md)\n\t+ [B](b.md)\n\t\t+ [C](c.md)\n+ [Home](README.md)\n",
        "* [A](a.md)\n   * [B](b.md)\n      * [C](c.md)\n * [Home](README.md)\n",
        "* [A](a.md)\n\n  - [B](b.md)\n\n    + [C](c.md)\n\n* [Home](README.md)\n",
        "1. [A](a.md)\n   1. [B](b.md)\n      * [C](c.md)\n2. [Home](README.md)\n",
    ] {
        check(text, &expected, &[]);
    }
}

#[test]
fn titles_keep_emoji_and_lose_marks() {
    check(
        "* [🚀 **Quick** `start` \\[1\\]](a.md)\n* [x\\_y &amp; z](x\\_y.md \"Short\")\n* [](b.md)\n* [ ](dir/README.md)\n",
        &[
            "🚀 Quick start [1] = page a.md",
            "x_y & z = page x_y.md",
            "B = page b.md",
            "Dir = page dir/README.md",
        ],
        &[],
    );
    let summary = read("* [x](a.md \"Short\")\n");
    assert!(
        matches!(&summary.items[0].kind, SummaryKind::Page { link_title: Some(title), .. } if title == "Short")
    );
}

#[test]
fn paths_are_parsed_leniently() {
    check(
        "* [1](<a b.md>)\n* [2](./dir/)\n* [3](/c.md)\n* [4](100%25.md)\n* [5](case.md)\n",
        &[
            "1 = page a b.md",
            "2 = page dir/README.md",
            "3 = page c.md",
            "4 = page 100%.md",
            "5 = page Case.MD",
        ],
        &["5: the file `case.md` is spelled `Case.MD` in the repository"],
    );
    check("* [1](a%20b.md)\n", &["1 = page a b.md"], &[]);
    check("* [1](a b.md)\n", &["1 = page a b.md"], &[]);
    check("* [1](100%.md)\n", &["1 = page 100%.md"], &[]);
    check("* [1](dir)\n", &["1 = page dir/README.md"], &[]);
    check("* [1](README.md?x=1)\n", &["1 = page README.md"], &[]);
}

#[test]
fn urls_anchors_and_missing_files_become_links() {
    check(
        "* [Web](https://example.com/a?b#c)\n* [Mail](mailto:a@b.c)\n* [Gone](gone.md)\n* [Up](../../x.md)\n\
         * [A](a.md)\n* [Place](a.md#here)\n* [B](b.md#only)\n* [File](spec.pdf)\n",
        &[
            "Web = link https://example.com/a?b#c -",
            "Mail = link mailto:a@b.c -",
            "Gone = link gone.md -",
            "Up = link ../../x.md -",
            "A = page a.md",
            "Place = link a.md#here a.md",
            "B = page b.md",
            "File = link spec.pdf spec.pdf",
        ],
        &[
            "3: the file `gone.md` does not exist; the item becomes a link",
            "4: the file `../../x.md` does not exist; the item becomes a link",
        ],
    );
}

#[test]
fn anchor_listed_before_its_page_is_a_link() {
    check("* [Place](a.md#x)\n* [A](a.md)\n", &["Place = link a.md#x a.md", "A = page a.md"], &[]);
}

#[test]
fn second_listing_of_a_file_is_skipped_with_a_warning() {
    check(
        "* [A](a.md)\n* [Again](./a.md)\n  * [B](b.md)\n* [C](c.md)\n",
        &["A = page a.md", "B = page b.md", "C = page c.md"],
        &["2: skipped item: `a.md` is already listed"],
    );
}

#[test]
fn children_of_a_link_become_its_siblings_with_a_warning() {
    check(
        "* [Web](https://x.y)\n  * [A](a.md)\n    * [B](b.md)\n* [C](c.md)\n",
        &["Web = link https://x.y -", "A = page a.md", "  B = page b.md", "C = page c.md"],
        &["1: a link cannot have child pages; they become its siblings"],
    );
    check(
        "* [Gone](gone.md)\n  * [A](a.md)\n* Only a title\n  * [B](b.md)\n",
        &["Gone = page -", "  A = page a.md", "Only a title = page -", "  B = page b.md"],
        &["1: the file `gone.md` does not exist; the item becomes a page without text"],
    );
}

#[test]
fn generated_pages_are_read() {
    let text = "* [A](a.md)\n* ```yaml\n  type: builtin:openapi\n  props:\n    models: true\n  dependencies:\n    \
                spec:\n      ref:\n        kind: openapi\n        spec: petstore\n  ```\n* Broken\n  ```yaml\n  a: [\n  \
                ```\n* ```js\n  x\n  ```\n* ```yaml\n  a: 1\n  ```\n";
    let summary = read(text);
    assert_eq!(lines_of(&summary), ["A = page a.md", " = computed builtin:openapi"]);
    let SummaryKind::Computed { value } = &summary.items[1].kind else { panic!() };
    assert_eq!(value["dependencies"]["spec"]["ref"], json!({ "kind": "openapi", "spec": "petstore" }));
    let warnings = warnings_of(&summary);
    assert_eq!(warnings.len(), 3, "{warnings:?}");
    assert!(warnings[0].starts_with("12: skipped item: its block is not valid YAML"), "{warnings:?}");
}

#[test]
fn headings_of_other_levels_become_groups() {
    check(
        "# Summary\n* [A](a.md)\n# Part\n* [B](b.md)\n### Deep\n* [C](c.md)\n##\n* [D](dir/d.md)\n",
        &[
            "A = page a.md",
            "Part = group \"\"",
            "  B = page b.md",
            "Deep = group \"\"",
            "  C = page c.md",
            "D = page dir/d.md",
        ],
        &[
            "5: groups must be at the top level; use `##`",
            "7: group without a title: its pages become top-level pages",
        ],
    );
}

#[test]
fn hostile_nesting_ends_at_the_limit() {
    let mut text = String::new();
    for depth in 0..2_000 {
        text.push_str(&" ".repeat(depth * 2));
        text.push_str("* deep\n");
    }
    let summary = read(&text);
    let mut depth = 0;
    let mut items = &summary.items;
    while let Some(item) = items.first() {
        depth += 1;
        items = &item.items;
    }
    assert_eq!(depth, MAX_SUMMARY_DEPTH + 1);
    assert_eq!(summary.warnings.len(), 1);
}

fn refused(text: &str) -> String {
    let config = RepoConfig::read(None, &RepoPath::default()).unwrap();
    Summary::read(text, &config, &tree(&[])).unwrap_err().to_string()
}

#[test]
fn the_size_is_limited() {
    let limit = usize::try_from(MAX_SUMMARY_BYTES).unwrap();
    let text = format!("* [A](a.md)\n{}", "\n".repeat(limit - 12));
    assert_eq!(text.len(), limit);
    assert_eq!(read(&text).items.len(), 1);
    let message = "SUMMARY.md: must be at most 4 MiB, has 5 MiB";
    assert_eq!(refused(&format!("{text}\n")), message);
}

#[test]
fn the_number_of_items_is_limited() {
    let rest = MAX_ITEMS - 3;
    let full = format!("# Title\n* [A](a.md)\n* [W](https://x.y)\n## Group\n{}", "* page\n".repeat(rest));
    assert_eq!(read(&full).items.last().map(|group| group.items.len()), Some(rest));
    let message = "SUMMARY.md: must have at most 20000 groups, pages and links";
    for one in ["* page\n", "* [A](a.md)\n", "# Group\n"] {
        assert_eq!(refused(&format!("{full}{one}")), message, "{one}");
    }
    assert_eq!(refused(&format!("{}{full}", "* page\n")), message, "a heading behind an item is a group");
}

#[test]
fn generated_pages_are_limited() {
    let block = "* ```yaml\n  type: x\n  ```\n";
    let summary = read(&block.repeat(MAX_COMPUTED_PLACES));
    assert_eq!((summary.items.len(), summary.warnings.len()), (MAX_COMPUTED_PLACES, 0));
    let summary = read(&block.repeat(MAX_COMPUTED_PLACES + 1));
    assert_eq!(summary.items.len(), MAX_COMPUTED_PLACES);
    let message = "601: skipped item: generated pages have at most 200 insertion points";
    assert_eq!(warnings_of(&summary), [message]);
    // Small as text, large as a value.
    let row = |mark: &str| [mark; 20].join(",");
    let bomb = format!(
        "* ```yaml\n  type: x\n  a: &a [{}]\n  b: &b [{}]\n  c: [{}]\n  ```\n",
        row("x"),
        row("*a"),
        row("*b")
    );
    let summary = read(&bomb);
    assert_eq!(summary.items, []);
    assert!(warnings_of(&summary)[0].contains("its block is not valid YAML"), "{:?}", summary.warnings);
}

#[test]
fn summary_paths_resolve_from_its_folder_then_from_root() {
    let config =
        RepoConfig::read(Some("root: docs\nstructure: {summary: nav/TOC.md}"), &RepoPath::default()).unwrap();
    let tree = tree(&["docs/nav/x.md", "docs/a.md", "docs/nav/a.md", "docs/b.md"]);
    let summary =
        Summary::read("* [X](x.md)\n* [A](a.md)\n* [B](b.md)\n* [Up](../a.md)\n", &config, &tree).unwrap();
    assert_eq!(
        lines_of(&summary),
        ["X = page docs/nav/x.md", "A = page docs/nav/a.md", "B = page docs/b.md", "Up = page docs/a.md"]
    );
}

#[test]
fn listed_symlink_outside_the_repository_has_no_file() {
    let tree = RepoTree::new([CommitEntry {
        path: "a.md".to_owned(),
        size: 9,
        kind: EntryKind::Symlink("../../etc/passwd".to_owned()),
    }]);
    let config = RepoConfig::read(None, &RepoPath::default()).unwrap();
    assert_eq!(Summary::read("* [B](b.md)\n", &config, &tree).unwrap().items.len(), 1);
    let summary = Summary::read("* [A](a.md)\n", &config, &tree).unwrap();
    let missing = Summary::read("* [A](b.md)\n", &config, &tree).unwrap();
    assert_eq!(format!("{:?}", summary.items).replace("a.md", "b.md"), format!("{:?}", missing.items));
}

proptest! {
    #[test]
    fn arbitrary_text_never_panics(
        text in "(\\* |  |\\t|- |## |# |\\n|\\[|\\]|\\(|\\)|a\\.md|README\\.md|```yaml|```|<!--|-->|<a id=\"|type: x|===|---|\\PC){0,120}"
    ) {
        let summary = read(&text);
        let mut seen = std::collections::HashSet::new();
        let mut todo: Vec<_> = summary.items.iter().collect();
        while let Some(item) = todo.pop() {
            prop_assert!(item.items.is_empty() || item.kind.is_parent());
            if let SummaryKind::Page { file: Some(file), .. } = &item.kind {
                prop_assert!(seen.insert(file.path.clone()));
            }
            todo.extend(&item.items);
        }
    }
}

#[test]
fn items_longer_than_the_bound_are_cut_with_a_warning() {
    let item = |bytes: usize| {
        let summary = read(&format!("* {}\n", "x".repeat(bytes)));
        (summary.items[0].title.len(), warnings_of(&summary).len())
    };
    assert_eq!(item(MAX_ITEM_BYTES), (MAX_ITEM_BYTES, 0));
    assert_eq!(item(MAX_ITEM_BYTES + 1), (MAX_ITEM_BYTES, 1));
}

/// Parses a table of contents of another program.
fn read_book(text: &str, config: &RepoConfig) -> Summary {
    let tree =
        tree(&["src/intro.md", "src/a.md", "src/b/README.md", "src/b/c.md", "src/end.md", "x.md", "y.md"]);
    Summary::read(text, config, &tree).unwrap()
}

#[test]
fn mdbook_chapters_parts_and_drafts_become_pages_and_groups() {
    let config = RepoConfig::from_mdbook("", &RepoPath::default());
    let summary = read_book(
        "# Summary\n\n[Introduction](intro.md)\n[Draft]()\n---\n# Part **one**\n\n- [`A` _first_](a.md \"short\")\n    \
         - [1. Sub]()\n\t- [Place](a.md#part)\n1. [B](b)\n   1. [C](b/c)\n- [Missing](new/page.md)\n\n[End](end.md)\n\n\
         -----------\n\n# Part two\n* [No file]()\n",
        &config,
    );
    assert_eq!(
        lines_of(&summary),
        [
            "Introduction = page src/intro.md",
            "Draft = page -",
            "Part one = group \"\"",
            "  A first = page src/a.md",
            "    1. Sub = page -",
            "    Place = link a.md#part src/a.md",
            "  B = page src/b/README.md",
            "    C = page src/b/c.md",
            "  Missing = page -",
            "End = page src/end.md",
            "Part two = group \"\"",
            "  No file = page -",
        ]
    );
    let missing = "src/13: the file `new/page.md` does not exist; the item becomes a page without text";
    assert_eq!(warnings_of(&summary), [missing]);
}

#[test]
fn honkit_parts_of_any_level_are_groups() {
    let config = RepoConfig::from_honkit("", &RepoPath::default());
    let summary = read_book(
        "# Summary\n\n### Part I\n\n* [X](x.md)\n    * [Place](x.md#place)\n* [Web](https://example.com)\n\n----\n\n\
         ### Part II\n\n* [Y](y)\n* Text only\n* [Later](later.md)\n",
        &config,
    );
    assert_eq!(
        lines_of(&summary),
        [
            "Part I = group \"\"",
            "  X = page x.md",
            "    Place = link x.md#place x.md",
            "  Web = link https://example.com -",
            "Part II = group \"\"",
            "  Y = page y.md",
            "  Text only = page -",
            "  Later = page -",
        ]
    );
    assert_eq!(summary.warnings.len(), 1);
}

#[test]
fn links_without_bullets_are_chapters_of_mdbook_only() {
    let summary = read("* [A](a.md)\n\n[B](b.md)\n");
    assert_eq!(lines_of(&summary), ["A = page a.md"]);
    assert_eq!(warnings_of(&summary), ["3: skipped line that is not a heading or a list item"]);
}
