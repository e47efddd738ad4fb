//! Fields of a page, as front matter or an edit gives them.

use std::collections::BTreeMap;

use docs_model::{ContentRef, GitBlob, MAX_VARIABLE_TEXT, PageCover, PageLayout, VariableValue};
use serde_json::Value;

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
}

/// Why variables are none: what is wrong with the first one that breaks a rule.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct NotVariables(String);

/// Tells whether variables follow their rules: names are letters, digits and `_`, a letter first; texts have a limit.
///
/// # Errors
/// Names the first variable that does not.
pub fn check_variables(variables: &BTreeMap<String, VariableValue>) -> Result<(), NotVariables> {
    for (name, value) in variables {
        let named = name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if !named {
            return Err(NotVariables(format!(
                "has the name `{name}`: a letter, then letters, digits or _ are needed"
            )));
        }
        if let VariableValue::Text(text) = value
            && text.chars().count() > MAX_VARIABLE_TEXT
        {
            return Err(NotVariables(format!("has more than 256 characters in `{name}`")));
        }
    }
    Ok(())
}
