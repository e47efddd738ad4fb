//! The server example as a child process.

use std::{
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    net::TcpStream,
};

/// The first administrator's token in these tests.
pub(crate) const TOKEN: &str = "token-of-the-durability-tests";
/// How long a server may take to start or to do what it is waited for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);

/// A running server; killed when dropped.
pub(crate) struct Process {
    child: Child,
    pub(crate) base: String,
}

/// The server example, which `cargo test` has built beside this test.
fn server() -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its program");
    let target = test.parent().and_then(|deps| deps.parent()).expect("a test lies in `deps`");
    let server = target.join("examples").join(format!("server{}", std::env::consts::EXE_SUFFIX));
    assert!(server.exists(), "{} is missing: `cargo build --example server` makes it", server.display());
    server
}

impl Process {
    /// Starts a server on a store and waits until it says its address.
    pub(crate) async fn start(store: &str) -> Self {
        let mut child = Command::new(server())
            .args(["--bind", "127.0.0.1:0", "--token", TOKEN, "--store", store])
            .env("RUST_LOG", "warn")
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let stdout = child.stdout.take().expect("its output is piped");
        let stdout = tokio::process::ChildStdout::from_std(stdout).expect("a pipe");
        let mut lines = BufReader::new(stdout).lines();
        let said = tokio::time::timeout(PATIENCE, lines.next_line()).await.expect("it starts in time");
        let line = said.expect("its output can be read").expect("it says its address");
        let base = line.rsplit(' ').next().expect("a word").to_owned();
        assert!(base.starts_with("http://"), "{line}");
        let process = Self { child, base };
        // What else it prints is not needed, but the pipe must not fill up.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        process
    }

    /// Ends the process at once: SIGKILL, no chance to tidy up.
    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("a child can be killed");
        self.child.wait().expect("a killed child ends");
    }

    /// Tells whether something still listens at the server's address.
    pub(crate) async fn listens(&self) -> bool {
        TcpStream::connect(self.base.trim_start_matches("http://")).await.is_ok()
    }
}

/// Starts a server that must refuse its store; answers what it says and its exit code.
pub(crate) async fn refused_to_start(store: &str) -> (String, Option<i32>) {
    let output =
        tokio::process::Command::new(server()).args(["--bind", "127.0.0.1:0", "--store", store]).output();
    let output = tokio::time::timeout(PATIENCE, output).await.expect("it ends in time").expect("it starts");
    (String::from_utf8_lossy(&output.stderr).into_owned(), output.status.code())
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended before; then there is nothing to do.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
