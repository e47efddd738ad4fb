//! Incremental import. If the repository and the space are unchanged since the last import, except for the bytes of
//! pages, files and reusable content blocks, only these are read. Any other change causes a full import.

use std::collections::HashSet;

use super::directive_state::Directives;
use super::read::{CommitContent, Importer, MAX_FILES_BYTES, MAX_TEXT_BYTES, check_size};
use crate::{
    Error, Result,
    content::{
        Edit, LinkRange, LinkSource, LinkState, LinkTarget, View,
        gitsync::{
            ImportPlan, LfsPointer, PageLinks, PlannedFile, PlannedInclude, PlannedKind, PlannedPage,
            RepoConfig, RepoPath, RepoTree, Warning,
        },
        markdown::MAX_PAGE_FILE_BYTES,
    },
    model::{ContentRef, FileId},
    platform::{
        content::files::SharedContent,
        exchange::git::{
            commit_files::content_paths,
            sync::{format_error, git_error, path_error},
        },
    },
    ports::RepoEntryKind,
    store::Hash,
};

/// The version of the import rules. Increment it when the rules change, so that everything is imported again.
const IMPORT_RULES_VERSION: u32 = 6;
/// Number of bytes of a layout that are hashed at once.
const LAYOUT_CHUNK: usize = 64 << 10;
/// Maximum share of changed items: one in this many. Above it, a full import is faster.
const MIN_ITEMS_PER_CHANGE: usize = 4;
/// Maximum number of links that are checked per page or reusable content block.
const MAX_LINKS: usize = 10_000;

/// The items with changed bytes.
#[derive(Default)]
struct ChangedItems<'p> {
    pages: Vec<(&'p PlannedPage, &'p PlannedFile)>,
    includes: Vec<&'p PlannedInclude>,
    files: Vec<(FileId, String, PlannedFile)>,
}

impl ChangedItems<'_> {
    fn texts(&self) -> impl Iterator<Item = &PlannedFile> {
        self.pages.iter().map(|(_, file)| *file).chain(self.includes.iter().map(|include| &include.file))
    }

    fn count(&self) -> usize {
        self.pages.len() + self.includes.len() + self.files.len()
    }
}

impl Importer<'_> {
    /// Hashes the commit without the bytes of the imported items.
    pub(super) fn layout(&self, project: &RepoPath) -> Hash {
        self.layout_without(project, |path| {
            RepoPath::new(path).is_ok_and(|path| {
                self.pages.contains_key(&path)
                    || self.files.contains_key(&path)
                    || self.reusables.contains_key(&path)
            })
        })
    }

    /// Returns the layout hash of the commit under the assumption that the previously imported items are imported
    /// again.
    fn layout_before(&self, project: &RepoPath) -> Hash {
        let before = &self.before;
        self.layout_without(project, |path| {
            before.pages.contains_key(path)
                || before.files.contains_key(path)
                || before.reusables.contains_key(path)
        })
    }

    fn layout_without(&self, project: &RepoPath, is_content: impl Fn(&str) -> bool) -> Hash {
        let mut text = format!("{IMPORT_RULES_VERSION} {project}");
        if let Some(host) = &self.host {
            text.push('\0');
            text.push_str(&host.view(project, None));
        }
        for entry in self.checkout.entries() {
            let (kind, target) = match &entry.kind {
                RepoEntryKind::File => ("file", ""),
                RepoEntryKind::Executable => ("executable", ""),
                RepoEntryKind::Symlink(target) => ("link", target.as_str()),
                RepoEntryKind::Submodule => ("module", ""),
            };
            let oid = if is_content(&entry.path) { "" } else { entry.oid.as_str() };
            for part in [kind, &entry.path, target, oid] {
                text.push('\0');
                text.push_str(part);
            }
            if text.len() > LAYOUT_CHUNK {
                text = Hash::compute(text.as_bytes()).to_string();
            }
        }
        Hash::compute(text.as_bytes())
    }

    /// Reads the changes since the last import, or returns `None` if a full import is needed.
    pub(super) async fn read_changed(
        &mut self,
        project: &RepoPath,
        tree: &RepoTree,
        config: &RepoConfig,
        plan: &ImportPlan,
    ) -> Result<Option<CommitContent>> {
        // Edits of the space have moved its head, which is detected without reading the commit.
        let left = self.space.git.as_ref().filter(|git| git.revision.as_ref() == Some(&self.space.head));
        let Some(layout) =
            left.and_then(|git| git.layout).filter(|left| *left == self.layout_before(project))
        else {
            return Ok(None);
        };
        let said = self.warnings.len();
        let read = self.read_changed_items(tree, plan, config, layout).await?;
        if read.is_none() {
            // A full import follows, so partial results are discarded.
            self.texts.clear();
            self.links.clear();
            self.link_count = 0;
            self.files.clear();
            self.directives = Directives::default();
            self.warnings.truncate(said);
        }
        Ok(read)
    }

    async fn read_changed_items(
        &mut self,
        tree: &RepoTree,
        plan: &ImportPlan,
        config: &RepoConfig,
        layout: Hash,
    ) -> Result<Option<CommitContent>> {
        let Some(changed) = self.find_changed(tree, plan)? else { return Ok(None) };
        let all = self.before.pages.len() + self.before.files.len() + self.before.reusables.len();
        if changed.count() * MIN_ITEMS_PER_CHANGE > all {
            return Ok(None);
        }
        self.name_pages(&plan.pages).await?;
        self.landing = self.readme_page(&config.readme, &plan.pages);
        self.name_reusables(plan);
        self.files = self
            .before
            .files
            .iter()
            .filter_map(|(path, (id, _))| Some((RepoPath::new(path).ok()?, id.clone())))
            .collect();
        let mut wanted = plan.clone();
        for file in changed.texts() {
            let text = self.planned_text(file).await?;
            let links = PageLinks::read(&text, &file.path, &plan.root);
            for reference in links.references() {
                wanted.refer(tree, &reference.path).map_err(format_error)?;
            }
            self.cache_links(&file.path, links);
            if self.pages.contains_key(&file.path) {
                self.resolve_directives(&file.path, &text, (tree, config), &mut wanted).await?;
            }
            self.texts.insert(file.path.clone(), text);
        }
        if self.includes_items() || !self.has_same_files(&wanted, &changed).await? {
            return Ok(None);
        }
        self.store_sources().await?;
        self.link_texts(tree, config);
        self.store_expansions(tree, config).await?;
        let Some(edits) = self.edits(&changed).await? else { return Ok(None) };
        let now = self.platform.now().time();
        let edited = self.platform.content().edit(&self.space.domain, self.space.root, now, &edits).await;
        let edited = edited.map_err(Error::from)?;
        let what = format!(
            "read {} pages, {} files and {} reusable contents that changed, of {all}",
            changed.pages.len(),
            changed.files.len(),
            changed.includes.len()
        );
        let mut warnings = self.take_warnings();
        warnings.extend(plan.warnings.iter().map(Warning::to_string));
        Ok(Some(CommitContent {
            root: edited.root,
            layout: Some(layout),
            places: content_paths(config),
            what,
            warnings,
        }))
    }

    /// Returns the items with changed bytes, or `None` if an item is new or too large.
    fn find_changed<'p>(&self, tree: &RepoTree, plan: &'p ImportPlan) -> Result<Option<ChangedItems<'p>>> {
        let (mut changed, mut texts, mut files) = (ChangedItems::default(), 0, 0);
        for page in plan.documents() {
            let PlannedKind::Document { file: Some(file), .. } = &page.kind else { continue };
            let Some((_, before)) = self.before.pages.get(file.path.as_str()) else { return Ok(None) };
            texts += file.size.min(MAX_PAGE_FILE_BYTES);
            if before.git != self.git_blob(file) {
                changed.pages.push((page, file));
            }
        }
        for include in &plan.includes {
            let Some((_, before)) = self.before.reusables.get(include.file.path.as_str()) else {
                return Ok(None);
            };
            texts += include.file.size.min(MAX_PAGE_FILE_BYTES);
            if self.git_blob(&include.file).is_none_or(|git| git.oid != *before) {
                changed.includes.push(include);
            }
        }
        for (path, (id, before)) in &self.before.files {
            let path = RepoPath::new(path).map_err(|error| path_error(&error))?;
            let Some(file) = tree.file(&path).map_err(format_error)? else { return Ok(None) };
            files += file.size;
            if before.git != self.git_blob(&file) {
                changed.files.push((id.clone(), before.name.clone(), file));
            }
        }
        check_size("pages", texts, MAX_TEXT_BYTES)?;
        check_size("files", files, MAX_FILES_BYTES)?;
        let is_too_long = |file: &PlannedFile| file.size > MAX_PAGE_FILE_BYTES;
        let has_too_long = changed.texts().any(is_too_long);
        Ok((!has_too_long).then_some(changed))
    }

    /// Returns `true` if the set of imported files is unchanged. `wanted` contains the files that the changed texts
    /// reference.
    async fn has_same_files(&self, wanted: &ImportPlan, changed: &ChangedItems<'_>) -> Result<bool> {
        let wanted: HashSet<&str> = wanted.assets.iter().map(|asset| asset.file.path.as_str()).collect();
        if wanted.iter().any(|path| !self.before.files.contains_key(*path)) {
            return Ok(false);
        }
        let may_go: HashSet<&FileId> = self
            .before
            .files
            .iter()
            .filter(|(path, _)| !wanted.contains(path.as_str()))
            .map(|(_, (id, _))| id)
            .collect();
        if may_go.is_empty() {
            return Ok(true);
        }
        let pages = changed.pages.iter().filter_map(|(_, file)| self.pages.get(&file.path).cloned());
        let includes = changed.includes.iter().filter_map(|it| self.reusables.get(&it.file.path).cloned());
        let sources: HashSet<LinkSource> =
            pages.map(LinkSource::Page).chain(includes.map(LinkSource::Reusable)).collect();
        let view = self.platform.content().view(&self.space.domain, self.space.root);
        for source in &sources {
            let range = LinkRange { standing: LinkState::Inside, source: Some(source.clone()) };
            let links = view.links(&range, None, MAX_LINKS).await?;
            if links.len() == MAX_LINKS {
                return Ok(false);
            }
            for (_, link) in links {
                let ContentRef::File { file } = link.reference else { continue };
                if may_go.contains(&file) && !is_shown_elsewhere(&view, file, &sources).await? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Returns the edits that bring the space up to date. Returns `None` if the slug of a page would change, since that
    /// may affect the slugs of other pages, or if a file is now stored in Git LFS.
    async fn edits(&mut self, changed: &ChangedItems<'_>) -> Result<Option<Vec<Edit>>> {
        let mut edits = Vec::new();
        for files in self.by_blob(changed.files.iter().map(|changed| (&changed.2.source, changed))) {
            let Some((_, _, first)) = files.first() else { continue };
            let bytes = self.checkout.read(first.source.as_str()).await.map_err(git_error)?;
            if LfsPointer::parse(&bytes).is_some() {
                return Ok(None);
            }
            let names = files.iter().map(|(_, name, file)| (name.as_str(), self.git_blob(file))).collect();
            let new = vec![SharedContent { bytes, files: names }];
            let entries = self.platform.store_files(&self.space.domain, new).await?;
            let put = files.into_iter().zip(entries);
            edits.extend(put.map(|((id, ..), entry)| Edit::PutFile { file: id.clone(), entry }));
        }
        for include in &changed.includes {
            let Some(reusable) = self.reusables.get(&include.file.path).cloned() else { return Ok(None) };
            edits.push(Edit::PutReusable { reusable, fields: self.reusable(include) });
        }
        for (page, file) in &changed.pages {
            let built = self.page(page, None)?;
            let before = self.before.pages.get(file.path.as_str());
            if before.is_none_or(|(_, before)| built.fields.slug.as_ref() != Some(&before.slug)) {
                return Ok(None);
            }
            edits.push(Edit::ReplacePage(Box::new(built)));
        }
        Ok(Some(edits))
    }
}

/// Returns `true` if the file is linked from anywhere except these sources.
async fn is_shown_elsewhere(view: &View, file: FileId, sources: &HashSet<LinkSource>) -> Result<bool> {
    let found = view.backlinks(&LinkTarget::File(file), None, sources.len() + 1).await?;
    Ok(found.iter().any(|(source, _)| !sources.contains(source)))
}
