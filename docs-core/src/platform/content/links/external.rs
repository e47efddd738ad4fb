//! Link targets that are resolved for the caller: other spaces, collections, users, OpenAPI specifications, anchors.
//!
//! Targets that the actor cannot access are treated as missing.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use super::{
    anchors::PageAnchors,
    location::{LinkTargets, LocationContext, member_resolver, reference_anchor, space_target},
};
use crate::{
    Result,
    content::{Link, LinkState, LinkTarget},
    model::{
        Collection, CollectionId, ContentLocation, ContentRef, OpenApiSpec, OrgId, Organization, SpaceId,
        User, UserId,
    },
    platform::{
        access,
        content::openapi_specs,
        kernel::{actor::Actor, platform::Platform},
    },
    policy::OrgAction,
    store::{
        Key, Tx,
        records::{CollectionRecord, MemberRecord},
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

    /// Replaces the budget of bytes of pages that are read to find their anchors.
    pub(super) fn with_anchor_budget(self, bytes: usize) -> Self {
        Self { anchors: PageAnchors::with_budget(bytes), ..self }
    }

    /// Returns the rest of that budget. It is 0 if a page exceeded it.
    pub(super) const fn anchor_budget(&self) -> usize {
        self.anchors.budget()
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
        let spaces = named.spaces.into_iter().collect();
        let frames = self.platform.location_contexts(&tx, self.actor, spaces).await?;
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
            let Some(mut resolver) = member_resolver(tx, self.actor, &org).await? else { continue };
            let seen = resolver.collections(tx, collections.into_iter().map(Some).collect()).await?;
            let organization = self.platform.organization_view(tx, self.actor, &resolver).await?;
            let Some(organization) = organization else { continue };
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
