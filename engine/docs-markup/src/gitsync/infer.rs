//! The page tree of a repository without a table of contents.

use std::collections::HashMap;

use super::{
    FormatError, RepoConfig, RepoPath, RepoTree, Summary, SummaryItem, SummaryKind, Warning,
    summary::{MAX_SUMMARY_DEPTH, TreeBuilder, humanise, humanise_name},
};

/// Derives a page tree from the folders of a repository.
///
/// The configured README is first. All other items are sorted alphabetically, ignoring case. The README of a folder is
/// the parent of the other pages in the folder. Without one, a page next to the folder with its name is. Other folders
/// become groups at the top level, and pages without text elsewhere. Names that begin with a dot, `node_modules`, every
/// `SUMMARY.md` and symbolic links to folders are skipped. Titles are derived from names; the heading of a page takes
/// precedence.
///
/// # Errors
/// [`FormatError`] if a Markdown file is too large.
pub fn infer(config: &RepoConfig, tree: &RepoTree) -> Result<Summary, FormatError> {
    let mut walk = FolderWalk { tree, builder: TreeBuilder::default(), too_deep: 0 };
    let mut files: Vec<_> = tree
        .paths_in(&config.root)
        .filter(|path| is_page(path, config))
        .filter_map(|path| path.relative_to(&config.root))
        .collect();
    if let Some(readme) = tree.file(&config.readme)? {
        walk.builder.add(0, page(humanise(&config.readme), Some(readme)));
    }
    // Files of one folder must be adjacent; `a-b/` would otherwise sort between `a` and `a/`.
    files.sort_by(|a, b| a.split('/').cmp(b.split('/')));
    walk.folder(&config.root, &files, 0)?;
    let mut warnings = Vec::new();
    if walk.too_deep > 0 {
        let message = format!(
            "pages are nested at most {MAX_SUMMARY_DEPTH} levels deep; {} deeper pages move up to that level",
            walk.too_deep
        );
        warnings.push(Warning { file: config.root.clone(), line: None, message });
    }
    Ok(Summary { items: walk.builder.finish(), warnings })
}

fn is_page(path: &RepoPath, config: &RepoConfig) -> bool {
    path.is_markdown()
        && *path != config.readme
        && *path != config.summary
        && !path.stem().eq_ignore_ascii_case("summary")
        && path.relative_to(&config.root).is_some_and(|below| {
            below.split('/').all(|name| !name.starts_with('.') && name != "node_modules")
        })
}

fn page(title: String, file: Option<super::PlannedFile>) -> SummaryItem {
    let kind = SummaryKind::Page { file, link_title: None };
    SummaryItem { line: None, title, kind, items: Vec::new() }
}

struct FolderWalk<'a> {
    tree: &'a RepoTree,
    builder: TreeBuilder,
    /// The number of pages in folders beyond the maximum depth.
    too_deep: usize,
}

impl FolderWalk<'_> {
    /// Adds the contents of a folder, given its files as relative paths. The files of each subfolder must be adjacent.
    fn folder(&mut self, folder: &RepoPath, files: &[&str], depth: usize) -> Result<(), FormatError> {
        let mut children: Vec<(&str, &[&str])> = Vec::new();
        let mut rest = files;
        while let Some(first) = rest.first() {
            let name = first.split('/').next().unwrap_or_default();
            let count = rest.iter().take_while(|path| path.split('/').next() == Some(name)).count();
            let (these, others) = rest.split_at(count);
            children.push((name, these));
            rest = others;
        }
        children.sort_by_cached_key(|(name, _)| (name.to_lowercase(), *name));
        let parents = self.parents(folder, &children)?;
        for (name, files) in children {
            let path = folder.child(name);
            if files == [name] {
                // A page that is the parent of a folder is added with the folder.
                if depth >= MAX_SUMMARY_DEPTH || parents.get(path.stem()) != Some(&name) {
                    self.file(&path, depth)?;
                }
            } else if depth >= MAX_SUMMARY_DEPTH {
                self.too_deep += files.len();
                for file in files {
                    self.file(&folder.child(file), depth)?;
                }
            } else {
                let below: Vec<_> =
                    files.iter().filter_map(|file| file.split_once('/')).map(|(_, it)| it).collect();
                let parent = parents.get(name).map(|parent| folder.child(parent));
                self.subfolder(&path, parent, &below, depth)?;
            }
        }
        Ok(())
    }

    /// Returns the pages that are the parents of a folder without a README, by the name of the folder.
    fn parents<'f>(
        &self,
        folder: &RepoPath,
        children: &[(&'f str, &[&str])],
    ) -> Result<HashMap<String, &'f str>, FormatError> {
        let folders: HashMap<&str, &[&str]> =
            children.iter().filter(|(name, files)| *files != [*name]).copied().collect();
        let mut parents = HashMap::new();
        for (name, _) in children.iter().filter(|(name, files)| *files == [*name]) {
            let page = folder.child(name);
            let Some(files) = folders.get(page.stem()) else { continue };
            let readme = self.tree.readme(&folder.child(page.stem()))?;
            let below = |readme: &RepoPath| format!("{}/{}", page.stem(), readme.name());
            if readme.is_none_or(|readme| !files.contains(&below(&readme).as_str())) {
                parents.entry(page.stem().to_owned()).or_insert(*name);
            }
        }
        Ok(parents)
    }

    /// Adds a subfolder. `parent` is the page next to it with its name.
    fn subfolder(
        &mut self,
        folder: &RepoPath,
        parent: Option<RepoPath>,
        files: &[&str],
        depth: usize,
    ) -> Result<(), FormatError> {
        let readme = self.tree.readme(folder)?.filter(|path| files.contains(&path.name()));
        let title = humanise_name(folder.name());
        let item = match readme.as_ref().or(parent.as_ref()) {
            Some(path) => page(title, self.tree.file(path)?),
            None if depth == 0 => {
                let kind = SummaryKind::Group { slug: Some(folder.name().to_owned()) };
                SummaryItem { line: None, title, kind, items: Vec::new() }
            }
            None => page(title, None),
        };
        self.builder.add(depth, item);
        let others: Vec<_> = files
            .iter()
            .copied()
            .filter(|file| readme.as_ref().is_none_or(|path| path.name() != *file))
            .collect();
        self.folder(folder, &others, depth + 1)
    }

    fn file(&mut self, path: &RepoPath, depth: usize) -> Result<(), FormatError> {
        // A link to a missing file or a folder is not a page.
        if let Some(file) = self.tree.file(path)? {
            self.builder.add(depth, page(humanise(path), Some(file)));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gitsync::{CommitEntry, EntryKind};

    fn outline(config: &str, entries: &[(&str, Option<&str>)]) -> Vec<String> {
        let tree = RepoTree::new(entries.iter().map(|(path, link)| CommitEntry {
            path: (*path).to_owned(),
            size: 1,
            kind: link.map_or(EntryKind::File, |target| EntryKind::Symlink(target.to_owned())),
        }));
        let config = RepoConfig::read(Some(config), &RepoPath::default()).unwrap();
        let mut out = Vec::new();
        let mut todo: Vec<_> =
            infer(&config, &tree).unwrap().items.into_iter().rev().map(|item| (0, item)).collect();
        while let Some((depth, item)) = todo.pop() {
            let kind = match &item.kind {
                SummaryKind::Page { file: Some(file), .. } => file.path.to_string(),
                SummaryKind::Page { file: None, .. } => "-".to_owned(),
                _ => "group".to_owned(),
            };
            out.push(format!("{}{} = {kind}", "  ".repeat(depth), item.title));
            todo.extend(item.items.into_iter().rev().map(|item| (depth + 1, item)));
        }
        out
    }

    #[test]
    fn folders_become_a_tree() {
        let files = [
            "zebra.md",
            "Apple.md",
            "README.md",
            "SUMMARY.md",
            "guides/b.md",
            "guides/A.md",
            "guides/deep/x.md",
            "guides-old.md",
            "concepts/README.md",
            "concepts/people.md",
            "concepts/api_keys/README.md",
            "concepts/api_keys/rotate.MD",
            ".github/x.md",
            "node_modules/y/README.md",
            "guides/.hidden.md",
            "image.png",
        ];
        assert_eq!(
            outline("", &files.map(|file| (file, None))),
            [
                "Home = README.md",
                "Apple = Apple.md",
                "Concepts = concepts/README.md",
                "  Api keys = concepts/api_keys/README.md",
                "    Rotate = concepts/api_keys/rotate.MD",
                "  People = concepts/people.md",
                "Guides = group",
                "  A = guides/A.md",
                "  B = guides/b.md",
                "  Deep = -",
                "    X = guides/deep/x.md",
                "Guides old = guides-old.md",
                "Zebra = zebra.md",
            ]
        );
    }

    #[test]
    fn a_page_is_the_parent_of_the_folder_with_its_name() {
        let files = [
            "Home.md",
            "Home/Sub.md",
            "Home/Sub/Deep.md",
            "a/README.md",
            "a/x.md",
            "a.md",
            "b.md",
            "b/c.png",
        ];
        assert_eq!(
            outline("", &files.map(|file| (file, None))),
            [
                "A = a/README.md",
                "  X = a/x.md",
                "A = a.md",
                "B = b.md",
                "Home = Home.md",
                "  Sub = Home/Sub.md",
                "    Deep = Home/Sub/Deep.md",
            ]
        );
    }

    #[test]
    fn infer_reads_only_the_content_folder_and_sorts_readme_first() {
        assert_eq!(
            outline(
                "root: docs\nstructure: {readme: z.md}",
                &[("docs/z.md", None), ("docs/a.md", None), ("docs/README.md", None), ("other.md", None)]
            ),
            ["Z = docs/z.md", "A = docs/a.md", "Docs = docs/README.md"]
        );
    }

    #[test]
    fn symlinks_to_files_are_pages_and_to_folders_are_not() {
        assert_eq!(
            outline(
                "",
                &[
                    ("a.md", None),
                    ("b.md", Some("a.md")),
                    ("c.md", Some("gone.md")),
                    ("d", Some("e")),
                    ("e/f.md", None)
                ]
            ),
            ["A = a.md", "B = b.md", "E = group", "  F = e/f.md"]
        );
    }

    #[test]
    fn folders_beyond_the_maximum_depth_are_reported() {
        let warnings = |levels: usize| {
            let path = format!("{}x.md", "d/".repeat(levels));
            let entry = CommitEntry { path, size: 1, kind: EntryKind::File };
            let config = RepoConfig::read(None, &RepoPath::default()).unwrap();
            infer(&config, &RepoTree::new([entry])).unwrap().warnings
        };
        assert_eq!(warnings(MAX_SUMMARY_DEPTH), []);
        let [warning] = &warnings(MAX_SUMMARY_DEPTH + 1)[..] else { panic!("one warning") };
        let expected = format!("at most {MAX_SUMMARY_DEPTH} levels deep; 1 deeper pages");
        assert!(warning.message.contains(&expected), "{warning}");
    }

    #[test]
    fn hostile_nesting_ends_at_the_limit() {
        let path = format!("{}x.md", "d/".repeat(5_000));
        let outline = outline("", &[(&path, None), ("d/d/y.md", None)]);
        assert_eq!(outline.len(), MAX_SUMMARY_DEPTH + 2);
    }
}
