//! The refusal of a message.

use docs_ports::SamlRefused;

pub(crate) fn refuse(why: impl Into<String>) -> SamlRefused {
    SamlRefused(why.into())
}
