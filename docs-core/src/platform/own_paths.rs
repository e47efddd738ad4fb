//! The first segments of the platform's own paths: its addresses and routes are made of them, and no site is mounted on
//! them.

/// The API.
pub const API: &str = "v1";
/// The application, in addresses for people.
pub const APP: &str = "app";
/// The explorer of the API.
pub const EXPLORER: &str = "docs";
/// Files, PDF files and documents of OpenAPI specifications.
pub const FILES: &str = "files";
/// The check that the process is alive.
pub const HEALTH: &str = "healthz";
/// The metrics.
pub const METRICS: &str = "metrics";
/// The OpenAPI document.
pub const OPENAPI: &str = "openapi.json";
/// The check that the server answers requests.
pub const READY: &str = "readyz";
/// What search engines may read.
pub const ROBOTS: &str = "robots.txt";
/// Sign-in through SAML providers.
pub const SAML: &str = "saml";
/// Published sites by their base names.
pub const SITES: &str = "sites";
/// Deliveries of Git hosts.
pub const WEBHOOKS: &str = "webhooks";
/// Well-known addresses (RFC 8615).
pub const WELL_KNOWN: &str = ".well-known";

/// All of them.
pub const ALL: &[&str] =
    &[API, APP, EXPLORER, FILES, HEALTH, METRICS, OPENAPI, READY, ROBOTS, SAML, SITES, WEBHOOKS, WELL_KNOWN];
