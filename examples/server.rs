//! The standalone server: the program of `docs-server`, whose library can be embedded.
//!
//! Run it with `cargo run --example server`. Append `-- --help` for its flags.

use std::process::ExitCode;

fn main() -> ExitCode {
    docs_server::run()
}
