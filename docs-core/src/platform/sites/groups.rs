//! Groups of the sections of a site.

use std::{collections::BTreeSet, sync::Arc};

use async_trait::async_trait;

use super::{
    SiteOf,
    change::On,
    order,
    outline::{MAX_GROUP_DEPTH, MAX_GROUPS, Node, Outline},
    places::no_section,
};
use crate::{
    BoxFuture, Error, ErrorKind, Result,
    model::{
        AddSectionGroup, AddSectionToGroup, OrgId, SectionGroupId, SectionId, SiteId, SiteSectionGroup,
        SiteSpaceId, UpdateSectionGroup,
    },
    platform::{Actor, Platform},
    store::{
        Operation, Page, PageRequest, Tx,
        records::{SectionGroupRecord, SectionRecord},
    },
};

impl Platform {
    /// Lists the groups of a site, in the site's order, each before those that lie in it (SPEC 4.6).
    ///
    /// # Errors
    /// `NotFound`; `Invalid` for a wrong page or limit.
    pub fn list_section_groups<'a>(
        &'a self,
        actor: &'a Actor,
        of: impl Into<SiteOf<'a>>,
        page: &'a PageRequest,
    ) -> BoxFuture<'a, Result<Page<SiteSectionGroup>>> {
        self.list_section_groups_of(actor, of.into(), page)
    }

    fn list_section_groups_of<'a>(
        &'a self,
        actor: &'a Actor,
        of: SiteOf<'a>,
        page: &'a PageRequest,
    ) -> BoxFuture<'a, Result<Page<SiteSectionGroup>>> {
        Box::pin(async move {
            let (tx, opened) = self.open_site(actor, of).await?;
            let outline = &opened.outline;
            let groups = outline.groups();
            let count = groups.len() as u64;
            let at = |group: &Arc<SectionGroupRecord>| outline.position(&Node::Group(Arc::clone(group)));
            let items = groups.into_iter().map(|group| (at(group), Arc::clone(group))).collect();
            let page = order::page(items, &["section-groups", opened.site.id.as_str()], page)?;
            let ids = places_in(outline, &page.items);
            let seen = self.seen(&tx, &opened, &ids).await?;
            let items = page.items.iter().map(|group| seen.group(group)).collect();
            Ok(Page { items, next: page.next, count: Some(count) })
        })
    }

    /// Adds a group to a site, or to another group of it, last in order, and moves sections into it (SPEC 4.6).
    ///
    /// # Errors
    /// `NotFound`, `Forbidden`; `Invalid` for unknown sections or an unknown parent; `Conflict` when the site is full,
    /// or groups would lie too deep in each other.
    pub fn add_section_group<'a>(
        &'a self,
        actor: &'a Actor,
        of: (&'a OrgId, &'a SiteId),
        add: AddSectionGroup,
    ) -> BoxFuture<'a, Result<SiteSectionGroup>> {
        Box::pin(self.once(actor, async move {
            let mut sections = Vec::new();
            for (at, id) in add.sections.iter().flatten().enumerate() {
                let field = format!("sections[{at}]");
                let id: SectionId = id.parse().map_err(|_| no_section(&field))?;
                sections.push((field, id));
            }
            let parent = add.parent.as_ref().map(|id| id.parse().map_err(|_| no_group("parent")));
            let parent = parent.transpose()?;
            let operation = Add { on: On::new(actor, of), id: self.id(), sections, parent, add };
            let id = &operation.id;
            self.write_and_show(actor, &operation, |done| Box::pin(self.group_seen(done.tx, actor, of, id)))
                .await
        }))
    }

    /// Changes a group (SPEC 4.6). What the request leaves out stays.
    ///
    /// # Errors
    /// `NotFound`, `Forbidden`.
    pub fn update_section_group<'a>(
        &'a self,
        actor: &'a Actor,
        of: (&'a OrgId, &'a SiteId),
        id: &'a SectionGroupId,
        change: UpdateSectionGroup,
    ) -> BoxFuture<'a, Result<SiteSectionGroup>> {
        Box::pin(async move {
            let update = Update { on: On::new(actor, of), id: id.clone(), change };
            self.write_and_show(actor, &update, |done| Box::pin(self.group_seen(done.tx, actor, of, id)))
                .await
        })
    }

    /// Deletes a group: the sections and groups in it take its place. Answers whether it was there.
    ///
    /// # Errors
    /// `Forbidden`.
    pub fn delete_section_group<'a>(
        &'a self,
        actor: &'a Actor,
        of: (&'a OrgId, &'a SiteId),
        id: &'a SectionGroupId,
    ) -> BoxFuture<'a, Result<bool>> {
        Box::pin(async move {
            match self.write(actor, &Delete { on: On::new(actor, of), id: id.clone() }).await {
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
                other => other.map(|()| true),
            }
        })
    }

    /// Moves a section into a group, last in order; one that is in it stays where it is (SPEC 4.6).
    ///
    /// # Errors
    /// `NotFound`, `Forbidden`; `Invalid` for an unknown section.
    pub fn add_section_to_group<'a>(
        &'a self,
        actor: &'a Actor,
        of: (&'a OrgId, &'a SiteId),
        id: &'a SectionGroupId,
        add: &'a AddSectionToGroup,
    ) -> BoxFuture<'a, Result<SiteSectionGroup>> {
        Box::pin(self.once(actor, async move {
            let section = add.section_id.parse().map_err(|_| no_section("sectionId"))?;
            let gather = Gather { on: On::new(actor, of), id: id.clone(), section };
            self.write_and_show(actor, &gather, |done| Box::pin(self.group_seen(done.tx, actor, of, id)))
                .await
        }))
    }

    /// Moves a section out of a group, to behind that. Answers whether it was in it.
    ///
    /// # Errors
    /// `Forbidden`.
    pub fn remove_section_from_group<'a>(
        &'a self,
        actor: &'a Actor,
        of: (&'a OrgId, &'a SiteId),
        id: &'a SectionGroupId,
        section: &'a SectionId,
    ) -> BoxFuture<'a, Result<bool>> {
        Box::pin(async move {
            let operation = Release { on: On::new(actor, of), id: id.clone(), section: section.clone() };
            match self.write(actor, &operation).await {
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
                other => other.map(|()| true),
            }
        })
    }

    /// A group, as a transaction sees it.
    pub(super) async fn group_seen(
        &self,
        tx: &Tx,
        actor: &Actor,
        of: (&OrgId, &SiteId),
        id: &SectionGroupId,
    ) -> Result<SiteSectionGroup> {
        let opened = self.opened(tx, actor, of.into()).await?;
        let outline = &opened.outline;
        let group = outline.group(id).cloned().ok_or_else(missing)?;
        let ids = places_in(outline, std::slice::from_ref(&group));
        Ok(self.seen(tx, &opened, &ids).await?.group(&group))
    }
}

/// The spaces of all sections that lie in these groups, however deep.
fn places_in(outline: &Outline, groups: &[Arc<SectionGroupRecord>]) -> Vec<SiteSpaceId> {
    let groups: BTreeSet<&SectionGroupId> = groups.iter().map(|group| &group.id).collect();
    let inside = outline
        .sections()
        .into_iter()
        .filter(|section| outline.chain(section.group.as_ref()).iter().any(|above| groups.contains(above)));
    let places = inside.flat_map(|section| outline.places(Some(&section.id)));
    places.map(|place| place.id.clone()).collect()
}

struct Add {
    on: On,
    id: SectionGroupId,
    /// Sections to move into it, each with the field that names it.
    sections: Vec<(String, SectionId)>,
    parent: Option<SectionGroupId>,
    add: AddSectionGroup,
}

#[async_trait]
impl Operation for Add {
    type Out = ();
    const NAME: &'static str = "site_section_group_add";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let (site, outline) = self.on.open(tx).await?;
        if outline.groups().len() >= MAX_GROUPS {
            return Err(Error::conflict(format!("a site has at most {MAX_GROUPS} groups of sections")));
        }
        if let Some(parent) = &self.parent {
            outline.group(parent).ok_or_else(|| no_group("parent"))?;
            check_depth(outline.chain(Some(parent)).len() + 1)?;
        }
        let (mut sections, mut named) = (Vec::new(), BTreeSet::new());
        for (field, id) in &self.sections {
            let section = outline.section(id).ok_or_else(|| no_section(field))?;
            if !named.insert(id) {
                return Err(Error::invalid(field, "names a section for the second time"));
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
        order::seat(tx, (Some(&self.id), &[]), 0, &sections)
    }
}

struct Update {
    on: On,
    id: SectionGroupId,
    change: UpdateSectionGroup,
}

#[async_trait]
impl Operation for Update {
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

struct Delete {
    on: On,
    id: SectionGroupId,
}

#[async_trait]
impl Operation for Delete {
    type Out = ();
    const NAME: &'static str = "site_section_group_delete";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let (_, outline) = self.on.open(tx).await?;
        let group = outline.group(&self.id).ok_or_else(missing)?;
        let parent = group.parent.as_ref();
        let (stay, at) = without(&outline, parent, self.id.as_str());
        order::seat(tx, (parent, &stay), at, outline.children(Some(&self.id)))?;
        tx.delete(&**group);
        Ok(())
    }
}

struct Gather {
    on: On,
    id: SectionGroupId,
    section: SectionId,
}

#[async_trait]
impl Operation for Gather {
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
        order::seat(tx, (Some(&group.id), stay), stay.len(), &[Node::Section(Arc::clone(section))])
    }
}

struct Release {
    on: On,
    id: SectionGroupId,
    section: SectionId,
}

#[async_trait]
impl Operation for Release {
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
        order::seat(tx, (parent, stay), at, &[Node::Section(Arc::clone(section))])
    }
}

/// What lies in a place besides one thing, and where that stands among it.
pub(super) fn without(outline: &Outline, parent: Option<&SectionGroupId>, id: &str) -> (Vec<Node>, usize) {
    let all = outline.children(parent);
    let at = all.iter().position(|node| node.id() == id).unwrap_or(all.len());
    (all.iter().filter(|node| node.id() != id).cloned().collect(), at)
}

/// Refuses what would make groups lie too deep in each other.
pub(super) fn check_depth(depth: usize) -> Result<()> {
    if depth <= MAX_GROUP_DEPTH {
        return Ok(());
    }
    Err(Error::conflict(format!("groups of sections lie at most {MAX_GROUP_DEPTH} deep in each other")))
}

pub(super) fn missing() -> Error {
    Error::not_found("section group")
}

fn no_group(field: &str) -> Error {
    Error::invalid(field, "the site has no such section group")
}
