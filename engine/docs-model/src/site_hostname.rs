//! Host names of sites and organizations of their own: [`SiteHostname`].

use super::{basename::is_label, formed_text::formed_text};

formed_text! {
    /// A host name of a site or an organization of its own.
    SiteHostname(4, 512, is_site_hostname, "a host name of three labels or more, like docs.example.com",
        { "pattern": r"^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?[.]){2,}[a-z0-9][a-z0-9-]{0,61}[a-z0-9]$" }),
}

fn is_site_hostname(text: &str) -> bool {
    let is_dns_label = |label: &str| (1..=63).contains(&label.len()) && is_label(label);
    let last = text.rsplit('.').next().unwrap_or_default();
    text.split('.').count() >= 3 && last.len() >= 2 && text.split('.').all(is_dns_label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_of_its_own_has_three_labels_or_more() {
        let long = |n: usize| "a".repeat(n);
        for right in
            ["docs.engines.example", "a.b.cd", "a-b.c-d.e-f", "1.2.34", &format!("{0}.{0}.{0}", long(63))]
        {
            assert!(SiteHostname::new(right).is_ok(), "{right}");
        }
        for wrong in [
            "engines.example",
            "docs.engines.e",
            "Docs.engines.example",
            "-a.engines.example",
            "a-.engines.example",
            "docs..example",
            ".docs.example",
            "docs.example.",
            "docs.engines.example:443",
            "docs.engines.example/x",
            "döcs.engines.example",
            &format!("{}.b.cd", long(64)),
            &format!("{0}.{0}.{0}.{0}.{0}.{0}.{0}.{0}.cd", long(63)),
        ] {
            assert!(SiteHostname::new(wrong).is_err(), "{wrong}");
        }
    }
}
