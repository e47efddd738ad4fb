//! The file paths of an export and the detection of collisions.

use std::collections::BTreeMap;

use docs_core::{Error, ErrorKind, Result};

use super::links::decode_path;
use crate::{assets::SITE_SEGMENT, visit::Visit};

/// Files at the root that are not pages.
const ROOT_FILES: [&str; 3] = ["robots.txt", "llms.txt", "404.html"];
/// Files at the root that only exist if the URL of the export is known.
const ADDRESSED_FILES: [&str; 2] = ["sitemap.xml", "rss.xml"];

/// Returns the file of a page, given its path below the site.
pub(super) fn page_file(path: &str) -> String {
    match decode_path(path.trim_end_matches('/')) {
        name if name.is_empty() => "index.html".to_owned(),
        name => format!("{name}/index.html"),
    }
}

/// Returns the file of a page's Markdown version, given the path of the page below the site.
pub(super) fn markdown_file(path: &str) -> String {
    let index = if path.is_empty() || path.ends_with('/') { "index" } else { "" };
    format!("{}{index}.md", decode_path(path))
}

/// Reserved paths of files and folders, each with a description of its use for error messages.
#[derive(Debug, Default)]
pub(super) struct TakenPaths {
    files: BTreeMap<String, String>,
    folders: BTreeMap<String, String>,
}

impl TakenPaths {
    /// Reserves the paths that are not pages.
    ///
    /// # Errors
    /// `Conflict` if one is already reserved.
    pub(super) fn reserve_own(&mut self, visit: &Visit) -> Result<()> {
        let addressed: &[&str] = if visit.has_address() { &ADDRESSED_FILES } else { &[] };
        for name in ROOT_FILES.iter().chain(addressed) {
            self.reserve(name, "the site itself")?;
        }
        self.reserve(&format!("{SITE_SEGMENT}/index.html"), "the site itself")
    }

    /// Reserves the path of a file.
    ///
    /// # Errors
    /// `Conflict` if the path is a folder, is below a file, or is already reserved.
    pub(super) fn reserve(&mut self, path: &str, whose: &str) -> Result<()> {
        if let Some(other) = self.files.get(path).or_else(|| self.folders.get(path)) {
            return Err(collision_error(path, whose, other));
        }
        for folder in path.match_indices('/').filter_map(|(end, _)| path.get(..end)) {
            if let Some(other) = self.files.get(folder) {
                return Err(collision_error(folder, whose, other));
            }
            if !self.folders.contains_key(folder) {
                self.folders.insert(folder.to_owned(), whose.to_owned());
            }
        }
        self.files.insert(path.to_owned(), whose.to_owned());
        Ok(())
    }
}

fn collision_error(path: &str, whose: &str, other: &str) -> Error {
    let why = format!(
        "the path `{path}` of {whose} is already in use by {other}; change the path of the page, and export \
         again"
    );
    Error::new(ErrorKind::Conflict, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conflicting_export_paths_are_rejected() {
        for (paths, taken) in [
            (["a/index.html", "a.md", "b/index.html"], false),
            (["a/index.html", "a/b/index.html", "a/b.md"], false),
            (["x", "a.md", "a.md/index.html"], true),
            (["a.md/index.html", "x", "a.md"], true),
            (["a/b/c", "x", "a/b"], true),
            (["a", "x", "a"], true),
        ] {
            let mut names = TakenPaths::default();
            let done: Vec<_> = paths.iter().map(|path| names.reserve(path, path).is_err()).collect();
            assert_eq!(done, [false, false, taken], "{paths:?}");
        }
    }
}
