//! Notes: `[^label]: body`, which annotations in the text refer to.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use docs_model::Block;

/// The notes of a text.
#[derive(Default)]
pub(super) struct Notes {
    bodies: HashMap<String, Vec<Block>>,
    /// The labels that were taken, in their order.
    taken: Vec<String>,
    /// The same, to be found by label.
    is_taken: HashSet<String>,
    /// The labels of notes without bodies: for comparing what was written.
    known: Option<Arc<HashSet<String>>>,
}

impl Notes {
    /// The notes with these bodies.
    pub(super) fn new(bodies: HashMap<String, Vec<Block>>) -> Self {
        Self { bodies, ..Self::default() }
    }

    /// Notes with these labels and empty bodies, of which some were taken before.
    pub(super) fn known<'l>(labels: &Arc<HashSet<String>>, taken: impl Iterator<Item = &'l str>) -> Self {
        let taken: Vec<String> = taken.map(str::to_owned).collect();
        let is_taken = taken.iter().cloned().collect();
        Self { known: Some(Arc::clone(labels)), taken, is_taken, ..Self::default() }
    }

    /// The labels that were taken, in their order.
    pub(super) fn taken(&self) -> &[String] {
        &self.taken
    }

    /// The labels of all notes.
    pub(super) fn labels(&self) -> HashSet<String> {
        self.bodies.keys().cloned().collect()
    }

    /// Tells whether a label is that of a note.
    pub(super) fn has(&self, label: &str) -> bool {
        self.bodies.contains_key(label) || self.known.as_ref().is_some_and(|known| known.contains(label))
    }

    /// How many were taken.
    pub(super) fn count(&self) -> usize {
        self.taken.len()
    }

    /// The body of a note; only the first reference has it.
    pub(super) fn take(&mut self, label: &str) -> Option<Vec<Block>> {
        if self.is_taken(label) {
            return None;
        }
        let is_known = self.known.as_ref().is_some_and(|known| known.contains(label));
        let body = if is_known { Vec::new() } else { self.bodies.get(label)?.clone() };
        self.taken.push(label.to_owned());
        self.is_taken.insert(label.to_owned());
        Some(body)
    }

    /// Tells whether a note was taken.
    pub(super) fn is_taken(&self, label: &str) -> bool {
        self.is_taken.contains(label)
    }

    /// Where taking stands.
    pub(super) fn mark(&self) -> usize {
        self.taken.len()
    }

    /// Goes back to where taking stood.
    pub(super) fn reset(&mut self, mark: usize) {
        for label in self.taken.drain(mark..) {
            self.is_taken.remove(&label);
        }
    }
}
