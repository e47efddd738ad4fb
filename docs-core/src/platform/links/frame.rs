//! What links stand in and lead to, as it is shown.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use crate::{
    Result,
    content::{Link, LinkSource, LinkTarget, View},
    model::{
        ContentLocation, ContentRef, InternalLocation, Organization, ReusableContent, RevisionFile,
        RevisionPage, Space, VersionContext,
    },
    platform::{Platform, content::Shown, files::Bearer},
    store::records::SpaceRecord,
};

/// A space's content, and what is shown around everything in it.
pub(super) struct Frame {
    pub(super) organization: Organization,
    pub(super) space: Space,
    pub(super) context: Option<VersionContext>,
    pub(super) record: Arc<SpaceRecord>,
    pub(super) view: View,
    /// For whom addresses of files are made.
    pub(super) bearer: Bearer,
}

impl Frame {
    /// What a link leads to within this content, and the place on it.
    pub(super) fn target_of<'a>(&self, link: &'a Link) -> Option<(LinkTarget, Option<&'a str>)> {
        match &link.reference {
            // A place without a page is one of the page it stands on.
            ContentRef::Anchor { anchor, page: None, space: None } => Some(match &link.source {
                LinkSource::Page(id) => (LinkTarget::Page(id.clone()), Some(anchor)),
                LinkSource::Reusable(id) => (LinkTarget::Reusable(id.clone()), None),
            }),
            reference => match thing_in(reference) {
                (space, Some(target)) if space.is_none_or(|id| *id == self.record.id) => {
                    Some((target, anchor_of(reference)))
                }
                _ => None,
            },
        }
    }
}

/// The space that a reference names, and the thing in it.
pub(super) fn thing_in(reference: &ContentRef) -> (Option<&crate::model::SpaceId>, Option<LinkTarget>) {
    match reference {
        ContentRef::File { file } => (None, Some(LinkTarget::File(file.clone()))),
        ContentRef::Page { page, space } => (space.as_ref(), Some(LinkTarget::Page(page.clone()))),
        ContentRef::Anchor { page, space, .. } => (space.as_ref(), page.clone().map(LinkTarget::Page)),
        ContentRef::ReusableContent { reusable_content, space } => {
            (space.as_ref(), Some(LinkTarget::Reusable(reusable_content.clone())))
        }
        ContentRef::Space { space } => (Some(space), None),
        ContentRef::Url { .. }
        | ContentRef::User { .. }
        | ContentRef::Collection { .. }
        | ContentRef::OpenApi { .. } => (None, None),
    }
}

pub(super) fn anchor_of(reference: &ContentRef) -> Option<&str> {
    match reference {
        ContentRef::Anchor { anchor, .. } => Some(anchor),
        _ => None,
    }
}

/// A thing of some content, as it is shown.
enum TargetView {
    Page(RevisionPage),
    File(RevisionFile),
    Reusable(ReusableContent),
}

/// Things of one content.
pub(super) struct Things(HashMap<LinkTarget, TargetView>);

impl Things {
    /// Tells whether the content has a thing.
    pub(super) fn has(&self, target: &LinkTarget) -> bool {
        self.0.contains_key(target)
    }

    /// Where a thing is; `None` for one that the content does not have.
    pub(super) fn location(
        &self,
        frame: &Frame,
        target: &LinkTarget,
        anchor: Option<&str>,
    ) -> Option<ContentLocation> {
        let organization = Box::new(frame.organization.clone());
        let space = Box::new(frame.space.clone());
        let version_context = frame.context.clone();
        Some(match self.0.get(target)? {
            TargetView::Page(page) => ContentLocation::Page {
                organization,
                space,
                version_context,
                page: Box::new(page.clone()),
                internal_location: anchor.map(|it| InternalLocation::Anchor { anchor: it.to_owned() }),
            },
            TargetView::File(file) => {
                ContentLocation::File { organization, space, version_context, file: Box::new(file.clone()) }
            }
            TargetView::Reusable(content) => ContentLocation::ReusableContent {
                organization,
                space,
                version_context,
                reusable_content: content.clone(),
            },
        })
    }
}

impl Platform {
    /// Reads things of some content: one batch for each class of them.
    pub(super) async fn things(&self, frame: &Frame, wanted: BTreeSet<LinkTarget>) -> Result<Things> {
        let (mut pages, mut files, mut reusables) = (Vec::new(), Vec::new(), Vec::new());
        for target in wanted {
            match target {
                LinkTarget::Page(id) => pages.push(id),
                LinkTarget::File(id) => files.push(id),
                LinkTarget::Reusable(id) => reusables.push(id),
            }
        }
        let (space, shown) = (&frame.record, Shown::default());
        let mut things = HashMap::new();
        for (id, found) in pages.iter().zip(frame.view.pages_with_paths(&pages).await?) {
            let Some((entry, path)) = found else { continue };
            let page = self.page_view(space, (id, &entry, &path), Vec::new(), shown)?;
            things.insert(LinkTarget::Page(id.clone()), TargetView::Page(page));
        }
        for (id, found) in files.iter().zip(frame.view.files_by_id(&files).await?) {
            let Some(entry) = found else { continue };
            let file = self.file_view((space, &frame.bearer), id.clone(), entry, shown)?;
            things.insert(LinkTarget::File(id.clone()), TargetView::File(file));
        }
        for (id, found) in reusables.iter().zip(frame.view.reusables_by_id(&reusables).await?) {
            let Some(entry) = found else { continue };
            let content = self.reusable_view(space, id.clone(), entry, shown)?;
            things.insert(LinkTarget::Reusable(id.clone()), TargetView::Reusable(content));
        }
        Ok(Things(things))
    }
}
