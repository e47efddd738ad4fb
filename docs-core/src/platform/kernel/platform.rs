//! The platform and its parts.

use std::{fmt, sync::Arc};

use chrono::TimeDelta;

use crate::{
    BoxFuture, Result,
    content::Content,
    model::Timestamp,
    platform::kernel::{
        actor::Actor,
        audit_log::AuditLog,
        memory::Memory,
        metrics,
        ports::Ports,
        request::{IdempotentRequest, Precondition, Right},
        site_hosts::SiteHosts,
        urls::Urls,
    },
    ports::{Clock, Ids, Metrics, Secrets, new_id},
    store::{Mode, Objects, Observer, Store, Tx},
};

/// The platform: the entry point for every operation.
///
/// Clones are cheap and share all state. The platform spawns no tasks: the embedding application runs
/// [`work`](Platform::work), and tests call [`settle`](Platform::settle).
///
/// # Example
/// ```
/// # use docs_core::{Platform, Result, model::{SpaceId, UserId}};
/// # async fn example(platform: &Platform, ada: &UserId, space: &SpaceId) -> Result<()> {
/// let space = platform.as_user(ada).space(space).get().await?;
/// println!("{}", space.title);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Platform {
    pub(in crate::platform) inner: Arc<PlatformState>,
    /// The idempotent request being served, if any.
    pub(in crate::platform) request: Option<IdempotentRequest>,
    /// The precondition of the request being served, if any.
    pub(in crate::platform) precondition: Option<Precondition>,
}

/// Checks that an actor still holds a right. Some checks need modules above the kernel, so the builder provides this
/// function.
pub(in crate::platform) type ProveRight =
    for<'t> fn(&'t Platform, &'t Right, &'t Tx, &'t Actor) -> BoxFuture<'t, Result<()>>;

impl fmt::Debug for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Platform").field("urls", &self.inner.urls).finish_non_exhaustive()
    }
}

pub(in crate::platform) struct PlatformState {
    pub(in crate::platform) store: Arc<dyn Store>,
    pub(in crate::platform) objects: Arc<dyn Objects>,
    pub(in crate::platform) content: Content,
    pub(in crate::platform) ports: Ports,
    pub(in crate::platform) secrets: Arc<dyn Secrets>,
    pub(in crate::platform) job_lease: TimeDelta,
    pub(in crate::platform) organizations_per_user: u32,
    pub(in crate::platform) memory: Memory,
    pub(in crate::platform) audit: AuditLog,
    pub(in crate::platform) urls: Urls,
    pub(in crate::platform) site_hosts: SiteHosts,
    pub(in crate::platform) observer: Arc<dyn Observer>,
    pub(in crate::platform) prove_right: ProveRight,
    pub(in crate::platform) open: Arc<metrics::OpenTransactions>,
}

impl Platform {
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.inner.store
    }

    /// Returns the builder of URLs in responses.
    #[must_use]
    pub fn urls(&self) -> &Urls {
        &self.inner.urls
    }

    pub(crate) fn content(&self) -> &Content {
        &self.inner.content
    }

    pub(crate) fn objects(&self) -> &dyn Objects {
        self.inner.objects.as_ref()
    }

    pub(in crate::platform) fn ports(&self) -> &Ports {
        &self.inner.ports
    }

    pub(in crate::platform) fn organizations_per_user(&self) -> u32 {
        self.inner.organizations_per_user
    }

    pub(in crate::platform) fn site_hosts(&self) -> &SiteHosts {
        &self.inner.site_hosts
    }

    pub(crate) fn secrets(&self) -> &dyn Secrets {
        self.inner.secrets.as_ref()
    }

    pub(crate) fn clock(&self) -> &Arc<dyn Clock> {
        &self.inner.ports.clock
    }

    pub(crate) fn ids(&self) -> &dyn Ids {
        self.inner.ports.ids.as_ref()
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.inner.ports.clock.now().into()
    }

    pub(crate) fn id<T: std::str::FromStr<Err = crate::model::NotAnId>>(&self) -> T {
        new_id(self.ids())
    }

    /// Begins a read transaction on a snapshot.
    pub(crate) async fn read(&self) -> Result<Tx> {
        let txn = self.inner.store.begin(Mode::Read, &[]).await?;
        Ok(Tx::with_observer(txn, Mode::Read, &self.inner.observer))
    }

    /// The metrics sink.
    pub(crate) fn metrics(&self) -> &dyn Metrics {
        self.inner.ports.metrics.as_ref()
    }

    pub(crate) fn audit(&self) -> AuditLog {
        self.inner.audit
    }
}
