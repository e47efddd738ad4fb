//! Reverts a page, or some of its blocks, to an earlier state.

use std::sync::Arc;

use crate::{
    Error, Result,
    content::{Edit, NewBody, Rendering, View, document},
    model::{PageId, RevertPageChange, RevisionId},
    platform::kernel::platform::Platform,
    store::{
        Hash,
        records::{ChangeRequestRecord, RevisionRecord, SpaceRecord},
    },
};

/// Returns the edit of a revert, applied after the preceding edits of the same request.
pub(super) async fn edit(
    platform: &Platform,
    space: &SpaceRecord,
    request: &ChangeRequestRecord,
    revert: &RevertPageChange,
    view: &View,
    before: &[Edit],
) -> Result<Edit> {
    let page: PageId = revert.page.parse().map_err(|_| Error::invalid("page", "no such page"))?;
    let to = root(platform, request, revert).await?;
    let Some(blocks) = &revert.block else { return Ok(Edit::RevertPage { page, to }) };
    let current = current(view, before, &page).await?;
    let base = platform.content().view(&space.domain, to);
    let base = text(&base, &page).await?.unwrap_or_else(|| "".into());
    let reverted = document::revert_blocks(&current, &base, blocks)
        .map_err(|error| Error::invalid(&error.place, error.message))?;
    Ok(Edit::SetBody { page, body: NewBody::Text(reverted) })
}

/// Returns the root of the content to revert to.
async fn root(platform: &Platform, request: &ChangeRequestRecord, revert: &RevertPageChange) -> Result<Hash> {
    let Some(revision) = &revert.revision else { return Ok(request.base_root) };
    let unknown = || Error::invalid("revision", "the space has no such revision");
    let id: RevisionId = revision.parse().map_err(|_| unknown())?;
    let record: Option<Arc<RevisionRecord>> =
        platform.read().await?.get(&RevisionRecord::key_for(&request.space, &id)).await?;
    Ok(record.ok_or_else(unknown)?.root)
}

async fn text(view: &View, page: &PageId) -> Result<Option<Arc<str>>> {
    let Some(entry) = view.page(page).await? else { return Ok(None) };
    Ok(Some(view.text(&entry.body, Rendering::Request).await?))
}

/// Returns the current text of the page: as written by an earlier change of the same request, otherwise from the change
/// request.
async fn current(view: &View, before: &[Edit], page: &PageId) -> Result<Arc<str>> {
    let written = before.iter().rev().find_map(|edit| match edit {
        Edit::SetBody { page: of, body } if of == page => Some(Some(body)),
        Edit::InsertPage(new) if new.id == *page => Some(Some(&new.body)),
        Edit::RevertPage { page: of, .. } if of == page => Some(None),
        _ => None,
    });
    match written {
        Some(Some(NewBody::Text(text))) => Ok(text.as_str().into()),
        Some(_) => Err(Error::invalid(
            "block",
            "an earlier change of the request already reverts the whole \
                                                page",
        )),
        None => text(view, page).await?.ok_or_else(|| Error::invalid("page", "no such page")),
    }
}
