//! Collects the references of a document before rendering: other spaces of the site, reusable content and
//! OpenAPI operations.

use std::{collections::BTreeSet, sync::Arc};

use docs_core::{
    ErrorKind, Result,
    content::{
        Evaluated,
        document::{into_reading_view, memory},
        document_allowance, run_in_place,
    },
    model::{ContentRef, Document, PageId, ReusableId, SpaceId},
    platform::{ShownSpec, SpecDetail},
};

use crate::{
    address::Addresses,
    descriptions::DescriptionParser,
    references::{DocumentReferences, MAX_SPACES, ReusableContents, Specs},
    site_cache::SiteCaches,
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

/// Loads the references of a page: the page trees of other spaces into `addresses`, and reusable content blocks into
/// the result.
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
    while let Some((space, found)) = waiting.pop() {
        for other in found.spaces {
            load_page_tree(visit, caches, addresses, &other).await?;
        }
        for (of, id) in found.reused {
            let key = (of.unwrap_or_else(|| space.clone()), id);
            if room.is_full() || gathered.reused.contains_key(&key) {
                continue;
            }
            load_page_tree(visit, caches, addresses, &key.0).await?;
            load_files(visit, caches, addresses, &key.0).await?;
            let content = visit.content(&key.0);
            let document = content.get_reusable_document_within(&key.1, Evaluated::Yes, &mut allowance);
            let document = match document.await {
                Ok(document) => run_in_place(|| into_reading_view(document)),
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            room.take(&document);
            let mut found = DocumentReferences::from_document(&document);
            if gathered.add_specs(std::mem::take(&mut found.specs)) {
                gathered.reused_of_specs.push(key.clone());
            }
            waiting.push((key.0.clone(), found));
            gathered.reused.insert(key, document);
        }
    }
    Ok(gathered)
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

    fn take(&mut self, document: &Document) {
        self.number = self.number.saturating_sub(1);
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
    for (space, id) in &gathered.reused_of_specs {
        add(visit.content(space).get_reusable_specs(id).await)?;
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

/// Loads the page tree of a space of the site into `addresses`.
async fn load_page_tree(
    visit: &Visit,
    caches: &SiteCaches,
    addresses: &mut Arc<Addresses>,
    space: &SpaceId,
) -> Result<()> {
    let is_known = addresses.frames.contains_key(space) || addresses.frames.len() > MAX_SPACES;
    if is_known || !addresses.has(space) {
        return Ok(());
    }
    let places = visit.places();
    let Some(place) = places.iter().find(|place| place.space.space.id == *space) else { return Ok(()) };
    match visit.keyed_page_tree(caches, place).await {
        Ok((key, frame)) => {
            let addresses = Arc::make_mut(addresses);
            addresses.is_passing |= !key.is_current(&place.space.space.revision);
            key.computed.into_iter().for_each(|tag| addresses.add_dependency(space, tag));
            addresses.frames.insert(space.clone(), frame);
        }
        // The visitor may have lost access, for example because its condition has changed since the site was read.
        Err(error) if error.kind() == ErrorKind::NotFound => Arc::make_mut(addresses).is_passing = true,
        Err(error) => return Err(error),
    }
    Ok(())
}

/// Loads the files of a space whose page tree is loaded into `addresses`.
async fn load_files(
    visit: &Visit,
    caches: &SiteCaches,
    addresses: &mut Arc<Addresses>,
    space: &SpaceId,
) -> Result<()> {
    if addresses.files.contains_key(space) || !addresses.frames.contains_key(space) {
        return Ok(());
    }
    let places = visit.places();
    let Some(place) = places.iter().find(|place| place.space.space.id == *space) else { return Ok(()) };
    match visit.files(caches, place).await {
        Ok(files) => {
            Arc::make_mut(addresses).files.insert(space.clone(), files);
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Arc::make_mut(addresses).is_passing = true,
        Err(error) => return Err(error),
    }
    Ok(())
}

/// Loads the page trees of the spaces that `targets` reference.
///
/// # Errors
/// Errors of the platform.
pub(crate) async fn gather_references<'r>(
    visit: &Visit,
    caches: &SiteCaches,
    targets: impl Iterator<Item = &'r ContentRef>,
    addresses: &mut Arc<Addresses>,
) -> Result<()> {
    let mut found = DocumentReferences::default();
    targets.for_each(|target| found.add(target));
    gather_spaces(visit, caches, &found.spaces, addresses).await
}

/// Loads the page trees of `spaces`.
///
/// # Errors
/// Errors of the platform.
pub(crate) async fn gather_spaces(
    visit: &Visit,
    caches: &SiteCaches,
    spaces: &[SpaceId],
    addresses: &mut Arc<Addresses>,
) -> Result<()> {
    for space in spaces {
        load_page_tree(visit, caches, addresses, space).await?;
    }
    Ok(())
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
            room.take(document);
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
