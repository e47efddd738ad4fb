//! API and platform metrics in the Prometheus text format.

mod registry;

use std::{sync::Arc, time::Instant};

use docs_core::ports::Metric;
use prometheus::{Gauge, Histogram, IntCounterVec};

pub use registry::Registry;

/// Upper bounds of the histogram buckets in seconds. Longer durations count as `+Inf`.
const BUCKETS: &[f64] = &[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];

/// Completed requests.
pub const REQUESTS: Metric = Metric::counter(
    "docs_http_requests_total",
    &["operation", "status"],
    "Total requests by operation and status; 499 if the client disconnected.",
);
/// Requests in progress.
pub const REQUESTS_RUNNING: Metric =
    Metric::gauge("docs_http_requests_running", &["operation"], "Requests in progress, by operation.");
/// Durations of requests.
pub const REQUEST_DURATION: Metric = Metric::histogram(
    "docs_http_request_duration_seconds",
    &["operation"],
    "Duration of requests in seconds, by operation.",
);
/// All API metrics. Those of the platform are in [`docs_core::platform::metrics::METRICS`].
pub const METRICS: &[&Metric] = &[&REQUESTS, &REQUESTS_RUNNING, &REQUEST_DURATION];

/// The status recorded for an operation whose client disconnected before the response.
const CLIENT_CLOSED_REQUEST: u16 = 499;

/// The metrics of one API. There is no global registry: two APIs in one process are counted separately.
#[derive(Debug)]
pub struct Metrics {
    own: Registry,
    platform: Option<Arc<Registry>>,
}

/// The metrics of one operation.
#[derive(Debug)]
pub struct Series {
    operation: &'static str,
    requests: IntCounterVec,
    running: Gauge,
    duration: Histogram,
}

impl Metrics {
    /// Creates metrics that are rendered together with those of `registry`.
    #[must_use]
    pub fn with_registry(registry: Arc<Registry>) -> Self {
        Self { platform: Some(registry), ..Self::default() }
    }

    /// Returns the metrics of an operation, which are created on first use.
    #[must_use]
    pub fn series(&self, operation: &'static str) -> Arc<Series> {
        let series = Series::new(&self.own, operation);
        Arc::new(series.unwrap_or_else(|error| unreachable!("the metrics of the API are valid: {error}")))
    }

    /// Renders all metrics as text.
    #[must_use]
    pub fn render(&self) -> String {
        [Some(&self.own), self.platform.as_deref()].into_iter().flatten().map(Registry::render).collect()
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self { own: Registry::with_buckets(BUCKETS), platform: None }
    }
}

impl Series {
    fn new(own: &Registry, operation: &'static str) -> prometheus::Result<Self> {
        Ok(Self {
            operation,
            requests: own.counters(&REQUESTS)?,
            running: own.gauge(&REQUESTS_RUNNING, &[operation])?,
            duration: own.histogram(&REQUEST_DURATION, &[operation])?,
        })
    }

    /// Starts measuring a request.
    pub(crate) fn begin(self: &Arc<Self>) -> RequestTimer {
        self.running.inc();
        RequestTimer { series: Arc::clone(self), since: Instant::now(), status: CLIENT_CLOSED_REQUEST }
    }
}

/// A request in progress. Dropping it records the request.
pub(crate) struct RequestTimer {
    series: Arc<Series>,
    since: Instant,
    status: u16,
}

impl RequestTimer {
    /// Sets the response status and records the request.
    pub(crate) fn end(mut self, status: u16) {
        self.status = status;
    }
}

impl Drop for RequestTimer {
    fn drop(&mut self) {
        let Series { operation, requests, running, duration } = &*self.series;
        running.dec();
        duration.observe(self.since.elapsed().as_secs_f64());
        requests.with_label_values(&[*operation, &self.status.to_string()]).inc();
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
