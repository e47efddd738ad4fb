//! The number of arenas of the allocator.
//!
//! Each arena of glibc keeps the memory that its threads freed, up to the amount that they once used together. Its
//! default is eight arenas for each processor, which kept 500 MiB after imports of large pages on two processors.

/// Sets the maximum number of arenas, unless the environment sets it. Must run before other threads start.
pub(crate) fn limit_arenas() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    if std::env::var_os("MALLOC_ARENA_MAX").is_none() && std::env::var_os("GLIBC_TUNABLES").is_none() {
        glibc::set_arenas(arenas());
    }
}

/// Minimum and maximum number of arenas. More processors need more arenas, because threads of one arena can wait for
/// each other.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const ARENAS: (usize, usize) = (2, 8);

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn arenas() -> usize {
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    (processors / 2).clamp(ARENAS.0, ARENAS.1)
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "Rust has no other interface to the options of the allocator")]
mod glibc {
    use std::ffi::c_int;

    /// The option in `malloc.h` for the maximum number of arenas.
    const M_ARENA_MAX: c_int = -8;

    // SAFETY: this is the declaration in `malloc.h` of glibc. The function accepts all values, and uses a lock.
    unsafe extern "C" {
        safe fn mallopt(option: c_int, value: c_int) -> c_int;
    }

    pub(super) fn set_arenas(most: usize) {
        let is_set = c_int::try_from(most).is_ok_and(|most| mallopt(M_ARENA_MAX, most) == 1);
        debug_assert!(is_set, "the number of arenas is valid");
    }
}
