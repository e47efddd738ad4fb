//! Parsed documents with shared ownership.

use std::{ops::Deref, sync::Arc};

use docs_model::{BlockKind, Document, DocumentPart, InlineKind};

use super::evaluate::unconditional_content;

/// A parsed document with shared ownership.
#[derive(Clone, Debug)]
pub struct SharedDocument {
    document: Arc<Document>,
    is_same_for_all: bool,
}

impl SharedDocument {
    pub(crate) fn new(document: Document) -> Self {
        let asks = document.parts().any(|part| match part {
            DocumentPart::Block(block) => matches!(block.kind, BlockKind::If { .. }),
            DocumentPart::Inline(inline) => matches!(inline.kind, InlineKind::Expression { .. }),
        });
        // Verbatim Markdown may also contain conditions, which are never resolved.
        let is_same_for_all = !asks && unconditional_content(&document) == document;
        Self { document: Arc::new(document), is_same_for_all }
    }

    /// Returns `true` if evaluation never changes the document, whoever the visitor is.
    #[must_use]
    pub const fn is_same_for_all(&self) -> bool {
        self.is_same_for_all
    }

    #[must_use]
    pub fn into_inner(self) -> Arc<Document> {
        self.document
    }
}

impl Deref for SharedDocument {
    type Target = Document;

    fn deref(&self) -> &Document {
        &self.document
    }
}

#[cfg(test)]
mod tests {
    use docs_markup::document::parse;

    use super::*;

    #[test]
    fn documents_without_evaluated_parts_are_same_for_all() {
        let rows = "| a | b |\n".repeat(400);
        for (text, expected) in [
            ("", true),
            ("# Title\n\nSome *words* with a [link](https://a.test).\n\n* one\n* two\n", true),
            ("{% hint style=\"info\" %}\nMind this.\n{% endhint %}\n", true),
            ("Of <code class=\"expression\">space.vars.version</code>.", false),
            ("{% if visitor.claims.plan %}\nSecret.\n{% endif %}\n", false),
            (&format!("| a | b |\n| - | - |\n{rows}\n{{% if true %}}\nSecret.\n{{% endif %}}\n"), false),
        ] {
            assert_eq!(SharedDocument::new(parse(text)).is_same_for_all(), expected, "{text:.80}");
        }
    }
}
