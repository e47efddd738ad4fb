//! The compiler from parsed regular expressions to instructions.

use std::sync::Arc;

use super::{
    parse::{ParsedRegex, RegexNode},
    program::{Instruction, MAX_PROGRAM, RepeatPreference},
};

/// Returns the instructions and the number of position slots. Deducts the visits of nodes from `visits`.
pub(super) fn compile(parsed: &ParsedRegex, visits: &mut usize) -> Result<(Vec<Instruction>, usize), String> {
    let mut compiler = Compiler { steps: Vec::new(), slots: 2 * parsed.groups.len(), visits };
    compiler.part(&parsed.part)?;
    compiler.push(Instruction::Save(1))?;
    compiler.push(Instruction::Done)?;
    Ok((compiler.steps, compiler.slots))
}

struct Compiler<'v> {
    steps: Vec<Instruction>,
    slots: usize,
    /// The remaining visits of nodes.
    visits: &'v mut usize,
}

/// The message for a regular expression that is too costly to compile.
const TOO_MANY_REPETITIONS: &str = "is a regular expression with too many repetitions";

impl Compiler<'_> {
    fn push(&mut self, step: Instruction) -> Result<usize, String> {
        if self.steps.len() == MAX_PROGRAM {
            return Err(TOO_MANY_REPETITIONS.to_owned());
        }
        self.steps.push(step);
        Ok(self.steps.len() - 1)
    }

    fn part(&mut self, part: &RegexNode) -> Result<(), String> {
        *self.visits = self.visits.checked_sub(1).ok_or(TOO_MANY_REPETITIONS)?;
        match part {
            RegexNode::Char(c) => self.push(Instruction::Char(*c)).map(|_| ()),
            RegexNode::Any => self.push(Instruction::Any).map(|_| ()),
            RegexNode::Class(class) => self.push(Instruction::Class(Arc::clone(class))).map(|_| ()),
            RegexNode::Start => self.push(Instruction::Start).map(|_| ()),
            RegexNode::End => self.push(Instruction::End).map(|_| ()),
            RegexNode::Word(wanted) => self.push(Instruction::Word(*wanted)).map(|_| ()),
            RegexNode::BackReference(group) => self.push(Instruction::BackReference(*group)).map(|_| ()),
            RegexNode::Group(inner, None) => self.part(inner),
            RegexNode::Group(inner, Some(group)) => {
                self.push(Instruction::Save(2 * group))?;
                self.part(inner)?;
                self.push(Instruction::Save(2 * group + 1)).map(|_| ())
            }
            RegexNode::Lookahead(inner, not) => {
                let look = self.push(Instruction::Lookahead { not: *not, after: 0 })?;
                self.part(inner)?;
                self.push(Instruction::Done)?;
                self.steps[look] = Instruction::Lookahead { not: *not, after: self.steps.len() };
                Ok(())
            }
            RegexNode::All(parts) => parts.iter().try_for_each(|part| self.part(part)),
            RegexNode::Either(ways) => self.compile_alternatives(ways),
            RegexNode::Repeat { part, groups, least, most, greedy } => {
                self.repeat(RepeatedPart { part, groups: *groups }, (*least, *most), *greedy)
            }
        }
    }

    fn compile_alternatives(&mut self, ways: &[RegexNode]) -> Result<(), String> {
        let mut ends = Vec::new();
        for (n, way) in ways.iter().enumerate() {
            if n + 1 == ways.len() {
                self.part(way)?;
                continue;
            }
            let split = self.push(Instruction::Jump(0))?;
            self.part(way)?;
            ends.push(self.push(Instruction::Jump(0))?);
            self.steps[split] = Instruction::Split(split + 1, self.steps.len());
        }
        for end in ends {
            self.steps[end] = Instruction::Jump(self.steps.len());
        }
        Ok(())
    }

    fn repeat(
        &mut self,
        part: RepeatedPart<'_>,
        count: (usize, Option<usize>),
        greedy: RepeatPreference,
    ) -> Result<(), String> {
        let (least, most) = count;
        for _ in 0..least {
            let before = self.steps.len();
            self.compile_round(part)?;
            // Repeating nothing results in nothing. Expanding nested empty repetitions would take forever.
            if self.steps.len() == before {
                break;
            }
        }
        let split = |here: usize, after: usize| match greedy {
            RepeatPreference::Yes => Instruction::Split(here + 1, after),
            RepeatPreference::No => Instruction::Split(after, here + 1),
        };
        let Some(most) = most else {
            let start = self.push(Instruction::Jump(0))?;
            self.guarded(part)?;
            self.push(Instruction::Jump(start))?;
            self.steps[start] = split(start, self.steps.len());
            return Ok(());
        };
        let mut splits = Vec::new();
        for _ in least..most {
            splits.push(self.push(Instruction::Jump(0))?);
            self.guarded(part)?;
        }
        for here in splits {
            self.steps[here] = split(here, self.steps.len());
        }
        Ok(())
    }

    /// Compiles one iteration of a repetition, which first clears the groups of the previous iteration.
    fn compile_round(&mut self, part: RepeatedPart<'_>) -> Result<(), String> {
        if let Some((first, last)) = part.groups {
            self.push(Instruction::Clear(2 * first, 2 * last + 2))?;
        }
        self.part(part.part)
    }

    /// Compiles one iteration that must consume a character.
    fn guarded(&mut self, part: RepeatedPart<'_>) -> Result<(), String> {
        let slot = self.slots;
        self.slots += 1;
        self.push(Instruction::Save(slot))?;
        self.compile_round(part)?;
        self.push(Instruction::Progress(slot)).map(|_| ())
    }
}

/// The part of a repetition, with the first and the last of its capturing groups.
#[derive(Clone, Copy)]
struct RepeatedPart<'p> {
    part: &'p RegexNode,
    groups: Option<(usize, usize)>,
}
