//! Idempotent requests on the database stores.

use std::{sync::Arc, time::Duration};

use docs_core::{
    Actor, ErrorKind, Platform, Result,
    model::{
        CreateChangeRequest, CreateCollection, CreateLinkInvite, CreateSpace, OrgId, PostComment, RevisionId,
        SpaceId, UpdateContent, UpdateOrganization,
    },
    platform::{IdempotentRequest, NewUser, SetUp},
    store::{PageRequest, conformance::Factory, verify},
};
use docs_memstore::{CallKind, Fault, FaultPlan, FaultStore, ManualClock};
use serde_json::json;

/// A platform on a store that fails on demand, with an organization and a space.
struct World {
    platform: Platform,
    store: FaultStore<dyn docs_core::store::Store>,
    clock: ManualClock,
    ada: Actor,
    org: OrgId,
    space: SpaceId,
}

impl World {
    async fn over(factory: &dyn Factory) -> Self {
        let store = FaultStore::new(factory.store().await, FaultPlan::none());
        let clock = ManualClock::default();
        let platform = Platform::builder(Arc::new(store.clone()), factory.objects().await);
        let platform = platform.clock(clock.clone()).build();
        let administrator = NewUser {
            display_name: "Ada".parse().expect("a name"),
            email: "ada@example.com".parse().expect("an address"),
        };
        let organization = "Engines".parse().expect("a title");
        let set_up = SetUp { administrator, organization, token: None };
        let done = platform.as_platform().set_up(set_up).await.expect("a new store");
        let (ada, org) = (Actor::User(done.administrator), done.organization);
        let links = UpdateOrganization { invite_links: Some(true), ..UpdateOrganization::default() };
        platform.as_actor(&ada).org(&org).update(links).await.expect("links are turned on");
        let space = platform
            .as_actor(&ada)
            .org(&org)
            .spaces()
            .create(CreateSpace::default())
            .await
            .expect("created")
            .id;
        platform
            .as_actor(&ada)
            .space(&space)
            .change_requests()
            .create(CreateChangeRequest::default())
            .await
            .expect("created");
        Self { platform, store, clock, ada, org, space }
    }

    /// Creates something in a request with this key. Returns the result as text, and `true` for a replay.
    async fn create(&self, what: What, key: &str) -> Result<(String, bool)> {
        let request = IdempotentRequest::new(key.parse().expect("a key"), &[format!("{what:?}").as_bytes()]);
        let p = self.platform.with_idempotency(request.clone());
        let (ada, org, space) = (&self.ada, &self.org, &self.space);
        let answer = match what {
            What::Space => {
                format!("{:?}", p.as_actor(ada).org(org).spaces().create(CreateSpace::default()).await?)
            }
            What::Copy => format!("{:?}", p.as_actor(ada).space(space).duplicate().await?),
            What::Collection => {
                format!(
                    "{:?}",
                    p.as_actor(ada).org(org).collections().create(CreateCollection::default()).await?
                )
            }
            What::Site => {
                format!(
                    "{:?}",
                    p.as_actor(ada).org(org).sites().create(read(json!({ "spaces": "sample" }))).await?
                )
            }
            What::Request => {
                format!(
                    "{:?}",
                    p.as_actor(ada)
                        .space(space)
                        .change_requests()
                        .create(CreateChangeRequest::default())
                        .await?
                )
            }
            What::Pages => {
                let page = json!({ "operation": "insert_page", "document": { "markdown": "# New\n" } });
                let change: UpdateContent = read(json!({ "changes": [page] }));
                format!("{:?}", p.as_actor(ada).space(space).change_request("1").edit(change).await?)
            }
            What::Comment => {
                let new: PostComment = read(json!({ "body": { "markdown": "Why?" } }));
                format!("{:?}", p.as_actor(ada).space(space).content().comments().post(new).await?)
            }
            What::Invite => {
                let new: CreateLinkInvite = read(json!({ "role": "read" }));
                format!("{:?}", p.as_actor(ada).org(org).invites().create_link(new).await?)
            }
            What::Merge => format!("{:?}", p.as_actor(ada).space(space).change_request("1").merge().await?),
        };
        Ok((answer, request.is_replayed()))
    }

    /// Returns the number of existing items of each kind that can be created.
    async fn counts(&self) -> (usize, usize, Option<u64>, RevisionId) {
        let (p, page) = (&self.platform, PageRequest::default());
        let spaces = p.as_actor(&self.ada).org(&self.org).spaces().list(&page).await.expect("listed").items;
        let sites = p
            .as_actor(&self.ada)
            .org(&self.org)
            .sites()
            .list(&Default::default(), &page)
            .await
            .expect("listed");
        let requests =
            p.as_actor(&self.ada).space(&self.space).change_requests().list(&Default::default(), &page).await;
        let request = p.as_actor(&self.ada).space(&self.space).change_request("1").get().await.expect("read");
        (spaces.len(), sites.items.len(), requests.expect("listed").count, request.revision)
    }
}

#[derive(Clone, Copy, Debug)]
enum What {
    Space,
    Copy,
    Collection,
    Site,
    Request,
    Pages,
    Comment,
    Invite,
    Merge,
}

const ALL: [What; 9] = [
    What::Space,
    What::Copy,
    What::Collection,
    What::Site,
    What::Request,
    What::Pages,
    What::Comment,
    What::Invite,
    What::Merge,
];

fn read<T: serde::de::DeserializeOwned>(json: serde_json::Value) -> T {
    serde_json::from_value(json).expect("a request")
}

/// Checks the guarantees for idempotent requests.
async fn suite(factory: &dyn Factory) {
    let w = World::over(factory).await;
    for what in ALL {
        let key = format!("{what:?}");
        // The write is stored, but the caller disconnects before receiving the response.
        let commit = w.store.calls(CallKind::Commit) + 1;
        w.store.set_plan(FaultPlan::none().with_fault(CallKind::Commit, commit, Fault::HoldAfter));
        tokio::select! {
            answer = w.create(what, &key) => panic!("{what:?} is held: {answer:?}"),
            () = w.store.wait_until_held(1) => {}
        }
        w.store.set_plan(FaultPlan::none());
        let done = w.counts().await;
        let (first, is_replayed) = w.create(what, &key).await.expect("answered");
        assert!(is_replayed, "{what:?}");
        assert_eq!(w.create(what, &key).await.expect("answered"), (first, true), "{what:?}");
        assert_eq!(w.counts().await, done, "{what:?}: nothing is done again");
    }
    // The same key with a different request.
    let error = w.create(What::Space, "Site").await.expect_err("another request had the key");
    assert_eq!(error.kind(), ErrorKind::Unprocessable, "{error:?}");
    // If the reply to a commit is lost, its receipt is found; the request is not a replay.
    let commit = w.store.calls(CallKind::Commit) + 1;
    w.store.set_plan(FaultPlan::none().with_fault(CallKind::Commit, commit, Fault::UnknownApplied));
    let (first, is_replayed) = w.create(What::Space, "lost").await.expect("found");
    assert!(!is_replayed);
    assert_eq!(w.create(What::Space, "lost").await.expect("answered"), (first, true));
    // Concurrent requests.
    let before = w.counts().await.0;
    let all = [(); 4].map(|()| w.create(What::Space, "together"));
    let [a, b, c, d] = all;
    let (a, b, c, d) = tokio::join!(a, b, c, d);
    let all = [a, b, c, d].map(|answer| answer.expect("answered"));
    assert!(all.iter().all(|(answer, _)| *answer == all[0].0), "{all:?}");
    assert_eq!(all.iter().filter(|(_, is_replayed)| !is_replayed).count(), 1, "{all:?}");
    assert_eq!(w.counts().await.0, before + 1);
    // After the retention period.
    w.clock.advance(Duration::from_secs(24 * 3600));
    let (_, is_replayed) = w.create(What::Space, "together").await.expect("created");
    assert!(!is_replayed, "a new one");
    assert_eq!(w.counts().await.0, before + 2);
    w.clock.advance(Duration::from_secs(24 * 3600 + 1));
    w.platform.tidy().await.expect("tidied");
    let drift = verify(&w.store).await.expect("the store can be read");
    assert!(drift.is_none(), "{drift:?}");
}

#[tokio::test]
async fn idempotent_requests_execute_once_on_sqlite() {
    suite(&crate::sqlite::Sqlite::new()).await;
}

#[cfg(feature = "postgres")]
#[tokio::test]
async fn idempotent_requests_execute_once_on_postgres() {
    if let Some(postgres) = crate::postgres::Postgres::new() {
        suite(&postgres).await;
    }
}
