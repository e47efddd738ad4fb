//! Documents that are stored with a resource and returned as they were sent, such as descriptions and instructions.

use crate::{
    Error, Result,
    content::{document, run_in_place},
    model::Document,
};

/// Maximum ratio of the size of a document as JSON to its maximum size as Markdown.
const JSON_RATIO: usize = 16;

/// A document of a request, checked and in its stored forms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::platform) struct ShortDocument {
    /// The document as JSON. Empty for a document without blocks.
    pub(in crate::platform) json: String,
    pub(in crate::platform) markdown: String,
}

impl ShortDocument {
    /// Checks a document. It may have at most `most` bytes as Markdown, and [`JSON_RATIO`] times as many as JSON.
    ///
    /// # Errors
    /// `Invalid` with the path of the first invalid node, or if the document is too large.
    pub(in crate::platform) fn new(sent: &Document, field: &str, most: usize) -> Result<Self> {
        if sent.nodes.is_empty() && sent.data.schema_version.is_none() {
            return Ok(Self::default());
        }
        run_in_place(|| {
            let invalid =
                |error: document::Invalid| Error::invalid(&format!("{field}.{}", error.place), error.message);
            let markdown = document::print(sent).map_err(invalid)?;
            let json = serde_json::to_string(sent).map_err(Error::internal)?;
            for (form, has, most) in
                [("Markdown", markdown.len(), most), ("JSON", json.len(), most.saturating_mul(JSON_RATIO))]
            {
                if has > most {
                    let why = format_args!("must be at most {most} bytes as {form}, has {has}");
                    return Err(Error::invalid(field, why));
                }
            }
            Ok(Self { json, markdown })
        })
    }

    /// Parses the stored JSON of a document. An empty string is an empty document.
    ///
    /// # Errors
    /// `Internal` for other JSON.
    pub(in crate::platform) fn parse(json: &str) -> Result<Document> {
        match json {
            "" => Ok(Document::default()),
            json => run_in_place(|| serde_json::from_str(json)).map_err(Error::internal),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn paragraphs(text: &str, count: usize) -> Document {
        let leaf = json!({ "object": "leaf", "text": text, "marks": [] });
        let nodes = json!([{ "object": "text", "leaves": [leaf] }]);
        let block = json!({ "object": "block", "type": "paragraph", "key": "mine", "nodes": nodes });
        let nodes = vec![block; count];
        serde_json::from_value(
            json!({ "object": "document", "data": { "schemaVersion": 2 }, "nodes": nodes }),
        )
        .expect("a document")
    }

    #[test]
    fn a_document_is_stored_as_it_was_sent() {
        for sent in [paragraphs("A.", 1), paragraphs("", 3), Document::default()] {
            let stored = ShortDocument::new(&sent, "description", 100).expect("checked");
            assert_eq!(ShortDocument::parse(&stored.json).expect("parsed"), sent);
        }
        assert_eq!(ShortDocument::new(&Document::default(), "", 0).expect("checked").json, "");
    }

    #[test]
    fn a_document_has_a_bounded_size_as_markdown_and_as_json() {
        let size = ShortDocument::new(&paragraphs("A word.", 1), "of", 100).expect("checked");
        let markdown = size.markdown.len();
        let sent = paragraphs(&"a".repeat(1_000), 1);
        let has = ShortDocument::new(&sent, "of", 2_000).expect("checked").markdown.len();
        ShortDocument::new(&sent, "of", has).expect("at the limit");
        let error = ShortDocument::new(&sent, "of", has - 1).expect_err("rejected");
        assert_eq!(error.message(), format!("of: must be at most {} bytes as Markdown, has {has}", has - 1));
        let many = paragraphs("", 100);
        let json = serde_json::to_string(&many).expect("JSON").len();
        let most = json.div_ceil(JSON_RATIO);
        ShortDocument::new(&many, "of", most).expect("at the limit");
        let error = ShortDocument::new(&many, "of", most - 1).expect_err("rejected");
        assert!(error.message().ends_with(&format!("bytes as JSON, has {json}")), "{error}");
        assert!(markdown < most);
    }
}
