//! Paths inside a repository.

use std::{borrow::Borrow, fmt};

/// A place in a repository: names with `/` between them, none of them empty, `.` or `..`.
///
/// The empty path is the root of the repository. Such a path cannot lead out of it.
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

/// Why a text is no path inside the repository. Reads on from "the path".
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PathError {
    /// It starts at the root of a file system.
    #[error("must be relative, without a slash at the front")]
    Absolute,
    /// It leads out of the repository.
    #[error("leads out of the repository")]
    Leaves,
    /// It contains the NUL character.
    #[error("must not contain the NUL character")]
    Nul,
}

/// So that a part of a path is found without being copied. Order, equality and hash are those of the text.
impl Borrow<str> for RepoPath {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl RepoPath {
    /// Reads a path from the root of the repository. `.`, `..` and double slashes are resolved.
    ///
    /// # Errors
    /// [`PathError`] when it is absolute, leads out of the repository or contains NUL.
    pub fn new(text: &str) -> Result<Self, PathError> {
        Self::default().join(text)
    }

    /// The path that `relative` means when it is read in this folder.
    ///
    /// # Errors
    /// [`PathError`] when it is absolute, leads out of the repository or contains NUL.
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

    /// A place in this folder. The name is a plain one, or several with slashes between them.
    pub(super) fn child(&self, name: &str) -> Self {
        if self.is_root() { Self(name.into()) } else { Self(format!("{}/{name}", self.0).into()) }
    }

    /// The path as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Tells whether it is the root of the repository.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The folder it is in; the root for the root itself.
    #[must_use]
    pub fn folder(&self) -> Self {
        Self(self.0.rsplit_once('/').map_or("", |(folder, _)| folder).into())
    }

    /// The last name; empty for the root.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.rsplit_once('/').map_or(&*self.0, |(_, name)| name)
    }

    /// The last name without its extension. A name that only starts with a dot has no extension.
    #[must_use]
    pub fn stem(&self) -> &str {
        split_extension(self.name()).0
    }

    /// The part of the path below a folder; `None` when it is not below it.
    #[must_use]
    pub fn below(&self, folder: &Self) -> Option<&str> {
        if folder.is_root() {
            return (!self.is_root()).then_some(&self.0);
        }
        self.0.strip_prefix(&*folder.0)?.strip_prefix('/')
    }

    /// Tells whether the name has the extension of Markdown, in any case.
    #[must_use]
    pub fn is_markdown(&self) -> bool {
        has_extension(self.name(), "md") || has_extension(self.name(), "markdown")
    }

    /// Tells whether it is the `README.md` of its folder, in any case.
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

/// A name as what stands before its last dot, and the rest with the dot.
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
    fn a_path_knows_its_name_and_the_folders_above_it() {
        let path = RepoPath::new("docs/Read.Me.MD").unwrap();
        assert_eq!(path.name(), "Read.Me.MD");
        assert_eq!(path.stem(), "Read.Me");
        assert_eq!(path.folder().as_str(), "docs");
        assert!(path.is_markdown() && !path.is_readme());
        assert!(RepoPath::new("x/readme.Md").unwrap().is_readme());
        assert!(!RepoPath::new(".md").unwrap().is_markdown());
        assert_eq!(path.below(&RepoPath::new("docs").unwrap()), Some("Read.Me.MD"));
        assert_eq!(path.below(&RepoPath::new("doc").unwrap()), None);
        assert_eq!(path.below(&RepoPath::default()), Some("docs/Read.Me.MD"));
        assert_eq!(RepoPath::default().below(&RepoPath::default()), None);
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
