//! The conformance suite on stores with live values and with JSON values.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use docs_memstore::{Form, ManualClock, MemObjects, MemStore};
use docs_store::{Hash, Objects, Store, conformance::Factory};

/// Creates in-memory stores with a manual clock.
pub(crate) struct Memory {
    form: Form,
    clock: ManualClock,
    objects: MemObjects,
}

impl Memory {
    pub(crate) fn new(form: Form) -> Self {
        let clock = ManualClock::default();
        Self { form, objects: MemObjects::with_clock(Arc::new(clock.clone())), clock }
    }
}

#[async_trait]
impl Factory for Memory {
    async fn store(&self) -> Arc<dyn Store> {
        Arc::new(MemStore::with_form_and_clock(self.form, Arc::new(self.clock.clone())))
    }

    async fn objects(&self) -> Arc<dyn Objects> {
        Arc::new(self.objects.clone())
    }

    /// An in-memory store is not durable, so it is returned unchanged.
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
