use std::{io, time::Duration};

use docs_git::{GitClient, Limits, Outbound};
use docs_ports::{GitError, GitRemote as _};

use crate::{
    fixture::{FILE, Fixture, Inside, assert_filled, client, error_of, fetch, noise, request},
    server::{Server, has_git, status, web},
};

fn private() -> GitClient {
    GitClient::new(Outbound::Private).unwrap()
}

#[tokio::test]
async fn a_repository_is_fetched_over_http() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::filled();
    let (server, log) = web(fixture.path(), |_| None);
    for url in
        [format!("http://{}/repo.git", server.address()), format!("http://{}/repo.git/", server.address())]
    {
        let checkout = private().fetch(&request(&url, "refs/heads/main")).await.unwrap();
        assert_filled(&*checkout, fixture.main()).await;
    }
    let log = log.lock().unwrap();
    assert!(log.iter().all(|request| request.authorization.is_none()));
    let asked: Vec<_> = log.iter().filter(|request| !request.body.is_empty()).collect();
    assert!(asked.iter().all(|request| String::from_utf8_lossy(&request.body).contains("deepen 1")));
}

#[tokio::test]
async fn head_is_the_commit_of_the_default_branch() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::filled();
    fixture.repository.set_head("refs/heads/main").unwrap();
    let (server, _log) = web(fixture.path(), |_| None);
    let checkout = fetch(&format!("http://{}/repo.git", server.address()), "HEAD").await.unwrap();
    assert_filled(&*checkout, fixture.main()).await;

    let empty = Fixture::new();
    let (server, _log) = web(empty.path(), |_| None);
    for reference in ["HEAD", "refs/heads/main"] {
        let error = error_of(fetch(&format!("http://{}/repo.git", server.address()), reference).await);
        assert_eq!(error, GitError::NoRef(reference.to_owned()));
    }
}

#[tokio::test]
async fn large_repository_is_fetched_within_the_size_limit() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::new();
    // Exceeds the capacity of all buffers.
    let bytes = noise(6_000_000);
    fixture.commit("refs/heads/main", &[(b"big.bin", FILE, &bytes)], &[]);
    let (server, _log) = web(fixture.path(), |_| None);
    let url = format!("http://{}/repo.git", server.address());
    let checkout = fetch(&url, "refs/heads/main").await.unwrap();
    assert!(checkout.read("big.bin").await.unwrap() == bytes);

    let client = client().with_limits(Limits { total_bytes: 3_000_000, ..Limits::default() });
    let error = error_of(client.fetch(&request(&url, "refs/heads/main")).await);
    assert_eq!(error.to_string(), "a repository must be at most 3 MB");
}

#[tokio::test]
async fn url_credentials_are_sent_but_not_in_errors() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::filled();
    // "me@x:p:w s3cret" in base64.
    let expected = "Basic bWVAeDpwOncgczNjcmV0";
    let (server, log) = web(fixture.path(), move |request| {
        (request.authorization.as_deref() != Some(expected))
            .then(|| status("401 Unauthorized", "WWW-Authenticate: Basic realm=\"git\"\r\n"))
    });
    let address = server.address();
    let url = format!("http://me%40x:p%3Aw%20s3cret@{address}/repo.git");
    let checkout = fetch(&url, "refs/heads/main").await.unwrap();
    assert_filled(&*checkout, fixture.main()).await;
    assert!(log.lock().unwrap().iter().all(|request| !request.line.contains("s3cret")));

    assert_eq!(
        error_of(fetch(&format!("http://{address}/repo.git"), "refs/heads/main").await),
        GitError::Credentials
    );
    let wrong = format!("http://me:s3cret@{address}/repo.git");
    for (url, reference) in [
        (wrong.as_str(), "refs/heads/main"),
        (url.as_str(), "refs/heads/none"),
        (url.as_str(), "none"),
        ("http://me:s3cret@127.0.0.1:1/x", "refs/heads/main"),
        ("http://me:s3cret@no.such.host.invalid/x", "refs/heads/main"),
        ("http://me:s3cret@[::1/x", "refs/heads/main"),
        ("ssh://me:s3cret@host/x", "refs/heads/main"),
        ("me:s3cret@host", "refs/heads/main"),
    ] {
        let error = error_of(fetch(url, reference).await);
        assert!(!format!("{error} {error:?}").contains("s3cret"), "{error:?}");
    }
}

#[tokio::test]
async fn fetch_responses_map_to_git_errors() {
    let (server, _log) = web("", |request| {
        let code = request.line.split('/').nth(1).unwrap_or_default();
        Some(match code {
            "html" => "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nhi".to_owned(),
            "cut" => "HTTP/1.1 200 OK\r\nContent-Type: application/x-git-upload-pack-advertisement\r\n\
                      Content-Length: 100\r\n\r\n001e# service"
                .to_owned(),
            "garbage" => "HTTP/1.1 200 OK\r\nContent-Type: application/x-git-upload-pack-advertisement\r\n\
                          Content-Length: 4\r\n\r\nzzzz"
                .to_owned(),
            "silent" => String::new(),
            code => status(code, ""),
        })
    });
    for (path, expected) in [
        ("401", GitError::Credentials),
        ("403", GitError::Credentials),
        ("404", GitError::NoRepository),
        ("410", GitError::NoRepository),
        ("html", GitError::NoRepository),
    ] {
        let error = error_of(fetch(&format!("http://{}/{path}", server.address()), "refs/heads/main").await);
        assert_eq!(error, expected, "{path}");
    }
    for (path, may_pass) in
        [("500", true), ("503", true), ("429", true), ("400", false), ("cut", true), ("silent", true)]
    {
        let error = error_of(fetch(&format!("http://{}/{path}", server.address()), "refs/heads/main").await);
        assert_eq!(error.may_pass(), may_pass, "{path}: {error:?}");
    }
    let error = error_of(fetch(&format!("http://{}/garbage", server.address()), "refs/heads/main").await);
    assert!(matches!(error, GitError::Unreachable(_) | GitError::Broken(_)), "{error:?}");
}

#[tokio::test]
async fn credentials_are_redacted_from_server_error_messages() {
    let (server, _log) = web("", |_| {
        let said = "ERR ada with hunter22 must pay first";
        let body = format!("001e# service=git-upload-pack\n0000{:04x}{said}", said.len() + 4);
        let kind = "Content-Type: application/x-git-upload-pack-advertisement";
        Some(format!("HTTP/1.1 200 OK\r\n{kind}\r\nContent-Length: {}\r\n\r\n{body}", body.len()))
    });
    let url = format!("http://ada:hunter22@{}/repo.git", server.address());
    let wanted = request(&url, "refs/heads/main");
    let fetched = error_of(client().fetch(&wanted).await);
    let looked = client().resolve(&wanted).await.unwrap_err();
    for error in [fetched, looked] {
        assert_eq!(error, GitError::Broken("… with … must pay first".to_owned()));
    }
}

#[tokio::test]
async fn private_addresses_are_refused_unless_they_are_allowed() {
    let fixture = Fixture::filled();
    let (server, log) = web(fixture.path(), |_| None);
    let port = server.address().port();
    let public = GitClient::new(Outbound::Public).unwrap().with_resolver(Inside);
    for host in ["127.0.0.1", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]", "localhost", "docs.example.com"] {
        for scheme in ["http", "https"] {
            let error = error_of(
                public
                    .fetch(&request(&format!("{scheme}://{host}:{port}/repo.git"), "refs/heads/main"))
                    .await,
            );
            assert!(matches!(error, GitError::Refused(_)), "{scheme} {host}: {error:?}");
        }
    }
    assert_eq!(log.lock().unwrap().len(), 0);
    if has_git() {
        let url = format!("http://docs.example.com:{port}/repo.git");
        let checkout =
            private().with_resolver(Inside).fetch(&request(&url, "refs/heads/main")).await.unwrap();
        assert_filled(&*checkout, fixture.main()).await;
    }
}

#[tokio::test]
async fn fetch_redirects_drop_credentials_for_other_hosts() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::filled();
    let (target, target_log) = web(fixture.path(), |_| None);
    let to = target.address();
    let (first, first_log) = web("", move |request| {
        let location = if request.line.starts_with("GET /moved.git/") {
            format!("http://evil:word@{to}/repo.git/info/refs?service=git-upload-pack")
        } else {
            "/moved.git/info/refs?service=git-upload-pack".to_owned()
        };
        Some(status("301 Moved Permanently", &format!("Location: {location}\r\n")))
    });
    let url = format!("http://me:s3cret@{}/old.git", first.address());
    let checkout = fetch(&url, "refs/heads/main").await.unwrap();
    assert_filled(&*checkout, fixture.main()).await;
    assert!(first_log.lock().unwrap().iter().all(|request| request.authorization.is_some()));
    assert!(target_log.lock().unwrap().iter().all(|request| request.authorization.is_none()));
}

#[tokio::test]
async fn unsafe_and_looping_redirects_are_refused() {
    for (location, is_refused) in [
        ("http://169.254.169.254/latest/info/refs?service=git-upload-pack", true),
        ("http://[::ffff:169.254.169.254]/x/info/refs?service=git-upload-pack", true),
        ("http://0.0.0.0/x/info/refs?service=git-upload-pack", true),
        ("file:///etc/passwd", true),
        ("git://127.0.0.1/x/info/refs?service=git-upload-pack", true),
        ("/again/info/refs?service=git-upload-pack", true),
        ("/login", false),
        ("", false),
    ] {
        let (server, log) = web("", move |_| Some(status("302 Found", &format!("Location: {location}\r\n"))));
        let url = format!("http://{}/repo.git", server.address());
        let error = error_of(private().fetch(&request(&url, "refs/heads/main")).await);
        match is_refused {
            true => assert!(matches!(error, GitError::Refused(_)), "{location}: {error:?}"),
            false => assert!(
                matches!(error, GitError::NoRepository | GitError::Refused(_)),
                "{location}: {error:?}"
            ),
        }
        assert!(log.lock().unwrap().len() <= 4, "{location}");
    }
}

#[tokio::test]
async fn redirect_of_a_post_request_is_refused() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::filled();
    let (server, _log) = web(fixture.path(), |request| {
        request.line.starts_with("POST").then(|| status("307 Temporary Redirect", "Location: /repo.git\r\n"))
    });
    let error = error_of(fetch(&format!("http://{}/repo.git", server.address()), "refs/heads/main").await);
    assert!(matches!(error, GitError::Refused(_)), "{error:?}");
}

#[tokio::test]
async fn fetch_from_an_unresponsive_server_times_out() {
    // Connections are kept open and never answered.
    let kept = std::sync::Mutex::new(Vec::new());
    let server = Server::new(move |stream| kept.lock().unwrap().push(stream));
    let url = format!("http://{}/repo.git", server.address());
    for (limits, may_pass) in [
        (Limits { idle: Duration::from_millis(50), ..Limits::default() }, true),
        // A fetch that used up its time limit is not retried.
        (Limits { time: Duration::from_millis(50), ..Limits::default() }, false),
    ] {
        let error = error_of(client().with_limits(limits).fetch(&request(&url, "refs/heads/main")).await);
        assert_eq!(error.may_pass(), may_pass, "{error:?}");
    }
}

#[tokio::test]
async fn dropping_a_fetch_closes_the_connection() {
    let (sender, mut connections) = tokio::sync::mpsc::unbounded_channel();
    let (ended, mut ends) = tokio::sync::mpsc::unbounded_channel();
    let server = Server::new(move |mut stream| {
        sender.send(()).unwrap();
        // Reads until the client closes the connection.
        let _ = io::copy(&mut stream, &mut io::sink());
        ended.send(()).unwrap();
    });
    let url = format!("http://{}/repo.git", server.address());
    let fetch = tokio::spawn(async move { fetch(&url, "refs/heads/main").await.is_ok() });
    connections.recv().await.unwrap();
    fetch.abort();
    ends.recv().await.unwrap();
}

#[tokio::test]
async fn a_closed_port_is_a_temporary_failure() {
    // A port that was just released.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for scheme in ["http", "https"] {
        let url = format!("{scheme}://127.0.0.1:{port}/repo.git");
        let error = error_of(private().fetch(&request(&url, "refs/heads/main")).await);
        assert!(error.may_pass(), "{scheme}: {error:?}");
    }
}
