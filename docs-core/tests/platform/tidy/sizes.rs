//! The length of files and comment lines. The lint `too_many_lines` limits the length of functions to the number in
//! `clippy.toml`.

use std::fs;

use super::{root, rust_files};

/// Maximum number of lines in a file.
const MAX_LINES: usize = 1_100;

/// Maximum width of a comment line in characters. The formatter limits code, but not comments.
const MAX_WIDTH: usize = 120;

#[test]
fn no_comment_line_exceeds_the_width_limit() {
    let mut wide = Vec::new();
    for file in rust_files(root()) {
        let text = fs::read_to_string(&file).expect("a file");
        for (at, line) in text.lines().enumerate() {
            let said =
                line.trim_start().strip_prefix("//").map(|said| said.trim_start_matches(['/', '!']).trim());
            // A table row cannot be wrapped.
            let is_long = said.is_some_and(|said| !said.starts_with('|')) && line.chars().count() > MAX_WIDTH;
            if is_long {
                wide.push(format!("{}:{}", file.display(), at + 1));
            }
        }
    }
    assert!(wide.is_empty(), "at most {MAX_WIDTH} characters: {wide:#?}");
}

#[test]
fn no_file_exceeds_the_line_limit() {
    let found = rust_files(root());
    for part in ["docs-core/src", "docs-core/tests", "benches", "examples", "docs-server/tests"] {
        assert!(found.iter().any(|file| file.starts_with(root().join(part))), "{part}");
    }
    let lines = |file| fs::read_to_string(file).expect("a file").lines().count();
    let long: Vec<_> = found.iter().map(|file| (lines(file), file)).filter(|(n, _)| *n > MAX_LINES).collect();
    assert!(long.is_empty(), "at most {MAX_LINES} lines: {long:#?}");
}
