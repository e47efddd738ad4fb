//! Stems of words. Inflections of a word, such as its plural, have the same stem.

use rust_stemmers::{Algorithm, Stemmer};

/// Minimum length in characters of a word with inflections.
const MIN_WORD: usize = 3;
/// Minimum length in characters of the common prefix of inflections.
const MIN_BEGINNING: usize = 2;
/// Maximum number of bytes that an inflection may have beyond those of the query word.
const MAX_ENDING: usize = 16;

/// A language for which searches find inflections.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    Danish,
    Dutch,
    English,
    Finnish,
    French,
    German,
    Greek,
    Hungarian,
    Italian,
    Norwegian,
    Portuguese,
    Romanian,
    Russian,
    Spanish,
    Swedish,
    Turkish,
}

impl Language {
    /// Returns the language for an ISO 639 code, ignoring a region after a hyphen. Returns `None` for unsupported
    /// languages.
    #[must_use]
    pub fn from_code(code: &str) -> Option<Self> {
        Some(match code.split('-').next()? {
            "da" => Self::Danish,
            "nl" => Self::Dutch,
            "en" => Self::English,
            "fi" => Self::Finnish,
            "fr" => Self::French,
            "de" => Self::German,
            "el" => Self::Greek,
            "hu" => Self::Hungarian,
            "it" => Self::Italian,
            "no" => Self::Norwegian,
            "pt" => Self::Portuguese,
            "ro" => Self::Romanian,
            "ru" => Self::Russian,
            "es" => Self::Spanish,
            "sv" => Self::Swedish,
            "tr" => Self::Turkish,
            _ => return None,
        })
    }

    fn stem(self, word: &str) -> String {
        let algorithm = match self {
            Self::Danish => Algorithm::Danish,
            Self::Dutch => Algorithm::Dutch,
            Self::English => Algorithm::English,
            Self::Finnish => Algorithm::Finnish,
            Self::French => Algorithm::French,
            Self::German => Algorithm::German,
            Self::Greek => Algorithm::Greek,
            Self::Hungarian => Algorithm::Hungarian,
            Self::Italian => Algorithm::Italian,
            Self::Norwegian => Algorithm::Norwegian,
            Self::Portuguese => Algorithm::Portuguese,
            Self::Romanian => Algorithm::Romanian,
            Self::Russian => Algorithm::Russian,
            Self::Spanish => Algorithm::Spanish,
            Self::Swedish => Algorithm::Swedish,
            Self::Turkish => Algorithm::Turkish,
        };
        Stemmer::create(algorithm).stem(word).into_owned()
    }
}

/// The stem of a word in a language.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Stem {
    language: Language,
    text: String,
}

/// The stems of a word, one for each of its possible languages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Stems {
    stems: Vec<Stem>,
    /// The common prefix of all inflections. An ending can change the last letter of the stem.
    beginning: String,
    longest: usize,
}

impl Stems {
    /// Computes the stems of a folded word in the languages of a query. A Greek or Cyrillic word is stemmed in the
    /// language of its script. Returns `None` for a word without inflections.
    pub(super) fn new(word: &str, languages: &[Language]) -> Option<Self> {
        if word.chars().count() < MIN_WORD || !word.chars().all(char::is_alphabetic) {
            return None;
        }
        let of_script = match word.chars().next()? {
            '\u{370}'..='\u{3ff}' => Some(Language::Greek),
            '\u{400}'..='\u{52f}' => Some(Language::Russian),
            _ => None,
        };
        let languages = of_script.as_ref().map_or(languages, std::slice::from_ref);
        let mut stems: Vec<Stem> = Vec::new();
        let mut beginning = word;
        for &language in languages {
            let text = language.stem(word);
            let letters = text.chars().count().saturating_sub(1).max(MIN_BEGINNING);
            let shared = word.chars().zip(text.chars()).take(letters).take_while(|(a, b)| a == b).count();
            if shared < MIN_BEGINNING || stems.iter().any(|stem| stem.language == language) {
                continue;
            }
            let end = word.char_indices().nth(shared).map_or(word.len(), |(at, _)| at);
            beginning = &word[..end.min(beginning.len())];
            stems.push(Stem { language, text });
        }
        let longest = word.len() + MAX_ENDING;
        (!stems.is_empty()).then(|| Self { stems, beginning: beginning.to_owned(), longest })
    }

    /// Returns the common prefix of all inflections.
    pub(super) fn beginning(&self) -> &str {
        &self.beginning
    }

    /// Returns `true` if the folded word `term` is an inflection of this word.
    pub(super) fn include(&self, term: &str) -> bool {
        term.starts_with(&self.beginning)
            && term.len() <= self.longest
            && term.chars().all(char::is_alphabetic)
            && self.stems.iter().any(|stem| stem.language.stem(term) == stem.text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ALL: [Language; 16] = [
        Language::Danish,
        Language::Dutch,
        Language::English,
        Language::Finnish,
        Language::French,
        Language::German,
        Language::Greek,
        Language::Hungarian,
        Language::Italian,
        Language::Norwegian,
        Language::Portuguese,
        Language::Romanian,
        Language::Russian,
        Language::Spanish,
        Language::Swedish,
        Language::Turkish,
    ];

    #[test]
    fn inflections_of_a_word_have_its_stem() {
        for (language, one, other, is_same) in [
            (Language::English, "repository", "repositories", true),
            (Language::English, "queries", "query", true),
            (Language::English, "policy", "policies", true),
            (Language::English, "install", "installation", true),
            (Language::English, "use", "using", true),
            (Language::English, "box", "boxes", true),
            (Language::English, "status", "statistics", false),
            (Language::English, "class", "clash", false),
            (Language::German, "einstellung", "einstellungen", true),
            (Language::German, "haus", "hauser", true),
            (Language::French, "parametre", "parametres", true),
            (Language::Spanish, "pagina", "paginas", true),
            (Language::English, "страница", "страницы", true),
            (Language::German, "v2", "v2s", false),
        ] {
            for (word, term) in [(one, other), (other, one)] {
                let found = Stems::new(word, &[language]).is_some_and(|stems| stems.include(term));
                assert_eq!(found, is_same, "{word} {term}");
            }
        }
    }

    proptest! {
        #[test]
        fn stems_of_arbitrary_words_do_not_panic(word in "[a-zäöüéèñçßığşабвгдежийклмнопрстуыьэюяαβγδεηικλμνοπρστυωσς'日]{0,20}") {
            for language in ALL {
                let stems = Stems::new(&word, &[language]);
                prop_assert!(stems.is_none_or(|stems| word.starts_with(stems.beginning())));
            }
        }
    }
}
