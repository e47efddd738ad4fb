//! Processing of untrusted documents in separate processes with limited resources.
//!
//! The libraries that create PDF files and that read HTML, Word documents, archives and OpenAPI specifications are
//! large, and their input may be malicious. A panic can be caught, but stack overflows, memory exhaustion and endless
//! loops cannot, and would bring down the server. Each job therefore runs in a separate process. The server starts its
//! own executable as a worker, which sets limits on itself before it reads the job, sends the answer, and exits.
//!
//! - [`WorkerPool`] is the server side. It implements the ports [`Pdf`](docs_ports::Pdf),
//!   [`Converter`](docs_ports::Converter) and [`SpecReader`](docs_ports::SpecReader): it starts a process for each job,
//!   sends the job, reads the answer, and reports the reason of a failure.
//! - [`Worker`] is the process side. A program runs it in an internal command, with the adapters that process
//!   documents.
//!
//! ```no_run
//! use std::{process::ExitCode, sync::Arc};
//!
//! use docs_ports::{Converter, Pdf};
//! use docs_worker::{Program, Worker, WorkerOptions, WorkerPool};
//!
//! # fn typesetter() -> Arc<dyn Pdf> { unimplemented!() }
//! # fn converter() -> Arc<dyn Converter> { unimplemented!() }
//! fn main() -> ExitCode {
//!     if std::env::args().nth(1).as_deref() == Some("worker") {
//!         return Worker::new().pdf(|| Ok(typesetter())).converter(|| Ok(converter())).run();
//!     }
//!     let program = Program::current().expect("this program").arg("worker");
//!     let pool = Arc::new(WorkerPool::new(program, WorkerOptions::default()));
//!     // Platform::builder(store, objects).pdf(pool.clone()).converter(pool) …
//!     ExitCode::SUCCESS
//! }
//! ```
//!
//! # Containment of a process
//!
//! | | Linux | other Unix | elsewhere |
//! |---|---|---|---|
//! | wall-clock time, size of the answer | enforced by the server | the same | the same |
//! | CPU time | `RLIMIT_CPU` | the same | – |
//! | memory | `RLIMIT_DATA` | `RLIMIT_AS`, if the system enforces it | – |
//! | no file writes, few open files, no core dumps | `RLIMIT_FSIZE`, `RLIMIT_NOFILE`, `RLIMIT_CORE` | the same | – |
//! | no privilege escalation by executing programs | `no_new_privs` | – | – |
//! | environment without the server's secrets | cleared | the same | the same |
//! | exits with the server | standard input closes | the same | the same |
//!
//! A process can still read files and open connections with the permissions of the server, so code execution through a
//! vulnerable library is not contained. The adapters themselves open neither files nor connections.

mod contain;
mod fault;
mod frames;
mod job;
mod options;
mod pool;
mod process;
mod program;
mod refusal;
mod spec;
mod worker;

pub use options::{JobKind, WorkerLimits, WorkerOptions};
pub use pool::WorkerPool;
pub use program::Program;
pub use worker::Worker;
