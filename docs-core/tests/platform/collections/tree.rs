//! Random operations on the tree, compared with a model of ordered lists of children.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use docs_core::{
    Actor, ErrorKind, Result,
    model::{
        CollectionId, ContentTarget, CreateCollection, CreateSpace, MoveContent, MovePosition, Neighbour,
        OrgId, Patch, Role, TransferContent,
    },
    platform::Reach,
    store::{
        Mode, PageRequest, Store, Tx,
        records::{Parent, parse_target},
    },
};
use docs_memstore::MemStore;
use proptest::prelude::*;

use super::{collection_id, neighbour, organization, space_id, walked};
use crate::support::{World, block_on};

const WINDOW: Duration = Duration::from_secs(7 * 24 * 3600);
const DEEPEST: usize = 10;

#[derive(Clone, Debug)]
enum Step {
    CreateSpace { who: usize, org: usize, parent: Option<usize> },
    CreateCollection { who: usize, org: usize, parent: Option<usize> },
    Move { who: usize, what: usize, to: To, beside: Option<(bool, usize)> },
    Delete { who: usize, what: usize },
    Restore { who: usize, what: usize },
    Duplicate { who: usize, what: usize },
    Transfer { who: usize, what: usize, org: usize },
    Wait(Duration),
}

#[derive(Clone, Debug)]
enum To {
    Stay,
    Top,
    In(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let who = || prop_oneof![6 => Just(0_usize), 2 => Just(1_usize), 1 => Just(2_usize)];
    let org = || prop_oneof![5 => Just(0_usize), 1 => Just(1_usize)];
    let what = || 0..40_usize;
    let parent = || prop::option::weighted(0.8, what());
    let to = prop_oneof![2 => Just(To::Stay), 1 => Just(To::Top), 6 => what().prop_map(To::In)];
    let beside = prop::option::weighted(0.6, (any::<bool>(), what()));
    let wait = prop_oneof![Just(WINDOW / 2), Just(WINDOW), Just(WINDOW + Duration::from_millis(1))];
    let step = prop_oneof![
        4 => (who(), org(), parent()).prop_map(|(who, org, parent)| Step::CreateSpace { who, org, parent }),
        5 => (who(), org(), parent()).prop_map(|(who, org, parent)| Step::CreateCollection { who, org, parent }),
        9 => (who(), what(), to, beside).prop_map(|(who, what, to, beside)| Step::Move { who, what, to, beside }),
        3 => (who(), what()).prop_map(|(who, what)| Step::Delete { who, what }),
        2 => (who(), what()).prop_map(|(who, what)| Step::Restore { who, what }),
        1 => (who(), what()).prop_map(|(who, what)| Step::Duplicate { who, what }),
        1 => (who(), what(), org()).prop_map(|(who, what, org)| Step::Transfer { who, what, org }),
        1 => wait.prop_map(Step::Wait),
    ];
    prop::collection::vec(step, 1..60)
}

/// A space or collection in the tree.
struct Node {
    child: ContentTarget,
    org: usize,
    parent: Option<usize>,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Live,
    /// Deleted, with the time since the deletion.
    Deleted(Duration),
    Gone,
}

/// The ordered children of each parent.
#[derive(Default)]
struct Model {
    nodes: Vec<Node>,
    places: BTreeMap<(usize, Option<usize>), Vec<usize>>,
}

type Refusal = Option<ErrorKind>;

/// Returns the role of an actor in an organization, or `None` for a non-member.
fn role(who: usize, org: usize) -> Option<Role> {
    match (who, org) {
        (0, _) => Some(Role::Admin),
        (1, 0) => Some(Role::Create),
        (2, 0) => Some(Role::Read),
        _ => None,
    }
}

impl Model {
    fn pick(&self, n: usize) -> Option<usize> {
        (!self.nodes.is_empty()).then(|| n % self.nodes.len())
    }

    /// Returns a node if it is visible to an actor.
    fn seen(&self, who: usize, at: usize) -> Option<&Node> {
        self.nodes.get(at).filter(|node| node.state != State::Gone && role(who, node.org).is_some())
    }

    fn is_collection(&self, at: usize) -> bool {
        matches!(self.nodes[at].child, ContentTarget::Collection(_))
    }

    fn siblings(&mut self, at: usize) -> &mut Vec<usize> {
        let place = (self.nodes[at].org, self.nodes[at].parent);
        self.places.entry(place).or_default()
    }

    fn leave(&mut self, at: usize) {
        self.siblings(at).retain(|other| *other != at);
    }

    fn depth(&self, mut at: Option<usize>) -> usize {
        let mut depth = 0;
        while let Some(parent) = at {
            depth += 1;
            at = self.nodes[parent].parent;
        }
        depth
    }

    /// Returns all descendants of a parent in depth-first order.
    fn below(&self, org: usize, parent: Option<usize>) -> Vec<usize> {
        let children = self.places.get(&(org, parent)).cloned().unwrap_or_default();
        children.into_iter().flat_map(|at| [vec![at], self.below(org, Some(at))].concat()).collect()
    }

    fn height(&self, at: usize) -> usize {
        let inside = self.places.get(&(self.nodes[at].org, Some(at))).into_iter().flatten();
        1 + inside.filter(|at| self.is_collection(**at)).map(|at| self.height(*at)).max().unwrap_or(0)
    }

    fn deleted_in(&self, at: usize) -> Vec<usize> {
        let is_in = |node: &Node| node.parent == Some(at) && matches!(node.state, State::Deleted(_));
        (0..self.nodes.len()).filter(|at| is_in(&self.nodes[*at])).collect()
    }

    /// Returns the expected error for creating a node under a parent.
    fn refuses_new(&self, who: usize, org: usize, parent: Option<usize>, is_collection: bool) -> Refusal {
        let Some(role) = role(who, org) else { return Some(ErrorKind::NotFound) };
        if let Some(parent) = parent {
            let known = self.seen(who, parent).is_some_and(|node| node.org == org);
            if !known || !self.is_collection(parent) {
                return Some(ErrorKind::Invalid);
            }
        }
        if role < Role::Create {
            return Some(ErrorKind::Forbidden);
        }
        let too_deep = is_collection && self.depth(parent) >= DEEPEST;
        too_deep.then_some(ErrorKind::Conflict)
    }

    /// Returns the expected error for managing a node.
    fn refuses(&self, who: usize, at: usize) -> Refusal {
        let Some(node) = self.seen(who, at) else { return Some(ErrorKind::NotFound) };
        (role(who, node.org) < Some(Role::Create)).then_some(ErrorKind::Forbidden)
    }

    fn refuses_live(&self, who: usize, at: usize) -> Refusal {
        match self.seen(who, at) {
            Some(node) if node.state != State::Live => Some(ErrorKind::NotFound),
            _ => self.refuses(who, at),
        }
    }

    /// Moves a node, or returns the expected error.
    fn relocate(&mut self, who: usize, at: usize, to: &To, beside: Option<(bool, usize)>) -> Refusal {
        if matches!(to, To::Stay) && beside.is_none() {
            return Some(ErrorKind::Invalid);
        }
        if let Some(refusal) = self.refuses_live(who, at) {
            return Some(refusal);
        }
        let (org, old) = (self.nodes[at].org, self.nodes[at].parent);
        let new = match to {
            To::Stay => old,
            To::Top => None,
            To::In(parent) => {
                match self.seen(who, *parent) {
                    Some(node) if self.is_collection(*parent) => {
                        if node.org != org {
                            return Some(ErrorKind::Conflict);
                        }
                    }
                    _ => return Some(ErrorKind::Invalid),
                }
                Some(*parent)
            }
        };
        if new != old && self.is_collection(at) {
            let mut above = new;
            while let Some(parent) = above {
                if parent == at {
                    return Some(ErrorKind::Conflict);
                }
                above = self.nodes[parent].parent;
            }
            let depth = self.depth(new);
            if new.is_some() && (depth >= DEEPEST || depth + self.height(at) > DEEPEST) {
                return Some(ErrorKind::Conflict);
            }
        }
        if let Some((_, other)) = beside {
            let fits = self.seen(who, other).is_some_and(|node| {
                node.state == State::Live && node.org == org && node.parent == new && other != at
            });
            if !fits {
                return Some(ErrorKind::Invalid);
            }
        }
        self.leave(at);
        self.nodes[at].parent = new;
        let siblings = self.siblings(at);
        let behind = siblings.len();
        let position = match beside {
            None => behind,
            Some((before, other)) => {
                let found = siblings.iter().position(|sibling| *sibling == other).expect("it is there");
                if before { found } else { found + 1 }
            }
        };
        siblings.insert(position, at);
        None
    }

    /// Deletes a node, or returns the expected error, with the return type of the platform.
    fn delete(&mut self, who: usize, at: usize) -> std::result::Result<bool, ErrorKind> {
        match self.refuses_live(who, at) {
            Some(ErrorKind::NotFound) => return Ok(false),
            Some(refusal) => return Err(refusal),
            None => {}
        }
        if !self.is_collection(at) {
            self.leave(at);
            self.nodes[at].state = State::Deleted(Duration::ZERO);
            return Ok(true);
        }
        let (org, parent) = (self.nodes[at].org, self.nodes[at].parent);
        let inside = self.places.remove(&(org, Some(at))).unwrap_or_default();
        for inner in inside.iter().copied().chain(self.deleted_in(at)) {
            self.nodes[inner].parent = parent;
        }
        let siblings = self.siblings(at);
        let position = siblings.iter().position(|sibling| *sibling == at).expect("it is there");
        siblings.splice(position..=position, inside);
        self.nodes[at].state = State::Gone;
        Ok(true)
    }

    /// Transfers a node to an organization, or returns the expected error.
    fn transfer(&mut self, who: usize, at: usize, to: usize) -> Refusal {
        if let Some(refusal) = self.refuses(who, at) {
            return Some(refusal);
        }
        let org = self.nodes[at].org;
        let inside = if self.is_collection(at) { self.below(org, Some(at)) } else { Vec::new() };
        let mut collections = inside.iter().copied().chain([at]).filter(|at| self.is_collection(*at));
        if self.nodes[at].state != State::Live || collections.any(|at| !self.deleted_in(at).is_empty()) {
            return Some(ErrorKind::Precondition);
        }
        if role(who, to).is_none() {
            return Some(ErrorKind::NotFound);
        }
        if to == org {
            return Some(ErrorKind::Conflict);
        }
        self.leave(at);
        self.nodes[at].parent = None;
        for part in inside.iter().copied().chain([at]) {
            if let Some(children) = self.places.remove(&(org, Some(part))) {
                self.places.insert((to, Some(part)), children);
            }
            self.nodes[part].org = to;
        }
        self.siblings(at).push(at);
        None
    }

    fn wait(&mut self, time: Duration) {
        for node in &mut self.nodes {
            if let State::Deleted(age) = &mut node.state {
                *age += time;
                if *age > WINDOW {
                    node.state = State::Gone;
                }
            }
        }
    }
}

struct Program {
    w: World,
    orgs: [OrgId; 2],
    actors: [Actor; 3],
    model: Model,
}

impl Program {
    async fn new(store: Arc<dyn Store>) -> Self {
        let w = World::over(store).await;
        let maker = w.member("Mia", Some(Role::Create)).await;
        let reader = w.member("Rob", Some(Role::Read)).await;
        let orgs = [w.org.clone(), organization(&w, &w.admin).await];
        Self { actors: [w.admin.clone(), maker, reader], w, orgs, model: Model::default() }
    }

    fn name(&self, at: Option<usize>) -> Option<String> {
        at.map(|at| self.model.nodes[at].child.id().to_owned())
    }

    /// Adds a created node to the model. Returns the error of a failed creation.
    fn created(&mut self, answer: Result<ContentTarget>, org: usize, parent: Option<usize>) -> Refusal {
        match answer {
            Err(error) => Some(error.kind()),
            Ok(child) => {
                self.model.nodes.push(Node { child, org, parent, state: State::Live });
                let at = self.model.nodes.len() - 1;
                self.model.siblings(at).push(at);
                None
            }
        }
    }

    async fn create(&mut self, who: usize, org: usize, parent: Option<usize>, is_collection: bool) {
        let parent = parent.and_then(|parent| self.model.pick(parent));
        let expected = self.model.refuses_new(who, org, parent, is_collection);
        let (p, actor, name) = (&self.w.platform, &self.actors[who], self.name(parent));
        let answer = if is_collection {
            let new = CreateCollection { parent: name, ..CreateCollection::default() };
            p.as_actor(actor)
                .org(&self.orgs[org])
                .collections()
                .create(new)
                .await
                .map(|new| ContentTarget::Collection(new.id))
        } else {
            let new = CreateSpace { parent: name, ..CreateSpace::default() };
            p.as_actor(actor)
                .org(&self.orgs[org])
                .spaces()
                .create(new)
                .await
                .map(|new| ContentTarget::Space(new.id))
        };
        assert_eq!(self.created(answer, org, parent), expected);
    }

    async fn relocate(&mut self, who: usize, at: usize, to: &To, beside: Option<(bool, usize)>) {
        let pick = |n| self.model.pick(n).expect("there is something");
        let to = match to {
            To::In(n) => To::In(pick(*n)),
            other => other.clone(),
        };
        let beside = beside.map(|(before, n)| (before, pick(n)));
        let position = beside.map(|(before, other)| {
            let other: Option<Neighbour> = Some(neighbour(&self.model.nodes[other].child));
            if before {
                MovePosition { before: other, after: None }
            } else {
                MovePosition { before: None, after: other }
            }
        });
        let parent = match &to {
            To::Stay => Patch::Keep,
            To::Top => Patch::Clear,
            To::In(parent) => Patch::Set(self.model.nodes[*parent].child.id().to_owned()),
        };
        let (p, actor, request) = (&self.w.platform, &self.actors[who], MoveContent { parent, position });
        let answer = match &self.model.nodes[at].child {
            ContentTarget::Space(id) => p.as_actor(actor).space(id).move_to(request).await.err(),
            ContentTarget::Collection(id) => p.as_actor(actor).collection(id).move_to(request).await.err(),
        };
        let expected = self.model.relocate(who, at, &to, beside);
        assert_eq!(answer.map(|error| error.kind()), expected);
    }

    async fn delete(&mut self, who: usize, at: usize) {
        let (p, actor) = (&self.w.platform, &self.actors[who]);
        let answer = match &self.model.nodes[at].child {
            ContentTarget::Space(id) => p.as_actor(actor).space(id).delete().await,
            ContentTarget::Collection(id) => p.as_actor(actor).collection(id).delete().await,
        };
        assert_eq!(answer.map_err(|error| error.kind()), self.model.delete(who, at));
    }

    async fn restore(&mut self, who: usize, at: usize) {
        let ContentTarget::Space(id) = self.model.nodes[at].child.clone() else { return };
        let answer = self.w.platform.as_actor(&self.actors[who]).space(&id).restore().await;
        let live = self.model.nodes[at].state == State::Live;
        let expected = self.model.refuses(who, at).or(live.then_some(ErrorKind::Conflict));
        assert_eq!(answer.map_err(|error| error.kind()).err(), expected);
        if expected.is_none() {
            self.model.nodes[at].state = State::Live;
            // The siblings may have moved in the meantime, so only the store knows the position.
            let stored = self.stored_in(self.model.nodes[at].org, self.model.nodes[at].parent).await;
            let position = stored.iter().position(|child| *child == self.model.nodes[at].child);
            let position = position.expect("it is back");
            self.model.siblings(at).insert(position, at);
        }
    }

    async fn duplicate(&mut self, who: usize, at: usize) {
        let ContentTarget::Space(id) = self.model.nodes[at].child.clone() else { return };
        let answer = self.w.platform.as_actor(&self.actors[who]).space(&id).duplicate().await;
        let expected = self.model.refuses_live(who, at);
        let (org, parent) = (self.model.nodes[at].org, self.model.nodes[at].parent);
        let refused = self.created(answer.map(|new| ContentTarget::Space(new.id)), org, parent);
        assert_eq!(refused, expected);
        if expected.is_none() {
            let new = self.model.nodes.len() - 1;
            let siblings = self.model.siblings(at);
            siblings.pop();
            let position = siblings.iter().position(|sibling| *sibling == at).expect("it is there");
            siblings.insert(position + 1, new);
        }
    }

    async fn transfer(&mut self, who: usize, at: usize, org: usize) {
        let (p, actor) = (&self.w.platform, &self.actors[who]);
        let request = TransferContent { organization: self.orgs[org].to_string() };
        let answer = match &self.model.nodes[at].child {
            ContentTarget::Space(id) => p.as_actor(actor).space(id).transfer(request).await.err(),
            ContentTarget::Collection(id) => p.as_actor(actor).collection(id).transfer(request).await.err(),
        };
        assert_eq!(answer.map(|error| error.kind()), self.model.transfer(who, at, org));
    }

    async fn step(&mut self, step: &Step) {
        // Nodes that are created or appended later get a higher rank.
        self.w.clock.advance(Duration::from_millis(1));
        match step {
            Step::CreateSpace { who, org, parent } => self.create(*who, *org, *parent, false).await,
            Step::CreateCollection { who, org, parent } => self.create(*who, *org, *parent, true).await,
            Step::Wait(time) => {
                self.w.clock.advance(*time);
                self.w.platform.settle().await.expect("settled");
            }
            Step::Move { what, .. }
            | Step::Delete { what, .. }
            | Step::Restore { what, .. }
            | Step::Duplicate { what, .. }
            | Step::Transfer { what, .. } => {
                let Some(at) = self.model.pick(*what) else { return };
                match step {
                    Step::Move { who, to, beside, .. } => self.relocate(*who, at, to, *beside).await,
                    Step::Delete { who, .. } => self.delete(*who, at).await,
                    Step::Restore { who, .. } => self.restore(*who, at).await,
                    Step::Duplicate { who, .. } => self.duplicate(*who, at).await,
                    Step::Transfer { who, org, .. } => self.transfer(*who, at, *org).await,
                    _ => {}
                }
            }
        }
        let time = if let Step::Wait(time) = step { *time } else { Duration::ZERO };
        self.model.wait(time + Duration::from_millis(1));
    }

    /// Returns the stored children of a parent.
    async fn stored_in(&self, org: usize, parent: Option<usize>) -> Vec<ContentTarget> {
        let parent = parent.map(|parent| collection_id(&self.model.nodes[parent].child));
        let place = Parent::new(&self.orgs[org], parent.as_ref());
        let store = self.w.platform.store();
        let tx = Tx::new(store.begin(Mode::Read, &[]).await.expect("begins"));
        let rows = tx.scan_prefix(&place.children(), 1_000).await.expect("read");
        rows.iter().map(|row| parse_target(row).expect("a child")).collect()
    }

    async fn spaces_in(&self, id: &CollectionId, limit: u32) -> Vec<ContentTarget> {
        let list = async |page: PageRequest| self.w.as_admin().collection(id).list_spaces(&page).await;
        walked(limit, list).await.into_iter().map(|space| ContentTarget::Space(space.id)).collect()
    }

    async fn spaces(&self, org: usize, limit: u32) -> Vec<ContentTarget> {
        let list =
            async |page: PageRequest| self.w.as_admin().org(&self.orgs[org]).spaces().list(&page).await;
        walked(limit, list).await.into_iter().map(|space| ContentTarget::Space(space.id)).collect()
    }

    async fn collections(&self, org: usize, reach: Reach, limit: u32) -> Vec<ContentTarget> {
        let list = async |page: PageRequest| {
            self.w.as_admin().org(&self.orgs[org]).collections().list(reach, &page).await
        };
        walked(limit, list).await.into_iter().map(|inner| ContentTarget::Collection(inner.id)).collect()
    }

    /// Checks for a page size that every list equals the model, including the order.
    async fn check(&self, limit: u32) {
        let nodes = &self.model.nodes;
        let of_kind = |ids: Vec<usize>, is_collection: bool| -> Vec<ContentTarget> {
            let ids = ids.into_iter().filter(|at| self.model.is_collection(*at) == is_collection);
            ids.map(|at| nodes[at].child.clone()).collect()
        };
        for org in 0..2 {
            let (whole, top) = (self.model.below(org, None), self.model.places.get(&(org, None)));
            assert_eq!(self.spaces(org, limit).await, of_kind(whole.clone(), false));
            let shown = self.collections(org, Reach::Nested, limit).await;
            assert_eq!(shown, of_kind(whole.clone(), true));
            let shown = self.collections(org, Reach::Direct, limit).await;
            assert_eq!(shown, of_kind(top.cloned().unwrap_or_default(), true));
            for at in whole.into_iter().filter(|at| self.model.is_collection(*at)) {
                let inside = self.model.places.get(&(org, Some(at))).cloned().unwrap_or_default();
                let id = collection_id(&nodes[at].child);
                assert_eq!(self.spaces_in(&id, limit).await, of_kind(inside, false));
                let shown = self.w.as_admin().collection(&id).get().await.expect("shown");
                assert_eq!(shown.parent.map(|id| id.to_string()), self.name(nodes[at].parent));
            }
        }
        for node in nodes.iter().filter(|node| !matches!(node.child, ContentTarget::Collection(_))) {
            let shown = self.w.as_admin().space(&space_id(&node.child)).get().await;
            match node.state {
                State::Gone => assert_eq!(shown.expect_err("gone").kind(), ErrorKind::NotFound),
                state => {
                    let shown = shown.expect("shown");
                    assert_eq!(shown.deleted_at.is_some(), state != State::Live);
                    assert_eq!(shown.parent.map(|id| id.to_string()), self.name(node.parent));
                    assert_eq!(shown.organization, self.orgs[node.org]);
                }
            }
        }
    }
}

async fn run(steps: Vec<Step>, store: Arc<dyn Store>) {
    let mut program = Program::new(store).await;
    for step in &steps {
        program.step(step).await;
        program.check(1_000).await;
    }
    for limit in [1, 2, 3] {
        program.check(limit).await;
    }
    program.w.check().await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn tree_matches_a_model_of_nested_lists(steps in steps()) {
        block_on(run(steps, Arc::new(MemStore::new())));
    }

    #[test]
    fn tree_matches_the_model_on_a_json_store(steps in steps()) {
        block_on(run(steps, Arc::new(MemStore::new_json())));
    }
}
