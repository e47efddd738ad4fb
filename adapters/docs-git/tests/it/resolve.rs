use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use chrono::DateTime;
use docs_git::{EmbeddedCheckout, Limits, LocalRemote};
use docs_ports::{GitError, GitRemote};
use git2::{Signature, Time};

use crate::{
    fixture::{Fixture, client, request},
    server::{Log, Server, has_git, status, web},
};

/// Creates a repository with a branch, and an annotated tag at its parent commit.
fn tagged() -> Fixture {
    let fixture = Fixture::filled();
    fixture.repository.set_head("refs/heads/main").unwrap();
    {
        let tip = fixture.repository.revparse_single("refs/heads/main").unwrap().into_commit().unwrap();
        let first = tip.parent(0).unwrap().into_object();
        let who = Signature::new("A", "a@example.com", &Time::new(1_700_000_000, 0)).unwrap();
        fixture.repository.tag("v1", &first, &who, "One", false).unwrap();
    }
    fixture
}

/// Checks that each ref resolves to the commit that a fetch returns.
async fn assert_told(remote: &dyn GitRemote, url: &str) {
    for reference in ["refs/heads/main", "refs/tags/v1", "HEAD"] {
        let fetched = remote.fetch(&request(url, reference)).await.unwrap().commit().oid.clone();
        assert_eq!(remote.resolve(&request(url, reference)).await, Ok(Some(fetched)), "{reference}");
    }
    assert_eq!(remote.resolve(&request(url, "refs/heads/none")).await, Ok(None));
    let odd = remote.resolve(&request(url, "main")).await.unwrap_err();
    assert!(matches!(odd, GitError::Ref(_)), "{odd:?}");
}

fn posts(log: &Log) -> usize {
    log.lock().unwrap().iter().filter(|request| request.line.starts_with("POST")).count()
}

#[tokio::test]
async fn resolve_returns_the_commit_that_fetch_returns() {
    if !has_git() {
        return;
    }
    let fixture = tagged();
    assert_told(&client(), &fixture.file_url()).await;
    let (server, _log) = web(fixture.path(), |_| None);
    assert_told(&client(), &format!("http://{}/repo.git", server.address())).await;
}

#[tokio::test]
async fn resolve_lists_refs_without_fetching_objects() {
    if !has_git() {
        return;
    }
    let fixture = tagged();
    let (server, log) = web(fixture.path(), |_| None);
    let url = format!("http://ada:hunter2@{}/repo.git", server.address());
    let remote = LocalRemote::new().or(client());
    for reference in ["refs/heads/main", "refs/tags/v1", "HEAD"] {
        assert!(remote.resolve(&request(&url, reference)).await.unwrap().is_some(), "{reference}");
    }
    assert_eq!(posts(&log), 0, "the list of refs is all that is asked for");
    assert!(log.lock().unwrap().iter().all(|request| request.authorization.is_some()));
}

#[tokio::test]
async fn empty_repository_resolves_no_refs() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::new();
    let (server, _log) = web(fixture.path(), |_| None);
    for url in [fixture.file_url(), format!("http://{}/repo.git", server.address())] {
        for reference in ["HEAD", "refs/heads/main"] {
            assert_eq!(client().resolve(&request(&url, reference)).await, Ok(None), "{url} {reference}");
        }
    }
}

#[tokio::test]
async fn local_checkout_resolves_to_its_commit() {
    let files = [("README.md", "# Hello\n")];
    let book = EmbeddedCheckout::new("The book", DateTime::UNIX_EPOCH, files).unwrap();
    let remote = LocalRemote::new().with_checkout("builtin:book", "refs/heads/main", book);
    let wanted = request("builtin:book", "refs/heads/main");
    let fetched = remote.fetch(&wanted).await.unwrap().commit().oid.clone();
    assert_eq!(remote.resolve(&wanted).await, Ok(Some(fetched)));
    assert_eq!(remote.resolve(&request("builtin:book", "HEAD")).await, Ok(None));
    assert_eq!(remote.resolve(&request("builtin:other", "HEAD")).await, Err(GitError::NoRepository));
}

#[tokio::test]
async fn resolve_responses_map_to_git_errors() {
    let fixture = Fixture::filled();
    for (line, error) in [
        ("401 Unauthorized", GitError::Credentials),
        ("404 Not Found", GitError::NoRepository),
        ("200 OK", GitError::NoRepository),
    ] {
        let (server, _log) = web(fixture.path(), move |_| Some(status(line, "")));
        let url = format!("http://{}/repo.git", server.address());
        assert_eq!(client().resolve(&request(&url, "HEAD")).await, Err(error), "{line}");
    }
}

#[tokio::test]
async fn resolve_times_out_on_an_unresponsive_host() {
    let streams = Arc::new(Mutex::new(Vec::new()));
    let kept = streams.clone();
    let silent = Server::new(move |stream| kept.lock().unwrap().push(stream));
    let usual = Limits::default();
    assert!(usual.look <= Duration::from_secs(15) && usual.look < usual.idle);
    let client = client().with_limits(Limits { look: Duration::from_millis(50), ..usual });
    let url = format!("http://{}/repo.git", silent.address());
    let error = client.resolve(&request(&url, "refs/heads/main")).await.unwrap_err();
    assert!(error.may_pass(), "{error:?}");
}
