//! Moves of spaces and collections within an organization.

use std::sync::Arc;

use async_trait::async_trait;

use super::{
    InsertionPoint, allocate_ranks, chain, check_capacity, check_depth, require_parent, resolve_named_parent,
};
use crate::{
    Error, ErrorKind, Result,
    model::{
        CollectionId, ContentTarget, MoveContent, MovePosition, Neighbour, OrgId, Patch, Rank, Timestamp,
    },
    platform::{
        access::{self, MAX_COLLECTION_DEPTH},
        kernel::actor::Actor,
    },
    policy::{CollectionAction, SpaceAction},
    store::{
        MAX_SCAN, MAX_SCANNED, Operation, Tx,
        records::{CollectionRecord, Parent, SpaceRecord, parse_target},
    },
};

pub(in crate::platform) struct ContentMove {
    actor: Actor,
    child: ContentTarget,
    /// The new parent. `Clear` moves the content to the top level of the organization.
    parent: Patch<String>,
    beside: Option<NeighbourPosition>,
    now: Timestamp,
}

/// A position relative to a sibling.
struct NeighbourPosition {
    side: NeighbourSide,
    neighbour: Neighbour,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum NeighbourSide {
    Before,
    After,
}

/// The current record of the content to move.
enum MovedContent {
    Space(Arc<SpaceRecord>),
    Collection(Arc<CollectionRecord>),
}

impl ContentMove {
    /// Validates the request.
    ///
    /// # Errors
    ///
    /// `Invalid` for an empty request, or one with two positions.
    pub(in crate::platform) fn new(
        actor: &Actor,
        child: ContentTarget,
        request: MoveContent,
        now: Timestamp,
    ) -> Result<Self> {
        if request.parent.is_keep() && request.position.is_none() {
            return Err(Error::new(ErrorKind::Invalid, "the body: must have `parent`, `position` or both"));
        }
        let beside = match request.position {
            None => None,
            Some(MovePosition { before: Some(neighbour), after: None }) => {
                Some(NeighbourPosition { side: NeighbourSide::Before, neighbour })
            }
            Some(MovePosition { before: None, after: Some(neighbour) }) => {
                Some(NeighbourPosition { side: NeighbourSide::After, neighbour })
            }
            Some(_) => return Err(Error::invalid("position", "must have either `before` or `after`")),
        };
        Ok(Self { actor: actor.clone(), child, parent: request.parent, beside, now })
    }

    async fn content(&self, tx: &Tx) -> Result<MovedContent> {
        Ok(match &self.child {
            ContentTarget::Space(id) => {
                let access = access::space(tx, &self.actor, id).await?;
                MovedContent::Space(Arc::clone(access.require(SpaceAction::Manage)?.space()))
            }
            ContentTarget::Collection(id) => {
                let access = access::collection(tx, &self.actor, id).await?;
                MovedContent::Collection(Arc::clone(access.require(CollectionAction::Manage)?))
            }
        })
    }

    /// Returns the new parent, if the actor may add content to it.
    async fn target(&self, tx: &Tx, content: &MovedContent) -> Result<Option<Arc<CollectionRecord>>> {
        let (org, old) = (content.org(), content.parent());
        require_parent(tx, &self.actor, org, old).await?;
        match &self.parent {
            Patch::Keep => match old {
                None => Ok(None),
                Some(id) => Ok(tx.get::<CollectionRecord>(&CollectionRecord::key_for(id)).await?),
            },
            Patch::Clear => {
                require_parent(tx, &self.actor, org, None).await?;
                Ok(None)
            }
            Patch::Set(id) => Ok(Some(resolve_named_parent(tx, &self.actor, org, id).await?)),
        }
    }

    /// Returns the insertion point at the requested position.
    async fn insertion_point<'a>(&self, tx: &Tx, parent: Parent<'a>) -> Result<InsertionPoint<'a>> {
        let Some(beside) = &self.beside else {
            return Ok(InsertionPoint::at_end(parent).without_child(self.child.clone()));
        };
        let (field, rank, child) = beside.locate(tx, &self.actor, parent).await?;
        if child == self.child {
            return Err(Error::invalid(&field, "must not be the moved item itself"));
        }
        let gap = match beside.side {
            NeighbourSide::Before => InsertionPoint::before_child(parent, &rank, child.id()),
            NeighbourSide::After => InsertionPoint::after_child(parent, &rank, child.id()),
        };
        Ok(gap.without_child(self.child.clone()))
    }
}

#[async_trait]
impl Operation for ContentMove {
    type Output = ();
    const NAME: &'static str = "content_move";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let content = self.content(tx).await?;
        let target = self.target(tx, &content).await?;
        let parent = target.as_ref().map(|target| &target.id);
        let is_new_place = parent != content.parent();
        if let Some(target) = target.as_ref().filter(|_| is_new_place) {
            if let MovedContent::Collection(moved) = &content {
                check_tree(tx, moved, target).await?;
            }
            check_capacity(tx, &target.id, 1).await?;
        }
        let gap = self.insertion_point(tx, Parent::new(content.org(), parent)).await?;
        if !is_new_place && gap.contains(tx, &content.rank(), self.child.id()).await? {
            return Ok(());
        }
        let rank = allocate_ranks(tx, &gap, 1, self.now).await?.pop();
        let rank = rank.ok_or_else(|| Error::internal("fewer ranks than requested"))?;
        content.put(tx, parent.cloned(), rank, self.now)
    }
}

impl NeighbourPosition {
    /// Returns the request field that names the sibling, its rank, and the sibling itself. The sibling must be in this
    /// parent.
    async fn locate(
        &self,
        tx: &Tx,
        actor: &Actor,
        within: Parent<'_>,
    ) -> Result<(String, Rank, ContentTarget)> {
        let side = if self.side == NeighbourSide::Before { "before" } else { "after" };
        let (kind, id) = match &self.neighbour {
            Neighbour::Space { space } => ("space", space),
            Neighbour::Collection { collection } => ("collection", collection),
        };
        let field = format!("position.{side}.{kind}");
        let unknown = || Error::invalid(&field, format_args!("no such {kind}"));
        let hide = |error: Error| if error.kind() == ErrorKind::NotFound { unknown() } else { error };
        let (org, parent, rank, child) = match &self.neighbour {
            Neighbour::Space { .. } => {
                let id = id.parse().map_err(|_| unknown())?;
                let access = access::space(tx, actor, &id).await.map_err(hide)?;
                let space = access.space();
                (space.organization.clone(), space.parent.clone(), space.rank(), ContentTarget::Space(id))
            }
            Neighbour::Collection { .. } => {
                let id = id.parse().map_err(|_| unknown())?;
                let access = access::collection(tx, actor, &id).await.map_err(hide)?;
                let other = access.collection();
                (
                    other.organization.clone(),
                    other.parent.clone(),
                    other.rank.clone(),
                    ContentTarget::Collection(id),
                )
            }
        };
        if Parent::new(&org, parent.as_ref()) != within {
            return Err(Error::invalid(&field, "must be a child of the target"));
        }
        Ok((field, rank, child))
    }
}

impl MovedContent {
    fn org(&self) -> &OrgId {
        match self {
            Self::Space(space) => &space.organization,
            Self::Collection(collection) => &collection.organization,
        }
    }

    fn parent(&self) -> Option<&CollectionId> {
        match self {
            Self::Space(space) => space.parent.as_ref(),
            Self::Collection(collection) => collection.parent.as_ref(),
        }
    }

    fn rank(&self) -> Rank {
        match self {
            Self::Space(space) => space.rank(),
            Self::Collection(collection) => collection.rank.clone(),
        }
    }

    fn put(&self, tx: &mut Tx, parent: Option<CollectionId>, rank: Rank, now: Timestamp) -> Result<()> {
        match self {
            Self::Space(old) => {
                let updated_at = now.later_than(old.updated_at);
                let new = SpaceRecord { parent, rank: Some(rank), updated_at, ..SpaceRecord::clone(old) };
                tx.put(&**old, new)?;
            }
            Self::Collection(old) => {
                let new = CollectionRecord { parent, rank, ..CollectionRecord::clone(old) };
                tx.put(&**old, new)?;
            }
        }
        Ok(())
    }
}

/// Rejects a move of a collection into its own subtree, or one that exceeds the nesting limit.
async fn check_tree(tx: &Tx, moved: &Arc<CollectionRecord>, target: &Arc<CollectionRecord>) -> Result<()> {
    let above = chain(tx, target).await?;
    if above.iter().any(|collection| collection.id == moved.id) {
        return Err(Error::conflict("parent: must not be the collection itself or one of its descendants"));
    }
    check_depth(above.len() + 1)?;
    if above.len() < chain(tx, moved).await?.len() {
        // The collection does not move deeper than it is now.
        return Ok(());
    }
    check_depth(above.len() + height(tx, &moved.id).await?)
}

/// Returns the height of a collection's subtree, counting the collection itself.
async fn height(tx: &Tx, id: &CollectionId) -> Result<usize> {
    let mut level = vec![id.clone()];
    let (mut height, mut seen) = (0, 0);
    while !level.is_empty() && height <= MAX_COLLECTION_DEPTH {
        height += 1;
        let scans: Vec<_> = level.iter().map(|id| Parent::In(id).children().scan(MAX_SCAN)).collect();
        seen += scans.len();
        level.clear();
        for row in tx.scan_many(&scans).await?.iter().flatten() {
            seen += 1;
            if let ContentTarget::Collection(id) = parse_target(row)? {
                level.push(id);
            }
        }
        if seen > MAX_SCANNED {
            return Err(Error::conflict(
                "the collection has too much content to move it deeper; move its parts",
            ));
        }
    }
    Ok(height)
}
