use std::{fs, path::Path};

use docs_model::MAX_FILE_BYTES;

use super::*;
use crate::gitsync::{CommitEntry, EntryKind, references, variables};

fn path(text: &str) -> RepoPath {
    RepoPath::new(text).unwrap()
}

fn tree(paths: &[&str]) -> RepoTree {
    RepoTree::new(paths.iter().map(|path| CommitEntry {
        path: (*path).to_owned(),
        size: 1,
        kind: EntryKind::File,
    }))
}

fn plan(config: &str, paths: &[&str], summary: Option<&str>) -> Result<ImportPlan, FormatError> {
    let config = RepoConfig::read(Some(config), &RepoPath::default()).unwrap();
    ImportPlan::new(&config, &tree(paths), summary)
}

/// Returns the paths of all pages in the order of the tree, with their files.
fn pages(plan: &ImportPlan) -> Vec<(String, String)> {
    let mut todo: Vec<_> = plan.pages.iter().rev().collect();
    let mut out = Vec::new();
    while let Some(page) = todo.pop() {
        let what = match &page.kind {
            PlannedKind::Document { file, .. } => {
                file.as_ref().map_or("-", |file| file.path.as_str()).to_owned()
            }
            PlannedKind::Group => "group".to_owned(),
            PlannedKind::Link { url, .. } => url.clone(),
            PlannedKind::Computed { .. } => "computed".to_owned(),
        };
        out.push((page.path.clone(), what));
        todo.extend(page.pages.iter().rev());
    }
    out
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(path, what)| ((*path).to_owned(), (*what).to_owned())).collect()
}

#[test]
fn folders_of_languages_are_reported() {
    let warnings = |files: &[&str], summary: Option<&str>| -> Vec<String> {
        plan("", files, summary).unwrap().warnings.iter().map(ToString::to_string).collect()
    };
    let book =
        ["LANGS.md", "README.md", "en/SUMMARY.md", "en/a.md", "en/x/SUMMARY.md", "ja/SUMMARY.md", "ja/a.md"];
    let message = "LANGS.md: lists the languages of a book; import each into a space of its own, with its folder as \
                   the project directory, such as `en`, `ja`";
    assert!(warnings(&book, None).contains(&message.to_owned()), "{:?}", warnings(&book, None));
    let is_reported = |found: Vec<String>| found.iter().any(|warning| warning.starts_with("LANGS.md"));
    assert!(!is_reported(warnings(&book, Some("* [A](en/a.md)\n"))));
    assert!(!is_reported(warnings(&["LANGS.md", "README.md", "en/a.md"], None)));
    assert!(!is_reported(warnings(&book[1..], None)));
}

#[test]
fn unlisted_readme_becomes_the_first_page() {
    let files = ["README.md", "a.md", "b/README.md"];
    let shown = |config, summary| pages(&plan(config, &files, Some(summary)).unwrap());
    let listed = pairs(&[("a", "a.md"), ("readme", "README.md")]);
    assert_eq!(shown("", "* [A](a.md)\n* [Start](README.md)\n"), listed);
    let added = plan("", &files, Some("## Part\n* [A](a.md)\n* [B](b/)\n")).unwrap();
    let expected =
        [("readme", "README.md"), ("part", "group"), ("part/a", "a.md"), ("part/b", "b/README.md")];
    assert_eq!(pages(&added), pairs(&expected));
    let warnings: Vec<String> = added.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(warnings, ["SUMMARY.md: `README.md` is not listed; it becomes the first page"]);
    let other = pairs(&[("readme", "b/README.md"), ("a", "a.md")]);
    assert_eq!(shown("structure: {readme: b/README.md}", "* [A](a.md)\n"), other);
}

#[test]
fn paths_come_from_file_names_and_parents() {
    let plan = plan(
        "",
        &["README.md", "Quick Start.md", "a/README.md", "a/One.md", "z/other.md", "ref/errors.md", "???.md"],
        Some(
            "* [Welcome](README.md)\n* [Go](<Quick Start.md>)\n* [A](a/)\n  * [One](a/One.md)\n    * [Far](z/other.md)\n\
             * [Why](%3F%3F%3F.md)\n* [Web](https://x.y)\n\n## The Reference\n* [E](ref/errors.md)\n\n\
             ## More <a href=\"#m\" id=\"m\"></a>\n* Empty page\n",
        ),
    );
    let plan = plan.unwrap();
    assert_eq!(
        pages(&plan),
        pairs(&[
            ("readme", "README.md"),
            ("quick-start", "Quick Start.md"),
            ("a", "a/README.md"),
            ("a/one", "a/One.md"),
            ("a/one/other", "z/other.md"),
            ("why", "???.md"),
            ("", "https://x.y"),
            ("the-reference", "group"),
            ("the-reference/errors", "ref/errors.md"),
            ("m", "group"),
            ("m/empty-page", "-"),
        ])
    );
    assert_eq!(plan.landing().unwrap().title, "Welcome");
    assert_eq!(plan.warnings, []);
}

#[test]
fn the_index_of_a_folder_has_the_path_of_the_folder() {
    let files = ["index.md", "start/index.md", "start/qemu.md", "more/Index.md"];
    let summary =
        "* [Home](index.md)\n* [Start](start/index.md)\n  * [Q](start/qemu.md)\n* [More](more/Index.md)\n";
    let expected = [
        ("index", "index.md"),
        ("start", "start/index.md"),
        ("start/qemu", "start/qemu.md"),
        ("more", "more/Index.md"),
    ];
    assert_eq!(
        pages(&plan("structure: {readme: index.md}", &files, Some(summary)).unwrap()),
        pairs(&expected)
    );
}

#[test]
fn siblings_with_one_name_are_numbered() {
    let plan = plan(
        "",
        &["a/x.md", "b/x.md", "c/X.md"],
        Some("* [1](a/x.md)\n* [2](b/x.md)\n* [3](c/X.md)\n  * [4](a/x.md#y)\n"),
    )
    .unwrap();
    let paths: Vec<_> = plan.pages.iter().map(|page| page.path.as_str()).collect();
    assert_eq!(paths, ["x", "x-1", "x-2"]);
}

#[test]
fn assets_includes_and_variables_are_collected() {
    let mut plan = plan(
        "root: docs",
        &[
            "docs/README.md",
            "docs/.gitbook/assets/a.png",
            "docs/.gitbook/assets/deep/A.PNG",
            "docs/.gitbook/includes/setup.md",
            "docs/.gitbook/includes/deep/no.md",
            "docs/.gitbook/includes/no.txt",
            "docs/.gitbook/vars.yaml",
            "docs/images/a.png",
            "docs/notes.md",
            ".gitbook/assets/other.png",
        ],
        Some("* [x](README.md)"),
    )
    .unwrap();
    let names = |plan: &ImportPlan| plan.assets.iter().map(|asset| asset.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&plan), ["a.png", "A (1).PNG"]);
    assert_eq!(plan.includes.len(), 1);
    assert_eq!((plan.includes[0].slug.as_str(), plan.includes[0].title.as_str()), ("setup", "Setup"));
    assert_eq!(plan.variables.as_ref().unwrap().path.as_str(), "docs/.gitbook/vars.yaml");

    let tree =
        tree(&["docs/images/a.png", "docs/notes.md", "docs/README.md", "docs/.gitbook/includes/setup.md"]);
    for _ in 0..2 {
        let asset = plan.refer(&tree, &path("docs/images/a.png")).unwrap().unwrap();
        assert_eq!(asset.name, "a (2).png");
    }
    for none in
        ["docs/notes.md", "docs/README.md", "docs/.gitbook/includes/setup.md", "docs/gone.png", "docs"]
    {
        assert_eq!(plan.refer(&tree, &path(none)).unwrap(), None, "{none}");
    }
    assert_eq!(names(&plan).len(), 3);
}

#[test]
fn non_markdown_file_listed_in_the_summary_is_an_asset() {
    let plan = plan("", &["README.md", "spec.pdf"], Some("* [x](README.md)\n* [y](spec.pdf)\n")).unwrap();
    assert_eq!(plan.assets[0].file.path.as_str(), "spec.pdf");
}

/// mdBook and HonKit write `start/qemu.md` to `start/qemu.html`, whatever part and chapter list it.
#[test]
fn paths_of_the_html_output_of_books_are_redirects() {
    let files =
        ["src/README.md", "src/start/index.md", "src/start/qemu.md", "src/a/README.md", "src/Note.md"];
    let tree =
        RepoTree::new(files.map(|path| CommitEntry { path: path.into(), size: 10, kind: EntryKind::File }));
    let config = |toml: &str| RepoConfig::from_mdbook(toml, &RepoPath::default());
    let summary = "# Summary\n\n[Preface](README.md)\n\n# User Guide\n\n- [Start](start/index.md)\n  \
                   - [QEMU](start/qemu.md)\n    - [A](a/README.md)\n\n# Other\n\n- [Note](Note.md)\n";
    let redirects = |config: &RepoConfig| -> Vec<(String, String)> {
        let plan = ImportPlan::new(config, &tree, Some(summary)).unwrap();
        plan.redirects.into_iter().map(|it| (it.from, it.to.to_string())).collect()
    };
    let pairs = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect()
    };
    let output = pairs(&[
        ("start", "src/start/index.md"),
        ("start/qemu", "src/start/qemu.md"),
        ("a", "src/a/README.md"),
        ("Note", "src/Note.md"),
    ]);
    assert_eq!(redirects(&config("")), output);
    // A redirect of the configuration takes precedence.
    let configured = config("[output.html.redirect]\n\"/a.html\" = \"/start/qemu.html\"\n");
    let mut all = pairs(&[("a", "src/start/qemu.md")]);
    all.extend(output.iter().filter(|(from, _)| from != "a").cloned());
    assert_eq!(redirects(&configured), all);
    // The written configuration omits the derived ones.
    let derived = ImportPlan::new(&config(""), &tree, Some(summary)).unwrap().redirects;
    let written = RepoConfig { redirects: derived, ..config("") }.text().unwrap();
    assert!(!written.contains("redirect"), "{written}");
    // Repositories in the own format have no HTML output.
    let native = RepoConfig { format: BookFormat::Native, ..config("") };
    assert_eq!(redirects(&native), []);
}

#[test]
fn redirects_to_missing_pages_are_skipped_with_a_warning() {
    let plan = plan(
        "redirects: {old: a.md, older: dir/, bare: /a, home: /, gone: b.md, unlisted: c.md}",
        &["README.md", "a.md", "dir/README.md", "c.md"],
        Some("* [R](README.md)\n* [A](a.md)\n* [D](dir/README.md)\n"),
    )
    .unwrap();
    let redirects: Vec<_> = plan.redirects.iter().map(|it| (it.from.as_str(), it.to.as_str())).collect();
    assert_eq!(
        redirects,
        [("bare", "a.md"), ("home", "README.md"), ("old", "a.md"), ("older", "dir/README.md")]
    );
    assert_eq!(plan.warnings.len(), 2);
    assert_eq!(
        plan.warnings[0].to_string(),
        ".gitbook.yaml: skipped redirect from `gone`: its target `b.md` is not a page"
    );
}

#[test]
fn page_tree_is_inferred_from_folders_without_a_summary() {
    let plan = plan("", &["README.md", "b/c.md", "a.md"], None).unwrap();
    assert_eq!(
        pages(&plan),
        pairs(&[("readme", "README.md"), ("a", "a.md"), ("b", "group"), ("b/c", "b/c.md")])
    );
}

// Importing an empty repository would delete all content of the space.
#[test]
fn import_without_pages_fails_and_empty_summary_keeps_readme() {
    for summary in [None, Some(""), Some("# Summary\n")] {
        let error = plan("root: docs", &["README.md", "docs/a.txt"], summary).unwrap_err();
        assert_eq!(error.to_string(), "docs: must contain a Markdown file");
    }
    let plan = plan("", &["README.md", "a.md"], Some("# Summary\n")).unwrap();
    assert_eq!(pages(&plan), pairs(&[("readme", "README.md")]));
    assert_eq!(plan.warnings.len(), 1);
}

#[test]
fn the_number_of_pages_is_limited() {
    let files: Vec<_> = (0..=MAX_PAGES).map(|number| format!("p{number}.md")).collect();
    let names: Vec<_> = files.iter().map(String::as_str).collect();
    assert_eq!(plan("", &names[1..], None).unwrap().pages.len(), MAX_PAGES);
    assert_eq!(
        plan("", &names, None).unwrap_err().to_string(),
        "the repository must have at most 5000 Markdown pages, has 5001"
    );
}

#[test]
fn invalid_symlinks_and_large_files_fail_only_when_used() {
    let entry = |path: &str, size, kind| CommitEntry { path: path.to_owned(), size, kind };
    let entries = |summary_link: &str| {
        [
            entry("README.md", 1, EntryKind::File),
            entry("up.md", 3, EntryKind::Symlink("../../x.md".to_owned())),
            entry("same.md", 3, EntryKind::Symlink("README.md".to_owned())),
            entry("img.png", 3, EntryKind::Symlink(summary_link.to_owned())),
            entry("huge.bin", MAX_FILE_BYTES + 1, EntryKind::File),
            entry("lib", 0, EntryKind::Submodule),
        ]
    };
    let config = RepoConfig::read(None, &RepoPath::default()).unwrap();
    let tree = RepoTree::new(entries("/etc/passwd"));
    let mut plan = ImportPlan::new(&config, &tree, Some("* [x](README.md)\n* [y](same.md)\n")).unwrap();
    let file = match &plan.pages[1].kind {
        PlannedKind::Document { file: Some(file), .. } => file.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!((file.path.as_str(), file.source.as_str()), ("same.md", "README.md"));
    assert_eq!(plan.warnings[0].to_string(), "lib: skipped submodule");
    plan.refer(&tree, &path("img.png")).unwrap();
    assert!(plan.assets.iter().all(|asset| asset.file.path != path("img.png")));
    let error = plan.refer(&tree, &path("huge.bin")).unwrap_err();
    assert!(error.to_string().starts_with("huge.bin: must be at most 100 MB"), "{error}");
    let plan = ImportPlan::new(&config, &tree, Some("* [x](up.md)\n* [y](same.md)\n")).unwrap();
    let warnings: Vec<String> = plan.warnings.iter().map(ToString::to_string).collect();
    assert!(
        warnings.contains(&"up.md: skipped symbolic link: it must stay within the repository".to_owned()),
        "{warnings:?}"
    );
}

#[test]
fn thousands_of_duplicate_titles_get_unique_slugs() {
    let mut text = "* Same\n".repeat(MAX_SIBLINGS / 2);
    text.push_str(&"* Same 7\n".repeat(MAX_SIBLINGS / 2));
    let plan = plan("", &[], Some(&text)).unwrap();
    let slugs: HashSet<_> = plan.pages.iter().map(PlannedPage::slug).collect();
    assert_eq!(slugs.len(), MAX_SIBLINGS);
    assert_eq!(plan.pages[MAX_SIBLINGS / 2 - 1].slug(), format!("same-{}", MAX_SIBLINGS / 2 - 1));
    assert_eq!(plan.pages[MAX_SIBLINGS / 2].slug(), "same-7-1", "the plain one is taken");
}

#[test]
fn twenty_thousand_duplicate_asset_names_are_numbered() {
    let names: Vec<_> = (0..20_000).map(|n| format!(".gitbook/assets/{n:05}/a.png")).collect();
    let names: Vec<_> = names.iter().map(String::as_str).chain(["README.md"]).collect();
    let plan = plan("", &names, None).unwrap();
    assert_eq!(plan.assets[0].name, "a.png");
    assert_eq!(plan.assets[19_999].name, "a (19999).png");
}

#[test]
fn inferred_page_tree_has_an_item_limit() {
    let files =
        |count: usize| -> Vec<String> { (0..count).map(|n| format!("{n}/a/b/c/d/e/f/g/h/i.md")).collect() };
    let ten = |count: usize| {
        let files = files(count);
        let names: Vec<_> = files.iter().map(String::as_str).collect();
        plan("", &names, None)
    };
    assert!(ten(MAX_ITEMS / 10).is_ok());
    let message = "the repository: must have at most 20000 groups, pages and links";
    assert_eq!(ten(MAX_ITEMS / 10 + 1).unwrap_err().to_string(), message);
}

#[test]
fn large_variables_are_refused_before_they_are_read() {
    let tree = |size| {
        let entry = |path: &str, size| CommitEntry { path: path.to_owned(), size, kind: EntryKind::File };
        RepoTree::new([entry("README.md", 1), entry(".gitbook/vars.yaml", size)])
    };
    let config = RepoConfig::read(None, &RepoPath::default()).unwrap();
    assert!(ImportPlan::new(&config, &tree(MAX_CONFIG_BYTES), None).is_ok());
    let error = ImportPlan::new(&config, &tree(MAX_CONFIG_BYTES + 1), None).unwrap_err();
    let message = ".gitbook/vars.yaml: must be at most 1 MiB, has 2 MiB";
    assert_eq!(error.to_string(), message);
}

#[test]
fn texts_and_files_are_summed() {
    let sizes = [
        ("README.md", 1),
        ("a.md", 20),
        ("unlisted.md", 300),
        (".gitbook/includes/x.md", 4_000),
        (".gitbook/assets/y.png", 50_000),
        ("z.png", 600_000),
    ];
    let entries =
        sizes.map(|(path, size)| CommitEntry { path: path.to_owned(), size, kind: EntryKind::File });
    let tree = RepoTree::new(entries);
    let config = RepoConfig::read(None, &RepoPath::default()).unwrap();
    let summary = "* [R](README.md)\n  * [A](a.md)\n* [Web](https://x.y)\n* Empty\n";
    let mut plan = ImportPlan::new(&config, &tree, Some(summary)).unwrap();
    assert_eq!((plan.text_bytes(), plan.asset_bytes()), (4_021, 50_000));
    plan.refer(&tree, &path("z.png")).unwrap();
    assert_eq!((plan.text_bytes(), plan.asset_bytes()), (4_021, 650_000));
}

#[test]
fn pages_beyond_the_sibling_limit_are_omitted_and_counted() {
    let over = MAX_SIBLINGS + 2;
    let summary = format!("* Top\n{}  * Last\n    * Below\n* End\n", "  * a\n".repeat(over));
    let plan = plan("", &[], Some(&summary)).unwrap();
    assert_eq!((plan.pages.len(), plan.pages[0].pages.len()), (2, MAX_SIBLINGS));
    assert_eq!(plan.pages[0].pages[MAX_SIBLINGS - 1].slug(), format!("a-{}", MAX_SIBLINGS - 1));
    let warnings: Vec<&str> = plan.warnings.iter().map(|warning| warning.message.as_str()).collect();
    let expected = format!(
        "4 pages skipped: a page has at most {MAX_SIBLINGS} child pages (`a`, `a`, `Last` and others)"
    );
    assert_eq!(warnings, [expected.as_str()]);
    let fits = format!("* Top\n{}", "  * a\n".repeat(MAX_SIBLINGS));
    assert_eq!(super::tests::plan("", &[], Some(&fits)).unwrap().warnings, []);
}

#[test]
fn pages_with_long_paths_are_left_out_and_long_titles_cut() {
    let title = "x".repeat(100);
    let levels = MAX_PATH_BYTES.div_ceil(101) - 1;
    let mut summary: String = (0..levels).map(|level| format!("{}* {title}\n", "  ".repeat(level))).collect();
    let last = |bytes: usize| format!("{}* {}\n", "  ".repeat(levels), "y".repeat(bytes));
    let rest = MAX_PATH_BYTES - 101 * levels;
    summary.push_str(&last(rest));
    summary.push_str(&last(rest + 1));
    summary.push_str(&format!("* {}\n* {}\n", "t".repeat(MAX_TITLE), "t".repeat(MAX_TITLE + 1)));
    let plan = plan("", &[], Some(&summary)).unwrap();
    let longest = plan.documents().map(|page| page.path.len()).max();
    assert_eq!((plan.documents().count(), longest), (levels + 3, Some(MAX_PATH_BYTES)));
    assert!(plan.documents().all(|page| page.title.len() <= MAX_TITLE));
    let warnings: Vec<&str> = plan.warnings.iter().map(|warning| warning.message.as_str()).collect();
    let expected = [
        format!(
            "1 pages skipped: the path of a page has at most {MAX_PATH_BYTES} bytes (`{}`)",
            "y".repeat(MAX_NAMED_TITLE)
        ),
        format!("1 titles cut to {MAX_TITLE} characters (`{}`)", "t".repeat(MAX_NAMED_TITLE)),
    ];
    assert_eq!(warnings, expected);
}

mod slugs {
    use proptest::prelude::*;

    use super::*;
    use crate::append_number;

    /// Returns the first free numbered slug by a linear search.
    fn plain(slug: &str, taken: &mut HashSet<String>) -> String {
        let mut unique = slug.to_owned();
        let mut number = 0;
        while !taken.insert(unique.clone()) {
            number += 1;
            unique = append_number(slug, number);
        }
        unique
    }

    proptest! {
        #[test]
        fn the_first_free_number_is_taken(
            names in prop::collection::vec("(a|b|a{97}|a{98}|a{99}|a{100}|a{96}-a|a{99}b)(-[12]|-10)?", 0..120)
        ) {
            let (mut slugs, mut taken) = (UniqueNames::default(), HashSet::new());
            for name in names {
                prop_assert_eq!(slugs.take_slug(name.clone(), 1), plain(&name, &mut taken));
            }
        }
    }
}

/// Returns the files of a folder on disk, as a commit would list them.
fn files_of(folder: &Path) -> Vec<String> {
    let mut files = Vec::new();
    let mut todo = vec![folder.to_owned()];
    while let Some(next) = todo.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                todo.push(path);
            } else {
                files.push(path.strip_prefix(folder).unwrap().to_str().unwrap().replace('\\', "/"));
            }
        }
    }
    files
}

#[test]
fn the_handbook_is_read_without_a_warning() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/handbook");
    let read = |path: &str| fs::read_to_string(folder.join(path)).unwrap();
    let files = files_of(&folder);
    let names: Vec<_> = files.iter().map(String::as_str).collect();
    let tree = tree(&names);
    let config = RepoConfig::read(Some(&read(".gitbook.yaml")), &RepoPath::default()).unwrap();
    let mut plan = ImportPlan::new(&config, &tree, Some(&read("SUMMARY.md"))).unwrap();

    assert_eq!(plan.warnings, []);
    assert_eq!(plan.landing().unwrap().title, "Welcome");
    assert_eq!(plan.includes.len(), 2);
    let groups: Vec<_> = plan
        .pages
        .iter()
        .filter(|page| page.kind == PlannedKind::Group)
        .map(|page| page.path.as_str())
        .collect();
    assert_eq!(groups, ["guides", "embedding", "reference"]);
    let vars = plan.variables.clone().unwrap();
    let (vars, warnings) = variables(&read(vars.source.as_str()), &vars.path).unwrap();
    assert_eq!((vars.len(), warnings.len()), (3, 0));

    // Every Markdown file is a page or reusable content block, and every reference has a target.
    let documents: Vec<_> = plan
        .documents()
        .filter_map(|page| match &page.kind {
            PlannedKind::Document { file: Some(file), .. } => Some(file.path.clone()),
            _ => None,
        })
        .collect();
    let markdown = names.iter().filter(|name| name.ends_with(".md") && **name != "SUMMARY.md").count();
    assert_eq!(documents.len() + plan.includes.len(), markdown);
    let mut found = 0;
    for page in &documents {
        for reference in references(&read(page.as_str()), page, &config.root) {
            found += 1;
            assert!(tree.locate(&reference.path).unwrap().is_some(), "{page}: {}", reference.path);
            plan.refer(&tree, &reference.path).unwrap();
        }
    }
    assert!(found > 20, "{found}");
    assert_eq!(plan.assets.len(), 2);
}

#[test]
fn inferring_the_handbook_without_summary_finds_the_same_pages() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/handbook");
    let files = files_of(&folder);
    let names: Vec<_> = files.iter().map(String::as_str).collect();
    let listed = plan("", &names, Some(&fs::read_to_string(folder.join("SUMMARY.md")).unwrap())).unwrap();
    let inferred = plan("", &names, None).unwrap();
    let paths = |plan: &ImportPlan| {
        let mut paths: Vec<_> = plan.documents().map(|page| page.path.clone()).collect();
        paths.sort();
        paths
    };
    assert_eq!(paths(&listed), paths(&inferred));
}
