//! The files of a commit. Unchanged files are not read again. Others are read in batches, while the previous batch is
//! stored.

use bytes::Bytes;

use super::read::{Importer, MAX_FILES_BYTES};
use crate::{
    Error, Result,
    content::{
        BuildItem, FileEntry, clean_file_name,
        gitsync::{ImportPlan, LfsPointer, MAX_POINTER_BYTES, PlannedAsset, RepoPath},
        is_numbered,
    },
    model::{FileId, GitBlob, MAX_FILE_BYTES},
    platform::{
        content::files::NewFile,
        exchange::git::sync::{UnexportableFields, git_error},
    },
    ports::LargeObject,
};

/// Target size of a batch in bytes. Two batches are in memory at a time, each exceeding this by at most one file.
const BATCH_BYTES: usize = 4 << 20;
/// Maximum number of files per batch. Other writers wait while the store writes a batch.
const FILE_BATCH: usize = 500;

/// Minimum size of a Git LFS pointer in bytes: its version and the hash.
const MIN_POINTER_BYTES: u64 = 110;

struct CommitFile<'p> {
    path: &'p RepoPath,
    source: &'p RepoPath,
    id: FileId,
    name: String,
    git: Option<GitBlob>,
    /// `true` if the space already had a file with this path.
    is_known: bool,
    /// The file entry, once its bytes are stored.
    entry: Option<FileEntry>,
    /// The previous entry of the same blob.
    known: Option<FileEntry>,
    /// The reason why the content of a pointer of Git LFS is missing. The pointer is not stored.
    missing: Option<String>,
}

/// Maximum number of Git LFS pointers listed by name in the log.
const MAX_NAMED_POINTERS: usize = 100;

impl Importer<'_> {
    /// Adds the files.
    ///
    /// If files in several folders have the same name, all except the first are numbered. Existing files come first and
    /// keep their names.
    pub(super) async fn add_files(&mut self, plan: &ImportPlan, items: &mut Vec<BuildItem>) -> Result<()> {
        let mut placed: Vec<CommitFile<'_>> =
            plan.assets.iter().map(|asset| self.commit_file(asset)).collect();
        self.store_files(&mut placed).await?;
        let (mut new, mut pointers) = (Vec::new(), 0);
        for CommitFile { path, id, is_known, entry, missing, .. } in placed {
            if let Some(reason) = missing {
                pointers += 1;
                if pointers <= MAX_NAMED_POINTERS {
                    let problem = "skipped, the repository has only a pointer of Git LFS";
                    self.warnings.push(format!("{path}: {problem}, and {reason}"));
                }
                continue;
            }
            let entry = entry.ok_or_else(|| Error::internal(format!("the file {path} was not stored")))?;
            self.files.insert(path.clone(), id.clone());
            if is_known { &mut *items } else { &mut new }.push(BuildItem::File(id, entry));
        }
        if pointers > MAX_NAMED_POINTERS {
            let more = pointers - MAX_NAMED_POINTERS;
            self.warnings.push(format!("skipped {more} more files: they are pointers of Git LFS"));
        }
        items.append(&mut new);
        if self.unsaid == UnexportableFields::Retained {
            let unexported = std::mem::take(&mut self.before.unexported);
            items.extend(unexported.into_iter().map(|(id, entry)| BuildItem::File(id, entry)));
        }
        Ok(())
    }

    fn commit_file<'p>(&self, asset: &'p PlannedAsset) -> CommitFile<'p> {
        let git = self.git_blob(&asset.file);
        let before = self.before.files.get(asset.file.path.as_str());
        let called = before.map(|(_, entry)| &entry.name);
        let wanted = clean_file_name(&asset.name);
        let called = called.filter(|name| is_numbered(name, &wanted) || is_numbered(&wanted, name));
        let name = called.map_or_else(|| wanted.to_string(), String::clone);
        let same = before.filter(|(_, entry)| entry.git.is_some() && entry.git == git);
        let same = same.map(|(_, entry)| FileEntry { name: name.clone(), ..entry.clone() });
        // An earlier version stored pointers of Git LFS, and their contents may be available now.
        let may_be_pointer = (MIN_POINTER_BYTES..=MAX_POINTER_BYTES).contains(&asset.file.size);
        let (entry, known) = if may_be_pointer { (None, same) } else { (same, None) };
        let id = before.map_or_else(|| self.platform.id(), |(id, _)| id.clone());
        let (path, source) = (&asset.file.path, &asset.file.source);
        CommitFile { path, source, id, name, git, is_known: before.is_some(), entry, known, missing: None }
    }

    /// Stores the bytes of new and changed files.
    async fn store_files(&self, placed: &mut [CommitFile<'_>]) -> Result<()> {
        let repository_bytes: u64 = self.checkout.entries().iter().map(|entry| entry.size).sum();
        let mut room = MAX_FILES_BYTES.saturating_sub(repository_bytes);
        let mut wanted = placed.iter_mut().filter(|file| file.entry.is_none());
        let mut read = self.read_batch(&mut wanted, &mut room).await?;
        while !read.is_empty() {
            let next = self.read_batch(&mut wanted, &mut room);
            let (stored, next) = tokio::join!(self.store_batch(read), next);
            stored?;
            read = next?;
        }
        Ok(())
    }

    /// Reads the next batch of files. `room` is the remaining size of the objects of Git LFS.
    async fn read_batch<'p, 'r>(
        &self,
        wanted: &mut impl Iterator<Item = &'p mut CommitFile<'r>>,
        room: &mut u64,
    ) -> Result<Vec<(&'p mut CommitFile<'r>, Bytes)>>
    where
        'r: 'p,
    {
        let (mut read, mut bytes) = (Vec::new(), 0);
        while bytes < BATCH_BYTES && read.len() < FILE_BATCH {
            let Some(file) = wanted.next() else { break };
            let content = self.checkout.read(file.source.as_str()).await.map_err(git_error)?;
            let pointer = LfsPointer::parse(&content);
            let known_size = pointer.as_ref().map_or(content.len() as u64, |pointer| pointer.size);
            if let Some(known) = file.known.take().filter(|known| known.size == known_size) {
                file.entry = Some(known);
                continue;
            }
            let content = match pointer {
                None => content,
                Some(pointer) => match self.large_object(pointer, room).await {
                    Ok(content) => content,
                    Err(reason) => {
                        file.missing = Some(reason);
                        continue;
                    }
                },
            };
            bytes += content.len();
            read.push((file, content));
        }
        Ok(read)
    }

    /// Downloads the content of a pointer of Git LFS. The error is the reason why it is missing, as a clause.
    async fn large_object(&self, pointer: LfsPointer, room: &mut u64) -> std::result::Result<Bytes, String> {
        if pointer.size > MAX_FILE_BYTES.min(*room) {
            return Err(format!("its content of {} bytes is too large", pointer.size));
        }
        let object = LargeObject { oid: pointer.oid, size: pointer.size };
        match self.checkout.large_object(&object).await {
            Ok(Some(content)) => {
                *room -= object.size;
                Ok(content)
            }
            Ok(None) => Err("its host does not offer the content".to_owned()),
            Err(error) => Err(format!("its content cannot be downloaded: {error}")),
        }
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
