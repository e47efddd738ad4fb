//! Sections of a site.

use std::sync::Arc;

use async_trait::async_trait;
use docs_macros::{boxed, operation};

use super::{
    groups::{last_rank, parse_group, unknown_group},
    order,
    part_space::PartSpace,
    paths::{free_section_path, rename},
    places::{NewPlace, append, check_spaces},
};
use crate::{
    Error, Result,
    model::{
        AddSection, JobId, Patch, SectionGroupId, SectionId, SiteSection, SiteSpaceId, SiteStructure,
        SiteTitle, Timestamp, UpdateSection,
    },
    platform::{
        kernel::{actor::Actor, platform::Platform},
        nouns::{SectionHandle, Sections, SiteHandle, SiteRef, list_identities},
        publishing::outline::{MAX_SECTIONS, OutlineNode, SiteOutline},
        sites::{
            manage::{SiteTarget, parse_place},
            settings,
        },
    },
    store::{
        Operation, Page, PageRequest, Tx,
        records::{SectionRecord, SiteRecord, SiteSpaceRecord, SpaceRecord},
    },
};

/// The request field with the group of a section.
const GROUP: &str = "siteSectionGroupId";

impl<'p> SiteHandle<'p> {
    /// Reads the parts of a site's structure visible to the actor: sections and groups, or spaces without sections.
    #[boxed]
    pub async fn structure(self) -> Result<SiteStructure> {
        let (platform, ref actor, at, share_key) = self.parts();
        let of = at.with_share_key(share_key);
        let (tx, opened) = platform.open_site(actor, of).await?;
        let outline = &opened.outline;
        let ids: Vec<SiteSpaceId> = outline.all_places().iter().map(|place| place.id.clone()).collect();
        Ok(platform.view_places(&tx, &opened, &ids).await?.structure())
    }
}

impl<'p> Sections<'p> {
    /// Lists the sections of a site, inside and outside groups, in site order.
    #[boxed]
    pub async fn list(self, page: &'p PageRequest) -> Result<Page<SiteSection>> {
        let (platform, ref actor, at, share_key) = self.parts();
        let of = at.with_share_key(share_key);
        let (tx, opened) = platform.open_site(actor, of).await?;
        let outline = &opened.outline;
        let sections = outline.sections();
        let count = sections.len() as u64;
        let at = |section: &Arc<SectionRecord>| outline.position(&OutlineNode::Section(Arc::clone(section)));
        let items = sections.into_iter().map(|section| (at(section), Arc::clone(section))).collect();
        let page = order::page(items, &list_identities::sections(&opened.site.id), page)?;
        let places = page.items.iter().flat_map(|section| outline.places(Some(&section.id)));
        let ids: Vec<SiteSpaceId> = places.map(|place| place.id.clone()).collect();
        let seen = platform.view_places(&tx, &opened, &ids).await?;
        let items = page.items.iter().map(|section| seen.section(section)).collect();
        Ok(Page { items, next: page.next, count: Some(count) })
    }
}

impl<'p> SectionHandle<'p> {
    /// Changes a section. Omitted fields stay unchanged, and a new title does not change the path. Former paths of the
    /// section redirect to the current one. A section that moves becomes the last child of its new group.
    ///
    /// # Errors
    ///
    /// `Forbidden` unless the actor manages the site; `Conflict` if the path is taken by another section; `Invalid` for
    /// a default space that is not in the section, and for an unknown group.
    #[boxed]
    pub async fn update(self, change: UpdateSection) -> Result<SiteSection> {
        let (platform, ref actor, of, id) = self.parts();
        let on = SiteTarget::new(actor, of);
        let group = parse_group(GROUP, &change.site_section_group_id)?;
        let update = section_update(&on, id, &group, &change, platform.now());
        platform
            .write_and_show(actor, &update, |done| {
                Box::pin(platform.read_section_view(done.tx, actor, of, id))
            })
            .await
    }

    /// Deletes a section, and removes its spaces from the site together with redirects to them. The spaces themselves
    /// are not deleted. Returns `true` if the section existed.
    ///
    /// If it was the default, the first remaining section becomes the default. After the last section is deleted, the
    /// site has no sections and no spaces.
    ///
    /// # Errors
    ///
    /// `Forbidden` unless the actor manages the site.
    #[boxed]
    pub async fn delete(self) -> Result<bool> {
        let (platform, ref actor, of, id) = self.parts();
        let (on, job, now) = (SiteTarget::new(actor, of), platform.id(), platform.now());
        let delete = section_deletion(&on, id, &job, now);
        Error::ignore_not_found(platform.write(actor, &delete).await)
    }
}

impl Platform {
    /// Adds a section with its first space to a site.
    pub(in crate::platform) async fn add_section(
        &self,
        actor: &Actor,
        of: SiteRef<'_>,
        add: AddSection,
        space: PartSpace,
    ) -> Result<SiteSection> {
        let group = add.site_section_group_id.as_ref().map(|id| id.parse());
        let group = group.transpose().map_err(|_| unknown_group(GROUP))?;
        let operation = SectionCreation {
            on: SiteTarget::new(actor, of),
            space,
            group,
            id: self.id(),
            place: self.id(),
            wrapper: self.id(),
            add,
        };
        let id = &operation.id;
        self.check_part_space(&operation.space)?;
        self.write_and_show(actor, &operation, |done| {
            Box::pin(self.read_section_view(done.tx, actor, of, id))
        })
        .await
    }

    /// Builds the view of a section, as of the transaction.
    pub(super) async fn read_section_view(
        &self,
        tx: &Tx,
        actor: &Actor,
        of: SiteRef<'_>,
        id: &SectionId,
    ) -> Result<SiteSection> {
        let opened = self.load_visible_site(tx, actor, of.into()).await?;
        let outline = &opened.outline;
        let section = outline.section(id).cloned().ok_or_else(missing)?;
        let ids: Vec<SiteSpaceId> = outline.places(Some(id)).iter().map(|place| place.id.clone()).collect();
        Ok(self.view_places(tx, &opened, &ids).await?.section(&section))
    }
}

struct SectionCreation {
    on: SiteTarget,
    space: PartSpace,
    /// The group that contains the section, or `None` for the top level.
    group: Option<SectionGroupId>,
    id: SectionId,
    place: SiteSpaceId,
    /// The id of the section for the existing spaces of the site.
    wrapper: SectionId,
    add: AddSection,
}

#[async_trait]
impl Operation for SectionCreation {
    type Output = ();
    const NAME: &'static str = "site_section_add";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let (site, outline) = self.on.load_outline(tx).await?;
        if let Some(group) = &self.group {
            outline.group(group).ok_or_else(|| unknown_group(GROUP))?;
        }
        let space = self.space.obtain(tx, &self.on).await?;
        check_spaces(&outline)?;
        check_sections(&outline)?;
        let mut last = outline.children(None).last().map(OutlineNode::rank);
        let mut default = site.default_section.clone();
        if !outline.places(None).is_empty() {
            last = Some(self.wrap(tx, &site, &outline, order::rank_after(last)).await?);
            default = Some(self.wrapper.clone());
        }
        let new = NewPlace { id: &self.place, space: &space, title: None, draft: false };
        append(tx, &site, Some(&self.id), &[], new).await?;
        let beside = outline.places(site.default_section.as_ref());
        let rank = match &self.group {
            Some(group) => last_rank(&outline, Some(group)),
            None => order::rank_after(last),
        };
        self.section(tx, &site, beside, &space, rank).await?;
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

impl SectionCreation {
    /// Creates the new section.
    async fn section(
        &self,
        tx: &mut Tx,
        site: &SiteRecord,
        beside: &[Arc<SiteSpaceRecord>],
        space: &SpaceRecord,
        rank: u64,
    ) -> Result<()> {
        let title = match &self.add.title {
            Some(title) => title.clone(),
            // A space title may be shorter than the minimum length of a section title.
            None => SiteTitle::from_truncated(&space.title)
                .or_else(|| SiteTitle::from_truncated("Untitled"))
                .ok_or_else(crate::platform::sites::manage::title_error)?,
        };
        tx.create(SectionRecord {
            id: self.id.clone(),
            site: site.id.clone(),
            group: self.group.clone(),
            rank,
            path: free_section_path(tx, &site.id, beside, &title, self.id.as_str()).await?,
            former_paths: Vec::new(),
            title,
            description: None,
            icon: self.add.icon.clone(),
            condition: None,
            default_site_space: Some(self.place.clone()),
            localized_title: Default::default(),
            localized_description: Default::default(),
            draft: self.add.draft.unwrap_or_default(),
        });
        Ok(())
    }

    /// Moves the spaces of a site without sections into a section. Returns the rank of the section.
    async fn wrap(&self, tx: &mut Tx, site: &SiteRecord, outline: &SiteOutline, rank: u64) -> Result<u64> {
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
            localized_title: Default::default(),
            localized_description: Default::default(),
            draft: false,
        });
        for place in places {
            let section = Some(self.wrapper.clone());
            tx.put(&**place, SiteSpaceRecord { section, ..SiteSpaceRecord::clone(place) })?;
        }
        Ok(rank)
    }
}

#[operation("site_section_update", taken_error = |_| Error::conflict("path: is in use by another section of the site"))]
async fn section_update(
    tx: &mut Tx,
    on: &SiteTarget,
    id: &SectionId,
    group: &Patch<SectionGroupId>,
    change: &UpdateSection,
    now: Timestamp,
) -> Result<()> {
    let (_, outline) = on.load_outline(tx).await?;
    let old = outline.section(id).ok_or_else(missing)?;
    let change = change.clone();
    let mut new = SectionRecord::clone(old);
    new.title = change.title.unwrap_or(new.title);
    if let Some(path) = change.path {
        rename(&mut new.path, &mut new.former_paths, path, now);
    }
    new.condition = change.condition.apply(new.condition);
    new.icon = change.icon.apply(new.icon);
    new.description = change.description.apply(new.description);
    new.localized_title = change.localized_title.unwrap_or(new.localized_title);
    new.localized_description = change.localized_description.unwrap_or(new.localized_description);
    new.draft = change.draft.unwrap_or(new.draft);
    let group = group.clone().apply(new.group.clone());
    if group != new.group {
        if let Some(group) = &group {
            outline.group(group).ok_or_else(|| unknown_group(GROUP))?;
        }
        new.rank = last_rank(&outline, group.as_ref());
        new.group = group;
    }
    if let Some(wanted) = change.default_site_space {
        let default = parse_place("defaultSiteSpace", &wanted)?;
        if outline.place(&default).is_none_or(|place| place.section.as_ref() != Some(id)) {
            return Err(Error::invalid("defaultSiteSpace", "the section has no such site space"));
        }
        new.default_site_space = Some(default);
    }
    if new != **old {
        tx.put(&**old, new)?;
    }
    Ok(())
}

/// Deletes a section. `job` removes redirects that exceed the batch.
#[operation("site_section_delete")]
async fn section_deletion(
    tx: &mut Tx,
    on: &SiteTarget,
    id: &SectionId,
    job: &JobId,
    now: Timestamp,
) -> Result<()> {
    let (site, outline) = on.load_outline(tx).await?;
    let section = outline.section(id).ok_or_else(missing)?;
    let places = outline.places(Some(id)).iter().map(|place| place.id.to_string());
    let parts = places.chain([id.to_string()]).collect();
    settings::delete_redirects(tx, &site.id, parts, job, now).await?;
    for place in outline.places(Some(id)) {
        tx.delete(&**place);
        settings::delete_override(tx, &site.id, &place.id).await?;
    }
    tx.delete(&**section);
    if outline.is_default_section(section) {
        let remain = outline.sections();
        let first = remain.into_iter().find(|other| other.id != *id);
        let default_section = first.map(|first| first.id.clone());
        tx.put(&*site, SiteRecord { default_section, ..SiteRecord::clone(&site) })?;
    }
    Ok(())
}

/// Rejects a section that exceeds the limit per site.
pub(super) fn check_sections(outline: &SiteOutline) -> Result<()> {
    if outline.sections().len() < MAX_SECTIONS {
        return Ok(());
    }
    Err(Error::conflict(format!("a site must have at most {MAX_SECTIONS} sections")))
}

pub(super) fn missing() -> Error {
    Error::not_found("section")
}
