//! A property test template for embedding applications: for any sequence of user actions and store failures, the
//! application's model of its documentation matches the platform's responses.
//!
//! `cargo test -p docs-memstore --test a_property_of_a_host`

use std::{collections::BTreeMap, sync::Arc};

use docs_core::{
    ErrorKind, Platform,
    model::{CreateSpace, OrgId, SpaceId, UpdateSpace, UserId},
    platform::{Caller, NewUser},
    store::{PageRequest, verify},
};
use docs_memstore::{FaultPlan, FaultStore, ManualClock, MemObjects, MemStore, Rates, SeededIds};
use proptest::prelude::*;

/// A user action. Numbers select one of the existing spaces.
#[derive(Clone, Debug)]
enum Act {
    Create(String),
    Rename(usize, String),
    Delete(usize),
    Restore(usize),
}

fn act() -> impl Strategy<Value = Act> {
    let title = "[A-Z][a-z]{0,8}";
    prop_oneof![
        3 => title.prop_map(Act::Create),
        2 => (any::<usize>(), title).prop_map(|(which, title)| Act::Rename(which, title)),
        1 => any::<usize>().prop_map(Act::Delete),
        1 => any::<usize>().prop_map(Act::Restore),
    ]
}

/// The application's model: the title of each space, and `true` unless it is deleted.
#[derive(Default)]
struct Model {
    spaces: BTreeMap<SpaceId, (String, bool)>,
}

impl Model {
    fn pick(&self, which: usize) -> Option<SpaceId> {
        let count = self.spaces.len();
        (count > 0).then(|| self.spaces.keys().nth(which % count).expect("one of them").clone())
    }
}

struct Host {
    platform: Platform,
    user: UserId,
    org: OrgId,
    model: Model,
}

impl Host {
    fn me(&self) -> Caller<'_> {
        self.platform.as_user(&self.user)
    }

    /// Performs the action, retrying while the store is unavailable, and updates the model from the response.
    async fn act(&mut self, act: Act) {
        match act {
            Act::Create(title) => {
                let new =
                    || CreateSpace { title: Some(title.parse().expect("a title")), ..CreateSpace::default() };
                let made = loop {
                    match self.me().org(&self.org).spaces().create(new()).await {
                        Err(error) if error.kind() == ErrorKind::Unavailable => {}
                        made => break made.expect("created"),
                    }
                };
                self.model.spaces.insert(made.id, (title, true));
            }
            Act::Rename(which, title) => {
                let Some(space) = self.model.pick(which) else { return };
                let change =
                    || UpdateSpace { title: Some(title.parse().expect("a title")), ..UpdateSpace::default() };
                let done = retried(async || self.me().space(&space).update(change()).await).await;
                let (known, is_there) = self.model.spaces.get_mut(&space).expect("known");
                assert_eq!(done.is_ok(), *is_there, "{done:?}");
                if *is_there {
                    *known = title;
                }
            }
            Act::Delete(which) => {
                let Some(space) = self.model.pick(which) else { return };
                retried(async || self.me().space(&space).delete().await).await.expect("deleted, or was");
                self.model.spaces.get_mut(&space).expect("known").1 = false;
            }
            Act::Restore(which) => {
                let Some(space) = self.model.pick(which) else { return };
                let was_there = self.model.spaces[&space].1;
                let done = retried(async || self.me().space(&space).restore().await).await;
                if !was_there {
                    done.expect("restored");
                    self.model.spaces.get_mut(&space).expect("known").1 = true;
                }
            }
        }
    }

    /// Asserts that the platform matches the model.
    async fn check(&self) {
        let (mut found, mut page) = (BTreeMap::new(), PageRequest::default());
        loop {
            let list = retried(async || self.me().org(&self.org).spaces().list(&page).await).await;
            let list = list.expect("a list");
            found.extend(list.items.into_iter().map(|space| (space.id, space.title.to_string())));
            let Some(next) = list.next else { break };
            page.page = Some(next);
        }
        let there = self.model.spaces.iter().filter(|(_, (_, is_there))| *is_there);
        let expected: BTreeMap<_, _> = there.map(|(id, (title, _))| (id.clone(), title.clone())).collect();
        assert_eq!(found, expected);
    }
}

/// Retries while the store is unavailable.
async fn retried<T>(mut ask: impl AsyncFnMut() -> docs_core::Result<T>) -> docs_core::Result<T> {
    loop {
        match ask().await {
            Err(error) if error.kind() == ErrorKind::Unavailable => {}
            answer => return answer,
        }
    }
}

async fn host(store: Arc<FaultStore<MemStore>>) -> Host {
    let clock = ManualClock::default();
    let objects = Arc::new(MemObjects::with_clock(Arc::new(clock.clone())));
    let platform = Platform::builder(store, objects).clock(clock).ids(SeededIds::new(1)).build();
    let ada = NewUser {
        display_name: "Ada".parse().expect("a name"),
        email: "ada@example.com".parse().expect("an address"),
    };
    let user = platform.as_platform().users().create(ada).await.expect("a user").id;
    let title = "Engines".parse().expect("a title");
    let org = platform.as_platform().orgs().create(title, &user).await.expect("an organization").id;
    Host { platform, user, org, model: Model::default() }
}

proptest! {
    #[test]
    fn application_model_matches_platform_under_faults(
        acts in proptest::collection::vec(act(), 1..24),
        seed in any::<u64>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.expect("a runtime").block_on(async {
            let store = Arc::new(FaultStore::new(Arc::new(MemStore::new()), FaultPlan::none()));
            let mut host = host(Arc::clone(&store)).await;
            // Two percent of all calls conflict, two percent find the store unavailable, and two percent of commits
            // lose their response.
            let rates = Rates { conflict: 20, unavailable: 20, unknown_applied: 20, ..Rates::default() };
            store.set_plan(FaultPlan::from_seed(seed, rates));
            for act in acts {
                host.act(act).await;
                host.check().await;
            }
            let drift = verify(store.inner().as_ref()).await.expect("the store can be read");
            assert!(drift.is_none(), "{drift:?}");
        });
    }
}
