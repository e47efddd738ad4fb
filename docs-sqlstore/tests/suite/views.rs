//! Database views for administrators, queried with SQL.

use docs_core::{
    Actor, Platform,
    model::{CreateChangeRequest, CreateSpace, SpaceId, UpdateContent},
    platform::{NewUser, SetUp},
};
use serde_json::json;

/// A row of the page view: kind, title, slug, Markdown.
pub(crate) type Shown = (String, String, String, Option<String>);

/// Creates a space with a group that contains a page, and a page that exists only in a change request.
pub(crate) async fn fill(platform: &Platform) -> (Actor, SpaceId) {
    let administrator = NewUser {
        display_name: "Ada".parse().expect("a name"),
        email: "ada@example.com".parse().expect("an address"),
    };
    let set_up = SetUp { administrator, organization: "Engines".parse().expect("a title"), token: None };
    let done = platform.as_platform().set_up(set_up).await.expect("a new store");
    let ada = Actor::User(done.administrator);
    let new = CreateSpace { title: Some("Guide".parse().expect("a title")), ..CreateSpace::default() };
    let space =
        platform.as_actor(&ada).org(&done.organization).spaces().create(new).await.expect("created").id;
    for (round, merged) in [(0, true), (1, false)] {
        let new = CreateChangeRequest::default();
        let request =
            platform.as_actor(&ada).space(&space).change_requests().create(new).await.expect("created").id;
        let pages: Vec<_> = (0..40)
            .map(|n| {
                let text = format!("# Page {round} {n}\n\nText {n} of \"{round}\".");
                json!({ "operation": "insert_page", "document": { "markdown": text } })
            })
            .collect();
        let change: UpdateContent = serde_json::from_value(json!({ "changes": pages })).expect("changes");
        let name = request.as_str();
        platform.as_actor(&ada).space(&space).change_request(name).edit(change).await.expect("changed");
        if merged {
            platform.as_actor(&ada).space(&space).change_request(name).merge().await.expect("merged");
        }
    }
    (ada, space)
}

/// Returns the expected rows of the page view.
pub(crate) fn expected() -> Vec<Shown> {
    (0..40)
        .map(|n| {
            let text = format!("Text {n} of \"0\".");
            ("document".to_owned(), format!("Page 0 {n}"), format!("page-0-{n}"), Some(text))
        })
        .collect()
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn sqlite_page_view_shows_the_active_revision() {
    use docs_sqlstore::{Options, SqliteStore};
    use std::sync::Arc;

    let folder = tempfile::TempDir::new().expect("a folder");
    let store = SqliteStore::open(folder.path().join("docs.db"), Options::new()).await.expect("it opens");
    let platform = Platform::builder(Arc::new(store.clone()), Arc::new(store.objects())).build();
    fill(&platform).await;
    let conn = rusqlite::Connection::open(store.path()).expect("the file is there");
    let sql = "SELECT kind, v_page.title, slug, markdown FROM v_page JOIN v_space ON v_space.id = space ORDER BY rank";
    let mut select = conn.prepare(sql).expect("the view is there");
    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
    let found: Vec<Shown> =
        select.query_map([], row).expect("the view can be read").collect::<Result<_, _>>().expect("rows");
    assert_eq!(found, expected());
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn content_is_readable_with_a_single_connection() {
    use docs_core::platform::ContentVersion;
    use docs_sqlstore::{Options, SqliteStore};
    use std::sync::Arc;

    let folder = tempfile::TempDir::new().expect("a folder");
    let path = folder.path().join("docs.db");
    let open = || SqliteStore::open(&path, Options::new().connections(1));
    let store = open().await.expect("it opens");
    let (ada, space) =
        fill(&Platform::builder(Arc::new(store.clone()), Arc::new(store.objects())).build()).await;
    drop(store);
    // Reopened, so that nothing is cached.
    for request in [None, Some("1"), Some("2")] {
        let store = open().await.expect("it opens");
        let platform = Platform::builder(Arc::new(store.clone()), Arc::new(store.objects())).build();
        let of = request.map_or_else(
            || ContentVersion::space(space.clone()),
            |name| ContentVersion::request(space.clone(), name),
        );
        let revision = platform
            .as_actor(&ada)
            .content(&of)
            .get(Default::default())
            .await
            .expect("no second one is needed");
        assert!(revision.pages.len() >= 40 || request == Some("1"));
    }
}
