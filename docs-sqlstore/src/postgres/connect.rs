//! Connections: where the database is, and what each session is told.

use std::{fmt::Write as _, time::Duration};

use deadpool_postgres::{Hook, HookError, Manager, Pool, Runtime};
use docs_store::MAX_TXN;
use tokio_postgres::{
    Config, Socket,
    config::Host,
    tls::{MakeTlsConnect, TlsConnect},
};

use crate::options::{OpenError, Options};

/// After how long without an acknowledgement what was sent counts as lost, where the address says nothing.
const TCP_TIMEOUT: Duration = Duration::from_secs(15);
/// After how long without a word a connection is probed, where the address says nothing.
const KEEPALIVE: Duration = Duration::from_secs(30);
/// The name under which a store shows in `pg_stat_activity`, where the address says nothing.
const NAME: &str = "docs-sqlstore";

/// What a session is told when it is opened.
///
/// - A transaction depends on what its plans walk over, so they walk indexes, and no statement is planned twice.
/// - Statements that are sent behind a BEGIN would be carried out one by one if that failed: outside of a transaction
///   nothing can write.
/// - Nothing is waited for without an end.
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

/// Reads an address.
pub(super) fn config(url: &str, options: &Options) -> Result<Config, OpenError> {
    // The text of the error names options, never their values.
    let mut config: Config = url.parse().map_err(|e: tokio_postgres::Error| {
        OpenError::Address(format!("{e}: postgres://user:password@host:port/database is one"))
    })?;
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        return Err(OpenError::Address("it names no host".into()));
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(options.busy_timeout());
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(TCP_TIMEOUT);
    }
    if config.get_keepalives_idle() == Config::new().get_keepalives_idle() {
        config.keepalives_idle(KEEPALIVE);
    }
    if config.get_application_name().is_none() {
        config.application_name(NAME);
    }
    // Credentials end at the first `@`: what follows it is a part of the password, and not to be repeated.
    let split = |host: &Host| matches!(host, Host::Tcp(name) if name.contains('@'));
    if config.get_hosts().iter().any(split) {
        return Err(OpenError::Address("the password has an `@`: write it as %40".into()));
    }
    Ok(config)
}

/// Gives servers that are known by their numbers only these as names: TLS has to know whom it speaks to.
#[cfg(feature = "tls")]
pub(super) fn name_addresses(config: &mut Config) {
    if config.get_hosts().is_empty() {
        for address in config.get_hostaddrs().to_vec() {
            config.host(address.to_string());
        }
    }
}

/// Refuses an address that asks for encryption where there is none.
#[cfg(not(feature = "tls"))]
pub(super) fn check_plain(config: &Config) -> Result<(), OpenError> {
    use tokio_postgres::config::SslMode;

    match config.get_ssl_mode() {
        SslMode::Disable | SslMode::Prefer => Ok(()),
        _ => Err(OpenError::Address(
            "it asks for TLS, which needs the feature `tls` or a connector: see `PostgresStore::open_with_tls`".into(),
        )),
    }
}

/// The database and its servers, for messages.
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

/// A pool that opens connections when they are needed.
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
        .max_size(options.the_connections())
        .runtime(Runtime::Tokio1)
        .post_create(Hook::async_fn(move |client, _| {
            let settings = settings.clone();
            Box::pin(async move { client.batch_execute(&settings).await.map_err(HookError::Backend) })
        }))
        .build()
        .map_err(|e| OpenError::Unusable { place, why: e.to_string() })
}
