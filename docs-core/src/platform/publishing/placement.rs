//! The location of a space on a site where it is published.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{
    Result,
    model::{SectionId, SiteSpaceId, SpaceId},
    platform::{
        kernel::platform::Platform,
        publishing::outline::{PlaceAddress, SharedSite},
    },
    store::{
        Entity as _, Key, Tx,
        records::{SectionRecord, SiteRecord, SiteSpaceRecord},
    },
};

/// The published location of a space.
#[derive(Clone, Debug)]
pub(in crate::platform) struct Placement {
    pub(in crate::platform) site: SharedSite,
    /// The URL of the space on the site.
    pub(in crate::platform) url: String,
}

impl Platform {
    /// Returns the location of each space on its first published site, with at most five reads.
    pub(in crate::platform) async fn placements(
        &self,
        tx: &Tx,
        spaces: &[&SpaceId],
    ) -> Result<Vec<Option<Placement>>> {
        let scans: Vec<_> =
            spaces.iter().map(|space| SiteSpaceRecord::by_space(space).scan(MAX_EXAMINED_PLACES)).collect();
        let rows = tx.scan_many(&scans).await?;
        let keys: Vec<Key> = rows.iter().flatten().map(|(row, _)| SiteSpaceRecord::named_by(row)).collect();
        if keys.is_empty() {
            return Ok(vec![None; spaces.len()]);
        }
        let places: Vec<Arc<SiteSpaceRecord>> =
            tx.get_many::<SiteSpaceRecord>(&keys).await?.into_iter().flatten().collect();
        let sites: Vec<Key> = places.iter().map(|place| SiteRecord::key_for(&place.site)).collect();
        let sites = tx.get_many::<SiteRecord>(&sites).await?;
        let found: Vec<(Arc<SiteSpaceRecord>, SharedSite)> = places
            .into_iter()
            .zip(sites)
            .filter_map(|(place, site)| Some((place, site.filter(|site| site.published)?)))
            .collect();
        let sections = load_sections(tx, &found).await?;
        let rivals = shadowed_places(tx, &found, &sections).await?;
        let pick = |space: &&SpaceId| {
            let (place, site) = found.iter().find(|(place, _)| place.space == **space)?;
            let address = address(site, place, &sections);
            let segments = if rivals.contains(&place.id) { address.full() } else { address.short() };
            let url = self.urls().published_below(site.basename.as_str(), &segments);
            Some(Placement { site: Arc::clone(site), url })
        };
        Ok(spaces.iter().map(pick).collect())
    }
}

/// The sections of site spaces, by id.
type Sections = BTreeMap<SectionId, Arc<SectionRecord>>;

async fn load_sections(tx: &Tx, found: &[(Arc<SiteSpaceRecord>, SharedSite)]) -> Result<Sections> {
    let ids: BTreeSet<&SectionId> = found.iter().filter_map(|(place, _)| place.section.as_ref()).collect();
    if ids.is_empty() {
        return Ok(Sections::new());
    }
    let keys: Vec<Key> = ids.into_iter().map(SectionRecord::key_for).collect();
    let sections = tx.get_many::<SectionRecord>(&keys).await?.into_iter().flatten();
    Ok(sections.map(|section| (section.id.clone(), section)).collect())
}

/// Returns the site spaces whose short path is shadowed by a section.
async fn shadowed_places(
    tx: &Tx,
    found: &[(Arc<SiteSpaceRecord>, SharedSite)],
    sections: &Sections,
) -> Result<BTreeSet<SiteSpaceId>> {
    let named = found.iter().filter_map(|(place, site)| {
        let path = address(site, place, sections).shadowing_path()?;
        Some((place.id.clone(), SectionRecord::by_path(&site.id, path)))
    });
    let (ids, keys): (Vec<SiteSpaceId>, Vec<Key>) = named.unzip();
    if keys.is_empty() {
        return Ok(BTreeSet::new());
    }
    let taken = tx.get_values(&keys).await?;
    Ok(ids.into_iter().zip(taken).filter(|(_, taken)| taken.is_some()).map(|(id, _)| id).collect())
}

fn address<'a>(site: &'a SiteRecord, place: &'a SiteSpaceRecord, sections: &'a Sections) -> PlaceAddress<'a> {
    let section = place.section.as_ref().and_then(|id| sections.get(id)).map(|section| &**section);
    let default_place = match section {
        Some(section) => section.default_site_space.as_ref(),
        None => site.default_site_space.as_ref(),
    };
    PlaceAddress { place, section, default_section: site.default_section.as_ref(), default_place }
}

/// Maximum number of sites examined to find one on which a space is published.
const MAX_EXAMINED_PLACES: u32 = 20;
