//! Metrics of the platform in the text format of Prometheus: [`Registry`].

use std::{
    collections::BTreeMap,
    fmt::{self, Write as _},
    time::Duration,
};

use docs_core::ports::{Metric, MetricKind, Metrics};
use parking_lot::Mutex;

use super::exposition::{braced, head, write_histogram};

/// The upper bounds of the histogram buckets, with their labels in seconds. Longer durations count as `+Inf`.
const REGISTRY_BUCKETS: [(Duration, &str); 8] = [
    (Duration::from_millis(10), "0.01"),
    (Duration::from_millis(100), "0.1"),
    (Duration::from_secs(1), "1"),
    (Duration::from_secs(10), "10"),
    (Duration::from_secs(60), "60"),
    (Duration::from_secs(600), "600"),
    (Duration::from_secs(3_600), "3600"),
    (Duration::from_secs(36_000), "36000"),
];

/// Collects the metrics of a platform for `GET /metrics`. There is no global registry: the embedding application passes
/// the same one to the platform builder and to [`HttpConfig`](crate::HttpConfig).
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
#[derive(Default)]
pub struct Registry {
    families: Mutex<BTreeMap<&'static str, Family>>,
}

/// The series of a metric, by the values of its labels.
struct Family {
    metric: &'static Metric,
    series: BTreeMap<Vec<&'static str>, Number>,
}

#[derive(Default)]
struct Number {
    value: f64,
    buckets: [u64; REGISTRY_BUCKETS.len() + 1],
}

impl Registry {
    /// Renders all metrics in the text format of Prometheus. Metrics without values are omitted.
    #[must_use]
    pub fn render(&self) -> String {
        let mut out = String::new();
        for family in self.families.lock().values() {
            // Writing to a string does not fail.
            if family.write(&mut out).is_err() {
                tracing::error!("the metrics could not be written");
            }
        }
        out
    }

    fn update(&self, metric: &'static Metric, labels: &[&'static str], change: impl FnOnce(&mut Number)) {
        debug_assert_eq!(metric.labels.len(), labels.len(), "{}", metric.name);
        let mut families = self.families.lock();
        let family =
            families.entry(metric.name).or_insert_with(|| Family { metric, series: BTreeMap::new() });
        match family.series.get_mut(labels) {
            Some(number) => change(number),
            None => change(family.series.entry(labels.to_vec()).or_default()),
        }
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").field("metrics", &self.families.lock().len()).finish()
    }
}

impl Metrics for Registry {
    #[expect(clippy::cast_precision_loss, reason = "Prometheus has no other numbers")]
    fn add(&self, metric: &'static Metric, labels: &[&'static str], n: u64) {
        self.update(metric, labels, |number| number.value += n as f64);
    }

    #[expect(clippy::cast_precision_loss, reason = "Prometheus has no other numbers")]
    fn set_total(&self, metric: &'static Metric, labels: &[&'static str], total: u64) {
        self.update(metric, labels, |number| number.value = total as f64);
    }

    fn set(&self, metric: &'static Metric, labels: &[&'static str], value: f64) {
        self.update(metric, labels, |number| number.value = value);
    }

    fn observe(&self, metric: &'static Metric, labels: &[&'static str], took: Duration) {
        let bucket = REGISTRY_BUCKETS.iter().position(|(end, _)| took <= *end);
        self.update(metric, labels, |number| {
            number.value += took.as_secs_f64();
            if let Some(bucket) = number.buckets.get_mut(bucket.unwrap_or(REGISTRY_BUCKETS.len())) {
                *bucket += 1;
            }
        });
    }
}

impl Family {
    fn write(&self, out: &mut String) -> fmt::Result {
        head(out, self.metric)?;
        let Metric { name, kind, labels, .. } = self.metric;
        for (values, number) in &self.series {
            let pairs: Vec<String> =
                labels.iter().zip(values).map(|(label, value)| format!("{label}=\"{value}\"")).collect();
            if *kind == MetricKind::Histogram {
                let ends = REGISTRY_BUCKETS.iter().map(|(_, end)| *end);
                let counts = number.buckets.iter().copied();
                write_histogram(out, name, &pairs, (ends, counts), number.value)?;
            } else {
                writeln!(out, "{name}{} {}", braced(&pairs), number.value)?;
            }
        }
        Ok(())
    }
}
