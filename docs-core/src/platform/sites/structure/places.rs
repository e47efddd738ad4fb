//! Spaces on a site (site spaces).

use std::sync::Arc;

use docs_macros::{boxed, operation};

use super::{
    order,
    part_space::PartSpace,
    paths::{free_place_path, rename},
};
use crate::{
    Error, Result,
    model::{
        AddSiteSpace, JobId, SectionId, SiteSpace, SiteSpaceId, SiteTitle, SpaceId, Timestamp,
        UpdateSiteSpace,
    },
    platform::{
        access,
        kernel::{actor::Actor, platform::Platform},
        nouns::{SiteRef, SiteSpaceHandle, SiteSpaces, list_identities},
        publishing::outline::{MAX_SPACES, SiteOutline},
        sites::{
            manage::{SiteTarget, require_manageable_space},
            settings,
        },
    },
    store::{
        Page, PageRequest, Tx,
        records::{SectionRecord, SiteRecord, SiteSpaceRecord, SpaceRecord},
    },
};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SiteSpaceFilter {
    /// Selects only the default space of the site, or only the other spaces.
    pub default: Option<bool>,
}

impl<'p> SiteSpaces<'p> {
    /// Lists the spaces on a site visible to the actor, in site order. The default space of each section is marked.
    #[boxed]
    pub async fn list(self, filter: SiteSpaceFilter, page: &'p PageRequest) -> Result<Page<SiteSpace>> {
        let (platform, ref actor, at, share_key) = self.parts();
        let of = at.with_share_key(share_key);
        let (tx, opened) = platform.open_site(actor, of).await?;
        let (outline, default) = (&opened.outline, filter.default);
        let wanted = outline.all_places().into_iter();
        let first = outline.default_place().map(|place| &place.id);
        let wanted = wanted.filter(|place| default.is_none_or(|wanted| wanted == (first == Some(&place.id))));
        let items = wanted.map(|place| (outline.place_position(place), Arc::clone(place))).collect();
        let page = order::page(items, &list_identities::site_spaces(&opened.site.id, default), page)?;
        let ids: Vec<SiteSpaceId> = page.items.iter().map(|place| place.id.clone()).collect();
        let seen = platform.view_places(&tx, &opened, &ids).await?;
        let items = page.items.iter().filter_map(|place| seen.place(place)).collect();
        Ok(Page { items, next: page.next, count: None })
    }
}

impl<'p> SiteSpaceHandle<'p> {
    /// Changes a space on a site. Omitted fields stay unchanged. Its former paths redirect to the current one.
    ///
    /// # Errors
    ///
    /// `Forbidden` unless the actor manages the site; `Conflict` if the path is taken by another site space; `Invalid`
    /// for an unknown space.
    #[boxed]
    pub async fn update(self, change: UpdateSiteSpace) -> Result<SiteSpace> {
        let (platform, ref actor, of, id) = self.parts();
        let space = change.space_id.as_ref().map(|id| id.parse());
        let space = space.transpose().map_err(|_| Error::invalid("spaceId", "no such space"))?;
        let on = SiteTarget::new(actor, of);
        let update = site_space_update(&on, id, space.as_ref(), &change, platform.now());
        platform
            .write_and_show(actor, &update, |done| Box::pin(platform.read_place_view(done.tx, actor, of, id)))
            .await
    }

    /// Removes a space from a site, together with redirects to it and its pages. The space itself is not deleted.
    /// Returns `true` if it was on the site.
    ///
    /// # Errors
    ///
    /// `Forbidden` unless the actor manages the site.
    #[boxed]
    pub async fn delete(self) -> Result<bool> {
        let (platform, ref actor, of, id) = self.parts();
        let (on, job, now) = (SiteTarget::new(actor, of), platform.id(), platform.now());
        let remove = site_space_deletion(&on, id, &job, now);
        Error::ignore_not_found(platform.write(actor, &remove).await)
    }
}

impl Platform {
    /// Adds a space to a site.
    pub(in crate::platform) async fn add_site_space(
        &self,
        actor: &Actor,
        of: SiteRef<'_>,
        add: &AddSiteSpace,
        space: &PartSpace,
    ) -> Result<SiteSpace> {
        let section = add.section_id.as_ref().map(|id| id.parse().map_err(|_| unknown_section("sectionId")));
        let (on, section, id) = (SiteTarget::new(actor, of), section.transpose()?, &self.id());
        let operation = site_space_creation(&on, section.as_ref(), space, id, add);
        self.check_part_space(space)?;
        self.write_and_show(actor, &operation, |done| Box::pin(self.read_place_view(done.tx, actor, of, id)))
            .await
    }

    /// Builds the view of a site space, as of the transaction.
    pub(super) async fn read_place_view(
        &self,
        tx: &Tx,
        actor: &Actor,
        of: SiteRef<'_>,
        id: &SiteSpaceId,
    ) -> Result<SiteSpace> {
        let opened = self.load_visible_site(tx, actor, of.into()).await?;
        let outline = &opened.outline;
        let place = outline.place(id).cloned().ok_or_else(missing)?;
        let seen = self.view_places(tx, &opened, std::slice::from_ref(id)).await?;
        seen.place(&place).ok_or_else(missing)
    }
}

#[operation("site_space_add")]
async fn site_space_creation(
    tx: &mut Tx,
    on: &SiteTarget,
    section: Option<&SectionId>,
    space: &PartSpace,
    id: &SiteSpaceId,
    add: &AddSiteSpace,
) -> Result<()> {
    let (site, outline) = on.load_outline(tx).await?;
    let space = space.obtain(tx, on).await?;
    check_spaces(&outline)?;
    let section = match section {
        None => outline.default_section(),
        Some(id) => Some(outline.section(id).ok_or_else(|| unknown_section("sectionId"))?),
    };
    let places = outline.places(section.map(|section| &section.id));
    let draft = add.draft.unwrap_or_default();
    let new = NewPlace { id, space: &space, title: add.title.as_ref(), draft };
    let place = append(tx, &site, section.map(|section| &section.id), places, new).await?;
    let section = section.map(|section| &**section);
    if outline.default_place_in(place.section.as_ref()).is_none() {
        set_default(tx, &site, section, Some(&place.id))?;
    }
    Ok(())
}

#[operation("site_space_update", taken_error = |_| Error::conflict("path: is in use by another site space of the section"))]
async fn site_space_update(
    tx: &mut Tx,
    on: &SiteTarget,
    id: &SiteSpaceId,
    space: Option<&SpaceId>,
    change: &UpdateSiteSpace,
    now: Timestamp,
) -> Result<()> {
    let site = on.require_manage(tx).await?;
    let old: Option<Arc<SiteSpaceRecord>> = tx.get(&SiteSpaceRecord::key_for(id)).await?;
    let old = old.filter(|place| place.site == site.id).ok_or_else(missing)?;
    let change = change.clone();
    let mut new = SiteSpaceRecord::clone(&old);
    if let Some(path) = change.path {
        rename(&mut new.path, &mut new.former_paths, path, now);
    }
    new.condition = change.condition.apply(new.condition);
    new.title = change.title.apply(new.title);
    new.hidden = change.hidden.unwrap_or(new.hidden);
    new.draft = change.draft.unwrap_or(new.draft);
    match space.filter(|space| **space != old.space) {
        Some(space) => {
            let space = require_manageable_space(tx, &on.actor, &on.org, space, "spaceId").await?;
            new.space = space.id.clone();
            new.space_deleted = space.deleted_at.is_some();
        }
        None if is_shown(tx, on, &old).await? => {}
        None => return Err(missing()),
    }
    if new != *old {
        tx.put(&*old, new)?;
    }
    Ok(())
}

/// Returns `true` if the actor has access to the space of a site space. Public visibility does not count, and a deleted
/// space is not accessible. The site space can still be given another space or removed from the site.
pub(super) async fn is_shown(tx: &Tx, on: &SiteTarget, place: &SiteSpaceRecord) -> Result<bool> {
    Error::ignore_not_found(access::space(tx, &on.actor, &place.space).await)
}

/// Removes a space from a site. `job` removes redirects that exceed the batch.
#[operation("site_space_delete")]
async fn site_space_deletion(
    tx: &mut Tx,
    on: &SiteTarget,
    id: &SiteSpaceId,
    job: &JobId,
    now: Timestamp,
) -> Result<()> {
    let site = on.require_manage(tx).await?;
    let place: Option<Arc<SiteSpaceRecord>> = tx.get(&SiteSpaceRecord::key_for(id)).await?;
    let place = place.filter(|place| place.site == site.id).ok_or_else(missing)?;
    let parts = vec![place.id.to_string()];
    settings::delete_redirects(tx, &site.id, parts, job, now).await?;
    remove_place(tx, &site, &place).await
}

/// Removes a space from its site. If it was the default, its first remaining sibling becomes the default. The caller
/// must remove redirects to it.
pub(in crate::platform) async fn remove_place(
    tx: &mut Tx,
    site: &SiteRecord,
    place: &SiteSpaceRecord,
) -> Result<()> {
    let outline = SiteOutline::load(tx, site).await?;
    tx.delete(place);
    settings::delete_override(tx, &site.id, &place.id).await?;
    reassign_default(tx, site, &outline, place)
}

/// Makes the first remaining space the default when the default leaves its section.
pub(super) fn reassign_default(
    tx: &mut Tx,
    site: &SiteRecord,
    outline: &SiteOutline,
    place: &SiteSpaceRecord,
) -> Result<()> {
    if !outline.is_default(place) {
        return Ok(());
    }
    let section = place.section.as_ref().and_then(|id| outline.section(id));
    let mut remain = outline.places(place.section.as_ref()).iter().filter(|other| other.id != place.id);
    set_default(tx, site, section.map(|section| &**section), remain.next().map(|first| &first.id))
}

/// Sets the default space of a section, or of a site without sections.
pub(super) fn set_default(
    tx: &mut Tx,
    site: &SiteRecord,
    section: Option<&SectionRecord>,
    default: Option<&SiteSpaceId>,
) -> Result<()> {
    let default_site_space = default.cloned();
    match section {
        Some(section) => {
            tx.put(section, SectionRecord { default_site_space, ..section.clone() })?;
        }
        None => {
            tx.put(site, SiteRecord { default_site_space, ..site.clone() })?;
        }
    }
    Ok(())
}

/// A space to add to a site.
pub(super) struct NewPlace<'a> {
    pub(super) id: &'a SiteSpaceId,
    pub(super) space: &'a SpaceRecord,
    /// The title on the site, unless it is that of the space.
    pub(super) title: Option<&'a SiteTitle>,
    pub(super) draft: bool,
}

/// Adds a space at the end of a section, or of a site without sections.
pub(super) async fn append(
    tx: &mut Tx,
    site: &SiteRecord,
    section: Option<&SectionId>,
    beside: &[Arc<SiteSpaceRecord>],
    NewPlace { id, space, title, draft }: NewPlace<'_>,
) -> Result<Arc<SiteSpaceRecord>> {
    let named = title.map_or(&*space.title, |title| title.as_str());
    let path = free_place_path(tx, &site.id, section, named, id.as_str()).await?;
    Ok(tx.create(SiteSpaceRecord {
        id: id.clone(),
        site: site.id.clone(),
        section: section.cloned(),
        space: space.id.clone(),
        path,
        former_paths: Vec::new(),
        rank: order::rank_after(beside.last().map(|last| last.rank)),
        condition: None,
        space_deleted: space.deleted_at.is_some(),
        title: title.cloned(),
        draft,
        hidden: false,
    }))
}

/// Rejects a space that exceeds the limit per site.
pub(super) fn check_spaces(outline: &SiteOutline) -> Result<()> {
    if outline.all_places().len() < MAX_SPACES {
        return Ok(());
    }
    Err(Error::conflict(format!("a site must have at most {MAX_SPACES} spaces")))
}

pub(super) fn missing() -> Error {
    Error::not_found("site space")
}

pub(super) fn unknown_section(field: &str) -> Error {
    Error::invalid(field, "the site has no such section")
}
