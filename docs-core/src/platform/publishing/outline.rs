//! The outline of a site: its sections, groups, external links and spaces in order, with their paths below the site.
//!
//! The limits in this module keep a site small enough to load it completely and process it in pure functions.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{
    Result,
    model::{Condition, ExternalLinkId, SectionGroupId, SectionId, SiteSpaceId, SpaceId},
    store::{
        Entity, Key, MAX_SCAN, Tx,
        records::{
            ExternalLinkRecord, FormerPath, SectionGroupRecord, SectionRecord, SiteRecord, SiteSpaceRecord,
            SpaceRecord,
        },
    },
};

/// Maximum number of sections per site, well above a usable menu. Sections, groups, links and spaces are together few
/// enough to delete a full site in one transaction: about 1,700 of its 2,000 changes.
pub(in crate::platform) const MAX_SECTIONS: usize = 100;
/// Maximum number of section groups per site.
pub(in crate::platform) const MAX_GROUPS: usize = 50;
/// Maximum number of external links per site, inside and outside groups.
pub(in crate::platform) const MAX_EXTERNAL_LINKS: usize = 50;
/// Maximum nesting depth of section groups. A deeper menu is unusable, and responses are nested equally deep.
pub(in crate::platform) const MAX_GROUP_DEPTH: usize = 5;
/// Maximum number of spaces per site, across all sections.
pub(in crate::platform) const MAX_SPACES: usize = 300;

/// A section, a group of sections or an external link.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::platform) enum OutlineNode {
    Section(Arc<SectionRecord>),
    Group(Arc<SectionGroupRecord>),
    Link(Arc<ExternalLinkRecord>),
}

impl OutlineNode {
    pub(in crate::platform) fn id(&self) -> &str {
        match self {
            Self::Section(section) => section.id.as_str(),
            Self::Group(group) => group.id.as_str(),
            Self::Link(link) => link.id.as_str(),
        }
    }

    /// Returns the group that contains the node, if any.
    pub(in crate::platform) fn parent(&self) -> Option<&SectionGroupId> {
        match self {
            Self::Section(section) => section.group.as_ref(),
            Self::Group(group) => group.parent.as_ref(),
            Self::Link(link) => link.group.as_ref(),
        }
    }

    pub(in crate::platform) fn rank(&self) -> u64 {
        match self {
            Self::Section(section) => section.rank,
            Self::Group(group) => group.rank,
            Self::Link(link) => link.rank,
        }
    }
}

/// The argument of an outline filter.
#[derive(Clone, Copy, Debug)]
pub(in crate::platform) enum OutlinePart<'a> {
    Section(&'a SectionRecord),
    SiteSpace(&'a SiteSpaceRecord),
    Link(&'a ExternalLinkRecord),
}

impl<'a> OutlinePart<'a> {
    pub(in crate::platform) fn condition(self) -> Option<&'a Condition> {
        match self {
            Self::Section(section) => section.condition.as_ref(),
            Self::SiteSpace(place) => place.condition.as_ref(),
            Self::Link(link) => link.condition.as_ref(),
        }
    }
}

/// The target of a path below a site.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::platform) struct OutlineMatch<'a> {
    pub(in crate::platform) section: Option<&'a Arc<SectionRecord>>,
    pub(in crate::platform) place: &'a Arc<SiteSpaceRecord>,
    /// The number of segments that select the section and the space. The remaining segments are a page path.
    pub(in crate::platform) used: usize,
}

/// The complete structure of a site, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::platform) struct SiteOutline {
    /// The children of the site (`None`) and of each group.
    nodes: BTreeMap<Option<SectionGroupId>, Vec<OutlineNode>>,
    /// The spaces of each section. Those of a site without sections are under `None`.
    places: BTreeMap<Option<SectionId>, Vec<Arc<SiteSpaceRecord>>>,
    default_section: Option<SectionId>,
    /// The default space of each section, and of a site without sections.
    defaults: BTreeMap<Option<SectionId>, SiteSpaceId>,
    has_sections: bool,
}

impl SiteOutline {
    /// Loads the outline of a site in at most five reads.
    pub(in crate::platform) async fn load(tx: &Tx, site: &SiteRecord) -> Result<Self> {
        let prefixes = [
            SectionRecord::by_site(&site.id),
            SectionGroupRecord::by_site(&site.id),
            ExternalLinkRecord::by_site(&site.id),
            SiteSpaceRecord::by_site(&site.id),
        ];
        // The limits keep each list within one scan.
        let scans: Vec<_> = prefixes.iter().map(|prefix| prefix.scan(MAX_SCAN)).collect();
        let mut rows = tx.scan_many(&scans).await?.into_iter();
        let mut keys = |named: fn(&str) -> Key| -> Vec<Key> {
            let rows = rows.next().unwrap_or_default();
            rows.iter().map(|(row, _)| named(row)).collect()
        };
        let (sections, groups) = (keys(SectionRecord::named_by), keys(SectionGroupRecord::named_by));
        let links = keys(ExternalLinkRecord::named_by);
        let places = keys(SiteSpaceRecord::named_by);
        let sections = tx.get_many::<SectionRecord>(&sections).await?.into_iter().flatten();
        let groups = tx.get_many::<SectionGroupRecord>(&groups).await?.into_iter().flatten();
        let links = tx.get_many::<ExternalLinkRecord>(&links).await?.into_iter().flatten();
        let nodes = sections.map(OutlineNode::Section).chain(groups.map(OutlineNode::Group));
        let nodes = nodes.chain(links.map(OutlineNode::Link)).collect();
        let places = tx.get_many::<SiteSpaceRecord>(&places).await?.into_iter().flatten().collect();
        Ok(Self::from_records(site, nodes, places))
    }

    /// Builds the outline from records.
    pub(in crate::platform) fn from_records(
        site: &SiteRecord,
        nodes: Vec<OutlineNode>,
        places: Vec<Arc<SiteSpaceRecord>>,
    ) -> Self {
        let mut outline = Self { default_section: site.default_section.clone(), ..Self::default() };
        if let Some(default) = &site.default_site_space {
            outline.defaults.insert(None, default.clone());
        }
        // A site with groups but no spaces counts as having sections.
        let any_section = nodes.iter().any(|node| matches!(node, OutlineNode::Section(_)));
        let any_group = nodes.iter().any(|node| matches!(node, OutlineNode::Group(_)));
        outline.has_sections = any_section || (places.is_empty() && any_group);
        for node in nodes {
            if let OutlineNode::Section(section) = &node
                && let Some(default) = &section.default_site_space
            {
                outline.defaults.insert(Some(section.id.clone()), default.clone());
            }
            outline.nodes.entry(node.parent().cloned()).or_default().push(node);
        }
        for place in places {
            outline.places.entry(place.section.clone()).or_default().push(place);
        }
        for nodes in outline.nodes.values_mut() {
            nodes.sort_by(|a, b| (a.rank(), a.id()).cmp(&(b.rank(), b.id())));
        }
        for places in outline.places.values_mut() {
            places.sort_by(|a, b| (a.rank, &a.id).cmp(&(b.rank, &b.id)));
        }
        outline
    }

    /// Returns the conditions of the sections, links and spaces.
    pub(in crate::platform) fn conditions(&self) -> impl Iterator<Item = &Condition> {
        let sections = self.nodes.values().flatten().filter_map(|node| match node {
            OutlineNode::Section(section) => section.condition.as_ref(),
            OutlineNode::Link(link) => link.condition.as_ref(),
            OutlineNode::Group(_) => None,
        });
        let places = self.places.values().flatten().filter_map(|place| place.condition.as_ref());
        places.chain(sections)
    }

    pub(in crate::platform) const fn has_sections(&self) -> bool {
        self.has_sections
    }

    /// Returns the children of a group, or of the site.
    pub(in crate::platform) fn children(&self, group: Option<&SectionGroupId>) -> &[OutlineNode] {
        self.nodes.get(&group.cloned()).map_or(&[], Vec::as_slice)
    }

    /// Returns the spaces of a section, or those of a site without sections.
    pub(in crate::platform) fn places(&self, section: Option<&SectionId>) -> &[Arc<SiteSpaceRecord>] {
        self.places.get(&section.cloned()).map_or(&[], Vec::as_slice)
    }

    /// Returns all sections, groups and links, each group before its descendants.
    pub(in crate::platform) fn nodes(&self) -> Vec<&OutlineNode> {
        let mut found = Vec::new();
        let mut coming: Vec<&OutlineNode> = self.children(None).iter().rev().collect();
        // Cycles and children of deleted groups are unreachable from the root.
        while let Some(node) = coming.pop() {
            found.push(node);
            if let OutlineNode::Group(group) = node {
                coming.extend(self.children(Some(&group.id)).iter().rev());
            }
        }
        found
    }

    /// Returns all sections, inside and outside groups.
    pub(in crate::platform) fn sections(&self) -> Vec<&Arc<SectionRecord>> {
        let sections = self.nodes().into_iter().filter_map(|node| match node {
            OutlineNode::Section(section) => Some(section),
            OutlineNode::Group(_) | OutlineNode::Link(_) => None,
        });
        sections.collect()
    }

    pub(in crate::platform) fn links(&self) -> Vec<&Arc<ExternalLinkRecord>> {
        let links = self.nodes().into_iter().filter_map(|node| match node {
            OutlineNode::Link(link) => Some(link),
            OutlineNode::Section(_) | OutlineNode::Group(_) => None,
        });
        links.collect()
    }

    pub(in crate::platform) fn groups(&self) -> Vec<&Arc<SectionGroupRecord>> {
        let groups = self.nodes().into_iter().filter_map(|node| match node {
            OutlineNode::Section(_) | OutlineNode::Link(_) => None,
            OutlineNode::Group(group) => Some(group),
        });
        groups.collect()
    }

    /// Returns all spaces, section by section.
    pub(in crate::platform) fn all_places(&self) -> Vec<&Arc<SiteSpaceRecord>> {
        let sections = self.sections().into_iter().map(|section| Some(&section.id));
        sections.chain([None]).flat_map(|section| self.places(section)).collect()
    }

    pub(in crate::platform) fn section(&self, id: &SectionId) -> Option<&Arc<SectionRecord>> {
        self.nodes.values().flatten().find_map(|node| match node {
            OutlineNode::Section(section) if section.id == *id => Some(section),
            _ => None,
        })
    }

    pub(in crate::platform) fn group(&self, id: &SectionGroupId) -> Option<&Arc<SectionGroupRecord>> {
        self.nodes.values().flatten().find_map(|node| match node {
            OutlineNode::Group(group) if group.id == *id => Some(group),
            _ => None,
        })
    }

    pub(in crate::platform) fn link(&self, id: &ExternalLinkId) -> Option<&Arc<ExternalLinkRecord>> {
        self.nodes.values().flatten().find_map(|node| match node {
            OutlineNode::Link(link) if link.id == *id => Some(link),
            _ => None,
        })
    }

    pub(in crate::platform) fn place(&self, id: &SiteSpaceId) -> Option<&Arc<SiteSpaceRecord>> {
        self.places.values().flatten().find(|place| place.id == *id)
    }

    /// Returns a group and its ancestors, innermost first.
    pub(in crate::platform) fn chain(&self, group: Option<&SectionGroupId>) -> Vec<SectionGroupId> {
        let mut chain = Vec::new();
        let mut next = group;
        while let Some(id) = next
            && chain.len() <= MAX_GROUPS
        {
            chain.push(id.clone());
            next = self.group(id).and_then(|group| group.parent.as_ref());
        }
        chain
    }

    /// Returns `true` if a section or a group that contains it is a draft.
    pub(in crate::platform) fn is_draft_section(&self, section: &SectionRecord) -> bool {
        section.draft || self.is_in_draft(section.group.as_ref())
    }

    /// Returns `true` if a group or a group that contains it is a draft.
    fn is_in_draft(&self, group: Option<&SectionGroupId>) -> bool {
        self.chain(group).iter().filter_map(|id| self.group(id)).any(|group| group.draft)
    }

    /// Returns `true` if a space, its section or a group that contains the section is a draft.
    pub(in crate::platform) fn is_draft_place(&self, place: &SiteSpaceRecord) -> bool {
        let section = place.section.as_ref().and_then(|id| self.section(id));
        place.draft || section.is_some_and(|section| self.is_draft_section(section))
    }

    /// Returns `true` if a part or anything that contains it is a draft.
    pub(in crate::platform) fn is_draft(&self, part: OutlinePart<'_>) -> bool {
        match part {
            OutlinePart::Section(section) => self.is_draft_section(section),
            OutlinePart::SiteSpace(place) => self.is_draft_place(place),
            OutlinePart::Link(link) => link.draft || self.is_in_draft(link.group.as_ref()),
        }
    }

    /// Returns the position of a section, group or link within the site. Positions ascend in the order of the site.
    pub(in crate::platform) fn position(&self, node: &OutlineNode) -> String {
        let seat = |rank: u64, id: &str| format!("{rank:020}!{id}!");
        let above = self.chain(node.parent());
        let above = above.iter().rev().filter_map(|id| self.group(id));
        let above: String = above.map(|group| seat(group.rank, group.id.as_str())).collect();
        above + &seat(node.rank(), node.id())
    }

    /// Returns the position of a space within the site.
    pub(in crate::platform) fn place_position(&self, place: &SiteSpaceRecord) -> String {
        let section = place.section.as_ref().and_then(|id| self.section(id));
        let section = section.map(|section| self.position(&OutlineNode::Section(Arc::clone(section))));
        format!("{}{:020}!{}!", section.unwrap_or_default(), place.rank, place.id)
    }

    /// Returns the height of a group's subtree, counting the group itself.
    pub(in crate::platform) fn height(&self, group: &SectionGroupId) -> usize {
        let above = self.chain(Some(group)).len();
        let inside = self.groups().into_iter().map(|inner| self.chain(Some(&inner.id)));
        let inside = inside.filter(|chain| chain.contains(group)).map(|chain| chain.len() + 1 - above);
        inside.max().unwrap_or(1)
    }

    /// Returns the default section of the site.
    pub(in crate::platform) fn default_section(&self) -> Option<&Arc<SectionRecord>> {
        self.section(self.default_section.as_ref()?)
    }

    /// Returns the default space of a section, or of a site without sections.
    pub(in crate::platform) fn default_place_in(
        &self,
        section: Option<&SectionId>,
    ) -> Option<&Arc<SiteSpaceRecord>> {
        let id = self.defaults.get(&section.cloned())?;
        self.places(section).iter().find(|place| place.id == *id)
    }

    /// Returns the default space of the site.
    pub(in crate::platform) fn default_place(&self) -> Option<&Arc<SiteSpaceRecord>> {
        self.default_place_in(self.default_section.as_ref())
    }

    pub(in crate::platform) fn is_default_section(&self, section: &SectionRecord) -> bool {
        self.default_section.as_ref() == Some(&section.id)
    }

    /// Returns `true` if this is the default space of its section.
    pub(in crate::platform) fn is_default(&self, place: &SiteSpaceRecord) -> bool {
        self.defaults.get(&place.section) == Some(&place.id)
    }

    /// Resolves the first segments of a path below the site. A section takes precedence over a space of the default
    /// section, and both take precedence over a page.
    pub(in crate::platform) fn find(&self, segments: &[&str]) -> Option<OutlineMatch<'_>> {
        let named = segments.first().and_then(|first| self.section_by_path(first));
        let section = named.or_else(|| self.default_section());
        let used = usize::from(named.is_some());
        let id = section.map(|section| &section.id);
        let named = segments.get(used).and_then(|next| self.place_by_path(id, next));
        let used = used + usize::from(named.is_some());
        let place = named.or_else(|| self.default_place_in(id))?;
        Some(OutlineMatch { section, place, used })
    }

    /// Resolves the first segments by former paths, if no current section or space has them. If several had the same
    /// former path, the most recent one wins.
    pub(in crate::platform) fn find_former(&self, segments: &[&str]) -> Option<OutlineMatch<'_>> {
        let first = segments.first()?;
        let named = self.section_by_path(first);
        let section = named.or_else(|| self.default_section());
        let used = usize::from(named.is_some());
        let id = section.map(|section| &section.id);
        let next = segments.get(used)?;
        if self.place_by_path(id, next).is_some() {
            return None;
        }
        let left = match named {
            None => latest_former_owner(self.sections(), |section| &section.former_paths, first),
            Some(_) => None,
        };
        let Some(left) = left else {
            let place = self.place_by_former_path(id, next)?;
            return Some(OutlineMatch { section, place, used: used + 1 });
        };
        let id = Some(&left.id);
        let named = segments.get(1);
        let named = named
            .and_then(|next| self.place_by_path(id, next).or_else(|| self.place_by_former_path(id, next)));
        let place = named.or_else(|| self.default_place_in(id))?;
        Some(OutlineMatch { section: Some(left), place, used: 1 + usize::from(named.is_some()) })
    }

    fn section_by_path(&self, path: &str) -> Option<&Arc<SectionRecord>> {
        self.sections().into_iter().find(|section| is_same_path(section.path.as_str(), path))
    }

    /// Returns the space with a path in a section, or in a site without sections.
    fn place_by_path(&self, section: Option<&SectionId>, path: &str) -> Option<&Arc<SiteSpaceRecord>> {
        self.places(section).iter().find(|place| is_same_path(place.path.as_str(), path))
    }

    /// Returns the space that most recently had this former path.
    fn place_by_former_path(&self, section: Option<&SectionId>, path: &str) -> Option<&Arc<SiteSpaceRecord>> {
        latest_former_owner(self.places(section), |place| &place.former_paths, path)
    }

    /// Returns the space with the longest matching canonical path. Defaults have no path segment in it.
    pub(in crate::platform) fn find_canonical(&self, segments: &[&str]) -> Option<OutlineMatch<'_>> {
        let found = self.all_places().into_iter().filter_map(|place| {
            let names = self.place_segments(place);
            let section = place.section.as_ref().and_then(|id| self.section(id));
            let leads =
                names.len() <= segments.len() && names.iter().zip(segments).all(|(a, b)| is_same_path(a, b));
            leads.then_some(OutlineMatch { section, place, used: names.len() })
        });
        found.max_by_key(|found| found.used)
    }

    /// Returns the path segments of a section below the site. Empty for the default section.
    pub(in crate::platform) fn section_segments<'a>(&self, section: &'a SectionRecord) -> Vec<&'a str> {
        if self.is_default_section(section) { Vec::new() } else { vec![section.path.as_str()] }
    }

    /// Returns the path segments of a space below the site.
    pub(in crate::platform) fn place_segments<'a>(&'a self, place: &'a SiteSpaceRecord) -> Vec<&'a str> {
        let section = place.section.as_ref().and_then(|id| self.section(id));
        let address = PlaceAddress {
            place,
            section: section.map(|section| &**section),
            default_section: self.default_section.as_ref(),
            default_place: self.defaults.get(&place.section),
        };
        let is_path =
            |path: &&str| self.sections().iter().any(|section| is_same_path(section.path.as_str(), path));
        match address.shadowing_path().filter(is_path) {
            Some(_) => address.full(),
            None => address.short(),
        }
    }

    /// Returns the outline without the parts excluded by a filter. Sections without spaces and empty groups are
    /// removed. If a default is removed, the first remaining part becomes the default.
    pub(in crate::platform) fn filter(&self, is_shown: impl Fn(OutlinePart<'_>) -> bool) -> Self {
        let mut shown = self.places_only(|place| is_shown(OutlinePart::SiteSpace(place)));
        let stays = |node: &&OutlineNode| match node {
            OutlineNode::Section(section) => {
                shown.places.contains_key(&Some(section.id.clone()))
                    && is_shown(OutlinePart::Section(section))
            }
            OutlineNode::Link(link) => is_shown(OutlinePart::Link(link)),
            OutlineNode::Group(_) => false,
        };
        // A group is retained if any descendant section or link is.
        let nodes = self.nodes();
        let mut kept: BTreeSet<&str> = BTreeSet::new();
        let mut sections = BTreeSet::new();
        for node in nodes.iter().copied().filter(stays) {
            kept.insert(node.id());
            let mut above = node.parent();
            while let Some(group) = above.and_then(|id| self.group(id)).filter(|g| kept.insert(g.id.as_str()))
            {
                above = group.parent.as_ref();
            }
        }
        for node in nodes.into_iter().filter(|node| kept.contains(node.id())) {
            if let OutlineNode::Section(section) = node {
                sections.insert(Some(section.id.clone()));
            }
            shown.nodes.entry(node.parent().cloned()).or_default().push(node.clone());
        }
        shown.places.retain(|section, _| section.is_none() || sections.contains(section));
        shown.defaults.retain(|section, _| section.is_none() || sections.contains(section));
        if shown.default_section().is_none() {
            shown.default_section = shown.sections().first().map(|section| section.id.clone());
        }
        shown
    }

    /// Returns the outline without the spaces excluded by a filter. Empty sections and groups are retained. If a
    /// default is removed, the first remaining part becomes the default.
    pub(in crate::platform) fn without_places(&self, is_shown: impl Fn(&SiteSpaceRecord) -> bool) -> Self {
        let mut shown = self.places_only(is_shown);
        shown.nodes.clone_from(&self.nodes);
        let has_places = |section: &&Arc<SectionRecord>| shown.places.contains_key(&Some(section.id.clone()));
        let first = shown.sections().into_iter().find(has_places).map(|section| section.id.clone());
        if let Some(first) = first
            && shown.default_section().is_none_or(|section| !has_places(&section))
        {
            shown.default_section = Some(first);
        }
        shown
    }

    /// Returns an outline with only the spaces that pass a filter, and their defaults.
    fn places_only(&self, is_shown: impl Fn(&SiteSpaceRecord) -> bool) -> Self {
        let mut shown = Self {
            default_section: self.default_section.clone(),
            has_sections: self.has_sections,
            ..Self::default()
        };
        for (section, places) in &self.places {
            let places: Vec<_> = places.iter().filter(|place| is_shown(place)).cloned().collect();
            let default = self.default_place_in(section.as_ref()).filter(|default| places.contains(default));
            if let Some(default) = default.or_else(|| places.first()) {
                shown.defaults.insert(section.clone(), default.id.clone());
                shown.places.insert(section.clone(), places);
            }
        }
        shown
    }
}

/// The inputs for computing the path of a space on a site.
#[derive(Clone, Copy, Debug)]
pub(in crate::platform) struct PlaceAddress<'a> {
    pub(in crate::platform) place: &'a SiteSpaceRecord,
    pub(in crate::platform) section: Option<&'a SectionRecord>,
    pub(in crate::platform) default_section: Option<&'a SectionId>,
    /// The default space of the section, or of a site without sections.
    pub(in crate::platform) default_place: Option<&'a SiteSpaceId>,
}

impl<'a> PlaceAddress<'a> {
    /// Returns the short path, where defaults have no segment.
    pub(in crate::platform) fn short(&self) -> Vec<&'a str> {
        let section = self.section.filter(|section| self.default_section != Some(&section.id));
        let place = Some(self.place).filter(|place| self.default_place != Some(&place.id));
        let section = section.map(|section| section.path.as_str());
        section.into_iter().chain(place.map(|place| place.path.as_str())).collect()
    }

    /// Returns the full path with both segments. It is always valid.
    pub(in crate::platform) fn full(&self) -> Vec<&'a str> {
        let section = self.section.map(|section| section.path.as_str());
        section.into_iter().chain([self.place.path.as_str()]).collect()
    }

    /// Returns the section path that would shadow the short path, if the site has such a section.
    pub(in crate::platform) fn shadowing_path(&self) -> Option<&'a str> {
        let in_default = self.section.is_some_and(|section| self.default_section == Some(&section.id));
        let is_named = in_default && self.default_place != Some(&self.place.id);
        is_named.then_some(self.place.path.as_str())
    }
}

/// Returns the item that most recently had a former path.
fn latest_former_owner<'a, T: 'a>(
    all: impl IntoIterator<Item = &'a Arc<T>>,
    former: impl Fn(&T) -> &[FormerPath],
    path: &str,
) -> Option<&'a Arc<T>> {
    let left = all.into_iter().filter_map(|one| {
        let left = former(one).iter().find(|former| is_same_path(former.path.as_str(), path))?;
        Some((left.until, one))
    });
    left.max_by_key(|(until, _)| *until).map(|(_, one)| one)
}

/// Compares paths, ignoring case.
pub(in crate::platform) fn is_same_path(path: &str, segment: &str) -> bool {
    path == segment || path.to_lowercase() == segment.to_lowercase()
}

/// The spaces of a site that are not deleted.
pub(in crate::platform) type LiveSpaces = BTreeMap<SpaceId, Arc<SpaceRecord>>;

/// Loads the spaces of an outline that are not deleted.
pub(in crate::platform) async fn live_spaces(tx: &Tx, outline: &SiteOutline) -> Result<LiveSpaces> {
    let ids: BTreeSet<&SpaceId> = outline.all_places().into_iter().map(|place| &place.space).collect();
    let keys: Vec<Key> = ids.into_iter().map(SpaceRecord::key_for).collect();
    let spaces = tx.get_many::<SpaceRecord>(&keys).await?.into_iter().flatten();
    let live = spaces.filter(|space| space.deleted_at.is_none());
    Ok(live.map(|space| (space.id.clone(), space)).collect())
}

pub(in crate::platform) type SharedSite = Arc<SiteRecord>;

#[cfg(test)]
mod tests;
