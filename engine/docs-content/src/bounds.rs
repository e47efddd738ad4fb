//! Limits of the page tree, and their check after a change.
//!
//! Edits of a single page are checked when they are planned. Merges and reverts change many pages at once and are
//! checked on completion, at a cost proportional to the pages that were added, moved or given a new slug, and their
//! descendants.

use std::collections::{BTreeSet, HashMap, HashSet};

use docs_model::{
    MAX_PAGE_LEVELS, MAX_PATH_BYTES, MAX_RECORD_BYTES, MAX_REUSABLES, MAX_SIBLINGS, MAX_SPACE_FILES,
    MAX_SPACE_PAGES, PageId,
};
use docs_store::Hash;

use super::{
    ContentResult, PageEntry,
    edit::PagePlace,
    entry::decode,
    keys,
    load::{PassResult, Session},
    map, read,
};

/// The classes of records with a bound.
pub(crate) const COUNTED: [&str; 3] = [keys::PAGE, keys::FILE, keys::REUSABLE];

/// The result of a check. The error message completes a sentence that begins with the affected content or field.
pub(crate) type Check = Result<(), String>;

pub(crate) fn check_pages(pages: u64) -> Check {
    check_limit(pages, MAX_SPACE_PAGES, "pages per space")
}

pub(crate) fn check_files(files: u64) -> Check {
    check_limit(files, MAX_SPACE_FILES, "files per space")
}

pub(crate) fn check_reusables(reusables: u64) -> Check {
    check_limit(reusables, MAX_REUSABLES, "reusable contents per space")
}

pub(crate) fn check_siblings(siblings: u64) -> Check {
    check_limit(siblings, MAX_SIBLINGS, "child pages per page")
}

pub(crate) fn check_levels(levels: usize) -> Check {
    check_limit(levels as u64, MAX_PAGE_LEVELS, "levels of pages")
}

pub(crate) fn check_path(bytes: usize) -> Check {
    check_limit(bytes as u64, MAX_PATH_BYTES, "bytes per path")
}

/// Checks the total size of the records of a class.
pub(crate) fn check_record_bytes(bytes: u64) -> Check {
    if bytes <= MAX_RECORD_BYTES {
        return Ok(());
    }
    let limit = MAX_RECORD_BYTES >> 20;
    Err(format!(
        "exceeds the limit of {limit} MiB for the fields of all items of a space; shorten front matter or variables"
    ))
}

fn check_limit(has: u64, most: usize, unit: &str) -> Check {
    if has <= most as u64 { Ok(()) } else { Err(format!("exceeds the limit of {most} {unit}")) }
}

/// Checks the revision `after` against the limits. Its nodes must be in the session.
pub(crate) async fn check(session: &mut Session<'_>, before: Hash, after: Hash) -> ContentResult<Check> {
    session.run_long(|session| check_bounds(session, &before, &after)).await
}

/// A page that was added, was moved or has a new slug.
struct PlacedPage {
    id: PageId,
    entry: PageEntry,
}

/// Checks the sizes of the records of some classes in the revision `after`. A class that does not grow is valid.
pub(crate) fn check_records(
    session: &Session<'_>,
    before: &Hash,
    after: &Hash,
    classes: &[&str],
) -> PassResult<Check> {
    for class in classes {
        let (from, to) = keys::class(class);
        let is = map::size(session, after, &from, &to)?.bytes;
        let check = check_record_bytes(is);
        if check.is_err() && is > map::size(session, before, &from, &to)?.bytes {
            return Ok(check);
        }
    }
    Ok(Ok(()))
}

fn check_bounds(session: &Session<'_>, before: &Hash, after: &Hash) -> PassResult<Check> {
    let (mut placed, mut parents) = (Vec::new(), BTreeSet::new());
    for difference in map::diff(session, before, after, &[keys::class(keys::PAGE)])? {
        let Some(value) = &difference.after else { continue };
        let entry: PageEntry = decode(&difference.key, value)?;
        let old: Option<PageEntry> =
            difference.before.as_ref().map(|value| decode(&difference.key, value)).transpose()?;
        let same_parent = old.as_ref().is_some_and(|old| old.parent == entry.parent);
        if !same_parent {
            parents.insert(entry.parent.clone());
        }
        if !same_parent || old.is_some_and(|old| old.slug != entry.slug) {
            placed.push(PlacedPage { id: keys::id(&difference.key)?, entry });
        }
    }
    let mut check = Ok(());
    for class in COUNTED {
        let (from, to) = keys::class(class);
        let (was, is) = (map::count(session, before, &from, &to)?, map::count(session, after, &from, &to)?);
        if is > was {
            check = check.and_then(|()| match class {
                keys::PAGE => check_pages(is),
                keys::FILE => check_files(is),
                _ => check_reusables(is),
            });
        }
    }
    check = check.and(check_records(session, before, after, &COUNTED)?);
    for parent in &parents {
        let (from, to) = keys::children(parent.as_ref()).prefix_range();
        let children = map::count(session, after, &from, &to)?;
        check = check.and_then(|()| check_siblings(children));
    }
    match check {
        Ok(()) => check_places(session, after, placed),
        refused => Ok(refused),
    }
}

/// Checks the levels and path lengths of the given pages and of all their descendants.
fn check_places(session: &Session<'_>, root: &Hash, placed: Vec<PlacedPage>) -> PassResult<Check> {
    let mut places: HashMap<PageId, PagePlace> = HashMap::new();
    let mut starts = Vec::new();
    for PlacedPage { id, entry } in placed {
        let place = place(session, root, &id, &entry, &mut places)?;
        starts.push((place.level, id));
    }
    // Process ancestors first, so that no page is visited twice.
    starts.sort();
    let mut seen = HashSet::new();
    for (_, start) in starts {
        let mut level = vec![start];
        while !level.is_empty() {
            level.retain(|id| seen.insert(id.clone()));
            for place in level.iter().filter_map(|id| places.get(id)) {
                let check = check_levels(place.level).and_then(|()| check_path(place.path_bytes));
                if check.is_err() {
                    return Ok(check);
                }
            }
            let below = read::children_of_all(session, root, &level)?;
            for (id, entry) in below.iter().zip(read::pages(session, root, &below)?) {
                let Some(entry) = entry else { continue };
                let above = entry.parent.as_ref().and_then(|parent| places.get(parent));
                let place = above.copied().unwrap_or_default().below(&entry.slug);
                places.insert(id.clone(), place);
            }
            level = below;
        }
    }
    Ok(Ok(()))
}

/// Returns the level and path length of a page. Caches those of the page and its ancestors.
fn place(
    session: &Session<'_>,
    root: &Hash,
    id: &PageId,
    entry: &PageEntry,
    places: &mut HashMap<PageId, PagePlace>,
) -> PassResult<PagePlace> {
    let mut chain = vec![(id.clone(), entry.slug.clone())];
    let mut above = entry.parent.clone();
    let mut place = PagePlace::default();
    while let Some(parent) = above {
        if let Some(known) = places.get(&parent) {
            place = *known;
            break;
        }
        if chain.len() > read::CYCLE_DEPTH {
            return Err(read::cycle(&parent));
        }
        let Some(entry) = read::page(session, root, &parent)? else { break };
        chain.push((parent, entry.slug));
        above = entry.parent;
    }
    for (id, slug) in chain.into_iter().rev() {
        place = place.below(&slug);
        places.insert(id, place);
    }
    Ok(place)
}
