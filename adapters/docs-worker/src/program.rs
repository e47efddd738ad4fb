//! The executable that runs as a worker.

use std::{
    ffi::{OsStr, OsString},
    io,
    path::{Path, PathBuf},
    process::Stdio,
};

use tokio::process::Command;

/// Path of the running executable on Linux.
const CURRENT_EXECUTABLE: &str = "/proc/self/exe";
/// Environment variables that a program may need in order to load. All others are removed, because they may contain the
/// server's secrets.
const KEPT_VARIABLES: [&str; 4] = ["LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SystemRoot", "SystemDrive"];
/// Limits the number of glibc allocator arenas. The default permits several per CPU core.
const FEW_ARENAS: (&str, &str) = ("MALLOC_ARENA_MAX", "2");

/// A program that runs [`Worker::run`](crate::Worker::run) when started with these arguments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// The executable to start.
    file: PathBuf,
    /// Name in messages and process lists.
    name: PathBuf,
    arguments: Vec<OsString>,
}

impl Program {
    /// Returns the running program. On Linux, it can be started even after its file has been replaced, for example by
    /// an upgrade.
    ///
    /// # Errors
    /// If the system does not report the path of the running program.
    pub fn current() -> io::Result<Self> {
        let name = std::env::current_exe()?;
        let file = if cfg!(target_os = "linux") { PathBuf::from(CURRENT_EXECUTABLE) } else { name.clone() };
        Ok(Self { file, name, arguments: Vec::new() })
    }

    /// Returns another program. A path without a folder is looked up in `PATH`, as in a shell.
    #[must_use]
    pub fn from_path(path: impl Into<PathBuf>) -> Self {
        let name = path.into();
        Self { file: name.clone(), name, arguments: Vec::new() }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// Returns the path for messages.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.name
    }

    /// Returns a command with piped input and output and a minimal environment.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.file);
        command.args(&self.arguments).env_clear().env(FEW_ARENAS.0, FEW_ARENAS.1);
        command.envs(KEPT_VARIABLES.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        // In a separate process group, so that terminal signals reach only the server, which can then finish its work.
        #[cfg(unix)]
        command.arg0(&self.name).process_group(0);
        command
    }
}
