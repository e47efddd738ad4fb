//! The index that readers use. A cleared index is a new generation.

use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use tantivy::IndexReader;

use crate::{
    failure::{Failure, IndexResult},
    folder::caught,
    schema::Fields,
    snapshot::Snapshot,
};

/// An index from its opening until it is cleared.
pub(crate) struct Generation {
    reader: IndexReader,
    fields: Fields,
    state: Mutex<GenerationState>,
}

#[derive(Default)]
struct GenerationState {
    /// Detected damage, which requires a rebuild.
    damage: Option<String>,
    is_over: bool,
}

impl Generation {
    pub(crate) fn new(reader: IndexReader, fields: Fields) -> Self {
        Self { reader, fields, state: Mutex::default() }
    }

    /// Runs a read on a snapshot of the last commit.
    pub(crate) fn read<T>(&self, look: impl FnOnce(&Snapshot) -> IndexResult<T>) -> IndexResult<T> {
        {
            let state = self.state.lock();
            if state.is_over {
                return Err(Failure::Replaced);
            }
            if let Some(damage) = &state.damage {
                return Err(Failure::Damaged(damage.clone()));
            }
        }
        let snapshot = Snapshot { searcher: self.reader.searcher(), fields: self.fields };
        let looked = caught(|| look(&snapshot));
        let mut state = self.state.lock();
        match looked {
            Err(_) if state.is_over => Err(Failure::Replaced),
            Err(failure) => {
                if failure.is_damage() {
                    state.damage.get_or_insert_with(|| failure.to_string());
                }
                Err(failure)
            }
            looked => looked,
        }
    }

    /// Makes the last commit visible.
    pub(crate) fn reload(&self) -> IndexResult<()> {
        caught(|| Ok(self.reader.reload()?))
    }

    /// Returns the detected damage, which requires a rebuild.
    pub(crate) fn damage(&self) -> Option<String> {
        self.state.lock().damage.clone()
    }

    pub(crate) fn note_damage(&self, failure: &Failure) {
        self.state.lock().damage.get_or_insert_with(|| failure.to_string());
    }

    /// Rejects new reads.
    pub(crate) fn end(&self) {
        self.state.lock().is_over = true;
    }
}

/// The generation currently in use.
pub(crate) struct Current(RwLock<Arc<Generation>>);

impl Current {
    pub(crate) fn new(generation: Generation) -> Self {
        Self(RwLock::new(Arc::new(generation)))
    }

    pub(crate) fn get(&self) -> Arc<Generation> {
        Arc::clone(&self.0.read())
    }

    pub(crate) fn replace(&self, generation: Generation) {
        std::mem::replace(&mut *self.0.write(), Arc::new(generation)).end();
    }
}
