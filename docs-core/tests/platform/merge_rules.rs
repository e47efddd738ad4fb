//! Merge rules: who may merge a change request, and when.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use docs_core::{
    Actor, ErrorKind,
    model::{
        CreateSpace, EditMode, Role, SpaceId, SpaceMergeRules, TransferContent, UpdateOrganization,
        UpdateSpace,
    },
    platform::{Caller, ReviewQuery},
    store::{PageRequest, Store},
};
use docs_memstore::MemStore;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{Refused, World, block_on, failing, insert};

fn rules(rules: &Value) -> Value {
    json!({ "type": "rules", "rules": rules })
}

async fn set_on_space(w: &World, space: &SpaceId, rules: Value) -> docs_core::Result<SpaceMergeRules> {
    let merge_rules = Some(serde_json::from_value(rules).expect("rules"));
    let change = UpdateSpace { merge_rules, ..UpdateSpace::default() };
    Ok(w.as_admin().space(space).update(change).await?.merge_rules)
}

async fn set_on_org(w: &World, rules: Value) -> docs_core::Result<()> {
    let merge_rules = Some(serde_json::from_value(rules).expect("rules"));
    let change = UpdateOrganization { merge_rules, ..UpdateOrganization::default() };
    w.as_admin().org(&w.org).update(change).await.map(drop)
}

fn from<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("a request")
}

/// A space, a change request by its creator, and two reviewers. All of them have the role `review`.
struct Setting {
    w: World,
    space: SpaceId,
    /// The creator, then the reviewers.
    users: [Actor; 3],
    request: String,
}

impl Setting {
    async fn new(store: Arc<dyn Store>) -> Self {
        let w = World::over(store).await;
        let new = CreateSpace { edit_mode: Some(EditMode::Live), ..CreateSpace::default() };
        let space = w.as_admin().org(&w.org).spaces().create(new).await.expect("a space").id;
        let mut users = Vec::new();
        for name in ["Eve", "Rita", "Rex"] {
            users.push(w.member(name, Some(Role::Review)).await);
        }
        let users = users.try_into().unwrap_or_else(|_| unreachable!());
        let mut setting = Self { w, space, users, request: String::new() };
        setting.create().await;
        setting
    }

    /// Creates a change request of the creator.
    async fn create(&mut self) {
        let requests = self.by(0).space(&self.space).change_requests();
        self.request = requests.create(Default::default()).await.expect("created").number.to_string();
    }

    fn by(&self, user: usize) -> Caller<'_> {
        self.w.platform.as_actor(&self.users[user])
    }

    fn id(&self, user: usize) -> String {
        self.users[user].user().expect("a user").to_string()
    }

    async fn review(&self, user: usize, status: &str) {
        let request = self.by(user).space(&self.space).change_request(&self.request);
        request.submit_review(from(json!({ "status": status }))).await.expect("reviewed");
        // Reviews at the same time have no defined order.
        self.w.clock.advance(Duration::from_millis(1));
    }

    async fn edit(&self) {
        let change = from(json!({ "changes": [insert("Page", "Text.")] }));
        self.by(0).space(&self.space).change_request(&self.request).edit(change).await.expect("edited");
    }

    async fn update(&self, change: Value) {
        let request = self.by(0).space(&self.space).change_request(&self.request);
        request.update(from(change)).await.expect("updated");
    }

    /// Changes the live content of the space.
    async fn change_space(&self) {
        let template = from(json!({ "id": "handbook" }));
        self.w.as_admin().space(&self.space).apply_template(template).await.expect("applied");
    }

    async fn merge(&self, user: usize) -> docs_core::Result<()> {
        self.by(user).space(&self.space).change_request(&self.request).merge().await.map(drop)
    }
}

/// Returns a document with a paragraph.
fn document(text: &str) -> Value {
    let leaf = json!({ "object": "leaf", "text": text, "marks": [] });
    let nodes = json!([{ "object": "text", "leaves": [leaf] }]);
    let block = json!({ "object": "block", "type": "paragraph", "data": {}, "nodes": nodes });
    json!({ "object": "document", "data": {}, "nodes": [block] })
}

#[tokio::test]
async fn merge_requires_an_approval_of_the_current_content() {
    let s = Setting::new(Arc::new(MemStore::new())).await;
    set_on_org(&s.w, rules(&json!([{ "rule": "require_at_least_one_approved_review" }]))).await.expect("set");
    let error = s.merge(1).await.refused(ErrorKind::Conflict);
    let wanted = "mergeRules: the current content must be approved by a user other than its creator";
    assert_eq!(error.message(), wanted);
    s.review(0, "approved").await;
    s.merge(0).await.refused(ErrorKind::Conflict);
    s.review(1, "approved").await;
    s.edit().await;
    s.merge(0).await.refused(ErrorKind::Conflict);
    s.review(1, "approved").await;
    s.review(1, "changes-requested").await;
    s.merge(0).await.refused(ErrorKind::Conflict);
    s.review(1, "approved").await;
    s.merge(0).await.expect("merged");

    // The reviews are retained after the merge.
    let request = s.by(2).space(&s.space).change_request(&s.request);
    let listed = async |outdated: Option<bool>| {
        let query = ReviewQuery { outdated, ..ReviewQuery::default() };
        request.list_reviews(query, &PageRequest::default()).await.expect("listed")
    };
    let all = listed(None).await;
    assert_eq!((all.count, all.items.len()), (Some(5), 5));
    let statuses = async |outdated| {
        let items = listed(Some(outdated)).await.items;
        items.iter().map(|review| review.reviewer.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(statuses(true).await, [s.id(1), s.id(0)]);
    assert_eq!(statuses(false).await, [s.id(1), s.id(1), s.id(1)]);
    let first = request.get_review(&all.items[0].id, Default::default()).await.expect("read");
    assert_eq!(first, all.items[0]);
    let shown = request.get().await.expect("read");
    assert_eq!(shown.merged_by.map(|user| user.id.to_string()), Some(s.id(0)));
    assert_eq!(shown.merged_at, Some(shown.updated_at));
    s.w.check().await;
}

#[tokio::test]
async fn unmet_rules_are_all_named_and_a_bypass_ignores_them() {
    let s = Setting::new(Arc::new(MemStore::new())).await;
    s.change_space().await;
    let (rita, rex) = (s.id(1), s.id(2));
    let all = json!([
        { "rule": "require_specific_reviewers", "users": [rita, rex] },
        { "rule": "require_one_of_specific_reviewers", "users": [rex] },
        { "rule": "require_at_least_one_review" },
        { "rule": "require_up_to_date_change_request" },
        { "rule": "require_change_request_subject" },
        { "rule": "require_change_request_description" },
        { "rule": "require_author_to_merge" },
        { "rule": "custom", "expression": "changeRequest.number > 1", "message": "Not the first." },
        { "rule": "custom", "expression": "space.title == 'Manual'" },
    ]);
    set_on_space(&s.w, &s.space, rules(&all)).await.expect("set");
    let error = s.merge(1).await.refused(ErrorKind::Conflict);
    let specific = format!("the current content must be approved by the users `{rita}`, `{rex}`");
    let one_of = format!("the current content must be approved by one of the users `{rex}`");
    let wanted = [
        specific.as_str(),
        one_of.as_str(),
        "the current content must be reviewed by a user other than its creator",
        "the change request must be updated with the latest content of the space",
        "the change request must have a subject",
        "the change request must have a description",
        "the creator of the change request must merge it",
        "Not the first.",
        "`space.title == 'Manual'` must be true",
    ];
    assert_eq!(error.message(), format!("mergeRules: {}", wanted.join("; ")));
    let mut bypass = all.as_array().expect("rules").clone();
    bypass.push(json!({ "rule": "allow_bypass", "users": [s.id(1)] }));
    set_on_space(&s.w, &s.space, rules(&bypass.into())).await.expect("set");
    s.merge(2).await.refused(ErrorKind::Conflict);
    s.merge(1).await.expect("merged");
}

#[tokio::test]
async fn rules_name_members_of_the_organization_only() {
    let w = World::new().await;
    let space = w.space().await;
    let rita = w.member("Rita", Some(Role::Review)).await;
    let rita = rita.user().expect("a user");
    let own = |users: &[&str]| rules(&json!([{ "rule": "allow_bypass", "users": users }]));
    for sent in [own(&[rita.as_str(), "nobody"]), own(&["nobody"])] {
        let error = set_on_space(&w, &space, sent.clone()).await.refused(ErrorKind::Invalid);
        assert!(error.message().starts_with("mergeRules.rules[0].users["), "{error}");
        set_on_org(&w, sent).await.refused(ErrorKind::Invalid);
    }
    let sent = own(&[rita.as_str()]);
    let stored = set_on_space(&w, &space, sent.clone()).await.expect("set");
    assert_eq!(serde_json::to_value(stored).expect("JSON"), sent);
    // A client can send the rules back after the user has left, but not add the user again.
    w.as_admin().org(&w.org).member(rita).remove().await.expect("removed");
    set_on_space(&w, &space, sent.clone()).await.expect("unchanged");
    set_on_space(&w, &space, json!({ "type": "none" })).await.expect("set");
    set_on_space(&w, &space, sent).await.refused(ErrorKind::Invalid);
}

#[tokio::test]
async fn a_space_loses_its_merge_rules_in_another_organization() {
    let w = World::new().await;
    let space = w.space().await;
    set_on_space(&w, &space, rules(&json!([{ "rule": "require_author_to_merge" }]))).await.expect("set");
    let copy = w.as_admin().space(&space).duplicate().await.expect("copied");
    assert_eq!(copy.merge_rules.rules().len(), 1, "a copy has the rules of its original");
    let admin = w.admin.user().expect("a user");
    let title = "Other organization".parse().expect("a title");
    let other = w.platform.as_platform().orgs().create(title, admin).await.expect("created").id;
    let to = TransferContent { organization: other.to_string() };
    let there = w.as_admin().space(&space).transfer(to).await.expect("transferred");
    assert_eq!(there.merge_rules, SpaceMergeRules::Inherit);
}

#[derive(Clone, Debug)]
enum Rule {
    Specific(usize),
    OneOf([usize; 2]),
    Bypass(usize),
    Reviewed,
    Approved,
    AllApproved,
    UpToDate,
    Subject,
    Description,
    Author,
    Custom,
}

#[derive(Clone, Debug)]
enum Step {
    Space(Option<Vec<Rule>>),
    Org(Vec<Rule>),
    Review(usize, bool),
    Edit,
    ChangeSpace,
    Pull,
    Subject(bool),
    Description(bool),
    Merge(usize),
}

fn rule() -> impl Strategy<Value = Rule> {
    prop_oneof![
        (0..3_usize).prop_map(Rule::Specific),
        (0..3_usize, 0..3_usize).prop_map(|(one, other)| Rule::OneOf([one, other])),
        (0..3_usize).prop_map(Rule::Bypass),
        Just(Rule::Reviewed),
        Just(Rule::Approved),
        Just(Rule::AllApproved),
        Just(Rule::UpToDate),
        Just(Rule::Subject),
        Just(Rule::Description),
        Just(Rule::Author),
        Just(Rule::Custom),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let rules = || prop::collection::vec(rule(), 0..3);
    let step = prop_oneof![
        2 => prop::option::of(rules()).prop_map(Step::Space),
        1 => rules().prop_map(Step::Org),
        6 => (0..3_usize, any::<bool>()).prop_map(|(user, approves)| Step::Review(user, approves)),
        1 => Just(Step::Edit),
        1 => Just(Step::ChangeSpace),
        1 => Just(Step::Pull),
        2 => any::<bool>().prop_map(Step::Subject),
        2 => any::<bool>().prop_map(Step::Description),
        6 => (0..3_usize).prop_map(Step::Merge),
    ];
    prop::collection::vec(step, 1..30)
}

/// The state of a change request and of the rules, according to the documentation.
#[derive(Default)]
struct Model {
    space: Option<Vec<Rule>>,
    org: Vec<Rule>,
    /// The latest review of each user: approval, and `true` if it is of the current content.
    reviews: BTreeMap<usize, (bool, bool)>,
    outdated: bool,
    subject: bool,
    description: bool,
}

impl Model {
    fn permits(&self, user: usize) -> bool {
        let rules = self.space.as_ref().unwrap_or(&self.org);
        let bypasses = |rule: &Rule| matches!(rule, Rule::Bypass(named) if *named == user);
        rules.iter().any(bypasses) || rules.iter().all(|rule| self.is_met(rule, user))
    }

    fn is_met(&self, rule: &Rule, user: usize) -> bool {
        let approves = |user: &usize| self.reviews.get(user) == Some(&(true, true));
        let by_others = || self.reviews.iter().filter(|(user, _)| **user != 0);
        match rule {
            Rule::Specific(user) => approves(user),
            Rule::OneOf(users) => users.iter().any(approves),
            Rule::Bypass(_) => true,
            Rule::Reviewed => by_others().any(|(_, (_, is_current))| *is_current),
            Rule::Approved | Rule::Custom => by_others().any(|(user, _)| approves(user)),
            Rule::AllApproved => self.reviews.keys().all(approves),
            Rule::UpToDate => !self.outdated,
            Rule::Subject => self.subject,
            Rule::Description => self.description,
            Rule::Author => user == 0,
        }
    }
}

fn sent(s: &Setting, rules: &[Rule]) -> Value {
    let named = |name: &str, users: &[usize]| json!({ "rule": name, "users": users.iter().map(|user| s.id(*user)).collect::<Vec<_>>() });
    let one = |rule: &Rule| match rule {
        Rule::Specific(user) => named("require_specific_reviewers", &[*user]),
        Rule::OneOf(users) => named("require_one_of_specific_reviewers", users),
        Rule::Bypass(user) => named("allow_bypass", &[*user]),
        Rule::Reviewed => json!({ "rule": "require_at_least_one_review" }),
        Rule::Approved => json!({ "rule": "require_at_least_one_approved_review" }),
        Rule::AllApproved => json!({ "rule": "require_all_reviews_approved" }),
        Rule::UpToDate => json!({ "rule": "require_up_to_date_change_request" }),
        Rule::Subject => json!({ "rule": "require_change_request_subject" }),
        Rule::Description => json!({ "rule": "require_change_request_description" }),
        Rule::Author => json!({ "rule": "require_author_to_merge" }),
        Rule::Custom => json!({ "rule": "custom", "expression": "reviews.some(r => r.status == 'approved' \
            && !r.outdated && r.reviewer.id != changeRequest.createdBy.id) && actor.id != ''" }),
    };
    self::rules(&rules.iter().map(one).collect())
}

async fn apply(s: &mut Setting, model: &mut Model, step: &Step) {
    let forget = |model: &mut Model| model.reviews.values_mut().for_each(|review| review.1 = false);
    match step {
        Step::Space(rules) => {
            let set = rules.as_ref().map_or(json!({ "type": "inherit" }), |rules| sent(s, rules));
            set_on_space(&s.w, &s.space, set).await.expect("set");
            model.space.clone_from(rules);
        }
        Step::Org(rules) => {
            set_on_org(&s.w, sent(s, rules)).await.expect("set");
            model.org.clone_from(rules);
        }
        Step::Review(user, approves) => {
            s.review(*user, if *approves { "approved" } else { "changes-requested" }).await;
            model.reviews.insert(*user, (*approves, true));
        }
        Step::Edit => {
            s.edit().await;
            forget(model);
        }
        Step::ChangeSpace => {
            s.change_space().await;
            model.outdated = true;
        }
        Step::Pull => {
            let request = s.by(0).space(&s.space).change_request(&s.request);
            request.pull().await.expect("updated");
            if model.outdated {
                forget(model);
            }
            model.outdated = false;
        }
        Step::Subject(is_set) => {
            s.update(json!({ "subject": if *is_set { "Fix" } else { " " } })).await;
            model.subject = *is_set;
        }
        Step::Description(is_set) => {
            s.update(json!({ "description": document(if *is_set { "Why." } else { "" }) })).await;
            model.description = *is_set;
        }
        Step::Merge(user) => match s.merge(*user).await {
            Ok(()) => {
                assert!(model.permits(*user), "the rules do not permit the merge");
                s.create().await;
                let (space, org) = (model.space.take(), std::mem::take(&mut model.org));
                *model = Model { space, org, ..Model::default() };
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
                assert!(!model.permits(*user), "{error}");
            }
        },
    }
}

async fn run(steps: Vec<Step>, store: Arc<dyn Store>) {
    let (mut s, mut model) = (Setting::new(store).await, Model::default());
    for step in steps {
        apply(&mut s, &mut model, &step).await;
    }
    s.w.check().await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn merges_follow_the_merge_rules(steps in steps()) {
        block_on(run(steps, Arc::new(MemStore::new())));
    }
}

proptest! {
    // Each fault causes a delay of several milliseconds.
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    #[test]
    fn merge_rules_hold_under_commit_faults(steps in steps()) {
        block_on(run(steps, failing()));
    }
}
