//! Connections: URL, pool and session settings.

use std::{fmt::Write as _, time::Duration};

use deadpool_postgres::{Hook, HookError, Manager, Pool, Runtime};
use docs_store::MAX_TXN;
use tokio_postgres::{
    Config, Socket,
    config::Host,
    tls::{MakeTlsConnect, TlsConnect},
};

use crate::options::{OpenError, Options};

/// Default of `tcp_user_timeout`: unacknowledged data older than this counts as lost.
const TCP_TIMEOUT: Duration = Duration::from_secs(15);
/// Default of `keepalives_idle`: idle time before a connection is probed.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(30);
/// Default of `application_name`, shown in `pg_stat_activity`.
const APPLICATION_NAME: &str = "docs-sqlstore";

/// Settings of each new session.
///
/// - A transaction conflicts on all rows that its query plans visit, so plans must use indexes. Statements are planned
///   once.
/// - If `BEGIN` fails, the statements sent after it run individually. Writes are therefore disabled outside a
///   transaction.
/// - Every wait has a timeout.
pub(super) const SETTINGS: &str = "\
    SET enable_seqscan = off; \
    SET enable_bitmapscan = off; \
    SET enable_hashagg = off; \
    SET plan_cache_mode = force_generic_plan; \
    SET jit = off; \
    SET default_transaction_read_only = on; \
    SET idle_in_transaction_session_timeout = '10s'; \
    SET statement_timeout = '25s'; \
    SET client_min_messages = warning;";

/// Parses a database URL.
pub(super) fn config(url: &str, options: &Options) -> Result<Config, OpenError> {
    // The error message contains option names but never their values.
    let mut config: Config = url.parse().map_err(|e: tokio_postgres::Error| {
        OpenError::Address(format!("{e}; use a form like postgres://user:password@host:port/database"))
    })?;
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        return Err(OpenError::Address("it has no host".into()));
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(options.busy_timeout());
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(TCP_TIMEOUT);
    }
    if config.get_keepalives_idle() == Config::new().get_keepalives_idle() {
        config.keepalives_idle(KEEPALIVE_IDLE);
    }
    if config.get_application_name().is_none() {
        config.application_name(APPLICATION_NAME);
    }
    // Credentials end at the first `@`. A second `@` means that the host contains a part of the password, which must
    // not be repeated.
    let split = |host: &Host| matches!(host, Host::Tcp(name) if name.contains('@'));
    if config.get_hosts().iter().any(split) {
        return Err(OpenError::Address("an `@` in the password must be written as %40".into()));
    }
    Ok(config)
}

/// Adds numeric addresses as host names, because TLS needs a name to verify.
#[cfg(feature = "tls")]
pub(super) fn name_addresses(config: &mut Config) {
    if config.get_hosts().is_empty() {
        for address in config.get_hostaddrs().to_vec() {
            config.host(address.to_string());
        }
    }
}

/// Rejects a URL that requires encryption, which this build does not support.
#[cfg(not(feature = "tls"))]
pub(super) fn check_plain(config: &Config) -> Result<(), OpenError> {
    use tokio_postgres::config::SslMode;

    match config.get_ssl_mode() {
        SslMode::Disable | SslMode::Prefer => Ok(()),
        _ => Err(OpenError::Address(
            "it requires TLS, which needs the feature `tls` or `PostgresStore::open_with_tls`".into(),
        )),
    }
}

/// Describes the database and its servers, for messages.
pub(super) fn place(config: &Config) -> String {
    let mut place = format!("`{}` on ", config.get_dbname().or(config.get_user()).unwrap_or_default());
    let ports = config.get_ports();
    let port = |n: usize| ports.get(n).or(ports.first()).copied().unwrap_or(5432);
    let hosts = config.get_hosts().iter().map(|host| match host {
        Host::Tcp(name) => name.clone(),
        #[cfg(unix)]
        Host::Unix(path) => path.display().to_string(),
    });
    let addresses = config.get_hostaddrs().iter().map(ToString::to_string);
    let all: Vec<String> = if config.get_hosts().is_empty() { addresses.collect() } else { hosts.collect() };
    for (n, host) in all.iter().enumerate() {
        let comma = if n == 0 { "" } else { ", " };
        let _ = write!(place, "{comma}{host}:{}", port(n));
    }
    place
}

/// Creates a pool that opens connections on demand.
pub(super) fn pool<T>(config: Config, options: &Options, tls: T) -> Result<Pool, OpenError>
where
    T: MakeTlsConnect<Socket> + Clone + Send + Sync + 'static,
    T::Stream: Send + Sync,
    T::TlsConnect: Send + Sync,
    <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
{
    let place = place(&config);
    let lock_wait = options.busy_timeout().clamp(Duration::from_millis(1), MAX_TXN);
    let settings = format!("{SETTINGS} SET lock_timeout = '{}ms';", lock_wait.as_millis());
    Pool::builder(Manager::new(config, tls))
        .max_size(options.max_connections())
        .runtime(Runtime::Tokio1)
        .post_create(Hook::async_fn(move |client, _| {
            let settings = settings.clone();
            Box::pin(async move { client.batch_execute(&settings).await.map_err(HookError::Backend) })
        }))
        .build()
        .map_err(|e| OpenError::Unusable { place, why: e.to_string() })
}
