//! Worker limits and options.

use std::{num::NonZeroUsize, time::Duration};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum JobKind {
    /// Render a PDF file.
    Render,
    /// Convert a document to a page.
    Convert,
    /// Unpack an archive.
    Unpack,
    /// Parse an OpenAPI specification.
    ReadSpec,
}

/// Resource limits of a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WorkerLimits {
    /// Maximum memory that the process may write, in bytes. This includes the memory of the program itself.
    pub memory: u64,
    /// Maximum CPU time of all threads, rounded up to whole seconds.
    pub cpu: Duration,
    /// Maximum wall-clock time, starting when the process is ready.
    pub wall: Duration,
    /// Maximum size of the answer in bytes.
    pub answer: u64,
}

/// Options of a [`WorkerPool`](crate::WorkerPool).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorkerOptions {
    /// Maximum number of concurrent processes. Further jobs wait.
    pub at_once: NonZeroUsize,
    /// Maximum time until a process is ready. A slower program is not considered a worker.
    pub start: Duration,
    /// Limits for rendering a PDF file.
    pub render: WorkerLimits,
    /// Limits for converting a document.
    pub convert: WorkerLimits,
    /// Limits for unpacking an archive.
    pub unpack: WorkerLimits,
    /// Limits for parsing an OpenAPI specification.
    pub read_spec: WorkerLimits,
}

impl WorkerOptions {
    /// Returns the limits for a kind of job.
    #[must_use]
    pub const fn limits(&self, kind: JobKind) -> &WorkerLimits {
        match kind {
            JobKind::Render => &self.render,
            JobKind::Convert => &self.convert,
            JobKind::Unpack => &self.unpack,
            JobKind::ReadSpec => &self.read_spec,
        }
    }
}

/// Maximum memory for rendering a PDF file, in bytes.
const RENDER_MEMORY_LIMIT: u64 = 1 << 30;

/// One process per core, with 512 MiB of memory, or 1 GiB for a PDF file. The wall-clock limits are 75 seconds for a
/// PDF file (of at most 256 MiB), 60 seconds for a file of an import, and 30 seconds for a specification.
impl Default for WorkerOptions {
    fn default() -> Self {
        let import = WorkerLimits {
            memory: 512 << 20,
            cpu: Duration::from_secs(45),
            wall: Duration::from_secs(60),
            answer: 256 << 20,
        };
        Self {
            at_once: std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            start: Duration::from_secs(20),
            render: WorkerLimits {
                memory: RENDER_MEMORY_LIMIT,
                cpu: Duration::from_secs(120),
                wall: Duration::from_secs(75),
                ..import
            },
            convert: import,
            unpack: import,
            read_spec: WorkerLimits { cpu: Duration::from_secs(20), wall: Duration::from_secs(30), ..import },
        }
    }
}
