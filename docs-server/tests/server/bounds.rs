//! A table of the limits on all untrusted input, with the test that verifies each limit and the cost of input at the
//! limit.
//!
//! The handbook contains the table (`reference/bounds.rs`). A constant whose name marks it as a limit must be listed in
//! the table or in `INTERNAL`, so that every new kind of input gets a row. `DOCS_BOUNDS=write cargo test --release -p
//! docs-server --test server bounds` runs the measurements and writes `measured.json`. `DOCS_BOUNDS_PROGRAM` selects
//! another program to measure.

mod measure;
mod rows;
mod source;

use std::collections::BTreeSet;

pub(crate) use measure::{Measured, is_optimized, measured};
pub(crate) use rows::{Bound, Input, inputs};

use rows::INTERNAL;
use source::Sources;

/// Constants that the platform's list of limits imports under another name.
const RENAMED: &[(&str, &str)] = &[("MAX_FRONT_MATTER_BYTES", "MAX_BYTES")];

fn bounds() -> impl Iterator<Item = &'static Bound> {
    inputs().flat_map(|input| input.bounds)
}

/// Returns the limit in a row. Times are in seconds.
pub(crate) fn values() -> impl Fn(&Bound) -> u64 {
    let sources = Sources::read();
    move |bound| sources.value(bound.constant).unwrap_or_else(|| panic!("{} has no value", bound.constant))
}

#[test]
fn every_row_has_the_value_of_a_constant() {
    let sources = Sources::read();
    let without: Vec<_> = bounds().filter(|bound| sources.value(bound.constant).is_none()).collect();
    let names: Vec<_> = without.iter().map(|bound| bound.constant).collect();
    assert!(names.is_empty(), "these constants have no value that the table can read: {names:#?}");
}

#[test]
fn every_row_names_a_test_of_its_bound() {
    let sources = Sources::read();
    let missing: Vec<_> = bounds()
        .filter(|bound| !sources.has_test(bound.test))
        .map(|bound| (bound.dimension, bound.test))
        .collect();
    assert!(missing.is_empty(), "there are no such tests: {missing:#?}");
}

#[test]
fn every_row_is_measured_or_part_of_a_measured_input() {
    let measured: BTreeSet<&str> = bounds().filter_map(|bound| bound.measurement).collect();
    let without: Vec<_> = bounds()
        .filter(|bound| {
            bound.measurement.is_some() == bound.within.is_some_and(|name| measured.contains(name))
        })
        .map(|bound| (bound.constant, bound.measurement, bound.within))
        .collect();
    assert!(without.is_empty(), "give these rows one measurement or a reference to one: {without:#?}");
}

#[test]
fn every_constant_that_bounds_an_input_is_in_the_table() {
    let in_table: BTreeSet<&str> = bounds().map(|bound| bound.constant).collect();
    let internal: BTreeSet<&str> = INTERNAL.iter().flat_map(|(_, names)| *names).copied().collect();
    let declared = Sources::read().bounds();
    let unlisted: Vec<_> = declared
        .iter()
        .filter(|name| !in_table.contains(name.as_str()) && !internal.contains(name.as_str()))
        .collect();
    assert!(
        unlisted.is_empty(),
        "give these a row in `bounds/rows`, or a reason in `bounds/rows/internal.rs`: {unlisted:#?}"
    );
    let gone: Vec<_> =
        internal.iter().filter(|name| !declared.iter().any(|declared| declared == *name)).collect();
    assert!(gone.is_empty(), "these constants do not exist: {gone:#?}");
    let both: Vec<_> = internal.intersection(&in_table).collect();
    assert!(both.is_empty(), "these are in the table and internal: {both:#?}");
}

#[test]
fn every_limit_of_the_platform_is_in_the_table() {
    let sources = Sources::read();
    let named: Vec<String> = sources.limits();
    assert!(named.len() > 50, "{named:?}");
    let in_table = |limit: &String| {
        let name = limit.rsplit("::").next().unwrap_or_default();
        let name = RENAMED.iter().find(|(used, _)| *used == name).map_or(name, |(_, own)| own);
        bounds().any(|bound| bound.constant.rsplit("::").next() == Some(name))
    };
    let unlisted: Vec<_> = named.iter().filter(|limit| !in_table(limit)).collect();
    assert!(unlisted.is_empty(), "these limits have no row: {unlisted:#?}");
}
