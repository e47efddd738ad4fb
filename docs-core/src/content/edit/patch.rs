//! Fields as an edit gives them, and the rules they follow.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::{
    Body, ContentResult, MAX_SLUG, PageEntry, PageKind, ReusableEntry, clash_field, error::invalid, slugify,
};
use crate::{
    model::{ContentRef, GitBlob, MAX_VARIABLE_TEXT, PageCover, PageLayout, VariableValue},
    store::Hash,
};

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

/// Fields of a page to set. What is `None` stays; an inner `None` removes.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PagePatch {
    /// The title, not empty.
    pub title: Option<String>,
    /// The slug; made fit for a path, and numbered when a sibling has it. The empty slug means one of the title.
    pub slug: Option<String>,
    /// The emoji; setting one removes the icon.
    pub emoji: Option<Option<String>>,
    /// The icon; setting one removes the emoji.
    pub icon: Option<Option<String>>,
    /// What the page is about.
    pub description: Option<Option<String>>,
    /// What is shown.
    pub layout: Option<Option<PageLayout>>,
    /// The picture above it.
    pub cover: Option<Option<PageCover>>,
    /// Left out of the table of contents.
    pub hidden: Option<bool>,
    /// Left out of the platform's search.
    pub no_index: Option<bool>,
    /// Closed to web search engines.
    pub no_robots_index: Option<bool>,
    /// Variables of the page, all of them.
    pub variables: Option<BTreeMap<String, VariableValue>>,
    /// Who gets to see it; the empty expression removes it.
    pub condition: Option<Option<String>>,
    /// Where a link page leads.
    pub target: Option<ContentRef>,
    /// What a computed page is made from.
    pub computed: Option<Value>,
    /// Seeds the ids of what is computed.
    pub computed_seed: Option<Option<String>>,
    /// Where Git keeps it.
    pub git: Option<Option<GitBlob>>,
    /// Front matter the platform does not know, all of it.
    pub extra: Option<BTreeMap<String, Value>>,
}

impl PagePatch {
    /// A patch that sets the title.
    #[must_use]
    pub fn titled(title: &str) -> Self {
        Self { title: Some(title.to_owned()), ..Self::default() }
    }

    /// This patch, with the fields of another one put over it.
    #[must_use]
    pub fn overlaid(self, over: Self) -> Self {
        Self {
            title: over.title.or(self.title),
            slug: over.slug.or(self.slug),
            emoji: over.emoji.or(self.emoji),
            icon: over.icon.or(self.icon),
            description: over.description.or(self.description),
            layout: over.layout.or(self.layout),
            cover: over.cover.or(self.cover),
            hidden: over.hidden.or(self.hidden),
            no_index: over.no_index.or(self.no_index),
            no_robots_index: over.no_robots_index.or(self.no_robots_index),
            variables: over.variables.or(self.variables),
            condition: over.condition.or(self.condition),
            target: over.target.or(self.target),
            computed: over.computed.or(self.computed),
            computed_seed: over.computed_seed.or(self.computed_seed),
            git: over.git.or(self.git),
            extra: over.extra.or(self.extra),
        }
    }

    /// Checks the fields against each other and the kind of page, and sets all of them except the slug.
    pub(crate) fn apply(&self, entry: &mut PageEntry) -> ContentResult<()> {
        self.check(entry.kind)?;
        if matches!((&self.emoji, &self.icon), (Some(Some(_)), None)) {
            entry.icon = None;
        }
        if matches!((&self.icon, &self.emoji), (Some(Some(_)), None)) {
            entry.emoji = None;
        }
        set(&mut entry.title, &self.title);
        set(&mut entry.emoji, &self.emoji);
        set(&mut entry.icon, &self.icon);
        set(&mut entry.description, &self.description);
        set(&mut entry.layout, &self.layout);
        set(&mut entry.cover, &self.cover);
        set(&mut entry.hidden, &self.hidden);
        set(&mut entry.no_index, &self.no_index);
        set(&mut entry.no_robots_index, &self.no_robots_index);
        set(&mut entry.variables, &self.variables);
        set(&mut entry.condition, &self.condition);
        entry.condition = entry.condition.take().filter(|c| !c.is_empty());
        set(&mut entry.computed_seed, &self.computed_seed);
        set(&mut entry.git, &self.git);
        set(&mut entry.extra, &self.extra);
        if let Some(target) = &self.target {
            entry.target = Some(target.clone());
        }
        if let Some(computed) = &self.computed {
            entry.computed = Some(computed.clone());
        }
        let named = self.named();
        // Clashes of a set are named after the set and the element.
        entry.clash.retain(|name, _| !name.split('.').next().is_some_and(|field| named.contains(&field)));
        entry.clash.remove(clash_field::EXISTENCE);
        Ok(())
    }

    fn check(&self, kind: PageKind) -> ContentResult<()> {
        if let Some(title) = &self.title {
            check_title(title)?;
        }
        if matches!((&self.emoji, &self.icon), (Some(Some(_)), Some(Some(_)))) {
            return Err(invalid("icon", "cannot be set together with an emoji"));
        }
        if self.target.is_some() && kind != PageKind::Link {
            return Err(invalid("target", "is for links only"));
        }
        if self.computed.is_some() && !matches!(kind, PageKind::Computed | PageKind::Document) {
            return Err(invalid("computed", "is for computed pages and documents only"));
        }
        if self.slug.as_ref().is_some_and(|slug| !slug.is_empty()) {
            if !kind.has_slug() {
                return Err(invalid("slug", "is for documents and groups only"));
            }
            if self.slug.as_ref().is_some_and(|slug| slug.chars().count() > MAX_SLUG) {
                return Err(invalid("slug", "has more than 100 characters"));
            }
        }
        self.variables.as_ref().map_or(Ok(()), check_variables)
    }

    /// The JSON names of the fields that are set.
    fn named(&self) -> Vec<&'static str> {
        [
            (self.title.is_some(), "title"),
            (self.slug.is_some(), "slug"),
            (self.emoji.is_some(), "emoji"),
            (self.icon.is_some(), "icon"),
            (self.description.is_some(), "description"),
            (self.layout.is_some(), "layout"),
            (self.cover.is_some(), "cover"),
            (self.hidden.is_some(), "hidden"),
            (self.no_index.is_some(), "noIndex"),
            (self.no_robots_index.is_some(), "noRobotsIndex"),
            (self.variables.is_some(), "variables"),
            (self.condition.is_some(), "condition"),
            (self.target.is_some(), "target"),
            (self.computed.is_some(), "computed"),
            (self.computed_seed.is_some(), "computedSeed"),
            (self.extra.is_some(), "extra"),
        ]
        .into_iter()
        .filter_map(|(given, name)| given.then_some(name))
        .collect()
    }

    /// The slug a page gets: the one given, else one of its title, else one of its kind.
    pub(crate) fn wanted_slug(given: Option<&str>, entry: &PageEntry) -> String {
        let slug =
            given.map(slugify).filter(|slug| !slug.is_empty()).unwrap_or_else(|| slugify(&entry.title));
        if slug.is_empty() { "page".to_owned() } else { slug }
    }
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

/// Names are letters, digits and `_`, a letter first; texts have a limit.
pub(crate) fn check_variables(variables: &BTreeMap<String, VariableValue>) -> ContentResult<()> {
    for (name, value) in variables {
        let named = name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if !named {
            return Err(invalid(
                "variables",
                format!("has the name `{name}`: a letter, then letters, digits or _ are needed"),
            ));
        }
        if let VariableValue::Text(text) = value
            && text.chars().count() > MAX_VARIABLE_TEXT
        {
            return Err(invalid("variables", format!("has more than 256 characters in `{name}`")));
        }
    }
    Ok(())
}
