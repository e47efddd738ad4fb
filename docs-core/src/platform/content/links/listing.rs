//! Link lists: the revision they are bound to, and their rows.

use std::collections::HashSet;

use super::{location::LocationContext, wrong_cursor};
use crate::{
    Error, Result,
    content::{Link, LinkRange, LinkSource, LinkState, LinkTarget, View},
    model::{LinkStatus, RevisionId},
    platform::kernel::platform::Platform,
    store::{CursorFingerprint, Hash, Key, records::ChangeRequestRecord, seal_cursor},
};

/// One page of a list of the links in a revision.
pub(super) struct Listing {
    pub(super) frame: LocationContext,
    pub(super) view: View,
    pub(super) revision: RevisionId,
    /// The revision that the change request is based on.
    pub(super) base: Option<(RevisionId, Hash)>,
    pub(super) after: Option<String>,
    pub(super) limit: usize,
    pub(super) fingerprint: CursorFingerprint,
}

impl Listing {
    pub(super) fn cursor(&self, position: &str) -> String {
        let base = self.base.as_ref().map(|(id, _)| format!("{id}!")).unwrap_or_default();
        seal_cursor(&format!("{}!{base}{position}", self.revision), self.fingerprint)
    }

    /// Returns the links that are new in the request or have a different status there. Empty for a space.
    pub(super) async fn changed_links(
        &self,
        platform: &Platform,
        source: Option<&LinkSource>,
    ) -> Result<Vec<(Key, Link)>> {
        let Some((_, base)) = &self.base else { return Ok(Vec::new()) };
        let domain = &self.frame.record.domain;
        Ok(platform.content().changed_links(domain, *base, self.view.root(), source).await?)
    }

    /// Returns `NotFound` if the content does not contain the target.
    pub(super) async fn require(&self, target: &LinkTarget) -> Result<()> {
        let (there, noun) = match target {
            LinkTarget::Page(id) => (self.view.page(id).await?.is_some(), "page"),
            LinkTarget::File(id) => (self.view.file(id).await?.is_some(), "file"),
            LinkTarget::Reusable(id) => (self.view.reusable(id).await?.is_some(), "reusable content"),
        };
        if there { Ok(()) } else { Err(Error::not_found(noun)) }
    }
}

/// Payload of a cursor: a revision, the base of a change request, and the last position.
pub(super) struct CursorPlace {
    pub(super) revision: RevisionId,
    pub(super) base: Option<RevisionId>,
    pub(super) after: Option<String>,
}

impl CursorPlace {
    pub(super) fn read(text: &str, request: Option<&ChangeRequestRecord>) -> Result<Self> {
        let (revision, rest) = text.split_once('!').ok_or_else(wrong_cursor)?;
        let (base, after) = if request.is_some() {
            let (base, after) = rest.split_once('!').ok_or_else(wrong_cursor)?;
            (Some(base.parse().map_err(|_| wrong_cursor())?), after)
        } else {
            (None, rest)
        };
        let revision = revision.parse().map_err(|_| wrong_cursor())?;
        Ok(Self { revision, base, after: Some(after.to_owned()) })
    }
}

/// Source of the rows of a list, in key order.
pub(super) enum LinkRows<'a> {
    /// A revision: all links, or those of one source.
    Revision(&'a View, Option<LinkSource>),
    /// Links of a revision except those with these keys.
    Inherited(&'a View, HashSet<Key>),
    Listed(Vec<(Key, Link)>),
}

impl LinkRows<'_> {
    pub(super) async fn read_after(
        &self,
        status: Option<LinkStatus>,
        after: Option<&str>,
        wanted: usize,
    ) -> Result<Vec<(Key, Link)>> {
        let (view, source) = match self {
            Self::Listed(rows) => {
                let start = after.map_or(0, |after| rows.partition_point(|(key, _)| **key <= *after));
                return Ok(rows.iter().skip(start).take(wanted).cloned().collect());
            }
            Self::Revision(view, source) => (view, source.clone()),
            Self::Inherited(view, _) => (view, None),
        };
        let mut out = Vec::new();
        for standing in stored_statuses(status) {
            let range = LinkRange { standing: *standing, source: source.clone() };
            out.extend(view.links(&range, after, wanted - out.len()).await?);
            if out.len() == wanted {
                break;
            }
        }
        Ok(out)
    }

    pub(super) fn includes(&self, key: &Key) -> bool {
        match self {
            Self::Inherited(_, changed) => !changed.contains(key),
            Self::Revision(..) | Self::Listed(_) => true,
        }
    }
}

/// Returns the stored states that links with a status can have.
pub(super) const fn stored_statuses(status: Option<LinkStatus>) -> &'static [LinkState] {
    match status {
        None => &LinkState::ALL,
        Some(LinkStatus::Broken) => &[LinkState::Broken, LinkState::Anchor, LinkState::Outside],
        Some(LinkStatus::Ok) => &[LinkState::Inside, LinkState::Anchor, LinkState::Outside, LinkState::Web],
        Some(LinkStatus::InApp) => &[LinkState::Web],
    }
}
