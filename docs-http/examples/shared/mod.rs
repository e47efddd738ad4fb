//! An in-memory platform for the examples, with an organization and an administrator.

use std::{error::Error, sync::Arc};

use docs_core::{
    Platform,
    platform::{NewUser, SetUp},
};
use docs_memstore::{MemObjects, MemSearch, MemStore};

/// The platform, and the token of its administrator.
pub(crate) async fn in_memory(base_url: &str) -> Result<(Platform, String), Box<dyn Error + Send + Sync>> {
    let platform = Platform::builder(Arc::new(MemStore::new()), Arc::new(MemObjects::new()))
        .base_url(base_url)
        .search(Arc::new(MemSearch::new()))
        .build();
    let administrator = NewUser { display_name: "Ada".parse()?, email: "ada@example.com".parse()? };
    let first = SetUp { administrator, organization: "Engines".parse()?, token: None };
    let done = platform.as_platform().set_up(first).await?;
    Ok((platform, done.token.secret))
}
