//! Pushes to repositories on disk.

use docs_ports::{GitError, GitRemote as _, PushRequest};
use git2::{Repository, Signature, Time};

use crate::{
    fixture::{FILE, Files, Fixture, LINK, client, fetch, file, files, noise, push, push_on, pushed_at_once},
    server::has_git,
};

#[tokio::test]
async fn push_to_a_local_repository_creates_commits_and_branches() {
    let fixture = Fixture::new();
    let url = fixture.file_url();
    let first = push(&push_on(&url, None), &mut files(&[("a/b.md", "b")])).await.unwrap();
    assert_eq!(fixture.tip().as_ref(), Some(&first.oid));
    let before: &[(&[u8], u32, &[u8])] =
        &[(b"a/b.md", FILE, b"b"), (b"tool", 0o100_755, b"#!"), (b"link", LINK, b"tool")];
    fixture.commit("refs/heads/main", before, &[git2::Oid::from_str(&first.oid).unwrap()]);
    let tip = fixture.tip();
    let request = PushRequest { removed: vec!["a/b.md".to_owned()], ..push_on(&url, tip.as_deref()) };
    let bytes = noise(400_000);
    let mut some = Files([Ok(file("new/big", bytes.clone())), Ok(file("tool", "#! new"))].into());
    let made = push(&request, &mut some).await.unwrap();
    let checkout = fetch(&url, "refs/heads/main").await.unwrap();
    assert_eq!(checkout.commit(), &made);
    assert!(checkout.read("new/big").await.unwrap() == bytes);
    let repository = Repository::open_bare(fixture.path()).unwrap();
    let commit = repository.find_commit(git2::Oid::from_str(&made.oid).unwrap()).unwrap();
    let modes: Vec<_> =
        commit.tree().unwrap().iter().map(|it| (it.name().unwrap().to_owned(), it.filemode())).collect();
    assert_eq!(
        modes,
        [("link".to_owned(), 0o120_000), ("new".to_owned(), 0o040_000), ("tool".to_owned(), 0o100_755)]
    );
    assert_eq!(commit.parent_id(0).unwrap().to_string(), tip.unwrap());
    if has_git() {
        fixture.git(&["fsck", "--strict", "--full"]);
    }

    let reference = "refs/heads/docs/new".to_owned();
    let branch = PushRequest { reference, expected: None, ..push_on(&url, Some(&made.oid)) };
    push(&branch, &mut files(&[("x", "")])).await.unwrap();
    assert_eq!(push(&branch, &mut files(&[("x", "")])).await, Err(GitError::Moved));
    for reference in ["refs/heads/docs", "refs/heads/main/below"] {
        let request = PushRequest { reference: reference.to_owned(), ..branch.clone() };
        let error = push(&request, &mut files(&[])).await.unwrap_err();
        assert!(matches!(error, GitError::Rejected(_)), "{error:?}");
    }
}

#[tokio::test]
async fn one_of_many_concurrent_pushes_succeeds() {
    for is_new in [false, true] {
        let fixture = if is_new { Fixture::new() } else { Fixture::filled() };
        let (url, tip) = (fixture.file_url(), fixture.tip());
        let won = pushed_at_once(6, &push_on(&url, tip.as_deref()), "").await;
        assert_eq!(won, [fixture.tip().unwrap()]);
    }
}

#[tokio::test]
async fn push_with_unexpected_tip_or_parent_is_refused() {
    let fixture = Fixture::filled();
    let (url, tip) = (fixture.file_url(), fixture.tip().unwrap());
    let unknown = "1".repeat(40);
    for (expected, parent) in
        [(None, None), (None, Some(&tip)), (Some(&unknown), Some(&unknown)), (Some(&tip), None)]
    {
        let (expected, parent) = (expected.cloned(), parent.cloned());
        let request = PushRequest { expected, parent, ..push_on(&url, None) };
        assert_eq!(push(&request, &mut files(&[("a", "")])).await, Err(GitError::Moved), "{request:?}");
    }
    let reference = "refs/heads/other".to_owned();
    let request = PushRequest { reference, parent: Some(unknown), ..push_on(&url, None) };
    assert_eq!(push(&request, &mut files(&[])).await, Err(GitError::Moved));
    assert_eq!(push(&push_on("file:///no/such", None), &mut files(&[])).await, Err(GitError::NoRepository));
    assert_eq!(fixture.tip(), Some(tip));
}

#[tokio::test]
async fn push_to_a_checked_out_branch_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let repository = Repository::init(folder.path()).unwrap();
    repository.set_head("refs/heads/main").unwrap();
    let who = Signature::new("A", "a@example.com", &Time::new(0, 0)).unwrap();
    let tree = repository.treebuilder(None).unwrap().write().unwrap();
    let tree = repository.find_tree(tree).unwrap();
    let tip = repository.commit(Some("refs/heads/main"), &who, &who, "x", &tree, &[]).unwrap().to_string();
    let url = format!("file://{}", folder.path().display());
    let error = push(&push_on(&url, Some(&tip)), &mut files(&[])).await.unwrap_err();
    assert!(matches!(&error, GitError::Rejected(text) if text.contains("checked out")), "{error:?}");
    let reference = "refs/heads/other".to_owned();
    let other = PushRequest { reference, expected: None, ..push_on(&url, Some(&tip)) };
    push(&other, &mut files(&[("a", "")])).await.unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn local_push_is_refused_if_a_hook_could_reject_it() {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    let fixture = Fixture::filled();
    let (url, tip) = (fixture.file_url(), fixture.tip());
    let hooks = fixture.folder.path().join("hooks");
    fs::create_dir_all(&hooks).unwrap();
    for name in ["pre-receive", "update", "reference-transaction", "proc-receive"] {
        let hook = hooks.join(name);
        fs::write(&hook, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
        let error = push(&push_on(&url, tip.as_deref()), &mut files(&[])).await.unwrap_err();
        assert!(matches!(&error, GitError::Rejected(text) if text.contains(name)), "{error:?}");
        fs::set_permissions(&hook, fs::Permissions::from_mode(0o644)).unwrap();
    }
    fixture.repository.config().unwrap().set_str("core.hooksPath", "/somewhere").unwrap();
    let error = push(&push_on(&url, tip.as_deref()), &mut files(&[])).await.unwrap_err();
    assert!(matches!(error, GitError::Rejected(_)), "{error:?}");
    assert_eq!(fixture.tip(), tip);
    fixture.repository.config().unwrap().remove("core.hooksPath").unwrap();
    client().push(&push_on(&url, tip.as_deref()), &mut files(&[("a", "")])).await.unwrap();
}
