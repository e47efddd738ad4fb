//! Builds the content of a complete import in one pass.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use bytes::Bytes;
use chrono::{DateTime, Utc};
use docs_markup::UniqueNames;
use docs_model::{FileId, JsonText, PageId, PagePatch, ReusableId, VariableValue};
use docs_store::{Hash, Key};

use super::{
    Content, ContentResult, Cost, FileEntry, LinkSource, LinkTarget, NewBody, PageEntry, PageKind, Rank,
    ReusableEntry, ReusablePatch, VariableEntry, bounds,
    content::FLUSH_TEXT_BYTES,
    edit::{PagePlace, check_variables, patch},
    entry::encode,
    error::{check_text, invalid},
    file_name::append_number,
    keys,
    links::{self, LinkFields, SourceLinks, SourceReferences},
    map,
    offload::yield_after_each,
    redirects::GitRedirect,
    tree::normal_path,
};

/// Number of items processed before yielding to other tasks.
const PAUSE_EVERY: usize = 32;

/// A page of an import.
#[derive(Clone, PartialEq, Debug)]
pub struct BuildPage {
    /// The previous id of an existing page, or a new id.
    pub id: PageId,
    /// The parent page, which must precede this page, or `None` for the top level.
    pub parent: Option<PageId>,
    /// The previous rank. Siblings keep their ranks if their order permits it, so that an import with few changes moves
    /// few pages.
    pub rank: Option<Rank>,
    pub kind: PageKind,
    /// The fields of the page. The title is required.
    pub fields: PagePatch,
    pub body: NewBody,
    /// The hash of the source file's text, which must already be stored.
    pub source: Option<Hash>,
    /// The hash of the results of the directives in the text, which must already be stored.
    pub expansions: Option<Hash>,
    /// The creation time, or `None` for the time of the import.
    pub created_at: Option<DateTime<Utc>>,
    /// The time of the last change, or `None` for the time of the import.
    pub updated_at: Option<DateTime<Utc>>,
}

impl BuildPage {
    /// Returns the size in bytes of the variables, and of the front matter that the platform does not interpret.
    #[must_use]
    pub fn front_matter_bytes(&self) -> u64 {
        let variables = self.fields.variables.as_ref().map_or(0, JsonText::bytes);
        (variables + self.fields.extra.as_ref().map_or(0, JsonText::bytes)) as u64
    }

    /// Creates a page without text.
    #[must_use]
    pub fn new(id: PageId, parent: Option<PageId>, kind: PageKind, fields: PagePatch) -> Self {
        Self {
            id,
            parent,
            rank: None,
            kind,
            fields,
            body: NewBody::Empty,
            source: None,
            expansions: None,
            created_at: None,
            updated_at: None,
        }
    }

    /// Returns the record of the page, except for rank, slug and times.
    pub(crate) fn entry(&self) -> ContentResult<PageEntry> {
        let title = self.fields.title.as_deref().ok_or_else(|| invalid("title", "is missing"))?;
        let mut entry = PageEntry::new(self.kind, title, Rank::nth(0));
        entry.parent = self.parent.clone();
        patch::apply(&self.fields, &mut entry)?;
        entry.body = self.body.body();
        entry.source = self.source;
        entry.expansions = self.expansions;
        if self.kind != PageKind::Document && !entry.body.is_empty() {
            return Err(invalid("document", "is allowed for documents only"));
        }
        patch::check_complete(&entry)?;
        Ok(entry)
    }
}

/// An item of an import.
#[derive(Clone, PartialEq, Debug)]
pub enum BuildItem {
    /// A page. Parents must precede their children, and siblings must be in order.
    Page(Box<BuildPage>),
    /// A file whose content is already stored. A number is added to its name if an earlier file has the same name.
    File(FileId, FileEntry),
    /// A reusable content block. The title is required.
    Reusable(ReusableId, ReusablePatch),
    Variable(String, VariableValue),
    /// An old path, and the page and anchor to which it redirects. The first redirect of a path applies.
    Redirect(String, PageId, Option<String>),
}

/// The result of [`Content::build`].
#[non_exhaustive]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BuildOutcome {
    pub root: Hash,
    /// The cost of the import.
    pub cost: Cost,
}

impl Content {
    /// Builds content from all items of an import in one pass. If the import has few links, nothing is loaded except
    /// bodies of other content. The links of the other pages are derived at the end, from their stored texts.
    ///
    /// Pages without times of their own receive the time `now`. Texts are stored while the items are read, and the map
    /// is stored at the end. Importing the same items returns the same root.
    ///
    /// # Errors
    /// [`ContentError::Invalid`](crate::ContentError::Invalid) with the index and the field of an invalid item;
    /// [`ContentError::Store`](crate::ContentError::Store).
    ///
    /// # Cancel safety
    /// Dropping the future leaves only unreferenced objects.
    pub async fn build<I>(&self, domain: &str, now: DateTime<Utc>, items: I) -> ContentResult<BuildOutcome>
    where
        I: IntoIterator<Item = BuildItem>,
        I::IntoIter: Send,
    {
        let items = items.into_iter();
        let mut session = self.session(domain);
        let mut builder = ContentBuilder::new(now, self.link_batches().first);
        for (position, item) in items.enumerate() {
            let text = builder.add(item).map_err(|error| error.at_index(position))?;
            if let Some(text) = text {
                check_text(&text).map_err(|error| error.at_index(position))?;
                session.add_text(&text);
            }
            if session.waiting_text_bytes() > FLUSH_TEXT_BYTES {
                session.flush_texts().await?;
            }
            yield_after_each(PAUSE_EVERY, position + 1).await;
        }
        session.flush_texts().await?;
        let mut deferred = Vec::new();
        for (source, parts) in std::mem::take(&mut builder.stored) {
            if builder.is_full() {
                deferred.push((source, parts));
                continue;
            }
            let found = session.run(|session| links::of_parts(session, self.merger(), &parts)).await?;
            builder.add_references(source, found);
        }
        let mut above = Vec::new();
        for (entry, leaf) in map::LeafStream::new(builder.finish()?) {
            above.push(entry);
            session.store_node(leaf).await?;
        }
        session.flush_nodes().await?;
        let built = map::build_above(above);
        session.add_nodes(built.nodes);
        session.save(built.root, &BTreeSet::new()).await?;
        session.drop_loaded();
        deferred.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        let root = self.link_sources(&mut session, built.root, &deferred).await?;
        session.save(root, &BTreeSet::new()).await?;
        Ok(BuildOutcome { root, cost: session.finish() })
    }
}

struct ContentBuilder {
    now: DateTime<Utc>,
    pages: HashMap<PageId, (PageEntry, PagePlace)>,
    /// The children of each page in order, with their previous ranks.
    order: HashMap<Option<PageId>, Vec<(PageId, Option<Rank>)>>,
    slugs: HashMap<Option<PageId>, UniqueNames>,
    /// File names in use.
    names: UniqueNames,
    /// The total size of the records of pages.
    page_bytes: u64,
    files: u64,
    reusables: u64,
    /// The total size of the records of reusable content blocks.
    reusable_bytes: u64,
    others: BTreeMap<Key, Bytes>,
    references: Vec<(LinkSource, SourceReferences)>,
    /// The number of references, and the number from which further sources are deferred.
    reference_count: usize,
    max_references: usize,
    /// Sources whose references are derived from their stored texts.
    stored: Vec<(LinkSource, LinkFields)>,
}

impl ContentBuilder {
    fn new(now: DateTime<Utc>, max_references: usize) -> Self {
        Self {
            now,
            pages: HashMap::new(),
            order: HashMap::new(),
            slugs: HashMap::new(),
            names: UniqueNames::default(),
            page_bytes: 0,
            files: 0,
            reusables: 0,
            reusable_bytes: 0,
            others: BTreeMap::new(),
            references: Vec::new(),
            reference_count: 0,
            max_references,
            stored: Vec::new(),
        }
    }

    /// Adds an item. Returns its text, which the caller must store.
    fn add(&mut self, item: BuildItem) -> ContentResult<Option<String>> {
        match item {
            BuildItem::Page(page) => self.add_page(*page),
            BuildItem::File(id, entry) => self.add_file(&id, entry).map(|()| None),
            BuildItem::Reusable(id, fields) => self.add_reusable(&id, fields),
            BuildItem::Variable(name, value) => {
                check_variables(&BTreeMap::from([(name.clone(), value.clone())]))?;
                let entry = VariableEntry { value, clash: JsonText::default() };
                self.add_other(keys::variable(&name), encode(&entry)?, "variables").map(|()| None)
            }
            BuildItem::Redirect(path, page, anchor) => {
                let value = encode(&GitRedirect { page, anchor })?;
                self.others.entry(keys::git_redirect(&normal_path(&path))).or_insert(value);
                Ok(None)
            }
        }
    }

    fn add_page(&mut self, page: BuildPage) -> ContentResult<Option<String>> {
        if self.pages.contains_key(&page.id) {
            return Err(invalid("page", format!("is `{}`, which is a duplicate", page.id)));
        }
        let above = self.place_above(page.parent.as_ref(), page.kind)?;
        bounds::check_pages(self.pages.len() as u64 + 1).map_err(|what| invalid("page", what))?;
        bounds::check_levels(above.level + 1).map_err(|what| invalid("parent", what))?;
        let mut entry = page.entry()?;
        if page.kind.has_slug() {
            let wanted = patch::wanted_slug(page.fields.slug.as_deref(), &entry);
            entry.slug = self.slugs.entry(page.parent.clone()).or_default().take_slug(wanted, 2);
        }
        let place = above.below(&entry.slug);
        bounds::check_path(place.path_bytes).map_err(|what| invalid("slug", what))?;
        entry.created_at = Some(page.created_at.unwrap_or(self.now));
        entry.updated_at = Some(page.updated_at.unwrap_or(self.now));
        self.page_bytes += encode(&entry)?.len() as u64;
        bounds::check_record_bytes(self.page_bytes).map_err(|what| invalid("fields", what))?;
        self.refer(LinkSource::Page(page.id.clone()), LinkFields::from(&entry), &page.body);
        let siblings = self.order.entry(page.parent).or_default();
        bounds::check_siblings(siblings.len() as u64 + 1).map_err(|what| invalid("parent", what))?;
        siblings.push((page.id.clone(), page.rank));
        self.pages.insert(page.id, (entry, place));
        Ok(text_of(page.body))
    }

    fn add_file(&mut self, id: &FileId, mut entry: FileEntry) -> ContentResult<()> {
        if entry.name.trim().is_empty() {
            return Err(invalid("name", "is empty"));
        }
        self.files += 1;
        bounds::check_files(self.files).map_err(|what| invalid("file", what))?;
        entry.name = self.names.take(entry.name, 1, append_number);
        self.add_other(keys::file(id), encode(&entry)?, "file")?;
        self.add_other(keys::derived_of_file(id, &entry), Bytes::new(), "file")
    }

    /// Returns the level and path length of the parent of a new page. Rejects a parent that does not accept pages of
    /// this kind.
    fn place_above(&self, parent: Option<&PageId>, kind: PageKind) -> ContentResult<PagePlace> {
        let Some(parent) = parent else { return Ok(PagePlace::default()) };
        if kind == PageKind::Group {
            return Err(invalid("parent", "must be the top level for a group"));
        }
        match self.pages.get(parent) {
            Some((above, place)) if above.kind.is_parent() => Ok(*place),
            Some(_) => Err(invalid("parent", "must be a page that can have child pages")),
            None => Err(invalid("parent", format!("is `{parent}`, which must precede its child pages"))),
        }
    }

    fn add_reusable(&mut self, id: &ReusableId, fields: ReusablePatch) -> ContentResult<Option<String>> {
        let title = fields.title.as_deref().ok_or_else(|| invalid("title", "is missing"))?;
        self.reusables += 1;
        bounds::check_reusables(self.reusables).map_err(|what| invalid("reusable", what))?;
        let mut entry = ReusableEntry::new(title);
        fields.apply(&mut entry)?;
        let body = fields.body.unwrap_or_default();
        entry.body = body.body();
        let record = encode(&entry)?;
        self.reusable_bytes += record.len() as u64;
        bounds::check_record_bytes(self.reusable_bytes).map_err(|what| invalid("fields", what))?;
        self.add_other(keys::reusable(id), record, "reusable")?;
        self.refer(LinkSource::Reusable(id.clone()), LinkFields::from(&entry), &body);
        Ok(text_of(body))
    }

    /// Records the references of a source, or the source itself if its text must be loaded.
    fn refer(&mut self, source: LinkSource, parts: LinkFields, body: &NewBody) {
        match body {
            NewBody::Empty if !self.is_full() => self.add_references(source, parts.references("")),
            NewBody::Text(text) if !self.is_full() => self.add_references(source, parts.references(text)),
            _ => self.stored.push((source, parts)),
        }
    }

    /// Returns `true` if the references of further sources do not fit into memory.
    const fn is_full(&self) -> bool {
        self.reference_count >= self.max_references
    }

    fn add_references(&mut self, source: LinkSource, references: SourceReferences) {
        self.reference_count += references.len();
        self.references.push((source, references));
    }

    fn add_other(&mut self, key: Key, value: Bytes, field: &'static str) -> ContentResult<()> {
        match self.others.insert(key, value) {
            None => Ok(()),
            Some(_) => Err(invalid(field, "is a duplicate")),
        }
    }

    /// Returns all entries in key order.
    fn finish(mut self) -> ContentResult<Vec<(Key, Bytes)>> {
        for siblings in self.order.into_values() {
            let before: Vec<Option<Rank>> = siblings.iter().map(|(_, rank)| rank.clone()).collect();
            for ((id, _), rank) in siblings.iter().zip(Rank::arrange(&before)) {
                if let Some((entry, _)) = self.pages.get_mut(id) {
                    entry.rank = rank;
                }
            }
        }
        let mut entries: Vec<(Key, Bytes)> = Vec::new();
        // Drop each source once its entries are written, because an import can have hundreds of thousands of links.
        for (source, references) in std::mem::take(&mut self.references) {
            let has = |target: &LinkTarget| match target {
                LinkTarget::Page(id) => self.pages.contains_key(id),
                LinkTarget::File(id) => self.others.contains_key(&keys::file(id)),
                LinkTarget::Reusable(id) => self.others.contains_key(&keys::reusable(id)),
            };
            entries.extend(SourceLinks::derive(&source, &references, has)?.into_entries(&source));
        }
        entries.extend(self.others);
        for (id, (entry, _)) in &self.pages {
            entries.push((keys::page(id), encode(entry)?));
            entries.extend(keys::derived_entries(id, entry));
        }
        entries.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        Ok(entries)
    }
}

fn text_of(body: NewBody) -> Option<String> {
    match body {
        NewBody::Text(text) if !text.is_empty() => Some(text),
        _ => None,
    }
}
