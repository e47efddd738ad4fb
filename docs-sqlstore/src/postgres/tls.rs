//! TLS connections according to `sslmode` and `sslrootcert` in the URL. The modes are those of libpq:
//!
//! | `sslmode` | encrypted | server certificate |
//! |---|---|---|
//! | `disable` | never | |
//! | `prefer` (default) | if the server supports it | not verified without `sslrootcert` |
//! | `require` | always | not verified without `sslrootcert` |
//! | `verify-ca` | always | chains to a trusted root |
//! | `verify-full` | always | chains to a trusted root and matches the host name in the URL |
//!
//! `sslrootcert` is a PEM file with trusted certificates, or `system`, which requires `verify-full`. Without it, the
//! compiled-in Mozilla roots are trusted. The file may contain the server's own certificate. If a certificate is
//! rejected, the connection fails; `prefer` does not fall back to an unencrypted connection.

use std::{borrow::Cow, path::Path, sync::Arc};

use percent_encoding::percent_decode_str;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        verify_server_name,
    },
    crypto::{
        CryptoProvider, WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature,
    },
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject},
    server::ParsedCertificate,
};
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;
use x509_cert::{Certificate, der::Decode as _};

use crate::options::OpenError;

/// ALPN name of the PostgreSQL protocol.
const ALPN: &[u8] = b"postgresql";
/// Maximum size of a certificate file in bytes.
const MAX_ROOTS_BYTES: u64 = 4 * 1024 * 1024;

/// TLS options of a URL.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct TlsOptions {
    mode: Mode,
    roots: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    Disable,
    Prefer,
    Require,
    VerifyCa,
    VerifyFull,
}

impl TlsOptions {
    /// Returns the mode for the client library, which does not verify certificates itself.
    pub(super) fn ssl_mode(&self) -> SslMode {
        match self.mode {
            Mode::Disable => SslMode::Disable,
            Mode::Prefer => SslMode::Prefer,
            Mode::Require | Mode::VerifyCa | Mode::VerifyFull => SslMode::Require,
        }
    }
}

/// Splits `sslmode` and `sslrootcert` from a URL.
pub(super) fn split(url: &str) -> Result<(String, TlsOptions), OpenError> {
    // Same as in the client library: credentials end at the first `@`, host and database at the next `?`.
    let host = url.find('@').map_or(0, |at| at + 1);
    let Some(query) = url[host..].find('?').map(|at| host + at + 1) else {
        return Ok((url.to_owned(), TlsOptions { mode: Mode::Prefer, roots: None }));
    };
    let (mut mode, mut roots, mut others) = (None, None, Vec::new());
    for pair in url[query..].split('&') {
        let (option, value) = pair.split_once('=').unwrap_or((pair, ""));
        match &*percent_decode_str(option).decode_utf8_lossy() {
            "sslmode" => mode = Some(read_mode(&decode_option(value, "sslmode")?)?),
            "sslrootcert" => roots = Some(decode_option(value, "sslrootcert")?.into_owned()),
            _ => others.push(pair),
        }
    }
    let roots = roots.filter(|roots| !roots.is_empty());
    let is_system = roots.as_deref() == Some(SYSTEM_ROOTS);
    let mode = match mode {
        None if is_system => Mode::VerifyFull,
        Some(weaker) if is_system && weaker != Mode::VerifyFull => {
            return Err(OpenError::Address("`sslrootcert=system` requires `sslmode=verify-full`".into()));
        }
        mode => mode.unwrap_or(Mode::Prefer),
    };
    let rest = if others.is_empty() { &url[..query - 1] } else { &url[..query] };
    Ok((format!("{rest}{}", others.join("&")), TlsOptions { mode, roots }))
}

/// The `sslrootcert` value for the compiled-in roots.
const SYSTEM_ROOTS: &str = "system";

fn decode_option<'a>(value: &'a str, option: &str) -> Result<Cow<'a, str>, OpenError> {
    percent_decode_str(value)
        .decode_utf8()
        .map_err(|_| OpenError::Address(format!("`{option}` must be UTF-8 text")))
}

fn read_mode(text: &str) -> Result<Mode, OpenError> {
    Ok(match text {
        "disable" => Mode::Disable,
        "prefer" => Mode::Prefer,
        "require" => Mode::Require,
        "verify-ca" => Mode::VerifyCa,
        "verify-full" => Mode::VerifyFull,
        _ => {
            return Err(OpenError::Address(
                "`sslmode` must be disable, prefer, require, verify-ca or verify-full".into(),
            ));
        }
    })
}

/// Creates the factory for encrypted connections.
pub(super) fn connector(options: &TlsOptions) -> Result<MakeRustlsConnect, OpenError> {
    let unusable = |error: Error| OpenError::Address(format!("failed to set up TLS: {error}"));
    let provider = Arc::new(ring::default_provider());
    let verifier = Verifier::new(options, &provider)?;
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(unusable)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    config.alpn_protocols = vec![ALPN.to_vec()];
    Ok(MakeRustlsConnect::new(config))
}

/// Verifies a server certificate as required by `sslmode`. Possession of the private key is always verified.
#[derive(Debug)]
struct Verifier {
    trust: Trust,
    algorithms: WebPkiSupportedAlgorithms,
}

#[derive(Debug)]
enum Trust {
    /// Any certificate.
    Any,
    /// A certificate that chains to a root.
    Chain {
        chain: Arc<WebPkiServerVerifier>,
        /// Certificates from the file, which may include the server's own.
        pinned: Vec<CertificateDer<'static>>,
        name: NameCheck,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum NameCheck {
    Skip,
    Host,
}

impl Verifier {
    fn new(options: &TlsOptions, provider: &Arc<CryptoProvider>) -> Result<Self, OpenError> {
        let algorithms = provider.signature_verification_algorithms;
        let name = if options.mode == Mode::VerifyFull { NameCheck::Host } else { NameCheck::Skip };
        let file = options.roots.as_deref().filter(|roots| *roots != SYSTEM_ROOTS);
        let is_verified = matches!(options.mode, Mode::VerifyCa | Mode::VerifyFull);
        if options.mode == Mode::Disable || file.is_none() && !is_verified {
            return Ok(Self { trust: Trust::Any, algorithms });
        }
        let pinned = file.map(|file| certificates(Path::new(file))).transpose()?.unwrap_or_default();
        let mut roots = RootCertStore::empty();
        if file.is_some() {
            roots.add_parsable_certificates(pinned.iter().cloned());
        } else {
            roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        }
        let chain = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
            .build()
            .map_err(|error| OpenError::Address(format!("sslrootcert: {error}")))?;
        Ok(Self { trust: Trust::Chain { chain, pinned, name }, algorithms })
    }
}

/// Reads the certificates in a file.
fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, OpenError> {
    let wrong = |why: &str| OpenError::Address(format!("sslrootcert {}: {why}", file.display()));
    let size = std::fs::metadata(file).map_err(|error| wrong(&error.to_string()))?;
    if !size.is_file() || size.len() > MAX_ROOTS_BYTES {
        return Err(wrong("must be a file of certificates"));
    }
    let text = std::fs::read(file).map_err(|error| wrong(&error.to_string()))?;
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    let all = all.map_err(|error| wrong(&error.to_string()))?;
    if all.is_empty() {
        return Err(wrong("must contain a certificate in PEM"));
    }
    Ok(all)
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Trust::Chain { chain, pinned, name } = &self.trust else {
            return Ok(ServerCertVerified::assertion());
        };
        // A self-signed certificate is a root and not an end-entity certificate, so chain verification would reject it.
        if pinned.iter().any(|pinned| pinned == end_entity) {
            check_period(end_entity, now)?;
            if *name == NameCheck::Host {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
            }
            return Ok(ServerCertVerified::assertion());
        }
        // The name is verified last, after all other checks have passed.
        match chain.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if *name == NameCheck::Skip => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, dss, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, dss, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// Rejects a certificate outside its validity period.
fn check_period(certificate: &CertificateDer<'_>, now: UnixTime) -> Result<(), Error> {
    let certificate = Certificate::from_der(certificate)
        .map_err(|_| Error::InvalidCertificate(CertificateError::BadEncoding))?;
    let validity = &certificate.tbs_certificate.validity;
    if now.as_secs() < validity.not_before.to_unix_duration().as_secs() {
        return Err(Error::InvalidCertificate(CertificateError::NotValidYet));
    }
    if now.as_secs() > validity.not_after.to_unix_duration().as_secs() {
        return Err(Error::InvalidCertificate(CertificateError::Expired));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tls_options_are_extracted_from_the_connection_url() {
        let options = |mode, roots: Option<&str>| TlsOptions { mode, roots: roots.map(str::to_owned) };
        for (url, rest, expected) in [
            ("postgres://h/db", "postgres://h/db", options(Mode::Prefer, None)),
            ("postgres://h/db?sslmode=disable", "postgres://h/db", options(Mode::Disable, None)),
            (
                "postgres://u:p?sslmode=x@h/db?a=b&sslmode=require&c=d%26",
                "postgres://u:p?sslmode=x@h/db?a=b&c=d%26",
                options(Mode::Require, None),
            ),
            (
                "postgres://h/db?sslrootcert=%2Fetc%2Fca%20.pem&sslmode=verify-ca",
                "postgres://h/db",
                options(Mode::VerifyCa, Some("/etc/ca .pem")),
            ),
            (
                "postgres://h?sslmode=verify-full&sslrootcert=",
                "postgres://h",
                options(Mode::VerifyFull, None),
            ),
            ("postgres://h?sslrootcert=system", "postgres://h", options(Mode::VerifyFull, Some("system"))),
            ("postgres://h?ssl%6dode=disable&sslmode=require", "postgres://h", options(Mode::Require, None)),
        ] {
            let (left, read) = split(url).expect("an address");
            assert_eq!((left.as_str(), read), (rest, expected), "{url}");
        }
    }

    #[test]
    fn invalid_tls_options_are_rejected_by_name() {
        for (url, part) in [
            ("postgres://h?sslmode=allow", "`sslmode` must be disable, prefer"),
            ("postgres://u:secret@h?sslmode=", "`sslmode`"),
            ("postgres://u:secret@h?sslmode=require&sslrootcert=system", "`sslmode=verify-full`"),
            ("postgres://u:secret@h?sslrootcert=%ff", "`sslrootcert`"),
        ] {
            let text = split(url).expect_err("refused").to_string();
            assert!(text.contains(part) && !text.contains("secret"), "{text}");
        }
        for (file, part) in [
            ("/nowhere/ca.pem", "sslrootcert /nowhere/ca.pem"),
            (concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"), "must contain a certificate"),
            (env!("CARGO_MANIFEST_DIR"), "must be a file"),
        ] {
            let options = TlsOptions { mode: Mode::Require, roots: Some(file.to_owned()) };
            let text = connector(&options).map(drop).expect_err("refused").to_string();
            assert!(text.contains(part), "{text}");
        }
    }
}
