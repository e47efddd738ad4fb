//! Tests of behavior that is not visible through the public API.

use docs_ports::{Ids as _, RandomIds, id_text};
use docs_store::{Batch, Mode, Op, Store as _, StoreError, Value};
use tokio_postgres::{NoTls, error::SqlState};

use super::{PostgresStore, txn_purpose::TxnPurpose};
use crate::Options;

/// Creates a store in a new schema, and returns it with a connection and the schema name for cleanup, or `None` if no
/// server is configured.
async fn fresh() -> Option<(PostgresStore, tokio_postgres::Client, String)> {
    let Ok(server) = std::env::var("DOCS_TEST_POSTGRES") else {
        println!("not run: DOCS_TEST_POSTGRES names no PostgreSQL server");
        return None;
    };
    let (admin, connection) = tokio_postgres::connect(&server, NoTls).await.expect("the server is there");
    tokio::spawn(connection);
    let schema = format!("docs_test_{}", id_text(RandomIds.next()));
    admin.batch_execute(&format!("CREATE SCHEMA {schema}")).await.expect("a schema can be made");
    let more = if server.contains('?') { '&' } else { '?' };
    let url = format!("{server}{more}options=-csearch_path%3D{schema}");
    let store = PostgresStore::open(&url, Options::new()).await.expect("the store can be opened");
    let drop = format!("SET client_min_messages = warning; DROP SCHEMA {schema} CASCADE");
    Some((store, admin, drop))
}

#[tokio::test]
async fn a_statement_outside_of_a_transaction_cannot_write() {
    let Some((store, admin, clean)) = fresh().await else { return };
    let client = store.0.pool.get().await.expect("the server is there");
    for sql in
        ["INSERT INTO ix (k) VALUES ('cf!a')", "DELETE FROM ix", "INSERT INTO ctr (k, n) VALUES ('ctr!a', 1)"]
    {
        let refused = client.execute(sql, &[]).await.expect_err("there is no transaction");
        assert_eq!(refused.code(), Some(&SqlState::READ_ONLY_SQL_TRANSACTION));
    }
    drop(client);
    // A commit after a failed BEGIN therefore applies nothing at all.
    let txn = store.begin(Mode::Write, &[]).await.expect("the server is there");
    txn.get(&["num!a".into()]).await.expect("reading is fine");
    let session = store.0.session(TxnPurpose::Write).await.expect("the server is there");
    session.fail_begin();
    let changes = ["cf!a", "cf!b"].map(|key| Op::Put(key.into(), Value::Unit)).to_vec();
    let plan = super::sql::BatchPlan::from_ops(&store.0.layout, &changes).expect("a batch");
    let refused = session
        .commit(plan.requests)
        .await
        .map(drop)
        .map_err(|refusal| refusal.into_store_error(TxnPurpose::Write));
    assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
    drop(session);
    txn.commit(Batch::default()).await.expect("nobody else was there");
    let read = store.begin(Mode::Read, &[]).await.expect("the server is there");
    assert!(
        read.get(&["cf!a".into(), "cf!b".into()]).await.expect("reading is fine").iter().all(Option::is_none)
    );
    drop(read);
    admin.batch_execute(&clean).await.expect("nobody uses the schema");
}
