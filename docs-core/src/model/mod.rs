//! The resources of the platform and their limits: one definition each, used by the Rust API and the wire alike.
//!
//! Every type parses with serde exactly what the wire allows and tells its JSON Schema, so the OpenAPI document is
//! made from the same lines that enforce it.

mod change_request;
mod customization;
mod document;
mod id;
mod list;
mod org;
mod page;
mod pdf;
mod revision;
mod role;
mod site;
mod space;
mod text;
mod user;

pub use change_request::*;
pub use customization::*;
pub use document::*;
pub use id::*;
pub use list::{List, NextPage};
pub use org::*;
pub use page::*;
pub use pdf::*;
pub use revision::*;
pub use role::*;
pub use site::*;
pub use space::*;
pub use text::*;
pub use user::*;
