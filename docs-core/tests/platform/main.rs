//! The platform over the store in memory.

mod comments;
mod edits;
mod faults;
mod git;
mod git_merge;
mod jobs;
mod links;
mod lists;
mod pdf;
mod reviews;
mod revisions;
mod setup;
mod spaces;
mod states;
mod support;
mod tidy;
