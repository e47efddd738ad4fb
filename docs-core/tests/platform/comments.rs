//! Discussions: random operations compared with a model, and individual cases.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use docs_core::{
    Actor, ErrorKind, Result,
    model::{
        Comment, CommentBody, CommentId, CommentReply, CommentReplyId, CommentState, CommentStatus,
        CreateChangeRequest, CreateSpace, EmojiReaction, Invite, ListOrder, PageId, PostComment,
        PostCommentReply, RequestReviewers, Role, SettableStatus, SpaceId, UpdateChangeRequest,
        UpdateComment, UpdateCommentReply, UpdateContent,
    },
    platform::{CommentQuery, ContentVersion, Thread},
    store::{PageRequest, Store},
};
use docs_memstore::MemStore;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{Refused, World, block_on, failing};

const EMOJI: [&str; 3] = ["👍", "🎉", "❤\u{fe0f}"];
/// The same emoji as in responses.
const EMOJI_CODES: [&str; 3] = ["1f44d", "1f389", "2764-fe0f"];
/// An administrator, an editor, two commenters, and a reader.
const ROLES: [Option<Role>; 5] =
    [Some(Role::Admin), Some(Role::Edit), Some(Role::Comment), Some(Role::Comment), Some(Role::Read)];

/// The target of a step: the index of a comment in order of creation, and the index of a reply to it.
type At = (usize, Option<usize>);

#[derive(Clone, Debug)]
enum Step {
    Post {
        board: usize,
    },
    Reply {
        comment: usize,
    },
    Say(At, u8),
    React(At, Vec<usize>, Vec<usize>),
    Resolve(usize, bool),
    Delete(At),
    /// Sets the status of the change request of `boards[1]`.
    Move(SettableStatus),
    Wait,
}

fn steps() -> impl Strategy<Value = Vec<(usize, Step)>> {
    let at = || (0..6_usize, prop::option::of(0..6_usize));
    let emoji = || prop::collection::vec(0..EMOJI.len(), 0..3);
    let status = prop_oneof![Just(SettableStatus::Open), Just(SettableStatus::Archived)];
    let step = prop_oneof![
        6 => (0..2_usize).prop_map(|board| Step::Post { board }),
        6 => (0..6_usize).prop_map(|comment| Step::Reply { comment }),
        3 => (at(), 0..2_u8).prop_map(|(at, text)| Step::Say(at, text)),
        6 => (at(), emoji(), emoji()).prop_map(|(at, added, removed)| Step::React(at, added, removed)),
        5 => (0..6_usize, any::<bool>()).prop_map(|(comment, resolved)| Step::Resolve(comment, resolved)),
        3 => at().prop_map(Step::Delete),
        1 => status.prop_map(Step::Move),
        1 => Just(Step::Wait),
    ];
    prop::collection::vec((0..ROLES.len(), step), 1..50)
}

/// A comment or reply of the model.
#[derive(Clone, Default)]
struct Said {
    by: usize,
    text: String,
    edited: bool,
    /// The users who reacted, by emoji.
    reactions: BTreeMap<&'static str, BTreeSet<usize>>,
}

impl Said {
    fn new(by: usize) -> Self {
        Self { by, text: "said".to_owned(), ..Self::default() }
    }

    fn react(&mut self, by: usize, added: &[usize], removed: &[usize]) {
        for at in added {
            self.reactions.entry(EMOJI[*at]).or_default().insert(by);
        }
        for at in removed {
            self.reactions.entry(EMOJI[*at]).or_default().remove(&by);
        }
        self.reactions.retain(|_, users| !users.is_empty());
    }
}

struct Model {
    id: CommentId,
    board: usize,
    said: Said,
    resolved: Option<usize>,
    /// In order of creation. `None` for deleted replies.
    replies: Vec<Option<(CommentReplyId, Said)>>,
}

struct Run {
    w: World,
    people: Vec<Actor>,
    space: SpaceId,
    boards: [ContentVersion; 2],
    /// In order of creation. `None` for deleted comments.
    things: Vec<Option<Model>>,
}

fn text(text: &str) -> docs_core::model::CommentInput {
    serde_json::from_value(json!({ "markdown": text })).expect("a body")
}

fn emoji(at: &[usize]) -> Vec<docs_core::model::Emoji> {
    at.iter().map(|at| docs_core::model::Emoji::new(EMOJI[*at]).expect("an emoji")).collect()
}

fn refused<T>(answer: &Result<T>) -> Option<ErrorKind> {
    answer.as_ref().err().map(docs_core::Error::kind)
}

impl Run {
    async fn new(store: Arc<dyn Store>) -> Self {
        let w = World::over(store).await;
        let mut people = Vec::new();
        for (at, role) in ROLES.into_iter().enumerate() {
            people.push(w.member(&format!("Person{at}"), role).await);
        }
        let space = w.as_admin().org(&w.org).spaces().create(CreateSpace::default()).await;
        let space = space.expect("created").id;
        let new = CreateChangeRequest::default();
        w.as_admin().space(&space).change_requests().create(new).await.expect("created");
        let boards = [ContentVersion::space(space.clone()), ContentVersion::request(space.clone(), "1")];
        Self { w, people, space, boards, things: Vec::new() }
    }

    fn thread(&self, thing: &Model) -> Thread {
        Thread { of: self.boards[thing.board].clone(), comment: thing.id.clone() }
    }

    /// Returns `true` if a user may change a comment or reply.
    fn may_change(&self, who: usize, said: &Said) -> bool {
        ROLES[who] == Some(Role::Admin) || (who == said.by && ROLES[who] >= Some(Role::Comment))
    }

    async fn apply(&mut self, who: usize, step: &Step) {
        // Lists are sorted by creation time.
        self.w.clock.advance(Duration::from_millis(1));
        match step {
            Step::Post { board } => self.post(who, *board).await,
            Step::Reply { comment } => self.reply(who, *comment).await,
            Step::Say(at, n) => {
                let body = text(["said", "better"][usize::from(*n)]);
                let change = UpdateComment { body: Some(body), ..UpdateComment::default() };
                self.change(who, *at, change, |said, _| {
                    let better = ["said", "better"][usize::from(*n)];
                    said.edited |= said.text != better;
                    said.text = better.to_owned();
                })
                .await;
            }
            Step::React(at, added, removed) => {
                let change = UpdateComment {
                    added_reactions: emoji(added),
                    removed_reactions: emoji(removed),
                    ..UpdateComment::default()
                };
                self.change(who, *at, change, |said, by| said.react(by, added, removed)).await;
            }
            Step::Resolve(comment, resolved) => self.resolve(who, *comment, *resolved).await,
            Step::Delete(at) => self.delete(who, *at).await,
            Step::Move(status) => {
                let change = UpdateChangeRequest { status: Some(*status), ..Default::default() };
                self.w.as_admin().space(&self.space).change_request("1").update(change).await.expect("moved");
            }
            Step::Wait => {
                self.w.clock.advance(Duration::from_secs(60));
                self.w.platform.settle().await.expect("settled");
            }
        }
    }

    async fn post(&mut self, who: usize, board: usize) {
        let new = PostComment { node: None, page: None, body: text("said") };
        let answer = self
            .w
            .platform
            .as_actor(&self.people[who])
            .content(&self.boards[board])
            .comments()
            .post(new)
            .await;
        let expected = (ROLES[who] < Some(Role::Comment)).then_some(ErrorKind::Forbidden);
        assert_eq!(refused(&answer), expected);
        if let Ok(comment) = answer {
            let said = Said::new(who);
            self.things.push(Some(Model { id: comment.id, board, said, resolved: None, replies: vec![] }));
        }
    }

    async fn reply(&mut self, who: usize, comment: usize) {
        let Some(Some(thing)) = self.things.get(comment) else { return };
        let (thread, new) = (self.thread(thing), PostCommentReply { body: text("said") });
        let answer = self
            .w
            .platform
            .as_actor(&self.people[who])
            .comment(&thread)
            .post_reply(new, Default::default())
            .await;
        let expected = (ROLES[who] < Some(Role::Comment)).then_some(ErrorKind::Forbidden);
        assert_eq!(refused(&answer), expected);
        if let (Ok(reply), Some(Some(thing))) = (answer, self.things.get_mut(comment)) {
            thing.replies.push(Some((reply.id, Said::new(who))));
        }
    }

    async fn change(
        &mut self,
        who: usize,
        (comment, reply): At,
        change: UpdateComment,
        then: impl Fn(&mut Said, usize),
    ) {
        let Some(Some(thing)) = self.things.get(comment) else { return };
        let (thread, me, p) = (self.thread(thing), &self.people[who], &self.w.platform);
        let said = match reply {
            None => &thing.said,
            Some(reply) => match thing.replies.get(reply) {
                Some(Some((_, said))) => said,
                _ => return,
            },
        };
        let may = match change.body {
            Some(_) => self.may_change(who, said),
            None => ROLES[who] >= Some(Role::Comment),
        };
        let answer = match reply.and_then(|reply| thing.replies[reply].as_ref()) {
            None => refused(&p.as_actor(me).comment(&thread).update(change).await),
            Some((id, _)) => {
                let change = UpdateCommentReply {
                    body: change.body,
                    added_reactions: change.added_reactions,
                    removed_reactions: change.removed_reactions,
                };
                refused(&p.as_actor(me).comment(&thread).reply(id).update(change).await)
            }
        };
        assert_eq!(answer, (!may).then_some(ErrorKind::Forbidden));
        if let (true, Some(Some(thing))) = (may, self.things.get_mut(comment)) {
            match reply {
                None => then(&mut thing.said, who),
                Some(reply) => then(&mut thing.replies[reply].as_mut().expect("it is there").1, who),
            }
        }
    }

    async fn resolve(&mut self, who: usize, comment: usize, resolved: bool) {
        let Some(Some(thing)) = self.things.get(comment) else { return };
        let own = thing.said.by == who && ROLES[who] >= Some(Role::Comment);
        let may = own || ROLES[who] >= Some(Role::Edit);
        let change = UpdateComment { resolved: Some(resolved), ..UpdateComment::default() };
        let thread = self.thread(thing);
        let answer = self.w.platform.as_actor(&self.people[who]).comment(&thread).update(change).await;
        assert_eq!(refused(&answer), (!may).then_some(ErrorKind::Forbidden));
        if let (true, Some(Some(thing))) = (may, self.things.get_mut(comment)) {
            thing.resolved = resolved.then(|| thing.resolved.unwrap_or(who));
        }
    }

    async fn delete(&mut self, who: usize, (comment, reply): At) {
        let Some(Some(thing)) = self.things.get(comment) else { return };
        let (thread, me, p) = (self.thread(thing), &self.people[who], &self.w.platform);
        let (said, answer) = match reply {
            None => (thing.said.clone(), p.as_actor(me).comment(&thread).delete().await),
            Some(reply) => match thing.replies.get(reply) {
                Some(Some((id, said))) => {
                    (said.clone(), p.as_actor(me).comment(&thread).reply(id).delete().await)
                }
                _ => return,
            },
        };
        let may = self.may_change(who, &said);
        assert_eq!(refused(&answer), (!may).then_some(ErrorKind::Forbidden));
        if !may {
            return;
        }
        assert!(answer.expect("deleted"), "it was there");
        if reply.is_none() {
            assert!(!p.as_actor(me).comment(&thread).delete().await.expect("no error"), "it is gone");
        }
        match (reply, self.things.get_mut(comment)) {
            (Some(reply), Some(Some(thing))) => thing.replies[reply] = None,
            (_, Some(gone)) => *gone = None,
            (_, None) => {}
        }
    }

    /// Checks that the platform returns the comments of the model.
    async fn check(&self) {
        for (board, of) in self.boards.iter().enumerate() {
            let all: Vec<&Model> =
                self.things.iter().flatten().filter(|thing| thing.board == board).collect();
            let open = all.iter().filter(|thing| thing.resolved.is_none()).count() as u64;
            let shown = match board {
                0 => self.w.as_admin().space(&self.space).get().await.expect("shown").comments,
                _ => {
                    let request = self.w.as_admin().space(&self.space).change_request("1").get().await;
                    request.expect("shown").comments
                }
            };
            assert_eq!(shown, open, "opened comments");
            for (status, order) in [
                (CommentStatus::All, ListOrder::Asc),
                (CommentStatus::Open, ListOrder::Desc),
                (CommentStatus::Resolved, ListOrder::Asc),
            ] {
                let mut wanted: Vec<&Model> = all.clone();
                wanted.retain(|thing| match status {
                    CommentStatus::All => true,
                    CommentStatus::Open => thing.resolved.is_none(),
                    CommentStatus::Resolved => thing.resolved.is_some(),
                });
                if order == ListOrder::Desc {
                    wanted.reverse();
                }
                let query = CommentQuery { status, order, ..CommentQuery::default() };
                let list =
                    self.w.as_admin().content(of).comments().list(&query, &PageRequest::default()).await;
                let list = list.expect("listed");
                assert_eq!(list.count, Some(wanted.len() as u64));
                let ids: Vec<&CommentId> = list.items.iter().map(|comment| &comment.id).collect();
                assert_eq!(ids, wanted.iter().map(|thing| &thing.id).collect::<Vec<_>>(), "{status:?}");
                for (thing, comment) in wanted.into_iter().zip(&list.items) {
                    self.same(thing, comment);
                }
            }
            for thing in &all {
                self.same_replies(thing).await;
            }
            self.same_commenters(of, &all).await;
        }
    }

    fn same(&self, thing: &Model, comment: &Comment) {
        assert_eq!(comment.posted_by.id, *self.user(thing.said.by));
        assert_eq!(comment.body, CommentBody::Markdown(thing.said.text.clone()));
        assert_eq!(comment.edited_at.is_some(), thing.said.edited);
        assert_eq!(comment.replies, thing.replies.iter().flatten().count() as u64);
        assert_eq!(self.shown(&comment.reactions), thing.said.reactions);
        let by = match &comment.state {
            CommentState::Open => None,
            CommentState::Resolved { resolved_by, .. } => Some(&resolved_by.id),
        };
        assert_eq!(by, thing.resolved.map(|who| self.user(who)));
    }

    async fn same_replies(&self, thing: &Model) {
        let page = PageRequest::default();
        let thread = self.thread(thing);
        let list = self.w.as_admin().comment(&thread).list_replies(Default::default(), &page);
        let list: Vec<CommentReply> = list.await.expect("listed").items;
        let wanted: Vec<&(CommentReplyId, Said)> = thing.replies.iter().flatten().collect();
        assert_eq!(list.len(), wanted.len());
        for (reply, (id, said)) in list.iter().zip(wanted) {
            assert_eq!((&reply.id, &reply.posted_by.id), (id, self.user(said.by)), "the oldest first");
            assert_eq!(reply.body, CommentBody::Markdown(said.text.clone()));
            assert_eq!(reply.edited_at.is_some(), said.edited);
            assert_eq!(self.shown(&reply.reactions), said.reactions);
        }
    }

    async fn same_commenters(&self, of: &ContentVersion, all: &[&Model]) {
        let list = self.w.as_admin().content(of).comments().list_commenters(&PageRequest::default()).await;
        let shown: BTreeSet<_> = list.expect("listed").items.into_iter().map(|member| member.id).collect();
        let said = all.iter().flat_map(|thing| {
            std::iter::once(&thing.said).chain(thing.replies.iter().flatten().map(|(_, said)| said))
        });
        let wanted: BTreeSet<_> = said.map(|said| self.user(said.by).clone()).collect();
        assert_eq!(shown, wanted, "each once");
    }

    fn user(&self, who: usize) -> &docs_core::model::UserId {
        self.people[who].user().expect("a user")
    }

    fn shown(&self, reactions: &[EmojiReaction]) -> BTreeMap<&'static str, BTreeSet<usize>> {
        let each = reactions.iter().map(|of| {
            assert_eq!(of.count, of.users.len() as u64);
            let mut known = EMOJI.into_iter().zip(EMOJI_CODES);
            let (emoji, _) = known.find(|(_, code)| *code == of.emoji.as_str()).expect("known");
            let who = |user| (0..ROLES.len()).find(|who| self.user(*who) == user).expect("known");
            (emoji, of.users.iter().map(|by| who(&by.user.id)).collect())
        });
        each.collect()
    }
}

async fn run(steps: Vec<(usize, Step)>, store: Arc<dyn Store>) {
    let mut run = Run::new(store).await;
    for (who, step) in steps {
        run.apply(who, &step).await;
        run.check().await;
    }
    run.w.check().await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn discussion_matches_the_model(steps in steps()) {
        block_on(run(steps, Arc::new(MemStore::new())));
    }

    #[test]
    fn discussion_matches_the_model_on_a_json_store(steps in steps()) {
        block_on(run(steps, Arc::new(MemStore::new_json())));
    }
}

proptest! {
    // Each fault causes a delay of several milliseconds.
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn discussion_matches_the_model_despite_failing_commits(steps in steps()) {
        block_on(run(steps, failing()));
    }
}

pub(crate) async fn edit(w: &World, space: &SpaceId, request: &str, change: Value) {
    let change: UpdateContent = serde_json::from_value(json!({ "changes": [change] })).expect("a change");
    w.as_admin().space(space).change_request(request).edit(change).await.expect("changed");
}

fn about(page: Option<&PageId>) -> PostComment {
    PostComment { node: None, page: page.map(ToString::to_string), body: text("Why?") }
}

#[tokio::test]
async fn comment_retains_its_deleted_page_as_outdated() {
    let w = World::new().await;
    let (p, me, space) = (&w.platform, &w.admin, w.space().await);
    let first = w.request(&space).await;
    edit(&w, &space, &first, json!({ "operation": "insert_page", "title": "Guide", "document": {} })).await;
    let of = ContentVersion::request(space.clone(), &first);
    let pages = p.as_actor(me).content(&of).list_pages(Default::default()).await.expect("read").pages;
    let page = match &pages[0] {
        docs_core::model::RevisionPage::Document(page) => page.base.id.clone(),
        other => panic!("{other:?}"),
    };
    let live = ContentVersion::space(space.clone());
    p.as_actor(me).content(&live).comments().post(about(Some(&page))).await.refused(ErrorKind::Invalid);
    let in_request = p.as_actor(me).content(&of).comments().post(about(Some(&page))).await.expect("posted");
    let merged = p.as_actor(me).space(&space).change_request(&first).merge().await.expect("merged").revision;
    let comment = p.as_actor(me).content(&live).comments().post(about(Some(&page))).await.expect("posted");
    assert_eq!(comment.target.revision, merged);
    let seen = comment.target.page.clone().expect("a page");
    assert_eq!((seen.base.title.as_str(), seen.path.as_str(), seen.outdated), ("Guide", "guide", false));

    let second = w.request(&space).await;
    let rename = json!({ "operation": "update_page", "page": page, "title": "Manual", "slug": "manual" });
    edit(&w, &space, &second, rename).await;
    p.as_actor(me).space(&space).change_request(&second).merge().await.expect("merged");
    let thread = Thread { of: live.clone(), comment: comment.id.clone() };
    let read = async || p.as_actor(me).comment(&thread).get(Default::default()).await.expect("read").target;
    let seen = read().await.page.expect("a page");
    assert_eq!((seen.base.title.as_str(), seen.path.as_str(), seen.outdated), ("Manual", "manual", false));

    let third = w.request(&space).await;
    edit(&w, &space, &third, json!({ "operation": "delete_page", "page": page })).await;
    p.as_actor(me).space(&space).change_request(&third).merge().await.expect("merged");
    let gone = read().await;
    assert_eq!(gone.revision, merged);
    let seen = gone.page.expect("a page");
    assert_eq!((seen.base.title.as_str(), seen.path.as_str(), seen.outdated), ("Guide", "guide", true));
    let query = CommentQuery { target_page: Some(page.to_string()), ..CommentQuery::default() };
    let list =
        p.as_actor(me).content(&live).comments().list(&query, &PageRequest::default()).await.expect("listed");
    assert_eq!(list.items.len(), 1, "found by the page that is gone");
    // The change request retains the page and its discussion permanently.
    let thread = Thread { of, comment: in_request.id };
    let still = p.as_actor(me).comment(&thread).get(Default::default()).await.expect("read");
    assert!(!still.target.page.expect("a page").outdated);
    w.check().await;
}

#[tokio::test]
async fn deleting_a_comment_deletes_replies_beyond_a_transaction() {
    let w = World::new().await;
    let (p, me, space) = (&w.platform, &w.admin, w.space().await);
    let of = ContentVersion::space(space.clone());
    let comment = p.as_actor(me).content(&of).comments().post(about(None)).await.expect("posted").id;
    let thread = Thread { of: of.clone(), comment };
    let mut last = None;
    for _ in 0..450 {
        let new = PostCommentReply { body: text("So.") };
        last = Some(
            p.as_actor(me).comment(&thread).post_reply(new, Default::default()).await.expect("posted").id,
        );
    }
    assert!(p.as_actor(me).comment(&thread).delete().await.expect("deleted"));
    let last = last.expect("a reply");
    p.as_actor(me).comment(&thread).reply(&last).get(Default::default()).await.refused(ErrorKind::NotFound);
    assert_eq!(p.as_actor(me).space(&space).get().await.expect("read").comments, 0);
    w.check().await;
    assert_eq!(p.settle().await.expect("settled"), 1, "a job removes the rest");
    let commenters = p
        .as_actor(me)
        .content(&of)
        .comments()
        .list_commenters(&PageRequest::default())
        .await
        .expect("listed");
    assert_eq!(commenters.items, []);
    w.check().await;
}

#[tokio::test]
async fn purging_a_space_removes_its_discussions_and_reviews() {
    let w = World::new().await;
    let (p, me, space) = (&w.platform, &w.admin, w.space().await);
    let name = w.request(&space).await;
    for of in [ContentVersion::space(space.clone()), ContentVersion::request(space.clone(), &name)] {
        for _ in 0..25 {
            let comment = p.as_actor(me).content(&of).comments().post(about(None)).await.expect("posted").id;
            let thread = Thread { of: of.clone(), comment };
            for _ in 0..10 {
                let new = PostCommentReply { body: text("So.") };
                p.as_actor(me).comment(&thread).post_reply(new, Default::default()).await.expect("posted");
            }
        }
    }
    let review = json!({ "status": "approved", "comment": { "markdown": "Fine." } });
    let review = serde_json::from_value(review).expect("a review");
    p.as_actor(me).space(&space).change_request(&name).submit_review(review).await.expect("submitted");
    let users = vec![me.user().expect("a user").to_string()];
    let ask = RequestReviewers { users, subject: None, description: None };
    p.as_actor(me).space(&space).change_request(&name).request_reviewers(ask).await.expect("asked");
    assert!(p.as_actor(me).space(&space).delete().await.expect("deleted"));
    let of = ContentVersion::space(space.clone());
    p.as_actor(me).content(&of).comments().post(about(None)).await.refused(ErrorKind::NotFound);
    p.as_platform().space(&space).purge().await.expect("removed");
    w.check().await;
    let tx = p.store().begin(docs_core::store::Mode::Read, &[]).await.expect("a snapshot");
    for kind in ["cmt", "cmt.l", "cmr", "cmr.t", "rvw", "rvw.t", "rqr", "rqr.t"] {
        let scan = docs_core::store::KeyBuf::new(kind).scan(1);
        assert!(tx.scan(&[scan]).await.expect("a scan")[0].is_empty(), "{kind}");
    }
}

#[tokio::test]
async fn guests_cannot_list_commenters() {
    let w = World::new().await;
    let (p, space) = (&w.platform, w.space().await);
    let (guest, reader) = (w.member("Gus", None).await, w.member("Rob", Some(Role::Read)).await);
    let name = w.request(&space).await;
    let users = Some(vec![guest.user().expect("a user").to_string()]);
    let invite = Invite { role: Some(Role::Comment), users, teams: None };
    w.as_admin().space(&space).permissions().invite(invite).await.expect("given");
    for of in [ContentVersion::space(space.clone()), ContentVersion::request(space.clone(), &name)] {
        p.as_actor(&guest).content(&of).comments().post(about(None)).await.expect("posted");
        p.as_actor(&guest)
            .content(&of)
            .comments()
            .list_commenters(&PageRequest::default())
            .await
            .refused(ErrorKind::Forbidden);
        let seen = p
            .as_actor(&reader)
            .content(&of)
            .comments()
            .list_commenters(&PageRequest::default())
            .await
            .expect("listed");
        assert_eq!(seen.items.len(), 1);
    }
}
