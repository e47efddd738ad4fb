//! The ports of the platform: traits of everything outside the process, from the crate `docs-ports`.

pub use docs_ports::*;
