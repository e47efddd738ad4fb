//! What is stored of each resource, with the rows that follow from it.
//!
//! Records differ from the resources of [`model`](crate::model) where a resource shows what is derived (permissions,
//! addresses, counts). A field is never renamed or re-typed; a new one has a default.

mod comment;
mod content;
mod job;
mod people;
mod review;
mod site;
mod space;

pub use comment::*;
pub use content::*;
pub use job::*;
pub use people::*;
pub use review::*;
pub use site::*;
pub use space::*;

use super::{Key, KeyBuf, Kind, Value};

/// Every kind of record, for the registry.
pub(super) const KINDS: &[Kind] = &[
    Kind::of::<UserRecord>(),
    Kind::of::<TokenRecord>(),
    Kind::of::<OrgRecord>(),
    Kind::of::<MemberRecord>(),
    Kind::of::<SpaceRecord>(),
    Kind::of::<RevisionRecord>(),
    Kind::of::<ChangeRequestRecord>(),
    Kind::of::<CommentRecord>(),
    Kind::of::<ReplyRecord>(),
    Kind::of::<ReviewRecord>(),
    Kind::of::<RequestedReviewerRecord>(),
    Kind::of::<SiteRecord>(),
    Kind::of::<SiteSpaceRecord>(),
    Kind::of::<JobRecord>(),
];

/// Class of the counters that records keep.
pub const COUNTERS: &str = "ctr";

/// The counter of something an owner has.
#[must_use]
pub fn counter(owner: &str, what: &str) -> Key {
    KeyBuf::new(COUNTERS).part(owner).part(what).key()
}

/// The key of a unique value.
fn unique(what: &str, scope: &str, value: &str) -> Key {
    KeyBuf::new("u").part(what).part(scope).part(&value.to_lowercase()).key()
}

/// A row value that holds a text, such as the id a unique value leads to.
fn text(text: &str) -> Value {
    Value::Json(serde_json::Value::from(text).to_string().into())
}
