//! Parses mutated Markdown as documents. Detects panics, slow inputs, excessive memory, and unstable trees.
//!
//! Memory is the peak of allocated bytes while an input is parsed, including the document, divided by the size of the
//! input. Smaller inputs count as 120 KiB, because any text may use the memory permitted for that size. Times are CPU
//! times, so other load on the machine has no effect.
//!
//! `cargo run --release -p docs-core --example fuzz_documents -- COUNT [SEED] [FOLDER]`

#[path = "fuzz/random.rs"]
mod random;

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use cpu_time::ThreadTime;
use docs_core::content::document::{parse, print};
use peak_alloc::PeakAlloc;
use random::Random;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let count: u64 = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(100_000);
    let seed: u64 = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(1);
    let mut corpus: Vec<String> = SEEDS.iter().map(|text| (*text).to_owned()).collect();
    if let Some(folder) = arguments.next() {
        collect(Path::new(&folder), &mut corpus);
    }
    let mut random = Random::new(seed);
    let mut found = Found::default();
    let start = Instant::now();
    let mut bytes = 0;
    for index in 0..count {
        let text = mutated(&corpus, &mut random);
        bytes += text.len() as u64;
        // One input in eight is also serialized and parsed again.
        found.try_one(&text, index % 8 == 0);
        if index % 1_000_000 == 999_999 {
            report(index + 1, start.elapsed(), bytes, &found);
        }
    }
    report(count, start.elapsed(), bytes, &found);
}

/// The findings of a run.
#[derive(Default)]
struct Found {
    panics: u64,
    unstable: u64,
    refused: u64,
    slow: u64,
    slowest: Duration,
    /// Number of inputs above the memory limit.
    large: u64,
    /// Highest peak of allocated bytes per byte of input.
    memory: f64,
}

impl Found {
    fn try_one(&mut self, text: &str, is_whole: bool) {
        let start = ThreadTime::now();
        MEMORY.reset_peak_usage();
        let before = MEMORY.current_usage();
        let result = std::panic::catch_unwind(|| {
            let document = parse(text);
            let added = MEMORY.peak_usage().saturating_sub(before);
            let outcome = is_whole.then(|| print(&document).map(|written| parse(&written) == document));
            (added, outcome)
        });
        let taken = match start.elapsed() {
            // Other processes share the CPU caches, so a slow input is measured again.
            taken if taken > LONG => (0..3).map(|_| time(text)).min().unwrap_or(taken),
            taken => taken,
        };
        self.slowest = self.slowest.max(taken);
        if taken > Duration::from_secs(1) {
            self.slow += 1;
            show("slow", text);
        }
        let Ok((added, outcome)) = result else {
            self.panics += 1;
            return show("panic", text);
        };
        self.weigh(added as f64 / text.len().max(SMALL) as f64, text);
        match outcome {
            Some(Ok(false)) => {
                self.unstable += 1;
                if self.unstable <= 20 {
                    show("unstable", text);
                }
            }
            Some(Err(error)) => {
                self.refused += 1;
                if self.refused <= 20 {
                    show(&format!("refused ({error})"), text);
                }
            }
            _ => {}
        }
    }

    fn weigh(&mut self, memory: f64, text: &str) {
        if memory > MOST_MEMORY {
            self.large += 1;
            if self.large <= 20 || memory > self.memory {
                show(&format!("large ({memory:.1} bytes a byte of {})", text.len()), text);
            }
        }
        self.memory = self.memory.max(memory);
    }
}

/// The time above which an input is measured again.
const LONG: Duration = Duration::from_millis(100);

fn time(text: &str) -> Duration {
    let start = ThreadTime::now();
    let _ = std::panic::catch_unwind(|| parse(text));
    start.elapsed()
}

/// The size in bytes up to which any input may use the same memory.
const SMALL: usize = 120 * 1024;
/// Memory limit in bytes per byte of input.
const MOST_MEMORY: f64 = 50.0;

fn show(what: &str, text: &str) {
    println!("{what}: {:?}", text.chars().take(1500).collect::<String>());
}

fn report(count: u64, taken: Duration, bytes: u64, found: &Found) {
    let seconds = taken.as_secs_f64().max(0.001);
    println!(
        "{count} inputs, {bytes} bytes, {:.0} inputs/s; panics {}, slower than 1 s {}, slowest {:?}, unstable {}, refused {}, \
         more memory than {MOST_MEMORY} bytes a byte {}, most {:.1}",
        count as f64 / seconds,
        found.panics,
        found.slow,
        found.slowest,
        found.unstable,
        found.refused,
        found.large,
        found.memory
    );
}

fn collect(folder: &Path, corpus: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            collect(&path, corpus);
        } else if path.extension().is_some_and(|extension| extension == "md")
            && let Ok(text) = fs::read_to_string(&path)
        {
            corpus.push(text);
        }
    }
}

/// Returns a mutated excerpt from a text of the corpus.
fn mutated(corpus: &[String], random: &mut Random) -> String {
    if random.below(2000) == 0 {
        return repeated(corpus, random);
    }
    let from = &corpus[random.below(corpus.len())];
    let mut text = window(from, random).to_owned();
    for _ in 0..=random.below(8) {
        let at = boundary(&text, random);
        match random.below(8) {
            0 => text.insert_str(at, random.pick(TOKENS)),
            1 => {
                let mut end = (at + random.below(64)).min(text.len());
                while !text.is_char_boundary(end) {
                    end += 1;
                }
                text.replace_range(at..end, "");
            }
            2 => {
                let most = if random.below(2000) == 0 { 5000 } else { 6 };
                let count = 1 + random.below(most);
                text.insert_str(at, &random.pick(TOKENS).repeat(count));
            }
            3 => {
                let other = &corpus[random.below(corpus.len())];
                let piece: String = window(other, random).chars().take(200).collect();
                text.insert_str(at, &piece);
            }
            4 => text.truncate(at),
            5 => text = text.replacen('\n', random.pick(TOKENS), 1),
            6 => text.insert(at, char::from_u32(random.below(0x3000) as u32).unwrap_or('x')),
            _ => text.insert(at, '\n'),
        }
    }
    text
}

/// Returns one to three repeated fragments between two texts, to produce as many small blocks, delimiters, cells or
/// links as fit.
fn repeated(corpus: &[String], random: &mut Random) -> String {
    let mut unit = String::new();
    for _ in 0..=random.below(3) {
        let from = if random.below(2) == 0 { TOKENS } else { PARTS };
        unit.push_str(random.pick(from));
    }
    if random.below(8) == 0 {
        let from = &corpus[random.below(corpus.len())];
        unit.extend(window(from, random).chars().take(1 + random.below(60)));
    }
    let length = (32 * 1024) << random.below(4);
    let mut text = random.pick(FRAMES).to_owned();
    text.push_str(&unit.repeat(length / unit.len().max(1) + 1));
    text.push_str(random.pick(FRAMES));
    text
}

fn window<'t>(text: &'t str, random: &mut Random) -> &'t str {
    let start = boundary(text, random);
    let length = if random.below(200) == 0 { 20_000 } else { 40 + random.below(1000) };
    let mut end = (start + length).min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[start..end.max(start)]
}

fn boundary(text: &str, random: &mut Random) -> usize {
    let mut at = random.below(text.len() + 1);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The shortest forms of each kind of block.
const PARTS: &[&str] = &[
    "a\n",
    "a\n\n",
    "#\n",
    "* a\n",
    "* a\n\n",
    "*\n",
    "  * a\n",
    "1. a\n",
    "* [ ] a\n",
    "> a\n",
    "> a\n\n",
    ">\n\n",
    "***\n",
    "```\n\n```\n",
    "    a\n",
    "\n\n    a\n\na",
    "\\\n",
    "*a*",
    "*a* ",
    "**a**b",
    "~~a~~",
    "`a`",
    "`a` ",
    "<b>a</b>",
    "<i></i>",
    "[](a)",
    "[a](b)",
    "[a]()",
    "![](a)",
    "![](a)\n\n",
    "<a:b>",
    "$$a$$",
    "$$\na\n$$\n\n",
    ":a:",
    ":tv:",
    "[^1]",
    "[^a]: b\n",
    "[a]: b\n",
    "<br>",
    "|a",
    "|a|a|\n",
    "|\n",
    "<td></td>",
    "<tr><td></td></tr>",
    "<p>a</p>\n",
    "<p></p>\n\n",
    "<img src=\"\">",
    "<!-- -->\n",
    "{% if a %}\n",
    "{% endif %}\n",
    "{% hint style=\"info\" %}\n{% endhint %}\n",
    "{% file src=\"a\" %}\n",
    "&lt;",
    "\r",
];

/// Prefixes and suffixes of repeated fragments.
const FRAMES: &[&str] = &[
    "",
    "",
    "",
    "a",
    "# ",
    "* ",
    "> ",
    "<p>",
    "</p>",
    "**",
    "```\n",
    "\n```\n",
    "| a | b |\n| - | - |\n",
    "\n\n[^1]: a\n",
    "\n\n[a]: b\n",
    "<table><thead><tr><th></th></tr></thead><tbody><tr><td></td></tr>",
    "</tbody></table>",
    "<pre><code>",
    "</code></pre>",
    "{% tabs %}\n{% tab title=\"a\" %}\n",
    "\n{% endtab %}\n{% endtabs %}",
    "<details>\n<summary>a</summary>\n",
    "\n</details>",
    "<figure><img src=\"a\" alt=\"\"><figcaption>",
    "</figcaption></figure>",
];

const TOKENS: &[&str] = &[
    "*",
    "**",
    "_",
    "__",
    "~~",
    "`",
    "```",
    "~~~",
    "\n",
    "\n\n",
    "    ",
    "\t",
    " ",
    "> ",
    "* ",
    "- ",
    "1. ",
    "9) ",
    "# ",
    "### ",
    "***",
    "---",
    "===",
    "[",
    "]",
    "(",
    ")",
    "![",
    "](",
    "<",
    ">",
    "<b>",
    "</b>",
    "<kbd>",
    "</kbd>",
    "<br>",
    "<div>",
    "</div>",
    "<p>",
    "</p>",
    "<!--",
    "-->",
    "&",
    ";",
    "&amp;",
    "&#x20;",
    "|",
    "| - |",
    "\\",
    "\"",
    "'",
    "{%",
    "%}",
    "{% hint style=\"info\" %}",
    "{% endhint %}",
    "{% tabs %}",
    "{% endtabs %}",
    "{% tab title=\"a\" %}",
    "{% endtab %}",
    "{% code title=\"a\" %}",
    "{% endcode %}",
    "<details>",
    "</details>",
    "<summary>",
    "</summary>",
    "<table>",
    "</table>",
    "<td>",
    "</td>",
    "<tr>",
    "<figure>",
    "</figure>",
    "<img src=\"a\">",
    "$$",
    ":rocket:",
    "[^1]",
    "[^1]: ",
    "[a]: b",
    "[ ] ",
    "[x] ",
    "\r\n",
    "\r",
    "\0",
    "\u{feff}",
    "\u{a0}",
    "\u{301}",
    "<pre>",
    "</pre>",
    "<code>",
    "</code>",
    "https://x.y",
    "<https://x.y>",
    "a",
    "=",
    ":",
    "1",
    "é",
    "🚀",
];

const SEEDS: &[&str] = &[
    "Text with *marks*, **more**, `code`, [a link](b.md \"t\") and <kbd>K</kbd>.\\\nNext line.\n\n## Heading <a href=\"#x\" id=\"x\"></a>\n\n* a\n  * b\n* [ ] c\n\n1. d\n2. e\n\n   text\n\n> quote\n> more\n\n```js\nlet a = 1;\n```\n\n***\n",
    "{% tabs %}\n{% tab title=\"A\" %}\n{% hint style=\"info\" %}\nHint\n{% endhint %}\n{% endtab %}\n{% endtabs %}\n\n{% code title=\"a.js\" overflow=\"wrap\" %}\n```js\na\n```\n{% endcode %}\n\n{% file src=\"a.pdf\" %}\ncaption\n{% endfile %}\n\n{% embed url=\"https://x.y\" %}\n",
    "<details>\n\n<summary>T</summary>\n\nbody\n\n</details>\n\n<figure><img src=\"a.png\" alt=\"b\" width=\"3\"><figcaption><p>c</p></figcaption></figure>\n\n| a | b |\n| --- | :-: |\n| c | d |\n\nword[^1] and $$a*b$$\n\n[^1]: note\n",
    "<table data-view=\"cards\"><thead><tr><th></th><th data-hidden data-card-target data-type=\"content-ref\"></th></tr></thead><tbody><tr><td><strong>a</strong></td><td><a href=\"b.md\">b.md</a></td></tr></tbody></table>\n\n<pre class=\"language-js\"><code class=\"lang-js\">a\n<strong>b\n</strong></code></pre>\n",
    "{% columns %}\n{% column width=\"50%\" %}\na\n{% endcolumn %}\n{% endcolumns %}\n\n{% stepper %}\n{% step %}\n## S\n{% endstep %}\n{% endstepper %}\n\n{% if a == \"b\" %}\nc\n{% endif %}\n\n{% @x/y a=\"b\" %}\n\n{% include \"/reusable-content/r\" %}\n",
];
