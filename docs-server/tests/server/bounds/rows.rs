//! Untrusted inputs of the platform, with the limits of their dimensions.

mod connections;
mod content;
mod formats;
mod internal;
mod repositories;
mod requests;
mod sites;

pub(super) use internal::INTERNAL;

pub(crate) struct Input {
    pub(crate) name: &'static str,
    pub(crate) bounds: &'static [Bound],
}

/// The limit of one dimension of an input.
#[derive(Clone, Copy)]
pub(crate) struct Bound {
    /// The dimension. If it begins with `Bytes` or `Time`, its values are shown in units of bytes or time.
    pub(crate) dimension: &'static str,
    /// The constant that defines the limit, as `path::NAME`.
    pub(crate) constant: &'static str,
    pub(crate) beyond: Beyond,
    /// The test of the limit, as `path::name`.
    pub(crate) test: &'static str,
    /// Name of the measurement of an input at the limit.
    pub(crate) measurement: Option<&'static str>,
    /// Name of a measurement whose input also reaches this limit, if the limit is not measured separately.
    pub(crate) within: Option<&'static str>,
}

impl Bound {
    const fn measured(self, name: &'static str) -> Self {
        Self { measurement: Some(name), ..self }
    }

    const fn within(self, name: &'static str) -> Self {
        Self { within: Some(name), ..self }
    }
}

const fn bound(dimension: &'static str, constant: &'static str, beyond: Beyond, test: &'static str) -> Bound {
    Bound { dimension, constant, beyond, test, measurement: None, within: None }
}

/// The response to an input over the limit.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beyond {
    Refused,
    TooLarge,
    Conflict,
    NotFound,
    TooMany,
    Fails,
    Reported,
    LeftOut,
    Flattened,
    Text,
    Truncated,
    Evicted,
    NotMet,
    Parts,
    Queued,
    Closed,
    HeadTooLarge,
    Unavailable,
    TimedOut,
}

impl Beyond {
    pub(crate) const ALL: [(Self, &'static str); 19] = [
        (Self::Refused, "`400`, and the message names the field"),
        (Self::TooLarge, "`413`"),
        (Self::Conflict, "`409`"),
        (Self::NotFound, "`404`"),
        (Self::TooMany, "`429` with `Retry-After`"),
        (Self::Fails, "The import, job or file fails, and the error names the bound"),
        (Self::Reported, "Omitted, and reported in the job log or the response"),
        (Self::LeftOut, "Omitted"),
        (Self::Flattened, "Placed on the last level"),
        (Self::Text, "Treated as text"),
        (Self::Truncated, "Truncated"),
        (Self::Evicted, "The oldest is deleted"),
        (Self::NotMet, "The condition is not met; the expression has no value"),
        (Self::Parts, "Split into parts"),
        (Self::Queued, "Queued"),
        (Self::Closed, "A connection is closed"),
        (Self::HeadTooLarge, "`431`"),
        (Self::Unavailable, "`503` with `Retry-After`"),
        (Self::TimedOut, "`408`"),
    ];

    pub(crate) fn text(self) -> &'static str {
        Self::ALL.iter().find(|(own, _)| *own == self).map(|(_, text)| *text).expect("a text for each")
    }
}

/// Returns all inputs in the order of the handbook.
pub(crate) fn inputs() -> impl Iterator<Item = &'static Input> {
    let parts = [
        connections::INPUTS,
        requests::INPUTS,
        content::INPUTS,
        formats::INPUTS,
        repositories::INPUTS,
        sites::INPUTS,
    ];
    parts.into_iter().flatten()
}
