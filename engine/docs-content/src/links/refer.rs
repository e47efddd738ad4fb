//! References in pages and reusable content blocks.

use std::collections::{BTreeMap, BTreeSet};

use docs_markup::{
    document,
    markdown::{LinkRole, links_and_specs},
    reference::parse_path,
    syntax::tag,
};
use docs_model::{ContentRef, JsonText, LinkRelation, PageCover};
use serde_json::Value;

use super::super::{
    Body, PageEntry, ReusableEntry, TextMerger,
    content::term_texts,
    evaluate,
    load::{PassResult, Session},
    text,
};

use crate::links::has_host_or_scheme;

/// The references of a source and their occurrences.
pub(crate) type SourceReferences = BTreeMap<(ContentRef, LinkRelation), Uses>;

/// The occurrences of a reference in a source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Uses {
    /// The number of occurrences.
    pub(crate) times: u64,
    /// `true` if every occurrence is subject to a condition.
    pub(crate) is_conditional: bool,
}

/// The fields of a record that can contain references.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct LinkFields {
    pub(crate) body: Body,
    cover: Option<PageCover>,
    target: Option<ContentRef>,
    computed: Option<JsonText<Value>>,
}

impl From<&PageEntry> for LinkFields {
    fn from(page: &PageEntry) -> Self {
        Self {
            body: page.body.clone(),
            cover: page.cover.clone(),
            target: page.target.clone(),
            computed: page.computed.clone(),
        }
    }
}

impl From<&ReusableEntry> for LinkFields {
    fn from(content: &ReusableEntry) -> Self {
        Self { body: content.body.clone(), computed: content.computed.clone(), ..Self::default() }
    }
}

impl LinkFields {
    /// Returns the references in the fields and in the given text of the body.
    pub(crate) fn references(&self, markdown: &str) -> SourceReferences {
        let mut found = SourceReferences::new();
        let mut add = |reference, relation| {
            let none = Uses { times: 0, is_conditional: false };
            found.entry((reference, relation)).or_insert(none).times += 1;
        };
        references_in_text(markdown, &mut add);
        if may_have_conditions(markdown) {
            let mut always = BTreeSet::new();
            references_in_text(&unconditional_text(markdown), &mut |reference, relation| {
                always.insert((reference, relation));
            });
            found.iter_mut().for_each(|(reference, uses)| uses.is_conditional = !always.contains(reference));
        }
        // References outside the text are never subject to a condition.
        let mut add = |reference, relation| {
            let none = Uses { times: 0, is_conditional: false };
            let uses = found.entry((reference, relation)).or_insert(none);
            (uses.times, uses.is_conditional) = (uses.times + 1, false);
        };
        let covers = self.cover.iter().flat_map(|cover| [&cover.reference, &cover.reference_dark]);
        for picture in covers.flatten() {
            add(picture.clone(), LinkRelation::DependsOn);
        }
        if let Some(target) = &self.target {
            add(target.clone(), LinkRelation::Reference);
        }
        let computed = self.computed.as_ref().map(JsonText::value);
        let sources = computed.as_ref().and_then(|it| it.get("dependencies")).and_then(Value::as_object);
        for source in sources.into_iter().flatten() {
            // The source of a computed page is stored as given and does not necessarily contain a reference.
            let reference = source.1.get("ref").and_then(|it| serde_json::from_value(it.clone()).ok());
            if let Some(reference) = reference {
                add(reference, LinkRelation::DependsOn);
            }
        }
        found
    }
}

/// Returns the references of a record. For a conflicting body, the text of the change request is used, because readers
/// see that text.
pub(crate) fn of_parts(
    session: &Session<'_>,
    merger: &dyn TextMerger,
    parts: &LinkFields,
) -> PassResult<SourceReferences> {
    let terms = term_texts(session, &parts.body)?;
    if let [only] = terms.as_slice() {
        return Ok(parts.references(only));
    }
    let terms: Vec<&str> = terms.iter().map(|t| &**t).collect();
    Ok(parts.references(&text::request_side(merger, &terms)))
}

/// Returns `true` if the text may contain conditions. Only the parser can determine where a tag ends, because the tag
/// may continue on lines with quotation markers.
fn may_have_conditions(markdown: &str) -> bool {
    tag::names(markdown).any(|name| name == "if")
}

/// Returns the text outside of conditions, or an empty string if it cannot be determined.
fn unconditional_text(markdown: &str) -> String {
    document::print(&evaluate::unconditional_content(&document::parse(markdown))).unwrap_or_default()
}

/// Calls `add` for each reference in a text.
pub(super) fn references_in_text(markdown: &str, add: &mut impl FnMut(ContentRef, LinkRelation)) {
    if markdown.is_empty() {
        return;
    }
    let (sites, specs) = links_and_specs(markdown);
    for site in sites {
        let relation = match site.role {
            LinkRole::Leads => LinkRelation::Reference,
            LinkRole::Embeds => LinkRelation::DependsOn,
        };
        if let Some(reference) = reference(&site.destination) {
            add(reference, relation);
        }
    }
    for spec in specs {
        add(ContentRef::OpenApi { spec }, LinkRelation::DependsOn);
    }
}

/// Parses a link destination in stored text. Returns `None` if it is empty or a `data:` URL.
///
/// Stored text refers to items by id; see [`reference`](docs_markup::reference). A query, a trailing slash and
/// surrounding whitespace are ignored, as is an anchor on a target that has none. Any other destination without a
/// scheme or host could not be resolved when it was stored; it is returned as a URL without a target.
pub(crate) fn reference(destination: &str) -> Option<ContentRef> {
    let text = destination.trim();
    let is_data = text.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("data:"));
    if text.is_empty() || text == "#" || is_data {
        return None;
    }
    let url = || ContentRef::Url { url: text.to_owned() };
    if has_host_or_scheme(text) {
        return Some(url());
    }
    if let Some(anchor) = text.strip_prefix('#') {
        return Some(ContentRef::Anchor { anchor: anchor.to_owned(), page: None, space: None });
    }
    let (path, anchor) = match text.split_once('#') {
        Some((path, anchor)) => (path, Some(anchor).filter(|anchor| !anchor.is_empty())),
        None => (text, None),
    };
    let path = path.split('?').next().unwrap_or_default();
    Some(parse_path(path.trim_end_matches('/'), anchor).unwrap_or_else(url))
}

#[cfg(test)]
mod tests {
    use super::*;
    use docs_markup::reference::destination;

    #[test]
    fn reference_round_trips_to_its_destination() {
        for text in [
            "https://x.example/a?b#c",
            "mailto:a@b.c",
            "//x.example",
            "../lost.md",
            "/pages/p1",
            "/pages/p1#top",
            "/files/f1",
            "/reusable-content/r1",
            "/spaces/s1",
            "/spaces/s1/pages/p1",
            "/spaces/s1/pages/p1#top",
            "/users/u1",
            "/collections/c1",
            "#top",
        ] {
            let found = reference(text).unwrap();
            assert_eq!(destination(&found), text);
        }
    }

    #[test]
    fn query_does_not_change_the_reference() {
        assert_eq!(reference("/files/f1?raw=true"), reference("/files/f1"));
        assert_eq!(reference(" /pages/p1/?x#top "), reference("/pages/p1#top"));
    }
}
