//! A Git host on the loopback interface: an HTTP server with basic authentication in front of `git http-backend`.

use std::{
    io::{self, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
};

/// User and password for all repositories, as in a URL.
pub(crate) const WHO: &str = "ada:hunter2";
/// The same credentials as an `Authorization` header.
const BASIC: &str = "Basic YWRhOmh1bnRlcjI=";

/// A step of an exchange between a server and the host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Moment {
    /// The server requests the refs before a fetch.
    FetchBegins,
    /// Half of the fetched pack has been sent.
    FetchHalf,
    /// The server requests the refs before a push.
    PushBegins,
    /// Half of the pushed pack has arrived.
    PushHalf,
    /// The push is applied, but its response is not sent yet.
    PushTaken,
}

/// A callback for each step of an exchange. The exchange continues when it returns.
type Watch = Arc<dyn Fn(Moment) + Send + Sync>;

/// A host for the repositories in a folder. It stops when dropped.
pub(crate) struct Host {
    address: SocketAddr,
    stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Returns `true` if the `git` program is installed. Otherwise prints that the test does not run.
pub(crate) fn has_git() -> bool {
    let found = Command::new("git").arg("--version").stdout(Stdio::null()).status().is_ok();
    if !found {
        let name = thread::current().name().unwrap_or_default().to_owned();
        let line = format!("{name} was not run: there is no git program on this machine\n");
        io::stderr().write_all(line.as_bytes()).expect("a line");
    }
    found
}

impl Host {
    pub(crate) fn new(folder: &Path, watch: impl Fn(Moment) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let stopped = Arc::new(AtomicBool::new(false));
        let (stop, folder, watch): (_, _, Watch) = (stopped.clone(), folder.to_owned(), Arc::new(watch));
        let thread = thread::spawn(move || {
            for stream in listener.incoming() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let (folder, watch) = (folder.clone(), watch.clone());
                // The client may disconnect before the response.
                thread::spawn(move || stream.and_then(|stream| answer(&stream, &folder, &watch)));
            }
        });
        Self { address, stopped, thread: Some(thread) }
    }

    /// Returns the URL of a repository, with valid credentials.
    pub(crate) fn url(&self, name: &str) -> String {
        self.url_for(WHO, name)
    }

    /// Returns the URL of a repository, with this user and password.
    pub(crate) fn url_for(&self, who: &str, name: &str) -> String {
        format!("http://{who}@{}/{name}.git", self.address)
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::SeqCst);
        // Wakes the accept loop.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            thread.join().expect("it ends");
        }
    }
}

/// The head of a request.
#[derive(Default)]
struct Request {
    method: String,
    path: String,
    query: String,
    authorization: String,
    content_type: String,
    encoding: String,
    length: usize,
}

fn read_head(reader: &mut impl io::BufRead) -> io::Result<Request> {
    let (mut request, mut line) = (Request::default(), String::new());
    reader.read_line(&mut line)?;
    let mut words = line.split(' ');
    request.method = words.next().unwrap_or_default().to_owned();
    let target = words.next().unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    (request.path, request.query) = (path.to_owned(), query.to_owned());
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { return Ok(request) };
        let value = value.trim().to_owned();
        match name.to_ascii_lowercase().as_str() {
            "authorization" => request.authorization = value,
            "content-type" => request.content_type = value,
            "content-encoding" => request.encoding = value,
            "content-length" => request.length = value.parse().map_err(io::Error::other)?,
            _ => {}
        }
    }
}

fn answer(stream: &TcpStream, folder: &Path, watch: &Watch) -> io::Result<()> {
    let mut reader = BufReader::new(stream);
    let request = read_head(&mut reader)?;
    let mut to = stream;
    if request.authorization != BASIC {
        // Read the whole body: a client that is still sending would miss the response.
        io::copy(&mut reader.take(request.length as u64), &mut io::sink())?;
        return to.write_all(
            b"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"git\"\r\nContent-Length: 0\r\n\
              Connection: close\r\n\r\n",
        );
    }
    match request.query.as_str() {
        "service=git-upload-pack" => watch(Moment::FetchBegins),
        "service=git-receive-pack" => watch(Moment::PushBegins),
        _ => {}
    }
    let output = backend(&request, &mut reader, folder, watch)?;
    let is = |service: &str| request.method == "POST" && request.path.ends_with(service);
    if is("/git-receive-pack") {
        watch(Moment::PushTaken);
    }
    let end =
        output.windows(4).position(|four| four == b"\r\n\r\n").ok_or_else(|| io::Error::other("no head"))?;
    let (head, body) = (String::from_utf8_lossy(&output[..end]).into_owned(), &output[end + 4..]);
    let status = head.lines().find_map(|line| line.strip_prefix("Status: ")).unwrap_or("200 OK");
    let headers: String =
        head.lines().filter(|line| !line.starts_with("Status: ")).map(|l| format!("{l}\r\n")).collect();
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n");
    to.write_all(head.as_bytes())?;
    let (first, second) = body.split_at(length / 2);
    to.write_all(first)?;
    if is("/git-upload-pack") {
        watch(Moment::FetchHalf);
    }
    to.write_all(second)
}

/// Returns the response of `git http-backend`. Streams the body to the program, and closes its input if the client
/// disconnects.
fn backend(request: &Request, from: &mut impl Read, folder: &Path, watch: &Watch) -> io::Result<Vec<u8>> {
    let repository: PathBuf = folder.join(request.path.trim_start_matches('/'));
    let mut child = Command::new("git")
        .args(["-c", "http.receivepack=true", "http-backend"])
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("PATH_TRANSLATED", repository)
        .env("REQUEST_METHOD", &request.method)
        .env("QUERY_STRING", &request.query)
        .env("CONTENT_TYPE", &request.content_type)
        .env("CONTENT_LENGTH", request.length.to_string())
        .env("HTTP_CONTENT_ENCODING", &request.encoding)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut stdin = child.stdin.take().ok_or_else(|| io::Error::other("its input is piped"))?;
    let output = thread::spawn(move || child.wait_with_output());
    let half = request.length / 2;
    let passed = (|| {
        io::copy(&mut from.by_ref().take(half as u64), &mut stdin)?;
        stdin.flush()?;
        if request.path.ends_with("/git-receive-pack") {
            watch(Moment::PushHalf);
        }
        io::copy(&mut from.take((request.length - half) as u64), &mut stdin)
    })();
    drop(stdin);
    let output = output.join().map_err(|_| io::Error::other("a panic"))??.stdout;
    // The program need not read the body of a request that it rejects.
    match passed {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(output),
    }
}
