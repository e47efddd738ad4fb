//! Git import from a remote with files defined by each test.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use docs_core::{
    ErrorKind,
    content::{
        LinkTarget,
        markdown::{Resolution, rewrite_links, split_front},
    },
    model::{
        ContentFormat, ContentLocation, ContentRef, ImportGitRepository, Job, JobState, PageId, PostComment,
        RevisionPage, SpaceId,
    },
    platform::{CommentQuery, ContentOptions, ContentVersion, Thread},
    ports::GitError,
    store::PageRequest,
};
use docs_memstore::{MemGit, MemRepository};
use serde_json::json;

use crate::{
    support::{Refused, World, page},
    tidy::files,
};

fn from_url(url: &str) -> ImportGitRepository {
    serde_json::from_value(serde_json::json!({ "url": url, "ref": "refs/heads/main" })).expect("a request")
}

/// Imports the current state of the remote. Returns the final state of the job and its error.
pub(crate) async fn import(w: &World, space: &SpaceId) -> (JobState, Option<String>) {
    // Ensures that this job is the newest.
    w.clock.advance(Duration::from_millis(1));
    w.as_admin().space(space).import_git(from_url("https://git.example/docs")).await.expect("enqueued");
    w.platform.settle().await.expect("settled");
    let job = latest(w, space).await;
    (job.state, job.error)
}

/// Returns the newest job of a space, with its log.
async fn latest(w: &World, space: &SpaceId) -> Job {
    let jobs = w.as_admin().space(space).list_jobs(&PageRequest::default()).await.expect("listed").items;
    w.as_admin().space(space).get_job(&jobs[0].id).await.expect("a job")
}

/// Returns the tree as indented `title (path)` lines.
async fn outline(w: &World, space: &SpaceId) -> Vec<String> {
    fn walk(pages: &[RevisionPage], depth: usize, out: &mut Vec<String>) {
        for page in pages {
            let (kind, title, path, below): (_, _, &str, &[RevisionPage]) = match page {
                RevisionPage::Document(page) => ("page", &page.base.title, &page.path, &page.pages),
                RevisionPage::Group(page) => ("group", &page.base.title, &page.path, &page.pages),
                RevisionPage::Link(page) => {
                    ("link", &page.base.title, page.href.as_deref().unwrap_or(""), &[])
                }
                RevisionPage::Computed(page) => ("computed", &page.base.title, "", &[]),
            };
            out.push(format!("{}{kind} {title} /{path}", "  ".repeat(depth)));
            walk(below, depth + 1, out);
        }
    }
    let pages = w.as_admin().space(space).content().list_pages(ContentOptions::default()).await;
    let mut out = Vec::new();
    walk(&pages.expect("read").pages, 0, &mut out);
    out
}

pub(crate) async fn world() -> (World, MemGit, SpaceId) {
    let remote = MemGit::new();
    let w = World::with_git(Arc::new(remote.clone())).await;
    let space = w.space().await;
    remote.put("README.md", "# Welcome\n\nHello.\n");
    (w, remote, space)
}

fn all_ids(pages: &[RevisionPage], out: &mut BTreeMap<String, PageId>) {
    for page in pages {
        match page {
            RevisionPage::Document(page) => {
                out.insert(page.path.clone(), page.base.id.clone());
                all_ids(&page.pages, out);
            }
            RevisionPage::Group(page) => {
                out.insert(page.path.clone(), page.base.id.clone());
                all_ids(&page.pages, out);
            }
            RevisionPage::Link(_) | RevisionPage::Computed(_) => {}
        }
    }
}

async fn ids(w: &World, space: &SpaceId) -> BTreeMap<String, PageId> {
    let pages = w.as_admin().space(space).content().list_pages(ContentOptions::default()).await;
    let mut out = BTreeMap::new();
    all_ids(&pages.expect("read").pages, &mut out);
    out
}

#[tokio::test]
async fn import_builds_the_page_tree_from_the_summary() {
    let (w, remote, space) = world().await;
    remote.put(
        "SUMMARY.md",
        "# Table of contents\n\n* [Welcome](README.md)\n* [Guides](guides/README.md)\n  * [First steps](guides/first.md)\n\n\
         ## Reference\n\n* [Errors](reference/errors.md)\n* [Elsewhere](https://example.com/x)\n",
    );
    remote.put("guides/README.md", "# Guides\n");
    remote.put(
        "guides/first.md",
        "---\ndescription: How to start\n---\n\n# First steps\n\n![](../img/a.svg)\n",
    );
    remote.put("img/a.svg", "<svg/>");
    remote.put("reference/errors.md", "# 🚨 Errors\n\nNone.\n");
    remote.put("unlisted.md", "# Unlisted\n");
    assert_eq!(import(&w, &space).await, (JobState::Done, None));
    assert_eq!(
        outline(&w, &space).await,
        [
            "page Welcome /readme",
            "page Guides /guides",
            "  page First steps /guides/first",
            "group Reference /reference",
            "  page Errors /reference/errors",
            "  link Elsewhere /https://example.com/x",
        ]
    );
    let of = ContentVersion::space(space.clone());
    let first = w
        .as_admin()
        .content(&of)
        .get_page_by_path("guides/first", ContentOptions::default())
        .await
        .expect("read");
    let RevisionPage::Document(first) = first else { panic!("a document") };
    assert_eq!(first.description.as_deref(), Some("How to start"));
    assert_eq!(first.git.map(|git| git.path).as_deref(), Some("guides/first.md"));
    let files = w
        .as_admin()
        .content(&of)
        .list_files(ContentOptions::default(), &Default::default())
        .await
        .expect("listed");
    assert_eq!(files.items.iter().map(|file| file.name.as_str()).collect::<Vec<_>>(), ["a.svg"]);
    assert_eq!(
        first.markdown,
        Some(format!("![](/files/{})\n", files.items[0].id)),
        "the body is the file's, but for where it leads"
    );
    let info = w.as_admin().space(&space).git_info().await.expect("known");
    assert_eq!(info.repo_name.as_deref(), Some("docs"));
    w.check().await;
}

#[tokio::test]
async fn summary_entry_with_an_anchor_becomes_a_link_page() {
    let (w, remote, space) = world().await;
    remote.put("SUMMARY.md", "* [Welcome](README.md)\n* [The end](README.md#end)\n");
    import(&w, &space).await;
    let pages =
        w.as_admin().space(&space).content().list_pages(ContentOptions::default()).await.expect("read").pages;
    let [RevisionPage::Document(page), RevisionPage::Link(link)] = &pages[..] else { panic!("{pages:?}") };
    let target =
        ContentRef::Anchor { anchor: "end".to_owned(), page: Some(page.base.id.clone()), space: None };
    assert_eq!(link.target, target);
}

#[tokio::test]
async fn second_import_keeps_page_ids_by_path_or_text() {
    let (w, remote, space) = world().await;
    remote.put("SUMMARY.md", "* [Welcome](README.md)\n* [A](a.md)\n* [B](b.md)\n");
    remote.put("a.md", "# A\n\nfirst\n");
    remote.put("b.md", "# B\n\nsecond\n");
    import(&w, &space).await;
    let before = ids(&w, &space).await;
    remote.put("SUMMARY.md", "* [Welcome](README.md)\n* [A](a.md)\n* [C](c.md)\n* [D](d.md)\n");
    remote.put("a.md", "# A\n\nchanged\n");
    remote.remove("b.md");
    remote.put("c.md", "# B\n\nsecond\n");
    remote.put("d.md", "# D\n");
    assert_eq!(import(&w, &space).await.0, JobState::Done);
    let after = ids(&w, &space).await;
    assert_eq!(after["a"], before["a"], "same path");
    assert_eq!(after["c"], before["b"], "same bytes under another path");
    assert!(!before.values().any(|id| *id == after["d"]), "a new page has a new id");
    w.check().await;
}

/// A page counts as new if most of its lines differ.
#[tokio::test]
async fn renamed_and_edited_page_keeps_its_id() {
    let (w, remote, space) = world().await;
    let text = |title: &str, words: &[&str]| {
        let lines: Vec<String> =
            words.iter().map(|word| format!("A line about {word} and more.\n")).collect();
        format!("# {title}\n\n{}", lines.concat())
    };
    remote.put("SUMMARY.md", "* [Welcome](README.md)\n* [A](a.md)\n* [B](b.md)\n");
    remote.put("a.md", text("A", &["apples", "pears", "plums", "[b](b.md)"]));
    remote.put("b.md", text("B", &["bolts", "nuts", "screws", "nails"]));
    import(&w, &space).await;
    let before = ids(&w, &space).await;
    remote.put(
        "SUMMARY.md",
        "* [Welcome](README.md)\n* [New](new.md)\n* [Moved](moved.md)\n* [Copy](copy.md)\n",
    );
    remote.remove("a.md");
    remote.remove("b.md");
    remote.put("new.md", text("New", &["something", "else", "bolts"]));
    remote.put("moved.md", text("Moved", &["apples", "pears", "cherries", "[b](moved.md)", "plums"]));
    // The copy contains less of the original text than the moved page.
    remote.put("copy.md", text("Copy", &["apples", "pears", "dates", "figs"]));
    assert_eq!(import(&w, &space).await, (JobState::Done, None));
    let after = ids(&w, &space).await;
    assert_eq!(after["moved"], before["a"], "most lines are the same");
    for path in ["new", "copy"] {
        assert!(!before.values().any(|id| *id == after[path]), "{path} is new");
    }
    w.check().await;
}

/// Adds a comment to the last block of a page.
async fn comment_on(w: &World, space: &SpaceId, page: &PageId) -> Thread {
    let of = ContentVersion::space(space.clone());
    let shown = ContentOptions { format: ContentFormat::Document, ..ContentOptions::default() };
    let RevisionPage::Document(read) = w.as_admin().content(&of).get_page(page, shown).await.expect("read")
    else {
        panic!("a document")
    };
    let key =
        read.document.expect("a document").nodes.last().and_then(|block| block.key.clone()).expect("a key");
    let post = json!({ "page": page, "node": key, "body": { "markdown": "Why?" } });
    let post: PostComment = serde_json::from_value(post).expect("a comment");
    let comment = w.as_admin().content(&of).comments().post(post).await.expect("posted");
    Thread { of, comment: comment.id }
}

#[tokio::test]
async fn comments_follow_a_page_that_is_moved_in_the_repository() {
    let (w, remote, space) = world().await;
    let lines: String =
        ["apples", "pears", "plums", "figs"].map(|it| format!("A line about {it}.\n")).concat();
    let text = |title: &str, first: &str| format!("# {title}\n\n{first}\n{lines}\nThe last of {title}.\n");
    remote.put("SUMMARY.md", "* [Welcome](README.md)\n* [A](a.md)\n* [B](b.md)\n* [C](c.md)\n* [D](d.md)\n");
    for (path, title) in [("a.md", "A"), ("b.md", "B"), ("c.md", "C"), ("d.md", "D")] {
        remote.put(path, text(title, &format!("First of {title}.")));
    }
    assert_eq!(import(&w, &space).await, (JobState::Done, None));
    let before = ids(&w, &space).await;
    let mut threads = Vec::new();
    for path in ["a", "b", "c", "d"] {
        threads.push(comment_on(&w, &space, &before[path]).await);
    }
    remote.put("SUMMARY.md", "* [Welcome](README.md)\n* [A](a.md)\n  * [B](sub/b2.md)\n  * [C](sub/c2.md)\n");
    remote.put("a.md", text("A", "Another."));
    remote.put("sub/b2.md", text("B", "First of B."));
    remote.put("sub/c2.md", text("C", "Another first line."));
    ["b.md", "c.md", "d.md"].iter().for_each(|path| remote.remove(path));
    assert_eq!(import(&w, &space).await, (JobState::Done, None));
    for (thread, (path, block, how)) in threads.iter().zip([
        (Some("a"), "The last of A.", "by its path"),
        (Some("a/b2"), "The last of B.", "by its bytes"),
        (Some("a/c2"), "The last of C.", "by its likeness"),
        (None, "The last of D.", "it is gone"),
    ]) {
        let target = w.as_admin().comment(thread).get(Default::default()).await.expect("read").target;
        let page = target.page.expect("a page");
        assert_eq!(page.outdated, path.is_none(), "{how}");
        assert_eq!(page.path.as_str(), path.unwrap_or("d"), "{how}");
        assert_eq!(target.node.expect("a block").preview.as_deref(), Some(block), "{how}");
        let query = CommentQuery { target_page: Some(page.base.id.to_string()), ..CommentQuery::default() };
        let list = w.as_admin().content(&thread.of).comments().list(&query, &PageRequest::default()).await;
        assert_eq!(list.expect("listed").items.len(), 1, "{how}");
    }
    w.check().await;
}

#[tokio::test]
async fn repository_errors_are_on_the_job_and_space_is_unchanged() {
    let (w, remote, space) = world().await;
    import(&w, &space).await;
    let before = outline(&w, &space).await;
    let revision = w.as_admin().space(&space).get().await.expect("read").revision;
    type Break = fn(&mut MemRepository);
    let cases: &[(&str, Break, &str)] = &[
        ("missing ref", |r| r.failure = Some(GitError::NoRef("refs/heads/main".into())), "refs/heads/main"),
        ("no repository", |r| r.failure = Some(GitError::NoRepository), "not the URL of a repository"),
        ("credentials", |r| r.failure = Some(GitError::Credentials), "credentials"),
        ("broken YAML", |r| drop(r.files.insert(".gitbook.yaml".into(), "root: [".into())), ".gitbook.yaml"),
        ("path leaves", |r| drop(r.files.insert(".gitbook.yaml".into(), "root: ../x".into())), "root"),
        ("nothing in it", |r| r.files.clear(), "Markdown"),
    ];
    for (what, break_it, named) in cases {
        let good = remote.edit(|repo| repo.clone());
        remote.edit(break_it);
        let (state, error) = import(&w, &space).await;
        assert_eq!(state, JobState::Failed, "{what}");
        let error = error.unwrap_or_default();
        assert!(error.contains(named), "{what}: {error}");
        assert_eq!(outline(&w, &space).await, before, "{what}");
        assert_eq!(w.as_admin().space(&space).get().await.expect("read").revision, revision, "{what}");
        remote.edit(|repo| *repo = good);
    }
    w.check().await;
}

#[tokio::test]
async fn import_from_an_unreachable_host_is_retried() {
    let (w, remote, space) = world().await;
    remote.edit(|repo| repo.failure = Some(GitError::Unreachable("timeout".into())));
    assert_eq!(import(&w, &space).await, (JobState::Queued, None));
    remote.edit(|repo| repo.failure = None);
    w.clock.advance(Duration::from_secs(2));
    assert_eq!(w.platform.settle().await.expect("settled"), 1);
    assert_eq!(outline(&w, &space).await, ["page Welcome /readme"]);
}

#[tokio::test]
async fn import_in_backoff_does_not_block_later_imports() {
    let (w, remote, space) = world().await;
    remote.edit(|repo| repo.failure = Some(GitError::Unreachable("timeout".into())));
    assert_eq!(import(&w, &space).await, (JobState::Queued, None));
    let first = latest(&w, &space).await.id;
    remote.edit(|repo| repo.failure = None);
    assert_eq!(import(&w, &space).await, (JobState::Done, None));
    assert_eq!(outline(&w, &space).await, ["page Welcome /readme"]);
    let state = async || w.as_admin().space(&space).get_job(&first).await.expect("a job").state;
    assert_eq!(state().await, JobState::Queued);
    w.clock.advance(Duration::from_secs(2));
    assert_eq!(w.platform.settle().await.expect("settled"), 1);
    assert_eq!(state().await, JobState::Done, "it is tried again when its time has come");
    w.check().await;
}

#[tokio::test]
async fn queued_import_runs_after_an_earlier_failure() {
    let (w, remote, space) = world().await;
    let wrong = "https://git.example/wrong";
    for url in [wrong, "https://git.example/docs", wrong] {
        w.as_admin().space(&space).import_git(from_url(url)).await.expect("enqueued");
    }
    remote.edit(|repo| repo.failure = Some(GitError::Unreachable("timeout".into())));
    w.platform.settle().await.expect("settled");
    assert_eq!(remote.urls(), [wrong, "https://git.example/docs", wrong], "each was tried, in order");
    remote.edit(|repo| repo.failure = None);
    for _ in 0..3 {
        w.clock.advance(Duration::from_secs(2));
        w.platform.settle().await.expect("settled");
    }
    let jobs = w.as_admin().space(&space).list_jobs(&PageRequest::default()).await.expect("listed").items;
    assert!(jobs.iter().all(|job| job.state == JobState::Done), "{jobs:?}");
    w.check().await;
}

#[tokio::test]
async fn credentials_reach_the_remote_and_nothing_else() {
    let (w, remote, space) = world().await;
    let url = "https://me:hunter2@git.example/docs";
    w.as_admin().space(&space).import_git(from_url(url)).await.expect("enqueued");
    let shown = format!("{:?}", latest(&w, &space).await);
    assert!(!shown.contains("hunter2"), "{shown}");
    w.platform.settle().await.expect("settled");
    assert_eq!(remote.urls(), [url]);
    let info = w.as_admin().space(&space).git_info().await.expect("known");
    assert_eq!(info.url.as_deref(), Some("https://git.example/docs"));
}

#[tokio::test]
async fn standalone_import_creates_a_revision_only() {
    let (w, _, space) = world().await;
    let before = w.as_admin().space(&space).get().await.expect("read").revision;
    let mut request = from_url("https://git.example/docs");
    request.standalone = Some(true);
    w.as_admin().space(&space).import_git(request).await.expect("enqueued");
    w.platform.settle().await.expect("settled");
    assert_eq!(w.as_admin().space(&space).get().await.expect("read").revision, before);
    assert_eq!(outline(&w, &space).await, [""; 0]);
    let job = latest(&w, &space).await;
    assert_eq!(job.state, JobState::Done);
    assert!(job.log.iter().any(|line| line.text.contains("created revision")), "{:?}", job.log);
}

#[tokio::test]
async fn import_with_an_invalid_url_or_ref_is_rejected() {
    let (w, _, space) = world().await;
    for (url, reference, field) in [
        ("nonsense", "refs/heads/main", "url"),
        ("ssh://git@example.com/x", "refs/heads/main", "url"),
        ("https://git.example/docs", "main", "ref"),
    ] {
        let request =
            serde_json::from_value(serde_json::json!({ "url": url, "ref": reference })).expect("parses");
        let error = w.as_admin().space(&space).import_git(request).await.refused(ErrorKind::Invalid);
        assert!(error.message().starts_with(field), "{error}");
    }
}

/// Replaces all link destinations in `text` with the same placeholder.
fn nowhere(text: &str) -> String {
    let (_, rest) = split_front(text);
    let head = &text[..text.len() - rest.len()];
    format!("{head}{}", rewrite_links(rest, |_| Resolution::To("#".to_owned())))
}

#[tokio::test]
async fn import_resolves_relative_links_to_ids() {
    let (w, remote, space) = world().await;
    remote.put(
        "SUMMARY.md",
        "* [Welcome](README.md)\n* [Guides](guides/README.md)\n  * [First](guides/first.md)\n",
    );
    remote.put("guides/README.md", "# Guides\n");
    remote.put(
        "guides/first.md",
        "---\ncover: ../a.svg\n---\n\n# First\n\n[up](./) [top](../README.md#top) [gone](gone.md) [web](https://x.example)\n\
         <img src=\"../a.svg\">\n\n{% include \"../.gitbook/includes/note.md\" %}\n\n`[code](../README.md)`\n",
    );
    remote.put("a.svg", "<svg/>");
    remote.put(".gitbook/includes/note.md", "---\ntitle: Note\n---\n\n[home](../../README.md)\n");
    assert_eq!(import(&w, &space).await, (JobState::Done, None));
    let of = ContentVersion::space(space.clone());
    let revision = w.as_admin().content(&of).get(ContentOptions::default()).await.expect("read");
    let (file, note) = (&revision.files[0].id, &revision.reusable_contents[0].id);
    let known = ids(&w, &space).await;
    let RevisionPage::Document(first) = page(&w, &of, &known["guides/first"]).await else {
        panic!("a document")
    };
    assert_eq!(
        first.markdown,
        Some(format!(
            "[up](/pages/{}) [top](/pages/{}#top) [gone](gone.md) [web](https://x.example)\n<img src=\"/files/{file}\">\n\n\
             {{% include \"/reusable-content/{note}\" %}}\n\n`[code](../README.md)`\n",
            known["guides"], known["readme"]
        ))
    );
    let links = w.as_admin().space(&space).list_links(None, &Default::default()).await.expect("listed");
    // The cover and the image count as one link to the file.
    assert_eq!((links.stats.total, links.stats.broken.total), (7, 1));
    let home = LinkTarget::Page(known["readme"].clone());
    let back = w.as_admin().content(&of).list_backlinks(&home, &Default::default()).await.expect("listed");
    assert!(matches!(
        &back.items[..],
        [ContentLocation::Page { .. }, ContentLocation::ReusableContent { reusable_content, .. }] if reusable_content.id == *note
    ));
    remote.put("guides/README.md", "# Guides\n\nNew.\n");
    assert_eq!(import(&w, &space).await.0, JobState::Done);
    let again = w.as_admin().content(&of).get(ContentOptions::default()).await.expect("read");
    assert_eq!(again.reusable_contents, revision.reusable_contents, "the same ids, hence the same text");
    w.check().await;
}

/// The bodies of the pages equal those of the files, apart from link destinations.
#[tokio::test]
async fn handbook_imports_completely_with_equal_bodies() {
    let (w, remote, space) = world().await;
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/handbook");
    for path in files(&root, "") {
        let name = path.strip_prefix(&root).expect("below").to_string_lossy().into_owned();
        remote.put(&name, std::fs::read(&path).expect("readable"));
    }
    assert_eq!(import(&w, &space).await, (JobState::Done, None));
    let job = latest(&w, &space).await;
    assert!(!job.log.iter().any(|line| line.text.contains(".md:")), "warnings: {:?}", job.log);
    let of = ContentVersion::space(space.clone());
    let mut checked = 0;
    for (path, id) in ids(&w, &space).await {
        let RevisionPage::Document(page) = page(&w, &of, &id).await else { continue };
        let git = page.git.as_ref().expect("it came from Git");
        let file = String::from_utf8(remote.edit(|repo| repo.files[&git.path].to_vec())).expect("text");
        let body = page.markdown.as_deref().expect("markdown");
        let (file, body) = (nowhere(&file), nowhere(body));
        assert!(file.ends_with(&body), "{path}");
        let head = &file[..file.len() - body.len()];
        assert!(
            head.trim_end().ends_with(&page.base.title),
            "{path}: only front matter and title are taken off"
        );
        checked += 1;
    }
    assert!(checked >= 10, "{checked} pages");
}
