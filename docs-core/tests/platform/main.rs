//! The platform over the store in memory.

mod edits;
mod faults;
mod git;
mod jobs;
mod lists;
mod search;
mod setup;
mod spaces;
mod states;
mod support;
mod tidy;
