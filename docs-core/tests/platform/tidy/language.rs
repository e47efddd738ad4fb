//! The language of doc comments, test names and string literals.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{root, rust_files, sources};

/// Question words, with which doc comments do not begin: the first line is a noun phrase or a verb.
const QUESTIONS: &[&str] = &["What", "Whether", "Where", "How", "Who", "Whose", "Which", "Why", "When"];

/// Maximum length of the name of a test in characters.
const MAX_TEST_NAME: usize = 60;

/// Words that string literals do not use, with the number of permitted exceptions in the workspace: data of test
/// suites, instructions for a language model, and labels of derived keys, which never change.
const WORDS: &[(&[&str], usize)] = &[
    (&["whatever", "tell", "tells", "told", "say", "says", "said"], 2),
    (&["stand", "stands", "stood"], 1),
    (&["nobody", "somebody", "anybody", "whoever", "whose", "whom"], 0),
    (&["lead", "leads", "led", "behind", "beside"], 0),
    (&["neither", "anew", "meanwhile"], 1),
    (&["what", "whether"], 1),
];

/// Returns the first lines of the doc comments in a file, with their line numbers.
fn first_lines(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut is_first = true;
    for (at, line) in text.lines().enumerate() {
        let line = line.trim_start();
        match line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) {
            Some(said) if is_first => {
                found.push((at + 1, said.trim()));
                is_first = false;
            }
            Some(_) => {}
            None => is_first = true,
        }
    }
    found
}

/// Returns the names of the tests in a file.
fn test_names(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut is_test = false;
    for line in text.lines().map(str::trim_start) {
        if line.starts_with("#[") {
            is_test |= line.starts_with("#[test") || line.starts_with("#[tokio::test");
        } else if !line.starts_with("//") {
            let name = line.trim_start_matches("pub ").trim_start_matches("async ").strip_prefix("fn ");
            found.extend(name.filter(|_| is_test).and_then(|name| name.split(['(', '<']).next()));
            is_test = false;
        }
    }
    found
}

/// Returns the string literals in a file up to its unit tests, without comments and raw strings.
fn literals(text: &str) -> Vec<&str> {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['"', '/', '\'', 'r']) {
        let (before, from) = rest.split_at(at);
        let is_word = before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let hashes = from[1..].len() - from[1..].trim_start_matches('#').len();
        let skipped = if from.starts_with("//") {
            from.find('\n').unwrap_or(from.len())
        } else if from.starts_with('r') && !is_word && from[1 + hashes..].starts_with('"') {
            let end = format!("\"{}", "#".repeat(hashes));
            let body = 2 + hashes;
            from[body..].find(&end).map_or(from.len(), |length| body + length + end.len())
        } else if from.starts_with("'\"'") || from.starts_with("'\\\"'") || from.starts_with("'\\\\'") {
            from[2..].find('\'').map_or(from.len(), |end| end + 3)
        } else if let Some(body) = from.strip_prefix('"') {
            let mut is_escaped = false;
            let end = body.find(|c: char| {
                let is_end = c == '"' && !is_escaped;
                is_escaped = c == '\\' && !is_escaped;
                is_end
            });
            let end = end.unwrap_or(body.len());
            found.push(&body[..end]);
            (end + 2).min(from.len())
        } else {
            1
        };
        rest = &from[skipped..];
    }
    found
}

/// Returns the words of a literal with at least three words, without placeholders, code in backticks and HTML.
fn words(literal: &str) -> Vec<String> {
    let plain = literal.split('`').step_by(2).collect::<Vec<_>>().join(" ");
    if plain.contains(['<', '=', ';']) && !plain.contains("; ") {
        return Vec::new();
    }
    let mut depth = 0_usize;
    let is_outside = |c: &char| {
        depth = (depth + usize::from(*c == '{')).saturating_sub(usize::from(*c == '}'));
        depth == 0
    };
    let plain: String = plain.chars().filter(is_outside).collect();
    let is_letter = |c: char| c.is_alphabetic() || c == '\'';
    let words: Vec<String> =
        plain.split(|c| !is_letter(c)).filter(|word| word.len() > 1).map(str::to_lowercase).collect();
    if words.len() < 3 { Vec::new() } else { words }
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).expect("a file")
}

fn short(file: &Path) -> String {
    file.strip_prefix(root()).unwrap_or(file).display().to_string()
}

#[test]
fn doc_comment_begins_with_a_noun_or_a_verb() {
    let (mut checked, mut wrong) = (0, Vec::new());
    for file in rust_files(root()) {
        for (line, said) in first_lines(&read(&file)).iter() {
            checked += 1;
            if QUESTIONS.contains(&said.split_whitespace().next().unwrap_or_default()) {
                wrong.push(format!("{}:{line}: {said}", short(&file)));
            }
        }
    }
    assert!(wrong.is_empty(), "begin with a noun phrase or a verb: {wrong:#?}");
    assert!(checked > 10_000, "only {checked} doc comments");
}

#[test]
fn test_name_has_at_most_60_characters() {
    let (mut checked, mut wrong) = (0, Vec::new());
    for file in rust_files(root()) {
        for name in test_names(&read(&file)) {
            checked += 1;
            if name.len() > MAX_TEST_NAME {
                wrong.push(format!("{}: {name}", short(&file)));
            }
        }
    }
    assert!(wrong.is_empty(), "at most {MAX_TEST_NAME} characters: {wrong:#?}");
    assert!(checked > 1_500, "only {checked} tests");
}

#[test]
fn string_literals_use_plain_words() {
    let files: Vec<(PathBuf, String)> =
        sources().into_iter().map(|file| (file.clone(), read(&file))).collect();
    let mut checked = 0;
    let mut found: Vec<Vec<String>> = vec![Vec::new(); WORDS.len()];
    for (file, text) in &files {
        for literal in literals(text) {
            let words = words(literal);
            checked += usize::from(!words.is_empty());
            for ((banned, _), found) in WORDS.iter().zip(&mut found) {
                if words.iter().any(|word| banned.contains(&word.as_str())) {
                    found.push(format!("{}: {literal}", short(file)));
                }
            }
        }
    }
    assert!(checked > 1_500, "only {checked} literals");
    for ((banned, most), found) in WORDS.iter().zip(&found) {
        assert!(found.len() <= *most, "{banned:?}, at most {most} times: {found:#?}");
    }
}

#[test]
fn language_is_read_from_source_text() {
    let text = "//! A module.\n//! What else.\n\n/// Whether it is.\n#[test]\nfn one() {}\n\n// A comment.\nfn two() {}\n\
                #[tokio::test]\n// Why.\nasync fn three() {}\n";
    assert_eq!(first_lines(text), [(1, "A module."), (4, "Whether it is.")]);
    assert_eq!(test_names(text), ["one", "three"]);
    let text = "let a = \"one \\\" two\"; // \"three\"\nlet b = '\"'; r#\"four \" five\"#; x(\"six\");\n#[cfg(test)]\nmod tests {\n\"seven\"";
    assert_eq!(literals(text), ["one \\\" two", "six"]);
    assert_eq!(words("the `code` {told} of a page"), ["the", "of", "page"]);
    assert!(words("<p class=what>").is_empty());
}
