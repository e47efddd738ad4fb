//! The location of a space on a site where it is published.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{
    Error, Result,
    model::{SectionGroupId, SectionId, SiteId, SiteSpaceId, SiteVisibility, SpaceId},
    platform::{
        kernel::platform::Platform,
        publishing::outline::{MAX_GROUP_DEPTH, PlaceAddress, SharedSite},
    },
    store::{
        Key, Scan, Tx, key,
        records::{SectionGroupRecord, SectionRecord, SiteRecord, SiteSpaceRecord},
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
    /// Returns the location of each space on the most open published site that contains it, or on the preferred site if
    /// that is published and contains it. Among equally open sites, the first one counts. Drafts do not count.
    pub(in crate::platform) async fn placements(
        &self,
        tx: &Tx,
        spaces: &[&SpaceId],
        preferred: Option<&SiteId>,
    ) -> Result<Vec<Option<Placement>>> {
        let chosen = choose_places(tx, spaces, preferred).await?;
        let found: Vec<LivePlace> = chosen.into_iter().flatten().collect();
        if found.is_empty() {
            return Ok(vec![None; spaces.len()]);
        }
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

/// A site space that is not a draft, with its published site.
type LivePlace = (Arc<SiteSpaceRecord>, SharedSite);

/// Chooses the site space of each space that determines its URL and its visibility.
async fn choose_places(
    tx: &Tx,
    spaces: &[&SpaceId],
    preferred: Option<&SiteId>,
) -> Result<Vec<Option<LivePlace>>> {
    let mut sites: BTreeMap<SiteId, Option<SharedSite>> = BTreeMap::new();
    let mut chosen: Vec<Option<LivePlace>> = vec![None; spaces.len()];
    let scan = |space: &&SpaceId| SiteSpaceRecord::by_space(space).scan(PLACE_BATCH);
    let mut open: Vec<(usize, Scan)> = spaces.iter().map(scan).enumerate().collect();
    while !open.is_empty() {
        let scans: Vec<Scan> = open.iter().map(|(_, scan)| scan.clone()).collect();
        let batches = tx.scan_many(&scans).await?;
        let places: Vec<Vec<(SiteId, SiteSpaceId)>> = batches
            .iter()
            .map(|rows| rows.iter().map(|(row, _)| site_and_place(row)).collect())
            .collect::<Result<_>>()?;
        let new: BTreeSet<&SiteId> = places.iter().flatten().map(|(site, _)| site).collect();
        let new: Vec<SiteId> = new.into_iter().filter(|site| !sites.contains_key(site)).cloned().collect();
        let keys: Vec<Key> = new.iter().map(SiteRecord::key_for).collect();
        let found = tx.get_many::<SiteRecord>(&keys).await?;
        sites.extend(new.into_iter().zip(found.into_iter().map(|site| site.filter(|site| site.published))));
        let published = places
            .iter()
            .flatten()
            .filter_map(|(site, place)| Some((place.clone(), sites.get(site)?.clone()?)));
        let mut live = live_places(tx, published.collect()).await?;
        let mut next = Vec::new();
        for (((at, scan), rows), places) in open.into_iter().zip(&batches).zip(places) {
            let own = places.into_iter().filter_map(|(_, place)| live.remove(&place));
            let best = chosen[at].take().into_iter().chain(own);
            // `min_by_key` returns the first of several equal elements.
            chosen[at] = best.min_by_key(|(_, site)| openness(site, preferred));
            let is_best = chosen[at].as_ref().is_some_and(|(_, site)| openness(site, preferred) == MOST_OPEN);
            if let Some((last, _)) = rows.last().filter(|_| rows.len() == PLACE_BATCH as usize && !is_best) {
                next.push((at, Scan { from: key::successor(last), ..scan }));
            }
        }
        open = next;
    }
    Ok(chosen)
}

/// Returns the site spaces that are neither drafts nor in drafts of sections and groups.
async fn live_places(
    tx: &Tx,
    published: Vec<(SiteSpaceId, SharedSite)>,
) -> Result<BTreeMap<SiteSpaceId, LivePlace>> {
    let keys: Vec<Key> = published.iter().map(|(place, _)| SiteSpaceRecord::key_for(place)).collect();
    if keys.is_empty() {
        return Ok(BTreeMap::new());
    }
    let places = tx.get_many::<SiteSpaceRecord>(&keys).await?.into_iter().zip(published);
    let mut live: Vec<LivePlace> =
        places.filter_map(|(place, (_, site))| Some((place.filter(|place| !place.draft)?, site))).collect();
    let sections = load_sections(tx, &live).await?;
    live.retain(|(place, _)| place.section.as_ref().is_none_or(|id| sections.contains_key(id)));
    Ok(live.into_iter().map(|(place, site)| (place.id.clone(), (place, site))).collect())
}

/// Returns the rank of a site among those that contain a space. The least rank determines the URL of the space.
fn openness(site: &SiteRecord, preferred: Option<&SiteId>) -> (bool, u8) {
    let rank = match site.visibility {
        SiteVisibility::Public => 0,
        SiteVisibility::Unlisted => 1,
        SiteVisibility::ShareLink => 2,
        SiteVisibility::VisitorAuth => 3,
    };
    match preferred {
        Some(preferred) => (site.id != *preferred, if site.id == *preferred { 0 } else { rank }),
        None => (false, rank),
    }
}

/// The rank of a site that no other site precedes.
const MOST_OPEN: (bool, u8) = (false, 0);

/// Returns the ids in an index row of the site spaces of a space.
fn site_and_place(row: &Key) -> Result<(SiteId, SiteSpaceId)> {
    let corrupt = || Error::internal(format!("the row `{row}` does not name a site"));
    let segments = key::segments(row);
    let [.., site, place] = segments.as_slice() else { return Err(corrupt()) };
    Ok((site.parse().map_err(|_| corrupt())?, place.parse().map_err(|_| corrupt())?))
}

/// Number of site spaces of each space that are read at a time.
const PLACE_BATCH: u32 = 100;

/// The sections of site spaces that are not drafts, by id.
type Sections = BTreeMap<SectionId, Arc<SectionRecord>>;

async fn load_sections(tx: &Tx, found: &[(Arc<SiteSpaceRecord>, SharedSite)]) -> Result<Sections> {
    let ids: BTreeSet<&SectionId> = found.iter().filter_map(|(place, _)| place.section.as_ref()).collect();
    if ids.is_empty() {
        return Ok(Sections::new());
    }
    let keys: Vec<Key> = ids.into_iter().map(SectionRecord::key_for).collect();
    let sections = tx.get_many::<SectionRecord>(&keys).await?.into_iter().flatten();
    let live = sections.filter(|section| !section.draft);
    let mut sections: Sections = live.map(|section| (section.id.clone(), section)).collect();
    let groups = sections.values().filter_map(|section| Some((section.id.clone(), section.group.clone()?)));
    for draft in sections_in_drafts(tx, groups.collect()).await? {
        sections.remove(&draft);
    }
    Ok(sections)
}

/// Returns the sections that are in a draft of a group, given the group of each section.
async fn sections_in_drafts(tx: &Tx, mut groups: Vec<(SectionId, SectionGroupId)>) -> Result<Vec<SectionId>> {
    let mut drafts = Vec::new();
    for _ in 0..MAX_GROUP_DEPTH {
        if groups.is_empty() {
            break;
        }
        let keys: Vec<Key> = groups.iter().map(|(_, group)| SectionGroupRecord::key_for(group)).collect();
        let records = tx.get_many::<SectionGroupRecord>(&keys).await?;
        let mut above = Vec::new();
        for ((section, _), group) in groups.into_iter().zip(records) {
            match group {
                Some(group) if group.draft => drafts.push(section),
                Some(group) => above.extend(group.parent.clone().map(|parent| (section, parent))),
                None => {}
            }
        }
        groups = above;
    }
    Ok(drafts)
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
