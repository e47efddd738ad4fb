//! The platform over the store in memory.

mod comments;
mod edits;
mod faults;
mod git;
mod jobs;
mod lists;
mod reviews;
mod setup;
mod spaces;
mod states;
mod support;
mod tidy;
