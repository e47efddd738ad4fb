//! The changes listed for a revision match its actual changes.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use docs_core::{
    Platform,
    model::{CreateChangeRequest, RevisionId, SpaceId, UpdateContent},
    platform::{ContentOptions, ContentVersion},
    store::{Objects, PageRequest},
};
use docs_memstore::{MemObjects, MemStore, SeededIds};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{World, block_on, person};

/// The pages by id, without subpages, with the id of the parent.
type Flat = BTreeMap<String, Value>;

fn flatten(pages: &Value, parent: Option<&str>, out: &mut Flat) {
    for page in pages.as_array().into_iter().flatten() {
        let id = page["id"].as_str().expect("an id");
        flatten(&page["pages"], Some(id), out);
        let mut flat = json!({ "parent": parent });
        for (name, told) in [
            ("type", "type"),
            ("title", "title"),
            ("slug", "slug"),
            ("emoji", "emoji"),
            ("icon", "icon"),
            ("description", "description"),
            ("document", "documentId"),
            ("layout", "layout"),
            ("variables", "variables"),
            ("hidden", "hidden"),
            ("noIndex", "noIndex"),
            ("noRobotsIndex", "noRobotsIndex"),
            ("path", "path"),
        ] {
            if let Some(value) = page.get(told) {
                flat[name] = value.clone();
            }
        }
        out.insert(id.to_owned(), flat);
    }
}

async fn pages(w: &World, of: &ContentVersion) -> Flat {
    let pages = w.as_admin().content(of).list_pages(ContentOptions::default()).await.expect("pages");
    let mut flat = Flat::new();
    flatten(&serde_json::to_value(pages).expect("JSON")["pages"], None, &mut flat);
    flat
}

/// Applies the listed changes to the pages.
fn replay(before: &Flat, after: &Flat, changes: &Value) -> Flat {
    let mut now = before.clone();
    let told = |page: &Value, of: &Flat| {
        let id = page["id"].as_str().expect("an id");
        for field in ["type", "title", "path"] {
            assert_eq!(page[field], of[id][field], "{page}");
        }
        id.to_owned()
    };
    for change in changes["changes"].as_array().expect("a list") {
        let page = &change["page"];
        match change["type"].as_str().expect("a type") {
            "page_created" => {
                let id = told(page, after);
                assert_eq!(now.insert(id.clone(), after[&id].clone()), None, "{id} is new");
            }
            "page_deleted" => {
                let id = told(page, before);
                assert!(now.remove(&id).is_some(), "{id} was there");
            }
            "page_edited" => {
                let id = told(page, after);
                let page = now.get_mut(&id).expect("a page that was there");
                let attributes = change["attributes"].as_object().expect("attributes");
                assert!(!attributes.is_empty(), "{id} says what changed");
                for (name, values) in attributes {
                    assert_eq!(page.get(name), values.get("before"), "{id} {name}");
                    assert_ne!(values.get("before"), values.get("after"), "{id} {name}");
                    match values.get("after") {
                        Some(value) => page[name] = value.clone(),
                        None => drop(page.as_object_mut().expect("a page").remove(name)),
                    }
                }
            }
            "page_moved" => {
                let id = told(page, after);
                let parent = |side: &str, of: &Flat| {
                    change["parent"].get(side).map_or(Value::Null, |page| told(page, of).into())
                };
                let page = now.get_mut(&id).expect("a page that was there");
                assert_eq!(page["parent"], parent("before", before), "{id}");
                page["parent"] = parent("after", after);
            }
            "file_created" => {}
            other => panic!("{other}"),
        }
    }
    now
}

/// Removes the paths, which are derived from other fields.
fn without_paths(mut pages: Flat) -> Flat {
    for page in pages.values_mut() {
        page.as_object_mut().expect("a page").remove("path");
    }
    pages
}

#[derive(Clone, Debug)]
enum Act {
    Insert { into: usize, title: &'static str, text: &'static str },
    Update { page: usize, fields: Value },
    Move { page: usize, into: Option<usize>, at: Option<usize> },
    Delete { page: usize },
    Revert { page: usize },
    File,
}

fn any_act() -> impl Strategy<Value = Act> {
    let text = proptest::sample::select(vec!["", "one\n", "two\n", "# Head\n\nthree\n"]);
    let title = proptest::sample::select(vec!["A", "B", "A b"]);
    let fields = proptest::sample::select(vec![
        json!({ "title": "New" }),
        json!({ "slug": "new" }),
        json!({ "emoji": "🚀" }),
        json!({ "icon": "star" }),
        json!({ "description": "About" }),
        json!({ "hidden": true, "noIndex": true }),
        json!({ "noRobotsIndex": true, "title": "A" }),
        json!({ "document": { "markdown": "four\n" } }),
        json!({ "document": { "markdown": "---\nlayout:\n  outline:\n    visible: false\n---\n\nfive\n" } }),
    ]);
    prop_oneof![
        4 => (0usize..9, title, text).prop_map(|(into, title, text)| Act::Insert { into, title, text }),
        4 => (0usize..9, fields).prop_map(|(page, fields)| Act::Update { page, fields }),
        3 => (0usize..9, proptest::option::of(0usize..9), proptest::option::of(0usize..4))
            .prop_map(|(page, into, at)| Act::Move { page, into, at }),
        1 => (0usize..9).prop_map(|page| Act::Delete { page }),
        1 => (0usize..9).prop_map(|page| Act::Revert { page }),
        1 => Just(Act::File),
    ]
}

fn change(act: &Act, pages: &[String]) -> Option<Value> {
    let id = |n: usize| pages.get(n % pages.len().max(1)).cloned();
    Some(match act {
        Act::Insert { into, title, text } => {
            let mut change =
                json!({ "operation": "insert_page", "title": title, "document": { "markdown": text } });
            // About half of the pages are at the top level.
            if let Some(parent) = id(*into).filter(|_| into % 2 == 0) {
                change["into"] = parent.into();
            }
            change
        }
        Act::Update { page, fields } => {
            let mut change = fields.clone();
            change["operation"] = "update_page".into();
            change["page"] = id(*page)?.into();
            change
        }
        Act::Move { page, into, at } => {
            let into = into.and_then(id);
            let mut change = json!({ "operation": "update_page", "page": id(*page)?, "into": into });
            if let Some(at) = at {
                change["at"] = (*at).into();
            }
            change
        }
        Act::Delete { page } => json!({ "operation": "delete_page", "page": id(*page)? }),
        Act::Revert { page } => json!({ "operation": "revert_page", "page": id(*page)? }),
        Act::File => json!({ "operation": "insert_files", "files": [
            { "name": "a.txt", "base64": "YQ==", "contentType": "text/plain" },
        ] }),
    })
}

/// A change request being edited, compared with its revision before each edit.
struct Draft {
    space: SpaceId,
    number: String,
    head: RevisionId,
}

impl Draft {
    async fn new(w: &World, space: &SpaceId) -> Self {
        let new = CreateChangeRequest::default();
        let request = w.as_admin().space(space).change_requests().create(new).await.expect("created");
        Self { space: space.clone(), number: request.number.to_string(), head: request.revision }
    }

    fn of(&self) -> ContentVersion {
        ContentVersion::request(self.space.clone(), &self.number)
    }

    /// Applies a batch. If it is accepted, checks that the listed changes match the actual ones.
    async fn apply(&mut self, w: &World, batch: &[Act]) {
        let before = pages(w, &self.of()).await;
        let known: Vec<String> = before.keys().cloned().collect();
        let changes: Vec<Value> = batch.iter().filter_map(|act| change(act, &known)).collect();
        let update: UpdateContent = serde_json::from_value(json!({ "changes": changes })).expect("changes");
        let done = w.as_admin().space(&self.space).change_request(&self.number).edit(update).await;
        let Ok(done) = done else { return };
        if done.change_request.revision == self.head {
            return;
        }
        self.head = done.change_request.revision;
        let of = ContentVersion::revision(self.space.clone(), self.head.clone());
        agree(w, &of, &before).await;
    }
}

/// Checks that the listed changes transform the previous pages into the current ones.
async fn agree(w: &World, of: &ContentVersion, before: &Flat) {
    let after = pages(w, of).await;
    let told = w.as_admin().content(of).list_changes(Some(1000)).await.expect("changes");
    let told = serde_json::to_value(told).expect("JSON");
    assert_eq!(told.get("more"), None);
    assert_eq!(without_paths(replay(before, &after, &told)), without_paths(after), "{told}");
    let all = told["changes"].as_array().expect("a list");
    for limit in [0, 1, all.len() / 2, all.len()] {
        let cut = w.as_admin().content(of).list_changes(Some(limit as u32)).await.expect("changes");
        assert_eq!(
            serde_json::to_value(&cut.changes).expect("JSON"),
            Value::from(&all[..limit.min(all.len())])
        );
        assert_eq!(cut.more.unwrap_or(0), (all.len() - limit.min(all.len())) as u64);
    }
}

fn run(first: &[Vec<Act>], second: &[Vec<Act>]) {
    block_on(async {
        let w = World::new().await;
        let space = w.space().await;
        for batches in [first, second] {
            let base = pages(&w, &ContentVersion::space(space.clone())).await;
            let mut draft = Draft::new(&w, &space).await;
            for batch in batches {
                draft.apply(&w, batch).await;
            }
            agree(&w, &draft.of(), &base).await;
            w.as_admin().space(&space).change_request(&draft.number).merge().await.expect("merged");
            agree(&w, &ContentVersion::space(space.clone()), &base).await;
        }
        w.check().await;
    });
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 96,
        failure_persistence: Some(Box::new(proptest::test_runner::FileFailurePersistence::Direct(
            "tests/proptest-regressions/revisions.txt",
        ))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn listed_changes_transform_the_old_pages_into_the_new(
        first in proptest::collection::vec(proptest::collection::vec(any_act(), 1..5), 1..5),
        second in proptest::collection::vec(proptest::collection::vec(any_act(), 1..5), 1..5),
    ) {
        run(&first, &second);
    }
}

/// Counts the large objects.
async fn large(objects: &MemObjects) -> usize {
    let mut large = 0;
    for domain in objects.domains(None, 100).await.expect("listed") {
        let names = objects.list(&domain, None, Duration::ZERO, 10_000).await.expect("listed");
        let found = objects.get(&domain, &names).await.expect("read");
        large += found.iter().flatten().filter(|bytes| bytes.len() >= 50_000).count();
    }
    large
}

#[tokio::test]
async fn identical_files_are_deduplicated() {
    let objects = Arc::new(MemObjects::new());
    let platform =
        Platform::builder(Arc::new(MemStore::new()), objects.clone()).ids(SeededIds::new(3)).build();
    let me = person(&platform, "Ada").await;
    let user = me.user().expect("a user");
    let org = platform.as_platform().orgs().create("Engines".parse().expect("a title"), user).await;
    let space = platform
        .as_actor(&me)
        .org(&org.expect("created").id)
        .spaces()
        .create(Default::default())
        .await
        .expect("created");
    let bytes = "QUFB".repeat(20_000);
    for name in ["a.txt", "a.txt", "b.txt"] {
        let request = platform
            .as_actor(&me)
            .space(&space.id)
            .change_requests()
            .create(CreateChangeRequest::default())
            .await;
        let number = request.expect("created").number.to_string();
        let file = json!({ "name": name, "base64": bytes, "contentType": "text/plain" });
        let update = json!({ "changes": [{ "operation": "insert_files", "files": [file, file] }] });
        let update: UpdateContent = serde_json::from_value(update).expect("changes");
        platform.as_actor(&me).space(&space.id).change_request(&number).edit(update).await.expect("inserted");
        platform.as_actor(&me).space(&space.id).change_request(&number).merge().await.expect("merged");
    }
    let of = ContentVersion::space(space.id.clone());
    let files = platform
        .as_actor(&me)
        .content(&of)
        .list_files(ContentOptions::default(), &PageRequest::default())
        .await
        .expect("files");
    assert_eq!(files.items.len(), 6);
    let address = |n: usize| files.items[n].download_url.rsplit_once('/').expect("a name").0;
    assert!((1..6).all(|n| address(n) == address(0)), "the same bytes are in one place");
    assert_eq!(large(&objects).await, 1);
}
