//! The parts of Markdown whose text is literal.

use std::ops::Range;

use pulldown_cmark::{Event, Parser, Tag};

use super::{super::work_budget, options::OPTIONS};
use crate::syntax::html::{self, TagKind};

/// Returns the ranges of code blocks and code spans, in order.
pub(crate) fn code_ranges(source: &str) -> Vec<Range<usize>> {
    work_budget::step(source.len());
    Parser::new_ext(source, OPTIONS)
        .into_offset_iter()
        .filter(|(event, _)| matches!(event, Event::Start(Tag::CodeBlock(_)) | Event::Code(_)))
        .map(|(_, range)| range)
        .collect()
}

/// Returns the ranges of code blocks, code spans and `pre` elements, in order and disjoint.
pub(super) fn literal_ranges(source: &str) -> Vec<Range<usize>> {
    let mut ranges = code_ranges(source);
    ranges.extend(preformatted(source, &ranges));
    ranges.sort_unstable_by_key(|range| range.start);
    let mut out: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match out.last_mut().filter(|last| last.end >= range.start) {
            Some(last) => last.end = last.end.max(range.end),
            None => out.push(range),
        }
    }
    out
}

/// Returns the ranges of the `pre` elements outside of code, each up to its closing tag.
pub(super) fn preformatted(source: &str, code: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut open = None;
    for (at, kind) in html::tags_of(source, "pre") {
        if is_within(code, at) {
            continue;
        }
        match kind {
            TagKind::Opening => open = Some(at),
            TagKind::Closing => found.extend(open.take().map(|start| start..at)),
        }
    }
    found
}

/// Returns `true` if a position is within one of the ranges, which are in order.
pub(crate) fn is_within(ranges: &[Range<usize>], at: usize) -> bool {
    let next = ranges.partition_point(|range| range.end <= at);
    ranges.get(next).is_some_and(|range| range.start <= at)
}
