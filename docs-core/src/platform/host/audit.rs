//! The audit log, which records who changed which resource and when.
//!
//! Entries are written by [`Platform::write`] in the transaction of the operation.

use std::sync::Arc;

use docs_macros::boxed;

use crate::{
    Error, Result,
    model::AuditEntry,
    platform::{
        access,
        kernel::actor::Actor,
        nouns::{Caller, filters::AuditFilter, list_identities},
    },
    policy::OrgAction,
    store::{
        Key, KeyBuf, ListIdentity, ListSpec, Lister, Page, PageRequest, StoreError, Tx, records::AuditRecord,
    },
};

impl AuditFilter {
    /// Prefix of the most selective index that covers all matching entries.
    fn list(&self) -> KeyBuf {
        match (&self.subject, &self.organization, &self.user) {
            (Some(subject), _, _) => AuditRecord::by_record(subject),
            (None, Some(organization), _) => AuditRecord::by_org(organization),
            (None, None, Some(user)) => AuditRecord::by_user(user),
            (None, None, None) => AuditRecord::by_time(),
        }
    }

    fn matches(&self, entry: &AuditRecord) -> bool {
        self.organization.as_ref().is_none_or(|organization| entry.organizations.contains(organization))
            && self.user.as_ref().is_none_or(|user| entry.user.as_ref() == Some(user))
            && self.operation.as_ref().is_none_or(|operation| entry.operation == *operation)
    }
}

impl<'p> Caller<'p> {
    /// Reads the audit log, newest entry first. The platform can read all entries; an administrator, those of their
    /// organization.
    ///
    /// An entry names the operation, its actor and the changed records, but not their content. The entry for a rejected
    /// sign-in contains the reason. With several filters, a page may be shorter than its limit even though a next page
    /// exists.
    ///
    /// # Errors
    /// `Forbidden` for a user without an organization in the filter, or who is not an administrator of it; `NotFound`
    /// if the user is not a member of the organization.
    #[boxed]
    pub async fn audit_log(self, filter: &'p AuditFilter, page: &'p PageRequest) -> Result<Page<AuditEntry>> {
        let (platform, actor) = (self.platform, &self.actor());
        let tx = platform.read().await?;
        match (&filter.organization, actor) {
            (_, Actor::Platform) => {}
            (Some(organization), _) => {
                access::org(&tx, actor, organization).await?.require(OrgAction::Administrate)?;
            }
            (None, Actor::User(_) | Actor::Token(_) | Actor::Visitor(_)) => {
                return Err(Error::forbidden(
                    "only the operator can read the whole log; give an organization",
                ));
            }
        }
        let identity = list_identities::audit_log(filter);
        let found = entries(&tx, filter, identity, page, |_| true).await?;
        let items = found.items.iter().map(|entry| entry.view()).collect();
        Ok(Page { items, next: found.next, count: found.count })
    }
}

/// Returns a page of the entries that match a filter and a condition, newest first.
pub(in crate::platform) async fn entries(
    tx: &Tx,
    filter: &AuditFilter,
    identity: ListIdentity,
    page: &PageRequest,
    is_wanted: impl Fn(&AuditRecord) -> bool,
) -> Result<Page<Arc<AuditRecord>>> {
    let prefix = filter.list();
    let mut list = Lister::new(ListSpec { prefix: prefix.clone(), rev: true, identity }, page)?;
    if let Some(since) = filter.since {
        list.not_below(&prefix.clone().time(since.time()).key());
    }
    if let Some(until) = filter.until {
        list.exclude_from(&prefix.time(until.time()).key());
    }
    while let Some(rows) = list.rows(tx).await? {
        let keys: Vec<Key> = rows.iter().map(|(row, _)| entry_key(row)).collect::<Result<_>>()?;
        let entries = tx.get_many::<AuditRecord>(&keys).await?;
        let matches = |entry: &AuditRecord| filter.matches(entry) && is_wanted(entry);
        list.offer_all(&rows, entries.into_iter().map(|entry| entry.filter(|entry| matches(entry))));
    }
    list.finish(tx, None).await
}

/// Returns the key of the entry that an index row references. The last two segments of both keys are equal.
fn entry_key(row: &Key) -> Result<Key> {
    let mut parts = row.rsplitn(3, '!');
    match (parts.next(), parts.next()) {
        (Some(id), Some(time)) => Ok(format!("{}!{time}!{id}", AuditRecord::by_time().as_str()).into()),
        _ => Err(StoreError::Corrupt(format!("the row `{row}` refers to no entry")).into()),
    }
}
