//! Comparison of the line-based merge with `git merge-file` on random edits.

use std::{fs, process::Command};

use docs_core::content::{LineMerger, MergeHunk, TextMerger};
use proptest::prelude::*;

/// The result of a merge: the merged text, or `None` for a conflict.
type Verdict = Option<String>;

fn ours(base: &str, one: &str, two: &str) -> Verdict {
    let hunks = LineMerger.merge(base, one, two);
    let clean = |hunk: &MergeHunk| match hunk {
        MergeHunk::Clean(text) => Some(text.clone()),
        MergeHunk::Clash { .. } => None,
    };
    hunks.iter().map(clean).collect()
}

/// Returns the result of `git merge-file`, whose exit status is the number of conflicts.
fn gits(base: &str, one: &str, two: &str) -> Verdict {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("a file");
        path
    };
    let merged = Command::new("git")
        .args(["merge-file", "-p", "-q"])
        .args([path("one", one), path("base", base), path("two", two)])
        .output()
        .expect("git is installed");
    let code = merged.status.code().expect("an exit code");
    assert!(code <= 127, "git merge-file failed: {}", String::from_utf8_lossy(&merged.stderr));
    (code == 0).then(|| String::from_utf8(merged.stdout).expect("UTF-8"))
}

/// A step of an edit script. Positions are taken modulo the number of lines.
#[derive(Clone, Debug)]
enum Step {
    Insert(usize, String),
    Delete(usize),
    Replace(usize, String),
    Move(usize, usize),
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[a-z]{3,8}",
        1 => "[a-c]",
        1 => prop::sample::select(vec!["", "", "* item", "## Title", "```"]).prop_map(str::to_owned),
    ]
}

/// Generates mostly frequent lines, so that the diff ignores some of them.
fn frequent_line() -> impl Strategy<Value = String> {
    prop_oneof![
        1 => "[a-z]{3,8}",
        7 => prop::sample::select(vec!["", "", "* item", "## Title", "```"]).prop_map(str::to_owned),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (any::<usize>(), line()).prop_map(|(at, line)| Step::Insert(at, line)),
        any::<usize>().prop_map(Step::Delete),
        (any::<usize>(), line()).prop_map(|(at, line)| Step::Replace(at, line)),
        (any::<usize>(), any::<usize>()).prop_map(|(from, to)| Step::Move(from, to)),
    ]
}

fn edited(base: &[String], steps: &[Step]) -> Vec<String> {
    let mut lines = base.to_vec();
    for step in steps {
        match step {
            Step::Insert(at, line) => lines.insert(at % (lines.len() + 1), line.clone()),
            Step::Delete(at) if !lines.is_empty() => drop(lines.remove(at % lines.len())),
            Step::Replace(at, line) if !lines.is_empty() => {
                let at = at % lines.len();
                lines[at].clone_from(line);
            }
            Step::Move(from, to) if !lines.is_empty() => {
                let line = lines.remove(from % lines.len());
                lines.insert(to % (lines.len() + 1), line);
            }
            Step::Delete(_) | Step::Replace(..) | Step::Move(..) => {}
        }
    }
    lines
}

fn text(lines: &[String]) -> String {
    lines.iter().fold(String::new(), |text, line| text + line + "\n")
}

/// Returns the number of random merges: `DOCS_MERGE_CASES`, or 200.
fn cases() -> u32 {
    std::env::var("DOCS_MERGE_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(200)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn line_merge_matches_git_merge_file(
        base in prop::collection::vec(line(), 0..30),
        one in prop::collection::vec(step(), 0..5),
        two in prop::collection::vec(step(), 0..5),
    ) {
        let (one, two) = (text(&edited(&base, &one)), text(&edited(&base, &two)));
        let base = text(&base);
        prop_assert_eq!(ours(&base, &one, &two), gits(&base, &one, &two));
    }
    #[test]
    fn merges_of_texts_with_frequent_lines_are_as_gits_are(
        base in prop::collection::vec(frequent_line(), 100..300),
        one in prop::collection::vec(step(), 0..30),
        two in prop::collection::vec(step(), 0..30),
    ) {
        let (one, two) = (text(&edited(&base, &one)), text(&edited(&base, &two)));
        let base = text(&base);
        prop_assert_eq!(ours(&base, &one, &two), gits(&base, &one, &two));
    }
}
