//! Translates the changes of a request into content edits: assigns ids once, resolves names, and stores files.

use bytes::Bytes;
use data_encoding::BASE64;

use super::{
    body,
    kinds::{self, check_fields, check_kind, parse_kind},
    links::{self, RequestNames},
    revert,
    warnings::EditWarnings,
};
use crate::{
    Error, Result,
    content::{
        ContentError, Edit, FileEntry, NewBody, NewPage, PageKind, PagePatch, Rendering, View,
        check_file_name,
        expression::Expression,
        markdown::{PageSource, cover_of, web_reference},
    },
    model::{
        BoundedText, ContentEdit, ContentRef, DocumentInput, FileId, InsertFile, InsertPageChange, MediaType,
        PageFields, PageId, Patch, ReusableId, UpdatePageChange,
    },
    platform::{
        content::files::NewFile,
        kernel::{
            emoji::normalize_emoji, import_memory::Reservation, platform::Platform, write_window::WriteWindow,
        },
    },
    store::records::{ChangeRequestRecord, SpaceRecord},
};

/// The default page title.
const UNTITLED: &str = "Untitled";
/// Maximum size of a file sent inline in a request, in bytes.
pub(in crate::platform) const MAX_INLINE_BYTES: usize = 1_000_000;

/// The changes of a request with the ids of the items that they create.
pub(super) struct EditPlan {
    changes: Vec<PlannedChange>,
    pub(super) names: RequestNames,
    /// In request order. The entry is set once the bytes are stored.
    files: Vec<(FileId, Option<FileEntry>)>,
    /// The write window of the stored files.
    pub(super) storing: WriteWindow,
}

struct PlannedChange {
    change: ContentEdit,
    /// The id of the inserted page, if any.
    page: Option<PageId>,
    /// The id of the inserted reusable content block, if any.
    reusable: Option<ReusableId>,
}

/// Edits, each with the change that it was derived from.
pub(super) struct Edits {
    pub(super) list: Vec<Edit>,
    origin: Vec<Origin>,
    pub(super) warnings: EditWarnings,
}

/// The position in the request of the change that an edit was derived from.
struct Origin {
    change: usize,
    /// The request field that names the subject, if it differs from the name in the edit.
    subject: Option<String>,
}

impl Edits {
    pub(super) fn push(&mut self, change: usize, edit: Edit) {
        self.list.push(edit);
        self.origin.push(Origin { change, subject: None });
    }

    /// Adds an edit whose subject is named by `field` of the change.
    pub(super) fn push_field(&mut self, change: usize, field: String, edit: Edit) {
        self.list.push(edit);
        self.origin.push(Origin { change, subject: Some(field) });
    }

    /// Maps the error of an edit to the change and field of the request.
    pub(super) fn name(&self, error: ContentError) -> Error {
        match error {
            ContentError::Invalid { index, field, message } => {
                let Some(Origin { change, subject }) = self.origin.get(index) else {
                    return Error::invalid(&format!("changes[{index}].{field}"), message);
                };
                let subject = subject.as_deref().filter(|_| ["file", "reusable"].contains(&field));
                Error::invalid(&format!("changes[{change}].{}", subject.unwrap_or(field)), message)
            }
            other => other.into(),
        }
    }
}

impl EditPlan {
    /// Assigns the ids of new pages and files, and registers their names.
    pub(super) fn new(platform: &Platform, changes: Vec<ContentEdit>) -> Result<Self> {
        let storing = platform.begin_write_window();
        let mut plan =
            Self { changes: Vec::new(), names: RequestNames::default(), files: Vec::new(), storing };
        for (at, change) in changes.into_iter().enumerate() {
            let (mut page, mut reusable) = (None, None);
            match &change {
                ContentEdit::InsertReusableContent(_) => reusable = Some(platform.id()),
                ContentEdit::InsertPage(insert) => {
                    let id: PageId = platform.id();
                    if let Some(name) = &insert.reference {
                        plan.names
                            .add_page(name, &id)
                            .map_err(|e| Error::invalid(&format!("changes[{at}].ref"), e))?;
                    }
                    page = Some(id);
                }
                ContentEdit::InsertFiles(insert) => {
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
                _ => {}
            }
            plan.changes.push(PlannedChange { change, page, reusable });
        }
        Ok(plan)
    }

    /// Returns the name that the request assigns to an inserted page.
    pub(super) fn page_reference(&self, page: &PageId) -> Option<String> {
        self.names.page_name(page)
    }

    /// Returns the request field that defines a name.
    fn name_field(&self, name: &str) -> String {
        let is_name = |given: &Option<BoundedText<1, 256>>| given.as_deref() == Some(name);
        let within = |change: &ContentEdit| match change {
            ContentEdit::InsertPage(insert) => is_name(&insert.reference).then(|| "ref".to_owned()),
            ContentEdit::InsertFiles(insert) => {
                let at = insert.files.iter().position(|file| is_name(&file.reference));
                at.map(|n| format!("files[{n}].ref"))
            }
            _ => None,
        };
        let places = self.changes.iter().enumerate();
        let found = places
            .filter_map(|(at, planned)| Some(format!("changes[{at}].{}", within(&planned.change)?)))
            .next();
        found.unwrap_or_else(|| "ref".to_owned())
    }

    pub(super) fn files(&self) -> impl Iterator<Item = &FileId> {
        self.files.iter().map(|(id, _)| id)
    }

    pub(super) fn reusables(&self) -> impl Iterator<Item = &ReusableId> {
        self.changes.iter().filter_map(|planned| planned.reusable.as_ref())
    }

    /// Returns the kind of a page, which an earlier change of the request may insert. A missing page is treated as a
    /// document; the edit rejects it later.
    async fn page_kind(&self, view: &View, page: &PageId) -> Result<PageKind> {
        if let Some(entry) = view.page(page).await? {
            return Ok(entry.kind);
        }
        let inserted = self.changes.iter().find(|planned| planned.page.as_ref() == Some(page));
        match inserted.map(|planned| &planned.change) {
            Some(ContentEdit::InsertPage(insert)) => parse_kind(insert.kind),
            _ => Ok(PageKind::Document),
        }
    }

    /// Stores the bytes of the files in the request. Idempotent.
    pub(super) async fn store_files(&mut self, platform: &Platform, space: &SpaceRecord) -> Result<()> {
        let mut slots = self.files.iter_mut();
        for (at, planned) in self.changes.iter().enumerate() {
            let ContentEdit::InsertFiles(insert) = &planned.change else { continue };
            for (n, file) in insert.files.iter().enumerate() {
                let Some((_, slot)) = slots.next() else { continue };
                if slot.is_some() {
                    continue;
                }
                let field = format!("changes[{at}].files[{n}]");
                let mut memory = platform.import_memory(&space.organization);
                let (bytes, content_type) = file_bytes(platform, file, &field, &mut memory).await?;
                let new = NewFile { name: &file.name, content_type, bytes, git: None };
                *slot = Some(platform.store_file(&space.domain, new).await?);
            }
        }
        Ok(())
    }

    /// Builds the edits for the current content of the change request.
    pub(super) async fn edits(
        &self,
        platform: &Platform,
        space: &SpaceRecord,
        request: &ChangeRequestRecord,
    ) -> Result<Edits> {
        let view = platform.content().view(&space.domain, request.root);
        if let Some(name) = self.names.clash(&view).await? {
            return Err(Error::invalid(&self.name_field(name), "is already the path of a page"));
        }
        let mut edits = Edits { list: Vec::new(), origin: Vec::new(), warnings: EditWarnings::default() };
        let mut files = self.files.iter();
        for (at, planned) in self.changes.iter().enumerate() {
            match &planned.change {
                ContentEdit::InsertPage(insert) => {
                    let id =
                        planned.page.clone().ok_or_else(|| Error::internal("an insert without an id"))?;
                    let edit = self.insert(&view, insert, id, edits.warnings.within(at)).await;
                    let edit = edit.map_err(|error| within_change(at, error))?;
                    edits.push(at, edit);
                }
                ContentEdit::UpdatePage(update) => {
                    let list = self.update(&view, update, edits.warnings.within(at)).await;
                    let list = list.map_err(|error| within_change(at, error))?;
                    list.into_iter().for_each(|edit| edits.push(at, edit));
                }
                ContentEdit::DeletePage(delete) => {
                    edits.push(at, Edit::DeletePage { page: page_id(at, &delete.page)? });
                }
                ContentEdit::RevertPage(revert) => {
                    let edit = revert::edit(platform, space, request, revert, &view, &edits.list).await;
                    edits.push(at, edit.map_err(|error| within_change(at, error))?);
                }
                ContentEdit::InsertFiles(insert) => {
                    for (id, file) in files.by_ref().take(insert.files.len()) {
                        let entry = file.clone().ok_or_else(|| Error::internal("a file was not stored"))?;
                        edits.push(at, Edit::PutFile { file: id.clone(), entry });
                    }
                }
                other => {
                    let id = planned.reusable.as_ref();
                    let pushed = self.push_assets(&view, at, other, id, &mut edits).await;
                    pushed.map_err(|error| within_change(at, error))?;
                }
            }
        }
        Ok(edits)
    }

    async fn insert(
        &self,
        view: &View,
        insert: &InsertPageChange,
        id: PageId,
        warnings: &mut EditWarnings,
    ) -> Result<Edit> {
        let parent = insert.into.as_deref().map(|into| self.names.page_id("into", into)).transpose()?;
        let kind = parse_kind(insert.kind)?;
        check_fields(kind, &insert.fields)?;
        if kind != PageKind::Document {
            return self.insert_bare(view, insert, kind, NewPage::new(id, kind, PagePatch::default())).await;
        }
        if insert.target.is_some() {
            return Err(Error::invalid("target", "is allowed for links only"));
        }
        let document = insert.document.as_ref().ok_or_else(|| Error::invalid("document", "is required"))?;
        let text = body::text(document, "")?;
        let source = body::source(document, &text);
        let mut fields = self.fields(&source, patch(&insert.fields)?);
        if fields.title.is_none() {
            fields.title = Some(UNTITLED.to_owned());
        }
        let folder = match &parent {
            Some(parent) => view.path_of(parent).await?.unwrap_or_default(),
            None => String::new(),
        };
        warnings.add_from_text(&source.body, "");
        let body = links::resolve(&source.body, "", &self.names, view, &folder, warnings).await?;
        Ok(Edit::InsertPage(Box::new(NewPage {
            id,
            kind,
            parent,
            at: insert.at.map(|at| at as usize),
            fields,
            body: NewBody::Text(body),
        })))
    }

    /// Builds the edit that inserts a page without content: a group or a link.
    async fn insert_bare(
        &self,
        view: &View,
        insert: &InsertPageChange,
        kind: PageKind,
        page: NewPage,
    ) -> Result<Edit> {
        if insert.document.as_ref().is_some_and(|document| *document != DocumentInput::Empty) {
            return Err(Error::invalid("document", "is allowed for documents only"));
        }
        let mut fields = patch(&insert.fields)?;
        fields.title.get_or_insert_with(|| UNTITLED.to_owned());
        fields.target = match (&insert.target, kind) {
            (Some(target), PageKind::Link) => {
                Some(Some(kinds::resolve_target(target, &self.names, view).await?))
            }
            (Some(_), _) => return Err(Error::invalid("target", "is allowed for links only")),
            (None, PageKind::Link) => {
                return Err(Error::invalid("target", "is required for a link"));
            }
            (None, _) => None,
        };
        let parent = insert.into.as_deref().map(|into| self.names.page_id("into", into)).transpose()?;
        let at = insert.at.map(|at| at as usize);
        Ok(Edit::InsertPage(Box::new(NewPage { parent, at, fields, ..page })))
    }

    /// Merges the fields of a change with the front matter of its Markdown, which takes precedence.
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

    async fn update(
        &self,
        view: &View,
        update: &UpdatePageChange,
        warnings: &mut EditWarnings,
    ) -> Result<Vec<Edit>> {
        let page = self.names.page_id("page", &update.page)?;
        let kind = self.page_kind(view, &page).await?;
        check_kind(update.kind, kind)?;
        check_fields(kind, &update.fields)?;
        let mut fields = patch(&update.fields)?;
        if let Some(target) = &update.target {
            if kind != PageKind::Link {
                return Err(Error::invalid("target", "is allowed for links only"));
            }
            fields.target = Some(Some(kinds::resolve_target(target, &self.names, view).await?));
        }
        let mut body = None;
        if let Some(document) = &update.document {
            let old = match view.page(&page).await? {
                Some(entry) => view.text(&entry.body, Rendering::Request).await?,
                None => "".into(),
            };
            let text = body::text(document, &old)?;
            let source = body::source(document, &text);
            fields = self.fields(&source, fields);
            let folder = links::link_base(view, &page).await?;
            warnings.add_from_text(&source.body, &old);
            body = Some(links::resolve(&source.body, &old, &self.names, view, &folder, warnings).await?);
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

/// Adds the index of the change to the field of an error.
fn within_change(at: usize, error: Error) -> Error {
    error.prefix_field(&format!("changes[{at}]"))
}

fn page_id(at: usize, id: &str) -> Result<PageId> {
    id.parse().map_err(|_| Error::invalid(&format!("changes[{at}].page"), "no such page"))
}

/// Converts the fields of a change to those of an edit.
fn patch(fields: &PageFields) -> Result<PagePatch> {
    if matches!((&fields.emoji, &fields.icon), (Patch::Set(_), Patch::Set(_))) {
        return Err(Error::invalid("icon", "must not be set together with `emoji`"));
    }
    if let Some(condition) = fields.condition.as_deref().filter(|condition| !condition.trim().is_empty()) {
        Expression::parse(condition).map_err(|error| Error::invalid("condition", error))?;
    }
    let mut patch = fields.patch();
    if let Patch::Set(emoji) = &fields.emoji {
        patch.emoji = Some(Some(normalize_emoji(emoji, "emoji")?.to_string()));
    }
    Ok(patch)
}

/// Returns the bytes of a file and its media type. A declared type takes precedence over that of the web server. The
/// latter is ignored if it is not accepted.
async fn file_bytes(
    platform: &Platform,
    file: &InsertFile,
    field: &str,
    memory: &mut Reservation,
) -> Result<(Bytes, Option<MediaType>)> {
    let at = format!("{field}.contentType");
    let declared: Option<MediaType> = match file.content_type.as_deref() {
        Some(declared) => Some(declared.parse().map_err(|why| Error::invalid(&at, why))?),
        None => None,
    };
    match (&file.url, &file.base64) {
        (None, Some(text)) => {
            if declared.is_none() {
                return Err(Error::invalid(&at, "is required with `base64`"));
            }
            let field = format!("{field}.base64");
            let too_large =
                || Error::invalid(&field, format_args!("must be at most {MAX_INLINE_BYTES} bytes"));
            // Checked before decoding, to avoid decoding large inputs.
            if text.len() > MAX_INLINE_BYTES.div_ceil(3) * 4 {
                return Err(too_large());
            }
            let bytes =
                BASE64.decode(text.as_bytes()).map_err(|_| Error::invalid(&field, "must be valid base64"))?;
            if bytes.len() > MAX_INLINE_BYTES { Err(too_large()) } else { Ok((bytes.into(), declared)) }
        }
        (Some(url), None) => {
            let field = format!("{field}.url");
            let web =
                platform.ports().web.as_ref().ok_or_else(|| {
                    Error::invalid(&field, "this server does not fetch files; send `base64`")
                })?;
            let found = platform.fetch(web.as_ref(), url.as_str(), memory).await?;
            let found = found.map_err(|error| Error::invalid(&field, error))?;
            let served = || found.content_type.as_deref()?.parse().ok();
            let content_type = declared.or_else(served);
            Ok((found.bytes, content_type))
        }
        _ => Err(Error::invalid(field, "must have exactly one of `url` and `base64`")),
    }
}
