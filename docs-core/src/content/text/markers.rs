//! Conflict markers: writing a conflict as one text, and reading what a person made of it.

use super::{Hunk, TextMerger};

/// Fewest characters of a marker.
const MIN_MARKER: usize = 7;
/// A text with longer runs of marker characters is shown whole, so that markers cannot multiply it.
const MAX_MARKER: usize = 100;
const OURS: &str = "current";
const BASE: &str = "base";
const THEIRS: &str = "change request";

/// Terms as one text with markers, and the length of the markers of each pair of terms.
///
/// The first pair is written first; its text with markers then is one side of the next pair. Markers are longer than
/// any run of marker characters in any of the texts, and those of each pair one longer than those of the pair before,
/// so that they can always be told from text and from each other.
pub(crate) fn render(merger: &dyn TextMerger, terms: &[&str]) -> (String, Vec<usize>) {
    let Some(first) = terms.first() else { return (String::new(), Vec::new()) };
    let mut current = (*first).to_owned();
    let longest = terms.iter().map(|text| longest_run(text)).max().unwrap_or(0);
    let mut sizes = Vec::new();
    for (level, pair) in terms[1..].chunks_exact(2).enumerate() {
        let size = MIN_MARKER.max(longest + 1) + level;
        let hunks = if size > MAX_MARKER {
            vec![Hunk::Clash { ours: ended(&current), base: ended(pair[0]), theirs: ended(pair[1]) }]
        } else {
            merger.merge(pair[0], &current, pair[1])
        };
        current = write(&hunks, size);
        sizes.push(size);
    }
    (current, sizes)
}

/// Terms as one text without markers: where they clash, the later one.
pub(crate) fn request_side(merger: &dyn TextMerger, terms: &[&str]) -> String {
    let Some(first) = terms.first() else { return String::new() };
    let mut current = (*first).to_owned();
    for pair in terms[1..].chunks_exact(2) {
        current = merger
            .merge(pair[0], &current, pair[1])
            .into_iter()
            .map(|hunk| match hunk {
                Hunk::Clean(text) | Hunk::Clash { theirs: text, .. } => text,
            })
            .collect();
    }
    current
}

/// The terms of a text that was written by [`render`] and then edited; one term when no marker is left.
///
/// `None` when markers are left that do not belong together.
pub(crate) fn unfold(text: &str, sizes: &[usize]) -> Option<Vec<String>> {
    let mut terms = vec![text.to_owned()];
    for size in sizes.iter().rev() {
        match parse(&terms[0], *size) {
            Parsed::Plain => {}
            Parsed::Terms(three) => {
                terms.splice(0..1, three);
            }
            Parsed::Broken => return None,
        }
    }
    Some(terms)
}

enum Parsed {
    Plain,
    Terms([String; 3]),
    Broken,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Outside,
    Ours,
    Base,
    Theirs,
}

fn parse(text: &str, size: usize) -> Parsed {
    let mut terms = [String::new(), String::new(), String::new()];
    let mut part = Part::Outside;
    let mut found = false;
    for line in text.split_inclusive('\n') {
        part = match (part, marker(line, size)) {
            (Part::Outside, Some('<')) => {
                found = true;
                Part::Ours
            }
            (Part::Ours, Some('|')) => Part::Base,
            (Part::Base, Some('=')) => Part::Theirs,
            (Part::Theirs, Some('>')) => Part::Outside,
            (_, Some('<' | '>')) => return Parsed::Broken,
            (part, _) => {
                let of = match part {
                    Part::Outside => 0..3,
                    Part::Ours => 0..1,
                    Part::Base => 1..2,
                    Part::Theirs => 2..3,
                };
                for term in &mut terms[of] {
                    term.push_str(line);
                }
                part
            }
        };
    }
    match part {
        Part::Outside if found => Parsed::Terms(terms),
        Part::Outside => Parsed::Plain,
        _ => Parsed::Broken,
    }
}

/// The character of the marker a line is.
fn marker(line: &str, size: usize) -> Option<char> {
    let line = line.trim_end_matches(['\n', '\r', ' ']);
    let first = line.chars().next()?;
    let label = match first {
        '<' => OURS,
        '|' => BASE,
        '=' => "",
        '>' => THEIRS,
        _ => return None,
    };
    // All four marker characters are single bytes.
    let run = line.bytes().take_while(|b| char::from(*b) == first).count();
    (run == size && line[run..].trim_start() == label).then_some(first)
}

fn write(hunks: &[Hunk], size: usize) -> String {
    let mut out = String::new();
    for hunk in hunks {
        match hunk {
            Hunk::Clean(text) => out.push_str(text),
            Hunk::Clash { ours, base, theirs } => {
                for (mark, label, text) in
                    [('<', OURS, ours.as_str()), ('|', BASE, base), ('=', "", theirs), ('>', THEIRS, "")]
                {
                    if !out.is_empty() && !out.ends_with('\n') {
                        out.push('\n');
                    }
                    out.extend(std::iter::repeat_n(mark, size));
                    if !label.is_empty() {
                        out.push(' ');
                        out.push_str(label);
                    }
                    out.push('\n');
                    out.push_str(text);
                }
            }
        }
    }
    out
}

fn ended(text: &str) -> String {
    let mut text = text.to_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
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
    fn a_clash_is_written_with_all_sides() {
        let (text, sizes) = render(&LineMerger, &["x\nend\n", "a\nend\n", "y\nend\n"]);
        assert_eq!(text, "<<<<<<< current\nx\n||||||| base\na\n=======\ny\n>>>>>>> change request\nend\n");
        assert_eq!(sizes, [7]);
        assert_eq!(request_side(&LineMerger, &["x\nend\n", "a\nend\n", "y\nend\n"]), "y\nend\n");
    }

    #[test]
    fn markers_are_longer_than_what_the_text_holds() {
        let (text, sizes) = render(&LineMerger, &["<<<<<<<<<< x\n", "a\n", "y\n"]);
        assert_eq!(sizes, [11]);
        assert_eq!(unfold(&text, &sizes).unwrap(), ["<<<<<<<<<< x\n", "a\n", "y\n"]);
    }

    #[test]
    fn a_text_without_markers_is_a_resolution() {
        assert_eq!(unfold("decided\n=======\n", &[7]).unwrap(), ["decided\n=======\n"]);
    }

    #[test]
    fn half_a_marker_is_noticed() {
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
    fn a_text_made_of_marker_characters_is_not_multiplied() {
        let long = "=".repeat(10_000);
        let (ours, theirs) = (format!("{long}\nx\n").repeat(3), format!("{long}\ny\n").repeat(3));
        let (text, _) = render(&LineMerger, &[&ours, &long, &theirs]);
        assert!(text.len() < 6 * ours.len(), "{}", text.len());
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
        fn what_is_written_reads_back(texts in proptest::collection::vec(text(), 3)) {
            let terms: Vec<&str> = texts.iter().map(String::as_str).collect();
            let (written, sizes) = render(&LineMerger, &terms);
            let read = unfold(&written, &sizes).unwrap();
            let hunks = LineMerger.merge(terms[1], terms[0], terms[2]);
            if hunks.iter().all(|hunk| matches!(hunk, Hunk::Clean(_))) {
                prop_assert_eq!(read, [written]);
                return Ok(());
            }
            let mut expected = [String::new(), String::new(), String::new()];
            for hunk in &hunks {
                let parts = match hunk {
                    Hunk::Clean(text) => [text, text, text],
                    Hunk::Clash { ours, base, theirs } => [ours, base, theirs],
                };
                expected.iter_mut().zip(parts).for_each(|(whole, part)| whole.push_str(part));
            }
            prop_assert_eq!(read, expected);
        }

        #[test]
        fn a_conflict_of_many_terms_reads_back_as_terms(texts in proptest::collection::vec(text(), 5)) {
            let terms: Vec<&str> = texts.iter().map(String::as_str).collect();
            let (written, sizes) = render(&LineMerger, &terms);
            let read = unfold(&written, &sizes).unwrap();
            prop_assert_eq!(read.len() % 2, 1);
            prop_assert!(read.len() <= 5);
        }
    }
}
