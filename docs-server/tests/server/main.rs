//! The server as a process of its own, as operators, newcomers and others' programs meet it, and what the handbook says
//! of it.
//!
//! All is one program, since each that is linked with the server takes longer to build than most of these take to run.
//! What tests need beside the server they name themselves; where it is missing, a line says that nothing was run.

mod admin;
mod bounds;
mod connections;
mod durable;
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
mod stored_files;
mod worker;

mod client;
mod process;
mod refused;
