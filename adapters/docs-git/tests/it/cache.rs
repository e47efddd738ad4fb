use std::{fs, path::Path};

use docs_git::{GitClient, Limits};
use docs_ports::{FetchRequest, GitError, GitRemote as _};
use git2::Repository;
use tempfile::TempDir;

use crate::{
    fixture::{FILE, Fixture, assert_filled, client, error_of},
    server::{has_git, web},
};

fn with_cache() -> (TempDir, GitClient) {
    let folder = tempfile::tempdir().unwrap();
    let client = client().with_cache(folder.path());
    (folder, client)
}

fn kept(url: &str, id: &str) -> FetchRequest {
    FetchRequest {
        url: url.to_owned(),
        reference: "refs/heads/main".to_owned(),
        cache_id: Some(id.to_owned()),
    }
}

/// The repositories in a cache.
fn repositories(folder: &Path) -> Vec<Repository> {
    fs::read_dir(folder).unwrap().map(|entry| Repository::open_bare(entry.unwrap().path()).unwrap()).collect()
}

#[tokio::test]
async fn a_kept_repository_gets_what_is_new_only() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::filled();
    let (server, log) = web(fixture.path(), |_| None);
    let url = format!("http://{}/repo.git", server.address());
    let (folder, client) = with_cache();

    let first = client.fetch(&kept(&url, "space")).await.unwrap();
    assert_filled(&*first, fixture.main()).await;
    let posts = || log.lock().unwrap().iter().filter(|request| request.line.starts_with("POST")).count();
    let before = posts();
    let again = client.fetch(&kept(&url, "space")).await.unwrap();
    assert_filled(&*again, fixture.main()).await;
    assert_eq!(posts(), before, "nothing is new");

    let tip = fixture.repository.refname_to_id("refs/heads/main").unwrap();
    fixture.commit("refs/heads/main", &[(b"new.md", FILE, b"new")], &[tip]);
    let newer = client.fetch(&kept(&url, "space")).await.unwrap();
    assert_eq!(&newer.read("new.md").await.unwrap()[..], b"new");
    assert_eq!(&first.read("README.md").await.unwrap()[..], b"# New\n", "an older checkout still reads");
    let have = format!("have {tip}");
    assert!(log.lock().unwrap().iter().any(|request| String::from_utf8_lossy(&request.body).contains(&have)));

    let repositories = repositories(folder.path());
    assert_eq!(repositories.len(), 1);
    assert!(repositories[0].is_shallow());
}

#[tokio::test]
async fn repositories_of_different_urls_and_ids_are_kept_apart() {
    let (a, b) = (Fixture::filled(), Fixture::filled());
    let (folder, client) = with_cache();
    for (fixture, id) in [(&a, "one"), (&b, "one"), (&a, "two"), (&a, "one")] {
        let checkout = client.fetch(&kept(&fixture.file_url(), id)).await.unwrap();
        assert_filled(&*checkout, fixture.main()).await;
    }
    assert_eq!(repositories(folder.path()).len(), 3);
}

#[tokio::test]
async fn fetches_into_one_repository_wait_for_each_other() {
    let fixture = Fixture::filled();
    let (folder, client) = with_cache();
    let url = fixture.file_url();
    let fetches: Vec<_> = (0..8)
        .map(|_| {
            let (client, url) = (client.clone(), url.clone());
            tokio::spawn(async move {
                client.fetch(&kept(&url, "x")).await.map(|checkout| checkout.commit().oid.clone())
            })
        })
        .collect();
    for fetch in fetches {
        assert_eq!(fetch.await.unwrap(), Ok(fixture.main()));
    }
    assert_eq!(repositories(folder.path()).len(), 1);
}

#[tokio::test]
async fn a_damaged_repository_is_fetched_anew() {
    let fixture = Fixture::filled();
    let (folder, client) = with_cache();
    drop(client.fetch(&kept(&fixture.file_url(), "x")).await.unwrap());
    let repository = fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    fs::remove_dir_all(repository.join("objects")).unwrap();
    fs::write(repository.join("HEAD"), "nonsense").unwrap();
    let checkout = client.fetch(&kept(&fixture.file_url(), "x")).await.unwrap();
    assert_filled(&*checkout, fixture.main()).await;
}

#[tokio::test]
async fn a_repository_that_has_grown_too_large_begins_anew() {
    let fixture = Fixture::filled();
    let (folder, client) = with_cache();
    let client = client.with_limits(Limits { total_bytes: 20_000, ..Limits::default() });
    drop(client.fetch(&kept(&fixture.file_url(), "x")).await.unwrap());
    let repository = fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    let ballast = repository.join("ballast");
    fs::write(&ballast, vec![0; 20_000]).unwrap();
    drop(client.fetch(&kept(&fixture.file_url(), "x")).await.unwrap());
    assert!(!ballast.exists());
}

#[tokio::test]
async fn a_cache_that_cannot_be_written_may_pass() {
    let fixture = Fixture::filled();
    let file = tempfile::NamedTempFile::new().unwrap();
    let error = error_of(client().with_cache(file.path()).fetch(&kept(&fixture.file_url(), "x")).await);
    assert!(matches!(error, GitError::Unreachable(_)), "{error:?}");
}
