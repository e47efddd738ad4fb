//! Plans: the schedule of faults.

use std::collections::BTreeMap;

use crate::rng::splitmix;

/// A kind of call.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Step {
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

impl Step {
    pub(super) const COUNT: usize = 8;
}

/// An injected fault.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Fault {
    /// The call returns `Conflict` and applies nothing. Valid for `Get`, `Scan` and `Commit`.
    Conflict,
    /// The call returns `Unavailable` and applies nothing. Valid for all steps.
    Unavailable,
    /// The commit returns `Unknown` and, unless it fails otherwise, is applied.
    UnknownApplied,
    /// The commit returns `Unknown` and is not applied.
    UnknownLost,
    /// The call yields to other tasks first. Valid for all steps.
    Yield,
    /// The call waits for [`release`](super::FaultStore::release) before its work. Valid for all steps.
    HoldBefore,
    /// The call waits for [`release`](super::FaultStore::release) between its work and its response. Valid for all
    /// steps.
    HoldAfter,
    /// Feed items are returned twice. Valid for `Changes`.
    Repeat,
}

impl Fault {
    /// Returns `true` if the contract permits the fault at the step.
    #[must_use]
    pub fn fits(self, step: Step) -> bool {
        match self {
            Self::Unavailable | Self::Yield | Self::HoldBefore | Self::HoldAfter => true,
            Self::Conflict => matches!(step, Step::Get | Step::Scan | Step::Commit),
            Self::UnknownApplied | Self::UnknownLost => step == Step::Commit,
            Self::Repeat => step == Step::Changes,
        }
    }
}

/// Fault rates, per 1,000 calls that permit the fault.
///
/// The rates for a call are applied in the order of the fields, and their sum should not exceed 1,000.
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
    fn each(self) -> [(Fault, u16); 6] {
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
pub struct Plan {
    at: BTreeMap<(Step, u64), Fault>,
    seeded: Option<(u64, Rates)>,
    away_after: Option<u64>,
}

impl Plan {
    /// A plan without faults.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// A plan with random faults, reproducible from the seed.
    #[must_use]
    pub fn seeded(seed: u64, rates: Rates) -> Self {
        Self { seeded: Some((seed, rates)), ..Self::default() }
    }

    /// Injects a fault at the `n`-th call of a kind, counted from 1. Takes precedence over random faults.
    ///
    /// # Panics
    /// When the contract does not permit the fault at that step, see [`Fault::fits`], and when `n` is 0.
    #[must_use]
    pub fn at(mut self, step: Step, n: u64, fault: Fault) -> Self {
        assert!(fault.fits(step), "no store responds to {step:?} with {fault:?}");
        assert!(n > 0, "calls are counted from 1");
        self.at.insert((step, n), fault);
        self
    }

    /// Makes the store permanently unavailable after that many applied commits, as counted by
    /// [`FaultStore::applied`](super::FaultStore::applied). Every later call returns `Unavailable`, regardless of the
    /// rest of the plan. The response to the last commit is lost only if the plan has a fault for it.
    #[must_use]
    pub fn away_after(mut self, applied: u64) -> Self {
        self.away_after = Some(applied);
        self
    }

    pub(super) fn is_away(&self, applied: u64) -> bool {
        self.away_after.is_some_and(|last| applied >= last)
    }

    pub(super) fn fault(&self, step: Step, n: u64) -> Option<Fault> {
        if let Some(fault) = self.at.get(&(step, n)) {
            return Some(*fault);
        }
        let (seed, rates) = self.seeded?;
        let mut drawn = splitmix(splitmix(seed, step as u64), n) % 1_000;
        for (fault, rate) in rates.each().into_iter().filter(|(fault, _)| fault.fits(step)) {
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
    fn chance_repeats_and_keeps_to_its_rates_and_steps() {
        let rates =
            Rates { conflict: 100, unavailable: 50, unknown_lost: 20, repeat: 300, ..Rates::default() };
        let draw = |seed, step| (1..=10_000).map(move |n| Plan::seeded(seed, rates).fault(step, n));
        assert!(draw(1, Step::Commit).eq(draw(1, Step::Commit)));
        assert!(!draw(1, Step::Commit).eq(draw(2, Step::Commit)));
        assert!(!draw(1, Step::Commit).eq(draw(1, Step::Get)));
        let count = |step, fault| draw(3, step).filter(|drawn| *drawn == Some(fault)).count();
        let near = |count: usize, expected: usize| count.abs_diff(expected) < 150;
        assert!(near(count(Step::Commit, Fault::Conflict), 1_000));
        assert!(near(count(Step::Commit, Fault::UnknownLost), 200));
        assert!(near(count(Step::Begin, Fault::Unavailable), 500));
        assert!(near(count(Step::Changes, Fault::Repeat), 3_000));
        assert_eq!(count(Step::Begin, Fault::Conflict) + count(Step::Get, Fault::UnknownLost), 0);
    }

    #[test]
    fn a_chosen_call_goes_before_chance() {
        let rates = Rates { conflict: 1_000, ..Rates::default() };
        let plan = Plan::seeded(1, rates).at(Step::Commit, 2, Fault::UnknownApplied);
        assert_eq!(plan.fault(Step::Commit, 1), Some(Fault::Conflict));
        assert_eq!(plan.fault(Step::Commit, 2), Some(Fault::UnknownApplied));
        assert_eq!(Plan::none().fault(Step::Commit, 1), None);
    }
}
