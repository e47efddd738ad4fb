//! The platform as a server of its own: the program of `docs-server`, whose library a host can embed.
//!
//! `cargo run --example server`, `-- --help` for its flags.

use std::process::ExitCode;

fn main() -> ExitCode {
    docs_server::run()
}
