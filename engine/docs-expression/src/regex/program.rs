//! Compiled regular expressions.

use std::sync::Arc;

/// Maximum number of instructions in a compiled regular expression. Counted repetitions multiply instructions.
pub(super) const MAX_PROGRAM: usize = 2_000;

/// Maximum number of visits of nodes by the compiler for all regular expressions of an expression. A counted repetition
/// visits its nodes again for each iteration.
pub(crate) const MAX_COMPILER_VISITS: usize = 5 * MAX_PROGRAM;

/// Number of visits by the compiler that one step covers.
pub(crate) const VISITS_A_STEP: usize = 4;

#[derive(Clone)]
pub(super) enum Instruction {
    Char(char),
    Any,
    Class(Arc<Class>),
    /// Continues with the first instruction, or with the second if the first fails.
    Split(usize, usize),
    Jump(usize),
    /// Saves the position in a slot.
    Save(usize),
    /// Clears a range of slots.
    Clear(usize, usize),
    /// Fails if no character was consumed since the position was saved in the slot.
    Progress(usize),
    Start,
    End,
    Word(bool),
    BackReference(usize),
    /// Runs the following instructions as a lookahead and continues at `after`.
    Lookahead {
        not: bool,
        after: usize,
    },
    Done,
}

#[derive(Clone, Default)]
pub(super) struct Class {
    pub(super) not: bool,
    pub(super) ranges: Vec<(char, char)>,
    /// The negated sets `\D`, `\W` and `\S`.
    pub(super) without: Vec<fn(char) -> bool>,
    pub(super) with: Vec<fn(char) -> bool>,
}

impl Class {
    /// Returns the number of ranges and predicates that a lookup examines.
    pub(super) fn size(&self) -> usize {
        self.ranges.len() + self.with.len() + self.without.len()
    }

    pub(super) fn has(&self, c: char) -> bool {
        let found = self.ranges.iter().any(|(from, to)| (*from..=*to).contains(&c))
            || self.with.iter().any(|with| with(c))
            || self.without.iter().any(|without| !without(c));
        found != self.not
    }
}

pub(super) fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The preference of a repetition for more or fewer iterations.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RepeatPreference {
    Yes,
    No,
}
