//! Warnings about content that a page lacks.

use docs_ports::MAX_CONVERSION_WARNINGS;

/// Counts the parts of a document that were left out, by their kind.
#[derive(Debug, Default)]
pub(crate) struct Warnings {
    /// The kinds in order of their first occurrence, with their numbers.
    kinds: Vec<(String, usize)>,
    /// Number of parts of kinds beyond [`MAX_CONVERSION_WARNINGS`].
    others: usize,
}

impl Warnings {
    /// Counts a part that was left out. `kind` is its name in the singular.
    pub(crate) fn left_out(&mut self, kind: &str) {
        if let Some((_, count)) = self.kinds.iter_mut().find(|(known, _)| known == kind) {
            *count += 1;
        } else if self.kinds.len() + 1 < MAX_CONVERSION_WARNINGS {
            self.kinds.push((kind.to_owned(), 1));
        } else {
            self.others += 1;
        }
    }

    /// Returns one message for each kind.
    pub(crate) fn into_messages(self) -> Vec<String> {
        let message = |(kind, count)| match count {
            1 => format!("left out: {kind}"),
            count => format!("left out: {kind} ({count} times)"),
        };
        let others = Some(("content of other kinds".to_owned(), self.others)).filter(|(_, count)| *count > 0);
        self.kinds.into_iter().chain(others).map(message).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_beyond_the_bound_are_counted_together() {
        let messages = |kinds: usize| {
            let mut warnings = Warnings::default();
            for kind in 0..kinds {
                warnings.left_out(&kind.to_string());
                warnings.left_out(&kind.to_string());
            }
            warnings.into_messages()
        };
        assert_eq!(messages(1), ["left out: 0 (2 times)"]);
        let last = MAX_CONVERSION_WARNINGS - 1;
        assert_eq!(messages(last).len(), last);
        let beyond = messages(MAX_CONVERSION_WARNINGS + 1);
        assert_eq!(beyond.len(), MAX_CONVERSION_WARNINGS);
        assert_eq!(beyond[last], "left out: content of other kinds (4 times)");
    }
}
