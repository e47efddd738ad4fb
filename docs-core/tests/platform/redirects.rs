//! Redirects of a space: previous paths of pages, and redirects defined by a repository.

use docs_core::{
    ErrorKind,
    model::{JobState, PageId, RevisionPage, SpaceId},
    platform::ContentOptions,
};
use serde_json::json;

use crate::{
    git::{import, world},
    search::{add, add_below, change, space},
    support::{Refused, World},
};

/// Returns the id and the current path of the page at a path, including previous paths.
async fn at(w: &World, space: &SpaceId, path: &str) -> Option<(PageId, String)> {
    match w.as_admin().space(space).content().get_page_by_path(path, ContentOptions::default()).await {
        Ok(RevisionPage::Document(page)) => Some((page.base.id, page.path)),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        other => panic!("a page, but {other:?}"),
    }
}

async fn path_at(w: &World, space: &SpaceId, path: &str) -> Option<String> {
    at(w, space, path).await.map(|(_, path)| path)
}

/// Resolves a previous path to a path and an anchor.
async fn redirect(w: &World, space: &SpaceId, path: &str) -> (String, Option<String>) {
    let content = w.as_admin().space(space).content();
    let found = content.resolve_redirect(path).await.expect("a redirect");
    let RevisionPage::Document(page) =
        content.get_page(&found.page, ContentOptions::default()).await.expect("a page")
    else {
        panic!("no document");
    };
    (page.path, found.anchor)
}

#[tokio::test]
async fn former_paths_of_pages_and_descendants_resolve() {
    let w = World::new().await;
    let guide = space(&w, "Guide").await;
    let first = add(&w, &guide, "First", "Text.").await;
    let below = add_below(&w, &guide, Some(&first), "Below", "Text.").await;
    change(&w, &guide, &first, json!({ "slug": "start" })).await;
    for path in ["first/below", "FIRST/Below", "start/below"] {
        assert_eq!(at(&w, &guide, path).await, Some((below.clone(), "start/below".to_owned())), "{path}");
    }
    assert_eq!(redirect(&w, &guide, "first").await, ("start".to_owned(), None));
    w.as_admin().space(&guide).content().resolve_redirect("other").await.refused(ErrorKind::NotFound);
    // An existing page takes precedence.
    let second = add(&w, &guide, "First", "Text.").await;
    assert_eq!(at(&w, &guide, "first").await, Some((second, "first".to_owned())));
    assert_eq!(path_at(&w, &guide, "first/below").await.as_deref(), Some("start/below"));
}

#[tokio::test]
async fn repository_redirects_resolve_until_an_import_removes_them() {
    let (w, remote, space) = world().await;
    remote.put("a.md", "# A\n\n## Part\n\nText.\n");
    remote.put("b.md", "# B\n");
    remote.put("SUMMARY.md", "* [Welcome](README.md)\n* [A](a.md)\n  * [B](b.md)\n");
    remote.put(".gitbook.yaml", "redirects:\n  old/Page: a.md#part\n  a: b.md\n  Gone: c.md\n");
    assert_eq!(import(&w, &space).await, (JobState::Done, None));
    assert_eq!(redirect(&w, &space, "old/page").await, ("a".to_owned(), Some("part".to_owned())));
    assert_eq!(path_at(&w, &space, "Old/Page").await.as_deref(), Some("a"));
    // An existing page takes precedence over a redirect, and paths below a redirected path are not redirected.
    assert_eq!(path_at(&w, &space, "a").await.as_deref(), Some("a"));
    for path in ["gone", "old", "old/page/b"] {
        assert_eq!(path_at(&w, &space, path).await, None, "{path}");
    }
    // An import that only changes a page preserves the redirects.
    remote.put("b.md", "# B\n\nMore.\n");
    assert_eq!(import(&w, &space).await, (JobState::Done, None));
    assert_eq!(path_at(&w, &space, "old/page").await.as_deref(), Some("a"));
    remote.put(".gitbook.yaml", "redirects:\n  older: b.md\n");
    assert_eq!(import(&w, &space).await, (JobState::Done, None));
    assert_eq!(path_at(&w, &space, "old/page").await, None);
    assert_eq!(path_at(&w, &space, "older").await.as_deref(), Some("a/b"));
}

#[tokio::test]
async fn moved_file_takes_precedence_over_repository_redirects() {
    let (w, remote, space) = world().await;
    remote.put("SUMMARY.md", "* [Welcome](README.md)\n* [A](a.md)\n* [C](c.md)\n");
    remote.put("a.md", "# A\n\nThe same text.\n");
    remote.put("c.md", "# C\n");
    assert_eq!(import(&w, &space).await, (JobState::Done, None));
    let (page, _) = at(&w, &space, "a").await.expect("a page");
    remote.remove("a.md");
    remote.put("new/b.md", "# A\n\nThe same text.\n");
    remote.put("SUMMARY.md", "* [Welcome](README.md)\n* [A](new/b.md)\n* [C](c.md)\n");
    remote.put(".gitbook.yaml", "redirects:\n  a: c.md\n");
    assert_eq!(import(&w, &space).await, (JobState::Done, None));
    assert_eq!(at(&w, &space, "a").await, Some((page, "b".to_owned())));
    // The next import does not change this.
    remote.put("c.md", "# C\n\nMore.\n");
    remote.put("d.md", "# D\n");
    assert_eq!(import(&w, &space).await, (JobState::Done, None));
    assert_eq!(path_at(&w, &space, "a").await.as_deref(), Some("b"));
}

#[tokio::test]
async fn import_log_omits_valid_redirects() {
    let (w, remote, space) = world().await;
    remote.put(".gitbook.yaml", "redirects:\n  old: README.md\n");
    assert_eq!(import(&w, &space).await, (JobState::Done, None));
    let jobs = w.as_admin().space(&space).list_jobs(&Default::default()).await.expect("listed").items;
    let job = w.as_admin().space(&space).get_job(&jobs[0].id).await.expect("a job");
    let log = serde_json::to_string(&job).expect("JSON");
    assert!(!log.contains("redirect"), "{log}");
}
