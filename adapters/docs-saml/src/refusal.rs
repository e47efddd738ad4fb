//! The error for rejected messages.

use docs_ports::SamlRefused;

pub(crate) fn refuse(why: impl Into<String>) -> SamlRefused {
    SamlRefused(why.into())
}
