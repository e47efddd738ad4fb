//! The messages of SAML 2.0: what a service reads and writes when people sign in through an identity provider.
//!
//! Canonical XML is made by `xml-sec`, digests and signatures are checked by `ring`; what is in between is here, and
//! takes less than the standards allow: one signature scheme, one form of reference, one assertion. Whatever is read of
//! a response is read from the very bytes that the signature was checked over, never from the document that they came
//! in, so there is nothing to wrap (`decisions/0032-saml.md`).
//!
//! | module | what it does |
//! |---|---|
//! | `scan` | bounds a document before anything is built of it |
//! | `xml` | finds elements, and reads their texts |
//! | `key` | the key of a certificate, and the algorithms that it may sign with |
//! | `signature` | checks signatures; answers the bytes that are signed |
//! | `response` | checks responses and their assertions |
//! | `request` | writes requests and metadata |

mod key;
mod request;
mod response;
mod scan;
mod signature;
mod xml;

use docs_model::{SamlService, Timestamp};
use docs_ports::{Saml, SamlIdentity, SamlRefused, SamlRequest, SamlTrust};

/// Most bytes of a response as XML.
pub const MAX_RESPONSE_BYTES: usize = 256 * 1024;
/// How far the clocks of a provider and of this service may be apart, in seconds.
pub const CLOCK_SKEW_SECONDS: i64 = 60;
/// How far ahead the end of a response may be, in seconds, and how far off the time at which it was made.
pub const MAX_VALIDITY_SECONDS: i64 = 24 * 60 * 60;

/// The messages of SAML 2.0 as XML.
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
        key::Key::of_certificate(certificate).map(drop)
    }

    fn request(&self, request: &SamlRequest) -> Result<String, SamlRefused> {
        request::address(request)
    }

    fn metadata(&self, service: &SamlService) -> String {
        request::metadata(service)
    }
}

/// A refusal.
fn refused(why: impl Into<String>) -> SamlRefused {
    SamlRefused(why.into())
}
