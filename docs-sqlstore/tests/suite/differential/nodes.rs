//! The compared platforms, each on its own store, with the same ids and its own clock.

use std::{path::PathBuf, sync::Arc, time::Duration};

use async_trait::async_trait;
use docs_core::{
    Platform,
    platform::load_or_create_sealing_key,
    store::{Objects, Store},
};
use docs_memstore::{Form, ManualClock, MemGit, MemObjects, MemStore, SeededIds};
use docs_sqlstore::{Durability, Options, SqliteStore};
use tempfile::TempDir;

use super::outside;

/// A store and its objects.
pub(super) type Stores = (Arc<dyn Store>, Arc<dyn Objects>);

/// Storage for the data of a platform.
#[async_trait]
pub(super) trait Storage: Send + Sync {
    fn name(&self) -> &'static str;
    /// Opens the store on the existing data.
    async fn open(&self) -> Stores;
    /// Returns `true` if the new store is opened before the old one is dropped, as when another node takes over.
    fn overlaps(&self) -> bool;
}

/// Storage in memory, for the lifetime of the process.
pub(super) struct Memory(MemStore, MemObjects);

impl Memory {
    pub(super) fn new(clock: &ManualClock) -> Self {
        let objects = MemObjects::with_clock(Arc::new(clock.clone()));
        Self(MemStore::with_form_and_clock(Form::Live, Arc::new(clock.clone())), objects)
    }
}

#[async_trait]
impl Storage for Memory {
    fn name(&self) -> &'static str {
        "memory"
    }
    async fn open(&self) -> Stores {
        (Arc::new(self.0.clone()), Arc::new(self.1.clone()))
    }
    fn overlaps(&self) -> bool {
        true
    }
}

/// Storage in an SQLite file.
pub(super) struct SqliteFile {
    folder: TempDir,
    clock: ManualClock,
}

impl SqliteFile {
    pub(super) fn new(clock: &ManualClock) -> Self {
        let folder = tempfile::tempdir().expect("there is a folder for temporary files");
        Self { folder, clock: clock.clone() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("docs.sqlite")
    }
}

#[async_trait]
impl Storage for SqliteFile {
    fn name(&self) -> &'static str {
        "sqlite"
    }
    async fn open(&self) -> Stores {
        let options = Options::new().clock(Arc::new(self.clock.clone())).durability(Durability::Normal);
        let store = SqliteStore::open(self.path(), options).await.expect("the file can be opened");
        let objects = store.objects();
        (Arc::new(store), Arc::new(objects))
    }
    fn overlaps(&self) -> bool {
        false
    }
}

/// Storage in a schema on a PostgreSQL server.
#[cfg(feature = "postgres")]
pub(super) struct Schema {
    pub(super) server: crate::postgres::Postgres,
    pub(super) schema: String,
}

#[cfg(feature = "postgres")]
#[async_trait]
impl Storage for Schema {
    fn name(&self) -> &'static str {
        "postgresql"
    }
    async fn open(&self) -> Stores {
        let store = self.server.open(&self.schema).await.expect("the store can be opened");
        let objects = store.objects();
        (Arc::new(store), Arc::new(objects))
    }
    fn overlaps(&self) -> bool {
        true
    }
}

/// One of the compared platforms.
pub(super) struct Node {
    place: Box<dyn Storage>,
    clock: ManualClock,
    ids: SeededIds,
    repository: MemGit,
    /// `None` while the store is closed.
    open: Option<(Platform, Arc<dyn Objects>)>,
}

impl Node {
    pub(super) async fn new(place: Box<dyn Storage>, clock: ManualClock, repository: &MemGit) -> Self {
        let ids = SeededIds::new(7);
        let mut node = Self { place, clock, ids, repository: repository.clone(), open: None };
        node.reopen().await;
        node
    }

    /// Closes and reopens the store, which discards the platform's in-memory state.
    pub(super) async fn reopen(&mut self) {
        if !self.place.overlaps() {
            self.open = None;
        }
        let (store, objects) = self.place.open().await;
        let key =
            load_or_create_sealing_key(&store, &self.clock, &self.ids).await.expect("the store is there");
        let platform = Platform::builder(store, Arc::clone(&objects))
            .clock(self.clock.clone())
            .ids(self.ids.clone())
            .git(Arc::new(self.repository.clone()))
            .web(Arc::new(outside::web()))
            .secrets(key)
            .build();
        self.open = Some((platform, objects));
    }

    pub(super) fn name(&self) -> &'static str {
        self.place.name()
    }

    pub(super) fn platform(&self) -> &Platform {
        &self.open.as_ref().expect("the store is open").0
    }

    pub(super) fn objects(&self) -> &dyn Objects {
        &*self.open.as_ref().expect("the store is open").1
    }

    pub(super) fn pass(&self, time: Duration) {
        self.clock.advance(time);
    }
}
