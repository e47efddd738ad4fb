//! The platform over the store in memory.

mod git;
mod spaces;
mod states;
mod support;
