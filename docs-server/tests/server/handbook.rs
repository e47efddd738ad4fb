//! Tests that use the handbook as content: its PDF file and its translation.

mod pdf;
mod translated;

use docs_core::{Platform, model::SpaceId, platform::Builder};
use docs_git::LocalRemote;
use docs_memstore::{MemObjects, MemStore};
use docs_server::{
    FirstAdmin, FirstStart, HANDBOOK_URL, MAIN_REF, ServerConfig, check_import, create_site, first_start,
    handbook, import,
};

/// A platform with the handbook as its only space.
struct Handbook {
    platform: Platform,
    setup: FirstStart,
    space: SpaceId,
}

impl Handbook {
    async fn with(more: impl FnOnce(Builder) -> Builder) -> Self {
        let remote =
            LocalRemote::new().with_checkout(HANDBOOK_URL, MAIN_REF, handbook().expect("the handbook"));
        let (store, objects) = (std::sync::Arc::new(MemStore::new()), std::sync::Arc::new(MemObjects::new()));
        let builder = Platform::builder(store, objects).git(std::sync::Arc::new(remote));
        let platform = more(builder).build();
        let admin = FirstAdmin::from_config(&ServerConfig::default()).expect("an administrator");
        let setup = first_start(&platform, &admin).await.expect("set up").expect("a new store");
        let space = create_site(&platform, &setup, "Handbook").await.expect("published").space;
        import(&platform, &setup, &space, HANDBOOK_URL).await.expect("accepted");
        platform.settle().await.expect("settled");
        check_import(&platform, &setup, &space).await.expect("imported");
        Self { platform, setup, space }
    }
}
