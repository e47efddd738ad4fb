//! Ids in paths.

use docs_core::model::NotAnId;

use crate::wire::error::ApiError;

/// Parses an id of a path. Invalid text cannot be the id of any resource, so the result is 404 as for an unknown id.
pub(super) fn id<T: std::str::FromStr<Err = NotAnId>>(text: &str, noun: &str) -> Result<T, ApiError> {
    text.parse().map_err(|_| docs_core::Error::not_found(noun).into())
}
