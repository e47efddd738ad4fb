//! Views of comments: users, reactions, and the current state of the commented pages.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{
    CommentedContent,
    previews::{BlockPreviews, PageTextBudget},
    text::render_bodies,
};
use crate::{
    Error, Result,
    content::{PageEntry, PageKind, View, document, run_in_place, run_on_text},
    model::{
        Comment, CommentNode, CommentObject, CommentPage, CommentReply, CommentReplyId, CommentReplyObject,
        CommentState, CommentTarget, ContentFormat, EmojiReaction, PageBase, PageId, Reactor, Replier,
        Timestamp, User, UserId, UserUrls,
    },
    platform::{
        content::{computed::GeneratedPage, read::page_base},
        kernel::{actor::Actor, emoji::emoji_code, platform::Platform},
        nouns::addresses::Thread,
    },
    store::{
        Key, Scan, StoreResult, Tx, Value,
        records::{CommentRecord, Post, Reactions, ReplyAuthor, ReplyRecord},
    },
};

/// Number of the latest replies whose authors are returned with a comment.
const REPLIES_WITH_AUTHORS: u32 = 20;
/// Number of user records loaded per read.
const USER_BATCH: usize = 1_000;
/// Maximum number of users returned per emoji.
const MAX_USERS_PER_EMOJI: usize = 10;
/// Maximum number of users returned for all emoji together. Each emoji keeps at least one.
const MAX_USERS_OF_ALL_EMOJI: usize = 50;

/// The user reading the comments, the content, and the requested body format.
#[derive(Clone, Copy, Debug)]
pub(in crate::platform) struct CommentReader<'a> {
    pub(in crate::platform) content: &'a CommentedContent,
    pub(in crate::platform) actor: &'a Actor,
    pub(in crate::platform) format: ContentFormat,
}

/// Current state of a page.
pub(in crate::platform) struct CurrentPage {
    pub(super) base: PageBase,
    pub(super) path: String,
    /// Texts of the requested blocks that exist, truncated if long.
    blocks: BTreeMap<String, String>,
}

/// Additional records needed to build comment views.
struct CommentContext {
    /// Number of replies to each comment.
    replies: Vec<i64>,
    /// The authors of the latest replies to each comment, latest first.
    repliers: Vec<Vec<ReplyAuthor>>,
    /// The users referenced by the views.
    people: BTreeMap<UserId, User>,
}

/// The existing pages that comments refer to.
pub(in crate::platform) type CurrentPages = BTreeMap<PageId, CurrentPage>;

impl CurrentPage {
    /// Returns the text of a block of the page, truncated if long, or `None` if the page has no such block.
    pub(super) fn block(&self, key: &str) -> Option<String> {
        self.blocks.get(key).cloned()
    }
}

/// Identifies a reply and the format of its body.
#[derive(Clone, Copy)]
pub(super) struct ReplyLookup<'r> {
    pub(super) thread: &'r Thread,
    pub(super) id: &'r CommentReplyId,
    pub(super) format: ContentFormat,
}

impl Platform {
    /// Reads a comment within a transaction.
    pub(super) async fn read_comment_view(
        &self,
        tx: &Tx,
        actor: &Actor,
        thread: &Thread,
        pages: &CurrentPages,
    ) -> Result<Comment> {
        let commented = CommentedContent::find(tx, actor, &thread.of).await?;
        let record = commented.comment(tx, &thread.comment).await?;
        let reader = CommentReader { content: &commented, actor, format: ContentFormat::default() };
        let shown = self.comment_views_with_pages(tx, reader, &[record], pages).await?;
        shown.into_iter().next().ok_or_else(|| Error::not_found("comment"))
    }

    /// Reads a reply within a transaction.
    pub(super) async fn read_reply_view(
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

    /// Builds the views of comments on one space or change request. Returns fewer views than records if the texts of
    /// the commented pages exceed the bound of a response, but always the first.
    ///
    /// Takes the transaction and ends it before objects are read, as they may need the same connection pool.
    pub(in crate::platform) async fn comment_views(
        &self,
        tx: Tx,
        reader: CommentReader<'_>,
        records: &[Arc<CommentRecord>],
    ) -> Result<Vec<Comment>> {
        let around = self.comment_context(&tx, reader, records).await?;
        drop(tx);
        let (pages, shown) = self.current_pages(reader.content, records).await?;
        self.show_comments(reader, &records[..shown], &pages, &around).await
    }

    /// Builds the views of comments on one space or change request from pages that are already loaded. Reads no
    /// objects.
    pub(in crate::platform) async fn comment_views_with_pages(
        &self,
        tx: &Tx,
        reader: CommentReader<'_>,
        records: &[Arc<CommentRecord>],
        pages: &CurrentPages,
    ) -> Result<Vec<Comment>> {
        let around = self.comment_context(tx, reader, records).await?;
        self.show_comments(reader, records, pages, &around).await
    }

    /// Reads the additional records needed to build comment views.
    async fn comment_context(
        &self,
        tx: &Tx,
        reader: CommentReader<'_>,
        records: &[Arc<CommentRecord>],
    ) -> Result<CommentContext> {
        let counters: Vec<Key> =
            records.iter().map(|record| CommentRecord::reply_count(&record.id)).collect();
        let replies = tx.numbers(&counters).await?;
        let repliers = latest_repliers(tx, records).await?;
        let resolved = records.iter().filter_map(|record| record.resolved.as_ref().map(|by| &by.by));
        let others = resolved.chain(repliers.iter().flatten().map(|author| &author.by));
        let posted = records.iter().map(|record| &record.posted);
        let people = self.people(tx, reader, posted, others).await?;
        Ok(CommentContext { replies, repliers, people })
    }

    async fn show_comments(
        &self,
        reader: CommentReader<'_>,
        records: &[Arc<CommentRecord>],
        pages: &CurrentPages,
        around: &CommentContext,
    ) -> Result<Vec<Comment>> {
        let CommentContext { replies, repliers, people } = around;
        let replies = replies.iter().zip(repliers);
        let texts = records.iter().map(|record| record.posted.text.clone()).collect();
        let bodies = render_bodies(texts, reader.format).await?;
        let shown = records.iter().zip(replies).zip(bodies).map(|((record, (replies, repliers)), body)| {
            let posted = &record.posted;
            let state = match &record.resolved {
                None => CommentState::Open,
                Some(resolved) => CommentState::Resolved {
                    resolved_at: resolved.at,
                    resolved_by: Box::new(find_person(people, &resolved.by)?),
                },
            };
            Ok(Comment {
                object: CommentObject::Is,
                id: record.id.clone(),
                posted_by: find_person(people, &posted.by)?,
                posted_at: posted.at,
                edited_at: posted.edited_at,
                reactions: reactions(posted, reader.actor.user(), people)?,
                replies: u64::try_from(*replies).unwrap_or(0),
                repliers: replier_views(repliers, people)?,
                body,
                target: target(record, pages),
                urls: UserUrls { location: self.urls().comment(&record.scope, &record.id) },
                permissions: reader.content.access.comment_permissions(&posted.by, reader.actor.user()),
                state,
            })
        });
        shown.collect()
    }

    /// Builds the views of replies to comments on one space or change request.
    pub(super) async fn reply_views(
        &self,
        tx: &Tx,
        reader: CommentReader<'_>,
        records: &[Arc<ReplyRecord>],
    ) -> Result<Vec<CommentReply>> {
        let posted = records.iter().map(|record| &record.posted);
        let people = self.people(tx, reader, posted, std::iter::empty()).await?;
        let texts = records.iter().map(|record| record.posted.text.clone()).collect();
        let bodies = render_bodies(texts, reader.format).await?;
        let shown = records.iter().zip(bodies).map(|(record, body)| {
            let posted = &record.posted;
            Ok(CommentReply {
                object: CommentReplyObject::Is,
                id: record.id.clone(),
                posted_by: find_person(&people, &posted.by)?,
                posted_at: posted.at,
                edited_at: posted.edited_at,
                reactions: reactions(posted, reader.actor.user(), &people)?,
                body,
                urls: UserUrls { location: self.urls().reply(&record.scope, &record.comment, &record.id) },
                permissions: reader.content.access.comment_permissions(&posted.by, reader.actor.user()),
            })
        });
        shown.collect()
    }

    /// Reads every user who appears in the posts or in `others`, each once.
    async fn people(
        &self,
        tx: &Tx,
        reader: CommentReader<'_>,
        posted: impl Iterator<Item = &Post>,
        others: impl Iterator<Item = &UserId>,
    ) -> Result<BTreeMap<UserId, User>> {
        let org = &reader.content.access.space().organization;
        let mut ids: BTreeSet<&UserId> = others.collect();
        for posted in posted {
            ids.insert(&posted.by);
            ids.extend(
                visible_reactions(posted, reader.actor.user())
                    .flat_map(|(_, users)| users)
                    .map(|(user, _)| user),
            );
        }
        let ids: Vec<UserId> = ids.into_iter().cloned().collect();
        let mut people = BTreeMap::new();
        for ids in ids.chunks(USER_BATCH) {
            let shown = self.visible_users(tx, (reader.actor, org), ids).await?;
            people.extend(ids.iter().cloned().zip(shown));
        }
        Ok(people)
    }

    /// Reads the current state of a page, or `None` if the content has no such page. Its text is read only if `node` is
    /// set.
    pub(super) async fn current_page(
        &self,
        commented: &CommentedContent,
        id: &PageId,
        node: Option<&str>,
    ) -> Result<Option<CurrentPage>> {
        let view = self.content().view(&commented.access.space().domain, commented.head().1);
        let (nodes, mut budget) = (node.into_iter().collect(), PageTextBudget::default());
        let Some(entry) = view.page(id).await? else {
            let space = commented.access.space();
            let generated = self.generated_pages_by_id(space, &view, &BTreeSet::from([id])).await?;
            return Ok(match generated.first() {
                Some(page) => current_generated_page(page, &nodes, &mut budget).await,
                None => None,
            });
        };
        self.build_current_page(&view, (id, &entry), &nodes, &mut budget).await
    }

    /// Reads the existing pages that comments refer to, each once, until their texts exceed the bound of a response.
    /// Returns the number of comments whose pages are complete.
    pub(in crate::platform) async fn current_pages(
        &self,
        commented: &CommentedContent,
        records: &[Arc<CommentRecord>],
    ) -> Result<(CurrentPages, usize)> {
        let mut wanted: BTreeMap<&PageId, BTreeSet<&str>> = BTreeMap::new();
        for target in records.iter().filter_map(|record| record.target.as_ref()) {
            let nodes = wanted.entry(&target.page.id).or_default();
            nodes.extend(target.node.iter().map(|(node, _)| node.as_str()));
        }
        let ids: Vec<PageId> = wanted.keys().copied().cloned().collect();
        let view = self.content().view(&commented.access.space().domain, commented.head().1);
        let mut entries: BTreeMap<&PageId, Option<PageEntry>> =
            ids.iter().zip(view.pages(&ids).await?).collect();
        let (mut pages, mut budget) = (CurrentPages::new(), PageTextBudget::default());
        let missing: BTreeSet<&PageId> =
            entries.iter().filter(|(_, entry)| entry.is_none()).map(|(id, _)| *id).collect();
        let mut generated = match missing.is_empty() {
            true => Vec::new(),
            false => self.generated_pages_by_id(commented.access.space(), &view, &missing).await?,
        };
        for (at, target) in records.iter().enumerate().filter_map(|(at, of)| Some((at, of.target.as_ref()?)))
        {
            let id = &target.page.id;
            let page = match entries.get_mut(id).and_then(Option::take) {
                Some(entry) => {
                    let nodes = wanted.remove(id).unwrap_or_default();
                    self.build_current_page(&view, (id, &entry), &nodes, &mut budget).await?
                }
                None => {
                    let Some(found) = generated.iter().position(|page| page.id == *id) else { continue };
                    let (page, nodes) = (generated.swap_remove(found), wanted.remove(id).unwrap_or_default());
                    current_generated_page(&page, &nodes, &mut budget).await
                }
            };
            match page {
                Some(page) => pages.insert(id.clone(), page),
                None => return Ok((pages, at)),
            };
        }
        Ok((pages, records.len()))
    }

    /// Builds the current state of a page, with the previews of the requested blocks. Returns `None` if its text
    /// exceeds the budget.
    async fn build_current_page(
        &self,
        view: &View,
        (id, entry): (&PageId, &PageEntry),
        nodes: &BTreeSet<&str>,
        budget: &mut PageTextBudget,
    ) -> Result<Option<CurrentPage>> {
        let blocks = match entry.kind {
            PageKind::Document if !nodes.is_empty() => {
                let previews = self.inner.memory.get_or_default::<BlockPreviews>();
                match previews.read(view, &entry.body, nodes, budget).await? {
                    Some(blocks) => blocks,
                    None => return Ok(None),
                }
            }
            _ => BTreeMap::new(),
        };
        let path = view.path_of(id).await?.unwrap_or_default();
        Ok(Some(CurrentPage { base: page_base(id, entry), path, blocks }))
    }
}

/// Builds the current state of a generated page, with the previews of the requested blocks. Returns `None` if its text
/// exceeds the budget.
async fn current_generated_page(
    page: &GeneratedPage,
    nodes: &BTreeSet<&str>,
    budget: &mut PageTextBudget,
) -> Option<CurrentPage> {
    let mut blocks = BTreeMap::new();
    if !nodes.is_empty() {
        let text = run_in_place(|| page.markdown());
        if !budget.take(text.len()) {
            return None;
        }
        let wanted: Arc<[String]> = nodes.iter().map(|node| (*node).to_owned()).collect();
        let read = run_on_text(&text, move |text| {
            document::block_texts(text, &wanted.iter().map(String::as_str).collect())
        });
        blocks = read.await;
    }
    Some(CurrentPage { base: page.base(), path: page.path.clone(), blocks })
}

/// Reads the authors of the latest replies to each comment, latest first.
async fn latest_repliers(tx: &Tx, records: &[Arc<CommentRecord>]) -> Result<Vec<Vec<ReplyAuthor>>> {
    let latest = |record: &Arc<CommentRecord>| Scan {
        rev: true,
        ..ReplyRecord::by_comment(&record.id).scan(REPLIES_WITH_AUTHORS)
    };
    let scans: Vec<Scan> = records.iter().map(latest).collect();
    let authors = |rows: Vec<(Key, Value)>| {
        rows.iter().map(|(_, author)| ReplyAuthor::from_value(author)).collect::<StoreResult<_>>()
    };
    Ok(tx.scan_many(&scans).await?.into_iter().map(authors).collect::<StoreResult<_>>()?)
}

/// Counts the replies of each author. The author of the latest reply is first.
fn replier_views(latest: &[ReplyAuthor], people: &BTreeMap<UserId, User>) -> Result<Vec<Replier>> {
    let mut shown: Vec<Replier> = Vec::new();
    for author in latest {
        match shown.iter_mut().find(|replier| replier.user.id == author.by) {
            Some(replier) => replier.count += 1,
            None => {
                let user = find_person(people, &author.by)?;
                shown.push(Replier { updated_at: author.at, count: 1, user });
            }
        }
    }
    Ok(shown)
}

fn find_person(people: &BTreeMap<UserId, User>, id: &UserId) -> Result<User> {
    people.get(id).cloned().ok_or_else(|| Error::internal(format!("{id} was not loaded")))
}

/// The reactions to a post, each with the users to return: the earliest ones, and the reader.
fn visible_reactions<'p>(
    posted: &'p Post,
    reader: Option<&UserId>,
) -> impl Iterator<Item = (&'p Reactions, Vec<&'p (UserId, Timestamp)>)> {
    let share = (MAX_USERS_OF_ALL_EMOJI / posted.reactions.len().max(1)).clamp(1, MAX_USERS_PER_EMOJI);
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
    posted: &Post,
    reader: Option<&UserId>,
    people: &BTreeMap<UserId, User>,
) -> Result<Vec<EmojiReaction>> {
    let each = visible_reactions(posted, reader).map(|(of, users)| {
        let users = users
            .into_iter()
            .map(|(user, at)| Ok(Reactor { user: find_person(people, user)?, reacted_at: *at }))
            .collect::<Result<Vec<_>>>()?;
        let emoji = emoji_code(of.emoji.as_str()).unwrap_or_else(|| of.emoji.clone());
        Ok(EmojiReaction { emoji, count: of.users.len() as u64, users })
    });
    each.collect()
}

/// Returns the target of a comment: its current state, or the recorded one if the page or block was deleted.
fn target(record: &CommentRecord, pages: &CurrentPages) -> CommentTarget {
    let mut shown = CommentTarget {
        node: None,
        change_request: record.scope.request.clone(),
        review: record.review.clone(),
        page: None,
        space: record.scope.space.clone(),
        revision: record.revision.clone(),
    };
    let Some(then) = &record.target else {
        shown.node = record.node.as_ref().map(|node| CommentNode { id: node.to_string(), preview: None });
        return shown;
    };
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

    /// Creates a post with `emoji` reactions of `users` users each.
    fn posted(emoji: u32, users: usize) -> Post {
        let at = Timestamp::from(chrono::DateTime::UNIX_EPOCH);
        let of = |n: u32| Reactions {
            emoji: serde_json::from_value(char::from_u32(0x1f600 + n).unwrap().to_string().into()).unwrap(),
            users: (0..users).map(|user| (format!("user{user}").parse().unwrap(), at)).collect(),
        };
        Post {
            by: "author".parse().unwrap(),
            at,
            edited_at: None,
            text: "text".parse().unwrap(),
            reactions: (0..emoji).map(of).collect(),
        }
    }

    #[test]
    fn many_reactions_show_the_first_and_the_reader_and_count_all() {
        for (emoji, users, each) in
            [(1, 500, 10), (1, 3, 3), (5, 100, 10), (10, 50, 5), (50, 10, 1), (80, 6, 1)]
        {
            let posted = posted(emoji, users);
            let name = |user: usize| -> UserId { format!("user{user}").parse().unwrap() };
            for reader in [None, Some(name(0)), Some(name(users - 1)), Some(name(9_999))] {
                let mut all = 0;
                for (of, users_shown) in visible_reactions(&posted, reader.as_ref()) {
                    let ids: Vec<&UserId> = users_shown.iter().map(|(user, _)| user).collect();
                    assert_eq!((of.users.len(), ids.len()), (users, each));
                    let is_in = reader.as_ref().is_some_and(|reader| ids.contains(&reader));
                    let reacted = reader.as_ref().is_some_and(|reader| *reader != name(9_999));
                    assert_eq!(is_in, reacted, "{emoji} {users} {reader:?}");
                    assert!(each == 1 || *ids[0] == name(0), "the first comes first");
                    all += ids.len();
                }
                assert!(all <= MAX_USERS_OF_ALL_EMOJI.max(posted.reactions.len()));
            }
        }
    }
}
