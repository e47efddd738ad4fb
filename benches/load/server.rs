//! The server under load, as a child process.

use std::{
    fs, io,
    net::SocketAddr,
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use docs_benches::Outcome;
use tokio::io::{AsyncBufReadExt as _, BufReader};

/// Token of the first administrator.
pub(crate) const TOKEN: &str = "token-of-the-load-driver";

/// Timeout for the start of a server, including the import of the handbook.
const START_TIMEOUT: Duration = Duration::from_secs(90);

/// Clock ticks per second in `/proc/PID/stat`. Linux reports 100 to programs on every architecture.
const TICKS_PER_SECOND: u64 = 100;

/// A running server. Dropping it kills the process.
pub(crate) struct ServerProcess {
    child: Child,
    /// Address that the server listens on.
    pub(crate) address: SocketAddr,
}

impl ServerProcess {
    /// Starts a server on a free loopback port and waits until it has printed its address.
    pub(crate) async fn start(program: &Path, store: &str, flags: &[String]) -> Outcome<Self> {
        let mut child = Command::new(program)
            .args(["--bind", "127.0.0.1:0", "--token", TOKEN, "--store", store])
            .args(flags)
            .env("RUST_LOG", "warn")
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("--server: {} cannot be started: {error}", program.display()))?;
        let stdout = child.stdout.take().ok_or("the output of the server is not piped")?;
        let mut server = Self { child, address: SocketAddr::from(([127, 0, 0, 1], 0)) };
        let mut lines = BufReader::new(tokio::process::ChildStdout::from_std(stdout)?).lines();
        let line = tokio::time::timeout(START_TIMEOUT, async {
            while let Some(line) = lines.next_line().await? {
                if line.starts_with("The documentation platform is at ") {
                    return Ok(line);
                }
            }
            Err(io::Error::other("the server ended before it printed its address"))
        });
        let line = line.await.map_err(|_| "the server did not start in time")??;
        let address = line.rsplit("http://").next().unwrap_or_default().trim_end_matches('/');
        server.address = address.parse().map_err(|_| format!("no address in `{line}`"))?;
        // Drain the remaining output, so that the pipe does not fill up.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Ok(server)
    }

    /// Returns the resident memory of the server and its child processes, in bytes.
    pub(crate) fn memory(&self) -> Outcome<u64> {
        let mut bytes = 0;
        let mut pending = vec![self.child.id()];
        while let Some(process) = pending.pop() {
            // A worker process may have ended since it was listed.
            let Ok(status) = fs::read_to_string(format!("/proc/{process}/status")) else { continue };
            let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
            let kib = resident.and_then(|text| text.trim().trim_end_matches(" kB").parse::<u64>().ok());
            bytes += kib.unwrap_or_default() * 1024;
            for task in fs::read_dir(format!("/proc/{process}/task"))?.flatten() {
                let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
                pending.extend(children.split_whitespace().filter_map(|id| id.parse::<u32>().ok()));
            }
        }
        match bytes {
            0 => Err("the server has ended".into()),
            bytes => Ok(bytes),
        }
    }

    /// Returns the CPU time of the server process, user and system.
    pub(crate) fn cpu_time(&self) -> Outcome<Duration> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // The program name is in parentheses and may contain spaces.
        let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        let ticks: u64 = fields.skip(11).take(2).filter_map(|text| text.parse::<u64>().ok()).sum();
        Ok(Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND))
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // The process may have ended already, in which case there is nothing to do.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
