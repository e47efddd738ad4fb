//! Translations of spaces.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::counter;
use crate::{
    model::{
        GlossaryEntries, JobId, OrgId, PageId, ReusableId, RevisionId, SpaceId, Timestamp, TranslationId,
        TranslationLanguage, TranslationStats, UserId,
    },
    store::{Entity, Hash, Indexed, Key, KeyBuf, Owner, Row, Value},
};

/// A translation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TranslationRecord {
    /// The id.
    pub id: TranslationId,
    /// The organization it belongs to.
    pub organization: OrgId,
    /// The space that is translated.
    pub source: SpaceId,
    /// The language of that space.
    pub source_language: TranslationLanguage,
    /// The space that holds the translated content.
    pub target: SpaceId,
    /// The language of that space.
    pub language: TranslationLanguage,
    /// What the translator is told, as Markdown.
    #[serde(default)]
    pub instructions: String,
    /// Who created it, and makes its revisions.
    pub created_by: UserId,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it, or its result, last changed.
    pub updated_at: Timestamp,
    /// How often somebody asked for a run over everything.
    #[serde(default)]
    pub asked: u64,
    /// The job that was enqueued last.
    #[serde(default)]
    pub job: Option<JobId>,
    /// What came of the last run.
    #[serde(default)]
    pub done: Option<TranslationDone>,
    /// What its runs did.
    #[serde(default)]
    pub stats: TranslationStats,
    /// Words that were sent to the translator since the last run came to its end.
    #[serde(default)]
    pub spent_words: u64,
}

/// What came of a run of a translation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TranslationDone {
    /// The root of the content that was translated.
    pub source_root: Hash,
    /// The root of what the translator made of it, without what people changed in the target.
    pub root: Hash,
    /// The revision of the target that a reader gets.
    pub revision: RevisionId,
    /// What the texts depend on besides: translator, languages, instructions and glossary.
    pub settings: Hash,
    /// [`TranslationRecord::asked`] when it began.
    #[serde(default)]
    pub asked: u64,
    /// What has segments that the translator could not translate: the next run tries again.
    #[serde(default)]
    pub failed: BTreeSet<TranslatedThing>,
}

impl Entity for TranslationRecord {
    const KIND: &'static str = "trn";
}

impl TranslationRecord {
    /// The key of a translation.
    #[must_use]
    pub fn at(id: &TranslationId) -> Key {
        KeyBuf::new(Self::KIND).part(id.as_str()).key()
    }

    /// The translations of an organization, by the time of their creation.
    #[must_use]
    pub fn of_org(organization: &OrgId) -> KeyBuf {
        KeyBuf::new("trn.o").part(organization.as_str())
    }

    /// The translations of a space.
    #[must_use]
    pub fn of_source(space: &SpaceId) -> KeyBuf {
        KeyBuf::new("trn.s").part(space.as_str())
    }

    /// The translation that fills a space.
    #[must_use]
    pub fn of_target(space: &SpaceId) -> KeyBuf {
        KeyBuf::new("trn.t").part(space.as_str())
    }

    /// How many translations an organization has.
    #[must_use]
    pub fn count_in(organization: &OrgId) -> Key {
        counter(organization.as_str(), "translations")
    }
}

impl Indexed for TranslationRecord {
    const INDEXES: &'static [&'static str] = &["trn.o", "trn.s", "trn.t", "ctr"];
    fn key(&self) -> Key {
        Self::at(&self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let id = self.id.as_str();
        let of_org = Self::of_org(&self.organization).time(self.created_at.time()).part(id);
        vec![
            Row::Index(of_org.key(), Value::Unit),
            Row::Index(Self::of_source(&self.source).part(id).key(), Value::Unit),
            Row::Index(Self::of_target(&self.target).part(id).key(), Value::Unit),
            Row::Count(Self::count_in(&self.organization)),
        ]
    }
    fn owner(&self) -> Owner {
        Owner::Organization(self.organization.clone())
    }
}

/// What has segments: a page, or a reusable content.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TranslatedThing {
    /// A page.
    Page(PageId),
    /// A reusable content.
    Reusable(ReusableId),
}

/// A part of what the segments of a page, or of a reusable content, were translated to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TranslationMemoryRecord {
    /// The translation.
    pub translation: TranslationId,
    /// What has the segments.
    pub thing: TranslatedThing,
    /// Which part it is, from 0.
    pub part: u64,
    /// Translations by the hash of the segment and of all that they depend on.
    pub segments: BTreeMap<Hash, String>,
}

impl Entity for TranslationMemoryRecord {
    const KIND: &'static str = "trm";
}

impl TranslationMemoryRecord {
    /// All that a translation keeps.
    #[must_use]
    pub fn of_translation(translation: &TranslationId) -> KeyBuf {
        KeyBuf::new(Self::KIND).part(translation.as_str())
    }

    /// What a translation keeps of a page or a reusable content, in parts.
    #[must_use]
    pub fn of_thing(translation: &TranslationId, thing: &TranslatedThing) -> KeyBuf {
        let of = Self::of_translation(translation);
        match thing {
            TranslatedThing::Page(id) => of.part("p").part(id.as_str()),
            TranslatedThing::Reusable(id) => of.part("r").part(id.as_str()),
        }
    }
}

impl Indexed for TranslationMemoryRecord {
    const INDEXES: &'static [&'static str] = &[];
    fn key(&self) -> Key {
        Self::of_thing(&self.translation, &self.thing).number(self.part).key()
    }
    fn rows(&self) -> Vec<Row> {
        Vec::new()
    }
    fn owner(&self) -> Owner {
        Owner::As(TranslationRecord::at(&self.translation))
    }
}

/// The glossary of an organization.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GlossaryRecord {
    /// The organization.
    pub organization: OrgId,
    /// Its entries.
    pub entries: GlossaryEntries,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl Entity for GlossaryRecord {
    const KIND: &'static str = "gls";
}

impl GlossaryRecord {
    /// The key of the glossary of an organization.
    #[must_use]
    pub fn at(organization: &OrgId) -> Key {
        KeyBuf::new(Self::KIND).part(organization.as_str()).key()
    }
}

impl Indexed for GlossaryRecord {
    const INDEXES: &'static [&'static str] = &[];
    fn key(&self) -> Key {
        Self::at(&self.organization)
    }
    fn rows(&self) -> Vec<Row> {
        Vec::new()
    }
    fn owner(&self) -> Owner {
        Owner::Organization(self.organization.clone())
    }
}
