//! A documentation platform as a library: organizations and people, spaces with pages, files and history, change
//! requests, sites, import from Git.
//!
//! A [`Platform`] is made of a [`Store`](store::Store), its [`Objects`](store::Objects) and a few [`ports`]. Who acts
//! is said first, [`as_user`](Platform::as_user) for example; from the [`Caller`](platform::Caller) nouns lead to
//! nouns, and their methods are the operations.
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
//! | module | what it holds | look here to |
//! |---|---|---|
//! | [`platform`] | the operations, one file a noun | do something |
//! | [`model`] | resources, requests, ids, limits | know what a thing looks like |
//! | [`policy`] | who may do what | know why something is refused |
//! | [`content`] | revisions, edits, merges, Markdown, the Git format | work on text itself |
//! | [`records`] | what is stored of each resource | read a store that you did not write |
//! | [`store`] | the contract of a store and what all stores share | write a store |
//! | [`ports`] | what the outside does | plug in a clock, a Git reader |
//!
//! Operations, policy and records are of this crate. The other modules re-export crates that can be used alone:
//! `docs-model`, `docs-content` with `docs-markup` and `docs-expression`, `docs-store`, `docs-ports`.
//!
//! The crate opens no socket, spawns no task, and takes time and chance from its ports only. Background work is jobs
//! in the store: the host runs [`Platform::work`], a test calls [`Platform::settle`].

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
