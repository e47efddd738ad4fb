//! Which paths an export writes to: what was there before and is not the space's stays.

use std::collections::{BTreeSet, HashMap, HashSet};

use docs_model::{FileId, GitBlob, PageId};
use unicode_normalization::UnicodeNormalization as _;

use super::{
    Claims, Repository, SpaceOutline, SpacePage, SpacePageKind,
    places::{Places, Thing},
};
use crate::{
    gitsync::{Entry, EntryKind, RepoPath, RepoTree, path::split_extension},
    numbered, slugify,
};

/// The paths of an export.
pub(super) struct Paths {
    pub(super) places: HashMap<Thing, RepoPath>,
    /// What goes.
    pub(super) removed: HashSet<RepoPath>,
    /// What is there and is taken for the space's own, if it says the same.
    pub(super) claimed: BTreeSet<RepoPath>,
}

/// What an export knows of the space and the repository when it chooses paths.
pub(super) struct Choice<'a> {
    pub(super) repository: &'a Repository,
    /// All that the repository has.
    pub(super) there: &'a Folded,
    pub(super) now: &'a SpaceOutline,
    pub(super) before: &'a SpaceOutline,
    /// Pages that must be where their place in the tree says, or an import would give them another path.
    pub(super) forced: &'a HashSet<PageId>,
    pub(super) claims: &'a Claims,
}

impl Choice<'_> {
    pub(super) fn paths(&self) -> Paths {
        let kept = self.kept();
        let keeps: HashSet<&RepoPath> = kept.values().collect();
        let removed: HashSet<RepoPath> =
            self.owned().into_iter().filter(|path| !keeps.contains(path)).collect();
        let mut free = Free::new(self.repository, &removed, self.claims);
        let kept_paths: HashSet<RepoPath> = kept.values().cloned().collect();
        kept_paths.iter().for_each(|path| free.take(path));
        let mut places = kept;
        self.place_pages(&mut places, &mut free);
        let folder = self.repository.config.root.child(".gitbook");
        for file in &self.now.files {
            places.entry(Thing::File(file.id.clone())).or_insert_with(|| {
                let path = free.numbered_name(&folder.child("assets"), &file.name);
                free.take(&path);
                path
            });
        }
        for include in &self.now.includes {
            places.entry(Thing::Include(include.id.clone())).or_insert_with(|| {
                let slug = Some(slugify(&include.title)).filter(|slug| !slug.is_empty());
                let folder = free.folder(&folder.child("includes"));
                let path = free.numbered(&folder, slug.as_deref().unwrap_or("content"));
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
        Paths { places, removed, claimed }
    }

    /// What stays where it is.
    fn kept(&self) -> HashMap<Thing, RepoPath> {
        let config = &self.repository.config;
        let folder = config.root.child(".gitbook");
        let (vars, includes, assets) =
            (folder.child("vars.yaml"), folder.child("includes"), folder.child("assets"));
        let reserved = [&config.file, &config.summary, &vars];
        let mut taken: HashSet<RepoPath> = reserved.into_iter().cloned().collect();
        let mut folded: HashSet<String> = taken.iter().map(|path| fold(path.as_str())).collect();
        let mut kept = HashMap::new();
        let mut keep = |thing: Thing, path: Option<RepoPath>| {
            // What is there side by side stays so, however much alike the names are.
            let is_free = |path: &RepoPath| {
                let is_unlike = folded.insert(fold(path.as_str()));
                (is_unlike || self.repository.tree.has(path)) && taken.insert(path.clone())
            };
            if let Some(path) = path.filter(is_free) {
                kept.insert(thing, path);
            }
        };
        let (now, before) = (tree_paths(&self.now.pages), tree_paths(&self.before.pages));
        let gits = gits_of(&self.before.pages, |page| (&page.id, &page.git));
        for page in &self.now.pages {
            let moved = before.get(&page.id).is_some_and(|path| now.get(&page.id) != Some(path));
            let stays = page.is_document() && !moved && !self.forced.contains(&page.id);
            let path = stays.then(|| self.stays(page.git.as_ref(), gits.get(&page.id).copied())).flatten();
            keep(Thing::Page(page.id.clone()), path.filter(RepoPath::is_markdown));
        }
        let gits = gits_of(&self.before.includes, |include| (&include.id, &include.git));
        for include in &self.now.includes {
            let path = self.stays(include.git.as_ref(), gits.get(&include.id).copied());
            let is_include = |path: &RepoPath| path.is_markdown() && path.folder() == includes;
            keep(Thing::Include(include.id.clone()), path.filter(is_include));
        }
        let gits = gits_of(&self.before.files, |file| (&file.id, &file.git));
        let names: HashMap<&FileId, &String> =
            self.before.files.iter().map(|file| (&file.id, &file.name)).collect();
        for file in &self.now.files {
            let renamed = names.get(&file.id).is_some_and(|name| **name != file.name);
            let path = self.stays(file.git.as_ref().filter(|_| !renamed), gits.get(&file.id).copied());
            // An import looks for files in the folder of its root, and finds what pages link to outside of it.
            let is_found = |path: &RepoPath| {
                path.below(&assets).is_some()
                    || path.below(&self.repository.config.root).is_none()
                    || !format!("/{path}").contains("/.gitbook/assets/")
            };
            keep(Thing::File(file.id.clone()), path.filter(is_found));
        }
        kept
    }

    /// The path that something has in Git, if it is its own there, or nobody's.
    fn stays(&self, git: Option<&GitBlob>, before: Option<&GitBlob>) -> Option<RepoPath> {
        let git = git?;
        let path =
            RepoPath::new(&git.path).ok().filter(|path| !path.is_root() && path.as_str() == git.path)?;
        let Ok(file) = self.repository.tree.file(&path) else { return None };
        let Some(file) = file else { return self.there.is_free(&path).then_some(path) };
        let is_own = before.is_some_and(|before| before.path == git.path)
            || self.repository.oids.get(file.source.as_str()) == Some(&git.oid);
        is_own.then_some(path)
    }

    /// What the space wrote or read, as far as it is there: an export may remove it.
    fn owned(&self) -> HashSet<RepoPath> {
        let assets = self.repository.config.root.child(".gitbook/assets");
        let pages = self.before.pages.iter().filter_map(|page| page.git.as_ref());
        let includes = self.before.includes.iter().filter_map(|include| include.git.as_ref());
        let files = self.before.files.iter().filter_map(|file| file.git.as_ref());
        // Elsewhere a picture may be used by what is not the space's.
        let files =
            files.filter(|git| RepoPath::new(&git.path).is_ok_and(|path| path.below(&assets).is_some()));
        let paths = pages.chain(includes).chain(files).filter_map(|git| RepoPath::new(&git.path).ok());
        paths.filter(|path| self.repository.tree.has(path)).collect()
    }

    /// Gives the pages a path that have none, parents first.
    fn place_pages(&self, places: &mut HashMap<Thing, RepoPath>, free: &mut Free<'_>) {
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
            let thing = Thing::Page(page.id.clone());
            // Below another page the name of its file would be its slug.
            let is_landing = landing == Some(&page.id) && page.parent.is_none();
            if !places.contains_key(&thing) && (page.has_file || self.forced.contains(&page.id)) {
                let shape = if parents.contains(&page.id) { Shape::Folder } else { Shape::Leaf };
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
                Some(path) if path.is_readme() && *path != config.readme => path.folder(),
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

fn gits_of<'a, T, Id: Eq + std::hash::Hash>(
    things: &'a [T],
    of: impl Fn(&'a T) -> (&'a Id, &'a Option<GitBlob>),
) -> HashMap<&'a Id, &'a GitBlob> {
    things.iter().map(of).filter_map(|(id, git)| Some((id, git.as_ref()?))).collect()
}

/// The slugs from the top down to each page.
fn tree_paths(pages: &[SpacePage]) -> HashMap<PageId, String> {
    let mut paths: HashMap<PageId, String> = HashMap::with_capacity(pages.len());
    for page in pages {
        let above = page.parent.as_ref().and_then(|parent| paths.get(parent));
        let path = above.map_or_else(|| page.slug.clone(), |above| format!("{above}/{}", page.slug));
        paths.insert(page.id.clone(), path);
    }
    paths
}

/// Where a page would like to be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// In a file of its own name.
    Leaf,
    /// In a folder of its name, in which the pages below it are too.
    Folder,
}

/// A path as file systems see it that know no case and one form of letters.
fn fold(path: &str) -> String {
    path.nfc().collect::<String>().to_lowercase().nfc().collect()
}

/// Files and their folders, folded.
#[derive(Debug, Default)]
pub(super) struct Folded {
    files: HashSet<String>,
    /// The folders, with how they are written.
    folders: HashMap<String, RepoPath>,
}

impl Folded {
    pub(super) fn of<'p>(paths: impl Iterator<Item = &'p RepoPath>) -> Self {
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

    /// Tells whether there is neither a file nor a folder at a path, however it is written, nor a file above it.
    fn is_free(&self, path: &RepoPath) -> bool {
        let name = fold(path.as_str());
        let in_a_file = name.match_indices('/').any(|(at, _)| self.files.contains(&name[..at]));
        !in_a_file && !self.files.contains(&name) && !self.folders.contains_key(&name)
    }
}

/// The paths nothing is at.
struct Free<'a> {
    claims: &'a Claims,
    tree: &'a RepoTree,
    /// What this export has, folded.
    taken: HashSet<String>,
    there: Folded,
    /// The next number to try, by the path with the lowest number of its width: no number is tried twice.
    next: HashMap<RepoPath, u64>,
}

impl<'a> Free<'a> {
    fn new(repository: &'a Repository, removed: &HashSet<RepoPath>, claims: &'a Claims) -> Self {
        let config = &repository.config;
        let vars = config.root.child(".gitbook/vars.yaml");
        let there = Folded::of(repository.tree.paths().filter(|path| !removed.contains(*path)));
        let mut free =
            Self { claims, tree: &repository.tree, taken: HashSet::new(), there, next: HashMap::new() };
        [&config.file, &config.summary, &vars].into_iter().for_each(|path| free.take(path));
        free
    }

    fn take(&mut self, path: &RepoPath) {
        self.taken.insert(fold(path.as_str()));
        self.there.add(path);
    }

    /// Tells whether a file can be at a path.
    fn has(&self, path: &RepoPath) -> bool {
        let is_claimed =
            || self.claims.allow(path) && self.tree.has(path) && !self.taken.contains(&fold(path.as_str()));
        is_claimed() || self.there.is_free(path)
    }

    /// A folder as it is written in the repository; another one where something else is in the way.
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

    /// A path of a page: one from which an import makes the same slug, as long as there is one.
    fn page(&mut self, folder: &RepoPath, slug: &str, shape: Shape) -> RepoPath {
        let leaf = folder.child(&format!("{slug}.md"));
        let readme = folder.child(slug).child("README.md");
        let mut wanted = match shape {
            Shape::Leaf => [leaf, readme],
            Shape::Folder => [readme, leaf],
        };
        // A README has the name of its folder.
        if slug == "readme" {
            wanted.sort_by_key(|path| path.folder() == *folder);
        }
        let found = wanted.into_iter().find(|path| self.has(path));
        found.unwrap_or_else(|| self.numbered(folder, slug))
    }

    fn numbered(&mut self, folder: &RepoPath, slug: &str) -> RepoPath {
        let path = folder.child(&format!("{slug}.md"));
        self.first_free(path, |number| folder.child(&format!("{}.md", numbered(slug, number))))
    }

    /// The path of a file, numbered as the names of files are.
    fn numbered_name(&mut self, folder: &RepoPath, name: &str) -> RepoPath {
        let folder = self.folder(folder);
        let (stem, extension) = split_extension(name);
        self.first_free(folder.child(name), |number| folder.child(&format!("{stem} ({number}){extension}")))
    }

    /// A path, else the first free one with a number.
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
    /// Tells whether it is a page to read.
    pub(super) fn is_document(&self) -> bool {
        matches!(self.kind, SpacePageKind::Document)
    }
}

/// Where everything of a space was, by what it says itself.
pub(super) fn places_before(repository: &Repository, now: &SpaceOutline, before: &SpaceOutline) -> Places {
    let mut places = Places::new(repository.tree.clone(), &repository.config);
    for outline in [before, now] {
        known(outline).for_each(|(thing, path)| places.put(thing, path));
    }
    places
}

/// Where the things of a space are as it knows them, in a tree that has nothing else.
pub(super) fn places_known(repository: &Repository, now: &SpaceOutline) -> Places {
    let entry = |path: &RepoPath| Entry { path: path.as_str().to_owned(), size: 0, kind: EntryKind::File };
    let tree = RepoTree::new(known(now).map(|(_, path)| entry(&path)));
    let mut places = Places::new(tree, &repository.config);
    known(now).for_each(|(thing, path)| places.put(thing, path));
    places
}

/// What has a path in Git.
fn known(outline: &SpaceOutline) -> impl Iterator<Item = (Thing, RepoPath)> {
    let pages = outline.pages.iter().map(|page| (Thing::Page(page.id.clone()), &page.git));
    let files = outline.files.iter().map(|file| (Thing::File(file.id.clone()), &file.git));
    let includes = outline.includes.iter().map(|it| (Thing::Include(it.id.clone()), &it.git));
    let all = pages.chain(files).chain(includes);
    all.filter_map(|(thing, git)| Some((thing, RepoPath::new(&git.as_ref()?.path).ok()?)))
}
