//! Imports that read only the files changed by a commit.

use std::time::Duration;

use docs_core::{
    model::{ImportGitRepository, JobState, RevisionPage, SpaceId},
    platform::{ContentOptions, ContentVersion},
};
use docs_memstore::MemGit;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{
    git::{import, world},
    history::publish,
    support::{World, block_on},
};

/// Number of reads of every import: the configuration and the table of contents.
const ALWAYS: usize = 1;

fn fill(remote: &MemGit) {
    remote.put("SUMMARY.md", "* [Welcome](README.md)\n* [A](a.md)\n  * [B](sub/b.md)\n* [C](c.md)\n");
    remote.put(
        "a.md",
        "# A\n\n[b](sub/b.md) ![](img/out.svg)\n\n{% include \".gitbook/includes/note.md\" %}\n",
    );
    remote.put("sub/b.md", "# B\n\n![](../.gitbook/assets/in.svg)\n");
    remote.put("c.md", "# C\n\n![](img/out.svg)\n");
    remote.put("img/out.svg", "<svg/>");
    remote.put("img/never.svg", "<svg>never</svg>");
    remote.put(".gitbook/assets/in.svg", "<svg></svg>");
    remote.put(".gitbook/includes/note.md", "---\ntitle: Note\n---\n\nA note.\n");
}

/// Returns the content of a space, without expiring URLs.
async fn snapshot(w: &World, space: &SpaceId) -> Value {
    fn documents(pages: &[RevisionPage], out: &mut Vec<docs_core::model::PageId>) {
        for page in pages {
            match page {
                RevisionPage::Document(page) => {
                    out.push(page.base.id.clone());
                    documents(&page.pages, out);
                }
                RevisionPage::Group(page) => documents(&page.pages, out),
                RevisionPage::Link(_) | RevisionPage::Computed(_) => {}
            }
        }
    }
    let of = ContentVersion::space(space.clone());
    let pages = w.as_admin().content(&of).list_pages(ContentOptions::default()).await.expect("read").pages;
    let mut ids = Vec::new();
    documents(&pages, &mut ids);
    let mut texts = Vec::new();
    for id in &ids {
        let page = w.as_admin().content(&of).get_page(id, ContentOptions::default()).await.expect("read");
        texts.push(serde_json::to_value(page).expect("JSON"));
    }
    let files = w.as_admin().content(&of).list_files(ContentOptions::default(), &Default::default()).await;
    let mut files = serde_json::to_value(files.expect("listed").items).expect("JSON");
    for file in files.as_array_mut().into_iter().flatten() {
        file["downloadURL"] = Value::Null;
    }
    json!({ "pages": pages, "texts": texts, "files": files })
}

/// Imports the current state again, with all files.
async fn import_all(w: &World, space: &SpaceId) {
    w.clock.advance(Duration::from_millis(1));
    let request = json!({ "url": "https://git.example/docs", "ref": "refs/heads/main", "force": true });
    let request: ImportGitRepository = serde_json::from_value(request).expect("a request");
    w.as_admin().space(space).import_git(request).await.expect("enqueued");
    w.platform.settle().await.expect("settled");
}

#[tokio::test]
async fn incremental_import_reads_only_changed_files() {
    let (w, remote, space) = world().await;
    fill(&remote);
    assert_eq!(import(&w, &space).await.0, JobState::Done);
    let whole = remote.reads();
    for (path, bytes, reads) in [
        ("c.md", "# C\n\nother ![](img/out.svg)\n", 1),
        ("img/out.svg", "<svg>other</svg>", 1),
        (".gitbook/assets/in.svg", "<svg>other</svg>", 1),
        (".gitbook/includes/note.md", "---\ntitle: Other\n---\n\nA note.\n", 1),
        // Unreferenced files are not part of the space.
        ("img/never.svg", "<svg>other</svg>", whole),
    ] {
        remote.put(path, bytes);
        let before = remote.reads();
        assert_eq!(import(&w, &space).await, (JobState::Done, None), "{path}");
        let most = if reads == whole { whole } else { reads + ALWAYS };
        assert!(remote.reads() - before <= most, "{path}: {} reads", remote.reads() - before);
        let changed = snapshot(&w, &space).await;
        import_all(&w, &space).await;
        assert_eq!(changed, snapshot(&w, &space).await, "{path}");
    }
    w.check().await;
}

#[tokio::test]
async fn next_import_overwrites_edits_of_the_platform() {
    let (w, remote, space) = world().await;
    fill(&remote);
    import(&w, &space).await;
    publish(&w, &space, "Mine").await;
    remote.put("c.md", "# C\n\nother\n");
    assert_eq!(import(&w, &space).await.0, JobState::Done);
    let pages = snapshot(&w, &space).await["pages"].to_string();
    assert!(!pages.contains("Mine"), "{pages}");
}

/// A change of the repository.
#[derive(Clone, Debug)]
enum Change {
    Put(&'static str, String),
    Remove(&'static str),
}

fn text() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "words\n\n",
        "[a](a.md)\n\n",
        "[b](sub/b.md#x)\n\n",
        "![](img/out.svg)\n\n",
        "![](img/never.svg)\n\n",
        "![](.gitbook/assets/in.svg)\n\n",
        "{% include \".gitbook/includes/note.md\" %}\n\n",
        "[gone](gone.md)\n\n",
    ]);
    let front = prop::sample::select(vec![
        "",
        "---\ndescription: d\n---\n",
        "---\nhidden: true\nx-own: 1\n---\n",
        "---\ncover: img/out.svg\n---\n",
    ]);
    let title = prop::sample::select(vec!["", "# One\n\n", "# Two\n\n"]);
    (front, title, prop::collection::vec(part, 0..4))
        .prop_map(|(front, title, parts)| format!("{front}{title}{}", parts.concat()))
}

fn change() -> impl Strategy<Value = Change> {
    let page =
        prop::sample::select(vec!["README.md", "a.md", "sub/b.md", "c.md", ".gitbook/includes/note.md"]);
    let file =
        prop::sample::select(vec!["img/out.svg", "img/never.svg", ".gitbook/assets/in.svg", "other.txt"]);
    let summary = prop::sample::select(vec![
        "* [Welcome](README.md)\n* [A](a.md)\n  * [B](sub/b.md)\n* [C](c.md)\n",
        "* [Welcome](README.md)\n* [C](c.md)\n\n## More\n* [A](a.md)\n",
    ]);
    let any =
        prop::sample::select(vec!["c.md", "img/out.svg", "sub/b.md", "other.txt", ".gitbook/assets/in.svg"]);
    prop_oneof![
        6 => (page, text()).prop_map(|(path, text)| Change::Put(path, text)),
        3 => (file, "<svg>[ab]</svg>").prop_map(|(path, text)| Change::Put(path, text)),
        1 => summary.prop_map(|text| Change::Put("SUMMARY.md", text.to_owned())),
        1 => any.prop_map(Change::Remove),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn incremental_import_equals_full_import(
        commits in prop::collection::vec(prop::collection::vec(change(), 1..3), 1..8)
    ) {
        block_on(async {
            let (w, remote, space) = world().await;
            fill(&remote);
            assert_eq!(import(&w, &space).await.0, JobState::Done);
            for commit in commits {
                for change in &commit {
                    match change {
                        Change::Put(path, text) => remote.put(path, text.clone()),
                        Change::Remove(path) => remote.remove(path),
                    }
                }
                let (state, error) = import(&w, &space).await;
                assert_eq!(state, JobState::Done, "{error:?}");
                let changed = snapshot(&w, &space).await;
                import_all(&w, &space).await;
                assert_eq!(changed, snapshot(&w, &space).await, "{commit:?}");
            }
            w.check().await;
        });
    }
}

#[tokio::test]
async fn a_blob_at_several_paths_is_read_once() {
    let (w, remote, space) = world().await;
    let picture = r#"<svg xmlns="http://www.w3.org/2000/svg" width="3" height="4"/>"#;
    let mut readme = "# Welcome\n".to_owned();
    for at in 0..20 {
        let name = if at % 2 == 0 { format!("img/{at}.svg") } else { format!("img/{at}.bin") };
        readme += &format!("\n![]({name})\n");
        remote.put(&name, picture);
        remote.put(&format!("page-{at}.md"), format!("# Page\n\n![](img/{}.svg)\n", 0));
    }
    remote.put("README.md", readme);
    assert_eq!(import(&w, &space).await, (JobState::Done, None));
    // The README, the text and the picture.
    assert!(remote.reads() <= 3 + ALWAYS, "{} reads", remote.reads());
    let content = snapshot(&w, &space).await;
    let files = content["files"].as_array().expect("files");
    assert_eq!(files.len(), 20);
    for file in files {
        let is_picture = file["name"].as_str().is_some_and(|name| name.ends_with(".svg"));
        let content_type = if is_picture { "image/svg+xml" } else { "application/octet-stream" };
        assert_eq!(file["contentType"], content_type, "{file}");
        assert_eq!(file.get("dimensions").is_some(), is_picture, "{file}");
        assert_eq!(file["size"], picture.len(), "{file}");
    }
    assert_eq!(content["texts"].as_array().map(Vec::len), Some(21));
    let before = remote.reads();
    for at in 0..3 {
        remote.put(&format!("img/{}.svg", 2 * at), "<svg>other</svg>");
    }
    assert_eq!(import(&w, &space).await, (JobState::Done, None));
    assert!(remote.reads() - before <= 1 + ALWAYS, "{} reads", remote.reads() - before);
    w.check().await;
}

#[tokio::test]
async fn a_commit_that_was_imported_before_is_not_fetched_again() {
    let (w, remote, space) = world().await;
    import(&w, &space).await;
    let (fetched, read) = (remote.fetches(), remote.reads());
    w.clock.advance(Duration::from_millis(1));
    import(&w, &space).await;
    assert_eq!((remote.fetches(), remote.reads()), (fetched, read));
    remote.put("README.md", "# Another\n");
    w.clock.advance(Duration::from_millis(1));
    import(&w, &space).await;
    assert_eq!(remote.fetches(), fetched + 1);
    import_all(&w, &space).await;
    assert_eq!(remote.fetches(), fetched + 2, "whoever forces an import gets one");
}
