//! What operators watch: [`Metrics`].

use std::{fmt, time::Duration};

/// What kind of number a metric is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MetricKind {
    /// A number that only grows while the process runs.
    Counter,
    /// A number that goes up and down.
    Gauge,
    /// How many took how long.
    Histogram,
}

impl MetricKind {
    /// The name that Prometheus has for the kind.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

/// A metric: its name, and what its numbers mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Metric {
    /// The name, as Prometheus writes it.
    pub name: &'static str,
    /// What kind of number it is.
    pub kind: MetricKind,
    /// What it counts, in a sentence.
    pub help: &'static str,
    /// The names of its labels, in the order in which their values are given.
    pub labels: &'static [&'static str],
}

impl Metric {
    /// A counter.
    #[must_use]
    pub const fn counter(name: &'static str, labels: &'static [&'static str], help: &'static str) -> Self {
        Self { name, kind: MetricKind::Counter, help, labels }
    }

    /// A gauge.
    #[must_use]
    pub const fn gauge(name: &'static str, labels: &'static [&'static str], help: &'static str) -> Self {
        Self { name, kind: MetricKind::Gauge, help, labels }
    }

    /// A histogram of times.
    #[must_use]
    pub const fn histogram(name: &'static str, labels: &'static [&'static str], help: &'static str) -> Self {
        Self { name, kind: MetricKind::Histogram, help, labels }
    }
}

/// Takes what is counted, for whoever shows it: the facade between the platform and the host's monitoring.
///
/// Values of labels are words of the program and never of a request, so that there is a bounded number of them; the
/// type says so. Calls are made on the way of requests: they neither wait nor fail.
///
/// # Example
/// ```
/// use std::{sync::atomic::{AtomicU64, Ordering}, time::Duration};
/// use docs_ports::{Metric, Metrics};
///
/// #[derive(Debug, Default)]
/// struct Total(AtomicU64);
///
/// impl Metrics for Total {
///     fn add(&self, _: &'static Metric, _: &[&'static str], n: u64) {
///         self.0.fetch_add(n, Ordering::Relaxed);
///     }
///     fn set_total(&self, _: &'static Metric, _: &[&'static str], _: u64) {}
///     fn set(&self, _: &'static Metric, _: &[&'static str], _: f64) {}
///     fn observe(&self, _: &'static Metric, _: &[&'static str], _: Duration) {}
/// }
/// ```
pub trait Metrics: fmt::Debug + Send + Sync + 'static {
    /// Adds to a counter.
    fn add(&self, metric: &'static Metric, labels: &[&'static str], n: u64);

    /// Sets a counter that is kept elsewhere to its total since the process began.
    fn set_total(&self, metric: &'static Metric, labels: &[&'static str], total: u64);

    /// Sets a gauge.
    fn set(&self, metric: &'static Metric, labels: &[&'static str], value: f64);

    /// Adds a time to a histogram.
    fn observe(&self, metric: &'static Metric, labels: &[&'static str], took: Duration);
}

/// Counts nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoMetrics;

impl Metrics for NoMetrics {
    fn add(&self, _: &'static Metric, _: &[&'static str], _: u64) {}
    fn set_total(&self, _: &'static Metric, _: &[&'static str], _: u64) {}
    fn set(&self, _: &'static Metric, _: &[&'static str], _: f64) {}
    fn observe(&self, _: &'static Metric, _: &[&'static str], _: Duration) {}
}
