//! Reading a repository as content: all pages, files, reusable content blocks and variables, with their previous ids.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use super::directive_state::Directives;
use crate::{
    Error, Result,
    content::{
        BuildItem, BuildPage, ContentError, FileEntry, NewBody, PageEntry, PageKind, PagePatch,
        ReusablePatch,
        gitsync::{
            BookFormat, FileHost, ImportPlan, PageLinks, PlannedFile, PlannedInclude, PlannedKind,
            PlannedPage, RepoConfig, RepoPath, RepoTree, Warning, link_whole_book, name_problem, variables,
        },
        markdown::{
            MAX_LINKS, MAX_PAGE_FILE_BYTES, PageSource, cover_of, parse_include, parse_page, web_reference,
        },
        reference::{destination, parse_exact},
    },
    model::{
        ContentRef, FileId, GitBlob, JobProgress, JobStage, JsonText, MAX_RECORD_BYTES, MAX_TITLE, PageId,
        PageTooLong, ReusableId, check_page_size,
    },
    platform::{
        exchange::{
            git::{
                commit_files::{
                    book_config, content_paths, decode_text, list_bytes, repo_tree, stored_values_warning,
                },
                sync::{UnexportableFields, format_error, git_error},
            },
            import::gather::UNKNOWN_IMPORT_BYTES,
        },
        jobs::Progress,
        kernel::{
            import_memory::{ImportSize, Reservation},
            platform::Platform,
        },
    },
    ports::Checkout,
    store::{
        Hash,
        records::{ContentPaths, SpaceRecord},
    },
};

/// Maximum total size in bytes of all pages and reusable content blocks, which are held in memory at the same time.
pub(in crate::platform::exchange::git) const MAX_TEXT_BYTES: u64 = 200_000_000;
/// Maximum total size of all files in bytes.
pub(super) const MAX_FILES_BYTES: u64 = 2_000_000_000;

/// The result of reading a commit.
pub(in crate::platform::exchange::git) struct CommitContent {
    pub(in crate::platform::exchange::git) root: Hash,
    /// Hash of the commit without the bytes of the imported items. `None` if the next import must read everything.
    pub(in crate::platform::exchange::git) layout: Option<Hash>,
    /// The locations of the content in the commit.
    pub(in crate::platform::exchange::git) places: Option<ContentPaths>,
    /// A summary of the imported content, as a sentence.
    pub(in crate::platform::exchange::git) what: String,
    /// Messages about content that was omitted or interpreted in a way that the author may not expect.
    pub(in crate::platform::exchange::git) warnings: Vec<String>,
}

/// Reads one checkout for one space.
pub(super) struct Importer<'a> {
    pub(super) platform: &'a Platform,
    pub(super) space: &'a SpaceRecord,
    pub(super) checkout: &'a dyn Checkout,
    /// Object ids by path.
    oids: HashMap<&'a str, &'a str>,
    pub(super) before: PreviousState,
    /// The texts by path. The paths of a blob share one text until their links are resolved.
    pub(super) texts: HashMap<RepoPath, Arc<str>>,
    /// The texts read so far, by their object ids, with their replacements.
    decoded: HashMap<&'a str, (Arc<str>, Vec<&'static str>)>,
    /// The cached links of each text, and the number of links parsed so far.
    pub(super) links: HashMap<RepoPath, PageLinks>,
    pub(super) link_count: usize,
    /// The original texts of the repository, stored as objects.
    sources: HashMap<RepoPath, Hash>,
    pub(super) files: HashMap<RepoPath, FileId>,
    pub(super) pages: HashMap<RepoPath, PageId>,
    pub(super) reusables: HashMap<RepoPath, ReusableId>,
    /// The format of the repository.
    format: BookFormat,
    pub(super) directives: Directives,
    pub(super) landing: Option<ReadmePage>,
    pub(super) warnings: Vec<String>,
    /// The handling of fields that files cannot represent.
    pub(super) unsaid: UnexportableFields,
    /// The host that shows the files of the repository.
    pub(super) host: Option<FileHost>,
    memory: Reservation,
    /// The bytes reserved for the list of files.
    list_bytes: u64,
}

/// The README file that provides the first page, if that page existed before.
pub(super) struct ReadmePage {
    path: RepoPath,
    /// The previous slug of the page.
    slug: String,
    /// The slug derived from the file name, which the page does not use.
    planned: String,
}

impl ReadmePage {
    /// Returns `true` if a slug has a numeric suffix only because the file name of the README yields the same slug.
    fn conflicts_with(&self, slug: &str) -> bool {
        let number = slug.strip_prefix(self.planned.as_str()).and_then(|rest| rest.strip_prefix('-'));
        self.slug != self.planned && number.is_some_and(|number| number.parse::<u64>().is_ok())
    }
}

/// The previous content of the space. Items that are still in the repository keep their ids.
#[derive(Default)]
pub(super) struct PreviousState {
    pub(super) pages: HashMap<String, (PageId, PageEntry)>,
    /// Pages without a file, by their path in the space.
    bare: HashMap<String, (PageId, PageEntry)>,
    /// The paths of these pages by parent id and slug, because the slug of a parent may not be derived from its file
    /// name.
    beside: HashMap<(Option<PageId>, String), String>,
    groups: HashMap<String, (PageId, PageEntry)>,
    /// Existing link pages, keyed by title and destination, and computed pages, keyed by source. Keys are not unique.
    links: HashMap<(String, String), VecDeque<(PageId, PageEntry)>>,
    computed: HashMap<String, VecDeque<(PageId, PageEntry)>>,
    pub(super) files: HashMap<String, (FileId, FileEntry)>,
    /// Files that exports skip because of their names.
    pub(super) unexported: Vec<(FileId, FileEntry)>,
    /// Reusable content blocks by path, with their ids and Git blob ids.
    pub(super) reusables: HashMap<String, (ReusableId, String)>,
}

impl<'a> Importer<'a> {
    pub(super) async fn new(
        platform: &'a Platform,
        space: &'a SpaceRecord,
        checkout: &'a dyn Checkout,
        unsaid: UnexportableFields,
        host: Option<FileHost>,
    ) -> Result<Self> {
        let mut memory = platform.import_memory(&space.organization);
        let list_bytes = list_bytes(checkout.entries());
        memory.run(UNKNOWN_IMPORT_BYTES + list_bytes).await;
        Ok(Self {
            platform,
            space,
            checkout,
            oids: checkout.entries().iter().map(|entry| (entry.path.as_str(), entry.oid.as_str())).collect(),
            before: PreviousState::read(platform, space).await?,
            texts: HashMap::new(),
            decoded: HashMap::new(),
            links: HashMap::new(),
            link_count: 0,
            sources: HashMap::new(),
            files: HashMap::new(),
            pages: HashMap::new(),
            reusables: HashMap::new(),
            format: BookFormat::Native,
            directives: Directives::default(),
            landing: None,
            warnings: Vec::new(),
            unsaid,
            host,
            memory,
            list_bytes,
        })
    }

    /// Reads the documentation in a folder of the repository and builds its content.
    pub(super) async fn read(
        &mut self,
        project: &RepoPath,
        tree: &RepoTree,
        config: &RepoConfig,
        mut plan: ImportPlan,
        progress: &mut Progress<'_>,
    ) -> Result<CommitContent> {
        let size = ImportSize { text_bytes: plan.text_bytes(), items: plan.items() as u64 };
        self.memory.settle(size.bytes_to_store() + self.list_bytes).await;
        self.read_texts(tree, config, &mut plan, progress).await?;
        self.warnings.extend(plan.file_warning());
        let bytes = plan.assets.iter().map(|asset| asset.file.size).sum();
        check_size("files", bytes, MAX_FILES_BYTES)?;
        let mut items = Vec::new();
        self.add_files(&plan, &mut items).await?;
        self.name_pages(&plan.pages).await?;
        self.landing = self.readme_page(&config.readme, &plan.pages);
        self.name_reusables(&plan);
        self.store_sources().await?;
        self.link_texts(tree, config);
        self.store_expansions(tree, config).await?;
        self.add_pages(&plan, &mut items)?;
        let page_count = items.iter().filter(|item| matches!(item, BuildItem::Page(_))).count();
        self.add_reusables(&plan, &mut items);
        self.add_variables(&plan, &mut items).await?;
        self.add_redirects(&plan, &mut items);
        self.warnings.extend(plan.warnings.iter().map(Warning::to_string));
        self.warnings.extend(stored_values_warning(config));
        let now = self.platform.now().time();
        let named: Vec<String> = items.iter().map(item_name).collect();
        let built = self.platform.content().build(&self.space.domain, now, items).await;
        let built = built.map_err(|error| match error {
            ContentError::Invalid { index, field, message } => {
                let item = named.get(index).map_or("the repository", String::as_str);
                Error::new(crate::ErrorKind::Invalid, format!("{item}: {field} {message}"))
            }
            other => other.into(),
        })?;
        let what = format!("read {page_count} pages and {} files", self.files.len());
        let layout = (!self.includes_items()).then(|| self.layout(project));
        let warnings = self.take_warnings();
        let (content, domain) = (self.platform.content(), &self.space.domain);
        let root = content.keep_redirects(domain, now, self.space.root, built.root).await?;
        Ok(CommitContent { root, layout, places: content_paths(config), what, warnings })
    }

    /// Reads the configuration and the table of contents, and plans the import of the files.
    pub(super) async fn plan(&mut self, project: &RepoPath) -> Result<(RepoTree, RepoConfig, ImportPlan)> {
        let mut tree = repo_tree(self.checkout);
        let config = match self.text_at(&tree, &RepoConfig::path(project)).await? {
            Some(text) => Some(RepoConfig::read(Some(&text), project).map_err(format_error)?),
            None => book_config(Some(self.checkout), &tree, project).await?,
        };
        let config = match config {
            Some(config) => config,
            None => RepoConfig::read(None, project).map_err(format_error)?,
        };
        self.format = config.format;
        let summary = self.text_at(&tree, &config.summary).await?;
        link_whole_book(&mut tree, &config, summary.as_deref());
        let plan = ImportPlan::new(&config, &tree, summary.as_deref()).map_err(format_error)?;
        Ok((tree, config, plan))
    }

    pub(super) fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    /// Returns the text of a file, or `None` if it is missing.
    async fn text_at(&mut self, tree: &RepoTree, path: &RepoPath) -> Result<Option<Arc<str>>> {
        match tree.file(path).map_err(format_error)? {
            Some(file) => self.planned_text(&file).await.map(Some),
            None => Ok(None),
        }
    }

    /// Returns the text of a file. Each blob is read once.
    pub(super) async fn planned_text(&mut self, file: &PlannedFile) -> Result<Arc<str>> {
        let oid = self.oid(&file.source);
        let (text, replaced) = match oid.and_then(|oid| self.decoded.get(oid)) {
            Some(decoded) => decoded.clone(),
            None => {
                let bytes = self.checkout.read(file.source.as_str()).await.map_err(git_error)?;
                let (text, replaced) = decode_text(bytes.to_vec());
                let decoded = (Arc::from(text), replaced);
                self.decoded.extend(oid.map(|oid| (oid, decoded.clone())));
                decoded
            }
        };
        self.warnings.extend(replaced.into_iter().map(|what| format!("{}: {what}", file.path)));
        Ok(text)
    }

    /// Returns the object id of a file.
    pub(super) fn oid(&self, source: &RepoPath) -> Option<&'a str> {
        self.oids.get(source.as_str()).copied()
    }

    /// Reads the text of all pages and reusable content blocks, and plans the files they reference.
    async fn read_texts(
        &mut self,
        tree: &RepoTree,
        config: &RepoConfig,
        plan: &mut ImportPlan,
        progress: &mut Progress<'_>,
    ) -> Result<()> {
        let mut wanted: Vec<PlannedFile> = plan
            .documents()
            .filter_map(|page| match &page.kind {
                PlannedKind::Document { file, .. } => file.clone(),
                _ => None,
            })
            .collect();
        wanted.extend(plan.includes.iter().map(|include| include.file.clone()));
        // Front matter does not count towards the page size, so slightly larger files may fit.
        let (wanted, too_long): (Vec<_>, Vec<_>) =
            wanted.into_iter().partition(|file| file.size <= MAX_PAGE_FILE_BYTES);
        for file in too_long {
            let size = usize::try_from(file.size).unwrap_or(usize::MAX);
            self.warn_of_size(&file.path, &PageTooLong { has: size });
            self.texts.insert(file.path, Arc::default());
        }
        check_size("pages", wanted.iter().map(|file| file.size).sum(), MAX_TEXT_BYTES)?;
        let total = wanted.len() as u64;
        for (read, file) in wanted.into_iter().enumerate() {
            let text = self.planned_text(&file).await?;
            let links = PageLinks::read(&text, &file.path, &plan.root);
            for reference in links.references() {
                plan.refer(tree, &reference.path).map_err(format_error)?;
            }
            if links.count() >= MAX_LINKS {
                let limit = format!("the links after the first {MAX_LINKS} are not resolved");
                self.warnings.push(format!("{}: {limit}", file.path));
            }
            self.cache_links(&file.path, links);
            self.resolve_directives(&file.path, &text, (tree, config), plan).await?;
            self.texts.insert(file.path, text);
            let done = read as u64 + 1;
            progress.count(JobStage::ContentProcess, JobProgress { done, total }).await?;
        }
        Ok(())
    }

    /// Stores the original texts of the repository, before they are modified.
    pub(super) async fn store_sources(&mut self) -> Result<()> {
        // The paths of a blob share one text. Files over the size limit were not read.
        let mut indexes: HashMap<usize, usize> = HashMap::new();
        let (mut texts, mut paths) = (Vec::<&str>::new(), Vec::new());
        for (path, text) in self.texts.iter().filter(|(_, text)| !text.is_empty()) {
            let index = *indexes.entry(text.as_ptr().addr()).or_insert_with(|| {
                texts.push(text);
                texts.len() - 1
            });
            paths.push((path, index));
        }
        let stored = self.platform.content().store_texts(&self.space.domain, &texts).await?;
        let stored = paths.into_iter().filter_map(|(path, at)| Some((path.clone(), *stored.get(at)?)));
        self.sources = stored.collect();
        self.decoded.clear();
        Ok(())
    }

    /// Returns the text of a page or reusable content block. Oversized text is omitted with a warning, and the import
    /// continues.
    fn body(&mut self, path: &RepoPath, text: &str) -> NewBody {
        match check_page_size(text) {
            Ok(()) => NewBody::Text(text.to_owned()),
            Err(error) => {
                self.warn_of_size(path, &error);
                NewBody::Empty
            }
        }
    }

    fn cut_title(&mut self, path: &RepoPath, title: &mut Option<String>) {
        let Some(title) = title else { return };
        if let Some((end, _)) = title.char_indices().nth(MAX_TITLE) {
            title.truncate(end);
            self.warnings.push(format!("{path}: title cut to {MAX_TITLE} characters"));
        }
    }

    fn warn_of_size(&mut self, path: &RepoPath, error: &PageTooLong) {
        self.warnings.push(format!("{path}: {error}; imported without its text"));
    }

    pub(super) fn git_blob(&self, file: &PlannedFile) -> Option<GitBlob> {
        let (oid, path) = (self.oid(&file.source)?.to_owned(), file.path.to_string());
        Some(GitBlob { oid, path, executable: file.is_executable })
    }

    /// Assigns an id to every page with a file: the previous id of the same path, or a match of [`Self::match_moved`].
    pub(super) async fn name_pages(&mut self, pages: &[PlannedPage]) -> Result<()> {
        let mut stack: Vec<&PlannedPage> = pages.iter().rev().collect();
        let mut new = Vec::new();
        while let Some(page) = stack.pop() {
            stack.extend(page.pages.iter().rev());
            let PlannedKind::Document { file: Some(file), .. } = &page.kind else { continue };
            match self.before.pages.get(file.path.as_str()) {
                Some((id, _)) => drop(self.pages.insert(file.path.clone(), id.clone())),
                None => new.push(file.clone()),
            }
        }
        self.match_moved(new).await
    }

    /// Returns the slug of the page for the README. The file name is not meaningful, so the page keeps its previous
    /// slug, unless another top-level page needs it.
    pub(super) fn readme_page(&self, readme: &RepoPath, pages: &[PlannedPage]) -> Option<ReadmePage> {
        let (_, entry) = self.before.pages.get(readme.as_str())?;
        let is_it = |page: &PlannedPage| matches!(&page.kind, PlannedKind::Document { file: Some(file), .. } if file.path == *readme);
        let is_taken = pages.iter().any(|page| page.slug() == entry.slug && !is_it(page));
        let planned =
            pages.iter().find(|page| is_it(page)).filter(|_| entry.parent.is_none() && !is_taken)?;
        Some(ReadmePage {
            path: readme.clone(),
            slug: entry.slug.clone(),
            planned: planned.slug().to_owned(),
        })
    }

    fn add_pages(&mut self, plan: &ImportPlan, items: &mut Vec<BuildItem>) -> Result<()> {
        let mut stack: Vec<(&PlannedPage, Option<PageId>)> =
            plan.pages.iter().rev().map(|page| (page, None)).collect();
        let mut front_matter = 0;
        while let Some((page, parent)) = stack.pop() {
            let built = self.page(page, parent)?;
            front_matter += built.front_matter_bytes();
            check_size("front matter", front_matter, MAX_RECORD_BYTES)?;
            stack.extend(page.pages.iter().rev().map(|below| (below, Some(built.id.clone()))));
            items.push(BuildItem::Page(Box::new(built)));
        }
        Ok(())
    }

    pub(super) fn page(&mut self, page: &PlannedPage, parent: Option<PageId>) -> Result<BuildPage> {
        let titled = PagePatch { slug: Some(page.slug().to_owned()), ..PagePatch::from_title(&page.title) };
        match &page.kind {
            PlannedKind::Document { file: Some(file), .. } => {
                let slug = self.slug(page, file, &parent);
                self.document(file, PagePatch { slug, ..titled }, parent)
            }
            PlannedKind::Document { file: None, .. } => {
                let beside = self.before.beside.remove(&(parent.clone(), page.slug().to_owned()));
                let before = self.before.bare.remove(beside.as_ref().unwrap_or(&page.path));
                Ok(self.page_without_file(before, parent, PageKind::Document, titled))
            }
            PlannedKind::Group => {
                let before = self.before.groups.remove(page.slug());
                Ok(self.page_without_file(before, parent, PageKind::Group, titled))
            }
            PlannedKind::Link { url, file } => {
                let target = self.link_target(url, file.as_ref());
                let key = (page.title.clone(), destination(&target));
                let before = self.before.links.get_mut(&key).and_then(VecDeque::pop_front);
                let fields = PagePatch { target: Some(Some(target)), ..PagePatch::from_title(&page.title) };
                Ok(self.page_without_file(before, parent, PageKind::Link, fields))
            }
            PlannedKind::Computed { value } => {
                let fields = PagePatch {
                    computed: Some(Some(value.clone().into())),
                    ..PagePatch::from_title(&page.title)
                };
                let before = self.before.computed.get_mut(&value.to_string()).and_then(VecDeque::pop_front);
                Ok(self.page_without_file(before, parent, PageKind::Computed, fields))
            }
        }
    }

    /// Returns the slug of the page for a file. It is derived from the file name. A numeric suffix is dropped if it
    /// only avoids the slug that the README does not use.
    fn slug(&self, page: &PlannedPage, file: &PlannedFile, parent: &Option<PageId>) -> Option<String> {
        let before = self.before.pages.get(file.path.as_str()).map(|(_, entry)| &entry.slug);
        let slug = match &self.landing {
            Some(landing) if landing.path == file.path => &landing.slug,
            Some(landing)
                if parent.is_none()
                    && before == Some(&landing.planned)
                    && landing.conflicts_with(page.slug()) =>
            {
                &landing.planned
            }
            _ => return Some(page.slug().to_owned()),
        };
        Some(slug.clone())
    }

    fn document(
        &mut self,
        file: &PlannedFile,
        titled: PagePatch,
        parent: Option<PageId>,
    ) -> Result<BuildPage> {
        let unread = || Error::internal(format!("the planned page {} was not read", file.path));
        let text = self.texts.remove(&file.path).ok_or_else(unread)?;
        let source = parse_page(&text);
        self.warnings.extend(source.warnings.iter().map(|warning| format!("{}: {warning}", file.path)));
        let id = self.pages.get(&file.path).cloned().ok_or_else(unread)?;
        let mut fields = titled.overlaid(source.repository_fields(self.format));
        self.cut_title(&file.path, &mut fields.title);
        fields.git = Some(self.git_blob(file));
        fields.cover = self.cover(&source, file);
        let mut page = BuildPage::new(id, parent, PageKind::Document, fields);
        page.body = self.body(&file.path, &source.body);
        page.source = self.sources.get(&file.path).copied();
        page.expansions = self.directives.stored.get(&file.path).copied();
        let before = self.before.pages.get(file.path.as_str()).map(|(_, entry)| entry);
        if let Some(before) = before {
            page.rank = Some(before.rank.clone());
            page.created_at = before.created_at;
            let same =
                before.git.as_ref().map(|git| &git.oid) == self.git_blob(file).as_ref().map(|git| &git.oid);
            page.updated_at = before.updated_at.filter(|_| same);
        }
        Ok(page)
    }

    fn cover(&self, source: &PageSource<'_>, file: &PlannedFile) -> Option<Option<crate::model::PageCover>> {
        let cover = source.front.cover.as_ref()?;
        let find = |destination: &str| {
            let path = file.path.folder().join(destination).ok()?;
            let local = self.files.get(&path).map(|file| ContentRef::File { file: file.clone() });
            local.or_else(|| web_reference(destination))
        };
        Some(cover_of(cover, find))
    }

    fn link_target(&self, url: &str, file: Option<&PlannedFile>) -> ContentRef {
        let page = file.and_then(|file| self.pages.get(&file.path));
        let asset = file.and_then(|file| self.files.get(&file.path));
        let anchor = url.split_once('#').map(|(_, anchor)| anchor).filter(|anchor| !anchor.is_empty());
        match (page, anchor, asset) {
            (Some(page), Some(anchor), _) => {
                ContentRef::Anchor { anchor: anchor.to_owned(), page: Some(page.clone()), space: None }
            }
            (Some(page), None, _) => ContentRef::Page { page: page.clone(), space: None },
            (None, _, Some(file)) => ContentRef::File { file: file.clone() },
            // Link targets without a file are referenced by id.
            (None, _, None) => parse_exact(url).unwrap_or_else(|| ContentRef::Url { url: url.to_owned() }),
        }
    }

    /// Returns a page without a file, with its previous id and timestamps.
    fn page_without_file(
        &self,
        before: Option<(PageId, PageEntry)>,
        parent: Option<PageId>,
        kind: PageKind,
        fields: PagePatch,
    ) -> BuildPage {
        let Some((id, entry)) = before else {
            return BuildPage::new(self.platform.id(), parent, kind, fields);
        };
        let fields = match self.unsaid {
            UnexportableFields::Cleared => fields,
            UnexportableFields::Retained => entry.fields().overlaid(fields),
        };
        let mut page = BuildPage::new(id, parent, kind, fields);
        page.rank = Some(entry.rank);
        page.created_at = entry.created_at;
        page.updated_at = entry.updated_at;
        page
    }

    fn add_reusables(&mut self, plan: &ImportPlan, items: &mut Vec<BuildItem>) {
        for include in &plan.includes {
            let fields = self.reusable(include);
            let id = self.reusables.get(&include.file.path).cloned();
            items.push(BuildItem::Reusable(id.unwrap_or_else(|| self.platform.id()), fields));
        }
    }

    /// Returns the fields that an import sets on a reusable content block.
    pub(super) fn reusable(&mut self, include: &PlannedInclude) -> ReusablePatch {
        let text = self.texts.remove(&include.file.path).unwrap_or_default();
        let source = parse_include(&text);
        let title = source.front.fields.title.clone().unwrap_or_else(|| include.title.clone());
        let mut title = Some(title);
        self.cut_title(&include.file.path, &mut title);
        ReusablePatch {
            title,
            body: Some(self.body(&include.file.path, &source.body)),
            git: Some(self.git_blob(&include.file)),
            source: Some(self.sources.get(&include.file.path).copied()),
            extra: Some(source.front.fields.extra.clone().unwrap_or_default()),
            ..ReusablePatch::default()
        }
    }

    async fn add_variables(&mut self, plan: &ImportPlan, items: &mut Vec<BuildItem>) -> Result<()> {
        let Some(file) = &plan.variables else { return Ok(()) };
        let text = self.planned_text(file).await?;
        let (found, warnings) = variables(&text, &file.path).map_err(format_error)?;
        self.warnings.extend(warnings.iter().map(Warning::to_string));
        items.extend(found.into_iter().map(|(name, value)| BuildItem::Variable(name, value)));
        Ok(())
    }

    fn add_redirects(&self, plan: &ImportPlan, items: &mut Vec<BuildItem>) {
        items.extend(plan.redirects.iter().filter_map(|redirect| {
            let page = self.pages.get(&redirect.to)?.clone();
            Some(BuildItem::Redirect(redirect.from.clone(), page, redirect.anchor.clone()))
        }));
    }
}

/// Returns the name of an item for error messages.
fn item_name(item: &BuildItem) -> String {
    match item {
        BuildItem::Page(page) => match &page.fields.git {
            Some(Some(git)) => git.path.clone(),
            _ => page.fields.title.clone().unwrap_or_default(),
        },
        BuildItem::File(_, file) => file.name.clone(),
        BuildItem::Reusable(_, reusable) => reusable.title.clone().unwrap_or_default(),
        BuildItem::Variable(name, _) => name.clone(),
        BuildItem::Redirect(path, ..) => path.clone(),
    }
}

/// Rejects content over a size limit, which applies to the unpacked size.
pub(in crate::platform::exchange::git) fn check_size(what: &str, bytes: u64, limit: u64) -> Result<()> {
    if bytes <= limit {
        return Ok(());
    }
    let (bytes, limit) = (bytes.div_ceil(1_000_000), limit / 1_000_000);
    let message =
        format!("the {what} of the repository must be at most {limit} MB together, have {bytes} MB");
    Err(Error::new(crate::ErrorKind::Invalid, message))
}

impl PreviousState {
    async fn read(platform: &Platform, space: &SpaceRecord) -> Result<Self> {
        let view = platform.content().view(&space.domain, space.root);
        let (mut before, mut extra) = (Self::default(), view.extra_fields().await?);
        for page in view.tree().await?.pages() {
            let extra = extra.remove(&page.id).unwrap_or_default();
            let (id, entry) = (page.id.clone(), PageEntry { extra, ..page.entry.clone() });
            match (&entry.kind, &entry.git) {
                (PageKind::Document, Some(git)) => {
                    before.pages.insert(git.path.clone(), (id, entry));
                }
                (PageKind::Document, None) => {
                    before.beside.insert((entry.parent.clone(), entry.slug.clone()), page.path.clone());
                    before.bare.insert(page.path.clone(), (id, entry));
                }
                (PageKind::Group, _) => drop(before.groups.insert(entry.slug.clone(), (id, entry))),
                (PageKind::Link, _) => {
                    let target = entry.target.as_ref().map(destination).unwrap_or_default();
                    before.links.entry((entry.title.clone(), target)).or_default().push_back((id, entry));
                }
                (PageKind::Computed, _) => {
                    let value = entry.computed.as_ref().map(JsonText::value).unwrap_or_default().to_string();
                    before.computed.entry(value).or_default().push_back((id, entry));
                }
            }
        }
        for (id, entry) in view.files(None, usize::MAX).await? {
            match &entry.git {
                Some(git) => drop(before.files.insert(git.path.clone(), (id, entry))),
                None if name_problem(&entry.name).is_some() => before.unexported.push((id, entry)),
                None => {}
            }
        }
        for (id, entry) in view.reusables(None, usize::MAX).await? {
            if let Some(git) = entry.git {
                before.reusables.insert(git.path, (id, git.oid));
            }
        }
        Ok(before)
    }
}
