//! Resolves one actor's access to the content and sites of an organization. Grants and collections are read once for
//! many spaces.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use crate::{
    Result,
    model::{CollectionId, Grantee, Role, TeamId, UserId},
    platform::kernel::actor::Actor,
    policy::{CollectionAccess, Layer, OrgAccess, SiteAccess, SpaceAccess},
    store::{
        Key, StoreResult, Tx, decode,
        records::{CollectionRecord, GrantRecord, SiteRecord, SpaceRecord, TeamMemberRecord, TeamRecord},
    },
};

/// Maximum number of teams with an explicit role on one space, collection or site.
pub(in crate::platform) const MAX_TEAM_GRANTS: u32 = 100;
/// Maximum nesting depth of collections.
pub(in crate::platform) const MAX_COLLECTION_DEPTH: usize = 10;

/// Access decisions of one actor in one organization. Records read for one space are reused for the next.
///
/// A resolver must not outlive the transaction it reads from.
pub(in crate::platform) struct AccessResolver {
    org: OrgAccess,
    user: Option<UserId>,
    collections: HashMap<CollectionId, Option<Arc<CollectionRecord>>>,
    held: HashMap<Box<str>, GrantedRoles>,
    teams: HashMap<TeamId, bool>,
}

/// Explicit roles on one space, collection or site: the member's own, and the highest of their teams.
#[derive(Clone, Copy, Default)]
struct GrantedRoles {
    member: Option<Role>,
    team: Option<Role>,
}

/// The fields of a record that determine access.
struct Subject<'a> {
    id: &'a str,
    parent: Option<&'a CollectionId>,
    layer: Layer,
}

impl AccessResolver {
    /// Creates the resolver for an actor with access to the organization.
    pub(in crate::platform) fn new(org: OrgAccess, actor: &Actor) -> Self {
        Self::for_user(org, actor.user().cloned())
    }

    /// Creates the resolver for a user, or for the platform itself if `user` is `None`.
    pub(in crate::platform) fn for_user(org: OrgAccess, user: Option<UserId>) -> Self {
        Self { org, user, collections: HashMap::new(), held: HashMap::new(), teams: HashMap::new() }
    }

    pub(in crate::platform) const fn org(&self) -> &OrgAccess {
        &self.org
    }

    /// Returns the access to each of these spaces in order, with `None` for missing and hidden ones.
    pub(in crate::platform) async fn spaces(
        &mut self,
        tx: &Tx,
        spaces: Vec<Option<Arc<SpaceRecord>>>,
    ) -> Result<Vec<Option<SpaceAccess>>> {
        let subjects = |user: Option<&UserId>| -> Vec<Subject<'_>> {
            let present = spaces.iter().flatten();
            present.map(|space| space_subject(space, user)).collect()
        };
        let user = self.user.clone();
        self.read(tx, &subjects(user.as_ref())).await?;
        let access = |space: Arc<SpaceRecord>| {
            let layers = self.layers(&space_subject(&space, user.as_ref()));
            self.org.space(space, &layers).ok()
        };
        Ok(spaces.iter().cloned().map(|space| space.and_then(access)).collect())
    }

    /// Returns the access to each of these collections in order, with `None` for missing and hidden ones.
    pub(in crate::platform) async fn collections(
        &mut self,
        tx: &Tx,
        collections: Vec<Option<Arc<CollectionRecord>>>,
    ) -> Result<Vec<Option<CollectionAccess>>> {
        let user = self.user.clone();
        let subjects: Vec<Subject<'_>> = collections
            .iter()
            .flatten()
            .map(|collection| collection_subject(collection, user.as_ref()))
            .collect();
        self.read(tx, &subjects).await?;
        let access = |collection: Arc<CollectionRecord>| {
            let layers = self.layers(&collection_subject(&collection, user.as_ref()));
            self.org.collection(collection, &layers).ok()
        };
        Ok(collections.iter().cloned().map(|collection| collection.and_then(access)).collect())
    }

    /// Returns the access to each of these sites in order, with `None` for missing and hidden ones.
    pub(in crate::platform) async fn sites(
        &mut self,
        tx: &Tx,
        sites: Vec<Option<Arc<SiteRecord>>>,
    ) -> Result<Vec<Option<SiteAccess>>> {
        let user = self.user.clone();
        let subjects: Vec<Subject<'_>> =
            sites.iter().flatten().map(|site| site_subject(site, user.as_ref())).collect();
        self.read(tx, &subjects).await?;
        let access = |site: Arc<SiteRecord>| {
            let layer = self.layer(&site_subject(&site, user.as_ref()));
            self.org.site(site, layer).ok()
        };
        Ok(sites.iter().cloned().map(|site| site.and_then(access)).collect())
    }

    /// Returns the access layer of a subject with the granted roles.
    fn layer(&self, subject: &Subject<'_>) -> Layer {
        let held = self.held.get(subject.id).copied().unwrap_or_default();
        Layer { member: held.member, team: held.team, ..subject.layer }
    }

    /// Returns the access layers of the content and its ancestors with their granted roles, innermost first.
    fn layers(&self, subject: &Subject<'_>) -> Vec<Layer> {
        let mut layers = vec![self.layer(subject)];
        let mut parent = subject.parent;
        while let Some(above) = parent.and_then(|id| self.collections.get(id)).and_then(Option::as_ref) {
            let above = collection_subject(above, self.user.as_ref());
            layers.push(self.layer(&above));
            parent = above.parent.filter(|_| layers.len() <= MAX_COLLECTION_DEPTH);
        }
        layers
    }

    /// Loads the ancestors and grants that `layers` needs for these subjects.
    async fn read(&mut self, tx: &Tx, subjects: &[Subject<'_>]) -> Result<()> {
        let mut contents: BTreeSet<Box<str>> = subjects.iter().map(|subject| subject.id.into()).collect();
        let mut parents: BTreeSet<CollectionId> =
            subjects.iter().filter_map(|subject| subject.parent.cloned()).collect();
        for _ in 0..MAX_COLLECTION_DEPTH {
            if parents.is_empty() {
                break;
            }
            self.read_collections(tx, &parents).await?;
            let found = parents.iter().filter_map(|id| self.collections.get(id)?.as_ref());
            let above = found.filter_map(|collection| collection.parent.clone()).collect();
            contents.extend(parents.iter().map(|id| id.as_str().into()));
            parents = above;
        }
        // An administrator has every role regardless of grants.
        if self.org.role() == Some(Role::Admin) {
            return Ok(());
        }
        contents.retain(|id| !self.held.contains_key(id));
        self.read_grants(tx, contents.into_iter().collect()).await
    }

    async fn read_collections(&mut self, tx: &Tx, ids: &BTreeSet<CollectionId>) -> Result<()> {
        let unknown: Vec<&CollectionId> =
            ids.iter().filter(|id| !self.collections.contains_key(*id)).collect();
        let keys: Vec<Key> = unknown.iter().map(|id| CollectionRecord::key_for(id)).collect();
        let found = tx.get_many::<CollectionRecord>(&keys).await?;
        self.collections.extend(unknown.into_iter().cloned().zip(found));
        Ok(())
    }

    async fn read_grants(&mut self, tx: &Tx, contents: Vec<Box<str>>) -> Result<()> {
        let Some(user) = self.user.clone().filter(|_| !contents.is_empty()) else { return Ok(()) };
        let keys: Vec<Key> = contents.iter().map(|id| GrantRecord::user_key(id, &user)).collect();
        let own = tx.get_many::<GrantRecord>(&keys).await?;
        let scans: Vec<_> =
            contents.iter().map(|id| GrantRecord::team_grants(id).scan(MAX_TEAM_GRANTS)).collect();
        let mut of_teams: Vec<Vec<Arc<GrantRecord>>> = Vec::with_capacity(contents.len());
        for rows in tx.scan_many(&scans).await? {
            let rows = rows.into_iter().map(|(_, value)| decode(value));
            of_teams.push(rows.collect::<StoreResult<_>>()?);
        }
        self.read_teams(tx, of_teams.iter().flatten().filter_map(|grant| grantee_team(grant)), &user).await?;
        for ((id, own), of_teams) in contents.into_iter().zip(own).zip(of_teams) {
            let mine = of_teams.iter().filter(|grant| {
                grantee_team(grant).and_then(|team| self.teams.get(team)).copied().unwrap_or_default()
            });
            let team = mine.map(|grant| grant.role).max();
            self.held.insert(id, GrantedRoles { member: own.map(|grant| grant.role), team });
        }
        Ok(())
    }

    /// Loads the user's membership in these teams.
    async fn read_teams<'t>(
        &mut self,
        tx: &Tx,
        teams: impl Iterator<Item = &'t TeamId>,
        user: &UserId,
    ) -> Result<()> {
        let unknown: BTreeSet<&TeamId> = teams.filter(|team| !self.teams.contains_key(*team)).collect();
        let keys: Vec<Key> = unknown.iter().map(|team| TeamMemberRecord::key_for(team, user)).collect();
        let places = tx.get_values(&keys).await?;
        let (mine, others): (Vec<_>, Vec<_>) =
            unknown.into_iter().zip(places).partition(|(_, place)| place.is_some());
        self.teams.extend(others.into_iter().map(|(team, _)| (team.clone(), false)));
        // A deleted team grants no access, even while a job still removes its rows.
        let keys: Vec<Key> = mine.iter().map(|(team, _)| TeamRecord::key_for(team)).collect();
        let there = tx.get_values(&keys).await?;
        let mine = mine.into_iter().zip(there).map(|((team, _), there)| (team.clone(), there.is_some()));
        self.teams.extend(mine);
        Ok(())
    }
}

fn grantee_team(grant: &GrantRecord) -> Option<&TeamId> {
    match &grant.grantee {
        Grantee::Team(team) => Some(team),
        Grantee::User(_) => None,
    }
}

fn space_subject<'a>(space: &'a SpaceRecord, user: Option<&UserId>) -> Subject<'a> {
    let is_creator = user == Some(&space.created_by);
    let layer = Layer { level: space.default_level, is_creator, ..Layer::default() };
    Subject { id: space.id.as_str(), parent: space.parent.as_ref(), layer }
}

fn collection_subject<'a>(collection: &'a CollectionRecord, user: Option<&UserId>) -> Subject<'a> {
    let is_creator = user == Some(&collection.created_by);
    let layer = Layer { level: collection.default_level, is_creator, ..Layer::default() };
    Subject { id: collection.id.as_str(), parent: collection.parent.as_ref(), layer }
}

fn site_subject<'a>(site: &'a SiteRecord, user: Option<&UserId>) -> Subject<'a> {
    let is_creator = user == Some(&site.created_by);
    let layer = Layer { level: site.default_level, is_creator, ..Layer::default() };
    Subject { id: site.id.as_str(), parent: None, layer }
}
