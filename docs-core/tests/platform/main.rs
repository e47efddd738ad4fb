//! The platform over the store in memory.

mod spaces;
mod support;
