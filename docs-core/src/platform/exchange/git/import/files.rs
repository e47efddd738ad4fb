//! The files of a commit. Unchanged files are not read again. Others are read in batches, while the previous batch is
//! stored.

use bytes::Bytes;

use super::read::Importer;
use crate::{
    Error, Result,
    content::{
        BuildItem, FileEntry,
        gitsync::{ImportPlan, PlannedAsset, RepoPath},
        is_numbered,
    },
    model::{FileId, GitBlob},
    platform::{content::files::NewFile, exchange::git::sync::git_error},
};

/// Target size of a batch in bytes. Two batches are in memory at a time, each exceeding this by at most one file.
const BATCH_BYTES: usize = 4 << 20;
/// Maximum number of files per batch. Other writers wait while the store writes a batch.
const FILE_BATCH: usize = 500;

/// A file of the commit.
struct CommitFile<'p> {
    path: &'p RepoPath,
    source: &'p RepoPath,
    id: FileId,
    name: String,
    git: Option<GitBlob>,
    /// `true` if the path had a file before.
    is_known: bool,
    /// The file entry, once its bytes are stored.
    entry: Option<FileEntry>,
}

impl Importer<'_> {
    /// Adds the files.
    ///
    /// If files in several folders have the same name, all except the first are numbered. Existing files come first and
    /// keep their names.
    pub(super) async fn add_files(&mut self, plan: &ImportPlan, items: &mut Vec<BuildItem>) -> Result<()> {
        let mut placed: Vec<CommitFile<'_>> =
            plan.assets.iter().map(|asset| self.commit_file(asset)).collect();
        self.store_files(&mut placed).await?;
        let mut new = Vec::new();
        for CommitFile { path, id, is_known, entry, .. } in placed {
            let entry = entry.ok_or_else(|| Error::internal(format!("the file {path} was not stored")))?;
            self.files.insert(path.clone(), id.clone());
            if is_known { &mut *items } else { &mut new }.push(BuildItem::File(id, entry));
        }
        items.append(&mut new);
        Ok(())
    }

    fn commit_file<'p>(&self, asset: &'p PlannedAsset) -> CommitFile<'p> {
        let git = self.git_blob(&asset.file);
        let before = self.before.files.get(asset.file.path.as_str());
        let called = before.map(|(_, entry)| &entry.name);
        let called = called.filter(|name| is_numbered(name, &asset.name) || is_numbered(&asset.name, name));
        let name = called.unwrap_or(&asset.name).clone();
        let same = before.filter(|(_, entry)| entry.git.is_some() && entry.git == git);
        let entry = same.map(|(_, entry)| FileEntry { name: name.clone(), ..entry.clone() });
        let id = before.map_or_else(|| self.platform.id(), |(id, _)| id.clone());
        let (path, source) = (&asset.file.path, &asset.file.source);
        CommitFile { path, source, id, name, git, is_known: before.is_some(), entry }
    }

    /// Stores the bytes of new and changed files.
    async fn store_files(&self, placed: &mut [CommitFile<'_>]) -> Result<()> {
        let mut wanted = placed.iter_mut().filter(|file| file.entry.is_none());
        let mut read = self.read_batch(&mut wanted).await?;
        while !read.is_empty() {
            let (stored, next) = tokio::join!(self.store_batch(read), self.read_batch(&mut wanted));
            stored?;
            read = next?;
        }
        Ok(())
    }

    /// Reads the next batch of files.
    async fn read_batch<'p, 'r>(
        &self,
        wanted: &mut impl Iterator<Item = &'p mut CommitFile<'r>>,
    ) -> Result<Vec<(&'p mut CommitFile<'r>, Bytes)>>
    where
        'r: 'p,
    {
        let (mut read, mut bytes) = (Vec::new(), 0);
        while bytes < BATCH_BYTES && read.len() < FILE_BATCH {
            let Some(file) = wanted.next() else { break };
            let content = self.checkout.read(file.source.as_str()).await.map_err(git_error)?;
            bytes += content.len();
            read.push((file, content));
        }
        Ok(read)
    }

    async fn store_batch(&self, read: Vec<(&mut CommitFile<'_>, Bytes)>) -> Result<()> {
        let new = read.iter().map(|(file, bytes)| NewFile {
            name: &file.name,
            content_type: None,
            bytes: bytes.clone(),
            git: file.git.clone(),
        });
        let entries = self.platform.store_files(&self.space.domain, new.collect()).await?;
        for ((file, _), entry) in read.into_iter().zip(entries) {
            file.entry = Some(entry);
        }
        Ok(())
    }
}
