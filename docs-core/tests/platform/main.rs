//! The platform over the store in memory.

mod edits;
mod faults;
mod git;
mod git_merge;
mod jobs;
mod lists;
mod revisions;
mod setup;
mod spaces;
mod states;
mod support;
mod tidy;
