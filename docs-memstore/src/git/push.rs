//! Pushes to an in-memory repository.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use chrono::{DateTime, Utc};
use docs_model::hash::Hash;
use docs_ports::{Commit, GitError, PushFile, PushFiles, PushRequest, check_push_path};

use super::repository::{
    MemBranch, MemCommit, MemGitState, MemPushFault, MemRefs, MemRepository, PushedCommit, content_id,
    entries, object_id,
};

/// Performs a push. Reads all files before it locks the repository.
pub(super) async fn push(
    shared: &MemGitState,
    request: &PushRequest,
    files: &mut dyn PushFiles,
) -> Result<Commit, GitError> {
    if !request.reference.starts_with("refs/") {
        return Err(GitError::Ref("must be the full name of a branch, like `refs/heads/main`".to_owned()));
    }
    let fault = {
        let mut repository = shared.repository.lock();
        if let Some(failure) = repository.find_failure(&request.url, &request.reference) {
            return Err(failure);
        }
        // Git checks the expected commit before sending, and again after everything was received.
        check_expected(&repository, request)?;
        repository.push_faults.pop_front()
    };
    let mut given = Vec::new();
    while let Some(file) = files.next().await? {
        given.push(file);
    }
    let unreachable =
        |when: &str| GitError::Unreachable(format!("the connection was closed {when} the push"));
    let mut repository = shared.repository.lock();
    match &fault {
        Some(MemPushFault::Unreachable) => return Err(unreachable("before")),
        Some(MemPushFault::Overtaken(path, bytes)) => overtake(&mut repository, request, path, bytes.clone()),
        _ => {}
    }
    check_expected(&repository, request)?;
    let made = build_commit(shared, &repository, request, given)?;
    if let Some(MemPushFault::Rejected(text)) = &fault {
        return Err(GitError::rejected(text));
    }
    let commit = made.branch.commit.clone();
    move_ref(&mut repository, &request.reference, made.branch.clone());
    shared.commits.lock().push(made);
    match fault {
        Some(MemPushFault::AnswerLost) => Err(unreachable("after")),
        _ => Ok(commit),
    }
}

fn check_expected(repository: &MemRepository, request: &PushRequest) -> Result<(), GitError> {
    let branch = repository.branch(&request.reference);
    let is_expected = branch.map(|branch| branch.commit.oid) == request.expected;
    let is_forward = request.expected.is_none() || request.expected == request.parent;
    if is_expected && is_forward { Ok(()) } else { Err(GitError::Moved) }
}

/// Builds the requested commit.
fn build_commit(
    shared: &MemGitState,
    repository: &MemRepository,
    request: &PushRequest,
    given: Vec<PushFile>,
) -> Result<MemCommit, GitError> {
    let MemBranch { mut files, mut links, mut executables, .. } = match &request.parent {
        Some(parent) => find(shared, repository, parent).ok_or(GitError::Moved)?,
        None => MemBranch {
            commit: commit_for(request, String::new()),
            files: BTreeMap::new(),
            links: BTreeMap::new(),
            executables: BTreeSet::new(),
        },
    };
    let parent_files = files.clone();
    let mut removed = Vec::new();
    for path in &request.removed {
        check_push_path(path)?;
        if files.remove(path).is_some() | links.remove(path).is_some() {
            removed.push(path.clone());
        }
    }
    let mut written = Vec::new();
    for PushFile { path, bytes, is_executable } in given {
        check_push_path(&path)?;
        if written.contains(&path) {
            return Err(GitError::Path(format!("`{path}` is a duplicate")));
        }
        links.remove(&path);
        // An existing file keeps its mode.
        if is_executable && !parent_files.contains_key(&path) {
            executables.insert(path.clone());
        }
        files.insert(path.clone(), bytes);
        written.push(path);
    }
    for path in &written {
        let below = format!("{path}/");
        let is_folder = |path: &String| path.starts_with(&below);
        let is_in_a_file = path.match_indices('/').any(|(at, _)| {
            let folder = &path[..at];
            files.contains_key(folder) || links.contains_key(folder)
        });
        if is_in_a_file || files.keys().chain(links.keys()).any(is_folder) {
            return Err(GitError::Path(format!("`{path}` is both a file and a folder")));
        }
    }
    executables.retain(|path| files.contains_key(path));
    let content = Hash::compute(format!("{request:?}{:?}", entries(&files, &links, &executables)).as_bytes());
    let branch = MemBranch { commit: commit_for(request, object_id(content)), files, links, executables };
    Ok(MemCommit {
        url: request.url.clone(),
        reference: request.reference.clone(),
        parent: request.parent.clone(),
        author: request.author.clone(),
        committer: request.committer.clone(),
        written,
        removed,
        branch,
    })
}

fn commit_for(request: &PushRequest, oid: String) -> Commit {
    let committed_at =
        DateTime::<Utc>::from_timestamp(request.committed_at.timestamp(), 0).unwrap_or_default();
    Commit { oid, message: request.message.clone(), committed_at }
}

/// Returns the files of a commit that is the target of a ref or was pushed.
fn find(shared: &MemGitState, repository: &MemRepository, oid: &str) -> Option<MemBranch> {
    let tips = repository.branch("HEAD").into_iter().chain(repository.branches.values().cloned());
    let pushed = shared.commits.lock().iter().map(|made| made.branch.clone()).collect::<Vec<_>>();
    tips.chain(pushed).find(|branch| branch.commit.oid == oid)
}

/// Adds the commit of a concurrent push.
fn overtake(repository: &mut MemRepository, request: &PushRequest, path: &str, bytes: Bytes) {
    let Some(mut branch) = repository.branch(&request.reference) else {
        let commit = Commit { message: "Another commit".to_owned(), ..commit_for(request, String::new()) };
        let files = BTreeMap::from([(path.to_owned(), bytes)]);
        return overtake_with(
            repository,
            &request.reference,
            MemBranch { commit, files, links: BTreeMap::new(), executables: BTreeSet::new() },
        );
    };
    branch.files.insert(path.to_owned(), bytes);
    overtake_with(repository, &request.reference, branch);
}

fn overtake_with(repository: &mut MemRepository, reference: &str, mut branch: MemBranch) {
    branch.commit.oid =
        content_id(&branch.commit.message, &entries(&branch.files, &branch.links, &branch.executables));
    move_ref(repository, reference, branch);
}

/// Points a ref at a branch, creating the ref if necessary.
fn move_ref(repository: &mut MemRepository, reference: &str, branch: MemBranch) {
    if repository.refs.is_empty() {
        repository.refs = MemRefs::Only(BTreeSet::from([reference.to_owned()]));
    }
    if repository.branches.contains_key(reference) || !repository.refs.contains(reference) {
        repository.branches.insert(reference.to_owned(), branch);
        return;
    }
    let MemBranch { commit, files, links, executables } = branch;
    let content = content_id(&commit.message, &entries(&files, &links, &executables));
    (repository.files, repository.links, repository.executables) = (files, links, executables);
    repository.message.clone_from(&commit.message);
    repository.pushed = Some(PushedCommit { content, commit });
}
