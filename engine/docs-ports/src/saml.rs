//! What SAML identity providers say of who signed in: [`SamlVerifier`].

use docs_model::Timestamp;

/// What a response has to fit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SamlTrust {
    /// The entity id of the provider: the issuer of the response and of its assertion.
    pub issuer: String,
    /// The certificate that the provider signs with, as PEM or plain base64 of DER.
    pub certificate: String,
    /// The entity id of this service: the audience of the assertion.
    pub audience: String,
    /// Where the response was sent: the recipient of the assertion.
    pub recipient: String,
}

/// Who signed in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SamlIdentity {
    /// The id of the assertion, by which a response that comes again is known.
    pub assertion: String,
    /// Until when the assertion is valid.
    pub until: Timestamp,
    /// The name id of the subject, which is an e-mail address.
    pub email: String,
    /// The attribute `first_name`.
    pub first_name: Option<String>,
    /// The attribute `last_name`.
    pub last_name: Option<String>,
}

/// Verifies responses of identity providers (SAML 2.0, HTTP-POST binding).
///
/// An adapter keeps nothing: the same response is verified again however often it comes. It takes milliseconds of
/// computing and waits for nothing.
pub trait SamlVerifier: Send + Sync + 'static {
    /// Verifies a response at a time, and reads the one assertion that is signed.
    ///
    /// `response` is the field `SAMLResponse` of the form: base64 of XML. Both may be of anybody's making.
    ///
    /// # Errors
    /// [`SamlRefused`] for what the provider did not sign for this service, or what is not valid at the time.
    fn verify(&self, trust: &SamlTrust, response: &str, now: Timestamp) -> Result<SamlIdentity, SamlRefused>;
}

/// Why a response is refused, as a sentence for the operator.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct SamlRefused(pub String);
