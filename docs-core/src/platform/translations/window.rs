//! Some pages that are translated together, and what is kept of them.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    run::{Made, Work, require_time},
    segments::{Found, batches, translate},
    store::CountWords,
    texts::Read,
};
use crate::{
    Result,
    content::Body,
    model::TranslationId,
    platform::{Platform, jobs::Run},
    ports::TranslateError,
    store::{Hash, records::TranslatedThing},
};

/// A page, or a reusable content, while it is translated.
struct Open<'r> {
    read: &'r Read,
    /// Segments that are to be sent.
    untried: BTreeSet<String>,
    /// In how many parts its memory is kept.
    parts: u64,
}

impl Open<'_> {
    /// What these translations are to it, as its memory has them.
    fn own(&self, translations: &BTreeMap<String, String>) -> BTreeMap<Hash, String> {
        let own = self.read.keys.iter();
        own.filter_map(|(segment, key)| Some((*key, translations.get(segment)?.clone()))).collect()
    }
}

impl Platform {
    /// Translates some pages and reusable contents. What was translated is kept after each batch.
    pub(super) async fn translate_window(
        &self,
        work: &Work,
        window: &[Read],
        (run, made): (&Run, &mut Made),
    ) -> Result<std::result::Result<(), TranslateError>> {
        let id = &work.record.id;
        let (mut open, mut known) = self.open_window(id, window).await?;
        let mut once = BTreeSet::new();
        let untried = open.iter().flat_map(|open| open.untried.iter());
        let untried: Vec<String> = untried.filter(|segment| once.insert(*segment)).cloned().collect();
        let translator = &*self.ports().translator;
        for batch in batches(untried) {
            require_time(run)?;
            let mut found = Found::default();
            let ended = translate(translator, &work.settings, &batch, &mut found).await;
            made.failed += found.failed;
            if found.words > 0 {
                self.upkeep(&CountWords { translation: id.clone(), words: found.words }).await?;
            }
            known.extend(found.translations.clone());
            for open in &mut open {
                let tried = if ended.is_ok() { batch.as_slice() } else { &[] };
                self.keep(id, open, (tried, &found, &known)).await?;
            }
            if let Err(error) = ended {
                return Ok(Err(error));
            }
        }
        for read in window {
            self.make(work, read, (&known, made)).await?;
            tokio::task::yield_now().await;
        }
        Ok(Ok(()))
    }

    /// What is known of things, and what is to be sent.
    async fn open_window<'r>(
        &self,
        id: &TranslationId,
        window: &'r [Read],
    ) -> Result<(Vec<Open<'r>>, BTreeMap<String, String>)> {
        let mut known: BTreeMap<String, String> = BTreeMap::new();
        let mut parts = Vec::with_capacity(window.len());
        for read in window {
            let memory = self.remembered(id, &read.thing.of).await?;
            let own = read.keys.iter();
            known.extend(
                own.filter_map(|(segment, key)| Some((segment.clone(), memory.known.get(key)?.clone()))),
            );
            parts.push(memory.parts);
        }
        let mut open = Vec::with_capacity(window.len());
        for (read, parts) in window.iter().zip(parts) {
            let untried = read.keys.keys().filter(|segment| !known.contains_key(*segment)).cloned().collect();
            let one = Open { read, untried, parts };
            if one.untried.is_empty() {
                self.remember(id, &read.thing.of, one.own(&known)).await?;
            }
            open.push(one);
        }
        Ok((open, known))
    }

    /// Keeps what came of a batch: behind what is kept already, until nothing of a page is left to be sent.
    async fn keep(
        &self,
        id: &TranslationId,
        open: &mut Open<'_>,
        (tried, found, known): (&[String], &Found, &BTreeMap<String, String>),
    ) -> Result<()> {
        let thing = &open.read.thing.of;
        let before = open.untried.len();
        for segment in tried {
            open.untried.remove(segment);
        }
        if open.untried.is_empty() {
            return if before > 0 { self.remember(id, thing, open.own(known)).await } else { Ok(()) };
        }
        let new = open.own(&found.translations);
        if !new.is_empty() {
            self.remember_more(id, thing, (open.parts, new)).await?;
            open.parts += 1;
        }
        Ok(())
    }

    /// Makes what a page, or a reusable content, is in the other language.
    async fn make(
        &self,
        work: &Work,
        read: &Read,
        (known, made): (&BTreeMap<String, String>, &mut Made),
    ) -> Result<()> {
        made.too_long += read.too_long;
        if read.has_failed(known) {
            made.failing.insert(read.thing.of.clone());
        }
        let body = match read.markdown(known) {
            Some(text) => Body::of(self.content().store_texts(work.domain(), &[&text]).await?.pop()),
            None => Body::Empty,
        };
        match &read.thing.of {
            TranslatedThing::Page(page) => {
                made.pages += 1;
                made.texts.pages.insert(page.clone(), read.page(known, body));
            }
            TranslatedThing::Reusable(reusable) => {
                made.texts.reusables.insert(reusable.clone(), read.reusable(known, body));
            }
        }
        Ok(())
    }
}
