//! Consistency check of stored content.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use docs_model::PageId;
use docs_store::{Hash, Key};

use super::{
    Content, ContentResult, FileEntry, LinkSource, LinkTarget, PageEntry, PageKind, ReusableEntry,
    entry::decode,
    keys,
    links::{self, LinkFields, SourceLinks},
    load::MissingCollector,
    map::{self, Range},
    redirects,
};

/// Number of sources per batch, whose texts are loaded together.
const CHECK_BATCH: usize = 256;

impl Content {
    /// Recomputes all derived entries from records and texts, and returns a sentence for each difference. A difference
    /// indicates damaged data or a bug in this library.
    ///
    /// # Errors
    /// [`ContentError`](super::ContentError) if the content cannot be read.
    pub async fn check(&self, domain: &str, root: Hash) -> ContentResult<Vec<String>> {
        let everything = Range { from: Key::from(""), to: None, rev: false, limit: usize::MAX };
        let entries = self.session(domain).run_long(|s| Ok(map::range(s, &root, &everything)?)).await?;
        let mut pages: BTreeMap<PageId, PageEntry> = BTreeMap::new();
        let mut derived: BTreeMap<Key, Bytes> = BTreeMap::new();
        let mut expected: BTreeMap<Key, Bytes> = BTreeMap::new();
        let (mut sources, mut targets) = (Vec::new(), BTreeSet::new());
        let mut problems = Vec::new();
        for (key, value) in entries {
            targets.extend(LinkTarget::from_record_key(&key)?);
            match key.split('!').next() {
                Some(keys::PAGE) => {
                    let (id, entry): (PageId, PageEntry) = (keys::id(&key)?, decode(&key, &value)?);
                    sources.push((LinkSource::Page(id.clone()), LinkFields::from(&entry)));
                    pages.insert(id, entry);
                }
                Some(keys::REUSABLE) => {
                    let entry: ReusableEntry = decode(&key, &value)?;
                    sources.push((LinkSource::Reusable(keys::id(&key)?), LinkFields::from(&entry)));
                }
                Some(
                    keys::CHILD | keys::SLUG | keys::CONFLICTED | keys::LINK | keys::BACKLINK | keys::NAMED,
                ) => {
                    derived.insert(key, value);
                }
                Some(keys::FILE) => {
                    let entry: FileEntry = decode(&key, &value)?;
                    expected.insert(keys::derived_of_file(&keys::id(&key)?, &entry), Bytes::new());
                }
                Some(keys::VARIABLE) => {}
                Some(keys::REDIRECT) => {
                    problems.extend(redirects::check(&key, &value).err().map(|error| error.to_string()));
                }
                _ => problems.push(format!("the key `{key}` has an unknown class")),
            }
        }
        expected.extend(self.expected_links(domain, &sources, &targets).await?);
        check_derived(&pages, expected, &derived, &mut problems);
        for (id, entry) in &pages {
            check_page(&pages, id, entry, &mut problems);
        }
        Ok(problems)
    }

    /// Computes the link entries for the texts of the given sources.
    async fn expected_links(
        &self,
        domain: &str,
        sources: &[(LinkSource, LinkFields)],
        targets: &BTreeSet<LinkTarget>,
    ) -> ContentResult<BTreeMap<Key, Bytes>> {
        let mut out = BTreeMap::new();
        for some in sources.chunks(CHECK_BATCH) {
            let found = self
                .session(domain)
                .run(|session| {
                    let mut gather = MissingCollector::default();
                    let mut found = Vec::with_capacity(some.len());
                    for (_, parts) in some {
                        found.extend(gather.ask(links::of_parts(session, self.merger(), parts))?);
                    }
                    gather.finish()?;
                    Ok(found)
                })
                .await?;
            for ((source, _), references) in some.iter().zip(found) {
                let links = SourceLinks::derive(source, &references, |target| targets.contains(target))?;
                out.extend(links.into_entries(source));
            }
        }
        Ok(out)
    }
}

fn check_derived(
    pages: &BTreeMap<PageId, PageEntry>,
    mut expected: BTreeMap<Key, Bytes>,
    found: &BTreeMap<Key, Bytes>,
    problems: &mut Vec<String>,
) {
    for (id, entry) in pages {
        for (key, value) in keys::derived_entries(id, entry) {
            if expected.insert(key.clone(), value).is_some() {
                problems.push(format!("two pages share `{key}`"));
            }
        }
    }
    for key in expected.keys().chain(found.keys()).collect::<BTreeSet<_>>() {
        if expected.get(key) != found.get(key) {
            problems.push(format!("the derived entry `{key}` does not match the records"));
        }
    }
}

fn check_page(
    pages: &BTreeMap<PageId, PageEntry>,
    id: &PageId,
    entry: &PageEntry,
    problems: &mut Vec<String>,
) {
    if entry.kind.has_slug() == entry.slug.is_empty() {
        problems.push(format!("the page `{id}` must have a slug exactly if its kind has one"));
    }
    if entry.kind == PageKind::Group && entry.parent.is_some() {
        problems.push(format!("the group `{id}` is not at the top level"));
    }
    let mut seen = BTreeSet::from([id]);
    let mut above = entry.parent.as_ref();
    while let Some(parent) = above {
        let Some(next) = pages.get(parent) else {
            problems.push(format!("the parent `{parent}` of the page `{id}` does not exist"));
            return;
        };
        if !next.kind.is_parent() {
            problems.push(format!("the parent `{parent}` of the page `{id}` cannot have child pages"));
        }
        if !seen.insert(parent) {
            problems.push(format!("the page `{id}` is its own ancestor"));
            return;
        }
        above = next.parent.as_ref();
    }
}
