//! Line-based merge.

use std::{borrow::Cow, ops::Range};

use docs_markup::diff::{LineId, Lines, changes};

use super::{MergeHunk, TextMerger};

/// Maximum text size in bytes for a merge by line.
const MAX_MERGE_BYTES: usize = 1024 * 1024;
/// Maximum number of lines for a merge by line.
const MAX_MERGE_LINES: usize = 50_000;

/// Merges texts by line. Texts that exceed the limits conflict as a whole.
///
/// Differences in line terminators are not conflicts: the result has the terminators of the side that changed them.
#[derive(Clone, Copy, Debug, Default)]
pub struct LineMerger;

impl TextMerger for LineMerger {
    fn merge(&self, base: &str, ours: &str, theirs: &str) -> Vec<MergeHunk> {
        if ours == theirs || base == theirs {
            return vec![MergeHunk::Clean(ours.to_owned())];
        }
        if base == ours {
            return vec![MergeHunk::Clean(theirs.to_owned())];
        }
        let shapes = [LineEndings::detect(base), LineEndings::detect(ours), LineEndings::detect(theirs)];
        let shape = LineEndings {
            windows: merge_flag(shapes.map(|s| s.windows)),
            open: merge_flag(shapes.map(|s| s.open)),
        };
        let [base, ours, theirs] = [base, ours, theirs].map(normalize_line_endings);
        let mut hunks = if [&base, &ours, &theirs].iter().any(|text| too_large(text)) {
            vec![MergeHunk::Clash { ours: ours.into(), base: base.into(), theirs: theirs.into() }]
        } else {
            by_line(&base, &ours, &theirs)
        };
        shape.apply(&mut hunks);
        hunks
    }
}

fn by_line(base: &str, ours: &str, theirs: &str) -> Vec<MergeHunk> {
    let mut numbers = Lines::default();
    let ids = [base, ours, theirs].map(|text| numbers.number(text));
    let texts = [base, ours, theirs].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
    let mut out: Vec<MergeHunk> = Vec::new();
    let mut at = 0;
    for region in regions(&ids) {
        let [of_base, of_ours, of_theirs] =
            [0, 1, 2].map(|n: usize| texts[n][region.ranges[n].clone()].concat());
        push_clean(&mut out, texts[0][at..region.ranges[0].start].concat());
        match region.by {
            ChangeSide::Ours => push_clean(&mut out, of_ours),
            ChangeSide::Theirs => push_clean(&mut out, of_theirs),
            ChangeSide::Both if of_ours == of_theirs => push_clean(&mut out, of_ours),
            ChangeSide::Both => {
                out.push(MergeHunk::Clash { ours: of_ours, base: of_base, theirs: of_theirs });
            }
        }
        at = region.ranges[0].end;
    }
    push_clean(&mut out, texts[0][at..].concat());
    out
}

fn push_clean(out: &mut Vec<MergeHunk>, text: String) {
    match out.last_mut() {
        _ if text.is_empty() => {}
        Some(MergeHunk::Clean(before)) => before.push_str(&text),
        _ => out.push(MergeHunk::Clean(text)),
    }
}

/// The side that changed a region.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ChangeSide {
    Ours,
    Theirs,
    Both,
}

/// A changed region of the base, and its ranges in the base and on both sides.
struct Region {
    by: ChangeSide,
    ranges: [Range<usize>; 3],
}

/// Returns the changed regions in order. Overlapping or adjacent changes of different sides form one region.
fn regions([base, ours, theirs]: &[Vec<LineId>; 3]) -> Vec<Region> {
    let changes = [changes(base, ours), changes(base, theirs)];
    let mut next = [0, 0];
    // The line offset of each side relative to the base, after the changes processed so far.
    let mut drift = [0isize, 0];
    let mut out = Vec::new();
    while let Some(first) = (0..2)
        .filter(|side| next[*side] < changes[*side].len())
        .min_by_key(|side| changes[*side][next[*side]].old.start)
    {
        let start = changes[first][next[first]].old.start;
        let before = drift;
        let mut end = start;
        let mut touched = [false, false];
        loop {
            let more = (0..2).find(|side| {
                changes[*side]
                    .get(next[*side])
                    .is_some_and(|c| c.old.start < end || (c.old.start == end && (!touched[*side])))
            });
            let Some(side) = more else { break };
            let change = &changes[side][next[side]];
            end = end.max(change.old.end);
            drift[side] += signed(change.new.len()) - signed(change.old.len());
            touched[side] = true;
            next[side] += 1;
        }
        let on = |side: usize| place(start, before[side])..place(end, drift[side]);
        let by = match touched {
            [true, true] => ChangeSide::Both,
            [true, false] => ChangeSide::Ours,
            _ => ChangeSide::Theirs,
        };
        out.push(Region { by, ranges: [start..end, on(0), on(1)] });
    }
    out
}

/// Converts a line number of the base to one of a side.
fn place(at: usize, drift: isize) -> usize {
    at.saturating_add_signed(drift)
}

fn signed(n: usize) -> isize {
    isize::try_from(n).unwrap_or(isize::MAX)
}

fn too_large(text: &str) -> bool {
    text.len() > MAX_MERGE_BYTES || text.lines().count() > MAX_MERGE_LINES
}

/// The line terminators of the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct LineEndings {
    /// All line terminators are CR LF.
    windows: bool,
    /// The last line has no terminator.
    open: bool,
}

impl LineEndings {
    fn detect(text: &str) -> Self {
        let breaks = text.matches('\n').count();
        Self {
            windows: breaks > 0 && text.matches("\r\n").count() == breaks,
            open: !text.is_empty() && !text.ends_with('\n'),
        }
    }

    /// Converts normalized hunks to these line endings.
    fn apply(self, hunks: &mut [MergeHunk]) {
        let clean = hunks.iter().all(|hunk| matches!(hunk, MergeHunk::Clean(_)));
        if self.open
            && clean
            && let Some(MergeHunk::Clean(last)) = hunks.last_mut()
            && last.ends_with('\n')
        {
            last.pop();
        }
        if self.windows {
            for hunk in hunks {
                match hunk {
                    MergeHunk::Clean(text) => *text = text.replace('\n', "\r\n"),
                    MergeHunk::Clash { ours, base, theirs } => {
                        for text in [ours, base, theirs] {
                            *text = text.replace('\n', "\r\n");
                        }
                    }
                }
            }
        }
    }
}

/// Merges a boolean. If the sides differ, exactly one of them differs from the base.
fn merge_flag([base, ours, theirs]: [bool; 3]) -> bool {
    if ours == base { theirs } else { ours }
}

/// Returns the text with every line terminated by LF.
fn normalize_line_endings(text: &str) -> Cow<'_, str> {
    let mut out = Cow::Borrowed(text);
    if LineEndings::detect(text).windows {
        out = Cow::Owned(text.replace("\r\n", "\n"));
    }
    if !out.is_empty() && !out.ends_with('\n') {
        out.to_mut().push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{super::clean, *};

    fn merged(base: &str, ours: &str, theirs: &str) -> Option<String> {
        clean(&LineMerger.merge(base, ours, theirs))
    }

    #[test]
    fn changes_of_different_lines_merge_cleanly() {
        assert_eq!(merged("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n").as_deref(), Some("A\nb\nC\n"));
    }

    #[test]
    fn changes_of_the_same_line_clash() {
        assert_eq!(
            LineMerger.merge("a\nb\n", "x\nb\n", "y\nb\n"),
            [
                MergeHunk::Clash { ours: "x\n".into(), base: "a\n".into(), theirs: "y\n".into() },
                MergeHunk::Clean("b\n".into())
            ]
        );
    }

    #[test]
    fn missing_final_newline_causes_no_conflict() {
        assert_eq!(merged("a\nb\nc", "A\nb\nc", "a\nb\nc\n").as_deref(), Some("A\nb\nc\n"));
        assert_eq!(merged("a\nb\nc\n", "A\nb\nc", "a\nb\nC\n").as_deref(), Some("A\nb\nC"));
    }

    #[test]
    fn crlf_and_lf_texts_merge_cleanly() {
        assert_eq!(merged("a\nb\nc\n", "a\r\nb\r\nc\r\n", "a\nb\nC\n").as_deref(), Some("a\r\nb\r\nC\r\n"));
    }

    #[test]
    fn text_beyond_the_merge_limit_conflicts_as_a_whole() {
        let base = "x\n".repeat(60_000);
        let hunks = LineMerger.merge(&base, &format!("a\n{base}"), &format!("{base}b\n"));
        assert!(matches!(hunks.as_slice(), [MergeHunk::Clash { .. }]));
    }

    fn text() -> impl Strategy<Value = String> {
        proptest::collection::vec("[a-d]{0,2}", 0..12).prop_map(|lines| lines.join("\n"))
    }

    proptest! {
        #[test]
        fn merge_with_an_unchanged_side_yields_the_other(base in text(), other in text()) {
            prop_assert_eq!(merged(&base, &base, &other), Some(other.clone()));
            prop_assert_eq!(merged(&base, &other, &base), Some(other));
        }

        #[test]
        fn identical_changes_merge_cleanly(base in text(), other in text()) {
            prop_assert_eq!(merged(&base, &other, &other), Some(other));
        }

        #[test]
        fn exchanged_sides_give_exchanged_hunks(base in text(), ours in text(), theirs in text()) {
            let one = LineMerger.merge(&base, &ours, &theirs);
            let two: Vec<MergeHunk> = LineMerger
                .merge(&base, &theirs, &ours)
                .into_iter()
                .map(|hunk| match hunk {
                    MergeHunk::Clash { ours, base, theirs } => MergeHunk::Clash { ours: theirs, base, theirs: ours },
                    clean @ MergeHunk::Clean(_) => clean,
                })
                .collect();
            prop_assert_eq!(one, two);
        }
    }
}
