//! Tests of the in-memory store: the conformance suite on each of its forms, and its specific behavior.

mod broken;
mod faults;
mod forms;
mod git;
mod memory;
mod oracle;
mod search;
