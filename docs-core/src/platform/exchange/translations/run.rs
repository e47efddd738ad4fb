//! The job that translates a space.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use async_trait::async_trait;
use chrono::TimeDelta;

use super::{
    glossary,
    segments::Settings,
    store::{NewHead, StoreOutcome, StoreTranslation, transferred_error},
    texts::{ItemSegments, TranslationItem},
};
use crate::{
    Error, ErrorKind, Result,
    content::{
        Attribute, Body, Content, ContentMerge, Edit, FollowTexts, FollowUpdate, NewBody, Rendering,
        ReusablePatch, RevisionChange, Subject, ThreeWay, yield_to_others,
    },
    model::{JobProgress, JobResult, JobStage, Timestamp, TranslationId},
    platform::{
        jobs::{Effect, Job, JobRun, Progress},
        kernel::{actor::Actor, platform::Platform, write::MAX_WRITE_ATTEMPTS, write_window::WriteWindow},
        library::follow::translations::TranslateSpace,
    },
    ports::TranslateError,
    store::{
        Hash,
        jobs::{self, JobEnd, JobOutcome},
        records::{GlossaryRecord, SpaceRecord, TranslatedItemId, TranslationOutcome, TranslationRecord},
    },
};

/// Number of pages that are translated per batch.
const PAGE_BATCH: usize = 20;
/// Maximum size of the text in bytes, in a batch of several pages.
const BATCH_TEXT_BYTES: usize = 256 << 10;
/// Number of reusable content blocks that are read per batch.
const REUSABLE_BATCH: usize = 100;

/// Maximum number of failed items that are recorded. If there are more, the next run examines everything.
const MAX_FAILING: usize = 200;

/// The input of a run.
pub(super) struct TranslationInput {
    pub(super) record: Arc<TranslationRecord>,
    source: Arc<SpaceRecord>,
    pub(super) settings: Settings,
    began: Timestamp,
}

/// The result of a run, before it is merged into the target.
#[derive(Default)]
pub(super) struct TranslatedTexts {
    pub(super) texts: FollowTexts,
    pub(super) pages: u64,
    /// Segments without a translation, and the items that contain them.
    pub(super) failed: u64,
    pub(super) failing: BTreeSet<TranslatedItemId>,
    pub(super) too_long: u64,
    /// `true` if the translator answered for at least one segment.
    pub(super) is_answered: bool,
    /// The error to report for unanswered segments if the translator turns out not to work.
    pub(super) in_vain: Option<TranslateError>,
}

#[async_trait]
impl Job for TranslateSpace {
    async fn run(self, platform: &Platform, run: &mut JobRun) -> Result<Effect> {
        let Some(work) = platform.translation_input(&self.translation).await? else {
            run.append_log(platform, "the translation was deleted; no run needed".to_owned());
            return Ok(Effect::Done);
        };
        let mut progress = run.progress(platform);
        let storing = platform.begin_write_window();
        progress.stage(JobStage::ContentProcess).await?;
        let things = platform.changed_items(&work).await?;
        match platform.translate_items(&work, things, run, &mut progress).await? {
            Ok(made) => {
                progress.stage(JobStage::Finalize).await?;
                platform.store_result(&work, made, run, storing).await
            }
            Err(error) => platform.postpone(error, run).await,
        }
    }
}

impl TranslationInput {
    pub(super) fn domain(&self) -> &str {
        &self.source.domain
    }

    /// Returns `true` if the run examines everything, not only changes.
    fn is_full_run(&self) -> bool {
        let done = self.record.done.as_ref();
        done.is_none_or(|done| {
            done.settings != self.settings.hash()
                || done.asked != self.record.asked
                || done.failed.len() >= MAX_FAILING
        })
    }

    /// Returns the source content of the previous run.
    fn source_base(&self) -> Hash {
        self.record.done.as_ref().map_or_else(Content::empty_hash, |done| done.source_root)
    }

    /// Returns the translated content of the previous run.
    fn target_base(&self) -> Hash {
        self.record.done.as_ref().map_or_else(Content::empty_hash, |done| done.root)
    }
}

/// Ends a run when the server shuts down. Results so far are retained.
pub(super) fn require_time(run: &JobRun) -> Result<()> {
    if run.is_stopping() {
        return Err(Error::new(
            ErrorKind::Unavailable,
            "the server is stopping; the translation continues \
                                                       later",
        ));
    }
    Ok(())
}

impl Platform {
    async fn translation_input(&self, id: &TranslationId) -> Result<Option<TranslationInput>> {
        let began = self.now();
        let tx = self.read().await?;
        let record: Option<Arc<TranslationRecord>> = tx.get(&TranslationRecord::key_for(id)).await?;
        let Some(record) = record else { return Ok(None) };
        let unmet = |why: &str| Error::new(ErrorKind::Precondition, why.to_owned());
        let source: Option<Arc<SpaceRecord>> = tx.get(&SpaceRecord::key_for(&record.source)).await?;
        let source = source.filter(|space| space.deleted_at.is_none());
        let source = source.ok_or_else(|| unmet("the source space was deleted"))?;
        let target: Option<Arc<SpaceRecord>> = tx.get(&SpaceRecord::key_for(&record.target)).await?;
        let target = target.filter(|space| space.deleted_at.is_none());
        let target =
            target.ok_or_else(|| unmet("the target space was deleted; restore it, then run again"))?;
        if [&source, &target].iter().any(|space| space.organization != record.organization)
            || source.domain != target.domain
        {
            return Err(transferred_error());
        }
        let glossary: Option<Arc<GlossaryRecord>> =
            tx.get(&GlossaryRecord::key_for(&record.organization)).await?;
        let (from, to) = (record.source_language, record.language);
        let rules = glossary.map(|glossary| glossary::all_rules(&glossary, from, to)).unwrap_or_default();
        let translator = self.ports().translator.name();
        let settings = Settings::new(&translator, from, to, record.instructions.clone(), rules);
        Ok(Some(TranslationInput { record, source, settings, began }))
    }

    /// Returns the items whose text may need translation: those that changed, and those that failed before. The
    /// translation memory of deleted items is removed.
    async fn changed_items(&self, work: &TranslationInput) -> Result<Vec<TranslationItem>> {
        let has_texts = |attributes: &[Attribute]| {
            let told = [Attribute::Title, Attribute::Description, Attribute::Body, Attribute::Kind];
            attributes.iter().any(|attribute| told.contains(attribute))
        };
        let mut things: Vec<TranslationItem> = Vec::new();
        let mut gone = Vec::new();
        let diff = self.content().diff(work.domain(), work.source_base(), work.source.root).await?;
        for (position, change) in diff.enumerate() {
            if position % PAGE_BATCH == PAGE_BATCH - 1 {
                yield_to_others().await;
            }
            match change? {
                RevisionChange::PageCreated(page) => things.push((page.id, *page.entry).into()),
                RevisionChange::PageEdited { page, attributes, .. } if has_texts(&attributes) => {
                    things.push((page.id, *page.entry).into());
                }
                RevisionChange::ReusableCreated(id, entry) => things.push((id, entry).into()),
                RevisionChange::ReusableEdited { id, after, attributes, .. } if has_texts(&attributes) => {
                    things.push((id, after).into());
                }
                RevisionChange::PageDeleted(page) => gone.push(TranslatedItemId::Page(page.id)),
                RevisionChange::ReusableDeleted(id, _) => gone.push(TranslatedItemId::Reusable(id)),
                _ => {}
            }
        }
        for thing in gone {
            self.replace_memory(&work.record.id, &thing, BTreeMap::new()).await?;
        }
        if work.is_full_run() {
            return self.all_items(work).await;
        }
        let failed = work.record.done.as_ref().map(|done| &done.failed);
        let changed: BTreeSet<TranslatedItemId> = things.iter().map(|thing| thing.of.clone()).collect();
        let view = self.content().view(work.domain(), work.source.root);
        for thing in failed.into_iter().flatten().filter(|thing| !changed.contains(thing)) {
            things.extend(match thing {
                TranslatedItemId::Page(id) => view.page(id).await?.map(|page| (id.clone(), page).into()),
                TranslatedItemId::Reusable(id) => {
                    view.reusable(id).await?.map(|reusable| (id.clone(), reusable).into())
                }
            });
        }
        Ok(things)
    }

    /// Returns all pages and reusable content blocks.
    pub(super) async fn all_items(&self, work: &TranslationInput) -> Result<Vec<TranslationItem>> {
        let view = self.content().view(work.domain(), work.source.root);
        let tree = view.tree().await?;
        let mut things: Vec<TranslationItem> = tree
            .pages()
            .iter()
            .map(|page| TranslationItem::from((page.id.clone(), page.entry.clone())))
            .collect();
        let mut after = None;
        loop {
            let found = view.reusables(after.as_ref(), REUSABLE_BATCH).await?;
            let Some((last, _)) = found.last() else { return Ok(things) };
            after = Some(last.clone());
            things.extend(found.into_iter().map(TranslationItem::from));
        }
    }

    /// Translates items in batches. Results are stored even if the translator fails later.
    async fn translate_items(
        &self,
        work: &TranslationInput,
        things: Vec<TranslationItem>,
        run: &JobRun,
        progress: &mut Progress<'_>,
    ) -> Result<std::result::Result<TranslatedTexts, TranslateError>> {
        let mut made = TranslatedTexts::default();
        let total = things.len() as u64;
        let mut things = things.into_iter().peekable();
        let mut done = 0;
        while things.peek().is_some() {
            progress.count(JobStage::Translate, JobProgress { done, total }).await?;
            require_time(run)?;
            let mut window: Vec<ItemSegments> = Vec::new();
            let mut bytes = 0;
            while window.len() < PAGE_BATCH && bytes < BATCH_TEXT_BYTES {
                let Some(thing) = things.next() else { break };
                let read = ItemSegments::new(self, work.domain(), thing, &work.settings).await?;
                bytes += read.bytes();
                window.push(read);
                // A large page takes a long time, and the lease of the job must be renewed.
                tokio::task::yield_now().await;
            }
            done += window.len() as u64;
            if let Err(error) = self.translate_window(work, &window, run, &mut made).await? {
                return Ok(Err(error));
            }
        }
        // If the translator answered for no segment, there is no result, even if only a few segments were sent.
        match made.in_vain.take().filter(|_| !made.is_answered) {
            Some(error) => Ok(Err(error)),
            None => Ok(Ok(made)),
        }
    }

    /// Ends a run after an error of the translator. Transient errors are retried, but not earlier than the service
    /// requests.
    async fn postpone(&self, error: TranslateError, run: &JobRun) -> Result<Effect> {
        let kind = match &error {
            TranslateError::Unavailable { .. } => ErrorKind::Unavailable,
            _ => ErrorKind::Precondition,
        };
        let TranslateError::Unavailable { after: Some(seconds), .. } = &error else {
            return Err(Error::new(kind, error.to_string()).caused_by(error));
        };
        let now = self.now();
        let wanted = TimeDelta::seconds(i64::try_from(*seconds).unwrap_or(i64::MAX).min(86_400));
        let at = jobs::again_at(now.time(), run.job.attempt).max(Timestamp::new(now.time() + wanted));
        let end = JobEnd::Retry(at, error.to_string());
        self.upkeep(&jobs::FinishJob { job: run.job.clone(), now, end, log: run.log.clone() }).await?;
        Ok(Effect::Finished)
    }

    /// Merges the result into the target. User edits in the target are preserved where the source has not changed
    /// since.
    async fn store_result(
        &self,
        work: &TranslationInput,
        made: TranslatedTexts,
        run: &mut JobRun,
        storing: WriteWindow,
    ) -> Result<Effect> {
        if made.failed > 0 {
            let what = format!(
                "{} segments remain untranslated: the translator lost their placeholders or gave no response",
                made.failed
            );
            run.append_log(self, what);
        }
        if made.too_long > 0 {
            run.append_log(
                self,
                format!("{} segments remain untranslated: they are too long", made.too_long),
            );
        }
        let follow =
            FollowUpdate { from: work.source_base(), to: work.source.root, onto: work.target_base() };
        let root = self.content().follow(work.domain(), follow, &made.texts).await?;
        for _ in 0..MAX_WRITE_ATTEMPTS {
            let target: Option<Arc<SpaceRecord>> =
                self.read().await?.get(&SpaceRecord::key_for(&work.record.target)).await?;
            let target = target.ok_or_else(|| Error::not_found("space"))?;
            let sides = ThreeWay { base: work.target_base(), ours: target.root, theirs: root };
            let merged = self.merge_edits(work.domain(), sides).await?;
            let head = (merged != target.root).then(|| {
                let source = work.source.head.clone();
                NewHead { id: self.id(), root: merged, source }
            });
            let revision = head.as_ref().map_or_else(|| target.head.clone(), |head| head.id.clone());
            let result = JobResult { revision: Some(revision.clone()), ..JobResult::default() };
            let finished = run.finish(self, JobOutcome { result: Some(result), object: None });
            let took = (finished.now.time() - work.began.time()).num_milliseconds();
            let store = StoreTranslation {
                translation: work.record.id.clone(),
                target: target.id.clone(),
                on: target.head.clone(),
                head,
                done: TranslationOutcome {
                    source_root: work.source.root,
                    root,
                    revision,
                    settings: work.settings.hash(),
                    asked: work.record.asked,
                    failed: made.failing.iter().take(MAX_FAILING).cloned().collect(),
                },
                pages: made.pages,
                milliseconds: u64::try_from(took).unwrap_or_default(),
                finished,
            };
            self.check_write_window(storing)?;
            match self.write(&Actor::Platform, &store).await? {
                StoreOutcome::Done | StoreOutcome::Gone => return Ok(Effect::Finished),
                StoreOutcome::Moved => {}
            }
        }
        Err(Error::new(ErrorKind::Unavailable, "the target space keeps changing; retrying later"))
    }

    /// Merges a translation with the edits in the target. The translation takes precedence in conflicts.
    async fn merge_edits(&self, domain: &str, sides: ThreeWay<Hash>) -> Result<Hash> {
        let merged = self.content().merge(domain, sides).await?;
        if merged.conflicts.is_empty() {
            return Ok(merged.root);
        }
        let edits = self.resolve_conflicts(domain, &merged, sides.theirs).await?;
        Ok(self.content().edit(domain, merged.root, self.now().time(), &edits).await?.root)
    }

    /// Returns the edits that resolve merge conflicts.
    async fn resolve_conflicts(
        &self,
        domain: &str,
        merged: &ContentMerge,
        theirs: Hash,
    ) -> Result<Vec<Edit>> {
        let (view, own) = (self.content().view(domain, merged.root), self.content().view(domain, theirs));
        let subjects: BTreeSet<&Subject> = merged.conflicts.iter().map(|note| &note.subject).collect();
        let mut edits = Vec::new();
        let mut variables = BTreeMap::new();
        for subject in subjects {
            match subject {
                Subject::Page(page) => {
                    let Some(entry) = view.page(page).await? else { continue };
                    if entry.body.is_conflict() {
                        let body = self.resolve_text(domain, &entry.body).await?;
                        edits.push(Edit::SetBody { page: page.clone(), body });
                    }
                    edits.push(Edit::ClearClashes { page: page.clone() });
                }
                Subject::Reusable(reusable) => {
                    let Some(entry) = view.reusable(reusable).await? else { continue };
                    if entry.body.is_conflict() {
                        let body = Some(self.resolve_text(domain, &entry.body).await?);
                        let fields = ReusablePatch { body, ..ReusablePatch::default() };
                        edits.push(Edit::PutReusable { reusable: reusable.clone(), fields });
                    }
                }
                Subject::File(file) => {
                    if let Some(entry) = own.file(file).await? {
                        edits.push(Edit::PutFile { file: file.clone(), entry });
                    }
                }
                Subject::Variable(name) => {
                    let value = own.variables().await?.get(name).map(|entry| entry.value.clone());
                    if value.is_some() {
                        variables.insert(name.clone(), value);
                    }
                }
            }
        }
        if !variables.is_empty() {
            edits.push(Edit::SetVariables { variables });
        }
        Ok(edits)
    }

    /// Resolves a conflict in text in favour of the translation.
    async fn resolve_text(&self, domain: &str, body: &Body) -> Result<NewBody> {
        let text = self.content().body_text(domain, body, Rendering::Request).await?;
        let stored = self.content().store_texts(domain, &[&text]).await?.pop();
        Ok(NewBody::Stored(Body::of(stored.filter(|_| !text.is_empty()))))
    }
}
