//! The standalone server, the same as the `docs-server` program, whose library can be embedded.
//!
//! Run it with `cargo run --example server`. Append `-- --help` to list its flags.

use std::process::ExitCode;

fn main() -> ExitCode {
    docs_server::run()
}
