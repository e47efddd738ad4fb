//! Tests of ranks.

use docs_model::Rank;
use proptest::prelude::*;

#[test]
fn ranks_added_at_the_end_stay_short() {
    let mut last = Rank::nth(0);
    let head = last.as_str().len();
    for _ in 0..10_000 {
        let next = Rank::between(Some(&last), None).unwrap();
        assert!(next > last && next.as_str().len() == head);
        last = next;
    }
}

#[test]
fn ranks_added_at_the_start_stay_short() {
    let mut first = Rank::nth(0);
    let head = first.as_str().len();
    for _ in 0..10_000 {
        let next = Rank::between(None, Some(&first)).unwrap();
        assert!(next < first && next.as_str().len() == head);
        first = next;
    }
}

#[test]
fn at_least_300_insertions_fit_between_adjacent_ranks() {
    let (low, mut high) = (Rank::nth(0), Rank::nth(1));
    let mut made = 0;
    while let Some(rank) = Rank::between(Some(&low), Some(&high)) {
        assert!(low < rank && rank < high);
        high = rank;
        made += 1;
    }
    assert!(made >= 300, "{made}");
}

#[test]
fn new_ranks_ascend() {
    let ranks: Vec<Rank> = (0..5_000).map(Rank::nth).collect();
    assert!(ranks.windows(2).all(|w| w[0] < w[1]));
    assert!(ranks.iter().all(|r| r.as_str().parse::<Rank>().is_ok()));
}

#[test]
fn no_rank_exists_between_equal_or_reversed_bounds() {
    assert_eq!(Rank::between(Some(&Rank::nth(3)), Some(&Rank::nth(3))), None);
    assert_eq!(Rank::between(Some(&Rank::nth(4)), Some(&Rank::nth(3))), None);
}

proptest! {
    #[test]
    fn there_is_a_rank_between_any_two(choices in proptest::collection::vec(any::<u16>(), 1..120)) {
        let mut ranks: Vec<Rank> = Vec::new();
        for choice in choices {
            let at = usize::from(choice) % (ranks.len() + 1);
            let low = at.checked_sub(1).map(|i| &ranks[i]);
            let rank = Rank::between(low, ranks.get(at)).unwrap();
            prop_assert!(rank.as_str().parse::<Rank>().is_ok());
            ranks.insert(at, rank);
        }
        prop_assert!(ranks.windows(2).all(|w| w[0] < w[1]));
    }

    #[test]
    fn arrange_returns_ascending_ranks_and_keeps_sorted_ones(
        previous in proptest::collection::vec(proptest::option::of(0usize..40), 0..40)
    ) {
        let previous: Vec<Option<Rank>> = previous.into_iter().map(|p| p.map(Rank::nth)).collect();
        let ranks = Rank::arrange(&previous);
        prop_assert_eq!(ranks.len(), previous.len());
        prop_assert!(ranks.windows(2).all(|w| w[0] < w[1]));
        let sorted: Vec<_> = previous.iter().flatten().collect();
        if sorted.windows(2).all(|w| w[0] < w[1]) {
            for (rank, before) in ranks.iter().zip(&previous) {
                prop_assert!(before.as_ref().is_none_or(|b| b == rank));
            }
        }
    }
}
