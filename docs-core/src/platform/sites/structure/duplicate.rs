//! Duplication of a space together with its place on a site.

use std::sync::Arc;

use async_trait::async_trait;
use docs_macros::boxed;

use super::{
    order,
    paths::{free_place_path, free_section_path},
    places::{self, check_spaces},
    sections::check_sections,
};
use crate::{
    ErrorKind, Result,
    model::{DuplicateSiteSpace, SectionId, SiteSpace, SiteSpaceId, SiteTitle},
    platform::{
        kernel::request::Right,
        library::spaces::DuplicateSpace,
        nouns::SiteSpaceHandle,
        publishing::outline::{OutlineNode, SiteOutline},
        sites::{manage::SiteTarget, settings},
    },
    store::{
        Operation, Tx,
        records::{SectionRecord, SiteSpaceRecord, SpaceRecord},
    },
};

impl<'p> SiteSpaceHandle<'p> {
    /// Copies the space of a site space and adds the copy to the site, with the condition and the customization of the
    /// original. The copy follows the original in its section. If the original is the only space of its section, the
    /// copy gets a section of its own, which follows that of the original.
    ///
    /// # Errors
    ///
    /// `Forbidden` without the permission to manage the site and the space; `Conflict` if the site or the collection of
    /// the space is full.
    #[boxed]
    pub async fn duplicate(self, request: DuplicateSiteSpace) -> Result<SiteSpace> {
        let (platform, ref actor, of, id) = self.parts();
        let done = platform.idempotent(actor, Right::for_site(of), async move {
            let tx = platform.read().await?;
            let on = SiteTarget::new(actor, of);
            let (_, outline) = on.load_outline(&tx).await?;
            let place = outline.place(id).ok_or_else(places::missing)?;
            let operation = SiteSpaceDuplication {
                copy: DuplicateSpace {
                    actor: actor.clone(),
                    by: actor.require_user()?.clone(),
                    of: place.space.clone(),
                    id: platform.id(),
                    head: platform.id(),
                    now: platform.now(),
                },
                on,
                of: id.clone(),
                place: platform.id(),
                section: platform.id(),
                draft: request.draft.unwrap_or_default(),
            };
            drop(tx);
            let id = &operation.place;
            platform
                .write_and_show(actor, &operation, |done| {
                    Box::pin(platform.read_place_view(done.tx, actor, of, id))
                })
                .await
        });
        done.await
    }
}

struct SiteSpaceDuplication {
    on: SiteTarget,
    copy: DuplicateSpace,
    of: SiteSpaceId,
    /// The id of the new site space.
    place: SiteSpaceId,
    /// The id of the new section, if there is one.
    section: SectionId,
    draft: bool,
}

#[async_trait]
impl Operation for SiteSpaceDuplication {
    type Output = ();
    const NAME: &'static str = "site_space_duplicate";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let (site, outline) = self.on.load_outline(tx).await?;
        let of = outline.place(&self.of).filter(|place| place.space == self.copy.of);
        let of = of.ok_or_else(places::missing)?;
        check_spaces(&outline)?;
        self.copy.apply(tx).await.map_err(|error| match error.kind() {
            ErrorKind::NotFound => places::missing(),
            _ => error,
        })?;
        let space: Option<Arc<SpaceRecord>> = tx.get(&SpaceRecord::key_for(&self.copy.id)).await?;
        let space = space.ok_or_else(places::missing)?;
        let section = of.section.as_ref().and_then(|id| outline.section(id));
        let siblings = outline.places(of.section.as_ref());
        let mut new = SiteSpaceRecord {
            id: self.place.clone(),
            space: space.id.clone(),
            former_paths: Vec::new(),
            title: of.title.as_ref().and_then(|title| copy_title(title)),
            draft: self.draft,
            ..SiteSpaceRecord::clone(of)
        };
        match section.filter(|_| siblings.len() == 1) {
            Some(section) => {
                self.add_section(tx, &outline, section).await?;
                new.section = Some(self.section.clone());
            }
            None => {
                let title = new.title.as_ref().map_or(&*space.title, |title| title.as_str());
                let section = of.section.as_ref();
                new.path = free_place_path(tx, &site.id, section, title, self.place.as_str()).await?;
                let at = siblings.iter().position(|place| place.id == of.id);
                let siblings: Vec<_> = siblings.iter().collect();
                new.rank = order::free_place_rank(tx, &siblings, at.map_or(siblings.len(), |at| at + 1))?;
            }
        }
        tx.create(new);
        settings::copy_override(tx, &site.id, &of.id, &self.place).await
    }
}

impl SiteSpaceDuplication {
    /// Creates a section for the copy, after the section of the original and with its settings.
    async fn add_section(&self, tx: &mut Tx, outline: &SiteOutline, of: &Arc<SectionRecord>) -> Result<()> {
        check_sections(outline)?;
        let title = copy_title(&of.title).unwrap_or_else(|| of.title.clone());
        let default = outline.default_section().map(|section| &section.id);
        let path =
            free_section_path(tx, &of.site, outline.places(default), &title, self.section.as_str()).await?;
        let siblings = outline.children(of.group.as_ref());
        let at = siblings.iter().position(|node| *node == OutlineNode::Section(Arc::clone(of)));
        let rank = order::free_node_rank(tx, siblings, at.map_or(siblings.len(), |at| at + 1))?;
        tx.create(SectionRecord {
            id: self.section.clone(),
            rank,
            title,
            path,
            former_paths: Vec::new(),
            default_site_space: Some(self.place.clone()),
            // The title differs from the localized titles of the original.
            localized_title: Default::default(),
            draft: self.draft,
            ..SectionRecord::clone(of)
        });
        Ok(())
    }
}

/// Returns the title of a copy.
fn copy_title(title: &str) -> Option<SiteTitle> {
    SiteTitle::from_truncated(&format!("{title} (copy)"))
}
