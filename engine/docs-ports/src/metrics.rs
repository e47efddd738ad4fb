//! Metrics for operators: [`Metrics`].

use std::{fmt, time::Duration};

/// The type of a metric.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MetricKind {
    /// A value that only increases during the lifetime of the process.
    Counter,
    /// A value that increases and decreases.
    Gauge,
    /// A distribution of durations.
    Histogram,
}

impl MetricKind {
    /// Returns the Prometheus name of the type.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

/// A metric: its name and its meaning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Metric {
    /// The Prometheus name.
    pub name: &'static str,
    pub kind: MetricKind,
    /// The help text, as a sentence.
    pub help: &'static str,
    /// The label names, in the order of the label values.
    pub labels: &'static [&'static str],
}

impl Metric {
    /// Creates a counter.
    #[must_use]
    pub const fn counter(name: &'static str, labels: &'static [&'static str], help: &'static str) -> Self {
        Self { name, kind: MetricKind::Counter, help, labels }
    }

    /// Creates a gauge.
    #[must_use]
    pub const fn gauge(name: &'static str, labels: &'static [&'static str], help: &'static str) -> Self {
        Self { name, kind: MetricKind::Gauge, help, labels }
    }

    /// Creates a histogram of durations.
    #[must_use]
    pub const fn histogram(name: &'static str, labels: &'static [&'static str], help: &'static str) -> Self {
        Self { name, kind: MetricKind::Histogram, help, labels }
    }
}

/// The metrics sink: the interface between the platform and the monitoring of the embedding application.
///
/// Label values are constants of the program, which the `&'static str` type enforces. They never come from a request,
/// so their number is bounded. Methods are called on the request path: an implementation must not block or fail.
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

    /// Sets a counter that is maintained elsewhere to its total since the process started.
    fn set_total(&self, metric: &'static Metric, labels: &[&'static str], total: u64);

    /// Sets a gauge.
    fn set(&self, metric: &'static Metric, labels: &[&'static str], value: f64);

    /// Adds a duration to a histogram.
    fn observe(&self, metric: &'static Metric, labels: &[&'static str], took: Duration);
}

/// A metrics sink that discards everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoMetrics;

impl Metrics for NoMetrics {
    fn add(&self, _: &'static Metric, _: &[&'static str], _: u64) {}
    fn set_total(&self, _: &'static Metric, _: &[&'static str], _: u64) {}
    fn set(&self, _: &'static Metric, _: &[&'static str], _: f64) {}
    fn observe(&self, _: &'static Metric, _: &[&'static str], _: Duration) {}
}
