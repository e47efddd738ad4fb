//! Loading the context for rendering pages.

use std::sync::{Arc, OnceLock};

use docs_core::{
    Result,
    model::{ContentRef, Customization},
    platform::PageSearch,
};

use super::{
    cache::Caches,
    context::{PageContext, SpaceLayout},
    page_key::SpaceKey,
};
use crate::{
    address::{LinkedPages, SitePlace},
    encode::encode_path,
    gather::{gather_references, gather_targets},
    page_tree::EntryKind,
    space_search::SearchedSpace,
    visit::Visit,
    words::Words,
};

impl<'s> PageContext<'s> {
    /// Loads the context for the pages of the requested space.
    ///
    /// # Errors
    /// Errors of the platform.
    pub(crate) async fn load(visit: &'s Visit, caches: &Caches) -> Result<Self> {
        Self::load_place(visit, caches, visit.place()?).await
    }

    /// Loads the context for the pages of any space of the site.
    ///
    /// # Errors
    /// Errors of the platform.
    pub(crate) async fn load_place(visit: &'s Visit, caches: &Caches, place: SitePlace<'s>) -> Result<Self> {
        let (key, frame) = visit.keyed_page_tree(&caches.sites, &place).await?;
        let (look, revision) = (visit.customization(&place.space.id), key.revision.clone());
        let key = visit.is_live().then(|| SpaceKey::new(visit, (key, &place.space.id)));
        let kept = key.as_ref().and_then(|key| caches.surroundings.get(key));
        let is_kept = kept.is_some();
        let around = match kept {
            Some(around) => around,
            None => Arc::new(SpaceLayout {
                addresses: visit.addresses(&place),
                template: OnceLock::new(),
                tree: OnceLock::new(),
            }),
        };
        let mut addresses = around.addresses.clone();
        addresses.linked.insert(addresses.space.clone(), LinkedPages::Tree(Arc::clone(&frame)));
        let mut addresses = Arc::new(addresses);
        gather_references(visit, &caches.sites, &frame.linked, &mut addresses).await?;
        gather_targets(visit, &caches.sites, link_targets(look), &mut addresses).await?;
        if visit.is_limited() {
            Arc::make_mut(&mut addresses).is_passing = true;
        }
        let scene = Self {
            visit,
            canonical_base: visit.canonical_base(&visit.place()?),
            base: format!("{}{}", visit.found.site_base_path, place.path),
            places: visit.places(),
            place,
            look,
            words: Words::for_locale(look.internationalization.locale),
            addresses,
            frame,
            revision,
            around,
            variants: Vec::new(),
        };
        if let Some(key) = key.filter(|_| !is_kept && scene.addresses.is_site_only()) {
            // The layout is filled before it is cached, because the cache determines its weight only on insertion.
            scene.template();
            scene.whole_tree();
            caches.surroundings.insert(key, Arc::clone(&scene.around));
        }
        Ok(scene)
    }

    /// Looks up a page in the variants of this space.
    ///
    /// # Errors
    /// Errors of the platform.
    pub(super) async fn find_variants(&mut self, caches: &Caches, at: usize) -> Result<()> {
        let Some(entry) = self.frame.entries.get(at) else { return Ok(()) };
        let path = if self.frame.first() == Some(at) { "" } else { &*entry.path };
        let (mut found, mut search, mut searched) = (Vec::new(), PageSearch::default(), 0);
        let (mut is_passing, mut computed) = (false, Vec::new());
        for (number, place) in self.variants() {
            if place.space.id == self.place.space.id {
                found.push((number, encode_path(path)));
                continue;
            }
            if searched == PageSearch::MAX_VARIANTS || !search.has_room() {
                continue;
            }
            searched += 1;
            let own = &place.space.space.revision;
            let has_page = match SearchedSpace::open(self.visit, &caches.sites, place, 1, &mut search).await?
            {
                SearchedSpace::Tree(key, frame) => {
                    is_passing |= !key.is_current(own);
                    computed.extend(key.computed.map(|tag| (key.space, tag)));
                    frame.find(path).is_some_and(|at| frame.entries[at].kind == EntryKind::Document)
                }
                SearchedSpace::Content(content) => {
                    is_passing |= content.revision() != own;
                    content.has_document_at(path, &mut search).await?
                }
            };
            if has_page {
                found.push((number, encode_path(path)));
            }
        }
        self.variants = found;
        is_passing |= self.visit.is_limited();
        if is_passing || !computed.is_empty() {
            let addresses = Arc::make_mut(&mut self.addresses);
            addresses.is_passing |= is_passing;
            computed.into_iter().for_each(|(space, tag)| addresses.add_dependency(&space, tag));
        }
        Ok(())
    }
}

/// Returns the targets of the links in a site's header, footer and announcement.
fn link_targets(look: &Customization) -> impl Iterator<Item = &ContentRef> {
    let header = look
        .header
        .links
        .iter()
        .flat_map(|link| link.to.iter().chain(link.links.iter().map(|link| &link.to)));
    let footer = look.footer.groups.iter().flat_map(|group| group.links.iter().map(|link| &link.to));
    let primary = look.header.primary_link.iter();
    let announced = look.announcement.iter().flat_map(|it| it.link.iter().map(|link| &link.to));
    header.chain(footer).chain(announced).chain(primary)
}
