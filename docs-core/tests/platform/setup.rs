//! The initial setup of a store, and the data shared by its servers.

use std::sync::Arc;

use docs_core::{
    ErrorKind, Platform,
    platform::{NewUser, SetUp, load_or_create_sealing_key},
    ports::{Ids, RandomIds, Secrets, SystemClock},
    store::Store,
};
use docs_memstore::{MemObjects, MemStore};

use crate::support::Refused;

fn new(token: Option<&str>) -> SetUp {
    SetUp {
        administrator: NewUser {
            display_name: "Ada".parse().expect("a name"),
            email: "ada@example.com".parse().expect("an address"),
        },
        organization: "Engines".parse().expect("a title"),
        token: token.map(str::to_owned),
    }
}

#[tokio::test]
async fn setup_creates_an_administrator_with_token_once() {
    let platform = Platform::builder(Arc::new(MemStore::new()), Arc::new(MemObjects::new())).build();
    platform.as_platform().set_up(new(Some("too short"))).await.refused(ErrorKind::Invalid);
    let done = platform.as_platform().set_up(new(None)).await.expect("nothing was left of the refused one");
    let actor = platform.authenticate(&done.token.secret).await.expect("the token is known");
    assert_eq!(actor.user(), Some(&done.administrator));
    let org =
        platform.as_actor(&actor).org(&done.organization).get().await.expect("an administrator sees it");
    assert_eq!(org.title.as_str(), "Engines");
    let error = platform.as_platform().set_up(new(None)).await.refused(ErrorKind::Conflict);
    assert!(error.to_string().contains("already has an organization"), "{error}");
    platform.as_actor(&actor).set_up(new(None)).await.refused(ErrorKind::Forbidden);
}

#[tokio::test]
async fn servers_on_one_store_seal_with_the_same_key() {
    let store: Arc<dyn Store> = Arc::new(MemStore::new());
    let key = async || load_or_create_sealing_key(&store, &SystemClock, &RandomIds).await.expect("a key");
    let (first, second) = (key().await, key().await);
    let sealed = first.seal("file", "secret", RandomIds.next()).expect("sealed");
    assert_eq!(second.open("file", &sealed).as_deref(), Ok("secret"));
    let other: Arc<dyn Store> = Arc::new(MemStore::new());
    let other = load_or_create_sealing_key(&other, &SystemClock, &RandomIds).await.expect("a key");
    other.open("file", &sealed).expect_err("another store has another key");
}
