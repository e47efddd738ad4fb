//! Collects the references of a document before rendering: other spaces of the site, reusable content and
//! OpenAPI operations.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use docs_core::{
    ErrorKind, Result,
    content::{
        Evaluated,
        document::{into_reading_view, memory},
        document_allowance, run_in_place,
    },
    model::{ContentRef, Document, FileId, PageId, ReusableId, RevisionId, SpaceId},
    platform::{ContentSnapshot, EntityTag, PageSearch, ShownSpec, SpecDetail},
};

use crate::{
    address::{Addresses, LinkedPages, SitePlace},
    descriptions::DescriptionParser,
    references::{DocumentReferences, MAX_SHOWN_FILES, MAX_SPACES, ReusableContents, Specs},
    site_cache::SiteCaches,
    space_search::SearchedSpace,
    visit::Visit,
};

/// The maximum number of reusable content blocks on a page, including nested ones.
const MAX_REUSED: usize = 200;
/// The memory in bytes after which a page loads no further reusable content blocks.
const MAX_REUSED_MEMORY: usize = 32 << 20;
/// The number of operations, webhooks and schemas after which they are no longer looked up for further reusable content
/// blocks.
const MAX_SUBJECTS: usize = 500;

/// The content that a page shows in addition to its own document.
#[derive(Debug, Default)]
pub(crate) struct EmbeddedContent {
    pub(crate) reused: ReusableContents,
    /// The slugs of the OpenAPI specifications that the page references, even if they do not exist.
    pub(crate) specs: BTreeSet<String>,
    /// `true` if the page itself references some of them.
    is_page_of_specs: bool,
    /// The reusable content blocks that reference some of them.
    reused_of_specs: Vec<(SpaceId, ReusableId)>,
    /// The number of operations, webhooks and schemas that are looked up.
    subjects: usize,
    /// The spaces of the reusable content blocks.
    spaces: ReusedSpaces,
}

impl EmbeddedContent {
    /// Adds the OpenAPI specifications that a document references. Returns `true` if there are any and they are looked
    /// up.
    fn add_specs(&mut self, (slugs, subjects): (Vec<String>, usize)) -> bool {
        if slugs.is_empty() || self.subjects >= MAX_SUBJECTS {
            return false;
        }
        self.subjects += subjects;
        self.specs.extend(slugs);
        true
    }
}

/// Loads the references of a page: the files and the pages of other spaces into `addresses`, and reusable content
/// blocks into the result.
///
/// # Errors
/// Errors of the platform, except `NotFound`: content that the visitor cannot access is left out.
pub(crate) async fn gather(
    visit: &Visit,
    caches: &SiteCaches,
    of_page: DocumentReferences,
    addresses: &mut Arc<Addresses>,
) -> Result<EmbeddedContent> {
    let (mut gathered, mut of_page) = (EmbeddedContent::default(), of_page);
    gathered.is_page_of_specs = gathered.add_specs(std::mem::take(&mut of_page.specs));
    let mut waiting = vec![(addresses.space.clone(), of_page)];
    let (mut room, mut allowance) = (ReuseBudget::default(), document_allowance());
    let (mut spaces, mut looked_up) = (ReusedSpaces::default(), HashSet::new());
    while let Some((space, found)) = waiting.pop() {
        load_references(visit, caches, addresses, &space, spaces.get(&space), &found).await?;
        for (of, id) in found.reused {
            let key = (of.unwrap_or_else(|| space.clone()), id);
            if room.is_full() {
                break;
            }
            if !looked_up.insert(key.clone()) {
                continue;
            }
            // Blocks that the visitor cannot access are counted as well, because their conditions are evaluated.
            room.take_lookup();
            let Some(content) = spaces.open(visit, &key.0).await? else { continue };
            let document = content.reusable_document(&key.1, Evaluated::Yes, &mut allowance);
            let document = match document.await {
                Ok(document) => run_in_place(|| into_reading_view(document)),
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            room.take_memory(&document);
            let mut found = DocumentReferences::from_document(&document);
            if gathered.add_specs(std::mem::take(&mut found.specs)) {
                gathered.reused_of_specs.push(key.clone());
            }
            waiting.push((key.0.clone(), found));
            gathered.reused.insert(key, document);
        }
    }
    if visit.is_limited() {
        Arc::make_mut(addresses).is_passing = true;
    }
    gathered.spaces = spaces;
    Ok(gathered)
}

/// The spaces of the reusable content blocks of a page.
#[derive(Debug, Default)]
struct ReusedSpaces {
    /// `None` for a space that the visitor cannot access.
    opened: HashMap<SpaceId, Option<ContentSnapshot>>,
}

impl ReusedSpaces {
    /// Opens a space, unless the visitor cannot access it or [`MAX_SPACES`] other spaces are open.
    async fn open(&mut self, visit: &Visit, space: &SpaceId) -> Result<Option<&ContentSnapshot>> {
        if !self.opened.contains_key(space) {
            if self.opened.len() > MAX_SPACES {
                return Ok(None);
            }
            let opened = match visit.snapshot(space).await {
                Ok(opened) => Some(opened),
                Err(error) if error.kind() == ErrorKind::NotFound => None,
                Err(error) => return Err(error),
            };
            self.opened.insert(space.clone(), opened);
        }
        Ok(self.get(space))
    }

    /// Returns the content of an open space.
    fn get(&self, space: &SpaceId) -> Option<&ContentSnapshot> {
        self.opened.get(space).and_then(Option::as_ref)
    }
}

/// The remaining budget for reusable content blocks of a page.
struct ReuseBudget {
    number: usize,
    memory: usize,
}

impl Default for ReuseBudget {
    fn default() -> Self {
        Self { number: MAX_REUSED, memory: MAX_REUSED_MEMORY }
    }
}

impl ReuseBudget {
    const fn is_full(&self) -> bool {
        self.number == 0 || self.memory == 0
    }

    fn take_lookup(&mut self) {
        self.number = self.number.saturating_sub(1);
    }

    fn take_memory(&mut self, document: &Document) {
        self.memory = self.memory.saturating_sub(memory(document));
    }
}

/// Loads the parts of OpenAPI specifications that a page and its reusable content blocks show, and parses their
/// descriptions.
///
/// # Errors
/// Errors of the platform, except `NotFound`: content that the visitor cannot access is left out.
pub(crate) async fn gather_specs(
    visit: &Visit,
    parser: &DescriptionParser,
    space: &SpaceId,
    page: &PageId,
    gathered: &EmbeddedContent,
) -> Result<Specs> {
    let mut shown: Vec<ShownSpec> = Vec::new();
    let mut add = |found: Result<Vec<ShownSpec>>| match found {
        Ok(found) => {
            shown.extend(found);
            Ok(())
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    };
    if gathered.is_page_of_specs {
        add(visit.content(space).get_page_specs(page).await)?;
    }
    for key in &gathered.reused_of_specs {
        if let (Some(content), Some(document)) = (gathered.spaces.get(&key.0), gathered.reused.get(key)) {
            add(content.specs_of(document).await)?;
        }
    }
    let descriptions = parser.parse(shown.iter().map(|shown| Arc::clone(&shown.detail))).await?;
    let operations = shown.iter().filter_map(|shown| match &*shown.detail {
        SpecDetail::Operation(of) => {
            Some(((shown.spec.clone(), of.operation_id.clone()?), shown.subject.clone()))
        }
        _ => None,
    });
    let operations = operations.collect();
    let details = shown.into_iter().map(|shown| ((shown.spec, shown.subject), shown.detail)).collect();
    Ok(Specs { details, operations, descriptions })
}

/// Loads the pages and files that the content of a space references into `addresses`. The content is given if it is
/// already open.
async fn load_references(
    visit: &Visit,
    caches: &SiteCaches,
    addresses: &mut Arc<Addresses>,
    space: &SpaceId,
    content: Option<&ContentSnapshot>,
    references: &DocumentReferences,
) -> Result<()> {
    for (other, pages) in &references.pages {
        load_space(visit, caches, addresses, other.as_ref().unwrap_or(space), pages).await?;
    }
    load_files(visit, caches, addresses, space, content, &references.files).await
}

/// Loads pages of a space of the site into `addresses`.
async fn load_space(
    visit: &Visit,
    caches: &SiteCaches,
    addresses: &mut Arc<Addresses>,
    space: &SpaceId,
    pages: &BTreeSet<PageId>,
) -> Result<()> {
    let known = match addresses.linked.get(space) {
        Some(LinkedPages::Tree(_)) => return Ok(()),
        Some(LinkedPages::LookedUp(known)) => Some(known),
        None if addresses.linked.len() > MAX_SPACES || !addresses.has(space) => return Ok(()),
        None => None,
    };
    let is_new = |page: &&PageId| known.is_none_or(|known| !known.contains_key(*page));
    let pages: Vec<PageId> = pages.iter().filter(is_new).cloned().collect();
    let places = visit.places();
    let Some(place) = places.iter().find(|place| place.space.space.id == *space) else { return Ok(()) };
    if pages.is_empty() {
        return Ok(());
    }
    let addresses = Arc::make_mut(addresses);
    let mut search = std::mem::take(&mut addresses.search);
    let found = find_pages(visit, caches, place, &pages, &mut search).await;
    addresses.search = search;
    match found {
        Ok((revision, computed, found)) => {
            addresses.is_passing |= revision != place.space.space.revision;
            computed.into_iter().for_each(|tag| addresses.add_dependency(space, tag));
            match (addresses.linked.get_mut(space), found) {
                (Some(LinkedPages::LookedUp(known)), LinkedPages::LookedUp(found)) => known.extend(found),
                (_, found) => drop(addresses.linked.insert(space.clone(), found)),
            }
        }
        // The visitor may have lost access, for example because its condition has changed since the site was read.
        Err(error) if error.kind() == ErrorKind::NotFound => addresses.is_passing = true,
        Err(error) => return Err(error),
    }
    Ok(())
}

/// Finds pages of a space. Returns them with the revision, and with the ETag of the sources of computed pages that they
/// depend on.
async fn find_pages(
    visit: &Visit,
    caches: &SiteCaches,
    place: &SitePlace<'_>,
    pages: &[PageId],
    search: &mut PageSearch,
) -> Result<(RevisionId, Option<EntityTag>, LinkedPages)> {
    match SearchedSpace::open(visit, caches, place, pages.len(), search).await? {
        SearchedSpace::Tree(key, tree) => Ok((key.revision, key.computed, LinkedPages::Tree(tree))),
        SearchedSpace::Content(content) => {
            let mut found = content.page_addresses(pages, search).await?;
            let found = pages.iter().map(|page| (page.clone(), found.remove(page))).collect();
            Ok((content.revision().clone(), None, LinkedPages::LookedUp(found)))
        }
    }
}

/// Loads files of a space of the site into `addresses`, up to [`MAX_SHOWN_FILES`] for the page.
async fn load_files(
    visit: &Visit,
    caches: &SiteCaches,
    addresses: &mut Arc<Addresses>,
    space: &SpaceId,
    content: Option<&ContentSnapshot>,
    files: &BTreeSet<FileId>,
) -> Result<()> {
    let known = addresses.files.get(space);
    let is_new = |file: &&FileId| known.is_none_or(|known| !known.is_known(file));
    let room = MAX_SHOWN_FILES.saturating_sub(addresses.known_files());
    let files: Vec<FileId> = files.iter().filter(is_new).take(room).cloned().collect();
    let places = visit.places();
    let place = places.iter().find(|place| place.space.space.id == *space);
    let Some(place) = place.filter(|_| !files.is_empty()) else { return Ok(()) };
    let found = visit.files(caches, place, content, files).await?;
    let files = Arc::make_mut(addresses).files.entry(space.clone()).or_default();
    Arc::make_mut(files).extend(found);
    Ok(())
}

/// Loads the pages and files that `targets` reference.
///
/// # Errors
/// Errors of the platform.
pub(crate) async fn gather_targets<'r>(
    visit: &Visit,
    caches: &SiteCaches,
    targets: impl Iterator<Item = &'r ContentRef>,
    addresses: &mut Arc<Addresses>,
) -> Result<()> {
    let mut found = DocumentReferences::default();
    targets.for_each(|target| found.add(target));
    gather_references(visit, caches, &found, addresses).await
}

/// Loads the pages and files that the space of `addresses` references.
///
/// # Errors
/// Errors of the platform.
pub(crate) async fn gather_references(
    visit: &Visit,
    caches: &SiteCaches,
    references: &DocumentReferences,
    addresses: &mut Arc<Addresses>,
) -> Result<()> {
    let space = addresses.space.clone();
    load_references(visit, caches, addresses, &space, None, references).await
}

#[cfg(test)]
mod tests {
    use docs_core::content::document::parse;

    use super::*;

    /// Returns the number of documents that a page loads if it references many identical ones.
    fn loaded(document: &Document) -> usize {
        let mut room = ReuseBudget::default();
        let mut loaded = 0;
        while !room.is_full() {
            room.take_lookup();
            room.take_memory(document);
            loaded += 1;
        }
        loaded
    }

    #[test]
    fn reusable_contents_beyond_their_memory_are_not_loaded() {
        let large = parse(&"a\n\n".repeat(10_000));
        let most = MAX_REUSED_MEMORY.div_ceil(memory(&large));
        assert!((2..MAX_REUSED / 2).contains(&most), "{most}");
        assert_eq!((loaded(&large), loaded(&parse("a"))), (most, MAX_REUSED));
    }

    #[test]
    fn specifications_of_reused_content_are_bounded() {
        let mut gathered = EmbeddedContent::default();
        let mut looked_up = 0;
        while gathered.add_specs((vec![format!("s{looked_up}")], MAX_SUBJECTS / 4)) {
            looked_up += 1;
        }
        assert_eq!((looked_up, gathered.specs.len()), (4, 4));
    }
}
