//! Findings about the content of a site: the broken targets of the links in its spaces.
//!
//! Findings are derived from the live content at each request. Only the statuses that users set are stored.

mod examination;
pub(super) mod statuses;
mod view;

use docs_macros::boxed;

use self::{
    examination::{Examination, Finding},
    statuses::findings_update,
};
use crate::{
    Error, Result,
    model::{
        ChangeRequest, ContextRecord, SiteFinding, SiteFindingId, SiteFindingList, SiteFindingOrder,
        SiteFindingPage, SiteFindingSeverity, SiteFindingStats, SiteFindingStatus, SiteQuestion,
        UpdateSiteFinding,
    },
    platform::nouns::{
        SiteFindingHandle, SiteFindings, SiteRef,
        filters::SiteFindingFilter,
        list_identities::{self, tag},
    },
    store::{Key, KeyBuf, ListSpec, Lister, Page, PageRequest},
};

/// The prefix of the positions in lists of findings.
const POSITIONS: &str = "finding";

impl<'p> SiteFindings<'p> {
    /// Lists the findings of a site that match the filter, in its order.
    ///
    /// Findings cover the live content of the spaces of the site that the actor can read, except drafts, whether the
    /// site is published or not.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` unless the actor manages the site.
    #[boxed]
    pub async fn list(self, filter: &'p SiteFindingFilter, page: &'p PageRequest) -> Result<SiteFindingList> {
        let (platform, ref actor, at) = self.parts();
        let examination = platform.examine_site(actor, at).await?;
        let mut found: Vec<(Key, &Finding)> =
            examination.matching(filter).map(|finding| (position(finding, filter.order), finding)).collect();
        found.sort_by(|a, b| a.0.cmp(&b.0));
        let identity = list_identities::site_findings(at.site, filter);
        let spec = ListSpec { prefix: KeyBuf::new(POSITIONS), rev: false, identity };
        let count = Some(found.len() as u64);
        let Page { items, next, .. } = Lister::new(spec, page)?.pick(found);
        let items = platform.finding_views(at, &examination, &items).await?;
        Ok(SiteFindingList::new(Page { items, next, count }.into(), examination.is_complete))
    }

    /// Counts the findings of a site that match the filter.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` unless the actor manages the site.
    #[boxed]
    pub async fn stats(self, filter: &'p SiteFindingFilter) -> Result<SiteFindingStats> {
        let (platform, ref actor, at) = self.parts();
        let examination = platform.examine_site(actor, at).await?;
        let mut stats = SiteFindingStats { complete: examination.is_complete, ..SiteFindingStats::default() };
        for finding in examination.matching(filter) {
            stats.total += 1;
            match finding.status {
                SiteFindingStatus::Candidate | SiteFindingStatus::Open => stats.statuses.open += 1,
                SiteFindingStatus::Done => stats.statuses.done += 1,
                SiteFindingStatus::Canceled => stats.statuses.canceled += 1,
            }
            match finding.severity {
                SiteFindingSeverity::Low => stats.severities.low += 1,
                SiteFindingSeverity::Medium => stats.severities.medium += 1,
                SiteFindingSeverity::High => stats.severities.high += 1,
            }
        }
        Ok(stats)
    }
}

impl<'p> SiteFindingHandle<'p> {
    /// Reads a finding.
    ///
    /// # Errors
    /// `NotFound`, also after its links were repaired or deleted; `Forbidden` unless the actor manages the site.
    #[boxed]
    pub async fn get(self) -> Result<SiteFinding> {
        let (platform, ref actor, at, id) = self.parts();
        let examination = platform.examine_site(actor, at).await?;
        platform.finding_view(at, &examination, examination.find(id)?).await
    }

    /// Sets the status of a finding. It does not depend on the status that the finding has.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` unless the actor manages the site; `Conflict` if too many findings of the site are done
    /// or canceled.
    ///
    /// # Cancel safety
    /// Dropping the future before its commit changes nothing.
    #[boxed]
    pub async fn update(self, change: UpdateSiteFinding) -> Result<SiteFinding> {
        let (platform, ref actor, at @ SiteRef { org, site }, id) = self.parts();
        let examination = platform.examine_site(actor, at).await?;
        let finding = examination.find(id)?;
        let shown = platform.finding_view(at, &examination, finding).await?;
        let change = examination.status_change(finding, change.status, platform.now());
        let update = findings_update(actor, org, site, &change);
        platform
            .change_and_show(actor, &update, |seen| {
                Box::pin(statuses::with_current_status(seen.tx, actor, at, &shown))
            })
            .await
    }

    /// Lists the pages with links to the target of a finding, by id.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` unless the actor manages the site.
    #[boxed]
    pub async fn list_pages(self, page: &'p PageRequest) -> Result<Page<SiteFindingPage>> {
        let (platform, ref actor, at, id) = self.parts();
        let examination = platform.examine_site(actor, at).await?;
        let finding = examination.find(id)?;
        let prefix = KeyBuf::new(POSITIONS);
        let rows = finding.target.pages.iter().map(|page| (prefix.clone().part(page.as_str()).key(), page));
        let identity = list_identities::of_site_finding(tag::SITE_FINDING_PAGES, at.site, id);
        let spec = ListSpec { prefix: prefix.clone(), rev: false, identity };
        let Page { items, next, .. } = Lister::new(spec, page)?.pick(rows);
        let items = view::pages(&examination, finding, items.into_iter().cloned().collect()).await?;
        Ok(Page { items, next, count: Some(finding.target.pages.len() as u64) })
    }

    /// Lists the questions of readers that are evidence for a finding. There are none.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` unless the actor manages the site.
    #[boxed]
    pub async fn list_questions(self, page: &'p PageRequest) -> Result<Page<SiteQuestion>> {
        self.list_nothing(tag::SITE_FINDING_QUESTIONS, page).await
    }

    /// Lists the records that are evidence for a finding. There are none.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` unless the actor manages the site.
    #[boxed]
    pub async fn list_records(self, page: &'p PageRequest) -> Result<Page<ContextRecord>> {
        self.list_nothing(tag::SITE_FINDING_RECORDS, page).await
    }

    /// Lists the change requests that were created for a finding. There are none.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` unless the actor manages the site.
    #[boxed]
    pub async fn list_change_requests(self, page: &'p PageRequest) -> Result<Page<ChangeRequest>> {
        self.list_nothing(tag::SITE_FINDING_CHANGE_REQUESTS, page).await
    }

    /// Returns the empty list with this tag of an existing finding.
    async fn list_nothing<T>(self, tag: &str, page: &PageRequest) -> Result<Page<T>> {
        let (platform, ref actor, at, id) = self.parts();
        platform.examine_site(actor, at).await?.find(id)?;
        let identity = list_identities::of_site_finding(tag, at.site, id);
        let spec = ListSpec { prefix: KeyBuf::new(POSITIONS), rev: false, identity };
        Ok(Page { count: Some(0), ..Lister::new(spec, page)?.pick([]) })
    }
}

/// Returns the position of a finding in a list.
fn position(finding: &Finding, order: SiteFindingOrder) -> Key {
    let key = KeyBuf::new(POSITIONS);
    let key = match (order, finding.severity) {
        (SiteFindingOrder::UpdatedAt | SiteFindingOrder::Sources, _) => key,
        (SiteFindingOrder::Severity, SiteFindingSeverity::High) => key.number(0),
        (SiteFindingOrder::Severity, SiteFindingSeverity::Medium) => key.number(1),
        (SiteFindingOrder::Severity, SiteFindingSeverity::Low) => key.number(2),
    };
    let millis = u64::try_from(finding.updated_at.time().timestamp_millis()).unwrap_or_default();
    key.number(u64::MAX - millis).part(finding.id.as_str()).key()
}

impl Examination {
    fn matching(&self, filter: &SiteFindingFilter) -> impl Iterator<Item = &Finding> {
        let matches = |it: &&Finding| filter.matches(it.status, it.severity, it.updated_at);
        self.findings.iter().filter(matches)
    }

    fn find(&self, id: &SiteFindingId) -> Result<&Finding> {
        let found = self.findings.iter().find(|finding| finding.id == *id);
        found.ok_or_else(|| Error::not_found("finding"))
    }
}
