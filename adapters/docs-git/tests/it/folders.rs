use std::fs;

use chrono::DateTime;
use docs_git::{EmbeddedCheckout, FolderCheckout, Limits, LocalRemote};
use docs_ports::{Checkout as _, GitError, GitRemote as _, RepoEntryKind};

use crate::fixture::{Fixture, client, error_of, fetch, paths, request};

const FILES: &[(&str, &[u8])] = &[("docs/a.md", b"# A\n"), ("README.md", b"# New\n"), ("docs/empty.md", b"")];

fn write(folder: &std::path::Path) {
    for (path, bytes) in FILES {
        let file = folder.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, bytes).unwrap();
    }
}

#[tokio::test]
async fn folder_checkout_has_the_entries_of_a_git_commit() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path());
    fs::create_dir_all(folder.path().join(".git/objects")).unwrap();
    fs::write(folder.path().join(".git/HEAD"), "x").unwrap();
    let checkout = FolderCheckout::open(folder.path(), Limits::default()).await.unwrap();
    assert_eq!(paths(&checkout), ["README.md", "docs/a.md", "docs/empty.md"]);
    assert_eq!(&checkout.read("docs/a.md").await.unwrap()[..], b"# A\n");
    assert_eq!(checkout.read("none").await, Err(GitError::NoSuchFile("none".to_owned())));
    assert!(checkout.commit().committed_at > DateTime::UNIX_EPOCH);

    // The file ids are those that Git computes.
    let fixture = Fixture::filled();
    let fetched = fetch(&fixture.file_url(), "refs/heads/main").await.unwrap();
    assert_eq!(checkout.entries(), fetched.entries());
}

#[tokio::test]
async fn commit_id_depends_only_on_paths_and_content() {
    let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(a.path());
    write(b.path());
    let open = async |folder: &tempfile::TempDir| {
        FolderCheckout::open(folder.path(), Limits::default()).await.unwrap()
    };
    let first = open(&a).await;
    let oid = first.commit().oid.clone();
    assert_eq!(oid.len(), 40);
    assert_eq!(open(&b).await.commit().oid, oid);
    let embedded = EmbeddedCheckout::new("x", DateTime::UNIX_EPOCH, FILES.iter().copied()).unwrap();
    assert_eq!((embedded.commit().oid.as_str(), embedded.entries()), (oid.as_str(), first.entries()));
    fs::write(b.path().join("README.md"), "# Newer\n").unwrap();
    assert_ne!(open(&b).await.commit().oid, oid);
    fs::rename(a.path().join("README.md"), a.path().join("readme.md")).unwrap();
    assert_ne!(open(&a).await.commit().oid, oid);
}

#[tokio::test]
async fn reading_a_file_changed_after_checkout_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path());
    let checkout = FolderCheckout::open(folder.path(), Limits::default()).await.unwrap();
    fs::write(folder.path().join("README.md"), "other").unwrap();
    fs::remove_file(folder.path().join("docs/a.md")).unwrap();
    for path in ["README.md", "docs/a.md"] {
        let error = checkout.read(path).await.unwrap_err();
        assert!(matches!(&error, GitError::Broken(text) if text.contains(path)), "{error:?}");
    }
}

#[tokio::test]
async fn folder_checkout_enforces_size_and_entry_limits() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path());
    let error =
        FolderCheckout::open(folder.path(), Limits { file_bytes: 5, ..Limits::default() }).await.unwrap_err();
    assert!(matches!(&error, GitError::TooLarge(text) if text.starts_with("README.md: ")), "{error:?}");
    let error =
        FolderCheckout::open(folder.path(), Limits { entries: 3, ..Limits::default() }).await.unwrap_err();
    assert!(matches!(error, GitError::TooLarge(_)), "{error:?}");
    let error = FolderCheckout::open("/no/such/folder", Limits::default()).await.unwrap_err();
    assert_eq!(error, GitError::NoRepository);
}

#[cfg(unix)]
#[tokio::test]
async fn symlinks_are_listed_and_never_followed() {
    use std::os::unix::{ffi::OsStrExt as _, fs::symlink, net::UnixListener};
    let folder = tempfile::tempdir().unwrap();
    write(folder.path());
    symlink("/etc", folder.path().join("outside")).unwrap();
    symlink("..", folder.path().join("docs/up")).unwrap();
    fs::write(folder.path().join(std::ffi::OsStr::from_bytes(b"\xff.md")), "x").unwrap();
    let _socket = UnixListener::bind(folder.path().join("socket")).unwrap();
    let checkout = FolderCheckout::open(folder.path(), Limits::default()).await.unwrap();
    assert_eq!(paths(&checkout), ["README.md", "docs/a.md", "docs/empty.md", "docs/up", "outside"]);
    assert_eq!(checkout.entries()[4].kind, RepoEntryKind::Symlink("/etc".to_owned()));
    for path in ["outside", "outside/passwd", "docs/up", "docs/up/README.md", "../x"] {
        assert_eq!(checkout.read(path).await, Err(GitError::NoSuchFile(path.to_owned())));
    }
    // A link that later replaces a file is not followed either.
    fs::remove_file(folder.path().join("README.md")).unwrap();
    symlink("/etc/passwd", folder.path().join("README.md")).unwrap();
    assert_eq!(checkout.read("README.md").await, Err(GitError::NoSuchFile("README.md".to_owned())));
}

#[tokio::test]
async fn embedded_files_are_readable_and_invalid_paths_refused() {
    let checkout =
        EmbeddedCheckout::new("The handbook", DateTime::UNIX_EPOCH, FILES.iter().copied()).unwrap();
    assert_eq!(checkout.commit().message, "The handbook");
    assert_eq!(&checkout.read("README.md").await.unwrap()[..], b"# New\n");
    assert_eq!(checkout.read("x").await, Err(GitError::NoSuchFile("x".to_owned())));
    const WRONG: [&[(&str, &[u8])]; 5] =
        [&[("a", b""), ("a", b"")], &[("../a", b"")], &[("/a", b"")], &[("a//b", b"")], &[("", b"")]];
    for files in WRONG {
        assert!(matches!(
            EmbeddedCheckout::new("x", DateTime::UNIX_EPOCH, files.iter().copied()),
            Err(GitError::Broken(_))
        ));
    }
}

#[tokio::test]
async fn local_checkouts_take_precedence_over_the_fallback_remote() {
    let embedded = EmbeddedCheckout::new("x", DateTime::UNIX_EPOCH, FILES.iter().copied()).unwrap();
    let oid = embedded.commit().oid.clone();
    let alone = LocalRemote::new().with_checkout("builtin:handbook", "refs/heads/main", embedded);
    let known = request("builtin:handbook", "refs/heads/main");
    for _ in 0..2 {
        let checkout = alone.fetch(&known).await.unwrap();
        assert_eq!(checkout.commit().oid, oid);
        assert_eq!(&checkout.read("docs/a.md").await.unwrap()[..], b"# A\n");
        assert_eq!(checkout.entries().len(), 3);
    }
    let error = error_of(alone.fetch(&request("builtin:handbook", "refs/heads/x")).await);
    assert_eq!(error, GitError::NoRef("refs/heads/x".to_owned()));
    let fixture = Fixture::filled();
    let other = request(&fixture.file_url(), "refs/heads/main");
    assert_eq!(error_of(alone.fetch(&other).await), GitError::NoRepository);
    let both = alone.or(client());
    assert_eq!(both.fetch(&other).await.unwrap().commit().oid, fixture.main());
    assert_eq!(both.fetch(&known).await.unwrap().commit().oid, oid);
}
