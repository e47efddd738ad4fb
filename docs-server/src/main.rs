//! The documentation platform as a server. `docs-server --help` lists its flags.

use std::process::ExitCode;

fn main() -> ExitCode {
    docs_server::run()
}
