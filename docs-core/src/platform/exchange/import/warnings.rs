//! Warnings of an import, for the log of its job and for its answer.

use std::collections::HashSet;

use crate::model::redact_credentials;

/// Maximum number of warnings in the log of an import.
pub(in crate::platform) const MAX_WARNINGS: usize = 500;
/// Maximum number of warnings in the answer of an import, so that the answer can be stored for retries.
pub(in crate::platform) const MAX_ANSWER_WARNINGS: usize = 50;
/// Maximum length of a warning in characters.
const MAX_WARNING: usize = 400;

/// Messages about content that was left out, without duplicates.
#[derive(Default)]
pub(in crate::platform) struct ImportWarnings {
    messages: Vec<String>,
    known: HashSet<String>,
    /// Number of messages beyond [`MAX_WARNINGS`].
    others: usize,
}

impl ImportWarnings {
    /// Adds a message.
    pub(in crate::platform) fn add(&mut self, message: String) {
        if self.messages.len() >= MAX_WARNINGS {
            self.others += 1;
            return;
        }
        let message: String = redact_credentials(&message).chars().take(MAX_WARNING).collect();
        if self.known.insert(message.clone()) {
            self.messages.push(message);
        }
    }

    /// Adds several messages.
    pub(in crate::platform) fn add_all(&mut self, messages: &[String]) {
        messages.iter().for_each(|message| self.add(message.clone()));
    }

    /// Returns all messages for the log of the job.
    pub(super) fn messages(&self) -> impl Iterator<Item = String> {
        let others = (self.others > 0).then(|| format!("and {} more", self.others));
        self.messages.iter().cloned().chain(others)
    }

    /// Returns the messages for the answer. The last one states the number of others.
    pub(super) fn for_answer(&self) -> Vec<String> {
        let count = self.messages.len() + self.others;
        if count <= MAX_ANSWER_WARNINGS {
            return self.messages.clone();
        }
        let shown = MAX_ANSWER_WARNINGS - 1;
        let mut messages: Vec<String> = self.messages.iter().take(shown).cloned().collect();
        messages.push(format!("and {} more; see the log of the job", count - shown));
        messages
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warnings(count: usize) -> ImportWarnings {
        let mut warnings = ImportWarnings::default();
        (0..count).for_each(|number| warnings.add(number.to_string()));
        warnings
    }

    #[test]
    fn warnings_beyond_the_bounds_are_counted() {
        assert_eq!(warnings(MAX_WARNINGS).messages().count(), MAX_WARNINGS);
        assert_eq!(warnings(MAX_WARNINGS + 2).messages().last().as_deref(), Some("and 2 more"));
        assert_eq!(warnings(MAX_ANSWER_WARNINGS).for_answer().len(), MAX_ANSWER_WARNINGS);
        let beyond = warnings(MAX_WARNINGS + 2).for_answer();
        assert_eq!(beyond.len(), MAX_ANSWER_WARNINGS);
        let last = format!("and {} more; see the log of the job", MAX_WARNINGS + 2 - MAX_ANSWER_WARNINGS + 1);
        assert_eq!(beyond.last(), Some(&last));
    }

    #[test]
    fn warnings_are_unique_short_and_without_credentials() {
        let mut warnings = ImportWarnings::default();
        warnings.add("https://a:secret@a.test/x: gone".to_owned());
        warnings.add("https://a:secret@a.test/x: gone".to_owned());
        warnings.add("x".repeat(MAX_WARNING + 1));
        let messages: Vec<String> = warnings.messages().collect();
        assert_eq!(messages.len(), 2);
        assert!(!messages[0].contains("secret"), "{}", messages[0]);
        assert_eq!(messages[1].len(), MAX_WARNING);
    }
}
