//! Collects the references of a document before rendering: other spaces of the site, reusable content and
//! OpenAPI operations.

use std::{collections::HashMap, sync::Arc};

use docs_core::{
    ErrorKind, Result,
    content::{Evaluated, document::memory},
    model::{BlockKind, CellValue, ContentRef, Document, InlineKind, PageId, Part, ReusableId, SpaceId},
    platform::{ShownSpec, SpecDetail, SpecSubject},
};

use crate::{address::Addresses, cache::Caches, visit::Visit};

/// The maximum number of reusable contents of a page, including nested ones.
const MAX_REUSED: usize = 200;
/// The memory in bytes after which a page loads no further reusable content.
const MAX_REUSED_MEMORY: usize = 32 << 20;
/// The maximum number of page trees of other spaces that are loaded for the links of a page.
const MAX_SPACES: usize = 20;

/// Reusable contents by space and id.
pub(crate) type Reused = HashMap<(SpaceId, ReusableId), Document>;

/// The content that a page shows in addition to its own document.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    pub(crate) reused: Reused,
    /// `true` if the page references OpenAPI specifications, even if they do not exist.
    is_page_of_specs: bool,
    /// The reusable contents that reference OpenAPI specifications.
    reused_of_specs: Vec<(SpaceId, ReusableId)>,
}

impl Gathered {
    /// Returns `true` if OpenAPI specifications are referenced, even if they do not exist.
    pub(crate) const fn shows_specs(&self) -> bool {
        self.is_page_of_specs || !self.reused_of_specs.is_empty()
    }
}

/// The shown parts of OpenAPI specifications, by slug and subject.
pub(crate) type Specs = HashMap<(String, SpecSubject), Arc<SpecDetail>>;

/// The references of a document.
#[derive(Clone, Debug, Default)]
pub(crate) struct References {
    spaces: Vec<SpaceId>,
    reused: Vec<(Option<SpaceId>, ReusableId)>,
    shows_specs: bool,
}

/// Loads the references of a page: the page trees of other spaces into `addresses`, and reusable contents
/// into the result.
///
/// # Errors
/// Those of the platform, except `NotFound`: content that the visitor cannot access is left out.
pub(crate) async fn gather(
    visit: &Visit,
    caches: &Caches,
    of_page: References,
    addresses: &mut Arc<Addresses>,
) -> Result<Gathered> {
    let mut gathered = Gathered { is_page_of_specs: of_page.shows_specs, ..Gathered::default() };
    let mut waiting = vec![(addresses.space.clone(), of_page)];
    let mut room = ReuseRoom::default();
    while let Some((space, found)) = waiting.pop() {
        for other in found.spaces {
            load(visit, caches, addresses, &other).await?;
        }
        for (of, id) in found.reused {
            let key = (of.unwrap_or_else(|| space.clone()), id);
            if room.is_full() || gathered.reused.contains_key(&key) {
                continue;
            }
            load(visit, caches, addresses, &key.0).await?;
            let document = match visit.content(&key.0).get_reusable_document(&key.1, Evaluated::Yes).await {
                Ok(document) => document,
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            room.take(&document);
            let found = References::of(&document);
            if found.shows_specs {
                gathered.reused_of_specs.push(key.clone());
            }
            waiting.push((key.0.clone(), found));
            gathered.reused.insert(key, document);
        }
    }
    Ok(gathered)
}

/// The reusable contents that a page may still load.
struct ReuseRoom {
    number: usize,
    memory: usize,
}

impl Default for ReuseRoom {
    fn default() -> Self {
        Self { number: MAX_REUSED, memory: MAX_REUSED_MEMORY }
    }
}

impl ReuseRoom {
    const fn is_full(&self) -> bool {
        self.number == 0 || self.memory == 0
    }

    fn take(&mut self, document: &Document) {
        self.number = self.number.saturating_sub(1);
        self.memory = self.memory.saturating_sub(memory(document));
    }
}

/// Loads the parts of OpenAPI specifications that a page and its reusable contents show.
///
/// # Errors
/// Those of the platform, except `NotFound`: content that the visitor cannot access is left out.
pub(crate) async fn gather_specs(
    visit: &Visit,
    (space, page): (&SpaceId, &PageId),
    gathered: &Gathered,
) -> Result<Specs> {
    let mut specs = Specs::new();
    if gathered.is_page_of_specs {
        add(&mut specs, visit.content(space).get_page_specs(page).await)?;
    }
    for (space, id) in &gathered.reused_of_specs {
        add(&mut specs, visit.content(space).get_reusable_specs(id).await)?;
    }
    Ok(specs)
}

fn add(specs: &mut Specs, found: Result<Vec<ShownSpec>>) -> Result<()> {
    match found {
        Ok(found) => {
            specs.extend(found.into_iter().map(|shown| ((shown.spec, shown.subject), shown.detail)));
            Ok(())
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Loads the page tree of a space of the site into `addresses`.
async fn load(visit: &Visit, caches: &Caches, addresses: &mut Arc<Addresses>, space: &SpaceId) -> Result<()> {
    let is_known = addresses.frames.contains_key(space) || addresses.frames.len() > MAX_SPACES;
    if is_known || !addresses.has(space) {
        return Ok(());
    }
    let places = visit.places();
    let Some(place) = places.iter().find(|place| place.space.space.id == *space) else { return Ok(()) };
    match visit.named_frame(caches, place).await {
        Ok((key, frame)) => {
            let addresses = Arc::make_mut(addresses);
            addresses.is_passing |= !key.follows_from(place);
            addresses.frames.insert(space.clone(), frame);
        }
        // For example, its condition has changed since the site was read.
        Err(error) if error.kind() == ErrorKind::NotFound => Arc::make_mut(addresses).is_passing = true,
        Err(error) => return Err(error),
    }
    Ok(())
}

/// Loads the page trees of the spaces that `targets` reference.
///
/// # Errors
/// Those of the platform.
pub(crate) async fn gather_references<'r>(
    visit: &Visit,
    caches: &Caches,
    targets: impl Iterator<Item = &'r ContentRef>,
    addresses: &mut Arc<Addresses>,
) -> Result<()> {
    let mut found = References::default();
    targets.for_each(|target| found.add(target));
    gather_spaces(visit, caches, &found.spaces, addresses).await
}

/// Loads the page trees of `spaces`.
///
/// # Errors
/// Those of the platform.
pub(crate) async fn gather_spaces(
    visit: &Visit,
    caches: &Caches,
    spaces: &[SpaceId],
    addresses: &mut Arc<Addresses>,
) -> Result<()> {
    for space in spaces {
        load(visit, caches, addresses, space).await?;
    }
    Ok(())
}

impl References {
    /// Collects the references of a document.
    pub(crate) fn of(document: &Document) -> Self {
        let mut found = Self::default();
        for part in document.parts() {
            match part {
                Part::Block(block) => found.block(&block.kind),
                Part::Inline(inline) => found.inline(&inline.kind),
            }
        }
        found
    }

    /// The other spaces with referenced pages.
    pub(crate) fn into_spaces(self) -> Vec<SpaceId> {
        self.spaces
    }

    /// The approximate memory in bytes.
    pub(crate) const fn weight(&self) -> usize {
        self.spaces.len() * 64 + self.reused.len() * 128
    }

    fn block(&mut self, kind: &BlockKind) {
        self.shows_specs |= SpecSubject::of(kind).is_some();
        match kind {
            BlockKind::ContentRef { target } | BlockKind::ReusableContent { target } => self.add(target),
            BlockKind::Table(table) => {
                for value in table.records.values().flat_map(|record| record.values.values()) {
                    if let CellValue::Reference(target) = value {
                        self.add(target);
                    }
                }
            }
            // Images and files belong to the space itself.
            _ => {}
        }
    }

    fn inline(&mut self, kind: &InlineKind) {
        match kind {
            InlineKind::Link { target, .. } | InlineKind::Mention { target } => self.add(target),
            InlineKind::Button { target: Some(target), .. } => self.add(target),
            _ => {}
        }
    }

    /// Adds the space or reusable content that a target references.
    pub(crate) fn add(&mut self, target: &ContentRef) {
        match target {
            ContentRef::Page { space: Some(space), .. } | ContentRef::Anchor { space: Some(space), .. }
                if self.spaces.len() <= MAX_SPACES && !self.spaces.contains(space) =>
            {
                self.spaces.push(space.clone());
            }
            ContentRef::ReusableContent { reusable_content, space } => {
                self.reused.push((space.clone(), reusable_content.clone()));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use docs_core::content::document::parse;

    use super::*;

    /// Returns the number of documents that a page loads if it references many equal ones.
    fn loaded(document: &Document) -> usize {
        let mut room = ReuseRoom::default();
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
    fn spaces_beyond_the_bound_are_left_out() {
        let mut found = References::default();
        for number in 0..MAX_SPACES + 9 {
            let space = Some(format!("space{number}").parse().expect("an id"));
            found.add(&ContentRef::Page { page: "page".parse().expect("an id"), space });
        }
        // The space of the page itself may be one of them.
        assert_eq!(found.into_spaces().len(), MAX_SPACES + 1);
    }
}
