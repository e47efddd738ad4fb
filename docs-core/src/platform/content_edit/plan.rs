//! From the changes of a request to edits of content: ids are drawn once, names are resolved, files are stored.

use bytes::Bytes;
use data_encoding::BASE64;

use super::{
    body,
    links::{self, Names},
    revert,
};
use crate::{
    Error, Result,
    content::{
        ContentError, Edit, FileEntry, NewBody, NewPage, PageKind, PagePatch, Rendering, View,
        check_file_name, expression::Expression, markdown::PageSource,
    },
    model::{
        ContentChange, ContentRef, DocumentInput, FileId, InsertFile, InsertPageChange, PageFields, PageId,
        Patch, Text, UpdatePageChange,
    },
    platform::{
        Platform,
        files::{NewFile, is_media_type},
        page_source::{cover_of, web_reference},
    },
    store::records::{ChangeRequestRecord, SpaceRecord},
};

/// Most bytes of a file that comes within a request.
const MAX_INLINE: usize = 1_000_000;

/// The changes of a request with the ids of what they create.
pub(super) struct Plan {
    changes: Vec<Planned>,
    names: Names,
    /// In the order of the request; the entry is there once the bytes are stored.
    files: Vec<(FileId, Option<FileEntry>)>,
}

struct Planned {
    change: ContentChange,
    /// The id of the page that the change inserts.
    page: Option<PageId>,
}

/// Edits, and which change each of them came from.
pub(super) struct Edits {
    pub(super) list: Vec<Edit>,
    origin: Vec<usize>,
}

impl Edits {
    fn push(&mut self, from: usize, edit: Edit) {
        self.list.push(edit);
        self.origin.push(from);
    }

    /// Names the change that an edit's refusal is about.
    pub(super) fn name(&self, error: ContentError) -> Error {
        match error {
            ContentError::Invalid { index, field, message } => {
                let at = self.origin.get(index).copied().unwrap_or(index);
                Error::invalid(&format!("changes[{at}].{field}"), message)
            }
            other => other.into(),
        }
    }
}

impl Plan {
    /// Draws the ids of new pages and files, and learns their names.
    pub(super) fn new(platform: &Platform, changes: Vec<ContentChange>) -> Result<Self> {
        let mut plan = Self { changes: Vec::new(), names: Names::default(), files: Vec::new() };
        for (at, change) in changes.into_iter().enumerate() {
            let mut page = None;
            match &change {
                ContentChange::InsertPage(insert) => {
                    let id: PageId = platform.id();
                    if let Some(name) = &insert.reference {
                        plan.names
                            .add_page(name, &id)
                            .map_err(|e| Error::invalid(&format!("changes[{at}].ref"), e))?;
                    }
                    page = Some(id);
                }
                ContentChange::InsertFiles(insert) => {
                    for (n, file) in insert.files.iter().enumerate() {
                        let id: FileId = platform.id();
                        check_file_name(&file.name)
                            .map_err(|e| Error::invalid(&format!("changes[{at}].files[{n}].name"), e))?;
                        if let Some(name) = &file.reference {
                            let field = format!("changes[{at}].files[{n}].ref");
                            plan.names.add_file(name, &id).map_err(|e| Error::invalid(&field, e))?;
                        }
                        plan.files.push((id, None));
                    }
                }
                ContentChange::UpdatePage(_)
                | ContentChange::DeletePage(_)
                | ContentChange::RevertPage(_) => {}
            }
            plan.changes.push(Planned { change, page });
        }
        Ok(plan)
    }

    /// The name by which the request calls a page that it inserts.
    pub(super) fn reference_of(&self, page: &PageId) -> Option<String> {
        self.names.of_page(page)
    }

    /// The field in which the request gives a name.
    fn place_of(&self, name: &str) -> String {
        let is_name = |given: &Option<Text<1, 256>>| given.as_deref() == Some(name);
        let within = |change: &ContentChange| match change {
            ContentChange::InsertPage(insert) => is_name(&insert.reference).then(|| "ref".to_owned()),
            ContentChange::InsertFiles(insert) => {
                let at = insert.files.iter().position(|file| is_name(&file.reference));
                at.map(|n| format!("files[{n}].ref"))
            }
            ContentChange::UpdatePage(_) | ContentChange::DeletePage(_) | ContentChange::RevertPage(_) => {
                None
            }
        };
        let places = self.changes.iter().enumerate();
        let found = places
            .filter_map(|(at, planned)| Some(format!("changes[{at}].{}", within(&planned.change)?)))
            .next();
        found.unwrap_or_else(|| "ref".to_owned())
    }

    /// The files that the request inserts.
    pub(super) fn files(&self) -> impl Iterator<Item = &FileId> {
        self.files.iter().map(|(id, _)| id)
    }

    /// Stores the bytes of the request's files; a second time does nothing.
    pub(super) async fn store_files(&mut self, platform: &Platform, domain: &str) -> Result<()> {
        let mut slots = self.files.iter_mut();
        for (at, planned) in self.changes.iter().enumerate() {
            let ContentChange::InsertFiles(insert) = &planned.change else { continue };
            for (n, file) in insert.files.iter().enumerate() {
                let Some((_, slot)) = slots.next() else { continue };
                if slot.is_some() {
                    continue;
                }
                let field = format!("changes[{at}].files[{n}]");
                let (bytes, told) = file_bytes(platform, file, &field).await?;
                let content_type = file.content_type.as_deref().or(told.as_deref());
                let new = NewFile { name: &file.name, content_type, bytes, git: None };
                *slot = Some(platform.store_file(domain, new).await?);
            }
        }
        Ok(())
    }

    /// The edits that the changes come down to, on the content that the request has now.
    pub(super) async fn edits(
        &self,
        platform: &Platform,
        space: &SpaceRecord,
        request: &ChangeRequestRecord,
    ) -> Result<Edits> {
        let view = platform.content().view(&space.domain, request.root);
        if let Some(name) = self.names.clash(&view).await? {
            return Err(Error::invalid(&self.place_of(name), "is the path of a page already"));
        }
        let mut edits = Edits { list: Vec::new(), origin: Vec::new() };
        let mut files = self.files.iter();
        for (at, planned) in self.changes.iter().enumerate() {
            match &planned.change {
                ContentChange::InsertPage(insert) => {
                    let id =
                        planned.page.clone().ok_or_else(|| Error::internal("an insert without an id"))?;
                    let edit = self.insert(&view, insert, id).await.map_err(|error| within(at, error))?;
                    edits.push(at, edit);
                }
                ContentChange::UpdatePage(update) => {
                    let list = self.update(&view, update).await.map_err(|error| within(at, error))?;
                    list.into_iter().for_each(|edit| edits.push(at, edit));
                }
                ContentChange::DeletePage(delete) => {
                    edits.push(at, Edit::DeletePage { page: page_id(at, &delete.page)? });
                }
                ContentChange::RevertPage(revert) => {
                    let before = (&view, edits.list.as_slice());
                    let of = (space, request);
                    let edit = revert::edit(platform, of, revert, before).await;
                    edits.push(at, edit.map_err(|error| within(at, error))?);
                }
                ContentChange::InsertFiles(insert) => {
                    for (id, file) in files.by_ref().take(insert.files.len()) {
                        let entry =
                            file.clone().ok_or_else(|| Error::internal("a file that was not stored"))?;
                        edits.push(at, Edit::PutFile { file: id.clone(), entry });
                    }
                }
            }
        }
        Ok(edits)
    }

    async fn insert(&self, view: &View, insert: &InsertPageChange, id: PageId) -> Result<Edit> {
        let parent = insert.into.as_deref().map(|into| self.names.page_id("into", into)).transpose()?;
        let text = body::text(&insert.document, "")?;
        let source = body::source(&insert.document, &text);
        let mut fields = self.fields(&source, patch(&insert.fields)?);
        if fields.title.is_none() {
            fields.title = Some("Untitled".to_owned());
        }
        let folder = match &parent {
            Some(parent) => view.path_of(parent).await?.unwrap_or_default(),
            None => String::new(),
        };
        let body = links::resolve(source.body, &self.names, view, &folder).await?;
        Ok(Edit::InsertPage(Box::new(NewPage {
            id,
            kind: PageKind::Document,
            parent,
            at: insert.at.map(|at| at as usize),
            fields,
            body: NewBody::Text(body),
        })))
    }

    /// The fields of a change, with what its Markdown says on top.
    fn fields(&self, source: &PageSource<'_>, fields: PagePatch) -> PagePatch {
        let mut fields = fields.overlaid(source.fields());
        if let Some(cover) = &source.front.cover {
            let find = |destination: &str| {
                let file = self.names.file(destination).map(|file| ContentRef::File { file });
                file.or_else(|| web_reference(destination))
            };
            fields.cover = Some(cover_of(cover, find));
        }
        fields
    }

    async fn update(&self, view: &View, update: &UpdatePageChange) -> Result<Vec<Edit>> {
        let page = self.names.page_id("page", &update.page)?;
        let mut fields = patch(&update.fields)?;
        let mut body = None;
        if let Some(document) = &update.document {
            let old = match (view.page(&page).await?, document) {
                (Some(entry), DocumentInput::Document(_)) => {
                    view.text(&entry.body, Rendering::Request).await?
                }
                _ => "".into(),
            };
            let text = body::text(document, &old)?;
            let source = body::source(document, &text);
            fields = self.fields(&source, fields);
            let folder = links::folder_of(view, &page).await?;
            body = Some(links::resolve(source.body, &self.names, view, &folder).await?);
        }
        let mut edits = vec![Edit::UpdatePage { page: page.clone(), fields: Box::new(fields) }];
        if let Some(body) = body {
            edits.push(Edit::SetBody { page: page.clone(), body: NewBody::Text(body) });
        }
        let into = match &update.into {
            Patch::Keep => None,
            Patch::Clear => Some(None),
            Patch::Set(into) => Some(Some(self.names.page_id("into", into)?)),
        };
        if into.is_some() || update.at.is_some() {
            edits.push(Edit::MovePage { page, into, at: update.at.map(|at| at as usize) });
        }
        Ok(edits)
    }
}

/// Tells which change an error is about.
fn within(at: usize, error: Error) -> Error {
    match error.kind() {
        crate::ErrorKind::Invalid => {
            Error::new(crate::ErrorKind::Invalid, format!("changes[{at}].{}", error.message()))
        }
        _ => error,
    }
}

fn page_id(at: usize, id: &str) -> Result<PageId> {
    id.parse().map_err(|_| Error::invalid(&format!("changes[{at}].page"), "no such page"))
}

/// The fields of a change as an edit has them.
fn patch(fields: &PageFields) -> Result<PagePatch> {
    if matches!((&fields.emoji, &fields.icon), (Patch::Set(_), Patch::Set(_))) {
        return Err(Error::invalid("icon", "a page has an emoji or an icon, not both"));
    }
    if let Some(condition) = fields.condition.as_deref().filter(|condition| !condition.trim().is_empty()) {
        Expression::parse(condition).map_err(|error| Error::invalid("condition", error))?;
    }
    let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    Ok(PagePatch {
        title: fields.title.as_ref().map(ToString::to_string),
        slug: fields.slug.as_ref().map(ToString::to_string),
        emoji: optional(&fields.emoji),
        icon: optional(&fields.icon),
        description: fields.description.as_deref().map(given),
        hidden: fields.hidden,
        no_index: fields.no_index,
        no_robots_index: fields.no_robots_index,
        condition: fields.condition.as_deref().map(given),
        ..PagePatch::default()
    })
}

fn optional<T: ToString>(patch: &Patch<T>) -> Option<Option<String>> {
    match patch {
        Patch::Keep => None,
        Patch::Clear => Some(None),
        Patch::Set(value) => Some(Some(value.to_string())),
    }
}

/// The bytes of a file of the request, and the media type that came with them.
async fn file_bytes(platform: &Platform, file: &InsertFile, field: &str) -> Result<(Bytes, Option<String>)> {
    match (&file.url, &file.base64) {
        (None, Some(text)) => {
            let at = format!("{field}.contentType");
            match &file.content_type {
                None => return Err(Error::invalid(&at, "is needed with `base64`")),
                Some(told) if !is_media_type(told) => {
                    return Err(Error::invalid(&at, "must be a media type, like image/png"));
                }
                Some(_) => {}
            }
            let field = format!("{field}.base64");
            let too_large = || Error::invalid(&field, format_args!("must be at most {MAX_INLINE} bytes"));
            // Checked before decoding, so that nothing large is decoded in vain.
            if text.len() > MAX_INLINE.div_ceil(3) * 4 {
                return Err(too_large());
            }
            let bytes =
                BASE64.decode(text.as_bytes()).map_err(|_| Error::invalid(&field, "must be base64"))?;
            if bytes.len() > MAX_INLINE { Err(too_large()) } else { Ok((bytes.into(), None)) }
        }
        (Some(url), None) => {
            let field = format!("{field}.url");
            let web = platform
                .web()
                .ok_or_else(|| Error::invalid(&field, "this server fetches no files; send `base64`"))?;
            let found = web.get(url.as_str()).await.map_err(|error| Error::invalid(&field, error))?;
            Ok((found.bytes, found.content_type))
        }
        _ => Err(Error::invalid(field, "must have exactly one of `url` and `base64`")),
    }
}
