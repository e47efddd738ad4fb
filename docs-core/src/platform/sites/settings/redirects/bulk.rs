//! Changes of many redirects in one request.

use std::sync::Arc;

use docs_macros::{boxed, operation};

use super::{
    check_new,
    record::{find, put_changed},
    require_parent,
};
use crate::{
    Error, ErrorKind, Result,
    model::{
        BulkRedirectResult, BulkRedirectResults, BulkSiteRedirect, BulkUpsertSiteRedirects, OrgId,
        RedirectDestination, RedirectId, RedirectSource, SiteId, Timestamp, UpsertSiteRedirect,
    },
    platform::{
        access,
        kernel::{actor::Actor, platform::Platform},
        nouns::{Redirects, SiteRef},
        sites::view::VisibleSite,
    },
    policy::SiteAction,
    store::{
        Tx,
        records::{RedirectRecord, linked_id},
    },
};

/// Number of redirects that a transaction changes. Publishing a draft changes up to 15 of a transaction's 2,000 keys.
const REDIRECT_BATCH: usize = 100;

impl<'p> Redirects<'p> {
    /// Creates, changes, deletes and publishes redirects by source. Each change succeeds or fails on its own, and sees
    /// the result of those before it.
    ///
    /// # Errors
    ///
    /// `Forbidden` unless the actor manages the site. A change that is rejected for another reason has the result
    /// `Error`.
    ///
    /// # Cancel safety
    ///
    /// The changes are committed in batches of 100. If the future is dropped, the later batches are not applied. The
    /// request can be repeated.
    #[boxed]
    pub async fn bulk_upsert(self, request: BulkUpsertSiteRedirects) -> Result<BulkRedirectResults> {
        let Self { caller, at: at @ SiteRef { org, site } } = self;
        let (platform, actor) = (caller.platform, &caller.actor());
        let tx = platform.read().await?;
        access::require_site(&tx, actor, at, SiteAction::Manage).await?;
        let opened = platform.load_visible_site(&tx, actor, at.into()).await?;
        drop(tx);
        let mut results = Vec::with_capacity(request.redirects.len());
        for batch in request.redirects.chunks(REDIRECT_BATCH) {
            let mut changes = Vec::with_capacity(batch.len());
            for change in batch {
                changes.push(platform.prepare_change(&opened, change).await?);
            }
            let update = redirects_update(actor, org, site, &changes, platform.now());
            results.extend(platform.write(actor, &update).await?);
        }
        Ok(BulkRedirectResults { results })
    }
}

impl Platform {
    /// Resolves the destination of a change.
    async fn prepare_change(
        &self,
        opened: &VisibleSite,
        change: &BulkSiteRedirect,
    ) -> Result<PreparedChange> {
        let action = match change {
            BulkSiteRedirect::Publish(_) => PreparedAction::Publish,
            BulkSiteRedirect::Upsert(UpsertSiteRedirect { destination: None, .. }) => PreparedAction::Delete,
            BulkSiteRedirect::Upsert(UpsertSiteRedirect {
                destination: Some(destination),
                capture_wildcard,
                permanent,
                ..
            }) => match self.select_destination(self.read().await?, opened, destination.clone()).await {
                Ok(destination) => PreparedAction::Upsert(UpsertFields {
                    destination,
                    capture_wildcard: capture_wildcard.unwrap_or_default(),
                    permanent: *permanent,
                }),
                Err(error) => PreparedAction::Reject(rejection(error)?),
            },
        };
        Ok(PreparedChange {
            id: self.id(),
            source: change.source().clone(),
            draft: change.is_draft(),
            action,
        })
    }
}

/// Returns the message of an error that concerns one change. Other errors concern the whole request.
fn rejection(error: Error) -> Result<String> {
    match error.kind() {
        ErrorKind::Invalid | ErrorKind::Conflict | ErrorKind::NotFound => Ok(error.message().to_owned()),
        _ => Err(error),
    }
}

/// A change of a redirect whose destination is resolved.
struct PreparedChange {
    /// The id of the redirect if it is created.
    id: RedirectId,
    source: RedirectSource,
    draft: bool,
    action: PreparedAction,
}

enum PreparedAction {
    Publish,
    Upsert(UpsertFields),
    Delete,
    /// The destination was rejected, with this message.
    Reject(String),
}

struct UpsertFields {
    destination: RedirectDestination,
    capture_wildcard: bool,
    /// `None` keeps the value of an existing redirect.
    permanent: Option<bool>,
}

#[operation("redirects_change")]
async fn redirects_update(
    tx: &mut Tx,
    actor: &Actor,
    org: &OrgId,
    site: &SiteId,
    changes: &[PreparedChange],
    now: Timestamp,
) -> Result<Vec<BulkRedirectResult>> {
    access::require_site(tx, actor, SiteRef { org, site }, SiteAction::Manage).await?;
    let mut results = Vec::with_capacity(changes.len());
    for change in changes {
        // A rejected change has written nothing.
        results.push(match apply_change(tx, site, change, now).await {
            Ok(result) => result,
            Err(error) => BulkRedirectResult::Error {
                source: change.source.clone(),
                draft: change.draft,
                error: rejection(error)?,
            },
        });
    }
    Ok(results)
}

async fn apply_change(
    tx: &mut Tx,
    site: &SiteId,
    change: &PreparedChange,
    now: Timestamp,
) -> Result<BulkRedirectResult> {
    let PreparedChange { source, draft, .. } = change;
    let (source, draft) = (source.clone(), *draft);
    match &change.action {
        PreparedAction::Reject(error) => {
            Ok(BulkRedirectResult::Error { source, draft, error: error.clone() })
        }
        PreparedAction::Delete => {
            if let Some(old) = find_source(tx, site, &source, draft).await? {
                tx.delete(&*old);
            }
            Ok(BulkRedirectResult::Deleted { source, draft })
        }
        PreparedAction::Upsert(fields) => upsert(tx, site, change, fields, now).await,
        PreparedAction::Publish => {
            let id = publish(tx, site, &source, now).await?;
            Ok(BulkRedirectResult::Published { source, draft, id })
        }
    }
}

async fn upsert(
    tx: &mut Tx,
    site: &SiteId,
    change: &PreparedChange,
    fields: &UpsertFields,
    now: Timestamp,
) -> Result<BulkRedirectResult> {
    let PreparedChange { id, source, draft, .. } = change;
    let old = find_source(tx, site, source, *draft).await?;
    let new = RedirectRecord {
        id: old.as_ref().map_or(id, |old| &old.id).clone(),
        site: site.clone(),
        source: source.clone(),
        destination: fields.destination.clone(),
        created_at: old.as_ref().map_or(now, |old| old.created_at),
        updated_at: old.as_ref().and_then(|old| old.updated_at),
        draft: *draft,
        capture_wildcard: fields.capture_wildcard,
        permanent: fields.permanent.unwrap_or(old.as_ref().is_some_and(|old| old.permanent)),
    };
    let (source, draft) = (source.clone(), *draft);
    let Some(old) = old else {
        check_new(tx, &new).await?;
        tx.create(new);
        return Ok(BulkRedirectResult::Created { source, draft, id: id.clone() });
    };
    require_parent(tx, &new).await?;
    put_changed(tx, &old, new, now)?;
    Ok(BulkRedirectResult::Updated { source, draft, id: old.id.clone() })
}

/// Makes a draft live, in place of the live redirect with its source. Returns the id of the live redirect.
async fn publish(tx: &mut Tx, site: &SiteId, source: &RedirectSource, now: Timestamp) -> Result<RedirectId> {
    let draft = find_source(tx, site, source, true).await?;
    let draft = draft.ok_or_else(|| Error::invalid("source", "the site has no draft with this source"))?;
    let Some(live) = find_source(tx, site, source, false).await? else {
        put_changed(tx, &draft, RedirectRecord { draft: false, ..RedirectRecord::clone(&draft) }, now)?;
        return Ok(draft.id.clone());
    };
    tx.delete(&*draft);
    let new = RedirectRecord {
        id: live.id.clone(),
        draft: false,
        created_at: live.created_at,
        updated_at: live.updated_at,
        ..RedirectRecord::clone(&draft)
    };
    put_changed(tx, &live, new, now)?;
    Ok(live.id.clone())
}

/// Returns the live redirect or the draft with a source.
async fn find_source(
    tx: &Tx,
    site: &SiteId,
    source: &RedirectSource,
    draft: bool,
) -> Result<Option<Arc<RedirectRecord>>> {
    let source = source.normalized();
    let key = match draft {
        true => RedirectRecord::by_draft_source(site, &source),
        false => RedirectRecord::by_source(site, &source),
    };
    let Some(id) = tx.get_value(&key).await? else { return Ok(None) };
    find(tx, site, &linked_id(&id)?).await.map(Some)
}
