//! The change feed: for each topic, a queue of consecutively numbered keys.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use docs_store::{FeedItem, FeedPos, Key, StoreError, StoreResult};
use tokio::sync::watch;

/// All topics that have been used.
#[derive(Default, Debug)]
pub(crate) struct Feed(BTreeMap<u16, Topic>);

/// A topic. Invariant: `items` contains the numbers `trimmed + 1 ..= last` without gaps.
#[derive(Debug)]
struct Topic {
    trimmed: u64,
    items: VecDeque<Key>,
    /// The last number. Waiting readers subscribe to its changes.
    last: watch::Sender<u64>,
}

impl Topic {
    fn last(&self) -> u64 {
        *self.last.borrow()
    }
}

impl Default for Topic {
    fn default() -> Self {
        Self { trimmed: 0, items: VecDeque::new(), last: watch::Sender::new(0) }
    }
}

impl Feed {
    /// Appends the items of one commit.
    ///
    /// The caller holds the store's write lock, so woken readers see either all items of the commit or none.
    pub(crate) fn push(&mut self, items: Vec<FeedItem>) {
        for FeedItem { topic, key } in items {
            let topic = self.0.entry(topic).or_default();
            topic.items.push_back(key);
            topic.last.send_modify(|last| *last += 1);
        }
    }

    pub(crate) fn items_after(
        &self,
        topic: u16,
        after: Option<&FeedPos>,
        max: u32,
    ) -> StoreResult<Vec<(FeedPos, Key)>> {
        let after = self.number(topic, after)?;
        let Some(kept) = self.0.get(&topic) else { return Ok(Vec::new()) };
        let skip = after.saturating_sub(kept.trimmed);
        let skipped = usize::try_from(skip).unwrap_or(usize::MAX);
        let items = kept.items.iter().skip(skipped).take(max as usize);
        Ok((kept.trimmed + skip + 1..).zip(items).map(|(n, key)| (position(topic, n), key.clone())).collect())
    }

    /// Returns the item number of a position, and a receiver for the topic's last number. There are items after the
    /// position once the last number is greater.
    pub(crate) fn watch(
        &mut self,
        topic: u16,
        after: Option<&FeedPos>,
    ) -> StoreResult<(u64, watch::Receiver<u64>)> {
        let after = self.number(topic, after)?;
        let kept = self.0.entry(topic).or_default();
        Ok((after.max(kept.trimmed), kept.last.subscribe()))
    }

    pub(crate) fn trim(&mut self, topic: u16, upto: &FeedPos) -> StoreResult<()> {
        let upto = self.number(topic, Some(upto))?;
        if let Some(kept) = self.0.get_mut(&topic) {
            while kept.trimmed < upto && kept.items.pop_front().is_some() {
                kept.trimmed += 1;
            }
        }
        Ok(())
    }

    /// Returns a copy without subscribers.
    pub(crate) fn fork(&self) -> Self {
        let copy = |kept: &Topic| Topic {
            trimmed: kept.trimmed,
            items: kept.items.clone(),
            last: watch::Sender::new(kept.last()),
        };
        Self(self.0.iter().map(|(topic, kept)| (*topic, copy(kept))).collect())
    }

    pub(crate) fn len(&self) -> usize {
        self.0.values().map(|kept| kept.items.len()).sum()
    }

    /// Parses a position. Only positions returned by this feed are accepted.
    fn number(&self, topic: u16, pos: Option<&FeedPos>) -> StoreResult<u64> {
        let Some(FeedPos(text)) = pos else { return Ok(0) };
        let last = self.0.get(&topic).map_or(0, Topic::last);
        text.split_once('.')
            .filter(|(of, _)| of.parse() == Ok(topic))
            .and_then(|(_, n)| n.parse::<u64>().ok())
            .filter(|n| (1..=last).contains(n) && *position(topic, *n).0 == **text)
            .ok_or(StoreError::Misuse("the position is not from this topic of this store"))
    }
}

fn position(topic: u16, n: u64) -> FeedPos {
    FeedPos(Arc::from(format!("{topic}.{n}")))
}
