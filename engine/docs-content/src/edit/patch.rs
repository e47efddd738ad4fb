//! Fields as an edit gives them, and the rules they follow.

use std::collections::BTreeMap;

use docs_markup::{MAX_SLUG, PagePatch, slugify};
use docs_model::{GitBlob, VariableValue};
use docs_store::Hash;
use serde_json::Value;

use super::super::{Body, ContentResult, PageEntry, PageKind, ReusableEntry, clash_field, error::invalid};

/// A text as an edit gives it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum NewBody {
    /// No text.
    #[default]
    Empty,
    /// Markdown, stored byte for byte.
    Text(String),
    /// A body of other content of the same domain.
    Stored(Body),
}

impl NewBody {
    /// The body this makes; a text is named by its hash.
    #[must_use]
    pub fn body(&self) -> Body {
        match self {
            Self::Empty => Body::Empty,
            Self::Text(text) if text.is_empty() => Body::Empty,
            Self::Text(text) => Body::Text(Hash::of(text.as_bytes())),
            Self::Stored(body) => body.clone(),
        }
    }
}

impl From<&str> for NewBody {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// Checks the fields against each other and the kind of page, and sets all of them except the slug.
pub(crate) fn apply(fields: &PagePatch, entry: &mut PageEntry) -> ContentResult<()> {
    check(fields, entry.kind)?;
    if matches!((&fields.emoji, &fields.icon), (Some(Some(_)), None)) {
        entry.icon = None;
    }
    if matches!((&fields.icon, &fields.emoji), (Some(Some(_)), None)) {
        entry.emoji = None;
    }
    set(&mut entry.title, &fields.title);
    set(&mut entry.emoji, &fields.emoji);
    set(&mut entry.icon, &fields.icon);
    set(&mut entry.description, &fields.description);
    set(&mut entry.layout, &fields.layout);
    set(&mut entry.cover, &fields.cover);
    set(&mut entry.hidden, &fields.hidden);
    set(&mut entry.no_index, &fields.no_index);
    set(&mut entry.no_robots_index, &fields.no_robots_index);
    set(&mut entry.variables, &fields.variables);
    set(&mut entry.condition, &fields.condition);
    entry.condition = entry.condition.take().filter(|c| !c.is_empty());
    set(&mut entry.computed_seed, &fields.computed_seed);
    set(&mut entry.git, &fields.git);
    set(&mut entry.extra, &fields.extra);
    if let Some(target) = &fields.target {
        entry.target = Some(target.clone());
    }
    if let Some(computed) = &fields.computed {
        entry.computed = Some(computed.clone());
    }
    let named = named(fields);
    // Clashes of a set are named after the set and the element.
    entry.clash.retain(|name, _| !name.split('.').next().is_some_and(|field| named.contains(&field)));
    entry.clash.remove(clash_field::EXISTENCE);
    Ok(())
}

fn check(fields: &PagePatch, kind: PageKind) -> ContentResult<()> {
    if let Some(title) = &fields.title {
        check_title(title)?;
    }
    if matches!((&fields.emoji, &fields.icon), (Some(Some(_)), Some(Some(_)))) {
        return Err(invalid("icon", "cannot be set together with an emoji"));
    }
    if fields.target.is_some() && kind != PageKind::Link {
        return Err(invalid("target", "is for links only"));
    }
    if fields.computed.is_some() && !matches!(kind, PageKind::Computed | PageKind::Document) {
        return Err(invalid("computed", "is for computed pages and documents only"));
    }
    if fields.slug.as_ref().is_some_and(|slug| !slug.is_empty()) {
        if !kind.has_slug() {
            return Err(invalid("slug", "is for documents and groups only"));
        }
        if fields.slug.as_ref().is_some_and(|slug| slug.chars().count() > MAX_SLUG) {
            return Err(invalid("slug", "has more than 100 characters"));
        }
    }
    fields.variables.as_ref().map_or(Ok(()), check_variables)
}

/// The JSON names of the fields that are set.
fn named(fields: &PagePatch) -> Vec<&'static str> {
    [
        (fields.title.is_some(), "title"),
        (fields.slug.is_some(), "slug"),
        (fields.emoji.is_some(), "emoji"),
        (fields.icon.is_some(), "icon"),
        (fields.description.is_some(), "description"),
        (fields.layout.is_some(), "layout"),
        (fields.cover.is_some(), "cover"),
        (fields.hidden.is_some(), "hidden"),
        (fields.no_index.is_some(), "noIndex"),
        (fields.no_robots_index.is_some(), "noRobotsIndex"),
        (fields.variables.is_some(), "variables"),
        (fields.condition.is_some(), "condition"),
        (fields.target.is_some(), "target"),
        (fields.computed.is_some(), "computed"),
        (fields.computed_seed.is_some(), "computedSeed"),
        (fields.extra.is_some(), "extra"),
    ]
    .into_iter()
    .filter_map(|(given, name)| given.then_some(name))
    .collect()
}

/// The slug a page gets: the one given, else one of its title, else one of its kind.
pub(crate) fn wanted_slug(given: Option<&str>, entry: &PageEntry) -> String {
    let slug = given.map(slugify).filter(|slug| !slug.is_empty()).unwrap_or_else(|| slugify(&entry.title));
    if slug.is_empty() { "page".to_owned() } else { slug }
}

/// Fields of a reusable content to set. What is `None` stays; an inner `None` removes.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ReusablePatch {
    /// The title, not empty.
    pub title: Option<String>,
    /// The text.
    pub body: Option<NewBody>,
    /// What it is computed from.
    pub computed: Option<Option<Value>>,
    /// Seeds the ids of what is computed.
    pub computed_seed: Option<Option<String>>,
    /// Where Git keeps it.
    pub git: Option<Option<GitBlob>>,
    /// Front matter the platform does not know, all of it.
    pub extra: Option<BTreeMap<String, Value>>,
}

impl ReusablePatch {
    /// Checks the fields and sets all of them except the text.
    pub(crate) fn apply(&self, entry: &mut ReusableEntry) -> ContentResult<()> {
        if let Some(title) = &self.title {
            check_title(title)?;
            entry.clash.remove("title");
        }
        set(&mut entry.title, &self.title);
        set(&mut entry.computed, &self.computed);
        set(&mut entry.computed_seed, &self.computed_seed);
        set(&mut entry.git, &self.git);
        set(&mut entry.extra, &self.extra);
        entry.clash.remove(clash_field::EXISTENCE);
        Ok(())
    }
}

fn set<T: Clone>(field: &mut T, value: &Option<T>) {
    if let Some(value) = value {
        field.clone_from(value);
    }
}

fn check_title(title: &str) -> ContentResult<()> {
    if title.trim().is_empty() { Err(invalid("title", "is empty")) } else { Ok(()) }
}

/// Checks variables as [`docs_markup::check_variables`] does.
pub(crate) fn check_variables(variables: &BTreeMap<String, VariableValue>) -> ContentResult<()> {
    docs_markup::check_variables(variables).map_err(|error| invalid("variables", error.to_string()))
}
