//! Media types of bodies.

/// The media type of every JSON body.
pub const JSON: &str = "application/json";
