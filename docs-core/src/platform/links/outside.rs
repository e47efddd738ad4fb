//! What links lead to outside of their revision: other spaces, users. What the one who asks may not see is not there.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use super::frame::{Frame, Things, anchor_of, thing_in};
use crate::{
    ErrorKind, Result,
    content::{Link, LinkTarget, Standing},
    model::{ContentLocation, ContentRef, OrgId, SpaceId, User, UserId},
    platform::{
        Actor, Platform,
        access::{self, Sight},
    },
    policy::{OrgAccess, SpaceAccess},
    store::{
        Key, Tx,
        records::{MemberRecord, SpaceRecord},
    },
};

/// What is known of the things outside, as one actor sees them.
pub(super) struct Outside<'a> {
    platform: &'a Platform,
    actor: &'a Actor,
    own: &'a Frame,
    known: HashMap<ContentRef, Known<'a>>,
}

/// What a reference leads to. Locations say much about the space that they are in, so they are made when one is shown;
/// until then all things of a space share it.
enum Known<'a> {
    Nothing,
    User(User),
    Space(Around<'a>),
    Thing(Around<'a>, Arc<Things>, LinkTarget),
}

/// The content that something is in.
#[derive(Clone)]
enum Around<'a> {
    Own(&'a Frame),
    Other(Arc<Frame>),
}

impl Around<'_> {
    fn frame(&self) -> &Frame {
        match self {
            Self::Own(frame) => frame,
            Self::Other(frame) => frame,
        }
    }
}

impl<'a> Outside<'a> {
    pub(super) fn new(platform: &'a Platform, actor: &'a Actor, own: &'a Frame) -> Self {
        Self { platform, actor, own, known: HashMap::new() }
    }

    /// Tells whether a reference that was learned leads to something that the actor may see.
    pub(super) fn is_there(&self, reference: &ContentRef) -> bool {
        self.known.get(reference).is_some_and(|known| !matches!(known, Known::Nothing))
    }

    /// Where a reference leads that was learned; `None` for one that leads to nothing the actor may see.
    pub(super) fn find(&self, reference: &ContentRef) -> Option<ContentLocation> {
        match self.known.get(reference)? {
            Known::Nothing => None,
            Known::User(user) => Some(ContentLocation::User { user: user.clone() }),
            Known::Space(around) => Some(ContentLocation::Space {
                organization: Box::new(around.frame().organization.clone()),
                space: Box::new(around.frame().space.clone()),
            }),
            Known::Thing(around, things, target) => {
                things.location(around.frame(), target, anchor_of(reference))
            }
        }
    }

    /// Looks up where the links lead that leave the revision: a few reads, whatever their number.
    pub(super) async fn learn(&mut self, links: &[(Key, Link)]) -> Result<()> {
        let new: BTreeSet<&ContentRef> = links
            .iter()
            .filter(|(_, link)| {
                link.standing == Standing::Outside && !self.known.contains_key(&link.reference)
            })
            .map(|(_, link)| &link.reference)
            .collect();
        if new.is_empty() {
            return Ok(());
        }
        let (mut spaces, mut users) = (BTreeSet::new(), BTreeSet::new());
        for reference in &new {
            match reference {
                ContentRef::User { user } => drop(users.insert(user.clone())),
                reference => spaces.extend(thing_in(reference).0.cloned()),
            }
        }
        let tx = self.platform.read().await?;
        let frames = self.frames(&tx, spaces.into_iter().collect()).await?;
        let around = |space: &SpaceId| {
            if *space == self.own.record.id {
                return Some(Around::Own(self.own));
            }
            frames.get(space).map(|frame| Around::Other(Arc::clone(frame)))
        };
        let users = self.users(&tx, users.into_iter().collect()).await?;
        // Objects may come through the same connections as the transaction, so none is held meanwhile.
        drop(tx);
        let mut wanted: BTreeMap<&SpaceId, BTreeSet<LinkTarget>> = BTreeMap::new();
        for reference in &new {
            if let (Some(space), Some(target)) = thing_in(reference) {
                wanted.entry(space).or_default().insert(target);
            }
        }
        let mut things = HashMap::new();
        for (space, wanted) in wanted {
            if let Some(around) = around(space) {
                let found = self.platform.things(around.frame(), wanted).await?;
                things.insert(space.clone(), Arc::new(found));
            }
        }
        let found: Vec<(ContentRef, Known<'a>)> = new
            .into_iter()
            .map(|reference| {
                let known = match (reference, thing_in(reference)) {
                    (ContentRef::User { user }, _) => users.get(user).cloned().map(Known::User),
                    (_, (Some(space), None)) => around(space).map(Known::Space),
                    (_, (Some(space), Some(target))) => {
                        let there = things.get(space).filter(|things| things.has(&target)).cloned();
                        around(space).zip(there).map(|(around, there)| Known::Thing(around, there, target))
                    }
                    // Collections and specifications: there are none that content could refer to.
                    _ => None,
                };
                (reference.clone(), known.unwrap_or(Known::Nothing))
            })
            .collect();
        self.known.extend(found);
        Ok(())
    }

    /// The live content of those spaces that are there and that the actor may see.
    async fn frames(&self, tx: &Tx, spaces: Vec<SpaceId>) -> Result<HashMap<SpaceId, Arc<Frame>>> {
        let keys: Vec<Key> = spaces.iter().map(SpaceRecord::at).collect();
        let found = tx.get_many::<SpaceRecord>(&keys).await?.into_iter().flatten();
        let mut by_org: BTreeMap<OrgId, Vec<Arc<SpaceRecord>>> = BTreeMap::new();
        for space in found.filter(|space| space.deleted_at.is_none()) {
            by_org.entry(space.organization.clone()).or_default().push(space);
        }
        let mut frames = HashMap::new();
        for (org, spaces) in by_org {
            let org: OrgAccess = match access::org(tx, self.actor, &org).await {
                Ok(org) => org,
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            let mut sight = Sight::new(org, self.actor);
            let seen = sight.spaces(tx, spaces.into_iter().map(Some).collect()).await?;
            let seen: Vec<SpaceAccess> = seen.into_iter().flatten().collect();
            let shown = self.platform.space_views(tx, &seen).await?;
            let org = self.platform.org_views(tx, self.actor, std::slice::from_ref(sight.org())).await?.pop();
            let Some(organization) = org else { continue };
            for (access, space) in seen.iter().zip(shown) {
                let record = Arc::clone(access.space());
                let view = self.platform.content().view(&record.domain, record.root);
                let id = record.id.clone();
                let frame = Frame { organization: organization.clone(), space, context: None, record, view };
                frames.insert(id, Arc::new(frame));
            }
        }
        Ok(frames)
    }

    /// Those users who are members of the space's organization: others are nobody its content can speak of.
    async fn users(&self, tx: &Tx, users: Vec<UserId>) -> Result<HashMap<UserId, User>> {
        let keys: Vec<Key> =
            users.iter().map(|user| MemberRecord::at(&self.own.record.organization, user)).collect();
        let members = tx.get_values(&keys).await?;
        let members: Vec<UserId> =
            users.into_iter().zip(members).filter_map(|(user, member)| member.map(|_| user)).collect();
        let shown = self.platform.user_views(tx, &members).await?;
        Ok(members.into_iter().zip(shown).collect())
    }
}
