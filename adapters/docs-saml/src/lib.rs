//! SAML 2.0 service provider: verifies identity provider responses, and creates requests and metadata.
//!
//! `xml-sec` produces canonical XML, and `ring` checks digests and signatures. The rest is implemented in this crate,
//! and is stricter than the standards: there is one signature scheme, one form of reference, and one assertion.
//! Response data is read only from the canonical bytes that the signature covers, never from the original document,
//! which rules out signature wrapping (`decisions/0032-saml.md`).
//!
//! | module | contents |
//! |---|---|
//! | `refusal` | the error of a refused message |
//! | `scan` | document limits, checked before parsing |
//! | `xml` | element lookup and text extraction |
//! | `algorithms` | accepted algorithms of signatures and digests |
//! | `key` | keys of certificates |
//! | `signature` | signature verification, returning the signed bytes |
//! | `response` | verification of responses and assertions |
//! | `request` | requests and metadata |

mod algorithms;
mod key;
mod refusal;
mod request;
mod response;
mod scan;
mod signature;
mod xml;

use docs_model::{SamlService, Timestamp};
use docs_ports::{Saml, SamlIdentity, SamlRefused, SamlRequest, SamlTrust};

pub use self::response::{CLOCK_SKEW_SECONDS, MAX_RESPONSE_BYTES, MAX_VALIDITY_SECONDS};

/// The [`Saml`] port, implemented on XML.
///
/// # Example
/// ```
/// use docs_ports::{Saml, SamlTrust};
/// use docs_saml::XmlSaml;
///
/// let trust = SamlTrust {
///     issuer: "https://id.example.com".to_owned(),
///     certificate: "MAQwAgUA".to_owned(),
///     audience: "https://docs.example.com/saml/1".to_owned(),
///     recipient: "https://docs.example.com/saml/1/acs".to_owned(),
/// };
/// let now = chrono::DateTime::UNIX_EPOCH.into();
/// let refused = XmlSaml.verify(&trust, "PHJlc3BvbnNlLz4=", now).expect_err("it is no response");
/// assert_eq!(refused.to_string(), "it is not a SAML 2.0 Response");
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct XmlSaml;

impl Saml for XmlSaml {
    fn verify(&self, trust: &SamlTrust, response: &str, now: Timestamp) -> Result<SamlIdentity, SamlRefused> {
        response::verify(trust, response, now)
    }

    fn check_certificate(&self, certificate: &str) -> Result<(), SamlRefused> {
        key::PublicKey::of_certificate(certificate).map(drop)
    }

    fn request(&self, request: &SamlRequest) -> Result<String, SamlRefused> {
        request::redirect_url(request)
    }

    fn metadata(&self, service: &SamlService) -> String {
        request::metadata(service)
    }
}
