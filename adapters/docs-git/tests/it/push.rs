//! Pushes over HTTP to `git http-backend`.

use std::{collections::VecDeque, path::PathBuf};

use docs_git::Limits;
use docs_ports::{
    FetchRequest, GitError, GitRemote as _, PushFile, PushFiles, PushRequest, SourceError, blob_id,
};

use crate::{
    fixture::{
        FILE, Files, Fixture, LINK, SUBMODULE, client, fetch, file, files, noise, overtake, push, push_on,
        pushed_at_once, request,
    },
    server::{Log, Server, has_git, web},
};

/// Starts a server for a repository, and returns it with the URL.
fn served(fixture: &Fixture) -> (Server, String, Log) {
    let (server, log) = web(fixture.path(), |_| None);
    let url = format!("http://{}/repo.git", server.address());
    (server, url, log)
}

#[tokio::test]
async fn first_push_creates_the_branch_of_an_empty_repository() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::new();
    let (_server, url, _log) = served(&fixture);
    let some = &[("docs/a.md", "# A\n"), ("README.md", "# Hello\n"), ("docs.md", ""), ("docs-b/c.md", "c")];
    let made = push(&push_on(&url, None), &mut files(some)).await.unwrap();
    assert_eq!(fixture.tip().as_ref(), Some(&made.oid));
    let checkout = fetch(&url, "refs/heads/main").await.unwrap();
    assert_eq!(checkout.commit(), &made);
    let found: Vec<_> =
        checkout.entries().iter().map(|entry| (entry.path.as_str(), entry.oid.clone())).collect();
    let expected = ["README.md", "docs-b/c.md", "docs.md", "docs/a.md"]
        .map(|path| (path, blob_id(some.iter().find(|it| it.0 == path).unwrap().1.as_bytes())));
    assert_eq!(found, expected);
    fixture.git(&["fsck", "--strict", "--full"]);
    let person = "%an <%ae> %at|%cn <%ce> %ct|%P|%B";
    let shown = fixture.git(&["log", "-1", &format!("--format={person}"), "main"]);
    assert_eq!(
        shown.trim_end(),
        "Ada <ada@example.com> 1700000000|A bot <bot@example.com> 1700000000||Write\n\nä"
    );
}

#[tokio::test]
async fn a_push_changes_its_files_and_no_others() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::new();
    let before: &[(&[u8], u32, &[u8])] = &[
        (b"README.md", FILE, b"# Old\n"),
        (b"bin/tool", 0o100_755, b"#!"),
        (b"bin/other", 0o100_755, b"#! other"),
        (b"deep/er/than/it/looks.md", FILE, b"x"),
        (b"deep/er/stays.md", FILE, b"stays"),
        (b"gone/a.md", FILE, b"a"),
        (b"lib/module", SUBMODULE, b""),
        (b"link", LINK, b"README.md"),
        (b"linked.md", LINK, b"README.md"),
        (b"odd-\xff", FILE, b"not UTF-8"),
    ];
    fixture.commit("refs/heads/main", before, &[]);
    let old = fixture.listed("main");
    let (_server, url, _log) = served(&fixture);
    let mut request = push_on(&url, fixture.tip().as_deref());
    request.removed = ["gone/a.md", "deep/er/than/it/looks.md", "linked.md", "none.md", "link/x", "deep"]
        .map(str::to_owned)
        .to_vec();
    let some = &[("README.md", "# New\n"), ("bin/tool", "#! new"), ("linked.md", "text"), ("a/b/c.md", "c")];
    let mut pushed = files(some);
    let new = |path| PushFile { is_executable: true, ..file(path, "#! new") };
    pushed.0.extend([Ok(new("bin/new")), Ok(new("deep/er/stays.md"))]);
    let made = push(&request, &mut pushed).await.unwrap();

    let short = |text: &str| blob_id(text.as_bytes());
    let mut expected: Vec<String> = old
        .into_iter()
        .filter(|line| {
            ["gone/a.md", "looks.md", "stays.md", "linked.md", "README.md", "bin/tool"]
                .iter()
                .all(|it| !line.ends_with(it))
        })
        .collect();
    expected.push(format!("100644 {} README.md", short("# New\n")));
    expected.push(format!("100755 {} bin/tool", short("#! new")));
    expected.push(format!("100755 {} bin/new", short("#! new")));
    // An existing file keeps its mode.
    expected.push(format!("100644 {} deep/er/stays.md", short("#! new")));
    expected.push(format!("100644 {} linked.md", short("text")));
    expected.push(format!("100644 {} a/b/c.md", short("c")));
    expected.sort();
    let mut found = fixture.listed(&made.oid);
    found.sort();
    assert_eq!(found, expected);
    fixture.git(&["fsck", "--strict", "--full"]);
    assert_eq!(fixture.git(&["rev-list", "--count", "main"]).trim(), "2");
}

#[tokio::test]
async fn push_sends_only_new_objects() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::new();
    let large = noise(500_000);
    fixture.commit("refs/heads/main", &[(b"large", FILE, &large), (b"docs/a.md", FILE, b"a")], &[]);
    let (_server, url, log) = served(&fixture);
    let request = push_on(&url, fixture.tip().as_deref());
    push(&request, &mut files(&[("docs/a.md", "b")])).await.unwrap();
    let log = log.lock().unwrap();
    let sent =
        log.iter().find(|request| request.line.starts_with("POST /repo.git/git-receive-pack ")).unwrap();
    assert!(sent.body.len() < 1000, "{} bytes for one blob, two trees and a commit", sent.body.len());
}

#[tokio::test]
async fn push_creates_a_branch_from_its_parent_commit() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::filled();
    fixture.repository.set_head("refs/heads/main").unwrap();
    let (_server, url, _log) = served(&fixture);
    let head = fetch(&url, "HEAD").await.unwrap().commit().oid.clone();
    let reference = "refs/heads/docs/new".to_owned();
    let request = PushRequest { reference, expected: None, ..push_on(&url, Some(&head)) };
    let made = push(&request, &mut files(&[("new.md", "new")])).await.unwrap();
    assert_eq!(fixture.git(&["rev-parse", "docs/new", "docs/new^"]).trim(), format!("{}\n{head}", made.oid));
    assert_eq!(fixture.tip(), Some(head));
    assert_eq!(fixture.listed("docs/new").len(), 4);
    assert_eq!(push(&request, &mut files(&[])).await, Err(GitError::Moved), "it is there by now");
}

#[tokio::test]
async fn branch_name_that_clashes_with_another_ref_is_refused() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::filled();
    let (_server, url, _log) = served(&fixture);
    for reference in ["refs/heads/main/below", "refs/heads"] {
        let request = PushRequest { reference: reference.to_owned(), ..push_on(&url, None) };
        let error = push(&request, &mut files(&[("a", "")])).await.unwrap_err();
        assert!(matches!(&error, GitError::Rejected(text) if text.contains("refs/heads/main")), "{error:?}");
    }
}

#[tokio::test]
async fn stale_or_non_fast_forward_push_is_refused() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::filled();
    let (_server, url, _log) = served(&fixture);
    let tip = fixture.tip().unwrap();
    let older = fixture.git(&["rev-parse", "main^"]).trim().to_owned();
    for (expected, parent) in [
        (Some(&older), Some(&older)),
        (Some(&tip), Some(&older)),
        (Some(&tip), None),
        (None, None),
        (None, Some(&tip)),
        (Some(&"1".repeat(40)), Some(&"1".repeat(40))),
    ] {
        let (expected, parent) = (expected.cloned(), parent.cloned());
        let request = PushRequest { expected, parent, ..push_on(&url, None) };
        assert_eq!(push(&request, &mut files(&[("a", "")])).await, Err(GitError::Moved), "{request:?}");
    }
    // A new branch at a commit that is no longer the tip of a branch.
    let reference = "refs/heads/other".to_owned();
    let request = PushRequest { reference, expected: None, parent: Some(older), ..push_on(&url, None) };
    assert_eq!(push(&request, &mut files(&[("a", "")])).await, Err(GitError::Moved));
    assert_eq!(fixture.tip(), Some(tip));
    for id in ["", "main", "0000000000000000000000000000000000000000", "zz"] {
        let error = push(&push_on(&url, Some(id)), &mut files(&[])).await.unwrap_err();
        assert!(matches!(error, GitError::Ref(_)), "{error:?}");
    }
}

#[tokio::test]
async fn one_of_two_concurrent_pushes_succeeds() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::filled();
    let (_server, url, _log) = served(&fixture);
    for round in 0..4 {
        let tip = fixture.tip().unwrap();
        let won = pushed_at_once(2, &push_on(&url, Some(&tip)), &format!("{round}")).await;
        assert_eq!(won, [fixture.tip().unwrap()], "{round}");
    }
}

#[tokio::test]
async fn push_fails_if_the_branch_moves_while_files_are_read() {
    struct Overtaken(PathBuf, Files);
    #[async_trait::async_trait]
    impl PushFiles for Overtaken {
        async fn next(&mut self) -> Result<Option<PushFile>, GitError> {
            overtake(&self.0);
            self.1.next().await
        }
    }
    if !has_git() {
        return;
    }
    let fixture = Fixture::filled();
    let (_server, url, _log) = served(&fixture);
    let request = push_on(&url, fixture.tip().as_deref());
    let mut some = Overtaken(fixture.folder.path().to_owned(), files(&[("a.md", "a")]));
    let result = client().push(&request, &mut some).await;
    assert_eq!(result, Err(GitError::Moved));
    assert_eq!(fixture.git(&["log", "-1", "--format=%an", "main"]).trim(), "B");
}

#[tokio::test]
async fn push_from_a_cached_repository_fetches_nothing() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::filled();
    let (_server, url, log) = served(&fixture);
    let folder = tempfile::tempdir().unwrap();
    let client = client().with_cache(folder.path());
    let cache_id = Some("space".to_owned());
    let wanted =
        FetchRequest { url: url.clone(), reference: "refs/heads/main".into(), cache_id: cache_id.clone() };
    let mut tip = client.fetch(&wanted).await.unwrap().commit().oid.clone();
    for text in ["one", "two"] {
        let asked = || log.lock().unwrap().iter().filter(|it| it.line.contains("git-upload-pack")).count();
        let before = asked();
        let request = PushRequest { cache_id: cache_id.clone(), ..push_on(&url, Some(&tip)) };
        let made = client.push(&request, &mut files(&[("docs/a.md", text)])).await.unwrap();
        assert_eq!(asked(), before, "the parent is at hand");
        assert_eq!(fixture.tip().as_ref(), Some(&made.oid));
        let checkout = client.fetch(&wanted).await.unwrap();
        assert_eq!(checkout.read("docs/a.md").await.unwrap(), text);
        tip.clone_from(&checkout.commit().oid);
    }
    fixture.git(&["fsck", "--strict", "--full"]);
}

#[tokio::test]
async fn large_push_is_transferred_completely() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::filled();
    let (_server, url, _log) = served(&fixture);
    let bytes = noise(6_000_000);
    let mut some = Files(VecDeque::new());
    some.0.push_back(Ok(file("big.bin", bytes.clone())));
    some.0.extend(
        (0..300).map(|number| Ok(file(&format!("{}/{number}.md", number % 7), format!("# {number}\n")))),
    );
    push(&push_on(&url, fixture.tip().as_deref()), &mut some).await.unwrap();
    let checkout = fetch(&url, "refs/heads/main").await.unwrap();
    assert_eq!(checkout.entries().len(), 304);
    assert!(checkout.read("big.bin").await.unwrap() == bytes);
}

#[tokio::test]
async fn error_of_the_file_source_aborts_the_push() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::filled();
    let (_server, url, log) = served(&fixture);
    let tip = fixture.tip();
    let reason = GitError::from(SourceError::new(std::io::Error::other("gone")));
    let mut some = files(&[("a.md", "a")]);
    some.0.push_back(Err(reason.clone()));
    assert_eq!(push(&push_on(&url, tip.as_deref()), &mut some).await, Err(reason));
    assert_eq!(fixture.tip(), tip);
    assert!(log.lock().unwrap().iter().all(|it| !it.line.starts_with("POST /repo.git/git-receive-pack")));
}

#[tokio::test]
async fn path_conflicts_in_a_push_are_errors_with_the_path() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::new();
    let before: &[(&[u8], u32, &[u8])] =
        &[(b"a/b.md", FILE, b"b"), (b"link", LINK, b"a"), (b"module", SUBMODULE, b"")];
    fixture.commit("refs/heads/main", before, &[]);
    let (_server, url, _log) = served(&fixture);
    let tip = fixture.tip();
    let request = push_on(&url, tip.as_deref());
    for paths in [
        vec!["a"],
        vec!["a/b.md/c"],
        vec!["link/c"],
        vec!["module/c"],
        vec!["x", "x/y"],
        vec!["x", "x"],
        vec!["../x"],
    ] {
        let mut some = Files(paths.iter().map(|path| Ok(file(path, ""))).collect());
        let error = push(&request, &mut some).await.unwrap_err();
        assert!(matches!(&error, GitError::Path(text) if text.contains('`')), "{paths:?}: {error:?}");
    }
    assert_eq!(fixture.tip(), tip);
    let removed = ["a/b.md", "link", "module"].map(str::to_owned).to_vec();
    let request = PushRequest { removed, ..request };
    push(&request, &mut files(&[("a", ""), ("link/c", ""), ("module/c", "")])).await.unwrap();
    fixture.git(&["fsck", "--strict", "--full"]);
    let request = PushRequest {
        removed: vec!["a".into(), "link/c".into(), "module/c".into()],
        ..push_on(&url, fixture.tip().as_deref())
    };
    push(&request, &mut files(&[])).await.unwrap();
    assert_eq!(fixture.listed("main"), Vec::<String>::new(), "a commit without files is one too");
}

#[tokio::test]
async fn push_enforces_size_and_entry_limits() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::filled();
    let (_server, url, _log) = served(&fixture);
    let request = push_on(&url, fixture.tip().as_deref());
    for limits in [
        Limits { file_bytes: 9, ..Limits::default() },
        Limits { total_bytes: 2_000, ..Limits::default() },
        Limits { entries: 100, ..Limits::default() },
    ] {
        let some = (0..300).map(|number| Ok(file(&format!("{number}.md"), "0123456789")));
        let error =
            client().with_limits(limits).push(&request, &mut Files(some.collect())).await.unwrap_err();
        assert!(matches!(error, GitError::TooLarge(_)), "{limits:?}: {error:?}");
    }
}

#[tokio::test]
async fn push_reuses_an_open_checkout_without_fetching() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::filled();
    let (server, log) = web(fixture.path(), |_| None);
    let fetches = || {
        log.lock()
            .unwrap()
            .iter()
            .filter(|request| request.line.contains("POST /repo.git/git-upload-pack"))
            .count()
    };
    let url = format!("http://{}/repo.git", server.address());
    let client = client();
    let checkout = client.fetch(&request(&url, "refs/heads/main")).await.unwrap();
    let fetched = fetches();
    let tip = checkout.commit().oid.clone();
    let commit = client.push(&push_on(&url, Some(&tip)), &mut files(&[("a.md", "a")])).await.unwrap();
    assert_eq!((fetches(), fixture.tip()), (fetched, Some(commit.oid.clone())));
    // A checkout that is no longer in use is fetched again.
    drop(checkout);
    client.push(&push_on(&url, Some(&commit.oid)), &mut files(&[("a.md", "b")])).await.unwrap();
    assert!(fetches() > fetched);
}
