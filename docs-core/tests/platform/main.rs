//! The platform over the store in memory.

mod edits;
mod faults;
mod git;
mod jobs;
mod lists;
mod pdf;
mod setup;
mod spaces;
mod states;
mod support;
mod tidy;
