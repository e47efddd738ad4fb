//! Content reads, with the same operations for a space, a change request and any revision.

mod answer_size;
mod changes;
mod computed;
mod computed_sources;
pub(in crate::platform) mod documents;
mod includes;
mod lookup;
mod meta_links;
pub(in crate::platform) mod open_site;
mod page_steps;
mod page_trees;
mod pages;
mod redirects;
mod snapshot;
mod specs;
mod tags;
mod view;
mod visitor_bearer;

use std::sync::Arc;

use docs_macros::boxed;

use self::answer_size::AnswerSize;
pub use self::{
    documents::{DocumentOptions, ShownDocument},
    lookup::PageAddress,
    page_steps::CountedPage,
    redirects::PageRedirect,
    snapshot::ContentSnapshot,
};
pub(in crate::platform) use self::{page_trees::PageTrees, view::page_base};
use crate::{
    Error, ErrorKind, Result,
    content::{Evaluated, FileEntry, LinkTarget, ReusableEntry, View},
    model::{ContentFormat, FileId, Pages, ReusableContent, ReusableId, Revision, RevisionFile, RevisionId},
    platform::{
        access,
        content::{change_requests, files::Bearer, openapi_specs::SpecAudience, revisions},
        kernel::{
            actor::{Actor, Visitor},
            answer_memory::{AnswerMemory, UnlimitedMemory},
            content_version::{ContentVersion, Version},
            json_answer::JsonAnswer,
            platform::Platform,
            request::EntityTag,
            tenant_queue::WorkPermit,
        },
        nouns::{ContentHandle, list_identities::tag},
        publishing::{
            placement::Placement,
            visitors::{ContentFilter, ContentReader, SpaceAdmission, UseDecisions, VisitorBearer},
        },
    },
    policy::SpaceAccess,
    store::{
        Hash, ListIdentity, Page, PageRequest, Tx, checked_limit, open_cursor,
        records::{RevisionRecord, SpaceRecord},
        seal_cursor, wrong_cursor,
    },
};

/// Options for how content is returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentOptions {
    /// Includes the Git metadata of pages and files.
    pub git: bool,
    /// Includes the variables of pages.
    pub variables: bool,
    /// The format of page content.
    pub format: ContentFormat,
    /// Selects the expressions and conditions in page content to evaluate.
    pub evaluated: Evaluated,
    /// Replaces computed pages by the pages generated from them. Otherwise they are returned as stored.
    pub computed: bool,
    /// Replaces the reusable content blocks of a page by their content.
    pub dereferenced: bool,
    /// The form of links to pages of the same space in Markdown.
    pub refs: MarkdownRefs,
    /// Returns Markdown to visitors of sites in the form of a page file of a repository: with a heading of the title,
    /// and the content of reusable content blocks.
    pub file_for_visitors: bool,
}

/// The form of links to pages of the same space in Markdown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MarkdownRefs {
    /// Ids, which do not change if a page moves.
    #[default]
    Stable,
    /// Paths of Markdown files, relative to the page.
    Relative,
    /// Paths for visitors of sites, and ids for all other readers.
    ForReader,
}

impl Default for ContentOptions {
    fn default() -> Self {
        let (format, evaluated) = (ContentFormat::default(), Evaluated::default());
        Self {
            git: true,
            variables: true,
            format,
            evaluated,
            computed: true,
            dereferenced: false,
            refs: MarkdownRefs::default(),
            file_for_visitors: false,
        }
    }
}

/// A revision that the caller may read.
pub(in crate::platform) struct ReadableRevision {
    pub(in crate::platform) access: SpaceAccess,
    pub(in crate::platform) revision: RevisionId,
    pub(in crate::platform) view: View,
    reader: ContentReader,
    uses: Arc<UseDecisions>,
    /// The location on the site where a visitor reads the revision.
    placement: Option<Placement>,
    /// The recipient of file URLs.
    pub(in crate::platform) bearer: Bearer,
}

impl ReadableRevision {
    pub(in crate::platform) fn space(&self) -> &SpaceRecord {
        self.access.space()
    }

    /// Identifies the visible content. Readers who see the same parts of the same content have equal ids.
    pub(in crate::platform) fn reader_id(&self) -> Option<String> {
        match &self.reader {
            ContentReader::Member => None,
            ContentReader::Visitor(claims) => Some(claims.id()),
        }
    }

    /// Returns the audience of the specifications that the content shows.
    pub(in crate::platform) fn spec_audience(&self) -> SpecAudience {
        let site = self.placement.as_ref().map(|placement| placement.site.visibility);
        site.map_or(SpecAudience::Restricted, SpecAudience::of_site)
    }

    /// Returns the options with which a page is read by this reader.
    fn page_options(&self, shown: ContentOptions) -> ContentOptions {
        let is_visitor = matches!(self.reader, ContentReader::Visitor(_));
        let is_file = is_visitor && shown.file_for_visitors && shown.format == ContentFormat::Markdown;
        let refs = match shown.refs {
            MarkdownRefs::ForReader if is_visitor => MarkdownRefs::Relative,
            MarkdownRefs::ForReader => MarkdownRefs::Stable,
            requested => requested,
        };
        let dereferenced = shown.dereferenced || is_file;
        ContentOptions { dereferenced, refs, file_for_visitors: is_file, ..shown }
    }

    /// Returns the filter for the content visible to the reader.
    pub(in crate::platform) async fn content_filter(&self) -> Result<ContentFilter> {
        self.filter_of(&self.view).await
    }

    /// Returns the filter for the content of a revision of the same space.
    async fn filter_of(&self, view: &View) -> Result<ContentFilter> {
        Ok(self.reader.content_filter(view).await?.sharing(&self.uses))
    }

    /// Finds a reusable content block visible to the reader.
    async fn reusable(&self, filter: &ContentFilter, id: &ReusableId) -> Result<ReusableEntry> {
        let missing = || Error::not_found("reusable content");
        let entry = self.view.reusable(id).await?.ok_or_else(missing)?;
        if filter.sees(LinkTarget::Reusable(id.clone())).await? { Ok(entry) } else { Err(missing()) }
    }
}

impl<'p> ContentHandle<'p> {
    /// Reads a revision: the current one of a space, the latest of a change request, or one by id.
    ///
    /// # Errors
    /// `NotFound`.
    #[boxed]
    pub async fn get(self, shown: ContentOptions) -> Result<Revision> {
        Ok(self.get_with_tag(shown).await?.revision)
    }

    /// Reads a revision like [`get`](Self::get), with its ETag for the [precondition](Platform::with_precondition) of
    /// an edit. The ETag changes with the content and with the specifications from which its pages are computed.
    ///
    /// # Errors
    /// `NotFound`.
    #[boxed]
    pub async fn get_with_tag(self, shown: ContentOptions) -> Result<TaggedRevision> {
        Ok(self.get_in_turn(shown, &UnlimitedMemory).await?.0)
    }

    /// Returns the JSON of [`get_with_tag`](Self::get_with_tag), with its ETag. Few large revisions are in memory at
    /// the same time. Before a large one is built, memory is reserved.
    ///
    /// # Errors
    /// `NotFound`; `Unavailable` without free memory.
    #[boxed]
    pub async fn get_json(
        self,
        shown: ContentOptions,
        memory: &'p dyn AnswerMemory,
    ) -> Result<(JsonAnswer, Option<EntityTag>)> {
        let (TaggedRevision { revision, tag }, turn) = self.get_in_turn(shown, memory).await?;
        Ok((JsonAnswer::offload_in_turn(revision, turn).await?, tag))
    }

    /// Reads a revision, with the permit to hold a large one in memory.
    async fn get_in_turn(
        self,
        shown: ContentOptions,
        memory: &dyn AnswerMemory,
    ) -> Result<(TaggedRevision, Option<WorkPermit>)> {
        let (platform, actor) = (self.caller.platform, &self.caller.actor());
        let of = &self.of.to_content_version();
        let tx = platform.read().await?;
        let at = platform.locate_read(&tx, actor, of).await?;
        let record = revisions::find(&tx, &of.space, &at.revision).await?;
        let frame = match &at.placement {
            None => platform.bare_revision(&tx, actor, at.space(), &record).await?,
            Some(placement) => platform.visitor_revision(at.space(), &record, placement),
        };
        // Objects may be read through the transaction's connections, so close it first.
        drop(tx);
        let filter = at.content_filter().await?;
        let tree = at.view.tree().await?;
        let files = usize::try_from(at.view.counts().await?.files).unwrap_or(usize::MAX);
        let size =
            AnswerSize::from_pages(&tree, shown.variables).with_items(files).with_files(files, &at.bearer)?;
        let turn = platform.answer_turn(at.space(), size, memory).await?;
        // The ETag is computed before the pages, so it may be older than the returned content but never newer.
        let tag = match &at.placement {
            None => Some(platform.member_revision_tag(actor, at.space(), &frame, &tree).await?),
            Some(_) => None,
        };
        let variables = at.view.variables().await?;
        filter.prepare().await?;
        let reusable = at.view.reusables(None, usize::MAX).await?;
        let reusable = filter_visible(&filter, reusable, LinkTarget::Reusable).await?;
        let files = at.view.files(None, usize::MAX).await?;
        let files = filter_visible(&filter, files, LinkTarget::File).await?;
        let revision = Revision {
            pages: platform.tree_view(&at, &tree, &filter, shown).await?,
            files: platform.file_views(&at, files, shown).await?,
            reusable_contents: reusable
                .into_iter()
                .map(|(id, entry)| platform.reusable_view(at.space(), id, entry, shown))
                .collect::<Result<_>>()?,
            variables: (!variables.is_empty())
                .then(|| variables.into_iter().map(|(name, of)| (name, of.value.to_string())).collect()),
            git: frame.git.filter(|_| shown.git),
            ..frame
        };
        Ok((TaggedRevision { revision, tag }, turn))
    }

    /// Lists all pages as a tree, without their content.
    ///
    /// # Errors
    /// `NotFound`.
    #[boxed]
    pub async fn list_pages(self, shown: ContentOptions) -> Result<Pages> {
        let (platform, actor) = (self.caller.platform, &self.caller.actor());
        let of = &self.of.to_content_version();
        let at = platform.locate_content(actor, of).await?;
        let tree = at.view.tree().await?;
        let filter = at.content_filter().await?;
        Ok(Pages { pages: platform.tree_view(&at, &tree, &filter, shown).await? })
    }

    /// Lists the files. A cursor is bound to the revision of its first page of results.
    ///
    /// # Errors
    /// `NotFound`; `Invalid` for an invalid cursor or limit.
    #[boxed]
    pub async fn list_files(
        self,
        shown: ContentOptions,
        page: &'p PageRequest,
    ) -> Result<Page<RevisionFile>> {
        let (platform, actor) = (self.caller.platform, &self.caller.actor());
        let of = &self.of.to_content_version();
        let tx = platform.read().await?;
        let at = platform.locate_read(&tx, actor, of).await?;
        let limit = checked_limit(page)?;
        let fingerprint = of.identify(ListIdentity::new(tag::FILES)).fingerprint();
        let (revision, view, after) = match &page.page {
            None => (at.revision.clone(), at.view.clone(), None),
            Some(token) => {
                let position = open_cursor(token, fingerprint)?;
                let (revision, after) = position.split_once('!').ok_or_else(wrong_cursor)?;
                let revision: RevisionId = revision.parse().map_err(|_| wrong_cursor())?;
                let after: FileId = after.parse().map_err(|_| wrong_cursor())?;
                // A cursor can only reference revisions of this space, even if it is forged.
                let record: Option<Arc<RevisionRecord>> =
                    tx.get(&RevisionRecord::key_for(&of.space, &revision)).await?;
                let root = record.ok_or_else(wrong_cursor)?.root;
                if at.placement.is_some() && revision != at.revision {
                    let why = "the content has changed since the first page; start again from the first \
                                   page";
                    return Err(Error::invalid("page", why));
                }
                (revision, platform.content().view(&at.space().domain, root), Some(after))
            }
        };
        drop(tx);
        let filter = at.filter_of(&view).await?;
        let found = files_after(&filter, after, limit + 1).await;
        let mut found = found.map_err(|error| match error.kind() {
            ErrorKind::NotFound if page.page.is_some() => Error::invalid(
                "page",
                "the revision of this cursor no longer exists; start again from \
                                            the first page",
            ),
            _ => error,
        })?;
        let more = found.len() > limit;
        found.truncate(limit);
        let next = found
            .last()
            .filter(|_| more)
            .map(|(last, _)| seal_cursor(&format!("{revision}!{last}"), fingerprint));
        // The number of visible files is unknown until all have been filtered.
        let count = match filter.hides() {
            true => None,
            false => Some(view.counts().await?.files),
        };
        let size = AnswerSize::from_items(found.len()).with_files(found.len(), &at.bearer)?;
        let _turn = platform.answer_turn(at.space(), size, &UnlimitedMemory).await?;
        let items = platform.file_views(&at, found, shown).await?;
        Ok(Page { items, next, count })
    }

    /// Reads the metadata of a file.
    ///
    /// # Errors
    /// `NotFound`.
    #[boxed]
    pub async fn get_file(self, file: &'p FileId, shown: ContentOptions) -> Result<RevisionFile> {
        let (platform, actor) = (self.caller.platform, &self.caller.actor());
        let of = &self.of.to_content_version();
        let at = platform.locate_content(actor, of).await?;
        let missing = || Error::not_found("file");
        let entry = at.view.file(file).await?.ok_or_else(missing)?;
        if !at.content_filter().await?.sees(LinkTarget::File(file.clone())).await? {
            return Err(missing());
        }
        platform.file_view(at.space(), &at.bearer, file.clone(), entry, shown)
    }

    /// Reads a reusable content block.
    ///
    /// # Errors
    /// `NotFound`.
    #[boxed]
    pub async fn get_reusable_content(
        self,
        reusable: &'p ReusableId,
        shown: ContentOptions,
    ) -> Result<ReusableContent> {
        let (platform, actor) = (self.caller.platform, &self.caller.actor());
        let of = &self.of.to_content_version();
        let at = platform.locate_content(actor, of).await?;
        let entry = at.reusable(&at.content_filter().await?, reusable).await?;
        platform.reusable_view(at.space(), reusable.clone(), entry, shown)
    }
}

impl Platform {
    /// Finds the content that a member's request refers to.
    pub(in crate::platform) async fn locate(
        &self,
        tx: &Tx,
        actor: &Actor,
        of: &ContentVersion,
    ) -> Result<ReadableRevision> {
        let access = access::space(tx, actor, &of.space).await?;
        self.locate_in(tx, access, Bearer::for_member(actor)?, of).await
    }

    /// Finds the content that a request of a member or site visitor refers to.
    async fn locate_read(&self, tx: &Tx, actor: &Actor, of: &ContentVersion) -> Result<ReadableRevision> {
        let visitor = match Visitor::from_actor(actor, None) {
            Some(visitor) => visitor,
            None => match access::space(tx, actor, &of.space).await {
                Ok(access) => return self.locate_in(tx, access, Bearer::for_member(actor)?, of).await,
                Err(error) if error.kind() == ErrorKind::NotFound => Visitor::non_member(None),
                Err(error) => return Err(error),
            },
        };
        let admitted = self.admit(tx, &visitor, &of.space).await?;
        let head = &admitted.access.space().head;
        let is_live = match &of.version {
            Version::Live => true,
            Version::Request(_) => false,
            Version::Revision(id) => id == head,
        };
        match &visitor.preview {
            _ if is_live => self.locate_for_visitor(&visitor, admitted),
            Some(_) => {
                let (revision, root) = find_version(tx, admitted.access.space(), of).await?;
                let at = self.locate_for_visitor(&visitor, admitted)?;
                let view = self.content().view(&at.space().domain, root);
                Ok(ReadableRevision { revision, view, ..at })
            }
            // Earlier published revisions may have been withdrawn on purpose.
            None => Err(Error::not_found("revision")),
        }
    }

    /// Returns the live content of a space for a visitor with access to it.
    pub(in crate::platform) fn locate_for_visitor(
        &self,
        visitor: &Visitor,
        admitted: SpaceAdmission,
    ) -> Result<ReadableRevision> {
        let SpaceAdmission { access, claims, placement } = admitted;
        let bearer = match &visitor.preview {
            // Change requests and former revisions contain files that the live content does not.
            Some(preview) => {
                let member = preview.actor(&placement.site.organization, self.urls())?;
                Bearer::for_preview(visitor, &member)?
            }
            None => Bearer::Visitor(VisitorBearer::new(visitor, &placement.site.id, &claims, self.now())),
        };
        let space = access.space();
        Ok(ReadableRevision {
            revision: space.head.clone(),
            view: self.content().view(&space.domain, space.root),
            reader: ContentReader::Visitor(claims),
            uses: self.inner.memory.get_or_default(),
            placement: Some(placement),
            bearer,
            access,
        })
    }

    async fn locate_in(
        &self,
        tx: &Tx,
        access: SpaceAccess,
        bearer: Bearer,
        of: &ContentVersion,
    ) -> Result<ReadableRevision> {
        let space = access.space();
        let (revision, root) = find_version(tx, space, of).await?;
        let view = self.content().view(&space.domain, root);
        Ok(ReadableRevision {
            access,
            revision,
            view,
            reader: ContentReader::Member,
            uses: self.inner.memory.get_or_default(),
            placement: None,
            bearer,
        })
    }

    /// Finds content in its own snapshot. The snapshot is closed before objects are read, because they may use the same
    /// connections.
    async fn locate_content(&self, actor: &Actor, of: &ContentVersion) -> Result<ReadableRevision> {
        let tx = self.read().await?;
        self.locate_read(&tx, actor, of).await
    }
}

/// Returns the revision and the root of a version of a space.
async fn find_version(tx: &Tx, space: &SpaceRecord, of: &ContentVersion) -> Result<(RevisionId, Hash)> {
    Ok(match &of.version {
        Version::Live => (space.head.clone(), space.root),
        Version::Request(name) => {
            let request = change_requests::find(tx, &of.space, name).await?;
            (request.head.clone(), request.root)
        }
        Version::Revision(id) => (id.clone(), revisions::find(tx, &of.space, id).await?.root),
    })
}

/// A revision with its ETag.
#[derive(Clone, Debug, PartialEq)]
pub struct TaggedRevision {
    pub revision: Revision,
    /// `None` for visitors, whose responses depend on more than the revision.
    pub tag: Option<EntityTag>,
}

/// Retains the items visible to the reader.
async fn filter_visible<Id: Clone, T>(
    filter: &ContentFilter,
    things: Vec<(Id, T)>,
    target: fn(Id) -> LinkTarget,
) -> Result<Vec<(Id, T)>> {
    let mut seen = Vec::with_capacity(things.len());
    for (id, thing) in things {
        if filter.sees(target(id.clone())).await? {
            seen.push((id, thing));
        }
    }
    Ok(seen)
}

/// Number of files read per batch when some may be hidden.
const FILE_BATCH: usize = 200;

/// Returns up to `most` files after `after` that are visible to the reader.
async fn files_after(
    filter: &ContentFilter,
    mut after: Option<FileId>,
    most: usize,
) -> Result<Vec<(FileId, FileEntry)>> {
    // A visitor may see few of them, so read larger batches.
    let chunk = if filter.hides() { most.max(FILE_BATCH) } else { most };
    let mut files = Vec::new();
    loop {
        let found = filter.view().files(after.as_ref(), chunk).await?;
        let is_last = found.len() < chunk;
        after = found.last().map(|(id, _)| id.clone());
        files.extend(filter_visible(filter, found, LinkTarget::File).await?);
        if is_last || files.len() >= most {
            files.truncate(most);
            return Ok(files);
        }
    }
}
