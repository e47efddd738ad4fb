//! Edit fields and their validation.

use std::collections::BTreeMap;

use docs_markup::{MAX_SLUG, slugify};
use docs_model::{ExtraFields, GitBlob, JsonText, PagePatch, VariableValue};
use docs_store::Hash;
use serde_json::Value;

use super::super::{
    Body, ContentResult, FieldClashes, PageEntry, PageKind, ReusableEntry, clash_field, entry::set,
    error::invalid,
};

const NO_TARGET: &str = "is required for a link";
const NO_SOURCE: &str = "is required for a computed page";

/// The text of an edit.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum NewBody {
    #[default]
    Empty,
    /// Markdown, stored byte for byte.
    Text(String),
    /// A body of other content in the same domain.
    Stored(Body),
}

impl NewBody {
    /// Returns a body that references the text by its hash.
    #[must_use]
    pub fn body(&self) -> Body {
        match self {
            Self::Empty => Body::Empty,
            Self::Text(text) if text.is_empty() => Body::Empty,
            Self::Text(text) => Body::Text(Hash::compute(text.as_bytes())),
            Self::Stored(body) => body.clone(),
        }
    }
}

impl From<&str> for NewBody {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// Validates the fields in combination and against the kind of the page, and sets all of them except the slug.
pub(crate) fn apply(fields: &PagePatch, entry: &mut PageEntry) -> ContentResult<()> {
    check(fields, entry.kind)?;
    if matches!((&fields.emoji, &fields.icon), (Some(Some(_)), None)) {
        entry.icon = None;
    }
    if matches!((&fields.icon, &fields.emoji), (Some(Some(_)), None)) {
        entry.emoji = None;
    }
    let slug = std::mem::take(&mut entry.slug);
    entry.set(fields);
    entry.slug = slug;
    entry.condition = entry.condition.take().filter(|c| !c.is_empty());
    remove_clashes(&mut entry.clash, &fields.names());
    Ok(())
}

/// Removes the clashes of the given fields. Clashes of set elements are named `field.element`.
fn remove_clashes(clashes: &mut JsonText<FieldClashes>, names: &[&str]) {
    clashes.change(|clashes| {
        clashes.retain(|name, _| !name.split('.').next().is_some_and(|field| names.contains(&field)));
        clashes.remove(clash_field::EXISTENCE);
    });
}

fn check(fields: &PagePatch, kind: PageKind) -> ContentResult<()> {
    if let Some(title) = &fields.title {
        check_title(title)?;
    }
    if matches!((&fields.emoji, &fields.icon), (Some(Some(_)), Some(Some(_)))) {
        return Err(invalid("icon", "must not be set together with `emoji`"));
    }
    match (&fields.target, kind) {
        (Some(None), PageKind::Link) => return Err(invalid("target", NO_TARGET)),
        (Some(_), kind) if kind != PageKind::Link => {
            return Err(invalid("target", "is allowed for links only"));
        }
        _ => {}
    }
    match (&fields.computed, kind) {
        (Some(None), PageKind::Computed) => return Err(invalid("computed", NO_SOURCE)),
        (Some(_), PageKind::Group | PageKind::Link) => {
            return Err(invalid("computed", "is allowed for computed pages and documents only"));
        }
        _ => {}
    }
    if fields.slug.as_ref().is_some_and(|slug| !slug.is_empty()) {
        if !kind.has_slug() {
            return Err(invalid("slug", "is allowed for documents and groups only"));
        }
        if fields.slug.as_ref().is_some_and(|slug| slug.chars().count() > MAX_SLUG) {
            return Err(invalid("slug", format!("must be at most {MAX_SLUG} characters")));
        }
    }
    fields.variables.as_ref().map_or(Ok(()), |variables| check_variables(&variables.value()))
}

/// Rejects a new page that lacks fields required for its kind.
pub(crate) fn check_complete(entry: &PageEntry) -> ContentResult<()> {
    match entry.kind {
        PageKind::Link if entry.target.is_none() => Err(invalid("target", NO_TARGET)),
        PageKind::Computed if entry.computed.is_none() => Err(invalid("computed", NO_SOURCE)),
        PageKind::Document | PageKind::Group | PageKind::Link | PageKind::Computed => Ok(()),
    }
}

/// Returns the wanted slug of a page: the given slug if it is usable, otherwise one derived from the title, or `page`.
pub(crate) fn wanted_slug(given: Option<&str>, entry: &PageEntry) -> String {
    let slug = given.map(slugify).filter(|slug| !slug.is_empty()).unwrap_or_else(|| slugify(&entry.title));
    if slug.is_empty() { "page".to_owned() } else { slug }
}

/// A patch of a reusable content block. An outer `None` leaves a field unchanged, an inner `None` removes its value.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ReusablePatch {
    /// The title. It must not be empty.
    pub title: Option<String>,
    pub body: Option<NewBody>,
    /// The source of a computed block.
    pub computed: Option<Option<JsonText<Value>>>,
    /// The seed from which the ids of computed blocks are derived.
    pub computed_seed: Option<Option<String>>,
    /// The Git blob of the block.
    pub git: Option<Option<GitBlob>>,
    /// The hash of the source file's text, which must already be stored.
    pub source: Option<Option<Hash>>,
    /// All front matter fields that the platform does not interpret.
    pub extra: Option<JsonText<ExtraFields>>,
}

impl ReusablePatch {
    /// Validates the fields and sets all of them except the text.
    pub(crate) fn apply(&self, entry: &mut ReusableEntry) -> ContentResult<()> {
        self.title.as_deref().map_or(Ok(()), check_title)?;
        set(&mut entry.title, &self.title);
        set(&mut entry.computed, &self.computed);
        set(&mut entry.computed_seed, &self.computed_seed);
        set(&mut entry.git, &self.git);
        set(&mut entry.source, &self.source);
        set(&mut entry.extra, &self.extra);
        remove_clashes(&mut entry.clash, &self.names());
        Ok(())
    }

    /// Returns the JSON names of the fields that the patch sets.
    fn names(&self) -> Vec<&'static str> {
        let given = [
            (self.title.is_some(), "title"),
            (self.computed.is_some(), "computed"),
            (self.computed_seed.is_some(), "computedSeed"),
            (self.extra.is_some(), "extra"),
        ];
        given.into_iter().filter_map(|(is_given, name)| is_given.then_some(name)).collect()
    }
}

fn check_title(title: &str) -> ContentResult<()> {
    if title.trim().is_empty() { Err(invalid("title", "is empty")) } else { Ok(()) }
}

/// Validates variables with [`docs_markup::check_variables`].
pub(crate) fn check_variables(variables: &BTreeMap<String, VariableValue>) -> ContentResult<()> {
    docs_markup::check_variables(variables).map_err(|error| invalid("variables", error.to_string()))
}
