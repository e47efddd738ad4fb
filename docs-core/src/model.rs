//! The resources of the platform and their limits, from the crate `docs-model`.

pub(crate) use docs_model::web_url::{has_credentials, is_written_out, web_url};
pub use docs_model::*;
