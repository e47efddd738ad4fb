//! Records of translations of spaces.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::counter;
use crate::{
    model::{
        GlossaryEntries, GlossaryTermId, JobId, OrgId, PageId, ReusableId, RevisionId, SpaceId, TermTexts,
        Timestamp, TranslationId, TranslationLanguage, TranslationStats, UserId,
    },
    store::{Entity, Hash, Indexed, Key, KeyBuf, Owner, Row, Value},
};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TranslationRecord {
    pub id: TranslationId,
    pub organization: OrgId,
    /// The space to translate.
    pub source: SpaceId,
    pub source_language: TranslationLanguage,
    /// The space that receives the translated content.
    pub target: SpaceId,
    /// The language of `target`.
    pub language: TranslationLanguage,
    /// Instructions to the translator, as Markdown.
    #[serde(default)]
    pub instructions: String,
    /// The instructions as they were sent, a document as JSON. Empty for instructions from before the introduction of
    /// this field.
    #[serde(default)]
    pub instructions_document: String,
    /// The creator, who is also the author of the translation's revisions.
    pub created_by: UserId,
    pub created_at: Timestamp,
    /// The time of the last change to the translation or its result.
    pub updated_at: Timestamp,
    /// Number of requests for a full run.
    #[serde(default)]
    pub asked: u64,
    /// The last enqueued job.
    #[serde(default)]
    pub job: Option<JobId>,
    /// The result of the last run.
    #[serde(default)]
    pub done: Option<TranslationOutcome>,
    /// Statistics over all runs.
    #[serde(default)]
    pub stats: TranslationStats,
    /// Number of words sent to the translator since the last completed run.
    #[serde(default)]
    pub spent_words: u64,
}

/// The result of a translation run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TranslationOutcome {
    /// Root hash of the translated source content.
    pub source_root: Hash,
    /// Root hash of the translator's output, without later changes by users in the target space.
    pub root: Hash,
    /// The revision of the target space visible to readers.
    pub revision: RevisionId,
    /// Hash of the other inputs of the translation: translator, languages, instructions and glossary.
    pub settings: Hash,
    /// The value of [`TranslationRecord::asked`] when the run began.
    #[serde(default)]
    pub asked: u64,
    /// Items with segments whose translation failed. The next run retries them.
    #[serde(default)]
    pub failed: BTreeSet<TranslatedItemId>,
}

impl Entity for TranslationRecord {
    const KIND: &'static str = "trn";
}

impl TranslationRecord {
    #[must_use]
    pub fn key_for(id: &TranslationId) -> Key {
        KeyBuf::new(Self::KIND).part(id.as_str()).key()
    }

    /// Index of the translations of an organization, by creation time.
    #[must_use]
    pub fn by_org(organization: &OrgId) -> KeyBuf {
        KeyBuf::new("trn.o").part(organization.as_str())
    }

    /// Index of the translations of a source space.
    #[must_use]
    pub fn by_source(space: &SpaceId) -> KeyBuf {
        KeyBuf::new("trn.s").part(space.as_str())
    }

    /// Index of the translation that writes to a target space.
    #[must_use]
    pub fn by_target(space: &SpaceId) -> KeyBuf {
        KeyBuf::new("trn.t").part(space.as_str())
    }

    /// Counter of the translations of an organization.
    #[must_use]
    pub fn count_in(organization: &OrgId) -> Key {
        counter(organization.as_str(), "translations")
    }
}

impl Indexed for TranslationRecord {
    const INDEXES: &'static [&'static str] = &["trn.o", "trn.s", "trn.t", "ctr"];
    fn key(&self) -> Key {
        Self::key_for(&self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let id = self.id.as_str();
        let of_org = Self::by_org(&self.organization).time(self.created_at.time()).part(id);
        vec![
            Row::Index(of_org.key(), Value::Unit),
            Row::Index(Self::by_source(&self.source).part(id).key(), Value::Unit),
            Row::Index(Self::by_target(&self.target).part(id).key(), Value::Unit),
            Row::Count(Self::count_in(&self.organization)),
        ]
    }
    fn owner(&self) -> Owner {
        Owner::Organization(self.organization.clone())
    }
}

/// An item with translatable segments: a page or a reusable content block.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TranslatedItemId {
    Page(PageId),
    Reusable(ReusableId),
}

/// A part of the translated segments of a page or reusable content block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TranslationMemoryRecord {
    pub translation: TranslationId,
    /// The item that contains the segments.
    pub thing: TranslatedItemId,
    /// The part number, starting at 0.
    pub part: u64,
    /// Translations, keyed by a hash of the segment and all other inputs.
    pub segments: BTreeMap<Hash, String>,
}

impl Entity for TranslationMemoryRecord {
    const KIND: &'static str = "trm";
}

impl TranslationMemoryRecord {
    /// Prefix of the translation memory keys of a translation.
    #[must_use]
    pub fn by_translation(translation: &TranslationId) -> KeyBuf {
        KeyBuf::new(Self::KIND).part(translation.as_str())
    }

    /// Prefix of the translation memory keys of a page or reusable content block, whose memory is stored in parts.
    #[must_use]
    pub fn by_item(translation: &TranslationId, thing: &TranslatedItemId) -> KeyBuf {
        let of = Self::by_translation(translation);
        match thing {
            TranslatedItemId::Page(id) => of.part("p").part(id.as_str()),
            TranslatedItemId::Reusable(id) => of.part("r").part(id.as_str()),
        }
    }
}

impl Indexed for TranslationMemoryRecord {
    fn key(&self) -> Key {
        Self::by_item(&self.translation, &self.thing).number(self.part).key()
    }
    fn owner(&self) -> Owner {
        Owner::As(TranslationRecord::key_for(&self.translation))
    }
}

/// The glossary of an organization.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GlossaryRecord {
    pub organization: OrgId,
    pub entries: GlossaryEntries,
    /// The entries in several languages, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub terms: Vec<GlossaryTermRecord>,
    pub updated_at: Timestamp,
}

/// An entry of a glossary in several languages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GlossaryTermRecord {
    pub id: GlossaryTermId,
    pub texts: TermTexts,
    /// Creation time, unique within the glossary.
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Entity for GlossaryRecord {
    const KIND: &'static str = "gls";
}

impl GlossaryRecord {
    #[must_use]
    pub fn key_for(organization: &OrgId) -> Key {
        KeyBuf::new(Self::KIND).part(organization.as_str()).key()
    }
}

impl Indexed for GlossaryRecord {
    fn key(&self) -> Key {
        Self::key_for(&self.organization)
    }
    fn owner(&self) -> Owner {
        Owner::Organization(self.organization.clone())
    }
}
