//! Notes: `[^label]: body`, which annotations in the text refer to.

use std::collections::HashMap;

use crate::model::Block;

/// The notes of a text.
#[derive(Default)]
pub(super) struct Notes {
    bodies: HashMap<String, Vec<Block>>,
    /// The labels that were taken, in their order.
    taken: Vec<String>,
    /// Whether every label is one, with an empty body: for comparing what was written.
    any: Option<()>,
}

impl Notes {
    /// The notes with these bodies.
    pub(super) fn new(bodies: HashMap<String, Vec<Block>>) -> Self {
        Self { bodies, ..Self::default() }
    }

    /// Notes of which every label is one.
    pub(super) fn any() -> Self {
        Self { any: Some(()), ..Self::default() }
    }

    /// Tells whether a label is that of a note.
    pub(super) fn has(&self, label: &str) -> bool {
        self.any.is_some() || self.bodies.contains_key(label)
    }

    /// How many were taken.
    pub(super) fn count(&self) -> usize {
        self.taken.len()
    }

    /// The body of a note; only the first reference has it.
    pub(super) fn take(&mut self, label: &str) -> Option<Vec<Block>> {
        if self.any.is_some() {
            self.taken.push(label.to_owned());
            return Some(Vec::new());
        }
        let is_first = !self.taken.iter().any(|taken| taken == label);
        let body = self.bodies.get(label).filter(|_| is_first)?.clone();
        self.taken.push(label.to_owned());
        Some(body)
    }

    /// Tells whether a note was taken.
    pub(super) fn is_taken(&self, label: &str) -> bool {
        self.taken.iter().any(|taken| taken == label)
    }

    /// Where taking stands.
    pub(super) fn mark(&self) -> usize {
        self.taken.len()
    }

    /// Goes back to where taking stood.
    pub(super) fn reset(&mut self, mark: usize) {
        self.taken.truncate(mark);
    }
}
