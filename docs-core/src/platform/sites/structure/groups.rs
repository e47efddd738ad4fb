//! Section groups of a site.

use std::{collections::BTreeSet, sync::Arc};

use docs_macros::{boxed, operation};

use super::{order, places::unknown_section};
use crate::{
    Error, Result,
    model::{
        AddSectionGroup, AddSectionToGroup, Patch, SectionGroupId, SectionId, SiteSectionGroup, SiteSpaceId,
        UpdateSectionGroup,
    },
    platform::{
        kernel::{actor::Actor, platform::Platform, request::Right},
        nouns::{SectionGroupHandle, SectionGroups, SiteRef, list_identities},
        publishing::outline::{MAX_GROUP_DEPTH, MAX_GROUPS, OutlineNode, SiteOutline},
        sites::manage::SiteTarget,
    },
    store::{
        Page, PageRequest, Tx,
        records::{SectionGroupRecord, SectionRecord},
    },
};

/// The request field with the parent of a group.
const PARENT: &str = "parentSectionGroupId";

impl<'p> SectionGroups<'p> {
    /// Lists the section groups of a site in site order. Each precedes its descendants.
    #[boxed]
    pub async fn list(self, page: &'p PageRequest) -> Result<Page<SiteSectionGroup>> {
        let (platform, ref actor, at, share_key) = self.parts();
        let of = at.with_share_key(share_key);
        let (tx, opened) = platform.open_site(actor, of).await?;
        let outline = &opened.outline;
        let groups = outline.groups();
        let count = groups.len() as u64;
        let at = |group: &Arc<SectionGroupRecord>| outline.position(&OutlineNode::Group(Arc::clone(group)));
        let items = groups.into_iter().map(|group| (at(group), Arc::clone(group))).collect();
        let page = order::page(items, &list_identities::section_groups(&opened.site.id), page)?;
        let ids = group_places(outline, &page.items);
        let seen = platform.view_places(&tx, &opened, &ids).await?;
        let items = page.items.iter().map(|group| seen.group(group)).collect();
        Ok(Page { items, next: page.next, count: Some(count) })
    }

    /// Adds a group at the end of a site or of another group, and moves sections into it.
    ///
    /// # Errors
    ///
    /// `Forbidden` unless the actor manages the site; `Invalid` for unknown sections or an unknown parent; `Conflict`
    /// if the site is full, or groups would be nested too deeply.
    ///
    /// # Example
    ///
    /// ```
    /// # use docs_core::{model::{AddSectionGroup, OrgId, SectionId, SiteId}, platform::Caller};
    /// # async fn example(
    /// #     me: Caller<'_>, org: &OrgId, site: &SiteId, section: &SectionId,
    /// # ) -> Result<(), Box<dyn std::error::Error>> {
    /// let sections = Some(vec![section.to_string()]);
    /// let title = "Products".parse()?;
    /// let new = AddSectionGroup { title, icon: None, sections, parent: None, draft: None };
    /// let group = me.org(org).site(site).section_groups().create(new).await?;
    /// println!("{}", group.id);
    /// # Ok(())
    /// # }
    /// ```
    #[boxed]
    pub async fn create(self, add: AddSectionGroup) -> Result<SiteSectionGroup> {
        let (platform, ref actor, of, _) = self.parts();
        let done = platform.idempotent(actor, Right::for_site(of), async move {
            let mut sections = Vec::new();
            for (at, id) in add.sections.iter().flatten().enumerate() {
                let field = format!("sections[{at}]");
                let id: SectionId = id.parse().map_err(|_| unknown_section(&field))?;
                sections.push((field, id));
            }
            let parent = add.parent.as_ref().map(|id| id.parse().map_err(|_| unknown_group("parent")));
            let parent = parent.transpose()?;
            let (on, id) = (SiteTarget::new(actor, of), &platform.id());
            let operation = section_group_creation(&on, id, &sections, parent.as_ref(), &add);
            platform
                .write_and_show(actor, &operation, |done| {
                    Box::pin(platform.read_group_view(done.tx, actor, of, id))
                })
                .await
        });
        done.await
    }
}

impl<'p> SectionGroupHandle<'p> {
    /// Changes a group. Omitted fields stay unchanged. A group that moves becomes the last child of its new parent.
    ///
    /// # Errors
    ///
    /// `Forbidden` unless the actor manages the site; `Invalid` for an unknown parent, and for the group itself or one
    /// of its descendants as the parent; `Conflict` if groups would be nested too deeply.
    #[boxed]
    pub async fn update(self, change: UpdateSectionGroup) -> Result<SiteSectionGroup> {
        let (platform, ref actor, of, id) = self.parts();
        let on = SiteTarget::new(actor, of);
        let parent = parse_group(PARENT, &change.parent_section_group_id)?;
        let update = section_group_update(&on, id, &parent, &change);
        platform
            .write_and_show(actor, &update, |done| Box::pin(platform.read_group_view(done.tx, actor, of, id)))
            .await
    }

    /// Deletes a group. It is replaced by its child sections and groups. Returns `true` if it existed.
    ///
    /// # Errors
    ///
    /// `Forbidden` unless the actor manages the site.
    #[boxed]
    pub async fn delete(self) -> Result<bool> {
        let (platform, ref actor, of, id) = self.parts();
        let on = SiteTarget::new(actor, of);
        Error::ignore_not_found(platform.write(actor, &section_group_deletion(&on, id)).await)
    }

    /// Moves a section to the end of a group. A section that is already in the group keeps its position.
    ///
    /// # Errors
    ///
    /// `Forbidden` unless the actor manages the site; `Invalid` for an unknown section.
    #[boxed]
    pub async fn add_section(self, add: AddSectionToGroup) -> Result<SiteSectionGroup> {
        let (platform, ref actor, of, id) = self.parts();
        let done = platform.idempotent(actor, Right::for_site(of), async move {
            let section = add.section_id.parse().map_err(|_| unknown_section("sectionId"))?;
            let on = SiteTarget::new(actor, of);
            let gather = put_section_in_group(&on, id, &section);
            platform
                .write_and_show(actor, &gather, |done| {
                    Box::pin(platform.read_group_view(done.tx, actor, of, id))
                })
                .await
        });
        done.await
    }

    /// Moves a section out of a group, to the position directly after the group. Returns `true` if it was in the group.
    ///
    /// # Errors
    ///
    /// `Forbidden` unless the actor manages the site.
    #[boxed]
    pub async fn remove_section(self, section: &'p SectionId) -> Result<bool> {
        let (platform, ref actor, of, id) = self.parts();
        let on = SiteTarget::new(actor, of);
        Error::ignore_not_found(platform.write(actor, &remove_section_from_group(&on, id, section)).await)
    }
}

impl Platform {
    /// Builds the view of a group, as of the transaction.
    pub(super) async fn read_group_view(
        &self,
        tx: &Tx,
        actor: &Actor,
        of: SiteRef<'_>,
        id: &SectionGroupId,
    ) -> Result<SiteSectionGroup> {
        let opened = self.load_visible_site(tx, actor, of.into()).await?;
        let outline = &opened.outline;
        let group = outline.group(id).cloned().ok_or_else(missing)?;
        let ids = group_places(outline, std::slice::from_ref(&group));
        Ok(self.view_places(tx, &opened, &ids).await?.group(&group))
    }
}

/// Returns the spaces of all sections in these groups and their descendants.
fn group_places(outline: &SiteOutline, groups: &[Arc<SectionGroupRecord>]) -> Vec<SiteSpaceId> {
    let groups: BTreeSet<&SectionGroupId> = groups.iter().map(|group| &group.id).collect();
    let inside = outline
        .sections()
        .into_iter()
        .filter(|section| outline.chain(section.group.as_ref()).iter().any(|above| groups.contains(above)));
    let places = inside.flat_map(|section| outline.places(Some(&section.id)));
    places.map(|place| place.id.clone()).collect()
}

/// Adds a group and moves sections into it. Each section is given with its request field.
#[operation("site_section_group_add")]
async fn section_group_creation(
    tx: &mut Tx,
    on: &SiteTarget,
    id: &SectionGroupId,
    sections: &[(String, SectionId)],
    parent: Option<&SectionGroupId>,
    add: &AddSectionGroup,
) -> Result<()> {
    let (site, outline) = on.load_outline(tx).await?;
    if outline.groups().len() >= MAX_GROUPS {
        return Err(Error::conflict(format!("a site must have at most {MAX_GROUPS} section groups")));
    }
    if let Some(parent) = parent {
        outline.group(parent).ok_or_else(|| unknown_group("parent"))?;
        check_depth(outline.chain(Some(parent)).len() + 1)?;
    }
    let (mut inside, mut named) = (Vec::new(), BTreeSet::new());
    for (field, id) in sections {
        let section = outline.section(id).ok_or_else(|| unknown_section(field))?;
        if !named.insert(id) {
            return Err(Error::invalid(field, "must not contain a section twice"));
        }
        inside.push(OutlineNode::Section(Arc::clone(section)));
    }
    tx.create(SectionGroupRecord {
        id: id.clone(),
        site: site.id.clone(),
        parent: parent.cloned(),
        rank: last_rank(&outline, parent),
        title: add.title.clone(),
        icon: add.icon.clone(),
        localized_title: Default::default(),
        draft: add.draft.unwrap_or_default(),
    });
    order::insert_nodes(tx, Some(id), &[], 0, &inside)
}

#[operation("site_section_group_update")]
async fn section_group_update(
    tx: &mut Tx,
    on: &SiteTarget,
    id: &SectionGroupId,
    parent: &Patch<SectionGroupId>,
    change: &UpdateSectionGroup,
) -> Result<()> {
    let (_, outline) = on.load_outline(tx).await?;
    let old = outline.group(id).ok_or_else(missing)?;
    let change = change.clone();
    let mut new = SectionGroupRecord::clone(old);
    new.title = change.title.unwrap_or(new.title);
    new.localized_title = change.localized_title.unwrap_or(new.localized_title);
    new.icon = change.icon.apply(new.icon);
    new.draft = change.draft.unwrap_or(new.draft);
    let parent = parent.clone().apply(new.parent.clone());
    if parent != new.parent {
        if let Some(parent) = &parent {
            outline.group(parent).ok_or_else(|| unknown_group(PARENT))?;
        }
        let above = outline.chain(parent.as_ref());
        if above.contains(id) {
            return Err(Error::invalid(PARENT, "must not be the group itself or in it"));
        }
        check_depth(above.len() + outline.height(id))?;
        new.rank = last_rank(&outline, parent.as_ref());
        new.parent = parent;
    }
    if new != **old {
        tx.put(&**old, new)?;
    }
    Ok(())
}

#[operation("site_section_group_delete")]
async fn section_group_deletion(tx: &mut Tx, on: &SiteTarget, id: &SectionGroupId) -> Result<()> {
    let (_, outline) = on.load_outline(tx).await?;
    let group = outline.group(id).ok_or_else(missing)?;
    let parent = group.parent.as_ref();
    let (stay, at) = other_children(&outline, parent, id.as_str());
    order::insert_nodes(tx, parent, &stay, at, outline.children(Some(id)))?;
    tx.delete(&**group);
    Ok(())
}

#[operation("site_section_group_gather")]
async fn put_section_in_group(
    tx: &mut Tx,
    on: &SiteTarget,
    id: &SectionGroupId,
    section: &SectionId,
) -> Result<()> {
    let (_, outline) = on.load_outline(tx).await?;
    let group = outline.group(id).ok_or_else(missing)?;
    let section = outline.section(section).ok_or_else(|| unknown_section("sectionId"))?;
    if section.group.as_ref() == Some(&group.id) {
        return Ok(());
    }
    let stay = outline.children(Some(&group.id));
    order::insert_nodes(tx, Some(&group.id), stay, stay.len(), &[OutlineNode::Section(Arc::clone(section))])
}

#[operation("site_section_group_release")]
async fn remove_section_from_group(
    tx: &mut Tx,
    on: &SiteTarget,
    id: &SectionGroupId,
    section: &SectionId,
) -> Result<()> {
    let (_, outline) = on.load_outline(tx).await?;
    let group = outline.group(id).ok_or_else(missing)?;
    let is_inside = |section: &&Arc<SectionRecord>| section.group.as_ref() == Some(&group.id);
    let section = outline.section(section).filter(is_inside);
    let section = section.ok_or_else(|| Error::not_found("section"))?;
    let parent = group.parent.as_ref();
    let stay = outline.children(parent);
    let at = stay.iter().position(|node| node.id() == id.as_str()).map_or(stay.len(), |at| at + 1);
    order::insert_nodes(tx, parent, stay, at, &[OutlineNode::Section(Arc::clone(section))])
}

/// Returns the other children of a group or site, and the index of the given one.
pub(super) fn other_children(
    outline: &SiteOutline,
    parent: Option<&SectionGroupId>,
    id: &str,
) -> (Vec<OutlineNode>, usize) {
    let all = outline.children(parent);
    let at = all.iter().position(|node| node.id() == id).unwrap_or(all.len());
    (all.iter().filter(|node| node.id() != id).cloned().collect(), at)
}

/// Returns the rank of a new last child of a group or site.
pub(super) fn last_rank(outline: &SiteOutline, parent: Option<&SectionGroupId>) -> u64 {
    order::rank_after(outline.children(parent).last().map(OutlineNode::rank))
}

/// Parses the id of a group in a request field.
pub(super) fn parse_group(field: &str, id: &Patch<String>) -> Result<Patch<SectionGroupId>> {
    Ok(match id {
        Patch::Keep => Patch::Keep,
        Patch::Clear => Patch::Clear,
        Patch::Set(id) => Patch::Set(id.parse().map_err(|_| unknown_group(field))?),
    })
}

/// Rejects groups that are nested too deeply.
pub(super) fn check_depth(depth: usize) -> Result<()> {
    if depth <= MAX_GROUP_DEPTH {
        return Ok(());
    }
    Err(Error::conflict(format!("section groups must be nested at most {MAX_GROUP_DEPTH} levels deep")))
}

pub(super) fn missing() -> Error {
    Error::not_found("section group")
}

pub(super) fn unknown_group(field: &str) -> Error {
    Error::invalid(field, "the site has no such section group")
}
