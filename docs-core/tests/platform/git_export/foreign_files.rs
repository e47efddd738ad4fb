//! Files that originate from a repository: exports write them unchanged. Rules for new files do not apply to them.

use docs_core::model::{FileId, JobState};
use proptest::prelude::*;
use serde_json::json;

use super::{
    round_trip::{AWKWARD, assert_same_after_import, changed},
    *,
};
use crate::support::block_on;

/// Exports to an emptied remote, so that all files are written again, and returns them.
async fn export_to_empty(w: &World, remote: &MemGit, space: &SpaceId) -> BTreeMap<String, String> {
    remote.edit(|repository| {
        repository.files.clear();
        repository.message = "Nothing".to_owned();
    });
    assert_eq!(export(w, space, json!({ "force": true })).await, (JobState::Done, None));
    files(remote)
}

#[tokio::test]
async fn files_of_any_kind_from_a_repository_are_exported() {
    let assets = [
        ".gitbook/assets/course.js",
        ".gitbook/assets/Setup.EXE",
        ".gitbook/assets/Screenshot_1 (1).png",
        ".gitbook/assets/screenshot_1.png",
        ".gitbook/assets/SCREENSHOT_1.png",
        ".gitbook/assets/a#b?c%20d.svg",
        ".gitbook/assets/\u{e9}.png",
        ".gitbook/assets/e\u{301}.png",
        "part/.gitbook/assets/x.png",
        "part/run.sh",
        "no extension",
    ];
    let home = "# Home\n\n[a](<no extension>) [b](part/run.sh) ![c](part/.gitbook/assets/x.png)\n\n\
                ![d](.gitbook/assets/a%23b%3Fc%2520d.svg) ![e](<.gitbook/assets/Screenshot_1 (1).png>)\n";
    let mut all = vec![("SUMMARY.md", "# Table of contents\n\n* [Home](README.md)\n"), ("README.md", home)];
    all.extend(assets.map(|path| (path, path)));
    let (w, remote, space) = world_of(&all).await;
    let before = files(&remote);
    assert_eq!(export_to_empty(&w, &remote, &space).await, before);
    assert_same_after_import(&w, &remote, &space).await;
}

#[tokio::test]
async fn executable_files_keep_their_mode() {
    let all = [
        ("SUMMARY.md", "# Table of contents\n\n* [Home](README.md)\n* [Page](page.md)\n"),
        ("README.md", "# Home\n\n[run](part/run.sh) ![a](.gitbook/assets/a.png)\n"),
        ("page.md", "# Page\n\nText.\n"),
        ("part/run.sh", "#!/bin/sh\n"),
        (".gitbook/assets/a.png", "a"),
    ];
    let modes = [".gitbook/assets/a.png", "page.md", "part/run.sh"].map(str::to_owned);
    let (w, remote, space) = world_of(&all).await;
    remote.edit(|repository| repository.executables.extend(modes.clone()));
    import_again(&w, &space).await;
    let page = at(&w, &space, "page").await;
    let of = ContentVersion::space(space.clone());
    let RevisionPage::Document(shown) = crate::support::page(&w, &of, &page).await else {
        panic!("a document")
    };
    assert!(shown.git.expect("a file").executable);
    let executables = |remote: &MemGit| remote.edit(|repository| repository.executables.clone());
    remote.edit(|repository| repository.executables.clear());
    let before = files(&remote);
    assert_eq!(export_to_empty(&w, &remote, &space).await, before);
    assert_eq!(executables(&remote), modes.clone().into());
    assert_same_after_import(&w, &remote, &space).await;
    // A renamed and an edited file keep the mode, too.
    change(&w, &space, set(&page, "Other text.\n")).await;
    change(&w, &space, json!([{ "operation": "update_page", "page": page, "slug": "moved" }])).await;
    exported(&w, &space).await;
    let moved = files(&remote).into_keys().find(|path| path.contains("moved")).expect("the moved page");
    let expected = [".gitbook/assets/a.png", &moved, "part/run.sh"].map(str::to_owned);
    assert_eq!(executables(&remote), expected.into());
    // The mode of a file that only the repository has changed is imported.
    remote.edit(|repository| repository.executables.remove(&moved));
    import_again(&w, &space).await;
    assert_same_after_import(&w, &remote, &space).await;
    assert!(!executables(&remote).contains(&moved));
}

#[tokio::test]
async fn new_programs_are_skipped_with_a_warning() {
    let (w, remote, space) = world_of(AWKWARD).await;
    let before = files(&remote);
    let files_there = json!([{ "operation": "insert_files", "files": [
        { "name": "run.js", "contentType": "text/plain", "base64": "eA==" },
        { "name": ".gitattributes", "contentType": "text/plain", "base64": "eA==" },
        { "name": "notes.txt", "contentType": "text/plain", "base64": "eA==" },
    ] }]);
    change(&w, &space, files_there).await;
    let ids = file_ids(&w, &space).await;
    let one = at(&w, &space, "start/one-two").await;
    change(&w, &space, set(&one, &format!("[run](/files/{})\n", ids["run.js"]))).await;
    let job = exported(&w, &space).await;
    let log = log(&job);
    for name in ["run.js", ".gitattributes"] {
        assert!(log.contains(&format!("skipped the file `{name}`: ")), "{log}");
    }
    assert_eq!(changed(&before, &files(&remote)), ["docs/.gitbook/assets/notes.txt", "docs/One two.md"]);
    let text = &files(&remote)["docs/One two.md"];
    assert!(text.contains(&format!("[run](/broken/files/{})", ids["run.js"])), "{text}");
    assert_eq!(file_ids(&w, &space).await, ids);
    w.check().await;
}

/// Returns the ids of the files of a space by name.
async fn file_ids(w: &World, space: &SpaceId) -> BTreeMap<String, FileId> {
    let of = ContentVersion::space(space.clone());
    let revision = w.as_admin().content(&of).get(ContentOptions::default()).await.expect("read");
    revision.files.into_iter().map(|file| (file.name.to_string(), file.id)).collect()
}

#[tokio::test]
async fn an_empty_repository_gets_the_redirects() {
    let config =
        "structure:\n  readme: ./start.md\nredirects:\n  guide: \"./a%23b.md#x\"\n  old/page: ./start.md\n";
    let all = [
        (
            ".gitbook.yaml",
            "redirects: {Old/page: /start.md, /guide/: a%23b#x}\nstructure: {readme: start.md}\n",
        ),
        ("SUMMARY.md", "# Table of contents\n\n* [Home](start.md)\n* [A](a%23b.md)\n"),
        ("start.md", "# Home\n"),
        ("a#b.md", "# A\n"),
    ];
    let (w, remote, space) = world_of(&all).await;
    let mut expected = files(&remote);
    expected.insert(".gitbook.yaml".to_owned(), config.to_owned());
    assert_eq!(export_to_empty(&w, &remote, &space).await, expected);
    assert_same_after_import(&w, &remote, &space).await;
}

#[tokio::test]
async fn unusual_beginnings_of_pages_survive_an_export() {
    let all = [
        (
            "SUMMARY.md",
            "# Table of contents\n\n* [Home](README.md)\n* [Page](a.md)\n* [Rule](b.md)\n* [Front](c.md)\n",
        ),
        ("README.md", "[x]: a.md\n# Home\nSee [x].\n"),
        ("a.md", "<!--\nA licence.\n\nMore.\n-->\n\n# Real title\n\nBody.\n"),
        ("b.md", "---\n\nAn introduction.\n\n---\n\nMore.\n"),
        ("c.md", "---\ntitle: a: b\n---\n# Front\n\nText.\n"),
    ];
    let (w, remote, space) = world_of(&all).await;
    let before = files(&remote);
    let job = latest(&w, &space).await;
    assert!(log(&job).contains("c.md: The front matter is not valid YAML"), "{}", log(&job));
    assert!(!log(&job).contains("b.md"), "{}", log(&job));
    at(&w, &space, "a").await;
    let content = content(&w, &space).await;
    assert_eq!(content["pages"][1]["title"], "Real title");
    let mut expected = before.clone();
    expected.insert("SUMMARY.md".to_owned(), before["SUMMARY.md"].replace("[Page]", "[Real title]"));
    assert_eq!(export_to_empty(&w, &remote, &space).await, expected);
    assert_same_after_import(&w, &remote, &space).await;
    let page = at(&w, &space, "a").await;
    let title = json!([{ "operation": "update_page", "page": page, "title": "New title" }]);
    change(&w, &space, title).await;
    exported(&w, &space).await;
    assert_eq!(files(&remote)["a.md"], before["a.md"].replace("Real", "New"));
}

/// Imports the remote with the URL of its branch at the Git host.
async fn import_from_host(w: &World, space: &SpaceId) {
    w.clock.advance(Duration::from_millis(1));
    let tree = "https://host.example/docs/tree/main";
    let request = json!({ "url": URL, "ref": "refs/heads/main", "force": true, "repoTreeURL": tree });
    let request: ImportGitRepository = serde_json::from_value(request).expect("a request");
    w.as_admin().space(space).import_git(request).await.expect("enqueued");
    w.platform.settle().await.expect("settled");
    let job = latest(w, space).await;
    assert_eq!((job.state, job.error), (JobState::Done, None));
}

#[tokio::test]
async fn links_to_unlisted_pages_resolve_to_the_host() {
    let text = "# Home\n\n[a](CONTRIBUTING.md#start) [b](part) ![c](CONTRIBUTING.md) [d](gone.md)\n";
    let all = [
        ("SUMMARY.md", "# Table of contents\n\n* [Home](README.md)\n"),
        ("README.md", text),
        ("CONTRIBUTING.md", "# Contributing\n"),
        ("part/README.md", "# Part\n"),
    ];
    let (w, remote, space) = world_of(&all).await;
    let before = files(&remote);
    let home = at(&w, &space, "readme").await;
    assert_eq!(stored_markdown(&w, &space, &home).await, text.replace("# Home\n\n", ""));
    import_from_host(&w, &space).await;
    let view = "https://host.example/docs/blob/main";
    assert_eq!(
        stored_markdown(&w, &space, &home).await,
        format!(
            "[a]({view}/CONTRIBUTING.md#start) [b]({view}/part/README.md) ![c](CONTRIBUTING.md) [d](gone.md)\n"
        )
    );
    let tree = json!({ "force": true, "repoTreeURL": "https://host.example/docs/tree/main" });
    assert_eq!(export(&w, &space, tree).await, (JobState::Done, None));
    assert_eq!((commits(&remote), files(&remote)), (0, before));
    w.check().await;
}

async fn stored_markdown(w: &World, space: &SpaceId, page: &PageId) -> String {
    let of = ContentVersion::space(space.clone());
    let RevisionPage::Document(page) = crate::support::page(w, &of, page).await else { panic!("a document") };
    page.markdown.expect("markdown")
}

#[tokio::test]
async fn pointers_of_git_lfs_are_reported_and_not_stored() {
    let hash = "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393";
    let pointer = format!("version https://git-lfs.github.com/spec/v1\noid sha256:{hash}\nsize 12345\n");
    let all = [
        ("SUMMARY.md", "# Table of contents\n\n* [Home](README.md)\n"),
        ("README.md", "# Home\n\n![Chart](img/chart.png) ![Logo](img/logo.png)\n"),
        ("img/chart.png", pointer.as_str()),
        ("img/logo.png", "logo"),
        (".gitbook/assets/film.mp4", pointer.as_str()),
    ];
    let (w, remote, space) = world_of(&all).await;
    let before = files(&remote);
    let log = log(&latest(&w, &space).await);
    for path in ["img/chart.png", ".gitbook/assets/film.mp4"] {
        assert!(
            log.contains(&format!("{path}: skipped, the repository has only a pointer of Git LFS")),
            "{log}"
        );
    }
    assert!(log.contains("read 1 pages and 1 files"), "{log}");
    let ids = file_ids(&w, &space).await;
    assert_eq!(ids.keys().collect::<Vec<_>>(), ["logo.png"]);
    let home = at(&w, &space, "readme").await;
    let text = format!("![Chart](img/chart.png) ![Logo](/files/{})\n", ids["logo.png"]);
    assert_eq!(stored_markdown(&w, &space, &home).await, text);
    assert_eq!(export(&w, &space, json!({ "force": true })).await, (JobState::Done, None));
    assert_eq!((commits(&remote), files(&remote)), (0, before));
    remote.put("img/logo.png", pointer.clone());
    import_again(&w, &space).await;
    assert_eq!(file_ids(&w, &space).await.len(), 0);
    assert_same_after_import(&w, &remote, &space).await;
    remote.edit(|repository| repository.large_objects.insert(hash.to_owned(), vec![b'x'; 12_345].into()));
    import_again(&w, &space).await;
    let ids = file_ids(&w, &space).await;
    assert_eq!(ids.keys().collect::<Vec<_>>(), ["chart.png", "film.mp4", "logo.png"]);
    let text = format!("![Chart](/files/{}) ![Logo](/files/{})\n", ids["chart.png"], ids["logo.png"]);
    assert_eq!(stored_markdown(&w, &space, &home).await, text);
    assert_same_after_import(&w, &remote, &space).await;
    assert_eq!(files(&remote)["img/chart.png"], pointer);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn file_names_survive_import_and_export(
        names in proptest::collection::btree_set(
            "([aA\u{e9}\u{c9}\u{df}\u{130}]|e\u{301}|[ .()#%?&+'\"<>\\[\\]\\\\:*|~`_-]|%20|\u{200b}|🚀){1,6}(\\.(png|js|md5|exe))?",
            1..8,
        ),
        is_linked in any::<bool>(),
    ) {
        let names: Vec<String> =
            names.into_iter().filter(|name| !name.trim().is_empty() && *name != "." && *name != "..").collect();
        let folder = if is_linked { "img" } else { ".gitbook/assets" };
        let link = |name: &String| {
            let encoded: String = name.bytes().map(|byte| format!("%{byte:02X}")).collect();
            format!("![](img/{encoded})\n")
        };
        let home = format!("# Home\n\n{}", names.iter().map(link).collect::<String>());
        let paths: Vec<String> = names.iter().map(|name| format!("{folder}/{name}")).collect();
        let mut all = vec![("SUMMARY.md", "# Table of contents\n\n* [Home](README.md)\n"), ("README.md", home.as_str())];
        all.extend(paths.iter().map(|path| (path.as_str(), path.as_str())));
        block_on(async {
            let (w, remote, space) = world_of(&all).await;
            let before = files(&remote);
            assert_eq!(export_to_empty(&w, &remote, &space).await, before);
            assert_same_after_import(&w, &remote, &space).await;
        });
    }
}
