//! The program that is run as a worker.

use std::{
    ffi::{OsStr, OsString},
    io,
    path::{Path, PathBuf},
    process::Stdio,
};

use tokio::process::Command;

/// Where Linux shows the program of whoever looks.
const SELF: &str = "/proc/self/exe";
/// Variables of the environment that a program may need to be loaded. All others stay with the server: they hold
/// secrets.
const KEPT_VARIABLES: [&str; 4] = ["LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SystemRoot", "SystemDrive"];
/// Keeps the allocator of glibc from making an arena for each thread.
const FEW_ARENAS: (&str, &str) = ("MALLOC_ARENA_MAX", "2");

/// A program that runs [`Worker::run`](crate::Worker::run) when it is started with these arguments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// What is started.
    file: PathBuf,
    /// What it is called in messages and in lists of processes.
    name: PathBuf,
    arguments: Vec<OsString>,
}

impl Program {
    /// The program that is running. On Linux it is found also after its file was replaced, as an upgrade does.
    ///
    /// # Errors
    /// When the system does not tell which program it is.
    pub fn current() -> io::Result<Self> {
        let name = std::env::current_exe()?;
        let file = if cfg!(target_os = "linux") { PathBuf::from(SELF) } else { name.clone() };
        Ok(Self { file, name, arguments: Vec::new() })
    }

    /// Another program. A path without a folder is looked for as the system does.
    #[must_use]
    pub fn at(path: impl Into<PathBuf>) -> Self {
        let name = path.into();
        Self { file: name.clone(), name, arguments: Vec::new() }
    }

    /// The same with one more argument.
    #[must_use]
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// The path, for messages.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.name
    }

    /// A process of it that has pipes for its input and output, and nothing of the environment that it does not need.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.file);
        command.args(&self.arguments).env_clear().env(FEW_ARENAS.0, FEW_ARENAS.1);
        command.envs(KEPT_VARIABLES.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        // In a group of its own: what a terminal sends to the server is for the server, which may finish its work.
        #[cfg(unix)]
        command.arg0(&self.name).process_group(0);
        command
    }
}
