//! Store versions.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use super::{
    super::{Store, StoreVersion},
    Factory,
    kit::{Attempts, add, create, delete, get, join, keys, put, read_all, spawn_each, write},
};

/// If two calls return the same version, reads that begin between them are equal, even under concurrent writes.
pub async fn a_version_names_what_is_read(factory: &dyn Factory) {
    let store = factory.store().await;
    write(&*store, vec![put("num!a", 0)]).await;
    let is_done = Arc::new(AtomicBool::new(false));
    let writers = spawn_each(&store, 3, |store, writer| async move {
        for n in 0..40 {
            write(&*store, vec![put("num!a", i64::from(writer) * 1_000 + n), add("ctr!n", 1)]).await;
        }
    });
    let readers = spawn_each(&store, 2, |store, _| {
        let is_done = Arc::clone(&is_done);
        async move {
            let mut named = HashMap::new();
            while !is_done.load(Ordering::SeqCst) {
                let before = version(&*store).await;
                let (seen, _) = read_all(&*store, &keys(&["num!a", "ctr!n"]), &[]).await;
                if let Some(before) = before
                    && version(&*store).await == Some(before)
                {
                    assert_eq!(*named.entry(before).or_insert_with(|| seen.clone()), seen, "of one version");
                }
                tokio::task::yield_now().await;
            }
            named
        }
    });
    join(writers).await;
    is_done.store(true, Ordering::SeqCst);
    let mut all: HashMap<StoreVersion, _> = HashMap::new();
    for (version, seen) in join(readers).await.into_iter().flatten() {
        assert_eq!(
            *all.entry(version).or_insert_with(|| seen.clone()),
            seen,
            "of one version, to two readers"
        );
    }
}

/// Every acknowledged commit that changes content changes the version.
pub async fn each_change_is_another_version(factory: &dyn Factory) {
    let store = factory.store().await;
    let mut seen = vec![version(&*store).await];
    for n in 0..25 {
        let changes = match n % 4 {
            0 => vec![create(format!("cf!{n}"))],
            1 => vec![put("num!a", n)],
            2 => vec![add("ctr!a", 1)],
            _ => vec![delete(format!("cf!{}", n - 3))],
        };
        write(&*store, changes).await;
        seen.push(version(&*store).await);
        // Reads neither change the version nor hide a change.
        get(&*store, &["num!a"]).await;
    }
    let mut known: Vec<StoreVersion> = seen.into_iter().flatten().collect();
    let all = known.len();
    known.sort_unstable_by_key(|version| format!("{version:?}"));
    known.dedup();
    assert_eq!(known.len(), all, "two states had one version between them");
}

/// The version does not change while nothing is written, regardless of reads. Writes to the same server by others, for
/// example to another database, may change it, so the test repeats until no such write occurs between two calls.
pub async fn a_version_stays_while_nothing_is_written(factory: &dyn Factory) {
    let store = factory.store().await;
    write(&*store, vec![put("num!a", 0)]).await;
    for _ in 0..20 {
        loop {
            let before = version(&*store).await;
            get(&*store, &["num!a"]).await;
            if version(&*store).await == before {
                break;
            }
            tokio::task::yield_now().await;
        }
    }
}

/// Reads the version, with retries.
async fn version(store: &dyn Store) -> Option<StoreVersion> {
    let mut attempts = Attempts::default();
    loop {
        let result = store.version().await;
        if let Some(result) = attempts.settle(result).await {
            return result.expect("a version is returned");
        }
    }
}
