//! Resource limits that a worker process sets on itself and cannot raise again.

use std::io;

use crate::job::Bounds;

/// Maximum number of open files: pipes, runtime files, and font files.
#[cfg(unix)]
const MAX_FILES: u64 = 64;
/// Niceness relative to the server.
#[cfg(unix)]
const NICENESS: i32 = 5;
/// Delay in seconds between the CPU limit signal and the kill.
#[cfg(unix)]
const KILL_GRACE_SECONDS: u64 = 1;

/// Sets the limits of the current process.
///
/// # Errors
/// If the system rejects a limit. The process must then exit.
#[cfg(unix)]
pub(crate) fn contain(bounds: Bounds) -> io::Result<()> {
    use rustix::process::{Resource, nice};
    // Both calls only benefit other processes, so failures are ignored.
    let _ = nice(NICENESS);
    if cfg!(target_os = "linux") {
        let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    }
    // Applies to this thread and to threads that it starts later. No other thread is running yet.
    #[cfg(target_os = "linux")]
    rustix::thread::set_no_new_privs(true)?;
    limit(Resource::Core, 0, 0)?;
    limit(Resource::Nofile, MAX_FILES, MAX_FILES)?;
    limit(Resource::Fsize, 0, 0)?;
    limit(Resource::Cpu, bounds.cpu_seconds, bounds.cpu_seconds + KILL_GRACE_SECONDS)?;
    // Much of the address space is only reserved, for stacks and allocator arenas. The limit concerns written memory.
    #[cfg(target_os = "linux")]
    limit(Resource::Data, bounds.memory, bounds.memory)?;
    #[cfg(not(any(target_os = "linux", target_os = "openbsd")))]
    limit(Resource::As, bounds.memory, bounds.memory)?;
    Ok(())
}

/// Sets a limit, but at most to the current hard limit.
#[cfg(unix)]
fn limit(resource: rustix::process::Resource, soft: u64, hard: u64) -> io::Result<()> {
    let now = rustix::process::getrlimit(resource);
    let hard = now.maximum.map_or(hard, |now| now.min(hard));
    let new = rustix::process::Rlimit { current: Some(soft.min(hard)), maximum: Some(hard) };
    Ok(rustix::process::setrlimit(resource, new)?)
}

/// On other systems, only the server limits a worker, by wall-clock time and answer size.
///
/// # Errors
/// Never.
#[cfg(not(unix))]
pub(crate) fn contain(_: Bounds) -> io::Result<()> {
    Ok(())
}
