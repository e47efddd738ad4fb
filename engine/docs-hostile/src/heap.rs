//! The allocator of tests: what is alive, in all of the process and of each thread alone.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    sync::atomic::{AtomicIsize, AtomicUsize, Ordering},
};

/// Counts for each thread what it took and gave back itself, and for the process what all of them did while somebody
/// asks: threads that count together take much of the time that is measured.
struct Heap;

#[global_allocator]
static HEAP: Heap = Heap;

/// How many ask for the bytes of the process.
static ASKED: AtomicUsize = AtomicUsize::new(0);
/// Bytes that all threads took and did not give back while somebody asked, and the most of them at once.
static ALIVE: AtomicIsize = AtomicIsize::new(0);
static PEAK: AtomicIsize = AtomicIsize::new(0);

/// Bytes that a thread took and did not give back, and the most of them at once. What it gives back for others is less
/// than none.
#[derive(Clone, Copy)]
struct Own {
    alive: isize,
    peak: isize,
}

thread_local! {
    static OWN: Cell<Own> = const { Cell::new(Own { alive: 0, peak: 0 }) };
}

/// Counts bytes that this thread takes, or gives back when there are less than none.
fn count(bytes: isize) {
    // A thread that ends gives back what it kept for itself: nobody asks for that.
    let _ended = OWN.try_with(|own| {
        let alive = own.get().alive.wrapping_add(bytes);
        own.set(Own { alive, peak: own.get().peak.max(alive) });
    });
    if ASKED.load(Ordering::Relaxed) > 0 {
        let alive = ALIVE.fetch_add(bytes, Ordering::Relaxed).wrapping_add(bytes);
        PEAK.fetch_max(alive, Ordering::Relaxed);
    }
}

#[expect(unsafe_code, reason = "an allocator that counts for each thread cannot be written without")]
// SAFETY: all is done by an allocator that keeps the contract, and counting neither takes memory nor panics. Memory
// that grows, and memory of zeros, is made of the two below, as the trait does it.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        // SAFETY: the caller keeps the contract of this very function.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(layout.size().cast_signed().wrapping_neg());
        // SAFETY: the caller keeps the contract of this very function.
        unsafe { System.dealloc(at, layout) }
    }
}

/// What some work answers, and the most bytes that were alive at once for it, in whatever thread.
pub fn peak_of<T>(work: impl FnOnce() -> T) -> (T, usize) {
    ASKED.fetch_add(1, Ordering::SeqCst);
    let before = ALIVE.load(Ordering::SeqCst);
    PEAK.store(before, Ordering::SeqCst);
    let answer = work();
    let peak = PEAK.load(Ordering::SeqCst);
    ASKED.fetch_sub(1, Ordering::SeqCst);
    (answer, peak.wrapping_sub(before).max(0).cast_unsigned())
}

/// The same of what this thread took: what others do meanwhile does not count, and neither does what they do for it.
pub fn own_peak_of<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = OWN.with(|own| {
        let alive = own.get().alive;
        own.set(Own { alive, peak: alive });
        alive
    });
    let answer = work();
    let peak = OWN.with(|own| own.get().peak);
    (answer, peak.wrapping_sub(before).max(0).cast_unsigned())
}
