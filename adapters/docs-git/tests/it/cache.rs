use std::{fs, path::Path};

use docs_git::{GitClient, Limits};
use docs_ports::{FetchRequest, GitError, GitRemote as _};
use git2::Repository;
use tempfile::TempDir;

use crate::{
    fixture::{FILE, Fixture, assert_filled, client, error_of, noise},
    server::{Server, has_git, web},
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

/// Starts a server for a repository, and returns it with the URL.
fn served(fixture: &Fixture) -> (Server, String) {
    let (server, _log) = web(fixture.path(), |_| None);
    let url = format!("http://{}/repo.git", server.address());
    (server, url)
}

/// Returns the repositories in a cache.
fn repositories(folder: &Path) -> Vec<Repository> {
    fs::read_dir(folder).unwrap().map(|entry| Repository::open_bare(entry.unwrap().path()).unwrap()).collect()
}

#[tokio::test]
async fn cached_repository_is_fetched_incrementally() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::filled();
    let (server, log) = web(fixture.path(), |_| None);
    let url = format!("http://{}/repo.git", server.address());
    let (folder, client) = with_cache();

    let first = client.fetch(&kept(&url, "space")).await.unwrap();
    assert_filled(&*first, fixture.main()).await;
    assert!(repositories(folder.path())[0].is_shallow(), "the first fetch is of one commit");
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

    assert_eq!(repositories(folder.path()).len(), 1);
}

/// Each limit is exceeded by a file of an earlier commit, and later by one of the newest commit.
#[tokio::test]
async fn history_that_exceeds_a_limit_is_not_fetched() {
    if !has_git() {
        return;
    }
    let limits = [
        Limits { total_bytes: 1_000_000, ..Limits::default() },
        Limits { unpacked_bytes: 1_000_000, ..Limits::default() },
        Limits { chain_bytes: 1_000_000, ..Limits::default() },
    ];
    for limits in limits {
        let fixture = Fixture::filled();
        let (server, log) = web(fixture.path(), |_| None);
        let url = format!("http://{}/repo.git", server.address());
        let posts = || log.lock().unwrap().iter().filter(|request| request.line.starts_with("POST")).count();
        let folder = tempfile::tempdir().unwrap();
        let client = client().with_limits(limits).with_cache(folder.path());
        client.fetch(&kept(&url, "space")).await.unwrap();

        let commit = |name: &[u8], bytes: &[u8]| {
            let tip = fixture.repository.refname_to_id("refs/heads/main").unwrap();
            fixture.commit("refs/heads/main", &[(name, FILE, bytes)], &[tip]);
        };
        commit(b"large.bin", &noise(3_000_000));
        commit(b"new.md", b"new");
        let newer = client.fetch(&kept(&url, "space")).await.unwrap();
        assert_eq!(&newer.read("new.md").await.unwrap()[..], b"new", "{limits:?}");
        assert_eq!(repositories(folder.path()).len(), 1);

        commit(b"large.bin", &noise(4_000_000));
        let before = posts();
        let error = error_of(client.fetch(&kept(&url, "space")).await);
        assert!(matches!(error, GitError::TooLarge(_)), "{limits:?}: {error:?}");
        assert!(posts() <= before + 4, "the files of the newest commit are requested at most twice");
    }
}

/// Returns the entries of a folder that other users of the machine have access to.
#[cfg(unix)]
fn open_to_others(folder: &Path) -> Vec<String> {
    use std::os::unix::fs::PermissionsExt as _;

    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        if mode & 0o077 != 0 {
            found.push(format!("{mode:o} {}", path.display()));
        }
        if path.is_dir() {
            found.extend(open_to_others(&path));
        }
    }
    found
}

#[cfg(unix)]
#[tokio::test]
async fn a_kept_repository_is_for_its_owner() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::filled();
    let (_server, url) = served(&fixture);
    let (folder, client) = with_cache();
    client.fetch(&kept(&url, "space")).await.unwrap();
    let packs = repositories(folder.path())[0].path().join("objects/pack");
    assert!(fs::read_dir(packs).unwrap().count() > 0, "the pack is among what is looked at");
    assert_eq!(open_to_others(folder.path()), Vec::<String>::new());
    let tip = fixture.repository.refname_to_id("refs/heads/main").unwrap();
    fixture.commit("refs/heads/main", &[(b"new.md", FILE, b"new")], &[tip]);
    client.fetch(&kept(&url, "space")).await.unwrap();
    assert_eq!(open_to_others(folder.path()), Vec::<String>::new(), "after a second fetch");
}

#[tokio::test]
async fn cache_separates_repositories_by_url_and_id() {
    if !has_git() {
        return;
    }
    let (a, b) = (Fixture::filled(), Fixture::filled());
    let ((_first, a_url), (_second, b_url)) = (served(&a), served(&b));
    let (folder, client) = with_cache();
    for (fixture, url, id) in
        [(&a, &a_url, "one"), (&b, &b_url, "one"), (&a, &a_url, "two"), (&a, &a_url, "one")]
    {
        let checkout = client.fetch(&kept(url, id)).await.unwrap();
        assert_filled(&*checkout, fixture.main()).await;
    }
    assert_eq!(repositories(folder.path()).len(), 3);
}

#[tokio::test]
async fn concurrent_fetches_share_one_cached_repository() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::filled();
    let (_server, url) = served(&fixture);
    let (folder, client) = with_cache();
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
async fn damaged_cached_repository_is_fetched_from_scratch() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::filled();
    let (_server, url) = served(&fixture);
    let (folder, client) = with_cache();
    drop(client.fetch(&kept(&url, "x")).await.unwrap());
    let repository = fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    fs::remove_dir_all(repository.join("objects")).unwrap();
    fs::write(repository.join("HEAD"), "nonsense").unwrap();
    let checkout = client.fetch(&kept(&url, "x")).await.unwrap();
    assert_filled(&*checkout, fixture.main()).await;
}

#[tokio::test]
async fn oversized_cached_repository_is_recreated() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::filled();
    let (_server, url) = served(&fixture);
    let (folder, client) = with_cache();
    let client = client.with_limits(Limits { total_bytes: 20_000, ..Limits::default() });
    drop(client.fetch(&kept(&url, "x")).await.unwrap());
    let repository = fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    let ballast = repository.join("ballast");
    fs::write(&ballast, vec![0; 20_000]).unwrap();
    drop(client.fetch(&kept(&url, "x")).await.unwrap());
    assert!(!ballast.exists());
}

#[tokio::test]
async fn unwritable_cache_is_a_transient_error() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::filled();
    let (_server, url) = served(&fixture);
    let file = tempfile::NamedTempFile::new().unwrap();
    let error = error_of(client().with_cache(file.path()).fetch(&kept(&url, "x")).await);
    assert!(matches!(error, GitError::Unreachable(_)), "{error:?}");
}

/// Returns the names of the entries in a folder.
fn names(folder: &Path) -> Vec<String> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[tokio::test]
async fn cache_evicts_least_recently_used_repositories() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::new();
    let noise = noise(40_000);
    fixture.commit("refs/heads/main", &[(b"noise", FILE, &noise)], &[]);
    let (_server, url) = served(&fixture);
    let folder = tempfile::tempdir().unwrap();
    // Entries that are not cached repositories are never deleted.
    fs::write(folder.path().join("letter"), vec![0; 500_000]).unwrap();
    fs::create_dir(folder.path().join("folder.git")).unwrap();
    let client = client().with_cache_of(folder.path(), 100_000);
    let fetch = async |id: &str| client.fetch(&kept(&url, id)).await.unwrap();
    let kept_now = || names(folder.path()).len() - 2;

    drop((fetch("a").await, fetch("b").await));
    let first = names(folder.path());
    drop(fetch("a").await);
    assert_eq!(names(folder.path()), first, "two of 40 kB have room");
    drop(fetch("c").await);
    assert_eq!(kept_now(), 2);
    // `b` was evicted as the least recently used. `a` is still cached and is read again without a request.
    let before = names(folder.path());
    drop(fetch("a").await);
    assert_eq!(names(folder.path()), before);

    let (a, b, c) = (fetch("a").await, fetch("b").await, fetch("c").await);
    assert_eq!(kept_now(), 3, "what is in use stays");
    for checkout in [&a, &b, &c] {
        assert_eq!(&checkout.read("noise").await.unwrap()[..], noise);
    }
    drop((a, b, c));
    drop(fetch("a").await);
    assert_eq!(kept_now(), 2);
    assert!(folder.path().join("letter").exists() && folder.path().join("folder.git").exists());
}

#[tokio::test]
async fn a_small_cache_serves_many_fetches_at_once() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::filled();
    let (_server, url) = served(&fixture);
    let folder = tempfile::tempdir().unwrap();
    let client = client().with_cache_of(folder.path(), 1);
    let fetches: Vec<_> = (0..24)
        .map(|number| {
            let (client, request) = (client.clone(), kept(&url, &(number % 5).to_string()));
            let tip = fixture.main();
            tokio::spawn(async move {
                let checkout = client.fetch(&request).await.unwrap();
                assert_filled(&*checkout, tip).await;
            })
        })
        .collect();
    for fetch in fetches {
        fetch.await.unwrap();
    }
    drop(client.fetch(&kept(&url, "last")).await.unwrap());
    assert_eq!(names(folder.path()).len(), 1, "the last one was in use when room was made");
}

#[tokio::test]
async fn partially_removed_repository_is_deleted() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::filled();
    let (_server, url) = served(&fixture);
    let (folder, client) = with_cache();
    let gone = folder.path().join(format!("gone-{}.git", "0".repeat(64)));
    fs::create_dir_all(gone.join("objects")).unwrap();
    drop(client.fetch(&kept(&url, "x")).await.unwrap());
    assert!(!gone.exists());
}

#[tokio::test]
async fn cache_folder_is_locked_by_one_client_and_its_clones() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("made/for/it");
    let first = client().with_own_cache(&cache, GitClient::CACHE_BYTES).unwrap();
    let clone = first.clone();
    let second = || client().with_own_cache(&cache, GitClient::CACHE_BYTES);
    assert_eq!(second().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    drop(first);
    assert_eq!(second().unwrap_err().kind(), std::io::ErrorKind::WouldBlock, "a clone of it is there");
    drop(clone);
    second().unwrap();
}

#[tokio::test]
async fn incremental_fetch_does_not_transfer_cached_objects() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::new();
    let (large, count) = (noise(200_000), 3);
    let mut files: Vec<(Vec<u8>, u32, Vec<u8>)> = vec![(b"large.bin".to_vec(), FILE, large)];
    let mut tip = None;
    let mut commit = |files: &[(Vec<u8>, u32, Vec<u8>)]| {
        let files: Vec<(&[u8], u32, &[u8])> =
            files.iter().map(|(path, mode, text)| (&path[..], *mode, &text[..])).collect();
        tip = Some(fixture.commit("refs/heads/main", &files, tip.as_slice()));
    };
    commit(&files);
    commit(&files);
    let (server, _log) = web(fixture.path(), |_| None);
    let url = format!("http://{}/repo.git", server.address());
    let (folder, client) = with_cache();
    drop(client.fetch(&kept(&url, "x")).await.unwrap());
    for number in 0..count {
        files.push((format!("{number}.md").into_bytes(), FILE, b"new".to_vec()));
        commit(&files);
        commit(&files);
        let checkout = client.fetch(&kept(&url, "x")).await.unwrap();
        assert_eq!(checkout.entries().len(), 2 + number);
        assert_eq!(checkout.read("large.bin").await.unwrap().len(), 200_000);
    }
    let repository = fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    let packs = fs::read_dir(repository.join("objects/pack"))
        .unwrap()
        .map(|entry| entry.unwrap().metadata().unwrap().len());
    let bytes: u64 = packs.sum();
    assert!(bytes < 300_000, "the large file is there {} times", bytes / 200_000);
}
