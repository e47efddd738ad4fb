//! A counting allocator for tests, which tracks the live bytes of the process and of each thread.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    sync::atomic::{AtomicIsize, AtomicUsize, Ordering},
};

/// The allocator. It always counts the bytes of each thread. The bytes of the process are counted only during a
/// measurement, because concurrent updates of shared counters would distort time measurements.
struct Heap;

#[global_allocator]
static HEAP: Heap = Heap;

/// Number of active process-wide measurements.
static ACTIVE_MEASUREMENTS: AtomicUsize = AtomicUsize::new(0);
/// Live bytes of all threads during measurements. Their peak is in `PEAK_BYTES`.
static LIVE_BYTES: AtomicIsize = AtomicIsize::new(0);
static PEAK_BYTES: AtomicIsize = AtomicIsize::new(0);

/// Live bytes of a thread, and their peak. A thread that frees memory of others can have a negative count.
#[derive(Clone, Copy)]
struct ThreadHeap {
    alive: isize,
    peak: isize,
}

thread_local! {
    static THREAD_HEAP: Cell<ThreadHeap> = const { Cell::new(ThreadHeap { alive: 0, peak: 0 }) };
}

/// Counts bytes allocated by this thread or, if negative, freed by it.
fn count(bytes: isize) {
    // A thread that exits frees its thread-local memory, which is not measured.
    let _ended = THREAD_HEAP.try_with(|own| {
        let alive = own.get().alive.wrapping_add(bytes);
        own.set(ThreadHeap { alive, peak: own.get().peak.max(alive) });
    });
    if ACTIVE_MEASUREMENTS.load(Ordering::Relaxed) > 0 {
        let alive = LIVE_BYTES.fetch_add(bytes, Ordering::Relaxed).wrapping_add(bytes);
        PEAK_BYTES.fetch_max(alive, Ordering::Relaxed);
    }
}

#[expect(unsafe_code, reason = "a per-thread allocator requires unsafe code")]
// SAFETY: all calls are delegated to an allocator that upholds the contract, and counting neither allocates nor panics.
// `realloc` and `alloc_zeroed` use the default implementations of the trait, which call the two methods below.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        // SAFETY: the caller upholds the contract of this function.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(layout.size().cast_signed().wrapping_neg());
        // SAFETY: the caller upholds the contract of this function.
        unsafe { System.dealloc(at, layout) }
    }
}

/// Runs `work` and returns its result and the peak of bytes that all threads allocate meanwhile.
pub fn peak_of<T>(work: impl FnOnce() -> T) -> (T, usize) {
    ACTIVE_MEASUREMENTS.fetch_add(1, Ordering::SeqCst);
    let before = LIVE_BYTES.load(Ordering::SeqCst);
    PEAK_BYTES.store(before, Ordering::SeqCst);
    let answer = work();
    let peak = PEAK_BYTES.load(Ordering::SeqCst);
    ACTIVE_MEASUREMENTS.fetch_sub(1, Ordering::SeqCst);
    (answer, peak.wrapping_sub(before).max(0).cast_unsigned())
}

/// Runs `work` and returns its result and the peak of bytes that this thread allocates. Other threads, including those
/// started by `work`, are not counted.
pub fn own_peak_of<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = THREAD_HEAP.with(|own| {
        let alive = own.get().alive;
        own.set(ThreadHeap { alive, peak: alive });
        alive
    });
    let answer = work();
    let peak = THREAD_HEAP.with(|own| own.get().peak);
    (answer, peak.wrapping_sub(before).max(0).cast_unsigned())
}

/// Runs `work` and measures the bytes that this thread has allocated during it and not freed. The first run may create
/// values that live as long as the process, so callers run `work` once before.
pub fn retained_by<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let alive = || THREAD_HEAP.with(|own| own.get().alive);
    let before = alive();
    let answer = work();
    (answer, alive().wrapping_sub(before).max(0).cast_unsigned())
}

/// Builds a cached value twice, and checks that its weight is within a factor of two of the bytes that it allocates.
///
/// # Panics
/// If the weight is less than half, or more than twice the bytes.
pub fn assert_weight<T>(name: &str, build: impl Fn() -> T, weight: impl Fn(&T) -> u64) {
    drop(build());
    let (value, bytes) = retained_by(build);
    let weight = weight(&value);
    let bytes = bytes as u64;
    assert!(weight <= 2 * bytes && bytes <= 2 * weight, "{name}: weight {weight}, allocated {bytes}");
}
