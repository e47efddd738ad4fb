//! Printing of opening tags, in HTML and in tag notation.

use docs_model::ContentRef;

use super::{html, tags, targets};

/// An opening tag with the attributes written so far.
pub(super) struct Opening {
    text: String,
    write: fn(&mut String, &str, &str),
    end: &'static str,
}

impl Opening {
    /// Begins a tag of an HTML element.
    pub(super) fn html(name: &str) -> Self {
        Self { text: format!("<{name}"), write: html::write_attribute, end: ">" }
    }

    /// Begins a tag in tag notation.
    pub(super) fn tag(name: &str) -> Self {
        Self { text: format!("{{% {name}"), write: tags::attribute, end: " %}" }
    }

    pub(super) fn value(mut self, name: &str, value: impl AsRef<str>) -> Self {
        (self.write)(&mut self.text, name, value.as_ref());
        self
    }

    pub(super) fn optional(self, name: &str, value: Option<impl AsRef<str>>) -> Self {
        match value {
            Some(value) => self.value(name, value),
            None => self,
        }
    }

    pub(super) fn flag(self, name: &str, value: Option<bool>) -> Self {
        self.optional(name, value.map(|value| value.to_string()))
    }

    pub(super) fn target(self, name: &str, target: &ContentRef) -> Self {
        self.value(name, targets::write(target))
    }

    /// Writes a name without a value, or a value without a name.
    pub(super) fn bare(mut self, written: &str) -> Self {
        self.text.extend([" ", written]);
        self
    }

    /// Writes the name of a set attribute without its value.
    pub(super) fn set(self, name: &str, is_set: bool) -> Self {
        if is_set { self.bare(name) } else { self }
    }

    pub(super) fn end(self) -> String {
        self.text + self.end
    }
}
