//! Pushes that a server rejects, loses or does not answer.

use std::{
    fmt::Write as _,
    fs,
    io::{self, Read as _, Write as _},
    net::Shutdown,
    sync::{Arc, Mutex},
    time::Duration,
};

use docs_git::{GitClient, Limits, Outbound};
use docs_ports::{GitError, GitRemote as _};
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

use crate::{
    fixture::{Files, Fixture, Inside, client, file, files, noise, overtake, push, push_on},
    server::{Request, Server, has_git, status, web},
};

/// "me@x:p:w s3cret" in base64.
const BASIC: &str = "Basic bWVAeDpwOncgczNjcmV0";

fn is_push(request: &Request) -> bool {
    request.line.starts_with("POST /repo.git/git-receive-pack ")
}

/// Creates a failing hook with these lines of shell script.
#[cfg(unix)]
fn hook(fixture: &Fixture, name: &str, lines: &str) {
    use std::os::unix::fs::PermissionsExt as _;

    let hooks = fixture.folder.path().join("hooks");
    fs::create_dir_all(&hooks).unwrap();
    let hook = hooks.join(name);
    fs::write(&hook, format!("#!/bin/sh\n{lines}\n")).unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn hook_rejection_contains_sanitized_hook_output() {
    if !has_git() {
        return;
    }
    for name in ["pre-receive", "update"] {
        let fixture = Fixture::filled();
        let lines = "printf 'No pushes\\n\\033[31mon \\001Fridays\\033[0m, p:w s3cret %5000s.' x >&2; exit 1";
        hook(&fixture, name, lines);
        let (server, _log) = web(fixture.path(), |_| None);
        let url = format!("http://me%40x:p%3Aw%20s3cret@{}/repo.git", server.address());
        let tip = fixture.tip();
        let error = push(&push_on(&url, tip.as_deref()), &mut files(&[("a", "")])).await.unwrap_err();
        let GitError::Rejected(text) = &error else { panic!("{error:?}") };
        assert!(text.contains("hook declined") && text.contains("No pushes on Fridays, … x."), "{text}");
        assert!(!text.contains("s3cret") && !text.contains(char::is_control), "{text}");
        assert!(!error.may_pass());
        assert_eq!(fixture.tip(), tip);
    }
}

#[cfg(unix)]
#[tokio::test]
async fn push_fails_if_the_branch_moves_after_the_upload() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::filled();
    let other = fixture.git(&["rev-parse", "main^"]);
    // A concurrent push updates the ref after the objects have arrived.
    hook(
        &fixture,
        "pre-receive",
        &format!("env -u GIT_QUARANTINE_PATH git update-ref refs/heads/main {}", other.trim()),
    );
    let (server, _log) = web(fixture.path(), |_| None);
    let url = format!("http://{}/repo.git", server.address());
    let tip = fixture.tip();
    let result = push(&push_on(&url, tip.as_deref()), &mut files(&[("a", "")])).await;
    assert_eq!(result, Err(GitError::Moved));
    assert_eq!(fixture.tip().as_deref(), Some(other.trim()));
}

#[tokio::test]
async fn push_responses_map_to_git_errors() {
    if !has_git() {
        return;
    }
    let plain = |line: &str, text: &str| {
        let length = text.len();
        format!(
            "HTTP/1.1 {line}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\n\r\n{text}"
        )
    };
    let rejected = |text: &str| GitError::Rejected(text.to_owned());
    let too_large = GitError::TooLarge("the server rejected the push as too large".to_owned());
    let odd = GitError::Broken("the server responded with 409 Conflict".to_owned());
    let strange = GitError::Broken("the response is not from a Git server".to_owned());
    for (answer, at_first, at_last) in [
        (status("401 Unauthorized", ""), GitError::Credentials, GitError::Credentials),
        (status("403 Forbidden", ""), GitError::Credentials, GitError::Credentials),
        (plain("403 Forbidden", "Not for you.\n"), rejected("Not for you."), rejected("Not for you.")),
        (plain("403 Forbidden", &"x".repeat(9000)), GitError::Credentials, GitError::Credentials),
        (status("404 Not Found", ""), GitError::NoRepository, GitError::NoRepository),
        (status("413 Too Large", ""), too_large.clone(), too_large),
        (status("409 Conflict", ""), odd.clone(), odd),
        (plain("200 OK", "hello"), GitError::NoRepository, strange),
    ] {
        for (is_last, expected) in [(false, at_first), (true, at_last)] {
            let fixture = Fixture::filled();
            let answer = answer.clone();
            let hook = move |request: &Request| {
                let is_it = request.line.contains("receive-pack") && is_push(request) == is_last;
                is_it.then(|| answer.clone())
            };
            let (server, _log) = web(fixture.path(), hook);
            let url = format!("http://{}/repo.git", server.address());
            let tip = fixture.tip();
            let result = push(&push_on(&url, tip.as_deref()), &mut files(&[("a", "")])).await;
            assert_eq!(result, Err(expected));
            assert_eq!(fixture.tip(), tip);
        }
    }
}

#[tokio::test]
async fn lost_push_response_is_transient_and_the_commit_exists() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::filled();
    let place = fixture.path().to_owned();
    // The push is forwarded to another server, whose response is dropped.
    let (behind, _log) = web(&place, |_| None);
    let to = behind.address();
    let (server, _log) = web(&place, move |request| {
        is_push(request).then(|| {
            let mut stream = std::net::TcpStream::connect(to).unwrap();
            let (line, length) = (&request.line, request.body.len());
            let kind = request.content_type.as_deref().unwrap();
            write!(stream, "{line}Content-Type: {kind}\r\nContent-Length: {length}\r\n\r\n").unwrap();
            stream.write_all(&request.body).unwrap();
            io::copy(&mut stream, &mut io::sink()).unwrap();
            String::new()
        })
    });
    let url = format!("http://{}/repo.git", server.address());
    let tip = fixture.tip();
    let error = push(&push_on(&url, tip.as_deref()), &mut files(&[("a", "")])).await.unwrap_err();
    assert!(matches!(error, GitError::Unreachable(_)), "{error:?}");
    assert_ne!(fixture.tip(), tip);
    assert_eq!(fixture.git(&["log", "-1", "--format=%an", "main"]).trim(), "Ada");
}

/// Starts a server that accepts a number of bytes of a push, and then calls `then` with the connection.
fn taking(
    fixture: &Fixture,
    most: usize,
    then: impl Fn(std::net::TcpStream) + Send + Sync + 'static,
) -> (Server, Server) {
    let (behind, _log) = web(fixture.path(), |_| None);
    let to = behind.address();
    let server = Server::new(move |mut stream| {
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") {
            if stream.read_exact(&mut byte).is_err() {
                return;
            }
            head.push(byte[0]);
        }
        if head.starts_with(b"POST /repo.git/git-receive-pack ") {
            let mut taken = vec![0; most];
            stream.read_exact(&mut taken).unwrap();
            return then(stream);
        }
        let mut other = std::net::TcpStream::connect(to).unwrap();
        other.write_all(&head).unwrap();
        let (mut from, mut on) = (stream.try_clone().unwrap(), other.try_clone().unwrap());
        std::thread::spawn(move || io::copy(&mut from, &mut on));
        // The client closes the connection when it has read enough.
        let _ = io::copy(&mut other, &mut stream);
        let _ = stream.shutdown(Shutdown::Both);
    });
    (server, behind)
}

#[tokio::test]
async fn connection_loss_during_push_leaves_the_branch_unchanged() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::filled();
    let (server, _behind) = taking(&fixture, 500_000, |stream| drop(stream.shutdown(Shutdown::Both)));
    let url = format!("http://{}/repo.git", server.address());
    let tip = fixture.tip();
    let mut some = Files([Ok(file("big", noise(5_000_000)))].into());
    let error = push(&push_on(&url, tip.as_deref()), &mut some).await.unwrap_err();
    assert!(matches!(error, GitError::Unreachable(_)), "{error:?}");
    assert_eq!(fixture.tip(), tip);
    fixture.git(&["fsck", "--strict", "--full"]);
}

#[tokio::test]
async fn push_to_an_unresponsive_server_times_out() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::filled();
    // The server reads part of the push (all of a small one), and then sends nothing.
    for (most, size) in [(500_000, 30_000_000), (200, 100)] {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let (server, _behind) = taking(&fixture, most, move |stream| kept.lock().unwrap().push(stream));
        let url = format!("http://{}/repo.git", server.address());
        let tip = fixture.tip();
        let mut some = Files([Ok(file("big", noise(size)))].into());
        let client = client().with_limits(Limits { idle: Duration::from_secs(1), ..Limits::default() });
        let result = client.push(&push_on(&url, tip.as_deref()), &mut some).await;
        assert_eq!(result, Err(GitError::Unreachable("the server does not respond".to_owned())));
        assert_eq!(fixture.tip(), tip);
    }
    let kept = Mutex::new(Vec::new());
    let silent = Server::new(move |stream| kept.lock().unwrap().push(stream));
    let url = format!("http://{}/repo.git", silent.address());
    for limits in [
        Limits { idle: Duration::from_millis(50), ..Limits::default() },
        Limits { time: Duration::from_millis(50), ..Limits::default() },
    ] {
        let result = client().with_limits(limits).push(&push_on(&url, None), &mut files(&[])).await;
        assert!(matches!(result, Err(GitError::Unreachable(_))), "{result:?}");
    }
}

#[tokio::test]
async fn dropping_a_push_closes_the_connection() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::filled();
    let (sender, mut began) = tokio::sync::mpsc::unbounded_channel();
    let (ended, mut ends) = tokio::sync::mpsc::unbounded_channel();
    let (server, _behind) = taking(&fixture, 200_000, move |mut stream| {
        sender.send(()).unwrap();
        let _ = io::copy(&mut stream, &mut io::sink());
        ended.send(()).unwrap();
    });
    let request = push_on(&format!("http://{}/repo.git", server.address()), fixture.tip().as_deref());
    let mut some = Files([Ok(file("big", noise(5_000_000)))].into());
    let pushing = tokio::spawn(async move { push(&request, &mut some).await.is_ok() });
    began.recv().await.unwrap();
    pushing.abort();
    ends.recv().await.unwrap();
}

#[tokio::test]
async fn push_refuses_blocked_addresses_and_redirects_to_them() {
    let fixture = Fixture::filled();
    let (server, log) = web(fixture.path(), |_| None);
    let port = server.address().port();
    let public = GitClient::new(Outbound::Public).unwrap().with_resolver(Inside);
    let some =
        [format!("http://127.0.0.1:{port}/repo.git"), format!("http://docs.example.com:{port}/repo.git")];
    for url in some.into_iter().chain([fixture.file_url()]) {
        let error = public.push(&push_on(&url, None), &mut files(&[])).await.unwrap_err();
        assert!(matches!(error, GitError::Refused(_)), "{url}: {error:?}");
    }
    assert_eq!(log.lock().unwrap().len(), 0);
    for location in ["http://169.254.169.254/x/info/refs?service=git-receive-pack", "file:///etc/passwd"] {
        let (moved, _log) = web("", move |_| Some(status("302 Found", &format!("Location: {location}\r\n"))));
        let url = format!("http://{}/repo.git", moved.address());
        let error = push(&push_on(&url, None), &mut files(&[])).await.unwrap_err();
        assert!(matches!(error, GitError::Refused(_)), "{location}: {error:?}");
    }
}

#[tokio::test]
async fn push_redirects_drop_credentials_for_other_hosts() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::filled();
    let (target, target_log) = web(fixture.path(), |_| None);
    let to = target.address();
    let (first, first_log) = web("", move |request| {
        let service = request.line.split_once('?').map_or("", |(_, query)| query.split(' ').next().unwrap());
        Some(status(
            "301 Moved Permanently",
            &format!("Location: http://{to}/repo.git/info/refs?{service}\r\n"),
        ))
    });
    let url = format!("http://me:s3cret@{}/old.git", first.address());
    let made = push(&push_on(&url, fixture.tip().as_deref()), &mut files(&[("a", "")])).await.unwrap();
    assert_eq!(fixture.tip(), Some(made.oid));
    assert!(first_log.lock().unwrap().iter().all(|request| request.authorization.is_some()));
    assert!(target_log.lock().unwrap().iter().all(|request| request.authorization.is_none()));
}

/// Collects all log output.
#[derive(Clone, Default)]
struct Logged(Arc<Mutex<String>>);

impl Visit for Logged {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        writeln!(self.0.lock().unwrap(), "{field}={value:?}").unwrap();
    }
}

impl Subscriber for Logged {
    fn enabled(&self, _metadata: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, span: &span::Attributes<'_>) -> span::Id {
        span.record(&mut self.clone());
        span::Id::from_u64(1)
    }
    fn record(&self, _span: &span::Id, values: &span::Record<'_>) {
        values.record(&mut self.clone());
    }
    fn record_follows_from(&self, _span: &span::Id, _follows: &span::Id) {}
    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.clone());
    }
    fn enter(&self, _span: &span::Id) {}
    fn exit(&self, _span: &span::Id) {}
}

#[tokio::test]
async fn credentials_are_sent_but_not_in_logs_or_errors() {
    if !has_git() {
        return;
    }
    let logged = Logged::default();
    let _guard = tracing::subscriber::set_default(logged.clone());
    let fixture = Fixture::filled();
    let (server, log) = web(fixture.path(), |request| {
        (request.authorization.as_deref() != Some(BASIC)).then(|| status("401 Unauthorized", ""))
    });
    let address = server.address();
    let url = format!("http://me%40x:p%3Aw%20s3cret@{address}/repo.git");
    let tip = fixture.tip();
    let made = push(&push_on(&url, tip.as_deref()), &mut files(&[("a", "")])).await.unwrap();
    assert_eq!(fixture.tip().as_ref(), Some(&made.oid));
    assert!(log.lock().unwrap().iter().all(|request| !request.line.contains("s3cret")));

    let wrong = format!("http://me:s3cret@{address}/repo.git");
    let none = format!("http://{address}/repo.git");
    for url in [&wrong, &none] {
        let result = push(&push_on(url, Some(&made.oid)), &mut files(&[])).await;
        assert_eq!(result, Err(GitError::Credentials));
    }
    overtake(fixture.folder.path());
    for url in [
        &*url,
        &*wrong,
        "http://me:s3cret@127.0.0.1:1/x",
        "http://me:s3cret@no.such.host.invalid/x",
        "git://me:s3cret@127.0.0.1/x",
        "ssh://me:s3cret@host/x",
    ] {
        let error = push(&push_on(url, tip.as_deref()), &mut files(&[])).await.unwrap_err();
        assert!(!format!("{error} {error:?}").contains("s3cret"), "{error:?}");
    }
    tracing::debug!(told = "the subscriber is listening");
    let logged = logged.0.lock().unwrap();
    assert!(
        logged.contains("listening") && !logged.contains("s3cret") && !logged.contains(&BASIC[6..]),
        "{logged}"
    );
}

#[tokio::test]
async fn an_answer_to_a_push_larger_than_the_bound_fails() {
    if !has_git() {
        return;
    }
    // Messages of the maximum length, of more than 16 MiB in total.
    let message = format!("fff0\u{2}{}", "x".repeat(0xfff0 - 5));
    let body = message.repeat((16 << 20) / 0xfff0 + 1);
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/x-git-receive-pack-result\r\nConnection: close";
    let answer = format!("{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let fixture = Fixture::filled();
    let (server, _log) = web(fixture.path(), move |request| is_push(request).then(|| answer.clone()));
    let url = format!("http://{}/repo.git", server.address());
    let result = push(&push_on(&url, fixture.tip().as_deref()), &mut files(&[("a", "")])).await;
    assert_eq!(result, Err(GitError::Broken("the response of the server is too long".to_owned())));
}
