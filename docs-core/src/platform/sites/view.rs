//! API views of sites.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{
    Result,
    model::{
        Condition, ExternalLinkObject, SectionGroupId, SectionGroupObject, SectionId, SectionObject, Site,
        SiteExternalLink, SiteId, SiteObject, SitePermissions, SiteProxy, SiteSection, SiteSectionGroup,
        SiteSectionUrls, SiteSpace, SiteSpaceId, SiteSpaceObject, SiteSpaceUrls, SiteStructure,
        SiteStructureNode, SiteUrls, Space, SpaceId,
    },
    platform::{
        access::AccessResolver,
        kernel::{
            actor::{Actor, Visitor},
            platform::Platform,
            urls::Urls,
        },
        publishing::{
            outline::{LiveSpaces, OutlineNode, OutlinePart, SharedSite, SiteOutline},
            placement::Placement,
            share_links::SharedLink,
            visitors::{ContentReader, VisitorClaims},
        },
    },
    policy::{OrgAccess, SpaceAccess},
    store::{
        Key, Tx,
        records::{
            ExternalLinkRecord, SectionGroupRecord, SectionRecord, SiteRecord, SiteSpaceRecord, SpaceRecord,
        },
    },
};

impl Platform {
    /// Builds the views of sites. All counters are read at once.
    pub(super) async fn site_views(
        &self,
        tx: &Tx,
        sites: &[(SharedSite, SitePermissions)],
    ) -> Result<Vec<Site>> {
        let keys: Vec<Key> = sites.iter().map(|(site, _)| SiteSpaceRecord::count_in(&site.id)).collect();
        let counts = tx.numbers(&keys).await?;
        let views = sites.iter().zip(counts);
        Ok(views.map(|((site, permissions), count)| self.site_view(site, *permissions, count)).collect())
    }

    fn site_view(&self, site: &SiteRecord, permissions: SitePermissions, spaces: i64) -> Site {
        let (location, app) = self.urls().site(&site.organization, &site.id);
        let published = self.urls().published(site.basename.as_str());
        Site {
            object: SiteObject::Is,
            id: site.id.clone(),
            kind: site.kind,
            applied_type: site.kind,
            title: site.title.clone(),
            icon: site.icon.clone(),
            hostname: site.hostname.clone(),
            basename: Some(site.basename.clone()),
            proxy: site
                .proxy
                .as_ref()
                .map(|origin| SiteProxy { origin: origin.clone(), target: published.clone() }),
            visibility: site.visibility,
            published: site.published,
            site_spaces: u64::try_from(spaces).unwrap_or(0),
            default_space: None,
            created_at: site.created_at,
            adaptive_content: site.adaptive_content,
            agents_context: site.agents_context,
            default_level: site.default_level.stated(),
            permissions,
            features: Vec::new(),
            urls: SiteUrls {
                location,
                app,
                published: site.published.then_some(published),
                preview: self.urls().preview_below(&site.id, &[]),
            },
        }
    }

    /// Returns the visible part of a site: the given site spaces whose spaces are visible to the reader. Deleted spaces
    /// are omitted.
    pub(in crate::platform) async fn view_places<'a>(
        &self,
        tx: &Tx,
        opened: &'a VisibleSite,
        places: &[SiteSpaceId],
    ) -> Result<SiteView<'a>> {
        let places: Vec<_> = places.iter().filter_map(|id| opened.outline.place(id)).collect();
        let ids: BTreeSet<&SpaceId> = places.iter().map(|place| &place.space).collect();
        let live = ids.into_iter().map(|id| opened.spaces.get(id).cloned());
        let mut public = None;
        let mut shown = match &opened.viewer {
            Viewer::Member(org, actor) => {
                let access = AccessResolver::new(org.clone(), actor).spaces(tx, live.collect()).await?;
                let access: Vec<_> = access.into_iter().flatten().collect();
                let mut shown = self.space_views(tx, &access).await?;
                public = self.add_public(tx, opened, &places, &mut shown).await?;
                shown
            }
            Viewer::Visitor(_) => {
                let url = |segments: &[&str]| opened.url(self.urls(), segments);
                let outline = &opened.outline;
                live.flatten()
                    .filter_map(|space| {
                        self.published_space_view(&opened.site, outline, &places, space, &url)
                    })
                    .collect()
            }
        };
        shown.iter_mut().for_each(|space| opened.link.add_key_to_space(space));
        let shown: BTreeMap<&SpaceId, &Space> = shown.iter().map(|space| (&space.id, space)).collect();
        let seen = |place: &Arc<SiteSpaceRecord>| {
            Some((place.id.clone(), Space::clone(shown.get(&place.space).copied()?)))
        };
        let spaces = places.into_iter().filter_map(seen).collect();
        let parts = opened.outline.clone();
        Ok(SiteView { urls: self.urls().clone(), opened, parts, spaces, public })
    }

    /// Adds the spaces of a published site that a member has no role on, but sees as non-members do.
    async fn add_public(
        &self,
        tx: &Tx,
        opened: &VisibleSite,
        places: &[&Arc<SiteSpaceRecord>],
        shown: &mut Vec<Space>,
    ) -> Result<Option<PublicSpaces>> {
        let known: BTreeSet<&SpaceId> = shown.iter().map(|space| &space.id).collect();
        let others: Vec<_> = places.iter().copied().filter(|place| !known.contains(&place.space)).collect();
        if others.is_empty() || !opened.site.published {
            return Ok(None);
        }
        let visit = self.visit(tx, &Visitor::non_member(None), Arc::clone(&opened.site)).await?;
        let Some(visit) = visit else { return Ok(None) };
        let others: Vec<_> =
            others.into_iter().filter(|place| visit.outline.place(&place.id).is_some()).collect();
        let ids: BTreeSet<&SpaceId> = others.iter().map(|place| &place.space).collect();
        let spaces = ids.into_iter().filter_map(|id| visit.spaces.get(id).cloned());
        let url = |segments: &[&str]| opened.url(self.urls(), segments);
        shown.extend(spaces.filter_map(|space| {
            self.published_space_view(&visit.site, &visit.outline, &others, space, &url)
        }));
        let spaces = others.iter().map(|place| place.space.clone()).collect();
        Ok(Some(PublicSpaces { spaces, claims: visit.claims }))
    }

    /// Builds the visitor view of a space at the first of these placements that contains the space.
    fn published_space_view(
        &self,
        site: &SharedSite,
        outline: &SiteOutline,
        places: &[&Arc<SiteSpaceRecord>],
        space: Arc<SpaceRecord>,
        url: &dyn Fn(&[&str]) -> String,
    ) -> Option<Space> {
        let place = places.iter().find(|place| place.space == space.id)?;
        let placement = Placement { site: Arc::clone(site), url: url(&outline.place_segments(place)) };
        Some(self.visitor_space_view(&SpaceAccess::for_visitor(space), &placement))
    }
}

/// The parts of a site visible to a reader.
#[derive(Debug)]
pub(in crate::platform) struct VisibleSite {
    pub(in crate::platform) site: SharedSite,
    pub(in crate::platform) outline: SiteOutline,
    /// The spaces that are not deleted.
    pub(in crate::platform) spaces: LiveSpaces,
    pub(in crate::platform) viewer: Viewer,
    pub(in crate::platform) permissions: SitePermissions,
    /// The share link of the request. Published URLs contain its key.
    pub(in crate::platform) link: SharedLink,
    /// `true` for a preview, whose URLs replace the published ones.
    pub(in crate::platform) is_preview: bool,
}

impl VisibleSite {
    /// Returns `true` if the reader may render the site.
    pub(in crate::platform) fn is_rendered(&self) -> bool {
        self.site.published || self.is_preview
    }

    /// Returns the URL of a part of the site, with these path segments.
    fn url(&self, urls: &Urls, segments: &[&str]) -> String {
        match self.is_preview {
            true => urls.preview_below(&self.site.id, segments),
            false => urls.published_below(self.site.basename.as_str(), segments),
        }
    }
}

/// The reader of a site.
#[derive(Debug)]
pub(in crate::platform) enum Viewer {
    /// A member of the site's organization.
    Member(OrgAccess, Actor),
    /// A visitor in the site's audience.
    Visitor(Arc<VisitorClaims>),
}

impl Viewer {
    /// Returns the corresponding reader of content.
    pub(in crate::platform) fn reader(&self) -> ContentReader {
        match self {
            Self::Member(..) => ContentReader::Member,
            Self::Visitor(claims) => ContentReader::Visitor(Arc::clone(claims)),
        }
    }
}

/// A site as seen by an actor.
#[derive(Debug)]
pub(in crate::platform) struct SiteView<'a> {
    urls: Urls,
    opened: &'a VisibleSite,
    /// The visible outline.
    parts: SiteOutline,
    /// The visible spaces, by site space.
    spaces: BTreeMap<SiteSpaceId, Space>,
    public: Option<PublicSpaces>,
}

/// Spaces that a member has no role on, but sees as non-members do.
#[derive(Debug)]
struct PublicSpaces {
    spaces: BTreeSet<SpaceId>,
    claims: Arc<VisitorClaims>,
}

impl SiteView<'_> {
    /// Removes hidden site spaces, and sections and groups that become empty. The remaining parts keep their
    /// properties: a default stays set even if it is hidden from the reader.
    pub(super) fn without_hidden(mut self) -> Self {
        let spaces = &self.spaces;
        self.parts = self.parts.filter(|part| match part {
            OutlinePart::Section(_) | OutlinePart::Link(_) => true,
            OutlinePart::SiteSpace(place) => spaces.contains_key(&place.id),
        });
        self
    }

    /// Returns the reader of the content of a site space.
    pub(in crate::platform) fn reader(&self, place: &SiteSpaceRecord) -> ContentReader {
        match &self.public {
            Some(public) if public.spaces.contains(&place.space) => {
                ContentReader::Visitor(Arc::clone(&public.claims))
            }
            _ => self.opened.viewer.reader(),
        }
    }

    /// Returns the site spaces whose spaces are visible.
    pub(super) fn visible_places(&self) -> impl Iterator<Item = &SiteSpaceId> {
        self.spaces.keys()
    }

    pub(super) fn structure(&self) -> SiteStructure {
        if self.parts.has_sections() {
            SiteStructure::Sections(self.children(None))
        } else {
            SiteStructure::SiteSpaces(self.places(None))
        }
    }

    pub(in crate::platform) fn place(&self, place: &SiteSpaceRecord) -> Option<SiteSpace> {
        let space = self.spaces.get(&place.id)?;
        Some(SiteSpace {
            object: SiteSpaceObject::Is,
            id: place.id.clone(),
            path: place.path.clone(),
            section: place.section.clone(),
            title: place.title.as_ref().map_or_else(|| space.title.to_string(), ToString::to_string),
            space: space.clone(),
            default: self.opened.outline.is_default(place),
            condition: self.visible_condition(place.condition.as_ref()),
            draft: place.draft,
            hidden: place.hidden,
            has_advanced_customization_feature: true,
            urls: SiteSpaceUrls {
                location: self.location(&format!("site-spaces/{}", place.id)),
                published: match self.opened.outline.is_draft_place(place) && !self.opened.is_preview {
                    true => None,
                    false => self.published_url(&self.opened.outline.place_segments(place)),
                },
            },
        })
    }

    pub(super) fn section(&self, section: &SectionRecord) -> SiteSection {
        SiteSection {
            object: SectionObject::Is,
            id: section.id.clone(),
            title: section.title.clone(),
            localized_title: section.localized_title.clone(),
            description: section.description.clone(),
            localized_description: section.localized_description.clone(),
            draft: section.draft,
            default: self.opened.outline.is_default_section(section),
            path: section.path.clone(),
            condition: self.visible_condition(section.condition.as_ref()),
            section_group: section.group.clone(),
            icon: section.icon.clone(),
            site_spaces: self.places(Some(&section.id)),
            urls: SiteSectionUrls {
                location: self.location(&format!("sections/{}", section.id)),
                published: match self.opened.outline.is_draft_section(section) && !self.opened.is_preview {
                    true => None,
                    false => self.published_url(&self.opened.outline.section_segments(section)),
                },
            },
        }
    }

    pub(super) fn group(&self, group: &SectionGroupRecord) -> SiteSectionGroup {
        let children = self.children(Some(&group.id));
        let sections = children.iter().filter_map(|child| match child {
            SiteStructureNode::Section(section) => Some(SiteSection::clone(section)),
            SiteStructureNode::Group(_) | SiteStructureNode::Link(_) => None,
        });
        SiteSectionGroup {
            object: SectionGroupObject::Is,
            id: group.id.clone(),
            title: group.title.clone(),
            localized_title: group.localized_title.clone(),
            draft: group.draft,
            icon: group.icon.clone(),
            section_group: group.parent.clone(),
            sections: sections.collect(),
            children,
        }
    }

    pub(super) fn link(&self, link: &ExternalLinkRecord) -> SiteExternalLink {
        SiteExternalLink {
            object: ExternalLinkObject::Is,
            id: link.id.clone(),
            title: link.title.clone(),
            localized_title: link.localized_title.clone(),
            description: link.description.clone(),
            localized_description: link.localized_description.clone(),
            icon: link.icon.clone(),
            url: link.url.clone(),
            section_group: link.group.clone(),
            draft: link.draft,
            condition: self.visible_condition(link.condition.as_ref()),
            site_spaces: Vec::new(),
            children: Vec::new(),
        }
    }

    fn children(&self, group: Option<&SectionGroupId>) -> Vec<SiteStructureNode> {
        let show = |node: &OutlineNode| match node {
            OutlineNode::Section(section) => SiteStructureNode::Section(Box::new(self.section(section))),
            OutlineNode::Group(group) => SiteStructureNode::Group(Box::new(self.group(group))),
            OutlineNode::Link(link) => SiteStructureNode::Link(Box::new(self.link(link))),
        };
        self.parts.children(group).iter().map(show).collect()
    }

    fn places(&self, section: Option<&SectionId>) -> Vec<SiteSpace> {
        self.parts.places(section).iter().filter_map(|place| self.place(place)).collect()
    }

    /// Returns the API URL of a part of the site.
    fn location(&self, part: &str) -> String {
        self.urls.site_part(&self.opened.site.organization, &self.opened.site.id, part)
    }

    fn published_url(&self, segments: &[&str]) -> Option<String> {
        let mut url = self.opened.is_rendered().then(|| self.opened.url(&self.urls, segments));
        self.opened.link.add_key(&mut url);
        url
    }

    /// Returns the condition only if the reader is a member.
    fn visible_condition(&self, condition: Option<&Condition>) -> Option<Condition> {
        condition.filter(|_| matches!(self.opened.viewer, Viewer::Member(..))).cloned()
    }
}

/// Returns the default space of each site if the actor has a role on it. Takes three reads, plus those of the access
/// check.
pub(in crate::platform) async fn default_spaces(
    tx: &Tx,
    org: OrgAccess,
    actor: &Actor,
    sites: &[SharedSite],
) -> Result<Vec<Option<SpaceId>>> {
    let keys: Vec<Key> =
        sites.iter().filter_map(|site| site.default_section.as_ref()).map(SectionRecord::key_for).collect();
    let sections = tx.get_many::<SectionRecord>(&keys).await?;
    let in_section: BTreeMap<SiteId, SiteSpaceId> = sections
        .into_iter()
        .flatten()
        .filter_map(|section| Some((section.site.clone(), section.default_site_space.clone()?)))
        .collect();
    let place =
        |site: &SharedSite| in_section.get(&site.id).cloned().or_else(|| site.default_site_space.clone());
    let (ids, keys): (Vec<&SiteId>, Vec<Key>) =
        sites.iter().filter_map(|site| Some((&site.id, SiteSpaceRecord::key_for(&place(site)?)))).unzip();
    let places = tx.get_many::<SiteSpaceRecord>(&keys).await?;
    let spaces: BTreeMap<&SiteId, SpaceId> =
        ids.into_iter().zip(places).filter_map(|(site, place)| Some((site, place?.space.clone()))).collect();
    let keys: Vec<Key> = spaces.values().map(SpaceRecord::key_for).collect();
    let live = tx.get_many::<SpaceRecord>(&keys).await?.into_iter();
    let live = live.map(|space| space.filter(|space| space.deleted_at.is_none())).collect();
    let seen = AccessResolver::new(org, actor).spaces(tx, live).await?;
    let seen: BTreeSet<SpaceId> =
        seen.into_iter().flatten().map(|access| access.space().id.clone()).collect();
    Ok(sites.iter().map(|site| spaces.get(&site.id).filter(|space| seen.contains(*space)).cloned()).collect())
}
