//! The conformance suite over the store with live values and with JSON.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use docs_memstore::{Form, ManualClock, MemObjects, MemStore};
use docs_store::{Hash, Objects, Store, conformance::Factory};

/// Makes stores in memory whose clock is moved by the test.
pub(crate) struct Memory {
    form: Form,
    clock: ManualClock,
    objects: MemObjects,
}

impl Memory {
    pub(crate) fn new(form: Form) -> Self {
        let clock = ManualClock::default();
        Self { form, objects: MemObjects::with(Arc::new(clock.clone())), clock }
    }
}

#[async_trait]
impl Factory for Memory {
    async fn store(&self) -> Arc<dyn Store> {
        Arc::new(MemStore::with(self.form, Arc::new(self.clock.clone())))
    }

    async fn objects(&self) -> Arc<dyn Objects> {
        Arc::new(self.objects.clone())
    }

    /// Memory promises nothing beyond its process, so what a crash leaves is the store itself.
    async fn reopen(&self, store: Arc<dyn Store>) -> Arc<dyn Store> {
        store
    }

    async fn pass(&self, by: Duration) {
        self.clock.advance(by);
    }

    async fn damage(&self, domain: &str, hash: Hash) {
        self.objects.damage(domain, hash).expect("the object is there");
    }
}

mod live {
    docs_store::suite!(super::Memory::new(docs_memstore::Form::Live));
}

mod json {
    docs_store::suite!(super::Memory::new(docs_memstore::Form::Json));
}
