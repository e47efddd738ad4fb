//! The text of generated pages for search.

use serde_json::Value;

use super::{GeneratedContent, GeneratedPage, TagPage, escape_text, overview};
use crate::{
    Error, Result,
    content::PageTree,
    model::MAX_PAGE_BYTES,
    platform::content::{computed::ComputedPlaces, openapi_specs::SpecSubject},
    ports::{SpecOperation, search::Section},
    store::Hash,
};

impl ComputedPlaces {
    /// Returns a hash of everything that the content of the pages generated at these places depends on.
    pub(in crate::platform) fn source_hash(&self, tree: &PageTree, places: &[usize]) -> Result<Hash> {
        let pages = places.iter().filter_map(|at| tree.pages().get(*at));
        let facts = pages.map(|page| serde_json::to_value(self.facts(&page.entry, &page.id)));
        let facts: Vec<Value> = facts.collect::<std::result::Result<_, _>>().map_err(Error::internal)?;
        Ok(Hash::compute(&serde_json::to_vec(&facts).map_err(Error::internal)?))
    }
}

impl GeneratedPage {
    /// Returns this page and its descendants, in depth-first order.
    pub(in crate::platform) fn with_descendants(&self) -> Vec<&Self> {
        let mut all = Vec::new();
        let mut stack = vec![self];
        while let Some(page) = stack.pop() {
            all.push(page);
            stack.extend(page.pages.iter().rev());
        }
        all
    }

    /// Returns a hash that changes with the text of the page.
    pub(in crate::platform) fn text_hash(&self) -> Hash {
        Hash::compute(format!("{} {}", self.spec.version, self.id).as_bytes())
    }

    /// Returns the text of the page as Markdown, without its operations and schemas.
    pub(in crate::platform) fn prose(&self) -> String {
        let pages = &self.spec.pages;
        match &self.what {
            GeneratedContent::Overview => overview::markdown(&pages.outline),
            GeneratedContent::Tag(number) => {
                let description = pages.pages[*number].tag.description.as_deref();
                description.map(escape_text).unwrap_or_default()
            }
            GeneratedContent::Group | GeneratedContent::Models | GeneratedContent::Download(_) => {
                String::new()
            }
        }
    }

    /// Returns the operations, webhooks and schemas of the page for the search index, up to the size of a page.
    pub(in crate::platform) fn reference_sections(&self) -> Vec<Section> {
        let pages = &self.spec.pages;
        let mut left = MAX_PAGE_BYTES;
        let mut fits = |section: &Section| {
            let bytes = section.text.len() + section.heading.as_ref().map_or(0, String::len);
            left = left.saturating_sub(bytes);
            left > 0
        };
        match &self.what {
            GeneratedContent::Tag(number) => {
                let TagPage { operations, webhooks, .. } = &pages.pages[*number];
                let operations = operations.iter().filter_map(|at| pages.outline.operations.get(*at));
                let operations = operations.map(|operation| section(operation, operation_subject));
                let webhooks = webhooks.iter().filter_map(|at| pages.outline.webhooks.get(*at));
                let webhooks = webhooks.map(|webhook| section(webhook, webhook_subject));
                operations.chain(webhooks).take_while(|section| fits(section)).collect()
            }
            GeneratedContent::Models => {
                let names = pages.outline.schemas.iter();
                let section = |name: &String| Section {
                    anchor: Some(SpecSubject::Schema(name.clone()).anchor()),
                    heading: Some(name.clone()),
                    text: String::new(),
                };
                names.map(section).take_while(|section| fits(section)).collect()
            }
            GeneratedContent::Overview | GeneratedContent::Group | GeneratedContent::Download(_) => {
                Vec::new()
            }
        }
    }
}

fn operation_subject(operation: &SpecOperation) -> SpecSubject {
    SpecSubject::Operation { method: operation.method.clone(), path: operation.path.clone() }
}

fn webhook_subject(webhook: &SpecOperation) -> SpecSubject {
    SpecSubject::Webhook { method: webhook.method.clone(), name: webhook.path.clone() }
}

/// Returns the section of an operation: its summary, method, path, id and tags.
fn section(operation: &SpecOperation, subject: fn(&SpecOperation) -> SpecSubject) -> Section {
    let SpecOperation { method, path, operation_id, summary, tags, .. } = operation;
    let name = format!("{} {path}", method.to_uppercase());
    let id = operation_id.iter().map(String::as_str);
    let words: Vec<&str> =
        [name.as_str()].into_iter().chain(id).chain(tags.iter().map(String::as_str)).collect();
    let text = words.join(" · ");
    Section {
        anchor: Some(subject(operation).anchor()),
        heading: Some(summary.clone().unwrap_or(name)),
        text,
    }
}
