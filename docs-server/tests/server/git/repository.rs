//! Access to repositories with the `git` program.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Command,
};

/// Runs a Git command in a folder and returns its output. The command must succeed.
pub(crate) fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = command(folder, arguments).output().expect("git runs");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?}: {complaint}");
    String::from_utf8(output.stdout).expect("text").trim_end().to_owned()
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    let who = ["-c", "user.name=Bea", "-c", "user.email=bea@example.com", "-c", "core.autocrlf=false"];
    command.args(who).arg("-C").arg(folder).args(arguments);
    // Ignore the machine's Git configuration, and never prompt for a password.
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    command.env("GIT_TERMINAL_PROMPT", "0");
    command
}

/// Creates an empty bare repository.
pub(crate) fn bare(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(format!("{name}.git"));
    std::fs::create_dir_all(&path).expect("a folder");
    git(&path, &["init", "--quiet", "--bare", "--initial-branch=main"]);
    path
}

/// Returns the commit of `main`, or `None` if the branch does not exist.
pub(crate) fn tip(repository: &Path) -> Option<String> {
    let output = command(repository, &["rev-parse", "--quiet", "--verify", "refs/heads/main"]).output();
    let text = String::from_utf8(output.expect("git runs").stdout).expect("text").trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// Returns the number of commits of `main`.
pub(crate) fn commits(repository: &Path) -> usize {
    commits_at(repository, "refs/heads/main")
}

/// Returns the number of commits reachable from a revision, including itself.
pub(crate) fn commits_at(repository: &Path, revision: &str) -> usize {
    git(repository, &["rev-list", "--count", revision]).parse().expect("a number")
}

/// Returns the files of a revision with their contents.
pub(crate) fn files_at(repository: &Path, revision: &str) -> BTreeMap<String, String> {
    let repository = git2::Repository::open_bare(repository).expect("a repository");
    let commit = repository.revparse_single(revision).expect("a revision");
    let mut files = BTreeMap::new();
    let read = |folder: &str, entry: &git2::TreeEntry<'_>| {
        if let Some(blob) = entry.to_object(&repository).expect("an object").as_blob() {
            let text = std::str::from_utf8(blob.content()).expect("text").to_owned();
            files.insert(format!("{folder}{}", entry.name().expect("a name")), text);
        }
        git2::TreeWalkResult::Ok
    };
    commit.peel_to_tree().expect("a tree").walk(git2::TreeWalkMode::PreOrder, read).expect("it is read");
    files
}

/// Asserts that all objects reachable from refs exist and are valid.
pub(crate) fn check(repository: &Path) {
    git(repository, &["fsck", "--strict", "--full", "--no-dangling"]);
    git(repository, &["rev-list", "--objects", "--all", "--quiet"]);
}

/// Asserts that no ref was left locked.
pub(crate) fn check_unlocked(repository: &Path) {
    let locks = std::fs::read_dir(repository.join("refs/heads")).expect("a folder").filter_map(Result::ok);
    let locks: Vec<_> = locks
        .map(|entry| entry.file_name())
        .filter(|name| name.to_string_lossy().ends_with(".lock"))
        .collect();
    assert!(locks.is_empty(), "a ref stays locked: {locks:?}");
}

/// Commits exactly these files to `main` through a temporary clone, as an external author.
pub(crate) fn commit(repository: &Path, files: &BTreeMap<String, String>, message: &str) {
    let work = tempfile::tempdir().expect("a folder");
    let url = repository.to_str().expect("text");
    git(work.path(), &["clone", "--quiet", url, "."]);
    git(work.path(), &["rm", "-r", "--quiet", "--ignore-unmatch", "."]);
    for (path, text) in files {
        let path = work.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
    git(work.path(), &["add", "--all"]);
    git(work.path(), &["commit", "--quiet", "--message", message]);
    git(work.path(), &["push", "--quiet", "origin", "HEAD:main"]);
}
