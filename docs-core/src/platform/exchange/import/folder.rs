//! Imports of folders of Markdown files, in the order of a table of contents or of the folders.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet, HashMap},
};

use bytes::Bytes;

use super::{
    ImportItems,
    exports::ExportNames,
    gather::{Draft, MAX_FILES_BYTES, truncate_title},
    warnings::ImportWarnings,
};
use crate::{
    Error, Result,
    content::{
        Edit, NewBody, NewPage, PageKind, PagePatch, ReusablePatch,
        directives::{IncludeBudget, IncludedFile, resolve},
        gitsync::{
            BookFormat, CommitEntry, EntryKind, FormatError, HONKIT_FILE, ImportPlan, LfsPointer,
            MDBOOK_FILE, PlannedFile, PlannedKind, PlannedPage, Reference, ReferenceKind, RepoConfig,
            RepoPath, RepoTree, link_whole_book, references, variables,
        },
        markdown::{MAX_PAGE_FILE_BYTES, parse_page},
        reference::parse_exact,
        run_in_place, yield_to_others,
    },
    model::{ContentRef, FileId, PageId, ReusableId, without_nul},
    platform::{content::files::NewFile, kernel::platform::Platform},
    ports::MAX_TEXTS_BYTES,
};

/// Maximum number of pages in a folder.
pub(in crate::platform) const MAX_PAGES: usize = 1_000;
/// Maximum number of imported files referenced by the pages of a folder.
pub(in crate::platform) const MAX_FILES: usize = 1_000;

/// Files by path.
pub(in crate::platform) struct Folder {
    /// The name used in error messages.
    name: &'static str,
    files: BTreeMap<RepoPath, Bytes>,
    /// The new paths of pages, keyed by the paths that links use.
    aliases: HashMap<RepoPath, RepoPath>,
    /// A generated table of contents.
    summary: Option<String>,
    /// The names that links use and those of the files.
    names: ExportNames,
    /// The total size of the generated texts in bytes.
    text_bytes: u64,
}

impl Folder {
    pub(in crate::platform) fn new(name: &'static str) -> Self {
        Self {
            name,
            files: BTreeMap::new(),
            aliases: HashMap::new(),
            summary: None,
            names: ExportNames::default(),
            text_bytes: 0,
        }
    }

    /// Adds the generated text of a page: converted, or with other links.
    ///
    /// # Errors
    /// `Invalid` if all generated texts together exceed [`MAX_TEXTS_BYTES`].
    pub(super) fn put_text(&mut self, path: RepoPath, text: String) -> Result<()> {
        self.text_bytes += text.len() as u64;
        self.check_texts(self.text_bytes)?;
        self.put(path, text.into());
        Ok(())
    }

    fn check_texts(&self, bytes: u64) -> Result<()> {
        if bytes <= MAX_TEXTS_BYTES {
            return Ok(());
        }
        let what = format!(
            "the pages of {} must be at most {MAX_TEXTS_BYTES} bytes together, have {bytes}",
            self.name
        );
        Err(Error::invalid("url", what))
    }

    pub(in crate::platform) fn put(&mut self, path: RepoPath, bytes: Bytes) {
        self.files.insert(path, bytes);
    }

    pub(super) fn has(&self, path: &RepoPath) -> bool {
        self.files.contains_key(path)
    }

    /// Returns the size of all files in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.files.values().map(|bytes| bytes.len() as u64).sum()
    }

    /// Returns the size of all Markdown files in bytes.
    pub(super) fn markdown_bytes(&self) -> u64 {
        let files = self.files.iter().filter(|(path, _)| path.is_markdown());
        files.map(|(_, bytes)| bytes.len() as u64).sum()
    }

    /// Redirects links from one path to another.
    pub(super) fn alias(&mut self, from: RepoPath, to: RepoPath) {
        self.aliases.insert(from, to);
    }

    /// Sets the names by which links refer to files.
    pub(super) fn rename(&mut self, names: ExportNames) {
        self.names = names;
    }

    /// Returns the paths of all files.
    pub(super) fn paths(&self) -> impl Iterator<Item = &RepoPath> {
        self.files.keys()
    }

    /// Sets a table of contents that takes precedence over a file in the folder.
    pub(super) fn contents(&mut self, summary: String) {
        self.summary = Some(summary);
    }

    /// Returns the configuration: that of `.gitbook.yaml`, of mdBook or of HonKit, or the defaults.
    fn config(&self) -> std::result::Result<RepoConfig, FormatError> {
        let root = RepoPath::default();
        if let Some(text) = self.text(&RepoConfig::path(&root)) {
            return RepoConfig::read(Some(&text), &root);
        }
        let text = |name: &str| self.text(&RepoPath::new(name).ok()?);
        if let Some(text) = text(MDBOOK_FILE) {
            return Ok(RepoConfig::from_mdbook(&text, &root));
        }
        if let Some(text) = text(HONKIT_FILE) {
            return Ok(RepoConfig::from_honkit(&text, &root));
        }
        RepoConfig::read(None, &root)
    }

    /// Uses `index.md` as the README of a folder without one, unless the folder has a table of contents.
    pub(super) fn use_index_as_readme(&mut self) {
        if self.config().is_ok_and(|config| self.has(&config.summary)) {
            return;
        }
        let indexes: Vec<RepoPath> =
            self.files.keys().filter(|path| path.name() == "index.md").cloned().collect();
        for index in indexes {
            let Ok(readme) = index.folder().join("README.md") else { continue };
            if self.has(&readme) {
                continue;
            }
            if let Some(bytes) = self.files.remove(&index) {
                self.files.insert(readme.clone(), bytes);
            }
            for to in self.aliases.values_mut().filter(|to| **to == index) {
                *to = readme.clone();
            }
            self.aliases.insert(index, readme);
        }
    }

    /// Stores the files and adds everything to an import.
    pub(in crate::platform) async fn add_to(
        self,
        platform: &Platform,
        domain: &str,
        gathered: &mut ImportItems,
    ) -> Result<()> {
        let mut tree = RepoTree::new(self.files.iter().map(|(path, bytes)| CommitEntry {
            path: path.to_string(),
            size: bytes.len() as u64,
            kind: EntryKind::File,
        }));
        let wrong = |error: FormatError| Error::invalid("url", format_args!("{}: {error}", self.name));
        let config = self.config().map_err(wrong)?;
        let summary = self.summary.clone().or_else(|| self.text(&config.summary));
        link_whole_book(&mut tree, &config, summary.as_deref());
        let mut plan = ImportPlan::new(&config, &tree, summary.as_deref()).map_err(wrong)?;
        plan.warnings.iter().for_each(|warning| gathered.warnings.add(warning.to_string()));
        let mut texts = self.texts(&plan)?;
        let titles = directive_titles(&texts, config.format);
        let mut budget = IncludeBudget::default();
        let mut text_bytes = 0;
        for (path, text) in &mut texts {
            let expanded = run_in_place(|| self.expanded(path, text, &config, &mut budget, gathered));
            if let Some(expanded) = expanded {
                *text = expanded;
            }
            text_bytes += text.len() as u64;
            self.check_texts(text_bytes)?;
            for reference in page_references(text, path, &plan.root) {
                plan.refer(&tree, &self.names.rename(&reference.path)).map_err(wrong)?;
            }
            yield_to_others().await;
        }
        plan.file_warning().into_iter().for_each(|warning| gathered.warnings.add(warning));
        let mut reader = FolderReader::new(&self, platform, &tree, &plan);
        reader.titles = titles;
        reader.name(&plan);
        reader.add_files(domain, &plan, gathered).await?;
        reader.add_includes(&plan, &texts, gathered)?;
        reader.add_pages(&plan, &texts, gathered).await?;
        reader.add_variables(&plan, gathered).map_err(wrong)?;
        let redirects = plan.redirects.iter().filter_map(|redirect| {
            let page = reader.pages.get(&redirect.to)?.clone();
            Some((redirect.from.clone(), page, redirect.anchor.clone()))
        });
        let redirects: Vec<_> = redirects.collect();
        if !redirects.is_empty() {
            gathered.edits.push(Edit::AddRedirects { redirects });
        }
        Ok(())
    }

    /// Returns the text of a page of mdBook or HonKit with the results of its directives, or `None` if it has none.
    fn expanded(
        &self,
        page: &RepoPath,
        text: &str,
        config: &RepoConfig,
        budget: &mut IncludeBudget,
        gathered: &mut ImportItems,
    ) -> Option<String> {
        if config.format == BookFormat::Native {
            return None;
        }
        let mut included = HashMap::new();
        let mut bytes_left = MAX_TEXTS_BYTES;
        loop {
            let resolved = resolve(text, page, config, &included, budget)?;
            if resolved.unread.is_empty() {
                for warning in resolved.warnings {
                    gathered.warnings.add(format!("`{page}`: {warning}"));
                }
                return Some(resolved.expansions.expand(text).into_owned());
            }
            for path in resolved.unread {
                let size = self.files.get(&path).map_or(0, |bytes| bytes.len() as u64);
                let file = match bytes_left.checked_sub(size) {
                    _ if size > MAX_PAGE_FILE_BYTES => IncludedFile::Missing("is too large"),
                    None => IncludedFile::Missing("exceeds the size of the included files of a page"),
                    Some(left) => {
                        bytes_left = left;
                        self.text(&path).map_or(IncludedFile::Missing("does not exist"), IncludedFile::Text)
                    }
                };
                included.insert(path, file);
            }
        }
    }

    fn text(&self, path: &RepoPath) -> Option<String> {
        let text = String::from_utf8_lossy(self.files.get(path)?).into_owned();
        Some(match without_nul(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(clean) => clean,
        })
    }

    /// Returns the text of all pages and reusable content blocks.
    fn texts(&self, plan: &ImportPlan) -> Result<BTreeMap<RepoPath, String>> {
        let pages = plan.documents().filter_map(|page| match &page.kind {
            PlannedKind::Document { file: Some(file), .. } => Some(&file.path),
            _ => None,
        });
        let paths: BTreeSet<&RepoPath> =
            pages.chain(plan.includes.iter().map(|include| &include.file.path)).collect();
        if paths.len() > MAX_PAGES {
            let what = format!("{} must have at most {MAX_PAGES} pages, has {}", self.name, paths.len());
            return Err(Error::invalid("url", what));
        }
        // The size is checked before any text is copied.
        self.check_texts(paths.iter().filter_map(|path| self.files.get(*path)).map(text_length).sum())?;
        Ok(paths.into_iter().map(|path| (path.clone(), self.text(path).unwrap_or_default())).collect())
    }
}

/// Returns `true` for a link to a resource that is not part of a folder, such as `/openapi/petstore`.
fn is_resource(link: &str) -> bool {
    match parse_exact(link) {
        Some(
            ContentRef::OpenApi { .. }
            | ContentRef::User { .. }
            | ContentRef::Collection { .. }
            | ContentRef::Space { .. },
        ) => true,
        Some(ContentRef::Page { space, .. } | ContentRef::ReusableContent { space, .. }) => space.is_some(),
        Some(ContentRef::Url { .. } | ContentRef::File { .. } | ContentRef::Anchor { .. }) | None => false,
    }
}

/// Returns the titles that `{{#title …}}` sets in pages of mdBook. Readers see the text without the directive.
fn directive_titles(texts: &BTreeMap<RepoPath, String>, format: BookFormat) -> HashMap<RepoPath, String> {
    let title = |text: &str| parse_page(text).repository_fields(format).title;
    let books = texts.iter().filter(|(_, text)| format == BookFormat::MdBook && text.contains("{{#title"));
    books.filter_map(|(path, text)| Some((path.clone(), title(text)?))).collect()
}

/// Returns the size of a file as text in bytes. A text that is not UTF-8 needs up to three bytes for each of its bytes.
fn text_length(bytes: &Bytes) -> u64 {
    let factor = if str::from_utf8(bytes).is_ok() { 1 } else { 3 };
    factor * bytes.len() as u64
}

/// Returns the references of a page. A file that is too large for a page is imported without its text.
fn page_references(text: &str, page: &RepoPath, root: &RepoPath) -> Vec<Reference> {
    if text.len() as u64 > MAX_PAGE_FILE_BYTES {
        return Vec::new();
    }
    run_in_place(|| references(text, page, root))
}

/// Reads a folder, and maps its files to the ids of the new items.
struct FolderReader<'a> {
    folder: &'a Folder,
    platform: &'a Platform,
    tree: &'a RepoTree,
    root: &'a RepoPath,
    pages: HashMap<RepoPath, PageId>,
    files: HashMap<RepoPath, FileId>,
    includes: HashMap<RepoPath, ReusableId>,
    /// The titles that directives of mdBook set.
    titles: HashMap<RepoPath, String>,
}

impl<'a> FolderReader<'a> {
    fn new(folder: &'a Folder, platform: &'a Platform, tree: &'a RepoTree, plan: &'a ImportPlan) -> Self {
        Self {
            folder,
            platform,
            tree,
            root: &plan.root,
            pages: HashMap::new(),
            files: HashMap::new(),
            includes: HashMap::new(),
            titles: HashMap::new(),
        }
    }

    /// Assigns ids to all pages and reusable content blocks, so that links can refer to items that are added later.
    fn name(&mut self, plan: &ImportPlan) {
        for page in plan.documents() {
            if let PlannedKind::Document { file: Some(file), .. } = &page.kind {
                self.pages.insert(file.path.clone(), self.platform.id());
            }
        }
        for include in &plan.includes {
            self.includes.insert(include.file.path.clone(), self.platform.id());
        }
    }

    async fn add_files(&mut self, domain: &str, plan: &ImportPlan, gathered: &mut ImportItems) -> Result<()> {
        gathered.total += plan.assets.len() as u64;
        let beyond = plan.assets.len().saturating_sub(MAX_FILES);
        if beyond > 0 {
            gathered.warnings.add(format!("{beyond} files beyond the limit of {MAX_FILES} are left out"));
        }
        let mut left = MAX_FILES_BYTES;
        for asset in plan.assets.iter().take(MAX_FILES) {
            let Some(bytes) = self.folder.files.get(&asset.file.source) else { continue };
            let Some(rest) = left.checked_sub(bytes.len() as u64) else {
                let what = format!("`{}` is left out: it exceeds the size of an import", asset.file.path);
                gathered.warnings.add(what);
                continue;
            };
            left = rest;
            if LfsPointer::parse(bytes).is_some() {
                let problem = "the import has only a pointer of Git LFS";
                gathered.warnings.add(format!("`{}` is left out: {problem}", asset.file.path));
                continue;
            }
            let new = NewFile { name: &asset.name, content_type: None, bytes: bytes.clone(), git: None };
            let entry = self.platform.store_file(domain, new).await?;
            let file: FileId = self.platform.id();
            self.files.insert(asset.file.path.clone(), file.clone());
            gathered.imported += 1;
            gathered.edits.push(Edit::PutFile { file, entry });
        }
        Ok(())
    }

    /// Adds the variables of the space.
    fn add_variables(
        &self,
        plan: &ImportPlan,
        gathered: &mut ImportItems,
    ) -> std::result::Result<(), FormatError> {
        let Some(file) = &plan.variables else { return Ok(()) };
        let text = self.folder.text(&file.path).unwrap_or_default();
        let (found, warnings) = variables(&text, &file.path)?;
        warnings.iter().for_each(|warning| gathered.warnings.add(warning.to_string()));
        if !found.is_empty() {
            let variables = found.into_iter().map(|(name, value)| (name, Some(value))).collect();
            gathered.edits.push(Edit::SetVariables { variables });
        }
        Ok(())
    }

    fn add_includes(
        &self,
        plan: &ImportPlan,
        texts: &BTreeMap<RepoPath, String>,
        gathered: &mut ImportItems,
    ) -> Result<()> {
        for include in &plan.includes {
            let (Some(id), Some(text)) =
                (self.includes.get(&include.file.path), texts.get(&include.file.path))
            else {
                continue;
            };
            let text = self.resolve_links(text, &include.file.path, &mut gathered.warnings);
            let source = parse_page(&text);
            let fields = ReusablePatch {
                title: Some(truncate_title(source.front.fields.title.as_deref().unwrap_or(&include.title))),
                body: Some(NewBody::Text(source.body.into_owned())),
                ..ReusablePatch::default()
            };
            gathered.push_text(Edit::PutReusable { reusable: id.clone(), fields });
            gathered.check_texts(self.folder.name)?;
        }
        Ok(())
    }

    async fn add_pages(
        &self,
        plan: &ImportPlan,
        texts: &BTreeMap<RepoPath, String>,
        gathered: &mut ImportItems,
    ) -> Result<()> {
        let mut stack: Vec<(&PlannedPage, Option<PageId>)> =
            plan.pages.iter().rev().map(|page| (page, None)).collect();
        while let Some((page, parent)) = stack.pop() {
            let id = match &page.kind {
                PlannedKind::Document { file: Some(file), .. } => self.pages.get(&file.path).cloned(),
                _ => None,
            };
            let id = id.unwrap_or_else(|| self.platform.id());
            stack.extend(page.pages.iter().rev().map(|below| (below, Some(id.clone()))));
            if matches!(page.kind, PlannedKind::Document { file: Some(_), .. }) {
                gathered.imported += 1;
                gathered.total += 1;
            }
            let edit = self.page(page, (id, parent), texts, &mut gathered.warnings);
            gathered.push_text(edit);
            gathered.check_texts(self.folder.name)?;
            if matches!(page.kind, PlannedKind::Document { file: Some(_), .. }) {
                yield_to_others().await;
            }
        }
        Ok(())
    }

    fn page(
        &self,
        page: &PlannedPage,
        (id, parent): (PageId, Option<PageId>),
        texts: &BTreeMap<RepoPath, String>,
        warnings: &mut ImportWarnings,
    ) -> Edit {
        let new = |kind, fields| {
            Edit::InsertPage(Box::new(NewPage {
                parent: parent.clone(),
                ..NewPage::new(id.clone(), kind, fields)
            }))
        };
        let titled = PagePatch { slug: Some(page.slug().to_owned()), ..PagePatch::from_title(&page.title) };
        match &page.kind {
            PlannedKind::Document { file: Some(file), .. } => {
                let text = texts.get(&file.path).map(String::as_str).unwrap_or_default();
                let markdown = self.resolve_links(text, &file.path, warnings);
                // The slug of the README of the whole folder is derived from the title of the page, not from its file
                // name. The README of a subfolder has the name of the subfolder.
                let is_first = parent.is_none() && file.path.is_readme() && file.path.folder() == *self.root;
                let slug = Some(page.slug().to_owned()).filter(|_| !is_first);
                Draft {
                    id: id.clone(),
                    parent: parent.clone(),
                    title: self.titles.get(&file.path).unwrap_or(&page.title),
                    slug,
                    markdown: &markdown,
                }
                .edit()
            }
            PlannedKind::Document { file: None, .. } => new(PageKind::Document, titled),
            PlannedKind::Group => new(PageKind::Group, titled),
            PlannedKind::Link { url, file } => {
                let target = Some(Some(self.target(url, file.as_ref())));
                new(PageKind::Link, PagePatch { target, ..PagePatch::from_title(&page.title) })
            }
            PlannedKind::Computed { value } => {
                let computed = Some(Some(value.clone().into()));
                new(PageKind::Computed, PagePatch { computed, ..PagePatch::from_title(&page.title) })
            }
        }
    }

    fn target(&self, url: &str, file: Option<&PlannedFile>) -> ContentRef {
        let page = file.and_then(|file| self.pages.get(&file.path)).cloned();
        let asset = file.and_then(|file| self.files.get(&file.path)).cloned();
        let anchor = url.split_once('#').map(|(_, anchor)| anchor).filter(|anchor| !anchor.is_empty());
        match (page, anchor, asset) {
            (Some(page), Some(anchor), _) => {
                ContentRef::Anchor { anchor: anchor.to_owned(), page: Some(page), space: None }
            }
            (Some(page), None, _) => ContentRef::Page { page, space: None },
            (None, _, Some(file)) => ContentRef::File { file },
            (None, _, None) => ContentRef::Url { url: url.to_owned() },
        }
    }

    /// Replaces links to pages, files and reusable content blocks with links to their ids. Unresolved links are left
    /// unchanged.
    fn resolve_links(&self, text: &str, page: &RepoPath, warnings: &mut ImportWarnings) -> String {
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for reference in page_references(text, page, self.root) {
            let written = text.get(reference.range.clone()).unwrap_or_default();
            // A front matter value that is folded over several lines cannot be replaced in place.
            let is_whole = !written.is_empty() && !written.contains(char::is_whitespace);
            let is_whole = is_whole || reference.kind != ReferenceKind::Cover;
            if reference.range.start < at || !is_whole {
                continue;
            }
            let Some(to) = self.destination(&reference.path, reference.kind) else {
                if is_resource(written) {
                    continue;
                }
                warnings.add(format!("`{page}`: `{}` is not a page or file of the import", reference.path));
                continue;
            };
            out.push_str(text.get(at..reference.range.start).unwrap_or_default());
            out.push_str(&to);
            if let Some(anchor) = &reference.anchor {
                out.push('#');
                out.push_str(anchor);
            }
            at = reference.range.end;
        }
        out.push_str(text.get(at..).unwrap_or_default());
        out
    }

    /// Returns the destination of a path within the space.
    fn destination(&self, path: &RepoPath, kind: ReferenceKind) -> Option<String> {
        let renamed = self.folder.names.rename(path);
        let path = self.folder.aliases.get(&renamed).unwrap_or(&renamed);
        if kind == ReferenceKind::Include {
            return self.includes.get(path).map(|id| format!("/reusable-content/{id}"));
        }
        let known = |path: &RepoPath| {
            let page = self.pages.get(path).map(|page| format!("/pages/{page}"));
            page.or_else(|| self.files.get(path).map(|file| format!("/files/{file}")))
        };
        if let Some(found) = known(path) {
            return Some(found);
        }
        // A folder resolves to its README, and a name without an extension to a page.
        let located = self.tree.locate_linked(path).ok().flatten().map(|file| file.path);
        let named = || path.folder().join(&format!("{}.md", path.name())).ok();
        located.as_ref().and_then(known).or_else(|| {
            let named = named()?;
            known(self.folder.aliases.get(&named).unwrap_or(&named))
        })
    }
}
