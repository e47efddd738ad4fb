//! The server as a child process.

use std::{
    process::{Child, Command, Stdio},
    time::Duration,
};

use tokio::io::{AsyncBufReadExt as _, BufReader};

/// The token of the first administrator in these tests.
pub(crate) const TOKEN: &str = "token-of-the-durability-tests";
/// Timeout for the start of a server, and for events that a test waits for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);

/// The first space of most servers of these tests, because importing and indexing the handbook takes longer than most
/// tests.
const SMALL_SPACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/small_space");

/// A running server. Dropping it kills the process with SIGKILL, without a graceful shutdown.
pub(crate) struct Process {
    pub(crate) child: Child,
    pub(crate) base: String,
}

/// Returns the command for the program, without the `DOCS_` variables of the test environment.
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
    /// Starts a server on a store, with the handbook as its first space, and waits until it prints its URL.
    pub(crate) async fn start(store: &str) -> Self {
        // A short lease, because the jobs of a killed server resume only after it expires.
        Self::with_handbook(&["--bind", "127.0.0.1:0", "--store", store, "--job-lease", "3"]).await
    }

    /// Starts a server with flags and waits until it prints its URL. Its first space has one page.
    pub(crate) async fn with(flags: &[&str]) -> Self {
        Self::run(program().env("DOCS_IMPORT", SMALL_SPACE).args(["--token", TOKEN]).args(flags)).await
    }

    /// Starts a server with flags and the handbook as its first space, and waits until it prints its URL.
    pub(crate) async fn with_handbook(flags: &[&str]) -> Self {
        Self::run(program().args(["--token", TOKEN]).args(flags)).await
    }

    /// Starts a server with this limit of open files.
    pub(crate) async fn limited(descriptors: u32) -> Self {
        Self::within(&format!("ulimit -n {descriptors}"), &["--bind", "127.0.0.1:0"]).await
    }

    /// Starts a server with this umask.
    pub(crate) async fn under(umask: &str, flags: &[&str]) -> Self {
        Self::within(&format!("umask {umask}"), flags).await
    }

    /// Starts a server from a shell, after another command.
    async fn within(first: &str, flags: &[&str]) -> Self {
        let mut program = program();
        program.env("DOCS_IMPORT", SMALL_SPACE);
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{first}; exec \"$0\" \"$@\"")]).arg(program.get_program());
        for (name, value) in program.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        Self::run(shell.args(["--token", TOKEN]).args(flags)).await
    }

    /// Starts a server from a command and waits until it prints its URL.
    pub(crate) async fn run(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the server starts");
        let stdout = child.stdout.take().expect("its output is piped");
        let stdout = tokio::process::ChildStdout::from_std(stdout).expect("a pipe");
        let mut lines = BufReader::new(stdout).lines();
        let said = tokio::time::timeout(PATIENCE, lines.next_line()).await.expect("it starts in time");
        let line = said.expect("its output can be read").expect("it says its address");
        let base = line.rsplit(' ').next().expect("a word").trim_end_matches('/').to_owned();
        assert!(base.starts_with("http://"), "{line}");
        let process = Self { child, base };
        // Drain the remaining output, so that the pipe does not fill up.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        process
    }
}

/// Polls until a condition is true, because other processes send no events.
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
        // Errors are ignored, because the process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
