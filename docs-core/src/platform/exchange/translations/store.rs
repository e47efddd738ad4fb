//! The writes of a translation run: the translation memory of each page, and the result.

use std::{collections::BTreeMap, sync::Arc};

use async_trait::async_trait;
use docs_macros::operation;
use serde::{Deserialize, Serialize};

use crate::{
    Error, ErrorKind, Result,
    model::{RevisionId, SpaceId, TranslationId, TranslationStats},
    platform::{
        access,
        kernel::{actor::Actor, platform::Platform, write_window::note_copy},
        library::head::move_head,
    },
    policy::SpaceAction,
    store::{
        Hash, Key, Operation, Tx, decode, jobs,
        records::{
            RevisionKind, RevisionRecord, SpaceRecord, TranslatedItemId, TranslationMemoryRecord,
            TranslationOutcome, TranslationRecord,
        },
    },
};

/// Maximum size of a translation memory part in bytes.
const PART_BYTES: usize = 96 << 10;
/// The overhead of a segment in bytes.
const SEGMENT_OVERHEAD: usize = 64;
/// Number of parts that one transaction reads or writes.
const PART_BATCH: u32 = 16;

/// The translation memory of a page or reusable content block.
#[derive(Default)]
pub(super) struct StoredMemory {
    /// Translations by the hash of the segment and all its inputs.
    pub(super) known: BTreeMap<Hash, String>,
    /// The number of stored parts.
    pub(super) parts: u64,
}

impl Platform {
    /// Reads the translation memory of a page or reusable content block.
    pub(super) async fn read_memory(
        &self,
        translation: &TranslationId,
        thing: &TranslatedItemId,
    ) -> Result<StoredMemory> {
        let of_thing = TranslationMemoryRecord::by_item(translation, thing);
        let mut batches = crate::store::Batches::of(of_thing.scan(PART_BATCH));
        let mut memory = StoredMemory::default();
        while let Some(rows) = batches.next(&self.read().await?).await? {
            for (_, value) in rows {
                let part: Arc<TranslationMemoryRecord> = decode(value)?;
                memory.known.extend(part.segments.clone());
                memory.parts = part.part + 1;
            }
        }
        Ok(memory)
    }

    /// Appends translated segments to the memory of a page or reusable content block, as a new part.
    pub(super) async fn append_memory(
        &self,
        translation: &TranslationId,
        thing: &TranslatedItemId,
        part: u64,
        segments: BTreeMap<Hash, String>,
    ) -> Result<()> {
        let (translation, thing) = (translation.clone(), thing.clone());
        self.upkeep(&StorePart(TranslationMemoryRecord { translation, thing, part, segments })).await
    }

    /// Replaces the memory of a page or reusable content block.
    pub(super) async fn replace_memory(
        &self,
        translation: &TranslationId,
        thing: &TranslatedItemId,
        known: BTreeMap<Hash, String>,
    ) -> Result<()> {
        let mut parts: Vec<BTreeMap<Hash, String>> = Vec::new();
        let mut bytes = PART_BYTES;
        for (key, text) in known {
            let size = serde_json::Value::from(text.as_str()).to_string().len() + SEGMENT_OVERHEAD;
            if bytes + size > PART_BYTES {
                parts.push(BTreeMap::new());
                bytes = 0;
            }
            bytes += size;
            if let Some(last) = parts.last_mut() {
                last.insert(key, text);
            }
        }
        let from = parts.len() as u64;
        for (part, segments) in (0..).zip(parts) {
            self.append_memory(translation, thing, part, segments).await?;
        }
        let forget = forget_parts(translation, thing, from);
        while self.upkeep(&forget).await? {}
        Ok(())
    }
}

/// Stores a part of the memory, unless the translation was deleted.
struct StorePart(TranslationMemoryRecord);

#[async_trait]
impl Operation for StorePart {
    type Output = ();
    const NAME: &'static str = "translation_remember";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        use crate::store::Indexed as _;
        let of: Option<Arc<TranslationRecord>> =
            tx.get(&TranslationRecord::key_for(&self.0.translation)).await?;
        if of.is_none() {
            return Ok(());
        }
        let old: Option<Arc<TranslationMemoryRecord>> = tx.get(&self.0.key()).await?;
        match old {
            Some(old) if *old == self.0 => {}
            Some(old) => drop(tx.put(&*old, self.0.clone())?),
            None => drop(tx.create(self.0.clone())),
        }
        Ok(())
    }
}

/// Removes parts of the memory. `Output` is `true` if there may be more.
#[operation("translation_forget")]
async fn forget_parts(
    tx: &mut Tx,
    translation: &TranslationId,
    thing: &TranslatedItemId,
    from: u64,
) -> Result<bool> {
    let of = TranslationMemoryRecord::by_item(translation, thing);
    let (from, to) = (of.clone().number(from).key(), of.prefix_range().1);
    let rows = tx.scan(&crate::store::Scan { from, to, rev: false, limit: PART_BATCH }).await?;
    let keys: Vec<Key> = rows.into_iter().map(|(key, _)| key).collect();
    tx.delete_all::<TranslationMemoryRecord>(&keys).await?;
    Ok(keys.len() == PART_BATCH as usize)
}

/// Counts the words sent to the translator.
#[operation("translation_words")]
pub(super) async fn count_words(tx: &mut Tx, translation: &TranslationId, words: u64) -> Result<()> {
    let record: Option<Arc<TranslationRecord>> = tx.get(&TranslationRecord::key_for(translation)).await?;
    if let Some(old) = record {
        let stats = TranslationStats { total_words: old.stats.total_words + words, ..old.stats };
        let spent_words = old.spent_words + words;
        tx.put(&*old, TranslationRecord { stats, spent_words, ..TranslationRecord::clone(&old) })?;
    }
    Ok(())
}

/// The outcome of storing a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum StoreOutcome {
    /// The result is stored and the job is done.
    Done,
    /// The target changed since the result was computed.
    Moved,
    /// The translation was deleted, or another worker has the job.
    Gone,
}

/// The new revision of the target.
pub(super) struct NewHead {
    pub(super) id: RevisionId,
    pub(super) root: Hash,
    /// The translated revision of the source space.
    pub(super) source: RevisionId,
}

/// Stores the result of a run.
pub(super) struct StoreTranslation {
    pub(super) translation: TranslationId,
    pub(super) target: SpaceId,
    /// The head of the target that the result is based on.
    pub(super) on: RevisionId,
    /// The new head, or `None` if the target already has this content.
    pub(super) head: Option<NewHead>,
    /// The state to record. Its revision is the new head.
    pub(super) done: TranslationOutcome,
    pub(super) pages: u64,
    pub(super) milliseconds: u64,
    pub(super) finished: jobs::FinishJob,
}

#[async_trait]
impl Operation for StoreTranslation {
    type Output = StoreOutcome;
    const NAME: &'static str = "translation_result";

    async fn apply(&self, tx: &mut Tx) -> Result<StoreOutcome> {
        let record: Option<Arc<TranslationRecord>> =
            tx.get(&TranslationRecord::key_for(&self.translation)).await?;
        let Some(old) = record else { return Ok(StoreOutcome::Gone) };
        let access = access::space(tx, &Actor::Platform, &self.target).await?;
        let proof = access.require(SpaceAction::Manage)?;
        if proof.space().head != self.on {
            return Ok(StoreOutcome::Moved);
        }
        let source: Option<Arc<SpaceRecord>> = tx.get(&SpaceRecord::key_for(&old.source)).await?;
        let source = source.ok_or_else(|| Error::not_found("source space of the translation"))?;
        if [&*source, &**proof.space()].iter().any(|space| space.organization != old.organization) {
            return Err(transferred_error());
        }
        if !jobs::finish(tx, &self.finished).await? {
            return Ok(StoreOutcome::Gone);
        }
        let now = self.finished.now;
        let stats = TranslationStats {
            runs: old.stats.runs + 1,
            total_words: old.stats.total_words,
            total_pages: old.stats.total_pages + self.pages,
            total_duration: old.stats.total_duration + self.milliseconds,
            latest_run_duration: self.milliseconds,
            latest_pages: self.pages,
            latest_words: old.spent_words,
        };
        let new = TranslationRecord {
            done: Some(self.done.clone()),
            stats,
            spent_words: 0,
            updated_at: now.later_than(old.updated_at),
            ..TranslationRecord::clone(&old)
        };
        tx.put(&*old, new)?;
        // Until this commit, a reference from the source or from the previous result protects reused objects. The
        // previous result is replaced now, so the copy is recorded for garbage collection.
        note_copy(tx, &SpaceRecord { created_at: now, ..SpaceRecord::clone(proof.space()) });
        if let Some(head) = &self.head {
            let by = old.created_by.clone();
            let revision = RevisionRecord {
                parents: vec![proof.space().head.clone()],
                kind: RevisionKind::Computed,
                computed_from: Some(head.source.clone()),
                ..RevisionRecord::new(head.id.clone(), self.target.clone(), head.root, now, by)
            };
            move_head(tx, &proof, revision).await?;
        }
        Ok(StoreOutcome::Done)
    }
}

/// Returns the error for a space that was transferred to another organization.
pub(super) fn transferred_error() -> Error {
    Error::new(ErrorKind::Precondition, "the two spaces belong to different organizations")
}
