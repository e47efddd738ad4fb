//! Building blocks of random expressions and contexts.

use serde_json::{Map, Value as Json, json};

use super::Random;

/// Strings with a special meaning as numbers, in dates or in patterns, or with characters outside the BMP.
pub(super) const TEXTS: [&str; 44] = [
    "",
    "a",
    "b",
    "ab",
    "abc",
    "aXbX",
    "pro",
    "free",
    "x",
    "yy",
    "A",
    "Abc",
    "true",
    "false",
    "null",
    "undefined",
    "NaN",
    "0",
    "-0",
    "1",
    "12",
    " 12 ",
    "1e3",
    "0x1f",
    "0b11",
    "1_000",
    "Infinity",
    "-Infinity",
    "+5",
    "1.",
    ".5",
    ".",
    "e",
    "é",
    "straße",
    "😀",
    "a😀b",
    "ΑΣ",
    "a,b,,c",
    "2024-01-02",
    " \t\n\u{a0}x\u{feff} ",
    "\u{2028}",
    "(",
    "[object Object]",
];

/// Replacement strings, with placeholders for the match.
pub(super) const REPLACEMENTS: [&str; 14] =
    ["-", "$&", "$$", "$`", "$'", "$1", "$2", "$10", "$01", "$0", "[$&]", "$<n>", "$", "$<"];

/// Names that are not members of built-in JavaScript objects.
pub(super) const NAMES: [&str; 9] = ["plan", "beta", "seats", "tags", "nope", "b c", "0", "1", "-1"];

/// Number literals.
pub(super) const NUMBERS: [&str; 52] = [
    "0",
    "1",
    "2",
    "3",
    "5",
    "7",
    "10",
    "12",
    "31",
    "32",
    "33",
    "100",
    "255",
    "1000",
    "0.5",
    "1.5",
    "2.5",
    ".25",
    "5.",
    "0.1",
    "0.2",
    "0.3",
    "1.005",
    "10.235",
    "123.456",
    "1e3",
    "1e21",
    "1e-7",
    "1e-6",
    "1E+20",
    "123456789012345680000",
    "9007199254740991",
    "9007199254740993",
    "4294967295",
    "4294967296",
    "2147483647",
    "2147483648",
    "1e300",
    "1e308",
    "1.7976931348623157e308",
    "5e-324",
    "2.2250738585072014e-308",
    "0x1F",
    "0b101",
    "0o17",
    "010",
    "08",
    "1_000",
    "0xfFfFfFfFfFfFfFfF",
    "1e400",
    "0.000001",
    "65",
];

/// Big integer literals.
pub(super) const BIG: [&str; 8] = ["0n", "1n", "2n", "5n", "10n", "255n", "0x1fn", "9007199254740993n"];

/// Generates any number, or a number with few significant decimal places.
pub(super) fn double(random: &mut Random) -> String {
    let number = if random.one_in(2) {
        f64::from_bits(random.next() & i64::MAX as u64)
    } else {
        let room = random.below(12);
        (random.next() >> 11 >> random.below(12)) as f64 / f64::from(1 << room)
    };
    if number.is_finite() { format!("{number:e}") } else { "1e999".to_owned() }
}

/// Generates a context with arbitrary values, so that expressions encounter unexpected types.
pub(super) fn world(random: &mut Random) -> Json {
    let mut signed = Map::new();
    for name in ["plan", "beta", "seats", "tags", "team"] {
        if !random.one_in(8) {
            let value = usual(random, name);
            signed.insert(name.to_owned(), value);
        }
    }
    let mut unsigned = Map::new();
    for name in ["flag", "text", "list", "count", "other"] {
        if !random.one_in(4) {
            let value = usual(random, name);
            unsigned.insert(name.to_owned(), value);
        }
    }
    let mut variables = |names: [&str; 3]| {
        let mut all = Map::new();
        for name in names {
            if !random.one_in(6) {
                all.insert(name.to_owned(), scalar(random));
            }
        }
        all
    };
    let (space, page) = (variables(["version", "limit", "on"]), variables(["title", "level", "on"]));
    json!({ "signed": signed, "unsigned": unsigned, "space": space, "page": page })
}

/// Generates a value that is usually typical for the claim.
fn usual(random: &mut Random, name: &str) -> Json {
    if random.one_in(5) {
        return value(random, 2);
    }
    match name {
        "plan" | "text" => json!(random.pick(&TEXTS)),
        "beta" | "flag" => json!(random.one_in(2)),
        "seats" | "count" => number(random),
        "tags" | "list" => {
            let length = random.below(5);
            Json::Array((0..length).map(|_| value(random, 1)).collect())
        }
        "team" => json!({ "plan": value(random, 1), "seats": scalar(random), "0": scalar(random) }),
        _ => value(random, 2),
    }
}

fn scalar(random: &mut Random) -> Json {
    match random.below(4) {
        0 => json!(random.one_in(2)),
        1 => number(random),
        _ => json!(random.pick(&TEXTS)),
    }
}

fn number(random: &mut Random) -> Json {
    let texts = [
        "0",
        "-0",
        "-0.0",
        "1",
        "2",
        "3",
        "-1",
        "12",
        "2.5",
        "-7.25",
        "0.1",
        "1e21",
        "1e-7",
        "5e-324",
        "1e308",
        "123456789012345678",
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775808",
        "9007199254740993",
        "0.30000000000000004",
    ];
    serde_json::from_str(random.pick(&texts)).unwrap()
}

fn value(random: &mut Random, depth: usize) -> Json {
    match random.below(if depth == 0 { 5 } else { 8 }) {
        0 => Json::Null,
        1..=4 => scalar(random),
        5 | 6 => {
            let length = random.below(4);
            Json::Array((0..length).map(|_| value(random, depth - 1)).collect())
        }
        _ => {
            let mut members = Map::new();
            for _ in 0..random.below(4) {
                let name = random.pick(&NAMES);
                members.insert(name.to_owned(), value(random, depth - 1));
            }
            Json::Object(members)
        }
    }
}
