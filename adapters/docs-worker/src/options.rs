//! What a job may take.

use std::{num::NonZeroUsize, time::Duration};

/// What a worker does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum JobKind {
    /// Sets a PDF file.
    Render,
    /// Turns a document into a page.
    Convert,
    /// Unpacks an archive.
    Unpack,
    /// Reads an OpenAPI specification.
    ReadSpec,
}

/// What one job may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WorkerLimits {
    /// Most bytes of memory that the process writes to. What the program itself needs is part of it.
    pub memory: u64,
    /// Most time of computing, of all threads together; counted in whole seconds, rounded up.
    pub cpu: Duration,
    /// Most time by the clock, from when the process is ready.
    pub wall: Duration,
    /// Most bytes of the answer.
    pub answer: u64,
}

/// How a [`WorkerPool`](crate::WorkerPool) works.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorkerOptions {
    /// Most processes at once; further jobs wait.
    pub at_once: NonZeroUsize,
    /// Most time until a process is ready. One that takes longer is taken for a program that is no worker.
    pub start: Duration,
    /// What setting a PDF file may take.
    pub render: WorkerLimits,
    /// What converting a document may take.
    pub convert: WorkerLimits,
    /// What unpacking an archive may take.
    pub unpack: WorkerLimits,
    /// What reading an OpenAPI specification may take.
    pub read_spec: WorkerLimits,
}

impl WorkerOptions {
    /// The limits of a kind of work.
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

/// One process for each core; a gibibyte each; a PDF file of 256 MiB within 75 seconds, the files of one import within
/// 60, a specification within 30.
impl Default for WorkerOptions {
    fn default() -> Self {
        let import = WorkerLimits {
            memory: 1 << 30,
            cpu: Duration::from_secs(45),
            wall: Duration::from_secs(60),
            answer: 256 << 20,
        };
        Self {
            at_once: std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            start: Duration::from_secs(20),
            render: WorkerLimits { cpu: Duration::from_secs(120), wall: Duration::from_secs(75), ..import },
            convert: import,
            unpack: import,
            read_spec: WorkerLimits { cpu: Duration::from_secs(20), wall: Duration::from_secs(30), ..import },
        }
    }
}
