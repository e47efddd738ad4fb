//! ECMAScript regular expressions, implemented by a backtracking matcher that counts steps. An instruction costs one
//! step, or more if it examines several characters, ranges or slots. Undoing an instruction is free, because that cost
//! is included in its execution.
//!
//! Characters are code points, as with the flag `u`. Lookbehind and `\p{…}` are not supported.

mod compile;
mod parse;
mod program;

use std::{borrow::Cow, fmt};

use smallvec::SmallVec;

use self::program::{Class, Instruction, is_word};
pub(super) use self::program::{MAX_COMPILER_VISITS, VISITS_A_STEP};
use super::EvalError;

/// Number of class ranges or slots that one step covers.
const OF_A_STEP: usize = 8;
/// The cost of changing the case of a character outside of ASCII in steps.
const FOLD_COST: usize = 2;
/// The cost of a lookahead in steps, in addition to that of its instructions.
const LOOKAHEAD_COST: usize = 4;

#[derive(Clone)]
pub struct Regex {
    source: Box<str>,
    flags: Flags,
    program: Vec<Instruction>,
    slots: usize,
    groups: Vec<Option<String>>,
}

#[derive(Clone, Copy, Default)]
struct Flags {
    global: bool,
    ignore_case: bool,
    multiline: bool,
    dot_all: bool,
    sticky: bool,
    unicode: bool,
    indices: bool,
}

/// A match: the character ranges of the whole match and of its groups.
pub(super) struct RegexMatch {
    pub(super) groups: SmallVec<[Option<(usize, usize)>; 1]>,
}

impl RegexMatch {
    pub(super) fn whole_range(&self) -> (usize, usize) {
        self.groups.first().copied().flatten().unwrap_or_default()
    }
}

impl Regex {
    /// Compiles a regular expression. The error message completes a sentence that begins with a position.
    /// Deducts the visits of the compiler from `visits`, which is [`MAX_COMPILER_VISITS`] for an expression.
    pub(super) fn new(source: &str, flags: &str, visits: &mut usize) -> Result<Self, String> {
        let flags = parse_flags(flags)?;
        let parsed = parse::parse(source, flags.unicode)?;
        let groups = parsed.groups.clone();
        let (mut program, slots) = compile::compile(&parsed, visits)?;
        if flags.ignore_case {
            program.iter_mut().for_each(Instruction::fold);
        }
        Ok(Self { source: source.into(), flags, program, slots, groups })
    }

    pub(super) const fn is_global(&self) -> bool {
        self.flags.global
    }

    /// Returns the regular expression without the flag `y`, so that it matches at any position.
    pub(super) fn without_sticky(&self) -> Cow<'_, Self> {
        if !self.flags.sticky {
            return Cow::Borrowed(self);
        }
        let mut anywhere = self.clone();
        anywhere.flags.sticky = false;
        Cow::Owned(anywhere)
    }

    /// Returns the names of the groups. Index 0 stands for the whole match.
    pub(super) fn groups(&self) -> &[Option<String>] {
        &self.groups
    }

    /// Finds the first match at or after a position. Deducts the steps from `left`.
    pub(super) fn find(
        &self,
        text: &[char],
        from: usize,
        left: &mut u32,
    ) -> Result<Option<RegexMatch>, EvalError> {
        let last = if self.flags.sticky { from } else { text.len() };
        let mut machine = Machine { regex: self, text, slots: vec![None; self.slots], left };
        for start in from..=last.min(text.len()) {
            machine.charge(self.slots / OF_A_STEP)?;
            machine.slots.fill(None);
            machine.slots[0] = Some(start);
            if machine.run(0, start)? {
                let slots = &machine.slots;
                let groups = (0..self.groups.len()).map(|n| slots[2 * n].zip(slots[2 * n + 1])).collect();
                return Ok(Some(RegexMatch { groups }));
            }
        }
        Ok(None)
    }
}

impl fmt::Display for Regex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Flags { global, ignore_case, multiline, dot_all, sticky, unicode, indices } = self.flags;
        write!(f, "/{}/", self.source)?;
        let all = [
            (indices, "d"),
            (global, "g"),
            (ignore_case, "i"),
            (multiline, "m"),
            (dot_all, "s"),
            (unicode, "u"),
            (sticky, "y"),
        ];
        all.into_iter().filter(|(on, _)| *on).try_for_each(|(_, flag)| f.write_str(flag))
    }
}

impl fmt::Debug for Regex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn parse_flags(text: &str) -> Result<Flags, String> {
    let mut flags = Flags::default();
    for c in text.chars() {
        let flag = match c {
            'g' => &mut flags.global,
            'i' => &mut flags.ignore_case,
            'm' => &mut flags.multiline,
            's' => &mut flags.dot_all,
            'y' => &mut flags.sticky,
            'u' => &mut flags.unicode,
            'd' => &mut flags.indices,
            _ => return Err(format!("has the unknown flag `{c}`")),
        };
        if std::mem::replace(flag, true) {
            return Err(format!("has the duplicate flag `{c}`"));
        }
    }
    Ok(flags)
}

/// An action to perform when the current path fails.
enum BacktrackAction {
    Branch(usize, usize),
    Slot(usize, Option<usize>),
}

struct Machine<'m> {
    regex: &'m Regex,
    text: &'m [char],
    slots: Vec<Option<usize>>,
    left: &'m mut u32,
}

impl Machine<'_> {
    /// Deducts steps from the budget.
    fn charge(&mut self, steps: usize) -> Result<(), EvalError> {
        let left = u32::try_from(steps).ok().and_then(|steps| self.left.checked_sub(steps));
        *self.left = left.unwrap_or(0);
        left.map(|_| ()).ok_or(EvalError::Steps)
    }

    fn run(&mut self, mut pc: usize, mut at: usize) -> Result<bool, EvalError> {
        let mut undo: Vec<BacktrackAction> = Vec::new();
        loop {
            self.charge(1)?;
            match self.step(&mut undo, pc, at)? {
                StepOutcome::Done => return Ok(true),
                StepOutcome::Go(next, position) => (pc, at) = (next, position),
                StepOutcome::Fail => loop {
                    match undo.pop() {
                        None => return Ok(false),
                        Some(BacktrackAction::Slot(slot, old)) => self.slots[slot] = old,
                        Some(BacktrackAction::Branch(next, position)) => {
                            (pc, at) = (next, position);
                            break;
                        }
                    }
                },
            }
        }
    }

    /// Returns `true` if the program matches at `at`, starting with instruction `pc`. The groups are retained only if
    /// `keeps_groups` is set.
    fn look_ahead(
        &mut self,
        undo: &mut Vec<BacktrackAction>,
        pc: usize,
        at: usize,
        keeps_groups: bool,
    ) -> Result<bool, EvalError> {
        self.charge(LOOKAHEAD_COST + self.slots.len() / OF_A_STEP)?;
        let before = self.slots.clone();
        let found = self.run(pc, at)?;
        let after = std::mem::replace(&mut self.slots, before);
        if found && keeps_groups {
            for (slot, value) in after.into_iter().enumerate() {
                undo.push(BacktrackAction::Slot(slot, std::mem::replace(&mut self.slots[slot], value)));
            }
        }
        Ok(found)
    }

    fn step(
        &mut self,
        undo: &mut Vec<BacktrackAction>,
        pc: usize,
        at: usize,
    ) -> Result<StepOutcome, EvalError> {
        let regex = self.regex;
        let flags = regex.flags;
        let pass = |right: bool| if right { StepOutcome::Go(pc + 1, at) } else { StepOutcome::Fail };
        let read = |right: bool| if right { StepOutcome::Go(pc + 1, at + 1) } else { StepOutcome::Fail };
        let here = self.text.get(at).copied();
        Ok(match &regex.program[pc] {
            Instruction::Char(c) if flags.ignore_case => {
                self.charge_fold(here)?;
                read(here.is_some_and(|h| fold(h) == *c))
            }
            Instruction::Char(c) => read(here == Some(*c)),
            Instruction::Any => read(here.is_some_and(|h| flags.dot_all || !is_line_end(h))),
            Instruction::Class(class) => read(self.match_class(class, here)?),
            Instruction::Split(first, second) => {
                undo.push(BacktrackAction::Branch(*second, at));
                StepOutcome::Go(*first, at)
            }
            Instruction::Jump(to) => StepOutcome::Go(*to, at),
            Instruction::Save(slot) => {
                undo.push(BacktrackAction::Slot(*slot, self.slots[*slot]));
                self.slots[*slot] = Some(at);
                StepOutcome::Go(pc + 1, at)
            }
            Instruction::Clear(from, to) => {
                self.charge((to - from) / OF_A_STEP)?;
                for slot in *from..*to {
                    undo.push(BacktrackAction::Slot(slot, self.slots[slot].take()));
                }
                StepOutcome::Go(pc + 1, at)
            }
            Instruction::Progress(slot) => pass(self.slots[*slot] != Some(at)),
            Instruction::Start => {
                pass(at == 0 || flags.multiline && self.text.get(at - 1).is_some_and(|c| is_line_end(*c)))
            }
            Instruction::End => pass(here.is_none_or(|h| flags.multiline && is_line_end(h))),
            Instruction::Word(wanted) => {
                let before = at.checked_sub(1).is_some_and(|before| is_word(self.text[before]));
                pass((before != here.is_some_and(is_word)) == *wanted)
            }
            Instruction::BackReference(group) => match self.slots[2 * group].zip(self.slots[2 * group + 1]) {
                None => StepOutcome::Go(pc + 1, at),
                Some((from, to)) => self.match_back_reference(pc, at, from..to)?,
            },
            Instruction::Lookahead { not, after } => {
                if self.look_ahead(undo, pc + 1, at, !not)? == *not {
                    StepOutcome::Fail
                } else {
                    StepOutcome::Go(*after, at)
                }
            }
            Instruction::Done => StepOutcome::Done,
        })
    }

    /// Returns `true` if the class contains the character. With the flag `i`, its other cases are examined too.
    fn match_class(&mut self, class: &Class, c: Option<char>) -> Result<bool, EvalError> {
        let ignore_case = self.regex.flags.ignore_case;
        let lookups = if ignore_case { 3 } else { 1 };
        self.charge(lookups * class.size() / OF_A_STEP)?;
        if ignore_case {
            self.charge_fold(c)?;
        }
        Ok(c.is_some_and(|c| match (ignore_case, class.not) {
            (false, _) => class.has(c),
            (true, false) => class.has(c) || cases(c).any(|c| class.has(c)),
            (true, true) => class.has(c) && cases(c).all(|c| class.has(c)),
        }))
    }

    /// Charges for changing the case of a character.
    fn charge_fold(&mut self, c: Option<char>) -> Result<(), EvalError> {
        self.charge(if c.is_some_and(|c| !c.is_ascii()) { FOLD_COST } else { 0 })
    }

    /// Matches a back-reference. Charges for the compared characters.
    fn match_back_reference(
        &mut self,
        pc: usize,
        at: usize,
        group: std::ops::Range<usize>,
    ) -> Result<StepOutcome, EvalError> {
        let text = self.text;
        let ignore_case = self.regex.flags.ignore_case;
        let Some(there) = text.get(at..at + group.len()) else { return Ok(StepOutcome::Fail) };
        for (a, b) in text[group].iter().zip(there) {
            self.charge(1)?;
            if a == b {
                continue;
            }
            if ignore_case {
                self.charge_fold(Some(*a))?;
                self.charge_fold(Some(*b))?;
            }
            if !ignore_case || fold(*a) != fold(*b) {
                return Ok(StepOutcome::Fail);
            }
        }
        Ok(StepOutcome::Go(pc + 1, at + there.len()))
    }
}

enum StepOutcome {
    Go(usize, usize),
    Fail,
    Done,
}

impl Instruction {
    /// Replaces a literal character by its upper case, with which a character that ignores case is compared.
    fn fold(&mut self) {
        if let Self::Char(c) = self {
            *c = fold(*c);
        }
    }
}

/// Returns the upper-case form of a letter if it consists of a single character, otherwise the letter.
fn fold(c: char) -> char {
    single(c.to_uppercase()).unwrap_or(c)
}

/// Returns those upper-case and lower-case forms of a letter that consist of a single character.
fn cases(c: char) -> impl Iterator<Item = char> {
    [fold(c), single(c.to_lowercase()).unwrap_or(c)].into_iter()
}

/// Returns the item of an iterator that has only one.
fn single(mut all: impl Iterator<Item = char>) -> Option<char> {
    let first = all.next();
    if all.next().is_some() { None } else { first }
}

fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}
