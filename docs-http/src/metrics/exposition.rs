//! The text format of Prometheus.

use std::fmt::{self, Write as _};

use docs_core::ports::Metric;

/// Writes the help and type of a metric.
pub(super) fn head(out: &mut String, metric: &Metric) -> fmt::Result {
    writeln!(out, "# HELP {} {}", metric.name, metric.help)?;
    writeln!(out, "# TYPE {} {}", metric.name, metric.kind.as_str())
}

/// Writes a histogram from counts per bucket; the last bucket is `+Inf`. `pairs` are its labels.
pub(super) fn write_histogram(
    out: &mut String,
    name: &str,
    pairs: &[String],
    (ends, counts): (impl Iterator<Item = &'static str>, impl Iterator<Item = u64>),
    sum: f64,
) -> fmt::Result {
    let mut total = 0;
    for (end, count) in ends.chain(["+Inf"]).zip(counts) {
        total += count;
        writeln!(out, "{name}_bucket{} {total}", braced(pairs.iter().chain([&format!("le=\"{end}\"")])))?;
    }
    writeln!(out, "{name}_sum{} {sum}", braced(pairs))?;
    writeln!(out, "{name}_count{} {total}", braced(pairs))
}

/// Formats the labels of a series, if it has any.
pub(super) fn braced<'p>(pairs: impl IntoIterator<Item = &'p String>) -> String {
    let pairs: Vec<&str> = pairs.into_iter().map(String::as_str).collect();
    if pairs.is_empty() { String::new() } else { format!("{{{}}}", pairs.join(",")) }
}
