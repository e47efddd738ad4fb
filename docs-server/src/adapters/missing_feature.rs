//! Flags of features that were disabled at build time.

use crate::ServerError;

pub(super) fn refuse(is_given: bool, flag: &'static str, feature: &'static str) -> Result<(), ServerError> {
    if is_given { Err(ServerError::Feature { flag, feature }) } else { Ok(()) }
}
