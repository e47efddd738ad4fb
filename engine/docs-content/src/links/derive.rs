//! Derivation of links from records and texts.

use std::collections::BTreeMap;

use bytes::Bytes;
use docs_store::{Hash, Key};
use serde::de::DeserializeOwned;

use super::{
    super::{
        ContentResult, PageEntry, ReusableEntry,
        entry::decode,
        keys,
        load::{MissingCollector, PassResult, Session},
        map::{self, Difference, Range},
    },
    CONDITIONAL_VALUE, Link, LinkFields, LinkRange, LinkSource, LinkState, LinkTarget, ResolvedTarget,
    SourceReferences, Uses, backlink,
};

/// The effects of record changes on links.
#[derive(Default)]
pub(super) struct LinkUpdate {
    /// The sources with changed fields, in order, and their new fields.
    pub(super) sources: Vec<(LinkSource, LinkFields)>,
    /// The added targets.
    pub(super) came: Vec<LinkTarget>,
    /// The removed targets.
    pub(super) went: Vec<LinkTarget>,
}

impl LinkUpdate {
    /// Returns the effects of the differences between two revisions.
    pub(super) fn between(session: &Session<'_>, before: &Hash, after: &Hash) -> PassResult<Self> {
        let ranges: Vec<(Key, Key)> = keys::LINKED.iter().map(|class| keys::class(class)).collect();
        let mut update = Self::default();
        for difference in &map::diff(session, before, after, &ranges)? {
            update.take(difference)?;
        }
        update.sources.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        Ok(update)
    }

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
            self.sources.push((source, after));
        }
        Ok(())
    }
}

/// The links and backlinks of a source.
#[derive(Default)]
pub(crate) struct SourceLinks {
    pub(super) links: BTreeMap<Key, Bytes>,
    /// The targets with backlinks. The value is `true` if all links to the target are subject to conditions.
    pub(super) targets: BTreeMap<LinkTarget, bool>,
}

impl SourceLinks {
    /// Derives the links from the references of a source. `has` returns `true` for targets that exist in the revision.
    pub(crate) fn derive(
        source: &LinkSource,
        references: &SourceReferences,
        has: impl Fn(&LinkTarget) -> bool,
    ) -> ContentResult<Self> {
        let mut out = Self::default();
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
            out.links.insert(link.key()?, link.value()?);
            out.add_target(resolved.target(), &link);
        }
        Ok(out)
    }

    /// Reads the links of a source in a revision.
    pub(super) fn read(session: &Session<'_>, root: &Hash, source: &LinkSource) -> PassResult<Self> {
        let mut gather = MissingCollector::default();
        let mut out = Self::default();
        for (from, to) in ranges(source) {
            let range = map::range(session, root, &Range::new(from, to)).map_err(Into::into);
            for (key, value) in gather.ask(range)?.unwrap_or_default() {
                let link = Link::read(&key, &value)?;
                out.add_target(link.target(), &link);
                out.links.insert(key, value);
            }
        }
        gather.finish()?;
        Ok(out)
    }

    /// Returns the number of links of a source in a revision.
    pub(super) fn count(session: &Session<'_>, root: &Hash, source: &LinkSource) -> PassResult<u64> {
        let mut gather = MissingCollector::default();
        let mut total = 0;
        for (from, to) in ranges(source) {
            let count = map::count(session, root, &from, &to).map_err(Into::into);
            total += gather.ask(count)?.unwrap_or_default();
        }
        gather.finish()?;
        Ok(total)
    }

    fn add_target(&mut self, target: Option<LinkTarget>, link: &Link) {
        if let Some(target) = target {
            *self.targets.entry(target).or_insert(true) &= link.is_conditional;
        }
    }

    /// Returns the entries of the links and backlinks.
    pub(crate) fn into_entries(self, source: &LinkSource) -> impl Iterator<Item = (Key, Bytes)> {
        let back = self
            .targets
            .into_iter()
            .map(|(target, is_conditional)| (backlink(&target, source), backlink_value(is_conditional)));
        self.links.into_iter().chain(back)
    }
}

/// Returns the key ranges of the links of a source.
fn ranges(source: &LinkSource) -> impl Iterator<Item = (Key, Key)> {
    let range = |standing| LinkRange { standing, source: Some(source.clone()) }.prefix().prefix_range();
    LinkState::ALL.into_iter().map(range)
}

/// Returns the value of a backlink. `is_conditional` is `true` if all its links are subject to conditions.
pub(super) fn backlink_value(is_conditional: bool) -> Bytes {
    if is_conditional { Bytes::from_static(CONDITIONAL_VALUE) } else { Bytes::new() }
}

/// Returns the state of a link whose target is in the revision.
pub(super) fn inside(link: &Link) -> LinkState {
    if link.page_anchor().is_some() { LinkState::Anchor } else { LinkState::Inside }
}
