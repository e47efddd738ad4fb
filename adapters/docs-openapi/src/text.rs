//! Parsing of documents into trees, with bounded work.

use bytes::Bytes;
use docs_ports::{SpecFormat, SpecProblem};
use serde::de::DeserializeSeed;
use serde_saphyr::{Error, NonFiniteFloatPolicy, UserMessageFormatter};

use crate::node::{JsonNode, MAX_NODES, MAX_TEXT_BYTES, NodeBudget, ReadNode};

/// Maximum nesting of a document. The same limit as in `serde_json`.
pub(crate) const MAX_DOCUMENT_DEPTH: usize = 127;
/// Maximum number of YAML aliases in a document.
const MAX_ALIASES: usize = 50_000;
/// Number of YAML events permitted within anchors, and bytes of input required for each further event. An event takes
/// about 150 bytes of memory, and the same again for each enclosing anchor. Handwritten documents have few lines within
/// anchors. Generated documents with resolved references have most of their lines within anchors, and nest anchors.
const FREE_ANCHORED: usize = 40_000;
const BYTES_AN_ANCHORED: usize = 40;

/// A syntax error in a document.
pub(crate) struct SyntaxFault {
    pub(crate) message: String,
    pub(crate) line: Option<u64>,
}

impl SyntaxFault {
    pub(crate) fn problem(self) -> SpecProblem {
        SpecProblem { message: self.message, pointer: String::new(), line: self.line }
    }
}

/// Parses a JSON or YAML document.
pub(crate) fn parse(bytes: &Bytes) -> Result<(SpecFormat, JsonNode), SyntaxFault> {
    let text = as_text(bytes).map_err(|at| SyntaxFault {
        message: format!("must be UTF-8 text; byte {at} is not"),
        line: Some(1 + bytes.iter().take(at).filter(|byte| **byte == b'\n').count() as u64),
    })?;
    let format = format_of(text);
    let root = read_with(text, format, ReadNode(&NodeBudget::for_document(text.len())))?;
    Ok((format, root))
}

/// Detects the format. Both JSON and YAML in flow style may begin with a brace, so invalid JSON is parsed as YAML.
fn format_of(text: &str) -> SpecFormat {
    let begins = text.trim_start().starts_with(['{', '[']);
    if begins && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() {
        return SpecFormat::Json;
    }
    // Text that resembles JSON but is invalid or too deep is still reported as JSON.
    let is_json = begins
        && text.trim_start().get(1..).is_some_and(|rest| rest.trim_start().starts_with(['"', '{', '[']));
    if is_json { SpecFormat::Json } else { SpecFormat::Yaml }
}

/// Parses a document with a deserializer seed.
pub(crate) fn read_with<'de, S: DeserializeSeed<'de>>(
    text: &'de str,
    format: SpecFormat,
    seed: S,
) -> Result<S::Value, SyntaxFault> {
    match format {
        SpecFormat::Json => read_json(text, seed),
        SpecFormat::Yaml => read_yaml(text, seed),
    }
}

fn read_json<'de, S: DeserializeSeed<'de>>(text: &'de str, seed: S) -> Result<S::Value, SyntaxFault> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let read = seed.deserialize(&mut deserializer).and_then(|value| deserializer.end().map(|()| value));
    read.map_err(|error| {
        let line = u64::try_from(error.line()).ok().filter(|line| *line > 0);
        let message = error.to_string();
        let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message);
        SyntaxFault { message: format!("must be valid JSON: {message}"), line }
    })
}

fn read_yaml<'de, S: DeserializeSeed<'de>>(text: &'de str, seed: S) -> Result<S::Value, SyntaxFault> {
    let options = serde_saphyr::options! {
        strict_booleans: true,
        with_snippet: false,
        non_finite_float_policy: NonFiniteFloatPolicy::AsString,
        budget: serde_saphyr::budget! {
            max_events: 2 * MAX_NODES,
            max_nodes: MAX_NODES,
            max_total_scalar_bytes: MAX_TEXT_BYTES,
            max_depth: MAX_DOCUMENT_DEPTH,
            max_aliases: MAX_ALIASES,
            max_anchors: MAX_ALIASES,
            max_recorded_anchor_events: FREE_ANCHORED + text.len() / BYTES_AN_ANCHORED,
        },
    };
    let read = serde_saphyr::with_deserializer_from_str_with_options(text, options, |deserializer| {
        seed.deserialize(deserializer)
    });
    read.map_err(|error| {
        let line = error.location().map(|location| location.line());
        let message = match error.without_snippet() {
            // The usual message names an option of the parser.
            error @ Error::DuplicateMappingKey { .. } => error.render_with_formatter(&UserMessageFormatter),
            error => error.to_string(),
        };
        let message = message.lines().next().unwrap_or("invalid YAML").to_owned();
        SyntaxFault { message: format!("must be valid YAML: {message}"), line }
    })
}

/// Decodes bytes as UTF-8 without a byte order mark. Returns the position of the first invalid byte as an error.
pub(crate) fn as_text(bytes: &Bytes) -> Result<&str, usize> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|error| error.valid_up_to())
}
