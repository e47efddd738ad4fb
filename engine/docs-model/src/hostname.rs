//! Hostnames for public content: [`Hostname`].

use super::{basename::is_label, formed_text::formed_text};

formed_text! {
    /// A hostname for public content.
    Hostname(3, 32, is_label, "letters, digits and inner `-`",
        { "pattern": "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$" }),
}
