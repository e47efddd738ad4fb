//! Locks on hot keys: transactions that announce the same key run one after another.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    sync::Arc,
};

use docs_store::Key;
use parking_lot::Mutex;
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

/// Locks that are held or waited for. Invariant: a lock without a [`KeyLock`] is removed.
#[derive(Clone, Default, Debug)]
pub(crate) struct KeyLocks(Arc<Mutex<BTreeMap<Key, LockEntry>>>);

#[derive(Debug)]
struct LockEntry {
    lock: Arc<AsyncMutex<()>>,
    users: usize,
}

/// A position in the queue of a lock. The lock is held from the end of the wait until this is dropped.
#[derive(Debug)]
pub(crate) struct KeyLock {
    of: KeyLocks,
    key: Key,
    held: Option<OwnedMutexGuard<()>>,
}

impl KeyLocks {
    /// Locks all these keys in sorted order, which prevents deadlocks.
    pub(crate) async fn lock_all(&self, hot: &[Key]) -> Vec<KeyLock> {
        let mut keys: Vec<&Key> = hot.iter().collect();
        keys.sort_unstable();
        keys.dedup();
        let mut locks = Vec::with_capacity(keys.len());
        for key in keys {
            let (mut place, lock) = self.enter(key);
            place.held = Some(lock.lock_owned().await);
            locks.push(place);
        }
        locks
    }

    pub(crate) fn len(&self) -> usize {
        self.0.lock().len()
    }

    fn enter(&self, key: &Key) -> (KeyLock, Arc<AsyncMutex<()>>) {
        let mut shared = self.0.lock();
        let at = shared.entry(key.clone()).or_insert_with(|| LockEntry { lock: Arc::default(), users: 0 });
        at.users += 1;
        (KeyLock { of: self.clone(), key: key.clone(), held: None }, at.lock.clone())
    }
}

impl Drop for KeyLock {
    fn drop(&mut self) {
        self.held = None;
        if let Entry::Occupied(mut at) = self.of.0.lock().entry(self.key.clone()) {
            at.get_mut().users -= 1;
            if at.get().users == 0 {
                at.remove();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn key_locks_are_exclusive_and_removed_when_unused() {
        let key_locks = KeyLocks::default();
        let keys = |names: &[&str]| names.iter().map(|name| Key::from(*name)).collect::<Vec<_>>();
        let (ab, ba, b) = (keys(&["a", "b", "a"]), keys(&["b", "a"]), keys(&["b"]));
        let mut first = Box::pin(key_locks.lock_all(&ab));
        let Some(held) = (&mut first).now_or_never() else { panic!("a free lock makes nobody wait") };
        let mut second = Box::pin(key_locks.lock_all(&ba));
        let mut third = Box::pin(key_locks.lock_all(&b));
        assert!((&mut second).now_or_never().is_none());
        assert!((&mut third).now_or_never().is_none());
        drop(second);
        assert_eq!(key_locks.len(), 2);
        drop(held);
        assert_eq!(key_locks.len(), 1);
        let Some(held) = (&mut third).now_or_never() else { panic!("the lock is free again") };
        drop(held);
        assert_eq!(key_locks.len(), 0);
    }
}
