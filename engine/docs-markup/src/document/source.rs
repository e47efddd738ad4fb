//! Markdown with the byte ranges of its blocks, so that unchanged blocks can keep their bytes.

use std::{borrow::Cow, ops::Range};

use docs_model::Document;

use super::{
    keys,
    lines::{self, without_mark},
    memory_budget, settling,
    work_budget::TextBudget,
};

/// Characters that end lines.
const LINE_ENDS: [char; 2] = ['\n', '\r'];

/// Parses Markdown. The text must not include front matter or the title of the page.
///
/// ```
/// use docs_markup::document::{parse, print};
/// let text = "Hello *there*.\n\n{% hint style=\"info\" %}\nMind the gap.\n{% endhint %}\n";
/// let document = parse(text);
/// assert_eq!(document.nodes.len(), 2);
/// assert_eq!(print(&document).unwrap(), text);
/// ```
#[must_use]
pub fn parse(markdown: &str) -> Document {
    DocumentSource::new(markdown).document
}

/// Markdown and its document.
#[derive(Debug)]
pub struct DocumentSource<'a> {
    /// The Markdown, with each NUL replaced by U+FFFD.
    pub markdown: Cow<'a, str>,
    /// The parsed document.
    pub document: Document,
    /// The byte range of each block of the document, without the ending of its last line. Blocks parsed from the same
    /// lines have the same range. The ranges are in text order, except for footnote definitions referenced only by a
    /// verbatim block, which directly follow that block.
    pub ranges: Vec<Range<usize>>,
    /// The byte ranges of the footnote definitions that annotations reference.
    pub notes: Vec<Range<usize>>,
}

impl<'a> DocumentSource<'a> {
    /// Parses Markdown.
    #[must_use]
    pub fn new(markdown: &'a str) -> Self {
        let owned = markdown.contains('\0').then(|| markdown.replace('\0', "\u{fffd}"));
        match owned {
            Some(owned) => {
                let DocumentSource { document, ranges, notes, .. } = Self::parse(&owned);
                Self { document, ranges, notes, markdown: Cow::Owned(owned) }
            }
            None => Self::parse(markdown),
        }
    }

    /// Creates the source of a document that contains `markdown` as one verbatim paragraph.
    fn verbatim(markdown: &str, offset: usize) -> DocumentSource<'_> {
        let start =
            offset + markdown[offset..].len() - markdown[offset..].trim_start_matches(LINE_ENDS).len();
        let end = start + markdown[start..].trim_end_matches(LINE_ENDS).len();
        let text = markdown[start..end].replace("\r\n", "\n").replace('\r', "\n");
        let (blocks, ranges) = match text.trim().is_empty() {
            true => (Vec::new(), Vec::new()),
            false => (vec![settling::verbatim_paragraph(text)], std::iter::once(start..end).collect()),
        };
        let mut document = Document::new(blocks);
        keys::assign(&mut document);
        DocumentSource { markdown: Cow::Borrowed(markdown), document, ranges, notes: Vec::new() }
    }

    fn parse<'t>(markdown: &'t str) -> DocumentSource<'t> {
        let body = without_mark(markdown);
        let offset = markdown.len() - body.len();
        let (body, offset) = match memory_budget::is_all_lines(body) {
            false => (body, offset),
            true => {
                // A verbatim paragraph is stored without surrounding line endings, so they do not count towards the
                // limit.
                let behind = body.trim_start_matches(LINE_ENDS);
                let text = behind.trim_end_matches(LINE_ENDS);
                if memory_budget::is_all_lines(text) {
                    return Self::verbatim(markdown, offset);
                }
                (text, offset + body.len() - behind.len())
            }
        };
        let _reading = TextBudget::begin(body.len());
        let (lines, starts) = lines::split_at(body);
        let starts: Vec<usize> = starts.into_iter().map(|start| start + offset).collect();
        let text = settling::parse_text(&lines);
        let bytes = |range: &Range<usize>| {
            let last = range.end.saturating_sub(1);
            let end = starts.get(last).map_or(markdown.len(), |start| start + lines[last].text.len());
            starts.get(range.start).copied().unwrap_or(markdown.len())..end
        };
        let ranges = text.lines.iter().map(bytes).collect();
        let notes = text.notes.iter().map(|note| bytes(&note.lines)).collect();
        let mut document = Document::new(text.blocks);
        keys::assign(&mut document);
        DocumentSource { markdown: Cow::Borrowed(markdown), document, ranges, notes }
    }
}
