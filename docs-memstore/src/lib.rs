//! The in-memory store, and test implementations of the other ports.
//!
//! [`MemStore`] stores records as live values behind one lock. It is the strictest store: input that it accepts is
//! accepted by all stores. [`MemObjects`] stores immutable content. [`FaultStore`] injects faults into any store.
//! [`MemSearch`] is a search index, and [`FaultSearch`] makes any index fail or wait. [`MemGit`] is a Git repository,
//! [`MemWeb`] a set of web documents. [`ManualClock`] and [`SeededIds`] replace time and randomness.

mod clock;
mod fault;
mod fault_search;
mod feed;
mod git;
mod ids;
mod key_locks;
mod mvcc;
mod objects;
mod registry;
mod rng;
mod search;
mod store;
mod web;

pub use clock::ManualClock;
pub use fault::{CallKind, Fault, FaultPlan, FaultStore, Rates};
pub use fault_search::FaultSearch;
pub use git::{MemBranch, MemCommit, MemGit, MemPushFault, MemRefs, MemRepository};
pub use ids::SeededIds;
pub use objects::MemObjects;
pub use search::MemSearch;
pub use store::{Form, MemStore, Stats};
pub use web::MemWeb;
