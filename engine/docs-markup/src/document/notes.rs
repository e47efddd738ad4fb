//! Notes: `[^label]: body`, which annotations in the text refer to.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use docs_model::Block;

/// Labels in the order they were taken, each with the body of its note. Copying it copies no label: reading and writing
/// keep where taking stood for every text.
#[derive(Clone, Default)]
pub(super) struct LabelLog {
    full: Vec<Arc<Segment>>,
    last: Segment,
}

/// Labels in a row.
#[derive(Clone, Default)]
struct Segment {
    entries: Vec<(String, Arc<[Block]>)>,
    names: HashSet<String>,
}

/// Most labels that are copied with a log.
const SEGMENT_LABELS: usize = 32;

impl LabelLog {
    pub(super) fn len(&self) -> usize {
        self.full.len() * SEGMENT_LABELS + self.last.entries.len()
    }

    pub(super) fn has(&self, label: &str) -> bool {
        self.last.names.contains(label) || self.full.iter().any(|segment| segment.names.contains(label))
    }

    /// A label and its note, by its place.
    pub(super) fn get(&self, at: usize) -> Option<&(String, Arc<[Block]>)> {
        let segment = self.full.get(at / SEGMENT_LABELS).map_or(&self.last, |segment| segment);
        segment.entries.get(at % SEGMENT_LABELS)
    }

    pub(super) fn push(&mut self, label: &str, body: Arc<[Block]>) {
        self.last.entries.push((label.to_owned(), body));
        self.last.names.insert(label.to_owned());
        if self.last.entries.len() == SEGMENT_LABELS {
            self.full.push(Arc::new(std::mem::take(&mut self.last)));
        }
    }

    /// Keeps so many of the first labels.
    fn truncate(&mut self, length: usize) {
        while self.len() > length {
            if self.last.entries.is_empty()
                && let Some(segment) = self.full.pop()
            {
                self.last = Arc::unwrap_or_clone(segment);
            }
            if let Some((label, _)) = self.last.entries.pop() {
                self.last.names.remove(&label);
            }
        }
    }

    /// All labels.
    pub(super) fn names(&self) -> HashSet<String> {
        let full = self.full.iter().flat_map(|segment| &segment.names);
        full.chain(&self.last.names).cloned().collect()
    }
}

/// The notes of a text.
#[derive(Default)]
pub(super) struct Notes {
    bodies: HashMap<String, Vec<Block>>,
    /// The labels that were taken, without the bodies.
    taken: LabelLog,
    /// The labels of notes without bodies: for comparing what was written.
    known: Option<Arc<HashSet<String>>>,
}

impl Notes {
    /// The notes with these bodies.
    pub(super) fn new(bodies: HashMap<String, Vec<Block>>) -> Self {
        Self { bodies, ..Self::default() }
    }

    /// Notes with these labels and empty bodies, of which some were taken before.
    pub(super) fn known(labels: &Arc<HashSet<String>>, taken: &LabelLog) -> Self {
        Self { known: Some(Arc::clone(labels)), taken: taken.clone(), ..Self::default() }
    }

    /// The labels that were taken, in their order.
    pub(super) fn taken(&self) -> &LabelLog {
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
        self.taken.push(label, Arc::default());
        Some(body)
    }

    /// Tells whether a note was taken.
    pub(super) fn is_taken(&self, label: &str) -> bool {
        self.taken.has(label)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_goes_back_to_each_of_its_lengths() {
        let mut log = LabelLog::default();
        let name = |at: usize| format!("n{at}");
        let count = 3 * SEGMENT_LABELS + 1;
        let copies: Vec<LabelLog> = (0..count)
            .map(|at| {
                log.push(&name(at), Arc::default());
                log.clone()
            })
            .collect();
        for (at, copy) in copies.iter().enumerate() {
            assert_eq!((copy.len(), copy.names().len()), (at + 1, at + 1));
            assert_eq!(copy.get(at).map(|(label, _)| label), Some(&name(at)));
            assert!(copy.has(&name(0)) && !copy.has(&name(at + 1)) && copy.get(at + 1).is_none());
            let mut cut = log.clone();
            cut.truncate(at);
            assert!(cut.len() == at && !cut.has(&name(at)) && (at == 0 || cut.has(&name(at - 1))));
        }
    }
}
