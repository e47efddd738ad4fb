//! Custom hostnames of sites and organizations: [`SiteHostname`].

use super::{basename::is_label, formed_text::formed_text};

formed_text! {
    /// The custom hostname of a site or an organization.
    SiteHostname(4, 512, is_site_hostname, "a host name of at least three labels, like docs.example.com",
        { "pattern": r"^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?[.]){2,}[a-z0-9][a-z0-9-]{0,61}[a-z0-9]$" }),
}

fn is_site_hostname(text: &str) -> bool {
    let is_dns_label = |label: &str| (1..=63).contains(&label.len()) && is_label(label);
    let last = text.rsplit('.').next().unwrap_or_default();
    text.split('.').count() >= 3 && last.len() >= 2 && text.split('.').all(is_dns_label)
}
