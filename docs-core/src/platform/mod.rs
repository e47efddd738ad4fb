//! The operations of the platform, one module per noun.
//!
//! A call names the caller, then the noun, then the operation. An operation validates its input, checks the right,
//! decides inside one transaction, and returns the result.
//!
//! # Errors
//! Unless an operation states otherwise, it returns `NotFound` for an item that does not exist or that the caller may
//! not see, `Invalid` for a malformed page position or limit, and the errors of the store.
//!
//! # Cancel safety
//! A write is one transaction: dropping its future leaves the change made or not made, unless an operation states
//! otherwise.

mod access;
mod content;
mod exchange;
mod host;
mod jobs;
mod kernel;
mod library;
mod nouns;
mod people;
mod publishing;
mod search;
mod sites;

use std::{fmt, sync::Arc};

use chrono::TimeDelta;
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    BoxFuture, Error, Result,
    content::Content,
    model::{OrgId, Timestamp, UserId},
    platform::{
        content::{computed, openapi_specs},
        exchange::{import, pdf},
        people::saml,
        publishing::visitors,
    },
    ports::{Clock, Ids, Metrics, Secrets, new_id},
    store::{
        Answers, KINDS, Logged, Mode, Objects, Observer, Operation, Receipt, Store, Tx, WriteContext, Written,
    },
};
pub use content::{
    change_requests::RequestFilter,
    comments::{CommentQuery, Thread},
    edit::upload::{FileUpload, NewUpload},
    files::{Disposition, FileReach, StoredFile, media_type},
    links::RequestLinkFilter,
    openapi_specs::{
        BodyDetail, FieldDetail, OperationDetail, ParameterDetail, ResponseDetail, ShownSpec, SpecDetail,
        SpecSubject,
    },
    read::{ContentOf, PageRedirect, Shown, ShownDocument, TaggedRevision, Version, open_site::OpenSite},
};
pub use exchange::{
    git::{GitDelivery, GitHostEvent, GitWebhook, GitWebhookAnswer},
    pdf::{PDF_WINDOW, PdfAnswer, PdfFile, PdfPart},
};
pub use host::{
    audit::{AuditFilter, AuditLog},
    builder::Builder,
    collect::{CLOCKS_APART, COLLECT_WINDOW, CollectMode, Collected, UNTOUCHED, WRITE_WINDOW},
    limits::{Amount, LIMITS, Limit, LimitGroup},
    setup::{SetUp, SetUpDone, stored_sealing_key},
};
use host::{builder::Ports, turns};
use kernel::idempotency::at_once;
pub use kernel::{
    idempotency::{IDEMPOTENCY_WINDOW, IdempotencyKey, IdempotentRequest, NotAnIdempotencyKey},
    metrics, own_paths,
    precondition::{EntityTag, Precondition, Tags},
    site_hosts::{NotASiteHost, SiteHostRule, SiteHosts},
    token_user::TokenUser,
    urls::Urls,
};
pub use library::{spaces::RESTORE_WINDOW, tree::Reach};
pub use nouns::{
    Caller, ChangeRequestHandle, ChangeRequests, CollectionHandle, Collections, CommentHandle, Comments,
    ContentHandle, InviteHandle, Invites, MemberHandle, Members, OpenApiSpecHandle, OpenApiSpecVersionHandle,
    OpenApiSpecs, OrgHandle, Orgs, Permissions, RedirectHandle, Redirects, ReplyHandle, Revisions,
    SamlProviderHandle, SamlProviders, SectionGroupHandle, SectionGroups, SectionHandle, Sections,
    ShareLinkHandle, ShareLinks, SiteHandle, SiteSpaceHandle, SiteSpaces, Sites, SpaceHandle, Spaces,
    TeamHandle, Teams, TranslationHandle, Translations, UserHandle, Users,
};
pub use people::{
    invites::INVITE_WINDOW,
    members::MemberFilter,
    saml::{SamlAnswer, SamlSession, SamlStart},
    teams::TeamFilter,
    users::{NewToken, NewUser, TokenInfo, TokenSecret},
};
pub use publishing::visitors::{Moment, Visitor};
pub use sites::{site::SiteFilter, structure::places::SiteSpaceFilter};

/// A result of an operation that can be stored and replayed to a repeated request.
pub(crate) trait Answer: Serialize + DeserializeOwned + Send + Sync {}

impl<T: Serialize + DeserializeOwned + Send + Sync> Answer for T {}

/// The caller of an operation.
#[non_exhaustive]
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Actor {
    /// A user authenticated by the embedding application, with their own rights.
    User(UserId),
    /// A user with a token of the platform, with their own rights as far as the token is valid.
    Token(TokenUser),
    /// The platform itself or the embedding application, which may do everything.
    Platform,
    /// A visitor, who may only read published sites that they have access to.
    Visitor(Visitor),
}

impl Actor {
    /// The user; `None` for the platform itself and for visitors.
    #[must_use]
    pub const fn user(&self) -> Option<&UserId> {
        match self {
            Self::User(user) => Some(user),
            Self::Token(token) => Some(token.user()),
            Self::Platform | Self::Visitor(_) => None,
        }
    }

    /// Returns the user, for operations that require one.
    ///
    /// # Errors
    /// `Forbidden` for the platform itself and for visitors.
    pub fn require_user(&self) -> Result<&UserId> {
        self.user().ok_or_else(|| Error::forbidden("only a user can do this"))
    }

    /// Returns `true` if the sign-in of the actor is valid for an organization.
    fn reaches(&self, organization: &OrgId) -> bool {
        match self {
            Self::Token(token) => token.reaches(organization),
            Self::User(_) | Self::Platform | Self::Visitor(_) => true,
        }
    }

    /// Rejects every actor except the platform itself.
    ///
    /// # Errors
    /// `Forbidden` for users and visitors.
    pub fn require_platform(&self) -> Result<()> {
        match self {
            Self::Platform => Ok(()),
            Self::User(_) | Self::Token(_) | Self::Visitor(_) => {
                Err(Error::forbidden("only the operator of the platform can do this"))
            }
        }
    }
}

/// The platform: the entry point for every operation.
///
/// Clones are cheap and share all state. The platform starts no task of its own: the embedding application runs
/// [`work`](Platform::work), a test calls [`settle`](Platform::settle).
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
    inner: Arc<Inner>,
    /// The idempotent request that is being served.
    request: Option<IdempotentRequest>,
    /// The precondition of the request that is being served.
    precondition: Option<Precondition>,
}

struct Inner {
    store: Arc<dyn Store>,
    objects: Arc<dyn Objects>,
    content: Content,
    ports: Ports,
    secrets: Arc<dyn Secrets>,
    follower: Option<search::Follower>,
    turns: turns::Turns,
    job_lease: TimeDelta,
    import_memory: import::ImportMemory,
    pdf_news: pdf::PdfNews,
    spec_pages: computed::SpecPagesCache,
    spec_details: openapi_specs::SpecDetailCache,
    unsigned: saml::Unsigned,
    shown_files: visitors::ShownFiles,
    audit: AuditLog,
    urls: Urls,
    site_hosts: SiteHosts,
    observer: Arc<dyn Observer>,
    open: Arc<metrics::OpenTransactions>,
    measuring: metrics::Measuring,
}

impl fmt::Debug for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Platform").field("urls", &self.inner.urls).finish_non_exhaustive()
    }
}

impl Platform {
    /// Creates the builder of a platform over a store and its objects, with the system clock and random ids.
    ///
    /// # Example
    /// ```
    /// # use std::sync::Arc;
    /// # use docs_core::Platform;
    /// # use docs_memstore::{MemObjects, MemStore};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (store, objects) = (Arc::new(MemStore::new()), Arc::new(MemObjects::new()));
    /// let platform = Platform::builder(store, objects).base_url("https://docs.example.com").build();
    /// platform.ready().await?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn builder(store: Arc<dyn Store>, objects: Arc<dyn Objects>) -> Builder {
        Builder::new(store, objects)
    }

    /// The store of the platform.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.inner.store
    }

    /// Checks that the platform can serve all requests: the store is readable and the search index has caught up once.
    ///
    /// For readiness probes. [`work`](Platform::work) builds the index.
    ///
    /// # Errors
    /// `Unavailable` until the index has caught up; errors of the store.
    pub fn ready<'a>(&'a self) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.health().await?;
            self.require_index().await
        })
    }

    /// Checks that the store is readable. For liveness probes: succeeds while the search index is still being built.
    pub fn health<'a>(&'a self) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let tx = self.read().await?;
            tx.get_value(&crate::store::KeyBuf::new("sys").part("ready").key()).await?;
            Ok(())
        })
    }

    /// Factory of the addresses in responses.
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

    fn follower(&self) -> Option<&search::Follower> {
        self.inner.follower.as_ref()
    }

    fn ports(&self) -> &Ports {
        &self.inner.ports
    }

    fn site_hosts(&self) -> &SiteHosts {
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

    /// Begins a read transaction on one snapshot.
    pub(crate) async fn read(&self) -> Result<Tx> {
        let txn = self.inner.store.begin(Mode::Read, &[]).await?;
        Ok(Tx::observed(txn, Mode::Read, &self.inner.observer))
    }

    /// Runs a write until it commits or fails. The audit log records the actor.
    pub(crate) async fn write<O: Operation>(&self, actor: &Actor, operation: &O) -> Result<O::Out> {
        let receipt = self.receipt(self.logged(actor)?);
        docs_store::run(&self.inner.store, self.write_context(&receipt), operation).await
    }

    /// Runs a write until it commits or fails, and returns a view that is read in the same transaction.
    ///
    /// An error means that nothing was changed, except in the case that [`run_and_show`](docs_store::run_and_show)
    /// documents for an actor who may not see their own change.
    ///
    /// Reading counters for the view makes the write conflict with writes that change them. For a new record there are
    /// none; for a space, a team or a member in use, the attempt is repeated. The response to an idempotent request is
    /// stored for [`once`](Self::once).
    pub(crate) async fn write_and_show<'e, O: Operation, V: Answer>(
        &self,
        actor: &Actor,
        operation: &O,
        show: impl for<'t> Fn(Written<'t, 'e, O::Out>) -> BoxFuture<'t, Result<V>> + Send + Sync,
    ) -> Result<V> {
        let receipt = self.receipt(self.logged(actor)?);
        let answers = self.answers(actor);
        let answers = answers.as_ref().map(|answers| answers as &dyn Answers<V>);
        docs_store::run_and_show(&self.inner.store, self.write_context(&receipt), operation, answers, show)
            .await
    }

    /// Runs a write of a new revision that was prepared for a certain head. Returns `None` and stores nothing if the
    /// head moved; the caller then prepares it again.
    pub(crate) async fn write_unless_moved<O: Operation<Out = bool>, V: Answer>(
        &self,
        actor: &Actor,
        operation: &O,
        answer: impl Fn() -> V + Send + Sync,
    ) -> Result<Option<V>> {
        self.write_and_show(actor, operation, |done| at_once(Ok(done.out.then(&answer)))).await
    }

    /// Runs a maintenance write that no user requested, such as the claim of a job. It is not recorded in the audit
    /// log.
    pub(crate) async fn upkeep<O: Operation>(&self, operation: &O) -> Result<O::Out> {
        let receipt = self.receipt(Logged::No);
        docs_store::run(&self.inner.store, self.write_context(&receipt), operation).await
    }

    /// Runs a maintenance write like [`write_and_show`](Self::write_and_show).
    pub(crate) async fn upkeep_and_show<'e, O: Operation, V: Answer>(
        &self,
        operation: &O,
        show: impl for<'t> Fn(Written<'t, 'e, O::Out>) -> BoxFuture<'t, Result<V>> + Send + Sync,
    ) -> Result<V> {
        let receipt = self.receipt(Logged::No);
        docs_store::run_and_show(&self.inner.store, self.write_context(&receipt), operation, None, show).await
    }

    fn write_context<'a>(&'a self, receipt: &'a Receipt) -> WriteContext<'a> {
        WriteContext { kinds: KINDS, receipt, observer: Some(&self.inner.observer) }
    }

    /// The metrics sink.
    pub(crate) fn metrics(&self) -> &dyn Metrics {
        self.inner.ports.metrics.as_ref()
    }

    /// Audit log setting of a write.
    fn logged(&self, actor: &Actor) -> Result<Logged> {
        match (actor, self.inner.audit) {
            (Actor::Visitor(_), _) => Err(Error::forbidden("visitors of a site have read-only access")),
            (_, AuditLog::Off) => Ok(Logged::No),
            (_, AuditLog::Kept(_)) => Ok(Logged::By(actor.user().cloned())),
        }
    }

    fn receipt(&self, logged: Logged) -> Receipt {
        Receipt { at: self.inner.ports.clock.now(), id: self.inner.ports.ids.next(), logged }
    }

    pub(crate) fn audit(&self) -> AuditLog {
        self.inner.audit
    }
}
