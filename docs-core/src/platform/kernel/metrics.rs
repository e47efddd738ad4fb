//! Metrics of the platform: [the complete list](METRICS), and gauges that are measured on demand.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use crate::{
    ErrorKind,
    ports::{Metric, Metrics},
    store::{AttemptOutcome, Mode, Observer},
};

/// Write attempts. More than one attempt per write indicates conflicts.
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
pub const OPEN_TRANSACTIONS: Metric =
    Metric::gauge("docs_transactions_open", &["mode"], "Open transactions of this process by mode.");
/// Finished job runs.
pub const JOB_RUNS: Metric = Metric::counter(
    "docs_job_runs_total",
    &["kind", "outcome"],
    "Total finished job runs of this process by kind and outcome: done, failed, retried, or taken over by \
     another worker.",
);
/// Durations of job runs.
pub const JOB_DURATION: Metric =
    Metric::histogram("docs_job_duration_seconds", &["kind"], "Duration of job runs in seconds, by kind.");
/// Failed job runs by reason.
pub const JOB_FAILURES: Metric = Metric::counter(
    "docs_job_failures_total",
    &["kind", "error"],
    "Total failed job runs by kind of job and kind of error.",
);
/// Jobs waiting for a worker.
pub const JOBS_DUE: Metric =
    Metric::gauge("docs_jobs_due", &[], "Due jobs that wait for a worker; counted up to a limit.");
/// Jobs that are running or due later.
pub const JOBS_LATER: Metric =
    Metric::gauge("docs_jobs_later", &[], "Jobs that are running or due later; counted up to a limit.");
/// Waiting time of the oldest due job.
pub const JOB_WAIT: Metric =
    Metric::gauge("docs_jobs_oldest_due_seconds", &[], "Waiting time of the oldest due job, in seconds.");
/// `1` if search is available.
pub const INDEX_READY: Metric = Metric::gauge(
    "docs_search_index_ready",
    &[],
    "1 if the search index of this process has caught up once, otherwise 0.",
);
/// Changes not yet processed by the search index.
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
/// Objects removed by the garbage collector.
pub const OBJECTS_REMOVED: Metric = Metric::counter(
    "docs_objects_removed_total",
    &[],
    "Total unreferenced objects that the garbage collector removed.",
);
/// Objects examined and retained by the garbage collector.
pub const OBJECTS_RETAINED: Metric = Metric::counter(
    "docs_objects_kept_total",
    &[],
    "Total objects that the garbage collector examined and retained.",
);
/// Leftovers of interrupted uploads removed.
pub const UPLOADS_REMOVED: Metric = Metric::counter(
    "docs_broken_uploads_removed_total",
    &[],
    "Total blobs of incomplete uploads that the garbage collector removed.",
);
/// Storage domains collected.
pub const COLLECTIONS: Metric = Metric::counter(
    "docs_storage_areas_collected_total",
    &["outcome"],
    "Total storage areas by outcome of their garbage collection: read, or skipped as unreadable.",
);
/// Events that readers of sites cause.
pub const SITE_EVENTS: Metric = Metric::counter(
    "docs_site_events_total",
    &["type"],
    "Total events of readers that clients reported, by type, such as page views.",
);
/// Feedback that AI agents submitted to sites.
pub const AGENT_FEEDBACK: Metric = Metric::counter(
    "docs_agent_feedback_total",
    &["subject"],
    "Total feedback of AI agents that was stored, by kind of subject, such as documentation.",
);

/// All metrics of the platform.
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
    &OBJECTS_RETAINED,
    &UPLOADS_REMOVED,
    &COLLECTIONS,
    &SITE_EVENTS,
    &AGENT_FEEDBACK,
];

/// Numbers of open transactions.
#[derive(Debug, Default)]
pub(in crate::platform) struct OpenTransactions {
    pub(in crate::platform) reading: AtomicI64,
    pub(in crate::platform) writing: AtomicI64,
}

impl OpenTransactions {
    pub(in crate::platform) fn counter(&self, mode: Mode) -> &AtomicI64 {
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
    fn transaction_begun(&self, mode: Mode) {
        self.open.counter(mode).fetch_add(1, Ordering::Relaxed);
    }

    fn transaction_ended(&self, mode: Mode) {
        self.open.counter(mode).fetch_sub(1, Ordering::Relaxed);
    }

    fn operation_attempted(&self, operation: &'static str, outcome: AttemptOutcome) {
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

    fn operation_failed(&self, operation: &'static str, kind: ErrorKind) {
        self.metrics.add(&WRITE_FAILURES, &[operation, error_label(kind)], 1);
    }
}

/// Returns the value of the `error` label.
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
