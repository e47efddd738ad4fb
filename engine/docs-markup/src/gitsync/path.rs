//! Paths inside a repository.

use std::{borrow::Borrow, fmt};

/// A path in a repository: non-empty names separated by `/`, except `.` and `..`.
///
/// The empty path is the root of the repository. A path is never outside the repository.
///
/// ```
/// use docs_markup::gitsync::RepoPath;
///
/// let folder = RepoPath::new("docs/guides")?;
/// assert_eq!(folder.join("../images//./a.png")?.as_str(), "docs/images/a.png");
/// assert!(folder.join("../../../etc/passwd").is_err());
/// # Ok::<(), docs_markup::gitsync::PathError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct RepoPath(Box<str>);

/// The error for an invalid path. The message completes a sentence that starts with "the path".
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PathError {
    #[error("must be relative, without a leading slash")]
    Absolute,
    /// The path is outside the repository.
    #[error("must be within the repository")]
    Leaves,
    #[error("must not contain the NUL character")]
    Nul,
}

/// Allows map lookups by a borrowed path prefix. Order, equality and hash are those of the string.
impl Borrow<str> for RepoPath {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl RepoPath {
    /// Parses a path relative to the root of the repository. `.`, `..` and double slashes are resolved.
    ///
    /// # Errors
    /// [`PathError`] if the path is absolute, is outside the repository or contains NUL.
    pub fn new(text: &str) -> Result<Self, PathError> {
        Self::default().join(text)
    }

    /// Resolves `relative` against this folder.
    ///
    /// # Errors
    /// [`PathError`] if the path is absolute, is outside the repository or contains NUL.
    pub fn join(&self, relative: &str) -> Result<Self, PathError> {
        if relative.contains('\0') {
            return Err(PathError::Nul);
        }
        if relative.starts_with('/') {
            return Err(PathError::Absolute);
        }
        let mut path = self.0.to_string();
        for part in relative.split('/') {
            match part {
                "" | "." => {}
                ".." if path.is_empty() => return Err(PathError::Leaves),
                ".." => path.truncate(path.rfind('/').unwrap_or(0)),
                name => {
                    if !path.is_empty() {
                        path.push('/');
                    }
                    path.push_str(name);
                }
            }
        }
        Ok(Self(path.into()))
    }

    /// Returns a path in this folder. `name` is one normalized name, or several joined by slashes.
    pub(super) fn child(&self, name: &str) -> Self {
        if self.is_root() { Self(name.into()) } else { Self(format!("{}/{name}", self.0).into()) }
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the parent folder, or the root for the root itself.
    #[must_use]
    pub fn folder(&self) -> Self {
        Self(self.0.rsplit_once('/').map_or("", |(folder, _)| folder).into())
    }

    /// Returns the last name, or an empty string for the root.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.rsplit_once('/').map_or(&*self.0, |(_, name)| name)
    }

    /// Returns the last name without its extension. A leading dot does not begin an extension.
    #[must_use]
    pub fn stem(&self) -> &str {
        split_extension(self.name()).0
    }

    /// Returns the path relative to a folder, or `None` if it is not below the folder.
    #[must_use]
    pub fn relative_to(&self, folder: &Self) -> Option<&str> {
        if folder.is_root() {
            return (!self.is_root()).then_some(&self.0);
        }
        self.0.strip_prefix(&*folder.0)?.strip_prefix('/')
    }

    /// Returns the path relative to its closest common ancestor with `folder`, preceded by the number of levels from
    /// `folder` up to that ancestor.
    pub(super) fn seen_from(&self, folder: &Self) -> (usize, &str) {
        let (mut above, mut count) = (folder.clone(), 0);
        while !above.is_root() && above != *self && self.relative_to(&above).is_none() {
            (above, count) = (above.folder(), count + 1);
        }
        (count, self.relative_to(&above).unwrap_or_default())
    }

    /// Returns `true` if the name has a Markdown extension, ignoring case.
    #[must_use]
    pub fn is_markdown(&self) -> bool {
        has_extension(self.name(), "md") || has_extension(self.name(), "markdown")
    }

    /// Returns `true` for the page of a folder in a book with the landing page `landing`: a `README.md`, or an
    /// `index.md` that is not next to the landing page. The landing page itself is not the page of a folder.
    pub(super) fn is_folder_page(&self, landing: &Self) -> bool {
        let is_index = || self.is_markdown() && self.stem().eq_ignore_ascii_case("index");
        self != landing && (self.is_readme() || (is_index() && self.folder() != landing.folder()))
    }

    /// Returns `true` if the name is `README.md`, ignoring case.
    #[must_use]
    pub fn is_readme(&self) -> bool {
        self.is_markdown() && self.stem().eq_ignore_ascii_case("readme")
    }
}

impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Splits a name before its last dot, which becomes part of the extension.
pub(super) fn split_extension(name: &str) -> (&str, &str) {
    match name.rfind('.') {
        Some(dot) if dot > 0 => name.split_at(dot),
        _ => (name, ""),
    }
}

fn has_extension(name: &str, extension: &str) -> bool {
    split_extension(name).1.strip_prefix('.').is_some_and(|it| it.eq_ignore_ascii_case(extension))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn paths_are_resolved() {
        for (base, relative, path) in [
            ("", "a.md", "a.md"),
            ("", "./a//b/", "a/b"),
            ("docs", "", "docs"),
            ("docs", ".", "docs"),
            ("docs", "..", ""),
            ("docs/a", "../b/../c.md", "docs/c.md"),
            ("docs", ".../x", "docs/.../x"),
            ("", "a\\b", "a\\b"),
        ] {
            assert_eq!(
                RepoPath::new(base).unwrap().join(relative).unwrap().as_str(),
                path,
                "{base} {relative}"
            );
        }
    }

    #[test]
    fn a_path_that_leaves_the_repository_is_refused() {
        assert_eq!(RepoPath::new(".."), Err(PathError::Leaves));
        assert_eq!(RepoPath::new("a/../../b"), Err(PathError::Leaves));
        assert_eq!(RepoPath::new("/etc"), Err(PathError::Absolute));
        assert_eq!(RepoPath::new("a\0b"), Err(PathError::Nul));
    }

    #[test]
    fn path_returns_its_name_stem_folder_and_relative_path() {
        let path = RepoPath::new("docs/Read.Me.MD").unwrap();
        assert_eq!(path.name(), "Read.Me.MD");
        assert_eq!(path.stem(), "Read.Me");
        assert_eq!(path.folder().as_str(), "docs");
        assert!(path.is_markdown() && !path.is_readme());
        assert!(RepoPath::new("x/readme.Md").unwrap().is_readme());
        assert!(!RepoPath::new(".md").unwrap().is_markdown());
        assert_eq!(path.relative_to(&RepoPath::new("docs").unwrap()), Some("Read.Me.MD"));
        assert_eq!(path.relative_to(&RepoPath::new("doc").unwrap()), None);
        assert_eq!(path.relative_to(&RepoPath::default()), Some("docs/Read.Me.MD"));
        assert_eq!(RepoPath::default().relative_to(&RepoPath::default()), None);
    }

    proptest! {
        #[test]
        fn no_path_leaves_the_repository(base in "[a-c./]{0,12}", relative in "[a-c./]{0,24}") {
            if let Ok(path) = RepoPath::new(&base).and_then(|base| base.join(&relative)) {
                prop_assert!(path.is_root() || path.as_str().split('/').all(|part| !matches!(part, "" | "." | "..")));
                prop_assert_eq!(RepoPath::new(path.as_str()), Ok(path));
            }
        }
    }
}
