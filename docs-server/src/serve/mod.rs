//! Serves connections within limits that malicious clients cannot bypass.
//!
//! | module | content |
//! |---|---|
//! | `accept` | the accept loop and the shutdown |
//! | `authority` | the host that a request is for |
//! | `connection` | the state of a connection |
//! | `exchange` | HTTP on a connection: requests to the application, responses to the client |
//! | `io` | the socket |
//! | `memory` | memory limits for responses |
//! | `pace` | the minimum progress of transfers |
//! | `request`, `response` | bodies |
//! | `streams` | tasks of HTTP/2 streams |
//! | `table` | the connection table |

mod accept;
mod authority;
mod config;
mod connection;
mod descriptors;
mod exchange;
mod io;
mod memory;
mod pace;
mod peer;
mod request;
mod response;
mod streams;
mod table;

pub(crate) use accept::Service;
pub use config::{ConnectionConfig, Pace};
