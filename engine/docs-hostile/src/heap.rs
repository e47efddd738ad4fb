//! A counting allocator for tests: live bytes of the process and of each thread.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    sync::atomic::{AtomicIsize, AtomicUsize, Ordering},
};

/// The allocator. Always counts the bytes of each thread. Counts the bytes of the process only during a measurement,
/// because concurrent updates of shared counters would distort the measured time.
struct Heap;

#[global_allocator]
static HEAP: Heap = Heap;

/// Number of active measurements of the process.
static ACTIVE_MEASUREMENTS: AtomicUsize = AtomicUsize::new(0);
/// Live bytes of all threads during measurements, and their peak.
static LIVE_BYTES: AtomicIsize = AtomicIsize::new(0);
static PEAK_BYTES: AtomicIsize = AtomicIsize::new(0);

/// Live bytes of a thread, and their peak. Negative if the thread frees memory of others.
#[derive(Clone, Copy)]
struct ThreadHeap {
    alive: isize,
    peak: isize,
}

thread_local! {
    static THREAD_HEAP: Cell<ThreadHeap> = const { Cell::new(ThreadHeap { alive: 0, peak: 0 }) };
}

/// Counts bytes that this thread allocates, or frees if negative.
fn count(bytes: isize) {
    // A thread that ends frees its thread-local memory, which is not measured.
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

/// Runs `work` and measures the peak of bytes that all threads allocate during it.
pub fn peak_of<T>(work: impl FnOnce() -> T) -> (T, usize) {
    ACTIVE_MEASUREMENTS.fetch_add(1, Ordering::SeqCst);
    let before = LIVE_BYTES.load(Ordering::SeqCst);
    PEAK_BYTES.store(before, Ordering::SeqCst);
    let answer = work();
    let peak = PEAK_BYTES.load(Ordering::SeqCst);
    ACTIVE_MEASUREMENTS.fetch_sub(1, Ordering::SeqCst);
    (answer, peak.wrapping_sub(before).max(0).cast_unsigned())
}

/// Runs `work` and measures the peak of bytes that this thread allocates. Other threads are not counted, including
/// those that `work` starts.
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
