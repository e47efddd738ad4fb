//! The resources of the platform and their limits: one definition each, used by the Rust API and the wire alike.

mod id;
mod page;

pub use id::*;
pub use page::*;
