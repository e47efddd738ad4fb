//! Servers that fail to start.

use crate::process::{PATIENCE, program};

/// Starts a server that must reject its flags. Returns the error message and exit code.
pub(crate) async fn refused(flags: &[&str]) -> (String, Option<i32>) {
    let mut command = tokio::process::Command::from(program());
    let output = command.args(flags).kill_on_drop(true).output();
    let output = tokio::time::timeout(PATIENCE, output).await.expect("it ends in time").expect("it starts");
    (String::from_utf8_lossy(&output.stderr).into_owned(), output.status.code())
}
