//! Machine translation: [`Translator`].

mod terms;

use async_trait::async_trait;
use docs_model::TranslationLanguage;

pub use self::terms::{FoundTerm, TermRule, Terms};

/// The opening delimiter of a placeholder in a segment.
pub const PLACEHOLDER_OPEN: char = '⟦';
/// The closing delimiter of a placeholder in a segment.
pub const PLACEHOLDER_CLOSE: char = '⟧';

/// Segments to translate, and the context for the translator.
///
/// A segment is a sentence or a paragraph without formatting. Placeholders mark parts that must be preserved: `⟦1⟧`
/// stands for inline content, and `⟦2⟧words⟦/2⟧` encloses formatted words, for example a link. The numbers start at 1
/// in each segment. A segment contains `⟦` and `⟧` only in placeholders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranslationBatch {
    /// The language of the segments.
    pub source: TranslationLanguage,
    pub target: TranslationLanguage,
    /// Additional instructions for the translator, in Markdown. May be empty.
    pub instructions: String,
    /// The glossary rules for terms that occur in the segments.
    pub glossary: Vec<TermRule>,
    pub segments: Vec<String>,
}

/// A machine translator.
///
/// An adapter is a client of a service or a dictionary. It limits the duration and size of a response and never
/// discloses its API key. The caller verifies the output.
#[async_trait]
pub trait Translator: Send + Sync + 'static {
    /// Returns an identifier for the translator and everything that affects its output, for example the model. Segments
    /// that were translated under a different name are translated again.
    fn name(&self) -> String;

    /// Translates segments. Returns one translation per segment, in order, with the placeholders of the segment.
    ///
    /// # Errors
    /// Any [`TranslateError`].
    ///
    /// # Cancel safety
    /// The request may already have been sent to the service. There are no other side effects.
    async fn translate(&self, batch: &TranslationBatch) -> Result<Vec<String>, TranslateError>;
}

/// The reason segments could not be translated. The messages are intended for the user.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TranslateError {
    /// The service is temporarily unavailable.
    #[error("the translator is temporarily unavailable: {reason}")]
    Unavailable {
        reason: String,
        /// The number of seconds to wait before a retry, if the service states it.
        after: Option<u64>,
    },
    /// The service rejected the request because of the key, the model or the language pair.
    #[error("the translator rejected the request: {0}")]
    Refused(String),
    /// The response could not be parsed. Sending fewer segments per request may help.
    #[error("the response of the translator is malformed: {0}")]
    Malformed(String),
}

impl TranslateError {
    /// Creates a transient error.
    #[must_use]
    pub fn unavailable(reason: impl Into<String>) -> Self {
        Self::Unavailable { reason: reason.into(), after: None }
    }
}

/// A pseudolocalization translator for tests of layout and data flow. It adds accents to letters and encloses each
/// segment in brackets. It is deterministic and independent of the languages.
#[derive(Clone, Copy, Debug, Default)]
pub struct PseudoTranslator;

#[async_trait]
impl Translator for PseudoTranslator {
    fn name(&self) -> String {
        "pseudo".to_owned()
    }

    async fn translate(&self, batch: &TranslationBatch) -> Result<Vec<String>, TranslateError> {
        let terms = Terms::new(&batch.glossary);
        Ok(batch.segments.iter().map(|segment| pseudo(segment, &terms, &batch.glossary)).collect())
    }
}

/// Adds accents to a segment and encloses it in brackets. Glossary terms are replaced by their translations.
fn pseudo(segment: &str, terms: &Terms, glossary: &[TermRule]) -> String {
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

/// Returns a letter with an accent, or any other character unchanged.
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
    fn pseudo_translation_keeps_placeholders_and_applies_terms() {
        let rules = [rule("API", "API", true), rule("space", "espace", false)];
        for (segment, translated) in [
            ("Hello", "[Hélló]"),
            ("Read ⟦1⟧ and ⟦2⟧the guide⟦/2⟧", "[Réád ⟦1⟧ áñd ⟦2⟧thé gúídé⟦/2⟧]"),
            ("The API of a Space", "[Thé API óf á espace]"),
            ("An api, spaces", "[Áñ ápí, spáçés]"),
            ("", "[]"),
        ] {
            assert_eq!(pseudo(segment, &Terms::new(&rules), &rules), translated);
        }
    }
}
