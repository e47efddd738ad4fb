//! The audit log contains exactly the acknowledged changes, each once, with its actor.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use chrono::TimeDelta;
use docs_core::{
    Actor, ErrorKind,
    model::{
        AuditEntry, ChangeRequestStatus, CreateChangeRequest, CreateSpace, EditMode, Role, SettableStatus,
        SpaceId, UpdateChangeRequest, UpdateContent, UpdateSpace,
    },
    platform::{AuditFilter, AuditLog},
    ports::Clock as _,
    store::{
        Key, PageRequest, Store,
        records::{OrgRecord, SpaceRecord, UserRecord},
    },
};
use docs_memstore::MemStore;
use proptest::prelude::*;

use crate::support::{Refused, World, block_on, failing, person};

async fn log_of(w: &World, actor: &Actor, filter: &AuditFilter) -> Vec<AuditEntry> {
    let mut entries = Vec::new();
    let mut page = PageRequest { page: None, limit: Some(7) };
    loop {
        let found = w.platform.as_actor(actor).audit_log(filter, &page).await.expect("listed");
        entries.extend(found.items);
        page.page = found.next;
        if page.page.is_none() {
            return entries;
        }
    }
}

/// Returns the actors and operations of the organization's log, oldest entry first.
async fn told(w: &World) -> Vec<(Option<String>, String)> {
    let filter = AuditFilter { organization: Some(w.org.clone()), ..AuditFilter::default() };
    let entries = log_of(w, &Actor::Platform, &filter).await;
    let told = entries.iter().rev();
    told.map(|entry| (entry.user.as_ref().map(ToString::to_string), entry.operation.clone())).collect()
}

fn by(actor: &Actor, operation: &str) -> (Option<String>, String) {
    (actor.user().map(ToString::to_string), operation.to_owned())
}

fn page_named(title: &str) -> UpdateContent {
    let changes = serde_json::json!({ "changes": [
        { "operation": "insert_page", "title": title, "document": { "markdown": "Text." } },
    ] });
    serde_json::from_value(changes).expect("a change")
}

#[tokio::test]
async fn entries_contain_actor_operation_records_and_organization() {
    let w = World::new().await;
    w.clock.advance(Duration::from_secs(1));
    let before = w.clock.now();
    let space = w.space().await;
    let filter = AuditFilter { subject: Some(SpaceRecord::key_for(&space)), ..AuditFilter::default() };
    let entries = log_of(&w, &Actor::Platform, &filter).await;
    let [entry] = entries.as_slice() else { panic!("one entry: {entries:?}") };
    assert_eq!(entry.at, before.into());
    assert_eq!(entry.user.as_ref(), w.admin.user());
    assert_eq!(entry.operation, "space_create");
    assert_eq!(entry.organizations, std::slice::from_ref(&w.org));
    assert!(entry.records.contains(&SpaceRecord::key_for(&space)), "{entry:?}");
    assert_eq!(entry.changed as usize, entry.records.len(), "the space and its first revision");
    w.check().await;
}

#[tokio::test]
async fn changes_in_a_space_are_logged_for_its_organization() {
    let w = World::new().await;
    let editor = w.member("Eve", Some(Role::Review)).await;
    let p = &w.platform;
    let space = w.space().await;
    let from = told(&w).await.len();
    // Entries of the same millisecond have no defined order.
    let later = || w.clock.advance(Duration::from_millis(1));
    later();
    p.as_actor(&editor)
        .space(&space)
        .change_requests()
        .create(CreateChangeRequest::default())
        .await
        .expect("created");
    later();
    p.as_actor(&editor).space(&space).change_request("1").edit(page_named("One")).await.expect("edited");
    later();
    p.as_actor(&editor).space(&space).change_request("1").merge().await.expect("merged");
    let wanted = ["change_request_create", "change_request_edit", "change_request_merge"];
    assert_eq!(told(&w).await[from..], wanted.map(|operation| by(&editor, operation)));
}

#[tokio::test]
async fn reads_no_ops_and_refused_requests_are_not_logged() {
    let w = World::new().await;
    let reader = w.member("Rob", Some(Role::Read)).await;
    let space = w.space().await;
    let before = log_of(&w, &Actor::Platform, &AuditFilter::default()).await;
    w.platform
        .as_actor(&reader)
        .org(&w.org)
        .spaces()
        .create(CreateSpace::default())
        .await
        .refused(ErrorKind::Forbidden);
    let unknown: SpaceId = "unknown".parse().expect("an id");
    w.as_admin().space(&unknown).delete().await.expect("never an error");
    w.platform.as_actor(&reader).space(&space).get().await.expect("read");
    w.platform.settle().await.expect("needed");
    w.platform.tidy().await.expect("tidied");
    assert_eq!(log_of(&w, &Actor::Platform, &AuditFilter::default()).await, before);
}

/// Changes made by background jobs have the platform as their actor. Internal bookkeeping is not recorded.
#[tokio::test]
async fn background_jobs_act_as_platform_without_bookkeeping_entries() {
    let w = World::new().await;
    let space = w.space().await;
    w.as_admin().space(&space).delete().await.expect("deleted");
    let from = told(&w).await.len();
    w.clock.advance(Duration::from_secs(8 * 24 * 3600));
    w.platform.settle().await.expect("purged");
    let purge = told(&w).await.split_off(from);
    assert!(!purge.is_empty());
    assert!(purge.iter().all(|told| *told == by(&Actor::Platform, "space_purge")), "{purge:?}");
}

/// The platform itself reads the entries of all organizations.
#[tokio::test]
async fn administrators_read_only_the_log_of_their_organization() {
    let w = World::new().await;
    let editor = w.member("Eve", Some(Role::Edit)).await;
    let zoe = person(&w.platform, "Zoe").await;
    let title = "Elsewhere".parse().expect("a title");
    let other = w.platform.as_platform().orgs().create(title, zoe.user().expect("a user")).await;
    let other = other.expect("an organization").id;
    w.platform.as_actor(&zoe).org(&other).spaces().create(CreateSpace::default()).await.expect("created");
    let filter = |organization| AuditFilter { organization, ..AuditFilter::default() };
    let page = PageRequest::default();
    let log = async |actor: &Actor, organization| {
        w.platform.as_actor(actor).audit_log(&filter(organization), &page).await
    };
    log(&w.admin, None).await.refused(ErrorKind::Forbidden);
    log(&editor, Some(w.org.clone())).await.refused(ErrorKind::Forbidden);
    log(&w.admin, Some(other.clone())).await.refused(ErrorKind::NotFound);
    let mine = log(&w.admin, Some(w.org.clone())).await.expect("listed").items;
    assert!(!mine.is_empty() && mine.iter().all(|entry| entry.organizations.contains(&w.org)));
    let theirs = log(&zoe, Some(other.clone())).await.expect("listed").items;
    assert_eq!(
        theirs.iter().map(|entry| entry.operation.as_str()).collect::<Vec<_>>(),
        ["space_create", "org_create"]
    );
    // Records of other organizations are not found through the actor's own organization.
    let subject = Some(OrgRecord::key_for(&other));
    let about = AuditFilter { subject, ..filter(Some(w.org.clone())) };
    assert_eq!(log_of(&w, &w.admin, &about).await, []);
}

#[tokio::test]
async fn filters_narrow_the_log_and_cursors_are_bound_to_them() {
    let w = World::new().await;
    let eve = w.member("Eve", Some(Role::Create)).await;
    for _ in 0..9 {
        w.clock.advance(Duration::from_secs(1));
        w.platform.as_actor(&eve).org(&w.org).spaces().create(CreateSpace::default()).await.expect("created");
        w.as_admin().org(&w.org).spaces().create(CreateSpace::default()).await.expect("created");
    }
    let all = log_of(&w, &Actor::Platform, &AuditFilter::default()).await;
    assert!(all.windows(2).all(|pair| pair[0].at >= pair[1].at), "newest first");
    let user = eve.user().cloned();
    let hers: Vec<_> = all.iter().filter(|entry| entry.user == user).cloned().collect();
    assert_eq!(hers.len(), 9);
    let filter = AuditFilter { user: user.clone(), ..AuditFilter::default() };
    assert_eq!(log_of(&w, &Actor::Platform, &filter).await, hers);
    let organization = Some(w.org.clone());
    let filter = AuditFilter { user: user.clone(), organization: organization.clone(), ..filter };
    assert_eq!(log_of(&w, &w.admin, &filter).await, hers);
    let since = Some(hers[3].at);
    let late = AuditFilter { since, ..filter.clone() };
    assert_eq!(log_of(&w, &w.admin, &late).await, hers[..4]);
    let until = Some(hers[1].at);
    let between = AuditFilter { until, ..late.clone() };
    assert_eq!(log_of(&w, &w.admin, &between).await, hers[2..4], "from `since` to before `until`");
    let backwards = AuditFilter { since: until, until: since, ..filter.clone() };
    assert_eq!(log_of(&w, &w.admin, &backwards).await, []);
    let made = |operation: &str| AuditFilter { operation: Some(operation.to_owned()), ..filter.clone() };
    assert_eq!(log_of(&w, &w.admin, &made("space_create")).await, hers);
    assert_eq!(log_of(&w, &w.admin, &made("space_delete")).await, []);
    let subject = user.as_ref().map(UserRecord::key_for);
    let filter = AuditFilter { subject, ..AuditFilter::default() };
    assert_eq!(log_of(&w, &Actor::Platform, &filter).await.len(), 1, "the user was created once");
    let page = PageRequest { page: None, limit: Some(2) };
    let first = w.as_admin().audit_log(&late, &page).await.expect("listed");
    let other = AuditFilter { organization, ..AuditFilter::default() };
    let page = PageRequest { page: first.next, limit: None };
    w.as_admin().audit_log(&other, &page).await.refused(ErrorKind::Invalid);
}

#[tokio::test]
async fn entries_are_removed_after_the_retention_period() {
    let kept = AuditLog::Retained(TimeDelta::days(2));
    let w = World::build(Arc::new(MemStore::new()), |builder| builder.audit(kept)).await;
    for _ in 0..120 {
        w.as_admin().org(&w.org).spaces().create(CreateSpace::default()).await.expect("created");
    }
    w.clock.advance(Duration::from_secs(24 * 3600));
    w.as_admin().org(&w.org).spaces().create(CreateSpace::default()).await.expect("created");
    w.platform.tidy().await.expect("tidied");
    assert!(
        log_of(&w, &Actor::Platform, &AuditFilter::default()).await.len() > 120,
        "their time is not over"
    );
    w.clock.advance(Duration::from_secs(24 * 3600 + 1));
    w.platform.tidy().await.expect("tidied");
    assert_eq!(told(&w).await, [by(&w.admin, "space_create")]);
    w.check().await;
}

#[tokio::test]
async fn disabled_audit_log_records_nothing() {
    let w = World::build(Arc::new(MemStore::new()), |builder| builder.audit(AuditLog::Off)).await;
    w.as_admin().org(&w.org).spaces().create(CreateSpace::default()).await.expect("created");
    assert_eq!(log_of(&w, &Actor::Platform, &AuditFilter::default()).await, []);
}

/// The index of the actor, and the action.
type Step = (usize, Act);

#[derive(Clone, Debug)]
enum Act {
    Space,
    Rename(usize),
    Mode(usize, EditMode),
    Delete(usize),
    Restore(usize),
    Request(usize),
    Status(usize, SettableStatus),
    Edit(usize),
    Merge(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let status = prop_oneof![Just(SettableStatus::Open), Just(SettableStatus::Archived)];
    let mode = prop_oneof![Just(EditMode::Live), Just(EditMode::Locked)];
    let act = prop_oneof![
        2 => Just(Act::Space),
        1 => (0..3_usize).prop_map(Act::Rename),
        1 => (0..3_usize, mode).prop_map(|(n, mode)| Act::Mode(n, mode)),
        1 => (0..3_usize).prop_map(Act::Delete),
        1 => (0..3_usize).prop_map(Act::Restore),
        3 => (0..3_usize).prop_map(Act::Request),
        1 => (0..3_usize, status).prop_map(|(n, status)| Act::Status(n, status)),
        2 => (0..3_usize).prop_map(Act::Edit),
        1 => (0..3_usize).prop_map(Act::Merge),
    ];
    prop::collection::vec((0..3_usize, act), 1..25)
}

/// Performs a step. Returns the name of the operation if it was acknowledged and changed a record.
async fn act(w: &World, actor: &Actor, spaces: &mut Vec<SpaceId>, act: &Act) -> Option<&'static str> {
    let p = &w.platform;
    let unknown: SpaceId = "unknown".parse().expect("an id");
    let space = |n: &usize| spaces.get(*n).unwrap_or(&unknown).clone();
    match act {
        Act::Space => {
            let made = p.as_actor(actor).org(&w.org).spaces().create(CreateSpace::default()).await.ok()?;
            spaces.push(made.id);
            Some("space_create")
        }
        Act::Rename(n) => {
            let title = Some("Renamed".parse().expect("a title"));
            update(w, actor, &space(n), UpdateSpace { title, ..UpdateSpace::default() }).await
        }
        Act::Mode(n, mode) => {
            let change = UpdateSpace { edit_mode: Some(*mode), ..UpdateSpace::default() };
            update(w, actor, &space(n), change).await
        }
        Act::Delete(n) => p
            .as_actor(actor)
            .space(&space(n))
            .delete()
            .await
            .ok()
            .filter(|there| *there)
            .map(|_| "space_delete"),
        Act::Restore(n) => p.as_actor(actor).space(&space(n)).restore().await.ok().map(|_| "space_restore"),
        Act::Request(n) => {
            let new = CreateChangeRequest::default();
            p.as_actor(actor)
                .space(&space(n))
                .change_requests()
                .create(new)
                .await
                .ok()
                .map(|_| "change_request_create")
        }
        Act::Status(n, status) => {
            let before = w.as_admin().space(&space(n)).change_request("1").get().await.ok()?.status;
            let change = UpdateChangeRequest { status: Some(*status), ..Default::default() };
            p.as_actor(actor).space(&space(n)).change_request("1").update(change).await.ok()?;
            (before != ChangeRequestStatus::from(*status)).then_some("change_request_update")
        }
        Act::Edit(n) => {
            let edited =
                p.as_actor(actor).space(&space(n)).change_request("1").edit(page_named("More")).await;
            edited.ok().map(|_| "change_request_edit")
        }
        Act::Merge(n) => p
            .as_actor(actor)
            .space(&space(n))
            .change_request("1")
            .merge()
            .await
            .ok()
            .map(|_| "change_request_merge"),
    }
}

/// Updates a space. An update without effect is not recorded.
async fn update(w: &World, actor: &Actor, space: &SpaceId, change: UpdateSpace) -> Option<&'static str> {
    let before = w.as_admin().space(space).get().await.ok()?;
    let after = w.platform.as_actor(actor).space(space).update(change).await.ok()?;
    let changed = (&before.title, before.edit_mode) != (&after.title, after.edit_mode);
    changed.then_some("space_update")
}

async fn run(steps: Vec<Step>, store: Arc<dyn Store>) {
    let w = World::over(store).await;
    let actors =
        [w.admin.clone(), w.member("Eve", Some(Role::Edit)).await, w.member("Rob", Some(Role::Read)).await];
    let from = told(&w).await.len();
    let (mut spaces, mut wanted) = (Vec::new(), Vec::new());
    for (who, step) in steps {
        // Entries of the same millisecond have no defined order.
        w.clock.advance(Duration::from_millis(1));
        let done = act(&w, &actors[who], &mut spaces, &step).await;
        wanted.extend(done.map(|operation| by(&actors[who], operation)));
    }
    assert_eq!(told(&w).await.split_off(from), wanted);
    let entries = log_of(&w, &Actor::Platform, &AuditFilter::default()).await;
    let ids: BTreeSet<_> = entries.iter().map(|entry| entry.id.clone()).collect();
    assert_eq!(ids.len(), entries.len());
    let subjects: Vec<Key> = spaces.iter().map(SpaceRecord::key_for).collect();
    for subject in subjects {
        let about: Vec<_> =
            entries.iter().filter(|entry| entry.records.contains(&subject)).cloned().collect();
        let filter = AuditFilter { subject: Some(subject), ..AuditFilter::default() };
        assert_eq!(log_of(&w, &Actor::Platform, &filter).await, about);
    }
    w.check().await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn log_contains_exactly_the_acknowledged_changes(steps in steps()) {
        block_on(run(steps, Arc::new(MemStore::new())));
    }

    #[test]
    fn log_matches_the_model_on_a_json_store(steps in steps()) {
        block_on(run(steps, Arc::new(MemStore::new_json())));
    }
}

proptest! {
    // Each fault causes a delay of several milliseconds.
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn retried_changes_are_logged_once(steps in steps()) {
        block_on(run(steps, failing()));
    }
}

/// Operations that the audit log never records: bookkeeping of jobs and queues, regular upkeep, and submissions of
/// anyone.
const UNLOGGED: &[&str] = &[
    "agent_feedback_submit",
    "audit_drop",
    "collection_go_on",
    "collection_state",
    "copy_notes_drop",
    "git_in_step",
    "git_look",
    "git_look_next",
    "git_push_taken",
    "idempotency_drop",
    "invites_drop",
    "jobs_drop",
    "member_ping",
    "openapi_spec_round_end",
    "openapi_spec_round_start",
    "pdf_enqueue",
    "receipts_drop",
    "saml_drop",
    "sealing_key_keep",
    "site_redirects_purge",
    "translation_forget",
    "translation_remember",
    "translation_words",
    "uploads_drop",
    "user_name_copy",
];

/// Returns the names in the source of the platform that follow these texts.
fn names_after(starts: &[&str]) -> BTreeSet<String> {
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/platform");
    let mut names = BTreeSet::new();
    for file in crate::tidy::files(&source, "rs") {
        let text = std::fs::read_to_string(&file).expect("a file");
        for start in starts {
            let rest = text.split(start).skip(1).filter_map(|rest| rest.split_once('"'));
            names.extend(rest.map(|(name, _)| name.to_owned()));
        }
    }
    names
}

#[tokio::test]
async fn audit_event_actions_are_the_logged_operations() {
    let w = World::new().await;
    let listed = w.as_admin().org(&w.org).audit_event_actions().await.expect("listed").items;
    let mut known: BTreeSet<String> = UNLOGGED.iter().map(|name| (*name).to_owned()).collect();
    for action in listed {
        assert!(!action.label.is_empty() && known.insert(action.id.clone()), "{action:?}");
    }
    let operations = names_after(&["#[operation(\"", "const NAME: &'static str = \""]);
    let missing: Vec<&String> = operations.difference(&known).collect();
    assert!(missing.is_empty(), "neither an action nor unlogged: {missing:?}");
    // Operations of some jobs are named after their job.
    let jobs = names_after(&["const KIND: &'static str = \""]);
    let stale: Vec<&String> =
        known.iter().filter(|&name| !operations.contains(name) && !jobs.contains(name)).collect();
    assert!(stale.is_empty(), "no such operation: {stale:?}");
}
