//! Editing of content through change requests, and merging.

use std::sync::Arc;

use docs_core::{
    Actor, ErrorKind, Platform,
    model::{
        ChangeRequestStatus, ContentUpdateChange, CreateChangeRequest, MAX_PAGE_BYTES, MergeOutcome, PageId,
        RevisionPage, SpaceId, UpdateContent, UpdateOutcome,
    },
    platform::{ContentOptions, ContentVersion},
    ports::WebError,
    store::PageRequest,
};
use docs_memstore::MemWeb;
use serde_json::{Value, json};

use crate::support::{Refused, World, insert};

struct Draft<'a> {
    platform: &'a Platform,
    me: &'a Actor,
    space: SpaceId,
    number: String,
}

impl<'a> Draft<'a> {
    async fn new(w: &'a World, space: &SpaceId) -> Self {
        let request = w
            .as_admin()
            .space(space)
            .change_requests()
            .create(CreateChangeRequest::default())
            .await
            .expect("created");
        Self { platform: &w.platform, me: &w.admin, space: space.clone(), number: request.number.to_string() }
    }

    async fn edit(&self, changes: Value) -> docs_core::Result<docs_core::model::ContentUpdate> {
        let update: UpdateContent = serde_json::from_value(json!({ "changes": changes })).expect("changes");
        self.platform.as_actor(self.me).space(&self.space).change_request(&self.number).edit(update).await
    }

    async fn insert(&self, title: &str, text: &str) -> PageId {
        let done = self.edit(json!([insert(title, text)])).await.expect("inserted");
        match &done.changes[0] {
            ContentUpdateChange::CreatedPage { page, .. } => page.id.clone(),
            other => panic!("{other:?}"),
        }
    }

    async fn set(&self, page: &PageId, text: &str) {
        let change = json!({ "operation": "update_page", "page": page, "document": { "markdown": text } });
        self.edit(json!([change])).await.expect("set");
    }

    fn of(&self) -> ContentVersion {
        ContentVersion::request(self.space.clone(), &self.number)
    }

    async fn merge(&self) -> MergeOutcome {
        self.platform
            .as_actor(self.me)
            .space(&self.space)
            .change_request(&self.number)
            .merge()
            .await
            .expect("merged")
            .result
    }

    async fn pull(&self) -> UpdateOutcome {
        self.platform
            .as_actor(self.me)
            .space(&self.space)
            .change_request(&self.number)
            .pull()
            .await
            .expect("updated")
            .result
    }
}

async fn text(w: &World, of: &ContentVersion, page: &PageId) -> String {
    match w.as_admin().content(of).get_page(page, ContentOptions::default()).await.expect("read") {
        RevisionPage::Document(page) => page.markdown.expect("markdown"),
        other => panic!("{other:?}"),
    }
}

async fn bytes_of(w: &World, space: &SpaceId, sealed: &str) -> docs_core::Result<bytes::Bytes> {
    let file = w.platform.find_file(space, sealed).await?;
    w.platform.file_bytes(&file, None).await
}

async fn paths(w: &World, of: &ContentVersion) -> Vec<String> {
    fn walk(pages: &[RevisionPage], out: &mut Vec<String>) {
        for page in pages {
            if let RevisionPage::Document(page) = page {
                out.push(page.path.clone());
                walk(&page.pages, out);
            }
        }
    }
    let mut out = Vec::new();
    walk(
        &w.as_admin().content(of).list_pages(ContentOptions::default()).await.expect("read").pages,
        &mut out,
    );
    out
}

#[tokio::test]
async fn edit_is_visible_in_the_request_and_merged_into_the_space() {
    let w = World::new().await;
    let space = w.space().await;
    let live = ContentVersion::space(space.clone());
    let draft = Draft::new(&w, &space).await;
    let page = draft.insert("ignored", "# Welcome\n\nHello.\n").await;
    assert_eq!(paths(&w, &draft.of()).await, ["welcome"]);
    assert_eq!(paths(&w, &live).await, [""; 0], "the space is unchanged");
    assert_eq!(text(&w, &draft.of(), &page).await, "Hello.\n");
    assert_eq!(draft.merge().await, MergeOutcome::Merge);
    assert_eq!(text(&w, &live, &page).await, "Hello.\n");
    let request = w.as_admin().space(&space).change_request("1").get().await.expect("read");
    let revision = w.as_admin().space(&space).get().await.expect("read").revision;
    assert_eq!((request.status, request.revision_merged), (ChangeRequestStatus::Merged, Some(revision)));
    draft.edit(json!([insert("More", "")])).await.refused(ErrorKind::Conflict);
    w.check().await;
}

#[tokio::test]
async fn changes_of_a_request_are_applied_atomically() {
    let w = World::new().await;
    let draft = Draft::new(&w, &w.space().await).await;
    let before = w.as_admin().space(&draft.space).change_request("1").get().await.expect("read").revision;
    let wrong =
        json!([insert("A", "a"), insert("B", "b"), { "operation": "delete_page", "page": "nothing" }]);
    let error = draft.edit(wrong).await.refused(ErrorKind::Invalid);
    assert!(error.message().starts_with("changes[2].page"), "{error}");
    assert_eq!(paths(&w, &draft.of()).await, [""; 0]);
    let after = w.as_admin().space(&draft.space).change_request("1").get().await.expect("read").revision;
    assert_eq!(before, after, "no revision was made");
}

#[tokio::test]
async fn links_between_new_pages_and_files_resolve_by_ref() {
    let w = World::new().await;
    let draft = Draft::new(&w, &w.space().await).await;
    let changes = json!([
        { "operation": "insert_page", "ref": "start", "title": "Start",
          "document": { "markdown": "See [next](./next.md#top), ![pic](./pic), [gone](./gone.md) and [web](https://example.com)." } },
        { "operation": "insert_page", "ref": "next", "title": "Next", "document": { "markdown": "Back to [start](/pages/start)." } },
        { "operation": "insert_files", "files": [{ "ref": "pic", "name": "p.svg", "base64": "PHN2Zy8+", "contentType": "image/svg+xml" }] },
    ]);
    let done = draft.edit(changes).await.expect("applied");
    let ids: Vec<&PageId> = done
        .changes
        .iter()
        .map(|change| match change {
            ContentUpdateChange::CreatedPage { page, .. } => &page.id,
            other => panic!("{other:?}"),
        })
        .collect();
    let file = &done.inserted_files.as_ref().expect("files")[0];
    assert_eq!((file.name.as_str(), file.size), ("p.svg", 6));
    let of = draft.of();
    assert_eq!(
        text(&w, &of, ids[0]).await,
        format!(
            "See [next](/pages/{}#top), ![pic](/files/{}), gone and [web](https://example.com).",
            ids[1], file.id
        )
    );
    assert_eq!(text(&w, &of, ids[1]).await, format!("Back to [start](/pages/{}).", ids[0]));
    let sealed = file.download_url.split('/').nth_back(1).expect("a sealed name");
    assert_eq!(&bytes_of(&w, &draft.space, sealed).await.expect("read")[..], b"<svg/>");
    let other = w.space().await;
    bytes_of(&w, &other, sealed).await.refused(ErrorKind::NotFound);
    bytes_of(&w, &draft.space, "aaaa").await.refused(ErrorKind::NotFound);
}

#[tokio::test]
async fn requests_with_changes_of_different_lines_both_merge() {
    let w = World::new().await;
    let space = w.space().await;
    let live = ContentVersion::space(space.clone());
    let first = Draft::new(&w, &space).await;
    let page = first.insert("Page", "one\n\ntwo\n\nthree\n").await;
    first.merge().await;
    let (a, b) = (Draft::new(&w, &space).await, Draft::new(&w, &space).await);
    a.set(&page, "ONE\n\ntwo\n\nthree\n").await;
    b.set(&page, "one\n\ntwo\n\nTHREE\n").await;
    assert_eq!(a.merge().await, MergeOutcome::Merge);
    assert!(w.as_admin().space(&space).change_request(&b.number).get().await.expect("read").outdated);
    assert_eq!(b.pull().await, UpdateOutcome::Update);
    assert!(!w.as_admin().space(&space).change_request(&b.number).get().await.expect("read").outdated);
    assert_eq!(b.merge().await, MergeOutcome::Merge);
    assert_eq!(text(&w, &live, &page).await, "ONE\n\ntwo\n\nTHREE\n");
    w.check().await;
}

#[tokio::test]
async fn merge_conflict_leaves_markers_until_it_is_resolved() {
    let w = World::new().await;
    let space = w.space().await;
    let live = ContentVersion::space(space.clone());
    let first = Draft::new(&w, &space).await;
    let page = first.insert("Page", "same\n\nline\n").await;
    first.merge().await;
    let (a, b) = (Draft::new(&w, &space).await, Draft::new(&w, &space).await);
    a.set(&page, "same\n\nleft\n").await;
    b.set(&page, "same\n\nright\n").await;
    assert_eq!(a.merge().await, MergeOutcome::Merge);
    assert_eq!(b.merge().await, MergeOutcome::Conflicts);
    let shown = text(&w, &live, &page).await;
    assert!(shown.contains("left") && shown.contains("right") && shown.contains("<<<<<<<"), "{shown}");
    let fix = Draft::new(&w, &space).await;
    fix.set(&page, "same\n\nboth\n").await;
    assert_eq!(fix.merge().await, MergeOutcome::Merge);
    assert_eq!(text(&w, &live, &page).await, "same\n\nboth\n");
}

#[tokio::test]
async fn revert_restores_the_initial_page_of_the_request() {
    let w = World::new().await;
    let space = w.space().await;
    let first = Draft::new(&w, &space).await;
    let page = first.insert("Page", "as it was\n").await;
    first.merge().await;
    let draft = Draft::new(&w, &space).await;
    draft.set(&page, "changed\n").await;
    draft.edit(json!([{ "operation": "revert_page", "page": page }])).await.expect("reverted");
    assert_eq!(text(&w, &draft.of(), &page).await, "as it was\n");
    draft.edit(json!([{ "operation": "delete_page", "page": page }])).await.expect("deleted");
    assert_eq!(paths(&w, &draft.of()).await, [""; 0]);
    draft.edit(json!([{ "operation": "revert_page", "page": page }])).await.expect("restored");
    assert_eq!(text(&w, &draft.of(), &page).await, "as it was\n");
}

#[tokio::test]
async fn pages_move_by_into_and_at() {
    let w = World::new().await;
    let draft = Draft::new(&w, &w.space().await).await;
    let a = draft.insert("A", "").await;
    let b = draft.insert("B", "").await;
    draft.insert("C", "").await;
    draft.edit(json!([{ "operation": "update_page", "page": b, "into": a }])).await.expect("moved");
    assert_eq!(paths(&w, &draft.of()).await, ["a", "a/b", "c"]);
    draft
        .edit(json!([{ "operation": "update_page", "page": b, "into": null, "at": 0 }]))
        .await
        .expect("moved");
    assert_eq!(paths(&w, &draft.of()).await, ["b", "a", "c"]);
    draft
        .edit(json!([{ "operation": "update_page", "page": a, "into": a }]))
        .await
        .refused(ErrorKind::Invalid);
    let fields = json!([{ "operation": "update_page", "page": a, "title": "Anew", "hidden": true }]);
    draft.edit(fields).await.expect("changed");
    assert_eq!(paths(&w, &draft.of()).await, ["b", "a", "c"], "the slug does not follow the title");
}

#[tokio::test]
async fn invalid_condition_is_refused_with_its_position() {
    let w = World::new().await;
    let draft = Draft::new(&w, &w.space().await).await;
    let a = draft.insert("A", "").await;
    let change = |condition: &str| json!([{ "operation": "update_page", "page": a, "condition": condition }]);
    let error = draft.edit(change("visitor.claims.plan = 'pro'")).await.expect_err("an assignment");
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.message().contains("condition: character 21 is an assignment"), "{}", error.message());
    for right in ["visitor.claims.plan == 'pro'", ""] {
        draft.edit(change(right)).await.expect(right);
    }
}

#[tokio::test]
async fn file_pagination_is_pinned_to_one_revision() {
    let w = World::new().await;
    let draft = Draft::new(&w, &w.space().await).await;
    let file =
        |n: usize| json!({ "name": format!("{n}.txt"), "base64": "eA==", "contentType": "text/plain" });
    let files: Vec<Value> = (0..5).map(file).collect();
    draft.edit(json!([{ "operation": "insert_files", "files": files }])).await.expect("inserted");
    let list = |page: Option<String>| {
        let request = PageRequest { page, limit: Some(2) };
        let of = draft.of();
        let (platform, me) = (&w.platform, &w.admin);
        async move {
            platform
                .as_actor(me)
                .content(&of)
                .list_files(ContentOptions::default(), &request)
                .await
                .expect("listed")
        }
    };
    let first = list(None).await;
    draft.edit(json!([{ "operation": "insert_files", "files": [file(9)] }])).await.expect("one more");
    let second = list(first.next.clone()).await;
    let third = list(second.next.clone()).await;
    assert_eq!((first.items.len(), second.items.len(), third.items.len(), third.next), (2, 2, 1, None));
}

/// Creates a mock web with one image and several failing hosts.
fn pictures() -> Arc<MemWeb> {
    let web = MemWeb::new();
    web.put("https://example.com/p.svg", "image/svg+xml", "<svg/>");
    web.fail("http://127.0.0.1/", WebError::Refused("`127.0.0.1` is not for you".to_owned()));
    web.fail("https://example.com/large", WebError::TooLarge(9));
    web.fail("https://other.example.com/", WebError::Unreachable("no such host".to_owned()));
    Arc::new(web)
}

#[tokio::test]
async fn file_by_url_is_fetched_through_the_web_port() {
    let w = World::with_web(pictures()).await;
    let draft = Draft::new(&w, &w.space().await).await;
    let files = json!([
        { "name": "p.svg", "url": "https://example.com/p.svg" },
        { "name": "q.txt", "url": "https://example.com/p.svg", "contentType": "text/plain" },
    ]);
    let done = draft.edit(json!([{ "operation": "insert_files", "files": files }])).await.expect("inserted");
    let files = done.inserted_files.expect("files");
    let shown: Vec<_> = files.iter().map(|file| (file.name.as_str(), file.content_type.as_str())).collect();
    assert_eq!(shown, [("p.svg", "image/svg+xml"), ("q.txt", "text/plain")], "what the user says goes first");
    for file in &files {
        let sealed = file.download_url.split('/').nth_back(1).expect("a sealed name");
        assert_eq!(&bytes_of(&w, &draft.space, sealed).await.expect("read")[..], b"<svg/>");
    }
    w.check().await;
}

#[tokio::test]
async fn unfetchable_file_is_rejected_by_name_without_changes() {
    let (w, without) = (World::with_web(pictures()).await, World::new().await);
    for (w, url, what) in [
        (&w, "http://127.0.0.1/", "`127.0.0.1` is not for you"),
        (&w, "https://example.com/large", "must be at most 9 bytes"),
        (&w, "https://example.com/gone", "cannot be fetched: the host responded with 404"),
        (&w, "https://other.example.com/", "cannot be fetched: no such host"),
        (&without, "https://example.com/p.svg", "this server does not fetch files; send `base64`"),
    ] {
        let draft = Draft::new(w, &w.space().await).await;
        let request = || w.as_admin().space(&draft.space).change_request(&draft.number).get();
        let before = request().await.expect("read").revision;
        let refused = json!({ "operation": "insert_files", "files": [{ "name": "x", "url": url }] });
        let error = draft.edit(json!([refused])).await.refused(ErrorKind::Invalid);
        assert_eq!(error.message(), format!("changes[0].files[0].url: {what}"));
        let fine = json!({ "name": "y", "base64": "eA==", "contentType": "text/plain" });
        let fine = json!({ "operation": "insert_files", "files": [fine] });
        let error = draft.edit(json!([insert("A", ""), fine, refused])).await.refused(ErrorKind::Invalid);
        assert!(error.message().starts_with("changes[2].files[0].url: "), "{error}");
        assert_eq!(paths(w, &draft.of()).await, [""; 0]);
        let list = PageRequest { page: None, limit: None };
        let files = w.as_admin().content(&draft.of()).list_files(ContentOptions::default(), &list).await;
        assert!(files.expect("read").items.is_empty());
        assert_eq!(request().await.expect("read").revision, before, "no revision was made");
        w.check().await;
    }
}

#[tokio::test]
async fn too_long_page_is_rejected_with_the_name_of_the_field() {
    let w = World::new().await;
    let draft = Draft::new(&w, &w.space().await).await;
    // Front matter does not count towards the length of the text.
    let text = |bytes: usize| format!("---\ndescription: x\n---\n{}", "a".repeat(bytes));
    let page = draft.insert("Fits", &text(MAX_PAGE_BYTES)).await;
    let long = "must be at most 1000000 bytes of Markdown, has 1000001";
    let inserted = insert("Long", &text(MAX_PAGE_BYTES + 1));
    let update = json!({ "operation": "update_page", "page": page, "document": { "markdown": text(MAX_PAGE_BYTES + 1) } });
    for change in [inserted, update] {
        let error = draft.edit(json!([change])).await.refused(ErrorKind::Invalid);
        assert_eq!(error.message(), format!("changes[0].document.markdown: {long}"));
    }
    // Ten paragraphs, separated by empty lines, with a line break at the end.
    let paragraph = |bytes: usize| {
        let leaf = json!({ "object": "leaf", "text": "a".repeat(bytes) });
        json!({
            "object": "block", "type": "paragraph", "isVoid": false, "nodes": [{ "object": "text", "leaves": [leaf] }],
        })
    };
    let mut nodes = vec![paragraph(MAX_PAGE_BYTES / 10 - 2); 9];
    nodes.push(paragraph(MAX_PAGE_BYTES / 10));
    let tree = json!({ "document": { "object": "document", "nodes": nodes } });
    let tree = json!({ "operation": "insert_page", "title": "Tree", "document": tree });
    let error = draft.edit(json!([tree])).await.refused(ErrorKind::Invalid);
    assert_eq!(error.message(), format!("changes[0].document: {long}"));
    assert_eq!(paths(&w, &draft.of()).await, ["fits"]);
}

#[tokio::test]
async fn merge_result_above_the_page_limit_is_a_conflict() {
    let w = World::new().await;
    for (length, outcome) in [
        (MAX_PAGE_BYTES / 2 - 100, UpdateOutcome::Update),
        (MAX_PAGE_BYTES / 2 + 100, UpdateOutcome::Conflicts),
    ] {
        let space = w.space().await;
        let base = Draft::new(&w, &space).await;
        let page = base.insert("Page", "one\n\ntwo\n\nthree\n").await;
        assert_eq!(base.merge().await, MergeOutcome::Merge);
        let (ours, theirs) = (Draft::new(&w, &space).await, Draft::new(&w, &space).await);
        ours.set(&page, &format!("{}\n\none\n\ntwo\n\nthree\n", "a".repeat(length))).await;
        theirs.set(&page, &format!("one\n\ntwo\n\nthree\n\n{}\n", "b".repeat(length))).await;
        assert_eq!(ours.merge().await, MergeOutcome::Merge);
        assert_eq!(theirs.pull().await, outcome, "{length}");
    }
    w.check().await;
}
