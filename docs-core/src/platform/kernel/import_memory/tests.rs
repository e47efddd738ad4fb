//! Tests of the memory budget.

use docs_memstore::ManualClock;
use futures_util::FutureExt as _;
use proptest::prelude::*;

use super::*;

fn org(number: u8) -> OrgId {
    format!("org{number}").parse().expect("an id")
}

fn clock() -> ManualClock {
    ManualClock::default()
}

fn used(memory: &ImportMemory) -> u64 {
    memory.0.state.lock().used
}

#[test]
fn work_begins_by_arrival_within_the_budget() {
    let memory = ImportMemory::new(100);
    let [mut first, mut second, mut third] = [1, 2, 3].map(|number| memory.reservation(&org(number)));
    first.run(60).now_or_never().expect("free");
    let mut second_run = Box::pin(second.run(60));
    let mut third_run = Box::pin(third.run(1));
    assert!((&mut second_run).now_or_never().is_none());
    assert!((&mut third_run).now_or_never().is_none(), "work that arrived earlier waits");
    drop(first);
    (&mut second_run).now_or_never().expect("free");
    (&mut third_run).now_or_never().expect("free");
    drop((second_run, third_run));
    drop((second, third));
    assert_eq!(used(&memory), 0);
}

#[test]
fn links_reserve_memory_up_to_that_of_their_batches() {
    let links = |text_bytes| {
        let size = ImportSize { text_bytes, items: 3 };
        size.bytes_to_store() - size.bytes()
    };
    assert_eq!((links(0), links(1_000)), (0, 100_000));
    assert_eq!(
        (links(LINK_BYTES / LINK_BYTES_PER_TEXT_BYTE + 1), links(u64::MAX / 4)),
        (LINK_BYTES, LINK_BYTES)
    );
}

#[test]
fn an_organization_with_running_work_waits_for_others() {
    let memory = ImportMemory::new(256);
    let mut busy: Vec<_> = (0..14).map(|_| memory.reservation(&org(1))).collect();
    let mut busy: Vec<_> = busy.iter_mut().map(|one| Box::pin(one.run(96))).collect();
    let begun = busy.iter_mut().filter_map(|one| one.now_or_never()).count();
    assert_eq!(begun, 1, "one at a time, because a second one would leave less than it uses");
    let mut other = memory.reservation(&org(2));
    other.run(96).now_or_never().expect("another organization does not wait");
}

#[test]
fn slow_fetches_do_not_delay_the_work_of_others() {
    let memory = ImportMemory::new(256);
    let mut slow: Vec<_> = (0..14).map(|number| memory.reservation(&org(number))).collect();
    for reservation in &mut slow {
        reservation.hold(&clock(), 1).now_or_never().expect("free");
    }
    let mut other = memory.reservation(&org(99));
    other.run(96).now_or_never().expect("fetched bytes are all that slow fetches hold");
}

#[test]
fn fetched_data_of_one_organization_leaves_memory_to_others() {
    let memory = ImportMemory::new(100);
    let (mut one, mut other) = (memory.reservation(&org(1)), memory.reservation(&org(2)));
    other.hold(&clock(), 1).now_or_never().expect("free");
    one.hold(&clock(), 49).now_or_never().expect("free");
    assert!(one.hold(&clock(), 10).now_or_never().is_none(), "it would use more than it leaves free");
    other.hold(&clock(), 20).now_or_never().expect("free");
}

#[test]
fn imports_of_one_organization_share_its_memory() {
    let memory = ImportMemory::new(100);
    let mut all: Vec<_> = (0..14).map(|_| memory.reservation(&org(1))).collect();
    let held = all.iter_mut().filter_map(|one| one.hold(&clock(), 20).now_or_never()).count();
    assert_eq!(held, 2, "a third one would use more than it leaves free");
    memory.reservation(&org(2)).hold(&clock(), 30).now_or_never().expect("free");
    drop(all);
    let mut alone = memory.reservation(&org(1));
    alone.hold(&clock(), 150).now_or_never().expect("alone, a document may be larger than the budget");
}

#[test]
fn fetched_data_that_fills_the_budget_does_not_block_work() {
    let memory = ImportMemory::new(100);
    let mut waiting: Vec<_> = (0..8).map(|number| memory.reservation(&org(number))).collect();
    for (reservation, bytes) in waiting.iter_mut().zip([50, 25, 12, 6, 3]) {
        reservation.hold(&clock(), bytes).now_or_never().expect("its share");
    }
    waiting[0].run(90).now_or_never().expect("no work is running");
    assert!(waiting[1].run(90).now_or_never().is_none(), "one at a time");
}

#[test]
fn one_import_at_a_time_exceeds_the_budget() {
    let memory = ImportMemory::new(100);
    let (mut first, mut second) = (memory.reservation(&org(1)), memory.reservation(&org(2)));
    first.run(50).now_or_never().expect("free");
    second.run(50).now_or_never().expect("free");
    first.settle(80).now_or_never().expect("it exceeds the budget alone");
    let mut waits = Box::pin(second.settle(80));
    assert!((&mut waits).now_or_never().is_none(), "another import exceeds the budget");
    drop(first);
    (&mut waits).now_or_never().expect("its turn");
    drop(waits);
    drop(second);
    assert_eq!(used(&memory), 0);
}

#[test]
fn data_that_grows_while_it_is_processed_is_counted() {
    let memory = ImportMemory::new(100);
    let (mut first, mut second) = (memory.reservation(&org(1)), memory.reservation(&org(2)));
    first.run(40).now_or_never().expect("free");
    first.grow(30).now_or_never().expect("less than it has");
    assert_eq!(used(&memory), 40);
    first.grow(60).now_or_never().expect("free");
    assert_eq!(used(&memory), 60);
    second.run(40).now_or_never().expect("free");
    first.grow(70).now_or_never().expect("it exceeds the budget alone");
    let mut waits = Box::pin(second.grow(50));
    assert!((&mut waits).now_or_never().is_none(), "another import exceeds the budget");
    first.run(90).now_or_never().expect("no work is running, because the other import waits");
    first.grow(200).now_or_never().expect("it still exceeds the budget alone");
    drop(first);
    (&mut waits).now_or_never().expect("its turn");
    drop(waits);
    drop(second);
    assert_eq!(used(&memory), 0);
}

fn is_ended(reservation: &Reservation) -> bool {
    reservation.stalled().now_or_never().is_some()
}

/// Three organizations leave an eighth of the budget to others, and then send nothing.
#[test]
fn stalled_transfers_end_while_others_wait_for_memory() {
    const MIB: u64 = 1 << 20;
    let (memory, clock) = (ImportMemory::new(256 * MIB), clock());
    let mut slow: Vec<_> = (1..4).map(|number| memory.reservation(&org(number))).collect();
    for (one, bytes) in slow.iter_mut().zip([128, 64, 32]) {
        one.hold(&clock, bytes * MIB).now_or_never().expect("its share");
    }
    let mut other = memory.reservation(&org(9));
    assert!(other.hold(&clock, 40 * MIB).now_or_never().is_none(), "not enough is left");
    clock.advance(std::time::Duration::from_millis(2_900));
    assert!(other.hold(&clock, 40 * MIB).now_or_never().is_none());
    assert!(!slow.iter().any(is_ended), "they are not late yet");
    clock.advance(std::time::Duration::from_millis(100));
    assert!(other.hold(&clock, 40 * MIB).now_or_never().is_none());
    assert_eq!(slow.iter().map(is_ended).collect::<Vec<_>>(), [true, false, false], "the largest");
    slow.remove(0);
    other.hold(&clock, 40 * MIB).now_or_never().expect("free");
}

/// A transfer grows by 24 KiB, or by a 512th of its size.
#[test]
fn transfers_that_grow_are_not_ended() {
    const MIB: u64 = 1 << 20;
    let (memory, clock) = (ImportMemory::new(256 * MIB), clock());
    let mut steady = memory.reservation(&org(1));
    steady.hold(&clock, 100 * MIB).now_or_never().expect("its share");
    let mut other = memory.reservation(&org(2));
    for second in 0..10 {
        clock.advance(std::time::Duration::from_secs(1));
        steady.hold(&clock, 100 * MIB / 512 / 2).now_or_never().expect("its share");
        assert!(other.hold(&clock, 100 * MIB).now_or_never().is_none());
        assert!(!is_ended(&steady), "second {second}");
    }
    for _ in 0..10 {
        clock.advance(std::time::Duration::from_secs(1));
        steady.hold(&clock, 24 << 10).now_or_never().expect("its share");
        assert!(other.hold(&clock, 100 * MIB).now_or_never().is_none());
    }
    assert!(is_ended(&steady), "too slow for its size");
}

/// Uploads that wait for each other's memory do not wait forever: the largest is ended.
#[test]
fn transfers_that_wait_for_each_other_end() {
    let (memory, clock) = (ImportMemory::new(100), clock());
    let mut all: Vec<_> = [1, 2, 2].map(|number| memory.reservation(&org(number))).into();
    for (one, bytes) in all.iter_mut().zip([40, 10, 8]) {
        one.hold(&clock, bytes).now_or_never().expect("its share");
    }
    let wait = |all: &mut Vec<Reservation>| {
        for one in all {
            assert!(one.hold(&clock, 20).now_or_never().is_none());
        }
    };
    wait(&mut all);
    clock.advance(std::time::Duration::from_secs(3));
    let mut work = memory.reservation(&org(3));
    work.run(1).now_or_never().expect("no work is running");
    wait(&mut all);
    assert!(!all.iter().any(is_ended), "running work frees memory");
    drop(work);
    wait(&mut all);
    assert_eq!(all.iter().map(is_ended).collect::<Vec<_>>(), [true, false, false]);
}

#[derive(Clone, Debug)]
enum Step {
    Grow(usize, u64),
    Hold(usize, u64),
    Run(usize, u64),
    Settle(usize, u64),
    Release(usize, u64),
    Drop(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let (which, bytes) = (0..6_usize, 0..120_u64);
    prop_oneof![
        (which.clone(), bytes.clone()).prop_map(|(which, bytes)| Step::Grow(which, bytes)),
        (which.clone(), bytes.clone()).prop_map(|(which, bytes)| Step::Hold(which, bytes)),
        (which.clone(), bytes.clone()).prop_map(|(which, bytes)| Step::Run(which, bytes)),
        (which.clone(), bytes.clone()).prop_map(|(which, bytes)| Step::Settle(which, bytes)),
        (which.clone(), bytes).prop_map(|(which, bytes)| Step::Release(which, bytes)),
        which.prop_map(Step::Drop),
    ]
}

proptest! {
    #[test]
    fn all_memory_is_returned(steps in proptest::collection::vec(step(), 0..60)) {
        let memory = ImportMemory::new(100);
        let new = |which: usize| memory.reservation(&org(which as u8 / 2));
        let mut all: Vec<_> = (0..6).map(new).collect();
        for step in steps {
            match step {
                Step::Grow(which, bytes) => { all[which].grow(bytes).now_or_never(); }
                Step::Hold(which, bytes) => { all[which].hold(&clock(), bytes).now_or_never(); }
                Step::Run(which, bytes) => { all[which].run(bytes).now_or_never(); }
                Step::Settle(which, bytes) => { all[which].settle(bytes).now_or_never(); }
                Step::Release(which, bytes) => all[which].release(bytes),
                Step::Drop(which) => all[which] = new(which),
            }
            let own: u64 = all.iter().map(|one| one.own.held + one.own.running).sum();
            prop_assert_eq!(used(&memory), own);
            prop_assert!(memory.0.state.lock().waiting.is_empty());
        }
        drop(all);
        prop_assert_eq!(used(&memory), 0);
        let state = memory.0.state.lock();
        prop_assert!(state.by.is_empty() && state.transfers.is_empty());
    }
}
