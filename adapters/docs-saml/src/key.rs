//! Keys of certificates.

use std::ops::RangeInclusive;

use data_encoding::BASE64;
use docs_ports::SamlRefused;
use ring::signature;
use x509_cert::{
    Certificate,
    der::{
        Decode as _, Encode as _, Reader as _, SliceReader,
        asn1::{ObjectIdentifier, UintRef},
    },
};

use crate::{
    algorithms::{KeyKind, SIGNATURES},
    refusal::refuse,
};

/// An RSA key (RFC 8017).
const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
/// An elliptic curve key (RFC 5480).
const EC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
const P256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");
const P384: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.34");

/// Permitted RSA modulus sizes in bytes. Signatures by other keys are rejected.
const RSA_BYTES: RangeInclusive<usize> = 2_048 / 8..=8_192 / 8;

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

/// Decodes base64, ignoring whitespace.
pub(crate) fn base64(text: &str) -> Option<Vec<u8>> {
    let compact: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    BASE64.decode(&compact).ok()
}
