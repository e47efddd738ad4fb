//! The store in memory, and what tests need around it.
//!
//! [`MemStore`] keeps records as live values behind one lock and is the strictest of the stores: whatever it accepts,
//! every store accepts. [`MemObjects`] keeps immutable content. [`FaultStore`] makes any store fail on demand.
//! [`MemSearch`] is a search index. [`ManualClock`] and [`SeededIds`] replace time and chance.

mod clock;
mod fault;
mod feed;
mod ids;
mod inner;
mod key_locks;
mod objects;
mod registry;
mod rng;
mod search;
mod store;

pub use clock::ManualClock;
pub use fault::{Fault, FaultStore, Plan, Rates, Step};
pub use ids::SeededIds;
pub use objects::MemObjects;
pub use search::MemSearch;
pub use store::{Form, MemStore, Stats};
