//! Options of the allocator.
//!
//! Each arena of glibc keeps the memory that its threads freed, up to the amount that they once used together. Its
//! default is eight arenas for each processor, which kept 500 MiB after imports of large pages on two processors.
//!
//! Blocks above a threshold are mapped alone and returned to the system when they are freed. By default, glibc raises
//! the threshold to the largest block that was freed, up to 32 MiB, so that later ones stay in the arenas: after visits
//! of pages with 500 kB of Markdown 294 to 326 MiB instead of 129 to 165 MiB, at equal processor time.

/// Sets the options, unless the environment sets one. Must run before other threads start.
pub(crate) fn configure() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    if ENVIRONMENT.iter().all(|name| std::env::var_os(name).is_none()) {
        glibc::set(glibc::M_ARENA_MAX, arenas());
        glibc::set(glibc::M_MMAP_THRESHOLD, MAPPED_BYTES);
        glibc::set(glibc::M_TRIM_THRESHOLD, FREE_BYTES);
    }
}

/// The variables of the environment that set the same options.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const ENVIRONMENT: [&str; 4] =
    ["MALLOC_ARENA_MAX", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "GLIBC_TUNABLES"];

/// Minimum and maximum number of arenas. More processors need more arenas, because threads of one arena can wait for
/// each other.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const ARENAS: (usize, usize) = (2, 8);
/// Size of a block in bytes from which it is mapped alone.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const MAPPED_BYTES: usize = 1 << 20;
/// Bytes that are free at the end of an arena before they are returned to the system.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const FREE_BYTES: usize = 4 << 20;

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn arenas() -> usize {
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    (processors / 2).clamp(ARENAS.0, ARENAS.1)
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "Rust has no other interface to the options of the allocator")]
mod glibc {
    use std::ffi::c_int;

    // The options in `malloc.h`.
    pub(super) const M_ARENA_MAX: c_int = -8;
    pub(super) const M_MMAP_THRESHOLD: c_int = -3;
    pub(super) const M_TRIM_THRESHOLD: c_int = -1;

    // SAFETY: this is the declaration in `malloc.h` of glibc. The function accepts all values, and uses a lock.
    unsafe extern "C" {
        safe fn mallopt(option: c_int, value: c_int) -> c_int;
    }

    pub(super) fn set(option: c_int, value: usize) {
        let is_set = c_int::try_from(value).is_ok_and(|value| mallopt(option, value) == 1);
        debug_assert!(is_set, "the value of the option {option} is valid");
    }
}
