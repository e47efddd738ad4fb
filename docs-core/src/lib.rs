//! A documentation platform as a library: organizations and people, spaces with pages, files and history, change
//! requests, sites, and import from Git.
//!
//! A [`Platform`] is built from a [`Store`](store::Store), its [`Objects`](store::Objects) and a few [`ports`]. A
//! method such as [`as_user`](Platform::as_user) selects the actor and returns a [`Caller`](platform::Caller). From
//! there, each noun gives access to its children, and its methods are the operations.
//!
//! ```
//! use std::sync::Arc;
//! use docs_core::{Platform, model::CreateSpace, platform::NewUser};
//! use docs_memstore::{MemObjects, MemStore};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let platform = Platform::builder(Arc::new(MemStore::new()), Arc::new(MemObjects::new())).build();
//! let ada = NewUser { display_name: "Ada".parse()?, email: "ada@example.com".parse()? };
//! let ada = platform.as_platform().users().create(ada).await?;
//! let org = platform.as_platform().orgs().create("Engines".parse()?, &ada.id).await?.id;
//! let space = platform.as_user(&ada.id).org(&org).spaces().create(CreateSpace::default()).await?;
//! assert_eq!(&*space.title, "Untitled");
//! # Ok(())
//! # }
//! ```
//!
//! | module | contents | use it to |
//! |---|---|---|
//! | [`platform`] | the operations, one file per noun | call the platform |
//! | [`model`] | resources, requests, ids, limits | look up a resource or a limit |
//! | [`policy`] | permissions | find out why an operation is rejected |
//! | [`content`] | revisions, edits, merges, Markdown, the Git format | process content without a platform |
//! | [`records`] | the stored form of each resource | read an existing store |
//! | [`store`] | the store contract, and code shared by all stores | implement a store |
//! | [`ports`] | interfaces to the outside world | plug in a clock or a Git reader |
//!
//! Operations, policy and records are defined in this crate. The other modules re-export crates that can be used on
//! their own: `docs-model`, `docs-content` with `docs-markup` and `docs-expression`, `docs-store`, `docs-ports`.
//!
//! The crate opens no socket and spawns no task. Time and randomness come from its ports only. Background work is
//! stored as jobs: the embedding application runs [`Platform::work`], a test calls [`Platform::settle`].

pub mod content;
pub mod model;
pub mod platform;
pub mod policy;
pub mod ports;
pub mod records;
pub mod store;

pub use docs_model::{
    BoxFuture,
    error::{Error, ErrorKind, Result},
};
#[cfg(feature = "conformance")]
pub use docs_ports::search_suite;
#[cfg(feature = "conformance")]
pub use docs_store::{suite, suite_despite_faults, suite_tests};
pub use platform::{Actor, Platform};
