//! The number of attempts per transaction with eight concurrent writers.

use std::{
    fmt::Write as _,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Instant,
};

use async_trait::async_trait;
use docs_benches::{Outcome, key};
use docs_core::{
    Result,
    ports::{Clock, Ids, RandomIds, SystemClock},
    store::{AuditMode, Batch, Key, KeyBuf, Mode, Op, Operation, Receipt, Store, Tx, Value, run},
};

const WRITERS: usize = 8;
const WRITES: usize = 100;
/// Number of keys that each writer reads and puts.
const OWN: usize = 2_000;

fn own_key(n: usize) -> Key {
    KeyBuf::new("own").part(&key(n)).key()
}

/// A write that reads one of the writer's own keys, creates a key, and increments a counter.
struct Bump {
    own: Key,
    new: Key,
    counter: Key,
    attempts: Arc<AtomicU32>,
}

#[async_trait]
impl Operation for Bump {
    type Output = ();
    const NAME: &'static str = "bench_bump";

    fn hot_keys(&self) -> Vec<Key> {
        vec![self.own.clone()]
    }

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        self.attempts.fetch_add(1, Ordering::Relaxed);
        let before = tx.number(&self.own).await?;
        tx.put_value(self.own.clone(), Value::Int(before + 1));
        tx.create_value(self.new.clone(), Value::Unit);
        tx.add(self.counter.clone(), 1);
        Ok(())
    }
}

/// Runs writers on separate keys, and writers of a single key. All of them increment the same counter.
pub(crate) async fn attempts(store: &Arc<dyn Store>) -> Outcome<String> {
    // Other keys make the store resemble one with data: PostgreSQL treats entries on the same index page as
    // conflicting, and the first keys of a class share a page.
    let own = (0..OWN).map(|n| Op::Put(own_key(n), Value::Int(0))).collect();
    store.begin(Mode::Write, &[]).await?.commit(Batch { ops: own, feed: Vec::new() }).await?;
    let mut said = String::new();
    for (what, shared) in [("apart", false), ("one key", true)] {
        let attempts = Arc::new(AtomicU32::new(0));
        let started = Instant::now();
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                tokio::spawn(work(store.clone(), attempts.clone(), if shared { 0 } else { writer }))
            })
            .collect();
        for writer in writers {
            writer.await??;
        }
        let writes = (WRITERS * WRITES) as f64;
        let attempts = f64::from(attempts.load(Ordering::Relaxed)) / writes;
        let rate = writes / started.elapsed().as_secs_f64();
        write!(said, "{what}: {attempts:.2} attempts, {rate:.0}/s; ")?;
    }
    Ok(said)
}

async fn work(store: Arc<dyn Store>, attempts: Arc<AtomicU32>, own: usize) -> Result<()> {
    for _ in 0..WRITES {
        let id = RandomIds.next();
        let bump = Bump {
            own: own_key(own * (OWN / WRITERS)),
            new: KeyBuf::new("new").part(&id.simple().to_string()).key(),
            counter: "ctr!bumps".into(),
            attempts: attempts.clone(),
        };
        run(&store, &Receipt { at: SystemClock.now(), id, logged: AuditMode::Unaudited }, &bump).await?;
    }
    Ok(())
}
