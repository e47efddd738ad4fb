//! Organizations in queues.

use std::sync::Arc;

/// An organization with its owner: the user who created it. The organizations of an owner share the owner's turns in a
/// [`TenantQueue`](crate::platform::TenantQueue).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tenant {
    pub(in crate::platform) owner: Arc<str>,
    pub(in crate::platform) org: Arc<str>,
}

impl From<&str> for Tenant {
    /// Returns an organization without a known owner, or a user.
    fn from(name: &str) -> Self {
        let name: Arc<str> = name.into();
        Self { owner: Arc::clone(&name), org: name }
    }
}
