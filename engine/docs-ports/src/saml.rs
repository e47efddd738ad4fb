//! SAML sign-in: [`Saml`].

use docs_model::{SamlService, Timestamp};

/// The expected values of a SAML response.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SamlTrust {
    /// The entity id of the identity provider: the issuer of the response and of its assertion.
    pub issuer: String,
    /// The signing certificate of the provider, as PEM or plain base64 of DER.
    pub certificate: String,
    /// The entity id of this service: the audience of the assertion.
    pub audience: String,
    /// The URL that received the response: its destination, and the recipient of the assertion.
    pub recipient: String,
}

/// A verified SAML identity.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SamlIdentity {
    /// The id of the assertion, used to detect replays.
    pub assertion: String,
    /// The time until which the response is accepted: a later replay is rejected as expired. At most one day ahead,
    /// plus the permitted clock skew. The replay protection must remember the assertion until then.
    pub until: Timestamp,
    /// The session end that the provider requests; absent if it does not state one.
    pub session_until: Option<Timestamp>,
    /// The id of the request that the response answers; absent if the provider initiated the sign-in.
    pub in_response_to: Option<String>,
    /// The name id of the subject, which is an e-mail address.
    pub email: String,
    /// The attribute `first_name`.
    pub first_name: Option<String>,
    /// The attribute `last_name`.
    pub last_name: Option<String>,
}

/// An authentication request to a provider.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SamlRequest {
    /// The request id, which the response references: an unguessable XML name.
    pub id: String,
    /// The issue time.
    pub at: Timestamp,
    /// The http or https URL of the provider that receives requests.
    pub destination: String,
    /// The entity id of this service.
    pub issuer: String,
    /// The URL that the response is to be sent to.
    pub recipient: String,
}

/// A SAML 2.0 service provider: sends requests with the HTTP-Redirect binding and receives responses with HTTP-POST.
///
/// An adapter is stateless: it verifies the same response again every time. Verification takes milliseconds of CPU time
/// and never blocks.
pub trait Saml: Send + Sync + 'static {
    /// Verifies a response at a time, and reads its one signed assertion.
    ///
    /// `response` is the form field `SAMLResponse`: base64 of XML. Both may be malicious.
    ///
    /// The caller must check that the response answers a request of the same browser and is not a replay, using the
    /// returned fields. The adapter only checks that the response and its assertion reference the same request.
    ///
    /// # Errors
    /// [`SamlRefused`] for a response that the provider did not sign for this service, or that is not valid at this
    /// time.
    fn verify(&self, trust: &SamlTrust, response: &str, now: Timestamp) -> Result<SamlIdentity, SamlRefused>;

    /// Checks that a certificate is suitable for verification: it can be parsed, and its key has a supported type and
    /// strength.
    ///
    /// # Errors
    /// [`SamlRefused`] for a certificate that cannot verify any response.
    fn check_certificate(&self, certificate: &str) -> Result<(), SamlRefused>;

    /// Returns the URL to redirect the browser to, which contains the request.
    ///
    /// # Errors
    /// [`SamlRefused`] when the destination is not an http or https URL.
    fn request(&self, request: &SamlRequest) -> Result<String, SamlRefused>;

    /// Returns the service provider metadata as XML.
    fn metadata(&self, service: &SamlService) -> String;
}

/// The reason that a response is rejected, as a sentence for the operator.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct SamlRefused(pub String);
