//! Tests of the server as a separate process, from the perspective of operators, new users and other programs. They
//! also verify statements of the handbook.
//!
//! All tests are in one program, because linking with the server takes longer than running most of them. Each test
//! documents its additional requirements. If one is missing, the test prints a message and does not run.

mod admin;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod arenas;
mod bounds;
mod connections;
mod durable;
mod explorer;
mod flags;
mod git;
mod guides;
mod handbook;
mod hostile;
mod journey;
mod local_files;
mod packaging;
mod reference;
mod repositories;
mod saml;
mod shutdown;
mod stored_files;
mod worker;

mod client;
mod process;
mod refused;
