//! HTML that is written into one text. Pieces of maud's are texts of their own, each of which is made and copied: where
//! a page has hundreds of them, this is several times as quick.

use std::ops::Range;

use maud::{Markup, PreEscaped};

/// HTML as it is written: tags stand in this program, markup was checked by maud, and all else is text, which is
/// escaped.
#[derive(Debug, Default)]
pub(crate) struct Html(String);

impl Html {
    /// HTML of about so many bytes.
    pub(crate) fn with_room(bytes: usize) -> Self {
        Self(String::with_capacity(bytes))
    }

    /// What is written as a piece of maud's.
    pub(crate) fn markup_of(write: impl FnOnce(&mut Self)) -> Markup {
        let mut html = Self::default();
        write(&mut html);
        PreEscaped(html.0)
    }

    /// The whole, without the room that is left: pages are kept.
    pub(crate) fn into_string(mut self) -> String {
        self.0.shrink_to_fit();
        self.0
    }

    /// How many bytes are written.
    pub(crate) const fn len(&self) -> usize {
        self.0.len()
    }

    /// Tags, with text that needs no escape.
    pub(crate) fn tags(&mut self, tags: &'static str) -> &mut Self {
        self.0.push_str(tags);
        self
    }

    /// Markup.
    pub(crate) fn markup(&mut self, markup: &PreEscaped<impl AsRef<str>>) {
        self.0.push_str(markup.0.as_ref());
    }

    /// A part of markup, cut between tags.
    pub(crate) fn piece(&mut self, markup: &PreEscaped<String>, bytes: Range<usize>) {
        self.0.push_str(markup.0.get(bytes).unwrap_or_default());
    }

    /// Text.
    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        self.escaped(text, entity)
    }

    /// Text whose lines stay lines.
    pub(crate) fn lines(&mut self, text: &str) -> &mut Self {
        self.escaped(text, |byte| if byte == b'\n' { Some("<br>") } else { entity(byte) })
    }

    fn escaped(&mut self, text: &str, written: impl Fn(u8) -> Option<&'static str>) -> &mut Self {
        write_escaped(&mut self.0, text, written);
        self
    }

    /// An attribute with its value: `start` is its name with a space before it and `="` behind it.
    pub(crate) fn attribute(&mut self, start: &'static str, value: &str) -> &mut Self {
        self.tags(start).text(value).tags("\"")
    }

    /// The same where there is a value.
    pub(crate) fn attribute_if(&mut self, start: &'static str, value: Option<&str>) -> &mut Self {
        match value {
            Some(value) => self.attribute(start, value),
            None => self,
        }
    }
}

/// Writes a text with something else for some of its ASCII characters.
pub(crate) fn write_escaped(out: &mut String, text: &str, written: impl Fn(u8) -> Option<&'static str>) {
    let mut done = 0;
    for (at, byte) in text.bytes().enumerate() {
        let Some(other) = written(byte) else { continue };
        out.push_str(text.get(done..at).unwrap_or_default());
        out.push_str(other);
        done = at + 1;
    }
    out.push_str(text.get(done..).unwrap_or_default());
}

/// What stands for a character that HTML knows.
pub(crate) const fn entity(byte: u8) -> Option<&'static str> {
    match byte {
        b'&' => Some("&amp;"),
        b'<' => Some("&lt;"),
        b'>' => Some("&gt;"),
        b'"' => Some("&quot;"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use maud::html;

    use super::*;

    #[test]
    fn text_and_attributes_are_escaped_as_maud_does_it() {
        for text in ["", "plain", "<script>\"&'</script>", "ü<ü>\u{10348}&", "&&", "a\nb"] {
            let ours = Html::markup_of(|html| {
                html.tags("<a")
                    .attribute(" href=\"", text)
                    .attribute_if(" id=\"", None)
                    .tags(">")
                    .text(text)
                    .tags("</a>");
            });
            assert_eq!(ours.0, html! { a href=(text) { (text) } }.0);
        }
    }
}
