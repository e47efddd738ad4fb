//! Conflict markers: rendering a conflict as text, and parsing the edited text.

use super::{MergeHunk, TextMerger};

/// Minimum length of a marker.
const MIN_MARKER: usize = 7;
/// Maximum length of a marker. Text with longer runs of marker characters is displayed as a single conflict, so that
/// markers cannot multiply its size.
const MAX_MARKER: usize = 100;
const OURS_LABEL: &str = "current";
const BASE_LABEL: &str = "base";
const THEIRS_LABEL: &str = "change request";

/// Renders terms as text with markers. Also returns the marker length for each pair of terms.
///
/// The first pair is rendered first. Its text with markers is one side of the next pair, where each conflict block is
/// represented by a single unique line, so blocks are either nested or disjoint. Markers are longer than any run of
/// marker characters in the texts, and the markers of each pair are one character longer than those of the previous
/// pair. They are therefore distinct from the text and from each other.
pub(crate) fn render(merger: &dyn TextMerger, terms: &[&str]) -> (String, Vec<usize>) {
    let Some(first) = terms.first() else { return (String::new(), Vec::new()) };
    let mut current = (*first).to_owned();
    let longest = terms.iter().map(|text| longest_run(text)).max().unwrap_or(0);
    let least = MIN_MARKER.max(longest + 1);
    let mut blocks = Blocks { run: least, written: Vec::new() };
    let mut sizes = Vec::new();
    for (level, pair) in terms[1..].chunks_exact(2).enumerate() {
        let size = least + level;
        let hunks = if size > MAX_MARKER {
            vec![MergeHunk::Clash { ours: ended(&current), base: ended(pair[0]), theirs: ended(pair[1]) }]
        } else {
            merger.merge(pair[0], &current, pair[1])
        };
        current = blocks.fold(&hunks, size);
        sizes.push(size);
    }
    (blocks.unfolded(&current), sizes)
}

/// Renders terms as text without markers. For each conflict, the later term is used.
pub(crate) fn request_side(merger: &dyn TextMerger, terms: &[&str]) -> String {
    let Some(first) = terms.first() else { return String::new() };
    let mut current = (*first).to_owned();
    for pair in terms[1..].chunks_exact(2) {
        current = merger
            .merge(pair[0], &current, pair[1])
            .into_iter()
            .map(|hunk| match hunk {
                MergeHunk::Clean(text) | MergeHunk::Clash { theirs: text, .. } => text,
            })
            .collect();
    }
    current
}

/// Parses the output of [`render`] after a user has edited it. Returns a single term if no markers remain.
///
/// Returns `None` if the remaining markers are unbalanced.
pub(crate) fn unfold(text: &str, sizes: &[usize]) -> Option<Vec<String>> {
    let mut terms = vec![text.to_owned()];
    for (level, size) in sizes.iter().enumerate().rev() {
        let within = &sizes[..level];
        let pieces = split(&terms[0], *size)?;
        if pieces.iter().all(|piece| matches!(piece, MarkerSegment::Outside(_))) {
            continue;
        }
        let mut three = [String::new(), String::new(), String::new()];
        for piece in pieces {
            match piece {
                MarkerSegment::Outside(text) => {
                    // The later pair did not change the blocks of earlier pairs that are outside its own blocks, so use
                    // their base.
                    let base = replace_with_base(&text, within)?;
                    three[1].push_str(&base);
                    three[2].push_str(&base);
                    three[0].push_str(&text);
                }
                MarkerSegment::Block([ours, base, theirs]) => {
                    if within.iter().any(|size| has_block(&base, *size) || has_block(&theirs, *size)) {
                        return None;
                    }
                    three[0].push_str(&ours);
                    three[1].push_str(&base);
                    three[2].push_str(&theirs);
                }
            }
        }
        terms.splice(0..1, three);
    }
    Some(terms)
}

/// Conflict blocks, each represented by a single line during a merge, so that no merge splits them.
struct Blocks {
    /// A length greater than any run of marker characters in the texts.
    run: usize,
    written: Vec<String>,
}

impl Blocks {
    /// Returns the hunks as text, with a single line for each clash.
    fn fold(&mut self, hunks: &[MergeHunk], size: usize) -> String {
        let mut out = String::new();
        for hunk in hunks {
            match hunk {
                MergeHunk::Clean(text) => out.push_str(text),
                MergeHunk::Clash { .. } => {
                    end_line(&mut out);
                    out.push_str(&self.prefix());
                    out.push_str(&format!("{}\n", self.written.len()));
                    self.written.push(write(hunk, size));
                }
            }
        }
        out
    }

    /// Returns the common prefix of the lines that represent blocks.
    fn prefix(&self) -> String {
        "<".repeat(self.run)
    }

    /// Returns the text with all blocks expanded.
    fn unfolded(&self, text: &str) -> String {
        let prefix = self.prefix();
        let mut out = String::with_capacity(text.len());
        let mut waiting: Vec<_> = vec![text.split_inclusive('\n')];
        while let Some(lines) = waiting.last_mut() {
            let Some(line) = lines.next() else {
                waiting.pop();
                continue;
            };
            let number = line.strip_prefix(&prefix).and_then(|rest| rest.trim_end().parse::<usize>().ok());
            match number.and_then(|number| self.written.get(number)) {
                Some(block) => waiting.push(block.split_inclusive('\n')),
                None => out.push_str(line),
            }
        }
        out
    }
}

/// A segment of text with markers.
enum MarkerSegment {
    Outside(String),
    Block([String; 3]),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum MarkerSection {
    Outside,
    Ours,
    Base,
    Theirs,
}

/// Splits text at its markers of the given length. Returns `None` if they are unbalanced.
fn split(text: &str, size: usize) -> Option<Vec<MarkerSegment>> {
    let mut pieces = Vec::new();
    let mut outside = String::new();
    let mut block: [String; 3] = Default::default();
    let mut part = MarkerSection::Outside;
    for line in text.split_inclusive('\n') {
        part = match (part, marker(line, size)) {
            (MarkerSection::Outside, Some('<')) => MarkerSection::Ours,
            (MarkerSection::Ours, Some('|')) => MarkerSection::Base,
            (MarkerSection::Base, Some('=')) => MarkerSection::Theirs,
            (MarkerSection::Theirs, Some('>')) => {
                pieces.push(MarkerSegment::Outside(std::mem::take(&mut outside)));
                pieces.push(MarkerSegment::Block(std::mem::take(&mut block)));
                MarkerSection::Outside
            }
            (_, Some('<' | '>')) => return None,
            (part, _) => {
                match part {
                    MarkerSection::Outside => &mut outside,
                    MarkerSection::Ours => &mut block[0],
                    MarkerSection::Base => &mut block[1],
                    MarkerSection::Theirs => &mut block[2],
                }
                .push_str(line);
                part
            }
        };
    }
    pieces.push(MarkerSegment::Outside(outside));
    (part == MarkerSection::Outside).then_some(pieces)
}

/// Replaces every block by its base.
fn replace_with_base(text: &str, sizes: &[usize]) -> Option<String> {
    let mut text = text.to_owned();
    for size in sizes.iter().rev() {
        let mut out = String::with_capacity(text.len());
        for piece in split(&text, *size)? {
            match piece {
                MarkerSegment::Outside(text) => out.push_str(&text),
                MarkerSegment::Block([_, base, _]) => out.push_str(&base),
            }
        }
        text = out;
    }
    Some(text)
}

/// Returns `true` if the text contains a marker line that begins or ends a block.
fn has_block(text: &str, size: usize) -> bool {
    text.split_inclusive('\n').any(|line| matches!(marker(line, size), Some('<' | '>')))
}

/// Returns the marker character if the line is a marker.
fn marker(line: &str, size: usize) -> Option<char> {
    let line = line.trim_end_matches(['\n', '\r', ' ']);
    let first = line.chars().next()?;
    let label = match first {
        '<' => OURS_LABEL,
        '|' => BASE_LABEL,
        '=' => "",
        '>' => THEIRS_LABEL,
        _ => return None,
    };
    // All marker characters are single bytes.
    let run = line.bytes().take_while(|b| char::from(*b) == first).count();
    (run == size && line[run..].trim_start() == label).then_some(first)
}

fn write(hunk: &MergeHunk, size: usize) -> String {
    let (ours, base, theirs) = match hunk {
        MergeHunk::Clean(text) => return text.clone(),
        MergeHunk::Clash { ours, base, theirs } => (ours, base, theirs),
    };
    let mut out = String::new();
    for (mark, label, text) in [
        ('<', OURS_LABEL, ours.as_str()),
        ('|', BASE_LABEL, base),
        ('=', "", theirs),
        ('>', THEIRS_LABEL, ""),
    ] {
        end_line(&mut out);
        out.extend(std::iter::repeat_n(mark, size));
        if !label.is_empty() {
            out.push(' ');
            out.push_str(label);
        }
        out.push('\n');
        out.push_str(text);
    }
    out
}

fn end_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

fn ended(text: &str) -> String {
    let mut text = text.to_owned();
    end_line(&mut text);
    text
}

fn longest_run(text: &str) -> usize {
    let (mut longest, mut run, mut before) = (0, 0, 0u8);
    for byte in text.bytes() {
        run = match byte {
            b'<' | b'|' | b'=' | b'>' if byte == before => run + 1,
            b'<' | b'|' | b'=' | b'>' => 1,
            _ => 0,
        };
        before = byte;
        longest = longest.max(run);
    }
    longest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{super::LineMerger, *};

    #[test]
    fn conflict_is_rendered_with_all_three_sides() {
        let (text, sizes) = render(&LineMerger, &["x\nend\n", "a\nend\n", "y\nend\n"]);
        assert_eq!(text, "<<<<<<< current\nx\n||||||| base\na\n=======\ny\n>>>>>>> change request\nend\n");
        assert_eq!(sizes, [7]);
        assert_eq!(request_side(&LineMerger, &["x\nend\n", "a\nend\n", "y\nend\n"]), "y\nend\n");
    }

    #[test]
    fn markers_are_longer_than_any_marker_run_in_the_text() {
        let (text, sizes) = render(&LineMerger, &["<<<<<<<<<< x\n", "a\n", "y\n"]);
        assert_eq!(sizes, [11]);
        assert_eq!(unfold(&text, &sizes).unwrap(), ["<<<<<<<<<< x\n", "a\n", "y\n"]);
    }

    #[test]
    fn a_text_without_markers_is_a_resolution() {
        assert_eq!(unfold("decided\n=======\n", &[7]).unwrap(), ["decided\n=======\n"]);
    }

    #[test]
    fn incomplete_conflict_markers_are_rejected() {
        assert_eq!(unfold("<<<<<<< current\nx\n", &[7]), None);
        assert_eq!(unfold("x\n>>>>>>> change request\n", &[7]), None);
    }

    #[test]
    fn one_of_two_clashes_can_be_resolved() {
        let terms = ["x\nkeep\np\n", "a\nkeep\nb\n", "y\nkeep\nq\n"];
        let (text, sizes) = render(&LineMerger, &terms);
        let edited = text.replacen(
            "<<<<<<< current\nx\n||||||| base\na\n=======\ny\n>>>>>>> change request\n",
            "z\n",
            1,
        );
        assert_eq!(unfold(&edited, &sizes).unwrap(), ["z\nkeep\np\n", "z\nkeep\nb\n", "z\nkeep\nq\n"]);
    }

    #[test]
    fn rendered_size_is_bounded_for_runs_of_marker_characters() {
        let long = "=".repeat(10_000);
        let (ours, theirs) = (format!("{long}\nx\n").repeat(3), format!("{long}\ny\n").repeat(3));
        let (text, _) = render(&LineMerger, &[&ours, &long, &theirs]);
        assert!(text.len() < 6 * ours.len(), "{}", text.len());
    }

    // The removed text looks like a conflict marker.
    #[test]
    fn request_reverting_an_earlier_request_leaves_no_conflict() {
        let (text, sizes) = render(&LineMerger, &["", "", "=======\n", "=======\n", ""]);
        assert_eq!(text, "");
        assert_eq!(unfold(&text, &sizes).unwrap(), [""]);
    }

    fn text() -> impl Strategy<Value = String> {
        let line = proptest::sample::select(vec![
            "a",
            "b",
            "c",
            "<<<<<<< current",
            "=======",
            ">>>>>>>",
            "|||||||||| base",
        ]);
        proptest::collection::vec(line, 0..8)
            .prop_map(|lines| lines.iter().map(|l| format!("{l}\n")).collect())
    }

    proptest! {
        #[test]
        fn rendered_conflict_parses_back_to_its_terms(texts in proptest::collection::vec(text(), 3)) {
            let terms: Vec<&str> = texts.iter().map(String::as_str).collect();
            let (written, sizes) = render(&LineMerger, &terms);
            let read = unfold(&written, &sizes).unwrap();
            let hunks = LineMerger.merge(terms[1], terms[0], terms[2]);
            if hunks.iter().all(|hunk| matches!(hunk, MergeHunk::Clean(_))) {
                prop_assert_eq!(read, [written]);
                return Ok(());
            }
            let mut expected = [String::new(), String::new(), String::new()];
            for hunk in &hunks {
                let parts = match hunk {
                    MergeHunk::Clean(text) => [text, text, text],
                    MergeHunk::Clash { ours, base, theirs } => [ours, base, theirs],
                };
                expected.iter_mut().zip(parts).for_each(|(whole, part)| whole.push_str(part));
            }
            prop_assert_eq!(read, expected);
        }

        #[test]
        fn multi_term_conflicts_nest_and_parse_back_as_terms(
            mut texts in proptest::collection::vec(text(), 3..12),
        ) {
            if texts.len() % 2 == 0 {
                texts.pop();
            }
            let terms: Vec<&str> = texts.iter().map(String::as_str).collect();
            let (written, sizes) = render(&LineMerger, &terms);
            nests(&written, &sizes)?;
            for (at, text) in texts.iter().enumerate().skip(2).step_by(2) {
                // A later change request may remove lines of its base.
                let (before, after) = (&texts[..at], texts[at + 1..].iter().step_by(2));
                let others: Vec<&String> = before.iter().chain(after).collect();
                for line in text.lines().filter(|line| !others.iter().any(|other| other.contains(line))) {
                    prop_assert!(written.lines().any(|shown| shown == line), "{}\n{}", line, written);
                }
            }
            let read = unfold(&written, &sizes).unwrap();
            prop_assert_eq!(read.len() % 2, 1);
            prop_assert!(read.len() <= texts.len());
            for term in &read {
                prop_assert!(sizes.iter().all(|size| !has_block(term, *size)), "{}", term);
            }
        }

        #[test]
        fn successive_conflicts_in_one_passage_render_and_parse(
            sides in proptest::collection::vec("[a-z]{1,3}(\n[a-z]{1,3}){0,2}", 2..9),
            around in proptest::sample::select(vec![("", ""), ("Before\n\n", ""), ("Before\n\n", "\n\nAfter\n")]),
        ) {
            let whole = |passage: &str| format!("{}{passage}{}", around.0, around.1);
            // Number the lines to make them distinct, so that all of them conflict.
            let sides: Vec<String> = sides
                .iter()
                .enumerate()
                .map(|(n, side)| whole(&side.lines().map(|line| format!("{line} {n}\n")).collect::<String>()))
                .collect();
            let base = whole("The line that all came from\n");
            let mut terms = vec![sides[0].as_str()];
            for side in &sides[1..] {
                terms.extend([base.as_str(), side]);
            }
            let (written, sizes) = render(&LineMerger, &terms);
            nests(&written, &sizes)?;
            for side in &sides {
                prop_assert!(side.lines().all(|line| written.lines().any(|shown| shown == line)), "{}", written);
            }
            prop_assert_eq!(unfold(&written, &sizes).unwrap(), terms);
        }
    }

    /// Fails unless the markers of all lengths are closed in the reverse order of opening.
    fn nests(text: &str, sizes: &[usize]) -> Result<(), TestCaseError> {
        let mut open: Vec<(usize, char)> = Vec::new();
        for line in text.lines() {
            let Some((size, mark)) = sizes.iter().find_map(|size| Some((*size, marker(line, *size)?))) else {
                continue;
            };
            let before = match mark {
                '<' => {
                    open.push((size, '<'));
                    continue;
                }
                '|' => '<',
                '=' => '|',
                _ => '=',
            };
            prop_assert_eq!(open.pop(), Some((size, before)), "{}", text);
            if mark != '>' {
                open.push((size, mark));
            }
        }
        prop_assert!(open.is_empty(), "{}", text);
        Ok(())
    }

    #[test]
    fn third_side_wraps_the_conflict_of_the_first_two() {
        let (text, sizes) = render(&LineMerger, &["A\n", "x\n", "B\n", "x\n", "C\n"]);
        let inner = "<<<<<<< current\nA\n||||||| base\nx\n=======\nB\n>>>>>>> change request\n";
        let outer = "|||||||| base\nx\n========\nC\n>>>>>>>> change request\n";
        assert_eq!(text, format!("<<<<<<<< current\n{inner}{outer}"));
        assert_eq!(unfold(&text, &sizes).unwrap(), ["A\n", "x\n", "B\n", "x\n", "C\n"]);
    }

    #[test]
    fn non_overlapping_conflicts_are_rendered_separately() {
        let terms = ["A\nkeep\ny\n", "x\nkeep\ny\n", "B\nkeep\nD\n", "x\nkeep\ny\n", "x\nkeep\nC\n"];
        let (text, sizes) = render(&LineMerger, &terms);
        let expected = ["A\nkeep\nD\n", "x\nkeep\nD\n", "B\nkeep\nD\n", "x\nkeep\ny\n", "x\nkeep\nC\n"];
        assert_eq!(unfold(&text, &sizes).unwrap(), expected, "{text}");
    }

    #[test]
    fn conflict_block_inserted_into_a_side_is_rejected() {
        let (text, sizes) = render(&LineMerger, &["A\n", "x\n", "B\n", "x\n", "C\n"]);
        let inner = "<<<<<<< current\nA\n||||||| base\nx\n=======\nB\n>>>>>>> change request\n";
        assert_eq!(unfold(&text.replace("C\n", inner), &sizes), None);
    }
}
