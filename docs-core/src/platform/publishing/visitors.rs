//! Visitors of published sites: their identity, their access, and the content they see.

pub(in crate::platform) mod admit;
mod decider;
pub(in crate::platform) mod file_bearer;
pub(in crate::platform) mod jwt;
pub(in crate::platform) mod member;
mod moment;
pub(in crate::platform) mod pass;
mod reader;

pub use self::moment::Moment;
pub(in crate::platform) use self::{
    admit::{Admitted, Visit},
    file_bearer::{MAX_SEALED_CLAIMS, VisitorBearer},
    reader::{ContentFilter, Reader, UNSIGNED, VisitorClaims},
};
