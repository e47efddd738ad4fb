//! Limits that a process puts on itself, which nothing in it can lift again.

use std::io;

use crate::job::Bounds;

/// Most files that are open: the pipes, what a runtime needs, and fonts that are read.
#[cfg(unix)]
const MAX_FILES: u64 = 64;
/// How much this process steps back behind the server.
#[cfg(unix)]
const NICENESS: i32 = 5;
/// How long a process lives after the signal that says that its time is over, in seconds.
#[cfg(unix)]
const GRACE: u64 = 1;

/// Puts limits on this process.
///
/// # Errors
/// When the system refuses one: the process must not go on.
#[cfg(unix)]
pub(crate) fn contain(bounds: Bounds) -> io::Result<()> {
    use rustix::process::{Resource, nice};
    // Both only help others; a system may refuse them.
    let _ = nice(NICENESS);
    if cfg!(target_os = "linux") {
        let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    }
    // For this thread and those that it starts, which are all there will be.
    #[cfg(target_os = "linux")]
    rustix::thread::set_no_new_privs(true)?;
    limit(Resource::Core, 0, 0)?;
    limit(Resource::Nofile, MAX_FILES, MAX_FILES)?;
    limit(Resource::Fsize, 0, 0)?;
    limit(Resource::Cpu, bounds.cpu_seconds, bounds.cpu_seconds + GRACE)?;
    // Of the address space much is only set aside, for stacks and arenas: what is written to is what counts.
    #[cfg(target_os = "linux")]
    limit(Resource::Data, bounds.memory, bounds.memory)?;
    #[cfg(not(any(target_os = "linux", target_os = "openbsd")))]
    limit(Resource::As, bounds.memory, bounds.memory)?;
    Ok(())
}

/// Puts a limit on this process, and none above what it has already.
#[cfg(unix)]
fn limit(resource: rustix::process::Resource, soft: u64, hard: u64) -> io::Result<()> {
    let now = rustix::process::getrlimit(resource);
    let hard = now.maximum.map_or(hard, |now| now.min(hard));
    let new = rustix::process::Rlimit { current: Some(soft.min(hard)), maximum: Some(hard) };
    Ok(rustix::process::setrlimit(resource, new)?)
}

/// Elsewhere the server alone bounds a worker: by the clock, and by the size of the answer.
///
/// # Errors
/// Never.
#[cfg(not(unix))]
pub(crate) fn contain(_: Bounds) -> io::Result<()> {
    Ok(())
}
