//! A YAML parser with bounded work.

use serde_json::Value;
use serde_saphyr::{Error, NonFiniteFloatPolicy, Options, UserMessageFormatter};

/// Parses YAML with bounded work: aliases and nesting cannot amplify it.
///
/// `yes`, `on` and similar words are text, as in YAML 1.2. Error messages contain the line.
pub(crate) fn read(text: &str) -> Result<Value, String> {
    read_within(text, FILE)
}

/// Formats a text as a quoted scalar on one line.
pub(crate) fn quoted(text: &str) -> String {
    escape_json(&Value::from(text).to_string())
}

/// Escapes characters that JSON permits but that end a line in YAML or that YAML forbids.
pub(crate) fn escape_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out
}

/// Limits of a value after alias resolution, and its YAML dialect.
#[derive(Clone, Copy)]
pub(crate) struct YamlLimits {
    /// Maximum number of nodes.
    pub(crate) nodes: usize,
    /// Maximum total size of all strings and keys in bytes.
    pub(crate) text_bytes: usize,
    /// Maximum nesting depth.
    pub(crate) depth: usize,
    /// Maximum number of aliases.
    pub(crate) aliases: usize,
    pub(crate) booleans: Booleans,
    /// The handling of numbers that a float cannot represent, and of `.inf` and `.nan`.
    pub(crate) non_finite: NonFiniteFloatPolicy,
}

/// The limits for a file in a repository.
pub(crate) const FILE: YamlLimits = YamlLimits {
    nodes: MAX_NODES,
    text_bytes: MAX_TEXT_BYTES,
    depth: 32,
    aliases: 1_000,
    booleans: Booleans::Core,
    non_finite: NonFiniteFloatPolicy::AsString,
};

/// The plain scalars that are parsed as booleans.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Booleans {
    /// `true` and `false`, as in YAML 1.2.
    Core,
    /// Also `yes`, `no`, `on`, `off` and similar words, as in YAML 1.1.
    Words,
}

/// Maximum number of nodes in a file, with aliases resolved.
const MAX_NODES: usize = 50_000;

/// Maximum total size in bytes of the strings in a file, with aliases resolved: twice the maximum file size.
const MAX_TEXT_BYTES: usize = 2 << 20;

/// Number of nodes allowed in any text, and number of bytes required for each additional node. A list of minimal
/// objects takes about 220 bytes of memory per node.
const FREE_NODES: usize = 4_000;
const BYTES_A_NODE: usize = 12;
/// The same limits for events within anchors, counted once per enclosing anchor.
const FREE_ANCHORED: usize = 1_000;
const BYTES_AN_ANCHORED: usize = 40;

/// Returns the maximum number of nodes for this many bytes of text.
const fn most_nodes(bytes: usize) -> usize {
    FREE_NODES + bytes / BYTES_A_NODE
}

/// Returns the maximum number of events within anchors for this many bytes of text.
const fn most_anchored(bytes: usize) -> usize {
    FREE_ANCHORED + bytes / BYTES_AN_ANCHORED
}

/// Maximum number of characters in an error message. The parser quotes complete scalars.
const MAX_MESSAGE: usize = 300;

/// Parses YAML like [`read`], with other limits. Parsing stops at the first node beyond a limit.
pub(crate) fn read_within(text: &str, limits: YamlLimits) -> Result<Value, String> {
    read_with(text, options(text.len(), limits))
}

fn options(bytes: usize, limits: YamlLimits) -> Options {
    serde_saphyr::options! {
        strict_booleans: limits.booleans == Booleans::Core,
        // Disable snippets, because they contain the lines around an error, which can have any length.
        with_snippet: false,
        non_finite_float_policy: limits.non_finite,
        budget: serde_saphyr::budget! {
            max_events: 200_000,
            max_nodes: limits.nodes.min(most_nodes(bytes)),
            max_total_scalar_bytes: limits.text_bytes,
            max_depth: limits.depth,
            max_aliases: limits.aliases,
            max_recorded_anchor_events: most_anchored(bytes),
        },
    }
}

fn read_with(text: &str, options: Options) -> Result<Value, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let message = match error.without_snippet() {
            // The usual message names an option of the parser.
            error @ Error::DuplicateMappingKey { .. } => error.render_with_formatter(&UserMessageFormatter),
            error => error.to_string(),
        };
        let first = message.lines().next().unwrap_or("invalid YAML");
        match first.char_indices().nth(MAX_MESSAGE) {
            Some((end, _)) => format!("{}…", &first[..end]),
            None => first.to_owned(),
        }
    })
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, rc::Rc};

    use serde_json::json;

    use super::*;

    #[test]
    fn values_keep_their_kind() {
        assert_eq!(
            read("a: 1\nb: yes\nc: true\nd: [1.5, ~]\ne: \"2\"\nf: .inf\n").unwrap(),
            json!({ "a": 1, "b": "yes", "c": true, "d": [1.5, null], "e": "2", "f": ".inf" })
        );
        assert_eq!(read("").unwrap(), Value::Null);
        assert_eq!(read("# nothing\n").unwrap(), Value::Null);
        assert_eq!(read("\u{feff}a: 1").unwrap(), json!({ "a": 1 }));
    }

    #[test]
    fn broken_yaml_names_the_line() {
        let message = read("a: 1\nb: [\n").unwrap_err();
        assert!(message.contains("line"), "{message}");
    }

    #[test]
    fn duplicate_keys_are_named() {
        let message = read("a: 1\nb: 2\na: 3\n").unwrap_err();
        assert!(message.starts_with("duplicate mapping key: a not allowed here"), "{message}");
        assert!(message.contains("line 3"), "{message}");
    }

    #[test]
    fn yaml_bombs_and_deep_nesting_are_rejected() {
        let mut bomb = String::from("a: &a [x,x,x,x,x,x,x,x,x]\n");
        for level in b'b'..b'k' {
            let (this, before) = (char::from(level), char::from(level - 1));
            let row = vec![format!("*{before}"); 9].join(",");
            bomb.push_str(&format!("{this}: &{this} [{row}]\n"));
        }
        assert!(read(&bomb).is_err());
        assert!(read(&"[".repeat(10_000)).is_err());
    }

    #[test]
    fn aliased_text_counts_toward_the_limit_each_time() {
        let text = "x".repeat(10_000);
        let value = |aliases: usize| format!("a: &a {text}\nb: [{}]\n", vec!["*a"; aliases].join(","));
        let limits = YamlLimits { nodes: 1_000, text_bytes: 100_000, ..FILE };
        assert!(read_within(&value(8), limits).is_ok());
        assert!(read_within(&value(10), limits).is_err());
        assert!(read(&value(500)).is_err());
    }

    /// Parses `text` with a limit on the number of nodes. Returns the result, and the number of parsed nodes and
    /// events.
    fn counted(text: &str, nodes: usize) -> (Result<Value, String>, usize, usize) {
        let parsed = Rc::new(Cell::new((0, 0)));
        let limits = YamlLimits { nodes, aliases: nodes, ..FILE };
        let report = Rc::clone(&parsed);
        let options = options(text.len(), limits)
            .with_budget_report(move |budget| report.set((budget.nodes, budget.events)));
        let result = read_with(text, options);
        (result, parsed.get().0, parsed.get().1)
    }

    #[test]
    fn refusal_stops_at_the_first_node_beyond_the_limit() {
        const NODES: usize = 2_000;
        for piece in ["1, ", "{}, ", "a: 1, ", "!a b, ", "[1], ", "{? a : b}, ", "'a', ", "\n1,\n"] {
            let text = |count: usize| format!("a: [{}]\n", piece.repeat(count));
            for count in [4_000, 40_000] {
                let (result, nodes, events) = counted(&text(count), NODES);
                assert!(result.unwrap_err().contains("nodes"), "{piece:?}");
                assert!(nodes <= NODES + 1 && events <= 2 * NODES + 10, "{piece:?}: {nodes}, {events}");
            }
        }
        let lines = |line: &dyn Fn(usize) -> String| (0..10_000).map(line).collect::<String>();
        let documents = [
            lines(&|at| format!("a{at}: 1\n")),
            lines(&|_| "- 1\n".to_owned()),
            lines(&|at| format!("? a{at}\n: 1\n")),
            format!("a: &a [1, 1, 1]\nb:\n{}", lines(&|_| "- *a\n".to_owned())),
            format!("a: &a {{b: 1}}\n{}", lines(&|at| format!("c{at}:\n  <<: *a\n"))),
        ];
        for text in documents {
            let (result, nodes, events) = counted(&text, NODES);
            assert!(result.is_err() && nodes <= NODES + 1, "{nodes} nodes of {:?}", &text[..20]);
            assert!(events <= 3 * NODES, "{events} events of {:?}", &text[..20]);
        }
    }

    #[test]
    fn error_messages_quote_a_bounded_part_of_the_text() {
        let long = "a".repeat(30_000);
        let message = read(&format!("? {long}\n: 1\n? {long}\n: 2\n")).unwrap_err();
        assert!(message.chars().count() <= MAX_MESSAGE + 1 && message.contains("duplicate"), "{message}");
        let limits = YamlLimits { non_finite: NonFiniteFloatPolicy::Reject, ..FILE };
        let message = read_within(&format!("a: {}\n", "1".repeat(30_000)), limits).unwrap_err();
        assert!(message.chars().count() <= MAX_MESSAGE + 1 && message.contains("float"), "{message}");
    }
}
