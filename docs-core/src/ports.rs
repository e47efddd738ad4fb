//! Ports of the platform: traits for everything outside the process. Re-exports the crate `docs-ports`.

pub use docs_ports::*;
