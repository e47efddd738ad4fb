//! E-mail domains: [`EmailDomain`].

use super::{BoundedText, formed_text::formed_text};

formed_text! {
    /// An e-mail domain.
    EmailDomain(3, 253, is_domain, "a domain name like example.com",
        { "pattern": r"^([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$" }),
}

impl EmailDomain {
    /// Returns the domain in lower case, the form used for comparison.
    #[must_use]
    pub fn to_lowercase(&self) -> Self {
        Self(BoundedText(self.0.to_ascii_lowercase().into()))
    }
}

fn is_domain(text: &str) -> bool {
    let label = |l: &str| {
        !l.is_empty()
            && l.len() <= 63
            && l.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
            && !l.starts_with('-')
            && !l.ends_with('-')
    };
    text.contains('.') && text.split('.').all(label)
}
