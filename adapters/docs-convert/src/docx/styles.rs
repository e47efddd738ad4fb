//! Paragraph and character styles: headings, quotes, code, lists, bold and italic text.

use std::collections::HashMap;

use super::xml::{Element, Xml};

/// Maximum length of a chain of base styles.
const MAX_BASED: usize = 20;

/// The role of a paragraph, derived from its style.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    Title,
    /// A heading with its level, counting from 1.
    Heading(u8),
    Quote,
    Code,
    /// A line of a table of contents.
    Contents,
    Text,
}

#[derive(Debug)]
struct Style {
    /// The role by the name or outline level of the style itself.
    role: Role,
    /// The index of the base style.
    based_on: Option<usize>,
    list: Option<(String, usize)>,
    /// The properties of text that a character style sets, with `false` for those it switches off.
    marks: Vec<(&'static str, bool)>,
}

/// The properties of text that are shown.
const MARKS: [&str; 6] = ["b", "i", "strike", "dstrike", SUPERSCRIPT, SUBSCRIPT];
/// The values of `vertAlign`.
pub(super) const SUPERSCRIPT: &str = "superscript";
pub(super) const SUBSCRIPT: &str = "subscript";

/// The styles of a document.
#[derive(Debug, Default)]
pub(super) struct Styles {
    styles: Vec<Style>,
    /// The indexes of the styles by id.
    ids: HashMap<String, usize>,
}

impl Styles {
    pub(super) fn read(xml: &Xml) -> Self {
        let mut read = Self::default();
        let mut bases = Vec::new();
        for style in xml.root().descendants().filter(|element| element.name() == "style") {
            let Some(id) = style.id("styleId") else { continue };
            let value = |name: &str| style.child(name).and_then(|child| child.value());
            let properties = style.child("pPr");
            let outline = properties.and_then(|it| it.child("outlineLvl")).and_then(|it| it.value());
            // Outline level 10 means body text.
            let outline = outline.and_then(|level| level.parse::<u8>().ok()).filter(|level| *level < 9);
            let role = match (role_of(&value("name").unwrap_or(id).to_lowercase()), outline) {
                (Role::Text, Some(level)) => Role::Heading(level + 1),
                (role, _) => role,
            };
            let list = properties.and_then(|it| it.child("numPr"));
            let list = list.and_then(|list| {
                let id = list.child("numId")?.id("val")?.to_owned();
                let level = list.child("ilvl").and_then(|level| level.value()?.parse().ok());
                Some((id, level.unwrap_or_default()))
            });
            let marks = if style.attribute("type") == Some("character") { marks(style) } else { Vec::new() };
            read.ids.insert(id.to_owned(), read.styles.len());
            bases.push(style.child("basedOn").and_then(|base| base.id("val")));
            read.styles.push(Style { role, based_on: None, list, marks });
        }
        for (style, base) in read.styles.iter_mut().zip(bases) {
            style.based_on = base.and_then(|base| read.ids.get(base).copied());
        }
        read
    }

    /// Returns a style and its base styles, at most [`MAX_BASED`].
    fn chain(&self, style: &str) -> impl Iterator<Item = &Style> {
        let first = self.ids.get(style).copied();
        let all = std::iter::successors(first, |at| self.styles.get(*at)?.based_on);
        all.take(MAX_BASED).filter_map(|at| self.styles.get(at))
    }

    /// Returns the role of paragraphs with a style.
    pub(super) fn role(&self, style: &str) -> Role {
        // Without a style table, only style ids are available.
        if self.styles.is_empty() {
            return role_of(&style_name_from_id(style));
        }
        let mut roles = self.chain(style).map(|style| style.role);
        roles.find(|role| *role != Role::Text).unwrap_or(Role::Text)
    }

    /// Returns the list that a style assigns, and the level.
    pub(super) fn list(&self, style: &str) -> Option<(&str, usize)> {
        let list = self.chain(style).find_map(|style| style.list.as_ref());
        list.map(|(list, level)| (list.as_str(), *level))
    }

    /// Returns `true` if a character style switches on a property of text, itself or through its base styles.
    pub(super) fn has_mark(&self, style: &str, mark: &str) -> bool {
        let own = |style: &Style| style.marks.iter().find(|(name, _)| *name == mark).map(|(_, is_on)| *is_on);
        self.chain(style).find_map(own).unwrap_or(false)
    }

    /// Returns `true` if text with this style is code.
    pub(super) fn is_code(&self, style: &str) -> bool {
        self.role(style) == Role::Code
    }
}

/// Returns the properties of text that a style sets.
fn marks(style: Element<'_>) -> Vec<(&'static str, bool)> {
    let Some(properties) = style.child("rPr") else { return Vec::new() };
    let align = properties.child("vertAlign").and_then(|align| align.value());
    let set = |name: &&'static str| match *name {
        SUPERSCRIPT | SUBSCRIPT => align.map(|align| (*name, align == *name)),
        name => properties.child(name).map(|_| (name, properties.is_toggled_on(name))),
    };
    MARKS.iter().filter_map(set).collect()
}

/// Returns the role for a style name in lower case. Word stores built-in style names in English in every language.
fn role_of(name: &str) -> Role {
    if let Some(level) = name.strip_prefix("heading ").and_then(|level| level.trim().parse().ok()) {
        return Role::Heading(level);
    }
    match name {
        "title" => Role::Title,
        "quote" | "intense quote" | "block text" | "quotations" => Role::Quote,
        _ if name.starts_with("toc ") => Role::Contents,
        _ if ["code", "preformatted", "source code", "verbatim"].iter().any(|word| name.contains(word)) => {
            Role::Code
        }
        _ => Role::Text,
    }
}

/// Converts a style id such as `Heading1` to a name such as `heading 1`.
fn style_name_from_id(id: &str) -> String {
    let stem = id.trim_end_matches(|c: char| c.is_ascii_digit());
    format!("{} {}", stem.to_lowercase(), &id[stem.len()..]).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::{super::xml::MAX_ID, *};

    /// Returns the role of the first style in a chain where only the last style is a heading. Ids have a prefix.
    fn role_of_chain(length: usize, prefix: &str) -> Role {
        let style = |at: usize| {
            let name = if at == length { "heading 1" } else { "other" };
            let next = at + 1;
            format!(
                "<style styleId=\"{prefix}{at}\"><name val=\"{name}\"/><basedOn val=\"{prefix}{next}\"/></style>"
            )
        };
        let styles: String = (1..=length).map(style).collect();
        let styles = Styles::read(&Xml::read(&format!("<styles>{styles}</styles>")).expect("a part"));
        styles.role(&format!("{prefix}1"))
    }

    #[test]
    fn base_styles_beyond_the_bound_are_left_out() {
        let roles = [MAX_BASED, MAX_BASED + 1].map(|length| role_of_chain(length, ""));
        assert_eq!(roles, [Role::Heading(1), Role::Text]);
    }

    #[test]
    fn styles_with_ids_longer_than_the_bound_are_ignored() {
        let roles = [MAX_ID - 1, MAX_ID].map(|length| role_of_chain(2, &"i".repeat(length)));
        assert_eq!(roles, [Role::Heading(1), Role::Text]);
    }

    #[test]
    fn the_last_style_with_an_id_is_used() {
        let style = |name| format!("<style styleId=\"a\"><name val=\"{name}\"/></style>");
        let styles = format!("<styles>{}{}</styles>", style("title"), style("quote"));
        let styles = Styles::read(&Xml::read(&styles).expect("a part"));
        assert_eq!(styles.role("a"), Role::Quote);
    }
}
