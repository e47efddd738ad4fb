#[cfg(unix)]
use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use docs_git::{GitClient, Limits, Outbound};
use docs_ports::{FetchRequest, GitAccess, GitError, GitRemote as _, RepoEntryKind};
use git2::{ObjectType, Signature, Time};

use crate::fixture::{
    FILE, Fixture, LINK, SUBMODULE, assert_filled, client, error_of, fetch, paths, request,
};

#[tokio::test]
async fn a_repository_on_disk_is_fetched() {
    let fixture = Fixture::filled();
    let checkout = fetch(&fixture.file_url(), "refs/heads/main").await.unwrap();
    assert_filled(&*checkout, fixture.main()).await;
    for path in ["none.md", "docs", "", "../README.md"] {
        assert_eq!(checkout.read(path).await, Err(GitError::NoSuchFile(path.to_owned())));
    }
}

#[tokio::test]
async fn a_checkout_outlives_its_client() {
    let fixture = Fixture::filled();
    let checkout = {
        let client = client();
        client.fetch(&request(&fixture.file_url(), "refs/heads/main")).await.unwrap()
    };
    assert_filled(&*checkout, fixture.main()).await;
}

#[tokio::test]
async fn tags_and_pull_request_refs_are_fetched() {
    let fixture = Fixture::filled();
    let tip = fixture.repository.refname_to_id("refs/heads/main").unwrap();
    let object = fixture.repository.find_object(tip, None).unwrap();
    let who = Signature::new("A", "a@example.com", &Time::new(0, 0)).unwrap();
    fixture.repository.tag("annotated", &object, &who, "a tag", false).unwrap();
    fixture.repository.tag_lightweight("light", &object, false).unwrap();
    fixture.repository.reference("refs/pull/7/head", tip, true, "").unwrap();
    for reference in ["refs/tags/annotated", "refs/tags/light", "refs/pull/7/head"] {
        let checkout = fetch(&fixture.file_url(), reference).await.unwrap();
        assert_eq!(checkout.commit().oid, tip.to_string(), "{reference}");
    }
}

#[tokio::test]
async fn missing_invalid_and_non_commit_refs_are_errors() {
    let fixture = Fixture::filled();
    let blob = fixture.repository.blob(b"x").unwrap();
    fixture.repository.reference("refs/tags/blob", blob, true, "").unwrap();
    let url = fixture.file_url();
    assert_eq!(error_of(fetch(&url, "refs/heads/none").await), GitError::NoRef("refs/heads/none".to_owned()));
    assert!(matches!(error_of(fetch(&url, "refs/tags/blob").await), GitError::Broken(_)));
    for reference in
        ["main", "heads/main", "FETCH_HEAD", "refs/heads/*", "refs/heads/a b", "refs/heads/a\0", "refs/", ""]
    {
        let error = error_of(fetch(&url, reference).await);
        assert!(matches!(error, GitError::Ref(_)), "{reference}: {error:?}");
        assert!(error.to_string().contains("refs/heads/main"), "{error}");
    }
}

#[tokio::test]
async fn missing_repository_and_missing_ref_are_distinct_errors() {
    let empty = tempfile::tempdir().unwrap();
    for url in [format!("file://{}", empty.path().display()), "file:///no/such/folder".to_owned()] {
        assert_eq!(error_of(fetch(&url, "refs/heads/main").await), GitError::NoRepository, "{url}");
    }
    let fixture = Fixture::new();
    let error = error_of(fetch(&fixture.file_url(), "refs/heads/main").await);
    assert_eq!(error, GitError::NoRef("refs/heads/main".to_owned()));
}

#[tokio::test]
async fn local_repositories_are_refused_unless_allowed() {
    let fixture = Fixture::filled();
    for outbound in [Outbound::Public, Outbound::Private] {
        let client = GitClient::new(outbound).unwrap();
        let error = error_of(client.fetch(&request(&fixture.file_url(), "refs/heads/main")).await);
        assert!(matches!(error, GitError::Refused(_)), "{error:?}");
        let error = error_of(client.fetch(&request(fixture.path(), "refs/heads/main")).await);
        assert!(matches!(error, GitError::Url(_)), "{error:?}");
    }
}

#[tokio::test]
async fn symlinks_and_submodules_are_listed_but_not_readable() {
    let fixture = Fixture::new();
    let files: &[(&[u8], u32, &[u8])] = &[
        (b"a.md", FILE, b"a"),
        (b"link", LINK, b"../../etc/passwd"),
        (b"lib/other", SUBMODULE, b""),
        (b"tool", 0o100_755, b"#!"),
    ];
    fixture.commit("refs/heads/main", files, &[]);
    let checkout = fetch(&fixture.file_url(), "refs/heads/main").await.unwrap();
    assert_eq!(paths(&*checkout), ["a.md", "lib/other", "link", "tool"]);
    let kinds: Vec<_> = checkout.entries().iter().map(|entry| entry.kind.clone()).collect();
    assert_eq!(
        kinds,
        [
            RepoEntryKind::File,
            RepoEntryKind::Submodule,
            RepoEntryKind::Symlink("../../etc/passwd".to_owned()),
            RepoEntryKind::Executable
        ]
    );
    for path in ["link", "lib/other"] {
        assert_eq!(checkout.read(path).await, Err(GitError::NoSuchFile(path.to_owned())));
    }
}

#[tokio::test]
async fn entries_with_non_utf8_names_are_skipped() {
    let fixture = Fixture::new();
    let files: &[(&[u8], u32, &[u8])] = &[
        (b"a.md", FILE, b"a"),
        (b"\xff\xfe.md", FILE, b"b"),
        (b"\xff/c.md", FILE, b"c"),
        (b"ok/\xc3.md", FILE, b"d"),
    ];
    fixture.commit("refs/heads/main", files, &[]);
    let checkout = fetch(&fixture.file_url(), "refs/heads/main").await.unwrap();
    assert_eq!(paths(&*checkout), ["a.md"]);
}

#[tokio::test]
async fn tree_entries_with_path_traversal_are_refused() {
    for name in ["..", ".", "a/b"] {
        let fixture = Fixture::new();
        let blob = fixture.repository.blob(b"x").unwrap();
        let mut tree = format!("100644 {name}\0").into_bytes();
        tree.extend_from_slice(blob.as_bytes());
        git2::opts::strict_object_creation(false);
        let tree = fixture.raw(ObjectType::Tree, &tree);
        let commit = format!("tree {tree}\nauthor A <a@b> 0 +0000\ncommitter A <a@b> 0 +0000\n\nx\n");
        let commit = fixture.raw(ObjectType::Commit, commit.as_bytes());
        fixture.repository.reference("refs/heads/main", commit, true, "").unwrap();
        let error = error_of(fetch(&fixture.file_url(), "refs/heads/main").await);
        assert!(matches!(error, GitError::Broken(_)), "{name}: {error:?}");
    }
}

#[tokio::test]
async fn oversized_file_does_not_prevent_reading_other_files() {
    let fixture = Fixture::new();
    let files: &[(&[u8], u32, &[u8])] = &[(b"big.bin", FILE, &[7; 101]), (b"fits.bin", FILE, &[7; 100])];
    fixture.commit("refs/heads/main", files, &[]);
    let client = client().with_limits(Limits { file_bytes: 100, ..Limits::default() });
    let checkout = client.fetch(&request(&fixture.file_url(), "refs/heads/main")).await.unwrap();
    assert_eq!(checkout.read("fits.bin").await.unwrap().len(), 100);
    assert_eq!(
        checkout.read("big.bin").await.unwrap_err().to_string(),
        "big.bin: must be at most 100 bytes, has 101 bytes"
    );
}

#[tokio::test]
async fn the_number_of_entries_has_a_limit() {
    let fixture = Fixture::filled();
    for (entries, fits) in [(4, true), (3, false)] {
        let client = client().with_limits(Limits { entries, ..Limits::default() });
        let result = client.fetch(&request(&fixture.file_url(), "refs/heads/main")).await;
        assert_eq!(result.is_ok(), fits, "{entries}");
        if !fits {
            assert!(matches!(error_of(result), GitError::TooLarge(_)));
        }
    }
}

#[tokio::test]
async fn exponentially_nested_trees_are_refused() {
    // Forty nested folders, each containing the next one ten times: far more paths than can be visited.
    let fixture = Fixture::new();
    let mut tree = fixture.raw(ObjectType::Tree, b"");
    for _ in 0..40 {
        let mut bytes = Vec::new();
        for name in 0..10 {
            bytes.extend_from_slice(format!("40000 {name}\0").as_bytes());
            bytes.extend_from_slice(tree.as_bytes());
        }
        tree = fixture.raw(ObjectType::Tree, &bytes);
    }
    let commit = format!("tree {tree}\nauthor A <a@b> 0 +0000\ncommitter A <a@b> 0 +0000\n\nx\n");
    let commit = fixture.raw(ObjectType::Commit, commit.as_bytes());
    fixture.repository.reference("refs/heads/main", commit, true, "").unwrap();
    let client = client().with_limits(Limits { entries: 5_000, ..Limits::default() });
    let error = error_of(client.fetch(&request(&fixture.file_url(), "refs/heads/main")).await);
    assert!(matches!(error, GitError::TooLarge(_)), "{error:?}");
}

#[tokio::test]
async fn head_is_the_commit_of_the_default_branch() {
    let fixture = Fixture::filled();
    fixture.repository.set_head("refs/heads/main").unwrap();
    let checkout = fetch(&fixture.file_url(), "HEAD").await.unwrap();
    assert_filled(&*checkout, fixture.main()).await;
    let empty = Fixture::new();
    let error = error_of(fetch(&empty.file_url(), "HEAD").await);
    assert_eq!(error, GitError::NoRef("HEAD".to_owned()));
    let folder = tempfile::tempdir().unwrap();
    let (_kept, client) = (&folder, client().with_cache(folder.path()));
    let kept = FetchRequest { cache_id: Some("x".to_owned()), ..request(&fixture.file_url(), "HEAD") };
    client.fetch(&kept).await.unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is copied");
}

#[tokio::test]
async fn working_copy_is_fetched_by_its_root_folder_only() {
    let folder = tempfile::tempdir().unwrap();
    let repository = git2::Repository::init(folder.path()).unwrap();
    let who = Signature::new("A", "a@example.com", &Time::new(0, 0)).unwrap();
    let tree = repository.treebuilder(None).unwrap().write().unwrap();
    let tree = repository.find_tree(tree).unwrap();
    let tip = repository.commit(Some("refs/heads/main"), &who, &who, "x", &tree, &[]).unwrap();
    let url = format!("file://{}", folder.path().display());
    assert_eq!(fetch(&url, "refs/heads/main").await.unwrap().commit().oid, tip.to_string());
    std::fs::create_dir(folder.path().join("below")).unwrap();
    let below = error_of(fetch(&format!("{url}/below"), "refs/heads/main").await);
    assert_eq!(below, GitError::NoRepository, "nothing is looked for above the folder");
}

/// Returns a folder of loose objects in a repository, and one of the objects.
#[cfg(unix)]
fn loose(git: &Path) -> (PathBuf, PathBuf) {
    let is_loose = |path: &PathBuf| path.file_name().is_some_and(|name| name.len() == 2);
    let mut folders = fs::read_dir(git.join("objects")).unwrap().map(|entry| entry.unwrap().path());
    let folder = folders.find(is_loose).unwrap();
    let object = fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    (folder, object)
}

/// Replaces a file or folder by a symbolic link.
#[cfg(unix)]
fn link(from: &str, path: &Path) {
    fs::remove_dir_all(path).or_else(|_| fs::remove_file(path)).unwrap();
    symlink(from, path).unwrap();
}

#[cfg(unix)]
type Lead<'a> = Box<dyn Fn(&Path) + 'a>;

/// Modifications of a repository that make it reference another one.
#[cfg(unix)]
fn leads(elsewhere: &str) -> [(&'static str, Lead<'_>); 10] {
    let write = |path: &Path, text: &str| fs::write(path, text).unwrap();
    [
        (
            "objects of another",
            Box::new(move |git| {
                write(&git.join("objects/info/alternates"), &format!("{elsewhere}/objects\n"));
            }),
        ),
        (
            "a relative way",
            Box::new(move |git| {
                write(&git.join("objects/info/alternates"), "../../../../../../../../../tmp\n");
            }),
        ),
        ("a common folder", Box::new(move |git| write(&git.join("commondir"), elsewhere))),
        (
            "a linked folder",
            Box::new(move |git| {
                fs::remove_dir_all(git.join("objects")).unwrap();
                symlink(format!("{elsewhere}/objects"), git.join("objects")).unwrap();
            }),
        ),
        ("a linked file", Box::new(|git| symlink("/etc/passwd", git.join("packed-refs")).unwrap())),
        ("a linked branch", Box::new(|git| link("/etc/passwd", &git.join("refs/heads/main")))),
        ("a linked folder among the objects", Box::new(move |git| link(elsewhere, &loose(git).0))),
        ("a linked object", Box::new(|git| link("/etc/passwd", &loose(git).1))),
        (
            "a linked pack",
            Box::new(|git| symlink("/etc/passwd", git.join("objects/pack/pack-1.pack")).unwrap()),
        ),
        (
            "a link where a link leads",
            Box::new(|git| {
                fs::rename(git.join("objects/pack"), git.join("packs")).unwrap();
                symlink("../packs", git.join("objects/pack")).unwrap();
                symlink("/etc/passwd", git.join("packs/pack-1.pack")).unwrap();
            }),
        ),
    ]
}

#[cfg(unix)]
#[tokio::test]
async fn repository_references_outside_its_folder_are_refused() {
    let other = Fixture::filled();
    let elsewhere = other.path().to_owned();
    for (name, lead) in leads(&elsewhere) {
        let fixture = Fixture::filled();
        lead(Path::new(fixture.path()));
        let error = error_of(fetch(&fixture.file_url(), "refs/heads/main").await);
        assert!(matches!(error, GitError::Refused(_)), "{name}: {error:?}");
    }
    for pointer in [format!("gitdir: {elsewhere}\n"), "gitdir: ../x".to_owned()] {
        let folder = tempfile::tempdir_in(other.folder.path()).unwrap();
        fs::create_dir_all(other.folder.path().join("x")).unwrap();
        fs::write(folder.path().join(".git"), &pointer).unwrap();
        let error = error_of(fetch(&format!("file://{}", folder.path().display()), "refs/heads/main").await);
        assert!(matches!(error, GitError::Refused(_)), "{error:?}");
    }
    // References within the folder are permitted.
    let fixture = Fixture::filled();
    fs::rename(fixture.folder.path().join("objects/pack"), fixture.folder.path().join("packs")).unwrap();
    symlink("../packs", fixture.folder.path().join("objects/pack")).unwrap();
    assert_filled(&*fetch(&fixture.file_url(), "refs/heads/main").await.unwrap(), fixture.main()).await;
}

#[tokio::test]
async fn check_refuses_invalid_urls_and_refs_without_connecting() {
    let check = |outbound, url: &str, reference: &str| {
        let client = GitClient::new(outbound).expect("a client");
        client.check(url, reference, GitAccess::Fetch).map_err(|error| error.to_string())
    };
    let main = "refs/heads/main";
    for (url, reference, part) in [
        ("file:///srv/docs", main, "repositories from its own disk"),
        ("ssh://example.com/docs", main, "must be an `https` or `http` URL"),
        ("http://10.0.0.1/docs.git", main, "not a public address"),
        ("http://[::1]/docs.git", main, "not a public address"),
        ("git://example.com/docs.git", main, "must be an `https` or `http` URL"),
        ("http://2130706433/docs.git", main, "not a public address"),
        ("https://example.com/docs.git", "refs/heads/../x", "full name"),
        ("https://example.com/docs.git", "main", "full name"),
    ] {
        let refused = check(Outbound::Public, url, reference).expect_err(url);
        assert!(refused.contains(part), "{url} {reference}: {refused}");
    }
    check(Outbound::Public, "https://example.com/docs.git", main).expect("a name shows when it is resolved");
    check(Outbound::Private, "http://10.0.0.1/docs.git", main).expect("allowed");
    check(Outbound::Files, "file:///srv/docs", main).expect("allowed");
    check(Outbound::Files, "http://169.254.169.254/docs.git", main).expect_err("never");
    check(Outbound::Public, "https://example.com/docs.git", "HEAD")
        .expect("what the default branch leads to");
    let client = GitClient::new(Outbound::Private).expect("a client");
    let push = |url: &str, reference: &str| client.check(url, reference, GitAccess::Push);
    push("https://10.0.0.1/docs.git", main).expect("allowed");
    push("https://10.0.0.1/docs.git", "HEAD").expect_err("not the name of a branch");
}

#[tokio::test]
async fn total_size_of_files_is_limited() {
    let fixture = Fixture::filled();
    // Distinct files that compress to a few bytes each.
    let zeros: Vec<(String, Vec<u8>)> =
        (0..5_usize).map(|number| (format!("{number}.bin"), vec![0; 200_000 + number])).collect();
    let files: Vec<(&[u8], u32, &[u8])> =
        zeros.iter().map(|(path, bytes)| (path.as_bytes(), FILE, bytes.as_slice())).collect();
    let tip = fixture.repository.refname_to_id("refs/heads/main").unwrap();
    fixture.commit("refs/heads/zeros", &files, &[tip]);
    let limited = |bytes| client().with_limits(Limits { total_bytes: bytes, ..Limits::default() });
    let fetched = request(&fixture.file_url(), "refs/heads/zeros");
    assert!(limited(1_000_010).fetch(&fetched).await.is_ok());
    let error = error_of(limited(1_000_009).fetch(&fetched).await);
    assert!(
        matches!(&error, GitError::TooLarge(what) if what.contains("1 MB") || what.contains("2 MB")),
        "{error:?}"
    );
}
