//! The comparison page: the changes of a change request or revision, with word differences.

use docs_core::{
    ErrorKind, Result,
    content::{
        diff,
        document::{plain_text, print},
        document_allowance,
        expression::Allowance,
        run_in_place,
    },
    model::{Changed, ChangedPage, PageAttributes, SemanticChange},
    platform::ContentSnapshot,
};
use maud::{Markup, html};
use serde_json::Value;

use super::{Caches, PageContext, head::PageHead, shell};
use crate::{
    encode::encode_path,
    preview::{COMPARE, Preview},
    visit::Visit,
};

/// The maximum number of changes in the list.
const MAX_CHANGES: u32 = 500;
/// The number of pages whose text is compared on one comparison page. Each further page gets a link to a separate
/// comparison.
const COMPARED_TEXTS: usize = 20;
/// The size in bytes of the compared texts after which a comparison page compares no further pages.
const MAX_COMPARED_BYTES: usize = 1024 * 1024;
/// The maximum size in bytes of page text that is compared word by word.
const MAX_TEXT: usize = 512 * 1024;
/// The number of unchanged words shown around a change.
const CONTEXT_WORDS: usize = 40;
/// The maximum length of a shown field value, in characters.
const MAX_VALUE: usize = 200;

/// Returns the page that shows the changes of a preview, or of one of its pages. Returns `None` if the visit is not a
/// preview.
///
/// # Errors
/// Errors of the platform.
pub(crate) async fn compare_page(
    visit: &Visit,
    caches: &Caches,
    page: Option<&str>,
) -> Result<Option<String>> {
    let Some(preview) = &visit.preview else { return Ok(None) };
    let scene = PageContext::load(visit, caches).await?;
    let _rendering = caches.renderings.acquire_for(&visit.tenant().await?).await?;
    let found = visit.content(&preview.space).list_changes(Some(MAX_CHANGES)).await?;
    let mut texts = ComparedTexts::open(visit, preview).await?;
    let mut items = Vec::new();
    for change in &found.changes {
        let SemanticChange::PageEdited { page: of, attributes } = change else {
            if page.is_none() {
                items.push(change_line(&scene, change));
            }
            continue;
        };
        if page.is_some_and(|page| page != of.id.as_str()) {
            continue;
        }
        let text = match &attributes.document {
            Some(document) => match (texts.compare(document).await?, page) {
                (Some(text), _) => text,
                (None, None) => {
                    html! { p { a href={ (scene.base()) (COMPARE) "?page=" (of.id) } { "Compare the text" } } }
                }
                (None, Some(_)) => html! { p { "The text has too many conditions to be compared here." } },
            },
            None => Markup::default(),
        };
        items.push(entry(&scene, "changed", of, &html! { (fields(attributes)) (text) }));
    }
    let head = PageHead { title: format!("Changes of {}", preview.name()), ..PageHead::default() };
    let main = html! {
        article.compare {
            h1 { "What changed" }
            @if items.is_empty() { p { "Nothing changed." } }
            ul.changes { @for item in items { (item) } }
            @if let Some(more) = found.more { p { (more) " more changes are not shown." } }
        }
    };
    Ok(Some(shell::shell_with_markup(&scene, &head, &main).into_string()))
}

/// Renders a change as a single line.
fn change_line(scene: &PageContext<'_>, change: &SemanticChange) -> Markup {
    let plain = |kind: &str, name: &str, detail: &str| {
        html! { li { span class={ "kind " (kind) } { (kind) } " " b { (name) } " " span.about { (detail) } } }
    };
    match change {
        SemanticChange::PageCreated { page } => entry(scene, "added", page, &Markup::default()),
        SemanticChange::PageDeleted { page } => {
            plain("removed", &page.title, page.path.as_deref().unwrap_or_default())
        }
        SemanticChange::PageMoved { page, parent } => {
            let name = |page: &Option<ChangedPage>| match page {
                Some(page) => page.title.clone(),
                None => "the top level".to_owned(),
            };
            let (from, to) = (name(&parent.before), name(&parent.after));
            let way = if from == to { format!("within {to}") } else { format!("from {from} to {to}") };
            entry(scene, "moved", page, &html! { p.about { (way) } })
        }
        SemanticChange::PageEdited { page, attributes } => entry(scene, "changed", page, &fields(attributes)),
        SemanticChange::FileCreated { file } => plain("added", &file.name, "file"),
        SemanticChange::FileEdited { file, .. } => plain("changed", &file.name, "file"),
        SemanticChange::FileDeleted { file } => plain("removed", &file.name, "file"),
        SemanticChange::ReusableContentCreated { reusable_content: it } => {
            plain("added", &it.title, "reusable content")
        }
        SemanticChange::ReusableContentEdited { reusable_content: it, .. } => {
            plain("changed", &it.title, "reusable content")
        }
        SemanticChange::ReusableContentDeleted { reusable_content: it } => {
            plain("removed", &it.title, "reusable content")
        }
        SemanticChange::VariablesEdited { variables } => {
            let names: Vec<&str> = variables.keys().map(String::as_str).collect();
            plain("changed", "Variables", &names.join(", "))
        }
    }
}

/// Renders a change of an existing page, with a link to the page.
fn entry(scene: &PageContext<'_>, kind: &str, page: &ChangedPage, inner: &Markup) -> Markup {
    let href = page.path.as_ref().map(|path| format!("{}{}", scene.base(), encode_path(path)));
    html! {
        li {
            span class={ "kind " (kind) } { (kind) } " "
            @match href { Some(href) => a href=(href) { (page.title) }, None => b { (page.title) } }
            (inner)
        }
    }
}

/// Renders the changed fields of a page, except its text.
fn fields(attributes: &PageAttributes) -> Markup {
    let Ok(Value::Object(all)) = serde_json::to_value(attributes) else { return Markup::default() };
    let shown = |value: Option<&Value>| match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.chars().take(MAX_VALUE).collect(),
        Some(other) => other.to_string().chars().take(MAX_VALUE).collect(),
    };
    let rows: Vec<_> = all.iter().filter(|(name, _)| *name != "document").collect();
    html! {
        @if !rows.is_empty() {
            dl.fields {
                @for (name, change) in rows {
                    dt { (name) }
                    dd {
                        @let (before, after) = (shown(change.get("before")), shown(change.get("after")));
                        @if !before.is_empty() { del { (before) } " " }
                        @if !after.is_empty() { ins { (after) } }
                    }
                }
            }
        }
    }
}

/// Renders the word differences between two versions, unless one of them is too long.
fn compare_texts(before: &str, after: &str) -> Markup {
    if before.len().max(after.len()) > MAX_TEXT {
        return html! { p { "The text is too long to be compared here." } };
    }
    word_changes(before, after)
}

/// The texts of a comparison page. They are read from one snapshot, and their conditions share one budget.
struct ComparedTexts {
    content: ContentSnapshot,
    allowance: Allowance,
    pages_left: usize,
    bytes_left: usize,
}

impl ComparedTexts {
    async fn open(visit: &Visit, preview: &Preview) -> Result<Self> {
        Ok(Self {
            content: visit.snapshot(&preview.space).await?,
            allowance: document_allowance(),
            pages_left: COMPARED_TEXTS,
            bytes_left: MAX_COMPARED_BYTES,
        })
    }

    /// Renders the word differences of a page. Returns `None` beyond the limits of a comparison page.
    async fn compare(&mut self, document: &Changed<String>) -> Result<Option<Markup>> {
        if self.pages_left == 0 || self.bytes_left == 0 || self.is_exhausted() {
            return Ok(None);
        }
        self.pages_left -= 1;
        let before = self.text(document.before.as_deref()).await?;
        let after = self.text(document.after.as_deref()).await?;
        if self.is_exhausted() {
            // Content whose conditions were not evaluated is missing from the texts.
            return Ok(None);
        }
        self.bytes_left = self.bytes_left.saturating_sub(before.len() + after.len());
        Ok(Some(run_in_place(|| compare_texts(&before, &after))))
    }

    const fn is_exhausted(&self) -> bool {
        self.allowance.steps.0 == 0 || self.allowance.bytes == 0
    }

    /// Reads the text of a document by its id, as Markdown.
    async fn text(&mut self, id: Option<&str>) -> Result<String> {
        let Some(id) = id else { return Ok(String::new()) };
        let document = match self.content.document(id, &mut self.allowance).await {
            Ok(document) => document,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(String::new()),
            Err(error) => return Err(error),
        };
        // Content that Markdown cannot represent, such as a conflict, is compared as plain text.
        Ok(run_in_place(|| print(&document).unwrap_or_else(|_| plain_text(&document))))
    }
}

/// Splits text into words with their trailing spaces. A line break is a separate word.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for c in text.chars() {
        let begins = match words.last().and_then(|word| word.chars().last()) {
            None | Some('\n') => true,
            Some(last) => {
                c == '\n'
                    || (last.is_whitespace() && !c.is_whitespace())
                    || last.is_alphanumeric() != c.is_alphanumeric() && !c.is_whitespace()
            }
        };
        match words.last_mut() {
            Some(word) if !begins => word.push(c),
            _ => words.push(c.to_string()),
        }
    }
    words
}

/// Renders the word differences between two versions.
fn word_changes(before: &str, after: &str) -> Markup {
    let (old, new) = (words(before), words(after));
    let mut parts = Vec::new();
    let mut done = 0;
    for change in diff::changed(&old, &new) {
        parts.push(unchanged_words(&new[done..change.new.start], done > 0, true));
        let (gone, come) = (old[change.old].concat(), new[change.new.clone()].concat());
        parts.push(html! {
            @if !gone.is_empty() { del { (gone) } }
            @if !come.is_empty() { ins { (come) } }
        });
        done = change.new.end;
    }
    parts.push(unchanged_words(&new[done..], true, false));
    html! { pre.words { @for part in parts { (part) } } }
}

/// Renders unchanged words. If there are many, only those next to a change are shown.
fn unchanged_words(words: &[String], is_behind: bool, is_before: bool) -> Markup {
    let (first, last) =
        (if is_behind { CONTEXT_WORDS } else { 0 }, if is_before { CONTEXT_WORDS } else { 0 });
    if words.len() <= first + last {
        return html! { (words.concat()) };
    }
    let (start, end) = (words[..first].concat(), words[words.len() - last..].concat());
    html! { (start) span.cut { " … " } (end) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn word_changes_are_marked_and_text_is_escaped() {
        let drawn = word_changes("One <b> two three.\n", "One <b> four three.\n").into_string();
        assert_eq!(drawn, "<pre class=\"words\">One &lt;b&gt; <del>two </del><ins>four </ins>three.\n</pre>");
        let long = "word ".repeat(500);
        let drawn = word_changes(&long, &format!("{long}more")).into_string();
        assert!(drawn.contains("<ins>more</ins>") && drawn.len() < 1_000, "{drawn}");
    }

    #[test]
    fn words_concatenate_to_the_text() {
        for text in ["", "a", " a  b\n\nc-d, e", "\n", "é ü—x"] {
            assert_eq!(words(text).concat(), text);
        }
    }

    #[test]
    fn texts_longer_than_the_bound_are_not_compared() {
        let is_compared =
            |bytes: usize| compare_texts("b", &"a".repeat(bytes)).into_string().contains("<ins>aaa");
        assert_eq!([MAX_TEXT, MAX_TEXT + 1].map(is_compared), [true, false]);
    }

    #[test]
    fn values_of_fields_longer_than_the_bound_are_cut() {
        let shown = |characters: usize| {
            let title = Some(Changed { before: None, after: Some("ä".repeat(characters)) });
            let attributes = PageAttributes { title, ..PageAttributes::default() };
            fields(&attributes).into_string().matches('ä').count()
        };
        let lengths = [MAX_VALUE - 1, MAX_VALUE, MAX_VALUE + 1];
        assert_eq!(lengths.map(shown), [MAX_VALUE - 1, MAX_VALUE, MAX_VALUE]);
    }
}
