//! Creation of the resources that requests reference.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::server::{Server, id};

/// Adds comments to the space and to its change request, and requests a review. Returns the ids.
pub(crate) async fn discussed(
    s: &Server,
    mut names: BTreeMap<&'static str, String>,
) -> (BTreeMap<&'static str, String>, BTreeMap<&'static str, String>) {
    let space = format!("/v1/spaces/{}", names["spaceId"]);
    let request = format!("{space}/change-requests/{}", names["changeRequestId"]);
    let review = json!({ "status": "approved", "comment": { "markdown": "Good." } });
    let review = s.post(&format!("{request}/reviews"), 201, review).await.body;
    names.insert("reviewId", id(&review));
    s.post(&format!("{request}/requested-reviewers"), 200, json!({ "users": [names["userId"]] })).await;
    let mut in_request = BTreeMap::new();
    for (names, base) in [(&mut names, space), (&mut in_request, request)] {
        let comments = format!("{base}/comments");
        let comment = id(&s.post(&comments, 200, json!({ "body": { "markdown": "Why?" } })).await.body);
        let replies = format!("{comments}/{comment}/replies");
        let reply = id(&s.post(&replies, 200, json!({ "body": { "markdown": "So." } })).await.body);
        names.extend([("commentId", comment), ("commentReplyId", reply)]);
    }
    (names, in_request)
}

/// Sets the host name of the organization.
pub(crate) async fn hostname_of(s: &Server) -> String {
    s.patch(&format!("/v1/orgs/{}", s.org), json!({ "hostname": "engine-docs" })).await;
    "engine-docs".to_owned()
}

/// Creates an invite link.
pub(crate) async fn link_of(s: &Server) -> String {
    s.patch(&format!("/v1/orgs/{}", s.org), json!({ "inviteLinks": true })).await;
    id(&s.post(&format!("/v1/orgs/{}/link-invites", s.org), 201, json!({ "role": "read" })).await.body)
}

/// Returns the bodies of operations on comments and reviews.
pub(crate) fn body_of_discussion(id: &str, names: &BTreeMap<&'static str, String>) -> Option<Value> {
    Some(match id {
        "postCommentInSpace" | "postCommentInChangeRequest" => {
            json!({ "page": names["pageId"], "node": names["node"], "body": { "markdown": "Why?" } })
        }
        "updateCommentInSpace" | "updateCommentInChangeRequest" => json!({
            "resolved": true, "body": { "markdown": "How?" }, "addedReactions": ["👍"],
            "removedReactions": ["👎"],
        }),
        "postCommentReplyInSpace" | "postCommentReplyInChangeRequest" => {
            json!({ "body": { "markdown": "So." } })
        }
        "updateCommentReplyInSpace" | "updateCommentReplyInChangeRequest" => json!({
            "body": { "markdown": "Thus." }, "addedReactions": ["👍"], "removedReactions": ["👎"],
        }),
        "submitChangeRequestReview" => {
            json!({ "status": "approved", "comment": { "markdown": "Fine." } })
        }
        "requestReviewersForChangeRequest" => {
            json!({ "users": [names["userId"]], "subject": "Read this" })
        }
        _ => return None,
    })
}
