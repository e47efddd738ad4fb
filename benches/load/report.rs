//! Latency and memory measurements, and their report.

use std::{collections::BTreeMap, time::Duration};

/// Number of failures to print.
const PRINTED_FAILURES: usize = 20;

/// Latencies by operation.
#[derive(Default)]
pub(crate) struct Samples {
    /// Latency of each request in microseconds.
    latencies: BTreeMap<&'static str, Vec<u32>>,
    failures: BTreeMap<&'static str, u64>,
    reasons: Vec<String>,
}

impl Samples {
    /// Records the latency of a successful request.
    pub(crate) fn add(&mut self, name: &'static str, took: Duration) {
        self.latencies.entry(name).or_default().push(u32::try_from(took.as_micros()).unwrap_or(u32::MAX));
    }

    /// Records a failed request.
    pub(crate) fn fail(&mut self, name: &'static str, reason: String) {
        *self.failures.entry(name).or_default() += 1;
        if self.reasons.len() < PRINTED_FAILURES {
            self.reasons.push(format!("{name}: {reason}"));
        }
    }

    /// Adds the samples of another connection.
    pub(crate) fn merge(&mut self, other: Self) {
        for (name, latencies) in other.latencies {
            self.latencies.entry(name).or_default().extend(latencies);
        }
        for (name, count) in other.failures {
            *self.failures.entry(name).or_default() += count;
        }
        self.reasons.extend(other.reasons);
        self.reasons.truncate(PRINTED_FAILURES);
    }

    /// The number of failed requests.
    pub(crate) fn failures(&self) -> u64 {
        self.failures.values().sum()
    }
}

/// Resident memory of the process tree over time.
pub(crate) struct MemorySamples {
    idle: u64,
    /// Bytes, sampled once per second.
    seconds: Vec<u64>,
}

impl MemorySamples {
    /// Creates an empty list of samples. `idle` is the memory before the load, in bytes.
    pub(crate) const fn new(idle: u64) -> Self {
        Self { idle, seconds: Vec::new() }
    }

    pub(crate) fn add(&mut self, bytes: u64) {
        self.seconds.push(bytes);
    }
}

/// Prints a table with a row per operation, followed by the CPU time and memory of the server.
pub(crate) fn print(samples: &mut Samples, memory: &MemorySamples, wall: Duration, cpu: Duration) {
    println!("| operation | requests | failed | p50 ms | p99 ms | max ms |");
    println!("|---|---|---|---|---|---|");
    let mut all = Vec::new();
    for (name, latencies) in &mut samples.latencies {
        row(name, latencies, samples.failures.get(name).copied().unwrap_or_default());
        if *name != "connect" {
            all.extend_from_slice(latencies);
        }
    }
    for (name, count) in &samples.failures {
        if !samples.latencies.contains_key(name) {
            row(name, &mut [], *count);
        }
    }
    let requests = all.len();
    row("all requests", &mut all, samples.failures());
    let rate = requests as f64 / wall.as_secs_f64();
    let each = cpu.as_secs_f64() * 1e6 / (requests.max(1) as f64);
    println!();
    println!("{:.0} s, {rate:.0} requests per second, {each:.0} µs of CPU per request", wall.as_secs_f64());
    let quarter = memory.seconds.len() / 4;
    let mean = |part: &[u64]| part.iter().sum::<u64>() / part.len().max(1) as u64;
    println!(
        "resident memory in MB: idle {}, first quarter {}, last quarter {}, peak {}",
        memory.idle / 1_000_000,
        mean(&memory.seconds[..quarter]) / 1_000_000,
        mean(&memory.seconds[memory.seconds.len() - quarter..]) / 1_000_000,
        memory.seconds.iter().max().copied().unwrap_or_default() / 1_000_000
    );
    for reason in &samples.reasons {
        println!("failed: {reason}");
    }
}

fn row(name: &str, latencies: &mut [u32], failures: u64) {
    latencies.sort_unstable();
    let at = |share: f64| {
        let index = (latencies.len().saturating_sub(1) as f64 * share).round() as usize;
        latencies.get(index).map_or(0.0, |micros| f64::from(*micros) / 1000.0)
    };
    let (p50, p99, max) = (at(0.5), at(0.99), at(1.0));
    println!("| {name} | {} | {failures} | {p50:.2} | {p99:.2} | {max:.2} |", latencies.len());
}
