//! Template directives in pages of mdBook and HonKit, resolved with the files of the commit.

use super::read::Importer;
use crate::{
    Error, ErrorKind, Result,
    content::{
        directives::{IncludedFile, ResolvedDirectives, resolve},
        gitsync::{
            BookFormat, FormatError, ImportPlan, PageLinks, PlannedFile, RepoConfig, RepoPath, RepoTree,
        },
        markdown::MAX_PAGE_FILE_BYTES,
        run_in_place,
    },
    platform::exchange::git::{
        commit_files::decode_text,
        sync::{format_error, git_error},
    },
    ports::MAX_TEXTS_BYTES,
};

/// Maximum total size in bytes of the included files that are cached between two pages.
const MAX_CACHED_BYTES: usize = 8 << 20;
/// Size in bytes of the files that a page includes after which it includes no further file. They are all in memory at
/// once.
const MAX_PAGE_INCLUDED_BYTES: usize = 32 << 20;
/// Maximum number of warnings about directives per import.
const MAX_WARNINGS: usize = 100;

/// Checks the bytes that the results of the directives add to the texts up to a page.
///
/// # Errors
/// `Invalid` if they exceed [`MAX_TEXTS_BYTES`].
fn check_added_bytes(page: &RepoPath, bytes: u64) -> Result<()> {
    if bytes <= MAX_TEXTS_BYTES {
        return Ok(());
    }
    let most = MAX_TEXTS_BYTES / 1_000_000;
    let what = format!(
        "{page}: the includes and variables of all pages must add at most {most} MB of text together; use fewer or \
         shorter ones"
    );
    Err(Error::new(ErrorKind::Invalid, what))
}

impl Importer<'_> {
    /// Resolves the directives of a page, and plans the files that the results reference.
    pub(super) async fn resolve_directives(
        &mut self,
        page: &RepoPath,
        text: &str,
        (tree, config): (&RepoTree, &RepoConfig),
        plan: &mut ImportPlan,
    ) -> Result<()> {
        if config.format == BookFormat::Native {
            return Ok(());
        }
        let resolved = loop {
            let state = &mut self.directives;
            let resolved = run_in_place(|| resolve(text, page, config, &state.files, &mut state.budget));
            let Some(resolved) = resolved else { return Ok(()) };
            if resolved.unread.is_empty() {
                break resolved;
            }
            for path in resolved.unread {
                let is_full = self.directives.cached_bytes > MAX_PAGE_INCLUDED_BYTES;
                let file = match is_full {
                    true => IncludedFile::Missing("exceeds the size of the included files of a page"),
                    false => self.included_file(tree, &path).await?,
                };
                self.directives.cached_bytes += match &file {
                    IncludedFile::Text(text) => text.len(),
                    IncludedFile::Missing(_) => 0,
                };
                self.directives.files.insert(path, file);
            }
        };
        // Exports to other repositories contain the included files, so that the next import finds them.
        for path in resolved.included.iter().filter(|path| **path != config.summary && **path != config.file)
        {
            if let Some(IncludedFile::Text(_)) = self.directives.files.get(path) {
                plan.add_included(tree, path).map_err(format_error)?;
            }
        }
        if self.directives.cached_bytes > MAX_CACHED_BYTES {
            self.directives.files.clear();
            self.directives.cached_bytes = 0;
        }
        let ResolvedDirectives { expansions, included, warnings, .. } = resolved;
        for text in expansions.texts() {
            for reference in PageLinks::read(text, page, &config.root).references() {
                plan.refer(tree, &reference.path).map_err(format_error)?;
            }
        }
        let added = run_in_place(|| expansions.expand(text).len()).saturating_sub(text.len());
        self.directives.added_bytes += added as u64;
        check_added_bytes(page, self.directives.added_bytes)?;
        self.directives.included.extend(included);
        self.directives.resolved.insert(page.clone(), expansions);
        let shown = MAX_WARNINGS.saturating_sub(self.directives.warnings);
        self.directives.warnings += warnings.len();
        let warnings = warnings.into_iter().take(shown);
        self.warnings.extend(warnings.map(|warning| format!("{page}: {warning}")));
        Ok(())
    }

    async fn included_file(&self, tree: &RepoTree, path: &RepoPath) -> Result<IncludedFile> {
        let file: PlannedFile = match tree.file(path) {
            Ok(Some(file)) if file.source == file.path => file,
            Ok(None) => return Ok(IncludedFile::Missing("does not exist")),
            Err(FormatError::FileTooLarge { .. }) => return Ok(IncludedFile::Missing("is too large")),
            Ok(Some(_)) | Err(_) => return Ok(IncludedFile::Missing("is a symbolic link")),
        };
        if file.size > MAX_PAGE_FILE_BYTES {
            return Ok(IncludedFile::Missing("is too large"));
        }
        let bytes = self.checkout.read(file.source.as_str()).await.map_err(git_error)?;
        Ok(IncludedFile::Text(decode_text(bytes.to_vec()).0))
    }

    /// Returns `true` if a page includes a file that is imported itself. A change of that file also changes the page.
    pub(super) fn includes_items(&self) -> bool {
        self.directives.included.iter().any(|path| {
            self.pages.contains_key(path)
                || self.files.contains_key(path)
                || self.reusables.contains_key(path)
        })
    }

    /// Stores the results of the directives, with permanent destinations in their links. The ids must have been
    /// assigned.
    pub(super) async fn store_expansions(&mut self, tree: &RepoTree, config: &RepoConfig) -> Result<()> {
        let more = self.directives.warnings.saturating_sub(MAX_WARNINGS);
        if more > 0 {
            self.warnings.push(format!("{more} more warnings about included files"));
        }
        let (mut pages, mut texts) = (Vec::new(), Vec::new());
        for (page, mut expansions) in std::mem::take(&mut self.directives.resolved) {
            expansions.rewrite(|text| {
                let links = PageLinks::read(text, &page, &config.root);
                self.linked(text, &links, (tree, config))
            });
            texts.push(serde_json::to_string(&expansions).map_err(Error::internal)?);
            pages.push(page);
        }
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let stored = self.platform.content().store_texts(&self.space.domain, &texts).await?;
        self.directives.stored = pages.into_iter().zip(stored).collect();
        Ok(())
    }
}
