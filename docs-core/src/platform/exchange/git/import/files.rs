//! The files of a commit. Unchanged files are not read again. Others are read in batches, while the previous batch is
//! stored. A blob that the commit contains at several paths is read and stored once.

use std::collections::HashMap;

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
        content::files::SharedContent,
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

/// The files of a blob with its content.
type ReadBlob<'p, 'r> = (Vec<&'p mut CommitFile<'r>>, Bytes);

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
        let wanted = placed.iter_mut().filter(|file| file.entry.is_none());
        let wanted = self.by_blob(wanted.map(|file| (file.source, file)));
        let mut wanted = wanted.into_iter();
        let mut read = self.read_batch(&mut wanted, &mut room).await?;
        while !read.is_empty() {
            let next = self.read_batch(&mut wanted, &mut room);
            let (stored, next) = tokio::join!(self.store_batch(read), next);
            stored?;
            read = next?;
        }
        Ok(())
    }

    /// Groups files by their blobs, in the order of their first files.
    pub(super) fn by_blob<'s, T>(&self, files: impl Iterator<Item = (&'s RepoPath, T)>) -> Vec<Vec<T>> {
        let (mut groups, mut by_oid) = (Vec::<Vec<T>>::new(), HashMap::new());
        for (source, file) in files {
            let known = self.oid(source).map(|oid| *by_oid.entry(oid).or_insert(groups.len()));
            match known.and_then(|at| groups.get_mut(at)) {
                Some(group) => group.push(file),
                None => groups.push(vec![file]),
            }
        }
        groups
    }

    /// Reads the next batch of blobs. `room` is the remaining size of the objects of Git LFS.
    async fn read_batch<'p, 'r>(
        &self,
        wanted: &mut impl Iterator<Item = Vec<&'p mut CommitFile<'r>>>,
        room: &mut u64,
    ) -> Result<Vec<ReadBlob<'p, 'r>>>
    where
        'r: 'p,
    {
        let (mut read, mut bytes) = (Vec::new(), 0);
        while bytes < BATCH_BYTES && read.len() < FILE_BATCH {
            let Some(mut files) = wanted.next() else { break };
            let Some(first) = files.first() else { continue };
            let content = self.checkout.read(first.source.as_str()).await.map_err(git_error)?;
            let pointer = LfsPointer::parse(&content);
            let known_size = pointer.as_ref().map_or(content.len() as u64, |pointer| pointer.size);
            for file in &mut files {
                file.entry = file.known.take().filter(|known| known.size == known_size);
            }
            files.retain(|file| file.entry.is_none());
            if files.is_empty() {
                continue;
            }
            let content = match pointer {
                None => content,
                Some(pointer) => match self.large_object(pointer, room).await {
                    Ok(content) => content,
                    Err(reason) => {
                        files.iter_mut().for_each(|file| file.missing = Some(reason.clone()));
                        continue;
                    }
                },
            };
            bytes += content.len();
            read.push((files, content));
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

    async fn store_batch(&self, read: Vec<ReadBlob<'_, '_>>) -> Result<()> {
        let new = read.iter().map(|(files, bytes)| SharedContent {
            bytes: bytes.clone(),
            files: files.iter().map(|file| (file.name.as_str(), file.git.clone())).collect(),
        });
        let entries = self.platform.store_files(&self.space.domain, new.collect()).await?;
        for (file, entry) in read.into_iter().flat_map(|(files, _)| files).zip(entries) {
            file.entry = Some(entry);
        }
        Ok(())
    }
}
