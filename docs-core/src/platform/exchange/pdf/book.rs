//! The content of a PDF file, read completely before typesetting.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use async_trait::async_trait;
use bytes::Bytes;

use super::{
    embeds::{BookTexts, DocumentText},
    refs::{BookReferences, collect_references},
    values::fill,
};
use crate::{
    Error, ErrorKind, Result,
    content::{
        Body, FileEntry, PageKind, PageTree, TreePage, View,
        document::into_reading_view,
        expression::{Allowance, Budget, Context, MAX_STEPS},
        parse_document, run_in_place,
    },
    model::{ContentRef, Document, JsonText, OrgId, PageId, ReusableId, SpaceId, UserId, Variables},
    platform::{
        content::files::{Bearer, FilePlace},
        kernel::platform::Platform,
    },
    ports::{Book, BookImage, BookLink, BookPage, ImageSource, PdfError},
    store::{
        Hash, Key, Objects,
        records::{MemberRecord, SpaceRecord, UserRecord},
    },
};

/// Maximum number of pages in a PDF.
pub(in crate::platform) const MAX_PAGES: usize = 5_000;
/// Maximum number of evaluation steps for all expressions of a file together. The remaining expressions stay in source
/// form.
const MAX_BOOK_STEPS: u32 = 100 * MAX_STEPS;
/// Number of members per batch when display names are read.
const MEMBER_BATCH: usize = 1_000;
/// Maximum size of Markdown and evaluated values in bytes. A reusable content block counts each time it is shown. In
/// addition, the values are limited to this size before they are inserted.
const MAX_TEXT: usize = 16 << 20;
/// Maximum size of one image in bytes. A larger one is replaced by its alternative text.
const MAX_IMAGE: u64 = 32 << 20;
/// Maximum total size of all images in bytes. They are loaded during typesetting, so they are never all in memory here.
const MAX_IMAGES: u64 = 250_000_000;
/// Maximum number of reusable content blocks.
const MAX_REUSABLES: usize = 1_000;

/// The part of the content to convert to a PDF.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PdfPart {
    /// The page to show with its descendants, or everything if `None`.
    pub page: Option<PageId>,
    /// Shows only the page itself, without its descendants.
    pub only: bool,
}

/// The content of a file.
pub(super) struct PdfContent<'a> {
    pub(super) space: &'a SpaceRecord,
    pub(super) subtitle: Option<String>,
    pub(super) part: &'a PdfPart,
    pub(super) view: &'a View,
    pub(super) tree: &'a PageTree,
    /// The actor that the URLs in the file are issued to.
    pub(super) bearer: &'a Bearer,
}

/// The state of reading a book.
struct BookReader {
    /// The total size of the Markdown read so far. A reusable content block counts once.
    text: usize,
    texts: BookTexts,
    refs: BookReferences,
    images: ImageBudget,
    /// The evaluation context with the variables of the space.
    context: Context,
    allowance: Allowance,
}

/// The remaining budget for images of a book, in bytes.
struct ImageBudget(u64);

impl ImageBudget {
    /// Reserves the bytes of an image. Returns `false` if the image is too large or exceeds the budget.
    fn take(&mut self, size: u64) -> bool {
        let left = self.0.checked_sub(size).filter(|_| size <= MAX_IMAGE);
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }
}

/// The display names of members, by user.
pub(super) type DisplayNames = BTreeMap<UserId, String>;

/// Hashes the display names. Equal users with equal names have equal hashes.
pub(super) fn hash_names(names: &DisplayNames) -> Hash {
    let mut all = String::new();
    for (user, name) in names {
        // Names cannot contain a line feed.
        all.extend([user.as_str(), "\n", name.as_str(), "\n"]);
    }
    Hash::compute(all.as_bytes())
}

/// Adds display names to a book.
pub(super) fn with_names(mut book: Book, names: &DisplayNames) -> Book {
    let links = names.iter().map(|(user, name)| {
        (ContentRef::User { user: user.clone() }, BookLink { title: Some(name.clone()), url: None })
    });
    book.links.extend(links);
    book
}

/// Returns the title and the subtitle of a book. A partial book is titled after its first page, with the space as its
/// subtitle.
fn titles(shown: &PdfContent<'_>) -> (String, Option<String>) {
    let space = shown.space.title.to_string();
    match shown.part.page.as_ref().and_then(|page| shown.tree.get(page)) {
        Some(page) => (page.entry.title.clone(), Some(shown.subtitle.clone().unwrap_or(space))),
        None => (space, shown.subtitle.clone()),
    }
}

impl Platform {
    /// Reads the content of a file except the display names, which are not part of the content. Returns the book and
    /// the users named in it.
    pub(super) async fn book(&self, shown: &PdfContent<'_>) -> Result<(Book, Vec<UserId>)> {
        let variables = shown.view.variables().await?;
        let variables: Variables =
            variables.into_iter().map(|(name, variable)| (name, variable.value)).collect();
        let context = Context::default().with_space(&variables);
        let allowance = Allowance { steps: Budget(MAX_BOOK_STEPS), bytes: MAX_TEXT };
        let images = ImageBudget(MAX_IMAGES);
        let (texts, refs) = (BookTexts::default(), BookReferences::default());
        let mut reading = BookReader { text: 0, texts, refs, images, context, allowance };
        let mut pages = Vec::new();
        for (page, depth) in select_pages(shown.tree, shown.part)? {
            let document = match page.entry.kind {
                PageKind::Document => {
                    let variables = Some(&page.entry.variables);
                    let (document, text) = self
                        .document(shown, (&page.entry.body, page.entry.expansions), variables, &mut reading)
                        .await?;
                    reading.texts.pages.push(text);
                    Some(document)
                }
                _ => None,
            };
            pages.push(BookPage {
                id: page.id.clone(),
                title: with_emoji(page.entry.emoji.as_deref(), &page.entry.title),
                description: page.entry.description.clone(),
                depth,
                document,
            });
        }
        let reusables = self.reusables(shown, &mut reading).await?;
        if reading.texts.exceed(MAX_TEXT) {
            return Err(too_much_text());
        }
        let (title, subtitle) = titles(shown);
        let mut book = Book {
            title,
            subtitle,
            language: shown.space.language.map(|language| language.base().to_owned()),
            space: Some(shown.space.id.clone()),
            pages,
            images: BTreeMap::new(),
            links: BTreeMap::new(),
            reusables,
        };
        let refs = std::mem::take(&mut reading.refs).into_set();
        let people = refs.iter().filter_map(|target| match target {
            ContentRef::User { user } => Some(user.clone()),
            _ => None,
        });
        let people = people.collect();
        for target in refs {
            self.resolve_reference(shown, target, &mut reading, &mut book).await?;
        }
        Ok((book, people))
    }

    async fn document(
        &self,
        shown: &PdfContent<'_>,
        (body, expansions): (&Body, Option<Hash>),
        variables: Option<&JsonText<Variables>>,
        reading: &mut BookReader,
    ) -> Result<(Arc<Document>, DocumentText)> {
        let text = shown.view.reader_text(body, expansions).await?;
        reading.text += text.len();
        if reading.text > MAX_TEXT {
            return Err(too_much_text());
        }
        // All text may be cached already, so yield to other tasks between two documents.
        tokio::task::yield_now().await;
        let mut document = parse_document(&text).await;
        let bytes_left = reading.allowance.bytes;
        match variables {
            Some(variables) => {
                let context = reading.context.clone().with_page(&variables.value());
                fill(&mut document, &context, &["space", "page"], &mut reading.allowance);
            }
            // A reusable content block appears on several pages, so only the variables of the space apply.
            None => fill(&mut document, &reading.context, &["space"], &mut reading.allowance),
        }
        let document = run_in_place(|| into_reading_view(document));
        collect_references(&document, &mut reading.refs);
        if reading.refs.is_over() {
            let most = BookReferences::MAX;
            let why = format!("the pages must have at most {most} references; select fewer with `page`");
            return Err(Error::new(ErrorKind::TooLarge, why));
        }
        let value_bytes = bytes_left - reading.allowance.bytes;
        let text = DocumentText::new(&document, text.len() + value_bytes);
        Ok((Arc::new(document), text))
    }

    /// Reads the reusable content blocks that pages reference, transitively.
    async fn reusables(
        &self,
        shown: &PdfContent<'_>,
        reading: &mut BookReader,
    ) -> Result<BTreeMap<ReusableId, Arc<Document>>> {
        let mut out = BTreeMap::new();
        loop {
            let wanted = reading.refs.iter().filter_map(|target| match target {
                ContentRef::ReusableContent { reusable_content, space }
                    if is_own_space(shown, space.as_ref()) && !out.contains_key(reusable_content) =>
                {
                    Some(reusable_content.clone())
                }
                _ => None,
            });
            let wanted: BTreeSet<ReusableId> = wanted.take(MAX_REUSABLES - out.len()).collect();
            if wanted.is_empty() {
                return Ok(out);
            }
            for id in wanted {
                let body = shown.view.reusable(&id).await?.map_or(Body::Empty, |reusable| reusable.body);
                let (document, text) = self.document(shown, (&body, None), None, reading).await?;
                reading.texts.reusables.insert(id.clone(), text);
                out.insert(id, document);
            }
        }
    }

    /// Resolves the URL and title of a reference, and its image if it is one.
    async fn resolve_reference(
        &self,
        shown: &PdfContent<'_>,
        target: ContentRef,
        reading: &mut BookReader,
        book: &mut Book,
    ) -> Result<()> {
        let link = match &target {
            ContentRef::File { file } => match shown.view.file(file).await? {
                Some(entry) => Some(self.file(shown, &target, entry, reading, book)?),
                None => None,
            },
            ContentRef::Page { page, space } | ContentRef::Anchor { page: Some(page), space, .. } => {
                Some(self.page_link(shown, page, space.as_ref()))
            }
            ContentRef::Space { space } => {
                Some(BookLink { title: None, url: Some(self.urls().space(space).1) })
            }
            ContentRef::ReusableContent { reusable_content, space }
                if is_own_space(shown, space.as_ref()) =>
            {
                let entry = shown.view.reusable(reusable_content).await?;
                entry.map(|entry| BookLink { title: Some(entry.title), url: None })
            }
            _ => None,
        };
        if let Some(link) = link {
            book.links.insert(target, link);
        }
        Ok(())
    }

    /// Returns the URL of a file, and registers its bytes if it may be an image.
    fn file(
        &self,
        shown: &PdfContent<'_>,
        target: &ContentRef,
        entry: FileEntry,
        reading: &mut BookReader,
        book: &mut Book,
    ) -> Result<BookLink> {
        let url = self.file_url(&shown.space.id, &entry, shown.bearer)?;
        if entry.content_type.starts_with("image/") && reading.images.take(entry.size) {
            let image = StoredImage {
                objects: Arc::clone(&self.inner.objects),
                domain: shown.space.domain.clone(),
                place: FilePlace::from_entry(&entry),
                size: entry.size,
            };
            book.images.insert(target.clone(), BookImage::Stored(Arc::new(image)));
        }
        Ok(BookLink { title: Some(entry.name), url: Some(url) })
    }

    /// Creates a link to a page. A page of this space has its title and URL. A page of another space only has the URL
    /// of that space, because the readers may lack access to it.
    fn page_link(&self, shown: &PdfContent<'_>, page: &PageId, space: Option<&SpaceId>) -> BookLink {
        match space.filter(|_| !is_own_space(shown, space)) {
            Some(space) => BookLink { title: None, url: Some(self.urls().space(space).1) },
            None => match shown.tree.get(page) {
                Some(page) => BookLink {
                    title: Some(page.entry.title.clone()),
                    url: Some(self.urls().page(&shown.space.id, &page.path)),
                },
                None => BookLink::default(),
            },
        }
    }

    /// Returns the current display names of those users who are members of the organization.
    pub(super) async fn names(&self, organization: &OrgId, people: &[UserId]) -> Result<DisplayNames> {
        let mut names = DisplayNames::new();
        if people.is_empty() {
            return Ok(names);
        }
        let tx = self.read().await?;
        for people in people.chunks(MEMBER_BATCH) {
            let keys: Vec<Key> =
                people.iter().map(|user| MemberRecord::key_for(organization, user)).collect();
            let members = tx.get_values(&keys).await?;
            let members = people.iter().zip(members).filter_map(|(user, member)| member.map(|_| user));
            let keys: Vec<Key> = members.map(UserRecord::key_for).collect();
            let known = tx.get_many::<UserRecord>(&keys).await?.into_iter().flatten();
            names.extend(known.map(|known| (known.id.clone(), known.display_name.clone())));
        }
        Ok(names)
    }
}

/// An image among the objects of a space.
struct StoredImage {
    objects: Arc<dyn Objects>,
    domain: String,
    place: FilePlace,
    size: u64,
}

#[async_trait]
impl ImageSource for StoredImage {
    async fn load(&self) -> std::result::Result<Option<Bytes>, PdfError> {
        let read = self.place.read(self.objects.as_ref(), &self.domain, 0..self.size).await;
        read.map_err(|error| match error.kind() {
            ErrorKind::Unavailable => PdfError::Unavailable(error.to_string()),
            _ => PdfError::Failed(error.to_string()),
        })
    }
}

fn too_much_text() -> Error {
    let why = "the pages have too much text for one PDF; select fewer with `page`";
    Error::new(ErrorKind::TooLarge, why)
}

fn is_own_space(shown: &PdfContent<'_>, space: Option<&SpaceId>) -> bool {
    space.is_none_or(|space| *space == shown.space.id)
}

fn with_emoji(emoji: Option<&str>, title: &str) -> String {
    emoji.map_or_else(|| title.to_owned(), |emoji| format!("{emoji} {title}"))
}

/// Returns the pages to show in reading order, each with its depth.
pub(super) fn select_pages<'a>(tree: &'a PageTree, part: &PdfPart) -> Result<Vec<(&'a TreePage, usize)>> {
    let top = match &part.page {
        None => None,
        Some(id) => {
            let page = tree.get(id).ok_or_else(|| Error::not_found("page"))?;
            if !has_content(page) {
                return Err(Error::invalid("page", "must be a page or a group"));
            }
            Some(page)
        }
    };
    let mut pages: Vec<(&TreePage, usize)> = top.iter().map(|page| (*page, 0)).collect();
    let mut depths: HashMap<&PageId, usize> = pages.iter().map(|(page, depth)| (&page.id, *depth)).collect();
    // A page precedes its descendants, so the depth of the parent is known.
    for page in tree.pages().iter().filter(|_| !part.only) {
        if page.entry.hidden || !has_content(page) {
            continue;
        }
        let depth = match (&page.entry.parent, top) {
            (None, None) => Some(0),
            (None, Some(_)) => None,
            (Some(parent), _) => depths.get(parent).map(|above| above + 1),
        };
        if let Some(depth) = depth
            && depths.insert(&page.id, depth).is_none()
        {
            pages.push((page, depth));
        }
    }
    if pages.len() > MAX_PAGES {
        let many = pages.len();
        let why = format!("a PDF must have at most {MAX_PAGES} pages, has {many}; select fewer with `page`");
        return Err(Error::new(ErrorKind::TooLarge, why));
    }
    Ok(pages)
}

const fn has_content(page: &TreePage) -> bool {
    matches!(page.entry.kind, PageKind::Document | PageKind::Group)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_beyond_their_total_size_are_left_out() {
        let mut room = ImageBudget(MAX_IMAGES);
        assert!(!room.take(MAX_IMAGE + 1), "one image is too large");
        let taken = (0..20).filter(|_| room.take(MAX_IMAGE)).count() as u64;
        assert_eq!(taken, MAX_IMAGES / MAX_IMAGE);
        let left = MAX_IMAGES % MAX_IMAGE;
        assert_eq!([left + 1, left, 1, 0].map(|size| room.take(size)), [false, true, false, true]);
    }
}
