use docs_git::{GitClient, Outbound};
use docs_ports::{GitError, GitRemote as _};

use crate::{
    fixture::{Fixture, assert_filled, error_of, fetch, request},
    server::{daemon, has_git},
};

#[tokio::test]
async fn a_repository_is_fetched_from_a_daemon() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::filled();
    let (server, log) = daemon(fixture.path());
    let url = format!("git://{}/repo.git", server.address());
    let checkout = fetch(&url, "refs/heads/main").await.unwrap();
    assert_filled(&*checkout, fixture.main()).await;
    let expected = format!("git-upload-pack /repo.git\0host={}\0", server.address());
    assert_eq!(*log.lock().unwrap(), [expected]);
}

#[tokio::test]
async fn what_a_daemon_does_not_have_is_told() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::filled();
    let (server, _log) = daemon(fixture.path());
    let error = error_of(fetch(&format!("git://{}/repo.git", server.address()), "refs/heads/none").await);
    assert_eq!(error, GitError::NoRef("refs/heads/none".to_owned()));
    let error = error_of(fetch(&format!("git://{}/other.git", server.address()), "refs/heads/main").await);
    assert_eq!(error, GitError::NoRepository);
}

#[tokio::test]
async fn nobody_there_may_pass() {
    // A port that was free a moment ago.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let client = GitClient::new(Outbound::Private).unwrap();
    for scheme in ["git", "http", "https"] {
        let url = format!("{scheme}://127.0.0.1:{port}/repo.git");
        let error = error_of(client.fetch(&request(&url, "refs/heads/main")).await);
        assert!(error.may_pass(), "{scheme}: {error:?}");
    }
}
