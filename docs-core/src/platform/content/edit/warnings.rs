//! Warnings about the text of edited pages.

use std::collections::BTreeSet;

use crate::{content::markdown::text_problems, model::redact_credentials};

/// Maximum number of warnings of a request.
pub(in crate::platform) const MAX_EDIT_WARNINGS: usize = 50;
/// Maximum length of a warning in characters.
const MAX_EDIT_WARNING: usize = 300;

/// Warnings of the edits of a request, in order.
#[derive(Default)]
pub(super) struct EditWarnings {
    messages: Vec<String>,
    others: usize,
    /// The index of the edit in the request.
    change: usize,
}

impl EditWarnings {
    /// Adds the following warnings for an edit of the request.
    pub(super) const fn within(&mut self, change: usize) -> &mut Self {
        self.change = change;
        self
    }

    pub(super) fn add(&mut self, message: &str) {
        if self.messages.len() + 1 >= MAX_EDIT_WARNINGS {
            self.others += 1;
            return;
        }
        let message = format!("changes[{}]: {}", self.change, redact_credentials(message));
        self.messages.push(message.chars().take(MAX_EDIT_WARNING).collect());
    }

    /// Adds the problems of a text that its previous text does not have.
    pub(super) fn add_from_text(&mut self, text: &str, before: &str) {
        let problems = text_problems(text);
        if problems.is_empty() {
            return;
        }
        let known: BTreeSet<String> = text_problems(before).into_iter().collect();
        for problem in problems.into_iter().filter(|problem| !known.contains(problem)) {
            self.add(&problem);
        }
    }

    /// Returns the messages. The last one states the number of others.
    pub(super) fn messages(&self) -> Vec<String> {
        let others = (self.others > 0).then(|| format!("and {} more", self.others));
        self.messages.iter().cloned().chain(others).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_of_edits_beyond_the_bounds_are_counted_or_cut() {
        let mut warnings = EditWarnings::default();
        for _ in 0..=MAX_EDIT_WARNINGS {
            warnings.within(3).add(&"x".repeat(MAX_EDIT_WARNING));
        }
        let messages = warnings.messages();
        assert_eq!((messages.len(), messages[0].len()), (MAX_EDIT_WARNINGS, MAX_EDIT_WARNING));
        assert!(messages[0].starts_with("changes[3]: x"));
        assert_eq!(messages.last().map(String::as_str), Some("and 2 more"));
    }

    #[test]
    fn problems_of_the_previous_text_are_not_reported() {
        let mut warnings = EditWarnings::default();
        warnings.add_from_text("{% old %}\n\n{% new %}\n", "{% old %}\n");
        assert_eq!(warnings.messages(), ["changes[0]: the block `{% new %}` is unknown"]);
    }
}
