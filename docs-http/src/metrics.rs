//! Metrics of the API and the platform in the text format of Prometheus.

mod exposition;
mod registry;

use std::{
    collections::BTreeMap,
    fmt::{self, Write},
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use docs_core::ports::Metric;
use parking_lot::Mutex;

use self::exposition::{braced, head, write_histogram};

pub use registry::Registry;

/// The upper bounds of the histogram buckets, with their labels in seconds. Longer durations count as `+Inf`.
const BUCKETS: [(Duration, &str); 12] = [
    (Duration::from_millis(1), "0.001"),
    (Duration::from_micros(2_500), "0.0025"),
    (Duration::from_millis(5), "0.005"),
    (Duration::from_millis(10), "0.01"),
    (Duration::from_millis(25), "0.025"),
    (Duration::from_millis(50), "0.05"),
    (Duration::from_millis(100), "0.1"),
    (Duration::from_millis(250), "0.25"),
    (Duration::from_millis(500), "0.5"),
    (Duration::from_secs(1), "1"),
    (Duration::from_millis(2_500), "2.5"),
    (Duration::from_secs(10), "10"),
];

/// Completed requests.
pub const REQUESTS: Metric = Metric::counter(
    "docs_http_requests_total",
    &["operation", "status"],
    "Requests by operation and status; 499: the client went away.",
);
/// Requests in progress.
pub const REQUESTS_RUNNING: Metric =
    Metric::gauge("docs_http_requests_running", &["operation"], "Requests that are not answered yet.");
/// Durations of requests.
pub const REQUEST_DURATION: Metric = Metric::histogram(
    "docs_http_request_duration_seconds",
    &["operation"],
    "Time from the request to its answer.",
);
/// Every metric of the API. Those of the platform are [`docs_core::platform::metrics::METRICS`].
pub const METRICS: &[&Metric] = &[&REQUESTS, &REQUESTS_RUNNING, &REQUEST_DURATION];

/// The status of an operation whose client disconnected before the response.
const CLIENT_GONE: u16 = 499;

/// The metrics of one API. There is no global registry: two APIs in one program count separately.
#[derive(Debug, Default)]
pub struct Metrics {
    operations: Mutex<BTreeMap<&'static str, Arc<Series>>>,
    registry: Option<Arc<Registry>>,
}

/// The metrics of one operation.
#[derive(Debug, Default)]
pub struct Series {
    answers: Mutex<BTreeMap<u16, u64>>,
    running: AtomicI64,
    buckets: [AtomicU64; BUCKETS.len() + 1],
    nanoseconds: AtomicU64,
}

impl Metrics {
    /// Creates metrics that are rendered together with those of a registry.
    #[must_use]
    pub fn beside(registry: Arc<Registry>) -> Self {
        Self { registry: Some(registry), ..Self::default() }
    }

    /// Returns the metrics of an operation, creating them on first use.
    #[must_use]
    pub fn series(&self, operation: &'static str) -> Arc<Series> {
        Arc::clone(self.operations.lock().entry(operation).or_default())
    }

    /// Renders all metrics as text.
    #[must_use]
    pub fn render(&self) -> String {
        let operations = self.operations.lock().clone();
        let mut out = String::new();
        for family in [requests, running, durations] {
            // Writing to a string does not fail.
            if family(&mut out, &operations).is_err() {
                tracing::error!("the metrics could not be written");
            }
        }
        out.extend(self.registry.iter().map(|registry| registry.render()));
        out
    }
}

type Operations = BTreeMap<&'static str, Arc<Series>>;

fn label(operation: &str) -> String {
    format!("operation=\"{operation}\"")
}

fn requests(out: &mut String, operations: &Operations) -> fmt::Result {
    head(out, &REQUESTS)?;
    for (operation, series) in operations {
        for (status, count) in series.answers.lock().iter() {
            let pairs = [label(operation), format!("status=\"{status}\"")];
            writeln!(out, "{}{} {count}", REQUESTS.name, braced(&pairs))?;
        }
    }
    Ok(())
}

fn running(out: &mut String, operations: &Operations) -> fmt::Result {
    head(out, &REQUESTS_RUNNING)?;
    for (operation, series) in operations {
        let running = series.running.load(Ordering::Relaxed);
        writeln!(out, "{}{} {running}", REQUESTS_RUNNING.name, braced(&[label(operation)]))?;
    }
    Ok(())
}

fn durations(out: &mut String, operations: &Operations) -> fmt::Result {
    head(out, &REQUEST_DURATION)?;
    for (operation, series) in operations {
        let counts = series.buckets.iter().map(|bucket| bucket.load(Ordering::Relaxed));
        let ends = BUCKETS.iter().map(|(_, end)| *end);
        let sum = Duration::from_nanos(series.nanoseconds.load(Ordering::Relaxed)).as_secs_f64();
        write_histogram(out, REQUEST_DURATION.name, &[label(operation)], (ends, counts), sum)?;
    }
    Ok(())
}

impl Series {
    /// Starts the measurement of a request.
    pub(crate) fn begin(self: &Arc<Self>) -> Running {
        self.running.fetch_add(1, Ordering::Relaxed);
        Running { series: Arc::clone(self), since: Instant::now(), status: CLIENT_GONE }
    }
}

/// A request in progress. Dropping it counts the request.
pub(crate) struct Running {
    series: Arc<Series>,
    since: Instant,
    status: u16,
}

impl Running {
    /// Records the status of the response.
    pub(crate) fn end(mut self, status: u16) {
        self.status = status;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let took = self.since.elapsed();
        let bucket = BUCKETS.iter().position(|(end, _)| took <= *end).unwrap_or(BUCKETS.len());
        self.series.running.fetch_sub(1, Ordering::Relaxed);
        if let Some(bucket) = self.series.buckets.get(bucket) {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
        let nanoseconds = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.series.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
        *self.series.answers.lock().entry(self.status).or_default() += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_operation_and_status() {
        let metrics = Metrics::default();
        let series = metrics.series("getSpace");
        series.begin().end(200);
        series.begin().end(200);
        series.begin().end(404);
        let pending = series.begin();
        let text = metrics.render();
        assert!(
            text.contains("docs_http_requests_total{operation=\"getSpace\",status=\"200\"} 2\n"),
            "{text}"
        );
        assert!(
            text.contains("docs_http_requests_total{operation=\"getSpace\",status=\"404\"} 1\n"),
            "{text}"
        );
        assert!(text.contains("docs_http_requests_running{operation=\"getSpace\"} 1\n"), "{text}");
        assert!(text.contains("_bucket{operation=\"getSpace\",le=\"+Inf\"} 3\n"), "{text}");
        drop(pending);
        let text = metrics.render();
        assert!(
            text.contains("docs_http_requests_total{operation=\"getSpace\",status=\"499\"} 1\n"),
            "{text}"
        );
        assert!(text.contains("_count{operation=\"getSpace\"} 4\n"), "{text}");
    }
}
