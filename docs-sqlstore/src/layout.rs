//! Mapping from keys to tables.
//!
//! The class of a key is the part before its first `!`. Each kind of record has a table `r_<kind>` with one JSON
//! document per row. Counters have a separate table, because additions do not read them. Everything else (index rows,
//! unique values, receipts, numbers) is a row of `ix`.

use docs_store::{Scan, key::COUNTERS};

/// Record kinds of the platform, each of which has a table.
const KINDS: &[&str] = &[
    "adap", "afb", "aud", "cmr", "cmt", "col", "crq", "cust", "gls", "grt", "idm", "ive", "ivl", "job",
    "mem", "oas", "oav", "org", "rev", "rqr", "rvw", "sauth", "sec", "sfd", "sgr", "shl", "site", "slk",
    "sma", "sml", "smr", "spc", "srd", "ssp", "tea", "tmm", "tok", "trm", "trn", "upl", "usr",
];

/// The record kinds of a store.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// Sorted and deduplicated.
    kinds: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Table<'a> {
    /// `r_<kind>`: a record as JSON in `doc`.
    Records(&'a str),
    /// `ctr`: counters.
    Counters,
    /// `ix`: JSON in `v`, a number in `n`, or `NULL` in both.
    Rows,
}

impl Layout {
    /// Creates the layout for the record kinds of the platform and of extensions.
    pub(crate) fn new(more: &[String]) -> Self {
        let own = KINDS.iter().map(|kind| (*kind).to_owned());
        let mut kinds: Vec<String> = own.chain(more.iter().cloned()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        Self { kinds }
    }

    pub(crate) fn kinds(&self) -> impl Iterator<Item = &str> {
        self.kinds.iter().map(String::as_str)
    }

    pub(crate) fn tables(&self) -> impl Iterator<Item = Table<'_>> {
        self.kinds().map(Table::Records).chain([Table::Counters, Table::Rows])
    }

    pub(crate) fn table_of(&self, key: &str) -> Table<'_> {
        self.table_of_class(class_of(key))
    }

    /// Returns the table for a range. All ranges of the platform are within one class; for others, the result is
    /// `None`, and any table may contain a part of the range.
    pub(crate) fn table_of_range(&self, scan: &Scan) -> Option<Table<'_>> {
        let class = class_of(&scan.from);
        // The keys of a class range from `class!` to `class"`.
        let within = scan.from.len() > class.len() && *scan.to <= *format!("{class}\"");
        within.then(|| self.table_of_class(class))
    }

    fn table_of_class(&self, class: &str) -> Table<'_> {
        if class == COUNTERS {
            return Table::Counters;
        }
        match self.kinds.binary_search_by(|kind| kind.as_str().cmp(class)) {
            Ok(at) => Table::Records(&self.kinds[at]),
            Err(_) => Table::Rows,
        }
    }
}

impl std::fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Records(kind) => write!(f, "r_{kind}"),
            Self::Counters => f.write_str("ctr"),
            Self::Rows => f.write_str("ix"),
        }
    }
}

/// Maximum length of a record kind in characters.
pub(crate) const MAX_KIND: usize = 30;

/// Returns `true` if a record kind can be part of a table name: 1 to [`MAX_KIND`] lower-case letters, digits or `_`.
pub(crate) fn is_kind(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    (1..=MAX_KIND).contains(&name.len()) && name.bytes().all(plain)
}

fn class_of(key: &str) -> &str {
    key.split('!').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(from: &str, to: &str) -> Scan {
        Scan { from: from.into(), to: to.into(), rev: false, limit: 1 }
    }

    #[test]
    fn key_maps_to_the_table_of_its_class() {
        let layout = Layout::new(&["note".to_owned(), "spc".to_owned()]);
        let tables = ["spc!a", "note!a!b", "ctr!a", "spc.o!a", "u!a", "spc", "", "spc\"!a"];
        let found = tables.map(|key| layout.table_of(key).to_string());
        assert_eq!(found, ["r_spc", "r_note", "ctr", "ix", "ix", "r_spc", "ix", "ix"]);
    }

    #[test]
    fn range_within_a_class_maps_to_one_table() {
        let layout = Layout::new(&[]);
        for (from, to, table) in [
            ("spc!", "spc\"", Some(Table::Records("spc"))),
            ("spc!a", "spc!b", Some(Table::Records("spc"))),
            ("ctr!a!", "ctr!a\"", Some(Table::Counters)),
            ("crq.n!", "crq.n\"", Some(Table::Rows)),
            ("spc!a", "spc\"\"", None),
            ("spc", "spc\"", None),
            ("", "z", None),
            ("a!", "z!", None),
        ] {
            assert_eq!(layout.table_of_range(&scan(from, to)), table, "{from} to {to}");
        }
    }

    #[test]
    fn every_kind_of_the_platform_has_a_table() {
        let mut kinds: Vec<&str> = docs_core::store::KINDS.iter().map(|kind| kind.name).collect();
        kinds.sort_unstable();
        assert_eq!(KINDS, kinds, "a kind that is not named here would lie among the index rows");
    }

    #[test]
    fn every_platform_kind_is_a_valid_table_name() {
        assert!(Layout::new(&[]).kinds().all(is_kind));
        for wrong in ["", "Note", "a b", "a\"", "é", &"k".repeat(31)] {
            assert!(!is_kind(wrong), "{wrong}");
        }
    }
}
