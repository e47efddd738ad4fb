//! The compiler from parsed regular expressions to steps.

use std::sync::Arc;

use super::{
    parse::{Parsed, Part},
    program::{Greedy, MAX_PROGRAM, Step},
};

/// Returns the steps and the number of position slots.
pub(super) fn compile(parsed: &Parsed) -> Result<(Vec<Step>, usize), String> {
    let mut compiler = Compiler { steps: Vec::new(), slots: 2 * parsed.groups.len() };
    compiler.part(&parsed.part)?;
    compiler.push(Step::Save(1))?;
    compiler.push(Step::Done)?;
    Ok((compiler.steps, compiler.slots))
}

struct Compiler {
    steps: Vec<Step>,
    slots: usize,
}

impl Compiler {
    fn push(&mut self, step: Step) -> Result<usize, String> {
        if self.steps.len() == MAX_PROGRAM {
            return Err("is a regular expression with too many repetitions".to_owned());
        }
        self.steps.push(step);
        Ok(self.steps.len() - 1)
    }

    fn part(&mut self, part: &Part) -> Result<(), String> {
        match part {
            Part::Char(c) => self.push(Step::Char(*c)).map(|_| ()),
            Part::Any => self.push(Step::Any).map(|_| ()),
            Part::Class(class) => self.push(Step::Class(Arc::clone(class))).map(|_| ()),
            Part::Start => self.push(Step::Start).map(|_| ()),
            Part::End => self.push(Step::End).map(|_| ()),
            Part::Word(wanted) => self.push(Step::Word(*wanted)).map(|_| ()),
            Part::Back(group) => self.push(Step::Back(*group)).map(|_| ()),
            Part::Group(inner, None) => self.part(inner),
            Part::Group(inner, Some(group)) => {
                self.push(Step::Save(2 * group))?;
                self.part(inner)?;
                self.push(Step::Save(2 * group + 1)).map(|_| ())
            }
            Part::Look(inner, not) => {
                let look = self.push(Step::Look { not: *not, after: 0 })?;
                self.part(inner)?;
                self.push(Step::Done)?;
                self.steps[look] = Step::Look { not: *not, after: self.steps.len() };
                Ok(())
            }
            Part::All(parts) => parts.iter().try_for_each(|part| self.part(part)),
            Part::Either(ways) => self.either(ways),
            Part::Repeat { part, least, most, greedy } => self.repeat(part, (*least, *most), *greedy),
        }
    }

    fn either(&mut self, ways: &[Part]) -> Result<(), String> {
        let mut ends = Vec::new();
        for (n, way) in ways.iter().enumerate() {
            if n + 1 == ways.len() {
                self.part(way)?;
                continue;
            }
            let split = self.push(Step::Jump(0))?;
            self.part(way)?;
            ends.push(self.push(Step::Jump(0))?);
            self.steps[split] = Step::Split(split + 1, self.steps.len());
        }
        for end in ends {
            self.steps[end] = Step::Jump(self.steps.len());
        }
        Ok(())
    }

    fn repeat(&mut self, part: &Part, count: (usize, Option<usize>), greedy: Greedy) -> Result<(), String> {
        let (least, most) = count;
        for _ in 0..least {
            let before = self.steps.len();
            self.once(part)?;
            // Repeating nothing yields nothing; expanding nested repetitions of nothing would take forever.
            if self.steps.len() == before {
                break;
            }
        }
        let split = |here: usize, after: usize| match greedy {
            Greedy::Yes => Step::Split(here + 1, after),
            Greedy::No => Step::Split(after, here + 1),
        };
        let Some(most) = most else {
            let start = self.push(Step::Jump(0))?;
            self.guarded(part)?;
            self.push(Step::Jump(start))?;
            self.steps[start] = split(start, self.steps.len());
            return Ok(());
        };
        let mut splits = Vec::new();
        for _ in least..most {
            splits.push(self.push(Step::Jump(0))?);
            self.guarded(part)?;
        }
        for here in splits {
            self.steps[here] = split(here, self.steps.len());
        }
        Ok(())
    }

    /// Compiles one round of a repetition. It clears the groups of the previous round.
    fn once(&mut self, part: &Part) -> Result<(), String> {
        if let Some((first, last)) = part.groups() {
            self.push(Step::Clear(2 * first, 2 * last + 2))?;
        }
        self.part(part)
    }

    /// Compiles one round that must consume a character.
    fn guarded(&mut self, part: &Part) -> Result<(), String> {
        let slot = self.slots;
        self.slots += 1;
        self.push(Step::Save(slot))?;
        self.once(part)?;
        self.push(Step::Progress(slot)).map(|_| ())
    }
}
