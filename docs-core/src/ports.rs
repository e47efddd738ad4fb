//! What the outside does for the platform, from the crate `docs-ports`.

pub use docs_ports::*;
