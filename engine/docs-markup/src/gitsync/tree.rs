//! The contents of a commit, with its symbolic links resolved.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    ops::Bound,
};

use docs_model::MAX_FILE_BYTES;

use super::{FormatError, RepoPath, Warning, report::Warnings};

/// An entry of a commit, as listed by Git. Folders have no entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CommitEntry {
    /// The path relative to the root of the repository.
    pub path: String,
    /// The size in bytes.
    pub size: u64,
    pub kind: EntryKind,
}

/// The type of an entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EntryKind {
    File,
    /// An executable file.
    Executable,
    /// A symbolic link with its literal target.
    Symlink(String),
    Submodule,
}

/// A file that an import reads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlannedFile {
    /// The path that identifies the file: in links, in the table of contents, and as the path of the page in Git.
    pub path: RepoPath,
    /// The path of the content, which differs if the path includes a symbolic link.
    pub source: RepoPath,
    /// The size in bytes.
    pub size: u64,
    pub is_executable: bool,
}

/// The files of a commit, by path.
///
/// Symbolic links are resolved when a file is looked up. A link that points outside the repository or is circular has
/// no file. Such links and submodules are left out with a warning.
#[derive(Clone, Debug, Default)]
pub struct RepoTree {
    nodes: BTreeMap<RepoPath, RepoNode>,
    /// Maps lower-case paths to the actual paths. The value is `None` if several paths differ only in case.
    folded: HashMap<String, Option<RepoPath>>,
    readmes: HashMap<RepoPath, RepoPath>,
    /// The literal targets of symbolic links.
    links: HashMap<RepoPath, String>,
    submodules: BTreeSet<RepoPath>,
    /// Paths that links may use for another file: the page with the whole book, in the output of mdBook.
    aliases: HashMap<RepoPath, RepoPath>,
    warnings: Warnings,
}

#[derive(Clone, Debug)]
enum RepoNode {
    File { size: u64, is_executable: bool },
    Link,
}

/// Maximum number of links that are followed for one path, as in most file systems.
const MAX_LINKS: usize = 40;

/// Maximum length of a path that may include symbolic links, as in most file systems.
const MAX_LINKED_PATH: usize = 4_096;

impl RepoTree {
    /// Creates a tree from the entries of a commit, in any order.
    #[must_use]
    pub fn new(entries: impl IntoIterator<Item = CommitEntry>) -> Self {
        let mut tree = Self::default();
        for entry in entries {
            tree.add(entry);
        }
        let mut links: Vec<&RepoPath> = tree.links.keys().collect();
        links.sort_unstable();
        let skipped: Vec<(RepoPath, &str)> =
            links.into_iter().filter_map(|link| Some((link.clone(), tree.reason_to_skip(link)?))).collect();
        for (link, reason) in skipped {
            tree.warnings.push(&link, None, format!("skipped symbolic link: {reason}"));
        }
        tree
    }

    /// Returns why a symbolic link cannot be resolved, or `None` if its target is a file, a folder or a submodule.
    fn reason_to_skip(&self, link: &RepoPath) -> Option<&'static str> {
        match self.resolve(link) {
            Ok(target) => (!self.exists(&target)).then_some("its target is missing"),
            Err(FormatError::LinkLoops { .. }) => Some("it is circular"),
            Err(_) => Some("it must stay within the repository"),
        }
    }

    /// Returns the file at a path, following symbolic links, or `None` if it is missing or a folder.
    ///
    /// # Errors
    /// [`FormatError::FileTooLarge`] if it is larger than [`MAX_FILE_BYTES`].
    pub fn file(&self, path: &RepoPath) -> Result<Option<PlannedFile>, FormatError> {
        self.file_within(path, MAX_FILE_BYTES)
    }

    /// Same as [`file`](Self::file), but with another size limit, so that an oversized file is rejected before it is
    /// read.
    ///
    /// # Errors
    /// The errors of [`file`](Self::file), with `limit` instead of [`MAX_FILE_BYTES`].
    pub fn file_within(&self, path: &RepoPath, limit: u64) -> Result<Option<PlannedFile>, FormatError> {
        let Ok(source) = self.resolve(path) else { return Ok(None) };
        let Some(&RepoNode::File { size, is_executable }) = self.nodes.get(&source) else { return Ok(None) };
        if size > limit {
            return Err(FormatError::FileTooLarge { file: source, size, limit });
        }
        Ok(Some(PlannedFile { path: path.clone(), source, size, is_executable }))
    }

    /// Returns the path to write for a path, after symbolic links.
    ///
    /// # Errors
    /// [`FormatError::LinkLeaves`], [`FormatError::LinkLoops`].
    pub(super) fn written_to(&self, path: &RepoPath) -> Result<RepoPath, FormatError> {
        let source = self.resolve(path)?;
        let is_file = matches!(self.nodes.get(&source), Some(RepoNode::File { .. }));
        Ok(if is_file { source } else { path.clone() })
    }

    /// Resolves the path in a link: to the file at the path, else the README of the folder at the path, else the only
    /// file whose path differs only in case.
    ///
    /// # Errors
    /// The errors of [`file`](Self::file).
    pub fn locate(&self, path: &RepoPath) -> Result<Option<PlannedFile>, FormatError> {
        if let Some(file) = self.file(path)? {
            return Ok(Some(file));
        }
        if let Some(readme) = self.readme(path)? {
            return self.file(&readme);
        }
        match self.folded.get(&path.as_str().to_lowercase()) {
            Some(Some(other)) => self.file(other),
            _ => Ok(None),
        }
    }

    /// Resolves the path in a link of a page: like [`locate`](Self::locate), else to the Markdown file whose path
    /// without extension is the path, because page URLs have no extension. The extension `.html` is ignored, because
    /// the pages of other programs have it.
    ///
    /// # Errors
    /// The errors of [`file`](Self::file).
    pub fn locate_linked(&self, path: &RepoPath) -> Result<Option<PlannedFile>, FormatError> {
        if let Some(file) = self.locate(path)? {
            return Ok(Some(file));
        }
        if let Some(file) = self.with_extension(path.as_str())? {
            return Ok(Some(file));
        }
        let Some(page) = path.as_str().strip_suffix(".html") else { return Ok(None) };
        if let Some(file) = self.with_extension(page)? {
            return Ok(Some(file));
        }
        if path.name() == "index.html"
            && let Some(readme) = self.readme(&path.folder())?
        {
            return self.file(&readme);
        }
        match self.aliases.get(path) {
            Some(file) => self.file(file),
            None => Ok(None),
        }
    }

    /// Resolves links to a missing file to another file.
    pub fn set_alias(&mut self, missing: RepoPath, file: RepoPath) {
        self.aliases.insert(missing, file);
    }

    /// Returns the Markdown file at a path without extension.
    fn with_extension(&self, path: &str) -> Result<Option<PlannedFile>, FormatError> {
        match RepoPath::new(&format!("{path}.md")) {
            Ok(path) if path.name() != ".md" => self.file(&path),
            _ => Ok(None),
        }
    }

    ///
    /// # Errors
    /// The errors of [`file`](Self::file).
    pub fn readme(&self, folder: &RepoPath) -> Result<Option<RepoPath>, FormatError> {
        Ok(self.resolve(folder).ok().and_then(|folder| self.readmes.get(&folder).cloned()))
    }

    /// Returns the paths of all files and symbolic links below a folder, in order.
    pub fn paths_in<'a>(&'a self, folder: &'a RepoPath) -> impl Iterator<Item = &'a RepoPath> {
        self.nodes
            .range(folder.clone()..)
            .map(|(path, _)| path)
            .skip_while(move |path| *path == folder)
            .take_while(|path| path.as_str().starts_with(folder.as_str()))
            .filter(|path| path.relative_to(folder).is_some())
    }

    /// Returns `true` if there is a file, a folder or a submodule at a path without symbolic links.
    fn exists(&self, path: &RepoPath) -> bool {
        let folder = if path.as_str().is_empty() { String::new() } else { format!("{path}/") };
        let first = self.nodes.range::<str, _>((Bound::Included(folder.as_str()), Bound::Unbounded)).next();
        self.nodes.contains_key(path)
            || self.submodules.contains(path)
            || first.is_some_and(|(first, _)| first.as_str().starts_with(&folder))
    }

    /// Returns `true` if there is a file or a symbolic link at exactly this path.
    pub(super) fn has(&self, path: &RepoPath) -> bool {
        self.nodes.contains_key(path)
    }

    /// Returns all paths that are not folders: files, symbolic links and submodules.
    pub(super) fn paths(&self) -> impl Iterator<Item = &RepoPath> {
        self.nodes.keys().chain(&self.submodules)
    }

    /// Returns the tree after a commit that removes files and writes others of unknown size.
    pub(super) fn with_changes(
        &self,
        removed: &HashSet<RepoPath>,
        written: impl Iterator<Item = RepoPath>,
    ) -> Self {
        let entry = |path: &RepoPath, size, kind| CommitEntry { path: path.to_string(), size, kind };
        let kept = self.nodes.iter().filter(|(path, _)| !removed.contains(*path));
        let kept = kept.map(|(path, node)| match node {
            RepoNode::File { size, is_executable: false } => entry(path, *size, EntryKind::File),
            RepoNode::File { size, is_executable: true } => entry(path, *size, EntryKind::Executable),
            RepoNode::Link => {
                let target = self.links.get(path).cloned().unwrap_or_default();
                entry(path, 0, EntryKind::Symlink(target))
            }
        });
        let modules = self.submodules.iter().map(|path| entry(path, 0, EntryKind::Submodule));
        let written = written.filter(|path| !self.has(path) || removed.contains(path));
        let all = kept.chain(modules).chain(written.map(|path| entry(&path, 0, EntryKind::File)));
        Self { aliases: self.aliases.clone(), ..Self::new(all) }
    }

    /// Returns the warnings about entries that were left out.
    pub(super) fn warnings(&self) -> Vec<Warning> {
        self.warnings.clone().finish()
    }

    fn add(&mut self, entry: CommitEntry) {
        let path = match RepoPath::new(&entry.path) {
            Ok(path) if !path.is_root() && path.as_str() == entry.path => path,
            _ => {
                let message = format!(
                    "skipped `{}`: it is not a valid path in a repository",
                    entry.path.escape_debug()
                );
                return self.warnings.push(&RepoPath::default(), None, message);
            }
        };
        let node = match entry.kind {
            EntryKind::File => RepoNode::File { size: entry.size, is_executable: false },
            EntryKind::Executable => RepoNode::File { size: entry.size, is_executable: true },
            EntryKind::Symlink(target) => {
                self.links.insert(path.clone(), target);
                RepoNode::Link
            }
            EntryKind::Submodule => {
                let message = "skipped submodule";
                self.warnings.push(&path, None, message);
                self.submodules.insert(path);
                return;
            }
        };
        self.folded
            .entry(path.as_str().to_lowercase())
            .and_modify(|other| *other = None)
            .or_insert_with(|| Some(path.clone()));
        if path.is_readme() {
            let readme = self.readmes.entry(path.folder()).or_insert_with(|| path.clone());
            if path.name() == "README.md" {
                *readme = path.clone();
            }
        }
        self.nodes.insert(path, node);
    }

    /// Resolves all symbolic links in a path, including those of its folders. The result may not exist.
    fn resolve(&self, path: &RepoPath) -> Result<RepoPath, FormatError> {
        let is_plain = self.links.is_empty() || path.as_str().len() > MAX_LINKED_PATH;
        if is_plain || matches!(self.nodes.get(path), Some(RepoNode::File { .. })) {
            return Ok(path.clone());
        }
        let leaves = || FormatError::LinkLeaves { link: path.clone() };
        // The remaining segments in reverse order.
        let mut left: Vec<&str> = path.as_str().rsplit('/').collect();
        let mut place = String::with_capacity(path.as_str().len());
        let mut followed = 0;
        while let Some(part) = left.pop() {
            match part {
                "" | "." => continue,
                ".." if place.is_empty() => return Err(leaves()),
                ".." => {
                    place.truncate(place.rfind('/').unwrap_or(0));
                    continue;
                }
                name => {
                    if !place.is_empty() {
                        place.push('/');
                    }
                    place.push_str(name);
                }
            }
            let Some(target) = self.links.get(place.as_str()) else { continue };
            followed += 1;
            if followed > MAX_LINKS {
                return Err(FormatError::LinkLoops { link: path.clone() });
            }
            if target.starts_with('/') || target.contains('\0') {
                return Err(leaves());
            }
            place.truncate(place.rfind('/').unwrap_or(0));
            left.extend(target.rsplit('/'));
        }
        RepoPath::new(&place).map_err(|_| leaves())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> RepoPath {
        RepoPath::new(text).unwrap()
    }

    fn tree(entries: &[(&str, EntryKind)]) -> RepoTree {
        RepoTree::new(entries.iter().map(|(path, kind)| CommitEntry {
            path: (*path).to_owned(),
            size: 7,
            kind: kind.clone(),
        }))
    }

    fn link(target: &str) -> EntryKind {
        EntryKind::Symlink(target.to_owned())
    }

    #[test]
    fn symlinks_within_the_repository_are_followed() {
        let tree = tree(&[
            ("docs/a.md", EntryKind::File),
            ("docs/b.md", link("a.md")),
            ("c.md", link("./docs/b.md")),
            ("manual", link("docs")),
            ("deep/up.md", link("../manual/a.md")),
        ]);
        for (name, source) in [
            ("docs/b.md", "docs/a.md"),
            ("c.md", "docs/a.md"),
            ("manual/a.md", "docs/a.md"),
            ("manual/b.md", "docs/a.md"),
            ("deep/up.md", "docs/a.md"),
        ] {
            let file = tree.file(&path(name)).unwrap().unwrap();
            assert_eq!((file.path.as_str(), file.source.as_str()), (name, source));
        }
        assert_eq!(tree.file(&path("manual")).unwrap(), None);
        assert_eq!(tree.file(&path("manual/none.md")).unwrap(), None);
    }

    #[test]
    fn escaping_and_cyclic_symlinks_are_left_out() {
        let tree = tree(&[
            ("up.md", link("../secret")),
            ("etc.md", link("/etc/passwd")),
            ("a.md", link("b.md")),
            ("b.md", link("a.md")),
            ("self", link("self")),
            ("dangling.md", link("nothing.md")),
            ("nul.md", link("a\0b")),
        ]);
        let warnings: Vec<String> = tree.warnings().iter().map(ToString::to_string).collect();
        for name in ["up.md", "etc.md", "nul.md"] {
            assert_eq!(tree.file(&path(name)), Ok(None));
            assert_eq!(tree.written_to(&path(name)), Err(FormatError::LinkLeaves { link: path(name) }));
            let warning = format!("{name}: skipped symbolic link: it must stay within the repository");
            assert!(warnings.contains(&warning), "{warnings:?}");
        }
        for name in ["a.md", "self", "self/x/y"] {
            assert_eq!(tree.file(&path(name)), Ok(None));
            assert_eq!(tree.written_to(&path(name)), Err(FormatError::LinkLoops { link: path(name) }));
        }
        assert!(warnings.contains(&"self: skipped symbolic link: it is circular".to_owned()), "{warnings:?}");
        assert_eq!(tree.file(&path("dangling.md")), Ok(None));
        let dangling = "dangling.md: skipped symbolic link: its target is missing".to_owned();
        assert!(warnings.contains(&dangling), "{warnings:?}");
    }

    #[test]
    fn lookup_of_a_path_with_a_million_segments_terminates() {
        let tree = tree(&[("a", link("b")), ("b/c.md", EntryKind::File)]);
        let long = format!("{}c.md", "a/".repeat(1_000_000));
        assert_eq!(tree.locate(&path(&long)), Ok(None));
        assert!(tree.locate(&path("a/c.md")).unwrap().is_some());
    }

    #[test]
    fn oversized_file_error_states_the_file_and_the_limit() {
        let entry = |size| CommitEntry { path: "film.mp4".to_owned(), size, kind: EntryKind::File };
        assert!(RepoTree::new([entry(MAX_FILE_BYTES)]).file(&path("film.mp4")).is_ok());
        let error = RepoTree::new([entry(MAX_FILE_BYTES + 1)]).file(&path("film.mp4")).unwrap_err();
        assert!(error.to_string().starts_with("film.mp4: must be at most 100 MB"), "{error}");
        let tree = RepoTree::new([entry(9)]);
        assert!(tree.file_within(&path("film.mp4"), 9).is_ok());
        let refused = FormatError::FileTooLarge { file: path("film.mp4"), size: 9, limit: 8 };
        assert_eq!(tree.file_within(&path("film.mp4"), 8), Err(refused));
    }

    // A path that matches several files when case is ignored is not resolved.
    #[test]
    fn folders_resolve_to_readme_and_unambiguous_case_is_ignored() {
        let tree = tree(&[
            ("a/README.md", EntryKind::File),
            ("a/readme.md", EntryKind::File),
            ("b/readme.MD", EntryKind::File),
            ("Guide.md", EntryKind::File),
            ("x.md", EntryKind::File),
            ("X.md", EntryKind::File),
        ]);
        let located = |name| tree.locate(&path(name)).unwrap().map(|file| file.path.to_string());
        assert_eq!(located("a").as_deref(), Some("a/README.md"));
        assert_eq!(located("b").as_deref(), Some("b/readme.MD"));
        assert_eq!(located("guide.MD").as_deref(), Some("Guide.md"));
        assert_eq!(located("x.MD"), None);
        assert_eq!(located("none"), None);
    }

    #[test]
    fn links_to_html_pages_resolve_to_their_markdown() {
        let mut tree = tree(&[
            ("a.md", EntryKind::File),
            ("b/README.md", EntryKind::File),
            ("c/index.md", EntryKind::File),
            ("d.html", EntryKind::File),
            ("d.md", EntryKind::File),
        ]);
        tree.set_alias(path("print.html"), path("a.md"));
        let linked = |name| tree.locate_linked(&path(name)).unwrap().map(|file| file.path.to_string());
        for (name, found) in [
            ("a", Some("a.md")),
            ("a.html", Some("a.md")),
            ("b/index.html", Some("b/README.md")),
            ("c/index.html", Some("c/index.md")),
            ("d.html", Some("d.html")),
            ("print.html", Some("a.md")),
            ("e.html", None),
            (".html", None),
            ("index.html", None),
        ] {
            assert_eq!(linked(name).as_deref(), found, "{name}");
        }
    }

    #[test]
    fn submodules_and_invalid_paths_are_skipped_with_a_warning() {
        let tree = tree(&[
            ("lib", EntryKind::Submodule),
            ("a/../b.md", EntryKind::File),
            ("/c.md", EntryKind::File),
        ]);
        let warnings: Vec<_> = tree.warnings().iter().map(ToString::to_string).collect();
        assert_eq!(warnings.len(), 3);
        assert!(warnings[0].starts_with("lib: skipped submodule"), "{}", warnings[0]);
        assert_eq!(tree.paths_in(&RepoPath::default()).count(), 0);
    }

    #[test]
    fn listing_a_folder_returns_only_its_descendants() {
        let tree = tree(&[
            ("docs/a.md", EntryKind::File),
            ("docs/b/c.md", EntryKind::File),
            ("docs-old/d.md", EntryKind::File),
            ("docs.md", EntryKind::File),
            ("e.md", EntryKind::File),
        ]);
        let (docs, root) = (path("docs"), RepoPath::default());
        let below: Vec<_> = tree.paths_in(&docs).map(RepoPath::as_str).collect();
        assert_eq!(below, ["docs/a.md", "docs/b/c.md"]);
        assert_eq!(tree.paths_in(&root).count(), 5);
    }
}
