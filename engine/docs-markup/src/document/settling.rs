//! Parses a text so that its blocks round-trip when they are printed together.
//!
//! Each block round-trips alone, but may not round-trip next to other blocks. Conflicting blocks are preserved
//! verbatim, merged into one paragraph with their neighbours, and all other blocks remain trees. The selection depends
//! only on the parsed text. Because the printed text parses to the same blocks, parsing it selects the same blocks
//! again.

use std::{collections::HashMap, ops::Range};

use docs_model::{Block, Node};

use super::{
    blocks::{self, ParsedBlocks, TakenNote},
    chunks,
    invalid::Invalid,
    keys,
    limits::{MAX_BLOCK_DEPTH, MAX_SETTLING_PASSES},
    lines::{self, Line, without_mark},
    memory_budget, normalize,
    print::{self, Printer, VerbatimMode},
    simple_blocks::{paragraph, verbatim, verbatim_run},
    spelling::{VERBATIM, is_verbatim},
    work_budget::{self, WorkShare},
};
use crate::diff::{LineChange, LineId, changes};

/// Parses a text. Blocks that do not round-trip next to the others are preserved verbatim. If conflicts remain, the
/// whole text is preserved verbatim.
pub(super) fn parse_text(lines: &[Line<'_>]) -> ParsedBlocks {
    parse_settled(lines, is_settled_by_parts).unwrap_or_else(|| verbatim_text(lines))
}

/// Like [`parse_text`], but always verifies noncanonical text by printing and parsing it as a whole.
#[cfg(test)]
pub(super) fn parse_text_as_whole(lines: &[Line<'_>]) -> ParsedBlocks {
    parse_settled(lines, |text, _| text.is_usual).unwrap_or_else(|| verbatim_text(lines))
}

/// Returns `true` if the blocks are known to round-trip together because each of them round-trips alone. `bytes` is the
/// length of the text.
const fn is_settled_by_parts(text: &ParsedBlocks, bytes: usize) -> bool {
    text.is_usual || (text.is_independent && bytes <= MAX_INDEPENDENT)
}

/// Returns `true` if a block does not round-trip when it is the only block of a document.
pub(super) fn is_unsettled(block: &Block) -> bool {
    let blocks = std::slice::from_ref(block);
    print::document(blocks, VerbatimMode::Checked)
        .map_or(true, |written| blocks::parse_blocks(&lines::split(&written)).blocks != blocks)
}

impl Printer {
    /// Returns `true` if `text` can be preserved verbatim.
    pub(super) fn can_stay_verbatim(&self, text: &str, block: &Block) -> bool {
        let is_top = self.depth() == 0;
        if is_top && memory_budget::is_all_lines(text) {
            return true;
        }
        // A text of several blocks cannot parse to an equal block, so parsing it is unnecessary.
        if self.depth() > MAX_BLOCK_DEPTH
            || (is_top && chunks::scan_chunks(&lines::split(text)).nth(1).is_some())
        {
            return true;
        }
        let is_same = self.reads_as(text, block, &self.labels);
        if is_same || !is_top {
            return is_same;
        }
        // Top-level blocks that do not round-trip are also verbatim. So is the text after the maximum number of blocks.
        let read = blocks::parse_blocks(&lines::split(text)).blocks;
        match read.as_slice() {
            [read] => normalize::is_same(read, block) || is_unsettled(read),
            _ => read.len() > 1,
        }
    }
}

/// Maximum number of rounds that extend the verbatim runs. Each round doubles the extension of runs that still
/// conflict.
const MAX_ROUNDS: usize = 6;
/// Maximum length of Markdown whose blocks are assumed to round-trip together if each of them round-trips alone. In
/// longer Markdown, the limits may exclude some of the blocks, depending on their spelling.
const MAX_INDEPENDENT: usize = 64 * 1024;
/// Maximum number of printing and parsing passes until a document round-trips.
const MAX_PASSES: usize = 2 * MAX_SETTLING_PASSES;

fn parse_settled(lines: &[Line<'_>], is_settled: fn(&ParsedBlocks, usize) -> bool) -> Option<ParsedBlocks> {
    let mut kept = VerbatimRuns::default();
    let bytes = lines.iter().map(|line| line.text.len() + 1).sum();
    let mut first: Option<Vec<Range<usize>>> = None;
    for _ in 0..MAX_ROUNDS {
        let text = run_in_pass(bytes, || blocks::parse_blocks(lines))?;
        // Fewer blocks are parsed as trees if the work budget is nearly exhausted.
        if *first.get_or_insert_with(|| text.lines.clone()) != text.lines {
            return None;
        }
        if is_settled(&text, bytes) {
            return Some(text);
        }
        kept.add_repeated_references(&text);
        match settle(text, &kept, lines)? {
            Ok(text) => return Some(text),
            Err(conflicts) => kept.add(conflicts)?,
        }
    }
    None
}

/// Runs a parsing step for this many bytes of text. Returns `None` if the step exceeds its work budget.
fn run_in_pass<T>(bytes: usize, act: impl FnOnce() -> T) -> Option<T> {
    let portion = WorkShare::pass(bytes);
    let done = act();
    let is_done = !work_budget::is_used_up();
    drop(portion);
    is_done.then_some(done)
}

/// Ranges of blocks that do not round-trip, and the lines of all blocks.
struct Conflicts {
    places: Vec<Range<usize>>,
    ranges: Vec<Range<usize>>,
}

impl Conflicts {
    /// Converts conflicts between blocks to ranges of blocks in the first parse. `ranges` contains the lines of the
    /// blocks that `places` refers to, and `all` the lines of the blocks in the first parse.
    fn new(places: Vec<Range<usize>>, ranges: &[Range<usize>], all: Vec<Range<usize>>) -> Self {
        let of_lines = |place: Range<usize>| {
            // An added block is caused by its neighbours, so both of them conflict.
            let place = match place.is_empty() {
                true => place.start.saturating_sub(1)..(place.end + 1).min(ranges.len()),
                false => place,
            };
            let (first, last) = (ranges.get(place.start)?, ranges.get(place.end.checked_sub(1)?)?);
            let start = all.partition_point(|own| own.end <= first.start);
            Some(start..all.partition_point(|own| own.start < last.end))
        };
        let places = places.into_iter().filter_map(of_lines).filter(|place| !place.is_empty()).collect();
        Self { places, ranges: all }
    }
}

/// Prints and parses blocks, some of them verbatim, until they round-trip, or returns the conflicts. Only one tree
/// exists at a time; of the previous tree, only hashes are retained.
fn settle(
    mut text: ParsedBlocks,
    kept: &VerbatimRuns,
    lines: &[Line<'_>],
) -> Option<Result<ParsedBlocks, Conflicts>> {
    let (all, notes) = (text.lines.clone(), text.notes.clone());
    let bytes = lines.iter().map(|line| line.text.len() + 1).sum();
    for _ in 0..MAX_PASSES {
        let (own, ranges) = (TreeDigests::new(&text.blocks), text.lines.clone());
        let together = kept.combine_runs(text, lines);
        let again =
            run_in_pass(bytes, || match print::document(&together.blocks, VerbatimMode::Unchanged) {
                Ok(written) => {
                    drop(together);
                    let lines = (!memory_budget::is_all_lines(&written))
                        .then(|| lines::split(without_mark(&written)));
                    Ok(lines.map(|lines| blocks::parse_blocks(&lines)))
                }
                Err(invalid) => Err(together.places_of(&invalid, &ranges)),
            })?;
        let again = match again {
            Ok(again) => again?,
            Err(places) => return Some(Err(Conflicts::new(places, &ranges, all))),
        };
        let outline = TreeDigests::new(&again.blocks);
        let changes = own.changes(&outline);
        let is_settled = own.digests == outline.digests;
        let is_room = |change: &LineChange| {
            own.is_verbatim_change(&outline, change) || (again.is_full && own.is_end(&outline, change))
        };
        let is_same = kept.runs.is_empty() && again.notes.len() == notes.len() && changes.iter().all(is_room);
        if !changes.is_empty() && !is_same {
            let places = changes.into_iter().map(|change| change.old);
            return Some(Err(Conflicts::new(places.collect(), &ranges, all)));
        }
        // The content is equal. Only the spellings may differ, or the choice of blocks that fit as trees.
        let lines_of_all = merge_ranges(ranges, &changes);
        text = ParsedBlocks::new(again.blocks, lines_of_all, notes.clone());
        if is_settled {
            return Some(Ok(kept.combine_runs(text, lines).into_text()));
        }
    }
    None
}

/// Returns the lines of blocks from the second parse. Changed blocks get the combined lines of the blocks they replace.
fn merge_ranges(ranges: Vec<Range<usize>>, changes: &[LineChange]) -> Vec<Range<usize>> {
    let mut out = Vec::with_capacity(ranges.len());
    let mut at = 0;
    for change in changes {
        out.extend_from_slice(&ranges[at..change.old.start]);
        let all = ranges[change.old.start].start..ranges[change.old.end - 1].end;
        out.extend(std::iter::repeat_n(all, change.new.len()));
        at = change.old.end;
    }
    out.extend_from_slice(&ranges[at..]);
    out
}

/// The parts of a tree that are needed to compare it with another tree.
struct TreeDigests {
    /// The content hash of each block, and the hash of its content and spelling.
    digests: Vec<(blake3::Hash, blake3::Hash)>,
    /// A flag for each verbatim block.
    raw: Vec<bool>,
}

impl TreeDigests {
    fn new(blocks: &[Block]) -> Self {
        Self {
            digests: blocks.iter().map(keys::digests).collect(),
            raw: blocks.iter().map(is_verbatim).collect(),
        }
    }

    /// Returns `true` if a change is only a switch between verbatim and tree: a verbatim block became a tree, or a tree
    /// became verbatim.
    fn is_verbatim_change(&self, again: &Self, change: &LineChange) -> bool {
        let trees = |outline: &Self, blocks: &Range<usize>| {
            outline.raw[blocks.clone()].iter().filter(|is_raw| !**is_raw).count()
        };
        let is_none = change.old.is_empty() || change.new.is_empty();
        let (before, now) = (trees(self, &change.old), trees(again, &change.new));
        !is_none && (before == 0 || (before == 1 && now == 0))
    }

    /// Returns `true` if the rest of the text became verbatim.
    fn is_end(&self, again: &Self, change: &LineChange) -> bool {
        let is_end = change.old.end == self.raw.len() && change.new.end == again.raw.len();
        is_end
            && !change.old.is_empty()
            && !change.new.is_empty()
            && again.raw[change.new.clone()].iter().all(|is_raw| *is_raw)
    }

    /// Returns the content changes between two trees.
    fn changes(&self, again: &Self) -> Vec<LineChange> {
        let mut known: HashMap<blake3::Hash, LineId> = HashMap::new();
        let [own, again] = [self, again].map(|all| {
            let ids = all.digests.iter().map(|(says, _)| {
                let next = LineId::try_from(known.len()).unwrap_or(LineId::MAX);
                *known.entry(*says).or_insert(next)
            });
            ids.collect::<Vec<_>>()
        });
        changes(&own, &again)
    }
}

/// Runs of verbatim blocks. No two runs are adjacent.
#[derive(Default)]
struct VerbatimRuns {
    runs: Vec<VerbatimRun>,
}

/// Consecutive blocks that are preserved as one paragraph.
struct VerbatimRun {
    blocks: Range<usize>,
    /// Number of blocks added on each side when the run must grow.
    reach: usize,
    is_enough: bool,
}

impl VerbatimRuns {
    /// Adds conflicting blocks, and all blocks parsed from the same lines. Returns `None` if no block is added.
    fn add(&mut self, conflicts: Conflicts) -> Option<()> {
        let Conflicts { places, ranges } = conflicts;
        let all = 0..ranges.len();
        let before: Vec<_> = self.runs.iter().map(|run| run.blocks.clone()).collect();
        self.runs.extend(places.into_iter().map(|blocks| VerbatimRun { blocks, reach: 0, is_enough: false }));
        self.join();
        for run in self.runs.iter_mut().filter(|run| !run.is_enough) {
            let wider = run.blocks.start.saturating_sub(run.reach)..(run.blocks.end + run.reach).min(all.end);
            run.blocks = extend_to_whole_lines(wider, &ranges);
            run.reach = (2 * run.reach).max(1);
            run.is_enough = true;
        }
        self.join();
        let is_more = !self.runs.iter().map(|run| &run.blocks).eq(&before);
        is_more.then_some(())
    }

    /// Adds the blocks that reference a footnote after a block in a run. Such a reference is text in its tree, but
    /// would be the annotation if the block before it is verbatim, so the block has to keep its bytes too.
    fn add_repeated_references(&mut self, text: &ParsedBlocks) {
        let mut is_kept = vec![false; text.lines.len()];
        self.runs.iter().for_each(|run| is_kept[run.blocks.clone()].fill(true));
        let index = |line: usize| text.lines.partition_point(|own| own.start < line);
        let is_referenced = |note: &&TakenNote| !note.references.repeated_by.is_empty();
        let (mut runs, mut left) = (Vec::new(), text.notes.iter().filter(is_referenced).collect::<Vec<_>>());
        loop {
            let (own, others): (Vec<_>, Vec<_>) =
                left.into_iter().partition(|note| is_kept.get(index(note.references.by)) == Some(&true));
            if own.is_empty() {
                break;
            }
            for first in own.iter().flat_map(|note| &note.references.repeated_by).map(|line| index(*line)) {
                if is_kept.get(first) == Some(&false) {
                    let blocks = extend_to_whole_lines(first..first + 1, &text.lines);
                    is_kept[blocks.clone()].fill(true);
                    runs.push(VerbatimRun { blocks, reach: 1, is_enough: true });
                }
            }
            left = others;
        }
        self.runs.append(&mut runs);
        self.join();
    }

    /// Merges adjacent runs.
    fn join(&mut self) {
        self.runs.sort_by_key(|run| run.blocks.start);
        let mut joined: Vec<VerbatimRun> = Vec::with_capacity(self.runs.len());
        for run in self.runs.drain(..) {
            match joined.last_mut().filter(|last| run.blocks.start <= last.blocks.end) {
                Some(last) => {
                    last.blocks.end = last.blocks.end.max(run.blocks.end);
                    last.reach = last.reach.max(run.reach);
                    last.is_enough &= run.is_enough;
                }
                None => joined.push(run),
            }
        }
        self.runs = joined;
    }

    /// Returns the parsed blocks, with one paragraph per run. Each run is followed by the footnote definitions that
    /// only it references.
    fn combine_runs(&self, text: ParsedBlocks, lines: &[Line<'_>]) -> CombinedBlocks {
        let ParsedBlocks { blocks, lines: ranges, mut notes, .. } = text;
        let mut out =
            CombinedBlocks { blocks: Vec::with_capacity(blocks.len()), ..CombinedBlocks::default() };
        let mut blocks = blocks.into_iter().enumerate().peekable();
        for VerbatimRun { blocks: run, .. } in &self.runs {
            while let Some((at, block)) = blocks.next_if(|(at, _)| *at < run.start) {
                out.push(block, ranges[at].clone(), at..at + 1);
            }
            while blocks.next_if(|(at, _)| *at < run.end).is_some() {}
            let span = ranges[run.start].start..ranges[run.end - 1].end;
            let (own, others): (Vec<_>, Vec<_>) =
                notes.into_iter().partition(|note| span.contains(&note.references.by));
            // Footnote definitions are sorted by their lines.
            let is_elsewhere = |at: &usize| {
                let note = others.get(others.partition_point(|note| note.lines.end <= *at));
                note.is_some_and(|note| note.lines.contains(at))
            };
            let first = ranges[run.start].clone();
            let rest: Vec<Line<'_>> =
                (first.end..span.end).filter(|at| !is_elsewhere(at)).map(|at| lines[at].clone()).collect();
            out.push(verbatim_run(&lines[first], &rest), span.clone(), run.clone());
            for note in own.into_iter().filter(|note| !span.contains(&note.lines.start)) {
                out.push(verbatim(&lines[note.lines.clone()]), note.lines, run.clone());
            }
            notes = others;
        }
        for (at, block) in blocks {
            out.push(block, ranges[at].clone(), at..at + 1);
        }
        out.notes = notes;
        out
    }
}

/// Parsed blocks, some of them verbatim.
#[derive(Default)]
struct CombinedBlocks {
    blocks: Vec<Block>,
    lines: Vec<Range<usize>>,
    notes: Vec<TakenNote>,
    /// The range of original blocks for each block.
    places: Vec<Range<usize>>,
}

impl CombinedBlocks {
    fn push(&mut self, block: Block, lines: Range<usize>, place: Range<usize>) {
        self.blocks.push(block);
        self.lines.push(lines);
        self.places.push(place);
    }

    fn into_text(self) -> ParsedBlocks {
        ParsedBlocks::new(self.blocks, self.lines, self.notes)
    }

    /// Returns the blocks that cannot be printed: a single block, or all blocks that reference a footnote in an invalid
    /// position.
    fn places_of(&self, invalid: &Invalid, ranges: &[Range<usize>]) -> Vec<Range<usize>> {
        let index =
            invalid.place.strip_prefix("nodes[").and_then(|rest| rest.split(']').next()?.parse().ok());
        match index.and_then(|index: usize| self.places.get(index)) {
            Some(place) => vec![place.clone()],
            None => {
                let refers =
                    |at: &usize| self.notes.iter().any(|note| note.references.by == ranges[*at].start);
                (0..ranges.len()).filter(refers).map(|at| at..at + 1).collect()
            }
        }
    }
}

/// Extends a range of blocks to include all blocks parsed from the same lines.
fn extend_to_whole_lines(mut blocks: Range<usize>, ranges: &[Range<usize>]) -> Range<usize> {
    while blocks.start > 0 && ranges[blocks.start - 1] == ranges[blocks.start] {
        blocks.start -= 1;
    }
    while blocks.end < ranges.len() && ranges[blocks.end] == ranges[blocks.end - 1] {
        blocks.end += 1;
    }
    blocks
}

/// Returns all lines as one verbatim paragraph, without the surrounding empty lines.
fn verbatim_text(lines: &[Line<'_>]) -> ParsedBlocks {
    let start = lines.iter().position(|line| !line.is_blank()).unwrap_or(lines.len());
    let end = lines.iter().rposition(|line| !line.is_blank()).map_or(start, |last| last + 1);
    let written = lines::join(&lines[start..end]);
    let all = start..end;
    // Without the empty lines, the text may round-trip.
    let own = lines::split(&written);
    if own.len() < lines.len()
        && !work_budget::is_used_up()
        && let Some(text) = parse_settled(&own, is_settled_by_parts)
    {
        let ranges = vec![all; text.blocks.len()];
        return ParsedBlocks::new(text.blocks, ranges, Vec::new());
    }
    ParsedBlocks::new(vec![verbatim_paragraph(written)], vec![all], Vec::new())
}

/// Creates a paragraph of verbatim Markdown.
pub(super) fn verbatim_paragraph(text: String) -> Block {
    let mut block = paragraph(vec![Node::plain(text)]);
    block.spelling = Some(VERBATIM.to_owned());
    block
}
