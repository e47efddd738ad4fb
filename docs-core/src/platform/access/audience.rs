//! Computes the roles of many members on one space, collection or site in batches, with the same rules as the resolver.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use super::resolver::{MAX_COLLECTION_DEPTH, MAX_TEAM_GRANTS};
use crate::{
    Error, Result,
    model::{CollectionId, DefaultLevel, Grantee, PermissionTarget, Role, TeamId, UserId},
    policy::{Layer, effective_role},
    store::{
        Entity, Indexed, Key, MAX_SCAN, Scan, StoreResult, Tx, decode, key,
        records::{
            CollectionRecord, GrantRecord, MemberRecord, SiteRecord, SpaceRecord, TeamMemberRecord,
            TeamRecord,
        },
    },
};

/// A space, collection or site with its ancestors and the teams that have a role on any of them.
pub(in crate::platform) struct Audience {
    /// Innermost first.
    layers: Vec<ContentLayer>,
}

/// A member's grants on one layer.
pub(in crate::platform) struct HeldLayer<'a> {
    pub(in crate::platform) layer: Layer,
    /// The team with the highest role on the layer among the member's teams.
    pub(in crate::platform) team: Option<&'a TeamId>,
}

/// The fields of a content record that determine members' roles.
struct ContentLayer {
    id: Box<str>,
    level: DefaultLevel,
    created_by: UserId,
    teams: Vec<(TeamId, Role)>,
}

impl Audience {
    /// Loads all data that does not depend on the member.
    pub(in crate::platform) async fn load(tx: &Tx, target: &PermissionTarget) -> Result<Self> {
        let mut layers = Vec::new();
        let mut parent = match target {
            PermissionTarget::Space(id) => {
                let space: Option<Arc<SpaceRecord>> = tx.get(&SpaceRecord::key_for(id)).await?;
                let space = space.ok_or_else(|| Error::not_found("space"))?;
                layers.push(ContentLayer::new(space.id.as_str(), space.default_level, &space.created_by));
                space.parent.clone()
            }
            PermissionTarget::Collection(id) => Some(id.clone()),
            PermissionTarget::Site(id) => {
                let site: Option<Arc<SiteRecord>> = tx.get(&SiteRecord::key_for(id)).await?;
                let site = site.ok_or_else(|| Error::not_found("site"))?;
                layers.push(ContentLayer::new(site.id.as_str(), site.default_level, &site.created_by));
                None
            }
        };
        // The ancestor collections. For a collection, the first layer is the collection itself.
        let most = MAX_COLLECTION_DEPTH + usize::from(matches!(target, PermissionTarget::Collection(_)));
        for _ in 0..most {
            let Some(above) = collection(tx, parent.as_ref()).await? else { break };
            layers.push(ContentLayer::new(above.id.as_str(), above.default_level, &above.created_by));
            parent = above.parent.clone();
        }
        let mut audience = Self { layers };
        audience.read_teams(tx).await?;
        Ok(audience)
    }

    /// Returns the roles of members. The members must be consecutive and in key order.
    pub(in crate::platform) async fn roles(
        &self,
        tx: &Tx,
        members: &[Arc<MemberRecord>],
    ) -> Result<Vec<Option<Role>>> {
        let held = self.held(tx, members).await?;
        let role = |(member, held): (&Arc<MemberRecord>, Vec<HeldLayer<'_>>)| {
            let layers: Vec<Layer> = held.into_iter().map(|held| held.layer).collect();
            effective_role(member.role, &layers)
        };
        Ok(members.iter().zip(held).map(role).collect())
    }

    /// Returns the grants of each member, innermost first. The members must be consecutive and in key order.
    pub(in crate::platform) async fn held(
        &self,
        tx: &Tx,
        members: &[Arc<MemberRecord>],
    ) -> Result<Vec<Vec<HeldLayer<'_>>>> {
        let (Some(first), Some(last)) = (members.first(), members.last()) else { return Ok(Vec::new()) };
        let (first, last) = (&first.user, &last.user);
        let teams: BTreeSet<&TeamId> =
            self.layers.iter().flat_map(|layer| &layer.teams).map(|(team, _)| team).collect();
        // Grants and team memberships are ordered by user, like members, so each range covers exactly these members.
        let own = self.layers.iter().map(|layer| {
            range_scan(&GrantRecord::user_key(&layer.id, first), &GrantRecord::user_key(&layer.id, last))
        });
        let places = teams.iter().map(|team| {
            range_scan(&TeamMemberRecord::key_for(team, first), &TeamMemberRecord::key_for(team, last))
        });
        let own = all::<GrantRecord>(tx, own.collect()).await?;
        let places = all::<TeamMemberRecord>(tx, places.collect()).await?;
        let own: Vec<HashMap<&UserId, Role>> = own.iter().map(|grants| roles_by_user(grants)).collect();
        let mut member_of: HashMap<&UserId, BTreeSet<&TeamId>> = HashMap::new();
        for place in places.iter().flatten() {
            member_of.entry(&place.user).or_default().insert(&place.team);
        }
        let held = |member: &Arc<MemberRecord>| {
            let mine = member_of.get(&member.user);
            let layers = self.layers.iter().zip(&own).map(|(layer, own)| {
                let team = layer.highest(mine);
                let layer = Layer {
                    level: layer.level,
                    is_creator: layer.created_by == member.user,
                    member: own.get(&member.user).copied(),
                    team: team.map(|(_, role)| role),
                };
                HeldLayer { layer, team: team.map(|(team, _)| team) }
            });
            layers.collect()
        };
        Ok(members.iter().map(held).collect())
    }

    async fn read_teams(&mut self, tx: &Tx) -> Result<()> {
        let scans: Vec<Scan> = self
            .layers
            .iter()
            .map(|layer| GrantRecord::team_grants(&layer.id).scan(MAX_TEAM_GRANTS))
            .collect();
        for (layer, rows) in self.layers.iter_mut().zip(tx.scan_many(&scans).await?) {
            let mut teams = Vec::with_capacity(rows.len());
            for (_, value) in rows {
                let grant: Arc<GrantRecord> = decode(value)?;
                if let Grantee::Team(team) = &grant.grantee {
                    teams.push((team.clone(), grant.role));
                }
            }
            let keys: Vec<Key> = teams.iter().map(|(team, _)| TeamRecord::key_for(team)).collect();
            // A deleted team grants no access, even while a job still removes its rows.
            let there = tx.get_values(&keys).await?;
            let live = teams.into_iter().zip(there).filter(|(_, there)| there.is_some());
            layer.teams = live.map(|(team, _)| team).collect();
        }
        Ok(())
    }
}

impl ContentLayer {
    fn new(id: &str, level: DefaultLevel, created_by: &UserId) -> Self {
        Self { id: id.into(), level, created_by: created_by.clone(), teams: Vec::new() }
    }

    /// Returns the team with the highest role among these teams.
    fn highest(&self, teams: Option<&BTreeSet<&TeamId>>) -> Option<(&TeamId, Role)> {
        let teams = teams?;
        let mine = self.teams.iter().filter(|(team, _)| teams.contains(team));
        mine.map(|(team, role)| (team, *role)).max_by_key(|(_, role)| *role)
    }
}

async fn collection(tx: &Tx, id: Option<&CollectionId>) -> Result<Option<Arc<CollectionRecord>>> {
    match id {
        Some(id) => Ok(tx.get(&CollectionRecord::key_for(id)).await?),
        None => Ok(None),
    }
}

fn roles_by_user(grants: &[Arc<GrantRecord>]) -> HashMap<&UserId, Role> {
    let of_users = grants.iter().filter_map(|grant| match &grant.grantee {
        Grantee::User(user) => Some((user, grant.role)),
        Grantee::Team(_) => None,
    });
    of_users.collect()
}

/// A scan over an inclusive key range.
fn range_scan(from: &Key, to: &Key) -> Scan {
    Scan { from: Key::clone(from), to: key::successor(to), rev: false, limit: MAX_SCAN }
}

/// Reads all records of the ranges, in batches of `MAX_SCAN`.
async fn all<T: Indexed + Entity>(tx: &Tx, mut scans: Vec<Scan>) -> Result<Vec<Vec<Arc<T>>>> {
    let mut found: Vec<Vec<Arc<T>>> = Vec::with_capacity(scans.len());
    for (rows, scan) in tx.scan_many(&scans).await?.into_iter().zip(&mut scans) {
        let mut records = Vec::with_capacity(rows.len());
        let mut rows = rows;
        loop {
            let last =
                rows.last().filter(|_| rows.len() == MAX_SCAN as usize).map(|(last, _)| key::successor(last));
            let decoded: StoreResult<Vec<Arc<T>>> =
                rows.into_iter().map(|(_, value)| decode(value)).collect();
            records.extend(decoded?);
            let Some(from) = last else { break };
            scan.from = from;
            rows = tx.scan(scan).await?;
        }
        found.push(records);
    }
    Ok(found)
}
