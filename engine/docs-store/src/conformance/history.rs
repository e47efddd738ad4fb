//! A serializability checker for recorded histories, based on list-append workloads.
//!
//! Each transaction reads some lists and appends unique elements. The elements of a list are therefore in the order in
//! which its versions were written, and the reads imply an order of transactions:
//!
//! - the writer of an element precedes the writer of the next element (write-write);
//! - the writer of the last element that a transaction read precedes that transaction (write-read);
//! - a transaction precedes the writer of the first element that it did not read (read-write).
//!
//! A cycle in this order means that no serial order explains the reads, so the transactions were not serializable.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    super::{Key, KeyBuf, Op, Store},
    kit::{Plain, Rng, join, json, read_all},
    script::{Script, run},
};

/// The reads and appends of a committed transaction.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct CommittedTxn {
    /// The elements of the lists read, by list number, excluding the transaction's own appends.
    pub reads: BTreeMap<u64, Vec<u64>>,
    /// The element appended to each list, by list number. No other transaction appends the same element to a list.
    pub appends: BTreeMap<u64, u64>,
}

/// The committed transactions, in any order, and the final lists.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct History {
    pub committed: Vec<CommittedTxn>,
    /// The final lists.
    pub lists: BTreeMap<u64, Vec<u64>>,
}

/// The reason a history is not serializable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Anomaly {
    /// An appended element is missing from its list.
    Lost {
        /// The number of the list.
        list: u64,
        /// The missing element.
        element: u64,
    },
    /// A list contains an element twice, or one that no committed transaction appended.
    Stray {
        /// The number of the list.
        list: u64,
        /// The unexpected element.
        element: u64,
    },
    /// A transaction read a state that the list never had.
    NeverWas {
        /// The number of the list.
        list: u64,
        /// The index of the transaction in the history.
        reader: usize,
    },
    /// A cycle of transactions, by index in the history: each must precede the next, and the last must precede the
    /// first.
    Cycle(Vec<usize>),
}

impl History {
    /// Searches for a serial order of the transactions.
    ///
    /// # Errors
    /// The first [`Anomaly`] found, which rules out every order.
    pub fn check(&self) -> Result<(), Anomaly> {
        let writers = self.writers()?;
        let mut next = vec![Vec::new(); self.committed.len()];
        for (list, elements) in &self.lists {
            for pair in elements.windows(2) {
                // `appends` has one element per list, so two elements of a list have different writers.
                next[writers[&(*list, pair[0])]].push(writers[&(*list, pair[1])]);
            }
        }
        for (reader, entry) in self.committed.iter().enumerate() {
            for (list, seen) in &entry.reads {
                let whole = self.lists.get(list).map_or(&[][..], Vec::as_slice);
                if !whole.starts_with(seen) {
                    return Err(Anomaly::NeverWas { list: *list, reader });
                }
                if let Some(last) = seen.last() {
                    next[writers[&(*list, *last)]].push(reader);
                }
                if let Some(unseen) = whole.get(seen.len()) {
                    next[reader].push(writers[&(*list, *unseen)]);
                }
            }
        }
        cycle(&next).map_or(Ok(()), |cycle| Err(Anomaly::Cycle(cycle)))
    }

    /// Maps each element to its writer, after checking that the lists contain exactly the appended elements.
    fn writers(&self) -> Result<BTreeMap<(u64, u64), usize>, Anomaly> {
        let mut writers = BTreeMap::new();
        for (writer, entry) in self.committed.iter().enumerate() {
            for (list, element) in &entry.appends {
                if writers.insert((*list, *element), writer).is_some() {
                    return Err(Anomaly::Stray { list: *list, element: *element });
                }
            }
        }
        let mut left = writers.clone();
        for (list, elements) in &self.lists {
            for element in elements {
                if left.remove(&(*list, *element)).is_none() {
                    return Err(Anomaly::Stray { list: *list, element: *element });
                }
            }
        }
        match left.into_keys().next() {
            Some((list, element)) => Err(Anomaly::Lost { list, element }),
            None => Ok(writers),
        }
    }
}

/// Returns a cycle in a graph, or `None`. Self-loops are ignored.
fn cycle(next: &[Vec<usize>]) -> Option<Vec<usize>> {
    /// The state of a node: not visited, on the current path, or known to be part of no cycle.
    #[derive(Clone, Copy, PartialEq)]
    enum VisitState {
        Never,
        OnPath,
        Done,
    }
    let mut met = vec![VisitState::Never; next.len()];
    for start in 0..next.len() {
        // The path from `start`, with the number of edges already followed from each node.
        let mut path: Vec<(usize, usize)> = Vec::new();
        if met[start] == VisitState::Never {
            met[start] = VisitState::OnPath;
            path.push((start, 0));
        }
        while let Some((node, followed)) = path.last_mut() {
            let (node, edge) = (*node, next[*node].get(*followed).copied());
            *followed += 1;
            match edge {
                None => {
                    met[node] = VisitState::Done;
                    path.pop();
                }
                Some(to) if to != node && met[to] == VisitState::OnPath => {
                    return Some(path.iter().map(|(node, _)| *node).skip_while(|node| *node != to).collect());
                }
                Some(to) if met[to] == VisitState::Never => {
                    met[to] = VisitState::OnPath;
                    path.push((to, 0));
                }
                Some(_) => {}
            }
        }
    }
    None
}

/// A workload that records a [`History`].
#[derive(Clone, Copy, Debug)]
pub struct Workload {
    /// The seed for the choice of lists.
    pub seed: u64,
    /// Total number of transactions to commit.
    pub transactions: u32,
    /// Number of concurrent tasks.
    pub tasks: u32,
    /// Number of lists in use at a time. Lists are replaced periodically to keep them short.
    pub lists: u64,
}

impl Default for Workload {
    fn default() -> Self {
        Self { seed: 1, transactions: 1_000, tasks: 8, lists: 6 }
    }
}

/// Number of transactions that a task commits before it uses the next set of lists.
const TXNS_PER_LIST_SET: u32 = 20;

impl Workload {
    /// Runs the workload on an empty store.
    ///
    /// # Panics
    /// Panics if the store returns a permanent error.
    pub async fn record(self, store: &Arc<dyn Store>) -> History {
        let tasks = super::kit::spawn_each(store, self.tasks, |store, task| async move {
            let mut rng = Rng::new(self.seed.wrapping_mul(1_000_003) + u64::from(task));
            let mut entries = Vec::new();
            for n in (task..self.transactions).step_by(self.tasks.max(1) as usize) {
                entries.push(self.transaction(&*store, &mut rng, n).await);
                // Yield, so that other tasks run even if this one never blocks.
                tokio::task::yield_now().await;
            }
            entries
        });
        let committed = join(tasks).await.into_iter().flatten().collect();
        History { committed, lists: all_lists(&**store).await }
    }

    /// Reads one to four lists and appends `element` to some of them.
    async fn transaction(self, store: &dyn Store, rng: &mut Rng, element: u32) -> CommittedTxn {
        let set = u64::from(element / (TXNS_PER_LIST_SET * self.tasks.max(1)));
        let lists: BTreeMap<u64, bool> = (0..1 + rng.next_below(4))
            .map(|_| (set * self.lists + rng.next_below(self.lists), rng.next_below(2) == 0))
            .collect();
        let appended: Vec<bool> = lists.values().copied().collect();
        let element = u64::from(element);
        let keys: Vec<Key> = lists.keys().map(|list| list_key(*list)).collect();
        let names = keys.clone();
        let then = move |seen: &super::TxnReads| {
            let append = |n: usize| {
                let mut list = elements(seen.keys[n].as_ref());
                list.push(element);
                Op::Put(names[n].clone(), json(&list))
            };
            super::kit::ops((0..names.len()).filter(|n| appended[*n]).map(append).collect())
        };
        let script = Script { keys, scans: Vec::new(), then: Arc::new(then) };
        let done = run(store, &script, &[], u32::MAX).await;
        let reads = lists.keys().zip(&done.seen.keys).map(|(list, seen)| (*list, elements(seen.as_ref())));
        let appends = lists.iter().filter(|(_, appended)| **appended).map(|(list, _)| (*list, element));
        CommittedTxn { reads: reads.collect(), appends: appends.collect() }
    }
}

fn list_key(list: u64) -> Key {
    KeyBuf::new("cf").number(list).key()
}

fn elements(list: Option<&Plain>) -> Vec<u64> {
    match list {
        Some(Plain::Json(list)) => serde_json::from_value(list.clone()).expect("a list contains numbers"),
        _ => Vec::new(),
    }
}

async fn all_lists(store: &dyn Store) -> BTreeMap<u64, Vec<u64>> {
    let mut lists = BTreeMap::new();
    let mut scan = KeyBuf::new("cf").scan(1_000);
    loop {
        let page = read_all(store, &[], std::slice::from_ref(&scan)).await.1.remove(0);
        let Some((last, _)) = page.last() else { return lists };
        scan.from = super::super::key::successor(last);
        let number =
            |key: &str| super::super::key::last_segment(key).parse::<u64>().expect("a list has a number");
        lists.extend(page.iter().map(|(key, list)| (number(key), elements(Some(list)))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Lists<'a> = &'a [(u64, &'a [u64])];

    fn entry(reads: Lists<'_>, appends: &[(u64, u64)]) -> CommittedTxn {
        let reads = reads.iter().map(|(list, seen)| (*list, seen.to_vec())).collect();
        CommittedTxn { reads, appends: appends.iter().copied().collect() }
    }

    fn check(committed: &[CommittedTxn], lists: Lists<'_>) -> Result<(), Anomaly> {
        let lists = lists.iter().map(|(list, elements)| (*list, elements.to_vec())).collect();
        History { committed: committed.to_vec(), lists }.check()
    }

    #[test]
    fn serial_history_is_accepted() {
        let history = [
            entry(&[(1, &[10, 20])], &[(2, 31)]),
            entry(&[], &[(1, 10), (2, 11)]),
            entry(&[(1, &[10]), (2, &[11])], &[(1, 20)]),
            entry(&[(1, &[]), (2, &[]), (3, &[])], &[]),
        ];
        assert_eq!(check(&history, &[(1, &[10, 20]), (2, &[11, 31])]), Ok(()));
        assert_eq!(check(&[], &[]), Ok(()));
    }

    #[test]
    fn write_skew_is_a_cycle_of_reads() {
        let history = [entry(&[(1, &[]), (2, &[])], &[(1, 10)]), entry(&[(1, &[]), (2, &[])], &[(2, 20)])];
        let found = check(&history, &[(1, &[10]), (2, &[20])]);
        assert!(matches!(found, Err(Anomaly::Cycle(cycle)) if cycle.len() == 2));
    }

    #[test]
    fn a_torn_read_is_a_cycle() {
        let history = [entry(&[], &[(1, 10), (2, 11)]), entry(&[(1, &[10]), (2, &[])], &[])];
        assert_eq!(check(&history, &[(1, &[10]), (2, &[11])]), Err(Anomaly::Cycle(vec![0, 1])));
    }

    #[test]
    fn opposite_orders_of_writes_are_a_cycle() {
        let history = [entry(&[], &[(1, 10), (2, 11)]), entry(&[], &[(1, 20), (2, 21)])];
        assert!(matches!(check(&history, &[(1, &[10, 20]), (2, &[21, 11])]), Err(Anomaly::Cycle(_))));
    }

    #[test]
    fn cycle_of_three_transactions_is_found() {
        let history = [
            entry(&[(1, &[])], &[(2, 1)]),
            entry(&[(2, &[])], &[(3, 2)]),
            entry(&[(3, &[])], &[(1, 3)]),
            entry(&[(1, &[3]), (2, &[1]), (3, &[2])], &[]),
        ];
        let found = check(&history, &[(1, &[3]), (2, &[1]), (3, &[2])]);
        assert!(matches!(found, Err(Anomaly::Cycle(cycle)) if cycle.len() == 3 && !cycle.contains(&3)));
    }

    #[test]
    fn lost_stray_and_impossible_elements_are_reported() {
        let appends = [entry(&[(1, &[])], &[(1, 10)])];
        assert_eq!(check(&appends, &[]), Err(Anomaly::Lost { list: 1, element: 10 }));
        assert_eq!(check(&appends, &[(1, &[10, 9])]), Err(Anomaly::Stray { list: 1, element: 9 }));
        assert_eq!(check(&appends, &[(1, &[10, 10])]), Err(Anomaly::Stray { list: 1, element: 10 }));
        let saw = [entry(&[], &[(1, 10)]), entry(&[], &[(1, 20)]), entry(&[(1, &[20])], &[])];
        assert_eq!(check(&saw, &[(1, &[10, 20])]), Err(Anomaly::NeverWas { list: 1, reader: 2 }));
    }
}
