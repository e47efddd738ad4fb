//! Accepted algorithms of signatures and digests.

use docs_ports::SamlRefused;
use ring::{digest, signature};

use crate::refusal::refuse;

/// The kinds of keys that sign responses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum KeyKind {
    Rsa,
    P256,
    P384,
}

/// Supported signature algorithms, by XML identifier (RFC 9231). All others are rejected, including SHA-1.
pub(crate) const SIGNATURES: &[(&str, KeyKind, &dyn signature::VerificationAlgorithm)] = &[
    (
        "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
        KeyKind::Rsa,
        &signature::RSA_PKCS1_2048_8192_SHA256,
    ),
    (
        "http://www.w3.org/2001/04/xmldsig-more#rsa-sha384",
        KeyKind::Rsa,
        &signature::RSA_PKCS1_2048_8192_SHA384,
    ),
    (
        "http://www.w3.org/2001/04/xmldsig-more#rsa-sha512",
        KeyKind::Rsa,
        &signature::RSA_PKCS1_2048_8192_SHA512,
    ),
    (
        "http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1",
        KeyKind::Rsa,
        &signature::RSA_PSS_2048_8192_SHA256,
    ),
    (
        "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256",
        KeyKind::P256,
        &signature::ECDSA_P256_SHA256_FIXED,
    ),
    (
        "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha384",
        KeyKind::P384,
        &signature::ECDSA_P384_SHA384_FIXED,
    ),
];

/// Supported digest algorithms, by XML identifier.
const DIGESTS: &[(&str, &digest::Algorithm)] = &[
    ("http://www.w3.org/2001/04/xmlenc#sha256", &digest::SHA256),
    ("http://www.w3.org/2001/04/xmldsig-more#sha384", &digest::SHA384),
    ("http://www.w3.org/2001/04/xmlenc#sha512", &digest::SHA512),
];

/// Computes a digest with the algorithm that an XML identifier denotes.
pub(crate) fn digest_of(algorithm: &str, bytes: &[u8]) -> Result<digest::Digest, SamlRefused> {
    let found = DIGESTS.iter().find(|(name, _)| *name == algorithm);
    let (_, found) = found
        .ok_or_else(|| refuse("its digest algorithm is not supported; use SHA-256, SHA-384 or SHA-512"))?;
    Ok(digest::digest(found, bytes))
}
