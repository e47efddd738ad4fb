//! Collected problems of a specification.

use std::collections::HashSet;

use docs_ports::{MAX_SPEC_PROBLEMS, SpecFile, SpecFormat, SpecProblem};

use crate::{
    line_numbers::line_of,
    text::{SyntaxFault, as_text},
};

/// Maximum number of bytes that are parsed again to find the lines of problems.
const LOCATED_BYTES: usize = 40_000_000;
/// Maximum number of characters of a message, and of a pointer in it.
const MAX_MESSAGE: usize = 300;

pub(crate) struct Findings<'a> {
    entry: &'a SpecFile,
    problems: Vec<SpecProblem>,
    seen: HashSet<(String, String)>,
    format: SpecFormat,
    more: usize,
}

impl<'a> Findings<'a> {
    pub(crate) fn new(entry: &'a SpecFile) -> Self {
        let (problems, seen) = (Vec::new(), HashSet::new());
        Self { entry, problems, seen, format: SpecFormat::Yaml, more: 0 }
    }

    /// Sets the format of the entry file.
    pub(crate) const fn written_in(&mut self, format: SpecFormat) {
        self.format = format;
    }

    /// Records a file that cannot be parsed.
    pub(crate) fn report_unreadable(&mut self, file: &SpecFile, why: SyntaxFault) {
        let mut problem = why.problem();
        if !std::ptr::eq(file, self.entry) {
            // Name the file, because the line number refers to it.
            problem.message = format!("the file {} {}", file.location, problem.message);
        }
        self.push(problem);
    }

    /// Records a problem at a JSON pointer in a file.
    pub(crate) fn report_at(&mut self, file: &SpecFile, pointer: &str, message: impl std::fmt::Display) {
        let message = match std::ptr::eq(file, self.entry) {
            true => message.to_string(),
            false => format!("in {}: {message}", file.location),
        };
        self.push(SpecProblem { message, pointer: pointer.to_owned(), line: None });
    }

    fn push(&mut self, mut problem: SpecProblem) {
        truncate_message(&mut problem.message);
        truncate_message(&mut problem.pointer);
        if self.problems.len() >= MAX_SPEC_PROBLEMS {
            self.more += 1;
            return;
        }
        if self.seen.insert((problem.pointer.clone(), problem.message.clone())) {
            self.problems.push(problem);
        }
    }

    /// Returns the problems, with line numbers as far as they can be determined.
    pub(crate) fn into_problems(mut self) -> Vec<SpecProblem> {
        let mut left = LOCATED_BYTES;
        if let Ok(text) = as_text(&self.entry.bytes) {
            let wanted =
                |problem: &&mut SpecProblem| problem.line.is_none() && !problem.message.starts_with("in ");
            for problem in self.problems.iter_mut().filter(wanted) {
                let Some(rest) = left.checked_sub(text.len()) else { break };
                left = rest;
                problem.line = line_of(text, self.format, &problem.pointer);
            }
        }
        if self.more > 0 {
            let message = format!("and {} more", self.more);
            self.problems.push(SpecProblem { message, pointer: String::new(), line: None });
        }
        self.problems
    }
}

fn truncate_message(text: &mut String) {
    if let Some((end, _)) = text.char_indices().nth(MAX_MESSAGE) {
        text.truncate(end);
        text.push('…');
    }
}
