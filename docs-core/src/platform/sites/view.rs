//! Sites as they are shown.

use std::sync::Arc;

use super::{SharedSite, place_of, place_url};
use crate::{
    Result,
    model::{
        Site, SiteId, SiteObject, SiteProxy, SiteSpace, SiteSpaceObject, SiteSpaceUrls, SiteUrls,
        SiteVisibility, SpaceId, Visibility,
    },
    platform::{Actor, Platform, access::Sight},
    policy::OrgAccess,
    store::{
        Key, MAX_SCAN, Tx, key,
        records::{SiteRecord, SiteSpaceRecord, SpaceRecord},
    },
};

/// Sites looked at to find one that publishes a space.
const PLACES_LOOKED_AT: u32 = 20;

/// Where a space is published.
#[derive(Clone, Debug)]
pub(in crate::platform) struct Placement {
    /// The site.
    pub(in crate::platform) site: SharedSite,
    /// The address of the space on it.
    pub(in crate::platform) url: String,
}

impl From<SiteVisibility> for Visibility {
    fn from(visibility: SiteVisibility) -> Self {
        match visibility {
            SiteVisibility::Public => Self::Public,
            SiteVisibility::Unlisted => Self::Unlisted,
            SiteVisibility::ShareLink => Self::ShareLink,
            SiteVisibility::VisitorAuth => Self::VisitorAuth,
        }
    }
}

impl Platform {
    /// The first published site of each of these spaces, in three reads.
    pub(in crate::platform) async fn placements(
        &self,
        tx: &Tx,
        spaces: &[&SpaceId],
    ) -> Result<Vec<Option<Placement>>> {
        let scans: Vec<_> = spaces
            .iter()
            .map(|space| SiteSpaceRecord::of_space(space).scan(false, PLACES_LOOKED_AT))
            .collect();
        let rows = tx.scan_many(&scans).await?;
        let keys: Vec<Key> = rows.iter().flatten().map(|(row, _)| place_of(row)).collect();
        if keys.is_empty() {
            return Ok(vec![None; spaces.len()]);
        }
        let places: Vec<Arc<SiteSpaceRecord>> =
            tx.get_many::<SiteSpaceRecord>(&keys).await?.into_iter().flatten().collect();
        let sites: Vec<Key> = places.iter().map(|place| SiteRecord::at(&place.site)).collect();
        let sites = tx.get_many::<SiteRecord>(&sites).await?;
        let found: Vec<(Arc<SiteSpaceRecord>, SharedSite)> =
            places.into_iter().zip(sites).filter_map(|(place, site)| Some((place, site?))).collect();
        let pick = |space: &&SpaceId| {
            let (place, site) =
                found.iter().find(|(place, site)| place.space == **space && site.published)?;
            let url = place_url(&self.urls().published(site.basename.as_str()), site, place);
            Some(Placement { site: Arc::clone(site), url })
        };
        Ok(spaces.iter().map(pick).collect())
    }

    /// Shows sites: all their counters in one read.
    pub(super) async fn site_views(&self, tx: &Tx, sites: &[SharedSite]) -> Result<Vec<Site>> {
        let keys: Vec<Key> = sites.iter().map(|site| SiteSpaceRecord::count_in(&site.id)).collect();
        let counts = tx.numbers(&keys).await?;
        Ok(sites.iter().zip(counts).map(|(site, count)| self.site_view(site, count)).collect())
    }

    fn site_view(&self, site: &SiteRecord, spaces: i64) -> Site {
        let (location, app) = self.urls().site(&site.organization, &site.id);
        let published = self.urls().published(site.basename.as_str());
        Site {
            object: SiteObject::Is,
            id: site.id.clone(),
            kind: site.kind,
            title: site.title.clone(),
            basename: Some(site.basename.clone()),
            proxy: site
                .proxy
                .as_ref()
                .map(|origin| SiteProxy { origin: origin.clone(), target: published.clone() }),
            visibility: site.visibility,
            published: site.published,
            site_spaces: u64::try_from(spaces).unwrap_or(0),
            created_at: site.created_at,
            adaptive_content: site.adaptive_content,
            agents_context: site.agents_context,
            features: Vec::new(),
            urls: SiteUrls { location, app, published: site.published.then_some(published) },
        }
    }

    /// Shows the spaces of a site that the actor may see; deleted ones are not among them.
    pub(super) async fn place_views(
        &self,
        tx: &Tx,
        (org, site, actor): (&OrgAccess, &SiteRecord, &Actor),
        places: &[Arc<SiteSpaceRecord>],
    ) -> Result<Vec<SiteSpace>> {
        let keys: Vec<Key> = places.iter().map(|place| SpaceRecord::at(&place.space)).collect();
        let spaces = tx.get_many::<SpaceRecord>(&keys).await?;
        let live = spaces.into_iter().map(|space| space.filter(|space| space.deleted_at.is_none()));
        let access = Sight::new(org.clone(), actor).spaces(tx, live.collect()).await?;
        let seen: Vec<_> =
            places.iter().zip(access).filter_map(|(place, access)| Some((place, access?))).collect();
        let access: Vec<_> = seen.iter().map(|(_, access)| access.clone()).collect();
        let shown = self.space_views(tx, &access).await?;
        let base = site.published.then(|| self.urls().published(site.basename.as_str()));
        Ok(seen
            .iter()
            .zip(shown)
            .map(|((place, _), space)| SiteSpace {
                object: SiteSpaceObject::Is,
                id: place.id.clone(),
                path: place.path.clone(),
                section: None,
                title: space.title.to_string(),
                space,
                default: site.default_site_space.as_ref() == Some(&place.id),
                condition: place.condition.as_deref().and_then(|condition| condition.parse().ok()),
                has_advanced_customization_feature: true,
                urls: SiteSpaceUrls { published: base.as_ref().map(|base| place_url(base, site, place)) },
            })
            .collect())
    }

    /// All the spaces of a site, in order.
    pub(in crate::platform) async fn all_places(
        &self,
        tx: &Tx,
        site: &SiteId,
    ) -> Result<Vec<Arc<SiteSpaceRecord>>> {
        let mut scan = SiteSpaceRecord::of_site(site).scan(false, MAX_SCAN);
        let mut places = Vec::new();
        loop {
            let rows = tx.scan(&scan).await?;
            let keys: Vec<Key> = rows.iter().map(|(row, _)| place_of(row)).collect();
            places.extend(tx.get_many::<SiteSpaceRecord>(&keys).await?.into_iter().flatten());
            match rows.last() {
                Some((last, _)) if rows.len() == MAX_SCAN as usize => scan.from = key::after(last),
                _ => return Ok(places),
            }
        }
    }
}
