use std::{
    io,
    net::IpAddr,
    sync::atomic::{AtomicUsize, Ordering},
};

use super::*;

mod server;
mod ssrf;

use server::{Answer, Server, moved, ok, status};

/// A resolver with a fixed set of test names.
struct Names;

#[async_trait]
impl Resolve for Names {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        // A trailing dot marks a fully qualified name, which resolves to the same addresses as without the dot.
        let addresses: &[&str] = match host.trim_end_matches('.') {
            "here.test" | "there.test" => &["127.0.0.1"],
            "localhost" => &["127.0.0.1", "::1"],
            "loopback6.test" => &["::1"],
            "any.test" => &["0.0.0.0"],
            "shared.test" => &["100.64.0.1"],
            "link.test" => &["fe80::1"],
            "many.test" => &["224.0.0.251"],
            "translated.test" => &["64:ff9b::a00:1"],
            "tunnel.test" => &["2002:7f00:1::"],
            "behind.test" => &["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c", "10.0.0.1"],
            "before.test" => &["10.0.0.1", "93.184.215.14"],
            "inside.test" => &["10.0.0.8"],
            "inside6.test" => &["fd12:3456::1"],
            "mapped.test" => &["::ffff:192.168.0.1"],
            "both.test" => &["93.184.215.14", "127.0.0.1"],
            "metadata.test" => &["169.254.169.254"],
            "empty.test" => &[],
            _ => return Err(io::Error::other("no such name")),
        };
        Ok(addresses.iter().map(|address| address.parse().unwrap()).collect())
    }
}

fn client(outbound: Outbound) -> WebClient {
    WebClient::new(outbound).unwrap().with_resolver(Names)
}

async fn get(url: &str) -> Result<WebResponse, WebError> {
    client(Outbound::Private).get(url).await
}

/// Creates a client that permits only public addresses and the address of one test server.
fn public_but_for(server: &Server) -> WebClient {
    let mut client = client(Outbound::Public);
    client.guard.exempt = Some(server.address);
    client
}

#[track_caller]
fn assert_refused(result: Result<WebResponse, WebError>, url: &str) {
    let error = result.expect_err(url);
    assert!(matches!(error, WebError::Refused(_)), "{url}: {error:?}");
    let text = format!("{error} {error:?}");
    assert!(!text.contains("s3cret"), "{url}: {text}");
}

#[tokio::test]
async fn non_public_hosts_are_refused_in_every_notation() {
    let server = Server::new(|_| ok("", "inside")).await;
    let port = server.address.port();
    for host in [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0177.0.0.1",
        "017700000001",
        "0x7f.1",
        "0x7f000001",
        "%31%32%37.0.0.1",
        "１２７.0.0.1",
        "0",
        "0.0.0.0",
        "10.1.2.3",
        "100.64.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "2852039166",
        "168.63.129.16",
        "255.255.255.255",
        "224.0.0.1",
        "[::]",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::ffff:169.254.169.254]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "[fd00:ec2::254]",
        "[fe80::1]",
        "here.test",
        "HERE.test",
        "inside.test",
        "inside6.test",
        "mapped.test",
        "both.test",
        "metadata.test",
    ] {
        for scheme in ["http", "https"] {
            let url = format!("{scheme}://me:s3cret@{host}:{port}/?key=s3cret#s3cret");
            assert_refused(client(Outbound::Public).get(&url).await, &url);
        }
    }
    assert_eq!(server.requests(), [""; 0]);
}

#[tokio::test]
async fn non_http_urls_are_refused_in_every_outbound_mode() {
    for url in [
        "file:///etc/s3cret",
        "file://localhost/etc/s3cret",
        "gopher://127.0.0.1:70/s3cret",
        "ftp://me:s3cret@127.0.0.1/",
        "git://127.0.0.1/s3cret",
        "ws://127.0.0.1/s3cret",
        "data:text/plain,s3cret",
        "javascript:s3cret",
        "http://",
        "http://[::1/s3cret",
        "http://%ff:s3cret@127.0.0.1/",
        "//127.0.0.1/s3cret",
        "/s3cret",
        "s3cret",
        "",
    ] {
        for outbound in [Outbound::Public, Outbound::Private, Outbound::Files] {
            assert_refused(client(outbound).get(url).await, url);
        }
    }
}

#[tokio::test]
async fn redirects_are_checked_like_the_first_host() {
    let inside = Server::new(|_| ok("", "inside")).await;
    for target in [
        inside.url("/?key=s3cret"),
        format!("//2130706433:{}/", inside.address.port()),
        format!("http://here.test:{}/", inside.address.port()),
        format!("http://[::ffff:127.0.0.1]:{}/", inside.address.port()),
        "http://169.254.169.254/latest/meta-data/s3cret".to_owned(),
        "http://metadata.test/latest".to_owned(),
        "http://both.test/".to_owned(),
        "file:///etc/s3cret".to_owned(),
        "gopher://127.0.0.1/s3cret".to_owned(),
        "ftp://127.0.0.1/s3cret".to_owned(),
        "http://[s3cret/".to_owned(),
    ] {
        let to = target.clone();
        let outside =
            Server::new(move |path| if path == "/" { moved(302, "/next") } else { moved(307, &to) }).await;
        assert_refused(public_but_for(&outside).get(&outside.url("/")).await, &target);
        assert_eq!(outside.requests().len(), 2, "{target}");
    }
    assert_eq!(inside.requests(), [""; 0]);
}

#[tokio::test]
async fn metadata_endpoints_are_refused_in_private_mode() {
    for host in ["169.254.169.254", "metadata.test", "[fd00:ec2::254]", "168.63.129.16", "0.0.0.0"] {
        for outbound in [Outbound::Private, Outbound::Files] {
            let url = format!("http://{host}/latest");
            assert_refused(client(outbound).get(&url).await, &url);
        }
        let server = Server::new(move |_| moved(301, &format!("http://{host}/latest"))).await;
        assert_refused(get(&server.url("/")).await, host);
    }
}

#[tokio::test]
async fn dns_rebinding_does_not_bypass_the_address_check() {
    struct Turning(Arc<AtomicUsize>);
    #[async_trait]
    impl Resolve for Turning {
        async fn resolve(&self, _host: &str) -> io::Result<Vec<IpAddr>> {
            let is_first = self.0.fetch_add(1, Ordering::SeqCst) == 0;
            Ok(vec![if is_first { [127, 0, 0, 1] } else { [127, 0, 0, 2] }.into()])
        }
    }
    let asked = Arc::new(AtomicUsize::new(0));
    let server = Server::new(|path| if path == "/" { ok("", "here") } else { moved(302, "/") }).await;
    let mut client = client(Outbound::Public).with_resolver(Turning(asked.clone()));
    client.guard.exempt = Some(server.address);
    let url = format!("http://turning.test:{}", server.address.port());
    assert_eq!(&client.get(&url).await.unwrap().bytes[..], b"here");
    assert_eq!(asked.load(Ordering::SeqCst), 1, "once for the check and the connection");
    assert_refused(client.get(&url).await, &url);

    asked.store(0, Ordering::SeqCst);
    assert_refused(client.get(&format!("{url}/moved")).await, "the second hop");
    assert_eq!(asked.load(Ordering::SeqCst), 2);
}

#[test]
fn redirects_from_https_stay_on_https() {
    let from = Url::parse("https://a.test/x/y?z").unwrap();
    assert_eq!(follow(&from, "z").unwrap().as_str(), "https://a.test/x/z");
    assert_eq!(follow(&from, "//me:word@b.test").unwrap().as_str(), "https://b.test/");
    assert!(matches!(follow(&from, "http://a.test/"), Err(WebError::Refused(_))));
}

#[tokio::test]
async fn response_contains_media_type_and_charset() {
    for (header, content_type, charset) in [
        ("Content-Type: image/svg+xml\r\n", Some("image/svg+xml"), None),
        ("Content-Type: Text/HTML ; charset=utf-8\r\n", Some("text/html"), Some("utf-8")),
        ("Content-Type: text/html;a=b; CharSet = \"Shift_JIS\"\r\n", Some("text/html"), Some("shift_jis")),
        ("Content-Type: text/html;charset='koi8-r';x\r\n", Some("text/html"), Some("koi8-r")),
        ("Content-Type: text/html; charset=\r\n", Some("text/html"), None),
        ("Content-Type: text/html; charset=a b\r\n", Some("text/html"), None),
        ("Content-Type: text/plain;\r\n", Some("text/plain"), None),
        ("Content-Type: nonsense\r\n", None, None),
        ("Content-Type: a/b/c\r\n", None, None),
        ("Content-Type: \r\n", None, None),
        ("", None, None),
    ] {
        let server = Server::new(move |_| ok(header, "hello")).await;
        for outbound in [Outbound::Private, Outbound::Files] {
            let url = format!("http://here.test:{}/a?b=c#d", server.address.port());
            let found = client(outbound).get(&url).await.unwrap();
            assert_eq!((&found.bytes[..], found.content_type.as_deref()), (&b"hello"[..], content_type));
            assert_eq!(found.charset.as_deref(), charset, "{header}");
        }
        for request in server.requests() {
            assert!(request.starts_with("GET /a?b=c HTTP/1.1\r\n"), "{request}");
            let request = request.to_ascii_lowercase();
            assert!(request.contains("\r\naccept-encoding: identity\r\n"), "{request}");
            for name in ["authorization:", "cookie:", "referer:"] {
                assert!(!request.contains(name), "{request}");
            }
        }
    }
}

#[tokio::test]
async fn three_redirects_are_followed_and_no_more() {
    let server = Server::new(|path| match path.trim_start_matches('/').parse::<u16>().unwrap() {
        0 => ok("", "arrived"),
        n => moved([301, 302, 303, 307, 308][usize::from(n) % 5], &format!("/{}", n - 1)),
    })
    .await;
    assert_eq!(&get(&server.url("/3")).await.unwrap().bytes[..], b"arrived");
    assert_eq!(
        get(&server.url("/4")).await.unwrap_err().to_string(),
        "cannot be fetched: the host redirects more than 3 times"
    );
    assert_eq!(server.requests().len(), 4 + 4);
    let none = client(Outbound::Private).with_limits(Limits { redirects: 0, ..Limits::default() });
    assert!(none.get(&server.url("/0")).await.is_ok());
    assert!(none.get(&server.url("/1")).await.is_err());
}

#[tokio::test]
async fn response_contains_the_final_url_without_credentials() {
    let server = Server::new(|path| match path {
        "/a" => moved(302, "/b/c?d=e#f"),
        _ => ok("", "text"),
    })
    .await;
    let (at, expected) = (server.address, server.url("/b/c?d=e"));
    assert_eq!(get(&format!("http://me:s3cret@{at}/a#x")).await.unwrap().url, expected);
    assert_eq!(get(&format!("http://me:s3cret@{at}/b/./c?d=e#x")).await.unwrap().url, expected);
}

#[tokio::test]
async fn credentials_are_sent_only_to_their_host() {
    let target = Server::new(|_| ok("", "target")).await;
    let port = target.address.port();
    let first = Server::new(move |path| match path {
        "/here" => moved(302, "/moved"),
        "/moved" => moved(302, &format!("http://evil:word@there.test:{port}/")),
        _ => status("404 Not Found"),
    })
    .await;
    let url = format!("http://me%40x:s3cret@here.test:{}/here", first.address.port());
    assert_eq!(&get(&url).await.unwrap().bytes[..], b"target");
    // "me@x:s3cret" in base64.
    let expected = "authorization: Basic bWVAeDpzM2NyZXQ=\r\n";
    assert_eq!(first.requests().len(), 2);
    assert!(first.requests().iter().all(|request| request.contains(expected)), "{:?}", first.requests());
    let request = target.requests().concat();
    assert!(!request.to_ascii_lowercase().contains("authorization"), "{request}");
}

#[tokio::test]
async fn errors_repeat_no_secret() {
    let server = Server::new(|path| match path.split('?').next() {
        Some("/cut") => Answer::Say("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ncut".to_owned()),
        Some("/silent") => Answer::Say(String::new()),
        Some("/other") => Answer::Say("SSH-2.0-OpenSSH\r\n".to_owned()),
        _ => status("404 Not Found"),
    })
    .await;
    let at = server.address;
    for url in [
        format!("http://me:s3cret@{at}/gone?key=s3cret"),
        format!("http://me:s3cret@{at}/cut?key=s3cret"),
        format!("http://me:s3cret@{at}/silent?key=s3cret"),
        format!("http://me:s3cret@{at}/other?key=s3cret"),
        format!("https://me:s3cret@{at}/?key=s3cret"),
        "http://me:s3cret@127.0.0.1:1/?key=s3cret".to_owned(),
        "http://me:s3cret@unknown.test/?key=s3cret".to_owned(),
        "http://me:s3cret@empty.test/?key=s3cret".to_owned(),
    ] {
        let error = get(&url).await.unwrap_err();
        assert!(matches!(error, WebError::Status(_) | WebError::Unreachable(_)), "{url}: {error:?}");
        let text = format!("{error} {error:?}");
        assert!(!text.contains("s3cret") && !text.contains("key="), "{url}: {text}");
    }
}

#[tokio::test]
async fn responses_without_a_file_are_errors_with_their_status() {
    let server = Server::new(|path| status(&path[1..].replace('-', " "))).await;
    for code in [206, 300, 302, 304, 400, 401, 404, 410, 429, 500, 503] {
        let error = get(&server.url(&format!("/{code}-Text"))).await.unwrap_err();
        assert_eq!(error, WebError::Status(code));
    }
    let empty = get(&server.url("/204-Text")).await.unwrap();
    assert!(empty.bytes.is_empty());
}

#[tokio::test]
async fn byte_limit_holds_with_and_without_content_length() {
    let server = Server::new(|path| match path {
        // The announced body never arrives: its `Content-Length` alone exceeds the limit.
        "/promised" => Answer::Hang("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n".to_owned()),
        "/endless" => Answer::Repeat("HTTP/1.1 200 OK\r\n\r\n".to_owned(), "more"),
        "/chunked" => Answer::Repeat(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_owned(),
            "4\r\nmore\r\n",
        ),
        "/over" => Answer::Say("HTTP/1.1 200 OK\r\n\r\n0123456789x".to_owned()),
        "/close" => Answer::Say("HTTP/1.1 200 OK\r\n\r\n0123456789".to_owned()),
        _ => ok("", "0123456789"),
    })
    .await;
    let client = client(Outbound::Private).with_limits(Limits { bytes: 10, ..Limits::default() });
    for path in ["/promised", "/endless", "/chunked", "/over"] {
        assert_eq!(client.get(&server.url(path)).await, Err(WebError::TooLarge(10)), "{path}");
    }
    for path in ["/close", "/exact"] {
        assert_eq!(&client.get(&server.url(path)).await.unwrap().bytes[..], b"0123456789", "{path}");
    }
}

#[tokio::test]
async fn compressed_body_is_refused() {
    let server = Server::new(|path| match path {
        "/identity" => ok("Content-Encoding: identity\r\n", "text"),
        _ => ok("Content-Encoding: gzip\r\n", "text"),
    })
    .await;
    assert!(matches!(get(&server.url("/gzip")).await, Err(WebError::Unreachable(_))));
    assert!(get(&server.url("/identity")).await.is_ok());
}

#[tokio::test]
async fn unresponsive_host_times_out() {
    let server = Server::new(|path| {
        Answer::Hang(match path {
            "/head" => "HTTP/1.1 200 OK\r\nContent-".to_owned(),
            "/body" => "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nso far".to_owned(),
            _ => String::new(),
        })
    })
    .await;
    let short = Duration::from_millis(30);
    for path in ["/", "/head", "/body"] {
        for (limits, expected) in [
            (Limits { time: short, ..Limits::default() }, WebError::TimedOut(short)),
            (Limits { idle: short, ..Limits::default() }, WebError::TimedOut(short)),
        ] {
            let error = client(Outbound::Private).with_limits(limits).get(&server.url(path)).await;
            assert_eq!(error, Err(expected), "{path}");
        }
    }
}

/// Lets time pass for each chunk, as if there were no memory for it.
struct Waits(Duration);

#[async_trait]
impl FetchMeter for Waits {
    async fn keep(&self, _: usize) -> Result<(), WebError> {
        tokio::time::pause();
        tokio::time::advance(self.0).await;
        tokio::time::resume();
        Ok(())
    }
}

#[tokio::test]
async fn waits_for_memory_do_not_count_towards_time_limits() {
    let server = Server::new(|_| ok("Content-Type: text/plain\r\n", &"a".repeat(300_000))).await;
    let limits = Limits::default();
    let longer = Waits(limits.time + limits.idle);
    let fetched = client(Outbound::Private).get_metered(&server.url("/"), &longer).await.unwrap();
    assert_eq!(fetched.bytes.len(), 300_000);
}

#[test]
fn names_of_character_sets_beyond_the_bound_are_left_out() {
    let named = |bytes: usize| charset(&format!("text/html; charset={}", "a".repeat(bytes))).is_some();
    assert_eq!([MAX_CHARSET, MAX_CHARSET + 1].map(named), [true, false]);
}
