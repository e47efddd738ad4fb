//! Random inputs for the expression parser, and their corpus.

use crate::random::Random;

/// Returns random tokens, arbitrary bytes, repeated fragments, or a mutated expression from the corpus.
pub(crate) fn input(random: &mut Random) -> String {
    match random.below(16) {
        0..4 => {
            let most = if random.below(8) == 0 { 300 } else { 24 };
            (0..=random.below(most)).map(|_| random.pick(TOKENS)).collect()
        }
        4 => {
            let bytes: Vec<u8> = (0..random.below(120)).map(|_| random.next() as u8).collect();
            String::from_utf8_lossy(&bytes).into_owned()
        }
        5 => repeated(random),
        _ => mutated(random),
    }
}

/// Returns one to three repeated fragments between two others.
fn repeated(random: &mut Random) -> String {
    let unit: String = (0..=random.below(3)).map(|_| random.pick(TOKENS)).collect();
    let count = 1 + random.below(1_024 / unit.len().max(1) + 2);
    let (before, after) = (random.pick(FRAMES), random.pick(TOKENS));
    format!("{before}{}{after}", unit.repeat(count))
}

/// Returns an expression from the corpus with a few mutations, possibly spliced with another one.
fn mutated(random: &mut Random) -> String {
    // Expressions that use most of the step limit would dominate the run time.
    let seeds = if random.below(500) == 0 { HEAVY } else { SEEDS };
    let mut text = random.pick(seeds).to_owned();
    for _ in 0..random.below(6) {
        let at = boundary(&text, random);
        match random.below(8) {
            0..3 => text.insert_str(at, random.pick(TOKENS)),
            3 => {
                let end = (at + random.below(12)).min(text.len());
                let end = (end..=text.len()).find(|end| text.is_char_boundary(*end)).unwrap_or(text.len());
                text.replace_range(at..end, "");
            }
            4 => {
                let other = random.pick(SEEDS);
                let from = boundary(other, random);
                text.insert_str(at, &other[from..]);
            }
            5 => text = format!("{}({text})", random.pick(FRAMES)),
            6 => text.insert(at, char::from_u32(random.below(0x3000) as u32).unwrap_or('x')),
            _ => {
                let other = random.pick(SEEDS);
                text.push_str(
                    random.pick(&[" && ", " || ", " + ", " == ", " ? 1 : ", ", ", " in ", " ?? ", " < "]),
                );
                text.push_str(other);
            }
        }
    }
    text
}

fn boundary(text: &str, random: &mut Random) -> usize {
    let at = random.below(text.len() + 1);
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// Prefixes of repeated fragments.
const FRAMES: &[&str] = &[
    "",
    "",
    "(",
    "[",
    "{",
    "`${",
    "!",
    "typeof ",
    "x => ",
    "[1,2,3].map(x => ",
    "(f => f(f))",
    "({a:",
    "/",
    "/(",
    "'",
    "'x'.repeat(10000).split('').map(x => ",
    "visitor.claims.text =~ ",
    "visitor.claims.list.some(x => ",
    "visitor.claims.text.replace(/x/g, ",
    "'x'.repeat(1000).split('').reduce((a, x) => ",
    "...",
    "function f(n) { return ",
];

pub(crate) const TOKENS: &[&str] = &[
    "visitor",
    ".claims",
    ".unsigned",
    ".plan",
    ".tags",
    ".text",
    ".list",
    "['a']",
    "[0]",
    "space.vars.a",
    "page.vars.on",
    "missing",
    "1",
    "0",
    "-1.5e3",
    "1e308",
    "0x1f",
    "1_0",
    "10n",
    "99999999999999999999n",
    "'a'",
    "\"b\"",
    "`c`",
    "`${",
    "}`",
    "true",
    "null",
    "undefined",
    "this",
    "/a+/g",
    "/(a|aa)+$/",
    "/(a*)*b/",
    "/^(x+x+)+y/",
    "/\\b.*?\\1/i",
    "[",
    "]",
    "(",
    ")",
    "{",
    "}",
    "({",
    "})",
    ",",
    ";",
    ":",
    "?",
    "?.",
    "??",
    "||",
    "&&",
    "+",
    "-",
    "*",
    "/",
    "%",
    "**",
    "==",
    "===",
    "!=",
    "<",
    ">=",
    "<<",
    ">>>",
    "&",
    "|",
    "^",
    " in ",
    " =~ ",
    "!",
    "~",
    "++",
    "--",
    "=",
    "=>",
    "typeof ",
    "void ",
    "delete ",
    "new ",
    "x",
    "y",
    "f",
    "x => ",
    "(x, y) => ",
    "(...x) => ",
    "(x = 1) => ",
    ".map(",
    ".map(x => ",
    ".reduce(",
    ".reduce((a, b) => ",
    ".repeat(",
    ".repeat(1000)",
    ".repeat(99999)",
    ".split('')",
    ".split(/",
    ".replace(",
    ".replaceAll(",
    ".replaceAll('x', ",
    ".concat(",
    ".sort()",
    ".sort((a, b) => a - b)",
    ".join(",
    ".flat(9)",
    ".flatMap(",
    ".padStart(",
    ".padEnd(9999, ",
    ".toFixed(",
    ".toString(",
    ".indexOf(",
    ".lastIndexOf(",
    ".includes(",
    ".slice(",
    ".at(",
    ".with(",
    ".match(",
    ".search(",
    ".test(",
    ".exec(",
    ".length",
    ".toUpperCase()",
    ".localeCompare(",
    ".codePointAt(",
    "...",
    "function f(x) { return ",
    "'x'.repeat(10000)",
    "'x'.repeat(10000).split('')",
    "'$&$`$\\''",
    "\\u{1f600}",
    "\\ud83d",
    "\\",
    "'",
    "\"",
    "`",
    "//",
    "/*",
    "*/",
    "\n",
    " ",
    "\u{a0}",
    "\u{feff}",
    "\u{2028}",
    "😀",
    "é",
    "ß",
    "\u{301}",
    "{2,1000}",
    "{1000}",
    "(?:",
    "(?=",
    "(?!",
    "(?<n>",
    "\\k<n>",
    "[^",
    "[a-z]",
    "\\w*",
    "\\S+",
    ".*",
    "|",
    "*?",
    "+?",
];

/// Expressions that may take many steps.
const HEAVY: &[&str] = &[
    "visitor.claims.text =~ /^(a+)+$/i",
    "(function f(n) { return n < 2 ? n : f(n - 1) + f(n - 2) })(20)",
    "'1234567890'.repeat(100).split('').map(x => x.padStart(20, 'ab')).join('').length",
    "'x'.repeat(10000).split('').every(x => x == 'x')",
    "'x'.repeat(300).split('').map(x => visitor.claims.text.indexOf(x + 'y')).length",
    "/((((((((((x*)*)*)*)*)*)*)*)*)*)*y/.test(visitor.claims.text)",
];

const SEEDS: &[&str] = &[
    "visitor.claims.plan === 'pro' && visitor.claims.unsigned.beta",
    "visitor.claims.tags.includes('x') || visitor.claims.tags.some(t => t.startsWith('y'))",
    "space.vars.version >= '2.0' ? page.vars.on : !visitor.claims.beta",
    "visitor.claims[page.vars.text]?.[0] ?? visitor.claims.unsigned['a']",
    "'plan' in visitor.claims && visitor.claims.plan in ['pro', 'free']",
    "visitor.claims.unsigned.text.split(/(,)/).map((x, i) => x.trim() + i).join('-')",
    "visitor.claims.unsigned.text.replace(/(?<n>\\w)(\\d*)/g, (m, a, b, at) => a + at)",
    "visitor.claims.text.replaceAll('a', '$&$&')",
    "visitor.claims.list.filter(x => x > 1).sort((a, b) => b - a).slice(0, 3)",
    "visitor.claims.list.reduce((sum, x) => sum + x, 0) / visitor.claims.list.length",
    "visitor.claims.list.flatMap(x => [x, [x]]).flat(Infinity).at(-1)",
    "[...visitor.claims.text].reverse().join('') == visitor.claims.text",
    "({ ...visitor.claims, ...visitor.claims.unsigned, a: 1 }).a",
    "`${visitor.claims.plan}-${space.vars.version}-${[1, 2, `x${page.vars.on}`]}`",
    "visitor.claims.text.match(/(x|é|😀)*?(?=b)\\1?/gi).length",
    "/^(?:(?=x)x)*$/m.exec(visitor.claims.unsigned.text)",
    "/[^\\W\\d_]{2,100}(?!\\b)/.test(visitor.claims.unsigned.text + '.')",
    "1.005.toFixed(2) + (255).toString(16) + (0.1).toString(3) + 123456789n ** 3n",
    "(1e21 | 0) >>> 3 << 30 ^ ~5 & 2147483648",
    "- -1 + + '0x1f' - '1e3' * [5] % null ** 2",
    "[undefined, null, NaN, [], {}, 'a', 1n].map(x => typeof x + x).sort()",
    "[3, 1, 2].toSorted().with(0, [1, [2]]).concat([4], 5).toReversed().lastIndexOf(1)",
    "((a, b = a + 1, ...c) => [a, b, c])(1, undefined, 3, 4)",
    "visitor && visitor.claims && !visitor.claims.beta || page?.vars?.on",
    "changeRequest.subject.length > 3 && reviews.filter(r => r.status == 'approved').length >= 2",
    "'a😀b'.at(1) + 'ΑΣ'.toLowerCase() + 'straße'.toUpperCase() + '\\u{1f600}'.codePointAt(0)",
    "new Date().getTime() - Math.max(1, 2) + this.x",
    "x++ + --visitor.claims.seats, delete visitor.claims.a, void 0",
];
