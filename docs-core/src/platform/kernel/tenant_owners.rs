//! The owners of organizations, for queues.

use std::sync::Arc;

use quick_cache::sync::Cache;

use crate::{
    Result,
    model::OrgId,
    platform::kernel::{platform::Platform, tenant::Tenant},
    store::{Tx, records::OrgRecord},
};

/// Maximum number of cached owners, of about a hundred bytes each.
const MAX_CACHED_OWNERS: usize = 10_000;

/// The owners of organizations. They never change.
struct Owners(Cache<OrgId, Arc<str>>);

impl Default for Owners {
    fn default() -> Self {
        Self(Cache::new(MAX_CACHED_OWNERS))
    }
}

impl Platform {
    /// Returns an organization for a queue. An organization that no user created is its own owner.
    ///
    /// # Errors
    /// Errors of the store. The first call for an organization reads its record.
    pub async fn tenant(&self, org: &OrgId) -> Result<Tenant> {
        match self.cached_tenant(org) {
            Some(tenant) => Ok(tenant),
            None => self.tenant_in(&self.read().await?, org).await,
        }
    }

    /// Returns an organization for a queue, like [`tenant`](Self::tenant).
    ///
    /// # Errors
    /// Errors of the store.
    pub(in crate::platform) async fn tenant_in(&self, tx: &Tx, org: &OrgId) -> Result<Tenant> {
        if let Some(tenant) = self.cached_tenant(org) {
            return Ok(tenant);
        }
        let record: Option<Arc<OrgRecord>> = tx.get(&OrgRecord::key_for(org)).await?;
        let owner = record.and_then(|record| record.created_by.clone());
        let owner: Arc<str> = owner.as_ref().map_or(org.as_str(), |owner| owner.as_str()).into();
        self.inner.memory.get_or_default::<Owners>().0.insert(org.clone(), Arc::clone(&owner));
        Ok(Tenant { owner, org: org.as_str().into() })
    }

    fn cached_tenant(&self, org: &OrgId) -> Option<Tenant> {
        let owner = self.inner.memory.get_or_default::<Owners>().0.get(org)?;
        Some(Tenant { owner, org: org.as_str().into() })
    }
}
