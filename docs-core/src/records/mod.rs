//! The stored form of each resource, and the index rows derived from it.
//!
//! Records do not contain the computed fields of the resources in [`model`](crate::model), such as permissions, URLs
//! and counts. Fields are never renamed and never change their type. New fields must have a default.

mod agent_feedback;
mod collection;
mod comment;
mod content;
mod grant;
mod idempotency;
mod invite;
mod member;
mod openapi_spec;
mod people;
mod review;
mod saml;
mod site;
mod site_findings;
mod site_settings;
mod site_structure;
mod space;
mod team;
mod translation;
mod upload;

pub use crate::store::{
    AuditRecord, MAX_AUDITED,
    jobs::{JobLine, JobRecord, JobState},
    key::COUNTERS,
};
pub use agent_feedback::*;
pub use collection::*;
pub use comment::*;
pub use content::*;
pub use grant::*;
pub use idempotency::*;
pub use invite::*;
pub use member::*;
pub use openapi_spec::*;
pub use people::*;
pub use review::*;
pub use saml::*;
pub use site::*;
pub use site_findings::*;
pub use site_settings::*;
pub use site_structure::*;
pub use space::*;
pub use team::*;
pub use translation::*;
pub use upload::*;

use collection::{CHILDREN, child_rows};

use crate::{
    model::{OrgId, UserId},
    store::{Key, KeyBuf, RecordKind, Value},
};

/// All record kinds, for the store registry.
pub(crate) const KINDS: &[RecordKind] = &[
    RecordKind::of::<UserRecord>(),
    RecordKind::of::<TokenRecord>(),
    RecordKind::of::<OrgRecord>(),
    RecordKind::of::<MemberRecord>(),
    RecordKind::of::<LinkInviteRecord>(),
    RecordKind::of::<EmailInviteRecord>(),
    RecordKind::of::<TeamRecord>(),
    RecordKind::of::<TeamMemberRecord>(),
    RecordKind::of::<GrantRecord>(),
    RecordKind::of::<SamlProviderRecord>(),
    RecordKind::of::<SamlAssertionRecord>(),
    RecordKind::of::<SamlRefusalRecord>(),
    RecordKind::of::<CollectionRecord>(),
    RecordKind::of::<SpaceRecord>(),
    RecordKind::of::<RevisionRecord>(),
    RecordKind::of::<ChangeRequestRecord>(),
    RecordKind::of::<CommentRecord>(),
    RecordKind::of::<ReplyRecord>(),
    RecordKind::of::<ReviewRecord>(),
    RecordKind::of::<RequestedReviewerRecord>(),
    RecordKind::of::<SiteRecord>(),
    RecordKind::of::<SectionRecord>(),
    RecordKind::of::<SectionGroupRecord>(),
    RecordKind::of::<ExternalLinkRecord>(),
    RecordKind::of::<SiteSpaceRecord>(),
    RecordKind::of::<CustomizationRecord>(),
    RecordKind::of::<ShareLinkRecord>(),
    RecordKind::of::<SiteAuthRecord>(),
    RecordKind::of::<RedirectRecord>(),
    RecordKind::of::<AdaptiveRecord>(),
    RecordKind::of::<SiteFindingsRecord>(),
    RecordKind::of::<TranslationRecord>(),
    RecordKind::of::<TranslationMemoryRecord>(),
    RecordKind::of::<GlossaryRecord>(),
    RecordKind::of::<OpenApiSpecRecord>(),
    RecordKind::of::<OpenApiSpecVersionRecord>(),
    RecordKind::of::<JobRecord>(),
    RecordKind::of::<AuditRecord>(),
    RecordKind::of::<IdempotencyRecord>(),
    RecordKind::of::<UploadRecord>(),
    RecordKind::of::<AgentFeedbackRecord>(),
];

/// Returns the key of the counter `what` that belongs to an owner.
#[must_use]
pub fn counter(owner: &str, what: &str) -> Key {
    KeyBuf::new(COUNTERS).part(owner).part(what).key()
}

/// Returns the key of the counter `what` that belongs to a member of an organization.
#[must_use]
pub fn member_counter(organization: &OrgId, user: &UserId, what: &str) -> Key {
    KeyBuf::new(COUNTERS).part(organization.as_str()).part(user.as_str()).part(what).key()
}

/// Returns the key of a unique value. Values are compared ignoring case.
fn unique(what: &str, scope: &str, value: &str) -> Key {
    KeyBuf::new("u").part(what).part(scope).part(&value.to_lowercase()).key()
}

/// Builds a row value that contains a string, such as the id in a unique index.
fn text(text: &str) -> Value {
    Value::Json(serde_json::Value::from(text).to_string().into())
}
