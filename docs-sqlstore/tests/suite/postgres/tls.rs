//! TLS modes in the URL, tested with a server that reports whether the connection was encrypted, and with the real
//! server if it supports TLS.

use std::sync::Arc;

use docs_sqlstore::{Options, PostgresStore};
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};
use tokio_postgres::NoTls;
use tokio_rustls::TlsAcceptor;

const FILES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tls");
/// Protocol code of a TLS request.
const SSL_REQUEST: u32 = 80_877_103;
const PLAIN: &str = "spoken to in plain";
const SECRET: &str = "spoken to in secret";

/// Creates the TLS acceptor for a certificate, or `None` to reject TLS.
fn acceptor(certificate: Option<&str>) -> Option<TlsAcceptor> {
    let chain = CertificateDer::pem_file_iter(format!("{FILES}/{}", certificate?)).expect("a file");
    let chain = chain.collect::<Result<Vec<_>, _>>().expect("certificates");
    let key = PrivateKeyDer::from_pem_file(format!("{FILES}/server.key")).expect("a key");
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .expect("a certificate and its key");
    Some(TlsAcceptor::from(Arc::new(config)))
}

/// Reads the startup message. Returns its code.
async fn begin(stream: &mut (impl AsyncRead + Unpin)) -> Option<u32> {
    let length = stream.read_u32().await.ok()?;
    let code = stream.read_u32().await.ok()?;
    let mut rest = vec![0; usize::try_from(length).ok()?.checked_sub(8)?.min(10_000)];
    stream.read_exact(&mut rest).await.ok()?;
    Some(code)
}

/// Rejects a session with a message.
async fn refuse(stream: &mut (impl AsyncWrite + Unpin), sentence: &str) {
    let fields = format!("SFATAL\0VFATAL\0C28000\0M{sentence}\0\0");
    let length = u32::try_from(fields.len() + 4).expect("a short sentence");
    // The client may have disconnected.
    let _ = stream.write_all(&[b"E", &length.to_be_bytes()[..], fields.as_bytes()].concat()).await;
    let _ = stream.shutdown().await;
}

async fn serve(mut stream: TcpStream, tls: Option<TlsAcceptor>) -> Option<()> {
    let mut code = begin(&mut stream).await?;
    if code == SSL_REQUEST {
        if let Some(tls) = tls {
            stream.write_all(b"S").await.ok()?;
            let mut stream = tls.accept(stream).await.ok()?;
            begin(&mut stream).await?;
            refuse(&mut stream, SECRET).await;
            return Some(());
        }
        stream.write_all(b"N").await.ok()?;
        code = begin(&mut stream).await?;
    }
    assert_ne!(code, SSL_REQUEST, "asked twice");
    refuse(&mut stream, PLAIN).await;
    Some(())
}

/// Opens a store on a test server with this certificate, and returns the resulting message.
async fn said(certificate: Option<&str>, host: &str, options: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("it is known").port();
    let tls = acceptor(certificate);
    let server = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, tls.clone()));
        }
    });
    let url = format!("postgres://docs:hunter2@{host}:{port}/docs?{options}");
    let refused = PostgresStore::open(&url, Options::new()).await.map(drop).expect_err("it serves nobody");
    server.abort();
    let text = refused.to_string();
    assert!(!text.contains("hunter2"), "{text}");
    text
}

fn roots(file: &str) -> String {
    format!("sslrootcert={FILES}/{file}")
}

#[tokio::test]
async fn without_server_tls_only_optional_modes_connect() {
    for options in ["", "sslmode=prefer", "sslmode=disable", &roots("ca.pem")] {
        let said = said(None, "localhost", options).await;
        assert!(said.contains(PLAIN), "{options}: {said}");
    }
    for mode in ["require", "verify-ca", "verify-full"] {
        let said = said(None, "localhost", &format!("sslmode={mode}")).await;
        assert!(said.contains("server does not support TLS") && said.contains("`sslmode`"), "{mode}: {said}");
    }
}

#[tokio::test]
async fn connection_is_encrypted_if_offered_and_not_disabled() {
    for options in ["", "sslmode=prefer", "sslmode=require"] {
        for certificate in ["server.pem", "self.pem", "ended.pem"] {
            let said = said(Some(certificate), "127.0.0.1", options).await;
            assert!(said.contains(SECRET), "{certificate} {options}: {said}");
        }
    }
    let said = said(Some("server.pem"), "localhost", "sslmode=disable&sslrootcert=/nowhere").await;
    assert!(said.contains(PLAIN), "{said}");
}

#[tokio::test]
async fn certificate_must_chain_to_a_trusted_root_if_required() {
    for (certificate, options, part) in [
        ("server.pem", format!("sslmode=verify-ca&{}", roots("ca.pem")), SECRET),
        ("server.pem", format!("sslmode=require&{}", roots("ca.pem")), SECRET),
        ("server.pem", roots("ca.pem"), SECRET),
        ("self.pem", format!("sslmode=verify-ca&{}", roots("self.pem")), SECRET),
        ("server.pem", format!("sslmode=verify-ca&{}", roots("self.pem")), "invalid peer certificate"),
        ("server.pem", format!("sslmode=require&{}", roots("self.pem")), "invalid peer certificate"),
        ("server.pem", roots("self.pem"), "invalid peer certificate"),
        ("self.pem", format!("sslmode=verify-ca&{}", roots("ca.pem")), "invalid peer certificate"),
        ("ended.pem", format!("sslmode=verify-ca&{}", roots("ended.pem")), "expired"),
        // The issuer is not one of the Mozilla roots.
        ("server.pem", "sslmode=verify-ca".to_owned(), "invalid peer certificate"),
        ("server.pem", "sslrootcert=system".to_owned(), "invalid peer certificate"),
    ] {
        // Any of the certificate's names is accepted.
        let said = said(Some(certificate), "127.0.0.1", &options).await;
        assert!(said.to_lowercase().contains(part), "{certificate} {options}: {said}");
    }
}

#[tokio::test]
async fn verify_full_requires_a_certificate_for_the_host() {
    for (certificate, root) in [("server.pem", "ca.pem"), ("self.pem", "self.pem")] {
        let options = format!("sslmode=verify-full&{}", roots(root));
        let good = said(Some(certificate), "localhost", &options).await;
        assert!(good.contains(SECRET), "{certificate}: {good}");
        let other = said(Some(certificate), "127.0.0.1", &options).await;
        assert!(
            other.contains("invalid peer certificate") && other.contains("name"),
            "{certificate}: {other}"
        );
    }
}

/// `.ci/postgres` starts a server with TLS if `openssl` is available.
#[tokio::test]
async fn connections_are_encrypted_unless_tls_is_disabled() {
    let postgres = postgres!();
    let ssl = postgres.admin().await.query_one("SHOW ssl", &[]).await.expect("a setting");
    if ssl.get::<_, String>(0) != "on" {
        println!("not run: the server has no TLS");
        return;
    }
    let schema = postgres.new_schema().await;
    for (mode, expected) in [("require", true), ("disable", false), ("prefer", true)] {
        let url = format!("{}&sslmode={mode}", postgres.url(&schema));
        let store = PostgresStore::open(&url, postgres.options()).await.expect("the store can be opened");
        let (admin, connection) =
            tokio_postgres::connect(&postgres.server, NoTls).await.expect("it is there");
        tokio::spawn(connection);
        let sql = "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = $1";
        let row = admin.query_one(sql, &[&schema]).await.expect("sessions are listed");
        assert_eq!(row.get::<_, Option<bool>>(0), Some(expected), "{mode}");
        drop(store);
        postgres.kill().await;
    }
}
