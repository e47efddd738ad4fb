//! Selection of export paths. Existing files that do not belong to the space are left unchanged.

use std::collections::{BTreeSet, HashMap, HashSet};

use docs_model::{FileId, GitBlob, PageId};
use unicode_normalization::UnicodeNormalization as _;

use super::{
    AdoptablePaths, OmittedFile, Repository, SpaceOutline, SpacePage, SpacePageKind,
    item_paths::{ExportItem, ItemPaths},
    unsafe_names::{self, name_problem},
};
use crate::{
    append_number,
    gitsync::{CommitEntry, EntryKind, RepoPath, RepoTree, path::split_extension},
    slugify,
};

pub(super) struct Paths {
    pub(super) places: HashMap<ExportItem, RepoPath>,
    pub(super) removed: HashSet<RepoPath>,
    /// Existing paths that the space adopts if their content is equal.
    pub(super) claimed: BTreeSet<RepoPath>,
    /// Files without a path, because an export must not create files with their names.
    pub(super) omitted: Vec<OmittedFile>,
}

/// The state of the space and the repository for choosing paths.
pub(super) struct PathChooser<'a> {
    pub(super) repository: &'a Repository,
    /// All paths of the repository.
    pub(super) there: &'a FoldedPaths,
    pub(super) now: &'a SpaceOutline,
    pub(super) before: &'a SpaceOutline,
    /// Pages whose path must be derived from their position in the tree, because an import would assign another path.
    pub(super) forced: &'a HashSet<PageId>,
    pub(super) claims: &'a AdoptablePaths,
}

impl PathChooser<'_> {
    pub(super) fn paths(&self) -> Paths {
        let kept = self.retained_paths();
        let keeps: HashSet<&RepoPath> = kept.values().collect();
        let removed: HashSet<RepoPath> =
            self.owned_paths().into_iter().filter(|path| !keeps.contains(path)).collect();
        let mut free = FreePaths::new(self.repository, &removed, self.claims);
        let kept_paths: HashSet<RepoPath> = kept.values().cloned().collect();
        kept_paths.iter().for_each(|path| free.take(path));
        let mut places = kept;
        self.place_pages(&mut places, &mut free);
        let folder = self.repository.config.root.child(".gitbook");
        let mut omitted = Vec::new();
        for file in &self.now.files {
            let thing = ExportItem::File(file.id.clone());
            if places.contains_key(&thing) {
                continue;
            }
            if let Some(problem) = name_problem(&file.name) {
                omitted.push(OmittedFile { name: file.name.clone(), problem });
                continue;
            }
            let path = free.numbered_name(&folder.child("assets"), &file.name);
            free.take(&path);
            places.insert(thing, path);
        }
        for include in &self.now.includes {
            places.entry(ExportItem::Include(include.id.clone())).or_insert_with(|| {
                let slug = Some(slugify(&include.title)).filter(|slug| !slug.is_empty());
                let folder = free.folder(&folder.child("includes"));
                let path = free.numbered_path(&folder, slug.as_deref().unwrap_or("content"));
                free.take(&path);
                path
            });
        }
        let written: HashSet<&RepoPath> = places.values().collect();
        let is_claimed = |path: &&&RepoPath| {
            self.repository.tree.has(path) && !removed.contains(**path) && !kept_paths.contains(**path)
        };
        let claimed = written.iter().filter(is_claimed).map(|path| (*path).clone()).collect();
        let removed = removed.iter().filter(|path| !written.contains(path)).cloned().collect();
        Paths { places, removed, claimed, omitted }
    }

    /// Returns the items that keep their paths.
    fn retained_paths(&self) -> HashMap<ExportItem, RepoPath> {
        let config = &self.repository.config;
        let folder = config.root.child(".gitbook");
        let (vars, includes, assets) =
            (folder.child("vars.yaml"), folder.child("includes"), folder.child("assets"));
        let reserved = [&config.file, &config.summary, &vars];
        let mut taken: HashSet<RepoPath> = reserved.into_iter().cloned().collect();
        let mut kept = HashMap::new();
        let mut keep = |thing: ExportItem, path: Option<RepoPath>| {
            // All these paths were in a repository, so names that only differ in case are kept.
            if let Some(path) = path.filter(|path| taken.insert(path.clone())) {
                kept.insert(thing, path);
            }
        };
        let (now, before) = (tree_paths(&self.now.pages), tree_paths(&self.before.pages));
        let gits = git_paths(&self.before.pages, |page| (&page.id, &page.git));
        for page in &self.now.pages {
            let moved = before.get(&page.id).is_some_and(|path| now.get(&page.id) != Some(path));
            let stays = page.is_document() && !moved && !self.forced.contains(&page.id);
            let path =
                stays.then(|| self.retained_path(page.git.as_ref(), gits.get(&page.id).copied())).flatten();
            keep(ExportItem::Page(page.id.clone()), path.filter(RepoPath::is_markdown));
        }
        let gits = git_paths(&self.before.includes, |include| (&include.id, &include.git));
        for include in &self.now.includes {
            let path = self.retained_path(include.git.as_ref(), gits.get(&include.id).copied());
            let is_include = |path: &RepoPath| path.is_markdown() && path.folder() == includes;
            keep(ExportItem::Include(include.id.clone()), path.filter(is_include));
        }
        let gits = git_paths(&self.before.files, |file| (&file.id, &file.git));
        let names: HashMap<&FileId, &String> =
            self.before.files.iter().map(|file| (&file.id, &file.name)).collect();
        for file in &self.now.files {
            // A file keeps its path if an export must not create a file with its new name.
            let renamed = names.get(&file.id).is_some_and(|name| **name != file.name)
                && name_problem(&file.name).is_none();
            let path =
                self.retained_path(file.git.as_ref().filter(|_| !renamed), gits.get(&file.id).copied());
            // An import searches the assets folder of its root. It only finds files outside the root through links in
            // pages. Without documentation, the repository gets the root of the last import.
            let is_found = |path: &RepoPath| {
                path.relative_to(&assets).is_some()
                    || self.repository.is_bare()
                    || self.repository.tree.has(path)
                    || path.relative_to(&self.repository.config.root).is_none()
                    || !format!("/{path}").contains("/.gitbook/assets/")
            };
            let is_written =
                |path: &RepoPath| self.repository.tree.has(path) || unsafe_names::check(path).is_ok();
            keep(ExportItem::File(file.id.clone()), path.filter(is_found).filter(is_written));
        }
        kept
    }

    /// Returns the path of an item in Git if the item owns the path or the path is unused.
    fn retained_path(&self, git: Option<&GitBlob>, before: Option<&GitBlob>) -> Option<RepoPath> {
        let git = git?;
        let path =
            RepoPath::new(&git.path).ok().filter(|path| !path.is_root() && path.as_str() == git.path)?;
        let Ok(file) = self.repository.tree.file(&path) else { return None };
        let Some(file) = file else { return self.there.is_free(&path).then_some(path) };
        let is_own = before.is_some_and(|before| before.path == git.path)
            || self.repository.oids.get(file.source.as_str()) == Some(&git.oid);
        is_own.then_some(path)
    }

    /// Returns the existing paths that the space exported or imported. An export may remove them.
    fn owned_paths(&self) -> HashSet<RepoPath> {
        let assets = self.repository.config.root.child(".gitbook/assets");
        let pages = self.before.pages.iter().filter_map(|page| page.git.as_ref());
        let includes = self.before.includes.iter().filter_map(|include| include.git.as_ref());
        let files = self.before.files.iter().filter_map(|file| file.git.as_ref());
        // Images in other folders may be used by files outside the space.
        let files = files
            .filter(|git| RepoPath::new(&git.path).is_ok_and(|path| path.relative_to(&assets).is_some()));
        let paths = pages.chain(includes).chain(files).filter_map(|git| RepoPath::new(&git.path).ok());
        paths.filter(|path| self.repository.tree.has(path)).collect()
    }

    /// Chooses paths for the pages that have none, parents first.
    fn place_pages(&self, places: &mut HashMap<ExportItem, RepoPath>, free: &mut FreePaths<'_>) {
        let config = &self.repository.config;
        let parents: HashSet<&PageId> =
            self.now.pages.iter().filter_map(|page| page.parent.as_ref()).collect();
        let mut folders: HashMap<&PageId, RepoPath> = HashMap::new();
        let landing = self.now.pages.iter().find(|page| page.is_document()).map(|page| &page.id);
        for page in &self.now.pages {
            let above = page.parent.as_ref().and_then(|parent| folders.get(parent));
            let above = above.cloned().unwrap_or_else(|| config.root.clone());
            if !page.is_document() {
                let folder = if page.slug.is_empty() { above } else { above.child(&page.slug) };
                folders.insert(&page.id, folder);
                continue;
            }
            let thing = ExportItem::Page(page.id.clone());
            // Below another page, the slug would be derived from the file name.
            let is_landing = landing == Some(&page.id) && page.parent.is_none();
            if !places.contains_key(&thing) && (page.has_file || self.forced.contains(&page.id)) {
                let shape = if parents.contains(&page.id) { PathShape::Folder } else { PathShape::Leaf };
                let readme = Some(&config.readme).filter(|path| is_landing && free.has(path));
                let path = match readme {
                    Some(readme) => readme.clone(),
                    None => {
                        let folder = free.folder(&above);
                        free.page(&folder, &slug_of(page), shape)
                    }
                };
                free.take(&path);
                places.insert(thing.clone(), path);
            }
            let own = match places.get(&thing) {
                Some(path) if path.is_folder_page(&config.readme) => path.folder(),
                Some(path) if *path != config.readme => path.folder().child(path.stem()),
                _ => above.child(&slug_of(page)),
            };
            folders.insert(&page.id, own);
        }
    }
}

fn slug_of(page: &SpacePage) -> String {
    [slugify(&page.slug), slugify(&page.title)]
        .into_iter()
        .find(|slug| !slug.is_empty())
        .unwrap_or_else(|| "page".to_owned())
}

fn git_paths<'a, T, Id: Eq + std::hash::Hash>(
    things: &'a [T],
    of: impl Fn(&'a T) -> (&'a Id, &'a Option<GitBlob>),
) -> HashMap<&'a Id, &'a GitBlob> {
    things.iter().map(of).filter_map(|(id, git)| Some((id, git.as_ref()?))).collect()
}

/// Returns the path of each page, joined from the slugs starting at the top level.
fn tree_paths(pages: &[SpacePage]) -> HashMap<PageId, String> {
    let mut paths: HashMap<PageId, String> = HashMap::with_capacity(pages.len());
    for page in pages {
        let above = page.parent.as_ref().and_then(|parent| paths.get(parent));
        let path = above.map_or_else(|| page.slug.clone(), |above| format!("{above}/{}", page.slug));
        paths.insert(page.id.clone(), path);
    }
    paths
}

/// The preferred location of a page.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PathShape {
    /// In a file named after the page.
    Leaf,
    /// In a folder named after the page, which also contains its children.
    Folder,
}

/// Normalizes a path for file systems that ignore case and Unicode normalization.
fn fold(path: &str) -> String {
    path.nfc().collect::<String>().to_lowercase().nfc().collect()
}

/// Normalized paths of files and their folders.
#[derive(Debug, Default)]
pub(super) struct FoldedPaths {
    files: HashSet<String>,
    /// The folders, with their original spelling.
    folders: HashMap<String, RepoPath>,
}

impl FoldedPaths {
    pub(super) fn from_paths<'p>(paths: impl Iterator<Item = &'p RepoPath>) -> Self {
        let mut folded = Self::default();
        paths.for_each(|path| folded.add(path));
        folded
    }

    fn add(&mut self, path: &RepoPath) {
        self.files.insert(fold(path.as_str()));
        let mut folder = path.folder();
        while !folder.is_root() {
            let above = folder.folder();
            if self.folders.insert(fold(folder.as_str()), folder).is_some() {
                break;
            }
            folder = above;
        }
    }

    /// Returns `true` if the path is free: neither a file nor a folder has it in any case or normalization, and no
    /// ancestor of it is a file.
    fn is_free(&self, path: &RepoPath) -> bool {
        let name = fold(path.as_str());
        let in_a_file = name.match_indices('/').any(|(at, _)| self.files.contains(&name[..at]));
        !in_a_file && !self.files.contains(&name) && !self.folders.contains_key(&name)
    }
}

/// The unused paths.
struct FreePaths<'a> {
    claims: &'a AdoptablePaths,
    tree: &'a RepoTree,
    /// The normalized paths used by this export.
    taken: HashSet<String>,
    there: FoldedPaths,
    /// The next number to try, so that no number is tried twice. The key is the path with the lowest number of the same
    /// width.
    next: HashMap<RepoPath, u64>,
}

impl<'a> FreePaths<'a> {
    fn new(repository: &'a Repository, removed: &HashSet<RepoPath>, claims: &'a AdoptablePaths) -> Self {
        let config = &repository.config;
        let vars = config.root.child(".gitbook/vars.yaml");
        let there = FoldedPaths::from_paths(repository.tree.paths().filter(|path| !removed.contains(*path)));
        let mut free =
            Self { claims, tree: &repository.tree, taken: HashSet::new(), there, next: HashMap::new() };
        [&config.file, &config.summary, &vars].into_iter().for_each(|path| free.take(path));
        free
    }

    fn take(&mut self, path: &RepoPath) {
        self.taken.insert(fold(path.as_str()));
        self.there.add(path);
    }

    /// Returns `true` if a file can have the path.
    fn has(&self, path: &RepoPath) -> bool {
        let is_claimed =
            || self.claims.allow(path) && self.tree.has(path) && !self.taken.contains(&fold(path.as_str()));
        is_claimed() || self.there.is_free(path)
    }

    /// Returns the folder as the repository spells it, or another folder if a file has the same path.
    fn folder(&self, wanted: &RepoPath) -> RepoPath {
        if wanted.is_root() {
            return wanted.clone();
        }
        let above = self.folder(&wanted.folder());
        let mut number = 0_u64;
        loop {
            let name = match number {
                0 => wanted.name().to_owned(),
                _ => format!("{}-{number}", wanted.name()),
            };
            let path = above.child(&name);
            let folded = fold(path.as_str());
            if let Some(known) = self.there.folders.get(&folded) {
                return known.clone();
            }
            if !self.there.files.contains(&folded) {
                return path;
            }
            number += 1;
        }
    }

    /// Returns a path for a page. If possible, it is a path from which an import derives the same slug.
    fn page(&mut self, folder: &RepoPath, slug: &str, shape: PathShape) -> RepoPath {
        let leaf = folder.child(&format!("{slug}.md"));
        let readme = folder.child(slug).child("README.md");
        let mut wanted = match shape {
            PathShape::Leaf => [leaf, readme],
            PathShape::Folder => [readme, leaf],
        };
        // A README has the name of its folder.
        if slug == "readme" {
            wanted.sort_by_key(|path| path.folder() == *folder);
        }
        let found = wanted.into_iter().find(|path| self.has(path));
        found.unwrap_or_else(|| self.numbered_path(folder, slug))
    }

    fn numbered_path(&mut self, folder: &RepoPath, slug: &str) -> RepoPath {
        let path = folder.child(&format!("{slug}.md"));
        self.first_free(path, |number| folder.child(&format!("{}.md", append_number(slug, number))))
    }

    /// Returns a path for a file, numbered like file names.
    fn numbered_name(&mut self, folder: &RepoPath, name: &str) -> RepoPath {
        let folder = self.folder(folder);
        let (stem, extension) = split_extension(name);
        self.first_free(folder.child(name), |number| folder.child(&format!("{stem} ({number}){extension}")))
    }

    /// Returns the path, or the first unused numbered path.
    fn first_free(&mut self, path: RepoPath, numbered: impl Fn(u64) -> RepoPath) -> RepoPath {
        if self.has(&path) {
            return path;
        }
        let mut lowest = 1_u64;
        loop {
            let (base, end) = (numbered(lowest), lowest.saturating_mul(10));
            let mut number = self.next.get(&base).copied().unwrap_or(lowest);
            while number < end {
                let path = numbered(number);
                if self.has(&path) {
                    self.next.insert(base, number);
                    return path;
                }
                number += 1;
            }
            self.next.insert(base, end);
            lowest = end;
        }
    }
}

impl SpacePage {
    pub(super) fn is_document(&self) -> bool {
        matches!(self.kind, SpacePageKind::Document)
    }
}

/// Returns the locations of all items as recorded in the space.
pub(super) fn places_before(repository: &Repository, now: &SpaceOutline, before: &SpaceOutline) -> ItemPaths {
    let mut places = ItemPaths::new(repository.tree.clone(), repository);
    for outline in [before, now] {
        items_with_paths(outline).for_each(|(thing, path)| places.put(thing, path));
    }
    places
}

/// Returns the locations of items as recorded in the space, in a tree without other files.
pub(super) fn places_known(repository: &Repository, now: &SpaceOutline) -> ItemPaths {
    let entry =
        |path: &RepoPath| CommitEntry { path: path.as_str().to_owned(), size: 0, kind: EntryKind::File };
    let tree = RepoTree::new(items_with_paths(now).map(|(_, path)| entry(&path)));
    let mut places = ItemPaths::new(tree, repository);
    items_with_paths(now).for_each(|(thing, path)| places.put(thing, path));
    places
}

/// Returns the items with a path in Git.
fn items_with_paths(outline: &SpaceOutline) -> impl Iterator<Item = (ExportItem, RepoPath)> {
    let pages = outline.pages.iter().map(|page| (ExportItem::Page(page.id.clone()), &page.git));
    let files = outline.files.iter().map(|file| (ExportItem::File(file.id.clone()), &file.git));
    let includes = outline.includes.iter().map(|it| (ExportItem::Include(it.id.clone()), &it.git));
    let all = pages.chain(files).chain(includes);
    all.filter_map(|(thing, git)| Some((thing, RepoPath::new(&git.as_ref()?.path).ok()?)))
}
