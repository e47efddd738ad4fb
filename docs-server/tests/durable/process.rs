//! The server as a child process.

use std::{
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

/// The program, which hears nothing of the environment of the tests but where it lies.
pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_docs-server"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("DOCS_") {
            command.env_remove(name);
        }
    }
    command.env("RUST_LOG", "warn");
    command
}

impl Process {
    /// Starts a server on a store and waits until it says its address.
    pub(crate) async fn start(store: &str) -> Self {
        Self::with(&["--bind", "127.0.0.1:0", "--store", store]).await
    }

    /// Starts a server with flags and waits until it says its address.
    pub(crate) async fn with(flags: &[&str]) -> Self {
        let mut child = program()
            .args(["--token", TOKEN])
            .args(flags)
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

    /// The most bytes of memory that the process has used so far; `None` where the system does not tell.
    #[allow(dead_code, reason = "only some of the tests that share this ask")]
    pub(crate) fn peak_memory(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        Some(line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()? * 1024)
    }

    /// Tells whether something still listens at the server's address.
    pub(crate) async fn listens(&self) -> bool {
        TcpStream::connect(self.base.trim_start_matches("http://")).await.is_ok()
    }
}

/// Starts a server that must refuse its store; answers what it says and its exit code.
pub(crate) async fn refused_to_start(store: &str) -> (String, Option<i32>) {
    refused(&["--bind", "127.0.0.1:0", "--store", store]).await
}

/// Starts a server that must refuse its flags; answers what it says and its exit code.
pub(crate) async fn refused(flags: &[&str]) -> (String, Option<i32>) {
    let mut command = tokio::process::Command::from(program());
    let output = command.args(flags).kill_on_drop(true).output();
    let output = tokio::time::timeout(PATIENCE, output).await.expect("it ends in time").expect("it starts");
    (String::from_utf8_lossy(&output.stderr).into_owned(), output.status.code())
}

/// Asks again and again until something is so: another process gives no event to wait for.
pub(crate) async fn until(what: &str, mut so: impl AsyncFnMut() -> bool) {
    let waiting = async {
        while !so().await {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    assert!(tokio::time::timeout(PATIENCE, waiting).await.is_ok(), "{what} does not come");
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended before; then there is nothing to do.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
