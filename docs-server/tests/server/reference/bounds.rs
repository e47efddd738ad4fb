//! Limits of all inputs, with the cost of an input at its limit.

use super::{
    Table,
    limits::{duration, grouped, size},
};
use crate::bounds::{Bound, Input, Measured, inputs, is_optimized, measured, values};

const PAGE: &str = "bounds.md";

pub(super) fn tables() -> Vec<Table> {
    let (values, measured) = (values(), measured());
    let processor = if is_optimized() { "Processor" } else { "Processor, unoptimized build" };
    let head = ["Dimension", "Bound", "Beyond it", "Memory", processor];
    let row = |input: &Input, bound: &Bound| {
        let [memory, processor] = match bound.measurement.and_then(|name| measured.get(name)) {
            Some(measured) => cost(measured),
            None => [container(input, bound), String::new()],
        };
        let amount = amount(bound.dimension, values(bound));
        vec![bound.dimension.to_owned(), amount, bound.beyond.text().to_owned(), memory, processor]
    };
    inputs()
        .map(|input| {
            let rows: Vec<_> = input.bounds.iter().map(|bound| row(input, bound)).collect();
            Table::new(PAGE, input.name, &head, &rows)
        })
        .collect()
}

fn cost(measured: &Measured) -> [String; 2] {
    let (memory, time) = (measured.memory.div_ceil(1_000_000), measured.cpu_ms.div_ceil(100));
    [format!("{memory} MB"), format!("{}.{} s", time / 10, time % 10)]
}

/// Returns the name of the row whose measurement includes this limit, followed by its section if that is a different
/// one.
fn container(input: &Input, bound: &Bound) -> String {
    let is_container = |other: &&Bound| bound.within.is_some() && other.measurement == bound.within;
    // Prefer a row of the same section.
    let near = input.bounds.iter().find(is_container).map(|row| format!("with: {}", row.dimension));
    let far = || {
        inputs().find_map(|other| {
            let row = other.bounds.iter().find(is_container)?;
            Some(format!("with: {} ({})", row.dimension, other.name))
        })
    };
    near.or_else(far).unwrap_or_else(|| panic!("{} is in no measured input", bound.constant))
}

fn amount(dimension: &str, value: u64) -> String {
    match dimension.split(' ').next() {
        Some("Bytes") => size(value),
        Some("Time") => duration(std::time::Duration::from_secs(value)),
        _ => grouped(value),
    }
}
