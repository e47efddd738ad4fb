//! Metrics of the platform: [all of them](METRICS), and gauges that are measured on demand.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use tokio::{sync::Mutex, time::Instant};

use crate::{
    BoxFuture, ErrorKind, Result,
    content::CacheStats,
    platform::{Platform, search::Follower},
    ports::{Metric, Metrics},
    store::{
        AttemptOutcome, Entity, MAX_SCAN, Mode, Observer, Scan, StoreError,
        records::{JobRecord, JobState},
        topic,
    },
};

/// Attempts at writes. More than one attempt per write indicates conflicts.
pub const TRANSACTION_ATTEMPTS: Metric = Metric::counter(
    "docs_transaction_attempts_total",
    &["operation", "outcome"],
    "Total attempts at writes by operation and outcome; conflicts are retried.",
);
/// Failed writes.
pub const WRITE_FAILURES: Metric = Metric::counter(
    "docs_write_failures_total",
    &["operation", "error"],
    "Total failed writes by operation and kind of error.",
);
/// Open transactions.
pub const OPEN_TRANSACTIONS: Metric =
    Metric::gauge("docs_transactions_open", &["mode"], "Open transactions of this process by mode.");
/// Finished runs of jobs.
pub const JOB_RUNS: Metric = Metric::counter(
    "docs_job_runs_total",
    &["kind", "outcome"],
    "Total finished job runs of this process by kind and outcome: done, failed, retried, or taken over by \
     another worker.",
);
/// Durations of job runs.
pub const JOB_DURATION: Metric =
    Metric::histogram("docs_job_duration_seconds", &["kind"], "Duration of job runs in seconds, by kind.");
/// Failed runs of jobs by reason.
pub const JOB_FAILURES: Metric = Metric::counter(
    "docs_job_failures_total",
    &["kind", "error"],
    "Total failed job runs by kind of job and kind of error.",
);
/// Jobs that wait for a worker.
pub const JOBS_DUE: Metric =
    Metric::gauge("docs_jobs_due", &[], "Due jobs that wait for a worker; counted up to a limit.");
/// Jobs that are running or due later.
pub const JOBS_LATER: Metric =
    Metric::gauge("docs_jobs_later", &[], "Jobs that are running or due later; counted up to a limit.");
/// Waiting time of the oldest due job.
pub const JOB_WAIT: Metric =
    Metric::gauge("docs_jobs_oldest_due_seconds", &[], "Waiting time of the oldest due job, in seconds.");
/// `1` if searches are available.
pub const INDEX_READY: Metric = Metric::gauge(
    "docs_search_index_ready",
    &[],
    "1 if the search index of this process has caught up once, otherwise 0.",
);
/// Changes that the search index has not processed.
pub const INDEX_LAG: Metric = Metric::gauge(
    "docs_search_index_lag_changes",
    &[],
    "Changes that the search index has not processed; counted up to a limit.",
);
/// Time since the search index was last up to date.
pub const INDEX_LAG_TIME: Metric = Metric::gauge(
    "docs_search_index_lag_seconds",
    &[],
    "Seconds since the search index was last up to date; 0 if it is up to date.",
);
/// Lookups in the content caches.
pub const CACHE_LOOKUPS: Metric = Metric::counter(
    "docs_content_cache_lookups_total",
    &["cache", "result"],
    "Total lookups in the content caches by cache and result.",
);
/// Objects that the garbage collector removed.
pub const OBJECTS_REMOVED: Metric = Metric::counter(
    "docs_objects_removed_total",
    &[],
    "Total unreferenced objects that the garbage collector removed.",
);
/// Objects that the garbage collector examined and retained.
pub const OBJECTS_KEPT: Metric = Metric::counter(
    "docs_objects_kept_total",
    &[],
    "Total objects that the garbage collector examined and retained.",
);
/// Leftovers of interrupted uploads that were removed.
pub const UPLOADS_REMOVED: Metric = Metric::counter(
    "docs_broken_uploads_removed_total",
    &[],
    "Total blobs of incomplete uploads that the garbage collector removed.",
);
/// Storage areas that were collected.
pub const COLLECTIONS: Metric = Metric::counter(
    "docs_storage_areas_collected_total",
    &["outcome"],
    "Total storage areas by outcome of their garbage collection: read, or skipped as unreadable.",
);

/// Every metric of the platform.
pub const METRICS: &[&Metric] = &[
    &TRANSACTION_ATTEMPTS,
    &WRITE_FAILURES,
    &OPEN_TRANSACTIONS,
    &JOB_RUNS,
    &JOB_DURATION,
    &JOB_FAILURES,
    &JOBS_DUE,
    &JOBS_LATER,
    &JOB_WAIT,
    &INDEX_READY,
    &INDEX_LAG,
    &INDEX_LAG_TIME,
    &CACHE_LOOKUPS,
    &OBJECTS_REMOVED,
    &OBJECTS_KEPT,
    &UPLOADS_REMOVED,
    &COLLECTIONS,
];

/// Minimum interval between measurements. More frequent requests get the same values.
const MEASURE_EVERY: Duration = Duration::from_secs(1);

/// Time of the last measurement.
pub(in crate::platform) type Measuring = Mutex<Option<Instant>>;

/// Number of open transactions.
#[derive(Debug, Default)]
pub(in crate::platform) struct OpenTransactions {
    pub(in crate::platform) reading: AtomicI64,
    pub(in crate::platform) writing: AtomicI64,
}

impl OpenTransactions {
    fn of(&self, mode: Mode) -> &AtomicI64 {
        match mode {
            Mode::Read => &self.reading,
            Mode::Write => &self.writing,
        }
    }
}

/// Records metrics of store transactions.
#[derive(Debug)]
pub(in crate::platform) struct StoreObserver {
    pub(in crate::platform) open: Arc<OpenTransactions>,
    pub(in crate::platform) metrics: Arc<dyn Metrics>,
}

impl Observer for StoreObserver {
    fn begun(&self, mode: Mode) {
        self.open.of(mode).fetch_add(1, Ordering::Relaxed);
    }

    fn ended(&self, mode: Mode) {
        self.open.of(mode).fetch_sub(1, Ordering::Relaxed);
    }

    fn attempted(&self, operation: &'static str, outcome: AttemptOutcome) {
        let outcome = match outcome {
            AttemptOutcome::Done => "done",
            AttemptOutcome::Conflict => "conflict",
            AttemptOutcome::Exists => "exists",
            AttemptOutcome::Unknown => "unknown",
            AttemptOutcome::Unavailable => "unavailable",
            AttemptOutcome::Refused => "refused",
        };
        self.metrics.add(&TRANSACTION_ATTEMPTS, &[operation, outcome], 1);
    }

    fn failed(&self, operation: &'static str, kind: ErrorKind) {
        self.metrics.add(&WRITE_FAILURES, &[operation, error_label(kind)], 1);
    }
}

/// Value of the label `error`.
pub(in crate::platform) const fn error_label(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Invalid => "invalid",
        ErrorKind::Unauthenticated => "unauthenticated",
        ErrorKind::Forbidden => "forbidden",
        ErrorKind::NotFound => "not_found",
        ErrorKind::Conflict => "conflict",
        ErrorKind::Precondition => "precondition",
        ErrorKind::TooLarge => "too_large",
        ErrorKind::Unprocessable => "unprocessable",
        ErrorKind::RateLimited => "rate_limited",
        ErrorKind::Unavailable => "unavailable",
        _ => "internal",
    }
}

impl Platform {
    /// Measures gauges that are not updated on change, such as the number of waiting jobs. Call it before metrics are
    /// exported, as `GET /metrics` does.
    ///
    /// # Errors
    /// Errors of the store and of the search index; the other gauges are still set.
    pub fn measure<'a>(&'a self) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let mut last = self.inner.measuring.lock().await;
            if last.is_some_and(|last| last.elapsed() < MEASURE_EVERY) {
                return Ok(());
            }
            *last = Some(Instant::now());
            self.measure_process();
            let queue = self.measure_queue().await;
            if let Some(follower) = self.follower() {
                self.measure_index(follower).await?;
            }
            queue
        })
    }

    fn measure_process(&self) {
        let metrics = self.metrics();
        for (mode, name) in [(Mode::Read, "read"), (Mode::Write, "write")] {
            // A current value: transactions of clones of the platform may end at the same time.
            let open = self.inner.open.of(mode).load(Ordering::Relaxed);
            metrics.set(&OPEN_TRANSACTIONS, &[name], float(open));
        }
        for CacheStats { cache, hits, misses } in self.content().cache_stats() {
            metrics.set_total(&CACHE_LOOKUPS, &[cache, "hit"], hits);
            metrics.set_total(&CACHE_LOOKUPS, &[cache, "miss"], misses);
        }
    }

    async fn measure_queue(&self) -> Result<()> {
        let tx = self.read().await?;
        let now = self.clock().now();
        let (from, end) = JobRecord::due().below();
        let (_, border) = JobRecord::due().time(now).below();
        let due = Scan { from, to: border.clone(), rev: false, limit: MAX_SCAN };
        let later = Scan { from: border, to: end, rev: false, limit: MAX_SCAN };
        let found = tx.scan_many(&[due, later]).await?;
        let first = match found[0].first() {
            Some((row, _)) => tx.get::<JobRecord>(&JobRecord::named_by(row)).await?,
            None => None,
        };
        let waited = first.filter(|job| matches!(job.state, JobState::Queued | JobState::Running));
        let waited = waited.map_or(0, |job| (now - job.due.time()).num_milliseconds().max(0));
        let metrics = self.metrics();
        metrics.set(&JOBS_DUE, &[], float(found[0].len()));
        metrics.set(&JOBS_LATER, &[], float(found[1].len()));
        metrics.set(&JOB_WAIT, &[], float(waited) / 1_000.0);
        Ok(())
    }

    async fn measure_index(&self, follower: &Follower) -> Result<()> {
        let ready = follower.is_caught_up().await?;
        let metrics = self.metrics();
        metrics.set(&INDEX_READY, &[], if ready { 1.0 } else { 0.0 });
        let position = follower.index().position().await?;
        let behind = match self.store().changes(topic::HEAD, position, MAX_SCAN).await {
            Ok(news) => news.len(),
            // The index belongs to another store; a worker rebuilds it.
            Err(StoreError::Misuse(_)) => MAX_SCAN as usize,
            Err(error) => return Err(error.into()),
        };
        metrics.set(&INDEX_LAG, &[], float(behind));
        let lag =
            if behind == 0 && ready { 0 } else { follower.behind_for(self.clock().now()).num_milliseconds() };
        metrics.set(&INDEX_LAG_TIME, &[], float(lag.max(0)) / 1_000.0);
        Ok(())
    }
}

/// Converts a number to a metric value. The values here are far below the limit of exact conversion.
#[expect(
    clippy::cast_precision_loss,
    reason = "counts of at most 1,000, and milliseconds since the process \
                                                started"
)]
fn float(n: impl TryInto<i64>) -> f64 {
    n.try_into().unwrap_or(i64::MAX) as f64
}
