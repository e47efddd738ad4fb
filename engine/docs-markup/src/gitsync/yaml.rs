//! YAML as values.

use serde_json::Value;
use serde_saphyr::NonFiniteFloatPolicy;

/// Reads YAML with bounded work: aliases and nesting cannot blow it up.
///
/// `yes`, `on` and their likes are text, as in YAML 1.2. The message of an error names the line.
pub(super) fn read(text: &str) -> Result<Value, String> {
    read_within(text, YamlLimits { nodes: MAX_NODES, text_bytes: MAX_TEXT_BYTES })
}

/// How much a value may be, aliases resolved.
#[derive(Clone, Copy)]
pub(super) struct YamlLimits {
    /// Most nodes.
    pub(super) nodes: usize,
    /// Most bytes of all texts and keys together.
    pub(super) text_bytes: usize,
}

/// Most nodes of a file, aliases resolved.
const MAX_NODES: usize = 50_000;

/// Most bytes of the texts of a file, aliases resolved: twice what the largest file has.
const MAX_TEXT_BYTES: usize = 2 << 20;

/// Nodes that any text may have, and how many bytes it has for each one more: a list of the smallest objects takes some
/// 220 bytes for each node.
const FREE_NODES: usize = 4_000;
const BYTES_A_NODE: usize = 12;
/// The same for what stands within anchors, once more for each anchor around it.
const FREE_ANCHORED: usize = 1_000;
const BYTES_AN_ANCHORED: usize = 40;

/// Most nodes of a text of so many bytes.
pub(crate) const fn most_nodes(bytes: usize) -> usize {
    FREE_NODES + bytes / BYTES_A_NODE
}

/// Most events within anchors of a text of so many bytes.
pub(crate) const fn most_anchored(bytes: usize) -> usize {
    FREE_ANCHORED + bytes / BYTES_AN_ANCHORED
}

/// Reads YAML like [`read`], with limits of its own.
pub(super) fn read_within(text: &str, limits: YamlLimits) -> Result<Value, String> {
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
        message.lines().next().unwrap_or("this is not YAML").to_owned()
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
