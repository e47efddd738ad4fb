//! Text merge: merging concurrent changes, representing conflicts, and rendering them for users.

mod lines;
mod markers;

use std::collections::BTreeSet;

pub use lines::LineMerger;
pub(crate) use markers::{render, request_side, unfold};

use super::{Body, Term, Terms};

/// A segment of a merged text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MergeHunk {
    /// Text that is the same on both sides or was changed by only one side.
    Clean(String),
    /// Text that both sides changed differently.
    Clash {
        /// The text of the first side.
        ours: String,
        /// The text of the common ancestor.
        base: String,
        /// The text of the second side.
        theirs: String,
    },
}

/// Merges two texts that have a common ancestor.
///
/// A merger is pure and symmetric: exchanging the sides returns the same hunks with their sides exchanged. Every line
/// of a hunk, including the last, ends with a line break. Without clashes, the concatenated hunks are the merged text.
pub trait TextMerger: Send + Sync + 'static {
    /// Merges `ours` and `theirs` with their common ancestor `base`.
    fn merge(&self, base: &str, ours: &str, theirs: &str) -> Vec<MergeHunk>;
}

/// Returns the terms of a merge of bodies, `other + (request - base)`, without equal pairs.
///
/// The terms of a body alternate in sign and begin and end with an added term, so the three bodies in this order
/// alternate too.
pub(crate) fn merged_terms(base: &Body, other: &Body, request: &Body) -> Vec<Term> {
    let mut terms = other.terms();
    terms.extend(base.terms());
    terms.extend(request.terms());
    cancel(&terms)
}

/// Cancels pairs of an added and an equal removed term. The order of the other terms is preserved.
pub(crate) fn cancel(terms: &[Term]) -> Vec<Term> {
    let mut added: Vec<Term> = terms.iter().step_by(2).copied().collect();
    let mut removed: Vec<Term> = Vec::new();
    for term in terms.iter().skip(1).step_by(2) {
        match added.iter().position(|a| a == term) {
            Some(at) if added.len() > 1 => {
                added.remove(at);
            }
            _ => removed.push(*term),
        }
    }
    let mut out = Vec::with_capacity(terms.len());
    let mut removed = removed.into_iter();
    for term in added {
        if !out.is_empty() {
            out.extend(removed.next());
        }
        out.push(term);
    }
    out
}

/// Creates a body from its terms.
pub(crate) fn body_of(terms: Vec<Term>) -> Body {
    let only = terms.first().copied().flatten();
    Terms::try_from(terms).map_or(Body::of(only), Body::Conflict)
}

/// Adds the hashes of the texts that a body references.
pub(crate) fn texts_of(body: &Body, into: &mut BTreeSet<docs_store::Hash>) {
    into.extend(body.terms().into_iter().flatten());
}

/// Returns the merged text, or `None` if there is a clash.
pub(crate) fn clean(hunks: &[MergeHunk]) -> Option<String> {
    let mut out = String::new();
    for hunk in hunks {
        match hunk {
            MergeHunk::Clean(text) => out.push_str(text),
            MergeHunk::Clash { .. } => return None,
        }
    }
    Some(out)
}

/// Merges the texts of the given terms. Returns `None` if they conflict.
pub(crate) fn merge_terms(merger: &dyn TextMerger, terms: &[&str]) -> Option<String> {
    let mut current = (*terms.first()?).to_owned();
    for pair in terms[1..].chunks_exact(2) {
        current = clean(&merger.merge(pair[0], &current, pair[1]))?;
    }
    Some(current)
}

#[cfg(test)]
mod tests {
    use super::*;
    use docs_store::Hash;

    fn t(text: &str) -> Term {
        Some(Hash::compute(text.as_bytes()))
    }

    fn conflict(terms: &[Term]) -> Body {
        body_of(terms.to_vec())
    }

    #[test]
    fn two_sides_make_three_terms() {
        let terms = merged_terms(&Body::of(t("b")), &Body::of(t("o")), &Body::of(t("r")));
        assert_eq!(terms, [t("o"), t("b"), t("r")]);
    }

    #[test]
    fn added_and_removed_terms_cancel_out() {
        // The change request merged main at `m` and has a conflict with base `b`. Main then changed to `n`.
        let request = conflict(&[t("m"), t("b"), t("r")]);
        let terms = merged_terms(&Body::of(t("m")), &Body::of(t("n")), &request);
        assert_eq!(terms, [t("n"), t("b"), t("r")]);
    }

    #[test]
    fn a_conflict_merged_with_its_resolution_is_resolved() {
        let open = conflict(&[t("m"), t("b"), t("r")]);
        assert_eq!(merged_terms(&open, &open, &Body::of(t("x"))), [t("x")]);
        assert_eq!(body_of(vec![t("x")]), Body::of(t("x")));
    }

    #[test]
    fn the_empty_text_is_a_term() {
        assert_eq!(merged_terms(&Body::Empty, &Body::of(t("o")), &Body::of(t("r"))), [t("o"), None, t("r")]);
    }
}
