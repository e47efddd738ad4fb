//! Resolves links in Markdown from clients: to pages by id, path or name, and to files by id or name.
//!
//! They are stored as `/pages/<id>` and `/files/<id>`, so that they remain valid when pages move.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::warnings::EditWarnings;

use crate::{
    Error, Result,
    content::{
        View,
        markdown::{LinkKind, Resolution, links, rewrite_links},
    },
    model::{FileId, PageId},
};

/// The names assigned by a request to the pages and files it inserts.
#[derive(Default)]
pub(super) struct RequestNames {
    pages: BTreeMap<String, PageId>,
    files: BTreeMap<String, FileId>,
}

impl RequestNames {
    pub(super) fn add_page(&mut self, name: &str, id: &PageId) -> std::result::Result<(), &'static str> {
        self.check_unused(name)?;
        self.pages.insert(name.to_owned(), id.clone());
        Ok(())
    }

    pub(super) fn add_file(&mut self, name: &str, id: &FileId) -> std::result::Result<(), &'static str> {
        self.check_unused(name)?;
        self.files.insert(name.to_owned(), id.clone());
        Ok(())
    }

    fn check_unused(&self, name: &str) -> std::result::Result<(), &'static str> {
        let used = self.pages.contains_key(name) || self.files.contains_key(name);
        if used { Err("is a duplicate within this request") } else { Ok(()) }
    }

    pub(super) fn page_name(&self, id: &PageId) -> Option<String> {
        self.pages.iter().find(|(_, page)| *page == id).map(|(name, _)| name.clone())
    }

    /// Resolves a field to a page, by id or by request-local name.
    pub(super) fn page_id(&self, field: &str, text: &str) -> Result<PageId> {
        match self.pages.get(text) {
            Some(page) => Ok(page.clone()),
            None => text.parse().map_err(|_| Error::invalid(field, "no such page")),
        }
    }

    /// Returns `true` if the request inserts the page.
    pub(super) fn inserts(&self, id: &PageId) -> bool {
        self.pages.values().any(|page| page == id)
    }

    /// Returns `true` if the request inserts the file.
    pub(super) fn inserts_file(&self, id: &FileId) -> bool {
        self.files.values().any(|file| file == id)
    }

    /// Returns the file with this request-local name.
    pub(super) fn file_by_name(&self, name: &str) -> Option<FileId> {
        self.files.get(name).cloned()
    }

    /// Resolves a link destination to a file, by id or by request-local name.
    pub(super) fn file(&self, destination: &str) -> Option<FileId> {
        if let Some(id) = destination.strip_prefix("/files/") {
            return self.files.get(id).cloned().or_else(|| id.parse().ok());
        }
        self.files.get(destination.trim_start_matches("./")).cloned()
    }

    /// Returns a request-local name that is also the path of an existing page, which makes links ambiguous.
    pub(super) async fn clash(&self, view: &View) -> Result<Option<&str>> {
        for name in self.pages.keys().chain(self.files.keys()) {
            if view.find(name).await?.is_some() {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }
}

/// Returns the base of relative links in a page: its own folder if it has child pages, otherwise that of its parent.
pub(super) async fn link_base(view: &View, page: &PageId) -> Result<String> {
    let path = view.path_of(page).await?.unwrap_or_default();
    if view.children(Some(page)).await?.is_empty() {
        return Ok(path.rsplit_once('/').map_or_else(String::new, |(folder, _)| folder.to_owned()));
    }
    Ok(path)
}

/// Rewrites links to use ids. A link to a missing page becomes plain text unless the previous text contains the same
/// link, because an edit must not change links elsewhere in the text.
pub(super) async fn resolve(
    text: &str,
    before: &str,
    names: &RequestNames,
    view: &View,
    folder: &str,
    warnings: &mut EditWarnings,
) -> Result<String> {
    let mut answers = HashMap::new();
    for site in links(text) {
        let answer = resolve_link(&site.destination, site.kind, names, view, folder).await?;
        answers.insert((site.destination, site.kind), answer);
    }
    if answers.values().any(|answer| *answer == Resolution::Plain) {
        for site in links(before) {
            let answer = answers.get_mut(&(site.destination, site.kind));
            if let Some(answer) = answer.filter(|answer| **answer == Resolution::Plain) {
                *answer = Resolution::Keep;
            }
        }
    }
    let is_dead = |(destination, answer): &(&String, &Resolution)| match answer {
        Resolution::Plain => true,
        Resolution::Keep => is_relative(destination),
        Resolution::To(_) => false,
    };
    let answered = answers.iter().map(|((destination, _), answer)| (destination, answer));
    let mut dead: BTreeSet<String> =
        answered.filter(is_dead).map(|(destination, _)| destination.clone()).collect();
    if !dead.is_empty() {
        for site in links(before) {
            dead.remove(&site.destination);
        }
    }
    for destination in dead {
        warnings.add(&format!("the link to `{destination}` has no target"));
    }
    let new = rewrite_links(text, |site| {
        answers.get(&(site.destination.clone(), site.kind)).cloned().unwrap_or(Resolution::Keep)
    });
    Ok(new.into_owned())
}

async fn resolve_link(
    destination: &str,
    kind: LinkKind,
    names: &RequestNames,
    view: &View,
    folder: &str,
) -> Result<Resolution> {
    let (path, anchor) = match destination.split_once('#') {
        Some((path, anchor)) => (path, format!("#{anchor}")),
        None => (destination, String::new()),
    };
    if path.is_empty() || is_external(path) {
        return Ok(Resolution::Keep);
    }
    if let Some(file) = path.strip_prefix("/files/") {
        return Ok(match names.files.get(file) {
            Some(id) => Resolution::To(format!("/files/{id}")),
            None => Resolution::Keep,
        });
    }
    let plain = path.trim_start_matches("./");
    if let Some(file) = names.files.get(plain) {
        return Ok(Resolution::To(format!("/files/{file}")));
    }
    let page = match path.strip_prefix("/pages/") {
        Some(rest) => find_page(rest, names, view).await?,
        None if path.starts_with('/') => return Ok(Resolution::Keep),
        None => match names.pages.get(plain.trim_end_matches(".md")) {
            Some(page) => Some(page.clone()),
            None => match join_path(folder, path) {
                Some(path) => find_page(&path, names, view).await?,
                None => None,
            },
        },
    };
    let looks_like_page = path.starts_with("/pages/") || is_page_like(plain);
    Ok(match page {
        Some(page) => Resolution::To(format!("/pages/{page}{anchor}")),
        None if looks_like_page && kind == LinkKind::Link => Resolution::Plain,
        None => Resolution::Keep,
    })
}

/// Finds a page by its id, or by its path, given as slugs or as a file path of a repository.
async fn find_page(text: &str, names: &RequestNames, view: &View) -> Result<Option<PageId>> {
    let text = text.trim_matches('/');
    let slugs = match text {
        "README.md" | "" => {
            let first = view.children(None).await?;
            return Ok(first.into_iter().next().map(|(id, _)| id));
        }
        text => text.strip_suffix("/README.md").or_else(|| text.strip_suffix(".md")).unwrap_or(text),
    };
    if let Some(page) = names.pages.get(slugs) {
        return Ok(Some(page.clone()));
    }
    if let Ok(id) = slugs.parse::<PageId>()
        && view.page(&id).await?.is_some()
    {
        return Ok(Some(id));
    }
    Ok(view.find(slugs).await?.map(|(id, _)| id))
}

/// Joins a relative path to a folder. Returns `None` if the result is above the top level.
fn join_path(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Returns `true` if a destination is a relative path.
fn is_relative(destination: &str) -> bool {
    let path = destination.split('#').next().unwrap_or_default();
    !path.is_empty() && !path.starts_with('/') && !is_external(path)
}

/// Returns `true` if a destination has a scheme or a host.
fn is_external(path: &str) -> bool {
    let scheme = path.split([':', '/', '?']).next().unwrap_or_default();
    path.starts_with("//")
        || (path[scheme.len()..].starts_with(':')
            && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b)))
}

/// Returns `true` if a relative path looks like a page: Markdown, a folder, or a name without an extension.
fn is_page_like(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.is_empty() || name.to_ascii_lowercase().ends_with(".md") || !name.contains('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_destination_with_a_scheme_or_host_is_external() {
        for external in ["https://example.com", "mailto:a@b.c", "//host/x", "tel:1"] {
            assert!(is_external(external), "{external}");
        }
        for internal in ["./a.md", "a/b", "/pages/x", "a.md", "..", "1:2"] {
            assert!(!is_external(internal), "{internal}");
        }
    }

    #[test]
    fn relative_path_resolves_against_its_folder() {
        assert_eq!(join_path("a/b", "./c.md").as_deref(), Some("a/b/c.md"));
        assert_eq!(join_path("a/b", "../c/").as_deref(), Some("a/c"));
        assert_eq!(join_path("", "../c"), None);
    }
}
