//! First path segments that the platform reserves for its own routes. No site can be mounted on them.

pub const API: &str = "v1";
/// The web application, in URLs shown to users.
pub const APP: &str = "app";
/// The API explorer.
pub const EXPLORER: &str = "docs";
/// Files, PDF files and OpenAPI documents.
pub const FILES: &str = "files";
/// Liveness probe.
pub const HEALTH: &str = "healthz";
pub const METRICS: &str = "metrics";
/// The OpenAPI document.
pub const OPENAPI: &str = "openapi.json";
/// Previews of sites by the ids of the sites.
pub const PREVIEW: &str = "preview";
/// Readiness probe.
pub const READY: &str = "readyz";
/// Rules for search engines.
pub const ROBOTS: &str = "robots.txt";
/// SAML sign-in.
pub const SAML: &str = "saml";
/// Published sites by their base names.
pub const SITES: &str = "sites";
/// Webhooks of Git hosts.
pub const WEBHOOKS: &str = "webhooks";
/// Well-known URIs (RFC 8615).
pub const WELL_KNOWN: &str = ".well-known";

/// All reserved segments.
pub const ALL: &[&str] = &[
    API, APP, EXPLORER, FILES, HEALTH, METRICS, OPENAPI, PREVIEW, READY, ROBOTS, SAML, SITES, WEBHOOKS,
    WELL_KNOWN,
];
