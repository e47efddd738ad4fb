//! Export plans for literal repositories and spaces. Complete round trips are part of the platform tests.

use std::collections::{BTreeSet, HashMap};

use docs_model::PagePatch;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{
    gitsync::{CommitEntry, EntryKind, FileHost, RepoConfig, RepoTree},
    markdown::parse_page,
};

fn of_repository(text: &str) -> FileTemplate<'_> {
    FileTemplate { text, origin: TemplateOrigin::Repository }
}

fn repository(files: &[&str], summary: Option<&str>) -> Repository {
    let entries = files.iter().map(|path| match path.split_once(" -> ") {
        Some((path, to)) => {
            CommitEntry { path: path.to_owned(), size: 1, kind: EntryKind::Symlink(to.to_owned()) }
        }
        None => CommitEntry { path: (*path).to_owned(), size: 1, kind: EntryKind::File },
    });
    Repository {
        tree: RepoTree::new(entries),
        oids: files.iter().map(|path| ((*path).to_owned(), format!("oid of {path}"))).collect(),
        config: RepoConfig::read(None, &RepoPath::default()).unwrap(),
        summary: summary.map(str::to_owned),
        host: FileHost::from_url("https://github.com/a/b", "refs/heads/main"),
    }
}

fn page(id: &str, parent: Option<&str>, slug: &str, path: Option<&str>) -> SpacePage {
    SpacePage {
        id: id.parse().unwrap(),
        parent: parent.map(|id| id.parse().unwrap()),
        kind: SpacePageKind::Document,
        title: id.to_owned(),
        slug: slug.to_owned(),
        emoji: None,
        git: path.map(|path| GitBlob {
            oid: format!("oid of {path}"),
            path: path.to_owned(),
            executable: false,
        }),
        has_file: true,
    }
}

fn space(pages: Vec<SpacePage>) -> SpaceOutline {
    SpaceOutline { pages, ..SpaceOutline::default() }
}

fn nothing() -> SpaceOutline {
    SpaceOutline::default()
}

/// Returns the path of every page after an export.
fn paths(repository: &Repository, now: &SpaceOutline, before: &SpaceOutline) -> Vec<String> {
    let plan = ExportPlan::new(repository, now, before, &AdoptablePaths::NoPath).unwrap();
    now.pages.iter().map(|page| plan.page_path(&page.id).map_or("-", RepoPath::as_str).to_owned()).collect()
}

#[test]
fn page_paths_follow_the_page_tree() {
    let mut group = page("g", None, "api", None);
    group.kind = SpacePageKind::Group;
    let now = space(vec![
        page("a", None, "welcome", None),
        page("b", None, "guides", None),
        page("c", Some("b"), "first", None),
        page("d", Some("c"), "deep", None),
        page("h", Some("b"), "readme", None),
        group,
        page("e", Some("g"), "call", None),
    ]);
    assert_eq!(
        paths(&repository(&[], None), &now, &nothing()),
        [
            "README.md",
            "guides/README.md",
            "guides/first/README.md",
            "guides/first/deep.md",
            "guides/readme/README.md",
            "-",
            "api/call.md"
        ]
    );
}

// A path from which an import derives the slug is preferred over a numbered path.
#[test]
fn export_avoids_existing_files_and_keeps_slugs_if_possible() {
    let now = space(vec![
        page("a", None, "start", None),
        page("b", None, "new", None),
        page("c", None, "dir", None),
    ]);
    for (there, expected) in [
        (vec!["README.md"], ["start.md", "new.md", "dir.md"]),
        (vec!["new.md", "NEW/readme.md"], ["README.md", "new-1.md", "dir.md"]),
        (vec!["new"], ["README.md", "new.md", "dir.md"]),
        (vec!["new.md", "new"], ["README.md", "new-1.md", "dir.md"]),
        (vec!["Dir.MD/x"], ["README.md", "new.md", "dir/README.md"]),
        (vec!["new.md -> other"], ["README.md", "new/README.md", "dir.md"]),
    ] {
        assert_eq!(paths(&repository(&there, None), &now, &nothing()), expected, "{there:?}");
    }
}

#[test]
fn pages_whose_file_names_have_no_slug_keep_their_files() {
    let summary = "* [Home](README.md)\n* [Percent](%25.md)\n* [Dollar]($.md)\n";
    let repository = repository(&["README.md", "%.md", "$.md"], Some(summary));
    // The slug is derived from the table of contents, the title from the heading.
    let titled = |title: &str| {
        let mut percent = page("p", None, "percent", Some("%.md"));
        percent.title = title.to_owned();
        let dollar = page("d", None, "dollar", Some("$.md"));
        space(vec![page("r", None, "readme", Some("README.md")), percent, dollar])
    };
    let before = titled("The %");
    assert_eq!(paths(&repository, &before, &before), ["README.md", "%.md", "$.md"]);
    // After a change of the title, an import would derive another slug.
    assert_eq!(paths(&repository, &titled("Other"), &before), ["README.md", "percent.md", "$.md"]);
}

#[test]
fn titles_with_names_of_emoji_are_escaped() {
    for title in [":rocket: x", "a :+1::tada:", "\\:x: :x:", "a: b :c: 1:2:3", ":white_check_mark:"] {
        let line = title_line(title);
        assert_eq!(parse_page(&line).heading.map(|it| (it.title, it.emoji)), Some((title.to_owned(), None)));
    }
}

#[test]
fn export_removes_only_former_pages_and_own_assets() {
    let there = ["README.md", "gone.md", "theirs.md", ".gitbook/assets/a.png", "img/b.png"];
    let repository = repository(&there, None);
    let git = |path: &str| Some(GitBlob { oid: "1".to_owned(), path: path.to_owned(), executable: false });
    let file =
        |id: &str, path: &str| SpaceFile { id: id.parse().unwrap(), name: id.to_owned(), git: git(path) };
    let before = SpaceOutline {
        pages: vec![page("a", None, "readme", Some("README.md")), page("b", None, "gone", Some("gone.md"))],
        files: vec![file("f", ".gitbook/assets/a.png"), file("g", "img/b.png")],
        includes: Vec::new(),
    };
    let now = space(vec![page("a", None, "readme", Some("README.md"))]);
    let removed = |before: &SpaceOutline| -> Vec<String> {
        let plan = ExportPlan::new(&repository, &now, before, &AdoptablePaths::NoPath).unwrap();
        plan.removed().iter().map(ToString::to_string).collect()
    };
    assert_eq!(removed(&before), [".gitbook/assets/a.png", "gone.md"]);
    assert_eq!(removed(&nothing()), Vec::<String>::new());
}

// Names that Git interprets are rejected too.
#[test]
fn writes_follow_symlinks_but_never_leave_the_repository() {
    let repository = repository(&["real/README.md", "docs -> real", "up -> ../x", "README.md"], None);
    let now = space(vec![page("a", None, "readme", Some("README.md"))]);
    let plan = ExportPlan::new(&repository, &now, &now, &AdoptablePaths::NoPath).unwrap();
    let path = |text: &str| RepoPath::new(text).unwrap();
    assert_eq!(plan.written_to(&path("docs/README.md")).unwrap(), path("real/README.md"));
    assert!(plan.written_to(&path("up/README.md")).is_err());
    assert!(matches!(plan.written_to(&path("x/.gitattributes")), Err(FormatError::Unsafe { .. })));
    assert_eq!(plan.written_to(&path("a.js")).unwrap(), path("a.js"));
}

#[test]
fn links_to_the_host_of_the_repository_keep_their_paths() {
    let repository = repository(&["README.md", "a.md", "x/other.md"], None);
    let now = space(vec![page("r", None, "readme", Some("README.md"))]);
    let plan = ExportPlan::new(&repository, &now, &now, &AdoptablePaths::NoPath).unwrap();
    let template = "[x](x/other.md#b) [y](x/other) ![z](x/other.md) [d]\n\n[d]: <x/other.md>\n";
    let url = "https://github.com/a/b/blob/main/x/other.md";
    let body =
        format!("[x]({url}#b) [y]({url}) ![z](x/other.md) [d]\n\nnew [again]({url}#b)\n\n[d]: <{url}>\n");
    let fields = PagePatch::from_title("r");
    let content = PageContent { fields: &fields, body: &body };
    let written = plan.page(&now.pages[0], Some(of_repository(template)), content).text;
    assert_eq!(
        written,
        "[x](x/other.md#b) [y](x/other) ![z](x/other.md) [d]\n\nnew [again](x/other.md#b)\n\n[d]: <x/other.md>\n"
    );
}

#[test]
fn programs_are_exported_under_the_names_they_came_with() {
    let all = ["README.md", ".gitbook/assets/a.js", ".gitbook/assets/b.txt"];
    let file = |id: &str, name: &str, path: Option<&str>| SpaceFile {
        id: id.parse().unwrap(),
        name: name.to_owned(),
        git: path.map(|path| GitBlob { oid: path.to_owned(), path: path.to_owned(), executable: false }),
    };
    let outline = |names: [&str; 2]| {
        let mut outline = space(vec![page("r", None, "readme", Some("README.md"))]);
        outline.files = vec![file("a", names[0], Some(all[1])), file("b", names[1], Some(all[2]))];
        outline
    };
    let before = outline(["a.js", "b.txt"]);
    let mut now = outline(["c.js", "d.exe"]);
    now.files.push(file("c", "new.sh", None));
    for there in [&all[..], &[]] {
        let repository = repository(there, None);
        let plan = ExportPlan::new(&repository, &now, &before, &AdoptablePaths::NoPath).unwrap();
        let path = |id: &str| plan.file_path(&id.parse().unwrap()).map(RepoPath::as_str);
        assert_eq!((path("a"), path("b"), path("c")), (Some(all[1]), Some(all[2]), None));
        let omitted: Vec<&str> = plan.omitted_files().iter().map(|file| &*file.name).collect();
        assert_eq!(omitted, ["new.sh"]);
        assert!(plan.removed().is_empty());
    }
}

/// Returns the table of contents after an export.
fn summary(files: &[&str], text: Option<&str>, now: &SpaceOutline, before: &SpaceOutline) -> String {
    let repository = repository(files, text);
    let plan = ExportPlan::new(&repository, now, before, &AdoptablePaths::NoPath).unwrap();
    let titles: HashMap<PageId, TitleIn> =
        now.pages.iter().map(|page| (page.id.clone(), TitleIn::File)).collect();
    plan.summary(&titles)
}

const FILES: &[&str] = &["README.md", "a.md", "b.md", "x/c.md"];
const SUMMARY: &str = "# Index\n\nwords\n\n1. [Home](README.md)\n2. [The A](a.md \"A\")\n    * [B *b*](./b.md)\n\n\nPart\n----\n\n* [C](x/c.md)\n";

/// Returns the pages that result from importing the test table of contents.
fn listed() -> SpaceOutline {
    let mut group = page("g", None, "part", None);
    (group.kind, group.title) = (SpacePageKind::Group, "Part".to_owned());
    space(vec![
        page("r", None, "readme", Some("README.md")),
        page("a", None, "a", Some("a.md")),
        page("b", Some("a"), "b", Some("b.md")),
        group,
        page("c", Some("g"), "c", Some("x/c.md")),
    ])
}

#[test]
fn unchanged_summary_is_exported_byte_for_byte() {
    assert_eq!(summary(FILES, Some(SUMMARY), &listed(), &listed()), SUMMARY);
}

#[test]
fn summary_export_changes_only_affected_lines() {
    let before = listed();
    let mut now = listed();
    now.pages.insert(3, page("n", Some("a"), "n", None));
    now.pages.retain(|page| page.id.to_string() != "r");
    now.pages[4].title = "Sea".to_owned();
    now.pages[3].title = "Other [part]".to_owned();
    let mut expected = SUMMARY.replace("1. [Home](README.md)\n", "");
    expected = expected.replace("](./b.md)\n", "](./b.md)\n    * [n](a/n.md)\n");
    expected = expected.replace("Part\n----\n", "## Other \\[part\\] <a href=\"#part\" id=\"part\"></a>\n");
    let mut text = summary(FILES, Some(SUMMARY), &now, &before);
    // A new line has the bullet of the first item in the list, unless that is a number.
    assert!(text.contains("    * [n](a/n.md)\n\n"), "{text}");
    text = text.replace("[n](a/n.md)\n\n## ", "[n](a/n.md)\n\n\n## ");
    assert_eq!(text, expected);
}

#[test]
fn top_level_page_after_a_group_is_separated_from_it() {
    let mut now = listed();
    now.pages.push(page("z", None, "z", None));
    let text = summary(FILES, Some(SUMMARY), &now, &listed());
    assert!(text.ends_with("* [C](x/c.md)\n\n***\n\n* [z](z.md)\n"), "{text}");
}

#[test]
fn reexport_of_summary_links_changes_nothing() {
    let targets = [
        json!({ "kind": "url", "url": "https://example.com/a_(b) c" }),
        json!({ "kind": "page", "page": "a" }),
        json!({ "kind": "anchor", "anchor": "x", "page": "a" }),
        json!({ "kind": "space", "space": "s" }),
    ];
    for target in targets {
        let mut link = page("l", None, "", None);
        link.kind = SpacePageKind::Link { target: serde_json::from_value(target.clone()).unwrap() };
        let mut now = listed();
        now.pages.insert(1, link);
        let text = summary(FILES, Some(SUMMARY), &now, &listed());
        assert_eq!(summary(FILES, Some(&text), &now, &now), text, "{target}");
        assert!(text.starts_with("# Index\n\nwords\n\n1. [Home](README.md)\n"), "{text}");
    }
}

/// Returns the file of a page after importing the template, changing its fields and replacing its body.
fn edited(template: &str, change: impl FnOnce(&mut PagePatch), body: Option<&str>) -> String {
    let repository = repository(&["README.md", "a.md"], None);
    let now = space(vec![page("r", None, "readme", Some("README.md")), page("a", None, "a", Some("a.md"))]);
    let plan = ExportPlan::new(&repository, &now, &now, &AdoptablePaths::AllBut(BTreeSet::new())).unwrap();
    let source = parse_page(template);
    let mut fields = source.fields();
    fields.title.get_or_insert("r".to_owned());
    change(&mut fields);
    let body = body.unwrap_or(&source.body);
    plan.page(&now.pages[0], Some(of_repository(template)), PageContent { fields: &fields, body }).text
}

#[test]
fn page_export_changes_only_the_edited_parts() {
    let hide: fn(&mut PagePatch) = |fields| fields.hidden = Some(true);
    let name: fn(&mut PagePatch) = |fields| fields.title = Some("New".to_owned());
    let tell: fn(&mut PagePatch) = |fields| fields.description = Some(None);
    let smile: fn(&mut PagePatch) = |fields| fields.emoji = Some(Some("🚀".to_owned()));
    for (before, change, after) in [
        ("# A\n\ntext", hide, "---\nhidden: true\n---\n\n# A\n\ntext"),
        ("\u{feff}# A\r\n\r\ntext", hide, "\u{feff}---\r\nhidden: true\r\n---\r\n\r\n# A\r\n\r\ntext"),
        ("---\nx: 1 # y\n---\n# A #\ntext", hide, "---\nx: 1 # y\nhidden: true\n---\n# A #\ntext"),
        ("A\n===\n\ntext", name, "# New\n\ntext"),
        ("---\ntitle: 'A'\n---\ntext", name, "---\ntitle: New\n---\ntext"),
        ("---\ntitle: A\n---\n# A\n", name, "---\ntitle: New\n---\n# New\n"),
        ("---\ntitle: B\n---\n# A\n", name, "---\ntitle: B\n---\n# New\n"),
        ("text", name, "text"),
        ("---\ndescription: |\n  a\n\n  b\n---\n\n\n# A\n", tell, "# A\n"),
        ("---\nbroken: [\n---\n# A\n", name, "---\nbroken: [\n---\n# New\n"),
        ("<!-- a\n\nb -->\n\n\n# A\n\ntext", name, "<!-- a\n\nb -->\n\n\n# New\n\ntext"),
        ("---\nx: 1\n---\n\n<!-- a -->\n# A\n", hide, "---\nx: 1\nhidden: true\n---\n\n<!-- a -->\n# A\n"),
        ("[d]: a.md\n# A\ntext [d]", name, "[d]: a.md\n# New\ntext [d]"),
        ("---\n\nintro\n\n---\n\n# A\n", name, "---\n\nintro\n\n---\n\n# A\n"),
        ("text", smile, "# 🚀 r\n\ntext"),
        (
            "---\nhidden: false\nlayout: {title: {visible: true}}\n---\ntext",
            name,
            "---\nhidden: false\nlayout: {title: {visible: true}}\n---\ntext",
        ),
    ] {
        assert_eq!(edited(before, change, None), after, "{before:?}");
    }
    assert_eq!(edited("intro", |_| {}, Some("# Not the title")), "# r\n\n# Not the title");
    assert_eq!(edited("<!-- a -->\n\n# A\n", |_| {}, Some("<!-- a -->\n\nb")), "<!-- a -->\n\n# A\n\nb");
    assert_eq!(edited("<!-- a -->\n\n# A\n\nb", |_| {}, Some("c")), "# A\n\nc");
    assert_eq!(
        edited("[x](<a.md> 't')\n\ny\n", |_| {}, Some("[x](</pages/a> 't')\n\nz [q](/pages/a#b)\n")),
        "[x](<a.md> 't')\n\nz [q](a.md#b)\n"
    );
}

proptest! {
    #[test]
    fn a_page_that_is_not_edited_keeps_every_byte(
        text in "(\u{feff})?(---\r?\n([a-z]{1,3}: [a-z\\[{'\"#:-]{0,5}\r?\n){0,3}---\r?\n)?(\r?\n){0,2}(<!--(-|>|a|\r?\n){0,3}-->|\\[x\\]: a\\.md|\r?\n){0,3}(# [a-zA*_`#🚀 ]{0,6}\r?\n)?(\r?\n)?(\\PC|\r?\n|\\[x\\]\\(a\\.md\\)){0,20}"
    ) {
        let repository = repository(&["README.md", "a.md"], None);
        let now = space(vec![page("r", None, "readme", Some("README.md")), page("a", None, "a", Some("a.md"))]);
        let plan = ExportPlan::new(&repository, &now, &now, &AdoptablePaths::NoPath).unwrap();
        let source = parse_page(&text);
        let mut fields = source.fields();
        fields.title.get_or_insert("r".to_owned());
        let body = crate::markdown::rewrite_links(&source.body, |site| match site.destination.as_str() {
            "a.md" => crate::markdown::Resolution::To("/pages/a".to_owned()),
            _ => crate::markdown::Resolution::Keep,
        });
        let written = plan.page(
            &now.pages[0],
            Some(of_repository(&text)),
            PageContent { fields: &fields, body: &body },
        );
        prop_assert_eq!(written.text, text);
    }

    #[test]
    fn newly_exported_pages_round_trip(
        title in "\\PC{1,20}",
        body in "(\\PC|\n|# |---\n|```\n){0,30}",
        description in proptest::option::of("\\PC{1,30}"),
        hidden in any::<bool>(),
    ) {
        let title = title.trim();
        // A parsed title only begins with an emoji if the page has one.
        prop_assume!(!title.is_empty() && !title.contains('\0') && crate::markdown::leading_emoji(title).is_none());
        let repository = repository(&[], None);
        let now = space(vec![page("r", None, "readme", None)]);
        let before = nothing();
        let plan = ExportPlan::new(&repository, &now, &before, &AdoptablePaths::NoPath).unwrap();
        let fields = PagePatch {
            description: Some(description.clone()), hidden: Some(hidden), ..PagePatch::from_title(title)
        };
        let body = crate::markdown::without_blank_lines(&body);
        let written = plan.page(&now.pages[0], None, PageContent { fields: &fields, body });
        let read = parse_page(&written.text);
        prop_assert_eq!(read.fields().title, Some(title.to_owned()), "{}", written.text);
        prop_assert_eq!(read.body, body);
        prop_assert_eq!(read.front.fields.description.flatten(), description);
        prop_assert_eq!(read.front.fields.hidden.unwrap_or_default(), hidden);
    }
}
