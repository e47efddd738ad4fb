//! Small servers on loopback that run the git program.

use std::{
    io::{self, BufRead as _, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    process::{Command, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
};

/// A server with one thread per connection, until it is dropped.
pub(crate) struct Server {
    address: SocketAddr,
    stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    pub(crate) fn new(answer: impl Fn(TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let stopped = Arc::new(AtomicBool::new(false));
        let (answer, stop) = (Arc::new(answer), stopped.clone());
        let thread = thread::spawn(move || {
            for stream in listener.incoming() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let (answer, stream) = (answer.clone(), stream.unwrap());
                thread::spawn(move || answer(stream));
            }
        });
        Self { address, stopped, thread: Some(thread) }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::SeqCst);
        // Wakes the accepting thread.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

/// Returns `true` if git is installed. Otherwise reports that the test is skipped.
pub(crate) fn has_git() -> bool {
    let found = Command::new("git").arg("--version").stdout(Stdio::null()).status().is_ok();
    if !found {
        // Written directly, because the test harness captures the output of macros for passing tests.
        let name = thread::current().name().unwrap_or_default().to_owned();
        let message = format!("{name} was not run: there is no git program on this machine\n");
        io::stderr().write_all(message.as_bytes()).unwrap();
    }
    found
}

/// An HTTP request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Request {
    pub(crate) line: String,
    pub(crate) authorization: Option<String>,
    pub(crate) content_type: Option<String>,
    pub(crate) body: Vec<u8>,
}

/// The requests that a server has received.
pub(crate) type Log = Arc<Mutex<Vec<Request>>>;

/// Starts a server for a repository under `/repo.git`. A response from `hook` takes precedence.
pub(crate) fn web(
    repository: &str,
    hook: impl Fn(&Request) -> Option<String> + Send + Sync + 'static,
) -> (Server, Log) {
    let log = Log::default();
    let (repository, kept) = (repository.to_owned(), log.clone());
    let server = Server::new(move |mut stream| {
        let Some(request) = read_request(&stream) else { return };
        kept.lock().unwrap().push(request.clone());
        let answer = match hook(&request) {
            Some(answer) => answer.into_bytes(),
            None => git_answer(&repository, &request),
        };
        // The client closes the connection when it has read enough.
        let _ = stream.write_all(&answer);
    });
    (server, log)
}

/// Creates a response without a body.
pub(crate) fn status(line: &str, headers: &str) -> String {
    format!("HTTP/1.1 {line}\r\n{headers}Content-Length: 0\r\nConnection: close\r\n\r\n")
}

pub(crate) fn read_request(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut request = Request::default();
    let mut length = 0;
    reader.read_line(&mut request.line).ok()?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        match name.to_ascii_lowercase().as_str() {
            "authorization" => request.authorization = Some(value.trim().to_owned()),
            "content-type" => request.content_type = Some(value.trim().to_owned()),
            "content-length" => length = value.trim().parse().ok()?,
            _ => {}
        }
    }
    request.body.resize(length, 0);
    reader.read_exact(&mut request.body).ok()?;
    (!request.line.is_empty()).then_some(request)
}

fn git_answer(repository: &str, request: &Request) -> Vec<u8> {
    if request.line.contains("git-receive-pack") {
        return backend(repository, request);
    }
    let (kind, body) = if request.line.starts_with("GET /repo.git/info/refs?service=git-upload-pack ") {
        let mut body = b"001e# service=git-upload-pack\n0000".to_vec();
        body.extend(upload_pack(&["--stateless-rpc", "--advertise-refs", repository], &[]));
        ("advertisement", body)
    } else if request.line.starts_with("POST /repo.git/git-upload-pack ") {
        ("result", upload_pack(&["--stateless-rpc", repository], &request.body))
    } else {
        return status("404 Not Found", "").into_bytes();
    };
    let mut answer = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/x-git-upload-pack-{kind}\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n",
        body.len()
    )
    .into_bytes();
    answer.extend(body);
    answer
}

/// Returns the response of `git http-backend`.
fn backend(repository: &str, request: &Request) -> Vec<u8> {
    let mut words = request.line.split(' ');
    let (method, target) = (words.next().unwrap(), words.next().unwrap());
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let Some(path) = path.strip_prefix("/repo.git") else {
        return status("404 Not Found", "").into_bytes();
    };
    let mut child = Command::new("git")
        .args(["-c", "http.receivepack=true", "http-backend"])
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("PATH_TRANSLATED", format!("{repository}{path}"))
        .env("REQUEST_METHOD", method)
        .env("QUERY_STRING", query)
        .env("CONTENT_TYPE", request.content_type.as_deref().unwrap_or_default())
        .env("CONTENT_LENGTH", request.body.len().to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = request.body.clone();
    let writer = thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().unwrap().stdout;
    // The program does not read the body of a request that it rejects.
    let _ = writer.join().unwrap();
    let end = output.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    let (head, body) = (String::from_utf8(output[..end].to_vec()).unwrap(), &output[end + 4..]);
    let mut line = "200 OK";
    let mut headers = String::new();
    for header in head.lines() {
        match header.strip_prefix("Status: ") {
            Some(status) => line = status,
            None => headers.push_str(&format!("{header}\r\n")),
        }
    }
    let length = body.len();
    let mut answer =
        format!("HTTP/1.1 {line}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n")
            .into_bytes();
    answer.extend(body);
    answer
}

fn upload_pack(arguments: &[&str], input: &[u8]) -> Vec<u8> {
    let mut child = Command::new("git")
        .arg("upload-pack")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    output.stdout
}
