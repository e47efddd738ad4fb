//! Groups of the sections of a site.

use std::{collections::BTreeSet, sync::Arc};

use async_trait::async_trait;
use docs_macros::boxed;

use super::{order, places::no_section};
use crate::{
    Error, Result,
    model::{
        AddSectionGroup, AddSectionToGroup, SectionGroupId, SectionId, SiteSectionGroup, SiteSpaceId,
        UpdateSectionGroup,
    },
    platform::{
        kernel::{actor::Actor, platform::Platform, request::Right},
        nouns::{SectionGroupHandle, SectionGroups, SiteRef, list_identities},
        publishing::outline::{MAX_GROUP_DEPTH, MAX_GROUPS, Node, Outline},
        sites::manage::On,
    },
    store::{
        Operation, Page, PageRequest, Tx,
        records::{SectionGroupRecord, SectionRecord},
    },
};

impl<'p> SectionGroups<'p> {
    /// Lists the groups of a site in the site's order, each before its descendants.
    #[boxed]
    pub async fn list(self, page: &'p PageRequest) -> Result<Page<SiteSectionGroup>> {
        let Self { caller, at, share_key } = self;
        let (platform, actor) = (caller.platform, &caller.actor());
        let of = at.opened_with(share_key);
        let (tx, opened) = platform.open_site(actor, of).await?;
        let outline = &opened.outline;
        let groups = outline.groups();
        let count = groups.len() as u64;
        let at = |group: &Arc<SectionGroupRecord>| outline.position(&Node::Group(Arc::clone(group)));
        let items = groups.into_iter().map(|group| (at(group), Arc::clone(group))).collect();
        let page = order::page(items, &list_identities::section_groups(&opened.site.id), page)?;
        let ids = places_in(outline, &page.items);
        let seen = platform.seen(&tx, &opened, &ids).await?;
        let items = page.items.iter().map(|group| seen.group(group)).collect();
        Ok(Page { items, next: page.next, count: Some(count) })
    }

    /// Adds a group to a site or to another group, last in order, and moves sections into it.
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
    /// let new = AddSectionGroup { title: "Products".parse()?, icon: None, sections, parent: None };
    /// let group = me.org(org).site(site).section_groups().create(new).await?;
    /// println!("{}", group.id);
    /// # Ok(())
    /// # }
    /// ```
    #[boxed]
    pub async fn create(self, add: AddSectionGroup) -> Result<SiteSectionGroup> {
        let Self { caller, at: of, .. } = self;
        let (platform, actor) = (caller.platform, &caller.actor());
        let done = platform.once(actor, Right::of_site(of), async move {
            let mut sections = Vec::new();
            for (at, id) in add.sections.iter().flatten().enumerate() {
                let field = format!("sections[{at}]");
                let id: SectionId = id.parse().map_err(|_| no_section(&field))?;
                sections.push((field, id));
            }
            let parent = add.parent.as_ref().map(|id| id.parse().map_err(|_| no_group("parent")));
            let parent = parent.transpose()?;
            let operation =
                SectionGroupCreation { on: On::new(actor, of), id: platform.id(), sections, parent, add };
            let id = &operation.id;
            platform
                .write_and_show(actor, &operation, |done| {
                    Box::pin(platform.group_seen(done.tx, actor, of, id))
                })
                .await
        });
        done.await
    }
}

impl<'p> SectionGroupHandle<'p> {
    /// Changes a group. Omitted fields stay unchanged.
    ///
    /// # Errors
    ///
    /// `Forbidden` unless the actor manages the site.
    #[boxed]
    pub async fn update(self, change: UpdateSectionGroup) -> Result<SiteSectionGroup> {
        let Self { caller, at: of, group: id } = self;
        let (platform, actor) = (caller.platform, &caller.actor());
        let update = SectionGroupUpdate { on: On::new(actor, of), id: id.clone(), change };
        platform
            .write_and_show(actor, &update, |done| Box::pin(platform.group_seen(done.tx, actor, of, id)))
            .await
    }

    /// Deletes a group. Its sections and groups take its place. Returns `true` if it existed.
    ///
    /// # Errors
    ///
    /// `Forbidden` unless the actor manages the site.
    #[boxed]
    pub async fn delete(self) -> Result<bool> {
        let Self { caller, at: of, group: id } = self;
        let (platform, actor) = (caller.platform, &caller.actor());
        Error::existed(
            platform.write(actor, &SectionGroupDeletion { on: On::new(actor, of), id: id.clone() }).await,
        )
    }

    /// Moves a section into a group, last in order. A section that is already in the group keeps its position.
    ///
    /// # Errors
    ///
    /// `Forbidden` unless the actor manages the site; `Invalid` for an unknown section.
    #[boxed]
    pub async fn add_section(self, add: AddSectionToGroup) -> Result<SiteSectionGroup> {
        let Self { caller, at: of, group: id } = self;
        let (platform, actor) = (caller.platform, &caller.actor());
        let done = platform.once(actor, Right::of_site(of), async move {
            let section = add.section_id.parse().map_err(|_| no_section("sectionId"))?;
            let gather = PutSectionInGroup { on: On::new(actor, of), id: id.clone(), section };
            platform
                .write_and_show(actor, &gather, |done| Box::pin(platform.group_seen(done.tx, actor, of, id)))
                .await
        });
        done.await
    }

    /// Moves a section out of a group, to the position after the group. Returns `true` if it was in the group.
    ///
    /// # Errors
    ///
    /// `Forbidden` unless the actor manages the site.
    #[boxed]
    pub async fn remove_section(self, section: &'p SectionId) -> Result<bool> {
        let Self { caller, at: of, group: id } = self;
        let (platform, actor) = (caller.platform, &caller.actor());
        let operation =
            RemoveSectionFromGroup { on: On::new(actor, of), id: id.clone(), section: section.clone() };
        Error::existed(platform.write(actor, &operation).await)
    }
}

impl Platform {
    /// A group in the state of a transaction.
    pub(super) async fn group_seen(
        &self,
        tx: &Tx,
        actor: &Actor,
        of: SiteRef<'_>,
        id: &SectionGroupId,
    ) -> Result<SiteSectionGroup> {
        let opened = self.opened(tx, actor, of.into()).await?;
        let outline = &opened.outline;
        let group = outline.group(id).cloned().ok_or_else(missing)?;
        let ids = places_in(outline, std::slice::from_ref(&group));
        Ok(self.seen(tx, &opened, &ids).await?.group(&group))
    }
}

/// The spaces of all sections in these groups and their descendants.
fn places_in(outline: &Outline, groups: &[Arc<SectionGroupRecord>]) -> Vec<SiteSpaceId> {
    let groups: BTreeSet<&SectionGroupId> = groups.iter().map(|group| &group.id).collect();
    let inside = outline
        .sections()
        .into_iter()
        .filter(|section| outline.chain(section.group.as_ref()).iter().any(|above| groups.contains(above)));
    let places = inside.flat_map(|section| outline.places(Some(&section.id)));
    places.map(|place| place.id.clone()).collect()
}

struct SectionGroupCreation {
    on: On,
    id: SectionGroupId,
    /// The sections to move into it, each with the request field that names it.
    sections: Vec<(String, SectionId)>,
    parent: Option<SectionGroupId>,
    add: AddSectionGroup,
}

#[async_trait]
impl Operation for SectionGroupCreation {
    type Out = ();
    const NAME: &'static str = "site_section_group_add";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let (site, outline) = self.on.open(tx).await?;
        if outline.groups().len() >= MAX_GROUPS {
            return Err(Error::conflict(format!("a site must have at most {MAX_GROUPS} section groups")));
        }
        if let Some(parent) = &self.parent {
            outline.group(parent).ok_or_else(|| no_group("parent"))?;
            check_depth(outline.chain(Some(parent)).len() + 1)?;
        }
        let (mut sections, mut named) = (Vec::new(), BTreeSet::new());
        for (field, id) in &self.sections {
            let section = outline.section(id).ok_or_else(|| no_section(field))?;
            if !named.insert(id) {
                return Err(Error::invalid(field, "must not contain a section twice"));
            }
            sections.push(Node::Section(Arc::clone(section)));
        }
        tx.create(SectionGroupRecord {
            id: self.id.clone(),
            site: site.id.clone(),
            parent: self.parent.clone(),
            rank: order::behind(outline.children(self.parent.as_ref()).last().map(Node::rank)),
            title: self.add.title.clone(),
            icon: self.add.icon.clone(),
        });
        order::seat(tx, Some(&self.id), &[], 0, &sections)
    }
}

struct SectionGroupUpdate {
    on: On,
    id: SectionGroupId,
    change: UpdateSectionGroup,
}

#[async_trait]
impl Operation for SectionGroupUpdate {
    type Out = ();
    const NAME: &'static str = "site_section_group_update";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let site = self.on.manage(tx).await?;
        let old: Option<Arc<SectionGroupRecord>> = tx.get(&SectionGroupRecord::at(&self.id)).await?;
        let old = old.filter(|group| group.site == site.id).ok_or_else(missing)?;
        let change = self.change.clone();
        let mut new = SectionGroupRecord::clone(&old);
        new.title = change.title.unwrap_or(new.title);
        new.icon = change.icon.apply(new.icon);
        if new != *old {
            tx.put(&*old, new)?;
        }
        Ok(())
    }
}

struct SectionGroupDeletion {
    on: On,
    id: SectionGroupId,
}

#[async_trait]
impl Operation for SectionGroupDeletion {
    type Out = ();
    const NAME: &'static str = "site_section_group_delete";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let (_, outline) = self.on.open(tx).await?;
        let group = outline.group(&self.id).ok_or_else(missing)?;
        let parent = group.parent.as_ref();
        let (stay, at) = without(&outline, parent, self.id.as_str());
        order::seat(tx, parent, &stay, at, outline.children(Some(&self.id)))?;
        tx.delete(&**group);
        Ok(())
    }
}

struct PutSectionInGroup {
    on: On,
    id: SectionGroupId,
    section: SectionId,
}

#[async_trait]
impl Operation for PutSectionInGroup {
    type Out = ();
    const NAME: &'static str = "site_section_group_gather";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let (_, outline) = self.on.open(tx).await?;
        let group = outline.group(&self.id).ok_or_else(missing)?;
        let section = outline.section(&self.section).ok_or_else(|| no_section("sectionId"))?;
        if section.group.as_ref() == Some(&group.id) {
            return Ok(());
        }
        let stay = outline.children(Some(&group.id));
        order::seat(tx, Some(&group.id), stay, stay.len(), &[Node::Section(Arc::clone(section))])
    }
}

struct RemoveSectionFromGroup {
    on: On,
    id: SectionGroupId,
    section: SectionId,
}

#[async_trait]
impl Operation for RemoveSectionFromGroup {
    type Out = ();
    const NAME: &'static str = "site_section_group_release";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let (_, outline) = self.on.open(tx).await?;
        let group = outline.group(&self.id).ok_or_else(missing)?;
        let is_inside = |section: &&Arc<SectionRecord>| section.group.as_ref() == Some(&group.id);
        let section = outline.section(&self.section).filter(is_inside);
        let section = section.ok_or_else(|| Error::not_found("section"))?;
        let parent = group.parent.as_ref();
        let stay = outline.children(parent);
        let at = stay.iter().position(|node| node.id() == self.id.as_str()).map_or(stay.len(), |at| at + 1);
        order::seat(tx, parent, stay, at, &[Node::Section(Arc::clone(section))])
    }
}

/// Returns the other children of a group or site, and the index of the given one.
pub(super) fn without(outline: &Outline, parent: Option<&SectionGroupId>, id: &str) -> (Vec<Node>, usize) {
    let all = outline.children(parent);
    let at = all.iter().position(|node| node.id() == id).unwrap_or(all.len());
    (all.iter().filter(|node| node.id() != id).cloned().collect(), at)
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

fn no_group(field: &str) -> Error {
    Error::invalid(field, "the site has no such section group")
}
