//! YAML parser with bounded work.

use serde_json::Value;
use serde_saphyr::NonFiniteFloatPolicy;

/// Parses YAML with bounded work: aliases and nesting cannot amplify it.
///
/// `yes`, `on` and similar words are text, as in YAML 1.2. Error messages contain the line.
pub(crate) fn read(text: &str) -> Result<Value, String> {
    read_within(text, YamlLimits { nodes: MAX_NODES, text_bytes: MAX_TEXT_BYTES })
}

/// Limits of a value after resolving aliases.
#[derive(Clone, Copy)]
pub(crate) struct YamlLimits {
    /// Maximum number of nodes.
    pub(crate) nodes: usize,
    /// Maximum number of bytes of all texts and keys together.
    pub(crate) text_bytes: usize,
}

/// Maximum number of nodes of a file, with aliases resolved.
const MAX_NODES: usize = 50_000;

/// Maximum number of bytes of the texts of a file, with aliases resolved: twice the maximum file size.
const MAX_TEXT_BYTES: usize = 2 << 20;

/// The number of nodes that any text can have, and the bytes required for each further one: a list of the smallest
/// objects needs about 220 bytes of memory per node.
const FREE_NODES: usize = 4_000;
const BYTES_A_NODE: usize = 12;
/// The same limits for events within anchors, counted once for each enclosing anchor.
const FREE_ANCHORED: usize = 1_000;
const BYTES_AN_ANCHORED: usize = 40;

/// Returns the maximum number of nodes for a text of a size.
pub(crate) const fn most_nodes(bytes: usize) -> usize {
    FREE_NODES + bytes / BYTES_A_NODE
}

/// Returns the maximum number of events within anchors for a text of a size.
pub(crate) const fn most_anchored(bytes: usize) -> usize {
    FREE_ANCHORED + bytes / BYTES_AN_ANCHORED
}

/// Parses YAML like [`read`], with other limits.
pub(crate) fn read_within(text: &str, limits: YamlLimits) -> Result<Value, String> {
    let options = serde_saphyr::options! {
        strict_booleans: true,
        with_snippet: false,
        non_finite_float_policy: NonFiniteFloatPolicy::AsString,
        budget: serde_saphyr::budget! {
            max_events: 200_000,
            max_nodes: limits.nodes.min(most_nodes(text.len())),
            max_total_scalar_bytes: limits.text_bytes,
            max_depth: 32,
            max_aliases: 1_000,
            max_recorded_anchor_events: most_anchored(text.len()),
        },
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let message = error.without_snippet().to_string();
        message.lines().next().unwrap_or("invalid YAML").to_owned()
    })
}

#[cfg(test)]
mod tests {
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
    fn a_bomb_is_refused() {
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
    fn a_text_that_is_repeated_by_aliases_counts_each_time() {
        let text = "x".repeat(10_000);
        let value = |aliases: usize| format!("a: &a {text}\nb: [{}]\n", vec!["*a"; aliases].join(","));
        let limits = YamlLimits { nodes: 1_000, text_bytes: 100_000 };
        assert!(read_within(&value(8), limits).is_ok());
        assert!(read_within(&value(10), limits).is_err());
        assert!(read(&value(500)).is_err());
    }
}
