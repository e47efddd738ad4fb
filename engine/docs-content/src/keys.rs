//! The keys of a revision's map, and the entries derived from records.
//!
//! | key | value |
//! |---|---|
//! | `p!<page>` | a page |
//! | `f!<file>`, `r!<reusable content>`, `v!<name>` | a file, a reusable content block, a variable |
//! | `k!<parent>!<rank>!<page>` | derived: the order of children |
//! | `s!<parent>!<slug>` | derived: the child page with this slug |
//! | `c!<page>` | derived: the page has an unresolved conflict |
//! | `n!<name>!<file>` | derived: the file has this name |
//! | `l!<state>!<source>!<target>!<hash>` | derived: a link in a page or a reusable content block |
//! | `b!<target>!<source>` | derived: the source links to the target, which need not exist |
//! | `o!moved!<parent>!<slug>!<page>` | a page that previously had this slug and parent |
//! | `o!git!<path>` | the page to which a path redirects, as configured in a repository |
//!
//! The parent of top-level pages is the empty string. Derived entries are functions of the records; those of links also
//! depend on the texts. An edit writes records and derived entries, a merge recomputes the derived entries of the pages
//! that it changed, and [`check`](super::check) recomputes all of them. A link source or target takes two segments, its
//! class and its id; see [`links`](super::links). Redirects are derived from the history; see
//! [`redirects`](super::redirects).

use bytes::Bytes;
use docs_model::{FileId, PageId, ReusableId};
use docs_store::{Key, KeyBuf, key::last_segment};

use super::{ContentError, ContentResult, FileEntry, PageEntry, Rank};

pub(crate) const PAGE: &str = "p";
pub(crate) const FILE: &str = "f";
pub(crate) const REUSABLE: &str = "r";
pub(crate) const VARIABLE: &str = "v";
pub(crate) const CHILD: &str = "k";
pub(crate) const SLUG: &str = "s";
pub(crate) const CONFLICTED: &str = "c";
pub(crate) const LINK: &str = "l";
pub(crate) const BACKLINK: &str = "b";
pub(crate) const NAMED: &str = "n";
pub(crate) const REDIRECT: &str = "o";
/// Redirects recorded when pages move.
pub(crate) const MOVED: &str = "moved";
/// Redirects configured in a repository.
pub(crate) const GIT: &str = "git";

/// The classes of records that can contain links or be link targets, in key order.
pub(crate) const LINKED: [&str; 3] = [FILE, PAGE, REUSABLE];
/// The classes of records, as opposed to derived entries, in key order.
pub(crate) const RECORDS: [&str; 4] = [FILE, PAGE, REUSABLE, VARIABLE];

pub(crate) fn page(id: &PageId) -> Key {
    KeyBuf::new(PAGE).part(id.as_str()).key()
}

pub(crate) fn file(id: &FileId) -> Key {
    KeyBuf::new(FILE).part(id.as_str()).key()
}

pub(crate) fn reusable(id: &ReusableId) -> Key {
    KeyBuf::new(REUSABLE).part(id.as_str()).key()
}

pub(crate) fn variable(name: &str) -> Key {
    KeyBuf::new(VARIABLE).part(name).key()
}

pub(crate) fn children(parent: Option<&PageId>) -> KeyBuf {
    KeyBuf::new(CHILD).part(parent.map_or("", PageId::as_str))
}

pub(crate) fn child(parent: Option<&PageId>, rank: &Rank, id: &PageId) -> Key {
    children(parent).part(rank.as_str()).part(id.as_str()).key()
}

pub(crate) fn slug(parent: Option<&PageId>, slug: &str) -> Key {
    KeyBuf::new(SLUG).part(parent.map_or("", PageId::as_str)).part(slug).key()
}

pub(crate) fn conflict_key(id: &PageId) -> Key {
    KeyBuf::new(CONFLICTED).part(id.as_str()).key()
}

/// Returns the prefix of the files with the given name. Several files can have the same name only after a merge.
pub(crate) fn file_name_prefix(name: &str) -> KeyBuf {
    KeyBuf::new(NAMED).part(name)
}

/// Returns the entry derived from a file record.
pub(crate) fn derived_of_file(id: &FileId, entry: &FileEntry) -> Key {
    file_name_prefix(&entry.name).part(id.as_str()).key()
}

/// Returns the prefix of all redirects of moved pages.
pub(crate) fn trace_prefix() -> KeyBuf {
    KeyBuf::new(REDIRECT).part(MOVED)
}

/// Returns the prefix of the redirects of pages that moved away from a parent or from the top level.
pub(crate) fn moved_below(parent: Option<&PageId>) -> KeyBuf {
    trace_prefix().part(parent.map_or("", PageId::as_str))
}

/// Returns the prefix of the redirects of pages that previously had a slug under a parent.
pub(crate) fn moved_from(parent: Option<&PageId>, slug: &str) -> KeyBuf {
    moved_below(parent).part(slug)
}

/// Returns the key of a redirect configured in a repository.
pub(crate) fn git_redirect(path: &str) -> Key {
    git_redirects().part(path).key()
}

/// Returns the prefix of the redirects configured in a repository.
pub(crate) fn git_redirects() -> KeyBuf {
    KeyBuf::new(REDIRECT).part(GIT)
}

pub(crate) fn class(name: &str) -> (Key, Key) {
    KeyBuf::new(name).prefix_range()
}

/// Parses the id in the last segment of a key.
pub(crate) fn id<T: std::str::FromStr>(key: &str) -> ContentResult<T> {
    last_segment(key).parse().map_err(|_| {
        ContentError::Corrupt(format!(
            "the key `{key}` does not end with \
                                                                         an id"
        ))
    })
}

/// Parses the page id in the value of a derived entry.
pub(crate) fn derived_page_id(key: &str, value: &Bytes) -> ContentResult<PageId> {
    serde_json::from_slice(value)
        .map_err(|_| ContentError::Corrupt(format!("the entry `{key}` contains no page id")))
}

/// Returns the entries derived from a page record.
pub(crate) fn derived_entries(id: &PageId, entry: &PageEntry) -> Vec<(Key, Bytes)> {
    let mut out = vec![(child(entry.parent.as_ref(), &entry.rank, id), Bytes::new())];
    if !entry.slug.is_empty() {
        // Ids contain no characters that JSON escapes.
        let holder = Bytes::from(format!("\"{id}\""));
        out.push((slug(entry.parent.as_ref(), &entry.slug), holder));
    }
    if entry.is_conflicted() {
        out.push((conflict_key(id), Bytes::new()));
    }
    out
}
