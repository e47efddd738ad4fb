//! A repository and a web that have what a test puts into them.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use bytes::Bytes;
use chrono::{DateTime, Utc};
use docs_core::{
    ports::{
        Checkout, Commit, FetchRequest, Fetched, GitError, GitRemote, RepoEntry, RepoEntryKind, Web, WebError,
    },
    store::Hash,
};

/// A repository.
#[derive(Clone, Default)]
pub(crate) struct Remote(Arc<Mutex<BTreeMap<String, Bytes>>>);

impl Remote {
    pub(crate) fn put(&self, path: &str, bytes: Vec<u8>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), bytes.into());
    }
}

#[async_trait]
impl GitRemote for Remote {
    async fn fetch(&self, _: &FetchRequest) -> Result<Box<dyn Checkout>, GitError> {
        let files = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let entries: Vec<RepoEntry> = files
            .iter()
            .map(|(path, bytes)| RepoEntry {
                path: path.clone(),
                oid: Hash::of(bytes).to_string(),
                size: bytes.len() as u64,
                kind: RepoEntryKind::File,
            })
            .collect();
        let commit = Commit {
            oid: "c".repeat(40),
            message: "A commit".to_owned(),
            committed_at: DateTime::<Utc>::UNIX_EPOCH,
        };
        Ok(Box::new(Snapshot { commit, entries, files }))
    }
}

struct Snapshot {
    commit: Commit,
    entries: Vec<RepoEntry>,
    files: BTreeMap<String, Bytes>,
}

#[async_trait]
impl Checkout for Snapshot {
    fn commit(&self) -> &Commit {
        &self.commit
    }
    fn entries(&self) -> &[RepoEntry] {
        &self.entries
    }
    async fn read(&self, path: &str) -> Result<Bytes, GitError> {
        self.files.get(path).cloned().ok_or_else(|| GitError::NoSuchFile(path.to_owned()))
    }
}

/// A web that has one document at every address.
#[derive(Clone, Default)]
pub(crate) struct Served(Arc<Mutex<(&'static str, Bytes)>>);

impl Served {
    pub(crate) fn put(&self, kind: &'static str, bytes: Vec<u8>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = (kind, bytes.into());
    }
}

#[async_trait]
impl Web for Served {
    async fn get(&self, url: &str) -> Result<Fetched, WebError> {
        let (kind, bytes) = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Ok(Fetched { bytes, content_type: Some(kind.to_owned()), charset: None, url: url.to_owned() })
    }
}
