//! Allocation of ranks between the children of a parent.

use chrono::TimeDelta;

use super::MAX_MOVED;
use crate::{
    Error, Result,
    model::{ContentTarget, Rank, Timestamp},
    store::{
        Key, Scan, Tx, key,
        records::{CollectionRecord, Parent, SpaceRecord, parse_target},
    },
};

/// Numbers of siblings to rerank on each side of an insertion point without a free rank, tried in order.
const RERANKED_NEIGHBOURS: [usize; 3] = [0, 15, 250];

/// An insertion point in a parent.
#[derive(Clone, Debug)]
pub(in crate::platform) struct InsertionPoint<'a> {
    parent: Parent<'a>,
    /// The key that separates the children before and after the insertion point.
    at: Key,
    /// A child that leaves the parent or moves within it, which is ignored.
    without: Option<ContentTarget>,
}

impl<'a> InsertionPoint<'a> {
    /// Returns the insertion point before a child.
    pub(in crate::platform) fn before_child(parent: Parent<'a>, rank: &Rank, id: &str) -> Self {
        Self { parent, at: parent.child(rank, id), without: None }
    }

    /// Returns the insertion point after a child.
    pub(in crate::platform) fn after_child(parent: Parent<'a>, rank: &Rank, id: &str) -> Self {
        Self { parent, at: key::successor(&parent.child(rank, id)), without: None }
    }

    /// Returns the insertion point after all children.
    pub(in crate::platform) fn at_end(parent: Parent<'a>) -> Self {
        Self { parent, at: parent.children().prefix_range().1, without: None }
    }

    /// Ignores a child that moves away.
    pub(in crate::platform) fn without_child(self, child: ContentTarget) -> Self {
        Self { without: Some(child), ..self }
    }

    /// Returns the children around the insertion point, nearest first: up to `reach` on each side, and one more as the
    /// bound.
    async fn neighbours(&self, tx: &Tx, reach: usize) -> Result<(Vec<RankedChild>, Vec<RankedChild>)> {
        let (from, to) = self.parent.children().prefix_range();
        // One more for the ignored child, and one more for the bound.
        let limit = u32::try_from(reach + 2).map_err(Error::internal)?;
        let below = Scan { from, to: self.at.clone(), rev: true, limit };
        let above = Scan { from: self.at.clone(), to, rev: false, limit };
        let seats = |rows: Vec<(Key, _)>| -> Result<Vec<RankedChild>> {
            let seats: Vec<RankedChild> = rows.iter().map(RankedChild::from_row).collect::<Result<_>>()?;
            Ok(seats.into_iter().filter(|seat| Some(&seat.child) != self.without.as_ref()).collect())
        };
        Ok((seats(tx.scan(&below).await?)?, seats(tx.scan(&above).await?)?))
    }

    /// Returns `true` if a child is already at this insertion point.
    pub(in crate::platform) async fn contains(&self, tx: &Tx, rank: &Rank, id: &str) -> Result<bool> {
        let at = self.parent.child(rank, id);
        let (below, above) = self.neighbours(tx, 0).await?;
        let key = |seat: &RankedChild| self.parent.child(&seat.rank, seat.child.id());
        Ok(below.first().is_none_or(|low| key(low) < at) && above.first().is_none_or(|high| at < key(high)))
    }
}

/// A child of a parent with its rank.
struct RankedChild {
    rank: Rank,
    child: ContentTarget,
}

impl RankedChild {
    fn from_row(row: &(Key, crate::store::Value)) -> Result<Self> {
        let rank = key::segments(&row.0).into_iter().nth(2).unwrap_or_default();
        Ok(Self { rank: rank.parse().map_err(Error::internal)?, child: parse_target(row)? })
    }
}

/// Allocates ranks for new children at an insertion point, in order. If there are no free ranks, reranks as few
/// siblings as necessary. A rank is never in the future, so an item created later sorts after it.
///
/// # Errors
///
/// `Conflict` if no ranks can be found.
pub(in crate::platform) async fn allocate_ranks(
    tx: &mut Tx,
    gap: &InsertionPoint<'_>,
    wanted: usize,
    now: Timestamp,
) -> Result<Vec<Rank>> {
    for reach in RERANKED_NEIGHBOURS {
        if wanted + 2 * reach > MAX_MOVED + 30 {
            break;
        }
        let (mut below, mut above) = gap.neighbours(tx, reach).await?;
        let low = below.get(reach).map(|seat| seat.rank.clone());
        let high = above.get(reach).map(|seat| seat.rank.clone());
        below.truncate(reach);
        above.truncate(reach);
        let number = below.len() + wanted + above.len();
        let Some(mut ranks) = spread_ranks(low.as_ref(), high.as_ref(), number, now) else { continue };
        let behind = ranks.split_off(below.len() + wanted);
        let found = ranks.split_off(below.len());
        let moved = below.into_iter().rev().zip(ranks).chain(above.into_iter().zip(behind));
        for (seat, rank) in moved {
            put_rank(tx, &seat.child, rank).await?;
        }
        return Ok(found);
    }
    Err(Error::conflict("there are too many items at this position; move the item to another position"))
}

/// Returns `number` ascending ranks between two others.
fn spread_ranks(low: Option<&Rank>, high: Option<&Rank>, number: usize, now: Timestamp) -> Option<Vec<Rank>> {
    let is_behind = |rank: &Rank| low.is_none_or(|low| low < rank);
    let last = Rank::from_time(now);
    if high.is_none() && number == 1 && is_behind(&last) {
        return Some(vec![last]);
    }
    let next = Rank::from_time(Timestamp::new(now.time() + TimeDelta::milliseconds(1)));
    // After clock skew, there may be ranks in the future. In that case, there is no upper bound.
    let high = high.cloned().or_else(|| Some(next).filter(is_behind));
    let mut ranks = vec![None; number];
    fill_ranks(low, high.as_ref(), &mut ranks)?;
    ranks.into_iter().collect()
}

fn fill_ranks(low: Option<&Rank>, high: Option<&Rank>, ranks: &mut [Option<Rank>]) -> Option<()> {
    let middle = ranks.len() / 2;
    if ranks.is_empty() {
        return Some(());
    }
    let rank = Rank::between(low, high)?;
    fill_ranks(low, Some(&rank), &mut ranks[..middle])?;
    fill_ranks(Some(&rank), high, &mut ranks[middle + 1..])?;
    ranks[middle] = Some(rank);
    Some(())
}

/// Changes the rank of a child.
async fn put_rank(tx: &mut Tx, child: &ContentTarget, rank: Rank) -> Result<()> {
    match child {
        ContentTarget::Collection(id) => {
            if let Some(old) = tx.get::<CollectionRecord>(&CollectionRecord::key_for(id)).await?
                && old.rank != rank
            {
                tx.put(&*old, CollectionRecord { rank, ..CollectionRecord::clone(&old) })?;
            }
        }
        ContentTarget::Space(id) => {
            if let Some(old) = tx.get::<SpaceRecord>(&SpaceRecord::key_for(id)).await?
                && old.rank() != rank
            {
                tx.put(&*old, SpaceRecord { rank: Some(rank), ..SpaceRecord::clone(&old) })?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn now() -> Timestamp {
        Timestamp::new(chrono::DateTime::from_timestamp_millis(1_767_323_045_678).unwrap())
    }

    proptest! {
        #[test]
        fn spread_ranks_ascend_between_their_bounds(
            number in 1_usize..400,
            low in proptest::option::of(0_i64..2_000),
            high in proptest::option::of(1_i64..2_000),
        ) {
            let back = |ms: i64| Rank::from_time(Timestamp::new(now().time() - TimeDelta::milliseconds(ms)));
            let (low, high) = (low.map(back), high.map(back));
            let ranks = spread_ranks(low.as_ref(), high.as_ref(), number, now());
            if low.is_some() && high.is_some() && low >= high {
                prop_assert_eq!(ranks, None);
                return Ok(());
            }
            let ranks = ranks.unwrap();
            prop_assert_eq!(ranks.len(), number);
            prop_assert!(ranks.windows(2).all(|w| w[0] < w[1]));
            prop_assert!(low.is_none_or(|low| low < ranks[0]));
            let last = &ranks[number - 1];
            prop_assert!(high.is_none_or(|high| *last < high));
            let next = Rank::from_time(Timestamp::new(now().time() + TimeDelta::milliseconds(1)));
            prop_assert!(*last < next, "what is created next stands behind");
        }
    }

    #[test]
    fn unbounded_rank_is_the_current_time() {
        assert_eq!(spread_ranks(None, None, 1, now()), Some(vec![Rank::from_time(now())]));
    }
}
