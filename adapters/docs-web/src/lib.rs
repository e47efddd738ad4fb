//! Fetches from the web for the documentation platform, and guards what it connects to.
//!
//! * [`WebClient`] is the port [`Web`](docs_ports::Web) over http and https.
//! * [`Guard`] turns hosts into addresses that an [`Outbound`] allows. Other adapters connect through it too: over HTTP
//!   by [`Dialer`], or by themselves.
//!
//! No error and no line in a log holds the user name, the password or the query of a URL.

mod client;
mod credentials;
mod dial;
mod guard;

pub use client::{Limits, WebClient};
pub use credentials::{Credentials, NotUtf8};
pub use dial::{CONNECT_TIMEOUT, Dialer, TlsError, reason, tls_config};
pub use guard::{Guard, HostError, Outbound, Resolve, SystemResolver};
