//! The files to push: text files that differ from the repository, and other files of the space, which are read lazily.

use std::{
    collections::{BTreeSet, HashMap, HashSet, VecDeque},
    sync::Arc,
};

use async_trait::async_trait;
use bytes::Bytes;

use super::space::{Revision, is_same_page};
use crate::{
    Error, Result,
    content::{
        ConfiguredRedirect, FileEntry, GitFile, GitThing, PagePatch, Rendering, View,
        gitsync::{
            ExportPlan, FileTemplate, MAX_CONFIG_BYTES, OmittedFile, PageContent, PlannedFile, Redirect,
            RepoConfig, RepoPath, Repository, SpaceFile, SpaceInclude, SpacePage, TemplateOrigin, TitleIn,
            is_program,
        },
        markdown::MAX_PAGE_FILE_BYTES,
    },
    model::{GitBlob, JobProgress, JobStage, PageId},
    platform::{
        content::files::FilePlace,
        exchange::git::{
            commit_files::{decode_text, text_at},
            import::{MAX_TEXT_BYTES, check_size},
            sync::{format_error, git_error},
        },
        jobs::Progress,
        kernel::platform::Platform,
    },
    ports::{Checkout, GitError, PushFile, PushFiles, SourceError, blob_id, check_push_path},
    store::Hash,
};

/// A file to push.
pub(super) enum FileWrite {
    Text {
        path: RepoPath,
        bytes: Bytes,
        is_executable: bool,
    },
    /// A file of the space, read when it is pushed. `known` is its path in the repository.
    File {
        path: RepoPath,
        thing: GitThing,
        known: String,
        is_executable: bool,
        entry: Box<FileEntry>,
    },
}

/// The changes that an export makes in the repository, and the resulting Git locations.
#[derive(Default)]
pub(super) struct ExportChanges {
    pub(super) writes: VecDeque<FileWrite>,
    pub(super) removed: Vec<RepoPath>,
    /// The items whose path or blob differs from the recorded one.
    pub(super) gits: Vec<GitFile>,
    /// The content of the pages and reusable content blocks among them.
    sources: Vec<Arc<str>>,
    /// The files that are not exported, with the reasons.
    pub(super) warnings: Vec<String>,
    /// Adopted repository paths whose files turned out to have different content.
    pub(super) refused: BTreeSet<RepoPath>,
    /// The total size of the written texts in bytes.
    bytes: u64,
    titles: HashMap<PageId, TitleIn>,
}

/// The two sides of a comparison: the content of a space and a commit.
pub(super) struct ExportComparison<'a> {
    pub(super) domain: &'a str,
    pub(super) view: &'a View,
    pub(super) repository: &'a Repository,
    /// The configuration to add to the repository, without its redirects.
    pub(super) config: Option<RepoConfig>,
    pub(super) checkout: Option<&'a dyn Checkout>,
    /// `true` if the repository is unchanged since the last sync, so that unedited items need not be read.
    pub(super) is_in_step: bool,
}

/// Compares the space with the repository.
pub(super) struct Preparer<'a> {
    pub(super) platform: &'a Platform,
    pub(super) compared: &'a ExportComparison<'a>,
    pub(super) plan: &'a ExportPlan<'a>,
    pub(super) now: &'a Revision,
    pub(super) before: &'a Revision,
    /// The paths in the repository that belong to the space.
    pub(super) own: HashSet<&'a str>,
}

/// The text of an item with its target path.
struct TextTarget<'t> {
    thing: GitThing,
    git: Option<&'t GitBlob>,
    path: &'t RepoPath,
}

impl Preparer<'_> {
    pub(super) async fn prepare(&self, progress: &mut Progress<'_>) -> Result<ExportChanges> {
        let mut prepared = ExportChanges {
            removed: self.plan.removed().iter().cloned().collect(),
            warnings: self.plan.omitted_files().iter().map(omission_warning).collect(),
            ..ExportChanges::default()
        };
        let total = self.now.outline.pages.len() as u64;
        for (number, page) in self.now.outline.pages.iter().enumerate() {
            self.page(page, &mut prepared).await?;
            let done = number as u64 + 1;
            progress.count(JobStage::ContentProcess, JobProgress { done, total }).await?;
        }
        for include in &self.now.outline.includes {
            self.include(include, &mut prepared).await?;
        }
        for file in &self.now.outline.files {
            self.file(file, &mut prepared).await?;
        }
        self.variables(&mut prepared).await?;
        let summary = self.plan.summary(&prepared.titles);
        if self.compared.repository.summary.as_ref() != Some(&summary) {
            self.write(&self.compared.repository.config.summary, None, summary.into(), &mut prepared)?;
        }
        if let Some(config) = &self.compared.config {
            let config = RepoConfig { redirects: self.redirects().await?, ..config.clone() };
            if let Some(text) = config.text() {
                self.write(&config.file, None, text.into(), &mut prepared)?;
            }
        }
        if prepared.refused.is_empty() {
            let texts: Vec<&str> = prepared.sources.iter().map(|text| &**text).collect();
            self.platform.content().store_texts(self.compared.domain, &texts).await?;
        }
        Ok(prepared)
    }

    /// Returns the redirects that the space imported from a repository, except those to pages without a file.
    async fn redirects(&self) -> Result<Vec<Redirect>> {
        let redirects = self.compared.view.configured_redirects().await?;
        let with_path = |redirect: ConfiguredRedirect| {
            let to = self.plan.page_path(&redirect.page)?.clone();
            Some(Redirect { from: redirect.path, to, anchor: redirect.anchor })
        };
        Ok(redirects.into_iter().filter_map(with_path).collect())
    }

    async fn page(&self, page: &SpacePage, prepared: &mut ExportChanges) -> Result<()> {
        let (Some(path), Some(entry)) = (self.plan.page_path(&page.id), self.now.pages.get(&page.id)) else {
            return Ok(());
        };
        let before = self.before.pages.get(&page.id);
        let is_there = page.git.as_ref().is_some_and(|git| self.is_at(git, path));
        if is_there && self.may_skip() && before.is_some_and(|before| is_same_page(entry, before)) {
            prepared.titles.insert(page.id.clone(), TitleIn::Unread);
            return Ok(());
        }
        let file = self.template_file(page.git.as_ref(), path)?;
        // A file over the size limit was imported without text and is left unchanged.
        if is_there
            && entry.body.is_empty()
            && file.as_ref().is_some_and(|file| file.size > MAX_PAGE_FILE_BYTES)
        {
            return Ok(());
        }
        let template = self.template(file).await?;
        let known = self.known_text(entry.source.filter(|_| template.is_none())).await?;
        let body = self.compared.view.text(&entry.body, Rendering::Request).await?;
        let fields = entry.fields();
        let content = PageContent { fields: &fields, body: &body };
        let written = self.plan.page(page, select_template(template.as_ref(), known.as_deref()), content);
        let title = if written.is_titled { TitleIn::File } else { TitleIn::Summary };
        prepared.titles.insert(page.id.clone(), title);
        let text = TextTarget { thing: GitThing::Page(page.id.clone()), git: page.git.as_ref(), path };
        self.text(text, template, written.text, prepared)
    }

    async fn include(&self, include: &SpaceInclude, prepared: &mut ExportChanges) -> Result<()> {
        let (Some(path), Some(entry)) =
            (self.plan.include_path(&include.id), self.now.reusables.get(&include.id))
        else {
            return Ok(());
        };
        let before = self.before.reusables.get(&include.id);
        let is_there = include.git.as_ref().is_some_and(|git| self.is_at(git, path));
        if is_there && self.may_skip() && before == Some(entry) {
            return Ok(());
        }
        let template = self.template(self.template_file(include.git.as_ref(), path)?).await?;
        let known = self.known_text(entry.source.filter(|_| template.is_none())).await?;
        let body = self.compared.view.text(&entry.body, Rendering::Request).await?;
        let (title, extra) = (Some(entry.title.clone()), Some(entry.extra.clone()));
        let fields = PagePatch { title, extra, ..PagePatch::default() };
        let content = PageContent { fields: &fields, body: &body };
        let written =
            self.plan.include(include, select_template(template.as_ref(), known.as_deref()), content);
        let text =
            TextTarget { thing: GitThing::Reusable(include.id.clone()), git: include.git.as_ref(), path };
        self.text(text, template, written.text, prepared)
    }

    /// Returns `true` if unedited items can be skipped: the repository is in sync and no link target has moved.
    fn may_skip(&self) -> bool {
        self.compared.is_in_step && !self.plan.moves_targets()
    }

    /// Returns `true` if the repository has the blob at this path.
    fn is_at(&self, git: &GitBlob, path: &RepoPath) -> bool {
        git.path == path.as_str() && self.oid_at(path).is_some_and(|oid| *oid == git.oid)
    }

    fn oid_at(&self, path: &RepoPath) -> Option<&String> {
        let file = self.compared.repository.tree.file(path).ok().flatten()?;
        self.compared.repository.oids.get(file.source.as_str())
    }

    /// Returns `true` if an item's file is executable: as in the repository, else as in the last sync.
    fn is_executable(&self, path: &RepoPath, git: Option<&GitBlob>) -> bool {
        let there = self.compared.repository.tree.file(path).ok().flatten();
        there.map_or_else(|| git.is_some_and(|git| git.executable), |file| file.is_executable)
    }

    /// Returns the file that an item's text was read from or written to, if it still belongs to the space.
    fn template_file(&self, git: Option<&GitBlob>, path: &RepoPath) -> Result<Option<PlannedFile>> {
        if self.plan.claimed().contains(path) {
            return self.compared.repository.tree.file(path).map_err(format_error);
        }
        let Some(git) = git else { return Ok(None) };
        let Ok(old) = RepoPath::new(&git.path) else { return Ok(None) };
        let is_own = old == *path || self.is_at(git, &old) || self.own.contains(git.path.as_str());
        if is_own { self.compared.repository.tree.file(&old).map_err(format_error) } else { Ok(None) }
    }

    /// Returns the text in the repository with its object id.
    async fn template(&self, file: Option<PlannedFile>) -> Result<Option<(String, String)>> {
        let Some(file) = file.filter(|file| file.size <= MAX_PAGE_FILE_BYTES) else { return Ok(None) };
        let (Some(checkout), Some(oid)) =
            (self.compared.checkout, self.compared.repository.oids.get(file.source.as_str()))
        else {
            return Ok(None);
        };
        let bytes = checkout.read(file.source.as_str()).await.map_err(git_error)?;
        Ok(Some((decode_text(bytes.to_vec()).0, oid.clone())))
    }

    /// Returns the text of a file as of the last sync.
    async fn known_text(&self, source: Option<Hash>) -> Result<Option<Arc<str>>> {
        let Some(source) = source else { return Ok(None) };
        Ok(Some(self.platform.content().text(self.compared.domain, source).await?))
    }

    /// Writes `text`, unless the repository already has it at this path.
    fn text(
        &self,
        new: TextTarget<'_>,
        template: Option<(String, String)>,
        text: String,
        prepared: &mut ExportChanges,
    ) -> Result<()> {
        let is_claimed = self.plan.claimed().contains(new.path);
        let is_there = is_claimed || new.git.is_some_and(|git| git.path == new.path.as_str());
        let text: Arc<str> = text.into();
        let oid = match template.filter(|(template, _)| is_there && **template == *text) {
            Some((_, oid)) => oid,
            None => {
                let bytes = Bytes::from_owner(Arc::<[u8]>::from(Arc::clone(&text)));
                if self.write(new.path, new.git, bytes, prepared)? == WriteOutcome::Skipped {
                    return Ok(());
                }
                blob_id(text.as_bytes())
            }
        };
        let executable = self.is_executable(new.path, new.git);
        let git = GitBlob { oid, path: new.path.to_string(), executable };
        if new.git != Some(&git) {
            let source = Some(Hash::compute(text.as_bytes()));
            prepared.gits.push(GitFile { thing: new.thing, blob: git, source });
            prepared.sources.push(text);
        }
        Ok(())
    }

    fn write(
        &self,
        path: &RepoPath,
        git: Option<&GitBlob>,
        bytes: Bytes,
        prepared: &mut ExportChanges,
    ) -> Result<WriteOutcome> {
        if self.plan.claimed().contains(path) {
            prepared.refused.insert(path.clone());
            return Ok(WriteOutcome::Planned);
        }
        let is_executable = self.is_executable(path, git);
        let Some(path) = self.written_to(path, prepared) else { return Ok(WriteOutcome::Skipped) };
        prepared.bytes += bytes.len() as u64;
        check_size("pages", prepared.bytes, MAX_TEXT_BYTES)?;
        prepared.writes.push_back(FileWrite::Text { path, bytes, is_executable });
        Ok(WriteOutcome::Planned)
    }

    /// The path to write, after symbolic links; `None`, with a warning, if it must not be written.
    fn written_to(&self, path: &RepoPath, prepared: &mut ExportChanges) -> Option<RepoPath> {
        let checked = match self.plan.written_to(path) {
            Ok(path) => check_push_path(path.as_str()).map(|()| path).map_err(|error| error.to_string()),
            Err(problem) => Err(problem.to_string()),
        };
        checked.map_err(|problem| prepared.warnings.push(format!("skipped {problem}"))).ok()
    }

    async fn file(&self, file: &SpaceFile, prepared: &mut ExportChanges) -> Result<()> {
        let (Some(path), Some(entry)) = (self.plan.file_path(&file.id), self.now.files.get(&file.id)) else {
            return Ok(());
        };
        let before = self.before.files.get(&file.id);
        let is_there = file.git.as_ref().is_some_and(|git| self.is_at(git, path));
        if is_there && before.is_some_and(|before| before.blob == entry.blob) {
            return Ok(());
        }
        let thing = GitThing::File(file.id.clone());
        let there = self.compared.repository.tree.file(path).map_err(format_error)?;
        if let (Some(there), Some(oid)) = (there.filter(|there| there.size == entry.size), self.oid_at(path))
            && there.path == *path
            && blob_id(&read_file(self.platform, self.compared.domain, entry).await?) == *oid
        {
            let git = GitBlob { oid: oid.clone(), path: path.to_string(), executable: there.is_executable };
            if file.git.as_ref() != Some(&git) {
                prepared.gits.push(GitFile { thing, blob: git, source: None });
            }
            return Ok(());
        }
        if self.plan.claimed().contains(path) {
            prepared.refused.insert(path.clone());
            return Ok(());
        }
        if is_program(path.as_str()) && !self.is_from_repository(file, entry).await? {
            let problem = "the content of programs and scripts is only changed in the repository";
            prepared.warnings.push(format!("skipped {path}: {problem}"));
            return Ok(());
        }
        let Some(written) = self.written_to(path, prepared) else { return Ok(()) };
        let (known, entry) = (path.to_string(), Box::new(entry.clone()));
        let is_executable = self.is_executable(path, file.git.as_ref());
        prepared.writes.push_back(FileWrite::File { path: written, thing, known, is_executable, entry });
        Ok(())
    }

    /// Returns `true` if a file still has the bytes that were imported from the repository.
    async fn is_from_repository(&self, file: &SpaceFile, entry: &FileEntry) -> Result<bool> {
        let Some(git) = &file.git else { return Ok(false) };
        Ok(blob_id(&read_file(self.platform, self.compared.domain, entry).await?) == git.oid)
    }

    async fn variables(&self, prepared: &mut ExportChanges) -> Result<()> {
        let found = self.compared.view.variables().await?;
        let values = found.into_iter().map(|(name, entry)| (name, entry.value)).collect();
        let path = self.plan.variables_path();
        let template =
            text_at(self.compared.checkout, &self.compared.repository.tree, &path, MAX_CONFIG_BYTES).await?;
        match self.plan.variables(template.as_deref(), &values).map_err(format_error)? {
            Some(text) if template.as_ref() == Some(&text) => Ok(()),
            Some(text) => self.write(&path, None, text.into(), prepared).map(drop),
            None => {
                prepared.removed.extend(template.map(|_| path));
                Ok(())
            }
        }
    }
}

/// The decision on writing a text file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WriteOutcome {
    Planned,
    /// The file is omitted, and a warning is recorded.
    Skipped,
}

fn omission_warning(file: &OmittedFile) -> String {
    format!("skipped the file `{}`: {}", file.name, file.problem)
}

/// Selects the template for the text of an item. The file in the repository takes precedence over the text stored in
/// the space.
fn select_template<'t>(
    repository: Option<&'t (String, String)>,
    known: Option<&'t str>,
) -> Option<FileTemplate<'t>> {
    let template = |text, origin| FileTemplate { text, origin };
    match repository {
        Some((text, _)) => Some(template(text, TemplateOrigin::Repository)),
        None => known.map(|text| template(text, TemplateOrigin::Space)),
    }
}

async fn read_file(platform: &Platform, domain: &str, entry: &FileEntry) -> Result<Bytes> {
    let bytes = FilePlace::from_entry(entry).read(platform.objects(), domain, 0..entry.size).await?;
    bytes.ok_or_else(|| Error::internal(format!("the bytes of the file {} no longer exist", entry.name)))
}

/// The files of a push, read one at a time.
pub(super) struct PushFileSource<'p> {
    platform: &'p Platform,
    domain: &'p str,
    writes: VecDeque<FileWrite>,
    /// The Git locations, complete once all files have been read.
    pub(super) gits: Vec<GitFile>,
}

impl<'p> PushFileSource<'p> {
    pub(super) fn new(platform: &'p Platform, domain: &'p str, prepared: ExportChanges) -> Self {
        Self { platform, domain, writes: prepared.writes, gits: prepared.gits }
    }
}

#[async_trait]
impl PushFiles for PushFileSource<'_> {
    async fn next(&mut self) -> std::result::Result<Option<PushFile>, GitError> {
        Ok(match self.writes.pop_front() {
            None => None,
            Some(FileWrite::Text { path, bytes, is_executable }) => {
                Some(PushFile { path: path.to_string(), bytes, is_executable })
            }
            Some(FileWrite::File { path, thing, known, is_executable, entry }) => {
                let bytes = read_file(self.platform, self.domain, &entry).await;
                let bytes = bytes.map_err(SourceError::new)?;
                let blob = GitBlob { oid: blob_id(&bytes), path: known, executable: is_executable };
                self.gits.push(GitFile { thing, blob, source: None });
                Some(PushFile { path: path.to_string(), bytes, is_executable })
            }
        })
    }
}
