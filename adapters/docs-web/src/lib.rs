//! HTTP client of the documentation platform, with checks of the addresses that it connects to.
//!
//! * [`WebClient`] implements the port [`Web`](docs_ports::Web) over HTTP and HTTPS.
//! * [`Guard`] resolves hosts to the addresses that an [`Outbound`] policy permits. Other adapters use it as well,
//!   through [`Dialer`] for HTTP or directly.
//!
//! Errors and log lines never contain the user name, the password or the query of a URL.

mod client;
mod credentials;
mod dial;
mod guard;

pub use client::{Limits, WebClient};
pub use credentials::{Credentials, NotUtf8};
pub use dial::{CONNECT_TIMEOUT, Dialer, NO_RESPONSE, TlsError, reason, tls_config};
pub use guard::{Guard, HostError, Outbound, Resolve, SystemResolver};
