//! The order of siblings: ranks with gaps between them, and paged lists in that order.

use std::sync::Arc;

use crate::{
    Result,
    model::SectionGroupId,
    platform::publishing::outline::OutlineNode,
    store::{
        ListIdentity, Page, PageRequest, Tx, checked_limit, open_cursor,
        records::{ExternalLinkRecord, SectionGroupRecord, SectionRecord, SiteSpaceRecord},
        seal_cursor,
    },
};

/// The rank gap between new siblings.
const RANK_STEP: u64 = 1 << 32;

/// Returns the rank for a position if all siblings are new.
pub(in crate::platform) const fn nth_rank(position: u64) -> u64 {
    (position + 1).saturating_mul(RANK_STEP)
}

/// Returns a rank that sorts after the last one.
pub(super) const fn rank_after(last: Option<u64>) -> u64 {
    match last {
        None => RANK_STEP,
        Some(last) => last.saturating_add(RANK_STEP),
    }
}

/// Computes ranks for inserting `number` items among siblings at a position. Returns the ranks of the existing items
/// and of the inserted items.
///
/// If the gap between the two neighbours is too small, all items get new ranks.
fn insert_ranks(stay: &[u64], at: usize, number: usize) -> (Vec<u64>, Vec<u64>) {
    let at = at.min(stay.len());
    let low = at.checked_sub(1).map_or(0, |before| stay[before]);
    let step = match stay.get(at) {
        Some(high) => high.saturating_sub(low) / (number as u64 + 1),
        None => RANK_STEP,
    };
    let end = (number as u64).checked_mul(step).and_then(|room| low.checked_add(room));
    if step > 0 && end.is_some() {
        return (stay.to_vec(), (1..=number as u64).map(|n| low + n * step).collect());
    }
    let mut all: Vec<u64> = (0..(stay.len() + number) as u64).map(nth_rank).collect();
    let come = all.drain(at..at + number).collect();
    (all, come)
}

/// Inserts sections and groups at a position among the children of a group or site. `stay` contains the existing
/// children in order.
pub(super) fn insert_nodes(
    tx: &mut Tx,
    parent: Option<&SectionGroupId>,
    stay: &[OutlineNode],
    at: usize,
    come: &[OutlineNode],
) -> Result<()> {
    let ranks: Vec<u64> = stay.iter().map(OutlineNode::rank).collect();
    let (stayed, came) = insert_ranks(&ranks, at, come.len());
    for (node, rank) in stay.iter().zip(stayed).chain(come.iter().zip(came)) {
        put(tx, node, parent, rank)?;
    }
    Ok(())
}

/// Returns the rank of a new section or group at a position among its siblings, which get new ranks if there is no gap.
pub(super) fn free_node_rank(tx: &mut Tx, stay: &[OutlineNode], at: usize) -> Result<u64> {
    let ranks: Vec<u64> = stay.iter().map(OutlineNode::rank).collect();
    let (stayed, came) = insert_ranks(&ranks, at, 1);
    for (node, rank) in stay.iter().zip(stayed) {
        put(tx, node, node.parent(), rank)?;
    }
    Ok(came.first().copied().unwrap_or_else(|| rank_after(None)))
}

/// Returns the rank of a site space at a position among its siblings, which get new ranks if there is no gap.
pub(super) fn free_place_rank(tx: &mut Tx, stay: &[&Arc<SiteSpaceRecord>], at: usize) -> Result<u64> {
    let ranks: Vec<u64> = stay.iter().map(|place| place.rank).collect();
    let (stayed, came) = insert_ranks(&ranks, at, 1);
    for (place, rank) in stay.iter().zip(stayed).filter(|(place, rank)| place.rank != *rank) {
        tx.put(&***place, SiteSpaceRecord { rank, ..SiteSpaceRecord::clone(place) })?;
    }
    Ok(came.first().copied().unwrap_or_else(|| rank_after(None)))
}

fn put(tx: &mut Tx, node: &OutlineNode, parent: Option<&SectionGroupId>, rank: u64) -> Result<()> {
    if node.rank() == rank && node.parent() == parent {
        return Ok(());
    }
    match node {
        OutlineNode::Section(old) => {
            let new = SectionRecord { group: parent.cloned(), rank, ..SectionRecord::clone(old) };
            tx.put(&**old, new)?;
        }
        OutlineNode::Group(old) => {
            let new = SectionGroupRecord { parent: parent.cloned(), rank, ..SectionGroupRecord::clone(old) };
            tx.put(&**old, new)?;
        }
        OutlineNode::Link(old) => {
            let new = ExternalLinkRecord { group: parent.cloned(), rank, ..ExternalLinkRecord::clone(old) };
            tx.put(&**old, new)?;
        }
    }
    Ok(())
}

/// Returns a page of positioned items in ascending order.
///
/// A page continues strictly after the last position of the previous page. An item whose position does not change
/// therefore appears exactly once, despite concurrent insertions, deletions and moves.
pub(super) fn page<T>(
    items: Vec<(String, T)>,
    list: &ListIdentity,
    request: &PageRequest,
) -> Result<Page<T>> {
    let limit = checked_limit(request)?;
    let fingerprint = list.fingerprint();
    let after = request.page.as_ref().map(|token| open_cursor(token, fingerprint)).transpose()?;
    let coming = items.into_iter().filter(|(at, _)| after.as_ref().is_none_or(|after| at > after));
    let mut found: Vec<(String, T)> = coming.take(limit.saturating_add(1)).collect();
    let has_more = found.len() > limit && limit > 0;
    found.truncate(limit);
    let next = found.last().filter(|_| has_more).map(|(at, _)| seal_cursor(at, fingerprint));
    Ok(Page { items: found.into_iter().map(|(_, item)| item).collect(), next, count: None })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ranks_ascend_after_insertion_at_any_position(puts in prop::collection::vec((0..40_usize, 1..4_usize), 1..200)) {
            let (mut ranks, mut expected, mut next) = (Vec::new(), Vec::new(), 0);
            for (at, number) in puts {
                let at = at.min(ranks.len());
                let (mut stay, come) = insert_ranks(&ranks, at, number);
                prop_assert_eq!((stay.len(), come.len()), (ranks.len(), number));
                stay.splice(at..at, come);
                expected.splice(at..at, (0..number).map(|n| next + n));
                next += number;
                ranks = stay;
                prop_assert!(ranks.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", ranks);
                prop_assert_eq!(ranks.len(), expected.len());
            }
        }

        #[test]
        fn pages_continue_strictly_after_the_previous_item(
            number in 0..30_usize, limit in 1..10_u32, gone in prop::collection::btree_set(0..30_usize, 0..5),
        ) {
            let items = |without: &std::collections::BTreeSet<usize>| -> Vec<(String, usize)> {
                (0..number).filter(|n| !without.contains(n)).map(|n| (format!("{n:020}!x!"), n)).collect()
            };
            let mut request = PageRequest { page: None, limit: Some(limit) };
            let mut seen = Vec::new();
            loop {
                // Only items deleted after the first page may be missing.
                let left = if seen.is_empty() { items(&Default::default()) } else { items(&gone) };
                let page = page(left, &ListIdentity::new("a"), &request).unwrap();
                prop_assert!(page.items.len() <= limit as usize);
                seen.extend(page.items);
                let Some(next) = page.next else { break };
                let elsewhere = PageRequest { page: Some(next.clone()), limit: None };
                let refused = super::page(items(&gone), &ListIdentity::new("b"), &elsewhere).is_err();
                prop_assert!(refused, "a cursor of another list");
                request.page = Some(next);
            }
            let first = limit as usize;
            let expected: Vec<usize> = (0..number).filter(|n| *n < first || !gone.contains(n)).collect();
            prop_assert_eq!(seen, expected);
        }
    }

    #[test]
    fn all_ranks_are_reassigned_if_there_is_no_gap() {
        assert_eq!(insert_ranks(&[5, 6], 1, 1), (vec![nth_rank(0), nth_rank(2)], vec![nth_rank(1)]));
        assert_eq!(insert_ranks(&[u64::MAX], 1, 1), (vec![nth_rank(0)], vec![nth_rank(1)]));
        assert_eq!(insert_ranks(&[5, 9], 1, 1), (vec![5, 9], vec![7]));
        assert_eq!(insert_ranks(&[], 0, 2), (vec![], vec![nth_rank(0), nth_rank(1)]));
    }
}
