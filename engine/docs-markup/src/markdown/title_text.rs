//! The text of titles, in which short names of emoji, such as `:rocket:`, are replaced by their emoji.

use crate::document::emoji_at;

/// A mark before a colon that does not begin the short name of an emoji. Text never contains it.
const LITERAL: char = '\0';

/// The text of a title while its parts are read.
#[derive(Default)]
pub(crate) struct TitleText(String);

impl TitleText {
    /// Adds text. `source` is the Markdown before it.
    pub(crate) fn text(&mut self, text: &str, source: &str) {
        let backslashes = source.bytes().rev().take_while(|byte| *byte == b'\\').count();
        if text.starts_with(':') && !backslashes.is_multiple_of(2) {
            self.0.push(LITERAL);
        }
        self.0.push_str(text);
    }

    /// Adds the text of a code span, in which colons are literal.
    pub(crate) fn code(&mut self, text: &str) {
        self.0.push_str(&text.replace(':', "\0:"));
    }

    /// Returns the text with its emoji.
    pub(crate) fn finish(&self) -> String {
        let mut out = String::with_capacity(self.0.len());
        let mut rest = self.0.as_str();
        while let Some(at) = rest.find([':', LITERAL]) {
            out.push_str(&rest[..at]);
            rest = &rest[at..];
            let length = match emoji_at(rest) {
                Some((emoji, length)) => {
                    out.push_str(&emoji);
                    length
                }
                // A literal colon is copied with its mark.
                None => {
                    let end = if rest.starts_with(LITERAL) { 2.min(rest.len()) } else { 1 };
                    out.push_str(&rest[..end]);
                    end
                }
            };
            rest = &rest[length..];
        }
        out.push_str(rest);
        out.replace(LITERAL, "")
    }
}
