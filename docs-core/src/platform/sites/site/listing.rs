//! The list of an organization's sites.

use std::{collections::BTreeSet, sync::Arc};

use docs_macros::boxed;

use crate::{
    ErrorKind, Result,
    model::{PermissionTarget, Site, SiteId, SpaceId, UserId},
    platform::{
        access::{self, AccessResolver},
        kernel::actor::Actor,
        nouns::{Sites, filters::SiteFilter, list_identities},
        publishing::outline::SharedSite,
        sites::view::default_spaces,
    },
    policy::{OrgAccess, OrgAction},
    store::{
        Batches, Key, ListSpec, Lister, MAX_SCAN, Page, PageRequest, Tx, ids_of, key,
        records::{SiteRecord, SiteSpaceRecord},
    },
};

impl<'p> Sites<'p> {
    /// Lists the sites of an organization, oldest first.
    ///
    /// # Errors
    ///
    /// `NotFound` unless the actor is a member.
    #[boxed]
    pub async fn list(self, filter: &'p SiteFilter, page: &'p PageRequest) -> Result<Page<Site>> {
        let (platform, ref actor, org) = self.parts();
        let tx = platform.read().await?;
        let access = access::org(&tx, actor, org).await?;
        let mut resolver = AccessResolver::new(access.clone(), actor);
        // Guests see only the sites on which they have a role.
        let granted = match (access.role(), actor.user()) {
            (None, Some(user)) => Some(granted_sites(&tx, &mut resolver, user).await?),
            _ => None,
        };
        let with_space = match &filter.space {
            Some(space) => Some(sites_containing(&tx, actor, space).await?),
            None => None,
        };
        let is_wanted = |id: &SiteId| {
            [&granted, &with_space].iter().all(|sites| sites.as_ref().is_none_or(|sites| sites.contains(id)))
        };
        let spec = ListSpec {
            prefix: SiteRecord::by_org(org),
            rev: false,
            identity: list_identities::sites(filter),
        };
        let mut list = Lister::new(spec, page)?;
        while let Some(rows) = list.rows(&tx).await? {
            let ids: Vec<SiteId> = ids_of(&rows)?;
            let wanted: Vec<Key> = ids.iter().filter(|id| is_wanted(id)).map(SiteRecord::key_for).collect();
            let found = tx.get_many::<SiteRecord>(&wanted).await?;
            let mut found = resolver.sites(&tx, found).await?.into_iter();
            let sites = ids.iter().map(|id| if is_wanted(id) { found.next().flatten() } else { None });
            list.offer_all(&rows, sites.map(|seen| seen.filter(|seen| filter.matches(seen.site()))));
        }
        let count = match granted {
            _ if filter.is_selective() => None,
            Some(sites) => Some(sites.len() as u64),
            None => visible_count(&tx, &access).await?,
        };
        let page = list.finish(&tx, count).await?;
        let seen: Vec<_> =
            page.items.iter().map(|seen| (Arc::clone(seen.site()), seen.permissions())).collect();
        let mut items = platform.site_views(&tx, &seen).await?;
        let sites: Vec<SharedSite> = seen.into_iter().map(|(site, _)| site).collect();
        let defaults = default_spaces(&tx, access, actor, &sites).await?;
        items.iter_mut().zip(defaults).for_each(|(site, space)| site.default_space = space);
        Ok(Page { items, next: page.next, count: page.count })
    }
}

/// Returns the sites on which a guest has a role.
async fn granted_sites(tx: &Tx, resolver: &mut AccessResolver, user: &UserId) -> Result<BTreeSet<SiteId>> {
    let granted = access::granted(tx, &resolver.org().org().id, user).await?;
    let sites = granted.iter().filter_map(|target| match target {
        PermissionTarget::Site(id) => Some(SiteRecord::key_for(id)),
        PermissionTarget::Collection(_) | PermissionTarget::Space(_) => None,
    });
    let sites: Vec<Key> = sites.collect();
    let seen = resolver.sites(tx, tx.get_many::<SiteRecord>(&sites).await?).await?;
    Ok(seen.into_iter().flatten().map(|seen| seen.site().id.clone()).collect())
}

/// Returns the number of an organization's sites if a member sees all of them. Administrators do, and other members do
/// if no site is closed.
async fn visible_count(tx: &Tx, org: &OrgAccess) -> Result<Option<u64>> {
    let id = &org.org().id;
    if org.require(OrgAction::Administrate).is_err()
        && !tx.scan_prefix(&SiteRecord::closed_by_org(id), 1).await?.is_empty()
    {
        return Ok(None);
    }
    Ok(u64::try_from(tx.number(&SiteRecord::count_in(id)).await?).ok())
}

/// Returns the sites that contain a space, or no sites if the actor has no access to the space. The cost is independent
/// of the number of sites.
async fn sites_containing(tx: &Tx, actor: &Actor, space: &str) -> Result<BTreeSet<SiteId>> {
    let mut sites = BTreeSet::new();
    // A malformed id matches no site.
    let Ok(space) = space.parse::<SpaceId>() else { return Ok(sites) };
    match access::space(tx, actor, &space).await {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(sites),
        other => other?,
    };
    let mut batches = Batches::of(SiteSpaceRecord::by_space(&space).scan(MAX_SCAN));
    while let Some(rows) = batches.next(tx).await? {
        // A space may be on a site more than once.
        sites.extend(rows.iter().filter_map(|(row, _)| key::segments(row).get(2)?.parse().ok()));
    }
    Ok(sites)
}
