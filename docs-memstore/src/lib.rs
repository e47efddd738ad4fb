//! The store in memory, and what tests need around it.
//!
//! [`MemStore`] keeps records as live values behind one lock and is the strictest of the stores: whatever it accepts,
//! every store accepts. [`MemObjects`] keeps immutable content. [`FaultStore`] makes any store fail on demand.
//! [`MemSearch`] is a search index, and [`FaultSearch`] makes any one fail or wait. [`MemGit`] is a Git
//! repository, [`MemWeb`] a web. [`ManualClock`] and [`SeededIds`] replace time and chance.

mod clock;
mod fault;
mod fault_search;
mod feed;
mod git;
mod ids;
mod inner;
mod key_locks;
mod objects;
mod registry;
mod rng;
mod search;
mod store;
mod web;

pub use clock::ManualClock;
pub use fault::{Fault, FaultStore, Plan, Rates, Step};
pub use fault_search::FaultSearch;
pub use git::{MemBranch, MemCommit, MemGit, MemPushFault, MemRefs, MemRepository};
pub use ids::SeededIds;
pub use objects::MemObjects;
pub use search::MemSearch;
pub use store::{Form, MemStore, Stats};
pub use web::MemWeb;
