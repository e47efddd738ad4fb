//! Translating text: [`Translator`].

mod terms;

use async_trait::async_trait;
use docs_model::TranslationLanguage;

pub use self::terms::{FoundTerm, Terms};

/// Opens a placeholder within a segment.
pub const PLACEHOLDER_OPEN: char = '⟦';
/// Closes a placeholder within a segment.
pub const PLACEHOLDER_CLOSE: char = '⟧';

/// Segments to be translated, with everything that a translator needs to know.
///
/// A segment is a sentence or a paragraph without its form. What must not be touched is a placeholder: `⟦1⟧` stands for
/// something that is shown there, and `⟦2⟧words⟦/2⟧` for words with a form of their own, such as those of a link.
/// Numbers begin with 1 in every segment. No other character of a segment is `⟦` or `⟧`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranslationBatch {
    /// The language of the segments.
    pub source: TranslationLanguage,
    /// The language that is wanted.
    pub target: TranslationLanguage,
    /// What the translator is told besides, as Markdown; empty for nothing.
    pub instructions: String,
    /// How terms that occur in the segments are translated.
    pub glossary: Vec<TermRule>,
    /// The segments.
    pub segments: Vec<String>,
}

/// How a term is translated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TermRule {
    /// The term, as the source has it.
    pub term: String,
    /// How it is translated; the term itself where it stays.
    pub translation: String,
    /// Whether it is only meant in this case.
    pub case_sensitive: bool,
    /// What it means; empty where nothing is said.
    pub note: String,
}

/// Translates text.
///
/// An adapter is a client of a service, or a dictionary: what it answers is checked by whoever asks. It guards how long
/// and how large an answer may be, and never tells the key that it signs its requests with.
#[async_trait]
pub trait Translator: Send + Sync + 'static {
    /// Names the translator and what its answers depend on, such as the model. Segments that another one has translated
    /// are translated again.
    fn name(&self) -> String;

    /// Translates segments: as many texts as there are segments, in their order, each with the placeholders of its
    /// segment.
    ///
    /// # Errors
    /// Every kind of [`TranslateError`].
    ///
    /// # Cancel safety
    /// Nothing is left behind; the service may have been asked.
    async fn translate(&self, batch: &TranslationBatch) -> Result<Vec<String>, TranslateError>;
}

/// Why segments were not translated. The texts are for the user.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TranslateError {
    /// The service cannot be used now: it may pass. `after` is how many seconds the service wants to be left alone.
    #[error("the translator cannot be used now: {reason}")]
    Unavailable {
        /// Why.
        reason: String,
        /// For how many seconds the service asked to be left alone.
        after: Option<u64>,
    },
    /// The service refuses the request: the key, the model, or a pair of languages.
    #[error("the translator refuses: {0}")]
    Refused(String),
    /// The answer is none that can be read. Fewer segments at once may help.
    #[error("the translator's answer cannot be read: {0}")]
    Malformed(String),
}

impl TranslateError {
    /// An error that may pass.
    #[must_use]
    pub fn unavailable(reason: impl Into<String>) -> Self {
        Self::Unavailable { reason: reason.into(), after: None }
    }
}

/// A translator for tests of layout and of the way of a text, as localisation testers use it: letters get accents, and
/// every segment stands in brackets. It knows no language; the same segment always gives the same text.
#[derive(Clone, Copy, Debug, Default)]
pub struct PseudoTranslator;

#[async_trait]
impl Translator for PseudoTranslator {
    fn name(&self) -> String {
        "pseudo".to_owned()
    }

    async fn translate(&self, batch: &TranslationBatch) -> Result<Vec<String>, TranslateError> {
        let terms = Terms::new(&batch.glossary);
        Ok(batch.segments.iter().map(|segment| pseudo(segment, (&terms, &batch.glossary))).collect())
    }
}

/// A segment with accents, in brackets. Terms of the glossary are what it says of them.
fn pseudo(segment: &str, (terms, glossary): (&Terms, &[TermRule])) -> String {
    let mut out = String::from("[");
    let mut rest = segment;
    while !rest.is_empty() {
        let (text, after) = rest.split_at(rest.find(PLACEHOLDER_OPEN).unwrap_or(rest.len()));
        let mut done = 0;
        for FoundTerm { range, rule } in terms.find_all(text) {
            out.extend(text[done..range.start].chars().map(accented));
            out.push_str(&glossary[rule].translation);
            done = range.end;
        }
        out.extend(text[done..].chars().map(accented));
        let end = after.find(PLACEHOLDER_CLOSE).map_or(after.len(), |end| end + PLACEHOLDER_CLOSE.len_utf8());
        out.push_str(&after[..end]);
        rest = &after[end..];
    }
    out.push(']');
    out
}

/// A letter with an accent; other characters as they are.
const fn accented(c: char) -> char {
    match c {
        'a' => 'á',
        'c' => 'ç',
        'e' => 'é',
        'i' => 'í',
        'n' => 'ñ',
        'o' => 'ó',
        'u' => 'ú',
        'y' => 'ý',
        'A' => 'Á',
        'C' => 'Ç',
        'E' => 'É',
        'I' => 'Í',
        'N' => 'Ñ',
        'O' => 'Ó',
        'U' => 'Ú',
        'Y' => 'Ý',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(term: &str, translation: &str, case_sensitive: bool) -> TermRule {
        TermRule { term: term.into(), translation: translation.into(), case_sensitive, note: String::new() }
    }

    #[test]
    fn the_pseudo_translation_keeps_placeholders_and_terms() {
        let rules = [rule("API", "API", true), rule("space", "espace", false)];
        for (segment, translated) in [
            ("Hello", "[Hélló]"),
            ("Read ⟦1⟧ and ⟦2⟧the guide⟦/2⟧", "[Réád ⟦1⟧ áñd ⟦2⟧thé gúídé⟦/2⟧]"),
            ("The API of a Space", "[Thé API óf á espace]"),
            ("An api, spaces", "[Áñ ápí, spáçés]"),
            ("", "[]"),
        ] {
            assert_eq!(pseudo(segment, (&Terms::new(&rules), &rules)), translated);
        }
    }
}
