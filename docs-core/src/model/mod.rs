//! The resources of the platform and their limits: one definition each, used by the Rust API and the wire alike.
//!
//! Every type parses with serde exactly what the wire allows and tells its JSON Schema, so the OpenAPI document is
//! made from the same lines that enforce it.

mod change_request;
mod changes;
mod collection;
mod comment;
mod customization;
mod document;
mod id;
mod import;
mod invite;
mod link;
mod list;
mod member;
mod org;
mod page;
mod pdf;
mod permission;
mod rank;
mod review;
mod revision;
mod role;
mod saml;
mod search;
mod site;
mod space;
mod team;
mod text;
mod user;

pub use change_request::*;
pub use changes::*;
pub use collection::*;
pub use comment::*;
pub use customization::*;
pub use document::*;
pub use id::*;
pub use import::*;
pub use invite::*;
pub use link::*;
pub use list::{List, NextPage};
pub use member::*;
pub use org::*;
pub use page::*;
pub use pdf::*;
pub use permission::*;
pub use rank::*;
pub use review::*;
pub use revision::*;
pub use role::*;
pub use saml::*;
pub use search::*;
pub use site::*;
pub use space::*;
pub use team::*;
pub use text::*;
pub use user::*;
