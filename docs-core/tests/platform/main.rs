//! The platform over the store in memory.

mod audit;
mod comments;
mod edits;
mod faults;
mod git;
mod git_merge;
mod imports;
mod jobs;
mod links;
mod lists;
mod pdf;
mod reviews;
mod revisions;
mod search;
mod setup;
mod spaces;
mod states;
mod support;
mod tidy;
mod tokens;
