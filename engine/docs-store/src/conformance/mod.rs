//! The conformance suite: the contract of [`Store`] and [`Objects`] as tests that every store runs, all of them.
//! One group, [`above`], holds for the machinery that every store shares, run over the store.
//!
//! Each guarantee is one function; its first sentence is the requirement. A store crate implements [`Factory`] and
//! writes one line, which makes a test of each:
//!
//! ```text
//! docs_store::suite!(MyFactory::new());
//! ```
//!
//! The crate needs tokio with `macros` and `rt-multi-thread` among its dev-dependencies.
//!
//! A store that fails now and then on purpose runs [`suite_despite_faults!`](crate::suite_despite_faults): the
//! guarantees that hold however often a call answers [`Conflict`](super::StoreError::Conflict) or
//! [`Unavailable`](super::StoreError::Unavailable). The others promise that it does not.
//!
//! # Keys
//! The suite writes records of the kind `note` under `note!…`, index entries (units and JSON) under `cf!…`, numbers
//! under `num!…` and counters, which are only ever added to, under `ctr!…`. A store that keeps classes apart may count
//! on that.

pub mod above;
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
mod suite;
pub mod version;

use std::{future::Future, sync::Arc, time::Duration};

use async_trait::async_trait;

use super::{Hash, Objects, Store};

pub use history::{Anomaly, History, Workload};
pub use kit::{Note, Plain};
pub use script::{Model, Script, Seen};

/// Makes what a test needs. A test has a factory of its own and calls [`store`](Factory::store) and
/// [`objects`](Factory::objects) at most once each.
#[async_trait]
pub trait Factory: Send + Sync {
    /// A fresh, empty store.
    async fn store(&self) -> Arc<dyn Store>;

    /// A fresh, empty store of objects.
    async fn objects(&self) -> Arc<dyn Objects>;

    /// Ends the store as a crash of its process would, without closing anything in order, and opens what it left.
    ///
    /// A store that promises nothing beyond its process answers the same store.
    async fn reopen(&self, store: Arc<dyn Store>) -> Arc<dyn Store>;

    /// Lets time pass for the store and the objects: after it, a transaction is older and an object longer untouched.
    async fn pass(&self, by: Duration);

    /// Damages the stored bytes of an object, behind the back of [`objects`](Factory::objects).
    async fn damage(&self, domain: &str, hash: Hash);
}

/// How long a test of the suite may take before it counts as hanging.
const HANG: Duration = Duration::from_secs(120);

/// Runs one test of the suite.
///
/// # Panics
/// When the store breaks the contract, and when the test does not end.
pub async fn run(test: impl Future<Output = ()> + Send) {
    assert!(tokio::time::timeout(HANG, test).await.is_ok(), "the test hangs");
}
