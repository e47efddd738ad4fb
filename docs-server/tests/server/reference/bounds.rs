//! The bounds of all inputs, with the cost of an input at its bound.

use super::{
    Table,
    limits::{duration, grouped, size},
};
use crate::bounds::{Bound, Measured, inputs, is_optimized, measured, values};

const PAGE: &str = "bounds.md";

pub(super) fn tables() -> Vec<Table> {
    let (values, measured) = (values(), measured());
    let processor = if is_optimized() { "Processor" } else { "Processor, unoptimized build" };
    let head = ["Dimension", "Bound", "Beyond it", "Memory", processor];
    let row = |bound: &Bound| {
        let measurement = bound.measurement.and_then(|name| measured.get(name));
        let cell = |text: fn(&Measured) -> String| measurement.map_or_else(|| "–".to_owned(), text);
        vec![
            bound.dimension.to_owned(),
            amount(bound.dimension, values(bound)),
            bound.beyond.text().to_owned(),
            cell(|measured| format!("{} MB", measured.memory.div_ceil(1_000_000))),
            cell(|measured| format!("{}.{:01} s", measured.cpu_ms / 1_000, measured.cpu_ms % 1_000 / 100)),
        ]
    };
    inputs()
        .map(|input| {
            let rows: Vec<_> = input.bounds.iter().map(row).collect();
            Table::new(PAGE, input.name, &head, &rows)
        })
        .collect()
}

fn amount(dimension: &str, value: u64) -> String {
    match dimension.split(' ').next() {
        Some("Bytes") => size(value),
        Some("Time") => duration(std::time::Duration::from_secs(value)),
        _ => grouped(value),
    }
}
