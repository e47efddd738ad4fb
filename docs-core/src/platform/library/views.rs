//! API views of spaces and collections.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    Result,
    model::{
        ChangeRequestStatus, Collection, CollectionObject, CollectionUrls, ContentTarget, DefaultLevel,
        Emoji, SiteId, SiteVisibility, Space, SpaceId, SpaceMergeRules, SpaceObject, SpaceUrls, Timestamp,
        Visibility, VisitorAuth, VisitorAuthBackend,
    },
    platform::{
        access::AccessResolver,
        kernel::{actor::Visitor, emoji::emoji_code, platform::Platform},
        library::{
            head::RESTORE_WINDOW,
            tree::{TreeRow, TreeWalk},
        },
        publishing::{placement::Placement, visitors::admit::SpaceAdmission},
    },
    policy::{CollectionAccess, SpaceAccess},
    store::{
        Key, Page, Tx,
        records::{ChangeRequestRecord, SiteAuthRecord, SpaceRecord, counter},
    },
};

impl Platform {
    /// Builds the views of spaces of one organization. All counters and placements are read in two reads.
    pub(in crate::platform) async fn space_views(
        &self,
        tx: &Tx,
        spaces: &[SpaceAccess],
    ) -> Result<Vec<Space>> {
        self.space_views_on(tx, spaces, None).await
    }

    /// Builds the views of spaces like [`space_views`](Self::space_views), with the URLs of a preferred site.
    pub(in crate::platform) async fn space_views_on(
        &self,
        tx: &Tx,
        spaces: &[SpaceAccess],
        preferred: Option<&SiteId>,
    ) -> Result<Vec<Space>> {
        let mut counters = Vec::with_capacity(spaces.len() * 4);
        for access in spaces {
            let id = &access.space().id;
            counters.push(counter(id.as_str(), "comments"));
            counters.push(ChangeRequestRecord::count_in(id, None));
            counters.push(ChangeRequestRecord::count_in(id, Some(ChangeRequestStatus::Open)));
            counters.push(ChangeRequestRecord::count_in(id, Some(ChangeRequestStatus::Draft)));
        }
        let counts: Vec<u64> =
            tx.numbers(&counters).await?.into_iter().map(|n| u64::try_from(n).unwrap_or(0)).collect();
        let ids: Vec<&SpaceId> = spaces.iter().map(|access| &access.space().id).collect();
        let mut places = self.placements(tx, &ids, preferred).await?;
        let visitor_auth = visitor_auth(tx, places.iter().flatten()).await?;
        for (place, access) in places.iter_mut().zip(spaces) {
            // A deleted space is not on any published site.
            if access.space().deleted_at.is_some() {
                *place = None;
            }
        }
        Ok(spaces
            .iter()
            .zip(counts.chunks(4))
            .zip(places)
            .map(|((access, counts), place)| Space {
                visitor_auth: place.as_ref().and_then(|place| visitor_auth.get(&place.site.id)).cloned(),
                ..self.space_view(access, counts, place.as_ref())
            })
            .collect())
    }

    /// Builds the view of a space for a visitor, without its collection and member data.
    pub(in crate::platform) fn visitor_space_view(&self, access: &SpaceAccess, place: &Placement) -> Space {
        let merge_rules = SpaceMergeRules::Inherit;
        Space { parent: None, merge_rules, ..self.space_view(access, &[0; 4], Some(place)) }
    }

    fn space_view(&self, access: &SpaceAccess, counts: &[u64], place: Option<&Placement>) -> Space {
        let space = access.space();
        let (location, app) = self.urls().space(&space.id);
        // A space that inherits its level is visible to everyone with access to the collection.
        let unpublished = match (&space.parent, space.default_level) {
            (Some(_), DefaultLevel::Inherit) => Visibility::InCollection,
            _ => Visibility::Private,
        };
        let visibility = place.map_or(unpublished, |place| place.site.visibility.into());
        let published = place.map(|place| place.url.clone());
        let public = published.clone().filter(|_| visibility == Visibility::Public);
        Space {
            object: SpaceObject::Is,
            id: space.id.clone(),
            title: space.title.clone(),
            emoji: emoji_code(space_emoji(space).as_str()).unwrap_or_else(|| space_emoji(space)),
            visibility,
            created_at: space.created_at,
            updated_at: space.updated_at,
            deleted_at: space.deleted_at,
            restorable_until: space.deleted_at.map(|at| Timestamp::new(at.time() + RESTORE_WINDOW)),
            edit_mode: space.edit_mode,
            urls: SpaceUrls { location, app, published, public, icon: space.icon.clone() },
            organization: space.organization.clone(),
            parent: space.parent.clone(),
            git_sync: space.git_view(),
            visitor_auth: None,
            revision: space.head.clone(),
            language: space.language,
            merge_rules: space.merge_rules.clone(),
            default_level: access.level().stated(),
            comments: counts[0],
            change_requests: counts[1],
            change_requests_open: counts[2],
            change_requests_draft: counts[3],
            permissions: access.permissions(),
        }
    }
}

/// Returns the visitor authentication of the sites that are restricted to authenticated visitors.
async fn visitor_auth(
    tx: &Tx,
    places: impl Iterator<Item = &Placement>,
) -> Result<BTreeMap<SiteId, VisitorAuth>> {
    let closed = places.filter(|place| place.site.visibility == SiteVisibility::VisitorAuth);
    let sites: BTreeSet<&SiteId> = closed.map(|place| &place.site.id).collect();
    let keys: Vec<Key> = sites.iter().map(|site| SiteAuthRecord::key_for(site)).collect();
    let records = tx.get_many::<SiteAuthRecord>(&keys).await?;
    let shown = sites.into_iter().zip(records).filter_map(|(site, record)| {
        let auth = match record {
            Some(record) if record.backend == VisitorAuthBackend::Integration => {
                VisitorAuth::Integration { integration: record.integration.clone()? }
            }
            _ => VisitorAuth::Custom,
        };
        Some((site.clone(), auth))
    });
    Ok(shown.collect())
}

/// Returns the emoji displayed for a space.
pub(in crate::platform) fn space_emoji(space: &SpaceRecord) -> Emoji {
    space.emoji.clone().or_else(|| Emoji::new(NO_EMOJI).ok()).unwrap_or_else(|| unreachable!())
}

/// The emoji of a space that has none.
const NO_EMOJI: &str = "📘";

impl Platform {
    /// Returns a page of a tree walk over spaces.
    pub(in crate::platform) async fn walk_spaces(
        &self,
        tx: &Tx,
        mut resolver: AccessResolver,
        mut walk: TreeWalk<SpaceAccess>,
        count: Option<u64>,
    ) -> Result<Page<Space>> {
        while let Some(met) = walk.next(tx).await? {
            let seen = resolve_spaces(tx, &mut resolver, &met).await?;
            for (met, access) in met.iter().zip(seen) {
                if !walk.offer(met, access) {
                    break;
                }
            }
        }
        let page = walk.finish(tx, count).await?;
        let items = self.space_views(tx, &page.items).await?;
        Ok(Page { items, next: page.next, count: page.count })
    }

    pub(in crate::platform) fn collection_view(&self, access: &CollectionAccess) -> Collection {
        let collection = access.collection();
        let (location, app) = self.urls().collection(&collection.id);
        Collection {
            object: CollectionObject::Is,
            id: collection.id.clone(),
            title: collection.title.clone(),
            description: collection.description.clone(),
            organization: collection.organization.clone(),
            parent: collection.parent.clone(),
            default_level: access.level().stated(),
            urls: CollectionUrls { location, app },
            permissions: access.permissions(),
        }
    }
}

async fn resolve_spaces(
    tx: &Tx,
    resolver: &mut AccessResolver,
    met: &[TreeRow],
) -> Result<Vec<Option<SpaceAccess>>> {
    let ids = met.iter().filter_map(|met| match &met.child {
        ContentTarget::Space(id) => Some(id),
        ContentTarget::Collection(_) => None,
    });
    let keys: Vec<_> = ids.map(SpaceRecord::key_for).collect();
    resolver.spaces(tx, tx.get_many(&keys).await?).await
}

impl Platform {
    /// Returns the view of a space for a visitor, without member data.
    pub(in crate::platform) async fn read_visitor_space(
        &self,
        tx: &Tx,
        visitor: &Visitor,
        id: &SpaceId,
    ) -> Result<Space> {
        let SpaceAdmission { access, placement, .. } = self.admit(tx, visitor, id).await?;
        Ok(self.visitor_space_view(&access, &placement))
    }
}
