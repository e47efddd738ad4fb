//! Semantic changes: a revision compared with its parent, or a change request compared with its base.

use std::sync::Arc;

use docs_macros::boxed;

use crate::{
    Result,
    content::{
        self, Content, FileEntry, PageEntry, ReusableEntry, RevisionChange, RevisionDiff, View,
        yield_to_others,
    },
    model::{
        Changed, ChangedFile, ChangedPage, ChangedReusableContent, FileAttributes, FileId, JsonText,
        PageAttributes, PageId, ReusableContentAttributes, ReusableId, RevisionSemanticChanges,
        SemanticChange, SpaceId,
    },
    platform::{
        access,
        content::{change_requests, files::Bearer, revisions},
        kernel::{
            actor::Actor,
            content_version::{ContentVersion, Version},
            emoji::emoji_code,
            platform::Platform,
        },
        nouns::ContentHandle,
    },
    policy::SpaceAccess,
    store::{
        Hash, PageRequest, Tx, checked_limit,
        records::{ChangeRequestRecord, RevisionKind},
    },
};

/// Default number of changes returned.
const DEFAULT_CHANGES: u32 = 10;
/// Number of changes counted before other tasks run.
const COUNTED_AT_ONCE: u64 = 64;

/// Two content roots to compare.
struct Comparison {
    access: SpaceAccess,
    before: Hash,
    after: Hash,
    merged: Option<Arc<ChangeRequestRecord>>,
}

impl<'p> ContentHandle<'p> {
    /// Lists the changes of a revision relative to its first parent, or of a change request relative to its base
    /// revision. Changes beyond the limit are only counted.
    ///
    /// The first parent of a merge is the previous revision of the space; that of an update is the previous revision of
    /// the request. A revision without parents, such as the first of a copied space, is compared with empty content.
    ///
    /// # Errors
    /// `NotFound`; `Invalid` for a limit out of range.
    #[boxed]
    pub async fn list_changes(self, limit: Option<u32>) -> Result<RevisionSemanticChanges> {
        let (platform, actor) = (self.caller.platform, &self.caller.actor());
        let of = &self.of.to_content_version();
        let limit =
            checked_limit(&PageRequest { page: None, limit: Some(limit.unwrap_or(DEFAULT_CHANGES)) })?;
        let tx = platform.read().await?;
        let reader = platform.reader_of_history(&tx, actor, &of.space).await?;
        let bearer = match actor {
            Actor::Visitor(visitor) => Bearer::for_preview(visitor, &reader)?,
            _ => Bearer::for_member(&reader)?,
        };
        let is_preview = reader != *actor;
        let actor = &reader;
        let compared = platform.read_comparison(&tx, actor, of).await?;
        let merged_from = match &compared.merged {
            None => None,
            Some(request) => {
                let space = compared.access.space();
                platform
                    .request_views(&tx, actor, space, std::slice::from_ref(request))
                    .await?
                    .pop()
                    .map(|request| Box::new(if is_preview { request.without_email() } else { request }))
            }
        };
        drop(tx);
        let space = compared.access.space();
        let mut found = platform.content().diff(&space.domain, compared.before, compared.after).await?;
        let change = ChangePresenter {
            platform,
            space: &space.id,
            bearer,
            before: platform.content().view(&space.domain, compared.before),
            after: platform.content().view(&space.domain, compared.after),
        };
        let mut changes = Vec::new();
        while changes.len() < limit {
            let Some(next) = found.next() else { break };
            changes.extend(change.present(next?).await?);
            yield_to_others().await;
        }
        let more = change.count_shown(found).await?;
        Ok(RevisionSemanticChanges { merged_from, changes, more: (more > 0).then_some(more) })
    }
}

impl Platform {
    async fn read_comparison(&self, tx: &Tx, actor: &Actor, of: &ContentVersion) -> Result<Comparison> {
        let access = access::space(tx, actor, &of.space).await?;
        let revision = match &of.version {
            Version::Request(name) => {
                let request = change_requests::find(tx, &of.space, name).await?;
                return Ok(Comparison {
                    access,
                    before: request.base_root,
                    after: request.root,
                    merged: None,
                });
            }
            Version::Live => access.space().head.clone(),
            Version::Revision(id) => id.clone(),
        };
        let find = async |id| revisions::find(tx, &of.space, id).await;
        let record = find(&revision).await?;
        let before = match record.parents.first() {
            Some(parent) => find(parent).await?.root,
            None => Content::empty_hash(),
        };
        let merged = match &record.kind {
            RevisionKind::Merge(id) => tx.get(&ChangeRequestRecord::key_for(id)).await?,
            RevisionKind::Edits
            | RevisionKind::Update
            | RevisionKind::Rollback(_)
            | RevisionKind::Computed => None,
        };
        Ok(Comparison { access, before, after: record.root, merged })
    }
}

/// Converts the changes of one comparison to their API form.
struct ChangePresenter<'a> {
    platform: &'a Platform,
    space: &'a SpaceId,
    bearer: Bearer,
    before: View,
    after: View,
}

impl ChangePresenter<'_> {
    /// Converts a change to its API form. Returns `None` if only hidden data has changed, such as unknown front matter.
    async fn present(&self, change: RevisionChange) -> Result<Option<SemanticChange>> {
        Ok(Some(match change {
            RevisionChange::PageCreated(page) => SemanticChange::PageCreated { page: to_changed_page(page) },
            RevisionChange::PageDeleted(page) => SemanticChange::PageDeleted { page: to_changed_page(page) },
            RevisionChange::PageEdited { page, before, .. } => {
                let attributes = self.page_attributes(&before, &page.entry)?;
                if attributes == PageAttributes::default() {
                    return Ok(None);
                }
                SemanticChange::PageEdited { page: to_changed_page(page), attributes: Box::new(attributes) }
            }
            RevisionChange::PageMoved { page, before, after } => {
                let before = parent(&self.before, before).await?;
                let after = parent(&self.after, after).await?;
                SemanticChange::PageMoved { page: to_changed_page(page), parent: Changed { before, after } }
            }
            RevisionChange::FileCreated(id, file) => {
                SemanticChange::FileCreated { file: self.file(id, &file)? }
            }
            RevisionChange::FileDeleted(id, file) => {
                SemanticChange::FileDeleted { file: self.file(id, &file)? }
            }
            RevisionChange::FileEdited { id, before, after, .. } => {
                let attributes = self.file_attributes(&before, &after)?;
                if attributes == FileAttributes::default() {
                    return Ok(None);
                }
                let file = self.file(id, &after)?;
                SemanticChange::FileEdited { file, attributes: Box::new(attributes) }
            }
            RevisionChange::ReusableCreated(id, entry) => {
                SemanticChange::ReusableContentCreated { reusable_content: self.reusable(id, &entry)? }
            }
            RevisionChange::ReusableDeleted(id, entry) => {
                SemanticChange::ReusableContentDeleted { reusable_content: self.reusable(id, &entry)? }
            }
            RevisionChange::ReusableEdited { id, before, after, .. } => {
                let attributes = self.reusable_attributes(&before, &after)?;
                if attributes == ReusableContentAttributes::default() {
                    return Ok(None);
                }
                let reusable_content = self.reusable(id, &after)?;
                SemanticChange::ReusableContentEdited { reusable_content, attributes }
            }
            RevisionChange::VariablesEdited(variables) => SemanticChange::VariablesEdited {
                variables: variables
                    .into_iter()
                    .map(|(name, (before, after))| (name, Changed { before, after }))
                    .collect(),
            },
        }))
    }

    /// Returns the number of the changes that are visible in the API.
    async fn count_shown(&self, mut changes: RevisionDiff) -> Result<u64> {
        let mut shown = 0;
        for visited in 1_u64.. {
            if changes.skip_created_or_deleted() {
                shown += 1;
            } else {
                let Some(next) = changes.next() else { break };
                shown += u64::from(self.is_shown(&next?)?);
            }
            if visited.is_multiple_of(COUNTED_AT_ONCE) {
                yield_to_others().await;
            }
        }
        Ok(shown)
    }

    /// Returns `true` if the change is visible in the API.
    fn is_shown(&self, change: &RevisionChange) -> Result<bool> {
        Ok(match change {
            RevisionChange::PageEdited { page, before, .. } => {
                self.page_attributes(before, &page.entry)? != PageAttributes::default()
            }
            RevisionChange::FileEdited { before, after, .. } => {
                self.file_attributes(before, after)? != FileAttributes::default()
            }
            RevisionChange::ReusableEdited { before, after, .. } => {
                self.reusable_attributes(before, after)? != ReusableContentAttributes::default()
            }
            _ => true,
        })
    }

    fn page_attributes(&self, before: &PageEntry, after: &PageEntry) -> Result<PageAttributes> {
        let document =
            |entry: &PageEntry| self.platform.document_id(self.space, &entry.body, entry.expansions);
        let changed = if before.body == after.body && before.expansions == after.expansions {
            None
        } else {
            Changed::from_values(document(before)?, document(after)?)
        };
        let emoji =
            |entry: &PageEntry| entry.emoji.as_deref().and_then(emoji_code).map(|code| code.to_string());
        let emoji = Changed::from_values(emoji(before), emoji(after));
        Ok(PageAttributes { document: changed, emoji, ..before.changes(after) })
    }

    fn file_attributes(&self, before: &FileEntry, after: &FileEntry) -> Result<FileAttributes> {
        let url = |file: &FileEntry| self.platform.file_url(self.space, file, &self.bearer);
        Ok(FileAttributes {
            name: Changed::from_values(Some(before.name.clone()), Some(after.name.clone())),
            // A rename also changes the URL, but not the bytes.
            download_url: if before.blob == after.blob {
                None
            } else {
                Changed::from_values(Some(url(before)?), Some(url(after)?))
            },
            size: Changed::from_values(Some(before.size), Some(after.size)),
            content_type: Changed::from_values(
                Some(before.content_type.clone()),
                Some(after.content_type.clone()),
            ),
            dimensions: Changed::from_values(before.dimensions, after.dimensions),
        })
    }

    fn reusable_attributes(
        &self,
        before: &ReusableEntry,
        after: &ReusableEntry,
    ) -> Result<ReusableContentAttributes> {
        let document = |entry: &ReusableEntry| self.platform.document_id(self.space, &entry.body, None);
        Ok(ReusableContentAttributes {
            title: Changed::from_values(Some(before.title.clone()), Some(after.title.clone())),
            document: Changed::from_values(document(before)?, document(after)?),
            computed: Changed::from_values(
                before.computed.as_ref().map(JsonText::value),
                after.computed.as_ref().map(JsonText::value),
            ),
        })
    }

    fn file(&self, id: FileId, file: &FileEntry) -> Result<ChangedFile> {
        Ok(ChangedFile {
            id,
            name: file.name.clone(),
            content_type: file.content_type.clone(),
            download_url: self.platform.file_url(self.space, file, &self.bearer)?,
        })
    }

    fn reusable(&self, id: ReusableId, entry: &ReusableEntry) -> Result<ChangedReusableContent> {
        let document = self.platform.document_id(self.space, &entry.body, None)?;
        Ok(ChangedReusableContent { id, title: entry.title.clone(), document })
    }
}

fn to_changed_page(page: content::ChangedPage) -> ChangedPage {
    ChangedPage { id: page.id, kind: page.entry.kind.into(), title: page.entry.title, path: page.path }
}

/// Returns a parent page as of one revision.
async fn parent(view: &View, id: Option<PageId>) -> Result<Option<ChangedPage>> {
    let Some(id) = id else { return Ok(None) };
    let path = view.path_of(&id).await?;
    let found = view.page(&id).await?;
    Ok(found.map(|entry| ChangedPage { id, kind: entry.kind.into(), title: entry.title, path }))
}
