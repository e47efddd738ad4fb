//! Views of the sources and targets of links.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use crate::{
    ErrorKind, Result,
    content::{Link, LinkSource, LinkTarget, View},
    model::{
        ContentLocation, ContentRef, InternalLocation, OrgId, Organization, ReusableContent, RevisionFile,
        RevisionPage, Space, SpaceId, VersionContext,
    },
    platform::{
        access::{self, AccessResolver},
        content::{files::Bearer, read::ContentOptions},
        kernel::{actor::Actor, platform::Platform},
    },
    policy::SpaceAccess,
    store::{Key, Tx, records::SpaceRecord},
};

/// The content of a space with the views embedded in its locations.
pub(super) struct LocationContext {
    pub(super) organization: Organization,
    pub(super) space: Space,
    pub(super) context: Option<VersionContext>,
    pub(super) record: Arc<SpaceRecord>,
    pub(super) view: View,
    /// The recipient of file URLs.
    pub(super) bearer: Bearer,
}

impl LocationContext {
    /// Returns the target of a link within this content, with its anchor.
    pub(super) fn local_target<'a>(&self, link: &'a Link) -> Option<(LinkTarget, Option<&'a str>)> {
        match &link.reference {
            // An anchor without a page refers to the page that contains the link.
            ContentRef::Anchor { anchor, page: None, space: None } => Some(match &link.source {
                LinkSource::Page(id) => (LinkTarget::Page(id.clone()), Some(anchor)),
                LinkSource::Reusable(id) => (LinkTarget::Reusable(id.clone()), None),
            }),
            reference => match space_target(reference) {
                (space, Some(target)) if space.is_none_or(|id| *id == self.record.id) => {
                    Some((target, reference_anchor(reference)))
                }
                _ => None,
            },
        }
    }
}

/// Returns the space of a reference, if it names one, and the target within it.
pub(super) fn space_target(reference: &ContentRef) -> (Option<&SpaceId>, Option<LinkTarget>) {
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

pub(super) fn reference_anchor(reference: &ContentRef) -> Option<&str> {
    match reference {
        ContentRef::Anchor { anchor, .. } => Some(anchor),
        _ => None,
    }
}

/// View of a link target.
enum TargetView {
    Page(RevisionPage),
    File(RevisionFile),
    Reusable(ReusableContent),
}

/// Views of the link targets in one space or change request.
pub(super) struct LinkTargets(HashMap<LinkTarget, TargetView>);

impl LinkTargets {
    /// Returns `true` if the content has the target.
    pub(super) fn has(&self, target: &LinkTarget) -> bool {
        self.0.contains_key(target)
    }

    /// Returns the location of a target, or `None` if the content does not contain it.
    pub(super) fn location(
        &self,
        frame: &LocationContext,
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
    /// Reads link targets of one space or change request, in one batch per kind.
    pub(super) async fn link_targets(
        &self,
        frame: &LocationContext,
        wanted: BTreeSet<LinkTarget>,
    ) -> Result<LinkTargets> {
        let (mut pages, mut files, mut reusables) = (Vec::new(), Vec::new(), Vec::new());
        for target in wanted {
            match target {
                LinkTarget::Page(id) => pages.push(id),
                LinkTarget::File(id) => files.push(id),
                LinkTarget::Reusable(id) => reusables.push(id),
            }
        }
        let (space, shown) = (&frame.record, ContentOptions::default());
        let mut things = HashMap::new();
        for (id, found) in pages.iter().zip(frame.view.pages_with_paths(&pages).await?) {
            let Some((entry, path)) = found else { continue };
            let page = self.page_view(space, id, &entry, &path, Vec::new(), shown)?;
            things.insert(LinkTarget::Page(id.clone()), TargetView::Page(page));
        }
        for (id, found) in files.iter().zip(frame.view.files_by_id(&files).await?) {
            let Some(entry) = found else { continue };
            let file = self.file_view(space, &frame.bearer, id.clone(), entry, shown)?;
            things.insert(LinkTarget::File(id.clone()), TargetView::File(file));
        }
        for (id, found) in reusables.iter().zip(frame.view.reusables_by_id(&reusables).await?) {
            let Some(entry) = found else { continue };
            let content = self.reusable_view(space, id.clone(), entry, shown)?;
            things.insert(LinkTarget::Reusable(id.clone()), TargetView::Reusable(content));
        }
        Ok(LinkTargets(things))
    }

    /// Reads the live content of the existing spaces that the actor can access.
    pub(super) async fn location_contexts(
        &self,
        tx: &Tx,
        actor: &Actor,
        spaces: Vec<SpaceId>,
    ) -> Result<HashMap<SpaceId, Arc<LocationContext>>> {
        let keys: Vec<Key> = spaces.iter().map(SpaceRecord::key_for).collect();
        let found = tx.get_many::<SpaceRecord>(&keys).await?.into_iter().flatten();
        let mut by_org: BTreeMap<OrgId, Vec<Arc<SpaceRecord>>> = BTreeMap::new();
        for space in found.filter(|space| space.deleted_at.is_none()) {
            by_org.entry(space.organization.clone()).or_default().push(space);
        }
        let mut frames = HashMap::new();
        for (org, spaces) in by_org {
            let Some(mut resolver) = member_resolver(tx, actor, &org).await? else { continue };
            let seen = resolver.spaces(tx, spaces.into_iter().map(Some).collect()).await?;
            let seen: Vec<SpaceAccess> = seen.into_iter().flatten().collect();
            let shown = self.space_views(tx, &seen).await?;
            let Some(organization) = self.organization_view(tx, actor, &resolver).await? else { continue };
            for (access, space) in seen.iter().zip(shown) {
                let record = Arc::clone(access.space());
                let view = self.content().view(&record.domain, record.root);
                let id = record.id.clone();
                let frame = LocationContext {
                    organization: organization.clone(),
                    space,
                    context: None,
                    record,
                    view,
                    bearer: Bearer::for_member(actor)?,
                };
                frames.insert(id, Arc::new(frame));
            }
        }
        Ok(frames)
    }

    /// Reads the organization of a resolver as the actor sees it.
    pub(super) async fn organization_view(
        &self,
        tx: &Tx,
        actor: &Actor,
        resolver: &AccessResolver,
    ) -> Result<Option<Organization>> {
        Ok(self.org_views(tx, actor, std::slice::from_ref(resolver.org())).await?.pop())
    }
}

/// Returns the actor's access to the content of an organization, or `None` if they are not a member.
pub(super) async fn member_resolver(tx: &Tx, actor: &Actor, org: &OrgId) -> Result<Option<AccessResolver>> {
    match access::org(tx, actor, org).await {
        Ok(org) => Ok(Some(AccessResolver::new(org, actor))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
