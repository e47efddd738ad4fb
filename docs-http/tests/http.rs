//! The HTTP foundation, tested through an API of a few operations over resources of the model.

#[path = "http/document.rs"]
mod document;
#[path = "http/errors.rs"]
mod errors;
#[path = "http/hosts.rs"]
mod hosts;
#[path = "http/meta.rs"]
mod meta;
#[path = "http/platform.rs"]
mod platform;
#[path = "http/refusals.rs"]
mod refusals;
#[path = "http/server.rs"]
mod server;
#[path = "http/toy.rs"]
mod toy;
