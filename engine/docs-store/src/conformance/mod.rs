//! The conformance suite: tests for the contract of [`Store`] and [`Objects`] that every implementation must pass. The
//! group [`shared_machinery`] tests code of this crate on top of the store.
//!
//! Each function tests one guarantee, which its first sentence states. A store crate implements [`Factory`] and
//! generates the tests with one line:
//!
//! ```text
//! docs_store::suite!(MyFactory::new());
//! ```
//!
//! The crate needs tokio with `macros` and `rt-multi-thread` among its dev-dependencies.
//!
//! A store with injected faults runs [`suite_despite_faults!`](crate::suite_despite_faults), which contains the
//! guarantees that hold even if calls randomly return [`Conflict`](super::StoreError::Conflict) or
//! [`Unavailable`](super::StoreError::Unavailable). The other guarantees require calls to succeed.
//!
//! # Keys
//! The suite writes records of the kind `note` under `note!…`, index entries (units and JSON) under `cf!…`, numbers
//! under `num!…`, and counters, which only accept additions, under `ctr!…`. A store that separates classes can rely on
//! this.

pub mod atomicity;
pub mod basics;
pub mod counters;
pub mod feed;
pub mod history;
pub mod isolation;
mod kit;
pub mod objects;
pub mod progress;
mod script;
pub mod shared_machinery;
mod suite;
pub mod version;

use std::{future::Future, sync::Arc, time::Duration};

use async_trait::async_trait;

use super::{Hash, Objects, Store};

pub use history::{Anomaly, History, Workload};
pub use kit::{Note, Plain};
pub use script::{Model, Script, TxnReads};

/// Creates the stores for a test. Each test has its own factory and calls [`store`](Factory::store) and
/// [`objects`](Factory::objects) at most once each.
#[async_trait]
pub trait Factory: Send + Sync {
    /// Creates an empty store.
    async fn store(&self) -> Arc<dyn Store>;

    /// Creates an empty object store.
    async fn objects(&self) -> Arc<dyn Objects>;

    /// Terminates the store as a process crash would, without an orderly shutdown, and reopens its data.
    ///
    /// A store whose data does not outlive its process returns the same store.
    async fn reopen(&self, store: Arc<dyn Store>) -> Arc<dyn Store>;

    /// Advances the clock of the store and the object store, so that transactions and untouched objects age.
    async fn pass(&self, by: Duration);

    /// Damages the stored bytes of an object, bypassing [`objects`](Factory::objects).
    async fn damage(&self, domain: &str, hash: Hash);
}

/// Maximum duration of a test. A longer test is considered hanging.
const TEST_TIMEOUT: Duration = Duration::from_secs(120);

/// Runs one test of the suite.
///
/// # Panics
/// If the store violates the contract, or if the test does not end.
pub async fn run(test: impl Future<Output = ()> + Send) {
    assert!(tokio::time::timeout(TEST_TIMEOUT, test).await.is_ok(), "the test hangs");
}
