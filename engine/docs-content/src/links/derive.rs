//! Derivation of a revision's links from its records and texts.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use docs_store::{Hash, Key};
use serde::de::DeserializeOwned;

use super::{
    super::{
        Content, ContentResult, PageEntry, ReusableEntry,
        content::term_texts,
        edit::MapChanges,
        entry::decode,
        keys,
        load::{MissingCollector, PassResult, Session},
        map::{self, Difference, Range},
        offload::yield_to_others,
    },
    Backlinks, Link, LinkFields, LinkRange, LinkSource, LinkState, LinkTarget, ResolvedTarget,
    SourceReferences, Uses, backlinks, of_parts, source_of,
};

impl Content {
    /// Updates the links after records have changed from `before` to `after`, and returns the new root.
    ///
    /// The links in `before` must be correct; `after` must still contain the link entries of `before`. The cost is
    /// proportional to the changes, the links of the changed sources, and the backlinks of the added and removed
    /// targets. New nodes remain in the session.
    pub(crate) async fn relink(
        &self,
        session: &mut Session<'_>,
        before: Hash,
        after: Hash,
    ) -> ContentResult<Hash> {
        if before == after {
            return Ok(after);
        }
        let mut work = session
            .run(|session| {
                let ranges: Vec<(Key, Key)> = keys::LINKED.iter().map(|class| keys::class(class)).collect();
                let found = map::diff(session, &before, &after, &ranges)?;
                let mut work = LinkUpdate::default();
                let mut gather = MissingCollector::default();
                for difference in &found {
                    work.take(difference)?;
                }
                for (_, parts) in &work.parts {
                    gather.ask(term_texts(session, &parts.body))?;
                }
                gather.finish()?;
                Ok(work)
            })
            .await?;
        // Parsing the links of a long text takes milliseconds.
        for (source, parts) in std::mem::take(&mut work.parts) {
            let references = session.run(|session| of_parts(session, self.merger(), &parts)).await?;
            work.sources.insert(source, references);
            if !parts.body.is_empty() {
                yield_to_others().await;
            }
        }
        let changes = session.run(|session| work.changes(session, &after)).await?.into_changes();
        session.apply(after, &changes).await
    }
}

/// The effects of record changes on links.
#[derive(Default)]
struct LinkUpdate {
    parts: Vec<(LinkSource, LinkFields)>,
    /// The sources with changed references, and their new references.
    sources: BTreeMap<LinkSource, SourceReferences>,
    came: Vec<LinkTarget>,
    went: Vec<LinkTarget>,
}

impl LinkUpdate {
    fn take(&mut self, difference: &Difference) -> ContentResult<()> {
        let Some(target) = LinkTarget::from_record_key(&difference.key)? else { return Ok(()) };
        match &target {
            LinkTarget::Page(id) => {
                self.compare::<PageEntry>(LinkSource::Page(id.clone()), difference)?;
            }
            LinkTarget::Reusable(id) => {
                self.compare::<ReusableEntry>(LinkSource::Reusable(id.clone()), difference)?;
            }
            LinkTarget::File(_) => {}
        }
        match (&difference.before, &difference.after) {
            (None, Some(_)) => self.came.push(target),
            (Some(_), None) => self.went.push(target),
            _ => {}
        }
        Ok(())
    }

    fn compare<T: DeserializeOwned>(
        &mut self,
        source: LinkSource,
        difference: &Difference,
    ) -> ContentResult<()>
    where
        for<'a> LinkFields: From<&'a T>,
    {
        let parts = |bytes: &Option<Bytes>| -> ContentResult<LinkFields> {
            let entry: Option<T> = bytes.as_ref().map(|b| decode(&difference.key, b)).transpose()?;
            Ok(entry.as_ref().map(LinkFields::from).unwrap_or_default())
        };
        let (before, after) = (parts(&difference.before)?, parts(&difference.after)?);
        if before != after {
            self.parts.push((source, after));
        }
        Ok(())
    }

    fn changes(&self, session: &Session<'_>, root: &Hash) -> PassResult<MapChanges> {
        let mut gather = MissingCollector::default();
        let mut changes = MapChanges::default();
        let wanted: Vec<LinkTarget> = self
            .sources
            .iter()
            .flat_map(|(source, references)| {
                references
                    .keys()
                    .filter_map(|(reference, _)| ResolvedTarget::resolve(source, reference).target())
            })
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        let records: Vec<Key> = wanted.iter().map(LinkTarget::record).collect();
        let records = gather.ask(map::get_many(session, root, &records).map_err(Into::into))?;
        let there: BTreeSet<&LinkTarget> = wanted
            .iter()
            .zip(records.unwrap_or_default())
            .filter_map(|(target, record)| record.map(|_| target))
            .collect();
        for (source, references) in &self.sources {
            let old = gather.ask(links_of(session, root, source))?.unwrap_or_default();
            let new = entries(source, references, |target| there.contains(target))?;
            for key in old.keys().filter(|key| !new.contains_key(*key)) {
                changes.remove(key.clone());
            }
            for (key, value) in new {
                if old.get(&key) != Some(&value) {
                    changes.put(key, value);
                }
            }
        }
        for (targets, states) in
            [(&self.came, &[LinkState::Broken][..]), (&self.went, &[LinkState::Inside, LinkState::Anchor])]
        {
            for (target, state) in targets.iter().flat_map(|it| states.iter().map(move |state| (it, *state)))
            {
                let moved = gather.ask(self.links_to(session, root, target, state))?;
                for (key, value) in moved.unwrap_or_default() {
                    let mut link = Link::read(&key, &value)?;
                    link.standing =
                        if state == LinkState::Broken { inside(&link) } else { LinkState::Broken };
                    changes.remove(key);
                    changes.put(link.key()?, value);
                }
            }
        }
        gather.finish()?;
        Ok(changes)
    }

    /// Returns the links to a target from sources whose references did not change.
    fn links_to(
        &self,
        session: &Session<'_>,
        root: &Hash,
        target: &LinkTarget,
        standing: LinkState,
    ) -> PassResult<Vec<(Key, Bytes)>> {
        let (from, to) = backlinks(target).prefix_range();
        let found = map::range(session, root, &Range::new(from, to))?;
        let mut gather = MissingCollector::default();
        let mut out = Vec::new();
        for (key, _) in found {
            let source = source_of(&key)?;
            if self.sources.contains_key(&source) {
                continue;
            }
            let (from, to) =
                LinkRange { standing, source: Some(source) }.target_prefix(target).prefix_range();
            let range = map::range(session, root, &Range::new(from, to)).map_err(Into::into);
            out.extend(gather.ask(range)?.unwrap_or_default());
        }
        gather.finish()?;
        Ok(out)
    }
}

/// Returns the entries of a source: its links and their backlinks.
fn links_of(session: &Session<'_>, root: &Hash, source: &LinkSource) -> PassResult<BTreeMap<Key, Bytes>> {
    let mut gather = MissingCollector::default();
    let (mut out, mut back) = (BTreeMap::new(), Backlinks::default());
    for standing in LinkState::ALL {
        let (from, to) = LinkRange { standing, source: Some(source.clone()) }.prefix().prefix_range();
        let range = map::range(session, root, &Range::new(from, to)).map_err(Into::into);
        for (key, value) in gather.ask(range)?.unwrap_or_default() {
            let link = Link::read(&key, &value)?;
            if let Some(target) = link.target() {
                back.add(&target, &link);
            }
            out.insert(key, value);
        }
    }
    gather.finish()?;
    out.extend(back.into_entries());
    Ok(out)
}

/// Returns the entries for the references of a source. `has` returns `true` for targets that exist in the revision.
pub(crate) fn entries(
    source: &LinkSource,
    references: &SourceReferences,
    has: impl Fn(&LinkTarget) -> bool,
) -> ContentResult<BTreeMap<Key, Bytes>> {
    let (mut out, mut back) = (BTreeMap::new(), Backlinks::default());
    for ((reference, relation), uses) in references {
        let resolved = ResolvedTarget::resolve(source, reference);
        let standing = match &resolved {
            ResolvedTarget::Inside(target) if has(target) => LinkState::Inside,
            ResolvedTarget::Inside(_) | ResolvedTarget::Unresolved(_) => LinkState::Broken,
            ResolvedTarget::Itself => LinkState::Inside,
            ResolvedTarget::Outside(..) => LinkState::Outside,
            ResolvedTarget::Web(_) => LinkState::Web,
        };
        let (source, reference) = (source.clone(), reference.clone());
        let Uses { times, is_conditional } = *uses;
        let mut link = Link { source, reference, relation: *relation, times, standing, is_conditional };
        if standing == LinkState::Inside {
            link.standing = inside(&link);
        }
        out.insert(link.key()?, link.value()?);
        if let Some(target) = resolved.target() {
            back.add(&target, &link);
        }
    }
    out.extend(back.into_entries());
    Ok(out)
}

/// Returns the state of a link whose target is in the revision.
fn inside(link: &Link) -> LinkState {
    if link.page_anchor().is_some() { LinkState::Anchor } else { LinkState::Inside }
}
