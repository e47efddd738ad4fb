//! Footnotes: definitions `[^label]: body`, referenced by annotations in the text.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use docs_model::Block;

/// The consumed labels in order, each with the body of its footnote. Clones share full segments, because parsing and
/// printing save this state for every text.
#[derive(Clone, Default)]
pub(super) struct LabelLog {
    full: Vec<Arc<Segment>>,
    last: Segment,
}

/// A run of consecutive labels.
#[derive(Clone, Default)]
struct Segment {
    entries: Vec<(String, Arc<[Block]>)>,
    names: HashSet<String>,
}

/// Maximum number of labels that are copied when a log is cloned.
const SEGMENT_LABELS: usize = 32;

impl LabelLog {
    pub(super) fn len(&self) -> usize {
        self.full.len() * SEGMENT_LABELS + self.last.entries.len()
    }

    pub(super) fn has(&self, label: &str) -> bool {
        self.last.names.contains(label) || self.full.iter().any(|segment| segment.names.contains(label))
    }

    /// Returns a label and its footnote by index.
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

    /// Truncates the log to this number of labels.
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

    /// Returns all labels.
    pub(super) fn names(&self) -> HashSet<String> {
        let full = self.full.iter().flat_map(|segment| &segment.names);
        full.chain(&self.last.names).cloned().collect()
    }
}

/// The footnotes of a document.
#[derive(Default)]
pub(super) struct Notes {
    bodies: HashMap<String, Vec<Block>>,
    /// The consumed labels, without the bodies.
    taken: LabelLog,
    /// Labels of footnotes without bodies, for comparing printed text.
    known: Option<Arc<HashSet<String>>>,
    /// The labels of references to consumed footnotes.
    repeated: HashSet<String>,
}

impl Notes {
    /// Creates footnotes with these bodies.
    pub(super) fn new(bodies: HashMap<String, Vec<Block>>) -> Self {
        Self { bodies, ..Self::default() }
    }

    /// Creates footnotes with these labels and empty bodies. The labels in `taken` are already consumed.
    pub(super) fn from_labels(labels: &Arc<HashSet<String>>, taken: &LabelLog) -> Self {
        Self { known: Some(Arc::clone(labels)), taken: taken.clone(), ..Self::default() }
    }

    /// Returns the consumed labels, in order.
    pub(super) fn label_log(&self) -> &LabelLog {
        &self.taken
    }

    /// Returns the labels of all footnotes.
    pub(super) fn labels(&self) -> HashSet<String> {
        self.bodies.keys().cloned().collect()
    }

    /// Returns `true` if a footnote with this label exists.
    pub(super) fn has(&self, label: &str) -> bool {
        self.bodies.contains_key(label) || self.known.as_ref().is_some_and(|known| known.contains(label))
    }

    /// Returns the number of consumed labels.
    pub(super) fn count(&self) -> usize {
        self.taken.len()
    }

    /// Consumes the body of a footnote. Only the first reference receives it.
    pub(super) fn take(&mut self, label: &str) -> Option<Vec<Block>> {
        if self.is_taken(label) {
            self.repeated.insert(label.to_owned());
            return None;
        }
        let is_known = self.known.as_ref().is_some_and(|known| known.contains(label));
        let body = if is_known { Vec::new() } else { self.bodies.get(label)?.clone() };
        self.taken.push(label, Arc::default());
        Some(body)
    }

    pub(super) fn is_taken(&self, label: &str) -> bool {
        self.taken.has(label)
    }

    /// Returns the labels of references to consumed footnotes since the last call.
    pub(super) fn take_repeated(&mut self) -> HashSet<String> {
        std::mem::take(&mut self.repeated)
    }

    /// Returns a checkpoint for [`Self::rewind`].
    pub(super) fn mark(&self) -> usize {
        self.taken.len()
    }

    /// Rewinds the consumed labels to a checkpoint.
    pub(super) fn rewind(&mut self, mark: usize) {
        self.taken.truncate(mark);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_log_truncates_to_any_earlier_length() {
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
