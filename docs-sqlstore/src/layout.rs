//! Which table a key lies in.
//!
//! The class of a key is what stands before its first `!`. Each kind of record has a table `r_<kind>` with a JSON
//! document a row; counters have a table of their own, because they are added to without being read; everything else
//! (index rows, unique values, receipts, numbers) is a row of `ix`.

use docs_store::{Scan, key::COUNTERS};

/// The kinds of the platform's records, by name: each has a table of its own.
const KINDS: &[&str] = &[
    "adap", "aud", "cmr", "cmt", "col", "crq", "cust", "gls", "grt", "idm", "ive", "ivl", "job", "mem",
    "oas", "oav", "org", "rev", "rqr", "rvw", "sauth", "sec", "sgr", "shl", "site", "sma", "sml", "smr",
    "spc", "srd", "ssp", "tea", "tmm", "tok", "trm", "trn", "usr",
];

/// What kinds of record there are.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// Sorted, without twins.
    kinds: Vec<String>,
}

/// A table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Table<'a> {
    /// `r_<kind>`: a record as JSON in `doc`.
    Records(&'a str),
    /// `ctr`: counters.
    Counters,
    /// `ix`: JSON in `v`, or a number in `n`, or neither.
    Rows,
}

impl Layout {
    /// The kinds of the platform and those of an extension.
    pub(crate) fn new(more: &[String]) -> Self {
        let own = KINDS.iter().map(|kind| (*kind).to_owned());
        let mut kinds: Vec<String> = own.chain(more.iter().cloned()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        Self { kinds }
    }

    /// Every kind of record.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = &str> {
        self.kinds.iter().map(String::as_str)
    }

    /// Every table.
    pub(crate) fn tables(&self) -> impl Iterator<Item = Table<'_>> {
        self.kinds().map(Table::Records).chain([Table::Counters, Table::Rows])
    }

    /// The table of a key.
    pub(crate) fn table_of(&self, key: &str) -> Table<'_> {
        self.table_of_class(class_of(key))
    }

    /// The table of a range, if it lies within one class, as the ranges of the platform do; else `None`: every table
    /// may hold a part of it.
    pub(crate) fn table_of_range(&self, scan: &Scan) -> Option<Table<'_>> {
        let class = class_of(&scan.from);
        // A class covers the keys from `class!` to `class"`.
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

/// Tells whether a name of a kind can be part of the name of a table: lower-case letters, digits and `_`, 30 at most.
pub(crate) fn is_kind(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    (1..=30).contains(&name.len()) && name.bytes().all(plain)
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
    fn a_key_lies_in_the_table_of_its_class() {
        let layout = Layout::new(&["note".to_owned(), "spc".to_owned()]);
        let tables = ["spc!a", "note!a!b", "ctr!a", "spc.o!a", "u!a", "spc", "", "spc\"!a"];
        let found = tables.map(|key| layout.table_of(key).to_string());
        assert_eq!(found, ["r_spc", "r_note", "ctr", "ix", "ix", "r_spc", "ix", "ix"]);
    }

    #[test]
    fn a_range_within_a_class_lies_in_one_table() {
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
    fn every_kind_of_the_platform_can_name_a_table() {
        assert!(Layout::new(&[]).kinds().all(is_kind));
        for wrong in ["", "Note", "a b", "a\"", "é", &"k".repeat(31)] {
            assert!(!is_kind(wrong), "{wrong}");
        }
    }
}
