//! Feedback of AI agents about a site. The newest entries are stored; it is not part of the audit log.

use async_trait::async_trait;
use docs_macros::boxed;

use crate::{
    Error, ErrorKind, Result,
    model::{
        AgentFeedbackInput, AgentFeedbackObject, AgentFeedbackPage, AgentFeedbackReceipt, SiteAgentFeedback,
        SiteAgentFeedbackInput, SiteId,
    },
    platform::{
        access,
        kernel::{
            actor::Actor, metrics::AGENT_FEEDBACK, platform::Platform, request::Right, write::ready_answer,
            write_rate::WriteRate,
        },
        nouns::{SiteHandle, addresses::SharedSiteRef, list_identities::tag},
    },
    policy::SiteAction,
    store::{
        Entity as _, Key, ListSpec, Lister, Operation, Page, PageRequest, Tx, records::AgentFeedbackRecord,
    },
};

/// Maximum number of entries per site. Older ones are deleted.
pub(in crate::platform) const MAX_FEEDBACK: u32 = 1_000;
/// Maximum number of entries that a server stores per site and minute.
pub(in crate::platform) const MAX_FEEDBACK_PER_MINUTE: u32 = 60;
/// Maximum number of entries per page of the list.
const MAX_LISTED_FEEDBACK: usize = 100;
/// Maximum number of older entries that are deleted with one submission.
const FEEDBACK_EVICTION_BATCH: u32 = 10;
/// The message for the agent.
const RESULT: &str = "The feedback was stored. The maintainers of the site can read it; you get no response.";

/// Recent submissions by site.
#[derive(Debug, Default)]
struct FeedbackRate(WriteRate<SiteId>);

impl<'p> SiteHandle<'p> {
    /// Stores feedback of an AI agent about the site, for readers of the published site.
    ///
    /// The caller is not stored. A site keeps the 1,000 newest entries.
    ///
    /// # Errors
    /// `NotFound` unless the site is published and visible to the actor; `RateLimited` after 60 entries for the site in
    /// a minute.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{model::{OrgId, SiteId}, platform::Caller};
    /// # async fn example(visitor: Caller<'_>, org: &OrgId, site: &SiteId) -> Result<(), Box<dyn std::error::Error>> {
    /// let feedback = serde_json::from_value(serde_json::json!({
    ///     "subject": { "kind": "documentation", "url": "https://docs.example/install" },
    ///     "feedback": { "category": "documentation", "summary": "The command fails on Linux" },
    /// }))?;
    /// println!("{}", visitor.org(org).site(site).submit_agent_feedback(feedback).await?.id);
    /// # Ok(())
    /// # }
    /// ```
    #[boxed]
    pub async fn submit_agent_feedback(self, new: AgentFeedbackInput) -> Result<AgentFeedbackReceipt> {
        self.store_feedback(new, None).await
    }

    /// Stores feedback of an AI agent about a page of the site, like
    /// [`submit_agent_feedback`](Self::submit_agent_feedback).
    ///
    /// The subject is the URL of the page, and the category is `documentation`.
    ///
    /// # Errors
    /// Those of [`submit_agent_feedback`](Self::submit_agent_feedback).
    #[boxed]
    pub async fn submit_agent_feedback_for_page(self, new: SiteAgentFeedbackInput) -> Result<()> {
        let (new, page) = new.into_parts();
        self.store_feedback(new, Some(page)).await?;
        Ok(())
    }

    async fn store_feedback(
        self,
        new: AgentFeedbackInput,
        page: Option<AgentFeedbackPage>,
    ) -> Result<AgentFeedbackReceipt> {
        let (platform, ref actor, at, share_key) = self.parts();
        let of = at.with_share_key(share_key);
        let right = Right::ReadSite(at.org.clone(), at.site.clone(), share_key.map(Into::into));
        let done = platform.idempotent(actor, right, async move {
            let tx = platform.read().await?;
            platform.published_site(&tx, actor, of).await?;
            drop(tx);
            require_rate(platform, at.site)?;
            let record = AgentFeedbackRecord {
                id: platform.id(),
                site: at.site.clone(),
                created_at: platform.now(),
                reported_by: new.reported_by,
                subject: new.subject,
                feedback: new.feedback,
                page,
            };
            let receipt = AgentFeedbackReceipt { id: record.id.clone(), result: RESULT.to_owned() };
            let submit = FeedbackSubmission { platform, actor, of, record };
            let stored =
                platform.write_unaudited_and_show(actor, &submit, |_| ready_answer(Ok(receipt.clone())));
            let shown = stored.await?;
            platform.metrics().add(&AGENT_FEEDBACK, &[submit.record.subject.kind()], 1);
            Ok(shown)
        });
        done.await
    }

    /// Lists the stored feedback of AI agents about the site, newest first, at most 100 entries per page.
    ///
    /// # Errors
    /// `Forbidden` unless the actor manages the site.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{model::{OrgId, SiteId}, platform::Caller, store::PageRequest};
    /// # async fn example(me: Caller<'_>, org: &OrgId, site: &SiteId) -> docs_core::Result<()> {
    /// for entry in me.org(org).site(site).list_agent_feedback(&PageRequest::default()).await?.items {
    ///     println!("{}", entry.feedback.summary);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[boxed]
    pub async fn list_agent_feedback(self, page: &'p PageRequest) -> Result<Page<SiteAgentFeedback>> {
        let (platform, ref actor, at, _) = self.parts();
        let tx = platform.read().await?;
        access::require_site(&tx, actor, at, SiteAction::Manage).await?;
        let prefix = AgentFeedbackRecord::by_site(at.site);
        let spec = ListSpec { rev: true, ..ListSpec::new(tag::AGENT_FEEDBACK, prefix) };
        let mut list = Lister::new(spec, page)?;
        list.at_most(MAX_LISTED_FEEDBACK);
        list.fill(&tx, |_: &AgentFeedbackRecord| true).await?;
        let count = u64::try_from(tx.number(&AgentFeedbackRecord::count_in(at.site)).await?).ok();
        Ok(list.finish(&tx, count).await?.map(|record| view(&record)))
    }
}

/// Checks that the site has not received too much feedback in the current minute.
fn require_rate(platform: &Platform, site: &SiteId) -> Result<()> {
    let rate = platform.inner.memory.get_or_default::<FeedbackRate>();
    match rate.0.admit(site, MAX_FEEDBACK_PER_MINUTE, platform.now().time()) {
        Some(_) => Ok(()),
        None => Err(Error::new(
            ErrorKind::RateLimited,
            format!("a site accepts feedback {MAX_FEEDBACK_PER_MINUTE} times a minute; try again later"),
        )),
    }
}

fn view(record: &AgentFeedbackRecord) -> SiteAgentFeedback {
    SiteAgentFeedback {
        object: AgentFeedbackObject::Is,
        id: record.id.clone(),
        created_at: record.created_at,
        reported_by: record.reported_by.clone(),
        subject: record.subject.clone(),
        feedback: record.feedback.clone(),
        page: record.page.clone(),
    }
}

/// Stores an entry and deletes the oldest ones above [`MAX_FEEDBACK`].
struct FeedbackSubmission<'a> {
    platform: &'a Platform,
    actor: &'a Actor,
    of: SharedSiteRef<'a>,
    record: AgentFeedbackRecord,
}

#[async_trait]
impl Operation for FeedbackSubmission<'_> {
    type Output = ();
    const NAME: &'static str = "agent_feedback_submit";

    fn hot_keys(&self) -> Vec<Key> {
        vec![AgentFeedbackRecord::count_in(&self.record.site)]
    }

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let site = self.platform.published_site(tx, self.actor, self.of).await?;
        let stored = tx.number(&AgentFeedbackRecord::count_in(&site.id)).await?;
        let excess = (stored + 1 - i64::from(MAX_FEEDBACK)).clamp(0, i64::from(FEEDBACK_EVICTION_BATCH));
        if excess > 0 {
            let excess = u32::try_from(excess).map_err(Error::internal)?;
            let oldest = tx.scan_prefix(&AgentFeedbackRecord::by_site(&site.id), excess).await?;
            tx.delete_all::<AgentFeedbackRecord>(&AgentFeedbackRecord::named_by_all(&oldest)).await?;
        }
        tx.create(self.record.clone());
        Ok(())
    }
}
