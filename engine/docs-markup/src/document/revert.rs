//! Reverting the changes of single blocks.

use std::collections::{HashMap, HashSet};

use docs_model::{Block, Document};

use super::{invalid::Invalid, keys, source::DocumentSource, update};
use crate::diff::{LineChange, changed};

/// Reverts the changes of blocks in `current` since `base`: an added block is removed, a deleted one restored, a
/// changed or moved one reset. All other blocks keep their bytes.
///
/// Blocks are identified by their keys in the current text, or in the base if they no longer exist. The previous
/// version of a changed block is found by position: between two unchanged blocks, the first changed block corresponds
/// to the first base block in that gap, and so on. The key of a nested block identifies the top-level block that
/// contains it.
///
/// # Errors
///
/// [`Invalid`] with the first key that is in neither text.
pub fn revert_blocks(current: &str, base: &str, keys: &[String]) -> Result<String, Invalid> {
    let now = DocumentSource::new(current).document;
    let then = DocumentSource::new(base).document;
    let mut named = NamedBlocks { now: HashSet::new(), then: HashSet::new() };
    for (index, key) in keys.iter().enumerate() {
        named.add(&now, &then, key).ok_or_else(|| Invalid {
            place: format!("block[{index}]"),
            message: format!("the block `{key}` does not exist on the page or on its earlier version"),
        })?;
    }
    let nodes = merged(&now.nodes, &then.nodes, &mut named);
    update::by_blocks(current, &Document { nodes, ..now })
}

struct NamedBlocks {
    /// Indices in the current document.
    now: HashSet<usize>,
    /// Indices in the base.
    then: HashSet<usize>,
}

impl NamedBlocks {
    fn add(&mut self, now: &Document, then: &Document, key: &str) -> Option<()> {
        let (here, there) = (place(&now.nodes, key), place(&then.nodes, key));
        self.now.extend(here);
        self.then.extend(there);
        here.or(there).map(|_| ())
    }
}

/// Returns the index of the top-level block that has a key, or that contains the block with the key.
fn place(blocks: &[Block], key: &str) -> Option<usize> {
    blocks.iter().position(|block| {
        let mut found = false;
        block.visit(&mut |block| found |= block.key.as_deref() == Some(key));
        found
    })
}

fn merged(now: &[Block], then: &[Block], named: &mut NamedBlocks) -> Vec<Block> {
    let here: Vec<String> = now.iter().map(keys::content).collect();
    let there: Vec<String> = then.iter().map(keys::content).collect();
    let changes = changed(&there, &here);
    select_moved(&changes, &here, &there, named);
    let mut out = Vec::new();
    let mut at = 0;
    for LineChange { old, new } in changes {
        out.extend_from_slice(&now[at..new.start]);
        at = new.end;
        for step in 0..old.len().max(new.len()) {
            let old = Some(old.start + step).filter(|at| old.contains(at));
            let new = Some(new.start + step).filter(|at| new.contains(at));
            let is_named = old.is_some_and(|at| named.then.contains(&at))
                || new.is_some_and(|at| named.now.contains(&at));
            // Unselected blocks keep their current state: deleted blocks remain deleted, and added blocks remain.
            let keep = if is_named { old.map(|at| &then[at]) } else { new.map(|at| &now[at]) };
            out.extend(keep.cloned());
        }
    }
    out.extend_from_slice(&now[at..]);
    out
}

/// Selects both positions of a moved block, because a move is a deletion at one position and an insertion at another.
/// Blocks with equal content are indistinguishable, so selecting one selects all of them.
fn select_moved(changes: &[LineChange], here: &[String], there: &[String], named: &mut NamedBlocks) {
    let mut places: HashMap<&str, (Vec<usize>, Vec<usize>)> = HashMap::new();
    for LineChange { old, new } in changes {
        for at in old.clone() {
            places.entry(&there[at]).or_default().0.push(at);
        }
        for at in new.clone() {
            places.entry(&here[at]).or_default().1.push(at);
        }
    }
    for (gone, new) in places.into_values().filter(|(gone, new)| !gone.is_empty() && !new.is_empty()) {
        if gone.iter().any(|at| named.then.contains(at)) || new.iter().any(|at| named.now.contains(at)) {
            named.then.extend(gone);
            named.now.extend(new);
        }
    }
}
