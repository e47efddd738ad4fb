//! Linear complexity, measured as the sum of the input bytes of all steps.

use super::*;
use crate::{document::work_budget::steps_of, translate::translated_markdown};

/// A repeated prefix, a middle, and a suffix that is repeated as often as the prefix.
pub(super) const SHAPES: &[(&str, &str, &str)] = &[
    ("> ", "a\n", ""),
    ("> a\n>\n", "", ""),
    ("> > > > > > > > a\n", "", ""),
    ("* ", "a\n", ""),
    ("* a\n\n  ", "", ""),
    ("1. > * ", "a\n", ""),
    ("{% hint style=\"info\" %}\n", "a\n", "{% endhint %}\n"),
    ("{% hint style=\"info\" %}\na\n{% endhint %}\n", "", ""),
    ("{% tabs %}\n{% tab title=\"a\" %}\n", "a\n", "{% endtab %}\n{% endtabs %}\n"),
    ("<details>\n<summary>a</summary>\n\n", "b\n", "</details>\n\n"),
    ("<div>", "a", "</div>"),
    ("<b>a</b>", "", ""),
    ("</p>", "", ""),
    ("</b>\n", "", ""),
    ("</details>\n\n", "", ""),
    ("<figure><img src=\"a\" alt=\"\"><figcaption>b</figcaption></figure>\n\n", "", ""),
    ("<figure><img src=\"a\" alt=\"\"><figcaption>", "b", "</figcaption></figure>"),
    ("<figure>", "", ""),
    ("[a](b) ", "", ""),
    ("[a](b)\n\n", "", ""),
    ("[", "a", "](b)"),
    ("[a](", "", ""),
    ("![a](b)", "", ""),
    ("[a][b] ", "[b]: c\n", ""),
    ("[a]: b\n", "", ""),
    ("a[^1]\n\n[^1]: b\n\n", "", ""),
    ("<a href=\"b\">", "c", "</a>"),
    ("| a | b |\n", "| - | - |\n", ""),
    ("<table><tr><td>a</td></tr></table>\n\n", "", ""),
    ("a\n===\n", "", ""),
    ("===\n", "", ""),
    ("- - - a\n", "", ""),
    ("{% a b='c' ***\n", "", ""),
    ("{% a b='c' ", "", ""),
    ("{% a b='c'\n", "= %}\n", ""),
    ("{% a {% a {% a {% a {% a {% a {% a {% a = %}\n", "", ""),
];

/// Returns approximately `bytes` bytes of text.
pub(super) fn of_shape((piece, middle, end): (&str, &str, &str), bytes: usize) -> String {
    let count = bytes / (piece.len() + end.len());
    format!("{}{middle}{}", piece.repeat(count), end.repeat(count))
}

/// Maximum number of processed bytes per input byte. Text is parsed, printed and parsed again several times. Quadratic
/// work would need thousands.
const STEPS: u64 = 150;

#[test]
fn parsing_takes_linear_work() {
    for shape in SHAPES {
        for bytes in [16_000, 32_000] {
            let text = of_shape(*shape, bytes);
            let steps = steps_of(|| drop(parse(&text))) / text.len() as u64;
            assert!(steps <= STEPS, "{shape:?}, {bytes} bytes: {steps} steps a byte");
        }
    }
}

/// Returns equal headings, whose translations get anchors, with unclosed HTML among them, so that the printed text does
/// not round-trip.
fn headings(bytes: usize) -> String {
    let mut text = String::from("<a ");
    for count in 1.. {
        if text.len() > bytes {
            break;
        }
        text.push_str(&"===\n".repeat(count));
        text.push_str("a\n");
    }
    text + ">"
}

#[test]
fn text_is_parsed_once_for_all_attempts_to_translate() {
    let text = headings(5_000);
    let reading = steps_of(|| drop(parse(&text)));
    let same = |segment: &str| Some(segment.to_owned());
    let translating = steps_of(|| drop(translated_markdown(&text, same)));
    assert!(2 * translating < 5 * reading, "{translating} steps, {reading} to read it");
}

/// Returns a list, ordered list or quotation with one more level in each line.
fn staircase(mark: &str, bytes: usize) -> String {
    let mut text = String::new();
    for depth in 0.. {
        if text.len() > bytes {
            break;
        }
        let indent = if mark == "> " { mark.repeat(depth) } else { " ".repeat(mark.len() * depth) };
        text.push_str(&format!("{indent}{mark}level {depth}\n"));
    }
    text
}

#[test]
fn long_blocks_deeper_than_blocks_are_read_take_few_readings() {
    for mark in ["- ", "1. ", "> ", "- > "] {
        for bytes in [50_000, 100_000] {
            let text = staircase(mark, bytes);
            let mut document = None;
            let steps = steps_of(|| document = Some(parse(&text))) / text.len() as u64;
            assert!(steps <= 20, "{mark:?}, {bytes} bytes: {steps} steps a byte");
            let document = document.expect("a document");
            let plain = plain_text(&document);
            assert!(plain.contains("level 0") && plain.contains("level 100"), "nothing is lost");
            assert_eq!(parse(&print(&document).expect("written")), document);
        }
    }
}

/// Returns a paragraph with this number of footnotes.
fn footnotes(count: usize) -> String {
    let used: String = (0..count).map(|number| format!("[^{number}] ")).collect();
    used + "\n\n" + &(0..count).map(|number| format!("[^{number}]: a\n")).collect::<String>()
}

#[test]
fn footnotes_take_work_that_follows_their_number() {
    for count in [250, 500, 1_000, 1_001, 2_000] {
        let text = footnotes(count);
        let mut document = None;
        let steps = steps_of(|| document = Some(parse(&text))) / text.len() as u64;
        assert!(steps <= 20, "{count} footnotes: {steps} steps a byte");
        let document = document.expect("a document");
        assert_eq!(parse(&print(&document).expect("written")), document, "{count} footnotes");
    }
}
