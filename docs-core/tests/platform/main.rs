//! The platform over the store in memory.

mod audit;
mod collections;
mod comments;
mod edits;
mod faults;
mod git;
mod git_merge;
mod imports;
mod invites;
mod jobs;
mod links;
mod lists;
mod members;
mod pdf;
mod permissions;
mod reviews;
mod revisions;
mod search;
mod setup;
mod spaces;
mod states;
mod support;
mod teams;
mod tidy;
mod tokens;
