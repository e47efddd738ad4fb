//! What changed: a revision against the one before it, a change request against what it is based on.

use std::sync::Arc;

use super::{ContentOf, Version};
use crate::{
    BoxFuture, Error, Result,
    content::{self, Content, ContentChange, FileEntry, PageEntry, PageKind, ReusableEntry, View},
    model::{
        Changed, ChangedFile, ChangedPage, ChangedReusableContent, FileAttributes, FileId, PageAttributes,
        PageId, ReusableContentAttributes, ReusableId, RevisionSemanticChanges, SemanticChange, SpaceId,
        Variables,
    },
    platform::{Actor, Platform, access, change_requests},
    policy::SpaceAccess,
    store::{
        Hash, PageRequest, Tx, checked_limit,
        records::{ChangeRequestRecord, RevisionKind, RevisionRecord},
    },
};

/// How many changes are shown unless the caller says otherwise.
const DEFAULT_LIMIT: u32 = 10;

/// Two roots to compare.
struct Compared {
    access: SpaceAccess,
    before: Hash,
    after: Hash,
    merged: Option<Arc<ChangeRequestRecord>>,
}

impl Platform {
    /// What changed in a revision against its first parent, or in a change request against the revision it is based
    /// on. Costs what changed.
    ///
    /// The first parent of a merge is what the space had, that of an update what the request had. A revision without
    /// parents, such as the first of a copied space, is compared with empty content. `limit` is 10 when absent.
    ///
    /// # Errors
    /// `NotFound`; `Invalid` for a wrong limit.
    pub fn list_changes<'a>(
        &'a self,
        actor: &'a Actor,
        of: &'a ContentOf,
        limit: Option<u32>,
    ) -> BoxFuture<'a, Result<RevisionSemanticChanges>> {
        Box::pin(async move {
            let limit =
                checked_limit(&PageRequest { page: None, limit: Some(limit.unwrap_or(DEFAULT_LIMIT)) })?;
            let tx = self.read().await?;
            let compared = self.compared(&tx, actor, of).await?;
            let merged_from = match &compared.merged {
                None => None,
                Some(request) => {
                    let space = compared.access.space();
                    self.request_views(&tx, space, std::slice::from_ref(request)).await?.pop().map(Box::new)
                }
            };
            drop(tx);
            let space = compared.access.space();
            let found = self.content().diff(&space.domain, compared.before, compared.after).await?;
            let change = Shower {
                platform: self,
                space: &space.id,
                before: self.content().view(&space.domain, compared.before),
                after: self.content().view(&space.domain, compared.after),
            };
            let (mut changes, mut more) = (Vec::new(), 0);
            for found in found {
                if changes.len() < limit {
                    changes.extend(change.shown(found).await?);
                } else if change.is_shown(&found)? {
                    more += 1;
                }
            }
            Ok(RevisionSemanticChanges { merged_from, changes, more: (more > 0).then_some(more) })
        })
    }

    async fn compared(&self, tx: &Tx, actor: &Actor, of: &ContentOf) -> Result<Compared> {
        let access = access::space(tx, actor, &of.space).await?;
        let revision = match &of.version {
            Version::Request(name) => {
                let request = change_requests::find(tx, &of.space, name).await?;
                return Ok(Compared { access, before: request.base_root, after: request.root, merged: None });
            }
            Version::Live => access.space().head.clone(),
            Version::Revision(id) => id.clone(),
        };
        let find = async |id| -> Result<Arc<RevisionRecord>> {
            let found: Option<Arc<RevisionRecord>> = tx.get(&RevisionRecord::at(&of.space, id)).await?;
            found.ok_or_else(|| Error::not_found("revision"))
        };
        let record = find(&revision).await?;
        let before = match record.parents.first() {
            Some(parent) => find(parent).await?.root,
            None => Content::nothing(),
        };
        let merged = match &record.kind {
            RevisionKind::Merge(id) => tx.get(&ChangeRequestRecord::at(id)).await?,
            RevisionKind::Edits | RevisionKind::Update => None,
        };
        Ok(Compared { access, before, after: record.root, merged })
    }
}

/// Shows the changes of one comparison.
struct Shower<'a> {
    platform: &'a Platform,
    space: &'a SpaceId,
    before: View,
    after: View,
}

impl Shower<'_> {
    /// A change as clients know it; nothing when only what is never shown has changed, such as unknown front matter.
    async fn shown(&self, change: ContentChange) -> Result<Option<SemanticChange>> {
        Ok(Some(match change {
            ContentChange::PageCreated(page) => SemanticChange::PageCreated { page: page_of(page) },
            ContentChange::PageDeleted(page) => SemanticChange::PageDeleted { page: page_of(page) },
            ContentChange::PageEdited { page, before, .. } => {
                let attributes = self.page_attributes(&before, &page.entry)?;
                if attributes == PageAttributes::default() {
                    return Ok(None);
                }
                SemanticChange::PageEdited { page: page_of(page), attributes: Box::new(attributes) }
            }
            ContentChange::PageMoved { page, before, after } => {
                let before = parent(&self.before, before).await?;
                let after = parent(&self.after, after).await?;
                SemanticChange::PageMoved { page: page_of(page), parent: Changed { before, after } }
            }
            ContentChange::FileCreated(id, file) => {
                SemanticChange::FileCreated { file: self.file(id, &file)? }
            }
            ContentChange::FileDeleted(id, file) => {
                SemanticChange::FileDeleted { file: self.file(id, &file)? }
            }
            ContentChange::FileEdited { id, before, after, .. } => {
                let attributes = self.file_attributes(&before, &after)?;
                if attributes == FileAttributes::default() {
                    return Ok(None);
                }
                let file = self.file(id, &after)?;
                SemanticChange::FileEdited { file, attributes: Box::new(attributes) }
            }
            ContentChange::ReusableCreated(id, entry) => {
                SemanticChange::ReusableContentCreated { reusable_content: self.reusable(id, &entry)? }
            }
            ContentChange::ReusableDeleted(id, entry) => {
                SemanticChange::ReusableContentDeleted { reusable_content: self.reusable(id, &entry)? }
            }
            ContentChange::ReusableEdited { id, before, after, .. } => {
                let attributes = self.reusable_attributes(&before, &after)?;
                if attributes == ReusableContentAttributes::default() {
                    return Ok(None);
                }
                let reusable_content = self.reusable(id, &after)?;
                SemanticChange::ReusableContentEdited { reusable_content, attributes }
            }
            ContentChange::VariablesEdited(variables) => SemanticChange::VariablesEdited {
                variables: variables
                    .into_iter()
                    .map(|(name, (before, after))| (name, Changed { before, after }))
                    .collect(),
            },
        }))
    }

    /// Tells whether a change is shown at all.
    fn is_shown(&self, change: &ContentChange) -> Result<bool> {
        Ok(match change {
            ContentChange::PageEdited { page, before, .. } => {
                self.page_attributes(before, &page.entry)? != PageAttributes::default()
            }
            ContentChange::FileEdited { before, after, .. } => {
                self.file_attributes(before, after)? != FileAttributes::default()
            }
            ContentChange::ReusableEdited { before, after, .. } => {
                self.reusable_attributes(before, after)? != ReusableContentAttributes::default()
            }
            _ => true,
        })
    }

    fn page_attributes(&self, before: &PageEntry, after: &PageEntry) -> Result<PageAttributes> {
        let slug = |entry: &PageEntry| (!entry.slug.is_empty()).then(|| entry.slug.clone());
        let layout =
            |entry: &PageEntry| (entry.kind == PageKind::Document).then(|| entry.layout.unwrap_or_default());
        let variables =
            |entry: &PageEntry| Some(entry.variables.clone()).filter(|some: &Variables| !some.is_empty());
        let document = |entry: &PageEntry| self.platform.document_id(self.space, &entry.body);
        Ok(PageAttributes {
            kind: Changed::between(Some(before.kind.into()), Some(after.kind.into())),
            title: Changed::between(Some(before.title.clone()), Some(after.title.clone())),
            description: Changed::between(before.description.clone(), after.description.clone()),
            slug: Changed::between(slug(before), slug(after)),
            document: if before.body == after.body {
                None
            } else {
                Changed::between(document(before)?, document(after)?)
            },
            cover: Changed::between(before.cover.clone(), after.cover.clone()),
            emoji: Changed::between(before.emoji.clone(), after.emoji.clone()),
            icon: Changed::between(before.icon.clone(), after.icon.clone()),
            layout: Changed::between(layout(before), layout(after)),
            variables: Changed::between(variables(before), variables(after)),
            target: Changed::between(before.target.clone(), after.target.clone()),
            hidden: Changed::between(Some(before.hidden), Some(after.hidden)),
            no_index: Changed::between(Some(before.no_index), Some(after.no_index)),
            no_robots_index: Changed::between(Some(before.no_robots_index), Some(after.no_robots_index)),
            condition: Changed::between(before.condition.clone(), after.condition.clone()),
            computed: Changed::between(before.computed.clone(), after.computed.clone()),
        })
    }

    fn file_attributes(&self, before: &FileEntry, after: &FileEntry) -> Result<FileAttributes> {
        let url = |file: &FileEntry| self.platform.file_url(self.space, file);
        Ok(FileAttributes {
            name: Changed::between(Some(before.name.clone()), Some(after.name.clone())),
            // A new name alone shows in the address too, but the bytes are the same.
            download_url: if before.blob == after.blob {
                None
            } else {
                Changed::between(Some(url(before)?), Some(url(after)?))
            },
            size: Changed::between(Some(before.size), Some(after.size)),
            content_type: Changed::between(
                Some(before.content_type.clone()),
                Some(after.content_type.clone()),
            ),
            dimensions: Changed::between(before.dimensions, after.dimensions),
        })
    }

    fn reusable_attributes(
        &self,
        before: &ReusableEntry,
        after: &ReusableEntry,
    ) -> Result<ReusableContentAttributes> {
        let document = |entry: &ReusableEntry| self.platform.document_id(self.space, &entry.body);
        Ok(ReusableContentAttributes {
            title: Changed::between(Some(before.title.clone()), Some(after.title.clone())),
            document: Changed::between(document(before)?, document(after)?),
            computed: Changed::between(before.computed.clone(), after.computed.clone()),
        })
    }

    fn file(&self, id: FileId, file: &FileEntry) -> Result<ChangedFile> {
        Ok(ChangedFile {
            id,
            name: file.name.clone(),
            content_type: file.content_type.clone(),
            download_url: self.platform.file_url(self.space, file)?,
        })
    }

    fn reusable(&self, id: ReusableId, entry: &ReusableEntry) -> Result<ChangedReusableContent> {
        let document = self.platform.document_id(self.space, &entry.body)?;
        Ok(ChangedReusableContent { id, title: entry.title.clone(), document })
    }
}

fn page_of(page: content::ChangedPage) -> ChangedPage {
    ChangedPage { id: page.id, kind: page.entry.kind.into(), title: page.entry.title, path: page.path }
}

/// The page that another stands below, as a revision has it.
async fn parent(view: &View, id: Option<PageId>) -> Result<Option<ChangedPage>> {
    let Some(id) = id else { return Ok(None) };
    let path = view.path_of(&id).await?;
    let found = view.page(&id).await?;
    Ok(found.map(|entry| ChangedPage { id, kind: entry.kind.into(), title: entry.title, path }))
}
