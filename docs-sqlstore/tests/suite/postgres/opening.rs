//! Opening a store: URLs, migrations and views.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use docs_core::{
    Platform,
    store::{Blob, Blobs, Hash, Mode, Objects as _, Op, StoreError, StoreResult, Value},
};
use docs_sqlstore::{OpenError, Options, PostgresStore};
use parking_lot::Mutex;

use super::{begin, commit, now, put};
use crate::views;

#[tokio::test]
async fn invalid_connection_url_is_rejected_with_a_reason() {
    for (url, part) in [
        ("nonsense", "invalid connection string"),
        ("postgres://docs:p@secret@db.example.com/docs", "%40"),
        #[cfg(not(feature = "tls"))]
        ("postgres://docs:secret@db.example.com/docs?sslmode=require", "open_with_tls"),
        #[cfg(feature = "tls")]
        ("postgres://docs:secret@db.example.com/docs?sslmode=strict", "`sslmode` must be"),
        ("postgres:///docs?user=docs", "no host"),
    ] {
        let refused = PostgresStore::open(url, Options::new()).await.map(drop);
        let text = refused.as_ref().map_or_else(ToString::to_string, |()| String::new());
        assert!(matches!(refused, Err(OpenError::Address(_))) && text.contains(part), "{text}");
        assert!(!text.contains("secret"), "{text}");
    }
}

#[tokio::test]
async fn connection_error_names_the_server_without_password() {
    // A port that was bound and released, so that nothing listens on it.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("postgres://docs:secret@127.0.0.1:{port}/library");
    let text = PostgresStore::open(&url, Options::new()).await.map(drop).unwrap_err().to_string();
    for part in [&format!("`library` on 127.0.0.1:{port}"), "refused", "check that the server is running"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("secret"), "{text}");
}

#[tokio::test]
async fn missing_schema_error_mentions_the_search_path() {
    let postgres = postgres!();
    let text = PostgresStore::open(&postgres.url("docs_test_none"), postgres.options()).await.map(drop);
    assert!(text.unwrap_err().to_string().contains("search_path"));
}

#[tokio::test]
async fn a_newer_schema_is_refused_and_nothing_is_changed() {
    let postgres = postgres!();
    let store = postgres.fresh().await;
    let schema = postgres.schema();
    let sql = format!("INSERT INTO {schema}.docs_schema (version) VALUES (99)");
    postgres.admin().await.batch_execute(&sql).await.expect("the table is there");
    let options = postgres.options().kinds(["later"]);
    let refused = PostgresStore::open(&postgres.url(&schema), options).await.map(drop);
    assert!(matches!(refused, Err(OpenError::Newer { found: 99, known: 2, .. })), "{refused:?}");
    let sql = format!("SELECT to_regclass('{schema}.r_later') IS NULL");
    assert!(postgres.admin().await.query_one(&sql, &[]).await.unwrap().get::<_, bool>(0));
    assert_eq!(now(&store, "num!a").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_opens_of_a_new_schema_migrate_once() {
    let postgres = postgres!();
    let schema = postgres.new_schema().await;
    let url = postgres.url(&schema);
    let opening: Vec<_> = (0..6)
        .map(|n| {
            let (url, options) = (url.clone(), postgres.options().kinds([format!("kind{}", n % 3)]));
            tokio::spawn(async move { PostgresStore::open(&url, options).await })
        })
        .collect();
    for (n, store) in opening.into_iter().enumerate() {
        let store = store.await.expect("opening does not panic").expect("the store can be opened");
        let record = Value::Json(br#"{"a":1}"#.to_vec().into());
        commit(&store, vec![Op::Create(format!("kind{}!{n}", n % 3).into(), record)])
            .await
            .expect("no conflict");
    }
    let sql = format!("SELECT array_agg(version ORDER BY version) FROM {schema}.docs_schema");
    let applied: Vec<i32> = postgres.admin().await.query_one(&sql, &[]).await.unwrap().get(0);
    assert_eq!(applied, [1, 2], "each migration was applied once");
}

#[tokio::test]
async fn new_record_kind_is_added_to_an_existing_store() {
    let postgres = postgres!();
    let store = postgres.fresh().await;
    commit(&store, vec![put("num!a", 1)]).await.expect("no conflict");
    let options = Options::new().kinds(["plugin"]);
    let more =
        PostgresStore::open(&postgres.url(&postgres.schema()), options).await.expect("it can be opened");
    let record = Value::Json(br#"{"b":[1,2]}"#.to_vec().into());
    commit(&more, vec![Op::Put("plugin!x".into(), record)]).await.expect("no conflict");
    assert_eq!(now(&more, "num!a").await, 1);
    let sql = format!("SELECT doc->'b'->>1 FROM {}.r_plugin WHERE k = 'plugin!x'", postgres.schema());
    assert_eq!(postgres.admin().await.query_one(&sql, &[]).await.unwrap().get::<_, &str>(0), "2");
}

#[tokio::test]
async fn sql_views_show_spaces_members_and_sites() {
    let postgres = postgres!();
    let store = postgres.fresh().await;
    let record =
        |key: &str, json: serde_json::Value| Op::Put(key.into(), Value::Json(json.to_string().into()));
    let changes = vec![
        record(
            "spc!s1",
            serde_json::json!({"id": "s1", "organization": "o1", "title": "Guide", "default_level": "reader",
                "created_at": "2025-01-01T00:00:00.000Z", "deleted_at": "2025-01-02T00:00:00.000Z"}),
        ),
        record("usr!u1", serde_json::json!({"id": "u1", "display_name": "Ada", "email": "ada@example.com"})),
        record("mem!o1!u1", serde_json::json!({"organization": "o1", "user": "u1", "role": "admin"})),
        record("mem!o1!u2", serde_json::json!({"organization": "o1", "user": "u2", "role": null})),
        record(
            "site!t1",
            serde_json::json!({"id": "t1", "organization": "o1", "title": "Docs", "published": true,
                "visibility": "public"}),
        ),
    ];
    commit(&store, changes).await.expect("no conflict");
    let admin = postgres.admin().await;
    admin.batch_execute(&format!("SET search_path = {}", postgres.schema())).await.unwrap();
    let seen =
        async |sql: &str| admin.query_one(sql, &[]).await.expect("the view is there").get::<_, String>(0);
    let space = "SELECT concat_ws(' ', id, organization, title, default_level, extract(day FROM deleted_at)) FROM v_space";
    assert_eq!(seen(space).await, "s1 o1 Guide reader 2");
    let members = "SELECT string_agg(concat_ws(' ', organization, \"user\", email, name, role), ', ' ORDER BY 1) FROM v_member";
    assert_eq!(seen(members).await, "o1 u1 ada@example.com Ada admin, o1 u2");
    let sites = "SELECT concat_ws(' ', id, organization, title, published, visibility) FROM v_site";
    assert_eq!(seen(sites).await, "t1 o1 Docs t public");
}

/// In-memory blobs.
#[derive(Clone, Default)]
struct Shelf(Arc<Mutex<BTreeMap<String, Bytes>>>);

#[async_trait]
impl Blobs for Shelf {
    async fn put(&self, name: &str, bytes: Bytes) -> StoreResult<()> {
        self.0.lock().insert(name.to_owned(), bytes);
        Ok(())
    }
    async fn get(&self, name: &str) -> StoreResult<Option<Bytes>> {
        Ok(self.0.lock().get(name).cloned())
    }
    async fn delete(&self, name: &str) -> StoreResult<()> {
        self.0.lock().remove(name);
        Ok(())
    }
    async fn list(&self, folder: &str) -> StoreResult<Vec<Blob>> {
        let blobs = self.0.lock();
        let below =
            blobs.keys().filter(|name| name.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')));
        Ok(below.map(|name| Blob { name: name.clone(), stored_at: chrono::DateTime::UNIX_EPOCH }).collect())
    }
}

#[tokio::test]
async fn large_objects_are_stored_as_blobs_until_deleted() {
    let postgres = postgres!();
    let schema = postgres.new_schema().await;
    let shelf = Shelf::default();
    let options = postgres.options().blobs(Arc::new(shelf.clone()));
    let store = PostgresStore::open(&postgres.url(&schema), options).await.expect("the store can be opened");
    let objects = store.objects();
    let object = |len: usize| {
        let bytes = Bytes::from(vec![7; len]);
        (Hash::compute(&bytes), bytes)
    };
    let (small, large) = (object(128 * 1024), object(128 * 1024 + 1));
    for _ in 0..2 {
        objects.put("d", &[small.clone(), large.clone()]).await.expect("the hashes fit");
        assert_eq!(shelf.0.lock().len(), 1);
        let found = objects.get("d", &[large.0, small.0]).await.expect("both are there");
        assert!(found == [Some(large.1.clone()), Some(small.1.clone())]);
        // An interrupted sweep: the row is condemned, but the blob still exists.
        let sql = format!("UPDATE {schema}.obj SET dying = true WHERE loc IS NOT NULL");
        postgres.admin().await.batch_execute(&sql).await.expect("the table is there");
        assert_eq!(objects.get("d", &[large.0]).await, Ok(vec![None]));
        objects.put("d", std::slice::from_ref(&large)).await.expect("the hash fits");
        assert_eq!(objects.get("d", &[large.0]).await, Ok(vec![Some(large.1.clone())]));
        assert_eq!(shelf.0.lock().len(), 2);
        // The name of the condemned blob was deleted with its row, so the blob is unreferenced.
        let kept = format!("SELECT loc FROM {schema}.obj WHERE loc IS NOT NULL");
        let kept: String = postgres.admin().await.query_one(&kept, &[]).await.unwrap().get(0);
        shelf.0.lock().retain(|name, _| *name == kept);
        objects.delete("d", &[large.0, small.0], Duration::ZERO).await.expect("the server is there");
        assert!(shelf.0.lock().is_empty());
        assert_eq!(objects.list("d", None, Duration::ZERO, 10).await, Ok(vec![]));
    }
    let straight =
        PostgresStore::open(&postgres.url(&schema), postgres.options()).await.expect("it can be opened");
    objects.put("d", std::slice::from_ref(&large)).await.expect("the hash fits");
    let unread = straight.objects().get("d", &[large.0]).await;
    assert!(matches!(unread, Err(StoreError::Unavailable(_))), "{unread:?}");
    drop(begin(&straight, Mode::Read).await);
}

#[tokio::test]
async fn page_view_shows_the_active_revision() {
    let postgres = postgres!();
    let store = postgres.fresh().await;
    let platform = Platform::builder(Arc::new(store.clone()), Arc::new(store.objects())).build();
    views::fill(&platform).await;
    let schema = postgres.schema();
    let sql = format!(
        "SELECT kind, p.title, slug, markdown FROM {schema}.v_page p JOIN {schema}.v_space s ON s.id = space ORDER BY rank"
    );
    let admin = postgres.admin().await;
    // The views read the tables of the schema where they were created.
    let rows = admin.query(&sql, &[]).await.expect("the view can be read");
    let found: Vec<views::Shown> =
        rows.iter().map(|row| (row.get(0), row.get(1), row.get(2), row.get(3))).collect();
    assert_eq!(found, views::expected());
}
