//! How long files are. How long functions are is said by a lint (`too_many_lines`, with the number in `clippy.toml`).

use std::fs;

use super::{root, rust_files};

/// Most lines of a file.
const MAX_LINES: usize = 600;

#[test]
fn no_file_is_longer_than_its_readers_can_bear() {
    let found = rust_files(root());
    for part in ["docs-core/src", "docs-core/tests", "benches", "examples", "docs-server/tests"] {
        assert!(found.iter().any(|file| file.starts_with(root().join(part))), "{part}");
    }
    let lines = |file| fs::read_to_string(file).expect("a file").lines().count();
    let long: Vec<_> = found.iter().map(|file| (lines(file), file)).filter(|(n, _)| *n > MAX_LINES).collect();
    assert!(long.is_empty(), "at most {MAX_LINES} lines: {long:#?}");
}
