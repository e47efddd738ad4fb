//! An HTML writer with a single buffer. Each maud fragment is a separate string that is allocated and copied. For a
//! page with hundreds of fragments, one buffer is several times faster.

use std::ops::Range;

use maud::{Markup, PreEscaped};

/// An HTML buffer. Tags are literals in the source code, markup was escaped by maud, and all other text is escaped
/// here.
#[derive(Debug, Default)]
pub(crate) struct Html {
    written: String,
    /// The byte ranges and names of named parts, in ascending order.
    named: Vec<(Range<usize>, blake3::Hash)>,
}

/// The minimum size in bytes of a named part.
const MIN_NAMED: usize = 256;

/// Frequently used markup, named by the hash of its content.
#[derive(Debug)]
pub(crate) struct NamedMarkup {
    markup: Markup,
    name: blake3::Hash,
}

impl NamedMarkup {
    pub(crate) fn new(markup: Markup) -> Self {
        Self { name: blake3::hash(markup.0.as_bytes()), markup }
    }

    pub(crate) const fn name(&self) -> &blake3::Hash {
        &self.name
    }

    /// Returns the markup as text.
    pub(crate) const fn as_str(&self) -> &str {
        self.markup.0.as_str()
    }
}

impl Html {
    /// Creates an empty buffer with a capacity of `bytes`.
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self { written: String::with_capacity(bytes), named: Vec::new() }
    }

    /// Runs `write` on an empty buffer and returns the result as maud markup.
    pub(crate) fn build_markup(write: impl FnOnce(&mut Self)) -> Markup {
        let mut html = Self::default();
        write(&mut html);
        PreEscaped(html.written)
    }

    /// Returns the content without spare capacity, because pages are cached.
    pub(crate) fn into_string(mut self) -> String {
        self.written.shrink_to_fit();
        self.written
    }

    /// Returns a hash of the content. Named parts contribute only their names, so their bytes are not hashed again.
    pub(crate) fn name(&self) -> blake3::Hash {
        let mut said = Vec::with_capacity(self.written.len().min(16 * 1024));
        let mut done = 0;
        let mut add = |bytes: &[u8], kind: u8| {
            said.push(kind);
            said.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
            said.extend_from_slice(bytes);
        };
        for (range, name) in &self.named {
            add(self.written.as_bytes().get(done..range.start).unwrap_or_default(), 0);
            add(name.as_bytes(), 1);
            done = range.end;
        }
        add(self.written.as_bytes().get(done..).unwrap_or_default(), 0);
        blake3::hash(&said)
    }

    pub(crate) fn write_named(&mut self, named: &NamedMarkup) -> &mut Self {
        self.write_under_name(&named.name, |html| html.markup(&named.markup))
    }

    /// Writes a part under a name that identifies its content. Different content must have a different name.
    pub(crate) fn write_under_name(
        &mut self,
        name: &blake3::Hash,
        write: impl FnOnce(&mut Self),
    ) -> &mut Self {
        let (start, before) = (self.written.len(), self.named.len());
        write(self);
        let range = start..self.written.len();
        if range.len() >= MIN_NAMED {
            self.named.truncate(before);
            self.named.push((range, *name));
        }
        self
    }

    pub(crate) const fn len(&self) -> usize {
        self.written.len()
    }

    /// Writes tags, and text that needs no escaping.
    pub(crate) fn tags(&mut self, tags: &'static str) -> &mut Self {
        self.written.push_str(tags);
        self
    }

    pub(crate) fn markup(&mut self, markup: &PreEscaped<impl AsRef<str>>) {
        self.written.push_str(markup.0.as_ref());
    }

    /// Writes a byte range of markup. The range begins and ends between tags.
    pub(crate) fn piece(&mut self, markup: &NamedMarkup, bytes: Range<usize>) {
        self.written.push_str(markup.as_str().get(bytes).unwrap_or_default());
    }

    /// Writes escaped text.
    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        self.push_escaped(text, entity)
    }

    /// Writes escaped text with `<br>` for line breaks.
    pub(crate) fn lines(&mut self, text: &str) -> &mut Self {
        self.push_escaped(text, |byte| if byte == b'\n' { Some("<br>") } else { entity(byte) })
    }

    fn push_escaped(&mut self, text: &str, written: impl Fn(u8) -> Option<&'static str>) -> &mut Self {
        write_escaped(&mut self.written, text, written);
        self
    }

    /// Writes an attribute. `start` is the attribute name with a leading space and a trailing `="`.
    pub(crate) fn attribute(&mut self, start: &'static str, value: &str) -> &mut Self {
        self.tags(start).text(value).tags("\"")
    }

    /// Writes an attribute if it has a value.
    pub(crate) fn attribute_if(&mut self, start: &'static str, value: Option<&str>) -> &mut Self {
        match value {
            Some(value) => self.attribute(start, value),
            None => self,
        }
    }
}

/// Writes text, replacing ASCII characters with the result of `written` unless it is `None`.
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

/// Returns the length in bytes of escaped text.
pub(crate) fn escaped_length(text: &str) -> usize {
    text.len() + text.bytes().filter_map(entity).map(|entity| entity.len() - 1).sum::<usize>()
}

/// Returns the HTML entity of a character that must be escaped.
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
    fn escaped_length_is_that_of_written_text() {
        for text in ["", "a", "<a href=\"x\">&é"] {
            assert_eq!(escaped_length(text), Html::build_markup(|html| _ = html.text(text)).0.len());
        }
    }

    #[test]
    fn html_name_differs_when_content_differs() {
        let long = |of: &str| NamedMarkup::new(PreEscaped(of.repeat(MIN_NAMED)));
        let (one, two, short) = (long("a"), long("b"), NamedMarkup::new(PreEscaped("a".to_owned())));
        let name = |write: &dyn Fn(&mut Html)| {
            let mut html = Html::default();
            write(&mut html);
            html.name()
        };
        let names = [
            name(&|_| {}),
            name(&|html| _ = html.write_named(&one)),
            name(&|html| _ = html.write_named(&two)),
            name(&|html| _ = html.write_named(&short)),
            name(&|html| _ = html.write_named(&one).write_named(&two)),
            name(&|html| _ = html.write_named(&two).write_named(&one)),
            name(&|html| _ = html.write_named(&one).tags("x").write_named(&two)),
            name(&|html| _ = html.tags("x").write_named(&one).write_named(&two)),
            name(&|html| _ = html.write_named(&one).write_named(&two).tags("x")),
            name(&|html| {
                _ = html.write_under_name(&blake3::hash(b"pair"), |html| {
                    _ = html.write_named(&one).write_named(&two);
                });
            }),
        ];
        let different: std::collections::HashSet<_> = names.iter().collect();
        assert_eq!(different.len(), names.len());
        assert_eq!(
            name(&|html| _ = html.write_named(&one).write_named(&short)),
            name(&|html| _ = html.write_named(&one).tags("a"))
        );
    }

    #[test]
    fn text_and_attribute_escaping_matches_maud() {
        for text in ["", "plain", "<script>\"&'</script>", "ü<ü>\u{10348}&", "&&", "a\nb"] {
            let ours = Html::build_markup(|html| {
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
