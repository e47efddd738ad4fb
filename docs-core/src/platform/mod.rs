//! The operations of the platform: one file a noun.
//!
//! Every operation first says who acts. It checks its input, proves the right, decides inside one transaction, and
//! shows the result; nothing is visited twice.

mod access;
mod audit;
mod change_requests;
mod collections;
mod comments;
mod content;
mod content_edit;
mod files;
mod git;
mod idempotency;
mod import;
mod invites;
mod jobs;
mod links;
mod members;
mod named;
mod orgs;
mod page_source;
mod pdf;
mod people;
mod permissions;
mod reviews;
mod saml;
mod search;
mod setup;
mod site_settings;
mod sites;
mod spaces;
mod teams;
mod templates;
mod tree;
mod urls;
mod visitors;

use std::{fmt, sync::Arc};

use idempotency::at_once;
use serde::{Serialize, de::DeserializeOwned};

pub use audit::{AuditFilter, AuditLog};
pub use change_requests::RequestFilter;
pub use comments::{CommentQuery, Thread};
pub use content::{ContentOf, Shown, Version};
pub use files::{StoredFile, media_type};
pub use idempotency::{IDEMPOTENCY_WINDOW, IdempotencyKey, IdempotentRequest, NotAnIdempotencyKey};
pub use invites::INVITE_WINDOW;
pub use links::RequestLinkFilter;
pub use members::MemberFilter;
pub use pdf::{PDF_WINDOW, PdfFile, PdfPart};
pub use people::{NewToken, NewUser, TokenInfo, TokenSecret};
pub use setup::{SetUp, SetUpDone, stored_sealing_key};
pub use sites::{SiteFilter, SiteOf};
pub use spaces::RESTORE_WINDOW;
pub use teams::TeamFilter;
pub use tree::Reach;
pub use urls::Urls;
pub use visitors::Visitor;

use crate::{
    BoxFuture, Error, Result,
    content::Content,
    model::{Timestamp, UserId},
    ports::{
        Clock, Converter, GitRemote, Ids, Pdf, RandomIds, SamlVerifier, SealingKey, SearchIndex, Secrets,
        SystemClock, Web, new_id,
    },
    store::{Answers, Logged, Mode, Objects, Operation, Receipt, Store, Tx, Written, run, run_and_show},
};

/// What an operation can answer, now and to a request that is sent again.
pub(crate) trait Answer: Serialize + DeserializeOwned + Send + Sync {}

impl<T: Serialize + DeserializeOwned + Send + Sync> Answer for T {}

/// Who acts.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Actor {
    /// A user, with the user's rights.
    User(UserId),
    /// The platform itself, or the program that embeds it: everything is allowed.
    Platform,
    /// A visitor of published sites, who reads what their audience sees and does nothing else.
    Visitor(Visitor),
}

impl Actor {
    /// The user, where it is one.
    #[must_use]
    pub const fn user(&self) -> Option<&UserId> {
        match self {
            Self::User(user) => Some(user),
            Self::Platform | Self::Visitor(_) => None,
        }
    }

    /// The user, for what only users have.
    ///
    /// # Errors
    /// `Forbidden` for the platform itself and for visitors.
    pub fn require_user(&self) -> Result<&UserId> {
        self.user().ok_or_else(|| Error::forbidden("only a user can do this"))
    }
}

/// The platform: everything an application does goes through it.
///
/// Cheap to clone; all clones are the same platform. It starts no task of its own: the host runs
/// [`work`](Platform::work), a test calls [`settle`](Platform::settle).
#[derive(Clone)]
pub struct Platform {
    inner: Arc<Inner>,
    /// The request that is served, where it may be sent again.
    request: Option<IdempotentRequest>,
}

struct Inner {
    store: Arc<dyn Store>,
    objects: Arc<dyn Objects>,
    content: Content,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    git: Option<Arc<dyn GitRemote>>,
    web: Option<Arc<dyn Web>>,
    converter: Option<Arc<dyn Converter>>,
    follower: Option<search::Follower>,
    pdf: Option<Arc<dyn Pdf>>,
    pdfs: pdf::Pdfs,
    saml: Option<Arc<dyn SamlVerifier>>,
    secrets: Arc<dyn Secrets>,
    audit: AuditLog,
    urls: Urls,
}

impl fmt::Debug for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Platform").field("urls", &self.inner.urls).finish_non_exhaustive()
    }
}

/// What a platform is made of.
pub struct Builder {
    store: Arc<dyn Store>,
    objects: Arc<dyn Objects>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    git: Option<Arc<dyn GitRemote>>,
    web: Option<Arc<dyn Web>>,
    converter: Option<Arc<dyn Converter>>,
    search: Option<Arc<dyn SearchIndex>>,
    pdf: Option<Arc<dyn Pdf>>,
    saml: Option<Arc<dyn SamlVerifier>>,
    secrets: Option<Arc<dyn Secrets>>,
    audit: AuditLog,
    urls: Urls,
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("urls", &self.urls).finish_non_exhaustive()
    }
}

impl Builder {
    /// Takes the time from somewhere else, such as a manual clock.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Takes ids from somewhere else, such as a seeded source.
    #[must_use]
    pub fn ids(mut self, ids: impl Ids) -> Self {
        self.ids = Arc::new(ids);
        self
    }

    /// Reads Git repositories through this; without it, Git imports are refused.
    #[must_use]
    pub fn git(mut self, git: Arc<dyn GitRemote>) -> Self {
        self.git = Some(git);
        self
    }

    /// Fetches from the web through this; without it, content that only has an address is refused.
    #[must_use]
    pub fn web(mut self, web: Arc<dyn Web>) -> Self {
        self.web = Some(web);
        self
    }

    /// Reads documents of other formats through this; without it, imports of documents are refused.
    #[must_use]
    pub fn converter(mut self, converter: Arc<dyn Converter>) -> Self {
        self.converter = Some(converter);
        self
    }

    /// Searches with this index, which the platform keeps up to date; without it, searches are refused.
    ///
    /// An index belongs to one platform. Servers that share a store each have their own.
    #[must_use]
    pub fn search(mut self, index: Arc<dyn SearchIndex>) -> Self {
        self.search = Some(index);
        self
    }

    /// Makes PDF files with this; without it, they are refused.
    #[must_use]
    pub fn pdf(mut self, pdf: Arc<dyn Pdf>) -> Self {
        self.pdf = Some(pdf);
        self
    }

    /// Verifies what SAML identity providers say with this; without it, nobody signs in through them.
    #[must_use]
    pub fn saml(mut self, verifier: Arc<dyn SamlVerifier>) -> Self {
        self.saml = Some(verifier);
        self
    }

    /// Seals secrets with this; without it, with a key that lives as long as the process.
    #[must_use]
    pub fn secrets(mut self, secrets: impl Secrets) -> Self {
        self.secrets = Some(Arc::new(secrets));
        self
    }

    /// Keeps the audit log like this; without it, for a year.
    #[must_use]
    pub fn audit(mut self, audit: AuditLog) -> Self {
        self.audit = audit;
        self
    }

    /// Makes the addresses in answers begin with this.
    #[must_use]
    pub fn base_url(mut self, base: &str) -> Self {
        self.urls = Urls::new(base);
        self
    }

    /// The platform.
    #[must_use]
    pub fn build(self) -> Platform {
        let inner = Inner {
            secrets: self.secrets.unwrap_or_else(|| Arc::new(SealingKey::of_process(self.ids.as_ref()))),
            content: Content::new(Arc::clone(&self.objects)),
            objects: self.objects,
            store: self.store,
            clock: self.clock,
            ids: self.ids,
            git: self.git,
            web: self.web,
            converter: self.converter,
            follower: self.search.map(search::Follower::new),
            pdf: self.pdf,
            pdfs: pdf::Pdfs::default(),
            saml: self.saml,
            audit: self.audit,
            urls: self.urls,
        };
        Platform { inner: Arc::new(inner), request: None }
    }
}

impl Platform {
    /// A platform over a store and its objects, with the machine's clock and random ids.
    #[must_use]
    pub fn builder(store: Arc<dyn Store>, objects: Arc<dyn Objects>) -> Builder {
        Builder {
            store,
            objects,
            clock: Arc::new(SystemClock),
            ids: Arc::new(RandomIds),
            git: None,
            web: None,
            converter: None,
            search: None,
            pdf: None,
            saml: None,
            secrets: None,
            audit: AuditLog::default(),
            urls: Urls::new("http://127.0.0.1:4000"),
        }
    }

    /// The store everything is in.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.inner.store
    }

    /// Tells whether the store can be read: what a load balancer wants to know.
    ///
    /// # Errors
    /// The store's.
    pub fn ready<'a>(&'a self) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let tx = self.read().await?;
            tx.get_value(&crate::store::KeyBuf::new("sys").part("ready").key()).await?;
            Ok(())
        })
    }

    /// The addresses in answers.
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

    pub(crate) fn git(&self) -> Option<&Arc<dyn GitRemote>> {
        self.inner.git.as_ref()
    }

    pub(crate) fn web(&self) -> Option<&Arc<dyn Web>> {
        self.inner.web.as_ref()
    }

    pub(crate) fn converter(&self) -> Option<&Arc<dyn Converter>> {
        self.inner.converter.as_ref()
    }

    fn follower(&self) -> Option<&search::Follower> {
        self.inner.follower.as_ref()
    }

    pub(crate) fn pdf(&self) -> Option<&Arc<dyn Pdf>> {
        self.inner.pdf.as_ref()
    }

    pub(crate) fn pdfs(&self) -> &pdf::Pdfs {
        &self.inner.pdfs
    }

    fn saml(&self) -> Option<&Arc<dyn SamlVerifier>> {
        self.inner.saml.as_ref()
    }

    pub(crate) fn secrets(&self) -> &dyn Secrets {
        self.inner.secrets.as_ref()
    }

    pub(crate) fn clock(&self) -> &Arc<dyn Clock> {
        &self.inner.clock
    }

    pub(crate) fn ids(&self) -> &dyn Ids {
        self.inner.ids.as_ref()
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.inner.clock.now().into()
    }

    pub(crate) fn id<T: std::str::FromStr<Err = crate::model::NotAnId>>(&self) -> T {
        new_id(self.ids())
    }

    /// Starts reading one snapshot.
    pub(crate) async fn read(&self) -> Result<Tx> {
        Ok(Tx::new(self.inner.store.begin(Mode::Read, &[]).await?))
    }

    /// Runs a write until it is stored or refused. The audit log names the actor.
    pub(crate) async fn write<O: Operation>(&self, actor: &Actor, operation: &O) -> Result<O::Out> {
        run(&self.inner.store, &self.receipt(self.logged(actor)?), operation).await
    }

    /// Runs a write until it is stored or refused, and answers with what is read of it in its own transaction: an error
    /// means that nothing was changed, but for what [`run_and_show`] says of an actor who may not see their change.
    ///
    /// Counters that are read for an answer make the write wait its turn with those that move them. For what was just
    /// created nobody else does; of a space, a team or a member that others work on, an attempt is made again.
    /// The answer to a request that may be sent again is kept, for [`once`](Self::once).
    pub(crate) async fn write_and_show<'e, O: Operation, V: Answer>(
        &self,
        actor: &Actor,
        operation: &O,
        show: impl for<'t> Fn(Written<'t, 'e, O::Out>) -> BoxFuture<'t, Result<V>> + Send + Sync,
    ) -> Result<V> {
        let receipt = self.receipt(self.logged(actor)?);
        let answers = self.answers(actor);
        let answers = answers.as_ref().map(|answers| answers as &dyn Answers<V>);
        run_and_show(&self.inner.store, &receipt, operation, answers, show).await
    }

    /// Runs a write that changes nothing anybody asked for, such as the claim of a job: the audit log is silent of it.
    pub(crate) async fn upkeep<O: Operation>(&self, operation: &O) -> Result<O::Out> {
        run(&self.inner.store, &self.receipt(Logged::No), operation).await
    }

    /// Runs upkeep as [`write_and_show`](Self::write_and_show) runs a write.
    pub(crate) async fn upkeep_and_show<'e, O: Operation, V: Answer>(
        &self,
        operation: &O,
        show: impl for<'t> Fn(Written<'t, 'e, O::Out>) -> BoxFuture<'t, Result<V>> + Send + Sync,
    ) -> Result<V> {
        run_and_show(&self.inner.store, &self.receipt(Logged::No), operation, None, show).await
    }

    /// What the audit log tells of a write.
    fn logged(&self, actor: &Actor) -> Result<Logged> {
        match (actor, self.inner.audit) {
            (Actor::Visitor(_), _) => Err(Error::forbidden("visitors of a site only read")),
            (_, AuditLog::Off) => Ok(Logged::No),
            (_, AuditLog::Kept(_)) => Ok(Logged::By(actor.user().cloned())),
        }
    }

    fn receipt(&self, logged: Logged) -> Receipt {
        Receipt { at: self.inner.clock.now(), id: self.inner.ids.next(), logged }
    }

    pub(crate) fn audit(&self) -> AuditLog {
        self.inner.audit
    }
}
