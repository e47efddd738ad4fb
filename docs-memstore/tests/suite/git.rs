//! Pushes to the in-memory repository.

use std::collections::{BTreeSet, VecDeque};

use async_trait::async_trait;
use chrono::DateTime;
use docs_memstore::{MemGit, MemPushFault, MemRefs};
use docs_ports::{
    Checkout, Commit, FetchRequest, GitError, GitRemote as _, PushFile, PushFiles, PushRequest, Signature,
    SourceError,
};

const MAIN: &str = "refs/heads/main";
const DOCS: &str = "refs/heads/docs";

struct Files(VecDeque<Result<PushFile, GitError>>);

#[async_trait]
impl PushFiles for Files {
    async fn next(&mut self) -> Result<Option<PushFile>, GitError> {
        self.0.pop_front().transpose()
    }
}

fn files(files: &[(&str, &'static str)]) -> Files {
    Files(
        files
            .iter()
            .map(|(path, text)| {
                Ok(PushFile { path: (*path).into(), bytes: (*text).into(), is_executable: false })
            })
            .collect(),
    )
}

async fn fetch(git: &MemGit, reference: &str) -> Result<Box<dyn Checkout>, GitError> {
    let url = "https://git.example/docs".to_owned();
    git.fetch(&FetchRequest { url, reference: reference.to_owned(), cache_id: None }).await
}

async fn tip(git: &MemGit, reference: &str) -> Option<Commit> {
    fetch(git, reference).await.ok().map(|checkout| checkout.commit().clone())
}

/// Creates a push on top of a commit.
fn on(reference: &str, expected: Option<&Commit>, parent: Option<&Commit>) -> PushRequest {
    let signature = |name: &str| Signature { name: name.to_owned(), email: format!("{name}@example.com") };
    PushRequest {
        url: "https://git.example/docs".to_owned(),
        reference: reference.to_owned(),
        cache_id: None,
        expected: expected.map(|commit| commit.oid.clone()),
        parent: parent.map(|commit| commit.oid.clone()),
        removed: Vec::new(),
        message: "Write".to_owned(),
        author: signature("ada"),
        committer: signature("bot"),
        committed_at: DateTime::from_timestamp(1_700_000_000, 5).expect("a date"),
    }
}

fn paths(checkout: &dyn Checkout) -> Vec<&str> {
    checkout.entries().iter().map(|entry| entry.path.as_str()).collect()
}

#[tokio::test]
async fn push_is_visible_to_fetch_and_recorded_as_a_commit() {
    let git = MemGit::new();
    git.put("a.md", "a");
    git.put("old.md", "old");
    let before = tip(&git, MAIN).await.unwrap();
    let mut push = on(MAIN, Some(&before), Some(&before));
    push.removed = vec!["old.md".to_owned(), "none.md".to_owned()];
    let made = git.push(&push, &mut files(&[("b/c.md", "c"), ("a.md", "aa")])).await.unwrap();
    let checkout = fetch(&git, MAIN).await.unwrap();
    assert_eq!((checkout.commit(), paths(&*checkout)), (&made, vec!["a.md", "b/c.md"]));
    assert_eq!((made.message.as_str(), made.committed_at.timestamp_subsec_nanos()), ("Write", 0));
    let [commit] = &git.commits()[..] else { panic!() };
    assert_eq!((commit.author.name.as_str(), commit.committer.name.as_str()), ("ada", "bot"));
    assert_eq!(
        (&commit.written[..], &commit.removed[..]),
        (&["b/c.md".into(), "a.md".into()][..], &["old.md".into()][..])
    );
    assert_eq!((commit.parent.as_ref(), &commit.branch.commit), (Some(&before.oid), &made));
    assert_eq!(commit.branch.files["a.md"], "aa");

    git.put("a.md", "edited by somebody else");
    assert_ne!(tip(&git, MAIN).await.unwrap(), made);
    assert_eq!(git.push(&on(MAIN, Some(&made), Some(&made)), &mut files(&[])).await, Err(GitError::Moved));
}

#[tokio::test]
async fn push_creates_a_ref_only_if_it_does_not_exist() {
    let git = MemGit::empty();
    for reference in ["HEAD", MAIN] {
        assert_eq!(fetch(&git, reference).await.err(), Some(GitError::NoRef(reference.to_owned())));
    }
    let first = git.push(&on(MAIN, None, None), &mut files(&[("a.md", "a")])).await.unwrap();
    assert_eq!(tip(&git, "HEAD").await, Some(first.clone()));
    assert_eq!(git.push(&on(MAIN, None, None), &mut files(&[])).await, Err(GitError::Moved));
    assert_eq!(git.push(&on(DOCS, Some(&first), Some(&first)), &mut files(&[])).await, Err(GitError::Moved));

    let unknown = Commit { oid: "0".repeat(40), ..first.clone() };
    assert_eq!(git.push(&on(DOCS, None, Some(&unknown)), &mut files(&[])).await, Err(GitError::Moved));
    let docs = git.push(&on(DOCS, None, Some(&first)), &mut files(&[("b.md", "b")])).await.unwrap();
    assert_eq!(paths(&*fetch(&git, DOCS).await.unwrap()), ["a.md", "b.md"]);
    let next = git.push(&on(DOCS, Some(&docs), Some(&docs)), &mut files(&[])).await.unwrap();
    assert_eq!((tip(&git, DOCS).await, tip(&git, MAIN).await), (Some(next), Some(first)));

    let only = MemGit::new();
    only.edit(|repository| repository.refs = MemRefs::Only(BTreeSet::from([MAIN.to_owned()])));
    assert!(fetch(&only, "HEAD").await.is_ok() && fetch(&only, MAIN).await.is_ok());
    assert_eq!(fetch(&only, DOCS).await.err(), Some(GitError::NoRef(DOCS.to_owned())));
}

#[tokio::test]
async fn push_rejects_conflicting_or_invalid_paths() {
    let git = MemGit::new();
    git.put("a/b.md", "b");
    git.edit(|repository| repository.links.insert("link".to_owned(), "a".to_owned()));
    let before = tip(&git, MAIN).await.unwrap();
    let mut push = on(MAIN, Some(&before), Some(&before));
    for path in ["a", "a/b.md/c", "link/c", "../x", ".git/config", ""] {
        let error = git.push(&push, &mut files(&[(path, "")])).await.unwrap_err();
        assert!(matches!(error, GitError::Path(_)), "{path}: {error:?}");
    }
    let twice = git.push(&push, &mut files(&[("x", ""), ("x", "")])).await.unwrap_err();
    assert!(matches!(twice, GitError::Path(_)), "{twice:?}");
    assert_eq!((tip(&git, MAIN).await, git.commits().len()), (Some(before), 0));
    push.removed = vec!["a/b.md".to_owned(), "link".to_owned()];
    git.push(&push, &mut files(&[("a", ""), ("link/c", "")])).await.unwrap();
    assert_eq!(paths(&*fetch(&git, MAIN).await.unwrap()), ["a", "link/c"]);
}

#[tokio::test]
async fn each_injected_fault_affects_one_push() {
    let git = MemGit::new();
    git.put("a.md", "a");
    git.edit(|repository| {
        repository.push_faults = VecDeque::from([
            MemPushFault::Unreachable,
            MemPushFault::Rejected("remote:\n hook\u{1b}\tdeclined ".to_owned()),
            MemPushFault::Overtaken("b.md".to_owned(), "b".into()),
            MemPushFault::AnswerLost,
        ]);
    });
    let before = tip(&git, MAIN).await.unwrap();
    let push = on(MAIN, Some(&before), Some(&before));
    assert!(matches!(git.push(&push, &mut files(&[])).await, Err(GitError::Unreachable(_))));
    let rejected = git.push(&push, &mut files(&[])).await;
    assert_eq!(rejected, Err(GitError::Rejected("remote: hook declined".to_owned())));
    assert_eq!(tip(&git, MAIN).await, Some(before));

    assert_eq!(git.push(&push, &mut files(&[])).await, Err(GitError::Moved));
    assert_eq!(paths(&*fetch(&git, MAIN).await.unwrap()), ["a.md", "b.md"]);
    let before = tip(&git, MAIN).await.unwrap();
    let push = on(MAIN, Some(&before), Some(&before));
    assert!(matches!(git.push(&push, &mut files(&[])).await, Err(GitError::Unreachable(_))));
    assert_eq!(tip(&git, MAIN).await.as_ref(), git.commits().first().map(|made| &made.branch.commit));

    git.edit(|repository| repository.failure = Some(GitError::Credentials));
    assert_eq!(git.push(&push, &mut files(&[])).await, Err(GitError::Credentials));
}

#[tokio::test]
async fn push_source_error_is_returned_and_nothing_is_pushed() {
    let git = MemGit::new();
    let before = tip(&git, MAIN).await.unwrap();
    let reason = GitError::from(SourceError::new(std::io::Error::other("gone")));
    let mut some = files(&[("a.md", "a")]);
    some.0.push_back(Err(reason.clone()));
    assert_eq!(git.push(&on(MAIN, Some(&before), Some(&before)), &mut some).await, Err(reason));
    assert_eq!((tip(&git, MAIN).await, git.commits().len()), (Some(before), 0));
}
