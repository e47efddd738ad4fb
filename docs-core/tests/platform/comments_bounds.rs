//! Bounds of a response with comments, replies, reviews or translations.

use docs_core::{
    Platform, Result,
    model::{CommentId, CommentInput, ContentFormat, ListOrder, PostComment, PostCommentReply, SpaceId},
    platform::{CommentQuery, ContentVersion, ReviewQuery, Thread},
    store::{Page, PageRequest},
};
use serde_json::{Value, json};

use crate::{
    search::{edit, space},
    support::World,
};

/// Number of the longest texts that fit into a response: 1 MiB of texts of 20,000 bytes.
const LISTED: usize = 52;
const POSTED: usize = 60;

fn long() -> Value {
    json!({ "markdown": "a".repeat(20_000) })
}

fn body() -> CommentInput {
    serde_json::from_value(long()).expect("a body")
}

/// Reads all pages of a list with the largest limit. Returns the number of items of each page.
async fn sizes<T>(mut list: impl AsyncFnMut(&PageRequest) -> Result<Page<T>>) -> Vec<usize> {
    let (mut sizes, mut next) = (Vec::new(), None);
    loop {
        let page = list(&PageRequest { page: next, limit: Some(1_000) }).await.expect("listed");
        sizes.push(page.items.len());
        next = page.next;
        if next.is_none() {
            return sizes;
        }
    }
}

#[tokio::test]
async fn lists_of_comments_and_replies_end_at_a_bounded_size_of_texts() {
    let w = World::new().await;
    let of = ContentVersion::space(w.space().await);
    let comments = || w.as_admin().content(&of).comments();
    let mut posted: Vec<CommentId> = Vec::new();
    for _ in 0..POSTED {
        w.clock.advance(std::time::Duration::from_millis(1));
        let new = PostComment { node: None, page: None, body: body() };
        posted.push(comments().post(new).await.expect("posted").id);
    }
    for order in [ListOrder::Asc, ListOrder::Desc] {
        for format in [ContentFormat::Markdown, ContentFormat::Document] {
            let query = CommentQuery { order, format, ..CommentQuery::default() };
            let mut listed = Vec::new();
            let pages = sizes(async |page: &PageRequest| {
                let page = comments().list(&query, page).await?;
                assert_eq!(page.count, Some(POSTED as u64));
                listed.extend(page.items.iter().map(|comment| comment.id.clone()));
                Ok(page)
            });
            assert_eq!(pages.await, [LISTED, POSTED - LISTED]);
            if order == ListOrder::Desc {
                listed.reverse();
            }
            assert_eq!(listed, posted, "each comment once");
        }
    }
    let thread = Thread { of: of.clone(), comment: posted[0].clone() };
    for _ in 0..POSTED {
        let new = PostCommentReply { body: body() };
        w.as_admin().comment(&thread).post_reply(new, ContentFormat::Markdown).await.expect("posted");
    }
    let replies = sizes(async |page: &PageRequest| {
        w.as_admin().comment(&thread).list_replies(ContentFormat::Document, page).await
    });
    assert_eq!(replies.await, [LISTED, POSTED - LISTED]);
}

#[tokio::test]
async fn lists_of_reviews_end_at_a_bounded_size_of_texts() {
    let w = World::new().await;
    let space = w.space().await;
    let name = w.request(&space).await;
    let request = || w.as_admin().space(&space).change_request(&name);
    for _ in 0..POSTED {
        w.clock.advance(std::time::Duration::from_millis(1));
        let review = json!({ "status": "approved", "comment": long() });
        request().submit_review(serde_json::from_value(review).expect("a review")).await.expect("submitted");
    }
    let query = || ReviewQuery { outdated: None, format: ContentFormat::Document };
    let pages = sizes(async |page: &PageRequest| request().list_reviews(query(), page).await);
    assert_eq!(pages.await, [LISTED, POSTED - LISTED]);
}

/// Creates pages of 900,000 bytes, each with a comment on its first block.
async fn commented_pages(w: &World, count: usize) -> SpaceId {
    let space = space(w, "Guide").await;
    let of = ContentVersion::space(space.clone());
    for at in 0..count {
        let text = format!("Start {at}.\n\n{}\n", "a".repeat(900_000));
        let insert = json!({ "operation": "insert_page", "title": "Page", "document": { "markdown": text } });
        let page = edit(w, &space, json!([insert])).await.expect("inserted").pop().expect("a page");
        let document =
            w.as_admin().content(&of).get_page_document(&page, Default::default()).await.expect("read");
        let node = document.nodes[0].key.clone().expect("a key");
        let new = json!({ "body": { "markdown": "Why?" }, "page": page, "node": node });
        let new: PostComment = serde_json::from_value(new).expect("a comment");
        w.clock.advance(std::time::Duration::from_millis(1));
        w.as_admin().content(&of).comments().post(new).await.expect("posted");
    }
    space
}

#[tokio::test]
async fn lists_of_comments_preview_a_bounded_size_of_pages_once() {
    let w = World::new().await;
    let space = commented_pages(&w, 6).await;
    let of = ContentVersion::space(space);
    // Another server has not parsed the pages.
    let other: Platform = w.beside_with(|builder| builder);
    let query = CommentQuery::default();
    let list = async |page: &PageRequest| -> Result<Page<_>> {
        let page = other.as_actor(&w.admin).content(&of).comments().list(&query, page).await?;
        for comment in &page.items {
            let target = &comment.target;
            assert!(!target.page.as_ref().expect("a page").outdated);
            let preview = target.node.as_ref().and_then(|node| node.preview.as_deref()).expect("a preview");
            assert!(preview.starts_with("Start "), "{preview}");
        }
        Ok(page)
    };
    // 4 MiB are four pages.
    assert_eq!(sizes(list).await, [4, 2]);
    let known = sizes(async |page: &PageRequest| {
        other.as_actor(&w.admin).content(&of).comments().list(&query, page).await
    });
    assert_eq!(known.await, [6], "the previews are cached");
}
