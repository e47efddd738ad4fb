//! What is outside of the platforms: one repository and one web, the same for all of them.

use std::{collections::BTreeMap, sync::Arc};

use async_trait::async_trait;
use bytes::Bytes;
use chrono::{DateTime, Utc};
use docs_core::{
    model::JobState,
    ports::{
        Checkout, Commit, FetchRequest, Fetched, GitError, GitRemote, RepoEntry, RepoEntryKind, Web, WebError,
    },
    store::Hash,
};
use parking_lot::Mutex;

use super::program::Dice;

/// A repository that changes as a program goes on. Clones are the same.
#[derive(Clone, Default)]
pub(super) struct Repository(Arc<Mutex<Content>>);

#[derive(Clone, Default)]
struct Content {
    files: BTreeMap<String, String>,
    links: BTreeMap<String, String>,
    message: String,
    failure: Option<GitError>,
}

const FILES: &[(&str, &[&str])] = &[
    (
        "README.md",
        &["# Welcome\n\nHello.\n", "# Welcome\n\nHello again.\n\n{% include \".gitbook/includes/a.md\" %}\n"],
    ),
    (
        "SUMMARY.md",
        &[
            "* [Welcome](README.md)\n* [Guides](guides/README.md)\n  * [First](guides/first.md)\n",
            "* [A\0](README.md)\n* [B](nul.md)\n* [C](gone\0.md)\n",
            "* [Welcome](README.md)\n\n## Part\n\n* [First](guides/first.md)\n* [Out](https://x.org)\n* [Gone](gone.md)\n",
        ],
    ),
    ("guides/README.md", &["# Guides\n", "---\ndescription: All of them\nhidden: true\n---\n\n# Guides\n"]),
    (
        "guides/first.md",
        &["# First\n\n![](../img/a.svg) [up](README.md)\n", "# 1st\n\nother\n", "---\nbroken: [\n---\n"],
    ),
    ("nul.md", &["# A\0B\n\nNUL \0 in it.\n"]),
    ("img/a.svg", &["<svg/>", "<svg width=\"3\"/>"]),
    (".gitbook/includes/a.md", &["---\ntitle: A part\n---\n\nShared ß.\n"]),
    (".gitbook/vars.yaml", &["version: 1.50\nname: ß\n", "big: 1e400\n"]),
    (
        ".gitbook.yaml",
        &[
            "root: ./\n",
            "root: ../x\n",
            "root: \"../a\\0b\"\n",
            "root: ./guides/\nstructure:\n  readme: first.md\n",
        ],
    ),
];

impl Repository {
    pub(super) fn new() -> Self {
        let repository = Self::default();
        repository.0.lock().files.insert("README.md".to_owned(), FILES[0].1[0].to_owned());
        repository
    }

    /// Changes a file, or what the host answers.
    pub(super) fn change(&self, dice: &mut Dice) {
        let mut content = self.0.lock();
        content.failure = None;
        match dice.below(20) {
            0 => content.failure = Some(GitError::Unreachable("timeout".to_owned())),
            7 => content.failure = Some(GitError::Broken("a\0b".to_owned())),
            1 => content.failure = Some(GitError::NoRef("refs/heads/main".to_owned())),
            2 => drop(content.links.insert("guides/link.md".to_owned(), "first.md".to_owned())),
            3 => content.links.clear(),
            8 => content.message = format!("A commit\n\nß {}\0\u{1b}", "long ".repeat(dice.below(2) * 2_000)),
            4..=6 => {
                let (path, _) = *dice.of(FILES);
                content.files.remove(path);
            }
            _ => {
                let (path, texts) = *dice.of(FILES);
                content.files.insert(path.to_owned(), (*dice.of(texts)).to_owned());
            }
        }
    }
}

/// Repositories with what is not fit to be kept as it is, and how an import of each ends.
pub(super) fn odd() -> [(Repository, JobState); 3] {
    let odd = |change: &dyn Fn(&mut Content)| {
        let repository = Repository::new();
        change(&mut repository.0.lock());
        repository
    };
    // More than a store takes, written as JSON.
    let link = |n: usize| format!("* [{n}]({}{n}.md)\n", "\u{1}".repeat(900));
    let summary: String = (0..200).map(link).collect();
    [
        (odd(&|content| content.message = "a\0b".to_owned()), JobState::Done),
        (odd(&|content| content.failure = Some(GitError::Broken("a\0b".to_owned()))), JobState::Failed),
        (
            odd(&|content| drop(content.files.insert("SUMMARY.md".to_owned(), summary.clone()))),
            JobState::Done,
        ),
    ]
}

#[async_trait]
impl GitRemote for Repository {
    async fn fetch(&self, _request: &FetchRequest) -> Result<Box<dyn Checkout>, GitError> {
        let content = self.0.lock().clone();
        if let Some(failure) = content.failure {
            return Err(failure);
        }
        let file = |(path, text): (&String, &String)| RepoEntry {
            path: path.clone(),
            oid: Hash::of(text.as_bytes()).to_string()[..40].to_owned(),
            size: text.len() as u64,
            kind: RepoEntryKind::File,
        };
        let link = |(path, target): (&String, &String)| RepoEntry {
            kind: RepoEntryKind::Symlink(target.clone()),
            ..file((path, target))
        };
        let mut entries: Vec<RepoEntry> = content.files.iter().map(file).collect();
        entries.extend(content.links.iter().map(link));
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        let commit = Commit {
            oid: Hash::of(format!("{entries:?}").as_bytes()).to_string()[..40].to_owned(),
            message: content.message,
            committed_at: DateTime::<Utc>::UNIX_EPOCH,
        };
        Ok(Box::new(Commits { commit, entries, files: content.files }))
    }
}

struct Commits {
    commit: Commit,
    entries: Vec<RepoEntry>,
    files: BTreeMap<String, String>,
}

#[async_trait]
impl Checkout for Commits {
    fn commit(&self) -> &Commit {
        &self.commit
    }
    fn entries(&self) -> &[RepoEntry] {
        &self.entries
    }
    async fn read(&self, path: &str) -> Result<Bytes, GitError> {
        let file = self.files.get(path).cloned();
        file.map(Bytes::from).ok_or_else(|| GitError::NoSuchFile(path.to_owned()))
    }
}

/// A web with one picture.
pub(super) struct Pictures;

#[async_trait]
impl Web for Pictures {
    async fn get(&self, url: &str) -> Result<Fetched, WebError> {
        if url.ends_with("/pic.svg") {
            let content_type = Some("image/svg+xml".to_owned());
            return Ok(Fetched {
                charset: None,
                bytes: Bytes::from_static(b"<svg id=\"p\"/>"),
                content_type,
                url: url.to_owned(),
            });
        }
        Err(WebError::Status(404))
    }
}
