//! Common steps of imports: fetching and converting documents, storing files, and turning pages into edits.

use std::{collections::HashMap, sync::Arc, time::Duration};

use bytes::Bytes;
use chrono::{DateTime, TimeDelta, Utc};
use parking_lot::Mutex;
use tokio::sync::Mutex as AsyncMutex;

use super::{links, warnings::ImportWarnings};
use crate::{
    Error, ErrorKind, Result,
    content::{
        Edit, NewBody, NewPage, PageKind, PagePatch,
        markdown::{cover_of, parse_page, web_reference},
        run_in_place,
    },
    model::{ContentRef, FileId, MediaType, OrgId, PageId, check_page_size, without_nul},
    platform::{
        content::files::NewFile,
        kernel::{
            import_memory::{ImportSize, Reservation, Waits},
            platform::Platform,
        },
    },
    ports::{
        ConvertError, ConvertedPage, Converter, Document, DocumentFormat, EmbeddedFile, FoundFile,
        MAX_TEXTS_BYTES, UnpackedArchive, Web, WebError, WebResponse,
    },
    store::records::SpaceRecord,
};

/// Memory in bytes for the data of an archive, a Word file or a repository whose size is not known yet: fetched,
/// unpacked and converted.
pub(in crate::platform) const UNKNOWN_IMPORT_BYTES: u64 = 96 << 20;
/// Memory in bytes for the conversion of any other document.
const UNKNOWN_DOCUMENT_BYTES: u64 = 24 << 20;
/// Maximum number of pages that one import fetches.
pub(in crate::platform) const MAX_PAGES: usize = 20;
/// Maximum number of files that one import fetches.
pub(in crate::platform) const MAX_FILES: usize = 20;
/// Maximum total size of the files of an import in bytes.
pub(super) const MAX_FILES_BYTES: u64 = 200_000_000;
/// Time limit for the fetches of an import. Resources that are not fetched by then are left out.
const MAX_TIME: Duration = Duration::from_secs(120);
/// Time limit for all conversions of an import together. Time that the import waits for memory does not count.
const MAX_CONVERSION_TIME: Duration = Duration::from_secs(180);
/// Maximum total size in bytes of the texts of all pages of an import, with their links resolved to ids.
const MAX_RESOLVED_BYTES: u64 = 2 * MAX_TEXTS_BYTES;
/// Maximum length of a title in characters.
const MAX_TITLE: usize = 255;

/// The items of an import, ready to be applied to any content of the space.
#[derive(Default)]
pub(in crate::platform) struct ImportItems {
    /// Files, then pages, parents before their children.
    pub(in crate::platform) edits: Vec<Edit>,
    /// The number of included pages and files.
    pub(in crate::platform) imported: u64,
    /// The number of discovered pages and files, including those that were left out.
    pub(in crate::platform) total: u64,
    /// Messages about content that was left out or interpreted in a way that the author may not expect.
    pub(in crate::platform) warnings: ImportWarnings,
    /// The total size of the texts in bytes.
    pub(in crate::platform) text_bytes: u64,
}

impl ImportItems {
    /// Adds a reusable content block, or a page that was counted as imported. Oversized text is omitted, its page is no
    /// longer counted, and the import continues.
    pub(super) fn push_text(&mut self, mut edit: Edit) {
        let edit_title = match &edit {
            Edit::InsertPage(page) => page.fields.title.clone(),
            _ => None,
        };
        let (body, counted) = match &mut edit {
            Edit::InsertPage(page) => (Some(&mut page.body), 1),
            Edit::PutReusable { fields, .. } => (fields.body.as_mut(), 0),
            _ => (None, 0),
        };
        if let Some(body) = body
            && let NewBody::Text(text) = &*body
            && let Err(error) = check_page_size(text)
        {
            let title = match &edit_title {
                Some(title) => format!("the page `{title}`"),
                None => "a reusable content block".to_owned(),
            };
            self.warnings.add(format!("{title} is imported without its text: {error}"));
            *body = NewBody::Empty;
            self.imported = self.imported.saturating_sub(counted);
        }
        self.push(edit);
    }

    fn push(&mut self, edit: Edit) {
        self.text_bytes += match &edit {
            Edit::InsertPage(page) => text_bytes(&page.body),
            Edit::PutReusable { fields, .. } => fields.body.as_ref().map_or(0, text_bytes),
            _ => 0,
        };
        self.edits.push(edit);
    }

    /// Checks the total size of the texts. `name` is the source of the import.
    ///
    /// # Errors
    /// `Invalid` if they exceed [`MAX_RESOLVED_BYTES`].
    pub(super) fn check_texts(&self, name: &str) -> Result<()> {
        if self.text_bytes <= MAX_RESOLVED_BYTES {
            return Ok(());
        }
        let what = format!(
            "the pages of {name} must be at most {MAX_RESOLVED_BYTES} bytes together with their resolved links"
        );
        Err(Error::invalid("url", what))
    }

    pub(super) fn size(&self) -> ImportSize {
        ImportSize { text_bytes: self.text_bytes, items: self.edits.len() as u64 }
    }
}

const fn text_bytes(body: &NewBody) -> u64 {
    match body {
        NewBody::Text(text) => text.len() as u64,
        NewBody::Empty | NewBody::Stored(_) => 0,
    }
}

/// Gathers the items of one import into one space.
pub(in crate::platform) struct Gatherer<'a> {
    pub(super) platform: &'a Platform,
    /// The storage domain of the space.
    pub(super) domain: &'a str,
    organization: &'a OrgId,
    web: Arc<dyn Web>,
    converter: Arc<dyn Converter>,
    /// The deadline of the fetches, extended by the time that the import waits for memory.
    until: DateTime<Utc>,
    waits: Arc<Waits>,
    /// Time that this import has spent on conversions.
    conversion_time: Mutex<TimeDelta>,
    /// The memory reservation of this import.
    pub(super) memory: AsyncMutex<Reservation>,
}

/// A page to add.
pub(super) struct Draft<'a> {
    pub(super) id: PageId,
    pub(super) parent: Option<PageId>,
    /// The title, used unless the text contains one.
    pub(super) title: &'a str,
    /// The slug; derived from the title if `None`.
    pub(super) slug: Option<String>,
    /// The text with front matter and heading. Its links are already resolved to pages and files of the space.
    pub(super) markdown: &'a str,
}

impl Draft<'_> {
    pub(super) fn edit(self) -> Edit {
        let source = parse_page(self.markdown);
        let mut fields = PagePatch::from_title(self.title).overlaid(source.fields());
        fields.title = fields.title.map(|title| truncate_title(&title));
        // An import accepts a page with both an emoji and an icon, because the user cannot correct the page.
        if matches!((&fields.emoji, &fields.icon), (Some(Some(_)), Some(Some(_)))) {
            fields.emoji = None;
        }
        fields.slug = self.slug;
        fields.cover = source.front.cover.as_ref().map(|cover| cover_of(cover, cover_reference));
        Edit::InsertPage(Box::new(NewPage {
            id: self.id,
            kind: PageKind::Document,
            parent: self.parent,
            at: None,
            fields,
            body: NewBody::Text(source.body.into_owned()),
        }))
    }
}

impl<'a> Gatherer<'a> {
    /// # Errors
    /// `Precondition` when the platform has no web or converter adapter.
    pub(in crate::platform) fn new(platform: &'a Platform, space: &'a SpaceRecord) -> Result<Self> {
        Self::with_memory(platform, space, platform.import_memory(&space.organization))
    }

    /// Gathers items from data whose memory is reserved already.
    ///
    /// # Errors
    /// Those of [`new`](Self::new).
    pub(super) fn with_memory(
        platform: &'a Platform,
        space: &'a SpaceRecord,
        memory: Reservation,
    ) -> Result<Self> {
        let missing = || Error::new(ErrorKind::Precondition, "this server does not import documents");
        Ok(Self {
            platform,
            domain: &space.domain,
            organization: &space.organization,
            web: Arc::clone(platform.ports().web.as_ref().ok_or_else(missing)?),
            converter: Arc::clone(platform.ports().converter.as_ref().ok_or_else(missing)?),
            until: platform.clock().now() + MAX_TIME,
            waits: memory.waits(),
            conversion_time: Mutex::default(),
            memory: AsyncMutex::new(memory),
        })
    }

    /// Reserves memory for processing fetched data, and waits until it is available. The wait does not count towards
    /// the time limit.
    pub(super) async fn begin_work(&self, bytes: u64) -> Result<()> {
        self.platform.run_import(&mut *self.memory.lock().await, bytes).await
    }

    /// Reserves memory for the data of an import that has grown to a number of bytes, if less is reserved.
    ///
    /// # Errors
    /// `Unavailable` if the memory does not become available in time.
    pub(super) async fn grow(&self, bytes: u64) -> Result<()> {
        self.platform.grow_import(&mut *self.memory.lock().await, bytes).await
    }

    /// Unpacks an archive when it is the turn of the organization.
    ///
    /// # Errors
    /// `Invalid` if the archive cannot be unpacked.
    pub(super) async fn unpack_files(&self, archive: Bytes) -> Result<UnpackedArchive> {
        let _turn = self.platform.worker_turn(self.organization).await?;
        self.converter.unpack(archive).await.map_err(conversion_error)
    }

    /// Converts a document within the time that is left for conversions.
    ///
    /// # Errors
    /// [`ConvertError`]; `TooLarge` after the time.
    pub(super) async fn convert_in_time(
        &self,
        document: Document,
    ) -> std::result::Result<ConvertedPage, ConvertError> {
        let turn = self.platform.worker_turn(self.organization).await;
        let _turn = turn.map_err(|error| ConvertError::Failed(error.to_string()))?;
        let clock = self.platform.clock();
        let begun = clock.now();
        let left =
            MAX_CONVERSION_TIME.saturating_sub(self.conversion_time.lock().to_std().unwrap_or_default());
        let late = || ConvertError::TooLarge(conversion_time_error());
        if left.is_zero() {
            return Err(late());
        }
        let done = tokio::select! {
            biased;
            done = self.converter.convert(document) => done.map(clean),
            () = clock.wait_until(begun + left) => Err(late()),
        };
        *self.conversion_time.lock() += clock.now() - begun;
        done
    }

    /// Checks the time of all conversions.
    ///
    /// # Errors
    /// `Invalid` if no time is left.
    pub(super) fn check_conversion_time(&self) -> Result<()> {
        match self.conversion_time.lock().to_std() {
            Ok(time) if time >= MAX_CONVERSION_TIME => Err(Error::invalid("url", conversion_time_error())),
            _ => Ok(()),
        }
    }

    /// Fetches a resource within the time limit.
    ///
    /// # Errors
    /// `Unavailable` when there is not enough memory for the resource, which does not mean that the resource itself is
    /// unavailable.
    pub(super) async fn get(&self, url: &str) -> Result<std::result::Result<WebResponse, WebError>> {
        let mut memory = self.memory.lock().await;
        let fetch = self.platform.fetch(self.web.as_ref(), url, &mut memory);
        self.with_timeout(fetch).await.unwrap_or_else(|late| Ok(Err(WebError::Unreachable(late))))
    }

    /// Awaits an external operation within the time limit, or returns a message about the limit.
    pub(super) async fn with_timeout<T>(
        &self,
        doing: impl Future<Output = T>,
    ) -> std::result::Result<T, String> {
        let clock = self.platform.clock();
        let late = async {
            // A later wait for memory extends the deadline.
            loop {
                let now = clock.now();
                let until = self.until + self.waits.time(now);
                if now >= until {
                    break;
                }
                clock.wait_until(until).await;
            }
        };
        tokio::select! {
            biased;
            done = doing => Ok(done),
            () = late => Err(format!("the import exceeded its limit of {} seconds", MAX_TIME.as_secs())),
        }
    }

    /// Fetches the source of the import.
    pub(super) async fn get_first(&self, url: &str) -> Result<WebResponse> {
        self.get(url).await?.map_err(|error| Error::invalid("url", error))
    }

    /// Imports one document with its images.
    pub(super) async fn document(&self, url: &str, format: DocumentFormat) -> Result<ImportItems> {
        let found = self.get_first(url).await?;
        if format == DocumentFormat::Html && !is_html(&found) {
            return Err(Error::invalid(
                "url",
                "must be the address of an HTML page; choose a matching \
                                              `source`",
            ));
        }
        let page = self.convert(&found, format).await?.map_err(conversion_error)?;
        self.page(page).await
    }

    /// Imports an uploaded document with its images.
    pub(super) async fn uploaded_document(
        &self,
        name: &str,
        bytes: Bytes,
        format: DocumentFormat,
    ) -> Result<ImportItems> {
        let name = links::title_from_file_name(name);
        let document = Document { format, bytes, name, url: None, charset: None };
        let page = self.convert_document(document).await?.map_err(conversion_error)?;
        self.page(page).await
    }

    /// Imports a converted page with its images.
    async fn page(&self, page: ConvertedPage) -> Result<ImportItems> {
        let mut gathered = ImportItems { imported: 1, total: 1, ..ImportItems::default() };
        gathered.warnings.add_all(&page.warnings);
        let mut files = self.store_embedded(&page.files, &mut gathered).await?;
        files.extend(self.store_images([&page], &mut gathered).await?);
        let markdown = links::rewrite_known_links(&page.markdown, |destination| {
            files.get(destination).map(|file| format!("/files/{file}"))
        });
        let draft = Draft {
            id: self.platform.id(),
            parent: None,
            title: &page.title,
            slug: None,
            markdown: &markdown,
        };
        gathered.push(run_in_place(|| draft.edit()));
        Ok(gathered)
    }

    /// Converts a fetched document.
    ///
    /// # Errors
    /// `Unavailable` when the memory for it does not become available in time.
    pub(super) async fn convert(
        &self,
        found: &WebResponse,
        format: DocumentFormat,
    ) -> Result<std::result::Result<ConvertedPage, ConvertError>> {
        let document = Document {
            format,
            bytes: found.bytes.clone(),
            name: links::title_from_url(&found.url),
            url: Some(found.url.clone()),
            charset: found.charset.clone(),
        };
        self.convert_document(document).await
    }

    async fn convert_document(
        &self,
        document: Document,
    ) -> Result<std::result::Result<ConvertedPage, ConvertError>> {
        let source = document.bytes.len() as u64;
        self.begin_work(if document.format == DocumentFormat::Docx {
            UNKNOWN_IMPORT_BYTES
        } else {
            UNKNOWN_DOCUMENT_BYTES
        })
        .await?;
        let page = self.convert_in_time(document).await;
        let mut memory = self.memory.lock().await;
        let size = page.as_ref().map(size_of).unwrap_or_default();
        let rest = memory.held().saturating_sub(source);
        memory.settle(rest + size.bytes()).await;
        Ok(page)
    }

    /// Stores the files embedded in a document and returns their ids by the destinations in the text.
    pub(super) async fn store_embedded(
        &self,
        files: &[EmbeddedFile],
        gathered: &mut ImportItems,
    ) -> Result<HashMap<String, FileId>> {
        let mut ids = HashMap::new();
        for file in files {
            gathered.total += 1;
            let id = self.store(&file.name, None, file.bytes.clone(), gathered).await?;
            ids.insert(file.destination.clone(), id);
        }
        Ok(ids)
    }

    /// Fetches and stores the available images of pages, and returns their ids by URL.
    pub(super) async fn store_images(
        &self,
        pages: impl IntoIterator<Item = &ConvertedPage>,
        gathered: &mut ImportItems,
    ) -> Result<HashMap<String, FileId>> {
        let mut wanted: Vec<&FoundFile> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        let all = pages.into_iter().flat_map(|page| &page.images);
        wanted.extend(all.filter(|image| seen.insert(image.url.as_str())));
        gathered.total += wanted.len() as u64;
        let (mut ids, mut left) = (HashMap::new(), MAX_FILES_BYTES);
        let beyond = wanted.len().saturating_sub(MAX_FILES);
        if beyond > 0 {
            let what = format!("{beyond} images beyond the limit of {MAX_FILES} keep their addresses");
            gathered.warnings.add(what);
        }
        for image in wanted.into_iter().take(MAX_FILES) {
            let found = match self.get(&image.url).await? {
                Ok(found) => found,
                Err(error) => {
                    gathered.warnings.add(format!("image not imported: {}: {error}", image.url));
                    continue;
                }
            };
            let size = found.bytes.len();
            let is_image = is_image(&found);
            if !is_image || !reserve_bytes(&mut left, size) {
                let why = if is_image { "exceeds the size of an import" } else { "is not an image" };
                gathered.warnings.add(format!("image not imported: {}: {why}", image.url));
                self.memory.lock().await.release(size as u64);
                continue;
            }
            // The media type is derived from the name if the one that the web server sent is not accepted.
            let served = found.content_type.as_deref().and_then(|served| served.parse().ok());
            let id = self.store(&image.name, served, found.bytes, gathered).await?;
            self.memory.lock().await.release(size as u64);
            ids.insert(image.url.clone(), id);
        }
        Ok(ids)
    }

    /// Stores a file and adds it to the import.
    async fn store(
        &self,
        name: &str,
        content_type: Option<MediaType>,
        bytes: Bytes,
        gathered: &mut ImportItems,
    ) -> Result<FileId> {
        let new = NewFile { name, content_type, bytes, git: None };
        let entry = self.platform.store_file(self.domain, new).await?;
        let file: FileId = self.platform.id();
        gathered.imported += 1;
        gathered.edits.push(Edit::PutFile { file: file.clone(), entry });
        Ok(file)
    }
}

fn size_of(page: &ConvertedPage) -> ImportSize {
    let files = page.files.iter().map(|file| file.bytes.len()).sum::<usize>();
    let links = page.links.iter().map(String::len).sum::<usize>();
    let images = page.images.iter().map(|image| image.url.len() + image.name.len()).sum::<usize>();
    ImportSize { text_bytes: (page.markdown.len() + files + links + images) as u64, items: 1 }
}

fn conversion_time_error() -> String {
    format!("the import exceeded its limit of {} seconds for conversions", MAX_CONVERSION_TIME.as_secs())
}

/// Returns `true` if a fetched file may be an image. Other content types, such as an HTML error page, are not images.
fn is_image(found: &WebResponse) -> bool {
    found.content_type.as_deref().is_none_or(|told| told.starts_with("image/"))
}

/// Reserves the bytes of a file. Returns `false` if the file exceeds the remaining budget.
fn reserve_bytes(left: &mut u64, bytes: usize) -> bool {
    let rest = left.checked_sub(bytes as u64);
    *left = rest.unwrap_or(*left);
    rest.is_some()
}

/// Returns the error of an import whose document cannot be converted.
pub(super) fn conversion_error(error: ConvertError) -> Error {
    match error {
        ConvertError::Unreadable(_) | ConvertError::TooLarge(_) => Error::invalid("url", error),
        _ => Error::internal(error),
    }
}

/// Returns `true` if the response is an HTML page.
pub(super) fn is_html(found: &WebResponse) -> bool {
    match found.content_type.as_deref() {
        Some(told) => matches!(told, "text/html" | "application/xhtml+xml"),
        None => {
            // Skips a byte order mark and the NUL bytes of UTF-16.
            let marks: [&[u8]; 3] = [b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"];
            let body = marks.iter().find_map(|mark| found.bytes.strip_prefix(*mark)).unwrap_or(&found.bytes);
            body.iter().find(|byte| **byte != 0 && !byte.is_ascii_whitespace()) == Some(&b'<')
        }
    }
}

/// Replaces NUL characters in a page, because the platform rejects them in text.
pub(super) fn clean(page: ConvertedPage) -> ConvertedPage {
    ConvertedPage {
        title: without_nul(&page.title).into_owned(),
        markdown: without_nul(&page.markdown).into_owned(),
        ..page
    }
}

pub(super) fn truncate_title(title: &str) -> String {
    title.chars().take(MAX_TITLE).collect()
}

/// Returns the cover that a page references, after link resolution.
fn cover_reference(destination: &str) -> Option<ContentRef> {
    match destination.strip_prefix("/files/") {
        Some(id) => id.parse().ok().map(|file| ContentRef::File { file }),
        None => web_reference(destination),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::MAX_PAGE_BYTES;

    #[test]
    fn titles_longer_than_the_bound_are_cut() {
        let kept = |characters: usize| truncate_title(&"ä".repeat(characters)).chars().count();
        assert_eq!(
            [MAX_TITLE - 1, MAX_TITLE, MAX_TITLE + 1].map(kept),
            [MAX_TITLE - 1, MAX_TITLE, MAX_TITLE]
        );
    }

    #[test]
    fn texts_of_an_import_with_their_links_are_bounded() {
        let mut gathered = ImportItems::default();
        let page = "a".repeat(MAX_PAGE_BYTES);
        let mut add = || {
            let id: PageId = "page".parse().expect("an id");
            let draft = Draft { id, parent: None, title: "Page", slug: None, markdown: &page };
            gathered.push_text(draft.edit());
            gathered.check_texts("the archive")
        };
        for _ in 0..MAX_RESOLVED_BYTES / MAX_PAGE_BYTES as u64 {
            add().expect("within the bound");
        }
        let error = add().expect_err("one too many");
        assert!(error.message().contains("at most 100000000 bytes together with their"), "{error}");
    }
}
