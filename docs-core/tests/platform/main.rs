//! The platform over the store in memory.

mod spaces;
mod states;
mod support;
