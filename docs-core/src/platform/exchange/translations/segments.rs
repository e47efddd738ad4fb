//! Sending segments to the translator.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    content::{
        run_in_place,
        translate::{is_translation_of, placeholder_free},
    },
    model::TranslationLanguage,
    ports::{TermRule, Terms, TranslateError, TranslationBatch, Translator},
    store::Hash,
};

/// Maximum size of a segment in bytes. Longer ones remain in the source language.
pub(in crate::platform) const MAX_SEGMENT_BYTES: usize = 16 << 10;
/// Maximum number of segments per request.
const BATCH_SEGMENTS: usize = 40;
/// Maximum size of a request with several segments in bytes.
const BATCH_BYTES: usize = 8 << 10;
/// Number of segments of an unanswered batch that are retried before the translator itself is tested.
const RETRIES_BEFORE_PROBE: usize = 3;
/// The permitted size of a translation relative to its segment: a factor, and additional bytes.
const MAX_GROWTH: usize = 6;
const MAX_GROWTH_BYTES: usize = 256;

/// The inputs of a translation besides the segment.
pub(super) struct Settings {
    pub(super) source: TranslationLanguage,
    pub(super) target: TranslationLanguage,
    pub(super) instructions: String,
    rules: Vec<TermRule>,
    /// The glossary terms of the rules.
    terms: Terms,
    /// The hash of the translator and everything except the rules.
    base: Hash,
}

impl Settings {
    pub(super) fn new(
        translator: &str,
        source: TranslationLanguage,
        target: TranslationLanguage,
        instructions: String,
        rules: Vec<TermRule>,
    ) -> Self {
        let base = Hash::compute(format!("{translator}\0{source}\0{target}\0{instructions}").as_bytes());
        Self { source, target, instructions, terms: Terms::new(&rules), rules, base }
    }

    /// Returns the hash of all settings.
    pub(super) fn hash(&self) -> Hash {
        self.key_with_rules("", &self.rules.iter().collect::<Vec<_>>())
    }

    /// Returns the hash of a segment and its inputs, which include only the glossary terms that occur in it.
    pub(super) fn key(&self, segment: &str) -> Hash {
        self.key_with_rules(segment, &self.matching_rules(segment))
    }

    fn matching_rules(&self, segment: &str) -> Vec<&TermRule> {
        self.terms.occurring_in(segment).into_iter().map(|rule| &self.rules[rule]).collect()
    }

    fn key_with_rules(&self, segment: &str, rules: &[&TermRule]) -> Hash {
        let mut text = format!("{}\0{segment}", self.base);
        for TermRule { term, translation, case_sensitive, note } in rules {
            text.push_str(&format!("\0{term}\0{translation}\0{case_sensitive}\0{note}"));
        }
        Hash::compute(text.as_bytes())
    }

    fn batch(&self, segments: Vec<String>) -> TranslationBatch {
        let rules: BTreeSet<usize> =
            segments.iter().flat_map(|segment| self.terms.occurring_in(segment)).collect();
        let glossary = rules.into_iter().map(|rule| self.rules[rule].clone()).collect();
        let (source, target, instructions) = (self.source, self.target, self.instructions.clone());
        TranslationBatch { source, target, instructions, glossary, segments }
    }
}

/// Translations of segments, with statistics.
#[derive(Default)]
pub(super) struct SegmentResults {
    pub(super) translations: BTreeMap<String, String>,
    /// The number of words sent.
    pub(super) words: u64,
    /// The number of segments without a translation.
    pub(super) failed: u64,
    /// The reason why the most recent malformed answer could not be parsed.
    unreadable: Option<String>,
}

impl SegmentResults {
    /// Records the translation of a segment, or its failure.
    fn record(&mut self, segment: &str, answer: Option<String>) {
        match answer {
            Some(answer) => drop(self.translations.insert(segment.to_owned(), answer)),
            None => self.failed += 1,
        }
    }

    /// Returns the error for a run without a single translation.
    pub(super) fn no_translation_error(&mut self) -> TranslateError {
        let why = self.unreadable.take();
        TranslateError::Malformed(why.unwrap_or_else(|| "it contains no valid translation".to_owned()))
    }
}

/// Splits segments into batches within the limits of a request.
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

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BatchProgress<'b> {
    /// All segments were handled.
    Complete,
    /// The batch had no answer, and neither had its first segments when sent individually. Holds the remaining
    /// segments.
    Unanswered(&'b [String]),
}

/// Translates a batch. Segments without a valid answer are sent again individually, and then without placeholders. On
/// an error, `found` holds the translations so far.
///
/// # Errors
///
/// Errors of the translator, except malformed answers, which count as missing.
pub(super) async fn translate<'b>(
    translator: &dyn Translator,
    settings: &Settings,
    batch: &'b [String],
    found: &mut SegmentResults,
) -> Result<BatchProgress<'b>, TranslateError> {
    let answers = send(translator, settings, batch.to_vec(), found).await?;
    let is_vain = answers.iter().all(Option::is_none);
    let (first, rest) =
        batch.split_at(if is_vain { batch.len().min(RETRIES_BEFORE_PROBE) } else { batch.len() });
    for (segment, answer) in first.iter().zip(answers) {
        let answer = match answer {
            None if batch.len() > 1 => translate_one(translator, settings, segment, found).await?,
            None => without_placeholders(translator, settings, segment, found).await?,
            answer => answer,
        };
        found.record(segment, answer);
    }
    if found.translations.is_empty() {
        return Ok(BatchProgress::Unanswered(rest));
    }
    translate_alone(translator, settings, rest, found).await?;
    Ok(BatchProgress::Complete)
}

/// Translates segments one by one.
///
/// # Errors
///
/// Errors of the translator, except malformed answers, which count as missing.
pub(super) async fn translate_alone(
    translator: &dyn Translator,
    settings: &Settings,
    segments: &[String],
    found: &mut SegmentResults,
) -> Result<(), TranslateError> {
    for segment in segments {
        let answer = translate_one(translator, settings, segment, found).await?;
        found.record(segment, answer);
    }
    Ok(())
}

/// Returns `true` if the translator returns an answer for a segment. The answer is discarded.
///
/// # Errors
///
/// Errors of the translator, except malformed answers, which count as missing.
pub(super) async fn is_answered(
    translator: &dyn Translator,
    settings: &Settings,
    segment: &str,
    found: &mut SegmentResults,
) -> Result<bool, TranslateError> {
    Ok(translate_one(translator, settings, segment, found).await?.is_some())
}

/// Translates a segment in a separate request, and then without placeholders.
async fn translate_one(
    translator: &dyn Translator,
    settings: &Settings,
    segment: &str,
    found: &mut SegmentResults,
) -> Result<Option<String>, TranslateError> {
    match send(translator, settings, vec![segment.to_owned()], found).await?.pop().flatten() {
        None => without_placeholders(translator, settings, segment, found).await,
        answer => Ok(answer),
    }
}

/// Sends segments in one request and validates the answers.
async fn send(
    translator: &dyn Translator,
    settings: &Settings,
    segments: Vec<String>,
    found: &mut SegmentResults,
) -> Result<Vec<Option<String>>, TranslateError> {
    found.words += segments.iter().map(|segment| words(segment)).sum::<u64>();
    let batch = settings.batch(segments);
    let answers = match translator.translate(&batch).await {
        Ok(answers) if answers.len() == batch.segments.len() => answers,
        Ok(answers) => {
            let why = format!("the response has {} texts instead of {}", answers.len(), batch.segments.len());
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
        let fits = answer.len() <= segment.len() * MAX_GROWTH + MAX_GROWTH_BYTES;
        (fits && is_translation_of(segment, &answer)).then(|| answer.trim().to_owned())
    };
    Ok(run_in_place(|| batch.segments.iter().zip(answers).map(checked).collect()))
}

/// Translates the text between the placeholders of a segment one part at a time.
async fn without_placeholders(
    translator: &dyn Translator,
    settings: &Settings,
    segment: &str,
    found: &mut SegmentResults,
) -> Result<Option<String>, TranslateError> {
    let (texts, join) = run_in_place(|| placeholder_free(segment));
    if texts.len() < 2 && texts.first().is_none_or(|text| text == segment) {
        return Ok(None);
    }
    let mut translations = Vec::with_capacity(texts.len());
    for text in texts {
        match send(translator, settings, vec![text], found).await?.pop().flatten() {
            Some(translation) => translations.push(translation),
            None => return Ok(None),
        }
    }
    let joined = join(&translations);
    Ok(is_translation_of(segment, &joined).then_some(joined))
}

/// Counts the words of a segment, separated by whitespace. Tokens without a letter or digit do not count.
fn words(segment: &str) -> u64 {
    let is_word = |word: &&str| word.chars().any(char::is_alphanumeric);
    segment.split_whitespace().filter(is_word).count() as u64
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;

    use super::*;

    /// A translator that returns texts of this number of bytes.
    struct OfBytes(usize);

    #[async_trait]
    impl Translator for OfBytes {
        fn name(&self) -> String {
            "of bytes".to_owned()
        }

        async fn translate(&self, _: &TranslationBatch) -> Result<Vec<String>, TranslateError> {
            Ok(vec!["b".repeat(self.0)])
        }
    }

    #[tokio::test]
    async fn translations_beyond_their_growth_are_left_out() {
        let language = |code: &str| serde_json::from_value(code.into()).expect("a language");
        let settings = Settings::new("of bytes", language("en"), language("fr"), String::new(), Vec::new());
        let segments = ["a".repeat(10)];
        let most = segments[0].len() * MAX_GROWTH + MAX_GROWTH_BYTES;
        for (bytes, translated, failed) in [(most, 1, 0), (most + 1, 0, 1)] {
            let mut found = SegmentResults::default();
            translate_alone(&OfBytes(bytes), &settings, &segments, &mut found).await.expect("an answer");
            assert_eq!((found.translations.len(), found.failed), (translated, failed));
        }
    }
}
