//! Gauges that are measured on request.

use std::{sync::atomic::Ordering, time::Duration};

use docs_macros::boxed;
use tokio::{sync::Mutex, time::Instant};

use crate::{
    Result,
    content::CacheStats,
    platform::{
        kernel::{
            metrics::{
                CACHE_LOOKUPS, INDEX_LAG, INDEX_LAG_TIME, INDEX_READY, JOB_WAIT, JOBS_DUE, JOBS_LATER,
                OPEN_TRANSACTIONS,
            },
            platform::Platform,
        },
        search::Follower,
    },
    store::{
        Entity as _, MAX_SCAN, Mode, Scan, StoreError,
        records::{JobRecord, JobState},
        topic,
    },
};

/// The time of the last measurement.
#[derive(Default)]
struct LastMeasurement(Mutex<Option<Instant>>);

/// Minimum interval between measurements. More frequent requests get cached values.
const MEASURE_INTERVAL: Duration = Duration::from_secs(1);

impl Platform {
    /// Measures gauges that are not updated on change, such as the number of waiting jobs. Call it before metrics are
    /// exported, as `GET /metrics` does.
    ///
    /// # Errors
    /// Errors of the store and of the search index; the other gauges are still set.
    #[boxed('a)]
    pub async fn measure<'a>(&'a self) -> Result<()> {
        let measuring = self.inner.memory.get_or_default::<LastMeasurement>();
        let mut last = measuring.0.lock().await;
        if last.is_some_and(|last| last.elapsed() < MEASURE_INTERVAL) {
            return Ok(());
        }
        *last = Some(Instant::now());
        self.measure_process();
        let queue = self.measure_queue().await;
        if let Some(follower) = self.follower() {
            self.measure_index(&follower).await?;
        }
        queue
    }

    fn measure_process(&self) {
        let metrics = self.metrics();
        for (mode, name) in [(Mode::Read, "read"), (Mode::Write, "write")] {
            // Clones of the platform may end transactions concurrently, so the current value is read.
            let open = self.inner.open.counter(mode).load(Ordering::Relaxed);
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
        let (from, end) = JobRecord::by_due_time().prefix_range();
        let (_, border) = JobRecord::by_due_time().time(now).prefix_range();
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
            // The index belongs to another store. A worker rebuilds it.
            Err(StoreError::Misuse(_)) => MAX_SCAN as usize,
            Err(error) => return Err(error.into()),
        };
        metrics.set(&INDEX_LAG, &[], float(behind));
        let lag = if behind == 0 && ready { 0 } else { follower.lag(self.clock().now()).num_milliseconds() };
        metrics.set(&INDEX_LAG_TIME, &[], float(lag.max(0)) / 1_000.0);
        Ok(())
    }
}

/// Converts a number to a metric value. These values are far below the limit of exact conversion.
#[expect(
    clippy::cast_precision_loss,
    reason = "counts of at most 1,000, and milliseconds since the process \
                                                started"
)]
fn float(n: impl TryInto<i64>) -> f64 {
    n.try_into().unwrap_or(i64::MAX) as f64
}
