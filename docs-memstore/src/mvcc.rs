//! Data of the store, without synchronization: changes require exclusive access.

use std::{
    collections::{BTreeMap, VecDeque},
    ops::Bound,
};

use docs_store::{Batch, Key, Op, Scan, StoreError, StoreResult, Value};
use smallvec::{SmallVec, smallvec};

use crate::feed::Feed;

/// Multi-version keys, and the change feed.
///
/// Invariants: the versions of a chain are in ascending order; no chain is empty; every snapshot from `floor` on reads
/// the same as when it was the newest.
#[derive(Default, Debug)]
pub(crate) struct MvccState {
    /// Number of the last commit.
    seq: u64,
    /// The oldest readable snapshot.
    floor: u64,
    map: BTreeMap<Key, Chain>,
    /// Keys with obsolete versions, each with the number of the commit that superseded the version. Oldest first.
    obsolete: VecDeque<(u64, Key)>,
    pub(crate) feed: Feed,
}

type Chain = SmallVec<[Version; 1]>;

/// The value of a key since a commit; `None` if the commit deleted the key.
#[derive(Clone, Debug)]
struct Version {
    seq: u64,
    value: Option<Value>,
}

/// The reads that a write transaction depends on.
#[derive(Default, Debug)]
pub(crate) struct ReadSet {
    keys: Vec<Key>,
    ranges: Vec<(Bound<Key>, Bound<Key>)>,
}

impl ReadSet {
    pub(crate) fn keys(&mut self, keys: &[Key]) {
        self.keys.extend_from_slice(keys);
    }

    /// Adds the range that the result of a scan depends on. If the limit was reached, the range ends at the last entry.
    pub(crate) fn range(&mut self, scan: &Scan, found: &[(Key, Value)]) {
        let cut = found.len() >= scan.limit as usize;
        let (mut from, mut to) = (Bound::Included(scan.from.clone()), Bound::Excluded(scan.to.clone()));
        match found.last() {
            Some((last, _)) if cut && scan.rev => from = Bound::Included(last.clone()),
            Some((last, _)) if cut => to = Bound::Included(last.clone()),
            None if cut || scan.from >= scan.to => return,
            _ => {}
        }
        self.ranges.push((from, to));
    }
}

impl MvccState {
    pub(crate) fn get(&self, keys: &[Key], at: u64) -> StoreResult<Vec<Option<Value>>> {
        self.check_readable(at)?;
        Ok(keys
            .iter()
            .map(|key| self.map.get(key).and_then(|chain| visible_value(chain, at)).cloned())
            .collect())
    }

    pub(crate) fn scan(&self, scan: &Scan, at: u64) -> StoreResult<Vec<(Key, Value)>> {
        self.check_readable(at)?;
        if scan.from >= scan.to {
            return Ok(Vec::new());
        }
        let range = self.map.range::<str, _>((Bound::Included(&*scan.from), Bound::Excluded(&*scan.to)));
        let live =
            |(key, chain): (&Key, &Chain)| visible_value(chain, at).map(|value| (key.clone(), value.clone()));
        let limit = scan.limit as usize;
        Ok(if scan.rev {
            range.rev().filter_map(live).take(limit).collect()
        } else {
            range.filter_map(live).take(limit).collect()
        })
    }

    /// Applies a batch, or fails without changes. Returns the commit number.
    ///
    /// The caller must check the limits of the batch, which requires no lock.
    pub(crate) fn commit(&mut self, snapshot: u64, reads: &ReadSet, batch: Batch) -> StoreResult<u64> {
        self.check_readable(snapshot)?;
        if self.seq != snapshot {
            self.validate(snapshot, reads)?;
        }
        let changes = self.resolve(batch.ops)?;
        self.seq += 1;
        for (key, value) in changes {
            self.append(key, value);
        }
        self.feed.push(batch.feed);
        Ok(self.seq)
    }

    /// Removes up to `budget` obsolete versions that no snapshot from `floor` on can see.
    pub(crate) fn collect(&mut self, floor: u64, budget: usize) {
        self.floor = self.floor.max(floor);
        for _ in 0..budget {
            match self.obsolete.pop_front() {
                Some((seq, key)) if seq <= self.floor => self.prune(&key),
                Some(later) => {
                    self.obsolete.push_front(later);
                    return;
                }
                None => return,
            }
        }
    }

    /// Copies the newest snapshot.
    pub(crate) fn fork(&self) -> Self {
        let newest = |(key, chain): (&Key, &Chain)| {
            let version = chain.last().filter(|version| version.value.is_some())?;
            Some((key.clone(), smallvec![version.clone()]))
        };
        Self {
            seq: self.seq,
            floor: self.seq,
            map: self.map.iter().filter_map(newest).collect(),
            obsolete: VecDeque::new(),
            feed: self.feed.fork(),
        }
    }

    pub(crate) fn seq(&self) -> u64 {
        self.seq
    }

    /// Returns the number of keys, including deleted ones with retained versions, and the number of versions.
    pub(crate) fn size(&self) -> (usize, usize) {
        (self.map.len(), self.map.values().map(SmallVec::len).sum())
    }

    fn check_readable(&self, snapshot: u64) -> StoreResult<()> {
        // Only snapshots of expired transactions are below the floor.
        if snapshot < self.floor { Err(StoreError::Conflict) } else { Ok(()) }
    }

    /// Validates the reads: a newer version of any read key is a conflict, even if the key did not exist when it was
    /// read.
    fn validate(&self, snapshot: u64, reads: &ReadSet) -> StoreResult<()> {
        let newer = |chain: &Chain| chain.last().is_some_and(|version| version.seq > snapshot);
        let point = reads.keys.iter().any(|key| self.map.get(key).is_some_and(newer));
        let mut ranges = reads.ranges.iter();
        if point || ranges.any(|range| self.map.range(range.clone()).any(|(_, chain)| newer(chain))) {
            return Err(StoreError::Conflict);
        }
        Ok(())
    }

    /// Converts operations to new values. Fails if one of them cannot be applied.
    fn resolve(&self, ops: Vec<Op>) -> StoreResult<Vec<(Key, Option<Value>)>> {
        ops.into_iter().map(|op| self.resolve_one(op)).collect()
    }

    fn resolve_one(&self, op: Op) -> StoreResult<(Key, Option<Value>)> {
        let now = |key: &Key| self.map.get(key).and_then(|chain| visible_value(chain, self.seq));
        match op {
            Op::Put(key, value) => Ok((key, Some(value))),
            Op::Delete(key) => Ok((key, None)),
            Op::Create(key, _) if now(&key).is_some() => Err(StoreError::Exists(key)),
            Op::Create(key, value) => Ok((key, Some(value))),
            Op::Add(key, by) => {
                let before = match now(&key) {
                    None => 0,
                    Some(Value::Int(n)) => *n,
                    Some(_) => return Err(StoreError::Misuse("an addition to a value that is not a number")),
                };
                let after = before.checked_add(by).ok_or(StoreError::Misuse("a counter overflows"))?;
                Ok((key, Some(Value::Int(after))))
            }
        }
    }

    fn append(&mut self, key: Key, value: Option<Value>) {
        let version = Version { seq: self.seq, value };
        let Some(chain) = self.map.get_mut(&key) else {
            // A key that never existed needs no deletion marker.
            if version.value.is_some() {
                self.map.insert(key, smallvec![version]);
            }
            return;
        };
        let was = chain.last().is_some_and(|last| last.value.is_some());
        if was || version.value.is_some() {
            chain.push(version);
            self.obsolete.push_back((self.seq, key));
        }
    }

    fn prune(&mut self, key: &Key) {
        let Some(chain) = self.map.get_mut(key) else { return };
        let visible = chain.partition_point(|version| version.seq <= self.floor);
        chain.drain(..visible.saturating_sub(1));
        if chain.len() == 1 && visible > 0 && chain[0].value.is_none() {
            self.map.remove(key);
        }
    }
}

/// Returns the value that a snapshot sees.
fn visible_value(chain: &Chain, at: u64) -> Option<&Value> {
    let visible = chain.partition_point(|version| version.seq <= at);
    chain[..visible].last().and_then(|version| version.value.as_ref())
}
