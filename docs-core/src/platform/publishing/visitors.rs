//! Visitors of published sites: identity, access, and visible content.

pub(in crate::platform) mod admit;
mod condition_work;
mod conditions;
pub(in crate::platform) mod content_token;
mod decision_budget;
mod decisions;
pub(in crate::platform) mod file_bearer;
pub(in crate::platform) mod jwt;
pub(in crate::platform) mod member;
pub(in crate::platform) mod preview;
mod reader;
mod uses;
mod view_version;

pub(in crate::platform) use self::{
    admit::{SpaceAdmission, Visit},
    decisions::UseDecisions,
    file_bearer::{MAX_SEALED_CLAIMS, VisitorBearer},
    reader::{ContentFilter, ContentReader, UNSIGNED, VisitorClaims},
};
pub use self::{condition_work::ConditionBudgets, view_version::AnonymousViewVersion};
