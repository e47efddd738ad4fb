//! Tags: `{% name attribute="value" %}`.

use std::borrow::Cow;

use super::work_budget;
use crate::syntax::tag;

/// A parsed tag.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct TemplateTag<'a> {
    /// The first word, such as `hint`, `endhint` or `@mermaid/diagram`.
    pub(super) name: &'a str,
    /// The value without a name, as in `include` and `if`.
    pub(super) bare: Option<Cow<'a, str>>,
    /// Names and values in order. `None` for a name without a value.
    pub(super) attributes: Vec<(&'a str, Option<Cow<'a, str>>)>,
    /// The byte offset after the tag.
    pub(super) end: usize,
}

impl<'a> TemplateTag<'a> {
    /// Parses the tag at the beginning of `text`, after optional spaces.
    pub(super) fn read(text: &'a str) -> Option<Self> {
        let start = text.len() - text.trim_start_matches([' ', '\t']).len();
        let read = tag::Tag::read_at(text, start)
            .and_then(|found| Self::from_syntax(text, &found).ok_or(found.end.saturating_sub(start)));
        // Count the scanned bytes, because repeated text that resembles tags is scanned to its end each time.
        read.inspect_err(|bytes| work_budget::take_bytes(*bytes)).ok()
    }

    fn from_syntax(text: &'a str, found: &tag::Tag<'a>) -> Option<Self> {
        let mut tag = Self { name: found.name, bare: None, attributes: Vec::new(), end: found.end };
        tag.bare = found.condition().map(Cow::Borrowed);
        for value in found.values()? {
            match value.name {
                "" => tag.bare = Some(value.text(text)),
                name => tag.attributes.push((name, value.range.is_some().then(|| value.text(text)))),
            }
        }
        Some(tag)
    }

    /// Returns the value of an attribute, or `None` for a name without a value. The first of several attributes with
    /// the same name takes precedence.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(own, _)| *own == name)?.1.as_deref()
    }

    /// Returns the value of an attribute as an owned string.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.get(name).map(str::to_owned)
    }

    /// Parses a Boolean attribute. A name without a value is `true`. Returns `None` if the attribute is absent or is
    /// not Boolean.
    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        let (_, value) = self.attributes.iter().find(|(own, _)| *own == name)?;
        value.as_deref().map_or(Some(true), |value| value.parse().ok())
    }
}

/// Finds the ends of tags during a forward scan. Without this cache, each `{%` would cause a search through the rest of
/// the text.
pub(super) struct TagEndFinder<'a> {
    text: &'a str,
    /// The position of the next tag end.
    next: usize,
}

impl<'a> TagEndFinder<'a> {
    pub(super) const fn of(text: &'a str) -> Self {
        Self { text, next: 0 }
    }

    /// Returns `true` if a tag may begin at a position. Positions must not decrease between calls.
    pub(super) fn may_follow(&mut self, at: usize) -> bool {
        let Some(inside) = self.text.get(at..).and_then(|text| text.strip_prefix("{%")) else { return false };
        let start = at + 2;
        if self.next < start {
            let found = inside.find("%}");
            work_budget::step(found.unwrap_or(inside.len()));
            self.next = found.map_or(usize::MAX, |offset| start + offset);
        }
        self.next - start <= tag::MAX_TAG
    }
}

/// Writes ` name="value"`.
pub(super) fn attribute(out: &mut String, name: &str, value: &str) {
    out.push(' ');
    out.push_str(name);
    out.push_str("=\"");
    out.push_str(&tag::escaped(value, '"'));
    out.push('"');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn tag_names_and_attributes_are_parsed() {
        let tag = TemplateTag::read("  {% code title=\"a \\\"b\\\" %} c\" lineNumbers=\"true\" wide %} rest")
            .unwrap();
        assert_eq!((tag.name, tag.get("title")), ("code", Some("a \"b\" %} c")));
        assert_eq!(
            (tag.flag("lineNumbers"), tag.flag("wide"), tag.flag("x")),
            (Some(true), Some(true), None)
        );
        assert_eq!(TemplateTag::read("{% include \"a.md\" %}").unwrap().bare.as_deref(), Some("a.md"));
        let tag = TemplateTag::read("{% if visitor.x == \"a %} b\" && '%}' %}").unwrap();
        assert_eq!(tag.bare.as_deref(), Some("visitor.x == \"a %} b\" && '%}'"));
        assert_eq!(TemplateTag::read("{% file src='a.pdf' %}").unwrap().get("src"), Some("a.pdf"));
        assert_eq!(TemplateTag::read("{% embed\n  url=\"x\"\n%}").unwrap().get("url"), Some("x"));
    }

    #[test]
    fn invalid_tags_are_rejected() {
        for text in ["", "{%", "{%}", "{% %}", "{% hint", "x {% hint %}", "{% a \"b\" \"c\" %}", "{% =x %}"] {
            assert_eq!(TemplateTag::read(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_attribute_value_round_trips(value in "\\PC*") {
            let mut text = String::from("{% x");
            attribute(&mut text, "a", &value);
            text.push_str(" %}");
            let tag = TemplateTag::read(&text).unwrap();
            prop_assert_eq!(tag.get("a"), Some(value.as_str()));
        }

        #[test]
        fn arbitrary_text_never_panics(text in "(\\{%|%\\}|\"|'|=| |\\\\|\\n|if|a|ä|\\PC){0,60}") {
            if let Some(tag) = TemplateTag::read(&text) {
                prop_assert!(text.get(tag.end..).is_some());
            }
        }
    }
}
