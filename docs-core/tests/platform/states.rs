//! The state tables of spaces and change requests: random operations compared with a model of the tables.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use docs_core::{
    ErrorKind,
    model::{
        ChangeRequestStatus as Status, CreateSpace, EditMode, SettableStatus, Space, SpaceId,
        UpdateChangeRequest, UpdateSpace,
    },
    platform::RequestFilter,
    store::{PageRequest, Store},
};
use docs_memstore::MemStore;
use proptest::prelude::*;

use crate::support::{World, block_on, failing};

const WINDOW: Duration = Duration::from_secs(7 * 24 * 3600);

#[derive(Clone, Debug)]
enum Step {
    Create,
    Status(usize, SettableStatus),
    Merge(usize),
    Update(usize),
    EditMode(EditMode),
    Delete,
    Restore,
    Wait(Duration),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let status =
        prop_oneof![Just(SettableStatus::Draft), Just(SettableStatus::Open), Just(SettableStatus::Archived)];
    let step = prop_oneof![
        3 => Just(Step::Create),
        6 => (0..6_usize, status).prop_map(|(n, status)| Step::Status(n, status)),
        2 => (0..6_usize).prop_map(Step::Merge),
        2 => (0..6_usize).prop_map(Step::Update),
        1 => prop_oneof![Just(EditMode::Live), Just(EditMode::Locked)].prop_map(Step::EditMode),
        1 => Just(Step::Delete),
        2 => Just(Step::Restore),
        1 => prop_oneof![Just(Duration::from_millis(1)), Just(WINDOW), Just(WINDOW + Duration::from_millis(1))]
            .prop_map(Step::Wait),
    ];
    prop::collection::vec(step, 1..40)
}

/// The state according to the tables.
#[derive(Default)]
struct Model {
    requests: Vec<Status>,
    mode: EditMode,
    /// The time since the deletion of the space.
    deleted: Option<Duration>,
}

impl Model {
    fn expired(&self) -> bool {
        self.deleted.is_some_and(|age| age > WINDOW)
    }

    /// Returns the expected error for an operation on a change request.
    fn refuses(&self, n: usize, also: impl Fn(Status) -> Option<ErrorKind>) -> Option<ErrorKind> {
        match self.requests.get(n) {
            _ if self.deleted.is_some() => Some(ErrorKind::NotFound),
            None => Some(ErrorKind::NotFound),
            Some(status) => also(*status),
        }
    }
}

async fn run(steps: Vec<Step>, store: Arc<dyn Store>) {
    let w = World::over(store).await;
    let (p, me) = (&w.platform, &w.admin);
    let space = p.as_actor(me).org(&w.org).spaces().create(CreateSpace::default()).await.expect("created").id;
    let mut model = Model::default();
    for step in steps {
        let (answer, expected) = apply(&w, &space, &mut model, &step).await;
        assert_eq!(answer, expected, "{step:?}");
        check(&w, &space, &model).await;
    }
    w.check().await;
}

/// Performs a step. Returns the actual and the expected error.
async fn apply(
    w: &World,
    space: &SpaceId,
    model: &mut Model,
    step: &Step,
) -> (Option<ErrorKind>, Option<ErrorKind>) {
    let mine = w.platform.as_actor(&w.admin).space(space);
    match step {
        Step::Create | Step::Status(..) | Step::Merge(_) | Step::Update(_) => {
            apply_to_request(w, space, model, step).await
        }
        Step::EditMode(mode) => {
            let change = UpdateSpace { edit_mode: Some(*mode), ..UpdateSpace::default() };
            let answer = mine.update(change).await;
            let expected = model.deleted.map(|_| ErrorKind::NotFound);
            if expected.is_none() {
                model.mode = *mode;
            }
            (answer.err().map(|e| e.kind()), expected)
        }
        Step::Delete => {
            let there = mine.delete().await.expect("never an error");
            assert_eq!(there, model.deleted.is_none());
            model.deleted = Some(model.deleted.unwrap_or_default());
            (None, None)
        }
        Step::Restore => {
            let answer = mine.restore().await;
            let expected = match model.deleted {
                None => Some(ErrorKind::Conflict),
                Some(_) if model.expired() => Some(ErrorKind::NotFound),
                Some(_) => None,
            };
            if expected.is_none() {
                model.deleted = None;
            }
            (answer.err().map(|e| e.kind()), expected)
        }
        Step::Wait(time) => {
            w.clock.advance(*time);
            model.deleted = model.deleted.map(|age| age + *time);
            w.platform.settle().await.expect("settled");
            (None, None)
        }
    }
}

/// Performs a step on a change request.
async fn apply_to_request(
    w: &World,
    space: &SpaceId,
    model: &mut Model,
    step: &Step,
) -> (Option<ErrorKind>, Option<ErrorKind>) {
    let mine = w.platform.as_actor(&w.admin).space(space);
    let name = |n: &usize| (n + 1).to_string();
    let dead =
        |status: Status| matches!(status, Status::Archived | Status::Merged).then_some(ErrorKind::Conflict);
    match step {
        Step::Create => {
            let answer = mine.change_requests().create(Default::default()).await;
            let expected = model.deleted.map(|_| ErrorKind::NotFound);
            if expected.is_none() {
                model.requests.push(Status::Draft);
            }
            (answer.err().map(|e| e.kind()), expected)
        }
        Step::Status(n, status) => {
            let change = UpdateChangeRequest { status: Some(*status), ..Default::default() };
            let answer = mine.change_request(&name(n)).update(change).await;
            let expected = model.refuses(*n, |s| (s == Status::Merged).then_some(ErrorKind::Conflict));
            if expected.is_none() {
                model.requests[*n] = (*status).into();
            }
            (answer.err().map(|e| e.kind()), expected)
        }
        Step::Merge(n) => {
            let answer = mine.change_request(&name(n)).merge().await;
            let expected = model.refuses(*n, dead);
            if expected.is_none() {
                model.requests[*n] = Status::Merged;
            }
            (answer.err().map(|e| e.kind()), expected)
        }
        Step::Update(n) => {
            let answer = mine.change_request(&name(n)).pull().await;
            (answer.err().map(|e| e.kind()), model.refuses(*n, dead))
        }
        other => unreachable!("{other:?}"),
    }
}

/// Checks that the platform returns the state of the model, including counters and lists.
async fn check(w: &World, id: &SpaceId, model: &Model) {
    let shown = w.as_admin().space(id).get().await;
    if model.expired() {
        assert_eq!(shown.expect_err("gone").kind(), ErrorKind::NotFound);
        return;
    }
    let space: Space = shown.expect("shown");
    assert_eq!(space.edit_mode, model.mode);
    assert_eq!(space.deleted_at.is_some(), model.deleted.is_some());
    let count = |status| model.requests.iter().filter(|s| **s == status).count() as u64;
    assert_eq!(space.change_requests, model.requests.len() as u64);
    assert_eq!(space.change_requests_open, count(Status::Open));
    assert_eq!(space.change_requests_draft, count(Status::Draft));
    if model.deleted.is_some() {
        return;
    }
    let mut listed = BTreeMap::new();
    for status in [Status::Draft, Status::Open, Status::Archived, Status::Merged] {
        let filter = RequestFilter { status: Some(status), ..RequestFilter::default() };
        let list = w.as_admin().space(id).change_requests().list(&filter, &PageRequest::default()).await;
        let list = list.expect("listed");
        assert_eq!(list.count, Some(count(status)));
        listed.extend(list.items.into_iter().map(|request| (request.number, request.status)));
    }
    let expected: BTreeMap<u64, Status> = (1..).zip(model.requests.iter().copied()).collect();
    assert_eq!(listed, expected, "numbers are 1, 2, 3 … and every request is in one status");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn spaces_and_change_requests_follow_their_state_tables(steps in steps()) {
        block_on(run(steps, Arc::new(MemStore::new())));
    }

    #[test]
    fn state_tables_hold_on_a_json_store(steps in steps()) {
        block_on(run(steps, Arc::new(MemStore::new_json())));
    }
}

proptest! {
    // Each fault causes a delay of several milliseconds.
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn state_tables_hold_under_commit_faults(steps in steps()) {
        block_on(run(steps, failing()));
    }
}
