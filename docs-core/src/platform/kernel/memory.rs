//! In-memory state of modules for the lifetime of a platform, keyed by type.
//!
//! The platform therefore does not depend on the modules that own the state.

use std::{
    any::{Any, TypeId},
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
};

type StateMap = HashMap<TypeId, Arc<dyn Any + Send + Sync>>;

/// A map with at most one value per type.
#[derive(Default)]
pub(in crate::platform) struct Memory(RwLock<StateMap>);

impl Memory {
    /// Stores a value that has no default.
    pub(in crate::platform) fn insert<T: Any + Send + Sync>(&self, value: T) {
        let mut kept = self.0.write().unwrap_or_else(PoisonError::into_inner);
        kept.insert(TypeId::of::<T>(), Arc::new(value));
    }

    /// Returns the value of a type, if present.
    pub(in crate::platform) fn get<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        let kept = self.0.read().unwrap_or_else(PoisonError::into_inner);
        kept.get(&TypeId::of::<T>()).and_then(|value| Arc::clone(value).downcast().ok())
    }

    /// Returns the value of a type. The first call creates it.
    pub(in crate::platform) fn get_or_default<T: Any + Send + Sync + Default>(&self) -> Arc<T> {
        if let Some(found) = self.get() {
            return found;
        }
        let mut kept = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let value = kept.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(T::default()));
        Arc::clone(value).downcast().unwrap_or_default()
    }
}
