//! Descriptions of OpenAPI specifications: Markdown from an untrusted source, parsed before a page is rendered.
//!
//! A page may show a thousand descriptions. They are parsed on a blocking thread, within limits per page. Parsed
//! descriptions are cached by their text, because each audience has its own pages.

use std::{collections::HashMap, fmt, sync::Arc};

use docs_core::{
    Error, Result,
    content::document::{into_reading_view, memory, parse},
    model::Document,
    platform::{OperationDetail, ParameterDetail, SchemaDetail, SpecDetail},
};
use quick_cache::{Weighter, sync::Cache};
use tokio::sync::Semaphore;

/// The maximum number of bytes of descriptions that a page shows as Markdown. Further descriptions are shown as plain
/// text. A single line of plain words does not count, and each possible delimiter counts as [`MARK_BYTES`], because
/// delimiters take most of the parsing time.
const MAX_BYTES: usize = 512 << 10;
const MARK_BYTES: usize = 16;
/// The number of pages whose descriptions are parsed at the same time.
const MAX_PARSES: usize = 2;

/// The parsed descriptions of a page by their text.
#[derive(Debug, Default)]
pub(crate) struct Descriptions(HashMap<Box<str>, Arc<Document>>);

impl Descriptions {
    /// Returns the documents of all descriptions.
    pub(crate) fn documents(&self) -> impl Iterator<Item = &Document> {
        self.0.values().map(|document| &**document)
    }

    /// Returns the document of a description, or `None` for a description that is shown as plain text.
    pub(crate) fn get(&self, text: &str) -> Option<&Document> {
        self.0.get(text).map(|document| &**document)
    }
}

/// Parses descriptions and caches them.
pub(crate) struct DescriptionParser {
    cached: Arc<DescriptionCache>,
    parses: Semaphore,
}

type DescriptionCache = Cache<blake3::Hash, Arc<Document>, DescriptionWeigher>;

#[derive(Clone)]
struct DescriptionWeigher;

impl Weighter<blake3::Hash, Arc<Document>> for DescriptionWeigher {
    fn weight(&self, _: &blake3::Hash, document: &Arc<Document>) -> u64 {
        memory(document) as u64 + 128
    }
}

impl fmt::Debug for DescriptionParser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DescriptionParser").field("cached", &self.cached.len()).finish_non_exhaustive()
    }
}

impl DescriptionParser {
    /// Creates a parser with a cache of at most `bytes`.
    pub(crate) fn new(bytes: u64) -> Self {
        // One shard, because an entry must fit into its shard.
        let cached = Arc::new(Cache::with_weighter(32, bytes, DescriptionWeigher));
        Self { cached, parses: Semaphore::new(MAX_PARSES) }
    }

    /// Parses the descriptions of the specification parts that a page shows, within the limits of a page.
    ///
    /// # Errors
    /// `Internal` if the work panicked or the runtime is shutting down.
    pub(crate) async fn parse(&self, details: impl Iterator<Item = Arc<SpecDetail>>) -> Result<Descriptions> {
        let details: Vec<Arc<SpecDetail>> = details.collect();
        if details.is_empty() {
            return Ok(Descriptions::default());
        }
        let _permit = self.parses.acquire().await.map_err(Error::internal)?;
        let cached = Arc::clone(&self.cached);
        let parse = move || parse_all(&details, &cached);
        tokio::task::spawn_blocking(parse).await.map_err(Error::internal)
    }
}

fn parse_all(details: &[Arc<SpecDetail>], cached: &DescriptionCache) -> Descriptions {
    let mut found = HashMap::new();
    let mut left = MAX_BYTES;
    for text in details.iter().flat_map(|detail| texts(detail)) {
        if is_plain(text) || found.contains_key(text) {
            continue;
        }
        let Some(rest) = left.checked_sub(counted_bytes(text)) else { continue };
        left = rest;
        let key = blake3::hash(text.as_bytes());
        let document = cached.get(&key).unwrap_or_else(|| {
            let document = Arc::new(into_reading_view(parse(text)));
            cached.insert(key, Arc::clone(&document));
            document
        });
        found.insert(text.into(), document);
    }
    Descriptions(found)
}

/// Returns the descriptions of a specification part, in the order in which a page shows them.
fn texts(detail: &SpecDetail) -> Vec<&str> {
    let mut all = Vec::new();
    match detail {
        SpecDetail::Operation(of) => add_operation(of, &mut all),
        SpecDetail::Schema(of) => add_schema(of.schema.as_ref(), &mut all),
        _ => {}
    }
    all
}

fn add_operation<'d>(of: &'d OperationDetail, all: &mut Vec<&'d str>) {
    let OperationDetail { description, security, servers, parameters, request, responses, callbacks, .. } =
        of;
    all.extend(description.as_deref());
    all.extend(security.iter().flatten().filter_map(|of| of.description.as_deref()));
    for server in servers {
        all.extend(server.description.as_deref());
        all.extend(server.variables.iter().filter_map(|of| of.description.as_deref()));
    }
    parameters.iter().for_each(|of| add_parameter(of, all));
    if let Some(request) = request {
        all.extend(request.description.as_deref());
        request.bodies.iter().for_each(|of| add_schema(of.schema.as_ref(), all));
    }
    for response in responses {
        all.extend(response.description.as_deref());
        response.headers.iter().for_each(|of| add_parameter(of, all));
        response.bodies.iter().for_each(|of| add_schema(of.schema.as_ref(), all));
        all.extend(response.links.iter().filter_map(|of| of.description.as_deref()));
    }
    callbacks.iter().for_each(|of| add_operation(&of.operation, all));
}

fn add_parameter<'d>(of: &'d ParameterDetail, all: &mut Vec<&'d str>) {
    all.extend(of.description.as_deref());
    add_schema(Some(&of.schema), all);
}

fn add_schema<'d>(of: Option<&'d SchemaDetail>, all: &mut Vec<&'d str>) {
    let mut stack: Vec<&SchemaDetail> = of.into_iter().collect();
    while let Some(of) = stack.pop() {
        all.extend(of.description.as_deref());
        let alternatives = of.choices.iter().flat_map(|choice| &choice.alternatives).map(|of| &of.schema);
        let children =
            of.fields.iter().map(|field| &field.schema).chain(alternatives).chain(of.items.as_deref());
        stack.extend(children.collect::<Vec<_>>().into_iter().rev());
    }
}

/// Returns `true` for a single line of plain words, which is equal as Markdown and as plain text.
fn is_plain(text: &str) -> bool {
    let is_within = |c: char| c.is_alphanumeric() || matches!(c, ' ' | ',' | '.');
    text.starts_with(char::is_alphabetic) && !text.contains("  ") && text.chars().all(is_within)
}

/// Returns the bytes of a description that count towards [`MAX_BYTES`].
fn counted_bytes(text: &str) -> usize {
    let is_mark =
        |b: u8| b == b'\n' || (b.is_ascii_punctuation() && !matches!(b, b',' | b'.' | b'-' | b'\''));
    text.len() + MARK_BYTES * text.bytes().filter(|b| is_mark(*b)).count()
}

#[cfg(test)]
mod tests {
    use docs_core::platform::{BodyDetail, FieldDetail};

    use super::*;

    /// Creates a schema with these descriptions.
    fn schema(texts: impl Iterator<Item = String>) -> Arc<SpecDetail> {
        let field = |text| {
            let mut field = FieldDetail::default();
            field.schema.description = Some(text);
            field
        };
        let mut schema = SchemaDetail::default();
        schema.fields = texts.map(field).collect();
        let mut body = BodyDetail::default();
        body.schema = Some(schema);
        Arc::new(SpecDetail::Schema(Box::new(body)))
    }

    #[tokio::test]
    async fn descriptions_beyond_the_bound_are_plain_text() {
        let parser = DescriptionParser::new(8 << 20);
        let text = |number: usize| format!("*{number:07}*{}", "a ".repeat(MAX_BYTES / 32));
        let per_page = MAX_BYTES / counted_bytes(&text(0));
        let found = parser.parse(std::iter::once(schema((0..2 * per_page).map(text)))).await.expect("parsed");
        let is_parsed: Vec<bool> =
            (0..2 * per_page).map(|number| found.get(&text(number)).is_some()).collect();
        assert!(is_parsed[..per_page].iter().all(|is| *is) && !is_parsed[per_page..].iter().any(|is| *is));
    }

    #[tokio::test]
    async fn equal_descriptions_are_parsed_once() {
        let parser = DescriptionParser::new(8 << 20);
        let text = "*a* ".repeat(5_000);
        let page = || parser.parse(std::iter::repeat_n(schema(std::iter::repeat_n(text.clone(), 100)), 4));
        let (first, second) = (page().await.expect("parsed"), page().await.expect("parsed"));
        let (first, second) = (first.get(&text).expect("a document"), second.get(&text).expect("a document"));
        assert!(std::ptr::eq(first, second), "it is parsed again");
        assert_eq!(parser.cached.len(), 1);
    }

    #[test]
    fn plain_lines_read_the_same_as_markdown() {
        for text in ["The name of a pet, or its number.", "a", "A1 b2", "see www.example.com", "e.g. this"] {
            assert!(is_plain(text), "{text}");
            let document = parse(text);
            assert_eq!(document, parse(text));
            let json = serde_json::to_value(&document.nodes).expect("nodes");
            assert_eq!(json[0]["nodes"][0]["leaves"][0]["text"], text, "{json}");
            assert!(json.as_array().is_some_and(|blocks| blocks.len() == 1), "{json}");
        }
        for text in ["1. a", "a\nb", "a *b*", "a  b", "[a]", "", " a", "a:b"] {
            assert!(!is_plain(text), "{text}");
        }
    }
}
