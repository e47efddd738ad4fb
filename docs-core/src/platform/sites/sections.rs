//! The sections of a site.

use std::sync::Arc;

use async_trait::async_trait;

use super::{
    SiteOf,
    change::{On, manageable},
    order,
    outline::{MAX_SECTIONS, Node, Outline},
    parse_place,
    paths::{free_section_path, rename},
    places::{append, check_spaces},
};
use crate::{
    BoxFuture, Error, ErrorKind, Result,
    model::{
        AddSection, JobId, OrgId, SectionId, SiteId, SiteSection, SiteSpaceId, SiteStructure, SiteTitle,
        SpaceId, Timestamp, UpdateSection,
    },
    platform::{Actor, Platform, site_settings},
    store::{
        Key, Operation, Page, PageRequest, Tx,
        records::{SectionRecord, SiteRecord, SiteSpaceRecord, SpaceRecord},
    },
};

impl Platform {
    /// What a site consists of, as far as the actor sees it: sections and groups, or spaces without sections.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn site_structure<'a>(
        &'a self,
        actor: &'a Actor,
        of: impl Into<SiteOf<'a>>,
    ) -> BoxFuture<'a, Result<SiteStructure>> {
        self.site_structure_of(actor, of.into())
    }

    fn site_structure_of<'a>(
        &'a self,
        actor: &'a Actor,
        of: SiteOf<'a>,
    ) -> BoxFuture<'a, Result<SiteStructure>> {
        Box::pin(async move {
            let (tx, opened) = self.open_site(actor, of).await?;
            let outline = &opened.outline;
            let ids: Vec<SiteSpaceId> = outline.all_places().iter().map(|place| place.id.clone()).collect();
            Ok(self.seen(&tx, &opened, &ids).await?.structure())
        })
    }

    /// Lists the sections of a site, in groups and outside, in the site's order (SPEC 4.6).
    ///
    /// # Errors
    /// `NotFound`; `Invalid` for a wrong page or limit.
    pub fn list_sections<'a>(
        &'a self,
        actor: &'a Actor,
        of: impl Into<SiteOf<'a>>,
        page: &'a PageRequest,
    ) -> BoxFuture<'a, Result<Page<SiteSection>>> {
        self.list_sections_of(actor, of.into(), page)
    }

    fn list_sections_of<'a>(
        &'a self,
        actor: &'a Actor,
        of: SiteOf<'a>,
        page: &'a PageRequest,
    ) -> BoxFuture<'a, Result<Page<SiteSection>>> {
        Box::pin(async move {
            let (tx, opened) = self.open_site(actor, of).await?;
            let outline = &opened.outline;
            let sections = outline.sections();
            let count = sections.len() as u64;
            let at = |section: &Arc<SectionRecord>| outline.position(&Node::Section(Arc::clone(section)));
            let items = sections.into_iter().map(|section| (at(section), Arc::clone(section))).collect();
            let page = order::page(items, &["sections", opened.site.id.as_str()], page)?;
            let places = page.items.iter().flat_map(|section| outline.places(Some(&section.id)));
            let ids: Vec<SiteSpaceId> = places.map(|place| place.id.clone()).collect();
            let seen = self.seen(&tx, &opened, &ids).await?;
            let items = page.items.iter().map(|section| seen.section(section)).collect();
            Ok(Page { items, next: page.next, count: Some(count) })
        })
    }

    /// Adds a section with its first space to a site, last in order (SPEC 4.6).
    ///
    /// What a site without sections has before moves into a section of its own, which is called like the site and is
    /// the default: no address changes.
    ///
    /// # Errors
    /// `NotFound`, `Forbidden` without the right to manage the site and the space; `Invalid` for an unknown space;
    /// `Conflict` when the site is full.
    pub fn add_section<'a>(
        &'a self,
        actor: &'a Actor,
        of: (&'a OrgId, &'a SiteId),
        add: AddSection,
    ) -> BoxFuture<'a, Result<SiteSection>> {
        Box::pin(self.once(actor, async move {
            let space = add.space_id.parse().map_err(|_| Error::invalid("spaceId", "no such space"))?;
            let operation = Add {
                on: On::new(actor, of),
                space,
                id: self.id(),
                place: self.id(),
                wrapper: self.id(),
                add,
            };
            let id = &operation.id;
            self.write_and_show(actor, &operation, |done| Box::pin(self.section_seen(done.tx, actor, of, id)))
                .await
        }))
    }

    /// Changes a section (SPEC 4.6). What the request leaves out stays; the path stays when the title changes. Addresses
    /// with a path that the section had before lead to the one it has.
    ///
    /// # Errors
    /// `NotFound`, `Forbidden`; `Conflict` when another section has the path; `Invalid` for a default that is not in
    /// the section.
    pub fn update_section<'a>(
        &'a self,
        actor: &'a Actor,
        of: (&'a OrgId, &'a SiteId),
        id: &'a SectionId,
        change: UpdateSection,
    ) -> BoxFuture<'a, Result<SiteSection>> {
        Box::pin(async move {
            let update = Update { on: On::new(actor, of), id: id.clone(), change, now: self.now() };
            self.write_and_show(actor, &update, |done| Box::pin(self.section_seen(done.tx, actor, of, id)))
                .await
        })
    }

    /// Deletes a section and takes its spaces off the site; the spaces themselves stay. Answers whether it was there.
    /// Redirects to any of it go.
    ///
    /// The default passes to the first section that remains. A site that loses its last section has none again, and no
    /// spaces.
    ///
    /// # Errors
    /// `Forbidden`.
    pub fn delete_section<'a>(
        &'a self,
        actor: &'a Actor,
        of: (&'a OrgId, &'a SiteId),
        id: &'a SectionId,
    ) -> BoxFuture<'a, Result<bool>> {
        Box::pin(async move {
            let delete = Delete { on: On::new(actor, of), id: id.clone(), job: self.id(), now: self.now() };
            match self.write(actor, &delete).await {
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
                other => other.map(|()| true),
            }
        })
    }

    /// A section, as a transaction sees it.
    pub(super) async fn section_seen(
        &self,
        tx: &Tx,
        actor: &Actor,
        of: (&OrgId, &SiteId),
        id: &SectionId,
    ) -> Result<SiteSection> {
        let opened = self.opened(tx, actor, of.into()).await?;
        let outline = &opened.outline;
        let section = outline.section(id).cloned().ok_or_else(missing)?;
        let ids: Vec<SiteSpaceId> = outline.places(Some(id)).iter().map(|place| place.id.clone()).collect();
        Ok(self.seen(tx, &opened, &ids).await?.section(&section))
    }
}

struct Add {
    on: On,
    space: SpaceId,
    id: SectionId,
    place: SiteSpaceId,
    /// The section for what is on the site already.
    wrapper: SectionId,
    add: AddSection,
}

#[async_trait]
impl Operation for Add {
    type Out = ();
    const NAME: &'static str = "site_section_add";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let (site, outline) = self.on.open(tx).await?;
        let space = manageable(tx, &self.on.actor, (&self.on.org, &self.space), "spaceId").await?;
        check_spaces(&outline)?;
        if outline.sections().len() >= MAX_SECTIONS {
            return Err(Error::conflict(format!("a site has at most {MAX_SECTIONS} sections")));
        }
        let mut last = outline.children(None).last().map(Node::rank);
        let mut default = site.default_section.clone();
        if !outline.places(None).is_empty() {
            last = Some(self.wrap(tx, &site, &outline, order::behind(last)).await?);
            default = Some(self.wrapper.clone());
        }
        append(tx, (&site, Some(&self.id)), &[], &space, &self.place).await?;
        let beside = outline.places(site.default_section.as_ref());
        self.section(tx, (&site, beside), &space, order::behind(last)).await?;
        let new = SiteRecord {
            default_section: Some(default.unwrap_or_else(|| self.id.clone())),
            default_site_space: None,
            ..SiteRecord::clone(&site)
        };
        if new != *site {
            tx.put(&*site, new)?;
        }
        Ok(())
    }
}

impl Add {
    /// The new section.
    async fn section(
        &self,
        tx: &mut Tx,
        (site, beside): (&SiteRecord, &[Arc<SiteSpaceRecord>]),
        space: &SpaceRecord,
        rank: u64,
    ) -> Result<()> {
        let title = match &self.add.title {
            Some(title) => title.clone(),
            // The title of a space may be shorter than that of a section.
            None => SiteTitle::cut(&space.title)
                .or_else(|| SiteTitle::cut("Untitled"))
                .ok_or_else(super::untitled)?,
        };
        tx.create(SectionRecord {
            id: self.id.clone(),
            site: site.id.clone(),
            group: None,
            rank,
            path: free_section_path(tx, &site.id, beside, &title, self.id.as_str()).await?,
            former_paths: Vec::new(),
            title,
            description: None,
            icon: self.add.icon.clone(),
            condition: None,
            default_site_space: Some(self.place.clone()),
        });
        Ok(())
    }

    /// Moves the spaces of a site without sections into one. Answers its rank.
    async fn wrap(&self, tx: &mut Tx, site: &SiteRecord, outline: &Outline, rank: u64) -> Result<u64> {
        let places = outline.places(None);
        let path = free_section_path(tx, &site.id, places, &site.title, self.wrapper.as_str()).await?;
        tx.create(SectionRecord {
            id: self.wrapper.clone(),
            site: site.id.clone(),
            group: None,
            rank,
            title: site.title.clone(),
            path,
            former_paths: Vec::new(),
            description: None,
            icon: None,
            condition: None,
            default_site_space: site.default_site_space.clone(),
        });
        for place in places {
            let section = Some(self.wrapper.clone());
            tx.put(&**place, SiteSpaceRecord { section, ..SiteSpaceRecord::clone(place) })?;
        }
        Ok(rank)
    }
}

struct Update {
    on: On,
    id: SectionId,
    change: UpdateSection,
    now: Timestamp,
}

#[async_trait]
impl Operation for Update {
    type Out = ();
    const NAME: &'static str = "site_section_update";

    fn taken(&self, _key: &Key) -> Error {
        Error::conflict("path: another section of the site has it")
    }

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let site = self.on.manage(tx).await?;
        let old: Option<Arc<SectionRecord>> = tx.get(&SectionRecord::at(&self.id)).await?;
        let old = old.filter(|section| section.site == site.id).ok_or_else(missing)?;
        let change = self.change.clone();
        let mut new = SectionRecord::clone(&old);
        new.title = change.title.unwrap_or(new.title);
        if let Some(path) = change.path {
            rename((&mut new.path, &mut new.former_paths), path, self.now);
        }
        new.condition = change.condition.apply(new.condition);
        new.icon = change.icon.apply(new.icon);
        new.description = change.description.apply(new.description);
        if let Some(wanted) = change.default_site_space {
            let id = parse_place("defaultSiteSpace", &wanted)?;
            let place: Option<Arc<SiteSpaceRecord>> = tx.get(&SiteSpaceRecord::at(&id)).await?;
            if place.is_none_or(|place| place.section.as_ref() != Some(&self.id)) {
                return Err(Error::invalid("defaultSiteSpace", "the section has no such site space"));
            }
            new.default_site_space = Some(id);
        }
        if new != *old {
            tx.put(&*old, new)?;
        }
        Ok(())
    }
}

struct Delete {
    on: On,
    id: SectionId,
    /// For redirects that do not fit.
    job: JobId,
    now: Timestamp,
}

#[async_trait]
impl Operation for Delete {
    type Out = ();
    const NAME: &'static str = "site_section_delete";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let (site, outline) = self.on.open(tx).await?;
        let section = outline.section(&self.id).ok_or_else(missing)?;
        let places = outline.places(Some(&self.id)).iter().map(|place| place.id.to_string());
        let parts = places.chain([self.id.to_string()]).collect();
        site_settings::drop_redirects(tx, &site.id, parts, (&self.job, self.now)).await?;
        for place in outline.places(Some(&self.id)) {
            tx.delete(&**place);
            site_settings::drop_override(tx, &site.id, &place.id).await?;
        }
        tx.delete(&**section);
        if outline.is_default_section(section) {
            let remain = outline.sections();
            let first = remain.into_iter().find(|other| other.id != self.id);
            let default_section = first.map(|first| first.id.clone());
            tx.put(&*site, SiteRecord { default_section, ..SiteRecord::clone(&site) })?;
        }
        Ok(())
    }
}

pub(super) fn missing() -> Error {
    Error::not_found("section")
}
