//! Showing comments: people, reactions, and what became of the pages they are about.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{CommentedContent, Thread, text::body_of};
use crate::{
    Error, Result,
    content::{PageEntry, PageKind, Rendering, View, document},
    model::{
        Comment, CommentNode, CommentObject, CommentPage, CommentReply, CommentReplyId, CommentReplyObject,
        CommentState, CommentTarget, ContentFormat, EmojiReaction, PageBase, PageId, Reactor, Timestamp,
        User, UserId, UserUrls,
    },
    platform::{Actor, Platform, content::page_base},
    store::{
        Key, Tx,
        records::{CommentRecord, Posted, Reactions, ReplyRecord},
    },
};

/// Users whose records are read at once.
const USERS_AT_ONCE: usize = 1_000;
/// Most users that are shown of an emoji.
const OF_AN_EMOJI: usize = 10;
/// Most users that are shown of all emoji together, as far as each shows one.
const OF_ALL_EMOJI: usize = 50;

/// Who reads, where, and in which form.
#[derive(Clone, Copy, Debug)]
pub(in crate::platform) struct CommentReader<'a> {
    pub(in crate::platform) content: &'a CommentedContent,
    pub(in crate::platform) actor: &'a Actor,
    pub(in crate::platform) format: ContentFormat,
}

/// A page as it is now.
pub(in crate::platform) struct PageNow {
    pub(super) base: PageBase,
    pub(super) path: String,
    /// What the blocks say that were asked for and are there, cut where that is long.
    blocks: BTreeMap<String, String>,
}

/// What is shown around comments.
struct SpaceFrame {
    /// How many replies each has.
    replies: Vec<i64>,
    /// The people who are shown with them.
    people: BTreeMap<UserId, User>,
}

/// The pages that comments are about and that are there.
pub(in crate::platform) type PagesNow = BTreeMap<PageId, PageNow>;

impl PageNow {
    /// What a block of the page says, cut where it is long; `None` when it has no such block.
    pub(super) fn block(&self, key: &str) -> Option<String> {
        self.blocks.get(key).cloned()
    }
}

/// A reply, and the form of what it says.
#[derive(Clone, Copy)]
pub(super) struct ReplyLookup<'r> {
    pub(super) thread: &'r Thread,
    pub(super) id: &'r CommentReplyId,
    pub(super) format: ContentFormat,
}

impl Platform {
    /// A comment, as a transaction sees it.
    pub(super) async fn comment_seen(
        &self,
        tx: &Tx,
        actor: &Actor,
        thread: &Thread,
        pages: &PagesNow,
    ) -> Result<Comment> {
        let commented = CommentedContent::find(tx, actor, &thread.of).await?;
        let record = commented.comment(tx, &thread.comment).await?;
        let reader = CommentReader { content: &commented, actor, format: ContentFormat::default() };
        let shown = self.comments_beside(tx, reader, &[record], pages).await?;
        shown.into_iter().next().ok_or_else(|| Error::not_found("comment"))
    }

    /// A reply, as a transaction sees it.
    pub(super) async fn reply_seen(
        &self,
        tx: &Tx,
        actor: &Actor,
        of: ReplyLookup<'_>,
    ) -> Result<CommentReply> {
        let ReplyLookup { thread, id, format } = of;
        let commented = CommentedContent::find(tx, actor, &thread.of).await?;
        let record = commented.reply(tx, &thread.comment, id).await?;
        let shown =
            self.reply_views(tx, CommentReader { content: &commented, actor, format }, &[record]).await?;
        shown.into_iter().next().ok_or_else(|| Error::not_found("reply"))
    }

    /// Shows comments of one content. The transaction ends here: objects may come through the same connections.
    pub(in crate::platform) async fn comment_views(
        &self,
        tx: Tx,
        reader: CommentReader<'_>,
        records: &[Arc<CommentRecord>],
    ) -> Result<Vec<Comment>> {
        let around = self.around(&tx, reader, records).await?;
        drop(tx);
        let pages = self.pages_now(reader.content, records).await?;
        self.show_comments(reader, records, &pages, &around)
    }

    /// Shows comments of one content, given the pages that they are about: reads no objects.
    pub(in crate::platform) async fn comments_beside(
        &self,
        tx: &Tx,
        reader: CommentReader<'_>,
        records: &[Arc<CommentRecord>],
        pages: &PagesNow,
    ) -> Result<Vec<Comment>> {
        let around = self.around(tx, reader, records).await?;
        self.show_comments(reader, records, pages, &around)
    }

    /// Reads what is shown around comments.
    async fn around(
        &self,
        tx: &Tx,
        reader: CommentReader<'_>,
        records: &[Arc<CommentRecord>],
    ) -> Result<SpaceFrame> {
        let counters: Vec<Key> =
            records.iter().map(|record| CommentRecord::count_of_replies(&record.id)).collect();
        let replies = tx.numbers(&counters).await?;
        let resolved = records.iter().filter_map(|record| record.resolved.as_ref().map(|by| &by.by));
        let posted = records.iter().map(|record| &record.posted);
        let people = self.people(tx, (reader, posted), resolved).await?;
        Ok(SpaceFrame { replies, people })
    }

    fn show_comments(
        &self,
        reader: CommentReader<'_>,
        records: &[Arc<CommentRecord>],
        pages: &PagesNow,
        around: &SpaceFrame,
    ) -> Result<Vec<Comment>> {
        let SpaceFrame { replies, people } = around;
        let shown = records.iter().zip(replies).map(|(record, replies)| {
            let posted = &record.posted;
            let state = match &record.resolved {
                None => CommentState::Open,
                Some(resolved) => CommentState::Resolved {
                    resolved_at: resolved.at,
                    resolved_by: Box::new(person(people, &resolved.by)?),
                },
            };
            Ok(Comment {
                object: CommentObject::Is,
                id: record.id.clone(),
                posted_by: person(people, &posted.by)?,
                posted_at: posted.at,
                edited_at: posted.edited_at,
                reactions: reactions(posted, reader.actor.user(), people)?,
                replies: u64::try_from(*replies).unwrap_or(0),
                body: body_of(&posted.text, reader.format),
                target: target(record, pages),
                urls: UserUrls { location: self.urls().comment(&record.scope, &record.id) },
                permissions: reader.content.access.comment_permissions(&posted.by, reader.actor.user()),
                state,
            })
        });
        shown.collect()
    }

    /// Shows replies to comments of one content.
    pub(super) async fn reply_views(
        &self,
        tx: &Tx,
        reader: CommentReader<'_>,
        records: &[Arc<ReplyRecord>],
    ) -> Result<Vec<CommentReply>> {
        let posted = records.iter().map(|record| &record.posted);
        let people = self.people(tx, (reader, posted), std::iter::empty()).await?;
        let shown = records.iter().map(|record| {
            let posted = &record.posted;
            Ok(CommentReply {
                object: CommentReplyObject::Is,
                id: record.id.clone(),
                posted_by: person(&people, &posted.by)?,
                posted_at: posted.at,
                edited_at: posted.edited_at,
                reactions: reactions(posted, reader.actor.user(), &people)?,
                body: body_of(&posted.text, reader.format),
                urls: UserUrls { location: self.urls().reply(&record.scope, &record.comment, &record.id) },
                permissions: reader.content.access.comment_permissions(&posted.by, reader.actor.user()),
            })
        });
        shown.collect()
    }

    /// Everybody who is shown with what was posted, and others: each is read once.
    async fn people(
        &self,
        tx: &Tx,
        (reader, posted): (CommentReader<'_>, impl Iterator<Item = &Posted>),
        others: impl Iterator<Item = &UserId>,
    ) -> Result<BTreeMap<UserId, User>> {
        let org = &reader.content.access.space().organization;
        let mut ids: BTreeSet<&UserId> = others.collect();
        for posted in posted {
            ids.insert(&posted.by);
            ids.extend(shown(posted, reader.actor.user()).flat_map(|(_, users)| users).map(|(user, _)| user));
        }
        let ids: Vec<UserId> = ids.into_iter().cloned().collect();
        let mut people = BTreeMap::new();
        for ids in ids.chunks(USERS_AT_ONCE) {
            let shown = self.users_named(tx, (reader.actor, org), ids).await?;
            people.extend(ids.iter().cloned().zip(shown));
        }
        Ok(people)
    }

    /// A page as it is now; `None` when the content has none. Its text is read where somebody wants a block of it.
    pub(super) async fn page_now(
        &self,
        commented: &CommentedContent,
        id: &PageId,
        node: Option<&str>,
    ) -> Result<Option<PageNow>> {
        let view = self.content().view(&commented.access.space().domain, commented.head().1);
        match view.page(id).await? {
            Some(entry) => now(&view, (id, &entry), &node.into_iter().collect()).await.map(Some),
            None => Ok(None),
        }
    }

    /// The pages that comments are about and that are there, each once.
    pub(super) async fn pages_now(
        &self,
        commented: &CommentedContent,
        records: &[Arc<CommentRecord>],
    ) -> Result<PagesNow> {
        let mut wanted: BTreeMap<&PageId, BTreeSet<&str>> = BTreeMap::new();
        for target in records.iter().filter_map(|record| record.target.as_ref()) {
            let nodes = wanted.entry(&target.page.id).or_default();
            nodes.extend(target.node.iter().map(|(node, _)| node.as_str()));
        }
        let ids: Vec<PageId> = wanted.keys().copied().cloned().collect();
        let view = self.content().view(&commented.access.space().domain, commented.head().1);
        let entries = view.pages(&ids).await?;
        let mut pages = BTreeMap::new();
        for ((id, nodes), entry) in wanted.into_iter().zip(entries) {
            if let Some(entry) = entry {
                pages.insert(id.clone(), now(&view, (id, &entry), &nodes).await?);
            }
        }
        Ok(pages)
    }
}

/// The page is read as a document once, however many of its blocks are asked for.
async fn now(view: &View, (id, entry): (&PageId, &PageEntry), nodes: &BTreeSet<&str>) -> Result<PageNow> {
    let blocks = match entry.kind {
        PageKind::Document if !nodes.is_empty() => {
            document::block_texts(&view.text(&entry.body, Rendering::Request).await?, nodes)
        }
        _ => BTreeMap::new(),
    };
    let path = view.path_of(id).await?.unwrap_or_default();
    Ok(PageNow { base: page_base(id, entry), path, blocks })
}

fn person(people: &BTreeMap<UserId, User>, id: &UserId) -> Result<User> {
    people.get(id).cloned().ok_or_else(|| Error::internal(format!("{id} was not read")))
}

/// The reactions to what was posted, each with those who are shown of it: the first who reacted, and the reader.
fn shown<'p>(
    posted: &'p Posted,
    reader: Option<&UserId>,
) -> impl Iterator<Item = (&'p Reactions, Vec<&'p (UserId, Timestamp)>)> {
    let share = (OF_ALL_EMOJI / posted.reactions.len().max(1)).clamp(1, OF_AN_EMOJI);
    posted.reactions.iter().map(move |of| {
        let mut users: Vec<_> = of.users.iter().take(share).collect();
        let own = of.users.iter().skip(share).find(|(user, _)| reader == Some(user));
        if let (Some(own), Some(last)) = (own, users.last_mut()) {
            *last = own;
        }
        (of, users)
    })
}

fn reactions(
    posted: &Posted,
    reader: Option<&UserId>,
    people: &BTreeMap<UserId, User>,
) -> Result<Vec<EmojiReaction>> {
    let each = shown(posted, reader).map(|(of, users)| {
        let users = users
            .into_iter()
            .map(|(user, at)| Ok(Reactor { user: person(people, user)?, reacted_at: *at }))
            .collect::<Result<Vec<_>>>()?;
        Ok(EmojiReaction { emoji: of.emoji.clone(), count: of.users.len() as u64, users })
    });
    each.collect()
}

/// What a comment is about: as it is now, and as it was for what is gone.
fn target(record: &CommentRecord, pages: &PagesNow) -> CommentTarget {
    let mut shown = CommentTarget {
        node: None,
        change_request: record.scope.request.clone(),
        review: record.review.clone(),
        page: None,
        space: record.scope.space.clone(),
        revision: record.revision.clone(),
    };
    let Some(then) = &record.target else { return shown };
    let now = pages.get(&then.page.id);
    let mut outdated = now.is_none();
    if let Some((node, preview)) = &then.node {
        let block = now.and_then(|now| now.block(node));
        outdated |= block.is_none();
        let preview = block.or_else(|| preview.clone());
        shown.node = Some(CommentNode { id: node.to_string(), preview });
    }
    let (base, path) = now.map_or((&then.page, &then.path), |now| (&now.base, &now.path));
    shown.page = Some(CommentPage { base: base.clone(), path: path.clone(), outdated });
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What was posted, with reactions of so many users to each of so many emoji.
    fn posted(emoji: u32, users: usize) -> Posted {
        let at = Timestamp::from(chrono::DateTime::UNIX_EPOCH);
        let of = |n: u32| Reactions {
            emoji: serde_json::from_value(char::from_u32(0x1f600 + n).unwrap().to_string().into()).unwrap(),
            users: (0..users).map(|user| (format!("user{user}").parse().unwrap(), at)).collect(),
        };
        Posted {
            by: "author".parse().unwrap(),
            at,
            edited_at: None,
            text: "text".parse().unwrap(),
            reactions: (0..emoji).map(of).collect(),
        }
    }

    #[test]
    fn of_many_who_reacted_the_first_and_the_reader_are_shown_and_all_are_counted() {
        for (emoji, users, each) in
            [(1, 500, 10), (1, 3, 3), (5, 100, 10), (10, 50, 5), (50, 10, 1), (80, 6, 1)]
        {
            let posted = posted(emoji, users);
            let name = |user: usize| -> UserId { format!("user{user}").parse().unwrap() };
            for reader in [None, Some(name(0)), Some(name(users - 1)), Some(name(9_999))] {
                let mut all = 0;
                for (of, users_shown) in shown(&posted, reader.as_ref()) {
                    let ids: Vec<&UserId> = users_shown.iter().map(|(user, _)| user).collect();
                    assert_eq!((of.users.len(), ids.len()), (users, each));
                    let is_in = reader.as_ref().is_some_and(|reader| ids.contains(&reader));
                    let reacted = reader.as_ref().is_some_and(|reader| *reader != name(9_999));
                    assert_eq!(is_in, reacted, "{emoji} {users} {reader:?}");
                    assert!(each == 1 || *ids[0] == name(0), "the first comes first");
                    all += ids.len();
                }
                assert!(all <= OF_ALL_EMOJI.max(posted.reactions.len()));
            }
        }
    }
}
