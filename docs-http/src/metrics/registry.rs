//! Platform metrics in the Prometheus text format: [`Registry`].

use std::{collections::BTreeMap, fmt, time::Duration};

use docs_core::ports::{Metric, Metrics};
use parking_lot::Mutex;
use prometheus::{
    Gauge, GaugeVec, Histogram, HistogramOpts, HistogramVec, IntCounterVec, Opts, Result, TextEncoder,
    core::Collector,
};

/// Upper bounds of the histogram buckets in seconds. Longer durations count as `+Inf`.
const REGISTRY_BUCKETS: &[f64] = &[0.01, 0.1, 1.0, 10.0, 60.0, 600.0, 3_600.0, 36_000.0];

/// Collects platform metrics for `GET /metrics`. There is no global registry: the embedding application passes the same
/// one to the platform builder and to [`HttpConfig`](crate::HttpConfig).
///
/// ```
/// use std::sync::Arc;
/// use docs_core::Platform;
/// use docs_http::{HttpConfig, metrics::Registry};
/// # use docs_memstore::{MemObjects, MemStore};
///
/// let registry = Arc::new(Registry::default());
/// let platform = Platform::builder(Arc::new(MemStore::new()), Arc::new(MemObjects::new()))
///     .metrics(registry.clone())
///     .build();
/// let config = HttpConfig { registry: Some(registry), ..HttpConfig::default() };
/// let app = docs_http::routes(&platform, config)?;
/// # let _ = app;
/// # Ok::<(), docs_http::openapi::Problems>(())
/// ```
pub struct Registry {
    registry: prometheus::Registry,
    buckets: &'static [f64],
    counters: Families<IntCounterVec>,
    gauges: Families<GaugeVec>,
    histograms: Families<HistogramVec>,
    /// Labels of each metric, in the declared order.
    labels: Families<&'static [&'static str]>,
}

/// Values by metric name.
type Families<F> = Mutex<BTreeMap<&'static str, F>>;

impl Registry {
    pub(super) fn with_buckets(buckets: &'static [f64]) -> Self {
        Self {
            registry: prometheus::Registry::new(),
            buckets,
            counters: Mutex::default(),
            gauges: Mutex::default(),
            histograms: Mutex::default(),
            labels: Mutex::default(),
        }
    }

    /// Renders all metrics in the Prometheus text format. Metrics without values are omitted.
    #[must_use]
    pub fn render(&self) -> String {
        let mut families = self.registry.gather();
        for family in &mut families {
            // The library sorts labels by name; restore the declared order.
            let declared = self.labels.lock().get(family.name()).copied().unwrap_or_default();
            for series in family.mut_metric() {
                let mut labels = series.take_label();
                labels.sort_by_key(|label| declared.iter().position(|name| *name == label.name()));
                series.set_label(labels);
            }
        }
        TextEncoder::new().encode_to_string(&families).unwrap_or_else(|error| {
            tracing::error!(%error, "the metrics could not be written");
            String::new()
        })
    }

    pub(super) fn counters(&self, metric: &'static Metric) -> Result<IntCounterVec> {
        self.family(&self.counters, metric, |opts| IntCounterVec::new(opts, metric.labels))
    }

    pub(super) fn gauge(&self, metric: &'static Metric, labels: &[&str]) -> Result<Gauge> {
        let gauges = self.family(&self.gauges, metric, |opts| GaugeVec::new(opts, metric.labels))?;
        gauges.get_metric_with_label_values(labels)
    }

    pub(super) fn histogram(&self, metric: &'static Metric, labels: &[&str]) -> Result<Histogram> {
        let histograms = self.family(&self.histograms, metric, |opts| {
            HistogramVec::new(HistogramOpts::from(opts).buckets(self.buckets.to_vec()), metric.labels)
        })?;
        histograms.get_metric_with_label_values(labels)
    }

    /// Returns the metric family of a metric, which is registered on first use.
    fn family<F: Collector + Clone + 'static>(
        &self,
        families: &Families<F>,
        metric: &'static Metric,
        create: impl FnOnce(Opts) -> Result<F>,
    ) -> Result<F> {
        let mut families = families.lock();
        if let Some(family) = families.get(metric.name) {
            return Ok(family.clone());
        }
        let family = create(Opts::new(metric.name, metric.help))?;
        self.registry.register(Box::new(family.clone()))?;
        families.insert(metric.name, family.clone());
        self.labels.lock().insert(metric.name, metric.labels);
        Ok(family)
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self::with_buckets(REGISTRY_BUCKETS)
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").finish_non_exhaustive()
    }
}

impl Metrics for Registry {
    fn add(&self, metric: &'static Metric, labels: &[&'static str], n: u64) {
        let counter = self.counters(metric).and_then(|all| all.get_metric_with_label_values(labels));
        log_failure(metric, counter.map(|counter| counter.inc_by(n)));
    }

    fn set_total(&self, metric: &'static Metric, labels: &[&'static str], total: u64) {
        let counter = self.counters(metric).and_then(|all| all.get_metric_with_label_values(labels));
        log_failure(metric, counter.map(|counter| counter.inc_by(total.saturating_sub(counter.get()))));
    }

    fn set(&self, metric: &'static Metric, labels: &[&'static str], value: f64) {
        log_failure(metric, self.gauge(metric, labels).map(|gauge| gauge.set(value)));
    }

    fn observe(&self, metric: &'static Metric, labels: &[&'static str], took: Duration) {
        log_failure(
            metric,
            self.histogram(metric, labels).map(|histogram| histogram.observe(took.as_secs_f64())),
        );
    }
}

/// Logs a failed update, which is caused by an invalid metric definition.
fn log_failure(metric: &Metric, result: Result<()>) {
    if let Err(error) = result {
        tracing::error!(metric = metric.name, %error, "a metric could not be recorded");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static DONE: Metric = Metric::counter("done_total", &["operation", "error"], "Finished operations.");
    static TOOK: Metric = Metric::histogram("took_seconds", &["kind"], "Durations.");

    #[test]
    fn metrics_are_rendered_with_declared_labels_and_buckets() {
        let registry = Registry::default();
        assert_eq!(registry.render(), "");
        registry.add(&DONE, &["edit", "conflict"], 2);
        registry.observe(&TOOK, &["import"], Duration::from_secs(60));
        let text = registry.render();
        for line in [
            "# HELP done_total Finished operations.",
            "# TYPE done_total counter",
            r#"done_total{operation="edit",error="conflict"} 2"#,
            "# TYPE took_seconds histogram",
            r#"took_seconds_bucket{kind="import",le="0.01"} 0"#,
            r#"took_seconds_bucket{kind="import",le="10"} 0"#,
            r#"took_seconds_bucket{kind="import",le="60"} 1"#,
            r#"took_seconds_bucket{kind="import",le="36000"} 1"#,
            r#"took_seconds_bucket{kind="import",le="+Inf"} 1"#,
            r#"took_seconds_sum{kind="import"} 60"#,
            r#"took_seconds_count{kind="import"} 1"#,
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is missing in\n{text}");
        }
    }

    #[test]
    fn a_total_replaces_the_earlier_total() {
        let registry = Registry::default();
        for total in [3, 5, 5] {
            registry.set_total(&DONE, &["edit", "none"], total);
        }
        let text = registry.render();
        assert!(text.contains("done_total{operation=\"edit\",error=\"none\"} 5\n"), "{text}");
    }

    #[test]
    fn a_wrong_number_of_labels_records_nothing() {
        let registry = Registry::default();
        registry.add(&DONE, &["edit"], 1);
        assert_eq!(registry.render(), "");
    }
}
