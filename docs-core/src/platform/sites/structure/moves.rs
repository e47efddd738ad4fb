//! Reordering of a site's structure. One operation moves a part next to another.

use std::sync::Arc;

use async_trait::async_trait;
use docs_macros::boxed;

use super::{
    external_links,
    groups::{self, check_depth, other_children},
    order,
    paths::free_place_path,
    places::{self, reassign_default, set_default},
    sections,
};
use crate::{
    Error, Result,
    model::{
        BesidePosition, ExternalLinkId, MoveBeside, SectionGroupId, SectionGroupPointer, SectionId,
        SectionPointer, SiteSection, SiteSectionGroup, SiteSpace, SiteSpaceId, SiteSpacePointer,
        SiteStructureItem, SiteStructurePointer, SortStructure,
    },
    platform::{
        kernel::{actor::Actor, platform::Platform},
        nouns::{SectionGroupHandle, SectionHandle, SiteHandle, SiteRef, SiteSpaceHandle},
        publishing::outline::{OutlineNode, SiteOutline},
        sites::manage::SiteTarget,
    },
    store::{
        Operation, Tx,
        records::{SiteRecord, SiteSpaceRecord},
    },
};

impl<'p> SiteHandle<'p> {
    /// Moves a part of a site's structure next to another. A site space moves next to another site space, into the same
    /// section. Sections and groups move next to each other, into the same group.
    ///
    /// A site space keeps its path unless the path is taken in its new section. In that case, a number is appended.
    ///
    /// # Errors
    ///
    /// `Forbidden` unless the actor manages the site; `Invalid` for parts that are not on the site, for moving a group
    /// next to one of its own descendants, and for parts that cannot be siblings; `Conflict` if groups would be nested
    /// too deeply.
    ///
    /// # Example
    ///
    /// ```
    /// # use docs_core::Result;
    /// # use docs_core::model::{BesidePosition, OrgId, SectionId};
    /// # use docs_core::model::{SiteId, SiteStructurePointer, SortStructure};
    /// # use docs_core::platform::Caller;
    /// # async fn example(
    /// #     me: Caller<'_>, org: &OrgId, site: &SiteId, section: &SectionId, other: &SectionId,
    /// # ) -> Result<()> {
    /// let item = SiteStructurePointer::Section { id: section.to_string() };
    /// let other = SiteStructurePointer::Section { id: other.to_string() };
    /// let request = SortStructure { item, position: BesidePosition { before: Some(other), after: None } };
    /// let moved = me.org(org).site(site).sort_structure(request).await?;
    /// # Ok(())
    /// # }
    /// ```
    #[boxed]
    pub async fn sort_structure(self, request: SortStructure) -> Result<SiteStructureItem> {
        let (platform, ref actor, of, _) = self.parts();
        let item = request.item.part("item")?;
        let part = item.part.clone();
        let sort = ReorderStructure::new(
            actor,
            of,
            (item.part, Some(item.field)),
            Some(target_position(&request.position)?),
        );
        platform
            .write_and_show(actor, &sort, |done| Box::pin(platform.read_part_view(done.tx, actor, of, &part)))
            .await
    }
}

impl<'p> SiteSpaceHandle<'p> {
    /// Moves a site space next to another, into the same section. Without a position, it becomes the last one of its
    /// section.
    ///
    /// # Errors
    ///
    /// Same as [`SiteHandle::sort_structure`](crate::platform::SiteHandle::sort_structure).
    #[boxed]
    pub async fn move_beside(self, request: MoveBeside<SiteSpacePointer>) -> Result<SiteSpace> {
        let (platform, ref actor, of, id) = self.parts();
        let sort = ReorderStructure::new(
            actor,
            of,
            (SitePart::SiteSpace(id.clone()), None),
            request.position.as_ref().map(target_position).transpose()?,
        );
        platform
            .write_and_show(actor, &sort, |done| Box::pin(platform.read_place_view(done.tx, actor, of, id)))
            .await
    }
}

impl<'p> SectionHandle<'p> {
    /// Moves a section next to another, into the same group. Without a position, it becomes the last one of the site.
    ///
    /// # Errors
    ///
    /// Same as [`SiteHandle::sort_structure`](crate::platform::SiteHandle::sort_structure).
    #[boxed]
    pub async fn move_beside(self, request: MoveBeside<SectionPointer>) -> Result<SiteSection> {
        let (platform, ref actor, of, id) = self.parts();
        let sort = ReorderStructure::new(
            actor,
            of,
            (SitePart::Section(id.clone()), None),
            request.position.as_ref().map(target_position).transpose()?,
        );
        platform
            .write_and_show(actor, &sort, |done| Box::pin(platform.read_section_view(done.tx, actor, of, id)))
            .await
    }
}

impl<'p> SectionGroupHandle<'p> {
    /// Moves a group next to a section or another group, into the same parent. Without a position, it becomes the last
    /// one of the site.
    ///
    /// # Errors
    ///
    /// Same as [`SiteHandle::sort_structure`](crate::platform::SiteHandle::sort_structure).
    #[boxed]
    pub async fn move_beside(self, request: MoveBeside<SectionGroupPointer>) -> Result<SiteSectionGroup> {
        let (platform, ref actor, of, id) = self.parts();
        let sort = ReorderStructure::new(
            actor,
            of,
            (SitePart::Group(id.clone()), None),
            request.position.as_ref().map(target_position).transpose()?,
        );
        platform
            .write_and_show(actor, &sort, |done| Box::pin(platform.read_group_view(done.tx, actor, of, id)))
            .await
    }
}

impl Platform {
    async fn read_part_view(
        &self,
        tx: &Tx,
        actor: &Actor,
        of: SiteRef<'_>,
        part: &SitePart,
    ) -> Result<SiteStructureItem> {
        Ok(match part {
            SitePart::SiteSpace(id) => {
                SiteStructureItem::SiteSpace(Box::new(self.read_place_view(tx, actor, of, id).await?))
            }
            SitePart::Section(id) => {
                SiteStructureItem::Section(Box::new(self.read_section_view(tx, actor, of, id).await?))
            }
            SitePart::Group(id) => {
                SiteStructureItem::Group(Box::new(self.read_group_view(tx, actor, of, id).await?))
            }
            SitePart::Link(id) => {
                SiteStructureItem::Link(Box::new(self.read_link_view(tx, actor, of, id).await?))
            }
        })
    }
}

/// A part of a site's structure.
#[derive(Clone, Debug, PartialEq, Eq)]
enum SitePart {
    SiteSpace(SiteSpaceId),
    Section(SectionId),
    Group(SectionGroupId),
    Link(ExternalLinkId),
}

/// A part, with the request field that names it.
#[derive(Clone, Debug)]
struct NamedPart {
    field: String,
    part: SitePart,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SiblingSide {
    Before,
    After,
}

/// A reference to a part in a request.
trait Pointer {
    /// Returns the part, given the name of the request field.
    fn part(&self, field: &str) -> Result<NamedPart>;
}

fn parse_part<T: std::str::FromStr>(
    field: String,
    noun: &str,
    id: &str,
    part: fn(T) -> SitePart,
) -> Result<NamedPart> {
    match id.parse() {
        Ok(id) => Ok(NamedPart { field, part: part(id) }),
        Err(_) => Err(unknown_part(&field, noun)),
    }
}

impl Pointer for SiteSpacePointer {
    fn part(&self, field: &str) -> Result<NamedPart> {
        let Self::SiteSpace { site_space } = self;
        parse_part(format!("{field}.siteSpace"), "site space", site_space, SitePart::SiteSpace)
    }
}

impl Pointer for SectionPointer {
    fn part(&self, field: &str) -> Result<NamedPart> {
        let Self::Section { site_section } = self;
        parse_part(format!("{field}.siteSection"), "section", site_section, SitePart::Section)
    }
}

impl Pointer for SectionGroupPointer {
    fn part(&self, field: &str) -> Result<NamedPart> {
        let field = format!("{field}.id");
        match self {
            Self::Section { id } => parse_part(field, "section", id, SitePart::Section),
            Self::Group { id } => parse_part(field, "section group", id, SitePart::Group),
        }
    }
}

impl Pointer for SiteStructurePointer {
    fn part(&self, field: &str) -> Result<NamedPart> {
        let field = format!("{field}.id");
        match self {
            Self::SiteSpace { id } => parse_part(field, "site space", id, SitePart::SiteSpace),
            Self::Section { id } => parse_part(field, "section", id, SitePart::Section),
            Self::Group { id } => parse_part(field, "section group", id, SitePart::Group),
            Self::Link { id } => parse_part(field, "external link", id, SitePart::Link),
        }
    }
}

/// Returns the target position of a move: the sibling, and the side to move to.
fn target_position<T: Pointer>(position: &BesidePosition<T>) -> Result<(SiblingSide, NamedPart)> {
    match (&position.before, &position.after) {
        (Some(before), None) => Ok((SiblingSide::Before, before.part("position.before")?)),
        (None, Some(after)) => Ok((SiblingSide::After, after.part("position.after")?)),
        _ => Err(Error::invalid("position", "must have either `before` or `after`")),
    }
}

fn unknown_part(field: &str, noun: &str) -> Error {
    Error::invalid(field, format_args!("the site has no such {noun}"))
}

struct ReorderStructure {
    on: SiteTarget,
    item: SitePart,
    /// The request field that names the moved part, unless it is named in the request path.
    named: Option<String>,
    side: SiblingSide,
    /// The sibling, or `None` for the last position.
    beside: Option<NamedPart>,
}

#[async_trait]
impl Operation for ReorderStructure {
    type Output = ();
    const NAME: &'static str = "site_structure_sort";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let (site, outline) = self.on.load_outline(tx).await?;
        let missing = |missing: fn() -> Error, noun: &str| match &self.named {
            None => missing(),
            Some(field) => unknown_part(field, noun),
        };
        match &self.item {
            SitePart::SiteSpace(id) => {
                let none = || missing(places::missing, "site space");
                let place = outline.place(id).ok_or_else(none)?;
                if !places::is_shown(tx, &self.on, place).await? {
                    return Err(none());
                }
                self.put_place(tx, &site, &outline, place).await
            }
            SitePart::Section(id) => {
                let section = outline.section(id).ok_or_else(|| missing(sections::missing, "section"))?;
                self.put_node(tx, &outline, &OutlineNode::Section(Arc::clone(section)))
            }
            SitePart::Group(id) => {
                let group = outline.group(id).ok_or_else(|| missing(groups::missing, "section group"))?;
                self.put_node(tx, &outline, &OutlineNode::Group(Arc::clone(group)))
            }
            SitePart::Link(id) => {
                let none = || missing(external_links::missing, "external link");
                let link = outline.link(id).ok_or_else(none)?;
                self.put_node(tx, &outline, &OutlineNode::Link(Arc::clone(link)))
            }
        }
    }
}

impl ReorderStructure {
    fn new(
        actor: &Actor,
        of: SiteRef<'_>,
        (item, named): (SitePart, Option<String>),
        to: Option<(SiblingSide, NamedPart)>,
    ) -> Self {
        let (side, beside) = to.map_or((SiblingSide::After, None), |(side, beside)| (side, Some(beside)));
        Self { on: SiteTarget::new(actor, of), item, named, side, beside }
    }

    fn put_node(&self, tx: &mut Tx, outline: &SiteOutline, node: &OutlineNode) -> Result<()> {
        let Some(NamedPart { field, part }) = self.beside.clone().or_else(|| last_node(outline, node)) else {
            return Ok(());
        };
        let field = &field;
        let beside = match &part {
            SitePart::SiteSpace(_) => return Err(mismatched_kinds_error()),
            SitePart::Section(id) => {
                let section = outline.section(id).ok_or_else(|| unknown_part(field, "section"))?;
                OutlineNode::Section(Arc::clone(section))
            }
            SitePart::Group(id) => {
                let group = outline.group(id).ok_or_else(|| unknown_part(field, "section group"))?;
                OutlineNode::Group(Arc::clone(group))
            }
            SitePart::Link(id) => {
                let link = outline.link(id).ok_or_else(|| unknown_part(field, "external link"))?;
                OutlineNode::Link(Arc::clone(link))
            }
        };
        if beside.id() == node.id() {
            return Err(self_reference_error(field));
        }
        let parent = beside.parent();
        if let OutlineNode::Group(group) = node {
            let above = outline.chain(parent);
            if above.contains(&group.id) {
                return Err(Error::invalid(field, "must not be in the moved group"));
            }
            check_depth(above.len() + outline.height(&group.id))?;
        }
        let (stay, was) = other_children(outline, parent, node.id());
        let at = stay.iter().position(|other| other.id() == beside.id());
        let at = self.insertion_index(at.unwrap_or(stay.len()));
        if node.parent() == parent && at == was {
            return Ok(());
        }
        order::insert_nodes(tx, parent, &stay, at, std::slice::from_ref(node))
    }

    async fn put_place(
        &self,
        tx: &mut Tx,
        site: &SiteRecord,
        outline: &SiteOutline,
        place: &Arc<SiteSpaceRecord>,
    ) -> Result<()> {
        let Some(NamedPart { field, part }) = self.beside.clone().or_else(|| last_place(outline, place))
        else {
            return Ok(());
        };
        let field = &field;
        let SitePart::SiteSpace(id) = &part else { return Err(mismatched_kinds_error()) };
        let beside = outline.place(id).ok_or_else(|| unknown_part(field, "site space"))?;
        if beside.id == place.id {
            return Err(self_reference_error(field));
        }
        let section = beside.section.as_ref();
        let all = outline.places(section);
        let stay: Vec<_> = all.iter().filter(|other| other.id != place.id).collect();
        let at = stay.iter().position(|other| other.id == beside.id);
        let at = self.insertion_index(at.unwrap_or(stay.len()));
        if all.get(at).is_some_and(|there| there.id == place.id) {
            return Ok(());
        }
        let mut new = SiteSpaceRecord::clone(place);
        new.rank = order::free_place_rank(tx, &stay, at)?;
        if place.section.as_ref() != section {
            new.section = section.cloned();
            let taken =
                tx.get_value(&SiteSpaceRecord::by_path(&site.id, section, place.path.as_str())).await?;
            if taken.is_some() {
                let path = free_place_path(tx, &site.id, section, place.path.as_str(), place.id.as_str());
                new.path = path.await?;
            }
            reassign_default(tx, site, outline, place)?;
            if outline.default_place_in(section).is_none() {
                let section = section.and_then(|id| outline.section(id)).map(|section| &**section);
                set_default(tx, site, section, Some(&place.id))?;
            }
        }
        tx.put(&**place, new)?;
        Ok(())
    }

    /// Returns the insertion index for a part placed next to the one at `at`.
    fn insertion_index(&self, at: usize) -> usize {
        at + usize::from(self.side == SiblingSide::After)
    }
}

/// Returns the last other section or group of the top level.
fn last_node(outline: &SiteOutline, node: &OutlineNode) -> Option<NamedPart> {
    let last = outline.children(None).iter().rfind(|other| other.id() != node.id())?;
    let part = match last {
        OutlineNode::Section(section) => SitePart::Section(section.id.clone()),
        OutlineNode::Group(group) => SitePart::Group(group.id.clone()),
        OutlineNode::Link(link) => SitePart::Link(link.id.clone()),
    };
    Some(NamedPart { field: "position".to_owned(), part })
}

/// Returns the last other site space of the same section.
fn last_place(outline: &SiteOutline, place: &SiteSpaceRecord) -> Option<NamedPart> {
    let last = outline.places(place.section.as_ref()).iter().rfind(|other| other.id != place.id)?;
    Some(NamedPart { field: "position".to_owned(), part: SitePart::SiteSpace(last.id.clone()) })
}

fn mismatched_kinds_error() -> Error {
    Error::invalid(
        "position",
        "must be of a matching kind: a site space next to a site space, a section, section group or external \
         link next to one of these",
    )
}

fn self_reference_error(field: &str) -> Error {
    Error::invalid(field, "must not be the moved item itself")
}
