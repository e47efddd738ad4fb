//! Updates of a revision's links after its records have changed, in batches of bounded size.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use docs_store::{Hash, Key};

use super::{
    super::{
        Content, ContentResult,
        content::term_texts,
        edit::MapChanges,
        load::{MissingCollector, PassResult, Session},
        map::{self, Range, ValueChange},
        offload::{run_in_place, yield_to_others},
    },
    Link, LinkFields, LinkRange, LinkSource, LinkState, LinkTarget, ResolvedTarget, SourceReferences,
    backlink, backlinks,
    derive::{LinkUpdate, SourceLinks, backlink_value, inside},
    of_parts, source_of,
};

/// Memory of a collected change to a backlink, and of a distinct target of such changes, in bytes.
const CHANGE_BYTES: usize = size_of::<BacklinkChange>();
const TARGET_BYTES: usize = 160;

impl Content {
    /// Updates the links after records have changed from `before` to `after`, and returns the new root.
    ///
    /// The links in `before` must be correct; `after` must still contain the link entries of `before`. The cost is
    /// proportional to the changes, the links of the changed sources, and the backlinks of the added and removed
    /// targets. The memory depends on the number of changed records, and is independent of the number of links. New
    /// nodes remain in the session until there are too many for memory.
    pub(crate) async fn relink(
        &self,
        session: &mut Session<'_>,
        before: Hash,
        after: Hash,
    ) -> ContentResult<Hash> {
        if before == after {
            return Ok(after);
        }
        let LinkUpdate { sources, came, went } =
            session.run_long(|session| LinkUpdate::between(session, &before, &after)).await?;
        let root = self.link_sources(session, after, &sources).await?;
        let mut relinker = Relinker::new(self, session, root, &sources);
        relinker.move_links(&came, &[LinkState::Broken]).await?;
        relinker.move_links(&went, &[LinkState::Inside, LinkState::Anchor]).await?;
        Ok(relinker.root)
    }

    /// Derives the links of sources, and returns the new root. The sources must be sorted.
    pub(crate) async fn link_sources(
        &self,
        session: &mut Session<'_>,
        root: Hash,
        sources: &[(LinkSource, LinkFields)],
    ) -> ContentResult<Hash> {
        let mut relinker = Relinker::new(self, session, root, sources);
        relinker.link_sources().await?;
        Ok(relinker.root)
    }
}

/// An update of links in progress.
struct Relinker<'a, 'b> {
    content: &'a Content,
    session: &'a mut Session<'b>,
    root: Hash,
    /// The sources with changed fields, sorted.
    sources: &'a [(LinkSource, LinkFields)],
    backlinks: BacklinkChanges,
}

/// Links to a target from a source, which change their state.
struct MovedLinks<'a> {
    target: &'a LinkTarget,
    source: LinkSource,
    standing: LinkState,
    count: u64,
}

impl<'a, 'b> Relinker<'a, 'b> {
    fn new(
        content: &'a Content,
        session: &'a mut Session<'b>,
        root: Hash,
        sources: &'a [(LinkSource, LinkFields)],
    ) -> Self {
        Self { content, session, root, sources, backlinks: BacklinkChanges::default() }
    }

    async fn link_sources(&mut self) -> ContentResult<()> {
        let batches = self.content.link_batches();
        let (mut batch, mut links) = (Vec::new(), 0);
        for (chunk, some) in self.sources.chunks(batches.records).enumerate() {
            let old = self.load(some).await?;
            for (at, ((_, parts), old)) in some.iter().zip(old).enumerate() {
                let merger = self.content.merger();
                let references = self.session.run(|session| of_parts(session, merger, parts)).await?;
                links += references.len() + usize::try_from(old).unwrap_or(usize::MAX);
                batch.push((chunk * batches.records + at, references));
                if links >= batches.links {
                    self.link(&std::mem::take(&mut batch)).await?;
                    links = 0;
                }
                // Parsing the links of a long text takes milliseconds.
                if !parts.body.is_empty() {
                    yield_to_others().await;
                }
            }
            self.session.drop_loaded();
        }
        self.link(&batch).await?;
        self.apply_backlinks().await
    }

    /// Loads the texts of sources, and returns the number of their links before the change.
    async fn load(&mut self, sources: &[(LinkSource, LinkFields)]) -> ContentResult<Vec<u64>> {
        let root = self.root;
        self.session
            .run(|session| {
                let mut gather = MissingCollector::default();
                let mut counts = Vec::with_capacity(sources.len());
                for (source, parts) in sources {
                    gather.ask(term_texts(session, &parts.body))?;
                    counts.extend(gather.ask(SourceLinks::count(session, &root, source))?);
                }
                gather.finish()?;
                Ok(counts)
            })
            .await
    }

    /// Updates the links of sources, given by their indices, to their references.
    async fn link(&mut self, batch: &[(usize, SourceReferences)]) -> ContentResult<()> {
        if batch.is_empty() {
            return Ok(());
        }
        let root = self.root;
        let (changes, backlinks) =
            self.session.run(|session| link_changes(session, &root, self.sources, batch)).await?;
        for (target, source, value) in backlinks {
            self.backlinks.add(target, source, value);
        }
        self.apply(&changes.into_changes()).await?;
        if self.backlinks.bytes() > self.content.link_batches().backlink_bytes {
            self.apply_backlinks().await?;
        }
        Ok(())
    }

    async fn apply_backlinks(&mut self) -> ContentResult<()> {
        let changes = std::mem::take(&mut self.backlinks);
        let (targets, changes) = run_in_place(|| changes.into_ordered());
        for some in changes.chunks(self.content.link_batches().links) {
            let entry = |change: &BacklinkChange| {
                let source = &self.sources[change.source as usize].0;
                (backlink(&targets[change.target as usize], source), change.value.map(backlink_value))
            };
            let some: BTreeMap<Key, ValueChange> = some.iter().map(entry).collect();
            self.apply(&some).await?;
        }
        Ok(())
    }

    /// Changes the state of the links to added or removed targets from sources whose references did not change.
    async fn move_links(&mut self, targets: &[LinkTarget], states: &[LinkState]) -> ContentResult<()> {
        let batches = self.content.link_batches();
        for some in targets.chunks(batches.records) {
            let (root, sources) = (self.root, self.sources);
            let found =
                self.session.run(|session| moved_links(session, &root, sources, some, states)).await?;
            let mut rest = found.as_slice();
            while !rest.is_empty() {
                let mut count = 0;
                let later = rest.iter().position(|moved| {
                    let is_full = count >= batches.links as u64;
                    count += moved.count;
                    is_full
                });
                let (batch, after) = rest.split_at(later.unwrap_or(rest.len()));
                let root = self.root;
                let changes = self.session.run(|session| moved_changes(session, &root, batch)).await?;
                self.apply(&changes.into_changes()).await?;
                rest = after;
            }
            self.session.drop_loaded();
        }
        Ok(())
    }

    async fn apply(&mut self, changes: &BTreeMap<Key, ValueChange>) -> ContentResult<()> {
        if changes.is_empty() {
            return Ok(());
        }
        self.root = self.session.apply(self.root, changes).await?;
        let bytes = self.content.link_batches().node_bytes;
        self.session.store_early(self.root, bytes).await?;
        yield_to_others().await;
        Ok(())
    }
}

/// The change to a backlink of a target, its source by index, and its value, or `None` to remove it.
type TargetChange = (LinkTarget, usize, Option<bool>);

/// Returns the changes to the links of sources, given by their indices, and to their backlinks.
fn link_changes(
    session: &Session<'_>,
    root: &Hash,
    sources: &[(LinkSource, LinkFields)],
    batch: &[(usize, SourceReferences)],
) -> PassResult<(MapChanges, Vec<TargetChange>)> {
    let mut gather = MissingCollector::default();
    let (mut changes, mut back) = (MapChanges::default(), Vec::new());
    let present = gather.ask(present_targets(session, root, sources, batch))?.unwrap_or_default();
    for (at, references) in batch {
        let source = &sources[*at].0;
        let Some(old) = gather.ask(SourceLinks::read(session, root, source))? else { continue };
        let new = SourceLinks::derive(source, references, |target| present.contains(target))?;
        for key in old.links.keys().filter(|key| !new.links.contains_key(*key)) {
            changes.remove(key.clone());
        }
        for (key, value) in new.links {
            if old.links.get(&key) != Some(&value) {
                changes.put(key, value);
            }
        }
        for target in old.targets.keys().filter(|target| !new.targets.contains_key(*target)) {
            back.push((target.clone(), *at, None));
        }
        for (target, value) in new.targets {
            if old.targets.get(&target) != Some(&value) {
                back.push((target, *at, Some(value)));
            }
        }
    }
    gather.finish()?;
    Ok((changes, back))
}

/// Returns the targets of references that exist in a revision.
fn present_targets(
    session: &Session<'_>,
    root: &Hash,
    sources: &[(LinkSource, LinkFields)],
    batch: &[(usize, SourceReferences)],
) -> PassResult<BTreeSet<LinkTarget>> {
    let targets = batch.iter().flat_map(|(at, references)| {
        let source = &sources[*at].0;
        references.keys().filter_map(|(reference, _)| ResolvedTarget::resolve(source, reference).target())
    });
    let targets: BTreeSet<LinkTarget> = targets.collect();
    let keys: Vec<Key> = targets.iter().map(LinkTarget::record).collect();
    let records = map::get_many(session, root, &keys)?;
    Ok(targets.into_iter().zip(records).filter_map(|(target, record)| record.map(|_| target)).collect())
}

/// Finds the links to targets in the given states from sources whose references did not change.
fn moved_links<'a>(
    session: &Session<'_>,
    root: &Hash,
    sources: &[(LinkSource, LinkFields)],
    targets: &'a [LinkTarget],
    states: &[LinkState],
) -> PassResult<Vec<MovedLinks<'a>>> {
    let mut gather = MissingCollector::default();
    let mut out = Vec::new();
    for target in targets {
        let (from, to) = backlinks(target).prefix_range();
        let found = map::range(session, root, &Range::new(from, to)).map_err(Into::into);
        for (key, _) in gather.ask(found)?.unwrap_or_default() {
            let source = source_of(&key)?;
            if sources.binary_search_by(|(changed, _)| changed.cmp(&source)).is_ok() {
                continue;
            }
            for standing in states {
                let mut moved = MovedLinks { target, source: source.clone(), standing: *standing, count: 0 };
                let (from, to) = moved.range();
                let count = map::count(session, root, &from, &to).map_err(Into::into);
                moved.count = gather.ask(count)?.unwrap_or_default();
                out.extend((moved.count > 0).then_some(moved));
            }
        }
    }
    gather.finish()?;
    Ok(out)
}

/// Returns the changes to links whose state changes.
fn moved_changes(session: &Session<'_>, root: &Hash, batch: &[MovedLinks<'_>]) -> PassResult<MapChanges> {
    let mut gather = MissingCollector::default();
    let mut changes = MapChanges::default();
    for moved in batch {
        let (from, to) = moved.range();
        let found = map::range(session, root, &Range::new(from, to)).map_err(Into::into);
        for (key, value) in gather.ask(found)?.unwrap_or_default() {
            let mut link = Link::read(&key, &value)?;
            link.standing =
                if moved.standing == LinkState::Broken { inside(&link) } else { LinkState::Broken };
            changes.remove(key);
            changes.put(link.key()?, value);
        }
    }
    gather.finish()?;
    Ok(changes)
}

impl MovedLinks<'_> {
    fn range(&self) -> (Key, Key) {
        let range = LinkRange { standing: self.standing, source: Some(self.source.clone()) };
        range.target_prefix(self.target).prefix_range()
    }
}

/// Changes to backlinks, collected over many sources.
#[derive(Default)]
struct BacklinkChanges {
    /// The number of each target.
    targets: HashMap<LinkTarget, u32>,
    changes: Vec<BacklinkChange>,
}

/// A change to a backlink. Small, because an import can have millions.
#[derive(Clone, Copy)]
struct BacklinkChange {
    target: u32,
    /// The index of the source.
    source: u32,
    /// The new value, or `None` to remove the backlink.
    value: Option<bool>,
}

impl BacklinkChanges {
    fn add(&mut self, target: LinkTarget, source: usize, value: Option<bool>) {
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let next = number(self.targets.len());
        let target = *self.targets.entry(target).or_insert(next);
        self.changes.push(BacklinkChange { target, source: number(source), value });
    }

    /// Returns the approximate memory of the changes.
    fn bytes(&self) -> usize {
        self.changes.len() * CHANGE_BYTES + self.targets.len() * TARGET_BYTES
    }

    /// Returns the targets in order, and the changes, ordered by target and source.
    fn into_ordered(self) -> (Vec<LinkTarget>, Vec<BacklinkChange>) {
        let mut numbered: Vec<(LinkTarget, u32)> = self.targets.into_iter().collect();
        numbered.sort_unstable();
        let mut places = vec![0; numbered.len()];
        for (place, (_, number)) in (0..).zip(&numbered) {
            places[*number as usize] = place;
        }
        let mut changes = self.changes;
        for change in &mut changes {
            change.target = places[change.target as usize];
        }
        changes.sort_unstable_by_key(|change| (change.target, change.source));
        (numbered.into_iter().map(|(target, _)| target).collect(), changes)
    }
}
