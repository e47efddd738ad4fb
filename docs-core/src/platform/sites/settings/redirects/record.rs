//! Reads and changes of redirects, and their errors.

use std::sync::Arc;

use crate::{
    Error, Result,
    model::{RedirectDestination, RedirectId, SiteId, SiteRedirect, SiteRedirectObject, Timestamp},
    store::{Tx, records::RedirectRecord},
};

pub(super) fn missing_redirect() -> Error {
    Error::not_found("redirect")
}

pub(super) fn view(redirect: &RedirectRecord) -> SiteRedirect {
    SiteRedirect {
        object: SiteRedirectObject::Is,
        id: redirect.id.clone(),
        source: redirect.source.clone(),
        draft: redirect.draft,
        capture_wildcard: redirect.capture_wildcard,
        permanent: redirect.permanent,
        destination: redirect.destination.clone(),
        created_at: redirect.created_at,
        updated_at: redirect.updated_at,
    }
}

pub(super) async fn find(tx: &Tx, site: &SiteId, id: &RedirectId) -> Result<Arc<RedirectRecord>> {
    let redirect: Option<Arc<RedirectRecord>> = tx.get(&RedirectRecord::key_for(id)).await?;
    redirect.filter(|redirect| redirect.site == *site).ok_or_else(missing_redirect)
}

/// Stores a redirect. If it differs from the old one, it gets the time of the change.
pub(super) fn put_changed(
    tx: &mut Tx,
    old: &Arc<RedirectRecord>,
    mut new: RedirectRecord,
    now: Timestamp,
) -> Result<Arc<RedirectRecord>> {
    if new == **old {
        return Ok(Arc::clone(old));
    }
    new.updated_at = Some(now.later_than(new.updated_at.unwrap_or(new.created_at)));
    Ok(tx.put(&**old, new)?)
}

pub(super) fn unknown_destination(destination: &RedirectDestination) -> Error {
    match destination {
        RedirectDestination::SiteSection { .. } => {
            Error::invalid("destination.siteSectionId", "the site has no such section")
        }
        RedirectDestination::SiteSpace { .. } | RedirectDestination::SitePage { .. } => {
            Error::invalid("destination.siteSpaceId", "the site has no such site space")
        }
        RedirectDestination::External { .. } => Error::invalid("destination.url", "must be a web URL"),
    }
}
