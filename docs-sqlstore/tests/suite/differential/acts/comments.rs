//! Operations on comments, replies and reviews.

use docs_core::{
    model::{
        CommentStatus, ListOrder, PostComment, PostCommentReply, RequestReviewers, SpaceId, SubmitReview,
        UpdateComment, UpdateCommentReply,
    },
    platform::{CommentQuery, ContentVersion, Thread},
};
use serde_json::{Map, Value, json};

use super::{
    super::{
        known::{KnownComment, id, one},
        program::What,
    },
    Act, Answer, read, told, walk,
};

const EMOJI: &[&str] = &["👍", "👍", "👍", "🎉", "🎉", "1f44d", "❤", "👀", "👀", "no emoji"];

impl Act<'_> {
    pub(super) async fn comments(&mut self, what: What) -> Answer {
        let (p, me) = (self.p, self.me.clone());
        let of = self.board();
        Ok(match what {
            What::PostComment => {
                let pages = self.known.spaces.iter().find(|known| known.id == of.space.as_str());
                let pages = pages.map_or(&[][..], |known| &known.pages);
                let mut new = Map::from_iter([("body".to_owned(), self.body())]);
                let page = one(&mut self.dice, pages).to_owned();
                self.field(&mut new, "page", &[page.into()]);
                let new: PostComment = read(new)?;
                told(p.as_actor(&me).content(&of).comments().post(new).await)
            }
            What::ListComments => {
                let query = self.query();
                walk(self.list(), |page| {
                    let (me, of, query) = (me.clone(), of.clone(), query.clone());
                    async move { p.as_actor(&me).content(&of).comments().list(&query, &page).await }
                })
                .await
            }
            _ => {
                walk(self.list(), |page| {
                    let (me, of) = (me.clone(), of.clone());
                    async move { p.as_actor(&me).content(&of).comments().list_commenters(&page).await }
                })
                .await
            }
        })
    }

    pub(super) async fn threads(&mut self, what: What) -> Answer {
        let (p, me) = (self.p, self.me.clone());
        let known = self.dice.near(&self.known.comments).cloned().unwrap_or_default();
        let thread = thread(&known);
        let reply = one(&mut self.dice, &known.replies).to_owned();
        let a_reply = self.dice.chance(40);
        Ok(match what {
            What::UpdateComment => {
                let mut change = Map::new();
                let body = self.body();
                self.field(&mut change, "body", &[body]);
                let (added, removed) = (self.emoji(), self.emoji());
                change
                    .extend([("addedReactions".to_owned(), added), ("removedReactions".to_owned(), removed)]);
                if a_reply {
                    let change: UpdateCommentReply = read(change)?;
                    return Ok(told(
                        p.as_actor(&me).comment(&thread).reply(&id(&reply)).update(change).await,
                    ));
                }
                self.field(&mut change, "resolved", &[true.into(), false.into()]);
                let change: UpdateComment = read(change)?;
                told(p.as_actor(&me).comment(&thread).update(change).await)
            }
            What::DeleteComment if a_reply => {
                told(p.as_actor(&me).comment(&thread).reply(&id(&reply)).delete().await)
            }
            What::DeleteComment => told(p.as_actor(&me).comment(&thread).delete().await),
            What::PostReply => {
                let new: PostCommentReply = read(json!({ "body": self.body() }))?;
                told(p.as_actor(&me).comment(&thread).post_reply(new, Default::default()).await)
            }
            _ => walk(self.list(), |page| {
                let (me, thread) = (me.clone(), thread.clone());
                async move { p.as_actor(&me).comment(&thread).list_replies(Default::default(), &page).await }
            })
            .await,
        })
    }

    pub(super) async fn reviews(&mut self, what: What) -> Answer {
        let (p, me) = (self.p, self.me.clone());
        let (space, name) = self.known.request(&mut self.dice);
        let of = (&space, name.as_str());
        Ok(match what {
            What::SubmitReview => {
                let status = *self.dice.of(&["approved", "changes-requested"]);
                let mut new = Map::from_iter([("status".to_owned(), Value::from(status))]);
                let body = self.body();
                self.field(&mut new, "comment", &[body]);
                let new: SubmitReview = read(new)?;
                told(p.as_actor(&me).space(of.0).change_request(of.1).submit_review(new).await)
            }
            What::AskReviewers if self.dice.chance(20) => {
                let user = id(one(&mut self.dice, &self.known.users));
                told(p.as_actor(&me).space(of.0).change_request(of.1).remove_requested_reviewer(&user).await)
            }
            What::AskReviewers => {
                let users = [self.somebody(), self.somebody()];
                let new: RequestReviewers = read(json!({ "users": users }))?;
                told(p.as_actor(&me).space(of.0).change_request(of.1).request_reviewers(new).await)
            }
            _ => {
                let list = self.list();
                let reviews = walk(list.clone(), |page| {
                    let (me, space, name) = (me.clone(), space.clone(), name.clone());
                    async move {
                        p.as_actor(&me)
                            .space(&space)
                            .change_request(&name)
                            .list_reviews(Default::default(), &page)
                            .await
                    }
                });
                let asked = walk(list, |page| {
                    let (me, space, name) = (me.clone(), space.clone(), name.clone());
                    async move {
                        p.as_actor(&me)
                            .space(&space)
                            .change_request(&name)
                            .list_requested_reviewers(&page)
                            .await
                    }
                });
                let contributors = told(
                    p.as_actor(&me)
                        .space(of.0)
                        .change_request(of.1)
                        .list_contributors()
                        .await
                        .map(docs_core::model::List::from),
                );
                json!({ "reviews": reviews.await, "asked": asked.await, "contributors": contributors })
            }
        })
    }

    /// Draws the content of a space or of a change request.
    fn board(&mut self) -> ContentVersion {
        let (space, name) = self.known.request(&mut self.dice);
        if self.dice.chance(50) {
            ContentVersion::space(space)
        } else {
            ContentVersion::request(space, &name)
        }
    }

    fn body(&mut self) -> Value {
        json!({ "markdown": self.text() })
    }

    fn emoji(&mut self) -> Value {
        let most = *self.dice.of(&[0, 1, 1, 2]);
        (0..most).map(|_| Value::from(*self.dice.of(EMOJI))).collect()
    }

    fn query(&mut self) -> CommentQuery {
        use CommentStatus::{All, Open, Resolved};
        let mut query = CommentQuery {
            status: *self.dice.of(&[All, Open, Resolved]),
            order: *self.dice.of(&[ListOrder::Asc, ListOrder::Desc]),
            ..CommentQuery::default()
        };
        if self.dice.chance(30) {
            let pages: Vec<String> =
                self.known.spaces.iter().flat_map(|space| space.pages.clone()).take(20).collect();
            query.target_page = Some(one(&mut self.dice, &pages).to_owned());
        }
        if self.dice.chance(30) {
            query.authors = vec![self.somebody(), self.somebody()];
        }
        query
    }
}

fn thread(known: &KnownComment) -> Thread {
    let space: SpaceId = id(&known.space);
    let of = match &known.request {
        None => ContentVersion::space(space),
        Some(request) => ContentVersion::request(space, request),
    };
    Thread { of, comment: id(&known.id) }
}
