//! Gates for hot keys: transactions that announce the same key go one after another.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    sync::Arc,
};

use docs_store::Key;
use parking_lot::Mutex;
use tokio::sync::{Mutex as Gate, OwnedMutexGuard};

/// The gates somebody stands at or has passed. Invariant: a gate without a [`Pass`] is not kept.
#[derive(Clone, Default, Debug)]
pub(crate) struct Gates(Arc<Mutex<BTreeMap<Key, Standing>>>);

#[derive(Debug)]
struct Standing {
    gate: Arc<Gate<()>>,
    passes: usize,
}

/// The right to be at a gate: first waiting, then holding it until dropped.
#[derive(Debug)]
pub(crate) struct Pass {
    gates: Gates,
    key: Key,
    held: Option<OwnedMutexGuard<()>>,
}

impl Gates {
    /// Passes the gates of all these keys, in the order of the keys, so that nobody waits in a circle.
    pub(crate) async fn pass(&self, hot: &[Key]) -> Vec<Pass> {
        let mut keys: Vec<&Key> = hot.iter().collect();
        keys.sort_unstable();
        keys.dedup();
        let mut passes = Vec::with_capacity(keys.len());
        for key in keys {
            let (mut pass, gate) = self.stand(key);
            pass.held = Some(gate.lock_owned().await);
            passes.push(pass);
        }
        passes
    }

    pub(crate) fn len(&self) -> usize {
        self.0.lock().len()
    }

    fn stand(&self, key: &Key) -> (Pass, Arc<Gate<()>>) {
        let mut standing = self.0.lock();
        let at = standing.entry(key.clone()).or_insert_with(|| Standing { gate: Arc::default(), passes: 0 });
        at.passes += 1;
        (Pass { gates: self.clone(), key: key.clone(), held: None }, at.gate.clone())
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        self.held = None;
        if let Entry::Occupied(mut at) = self.gates.0.lock().entry(self.key.clone()) {
            at.get_mut().passes -= 1;
            if at.get().passes == 0 {
                at.remove();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn poll<F: Future>(future: &mut std::pin::Pin<Box<F>>) -> Poll<F::Output> {
        future.as_mut().poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn a_gate_lets_one_pass_and_is_forgotten_after_the_last() {
        let gates = Gates::default();
        let keys = |names: &[&str]| names.iter().map(|name| Key::from(*name)).collect::<Vec<_>>();
        let (ab, ba, b) = (keys(&["a", "b", "a"]), keys(&["b", "a"]), keys(&["b"]));
        let mut first = Box::pin(gates.pass(&ab));
        let Poll::Ready(held) = poll(&mut first) else { panic!("an open gate makes nobody wait") };
        let mut second = Box::pin(gates.pass(&ba));
        let mut third = Box::pin(gates.pass(&b));
        assert!(poll(&mut second).is_pending());
        assert!(poll(&mut third).is_pending());
        drop(second);
        assert_eq!(gates.len(), 2);
        drop(held);
        assert_eq!(gates.len(), 1);
        let Poll::Ready(held) = poll(&mut third) else { panic!("the gate is open again") };
        drop(held);
        assert_eq!(gates.len(), 0);
    }
}
