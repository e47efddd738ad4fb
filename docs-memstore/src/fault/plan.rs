//! Fault plans: schedules of faults.

use std::collections::BTreeMap;

use crate::rng::splitmix;

/// A kind of store call.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum CallKind {
    /// [`Store::begin`](docs_store::Store::begin).
    Begin,
    /// [`Txn::get`](docs_store::Txn::get).
    Get,
    /// [`Txn::scan`](docs_store::Txn::scan).
    Scan,
    /// [`Txn::commit`](docs_store::Txn::commit).
    Commit,
    /// [`Store::changes`](docs_store::Store::changes).
    Changes,
    /// [`Store::changed`](docs_store::Store::changed).
    Changed,
    /// [`Store::trim`](docs_store::Store::trim).
    Trim,
    /// [`Store::version`](docs_store::Store::version).
    Version,
}

impl CallKind {
    pub(super) const COUNT: usize = 8;
}

/// An injected fault.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Fault {
    /// The call returns `Conflict` and applies nothing. Permitted for `Get`, `Scan` and `Commit`.
    Conflict,
    /// The call returns `Unavailable` and applies nothing. Permitted for all calls.
    Unavailable,
    /// The commit is applied but returns `Unknown`, unless it fails anyway.
    UnknownApplied,
    /// The commit returns `Unknown` and is not applied.
    UnknownLost,
    /// The call first yields to other tasks. Permitted for all calls.
    Yield,
    /// The call waits for [`release`](super::FaultStore::release) before its work. Permitted for all calls.
    HoldBefore,
    /// The call waits for [`release`](super::FaultStore::release) after its work, before it returns. Permitted for all
    /// calls.
    HoldAfter,
    /// Feed items are returned twice. Permitted for `Changes`.
    Repeat,
}

impl Fault {
    /// Returns `true` if the store contract permits the fault for this kind of call.
    #[must_use]
    pub fn is_permitted_at(self, step: CallKind) -> bool {
        match self {
            Self::Unavailable | Self::Yield | Self::HoldBefore | Self::HoldAfter => true,
            Self::Conflict => matches!(step, CallKind::Get | CallKind::Scan | CallKind::Commit),
            Self::UnknownApplied | Self::UnknownLost => step == CallKind::Commit,
            Self::Repeat => step == CallKind::Changes,
        }
    }
}

/// Fault rates per 1,000 calls for which the fault is permitted.
///
/// The rates are applied in the order of the fields. Their sum should not exceed 1,000.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Rates {
    /// [`Fault::Conflict`].
    pub conflict: u16,
    /// [`Fault::Unavailable`].
    pub unavailable: u16,
    /// [`Fault::UnknownApplied`].
    pub unknown_applied: u16,
    /// [`Fault::UnknownLost`].
    pub unknown_lost: u16,
    /// [`Fault::Yield`].
    pub yields: u16,
    /// [`Fault::Repeat`].
    pub repeat: u16,
}

impl Rates {
    fn per_fault(self) -> [(Fault, u16); 6] {
        [
            (Fault::Conflict, self.conflict),
            (Fault::Unavailable, self.unavailable),
            (Fault::UnknownApplied, self.unknown_applied),
            (Fault::UnknownLost, self.unknown_lost),
            (Fault::Yield, self.yields),
            (Fault::Repeat, self.repeat),
        ]
    }
}

/// A schedule of faults.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct FaultPlan {
    at: BTreeMap<(CallKind, u64), Fault>,
    seeded: Option<(u64, Rates)>,
    away_after: Option<u64>,
}

impl FaultPlan {
    /// Creates a plan without faults.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Creates a plan with random faults that are reproducible from the seed.
    #[must_use]
    pub fn from_seed(seed: u64, rates: Rates) -> Self {
        Self { seeded: Some((seed, rates)), ..Self::default() }
    }

    /// Injects a fault into the `n`-th call of a kind, counted from 1. Takes precedence over random faults.
    ///
    /// # Panics
    /// Panics if the contract does not permit the fault for this kind of call, see [`Fault::is_permitted_at`], or if
    /// `n` is 0.
    #[must_use]
    pub fn with_fault(mut self, step: CallKind, n: u64, fault: Fault) -> Self {
        assert!(fault.is_permitted_at(step), "no store responds to {step:?} with {fault:?}");
        assert!(n > 0, "calls are counted from 1");
        self.at.insert((step, n), fault);
        self
    }

    /// Makes the store permanently unavailable after `applied` applied commits, as counted by
    /// [`FaultStore::applied`](super::FaultStore::applied). Every later call returns `Unavailable`, regardless of the
    /// rest of the plan. The response to the last commit is lost only if the plan injects such a fault.
    #[must_use]
    pub fn with_outage_after(mut self, applied: u64) -> Self {
        self.away_after = Some(applied);
        self
    }

    pub(super) fn is_unavailable(&self, applied: u64) -> bool {
        self.away_after.is_some_and(|last| applied >= last)
    }

    pub(super) fn fault(&self, step: CallKind, n: u64) -> Option<Fault> {
        if let Some(fault) = self.at.get(&(step, n)) {
            return Some(*fault);
        }
        let (seed, rates) = self.seeded?;
        let mut drawn = splitmix(splitmix(seed, step as u64), n) % 1_000;
        for (fault, rate) in rates.per_fault().into_iter().filter(|(fault, _)| fault.is_permitted_at(step)) {
            if drawn < u64::from(rate) {
                return Some(fault);
            }
            drawn -= u64::from(rate);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeded_faults_are_reproducible_and_match_their_rates() {
        let rates =
            Rates { conflict: 100, unavailable: 50, unknown_lost: 20, repeat: 300, ..Rates::default() };
        let draw = |seed, step| (1..=10_000).map(move |n| FaultPlan::from_seed(seed, rates).fault(step, n));
        assert!(draw(1, CallKind::Commit).eq(draw(1, CallKind::Commit)));
        assert!(!draw(1, CallKind::Commit).eq(draw(2, CallKind::Commit)));
        assert!(!draw(1, CallKind::Commit).eq(draw(1, CallKind::Get)));
        let count = |step, fault| draw(3, step).filter(|drawn| *drawn == Some(fault)).count();
        let near = |count: usize, expected: usize| count.abs_diff(expected) < 150;
        assert!(near(count(CallKind::Commit, Fault::Conflict), 1_000));
        assert!(near(count(CallKind::Commit, Fault::UnknownLost), 200));
        assert!(near(count(CallKind::Begin, Fault::Unavailable), 500));
        assert!(near(count(CallKind::Changes, Fault::Repeat), 3_000));
        assert_eq!(count(CallKind::Begin, Fault::Conflict) + count(CallKind::Get, Fault::UnknownLost), 0);
    }

    #[test]
    fn explicit_fault_takes_precedence_over_random_faults() {
        let rates = Rates { conflict: 1_000, ..Rates::default() };
        let plan = FaultPlan::from_seed(1, rates).with_fault(CallKind::Commit, 2, Fault::UnknownApplied);
        assert_eq!(plan.fault(CallKind::Commit, 1), Some(Fault::Conflict));
        assert_eq!(plan.fault(CallKind::Commit, 2), Some(Fault::UnknownApplied));
        assert_eq!(FaultPlan::none().fault(CallKind::Commit, 1), None);
    }
}
