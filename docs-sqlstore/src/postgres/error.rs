//! Conversion of database errors to store errors.

use std::error::Error as _;

use deadpool_postgres::PoolError;
use docs_store::StoreError;
use tokio_postgres::Error;

use super::txn_purpose::TxnPurpose;

/// Converts an error that is not the reply to COMMIT, and therefore means that nothing was applied.
pub(super) fn store_error(error: &Error, work: TxnPurpose) -> StoreError {
    let Some(db) = error.as_db_error() else {
        return StoreError::Unavailable(format!("{}: try again", describe(error)));
    };
    let code = db.code().code();
    match code {
        // Serialization failure, deadlock, lock timeout, and subsequent errors in the same transaction.
        "40001" | "40P01" | "55P03" | "25P02" if work == TxnPurpose::Write => StoreError::Conflict,
        "22003" => StoreError::Misuse("a counter exceeds 64 bits"),
        "XX001" | "XX002" => StoreError::Corrupt(describe(error)),
        _ => match &code[..2] {
            "22" => StoreError::Misuse("a value contains text that is not Unicode"),
            "54" => StoreError::TooLarge("a batch or a value exceeds the limits of the database"),
            _ => StoreError::Unavailable(format!("{}: {}", describe(error), advice(code))),
        },
    }
}

/// Returns the message for a failed connection attempt, including the remedy.
pub(super) fn connection_message(error: &PoolError) -> String {
    let PoolError::Backend(error) = error else { return error.to_string() };
    let said = describe(error);
    let advice = match error.code() {
        Some(code) => advice(code.code()),
        // The client library has no other indication of this failure.
        None if said.starts_with("error performing TLS handshake") => {
            "check that the server supports TLS, and `sslmode` and `sslrootcert` of the address"
        }
        None => "check that the server is running, and the address",
    };
    format!("{said}: {advice}")
}

/// Formats the database's message with its code.
pub(super) fn describe(error: &Error) -> String {
    match (error.as_db_error(), error.source()) {
        (Some(db), _) => format!("error of the database: {} (SQLSTATE {})", db.message(), db.code().code()),
        (None, Some(source)) => format!("{error}: {source}"),
        (None, None) => error.to_string(),
    }
}

fn advice(code: &str) -> &'static str {
    match code {
        "53300" => "raise its max_connections, or use fewer connections per store",
        "53100" => "free space on its full disk",
        "53200" => "give it more memory, or use fewer connections",
        "55P03" => "try again, or find the session that holds the lock in pg_locks",
        "57014" => "the statement took too long or was cancelled; try again",
        "25P03" => "the transaction was open for too long; start again",
        "25006" => "it is a standby; use the address of the primary",
        "28000" | "28P01" => "check the user and the password",
        "3D000" => "create the database",
        "42501" => "grant the user of the store the permissions on the schema and its tables",
        "42P01" | "42703" | "3F000" => {
            "tables of the store are missing or altered; restore them, then open the store again"
        }
        _ if code.starts_with("57P") => "it is stopping or starting; try again",
        _ => "try again",
    }
}
