//! Link targets that are resolved for the caller: other spaces, collections, users, OpenAPI specifications, anchors.
//!
//! Targets that the actor cannot access are treated as missing.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use super::{
    anchors::PageAnchors,
    location::{LinkTargets, LocationContext, reference_anchor, space_target},
};
use crate::{
    ErrorKind, Result,
    content::{Link, LinkState, LinkTarget},
    model::{
        Collection, CollectionId, ContentLocation, ContentRef, OpenApiSpec, OrgId, Organization, SpaceId,
        User, UserId,
    },
    platform::{
        access::{self, AccessResolver},
        content::{files::Bearer, openapi_specs},
        kernel::{actor::Actor, platform::Platform},
    },
    policy::{OrgAction, SpaceAccess},
    store::{
        Key, Tx,
        records::{CollectionRecord, MemberRecord, SpaceRecord},
    },
};

/// Resolved external references for one actor.
pub(super) struct ExternalTargets<'a> {
    platform: &'a Platform,
    actor: &'a Actor,
    own: &'a LocationContext,
    known: HashMap<ContentRef, ExternalTarget<'a>>,
    anchors: PageAnchors,
}

/// Target of a reference. A full location repeats its space, so locations are built on demand; until then, all targets
/// in a space share it.
enum ExternalTarget<'a> {
    Missing,
    User(User),
    Collection(Arc<CollectionView>),
    Spec(Arc<SpecView>),
    Space(SpaceContext<'a>),
    TargetView(SpaceContext<'a>, Arc<LinkTargets>, LinkTarget),
}

/// Ids used in external references.
#[derive(Default)]
struct ReferencedIds {
    spaces: BTreeSet<SpaceId>,
    users: BTreeSet<UserId>,
    collections: BTreeSet<CollectionId>,
    specs: BTreeSet<String>,
}

impl ReferencedIds {
    fn collect(references: &BTreeSet<&ContentRef>) -> Self {
        let mut named = Self::default();
        for reference in references {
            match reference {
                ContentRef::User { user } => drop(named.users.insert(user.clone())),
                ContentRef::Collection { collection } => drop(named.collections.insert(collection.clone())),
                ContentRef::OpenApi { spec } => drop(named.specs.insert(spec.clone())),
                reference => named.spaces.extend(space_target(reference).0.cloned()),
            }
        }
        named
    }
}

/// A collection with its organization.
struct CollectionView {
    organization: Organization,
    collection: Collection,
}

/// An OpenAPI specification with its organization.
struct SpecView {
    organization: Organization,
    spec: OpenApiSpec,
}

/// The content that contains a target.
#[derive(Clone)]
enum SpaceContext<'a> {
    Own(&'a LocationContext),
    Other(Arc<LocationContext>),
}

impl SpaceContext<'_> {
    fn context(&self) -> &LocationContext {
        match self {
            Self::Own(frame) => frame,
            Self::Other(frame) => frame,
        }
    }
}

impl<'a> ExternalTargets<'a> {
    pub(super) fn new(platform: &'a Platform, actor: &'a Actor, own: &'a LocationContext) -> Self {
        Self { platform, actor, own, known: HashMap::new(), anchors: PageAnchors::default() }
    }

    /// Returns `true` if the target of a resolved link exists and the actor has access to it.
    pub(super) fn exists(&self, link: &Link) -> bool {
        match link.standing {
            LinkState::Anchor => self.anchors.has(link),
            _ => {
                let known = self.known.get(&link.reference);
                known.is_some_and(|known| !matches!(known, ExternalTarget::Missing))
            }
        }
    }

    /// Returns the target location of a resolved reference, or `None` if the actor has no access to it.
    pub(super) fn find(&self, reference: &ContentRef) -> Option<ContentLocation> {
        match self.known.get(reference)? {
            ExternalTarget::Missing => None,
            ExternalTarget::User(user) => Some(ContentLocation::User { user: user.clone() }),
            ExternalTarget::Collection(view) => Some(ContentLocation::Collection {
                organization: Box::new(view.organization.clone()),
                collection: Box::new(view.collection.clone()),
            }),
            ExternalTarget::Spec(view) => Some(ContentLocation::OpenApi {
                organization: Box::new(view.organization.clone()),
                open_api_spec: Box::new(view.spec.clone()),
            }),
            ExternalTarget::Space(around) => Some(ContentLocation::Space {
                organization: Box::new(around.context().organization.clone()),
                space: Box::new(around.context().space.clone()),
            }),
            ExternalTarget::TargetView(around, things, target) => {
                things.location(around.context(), target, reference_anchor(reference))
            }
        }
    }

    /// Resolves links in batches. The number of reads does not depend on the number of links.
    pub(super) async fn load_all(&mut self, links: &[(Key, Link)]) -> Result<()> {
        self.anchors.load(&self.own.view, links).await?;
        let new: BTreeSet<&ContentRef> = links
            .iter()
            .filter(|(_, link)| {
                link.standing == LinkState::Outside && !self.known.contains_key(&link.reference)
            })
            .map(|(_, link)| &link.reference)
            .collect();
        if new.is_empty() {
            return Ok(());
        }
        let named = ReferencedIds::collect(&new);
        let tx = self.platform.read().await?;
        let frames = self.location_contexts(&tx, named.spaces.into_iter().collect()).await?;
        let around = |space: &SpaceId| self.space_context(&frames, space);
        let users = self.users(&tx, named.users.into_iter().collect()).await?;
        let collections = self.collections(&tx, named.collections.into_iter().collect()).await?;
        let specs = self.specs(&tx, named.specs.into_iter().collect()).await?;
        // Objects may need the same connection pool as the transaction, so it is ended first.
        drop(tx);
        let things = self.link_targets(&frames, &new).await?;
        let found: Vec<(ContentRef, ExternalTarget<'a>)> = new
            .into_iter()
            .map(|reference| {
                let known = match (reference, space_target(reference)) {
                    (ContentRef::User { user }, _) => users.get(user).cloned().map(ExternalTarget::User),
                    (ContentRef::Collection { collection }, _) => {
                        collections.get(collection).cloned().map(ExternalTarget::Collection)
                    }
                    (_, (Some(space), None)) => around(space).map(ExternalTarget::Space),
                    (_, (Some(space), Some(target))) => {
                        let there = things.get(space).filter(|things| things.has(&target)).cloned();
                        around(space)
                            .zip(there)
                            .map(|(around, there)| ExternalTarget::TargetView(around, there, target))
                    }
                    (ContentRef::OpenApi { spec }, _) => specs.get(spec).cloned().map(ExternalTarget::Spec),
                    _ => None,
                };
                (reference.clone(), known.unwrap_or(ExternalTarget::Missing))
            })
            .collect();
        self.known.extend(found);
        Ok(())
    }

    /// Returns the content of a space if the actor has access to it.
    fn space_context(
        &self,
        frames: &HashMap<SpaceId, Arc<LocationContext>>,
        space: &SpaceId,
    ) -> Option<SpaceContext<'a>> {
        if *space == self.own.record.id {
            return Some(SpaceContext::Own(self.own));
        }
        frames.get(space).map(|frame| SpaceContext::Other(Arc::clone(frame)))
    }

    /// Reads the link targets in accessible spaces, by space.
    async fn link_targets(
        &self,
        frames: &HashMap<SpaceId, Arc<LocationContext>>,
        references: &BTreeSet<&ContentRef>,
    ) -> Result<HashMap<SpaceId, Arc<LinkTargets>>> {
        let mut wanted: BTreeMap<&SpaceId, BTreeSet<LinkTarget>> = BTreeMap::new();
        for reference in references {
            if let (Some(space), Some(target)) = space_target(reference) {
                wanted.entry(space).or_default().insert(target);
            }
        }
        let mut things = HashMap::new();
        for (space, wanted) in wanted {
            if let Some(around) = self.space_context(frames, space) {
                let found = self.platform.link_targets(around.context(), wanted).await?;
                things.insert(space.clone(), Arc::new(found));
            }
        }
        Ok(things)
    }

    /// Reads the live content of the existing spaces that the actor can access.
    async fn location_contexts(
        &self,
        tx: &Tx,
        spaces: Vec<SpaceId>,
    ) -> Result<HashMap<SpaceId, Arc<LocationContext>>> {
        let keys: Vec<Key> = spaces.iter().map(SpaceRecord::key_for).collect();
        let found = tx.get_many::<SpaceRecord>(&keys).await?.into_iter().flatten();
        let mut by_org: BTreeMap<OrgId, Vec<Arc<SpaceRecord>>> = BTreeMap::new();
        for space in found.filter(|space| space.deleted_at.is_none()) {
            by_org.entry(space.organization.clone()).or_default().push(space);
        }
        let mut frames = HashMap::new();
        for (org, spaces) in by_org {
            let Some(mut resolver) = self.resolver(tx, &org).await? else { continue };
            let seen = resolver.spaces(tx, spaces.into_iter().map(Some).collect()).await?;
            let seen: Vec<SpaceAccess> = seen.into_iter().flatten().collect();
            let shown = self.platform.space_views(tx, &seen).await?;
            let Some(organization) = self.organization(tx, &resolver).await? else { continue };
            for (access, space) in seen.iter().zip(shown) {
                let record = Arc::clone(access.space());
                let view = self.platform.content().view(&record.domain, record.root);
                let id = record.id.clone();
                let frame = LocationContext {
                    organization: organization.clone(),
                    space,
                    context: None,
                    record,
                    view,
                    bearer: Bearer::for_member(self.actor)?,
                };
                frames.insert(id, Arc::new(frame));
            }
        }
        Ok(frames)
    }

    /// Reads the existing collections that the actor can access.
    async fn collections(
        &self,
        tx: &Tx,
        ids: Vec<CollectionId>,
    ) -> Result<HashMap<CollectionId, Arc<CollectionView>>> {
        let keys: Vec<Key> = ids.iter().map(CollectionRecord::key_for).collect();
        let mut by_org: BTreeMap<OrgId, Vec<Arc<CollectionRecord>>> = BTreeMap::new();
        for collection in tx.get_many::<CollectionRecord>(&keys).await?.into_iter().flatten() {
            by_org.entry(collection.organization.clone()).or_default().push(collection);
        }
        let mut views = HashMap::new();
        for (org, collections) in by_org {
            let Some(mut resolver) = self.resolver(tx, &org).await? else { continue };
            let seen = resolver.collections(tx, collections.into_iter().map(Some).collect()).await?;
            let Some(organization) = self.organization(tx, &resolver).await? else { continue };
            views.extend(seen.into_iter().flatten().map(|access| {
                let collection = self.platform.collection_view(&access);
                let organization = organization.clone();
                (collection.id.clone(), Arc::new(CollectionView { organization, collection }))
            }));
        }
        Ok(views)
    }

    /// Reads the existing OpenAPI specifications of the space's organization that the actor may read.
    async fn specs(&self, tx: &Tx, slugs: Vec<String>) -> Result<HashMap<String, Arc<SpecView>>> {
        let mut views = HashMap::new();
        if slugs.is_empty() {
            return Ok(views);
        }
        let org = &self.own.record.organization;
        let access = access::org(tx, self.actor, org).await?;
        if access.require(OrgAction::ReadSpecs).is_err() {
            return Ok(views);
        }
        for (slug, spec) in slugs.iter().zip(openapi_specs::find_all(tx, org, &slugs).await?) {
            let Some(spec) = spec else { continue };
            let organization = self.own.organization.clone();
            let view = SpecView { organization, spec: self.platform.spec_view(&access, &spec) };
            views.insert(slug.clone(), Arc::new(view));
        }
        Ok(views)
    }

    /// Returns the actor's access to the content of an organization, or `None` if they are not a member.
    async fn resolver(&self, tx: &Tx, org: &OrgId) -> Result<Option<AccessResolver>> {
        match access::org(tx, self.actor, org).await {
            Ok(org) => Ok(Some(AccessResolver::new(org, self.actor))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Reads the organization of a resolver as the actor sees it.
    async fn organization(&self, tx: &Tx, resolver: &AccessResolver) -> Result<Option<Organization>> {
        let org = std::slice::from_ref(resolver.org());
        Ok(self.platform.org_views(tx, self.actor, org).await?.pop())
    }

    /// Reads the users who are members of the space's organization. Content must not reveal other users.
    async fn users(&self, tx: &Tx, users: Vec<UserId>) -> Result<HashMap<UserId, User>> {
        let keys: Vec<Key> =
            users.iter().map(|user| MemberRecord::key_for(&self.own.record.organization, user)).collect();
        let members = tx.get_values(&keys).await?;
        let members: Vec<UserId> =
            users.into_iter().zip(members).filter_map(|(user, member)| member.map(|_| user)).collect();
        let shown =
            self.platform.visible_users(tx, (self.actor, &self.own.record.organization), &members).await?;
        Ok(members.into_iter().zip(shown).collect())
    }
}
