//! The API form of content: pages, files and reusable content blocks.

use std::sync::Arc;

use serde_json::Value;

use super::{ContentOptions, ReadableRevision};
use crate::{
    Error, Result,
    content::{FileEntry, PageEntry, PageKind, ReusableEntry, clash_field, gitsync, yield_after_each},
    model::{
        ChangeRequest, ChangeRequestId, ComputedPage, ContentRef, DocumentPage, FileId, GitCommit, GroupPage,
        Icon, JsonText, LinkPage, PageBase, PageConflict, PageId, PageUrls, ReusableContent, ReusableId,
        Revision, RevisionFile, RevisionObject, RevisionPage, RevisionType, RevisionUrls, Timestamp,
    },
    platform::{
        content::{files::Bearer, revisions::computed_type},
        kernel::{actor::Actor, emoji::emoji_code, platform::Platform},
        publishing::placement::Placement,
    },
    store::{
        Tx,
        records::{ChangeRequestRecord, RevisionKind, RevisionRecord, SpaceRecord},
    },
};

/// Number of files after which other tasks run. The URL of a file is encrypted together with the claims of its visitor.
const FILE_YIELD_INTERVAL: usize = 64;

impl Platform {
    /// Builds a revision without its content, for all responses that contain one.
    pub(in crate::platform) async fn bare_revision(
        &self,
        tx: &Tx,
        actor: &Actor,
        space: &SpaceRecord,
        record: &RevisionRecord,
    ) -> Result<Revision> {
        let kind = match &record.kind {
            RevisionKind::Edits => RevisionType::Edits,
            RevisionKind::Update => RevisionType::Update,
            RevisionKind::Computed => computed_type(record),
            RevisionKind::Rollback(to) => RevisionType::Rollback { restored_from: to.clone() },
            RevisionKind::Merge(id) => RevisionType::Merge {
                merged_from: Box::new(self.merged_request(tx, actor, space, id).await?),
            },
        };
        let place = self.placements(tx, &[&space.id], None).await?.pop().flatten();
        Ok(Revision {
            object: RevisionObject::Is,
            id: record.id.clone(),
            parents: record.parents.clone(),
            kind,
            pages: Vec::new(),
            files: Vec::new(),
            reusable_contents: Vec::new(),
            tags: Vec::new(),
            variables: None,
            created_at: record.created_at,
            git: record.git.clone(),
            urls: RevisionUrls {
                app: self.urls().revision(&space.id, &record.id),
                published: place.as_ref().map(|place| place.url.clone()),
                public: place.filter(|p| p.site.visibility == Default::default()).map(|place| place.url),
            },
        })
    }

    /// Builds a revision without its content for a visitor. Its only history is the commit, without message and ref.
    /// Its URL is that of the visited site.
    pub(super) fn visitor_revision(
        &self,
        space: &SpaceRecord,
        record: &RevisionRecord,
        place: &Placement,
    ) -> Revision {
        let is_public = place.site.visibility == Default::default();
        Revision {
            object: RevisionObject::Is,
            id: record.id.clone(),
            parents: Vec::new(),
            kind: RevisionType::Edits,
            pages: Vec::new(),
            files: Vec::new(),
            reusable_contents: Vec::new(),
            tags: Vec::new(),
            variables: None,
            created_at: record.created_at,
            git: record.git.clone().map(|git| GitCommit { message: String::new(), reference: None, ..git }),
            urls: RevisionUrls {
                app: self.urls().revision(&space.id, &record.id),
                published: Some(place.url.clone()),
                public: is_public.then(|| place.url.clone()),
            },
        }
    }

    async fn merged_request(
        &self,
        tx: &Tx,
        actor: &Actor,
        space: &SpaceRecord,
        id: &ChangeRequestId,
    ) -> Result<ChangeRequest> {
        let missing = || Error::not_found("change request");
        let found: Option<Arc<ChangeRequestRecord>> = tx.get(&ChangeRequestRecord::key_for(id)).await?;
        let found = found.ok_or_else(missing)?;
        self.request_views(tx, actor, space, std::slice::from_ref(&found)).await?.pop().ok_or_else(missing)
    }

    pub(in crate::platform) fn page_view(
        &self,
        space: &SpaceRecord,
        id: &PageId,
        entry: &PageEntry,
        path: &str,
        pages: Vec<RevisionPage>,
        shown: ContentOptions,
    ) -> Result<RevisionPage> {
        let base = page_base(id, entry);
        Ok(match entry.kind {
            PageKind::Document => RevisionPage::Document(Box::new(DocumentPage {
                base,
                kind: Default::default(),
                urls: PageUrls { app: self.urls().page(&space.id, path) },
                slug: entry.slug.clone(),
                path: path.to_owned(),
                description: entry.description.clone(),
                markdown: None,
                document: None,
                document_id: self.document_id(&space.id, &entry.body, entry.expansions)?,
                computed: entry.computed.as_ref().map(JsonText::value),
                computed_seed: entry.computed_seed.clone(),
                pages,
                git: entry.git.clone().filter(|_| shown.git),
                layout: entry.layout.unwrap_or_default(),
                cover: entry.cover.clone(),
                variables: (shown.variables && !entry.variables.is_default())
                    .then(|| entry.variables.value()),
                hidden: entry.hidden,
                no_index: entry.no_index,
                no_robots_index: entry.no_robots_index,
                tags: Vec::new(),
            })),
            PageKind::Group => RevisionPage::Group(GroupPage {
                base,
                kind: Default::default(),
                slug: entry.slug.clone(),
                path: path.to_owned(),
                hidden: entry.hidden,
                no_index: entry.no_index,
                no_robots_index: entry.no_robots_index,
                pages,
            }),
            PageKind::Link => {
                let target = entry.target.clone().unwrap_or_else(|| ContentRef::Url { url: String::new() });
                let href = match &target {
                    ContentRef::Url { url } => Some(url.clone()),
                    _ => None,
                };
                RevisionPage::Link(LinkPage {
                    base,
                    kind: Default::default(),
                    target,
                    href,
                    hidden: entry.hidden,
                })
            }
            PageKind::Computed => RevisionPage::Computed(ComputedPage {
                base,
                computed: entry.computed.as_ref().map(JsonText::value).unwrap_or_default(),
            }),
        })
    }

    pub(in crate::platform) fn reusable_view(
        &self,
        space: &SpaceRecord,
        id: ReusableId,
        entry: ReusableEntry,
        shown: ContentOptions,
    ) -> Result<ReusableContent> {
        Ok(ReusableContent {
            id,
            document: self.document_id(&space.id, &entry.body, None)?,
            title: entry.title,
            computed: entry.computed.as_ref().map(JsonText::value),
            computed_seed: entry.computed_seed,
            git: entry.git.filter(|_| shown.git),
        })
    }

    pub(super) async fn file_views(
        &self,
        at: &ReadableRevision,
        files: Vec<(FileId, FileEntry)>,
        shown: ContentOptions,
    ) -> Result<Vec<RevisionFile>> {
        let mut views = Vec::with_capacity(files.len());
        for (id, file) in files {
            views.push(self.file_view(at.space(), &at.bearer, id, file, shown)?);
            yield_after_each(FILE_YIELD_INTERVAL, views.len()).await;
        }
        Ok(views)
    }

    pub(in crate::platform) fn file_view(
        &self,
        space: &SpaceRecord,
        bearer: &Bearer,
        id: FileId,
        file: FileEntry,
        shown: ContentOptions,
    ) -> Result<RevisionFile> {
        Ok(RevisionFile {
            download_url: self.shown_file_url(&space.id, &id, &file, bearer)?,
            id,
            name: file.name,
            content_type: file.content_type,
            size: file.size,
            dimensions: file.dimensions,
            git: file.git.filter(|_| shown.git),
        })
    }
}

/// Returns the fields common to all kinds of pages.
pub(in crate::platform) fn page_base(id: &PageId, entry: &PageEntry) -> PageBase {
    PageBase {
        id: id.clone(),
        title: entry.title.clone(),
        emoji: entry.emoji.as_deref().and_then(emoji_code),
        icon: entry.icon.as_deref().and_then(|icon| Icon::new(icon).ok()),
        created_at: entry.created_at.map(Timestamp::new),
        updated_at: entry.updated_at.map(Timestamp::new),
        conflicts: conflicts(entry),
    }
}

/// Returns the unresolved merge conflicts of a page.
fn conflicts(entry: &PageEntry) -> Vec<PageConflict> {
    let text = entry.body.is_conflict().then(|| PageConflict {
        field: "document".to_owned(),
        current: Value::Null,
        base: Value::Null,
        change_request: Value::Null,
    });
    let fields = entry.clash.value().into_iter().map(|(field, clash)| {
        // Only the parent of a position is shown; the rank is internal.
        let shown = |value: Value| match value {
            Value::Object(mut place) if field == clash_field::POSITION => {
                place.remove("parent").unwrap_or_default()
            }
            value => value,
        };
        PageConflict {
            current: shown(clash.other),
            base: shown(clash.base),
            change_request: shown(clash.request),
            field,
        }
    });
    text.into_iter().chain(fields).collect()
}

/// Returns the text of a page below its title.
pub(super) fn page_file(title: &str, text: &str) -> String {
    format!("{}\n\n{text}", gitsync::title_line(title))
}
