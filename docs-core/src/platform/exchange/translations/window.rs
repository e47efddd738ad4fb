//! Translation of a batch of pages, and storage of the results.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    run::{TranslatedTexts, TranslationInput, require_time},
    segments::{BatchProgress, SegmentResults, batches, is_answered, translate, translate_alone},
    store::count_words,
    texts::{ItemSegments, TranslationItem},
};
use crate::{
    Result,
    content::Body,
    model::TranslationId,
    platform::{jobs::JobRun, kernel::platform::Platform},
    ports::TranslateError,
    store::{Hash, records::TranslatedItemId},
};

/// Maximum number of pages and reusable content blocks that are searched for a previously translated segment.
const MAX_SEARCHED_ITEMS: usize = 100;

/// A page or reusable content block that is being translated.
struct PendingItem<'r> {
    read: &'r ItemSegments,
    /// The segments that remain to be sent.
    untried: BTreeSet<String>,
    /// The number of stored parts of the item's memory.
    parts: u64,
}

impl PendingItem<'_> {
    /// Returns the translations of the item's segments, keyed as in its memory.
    fn own_translations(&self, translations: &BTreeMap<String, String>) -> BTreeMap<Hash, String> {
        let own = self.read.keys.iter();
        own.filter_map(|(segment, key)| Some((*key, translations.get(segment)?.clone()))).collect()
    }
}

impl Platform {
    /// Translates a batch of pages and reusable content blocks. Results are stored after each request to the
    /// translator.
    pub(super) async fn translate_window(
        &self,
        work: &TranslationInput,
        window: &[ItemSegments],
        run: &JobRun,
        made: &mut TranslatedTexts,
    ) -> Result<std::result::Result<(), TranslateError>> {
        let id = &work.record.id;
        let (mut open, mut known) = self.open_window(id, window).await?;
        let mut once = BTreeSet::new();
        let untried = open.iter().flat_map(|open| open.untried.iter());
        let untried: Vec<String> = untried.filter(|segment| once.insert(*segment)).cloned().collect();
        let translator = &*self.ports().translator;
        for batch in batches(untried) {
            require_time(run)?;
            let mut found = SegmentResults::default();
            let ended = match translate(translator, &work.settings, &batch, &mut found).await {
                Ok(BatchProgress::Complete) => Ok(()),
                Ok(BatchProgress::Unanswered(rest)) => {
                    self.handle_unanswered(work, &known, rest, &mut found, &mut *made).await?
                }
                Err(error) => Err(error),
            };
            made.failed += found.failed;
            made.is_answered |= !found.translations.is_empty();
            if found.words > 0 {
                self.upkeep(&count_words(id, found.words)).await?;
            }
            known.extend(found.translations.clone());
            for open in &mut open {
                let tried = if ended.is_ok() { batch.as_slice() } else { &[] };
                self.store_results(id, open, tried, &found, &known).await?;
            }
            if let Err(error) = ended {
                return Ok(Err(error));
            }
        }
        for read in window {
            self.build_item(work, read, &known, made).await?;
            tokio::task::yield_now().await;
        }
        Ok(Ok(()))
    }

    /// Handles a request without any usable answer. Either the translator does not work, or it cannot translate these
    /// segments. A previously translated segment is sent to distinguish the two cases. If there is none, the run fails
    /// if further segments remain to be tried; otherwise this is decided at the end of the run.
    async fn handle_unanswered(
        &self,
        work: &TranslationInput,
        known: &BTreeMap<String, String>,
        rest: &[String],
        found: &mut SegmentResults,
        made: &mut TranslatedTexts,
    ) -> Result<std::result::Result<(), TranslateError>> {
        let (translator, settings) = (&*self.ports().translator, &work.settings);
        let known = match known.keys().next() {
            Some(segment) => Some(segment.clone()),
            None => self.find_translated_segment(work).await?,
        };
        let Some(known) = known else {
            let why = found.no_translation_error();
            if !rest.is_empty() {
                return Ok(Err(why));
            }
            made.in_vain = Some(why);
            return Ok(Ok(()));
        };
        Ok(match is_answered(translator, settings, &known, found).await {
            Ok(true) => translate_alone(translator, settings, rest, found).await,
            Ok(false) => Err(found.no_translation_error()),
            Err(error) => Err(error),
        })
    }

    /// Returns a segment that was previously translated with the current settings. Only the first pages are searched.
    async fn find_translated_segment(&self, work: &TranslationInput) -> Result<Option<String>> {
        let things: Vec<TranslationItem> = self.all_items(work).await?;
        for thing in things.into_iter().take(MAX_SEARCHED_ITEMS) {
            let known = self.read_memory(&work.record.id, &thing.of).await?.known;
            if known.is_empty() {
                continue;
            }
            let read = ItemSegments::new(self, work.domain(), thing, &work.settings).await?;
            if let Some((segment, _)) = read.keys.into_iter().find(|(_, key)| known.contains_key(key)) {
                return Ok(Some(segment));
            }
        }
        Ok(None)
    }

    /// Loads the translation memory of the items, and determines the segments to send.
    async fn open_window<'r>(
        &self,
        id: &TranslationId,
        window: &'r [ItemSegments],
    ) -> Result<(Vec<PendingItem<'r>>, BTreeMap<String, String>)> {
        let mut known: BTreeMap<String, String> = BTreeMap::new();
        let mut parts = Vec::with_capacity(window.len());
        for read in window {
            let memory = self.read_memory(id, &read.thing.of).await?;
            let own = read.keys.iter();
            known.extend(
                own.filter_map(|(segment, key)| Some((segment.clone(), memory.known.get(key)?.clone()))),
            );
            parts.push(memory.parts);
        }
        let mut open = Vec::with_capacity(window.len());
        for (read, parts) in window.iter().zip(parts) {
            let untried = read.keys.keys().filter(|segment| !known.contains_key(*segment)).cloned().collect();
            let one = PendingItem { read, untried, parts };
            if one.untried.is_empty() {
                self.replace_memory(id, &read.thing.of, one.own_translations(&known)).await?;
            }
            open.push(one);
        }
        Ok((open, known))
    }

    /// Stores the results of a request as a new part, or as the complete memory once no segment of the page remains.
    async fn store_results(
        &self,
        id: &TranslationId,
        open: &mut PendingItem<'_>,
        tried: &[String],
        found: &SegmentResults,
        known: &BTreeMap<String, String>,
    ) -> Result<()> {
        let thing = &open.read.thing.of;
        let before = open.untried.len();
        for segment in tried {
            open.untried.remove(segment);
        }
        if open.untried.is_empty() {
            return if before > 0 {
                self.replace_memory(id, thing, open.own_translations(known)).await
            } else {
                Ok(())
            };
        }
        let new = open.own_translations(&found.translations);
        if !new.is_empty() {
            self.append_memory(id, thing, open.parts, new).await?;
            open.parts += 1;
        }
        Ok(())
    }

    /// Builds the translated page or reusable content block.
    async fn build_item(
        &self,
        work: &TranslationInput,
        read: &ItemSegments,
        known: &BTreeMap<String, String>,
        made: &mut TranslatedTexts,
    ) -> Result<()> {
        made.too_long += read.too_long;
        if read.has_failed(known) {
            made.failing.insert(read.thing.of.clone());
        }
        let body = match self.run_translation_work(|| read.markdown(known)).await {
            Some(text) => Body::of(self.content().store_texts(work.domain(), &[&text]).await?.pop()),
            None => Body::Empty,
        };
        match &read.thing.of {
            TranslatedItemId::Page(page) => {
                made.pages += 1;
                made.texts.pages.insert(page.clone(), read.page(known, body));
            }
            TranslatedItemId::Reusable(reusable) => {
                made.texts.reusables.insert(reusable.clone(), read.reusable(known, body));
            }
        }
        Ok(())
    }
}
