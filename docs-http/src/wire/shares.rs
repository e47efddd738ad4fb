//! Shares of a memory budget: tracks how much of it each body holds, and selects the body to abort when others need
//! memory.

use std::{
    cmp::Reverse,
    collections::HashMap,
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

/// Maximum time that a body waits for memory.
const BUDGET_WAIT: Duration = Duration::from_secs(2);
/// Minimum number of units by which a body must grow within [`Shares::stalled`]: 24 KiB.
const MIN_GROWTH: usize = 24;
/// Minimum interval between searches for stalled bodies, shared by all waiting bodies, because a search scans all
/// bodies.
const RETRY: Duration = Duration::from_millis(100);
/// The part of the budget that slow bodies of all holders together keep while others wait for memory: 1 divided by
/// this number.
const SLOW_SHARE: usize = 2;

/// The holder of a share of a budget.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Holder {
    /// The id of a user.
    User(Arc<str>),
    /// The client's network, as counted by the rate limit. `None` if the transport has no addresses.
    Network(Option<IpAddr>),
}

/// A budget, and the reservations of bodies in it.
#[derive(Debug)]
pub(super) struct Shares {
    units: usize,
    /// Time within which a body must grow by [`MIN_GROWTH`].
    stalled: Duration,
    /// Time after which a body that has not arrived is slow.
    slow: Duration,
    next: AtomicU64,
    table: Mutex<Table>,
    freed: Notify,
}

#[derive(Debug, Default)]
struct Table {
    used: usize,
    by: HashMap<Holder, usize>,
    bodies: HashMap<u64, Held>,
    /// Time of the last search for stalled bodies.
    searched: Option<Instant>,
}

/// A body with a reservation.
#[derive(Debug)]
struct Held {
    holder: Holder,
    units: usize,
    /// The last time when the body had grown by [`MIN_GROWTH`], and its size in units at that time.
    grown: Instant,
    grown_to: usize,
    /// The time when the body began, later by the time that it has waited for the budget.
    began: Instant,
    /// The time when the state became [`State::Idle`].
    idle_since: Instant,
    state: State,
    end: Arc<Notify>,
}

impl Held {
    /// Sets the state to [`State::Idle`].
    fn pause(&mut self, now: Instant) {
        if self.state != State::Idle {
            (self.state, self.idle_since) = (State::Idle, now);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// The server is waiting for bytes from the sender.
    Receiving,
    /// The sender is waiting for the budget, or the body is complete.
    Idle,
    /// The body was aborted but still holds its memory.
    Ending,
}

/// The reservation of one body, released on drop.
#[derive(Debug)]
pub(super) struct Place {
    shares: Arc<Shares>,
    id: u64,
    holder: Holder,
    /// Size of the body in units, which can exceed the budget.
    units: usize,
    end: Arc<Notify>,
}

impl Shares {
    /// Size of a unit in bytes.
    pub(super) const UNIT_BYTES: usize = 1024;

    pub(super) fn new(bytes: usize, stalled: Duration, slow: Duration) -> Arc<Self> {
        let units = bytes.div_ceil(Self::UNIT_BYTES).max(1);
        Arc::new(Self {
            units,
            stalled,
            slow,
            next: AtomicU64::new(0),
            table: Mutex::default(),
            freed: Notify::new(),
        })
    }

    /// The size of the budget in bytes.
    pub(super) const fn bytes(&self) -> usize {
        self.units.saturating_mul(Self::UNIT_BYTES)
    }

    /// Returns an empty reservation for a body.
    pub(super) fn place(self: &Arc<Self>, holder: Holder) -> Place {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        Place { shares: Arc::clone(self), id, holder, units: 0, end: Arc::default() }
    }

    /// Grows the reservation of a body to a number of units, at most the whole budget. If that is impossible at the
    /// moment, returns the time of the next attempt.
    fn try_grow(&self, place: &Place, units: usize, now: Instant) -> Result<(), Instant> {
        let mut guard = self.table.lock();
        let table = &mut *guard;
        let own = table.by.get(&place.holder).copied().unwrap_or_default();
        let free = self.units - table.used;
        let body = table.bodies.entry(place.id).or_insert_with(|| Held {
            holder: place.holder.clone(),
            units: 0,
            grown: now,
            grown_to: 0,
            began: now,
            idle_since: now,
            state: State::Idle,
            end: Arc::clone(&place.end),
        });
        let (held, more) = (body.units, units.min(self.units).saturating_sub(body.units));
        // A holder may use as much as it leaves free. Even if the budget is small, one body at a time can be received.
        let needed = own.saturating_add(more.saturating_mul(2));
        if more == 0 || needed <= free || table.used == held {
            body.units += more;
            // The time that the sender spent waiting for the budget does not count as a stall.
            if body.state == State::Idle {
                body.began += now.saturating_duration_since(body.idle_since);
            }
            if body.state == State::Idle || body.units - body.grown_to >= MIN_GROWTH {
                (body.grown, body.grown_to) = (now, body.units);
            }
            body.state = State::Receiving;
            table.used += more;
            *table.by.entry(place.holder.clone()).or_default() += more;
            return Ok(());
        }
        body.pause(now);
        Err(table.make_room(self, own, needed - free, now))
    }
}

impl Table {
    /// Aborts bodies to free the missing units: first stalled bodies, those of the largest holders first, but none of a
    /// holder that uses less than the waiting one. Then, while slow bodies take more than their part of the budget, the
    /// slow bodies that have used most memory for longest, of any holder. Otherwise, many users with a small share each
    /// could hold the whole budget. Returns the time of the next search.
    fn make_room(&mut self, shares: &Shares, own: usize, missing: usize, now: Instant) -> Instant {
        if let Some(next) = self.searched.map(|last| last + RETRY).filter(|next| now < *next) {
            return next;
        }
        self.searched = Some(now);
        let (mut freed, mut slow, mut late) = (0, 0, Vec::new());
        for body in self.bodies.values_mut() {
            match body.state {
                State::Ending => freed += body.units,
                State::Receiving if body.units > 0 => {
                    let usage = self.by.get(&body.holder).copied().unwrap_or_default();
                    let pause = now.saturating_duration_since(body.grown);
                    let age = now.saturating_duration_since(body.began);
                    let is_slow = age >= shares.slow;
                    slow += if is_slow { body.units } else { 0 };
                    if pause >= shares.stalled && usage >= own {
                        late.push((Lateness::Stalled(usage, pause), is_slow, body));
                    } else if is_slow {
                        late.push((Lateness::Slow(age.as_millis() * body.units as u128), is_slow, body));
                    }
                }
                _ => {}
            }
        }
        late.sort_unstable_by_key(|(rank, ..)| Reverse(*rank));
        for (rank, is_slow, body) in late {
            let is_within_part = slow <= shares.units / SLOW_SHARE;
            if freed >= missing || (matches!(rank, Lateness::Slow(_)) && is_within_part) {
                break;
            }
            freed += body.units;
            slow -= if is_slow { body.units } else { 0 };
            body.state = State::Ending;
            body.end.notify_one();
        }
        now + RETRY
    }
}

/// The rank of a body among those that may be aborted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Lateness {
    /// The memory that a slow body has used, multiplied by the time.
    Slow(u128),
    /// The memory of the holder of a stalled body, and the time of its pause.
    Stalled(usize, Duration),
}

impl Place {
    /// Grows the reservation to the body's new size in bytes, waiting for memory at most [`BUDGET_WAIT`]. Returns
    /// `false` if the memory is still held by others.
    pub(super) async fn grow(&mut self, bytes: usize) -> bool {
        let units = bytes.div_ceil(Shares::UNIT_BYTES);
        if units <= self.units {
            return true;
        }
        let end = Instant::now() + BUDGET_WAIT;
        loop {
            let freed = self.shares.freed.notified();
            let now = Instant::now();
            let next = match self.shares.try_grow(self, units, now) {
                Ok(()) => {
                    self.units = units;
                    return true;
                }
                Err(_) if now >= end => return false,
                Err(next) => next,
            };
            tokio::select! {
                () = freed => {}
                () = sleep_until(next.min(end)) => {}
            }
        }
    }

    /// Waits until the body is aborted because others need its memory.
    pub(super) async fn ended(&self) {
        self.end.notified().await;
    }

    /// Records that the body has arrived completely and can no longer be aborted.
    pub(super) fn complete(&self) {
        if self.units > 0
            && let Some(body) = self.shares.table.lock().bodies.get_mut(&self.id)
        {
            body.pause(Instant::now());
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut table = self.shares.table.lock();
        let Some(body) = table.bodies.remove(&self.id) else { return };
        table.used -= body.units;
        if let Some(own) = table.by.get_mut(&body.holder) {
            *own -= body.units;
            if *own == 0 {
                table.by.remove(&body.holder);
            }
        }
        drop(table);
        self.shares.freed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    /// Size of the budget in units in these tests.
    const UNITS: usize = 1_000;

    fn holder(number: u8) -> Holder {
        Holder::User(number.to_string().into())
    }

    /// A step of a test.
    #[derive(Clone, Debug)]
    enum Step {
        Begin { holder: u8 },
        Grow { body: prop::sample::Index, units: usize },
        Complete { body: prop::sample::Index },
        End { body: prop::sample::Index },
        Wait { millis: u64 },
    }

    fn step() -> impl Strategy<Value = Step> {
        let body = any::<prop::sample::Index>;
        prop_oneof![
            2 => (0..4_u8).prop_map(|holder| Step::Begin { holder }),
            6 => (body(), 1..400_usize).prop_map(|(body, units)| Step::Grow { body, units }),
            1 => body().prop_map(|body| Step::Complete { body }),
            1 => body().prop_map(|body| Step::End { body }),
            1 => (0..5_000_u64).prop_map(|millis| Step::Wait { millis }),
        ]
    }

    fn grow(place: &mut Place, units: usize, now: Instant) -> bool {
        let units = place.units + units;
        let is_granted = place.shares.try_grow(place, units, now).is_ok();
        if is_granted {
            place.units = units;
        }
        is_granted
    }

    fn check(shares: &Arc<Shares>, places: &[Place], now: Instant) {
        let free = {
            let table = shares.table.lock();
            assert!(table.used <= UNITS, "{table:?}");
            assert_eq!(table.used, table.bodies.values().map(|body| body.units).sum::<usize>());
            assert_eq!(table.used, table.by.values().sum::<usize>());
            assert!(table.bodies.len() <= places.len());
            UNITS - table.used
        };
        let is_alone = shares.table.lock().bodies.values().filter(|body| body.units > 0).count() <= 1;
        assert!(is_alone || free > 0, "every holder leaves a part free");
        if free >= 2 {
            let mut new = shares.place(holder(100));
            assert!(grow(&mut new, free / 2, now), "a holder without bodies gets a half of {free}");
        }
    }

    proptest! {
        #[test]
        fn shares_stay_within_the_budget_and_are_all_returned(steps in vec(step(), 1..60)) {
            let shares = Shares::new(UNITS * Shares::UNIT_BYTES, Duration::from_secs(3), Duration::from_secs(10));
            let (mut places, mut now) = (Vec::new(), Instant::now());
            for step in steps {
                let count = places.len();
                match step {
                    Step::Begin { holder: number } => places.push(shares.place(holder(number))),
                    Step::Wait { millis } => now += Duration::from_millis(millis),
                    _ if count == 0 => {}
                    Step::Grow { body, units } => drop(grow(&mut places[body.index(count)], units, now)),
                    Step::Complete { body } => places[body.index(count)].complete(),
                    Step::End { body } => drop(places.swap_remove(body.index(count))),
                }
                check(&shares, &places, now);
            }
            drop(places);
            let table = shares.table.lock();
            prop_assert!(table.used == 0 && table.by.is_empty() && table.bodies.is_empty());
        }
    }
}
