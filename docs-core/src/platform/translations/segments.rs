//! Segments on their way to the translator and back.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    content::translate::{is_translation_of, placeholder_free},
    model::TranslationLanguage,
    ports::{TermRule, Terms, TranslateError, TranslationBatch, Translator},
    store::Hash,
};

/// Most bytes of a segment: longer ones stay in the language of the source.
pub(in crate::platform) const MAX_SEGMENT_BYTES: usize = 16 << 10;
/// Most segments that the translator is given at once.
const BATCH_SEGMENTS: usize = 40;
/// Most bytes of segments that the translator is given at once, where there are several.
const BATCH_BYTES: usize = 8 << 10;
/// Segments of a batch without any answer that are sent again before it is asked whether the translator works at all.
const HOPELESS: usize = 3;
/// How much longer than its segment a translation may be, and how many bytes more than that.
const MAX_GROWTH: usize = 6;
const GROWTH_ROOM: usize = 256;

/// What translations depend on besides the segment.
pub(super) struct Settings {
    pub(super) source: TranslationLanguage,
    pub(super) target: TranslationLanguage,
    pub(super) instructions: String,
    rules: Vec<TermRule>,
    /// The terms of the rules.
    terms: Terms,
    /// The hash of all but the rules, with the translator.
    base: Hash,
}

impl Settings {
    pub(super) fn new(
        translator: &str,
        (source, target): (TranslationLanguage, TranslationLanguage),
        instructions: String,
        rules: Vec<TermRule>,
    ) -> Self {
        let base = Hash::of(format!("{translator}\0{source}\0{target}\0{instructions}").as_bytes());
        Self { source, target, instructions, terms: Terms::new(&rules), rules, base }
    }

    /// Names all of it.
    pub(super) fn hash(&self) -> Hash {
        self.key_of("", &self.rules.iter().collect::<Vec<_>>())
    }

    /// Names a segment and what its translation depends on: of the glossary, the terms that occur in it.
    pub(super) fn key(&self, segment: &str) -> Hash {
        self.key_of(segment, &self.rules_of(segment))
    }

    fn rules_of(&self, segment: &str) -> Vec<&TermRule> {
        self.terms.occurring_in(segment).into_iter().map(|rule| &self.rules[rule]).collect()
    }

    fn key_of(&self, segment: &str, rules: &[&TermRule]) -> Hash {
        let mut text = format!("{}\0{segment}", self.base);
        for TermRule { term, translation, case_sensitive, note } in rules {
            text.push_str(&format!("\0{term}\0{translation}\0{case_sensitive}\0{note}"));
        }
        Hash::of(text.as_bytes())
    }

    fn batch(&self, segments: Vec<String>) -> TranslationBatch {
        let rules: BTreeSet<usize> =
            segments.iter().flat_map(|segment| self.terms.occurring_in(segment)).collect();
        let glossary = rules.into_iter().map(|rule| self.rules[rule].clone()).collect();
        let (source, target, instructions) = (self.source, self.target, self.instructions.clone());
        TranslationBatch { source, target, instructions, glossary, segments }
    }
}

/// What became of segments.
#[derive(Default)]
pub(super) struct Found {
    /// Translations by segment.
    pub(super) translations: BTreeMap<String, String>,
    /// Words that were sent.
    pub(super) words: u64,
    /// Segments that the translator could not translate.
    pub(super) failed: u64,
    /// Why its last answer that could not be read could not.
    unreadable: Option<String>,
}

impl Found {
    /// Notes what a segment was translated to, or that it has no translation.
    fn note(&mut self, segment: &str, answer: Option<String>) {
        match answer {
            Some(answer) => drop(self.translations.insert(segment.to_owned(), answer)),
            None => self.failed += 1,
        }
    }

    /// Says why nothing that was sent has a translation.
    pub(super) fn in_vain(&mut self) -> TranslateError {
        let why = self.unreadable.take();
        TranslateError::Malformed(
            why.unwrap_or_else(|| "no text in it is a translation of what was sent".to_owned()),
        )
    }
}

/// Segments in batches as the translator is given them.
pub(super) fn batches(segments: Vec<String>) -> Vec<Vec<String>> {
    let mut batches: Vec<Vec<String>> = Vec::new();
    let mut bytes = 0;
    for segment in segments {
        match batches.last_mut() {
            Some(batch) if batch.len() < BATCH_SEGMENTS && bytes + segment.len() <= BATCH_BYTES => {
                bytes += segment.len();
                batch.push(segment);
            }
            _ => {
                bytes = segment.len();
                batches.push(vec![segment]);
            }
        }
    }
    batches
}

/// How far the segments of a batch were tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Tried<'b> {
    /// As far as they can be.
    Wholly,
    /// There was no answer to the batch, nor to the first of its segments, each alone. These are the others.
    InVain(&'b [String]),
}

/// Has the segments of a batch translated; those whose answer is none are sent once more, each alone, and then without
/// placeholders. What was translated before an error is in `found`.
///
/// # Errors
/// The translator's, but for answers that cannot be read: these are none.
pub(super) async fn translate<'b>(
    translator: &dyn Translator,
    settings: &Settings,
    batch: &'b [String],
    found: &mut Found,
) -> Result<Tried<'b>, TranslateError> {
    let answers = ask(translator, settings, batch.to_vec(), found).await?;
    let is_vain = answers.iter().all(Option::is_none);
    let (first, rest) = batch.split_at(if is_vain { batch.len().min(HOPELESS) } else { batch.len() });
    for (segment, answer) in first.iter().zip(answers) {
        let answer = match answer {
            None if batch.len() > 1 => alone(translator, settings, segment, found).await?,
            None => without_placeholders(translator, settings, segment, found).await?,
            answer => answer,
        };
        found.note(segment, answer);
    }
    if found.translations.is_empty() {
        return Ok(Tried::InVain(rest));
    }
    translate_alone(translator, settings, rest, found).await?;
    Ok(Tried::Wholly)
}

/// Has segments translated, each alone.
///
/// # Errors
/// The translator's, but for answers that cannot be read: these are none.
pub(super) async fn translate_alone(
    translator: &dyn Translator,
    settings: &Settings,
    segments: &[String],
    found: &mut Found,
) -> Result<(), TranslateError> {
    for segment in segments {
        let answer = alone(translator, settings, segment, found).await?;
        found.note(segment, answer);
    }
    Ok(())
}

/// Tells whether a segment has an answer, which is then not used.
///
/// # Errors
/// The translator's, but for answers that cannot be read: these are none.
pub(super) async fn is_answered(
    translator: &dyn Translator,
    settings: &Settings,
    segment: &str,
    found: &mut Found,
) -> Result<bool, TranslateError> {
    Ok(alone(translator, settings, segment, found).await?.is_some())
}

/// The translation of a segment that is sent alone, and then without placeholders.
async fn alone(
    translator: &dyn Translator,
    settings: &Settings,
    segment: &str,
    found: &mut Found,
) -> Result<Option<String>, TranslateError> {
    match ask(translator, settings, vec![segment.to_owned()], found).await?.pop().flatten() {
        None => without_placeholders(translator, settings, segment, found).await,
        answer => Ok(answer),
    }
}

/// The translations of segments, each checked.
async fn ask(
    translator: &dyn Translator,
    settings: &Settings,
    segments: Vec<String>,
    found: &mut Found,
) -> Result<Vec<Option<String>>, TranslateError> {
    found.words += segments.iter().map(|segment| words(segment)).sum::<u64>();
    let batch = settings.batch(segments);
    let answers = match translator.translate(&batch).await {
        Ok(answers) if answers.len() == batch.segments.len() => answers,
        Ok(answers) => {
            let why = format!("it has {} texts instead of {}", answers.len(), batch.segments.len());
            found.unreadable = Some(why);
            return Ok(vec![None; batch.segments.len()]);
        }
        Err(TranslateError::Malformed(why)) => {
            found.unreadable = Some(why);
            return Ok(vec![None; batch.segments.len()]);
        }
        Err(error) => return Err(error),
    };
    let checked = |(segment, answer): (&String, String)| {
        let fits = answer.len() <= segment.len() * MAX_GROWTH + GROWTH_ROOM;
        (fits && is_translation_of(segment, &answer)).then(|| answer.trim().to_owned())
    };
    Ok(batch.segments.iter().zip(answers).map(checked).collect())
}

/// A segment whose texts between placeholders are translated one by one.
async fn without_placeholders(
    translator: &dyn Translator,
    settings: &Settings,
    segment: &str,
    found: &mut Found,
) -> Result<Option<String>, TranslateError> {
    let (texts, join) = placeholder_free(segment);
    if texts.len() < 2 && texts.first().is_none_or(|text| text == segment) {
        return Ok(None);
    }
    let mut translations = Vec::with_capacity(texts.len());
    for text in texts {
        match ask(translator, settings, vec![text], found).await?.pop().flatten() {
            Some(translation) => translations.push(translation),
            None => return Ok(None),
        }
    }
    let joined = join(&translations);
    Ok(is_translation_of(segment, &joined).then_some(joined))
}

/// The number of words of a segment; what is not between words counts as one of them.
fn words(segment: &str) -> u64 {
    let is_word = |word: &&str| word.chars().any(char::is_alphanumeric);
    segment.split_whitespace().filter(is_word).count() as u64
}
