//! The tests of the store in memory: the conformance suite over each of its forms, and what is special to it.

mod broken;
mod faults;
mod forms;
mod git;
mod memory;
mod oracle;
mod search;
