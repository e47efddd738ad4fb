//! Certificate keys, and signature and digest algorithms.

use std::ops::RangeInclusive;

use data_encoding::BASE64;
use docs_ports::SamlRefused;
use ring::{digest, signature};
use x509_cert::{
    Certificate,
    der::{
        Decode as _, Encode as _, Reader as _, SliceReader,
        asn1::{ObjectIdentifier, UintRef},
    },
};

use crate::refusal::refuse;

/// An RSA key (RFC 8017).
const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
/// An elliptic curve key (RFC 5480).
const EC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
const P256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");
const P384: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.34");

/// Permitted RSA modulus sizes in bytes. Signatures by other keys are rejected.
const RSA_BYTES: RangeInclusive<usize> = 2_048 / 8..=8_192 / 8;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum KeyKind {
    Rsa,
    P256,
    P384,
}

/// Supported signature algorithms, by XML identifier (RFC 9231). All others are rejected, including SHA-1.
const SIGNATURES: &[(&str, KeyKind, &dyn signature::VerificationAlgorithm)] = &[
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

/// An identity provider's public key.
pub(crate) struct PublicKey {
    kind: KeyKind,
    bytes: Vec<u8>,
}

impl PublicKey {
    /// Reads the key from a certificate, in PEM or plain base64-encoded DER. The certificate is trusted because an
    /// administrator of the organization configured it. Its issuer and validity period would add no trust, so they are
    /// not checked.
    pub(crate) fn of_certificate(text: &str) -> Result<Self, SamlRefused> {
        let unreadable = || refuse("the certificate of the provider is not readable; paste it again");
        let body = text.trim().trim_start_matches("-----BEGIN CERTIFICATE-----");
        let body = body.trim_end_matches("-----END CERTIFICATE-----");
        let der = base64(body).ok_or_else(unreadable)?;
        let certificate = Certificate::from_der(&der).map_err(|_| unreadable())?;
        let info = certificate.tbs_certificate.subject_public_key_info;
        let curve = || -> Option<ObjectIdentifier> {
            let curve = info.algorithm.parameters.as_ref()?.to_der().ok()?;
            ObjectIdentifier::from_der(&curve).ok()
        };
        let kind = match info.algorithm.oid {
            RSA => Some(KeyKind::Rsa),
            EC if curve() == Some(P256) => Some(KeyKind::P256),
            EC if curve() == Some(P384) => Some(KeyKind::P384),
            _ => None,
        };
        let kind = kind.ok_or_else(|| {
            refuse("the key of the provider's certificate must be RSA, or ECDSA on the curve P-256 or P-384")
        })?;
        let bytes = info.subject_public_key.as_bytes().ok_or_else(unreadable)?;
        if kind == KeyKind::Rsa {
            let modulus = modulus_bytes(bytes).ok_or_else(unreadable)?;
            if modulus < *RSA_BYTES.start() {
                return Err(refuse(format!(
                    "the RSA key of the provider's certificate must be at least {} bits",
                    8 * RSA_BYTES.start()
                )));
            }
            if modulus > *RSA_BYTES.end() {
                return Err(refuse(format!(
                    "the RSA key of the provider's certificate must be at most {} bits",
                    8 * RSA_BYTES.end()
                )));
            }
        }
        Ok(Self { kind, bytes: bytes.to_vec() })
    }

    /// Verifies the signature of some bytes.
    pub(crate) fn verify(&self, algorithm: &str, signed: &[u8], signature: &[u8]) -> Result<(), SamlRefused> {
        let found = SIGNATURES.iter().find(|(name, _, _)| *name == algorithm);
        let (_, kind, verification) = found.ok_or_else(|| {
            refuse("its signature algorithm is not supported; sign with RSA or ECDSA and SHA-256")
        })?;
        if *kind != self.kind {
            return Err(refuse(
                "its signature algorithm does not match the key of the provider's certificate",
            ));
        }
        signature::UnparsedPublicKey::new(*verification, &self.bytes)
            .verify(signed, signature)
            .map_err(|_| refuse("its signature does not verify with the key of the provider's certificate"))
    }
}

/// Returns the modulus size of an RSA key in bytes, given the key in the encoding used in certificates (RFC 8017,
/// A.1.1).
fn modulus_bytes(key: &[u8]) -> Option<usize> {
    let mut reader = SliceReader::new(key).ok()?;
    let modulus = reader.sequence(|parts| {
        let modulus = UintRef::decode(parts)?;
        UintRef::decode(parts)?;
        Ok(modulus.as_bytes().len())
    });
    modulus.ok()
}

/// Computes a digest with the algorithm that an XML identifier denotes.
pub(crate) fn digest_of(algorithm: &str, bytes: &[u8]) -> Result<digest::Digest, SamlRefused> {
    let found = DIGESTS.iter().find(|(name, _)| *name == algorithm);
    let (_, found) = found
        .ok_or_else(|| refuse("its digest algorithm is not supported; use SHA-256, SHA-384 or SHA-512"))?;
    Ok(digest::digest(found, bytes))
}

/// Decodes base64, ignoring whitespace.
pub(crate) fn base64(text: &str) -> Option<Vec<u8>> {
    let compact: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    BASE64.decode(&compact).ok()
}
