//! Records of feedback that AI agents submit to sites.

use serde::{Deserialize, Serialize};

use super::{SiteRecord, counter};
use crate::{
    model::{
        AgentFeedbackContent, AgentFeedbackId, AgentFeedbackPage, AgentFeedbackReportedBy,
        AgentFeedbackSubject, SiteId, Timestamp,
    },
    store::{Entity, Indexed, Key, KeyBuf, Owner, Row, Value},
};

/// Feedback of an AI agent. It does not contain the caller, who acts for a user that must stay anonymous.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentFeedbackRecord {
    pub id: AgentFeedbackId,
    pub site: SiteId,
    pub created_at: Timestamp,
    #[serde(default)]
    pub reported_by: Option<AgentFeedbackReportedBy>,
    pub subject: AgentFeedbackSubject,
    pub feedback: AgentFeedbackContent,
    /// The page, for feedback in the form for pages.
    #[serde(default)]
    pub page: Option<AgentFeedbackPage>,
}

impl Entity for AgentFeedbackRecord {
    const KIND: &'static str = "afb";
}

impl AgentFeedbackRecord {
    #[must_use]
    pub fn key_for(id: &AgentFeedbackId) -> Key {
        KeyBuf::new(Self::KIND).part(id.as_str()).key()
    }

    /// Index of the feedback of a site, by submission time.
    #[must_use]
    pub fn by_site(site: &SiteId) -> KeyBuf {
        KeyBuf::new("afb.t").part(site.as_str())
    }

    /// Counter of the feedback of a site.
    #[must_use]
    pub fn count_in(site: &SiteId) -> Key {
        counter(site.as_str(), "agentFeedback")
    }
}

impl Indexed for AgentFeedbackRecord {
    const INDEXES: &'static [&'static str] = &["afb.t", "ctr"];
    fn key(&self) -> Key {
        Self::key_for(&self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let row = Self::by_site(&self.site).time(self.created_at.time()).part(self.id.as_str());
        vec![Row::Index(row.key(), Value::Unit), Row::Count(Self::count_in(&self.site))]
    }
    fn owner(&self) -> Owner {
        Owner::As(SiteRecord::key_for(&self.site))
    }
}
