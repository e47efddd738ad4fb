//! Queries for links and backlinks, and batch reads of records.

use std::collections::HashMap;

use docs_model::{FileId, ReusableId};
use docs_store::{Hash, Key, KeyBuf, key};

use super::{
    super::{
        Content, ContentResult, FileEntry, ReusableEntry, View,
        entry::decode,
        keys,
        load::{MissingCollector, PassResult, Session},
        map::{self, Range},
    },
    CONDITIONAL_VALUE, Link, LinkCounts, LinkRange, LinkSource, LinkState, LinkTarget, backlink, backlinks,
    source_of, target_of,
};

/// The sources that link to each target. The flag is `true` if all links of the source are subject to conditions.
pub type Backlinks = HashMap<LinkTarget, Vec<(LinkSource, bool)>>;

impl View {
    /// Returns up to `limit` links in a state with their keys, starting after a key, grouped by source.
    ///
    /// # Errors
    /// [`ContentError`](super::super::ContentError) if the content cannot be read.
    pub async fn links(
        &self,
        of: &LinkRange,
        after: Option<&str>,
        limit: usize,
    ) -> ContentResult<Vec<(Key, Link)>> {
        let (start, to) = of.prefix().prefix_range();
        let from = match after {
            Some(after) if *after >= *start => key::successor(after),
            _ => start,
        };
        if from >= to {
            return Ok(Vec::new());
        }
        let found = self.range(Range::new(from, to).limit(limit)).await?;
        found.into_iter().map(|(key, value)| Ok((key.clone(), Link::read(&key, &value)?))).collect()
    }

    /// Returns the number of links of all sources or of one, in O(log n).
    ///
    /// # Errors
    /// See [`View::links`].
    pub async fn link_counts(&self, source: Option<&LinkSource>) -> ContentResult<LinkCounts> {
        let root = self.root();
        self.run(|session| {
            let mut gather = MissingCollector::default();
            let mut counts = LinkCounts::default();
            for standing in LinkState::ALL {
                let (from, to) = LinkRange { standing, source: source.cloned() }.prefix().prefix_range();
                let count = gather.ask(map::count(session, &root, &from, &to).map_err(Into::into))?;
                counts.total += count.unwrap_or_default();
                if standing == LinkState::Broken {
                    counts.broken = count.unwrap_or_default();
                }
            }
            gather.finish()?;
            Ok(counts)
        })
        .await
    }

    /// Returns up to `limit` sources that link to a target, starting after a given source: first pages, then reusable
    /// content blocks, each by id. The flag is `true` if all links of the source are subject to conditions. The target
    /// need not exist. Links of the target to itself are not included.
    ///
    /// See [`View::links`].
    /// The errors of [`View::links`].
    pub async fn backlinks(
        &self,
        target: &LinkTarget,
        after: Option<&LinkSource>,
        limit: usize,
    ) -> ContentResult<Vec<(LinkSource, bool)>> {
        let (start, to) = backlinks(target).prefix_range();
        let from = after.map_or(start, |source| key::successor(&backlink(target, source)));
        let found = self.range(Range::new(from, to).limit(limit)).await?;
        found.iter().map(|(key, value)| Ok((source_of(key)?, *value == CONDITIONAL_VALUE))).collect()
    }

    /// Returns the backlinks of all files and reusable content blocks by target, like [`View::backlinks`].
    ///
    /// # Errors
    /// See [`View::links`].
    pub async fn all_backlinks(&self) -> ContentResult<Backlinks> {
        let mut all = Backlinks::new();
        for class in [keys::FILE, keys::REUSABLE] {
            let (from, to) = KeyBuf::new(keys::BACKLINK).part(class).prefix_range();
            for (key, value) in self.range(Range::new(from, to)).await? {
                let (target, source) = (target_of(&key)?, source_of(&key)?);
                all.entry(target).or_default().push((source, *value == *CONDITIONAL_VALUE));
            }
        }
        Ok(all)
    }

    /// Returns the number of sources that link to a target, in O(log n).
    ///
    /// # Errors
    /// See [`View::links`].
    pub async fn backlink_count(&self, target: &LinkTarget) -> ContentResult<u64> {
        let (root, (from, to)) = (self.root(), backlinks(target).prefix_range());
        self.run(|session| Ok(map::count(session, &root, &from, &to)?)).await
    }

    /// Returns files, in the order of `ids`.
    ///
    /// # Errors
    /// See [`View::links`].
    pub async fn files_by_id(&self, ids: &[FileId]) -> ContentResult<Vec<Option<FileEntry>>> {
        let wanted: Vec<Key> = ids.iter().map(keys::file).collect();
        self.read_many(&wanted).await
    }

    /// Returns reusable content blocks, in the order of `ids`.
    ///
    /// # Errors
    /// See [`View::links`].
    pub async fn reusables_by_id(&self, ids: &[ReusableId]) -> ContentResult<Vec<Option<ReusableEntry>>> {
        let wanted: Vec<Key> = ids.iter().map(keys::reusable).collect();
        self.read_many(&wanted).await
    }

    async fn read_many<T: serde::de::DeserializeOwned>(
        &self,
        wanted: &[Key],
    ) -> ContentResult<Vec<Option<T>>> {
        let root = self.root();
        let found = self.run(|session| Ok(map::get_many(session, &root, wanted)?)).await?;
        let read = |(key, bytes): (&Key, Option<bytes::Bytes>)| bytes.map(|b| decode(key, &b)).transpose();
        wanted.iter().zip(found).map(read).collect()
    }
}

impl Content {
    /// Returns the links that are new in `after` or have a different state than in `before`, with their keys and in key
    /// order, for all sources or a single one. The cost is proportional to the differences.
    ///
    /// # Errors
    /// [`ContentError`](super::super::ContentError) if the content cannot be read.
    pub async fn changed_links(
        &self,
        domain: &str,
        before: Hash,
        after: Hash,
        source: Option<&LinkSource>,
    ) -> ContentResult<Vec<(Key, Link)>> {
        let ranges: Vec<(Key, Key)> = match source {
            None => vec![KeyBuf::new(keys::LINK).prefix_range()],
            Some(_) => LinkState::ALL
                .iter()
                .map(|standing| {
                    LinkRange { standing: *standing, source: source.cloned() }.prefix().prefix_range()
                })
                .collect(),
        };
        let differences =
            |session: &Session<'_>| -> PassResult<_> { Ok(map::diff(session, &before, &after, &ranges)?) };
        let found = self.session(domain).run(differences).await?;
        let new = |it: map::Difference| match (it.before, it.after) {
            (None, Some(value)) => Some(Link::read(&it.key, &value).map(|link| (it.key, link))),
            _ => None,
        };
        found.into_iter().filter_map(new).collect()
    }
}
