//! The data model of the platform: resources, requests and their limits, shared by the Rust API and the HTTP API.
//!
//! Each type enforces its limits on deserialization with serde and derives its JSON Schema from the same definition.
//! The OpenAPI document is built from these schemas.
//!
//! The crate also contains types shared by the layers above: the [`Error`](error::Error) of operations, the content
//! [`Hash`](hash::Hash), and positions in the change feed ([`FeedPos`](feed::FeedPos)).

mod account;
mod adaptive;
mod audit;
mod basename;
mod bounded_text;
mod bounded_vec;
mod change_request;
mod changes;
mod collection;
mod color;
mod comment;
mod condition;
mod content_edit;
mod content_ref;
mod customization;
mod document;
mod document_input;
mod email_domain;
mod emoji;
pub mod error;
pub mod feed;
mod file_size;
mod formed_text;
mod git;
mod git_sync;
pub mod hash;
mod hostname;
mod icon;
mod id;
mod import;
mod invite;
mod job;
mod link;
mod list;
mod media_type;
mod member;
mod openapi_spec;
mod org;
mod org_type;
mod page;
mod page_bounds;
mod page_fields;
mod page_parts;
mod page_size;
mod page_type;
mod patch;
mod pdf;
mod permission;
mod proxy_origin;
mod published;
mod publishing_auth;
mod rank;
mod redact;
mod redirect;
mod review;
mod revision;
mod revision_content;
mod role;
mod saml;
#[cfg(feature = "schema")]
pub mod schema;
mod search;
mod share_link;
mod site;
mod site_hostname;
mod site_path;
mod site_space;
mod site_structure;
mod space;
mod team;
mod timestamp;
mod translation;
mod typed_value;
mod url;
mod user;
pub mod web_url;

pub use account::*;
pub use adaptive::*;
pub use audit::*;
pub use basename::*;
pub use bounded_text::*;
pub use bounded_vec::*;
pub use change_request::*;
pub use changes::*;
pub use collection::*;
pub use color::*;
pub use comment::*;
pub use condition::*;
pub use content_edit::*;
pub use content_ref::*;
pub use customization::*;
pub use document::*;
pub use document_input::*;
pub use email_domain::*;
pub use emoji::*;
pub use file_size::*;
pub use git::*;
pub use git_sync::*;
pub use hostname::*;
pub use icon::*;
pub use id::*;
pub use import::*;
pub use invite::*;
pub use job::*;
pub use link::*;
pub use list::{List, NextPage};
pub use media_type::*;
pub use member::*;
pub use openapi_spec::*;
pub use org::*;
pub use org_type::*;
pub use page::*;
pub use page_bounds::*;
pub use page_fields::*;
pub use page_parts::*;
pub use page_size::*;
pub use page_type::*;
pub use patch::*;
pub use pdf::*;
pub use permission::*;
pub use proxy_origin::*;
pub use published::*;
pub use publishing_auth::*;
pub use rank::*;
pub use redact::*;
pub use redirect::*;
pub use review::*;
pub use revision::*;
pub use revision_content::*;
pub use role::*;
pub use saml::*;
pub use search::*;
pub use share_link::*;
pub use site::*;
pub use site_hostname::*;
pub use site_path::*;
pub use site_space::*;
pub use site_structure::*;
pub use space::*;
pub use team::*;
pub use timestamp::*;
pub use translation::*;
pub use url::*;
pub use user::*;

/// A boxed future, returned by the operations of the platform.
///
/// A boxed operation is compiled once, in its own crate, instead of in each program and test that calls it. The cost is
/// one allocation per call.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;
