//! The top-level blocks of a text. Each of them round-trips when it is printed alone.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use docs_model::Block;

use super::{
    chunks::{self, Chunk, ChunkKind, Scanner},
    definitions,
    inlines::LinkDefinitions,
    limits::{MAX_BLOCKS, MAX_SETTLING_PASSES},
    lines::{self, Line, SPACE},
    memory_budget::Room,
    normalize,
    notes::Notes,
    print::{self, Labels},
    reader::BlockReader,
    simple_blocks::{fenced, is_list, paragraph, verbatim, verbatim_run},
    spelling::{self, is_verbatim},
    weight::Weight,
    work_budget::{self, WorkShare},
};

/// The blocks of parsed Markdown.
pub(super) struct ParsedBlocks {
    /// The blocks, without keys.
    pub(super) blocks: Vec<Block>,
    /// The lines of each block.
    pub(super) lines: Vec<Range<usize>>,
    /// The footnote definitions that are part of annotations.
    pub(super) notes: Vec<TakenNote>,
    /// `true` if printing the blocks one by one yields the original text.
    pub(super) is_usual: bool,
    /// `true` if the printed blocks, separated by empty lines, are parsed to the same blocks as when each is parsed
    /// alone.
    pub(super) is_independent: bool,
    /// `true` if the rest of the text is preserved verbatim because a limit is reached.
    pub(super) is_full: bool,
}

/// A footnote definition that is part of an annotation.
#[derive(Clone)]
pub(super) struct TakenNote {
    pub(super) lines: Range<usize>,
    pub(super) references: References,
}

/// The references to a footnote definition, each with the first line of its block.
#[derive(Clone)]
pub(super) struct References {
    /// The reference that is an annotation.
    pub(super) by: usize,
    /// The references in later blocks, which are text.
    pub(super) repeated_by: Vec<usize>,
}

/// Parses a text block by block, without checking that the joined blocks round-trip.
pub(super) fn parse_blocks(lines: &[Line<'_>]) -> ParsedBlocks {
    let mut scanner = chunks::scan_chunks(lines);
    let mut survey = Survey::new(&mut scanner);
    let (notes, definitions) = (std::mem::take(&mut survey.notes), std::mem::take(&mut survey.definitions));
    let has_marked = !notes.is_empty() || !definitions.is_empty();
    let mut reader =
        BlockReader { definitions: &definitions, notes: Notes::default(), depth: 0, left: MAX_BLOCKS };
    reader.notes = Notes::new(bodies(&mut reader, &notes));
    drop(notes);
    let labels = Labels::from_document(definitions.clone(), reader.notes.labels());
    // Allocated once, because a vector that grows while it is filled takes up to three times the memory.
    let (blocks, ranges) = (Vec::with_capacity(survey.count), Vec::with_capacity(survey.count));
    let (is_usual, is_independent) = (survey.is_apart, !has_marked);
    let text =
        ParsedBlocks { blocks, lines: ranges, notes: Vec::new(), is_usual, is_independent, is_full: false };
    let mut out = ParseOutput { text, lines, kept: Vec::new(), takers: HashMap::new(), raw: None };
    let mut room = Room::new(lines);
    let mut behind = bytes(lines);
    let mut at = 0;
    for (number, chunk) in scanner.restart().enumerate() {
        behind -= bytes(&lines[at..chunk.lines.end]);
        at = chunk.lines.end;
        if let ChunkKind::Note(label, _) = chunk.kind {
            out.note(label, chunk.lines);
            continue;
        }
        if out.text.is_full || reader.left == 0 || !room.take(survey.weight(number, &chunk, lines)) {
            out.text.is_full |= reader.left == 0 || room.is_used_up();
            out.keep(chunk.lines);
            continue;
        }
        let before = labels.with_notes(reader.notes.label_log());
        let taken = reader.notes.mark();
        let portion = WorkShare::block(behind);
        let mut blocks = reader.chunk(&chunk, lines);
        let mut is_usual = blocks.len() == 1;
        if let [block] = blocks.as_mut_slice() {
            let own = std::mem::replace(block, paragraph(Vec::new()));
            (*block, is_usual) = settle_block(own, &lines[chunk.lines.clone()], &before);
            if is_verbatim(block) {
                // Verbatim blocks reference footnotes by label.
                reader.notes.rewind(taken);
            }
        }
        let (repeated, is_too_much) = (reader.notes.take_repeated(), work_budget::is_used_up());
        drop(portion);
        if is_too_much {
            reader.notes.rewind(taken);
            out.keep(chunk.lines);
            continue;
        }
        let labels = (taken..reader.notes.mark()).filter_map(|at| reader.notes.label_log().get(at));
        out.refer(labels.map(|(label, _)| label.clone()), repeated, chunk.lines.start);
        out.text.is_usual &= is_usual;
        let (standing, is_as_written) = (independence(&chunk.kind), is_usual && survey.is_apart);
        let is_alone =
            standing == Independence::Always || (is_as_written && standing == Independence::AsWritten);
        out.text.is_independent &= is_alone;
        out.add(blocks, &chunk.lines);
    }
    // With another spelling, the blocks may exceed a limit that they barely meet with this one.
    out.text.is_independent &= room.is_half_left() && reader.left > MAX_BLOCKS / 2;
    out.finish()
}

fn bytes(lines: &[Line<'_>]) -> usize {
    lines.iter().map(|line| line.text.len() + 1).sum()
}

/// The result during the parsing of the blocks.
struct ParseOutput<'s, 'a> {
    text: ParsedBlocks,
    lines: &'s [Line<'a>],
    /// The footnote definitions.
    kept: Vec<KeptNote>,
    /// The references to each footnote that is part of an annotation, by label.
    takers: HashMap<String, References>,
    /// The verbatim lines after the last block: the range of the first chunk, and the end of all chunks.
    raw: Option<(Range<usize>, usize)>,
}

impl ParseOutput<'_, '_> {
    fn note(&mut self, label: String, lines: Range<usize>) {
        self.end_raw();
        self.text.is_usual = false;
        self.kept.push(KeptNote { place: self.text.blocks.len(), lines, label });
    }

    /// Adds the footnotes that a block takes, and those that it references again. `by` is its first line.
    fn refer(
        &mut self,
        taken: impl Iterator<Item = String>,
        repeated: impl IntoIterator<Item = String>,
        by: usize,
    ) {
        self.takers.extend(taken.map(|label| (label, References { by, repeated_by: Vec::new() })));
        for label in repeated {
            if let Some(references) = self.takers.get_mut(&label) {
                references.repeated_by.push(by);
            }
        }
    }

    /// Preserves a chunk verbatim, in one paragraph with directly preceding verbatim chunks.
    fn keep(&mut self, lines: Range<usize>) {
        self.text.is_usual = false;
        self.text.is_independent = false;
        match &mut self.raw {
            Some((_, end)) => *end = lines.end,
            None => self.raw = Some((lines.clone(), lines.end)),
        }
    }

    fn end_raw(&mut self) {
        if let Some((first, end)) = self.raw.take() {
            let block = verbatim_run(&self.lines[first.clone()], &self.lines[first.end..end]);
            self.text.blocks.push(block);
            self.text.lines.push(first.start..end);
        }
    }

    fn add(&mut self, blocks: Vec<Block>, lines: &Range<usize>) {
        self.end_raw();
        self.text.is_independent &= blocks.len() == 1;
        for block in blocks {
            let follows_list = self.text.blocks.last().is_some_and(is_list);
            self.text.is_usual &= !follows_list;
            // An indented block may become part of a preceding list if the list is printed differently. A list may
            // merge with the following list.
            let may_go_on = follows_list && is_list(&block);
            self.text.is_independent &= !may_go_on && !self.is_indented(lines.start) && !is_verbatim(&block);
            self.text.blocks.push(fenced(block, follows_list));
            self.text.lines.push(lines.clone());
        }
    }

    fn is_indented(&self, line: usize) -> bool {
        self.lines.get(line).is_none_or(|line| line.text.starts_with(SPACE))
    }

    fn finish(mut self) -> ParsedBlocks {
        self.end_raw();
        self.text.keep(self.kept, self.takers, self.lines);
        self.text
    }
}

/// A footnote definition, and the index of the block after it.
struct KeptNote {
    place: usize,
    lines: Range<usize>,
    label: String,
}

/// Properties of Markdown, determined before its blocks are parsed.
#[derive(Default)]
struct Survey<'a> {
    /// The footnote definitions.
    notes: Vec<Chunk<'a>>,
    definitions: LinkDefinitions,
    /// The weights of all chunks, in order.
    weights: Vec<Weight>,
    /// The number of blocks, including a verbatim block for each run of chunks beyond the memory budget.
    count: usize,
    end: usize,
    /// `true` if all chunks are separated by empty lines.
    is_apart: bool,
}

impl<'a> Survey<'a> {
    fn new(scanner: &mut Scanner<'_, 'a>) -> Self {
        let (lines, mut survey) = (scanner.lines(), Self { is_apart: true, ..Self::default() });
        let mut room = Room::new(lines);
        let mut was_taken = true;
        for chunk in scanner {
            survey.is_apart &= survey.count == 0 || survey.end < chunk.lines.start;
            let weight = Weight::of(&chunk, lines);
            survey.weights.push(weight);
            let is_taken = room.take(weight);
            survey.count += usize::from(is_taken || was_taken);
            was_taken = is_taken;
            survey.end = chunk.lines.end;
            definitions::add_chunk(&mut survey.definitions, &chunk, lines, 0);
            if matches!(chunk.kind, ChunkKind::Note(..)) {
                survey.notes.push(chunk);
            }
        }
        survey
    }

    /// Returns the weight of a chunk of the restarted scanner, which ends earlier if the work budget is used up.
    fn weight(&self, number: usize, chunk: &Chunk<'_>, lines: &[Line<'_>]) -> Weight {
        let known = self.weights.get(number).filter(|_| !matches!(chunk.kind, ChunkKind::Rest));
        known.copied().unwrap_or_else(|| Weight::of(chunk, lines))
    }
}

/// Independence of a block's end from the text after the next empty line.
#[derive(PartialEq, Eq)]
enum Independence {
    /// In every spelling.
    Always,
    /// Only in the original spelling.
    AsWritten,
    /// Dependent: the block may continue.
    Dependent,
}

const fn independence(kind: &ChunkKind<'_>) -> Independence {
    match kind {
        ChunkKind::Paragraph
        | ChunkKind::Heading(..)
        | ChunkKind::Divider
        | ChunkKind::Fence(..)
        | ChunkKind::Quote(_)
        | ChunkKind::List(_)
        | ChunkKind::Table
        | ChunkKind::Tag(_, Some(_)) => Independence::Always,
        ChunkKind::Tag(_, None) | ChunkKind::Math(_) | ChunkKind::Html | ChunkKind::Details(_) => {
            Independence::AsWritten
        }
        ChunkKind::Indented(_) | ChunkKind::Note(..) | ChunkKind::Definition(..) | ChunkKind::Rest => {
            Independence::Dependent
        }
    }
}

impl ParsedBlocks {
    /// Creates the result for blocks that may be parsed differently when they are joined.
    pub(super) fn new(blocks: Vec<Block>, lines: Vec<Range<usize>>, notes: Vec<TakenNote>) -> Self {
        Self { blocks, lines, notes, is_usual: false, is_independent: false, is_full: false }
    }

    /// Unreferenced footnote definitions remain at their position.
    fn keep(&mut self, kept: Vec<KeptNote>, mut takers: HashMap<String, References>, lines: &[Line<'_>]) {
        let mut unused = Vec::new();
        for note in kept {
            match takers.remove(&note.label) {
                Some(references) => self.notes.push(TakenNote { lines: note.lines, references }),
                None => unused.push(note),
            }
        }
        if unused.is_empty() {
            return;
        }
        let count = self.blocks.len() + unused.len();
        let mut unused = unused.into_iter().peekable();
        // Allocated once, like the blocks before.
        let blocks = std::mem::replace(&mut self.blocks, Vec::with_capacity(count));
        let own = blocks.into_iter().zip(std::mem::replace(&mut self.lines, Vec::with_capacity(count)));
        let mut own = own.enumerate();
        loop {
            let block = own.next();
            let place = block.as_ref().map_or(usize::MAX, |(place, _)| *place);
            while let Some(note) = unused.next_if(|note| note.place <= place) {
                self.blocks.push(verbatim(&lines[note.lines.clone()]));
                self.lines.push(note.lines);
            }
            let Some((_, (block, range))) = block else { return };
            self.blocks.push(block);
            self.lines.push(range);
        }
    }
}

/// Maximum number of footnotes. If there are more, all of them are preserved verbatim: if some were annotations, their
/// printed text would select different ones, and each such conflict would parse the text again.
const MAX_NOTES: usize = 1000;

/// Returns the bodies of footnotes by label, excluding labels with several definitions.
fn bodies(reader: &mut BlockReader<'_>, chunks: &[Chunk<'_>]) -> HashMap<String, Vec<Block>> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let notes = || {
        chunks.iter().filter_map(|chunk| match &chunk.kind {
            ChunkKind::Note(label, body) => Some((label, body)),
            _ => None,
        })
    };
    notes().for_each(|(label, _)| *counts.entry(label).or_default() += 1);
    let single = || notes().filter(|(label, _)| counts.get(label.as_str()) == Some(&1));
    if single().nth(MAX_NOTES).is_some() {
        return HashMap::new();
    }
    let labels = Labels::from_document(reader.definitions.clone(), HashSet::new());
    single().map(|(label, body)| (label.clone(), reader.note(body, &labels))).collect()
}

/// Returns a block that round-trips through printing, with the resulting spellings, and `true` if the printed text
/// equals its lines. A block that does not round-trip is returned as a verbatim block.
pub(super) fn settle_block(block: Block, lines: &[Line<'_>], labels: &Labels) -> (Block, bool) {
    let source = lines::join(lines);
    if is_verbatim(&block) {
        let is_usual = spelling::text_of_nodes(&block.nodes) == source;
        return (block, is_usual);
    }
    if print::unchecked(&block, labels).as_deref() == Some(source.trim_matches('\n')) {
        return (block, true);
    }
    drop(source);
    let mut own = block;
    for _ in 0..MAX_SETTLING_PASSES {
        let again =
            print::print_checked(&own, labels).and_then(|written| print::parse_detached(&written, labels, 0));
        let Some([read]) = again.and_then(|read| <[Block; 1]>::try_from(read).ok()) else { break };
        if print::is_alike(&read, &own) {
            return (own, false);
        }
        if !normalize::is_same(&read, &own) {
            break;
        }
        // The content is equal. Only spellings differ, and the footnotes are those from the first parse.
        own = spelling::restore_footnotes(own, read);
    }
    (verbatim(lines), false)
}
