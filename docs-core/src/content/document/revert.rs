//! Taking back what was done to single blocks.

use std::collections::HashSet;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::{
    Invalid, keys,
    source::{self, Source},
};
use crate::model::{Block, Document};

/// Takes back what was done to blocks: one that was added goes, one that was deleted comes back, one that was changed
/// or moved is as it was.
///
/// Blocks are named by their keys in the current text, or in the base for what is no longer there. What a block was
/// before it was changed is found by where it stands: between two blocks that did not change, the first that changed
/// is the first of the base there, and so on. A key of a block within another stands for the block of the top level
/// that it is part of.
pub(super) fn revert(current: &str, base: &str, keys: &[String]) -> Result<String, Invalid> {
    let now = Source::new(current).document;
    let then = Source::new(base).document;
    let mut named = Named { now: HashSet::new(), then: HashSet::new() };
    for (index, key) in keys.iter().enumerate() {
        named.add(&now, &then, key).ok_or_else(|| Invalid {
            place: format!("block[{index}]"),
            message: format!("there is no block `{key}` on the page, and there was none"),
        })?;
    }
    let nodes = merged(&now.nodes, &then.nodes, &mut named);
    source::update(current, &Document { nodes, ..now })
}

struct Named {
    /// Places in the current document.
    now: HashSet<usize>,
    /// Places in the base.
    then: HashSet<usize>,
}

impl Named {
    fn add(&mut self, now: &Document, then: &Document, key: &str) -> Option<()> {
        let (here, there) = (place(&now.nodes, key), place(&then.nodes, key));
        self.now.extend(here);
        self.then.extend(there);
        here.or(there).map(|_| ())
    }
}

/// The place of the block of the top level that has a key, or that holds the block that has it.
fn place(blocks: &[Block], key: &str) -> Option<usize> {
    blocks.iter().position(|block| {
        let mut found = false;
        keys::visit(block, &mut |block| found |= block.key.as_deref() == Some(key));
        found
    })
}

fn merged(now: &[Block], then: &[Block], named: &mut Named) -> Vec<Block> {
    let here: Vec<String> = now.iter().map(keys::content).collect();
    let there: Vec<String> = then.iter().map(keys::content).collect();
    let ops = capture_diff_slices(Algorithm::Myers, &there, &here);
    moved(&ops, (&here, &there), named);
    let mut out = Vec::new();
    for op in ops {
        let (_, old, new) = op.as_tag_tuple();
        if let DiffOp::Equal { .. } = op {
            out.extend(now[new].iter().cloned());
            continue;
        }
        let pairs = old.len().max(new.len());
        for step in 0..pairs {
            let old = Some(old.start + step).filter(|at| old.contains(at));
            let new = Some(new.start + step).filter(|at| new.contains(at));
            let is_named = old.is_some_and(|at| named.then.contains(&at))
                || new.is_some_and(|at| named.now.contains(&at));
            // A block that is gone and not named stays away; one that is new and not named stays.
            let keep = if is_named { old.map(|at| &then[at]) } else { new.map(|at| &now[at]) };
            out.extend(keep.cloned());
        }
    }
    out
}

/// A block that moved is gone in one place and new in another: naming it names both.
fn moved(ops: &[DiffOp], (here, there): (&[String], &[String]), named: &mut Named) {
    let changed = ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. })).map(DiffOp::as_tag_tuple);
    let (mut gone, mut new) = (Vec::new(), Vec::new());
    for (_, old, own) in changed {
        gone.extend(old);
        new.extend(own);
    }
    for at in &gone {
        for other in &new {
            if there[*at] == here[*other] && (named.then.contains(at) || named.now.contains(other)) {
                named.then.insert(*at);
                named.now.insert(*other);
            }
        }
    }
}
