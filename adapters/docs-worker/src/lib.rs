//! Work on what others wrote, in processes of their own.
//!
//! The libraries that set PDF files and that read HTML, Word documents, archives and OpenAPI specifications are large,
//! and what they read may have been made to harm them. A panic can be caught; a stack that is full, memory that is used
//! up and a loop that does not end cannot: they take the whole server along. So each such job gets a process: the same
//! program, started once more, that puts limits on itself before it reads what it shall do, answers, and ends.
//!
//! - [`WorkerPool`] is the side of the server. It is the ports [`Pdf`](docs_ports::Pdf),
//!   [`Converter`](docs_ports::Converter) and [`SpecReader`](docs_ports::SpecReader): it starts a process for each
//!   job, hands the job over, reads the answer and says clearly why there is none.
//! - [`Worker`] is the side of the process. A program runs it for a command of its own that no user needs to know, with
//!   the adapters that do the work.
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
//! # What contains a process
//!
//! | | Linux | other Unix | elsewhere |
//! |---|---|---|---|
//! | wall-clock time, size of the answer | the server ends it | the same | the same |
//! | time of computing | `RLIMIT_CPU` | the same | – |
//! | memory | `RLIMIT_DATA` | `RLIMIT_AS`, as far as the system heeds it | – |
//! | files: none written, few open, none of a crash | `RLIMIT_FSIZE`, `RLIMIT_NOFILE`, `RLIMIT_CORE` | the same | – |
//! | no privileges by running programs | `no_new_privs` | – | – |
//! | environment without the server's secrets | cleared | the same | the same |
//! | ends with the server | its standard input closes | the same | the same |
//!
//! A process can still read files and open connections as the server can: what is not contained is a library that runs
//! foreign code. The adapters that are given to it name no file and no address of their own.

mod contain;
mod fault;
mod frames;
mod job;
mod options;
mod pool;
mod process;
mod program;
mod spec;
mod worker;

pub use options::{JobKind, WorkerLimits, WorkerOptions};
pub use pool::WorkerPool;
pub use program::Program;
pub use worker::Worker;
